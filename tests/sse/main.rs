//! Server-sent events: the decoder against a model of the standard at every split, the encoder, faults that
//! parsers have had, hostile streams, and memory; `forms`: comments, strict decoding and what is cut off; `streams`:
//! streams of events; `source`: connections that are repeated, in virtual time.
#![cfg(feature = "alloc")]

#[path = "../support/counting.rs"]
mod counting;
#[cfg(feature = "std")]
mod forms;
#[path = "../support/events.rs"]
mod model;
#[cfg(feature = "stream")]
mod moving;
#[cfg(feature = "stream")]
#[path = "../support/script.rs"]
mod script;
#[cfg(feature = "stream")]
mod source;
#[cfg(feature = "stream")]
mod streams;
mod wpt;

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use utf8_codec::sse::{Event, EventDecoder, EventEncoder, EventError, EventPart, SharedStr};

use counting::{allocated, held, most, watch};
use model::{Limits, decode, expected};

/// The type, data and last event ID of each event.
fn events(stream: &str) -> Vec<(String, String, String)> {
    let mut decoder = EventDecoder::new();
    let event =
        |event: Event| (event.event_type.to_string(), event.data, event.last_event_id.to_string());
    decoder.push(stream.as_bytes()).map(|item| event(item.unwrap().into_owned())).collect()
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

const UNLIMITED: usize = usize::MAX;
const LIMITS: [Limits; 11] = [
    Limits { content: 0, id: 0 },
    Limits { content: 1, id: 1 },
    Limits { content: 5, id: 5 },
    Limits { content: 7, id: 7 },
    Limits { content: 8, id: 8 },
    Limits { content: 9, id: 9 },
    Limits { content: UNLIMITED, id: 0 },
    Limits { content: UNLIMITED, id: 9 },
    Limits { content: 0, id: UNLIMITED },
    Limits { content: 8, id: UNLIMITED },
    Limits { content: UNLIMITED, id: UNLIMITED },
];

#[test]
fn the_outcome_is_that_of_the_standard_at_every_split() {
    for stream in STREAMS.iter().flat_map(|stream| with_line_ends(stream)) {
        for limits in LIMITS {
            let whole = decode([&*stream], limits);
            assert_eq!(whole.0, expected(&stream, limits), "{limits:?} {stream:?}");
            for first in 0..=stream.len() {
                for second in first..=stream.len() {
                    let chunks = [&stream[..first], &stream[first..second], &stream[second..]];
                    let outcome = decode(chunks, limits);
                    assert_eq!(outcome, whole, "{limits:?} {first} {second} {stream:?}");
                }
            }
            for size in 1..10 {
                assert_eq!(decode(stream.chunks(size), limits), whole, "{limits:?} {size}");
            }
        }
    }
}

#[test]
fn every_prefix_has_the_outcome_of_the_standard() {
    for stream in STREAMS.iter().flat_map(|stream| with_line_ends(stream)) {
        for len in 0..=stream.len() {
            for limits in LIMITS {
                let prefix = &stream[..len];
                let (outcome, _) = decode(prefix.chunks(1), limits);
                assert_eq!(outcome, expected(prefix, limits), "{limits:?} {prefix:?}");
            }
        }
    }
}

/// Characters that single bytes complete, and ill-formed ones.
const CHARACTERS: [&[u8]; 16] = [
    b"\xC3\xA9",
    b"\xE0\xA4\x85",
    b"\xE4\xB8\xAD",
    b"\xED\x9F\xBF",
    b"\xF0\x9F\x98\x80",
    b"\xF2\x80\x80\x80",
    b"\xF4\x8F\xBF\xBF",
    b"\x80",
    b"\xC1\xBF",
    b"\xE0\x9F\xBF",
    b"\xE4\xB8",
    b"\xED\xA0\x80",
    b"\xF0\x8F\xBF\xBF",
    b"\xF1\x80\x80",
    b"\xF4\x90\x80\x80",
    b"\xF5",
];

#[test]
fn long_data_in_single_bytes_has_the_outcome_of_the_standard_after_each_byte() {
    for character in CHARACTERS {
        for ascii in 0..70 {
            let mut stream = b"data: ".to_vec();
            stream.resize(6 + ascii, b'x');
            stream.extend(character.repeat(5));
            stream.extend(b"\n\n");
            for content in [64, 80, UNLIMITED] {
                let limits = Limits { content, id: 0 };
                let whole = decode([&*stream], limits);
                assert_eq!(whole.0, expected(&stream, limits), "{content} {stream:?}");
                assert_eq!(decode(stream.chunks(1), limits), whole, "{content} {stream:?}");
            }
            let mut decoder = EventDecoder::new();
            for (at, byte) in stream.chunks(1).enumerate() {
                let mut whole = EventDecoder::new();
                assert_eq!(decoder.push(byte).count(), whole.push(&stream[..=at]).count());
                assert_eq!(decoder.position(), whole.position());
                assert_eq!(decoder.first_error(), whole.first_error(), "{at} {stream:?}");
                assert_eq!(decoder.error_count(), whole.error_count(), "{at} {stream:?}");
                assert_eq!(decoder.clone().finish(), whole.finish(), "{at} {stream:?}");
            }
        }
    }
}

/// Data of which several parts wait for their validation: text and every kind of damage, at each offset from the start of a part.
#[test]
fn data_of_many_chunks_has_the_outcome_of_the_standard_for_chunks_of_any_length() {
    let texts: Vec<Vec<u8>> = (0..CHARACTERS.len())
        .map(|at| [&b"text "[..at % 5], CHARACTERS[at], CHARACTERS[(at + 3) % 16]].concat())
        .collect();
    for (text, next) in texts.iter().zip(texts.iter().skip(1)) {
        let mut stream = b"data: ".to_vec();
        // The first event lets the decoder expect long ones.
        for (text, len) in [(&b"long "[..], 1500), (text, 5000), (next, 40_000), (text, 3)] {
            stream.extend(text.iter().cycle().take(len));
            stream.extend(b"\r\ndata: a second line\n\ndata: ");
            stream.extend(text.iter().cycle().take(len));
            stream.extend(b"\n\ndata: ");
        }
        for content in [5500, 17_000, 50_000, UNLIMITED] {
            let limits = Limits { content, id: 0 };
            let outcome = expected(&stream, limits);
            let whole = decode([&*stream], limits);
            assert_eq!(whole.0, outcome, "{content} {text:?}");
            for size in [1, 2, 63, 180, 1024, 1460, 5460, 16_383, 20_000] {
                assert!(decode(stream.chunks(size), limits) == whole, "{content} {size} {text:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5000) })]

    #[test]
    fn random_streams_have_the_outcome_of_the_standard(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
        content in prop_oneof![0..40_usize, Just(UNLIMITED)],
        id in prop_oneof![0..10_usize, Just(UNLIMITED)],
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
        let limits = Limits { content, id };
        let whole = decode([&*stream], limits);
        prop_assert_eq!(&whole.0, &expected(&stream, limits));
        prop_assert_eq!(decode(chunks, limits), whole);
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
        for limits in LIMITS {
            let decoder = EventDecoder::new().with_max_length(limits.content);
            let mut decoder = decoder.with_max_id_length(limits.id);
            let (mut items, mut rest) = (Vec::new(), &stream[..]);
            loop {
                let item = decoder.push(rest).next();
                let Some(item) = item else { break };
                items.push(item.map(Event::into_owned));
                rest = &stream[decoder.position() as usize..];
                assert_eq!(decode([&stream[..stream.len() - rest.len()]], limits).0.items, items);
            }
            assert_eq!(decoder.position(), stream.len() as u64, "{limits:?} {stream:?}");
            let (expected, _) = decode([&*stream], limits);
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
    loop {
        let rest = &stream[decoder.position() as usize..];
        let event = decoder.push(rest).next();
        let Some(event) = event else { break };
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

// ---- the encoder: what it writes is decoded as it was, and no text can forge an event ------------

fn decoded(text: &str) -> Vec<Event> {
    EventDecoder::new().push(text.as_bytes()).map(|event| event.unwrap().into_owned()).collect()
}

fn any_event() -> impl Strategy<Value = Event> {
    let word = "[ -~é€👋\t\u{FEFF}:]{0,6}";
    let data = "[ -~é€👋\0\u{FEFF}:\r\n]{0,20}";
    (word, data, word).prop_map(|(event_type, data, last_event_id)| Event {
        event_type: event_type.into(),
        last_event_id: last_event_id.into(),
        ..Event::new(data)
    })
}

/// The event as a receiver sees it.
fn received(event: &Event) -> Event {
    let data = event.data.replace("\r\n", "\n").replace('\r', "\n");
    let event_type = match &*event.event_type {
        "" => "message".into(),
        _ => event.event_type.clone(),
    };
    Event { event_type, last_event_id: event.last_event_id.clone(), ..Event::new(data) }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn encoded_events_are_decoded_as_they_were(
        events in prop::collection::vec(any_event(), 0..8),
        comment in "[ -~é€:]{0,9}",
        kept_id in "[ -~]{0,3}",
    ) {
        let (mut encoder, mut text) = (EventEncoder::new(), String::new());
        for event in &events {
            encoder.encode_comment(&comment, &mut text).unwrap();
            encoder.encode(event, &mut text).unwrap();
            encoder.encode_reconnection_time(Duration::from_secs(1), &mut text);
        }
        // A receiver that has reconnected has an ID already.
        for decoder in [EventDecoder::new(), EventDecoder::new().with_last_event_id(kept_id)] {
            let decoded: Vec<_> = decoder
                .clone()
                .push(text.as_bytes())
                .map(|event| event.unwrap().into_owned())
                .collect();
            prop_assert_eq!(decoded, events.iter().map(received).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_text_adds_an_event(
        event_type in "[a:\r\n\0 ]{0,5}",
        data in "(data|id|:|\r|\n|x){0,9}",
        id in "[a:\r\n\0 ]{0,5}",
    ) {
        let (mut encoder, mut text) = (EventEncoder::new(), String::new());
        let event =
            Event { event_type: event_type.into(), last_event_id: id.into(), ..Event::new(data) };
        let count = usize::from(encoder.encode(&event, &mut text).is_ok());
        prop_assert_eq!(decoded(&text).len(), count);
        encoder.encode(&Event::new("next"), &mut text).unwrap();
        let last = decoded(&text).pop().unwrap();
        prop_assert_eq!(last, Event::new("next".to_owned()));
    }
}

#[test]
fn line_ends_and_nul_are_rejected_where_they_have_a_meaning() {
    let (mut encoder, mut text) = (EventEncoder::new(), String::new());
    for end in ["\r", "\n", "\r\n"] {
        let event_type = format!("é{end}data: x").into();
        let forged = Event { event_type, ..Event::new("") };
        assert_eq!(encoder.encode(&forged, &mut text), Err(EventError::InvalidType { offset: 2 }));
        let forged = Event { last_event_id: format!("12{end}").into(), ..Event::new("") };
        assert_eq!(encoder.encode(&forged, &mut text), Err(EventError::InvalidId { offset: 2 }));
        let forged = encoder.encode_comment(&format!(" {end}"), &mut text);
        assert_eq!(forged, Err(EventError::InvalidComment { offset: 1 }));
    }
    let nul = Event { last_event_id: "\0".into(), ..Event::new("") };
    assert_eq!(encoder.encode(&nul, &mut text), Err(EventError::InvalidId { offset: 0 }));
    assert_eq!(text, "", "nothing is written after an error");
}

#[test]
fn a_rejected_id_does_not_become_the_last_one() {
    let (mut encoder, mut text) = (EventEncoder::new(), String::new());
    let event = |id: &str| Event { last_event_id: id.into(), ..Event::new("x") };
    encoder.encode(&event("1"), &mut text).unwrap();
    encoder.encode(&event("2\n"), &mut text).unwrap_err();
    encoder.encode(&event("1"), &mut text).unwrap();
    encoder.encode(&event(""), &mut text).unwrap();
    assert_eq!(text, "id: 1\ndata: x\n\ndata: x\n\nid\ndata: x\n\n");
}

#[test]
fn the_first_event_replaces_the_id_of_the_previous_connection() {
    for (id, text) in
        [("", "id\ndata: x\n\n"), ("7", "id: 7\ndata: x\n\n"), ("8", "id: 8\ndata: x\n\n")]
    {
        let (mut encoder, mut written) = (EventEncoder::new(), String::new());
        let sent = Event { last_event_id: id.into(), ..Event::new("x") };
        encoder
            .encode(&Event { event_type: "\n".into(), ..sent.clone() }, &mut written)
            .unwrap_err();
        encoder.encode(&sent, &mut written).unwrap();
        assert_eq!(written, text);
        encoder.encode(&sent, &mut written).unwrap();
        assert_eq!(written, format!("{text}data: x\n\n"), "the ID continues to apply");
        for kept in ["", "7"] {
            let mut decoder = EventDecoder::new().with_last_event_id(kept);
            let received: Vec<_> = decoder.push(written.as_bytes()).map(Result::unwrap).collect();
            assert_eq!(received, [(); 2].map(|()| sent.clone().map_data(Cow::from)));
        }
    }
}

// ---- faults that parsers of event streams have had -----------------------------------------------

fn data(decoder: &mut EventDecoder, chunk: &[u8]) -> Vec<String> {
    decoder.push(chunk).map(|event| event.unwrap().data.into_owned()).collect()
}

#[test]
fn a_bom_in_three_chunks_is_removed_and_only_the_first() {
    let mut decoder = EventDecoder::new();
    for byte in b"\xEF\xBB\xBF" {
        assert_eq!(data(&mut decoder, &[*byte]), [""; 0]);
    }
    assert_eq!(data(&mut decoder, "data: \u{FEFF}x\n\n".as_bytes()), ["\u{FEFF}x"]);
    // The name of this field begins with U+FEFF.
    assert_eq!(data(&mut decoder, "\u{FEFF}data: x\n\n".as_bytes()), [""; 0]);
}

#[test]
fn two_boms_at_the_start_make_the_first_field_unknown() {
    let mut decoder = EventDecoder::new();
    let stream = "\u{FEFF}\u{FEFF}data: x\n\ndata: y\n\n";
    assert_eq!(data(&mut decoder, stream.as_bytes()), ["y"]);
}

#[test]
fn cr_at_the_end_of_a_chunk_ends_the_event_at_once() {
    let mut decoder = EventDecoder::new();
    assert_eq!(data(&mut decoder, b"data: x\r\n\r"), ["x"]);
    // This LF belongs to the CR before it: it is not another empty line.
    assert_eq!(data(&mut decoder, b"\ndata: y\r"), [""; 0]);
    assert_eq!(data(&mut decoder, b"\r"), ["y"]);
    assert_eq!(data(&mut decoder, b""), [""; 0]);
    assert_eq!(data(&mut decoder, b"\ndata: z\n\n"), ["z"]);
}

#[test]
fn a_character_in_two_chunks_is_not_replaced() {
    let mut decoder = EventDecoder::new();
    for chunk in "data: 🤖\n".as_bytes().chunks(1) {
        assert_eq!(data(&mut decoder, chunk), [""; 0]);
    }
    assert_eq!((data(&mut decoder, b"\n"), decoder.error_count()), (vec!["🤖".to_owned()], 0));
}

#[test]
fn an_id_with_nul_keeps_the_previous_id() {
    let mut decoder = EventDecoder::new();
    assert_eq!(data(&mut decoder, b"id: 1\nid: 2\0\ndata\n\nid:\0\ndata\n\n").len(), 2);
    assert_eq!(decoder.last_event_id(), "1");
}

#[test]
fn an_id_applies_when_its_event_ends() {
    let mut decoder = EventDecoder::new();
    assert_eq!(data(&mut decoder, b"id: 1\ndata: a\n\nid: 2\ndata: b\n"), ["a"]);
    assert_eq!(decoder.last_event_id(), "1", "the second event could be cut off here");
    assert_eq!(data(&mut decoder, b"\n"), ["b"]);
    assert_eq!(decoder.last_event_id(), "2");
}

#[test]
fn retry_accepts_only_ascii_digits() {
    let mut decoder = EventDecoder::new();
    assert_eq!(data(&mut decoder, b"retry: 3\n"), [""; 0]);
    for junk in ["", "-1", "+1", "1.5", "1e3", "0x10", "5 ", " 5", "5s", "٣", "１", "5\0"] {
        let line = format!("retry: {junk}\n");
        for chunk in line.as_bytes().chunks(1) {
            assert_eq!(data(&mut decoder, chunk), [""; 0]);
        }
        assert_eq!(decoder.reconnection_time(), Some(Duration::from_millis(3)), "{junk:?}");
    }
}

#[test]
fn a_reconnection_time_above_64_bits_becomes_the_largest() {
    for (digits, time) in [
        ("18446744073709551614", u64::MAX - 1),
        ("18446744073709551615", u64::MAX),
        ("18446744073709551616", u64::MAX),
        ("99999999999999999999999999999999999999999", u64::MAX),
        ("00000000000000000000000000000000000000007", 7),
    ] {
        let line = format!("retry: {digits}\n");
        for size in 1..=line.len() {
            let mut decoder = EventDecoder::new();
            for chunk in line.as_bytes().chunks(size) {
                assert_eq!(data(&mut decoder, chunk), [""; 0]);
            }
            assert_eq!(decoder.reconnection_time(), Some(Duration::from_millis(time)), "{digits}");
        }
    }
    let (mut decoder, mut text) = (EventDecoder::new(), String::new());
    EventEncoder::new().encode_reconnection_time(Duration::MAX, &mut text);
    assert_eq!(data(&mut decoder, text.as_bytes()), [""; 0]);
    assert_eq!(decoder.reconnection_time(), Some(Duration::from_millis(u64::MAX)));
}

#[test]
fn field_names_are_compared_exactly() {
    let stream = b"Data: 1\nDATA: 2\n data: 3\ndata : 4\ndata\0: 5\ndatas: 6\ndat: 7\n\n";
    assert_eq!(data(&mut EventDecoder::new(), stream), [""; 0]);
}

#[test]
fn an_incomplete_event_at_the_end_is_discarded_by_reset() {
    let mut decoder = EventDecoder::new();
    let cut = b"retry: 5\nid: 1\ndata: 1\n\nid: 2\nevent: x\ndata: 2\ndata: \xE2";
    assert_eq!(data(&mut decoder, cut), ["1"]);
    decoder.reset();
    assert_eq!((decoder.position(), decoder.last_event_id()), (0, ""));
    assert_eq!(decoder.reconnection_time(), None);
    let event = decoder.push(b"\xEF\xBB\xBFdata: 3\n\n").next().unwrap().unwrap();
    assert_eq!((&*event.event_type, &*event.data, &*event.last_event_id), ("message", "3", ""));
}

#[test]
fn reset_keeps_the_limits_and_the_policy() {
    let mut decoder = EventDecoder::new().with_max_length(3).strict();
    decoder.reset();
    let items: Vec<_> = decoder.push(b"data: \xFF\n\ndata: long\n\ndata: ok\n\n").collect();
    assert!(matches!(items[0], Err(EventError::Utf8(_))), "{items:?}");
    assert!(matches!(items[1], Err(EventError::TooLong { max_length: 3, .. })), "{items:?}");
    assert_eq!(items[2].as_ref().map(|event| &*event.data), Ok("ok"));
}

/// And 16 bytes.
#[test]
fn the_data_of_an_event_takes_at_most_twice_its_length() {
    let event = |len: usize| format!("data: {}\ndata\n\n", "x".repeat(len - 1));
    let stream = [300, 20, 300, 100, 1].map(event).concat();
    for chunk_len in [1, 7, stream.len()] {
        let mut decoder = EventDecoder::new();
        for chunk in stream.as_bytes().chunks(chunk_len) {
            for event in decoder.push(chunk) {
                let data = event.unwrap().data.into_owned();
                let (len, most) = (data.len(), 2 * data.len() + 16);
                assert!(data.capacity() <= most, "{len} bytes in {}", data.capacity());
            }
        }
    }
}

#[test]
fn shared_text_is_made_from_strings_and_compared_with_them() {
    let another = SharedStr::from("another");
    for text in ["", "7", "an ID"] {
        let all: [SharedStr; 3] =
            [text.into(), String::from(text).into(), Arc::<str>::from(text).into()];
        for shared in &all {
            assert_eq!((shared.as_ref(), &**shared), (text, text));
            assert!(*shared == *text && *shared == text && *shared == all[0]);
            assert!(*shared != *"another" && *shared != "another" && *shared != another);
            let hasher = RandomState::new();
            assert_eq!(hasher.hash_one(shared), hasher.hash_one(text));
        }
    }
}

// ---- limits -------------------------------------------------------------------------------------

#[test]
fn the_default_limits_are_16_mib_of_an_event_and_8_kib_of_its_id() {
    for (field, part, max_length) in
        [("data", EventPart::Content, 16 << 20), ("id", EventPart::Id, 8 << 10)]
    {
        let mut longest = format!("{field}: {}", "x".repeat(max_length));
        assert!(EventDecoder::new().push((longest.clone() + "\n\n").as_bytes()).all(|e| e.is_ok()));
        longest.push('x');
        let mut decoder = EventDecoder::new();
        let item = decoder.push(longest.as_bytes()).next();
        assert_eq!(item, Some(Err(EventError::TooLong { part, offset: 0, max_length })));
    }
}

#[test]
fn an_image_of_12_mb_in_base64_fits_in_an_event() {
    let image = "iVBORw0KGgoA".repeat(12_000_000 / 9);
    let mut decoder = EventDecoder::new();
    let stream = format!("event: image\nid: 1\ndata: {image}\n\n");
    let events: Vec<_> = stream
        .as_bytes()
        .chunks(1 << 16)
        .flat_map(|chunk| decoder.push(chunk).collect::<Vec<_>>())
        .collect();
    assert_eq!(events.len(), 1);
    assert!(events[0].as_ref().unwrap().data == image);
}

#[test]
fn an_event_with_an_id_that_is_too_long_is_rejected() {
    let stream =
        b"id: 1\ndata: a\n\nid: 2345\nid: 2\ndata: b\n\nid: 4\x005678\ndata: c\n\ndata: d\n\n";
    for size in 1..=stream.len() {
        let mut decoder = EventDecoder::new().with_max_id_length(3);
        let items: Vec<_> =
            stream.chunks(size).flat_map(|chunk| decoder.push(chunk).collect::<Vec<_>>()).collect();
        let too_long =
            |offset| Err(EventError::TooLong { part: EventPart::Id, offset, max_length: 3 });
        assert_eq!(items[1..3], [too_long(15), too_long(39)], "{size}");
        let id = |at: usize| items[at].as_ref().map(|event| &*event.last_event_id);
        assert_eq!((id(0), id(3), items.len()), (Ok("1"), Ok("1"), 4), "{size}");
        assert_eq!(decoder.last_event_id(), "1");
    }
}

#[test]
fn the_id_of_a_rejected_event_does_not_apply() {
    let mut decoder = EventDecoder::new().with_max_length(4);
    let stream = b"id: 1\ndata: a\n\nid: 2\ndata: long!\nid: 3\n\ndata: b\n\n";
    let items: Vec<_> = decoder.push(stream).collect();
    let part = EventPart::Content;
    assert_eq!(items[1], Err(EventError::TooLong { part, offset: 15, max_length: 4 }));
    assert_eq!(&*items[2].as_ref().unwrap().last_event_id, "1");
    assert_eq!(items.len(), 3);
}

#[test]
fn the_beginning_of_a_character_in_a_rejected_event_is_dropped() {
    let stream = b"data: long\xE2\x82\n\ndata: \xAC\n\n";
    for size in 1..=stream.len() {
        let mut decoder = EventDecoder::new().with_max_length(3);
        let items: Vec<_> =
            stream.chunks(size).flat_map(|chunk| decoder.push(chunk).collect::<Vec<_>>()).collect();
        assert!(items[0].is_err());
        assert_eq!(items[1].as_ref().unwrap().data, "\u{FFFD}", "{size}");
        assert_eq!((items.len(), decoder.error_count()), (2, 1), "{size}");
        assert_eq!(decoder.first_error().unwrap().valid_up_to(), 20, "{size}");
    }
}

#[test]
fn replacements_count_for_the_limit_as_they_are_stored() {
    let mut decoder = EventDecoder::new().with_max_length(6);
    assert!(decoder.push(b"data: \xFF\xFF\n\n").next().unwrap().is_ok());
    assert!(decoder.push(b"data: \xFF\xFF\xFF\n\n").next().unwrap().is_err());
}

#[test]
fn an_endless_line_holds_bounded_memory() {
    const LIMIT: usize = 1 << 16;
    for start in ["data: ", "event: ", "id: ", ": ", "unknown: ", "retry: ", "", "\u{FEFF}"] {
        for part in [&[b'7'; 1000][..], &[0xFF; 1000], &[b':'; 1000]] {
            let before = watch();
            let mut decoder = EventDecoder::new().with_max_length(LIMIT).with_max_id_length(LIMIT);
            let mut errors = decoder.push(start.as_bytes()).count();
            for _ in 0..1000 {
                errors += decoder.push(part).count();
            }
            let most = most() - before;
            assert!(most <= 2 * LIMIT as isize, "{most} bytes after {start:?}");
            let is_kept = matches!(start, "data: " | "event: " | "id: ");
            assert_eq!(errors, usize::from(is_kept), "{start:?}");
            assert_eq!(held(), before, "nothing is held of a rejected event");
        }
    }
}

#[test]
fn endless_lines_of_one_event_hold_bounded_memory() {
    const LIMIT: usize = 1 << 16;
    for line in ["data: some text\n", "data\n", "id: 1234567\n", "event: a-type\n", ":\n"] {
        let before = watch();
        let mut decoder = EventDecoder::new().with_max_length(LIMIT);
        let mut errors = 0;
        for _ in 0..100_000 {
            errors += decoder.push(line.as_bytes()).count();
        }
        assert!(most() - before <= 2 * LIMIT as isize, "{line:?}");
        let is_added = !matches!(line, ":\n" | "id: 1234567\n");
        assert_eq!(errors, usize::from(is_added), "{line:?}");
    }
}

#[test]
fn an_event_takes_no_more_memory_than_its_limit_however_it_arrives() {
    // Not powers of two, to which a growing string comes by itself.
    for (limit, piece) in [(1000, 1), (9000, 7), (90_000, 1000), (900_000, 20_000)] {
        for field in ["data", "event", "id"] {
            for (is_strict, left) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
                let decoder = EventDecoder::new().with_max_length(limit).with_max_id_length(limit);
                let mut decoder = if is_strict { decoder.strict() } else { decoder };
                let (start, content) = (format!("{field}: "), vec![b'x'; limit - left]);
                let before = watch();
                let mut errors = |bytes: &[u8]| {
                    let errors = decoder.push(bytes).filter_map(Result::err).count();
                    let held = held() - before;
                    assert!(held <= limit as isize + 64, "{held} of {limit} by {piece}: {field}");
                    errors
                };
                assert_eq!(errors(start.as_bytes()), 0);
                content.chunks(piece).for_each(|piece| assert_eq!(errors(piece), 0));
                assert_eq!(errors(b"\n"), 0);
                if field == "data" {
                    // The LF between two lines reaches or exceeds the limit.
                    ["data", ":", " "].iter().for_each(|at| assert_eq!(errors(at.as_bytes()), 0));
                    assert_eq!(errors(b"x\n"), 1);
                    assert!(held() - before < 64, "nothing is held of a rejected event");
                }
            }
        }
    }
}

#[test]
fn the_lf_between_two_lines_of_data_takes_no_more_room_than_there_is() {
    for (limit, len) in [(5000, 4096), (5000, 4999), (1 << 20, (1 << 20) - 1)] {
        for piece in [1, 7, 64, 2 << 20] {
            let first = format!("data: {}\n\n", "x".repeat(limit - 500));
            let lines = [first, format!("data: {}\n", "x".repeat(len)), "data:\n".to_owned()];
            let before = watch();
            let mut decoder = EventDecoder::new().with_max_length(limit);
            for line in &lines {
                for bytes in line.as_bytes().chunks(piece) {
                    assert!(decoder.push(bytes).all(|event| event.is_ok()));
                    let held = held() - before;
                    assert!(held <= limit as isize + 128, "{limit} {len} {piece}: {held}");
                }
            }
        }
    }
}

#[test]
fn data_and_type_of_an_event_take_no_more_memory_than_their_limit_together() {
    const LIMIT: usize = 1 << 20;
    let long = |field: &str, len| format!("{field}: {}\n", "x".repeat(len));
    let held_at_most = |decoder: &EventDecoder, chunks: Vec<&[u8]>| {
        let before = watch();
        let mut decoder = decoder.clone();
        let held = chunks.into_iter().map(|chunk| {
            assert!(decoder.push(chunk).all(|event| event.is_ok()));
            held() - before
        });
        held.max().unwrap().cast_unsigned()
    };
    for first in [0, 2000, LIMIT - 100] {
        for (kind, data) in
            [(972_576, 75_000), (600_000, 400_000), (10, LIMIT - 10), (LIMIT - 10, 10)]
        {
            for piece in [1460, 100_000, LIMIT] {
                let repairs = EventDecoder::new().with_max_length(LIMIT);
                for decoder in [repairs.clone(), repairs.strict()] {
                    let reserved = first.min(4096);
                    let first = long("data", first) + "\n";
                    let (kind_line, data_line) = (long("event", kind), long("data", data));
                    let stream = [&*first, &kind_line, &data_line].concat().into_bytes();
                    let held = held_at_most(&decoder, stream.chunks(piece).collect());
                    assert!(held <= LIMIT + 128, "{held}: {kind} {data} {piece}");
                    // Data that is followed by a type can have allocated twice its length, or what was reserved. The type is cut, or whole.
                    let stream = [&*first, &data_line, &kind_line].concat().into_bytes();
                    let (before, kind_line) = stream.split_at(first.len() + data_line.len());
                    let whole = before.chunks(piece).chain([kind_line]);
                    for chunks in [stream.chunks(piece).collect(), whole.collect()] {
                        let held = held_at_most(&decoder, chunks);
                        let most = LIMIT + data.min(LIMIT - data).max(reserved) + 128;
                        assert!(held <= most, "{held}: {kind} {data} {piece}");
                    }
                }
            }
        }
    }
}

/// Streams from which a caller keeps every event, as much memory for as few bytes as possible: each is a start and a unit that
/// repeats, and has a million bytes.
fn hoarded() -> Vec<String> {
    let id = format!("id: {}\ndata\n\n", "7".repeat(8 << 10));
    let rejected_ids = format!("id: {}\ndata\n\n", "7".repeat(9 << 10)).repeat(100);
    let kinds = [
        (&*id, "data\n\n"),
        (&id, "data\r\r"),
        (&id, "data: a longer text\n\n"),
        (&id, ":\ndata:x\n\n"),
        (&rejected_ids, "data\n\n"),
        ("", &id),
        ("", "id: 7\ndata\n\n"),
        ("", "id\ndata\n\n"),
        ("", "event: x\ndata\n\n"),
        ("", "data\n\n"),
        ("", "data:x\n\n"),
        ("", "data\ndata\ndata\n\n"),
        ("", ": a comment\n\n"),
        ("", "id: 7\n\n"),
        ("", "event: x\n\n"),
        ("", "retry: 5\n\n"),
    ];
    kinds.map(|(start, unit)| start.to_owned() + &unit.repeat(1_000_000 / unit.len())).into()
}

/// Returns the most bytes that are held while `collect` keeps the events of `stream`, for each byte of it.
fn held_per_byte<T>(stream: &str, collect: impl FnOnce(&mut Vec<T>)) -> f64 {
    let count = EventDecoder::new().push(stream.as_bytes()).count();
    let mut events = Vec::with_capacity(count);
    let before = watch() - (events.capacity() * size_of::<T>()).cast_signed();
    collect(&mut events);
    (most() - before) as f64 / stream.len() as f64
}

/// An event of six bytes takes 64, and the ID that it shares with others is held once.
#[test]
fn the_memory_of_events_is_proportional_to_the_bytes_received() {
    for stream in hoarded() {
        for size in [1, 1000] {
            let per_byte = held_per_byte::<Event>(&stream, |events| {
                let mut decoder = EventDecoder::new();
                for chunk in stream.as_bytes().chunks(size) {
                    events.extend(decoder.push(chunk).flatten().map(Event::into_owned));
                }
            });
            let end = &stream[stream.len() - 20..];
            assert!(per_byte < 11.0, "{per_byte} bytes held per byte received of {end:?}");
        }
    }
}

/// An event takes 72 bytes, and data that was copied can have one allocation more.
#[cfg(feature = "stream")]
#[test]
fn the_memory_of_events_of_a_stream_is_proportional_to_the_bytes_received() {
    use futures::{FutureExt, StreamExt, stream};
    use utf8_codec::ByteString;
    use utf8_codec::stream::Utf8StreamExt;

    for text in hoarded() {
        for size in [1, 1000] {
            let per_byte = held_per_byte::<Event<ByteString>>(&text, |kept| {
                let chunks = text.as_bytes().chunks(size).map(|chunk| Ok::<_, ()>(chunk.to_vec()));
                let mut events = stream::iter(chunks).utf8().events();
                loop {
                    match events.next().now_or_never() {
                        Some(Some(event)) => kept.extend(event),
                        Some(None) => break,
                        None => {} // lets other tasks run
                    }
                }
            });
            let end = &text[text.len() - 20..];
            assert!(per_byte < 14.01, "{per_byte} bytes held per byte received of {end:?}");
        }
    }
}

// ---- work ---------------------------------------------------------------------------------------

/// Data that waits is validated once, in place. What remains is copying text while a buffer grows.
#[test]
fn a_long_line_in_single_bytes_is_not_copied_again_and_again() {
    for size in [1, 2, 63] {
        for lines in [1, 100] {
            let line = format!("data: {}\n", "x".repeat((1 << 16) / lines));
            let stream = line.repeat(lines) + "\n";
            let mut decoder = EventDecoder::new();
            let before = allocated();
            let mut len = 0;
            for chunk in stream.as_bytes().chunks(size) {
                len += decoder.push(chunk).map(|event| event.unwrap().data.len()).sum::<usize>();
            }
            let allocated = allocated() - before;
            assert!(len >= 1 << 16, "the event has arrived");
            assert!(allocated <= 4 * len as u64, "{allocated} bytes for {len}");
        }
    }
}

#[test]
fn comments_and_keep_alives_allocate_nothing() {
    let mut decoder = EventDecoder::new();
    let before = allocated();
    for _ in 0..1000 {
        assert_eq!(decoder.push(b": keep-alive\r\n\r\nunknown: x\nretry: 5\n\n").count(), 0);
    }
    assert_eq!(allocated() - before, 0);
}

#[test]
fn a_part_that_is_cut_off_at_the_limit_is_no_repair() {
    let mut decoder = EventDecoder::new().with_max_length(3);
    assert!(decoder.push(b"data: abc\xC3").next().is_none());
    let cut = decoder.finish().unwrap();
    assert_eq!((&*cut.data, cut.repaired), ("abc", 0));
    let mut decoder = EventDecoder::new().with_max_length(6);
    assert!(decoder.push(b"data: abc\xC3").next().is_none());
    let cut = decoder.finish().unwrap();
    assert_eq!((&*cut.data, cut.repaired), ("abc\u{FFFD}", 1));
}
