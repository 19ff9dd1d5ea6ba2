//! `examples/transcode.rs` as a process: its output, its messages and its exit status.

#![cfg(feature = "codec")]

use crate::program;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ChildStdin;
use std::thread::{self, JoinHandle};
use std::time::Duration;

#[cfg(target_os = "linux")]
use program::peak_kilobytes;
use program::{Outcome, Program, drain, finish, noise};

const TEXT: &str = "a\0é€日😀\u{10FFFF}!";
const UTF_8: &[u8] = b"a\0\xC3\xA9\xE2\x82\xAC\xE6\x97\xA5\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF!";

/// [`TEXT`] in every supported form.
fn forms() -> [(&'static str, Vec<u8>); 9] {
    let units = |bytes: fn(u16) -> [u8; 2]| TEXT.encode_utf16().flat_map(bytes).collect();
    let pairs =
        b"\xC3\xA9\xE2\x82\xAC\xE6\x97\xA5\xED\xA0\xBD\xED\xB8\x80\xED\xAF\xBF\xED\xBF\xBF!";
    [
        ("utf-8", UTF_8.to_vec()),
        ("rfc2279", UTF_8.to_vec()),
        ("cesu-8", [b"a\0", &pairs[..]].concat()),
        ("modified-utf-8", [b"a\xC0\x80", &pairs[..]].concat()),
        ("wtf-8", UTF_8.to_vec()),
        ("utf-8b", UTF_8.to_vec()),
        ("surrogatepass", UTF_8.to_vec()),
        ("utf-16le", units(u16::to_le_bytes)),
        ("utf-16be", units(u16::to_be_bytes)),
    ]
}

const TRANSCODE: Program = Program("transcode");

fn run(arguments: &str, stdin: &[u8]) -> Outcome {
    TRANSCODE.run(arguments.split(' '), stdin)
}

/// Runs it with reads of several sizes, whose outcomes must be equal.
fn run_cut(arguments: &str, stdin: &[u8]) -> Outcome {
    let whole = run(arguments, stdin);
    for size in [1, 2, 3, 5] {
        let cut = run(&format!("{arguments} --read-size {size}"), stdin);
        assert_eq!(cut.status, whole.status, "{arguments}, by {size}");
        assert_eq!(cut.stderr, whole.stderr, "{arguments}, by {size}");
        assert!(cut.stdout == whole.stdout, "{arguments}, by {size}");
    }
    whole
}

#[test]
fn every_form_converts_to_every_other() {
    let forms = forms();
    for (from, bytes) in &forms {
        let name = TRANSCODE.file(&format!("from-{from}"), bytes);
        for (to, expected) in &forms {
            for size in ["1", "262144"] {
                let arguments = [&name, "--from", from, "--to", to, "--read-size", size];
                let outcome = TRANSCODE.run(arguments, b"");
                assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{from} to {to}");
                assert_eq!(outcome.stdout, *expected, "{from} to {to}, by {size}");
            }
        }
    }
}

#[test]
fn code_points_that_are_not_text_round_trip() {
    let units: Vec<_> = [0x61, 0xD83D, 0xDE00, 0xD83D, 0x62, 0xDE00, 0xD800]
        .into_iter()
        .flat_map(u16::to_le_bytes)
        .collect();
    let large = b"a\xFD\xBF\xBF\xBF\xBF\xBF\xF4\x90\x80\x80";
    let noise = noise(20_000);
    let cases = [
        ("utf-16le", &units[..], "wtf-8"),
        ("utf-8b", &noise, "surrogatepass"),
        ("utf-16le", &units, "surrogatepass"),
        ("utf-8b", &noise, "utf-8b"),
        ("rfc2279", large, "rfc2279"),
    ];
    let run = |(from, bytes, to): (&str, &[u8], &str)| {
        let there = run_cut(&format!("--from {from} --to {to} -"), bytes);
        assert_eq!((there.status, &*there.stderr), (0, ""), "{from} to {to}");
        let back = run_cut(&format!("--from {to} --to {from} --unpaired -"), &there.stdout);
        assert_eq!((back.status, &*back.stderr), (0, ""), "{to} to {from}");
        assert!(back.stdout == bytes, "{from} to {to} and back");
    };
    // At the same time, because each waits for its pipes.
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || run(case));
        }
    });
}

