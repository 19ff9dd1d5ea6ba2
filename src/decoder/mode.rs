//! The error mode: which text replaces an ill-formed part?

use core::fmt;
use core::ops::Deref;
use core::str::FromStr;

#[cfg(doc)]
use crate::decoder::error::Utf8ErrorKind;
use utf8_simd::{head, text::ShortText};

use crate::decoder::{ParseNameError, Utf8Error, Utf8Options};

/// What replaces an ill-formed part.
///
/// Decoders take the mode as an argument; adaptors store it.
///
/// A repair never contains a character that the [options](crate::Utf8Options#rejected-characters) reject:
/// [`Latin1`](Self::Latin1) and [`Windows1252`](Self::Windows1252) replace each byte that would become one with U+FFFD.
/// With `reject_controls`, byte 9B never becomes U+009B, which introduces the control sequences of a terminal.
///
/// # Examples
///
/// ```
/// use utf8_codec::{ErrorMode, Utf8Decoder};
///
/// let repaired = |mode| {
///     let mut text = [0; 16];
///     let progress = Utf8Decoder::new().push_to_slice(b"caf\xE9!", mode, &mut text);
///     String::from_utf8(text[..progress.written].to_vec()).unwrap()
/// };
/// assert_eq!(repaired(ErrorMode::Fatal), "caf");
/// assert_eq!(repaired(ErrorMode::Replacement), "caf\u{FFFD}!");
/// assert_eq!(repaired(ErrorMode::Skip), "caf!");
/// assert_eq!(repaired(ErrorMode::Escape), r"caf\xe9!");
/// assert_eq!(repaired(ErrorMode::Latin1), "café!");
/// assert_eq!(repaired(ErrorMode::Windows1252), "café!");
/// ```
///
/// A mode has a name, for command lines and configuration files:
///
/// ```
/// use utf8_codec::ErrorMode;
///
/// assert_eq!(ErrorMode::Windows1252.to_string(), "windows1252");
/// assert_eq!("escape".parse(), Ok(ErrorMode::Escape));
/// let error = "strict".parse::<ErrorMode>().unwrap_err();
/// let names = "fatal, replacement, skip, escape, latin1, windows1252";
/// assert_eq!(error.to_string(), format!("unknown error mode, expected one of {names}"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum ErrorMode {
    /// No repair: the error is returned.
    #[default]
    Fatal,
    /// U+FFFD REPLACEMENT CHARACTER, one for each maximal subpart (WHATWG; Unicode, section 3.9).
    Replacement,
    /// No text.
    Skip,
    /// `\xHH` for each byte, in lower-case hexadecimal. For people who read the text: it cannot be decoded again, because a
    /// backslash in the text is not escaped. The byte FF and the four characters `\xff` look the same. To keep the bytes,
    /// use a decoder that reports each error, or [`Dialect::Utf8b`](crate::dialect::Dialect::Utf8b).
    Escape,
    /// Each byte as its ISO 8859-1 character. U+FFFD for a byte whose character the options reject, for a rejected
    /// character, for a forbidden BOM, and for an ill-formed part of UTF-16, whose units are no bytes.
    Latin1,
    /// Each byte as its windows-1252 character (WHATWG's index: 81, 8D, 8F, 90 and 9D are C1
    /// controls). U+FFFD as in [`Latin1`](Self::Latin1).
    Windows1252,
}

impl ErrorMode {
    /// Returns the text that replaces an ill-formed part, or `None` for [`Fatal`](Self::Fatal). Does not
    /// allocate.
    ///
    /// `options` are those of the decoder that returned the error. All decoders and adaptors of UTF-8 repair with this
    /// function. [`MissingBom`](Utf8ErrorKind::MissingBom) has no bytes, so its repair is empty. A
    /// [`Noncharacter`](Utf8ErrorKind::Noncharacter), a [`Forbidden`](Utf8ErrorKind::Forbidden) character and a
    /// [`ForbiddenBom`](Utf8ErrorKind::ForbiddenBom) are UTF-8, not a legacy encoding: the last two modes replace each of
    /// them with U+FFFD. They also replace each byte with U+FFFD whose character `options` reject.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Options, Utf8Validator};
    ///
    /// let error = Utf8Validator::new().push(b"\xE2\x82|").unwrap_err();
    /// let repair = |mode: ErrorMode| mode.repair(&error, Utf8Options::new());
    /// assert_eq!(repair(ErrorMode::Replacement).as_deref(), Some("\u{FFFD}"));
    /// assert_eq!(repair(ErrorMode::Escape).as_deref(), Some(r"\xe2\x82"));
    /// assert_eq!(repair(ErrorMode::Windows1252).as_deref(), Some("â‚"));
    /// assert_eq!(repair(ErrorMode::Fatal), None);
    ///
    /// let strict = Utf8Options::new().reject_controls(); // in Latin-1, 82 is one
    /// assert_eq!(ErrorMode::Latin1.repair(&error, strict).as_deref(), Some("â\u{FFFD}"));
    /// ```
    pub fn repair(self, error: &Utf8Error, options: Utf8Options) -> Option<Repair> {
        let mut repair = Repair::EMPTY;
        match (self, error.bytes()) {
            (Self::Fatal, _) => return None,
            (Self::Skip, _) | (_, []) => {}
            (Self::Escape, bytes) => bytes.iter().for_each(|&b| repair.push(ShortText::escape(b))),
            (Self::Latin1 | Self::Windows1252, bytes) if error.kind().is_ill_formed() => {
                for &byte in bytes {
                    let stand_in = match byte {
                        ..0x80 => ShortText::from_latin1(byte), // in another charset
                        0x80.. => self.stand_in(byte),
                    };
                    let is_rejected = options.strictness().rejects(&stand_in.bytes().0);
                    repair.push(if is_rejected { ShortText::REPLACEMENT } else { stand_in });
                }
            }
            (Self::Replacement | Self::Latin1 | Self::Windows1252, _) => {
                repair.push(ShortText::REPLACEMENT);
            }
        }
        Some(repair)
    }

