//! The incremental UTF-8 decoder: one state machine, and the types built on it.
//!
//! The types are at the root of the crate: [`Utf8Decoder`], [`Utf8Validator`],
//! [`Utf8Encoder`]. Here are the types that their methods return, the contract that all
//! incremental decoders of the crate keep, and how the decoder works.
//!
//! # The contract of an incremental decoder
//!
//! It holds for `Utf8Validator`, `Utf8Decoder`, `DialectDecoder`, `FallbackDecoder`, `Utf16Decoder` and
//! `TerminalDecoder`. `tests/api/contract.rs` checks each of them.
//!
//! - `new` is a `const fn`. It takes only arguments that have no default. Settings are `with_*` builders,
//!   called before the first push. The constructors of a `FallbackDecoder` (`part`, `line` and others) name
//!   what falls back.
//! - `push(chunk)` reports: it yields pieces, each a `Result`. A validator yields no text and returns the
//!   first error. A decoder that cannot return borrowed text (`Utf16Decoder`, `FallbackDecoder`) has no `push`.
//! - `push_to_string(chunk, mode, &mut text)`, `push_to_slice` and the like repair: the [`ErrorMode`] is an
//!   argument, and no decoder stores one. They return [`Progress`]: the units read, how many of these are
//!   held, the units written, and the [`Status`]. They never write part of a character or part of a repair.
//!   Whatever the status, continue with `input[read..]`.
//! - `finish()` ends the stream. Each call returns one error that the end decides, until `Ok`. If the end
//!   can also complete a piece, calls return `Ok(Some(piece))` until `Ok(None)`.
//!   `finish_to_string(mode, &mut text)` repairs instead. Further calls return `Ok`. A `FallbackDecoder` has only
//!   this form: the end can decide that a whole line is legacy text.
//! - `position()` is the offset of the next byte, held bytes included. `incomplete()` returns the held
//!   bytes. `error_count()` and `first_error()` describe the stream so far; a validator has returned its errors,
//!   and does not count them. `bom_seen()` does too, for decoders that have a [`BomPolicy`].
//! - `reset()` starts a new stream with the same settings.
//! - An empty chunk changes nothing.
//! - How the input is split into chunks never affects the text, the errors or their offsets.
//! - After an error, decoding continues with the next byte. After `finish`, it continues too: offsets keep
//!   counting, and no BOM is expected until `reset`.
//!
//! [`BomPolicy`]: crate::BomPolicy
//! [`ErrorMode`]: crate::ErrorMode
//!
//! # How it works
//!
//! ```text
//!  chunk ──► Partial ──► Scanner ──► level: how far is this well-formed, and how does it end?
//!            ≤ 3 bytes     │
//!            of a split    ├─ Step::Text      well-formed text, borrowed from the chunk
//!            character     ├─ Step::Skip      a removed BOM, or the rest of a character at a mid-stream start
//!                          ├─ Step::Error     one maximal subpart, or a character that the options reject
//!                          └─ Step::NeedMore  ≤ 3 bytes that can still become a character or a BOM
//!
//!  Utf8Validator = Scanner + Partial                returns the first error of a chunk
//!  Utf8Decoder   = Scanner + Partial + Utf8Stats    yields text and errors, or repairs by an ErrorMode
//! ```
//!
//! The scanner has two states: what can still happen at the start of the stream, and how dense errors are:
//!
//! ```text
//!   start:   Bom(policy) ─── BOM, any other byte, or end ──► Over
//!            MidStream ─── up to 3 continuation bytes ─────► Over ─── a CR ends a line ──► AfterCr
//!                                                             ▲ LF, or any other byte, or end │
//!                                                             └───────────────────────────────┘
//!
//!   density:              error
//!                 Rare ──────────────► Dense     Rare: validate the whole chunk at once
//!                  ▲                    │        Dense: validate block by block, so that each of
//!                  └────────────────────┘              many errors costs only what precedes it
//!                    a chunk ends in text
//!
//!                 Dense ─────────────► Batched   Batched: as `Dense`, without the fast paths for single errors:
//!                  ▲  error in a block  │               `Pieces` has found all errors of a block
//!                  └────────────────────┘
//!            the end of the block, or the next push
//! ```
//!
//! The source has these words besides those of the guide:
//!
//! | word | meaning |
//! | --- | --- |
//! | level | an implementation of the inner loops for one instruction set ([`utf8_simd::Level`]) |
//! | block | a fixed number of bytes that a level loads at once |
//! | partial character | the incomplete bytes that a decoder holds between two chunks, at most three |
//! | fast path | of a scanner: its answer is that of the level, because the start is over, no character is rejected, and errors are rare |
//!
//! # Store forwarding
//!
//! A load takes its value from an earlier store that is still in the store buffer only if that one store
//! wrote all the bytes of the load. If they come from several smaller stores, the load waits until all of
//! them have reached the cache, about a dozen cycles: a *store-to-load forwarding stall*. That is a large
//! part of the cost of a character split across chunks, of an error, or of a line of twenty bytes. The code
//! avoids it in five ways:
//!
//! - Small values are written and copied in whole words (`Partial`, `Utf8Error`).
//! - State is changed in place, not in a copy that is written back (`Utf8Decoder::scanner_mut`).
//! - Structs have no padding, so that they are copied in whole words (`Line`).
//! - Functions with a fast and a slow path return each result on its own path. If both paths wrote their
//!   result to one memory location, it would be written in parts and then copied as a whole.
//! - Functions that return such a value are inlined, or the value is read before it is moved.
//!
//! A comment at each of them names the bench that shows the effect.

pub(crate) mod bom;
pub mod boundary;
pub(crate) mod encoder;
pub(crate) mod error;
#[cfg(feature = "alloc")]
pub(crate) mod limit;
pub(crate) mod mode;
pub(crate) mod options;
pub(crate) mod partial;
pub(crate) mod position;
pub(crate) mod progress;
pub(crate) mod scanner;
#[cfg(feature = "serde")]
mod serialize;
pub(crate) mod slices;
pub(crate) mod stats;
pub(crate) mod utf8_decoder;
pub(crate) mod validator;

pub use mode::Repair;
pub use progress::{Progress, Status};
#[cfg(feature = "std")]
pub use utf8_decoder::owned::OwnedPieces;
pub use utf8_decoder::pieces::{Piece, Pieces};

pub(crate) use bom::{BOM, BomPolicy, BomState};
pub(crate) use boundary::floor_char_boundary;
pub(crate) use encoder::Utf8Encoder;
pub(crate) use error::{ParseNameError, Utf8Error, Utf8ErrorKind, fmt_bytes};
#[cfg(feature = "alloc")]
pub(crate) use limit::{append_within, push_within};
pub(crate) use mode::{EVERY_WINDOWS_1252, ErrorMode, WINDOWS_1252_C1};
pub(crate) use options::{Strictness, Utf8Options};
pub(crate) use partial::Partial;
pub(crate) use position::TextPosition;
pub(crate) use progress::progress;
pub(crate) use scanner::{AtEnd, ErrorDensity, Scanner, Step};
pub(crate) use stats::{ErrorStats, Utf8Stats};
pub(crate) use utf8_decoder::Utf8Decoder;
#[cfg(feature = "alloc")]
pub(crate) use utf8_decoder::lossy::SingleByte;
#[cfg(feature = "std")]
pub(crate) use utf8_decoder::masked::{Mask, Unmasked};
#[cfg(feature = "std")]
pub(crate) use utf8_decoder::owned::free_if_empty;
pub(crate) use validator::Utf8Validator;
