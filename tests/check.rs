//! `examples/check.rs` as a process: what it says, what it writes, how it exits.

#![cfg(feature = "codec")]

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(30);

/// One error of each kind that needs no option, on three lines.
const DAMAGED: &[u8] = b"tea: \xE9, caf\xC3\xA9\n\
    \xE6\x97\xA5\xED\xA0\x80|\xC0\xAF|\xF4\x90|\xFF|\xF0\x9F\x98|\n\
    end \xE2\x82";

const PLACES: [(u64, u64, u64, &str); 11] = [
    (5, 1, 6, "truncated"),
    (17, 2, 2, "surrogate"),
    (18, 2, 3, "unexpected continuation byte"),
    (19, 2, 4, "unexpected continuation byte"),
    (21, 2, 6, "overlong form"),
    (22, 2, 7, "unexpected continuation byte"),
    (24, 2, 9, "too large"),
    (25, 2, 10, "unexpected continuation byte"),
    (27, 2, 12, "invalid byte"),
    (29, 2, 14, "truncated"),
    (38, 3, 5, "incomplete"),
];

struct Outcome {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Outcome {
    fn json(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The example stands beside the tests: `target/<profile>/examples`.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let name = format!("check{}", std::env::consts::EXE_SUFFIX);
    let program = test.parent().unwrap().with_file_name("examples").join(name);
    assert!(program.exists(), "not built: `cargo test` does, `cargo build --example check` too");
    program
}

fn start<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Child {
    Command::new(program())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Outcome {
    run_with(arguments, b"")
}

fn run_with<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>, stdin: &[u8]) -> Outcome {
    let mut child = start(arguments);
    let (mut pipe, stdin) = (child.stdin.take().unwrap(), stdin.to_vec());
    thread::spawn(move || pipe.write_all(&stdin));
    finish(child)
}

fn finish(mut child: Child) -> Outcome {
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let status = wait(&mut child);
    let text =
        |pipe: Option<JoinHandle<String>>| pipe.map_or_else(String::new, |p| p.join().unwrap());
    let outcome = Outcome { status, stdout: text(stdout), stderr: text(stderr) };
    assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
    outcome
}

fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    })
}

fn wait(child: &mut Child) -> i32 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().expect("ended by a signal");
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("the example hangs");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn path(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("check");
    fs::create_dir_all(&directory).unwrap();
    directory.join(name)
}

fn file(name: &str, bytes: &[u8]) -> String {
    let path = path(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
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

/// Reproducible bytes of which many are nearly UTF-8.
fn noise(len: usize) -> Vec<u8> {
    const SOME: &[u8] = b"\x80\x8F\x90\x9F\xA0\xBF\xC0\xC3\xE0\xE2\xED\xEF\xF0\xF4\xFF\n a";
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as usize
    };
    (0..len).map(|_| SOME[next() % SOME.len()]).collect()
}

#[test]
fn clean_file_is_well_formed() {
    let name = file("clean.txt", "Grüße\nκόσμε\n日本語 👩‍🚀".as_bytes());
    let outcome = run([&name]);
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""));
    assert!(outcome.stdout.starts_with(&format!("{name}: well-formed\n")), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("40 bytes, 19 characters, 3 lines, no byte order mark"));
    assert!(!outcome.stdout.contains('\x1B'));

    let outcome = run([&*file("empty", b""), &file("line", b"one\n"), "--json"]);
    let lines: Vec<_> = outcome.json().iter().map(|report| report["lines"].clone()).collect();
    assert_eq!((outcome.status, lines), (0, vec![0.into(), 1.into()]));
}

#[test]
fn errors_are_listed_with_their_places() {
    let outcome = run([file("damaged.txt", DAMAGED)]);
    assert_eq!(outcome.status, 1);
    let rows: Vec<_> = outcome.stdout.lines().collect();
    let at = rows.iter().position(|row| row.trim_start().starts_with("17 ")).unwrap();
    let fields: Vec<_> = rows[at].split_whitespace().collect();
    assert_eq!(fields, ["17", "2", "2", "surrogate", "(ed,", "then", "a0)"]);
    let context = "61 66 c3 a9 0a e6 97 a5 [ed] a0 80 7c c0 af 7c f4 90";
    assert!(rows[at + 1].contains(context), "{}", rows[at + 1]);
    assert!(outcome.stdout.contains("ill-formed, 11 errors"));
}

