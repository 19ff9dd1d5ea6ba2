//! The dialects decoded to text, with errors repaired, at every split.
#![cfg(feature = "alloc")]

use utf8_codec::decoder::{Progress, Status};
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectError};
use utf8_codec::{BomPolicy, ErrorMode, Utf8ErrorKind};

use crate::dialect::chunks;
use crate::dialect_model::{self as model, Rules, all_rules};
use crate::lists::MODES;
use crate::reference::{self, Bom, Config, Controls, Kind, Mode, Start};

// ---- short strings, against their pieces --------------------------------------------------------

/// Characters of each length, halves of pairs, forms that only one dialect has, and errors.
const SEQUENCES: [&[u8]; 16] = [
    b"plain",
    "é".as_bytes(),
    "😀".as_bytes(),
    b"\xED\xA0\x80",
    b"\xED\xAF\xBF",
    b"\xED\xB0\x80",
    b"\xED\xB3\xA9",
    b"\xED\xB0",
    b"\xED",
    b"\xC0\x80",
    b"\0",
    b"\xC1",
    b"\xF0\x90",
    b"\xF4\x90\x80\x80",
    b"\xFD\xBF\xBF\xBF\xBF\xBF",
    b"\xE9",
];

/// Each two sequences.
fn pairs() -> impl Iterator<Item = Vec<u8>> {
    SEQUENCES.iter().flat_map(|first| SEQUENCES.map(|second| [*first, second].concat()))
}

/// Each single cut, and then all of them.
fn every_cut(len: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..=len).map(|cut| vec![cut]).chain([(0..len).collect()])
}

/// As in [`MODES`].
const MODELS: [Mode; 6] =
    [Mode::Fatal, Mode::Replacement, Mode::Skip, Mode::Escape, Mode::Latin1, Mode::Windows1252];

#[test]
fn two_sequences_decode_to_the_text_of_their_pieces() {
    for rules in all_rules().into_iter().filter(|rules| rules.fatal) {
        for bytes in pairs() {
            for (mode, model) in MODES.into_iter().zip(MODELS) {
                let expected = of_pieces(rules, &bytes, model);
                for cuts in every_cut(bytes.len()) {
                    let decoded = decode(&mut rules.decoder(), &bytes, mode, &cuts);
                    assert_eq!(decoded, expected, "{rules:?}, {mode:?}: {bytes:02x?} at {cuts:?}");
                }
            }
        }
    }
}

#[test]
fn two_sequences_decode_to_the_code_points_of_their_pieces() {
    for rules in all_rules() {
        let mode = if rules.fatal { ErrorMode::Fatal } else { ErrorMode::Replacement };
        for bytes in pairs() {
            let repaired = code_points_of_pieces(rules, &bytes).into_iter().map(|code_point| {
                if rules.fatal { code_point } else { Ok(code_point.unwrap_or(0xFFFD)) }
            });
            let expected: Vec<_> = repaired.collect();
            for cut in 0..=bytes.len() {
                let decoded = decode_to_code_points(rules, &bytes, mode, &[cut]);
                assert_eq!(decoded, expected, "{rules:?}: {bytes:02x?} at {cut}");
            }
        }
    }
}

/// What `push_to_code_points` and `finish_to_code_points` return for a stream that is cut at `cuts`.
fn decode_to_code_points(
    rules: Rules,
    bytes: &[u8],
    mode: ErrorMode,
    cuts: &[usize],
) -> Vec<Result<u32, DialectError>> {
    let mut decoder = rules.decoder();
    let mut decoded = Vec::new();
    for (from, to) in chunks(bytes.len(), cuts) {
        let mut read = from;
        loop {
            let mut code_points = vec![0];
            let progress = decoder.push_to_code_points(&bytes[read..to], mode, &mut code_points);
            read += progress.read;
            assert_eq!(progress.written, code_points.len() - 1);
            assert_eq!(decoder.position(), read as u64);
            decoded.extend(code_points.drain(1..).map(Ok));
            match progress.status {
                Status::Done => break,
                Status::IllFormed(error) => decoded.push(Err(error)),
                _ => panic!("there is room"),
            }
        }
        assert_eq!(read, to);
    }
    loop {
        let mut code_points = Vec::new();
        let ended = decoder.finish_to_code_points(mode, &mut code_points);
        decoded.extend(code_points.into_iter().map(Ok));
        match ended {
            Ok(()) => return decoded,
            Err(error) => decoded.push(Err(error)),
        }
    }
}

/// The code points and errors of a stream that is not cut.
fn code_points_of_pieces(rules: Rules, bytes: &[u8]) -> Vec<Result<u32, DialectError>> {
    let mut decoder = rules.decoder();
    let mut code_points = Vec::new();
    for piece in decoder.push(bytes) {
        match piece {
            Ok(piece) => code_points.extend(piece.code_points().map(Ok)),
            Err(error) => code_points.push(Err(error)),
        }
    }
    code_points.extend(std::iter::from_fn(|| decoder.finish().transpose()));
    code_points
}

