//! `Utf8Layer` around a service that returns what it receives, and its check of responses.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited, StreamBody};
use tower_layer::Layer;
use tower_service::Service;
use utf8_codec::http::{BodyError, CheckedBody, Utf8Layer, require_json, require_text_or_json};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

type BoxError = Box<dyn Error + Send + Sync>;

/// Answers with the body that it receives, and with the headers.
#[derive(Clone, Copy)]
struct Echo;

impl<B> Service<Request<B>> for Echo {
    type Response = Response<B>;
    type Error = Infallible;
    type Future = Ready<Result<Response<B>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (head, body) = request.into_parts();
        let mut response = Response::new(body);
        *response.headers_mut() = head.headers;
        ready(Ok(response))
    }
}

/// What a body contains, or its error.
#[derive(Debug)]
struct Outcome {
    status: u16,
    headers: HeaderMap,
    body: Result<Bytes, BoxError>,
}

impl Outcome {
    fn of<B: Body<Error = BoxError>>(response: Response<B>) -> Self {
        let (head, body) = response.into_parts();
        let body = body.collect().now_or_never().expect("the body is ready");
        let body = body.map(|body| body.to_bytes());
        Self { status: head.status.as_u16(), headers: head.headers, body }
    }

    /// The status that an error of the body has.
    fn body_status(self) -> u16 {
        let error = self.body.unwrap_err();
        error.downcast_ref::<BodyError>().unwrap().status().as_u16()
    }
}

