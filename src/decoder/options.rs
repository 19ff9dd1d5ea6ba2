//! The options: how does a stream begin, and which well-formed characters are rejected?

use core::fmt;

#[cfg(feature = "serde")]
use crate::decoder::serialize::OptionFields;
use crate::decoder::{BomPolicy, BomState, Utf8ErrorKind};

/// How a stream begins and what it may contain.
///
/// The same value configures validators, decoders, codecs and streams. By default, a leading U+FEFF is text,
/// and every well-formed character is accepted.
///
/// # Rejected characters
///
/// The methods `reject_*` and `only_*` set the *strictness*: which well-formed characters are rejected. Each call adds
/// to the set and none removes from it, so their order does not matter. Each rejected character is one error, as long as the character:
/// [`Noncharacter`](Utf8ErrorKind::Noncharacter) or [`Forbidden`](Utf8ErrorKind::Forbidden). Checking costs a
/// second pass over the text.
///
/// No rejected character is ever part of the text: [repairs](crate::ErrorMode) and text that a
/// [fallback](crate::fallback) decodes are checked too.
///
/// # Examples
///
/// ```
/// use utf8_codec::{BomPolicy, Utf8Options, Utf8Validator};
///
/// const CONFIG_FILE: Utf8Options = Utf8Options::new().with_bom(BomPolicy::Strip).reject_nul();
///
/// let mut validator = Utf8Validator::new().with_options(CONFIG_FILE);
/// assert!(validator.push(b"\xEF\xBB\xBFname = ").is_ok());
/// assert_eq!(validator.push(b"\0").unwrap_err().valid_up_to(), 10);
/// ```
///
/// With the feature `serde`, options can come from a configuration file. All fields are optional. A mid-stream start with a
/// BOM policy other than `keep` is an error. The names in `strictness` are `nul`, `controls` (without HT, LF and CR),
/// `C0 controls`, `DEL and C1 controls`, `whitespace` (HT, LF and CR), `CR`, `invisible characters`, `noncharacters`,
/// `U+FFFE and U+FFFF` and `other noncharacters`. [`reject_controls`](Self::reject_controls) is `controls` and `whitespace`.
///
/// ```standalone_crate
/// # #[cfg(feature = "serde")] {
/// use utf8_codec::{BomPolicy, Utf8Options};
///
/// let json = r#"{ "bom": "strip", "strictness": ["nul", "noncharacters"] }"#;
/// let expected = Utf8Options::new().with_bom(BomPolicy::Strip).reject_nul().reject_noncharacters();
/// assert_eq!(serde_json::from_str::<Utf8Options>(json).unwrap(), expected);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "OptionFields", try_from = "OptionFields"))]
#[must_use]
pub struct Utf8Options {
    /// `None`: a mid-stream start.
    bom: Option<BomPolicy>,
    strictness: Strictness,
}

impl Utf8Options {
    /// Returns the default options: [`BomPolicy::Keep`], no rejected characters, and a stream that begins
    /// with its first byte.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Options;
    ///
    /// assert_eq!(Utf8Options::new(), Utf8Options::default());
    /// ```
    pub const fn new() -> Self {
        Self { bom: Some(BomPolicy::Keep), strictness: Strictness::new() }
    }

    /// Sets the BOM policy, overriding [`with_mid_stream_start`].
    ///
    /// [`with_mid_stream_start`]: Self::with_mid_stream_start
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{BomPolicy, Utf8ErrorKind, Utf8Options, Utf8Validator};
    ///
    /// let options = Utf8Options::new().with_bom(BomPolicy::Forbid);
    /// let error = Utf8Validator::new().with_options(options).push(b"\xEF\xBB\xBF{}").unwrap_err();
    /// assert_eq!(error.kind(), Utf8ErrorKind::ForbiddenBom);
    /// ```
    pub const fn with_bom(self, policy: BomPolicy) -> Self {
        Self { bom: Some(policy), ..self }
    }

    /// Decodes from the middle of a stream, for example when tailing a log or joining a multicast.
    ///
    /// Up to three continuation bytes at the start belong to a character that began earlier. They are skipped
    /// and count in offsets; `skipped()` returns their number. A fourth is an error. U+FEFF is text.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{Utf8Decoder, Utf8Options};
    ///
    /// let cut = &"a€ and b".as_bytes()[2..];
    /// let mut decoder = Utf8Decoder::new().with_options(Utf8Options::new().with_mid_stream_start());
    /// assert_eq!(decoder.push(cut).next(), Some(Ok(" and b")));
    /// assert_eq!(decoder.skipped(), 2);
    /// ```
    pub const fn with_mid_stream_start(self) -> Self {
        Self { bom: None, ..self }
    }