/// A stream as text, the errors that were returned, how many were counted, and the first of these.
#[derive(Debug, Default, PartialEq, Eq)]
struct Decoded {
    text: String,
    errors: Vec<Wrong>,
    count: u64,
    first: Option<Wrong>,
}

/// The fields of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wrong {
    offset: u64,
    bytes: Vec<u8>,
    kind: Utf8ErrorKind,
    next: Option<u8>,
    code_point: Option<u32>,
}

impl From<DialectError> for Wrong {
    fn from(error: DialectError) -> Self {
        Self {
            offset: error.offset(),
            bytes: error.bytes().to_vec(),
            kind: error.kind(),
            next: error.next_byte(),
            code_point: error.code_point(),
        }
    }
}

/// What `push_to_string` and `finish_to_string` return for a stream that is cut at `cuts`.
fn decode(decoder: &mut DialectDecoder, bytes: &[u8], mode: ErrorMode, cuts: &[usize]) -> Decoded {
    let mut decoded = Decoded::default();
    for (from, to) in chunks(bytes.len(), cuts) {
        let mut read = from;
        loop {
            let before = decoded.text.len();
            let Progress { read: used, held, written, status, .. } =
                decoder.push_to_string(&bytes[read..to], mode, &mut decoded.text);
            read += used;
            assert_eq!(written, decoded.text.len() - before);
            assert_eq!(decoder.position(), read as u64);
            match status {
                Status::Done => {
                    assert_eq!((read, held), (to, decoder.incomplete().len().min(used)));
                    break;
                }
                Status::IllFormed(error) => decoded.errors.push(error.into()),
                _ => panic!("there is room"),
            }
        }
    }
    while let Err(error) = decoder.finish_to_string(mode, &mut decoded.text) {
        decoded.errors.push(error.into());
    }
    assert_eq!((decoder.position(), decoder.incomplete()), (bytes.len() as u64, &b""[..]));
    let first = decoder.first_error().map(Wrong::from);
    Decoded { count: decoder.error_count(), first, ..decoded }
}

/// The text of the pieces of a stream that is not cut, with what is no text repaired.
fn of_pieces(rules: Rules, bytes: &[u8], mode: Mode) -> Decoded {
    let rules = Rules { fatal: mode == Mode::Fatal, ..rules };
    let (mut decoded, mut at) = (Decoded::default(), 0);
    for code_point in code_points_of_pieces(rules, bytes) {
        let of_it = match code_point {
            Ok(code_point) => bytes_of(rules, code_point),
            Err(error) => error.bytes().to_vec(),
        };
        let offset = at as u64;
        assert_eq!(bytes[at..][..of_it.len()], of_it);
        at += of_it.len();
        let wrong = match code_point {
            Ok(code_point) => match char::from_u32(code_point) {
                Some(c) => {
                    decoded.text.push(c);
                    continue;
                }
                None => Wrong {
                    offset,
                    bytes: of_it.clone(),
                    kind: Utf8ErrorKind::NotScalar,
                    next: None,
                    code_point: Some(code_point),
                },
            },
            Err(error) => error.into(),
        };
        assert_eq!((wrong.offset, &wrong.bytes), (offset, &of_it));
        decoded.count += 1;
        decoded.first.get_or_insert_with(|| wrong.clone());
        match repair(rules.dialect, &wrong, mode) {
            Some(repair) => decoded.text.push_str(&repair),
            None => decoded.errors.push(wrong),
        }
    }
    assert_eq!(at, bytes.len());
    decoded
}

/// The bytes of a code point that was decoded.
fn bytes_of(rules: Rules, code_point: u32) -> Vec<u8> {
    model::encode(Rules { unpaired: true, limit: false, ..rules }, code_point).unwrap()
}

/// What replaces an error, or `None` if it is returned.
fn repair(dialect: Dialect, wrong: &Wrong, mode: Mode) -> Option<String> {
    let kind = match wrong.kind {
        // Rejected for its value, whatever the encoding.
        Utf8ErrorKind::TooLarge | Utf8ErrorKind::Nul => Kind::Forbidden,
        Utf8ErrorKind::NotScalar if dialect != Dialect::Utf8b => Kind::Forbidden,
        _ => Kind::InvalidByte,
    };
    let bytes = wrong.bytes.clone();
    let error = reference::Error { offset: 0, bytes, kind, next: None, decided_by: None };
    let config = Config {
        start: Start::Beginning(Bom::Keep),
        reject_noncharacters: false,
        reject_nul: false,
        controls: Controls::Allowed,
    };
    reference::repair(mode, &error, config)
}

