//! `Utf8Stream::events`: contracts of the adaptor.

use std::convert::Infallible;
use std::io;
use std::task::Poll;

use bytes::Bytes;
use futures::executor::block_on;
use futures::stream::FusedStream;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use tokio::io::duplex;
use tokio::task::yield_now;
use tokio_test::task;
use utf8_codec::lines::Delimiter;
use utf8_codec::sse::{Event, EventDecoder, EventItem, EventPart};
use utf8_codec::stream::{StreamError, Utf8Reader, Utf8Stream, Utf8StreamExt};
use utf8_codec::{BomPolicy, ByteString, ErrorMode, Utf8Options};

use crate::counting::held;
use crate::script::Does::{Chunk, End, Error, Pause};
use crate::script::{Look, Script, assert_waits_only_for_script, scripts, soon, write_slowly};

type EventStream<S> = Utf8Stream<S, EventDecoder>;

/// The data of each event, or an error.
fn word<E: std::fmt::Debug>(item: Result<Event<ByteString>, StreamError<E>>) -> String {
    item.map_or_else(|error| format!("{error:?}"), |event| event.data.into())
}

fn ready<S>(events: &mut EventStream<S>) -> Vec<String>
where
    S: futures::TryStream,
    EventStream<S>: Stream<Item = Result<Event<ByteString>, StreamError<S::Error>>> + Unpin,
    S::Error: std::fmt::Debug,
{
    let mut words = Vec::new();
    while let Some(Some(item)) = events.next().now_or_never() {
        words.push(word(item));
    }
    words
}

#[test]
fn chunks_of_any_type_that_holds_bytes() {
    fn first<B: Into<Bytes>>(chunk: B) -> String {
        let mut events = stream::iter([Ok::<_, ()>(chunk)]).utf8().events();
        ready(&mut events).concat()
    }
    let text = "data: é\n\n".to_owned();
    assert_eq!(first("data: é\n\n".as_bytes()), "é");
    assert_eq!(first("data: é\n\n"), "é");
    assert_eq!(first(text.clone().into_bytes()), "é");
    assert_eq!(first(Bytes::from(text.clone())), "é");
    assert_eq!(first(text), "é");
}

#[test]
fn text_of_a_utf8_stream() {
    let chunks = [&b"data: \xE2\x82"[..], b"\xAC\n\ndata: \xFF", b"x\n\n"].map(Ok::<_, ()>);
    let mut events = stream::iter(chunks).utf8().into_byte_stream().utf8().events();
    let words = ready(&mut events);
    assert_eq!(words[0], "€");
    // The error is that of the text, and the event around it is rejected.
    assert!(words[1].starts_with("Inner(Utf8("), "{words:?}");
    assert_eq!(words.len(), 2);
}

#[test]
fn an_event_from_which_a_reader_has_removed_an_ill_formed_part_is_rejected() {
    for bytes in [&b"data: pay 10\xFF00\n\ndata: 2\n\n"[..], b"id: \xE2\x82\n\ndata: 2\n\n"] {
        let reader = Utf8Reader::new(bytes).into_byte_reader();
        let words = ready(&mut Utf8Stream::from_reader(reader).events());
        assert!(words[0].starts_with("Inner("), "{words:?}");
        assert_eq!(words[1..], ["2"]);
    }
}

#[test]
fn a_chunk_that_is_only_the_lf_of_a_line_end_is_freed() {
    let lf = Bytes::from(vec![b'\n']);
    let chunks = [Bytes::from_static(b"h\r"), lf.clone(), Bytes::from_static(b"data: 1\n\n")];
    let chunks = stream::iter(chunks).chain(stream::pending()).map(Ok::<_, Infallible>);
    let mut lines = chunks.utf8().lines().with_delimiter(Delimiter::any_newline());
    assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "h");
    let mut events = lines.into_stream().events();
    assert_eq!(ready(&mut events), ["1"]);
    assert!(lf.is_unique(), "the stream holds it");
}

#[test]
fn a_chunk_is_freed_with_its_last_event() {
    for count in 1..3 {
        let chunk = Bytes::from(b"data: 1\n\n".repeat(count));
        let chunks = stream::iter([chunk.clone()]).chain(stream::pending());
        let mut events = chunks.map(Ok::<_, Infallible>).utf8().events();
        assert_eq!(ready(&mut events), vec!["1"; count]);
        assert!(chunk.is_unique(), "the stream holds it");
    }
}

#[test]
fn an_error_of_a_reader_between_cr_and_lf_does_not_separate_them() {
    let does = [Chunk(b"h\r"), Error("e"), Chunk(b"\n\xEF\xBB\xBFdata: 1\n\n"), End];
    let mut lines = Utf8Stream::from_reader(Script::new(&does)).lines();
    lines = lines.with_delimiter(Delimiter::any_newline());
    assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "h");
    let words = ready(&mut lines.into_stream().events());
    assert!(words[0].starts_with("Inner("), "{words:?}");
    assert_eq!(words[1..], ["1"]);
}

