//! Server-sent events: a stream of chunks to events, with slices (`events`) and in a stream of `Bytes` (`event-stream`).
//!
//! An event has one line of data. The answer is the number of events and of the bytes of their data.

use std::convert::Infallible;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures::Stream;
use utf8_codec::sse::EventDecoder;
use utf8_codec::stream::Utf8StreamExt;

use super::support::{Bench, Corpus, Row, Work};

const SCRIPTS: [Corpus; 3] = [Corpus::Ascii, Corpus::Cyrillic, Corpus::Cjk];

/// A kind of stream.
pub(crate) struct Kind {
    /// After `events` in the name of the row.
    name: &'static str,
    /// The bytes of data in an event.
    pub(crate) event: usize,
    line_end: &'static str,
    /// The distance of bytes that are FF, or 0.
    damage: usize,
    chunks: &'static [usize],
}

const KINDS: &[Kind] = &[
    Kind {
        name: "",
        event: 180,
        line_end: "\n",
        damage: 0,
        chunks: &[1, 64, 180, 1460, 16 << 10, 256 << 10],
    },
    Kind { name: "-20", event: 20, line_end: "\n", damage: 0, chunks: &[64, 1460, 16 << 10] },
    Kind { name: "-4k", event: 4 << 10, line_end: "\n", damage: 0, chunks: &[1460, 16 << 10] },
    Kind { name: "-1m", event: 1 << 20, line_end: "\n", damage: 0, chunks: &[16 << 10, 256 << 10] },
    Kind { name: "-cr", event: 180, line_end: "\r", damage: 0, chunks: &[1460, 16 << 10] },
    Kind { name: "-crlf", event: 180, line_end: "\r\n", damage: 0, chunks: &[1460, 16 << 10] },
    Kind { name: "-damaged", event: 180, line_end: "\n", damage: 1024, chunks: &[1460, 16 << 10] },
];

impl Kind {
    fn stream(&self, corpus: Corpus) -> Vec<u8> {
        let count = ((64 << 10) / self.event).max(2);
        let mut stream = Vec::new();
        for n in 0..count {
            let text = corpus.text(self.event, n as u64).replace(['\n', '\r'], " ");
            stream.extend(format!("data: {text}{0}{0}", self.line_end).into_bytes());
        }
        if self.damage > 0 {
            for at in (500..stream.len()).step_by(self.damage) {
                if !matches!(stream[at], b'\n' | b'\r') && at % (self.event + 8) > 6 {
                    stream[at] = 0xFF;
                }
            }
        }
        stream
    }
}

/// Measures a row, given the chunks, the kind, and whether they are pushed (`events`) or a stream.
pub(crate) type EventPeers = for<'a> fn(&mut Row<'a>, &'a [Bytes], &Kind, &str);

pub(crate) fn events(bench: &mut Bench, peers: EventPeers) {
    for kind in KINDS {
        for &size in kind.chunks {
            for corpus in SCRIPTS {
                for form in ["events", "event-stream"] {
                    let what = format!("{form}{}", kind.name);
                    let Some(name) = bench.name(what, corpus.name(), size.to_string()) else {
                        continue;
                    };
                    let stream = kind.stream(corpus);
                    let events = (stream.len() / (kind.event + 6)) as u64;
                    let shared = Bytes::from(stream.clone());
                    let chunks: Vec<_> = (0..stream.len())
                        .step_by(size)
                        .map(|at| shared.slice(at..stream.len().min(at + size)))
                        .collect();
                    let mut row = Row::new(name, Work::new(stream.len(), events as usize, "event"));
                    row.expect(pushed(&chunks) as usize);
                    if form == "events" {
                        row.ours(|| pushed(black_box(&chunks)));
                    } else {
                        row.ours(|| streamed(black_box(&chunks)));
                    }
                    peers(&mut row, &chunks, kind, form);
                    if kind.event > 180 {
                        let (event, copy) = (kind.event + 8, &*chunks);
                        row.expect(copied(&chunks, event) as usize);
                        row.floor("(copy)", move || copied(black_box(copy), event));
                    }
                    bench.measure(row);
                }
            }
        }
    }
}

pub(crate) fn pushed(chunks: &[Bytes]) -> u64 {
    let (mut decoder, mut answer) = (EventDecoder::new(), 0);
    for chunk in chunks {
        for event in decoder.push(chunk) {
            let event = event.expect("no event is too long");
            answer += 1 + black_box(&event).data.len() as u64;
        }
    }
    answer
}

fn streamed(chunks: &[Bytes]) -> u64 {
    count(Source(chunks.iter()).utf8().events(), |event| {
        event.as_ref().expect("no event is too long").data.len()
    })
}

/// What a decoder must do with an event that is cut, besides finding its end and testing its text: it allocates and copies.
fn copied(chunks: &[Bytes], event: usize) -> u64 {
    let (mut copy, mut answer) = (Vec::with_capacity(event), 0);
    for chunk in chunks {
        let mut rest = &chunk[..];
        while !rest.is_empty() {
            let (more, after) = rest.split_at(rest.len().min(event - copy.len()));
            copy.extend_from_slice(more);
            rest = after;
            if copy.len() == event {
                answer += black_box(&copy).len() as u64;
                copy = Vec::with_capacity(event);
            }
        }
    }
    answer
}

/// A stream that is always ready.
pub(crate) struct Source<'a>(pub(crate) std::slice::Iter<'a, Bytes>);

impl Stream for Source<'_> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().cloned().map(Ok))
    }
}

/// Adds one for each event, and the length of its data. Ends at the first error after the source.
pub(crate) fn count<S: Stream>(stream: S, len: impl Fn(&S::Item) -> usize) -> u64 {
    let (mut stream, mut answer) = (pin!(stream), 0);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        match stream.as_mut().poll_next(&mut cx) {
            Poll::Ready(Some(event)) => answer += 1 + len(black_box(&event)) as u64,
            Poll::Ready(None) => return answer,
            Poll::Pending => {} // ours, which lets other tasks run
        }
    }
}
