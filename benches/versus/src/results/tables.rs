//! The tables, as Markdown.

use std::fmt::Write;

use super::runs::{LevelRuns, Role, Row};
use super::tasks::{Measure, TASKS, TYPICAL, Task};
use crate::support::report::figure;

const HOW_TO_READ: &str = "\
Ratios are a peer's time divided by ours: above 1 we are faster. A ratio below 1 is **bold**, and its row counts as lost. \
Columns in *italics* are other types of this crate. Columns in brackets do less than the task and are shown for orientation. Neither \
kind counts as a peer.

GB/s are of input. Texts are random words of one script; `mixed` is markup around runs of several scripts. `std` is the standard library, \
or the usual code on top of it. The contenders of a row are measured in turn, in the same process, and every result is checked. \
The named level is forced in this crate and in simdutf. The other peers choose at run time: AVX-512 to unmask in tokio-websockets, at most AVX2 otherwise.";

/// The whole page. `link` finds the charts, which are of the first level.
pub(crate) fn results(levels: &[LevelRuns], link: impl Fn(&str) -> Option<String>) -> String {
    for row in levels.iter().flat_map(|level| &level.rows) {
        let is_of = |task: &Task| task.whats().contains(&&*row.what);
        assert!(TASKS.iter().any(is_of), "no task has the row {}", row.what);
    }
    let mut page = format!(
        "# Results\n\nThis page is generated; [README.md](README.md) describes how.\n\n{HOW_TO_READ}\n\n"
    );
    for (key, value) in &levels[0].about {
        line(&mut page, format_args!("- {key}: {value}"));
    }
    for LevelRuns { name, runs, .. } in levels {
        let runs =
            if *runs == 1 { "one run".to_owned() } else { format!("medians of {runs} runs") };
        line(&mut page, format_args!("- level {name}: {runs}"));
    }
    line(&mut page, format_args!("\n## Lost rows\n"));
    lost(&mut page, levels);
    for task in TASKS {
        let rows = task.whats().join("`, `");
        line(&mut page, format_args!("\n## {}\n\nRows `{rows}`. {}", task.title, task.note));
        for (index, level) in levels.iter().enumerate() {
            let rows = level.rows_of(&task.whats());
            if rows.is_empty() {
                continue;
            }
            let name = &level.name;
            let count = count_lost(rows.iter().copied());
            let count = count.map_or("no peer".to_owned(), |count| format!("{count} rows lost"));
            line(&mut page, format_args!("\n### {}, {name}: {count}\n", task.title));
            if index == 0
                && let Some(chart) = task.chart
                && let Some(file) = link(chart.name)
            {
                line(&mut page, format_args!("![{}, {name}]({file})\n", chart.title));
            }
            match task.measure {
                Measure::ShareOfLimit => limit_table(&mut page, &rows),
                _ => table(&mut page, task, &rows),
            }
        }
    }
    page
}

pub(super) fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("a String");
}

pub(super) fn cells(page: &mut String, cells: &[String]) {
    line(page, format_args!("| {} |", cells.join(" | ")));
}

/// The rows that a peer does faster, of those that have a peer. `None` if none has.
pub(super) fn count_lost<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Option<String> {
    let with_peers: Vec<_> = rows.into_iter().filter(|row| row.peers().count() > 0).collect();
    let lost = with_peers.iter().filter(|row| row.is_lost()).count();
    (!with_peers.is_empty()).then(|| format!("{lost} of {}", with_peers.len()))
}

/// The number of lost rows of each task and level.
fn lost(page: &mut String, levels: &[LevelRuns]) {
    let names = levels.iter().map(|level| level.name.clone());
    cells(page, &["task".to_owned()].into_iter().chain(names).collect::<Vec<_>>());
    line(page, format_args!("| --- |{}", " ---: |".repeat(levels.len())));
    for task in TASKS {
        let title = format!("[{}](#{})", task.title, anchor(task.title));
        let count =
            |level: &LevelRuns| count_lost(level.rows_of(&task.whats())).unwrap_or_default();
        cells(page, &[title].into_iter().chain(levels.iter().map(count)).collect::<Vec<_>>());
    }
    let count = |level: &LevelRuns| count_lost(&level.rows).unwrap_or_default();
    cells(
        page,
        &["all".to_owned()].into_iter().chain(levels.iter().map(count)).collect::<Vec<_>>(),
    );
}

