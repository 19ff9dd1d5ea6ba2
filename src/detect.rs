//! Detects the kind of a byte stream as it arrives: ASCII, UTF-8, UTF-16 or UTF-32 by its BOM, a
//! legacy encoding, or binary data.
//!
//! A result is certain when no further byte can change it. Until then, [`Detector::kind`] returns
//! the kind so far and [`Detector::may_become`] the kinds that are still possible. `finish` makes
//! the result certain.
//!
//! # The rules
//!
//! 1. *BOM*, at the start of the stream. `FE FF` is UTF-16BE, `FF FE` UTF-16LE, `00 00 FE FF` UTF-32BE,
//!    `FF FE 00 00` UTF-32LE. These results are final: the detector ignores the bytes after them.
//!    `FF FE 00 00` could also be UTF-16LE text that starts with NUL, which does not occur in practice;
//!    so after `FF FE` the detector waits for two more bytes. A BOM that is cut off by the end of
//!    the stream does not count: `FF FE` and `FF FE 00` are UTF-16LE, but `FF`, `FE` and `EF BB` are legacy,
//!    and `00`, `00 00` and `00 00 FE` are binary.
//! 2. *Control characters.* A byte `00..=08`, `0B`, `0E..=1A` or `1C..=1F` makes the stream binary
//!    permanently. These are the binary data bytes of the WHATWG MIME Sniffing Standard; HT, LF, FF, CR,
//!    ESC and DEL are not among them. UTF-16 and UTF-32 without a BOM are binary, because their ASCII
//!    characters contain NULs.
//! 3. *UTF-8.* An ill-formed sequence makes the stream legacy, even after the BOM `EF BB BF`. So does an
//!    incomplete sequence at the end. To examine only the first part of a file, call
//!    [`Detector::kind`] instead of `finish`.
//! 4. Otherwise: no bytes are [`StreamKind::Empty`], only bytes below 80 [`StreamKind::Ascii`], and other
//!    bytes [`StreamKind::Utf8`], or [`StreamKind::Utf8WithBom`] if they start with `EF BB BF`. Seven-bit
//!    encodings with escapes, such as ISO-2022-JP and UTF-7, are ASCII.
//!
//! | so far | changed by | to |
//! | --- | --- | --- |
//! | empty | any byte | any |
//! | ASCII | a character of two bytes or more | UTF-8, with BOM if that is the first |
//! | ASCII, UTF-8 (with or without BOM) | an ill-formed sequence | legacy |
//! | ASCII, UTF-8, legacy | a control character of rule 2 | binary |
//! | legacy: only `FF` or `FE` | the rest of a BOM | UTF-16, UTF-32 |
//! | binary: only `00`, `00 00` or `00 00 FE` | the rest of a BOM | UTF-32BE |
//! | UTF-16LE: only `FF FE` or `FF FE 00` | `00 00`, or the second `00` | UTF-32LE |
//!
//! All other binary, UTF-16 and UTF-32 results are certain. The name of a legacy encoding is never
//! certain. With the feature `chardetng`, a detector with a guesser (`Detector::with_guesser`) guesses it.
//!
//! ```
//! use utf8_codec::detect::{Detector, StreamKind};
//!
//! let mut detector = Detector::new();
//! assert_eq!(detector.push(b"name: Andr\xC3"), StreamKind::Ascii);
//! assert!(!detector.is_certain());
//! assert_eq!(detector.push(b"\xA9\n"), StreamKind::Utf8);
//! assert_eq!(detector.finish(), StreamKind::Utf8);
//! ```

#[cfg(feature = "chardetng")]
use alloc::{boxed::Box, string::String};
use core::fmt;

#[cfg(feature = "chardetng")]
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
#[cfg(feature = "chardetng")]
use encoding_rs::Encoding;

use crate::decoder::{BOM, BomPolicy, Utf8Options, Utf8Validator};

