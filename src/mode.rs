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
///     let mut text = [0; 16];
///     let progress = Utf8Decoder::new().decode_to_slice(b"caf\xE9!", mode, &mut text);
///     String::from_utf8(text[..progress.written].to_vec()).unwrap()
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
        let text = match (self.for_kind(error.kind()), error.bytes()) {
            (Self::Fatal, _) => return None,
            (Self::Skip, _) | (_, []) => Text::Static(""),
            (Self::Replacement, _) => Text::Static("\u{FFFD}"),
            (mode, &[byte]) => Text::Static(mode.stand_in(byte)),
            (mode, bytes) => Text::built(bytes.iter().map(|&byte| mode.stand_in(byte))),
        };
        Some(Repair(text))
    }

    /// The text that stands for one byte in the modes that have one for each.
    fn stand_in(self, byte: u8) -> &'static str {
        let high = usize::from(byte & 0x7F);
        match self {
            // Below 80 only refused characters can be.
            Self::Escape => &ESCAPES[4 * usize::from(byte)..][..4],
            Self::Windows1252 if matches!(byte, 0x80..=0x9F) => WINDOWS_1252[high],
            Self::Latin1 | Self::Windows1252 if byte >= 0x80 => &LATIN_1[2 * high..][..2],
            _ => "\u{FFFD}",
        }
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
#[derive(Clone, Copy)]
pub struct Repair(Text);

#[derive(Clone, Copy)]
enum Text {
    Static(&'static str),
    /// Invariant: the first `len` bytes are well-formed.
    Built {
        bytes: [u8; 16],
        len: u8,
    },
}

impl Text {
    /// Joins `parts`, 16 bytes of them at the most: those of an escaped noncharacter.
    fn built(parts: impl Iterator<Item = &'static str>) -> Self {
        let (mut bytes, mut len) = ([0; 16], 0);
        for part in parts {
            bytes[len..len + part.len()].copy_from_slice(part.as_bytes());
            len += part.len();
        }
        Self::Built { bytes, len: len as u8 }
    }
}

impl Deref for Repair {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Text::Static(text) => text,
            // Checked once more rather than trusted: it is short, and seldom.
            Text::Built { bytes, len } => {
                core::str::from_utf8(&bytes[..usize::from(*len)]).unwrap_or_default()
            }
        }
    }
}

impl AsRef<str> for Repair {
    fn as_ref(&self) -> &str {
        self
    }
}

impl PartialEq for Repair {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Repair {}

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

/// `\x00` to `\xff`, one behind the other.
static ESCAPES: &str = {
    static BYTES: [u8; 4 * 256] = {
        let digits = b"0123456789abcdef";
        let mut bytes = [0; 4 * 256];
        let mut byte = 0;
        while byte < 256 {
            bytes[4 * byte] = b'\\';
            bytes[4 * byte + 1] = b'x';
            bytes[4 * byte + 2] = digits[byte >> 4];
            bytes[4 * byte + 3] = digits[byte & 0xF];
            byte += 1;
        }
        bytes
    };
    well_formed(&BYTES)
};

/// U+0080 to U+00FF, one behind the other.
static LATIN_1: &str = {
    static BYTES: [u8; 2 * 128] = {
        let mut bytes = [0; 2 * 128];
        let mut at = 0;
        while at < 128 {
            bytes[2 * at] = 0xC2 + (at as u8 >> 6);
            bytes[2 * at + 1] = 0x80 | (at as u8 & 0x3F);
            at += 1;
        }
        bytes
    };
    well_formed(&BYTES)
};

/// Bytes 80 to 9F of windows-1252 (WHATWG Encoding Standard, index windows-1252).
static WINDOWS_1252: [&str; 32] = [
    "\u{20AC}", "\u{0081}", "\u{201A}", "\u{0192}", "\u{201E}", "\u{2026}", "\u{2020}", "\u{2021}",
    "\u{02C6}", "\u{2030}", "\u{0160}", "\u{2039}", "\u{0152}", "\u{008D}", "\u{017D}", "\u{008F}",
    "\u{0090}", "\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}", "\u{2022}", "\u{2013}", "\u{2014}",
    "\u{02DC}", "\u{2122}", "\u{0161}", "\u{203A}", "\u{0153}", "\u{009D}", "\u{017E}", "\u{0178}",
];

/// A table of text, checked when it is compiled.
const fn well_formed(bytes: &'static [u8]) -> &'static str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("the table is not UTF-8"),
    }
}
