//! Detects the kind of a byte stream as it arrives: ASCII, UTF-8, UTF-16 or UTF-32 by its BOM, a
//! legacy encoding, or binary data.
//!
//! A result is certain when no further byte can change it. Until then, [`Detector::kind`] returns
//! the kind so far and [`Detector::may_become`] the kinds that are still possible. `finish` makes
//! the result certain.
//!
//! # The rules
//!
//! 1. *BOM*, at the start of the stream. `FE FF` is UTF-16BE, `FF FE` UTF-16LE, `00 00 FE FF` UTF-32BE,
//!    `FF FE 00 00` UTF-32LE. These results are final: the detector ignores the bytes after them.
//!    `FF FE 00 00` could also be UTF-16LE text that starts with NUL, which does not occur in practice;
//!    so after `FF FE` the detector waits for two more bytes. A BOM that is cut off by the end of
//!    the stream does not count: `FF FE` and `FF FE 00` are UTF-16LE, but `FF`, `FE` and `EF BB` are legacy,
//!    and `00`, `00 00` and `00 00 FE` are binary.
//! 2. *Control characters.* A byte `00..=08`, `0B`, `0E..=1A` or `1C..=1F` makes the stream binary
//!    permanently. These are the binary data bytes of the WHATWG MIME Sniffing Standard; HT, LF, FF, CR,
//!    ESC and DEL are not among them. UTF-16 and UTF-32 without a BOM are binary, because their ASCII
//!    characters contain NULs.
//! 3. *UTF-8.* An ill-formed sequence makes the stream legacy, even after the BOM `EF BB BF`. So does an
//!    incomplete sequence at the end. To examine only the first part of a file, call
//!    [`Detector::kind`] instead of `finish`.
//! 4. Otherwise: no bytes are [`StreamKind::Empty`], only bytes below 80 [`StreamKind::Ascii`], and other
//!    bytes [`StreamKind::Utf8`], or [`StreamKind::Utf8WithBom`] if they start with `EF BB BF`. Seven-bit
//!    encodings with escapes, such as ISO-2022-JP and UTF-7, are ASCII.
//!
//! | so far | changed by | to |
//! | --- | --- | --- |
//! | empty | any byte | any |
//! | ASCII | a character of two bytes or more | UTF-8, with BOM if that is the first |
//! | ASCII, UTF-8 (with or without BOM) | an ill-formed sequence | legacy |
//! | ASCII, UTF-8, legacy | a control character of rule 2 | binary |
//! | legacy: only `FF` or `FE` | the rest of a BOM | UTF-16, UTF-32 |
//! | binary: only `00`, `00 00` or `00 00 FE` | the rest of a BOM | UTF-32BE |
//! | UTF-16LE: only `FF FE` or `FF FE 00` | `00 00`, or the second `00` | UTF-32LE |
//!
//! All other binary, UTF-16 and UTF-32 results are certain. The name of a legacy encoding is never
//! certain. With the feature `chardetng`, `LegacyGuesser` guesses it.
//!
//! ```
//! use utf8_codec::detect::{Detector, StreamKind};
//!
//! let mut detector = Detector::new();
//! assert_eq!(detector.push(b"name: Andr\xC3"), StreamKind::Ascii);
//! assert!(!detector.is_certain());
//! assert_eq!(detector.push(b"\xA9\n"), StreamKind::Utf8);
//! assert_eq!(detector.finish(), StreamKind::Utf8);
//! ```

mod detector;
#[cfg(feature = "chardetng")]
mod guesser;
mod kind;

pub use detector::Detector;
#[cfg(feature = "chardetng")]
pub use guesser::LegacyGuesser;
pub use kind::StreamKind;
