//! HTTP bodies whose frames are always ready and can end inside a character.

use std::convert::Infallible;
use std::future::poll_fn;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec::IntoIter;

use bytes::{Buf, Bytes};
use futures::executor::block_on;
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use utf8_codec::Utf8Validator;
use utf8_codec::http::Utf8Body;

use super::support::{Bench, Corpus, Row, Work};

/// The length of a body, and the number of bodies, each split at other offsets.
const LEN: usize = 512 << 10;
const PHASES: usize = 4;

pub(crate) const FRAME: usize = 16 << 10;

/// The text of each frame, without copying.
pub(crate) fn body(bench: &mut Bench) {
    for corpus in Corpus::SCRIPTS {
        let Some(name) = bench.name("body", corpus.name(), FRAME.to_string()) else { continue };
        let bodies: Vec<_> = (0..PHASES).map(|phase| frames(corpus, LEN, phase)).collect();
        let count = bodies.iter().map(Vec::len).sum();

        let mut row = Row::new(name, Work::new(LEN * PHASES, count, "frame"));
        row.expect(LEN * PHASES);
        row.ours(over(&bodies, |body| block_on(sum(Utf8Body::new(body)))));
        row.peer("std", over(&bodies, |body| block_on(collect(body))));
        row.floor("(bare)", over(&bodies, |body| block_on(sum(body))));
        row.floor("(validate)", over(&bodies, validate));
        bench.measure(row);
    }
}

/// A text in frames, the first of them shorter by `phase` bytes.
pub(crate) fn frames(corpus: Corpus, len: usize, phase: usize) -> Vec<Bytes> {
    let mut rest = Bytes::from(corpus.text(len, phase as u64));
    let mut frames = vec![rest.split_to(FRAME - phase)];
    while !rest.is_empty() {
        frames.push(rest.split_to(FRAME.min(rest.len())));
    }
    frames
}

/// The sum of the answers of a contender for all bodies.
fn over<'a>(
    bodies: &'a [Vec<Bytes>],
    mut contender: impl FnMut(Ready) -> usize + 'a,
) -> impl FnMut() -> u64 + 'a {
    move || {
        let bodies = black_box(bodies).iter();
        bodies.map(|frames| contender(Ready(frames.clone().into_iter())) as u64).sum()
    }
}

/// A body whose frames are always ready.
struct Ready(IntoIter<Bytes>);

impl Body for Ready {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.next().map(|data| Ok(Frame::data(data))))
    }
}

/// The length of a body, frame by frame.
pub(crate) async fn sum<B: Body + Unpin>(mut body: B) -> usize {
    let mut len = 0;
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let Ok(frame) = frame else { panic!("the body is complete UTF-8") };
        len += black_box(frame).data_ref().map_or(0, Buf::remaining);
    }
    len
}

/// The usual hand-written code: collect, then `str::from_utf8`.
pub(crate) async fn collect<B: Body>(body: B) -> usize {
    let Ok(body) = body.collect().await else { panic!("the body is complete") };
    let bytes = body.to_bytes();
    black_box(std::str::from_utf8(&bytes).expect("the text is UTF-8")).len()
}

fn validate(body: Ready) -> usize {
    let mut validator = Utf8Validator::new();
    for frame in body.0 {
        validator.push(&frame).expect("the text is UTF-8");
    }
    validator.finish().expect("the text is complete");
    validator.position() as usize
}