/// The anchor that a renderer gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The other contenders of any of the rows: peers, siblings, then floors.
fn columns<'a>(rows: &[&'a Row]) -> Vec<(&'a str, Role)> {
    let mut columns: Vec<(&str, Role)> = Vec::new();
    for other in rows.iter().flat_map(|row| &row.others) {
        if !columns.iter().any(|(name, _)| *name == other.name) {
            columns.push((&other.name, other.role));
        }
    }
    columns.sort_by_key(|(_, role)| *role);
    columns
}

fn table(page: &mut String, task: &Task, rows: &[&Row]) {
    let columns = columns(rows);
    let has_whats = task.whats.len() > 1;
    let ours = match task.measure {
        Measure::GigabytesPerSecond | Measure::ShareOfLimit => "ours, GB/s".to_owned(),
        Measure::NanosecondsPerUnit => format!("ours, ns per {}", rows[0].unit),
    };
    let first = if has_whats { &["what", "text", "size"][..] } else { &["text", "size"] };
    let names = columns.iter().map(|(name, role)| match role {
        Role::Sibling => format!("*{name}*"),
        Role::Peer | Role::Floor => (*name).to_owned(),
    });
    let head = first.iter().map(|name| (*name).to_owned()).chain([ours]).chain(names);
    cells(page, &head.collect::<Vec<_>>());
    line(
        page,
        format_args!("|{}{}", " --- |".repeat(first.len()), " ---: |".repeat(1 + columns.len())),
    );
    for row in rows {
        let speed = match task.measure {
            Measure::GigabytesPerSecond | Measure::ShareOfLimit => row.gigabytes,
            Measure::NanosecondsPerUnit => row.nanoseconds,
        };
        let what = has_whats.then(|| row.what.clone());
        let first = what.into_iter().chain([row.corpus.clone(), row.size.clone(), figure(speed)]);
        let ratios = columns.iter().map(|(name, _)| ratio(row, name));
        cells(page, &first.chain(ratios).collect::<Vec<_>>());
    }
}

/// For each size, a column with our speed, that of the limit, and our share of it.
fn limit_table(page: &mut String, rows: &[&Row]) {
    let mut sizes: Vec<&str> = Vec::new();
    let mut lines: Vec<(&Row, Vec<String>)> = Vec::new();
    for row in rows {
        if !sizes.contains(&&*row.size) {
            sizes.push(&row.size);
        }
        let share = row.ratio("(limit)").unwrap_or(f64::NAN);
        let [ours, limit] = [row.gigabytes, row.gigabytes / share].map(figure);
        let cell = format!("{ours} of {limit}: {}", figure(share));
        let is_same = |other: &Row| (&other.what, &other.corpus) == (&row.what, &row.corpus);
        match lines.iter_mut().find(|(first, _)| is_same(first)) {
            Some((_, cells)) => cells.push(cell),
            None => lines.push((row, vec![cell])),
        }
    }
    let head = ["what", "text"].into_iter().chain(sizes.iter().copied()).map(str::to_owned);
    cells(page, &head.collect::<Vec<_>>());
    line(page, format_args!("| --- | --- |{}", " ---: |".repeat(sizes.len())));
    for (row, shares) in lines {
        let first = [row.what.trim_start_matches("limit-").to_owned(), row.corpus.clone()];
        cells(page, &first.into_iter().chain(shares).collect::<Vec<_>>());
    }
}

