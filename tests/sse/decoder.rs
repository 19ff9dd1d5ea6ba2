//! `EventDecoder` against the standard and the model, at every split.

use proptest::prelude::*;
use utf8_codec::payload::sse::{Event, EventDecoder};

use crate::model::{decode, expected};

/// The type, data and last event ID of each event.
fn events(stream: &str) -> Vec<(String, String, String)> {
    let mut decoder = EventDecoder::new();
    let event = |event: Event| (event.event_type.into_owned(), event.data, event.last_event_id);
    decoder.push(stream.as_bytes()).map(|item| event(item.unwrap())).collect()
}

fn event(event_type: &str, data: &str, id: &str) -> (String, String, String) {
    (event_type.into(), data.into(), id.into())
}

// ---- the examples of the standard, with other texts -----------------------------------------------

#[test]
fn three_lines_of_data_are_one_event() {
    let stream = "data: SHARE\ndata: +3\ndata: 17\n\n";
    assert_eq!(events(stream), [event("message", "SHARE\n+3\n17", "")]);
}

#[test]
fn a_comment_is_no_event_and_an_empty_id_resets_the_last_one() {
    let stream = ": a comment\n\ndata: one\nid: 1\n\ndata:two\nid\n\ndata:  three\n\ndata: cut off";
    let one = event("message", "one", "1");
    assert_eq!(events(stream), [one, event("message", "two", ""), event("message", " three", "")]);
}

#[test]
fn a_data_line_without_a_colon_is_an_empty_line_of_data() {
    assert_eq!(
        events("data\n\ndata\ndata\n\ndata:\n"),
        [event("message", "", ""), event("message", "\n", "")]
    );
}

#[test]
fn one_space_after_the_colon_is_removed() {
    let same = event("message", "same", "");
    assert_eq!(events("data:same\n\ndata: same\n\n"), [same.clone(), same]);
    assert_eq!(events("data:\tx\n\n"), [event("message", "\tx", "")]);
}

#[test]
fn event_types_name_the_events() {
    let stream =
        "event: add\ndata: 73\n\nevent: remove\ndata: 21\n\ndata: x\n\nevent:\ndata: y\n\n";
    let names = ["add", "remove", "message", "message"];
    let seen: Vec<_> = events(stream).into_iter().map(|event| event.0).collect();
    assert_eq!(seen, names);
}

// ---- every split ------------------------------------------------------------------------------------

/// Streams with every rule of the standard. LF is also replaced by the other line ends.
const STREAMS: &[&[u8]] = &[
    b"\xEF\xBB\xBFdata: \xC3\xA9\ndata:\xE2\x82\xAC\n\n\xEF\xBB\xBFdata: a second BOM\n\n",
    b"\xEF\xBBdata: no BOM\n\ndata: \xF0\x9F\x91\x8B\n\n",
    b"\xEF\n\xBB\ndata\n\nid: a\0b\nid: 2\nid: 3\0\ndata: x\n\n",
    b"id: 1\n\ndata: \xF0\x9F\x91\n\nevent: \xFF\xE2\x82\ndata: \xC0\x80\n\nid: 9\ndata: cut",
    b"retry: 10\nretry: 1x\nretry:\nretry\nretry: +5\nretry:  7\nretry: 00099999999999999999999\n",
    b"retry:250\ndat: x\ndata : x\nDATA: x\nevent2: x\ndatax\n\ndata:: x\n:\n::\n\n\n\n",
    b"event: a\nevent: b\ndata: 1\nevent\n\nevent: c\n\ndata: 2\n\ndata: 3\n",
    b"id: 1\ndata: 1234567\n\nid: 2\nretry: 5\ndata: 12345678\nretry: 6\n\ndata: 3\n\n",
    b"data: 123456789\xE2\x82\n\ndata: \xAC\n\nid: 123456789\xC3\n\nid: \xA9\ndata\n\n",
    b"data: 123\ndata: 45\n\ndata: 12\xFF4\xE2\x82\n\ndata: 1\nid: 2345678\n\ndata:123456789",
];

fn with_line_ends(stream: &[u8]) -> Vec<Vec<u8>> {
    let replaced = |end: &[u8]| stream.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(end);
    vec![stream.to_vec(), replaced(b"\r"), replaced(b"\r\n")]
}

const LIMITS: [usize; 7] = [0, 1, 5, 7, 8, 9, 1 << 20];

