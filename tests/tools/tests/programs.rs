//! The programs of this package, run as processes.

use std::io::{self, Write};
use std::process::{Command, Output};

// ---- soak: nothing gets lost, and a loss is noticed ---------------------------------------------

fn soak(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_soak")).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The numbers of a line that begins with `name`.
fn numbers(output: &str, name: &str) -> Vec<u64> {
    let line = output.lines().find(|line| line.starts_with(name)).expect(name);
    line.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

#[test]
fn sockets_with_faults_lose_no_data() {
    let plot = std::env::temp_dir().join(format!("soak-{}.svg", std::process::id()));
    let path = plot.to_str().unwrap();
    let arguments = ["--connections", "40", "--seconds", "1", "--pause", "20", "--plot", path];
    let output = soak(&arguments);
    let said = said(&output);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("40 connections (sockets), seed 1\n"), "{said}");
    assert_eq!(numbers(&said, "characters lost: "), [0]);
    let text = numbers(&said, "text: ");
    assert!(text[0] >= 40 && text[1] > text[0], "messages and characters: {said}");
    let faults = numbers(&said, "faults: ");
    assert!(faults.len() == 4 && faults.iter().all(|&count| count > 0), "{said}");
    assert!(numbers(&said, "heap: ").iter().all(|&bytes| bytes > 40 * 1000), "{said}");

    let drawn = std::fs::read_to_string(&plot).unwrap();
    std::fs::remove_file(&plot).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    for title in ["text delivered", "memory, resident", "memory, on the heap"] {
        assert!(drawn.contains(title), "{title}");
    }
}

#[test]
fn pipes_with_faults_lose_no_data() {
    let output = soak(&["--duplex", "--connections", "100", "--seconds", "1", "--seed", "7"]);
    let said = said(&output);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("100 connections (pipes), seed 7\n"), "{said}");
    assert_eq!(numbers(&said, "characters lost: "), [0]);
}

#[test]
fn a_deliberately_dropped_character_is_detected() {
    for transport in [&[][..], &["--duplex"]] {
        let arguments = ["--connections", "3", "--seconds", "1", "--pause", "20", "--lose"];
        let output = soak(&[&arguments, transport].concat());
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!(numbers(&said, "characters lost: "), [1]);
    }
}

#[test]
fn a_plot_that_cannot_be_written_fails_at_the_start() {
    let output =
        soak(&["--connections", "1", "--seconds", "1", "--plot", "/no/such/directory/a.svg"]);
    let errors = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!((output.status.code(), &*said(&output)), (Some(2), ""), "{errors}");
    assert!(errors.starts_with("soak: /no/such/directory/a.svg: "), "{errors}");
}

// ---- surface: the public items of the crate are those listed in `tests/surface.txt` -------------

#[test]
fn public_items_equal_the_list() {
    let output = Command::new(env!("CARGO_BIN_EXE_surface")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    if said.starts_with("SKIPPED: ") {
        // Past the capture of the test harness: a test that checks nothing has to say so.
        writeln!(io::stderr(), "{}", said.trim_end()).unwrap();
    }
}

// ---- mutants, on a crate of a few lines ---------------------------------------------------------

#[cfg(target_os = "linux")]
mod mutants {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use serde_json::{Value, json};

    const MANIFEST: &str = "
[package]
name = \"utf8-codec\"
edition = \"2024\"

[workspace]
";

    const SOURCE: &str = "\
const LIMIT: u8 = sum(1, 1);

pub fn is_low(n: u8) -> bool {
    n < LIMIT
}

pub fn unused(n: u8) -> u8 {
    n + 1
}

const fn sum(a: u8, b: u8) -> u8 {
    a + b
}

const TEN: u8 = 5 + 5;

pub fn ten() -> u8 {
    TEN
}

pub fn endless(mut n: u8) -> u8 {
    while n > 1 {
        n -= 1;
    }
    n
}
";

    const TESTS: &str = "\
#[test]
fn low_is_below_two() {
    assert!(utf8_codec::is_low(1) && !utf8_codec::is_low(2));
    assert_eq!(utf8_codec::endless(9), 1);
    assert_eq!(utf8_codec::ten(), 10);
}
";

    /// A change to one place in one line, as `cargo mutants` lists it.
    fn change(line: usize, old: &str, new: &str) -> Value {
        let text = SOURCE.lines().nth(line - 1).unwrap();
        let column = text.find(old).unwrap() + 1;
        json!({
            "name": format!("src/lib.rs:{line}:{column}: replace {old} with {new}"),
            "file": "src/lib.rs",
            "span": {
                "start": { "line": line, "column": column },
                "end": { "line": line, "column": column + old.len() },
            },
            "replacement": new,
            "diff": format!("@@\n-{text}\n+{}", text.replace(old, &format!("{new} /* ~ changed by cargo-mutants ~ */"))),
        })
    }

    #[test]
    fn each_change_gets_the_verdict_of_the_tests_that_reach_it() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants");
        let _ = fs::remove_dir_all(&folder);
        let tree = folder.join("tree");
        for (path, text) in
            [("Cargo.toml", MANIFEST), ("src/lib.rs", SOURCE), ("tests/all.rs", TESTS)]
        {
            let path = tree.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let changes = json!([
            change(4, "<", "<="),
            change(4, "<", "!="),
            change(4, "n < LIMIT", "\"text\""),
            change(8, "+", "-"),
            change(12, "+", "-"),
            change(15, "+", "*"),
            change(22, ">", ">="),
            change(23, "-=", "/="),
        ]);
        fs::write(folder.join("list"), changes.to_string()).unwrap();
        fs::write(
            folder.join("equal"),
            "# A reason.\nsrc/lib.rs | replace < with != | n != LIMIT\n",
        )
        .unwrap();

        let run = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_mutants"));
            for (option, file) in [
                ("--list", "list"),
                ("--equal", "equal"),
                ("--tree", "tree"),
                ("--output", "results"),
            ] {
                command.arg(option).arg(folder.join(file));
            }
            command.args(["--jobs", "2", "--", "--test", "all"]).output().unwrap()
        };
        let output = run();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let results = |name: &str| {
            let mut lines: Vec<String> = fs::read_to_string(folder.join("results").join(name))
                .unwrap()
                .lines()
                .map(String::from)
                .collect();
            lines.sort();
            lines
        };
        assert_eq!(
            results("caught"),
            [
                "src/lib.rs:12:7: replace + with -", // compiled alone: called in a constant
                "src/lib.rs:15:19: replace + with *", // compiled alone
                "src/lib.rs:22:13: replace > with >=",
                "src/lib.rs:23:11: replace -= with /=", // by the time limit
                "src/lib.rs:4:7: replace < with <=",
            ]
        );
        assert_eq!(results("missed"), ["src/lib.rs:8:7: replace + with -"]);
        assert_eq!(results("unviable"), ["src/lib.rs:4:5: replace n < LIMIT with \"text\""]);
        assert_eq!(results("equal"), ["src/lib.rs:4:7: replace < with !="]);
        assert_eq!(fs::read_to_string(tree.join("src/lib.rs")).unwrap(), SOURCE);

        // An entry that fits no change is an error.
        fs::write(folder.join("equal"), "src/lib.rs | replace < with != | n != OTHER\n").unwrap();
        let output = run();
        assert!(!output.status.success());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("this is no change any more"), "{error}");
    }
}
