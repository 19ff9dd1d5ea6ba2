//! Size hints, the end of the stream, limits, and errors: their status, messages and conversions.

use std::convert::Infallible;
use std::error::Error;
use std::io;

use bytes::{Buf, Bytes};
use futures::{FutureExt, StreamExt, stream};
use http::StatusCode;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use utf8_codec::http::{BodyError, Utf8Body};
use utf8_codec::{BomPolicy, Utf8Error, Utf8ErrorKind, Utf8Options, Utf8Validator};

use crate::counting;
use crate::lists::MODES;
use crate::script::Does::{Chunk as Data, End, Error as Fail, Pause, Trailers};
use crate::script::{Script, body, next, ready};

// ---- size hints -----------------------------------------------------------------------------------

fn bounds(hint: SizeHint) -> (u64, Option<u64>) {
    (hint.lower(), hint.upper())
}

/// The size hint before each frame, and the number of bytes that followed.
fn hints(mut body: Utf8Body<Script>) -> Vec<(SizeHint, u64)> {
    let mut hints = vec![body.size_hint()];
    let mut lengths = Vec::new();
    while let Some(Some(frame)) = next(&mut body) {
        let len = frame.ok().and_then(|frame| frame.into_data().ok()).map_or(0, |data| data.len());
        lengths.push(len as u64);
        hints.push(body.size_hint());
    }
    let after = |n: usize| lengths[n..].iter().sum();
    hints.into_iter().enumerate().map(|(n, hint)| (hint, after(n))).collect()
}

const FRAMES: [&[u8]; 6] = [b"\xEF\xBB", b"\xBFa", b"", b"bc\xE2", b"\x82\xAC", b"d"];

#[test]
fn the_size_hint_is_exact_for_an_unchanged_body() {
    let hints = hints(Utf8Body::new(Script::of(&FRAMES).with_length()));
    assert_eq!(hints.len(), 6);
    for (hint, after) in hints {
        assert_eq!(hint.exact(), Some(after));
    }
}

#[test]
fn the_size_hint_is_inexact_while_a_bom_can_be_stripped() {
    for bom in [BomPolicy::Strip, BomPolicy::Require] {
        let options = Utf8Options::new().with_bom(bom);
        let hints = hints(Utf8Body::new(Script::of(&FRAMES).with_length()).with_options(options));
        let (first, after) = hints[0];
        assert_eq!((bounds(first), after), ((7, Some(10)), 7));
        for (hint, after) in &hints[1..] {
            assert_eq!(hint.exact(), Some(*after));
        }
    }
}

#[test]
fn the_size_hint_is_inexact_while_a_mid_stream_start_can_skip() {
    let options = Utf8Options::new().with_mid_stream_start();
    let body = Utf8Body::new(Script::of(&[b"\x82\xACab", b"c"]).with_length());
    let hints = hints(body.with_options(options));
    assert_eq!((bounds(hints[0].0), hints[0].1), ((2, Some(5)), 3));
    assert_eq!((hints[1].0.exact(), hints[2].0.exact()), (Some(1), Some(0)));
}

#[test]
fn a_repaired_body_has_no_exact_size_hint() {
    for mode in &MODES[1..] {
        let body = Utf8Body::new(Script::of(&FRAMES).with_length()).with_error_mode(*mode);
        assert_eq!(bounds(body.size_hint()), (0, None));
    }
}

#[test]
fn inner_size_bounds_are_forwarded() {
    let mut script = Script::of(&FRAMES);
    assert_eq!(bounds(Utf8Body::new(Script::of(&FRAMES)).size_hint()), (0, None));
    script.hint.set_upper(100);
    script.hint.set_lower(2);
    assert_eq!(bounds(Utf8Body::new(script).size_hint()), (2, Some(100)));
    let mut script = Script::of(&FRAMES);
    script.hint.set_exact(2);
    script.hint.set_upper(u64::MAX);
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    let body = Utf8Body::new(script).with_options(options);
    assert_eq!(bounds(body.size_hint()), (0, Some(u64::MAX)));
}