pub(super) fn ratio(row: &Row, name: &str) -> String {
    row.others.iter().find(|other| other.name == name).map_or_else(String::new, |other| {
        let ratio = figure(other.ratio);
        if other.is_faster() { format!("**{ratio}**") } else { ratio }
    })
}

/// Ten rows of the first level for the README.
pub(crate) fn summary(levels: &[LevelRuns], results: &str) -> String {
    let level = &levels[0];
    let about =
        |key: &str| level.about.iter().find(|(k, _)| k == key).map_or("", |(_, value)| value);
    let is_typical = |row: &&Row| {
        TYPICAL.iter().any(|&(what, corpus, size)| {
            (what, corpus, size) == (&*row.what, &*row.corpus, &*row.size)
        })
    };
    let typical: Vec<_> = level.rows.iter().filter(is_typical).collect();

    // Of different scenarios, and not among the typical ones.
    let mut worst: Vec<&Row> = Vec::new();
    for row in by_ratio(level) {
        let is_new = typical.iter().all(|other| !std::ptr::eq(*other, row));
        if is_new && worst.len() < 2 && worst.iter().all(|other| other.what != row.what) {
            worst.push(row);
        }
    }

    let mut page = String::from(
        "\n| task | this crate | fastest peer | ratio |\n| --- | ---: | --- | ---: |\n",
    );
    for row in typical.into_iter().chain(worst) {
        let fastest = row.fastest_peer().expect("rows with peers");
        cells(
            &mut page,
            &[
                describe(row),
                throughput(row.gigabytes),
                fastest.name.clone(),
                ratio(row, &fastest.name),
            ],
        );
    }
    let lost = |level: &LevelRuns| {
        let count = count_lost(&level.rows).unwrap_or_default();
        format!("{count} ({})", instructions(&level.name))
    };
    let lost: Vec<_> = levels.iter().map(lost).collect();
    let [machine, compiler] = ["machine", "compiler"].map(about);
    let machine = machine.replace("(R)", "");
    let (processor, _) = machine.rsplit_once(')').unwrap_or((&machine, ""));
    let compiler = compiler.split(" (").next().unwrap_or_default();
    line(
        &mut page,
        format_args!(
            "\nMeasured on {processor}) with {compiler}. This crate and simdutf use {} (tokio-websockets to unmask); other peers AVX2. A peer is faster in {} measurements. \
             The last two ratios are the lowest. `{results}` has all rows, `benches/MACHINES.md` the narrowest on each machine.\n",
            instructions(&level.name),
            lost.join(" and "),
        ),
    );
    page
}

/// The usual name of a level's instructions.
fn instructions(level: &str) -> &str {
    match level {
        "sse4.1" => "SSE4.1",
        "avx2" => "AVX2",
        "avx512" => "AVX-512",
        other => other,
    }
}

pub(super) fn lowest_ratio(row: &Row) -> f64 {
    row.fastest_peer().map_or(f64::INFINITY, |other| other.ratio)
}

/// The rows that have a peer, worst first.
pub(super) fn by_ratio(level: &LevelRuns) -> Vec<&Row> {
    let mut rows: Vec<_> = level.rows.iter().filter(|row| row.fastest_peer().is_some()).collect();
    rows.sort_by(|a, b| lowest_ratio(a).total_cmp(&lowest_ratio(b)));
    rows
}

/// The median of the ratios of rows that [`by_ratio`] has sorted.
pub(super) fn median_ratio(rows: &[&Row]) -> f64 {
    rows.get(rows.len() / 2).map_or(f64::NAN, |row| lowest_ratio(row))
}

fn throughput(gigabytes: f64) -> String {
    if gigabytes < 0.995 {
        format!("{:.0} MB/s", 1000.0 * gigabytes)
    } else {
        format!("{} GB/s", figure(gigabytes))
    }
}

