//! Dialects, Java's strings, fallbacks, the detector, the terminal's decoder, boundaries.

#[path = "../dialect.rs"]
mod model;

use arbitrary::Arbitrary;
use bytes::BytesMut;
use model::{Atom, Outcome, Rules, all_rules};
use tokio_util::codec::Decoder;
use utf8_codec::codec::{DialectCodec, DialectCodecError, DialectItem, JavaUtfCodec, Utf8Codec};
use utf8_codec::detect::{Detector, Kind};
use utf8_codec::dialect::{
    CodePoint, Dialect, DialectDecoder, DialectEncoder, DialectError, DialectErrorKind,
    DialectOptions, DialectPieces,
};
use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
use utf8_codec::{CodingSystem, ErrorMode, Iso2022Decoder, boundary, split};

use super::input::{Bytes, Many};

// ---- dialects -----------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct DialectPlan {
    rules: u8,
    operations: Many<Push>,
}

#[derive(Arbitrary, Clone, Debug)]
enum Push {
    Bytes(Bytes<40>, u8),
    Nothing,
    Finish,
    Reset,
}

fn rules(number: u8) -> Rules {
    let all = all_rules();
    all[usize::from(number) % all.len()]
}

fn options(rules: Rules) -> DialectOptions {
    let mut options = DialectOptions::new(rules.dialect);
    if rules.unpaired {
        options = options.with_unpaired_surrogates();
    }
    if rules.limit {
        options = options.with_rfc3629_limit();
    }
    options
}

pub fn dialect_decoder(plan: &DialectPlan) {
    let rules = rules(plan.rules);
    let mode = if rules.fatal { ErrorMode::Fatal } else { ErrorMode::Skip };
    let mut decoder = DialectDecoder::with_options(options(rules)).with_error_mode(mode);
    let (mut atoms, mut bytes) = (Vec::new(), Vec::new());
    for operation in plan.operations.iter().chain([&Push::Finish]) {
        match operation {
            Push::Bytes(more, size) => {
                let size = if size % 8 == 0 { more.0.len() } else { (size % 8).into() };
                for chunk in more.0.chunks(size.max(1)) {
                    add(decoder.push(chunk), &mut atoms);
                    bytes.extend_from_slice(chunk);
                    let found = Outcome { atoms, held: decoder.incomplete().len() };
                    assert_eq!(found, model::decode(rules, &bytes, false), "{bytes:02x?}");
                    atoms = found.atoms;
                }
            }
            Push::Nothing => assert_eq!(decoder.push(b"").count(), 0),
            Push::Finish => {
                add(decoder.finish(), &mut atoms);
                assert_eq!(atoms, model::decode(rules, &bytes, true).atoms, "{bytes:02x?}");
                through_codec(rules, &bytes, &atoms);
                assert_eq!(decoder.finish().count(), 0, "a second end");
                assert_eq!(decoder.position(), bytes.len() as u64);
            }
            Push::Reset => {}
        }
        if matches!(operation, Push::Finish | Push::Reset) {
            decoder.reset();
            atoms.clear();
            bytes.clear();
        }
    }
}

/// The codec reports, in `Fatal` mode, what the decoder reports.
fn through_codec(rules: Rules, bytes: &[u8], expected: &[Atom]) {
    if !rules.fatal {
        return;
    }
    let (mut codec, mut buffer) = (DialectCodec::with_options(options(rules)), BytesMut::new());
    let mut atoms = Vec::new();
    let mut take = |item: Result<Option<DialectItem>, DialectCodecError>| {
        match item {
            Ok(None) => return false,
            Ok(Some(DialectItem::Text(text))) => {
                assert!(!text.is_empty(), "items are never empty");
                atoms.extend(text.chars().map(|c| Atom::CodePoint(c.into())));
            }
            Ok(Some(DialectItem::CodePoint(code_point))) => {
                atoms.push(Atom::CodePoint(code_point.into()));
            }
            Err(DialectCodecError::Decode(error)) => atoms.push(atom_of(&error)),
            Err(error) => panic!("{error}"),
        }
        true
    };
    // Cut in other places than for the decoder.
    for chunk in bytes.chunks(3) {
        buffer.extend_from_slice(chunk);
        while take(codec.decode(&mut buffer)) {}
    }
    while take(codec.decode_eof(&mut buffer)) {}
    assert!(buffer.is_empty(), "everything is accounted for at the end");
    assert_eq!(atoms, expected, "{rules:?}: {bytes:02x?}");
}

fn atom_of(error: &DialectError) -> Atom {
    let at_the_end = error.kind() == DialectErrorKind::Incomplete;
    Atom::Error { at: error.valid_up_to() as usize, len: error.bytes().len(), at_the_end }
}

