//! Every split of every short string of edge bytes, in every error mode and with every BOM policy; every string of up
//! to four bytes; and all scalar values in chunks. `values`: all scalar values through every object.
#![cfg(feature = "codec")]

#[path = "../support/lists.rs"]
mod lists;
#[path = "../support/mod.rs"]
mod support;
mod values;

use std::ops::RangeInclusive;

use crate::support::reference::{self, Bom, Config, Event, Kind, Start};
use crate::support::{MODES, PLAIN, model_error, options, undated};
use utf8_codec::codec::{CodecError, Utf8Codec};
use utf8_codec::decoder::Status;
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Error, Utf8ErrorKind, Utf8Options, Utf8Validator};

/// The outcome of a stream: its text, its errors (listed in `Fatal` mode only), their number, and
/// whether a BOM was stripped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Outcome {
    text: String,
    errors: Vec<Utf8Error>,
    error_count: u64,
    bom_seen: bool,
}

impl Outcome {
    fn clear(&mut self) {
        self.text.clear();
        self.errors.clear();
    }

    fn settle(&mut self, decoder: &Utf8Decoder) {
        self.error_count = decoder.error_count();
        self.bom_seen = decoder.bom_seen();
    }

    /// The outcome of the decoder.
    fn of_decoder<'a>(
        &mut self,
        options: Utf8Options,
        mode: ErrorMode,
        chunks: impl Iterator<Item = &'a [u8]>,
    ) {
        self.clear();
        let mut decoder = Utf8Decoder::new().with_options(options);
        for chunk in chunks {
            let mut rest = chunk;
            loop {
                let progress = decoder.push_to_string(rest, mode, &mut self.text);
                rest = &rest[progress.read..];
                match progress.status {
                    Status::Done => break,
                    Status::IllFormed(error) => self.errors.push(error),
                    other => panic!("{other:?}"),
                }
            }
        }
        while let Err(error) = decoder.finish_to_string(mode, &mut self.text) {
            self.errors.push(error);
        }
        self.settle(&decoder);
    }

    /// The outcome of the codec.
    fn of_codec<'a>(
        &mut self,
        options: Utf8Options,
        mode: ErrorMode,
        chunks: impl Iterator<Item = &'a [u8]>,
    ) {
        self.clear();
        let mut codec = Utf8Codec::new().with_options(options).with_error_mode(mode);
        for outcome in lists::outcomes(&mut codec, chunks) {
            match outcome {
                Ok(text) => self.text.push_str(&text),
                Err(CodecError::Invalid(error)) => self.errors.push(error),
                Err(error) => panic!("{error}"),
            }
        }
        self.settle(codec.decoder());
    }
}

/// The chunks of `bytes`, split after the bytes whose bits are set in `cuts`.
fn chunks(bytes: &[u8], cuts: u32) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at;
        at += 1;
        while at < bytes.len() && cuts >> (at - 1) & 1 == 0 {
            at += 1;
        }
        (from < bytes.len()).then(|| &bytes[from..at])
    })
}

fn configs() -> [Config; 4] {
    [Bom::Keep, Bom::Strip, Bom::Require, Bom::Forbid]
        .map(|bom| Config { start: Start::Beginning(bom), ..PLAIN })
}

/// Compares the whole with the model, and every split with the whole. Returns the number of splits.
fn check_every_cut(bytes: &[u8]) -> u64 {
    let mut found = Outcome::default();
    let mut ways = 0;
    for config in configs() {
        let decoded = reference::decode_prefix(bytes, config, true);
        for (model_mode, mode) in MODES {
            let mut expected = Outcome::default();
            expected.of_decoder(options(config), mode, std::iter::once(bytes));
            let context = |way| format!("{way}: {bytes:02x?}, {mode:?}, {config:?}");
            assert_eq!(
                expected.text,
                reference::repaired(model_mode, &decoded.events, config),
                "{}",
                context("whole")
            );
            assert_eq!(expected.bom_seen, decoded.bom_seen, "{}", context("whole"));
            let errors = decoded.events.iter().filter(|event| matches!(event, Event::Error(_)));
            assert_eq!(expected.error_count, errors.count() as u64, "{}", context("whole"));
            if mode == ErrorMode::Fatal {
                let errors: Vec<_> = decoded
                    .events
                    .iter()
                    .filter_map(|event| match event {
                        Event::Error(error) => Some(undated(error.clone())),
                        Event::Text(_) => None,
                    })
                    .collect();
                let reported: Vec<_> = expected.errors.iter().map(model_error).collect();
                assert_eq!(reported, errors, "{}", context("whole"));
            }
            for cuts in 0..1_u32 << (bytes.len() - 1) {
                found.of_decoder(options(config), mode, chunks(bytes, cuts));
                assert_eq!(found, expected, "{}", context(&format!("cuts {cuts:b}")));
                found.of_codec(options(config), mode, chunks(bytes, cuts));
                assert_eq!(found, expected, "{}", context(&format!("codec, cuts {cuts:b}")));
                ways += 2;
            }
        }
    }
    ways
}