#[test]
fn unencodable_code_points_report_their_source_offset() {
    for (from, bytes, to, before, code_point, at) in [
        ("utf-16le", &b"\xE9\0\x3D\xD8!\0"[..], "utf-8", &b"\xC3\xA9"[..], "U+D83D", 2),
        ("utf-16be", b"\xD8\x3D", "utf-8", b"", "U+D83D", 0),
        ("utf-16be", b"\0a\xDC\0", "utf-16le", b"a\0", "U+DC00", 2),
        ("wtf-8", b"\xC3\xA9\xED\xA0\xBD!", "utf-16be", b"\0\xE9", "U+D83D", 2),
        ("surrogatepass", b"ab\xED\xB8\x80", "cesu-8", b"ab", "U+DE00", 2),
        ("utf-8b", b"caf\xE9!", "utf-8", b"caf", "U+DCE9", 3),
        (
            "utf-8b",
            b"\xE2\x82\xAC\xE2\x82",
            "wtf-8",
            b"\xE2\x82\xAC\xED\xB3\xA2\xED\xB2\x82",
            "",
            0,
        ),
        ("rfc2279", b"a\xFC\x84\x80\x80\x80\x80b", "utf-8", b"a", "U+4000000", 1),
        ("rfc2279", b"\xF4\x90\x80\x80", "utf-16le", b"", "U+110000", 0),
    ] {
        let outcome = run_cut(&format!("--from {from} --to {to} -"), bytes);
        assert_eq!(outcome.stdout, before, "{from} to {to}");
        let says = format!(
            "transcode: standard input: {code_point} at byte {at} cannot be encoded in {to}\n"
        );
        match code_point {
            "" => assert_eq!((outcome.status, &*outcome.stderr), (0, "")),
            _ => assert_eq!((outcome.status, &*outcome.stderr), (1, &*says)),
        }
    }
}

#[test]
fn offsets_include_a_stripped_bom() {
    let cesu = b"\xEF\xBB\xBF\xED\xA0\xBD\xED\xB8\x80\0\xED\xB8\x80.";
    let outcome = run_cut("--from cesu-8 --bom strip --unpaired -", cesu);
    assert_eq!(outcome.stdout, "😀\0".as_bytes());
    assert!(outcome.stderr.contains("U+DE00 at byte 10 cannot"), "{}", outcome.stderr);
    let units = b"\xFF\xFEa\0\0\xDC";
    let outcome = run_cut("--from utf-16le --bom require -", units);
    assert_eq!(outcome.stdout, b"a");
    assert!(outcome.stderr.contains("U+DC00 at byte 4 cannot"), "{}", outcome.stderr);
    let mixed = b"\xFF\xC3\xA9\xF0\x9F\x98\x80\xFE";
    let outcome = run_cut("--from utf-8b --unencodable skip -", mixed);
    assert_eq!(outcome.stdout, "é😀".as_bytes());
    assert!(
        outcome.stderr.contains("2 unencodable code points, the first: U+DCFF at byte 0 cannot")
    );
}

