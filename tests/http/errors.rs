//! The messages of errors, and their conversions.

use std::error::Error;
use std::io;

use bytes::Bytes;
use futures::FutureExt;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use utf8_codec::payload::http::{BodyError, MediaTypes, Utf8Body};
use utf8_codec::{Utf8Error, Utf8ErrorKind, Utf8Validator};

use crate::script::Script;

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
    let table: [(BodyError, StatusCode, Option<u64>); 6] = [
        (utf8().into(), StatusCode::BAD_REQUEST, Some(2)),
        (unsupported(), StatusCode::UNSUPPORTED_MEDIA_TYPE, None),
        (malformed(), StatusCode::BAD_REQUEST, None),
        (BodyError::ContradictoryCharsets, StatusCode::BAD_REQUEST, None),
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
    assert_eq!(status_of(utf8_codec::stream::StreamError::Inner(unsupported())), 415);
    let inner = Utf8Body::new(Full::<Bytes>::from("text")).with_max_length(3);
    let outer = Utf8Body::new(inner).collect_text(9).now_or_never().unwrap().unwrap_err();
    assert_eq!((outer.status().as_u16(), matches!(outer, BodyError::Inner(_))), (413, true));
}

#[cfg(feature = "stream")]
#[test]
fn an_event_that_is_too_long_keeps_its_offset() {
    use utf8_codec::stream::StreamError;
    let error = BodyError::from(StreamError::EventTooLong { offset: 7, max_length: 10 });
    assert_eq!(error.to_string(), "event at byte 7 is longer than 10 bytes");
    assert_eq!((error.status().as_u16(), error.offset()), (413, Some(7)));
    assert!(error.source().unwrap().is::<LengthLimitError>());
    assert!(error.into_boxed().is::<LengthLimitError>());
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
    assert_eq!(too_long.to_string(), "line 2 at byte 4 is longer than 5 bytes");
    assert_eq!((too_long.status().as_u16(), too_long.offset()), (413, Some(4)));
    assert!(too_long.source().unwrap().is::<LengthLimitError>());
    assert!(too_long.into_boxed().is::<LengthLimitError>());

    let bare_cr = error(b"ok\r\na\rb\r\n");
    assert_eq!((bare_cr.status().as_u16(), bare_cr.offset()), (400, Some(5)));
    assert!(bare_cr.source().is_none());
    assert!(bare_cr.into_boxed().is::<BodyError>());

    let ill_formed = error(b"ok\r\na\xFF\r\n");
    assert!(matches!(ill_formed, BodyError::Line(LineError::Utf8 { .. })));
    assert!(ill_formed.source().unwrap().is::<Utf8Error>());
    assert_eq!((ill_formed.status().as_u16(), ill_formed.offset()), (400, Some(5)));
}

#[test]
fn other_layers_recognise_the_limit() {
    let too_long = BodyError::TooLong { max_length: 3 };
    assert!(too_long.source().unwrap().is::<LengthLimitError>());
    assert!(too_long.into_boxed().is::<LengthLimitError>());
    assert!(BodyError::Inner(length_limit()).into_boxed().is::<LengthLimitError>());
    assert!(BodyError::Inner(inner().into()).into_boxed().is::<io::Error>());
    let boxed = BodyError::Utf8(utf8()).into_boxed();
    assert_eq!(boxed.downcast_ref::<BodyError>().unwrap().offset(), Some(2));
}

#[test]
fn media_types_are_checked_in_any_case() {
    let check = |types: MediaTypes, fields: &[&'static str]| {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(CONTENT_TYPE, HeaderValue::from_static(field));
        }
        types.check(&headers).map_err(|error| (error.status().as_u16(), error.to_string()))
    };
    use MediaTypes::{Json, Text, TextOrJson};
    for field in ["text/plain", "TEXT/html; charset=latin1", "text/x", " text/plain"] {
        assert_eq!(
            (check(Text, &[field]), check(TextOrJson, &[field])),
            (Ok(()), Ok(())),
            "{field}"
        );
        assert_eq!(check(Json, &[field]).unwrap_err().0, 415, "{field}");
    }
    for field in
        ["application/json", "Application/JSON;charset=x", "application/ld+json", "image/a+JSON"]
    {
        assert_eq!(
            (check(Json, &[field]), check(TextOrJson, &[field])),
            (Ok(()), Ok(())),
            "{field}"
        );
        assert_eq!(check(Text, &[field]).unwrap_err().0, 415, "{field}");
    }
    for field in
        ["texts/plain", "application/xjson", "a/json", "application/json+x", "x/text", "a/b+jso"]
    {
        assert_eq!(check(TextOrJson, &[field]).unwrap_err().0, 415, "{field}");
    }
    let malformed = (400, "malformed Content-Type at byte 4".to_owned());
    assert_eq!(check(TextOrJson, &["text"]), Err(malformed));
    assert_eq!(check(TextOrJson, &[]), Err((415, "missing Content-Type".to_owned())));
    assert_eq!(check(Text, &["text/plain", "text/html"]), Ok(()));
    assert_eq!(check(TextOrJson, &["text/plain", "image/png"]).unwrap_err().0, 415);
    assert_eq!(check(TextOrJson, &["text/plain", "application/json"]).unwrap_err().0, 400);
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
