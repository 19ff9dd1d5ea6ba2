//! Containers for text that has just been validated.
//!
//! They do without a second validation or a copy what safe code cannot, and are safe to call: each takes the text that a
//! function such as [`valid_prefix`](crate::valid_prefix) has returned, and finds where in its own memory that is.
//!
//! | task | item |
//! | --- | --- |
//! | append text and repairs to a `String`, a few bytes at a time | [`TextOutput`] |
//! | append UTF-16 or Latin-1 to a `String` | [`push_utf16`], [`push_latin1`] |
//! | borrow text from the buffer of a reader | [`ReadBuffer`] |
#![cfg_attr(
    feature = "bytes",
    doc = "| split text off `Bytes` or `BytesMut` | [`take_valid_prefix`], [`take_text`], [`take_text_with`] |"
)]
#![cfg_attr(feature = "bytes", doc = "| share a part of `Bytes` as text | [`slice_text`] |")]
#![cfg_attr(
    feature = "bytes",
    doc = "| gather the text of a message that arrives in pieces | [`GatheredText`] |"
)]
//! | validate text that arrives in pieces later, many bytes at once | [`DeferredText`] |
//!
#![cfg_attr(feature = "std", doc = "```")]
#![cfg_attr(not(feature = "std"), doc = "```ignore")]
//! use std::io::Read;
//!
//! use utf8_simd::{text::ReadBuffer, valid_prefix};
//!
//! let mut reader = "texť".as_bytes();
//! let (mut buffer, mut text) = (ReadBuffer::new(), String::new());
//! loop {
//!     // At most 5 bytes at a time, with those of a split character before them.
//!     let read = reader.read(buffer.room(5))?;
//!     if read == 0 {
//!         break;
//!     }
//!     buffer.fill(read);
//!     buffer.accept(|bytes| valid_prefix(bytes).0);
//!     text.push_str(buffer.take());
//! }
//! assert_eq!((&text[..], buffer.rest()), ("texť", &b""[..]));
//! # Ok::<(), std::io::Error>(())
//! ```

#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "alloc")]
mod deferred;
mod parts;
#[cfg(feature = "std")]
mod read_buffer;
#[cfg(feature = "alloc")]
mod text_output;

#[cfg(feature = "bytes")]
pub use bytes::{GatheredText, SplitTo, slice_text, take_text, take_text_with, take_valid_prefix};
#[cfg(feature = "alloc")]
pub use deferred::DeferredText;
pub use parts::ShortText;
#[doc(hidden)]
pub use parts::{BlockPart, BlockParts};
#[cfg(feature = "std")]
pub use read_buffer::{ReadBuffer, assert_char_boundary};
#[cfg(feature = "alloc")]
pub use text_output::{
    OneWrite, Repairs, Replaced, SortedBlock, TextOutput, WriteStep, push_latin1, push_utf16,
};

use core::ops::RangeInclusive;

use crate::simd::{
    HIGH_BITS, Level, Sequence, Validated, ascii_len, head, sequence, sequence_len, tail,
};

/// Splits off the text at the start of `input`. Returns it, and the length of the ill-formed maximal subpart
/// that follows, if there is one.
#[doc(hidden)]
#[inline]
pub fn split_far(level: Level, input: &[u8]) -> (&str, Option<usize>) {
    let found = level.validate(input);
    // SAFETY: `Level::validate` promises that the first `valid_up_to` bytes are well-formed UTF-8,
    // and that index is within `input`. `tests/levels` checks every level.
    let text = unsafe { core::str::from_utf8_unchecked(head(input, found.valid_up_to)) };
    (text, found.error_len.get())
}

/// Returns `input` if all of it is text, and otherwise what was found. For whole messages: many are short ASCII, and
/// the call of a level takes longer than its test.
// Always inlined: a call would take as long as its test of short ASCII. Row `validate/ascii/4-32`.
#[doc(hidden)]
#[inline(always)]
pub fn whole_text(input: &[u8]) -> Result<&str, Validated> {
    if !is_short_text(input) {
        let found = Level::detect().validate(input);
        if found.valid_up_to != input.len() {
            return Err(found);
        }
    }
    // SAFETY: `input` is ASCII or a two-byte character, or `Level::validate` promises that all of its bytes are well-formed UTF-8.
    // `tests/levels` checks every level.
    Ok(unsafe { core::str::from_utf8_unchecked(input) })
}

