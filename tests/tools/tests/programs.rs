//! The programs of this package, run as processes.

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
    let output = soak(&["--connections", "40", "--seconds", "1", "--pause", "20"]);
    let said = said(&output);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("40 connections (sockets), seed 1\n"), "{said}");
    assert_eq!(numbers(&said, "characters lost: "), [0]);
    let text = numbers(&said, "text: ");
    assert!(text[0] >= 40 && text[1] > text[0], "messages and characters: {said}");
    let faults = numbers(&said, "faults: ");
    assert!(faults.len() == 4 && faults.iter().all(|&count| count > 0), "{said}");
    assert!(numbers(&said, "heap: ").iter().all(|&bytes| bytes > 40 * 1000), "{said}");
}

#[test]
fn pipes_with_faults_lose_no_data() {
    let arguments = ["--connections", "100", "--seconds", "1", "--pause", "500", "--seed", "7"];
    let output = soak(&[&["--duplex"], &arguments[..]].concat());
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
