//! The charset and the media type in a `Content-Type`.

use bytes::Bytes;
use futures::FutureExt;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::Empty;
use utf8_codec::ErrorMode;
use utf8_codec::http::{
    BodyError, Utf8Body, require_checkable, require_json, require_text, require_text_or_json,
};

use crate::script::Does::{Chunk as Data, End};
use crate::script::{Script, ready};

const UTF_8: [&str; 6] =
    ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"];

fn headers(fields: &[&'static str]) -> HeaderMap {
    let field = |value| (http::header::CONTENT_TYPE, HeaderValue::from_static(value));
    let mut headers = HeaderMap::new();
    fields.iter().copied().map(field).for_each(|(name, value)| {
        headers.append(name, value);
    });
    headers
}

type Name = Result<&'static str, String>;

/// The name of the charset, or the message of the error.
fn name<B>(body: Result<Utf8Body<B>, BodyError>) -> Name {
    body.map(|body| body.charset()).map_err(|error| error.to_string())
}

fn from_label(label: &str) -> Name {
    name(Utf8Body::new(Empty::<Bytes>::new()).with_charset(label))
}

fn from_content_type(field: &[u8]) -> Name {
    name(Utf8Body::from_content_type(field, Empty::<Bytes>::new()))
}

fn from_headers(fields: &[&'static str]) -> Name {
    name(Utf8Body::from_headers(&headers(fields), Empty::<Bytes>::new()))
}

#[test]
fn utf_8_has_six_labels_in_any_case() {
    for label in UTF_8 {
        for label in [label.to_owned(), label.to_uppercase(), format!("\t {label}\x0C\n")] {
            assert_eq!(from_label(&label), Ok("UTF-8"), "{label:?}");
        }
    }
    for label in ["", " ", "utf", "utf-", "utf 8", "utf-8-sig", "cesu-8", "wtf-8", "'utf-8'"] {
        assert!(from_label(label).is_err(), "{label:?}");
    }
}

#[test]
fn the_charset_parameter_matches_in_any_case_and_position() {
    // A field without a charset contradicts a field with one.
    let names_one = |field| from_headers(&["text/plain; charset=utf-8", field]);
    for field in [
        "text/plain;charset=utf-8",
        "text/plain; charset=UTF-8",
        "Text/HTML;Charset=\"utf-8\"",
        "text/html; charset=\"utf-8\"",
        "text/plain ;\tformat=flowed ;\t; CHARSET=Utf-8 \t",
        r#"multipart/mixed; boundary="; charset=x; \""; charset="\u\t\f\8""#,
        "application/json; charset=utf8; charset=UTF-8",
        "text/plain; charset=utf-8;",
    ] {
        assert_eq!(from_content_type(field.as_bytes()), Ok("UTF-8"), "{field:?}");
        assert_eq!(names_one(field), Ok("UTF-8"), "{field:?}");
    }
    for field in ["text/plain", "text/plain;", "a/b; x-charset=utf-16", r#"a/b; c="charset=x""#] {
        assert_eq!(from_content_type(field.as_bytes()), Ok("UTF-8"), "{field:?}");
        assert_eq!(names_one(field), contradictory(), "{field:?}");
    }
}

/// WHATWG HTML 9.2.6, RFC 8259 sections 8.1 and 11, WebVTT 4.1.
#[test]
fn a_charset_has_no_effect_on_types_that_are_always_utf_8() {
    for media_type in
        ["text/event-stream", "TEXT/Event-Stream", "text/vtt", "application/json", "a/b+JSON"]
    {
        for parameters in
            ["", ";charset=ISO-8859-1", "; charset=klingon", ";charset=utf-8; charset=utf-16"]
        {
            let field = format!("{media_type}{parameters}");
            assert_eq!(from_content_type(field.as_bytes()), Ok("UTF-8"), "{field}");
        }
        let malformed = format!("{media_type};charset=");
        assert!(from_content_type(malformed.as_bytes()).is_err(), "{malformed}");
    }
    let twice = ["text/event-stream; charset=latin1", "text/event-stream"];
    assert_eq!(from_headers(&twice), Ok("UTF-8"));
    for field in
        ["text/event-streams; charset=latin1", "a/json; charset=latin1", "a/vtt;charset=l1"]
    {
        assert_eq!(from_content_type(field.as_bytes()), Ok("windows-1252"), "{field}");
    }
}

#[test]
fn unknown_labels_are_rejected_with_415() {
    let table: [(&[u8], &str); 11] = [
        (b"text/plain; charset=klingon", "klingon"),
        (b"a/b \t; \tc=d ;Charset=f", "f"),
        (b"a/b;;c=d; ;charset=e;", "e"),
        (b"application/vnd.x+yaml;charset=1.0", "1.0"),
        (b"text/plain; charset=\"\"", ""),
        (br#"a/b;charset="d e";f="""#, "d e"),
        (br#"a/b;charset="\d\"\\;\e";e=f"#, r#"d\"\\;e"#),
        (b"text/plain; charset='utf-8'", r"\'utf-8\'"),
        (b"text/plain; charset=iso-2022-kr", "iso-2022-kr"),
        (b"text/plain; charset=\"\xFF\\\x80\"", r"\xff\x80"),
        (
            b"text/plain; charset=a-name-that-is-much-too-long-for-an-error-message",
            "a-name-that-is-much-too-long-for-an-erro",
        ),
    ];
    for (field, label) in table {
        let error = Utf8Body::from_content_type(field, Empty::<Bytes>::new()).unwrap_err();
        assert_eq!(error.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert!(matches!(error, BodyError::UnsupportedCharset { label: found } if found == label));
    }
}

#[test]
fn malformed_fields_report_their_offset() {
    let table: [(&[u8], usize); 19] = [
        (b"", 0),
        (b"text", 4),
        (b"text/", 5),
        (b"/plain", 0),
        (b"text /plain", 4),
        (b"text/plain charset=x", 11),
        (b"text/plain, text/html", 10),
        (b"a/b;c", 5),
        (b"a/b;c=", 6),
        (b"a/b;=d", 4),
        (b"a/b;c =d", 5),
        (b"a/b;c= d", 6),
        (b"a/b;c=d e", 8),
        (b"a/b;c=\"d", 8),
        (b"a/b;c=\"d\\", 9),
        (b"a/b;c=\"\x07\"", 7),
        (b"a/b;c=\"\\\x7F\"", 8),
        (b"a/b;c=\"d\"e", 9),
        (b"a/b;c=\xE9", 6),
    ];
    for (field, at) in table {
        let malformed = Err(format!("malformed Content-Type at byte {at}"));
        assert_eq!(from_content_type(field), malformed, "{}", field.escape_ascii());
    }
}

#[test]
fn the_charset_of_a_field_is_replaced() {
    for (field, changed) in [
        (" text/html", "text/html; charset=utf-8"),
        ("text/html;Charset=latin1", "text/html; charset=utf-8"),
        ("a/b; q=\"1;\\\"\" ; charset=\"x\";f=g;", "a/b; q=\"1;\\\"\";f=g; charset=utf-8"),
        ("a/b;charset=x;charset=y", "a/b; charset=utf-8"),
    ] {
        let mut fields = headers(&[field]);
        let body = Utf8Body::new(()).with_charset("latin1").unwrap();
        body.update_headers(&mut fields);
        assert_eq!(fields[http::header::CONTENT_TYPE], changed);
    }
}

#[cfg(not(feature = "encoding_rs"))]
#[test]
fn other_encodings_need_a_feature() {
    for label in ["shift_jis", "gb18030", "x-user-defined"] {
        assert_eq!(from_label(label), Err(format!("unsupported charset: {label}")));
    }
}

#[test]
fn latin_1_and_utf_16_need_no_feature() {
    for (label, name) in [
        ("Latin1", "windows-1252"),
        (" us-ascii", "windows-1252"),
        ("iso_8859-1:1987", "windows-1252"),
        ("utf-16", "UTF-16LE"),
        ("unicodeFFFE", "UTF-16BE"),
    ] {
        assert_eq!(from_label(label), Ok(name));
    }
    let converted = |label, does: &[_]| {
        let body = Utf8Body::new(Script::new(does)).with_charset(label).unwrap();
        ready(&mut body.with_error_mode(ErrorMode::Replacement)).concat()
    };
    assert_eq!(converted("latin1", &[Data(b"\x80 caf"), Data(b"\xE9"), End]), "€ café-");
    let utf16 =
        [Data(b"a"), Data(b"\0\x3D"), Data(b"\xD8\x4B"), Data(b"\xDC\0"), Data(b"\xD8b"), End];
    assert_eq!(converted("utf-16", &utf16), "a👋\u{FFFD}-");
}

fn contradictory() -> Name {
    Err("contradictory media types or charsets in Content-Type".to_owned())
}

#[test]
fn contradictory_charsets_are_rejected() {
    assert_eq!(from_headers(&[]), Ok("UTF-8"));
    assert_eq!(from_headers(&["text/plain"]), Ok("UTF-8"));
    let twice = ["text/plain; charset=utf-8", "text/html; charset=utf8"];
    assert_eq!(from_headers(&twice), Ok("UTF-8"));
    let once = ["text/plain; charset=utf-8", "text/plain"];
    assert_eq!(from_headers(&once), contradictory());
    let one_bad = ["text/plain; charset=utf-8", "text"];
    assert_eq!(from_headers(&one_bad), Err("malformed Content-Type at byte 4".to_owned()));
    assert_eq!(from_content_type(b"text/plain; charset=utf-8; charset=latin1"), contradictory());
}

#[test]
fn a_body_takes_its_charset_from_the_headers() {
    let script = || Script::new(&[Data(b"\xC3"), Data(b"\xA9"), End]);
    let fields = headers(&["text/plain; charset=UTF-8"]);
    let mut body = Utf8Body::from_headers(&fields, script()).unwrap();
    assert_eq!((body.charset(), ready(&mut body)), ("UTF-8", vec!["é".into(), "-".into()]));
    let error = Utf8Body::from_headers(&headers(&["text/plain; charset=x"]), script()).unwrap_err();
    assert_eq!(error.to_string(), "unsupported charset: x");
    let text = Utf8Body::from_headers(&headers(&[]), script()).unwrap().collect_text(2);
    assert_eq!(text.now_or_never().unwrap().unwrap(), "é");
}

#[test]
fn media_types_are_checked_in_any_case() {
    let check = |require: fn(&HeaderMap) -> Result<(), BodyError>, fields: &[&'static str]| {
        require(&headers(fields)).map_err(|error| (error.status().as_u16(), error.to_string()))
    };
    for field in ["text/plain", "TEXT/html; charset=latin1", "text/x", " text/plain"] {
        assert_eq!(
            (check(require_text, &[field]), check(require_text_or_json, &[field])),
            (Ok(()), Ok(())),
            "{field}"
        );
        assert_eq!(check(require_json, &[field]).unwrap_err().0, 415, "{field}");
    }
    for field in
        ["application/json", "Application/JSON;charset=x", "application/ld+json", "image/a+JSON"]
    {
        assert_eq!(
            (check(require_json, &[field]), check(require_text_or_json, &[field])),
            (Ok(()), Ok(())),
            "{field}"
        );
        assert_eq!(check(require_text, &[field]).unwrap_err().0, 415, "{field}");
    }
    for field in
        ["texts/plain", "application/xjson", "a/json", "application/json+x", "x/text", "a/b+jso"]
    {
        assert_eq!(check(require_text_or_json, &[field]).unwrap_err().0, 415, "{field}");
    }
    let malformed = (400, "malformed Content-Type at byte 4".to_owned());
    assert_eq!(check(require_text_or_json, &["text"]), Err(malformed));
    for (field, offset) in [
        ("application/json, text/plain", 16),
        ("application/json; charset=", 26),
        ("application/json; a", 19),
        ("text/plain, application/json", 10),
    ] {
        let malformed = (400, format!("malformed Content-Type at byte {offset}"));
        assert_eq!(check(require_text_or_json, &[field]), Err(malformed), "{field}");
    }
    assert_eq!(check(require_text_or_json, &[]), Err((415, "missing Content-Type".to_owned())));
    assert_eq!(check(require_text, &["text/plain", "text/html"]), Ok(()));
    assert_eq!(check(require_text_or_json, &["text/plain", "image/png"]).unwrap_err().0, 415);
    assert_eq!(
        check(require_text_or_json, &["text/plain", "application/json"]).unwrap_err(),
        (400, "contradictory media types or charsets in Content-Type".to_owned())
    );
}

/// RFC 9110 sections 5.6.1.2, 8.4.1 and 14.4.
#[test]
fn a_body_that_cannot_be_checked_is_rejected() {
    let checks = [require_text, require_json, require_text_or_json, require_checkable];
    let check = |n: usize, media_type, fields: &[(&'static str, &'static str)]| {
        let mut headers = headers(&[media_type]);
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        checks[n](&headers).map_err(|error| (error.status().as_u16(), error.to_string()))
    };
    let coded = |coding: &str| Err((415, format!("unsupported content coding: {coding}")));
    let part = || Err((400, "unsupported Content-Range: the body is a part of a text".to_owned()));
    for (fields, expected) in [
        (&[("content-encoding", "")][..], Ok(())),
        (&[("content-encoding", ",")], Ok(())),
        (&[("content-encoding", "identity, Identity")], Ok(())),
        (&[("content-encoding", ""), ("content-encoding", " ,\tidentity ,")], Ok(())),
        (&[("content-encoding", "foo")], coded("foo")),
        (&[("content-encoding", "identity, gzip, br")], coded("gzip")),
        (&[("content-encoding", "identity"), ("content-encoding", "BR")], coded("BR")),
        (&[("content-encoding", "identity;q=1")], coded("identity;q=1")),
        (&[("content-range", "bytes 1-4/5")], part()),
        (&[("content-range", "bytes 1-4/*")], part()),
        (&[("content-range", "")], part()),
        (&[("content-range", "bytes */5")], Ok(())),
        (&[("content-range", "bytes */5"), ("content-range", "bytes 0-1/5")], part()),
    ] {
        for (media_type, n) in
            [("text/plain", 0), ("a/b+json", 1), ("text/plain", 2), ("application/json", 3)]
        {
            assert_eq!(check(n, media_type, fields), expected, "{fields:?}");
        }
        assert_eq!(check(3, "image/png", fields), Ok(()), "{fields:?}");
    }
    assert_eq!(require_checkable(&HeaderMap::new()).map_err(|error| error.status()), Ok(()));
    let long = format!("\u{e9}{}", "x".repeat(99));
    let mut headers = headers(&["text/plain"]);
    headers.insert("content-encoding", HeaderValue::from_str(&long).unwrap());
    let error = require_text(&headers).unwrap_err();
    let expected = format!(r"\xc3\xa9{}", "x".repeat(32));
    assert!(matches!(error, BodyError::UnsupportedContentCoding { coding } if coding == expected));
}
