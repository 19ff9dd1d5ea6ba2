//! The rules that the Web Platform Tests check in `eventsource/format-*` and `event-data`, with other texts: the name of a row is that of the
//! file. Each at every pair of cuts.

use utf8_codec::sse::{EventDecoder, Reconnection, ResponseError};

/// The type, the data and the last event ID of an event.
type Fields = (&'static str, &'static str, &'static str);

struct Case {
    name: &'static str,
    stream: &'static [u8],
    events: &'static [Fields],
    /// In milliseconds.
    retry: Option<u64>,
}

const fn case(name: &'static str, stream: &'static [u8], events: &'static [Fields]) -> Case {
    Case { name, stream, events, retry: None }
}

const fn message(data: &'static str) -> Fields {
    ("message", data, "")
}

const CASES: &[Case] = &[
    case(
        "event-data",
        b"data:one\ndata\ndata:two\n\n",
        &[message("one\n\ntwo")],
    ),
    case(
        "format-bom",
        b"\xEF\xBB\xBFdata:a\n\n\xEF\xBB\xBFdata:b\n\ndata:c\n\n",
        &[message("a"), message("c")],
    ),
    case(
        "format-bom-2",
        b"\xEF\xBB\xBF\xEF\xBB\xBFdata:a\n\ndata:b\n\ndata:c\n\n",
        &[message("b"), message("c")],
    ),
    case(
        "format-comments",
        b"data:a\r:\0\n:\r\ndata:b\n:----------------------------------------------------------------\rdata:c\n:data:no\r:\ndata:d\n\n",
        &[message("a\nb\nc\nd")],
    ),
    Case {
        name: "format-data-before-final-empty-line",
        stream: b"retry:900\ndata:whole\n\nid:cut\ndata:cut",
        events: &[message("whole")],
        retry: Some(900),
    },
    case(
        "format-field-data",
        b"data:\n\ndata\ndata\n\ndata:last\n\n",
        &[message(""), message("\n"), message("last")],
    ),
    case("format-field-event", b"event:kind\ndata:a\n\ndata:b\n\n", &[("kind", "a", ""), message("b")]),
    case("format-field-event-empty", b"event: \ndata:a\n\n", &[message("a")]),
    case(
        "format-field-id",
        b"id: \xE2\x82\xAC\nretry\ndata:a\n\n",
        &[("message", "a", "\u{20AC}")],
    ),
    case(
        "format-field-id-2",
        b"id: \xE2\x82\xAC\ndata:a\n\ndata:b\n\ndata:c\n\n",
        &[("message", "a", "\u{20AC}"), ("message", "b", "\u{20AC}"), ("message", "c", "\u{20AC}")],
    ),
    case(
        "format-field-id-3, persists",
        b"id: 5\ndata: a\n\ndata:b\n\n",
        &[("message", "a", "5"), ("message", "b", "5")],
    ),
    case(
        "format-field-id-3, changes and persists",
        b"id: 5\ndata: a\n\nid: 6\ndata:b\n\ndata:c\n\n",
        &[("message", "a", "5"), ("message", "b", "6"), ("message", "c", "6")],
    ),
    case(
        "format-field-id-3, resets",
        b"id: 5\ndata: a\n\nid:\ndata:b\n\ndata:c\n\n",
        &[("message", "a", "5"), message("b"), message("c")],
    ),
    case("format-field-id-null, two", b"id: \0\0\ndata:a\n\n", &[message("a")]),
    case("format-field-id-null, last", b"id: y\0\ndata:a\n\n", &[message("a")]),
    case("format-field-id-null, first", b"id: \0y\ndata:a\n\n", &[message("a")]),
    case("format-field-id-null, inside", b"id: y\0y\ndata:a\n\n", &[message("a")]),
    case("format-field-id-null, after a space", b"id:  \0\ndata:a\n\n", &[message("a")]),
    case(
        "format-field-parsing",
        b"data:\0\ndata:  b\rData:c\ndata\0:d\ndata:e\r\0data:f\nda-ta:g\rdata_h\ndata:i\rdata:\r\n data:j\ndata:k\n\n",
        &[message("\0\n b\ne\ni\n\nk")],
    ),
    Case { name: "format-field-retry", stream: b"retry:03000\ndata:a\n\n", events: &[message("a")], retry: Some(3000) },
    Case {
        name: "format-field-retry-bogus",
        stream: b"retry:3000\nretry:1000x\ndata:a\n\n",
        events: &[message("a")],
        retry: Some(3000),
    },
    case("format-field-retry-empty", b"retry\ndata:a\n\n", &[message("a")]),
    case(
        "format-field-unknown",
        b"data:a\n data\ndata\nother:b\nwithout a colon\n:a comment\ndata:c\n\n",
        &[message("a\n\nc")],
    ),
    case("format-leading-space", b"data:\ta\rdata: \ndata:b\n\n", &[message("\ta\n\nb")]),
    case("format-newlines", b"data:a\r\ndata\ndata:b\r\n\r", &[message("a\n\nb")]),
    case("format-null-character", b"data:\0\n\n\n\n", &[message("\0")]),
    case("format-utf-8", b"data:a\xE2\x82\xAC\n\n", &[message("a\u{20AC}")]),
];

#[test]
fn the_web_platform_tests_of_the_format_pass_at_every_pair_of_cuts() {
    for Case { name, stream, events, retry } in CASES {
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let mut decoder = EventDecoder::new();
                let mut seen = Vec::new();
                for chunk in [&stream[..first], &stream[first..second], &stream[second..]] {
                    seen.extend(decoder.push(chunk).map(|event| event.unwrap().into_owned()));
                }
                let seen: Vec<_> =
                    seen.iter().map(|e| (&*e.event_type, &*e.data, &*e.last_event_id)).collect();
                assert_eq!(seen, *events, "{name}, {first}, {second}");
                let time = decoder.reconnection_time().map(|time| time.as_millis());
                assert_eq!(time, retry.map(u128::from), "{name}, {first}, {second}");
            }
        }
    }
    println!("{} of {}", CASES.len(), CASES.len());
}

#[test]
fn the_web_platform_tests_of_the_media_type_pass() {
    for (name, field, expected) in [
        ("format-mime-bogus", "x nonsense", Err(ResponseError::MediaType)),
        ("format-mime-trailing-semicolon", "text/event-stream;", Ok(())),
        ("format-mime-valid-bogus", "text/event-stream;nonsense", Ok(())),
        ("format-utf-8", "text/event-stream;charset=windows-1252", Ok(())),
    ] {
        assert_eq!(Reconnection::new().accept(200, field.as_bytes()), expected, "{name}");
    }
}