#[test]
fn each_error_has_its_kind_and_its_bytes() {
    use Utf8ErrorKind::{
        FourByteSequence, Incomplete, InvalidByte, Nul, Overlong, Surrogate, SurrogatePair,
        TooLarge, Truncated, UnexpectedContinuation, UnpairedSurrogate,
    };
    let is = |dialects: &[Dialect], bytes: &[u8], kind, len, next: Option<u8>| {
        for &dialect in dialects {
            let mut decoder = DialectDecoder::new(dialect);
            let pushed = decoder.push(bytes).find_map(Result::err);
            let error = pushed.or_else(|| decoder.finish().err()).unwrap();
            let fields = (error.kind(), error.bytes().len(), error.next_byte());
            assert_eq!(fields, (kind, len, next), "{dialect}: {bytes:02x?}");
            assert_eq!((error.dialect(), error.code_point()), (dialect, None));
            let hex: Vec<_> = error.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            let followed = next.map_or(String::new(), |next| format!(", followed by {next:02x}"));
            assert_eq!(format!("{error:#}"), format!("{kind} ({}{followed})", hex.join(" ")));
        }
    };
    let (with_pairs, others) =
        ([Dialect::Cesu8, Dialect::ModifiedUtf8], [Dialect::Wtf8, Dialect::SurrogatePass]);
    let large = [Dialect::Rfc2279];
    for dialects in [&with_pairs[..], &others, &large] {
        is(dialects, b"\x80", UnexpectedContinuation, 1, None);
        is(dialects, b"\xC1\xBF", Overlong, 1, None);
        is(dialects, b"\xE0\x80", Overlong, 1, Some(0x80));
        is(dialects, b"\xE0A", Truncated, 1, Some(b'A'));
        is(dialects, b"\xE1\x80A", Truncated, 2, Some(b'A'));
        is(dialects, b"\xEDA", Truncated, 1, Some(b'A'));
        is(dialects, b"\xE1\x80", Incomplete, 2, None);
        is(dialects, b"\xFE", InvalidByte, 1, None);
    }
    is(&with_pairs, b"\xF0\x9F\x98\x80", FourByteSequence, 1, None);
    is(&with_pairs, b"\xF5", InvalidByte, 1, None);
    is(&others, b"\xF5", TooLarge, 1, None);
    is(&others, b"\xF4\x90", TooLarge, 1, Some(0x90));
    is(&others, b"\xF0\x8F", Overlong, 1, Some(0x8F));
    is(&others, b"\xF8", InvalidByte, 1, None);
    is(&large, b"\xF8\x87", Overlong, 1, Some(0x87));
    is(&large, b"\xED\xA0", Surrogate, 1, Some(0xA0));
    is(&with_pairs, b"\xED\xB0", UnpairedSurrogate, 1, Some(0xB0));
    is(&with_pairs, b"\xED\xA0\x80\xED\x80", UnpairedSurrogate, 4, Some(0x80));
    is(&with_pairs, b"\xED\xA0\x80\xED", Incomplete, 4, None);
    is(&[Dialect::Wtf8], b"\xED\xA0\x80\xED\xB0", SurrogatePair, 1, Some(0xB0));
    is(&[Dialect::ModifiedUtf8], b"\0", Nul, 1, None);
    // Only with the limit, and in Rfc2279, does the value of a longer sequence matter.
    for lead in [0xF5, 0xF8, 0xFD] {
        let mut decoder = DialectDecoder::new(Dialect::Rfc2279).with_rfc3629_limit();
        let error = decoder.push(&[lead]).find_map(Result::err).unwrap();
        assert_eq!(error.kind(), TooLarge);
    }
}

#[test]
fn a_code_point_that_is_no_text_has_the_bytes_of_its_dialect() {
    let mut text = String::new();
    for (dialect, bytes, code_point, latin1) in [
        (Dialect::Utf8b, &b"\xE9"[..], 0xDCE9, "é"),
        (Dialect::Wtf8, b"\xED\xB3\xA9", 0xDCE9, "\u{FFFD}"),
        (Dialect::Rfc2279, b"\xF8\x88\x80\x80\x80", 0x20_0000, "\u{FFFD}"),
    ] {
        let mut decoder = DialectDecoder::new(dialect);
        let bytes_and_more = [b"ab", bytes, b"c"].concat();
        let progress = decoder.push_to_string(&bytes_and_more, ErrorMode::Fatal, &mut text);
        let Status::IllFormed(error) = progress.status else { panic!("{progress:?}") };
        assert_eq!(
            (error.offset(), error.bytes(), error.code_point()),
            (2, bytes, Some(code_point))
        );
        assert_eq!((error.kind(), progress.read), (Utf8ErrorKind::NotScalar, 2 + bytes.len()));
        assert_eq!(error.repair(ErrorMode::Latin1).as_deref(), Some(latin1));
        assert_eq!(error.repair(ErrorMode::Windows1252).as_deref(), Some(latin1));
    }
}

