//! Which legacy encoding is it, probably?

use alloc::string::String;
use core::fmt;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use crate::detect::{Detector, StreamKind};

/// A [`Detector`] that also guesses the legacy encoding, with chardetng.
///
/// Guessing examines every byte of any stream, and takes many times as long as detecting. Use it
/// for short streams, or for the first part of a long one.
///
/// # Examples
///
/// ```
/// use utf8_codec::detect::{StreamKind, LegacyGuesser};
/// use utf8_codec::ErrorMode;
/// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
///
/// let bytes = b"\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0! \xCA\xE0\xEA \xE4\xE5\xEB\xE0?";
/// let mut guesser = LegacyGuesser::new();
/// for chunk in bytes.chunks(5) {
///     guesser.push(chunk);
/// }
/// assert_eq!(guesser.finish(), StreamKind::Legacy);
/// let encoding = guesser.guess(None).unwrap();
/// assert_eq!(encoding.name(), "windows-1251");
///
/// let fallback = Fallback::rest(LegacyEncoding::whatwg(encoding).unwrap());
/// let mut text = String::new();
/// let _done = FallbackDecoder::new(fallback).push_to_string(bytes, ErrorMode::Fatal, &mut text);
/// assert_eq!(text, "Привет, мир! Как дела?");
/// ```
pub struct LegacyGuesser {
    detector: Detector,
    guesser: EncodingDetector,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    NotReached,
    Reached,
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
        Self { detector: Detector::new(), guesser, end: End::NotReached }
    }

    /// Examines the next chunk and returns the kind of the stream so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{StreamKind, LegacyGuesser};
    ///
    /// assert_eq!(LegacyGuesser::new().push(b"caf\xE9."), StreamKind::Legacy);
    /// ```
    pub fn push(&mut self, chunk: &[u8]) -> StreamKind {
        if self.end == End::NotReached {
            self.guesser.feed(chunk, false);
        }
        self.detector.push(chunk)
    }

    /// Ends the stream and returns its kind.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{StreamKind, LegacyGuesser};
    ///
    /// assert_eq!(LegacyGuesser::new().finish(), StreamKind::Empty);
    /// ```
    pub fn finish(&mut self) -> StreamKind {
        if self.end == End::NotReached {
            self.guesser.feed(b"", true);
            self.end = End::Reached;
        }
        self.detector.finish()
    }

    /// Guesses the encoding if the stream so far is [`StreamKind::Legacy`]. More bytes may change
    /// the guess.
    ///
    /// `domain` improves the guess. It is the last label of the sender's host name, such as `jp`,
    /// in any case. A `domain` that is not a label is ignored.
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
        if self.detector.kind() != StreamKind::Legacy {
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

    /// Returns the inner detector.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut guesser = utf8_codec::detect::LegacyGuesser::new();
    /// guesser.push(b"text\0");
    /// assert!(guesser.detector().is_certain());
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
