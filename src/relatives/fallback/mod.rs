//! Text that turns out not to be UTF-8 after all, read in a legacy encoding.
//!
//! Old protocols and old files do not say what they are written in. Most are UTF-8 by now; what is
//! not well-formed is in the encoding that was usual in its place. A [`Fallback`] says in which, and
//! how much of the stream an ill-formed sequence takes with it:
//!
//! | | what is read in the legacy encoding | held back at the most |
//! | --- | --- | --- |
//! | [`Fallback::part`] | ill-formed parts, and nothing around them | 6 bytes |
//! | [`Fallback::line`] | the line, from its first byte to its LF: the rule of IRC | 64 KiB, or what is set, and 3 bytes; no less than 6 |
//! | [`Fallback::rest`] | all that follows, from the first ill-formed byte on | 3 bytes |
//!
//! With single bytes, `part` is what [`ErrorMode::Latin1`] and [`ErrorMode::Windows1252`] do. It is
//! for text pasted together from several sources. With encodings of several bytes it is the least
//! reliable: ill-formed parts that touch are read together, but a character whose second byte is
//! ASCII is torn.
//!
//! [`FallbackDecoder`] is the machine, without input or output. `with_fallback` brings it into
//! `Utf8Codec`, `Utf8LinesCodec` and `Utf8Stream`.
//!
//! ```
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
//! assert_eq!(decoder.report().runs, 1);
//! assert_eq!(decoder.report().first, Some(9)); // in the second line; in front of it stands ASCII
//! ```
//!
//! # What counts as UTF-8, and what does not
//!
//! Only what is ill-formed falls back. A signature that is forbidden or missing, and a character that
//! a [`Strictness`] refuses, are UTF-8; they stay errors. In legacy text, too, ASCII characters that a
//! `Strictness` refuses are refused: no NUL slips through because there is an `E9` in its line. Other
//! legacy characters are not judged.
//!
//! A legacy encoding gives most byte strings some meaning, so that nothing tells when it is the wrong
//! one. Overlong forms are never what they pretend to be: `C0 80` may become `À` and a control
//! character, but not NUL.
//!
//! [`Strictness`]: crate::Strictness
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
pub use settings::{Fallback, FallbackReport};

pub use crate::relatives::legacy::LegacyEncoding;

#[cfg(feature = "codec")]
pub(crate) use line::LineFallback;
#[cfg(feature = "codec")]
pub(crate) use owned::take_next;
pub(crate) use switch::Switch;
