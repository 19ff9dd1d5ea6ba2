//! Tables and charts of saved runs.

mod charts;
mod runs;
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