/// The kind of a byte stream.
///
/// # Examples
///
/// ```
/// use utf8_codec::detect::{Detector, StreamKind};
///
/// let kind = |bytes: &[u8]| {
///     let mut detector = Detector::new();
///     detector.push(bytes);
///     detector.finish()
/// };
/// assert_eq!(kind(b"cafe"), StreamKind::Ascii);
/// assert_eq!(kind(b"caf\xC3\xA9"), StreamKind::Utf8);
/// assert_eq!(kind(b"caf\xE9"), StreamKind::Legacy);
/// assert_eq!(kind(b"\xFF\xFEc\0a\0f\0\xE9\0"), StreamKind::Utf16Le);
/// assert_eq!(kind(b"\x7FELF\x02\x01"), StreamKind::Binary);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamKind {
    /// No bytes.
    Empty,
    /// Only bytes below 80.
    Ascii,
    /// Well-formed UTF-8 with a character above U+007F, without a BOM.
    Utf8,
    /// Well-formed UTF-8 with a BOM.
    Utf8WithBom,
    /// UTF-16 with a BOM, little-endian.
    Utf16Le,
    /// UTF-16 with a BOM, big-endian.
    Utf16Be,
    /// UTF-32 with a BOM, little-endian.
    Utf32Le,
    /// UTF-32 with a BOM, big-endian.
    Utf32Be,
    /// Text in a legacy encoding: not UTF-8, and without control characters of binary data.
    Legacy,
    /// Binary data: it contains control characters that do not occur in text.
    Binary,
}

/// Writes `ASCII`, `UTF-8`, `UTF-8 with BOM`, `UTF-16LE`, `legacy` and so on.
impl fmt::Display for StreamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Empty => "empty",
            Self::Ascii => "ASCII",
            Self::Utf8 => "UTF-8",
            Self::Utf8WithBom => "UTF-8 with BOM",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Utf32Le => "UTF-32LE",
            Self::Utf32Be => "UTF-32BE",
            Self::Legacy => "legacy",
            Self::Binary => "binary",
        })
    }
}

/// Detects the kind of a byte stream, chunk by chunk. A chunk can end anywhere.
///
/// Between calls the detector holds at most three bytes, the beginning of a BOM or of a sequence.
/// `push(b"")` changes nothing. [`finish`](Self::finish) makes the result certain: further calls
/// return the same, and bytes pushed after it only count towards the position until [`reset`](Self::reset). Detection
/// never fails.
///
/// # Examples
///
/// ```
/// use utf8_codec::detect::{Detector, StreamKind};
///
/// let mut detector = Detector::new();
/// assert_eq!(detector.push(b"\xEF\xBB"), StreamKind::Ascii); // too few bytes for a BOM
/// assert_eq!(detector.push(b"\xBF"), StreamKind::Utf8WithBom);
/// assert_eq!(detector.push(b"caf\xE9"), StreamKind::Utf8WithBom); // E9 may begin a character
/// assert_eq!(detector.push(b", th\xE9"), StreamKind::Legacy); // a comma cannot continue it
/// assert_eq!(detector.finish(), StreamKind::Legacy);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Detector {
    state: DetectorState,
    /// The first bytes of the stream, while they may be a BOM.
    first: [u8; 4],
    position: u64,
    validator: Utf8Validator,
    #[cfg(feature = "chardetng")]
    guesser: Option<Box<Guesser>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DetectorState {
    /// All bytes so far, at most three, may be the beginning of a UTF-16 or UTF-32 BOM.
    Opening,
    /// ASCII, perhaps followed by the beginning of a sequence or of the UTF-8 BOM.
    Ascii,
    /// UTF-8 with at least one non-ASCII character.
    Utf8,
    /// Ill-formed, without control characters of binary data.
    Legacy,
    /// No byte can change the result.
    Certain(StreamKind),
}