#[test]
fn unencodable_code_points_are_replaced_escaped_or_skipped() {
    let units = b"a\0\x3D\xD8b\0";
    for (to, mode, expected) in [
        ("utf-8", "replacement", "a\u{FFFD}b".as_bytes()),
        ("utf-8", "escape", br"a\ud83db"),
        ("utf-8", "skip", b"ab"),
        ("modified-utf-8", "escape", br"a\ud83db"),
        ("utf-16be", "replacement", b"\0a\xFF\xFD\0b"),
        ("utf-16le", "escape", b"a\0\\\0u\0d\x008\x003\0d\0b\0"),
    ] {
        let arguments = format!("--from utf-16le --to {to} --unencodable {mode} -");
        let outcome = run_cut(&arguments, units);
        assert_eq!(outcome.stdout, expected, "{arguments}");
        let says = format!(
            "1 unencodable code point, the first: U+D83D at byte 2 cannot be encoded in {to}"
        );
        assert_eq!(outcome.status, 1);
        assert!(outcome.stderr.contains(&says), "{}", outcome.stderr);
    }
    let large = run("--from rfc2279 --unencodable escape -", b"\xFD\xBF\xBF\xBF\xBF\xBF");
    assert_eq!((large.status, &*large.stdout), (1, &br"\U7fffffff"[..]));
    let let_through = run("--from utf-16le --to cesu-8 --unpaired -", units);
    assert_eq!((let_through.status, &*let_through.stdout), (0, &b"a\xED\xA0\xBDb"[..]));
}

#[test]
fn a_fatal_error_reports_its_offset() {
    for (from, bytes, before, says) in [
        (
            "utf-8",
            &b"caf\xE9, \xFF"[..],
            "caf",
            "invalid UTF-8 at byte 3: truncated character (e9, followed by 2c)",
        ),
        (
            "utf-8",
            b"10 \xE2\x82",
            "10 ",
            "invalid UTF-8 at byte 3: unexpected end inside a character (e2 82)",
        ),
        ("cesu-8", b"a\xF0\x9F\x98\x80", "a", "invalid CESU-8 at byte 1: four-byte sequence (f0)"),
        ("modified-utf-8", b"a\0", "a", "invalid Modified UTF-8 at byte 1: NUL byte (00)"),
        ("wtf-8", b"\xC3\xA9\xFF", "é", "invalid WTF-8 at byte 2: invalid byte (ff)"),
        ("rfc2279", b"ab\xFE", "ab", "invalid RFC 2279 UTF-8 at byte 2: invalid byte (fe)"),
        (
            "utf-16le",
            b"a\0b",
            "a",
            "invalid UTF-16LE at byte 2: unexpected end inside a character (62)",
        ),
        (
            "utf-16be",
            b"\0",
            "",
            "invalid UTF-16BE at byte 0: unexpected end inside a character (00)",
        ),
        (
            "iso-2022",
            b"\xE9\x1B%G\xE9!",
            "é",
            "invalid UTF-8 at byte 4: truncated character (e9, followed by 21)",
        ),
    ] {
        let outcome = run_cut(&format!("--from {from} -"), bytes);
        assert_eq!(outcome.stdout, before.as_bytes(), "{from}");
        assert_eq!(outcome.stderr, format!("transcode: standard input: {says}\n"));
        assert_eq!(outcome.status, 1, "{from}");
    }
}

#[test]
fn errors_are_repaired_by_mode() {
    for (from, bytes, mode, expected) in [
        ("utf-8", &b"caf\xE9 \x80\xE2\x82"[..], "replacement", "caf\u{FFFD} \u{FFFD}\u{FFFD}"),
        ("utf-8", b"caf\xE9 \x80", "skip", "caf "),
        ("utf-8", b"caf\xE9 \x80", "escape", r"caf\xe9 \x80"),
        ("utf-8", b"caf\xE9 \x80", "latin1", "café \u{80}"),
        ("utf-8", b"caf\xE9 \x80", "windows1252", "café €"),
        ("cesu-8", b"a\xED\xA0\x80\xED\xA0\xBD\xED\xB8\x80", "replacement", "a\u{FFFD}😀"),
        ("modified-utf-8", b"\0\xC0\x80", "escape", "\\x00\0"),
        ("utf-16le", b"a\0\x80", "windows1252", "a€"),
        ("utf-16le", b"a\0\x80", "replacement", "a\u{FFFD}"),
    ] {
        let outcome = run_cut(&format!("--from {from} --errors {mode} -"), bytes);
        assert_eq!(String::from_utf8(outcome.stdout).unwrap(), expected, "{from}, {mode}");
        assert_eq!(outcome.status, 1);
        assert!(outcome.stderr.contains("ill-formed part"), "{}", outcome.stderr);
    }
    let bytes = noise(30_000);
    let outcome = run_cut("--errors replacement -", &bytes);
    assert!(outcome.stdout == String::from_utf8_lossy(&bytes).as_bytes());
    let errors = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    let errors = errors.to_string();
    let digits: String = outcome.stderr.chars().filter(char::is_ascii_digit).collect();
    assert!(digits.starts_with(&errors), "{} is not {errors}", outcome.stderr);
}