    /// Rejects NUL, U+0000.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{Utf8Options, Utf8Validator};
    ///
    /// let options = Utf8Options::new().reject_nul();
    /// assert!(Utf8Validator::new().with_options(options).push(b"C string\0").is_err());
    /// ```
    pub const fn reject_nul(self) -> Self {
        self.rejecting(NUL)
    }

    /// Rejects control characters except NUL: U+0001 to U+001F and U+007F to U+009F. [`reject_nul`](Self::reject_nul) rejects
    /// NUL.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{Utf8Options, Utf8Validator};
    ///
    /// let options = Utf8Options::new().reject_controls();
    /// assert!(Utf8Validator::new().with_options(options).push(b"a\tb").is_err());
    /// ```
    pub const fn reject_controls(self) -> Self {
        self.rejecting(ALL_CONTROLS)
    }

    /// Rejects control characters except HT, LF and CR. If another call rejects HT, LF or CR, they stay
    /// rejected.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{Utf8Options, Utf8Validator};
    ///
    /// let options = Utf8Options::new().reject_controls_except_whitespace();
    /// let mut validator = Utf8Validator::new().with_options(options);
    /// assert!(validator.push(b"a\tb\r\n").is_ok());
    /// assert!(validator.push(b"\x1B[31m").is_err());
    ///
    /// assert_eq!(options.reject_controls(), Utf8Options::new().reject_controls());
    /// ```
    pub const fn reject_controls_except_whitespace(self) -> Self {
        self.rejecting(CONTROLS)
    }

    /// Rejects noncharacters: U+FDD0 to U+FDEF, and the last two code points of each plane (Unicode,
    /// section 23.7; Linux `utf-8(7)`).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{Utf8Options, Utf8Validator};
    ///
    /// let options = Utf8Options::new().reject_noncharacters();
    /// let error = Utf8Validator::new().with_options(options).push("\u{10FFFF}".as_bytes()).unwrap_err();
    /// assert_eq!(error.error_len(), Some(4));
    /// assert!(Utf8Validator::new().push("\u{10FFFF}".as_bytes()).is_ok());
    /// ```
    pub const fn reject_noncharacters(self) -> Self {
        self.rejecting(NONCHARACTERS)
    }

    /// Accepts only the characters that MQTT 5.0 recommends, section 1.5.4: a UTF-8 encoded string must not contain
    /// U+0000, and should not contain control characters or noncharacters. If only what MQTT forbids is an error, use
    /// [`reject_nul`](Self::reject_nul).
    ///
    /// LF is a control character and rejected too, unless it is the delimiter of a line. The BOM policy does not change.
    /// In MQTT, U+FEFF is always text: use [`BomPolicy::Keep`], the default.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{Utf8ErrorKind, Utf8Options, Utf8Validator};
    ///
    /// let options = Utf8Options::new().only_mqtt_characters();
    /// let spelled_out = Utf8Options::new().reject_nul().reject_controls().reject_noncharacters();
    /// assert_eq!(options, spelled_out);
    ///
    /// let mut validator = Utf8Validator::new().with_options(options);
    /// validator.push("sensors/キッチン".as_bytes()).unwrap();
    /// validator.push(b"\xC2").unwrap(); // the beginning of U+0085, a control character
    /// let error = validator.push(b"\x85").unwrap_err();
    /// assert_eq!(error.kind(), Utf8ErrorKind::Forbidden);
    /// assert_eq!(error.error_len(), Some(2));
    /// ```
    pub const fn only_mqtt_characters(self) -> Self {
        self.reject_nul().reject_controls().reject_noncharacters()
    }

    /// Accepts only the XML Characters of RFC 9839, section 4.2 (`Char` in XML 1.0, section 2.2): rejects NUL, the C0
    /// controls except HT, LF and CR, and the noncharacters U+FFFE and U+FFFF. DEL, the C1 controls and all other
    /// noncharacters stay accepted.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{Utf8ErrorKind, Utf8Options, Utf8Validator};
    ///
    /// let options = Utf8Options::new().only_xml_characters();
    /// let verdict = |text: &str| Utf8Validator::new().with_options(options).push(text.as_bytes());
    /// assert!(verdict("<p>\t\u{7F}\u{85}\u{1FFFE}</p>\r\n").is_ok());
    /// assert_eq!(verdict("\u{B}").unwrap_err().kind(), Utf8ErrorKind::Forbidden);
    /// assert_eq!(verdict("\u{FFFE}").unwrap_err().kind(), Utf8ErrorKind::Noncharacter);
    /// ```
    pub const fn only_xml_characters(self) -> Self {
        self.rejecting(NUL | C0 | BMP_END)
    }

