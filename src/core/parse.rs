//! The error of parsing a name: what could not be parsed, and which names are there?

use core::fmt;

/// The error of parsing the name of an [`ErrorMode`](crate::ErrorMode) or a [`BomPolicy`](crate::BomPolicy).
///
/// The message lists the names. It does not contain the name that was passed.
///
/// # Examples
///
/// ```
/// use utf8_codec::BomPolicy;
///
/// let error = "remove".parse::<BomPolicy>().unwrap_err();
/// let message = "unknown BOM policy, expected one of keep, strip, require, forbid";
/// assert_eq!(error.to_string(), message);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseNameError {
    pub(crate) message: &'static str,
}

impl fmt::Display for ParseNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.message)
    }
}

impl core::error::Error for ParseNameError {}