impl DetectorState {
    /// Returns the state after the first bytes of a stream, which may be a BOM.
    const fn after(first: &[u8]) -> Self {
        match first {
            [] | [0] | [0, 0] | [0, 0, 0xFE] => Self::Opening,
            [0xFE] | [0xFF] | [0xFF, 0xFE] | [0xFF, 0xFE, 0] => Self::Opening,
            [0, 0, 0xFE, 0xFF] => Self::Certain(StreamKind::Utf32Be),
            [0xFE, 0xFF] => Self::Certain(StreamKind::Utf16Be),
            [0xFF, 0xFE, 0, 0] => Self::Certain(StreamKind::Utf32Le),
            [0xFF, 0xFE, ..] => Self::Certain(StreamKind::Utf16Le),
            _ => Self::Ascii,
        }
    }
}

impl Detector {
    /// Creates a detector.
    pub fn new() -> Self {
        let options = Utf8Options::new().with_bom(BomPolicy::Strip);
        Self {
            state: DetectorState::Opening,
            first: [0; 4],
            position: 0,
            validator: Utf8Validator::new().with_options(options),
            #[cfg(feature = "chardetng")]
            guesser: None,
        }
    }

    /// Also guesses the legacy encoding, with chardetng; see [`guess`](Self::guess). Call it before
    /// the first push.
    ///
    /// Guessing examines every byte until the kind is certain, and takes many times as long as
    /// detecting. Use it for short streams, or for the first part of a long one. The state of
    /// chardetng is allocated, and cannot be copied: a clone made after the first byte of a stream
    /// does not guess until [`reset`](Self::reset).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::detect::{Detector, StreamKind};
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    ///
    /// let bytes = b"\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0! \xCA\xE0\xEA \xE4\xE5\xEB\xE0?";
    /// let mut detector = Detector::new().with_guesser();
    /// for chunk in bytes.chunks(5) {
    ///     detector.push(chunk);
    /// }
    /// assert_eq!(detector.finish(), StreamKind::Legacy);
    /// let encoding = detector.guess(None).unwrap();
    /// assert_eq!(encoding.name(), "windows-1251");
    ///
    /// // The whole stream is in this encoding: no part of it is UTF-8, even if it happens to be well-formed.
    /// let mut decoder = FallbackDecoder::without_bom(LegacyEncoding::whatwg(encoding).unwrap());
    /// let mut text = String::new();
    /// let _done = decoder.push_to_string(bytes, ErrorMode::Fatal, &mut text);
    /// assert_eq!(text, "Привет, мир! Как дела?");
    /// ```
    #[cfg(feature = "chardetng")]
    pub fn with_guesser(self) -> Self {
        Self { guesser: Some(Box::new(Guesser::new())), ..self }
    }

    /// Examines the next chunk and returns the kind of the stream so far.
    ///
    /// Once the result is certain, bytes are only counted.
    pub fn push(&mut self, chunk: &[u8]) -> StreamKind {
        #[cfg(feature = "chardetng")]
        self.feed_guesser(chunk, false);
        let mut rest = chunk;
        while let (DetectorState::Opening, [byte, after @ ..]) = (self.state, rest) {
            let len = self.seen().len();
            self.first[len] = *byte;
            self.position += 1;
            rest = after;
            let first = self.first;
            self.state = DetectorState::after(&first[..=len]);
            self.look(&first[..=len]);
        }
        self.position += rest.len() as u64;
        self.look(rest);
        self.kind()
    }

    /// Returns the kind of the stream if it ended here. An incomplete UTF-8 sequence at the end is
    /// ignored.
    pub fn kind(&self) -> StreamKind {
        self.so_far().0
    }

    /// Returns whether no further byte can change the [`kind`](Self::kind).
    pub fn is_certain(&self) -> bool {
        self.may_become().is_empty()
    }

