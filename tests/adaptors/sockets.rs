//! Sockets on loopback: both directions, half-close, silent peers, hostile peers.
#![cfg(feature = "codec")]

use crate::script;

use std::io;
use std::time::Duration;

use bytestring::ByteString;
use futures::{SinkExt, Stream, StreamExt, TryStreamExt};
use script::{connection, soon};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_util::codec::{Framed, FramedRead};
use utf8_codec::codec::{CharCodec, CodecError, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};
use utf8_codec::lines::{Delimiter, Line, LineError};
use utf8_codec::{ErrorMode, Utf8ErrorKind};

/// The next item of a stream that has one.
async fn next<S: Stream + Unpin>(frames: &mut S) -> S::Item {
    soon(frames.next()).await.expect("the stream ended")
}

/// Whether the stream stays pending for as long as bytes take to cross the loopback device.
async fn is_silent<S: Stream + Unpin>(frames: &mut S) -> bool {
    timeout(Duration::from_millis(20), frames.next()).await.is_err()
}

/// `lines` lines of text in many scripts, with characters of all lengths.
fn multilingual(lines: usize) -> String {
    let samples = [
        "The quick brown fox",
        "Zwölf Boxkämpfer jagen Viktor",
        "Съешь ещё этих мягких булок",
        "色は匂へど散りぬるを",
        "키스의 고유조건은",
        "نص حكيم له سر قاطع",
        "ऋषियों को सताने वाले",
        "👩‍👩‍👧‍👦 🏳️‍🌈 𝒜𝒷𝒸 \u{10FFFF}",
        "",
    ];
    let mut text = String::new();
    for number in 0..lines {
        text += &format!("{number}: {}\n", samples[number % samples.len()]);
    }
    text
}

/// Writes `bytes` in pieces of odd sizes, if possible each in its own packet.
async fn write_in_odd_pieces(socket: &mut (impl AsyncWriteExt + Unpin), bytes: &[u8]) {
    let mut rest = bytes;
    for size in [1, 2, 3, 5, 7, 1, 11, 13, 101, 997].into_iter().cycle() {
        if rest.is_empty() {
            return;
        }
        let (piece, after) = rest.split_at(size.min(rest.len()));
        socket.write_all(piece).await.unwrap();
        socket.flush().await.unwrap();
        tokio::task::yield_now().await;
        rest = after;
    }
}

fn reported(line: Result<Line, LineError>) -> String {
    match line {
        Ok(line) => line.to_string(),
        Err(error) => format!("<{error}>"),
    }
}

// ---- both directions --------------------------------------------------------------------------

#[tokio::test]
async fn text_crosses_a_socket_both_ways_unchanged() {
    let (near, mut far) = connection().await;
    let there = multilingual(500);
    let back: String = there.chars().rev().collect();

    let peer = async {
        let (mut reader, mut writer) = far.split();
        let write = async {
            write_in_odd_pieces(&mut writer, back.as_bytes()).await;
            writer.shutdown().await.unwrap();
        };
        let read = async {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).await.unwrap();
            bytes
        };
        tokio::join!(write, read).1
    };
    let us = async {
        let (mut sink, stream) = Framed::new(near, Utf8Codec::new()).split();
        let send = async {
            let mut rest = &*there;
            for size in [1, 3, 17, 260].into_iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let cut = rest.char_indices().map(|(at, _)| at).nth(size).unwrap_or(rest.len());
                sink.send(&rest[..cut]).await.unwrap();
                rest = &rest[cut..];
            }
            SinkExt::<&str>::close(&mut sink).await.unwrap();
        };
        let receive = stream.try_collect::<Vec<ByteString>>();
        tokio::join!(send, receive).1.unwrap()
    };
    let (seen_there, seen_here) = soon(async { tokio::join!(peer, us) }).await;
    assert_eq!(seen_there, there.as_bytes());
    assert_eq!(seen_here.concat(), back);
}

