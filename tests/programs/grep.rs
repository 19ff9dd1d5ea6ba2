//! `examples/grep.rs` as a process: the matches that it prints, and its exit status.
#![cfg(feature = "lines")]

use crate::program;

use program::Program;

const GREP: Program = Program("grep");

const LOG: &[u8] = b"one caf\xC3\xA9\ntwo tea\nthree caf\xE9 caf\xC3\nfour \xFF\nfive caf\xC3\xA9";

#[test]
fn the_sample_is_found() {
    let outcome = GREP.run([] as [&str; 0], b"");
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(outcome.text().lines().count(), 5);
}

#[test]
fn matches_have_numbers_and_offsets_and_damage_is_repaired() {
    let file = GREP.file("damaged.log", LOG);
    let outcome = GREP.run(["caf", &*file], b"");
    let expected = ["1:0:one café", r"3:18!three caf\xe9 caf\xc3", "5:41:five café"];
    let expected = expected.map(|line| format!("{file}:{line}\n")).concat();
    assert_eq!((outcome.text(), outcome.status), (&*expected, 0));

    let outcome = GREP.run(["café", "--errors", "windows1252"], LOG);
    let expected = "-:1:0:one café\n-:3:18!three café cafÃ\n-:5:41:five café\n";
    assert_eq!((outcome.text(), outcome.status), (expected, 0));
}

#[test]
fn the_exit_status_distinguishes_found_none_and_failed() {
    let outcome = GREP.run(["no such text"], LOG);
    assert_eq!((outcome.text(), outcome.status), ("", 1));

    let file = GREP.file("fine.log", LOG);
    let outcome = GREP.run(["tea", "no such file", &*file], b"");
    assert_eq!((outcome.text(), outcome.status), (&*format!("{file}:2:10:two tea\n"), 2));
    assert!(outcome.stderr.starts_with("grep: no such file: "), "{}", outcome.stderr);
}

#[test]
fn lines_that_are_too_long_are_skipped() {
    let log = [&vec![b'x'; 100_000][..], b"\nshort x\n"].concat();
    let outcome = GREP.run(["x", "--max-length", "50"], &log);
    assert_eq!((outcome.text(), outcome.status), ("-:2:100001:short x\n", 2));
    assert_eq!(outcome.stderr, "grep: -: line 1 at byte 0 is longer than 50 bytes\n");
}

#[test]
fn control_characters_are_not_printed() {
    let outcome = GREP.run(["red"], b"\x1B[31mred\n");
    assert_eq!(outcome.text(), "-:1:0:\\u{1b}[31mred\n");
}