/// Like [`whole_text`], for text that can be changed.
#[inline]
pub(crate) fn whole_text_mut(input: &mut [u8]) -> Result<&mut str, Validated> {
    whole_text(input)?;
    // SAFETY: `whole_text` has returned all of `input` as a `str`.
    Ok(unsafe { core::str::from_utf8_unchecked_mut(input) })
}

/// Whether `bytes` are at most 64 bytes of ASCII, or one character of two bytes. Rows `validate/*/4-32` and `64`.
///
/// In this order, a text of 8 to 32 bytes takes the fewest jumps.
#[inline(always)]
fn is_short_text(bytes: &[u8]) -> bool {
    const HIGH_BITS_OF_4: u32 = HIGH_BITS as u32;
    let len = bytes.len();
    let (Some(&first), Some(&last), ..=64) = (bytes.first_chunk(), bytes.last_chunk(), len) else {
        return match *bytes {
            [] => true,
            [a] => a < 0x80,
            [a, b] => a | b < 0x80 || matches!([a, b], [0xC2..=0xDF, 0x80..=0xBF]),
            [a, b, c] => a | b | c < 0x80,
            _ => false,
        };
    };
    // Text of other scripts seldom starts with four bytes of ASCII.
    if u32::from_ne_bytes(first) & HIGH_BITS_OF_4 != 0 {
        return false;
    }
    if len <= 32 {
        let (Some(&first), Some(&last_8)) = (bytes.first_chunk(), bytes.last_chunk()) else {
            return u32::from_ne_bytes(last) & HIGH_BITS_OF_4 == 0;
        };
        // Eight bytes from each of four indices cover up to 32 bytes. They may overlap.
        let at = 8.min(len - 8);
        let (Some(&second), Some(&third)) =
            (bytes[at..].first_chunk(), bytes[..len - at].last_chunk())
        else {
            return false; // not reached
        };
        let [first, second, third, last] = [first, second, third, last_8].map(u64::from_ne_bytes);
        return (first | second | third | last) & HIGH_BITS == 0;
    }
    let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
        return false; // not reached
    };
    // One after the other, because a letter that is not ASCII is probably in the first half of Latin text.
    union_of_4(first) & HIGH_BITS == 0 && union_of_4(last) & HIGH_BITS == 0
}

/// The union of four words.
#[inline(always)]
fn union_of_4(bytes: &[u8; 32]) -> u64 {
    let word = |at: usize| u64::from_ne_bytes(bytes.as_chunks().0[at]);
    word(0) | word(1) | word(2) | word(3)
}

/// Returns the character of two or more bytes at the start of `bytes`, if there is one.
#[doc(hidden)]
#[inline]
pub fn first_char(bytes: &[u8; 4]) -> Option<&str> {
    let len = sequence_len(*bytes);
    // SAFETY: `sequence_len` promises that `len` bytes, unless it is 0, are a well-formed sequence.
    (len != 0).then(|| unsafe { core::str::from_utf8_unchecked(&bytes[..len]) })
}

/// Splits off the ASCII at the start of `input`, up to the first of `ends`.
#[doc(hidden)]
#[inline]
pub fn split_line(level: Level, ends: [u8; 2], input: &[u8]) -> &str {
    let text = &input[..level.ascii_before(ends, input)];
    // SAFETY: `Level::ascii_before` promises that these bytes are ASCII. `tests/levels` checks every level.
    unsafe { core::str::from_utf8_unchecked(text) }
}

/// Splits off the bytes of `range`, which ends with ASCII, at the start of `input`.
#[doc(hidden)]
#[inline]
pub fn split_range(level: Level, input: &[u8], range: RangeInclusive<u8>) -> &str {
    assert!(range.end().is_ascii());
    if range.is_empty() {
        return "";
    }
    let end = level.find_outside(input, range).unwrap_or(input.len());
    // SAFETY: `Level::find_outside` promises that all bytes before the one it finds (all bytes if it finds
    // none) are in the range, which is not empty and ends with ASCII: they are ASCII.
    // `tests/levels/pairs.rs` checks every level.
    unsafe { core::str::from_utf8_unchecked(&input[..end]) }
}

