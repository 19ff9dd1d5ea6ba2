//! The programs as processes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use servers::sse::{Piece, router};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::Semaphore;

/// Runs a program to its end, and returns its exit status and output.
fn run(program: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(program).args(arguments).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(printed).unwrap())
}

/// Starts a program. Returns it, and the first line that it prints.
async fn started(program: &str, arguments: &[&str]) -> (tokio::process::Child, String) {
    let mut command = tokio::process::Command::new(program);
    let mut child =
        command.args(arguments).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    (child, line)
}

#[test]
fn http_upload_passes_its_self_test() {
    for arguments in [&[][..], &["--self-test"]] {
        assert_uploads(arguments);
    }
}

#[test]
#[ignore = "takes seconds"]
fn memory_of_a_1_gib_upload_is_that_of_a_small_one() {
    assert_uploads(&["--gigabyte"]);
}

/// Runs the self-test of `http_upload`, which fails if an upload takes more memory than a small one.
fn assert_uploads(arguments: &[&str]) {
    let (status, printed) = run(env!("CARGO_BIN_EXE_http_upload"), arguments);
    assert_eq!(status, Some(0), "{printed}");
    assert_eq!(printed.matches("ok: ").count(), 8, "{printed}");
    let least = if arguments == ["--gigabyte"] { 1 << 30 } else { 64 << 20 };
    let large = printed.lines().find_map(|line| {
        line.strip_prefix("ok: ")?
            .split_once(" bytes in ")?
            .0
            .parse::<u64>()
            .ok()
            .filter(|len| *len >= least)
    });
    assert!(large.is_some(), "{printed}");
    #[cfg(target_os = "linux")]
    assert!(printed.contains("peak memory of client and server: "), "{printed}");
}

#[test]
fn small_servers_pass_their_own_checks() {
    for (program, arguments, last) in [
        (env!("CARGO_BIN_EXE_http_text"), &[][..], "ok: 8 answers\n"),
        (env!("CARGO_BIN_EXE_upgrade_echo"), &[], "ok: text is validated as it arrives\n"),
        (env!("CARGO_BIN_EXE_websocket_echo"), &["--self-test"], "All checks passed.\n"),
    ] {
        let (status, printed) = run(program, arguments);
        assert_eq!(status, Some(0), "{printed}");
        assert!(printed.ends_with(last), "{printed}");
    }
}

#[test]
fn sse_client_prints_every_word_without_arguments() {
    let (status, printed) = run(env!("CARGO_BIN_EXE_sse_client"), &[]);
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.contains("\nСъешь же ещё этих мягких французских булок.\n"), "{printed}");
    assert!(printed.ends_with("each shown before the next was sent\n"), "{printed}");
}

#[test]
fn sse_chat_receives_the_whole_answer_over_connections_that_break_inside_a_character() {
    let (status, printed) = run(env!("CARGO_BIN_EXE_sse_chat"), &[]);
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.matches('|').count() > 2, "{printed}");
    assert!(!printed.contains('\u{FFFD}'), "{printed}");
}

#[test]
fn invalid_arguments_and_addresses_exit_with_an_error() {
    for (program, arguments, status) in [
        (env!("CARGO_BIN_EXE_http_upload"), &["--listen", "nowhere"][..], 2),
        (env!("CARGO_BIN_EXE_http_upload"), &["--listen", "127.0.0.1:0", "--self-test"], 2),
        (env!("CARGO_BIN_EXE_http_upload"), &["--limit", "1"], 2),
        (env!("CARGO_BIN_EXE_http_upload"), &["--listen", "192.0.2.1:80"], 1),
        (
            env!("CARGO_BIN_EXE_http_upload"),
            &["--listen", "127.0.0.1:0", "--idle-timeout", "-1"],
            2,
        ),
        (env!("CARGO_BIN_EXE_websocket_echo"), &["--listen", "192.0.2.1:80"], 1),
        (env!("CARGO_BIN_EXE_websocket_echo"), &["--message-timeout", "soon"], 2),
        (env!("CARGO_BIN_EXE_sse_client"), &["http://127.0.0.1:1/"], 1),
        (env!("CARGO_BIN_EXE_http_text"), &["--listen", "192.0.2.1:80"], 1),
        (env!("CARGO_BIN_EXE_upgrade_echo"), &["--listen", "192.0.2.1:80"], 1),
    ] {
        let (found, printed) = run(program, arguments);
        assert_eq!(found, Some(status), "{arguments:?}: {printed}");
        let name = Path::new(program).file_stem().unwrap().to_str().unwrap();
        let is_named = status == 2 || printed.starts_with(&format!("{name}: "));
        assert!(!printed.is_empty() && is_named, "{name}: {printed}");
    }
}

const PROGRAMS: [(&str, &[&str]); 5] = [
    (env!("CARGO_BIN_EXE_http_text"), &[]),
    (env!("CARGO_BIN_EXE_http_upload"), &[]),
    (env!("CARGO_BIN_EXE_sse_client"), &[]),
    (env!("CARGO_BIN_EXE_upgrade_echo"), &[]),
    (env!("CARGO_BIN_EXE_websocket_echo"), &["--self-test"]),
];

#[test]
fn help_and_unknown_arguments_are_answered_before_anything_is_done() {
    for (program, _) in PROGRAMS {
        let (status, printed) = run(program, &["--help"]);
        assert_eq!(status, Some(0), "{printed}");
        assert!(printed.contains("Usage: ") && printed.contains("-h, --help"), "{printed}");
        let (status, printed) = run(program, &["--no-such-option"]);
        assert_eq!(status, Some(2), "{printed}");
        assert!(printed.starts_with("error: ") && printed.contains("Usage: "), "{printed}");
    }
}

#[test]
fn a_closed_pipe_ends_a_program_quietly() {
    for (program, arguments) in PROGRAMS {
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*message), (Some(0), ""), "{program}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_is_one_message_and_a_failure() {
    for (program, arguments) in PROGRAMS {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(program).args(arguments).stdout(full).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{program}: {message}");
        assert!(message.contains(": standard output: No space left"), "{program}: {message}");
        assert_eq!(message.lines().count(), 1, "{program}: {message}");
    }
}

#[tokio::test]
async fn control_characters_of_an_event_are_not_printed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let pieces = vec![Piece::Bytes("event: \x1B[31m\ndata: a\x1B]0;b\n\n".into())];
    let router = router(pieces, Arc::new(Semaphore::new(0)));
    tokio::spawn(async { axum::serve(listener, router).await });
    let (mut client, line) = started(env!("CARGO_BIN_EXE_sse_client"), &[&url]).await;
    assert_eq!(line, "\\u{1b}[31m: a\\u{1b}]0;b\n");
    client.kill().await.unwrap();
}

#[tokio::test]
async fn http_upload_listens_on_the_printed_address() {
    let arguments = ["--listen", "127.0.0.1:0", "--limit", "5"];
    let (mut server, line) = started(env!("CARGO_BIN_EXE_http_upload"), &arguments).await;
    let url = line.trim().strip_prefix("listening on ").unwrap();
    let client = reqwest::Client::new();
    for (text, status) in [("5 €", 200), ("five €", 413)] {
        let response = client.post(url).body(text).send().await.unwrap();
        assert_eq!(response.status(), status);
    }
    server.kill().await.unwrap();
}
