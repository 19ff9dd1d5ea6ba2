//! UTF-8B and `surrogatepass` compared with the installed CPython, if there is one.
#![cfg(feature = "std")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use utf8_codec::ErrorMode;
use utf8_codec::decoder::Status;
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};

use crate::lists::Random;

/// Answers each line, `d HANDLER HEX` or `e HANDLER NUMBERS`, with the output, or with the index of the
/// failure.
const SCRIPT: &str = r"
import sys
for line in sys.stdin:
    what, handler, *rest = line.split()
    try:
        if what == 'd':
            text = bytes.fromhex(''.join(rest)).decode('utf-8', handler)
            print('ok', *[ord(c) for c in text])
        else:
            text = ''.join(chr(int(n)) for n in rest)
            print('ok', text.encode('utf-8', handler).hex())
    except UnicodeError as error:
        print('no', error.start)
";

/// Python's answers to `questions`, or `None` without Python.
fn ask(questions: &str) -> Option<Vec<String>> {
    let python = Command::new("python3")
        .args(["-X", "utf8", "-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut python) = python else {
        skip("python3 is not installed");
        return None;
    };
    let mut stdin = python.stdin.take()?;
    let questions = questions.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(questions.as_bytes()));
    let output = python.wait_with_output().expect("python3 was started");
    let written = writer.join().expect("the writer does not panic");
    if !output.status.success() || written.is_err() {
        skip(&format!("python3 does not run the script: {}", output.status));
        return None;
    }
    let answers = String::from_utf8(output.stdout).expect("the script prints ASCII");
    Some(answers.lines().map(str::to_owned).collect())
}

/// Prints the reason past the test harness, which captures the output of passing tests.
fn skip(why: &str) {
    let _unseen = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

const HANDLERS: [(&str, Dialect); 2] =
    [("surrogateescape", Dialect::Utf8b), ("surrogatepass", Dialect::SurrogatePass)];

fn decoded(dialect: Dialect, bytes: &[u8]) -> String {
    let mut code_points = Vec::new();
    let mut decoder = DialectDecoder::new(dialect);
    // In arbitrary chunks.
    let pushed = bytes.chunks(3).try_for_each(|chunk| {
        match decoder.push_to_code_points(chunk, ErrorMode::Fatal, &mut code_points).status {
            Status::IllFormed(error) => Err(error),
            _ => Ok(()),
        }
    });
    let ended = |()| decoder.finish_to_code_points(ErrorMode::Fatal, &mut code_points);
    match pushed.and_then(ended) {
        Ok(()) => code_points.iter().fold("ok".to_owned(), |mut answer, code_point| {
            write!(answer, " {}", code_point).expect("writing to a string succeeds");
            answer
        }),
        Err(error) => format!("no {}", error.offset()),
    }
}

fn encoded(dialect: Dialect, code_points: &[u32]) -> String {
    let mut bytes = Vec::new();
    let mut encoder = DialectEncoder::new(dialect);
    let pushed = encoder.push_code_points_to_vec(code_points, &mut bytes);
    match pushed.and_then(|()| encoder.finish_to_vec(&mut bytes)) {
        Ok(()) => format!("ok {}", hex(&bytes)),
        Err(error) => format!("no {}", error.offset()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const PIECES: &[&[u8]] = &[
    b"a",
    b"\0",
    b"\x80",
    b"\xBF",
    b"\xC0",
    b"\xC2",
    b"\xC3\xA9",
    b"\xE0",
    b"\xE0\x80",
    b"\xE2\x82",
    b"\xE2\x82\xAC",
    b"\xED",
    b"\xED\xA0",
    b"\xED\xA0\x80",
    b"\xED\xB2\x80",
    b"\xED\xBF\xBF",
    b"\xED\x9F\xBF",
    b"\xF0\x9F\x98",
    b"\xF0\x9F\x98\x80",
    b"\xF4\x90",
    b"\xF8\x88\x80\x80\x80",
    b"\xFF",
];

#[test]
fn bytes_decode_as_in_python() {
    let mut rng = Random(0x9E37_79B9);
    let mut strings: Vec<Vec<u8>> = (0..=0xFFFF_u16).map(|n| n.to_be_bytes().to_vec()).collect();
    strings.extend((0..20_000).map(|_| {
        let pieces = rng.below(8);
        (0..pieces).flat_map(|_| PIECES[rng.below(PIECES.len())].to_vec()).collect()
    }));
    strings.extend((0..5000).map(|_| {
        let len = rng.below(40);
        (0..len).map(|_| rng.below(256) as u8).collect()
    }));
    for (handler, dialect) in HANDLERS {
        let questions: String =
            strings.iter().map(|bytes| format!("d {handler} {}\n", hex(bytes))).collect();
        let Some(answers) = ask(&questions) else { return };
        assert_eq!(answers.len(), strings.len());
        for (bytes, answer) in strings.iter().zip(answers) {
            assert_eq!(decoded(dialect, bytes), answer.trim_end(), "{handler}: {bytes:02x?}");
        }
    }
}

#[test]
fn code_points_encode_as_in_python() {
    let mut rng = Random(0x7F4A_7C15);
    let code_point = |rng: &mut Random| match rng.below(5) {
        0 => 0xD800 + rng.below(0x800),
        1 => 0xDC80 + rng.below(0x80),
        2 => rng.below(0x80),
        _ => rng.below(0x11_0000),
    };
    let strings: Vec<Vec<u32>> = (0..30_000)
        .map(|_| {
            let len = rng.below(6);
            (0..len).map(|_| code_point(&mut rng) as u32).collect()
        })
        .collect();
    for (handler, dialect) in HANDLERS {
        let numbers = |string: &[u32]| -> String {
            string.iter().map(|code_point| format!(" {}", code_point)).collect()
        };
        let questions: String =
            strings.iter().map(|string| format!("e {handler}{}\n", numbers(string))).collect();
        let Some(answers) = ask(&questions) else { return };
        assert_eq!(answers.len(), strings.len());
        for (string, answer) in strings.iter().zip(answers) {
            assert_eq!(
                encoded(dialect, string).trim_end(),
                answer.trim_end(),
                "{handler}: {string:?}"
            );
        }
    }
}
