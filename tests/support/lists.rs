//! All modes and dialects, parts of hostile input, a text in many scripts, work for many values, codecs over chunks, and the
//! rules of the detector.

#![allow(dead_code, reason = "each test binary uses its own part")]

#[path = "../../crates/utf8-simd/tests/support/mod.rs"]
mod support;

#[allow(unused_imports, reason = "each test binary uses its own part")]
pub(crate) use support::{FILLS, MULTILINGUAL, Random, assert_linear, fill_to, sum_of};
use utf8_codec::ErrorMode;
use utf8_codec::dialect::Dialect;

pub(crate) const MODES: [ErrorMode; 6] = [
    ErrorMode::Fatal,
    ErrorMode::Replacement,
    ErrorMode::Skip,
    ErrorMode::Escape,
    ErrorMode::Latin1,
    ErrorMode::Windows1252,
];

/// All but `Fatal`.
pub(crate) const LOSSY: [ErrorMode; 5] = {
    let [ErrorMode::Fatal, lossy @ ..] = MODES else { panic!() };
    lossy
};

pub(crate) const DIALECTS: [Dialect; 6] = [
    Dialect::Rfc2279,
    Dialect::Cesu8,
    Dialect::ModifiedUtf8,
    Dialect::Wtf8,
    Dialect::Utf8b,
    Dialect::SurrogatePass,
];

/// Both sides of every limit: of sequences, BOMs, delimiters, and the dialects.
pub(crate) const PARTS: &[&[u8]] = &[
    b"a",
    b"plain text, ",
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\x01",
    b"\x7F",
    b"\x1B%G",
    b"\x1B%@",
    b"\x1B%",
    b"\x1B",
    b"\x1B$B",
    b"\x1B(J",
    b"\x81\x30\x81\x30",
    b"\x8F\xA2\xAF",
    b"\x00\xD8\x00\xDC",
    b"--",
    b"aa",
    b"\xEF\xBB\xBF",
    b"\xEF\xBB",
    b"\xEF",
    b"\xBB",
    b"\xBF",
    b"\x80",
    b"\xC2\x80",
    b"\xC2\x85",
    b"\xC2",
    b"\xC0\x80",
    b"\xC0",
    b"\xC1\xBF",
    b"\xC3\xA9",
    b"\xDF\xBF",
    b"\xE0\x80",
    b"\xE0\x9F\xBF",
    b"\xE0\xA0\x80",
    b"\xE0\xA0",
    b"\xE0",
    b"\xE2\x82\xAC",
    b"\xE2\x82",
    b"\xED\x9F\xBF",
    b"\xED\xA0\x80",
    b"\xED\xA0\xBD",
    b"\xED\xB8\x80",
    b"\xED\xA0\xBD\xED\xB8\x80",
    b"\xED\xA0",
    b"\xED",
    b"\xEE\x80\x80",
    b"\xEF\xB7\x90",
    b"\xEF\xBF\xBF",
    b"\xEF\xBF\xBD",
    b"\xF0\x90\x80\x80",
    b"\xF0\x9F\x98\x80",
    b"\xF0\x9F\x98",
    b"\xF0\x9F",
    b"\xF0",
    b"\xF0\x8F",
    b"\xF4\x8F\xBF\xBF",
    b"\xF4\x8F\xBF\xBE",
    b"\xF4\x90",
    b"\xF4",
    b"\xF5",
    b"\xF7\xBF\xBF\xBF",
    b"\xF8\x88\x80\x80\x80",
    b"\xFC\x84\x80\x80\x80\x80",
    b"\xFD",
    b"\xFE",
    b"\xFE\xFF",
    b"\xFF",
    b"\xFF\xFE",
    b"\xFF\xFE\0\0",
    b"\0\0\xFE\xFF",
    b"\xE9",
    b"\x93\xFA",
];

