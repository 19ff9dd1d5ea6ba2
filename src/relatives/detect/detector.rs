use crate::core::bom::{BOM, BomPolicy};
use crate::core::options::Utf8Options;
use crate::core::validator::Utf8Validator;
use crate::detect::{Detection, Kind};

/// Says what a stream of bytes, in chunks cut anywhere, is.
///
/// Between calls it holds three bytes at the most, the beginning of a signature or of a sequence.
/// `push(b"")` changes nothing. [`finish`](Self::finish) makes the answer certain; calling again gives
/// the same, and what is pushed behind it is not looked at, until [`reset`](Self::reset). There are no
/// errors.
///
/// # Examples
///
/// ```
/// use utf8_codec::detect::{Detector, Kind};
///
/// let mut detector = Detector::new();
/// assert_eq!(detector.push(b"\xEF\xBB").kind(), Kind::Ascii); // two bytes that say nothing yet
/// assert_eq!(detector.push(b"\xBF").kind(), Kind::Utf8WithBom);
/// assert_eq!(detector.push(b"caf\xE9").kind(), Kind::Utf8WithBom); // E9 may begin a character
/// assert_eq!(detector.push(b", th\xE9").kind(), Kind::Legacy); // it did not
/// assert_eq!(detector.finish(), Kind::Legacy);
/// ```
#[derive(Clone, Debug)]
pub struct Detector {
    state: State,
    /// The first bytes of the stream, for as long as they may be a signature.
    first: [u8; 4],
    position: u64,
    validator: Utf8Validator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// All that has come, three bytes at the most, may become the signature of UTF-16 or UTF-32, or
    /// a longer one.
    Opening,
    /// ASCII, and perhaps the beginning of a sequence or of the signature of UTF-8.
    Ascii,
    /// UTF-8, with one character at least that is not ASCII.
    Utf8,
    /// Ill-formed, and without control characters.
    Legacy,
    /// Nothing can change it.
    Certain(Kind),
}

/// What the first bytes of a stream are.
enum Opening {
    /// Perhaps a signature, or a longer one.
    Open,
    /// A signature.
    Signature(Kind),
    /// Bytes like any other.
    None,
}

impl Opening {
    const fn of(first: &[u8]) -> Self {
        match first {
            [] | [0] | [0, 0] | [0, 0, 0xFE] => Self::Open,
            [0xFE] | [0xFF] | [0xFF, 0xFE] | [0xFF, 0xFE, 0] => Self::Open,
            [0, 0, 0xFE, 0xFF] => Self::Signature(Kind::Utf32Be),
            [0xFE, 0xFF] => Self::Signature(Kind::Utf16Be),
            [0xFF, 0xFE, 0, 0] => Self::Signature(Kind::Utf32Le),
            [0xFF, 0xFE, ..] => Self::Signature(Kind::Utf16Le),
            _ => Self::None,
        }
    }
}

impl Detector {
    /// Creates a detector.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, Kind};
    ///
    /// assert_eq!(Detector::new().so_far().kind(), Kind::Empty);
    /// ```
    #[must_use]
    pub fn new() -> Self {
        let options = Utf8Options::new().with_bom(BomPolicy::Strip);
        Self {
            state: State::Opening,
            first: [0; 4],
            position: 0,
            validator: Utf8Validator::new().with_options(options),
        }
    }

    /// Looks at the next chunk of the stream, and says what it is so far.
    ///
    /// When the answer is certain, bytes are only counted.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, Kind};
    ///
    /// let mut detector = Detector::new();
    /// assert_eq!(detector.push(b"\0").kind(), Kind::Binary);
    /// assert_eq!(detector.push(b"\0\xFE\xFF").kind(), Kind::Utf32Be);
    /// ```
    pub fn push(&mut self, chunk: &[u8]) -> Detection {
        let mut rest = chunk;
        while let (State::Opening, [byte, behind @ ..]) = (self.state, rest) {
            let len = self.seen().len();
            self.first[len] = *byte;
            self.position += 1;
            rest = behind;
            let first = self.first;
            match Opening::of(&first[..=len]) {
                Opening::Open => {}
                Opening::Signature(kind) => self.state = State::Certain(kind),
                Opening::None => {
                    self.state = State::Ascii;
                    self.look(&first[..=len]);
                }
            }
        }
        self.position += rest.len() as u64;
        self.look(rest);
        self.so_far()
    }

