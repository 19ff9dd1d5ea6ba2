//! Slow peers.

use std::time::Duration;

use futures::{FutureExt, SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_util::codec::{Framed, FramedRead};
use utf8_codec::Utf8ErrorKind;
use utf8_codec::codec::{CodecError, Utf8Codec, Utf8LinesCodec};
use utf8_codec::stream::{StreamError, Utf8Reader};

use crate::{as_many_as, connection, connections, counting, soon};

/// Reads until `bytes` bytes have arrived, ill-formed ones included.
async fn read_up_to(reader: &mut Utf8Reader<TcpStream>, bytes: usize) -> String {
    let mut text = String::new();
    while reader.decoder().position() as usize + reader.rest().len() < bytes {
        match reader.next_str().now_or_never() {
            Some(read) => text.push_str(read.unwrap().expect("the peer continues")),
            None => yield_now().await,
        }
    }
    text
}

#[tokio::test]
async fn incomplete_characters_on_thousands_of_sockets_hold_no_memory() {
    let many = as_many_as(2000);
    assert!(many >= 100, "this process may have too few files open for a test of many: {many}");
    let (mut peers, sockets) = connections(many).await;
    let mut readers: Vec<_> = sockets.into_iter().map(Utf8Reader::new).collect();
    let (mut good_peer, good_socket) = connection().await;
    let echo = tokio::spawn(async move {
        let mut framed = Framed::new(good_socket, Utf8LinesCodec::new());
        while let Some(line) = framed.next().await {
            framed.send(line.unwrap().unwrap()).await.unwrap();
        }
    });

    let before = counting::watch();
    let mut sent = 0;
    for character in ["é", "€", "😀"] {
        for (at, byte) in character.bytes().enumerate() {
            for peer in &mut peers {
                peer.write_all(&[byte]).await.unwrap();
            }
            sent += 1;
            let whole = at + 1 == character.len();
            for reader in &mut readers {
                let text = soon(read_up_to(reader, sent)).await;
                assert_eq!(text, if whole { character } else { "" });
                assert_eq!(reader.rest(), if whole { b"" } else { &character.as_bytes()[..=at] });
            }
            // A peer that sends is served meanwhile.
            good_peer.write_all("grüße\n".as_bytes()).await.unwrap();
            let mut answer = [0; "grüße\n".len()];
            soon(good_peer.read_exact(&mut answer)).await.unwrap();
            assert_eq!(answer, "grüße\n".as_bytes());
        }
    }
    let more = counting::most() - before;
    println!("{many} connections inside a character: {more} more bytes");
    // The echo's own buffers, and the text it is compared with.
    assert!(more <= 64 * 1024, "{more}");

    drop(good_peer);
    soon(echo).await.unwrap();
}

#[tokio::test]
async fn a_time_out_ends_a_connection_silent_inside_a_character() {
    let (mut peers, sockets) = connections(200).await;
    for (number, peer) in peers.iter_mut().enumerate() {
        peer.write_all(b"caf\xC3").await.unwrap();
        if number % 2 == 0 {
            peer.write_all(b"\xA9").await.unwrap();
            peer.shutdown().await.unwrap();
        }
    }
    let serve = |socket: TcpStream| async move {
        let mut reader = Utf8Reader::new(socket);
        let mut text = String::new();
        // The losing future is dropped, repeatedly.
        let mut patience = 5;
        while patience > 0 {
            match timeout(Duration::from_millis(10), reader.next_str()).await {
                Ok(Ok(Some(read))) => text.push_str(read),
                Ok(Ok(None)) => return Ok(text),
                Ok(Err(error)) => panic!("{error}"),
                Err(_) => patience -= 1,
            }
        }
        Err((text, reader.rest().to_vec()))
    };
    let tasks: Vec<_> = sockets.into_iter().map(|socket| tokio::spawn(serve(socket))).collect();
    for (number, task) in tasks.into_iter().enumerate() {
        let expected = match number % 2 {
            0 => Ok("café".to_owned()),
            _ => Err(("caf".to_owned(), vec![0xC3])),
        };
        assert_eq!(soon(task).await.unwrap(), expected, "connection {number}");
    }
}

#[tokio::test]
async fn time_outs_inside_a_character_lose_no_data() {
    let (mut peer, socket) = connection().await;
    let text = "né €uro 😀! ".repeat(20);
    let mut reader = Utf8Reader::new(socket);
    let mut seen = String::new();
    let mut frames = 0;
    for &byte in text.as_bytes() {
        // Cancelled before the byte arrives: no data may be lost.
        if let Some(read) = reader.next_str().now_or_never() {
            seen.push_str(read.unwrap().unwrap());
        }
        assert!(timeout(Duration::ZERO, reader.next_str()).await.is_err());
        frames += 1;
        peer.write_all(&[byte]).await.unwrap();
        seen += &soon(read_up_to(&mut reader, frames)).await;
    }
    assert_eq!(seen, text);
}

#[tokio::test]
async fn a_connection_half_closed_inside_a_character_can_be_answered() {
    let (mut peers, sockets) = connections(100).await;
    for (number, peer) in peers.iter_mut().enumerate() {
        peer.write_all(&b"good \xF0\x9F\x98"[..6 + number % 3]).await.unwrap();
        peer.shutdown().await.unwrap();
    }
    for (number, (mut peer, socket)) in peers.into_iter().zip(sockets).enumerate() {
        let (error, mut socket) = if number % 2 == 0 {
            let mut reader = Utf8Reader::new(socket);
            assert_eq!(soon(reader.next_str()).await.unwrap(), Some("good "));
            let StreamError::Utf8(error) = soon(reader.next_str()).await.unwrap_err() else {
                panic!("the bytes are at fault, not the connection");
            };
            assert_eq!(soon(reader.next_str()).await.unwrap(), None);
            (error, reader.into_inner())
        } else {
            let mut texts = FramedRead::new(socket, Utf8Codec::new());
            assert_eq!(soon(texts.next()).await.unwrap().unwrap(), "good ");
            let CodecError::Invalid(error) = soon(texts.next()).await.unwrap().unwrap_err() else {
                panic!("the bytes are at fault, not the connection");
            };
            (error, texts.into_inner())
        };
        assert_eq!((error.kind(), error.valid_up_to()), (Utf8ErrorKind::Incomplete, 5));
        assert_eq!(error.bytes(), &b"\xF0\x9F\x98"[..=number % 3]);

        socket.write_all(format!("{error}\n").as_bytes()).await.unwrap();
        drop(socket);
        let mut answer = String::new();
        soon(peer.read_to_string(&mut answer)).await.unwrap();
        assert!(answer.starts_with("invalid UTF-8 at byte 5: unexpected end"), "{answer}");
    }
}
