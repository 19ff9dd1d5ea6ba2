//! The frames of a body: their order, trailers, their memory, wakers and dropped futures. `tests/adaptors/contract.rs` has what
//! bodies share with the other adaptors.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use futures::{FutureExt, StreamExt, stream};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, StreamBody};
use tokio::time::timeout;
use tokio_test::{assert_pending, assert_ready, task};
use utf8_codec::http::Utf8Body;
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

use crate::lists::MODES;
use crate::script::Does::{Chunk as Data, End, Error as Fail, Pause, Trailers};
use crate::script::{Script, body, next, ready, reported, word};
use crate::sources::{assert_waits_only_for_script, scripts};

#[test]
fn determined_text_is_emitted_before_the_next_frame_is_polled() {
    let does = [Data(b"4 \xE2\x82"), Data(b"\xAC\xFF!")];
    let mut body = body(&does);
    assert_eq!(word(next(&mut body).unwrap().unwrap()), "4 ");
    assert_eq!(body.get_ref().script.polls, 1);
    assert_eq!(word(next(&mut body).unwrap().unwrap()), "€");
    assert_eq!(body.get_ref().script.polls, 2);
    assert_eq!(word(next(&mut body).unwrap().unwrap()), "5 [ff]");
    assert_eq!(word(next(&mut body).unwrap().unwrap()), "!");
    assert_eq!(body.get_ref().script.polls, 2);
}

#[test]
fn options_set_after_the_first_frame_keep_the_offsets() {
    let strict = Utf8Options::new().with_bom(BomPolicy::Require).reject_nul();
    let mut body = body(&[Data(b"\xC3\xA9\0"), Data(b"\0\xEF\xBB\xBFb\xFF"), End]);
    assert_eq!(word(next(&mut body).unwrap().unwrap()), "é\0");
    let mut body = body.with_options(strict);
    assert_eq!(ready(&mut body), ["3 [00]", "\u{FEFF}b", "8 [ff]", "-"]);
    assert_eq!(body.decoder().position(), 9);
}

#[test]
fn settings_can_be_applied_in_any_order() {
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    let body = || body(&[Data(b"\xEF\xBB\xBFa\xFFb")]).with_max_length(5);
    let mut one = body().with_options(options).with_error_mode(ErrorMode::Skip);
    let mut other = body().with_error_mode(ErrorMode::Skip).with_options(options);
    assert_eq!(ready(&mut one), ["a", "! > 5", "-"]);
    assert_eq!(ready(&mut other), ["a", "! > 5", "-"]);
    assert!(one.decoder().bom_seen() && other.decoder().bom_seen());
}

// ---- the end, trailers, inner errors ------------------------------------------------------------

#[test]
fn trailers_are_forwarded() {
    for mode in MODES {
        assert_eq!(reported(mode, &[Data(b"a"), Trailers("1"), End]), ["a", "x: 1", "-"]);
        assert_eq!(reported(mode, &[Trailers("1"), End]), ["x: 1", "-"]);
        assert_eq!(reported(mode, &[Data(b""), Trailers("1"), End]), ["x: 1", "-"]);
    }
}

#[test]
fn trailers_that_describe_the_bytes_are_dropped_after_skipped_ones() {
    let digest = || {
        let fields = [("content-digest", "sha-256=:MQ==:"), ("x", "1")];
        fields.into_iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
    };
    for (bytes, text, is_kept) in [(&b"\xACa"[..], "a", false), (b"a", "a", true)] {
        let frames = [Frame::data(Bytes::from_static(bytes)), Frame::trailers(digest().collect())];
        let body = StreamBody::new(stream::iter(frames.map(Ok::<_, Infallible>)));
        let options = Utf8Options::new().with_mid_stream_start();
        let collected = Utf8Body::new(body).with_options(options).collect();
        let collected = collected.now_or_never().unwrap().unwrap();
        let trailers = collected.trailers().unwrap();
        assert_eq!(trailers.contains_key("content-digest"), is_kept);
        assert_eq!(trailers["x"], "1");
        assert_eq!(collected.to_bytes(), text);
    }
}

