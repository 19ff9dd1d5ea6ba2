//! Is a terminal's stream of Latin-1 and UTF-8 decoded the same at every split? `tests/random/plans.rs` has random streams.

use utf8_codec::terminal::TerminalDecoder;
#[cfg(feature = "alloc")]
use utf8_codec::{ErrorMode, decoder::Status};
use utf8_codec::{Utf8Error, Utf8ErrorKind};

/// The encoding of a terminal's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Charset {
    Latin1,
    Utf8,
}

impl Charset {
    fn of(decoder: &TerminalDecoder) -> Self {
        if decoder.is_utf8() { Self::Utf8 } else { Self::Latin1 }
    }

    /// A decoder that starts in this charset.
    fn start(self) -> TerminalDecoder {
        match self {
            Self::Latin1 => TerminalDecoder::new(),
            Self::Utf8 => TerminalDecoder::new().with_utf8_start(),
        }
    }
}

/// Text, errors and the final charset. An error has its offset in the text and its message.
type Reported = (String, Vec<(usize, String)>, Charset);

fn report<'a>(start: Charset, chunks: impl IntoIterator<Item = &'a [u8]>) -> Reported {
    let mut decoder = start.start();
    let (mut text, mut errors) = (String::new(), Vec::new());
    let mut fed = 0;
    for chunk in chunks {
        for piece in decoder.push(chunk) {
            match piece {
                Ok(piece) => {
                    assert!(!piece.is_empty());
                    text += piece;
                }
                Err(error) => errors.push((text.len(), error.to_string())),
            }
        }
        fed += chunk.len() as u64;
        assert_eq!(decoder.position(), fed);
    }
    match decoder.finish() {
        Ok(Some(held)) => text += held,
        Err(error) => errors.push((text.len(), error.to_string())),
        Ok(None) => {}
    }
    assert_eq!(decoder.finish(), Ok(None));
    assert_eq!(decoder.incomplete(), b"");
    assert_eq!(decoder.position(), fed);
    assert_eq!(decoder.error_count(), errors.len() as u64);
    (text, errors, Charset::of(&decoder))
}

/// A model that sees the whole input: finds the switches, and decodes the parts between them.
fn model(start: Charset, bytes: &[u8]) -> Reported {
    let (mut reported, mut at, mut from): (Reported, _, _) =
        ((String::new(), Vec::new(), start), 0, 0);
    let between = |reported: &mut Reported, from: usize, to: usize| match reported.2 {
        Charset::Latin1 => reported.0.extend(bytes[from..to].iter().map(|&byte| char::from(byte))),
        Charset::Utf8 => {
            let mut decoder = utf8_codec::Utf8Decoder::new();
            // An escape sequence is what ends an incomplete sequence before it.
            let next = &bytes[to..bytes.len().min(to + 1)];
            decoder.push(&vec![b'.'; from]).for_each(drop);
            let mut taken = from;
            for piece in decoder.push(&[&bytes[from..to], next].concat()) {
                match piece {
                    Ok(piece) => {
                        let len = piece.len().min(to - taken);
                        reported.0 += &piece[..len];
                        taken += len;
                    }
                    Err(error) => {
                        reported.1.push((reported.0.len(), error.to_string()));
                        taken += error.bytes().len();
                    }
                }
            }
            if let Err(error) = decoder.finish() {
                reported.1.push((reported.0.len(), error.to_string()));
            }
        }
    };
    while at < bytes.len() {
        let charset = match bytes[at..] {
            [0x1B, b'%', b'G', ..] => Charset::Utf8,
            [0x1B, b'%', b'@', ..] => Charset::Latin1,
            _ => {
                at += 1;
                continue;
            }
        };
        between(&mut reported, from, at);
        reported.2 = charset;
        at += 3;
        from = at;
    }
    between(&mut reported, from, bytes.len());
    reported
}

const TABLE: &[(&str, &[u8], &str, &[&str])] = &[
    ("enters and leaves", b"\xE9\x1B%G\xC3\xA9\x1B%@\xE9", "ééé", &[]),
    ("where it changes nothing", b"\x1B%@a\x1B%G\x1B%G\xC3\xA9", "aé", &[]),
    ("other escapes are text", b"\x1B[1m\x1B%G\x1B[0m", "\x1B[1m\x1B[0m", &[]),
    ("ESC % 8 is text", b"\x1B%8\xC3", "\x1B%8Ã", &[]),
    ("ESC % and something", b"\x1B%%G\x1B%\xE9", "\x1B%%G\x1B%é", &[]),
    ("ESC ESC % G", b"\x1B\x1B%G\xC3\xA9", "\x1Bé", &[]),
    ("ESC % ESC % G", b"\x1B%\x1B%G\xC3\xA9", "\x1B%é", &[]),
    ("an escape at the end", b"a\x1B", "a\x1B", &[]),
    ("more of an escape at the end", b"a\x1B%", "a\x1B%", &[]),
    (
        "an incomplete sequence at an escape",
        b"\x1B%G\xE2\x82\x1B%@\xAC",
        "¬",
        &["invalid UTF-8 at byte 3: truncated character (e2 82, followed by 1b)"],
    ),
    (
        "an incomplete sequence at an escape that is text",
        b"\x1B%G\xE2\x82\x1B[m\xC3\xA9",
        "\x1B[mé",
        &["invalid UTF-8 at byte 3: truncated character (e2 82, followed by 1b)"],
    ),
    (
        "an incomplete sequence at the end",
        b"\xFF\x1B%G\xF0\x9F\x98",
        "ÿ",
        &["invalid UTF-8 at byte 4: unexpected end inside a character (f0 9f 98)"],
    ),
    (
        "bytes that are ill-formed in UTF-8 only",
        b"\xC0\x80\x1B%G\xC0\x80\xED\xA0\x80",
        "À\u{80}",
        &[
            "invalid UTF-8 at byte 5: overlong encoding (c0)",
            "invalid UTF-8 at byte 6: unexpected continuation byte (80)",
            "invalid UTF-8 at byte 7: encoded surrogate (ed, followed by a0)",
            "invalid UTF-8 at byte 8: unexpected continuation byte (a0)",
            "invalid UTF-8 at byte 9: unexpected continuation byte (80)",
        ],
    ),
    ("a BOM is text", b"\x1B%G\xEF\xBB\xBF", "\u{FEFF}", &[]),
];