fn post<B>(headers: &[(&'static str, &str)], body: B) -> Request<B> {
    let request = Request::post("/");
    headers.iter().fold(request, |r, (name, value)| r.header(*name, *value)).body(body).unwrap()
}

/// Sends a request to the service inside the layer, and returns what it receives, or the answer of the layer.
fn request(layer: Utf8Layer, headers: &[(&'static str, &str)], body: &[u8]) -> Outcome {
    let body = Full::new(Bytes::copy_from_slice(body));
    let mut service = layer.layer(Echo);
    let response = service.call(post(headers, body)).now_or_never().unwrap();
    Outcome::of(response.unwrap())
}

/// Checks a response.
fn response(layer: Utf8Layer, headers: &[(&'static str, &str)], body: &[u8]) -> Outcome {
    let body = Full::new(Bytes::copy_from_slice(body));
    let response = Echo.call(post(headers, body)).now_or_never().unwrap();
    Outcome::of(layer.check_response(response.unwrap()))
}

const TYPE: &str = "content-type";

#[test]
fn bodies_of_text_types_are_validated_and_others_pass_unchanged() {
    let layer = Utf8Layer::new();
    for media_type in ["text/plain", "text/html; charset=utf-8", "application/json", "a/b+json"] {
        for outcome in [
            request(layer, &[(TYPE, media_type)], b"caf\xE9"),
            response(Utf8Layer::new(), &[(TYPE, media_type)], b"caf\xE9"),
        ] {
            assert_eq!((outcome.status, outcome.body_status()), (200, 400), "{media_type}");
        }
        let outcome = request(layer, &[(TYPE, media_type)], "café".as_bytes());
        assert_eq!(outcome.headers[CONTENT_TYPE], media_type);
        assert_eq!(outcome.body.unwrap(), "café");
    }
    for headers in [
        &[][..],
        &[(TYPE, "image/png")],
        &[(TYPE, "application/x-www-form-urlencoded")],
        &[(TYPE, "text/plain"), ("content-encoding", "gzip")],
        &[(TYPE, "text/plain"), ("content-encoding", "identity, br")],
        &[(TYPE, "text/plain"), ("content-range", "bytes 1-4/5")],
    ] {
        assert_eq!(request(layer, headers, b"\xA9\xFF").body.unwrap(), &b"\xA9\xFF"[..]);
        let received = response(Utf8Layer::new(), headers, b"\xA9\xFF");
        assert_eq!(received.body.unwrap(), &b"\xA9\xFF"[..], "{headers:?}");
    }
    let identity = [(TYPE, "text/plain"), ("content-encoding", "Identity")];
    assert_eq!(request(layer, &identity, b"\xFF").body_status(), 400);
}

#[test]
fn the_end_and_the_size_of_a_body_are_known_before_it_is_read() {
    for media_type in ["text/plain", "image/png"] {
        for (text, is_end) in [("", true), ("text", false)] {
            let body = Full::new(Bytes::from(text));
            let mut service = Utf8Layer::new().layer(Echo);
            let response = service.call(post(&[(TYPE, media_type)], body)).now_or_never().unwrap();
            let body = response.unwrap().into_body();
            assert_eq!(body.is_end_stream(), is_end, "{media_type}");
            assert_eq!(body.size_hint().exact(), Some(text.len() as u64), "{media_type}");
        }
    }
}

#[test]
fn trailers_pass_unchanged() {
    for (media_type, text) in [("text/plain", "5 €".as_bytes()), ("image/png", b"\x89PNG")] {
        let trailers = HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from_static("4"))]);
        let frames = [Frame::data(Bytes::from_static(text)), Frame::trailers(trailers)];
        let frames = futures::stream::iter(frames.map(Ok::<_, Infallible>));
        let request = post(&[(TYPE, media_type)], StreamBody::new(frames));
        let response = Utf8Layer::new().layer(Echo).call(request).now_or_never().unwrap();
        let body = response.unwrap().into_body().collect().now_or_never().unwrap().unwrap();
        assert_eq!(body.trailers().unwrap()[CONTENT_LENGTH], "4", "{media_type}");
        assert_eq!(body.to_bytes(), text, "{media_type}");
    }
}

#[test]
fn a_request_that_the_headers_rule_out_is_answered_without_the_service() {
    let layer = Utf8Layer::new().with_max_length(4);
    for (media_type, body, status, message) in [
        ("text/plain; charset=x-none", "", 415, "unsupported charset: x-none"),
        ("text", "", 400, "malformed Content-Type at byte 4"),
        ("text/plain", "five!", 413, "body or its text is longer than 4 bytes"),
    ] {
        let outcome = request(layer, &[(TYPE, media_type)], body.as_bytes());
        assert_eq!((outcome.status, &*outcome.body.unwrap()), (status, message.as_bytes()));
        assert_eq!(outcome.headers[CONTENT_TYPE], "text/plain; charset=utf-8");
    }
    assert_eq!(request(layer, &[(TYPE, "image/png")], b"five!").body.unwrap(), "five!");
}

#[test]
fn a_response_that_the_headers_rule_out_fails_at_its_first_frame() {
    let layer = Utf8Layer::new().with_max_length(4);
    let headers = |media_type| [(TYPE, media_type)];
    assert_eq!(response(layer, &headers("text/plain; charset=x-none"), b"a").body_status(), 415);
    assert_eq!(response(layer, &headers("text"), b"a").body_status(), 400);
    assert_eq!(response(layer, &headers("text/plain"), b"five!").body_status(), 413);
}

#[test]
fn a_header_check_rejects_other_types_with_415() {
    let layer = Utf8Layer::new().with_header_check(require_json);
    assert_eq!(request(layer, &[(TYPE, "application/json")], b"{}").body.unwrap(), "{}");
    let rejected = request(layer, &[(TYPE, "text/plain")], b"{}");
    assert_eq!(rejected.status, 415);
    assert_eq!(rejected.body.unwrap(), "unsupported media type: text/plain");
    assert_eq!(request(layer, &[], b"{}").body.unwrap(), "missing Content-Type");
    assert_eq!(request(layer, &[], b"").status, 200, "a request without a body has no type");

    assert_eq!(response(layer, &[(TYPE, "application/json")], b"{}").body.unwrap(), "{}");
    assert_eq!(response(layer, &[(TYPE, "text/plain")], b"{}").body_status(), 415);
    assert_eq!(response(layer, &[], b"{}").body_status(), 415);
    assert_eq!(response(layer, &[], b"").body.unwrap(), "", "a response without a body");
}

#[test]
fn a_header_check_can_be_any_function() {
    fn require_length(headers: &HeaderMap) -> Result<(), BodyError> {
        match headers.get(CONTENT_LENGTH) {
            Some(_) => require_text_or_json(headers),
            None => Err(BodyError::Inner("missing Content-Length".into())),
        }
    }
    let layer = Utf8Layer::new().with_header_check(require_length);
    let length = ("content-length", "4");
    assert_eq!(request(layer, &[(TYPE, "text/plain"), length], b"text").body.unwrap(), "text");
    assert_eq!(request(layer, &[(TYPE, "image/png"), length], b"\x89PNG").status, 415);
    let rejected = request(layer, &[(TYPE, "text/plain")], b"text");
    assert_eq!(rejected.status, 400);
    assert_eq!(rejected.body.unwrap(), "missing Content-Length");

    let any = Utf8Layer::new().with_header_check(|_| Ok(()));
    assert_eq!(request(any, &[(TYPE, "image/png")], b"\x89PNG").body.unwrap(), &b"\x89PNG"[..]);
}

#[test]
fn a_limit_counts_what_is_received_and_is_recognised_by_other_layers() {
    let frames = |chunks: &[&'static [u8]]| {
        let data = |data: &&'static [u8]| Frame::data(Bytes::from_static(data));
        let frames = chunks.iter().map(data).map(Ok::<_, Infallible>);
        StreamBody::new(futures::stream::iter(frames.collect::<Vec<_>>()))
    };
    let mut service = Utf8Layer::new().with_max_length(4).layer(Echo);
    let call = service.call(post(&[(TYPE, "text/plain")], frames(&[b"1234", b"5"])));
    let outcome = Outcome::of(call.now_or_never().unwrap().unwrap());
    assert!(outcome.body.unwrap_err().is::<LengthLimitError>());

    // A limit inside is returned as it is.
    let inner = Limited::new(frames(&[b"1234", b"5"]), 4);
    let call = service.call(post(&[(TYPE, "text/plain")], inner));
    let outcome = Outcome::of(call.now_or_never().unwrap().unwrap());
    assert!(outcome.body.unwrap_err().is::<LengthLimitError>());
}

#[test]
fn the_bytes_within_a_limit_are_passed_on_however_they_are_divided_into_frames() {
    for frames in
        [&["12€78"][..], &["12", "€7", "8"], &["1", "2€", "78"], &["12€", "78"], &["", "12€7", "8"]]
    {
        let data = frames.iter().map(|data| Frame::data(Bytes::from_static(data.as_bytes())));
        let body = StreamBody::new(futures::stream::iter(data.map(Ok::<_, Infallible>)));
        let mut service = Utf8Layer::new().with_max_length(5).layer(Echo);
        let call = service.call(post(&[(TYPE, "text/plain")], body));
        let mut body = call.now_or_never().unwrap().unwrap().into_body();
        let mut text = Vec::new();
        let error = loop {
            match body.frame().now_or_never().unwrap().unwrap() {
                Ok(frame) => text.extend_from_slice(&frame.into_data().unwrap()),
                Err(error) => break error,
            }
        };
        assert_eq!(text, "12€".as_bytes(), "{frames:?}");
        assert!(error.is::<LengthLimitError>(), "{frames:?}: {error}");
        assert!(body.frame().now_or_never().unwrap().is_none(), "{frames:?}");
    }
}

#[test]
fn content_length_is_kept_only_for_an_unchanged_body() {
    let headers = [(TYPE, "text/plain"), ("content-length", "4")];
    let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
    let kept = |layer| request(layer, &headers, b"text").headers.contains_key(CONTENT_LENGTH);
    assert!(kept(Utf8Layer::new()));
    assert!(!kept(Utf8Layer::new().with_options(strip)));
    assert!(!kept(Utf8Layer::new().with_error_mode(ErrorMode::Replacement)));
    let repaired = Utf8Layer::new().with_error_mode(ErrorMode::Replacement);
    let outcome = response(repaired, &headers, b"caf\xE9");
    assert!(!outcome.headers.contains_key(CONTENT_LENGTH));
    assert_eq!(outcome.body.unwrap(), "caf\u{FFFD}");
}

#[cfg(feature = "encoding_rs")]
#[test]
fn another_charset_is_converted_and_the_headers_name_utf_8() {
    let headers = [(TYPE, "text/plain; charset=latin1; format=flowed"), ("content-length", "4")];
    for outcome in [
        request(Utf8Layer::new(), &headers, b"caf\xE9"),
        response(Utf8Layer::new(), &headers, b"caf\xE9"),
    ] {
        assert_eq!(outcome.headers[CONTENT_TYPE], "text/plain; format=flowed; charset=utf-8");
        assert!(!outcome.headers.contains_key(CONTENT_LENGTH));
        assert_eq!(outcome.body.unwrap(), "café");
    }
    // JSON has no charset but UTF-8 (RFC 8259 section 11).
    let json = [(TYPE, "application/json; charset=latin1")];
    assert_eq!(request(Utf8Layer::new(), &json, b"\"caf\xE9\"").body_status(), 400);
}

#[test]
fn frames_hold_whole_characters_at_every_split() {
    let bytes = "5 € 🦀".as_bytes();
    for at in 0..=bytes.len() {
        let frames = [&bytes[..at], &bytes[at..]].map(Bytes::copy_from_slice);
        let frames = frames.map(|data| Ok::<_, Infallible>(Frame::data(data)));
        let body = StreamBody::new(futures::stream::iter(frames));
        let call = Utf8Layer::new().layer(Echo).call(post(&[(TYPE, "text/plain")], body));
        let mut body: Either<CheckedBody<_>, Full<Bytes>> =
            call.now_or_never().unwrap().unwrap().into_body();
        let mut text = String::new();
        while let Some(frame) = body.frame().now_or_never().unwrap() {
            text += str::from_utf8(&frame.unwrap().into_data().unwrap()).expect("whole characters");
        }
        assert_eq!(text.as_bytes(), bytes, "{at}");
    }
}
