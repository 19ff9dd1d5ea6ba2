//! `MessageCodec` as a server and as a client, with tungstenite at the other end of a loopback socket.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_tungstenite::tungstenite::{Error, Message as Theirs};
use tokio_util::codec::Framed;
use utf8_codec::codec::MessageCodec;
use utf8_codec::websocket::Message;

type Ours = Framed<TcpStream, MessageCodec>;

async fn sockets() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

/// The codec at one end, tungstenite at the other.
async fn ends(ours: Role) -> (Ours, WebSocketStream<TcpStream>) {
    let (client, server) = sockets().await;
    let (socket, peer, codec, theirs) = match ours {
        Role::Server => (server, client, MessageCodec::server(), Role::Client),
        Role::Client => {
            (client, server, MessageCodec::client(|| *b"\x37\xFA\x21\x3D"), Role::Server)
        }
    };
    (Framed::new(socket, codec), WebSocketStream::from_raw_socket(peer, theirs, None).await)
}

/// The loop in the guide.
async fn echo(mut connection: Ours) -> io::Result<()> {
    while let Some(message) = connection.next().await {
        let answer = match message? {
            Ok(Message::Ping(payload)) => Message::Pong(payload),
            Ok(Message::Pong(_)) => continue,
            Ok(message) => message,
            Err(error) => error.into(),
        };
        let is_last = matches!(answer, Message::Close(_));
        connection.send(answer).await?;
        if is_last {
            connection.close().await?;
        }
    }
    Ok(())
}

async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(30), future).await.expect("it takes too long")
}

fn sent() -> [Theirs; 4] {
    [
        Theirs::text("žluť 👋 ".repeat(50_000)),
        Theirs::binary(vec![0xFF; 70_000]),
        Theirs::text(""),
        Theirs::text("é".repeat(63)),
    ]
}

#[tokio::test]
async fn messages_of_tungstenite_are_echoed_and_the_close_handshake_ends_both() {
    for role in [Role::Server, Role::Client] {
        let (ours, mut theirs) = ends(role).await;
        let echo = tokio::spawn(echo(ours));
        for message in sent() {
            soon(theirs.send(message.clone())).await.unwrap();
            assert_eq!(soon(theirs.next()).await.unwrap().unwrap(), message);
        }
        soon(theirs.send(Theirs::Ping(b"?"[..].into()))).await.unwrap();
        assert_eq!(soon(theirs.next()).await.unwrap().unwrap(), Theirs::Pong(b"?"[..].into()));
        let close = CloseFrame { code: CloseCode::Normal, reason: "bye".into() };
        soon(theirs.close(Some(close.clone()))).await.unwrap();
        assert_eq!(soon(theirs.next()).await.unwrap().unwrap(), Theirs::Close(Some(close)));
        assert!(soon(theirs.next()).await.is_none());
        drop(theirs);
        soon(echo).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn tungstenite_accepts_what_the_codec_sends_and_answers_its_close_frame() {
    for role in [Role::Server, Role::Client] {
        let (mut ours, mut theirs) = ends(role).await;
        let peer = tokio::spawn(async move {
            let mut received = Vec::new();
            while let Some(message) = theirs.next().await {
                match message {
                    Ok(message) => received.push(message),
                    Err(Error::ConnectionClosed) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            received
        });
        let close = Message::Close(Some((4000, "žluť".into())));
        for message in [
            Message::Text("žluť 👋 ".repeat(50_000).into()),
            Message::Binary(vec![0xFF; 70_000].into()),
            Message::Text("".into()),
            Message::Text("é".repeat(63).into()),
            close.clone(),
        ] {
            soon(ours.send(message)).await.unwrap();
        }
        assert_eq!(soon(ours.next()).await.unwrap().unwrap(), Ok(close));
        soon(ours.close()).await.unwrap();
        assert!(soon(ours.next()).await.is_none());
        drop(ours);
        let received = soon(peer).await.unwrap();
        assert_eq!(received[..4], sent());
        assert!(matches!(&received[4], Theirs::Close(Some(frame)) if frame.reason == "žluť"));
    }
}

#[tokio::test]
async fn an_ill_formed_text_is_answered_with_1007() {
    let (mut ours, mut theirs) = ends(Role::Client).await;
    let echo = tokio::spawn(async move {
        let error = ours.next().await.unwrap().unwrap().unwrap_err();
        ours.send(error.into()).await.unwrap();
        ours.close().await.unwrap();
        ours.next().await.is_none()
    });
    let frame = Frame::message(b"caf\xE9!".to_vec(), OpCode::Data(Data::Text), true);
    soon(theirs.send(Theirs::Frame(frame))).await.unwrap();
    let Theirs::Close(Some(close)) = soon(theirs.next()).await.unwrap().unwrap() else { panic!() };
    assert_eq!(u16::from(close.code), 1007);
    assert_eq!(close.reason, "invalid UTF-8 at byte 3: truncated character (e9, followed by 21)");
    while theirs.next().await.is_some_and(|end| end.is_ok()) {}
    drop(theirs);
    assert!(soon(echo).await.unwrap());
}

/// RFC 6455, section 7.1.1: a socket that is closed with unread bytes resets the connection, and the close frame is lost.
#[tokio::test]
async fn a_peer_that_keeps_sending_receives_the_close_frame_and_is_disconnected_at_the_limit() {
    const CLOSE: [u8; 6] = [0x88, 0x80, 0, 0, 0, 0];
    for (len, is_cut_off) in [(900_000, false), (4 << 20, true)] {
        let (mut peer, server) = sockets().await;
        let echo = tokio::spawn(echo(Framed::new(server, MessageCodec::server())));
        soon(peer.write_all(&CLOSE)).await.unwrap();
        // The close frame arrives while the peer is still sending.
        let mut answer = [0; 2];
        soon(peer.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer, [0x88, 0]);
        let sent = soon(peer.write_all(&vec![0xFF; len])).await;
        if !is_cut_off {
            sent.unwrap();
            soon(peer.shutdown()).await.unwrap();
            assert_eq!(soon(peer.read(&mut answer)).await.unwrap(), 0, "no reset");
        }
        assert_eq!(soon(echo).await.unwrap().is_err(), is_cut_off);
    }
}