#[test]
fn the_size_hint_counts_held_bytes_and_the_rest_of_a_frame() {
    let mut body = Utf8Body::new(Script::new(&[Data(b"ab\xFFcd\xE2"), Data(b"\x82")]));
    body.get_mut().hint.set_upper(10);
    assert_eq!(ready(&mut body), ["ab", "2 [ff]", "cd"]);
    assert_eq!(bounds(body.size_hint()), (2, Some(12)));
}

#[test]
fn the_size_hint_of_an_ended_body_is_zero() {
    for does in [[End], [Fail("reset")]] {
        let mut script = Script::new(&does);
        script.hint.set_upper(10);
        let mut body = Utf8Body::new(script);
        ready(&mut body);
        assert_eq!(body.size_hint().exact(), Some(0));
    }
}

// ---- is_end_stream ----------------------------------------------------------------------------------

#[test]
fn is_end_stream_is_true_only_if_nothing_follows() {
    let mut body = Utf8Body::new(Script::of(&[b"ab", b"\xE2", b"\x82\xAC"]).with_length());
    let mut seen = vec![body.is_end_stream()];
    while let Some(Some(_)) = next(&mut body) {
        seen.push(body.is_end_stream());
    }
    assert_eq!(seen, [false, false, true]);

    let mut body = Utf8Body::new(Script::of(&[b"ab\xFFcd"]).with_length());
    let mut seen = vec![body.is_end_stream()];
    while let Some(Some(_)) = next(&mut body) {
        seen.push(body.is_end_stream());
    }
    assert_eq!(seen, [false, false, false, true]);
}

#[test]
fn is_end_stream_waits_for_an_incomplete_end_and_a_missing_bom() {
    let script = |does: &[_]| {
        let mut script = Script::new(does);
        script.hint = SizeHint::with_exact(0);
        script
    };
    assert!(Utf8Body::new(script(&[End])).is_end_stream());
    for mode in MODES {
        let options = Utf8Options::new().with_bom(BomPolicy::Require);
        let mut body = Utf8Body::new(script(&[End])).with_options(options).with_error_mode(mode);
        assert!(!body.is_end_stream());
        ready(&mut body);
        assert!(body.is_end_stream());
    }
    let mut body = Utf8Body::new(script(&[Data(b"ab\xE2"), End]));
    assert!(next(&mut body).unwrap().unwrap().is_ok());
    assert!(body.get_ref().is_end_stream() && !body.is_end_stream());
    assert!(next(&mut body).unwrap().unwrap().is_err());
    assert!(!body.is_end_stream() || next(&mut body).unwrap().is_none());
}

#[test]
fn is_end_stream_waits_for_trailers_after_an_error() {
    let mut body = Utf8Body::new(Script::new(&[Data(b"\xE2"), Trailers("1"), End]).with_length());
    assert!(next(&mut body).unwrap().unwrap().is_err());
    assert!(!body.is_end_stream());
    assert!(next(&mut body).unwrap().unwrap().unwrap().is_trailers());
    assert!(body.is_end_stream());
}

// ---- limits on bytes ---------------------------------------------------------------------------------

#[test]
fn data_within_the_limit_precedes_too_long_at_any_split() {
    let bytes: &'static [u8] = b"ab\xFFc\xE2\x82\xACd";
    let expected = [
        vec!["! > 0", "-"],
        vec!["a", "! > 1", "-"],
        vec!["a", "b", "! > 2", "-"],
        vec!["a", "b", "2 [ff]", "! > 3", "-"],
        vec!["a", "b", "2 [ff]", "c", "! > 4", "-"],
        vec!["a", "b", "2 [ff]", "c", "! > 5", "-"],
        vec!["a", "b", "2 [ff]", "c", "! > 6", "-"],
        vec!["a", "b", "2 [ff]", "c", "€", "! > 7", "-"],
        vec!["a", "b", "2 [ff]", "c", "€", "d", "-"],
    ];
    for (limit, expected) in expected.into_iter().enumerate() {
        for size in 1..=bytes.len() {
            let chunks: Vec<_> = bytes.chunks(size).collect();
            let mut body = Utf8Body::new(Script::of(&chunks)).with_max_length(limit as u64);
            let words = ready(&mut body).concat();
            assert_eq!(words, expected.concat(), "{limit} {size}");
            assert_eq!(ready(&mut body), ["-"]);
        }
    }
}