#[test]
fn single_byte_encodings_are_decoded() {
    let every: Vec<_> = (0..=255).collect();
    let outcome = run_cut("--from latin1 -", &every);
    assert_eq!(outcome.status, 0);
    assert_eq!(outcome.stdout, every.iter().map(|&b| char::from(b)).collect::<String>().as_bytes());
    let outcome = run_cut("--from windows-1252 -", b"\x80 \x9F \x81 \xE9~");
    assert_eq!(outcome.stdout, "€ Ÿ \u{81} é~".as_bytes());
    let outcome = run_cut("--from iso-2022 -", b"caf\xE9 \x1B%Gcaf\xC3\xA9\x1B%@\xE9\x1B");
    assert_eq!(outcome.stdout, "café café\u{E9}\x1B".as_bytes());
}

#[test]
#[cfg(feature = "encoding_rs")]
fn whatwg_labels_are_accepted() {
    for (label, bytes, text) in [
        ("shift_jis", &b"\x93\xFA\x96\x7B"[..], "日本"),
        ("EUC-KR", b"\xB0\xA1", "가"),
        ("gb18030", b"\x84\x31\xA4\x39 \x94\x39\xFC\x36", "\u{FFFD}"),
        ("iso-8859-2", b"\xBE\xE8", "žč"),
        ("koi8-r", b"\xC1\xC2", "аб"),
        ("big5", b"\xA4\xA4", "中"),
        ("iso-2022-jp", b"\x1B$BF|\x1B(B.", "日."),
        ("utf8", "é".as_bytes(), "é"),
        ("utf-16", b"\xE9\0", "é"),
    ] {
        let outcome = run_cut(&format!("--from {label} -"), bytes);
        match text {
            "\u{FFFD}" => assert!(String::from_utf8(outcome.stdout).is_ok()),
            _ => assert_eq!(outcome.stdout, text.as_bytes(), "{label}"),
        }
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{label}");
    }
    let outcome = run_cut("--from shift_jis -", b"ab\x93\xFA\x81 c");
    assert_eq!(outcome.stdout, "ab日".as_bytes());
    let says = "transcode: standard input: invalid Shift_JIS at byte 4: 81\n";
    assert_eq!((outcome.status, &*outcome.stderr), (1, says));
    let outcome = run_cut("--from euc-jp --errors escape -", b"\xC6\xFC\x8F\xA1.");
    assert_eq!(outcome.stdout, "日\\x8f\\xa1.".as_bytes());
    let outcome = run_cut("--from auto --fallback shift_jis -", b"a \x93\xFA\x96\x7B");
    assert_eq!((outcome.status, &*outcome.stdout), (0, "a 日本".as_bytes()));
}