    /// Returns the kinds that the stream may still become. Empty if the [`kind`](Self::kind) is
    /// certain. The table in [the module](crate::detect) lists the bytes that change it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, StreamKind};
    ///
    /// let mut detector = Detector::new();
    /// assert_eq!(detector.push(b"\xFF\xFE"), StreamKind::Utf16Le);
    /// assert_eq!(detector.may_become(), [StreamKind::Utf32Le]);
    /// ```
    pub fn may_become(&self) -> &'static [StreamKind] {
        self.so_far().1
    }

    /// Ends the stream and returns its kind.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, StreamKind};
    ///
    /// let mut detector = Detector::new();
    /// detector.push(b"5 \xE2\x82");
    /// assert_eq!(detector.kind(), StreamKind::Ascii);
    /// assert_eq!(detector.finish(), StreamKind::Legacy); // the sequence is incomplete
    /// ```
    pub fn finish(&mut self) -> StreamKind {
        #[cfg(feature = "chardetng")]
        self.feed_guesser(b"", true);
        if matches!(self.state, DetectorState::Ascii | DetectorState::Utf8)
            && self.validator.finish().is_err()
        {
            self.state = DetectorState::Legacy;
        }
        let kind = self.kind();
        self.state = DetectorState::Certain(kind);
        kind
    }

    /// Guesses the encoding if the stream so far is [`StreamKind::Legacy`]. More bytes may change
    /// the guess. Returns `None` if the kind is another one, without a [guesser](Self::with_guesser), or
    /// in a clone made after the first byte.
    ///
    /// `domain` improves the guess. It is the last label of the sender's host name, such as `jp`,
    /// in any case. A `domain` that is not a label is ignored.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::Detector;
    ///
    /// let mut detector = Detector::new().with_guesser();
    /// detector.push(b"\x93\xFA\x96\x7B\x8C\xEA\x82\xCC\x83\x65\x83\x4C\x83\x58\x83\x67");
    /// detector.finish();
    /// assert_eq!(detector.guess(Some("jp")).unwrap().name(), "Shift_JIS");
    /// ```
    #[cfg(feature = "chardetng")]
    pub fn guess(&self, domain: Option<&str>) -> Option<&'static Encoding> {
        let guesser = self.guesser.as_ref().filter(|_| self.kind() == StreamKind::Legacy)?;
        let domain: Option<String> = domain.map(str::to_ascii_lowercase);
        let label = domain.filter(|domain| domain.is_ascii() && !domain.contains('.'));
        let label = label.as_deref().map(str::as_bytes);
        Some(guesser.guesser.as_ref()?.guess(label, Utf8Detection::Deny))
    }

    /// Starts a new stream with the same settings.
    pub fn reset(&mut self) {
        *self = Self {
            #[cfg(feature = "chardetng")]
            guesser: self.guesser.as_ref().map(|_| Box::new(Guesser::new())),
            ..Self::new()
        };
    }

    /// Returns the number of bytes pushed in this stream.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Passes bytes to the guesser, if there is one and the kind is not certain.
    #[cfg(feature = "chardetng")]
    fn feed_guesser(&mut self, bytes: &[u8], is_last: bool) {
        if let Some(guesser) = &mut self.guesser
            && !matches!(self.state, DetectorState::Certain(_))
        {
            guesser.position += bytes.len() as u64;
            if let Some(guesser) = &mut guesser.guesser {
                guesser.feed(bytes, is_last);
            }
        }
    }

    /// Returns the kind so far, and the kinds that the stream may still become.
    fn so_far(&self) -> (StreamKind, &'static [StreamKind]) {
        use StreamKind::{
            Ascii, Binary, Legacy, Utf8, Utf8WithBom, Utf16Be, Utf16Le, Utf32Be, Utf32Le,
        };
        match (self.state, self.seen()) {
            (DetectorState::Opening, []) => (
                StreamKind::Empty,
                &[Ascii, Utf8, Utf8WithBom, Utf16Le, Utf16Be, Utf32Le, Utf32Be, Legacy, Binary],
            ),
            (DetectorState::Opening, [0xFE]) => (Legacy, &[Utf16Be, Binary]),
            (DetectorState::Opening, [0xFF]) => (Legacy, &[Utf16Le, Utf32Le, Binary]),
            (DetectorState::Opening, [0xFF, ..]) => (Utf16Le, &[Utf32Le]),
            (DetectorState::Opening, _) => (Binary, &[Utf32Be]),
            (DetectorState::Ascii, _) if self.may_be_utf8_bom() => {
                (Ascii, &[Utf8, Utf8WithBom, Legacy, Binary])
            }
            (DetectorState::Ascii, _) => (Ascii, &[Utf8, Legacy, Binary]),
            (DetectorState::Utf8, _) if self.validator.bom_seen() => {
                (Utf8WithBom, &[Legacy, Binary])
            }
            (DetectorState::Utf8, _) => (Utf8, &[Legacy, Binary]),
            (DetectorState::Legacy, _) => (Legacy, &[Binary]),
            (DetectorState::Certain(kind), _) => (kind, &[]),
        }
    }

    /// Returns all bytes so far, while they may be a BOM.
    fn seen(&self) -> &[u8] {
        match self.state {
            DetectorState::Opening => &self.first[..self.position as usize],
            _ => &[],
        }
    }

    /// Returns whether the bytes so far are the beginning of the UTF-8 BOM.
    fn may_be_utf8_bom(&self) -> bool {
        let held = self.validator.incomplete();
        held.len() as u64 == self.position && BOM.starts_with(held)
    }

    /// Updates the state with `bytes`, which belong to no UTF-16 or UTF-32 BOM.
    fn look(&mut self, bytes: &[u8]) {
        if matches!(self.state, DetectorState::Opening | DetectorState::Certain(_)) {
            return;
        }
        if bytes.iter().any(|&byte| is_binary(byte)) {
            self.state = DetectorState::Certain(StreamKind::Binary);
            return;
        }
        if self.state == DetectorState::Legacy {
            return;
        }
        if self.validator.push(bytes).is_err() {
            self.state = DetectorState::Legacy;
        } else if self.state == DetectorState::Ascii {
            // A character that began before `bytes` and is complete ends in them, with a byte that is not ASCII.
            let incomplete_len = self.validator.incomplete().len();
            if !bytes[..bytes.len().saturating_sub(incomplete_len)].is_ascii() {
                self.state = DetectorState::Utf8;
            }
        }
    }
}

