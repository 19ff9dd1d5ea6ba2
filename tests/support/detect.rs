//! What a stream is, by the rules of the detector as they are documented.

use utf8_codec::detect::Kind;

/// The rules, applied to the whole.
pub(crate) fn kind(bytes: &[u8]) -> Kind {
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

/// The same of a beginning, and what else it may become: an unfinished sequence at its end does not
/// count.
pub(crate) fn so_far(bytes: &[u8]) -> (Kind, &'static [Kind]) {
    use Kind::{Ascii, Binary, Legacy, Utf8, Utf8WithBom, Utf16Be, Utf16Le, Utf32Be, Utf32Le};
    let done = match str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    };
    let kind = match kind(bytes) {
        Legacy if done.is_empty() => Ascii,
        Legacy => kind(done),
        kind => kind,
    };
    let may_become: &[Kind] = match (bytes, kind) {
        ([], _) => &[Ascii, Utf8, Utf8WithBom, Utf16Le, Utf16Be, Utf32Le, Utf32Be, Legacy, Binary],
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
