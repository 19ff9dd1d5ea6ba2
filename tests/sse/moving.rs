//! What becomes different for a program that moves from `eventsource-stream`: see the page of the guide.

use bytes::Bytes;
use futures::stream::{self, FusedStream};
use futures::{FutureExt, StreamExt};
use utf8_codec::stream::{Eventsource, StreamError};

fn data(chunks: &[&'static [u8]]) -> Vec<String> {
    let chunks: Vec<_> =
        chunks.iter().map(|chunk| Ok::<_, ()>(Bytes::from_static(chunk))).collect();
    let mut events = stream::iter(chunks).eventsource();
    let mut data = Vec::new();
    while let Some(event) = events.next().now_or_never().unwrap() {
        data.push(event.unwrap().data.into());
    }
    assert!(events.is_terminated());
    data
}

#[test]
fn a_bom_at_the_start_is_removed() {
    let chunks = [&b"\xEF\xBB\xBFdata: one\n\n"[..], b"\xEF", b"\xBB", b"\xBFdata: one\n\n"];
    assert_eq!(data(&chunks[..1]), ["one"]);
    assert_eq!(data(&chunks[1..]), ["one"]);
}

#[test]
fn events_after_an_ill_formed_byte_are_yielded() {
    assert_eq!(data(&[b"data: caf\xE9\n\n", b"data: tea\n\n"]), ["caf\u{FFFD}", "tea"]);
}

#[test]
fn an_event_that_ends_with_cr_is_yielded_at_once() {
    let chunk = Ok::<_, ()>(Bytes::from_static(b"data: one\r\rdata: two\r\r"));
    let mut events = stream::iter([chunk]).chain(stream::pending()).eventsource();
    for expected in ["one", "two"] {
        assert_eq!(events.next().now_or_never().unwrap().unwrap().unwrap().data, expected);
    }
    assert_eq!(data(&[b"data: one\r\r", b"data: two\r\r"]), ["one", "two"]);
}

#[test]
fn an_endless_event_is_rejected_at_the_limit() {
    let line = Bytes::from("data: ".to_owned() + &"x".repeat(1 << 16));
    let endless = stream::repeat(line.slice(6..)).map(Ok::<_, ()>);
    let source = stream::iter([Ok(line)]).chain(endless);
    let mut events = source.eventsource();
    let error = loop {
        // It lets other tasks run from time to time.
        if let Some(item) = events.next().now_or_never() {
            break item.unwrap().unwrap_err();
        }
    };
    let is_at_limit = matches!(error, StreamError::EventTooLong { offset: 0, max_length, .. } if max_length == 16 << 20);
    assert!(is_at_limit, "{error:?}");
}
