//! Server-sent events (`text/event-stream`, WHATWG HTML sections 9.2.5 and 9.2.6), from and to bytes.
//!
//! | from | to | use | feature |
//! | --- | --- | --- | --- |
//! | slices | [`Event`]s | [`EventDecoder`] | `alloc` |
//! | a `Stream` of chunks, an HTTP body or an `AsyncRead` | a `Stream` of [`Event`]s | [`Utf8Stream::events`](crate::stream::Utf8Stream::events) | `stream` |
//! | a function that connects | a `Stream` of [`Event`]s of one connection after another | [`EventSource`](crate::stream::EventSource) | `stream` |
//! | [`Event`]s, comments | text | [`EventEncoder`] | `alloc` |
//!
//! Chunks can end anywhere: inside a character, inside the BOM, or between CR and LF.
//!
//! # What the standard leaves to the client
//!
//! - Check that the status is 200 and the media type is `text/event-stream`. Its parameter `charset` is
//!   ignored: an event stream is always UTF-8.
//! - Reconnect when the stream ends: after [`reconnection_time`](EventDecoder::reconnection_time), with
//!   [`last_event_id`](EventDecoder::last_event_id) in the header `Last-Event-ID`.
//!
//! [`Reconnection`] decides both, without a connection or a timer.
//!
//! # Limits
//!
//! The standard has none. Here each part of an event has one, which you can change:
//!
//! | part | default | set by | why |
//! | --- | --- | --- | --- |
//! | the data and the type together | 16 MiB | [`with_max_length`](EventDecoder::with_max_length) | servers send files as base64: this fits one of 12 MB. It is also the limit of a WebSocket message |
//! | the ID | 8 KiB | [`with_max_id_length`](EventDecoder::with_max_id_length) | the client returns the ID in a request header, and common servers reject header fields above 8 KiB |
//!
//! An event that exceeds a limit is an [error](EventError::TooLong), and the next event is unaffected. Its ID does not
//! apply, so a client that reconnects requests the event again.
//!
//! All events that have the same ID share one copy of it: what you hold of a stream is proportional to the bytes received.

mod event;
mod event_decoder;
mod reconnection;
mod shared_str;

pub use event::{Event, EventEncoder, EventError, EventItem, EventPart};
pub use event_decoder::{EventDecoder, EventItems, Events};
#[cfg(feature = "stream")]
pub(crate) use event_decoder::{Found, Rejection};
pub use reconnection::{Reconnection, ResponseError};
pub use shared_str::SharedStr;
