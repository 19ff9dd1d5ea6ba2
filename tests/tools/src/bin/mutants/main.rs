//! Compiles many changes of the crate into one set of test programs, and runs on each change the tests that reach it.
//!
//! `cargo mutants` lists the changes; this program copies the body of each function once for each of its changes, and an
//! environment variable chooses the copy. So the crate is compiled once, instead of once for each change. It first runs
//! each test alone, on the unchanged crate, to learn which functions it reaches and how long it takes.
//!
//! Changes outside of functions, in functions that return `impl Trait`, and in functions that no test reaches, because they
//! are called only while the crate is compiled, are compiled one by one.

mod programs;
mod tree;

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Parser;
use programs::{Catcher, Program, Verdict};
use tree::{Change, Tree};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Runs tests on many changes of the crate that are compiled at once.
#[derive(Parser)]
pub(crate) struct Options {
    /// What `cargo mutants --list --json` printed.
    #[arg(long)]
    list: PathBuf,
    /// The names of the changes to try, one per line. Without it, all are tried.
    #[arg(long)]
    only: Option<PathBuf>,
    /// Changes that change no result: lines with the path, the change and the changed line, separated by ` | `. Other
    /// lines are comments. They are not tried. A line that fits no change in a listed file is an error.
    #[arg(long)]
    equal: Option<PathBuf>,
    /// A copy of the repository. Its sources are overwritten.
    #[arg(long)]
    tree: PathBuf,
    /// The folder of the results: files with the names of the changes that were `caught`, `missed`, are `unviable`
    /// because they do not compile, or are `equal`. Changes that these files name are not tried again.
    #[arg(long)]
    output: PathBuf,
    /// The first file of a test program that includes sources of the crate.
    #[arg(long)]
    includes_sources: Vec<PathBuf>,
    /// How many changes to compile at once. The more, the fewer builds, but changes to functions that are inlined into
    /// each other multiply the code.
    #[arg(long, default_value_t = 500)]
    at_once: usize,
    /// How many changes to test at the same time.
    #[arg(long, default_value_t = thread::available_parallelism().map_or(1, NonZero::get))]
    jobs: usize,
    /// The test programs for changes that are compiled alone, with commas: fewer take less time.
    #[arg(long, value_delimiter = ',')]
    alone: Vec<String>,
    /// Run the tests marked as ignored too.
    #[arg(long)]
    include_ignored: bool,
    /// Leave out tests whose name contains this.
    #[arg(long)]
    skip: Vec<String>,
    /// Arguments for `cargo test`, which select the features and the test programs.
    #[arg(last = true)]
    arguments: Vec<String>,
}

impl Options {
    /// Returns the arguments for a build with one change: those for the others, but with fewer test programs.
    fn arguments_alone(&self) -> Vec<String> {
        let selects = |argument: &&String| argument.starts_with("--test") || *argument == "--lib";
        let rest =
            self.arguments.iter().filter(|argument| self.alone.is_empty() || !selects(argument));
        rest.cloned().chain(self.alone.iter().map(|name| format!("--test={name}"))).collect()
    }

    /// Returns the names of the crates that contain sources, with commas.
    fn crates(&self) -> String {
        let name = |path: &PathBuf| Some(format!(",{}", path.parent()?.file_name()?.to_str()?));
        "utf8_codec".to_owned() + &self.includes_sources.iter().filter_map(name).collect::<String>()
    }
}

fn main() -> Result<()> {
    let mut options = Options::parse();
    options.tree = fs::canonicalize(&options.tree)?;
    let options = options;
    fs::create_dir_all(&options.output)?;
    let results = Results { folder: &options.output, writing: Mutex::new(()) };
    let mut changes = tree::read_list(&options.list)?;
    if let Some(path) = &options.equal {
        results.write_equal(&tree::equal(&changes, &fs::read_to_string(path)?)?)?;
    }
    let done = results.done()?;
    changes.retain(|change| !done.contains(&change.name));
    if let Some(path) = &options.only {
        let only = fs::read_to_string(path)?;
        let only: BTreeSet<&str> = only.lines().collect();
        changes.retain(|change| only.contains(&*change.name));
    }
    if changes.is_empty() {
        return Ok(());
    }

    // Limits memory to 8 GiB, which is enough to compile: a change can make a test allocate endlessly.
    #[cfg(unix)]
    rlimit::Resource::AS.set(8 << 30, 8 << 30)?;
    let (mut tree, alone) = Tree::new(&options, changes)?;
    tree.write()?;
    let executables = programs::build(&options, &options.arguments)?
        .map_err(|errors| format!("without a change: {errors:?}"))?;
    let all_programs = programs::look(&options, executables)?;
    let programs: Vec<&Program> = all_programs.iter().collect();
    let mut start = 0;
    let mut not_reached = BTreeSet::new();
    while tree.begin(start..start.saturating_add(options.at_once)) {
        not_reached.extend(try_batch(&mut tree, &programs, &options, &results)?);
        start += options.at_once;
    }
    tree.restore()?;
    let not_reached = tree.all().filter(|change| not_reached.contains(&change.name));
    alone
        .iter()
        .chain(not_reached)
        .try_for_each(|change| try_alone(change, &programs, &options, &results))
}