#[test]
fn options_and_the_error_mode_have_no_effect() {
    let chunks = || {
        let chunks = [&b"\xEF\xBB"[..], b"\xBFdata: \xFF\0\n\n", "data: \u{FEFF}\n\n".as_bytes()];
        stream::iter(chunks.map(Ok::<_, ()>)).utf8()
    };
    let expected = ["\u{FFFD}\0", "\u{FEFF}"];
    assert_eq!(ready(&mut chunks().events()), expected);
    for bom in [BomPolicy::Keep, BomPolicy::Strip, BomPolicy::Require, BomPolicy::Forbid] {
        for mode in [ErrorMode::Fatal, ErrorMode::Latin1, ErrorMode::Skip] {
            let options = Utf8Options::new().with_bom(bom).reject_nul().reject_noncharacters();
            let texts = chunks().with_options(options).with_error_mode(mode);
            assert_eq!(ready(&mut texts.events()), expected, "{options:?}, {mode:?}");
        }
    }
}

#[test]
fn events_start_after_the_text_that_was_yielded() {
    let does = [Chunk(b"ok\xFFdata: x\n\ndata: 1\n\n"), Pause, Chunk(b"data: 2\n\n"), End];
    let mut texts = Script::new(&does).utf8();
    assert_eq!(texts.next().now_or_never().unwrap().unwrap().unwrap(), "ok");
    let mut events = texts.events();
    assert_eq!(events.rest(), b"\xFFdata: x\n\ndata: 1\n\n");
    assert_eq!(ready(&mut events), ["1"]);
    assert_eq!((events.decoder().position(), ready(&mut events)), (19, vec!["2".to_owned()]));

    // Two bytes of a BOM are held.
    let does = [Chunk(b"\xEF\xBB"), Pause, Chunk(b"\xBFdata: 1\n\n"), End];
    let mut texts = Script::new(&does).utf8();
    assert_eq!(texts.next().now_or_never(), None);
    assert_eq!(ready(&mut texts.events()), ["1"]);

    // A BOM has been removed, and nothing else decoded: the next U+FEFF is text.
    for held in [&b""[..], b"\xEF", b"\xEF\xBB"] {
        let does = [
            Chunk(b"\xEF\xBB\xBF"),
            Chunk(held),
            Pause,
            Chunk(&b"\xEF\xBB\xBFdata: 1\n\ndata: 2\n\n"[held.len()..]),
        ];
        let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
        let mut texts = Script::new(&does).utf8().with_options(strip);
        assert_eq!(texts.next().now_or_never(), None);
        assert_eq!(ready(&mut texts.events()), ["2"], "{held:x?}");
    }

    // Text of three bytes is no BOM.
    for (first, text) in [(&b"abc"[..], "abc"), (b"\xEF\xBB\xBFab", "ab")] {
        let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
        let mut texts = Script::new(&[Chunk(first), Chunk(b"data: 1\n\n")]).utf8();
        texts = texts.with_options(strip);
        assert_eq!(texts.next().now_or_never().unwrap().unwrap().unwrap(), text);
        let mut events = texts.events();
        assert_eq!((ready(&mut events), events.decoder().position()), (vec!["1".to_owned()], 9));
    }

    let mut texts = Script::new(&[Chunk(b"ok"), End, Chunk(b"data: 1\n\n")]).utf8();
    while texts.next().now_or_never().unwrap().is_some() {}
    let mut events = texts.events();
    assert!(events.is_terminated() && ready(&mut events).is_empty(), "it has ended");
    assert_eq!(events.get_ref().polls, 2);
}

#[cfg(feature = "http-body")]
#[tokio::test]
async fn a_text_body_and_a_plain_body() {
    use http_body_util::{BodyDataStream, Full};
    use utf8_codec::http::Utf8Body;

    let body = || Full::<Bytes>::from("\u{FEFF}data: ✓\n\n");
    let event = BodyDataStream::new(body()).utf8().events().try_next().await.unwrap();
    assert_eq!(event.unwrap().data, "✓");
    let text = BodyDataStream::new(Utf8Body::new(body()));
    assert_eq!(text.utf8().events().try_next().await.unwrap().unwrap().data, "✓");
}

#[test]
fn the_stream_is_fused_and_drops_an_incomplete_event() {
    let does = [Chunk(b"data: 1\n\ndata: 2\n"), End, Chunk(b"\ndata: 3\n\n"), End];
    let mut events = Script::new(&does).utf8().events();
    assert!(!events.is_terminated());
    assert_eq!(ready(&mut events), ["1"]);
    for _ in 0..3 {
        assert_eq!(events.next().now_or_never(), Some(None));
        assert!(events.is_terminated());
    }
    assert_eq!(events.get_ref().polls, 2);
}

