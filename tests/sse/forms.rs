//! Comments, strict decoding, counts of repairs and what the end cuts off: at every cut, with slices and in streams.

use std::borrow::Cow;

#[cfg(feature = "stream")]
use utf8_codec::ByteString;
use utf8_codec::sse::{Event, EventDecoder, EventError, EventItem, EventPart};

use crate::counting::{allocated, held};
use crate::{STREAMS, with_line_ends};

type Items = Vec<Result<EventItem, EventError>>;

fn own<T: Into<String>>(item: EventItem<T>) -> EventItem {
    match item {
        EventItem::Event(event) => EventItem::Event(event.map_data(T::into)),
        EventItem::Comment(text) => EventItem::Comment(text.into()),
        EventItem::Incomplete(event) => EventItem::Incomplete(event.map_data(T::into)),
        _ => unreachable!("there are no others"),
    }
}

/// All items, and the event that the end cuts off.
fn items<'a>(mut decoder: EventDecoder, chunks: impl IntoIterator<Item = &'a [u8]>) -> Items {
    let mut items = Items::new();
    for chunk in chunks {
        items.extend(decoder.push_items(chunk).map(|item| item.map(own::<Cow<'_, str>>)));
    }
    items.extend(decoder.finish().map(|event| Ok(EventItem::Incomplete(event))));
    items
}

fn events(items: &Items) -> Vec<Result<Event, EventError>> {
    let event = |item: &Result<EventItem, EventError>| match item {
        Ok(EventItem::Event(event)) => Some(Ok(event.clone())),
        Ok(_) | Err(EventError::TooLong { part: EventPart::Comment, .. }) => None,
        Err(error) => Some(Err(*error)),
    };
    items.iter().filter_map(event).collect()
}

fn decoders() -> impl Iterator<Item = EventDecoder> {
    let limits = [0, 1, 5, 8, 9, usize::MAX];
    limits.into_iter().flat_map(|limit| {
        let decoder = EventDecoder::new().with_max_length(limit).with_max_id_length(limit);
        [decoder.clone(), decoder.strict()]
    })
}

const COMMENTS: &[&[u8]] = &[
    b": a\n:b\n:\n\ndata: 1\n: \xE2\x82\xAC\ndata: 2\n:\xFF\n\n:  two spaces\n",
    b"data: one\n: between\nid: 1\n\n: after\n\n:cut \xE2\x82",
    b": 12345678\ndata: x\n: 123456789\ndata: y\n\ndata: 1\n:\n\n",
    b"data: 1\xFFdata: 2\xE2\n\n: \xFF\ndata: \xC3\xA9\n\nevent: \xFF\ndata\n\nid: \xFF\ndata\n\ndata: 3\n\n",
    b"data: 1\nevent: 123456\n:c\nid: 1234567890\n\ndata: 2\nid: 3\n\n",
];

fn streams() -> impl Iterator<Item = Vec<u8>> {
    STREAMS.iter().chain(COMMENTS).flat_map(|stream| with_line_ends(stream))
}

#[test]
fn items_are_the_same_at_every_cut() {
    for stream in streams() {
        for decoder in decoders() {
            let whole = items(decoder.clone(), [&*stream]);
            let mut pushed = decoder.clone();
            let pushed: Vec<_> =
                pushed.push(&stream).map(|event| event.map(Event::into_owned)).collect();
            assert_eq!(events(&whole), pushed, "{stream:?}");
            for first in 0..=stream.len() {
                for second in first..=stream.len() {
                    let chunks = [&stream[..first], &[], &stream[first..second], &stream[second..]];
                    assert_eq!(
                        items(decoder.clone(), chunks),
                        whole,
                        "{first} {second} {stream:?}"
                    );
                }
            }
            assert_eq!(items(decoder, stream.chunks(1)), whole, "{stream:?}");
        }
    }
}

#[cfg(feature = "stream")]
#[test]
fn streams_have_the_items_of_slices_at_every_cut() {
    use bytes::Bytes;
    use futures::executor::block_on_stream;
    use futures::stream;
    use utf8_codec::stream::{StreamError, Utf8StreamExt};

    let error = |error: StreamError<()>| match error {
        StreamError::EventTooLong { part, offset, max_length } => {
            EventError::TooLong { part, offset, max_length }
        }
        StreamError::Utf8(error) => EventError::Utf8(error),
        error => panic!("{error:?}"),
    };
    for stream in streams() {
        for limit in [5, 9, usize::MAX] {
            for is_strict in [false, true] {
                let decoder = EventDecoder::new().with_max_length(limit).with_max_id_length(limit);
                let decoder = if is_strict { decoder.strict() } else { decoder };
                let whole = items(decoder, [&*stream]);
                let shared = Bytes::from(stream.clone());
                for cut in 0..=stream.len() {
                    let chunks = [shared.slice(..cut), Bytes::new(), shared.slice(cut..)].map(Ok);
                    let decoded = stream::iter(chunks).utf8().events();
                    let decoded = decoded.with_max_length(limit).with_max_id_length(limit);
                    let decoded = if is_strict { decoded.strict() } else { decoded };
                    let all: Items = block_on_stream(decoded.clone().items())
                        .map(|item| item.map(own::<ByteString>).map_err(error))
                        .collect();
                    assert_eq!(all, whole, "{cut} {stream:?}");
                    let only: Vec<_> = block_on_stream(decoded)
                        .map(|item| item.map(|event| event.map_data(String::from)).map_err(error))
                        .collect();
                    assert_eq!(only, events(&whole), "{cut} {stream:?}");
                }
            }
        }
    }
}

fn item(data: &str) -> Result<EventItem, EventError> {
    Ok(EventItem::Event(Event::new(data.to_owned())))
}

fn comment(text: &str) -> Result<EventItem, EventError> {
    Ok(EventItem::Comment(text.to_owned()))
}

#[test]
fn comments_are_items_on_request_and_do_not_end_the_event() {
    let stream = b": ping\n\ndata: 1\n:\xFF\ndata: 2\n\n:\n";
    let expected = [comment("ping"), comment("\u{FFFD}"), item("1\n2"), comment("")];
    assert_eq!(items(EventDecoder::new(), [&stream[..]]), expected);
}

#[test]
fn a_comment_that_is_too_long_rejects_only_the_comment() {
    let decoder = || EventDecoder::new().with_max_length(4);
    let stream = b"data: 1\n: 12345\ndata: 2\n\n: 1234\n";
    let too_long = EventError::TooLong { part: EventPart::Comment, offset: 0, max_length: 4 };
    let expected = [Err(too_long), item("1\n2"), comment("1234")];
    assert_eq!(items(decoder(), [&stream[..]]), expected);
    assert_eq!(decoder().push(stream).count(), 1, "without a request it is not looked at");
}

#[test]
fn a_strict_decoder_rejects_the_event_with_the_bad_byte_and_no_other() {
    for field in ["data: ", "event: ", "id: "] {
        let bad =
            [b"id: 1\ndata: x\n", field.as_bytes(), b"\xFFz\ndata: y\n\ndata: next\n\n"].concat();
        let items = items(EventDecoder::new().strict(), [&*bad]);
        let Err(EventError::Utf8(error)) = items[0] else { panic!("{items:?}") };
        assert_eq!(error.valid_up_to(), 14 + field.len() as u64);
        assert_eq!(items[1..], [item("next")], "and the ID of the rejected event does not apply");
    }
    for ignored in ["other: ", ": "] {
        let fine = [ignored.as_bytes(), b"\xFF\ndata: next\n\n"].concat();
        assert_eq!(EventDecoder::new().strict().push(&fine).flatten().count(), 1, "{ignored}");
    }
}

#[test]
fn an_event_counts_the_repairs_of_its_own_fields() {
    let stream = b"data: \xFF\xE2\x82\nid: \xFF\n:\xFF\nother: \xFF\n\ndata: fine\n\nevent: \xFF\n\ndata\n\n";
    let mut decoder = EventDecoder::new();
    let repaired: Vec<_> = decoder.push(stream).map(|event| event.unwrap().repaired).collect();
    assert_eq!(repaired, [3, 0, 0]);
}

#[test]
fn what_the_end_cuts_off_is_returned_on_request() {
    for (stream, expected) in [
        (&b"data: caf\xC3"[..], Some(("message", "caf\u{FFFD}", ""))),
        (b"id: 7\nevent: x\ndata: 1\ndata: 2", Some(("x", "1\n2", "7"))),
        (b"data: 1\nid: 7", Some(("message", "1", ""))),
        (b"data: 1\n", Some(("message", "1", ""))),
        (b"data", None),
        (b"data:", None),
        (b"data:x", Some(("message", "x", ""))),
        (b"data: ", Some(("message", "", ""))),
        (b"data: a\ndata: ", Some(("message", "a\n", ""))),
        (b"data: a\ndata:", Some(("message", "a", ""))),
        (b"event: x\nid: 7\n", None),
        (b"data: 1\n\n", None),
        (b"", None),
    ] {
        let mut decoder = EventDecoder::new();
        let _events = decoder.push(stream).count();
        let event = decoder.finish();
        let fields = event.as_ref().map(|e| (&*e.event_type, &*e.data, &*e.last_event_id));
        assert_eq!(fields, expected, "{stream:?}");
        assert_eq!(decoder.last_event_id(), "");
        assert_eq!(decoder.finish(), None);
        decoder.reset();
        assert_eq!(decoder.push(b"data: 2\n\n").flatten().count(), 1);
    }
}

#[test]
fn the_error_of_a_character_that_the_end_cuts_off_has_its_offset_at_every_cut() {
    let stream = "data: ažluť\n\ndata: 5 €".as_bytes();
    let stream = &stream[..stream.len() - 1];
    for size in 1..=stream.len() {
        let mut decoder = EventDecoder::new();
        assert_eq!(stream.chunks(size).map(|chunk| decoder.push(chunk).count()).sum::<usize>(), 1);
        assert_eq!(decoder.finish().unwrap().data, "5 \u{FFFD}");
        assert_eq!(decoder.first_error().unwrap().valid_up_to(), stream.len() as u64 - 2, "{size}");
    }
}

#[test]
fn a_comment_that_is_too_long_is_an_error_only_while_comments_are_items() {
    for size in 1..4 {
        let mut decoder = EventDecoder::new().with_max_length(4);
        assert_eq!(decoder.push_items(b": 123").count(), 0);
        let mut items = Vec::new();
        for chunk in b"45\ndata: ok\n\n".chunks(size) {
            items.extend(decoder.push(chunk).map(|item| item.map(|event| event.data.into_owned())));
        }
        assert_eq!(items, [Ok("ok".to_owned())], "{size}");
    }
}

// ---- allocations ----------------------------------------------------------------------------------

#[test]
fn an_event_in_one_chunk_allocates_nothing() {
    let types = ["", "event: message\n", "event: content_block_delta\n"];
    for event_type in types {
        let stream = format!("{event_type}data: ažluť 日本\n\n").repeat(100);
        let mut decoder = EventDecoder::new();
        assert_eq!(decoder.push(stream.as_bytes()).count(), 100); // it has seen the type
        let before = allocated();
        assert_eq!(decoder.push(stream.as_bytes()).flatten().count(), 100);
        assert_eq!(allocated() - before, 0, "{event_type:?}");
    }
}

#[test]
fn an_event_that_is_cut_allocates_its_data_once() {
    let data = "x".repeat(180);
    let stream = format!("data: {data}\n\n").repeat(100);
    let mut decoder = EventDecoder::new();
    assert_eq!(decoder.push(stream.as_bytes()).count(), 100);
    let before = allocated();
    let (mut events, mut cut) = (0, 0);
    for chunk in stream.as_bytes().chunks(64) {
        for event in decoder.push(chunk).flatten() {
            events += 1;
            cut += u64::from(matches!(event.data, Cow::Owned(_)));
        }
    }
    assert_eq!(events, 100);
    let per_event = (allocated() - before) as f64 / cut as f64;
    assert!(per_event < 190.0, "{per_event} bytes for an event of 180");
}

#[test]
fn a_line_that_seems_to_be_cut_is_borrowed() {
    for (len, rest) in [(1024, 13), (1025, 1025), (1025, 1026), (1025, 1035), (40_000, 39_000)] {
        for mut decoder in [EventDecoder::new(), EventDecoder::new().strict()] {
            let (first, end) = ("x".repeat(len - 1), "x\n\n");
            assert_eq!(decoder.push(format!("data: {first}").as_bytes()).count(), 0);
            // The rest of the chunk after the first name of a field. The last event is cut.
            let chunk = format!("{end}data: a\n\ndata: b\n\ndata: ");
            let chunk = format!("{chunk:~<0$}", end.len() + 6 + rest);
            let events: Vec<_> = decoder.push(chunk.as_bytes()).map(Result::unwrap).collect();
            let data: Vec<_> = events.iter().map(|event| &*event.data).collect();
            assert_eq!(data, [&*format!("{first}x"), "a", "b"], "{len}, {rest}");
            let owned = events.iter().map(|event| matches!(event.data, Cow::Owned(_)));
            assert!(owned.eq([true, false, false]), "{len}, {rest}");
            assert_eq!(decoder.position(), (6 + len - 1 + chunk.len()) as u64);
            let cut = chunk.len() - end.len() - 24;
            let last: Vec<_> = decoder.push(b"!\n\n").map(Result::unwrap).collect();
            assert_eq!(last[0].data, format!("{:~<cut$}!", ""), "{len}, {rest}");
        }
    }
}

#[test]
fn a_line_that_ends_after_what_can_wait_is_borrowed() {
    for (most, usual, len, rest) in [(1 << 20, 40_000, 20_000, 39_000), (6000, 5900, 3000, 5000)] {
        let mut decoder = EventDecoder::new().with_max_length(most);
        let first = format!("data: {}\n\n", "x".repeat(usual));
        let (front, end) = first.split_at(usual);
        assert_eq!(decoder.push(front.as_bytes()).count(), 0);
        let chunk = format!("{end}data: {}\n\n: {}", "y".repeat(len), "z".repeat(rest - len));
        let events: Vec<_> = decoder.push(chunk.as_bytes()).map(Result::unwrap).collect();
        let data: Vec<_> = events.iter().map(|event| event.data.len()).collect();
        assert_eq!(data, [usual, len]);
        assert!(matches!(events[1].data, Cow::Borrowed(_)), "{most}");
    }
}

#[test]
fn a_long_event_as_long_as_the_last_is_copied_little_and_its_memory_is_in_proportion() {
    const LEN: usize = 1 << 20;
    let stream = format!("data: {}\n\n", "x".repeat(LEN)).into_bytes();
    let mut decoder = EventDecoder::new();
    let (front, end) = stream.split_at(LEN);
    assert_eq!((decoder.push(front).count(), decoder.push(end).count()), (0, 1));
    let (before, before_held) = (allocated(), held());
    let (mut events, mut received) = (0, 0);
    for chunk in stream.chunks(1000) {
        events += decoder.push(chunk).count();
        received += chunk.len();
        let held = held() - before_held;
        assert!(held <= (4096 + 16 * received) as isize, "{held} bytes after {received}");
    }
    let allocated = allocated() - before;
    assert_eq!(events, 1);
    assert!(allocated < LEN as u64 * 11 / 10, "{allocated} bytes for an event of {LEN}");
}

#[cfg(feature = "stream")]
#[test]
fn an_event_of_a_stream_that_is_cut_allocates_its_data_once() {
    use bytes::{Bytes, BytesMut};
    use futures::{FutureExt, StreamExt, stream};
    use utf8_codec::stream::Utf8StreamExt;

    for data in ["x".repeat(180), "日本".repeat(30)] {
        let text = format!("data: {data}\n\n").repeat(101);
        // Shared already, as the chunks of a connection are.
        let text: Bytes = BytesMut::from(&text.repeat(2)[..]).split_to(text.len()).freeze();
        let chunks = (0..text.len()).step_by(64).map(|at| text.slice(at..text.len().min(at + 64)));
        let mut events = stream::iter(chunks.map(Ok::<_, ()>)).utf8().events();
        let mut next = || events.next().now_or_never().unwrap().unwrap().unwrap();
        assert_eq!(next().data, data); // its length is known now
        let before = allocated();
        assert!((0..100).all(|_| next().data == data));
        assert_eq!(allocated() - before, 100 * 180);
    }
}

#[cfg(feature = "stream")]
#[test]
fn an_event_of_a_stream_shares_the_memory_of_its_chunk() {
    use bytes::{Bytes, BytesMut};
    use futures::{FutureExt, StreamExt, stream};
    use utf8_codec::stream::Utf8StreamExt;

    let text = "data: ažluť 日本\n\n".repeat(100);
    // Shared already, as the chunks of a connection are.
    let chunk: Bytes = BytesMut::from(&text.repeat(2)[..]).split_to(text.len()).freeze();
    let range = chunk.as_ptr_range();
    let mut events = stream::iter([Ok::<_, ()>(chunk)]).utf8().events();
    let before = allocated();
    for _ in 0..100 {
        let event = events.next().now_or_never().unwrap().unwrap().unwrap();
        assert!(range.contains(&event.data.as_ptr()));
    }
    assert_eq!(allocated() - before, 0);
}

#[test]
fn an_error_of_a_received_event_is_invalid_data_and_one_of_an_event_to_be_sent_invalid_input() {
    let mut decoder = EventDecoder::new().strict().with_max_length(1);
    let errors = decoder.push(b"data: \xFF\n\ndata: long\n\n").map(Result::unwrap_err);
    let kinds: Vec<_> = errors.map(|error| std::io::Error::from(error).kind()).collect();
    assert_eq!(kinds, [std::io::ErrorKind::InvalidData; 2]);
    let error = EventError::InvalidComment { offset: 0 };
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::InvalidInput);
}
