//! The programs as processes.

use std::path::Path;
use std::process::{Command, Stdio};

use tokio::io::{AsyncBufReadExt, BufReader};

/// Runs a program to its end, and returns its exit status and output.
fn run(program: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(program).args(arguments).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(printed).unwrap())
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

#[tokio::test]
async fn http_upload_listens_on_the_printed_address() {
    let mut server = tokio::process::Command::new(env!("CARGO_BIN_EXE_http_upload"))
        .args(["--listen", "127.0.0.1:0", "--limit", "5"])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = server.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut line).await.unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap();
    let client = reqwest::Client::new();
    for (text, status) in [("5 €", 200), ("five €", 413)] {
        let response = client.post(url).body(text).send().await.unwrap();
        assert_eq!(response.status(), status);
    }
    server.kill().await.unwrap();
}
