//! Slow peers: those that send slowly, and those that do not read what they receive.

use std::time::Duration;

use bytestring::ByteString;
use futures::{FutureExt, SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_util::codec::{Framed, FramedRead};
use utf8_codec::Utf8ErrorKind;
use utf8_codec::codec::{CodecError, Utf8Codec, Utf8LinesCodec};
use utf8_codec::stream::{StreamError, Utf8Reader, Utf8Writer};

use crate::{as_many_as, connection, connections, counting, multilingual, soon};

// ---- peers that send slowly -----------------------------------------------------------------------

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

// ---- peers that do not read -----------------------------------------------------------------------

/// More than the buffers of two sockets can hold.
const FAR_TOO_MUCH: usize = 256 << 20;

/// A write that is pending for this long waits for the peer.
const STUCK: Duration = Duration::from_millis(100);

/// Writes `text` repeatedly until the peer's buffers are full. Returns the number of bytes taken, and
/// the writer. A text whose future was dropped has not been taken.
async fn write_until_stuck<W: AsyncWrite + Unpin>(
    mut writer: Utf8Writer<W>,
    text: &str,
) -> (usize, Utf8Writer<W>) {
    let mut taken = 0;
    while timeout(STUCK, writer.write_str(text)).await.is_ok_and(|written| {
        written.unwrap();
        true
    }) {
        taken += text.len();
        assert!(taken < FAR_TOO_MUCH, "the writer is never blocked");
        assert!(writer.unwritten_len() <= 8192 + text.len());
    }
    (taken, writer)
}

/// Reads exactly `bytes` bytes of repeated `text`.
async fn read_all(socket: &mut TcpStream, text: &str, bytes: usize) {
    let mut buffer = vec![0; text.len()];
    for _ in 0..bytes / text.len() {
        soon(socket.read_exact(&mut buffer)).await.unwrap();
        assert!(buffer == text.as_bytes());
    }
}

#[tokio::test]
async fn a_writer_with_a_stalled_peer_waits_with_little_memory() {
    let text = multilingual(4000);
    let (mut peer, socket) = connection().await;
    let before = counting::watch();
    let (taken, mut writer) = write_until_stuck(Utf8Writer::new(socket), &text).await;
    let more = counting::most() - before;
    println!("{taken} bytes on the way, {more} bytes of memory");
    assert!(more <= 64 * 1024, "{more}");
    assert!(writer.unwritten_len() > 0 && taken > 0);

    // Once the peer reads, it receives exactly what was taken.
    let end = async {
        writer.close().await.unwrap();
        drop(writer);
    };
    let read = async {
        read_all(&mut peer, &text, taken).await;
        assert_eq!(peer.read(&mut [0; 1]).await.unwrap(), 0);
    };
    soon(futures::future::join(end, read)).await;
    assert!(counting::held() - before <= 8192, "{}", counting::held() - before);
}

#[tokio::test]
async fn two_writers_that_do_not_read_lose_no_data() {
    let text = multilingual(4000);
    let (near, far) = connection().await;
    let before = counting::watch();
    let writes = futures::future::join(
        write_until_stuck(Utf8Writer::new(near), &text),
        write_until_stuck(Utf8Writer::new(far), &text),
    );
    let ((near_taken, mut near), (far_taken, mut far)) = soon(writes).await;
    let more = counting::most() - before;
    assert!(more <= 128 * 1024, "{more}");

    // Both write what they hold and read at the same time, each in one task.
    async fn both(writer: &mut Utf8Writer<TcpStream>, text: &str, bytes: usize) {
        let mut seen = 0;
        let mut buffer = vec![0; 8192];
        while seen < bytes || writer.unwritten_len() > 0 {
            if let Some(flushed) = writer.flush().now_or_never() {
                flushed.unwrap();
            }
            match writer.get_mut().try_read(&mut buffer) {
                Ok(read) => {
                    assert!(read > 0);
                    for byte in &buffer[..read] {
                        assert_eq!(*byte, text.as_bytes()[seen % text.len()]);
                        seen += 1;
                    }
                }
                Err(error) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
                    tokio::task::yield_now().await;
                }
            }
        }
        assert_eq!(seen, bytes);
    }
    soon(futures::future::join(
        both(&mut near, &text, far_taken),
        both(&mut far, &text, near_taken),
    ))
    .await;
}

#[tokio::test]
async fn an_echo_with_a_stalled_peer_stops_reading_and_serves_others() {
    let text = multilingual(1 << 16);
    let (peers, sockets) = connections(3).await;
    let before = counting::watch();
    let tasks: Vec<_> = sockets
        .into_iter()
        .map(|socket| {
            tokio::spawn(async move {
                let (sink, texts) = Framed::new(socket, Utf8Codec::new()).split::<ByteString>();
                texts.forward(sink).await
            })
        })
        .collect();
    let [deaf, mut good, mut gone]: [TcpStream; 3] = peers.try_into().unwrap();

    // One peer writes until both directions are full.
    let mut sent = 0;
    while timeout(STUCK, deaf.writable()).await.is_ok() {
        match deaf.try_write(&text.as_bytes()[sent % text.len()..]) {
            Ok(written) => sent += written,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
        assert!(sent < FAR_TOO_MUCH, "the peer is never blocked");
    }
    let more = counting::most() - before;
    println!("{sent} bytes on the way, {more} bytes of memory");
    assert!(more <= 256 * 1024, "{more}");

    // A second is served normally; a third disconnects meanwhile.
    good.write_all("grüß dich".as_bytes()).await.unwrap();
    let mut answer = [0; "grüß dich".len()];
    soon(good.read_exact(&mut answer)).await.unwrap();
    assert_eq!(answer, "grüß dich".as_bytes());
    gone.write_all(b"half \xE2\x82").await.unwrap();
    gone.set_zero_linger().unwrap();
    drop((good, gone));

    // Then the first peer reads and receives every byte that was sent, including the last character.
    let rest = &text.as_bytes()[sent % text.len()..];
    let (mut read_half, mut write_half) = deaf.into_split();
    let write = async {
        write_half.write_all(rest).await.unwrap();
        drop(write_half);
    };
    let read = async {
        let mut reader = Utf8Reader::new(&mut read_half);
        let mut seen = 0;
        while let Some(piece) = reader.next_str().await.unwrap() {
            for byte in piece.bytes() {
                assert_eq!(byte, text.as_bytes()[seen % text.len()]);
                seen += 1;
            }
        }
        seen
    };
    let ((), seen) = soon(futures::future::join(write, read)).await;
    assert_eq!(seen, sent + rest.len());
    for (number, task) in tasks.into_iter().enumerate() {
        let ended = soon(task).await.unwrap();
        assert_eq!(ended.is_ok(), number != 2, "{ended:?}");
    }
}
