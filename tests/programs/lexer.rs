//! `examples/lexer.rs` as a process: the tokens that it prints, and its exit status.
#![cfg(feature = "stream")]

use crate::program;

use program::Program;

#[test]
fn tokens_of_a_hostilely_split_program_have_their_positions() {
    let output = Program("lexer").command().output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");

    let rows: Vec<Vec<&str>> =
        printed.lines().map(|row| row.split_whitespace().collect()).collect();
    for row in [
        ["0", "1", "1", "Word", "größe"].as_slice(),
        &["21", "1", "19", "Comment", "#", "ﬂächig"],
        &["55", "3", "6", "Literal", "\"こんにちは、"],
        &["74", "3", "13", "IllFormed", "invalid", "byte", "(ff)"],
        &["75", "3", "14", "Word", "世界"],
        &["126", "4", "22", "Symbol", ")"],
    ] {
        assert!(rows.iter().any(|other| other == row), "{row:?} is not in\n{printed}");
    }
    assert_eq!(rows.len(), 1 + 26 + 2, "a heading, the tokens, a verdict\n{printed}");
}
