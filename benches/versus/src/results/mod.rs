//! Tables and charts of saved runs.

mod charts;
mod machines;
mod tables;
mod tasks;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use runs::LevelRuns;

/// What to make of the runs.
#[derive(Args)]
pub(crate) struct Targets {
    /// Renders these files, saved with --json, instead of measuring: the medians of the runs of each level.
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    from: Vec<PathBuf>,
    /// Draws the charts of the first level.
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Writes the tables, which link to the charts.
    #[arg(long, value_name = "FILE.md")]
    results: Option<PathBuf>,
    /// Writes the summary between the markers `results:begin` and `results:end` of this file.
    #[arg(long, value_name = "FILE.md", requires = "results")]
    readme: Option<PathBuf>,
    /// Writes the section of this machine in this page.
    #[arg(long, value_name = "FILE.md")]
    machine: Option<PathBuf>,
    /// Writes the table of runs of `benches/heads`.
    #[arg(long, value_name = "FILE.md", requires = "from", conflicts_with_all = ["plot", "results", "readme"])]
    heads: Option<PathBuf>,
}

impl Targets {
    /// The runs to render; none: measure.
    pub(crate) fn saved(&self) -> io::Result<Vec<Value>> {
        let read = |file: &PathBuf| {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", file.display()))
            };
            fs::read(file).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?)).map_err(named)
        };
        self.from.iter().map(read).collect()
    }

    pub(crate) fn render(&self, runs: &[Value]) -> io::Result<()> {
        let levels = LevelRuns::group(runs);
        if let Some(folder) = &self.plot {
            charts::draw(&levels[0], folder)?;
        }
        if let Some(file) = &self.results {
            let link = |chart: &str| self.link(file, chart, &levels[0]);
            fs::write(file, tables::results(&levels, link))?;
        }
        if let Some(file) = &self.machine {
            let page = fs::read_to_string(file)?;
            fs::write(file, machines::with_section(&page, &levels)?)?;
        }
        if let Some(file) = &self.heads {
            fs::write(file, tables::heads(&levels))?;
        }
        if let Some(file) = &self.readme {
            let results = self.results.as_deref().unwrap_or(Path::new(""));
            let summary = tables::summary(&levels, &relative(results, file));
            let page = fs::read_to_string(file)?;
            fs::write(file, between_markers(&page, &summary)?)?;
        }
        Ok(())
    }

    /// A chart, as a link in `page`; none if it is not drawn.
    fn link(&self, page: &Path, chart: &str, level: &LevelRuns) -> Option<String> {
        let file = self.plot.as_ref()?.join(charts::file_name(chart, level));
        Some(relative(&file, page))
    }
}

/// The path of `file` from the folder of `page`.
fn relative(file: &Path, page: &Path) -> String {
    let folder = page.parent().unwrap_or(Path::new(""));
    file.strip_prefix(folder).unwrap_or(file).display().to_string()
}

fn between_markers(page: &str, text: &str) -> io::Result<String> {
    const BEGIN: &str = "<!-- results:begin -->\n";
    const END: &str = "<!-- results:end -->";
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some(format!("{before}{BEGIN}{text}{END}{after}"))
    });
    parts.ok_or_else(|| io::Error::other("the page has no markers results:begin and results:end"))
}

mod runs {
    //! Runs that were saved with `--json`: the medians of the runs of each level.

    use serde_json::{Map, Value};

    /// The runs on one level.
    pub(crate) struct LevelRuns {
        pub(crate) name: String,
        /// What was measured, where and how.
        pub(crate) about: Vec<(String, String)>,
        /// The number of runs.
        pub(crate) runs: usize,
        pub(crate) rows: Vec<Row>,
    }

    /// A row, `what/corpus/size`, with medians.
    #[derive(Clone)]
    pub(crate) struct Row {
        pub(crate) what: String,
        pub(crate) corpus: String,
        pub(crate) size: String,
        pub(crate) unit: String,
        /// Our time for one unit.
        pub(crate) nanoseconds: f64,
        /// Our throughput.
        pub(crate) gigabytes: f64,
        /// Peers, siblings, then floors, in the order in which they were measured.
        pub(crate) others: Vec<Other>,
    }

