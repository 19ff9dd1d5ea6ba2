//! Decodes text that may not be UTF-8: ill-formed parts are decoded in a legacy encoding.
//!
//! Old protocols and old files do not declare their encoding. Most of them contain UTF-8 today.
//! Text that is not well-formed is in the encoding that was common before. A [`Fallback`] selects
//! that encoding, and how much of the stream an ill-formed sequence affects:
//!
//! | | decoded in the legacy encoding | held at most |
//! | --- | --- | --- |
//! | [`Fallback::part`] | ill-formed parts only | 6 bytes |
//! | [`Fallback::line`] | the line, from its first byte to its LF: the rule of IRC | 64 KiB (configurable) and 3 bytes; at least 6 |
//! | [`Fallback::rest`] | everything from the first ill-formed byte | 3 bytes |
//! | [`Fallback::without_bom`] | everything, unless the stream begins with a BOM | 3 bytes |
//!
//! In single-byte encodings, `part` does the same as [`ErrorMode::Latin1`] and
//! [`ErrorMode::Windows1252`]. It is for text that was joined from several sources. In multi-byte
//! encodings it is the least reliable: adjacent ill-formed parts are decoded together, but a
//! character whose second byte is ASCII is split.
//!
//! [`FallbackDecoder`] decodes without input or output. `Utf8Codec`, `Utf8LinesCodec` and
//! `Utf8Stream` have a method `with_fallback`.
//!
//! ```
//! use utf8_codec::ErrorMode;
//! use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
//!
//! let irc = Fallback::line(LegacyEncoding::windows_1252());
//! let mut decoder = FallbackDecoder::new(irc);
//! let mut text = String::new();
//! for chunk in [&b"caf\xC3"[..], b"\xA9\ncaf\xE9 f\xC3\xBCr 2 \x80\nth\xC3\xA9\n"] {
//!     let _done = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
//! }
//! decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
//! assert_eq!(text, "café\ncafé fÃ¼r 2 €\nthé\n");
//! assert_eq!(decoder.fallback_count(), 1);
//! assert_eq!(decoder.first_fallback(), Some(9)); // in the second line, after its ASCII
//! ```
//!
//! # What falls back
//!
//! Only ill-formed bytes fall back. A forbidden or missing BOM, and a character that the
//! [options](crate::Utf8Options) reject, are errors, because they are UTF-8. ASCII characters that the options
//! reject are rejected in legacy text too: an `E9` in a line does not let a NUL pass. Other legacy
//! characters are not checked.
//!
//! Most byte strings are also valid in a legacy encoding, so a wrong choice of encoding cannot be
//! detected. Overlong forms are never decoded as the character they imitate: `C0 80` may become `À`
//! and a control character, but not NUL.
//!
//! [`ErrorMode::Latin1`]: crate::ErrorMode::Latin1
//! [`ErrorMode::Windows1252`]: crate::ErrorMode::Windows1252

mod decoder;
#[cfg(feature = "codec")]
mod line;
#[cfg(any(feature = "codec", feature = "stream"))]
mod owned;
mod settings;
mod switch;

pub use decoder::FallbackDecoder;
pub use settings::Fallback;

pub use crate::relatives::legacy::LegacyEncoding;

#[cfg(feature = "codec")]
pub(crate) use line::LineFallback;
#[cfg(feature = "codec")]
pub(crate) use owned::take_next;
pub(crate) use switch::Switch;
