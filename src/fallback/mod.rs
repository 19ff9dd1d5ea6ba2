//! Decodes text that may not be UTF-8: ill-formed parts are decoded in a legacy encoding.
//!
//! Old protocols and old files do not declare their encoding. Most of them contain UTF-8 today.
//! Text that is not well-formed is in the encoding that was common before. A
//! [`FallbackDecoder`] decodes it. The constructor selects how much of the stream an ill-formed
//! sequence affects:
//!
//! | | decoded in the legacy encoding | held at most |
//! | --- | --- | --- |
//! | [`FallbackDecoder::part`] | ill-formed parts only | 6 bytes |
//! | [`FallbackDecoder::line`] | the line, from its first byte to its LF: the rule of IRC | 64 KiB (configurable) and 3 bytes; at least 6 |
//! | [`FallbackDecoder::rest`] | everything from the first ill-formed byte | 3 bytes |
//! | [`FallbackDecoder::without_bom`] | everything, unless the stream begins with a BOM | 3 bytes |
//!
//! In single-byte encodings, `part` does the same as [`ErrorMode::Latin1`] and
//! [`ErrorMode::Windows1252`], if the options reject nothing. It is for text that was joined from several sources. In multi-byte
//! encodings it is the least reliable: adjacent ill-formed parts are decoded together, but a
//! character whose second byte is ASCII is split.
//!
//! The decoder does no input or output. `Utf8Codec`, `Utf8LinesCodec` and `Utf8Stream` have a method
//! `with_fallback`, which takes a decoder and uses only its settings. The constructors are `const`: to use the same
//! settings for many connections, make a constant.
//!
//! ```
//! use utf8_codec::ErrorMode;
//! use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
//!
//! let mut decoder = FallbackDecoder::line(LegacyEncoding::windows_1252());
//! let mut text = String::new();
//! for chunk in [&b"caf\xC3"[..], b"\xA9\ncaf\xE9 f\xC3\xBCr 2 \x80\nth\xC3\xA9\n"] {
//!     let _done = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
//! }
//! decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
//! assert_eq!(text, "café\ncafé fÃ¼r 2 €\nthé\n");
//! assert_eq!(decoder.fallback_uses().runs, 1);
//! assert_eq!(decoder.fallback_uses().first, Some(9)); // in the second line, after its ASCII
//! ```
//!
//! # What falls back
//!
//! Only ill-formed bytes fall back. A forbidden or missing BOM, and a character that the
//! [options](crate::Utf8Options) reject, are errors, because they are UTF-8; they never fall back. A whole
//! [line](FallbackDecoder::line) is either UTF-8 or legacy: the options apply to the characters that it contains once that
//! is decided. With `reject_controls`, `C2 85` alone is an error (U+0085), and in the windows-1252 line `C2 85 E9` it is
//! `Â…`.
//!
//! Legacy characters that the options reject are errors too, of the bytes that encode them, so an `E9` in a line does not
//! let a NUL pass, nor the 9B that introduces the control sequences of a terminal. [`ErrorMode::Latin1`] and
//! [`ErrorMode::Windows1252`] replace them with U+FFFD. A byte can then count as two errors: as ill-formed UTF-8, which is
//! why it fell back, and as a rejected character.
//!
//! Most byte strings are also valid in a legacy encoding, so a wrong choice of encoding cannot be
//! detected. Overlong forms are never decoded as the character they imitate: `C0 80` may become `À`
//! and a control character, but not NUL.
//!
//! [`ErrorMode::Latin1`]: crate::ErrorMode::Latin1
//! [`ErrorMode::Windows1252`]: crate::ErrorMode::Windows1252

mod cursor;
mod decoder;
mod legacy;
#[cfg(feature = "std")]
mod owned;
mod state;
#[cfg(feature = "encoding_rs")]
mod whatwg;

pub use decoder::FallbackDecoder;

pub use crate::fallback::legacy::LegacyEncoding;
#[cfg(feature = "std")]
pub(crate) use crate::fallback::legacy::decode_bytes;

#[cfg(feature = "std")]
pub(crate) use owned::take_next;
use state::Extent;
pub(crate) use state::FallbackState;
pub use state::FallbackUses;

/// What falls back, and to which encoding.
impl FallbackDecoder {
    /// The default for [`with_max_length`](Self::with_max_length): 64 KiB.
    pub const DEFAULT_MAX_LENGTH: usize = 64 * 1024;

