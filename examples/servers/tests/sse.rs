//! A client of server-sent events over loopback sockets: events split anywhere, and reconnections.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use futures::TryStreamExt;
use reqwest::Client;
use servers::sse::{ConnectError, Piece, connect, follow, hostile_pieces, router};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use utf8_codec::sse::{Event, Reconnection};
use utf8_codec::stream::StreamError;

/// Serves `router` on a loopback socket. Returns its URL.
async fn serve(router: Router) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// A server that sends these responses, then the status 204. Also returns the `Last-Event-ID` of each request.
async fn server(
    responses: impl IntoIterator<Item = Response>,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let responses: Arc<Mutex<VecDeque<_>>> = Arc::new(Mutex::new(responses.into_iter().collect()));
    let ids = Arc::new(Mutex::new(Vec::new()));
    let noted = ids.clone();
    let respond = move |headers: HeaderMap| {
        let id = headers.get("last-event-id").map_or(&[][..], |id| id.as_bytes());
        noted.lock().unwrap().push(String::from_utf8(id.to_vec()).unwrap());
        let response = responses.lock().unwrap().pop_front();
        std::future::ready(response.unwrap_or_else(|| StatusCode::NO_CONTENT.into_response()))
    };
    (serve(Router::new().route("/", get(respond))).await, ids)
}

fn events(body: impl IntoResponse) -> Response {
    ([("content-type", "Text/Event-Stream; charset=x")], body).into_response()
}

/// Waits for a few milliseconds, whatever the server sets.
fn quick() -> Reconnection {
    let (min, max) = (Duration::from_millis(1), Duration::from_millis(5));
    Reconnection::new().with_delay(min, max).with_max_failures(3)
}

/// Follows `url` to the end. Returns the data and the last event ID of each event, or the error.
async fn followed(url: &str) -> (Vec<(String, String)>, Result<(), ConnectError>) {
    let mut seen = Vec::new();
    let following = follow(url, quick(), |item| {
        seen.push(match item {
            Ok(event) => (event.data.to_string(), event.last_event_id.to_string()),
            Err(error) => (error.to_string(), "error".to_owned()),
        });
        Ok(())
    });
    let outcome = timeout(Duration::from_secs(30), following).await.expect("hangs");
    (seen, outcome)
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(data, id)| ((*data).to_owned(), (*id).to_owned())).collect()
}

#[tokio::test]
async fn it_reconnects_with_the_id_of_the_last_complete_event() {
    let responses = [
        "id: é1\ndata: a\n\nid: 2\ndata: cut off",
        "\u{FEFF}data: b\n\nid\ndata: c\n\n",
        "data: d\n\n",
    ];
    let (url, ids) = server(responses.map(events)).await;
    let (seen, outcome) = followed(&url).await;
    outcome.unwrap();
    assert_eq!(seen, pairs(&[("a", "é1"), ("b", "é1"), ("c", ""), ("d", "")]));
    assert_eq!(*ids.lock().unwrap(), ["", "é1", "", ""]);
}

#[tokio::test]
async fn the_time_that_the_server_sets_is_bounded() {
    let (url, ids) = server([events("retry: 99999999999999999999\ndata: a\n\n")]).await;
    followed(&url).await.1.unwrap();
    let (url, more) = server([events("retry: 0\ndata: a\n\n")]).await;
    followed(&url).await.1.unwrap();
    assert_eq!((ids.lock().unwrap().len(), more.lock().unwrap().len()), (2, 2));
}

#[tokio::test]
async fn it_gives_up_after_connections_without_events() {
    let (url, ids) = server((0..99).map(|_| events(": nothing\n\nid: 1\ndata: cut off"))).await;
    let (seen, outcome) = followed(&url).await;
    assert!(matches!(outcome, Err(ConnectError::GaveUp(4))), "{outcome:?}");
    assert_eq!((seen, ids.lock().unwrap().len()), (vec![], 4));
}

#[tokio::test]
async fn a_response_that_is_no_event_stream_is_an_error() {
    let html = || ([("content-type", "text/html")], "data: x\n\n").into_response();
    let failed = || (StatusCode::INTERNAL_SERVER_ERROR, events("data: x\n\n")).into_response();
    for (response, message) in [
        (html(), "no event stream: the media type is not text/event-stream"),
        (failed(), "no event stream: status 500 instead of 200"),
    ] {
        let (url, ids) = server([events("data: a\n\n"), response, events("data: b\n\n")]).await;
        let (seen, outcome) = followed(&url).await;
        assert_eq!(outcome.unwrap_err().to_string(), message);
        assert_eq!((seen, ids.lock().unwrap().len()), (pairs(&[("a", "")]), 2));
    }
}

#[tokio::test]
async fn an_event_that_is_too_long_is_an_error_and_the_next_one_arrives() {
    let long = format!("data: {}\n\ndata: next\n\n", "x".repeat((16 << 20) + 1));
    let (url, _) = server([events(long)]).await;
    let mut events = connect(&Client::new(), &url, "").await.unwrap().unwrap();
    let error = events.try_next().await.unwrap_err();
    assert!(matches!(error, StreamError::EventTooLong { offset: 0, max_length: 0x100_0000, .. }));
    assert_eq!(events.try_next().await.unwrap(), Some(Event::new("next".into())));
}

#[test]
fn hostile_pieces_split_characters_and_line_endings() {
    let bytes = "data: é\r\n\r\n".as_bytes();
    let pieces: Vec<_> = hostile_pieces(bytes)
        .into_iter()
        .map(|piece| match piece {
            Piece::Bytes(bytes) => bytes,
            Piece::Wait => Bytes::from_static(b"|"),
        })
        .collect();
    assert_eq!(pieces, [&b"data: \xC3"[..], b"\xA9\r", b"\n\r", b"|", b"\n"]);
}

#[tokio::test]
async fn an_event_arrives_with_the_byte_that_completes_it() {
    let seen = Arc::new(Semaphore::new(0));
    let sent: Vec<_> = ["ř", "日\n本", "👋"].iter().zip(["\r\n", "\r", "\n"]).collect();
    let pieces = sent.iter().flat_map(|(text, newline)| {
        let data = text.replace('\n', &format!("{newline}data: "));
        hostile_pieces(format!("data: {data}{newline}{newline}").as_bytes())
    });
    let url = serve(router(pieces.collect(), seen.clone())).await;
    let mut events = connect(&Client::new(), &url, "").await.unwrap().unwrap();
    for (text, _) in sent {
        let next = timeout(Duration::from_secs(30), events.try_next()).await.expect("hangs");
        assert_eq!(next.unwrap(), Some(Event::new((*text).into())));
        seen.add_permits(1);
    }
    assert_eq!(events.try_next().await.unwrap(), None);
}
