//! What falls back, and to which encoding?

use crate::fallback::LegacyEncoding;

/// Selects what is decoded in a legacy encoding if a stream is not UTF-8.
///
/// # Examples
///
/// ```
/// use utf8_codec::ErrorMode;
/// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
///
/// let read = |fallback| {
///     let mut text = String::new();
///     let bytes = b"\xC3\xBC, \xFC\n\xC3\xBC\n";
///     let _done = FallbackDecoder::new(fallback).push_to_string(bytes, ErrorMode::Fatal, &mut text);
///     text
/// };
/// let latin1 = LegacyEncoding::latin1();
/// assert_eq!(read(Fallback::part(latin1)), "ü, ü\nü\n");
/// assert_eq!(read(Fallback::line(latin1)), "Ã¼, ü\nü\n");
/// assert_eq!(read(Fallback::rest(latin1)), "ü, ü\nÃ¼\n");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fallback {
    pub(crate) encoding: LegacyEncoding,
    pub(crate) extent: Extent,
}

/// How much of the stream an ill-formed sequence affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Extent {
    /// The sequence, and the ill-formed sequences adjacent to it.
    Part,
    /// The line. At most `limit` bytes of it are held until it is decided.
    Line { limit: usize },
    /// Everything after it.
    Rest,
    /// Everything, unless the stream begins with a BOM. Ill-formed sequences affect nothing.
    WithoutBom,
}

impl Fallback {
    /// The default for [`with_max_length`](Self::with_max_length): 64 KiB.
    pub const DEFAULT_MAX_LENGTH: usize = 64 * 1024;

    /// Decodes ill-formed parts in `encoding`.
    ///
    /// Adjacent parts are decoded together. In single-byte encodings that makes no difference.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::part(LegacyEncoding::latin1()));
    /// let mut text = String::new();
    /// let _done = decoder.push_to_string(b"\xE9, \xC3\xA9", ErrorMode::Fatal, &mut text);
    /// assert_eq!(text, "é, é");
    /// ```
    #[must_use]
    pub const fn part(encoding: LegacyEncoding) -> Self {
        Self { encoding, extent: Extent::Part }
    }

    /// Decodes each line that contains an ill-formed part as a whole in `encoding`. A line ends with LF.
    ///
    /// ASCII at the start of a line is emitted immediately. From its first non-ASCII byte, the line
    /// is held until it is decided: by an ill-formed sequence, by its end, or by the limit of
    /// 65,536 bytes (64 KiB). [`with_max_length`](Self::with_max_length) sets another limit. A line
    /// that is well-formed up to the limit is UTF-8, and ill-formed parts after the limit are
    /// decoded as with [`part`](Self::part).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::line(LegacyEncoding::latin1()));
    /// let mut text = String::new();
    /// let _done = decoder.push_to_string(b"PRIVMSG #caf\xC3\xA9 ", ErrorMode::Fatal, &mut text);
    /// assert_eq!(text, "PRIVMSG #caf"); // held: C3 A9 may be two Latin-1 characters
    /// let _done = decoder.push_to_string(b":ol\xE9\n", ErrorMode::Fatal, &mut text);
    /// assert_eq!(text, "PRIVMSG #cafÃ© :olé\n");
    /// ```
    #[must_use]
    pub const fn line(encoding: LegacyEncoding) -> Self {
        Self { encoding, extent: Extent::Line { limit: Self::DEFAULT_MAX_LENGTH } }
    }

    /// Decodes everything from the first ill-formed byte in `encoding`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::rest(LegacyEncoding::latin1()));
    /// let mut text = String::new();
    /// let _done = decoder.push_to_string(b"\xC3\xA9 \xE9", ErrorMode::Fatal, &mut text);
    /// let _done = decoder.push_to_string(b" \xC3\xA9", ErrorMode::Fatal, &mut text);
    /// assert_eq!(text, "é é Ã©");
    /// ```
    #[must_use]
    pub const fn rest(encoding: LegacyEncoding) -> Self {
        Self { encoding, extent: Extent::Rest }
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
    /// The decoder's `first_fallback()` and `bom_seen()` return which it was.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// const MSG: Fallback = Fallback::without_bom(LegacyEncoding::windows_1252());
    /// let decode = |msg: &[u8]| {
    ///     let (mut decoder, mut text) = (FallbackDecoder::new(MSG), String::new());
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
    #[must_use]
    pub const fn without_bom(encoding: LegacyEncoding) -> Self {
        Self { encoding, extent: Extent::WithoutBom }
    }

    /// Sets how many bytes of a [`line`](Self::line) may be held until it is decided, counted from
    /// its first non-ASCII byte. Has no effect on other fallbacks, or in a lines codec, which uses
    /// its own limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let fallback = Fallback::line(LegacyEncoding::latin1()).with_max_length(4);
    /// let mut decoder = FallbackDecoder::new(fallback);
    /// let mut text = String::new();
    /// let line = b"ASCII does not count; \xC3\xA9\xC3\xA9 \xE9\n";
    /// let _done = decoder.push_to_string(line, ErrorMode::Fatal, &mut text);
    /// assert_eq!(text, "ASCII does not count; éé é\n");
    /// ```
    #[must_use]
    pub const fn with_max_length(self, limit: usize) -> Self {
        match self.extent {
            Extent::Line { .. } => Self { extent: Extent::Line { limit }, ..self },
            Extent::Part | Extent::Rest | Extent::WithoutBom => self,
        }
    }
}