#[test]
fn incomplete_bytes_are_reported_or_repaired_before_trailers() {
    let does = [Data(b"a\xF0\x9F"), Trailers("1"), End];
    assert_eq!(reported(ErrorMode::Fatal, &does), ["a", "1 [f0, 9f]", "x: 1", "-"]);
    assert_eq!(reported(ErrorMode::Replacement, &does), ["a", "\u{FFFD}", "x: 1", "-"]);
    assert_eq!(reported(ErrorMode::Escape, &does), ["a", r"\xf0\x9f", "x: 1", "-"]);
    assert_eq!(reported(ErrorMode::Skip, &does), ["a", "x: 1", "-"]);
}

#[test]
fn errors_at_the_end_precede_trailers() {
    let options = Utf8Options::new().with_bom(BomPolicy::Require);
    let reported = |does: &[_]| ready(&mut body(does).with_options(options));
    let does = [Data(b"\xEF"), Data(b"\xBB"), Trailers("1"), End];
    assert_eq!(reported(&does), ["0 []", "0 [ef, bb]", "x: 1", "-"]);
    assert_eq!(reported(&[Trailers("1"), End]), ["0 []", "x: 1", "-"]);
}

#[test]
fn data_after_trailers_is_decoded() {
    let does = [Data(b"a\xC3"), Trailers("1"), Data(b"\xA9b"), Trailers("2"), Data(b"\xC3"), End];
    assert_eq!(
        reported(ErrorMode::Fatal, &does),
        ["a", "1 [c3]", "x: 1", "2 [a9]", "b", "x: 2", "4 [c3]", "-"]
    );
}

#[test]
fn an_inner_error_ends_the_body() {
    for mode in MODES {
        let does = [Data(b"ab\xE2"), Fail("reset"), Data(b"\x82\xAC"), End];
        let mut body = body(&does).with_error_mode(mode);
        assert_eq!(ready(&mut body), ["ab", "! reset", "-"], "{mode:?}");
        assert_eq!(ready(&mut body), ["-"]);
        assert!(body.is_end_stream());
        assert_eq!(body.get_ref().script.polls, 2);
    }
}

#[test]
fn text_and_errors_precede_an_inner_error() {
    let does = [Data(b"ab\xFFc\xE2"), Fail("reset")];
    assert_eq!(reported(ErrorMode::Fatal, &does), ["ab", "2 [ff]", "c", "! reset", "-"]);
    assert_eq!(reported(ErrorMode::Latin1, &does), ["abÿc", "! reset", "-"]);
}

// ---- copies -------------------------------------------------------------------------------------

fn data<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Bytes {
    body.frame().now_or_never().unwrap().unwrap().ok().unwrap().into_data().unwrap()
}

#[test]
fn a_clean_frame_is_not_copied() {
    for mode in MODES {
        let chunks = [Bytes::from("first ".repeat(1000)), Bytes::from("zweitens ü".to_owned())];
        let frames = chunks.clone().map(|chunk| Ok::<_, Infallible>(Frame::data(chunk)));
        let body = StreamBody::new(stream::iter(frames));
        let mut body = Utf8Body::new(body).with_error_mode(mode);
        for chunk in chunks {
            let data = data(&mut body);
            assert_eq!((data.as_ptr(), data.len()), (chunk.as_ptr(), chunk.len()), "{mode:?}");
        }
    }
}

#[test]
fn a_limit_inside_a_frame_does_not_copy() {
    let chunk = Bytes::from("too long ".repeat(1000));
    let frames = [Ok::<_, Infallible>(Frame::data(chunk.clone()))];
    let mut body = Utf8Body::new(StreamBody::new(stream::iter(frames))).with_max_length(8000);
    let data = data(&mut body);
    assert_eq!((data.as_ptr(), data.len()), (chunk.as_ptr(), 8000));
}

#[test]
fn frames_can_be_any_buf() {
    fn text<D: Buf>(frames: Vec<D>) -> String {
        let frames = frames.into_iter().map(|data| Ok::<_, Infallible>(Frame::data(data)));
        let body = Utf8Body::new(StreamBody::new(stream::iter(frames)));
        body.collect_text(100).now_or_never().unwrap().unwrap()
    }
    let (a, b) = (&b"gr\xC3"[..], &b"\xBCn"[..]);
    assert_eq!(text(vec![a, b]), "grün");
    assert_eq!(text(vec![Bytes::from_static(a), Bytes::from_static(b)]), "grün");
    assert_eq!(text(vec![BytesMut::from(a), BytesMut::from(b)]), "grün");
    assert_eq!(text(vec![a.chain(b), b"!".chain(&b""[..])]), "grün!");
    assert_eq!(text(vec![a.chain(b).take(4), b"!".chain(b).take(1)]), "grü!");
}

