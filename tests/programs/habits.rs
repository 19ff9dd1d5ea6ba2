//! What all examples have in common: help, invalid arguments, and an output that cannot be written.
#![cfg(all(feature = "codec", feature = "stream"))]

#[cfg(target_os = "linux")]
use std::fs::File;
use std::io::{BufRead, BufReader};
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt;

use crate::program::{Program, finish};

const PROGRAMS: [Program; 7] = [
    Program("chat"),
    Program("check"),
    Program("grep"),
    Program("json_rpc"),
    Program("lexer"),
    Program("run"),
    Program("transcode"),
];

/// Those that read files, each with its other arguments.
const READERS: [(Program, &[&str]); 3] =
    [(Program("check"), &[]), (Program("grep"), &["x"]), (Program("transcode"), &[])];

#[test]
fn help_names_the_program_and_its_arguments() {
    for program in &PROGRAMS {
        for argument in ["--help", "-h"] {
            let outcome = program.run([argument], b"");
            assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{}", program.0);
            let usage = format!("Usage: {}", program.0);
            assert!(outcome.text().contains(&usage), "{}", outcome.text());
            assert!(outcome.text().contains("-h, --help"), "{}", outcome.text());
        }
    }
}

#[test]
fn an_unknown_argument_is_rejected_before_anything_is_done() {
    for program in &PROGRAMS {
        let outcome = program.run(["--no-such-option"], b"");
        assert_eq!((outcome.status, outcome.text()), (2, ""), "{}", program.0);
        assert!(outcome.stderr.contains("'--no-such-option'"), "{}", outcome.stderr);
    }
}

#[test]
fn a_reader_that_closes_the_pipe_after_one_line_ends_the_program_quietly() {
    for program in &PROGRAMS {
        let mut child = program.start([] as [&str; 0]);
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let outcome = finish(child);
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{} printed {line}", program.0);
    }
}

#[test]
fn a_pipe_that_is_closed_from_the_start_ends_the_program_quietly() {
    let file = Program("habits").file("text.txt", &b"text: x\n".repeat(100_000));
    let runs = PROGRAMS.map(|program| (program, vec![]));
    let readers = READERS.map(|(program, before)| (program, [before, &[&*file]].concat()));
    for (program, arguments) in runs.into_iter().chain(readers) {
        let mut child = program.start(&arguments);
        drop(child.stdout.take());
        let outcome = finish(child);
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{} {arguments:?}", program.0);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_is_one_message_and_a_failure() {
    for program in &PROGRAMS {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = program.command();
        let outcome = command.stdout(full).output().unwrap();
        let message = String::from_utf8(outcome.stderr).unwrap();
        let name = program.0;
        assert!(matches!(outcome.status.code(), Some(1 | 2)), "{name}: {:?}", outcome.status);
        assert!(message.starts_with(&format!("{name}: ")), "{name}: {message}");
        assert!(message.contains("No space left"), "{name}: {message}");
        assert_eq!(message.lines().count(), 1, "{name}: {message}");
    }
}

#[test]
#[cfg(unix)]
fn a_missing_file_and_a_directory_are_one_message_with_their_name() {
    for (program, before) in &READERS {
        for (file, reason) in [("no such file", "No such file"), ("src", "Is a directory")] {
            let outcome = program.run([before, &[file][..]].concat(), b"");
            assert_eq!(outcome.status, 2, "{}: {}", program.0, outcome.stderr);
            let start = format!("{}: {file}: ", program.0);
            assert!(outcome.stderr.starts_with(&start), "{}", outcome.stderr);
            assert!(outcome.stderr.contains(reason), "{}", outcome.stderr);
            assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
        }
    }
}

#[test]
#[cfg(unix)]
fn a_file_whose_name_is_not_utf8_is_read() {
    use std::ffi::OsStr;

    let path = Program("habits").path("caf").with_file_name(OsStr::from_bytes(b"caf\xE9.txt"));
    std::fs::write(&path, "text: x\n").unwrap();
    for (program, before) in &READERS {
        let arguments = before.iter().map(OsStr::new).chain([path.as_os_str()]);
        let outcome = program.run(arguments, b"");
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{}", program.0);
        assert!(!outcome.stdout.is_empty(), "{}", program.0);
    }
}

#[test]
fn bytes_that_are_not_utf8_are_reported_or_repaired_and_never_fatal_to_the_program() {
    let file = Program("habits").file("damaged.txt", b"text: x\xFF\nsecond x\n");
    for ((program, before), status) in READERS.iter().zip([1, 0, 1]) {
        let outcome = program.run([before, &[&*file][..]].concat(), b"");
        assert_eq!(outcome.status, status, "{}: {}", program.0, outcome.stderr);
        assert!(outcome.text().contains("text: x") || program.0 == "check", "{}", outcome.text());
    }
}
