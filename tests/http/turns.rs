//! Wakers, cooperative scheduling and dropped futures.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures::channel::mpsc;
use futures::{FutureExt, StreamExt, stream};
use http_body::{Body, Frame};
use http_body_util::{Full, StreamBody};
use tokio::time::timeout;
use tokio_test::{assert_pending, assert_ready, task};
use utf8_codec::ErrorMode;
use utf8_codec::payload::http::Utf8Body;

use crate::script::Does::{Data, End, Fail, Pause, Trailers};
use crate::script::{Script, body, word};
use crate::sources::{assert_waits_only_for_script, scripts};

#[test]
fn a_body_is_pending_only_if_the_inner_body_is() {
    let steps =
        [Data(b"a\xFF\xE2"), Data(b"\x82"), Data(b""), Fail("e"), Trailers("1"), Pause, End];
    for does in scripts(&steps, 5) {
        for mode in [ErrorMode::Fatal, ErrorMode::Skip] {
            let body = body(&does).with_error_mode(mode);
            let look = |body: &Utf8Body<Script>| body.get_ref().look();
            assert_waits_only_for_script(&does, body, look, |cx, mut body| {
                let frame = body.as_mut().poll_frame(cx);
                frame.map(|frame| {
                    assert!(frame.is_some() || body.is_end_stream());
                    frame.is_some()
                })
            });
        }
    }
}

#[test]
fn a_body_without_output_yields_to_other_tasks() {
    let silent: [(ErrorMode, &'static [u8]); 2] =
        [(ErrorMode::Fatal, b""), (ErrorMode::Skip, b"\xFF")];
    for (mode, chunk) in silent {
        let does = [[Data(chunk); 100].as_slice(), &[Data(b"at last"), End]].concat();
        let mut body = task::spawn(body(&does).with_error_mode(mode));
        for turn in 1..=3 {
            assert_pending!(body.enter(|cx, body| body.poll_frame(cx)));
            assert!(body.is_woken(), "the task is woken");
            assert_eq!(body.get_ref().polls, 32 * turn);
        }
        let frame = assert_ready!(body.enter(|cx, body| body.poll_frame(cx)));
        assert_eq!(word(frame.unwrap()), "at last");
        assert!(assert_ready!(body.enter(|cx, body| body.poll_frame(cx))).is_none());
    }
}

#[tokio::test]
async fn a_timeout_stops_a_body_without_output() {
    let silent = |data| stream::repeat(()).map(move |()| Ok::<_, Infallible>(Frame::data(data)));
    let mut body = Utf8Body::new(StreamBody::new(silent(&b""[..])));
    assert!(timeout(Duration::from_millis(20), body.text_frame()).await.is_err());
    let body = Utf8Body::new(StreamBody::new(silent(&b"\xFF"[..])));
    let collected = body.with_error_mode(ErrorMode::Skip).collect_text(10);
    assert!(timeout(Duration::from_millis(20), collected).await.is_err());
}

#[test]
fn a_future_dropped_anywhere_loses_no_data() {
    let does = [
        Pause,
        Data(b"a\xE2"),
        Pause,
        Pause,
        Data(b"\x82"),
        Pause,
        Data(b""),
        Data(b"\xACb\xFF"),
        Pause,
        Data(b"\xC3"),
        Pause,
        Trailers("1"),
        Pause,
        End,
    ];
    let mut body = body(&does);
    let (mut words, mut dropped) = (Vec::new(), 0);
    loop {
        match body.text_frame().now_or_never() {
            Some(Some(frame)) => {
                let frame = frame.map(|frame| frame.map_data(|text| text.into_bytes()));
                words.push(word(frame));
            }
            Some(None) => break,
            None => dropped += 1,
        }
    }
    assert_eq!((words.join("|").as_str(), dropped), ("a|€|b|5 [ff]|6 [c3]|x: 1", 7));
}

#[tokio::test]
async fn losing_a_select_loses_no_data() {
    let text = "Zażółć gęślą jaźń — 色は匂へど — 👩‍👩‍👧‍👦 ".repeat(20);
    let (sender, receiver) = mpsc::unbounded::<Result<Frame<Bytes>, Infallible>>();
    let bytes = text.clone().into_bytes();
    let writer = tokio::spawn(async move {
        for data in bytes.chunks(2) {
            sender.unbounded_send(Ok(Frame::data(Bytes::copy_from_slice(data)))).unwrap();
            tokio::task::yield_now().await;
        }
    });
    let mut body = Utf8Body::new(StreamBody::new(receiver));
    let (mut seen, mut turns) = (String::new(), 0);
    loop {
        tokio::select! {
            biased;
            () = tokio::task::yield_now(), if turns % 2 == 0 => {}
            frame = body.text_frame() => match frame {
                Some(frame) => seen.push_str(&frame.unwrap().into_data().unwrap()),
                None => break,
            },
            () = tokio::task::yield_now() => {}
        }
        turns += 1;
    }
    writer.await.unwrap();
    assert_eq!(seen, text);
}

#[test]
fn collecting_keeps_its_waker() {
    let (sender, receiver) = mpsc::unbounded::<Result<Frame<Bytes>, Infallible>>();
    let send = |data| sender.unbounded_send(Ok(Frame::data(Bytes::from_static(data)))).unwrap();
    let mut collecting = task::spawn(Utf8Body::new(StreamBody::new(receiver)).collect_text(10));
    assert_pending!(collecting.poll());
    send(b"a\xC3");
    assert!(collecting.is_woken());
    assert_pending!(collecting.poll());
    send(b"\xA9");
    drop(sender);
    assert!(collecting.is_woken());
    assert_eq!(assert_ready!(collecting.poll()).unwrap(), "aé");
}

#[test]
fn bodies_and_futures_are_send_sync_and_unpin() {
    fn is_plain<T: Send + Sync + Unpin>() {}
    fn is_sent<F: Future + Send>(_: F) {}
    is_plain::<Utf8Body<Script>>();
    is_plain::<Utf8Body<Full<Bytes>>>();
    let mut body = Utf8Body::new(Full::<Bytes>::from("text"));
    is_sent(body.text_frame());
    is_sent(body.collect_text(1));
}

#[test]
fn a_body_is_small() {
    let size = size_of::<Utf8Body<()>>();
    println!("Utf8Body: {size} bytes besides the inner body");
    assert!(size <= 160, "{size}");
}