    /// Accepts only the Unicode Assignables of RFC 9839, section 4.3: rejects NUL, the C0 controls except HT, LF and
    /// CR, DEL, the C1 controls and all noncharacters. The RFC recommends this subset for new protocols and formats.
    pub const fn only_unicode_assignables(self) -> Self {
        self.reject_nul().reject_controls_except_whitespace().reject_noncharacters()
    }

    /// Accepts only characters that untrusted text may show on a terminal, in a log or in a list of names: none of them
    /// controls the terminal or moves other text.
    ///
    /// Rejects NUL, the C0 controls except HT and LF, DEL and the C1 controls; the bidirectional controls (U+061C, U+200E,
    /// U+200F, U+202A to U+202E, U+2066 to U+2069), the line and paragraph separators U+2028 and U+2029, and the
    /// characters without a width, U+200B to U+200D, U+2060 to U+206F and U+FEFF (Unicode Technical Report 36, section
    /// 2; UAX 9, section 2). Without U+200D, emoji that are joined from others fall apart, and without U+200C some Persian spelling
    /// is lost. For prose that nobody has to compare, [`reject_controls_except_whitespace`] is enough. Soft hyphens, variation
    /// selectors, fillers and tags are accepted, although they are invisible on their own.
    ///
    /// Repairs and legacy text are checked too. A [`BomPolicy`](crate::BomPolicy) that removes a BOM comes first.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")]
    /// # {
    /// use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Options};
    ///
    /// let options = Utf8Options::new().only_displayable_characters();
    /// let mut decoder = Utf8Decoder::new().with_options(options);
    /// let mut shown = String::new();
    /// let name = "user\u{202E}gpj.exe\x1B[2J"; // in the other direction, and it clears the screen
    /// let _done = decoder.push_to_string(name.as_bytes(), ErrorMode::Replacement, &mut shown);
    /// assert_eq!(shown, "user\u{FFFD}gpj.exe\u{FFFD}[2J");
    /// # }
    /// ```
    ///
    /// [`reject_controls_except_whitespace`]: Self::reject_controls_except_whitespace
    pub const fn only_displayable_characters(self) -> Self {
        self.rejecting(NUL | CONTROLS | CR | INVISIBLE)
    }

    const fn rejecting(self, classes: u8) -> Self {
        let strictness = self.strictness.with(Strictness { rejected: classes });
        Self { strictness, ..self }
    }

    pub(crate) const fn start(self) -> BomState {
        match self.bom {
            Some(policy) => BomState::new(policy),
            None => BomState::MidStream { skipped: 0 },
        }
    }

    pub(crate) const fn strictness(self) -> Strictness {
        self.strictness
    }

    pub(crate) const fn with_strictness(self, strictness: Strictness) -> Self {
        Self { strictness, ..self }
    }

    /// Returns the BOM policy, or `None` for a mid-stream start.
    pub(crate) const fn bom(self) -> Option<BomPolicy> {
        self.bom
    }
}

impl Default for Utf8Options {
    fn default() -> Self {
        Self::new()
    }
}

/// A set of well-formed characters to reject.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Strictness {
    /// The rejected classes, one bit each.
    rejected: u8,
}

const NUL: u8 = 1;
/// U+0001 to U+001F, except HT, LF and CR.
const C0: u8 = 2;
/// HT, LF, CR.
const WHITESPACE: u8 = 4;
/// DEL, and U+0080 to U+009F.
const C1: u8 = 8;
/// U+FFFE and U+FFFF.
const BMP_END: u8 = 16;
/// The other noncharacters: U+FDD0 to U+FDEF, and the last two code points of the planes from 1.
const OTHER_NONCHARACTERS: u8 = 32;
/// CR alone.
const CR: u8 = 64;
/// Bidirectional controls, line and paragraph separators, characters without a width.
const INVISIBLE: u8 = 128;
const NONCHARACTERS: u8 = BMP_END | OTHER_NONCHARACTERS;
const CONTROLS: u8 = C0 | C1;
const ALL_CONTROLS: u8 = CONTROLS | WHITESPACE;

impl Strictness {
    /// Returns the strictness that rejects nothing.
    pub(crate) const fn new() -> Self {
        Self { rejected: 0 }
    }

    /// Rejects every character that can be rejected.
    #[cfg(feature = "serde")]
    pub(crate) const ALL: Self = Self { rejected: u8::MAX };

    /// Returns the class with this name.
    pub(crate) fn of_class(name: &str) -> Option<Self> {
        let (class, _) = CLASSES.iter().find(|(_, known)| *known == name)?;
        Some(Self { rejected: *class })
    }

