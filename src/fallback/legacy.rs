//! Legacy encodings: how are bytes that are not UTF-8 decoded?
//!
//! A fallback may have to decode bytes again, so [`LegacyEncoding::decode`] keeps none in a decoder.

use alloc::string::String;
use core::ops::RangeInclusive;

use utf8_simd::Level;
use utf8_simd::text::{push_latin1, push_utf16};

use crate::decoder::{
    AtEnd, Scanner, SingleByte, Step, Strictness, Utf8Error, Utf8ErrorKind, WINDOWS_1252_C1,
};
#[cfg(feature = "encoding_rs")]
use crate::fallback::whatwg;

/// The encoding of text that is not UTF-8.
///
/// Every encoding that can be constructed agrees with ASCII: a byte below 80 is an ASCII character,
/// unless it is part of a longer character.
///
/// # Examples
///
/// ```
/// use utf8_codec::ErrorMode;
/// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
///
/// let read = |encoding| {
///     let mut text = String::new();
///     let mut decoder = FallbackDecoder::rest(encoding);
///     let _done = decoder.push_to_string(b"\x80 caf\xE9", ErrorMode::Fatal, &mut text);
///     text
/// };
/// assert_eq!(read(LegacyEncoding::windows_1252()), "€ café");
/// assert_eq!(read(LegacyEncoding::latin1()), "\u{80} café");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct LegacyEncoding(pub(super) Table);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Table {
    Latin1,
    Windows1252,
    #[cfg(feature = "encoding_rs")]
    Whatwg(&'static encoding_rs::Encoding),
}

/// The result of [`LegacyEncoding::decode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// The number of bytes read. The others, at most three, may still become a character.
    pub(super) read: usize,
    /// The number of U+FFFD written for bytes that are not characters.
    pub(super) replaced: u64,
}

impl LegacyEncoding {
    /// ISO 8859-1: each byte is the character with the same value. Never fails.
    pub const fn latin1() -> Self {
        Self(Table::Latin1)
    }

    /// Windows-1252, the encoding of Western Windows. The Web decodes Latin-1 in this encoding.
    /// Bytes 81, 8D, 8F, 90 and 9D are C1 controls, as in the WHATWG index. Never fails.
    pub const fn windows_1252() -> Self {
        Self(Table::Windows1252)
    }

    /// An encoding of the WHATWG Encoding Standard. Returns `None` for those that a stream cannot
    /// fall back to: UTF-8 itself, and those that do not agree with ASCII (UTF-16, ISO-2022-JP,
    /// replacement).
    ///
    /// Bytes that are not characters in the encoding are replaced by U+FFFD and [counted].
    ///
    /// [counted]: crate::fallback::FallbackUses::replaced
    ///
    /// # Examples
    ///
    /// ```
    /// use encoding_rs::{SHIFT_JIS, UTF_16LE};
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    ///
    /// assert_eq!(LegacyEncoding::whatwg(UTF_16LE), None);
    /// let encoding = LegacyEncoding::whatwg(SHIFT_JIS).unwrap();
    ///
    /// let mut decoder = FallbackDecoder::rest(encoding);
    /// let mut text = String::new();
    /// for chunk in [&b"\x93"[..], b"\xFA\x96\x7B"] {
    ///     let _done = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
    /// }
    /// assert_eq!(text, "日本");
    /// ```
    #[cfg(feature = "encoding_rs")]
    pub fn whatwg(encoding: &'static encoding_rs::Encoding) -> Option<Self> {
        let is_fit = encoding.is_ascii_compatible() && encoding != encoding_rs::UTF_8;
        is_fit.then_some(Self(Table::Whatwg(encoding)))
    }

    /// Returns the name of the encoding.
    pub fn name(self) -> &'static str {
        match self.0 {
            Table::Latin1 => "ISO-8859-1",
            Table::Windows1252 => "windows-1252",
            #[cfg(feature = "encoding_rs")]
            Table::Whatwg(encoding) => encoding.name(),
        }
    }

    /// Returns the encoding if the decoder of UTF-8 can decode ill-formed parts in it.
    pub(super) fn single_byte(self) -> Option<SingleByte> {
        match self.0 {
            Table::Latin1 => Some(SingleByte::Latin1),
            Table::Windows1252 => Some(SingleByte::Windows1252),
            #[cfg(feature = "encoding_rs")]
            Table::Whatwg(_) => None,
        }
    }

    /// Appends the text of `bytes`, the first of which begins a character, up to the first character that `strictness`
    /// rejects.
    ///
    /// Keeps nothing between calls: bytes that more bytes may complete are not read.
    ///
    /// # Errors
    ///
    /// If the first character is rejected: its length in bytes, and the kind of error.
    pub(super) fn decode(
        self,
        bytes: &[u8],
        at_end: AtEnd,
        strictness: Strictness,
        text: &mut String,
    ) -> Result<Decoded, (usize, Utf8ErrorKind)> {
        let before = text.len();
        let decoded = self.decode_all(bytes, at_end, text);
        if strictness.is_off() || strictness.find_rejected(&text[before..]).is_none() {
            return Ok(decoded);
        }
        text.truncate(before);
        self.decode_by_character(bytes, at_end, strictness, text)
    }

    /// Like [`decode`](Self::decode), for bytes one of which encodes a rejected character.
    fn decode_by_character(
        self,
        bytes: &[u8],
        at_end: AtEnd,
        strictness: Strictness,
        text: &mut String,
    ) -> Result<Decoded, (usize, Utf8ErrorKind)> {
        let (mut rest, mut total) = (bytes, Decoded { read: 0, replaced: 0 });
        loop {
            let before = text.len();
            let prefixes = (1..=rest.len().min(4)).map(|len| (&rest[..len], AtEnd::No));
            let decoded = prefixes
                .chain([(rest, at_end)])
                .map(|(bytes, at_end)| self.decode_all(bytes, at_end, text))
                .find(|decoded| decoded.read > 0);
            let Some(decoded) = decoded else { return Ok(total) };
            if let Some((_, _, kind)) = strictness.find_rejected(&text[before..]) {
                text.truncate(before);
                return if total.read > 0 { Ok(total) } else { Err((decoded.read, kind)) };
            }
            total.read += decoded.read;
            total.replaced += decoded.replaced;
            rest = &rest[decoded.read..];
        }
    }

    /// Appends the text of `bytes`, whatever the characters.
    fn decode_all(self, bytes: &[u8], at_end: AtEnd, text: &mut String) -> Decoded {
        match self.0 {
            Table::Latin1 => decode_bytes(None, bytes, text),
            Table::Windows1252 => decode_bytes(Some(&WINDOWS_1252_C1), bytes, text),
            #[cfg(feature = "encoding_rs")]
            Table::Whatwg(encoding) => {
                let (read, replaced) = whatwg::decode(encoding, bytes, at_end, text);
                return Decoded { read, replaced };
            }
        }
        Decoded { read: bytes.len(), replaced: 0 }
    }
}