/// Checks every string of these lengths over this alphabet that starts with `first`.
fn check_strings(alphabet: &[u8], first: u8, lengths: RangeInclusive<usize>) -> u64 {
    let mut ways = 0;
    for len in lengths {
        let mut places = vec![0; len - 1];
        loop {
            let mut bytes = vec![first];
            bytes.extend(places.iter().map(|&place: &usize| alphabet[place]));
            ways += check_every_cut(&bytes);
            let Some(last) = places.iter().rposition(|&place| place + 1 < alphabet.len()) else {
                break;
            };
            places[last] += 1;
            places[last + 1..].fill(0);
        }
    }
    ways
}

/// Checks all first bytes, on as many threads as there are processors.
fn check_all(alphabet: &[u8], most: usize) -> u64 {
    lists::sum_of(alphabet, |&first| check_strings(alphabet, first, 1..=most))
}

/// One byte of every kind, two at each end of a range; and the bytes of the BOM.
const ALPHABET: [u8; 14] =
    [0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBB, 0xBF, 0xC3, 0xE0, 0xED, 0xEF, 0xF0, 0xFF];

/// Enough for characters of all lengths, surrogates, overlong forms and BOMs.
const SHORT_ALPHABET: [u8; 9] = [0x41, 0x80, 0xA0, 0xBB, 0xBF, 0xC3, 0xED, 0xEF, 0xF0];

/// Both sides of the limits for second bytes after E0, ED, F0 and F4, bytes that never occur, and text.
const EDGES: [u8; 11] = [0x61, 0x8F, 0x90, 0x9F, 0xA0, 0xC0, 0xE0, 0xED, 0xF0, 0xF4, 0xFF];

/// Those that start a sequence with such a limit.
const EDGED_LEADS: [u8; 4] = [0xE0, 0xED, 0xF0, 0xF4];

#[test]
fn splits_do_not_affect_strings_of_up_to_three_bytes() {
    let ways = check_all(&ALPHABET, 3);
    // Strings, policies, modes, splits, types.
    assert_eq!(ways, (14 + 14 * 14 * 2 + 14 * 14 * 14 * 4) * 4 * 6 * 2);
}

#[test]
fn splits_do_not_affect_a_bom_and_the_bytes_after_it() {
    let mut ways = 0;
    for bytes in [&b"\xEF\xBB\xBF"[..], b"\xEF\xBB", b"\xEF"] {
        for first in ALPHABET {
            for second in SHORT_ALPHABET {
                ways += check_every_cut(&[bytes, &[first, second, 0xBF]].concat());
                ways += check_every_cut(&[bytes, &[first, second]].concat());
            }
        }
    }
    assert!(ways > 100_000, "{ways}");
}

#[test]
#[ignore = "takes minutes"]
fn splits_do_not_affect_strings_of_up_to_six_bytes() {
    let ways = check_all(&SHORT_ALPHABET, 6);
    println!("{ways} combinations");
    let strings = |len: u32| 9_u64.pow(len) << (len - 1);
    assert_eq!(ways, (1..=6).map(strings).sum::<u64>() * 4 * 6 * 2);
}

#[test]
#[ignore = "takes minutes"]
fn splits_do_not_affect_strings_of_up_to_six_edge_bytes() {
    // Strings of six bytes only from a leading byte on, since after any other byte the decoder is back
    // in its initial state; without FF, which behaves as C0.
    let ways = check_all(&EDGES, 5)
        + lists::sum_of(&EDGED_LEADS, |&first| check_strings(&EDGES[..10], first, 6..=6));
    println!("{ways} combinations");
    let strings = |len: u32| 11_u64.pow(len) << (len - 1);
    let longest = 4 * 10_u64.pow(5) * 32;
    assert_eq!(ways, ((1..=5).map(strings).sum::<u64>() + longest) * 4 * 6 * 2);
}

