//! Functions over whole slices: is this text, and what text is it with its errors repaired?

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;

#[cfg(feature = "std")]
use bytes::Bytes;
#[cfg(feature = "std")]
use bytestring::ByteString;
#[cfg(feature = "std")]
use utf8_simd::text::take_text_with;
use utf8_simd::{Validated, tail, text::whole_text};

use crate::decoder::{Utf8Decoder, Utf8Error, Utf8ErrorKind};

/// Returns `bytes` as text if all of them are well-formed UTF-8, like [`core::str::from_utf8`].
///
/// It costs one pass with vector instructions, and copies nothing. A chunk of a stream can end inside a
/// character, so use a [`Utf8Validator`](crate::Utf8Validator) or a [`Utf8Decoder`](crate::Utf8Decoder)
/// for chunks. These also have options; this function has none: a BOM is text.
///
/// # Errors
///
/// The first ill-formed part. Its offset and length are those of std's error; a [`Utf8Error`] also has its
/// bytes and its kind.
///
/// # Examples
///
/// ```
/// use utf8_codec::Utf8ErrorKind;
///
/// assert_eq!(utf8_codec::from_utf8(b"caf\xC3\xA9"), Ok("café"));
/// let error = utf8_codec::from_utf8(b"caf\xE9!").unwrap_err();
/// assert_eq!((error.valid_up_to(), error.error_len()), (3, Some(1)));
/// assert_eq!(error.kind(), Utf8ErrorKind::Truncated);
/// ```
#[inline]
pub fn from_utf8(bytes: &[u8]) -> Result<&str, Utf8Error> {
    whole_text(bytes).map_err(|found| error_in(bytes, found))
}

#[cold]
fn error_in(bytes: &[u8], Validated { valid_up_to, error_len }: Validated) -> Utf8Error {
    let (offset, rest) = (valid_up_to as u64, tail(bytes, valid_up_to));
    match error_len.get() {
        Some(len) => Utf8Error::classify(offset, rest, len),
        None => Utf8Error::new(offset, Utf8ErrorKind::Incomplete, rest, None),
    }
}

/// Returns `bytes` as text that shares their memory, if all of them are well-formed UTF-8.
///
/// It costs what [`from_utf8`] does.
///
/// # Errors
///
/// Those of [`from_utf8`].
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
///
/// assert_eq!(utf8_codec::from_utf8_bytes(Bytes::from("café")).unwrap(), "café");
/// let error = utf8_codec::from_utf8_bytes(Bytes::from_static(b"caf\xE9!")).unwrap_err();
/// assert_eq!(error.valid_up_to(), 3);
/// ```
#[cfg(feature = "std")]
pub fn from_utf8_bytes(mut bytes: Bytes) -> Result<ByteString, Utf8Error> {
    let (text, error) = take_text_with(&mut bytes, |bytes| match from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => ("", Some(error)),
    });
    error.map_or(Ok(text), Err)
}

/// Returns `bytes` as text, with U+FFFD for each ill-formed part, like
/// [`String::from_utf8_lossy`](alloc::string::String::from_utf8_lossy).
///
/// Borrows if all bytes are well-formed. Otherwise it allocates the text, at least `bytes.len()` bytes of
/// capacity. For the chunks of a stream, use [`Utf8Decoder::push_lossy`]: a chunk can end inside a
/// character. For other repairs, use [`Utf8Decoder::push_to_string`].
///
/// # Examples
///
/// ```
/// use std::borrow::Cow;
///
/// let text = utf8_codec::from_utf8_lossy("žluť".as_bytes());
/// assert!(matches!(text, Cow::Borrowed("žluť")));
/// assert_eq!(utf8_codec::from_utf8_lossy(b"caf\xE9, 5 \xE2\x82"), "caf\u{FFFD}, 5 \u{FFFD}");
/// ```
#[cfg(feature = "alloc")]
pub fn from_utf8_lossy(bytes: &[u8]) -> Cow<'_, str> {
    let mut decoder = Utf8Decoder::new();
    let mut text = decoder.push_lossy(bytes);
    if !decoder.incomplete().is_empty() {
        text.to_mut().push(char::REPLACEMENT_CHARACTER);
    }
    text
}