    /// Says what the stream is so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, Kind};
    ///
    /// let mut detector = Detector::new();
    /// detector.push("Größe".as_bytes());
    /// assert_eq!(detector.so_far().to_string(), "utf-8 so far; may become legacy or binary");
    /// ```
    #[must_use]
    pub fn so_far(&self) -> Detection {
        use Kind::{Ascii, Binary, Legacy, Utf8, Utf8WithBom, Utf16Be, Utf16Le, Utf32Be, Utf32Le};
        let (kind, may_become): (_, &'static [_]) = match (self.state, self.seen()) {
            (State::Opening, []) => (Kind::Empty, &ALL),
            (State::Opening, [0xFE]) => (Legacy, &[Utf16Be, Binary]),
            (State::Opening, [0xFF]) => (Legacy, &[Utf16Le, Utf32Le, Binary]),
            (State::Opening, [0xFF, ..]) => (Utf16Le, &[Utf32Le]),
            (State::Opening, _) => (Binary, &[Utf32Be]),
            (State::Ascii, _) if self.may_be_utf8_signature() => {
                (Ascii, &[Utf8, Utf8WithBom, Legacy, Binary])
            }
            (State::Ascii, _) => (Ascii, &[Utf8, Legacy, Binary]),
            (State::Utf8, _) if self.validator.bom_seen() => (Utf8WithBom, &[Legacy, Binary]),
            (State::Utf8, _) => (Utf8, &[Legacy, Binary]),
            (State::Legacy, _) => (Legacy, &[Binary]),
            (State::Certain(kind), _) => (kind, &[]),
        };
        Detection::new(kind, may_become)
    }

    /// Ends the stream, and says what it is.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, Kind};
    ///
    /// let mut detector = Detector::new();
    /// detector.push(b"5 \xE2\x82");
    /// assert_eq!(detector.so_far().kind(), Kind::Ascii);
    /// assert_eq!(detector.finish(), Kind::Legacy); // nothing completes it
    /// ```
    pub fn finish(&mut self) -> Kind {
        if matches!(self.state, State::Ascii | State::Utf8) && self.validator.finish().is_err() {
            self.state = State::Legacy;
        }
        let kind = self.so_far().kind();
        self.state = State::Certain(kind);
        kind
    }

    /// Starts a new stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, Kind};
    ///
    /// let mut detector = Detector::new();
    /// detector.push(b"\0\0");
    /// detector.reset();
    /// assert_eq!(detector.push(b"text").kind(), Kind::Ascii);
    /// ```
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Returns how many bytes of the stream have come.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut detector = utf8_codec::detect::Detector::new();
    /// detector.push(b"\xFE\xFF\0a");
    /// assert_eq!(detector.position(), 4);
    /// ```
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// All bytes that have come, while they may be a signature.
    fn seen(&self) -> &[u8] {
        match self.state {
            State::Opening => &self.first[..self.position as usize],
            _ => &[],
        }
    }

    /// Whether nothing has come but the beginning of a signature of UTF-8.
    fn may_be_utf8_signature(&self) -> bool {
        let held = self.validator.incomplete();
        held.len() as u64 == self.position && BOM.starts_with(held)
    }

    /// Takes note of what `bytes` are, which no signature of UTF-16 or UTF-32 is part of.
    fn look(&mut self, bytes: &[u8]) {
        if matches!(self.state, State::Opening | State::Certain(_)) {
            return;
        }
        if bytes.iter().any(|&byte| is_binary(byte)) {
            self.state = State::Certain(Kind::Binary);
        } else if self.state != State::Legacy {
            let held_before = self.validator.incomplete().len();
            self.state = match self.validator.push(bytes) {
                Err(_) => State::Legacy,
                Ok(()) if self.state == State::Utf8 => State::Utf8,
                Ok(()) => {
                    let held = self.validator.incomplete().len();
                    let completed = held_before > 0 && held < held_before + bytes.len();
                    let new = &bytes[..bytes.len().saturating_sub(held)];
                    if completed || !new.is_ascii() { State::Utf8 } else { State::Ascii }
                }
            };
        }
    }
}

impl Default for Detector {
    fn default() -> Self {
        Self::new()
    }
}

/// A binary data byte of the WHATWG MIME Sniffing Standard.
const fn is_binary(byte: u8) -> bool {
    matches!(byte, 0x00..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F)
}

/// What a stream may become of which nothing is known.
static ALL: [Kind; 9] = [
    Kind::Ascii,
    Kind::Utf8,
    Kind::Utf8WithBom,
    Kind::Utf16Le,
    Kind::Utf16Be,
    Kind::Utf32Le,
    Kind::Utf32Be,
    Kind::Legacy,
    Kind::Binary,
];