// ---- four bytes ---------------------------------------------------------------------------------

/// The length of the sequence or maximal subpart at the start of `bytes`, and the kind of its error:
/// Unicode table 3-7, written out.
fn first_part(bytes: &[u8]) -> (usize, Option<Kind>) {
    let tail = 0x80..=0xBF;
    let (len, second, rejection) = match bytes[0] {
        0x00..=0x7F => return (1, None),
        0x80..=0xBF => return (1, Some(Kind::UnexpectedContinuation)),
        0xC0..=0xC1 => return (1, Some(Kind::Overlong)),
        0xC2..=0xDF => (2, tail, Kind::Truncated),
        0xE0 => (3, 0xA0..=0xBF, Kind::Overlong),
        0xED => (3, 0x80..=0x9F, Kind::Surrogate),
        0xE1..=0xEF => (3, tail, Kind::Truncated),
        0xF0 => (4, 0x90..=0xBF, Kind::Overlong),
        0xF1..=0xF3 => (4, tail, Kind::Truncated),
        0xF4 => (4, 0x80..=0x8F, Kind::TooLarge),
        0xF5..=0xF7 => return (1, Some(Kind::TooLarge)),
        0xF8..=0xFF => return (1, Some(Kind::InvalidByte)),
    };
    match bytes.get(1) {
        None => return (1, Some(Kind::Incomplete)),
        Some(byte) if second.contains(byte) => {}
        Some(0x80..=0xBF) => return (1, Some(rejection)),
        Some(_) => return (1, Some(Kind::Truncated)),
    }
    for at in 2..len {
        match bytes.get(at) {
            None => return (at, Some(Kind::Incomplete)),
            Some(0x80..=0xBF) => {}
            Some(_) => return (at, Some(Kind::Truncated)),
        }
    }
    (len, None)
}

fn kind_of(kind: Kind) -> Utf8ErrorKind {
    match kind {
        Kind::UnexpectedContinuation => Utf8ErrorKind::UnexpectedContinuation,
        Kind::Overlong => Utf8ErrorKind::Overlong,
        Kind::Surrogate => Utf8ErrorKind::Surrogate,
        Kind::TooLarge => Utf8ErrorKind::TooLarge,
        Kind::InvalidByte => Utf8ErrorKind::InvalidByte,
        Kind::Truncated => Utf8ErrorKind::Truncated,
        Kind::Incomplete => Utf8ErrorKind::Incomplete,
        other => panic!("{other:?} does not depend on the bytes alone"),
    }
}

/// Checks the text, and the offset, length and kind of every error, against the table.
fn check_four(bytes: [u8; 4]) {
    let mut decoder = Utf8Decoder::new();
    let (mut at, mut text_to) = (0, 0);
    let mut rejected = |error: Utf8Error, text_to: &mut usize| {
        // Everything up to the error is text, and all of it has been emitted.
        while at < *text_to {
            let (len, kind) = first_part(&bytes[at..]);
            assert_eq!(kind, None, "{bytes:02x?} at {at}");
            at += len;
        }
        let (len, kind) = first_part(&bytes[at..]);
        let expected = kind.map(|kind| (at as u64, len, kind_of(kind)));
        let found = (error.valid_up_to(), error.bytes().len(), error.kind());
        assert_eq!(Some(found), expected, "{bytes:02x?} at {at}");
        at += len;
        *text_to = at;
    };
    for piece in decoder.push(&bytes) {
        match piece {
            Ok(text) => {
                assert_eq!(text.as_bytes(), &bytes[text_to..text_to + text.len()]);
                text_to += text.len();
            }
            Err(error) => rejected(error, &mut text_to),
        }
    }
    if let Err(error) = decoder.finish() {
        rejected(error, &mut text_to);
    }
    assert_eq!(text_to, 4, "{bytes:02x?}");
    while at < 4 {
        let (len, kind) = first_part(&bytes[at..]);
        assert_eq!(kind, None, "{bytes:02x?} at {at}");
        at += len;
    }
}

