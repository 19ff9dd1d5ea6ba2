//! `examples/check.rs` as a process: its output and its exit status.

#![cfg(feature = "codec")]

use crate::program;

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
#[cfg(unix)]
use std::process::Stdio;
use std::thread;
use std::time::Duration;

#[cfg(target_os = "linux")]
use program::peak_kilobytes;
use program::{Outcome, Program, finish, noise};
use serde_json::Value;

/// One error of each kind that needs no option, on three lines.
const DAMAGED: &[u8] = b"tea: \xE9, caf\xC3\xA9\n\
    \xE6\x97\xA5\xED\xA0\x80|\xC0\xAF|\xF4\x90|\xFF|\xF0\x9F\x98|\n\
    end \xE2\x82";

const PLACES: [(u64, u64, u64, &str); 11] = [
    (5, 1, 6, "truncated character"),
    (17, 2, 2, "encoded surrogate"),
    (18, 2, 3, "unexpected continuation byte"),
    (19, 2, 4, "unexpected continuation byte"),
    (21, 2, 6, "overlong encoding"),
    (22, 2, 7, "unexpected continuation byte"),
    (24, 2, 9, "code point above U+10FFFF"),
    (25, 2, 10, "unexpected continuation byte"),
    (27, 2, 12, "invalid byte"),
    (29, 2, 14, "truncated character"),
    (38, 3, 5, "unexpected end inside a character"),
];

const CHECK: Program = Program("check");

fn run<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Outcome {
    CHECK.run(arguments, b"")
}

/// The reports, one per line.
fn json(outcome: &Outcome) -> Vec<Value> {
    outcome.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn places(report: &Value) -> Vec<(u64, u64, u64, &str)> {
    let place = |error: &'_ Value, name: &str| error[name].as_u64().unwrap();
    let errors = report["errors"].as_array().unwrap().iter();
    errors
        .map(|error| {
            let kind = error["kind"].as_str().unwrap();
            (place(error, "offset"), place(error, "line"), place(error, "column"), kind)
        })
        .collect()
}

#[test]
fn clean_file_is_well_formed() {
    let name = CHECK.file("clean.txt", "Grüße\nκόσμε\n日本語 👩‍🚀".as_bytes());
    let outcome = run([&name]);
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""));
    assert!(outcome.text().starts_with(&format!("{name}: well-formed\n")), "{}", outcome.text());
    assert!(outcome.text().contains("40 bytes, 19 characters, 3 lines, no byte order mark"));
    assert!(!outcome.text().contains('\x1B'));

    let outcome = run([&*CHECK.file("empty", b""), &CHECK.file("line", b"one\n"), "--json"]);
    let lines: Vec<_> = json(&outcome).iter().map(|report| report["lines"].clone()).collect();
    assert_eq!((outcome.status, lines), (0, vec![0.into(), 1.into()]));
}

#[test]
fn errors_are_listed_with_their_positions() {
    let outcome = run([CHECK.file("damaged.txt", DAMAGED)]);
    assert_eq!(outcome.status, 1);
    let rows: Vec<_> = outcome.text().lines().collect();
    let at = rows.iter().position(|row| row.trim_start().starts_with("17 ")).unwrap();
    let fields: Vec<_> = rows[at].split_whitespace().collect();
    assert_eq!(fields, ["17", "2", "2", "encoded", "surrogate", "(ed,", "followed", "by", "a0)"]);
    let context = "61 66 c3 a9 0a e6 97 a5 [ed] a0 80 7c c0 af 7c f4 90";
    assert!(rows[at + 1].contains(context), "{}", rows[at + 1]);
    assert!(outcome.text().contains("ill-formed, 11 errors"));
}

#[test]
fn columns_of_the_report_are_separate_however_long_a_number_is() {
    let mut bytes = vec![b'\n'; 10_000_000];
    bytes.extend(vec![b'x'; 12_345_678]);
    bytes.push(0xFF);
    let outcome = run([CHECK.file("many-lines.txt", &bytes)]);
    let row = outcome.text().lines().find(|row| row.ends_with("invalid byte (ff)")).unwrap();
    let fields: Vec<_> = row.split_whitespace().take(3).collect();
    assert_eq!(fields, ["22345678", "10000001", "12345679"], "{row}");
}