#[test]
fn the_outcome_is_that_of_the_standard_at_every_split() {
    for stream in STREAMS.iter().flat_map(|stream| with_line_ends(stream)) {
        for limit in LIMITS {
            let whole = decode([&*stream], limit);
            assert_eq!(whole.0, expected(&stream, limit), "{limit} {stream:?}");
            for first in 0..=stream.len() {
                for second in first..=stream.len() {
                    let chunks = [&stream[..first], &stream[first..second], &stream[second..]];
                    assert_eq!(decode(chunks, limit), whole, "{limit} {first} {second} {stream:?}");
                }
            }
            for size in 1..10 {
                assert_eq!(decode(stream.chunks(size), limit), whole, "{limit} {size}");
            }
        }
    }
}

#[test]
fn every_prefix_has_the_outcome_of_the_standard() {
    for stream in STREAMS.iter().flat_map(|stream| with_line_ends(stream)) {
        for len in 0..=stream.len() {
            for limit in LIMITS {
                let prefix = &stream[..len];
                let (outcome, _) = decode(prefix.chunks(1), limit);
                assert_eq!(outcome, expected(prefix, limit), "{limit} {prefix:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5000) })]

    #[test]
    fn random_streams_have_the_outcome_of_the_standard(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
        limit in prop_oneof![0..40_usize, Just(1 << 20)],
        sizes in prop::collection::vec(0..9_usize, 1..5),
    ) {
        let stream = pieces.concat();
        let mut chunks = Vec::new();
        let mut rest = &*stream;
        for &size in sizes.iter().chain([&1]).cycle() {
            let (chunk, after) = rest.split_at(size.min(rest.len()));
            chunks.push(chunk);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        let whole = decode([&*stream], limit);
        prop_assert_eq!(&whole.0, &expected(&stream, limit));
        prop_assert_eq!(decode(chunks, limit), whole);
    }
}

const PIECES: &[&[u8]] = &[
    b"data",
    b"event",
    b"id",
    b"retry",
    b":",
    b": ",
    b" ",
    b"\n",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"data: ",
    b"data:",
    b"id: ",
    b"event: ",
    b"retry: ",
    b"7",
    b"\0",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"\xE2\x82\xAC",
    b"\xE2\x82",
    b"\x80",
    b"\xFF",
    b"x",
    b"a longer text, of more than the thirty-two bytes of one block",
];

#[test]
fn bytes_of_events_that_are_not_taken_are_not_consumed() {
    for stream in STREAMS.iter().flat_map(|stream| with_line_ends(stream)) {
        for limit in LIMITS {
            let mut decoder = EventDecoder::new().with_max_length(limit);
            let (mut items, mut rest) = (Vec::new(), &stream[..]);
            while let Some(item) = decoder.push(rest).next() {
                items.push(item);
                rest = &stream[decoder.position() as usize..];
                assert_eq!(decode([&stream[..stream.len() - rest.len()]], limit).0.items, items);
            }
            assert_eq!(decoder.position(), stream.len() as u64, "{limit} {stream:?}");
            let (expected, _) = decode([&*stream], limit);
            assert_eq!(
                (items, decoder.last_event_id()),
                (expected.items, &*expected.last_event_id)
            );
            assert_eq!(decoder.reconnection_time(), expected.reconnection_time);
        }
    }
}

#[test]
fn an_event_ends_with_the_first_byte_of_its_empty_line() {
    let stream = b"data: 1\n\ndata: 2\r\n\r\ndata: 3\n\n";
    let (mut decoder, mut seen) = (EventDecoder::new(), Vec::new());
    while let Some(event) = decoder.push(&stream[decoder.position() as usize..]).next() {
        seen.push((event.unwrap().data, decoder.position()));
    }
    assert_eq!(seen, [("1".into(), 9), ("2".into(), 19), ("3".into(), 29)]);
}

#[test]
fn events_before_the_first_id_have_the_id_of_the_previous_connection() {
    for stream in ["data\n\nid: 8\ndata\n\n", "data\n\nid: 8\n\ndata\n\n"] {
        let mut decoder = EventDecoder::new().with_last_event_id("7");
        let ids: Vec<_> =
            decoder.push(stream.as_bytes()).map(|e| e.unwrap().last_event_id).collect();
        assert_eq!(ids, ["7", "8"]);
    }
}