#[test]
fn the_form_is_detected() {
    let utf_16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{FEFF}né😀".encode_utf16().flat_map(order).collect()
    };
    for (arguments, bytes, expected) in [
        ("", "né😀".as_bytes(), "né😀"),
        ("", "\u{FEFF}né".as_bytes(), "né"),
        (" --bom keep", "\u{FEFF}né".as_bytes(), "\u{FEFF}né"),
        ("", &utf_16(u16::to_le_bytes), "né😀"),
        ("", &utf_16(u16::to_be_bytes), "né😀"),
        ("", b"caf\xE9 \x80 caf\xC3\xA9", "café € cafÃ©"),
        (" --fallback-for part", b"caf\xE9 \x80 caf\xC3\xA9", "café € café"),
        (" --fallback-for line", b"caf\xE9 \xC3\xA9\ncaf\xC3\xA9", "café Ã©\ncafé"),
        (" --fallback latin1", b"\x80", "\u{80}"),
        ("", b"\xFF", "ÿ"),
        ("", b"\xFE\xFE", "þþ"),
        ("", b"\0a", "\0a"),
        ("", b"", ""),
    ] {
        let outcome = run_cut(&format!("--from auto{arguments} -"), bytes);
        assert_eq!(String::from_utf8(outcome.stdout).unwrap(), expected, "{bytes:02x?}");
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{bytes:02x?}");
    }
    let outcome = run_cut("--from auto -", b"\xFF\xFE\0\0a\0\0\0");
    assert_eq!((outcome.status, &*outcome.stdout), (1, &b""[..]));
    assert!(outcome.stderr.contains("UTF-32LE, which cannot be read"));
    let outcome = run("--from auto -v -", b"ab\xE9");
    assert!(outcome.stderr.contains("from byte 2 on 1 bytes of windows-1252, 4 bytes of utf-8"));
}

#[test]
fn the_byte_order_of_utf_16_is_that_of_its_bom() {
    let utf_16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{FEFF}né😀".encode_utf16().flat_map(order).collect()
    };
    for (order, name) in
        [(u16::to_le_bytes as fn(u16) -> [u8; 2], "utf-16le"), (u16::to_be_bytes, "utf-16be")]
    {
        let bytes = utf_16(order);
        for (bom, expected) in [("", "né😀"), (" --bom keep", "\u{FEFF}né😀")] {
            let outcome = run_cut(&format!("--from utf-16{bom} -"), &bytes);
            assert_eq!(String::from_utf8(outcome.stdout).unwrap(), expected, "{name}");
            assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{name}");
        }
        let outcome = run("--from utf-16 -v -", &bytes);
        assert!(outcome.stderr.contains(&format!("bytes of {name},")), "{}", outcome.stderr);
        let outcome = run_cut("--from utf-16 --bom forbid --errors escape -", &bytes);
        let expected = order(0xFEFF).map(|byte| format!("\\x{byte:02x}")).concat() + "né😀";
        assert_eq!(String::from_utf8(outcome.stdout).unwrap(), expected, "{name}");
    }
    let without = run_cut("--from utf-16 -", b"n\0\xE9\0");
    assert_eq!((without.status, &*without.stdout), (0, "né".as_bytes()));
    let odd = run_cut("--from utf-16 -", b"\xFE\xFF\0n\0");
    assert!(odd.stderr.contains("invalid UTF-16BE at byte 4"), "{}", odd.stderr);
}

#[test]
fn boms_are_kept_stripped_rejected_and_written() {
    let with = "\u{FEFF}x".as_bytes();
    for (arguments, bytes, status, expected) in [
        ("", with, 0, with),
        ("--bom strip", with, 0, b"x"),
        ("--bom require", b"x", 1, b""),
        ("--bom require --errors skip", b"x", 1, b"x"),
        ("--bom forbid --errors replacement", with, 1, "\u{FFFD}x".as_bytes()),
        ("--with-bom", b"x", 0, with),
        ("--with-bom", b"", 0, "\u{FEFF}".as_bytes()),
        ("--with-bom --to utf-16be", b"x", 0, b"\xFE\xFF\0x"),
        ("--with-bom --to utf-16le", b"", 0, b"\xFF\xFE"),
        ("--with-bom --to cesu-8", b"x", 0, with),
        ("--from utf-16le --bom strip", b"\xFF\xFEx\0", 0, b"x"),
        ("--from utf-16le", b"\xFF\xFEx\0", 0, with),
        ("--from utf-16le --bom forbid --errors skip", b"\xFF\xFEx\0", 1, b"x"),
        ("--from utf-16be --bom require", b"\0x", 1, b""),
        ("--from utf-16be --bom require --errors skip", b"", 1, b""),
        ("--from wtf-8 --bom require", with, 0, b"x"),
    ] {
        let outcome = run_cut(format!("{arguments} -").trim(), bytes);
        assert_eq!((outcome.status, &*outcome.stdout), (status, expected), "{arguments}");
    }
}