#[test]
fn a_file_is_said_to_look_like_utf_16_only_after_a_whole_bom() {
    for (bytes, is_bom) in [
        (&b"\xFF"[..], false),
        (b"\xFE", false),
        (b"\xFFa", false),
        (b"\xFE\xFE", false),
        (b"\xFF\xFEa\0", true),
        (b"\xFE\xFF\0a", true),
        (b"\xFF\xFE", true),
    ] {
        for size in ["1", "100"] {
            let report = CHECK.run(["-", "--read-size", size], bytes);
            let json = json(&CHECK.run(["-", "--json", "--read-size", size], bytes));
            let message = json[0]["errors"][0]["message"].as_str().unwrap();
            for text in [report.text(), message] {
                assert_eq!(text.contains("looks like UTF-16"), is_bom, "{bytes:02x?}: {text}");
            }
        }
    }
}

#[test]
fn json_does_not_depend_on_the_read_size() {
    let name = CHECK.file("json.txt", DAMAGED);
    let mut reports = Vec::new();
    for size in ["1", "2", "3", "7", "262144"] {
        let outcome = run([&*name, "--json", "--read-size", size]);
        assert_eq!(outcome.status, 1);
        let [mut report] = json(&outcome).try_into().unwrap();
        assert_eq!(places(&report), PLACES);
        report["seconds"].take();
        report["bytes_per_second"].take();
        reports.push(report);
    }
    let report = &reports[0];
    assert!(reports.iter().all(|other| other == report));
    assert_eq!(report["source"], name);
    assert_eq!(report["verdict"], "ill-formed");
    assert_eq!((&report["bytes"], &report["lines"]), (&40.into(), &3.into()));
    assert_eq!((&report["characters"], &report["error_count"]), (&23.into(), &11.into()));
    let first = &report["errors"][0];
    assert_eq!((&first["before"], &first["bytes"]), (&"74 65 61 3a 20".into(), &"e9".into()));
    assert_eq!((&first["after"], &first["length"]), (&"2c 20 63 61 66 c3 a9 0a".into(), &1.into()));
    assert_eq!(report["errors"][10]["length"], Value::Null);
}

#[test]
fn error_positions_in_noise_equal_std() {
    let bytes = noise(20_000);
    let (mut expected, mut offset, mut line, mut column) = (Vec::new(), 0, 1, 1);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        offset += chunk.valid().len() as u64;
        if !chunk.invalid().is_empty() {
            expected.push((offset, line, column));
            column += 1;
        }
        offset += chunk.invalid().len() as u64;
    }
    for size in ["3", "4096"] {
        let outcome = CHECK.run(["-", "--json", "--limit", "100000", "--read-size", size], &bytes);
        let report = &json(&outcome)[0];
        let found: Vec<_> =
            places(report).iter().map(|place| (place.0, place.1, place.2)).collect();
        assert!(found == expected, "read size {size}");
        assert_eq!(report["error_count"], expected.len());
        assert_eq!(
            report["characters"],
            bytes.utf8_chunks().map(|c| c.valid().chars().count()).sum::<usize>()
        );
    }
}

#[test]
fn an_unreadable_input_is_reported_and_the_others_are_checked() {
    let clean = CHECK.file("beside.txt", b"fine\n");
    let missing = CHECK.path("missing").to_str().unwrap().to_owned();
    let directory = env!("CARGO_TARGET_TMPDIR").to_owned();
    for unreadable in
        [&*missing, &directory, "tcp://127.0.0.1:1", "tcp://127.0.0.1:99999", "tcp://nonsense"]
    {
        let outcome = run([unreadable, &clean]);
        assert_eq!(outcome.status, 2, "{unreadable}");
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
        assert!(
            outcome.stderr.starts_with(&format!("check: {unreadable}: ")),
            "{}",
            outcome.stderr
        );
        assert!(outcome.text().contains("beside.txt: well-formed"));
    }
    let outcome = run(["--json", &missing, "--listen", "nowhere"]);
    assert_eq!(outcome.status, 2);
    assert!(json(&outcome).iter().all(|report| report["verdict"] == "unreadable"));
    assert_eq!(json(&outcome).len(), 2);
}

#[test]
fn exit_status_is_the_worst_of_all_inputs() {
    let (clean, damaged) = (CHECK.file("clean2.txt", b"ok"), CHECK.file("damaged2.txt", b"\xFF"));
    let missing = CHECK.path("missing").to_str().unwrap().to_owned();
    assert_eq!(run([&damaged, &clean]).status, 1);
    assert_eq!(run([&missing, &damaged, &clean]).status, 2);
    assert_eq!(run(["--json"]).status, 2);
    assert_eq!(run(["--read-size", "0", &clean]).status, 2);
}

