//! Server-sent events, split anywhere, and over a loopback socket.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use servers::sse::{Event, MAX_LINE, Piece, events, hostile_pieces, router};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Returns the events of these bytes in chunks of `size` bytes.
fn parsed(bytes: &[u8], size: usize) -> Vec<io::Result<Event>> {
    let chunks = bytes.chunks(size).map(Bytes::copy_from_slice).map(Ok::<_, Infallible>);
    let chunks: Vec<_> = chunks.collect();
    events(stream::iter(chunks)).collect().now_or_never().expect("never waits")
}

fn event(name: &str, data: &str, id: &str) -> Event {
    Event { name: name.into(), data: data.into(), id: id.into() }
}

#[test]
fn events_do_not_depend_on_splits_or_line_endings() {
    let stream = "\u{FEFF}: коммéнтарий\ndata: 一行目\ndata\ndata:  三行目\nid: 1\n\nevent: větší\nretry: 7\n\
                  data:x: y\nid: a\0b\n\nevent: none\n\n: end\nid\ndata:👋🏽\n\n\ndata: cut off\n";
    let expected = [
        event("message", "一行目\n\n 三行目", "1"),
        event("větší", "x: y", "1"),
        event("message", "👋🏽", ""),
    ];
    for newline in ["\n", "\r", "\r\n"] {
        let stream = stream.replace('\n', newline).into_bytes();
        for size in 1..=stream.len() {
            let parsed: io::Result<Vec<_>> = parsed(&stream, size).into_iter().collect();
            assert_eq!(parsed.unwrap(), expected, "{newline:?} {size}");
        }
    }
}

#[test]
fn invalid_bytes_are_replaced() {
    for size in 1..20 {
        let parsed = parsed(b"data: \xE2\x82!\xFF\n\n", size);
        assert_eq!(parsed[0].as_ref().unwrap().data, "\u{FFFD}!\u{FFFD}", "{size}");
    }
}

#[test]
fn an_endless_line_is_an_error_and_the_next_event_is_kept() {
    let bytes = format!("data: {}\ndata: next\n\n", "x".repeat(MAX_LINE));
    let parsed = parsed(bytes.as_bytes(), 8192);
    assert_eq!(parsed[0].as_ref().unwrap_err().kind(), io::ErrorKind::InvalidData);
    assert_eq!(*parsed[1].as_ref().unwrap(), event("message", "next", ""));
}

#[test]
fn a_body_error_is_returned() {
    let chunks = [Ok(Bytes::from_static(b"data: 1\n\n")), Err(io::Error::other("the cable"))];
    let parsed: Vec<_> = events(stream::iter(chunks)).collect().now_or_never().unwrap();
    assert_eq!(*parsed[0].as_ref().unwrap(), event("message", "1", ""));
    assert_eq!(parsed[1].as_ref().unwrap_err().to_string(), "the cable");
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
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let router = router(pieces.collect(), seen.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });

    let response = reqwest::get(url).await.unwrap();
    let mut events = pin!(events(response.bytes_stream()));
    for (text, _) in sent {
        let next = timeout(Duration::from_secs(30), events.try_next()).await.expect("hangs");
        assert_eq!(next.unwrap(), Some(event("message", text, "")));
        seen.add_permits(1);
    }
    assert_eq!(events.try_next().await.unwrap(), None);
}
