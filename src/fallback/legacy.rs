//! Legacy encodings: how are bytes that are not UTF-8 decoded?
//!
//! This is the only file that calls encoding_rs. [`LegacyEncoding::decode`] is for a
//! [fallback](crate::fallback), which may have to decode bytes again and so keeps none in a
//! decoder. `LegacyDecoder` is for streams that are in a legacy encoding from the start, such as
//! HTTP bodies. It reports errors.

use alloc::string::String;
use core::fmt;
use core::ops::RangeInclusive;

use crate::decoder::error::Utf8ErrorKind;
use crate::decoder::mode::WINDOWS_1252_C1;
use crate::decoder::options::Strictness;
use crate::decoder::step::AtEnd;
use crate::decoder::text::{Level, push_utf16};
use crate::decoder::utf8_decoder::lossy::SingleByte;

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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LegacyEncoding(Table);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Table {
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
    #[must_use]
    pub const fn latin1() -> Self {
        Self(Table::Latin1)
    }

    /// Windows-1252, the encoding of Western Windows. The Web decodes Latin-1 in this encoding.
    /// Bytes 81, 8D, 8F, 90 and 9D are C1 controls, as in the WHATWG index. Never fails.
    #[must_use]
    pub const fn windows_1252() -> Self {
        Self(Table::Windows1252)
    }

    /// An encoding of the WHATWG Encoding Standard. Returns `None` for those that a stream cannot
    /// fall back to: UTF-8 itself, and those that do not agree with ASCII (UTF-16, ISO-2022-JP,
    /// replacement).
    ///
    /// Bytes that are not characters in the encoding are replaced by U+FFFD and [counted].
    ///
    /// [counted]: crate::fallback::FallbackDecoder::replaced_count
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
    #[must_use]
    pub fn whatwg(encoding: &'static encoding_rs::Encoding) -> Option<Self> {
        let is_fit = encoding.is_ascii_compatible() && encoding != encoding_rs::UTF_8;
        is_fit.then_some(Self(Table::Whatwg(encoding)))
    }

    /// Returns the encoding with this label of the WHATWG Encoding Standard. Returns `None` if
    /// there is none, if it must not be decoded (replacement), or without the feature
    /// `encoding_rs`. Unlike those of the public constructors, it may disagree with ASCII.
    #[cfg(feature = "http-body")]
    pub(crate) fn for_label(label: &[u8]) -> Option<Self> {
        #[cfg(feature = "encoding_rs")]
        {
            let encoding = encoding_rs::Encoding::for_label_no_replacement(label)?;
            Some(Self(Table::Whatwg(encoding)))
        }
        #[cfg(not(feature = "encoding_rs"))]
        {
            let _ = label;
            None
        }
    }

    /// Returns the name of the encoding.
    #[must_use]
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
    #[cfg_attr(
        not(feature = "encoding_rs"),
        allow(unused_variables, reason = "every character is one byte")
    )]
    fn decode_all(self, bytes: &[u8], at_end: AtEnd, text: &mut String) -> Decoded {
        match self.0 {
            Table::Latin1 => decode_bytes(None, bytes, text),
            Table::Windows1252 => decode_bytes(Some(&WINDOWS_1252_C1), bytes, text),
            #[cfg(feature = "encoding_rs")]
            Table::Whatwg(encoding) => whatwg::decode(encoding, bytes, at_end, text),
        }
    }
}

/// Decodes each byte as the character of the same number, except for 80 to 9F if `c1` has others.
///
/// Bytes become UTF-16 units first, which a level encodes. Rows `windows-1252` of
/// `benches/scenarios/fallback.rs`.
fn decode_bytes(c1: Option<&[char; 32]>, bytes: &[u8], text: &mut String) -> Decoded {
    /// Up to this many bytes, clearing the units costs more than it saves. Rows `fallback-part`.
    const FEW: usize = 16;
    /// The bytes of most lines. Rows `fallback-line`.
    const LINE: usize = 128;
    const BLOCK: usize = 512;
    if bytes.len() <= FEW {
        bytes.iter().for_each(|&byte| text.push(char_of(c1, byte)));
    } else if bytes.len() <= LINE {
        decode_block::<LINE>(c1, bytes, text);
    } else {
        text.reserve(bytes.len());
        bytes.chunks(BLOCK).for_each(|block| decode_block::<BLOCK>(c1, block, text));
    }
    Decoded { read: bytes.len(), replaced: 0 }
}