#[test]
fn bom_policies_apply_to_text_at_any_split() {
    let (missing, forbidden) = (Utf8ErrorKind::MissingBom, Utf8ErrorKind::ForbiddenBom);
    for (policy, bytes, text, error, bom_seen) in [
        (BomPolicy::Keep, "\u{FEFF}é", "\u{FEFF}é", None, false),
        (BomPolicy::Strip, "\u{FEFF}\u{FEFF}é", "\u{FEFF}é", None, true),
        (BomPolicy::Strip, "é\u{FEFF}", "é\u{FEFF}", None, false),
        (BomPolicy::Require, "\u{FEFF}é", "é", None, true),
        (BomPolicy::Require, "é", "é", Some(missing), false),
        (BomPolicy::Forbid, "\u{FEFF}é", "\u{FFFD}é", Some(forbidden), false),
        (BomPolicy::Forbid, "é\u{FEFF}", "é\u{FEFF}", None, false),
    ] {
        let bytes = [bytes, "bcde"].concat();
        let text = [text, "bcde"].concat();
        for cuts in every_cut(bytes.len()) {
            for dialect in [Dialect::Cesu8, Dialect::Wtf8] {
                let mut decoder = DialectDecoder::new(dialect).with_bom(policy);
                let mode = ErrorMode::Replacement;
                let decoded = decode(&mut decoder, bytes.as_bytes(), mode, &cuts);
                let first = decoded.first.map(|wrong| wrong.kind);
                assert_eq!(
                    (decoded.text, decoded.errors, first, decoder.bom_seen()),
                    (text.clone(), vec![], error, bom_seen),
                    "{policy:?}, {dialect}, {bytes:?} at {cuts:?}"
                );
            }
        }
    }
}

#[test]
fn a_surrogate_after_the_end_does_not_continue_a_pair() {
    let mut decoder = DialectDecoder::new(Dialect::Wtf8);
    for half in [b"\xED\xA0\x80", b"\xED\xB0\x80"] {
        for part in [&half[..1], &half[1..]] {
            assert!(decoder.push(part).all(|piece| piece.is_ok()));
        }
        assert_eq!(decoder.finish(), Ok(None));
    }
}

// ---- long text of pairs -------------------------------------------------------------------------

/// Two that write pairs, and one that does not.
const WITH_SURROGATES: [Dialect; 3] = [Dialect::Cesu8, Dialect::ModifiedUtf8, Dialect::Wtf8];

#[test]
fn long_text_of_pairs_is_the_same_in_any_parts() {
    for dialect in WITH_SURROGATES {
        for unit in ["😀", "😀a", "😀😀é", "a\0😀", "\u{10FFFF}€\0\0", "€😀aaaaaaa"]
        {
            let text = unit.repeat(2600 / unit.len());
            let bytes = encode(dialect, &text);
            let parts = (1..9).chain(250..262).chain((1020..1034).step_by(3)).chain([bytes.len()]);
            for part in parts {
                let cuts: Vec<_> = (part..bytes.len()).step_by(part).collect();
                let mut decoder = DialectDecoder::new(dialect);
                let decoded = decode(&mut decoder, &bytes, ErrorMode::Fatal, &cuts);
                assert!(decoded.text == text, "{dialect}: {unit:?} in parts of {part}");
                assert_eq!(decoded.count, 0);
            }
        }
    }
}

#[test]
fn an_error_among_pairs_has_its_offset() {
    for dialect in WITH_SURROGATES {
        for unit in ["😀", "😀a", "é\0😀€", "é€a"] {
            let unit_bytes = encode(dialect, unit);
            for count in (0..40).chain([60, 190, 230]) {
                for wrong in [&b"\xFF"[..], b"\xC1", b"\xED\xB0\x80", b"\xF0"] {
                    let bytes = [&unit_bytes.repeat(count), wrong, &unit_bytes.repeat(9)].concat();
                    let mut decoder = DialectDecoder::new(dialect);
                    let decoded = decode(&mut decoder, &bytes, ErrorMode::Skip, &[]);
                    assert!(decoded.text == unit.repeat(count + 9), "{dialect}: {unit:?}, {count}");
                    let (error, at) = (decoded.first.unwrap(), unit_bytes.len() * count);
                    assert_eq!((error.offset, &error.bytes[..]), (at as u64, wrong));
                    assert_eq!((decoded.count, decoded.errors), (1, vec![]));
                }
            }
        }
    }
}

/// The bytes of a text.
fn encode(dialect: Dialect, text: &str) -> Vec<u8> {
    let rules = Rules { dialect, unpaired: false, limit: false, fatal: true };
    text.chars().flat_map(|c| bytes_of(rules, c.into())).collect()
}
