//! One table of ratios: as text while it is measured, or as Markdown or JSON at the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::bench::{Against, Measured, Role};
use super::options::Output;

pub(crate) struct Report {
    /// The names of peers and floors, in the order of the table's columns.
    columns: Vec<&'static str>,
    header: Vec<(&'static str, String)>,
    rows: Vec<Measured>,
}

const LEGEND: &str = "\
Ratios are a peer's time divided by ours: more than 1 means that we are faster. Where it is less, the
number and its row are marked with <. Columns in brackets are floors, which do less than was asked.";

impl Report {
    pub(crate) fn new(columns: &[&'static str], header: &[(&'static str, String)]) -> Self {
        Self { columns: columns.to_vec(), header: header.to_vec(), rows: Vec::new() }
    }

    /// Prints what comes before the rows.
    pub(crate) fn begin(&self, output: Output) {
        if output == Output::Text {
            println!("{}\n\n{LEGEND}\n", self.header());
            println!("{}", self.text_heading());
        }
    }

    /// Takes a row, and prints it if that can be done at once.
    pub(crate) fn add(&mut self, row: Measured, output: Output) {
        for against in &row.against {
            assert!(self.columns.contains(&against.name), "no column for {}", against.name);
        }
        if output == Output::Text {
            println!("{}", self.text_row(&row));
        }
        self.rows.push(row);
    }

    /// Prints what is left to print.
    pub(crate) fn end(&self, output: Output) {
        match output {
            Output::Text => println!("\n{}", self.count()),
            Output::Markdown => print!("{}", self.markdown()),
            Output::Json => println!("{:#}", self.json()),
            Output::Nothing => println!("{} rows, every answer is right.", self.rows.len()),
        }
    }

