//! `EventSource` and `Reconnection`: what each answer of a server means, in virtual time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use futures::stream::{FusedStream, Iter};
use futures::{StreamExt, stream};
use tokio::time::{Instant, sleep};
use utf8_codec::ByteString;
use utf8_codec::sse::{Event, EventDecoder, EventPart, Reconnection, ResponseError};
use utf8_codec::stream::{Attempt, EventResponse, EventSource, EventSourceError, StreamError};

type Chunk = Result<&'static [u8], &'static str>;
type Body = Iter<std::vec::IntoIter<Chunk>>;
type Answer = Result<EventResponse<Body>, &'static str>;
type Item = Result<Event<ByteString>, EventSourceError<&'static str, &'static str>>;

const MEDIA_TYPE: &str = "text/event-stream";

fn body(chunks: &[Chunk]) -> Answer {
    Ok(EventResponse::new(200, MEDIA_TYPE, stream::iter(chunks.to_vec())))
}

fn status(status: u16) -> Answer {
    Ok(EventResponse::new(status, MEDIA_TYPE, stream::iter(vec![])))
}

/// What happened: the second of each attempt with its ID, and the items.
#[derive(Debug, PartialEq)]
struct Seen {
    attempts: Vec<(u64, String)>,
    items: Vec<String>,
}

/// Runs until the stream ends, or the answers do: then the server refuses with 204.
async fn run(reconnection: Reconnection, answers: Vec<Answer>) -> Seen {
    let (start, answers) = (Instant::now(), RefCell::new(VecDeque::from(answers)));
    let attempts = RefCell::new(Vec::new());
    let connect = |attempt: Attempt| {
        let (answers, attempts) = (&answers, &attempts);
        async move {
            sleep(attempt.delay).await;
            attempts
                .borrow_mut()
                .push((start.elapsed().as_secs(), attempt.last_event_id.to_string()));
            answers.borrow_mut().pop_front().unwrap_or_else(|| status(204))
        }
    };
    let mut source = EventSource::new(connect)
        .with_reconnection(reconnection)
        .with_decoder(EventDecoder::new().with_max_length(5));
    let mut items = Vec::new();
    while let Some(item) = source.next().await {
        items.push(word(item));
    }
    assert!(source.is_terminated());
    assert_eq!(source.next().await.map(word), None);
    drop(source);
    Seen { attempts: attempts.into_inner(), items }
}

fn word(item: Item) -> String {
    match item {
        Ok(event) => event.data.to_string(),
        Err(EventSourceError::Connect(error)) => format!("connect: {error}"),
        Err(EventSourceError::Refused(refusal)) => format!("refused: {refusal}"),
        Err(EventSourceError::Event(StreamError::Inner(error))) => format!("broke: {error}"),
        Err(EventSourceError::Event(StreamError::EventTooLong {
            part: EventPart::Content,
            ..
        })) => "too long".into(),
        Err(EventSourceError::GaveUp { failures }) => format!("gave up after {failures}"),
        Err(error) => panic!("{error:?}"),
    }
}