    /// Decodes ill-formed parts in `encoding`.
    ///
    /// Adjacent parts are decoded together. In single-byte encodings that makes no difference.
    pub const fn part(encoding: LegacyEncoding) -> Self {
        Self::new(encoding, Extent::Part)
    }

    /// Decodes each line that contains an ill-formed part as a whole in `encoding`. A line ends with LF.
    ///
    /// ASCII at the start of a line is returned immediately. From its first non-ASCII byte, the line
    /// is held until it is decided: by an ill-formed sequence, by its end, or by the limit of
    /// 65,536 bytes (64 KiB). [`with_max_length`](Self::with_max_length) sets another limit. A line
    /// that is well-formed up to the limit is UTF-8, and ill-formed parts after the limit are
    /// decoded as with [`part`](Self::part).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::line(LegacyEncoding::latin1());
    /// let mut text = String::new();
    /// let _done = decoder.push_to_string(b"PRIVMSG #caf\xC3\xA9 ", ErrorMode::Fatal, &mut text);
    /// assert_eq!(text, "PRIVMSG #caf"); // held: C3 A9 may be two Latin-1 characters
    /// let _done = decoder.push_to_string(b":ol\xE9\n", ErrorMode::Fatal, &mut text);
    /// assert_eq!(text, "PRIVMSG #cafÃ© :olé\n");
    /// ```
    pub const fn line(encoding: LegacyEncoding) -> Self {
        Self::new(encoding, Extent::Line { limit: Self::DEFAULT_MAX_LENGTH })
    }

    /// Decodes everything from the first ill-formed byte in `encoding`.
    pub const fn rest(encoding: LegacyEncoding) -> Self {
        Self::new(encoding, Extent::Rest)
    }

    /// Decodes the whole stream in `encoding`, unless it begins with a BOM: the BOM decides, not the bytes after it.
    ///
    /// This is the rule for the MSG of a syslog message (RFC 5424, section 6.4): text that begins with a BOM is
    /// UTF-8, and other text is octets in an unknown encoding. A BOM is always removed; the
    /// [`BomPolicy`](crate::BomPolicy) and a mid-stream start have no effect. After a BOM, ill-formed parts are errors,
    /// and the error mode applies. Without one, everything is legacy text from its first byte, even if it is
    /// well-formed UTF-8; that is no error. At most two bytes are held until it is decided.
    ///
    /// To pass the octets on unchanged, use [`LegacyEncoding::latin1`]: each byte becomes the `char` of the same number.
    /// [`fallback_uses`](Self::fallback_uses) and [`bom_seen`](Self::bom_seen) show which case applied.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    ///
    /// const MSG: FallbackDecoder = FallbackDecoder::without_bom(LegacyEncoding::windows_1252());
    /// let decode = |msg: &[u8]| {
    ///     let (mut decoder, mut text) = (MSG, String::new());
    ///     for byte in msg {
    ///         let _done = decoder.push_to_string(&[*byte], ErrorMode::Replacement, &mut text);
    ///     }
    ///     decoder.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
    ///     (text, decoder.bom_seen())
    /// };
    /// assert_eq!(decode(b"\xEF\xBB\xBFcaf\xC3\xA9 \xFF"), ("café \u{FFFD}".into(), true));
    /// assert_eq!(decode(b"caf\xE9"), ("café".into(), false));
    /// assert_eq!(decode(b"caf\xC3\xA9"), ("cafÃ©".into(), false)); // not declared as UTF-8
    /// ```
    pub const fn without_bom(encoding: LegacyEncoding) -> Self {
        Self::new(encoding, Extent::WithoutBom)
    }

    /// Sets how many bytes of a [`line`](Self::line) may be held until it is decided, counted from
    /// its first non-ASCII byte. Has no effect on other fallbacks, or in a lines codec, which uses
    /// its own limit. Call it before the first push.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::line(LegacyEncoding::latin1()).with_max_length(4);
    /// let mut text = String::new();
    /// let line = b"ASCII does not count; \xC3\xA9\xC3\xA9 \xE9\n";
    /// let _done = decoder.push_to_string(line, ErrorMode::Fatal, &mut text);
    /// assert_eq!(text, "ASCII does not count; éé é\n");
    /// ```
    pub const fn with_max_length(mut self, max_length: usize) -> Self {
        self.state.set_max_length(max_length);
        self
    }
}