impl LegacyEncoding {
    /// Decodes the beginning of `input` in the legacy encoding, at most up to and including the first `line_end`. Moves
    /// past it, and appends the text. Returns the error of a rejected character at the front.
    #[inline(always)]
    pub(super) fn step(
        self,
        scanner: &mut Scanner,
        input: &[u8],
        line_end: Option<u8>,
        at_end: AtEnd,
        text: &mut String,
    ) -> Step<Decoded> {
        let start = scanner.position();
        let window = &input[..input.len().min(most_at_once(scanner))];
        let taken = match scanner.step_legacy(window, line_end) {
            Step::Skip(len) => &window[..len],
            Step::Error(error) => return Step::Error(error),
            Step::Text(_) | Step::NeedMore => b"",
        };
        let ends_line = line_end.is_some() && taken.last().copied() == line_end;
        let at_end = match taken.len() {
            len if ends_line || len < window.len() => AtEnd::Other,
            len if len < input.len() => AtEnd::No,
            _ => at_end,
        };
        scanner.seek(start);
        self.decode_at(scanner, taken, at_end, text)
    }

    /// Like [`step`](Self::step), for bytes without rejected ASCII.
    #[inline(always)]
    pub(super) fn decode_at(
        self,
        scanner: &mut Scanner,
        bytes: &[u8],
        at_end: AtEnd,
        text: &mut String,
    ) -> Step<Decoded> {
        let strictness = scanner.options().strictness();
        match self.decode(bytes, at_end, strictness, text) {
            Ok(Decoded { read: 0, .. }) => Step::NeedMore,
            Ok(decoded) => {
                scanner.skip(decoded.read);
                Step::Text(decoded)
            }
            Err((len, kind)) => {
                let error = Utf8Error::new(scanner.position(), kind, &bytes[..len], None);
                scanner.skip(len);
                Step::Error(error)
            }
        }
    }
}

/// Returns the most bytes that are decoded at once in the legacy encoding. If characters can be rejected, it is few,
/// because those after a rejected one are decoded again.
pub(super) fn most_at_once(scanner: &Scanner) -> usize {
    if scanner.options().strictness().is_off() { usize::MAX } else { 32 }
}

/// Decodes each byte as the character of the same number, except for 80 to 9F if `c1` has others.
pub(crate) fn decode_bytes(c1: Option<&[char; 32]>, bytes: &[u8], text: &mut String) {
    /// Up to this many bytes, a call takes longer. Rows `fallback-part`.
    const FEW: usize = 16;
    if bytes.len() <= FEW {
        bytes.iter().for_each(|&byte| text.push(char_of(c1, byte)));
        return;
    }
    let level = Level::detect();
    for block in bytes.chunks(BLOCK) {
        match c1 {
            Some(c1) if block.iter().fold(false, |found, byte| found | C1.contains(byte)) => {
                decode_block(level, c1, block, text);
            }
            _ => push_latin1(level, block, text),
        }
    }
}

/// The bytes that are tested for C1 together: most lines. Rows `fallback-line`.
const BLOCK: usize = 128;

/// The bytes to which [`decode_bytes`] gives other characters than Latin-1.
const C1: RangeInclusive<u8> = 0x80..=0x9F;

fn char_of(c1: Option<&[char; 32]>, byte: u8) -> char {
    match c1 {
        Some(c1) if C1.contains(&byte) => c1[usize::from(byte - C1.start())],
        _ => char::from(byte),
    }
}

/// Decodes a block by way of UTF-16, for which levels are fast.
fn decode_block(level: Level, c1: &[char; 32], block: &[u8], text: &mut String) {
    let mut units = [0; BLOCK];
    let units = &mut units[..block.len()];
    for (unit, &byte) in units.iter_mut().zip(block) {
        *unit = char_of(Some(c1), byte) as u16;
    }
    // A unit has at most three bytes.
    text.reserve(3 * block.len());
    push_utf16(level, units, None, text);
}
