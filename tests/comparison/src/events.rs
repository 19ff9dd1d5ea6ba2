//! Server-sent events, some of which are not UTF-8.

use std::convert::Infallible;
use std::panic::catch_unwind;

use bytes::Bytes;
use eventsource_stream::{EventStreamError, Eventsource};
use futures::executor::block_on;
use futures::{FutureExt, StreamExt, stream};
use sse_parse::SseParser;
use sse_stream::SseByteStream;
use utf8_codec::sse::{EventDecoder, EventError};

const DAMAGED: &[u8] = b"data: one\n\ndata: caf\xE9\n\ndata: three\n\n";
const MEBIBYTE: usize = 1 << 20;

type Texts<E> = Vec<Result<String, E>>;

fn ours(chunks: &[&[u8]]) -> Texts<EventError> {
    let mut decoder = EventDecoder::new();
    let mut texts = Vec::new();
    for chunk in chunks {
        texts.extend(decoder.push(chunk).map(|event| event.map(|event| event.data.to_string())));
    }
    texts
}

fn eventsource_stream(chunks: &[&[u8]]) -> Texts<EventStreamError<Infallible>> {
    let events = stream::iter(chunks.iter().map(Ok)).eventsource();
    block_on(events.map(|event| event.map(|event| event.data)).collect())
}

fn sse_stream(chunks: &[&[u8]]) -> Texts<sse_stream::Error> {
    let chunks: Vec<_> = chunks.iter().map(|chunk| Bytes::copy_from_slice(chunk)).collect();
    let events = SseByteStream::new(stream::iter(chunks).map(Ok::<_, Infallible>));
    block_on(events.map(|event| event.map(|event| event.data.unwrap_or_default())).collect())
}

fn sse_parse(chunks: &[&[u8]]) -> Vec<String> {
    let mut parser = SseParser::new();
    chunks.iter().for_each(|chunk| parser.feed(chunk));
    std::iter::from_fn(|| parser.next_event()).map(|event| event.data).collect()
}

fn are_ok<E: std::fmt::Debug>(texts: Texts<E>) -> Vec<String> {
    texts.into_iter().map(Result::unwrap).collect()
}

/// An event of `len` bytes of data.
fn long_event(len: usize) -> Vec<u8> {
    [b"data: ", &*vec![b'a'; len], b"\n\n"].concat()
}

#[test]
fn eventsource_stream_panics_at_a_bom() {
    assert!(catch_unwind(|| eventsource_stream(&[b"\xEF\xBB\xBFdata: one\n\n"])).is_err());
}

#[test]
fn eventsource_stream_yields_no_event_after_an_ill_formed_byte() {
    let texts = eventsource_stream(&[DAMAGED, b"data: four\n\n"]);
    assert_eq!(texts[0].as_deref(), Ok("one"));
    assert!(matches!(texts[1], Err(EventStreamError::Utf8(_))));
    assert_eq!(texts.len(), 2);
}

#[test]
fn eventsource_stream_waits_at_a_cr_and_loses_the_last_event() {
    let chunks = [b"data: one\r\r", b"data: two\r\r"];
    let waiting =
        stream::iter(chunks[..1].iter().map(Ok::<_, Infallible>)).chain(stream::pending());
    assert!(waiting.eventsource().next().now_or_never().is_none());
    assert_eq!(are_ok(eventsource_stream(&chunks.map(|chunk| &chunk[..]))), ["one"]);
}

#[test]
fn eventsource_stream_has_no_limit() {
    let event = long_event(2 * MEBIBYTE);
    assert_eq!(are_ok(eventsource_stream(&[&event]))[0].len(), 2 * MEBIBYTE);
}

#[test]
fn sse_stream_ends_at_an_ill_formed_byte() {
    let texts = sse_stream(&[DAMAGED]);
    assert_eq!(texts[0].as_deref().unwrap(), "one");
    assert!(matches!(texts[1], Err(sse_stream::Error::Utf8Parse(_))));
    assert_eq!(texts.len(), 2);
}

#[test]
fn sse_stream_does_not_inherit_the_last_event_id() {
    let bytes = [Ok::<_, Infallible>(Bytes::from("id: 7\ndata: one\n\ndata: two\n\n"))];
    let events = SseByteStream::new(stream::iter(bytes));
    let ids: Vec<_> = block_on(events.map(|event| event.unwrap().id).collect());
    assert_eq!(ids, [Some("7".to_owned()), None]);
}

#[test]
fn sse_stream_has_no_limit() {
    let event = long_event(2 * MEBIBYTE);
    assert_eq!(are_ok(sse_stream(&[&event]))[0].len(), 2 * MEBIBYTE);
}

#[test]
fn sse_parse_replaces_ill_formed_bytes_and_continues() {
    assert_eq!(sse_parse(&[DAMAGED]), ["one", "caf\u{FFFD}", "three"]);
}

#[test]
fn sse_parse_has_no_limit_by_default() {
    let event = long_event(2 * MEBIBYTE);
    assert_eq!(sse_parse(&[&event])[0].len(), 2 * MEBIBYTE);
    let mut parser = SseParser::new().max_buffer(1000);
    parser.feed(&event);
    assert_eq!(parser.next_event(), None);
}

#[test]
fn all_but_eventsource_stream_remove_a_bom_in_three_chunks() {
    let chunks = [&b"\xEF"[..], b"\xBB", b"\xBFdata: one\n\n"];
    assert_eq!(are_ok(ours(&chunks)), ["one"]);
    assert_eq!(are_ok(sse_stream(&chunks)), ["one"]);
    assert_eq!(sse_parse(&chunks), ["one"]);
}

#[test]
fn ours_replaces_ill_formed_bytes_of_an_event_and_continues() {
    assert_eq!(are_ok(ours(&[DAMAGED])), ["one", "caf\u{FFFD}", "three"]);
}

#[test]
fn ours_returns_an_event_at_a_cr_without_waiting() {
    assert_eq!(are_ok(ours(&[b"data: one\r\rdata: two\r\r"])), ["one", "two"]);
    assert_eq!(are_ok(sse_stream(&[b"data: one\r\r"])), ["one"]);
    assert_eq!(sse_parse(&[b"data: one\r\r"]), ["one"]);
}

#[test]
fn ours_limits_events_by_default() {
    let event = long_event(128 * MEBIBYTE);
    let texts = ours(&[&event, b"data: next\n\n"]);
    assert!(matches!(texts[0], Err(EventError::TooLong { .. })));
    assert_eq!(texts[1].as_deref().unwrap(), "next");
}