fn add(pieces: DialectPieces<'_, '_>, atoms: &mut Vec<Atom>) {
    for piece in pieces {
        match piece {
            Ok(piece) => atoms.extend(piece.code_points().map(|c| Atom::CodePoint(c.into()))),
            Err(error) => atoms.push(atom_of(&error)),
        }
    }
}

#[derive(Arbitrary, Clone, Debug)]
pub struct DialectText {
    rules: u8,
    code_points: Many<(u8, u32)>,
    at_once: bool,
}

/// Each code point is what the model makes of it, or U+FFFD where that is nothing; and the decoder
/// takes it back.
pub fn dialect_encoder(text: &DialectText) {
    let rules = rules(text.rules);
    let near = |&(kind, value): &(u8, u32)| match kind % 8 {
        0 => value & 0x7F,
        1 => 0xD800 | value & 0x3FF,
        2 => 0xDC00 | value & 0x3FF,
        3 => 0xDC80 | value & 0x7F,
        4 => 0x1_0000 + value % 0x10_0000,
        5 => value & 0x1F_FFFF,
        6 => value & 0x7FFF_FFFF,
        _ => value & 0xFFFF,
    };
    let values: Vec<u32> = text.code_points.iter().map(near).collect();

    // In WTF-8 a pair of halves is one character.
    let mut joined = Vec::new();
    for &value in &values {
        match joined.last() {
            Some(&first @ 0xD800..=0xDBFF)
                if rules.dialect == Dialect::Wtf8 && (0xDC00..=0xDFFF).contains(&value) =>
            {
                joined.pop();
                joined.push(0x1_0000 + ((first & 0x3FF) << 10) + (value & 0x3FF));
            }
            _ => joined.push(value),
        }
    }
    let form = |&value: &u32| {
        model::encode(rules, value).unwrap_or_else(|| "\u{FFFD}".to_owned().into_bytes())
    };
    let expected: Vec<u8> = joined.iter().flat_map(form).collect();

    let code_points: Vec<_> =
        values.iter().map(|&value| CodePoint::new(value).expect("31 bits")).collect();
    let mut encoder =
        DialectEncoder::with_options(options(rules)).with_error_mode(ErrorMode::Replacement);
    let mut bytes = Vec::new();
    if text.at_once {
        encoder.push_code_points_to_vec(&code_points, &mut bytes).expect("it repairs");
    } else {
        for &code_point in &code_points {
            bytes.extend_from_slice(&encoder.push_code_point(code_point).expect("it repairs"));
        }
    }
    bytes.extend_from_slice(&encoder.finish().expect("it repairs"));
    assert_eq!(bytes, expected, "{rules:?}: {values:04x?}");
}

// ---- Java ---------------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct JavaPlan {
    strings: Many<Bytes<60>>,
    chunk: u8,
    /// Bytes of the last string that do not come.
    missing: u8,
}

pub fn java(plan: &JavaPlan) {
    let rules =
        Rules { dialect: Dialect::ModifiedUtf8, unpaired: false, limit: false, fatal: true };
    let (mut bytes, mut expected) = (Vec::new(), Vec::new());
    for string in plan.strings.iter() {
        bytes.extend((string.0.len() as u16).to_be_bytes());
        let atoms = model::decode(rules, &string.0, true).atoms;
        let error = atoms.iter().find_map(|atom| match atom {
            Atom::Error { at, len, .. } => Some(((bytes.len() + at) as u64, *len)),
            Atom::CodePoint(_) => None,
        });
        let text = || {
            let code_point = |atom: &Atom| match atom {
                Atom::CodePoint(value) => char::from_u32(*value).expect("a scalar value"),
                Atom::Error { .. } => unreachable!("there is none"),
            };
            atoms.iter().map(code_point).collect::<String>()
        };
        expected.push(error.map_or_else(|| Ok(text()), Err));
        bytes.extend_from_slice(&string.0);
    }
    // What is cut off may take an error with it.
    let whole = bytes.len();
    bytes.truncate(whole - usize::from(plan.missing % 4).min(whole));
    let mut codec = JavaUtfCodec::new();
    let (mut buffer, mut found) = (BytesMut::new(), Vec::new());
    let mut take = |item: Result<bytestring::ByteString, _>| {
        found.push(
            item.map(String::from)
                .map_err(|error: DialectError| (error.valid_up_to(), error.bytes().len())),
        );
    };
    for chunk in bytes.chunks(usize::from(plan.chunk).max(1)) {
        buffer.extend_from_slice(chunk);
        while let Some(item) = codec.decode(&mut buffer).expect("the stream has not ended") {
            take(item);
        }
    }
    let ended = loop {
        match codec.decode_eof(&mut buffer) {
            Ok(Some(item)) => take(item),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error.kind()),
        }
    };
    if bytes.len() == whole {
        assert_eq!((found, ended), (expected, Ok(())), "{plan:?}");
    } else {
        assert!(expected.starts_with(&found) || found.len() == expected.len(), "{plan:?}");
        let refused = found.len() == expected.len() && found.last().is_some_and(Result::is_err);
        assert!(ended.is_err() || refused || found.len() < expected.len(), "{plan:?}");
    }
}