#[tokio::test]
async fn lines_cross_a_socket_both_ways_unchanged() {
    for delimiter in
        [Delimiter::lf(), Delimiter::any_newline(), Delimiter::text("\u{2028}").unwrap()]
    {
        let (near, mut far) = connection().await;
        let text = multilingual(300).replace('\n', delimiter.as_str());

        let peer = async {
            write_in_odd_pieces(&mut far, text.as_bytes()).await;
            far.shutdown().await.unwrap();
            let mut bytes = Vec::new();
            far.read_to_end(&mut bytes).await.unwrap();
            bytes
        };
        let echo = async {
            let mut framed =
                Framed::new(near, Utf8LinesCodec::new().with_delimiter(delimiter.clone()));
            let mut numbers = Vec::new();
            let mut offset = 0;
            while let Some(line) = framed.next().await {
                let line = line.unwrap().unwrap();
                assert!(line.is_terminated());
                assert_eq!(line.offset, offset);
                offset += (line.len() + delimiter.as_str().len()) as u64;
                numbers.push(line.number);
                framed.send(line).await.unwrap();
            }
            SinkExt::<&str>::close(&mut framed).await.unwrap();
            numbers
        };
        let (seen, numbers) = soon(async { tokio::join!(peer, echo) }).await;
        assert_eq!(seen, text.as_bytes());
        assert!(numbers.into_iter().eq(1..=300));
    }
}

