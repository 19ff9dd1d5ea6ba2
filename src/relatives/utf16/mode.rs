use super::Utf16Error;
use crate::core::mode::Repair;

/// What is put in the place of a surrogate without its partner.
///
/// The text is UTF-8 whatever the mode. Dialects that carry surrogates through are not UTF-8 and have
/// no mode here.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "alloc")]
/// # {
/// use utf8_codec::utf16::{SurrogateMode, Utf16Decoder};
///
/// let repaired = |mode| {
///     let mut text = String::new();
///     Utf16Decoder::new().push_to_string(&[0x61, 0xDC4B, 0x62], mode, &mut text);
///     text
/// };
/// assert_eq!(repaired(SurrogateMode::Fatal), "a");
/// assert_eq!(repaired(SurrogateMode::Replacement), "a\u{FFFD}b");
/// assert_eq!(repaired(SurrogateMode::QuestionMark), "a?b");
/// assert_eq!(repaired(SurrogateMode::Skip), "ab");
/// assert_eq!(repaired(SurrogateMode::Escape), r"a\udc4bb");
/// assert_eq!(repaired(SurrogateMode::CharacterReference), "a&#56395;b");
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SurrogateMode {
    /// Nothing: the error is the caller's.
    #[default]
    Fatal,
    /// U+FFFD REPLACEMENT CHARACTER, as the WHATWG Encoding Standard's `TextEncoder` does.
    Replacement,
    /// A question mark, one byte.
    QuestionMark,
    /// No text.
    Skip,
    /// `\uHHHH`, in lower-case hexadecimal.
    Escape,
    /// A numeric character reference of XML and HTML, `&#55296;`, decimal. (For people to read: no
    /// XML parser accepts a reference to a surrogate.)
    CharacterReference,
}

impl SurrogateMode {
    /// Returns the text that stands for a lone surrogate, eight bytes at the most, or `None` for
    /// [`Fatal`](Self::Fatal).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")]
    /// # {
    /// use utf8_codec::utf16::{SurrogateMode, Utf16Decoder};
    ///
    /// let mut decoder = Utf16Decoder::new();
    /// decoder.push_to_string(&[0xD800], SurrogateMode::Fatal, &mut String::new());
    /// let error = decoder.finish().unwrap_err();
    /// assert_eq!(SurrogateMode::Escape.repair(&error).as_deref(), Some(r"\ud800"));
    /// assert_eq!(SurrogateMode::Fatal.repair(&error), None);
    /// # }
    /// ```
    pub fn repair(self, error: &Utf16Error) -> Option<Repair> {
        let unit = error.unpaired_surrogate();
        Some(match self {
            Self::Fatal => return None,
            Self::Replacement => Repair::new("\u{FFFD}"),
            Self::QuestionMark => Repair::new("?"),
            Self::Skip => Repair::new(""),
            Self::Escape => {
                let [a, b, c, d] = digits(unit, 16);
                ascii([b'\\', b'u', a, b, c, d])
            }
            Self::CharacterReference => {
                let [a, b, c, d, e] = digits(unit, 10);
                ascii([b'&', b'#', a, b, c, d, e, b';'])
            }
        })
    }
}

/// The last `N` digits.
fn digits<const N: usize>(mut number: u16, base: u16) -> [u8; N] {
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdef"[usize::from(number % base)];
        number /= base;
    }
    digits
}

fn ascii<const N: usize>(bytes: [u8; N]) -> Repair {
    Repair::new(core::str::from_utf8(&bytes).unwrap_or_default())
}