/// Writes a chunk, and returns what is printed before more is written.
fn exchange(stdin: &mut ChildStdin, stdout: &mut impl Read, chunk: &[u8], len: usize) -> Vec<u8> {
    stdin.write_all(chunk).unwrap();
    stdin.flush().unwrap();
    let mut bytes = vec![0; len];
    stdout.read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_pipe_is_transcoded_without_delay() {
    let mut child = TRANSCODE.start(["-", "--from", "modified-utf-8", "--to", "utf-16be"]);
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for (byte, expected) in [
        (b'a', &b"\0a"[..]),
        (0xC3, b""),
        (0xA9, b"\0\xE9"),
        (0xC0, b""),
        (0x80, b"\0\0"),
        (0xED, b""),
        (0xA0, b""),
        (0xBD, b""),
        (0xED, b""),
        (0xB8, b""),
        (0x80, b"\xD8\x3D\xDE\x00"),
        (b'!', b"\0!"),
    ] {
        assert_eq!(exchange(&mut stdin, &mut stdout, &[byte], expected.len()), expected);
    }
    drop(stdin);
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).unwrap();
    assert_eq!((finish(child).status, rest), (0, vec![]));
}

#[test]
fn tcp_is_read_and_written() {
    let (source, target) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let from = format!("tcp://{}", source.local_addr().unwrap());
    let to = format!("tcp://{}", target.local_addr().unwrap());
    let sender = thread::spawn(move || send_in_pieces(source.accept().unwrap().0));
    let receiver = drain_one(target);
    let arguments = [&from, "--from", "cesu-8", "--to", "modified-utf-8", "-o", &to];
    let outcome = TRANSCODE.run(arguments, b"");
    assert_eq!((outcome.status, &*outcome.stderr, outcome.stdout.len()), (0, "", 0));
    sender.join().unwrap();
    assert_eq!(receiver.join().unwrap(), forms()[3].1);
}

#[test]
fn listener_announces_itself_and_reads_one_connection() {
    let mut child =
        TRANSCODE.start(["--listen", "127.0.0.1:0", "--from", "cesu-8", "--to", "utf-16le"]);
    let address = TRANSCODE.address(child.stderr.take().unwrap());
    send_in_pieces(TcpStream::connect(address).unwrap());
    let outcome = finish(child);
    assert_eq!((outcome.status, outcome.stdout), (0, forms()[7].1.clone()));
}

fn send_in_pieces(mut socket: TcpStream) {
    socket.set_nodelay(true).unwrap();
    for piece in forms()[2].1.chunks(3) {
        socket.write_all(piece).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
}

fn drain_one(listener: TcpListener) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || drain(listener.accept().unwrap().0).join().unwrap())
}

#[test]
fn a_file_is_written_but_never_the_source() {
    let (name, target) =
        (TRANSCODE.file("source.txt", "é\n".as_bytes()), TRANSCODE.path("target.txt"));
    let to = target.to_str().unwrap();
    let outcome = TRANSCODE.run([&*name, "--to", "utf-16be", "-o", to], b"");
    assert_eq!((outcome.status, outcome.stdout.len()), (0, 0));
    assert_eq!(fs::read(&target).unwrap(), b"\0\xE9\0\n");
    let outcome = TRANSCODE.run([&*name, "-o", &name], b"");
    assert_eq!((outcome.status, outcome.stderr.lines().count()), (2, 1), "{}", outcome.stderr);
    assert_eq!(fs::read(&name).unwrap(), "é\n".as_bytes());
}

