//! The measured rows: printed as text while measuring, or as JSON at the end.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Map, Value, json};
use utf8_simd::Level;

use super::measured::{Against, Measured, Role};

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Text,
    Json,
    /// Only prints that all answers are right.
    Nothing,
}

pub(crate) struct Report {
    output: Output,
    about: Vec<(&'static str, String)>,
    rows: Vec<Measured>,
}

const LEGEND: &str = "\
Ratios are a peer's time divided by ours: above 1 we are faster. Ratios below 1 and their rows are marked with <.
Columns in brackets are floors, which do less than the task.";

impl Report {
    pub(crate) fn new(about: &[(&'static str, String)]) -> Self {
        let level = Level::detect().name().to_owned();
        let usual = [("level", level), ("machine", machine())];
        let about = usual.into_iter().chain(about.iter().cloned()).collect();
        Self { output: Output::Nothing, about, rows: Vec::new() }
    }

    /// Prints the text before the rows.
    pub(crate) fn begin(&mut self, output: Output) {
        self.output = output;
        if output == Output::Text {
            for (key, value) in &self.about {
                println!("{key}: {value}");
            }
            println!("\n{LEGEND}");
        }
    }

    /// Takes a row, and prints it as text.
    pub(crate) fn add(&mut self, row: Measured) {
        if self.output == Output::Text {
            if self.rows.last().is_none_or(|last| columns(last) != columns(&row)) {
                println!("\n{}", text_heading(&row));
            }
            println!("{}", text_row(&row));
        }
        self.rows.push(row);
    }

    /// Prints the summary, or all rows as JSON.
    pub(crate) fn end(&self) {
        let count = self.rows.len();
        match self.output {
            Output::Text => {
                let with_peers = self.rows.iter().filter(|row| row.has_peer()).count();
                println!("\nWe lose {} of {with_peers} rows that have a peer.", self.lost());
            }
            Output::Json => println!("{:#}", self.json()),
            Output::Nothing => println!("{count} rows, every answer is right."),
        }
    }

    fn lost(&self) -> usize {
        self.rows.iter().filter(|row| row.is_lost()).count()
    }

    pub(crate) fn json(&self) -> Value {
        let about: Map<_, _> =
            self.about.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        let rows: Vec<_> = self.rows.iter().map(json_row).collect();
        json!({ "about": about, "rows": rows, "lost": self.lost() })
    }
}

fn columns(row: &Measured) -> Vec<&str> {
    row.against.iter().map(|against| against.name).collect()
}

fn text_heading(row: &Measured) -> String {
    let mut line = format!("  {:<34}{:>9}  {:>20}", "what/corpus/size", "GB/s", "ns each");
    for column in columns(row) {
        write!(line, " {column:>width$} ", width = width(column)).expect("a String");
    }
    line
}

fn text_row(row: &Measured) -> String {
    let mark = if row.is_lost() { '<' } else { ' ' };
    let speed = figure(row.gigabytes_per_second());
    let time = format!("{} /{}", figure(row.nanoseconds_per_unit()), row.work.unit);
    let mut line = format!("{mark} {:<34}{speed:>9}  {time:>20}", row.name.to_string());
    for against in &row.against {
        let ratio = figure(against.ratio.median);
        let mark = if against.is_lost() { '<' } else { ' ' };
        write!(line, " {ratio:>width$}{mark}", width = width(against.name)).expect("a String");
    }
    line.trim_end().to_owned()
}

fn json_row(row: &Measured) -> Value {
    let others = |role| {
        let others = row.against.iter().filter(move |against| against.role == role);
        let ratio = |against: &Against| {
            let ratio = against.ratio;
            let quartiles = json!({ "low": ratio.low, "median": ratio.median, "high": ratio.high });
            (against.name.to_owned(), quartiles)
        };
        others.map(ratio).collect::<Map<_, _>>()
    };
    json!({
        "what": row.name.what,
        "corpus": row.name.corpus,
        "size": row.name.size,
        "unit": row.work.unit,
        "ns_per_unit": row.nanoseconds_per_unit(),
        "gb_per_s": row.gigabytes_per_second(),
        "ratios": others(Role::Peer),
        "siblings": others(Role::Sibling),
        "floors": others(Role::Floor),
        "lost": row.is_lost(),
    })
}

fn width(column: &str) -> usize {
    column.len().max(5)
}

/// About three digits; `-` for a row that was not measured.
pub(crate) fn figure(number: f64) -> String {
    match number {
        number if number.is_nan() => "-".to_owned(),
        number if number < 9.995 => format!("{number:.2}"),
        number if number < 99.95 => format!("{number:.1}"),
        number => format!("{number:.0}"),
    }
}

/// The processor and the architecture, as far as the system reports them.
fn machine() -> String {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let mut fields = about.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(key, _)| key.trim() == name).map_or("unknown", |(_, value)| value.trim())
    };
    let (architecture, system) = (std::env::consts::ARCH, std::env::consts::OS);
    let (processor, family, model) = (field("model name"), field("cpu family"), field("model"));
    format!("{processor} (family {family}, model {model}), {architecture}, {system}")
}