// ---- composition with other bodies ----------------------------------------------------------------

#[test]
fn http_body_util_combinators_work() {
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    let body = Utf8Body::new(Full::<Bytes>::from("\u{FEFF}text")).with_options(options);
    let boxed = body.map_err(std::io::Error::from).boxed();
    let collected = boxed.collect().now_or_never().unwrap().unwrap();
    assert_eq!(collected.to_bytes(), "text");

    let trailers = body_with_trailers().collect().now_or_never().unwrap().unwrap();
    assert_eq!(trailers.trailers().unwrap()["x"], "1");
    assert_eq!(trailers.to_bytes(), "é");

    let texts: Vec<_> = body_with_trailers().into_data_stream().collect().now_or_never().unwrap();
    let texts: Result<Vec<_>, _> = texts.into_iter().collect();
    assert_eq!(texts.unwrap(), ["é"]);
}

fn body_with_trailers() -> Utf8Body<Script> {
    body(&[Data(b"\xC3"), Data(b"\xA9"), Trailers("1"), End])
}

/// A fixed bug: the text before the error and the text after it were joined to the line `{"a":12}`.
#[test]
#[cfg(feature = "stream")]
fn a_line_containing_a_body_error_is_rejected() {
    use utf8_codec::stream::{StreamError, Utf8Lines};

    let does = [Data(b"{\"a\":1\xFF"), Data(b"2}\nnext\n"), End];
    let mut lines = Utf8Lines::new(body(&does).into_data_stream());
    let mut next = || lines.next().now_or_never().unwrap();
    let Some(Err(StreamError::Inner(error))) = next() else { panic!("an error of the body") };
    assert_eq!(error.offset(), Some(6));
    let line = next().unwrap().unwrap();
    assert_eq!((&*line, line.number), ("next", 2));
    assert!(next().is_none());
}

#[test]
fn a_body_that_is_not_unpin_can_be_wrapped() {
    let frames = stream::once(async { Ok::<_, Infallible>(Frame::data(Bytes::from("lazy"))) });
    let body = Utf8Body::new(StreamBody::new(frames));
    assert_eq!(body.collect_text(4).now_or_never().unwrap().unwrap(), "lazy");
}

// ---- wakers, cooperative scheduling and dropped futures -----------------------------

#[test]
fn a_body_is_pending_only_if_the_inner_body_is() {
    let steps =
        [Data(b"a\xFF\xE2"), Data(b"\x82"), Data(b""), Fail("e"), Trailers("1"), Pause, End];
    for does in scripts(&steps, 5) {
        for mode in [ErrorMode::Fatal, ErrorMode::Skip] {
            let body = body(&does).with_error_mode(mode);
            let look = |body: &Utf8Body<Script>| body.get_ref().script.look();
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
fn trailers_and_small_frames_let_other_tasks_run() {
    let trailers = |()| Ok::<_, Infallible>(Frame::<Bytes>::trailers(Default::default()));
    let endless = stream::repeat(()).map(trailers);
    let mut body = Utf8Body::new(StreamBody::new(endless));
    let mut next = task::spawn(body.next_text());
    for _ in 0..3 {
        assert_pending!(next.poll());
        assert!(next.is_woken(), "the task is woken");
    }

    let frames =
        stream::repeat(()).map(|()| Ok::<_, Infallible>(Frame::data(&b"a"[..]))).take(1000);
    let mut collected = task::spawn(Utf8Body::new(StreamBody::new(frames)).collect_text(1000));
    for _ in 0..1000 / 32 {
        assert_pending!(collected.poll());
        assert!(collected.is_woken(), "the task is woken");
    }
    assert_eq!(assert_ready!(collected.poll()).unwrap(), "a".repeat(1000));
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