/// The bytes to which [`decode_bytes`] gives other characters than Latin-1.
const C1: RangeInclusive<u8> = 0x80..=0x9F;

fn char_of(c1: Option<&[char; 32]>, byte: u8) -> char {
    match c1 {
        Some(c1) if C1.contains(&byte) => c1[usize::from(byte - C1.start())],
        _ => char::from(byte),
    }
}

/// Decodes at most `N` bytes by way of UTF-16, for which levels are fast.
fn decode_block<const N: usize>(c1: Option<&[char; 32]>, block: &[u8], text: &mut String) {
    let mut units = [0; N];
    let units = &mut units[..block.len()];
    for (unit, &byte) in units.iter_mut().zip(block) {
        *unit = u16::from(byte);
    }
    if c1.is_some() && block.iter().fold(false, |found, byte| found | C1.contains(byte)) {
        for (unit, &byte) in units.iter_mut().zip(block) {
            *unit = char_of(c1, byte) as u16;
        }
    }
    let level = Level::detect();
    text.reserve(block.len());
    let read = push_utf16(level, units, text);
    if read < units.len() {
        // A unit has at most three bytes.
        text.reserve(3 * (units.len() - read));
        push_utf16(level, &units[read..], text);
    }
}

impl fmt::Debug for LegacyEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LegacyEncoding").field(&self.name()).finish()
    }
}

#[cfg(feature = "encoding_rs")]
mod whatwg {
    use alloc::string::String;
    use core::slice;

    use encoding_rs::{Decoder, DecoderResult, Encoding};

    use super::{AtEnd, Decoded};
    use utf8_simd::valid_prefix;

    /// Decodes `bytes` with a new decoder each time, so that no decoder keeps any of them.
    ///
    /// A decoder does not return the bytes it keeps, only whether it keeps any. So the last bytes
    /// are pushed one by one, and the result ends where the decoder last kept none.
    pub(super) fn decode(
        encoding: &'static Encoding,
        bytes: &[u8],
        at_end: AtEnd,
        text: &mut String,
    ) -> Decoded {
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let mut block = [0; BLOCK];
        if at_end == AtEnd::Yes || encoding.is_single_byte() {
            let replaced = feed(&mut decoder, bytes, AtEnd::Yes, &mut block, text);
            return Decoded { read: bytes.len(), replaced };
        }
        let (bulk, last) = bytes.split_at(bytes.len().saturating_sub(LAST));
        let mut neutral = (0, 0, text.len());
        let mut replaced = feed(&mut decoder, bulk, AtEnd::No, &mut block, text);
        for (at, byte) in last.iter().enumerate() {
            if keeps_nothing(&decoder) {
                neutral = (bulk.len() + at, replaced, text.len());
            }
            replaced += feed(&mut decoder, slice::from_ref(byte), AtEnd::No, &mut block, text);
        }
        if keeps_nothing(&decoder) {
            neutral = (bytes.len(), replaced, text.len());
        }
        let (read, replaced, text_len) = neutral;
        text.truncate(text_len);
        Decoded { read, replaced }
    }

    /// Twice the length of the longest character, minus one: some character ends among the last
    /// bytes.
    const LAST: usize = 7;

    fn keeps_nothing(decoder: &Decoder) -> bool {
        decoder.latin1_byte_compatible_up_to(b"").is_some()
    }

    /// Decodes all of `bytes` and returns the number of U+FFFD written.
    ///
    /// It decodes to `block` rather than to the spare capacity of `text`, because encoding_rs would
    /// zero all of that in each call.
    fn feed(
        decoder: &mut Decoder,
        bytes: &[u8],
        at_end: AtEnd,
        block: &mut [u8; BLOCK],
        text: &mut String,
    ) -> u64 {
        let last = at_end == AtEnd::Yes;
        let (mut rest, mut replaced) = (bytes, 0);
        loop {
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(rest, block, last);
            text.push_str(valid_prefix(&block[..written]).0);
            rest = &rest[read..];
            match result {
                DecoderResult::InputEmpty => return replaced,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    replaced += 1;
                }
            }
        }
    }

    const BLOCK: usize = 1024;
}

