//! Fallbacks, the detector, the terminal's decoder, boundaries.

use arbitrary::Arbitrary;
use bytes::BytesMut;
use tokio_util::codec::Decoder;
use utf8_codec::codec::Utf8Codec;
use utf8_codec::detect::{Detector, Kind};
use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
use utf8_codec::{CodingSystem, Iso2022Decoder, boundary, split};

use super::input::{Bytes, Many};

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