// ---- fallback -----------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct FallbackPlan {
    extent: u8,
    limit: u8,
    chunks: Many<Bytes<60>>,
}

fn latin1(bytes: &[u8]) -> impl Iterator<Item = char> + '_ {
    bytes.iter().map(|&byte| char::from(byte))
}

pub fn fallback(plan: &FallbackPlan) {
    let encoding = LegacyEncoding::latin1();
    let fallback = match plan.extent % 3 {
        0 => Fallback::part(encoding),
        1 => Fallback::rest(encoding),
        _ => Fallback::line(encoding).with_max_length(plan.limit.into()),
    };
    let bytes: Vec<u8> = plan.chunks.iter().flat_map(|chunk| chunk.0.iter().copied()).collect();
    let decode = |chunks: &[&[u8]]| {
        let (mut decoder, mut text) = (FallbackDecoder::new(fallback), String::new());
        for chunk in chunks {
            decoder.push(chunk, &mut text).expect("everything is something in Latin-1");
        }
        decoder.finish(&mut text).expect("everything is something in Latin-1");
        assert_eq!((decoder.position(), decoder.held()), (bytes.len() as u64, &b""[..]));
        (text, decoder.report())
    };
    let whole = decode(&[&bytes]);
    let cut: Vec<&[u8]> = plan.chunks.iter().map(|chunk| &chunk.0[..]).collect();
    assert_eq!(decode(&cut), whole, "{bytes:02x?}");
    assert_eq!(decode(&bytes.chunks(1).collect::<Vec<_>>()), whole, "{bytes:02x?}");

    let mut codec = Utf8Codec::new().with_fallback(fallback);
    let (mut buffer, mut text) = (BytesMut::new(), String::new());
    for chunk in cut {
        buffer.extend_from_slice(chunk);
        while let Some(item) = codec.decode(&mut buffer).expect("as above") {
            text.push_str(&item);
        }
    }
    while let Some(item) = codec.decode_eof(&mut buffer).expect("as above") {
        text.push_str(&item);
    }
    assert!(buffer.is_empty(), "everything is accounted for at the end");
    assert_eq!((text, codec.fallback_report()), whole, "{bytes:02x?}");

    let mut expected = String::new();
    match plan.extent % 3 {
        0 => {
            for chunk in bytes.utf8_chunks() {
                expected.push_str(chunk.valid());
                expected.extend(latin1(chunk.invalid()));
            }
        }
        1 => match str::from_utf8(&bytes) {
            Ok(text) => expected.push_str(text),
            Err(error) => {
                let (text, rest) = bytes.split_at(error.valid_up_to());
                expected.push_str(str::from_utf8(text).expect("valid up to there"));
                expected.extend(latin1(rest));
            }
        },
        _ if plan.limit == u8::MAX && bytes.len() < 255 => {
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                match str::from_utf8(line) {
                    Ok(line) => expected.push_str(line),
                    Err(_) => expected.extend(latin1(line)),
                }
            }
        }
        _ => return,
    }
    assert_eq!(whole.0, expected, "{bytes:02x?}");
}

// ---- detection ----------------------------------------------------------------------------------

/// What a whole stream is, by the rules as they are documented.
fn kind(bytes: &[u8]) -> Kind {
    let is_binary = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
    match bytes {
        [] => Kind::Empty,
        [0xFF, 0xFE, 0, 0, ..] => Kind::Utf32Le,
        [0, 0, 0xFE, 0xFF, ..] => Kind::Utf32Be,
        [0xFF, 0xFE, ..] => Kind::Utf16Le,
        [0xFE, 0xFF, ..] => Kind::Utf16Be,
        _ if bytes.iter().any(is_binary) => Kind::Binary,
        _ if str::from_utf8(bytes).is_err() => Kind::Legacy,
        [0xEF, 0xBB, 0xBF, ..] => Kind::Utf8WithBom,
        _ if bytes.is_ascii() => Kind::Ascii,
        _ => Kind::Utf8,
    }
}

