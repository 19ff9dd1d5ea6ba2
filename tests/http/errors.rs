//! The messages of errors, and their conversions.

use std::error::Error;
use std::io;

use http::StatusCode;
use utf8_codec::payload::http::{BodyError, Utf8Body};
use utf8_codec::{Utf8Error, Utf8ErrorKind, Utf8Validator};

use crate::script::Script;

type Failure = BodyError<io::Error>;

fn utf8() -> Utf8Error {
    Utf8Validator::new().push(b"ok\xFF").unwrap_err()
}

fn body() -> Utf8Body<Script> {
    Utf8Body::new(Script::new(&[]))
}

fn unsupported() -> Failure {
    let BodyError::UnsupportedCharset { label } = body().with_charset("klingon").unwrap_err()
    else {
        panic!()
    };
    BodyError::UnsupportedCharset { label }
}

fn malformed() -> Failure {
    match Utf8Body::from_content_type("text", Script::new(&[])).unwrap_err() {
        BodyError::MalformedContentType { offset } => BodyError::MalformedContentType { offset },
        error => panic!("{error}"),
    }
}

fn inner() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the cable")
}

#[test]
fn errors_are_send_and_boxable() {
    fn is_error<T: Error + Send + Sync + Unpin + 'static>() {}
    is_error::<Failure>();
}

#[test]
fn errors_have_a_status_and_text_errors_an_offset() {
    let table: [(Failure, StatusCode, Option<u64>); 6] = [
        (utf8().into(), StatusCode::BAD_REQUEST, Some(2)),
        (unsupported(), StatusCode::UNSUPPORTED_MEDIA_TYPE, None),
        (malformed(), StatusCode::BAD_REQUEST, None),
        (BodyError::ContradictoryCharsets, StatusCode::BAD_REQUEST, None),
        (BodyError::TooLong { max_length: 64 }, StatusCode::PAYLOAD_TOO_LARGE, None),
        (BodyError::Inner(inner()), StatusCode::BAD_REQUEST, None),
    ];
    for (error, status, offset) in table {
        assert_eq!((error.status(), error.offset()), (status, offset), "{error}");
    }
}

#[test]
fn errors_convert_to_io_errors() {
    let ill_formed = io::Error::from(Failure::Utf8(utf8()));
    assert_eq!(ill_formed.kind(), io::ErrorKind::InvalidData);
    let mut validator = Utf8Validator::new();
    validator.push(b"\xE2").unwrap();
    let incomplete = validator.finish().unwrap_err();
    assert_eq!(incomplete.kind(), Utf8ErrorKind::Incomplete);
    assert_eq!(io::Error::from(Failure::Utf8(incomplete)).kind(), io::ErrorKind::UnexpectedEof);

    let same = io::Error::from(Failure::Inner(inner()));
    assert_eq!((same.kind(), &*same.to_string()), (io::ErrorKind::ConnectionReset, "the cable"));
    let other = io::Error::from(BodyError::Inner("a string"));
    assert_eq!((other.kind(), &*other.to_string()), (io::ErrorKind::Other, "a string"));
    let boxed: Box<dyn Error + Send + Sync> = Box::new(inner());
    assert_eq!(io::Error::from(BodyError::Inner(boxed)).kind(), io::ErrorKind::ConnectionReset);

    let too_long = io::Error::from(Failure::TooLong { max_length: 7 });
    assert_eq!(too_long.kind(), io::ErrorKind::InvalidData);
    assert_eq!(too_long.to_string(), "body is longer than 7 bytes");
    let unknown = io::Error::from(unsupported());
    assert_eq!(unknown.kind(), io::ErrorKind::InvalidData);
    assert_eq!(unknown.to_string(), "unsupported charset: klingon");
}
