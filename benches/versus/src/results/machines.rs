//! The page that compares machines: a section for each, of which a run replaces its own.

use std::io;
use std::process::Command;

use super::runs::LevelRuns;
use super::tables::{by_ratio, cells, count_lost, line, lowest_ratio, median_ratio, ratio};
use crate::support::report::figure;

/// The rows that are named for each level.
const NARROWEST: usize = 10;

/// `page` with the section of the machine of these runs.
pub(crate) fn with_section(page: &str, levels: &[LevelRuns]) -> io::Result<String> {
    let about = &levels[0].about;
    let machine = about.iter().find(|(key, _)| key == "machine").map_or("", |(_, value)| value);
    let heads = about.iter().any(|(key, _)| key == "commits");
    let title = format!("{machine}{}", if heads { ", development heads" } else { "" });
    let mut section = format!("{title}\n\n- date: {}\n", today()?);
    let is_same_everywhere = |key: &str| matches!(key, "machine" | "peers" | "samples");
    for (key, value) in about.iter().filter(|(key, _)| !is_same_everywhere(key)) {
        line(&mut section, format_args!("- {key}: {value}"));
    }
    line(&mut section, format_args!(""));
    cells(&mut section, &["level", "runs", "lost rows", "below 1.2", "median"].map(str::to_owned));
    line(&mut section, format_args!("| --- | ---: | ---: | ---: | ---: |"));
    let sorted: Vec<_> = levels.iter().map(|level| (level, by_ratio(level))).collect();
    for (level, rows) in &sorted {
        let lost = count_lost(rows.iter().copied()).unwrap_or_default();
        let below = rows.iter().filter(|row| lowest_ratio(row) < 1.195).count();
        let median = figure(median_ratio(rows));
        let numbers = [level.runs.to_string(), lost, below.to_string(), median];
        cells(&mut section, &[level.name.clone()].into_iter().chain(numbers).collect::<Vec<_>>());
    }
    for (level, rows) in &sorted {
        line(&mut section, format_args!("\nThe narrowest rows, {}:\n", level.name));
        cells(&mut section, &["row", "fastest peer", "ratio"].map(str::to_owned));
        line(&mut section, format_args!("| --- | --- | ---: |"));
        for row in rows.iter().take(NARROWEST) {
            let peer = row.fastest_peer().expect("rows with peers");
            let name = format!("`{}/{}/{}`", row.what, row.corpus, row.size);
            cells(&mut section, &[name, peer.name.clone(), ratio(row, &peer.name)]);
        }
    }

    let mut sections: Vec<_> = page.split("\n## ").map(str::to_owned).collect();
    let is_of_machine = |section: &String| section.lines().next() == Some(&*title);
    match sections.iter_mut().skip(1).find(|section| is_of_machine(section)) {
        Some(old) => *old = section,
        None => sections.push(section),
    }
    Ok(sections.join("\n## "))
}

fn today() -> io::Result<String> {
    let printed = Command::new("date").args(["-u", "+%F"]).output()?;
    Ok(String::from_utf8_lossy(&printed.stdout).trim().to_owned())
}
