//! UTF-16 units, cut anywhere into chunks, to UTF-8.
//!
//! JavaScript, Java, .NET, Windows and many protocols made for them hand out text as 16-bit units. A
//! character beyond U+FFFF is a pair of surrogates, a high one and a low one, and a chunk may end
//! between them. [`Utf16Decoder`] keeps the high one until its partner comes. What becomes of a
//! surrogate that has none, a [`SurrogateMode`] says; an [`Utf16Error`] tells where it stands.
//!
//! Units are those of the machine, `u16`: bytes in a byte order are put together by the caller, with
//! [`u16::from_be_bytes`] or [`u16::from_le_bytes`]. U+FEFF is text. The other direction is
//! [`Utf8Decoder::push_to_utf16`](crate::Utf8Decoder::push_to_utf16). A signature is written by an
//! [`Utf8Encoder`](crate::Utf8Encoder) behind it. With the feature `stream`, a `Utf8Writer` takes units
//! and writes bytes, with a signature if wanted.
//!
//! ```
//! # #[cfg(feature = "alloc")]
//! # {
//! use utf8_codec::utf16::{SurrogateMode, Utf16Decoder};
//!
//! let (mut decoder, mut text) = (Utf16Decoder::new(), String::new());
//! for chunk in [&[0x48, 0x69, 0x20, 0xD83D][..], &[0xDC4B], &[0xDC4B]] {
//!     decoder.push_to_string(chunk, SurrogateMode::Replacement, &mut text);
//! }
//! assert_eq!((&*text, decoder.finish()), ("Hi 👋\u{FFFD}", Ok(())));
//! assert_eq!(decoder.first_error().unwrap().offset(), 5);
//! # }
//! ```

mod decoder;
mod error;
mod mode;
mod units;

pub use decoder::Utf16Decoder;
pub use error::{Utf16Error, Utf16ErrorKind};
pub use mode::SurrogateMode;