#[test]
fn repair_in_replacement_mode_equals_std() {
    let repaired = CHECK.path("repaired.txt");
    for (n, bytes) in [DAMAGED, &noise(50_000), "\u{FEFF}clean".as_bytes(), b""].iter().enumerate()
    {
        let name = CHECK.file(&format!("to-repair-{n}.txt"), bytes);
        for size in ["5", "262144"] {
            run([
                OsStr::new(&name),
                "--read-size".as_ref(),
                size.as_ref(),
                "--repair".as_ref(),
                repaired.as_ref(),
            ]);
            let expected = String::from_utf8_lossy(bytes);
            assert!(fs::read(&repaired).unwrap() == expected.as_bytes(), "input {n}, size {size}");
        }
    }
}

#[test]
fn repair_follows_the_error_mode() {
    let (name, repaired) =
        (CHECK.file("modes.txt", b"caf\xE9 \x80!"), CHECK.path("modes-repaired.txt"));
    let to = repaired.to_str().unwrap();
    for (mode, expected) in [
        ("skip", "caf !"),
        ("escape", r"caf\xe9 \x80!"),
        ("latin1", "café \u{80}!"),
        ("windows1252", "café €!"),
    ] {
        assert_eq!(run([&name, "--errors", mode, "--repair", to]).status, 1);
        assert_eq!(fs::read_to_string(&repaired).unwrap(), expected);
    }
}

#[test]
fn contradictory_repair_options_are_rejected() {
    let (name, never) = (CHECK.file("precious.txt", b"\xFFprecious"), CHECK.path("never.txt"));
    let never_name = never.to_str().unwrap();
    let _ = fs::remove_file(&never);
    let rejected = [
        run([&name, "--errors", "fatal", "--repair", never_name]),
        run([&name, &name, "--repair", never_name]),
        run([&name, "--repair", &name]),
        run([CHECK.path("missing").to_str().unwrap(), "--repair", never_name]),
        run([&*name, "--repair", "/no/such/directory/file"]),
    ];
    assert!(rejected.iter().all(|outcome| outcome.status == 2 && !outcome.stderr.is_empty()));
    assert!(!never.exists());
    assert_eq!(fs::read(&name).unwrap(), b"\xFFprecious");
}

/// Runs it in a shell, which redirects standard input and output.
#[cfg(unix)]
fn shell(script: &str) -> Outcome {
    let mut shell = std::process::Command::new("sh");
    let program = CHECK.command().get_program().to_owned();
    shell.arg("-c").arg(script).env("CHECK", program).current_dir(CHECK.path(""));
    finish(shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

#[test]
#[cfg(unix)]
fn a_repair_never_overwrites_its_source_under_another_name() {
    for (n, script) in [
        "ln $V $V.h; \"$CHECK\" --repair $V.h $V",
        "ln -s $V $V.s; \"$CHECK\" --repair $V.s $V",
        "\"$CHECK\" --repair $V - <$V",
        "ln $V $V.h; \"$CHECK\" --repair $V.h - <$V",
        "\"$CHECK\" --repair $V /dev/stdin <$V",
    ]
    .into_iter()
    .enumerate()
    {
        let name = CHECK.file(&format!("same-{n}"), b"\xFFprecious\n");
        for end in ["h", "s"] {
            let _ = fs::remove_file(format!("{name}.{end}"));
        }
        let outcome = shell(&format!("V=same-{n}; {script}"));
        assert_eq!(fs::read(&name).unwrap(), b"\xFFprecious\n", "{script}");
        assert_eq!(outcome.status, 2, "{script}");
        assert!(outcome.stderr.contains("would overwrite the source"), "{}", outcome.stderr);
    }
}

#[test]
#[cfg(unix)]
fn a_repair_keeps_the_permissions_of_the_file_it_replaces() {
    use std::os::unix::fs::PermissionsExt;

    let (name, old) = (CHECK.file("new-text", b"new\xFF"), CHECK.file("old-text", b"old"));
    let linked = CHECK.path("old-link");
    let _ = fs::remove_file(&linked);
    std::os::unix::fs::symlink("old-text", &linked).unwrap();
    for (n, mode) in [0o600, 0o664, 0o755].into_iter().enumerate() {
        fs::set_permissions(&old, fs::Permissions::from_mode(mode)).unwrap();
        let to = if n == 0 { linked.to_str().unwrap() } else { &old };
        assert_eq!(run([&*name, "--repair", to]).status, 1);
        assert_eq!(fs::read(&old).unwrap(), "new\u{FFFD}".as_bytes());
        assert_eq!(fs::metadata(&old).unwrap().permissions().mode() & 0o777, mode);
    }
    assert!(fs::symlink_metadata(&linked).unwrap().is_symlink());
}

#[test]
#[cfg(unix)]
fn a_failed_repair_leaves_the_file_as_it_was() {
    let directory = CHECK.path("kept");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir(&directory).unwrap();
    let (old, new) = (directory.join("old"), directory.join("new"));
    fs::write(&old, "old").unwrap();
    for to in [&old, &new] {
        let to = to.to_str().unwrap();
        // The file size is limited, so writing fails half-way.
        let limited = format!("ulimit -f 8; yes | head -c 100000 | \"$CHECK\" --repair {to} -");
        let outcome = shell(&format!("trap '' XFSZ; {limited}"));
        assert_eq!(outcome.status, 2, "{}", outcome.stderr);
        // A directory can be opened, but not read.
        assert_eq!(run([env!("CARGO_TARGET_TMPDIR"), "--repair", to]).status, 2);
    }
    assert_eq!(fs::read(&old).unwrap(), b"old");
    let names: Vec<_> = fs::read_dir(&directory).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["old"]);
    let outcome = shell("\"$CHECK\" --repair /dev/null - </dev/null");
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""));
}