    fn header(&self) -> String {
        let lines = self.header.iter().map(|(key, value)| format!("{key}: {value}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn count(&self) -> String {
        let lost = self.rows.iter().filter(|row| row.is_lost()).count();
        format!("We lose {lost} of {} rows.", self.rows.len())
    }

    fn text_heading(&self) -> String {
        let mut line = format!("  {:<34}{:>9}  {:>20}", "what/corpus/size", "GB/s", "ns each");
        for column in &self.columns {
            write!(line, " {column:>width$} ", width = width(column)).expect("a string takes all");
        }
        line
    }

    fn text_row(&self, row: &Measured) -> String {
        let mark = if row.is_lost() { '<' } else { ' ' };
        let speed = figure(row.gigabytes_per_second());
        let time = format!("{} /{}", figure(row.nanoseconds_per_unit()), row.work.unit);
        let mut line = format!("{mark} {:<34}{speed:>9}  {time:>20}", row.name.to_string());
        for column in &self.columns {
            let against = row.against.iter().find(|against| against.name == *column);
            let ratio = against.map_or(String::new(), |against| figure(against.ratio.median));
            let mark = if against.is_some_and(Against::is_lost) { '<' } else { ' ' };
            write!(line, " {ratio:>width$}{mark}", width = width(column))
                .expect("a string takes all");
        }
        line.trim_end().to_owned()
    }

    /// A summary, and the complete table folded up behind it.
    fn markdown(&self) -> String {
        let header = self.header.iter().map(|(key, value)| format!("- {key}: {value}\n"));
        format!(
            "{}\n{LEGEND}\n\n{}\n{}\n\n<details><summary>Every row</summary>\n\n{}\n</details>\n",
            header.collect::<String>(),
            self.markdown_table(&["what", "size", "text"], &self.summary()),
            self.count(),
            self.markdown_table(&["what/corpus/size", "GB/s", "ns each"], &self.markdown_rows()),
        )
    }

    fn markdown_table(&self, first: &[&str], rows: &[Vec<String>]) -> String {
        let columns: Vec<_> =
            first.iter().chain(&self.columns).map(|&name| name.to_owned()).collect();
        let rule = vec!["---".to_owned(); columns.len()];
        let rows = [columns, rule].into_iter().chain(rows.iter().cloned());
        rows.map(|cells| format!("| {} |\n", cells.join(" | "))).collect()
    }

    fn markdown_rows(&self) -> Vec<Vec<String>> {
        let cells = |row: &Measured| {
            let speed = figure(row.gigabytes_per_second());
            let time = format!("{} /{}", figure(row.nanoseconds_per_unit()), row.work.unit);
            let first = [row.name.to_string(), speed, time];
            first.into_iter().chain(self.ratios(&[row])).collect()
        };
        self.rows.iter().map(cells).collect()
    }

    /// Rows that differ only in the script in one: from the least ratio to the greatest.
    fn summary(&self) -> Vec<Vec<String>> {
        let mut groups: Vec<(Group<'_>, Vec<&Measured>)> = Vec::new();
        for row in &self.rows {
            let group = Group::of(row);
            match groups.iter_mut().find(|(other, _)| *other == group) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((group, vec![row])),
            }
        }
        let cells = |(group, rows): &(Group<'_>, Vec<&Measured>)| {
            let first = [group.what, group.size, group.text].map(str::to_owned);
            first.into_iter().chain(self.ratios(rows)).collect()
        };
        groups.iter().map(cells).collect()
    }

    /// A cell for each column.
    fn ratios(&self, rows: &[&Measured]) -> Vec<String> {
        let cell =
            |name: &&str| Range::of(rows, name).map_or(String::new(), |range| range.markdown());
        self.columns.iter().map(cell).collect()
    }

    fn json(&self) -> Value {
        let header: BTreeMap<_, _> = self.header.iter().cloned().collect();
        let rows: Vec<_> = self.rows.iter().map(json_row).collect();
        let lost = self.rows.iter().filter(|row| row.is_lost()).count();
        json!({ "about": header, "rows": rows, "lost": lost })
    }
}

fn json_row(row: &Measured) -> Value {
    let others = |role| {
        let others = row.against.iter().filter(move |against| against.role == role);
        let ratio = |against: &Against| {
            let ratio = against.ratio;
            let quartiles = json!({ "low": ratio.low, "median": ratio.median, "high": ratio.high });
            (against.name, quartiles)
        };
        others.map(ratio).collect::<BTreeMap<_, _>>()
    };
    json!({
        "what": row.name.what,
        "corpus": row.name.corpus,
        "size": row.name.size,
        "unit": row.work.unit,
        "ns_per_unit": row.nanoseconds_per_unit(),
        "gb_per_s": row.gigabytes_per_second(),
        "ratios": others(Role::Peer),
        "floors": others(Role::Floor),
        "lost": row.is_lost(),
    })
}

/// A line of the summary.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Group<'a> {
    what: &'a str,
    size: &'a str,
    text: &'static str,
}

impl<'a> Group<'a> {
    fn of(row: &'a Measured) -> Self {
        let text = match row.name.corpus {
            "latin" | "cyrillic" | "arabic" | "cjk" | "emoji" => "other scripts",
            corpus => corpus,
        };
        Self { what: &row.name.what, size: &row.name.size, text }
    }
}

/// The ratios of one peer in some rows.
struct Range {
    least: f64,
    greatest: f64,
    is_lost: bool,
}

impl Range {
    fn of(rows: &[&Measured], name: &str) -> Option<Self> {
        let all = rows.iter().flat_map(|row| &row.against);
        all.filter(|against| against.name == name).fold(None, |range, against| {
            let ratio = against.ratio.median;
            let range = range.unwrap_or(Self { least: ratio, greatest: ratio, is_lost: false });
            Some(Self {
                least: range.least.min(ratio),
                greatest: range.greatest.max(ratio),
                is_lost: range.is_lost || against.is_lost(),
            })
        })
    }

    fn markdown(&self) -> String {
        let (least, greatest) = (figure(self.least), figure(self.greatest));
        let range = if least == greatest { least } else { format!("{least} – {greatest}") };
        if self.is_lost { format!("**{range} <**") } else { range }
    }
}

fn width(column: &str) -> usize {
    column.len().max(5)
}

/// Three digits or so; nothing for what was not measured.
fn figure(number: f64) -> String {
    match number {
        number if number.is_nan() => "-".to_owned(),
        number if number < 9.995 => format!("{number:.2}"),
        number if number < 99.95 => format!("{number:.1}"),
        number => format!("{number:.0}"),
    }
}

/// The processor and the architecture, as far as they can be found.
pub(crate) fn machine() -> String {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let mut fields = about.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(key, _)| key.trim() == name).map_or("unknown", |(_, value)| value.trim())
    };
    let (architecture, system) = (std::env::consts::ARCH, std::env::consts::OS);
    let (processor, family, model) = (field("model name"), field("cpu family"), field("model"));
    format!("{processor} (family {family}, model {model}), {architecture}, {system}")
}