#[test]
fn all_events_of_a_chunk_are_yielded_before_the_source_is_polled_again() {
    let mut events = Script::new(&[Chunk(b"data: 1\n\ndata: 2\r\r"), Error("e")]).utf8().events();
    for data in ["1", "2"] {
        assert_eq!(word(events.next().now_or_never().unwrap().unwrap()), data);
        assert_eq!(events.get_ref().polls, 1);
    }
}

#[test]
fn an_error_of_the_source_rejects_the_current_event() {
    let does =
        [Chunk(b"data: 1\n\nid: 7\ndata: \xE2"), Error("e"), Chunk(b"\x82\xAC\n\ndata: 3\n\n")];
    let mut events = Script::new(&does).utf8().events();
    assert_eq!(ready(&mut events), ["1", "Inner(\"e\")", "3"]);
    assert_eq!((events.decoder().last_event_id(), events.decoder().error_count()), ("", 0));

    // Between events, the beginning of the next may be missing.
    for next in [&b"data: 2\n\n"[..], b"data: 2\r\r", b": 2\ndata: 2\n\n", b"\ndata: 2\n\n"] {
        for at in 0..=next.len() {
            let (first, second) = next.split_at(at);
            let does = [Chunk(b"data: 1\n\n"), Error("e"), Chunk(first), Chunk(second)];
            let does = [&does[..], &[Chunk(b"data: 3\n\n")]].concat();
            assert_eq!(ready(&mut Script::new(&does).utf8().events()), ["1", "Inner(\"e\")", "3"]);
        }
    }
}

#[test]
fn an_error_of_a_reader_loses_nothing() {
    let does = [Chunk(b"data: 1\n\ndata: \xE2"), Error("e"), Pause, Chunk(b"\x82\xAC\n\n"), End];
    for capacity in [1, 100] {
        let reader = Utf8Stream::from_reader(Script::new(&does)).with_capacity(capacity);
        let mut events = reader.events();
        let words: Vec<_> =
            std::iter::repeat_with(|| ready(&mut events)).take(2).flatten().collect();
        assert_eq!(words.len(), 3);
        assert_eq!((&*words[0], &*words[2]), ("1", "€"));
        assert!(words[1].starts_with("Inner("), "{words:?}");
    }
}

#[test]
fn events_after_lines_begin_after_the_lf_of_the_last_line_end_at_every_cut() {
    let input = b"h\r\n\xEF\xBB\xBFdata: 1\n\ndata: \xFF\n\n";
    for first in 2..input.len() {
        for second in first..=input.len() {
            let chunks = [&input[..first], &input[first..second], &input[second..]];
            let chunks = stream::iter(chunks.map(|chunk| Ok::<_, Infallible>(chunk.to_vec())));
            let mut lines = chunks.utf8().lines().with_delimiter(Delimiter::any_newline());
            assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "h");
            let mut events = lines.into_stream().events().strict();
            let event = block_on(events.next()).unwrap().unwrap();
            assert_eq!(event.data, "1", "{first} {second}");
            let error = block_on(events.next()).unwrap().unwrap_err();
            let StreamError::Utf8(error) = error else { panic!("{error}") };
            assert_eq!(error.valid_up_to(), 18, "{first} {second}");
        }
    }
    // Only one LF belongs to it, and an empty chunk changes nothing.
    for cut in [&[&b"h\r\n"[..], b"\n", b"data: 1\n\n"][..], &[b"h\r", b"", b"\n\ndata: 1\n\n"]] {
        let chunks = stream::iter(cut.iter().map(|chunk| Ok::<_, Infallible>(chunk.to_vec())));
        let mut lines = chunks.utf8().lines().with_delimiter(Delimiter::any_newline());
        assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "h");
        let mut events = lines.into_stream().events();
        assert_eq!(block_on(events.next()).unwrap().unwrap().data, "1");
        assert_eq!(events.decoder().position(), 10);
    }
}

#[test]
fn a_source_that_has_ended_is_not_polled_for_the_lf_of_a_line_end() {
    for seen_by in ["the events", "the lines", "lines before them"] {
        let mut chunks = vec![&b"h\r"[..]].into_iter();
        let mut has_ended = false;
        let source = stream::poll_fn(move |_| {
            assert!(!has_ended, "polled after its end");
            let next = chunks.next();
            has_ended = next.is_none();
            Poll::Ready(next.map(Ok::<_, Infallible>))
        });
        let (mut lines, mut text) = (source.utf8().lines(), "h");
        if seen_by == "lines before them" {
            // The end shows that the CR is bare, and the bytes from it on are left.
            lines = lines.with_delimiter(Delimiter::crlf());
            lines.next().now_or_never().unwrap().unwrap().unwrap_err();
            text = "";
        }
        let mut lines = lines.into_stream().lines().with_delimiter(Delimiter::any_newline());
        assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), text);
        if seen_by == "the lines" {
            assert!(lines.next().now_or_never().unwrap().is_none());
        }
        let mut events = lines.into_stream().events();
        for _ in 0..3 {
            assert!(events.next().now_or_never().unwrap().is_none());
        }
    }
}

