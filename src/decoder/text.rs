//! Slices to text: how long is the text that the options accept, and what follows it?
//!
//! The layers above `core` import items of `unchecked` and `level` from here.

#[cfg(feature = "alloc")]
use alloc::{borrow::Cow, string::String};

#[cfg(feature = "alloc")]
pub(crate) use utf8_simd::text::push_utf16;
#[cfg(feature = "std")]
pub(crate) use utf8_simd::text::split_line;
pub(crate) use utf8_simd::text::{BlockPart, BlockParts, ShortText, first_char, split_range};
#[cfg(feature = "std")]
#[allow(unused_imports)] // each adaptor needs some of them
pub(crate) use utf8_simd::text::{GatheredText, SplitTo, take_text};
#[cfg(feature = "std")]
pub(crate) use utf8_simd::text::{ReadBuffer, assert_char_boundary};
pub(crate) use utf8_simd::{Level, NulForm, surrogate_pair};

use crate::decoder::ends::tail;
use crate::decoder::error::{Utf8Error, Utf8ErrorKind};
#[cfg(feature = "alloc")]
use crate::decoder::mode::ErrorMode;
use crate::decoder::options::Strictness;
#[cfg(feature = "alloc")]
use crate::decoder::utf8_decoder::Utf8Decoder;
use utf8_simd::Validated;
use utf8_simd::text::{self, whole_text};

/// What follows accepted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The end of the input, or up to three bytes that can still become a sequence.
    End,
    /// A maximal subpart of this length.
    IllFormed(usize),
    /// A well-formed character of this length that the options reject.
    Rejected(usize, Utf8ErrorKind),
}

/// How dense errors are: how the end of the text is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorDensity {
    /// Validate to the end of the input.
    Rare,
    /// Validate block by block: each of many errors costs only what precedes it.
    Dense,
    /// As `Dense`, but without the fast paths for single errors: the caller has found all ill-formed parts of a block.
    Batched,
}

impl Ending {
    #[inline]
    fn after(error_len: Option<usize>) -> Self {
        error_len.map_or(Self::End, Self::IllFormed)
    }
}

/// Returns the accepted text at the start of `input`, and what follows it.
#[inline]
pub(crate) fn split_text(
    level: Level,
    input: &[u8],
    strictness: Strictness,
    density: ErrorDensity,
) -> (&str, Ending) {
    match density {
        _ if !strictness.is_off() => split_strictly(level, input, strictness),
        ErrorDensity::Rare => split_far(level, input),
        ErrorDensity::Dense | ErrorDensity::Batched => split_near(level, input),
    }
}

/// Like [`split_text`] with [`ErrorDensity::Dense`], without strictness.
pub(crate) fn split_near(level: Level, input: &[u8]) -> (&str, Ending) {
    let (text, error_len) = text::split_near(level, input);
    (text, Ending::after(error_len))
}

/// Like [`split_text`] with [`ErrorDensity::Rare`], without strictness.
#[inline]
pub(crate) fn split_far(level: Level, input: &[u8]) -> (&str, Ending) {
    let (text, error_len) = text::split_far(level, input);
    (text, Ending::after(error_len))
}

/// Returns `input` if all of it is text, without strictness. For lines that are not ASCII: it does not test for short
/// ASCII first, as [`whole_text`] does.
#[cfg(feature = "std")]
#[inline]
pub(crate) fn all_text(input: &[u8]) -> Option<&str> {
    let (text, _) = split_far(Level::detect(), input);
    (text.len() == input.len()).then_some(text)
}

/// Like [`split_far`], but unmasks all of `input` in the same pass. Returns the unmasked input first.
#[cfg(feature = "std")]
#[inline]
pub(crate) fn unmask_and_split_far(
    level: Level,
    input: &mut [u8],
    mask: [u8; 4],
) -> (&[u8], &str, Ending) {
    let (input, text, error_len) = text::unmask_and_split_far(level, input, mask);
    (input, text, Ending::after(error_len))
}

fn split_strictly(level: Level, input: &[u8], strictness: Strictness) -> (&str, Ending) {
    let (text, ending) = text::split_until(level, input, |text| {
        let (at, len, kind) = strictness.find_rejected(text)?;
        Some((at, Ending::Rejected(len, kind)))
    });
    (text, ending.unwrap_or_else(Ending::after))
}

/// Decodes `text` into `chars`, which has room for one `char` per byte. Returns the number of `char`s
/// written.
#[cfg(feature = "stream")]
pub(crate) fn decode_chars(text: &str, chars: &mut [char]) -> usize {
    debug_assert!(text.len() <= chars.len());
    let level = Level::detect();
    if level.decodes_many() || text.is_ascii() {
        level.decode_chars(text, chars).1
    } else {
        // One by one, as these levels do it, but without their bounds checks: 1.2 to 1.3 times as
        // fast (`blocks/*` of `benches/versus`).
        chars.iter_mut().zip(text.chars()).map(|(place, c)| *place = c).count()
    }
}

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
    whole_text(Level::detect(), bytes).map_err(|found| error_in(bytes, found))
}

#[cold]
fn error_in(bytes: &[u8], Validated { valid_up_to, error_len }: Validated) -> Utf8Error {
    let (offset, rest) = (valid_up_to as u64, tail(bytes, valid_up_to));
    match error_len.get() {
        Some(len) => Utf8Error::classify(offset, rest, len),
        None => Utf8Error::new(offset, Utf8ErrorKind::Incomplete, rest, None),
    }
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
    let (valid, _) = split_far(Level::detect(), bytes);
    if valid.len() == bytes.len() {
        return Cow::Borrowed(valid);
    }
    let mut text = String::with_capacity(bytes.len());
    text.push_str(valid);
    let (mut decoder, mode) = (Utf8Decoder::new(), ErrorMode::Replacement);
    let _done = decoder.push_to_string(&bytes[valid.len()..], mode, &mut text);
    let _repaired = decoder.finish_to_string(mode, &mut text);
    Cow::Owned(text)
}

/// Returns the number of `char`s in `text`, like `text.chars().count()`.
///
/// It costs one pass with vector instructions.
///
/// # Examples
///
/// ```
/// assert_eq!(utf8_codec::count_chars("žluť"), 4);
/// assert_eq!(utf8_codec::count_chars("👩‍🚀"), 3); // one emoji can be several characters
/// ```
#[must_use]
pub fn count_chars(text: &str) -> usize {
    Level::detect().count_chars(text)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_line_starts_with_its_ascii_and_is_text_as_a_whole() {
        for (input, first) in [("ab\ncd", "ab"), ("\ncd", ""), ("ažluť\n", "a"), ("ab", "ab")] {
            let text = split_line(Level::detect(), b'\n', input.as_bytes());
            assert!(input.starts_with(text) && text.starts_with(first), "{text:?} of {input:?}");
            assert_eq!(all_text(input.as_bytes()), Some(input));
        }
        assert_eq!(all_text(b"ab\xFF"), None);
        assert_eq!(all_text(b"ab\xE2\x82"), None);
    }
}