/// Like [`split_far`], but a near error costs no more than the text before it: ASCII before an error is read
/// a word at a time, other text block by block.
#[doc(hidden)]
pub fn split_near(level: Level, input: &[u8]) -> (&str, Option<usize>) {
    /// The number of bytes of ASCII that are read a word at a time. Rows `pieces` of
    /// `benches/scenarios/damaged.rs`: `ascii/1-in-64` against `1-in-1024`.
    const FEW: usize = 128;
    /// More bytes than a level leaves before an error, or at the end of the input.
    const REST: usize = 72;
    let mut len = ascii_len(&input[..input.len().min(FEW)]);
    let error_len = loop {
        if len < FEW
            && let Some(0x80..) = input.get(len)
            && let Sequence::IllFormed(error_len) = sequence(tail(input, len))
        {
            break error_len.get();
        }
        len += level.valid_prefix_len(tail(input, len));
        let rest = tail(input, len);
        let (text, error_len) = split_far(Level::SCALAR, &rest[..rest.len().min(REST)]);
        len += text.len();
        if error_len.is_some() || rest.len() <= REST {
            break error_len;
        }
    };
    // SAFETY: the first `len` bytes are a sequence of adjacent parts: ASCII, then `str`s and bytes that
    // `Level::valid_prefix_len` promises to be whole, well-formed characters.
    let text = unsafe { core::str::from_utf8_unchecked(head(input, len)) };
    (text, error_len)
}

/// Splits off the text at the start of `input`, up to the index that `find` returns, and returns it with the
/// value that `find` returns. If `find` returns `None`, the result of [`split_far`] is in `Err`.
///
/// `find` is called on one window of text after another. The first is small, because a match is often near.
#[doc(hidden)]
pub fn split_until<T>(
    level: Level,
    input: &[u8],
    find: impl Fn(&str) -> Option<(usize, T)>,
) -> (&str, Result<T, Option<usize>>) {
    const FIRST: usize = 32;
    const LARGEST: usize = 4096;
    let mut len = 0;
    let mut window = FIRST;
    let mut level_for_window = Level::SCALAR;
    let ending = loop {
        let rest = tail(input, len);
        let (text, error_len) = split_far(level_for_window, &rest[..rest.len().min(window)]);
        if let Some((at, found)) = find(text) {
            len += text.get(..at).map_or(0, str::len);
            break Ok(found);
        }
        len += text.len();
        if error_len.is_some() || rest.len() <= window {
            break Err(error_len);
        }
        window = (window * 4).min(LARGEST);
        level_for_window = level;
    };
    // SAFETY: the first `len` bytes are a sequence of adjacent `str`s. If `find` shortened the last one, `get` has
    // checked that the index is a character boundary.
    let text = unsafe { core::str::from_utf8_unchecked(head(input, len)) };
    (text, ending)
}

/// Like [`split_far`], but unmasks all of `input` in the same pass. Returns the unmasked input first.
#[doc(hidden)]
#[inline]
pub fn unmask_and_split_far(
    level: Level,
    input: &mut [u8],
    mask: [u8; 4],
) -> (&[u8], &str, Option<usize>) {
    let found = level.unmask_and_validate(input, mask);
    let input: &[u8] = input;
    // SAFETY: `Level::unmask_and_validate` promises that the first `valid_up_to` bytes are now
    // well-formed UTF-8, and that index is within `input`. `tests/levels` checks every level.
    let text = unsafe { core::str::from_utf8_unchecked(&input[..found.valid_up_to]) };
    (input, text, found.error_len.get())
}

/// Returns the length of `text` if it is the start of `bytes`, in the same memory, and otherwise 0.
#[cfg(any(feature = "std", feature = "bytes"))]
#[inline]
fn front_len(text: &str, bytes: &[u8]) -> usize {
    let is_front = core::ptr::eq(text.as_ptr(), bytes.as_ptr()) && text.len() <= bytes.len();
    if is_front { text.len() } else { 0 }
}
