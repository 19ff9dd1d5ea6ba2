//! Where characters begin in bytes, found from any place in at most three steps.
//!
//! UTF-8 synchronizes itself: a byte shows whether it begins a sequence, so that a reader who comes
//! in anywhere finds the next boundary, or the last, by looking at three bytes more. These functions do
//! so in bytes that may be ill-formed. A boundary is an index between two of the units that decoding
//! takes them apart into: well-formed characters, and maximal subparts of ill-formed sequences, of
//! which each is one error. Both ends are boundaries. So bytes cut at a boundary decode to the same
//! text and the same errors as the whole (but that an unfinished sequence, at the end of the bytes, is
//! one unit, whatever comes behind it).
//!
//! For text there are `str::is_char_boundary` and its relatives.
//!
//! Sorting needs no help at all: the order of bytes is the order of code points, so that `str` and
//! `[u8]` compare alike. (The order of UTF-16 units is another.)
//!
//! ```
//! use utf8_codec::boundary;
//!
//! let log = b"temp: 21 \xC2\xB0C, 22 \xB0C";
//! assert_eq!(boundary::floor(log, 10), 9); // not inside the degree sign
//! assert_eq!(boundary::ceil(log, 10), 11);
//! assert_eq!(boundary::floor(log, 17), 17); // that of Latin-1 is an error by itself
//! ```

use core::ops::Range;

use crate::kernel::{error_at_start, sequence_len};

/// Returns the last boundary at or before `index`; behind the end of `bytes`, that end.
///
/// At most three bytes before `index`. Looks at seven bytes at the most.
///
/// # Examples
///
/// ```
/// use utf8_codec::boundary;
///
/// let bytes = "a😀".as_bytes();
/// assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|index| boundary::floor(bytes, index)), [0, 1, 1, 1, 1, 5, 5]);
/// ```
#[must_use]
pub fn floor(bytes: &[u8], index: usize) -> usize {
    unit_around(bytes, index).map_or(index.min(bytes.len()), |unit| unit.start)
}

/// Returns the first boundary at or after `index`; behind the end of `bytes`, that end.
///
/// At most three bytes after `index`. Looks at seven bytes at the most.
///
/// # Examples
///
/// ```
/// use utf8_codec::boundary;
///
/// let bytes = b"\xE2\x82\xAC\xE2\x82 \xE2\x82";
/// assert_eq!(boundary::ceil(bytes, 1), 3);
/// assert_eq!(boundary::ceil(bytes, 4), 5); // behind the two bytes that are one error
/// assert_eq!(boundary::ceil(bytes, 7), 8); // behind the unfinished character
/// ```
#[must_use]
pub fn ceil(bytes: &[u8], index: usize) -> usize {
    unit_around(bytes, index).map_or(index.min(bytes.len()), |unit| unit.end)
}

/// Whether `index` is a boundary; behind the end there is none.
///
/// # Examples
///
/// ```
/// use utf8_codec::boundary;
///
/// assert!(boundary::is_boundary(b"\xC3\xA9", 2));
/// assert!(!boundary::is_boundary(b"\xC3\xA9", 1));
/// assert!(boundary::is_boundary(b"\xC0\x80", 1)); // an overlong form is not a character
/// ```
#[must_use]
pub fn is_boundary(bytes: &[u8], index: usize) -> bool {
    index <= bytes.len() && unit_around(bytes, index).is_none()
}

/// The character or maximal subpart that `index` is inside of.
///
/// A byte that can begin a sequence always begins a unit, since it continues none. So a continuation
/// byte belongs to the unit of the last such byte before it, or is a unit by itself.
fn unit_around(bytes: &[u8], index: usize) -> Option<Range<usize>> {
    let is_continuation = |at: usize| bytes.get(at).is_some_and(|byte| matches!(byte, 0x80..=0xBF));
    if !is_continuation(index) {
        return None;
    }
    let start = (index.saturating_sub(3)..index).rev().find(|&at| !is_continuation(at))?;
    let unit = start..start + unit_len(&bytes[start..bytes.len().min(start + 4)]);
    (unit.end > index).then_some(unit)
}

/// Length of the unit that `bytes`, one to four, begin with.
fn unit_len(bytes: &[u8]) -> usize {
    if bytes[0].is_ascii() {
        return 1;
    }
    error_at_start(bytes).unwrap_or_else(|| {
        let mut padded = [0; 4];
        padded[..bytes.len()].copy_from_slice(bytes);
        match sequence_len(padded) {
            0 => bytes.len(), // unfinished
            len => len,
        }
    })
}
