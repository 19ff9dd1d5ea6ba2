use alloc::string::String;
use core::fmt;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use crate::detect::{Detection, Detector, Kind};

/// A [`Detector`] that also guesses which legacy encoding it is, with chardetng.
///
/// Guessing looks at every byte, whatever the stream is, and takes many times as long as detecting;
/// so it is a type of its own, for streams that are short or cut short.
///
/// # Examples
///
/// ```
/// use utf8_codec::detect::{Kind, LegacyGuesser};
/// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
///
/// let bytes = b"\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0! \xCA\xE0\xEA \xE4\xE5\xEB\xE0?";
/// let mut guesser = LegacyGuesser::new();
/// for chunk in bytes.chunks(5) {
///     guesser.push(chunk);
/// }
/// assert_eq!(guesser.finish(), Kind::Legacy);
/// let encoding = guesser.guess(None).unwrap();
/// assert_eq!(encoding.name(), "windows-1251");
///
/// let fallback = Fallback::rest(LegacyEncoding::whatwg(encoding).unwrap());
/// let mut text = String::new();
/// FallbackDecoder::new(fallback).push(bytes, &mut text).unwrap();
/// assert_eq!(text, "Привет, мир! Как дела?");
/// ```
pub struct LegacyGuesser {
    detector: Detector,
    guesser: EncodingDetector,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Ahead,
    Behind,
}

impl LegacyGuesser {
    /// Creates a guesser.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(utf8_codec::detect::LegacyGuesser::new().guess(None), None);
    /// ```
    #[must_use]
    pub fn new() -> Self {
        let guesser = EncodingDetector::new(Iso2022JpDetection::Deny);
        Self { detector: Detector::new(), guesser, end: End::Ahead }
    }

    /// Looks at the next chunk of the stream, and says what it is so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Kind, LegacyGuesser};
    ///
    /// assert_eq!(LegacyGuesser::new().push(b"caf\xE9.").kind(), Kind::Legacy);
    /// ```
    pub fn push(&mut self, chunk: &[u8]) -> Detection {
        if self.end == End::Ahead {
            self.guesser.feed(chunk, false);
        }
        self.detector.push(chunk)
    }

    /// Ends the stream, and says what it is.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Kind, LegacyGuesser};
    ///
    /// assert_eq!(LegacyGuesser::new().finish(), Kind::Empty);
    /// ```
    pub fn finish(&mut self) -> Kind {
        if self.end == End::Ahead {
            self.guesser.feed(b"", true);
            self.end = End::Behind;
        }
        self.detector.finish()
    }

    /// Guesses the encoding, if what has come is in a legacy one. A guess: nothing about it is
    /// certain, and more bytes may change it.
    ///
    /// Where the bytes come from makes it better: `domain` is the last label of the name of a host,
    /// such as `jp`, in whatever case. What is no label is as none.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::LegacyGuesser;
    ///
    /// let mut guesser = LegacyGuesser::new();
    /// guesser.push(b"\x93\xFA\x96\x7B\x8C\xEA\x82\xCC\x83\x65\x83\x4C\x83\x58\x83\x67");
    /// guesser.finish();
    /// assert_eq!(guesser.guess(Some("jp")).unwrap().name(), "Shift_JIS");
    /// ```
    #[must_use]
    pub fn guess(&self, domain: Option<&str>) -> Option<&'static Encoding> {
        if self.detector.so_far().kind() != Kind::Legacy {
            return None;
        }
        let domain: Option<String> = domain.map(str::to_ascii_lowercase);
        let label = domain.filter(|domain| domain.is_ascii() && !domain.contains('.'));
        Some(self.guesser.guess(label.as_deref().map(str::as_bytes), Utf8Detection::Deny))
    }

    /// Starts a new stream.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut guesser = utf8_codec::detect::LegacyGuesser::new();
    /// guesser.push(b"caf\xE9.");
    /// guesser.reset();
    /// assert_eq!(guesser.guess(None), None);
    /// ```
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Returns the detector within.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut guesser = utf8_codec::detect::LegacyGuesser::new();
    /// guesser.push(b"text\0");
    /// assert!(guesser.detector().so_far().is_certain());
    /// ```
    #[must_use]
    pub fn detector(&self) -> &Detector {
        &self.detector
    }
}

impl Default for LegacyGuesser {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LegacyGuesser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LegacyGuesser")
            .field("detector", &self.detector)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}