/// A row in words.
fn describe(row: &Row) -> String {
    let phrases = TASKS.iter().flat_map(|task| task.whats);
    let phrase = phrases
        .into_iter()
        .find(|(what, _)| *what == row.what)
        .map_or(&*row.what, |(_, phrase)| phrase);
    let corpus = match &*row.corpus {
        "ascii" => "ASCII",
        "latin" => "Latin",
        "cyrillic" => "Cyrillic",
        "arabic" => "Arabic",
        "cjk" => "CJK",
        "latin-1" => "Latin-1",
        other => other,
    };
    let size = match row.size.strip_prefix("1-in-") {
        Some(bytes) => format!("an error per {bytes} bytes"),
        None => match (row.size.strip_suffix("+24").unwrap_or(&row.size).parse(), &*row.what) {
            (Ok(units), "from-utf-16") => format!("{units} units"),
            (Ok(bytes), _) if row.size.ends_with("+24") => format!("{}, unaligned", length(bytes)),
            (Ok(bytes), _) => length(bytes),
            (Err(_), _) => row.size.replace("KiB", " KiB").replace("MiB", " MiB"),
        },
    };
    format!("{phrase}: {corpus}, {size}")
}

/// A number of bytes below a million in words: `64 KiB`, `1,460 bytes`.
fn length(bytes: u32) -> String {
    match (bytes / 1024, bytes / 1000) {
        (kib @ 1.., _) if bytes.is_multiple_of(1024) => format!("{kib} KiB"),
        (_, thousands @ 1..) => format!("{thousands},{:03} bytes", bytes % 1000),
        _ => format!("{bytes} bytes"),
    }
}

const ABOUT_HEADS: &str = "\
# Development heads

This page is generated; [README.md](README.md) describes how.

The functions of `utf8-simd` beside the development heads of simdutf (C++) and simdutf8, which no release contains yet. Ratios are a peer's time \
divided by ours: above 1 we are faster, below 1 the ratio is **bold**. The rows with the lowest ratios are first. GB/s are of input; the size is the \
length in UTF-8. Texts of up to 8 KiB fit in the L1 cache together. After `+24`, an input begins 24 bytes after a multiple of 64; outputs begin with a page.

`locate` finds the error near the start, in the middle or near the end of 8 KiB. `replace-from-utf-16` replaces unpaired surrogates, one in 16, \
64 or 1000 units of a text of 64 KiB in UTF-8. `to` and `from` are conversions from and to UTF-8; `utf-32` is in numbers, of which each is tested, \
and `chars` are `char`s, of which simdutf tests each. The named level is forced in all three; in AVX2, simdutf8 locates no errors.
";

/// The page beside development heads, from runs of `benches/heads`.
pub(crate) fn heads(levels: &[LevelRuns]) -> String {
    let mut page = format!("{ABOUT_HEADS}\n");
    for (key, value) in &levels[0].about {
        line(&mut page, format_args!("- {key}: {value}"));
    }
    for level in levels {
        let rows = by_ratio(level);
        let lost = count_lost(rows.iter().copied()).unwrap_or_default();
        line(&mut page, format_args!("\n## {}: {lost} rows lost\n", level.name));
        let median = median_ratio(&rows);
        let runs = level.runs;
        line(
            &mut page,
            format_args!(
                "Medians of {runs} runs. The median of the ratios is {}.\n",
                figure(median)
            ),
        );
        let columns = columns(&rows);
        let names = columns.iter().map(|(name, _): &(&str, Role)| (*name).to_owned());
        let head =
            ["what", "text", "size", "ours, GB/s"].map(str::to_owned).into_iter().chain(names);
        cells(&mut page, &head.collect::<Vec<_>>());
        writeln!(page, "| --- | --- | --- | ---: |{}", " ---: |".repeat(columns.len()))
            .expect("a String");
        for row in rows {
            let first =
                [row.what.clone(), row.corpus.clone(), row.size.clone(), figure(row.gigabytes)];
            let ratios = columns.iter().map(|(name, _)| ratio(row, name));
            cells(&mut page, &first.into_iter().chain(ratios).collect::<Vec<_>>());
        }
    }
    page
}
