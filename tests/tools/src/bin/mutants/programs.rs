//! The test programs: how they are built, what each test reaches, and its verdict on a change.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::Value;

use crate::{Options, Result};

/// A line that a compiler error names.
#[derive(Debug)]
pub(crate) struct Location {
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// Compiles the test programs. Returns their paths, or for each error the lines that it names.
pub(crate) fn build(
    options: &Options,
    arguments: &[String],
) -> Result<std::result::Result<Vec<PathBuf>, Vec<Vec<Location>>>> {
    let tree = &options.tree;
    let output = Command::new("cargo")
        .args(["test", "--no-run", "--message-format", "json"])
        .args(arguments)
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", tree.join("target"))
        // Unused names and the like are part of many changes.
        .env("RUSTFLAGS", format!("{} -A warnings", env::var("RUSTFLAGS").unwrap_or_default()))
        .env("RUSTC_BOOTSTRAP", options.crates())
        .stderr(Stdio::piped())
        .output()?;
    let mut executables = Vec::new();
    let mut errors = Vec::new();
    for line in output.stdout.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{")) {
        let message: Value = serde_json::from_slice(line)?;
        if message["reason"] == "compiler-artifact" && message["profile"]["test"] == true {
            executables.extend(message["executable"].as_str().map(PathBuf::from));
        }
        let error = &message["message"];
        let empty = Vec::new();
        let spans = error["spans"].as_array().unwrap_or(&empty);
        if error["level"] == "error" && !spans.is_empty() {
            let mut locations = Vec::new();
            for span in spans {
                let mut span = span;
                while span.is_object() {
                    let file = relative(tree, span["file_name"].as_str().unwrap_or_default());
                    locations.push(Location {
                        file,
                        line: span["line_start"].as_u64().unwrap_or_default() as usize,
                    });
                    span = &span["expansion"]["span"];
                }
            }
            errors.push(locations);
        }
    }
    match output.status.success() {
        true if executables.is_empty() => Err("there are no test programs".into()),
        true => Ok(Ok(executables)),
        false if errors.is_empty() => Err(String::from_utf8_lossy(&output.stderr).into()),
        false => Ok(Err(errors)),
    }
}

/// Returns the path in the tree of a file that the compiler names, which a program may include by another path.
fn relative(tree: &Path, file: &str) -> String {
    let path =
        fs::canonicalize(tree.join(file)).and_then(|file| Ok((file, fs::canonicalize(tree)?)));
    let inner =
        path.ok().and_then(|(file, tree)| Some(file.strip_prefix(tree).ok()?.to_str()?.to_owned()));
    inner.unwrap_or_else(|| file.to_owned())
}

pub(crate) struct Program {
    pub(crate) path: PathBuf,
    tests: Vec<Test>,
}

pub(crate) struct Test {
    name: String,
    time: Duration,
    reaches: Vec<bool>,
}

/// Runs each test alone on the unchanged crate.
pub(crate) fn look(options: &Options, paths: Vec<PathBuf>) -> Result<Vec<Program>> {
    let mut tests = Vec::new();
    for (program, path) in paths.iter().enumerate() {
        tests.extend(names(options, path)?.into_iter().map(|name| (program, name)));
    }
    let next = AtomicUsize::new(0);
    let programs = paths.iter().map(|path| Program { path: path.clone(), tests: Vec::new() });
    let programs = Mutex::new(programs.collect::<Vec<_>>());
    let job = |number: usize| -> Result<()> {
        let reached = options.tree.join(format!("target/reached-{number}"));
        while let Some((program, name)) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
            let test = look_at(options, &paths[*program], name, &reached)?;
            programs.lock().expect("no thread has panicked")[*program].tests.push(test);
        }
        Ok(())
    };
    let job = &job;
    thread::scope(|scope| {
        let jobs: Vec<_> =
            (0..options.jobs).map(|number| scope.spawn(move || job(number))).collect();
        jobs.into_iter().try_for_each(|job| job.join().expect("the thread has not panicked"))
    })?;
    let programs = programs.into_inner()?;
    let times = || programs.iter().flat_map(|program| &program.tests).map(|test| test.time);
    let seconds = times().sum::<Duration>().as_secs();
    println!("{} tests in {} programs, {seconds} s one by one", times().count(), programs.len());
    Ok(programs)
}

/// Returns the names of the tests in a program that are not left out.
fn names(options: &Options, path: &Path) -> Result<Vec<String>> {
    let list = |arguments: &[&str]| -> Result<Vec<String>> {
        let mut command = command(&options.tree, path);
        let output = command.args(["--list", "--format", "terse"]).args(arguments).output()?;
        let text = String::from_utf8(output.stdout)?;
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(String::from).collect())
    };
    let left_out = if options.include_ignored { Vec::new() } else { list(&["--ignored"])? };
    let mut names = list(&[])?;
    names.retain(|name| {
        !left_out.contains(name) && !options.skip.iter().any(|part| name.contains(part))
    });
    Ok(names)
}