    /// Rejects what `other` rejects too.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self { rejected: self.rejected | other.rejected }
    }

    #[inline]
    pub(crate) const fn is_off(self) -> bool {
        self.rejected == 0
    }

    /// Finds the first rejected character of `text`: its index, its length and the kind of error.
    pub(crate) fn find_rejected(self, text: &str) -> Option<(usize, usize, Utf8ErrorKind)> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if SUSPECT[usize::from(bytes[at])]
                && let Some((len, kind)) = self.judge(&bytes[at..])
            {
                return Some((at, len, kind));
            }
            at += 1;
        }
        None
    }

    /// Returns whether `byte` is a rejected ASCII character.
    pub(crate) fn rejects_ascii(self, byte: u8) -> bool {
        byte.is_ascii_control() && self.rejects(&[byte])
    }

    /// Returns whether the first character of `bytes`, which are well-formed, is rejected.
    pub(crate) fn rejects(self, bytes: &[u8]) -> bool {
        self.judge(bytes).is_some()
    }

    /// Returns the length of the first character of `bytes` and the kind of error, if that character is
    /// rejected. `bytes` are well-formed.
    fn judge(self, bytes: &[u8]) -> Option<(usize, Utf8ErrorKind)> {
        let (class, len, kind) = match *bytes {
            [0, ..] => (NUL, 1, Utf8ErrorKind::Forbidden),
            [b'\t' | b'\n', ..] => (WHITESPACE, 1, Utf8ErrorKind::Forbidden),
            [b'\r', ..] => (WHITESPACE | CR, 1, Utf8ErrorKind::Forbidden),
            [0x01..=0x1F, ..] => (C0, 1, Utf8ErrorKind::Forbidden),
            [0x7F, ..] => (C1, 1, Utf8ErrorKind::Forbidden),
            [0xC2, 0x80..=0x9F, ..] => (C1, 2, Utf8ErrorKind::Forbidden),
            [0xD8, 0x9C, ..] => (INVISIBLE, 2, Utf8ErrorKind::Forbidden),
            [0xE2, 0x80, 0x8B..=0x8F | 0xA8..=0xAE, ..]
            | [0xE2, 0x81, 0xA0..=0xAF, ..]
            | [0xEF, 0xBB, 0xBF, ..] => (INVISIBLE, 3, Utf8ErrorKind::Forbidden),
            [0xEF, 0xBF, 0xBE | 0xBF, ..] => (BMP_END, 3, Utf8ErrorKind::Noncharacter),
            [0xEF, 0xB7, 0x90..=0xAF, ..] => (OTHER_NONCHARACTERS, 3, Utf8ErrorKind::Noncharacter),
            [0xF0..=0xF4, 0x8F | 0x9F | 0xAF | 0xBF, 0xBF, 0xBE | 0xBF, ..] => {
                (OTHER_NONCHARACTERS, 4, Utf8ErrorKind::Noncharacter)
            }
            _ => return None,
        };
        (self.rejected & class != 0).then_some((len, kind))
    }
}

impl fmt::Debug for Strictness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Strictness ")?;
        f.debug_set().entries(self.classes()).finish()
    }
}

impl Strictness {
    /// Returns the names of the rejected classes: the largest that are rejected as a whole.
    pub(crate) fn classes(self) -> impl Iterator<Item = &'static str> {
        let rejected = CLASSES.iter().filter(move |(class, _)| self.rejected & class == *class);
        rejected.filter(move |(class, _)| !self.has_larger(*class)).map(|(_, name)| *name)
    }

    /// Whether a class that contains `class` and more is rejected.
    fn has_larger(self, class: u8) -> bool {
        CLASSES.iter().any(|&(larger, _)| {
            larger != class && larger & class == class && self.rejected & larger == larger
        })
    }
}

/// The names of the classes.
const CLASSES: [(u8, &str); 10] = [
    (NONCHARACTERS, "noncharacters"),
    (BMP_END, "U+FFFE and U+FFFF"),
    (OTHER_NONCHARACTERS, "other noncharacters"),
    (NUL, "nul"),
    (CONTROLS, "controls"),
    (C0, "C0 controls"),
    (C1, "DEL and C1 controls"),
    (WHITESPACE, "whitespace"),
    (CR, "CR"),
    (INVISIBLE, "invisible characters"),
];

/// The first bytes of characters that can be rejected.
static SUSPECT: [bool; 256] = {
    let mut suspect = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        suspect[byte] =
            matches!(byte, 0x00..=0x1F | 0x7F | 0xC2 | 0xD8 | 0xE2 | 0xEF | 0xF0..=0xF4);
        byte += 1;
    }
    suspect
};