#[test]
fn strings_of_four_edge_bytes_decode_by_the_table() {
    let edges = [
        0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC,
        0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xF8, 0xFF,
    ];
    for a in edges {
        for b in edges {
            for c in edges {
                for d in edges {
                    check_four([a, b, c, d]);
                }
            }
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn all_strings_of_four_bytes_decode_by_the_table() {
    let all: Vec<u8> = (0..=255).collect();
    let count = lists::sum_of(&all, |&first| {
        for rest in 0..1_u32 << 24 {
            let [_, b, c, d] = rest.to_be_bytes();
            check_four([first, b, c, d]);
        }
        1 << 24
    });
    assert_eq!(count, 1 << 32);
}

// ---- up to three bytes ----------------------------------------------------------------------------

/// The first error of `bytes` by std, or `None`.
fn of_std(bytes: &[u8]) -> Option<(u64, Option<usize>)> {
    let error = std::str::from_utf8(bytes).err()?;
    Some((error.valid_up_to() as u64, error.error_len()))
}

fn of_validator(bytes: &[u8], cut: usize) -> Option<(u64, Option<usize>)> {
    let mut validator = Utf8Validator::new();
    let verdict = validator
        .push(&bytes[..cut])
        .and_then(|()| validator.push(&bytes[cut..]))
        .and_then(|()| validator.finish());
    let error = verdict.err()?;
    Some((error.valid_up_to(), error.error_len()))
}

#[test]
fn all_strings_of_one_to_three_bytes_validate_as_in_std() {
    for len in 1..=3 {
        for value in 0..1_u32 << (8 * len) {
            let bytes = &value.to_be_bytes()[4 - len..];
            let expected = of_std(bytes);
            for cut in 0..len {
                assert_eq!(of_validator(bytes, cut), expected, "{bytes:02x?} split at {cut}");
            }
        }
    }
}

#[test]
fn all_strings_of_one_to_three_bytes_decode_as_in_std() {
    for len in 1..=3 {
        for value in 0..1_u32 << (8 * len) {
            let bytes = &value.to_be_bytes()[4 - len..];
            let mut decoder = Utf8Decoder::new();
            let pieces: Vec<_> = decoder.push(bytes).map(|it| it.map(str::to_owned)).collect();
            let mut pieces = pieces.into_iter();
            let mut at = 0;
            for chunk in bytes.utf8_chunks() {
                if !chunk.valid().is_empty() {
                    assert_eq!(pieces.next(), Some(Ok(chunk.valid().to_owned())), "{bytes:02x?}");
                    at += chunk.valid().len();
                }
                if chunk.invalid().is_empty() {
                    break;
                }
                let of_std = std::str::from_utf8(&bytes[at..]).unwrap_err();
                let error = match of_std.error_len() {
                    Some(_) => pieces.next().unwrap().unwrap_err(),
                    // Incomplete: it is the last part, and reported at the end.
                    None => {
                        assert_eq!(pieces.next(), None, "{bytes:02x?}");
                        decoder.finish().unwrap_err()
                    }
                };
                let found = (error.valid_up_to(), error.error_len(), error.bytes());
                let expected = (at as u64, of_std.error_len(), chunk.invalid());
                assert_eq!(found, expected, "{bytes:02x?}");
                at += chunk.invalid().len();
                if of_std.error_len().is_none() {
                    break;
                }
            }
            let end = (pieces.next(), decoder.position(), decoder.finish());
            assert_eq!(end, (None, len as u64, Ok(())), "{bytes:02x?}");
        }
    }
}

// ---- scalar values --------------------------------------------------------------------------------

fn all_scalar_values() -> String {
    ('\0'..=char::MAX).collect()
}

#[test]
fn all_scalar_values_pass_in_chunks_of_every_small_size() {
    let all = all_scalar_values();
    for size in [1, 2, 3, 5, 7, 64, 1021] {
        let mut decoder = Utf8Decoder::new();
        let mut validator = Utf8Validator::new();
        let mut text = String::with_capacity(all.len());
        for chunk in all.as_bytes().chunks(size) {
            validator.push(chunk).unwrap();
            for piece in decoder.push(chunk) {
                text.push_str(piece.unwrap());
            }
        }
        assert_eq!((validator.finish(), decoder.finish()), (Ok(()), Ok(())));
        assert!(text == all, "in chunks of {size}");
    }
}
