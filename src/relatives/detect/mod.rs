//! What a stream of bytes is, said as they arrive: ASCII, UTF-8, UTF-16 or UTF-32 by its signature,
//! a legacy encoding, or no text at all.
//!
//! A verdict is certain when no byte to come can change it; before, [`Detection`] says what the
//! stream is so far, and what it may become. `finish` makes it certain.
//!
//! # The rules
//!
//! 1. *Signatures*, at the very start. `FE FF` is UTF-16BE, `FF FE` UTF-16LE, `00 00 FE FF` UTF-32BE,
//!    `FF FE 00 00` UTF-32LE. That is a verdict: what comes behind is not looked at. `FF FE 00 00` might
//!    be UTF-16LE whose text begins with NUL as well; nobody writes that, and so `FF FE` waits for two
//!    more bytes. A signature that the end cuts short is none: `FF FE` and `FF FE 00` are UTF-16LE, but
//!    `FF`, `FE` and `EF BB` are legacy, `00`, `00 00` and `00 00 FE` are binary.
//! 2. *Control characters.* A byte `00` to `08`, `0B`, `0E` to `1A`, or `1C` to `1F` makes it binary,
//!    for good: the binary data bytes of the WHATWG MIME Sniffing Standard. (Not HT, LF, FF, CR, ESC,
//!    nor DEL.) So UTF-16 and UTF-32 without a signature are binary, as their ASCII has NULs.
//! 3. *UTF-8.* What is ill-formed makes it legacy, also behind the signature `EF BB BF`. So does an
//!    unfinished sequence at the end: who looks at the first part of a file only, and cuts it
//!    anywhere, asks [`Detector::so_far`] and does not call `finish`.
//! 4. If nothing of that is the case: no byte at all is [`Kind::Empty`], bytes below 80 only are
//!    [`Kind::Ascii`], others [`Kind::Utf8`], or [`Kind::Utf8WithBom`] if they begin with `EF BB BF`.
//!    Encodings of seven bits with escapes, such as ISO-2022-JP and UTF-7, are ASCII here.
//!
//! | so far | changed by | to |
//! | --- | --- | --- |
//! | empty | any byte | any |
//! | ASCII | a character of two bytes or more | UTF-8, with signature if that is the first |
//! | ASCII, UTF-8 (with or without signature) | an ill-formed sequence | legacy |
//! | ASCII, UTF-8, legacy | a control character of rule 2 | binary |
//! | legacy: `FF` or `FE` and nothing else | the rest of a signature | UTF-16, UTF-32 |
//! | binary: `00`, `00 00` or `00 00 FE` and nothing else | the rest of a signature | UTF-32BE |
//! | UTF-16LE: `FF FE` or `FF FE 00` and nothing else | `00 00`, or the other `00` | UTF-32LE |
//!
//! Binary otherwise, and UTF-16 and UTF-32 otherwise, are certain. Which legacy encoding it is cannot be
//! certain; with the feature `detect`, `LegacyGuesser` makes a guess.
//!
//! ```
//! use utf8_codec::detect::{Detector, Kind};
//!
//! let mut detector = Detector::new();
//! let detection = detector.push(b"name: Andr\xC3");
//! assert_eq!((detection.kind(), detection.is_certain()), (Kind::Ascii, false));
//! assert_eq!(detector.push(b"\xA9\n").kind(), Kind::Utf8);
//! assert_eq!(detector.finish(), Kind::Utf8);
//! ```

mod detection;
mod detector;
#[cfg(feature = "detect")]
mod guesser;

pub use detection::{Detection, Kind};
pub use detector::Detector;
#[cfg(feature = "detect")]
pub use guesser::LegacyGuesser;
