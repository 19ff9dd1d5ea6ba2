//! The examples, run as processes.

mod chat;
mod check;
mod habits;
mod json_rpc;
#[cfg(feature = "std")]
#[path = "../support/program.rs"]
mod program;
mod transcode;

/// `examples/grep.rs`: the matches that it prints, and its exit status.
#[cfg(feature = "std")]
mod grep {
    use crate::program::Program;

    const GREP: Program = Program("grep");

    const LOG: &[u8] =
        b"one caf\xC3\xA9\ntwo tea\nthree caf\xE9 caf\xC3\nfour \xFF\nfive caf\xC3\xA9";

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
        assert_eq!(
            outcome.stderr,
            "grep: -: line 1 at byte 0 of the stream is longer than 50 bytes\n"
        );
    }

    #[test]
    fn control_characters_are_not_printed() {
        let outcome = GREP.run(["red"], b"\x1B[31mred\n");
        assert_eq!(outcome.text(), "-:1:0:\\u{1b}[31mred\n");
    }
}

/// `examples/lexer.rs`: the tokens that it prints, and its exit status.
#[cfg(feature = "stream")]
mod lexer {
    use crate::program::Program;

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
}

/// `examples/run.rs`: the lines of a real child.
#[cfg(feature = "stream")]
mod run {
    use crate::program::Program;

    const RUN: Program = Program("run");

    #[test]
    fn both_pipes_of_a_child_are_drained_to_the_last_byte() {
        let outcome = RUN.run([] as [&str; 0], b"");
        assert_eq!((outcome.text(), outcome.status), ("ok: 20003 lines of two pipes\n", 0));
    }

    #[test]
    fn a_child_that_cannot_be_run_is_reported() {
        let outcome = RUN.run(["no such program"], b"");
        assert_eq!((outcome.text(), outcome.status), ("", 1));
        assert!(outcome.stderr.starts_with("run: "), "{}", outcome.stderr);
    }

    #[cfg(unix)]
    #[test]
    fn damaged_lines_are_repaired_and_the_exit_code_is_that_of_the_child() {
        // A grandchild still writes after the child has exited.
        let script = r"(sleep 0.2; printf 'last \033[2J') & printf 'caf\303'; sleep 0.1; printf '\251\n'; exit 7";
        let outcome = RUN.run(["sh", "-c", script], b"");
        assert_eq!((outcome.text(), outcome.status), ("out: café\nout: last \\u{1b}[2J\n", 7));
        let outcome = RUN.run(["sh", "-c", r"printf '\351t\351' >&2"], b"");
        assert_eq!((outcome.text(), outcome.status), ("err: \\xe9t\\xe9\n", 0));
    }
}
