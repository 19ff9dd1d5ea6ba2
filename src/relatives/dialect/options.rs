use crate::core::bom::BomPolicy;
use crate::dialect::Dialect;

/// A dialect, and what of it is let through.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectOptions};
///
/// const AS_JAVA_DOES: DialectOptions =
///     DialectOptions::new(Dialect::ModifiedUtf8).with_unpaired_surrogates();
///
/// let half = b"\xED\xA0\xBD.";
/// let mut decoder = DialectDecoder::with_options(AS_JAVA_DOES);
/// assert!(decoder.push(half).all(|piece| piece.is_ok()));
/// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
/// assert!(decoder.push(half).next().unwrap().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DialectOptions {
    dialect: Dialect,
    unpaired: Unpaired,
    values: Values,
    bom: BomPolicy,
}

/// What becomes of a surrogate without a partner, where the dialect writes pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unpaired {
    Refused,
    Passed,
}

/// Which values are let through, where the dialect has more than Unicode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Values {
    All,
    Unicode,
}

impl DialectOptions {
    /// Returns the dialect as its specification has it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectOptions};
    ///
    /// assert_eq!(DialectOptions::new(Dialect::Cesu8), Dialect::Cesu8.into());
    /// ```
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, unpaired: Unpaired::Refused, values: Values::All, bom: BomPolicy::Keep }
    }

    /// Lets surrogates without a partner through, in [`Cesu8`](Dialect::Cesu8) and
    /// [`ModifiedUtf8`](Dialect::ModifiedUtf8), as Java and ICU do. Says nothing to the others.
    ///
    /// TR26 calls them ill-formed, and so they are otherwise. Java's strings may have them.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{CodePoint, Dialect, DialectDecoder, DialectOptions, DialectPiece};
    ///
    /// let options = DialectOptions::new(Dialect::Cesu8).with_unpaired_surrogates();
    /// let mut decoder = DialectDecoder::with_options(options);
    /// let half = DialectPiece::CodePoint(CodePoint::new(0xDC00).unwrap());
    /// assert_eq!(decoder.push(b"\xED\xB0\x80").next(), Some(Ok(half)));
    /// ```
    #[must_use]
    pub const fn with_unpaired_surrogates(self) -> Self {
        Self { unpaired: Unpaired::Passed, ..self }
    }

    /// Refuses, in [`Rfc2279`](Dialect::Rfc2279), what RFC 3629 forbids: values above U+10FFFF. Says
    /// nothing to the others, which have none.
    ///
    /// What is refused is one error of its four to six bytes
    /// ([`TooLarge`](crate::dialect::DialectErrorKind::TooLarge)), or, in
    /// [`ErrorMode::Fatal`](crate::ErrorMode::Fatal), as much of it as came before the first byte
    /// that RFC 3629 does not have there.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectErrorKind, DialectOptions};
    ///
    /// let options = DialectOptions::new(Dialect::Rfc2279).with_rfc3629_limit();
    /// let mut decoder = DialectDecoder::with_options(options).with_error_mode(ErrorMode::Skip);
    /// let error = decoder.push(b"\xFC\x84\x80\x80\x80\x80").next().unwrap().unwrap_err();
    /// assert_eq!((error.kind(), error.error_len()), (DialectErrorKind::TooLarge, Some(6)));
    /// ```
    #[must_use]
    pub const fn with_rfc3629_limit(self) -> Self {
        Self { values: Values::Unicode, ..self }
    }

    /// Sets what an initial U+FEFF means to a decoder, as in UTF-8; [`BomPolicy::Keep`] if not set.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::BomPolicy;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectOptions, DialectPiece};
    ///
    /// let options = DialectOptions::new(Dialect::Utf8b).with_bom(BomPolicy::Strip);
    /// let mut decoder = DialectDecoder::with_options(options);
    /// assert_eq!(decoder.push(b"\xEF\xBB").count(), 0); // may be a signature
    /// assert_eq!(decoder.push(b"\xBFhi").next(), Some(Ok(DialectPiece::Text("hi"))));
    /// assert!(decoder.bom_seen());
    /// ```
    #[must_use]
    pub const fn with_bom(self, policy: BomPolicy) -> Self {
        Self { bom: policy, ..self }
    }

    /// Returns the dialect.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectOptions};
    ///
    /// assert_eq!(DialectOptions::new(Dialect::Wtf8).dialect(), Dialect::Wtf8);
    /// ```
    pub const fn dialect(self) -> Dialect {
        self.dialect
    }

    pub(super) const fn unpaired(self) -> Unpaired {
        self.unpaired
    }

    pub(super) const fn bom(self) -> BomPolicy {
        self.bom
    }

    pub(super) const fn values(self) -> Values {
        self.values
    }
}

impl From<Dialect> for DialectOptions {
    fn from(dialect: Dialect) -> Self {
        Self::new(dialect)
    }
}
