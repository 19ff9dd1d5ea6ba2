//! Bytes to `str`: is all of an input well-formed UTF-8, and otherwise how much of it?

use core::fmt;

use crate::simd::{Level, Validated};
use crate::text;

/// Returns `bytes` as text if all of them are well-formed UTF-8, like [`core::str::from_utf8`].
///
/// Short ASCII is tested inline, without a call.
///
/// # Errors
///
/// The first ill-formed or incomplete sequence, with the values of std's error.
#[inline]
pub fn from_utf8(bytes: &[u8]) -> Result<&str, Utf8Error> {
    text::whole_text(bytes).map_err(Utf8Error::from)
}

/// Returns `bytes` as text that can be changed, like [`core::str::from_utf8_mut`].
///
/// # Errors
///
/// As [`from_utf8`].
#[inline]
pub fn from_utf8_mut(bytes: &mut [u8]) -> Result<&mut str, Utf8Error> {
    text::whole_text_mut(bytes).map_err(Utf8Error::from)
}

/// Whether all of `bytes` are well-formed UTF-8.
#[inline]
#[must_use]
pub fn is_utf8(bytes: &[u8]) -> bool {
    text::whole_text(bytes).is_ok()
}

/// Why a well-formed prefix ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixEnd {
    /// The prefix is the whole input.
    Input,
    /// An incomplete sequence follows, and is all that is left: 1 to 3 bytes, which further bytes may complete.
    Incomplete(usize),
    /// An ill-formed maximal subpart of 1 to 3 bytes follows (Unicode 3.9): what one U+FFFD replaces.
    IllFormed(usize),
}

/// Splits off the longest well-formed prefix of `input`, and returns why it ended: one step of a stream or a parser.
///
/// For inputs in which errors are rare. It reads as much as 2 KiB after the prefix, so that a long input takes few
/// branches. If the last call found an error, the next one is probably near: call [`valid_prefix_dense`].
///
/// # Examples
///
/// ```
/// use utf8_simd::{PrefixEnd, valid_prefix, valid_prefix_dense};
///
/// let mut input = &b"10 \xE2\x82\xAC or \xFF$12 \xE2\x82"[..];
/// let mut text = String::new();
/// let (mut prefix, mut end) = valid_prefix(input);
/// let held = loop {
///     text.push_str(prefix);
///     input = &input[prefix.len()..];
///     match end {
///         PrefixEnd::Input => break 0,
///         PrefixEnd::Incomplete(len) => break len, // until the next chunk
///         PrefixEnd::IllFormed(len) => {
///             text.push(char::REPLACEMENT_CHARACTER);
///             input = &input[len..];
///         }
///     }
///     (prefix, end) = valid_prefix_dense(input);
/// };
/// assert_eq!((&text[..], held), ("10 € or \u{FFFD}$12 ", 2));
/// ```
#[inline]
pub fn valid_prefix(input: &[u8]) -> (&str, PrefixEnd) {
    // A load from nowhere, of which nothing counts, takes long.
    if input.is_empty() {
        return ("", PrefixEnd::Input);
    }
    let (text, error_len) = text::split_far(Level::detect(), input);
    (text, end_of(input, text, error_len))
}

/// Returns the same as [`valid_prefix`], at a cost in proportion to the prefix: for inputs in which errors are dense.
///
/// A short prefix is read in words, a long one block by block, and nothing after its last block. A long prefix takes
/// longer than by [`valid_prefix`].
// Always inlined: a call would return the result of `split_near` through memory again. Rows `pieces/*/1-in-64`.
#[inline(always)]
pub fn valid_prefix_dense(input: &[u8]) -> (&str, PrefixEnd) {
    let (text, error_len) = text::split_near(Level::detect(), input);
    (text, end_of(input, text, error_len))
}

#[inline(always)]
fn end_of(input: &[u8], text: &str, error_len: Option<usize>) -> PrefixEnd {
    match (error_len, input.len() - text.len()) {
        (Some(len), _) => PrefixEnd::IllFormed(len),
        (None, 0) => PrefixEnd::Input,
        (None, len) => PrefixEnd::Incomplete(len),
    }
}

/// Unmasks the payload of a WebSocket frame in place (RFC 6455 section 5.3): `bytes[i] ^= mask[i % 4]`.
///
/// If a payload arrives in pieces, call [`mask.rotate_left`](slice::rotate_left) with the length of each piece,
/// modulo 4, before the next one.
#[inline]
pub fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    Level::detect().unmask(bytes, mask);
}

/// Unmasks all of `bytes`, like [`unmask`], and validates them in the same pass, like [`from_utf8`].
///
/// # Errors
///
/// As [`from_utf8`]. All of `bytes` are unmasked nevertheless.
///
/// # Examples
///
/// ```
/// // The masked "Hello" of RFC 6455 section 5.7.
/// let mut payload = [0x7F, 0x9F, 0x4D, 0x51, 0x58];
/// let text = utf8_simd::unmask_and_validate(&mut payload, [0x37, 0xFA, 0x21, 0x3D]);
/// assert_eq!(text, Ok("Hello"));
/// ```
#[inline]
pub fn unmask_and_validate(bytes: &mut [u8], mask: [u8; 4]) -> Result<&str, Utf8Error> {
    match text::unmask_and_split_far(Level::detect(), bytes, mask) {
        (bytes, text, _) if text.len() == bytes.len() => Ok(text),
        (_, text, error_len) => {
            let error_len = error_len.map(|len| len as u8);
            Err(Utf8Error { valid_up_to: text.len(), error_len })
        }
    }
}

/// Returns the number of `char`s in `text`, like `text.chars().count()`.
#[inline]
#[must_use]
pub fn count_chars(text: &str) -> usize {
    Level::detect().count_chars(text)
}

/// Returns the number of UTF-16 units that encode `text`, like `text.encode_utf16().count()`.
#[inline]
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    Level::detect().count_utf16(text)
}

/// Where an input stops being well-formed UTF-8: the counterpart of [`core::str::Utf8Error`].
///
/// # Examples
///
/// ```
/// let error = utf8_simd::from_utf8(b"caf\xE9 noir").unwrap_err();
/// assert_eq!((error.valid_up_to(), error.error_len()), (3, Some(1)));
/// assert_eq!(error.to_string(), "invalid UTF-8 at byte 3: ill-formed sequence of 1 byte");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utf8Error {
    valid_up_to: usize,
    error_len: Option<u8>,
}

impl Utf8Error {
    /// Returns the index of the ill-formed or incomplete sequence: the bytes before it are well-formed.
    #[inline]
    pub const fn valid_up_to(&self) -> usize {
        self.valid_up_to
    }

    /// Returns the length of the ill-formed maximal subpart (Unicode 3.9), 1 to 3 bytes, or `None` if the input ends
    /// inside a sequence, which further bytes may complete.
    #[inline]
    pub const fn error_len(&self) -> Option<usize> {
        match self.error_len {
            Some(len) => Some(len as usize),
            None => None,
        }
    }
}

impl From<Validated> for Utf8Error {
    #[inline]
    fn from(found: Validated) -> Self {
        let error_len = found.error_len.get().map(|len| len as u8);
        Self { valid_up_to: found.valid_up_to, error_len }
    }
}

impl fmt::Display for Utf8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid UTF-8 at byte {}: ", self.valid_up_to)?;
        match self.error_len {
            None => f.write_str("unexpected end inside a character"),
            Some(1) => f.write_str("ill-formed sequence of 1 byte"),
            Some(len) => write!(f, "ill-formed sequence of {len} bytes"),
        }
    }
}

impl core::error::Error for Utf8Error {}
