//! Peers that do not read what they receive.

use std::time::Duration;

use bytestring::ByteString;
use futures::{FutureExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::codec::Framed;
use utf8_codec::codec::Utf8Codec;
use utf8_codec::stream::{Utf8Reader, Utf8Writer};

use crate::{connection, connections, counting, multilingual, soon};

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
