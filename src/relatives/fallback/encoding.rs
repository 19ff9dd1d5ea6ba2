use alloc::string::String;
use core::fmt;

use crate::core::mode::{EVERY_LATIN1, EVERY_WINDOWS_1252};
use crate::kernel::Kernel;
use crate::unchecked::{ShortText, split_far};

/// What text that is not UTF-8 is read as.
///
/// All of them agree with ASCII: bytes below 80 that stand by themselves are ASCII characters.
///
/// # Examples
///
/// ```
/// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
///
/// let read = |encoding| {
///     let mut text = String::new();
///     FallbackDecoder::new(Fallback::rest(encoding)).push(b"\x80 caf\xE9", &mut text).unwrap();
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

/// What stands behind bytes that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// Bytes to come, which may belong to them.
    More,
    /// Nothing that may belong to them.
    Nothing,
}

/// What has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// So many bytes. The others, three at the most, may still become a character.
    pub(super) read: usize,
    /// How many U+FFFD stand for what is no character.
    pub(super) replaced: u64,
}

impl LegacyEncoding {
    /// ISO 8859-1: each byte is the code point of its value. Never fails.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(utf8_codec::fallback::LegacyEncoding::latin1().name(), "ISO-8859-1");
    /// ```
    #[must_use]
    pub const fn latin1() -> Self {
        Self(Table::Latin1)
    }

    /// The encoding of Western Windows, which the Web takes Latin-1 for (WHATWG's index: 81, 8D, 8F,
    /// 90 and 9D are C1 controls). Never fails.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(utf8_codec::fallback::LegacyEncoding::windows_1252().name(), "windows-1252");
    /// ```
    #[must_use]
    pub const fn windows_1252() -> Self {
        Self(Table::Windows1252)
    }

    /// An encoding of the WHATWG Encoding Standard, or `None` for those a stream cannot fall back
    /// to: UTF-8 itself, and those that do not agree with ASCII (UTF-16, ISO-2022-JP, replacement).
    ///
    /// What is no character in it is read as U+FFFD, and [counted].
    ///
    /// [counted]: crate::fallback::FallbackReport::replaced
    ///
    /// # Examples
    ///
    /// ```
    /// use encoding_rs::{SHIFT_JIS, UTF_16LE};
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// assert_eq!(LegacyEncoding::whatwg(UTF_16LE), None);
    /// let encoding = LegacyEncoding::whatwg(SHIFT_JIS).unwrap();
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::rest(encoding));
    /// let mut text = String::new();
    /// for chunk in [&b"\x93"[..], b"\xFA\x96\x7B"] {
    ///     decoder.push(chunk, &mut text).unwrap();
    /// }
    /// assert_eq!(text, "日本");
    /// ```
    #[cfg(feature = "encoding_rs")]
    #[must_use]
    pub fn whatwg(encoding: &'static encoding_rs::Encoding) -> Option<Self> {
        let is_fit = encoding.is_ascii_compatible() && encoding != encoding_rs::UTF_8;
        is_fit.then_some(Self(Table::Whatwg(encoding)))
    }

    /// Returns the name of the encoding.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::LegacyEncoding;
    ///
    /// assert_ne!(LegacyEncoding::latin1().name(), LegacyEncoding::windows_1252().name());
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Table::Latin1 => "ISO-8859-1",
            Table::Windows1252 => "windows-1252",
            #[cfg(feature = "encoding_rs")]
            Table::Whatwg(encoding) => encoding.name(),
        }
    }

    /// Appends the text of `bytes`, the first of which begins a character.
    #[cfg_attr(
        not(feature = "encoding_rs"),
        allow(unused_variables, reason = "no character of several bytes")
    )]
    pub(super) fn decode(self, bytes: &[u8], follows: Follows, text: &mut String) -> Decoded {
        match self.0 {
            Table::Latin1 => decode_bytes(&EVERY_LATIN1, bytes, text),
            Table::Windows1252 => decode_bytes(&EVERY_WINDOWS_1252, bytes, text),
            #[cfg(feature = "encoding_rs")]
            Table::Whatwg(encoding) => whatwg::decode(encoding, bytes, follows, text),
        }
    }
}

/// Reads each byte as its character in `table`.
///
/// Where a block is not ASCII, byte after byte without a branch: letters with a diacritic stand where
/// nobody expects them.
fn decode_bytes(table: &[ShortText; 256], bytes: &[u8], text: &mut String) -> Decoded {
    const BLOCK: usize = 64;
    text.reserve(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (block, behind) = rest.split_at(BLOCK.min(rest.len()));
        let mut buffer = [0; 3 * BLOCK + 1];
        let mut len = 0;
        let written = match block.is_ascii() {
            true => block,
            false => {
                for &byte in block {
                    let (character, of_them) = table[usize::from(byte)].bytes();
                    buffer[len..len + 4].copy_from_slice(&character);
                    len += of_them;
                }
                &buffer[..len]
            }
        };
        text.push_str(split_far(Kernel::detect(), written).0);
        rest = behind;
    }
    Decoded { read: bytes.len(), replaced: 0 }
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

    use super::{Decoded, Follows};
    use crate::kernel::Kernel;
    use crate::unchecked::split_far;

    /// Reads `bytes` with a new decoder each time, so that nothing is kept within one.
    ///
    /// A decoder does not tell the bytes it keeps, but whether it keeps any. So the last bytes go in
    /// one by one, and the end of what is read is where it last kept none.
    pub(super) fn decode(
        encoding: &'static Encoding,
        bytes: &[u8],
        follows: Follows,
        text: &mut String,
    ) -> Decoded {
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let mut block = [0; BLOCK];
        if follows == Follows::Nothing || encoding.is_single_byte() {
            let replaced = feed(&mut decoder, bytes, Follows::Nothing, &mut block, text);
            return Decoded { read: bytes.len(), replaced };
        }
        let (bulk, last) = bytes.split_at(bytes.len().saturating_sub(LAST));
        let mut neutral = (0, 0, text.len());
        let mut replaced = feed(&mut decoder, bulk, Follows::More, &mut block, text);
        for (at, byte) in last.iter().enumerate() {
            if keeps_nothing(&decoder) {
                neutral = (bulk.len() + at, replaced, text.len());
            }
            replaced += feed(&mut decoder, slice::from_ref(byte), Follows::More, &mut block, text);
        }
        if keeps_nothing(&decoder) {
            neutral = (bytes.len(), replaced, text.len());
        }
        let (read, replaced, text_len) = neutral;
        text.truncate(text_len);
        Decoded { read, replaced }
    }

    /// Twice the longest character, less one: whatever begins before them, a character ends in them.
    const LAST: usize = 7;

    fn keeps_nothing(decoder: &Decoder) -> bool {
        decoder.latin1_byte_compatible_up_to(b"").is_some()
    }

    /// Feeds all of `bytes`. Returns how many U+FFFD it took.
    ///
    /// By way of `block`, not into the text itself: a decoder makes all the room there ready each time
    /// it is called.
    fn feed(
        decoder: &mut Decoder,
        bytes: &[u8],
        follows: Follows,
        block: &mut [u8; BLOCK],
        text: &mut String,
    ) -> u64 {
        let last = follows == Follows::Nothing;
        let (mut rest, mut replaced) = (bytes, 0);
        loop {
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(rest, block, last);
            text.push_str(split_far(Kernel::detect(), &block[..written]).0);
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