/// The items and the errors of a codec over chunks, in order, to the end.
#[cfg(feature = "codec")]
pub(crate) fn outcomes<'a, C: tokio_util::codec::Decoder>(
    codec: &mut C,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Result<C::Item, C::Error>> {
    let (mut buffer, mut outcomes) = (bytes::BytesMut::new(), Vec::new());
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        while let Some(outcome) = codec.decode(&mut buffer).transpose() {
            outcomes.push(outcome);
        }
    }
    while let Some(outcome) = codec.decode_eof(&mut buffer).transpose() {
        outcomes.push(outcome);
    }
    assert!(buffer.is_empty(), "no byte is left over at the end");
    outcomes
}

/// The items of a codec without errors over chunks.
#[cfg(feature = "codec")]
pub(crate) fn decoded<'a, C>(
    mut codec: C,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<C::Item>
where
    C: tokio_util::codec::Decoder<Error: std::fmt::Debug>,
{
    outcomes(&mut codec, chunks).into_iter().map(Result::unwrap).collect()
}

/// A model of the detector: its documented rules.
pub(crate) mod detector {
    use utf8_codec::detect::{Detector, StreamKind};

    /// The answer of a detector: the kind, and the kinds it can still become.
    pub(crate) type Answer = (StreamKind, &'static [StreamKind]);

    pub(crate) fn answer(detector: &Detector) -> Answer {
        (detector.kind(), detector.may_become())
    }

    /// The rules, applied to the whole input.
    pub(crate) fn kind(bytes: &[u8]) -> StreamKind {
        let is_binary = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
        match bytes {
            [] => StreamKind::Empty,
            [0xFF, 0xFE, 0, 0, ..] => StreamKind::Utf32Le,
            [0, 0, 0xFE, 0xFF, ..] => StreamKind::Utf32Be,
            [0xFF, 0xFE, ..] => StreamKind::Utf16Le,
            [0xFE, 0xFF, ..] => StreamKind::Utf16Be,
            _ if bytes.iter().any(is_binary) => StreamKind::Binary,
            _ if str::from_utf8(bytes).is_err() => StreamKind::Legacy,
            [0xEF, 0xBB, 0xBF, ..] => StreamKind::Utf8WithBom,
            _ if bytes.is_ascii() => StreamKind::Ascii,
            _ => StreamKind::Utf8,
        }
    }

    /// The kind of a prefix, and the kinds it can still become. An incomplete sequence at the end is
    /// ignored.
    pub(crate) fn so_far(bytes: &[u8]) -> (StreamKind, &'static [StreamKind]) {
        use StreamKind::{
            Ascii, Binary, Legacy, Utf8, Utf8WithBom, Utf16Be, Utf16Le, Utf32Be, Utf32Le,
        };
        let done = match str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
            _ => bytes,
        };
        let kind = match kind(bytes) {
            Legacy if done.is_empty() => Ascii,
            Legacy => kind(done),
            kind => kind,
        };
        let may_become: &[StreamKind] = match (bytes, kind) {
            ([], _) => {
                &[Ascii, Utf8, Utf8WithBom, Utf16Le, Utf16Be, Utf32Le, Utf32Be, Legacy, Binary]
            }
            ([0xFE], _) => &[Utf16Be, Binary],
            ([0xFF], _) => &[Utf16Le, Utf32Le, Binary],
            ([0xFF, 0xFE] | [0xFF, 0xFE, 0], _) => &[Utf32Le],
            ([0] | [0, 0] | [0, 0, 0xFE], _) => &[Utf32Be],
            ([0xEF] | [0xEF, 0xBB], _) => &[Utf8, Utf8WithBom, Legacy, Binary],
            (_, Ascii) => &[Utf8, Legacy, Binary],
            (_, Utf8 | Utf8WithBom) => &[Legacy, Binary],
            (_, Legacy) => &[Binary],
            _ => &[],
        };
        (kind, may_become)
    }
}