#[tokio::test]
async fn a_half_closed_peer_receives_an_answer() {
    let (mut near, far) = connection().await;
    let server = async {
        let mut framed = Framed::new(far, Utf8LinesCodec::new());
        let mut lines = Vec::new();
        while let Some(line) = framed.next().await {
            lines.push(reported(line.unwrap()));
        }
        // The peer has closed its write half; ours is open.
        framed.send(format!("{} lines", lines.len())).await.unwrap();
        framed.send(lines.join("|")).await.unwrap();
        SinkExt::<&str>::close(&mut framed).await.unwrap();
    };
    let client = async {
        near.write_all("one\ntwö\nno end".as_bytes()).await.unwrap();
        near.shutdown().await.unwrap();
        let mut answer = String::new();
        near.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let ((), answer) = soon(async { tokio::join!(server, client) }).await;
    assert_eq!(answer, "3 lines\none|twö|no end\n");
}

#[tokio::test]
async fn closing_the_write_half_leaves_reading_open() {
    let (near, mut far) = connection().await;
    let mut framed = Framed::new(near, Utf8Codec::new());
    framed.send("question").await.unwrap();
    soon(SinkExt::<&str>::close(&mut framed)).await.unwrap();
    let mut question = String::new();
    soon(far.read_to_string(&mut question)).await.unwrap();
    far.write_all("Antwört".as_bytes()).await.unwrap();
    drop(far);
    let answer: Vec<_> = soon(framed.try_collect()).await.unwrap();
    assert_eq!((&*question, &*answer.concat()), ("question", "Antwört"));
}

// ---- silent peers -------------------------------------------------------------------------------

#[tokio::test]
async fn on_an_idle_socket_chunks_after_errors_do_not_wait() {
    let (mut peer, socket) = connection().await;
    peer.write_all(b"ok\xFFmore").await.unwrap();
    let mut chunks = FramedRead::new(socket, Utf8ChunksCodec::new());
    let mut seen = Vec::new();
    while seen.len() < 7 {
        match next(&mut chunks).await.unwrap() {
            Ok(text) => seen.extend_from_slice(text.as_bytes()),
            Err(error) => seen.extend_from_slice(error.bytes()),
        }
    }
    assert_eq!(seen, b"ok\xFFmore");
    assert!(is_silent(&mut chunks).await, "the connection is still open");
    peer.write_all(b"!").await.unwrap();
    assert_eq!(next(&mut chunks).await.unwrap(), Ok("!".into()));
}

#[tokio::test]
async fn on_an_idle_socket_lines_after_errors_do_not_wait() {
    let (mut peer, socket) = connection().await;
    peer.write_all(b"ok\nba\xFFd\nmore\nlast \xFF").await.unwrap();
    let mut lines = FramedRead::new(socket, Utf8LinesCodec::new());
    for expected in
        ["ok", "<line 2 is not valid UTF-8: invalid byte (ff) at byte 5 of the stream>", "more"]
    {
        assert_eq!(reported(next(&mut lines).await.unwrap()), expected);
    }
    let error = next(&mut lines).await.unwrap().unwrap_err();
    assert_eq!(error.number(), 4, "a line is rejected before it ends");
    assert!(is_silent(&mut lines).await);
    peer.write_all(b" ever\nafter\n").await.unwrap();
    assert_eq!(reported(next(&mut lines).await.unwrap()), "after");
}

#[tokio::test]
async fn on_an_idle_socket_lossy_text_after_errors_does_not_wait() {
    for (mode, expected) in [
        (ErrorMode::Replacement, "ok\u{FFFD}more"),
        (ErrorMode::Skip, "okmore"),
        (ErrorMode::Escape, r"ok\xffmore"),
        (ErrorMode::Latin1, "okÿmore"),
        (ErrorMode::Windows1252, "okÿmore"),
    ] {
        let (mut peer, socket) = connection().await;
        peer.write_all(b"ok\xFFmore").await.unwrap();
        let mut texts = FramedRead::new(socket, Utf8Codec::new().with_error_mode(mode));
        let mut text = String::new();
        while text.len() < expected.len() {
            text += &next(&mut texts).await.unwrap();
        }
        assert_eq!(text, expected);
        assert!(is_silent(&mut texts).await);

        let (mut peer, socket) = connection().await;
        peer.write_all(b"ok\xFFmore").await.unwrap();
        let chars = FramedRead::new(socket, CharCodec::new().with_error_mode(mode));
        let chars = chars.take(expected.chars().count()).try_collect::<String>();
        assert_eq!(soon(chars).await.unwrap(), expected);

        let (mut peer, socket) = connection().await;
        peer.write_all(b"ok\xFFmore\n").await.unwrap();
        let codec = Utf8LinesCodec::new().with_error_mode(mode);
        let mut lines = FramedRead::new(socket, codec);
        assert_eq!(reported(next(&mut lines).await.unwrap()), expected);
    }
}

#[tokio::test]
async fn on_an_idle_socket_a_fatal_error_ends_the_stream_until_more_input() {
    let (mut peer, socket) = connection().await;
    peer.write_all(b"ok\xFFmore").await.unwrap();
    // Waits for all of it, so that one read returns it.
    while soon(socket.peek(&mut [0; 8])).await.unwrap() < 7 {}
    let mut texts = FramedRead::new(socket, Utf8Codec::new());
    assert_eq!(next(&mut texts).await.unwrap(), "ok");
    let error = next(&mut texts).await.unwrap_err();
    assert!(matches!(error, CodecError::Invalid(error) if error.valid_up_to() == 2));
    assert!(soon(texts.next()).await.is_none(), "the error ends the stream");

    // Polling on loses no data, but the rest is only decoded with the next input.
    assert!(is_silent(&mut texts).await);
    assert_eq!(texts.read_buffer(), &b"more"[..]);
    peer.write_all(b"!\xFF").await.unwrap();
    let mut text = String::new();
    while text.len() < 5 {
        text += &next(&mut texts).await.unwrap();
    }
    assert_eq!(text, "more!");
    let error = next(&mut texts).await.unwrap_err();
    assert!(matches!(error, CodecError::Invalid(error) if error.valid_up_to() == 8));
    assert!(soon(texts.next()).await.is_none());
}

#[tokio::test]
async fn text_before_a_split_character_does_not_wait() {
    let (mut peer, socket) = connection().await;
    let mut texts = FramedRead::new(socket, Utf8Codec::new());
    peer.write_all(b"4 \xE2\x82").await.unwrap();
    let mut text = next(&mut texts).await.unwrap().to_string();
    while text.len() < 2 {
        text += &next(&mut texts).await.unwrap();
    }
    assert_eq!(text, "4 ");
    assert!(is_silent(&mut texts).await);
    peer.write_all(b"\xAC").await.unwrap();
    assert_eq!(next(&mut texts).await.unwrap(), "€");
}

// ---- hostile peers ------------------------------------------------------------------------------

#[tokio::test]
async fn garbage_is_repaired_or_an_error_with_its_offset() {
    let garbage: Vec<u8> = (0..=255).rev().cycle().take(20_000).collect();

    let (mut peer, socket) = connection().await;
    peer.write_all(&garbage).await.unwrap();
    let error = next(&mut FramedRead::new(socket, Utf8Codec::new())).await.unwrap_err();
    let error = io::Error::from(error);
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    let hint = "invalid UTF-8 at byte 0: invalid byte (ff); this looks like UTF-16";
    assert_eq!(error.to_string(), hint);

    let (mut peer, socket) = connection().await;
    let chunks = FramedRead::new(socket, Utf8ChunksCodec::new());
    let read = async {
        let chunks: Vec<_> = chunks.try_collect().await.unwrap();
        let bytes = |chunk: &Result<ByteString, utf8_codec::Utf8Error>| match chunk {
            Ok(text) => text.as_bytes().to_vec(),
            Err(error) => error.bytes().to_vec(),
        };
        chunks.iter().flat_map(bytes).collect::<Vec<_>>()
    };
    let write = async {
        write_in_odd_pieces(&mut peer, &garbage).await;
        drop(peer);
    };
    assert_eq!(soon(async { tokio::join!(read, write) }).await.0, garbage);

    let (mut peer, socket) = connection().await;
    let codec = Utf8Codec::new().with_error_mode(ErrorMode::Replacement);
    let read = FramedRead::new(socket, codec).try_collect::<Vec<_>>();
    let write = async {
        write_in_odd_pieces(&mut peer, &garbage).await;
        drop(peer);
    };
    let text = soon(async { tokio::join!(read, write) }).await.0.unwrap().concat();
    assert_eq!(text, String::from_utf8_lossy(&garbage));
}

#[tokio::test]
async fn an_incomplete_character_at_the_end_is_an_unexpected_eof() {
    let (mut peer, socket) = connection().await;
    peer.write_all(b"good \xF0\x9F\x98").await.unwrap();
    drop(peer);
    let mut texts = FramedRead::new(socket, Utf8Codec::new());
    assert_eq!(next(&mut texts).await.unwrap(), "good ");
    let error = next(&mut texts).await.unwrap_err();
    assert!(
        matches!(&error, CodecError::Invalid(error) if error.kind() == Utf8ErrorKind::Incomplete)
    );
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::UnexpectedEof);
    assert!(soon(texts.next()).await.is_none());

    let (mut peer, socket) = connection().await;
    peer.write_all(b"good\nbad \xF0\x9F\x98").await.unwrap();
    drop(peer);
    let mut lines = FramedRead::new(socket, Utf8LinesCodec::new());
    assert_eq!(reported(next(&mut lines).await.unwrap()), "good");
    let error = next(&mut lines).await.unwrap().unwrap_err();
    assert!(
        matches!(error, LineError::Utf8 { error, .. } if error.kind() == Utf8ErrorKind::Incomplete)
    );
    assert!(soon(lines.next()).await.is_none());
}