#[test]
#[cfg(unix)]
fn the_source_is_not_overwritten_under_another_name() {
    use std::process::{Command, Stdio};

    for (n, script) in [
        "ln $V $V.h; \"$TRANSCODE\" $V -o $V.h",
        "\"$TRANSCODE\" - -o $V <$V",
        "ln $V $V.h; \"$TRANSCODE\" - -o $V.h <$V",
        "\"$TRANSCODE\" $V >>$V",
    ]
    .into_iter()
    .enumerate()
    {
        let name = TRANSCODE.file(&format!("same-{n}"), b"precious\n");
        let _ = fs::remove_file(format!("{name}.h"));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("ulimit -f 8; V=same-{n}; {script}"));
        shell.env("TRANSCODE", TRANSCODE.command().get_program());
        let child = shell.current_dir(TRANSCODE.path("")).stderr(Stdio::piped()).spawn().unwrap();
        let outcome = finish(child);
        assert_eq!(fs::read(&name).unwrap(), b"precious\n", "{script}");
        assert_eq!(outcome.status, 2, "{script}");
        assert!(outcome.stderr.contains("would overwrite the source"), "{}", outcome.stderr);
    }
}

#[test]
fn a_file_is_replaced_only_by_a_complete_output() {
    let (name, old) = (TRANSCODE.file("bad.txt", b"text \xFF"), TRANSCODE.file("old.txt", b"old"));
    let outcome = TRANSCODE.run([&*name, "-o", &old], b"");
    assert_eq!(outcome.status, 1);
    assert_eq!(fs::read(&old).unwrap(), b"old");
    let outcome = TRANSCODE.run([&*name, "-o", &old, "--errors", "skip"], b"");
    assert_eq!(outcome.status, 1);
    assert_eq!(fs::read(&old).unwrap(), b"text ");
}

#[test]
fn invalid_arguments_and_io_errors_exit_with_status_2() {
    let clean = TRANSCODE.file("clean.txt", b"fine");
    let missing = TRANSCODE.path("missing").to_str().unwrap().to_owned();
    let directory = env!("CARGO_TARGET_TMPDIR").to_owned();
    for arguments in [
        &["--from", "utf-8"][..],
        &["--from", "utf-7", &clean],
        &["--to", "latin1", &clean],
        &["--errors", "perhaps", &clean],
        &["--read-size", "0", &clean],
        &["--from", "latin1", "--bom", "strip", &clean],
        &["--from", "auto", "--fallback", "utf-16le", &clean],
        &["--listen", "127.0.0.1:0", &clean],
        &[&clean, &clean],
        &[&missing],
        &[&directory],
        &["tcp://127.0.0.1:1"],
        &["tcp://nonsense"],
        &[&clean, "-o", "/no/such/directory/file"],
        &[&clean, "-o", "tcp://127.0.0.1:1"],
    ] {
        let outcome = TRANSCODE.run(arguments, b"");
        assert_eq!((outcome.status, outcome.stdout.len()), (2, 0), "{arguments:?}");
        assert!(!outcome.stderr.is_empty(), "{arguments:?}");
    }
    assert_eq!(TRANSCODE.run([&missing], b"").stderr.lines().count(), 1);
}

#[test]
fn a_target_that_closes_the_connection_is_reported_and_a_closed_pipe_is_not() {
    let long = TRANSCODE.file("long.txt", &b"0123456789abcdef".repeat(1 << 20));
    let mut child = TRANSCODE.start([&long, "--to", "utf-16le"]);
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let outcome = finish(child);
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""));

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp://{}", listener.local_addr().unwrap());
    let child = TRANSCODE.start([&*long, "--to", "utf-16le", "-o", &target]);
    drop(listener.accept().unwrap());
    let outcome = finish(child);
    assert_eq!((outcome.status, outcome.stderr.lines().count()), (2, 1), "{}", outcome.stderr);
}

#[test]
fn without_arguments_the_sample_is_transcoded() {
    let outcome = TRANSCODE.run::<&str>([], b"");
    let stdout = String::from_utf8(outcome.stdout).unwrap();
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{stdout}");
    assert!(stdout.contains("Every byte is right"), "{stdout}");
    assert_eq!(stdout.matches("to 9 forms").count(), 9);
    assert!(stdout.contains("U+D83D at byte 4 cannot be encoded in utf-8"));
}