    /// The roles of `support::measured`, but ours.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Role {
        Peer,
        Sibling,
        Floor,
    }

    #[derive(Clone)]
    pub(crate) struct Other {
        pub(crate) name: String,
        pub(crate) role: Role,
        /// Its time divided by ours.
        pub(crate) ratio: f64,
    }

    impl LevelRuns {
        /// Groups runs by level, in the order of the first run of each.
        ///
        /// # Panics
        ///
        /// If the runs differ in machine, compiler, or versions.
        pub(crate) fn group(runs: &[Value]) -> Vec<Self> {
            let mut groups: Vec<(String, Vec<Run>)> = Vec::new();
            for run in runs.iter().map(Run::new) {
                let first = groups.first().map_or(&run, |(_, runs)| &runs[0]);
                assert_eq!(first.about, run.about, "these runs are not comparable");
                match groups.iter_mut().find(|(level, _)| *level == run.level) {
                    Some((_, runs)) => runs.push(run),
                    None => groups.push((run.level.clone(), vec![run])),
                }
            }
            groups.into_iter().map(|(name, runs)| Self::of(name, &runs)).collect()
        }

        fn of(name: String, runs: &[Run]) -> Self {
            let rows = runs[0].rows.iter().map(|row| {
                let same: Vec<_> = runs
                    .iter()
                    .filter_map(|run| run.rows.iter().find(|r| r.is_like(row)))
                    .collect();
                Row::median(&same)
            });
            Self { name, about: runs[0].about.clone(), runs: runs.len(), rows: rows.collect() }
        }

        /// The rows of these scenarios, in the order of `whats`.
        pub(crate) fn rows_of<'a>(&'a self, whats: &[&'a str]) -> Vec<&'a Row> {
            let rows = |what: &&'a str| {
                let what = *what;
                self.rows.iter().filter(move |row| row.what == what)
            };
            whats.iter().flat_map(rows).collect()
        }
    }

    impl Row {
        pub(crate) fn peers(&self) -> impl Iterator<Item = &Other> {
            self.others.iter().filter(|other| other.role == Role::Peer)
        }

        /// The peer with the least time.
        pub(crate) fn fastest_peer(&self) -> Option<&Other> {
            self.peers().min_by(|a, b| a.ratio.total_cmp(&b.ratio))
        }

        /// Whether a peer is faster.
        pub(crate) fn is_lost(&self) -> bool {
            self.others.iter().any(Other::is_faster)
        }

        fn is_like(&self, other: &Self) -> bool {
            (&self.what, &self.corpus, &self.size) == (&other.what, &other.corpus, &other.size)
        }

        fn median(rows: &[&Self]) -> Self {
            let of = |number: &dyn Fn(&Self) -> f64| {
                median(rows.iter().map(|row| number(row)).collect())
            };
            let others = rows[0].others.iter().map(|other| Other {
                ratio: of(&|row| row.ratio(&other.name).unwrap_or(f64::NAN)),
                ..other.clone()
            });
            Self {
                nanoseconds: of(&|row| row.nanoseconds),
                gigabytes: of(&|row| row.gigabytes),
                others: others.collect(),
                ..rows[0].clone()
            }
        }

        pub(crate) fn ratio(&self, name: &str) -> Option<f64> {
            self.others.iter().find(|other| other.name == name).map(|other| other.ratio)
        }
    }

    impl Other {
        /// Whether it is a peer and faster, as far as two digits show it.
        pub(crate) fn is_faster(&self) -> bool {
            self.role == Role::Peer && self.ratio < 0.995
        }
    }

    fn median(mut numbers: Vec<f64>) -> f64 {
        numbers.sort_by(f64::total_cmp);
        numbers[(numbers.len() - 1) / 2]
    }

    struct Run {
        level: String,
        about: Vec<(String, String)>,
        rows: Vec<Row>,
    }

    impl Run {
        fn new(run: &Value) -> Self {
            let about = object(&run["about"]).iter();
            let mut about: Vec<_> =
                about.map(|(key, value)| (key.clone(), string(value))).collect();
            let (_, level) =
                about.remove(about.iter().position(|(key, _)| key == "level").expect("a level"));
            let rows = run["rows"].as_array().expect("rows").iter().map(read_row).collect();
            Self { level, about, rows }
        }
    }

    fn read_row(row: &Value) -> Row {
        let others = |key, role| {
            let others = object(&row[key]).iter();
            others.map(move |(name, ratio)| Other {
                name: name.clone(),
                role,
                ratio: number(&ratio["median"]),
            })
        };
        Row {
            what: string(&row["what"]),
            corpus: string(&row["corpus"]),
            size: string(&row["size"]),
            unit: string(&row["unit"]),
            nanoseconds: number(&row["ns_per_unit"]),
            gigabytes: number(&row["gb_per_s"]),
            others: others("ratios", Role::Peer)
                .chain(others("siblings", Role::Sibling))
                .chain(others("floors", Role::Floor))
                .collect(),
        }
    }

    fn object(value: &Value) -> &Map<String, Value> {
        value.as_object().unwrap_or_else(|| panic!("{value} is not an object"))
    }

    fn string(value: &Value) -> String {
        value.as_str().unwrap_or_else(|| panic!("{value} is not a string")).to_owned()
    }

    fn number(value: &Value) -> f64 {
        value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
    }
}