/// Decodes a stream in a legacy encoding, and reports each ill-formed part.
///
/// Between calls it keeps the beginning of a split character. An initial U+FEFF is text. In UTF-16
/// it also determines the byte order, whatever the name of the encoding, since U+FFFE does not
/// occur in text. After the end of a stream it can decode another. Offsets keep counting.
#[cfg(feature = "http-body")]
pub(crate) struct LegacyDecoder {
    encoding: LegacyEncoding,
    #[cfg(feature = "encoding_rs")]
    decoder: Option<encoding_rs::Decoder>,
    /// The number of bytes decoded.
    position: u64,
    /// The last of these bytes, most recent last: an error may be reported some bytes late.
    #[cfg(feature = "encoding_rs")]
    recent: [u8; 6],
}

/// The result of [`LegacyDecoder::decode`].
#[cfg(feature = "http-body")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LegacyStatus {
    /// All bytes have been decoded.
    Done,
    /// The text has no capacity left.
    Full,
    /// The decoder stopped after an ill-formed part, which one U+FFFD replaces (WHATWG).
    #[cfg(feature = "encoding_rs")]
    IllFormed {
        /// The offset of the part in the stream.
        offset: u64,
        /// The bytes of the part, then zeros.
        bytes: [u8; 4],
        /// The number of bytes in the part, one to four.
        len: usize,
    },
}

#[cfg(feature = "http-body")]
impl LegacyDecoder {
    pub(crate) fn new(encoding: LegacyEncoding) -> Self {
        Self {
            encoding,
            #[cfg(feature = "encoding_rs")]
            decoder: match encoding.0 {
                Table::Whatwg(encoding) => Some(encoding.new_decoder_without_bom_handling()),
                Table::Latin1 | Table::Windows1252 => None,
            },
            position: 0,
            #[cfg(feature = "encoding_rs")]
            recent: [0; 6],
        }
    }

    /// Returns the encoding. The byte order of UTF-16 is that of the BOM, once it has been decoded.
    pub(crate) fn encoding(&self) -> LegacyEncoding {
        #[cfg(feature = "encoding_rs")]
        if let Some(decoder) = &self.decoder {
            return LegacyEncoding(Table::Whatwg(decoder.encoding()));
        }
        self.encoding
    }

    /// Returns the capacity that the text of `bytes` bytes needs, but not much more than `most`.
    pub(crate) const fn room(bytes: usize, most: usize) -> usize {
        let text = bytes.saturating_mul(3);
        (if text < most { text } else { most }) + 16
    }