#[test]
fn progress_is_shown_on_request() {
    let name = TRANSCODE.file("progress.txt", &b"0123456789abcdef".repeat(1 << 16));
    for when in ["never", "auto"] {
        let outcome = TRANSCODE.run([&*name, "--to", "utf-16le", "--progress", when], b"");
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{when}");
    }
    let outcome = TRANSCODE.run([&*name, "--to", "utf-16le", "--progress", "always"], b"");
    assert_eq!((outcome.status, outcome.stdout.len()), (0, 2 << 20));
    for part in ["progress.txt", "100%", "1.00 MiB of 1.00 MiB", "/s"] {
        assert!(outcome.stderr.contains(part), "{part}: {:?}", outcome.stderr);
    }
    let outcome = TRANSCODE.run(["-", "--progress", "always"], &[b'x'; 3000]);
    assert_eq!((outcome.status, outcome.stdout.len()), (0, 3000));
    assert!(outcome.stderr.contains("2.93 KiB"), "{:?}", outcome.stderr);
    assert!(!outcome.stderr.contains('%'), "the size is not known");
}

#[test]
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a terminal is made by the C library only")]
fn a_progress_bar_is_shown_and_erased_on_a_terminal() {
    use std::fs::File;
    use std::os::fd::FromRawFd;

    let name = TRANSCODE.file("long-progress.txt", &b"0123456789abcdef".repeat(3 << 20));
    let (mut master, mut slave) = (0, 0);
    let (nothing, size) = (
        std::ptr::null_mut(),
        libc::winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 },
    );
    // SAFETY: the pointers are to live variables, or null where that is allowed.
    let made = unsafe { libc::openpty(&mut master, &mut slave, nothing, nothing.cast(), &size) };
    assert_eq!(made, 0);
    // SAFETY: both descriptors have just been opened, and nothing else owns them.
    let (mut master, slave) = unsafe { (File::from_raw_fd(master), File::from_raw_fd(slave)) };
    let child = TRANSCODE
        .command()
        .args([&*name, "--to", "cesu-8", "-o", TRANSCODE.path("long-out").to_str().unwrap()])
        .env("TERM", "xterm")
        .stderr(slave)
        .spawn()
        .unwrap();
    // After the last writer has closed, a read fails.
    let shown = thread::spawn(move || {
        let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(len @ 1..) = master.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..len]);
        }
        String::from_utf8_lossy(&shown).into_owned()
    });
    assert_eq!(finish(child).status, 0);
    let shown = shown.join().unwrap();
    assert!(
        shown.contains('█') && shown.contains("%, ") && shown.contains("of 48.00 MiB"),
        "{shown:?}"
    );
    let last = shown.rsplit("\x1B[2K").next().unwrap();
    assert!(!last.contains('%'), "the rest: {last:?}");
}

/// Sends 64 MiB through a pipe and measures peak memory.
#[cfg(target_os = "linux")]
fn assert_constant_memory(arguments: &str, pattern: &[u8], written: u64) {
    let mut child = TRANSCODE.start(arguments.split(' '));
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        let (mut count, mut buffer) = (0, vec![0; 1 << 16]);
        while let Ok(len @ 1..) = stdout.read(&mut buffer) {
            count += len as u64;
        }
        count
    });
    let block = pattern.repeat((1 << 16) / pattern.len());
    for _ in 0..(64 << 20) / block.len() {
        stdin.write_all(&block).unwrap();
    }
    let peak = peak_kilobytes(&child);
    assert!(peak < 24 << 10, "{arguments}: {peak} kB");
    drop(stdin);
    assert_eq!(finish(child).status, 0);
    assert_eq!(reader.join().unwrap(), written, "{arguments}");
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_depend_on_the_length() {
    let plain = b"0123456789abcdef";
    assert_constant_memory("--from utf-8 --to utf-16le -", plain, 128 << 20);
    assert_constant_memory("--from latin1 --to modified-utf-8 -", plain, 64 << 20);
    assert_constant_memory("--from auto --fallback-for line -", plain, 64 << 20);
    let pair = "\u{1F600}".as_bytes();
    assert_constant_memory("--from utf-8 --to cesu-8 -", pair, 96 << 20);
}
