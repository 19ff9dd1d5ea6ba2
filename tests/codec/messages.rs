//! `MessageCodec`: messages at every pair of cuts, the end of a connection, and the messages that it does not send.

use utf8_codec::codec::MessageCodec;
use utf8_codec::websocket::{FrameHeader, Message, MessageError, Opcode, encode_close};

use super::*;

type Item = Result<Message, MessageError>;

/// The mask of the frames of a client. A server does not mask.
const MASK: Option<[u8; 4]> = Some(*b"\x37\xFA\x21\x3D");

fn frame(mask: Option<[u8; 4]>, opcode: Opcode, fin: bool, payload: &[u8]) -> Vec<u8> {
    let header = FrameHeader::new(opcode, fin, mask, payload.len() as u64).unwrap();
    let key = mask.unwrap_or_default().into_iter().cycle();
    let masked: Vec<u8> = payload.iter().zip(key).map(|(byte, key)| byte ^ key).collect();
    [header.encode(&mut [0; FrameHeader::MAX_LENGTH]), &masked].concat()
}

/// The items of `codec`, and the error at the end.
fn items(mut codec: MessageCodec, chunks: &[&[u8]]) -> (Vec<Item>, Option<io::ErrorKind>) {
    let (mut buffer, mut items) = (BytesMut::new(), Vec::new());
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        while let Some(item) = codec.decode(&mut buffer).unwrap() {
            items.push(item);
        }
    }
    loop {
        match codec.decode_eof(&mut buffer) {
            Ok(Some(item)) => items.push(item),
            Ok(None) => return (items, None),
            Err(error) => {
                assert!(codec.decode_eof(&mut buffer).unwrap().is_none());
                return (items, Some(error.kind()));
            }
        }
    }
}

#[test]
fn messages_are_the_same_at_every_pair_of_cuts() {
    let server = || MessageCodec::server();
    let client = || MessageCodec::client(|| [0; 4]);
    messages_are_the_same(server, MASK, None);
    messages_are_the_same(client, None, MASK);
}

/// The peer of `codec` masks with `mask`. A frame masked with `other` is an error.
fn messages_are_the_same(
    codec: impl Fn() -> MessageCodec,
    mask: Option<[u8; 4]>,
    other: Option<[u8; 4]>,
) {
    let text = || Ok(Message::Text("žluť 👋".into()));
    let frame = |opcode, fin, payload: &[u8]| frame(mask, opcode, fin, payload);
    let close = encode_close(1000, "bye").unwrap();
    let begin = [
        frame(Opcode::Text, true, "žluť 👋".as_bytes()),
        frame(Opcode::Text, false, b"\xC5"),
        frame(Opcode::Ping, true, b"?"),
        frame(Opcode::Continuation, false, b""),
        frame(Opcode::Continuation, true, "\u{17E}luť 👋".as_bytes().split_at(1).1),
    ]
    .concat();
    let begun = vec![text(), Ok(Message::Ping(b"?"[..].into())), text()];
    let ill_formed = frame(Opcode::Text, true, b"a\xFFbcd");
    let half_of_a_header = frame(Opcode::Text, true, b"")[..1].to_vec();
    for (end, last, failure) in [
        (vec![], None, None),
        ([frame(Opcode::Close, true, &close), b"\xFF more".to_vec()].concat(), Some("close"), None),
        (frame(Opcode::Binary, false, b"x"), None, Some(io::ErrorKind::UnexpectedEof)),
        (half_of_a_header, None, Some(io::ErrorKind::UnexpectedEof)),
        (ill_formed[..ill_formed.len() - 3].to_vec(), Some("1007"), None),
        ([self::frame(other, Opcode::Text, true, b"a"), vec![0; 9]].concat(), Some("1002"), None),
    ] {
        let bytes = [&begin[..], &end].concat();
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let cut = [&bytes[..first], b"", &bytes[first..second], &bytes[second..]];
                let (mut found, error) = items(codec(), &cut);
                if let Some(last) = last {
                    let shown = match found.pop().unwrap() {
                        Ok(Message::Close(Some((1000, reason)))) if reason == "bye" => {
                            "close".to_owned()
                        }
                        Ok(message) => panic!("{message:?}"),
                        Err(error) => error.close_code().to_string(),
                    };
                    assert_eq!(shown, last, "{first} {second}");
                }
                assert_eq!((found, error), (begun.clone(), failure), "{first} {second}");
            }
        }
    }
}

#[test]
fn what_follows_the_last_item_is_discarded_up_to_a_limit() {
    let (mut codec, mut buffer) = (MessageCodec::server(), BytesMut::new());
    buffer.extend_from_slice(&frame(MASK, Opcode::Close, true, b""));
    assert_eq!(codec.decode(&mut buffer).unwrap(), Some(Ok(Message::Close(None))));
    for _ in 0..16 {
        buffer.resize(1 << 16, 0xFF);
        assert!(codec.decode(&mut buffer).unwrap().is_none() && buffer.is_empty());
    }
    buffer.extend_from_slice(b"x");
    assert!(codec.decode(&mut buffer).is_err());
}

#[test]
fn messages_of_a_client_are_masked_and_nothing_follows_a_close_frame() {
    let (mut client, mut server) =
        (MessageCodec::client(|| *b"mask"), MessageCodec::server().with_max_length(200_000));
    let mut bytes = BytesMut::new();
    let long = "é".repeat(70_000);
    let sent = [
        Message::Text(long.into()),
        Message::Binary(vec![0; 126].into()),
        Message::Pong(b"!"[..].into()),
        MessageError::ReservedBits.into(),
    ];
    for message in &sent {
        client.encode(message.clone(), &mut bytes).unwrap();
    }
    assert!(!bytes.windows(2).any(|pair| pair == "é".as_bytes()));
    let len = bytes.len();
    client.encode(Message::Close(None), &mut bytes).unwrap();
    let error = client.encode(Message::Text("late".into()), &mut bytes).unwrap_err();
    assert_eq!((error.kind(), bytes.len()), (io::ErrorKind::BrokenPipe, len));
    for message in sent {
        assert_eq!(server.decode(&mut bytes).unwrap(), Some(Ok(message)));
    }

    let mut bytes = BytesMut::new();
    for message in [Message::Close(Some((1005, "".into()))), Message::Ping(vec![0; 126].into())] {
        let error = server.encode(message, &mut bytes).unwrap_err();
        assert_eq!((error.kind(), bytes.len()), (io::ErrorKind::InvalidInput, 0));
    }
    server.encode(Message::Text("a".into()), &mut bytes).unwrap();
    assert_eq!(bytes, b"\x81\x01a"[..]);
}
