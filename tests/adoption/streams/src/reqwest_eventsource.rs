use std::time::Duration;

use futures::StreamExt;
use reqwest::Client;
use reqwest_eventsource::{Error, Event, EventSource};
use tokio::time::timeout;

use crate::server::{Answer, Server};
use crate::{CHUNKS, LIMIT};

fn connect(server: &Server) -> EventSource {
    let client = Client::builder().no_proxy().build().expect("a client");
    EventSource::new(client.get(&server.url)).expect("a request without a body")
}

/// The next `count` items: an event as its type, its data, its ID and its delay.
async fn items(source: &mut EventSource, count: usize) -> Vec<String> {
    let items = source.take(count).map(|item| match item {
        Ok(Event::Open) => "open".to_owned(),
        Ok(Event::Message(event)) => {
            format!("{} {:?} {:?} {:?}", event.event, event.data, event.id, event.retry)
        }
        Err(Error::Transport(error)) => format!("transport: {error}"),
        Err(error) => error.to_string(),
    });
    timeout(LIMIT, items.collect()).await.expect("the server answers")
}

#[tokio::test]
async fn events_have_their_fields_in_chunks_of_any_length() {
    let stream = ": a comment, ü\r\n\r\ndata: žluť 😀\r\nother: no\r\n\r\nevent: 追加\nid: 1\ndata: one\n\
        data:  二\n\nretry: 900\ndata\n\ndata:x\n:y\n\ndata: cut off";
    for len in CHUNKS {
        let mut source = connect(&Server::start(len, [Answer::Whole(stream.into())]));
        let seen = items(&mut source, 6).await;
        source.close();
        let expected = [
            "open",
            "message \"žluť 😀\" \"\" None",
            "追加 \"one\\n 二\" \"1\" None",
            "message \"\" \"1\" Some(900ms)",
            "message \"x\" \"1\" None",
            "Stream ended",
        ];
        assert_eq!(seen, expected, "in chunks of {len}");
    }
}

#[tokio::test]
async fn it_reconnects_with_the_last_id_after_the_delay_of_the_stream() {
    for len in CHUNKS {
        let answers = [
            Answer::Whole("retry: 20\nid: 7, é\ndata: a\n\nid: 8\ndata: cut off".into()),
            Answer::Whole("id: 9\ndata: b\n\n".into()),
        ];
        let server = Server::start(len, answers);
        let mut source = connect(&server);
        let seen = items(&mut source, 5).await;
        let expected = [
            "open",
            "message \"a\" \"7, é\" Some(20ms)",
            "Stream ended",
            "open",
            "message \"b\" \"9\" None",
        ];
        assert_eq!(seen, expected, "in chunks of {len}");
        assert_eq!(source.last_event_id(), "9");

        let first = server.requests.recv_timeout(LIMIT).expect("a request");
        let second = server.requests.recv_timeout(LIMIT).expect("a second request");
        assert!(!first.contains("last-event-id"), "{first}");
        assert!(second.contains("last-event-id: 7, é\r\n"), "{second}");
    }
}

#[tokio::test]
async fn the_events_before_a_broken_connection_are_returned() {
    for len in CHUNKS {
        let answers = [
            Answer::Broken("retry: 20\nid: 7\ndata: ä\n\ndata: half".into()),
            Answer::Whole("id: 8\ndata: b\n\n".into()),
        ];
        let server = Server::start(len, answers);
        let mut source = connect(&server);
        let seen = items(&mut source, 5).await;
        let broken = "transport: error decoding response body";
        let expected =
            ["open", "message \"ä\" \"7\" Some(20ms)", broken, "open", "message \"b\" \"8\" None"];
        assert_eq!(seen, expected, "in chunks of {len}");
    }
}

#[tokio::test]
async fn a_policy_without_retries_ends_the_stream() {
    let mut source = connect(&Server::start(1, [Answer::Whole("data: 終\n\n".into())]));
    source.set_retry_policy(Box::new(reqwest_eventsource::retry::Never));
    let seen = items(&mut source, 10).await;
    assert_eq!(seen, ["open", "message \"終\" \"\" None", "Stream ended"]);
    let after = timeout(Duration::from_secs(1), source.next()).await.expect("it has ended");
    assert!(after.is_none());
}
