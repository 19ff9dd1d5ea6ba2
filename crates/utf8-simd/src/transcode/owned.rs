//! Conversion into a `String` or a `Vec`.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

use super::{Errors, Source, Stop, Target, utf8::push_damaged};
use crate::validate::{PrefixEnd, valid_prefix};

/// Returns `bytes` as text, with U+FFFD for each ill-formed part, like [`String::from_utf8_lossy`].
///
/// Borrows if all bytes are well-formed.
///
/// # Examples
///
/// ```
/// use std::borrow::Cow;
///
/// use utf8_simd::from_utf8_lossy;
///
/// assert!(matches!(from_utf8_lossy("žluť".as_bytes()), Cow::Borrowed("žluť")));
/// assert_eq!(from_utf8_lossy(b"caf\xE9, 5 \xE2\x82"), "caf\u{FFFD}, 5 \u{FFFD}");
/// ```
pub fn from_utf8_lossy(bytes: &[u8]) -> Cow<'_, str> {
    let (valid, end) = valid_prefix(bytes);
    if end == PrefixEnd::Input {
        return Cow::Borrowed(valid);
    }
    let mut text = String::with_capacity(bytes.len());
    text.push_str(valid);
    push_damaged(&bytes[valid.len()..], &mut text);
    Cow::Owned(text)
}

/// Converts all of `input` from the encoding `S` to a `String`.
///
/// # Errors
///
/// The first ill-formed or incomplete sequence.
///
/// # Examples
///
/// ```
/// use utf8_simd::{Latin1, Utf16, transcode_to_string};
///
/// assert_eq!(transcode_to_string::<Latin1>(b"caf\xE9")?, "café");
/// let error = transcode_to_string::<Utf16>(&[0x63, 0xDC00]).unwrap_err();
/// assert_eq!(error.to_string(), "invalid UTF-16 at unit 1: ill-formed sequence of 1 unit");
/// # Ok::<(), utf8_simd::TranscodeError>(())
/// ```
#[doc(alias("from_utf16", "utf16_to_string", "latin1_to_string"))]
pub fn transcode_to_string<S: Source + ?Sized>(input: &S::Input) -> Result<String, TranscodeError> {
    let mut text = String::new();
    let (read, stop) = S::push_to_string(input, Errors::Stop, &mut text);
    TranscodeError::of::<S>(read, stop).map_or(Ok(text), Err)
}

/// Converts all of `input` from the encoding `S` to a `String`, with U+FFFD for what is ill-formed, as
/// [`transcode_lossy`](super::transcode_lossy).
#[doc(alias = "from_utf16_lossy")]
pub fn transcode_to_string_lossy<S: Source + ?Sized>(input: &S::Input) -> String {
    let mut text = String::new();
    S::push_to_string(input, Errors::Replace, &mut text);
    text
}

/// Converts all of `input` from the encoding `S` to a `Vec` of the units of the encoding `T`.
///
/// # Errors
///
/// The first ill-formed or incomplete sequence, or the first character that `T` lacks.
#[doc(alias = "encode_utf16")]
pub fn transcode_to_vec<S, T>(input: &S::Input) -> Result<Vec<T::Unit>, TranscodeError>
where
    S: Source + ?Sized,
    T: Target,
{
    let (units, read, stop) = to_vec::<S, T>(input, Errors::Stop);
    TranscodeError::of::<S>(read, stop).map_or(Ok(units), Err)
}

/// Converts all of `input` from the encoding `S` to a `Vec` of the units of the encoding `T`, and replaces what is
/// ill-formed or missing in `T`, as [`transcode_lossy`](super::transcode_lossy).
pub fn transcode_to_vec_lossy<S, T>(input: &S::Input) -> Vec<T::Unit>
where
    S: Source + ?Sized,
    T: Target,
{
    to_vec::<S, T>(input, Errors::Replace).0
}

/// Why an input cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranscodeError {
    offset: usize,
    stop: Stop,
    encoding: &'static str,
    unit: &'static str,
}

impl TranscodeError {
    fn of<S: Source + ?Sized>(offset: usize, stop: Stop) -> Option<Self> {
        let unit = if size_of::<S::InputUnit>() == 1 { "byte" } else { "unit" };
        match stop {
            Stop::Done | Stop::Full => None,
            _ => Some(Self { offset, stop, encoding: S::NAME, unit }),
        }
    }

    /// Returns the number of units of the input before what cannot be converted.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns what cannot be converted: [`Stop::IllFormed`], [`Stop::Incomplete`] or [`Stop::Unmappable`].
    pub const fn stop(&self) -> Stop {
        self.stop
    }
}

impl fmt::Display for TranscodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, stop, encoding, unit } = self;
        match stop {
            Stop::Unmappable(_) => {
                write!(f, "no such character in the encoding to convert to at {unit} {offset}")
            }
            Stop::IllFormed(len) => {
                let plural = if *len == 1 { "" } else { "s" };
                write!(f, "invalid {encoding} at {unit} {offset}: ")?;
                write!(f, "ill-formed sequence of {len} {unit}{plural}")
            }
            _ => {
                write!(
                    f,
                    "invalid {encoding} at {unit} {offset}: unexpected end inside a character"
                )
            }
        }
    }
}

impl core::error::Error for TranscodeError {}

/// Returns the converted units, the number of units read, and why it stopped.
fn to_vec<S, T>(input: &S::Input, errors: Errors) -> (Vec<T::Unit>, usize, Stop)
where
    S: Source + ?Sized,
    T: Target,
{
    /// The most units that are initialised before they are written, so that they are still in the cache.
    const INITIALISED: usize = 4096;
    let len = input.as_ref().len();
    let mut units = Vec::new();
    // If this is more than there can be, the result may still fit.
    let _ = units.try_reserve_exact(len);
    let mut read = 0;
    loop {
        let written = units.len();
        units.resize(written + (len - read).clamp(4, INITIALISED), T::Unit::default());
        let done = T::from_source::<S>(&input[read..], &mut units[written..], errors);
        units.truncate(written + done.written);
        read += done.read;
        if done.stop != Stop::Full {
            return (units, read, done.stop);
        }
    }
}