    /// Returns the text for one byte, in the modes that replace each byte.
    #[inline]
    pub(crate) fn stand_in(self, byte: u8) -> ShortText {
        match (self, byte) {
            (Self::Escape, _) => ShortText::escape(byte),
            (Self::Windows1252, 0x80..) => EVERY_WINDOWS_1252[usize::from(byte)],
            (Self::Latin1, 0x80..) => ShortText::from_latin1(byte),
            _ => ShortText::REPLACEMENT,
        }
    }

    /// All with their names, by their numbers.
    const ALL: [(Self, &str); 6] = [
        (Self::Fatal, "fatal"),
        (Self::Replacement, "replacement"),
        (Self::Skip, "skip"),
        (Self::Escape, "escape"),
        (Self::Latin1, "latin1"),
        (Self::Windows1252, "windows1252"),
    ];
}

/// Writes the name: `fatal`, `replacement`, `skip`, `escape`, `latin1` or `windows1252`.
impl fmt::Display for ErrorMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::ALL.iter().find(|(mode, _)| mode == self);
        f.pad(named.map_or("", |(_, name)| name))
    }
}

/// Parses the name that `Display` writes.
impl FromStr for ErrorMode {
    type Err = ParseNameError;

    fn from_str(name: &str) -> Result<Self, ParseNameError> {
        let message = "unknown error mode, expected one of fatal, replacement, skip, escape, latin1, windows1252";
        let known = Self::ALL.into_iter().find(|(_, known)| *known == name);
        known.map(|(mode, _)| mode).ok_or(ParseNameError { message })
    }
}

/// Text that replaces an ill-formed part: at most 16 bytes, in a [dialect](crate::dialect) 24. Made by [`ErrorMode::repair`] and
/// the errors of dialects and of UTF-16.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Repair {
    /// Invariant: the first `len` bytes are well-formed, the others zero.
    bytes: [u8; 24],
    len: u8,
}

impl Repair {
    pub(crate) const EMPTY: Self = Self { bytes: [0; 24], len: 0 };

    /// A repair in an encoding other than UTF-8. `text` has at most 24 bytes.
    pub(crate) fn new(text: &str) -> Self {
        let mut bytes = [0; 24];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Self { bytes, len: text.len() as u8 }
    }

    /// Creates the escape of a code point or a UTF-16 unit: `\uHHHH`, or above U+FFFF `\UHHHHHHHH`.
    pub(crate) fn escape(code_point: u32) -> Self {
        let (mark, digits) = if code_point <= 0xFFFF { ("\\u", 4) } else { ("\\U", 8) };
        let mut escape = Self::new(mark);
        for digit in (0..digits).rev() {
            let nibble = code_point >> (4 * digit) & 0xF;
            escape.push(ShortText::from_char(char::from(b"0123456789abcdef"[nibble as usize])));
        }
        escape
    }

    /// A character that needs no repair, for callers that store characters and repairs in one type.
    pub(crate) fn from_char(c: char) -> Self {
        let mut repair = Self::EMPTY;
        repair.push(ShortText::from_char(c));
        repair
    }

    /// Appends `part`. The longest repair, six escaped bytes, fills the buffer.
    pub(crate) fn push(&mut self, part: ShortText) {
        let at = usize::from(self.len);
        let (bytes, len) = part.bytes();
        if let Some(room) = self.bytes.get_mut(at..).and_then(|room| room.first_chunk_mut()) {
            *room = bytes;
            self.len += len as u8;
        }
    }
}

impl Deref for Repair {
    type Target = str;

    fn deref(&self) -> &str {
        // Validated again instead of `unchecked`: the text is short, and this is no fast path.
        core::str::from_utf8(head(&self.bytes, self.len.into())).unwrap_or_default()
    }
}

impl fmt::Debug for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

/// The repair of every byte in windows-1252.
pub(crate) static EVERY_WINDOWS_1252: [ShortText; 256] = {
    let mut every = [ShortText::REPLACEMENT; 256];
    let mut byte = 0;
    while byte < 256 {
        every[byte] = match byte {
            0x80..=0x9F => ShortText::from_char(WINDOWS_1252_C1[byte - 0x80]),
            _ => ShortText::from_char(byte as u8 as char),
        };
        byte += 1;
    }
    every
};

/// The characters of bytes 80 to 9F in windows-1252 (WHATWG Encoding Standard, index windows-1252).
#[rustfmt::skip]
pub(crate) const WINDOWS_1252_C1: [char; 32] = [
    '\u{20AC}', '\u{0081}', '\u{201A}', '\u{0192}', '\u{201E}', '\u{2026}', '\u{2020}',
    '\u{2021}', '\u{02C6}', '\u{2030}', '\u{0160}', '\u{2039}', '\u{0152}', '\u{008D}',
    '\u{017D}', '\u{008F}', '\u{0090}', '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}',
    '\u{2022}', '\u{2013}', '\u{2014}', '\u{02DC}', '\u{2122}', '\u{0161}', '\u{203A}',
    '\u{0153}', '\u{009D}', '\u{017E}', '\u{0178}',
];