#[test]
fn a_body_at_the_limit_can_have_empty_frames_and_trailers() {
    let mut body = body(&[Data(b"ab"), Data(b""), Pause, Trailers("1"), End]).with_max_length(2);
    assert_eq!(ready(&mut body), ["ab"]);
    assert_eq!(ready(&mut body), ["x: 1", "-"]);
}

#[test]
fn the_limit_is_exact_in_a_frame_of_several_parts() {
    for max in 0..=7 {
        let data = (&b"ab"[..]).chain(&b"cd"[..]).chain(&b"ef"[..]);
        let frames = stream::iter([Ok::<_, Infallible>(Frame::data(data))]);
        let mut body = Utf8Body::new(StreamBody::new(frames)).with_max_length(max);
        let text = "abcdef";
        let mut expected = text[..text.len().min(max as usize)].to_owned();
        if max < 6 {
            expected += &format!("! > {max}");
        }
        assert_eq!(ready(&mut body).concat(), expected + "-");
    }
}

#[test]
fn a_body_with_a_too_long_size_hint_is_not_polled() {
    for mode in MODES {
        let body = || Utf8Body::new(Script::of(&[b"four"]).with_length()).with_error_mode(mode);
        let mut rejected = body().with_max_length(3);
        assert_eq!(ready(&mut rejected), ["! > 3", "-"]);
        assert_eq!(rejected.get_ref().script.polls, 0);
        assert_eq!(ready(&mut body().with_max_length(4)), ["four", "-"]);
    }
}

#[test]
fn a_limit_lowered_below_the_received_length_rejects_further_data() {
    let mut body = body(&[Data(b"abc"), Pause, Data(b"def"), End]);
    assert_eq!(ready(&mut body), ["abc"]);
    assert_eq!(ready(&mut body.with_max_length(2)), ["! > 2", "-"]);
}

#[test]
fn a_rejected_body_is_not_polled_again() {
    let mut body = body(&[Data(b"abc"), Data(b"def"), End]).with_max_length(2);
    assert_eq!(ready(&mut body), ["ab", "! > 2", "-"]);
    assert_eq!(ready(&mut body), ["-"]);
    assert_eq!(body.get_ref().script.polls, 1);
    assert!(body.is_end_stream());
}

// ---- collect_text ------------------------------------------------------------------------------------

#[test]
fn collecting_with_a_too_long_size_hint_does_not_poll() {
    let mut script = Script::of(&[b"four"]).with_length();
    let error = Utf8Body::new(&mut script).collect_text(3).now_or_never().unwrap().unwrap_err();
    assert!(matches!(error, BodyError::TooLong { max_length: 3 }));
    assert_eq!(script.script.polls, 0);

    let body = Utf8Body::new(Script::of(&[b"\xEF\xBB\xBFabc"]).with_length());
    let body = body.with_options(Utf8Options::new().with_bom(BomPolicy::Strip));
    assert_eq!(body.collect_text(3).now_or_never().unwrap().unwrap(), "abc");
}