#[test]
fn json_says_the_same_whatever_the_read_size() {
    let name = file("json.txt", DAMAGED);
    let mut reports = Vec::new();
    for size in ["1", "2", "3", "7", "262144"] {
        let outcome = run([&*name, "--json", "--read-size", size]);
        assert_eq!(outcome.status, 1);
        let [mut report] = outcome.json().try_into().unwrap();
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
fn places_in_noise_are_those_of_std() {
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
        let outcome = run_with(["-", "--json", "--limit", "100000", "--read-size", size], &bytes);
        let report = &outcome.json()[0];
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
fn what_cannot_be_read_is_said_in_one_line_and_the_rest_is_checked() {
    let clean = file("beside.txt", b"fine\n");
    let missing = path("missing").to_str().unwrap().to_owned();
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
        assert!(outcome.stdout.contains("beside.txt: well-formed"));
    }
    let outcome = run(["--json", &missing, "--listen", "nowhere"]);
    assert_eq!(outcome.status, 2);
    assert!(outcome.json().iter().all(|report| report["verdict"] == "unreadable"));
    assert_eq!(outcome.json().len(), 2);
}

#[test]
fn worst_status_wins() {
    let (clean, damaged) = (file("clean2.txt", b"ok"), file("damaged2.txt", b"\xFF"));
    let missing = path("missing").to_str().unwrap().to_owned();
    assert_eq!(run([&damaged, &clean]).status, 1);
    assert_eq!(run([&missing, &damaged, &clean]).status, 2);
    assert_eq!(run(["--json"]).status, 2);
    assert_eq!(run(["--read-size", "0", &clean]).status, 2);
}

#[test]
fn repair_in_replacement_mode_is_that_of_std() {
    let repaired = path("repaired.txt");
    for (n, bytes) in [DAMAGED, &noise(50_000), "\u{FEFF}clean".as_bytes(), b""].iter().enumerate()
    {
        let name = file(&format!("to-repair-{n}.txt"), bytes);
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
    let (name, repaired) = (file("modes.txt", b"caf\xE9 \x80!"), path("modes-repaired.txt"));
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
fn repair_that_makes_no_sense_is_refused() {
    let (name, never) = (file("precious.txt", b"\xFFprecious"), path("never.txt"));
    let never_name = never.to_str().unwrap();
    let _ = fs::remove_file(&never);
    let refused = [
        run([&name, "--errors", "fatal", "--repair", never_name]),
        run([&name, &name, "--repair", never_name]),
        run([&name, "--repair", &name]),
        run([path("missing").to_str().unwrap(), "--repair", never_name]),
        run([&*name, "--repair", "/no/such/directory/file"]),
    ];
    assert!(refused.iter().all(|outcome| outcome.status == 2 && !outcome.stderr.is_empty()));
    assert!(!never.exists());
    assert_eq!(fs::read(&name).unwrap(), b"\xFFprecious");
}

#[test]
fn fatal_leaves_at_the_first_error() {
    let outcome = run_with(["-", "--errors", "fatal", "--json"], b"ab\n\xFFcd\xFF");
    let report = &outcome.json()[0];
    assert_eq!(outcome.status, 1);
    assert_eq!(places(report), [(3, 2, 1, "invalid byte")]);
    assert_eq!((&report["bytes"], &report["stopped_at_first"]), (&4.into(), &true.into()));
    assert_eq!(report["errors"][0]["after"], "63 64 ff");
}

#[test]
fn standard_input_is_read() {
    let outcome = run_with(["-"], "κόσμε\n".as_bytes());
    assert_eq!(outcome.status, 0);
    assert!(outcome.stdout.starts_with("standard input: well-formed"), "{}", outcome.stdout);
}

#[test]
fn limit_bounds_the_list_and_not_the_count() {
    let outcome = run_with(["-"], &[0xFF; 1000]);
    assert_eq!(outcome.stdout.matches("invalid byte (ff)").count(), 20);
    assert!(outcome.stdout.contains("ill-formed, 1,000 errors"));
    assert!(outcome.stdout.contains("980 errors not listed"));
    let report = &run_with(["-", "--limit", "0", "--json"], &[0xFF; 1000]).json()[0];
    assert_eq!((places(report).len(), &report["error_count"]), (0, &1000.into()));
}

#[test]
fn byte_order_mark_follows_its_policy() {
    let with = "\u{FEFF}x\u{FF}".as_bytes();
    for (policy, input, status, bom, characters, errors) in [
        ("keep", with, 0, "kept", 3, vec![]),
        ("strip", with, 0, "removed", 2, vec![]),
        ("require", with, 0, "removed", 2, vec![]),
        ("forbid", with, 1, "refused", 2, vec![(0, 1, 1, "forbidden byte order mark")]),
        ("require", b"x\n", 1, "none", 2, vec![(0, 1, 1, "missing byte order mark")]),
        (
            "require",
            b"\xEF\xBB",
            1,
            "none",
            0,
            vec![(0, 1, 1, "missing byte order mark"), (0, 1, 1, "incomplete")],
        ),
    ] {
        for size in ["1", "100"] {
            let outcome = run_with(["-", "--json", "--bom", policy, "--read-size", size], input);
            let report = &outcome.json()[0];
            assert_eq!(outcome.status, status, "{policy}");
            assert_eq!((&report["bom"], &report["characters"]), (&bom.into(), &characters.into()));
            assert_eq!(places(report), errors, "{policy}");
        }
    }
}

#[test]
fn strictness_refuses_what_is_named() {
    let input = "a\0b\n\u{7F}\u{FFFE}c\u{85}".as_bytes();
    let nul = (1, 1, 2, "forbidden control character");
    let nonchar = (5, 2, 2, "noncharacter");
    let controls =
        [(4, 2, 1, "forbidden control character"), (9, 2, 4, "forbidden control character")];
    let line_feed = (3, 1, 4, "forbidden control character");
    for (what, expected) in [
        ("nul", vec![nul]),
        ("noncharacters", vec![nonchar]),
        ("nul,noncharacters", vec![nul, nonchar]),
        ("controls-except-whitespace", controls.to_vec()),
        ("controls", vec![line_feed, controls[0], controls[1]]),
    ] {
        let outcome = run_with(["-", "--json", "--refuse", what], input);
        assert_eq!(places(&outcome.json()[0]), expected, "{what}");
        assert_eq!(outcome.json()[0]["lines"], 2);
    }
}

#[test]
fn mid_stream_start_skips_the_rest_of_a_character() {
    let outcome = run_with(["-", "--mid-stream", "--json"], b"\x98\x80 on\xFF");
    let report = &outcome.json()[0];
    assert_eq!(report["skipped"], 2);
    assert_eq!(places(report), [(5, 1, 4, "invalid byte")]);
    assert_eq!(report["errors"][0]["before"], "98 80 20 6f 6e");
}

#[test]
fn tcp_source_is_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = format!("tcp://{}", listener.local_addr().unwrap());
    let peer = thread::spawn(move || send_in_pieces(listener.accept().unwrap().0));
    let outcome = run(["--json", &source]);
    peer.join().unwrap();
    assert_eq!(outcome.status, 1);
    assert_eq!(places(&outcome.json()[0]), PLACES);
    assert_eq!(outcome.json()[0]["source"], source);
}

#[test]
fn listener_announces_itself_and_checks_one_connection() {
    let mut child = start(["--json", "--listen", "127.0.0.1:0"]);
    let mut announced = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut announced).unwrap();
    let address = announced.trim_end().strip_prefix("check: listening on ").unwrap();
    send_in_pieces(TcpStream::connect(address).unwrap());
    let outcome = finish(child);
    assert_eq!(outcome.status, 1);
    assert_eq!(places(&outcome.json()[0]), PLACES);
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
    let before = Instant::now();
    let outcome = run::<&str>([]);
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{}", outcome.stdout);
    assert!(before.elapsed() < Duration::from_secs(10));
    assert!(outcome.stdout.contains("Every byte is accounted for"));
    for kind in
        ["overlong form", "surrogate", "invalid byte", "truncated", "too large", "incomplete"]
    {
        assert!(outcome.stdout.contains(kind), "{kind}");
    }
}

#[test]
fn closed_standard_output_does_no_harm() {
    let damaged = file("closed.txt", &[0xFF; 1000]);
    let many: Vec<_> = ["--limit", "1000"].into_iter().chain([&*damaged; 50]).collect();
    for arguments in [many, vec![]] {
        let status = i32::from(!arguments.is_empty());
        let mut child = start(arguments);
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        assert_eq!(finish(child).status, status);
    }
}

#[test]
fn terminal_is_not_commanded_by_names_or_content() {
    let damaged = run_with(["-"], b"\x1B[2J\x07\xFF\x1B]0;title\x07");
    assert!(!damaged.stdout.contains(['\x1B', '\x07']));
    let missing = run([path("red\x1B[31m\nfile\u{202E}")]);
    assert_eq!(missing.stderr.lines().count(), 1);
    assert!(!missing.stderr.contains(['\x1B', '\u{202E}']));
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_bounded_by_no_line_and_no_number_of_errors() {
    let mut child = start(["-", "--json"]);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&b"0123456789abcdef".repeat(4 << 20)).unwrap();
    stdin.write_all(&b"\xFF".repeat(2 << 20)).unwrap();

    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 32 << 10, "{peak}");

    drop(stdin);
    let report = &finish(child).json()[0];
    assert_eq!((&report["lines"], &report["characters"]), (&1.into(), &(64 << 20).into()));
    assert_eq!(report["error_count"], 2 << 20);
}
