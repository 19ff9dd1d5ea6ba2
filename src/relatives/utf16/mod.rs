//! Decodes UTF-16 units to UTF-8, chunk by chunk.
//!
//! JavaScript, Java, .NET, Windows and many of their protocols represent text as 16-bit units. A
//! character above U+FFFF is a pair of surrogates, a high one and a low one, and a chunk can end
//! between them. [`Utf16Decoder`] holds the high surrogate until the next unit arrives. The
//! [`ErrorMode`](crate::ErrorMode) decides what replaces a lone surrogate. A [`Utf16Error`] carries
//! its offset.
//!
//! Units are `u16` values in native byte order. Use [`u16::from_be_bytes`] or
//! [`u16::from_le_bytes`] to read them from bytes. U+FEFF is text. For the opposite direction, use
//! [`Utf8Decoder::push_to_utf16`](crate::Utf8Decoder::push_to_utf16). To write a BOM, pass the text
//! to a [`Utf8Encoder`](crate::Utf8Encoder). With the feature `stream`, a `Utf8Writer` accepts
//! units and writes bytes.
//!
//! ```
//! # #[cfg(feature = "alloc")]
//! # {
//! use utf8_codec::ErrorMode;
//! use utf8_codec::utf16::Utf16Decoder;
//!
//! let (mut decoder, mut text) = (Utf16Decoder::new(), String::new());
//! for chunk in [&[0x48, 0x69, 0x20, 0xD83D][..], &[0xDC4B], &[0xDC4B]] {
//!     decoder.push_to_string(chunk, ErrorMode::Replacement, &mut text);
//! }
//! assert_eq!((&*text, decoder.finish()), ("Hi 👋\u{FFFD}", Ok(())));
//! assert_eq!(decoder.first_error().unwrap().offset(), 5);
//! # }
//! ```

mod decoder;
mod error;
mod unit;

pub use decoder::Utf16Decoder;
pub use error::Utf16Error;