#[test]
fn trailers_are_dropped_and_errors_end_collecting() {
    let collected = |does: &[_]| body(does).collect_text(100).now_or_never().unwrap();
    assert_eq!(collected(&[Data(b"a"), Trailers("1"), End]).unwrap(), "a");
    assert_eq!(collected(&[Data(b"a\xE2"), Trailers("1"), End]).unwrap_err().offset(), Some(1));
    let failed = collected(&[Data(b"a"), Fail("reset")]).unwrap_err();
    assert!(matches!(failed, BodyError::Inner(error) if error.to_string() == "reset"));
}

#[tokio::test]
async fn collecting_an_endless_body_is_bounded_by_the_limit() {
    let endless = || stream::repeat(()).map(|()| Ok::<_, &str>(Frame::data(&b"0123456789"[..])));
    let before = counting::watch();
    let body = Utf8Body::new(StreamBody::new(endless()));
    let error = body.collect_text(1_000_005).await.unwrap_err();
    assert!(matches!(error, BodyError::TooLong { max_length: 1_000_005 }));
    let most = counting::most() - before;
    // Plus one frame.
    assert!((1_000_000..1_000_100).contains(&most), "{most} bytes");

    let body = Utf8Body::new(StreamBody::new(endless().take(1000)));
    let text = body.collect_text(10_007).await.unwrap();
    assert_eq!(text.len(), 10_000);
    assert!(text.capacity() <= 10_007, "{}", text.capacity());
}

#[test]
fn an_endless_body_of_empty_frames_yields_to_other_tasks() {
    let empty = || Frame::data(&b""[..]);
    let trailers = || Frame::trailers(http::HeaderMap::new());
    for frame in [empty, trailers] {
        let endless = stream::repeat(()).map(move |()| Ok::<_, &str>(frame()));
        let text = Utf8Body::new(StreamBody::new(endless)).collect_text(1);
        assert!(text.now_or_never().is_none());
    }
}

#[test]
fn an_explicit_utf_8_charset_keeps_the_exact_size_hint() {
    let body = Utf8Body::new(Script::of(&[b"four"]).with_length());
    let body = body.with_charset("UTF8").unwrap();
    assert_eq!(body.size_hint().exact(), Some(4));
}

// ---- errors ------------------------------------------------------------------------------------------

fn utf8() -> Utf8Error {
    Utf8Validator::new().push(b"ok\xFF").unwrap_err()
}

fn unsupported() -> BodyError {
    Utf8Body::new(Script::new(&[])).with_charset("klingon").unwrap_err()
}

fn malformed() -> BodyError {
    Utf8Body::from_content_type("text", Script::new(&[])).unwrap_err()
}

fn inner() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the cable")
}

#[test]
fn errors_are_send_and_boxable() {
    fn is_error<T: Error + Send + Sync + Unpin + 'static>() {}
    is_error::<BodyError>();
}

#[test]
fn errors_have_a_status_and_text_errors_an_offset() {
    let coded = BodyError::UnsupportedContentCoding { coding: "gzip".to_owned() };
    let table: [(BodyError, StatusCode, Option<u64>); 8] = [
        (utf8().into(), StatusCode::BAD_REQUEST, Some(2)),
        (unsupported(), StatusCode::UNSUPPORTED_MEDIA_TYPE, None),
        (malformed(), StatusCode::BAD_REQUEST, None),
        (BodyError::ContradictoryCharsets, StatusCode::BAD_REQUEST, None),
        (coded, StatusCode::UNSUPPORTED_MEDIA_TYPE, None),
        (BodyError::PartialContent, StatusCode::BAD_REQUEST, None),
        (BodyError::TooLong { max_length: 64 }, StatusCode::PAYLOAD_TOO_LARGE, None),
        (BodyError::Inner(inner().into()), StatusCode::BAD_REQUEST, None),
    ];
    for (error, status, offset) in table {
        assert_eq!((error.status(), error.offset()), (status, offset), "{error}");
    }
}

/// The status of a body whose inner body fails with this error.
fn status_of(error: impl Into<Box<dyn Error + Send + Sync>>) -> u16 {
    BodyError::Inner(error.into()).status().as_u16()
}