/// Compiles the changes of a batch into one set of programs, and tests each of them. Returns the names of those that no test
/// reaches.
fn try_batch(
    tree: &mut Tree,
    programs: &[&Program],
    options: &Options,
    results: &Results,
) -> Result<BTreeSet<String>> {
    loop {
        tree.write()?;
        match programs::build(options, &options.arguments)? {
            Ok(_) => break,
            Err(errors) => {
                tree.remove(&errors)?.into_iter().try_for_each(|change| results.unviable(change))?
            }
        }
    }
    let catcher = Catcher::default();
    let next = AtomicUsize::new(0);
    let changes: Vec<(u32, usize, &Change)> = tree.changes().collect();
    let not_reached = Mutex::new(BTreeSet::new());
    let job = || -> Result<()> {
        while let Some(&(number, function, change)) =
            changes.get(next.fetch_add(1, Ordering::Relaxed))
        {
            match programs::test(options, programs, &catcher, number, function)? {
                Verdict::NotReached => {
                    let mut names = not_reached.lock().expect("no thread has panicked");
                    names.insert(change.name.clone());
                }
                verdict => results.note(change, &verdict)?,
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let jobs: Vec<_> = (0..options.jobs).map(|_| scope.spawn(job)).collect();
        jobs.into_iter().try_for_each(|job| job.join().expect("the thread has not panicked"))
    })?;
    Ok(not_reached.into_inner()?)
}

/// Compiles the crate with one change, which cannot be compiled with others.
fn try_alone(
    change: &Change,
    programs: &[&Program],
    options: &Options,
    results: &Results,
) -> Result<()> {
    let original = change.write(&options.tree)?;
    match programs::build(options, &options.arguments_alone())? {
        Ok(executables) => {
            let is_built = |program: &&&Program| executables.contains(&program.path);
            let programs: Vec<&Program> = programs.iter().filter(is_built).copied().collect();
            results.note(
                change,
                &programs::test(options, &programs, &Catcher::default(), 0, usize::MAX)?,
            )?;
        }
        Err(_) => results.unviable(change)?,
    }
    change.restore(&options.tree, &original)
}

/// The folder of the results.
struct Results<'a> {
    folder: &'a Path,
    /// Held while a result is written.
    writing: Mutex<()>,
}

impl Results<'_> {
    /// Returns the names of the changes that have a result.
    fn done(&self) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for file in ["caught", "missed", "unviable", "equal"] {
            let path = self.folder.join(file);
            if path.exists() {
                names.extend(fs::read_to_string(path)?.lines().map(String::from));
            }
        }
        Ok(names)
    }

    fn write_equal(&self, changes: &[&Change]) -> Result<()> {
        let mut file = File::create(self.folder.join("equal"))?;
        changes.iter().try_for_each(|change| Ok(writeln!(file, "{}", change.name)?))
    }

    fn note(&self, change: &Change, verdict: &Verdict) -> Result<()> {
        match verdict {
            Verdict::Caught(test) => self.append("caught", change, test),
            Verdict::Hangs => self.append("caught", change, "by the time limit"),
            Verdict::Missed => self.append("missed", change, ""),
            Verdict::NotReached => self.append("missed", change, "no test runs"),
        }
    }

    fn unviable(&self, change: &Change) -> Result<()> {
        self.append("unviable", change, "")
    }

    fn append(&self, file: &str, change: &Change, why: &str) -> Result<()> {
        let _writing = self.writing.lock().expect("no thread has panicked");
        println!("{file}: {} {why}", change.name);
        let mut file = File::options().append(true).create(true).open(self.folder.join(file))?;
        Ok(writeln!(file, "{}", change.name)?)
    }
}