    /// Decodes `bytes` and appends the text to `text`, as far as its capacity allows. Returns the
    /// number of bytes decoded.
    ///
    /// With [`AtEnd::Yes`], [`LegacyStatus::Done`] ends the stream.
    #[cfg_attr(
        not(feature = "encoding_rs"),
        allow(unused_variables, reason = "every character is one byte")
    )]
    pub(crate) fn decode(
        &mut self,
        bytes: &[u8],
        at_end: AtEnd,
        text: &mut String,
    ) -> (usize, LegacyStatus) {
        let c1 = match self.encoding.0 {
            Table::Latin1 => None,
            Table::Windows1252 => Some(&WINDOWS_1252_C1),
            #[cfg(feature = "encoding_rs")]
            Table::Whatwg(_) => return self.decode_whatwg(bytes, at_end, text),
        };
        // Each byte becomes a character of at most three bytes.
        let fits = bytes.len().min((text.capacity() - text.len()) / 3);
        decode_bytes(c1, &bytes[..fits], text);
        self.position += fits as u64;
        let is_done = fits == bytes.len();
        (fits, if is_done { LegacyStatus::Done } else { LegacyStatus::Full })
    }

    #[cfg(feature = "encoding_rs")]
    fn decode_whatwg(
        &mut self,
        bytes: &[u8],
        at_end: AtEnd,
        text: &mut String,
    ) -> (usize, LegacyStatus) {
        use encoding_rs::{DecoderResult, UTF_16BE, UTF_16LE};

        let mut total = 0;
        loop {
            let Some(decoder) = &mut self.decoder else { return (total, LegacyStatus::Done) };
            let encoding = decoder.encoding();
            let order_is_open = self.position < 2 && (encoding == UTF_16LE || encoding == UTF_16BE);
            let rest = &bytes[total..];
            let window = match order_is_open {
                true => rest.len().min(2 - self.position as usize),
                false => rest.len(),
            };
            let (before, is_part) = (text.len(), window < rest.len());
            let last = at_end == AtEnd::Yes && !is_part;
            let (result, read) =
                decoder.decode_to_string_without_replacement(&rest[..window], text, last);
            if order_is_open && &text[before..] == "\u{FFFE}" {
                let other = if encoding == UTF_16LE { UTF_16BE } else { UTF_16LE };
                *decoder = other.new_decoder_without_bom_handling();
                text.replace_range(before.., "\u{FEFF}");
            } else if last && result == DecoderResult::InputEmpty {
                *decoder = encoding.new_decoder_without_bom_handling();
            }
            self.consume(&rest[..read]);
            total += read;
            match result {
                DecoderResult::InputEmpty if is_part => {}
                DecoderResult::InputEmpty => return (total, LegacyStatus::Done),
                DecoderResult::OutputFull => return (total, LegacyStatus::Full),
                DecoderResult::Malformed(len, late) => {
                    return (total, self.ill_formed(len.into(), late.into()));
                }
            }
        }
    }

    #[cfg(feature = "encoding_rs")]
    fn consume(&mut self, bytes: &[u8]) {
        let latest = &bytes[bytes.len().saturating_sub(self.recent.len())..];
        self.recent.rotate_left(latest.len());
        let kept = self.recent.len() - latest.len();
        self.recent[kept..].copy_from_slice(latest);
        self.position += bytes.len() as u64;
    }

    /// Creates the status for the part of `len` bytes that ends `late` bytes before the position.
    #[cfg(feature = "encoding_rs")]
    fn ill_formed(&self, len: usize, late: usize) -> LegacyStatus {
        let end = self.recent.len() - late;
        let mut bytes = [0; 4];
        bytes[..len].copy_from_slice(&self.recent[end - len..end]);
        LegacyStatus::IllFormed { offset: self.position - (len + late) as u64, bytes, len }
    }
}

#[cfg(feature = "http-body")]
impl fmt::Debug for LegacyDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LegacyDecoder")
            .field("encoding", &self.encoding.name())
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "http-body"))]
mod tests {
    use super::*;

    #[test]
    fn reserved_room_does_not_overflow() {
        assert_eq!(LegacyDecoder::room(0, 100), 16);
        assert_eq!(LegacyDecoder::room(5, 100), 31);
        assert_eq!(LegacyDecoder::room(usize::MAX / 2, 100), 116);
        // Three times this, wrapped, is 2.
        assert_eq!(LegacyDecoder::room(usize::MAX / 3 + 1, 100), 116);
        assert_eq!(LegacyDecoder::room(usize::MAX, 100), 116);
    }

    #[test]
    fn tables_decode_as_much_as_fits() {
        for encoding in [LegacyEncoding::latin1(), LegacyEncoding::windows_1252()] {
            let mut decoder = LegacyDecoder::new(encoding);
            let (mut text, mut rest) = (String::new(), &b"caf\xE9 \x80 \xFF\x00 and more"[..]);
            let mut whole = String::new();
            encoding.decode(rest, AtEnd::Yes, Strictness::new(), &mut whole).unwrap();
            loop {
                let mut piece = String::with_capacity(10);
                piece.push_str(">> ");
                let capacity = piece.capacity();
                let (read, status) = decoder.decode(rest, AtEnd::No, &mut piece);
                assert_eq!(read, rest.len().min((capacity - 3) / 3));
                assert_eq!(piece.capacity(), capacity);
                text += &piece[3..];
                rest = &rest[read..];
                if status == LegacyStatus::Done {
                    break;
                }
            }
            assert_eq!((text, decoder.position), (whole, 18));
        }
    }
}