/// Writes `UTF-8 so far; may become legacy or binary`, or only the kind if it is certain.
///
/// ```
/// let mut detector = utf8_codec::detect::Detector::new();
/// detector.push("Größe".as_bytes());
/// assert_eq!(detector.to_string(), "UTF-8 so far; may become legacy or binary");
/// ```
impl fmt::Display for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, may_become) = self.so_far();
        let Some((last, others)) = may_become.split_last() else {
            return write!(f, "{kind}");
        };
        write!(f, "{kind} so far; may become ")?;
        for (index, other) in others.iter().enumerate() {
            write!(f, "{}{other}", if index == 0 { "" } else { ", " })?;
        }
        write!(f, "{}{last}", if others.is_empty() { "" } else { " or " })
    }
}

impl Default for Detector {
    fn default() -> Self {
        Self::new()
    }
}

/// The state of the guess of a stream's legacy encoding.
#[cfg(feature = "chardetng")]
struct Guesser {
    /// `None` after a clone in the middle of a stream, as this state cannot be cloned.
    guesser: Option<EncodingDetector>,
    /// The number of bytes passed to it.
    position: u64,
}

#[cfg(feature = "chardetng")]
impl Guesser {
    fn new() -> Self {
        let guesser = EncodingDetector::new(Iso2022JpDetection::Deny);
        Self { guesser: Some(guesser), position: 0 }
    }
}

#[cfg(feature = "chardetng")]
impl Clone for Guesser {
    fn clone(&self) -> Self {
        match self.position {
            0 => Self::new(),
            position => Self { guesser: None, position },
        }
    }
}

#[cfg(feature = "chardetng")]
impl fmt::Debug for Guesser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guesser").field("position", &self.position).finish_non_exhaustive()
    }
}

/// Returns whether this is a binary data byte of the WHATWG MIME Sniffing Standard.
const fn is_binary(byte: u8) -> bool {
    matches!(byte, 0x00..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F)
}
