//! Which variants of a dialect are accepted, and what is a leading U+FEFF?

use crate::core::bom::BomPolicy;
use crate::core::mode::ErrorMode;

/// The options of a [`DialectDecoder`] or [`DialectEncoder`]: which variants of the dialect are accepted.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectOptions};
///
/// const LIKE_JAVA: DialectOptions = DialectOptions::new().with_unpaired_surrogates();
///
/// let half = b"\xED\xA0\xBD.";
/// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8).with_options(LIKE_JAVA);
/// assert!(decoder.push(half).all(|piece| piece.is_ok()));
/// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
/// assert!(decoder.push(half).next().unwrap().is_err());
/// ```
///
/// [`DialectDecoder`]: crate::dialect::DialectDecoder
/// [`DialectEncoder`]: crate::dialect::DialectEncoder
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DialectOptions {
    unpaired: Unpaired,
    values: Values,
    bom: BomPolicy,
    reported: ErrorSpan,
}

/// Which bytes an error covers if a sequence is complete, but its value is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ErrorSpan {
    /// Those before the first impossible byte, which reports the error.
    Prompt,
    /// The whole sequence, once it is complete.
    Whole,
}

/// Whether unpaired surrogates are accepted in a dialect that writes pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unpaired {
    Rejected,
    Accepted,
}

/// Which values are accepted in a dialect that has more than Unicode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Values {
    All,
    Unicode,
}

impl DialectOptions {
    /// Returns the default options: the dialect as its specification defines it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::DialectOptions;
    ///
    /// assert_eq!(DialectOptions::new(), DialectOptions::default());
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self {
            unpaired: Unpaired::Rejected,
            values: Values::All,
            bom: BomPolicy::Keep,
            reported: ErrorSpan::Prompt,
        }
    }

    /// Accepts unpaired surrogates in [`Cesu8`] and [`ModifiedUtf8`], as Java and ICU do. Has no effect on
    /// other dialects.
    ///
    /// They are ill-formed by default, as TR26 specifies. Java's strings can contain them.
    ///
    /// [`Cesu8`]: crate::dialect::Dialect::Cesu8
    /// [`ModifiedUtf8`]: crate::dialect::Dialect::ModifiedUtf8
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{CodePoint, Dialect, DialectDecoder, DialectOptions, DialectPiece};
    ///
    /// let options = DialectOptions::new().with_unpaired_surrogates();
    /// let mut decoder = DialectDecoder::new(Dialect::Cesu8).with_options(options);
    /// let half = DialectPiece::CodePoint(CodePoint::new(0xDC00).unwrap());
    /// assert_eq!(decoder.push(b"\xED\xB0\x80").next(), Some(Ok(half)));
    /// ```
    #[must_use]
    pub const fn with_unpaired_surrogates(self) -> Self {
        Self { unpaired: Unpaired::Accepted, ..self }
    }

    /// Rejects, in [`Rfc2279`](crate::dialect::Dialect::Rfc2279), what RFC 3629 forbids: values above
    /// U+10FFFF. Has no effect on other dialects, which have none.
    ///
    /// A rejected sequence is one error, [`TooLarge`](crate::dialect::DialectErrorKind::TooLarge). Where it
    /// is repaired it covers all four to six bytes; where it is reported, those before the first byte that
    /// RFC 3629 does not allow there.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectErrorKind, DialectOptions};
    ///
    /// let options = DialectOptions::new().with_rfc3629_limit();
    /// let mut decoder = DialectDecoder::new(Dialect::Rfc2279).with_options(options);
    /// let (bytes, mut text) = (b"\xFC\x84\x80\x80\x80\x80", String::new());
    /// let _done = decoder.push_to_string(bytes, ErrorMode::Replacement, &mut text);
    /// assert_eq!(text, "\u{FFFD}");
    /// let error = decoder.first_error().unwrap();
    /// assert_eq!((error.kind(), error.error_len()), (DialectErrorKind::TooLarge, Some(6)));
    /// # }
    /// ```
    #[must_use]
    pub const fn with_rfc3629_limit(self) -> Self {
        Self { values: Values::Unicode, ..self }
    }

    /// Reports a complete sequence that is rejected for its value as one error of all its bytes, which
    /// is how errors are repaired.
    ///
    /// By default the first impossible byte reports it, and the error covers the bytes before that byte:
    /// see [the module](crate::dialect#errors). Use this to repair the errors that
    /// [`push`](crate::dialect::DialectDecoder::push) reports.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectOptions};
    ///
    /// let error_len = |options| {
    ///     let mut decoder = DialectDecoder::new(Dialect::Cesu8).with_options(options);
    ///     let error = decoder.push(b"\xED\xB0\x80").next().unwrap().unwrap_err();
    ///     error.error_len()
    /// };
    /// assert_eq!(error_len(DialectOptions::new()), Some(1));
    /// assert_eq!(error_len(DialectOptions::new().with_whole_errors()), Some(3));
    /// ```
    #[must_use]
    pub const fn with_whole_errors(self) -> Self {
        Self { reported: ErrorSpan::Whole, ..self }
    }

    /// Sets the BOM policy of a decoder; [`BomPolicy::Keep`] by default. An encoder ignores it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::BomPolicy;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectOptions, DialectPiece};
    ///
    /// let options = DialectOptions::new().with_bom(BomPolicy::Strip);
    /// let mut decoder = DialectDecoder::new(Dialect::Utf8b).with_options(options);
    /// assert_eq!(decoder.push(b"\xEF\xBB").count(), 0); // may be a BOM
    /// assert_eq!(decoder.push(b"\xBFhi").next(), Some(Ok(DialectPiece::Text("hi"))));
    /// assert!(decoder.bom_seen());
    /// ```
    #[must_use]
    pub const fn with_bom(self, policy: BomPolicy) -> Self {
        Self { bom: policy, ..self }
    }

    pub(super) const fn unpaired(self) -> Unpaired {
        self.unpaired
    }

    pub(super) const fn bom(self) -> BomPolicy {
        self.bom
    }

    /// Returns the span of errors in this mode.
    pub(super) const fn span(self, mode: ErrorMode) -> ErrorSpan {
        match mode {
            ErrorMode::Fatal => self.reported,
            _ => ErrorSpan::Whole,
        }
    }

    pub(super) const fn values(self) -> Values {
        self.values
    }
}

impl Default for DialectOptions {
    fn default() -> Self {
        Self::new()
    }
}
