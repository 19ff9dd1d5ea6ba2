//! `soak` as a process: nothing gets lost, and a loss is noticed.

use std::process::{Command, Output};

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