pub fn detector(chunks: &Many<Bytes<60>>) {
    let mut detector = Detector::new();
    let mut bytes = Vec::new();
    for chunk in chunks.iter() {
        let before = detector.so_far();
        let now = detector.push(&chunk.0);
        bytes.extend_from_slice(&chunk.0);
        let kept = before.kind() == now.kind() || before.may_become().contains(&now.kind());
        assert!(kept, "{before} became {now} by {bytes:02x?}");
        let mut at_once = Detector::new();
        assert_eq!(at_once.push(&bytes), now, "{bytes:02x?}");
        if now.is_certain() {
            assert_eq!(at_once.finish(), now.kind(), "{bytes:02x?}");
        }
    }
    assert_eq!(detector.position(), bytes.len() as u64);
    assert_eq!(detector.finish(), kind(&bytes), "{bytes:02x?}");
    detector.reset();
    assert_eq!(detector.finish(), Kind::Empty);
}

// ---- terminals ----------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct TerminalPlan {
    starts_in_utf8: bool,
    chunks: Many<Bytes<60>>,
}

/// Cuts do not show; and where no coding system is switched, the text is that of the one there is.
pub fn iso2022(plan: &TerminalPlan) {
    let start = if plan.starts_in_utf8 { CodingSystem::Utf8 } else { CodingSystem::Latin1 };
    let bytes: Vec<u8> = plan.chunks.iter().flat_map(|chunk| chunk.0.iter().copied()).collect();
    let decode = |chunks: &[&[u8]]| {
        let mut decoder = Iso2022Decoder::in_coding_system(start);
        let (mut text, mut errors) = (String::new(), Vec::new());
        let mut take = |text: &mut String, piece: Result<&str, _>| match piece {
            Ok(piece) => text.push_str(piece),
            Err(error) => {
                errors.push((text.len(), error));
                text.push('\u{FFFD}');
            }
        };
        for chunk in chunks {
            decoder.push(chunk).for_each(|piece| take(&mut text, piece));
        }
        if let Some(piece) = decoder.finish() {
            take(&mut text, piece);
        }
        assert_eq!(decoder.position(), bytes.len() as u64);
        assert_eq!(decoder.error_count(), errors.len() as u64);
        (text, errors, decoder.coding_system())
    };
    let whole = decode(&[&bytes]);
    let cut: Vec<&[u8]> = plan.chunks.iter().map(|chunk| &chunk.0[..]).collect();
    assert_eq!(decode(&cut), whole, "{bytes:02x?}");
    assert_eq!(decode(&bytes.chunks(1).collect::<Vec<_>>()), whole, "{bytes:02x?}");

    let switches = |part: &[u8]| part == b"\x1B%G" || part == b"\x1B%@";
    if !bytes.windows(3).any(switches) {
        let expected = match start {
            CodingSystem::Utf8 => String::from_utf8_lossy(&bytes).into_owned(),
            CodingSystem::Latin1 => latin1(&bytes).collect(),
        };
        assert_eq!((&whole.0, whole.2), (&expected, start), "{bytes:02x?}");
    }
}

// ---- boundaries ---------------------------------------------------------------------------------

/// Boundaries are those between what std takes bytes apart into; text is cut at none else.
pub fn boundaries(bytes: &Bytes<200>) {
    let bytes = &bytes.0[..];
    let mut ends = vec![0];
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        let lens = chunk.valid().chars().map(char::len_utf8).chain([chunk.invalid().len()]);
        for len in lens.filter(|len| *len > 0) {
            at += len;
            ends.push(at);
        }
    }
    for index in 0..bytes.len() + 3 {
        let floor = ends.iter().copied().rfind(|end| *end <= index).expect("0 is one");
        let ceil = ends.iter().copied().find(|end| *end >= index).unwrap_or(bytes.len());
        assert_eq!(boundary::floor(bytes, index), floor, "{bytes:02x?} at {index}");
        assert_eq!(boundary::ceil(bytes, index), ceil, "{bytes:02x?} at {index}");
        assert_eq!(
            boundary::is_boundary(bytes, index),
            ends.contains(&index),
            "{bytes:02x?} at {index}"
        );
    }
    let text = String::from_utf8_lossy(bytes);
    for limit in split::MIN_LIMIT..20 {
        let pieces: Vec<_> = split::at_most(&text, limit).collect();
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| (1..=limit).contains(&piece.len())), "{pieces:?}");
        assert_eq!(pieces.first().copied().unwrap_or_default(), split::truncate(&text, limit));
        // Each is as long as it can be.
        for pair in pieces.windows(2) {
            let next = pair[1].chars().next().expect("none is empty");
            assert!(pair[0].len() + next.len_utf8() > limit, "{pieces:?}");
        }
    }
}
