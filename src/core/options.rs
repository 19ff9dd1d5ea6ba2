//! The options: how does a stream begin, and what may it contain?

use crate::core::bom::{BomPolicy, Start};
use crate::core::strictness::Strictness;

/// How a stream begins and what it may contain.
///
/// The same value configures validators, decoders, codecs and streams. By default, a leading U+FEFF is text,
/// and every well-formed character is accepted.
///
/// # Examples
///
/// ```
/// use utf8_codec::{BomPolicy, Strictness, Utf8Options, Utf8Validator};
///
/// const CONFIG_FILE: Utf8Options = Utf8Options::new()
///     .with_bom(BomPolicy::Strip)
///     .with_strictness(Strictness::new().reject_nul());
///
/// let mut validator = Utf8Validator::new().with_options(CONFIG_FILE);
/// assert!(validator.push(b"\xEF\xBB\xBFname = ").is_ok());
/// assert_eq!(validator.push(b"\0").unwrap_err().valid_up_to(), 10);
/// ```
///
/// With the feature `serde`, options can come from a configuration file. All fields are optional:
///
/// ```
/// # #[cfg(feature = "serde")] {
/// use utf8_codec::{BomPolicy, Strictness, Utf8Options};
///
/// let json = r#"{ "bom": "strip", "strictness": ["nul", "noncharacters"] }"#;
/// let strictness = Strictness::new().reject_nul().reject_noncharacters();
/// let expected = Utf8Options::new().with_bom(BomPolicy::Strip).with_strictness(strictness);
/// assert_eq!(serde_json::from_str::<Utf8Options>(json).unwrap(), expected);
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Utf8Options {
    beginning: Beginning,
    strictness: Strictness,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Beginning {
    First(BomPolicy),
    MidStream,
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
    #[must_use]
    pub const fn new() -> Self {
        Self { beginning: Beginning::First(BomPolicy::Keep), strictness: Strictness::new() }
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
    #[must_use]
    pub const fn with_bom(self, policy: BomPolicy) -> Self {
        Self { beginning: Beginning::First(policy), ..self }
    }

    /// Sets which well-formed characters are rejected.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{Strictness, Utf8Options, Utf8Validator};
    ///
    /// let options = Utf8Options::new().with_strictness(Strictness::new().reject_noncharacters());
    /// assert!(Utf8Validator::new().with_options(options).push("\u{FFFE}".as_bytes()).is_err());
    /// assert!(Utf8Validator::new().push("\u{FFFE}".as_bytes()).is_ok());
    /// ```
    #[must_use]
    pub const fn with_strictness(self, strictness: Strictness) -> Self {
        Self { strictness, ..self }
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
    #[must_use]
    pub const fn with_mid_stream_start(self) -> Self {
        Self { beginning: Beginning::MidStream, ..self }
    }

    pub(crate) const fn start(self) -> Start {
        match self.beginning {
            Beginning::First(policy) => Start::new(policy),
            Beginning::MidStream => Start::MidStream { skipped: 0 },
        }
    }

    pub(crate) const fn strictness(self) -> Strictness {
        self.strictness
    }
}

/// The parts of the options, for serde.
#[cfg(feature = "serde")]
impl Utf8Options {
    /// Returns the BOM policy, or `None` for a mid-stream start.
    pub(crate) const fn bom(self) -> Option<BomPolicy> {
        match self.beginning {
            Beginning::First(policy) => Some(policy),
            Beginning::MidStream => None,
        }
    }
}

impl Default for Beginning {
    fn default() -> Self {
        Self::First(BomPolicy::Keep)
    }
}