#[test]
fn the_table_applies_at_every_pair_of_splits() {
    for &(name, bytes, text, errors) in TABLE {
        let whole = report(Charset::Latin1, [bytes]);
        assert_eq!(whole.0, text, "{name}");
        assert_eq!(whole.1.iter().map(|(_, error)| error).collect::<Vec<_>>(), errors, "{name}");
        assert_eq!(whole, model(Charset::Latin1, bytes), "{name}");
        for second in 0..=bytes.len() {
            for first in 0..=second {
                let (a, b, c) = (&bytes[..first], &bytes[first..second], &bytes[second..]);
                assert_eq!(
                    report(Charset::Latin1, [a, b, b"", c]),
                    whole,
                    "{name}: {first}, {second}"
                );
            }
        }
        assert_eq!(report(Charset::Latin1, bytes.chunks(1)), whole, "{name}");
    }
}

#[test]
#[cfg(feature = "alloc")]
fn strings_equal_the_pieces() {
    for &(name, bytes, text, errors) in TABLE {
        for size in 1..=bytes.len() {
            let (mut decoder, mut skipped) = (TerminalDecoder::new(), String::new());
            for chunk in bytes.chunks(size) {
                let before = skipped.len();
                let progress = decoder.push_to_string(chunk, ErrorMode::Skip, &mut skipped);
                assert_eq!(progress.status, Status::Done, "{name}");
                let lengths = (progress.read, progress.written);
                assert_eq!(lengths, (chunk.len(), skipped.len() - before), "{name}");
            }
            decoder.finish_to_string(ErrorMode::Skip, &mut skipped).unwrap();
            assert_eq!((&*skipped, decoder.error_count()), (text, errors.len() as u64), "{name}");
            let first = decoder.first_error().map(|error| error.to_string());
            assert_eq!(first.as_deref(), errors.first().copied(), "{name}");
        }
    }
}

#[test]
#[cfg(feature = "alloc")]
fn a_fatal_error_leaves_the_bytes_after_it() {
    let (mut decoder, mut text) = (TerminalDecoder::new(), String::new());
    let chunk = b"a\x1B%Gb\xE2\x82\x1B%@\xE9";
    let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
    let Status::IllFormed(error) = progress.status else { panic!("{progress:?}") };
    assert_eq!((error.valid_up_to(), progress.read, progress.held), (5, 7, 0));
    let progress = decoder.push_to_string(&chunk[7..], ErrorMode::Fatal, &mut text);
    assert_eq!((progress.status, &*text), (Status::Done, "abé"));
    assert_eq!(decoder.push_to_string(b"\x1B%", ErrorMode::Fatal, &mut text).held, 2);
    decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
    assert_eq!(text, "abé\x1B%");
}

#[test]
fn reset_returns_to_the_charset_of_the_start() {
    for start in [Charset::Latin1, Charset::Utf8] {
        let mut decoder = start.start();
        decoder.push(b"\x1B%G\x1B%@\x1B").for_each(drop);
        decoder.reset();
        assert_eq!((Charset::of(&decoder), decoder.position()), (start, 0));
        assert_eq!(decoder.incomplete(), b"");
        assert_eq!(decoder.finish(), Ok(None));
    }
}

#[test]
fn determined_text_is_emitted_and_at_most_three_bytes_are_held() {
    let mut decoder = TerminalDecoder::new().with_utf8_start();
    assert_eq!(decoder.push(b"\xE2\x82").count(), 0);
    let pieces: Vec<_> = decoder.push(b"\x1B").collect();
    assert!(matches!(pieces[..], [Err(error)] if error.kind() == Utf8ErrorKind::Truncated));
    assert_eq!(decoder.push(b"%").count(), 0);
    assert_eq!(decoder.push(b"x").collect::<Vec<_>>(), [Ok("\x1B%"), Ok("x")]);
}

#[test]
fn a_long_latin1_chunk_is_decoded_in_linear_time() {
    // If each character searched the rest of the chunk again, this would take hours.
    for unit in ["é", "aé"] {
        let latin1: Vec<u8> = unit.chars().map(|c| c as u8).collect();
        let count = (1 << 20) / latin1.len();
        let mut decoder = TerminalDecoder::new();
        let text: String = decoder.push(&latin1.repeat(count)).map(Result::unwrap).collect();
        assert!(text == unit.repeat(count));
    }
}

#[test]
fn errors_equal_those_of_the_decoder() {
    let mut decoder = TerminalDecoder::new().with_utf8_start();
    let error: Utf8Error = decoder.push(b"ab\xFF").nth(1).unwrap().unwrap_err();
    assert_eq!((error.valid_up_to(), error.error_len()), (2, Some(1)));
}

#[test]
fn types_are_send_sync_unpin_and_debug() {
    fn is_plain<T: Send + Sync + Unpin + std::fmt::Debug>() {}
    is_plain::<TerminalDecoder>();
}
