//! The peers of server-sent events. One that does not return all events is in brackets: it fails at the first ill-formed byte,
//! or holds back the event before a CR at the end.

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures::Stream;

use crate::events::{Kind, Source, count, pushed};
use crate::support::Row;

pub(crate) fn peers<'a>(row: &mut Row<'a>, chunks: &'a [Bytes], kind: &Kind, form: &str) {
    type Contender = (&'static str, &'static str, fn(&[Bytes]) -> u64);
    const PEERS: [Contender; 6] = [
        ("sse-stream", "(sse-stream)", sse_stream),
        ("sse-parse", "(sse-parse)", sse_parse),
        ("sse-parse push", "(sse-parse push)", sse_parse_push),
        ("sseer", "(sseer)", sseer),
        ("eventsource-stream2", "(eventsource-stream2)", eventsource_stream2),
        ("eventsource-stream", "(eventsource-stream)", eventsource_stream),
    ];
    let answer = pushed(chunks);
    for (name, in_brackets, pass) in PEERS {
        let is_slow = name == "eventsource-stream" && kind.event > 4 << 10; // half a second for a megabyte
        if is_slow || (name == "sse-parse push" && form != "events") {
            continue;
        }
        let returned = pass(chunks);
        let pass = move || pass(black_box(chunks));
        row.expect(returned as usize);
        if returned == answer { row.peer(name, pass) } else { row.floor(in_brackets, pass) }
    }
    row.expect(answer as usize);
}

fn sse_stream(chunks: &[Bytes]) -> u64 {
    let events = sse_stream::SseByteStream::new(Source(chunks.iter()));
    count(events, |event| {
        event.as_ref().ok().and_then(|event| event.data.as_ref()).map_or(0, |data| data.len())
    })
}

fn sse_parse(chunks: &[Bytes]) -> u64 {
    let events = sse_parse::EventStream::new(Source(chunks.iter()));
    count(events, |event| event.as_ref().map_or(0, |event| event.data.len()))
}

fn sse_parse_push(chunks: &[Bytes]) -> u64 {
    let (mut parser, mut answer) = (sse_parse::SseParser::new(), 0);
    for chunk in chunks {
        parser.feed(chunk);
        while let Some(event) = parser.next_event() {
            answer += 1 + black_box(&event).data.len() as u64;
        }
    }
    answer
}

fn sseer(chunks: &[Bytes]) -> u64 {
    let events = sseer::EventStream::new(Source(chunks.iter()));
    count(events, |event| event.as_ref().map_or(0, |event| event.data.len()))
}

fn eventsource_stream(chunks: &[Bytes]) -> u64 {
    let events = eventsource_stream::EventStream::new(Source(chunks.iter()));
    count(events, |event| event.as_ref().map_or(0, |event| event.data.len()))
}

fn eventsource_stream2(chunks: &[Bytes]) -> u64 {
    let events = eventsource_stream2::EventStream::new(Source(chunks.iter()));
    let mut is_over = false;
    let (mut events, mut answer) = (pin!(events), 0);
    let mut cx = Context::from_waker(Waker::noop());
    while !is_over {
        match events.as_mut().poll_next(&mut cx) {
            Poll::Ready(Some(Ok(event))) => answer += 1 + black_box(&event).data.len() as u64,
            // It repeats an error forever.
            Poll::Ready(Some(Err(_)) | None) => is_over = true,
            Poll::Pending => {}
        }
    }
    answer
}