/// The error of a body with a limit of its own.
fn length_limit() -> Box<dyn Error + Send + Sync> {
    let body = Limited::new(Full::<Bytes>::from("text"), 3);
    body.collect().now_or_never().unwrap().unwrap_err()
}

#[test]
fn the_limit_of_an_inner_body_has_status_413_at_any_depth() {
    assert!(length_limit().is::<LengthLimitError>());
    assert_eq!(status_of(length_limit()), 413);
    assert_eq!(status_of(io::Error::other(length_limit())), 413);
    assert_eq!(status_of(io::Error::other(io::Error::other(length_limit()))), 413);
    assert_eq!(status_of(BodyError::Inner(length_limit())), 413);
    assert_eq!(status_of("length limit exceeded"), 400);
    #[cfg(feature = "axum")]
    assert_eq!(status_of(axum_core::Error::new(axum_core::Error::new(length_limit()))), 413);

    let limited = Limited::new(Full::<Bytes>::from("text"), 3);
    let error = Utf8Body::new(limited).collect_text(100).now_or_never().unwrap().unwrap_err();
    assert_eq!(error.status(), 413);
}

#[test]
fn an_error_of_a_body_inside_another_one_keeps_its_status() {
    assert_eq!(status_of(BodyError::TooLong { max_length: 5 }), 413);
    assert_eq!(status_of(unsupported()), 415);
    assert_eq!(status_of(io::Error::from(unsupported())), 415);
    assert_eq!(status_of(BodyError::Utf8(utf8())), 400);
    #[cfg(feature = "stream")]
    {
        use utf8_codec::stream::StreamError;
        assert_eq!(status_of(StreamError::Inner(unsupported())), 415);
        assert_eq!(status_of(io::Error::other(StreamError::Inner(unsupported()))), 415);
        assert_eq!(status_of(StreamError::Inner(io::Error::other(length_limit()))), 413);
    }
    let inner = Utf8Body::new(Full::<Bytes>::from("text")).with_max_length(3);
    let outer = Utf8Body::new(inner).collect_text(9).now_or_never().unwrap().unwrap_err();
    assert_eq!((outer.status().as_u16(), matches!(outer, BodyError::Inner(_))), (413, true));
}

#[cfg(feature = "stream")]
#[test]
fn an_event_that_is_too_long_keeps_its_offset() {
    use utf8_codec::sse::EventPart;
    use utf8_codec::stream::StreamError;
    let part = EventPart::Content;
    let error = BodyError::from(StreamError::EventTooLong { part, offset: 7, max_length: 10 });
    assert_eq!(error.to_string(), "event at byte 7 of the body is longer than 10 bytes");
    assert_eq!((error.status().as_u16(), error.offset()), (413, Some(7)));
    let error = BodyError::from(StreamError::TooLong { max_length: 10 });
    assert!(matches!(error, BodyError::TooLong { max_length: 10 }));
}