#[test]
fn fatal_stops_at_the_first_error() {
    let outcome = CHECK.run(["-", "--errors", "fatal", "--json"], b"ab\n\xFFcd\xFF");
    let report = &json(&outcome)[0];
    assert_eq!(outcome.status, 1);
    assert_eq!(places(report), [(3, 2, 1, "invalid byte")]);
    assert_eq!((&report["bytes"], &report["stopped_at_first"]), (&4.into(), &true.into()));
    assert_eq!(report["errors"][0]["after"], "63 64 ff");
}

#[test]
fn standard_input_is_read() {
    let outcome = CHECK.run(["-"], "κόσμε\n".as_bytes());
    assert_eq!(outcome.status, 0);
    assert!(outcome.text().starts_with("standard input: well-formed"), "{}", outcome.text());
}

#[test]
fn limit_bounds_the_list_but_not_the_count() {
    let outcome = CHECK.run(["-"], &[0xFF; 1000]);
    assert_eq!(outcome.text().matches("invalid byte (ff)").count(), 20);
    assert!(outcome.text().contains("ill-formed, 1,000 errors"));
    assert!(outcome.text().contains("980 errors not listed"));
    let report = &json(&CHECK.run(["-", "--limit", "0", "--json"], &[0xFF; 1000]))[0];
    assert_eq!((places(report).len(), &report["error_count"]), (0, &1000.into()));
}

#[test]
fn bom_policy_is_applied() {
    let with = "\u{FEFF}x\u{FF}".as_bytes();
    for (policy, input, status, bom, characters, errors) in [
        ("keep", with, 0, "kept", 3, vec![]),
        ("strip", with, 0, "removed", 2, vec![]),
        ("require", with, 0, "removed", 2, vec![]),
        ("forbid", with, 1, "rejected", 2, vec![(0, 1, 1, "forbidden byte order mark")]),
        ("require", b"x\n", 1, "none", 2, vec![(0, 1, 1, "missing byte order mark")]),
        (
            "require",
            b"\xEF\xBB",
            1,
            "none",
            0,
            vec![
                (0, 1, 1, "missing byte order mark"),
                (0, 1, 1, "unexpected end inside a character"),
            ],
        ),
    ] {
        for size in ["1", "100"] {
            let outcome = CHECK.run(["-", "--json", "--bom", policy, "--read-size", size], input);
            let report = &json(&outcome)[0];
            assert_eq!(outcome.status, status, "{policy}");
            assert_eq!((&report["bom"], &report["characters"]), (&bom.into(), &characters.into()));
            assert_eq!(places(report), errors, "{policy}");
        }
    }
}

#[test]
fn strictness_rejects_the_named_characters() {
    let input = "a\0b\n\u{7F}\u{FFFE}c\u{85}".as_bytes();
    let nul = (1, 1, 2, "forbidden character");
    let nonchar = (5, 2, 2, "forbidden noncharacter");
    let controls = [(4, 2, 1, "forbidden character"), (9, 2, 4, "forbidden character")];
    let line_feed = (3, 1, 4, "forbidden character");
    for (what, expected) in [
        ("nul", vec![nul]),
        ("noncharacters", vec![nonchar]),
        ("nul,noncharacters", vec![nul, nonchar]),
        ("controls-except-whitespace", controls.to_vec()),
        ("controls", vec![line_feed, controls[0], controls[1]]),
    ] {
        let outcome = CHECK.run(["-", "--json", "--reject", what], input);
        assert_eq!(places(&json(&outcome)[0]), expected, "{what}");
        assert_eq!(json(&outcome)[0]["lines"], 2);
    }
}

