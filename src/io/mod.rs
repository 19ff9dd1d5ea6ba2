//! Text, `char`s and lines from a [`std::io::Read`], and text to a [`std::io::Write`]: for blocking code.
//!
//! | from | use | to |
//! | --- | --- | --- |
//! | a `Read` | [`Utf8Reader`] | a borrowed `&str`; `char`s with [`chars()`](Utf8Reader::chars) |
//! | a `Read` in another charset, or of a file that may begin with a BOM of UTF-16 | [`CharsetReader`] | a `Read`, for a [`Utf8Reader`] |
//! | a [`Utf8Reader`] | [`into_byte_reader()`](Utf8Reader::into_byte_reader) | a `Read` and `BufRead` of well-formed UTF-8 |
//! | text, `char`s, UTF-16 units | [`Utf8Writer`] | a `Write` |
//! | a [`Utf8Reader`] | [`into_lines()`](Utf8Reader::into_lines) | lines, each with number and offset |
//!
//! `Utf8Lines`, `Utf8ByteReader` and `StreamError` are the same types as in `stream`. `Utf8Reader` and `Utf8Writer`
//! have the names of those in `stream`, which are for async code, and most of their methods. They need no runtime. The writer ends
//! with `finish`, writes its buffer when it is dropped, and keeps the text that a failing `write!` has written before.
//!
//! [`BufRead::read_line`](std::io::BufRead::read_line) and [`BufRead::lines`](std::io::BufRead::lines) return an
//! error for a line that is not UTF-8, without its text or the offset, and have no limit. The readers of this
//! module report each error with its offset or repair it, and continue:
//!
//! ```
//! use std::io::Read;
//! use utf8_codec::ErrorMode;
//! use utf8_codec::io::Utf8Reader;
//!
//! // A reader whose reads end inside characters.
//! let file = (&b"5 \xE2\x82"[..]).chain(&b"\xAC, caf\xE9, 6 \xC2"[..]).chain(&b"\xA3"[..]);
//! let mut reader = Utf8Reader::new(file).with_error_mode(ErrorMode::Replacement);
//! let mut text = String::new();
//! while let Some(piece) = reader.next_str()? {
//!     text.push_str(piece);
//! }
//! assert_eq!(text, "5 €, caf\u{FFFD}, 6 £");
//! assert_eq!(reader.decoder().first_error().unwrap().valid_up_to(), 10);
//! # Ok::<_, utf8_codec::io::StreamError<std::io::Error>>(())
//! ```
//!
//! # Errors of the reader or writer
//!
//! [`Interrupted`](std::io::ErrorKind::Interrupted) is not returned: the call is repeated. Any other error,
//! such as a timeout or `WouldBlock`, is returned and loses nothing: you can repeat the call. Only [lines](Utf8Lines#errors)
//! are rejected after some kinds of errors.

mod reader_adaptors;
mod utf8_reader;
mod utf8_writer;

pub use crate::adaptor::charset_reader::CharsetReader;
pub use crate::adaptor::stream_error::StreamError;
pub use crate::adaptor::utf8_byte_reader::Utf8ByteReader;
pub use crate::adaptor::utf8_lines::Utf8Lines;
pub use reader_adaptors::{CharPositions, Chars};
pub use utf8_reader::Utf8Reader;
pub use utf8_writer::Utf8Writer;