fn seen(attempts: &[(u64, &str)], items: &[&str]) -> Seen {
    Seen {
        attempts: attempts.iter().map(|&(at, id)| (at, id.to_owned())).collect(),
        items: items.iter().map(|&item| item.to_owned()).collect(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_cut_inside_a_character_is_continued_with_the_last_whole_event() {
    let answers = vec![
        body(&[Ok(b"id: 1\ndata: a\n\nid: 2\ndata: \xE2\x82"), Err("reset")]),
        body(&[Ok(b"\xEF\xBB\xBFid: 2\ndata: \xE2"), Ok(b"\x82\xAC\n\n")]),
    ];
    let expected = seen(&[(0, ""), (3, "1"), (6, "2")], &["a", "broke: reset", "€"]);
    assert_eq!(run(Reconnection::new(), answers).await, expected);
}

#[tokio::test(start_paused = true)]
async fn the_last_event_id_is_known_before_during_and_after_a_connection() {
    let answers = RefCell::new(vec![body(&[Ok(b"id: 2\ndata: x\n\nid: 3\n\n")])]);
    let connect = |_| std::future::ready(answers.borrow_mut().pop().unwrap_or_else(|| status(204)));
    let rules = Reconnection::new().with_last_event_id("1");
    let mut source = EventSource::new(connect).with_reconnection(rules);
    assert_eq!(**source.last_event_id(), *"1");
    assert_eq!(source.next().await.map(word).unwrap(), "x");
    assert_eq!(**source.last_event_id(), *"2");
    assert!(!source.is_terminated());
    assert_eq!(source.next().await.map(word), None);
    assert_eq!(**source.last_event_id(), *"3");
}

#[tokio::test(start_paused = true)]
async fn the_server_sets_the_delay_within_the_bounds() {
    for (retry, first, second) in [
        (&b"retry: 0\n"[..], 3, 6),
        (b"retry: 5000\n", 5, 10),
        (b"retry: 99999999999999999999\n", 60, 120),
    ] {
        // The time continues to apply to connections that do not set it.
        let x = body(&[Ok(retry), Ok(b"data: x\n\n")]);
        let answers = vec![x, body(&[Ok(b"data: y\n\n")])];
        let expected = seen(&[(0, ""), (first, ""), (second, "")], &["x", "y"]);
        assert_eq!(run(Reconnection::new(), answers).await, expected, "{retry:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_delay_doubles_with_each_failure_in_a_row_until_it_gives_up() {
    let rules = Reconnection::new().with_max_failures(6);
    let down = || Err("down");
    let answers = (0..20).map(|_| down()).collect();
    let times = [(0, ""), (3, ""), (9, ""), (21, ""), (45, ""), (93, ""), (153, "")];
    let items = [&["connect: down"; 7][..], &["gave up after 7"]].concat();
    assert_eq!(run(rules.clone(), answers).await, seen(&times, &items));

    // An event ends the row of failures; a comment does not.
    let rules = rules.with_max_failures(2);
    let comment = || body(&[Ok(b":\n\n")]);
    let answers = vec![down(), down(), body(&[Ok(b"data: x\n\n")]), down(), comment(), comment()];
    let times = [(0, ""), (3, ""), (9, ""), (12, ""), (15, ""), (21, "")];
    let items = ["connect: down", "connect: down", "x", "connect: down", "gave up after 3"];
    assert_eq!(run(rules, answers).await, seen(&times, &items));
}

#[tokio::test(start_paused = true)]
async fn a_decoder_that_was_used_gives_its_limits_only() {
    let mut decoder = EventDecoder::new().with_max_length(6);
    assert_eq!(decoder.push_items(b"retry: 7000\nid: 7\n\ndata: old\n").count(), 0);
    let chunks = [&b": c\ndata: 1\n\n"[..], b": d\ndata: 2\n\ndata: longest\n\n"];
    let mut answers = vec![body(&chunks.map(Ok))].into_iter();
    let connect = |attempt: Attempt| {
        let answer = answers.next().unwrap_or_else(|| status(204));
        async move {
            sleep(attempt.delay).await;
            answer
        }
    };
    let start = Instant::now();
    let source = EventSource::new(connect).with_decoder(decoder);
    let words: Vec<_> = source.map(word).collect().await;
    assert_eq!(words, ["1", "2", "too long"]);
    assert_eq!(start.elapsed().as_secs(), 3, "the time of the first stream has no effect");
}

#[test]
fn delays_begin_with_the_minimum_and_double_up_to_the_maximum() {
    let seconds = Duration::from_secs;
    let mut rules = Reconnection::new().with_delay(seconds(1), seconds(5));
    let delays: Vec<_> = (0..5).filter_map(|_| rules.failed()).collect();
    assert_eq!(delays, [1, 2, 4, 5, 5].map(seconds));
    let mut rules = Reconnection::new().with_delay(seconds(5), seconds(2));
    assert_eq!(rules.failed(), Some(seconds(2)), "the maximum wins");
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_an_event_is_no_failure() {
    let answers = vec![body(&[Ok(b"data: a\n\n")]), body(&[Ok(b"data: b\n\n")]), Err("down")];
    let times = [(0, ""), (3, ""), (6, "")];
    let rules = Reconnection::new().with_max_failures(0);
    let items = ["a", "b", "connect: down", "gave up after 1"];
    assert_eq!(run(rules.clone(), answers).await, seen(&times, &items));
    let answers = vec![body(&[Err("reset")])];
    let items = ["broke: reset", "gave up after 1"];
    assert_eq!(run(rules, answers).await, seen(&[(0, "")], &items));
}

#[tokio::test(start_paused = true)]
async fn other_statuses_end_the_stream_unless_the_server_is_busy_and_retries_are_on() {
    for code in [201, 205, 301, 302, 303, 307, 308, 400, 401, 403, 404, 410, 501, 505] {
        let expected = seen(&[(0, "")], &[&*format!("refused: status {code} instead of 200")]);
        for rules in [Reconnection::new(), Reconnection::new().retry_busy_servers()] {
            assert_eq!(run(rules, vec![status(code)]).await, expected);
        }
    }
    for code in [429, 500, 502, 503, 504] {
        let refused = format!("refused: status {code} instead of 200");
        let seen_then = run(Reconnection::new(), vec![status(code)]).await;
        assert_eq!(seen_then, seen(&[(0, "")], &[&refused]));
        let rules = Reconnection::new().retry_busy_servers();
        let answers = vec![status(code), body(&[Ok(b"data: x\n\n")])];
        assert_eq!(run(rules, answers).await, seen(&[(0, ""), (3, ""), (6, "")], &[&refused, "x"]));
    }
    assert_eq!(run(Reconnection::new(), vec![status(204)]).await, seen(&[(0, "")], &[]));
    // A server that stays busy is given up, which a refusal that ends the stream is not.
    let rules = Reconnection::new().retry_busy_servers().with_max_failures(1);
    let refused = "refused: status 503 instead of 200";
    let seen_then = run(rules, vec![status(503), status(503)]).await;
    assert_eq!(seen_then, seen(&[(0, ""), (3, "")], &[refused, refused, "gave up after 2"]));
}

#[test]
fn only_the_media_type_counts_and_its_parameters_do_not() {
    let accept = |field: &str| Reconnection::new().accept(200, field.as_bytes());
    for field in [
        "text/event-stream",
        "Text/Event-Stream;charset=ISO-8859-1",
        " text/event-stream ; charset=\"x\"; a",
        "text/event-stream;",
    ] {
        assert_eq!(accept(field), Ok(()), "{field}");
    }
    for field in ["", "text/plain", "text/event-streams", "application/json;text/event-stream"] {
        assert_eq!(accept(field), Err(ResponseError::MediaType), "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_too_long_is_an_item_and_its_connection_continues() {
    let answers = vec![body(&[Ok(b"data: 123456\nid: 1\n\ndata: x\n\n")])];
    let expected = seen(&[(0, "7"), (3, "7")], &["too long", "x"]);
    assert_eq!(run(Reconnection::new().with_last_event_id("7"), answers).await, expected);
}

#[tokio::test(start_paused = true)]
async fn losing_a_select_loses_no_event_and_no_connection() {
    let connect = |attempt: Attempt| async move {
        sleep(attempt.delay + Duration::from_secs(1)).await;
        body(&[Ok(b"data: 1\n\ndata"), Ok(b": 2\n\n")])
    };
    let mut source = Box::pin(EventSource::new(connect));
    let (mut words, mut interrupted) = (Vec::new(), 0);
    while words.len() < 4 {
        tokio::select! {
            biased;
            item = source.next() => words.push(word(item.unwrap())),
            () = sleep(Duration::from_millis(300)) => interrupted += 1,
        }
    }
    assert_eq!(words, ["1", "2", "1", "2"]);
    assert!(interrupted > 3, "interrupted only {interrupted} times");
}

#[test]
fn a_server_that_ends_each_connection_at_once_lets_other_tasks_run() {
    let rules = Reconnection::new().with_max_failures(u32::MAX);
    let connect = |_: Attempt| std::future::ready(body(&[])); // it does not wait
    let mut source = tokio_test::task::spawn(EventSource::new(connect).with_reconnection(rules));
    for _ in 0..3 {
        assert!(source.poll_next().is_pending());
        assert!(source.is_woken());
    }
}

/// A heartbeat resets an idle timer, so that the stream of a live peer is not given up.
#[tokio::test(start_paused = true)]
async fn heartbeats_keep_an_idle_timer_from_firing() {
    use utf8_codec::sse::EventItem;
    use utf8_codec::stream::Utf8StreamExt;

    let chunks = stream::unfold(0, |n| async move {
        sleep(Duration::from_secs(15)).await;
        let chunk = if n < 4 { &b": ping\n\n"[..] } else { b"data: x\n\n" };
        (n < 5).then_some((Ok::<_, ()>(chunk), n + 1))
    });
    let mut items = Box::pin(chunks).utf8().events().items();
    let (mut pings, mut events) = (0, 0);
    while let Some(item) =
        tokio::time::timeout(Duration::from_secs(20), items.next()).await.unwrap()
    {
        match item.unwrap() {
            EventItem::Comment(text) => pings += u32::from(text == "ping"),
            item => events += u32::from(matches!(item, EventItem::Event(_))),
        }
    }
    assert_eq!((pings, events), (4, 1));
}