#[test]
fn mid_stream_start_skips_the_rest_of_a_character() {
    let outcome = CHECK.run(["-", "--mid-stream", "--json"], b"\x98\x80 on\xFF");
    let report = &json(&outcome)[0];
    assert_eq!(report["skipped"], 2);
    assert_eq!(places(report), [(5, 1, 4, "invalid byte")]);
    assert_eq!(report["errors"][0]["before"], "98 80 20 6f 6e");
}

#[test]
fn progress_of_a_slow_pipe_shows_the_mean_rate() {
    let pause = Duration::from_millis(400);
    let mut child = CHECK.start(["-", "--progress", "always"]);
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..3 {
        thread::sleep(pause);
        stdin.write_all(&[b'x'; 10_000]).unwrap();
    }
    drop(stdin);
    let outcome = finish(child);
    for state in outcome.stderr.split('\r').filter(|state| state.contains("/s")) {
        let (rate, unit) = state.trim_end().rsplit_once(", ").unwrap().1.split_once(' ').unwrap();
        let unit = ["B/s", "KiB/s"].iter().position(|name| *name == unit);
        let rate = rate.parse::<f64>().unwrap() * 1024_f64.powi(unit.map_or(9, |n| n as i32));
        // The program's clock starts later than this test's. The rate between two writes would be far higher.
        assert!(rate < 2.0 * 10_000.0 / pause.as_secs_f64(), "{state}");
    }
    assert!(outcome.stderr.contains("29.30 KiB"), "{}", outcome.stderr);
}

#[test]
fn tcp_source_is_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = format!("tcp://{}", listener.local_addr().unwrap());
    let peer = thread::spawn(move || send_in_pieces(listener.accept().unwrap().0));
    let outcome = run(["--json", &source]);
    peer.join().unwrap();
    assert_eq!(outcome.status, 1);
    assert_eq!(places(&json(&outcome)[0]), PLACES);
    assert_eq!(json(&outcome)[0]["source"], source);
}

#[test]
fn listener_announces_itself_and_checks_one_connection() {
    let mut child = CHECK.start(["--json", "--listen", "127.0.0.1:0"]);
    let address = CHECK.address(child.stderr.take().unwrap());
    send_in_pieces(TcpStream::connect(address).unwrap());
    let outcome = finish(child);
    assert_eq!(outcome.status, 1);
    assert_eq!(places(&json(&outcome)[0]), PLACES);
}

fn send_in_pieces(mut socket: TcpStream) {
    socket.set_nodelay(true).unwrap();
    for piece in DAMAGED.chunks(3) {
        socket.write_all(piece).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn without_arguments_the_sample_is_accounted_for() {
    let outcome = run::<&str>([]);
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{}", outcome.text());
    assert!(outcome.text().contains("Every byte is accounted for"));
    for kind in [
        "overlong encoding",
        "encoded surrogate",
        "invalid byte",
        "truncated character",
        "code point above U+10FFFF",
        "unexpected end inside a character",
    ] {
        assert!(outcome.text().contains(kind), "{kind}");
    }
}

#[test]
fn closed_standard_output_is_harmless() {
    let damaged = CHECK.file("closed.txt", &[0xFF; 1000]);
    let many: Vec<_> = ["--limit", "1000"].into_iter().chain([&*damaged; 50]).collect();
    for arguments in [many, vec![]] {
        let status = i32::from(!arguments.is_empty());
        let mut child = CHECK.start(arguments);
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        assert_eq!(finish(child).status, status);
    }
}

#[test]
fn terminal_escapes_in_names_and_content_are_not_printed() {
    let damaged = CHECK.run(["-"], b"\x1B[2J\x07\xFF\x1B]0;title\x07");
    assert!(!damaged.text().contains(['\x1B', '\x07']));
    let missing = run([CHECK.path("red\x1B[31m\nfile\u{202E}")]);
    assert_eq!(missing.stderr.lines().count(), 1);
    assert!(!missing.stderr.contains(['\x1B', '\u{202E}']));
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_lines_or_errors() {
    let mut child = CHECK.start(["-", "--json"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&b"0123456789abcdef".repeat(4 << 20)).unwrap();
    stdin.write_all(&b"\xFF".repeat(2 << 20)).unwrap();

    let peak = peak_kilobytes(&child);
    assert!(peak < 32 << 10, "{peak} kB");

    drop(stdin);
    let report = &json(&finish(child))[0];
    assert_eq!((&report["lines"], &report["characters"]), (&1.into(), &(64 << 20).into()));
    assert_eq!(report["error_count"], 2 << 20);
}