#[cfg(feature = "stream")]
#[test]
fn an_error_of_a_line_keeps_its_offset() {
    use futures::StreamExt;
    use utf8_codec::lines::{Delimiter, LineError};

    let error = |bytes: &'static [u8]| {
        let lines = Utf8Body::new(Full::<Bytes>::from(bytes)).into_lines();
        let mut lines = lines.with_delimiter(Delimiter::crlf()).with_max_length(5);
        assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "ok");
        BodyError::from(lines.next().now_or_never().unwrap().unwrap().unwrap_err())
    };
    let too_long = error(b"ok\r\nlong line");
    assert_eq!(too_long.to_string(), "line 2 at byte 4 of the stream is longer than 5 bytes");
    assert_eq!((too_long.status().as_u16(), too_long.offset()), (413, Some(4)));

    let bare_cr = error(b"ok\r\na\rb\r\n");
    assert_eq!((bare_cr.status().as_u16(), bare_cr.offset()), (400, Some(5)));
    let bare_lf = error(b"ok\r\nab\nc\r\n");
    assert_eq!((bare_lf.status().as_u16(), bare_lf.offset()), (400, Some(6)));

    let ill_formed = error(b"ok\r\na\xFF\r\n");
    assert!(matches!(ill_formed, BodyError::Line(LineError::Utf8 { .. })));
    assert_eq!((ill_formed.status().as_u16(), ill_formed.offset()), (400, Some(5)));

    assert_eq!(io::Error::from(ill_formed).kind(), io::ErrorKind::InvalidData);
    let incomplete = io::Error::from(error(b"ok\r\na\xC3"));
    assert_eq!(incomplete.kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn an_inner_error_is_boxed_unchanged() {
    assert!(BodyError::Inner(length_limit()).into_boxed().is::<LengthLimitError>());
    assert!(BodyError::Inner(inner().into()).into_boxed().is::<io::Error>());
    let boxed = BodyError::Utf8(utf8()).into_boxed();
    assert_eq!(boxed.downcast_ref::<BodyError>().unwrap().offset(), Some(2));
}

#[test]
fn errors_convert_to_io_errors() {
    let ill_formed = io::Error::from(BodyError::Utf8(utf8()));
    assert_eq!(ill_formed.kind(), io::ErrorKind::InvalidData);
    let mut validator = Utf8Validator::new();
    validator.push(b"\xE2").unwrap();
    let incomplete = validator.finish().unwrap_err();
    assert_eq!(incomplete.kind(), Utf8ErrorKind::Incomplete);
    assert_eq!(io::Error::from(BodyError::Utf8(incomplete)).kind(), io::ErrorKind::UnexpectedEof);

    let same = io::Error::from(BodyError::Inner(inner().into()));
    assert_eq!((same.kind(), &*same.to_string()), (io::ErrorKind::ConnectionReset, "the cable"));
    let other = io::Error::from(BodyError::Inner("a string".into()));
    assert_eq!((other.kind(), &*other.to_string()), (io::ErrorKind::Other, "a string"));
    let boxed: Box<dyn Error + Send + Sync> = Box::new(inner());
    assert_eq!(io::Error::from(BodyError::Inner(boxed)).kind(), io::ErrorKind::ConnectionReset);

    let too_long = io::Error::from(BodyError::TooLong { max_length: 7 });
    assert_eq!(too_long.kind(), io::ErrorKind::InvalidData);
    assert_eq!(too_long.to_string(), "body or its text is longer than 7 bytes");
    let unknown = io::Error::from(unsupported());
    assert_eq!(unknown.kind(), io::ErrorKind::InvalidData);
    assert_eq!(unknown.to_string(), "unsupported charset: klingon");
}

#[cfg(feature = "axum")]
mod extractors {
    use axum_core::body::Body as AnyBody;
    use axum_core::extract::{DefaultBodyLimit, FromRequest, Request};
    use axum_core::response::IntoResponse;
    use futures::executor::block_on;
    use utf8_codec::http::{Utf8Text, require_text};

    use super::*;

    /// The limit of axum, unless a layer sets another one.
    const LIMIT: usize = 2 << 20;

    /// A request with a body of this length in frames of 16 KiB, with or without `Content-Length`.
    fn request(len: usize, has_length: bool) -> Request {
        let frames = vec![b'a'; len];
        let frames: Vec<_> = frames.chunks(16 << 10).map(Bytes::copy_from_slice).collect();
        let frames =
            stream::iter(frames.into_iter().map(|data| Ok::<_, io::Error>(Frame::data(data))));
        let body = match has_length {
            true => AnyBody::from(vec![b'a'; len]),
            false => AnyBody::new(StreamBody::new(frames)),
        };
        Request::new(body)
    }

    fn extract(request: Request) -> Result<Utf8Body<AnyBody>, BodyError> {
        Utf8Body::from_request(request, &()).now_or_never().unwrap()
    }

    #[test]
    fn a_longer_body_is_not_one_as_long_as_the_limit() {
        for len in [LIMIT, LIMIT + 1, 3 << 20] {
            for has_length in [true, false] {
                let extracted = extract(request(len, has_length));
                if has_length && len > LIMIT {
                    let error = extracted.unwrap_err();
                    assert!(matches!(error, BodyError::TooLong { max_length: 2_097_152 }));
                    assert_eq!(error.into_response().status(), StatusCode::PAYLOAD_TOO_LARGE);
                    continue;
                }
                let body = extracted.unwrap();
                assert_eq!(body.size_hint().exact(), has_length.then_some(len as u64));
                let collected = block_on(body.collect_text(usize::MAX));
                assert_eq!(collected.is_ok(), len <= LIMIT, "{len} {has_length}");
                let text = Utf8Text::from_request(request(len, has_length), &());
                match block_on(text) {
                    Ok(text) => assert_eq!((text.0.len(), len), (LIMIT, LIMIT)),
                    Err(error) => assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE),
                }
            }
        }
    }

    #[test]
    fn the_limit_is_no_size_hint() {
        for (limit, lower, upper, within) in [
            (5, 0, None, "abcde"),
            (5, 5, None, "abcde"),
            (5, 5, Some(8), "abcde"),
            (6, 5, Some(8), "abcdef"),
            (0, 0, None, ""),
        ] {
            let mut script = Script::of(&[b"abcde", b"fgh"]);
            script.hint.set_lower(lower);
            if let Some(upper) = upper {
                script.hint.set_upper(upper);
            }
            let mut request = Request::new(AnyBody::new(script));
            DefaultBodyLimit::max(limit).apply(&mut request);
            let mut body = extract(request).unwrap();
            let mut text = String::new();
            let error = loop {
                assert_eq!(body.size_hint().exact(), None, "{limit} {lower} {upper:?} {text:?}");
                assert!(!body.is_end_stream());
                match body.frame().now_or_never().unwrap().unwrap() {
                    Ok(frame) => text += str::from_utf8(&frame.into_data().unwrap()).unwrap(),
                    Err(error) => break error,
                }
            };
            assert_eq!((&*text, error.status()), (within, StatusCode::PAYLOAD_TOO_LARGE));
        }
        // The text and its errors do not depend on the frames.
        for cut in 0..=8 {
            let (first, second) = b"abcd\x7Ffgh".split_at(cut);
            let mut request = Request::new(AnyBody::new(Script::of(&[first, second])));
            DefaultBodyLimit::max(6).apply(&mut request);
            let options = Utf8Options::new().reject_controls();
            request.extensions_mut().insert(options);
            let error = block_on(extract(request).unwrap().collect_text(100)).unwrap_err();
            assert_eq!(error.offset(), Some(4), "{cut}");
        }
    }

    #[test]
    fn another_limit_and_none_apply() {
        for (limit, is_text) in [
            (DefaultBodyLimit::max(4), false),
            (DefaultBodyLimit::max(5), true),
            (DefaultBodyLimit::disable(), true),
        ] {
            for has_length in [true, false] {
                let mut request = request(5, has_length);
                limit.apply(&mut request);
                let text = Utf8Text::from_request(request, &()).now_or_never().unwrap();
                assert_eq!(text.is_ok(), is_text, "{limit:?} {has_length}");
            }
        }
    }

    #[test]
    fn the_answer_to_a_content_coding_names_one_that_is_accepted() {
        let headers = http::HeaderMap::from_iter([
            (http::header::CONTENT_TYPE, http::HeaderValue::from_static("text/plain")),
            (http::header::CONTENT_ENCODING, http::HeaderValue::from_static("gzip")),
        ]);
        let response = require_text(&headers).unwrap_err().into_response();
        assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert_eq!(response.headers()["accept-encoding"], "identity");
        assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
    }
}