/// Runs a test on the unchanged crate, which writes the functions that it reaches to `reached`.
fn look_at(options: &Options, path: &Path, name: &str, reached: &Path) -> Result<Test> {
    let _ = fs::remove_file(reached);
    let start = Instant::now();
    let mut command = command(&options.tree, path);
    command.args(["--include-ignored", "--exact", name]).env("CHANGES_REACHED", reached);
    let output = command.output()?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stdout);
        return Err(format!("{name} fails without a change: {printed}").into());
    }
    let time = start.elapsed();
    // A program that does not contain the crate writes nothing: its tests count as reaching everything.
    let reaches =
        fs::read(reached).unwrap_or_default().iter().map(|digit| *digit == b'1').collect();
    Ok(Test { name: name.to_owned(), time, reaches })
}

fn command(tree: &Path, path: &Path) -> Command {
    let mut command = Command::new(path);
    command.current_dir(tree).env("CARGO_MANIFEST_DIR", tree).stdin(Stdio::null());
    command
}

pub(crate) enum Verdict {
    /// A test failed: its name.
    Caught(String),
    Hangs,
    /// All tests that reach the function passed.
    Missed,
    NotReached,
}

/// The test that caught the last change, and its program: it is likely to catch the next one too.
pub(crate) type Catcher = Mutex<Option<(PathBuf, String)>>;

/// Runs the tests that reach a function on a change to it, the fastest first.
pub(crate) fn test(
    options: &Options,
    programs: &[&Program],
    catcher: &Catcher,
    change: u32,
    function: usize,
) -> Result<Verdict> {
    let first = catcher.lock().expect("no thread has panicked").clone();
    let mut chosen: Vec<(Duration, &Path, Vec<&str>)> = Vec::new();
    for program in programs {
        let mut group = (Duration::ZERO, &*program.path, Vec::<&str>::new());
        for test in program.tests.iter().filter(|test| test.reaches.get(function) != Some(&false)) {
            if first
                .as_ref()
                .is_some_and(|(path, name)| *path == program.path && *name == test.name)
            {
                chosen.push((Duration::ZERO, &program.path, vec![&test.name]));
            } else if test.time > LONG {
                chosen.push((test.time, &program.path, vec![&test.name]));
            } else {
                group.0 += test.time;
                group.2.push(&test.name);
            }
        }
        if !group.2.is_empty() {
            chosen.push(group);
        }
    }
    if chosen.is_empty() {
        return Ok(Verdict::NotReached);
    }
    chosen.sort();
    for (_, path, names) in chosen {
        let program =
            programs.iter().find(|program| program.path == path).expect("it is one of them");
        let times =
            program.tests.iter().filter(|test| names.contains(&&*test.name)).map(|test| test.time);
        let limit = times.sum::<Duration>() * 5 + Duration::from_secs(5);
        let mut command = command(&options.tree, path);
        command.args(["--include-ignored", "--test-threads", "1", "--exact"]).args(names);
        let verdict = run(command.env("CHANGE", change.to_string()), limit)?;
        if let Verdict::Caught(name) = &verdict {
            *catcher.lock().expect("no thread has panicked") = Some((path.into(), name.clone()));
        }
        if !matches!(verdict, Verdict::Missed) {
            return Ok(verdict);
        }
    }
    Ok(Verdict::Missed)
}

/// Tests that take longer are run in processes of their own.
const LONG: Duration = Duration::from_millis(500);

/// Runs a test program until a test fails.
fn run(command: &mut Command, limit: Duration) -> Result<Verdict> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let lines = BufReader::new(child.stdout.take().expect("it is piped"));
    let (sender, failed) = mpsc::channel();
    let reader = thread::spawn(move || {
        for line in lines.split(b'\n').map_while(std::result::Result::ok) {
            let line = String::from_utf8_lossy(&line);
            if line.ends_with("FAILED") {
                let _ = sender.send(line.split(' ').nth(1).unwrap_or_default().to_owned());
            }
        }
    });
    let received = failed.recv_timeout(limit);
    if !matches!(received, Err(RecvTimeoutError::Disconnected)) {
        child.kill()?;
    }
    let status = child.wait()?;
    match received {
        Ok(test) => Ok(Verdict::Caught(test)),
        Err(RecvTimeoutError::Timeout) => Ok(Verdict::Hangs),
        Err(RecvTimeoutError::Disconnected) => {
            reader.join().expect("the thread has not panicked");
            Ok(if status.success() {
                Verdict::Missed
            } else {
                Verdict::Caught(format!("({status})"))
            })
        }
    }
}