#[tokio::test]
async fn one_byte_packets_decode_as_one_packet() {
    let text = multilingual(20);
    let (mut peer, socket) = connection().await;
    let write = async {
        for byte in text.as_bytes() {
            peer.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
        drop(peer);
    };
    let read = FramedRead::with_capacity(socket, Utf8LinesCodec::new(), 1).try_collect::<Vec<_>>();
    let lines = soon(async { tokio::join!(write, read) }).await.1.unwrap();
    let lines: Vec<_> = lines.into_iter().map(reported).collect();
    assert_eq!(lines, text.lines().collect::<Vec<_>>());
}

#[tokio::test]
async fn an_endless_line_is_rejected_at_the_limit_and_the_next_is_delivered() {
    const LIMIT: usize = 1000;
    let (mut peer, socket) = connection().await;
    let mut lines = FramedRead::new(socket, Utf8LinesCodec::new().with_max_length(LIMIT));
    peer.write_all(&[b'x'; LIMIT]).await.unwrap();
    assert!(is_silent(&mut lines).await, "a line at the limit can still end");
    peer.write_all(b"x").await.unwrap();
    let error = next(&mut lines).await.unwrap().unwrap_err();
    assert_eq!(error, LineError::TooLong { number: 1, offset: 0, max_length: LIMIT });

    let write = async {
        for _ in 0..500 {
            peer.write_all(&[b'x'; 8192]).await.unwrap();
        }
        peer.write_all(b"\nnext\n").await.unwrap();
    };
    let read = next(&mut lines);
    let ((), line) = soon(async { tokio::join!(write, read) }).await;
    let line = line.unwrap().unwrap();
    assert_eq!((&*line.text, line.number), ("next", 2));
    let capacity = lines.read_buffer().capacity();
    assert!(capacity <= 16 * 1024, "{capacity} bytes for lines of {LIMIT}");
}