#[test]
fn an_event_that_the_end_cuts_off_is_found_after_lines_that_had_read_it() {
    for is_read in [false, true] {
        let chunks = stream::iter([Ok::<_, Infallible>(&b"data: xy"[..])]);
        let lines = chunks.utf8().lines();
        let mut lines =
            lines.with_delimiter(Delimiter::text("data: xyz").unwrap()).with_max_length(0);
        if is_read {
            assert!(matches!(lines.next().now_or_never(), Some(Some(Err(StreamError::Line(_))))));
        }
        let mut items = lines.into_stream().events().items();
        assert!(!items.is_terminated());
        let Some(Some(Ok(EventItem::Incomplete(event)))) = items.next().now_or_never() else {
            panic!()
        };
        assert_eq!(event.data, "xy");
        assert!(items.next().now_or_never().unwrap().is_none());
        assert!(items.is_terminated());
        assert_eq!(items.decoder().position(), 8);
    }
}

#[test]
fn it_waits_only_for_its_source() {
    let steps = [Chunk(b""), Chunk(b"data: x\n\n"), Chunk(b"data"), Error("e"), Pause, End];
    for does in scripts(&steps, 4) {
        let events = Script::new(&does).utf8().events();
        let look = |events: &EventStream<Script>| -> Look { events.get_ref().look() };
        assert_waits_only_for_script(&does, events, look, |cx, events| {
            events.poll_next(cx).map(|item| item.is_some())
        });
    }
}

#[test]
fn an_endless_source_without_events_lets_other_tasks_run() {
    for chunk in ["", ":\n", "data: x\n", "\n"] {
        let source = stream::repeat(Ok::<_, ()>(chunk));
        let mut events = task::spawn(source.utf8().events().with_max_length(usize::MAX));
        for _ in 0..3 {
            assert_eq!(events.poll_next(), Poll::Pending, "{chunk:?}");
            assert!(events.is_woken(), "{chunk:?}");
        }
    }
}

#[tokio::test]
async fn losing_a_select_loses_no_event() {
    let text = "id: é\ndata: 日本\r\n\r\n".repeat(50);
    let (peer, socket) = duplex(3);
    let writer = write_slowly(peer, &text);
    let mut events = Utf8Stream::from_reader(socket).events();
    let (mut count, mut interrupted) = (0, 0);
    loop {
        tokio::select! {
            biased;
            event = events.next() => match event {
                Some(event) => {
                    assert_eq!(event.unwrap().data, "日本");
                    count += 1;
                }
                None => break,
            },
            () = yield_now() => interrupted += 1,
        }
    }
    soon(writer).await.unwrap();
    assert_eq!(count, 50);
    assert!(interrupted > 10, "interrupted only {interrupted} times");
}

#[test]
fn between_events_it_holds_no_memory() {
    let does = [Chunk(b"event: e\ndata: x\n\n"), Pause];
    let mut events = Script::new(&does).utf8().events();
    let before = held();
    assert_eq!(ready(&mut events), ["x"]);
    // But for the type, which the next event probably has too.
    let event_type = isize::try_from(2 * size_of::<usize>() + 8).unwrap();
    assert!(held() <= before + event_type, "{} bytes", held() - before);
}

#[test]
fn errors_become_io_errors() {
    for (part, name) in [(EventPart::Content, "event"), (EventPart::Id, "ID of the event")] {
        type Error = StreamError<io::Error>;
        let error = Error::EventTooLong { part, offset: 7, max_length: 10 };
        let error = io::Error::from(error);
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert_eq!(
            error.to_string(),
            format!("{name} at byte 7 of the stream is longer than 10 bytes")
        );
    }
    let source = stream::iter([Err::<&str, _>(io::Error::from(io::ErrorKind::TimedOut))]);
    let error = source.utf8().events().try_next().now_or_never().unwrap().unwrap_err();
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::TimedOut);
}

#[test]
fn it_is_send_sync_unpin_clone_and_debug() {
    fn is_plain<T: Send + Sync + Unpin + Clone + std::fmt::Debug>() {}
    is_plain::<EventStream<stream::Iter<std::vec::IntoIter<Result<Bytes, ()>>>>>();
}
