//! `Utf8Layer` around a service that returns what it receives, and its check of responses.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited, StreamBody};
use tower_layer::Layer;
use tower_service::Service;
use utf8_codec::http::{
    BodyError, CheckedBody, Utf8Layer, require_checkable, require_json, require_text,
    require_text_or_json,
};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

use crate::script::Script;

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
    response_with(StatusCode::OK, layer, headers, body)
}

fn response_with(
    status: StatusCode,
    layer: Utf8Layer,
    headers: &[(&'static str, &str)],
    body: &[u8],
) -> Outcome {
    let body = Full::new(Bytes::copy_from_slice(body));
    let mut response = Echo.call(post(headers, body)).now_or_never().unwrap().unwrap();
    *response.status_mut() = status;
    Outcome::of(layer.check_response(response))
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
        &[(TYPE, "image/png"), (TYPE, "image/gif")],
        &[(TYPE, "a/b; c=\"d, text/plain\"")],
        &[(TYPE, "a/b; c=\"\\\", text/plain; d=\"")],
        &[(TYPE, "a/b; c=\\\", text/plain")],
    ] {
        assert_eq!(request(layer, headers, b"\xA9\xFF").body.unwrap(), &b"\xA9\xFF"[..]);
        let received = response_with(StatusCode::PARTIAL_CONTENT, layer, headers, b"\xA9\xFF");
        assert_eq!(received.body.unwrap(), &b"\xA9\xFF"[..], "{headers:?}");
    }
}

#[test]
fn media_types_that_the_caller_adds_are_validated() {
    let layer =
        Utf8Layer::new().with_media_types(&["application/x-ndjson", "+XML", "application/yaml"]);
    for media_type in [
        "application/X-ndjson",
        "image/svg+xml",
        "application/yaml; charset=utf-8",
        "text/plain",
        "a/b+json",
    ] {
        assert_eq!(
            request(layer, &[(TYPE, media_type)], b"caf\xE9!").body_status(),
            400,
            "{media_type}"
        );
        assert_eq!(response(layer, &[(TYPE, media_type)], b"caf\xE9!").body_status(), 400);
    }
    let latin1 = request(layer, &[(TYPE, "application/yaml; charset=latin1")], b"caf\xE9!");
    assert_eq!(latin1.body.unwrap(), "café!".as_bytes());
    for media_type in ["application/x-ndjson2", "application/xml", "image/svg+xml2", "image/png"] {
        let outcome = request(layer, &[(TYPE, media_type)], b"caf\xE9!");
        assert_eq!(outcome.body.unwrap(), &b"caf\xE9!"[..], "{media_type}");
    }
    let mixed = [(TYPE, "image/png"), (TYPE, "application/yaml")];
    assert_eq!(request(layer, &mixed, b"").status, 400);
    // A check, which does not know these types, does not let a peer switch validation off.
    let (yaml, range) = ((TYPE, "application/yaml"), ("content-range", "bytes 1-4/5"));
    for field in [("content-encoding", "gzip"), range] {
        assert_eq!(request(layer, &[yaml, field], b"\xFF").body.unwrap(), &b"\xFF"[..]);
        let checked = layer.with_header_check(require_checkable);
        let status = request(checked, &[yaml, field], b"\xFF").status;
        assert_eq!(status, if field == range { 400 } else { 415 });
        let image = request(checked, &[(TYPE, "image/png"), field], b"\xFF");
        assert_eq!(image.body.unwrap(), &b"\xFF"[..]);
    }
}

/// RFC 9110 sections 5.6.1.2, 8.3, 8.4.1 and 14.4.
#[test]
fn a_peer_cannot_switch_validation_off_by_its_headers() {
    const CODING: &str = "content-encoding";
    const RANGE: &str = "content-range";
    let layer = Utf8Layer::new();
    let require = [require_text, require_text_or_json, require_checkable];
    let layers = || require.map(|check| layer.with_header_check(check)).into_iter().chain([layer]);
    let checked: [&[(&str, &str)]; 8] = [
        &[(CODING, "")],
        &[(CODING, ",")],
        &[(CODING, "Identity")],
        &[(CODING, "identity, identity")],
        &[(CODING, " ,identity\t, ")],
        &[(CODING, ""), (CODING, "identity")],
        &[(RANGE, "bytes */5")],
        &[(TYPE, "text/html")],
    ];
    for headers in checked {
        let headers = [&[(TYPE, "text/plain")], headers].concat();
        for layer in layers() {
            let outcome = request(layer, &headers, b"caf\xE9!");
            assert_eq!((outcome.status, outcome.body_status()), (200, 400), "{headers:?}");
            assert_eq!(response(layer, &headers, b"caf\xE9!").body_status(), 400, "{headers:?}");
        }
    }
    // Only a response with the status 206 is a part.
    let range = [(TYPE, "text/plain"), (RANGE, "bytes 1-4/5")];
    let error = response(layer, &range, b"caf\xE9!").body.unwrap_err();
    assert_eq!(error.downcast_ref::<BodyError>().unwrap().offset(), Some(3));

    // The first type and the last one decide differently.
    for types in [
        ["text/plain", "image/png"],
        ["image/png", "text/plain"],
        ["image/png", "a/b+json"],
        ["image/png", "image/gif, Text/plain"],
        ["image/png, text/plain; a", "image/png"],
        ["image/png; a=\"b\", text/plain", "image/png"],
        ["image/png; a=\"\\\\\", text/plain", "image/png"],
        ["text/plain", "application/json"],
    ] {
        let headers = types.map(|media_type| (TYPE, media_type));
        for layer in [layer, layer.with_header_check(require_checkable)] {
            let outcome = request(layer, &headers, b"caf\xE9!");
            let message = "contradictory media types or charsets in Content-Type";
            assert_eq!((outcome.status, &*outcome.body.unwrap()), (400, message.as_bytes()));
            assert_eq!(response(layer, &headers, b"caf\xE9!").body_status(), 400, "{types:?}");
        }
    }

    // What cannot be checked is rejected if the program asks for it.
    for (field, status) in [
        ((CODING, "foo"), 415),
        ((CODING, "gzip"), 415),
        ((CODING, "identity, br"), 415),
        ((RANGE, "bytes 1-4/5"), 400),
    ] {
        let headers = [(TYPE, "text/plain"), field];
        assert_eq!(request(layer, &headers, b"caf\xE9!").body.unwrap(), &b"caf\xE9!"[..]);
        for layer in layers().take(require.len()) {
            let outcome = request(layer, &headers, b"caf\xE9!");
            assert_eq!(outcome.status, status, "{field:?}");
            let accepted = outcome.headers.get("accept-encoding").is_some_and(|v| v == "identity");
            assert_eq!(accepted, status == 415, "RFC 9110 section 12.5.3");
            let part = StatusCode::PARTIAL_CONTENT;
            let outcome = response_with(part, layer, &headers, b"caf\xE9!");
            assert_eq!(outcome.body_status(), status, "{field:?}");
        }
        let image = [(TYPE, "image/png"), field];
        let checkable = layer.with_header_check(require_checkable);
        assert_eq!(request(checkable, &image, b"\x89PNG").body.unwrap(), &b"\x89PNG"[..]);
    }
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

/// RFC 9530 sections 2 and 3, RFC 9110 sections 8.6, 8.8.1 and 14.3, RFC 3230, RFC 2616 section 14.15.
#[test]
fn fields_that_describe_the_bytes_are_kept_only_for_an_unchanged_body() {
    const OF_BYTES: [(&str, &str); 6] = [
        ("content-length", "4"),
        ("accept-ranges", "bytes"),
        ("content-md5", "MQ=="),
        ("digest", "md5=MQ=="),
        ("content-digest", "sha-256=:MQ==:"),
        ("repr-digest", "sha-256=:MQ==:"),
    ];
    const OTHERS: [(&str, &str); 3] = [
        ("last-modified", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ("want-content-digest", "sha-256=1"),
        ("content-language", "fr"),
    ];
    let outcomes = |layer: Utf8Layer, media_type, tag: &str| {
        let headers = [&[(TYPE, media_type), ("etag", tag)][..], &OF_BYTES, &OTHERS].concat();
        let trailers =
            || headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let frames =
            || [Frame::data(Bytes::from("\u{FEFF}t")), Frame::trailers(trailers().collect())];
        let body = || StreamBody::new(futures::stream::iter(frames().map(Ok::<_, Infallible>)));
        let call = |request| Echo.call(request).now_or_never().unwrap().unwrap();
        let requested = layer.layer(Echo).call(post(&headers, body())).now_or_never().unwrap();
        let requested = requested.unwrap().map(BodyExt::boxed_unsync);
        let received =
            layer.check_response(call(post(&headers, body()))).map(BodyExt::boxed_unsync);
        [requested, received].map(|message| {
            let (head, body) = message.into_parts();
            let body = body.collect().now_or_never().unwrap().unwrap();
            [head.headers, body.trailers().unwrap().clone()]
        })
    };
    let (utf8, image) = ("text/plain", "image/png");
    let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
    let layer = Utf8Layer::new();
    let repairing = layer.with_error_mode(ErrorMode::Replacement);
    for (layer, media_type) in [(layer, utf8), (layer, image), (repairing, image)] {
        for fields in outcomes(layer, media_type, "\"v1\"").as_flattened() {
            for (name, value) in [&OF_BYTES[..], &OTHERS, &[("etag", "\"v1\"")]].concat() {
                assert_eq!(fields[name], value, "{media_type}");
            }
        }
    }
    let forbid = Utf8Options::new().with_bom(BomPolicy::Forbid);
    let changing = [
        (layer.with_options(strip), utf8),
        (repairing.with_options(forbid), utf8),
        (layer, "text/plain; charset=windows-1252"),
    ];
    for (layer, media_type) in changing {
        let (strong, weak) = ("\"v1\"", "W/\"v1\"");
        let malformed = ["v1", "\"v1", "W/v1", "W/\"a\" x", "\"", "W/\"a b\""];
        let malformed = malformed.map(|tag| (tag, None));
        for (tag, weak) in [(strong, Some(weak)), (weak, Some(weak))].into_iter().chain(malformed) {
            for fields in outcomes(layer, media_type, tag).as_flattened() {
                for (name, _) in OF_BYTES {
                    assert!(!fields.contains_key(name), "{name}, {media_type}");
                }
                for (name, value) in OTHERS {
                    assert_eq!(fields[name], value, "{media_type}");
                }
                assert_eq!(fields.get("etag").map(|tag| tag.to_str().unwrap()), weak);
            }
        }
    }
    // Trailers come after the text: only an actual change counts.
    for [headers, trailers] in outcomes(repairing, utf8, "\"v1\"") {
        assert!(!headers.contains_key("content-digest"));
        assert_eq!(trailers["content-digest"], "sha-256=:MQ==:");
    }
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
fn a_limit_is_no_length() {
    for (least, limit) in [(0, 0), (4, 4), (0, 4), (2, 4)] {
        let mut body = Script::of(&[b"1234", b"5678"]);
        body.hint.set_lower(least);
        let response = Response::builder().header(TYPE, "text/plain").body(body).unwrap();
        let mut body = Utf8Layer::new().with_max_length(limit).check_response(response).into_body();
        let mut text = Vec::new();
        let error = loop {
            assert_eq!(
                body.size_hint().exact(),
                None,
                "{least} {limit}: hyper would send it as the length"
            );
            match body.frame().now_or_never().unwrap().unwrap() {
                Ok(frame) => text.extend_from_slice(&frame.into_data().unwrap()),
                Err(error) => break error,
            }
        };
        assert_eq!(text, &b"1234"[..limit as usize]);
        assert!(error.is::<LengthLimitError>(), "{error}");
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

/// Is always in this state, and answers each call with an error.
struct Busy(Poll<Result<(), &'static str>>);

impl<B> Service<Request<B>> for Busy {
    type Response = Response<B>;
    type Error = &'static str;
    type Future = Ready<Result<Response<B>, &'static str>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        self.0
    }

    fn call(&mut self, _: Request<B>) -> Self::Future {
        ready(Err("called"))
    }
}

#[test]
fn a_service_is_ready_when_the_inner_one_is() {
    let mut cx = Context::from_waker(std::task::Waker::noop());
    for state in [Poll::Pending, Poll::Ready(Ok(())), Poll::Ready(Err("busy"))] {
        let mut service = Utf8Layer::new().layer(Busy(state));
        assert_eq!(Service::<Request<Full<Bytes>>>::poll_ready(&mut service, &mut cx), state);
        let call = service.call(post(&[(TYPE, "text/plain")], Full::<Bytes>::from("a")));
        assert_eq!(call.now_or_never().unwrap().err(), Some("called"));
    }
}
