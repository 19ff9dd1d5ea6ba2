use crate::fallback::LegacyEncoding;

/// What is read in a legacy encoding where a stream is not UTF-8.
///
/// # Examples
///
/// ```
/// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
///
/// let read = |fallback| {
///     let mut text = String::new();
///     FallbackDecoder::new(fallback).push(b"\xC3\xBC, \xFC\n\xC3\xBC\n", &mut text).unwrap();
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

/// How much an ill-formed sequence takes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Extent {
    /// Itself, and the ill-formed sequences that touch it.
    Part,
    /// Its line; so many bytes of one may wait for the verdict.
    Line { limit: usize },
    /// All that follows.
    Rest,
}

impl Fallback {
    /// How many bytes of a line may wait for the verdict if nothing is set: 64 KiB.
    pub const DEFAULT_MAX_LENGTH: usize = 64 * 1024;

    /// Reads ill-formed parts in `encoding`.
    ///
    /// Parts with nothing between them are read together. In single-byte encodings that makes no
    /// difference.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::part(LegacyEncoding::latin1()));
    /// let mut text = String::new();
    /// decoder.push(b"\xE9, \xC3\xA9", &mut text).unwrap();
    /// assert_eq!(text, "é, é");
    /// ```
    #[must_use]
    pub const fn part(encoding: LegacyEncoding) -> Self {
        Self { encoding, extent: Extent::Part }
    }

    /// Reads a line with anything ill-formed in it as a whole in `encoding`. A line ends with LF.
    ///
    /// What a line begins with in ASCII is handed out at once. From its first other byte on it waits
    /// for the verdict: an ill-formed sequence, or its end; or the limit, 65,536 bytes (64 KiB) if no
    /// other [is set](Self::with_max_length). A line so long and well-formed is UTF-8, and what is
    /// ill-formed behind the limit is read as with [`part`](Self::part).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::line(LegacyEncoding::latin1()));
    /// let mut text = String::new();
    /// decoder.push(b"PRIVMSG #caf\xC3\xA9 ", &mut text).unwrap();
    /// assert_eq!(text, "PRIVMSG #caf"); // what comes may show that C3 A9 is two characters
    /// decoder.push(b":ol\xE9\n", &mut text).unwrap();
    /// assert_eq!(text, "PRIVMSG #cafÃ© :olé\n");
    /// ```
    #[must_use]
    pub const fn line(encoding: LegacyEncoding) -> Self {
        Self { encoding, extent: Extent::Line { limit: Self::DEFAULT_MAX_LENGTH } }
    }

    /// Reads all from the first ill-formed byte on in `encoding`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::rest(LegacyEncoding::latin1()));
    /// let mut text = String::new();
    /// decoder.push(b"\xC3\xA9 \xE9", &mut text).unwrap();
    /// decoder.push(b" \xC3\xA9", &mut text).unwrap();
    /// assert_eq!(text, "é é Ã©");
    /// ```
    #[must_use]
    pub const fn rest(encoding: LegacyEncoding) -> Self {
        Self { encoding, extent: Extent::Rest }
    }

    /// Sets how many bytes of a [`line`](Self::line) may wait for the verdict, counted from its
    /// first byte that is not ASCII. No change to the others. (A lines codec has a limit of its
    /// own, and keeps to that.)
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let fallback = Fallback::line(LegacyEncoding::latin1()).with_max_length(4);
    /// let mut decoder = FallbackDecoder::new(fallback);
    /// let mut text = String::new();
    /// decoder.push(b"ASCII counts for nothing; \xC3\xA9\xC3\xA9 \xE9\n", &mut text).unwrap();
    /// assert_eq!(text, "ASCII counts for nothing; éé é\n");
    /// ```
    #[must_use]
    pub const fn with_max_length(self, limit: usize) -> Self {
        match self.extent {
            Extent::Line { .. } => Self { extent: Extent::Line { limit }, ..self },
            Extent::Part | Extent::Rest => self,
        }
    }
}

/// What a fallback has done in a stream so far.
///
/// # Examples
///
/// ```
/// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
///
/// let mut decoder = FallbackDecoder::new(Fallback::rest(LegacyEncoding::latin1()));
/// decoder.push(b"abc \xC3", &mut String::new()).unwrap();
/// assert_eq!(decoder.report().first, None); // C3 may be UTF-8
/// decoder.push(b"d", &mut String::new()).unwrap();
/// assert_eq!(decoder.report().first, Some(4));
/// assert_eq!(decoder.report().bytes, 2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FallbackReport {
    /// The offset in the stream of the first byte that was read in the legacy encoding. ASCII at the
    /// start of a line, which is the same in both, is not counted to it.
    pub first: Option<u64>,
    /// How many times it switched: the number of lines, or of runs of ill-formed parts; or 1.
    pub runs: u64,
    /// How many bytes were read in the legacy encoding.
    pub bytes: u64,
    /// How many U+FFFD stand for what is no character in the legacy encoding either.
    pub replaced: u64,
}
