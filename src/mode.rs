use core::fmt;
use core::ops::Deref;

use crate::error::{Utf8Error, Utf8ErrorKind};

/// What is put in the place of an ill-formed part.
///
/// # Examples
///
/// ```
/// use utf8_codec::{ErrorMode, Utf8Decoder};
///
/// let repaired = |mode| {
///     let mut text = String::new();
///     Utf8Decoder::new().decode_to_string(b"caf\xE9!", mode, &mut text);
///     text
/// };
/// assert_eq!(repaired(ErrorMode::Fatal), "caf");
/// assert_eq!(repaired(ErrorMode::Replacement), "caf\u{FFFD}!");
/// assert_eq!(repaired(ErrorMode::Skip), "caf!");
/// assert_eq!(repaired(ErrorMode::Escape), r"caf\xe9!");
/// assert_eq!(repaired(ErrorMode::Latin1), "café!");
/// assert_eq!(repaired(ErrorMode::Windows1252), "café!");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ErrorMode {
    /// Nothing: the error is the caller's.
    #[default]
    Fatal,
    /// U+FFFD REPLACEMENT CHARACTER, one for each maximal subpart (WHATWG; Unicode, section 3.9).
    Replacement,
    /// No text.
    Skip,
    /// `\xHH` for each byte, in lower-case hexadecimal.
    Escape,
    /// Each byte as its ISO 8859-1 character.
    Latin1,
    /// Each byte as its windows-1252 character (WHATWG's index: 81, 8D, 8F, 90 and 9D are C1
    /// controls).
    Windows1252,
}

impl ErrorMode {
    /// Returns the text that stands for an ill-formed part, or `None` for [`Fatal`](Self::Fatal).
    ///
    /// Every lossy path of the crate uses it. A [`MissingBom`](Utf8ErrorKind::MissingBom) is no
    /// part of the text and gives an empty one. A [`Noncharacter`](Utf8ErrorKind::Noncharacter) or
    /// [`Forbidden`](Utf8ErrorKind::Forbidden) character is UTF-8, not some legacy encoding: the
    /// last two modes give U+FFFD for it, so that no mode lets it through.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Validator};
    ///
    /// let error = Utf8Validator::new().push(b"\xE2\x82|").unwrap_err();
    /// assert_eq!(ErrorMode::Replacement.repair(&error).as_deref(), Some("\u{FFFD}"));
    /// assert_eq!(ErrorMode::Escape.repair(&error).as_deref(), Some(r"\xe2\x82"));
    /// assert_eq!(ErrorMode::Windows1252.repair(&error).as_deref(), Some("â‚"));
    /// assert_eq!(ErrorMode::Fatal.repair(&error), None);
    /// ```
    pub fn repair(self, error: &Utf8Error) -> Option<Repair> {
        let mut repair = Repair::EMPTY;
        match self.for_kind(error.kind()) {
            Self::Fatal => return None,
            Self::Replacement if error.kind() == Utf8ErrorKind::MissingBom => {}
            Self::Replacement => repair.push(char::REPLACEMENT_CHARACTER),
            Self::Skip => {}
            Self::Escape => {
                for byte in error.bytes() {
                    repair.push('\\');
                    repair.push('x');
                    repair.push(hex_digit(byte >> 4));
                    repair.push(hex_digit(byte & 0xF));
                }
            }
            Self::Latin1 => error.bytes().iter().for_each(|&byte| repair.push(char::from(byte))),
            Self::Windows1252 => {
                error.bytes().iter().for_each(|&byte| repair.push(windows_1252(byte)));
            }
        }
        Some(repair)
    }

    const fn for_kind(self, kind: Utf8ErrorKind) -> Self {
        match (self, kind) {
            (
                Self::Latin1 | Self::Windows1252,
                Utf8ErrorKind::Noncharacter | Utf8ErrorKind::Forbidden,
            ) => Self::Replacement,
            _ => self,
        }
    }
}

/// The text that stands for an ill-formed part; at most 16 bytes, without an allocation.
///
/// # Examples
///
/// ```
/// use utf8_codec::{ErrorMode, Utf8Validator};
///
/// let error = Utf8Validator::new().push(b"\xFF").unwrap_err();
/// let repair = ErrorMode::Latin1.repair(&error).unwrap();
/// assert_eq!(&*repair, "ÿ");
/// assert_eq!(repair.chars().count(), 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repair {
    /// Invariant: the first `len` bytes are well-formed, the others zero.
    bytes: [u8; 16],
    len: u8,
}

impl Repair {
    const EMPTY: Self = Self { bytes: [0; 16], len: 0 };

    /// Appends a character. The longest repair, an escaped noncharacter, fills the buffer.
    fn push(&mut self, c: char) {
        let at = usize::from(self.len);
        self.len += c.encode_utf8(&mut self.bytes[at..]).len() as u8;
    }
}

impl Deref for Repair {
    type Target = str;

    fn deref(&self) -> &str {
        // Checked once more rather than trusted: it is short, and no speed hangs on it.
        core::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl AsRef<str> for Repair {
    fn as_ref(&self) -> &str {
        self
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

fn hex_digit(nibble: u8) -> char {
    char::from(b"0123456789abcdef"[usize::from(nibble & 0xF)])
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9F => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Bytes 80 to 9F of windows-1252 (WHATWG Encoding Standard, index windows-1252).
static WINDOWS_1252: [char; 32] = [
    '\u{20AC}', '\u{0081}', '\u{201A}', '\u{0192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{02C6}', '\u{2030}', '\u{0160}', '\u{2039}', '\u{0152}', '\u{008D}', '\u{017D}', '\u{008F}',
    '\u{0090}', '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{02DC}', '\u{2122}', '\u{0161}', '\u{203A}', '\u{0153}', '\u{009D}', '\u{017E}', '\u{0178}',
];
