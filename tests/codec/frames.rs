//! `Utf8FramesCodec` over codecs of bytes, and `DecimalFrames`; `MessageCodec`: messages at every pair of cuts, the end of a
//! connection, and the messages that it does not send.

use std::fmt::Debug;

use tokio_util::codec::LengthDelimitedCodec;
use utf8_codec::codec::{DecimalFrames, MessageCodec, Utf8FramesCodec};
use utf8_codec::websocket::{FrameHeader, Message, MessageError, Opcode, encode_close};

use super::*;

/// The frames of each test: text, a frame that is ill-formed, one that ends inside a character, an empty one.
const FRAMES: [&[u8]; 5] = ["žluť 👋".as_bytes(), b"a\xFFb", b"x\xE2\x82", b"", b"end"];

fn framings() -> [DecimalFrames; 3] {
    [DecimalFrames::octet_counting(), DecimalFrames::netstrings(), DecimalFrames::content_length()]
}

fn shown(items: impl IntoIterator<Item = Result<ByteString, Utf8Error>>) -> Vec<String> {
    let shown = items.into_iter().map(|item| match item {
        Ok(text) => text.to_string(),
        Err(error) => format!("{}: {:02x?}", error.valid_up_to(), error.bytes()),
    });
    shown.collect()
}

fn expected() -> [&'static str; 5] {
    ["žluť 👋", "1: [ff]", "1: [e2, 82]", "", "end"]
}

#[test]
fn frames_of_four_protocols_become_text_at_any_split() {
    framings().into_iter().for_each(check_pairs_of_cuts);
    check_pairs_of_cuts(LengthDelimitedCodec::new());
}

/// Cuts the encoded `FRAMES` at every pair of offsets.
fn check_pairs_of_cuts<C>(mut frames: C)
where
    C: Decoder<Item: Into<Bytes>, Error = io::Error>
        + Encoder<Bytes, Error = io::Error>
        + Clone
        + Debug,
{
    let mut bytes = BytesMut::new();
    for frame in FRAMES {
        frames.encode(Bytes::from_static(frame), &mut bytes).unwrap();
    }
    for first in 0..=bytes.len() {
        for second in first..=bytes.len() {
            let mut codec = Utf8FramesCodec::new(frames.clone());
            let (mut buffer, mut items) = (BytesMut::new(), Vec::new());
            for chunk in [&bytes[..first], &bytes[first..second], &bytes[second..]] {
                buffer.extend_from_slice(chunk);
                while let Some(item) = codec.decode(&mut buffer).unwrap() {
                    items.push(item);
                }
            }
            assert!(codec.decode_eof(&mut buffer).unwrap().is_none());
            assert_eq!(shown(items), expected(), "{frames:?} {first} {second}");
        }
    }
}

#[test]
fn a_lossy_mode_repairs_each_frame_for_itself() {
    for (mode, whole) in [
        (ErrorMode::Replacement, ["a\u{FFFD}b", "x\u{FFFD}"]),
        (ErrorMode::Skip, ["ab", "x"]),
        (ErrorMode::Escape, ["a\\xffb", "x\\xe2\\x82"]),
    ] {
        let mut codec = Utf8FramesCodec::new(DecimalFrames::netstrings()).with_error_mode(mode);
        let mut buffer = BytesMut::from(&b"3:a\xFFb,3:x\xE2\x82,"[..]);
        for text in whole {
            assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), text);
        }
        assert_eq!(codec.error_count(), 2);
    }
    // A frame that is an error counts once, whatever follows.
    let mut codec = Utf8FramesCodec::new(DecimalFrames::netstrings());
    let mut buffer = BytesMut::from(&b"3:\xFFa\xFF,2:ok,"[..]);
    assert!(codec.decode(&mut buffer).unwrap().unwrap().is_err());
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "ok");
    assert_eq!(codec.error_count(), 1);
}

#[test]
fn text_is_encoded_as_a_frame() {
    let mut codec = Utf8FramesCodec::new(DecimalFrames::netstrings());
    let mut buffer = BytesMut::new();
    codec.encode("é", &mut buffer).unwrap();
    codec.encode(ByteString::from("b"), &mut buffer).unwrap();
    assert_eq!(buffer, "2:é,1:b,");
}

#[test]
fn options_apply_to_each_frame() {
    let options = Utf8Options::new().with_bom(BomPolicy::Strip).reject_nul();
    let mut codec = Utf8FramesCodec::new(DecimalFrames::octet_counting()).with_options(options);
    let mut buffer = BytesMut::from(&b"4 \xEF\xBB\xBFa4 \xEF\xBB\xBFb1 \0"[..]);
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "a");
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "b");
    assert!(codec.decode(&mut buffer).unwrap().unwrap().is_err());
}

#[test]
fn the_text_of_a_clean_frame_is_not_copied() {
    let mut codec = Utf8FramesCodec::new(DecimalFrames::octet_counting());
    let (mut buffer, start) = read_buffer(b"5 clean");
    let text = codec.decode(&mut buffer).unwrap().unwrap().unwrap();
    assert_eq!((&*text, place(&text)), ("clean", start + 2));
}

#[test]
fn the_text_of_a_frame_is_not_copied_if_its_incomplete_end_is_skipped() {
    let frames = DecimalFrames::octet_counting();
    let mut codec = Utf8FramesCodec::new(frames).with_error_mode(ErrorMode::Skip);
    let (mut buffer, start) = read_buffer(b"7 clean\xE2\x82");
    let text = codec.decode(&mut buffer).unwrap().unwrap().unwrap();
    assert_eq!((&*text, place(&text)), ("clean", start + 2));
}

#[test]
fn a_malformed_length_is_an_error_before_the_frame_is_buffered() {
    let headers = |framing: &DecimalFrames, header: &[u8]| {
        let mut buffer = BytesMut::from(header);
        framing.clone().with_max_length(1000).decode(&mut buffer).map_err(|error| {
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            error.to_string()
        })
    };
    let too_long = Err("a frame of 1001 bytes is longer than 1000 bytes".to_owned());
    let [octets, netstrings, content_length] = framings();
    assert_eq!(headers(&octets, b"1001 "), too_long);
    assert_eq!(headers(&netstrings, b"1001:"), too_long);
    assert_eq!(headers(&content_length, b"Content-Length: 1001\r\n\r\n"), too_long);
    for (framing, malformed) in [
        (&octets, &b"+5 hello"[..]),
        (&octets, b" hello"),
        (&octets, b"5x hello"),
        (&octets, b"99999999999999999999999 "),
        (&octets, b"05 hello"),
        (&netstrings, b"00001:a,"),
        (&netstrings, b"1:ab"),
        (&content_length, b"Content-Type: a\r\n\r\n"),
        (&content_length, b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        (&content_length, b"Content-Length\r\n\r\n"),
        (&content_length, b"X: a\nContent-Length: 2\r\n\r\nok"),
        (&content_length, b"X: a\rContent-Length: 2\r\n\r\nok"),
    ] {
        assert!(headers(framing, malformed).is_err(), "{malformed:?}");
    }
    assert!(headers(&content_length, &[b'a'; 4096]).is_err(), "an endless header");
    assert_eq!(headers(&content_length, &[b'a'; 4095]), Ok(None));
    let digits = usize::MAX.to_string().len();
    assert!(headers(&octets, &vec![b'1'; digits + 1]).is_err(), "an endless number");
    assert_eq!(headers(&octets, &vec![b'1'; digits]), Ok(None));
    for framing in framings() {
        let mut frame = BytesMut::new();
        framing.clone().encode("a".repeat(1000), &mut frame).unwrap();
        assert_eq!(headers(&framing, &frame).unwrap().unwrap(), "a".repeat(1000));
        let mut largest = BytesMut::new();
        framing.clone().encode(vec![b'a'; 1 << 20], &mut largest).unwrap();
        assert_eq!(framing.clone().decode(&mut largest).unwrap().unwrap().len(), 1 << 20);
        let mut too_long = BytesMut::new();
        framing.clone().encode(vec![b'a'; (1 << 20) + 1], &mut too_long).unwrap();
        assert!(framing.clone().decode(&mut too_long).is_err());
    }
    assert_eq!(
        headers(&content_length, b"content-length:2\r\nX: y\r\n\r\nok"),
        Ok(Some("ok".into()))
    );
    assert_eq!(headers(&octets, b"12"), Ok(None));
    let largest = format!("{}:", usize::MAX);
    let expected = format!("a frame of {} bytes is longer than 1000 bytes", usize::MAX);
    assert_eq!(headers(&netstrings, largest.as_bytes()), Err(expected));
    assert_eq!(headers(&octets, b"0 "), Ok(Some("".into())));
}

#[test]
fn a_header_is_parsed_once_however_its_frame_arrives() {
    for mut framing in framings() {
        let mut whole = BytesMut::new();
        framing.encode("hello", &mut whole).unwrap();
        let header = whole.windows(5).position(|bytes| bytes == b"hello").unwrap();
        let mut buffer = whole.split_to(header);
        assert!(framing.decode(&mut buffer).unwrap().is_none() && buffer.is_empty());
        // A clone continues with the same frame, and an end inside it is an error once.
        let mut ended = framing.clone();
        assert_eq!(ended.decode_eof(&mut buffer).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert!(ended.decode_eof(&mut buffer).unwrap().is_none());
        buffer.extend_from_slice(&whole);
        assert_eq!(framing.decode(&mut buffer).unwrap().unwrap(), "hello");
        assert!(buffer.is_empty());
    }
}

#[test]
fn a_stream_that_ends_inside_a_frame_is_an_error() {
    for framing in framings() {
        let mut whole = BytesMut::new();
        Encoder::<&str>::encode(&mut framing.clone(), "hello", &mut whole).unwrap();
        for len in 0..=whole.len() {
            let mut buffer = BytesMut::from(&whole[..len]);
            let result = framing.clone().decode_eof(&mut buffer);
            match len {
                0 => assert!(matches!(result, Ok(None))),
                _ if len == whole.len() => assert_eq!(result.unwrap().unwrap(), "hello"),
                _ => assert_eq!(result.unwrap_err().kind(), io::ErrorKind::UnexpectedEof),
            }
            assert!(buffer.is_empty());
        }
    }
}

#[test]
fn a_malformed_length_is_the_same_error_after_the_same_frames_at_any_split() {
    let [octets, netstrings, content_length] = framings();
    for (framing, bytes) in [
        (&octets, &b"2 \xC3\xA9+5 hello"[..]),
        (&octets, b"2 \xC3\xA91001 "),
        (&octets, b"2 \xC3\xA9a line of syslog without a length"),
        (&netstrings, b"2:\xC3\xA9,1:ab"),
        (&netstrings, b"2:\xC3\xA9,,:"),
        (&content_length, b"Content-Length: 2\r\n\r\n\xC3\xA9X: y\r\n\r\n"),
        (&content_length, b"Content-Length: 2\r\n\r\n\xC3\xA9Content-Length: -1\r\n\r\n"),
    ] {
        let outcome = |chunks: &[&[u8]]| {
            let mut codec = Utf8FramesCodec::new(framing.clone().with_max_length(1000));
            let (mut buffer, mut items) = (BytesMut::new(), Vec::new());
            for chunk in chunks {
                buffer.extend_from_slice(chunk);
                loop {
                    match codec.decode(&mut buffer) {
                        Ok(Some(item)) => items.push(item),
                        Ok(None) => break,
                        Err(error) => return (shown(items), error.to_string()),
                    }
                }
            }
            panic!("no error in {bytes:?}");
        };
        let whole = outcome(&[bytes]);
        assert_eq!(whole.0, ["é"]);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let cut = [&bytes[..first], &bytes[first..second], b"", &bytes[second..]];
                assert_eq!(outcome(&cut), whole, "{framing:?} {first} {second}");
            }
        }
    }
}

#[test]
fn a_stream_that_ends_inside_a_frame_is_an_error_after_the_whole_frames() {
    for mut framing in framings() {
        let (mut bytes, mut ends) = (BytesMut::new(), vec![0]);
        for frame in FRAMES {
            framing.encode(frame, &mut bytes).unwrap();
            ends.push(bytes.len());
        }
        for len in 0..=bytes.len() {
            let mut codec = Utf8FramesCodec::new(framing.clone());
            let (mut buffer, mut items) = (BytesMut::from(&bytes[..len]), Vec::new());
            let end = loop {
                match codec.decode_eof(&mut buffer) {
                    Ok(Some(item)) => items.push(item),
                    end => break end,
                }
            };
            let whole = ends.iter().filter(|&&end| end > 0 && end <= len).count();
            assert_eq!(shown(items), expected()[..whole], "{framing:?} {len}");
            assert_eq!(end.is_ok(), ends.contains(&len), "{framing:?} {len}");
        }
    }
}

#[test]
fn without_a_limit_the_longest_length_that_a_peer_can_announce_waits_for_more() {
    let [octets, netstrings, content_length] = framings();
    for (framing, bytes) in [
        (&octets, b"9999999999999999999 x".to_vec()),
        (&netstrings, b"9999999999999999999:x".to_vec()),
        (&content_length, format!("Content-Length: {}\r\n\r\nx", usize::MAX).into_bytes()),
    ] {
        let mut buffer = BytesMut::from(&bytes[..]);
        match framing.clone().with_max_length(usize::MAX).decode(&mut buffer) {
            Ok(frame) => {
                assert_eq!(frame, None);
                assert_eq!(buffer, "x"); // without the header
            }
            // A length that does not fit in a `usize`.
            Err(_) => assert_eq!(buffer, bytes),
        }
    }
}

/// Sends `FRAMES` through a pipe of seven bytes, and returns the items of `codec`.
async fn through_a_pipe<C, E>(frames: E, codec: C) -> Vec<String>
where
    C: Decoder<Item = Result<ByteString, Utf8Error>, Error = io::Error>,
    E: Encoder<Bytes, Error = io::Error>,
{
    let (sender, receiver) = tokio::io::duplex(7);
    let send = async {
        let mut sink = FramedWrite::new(sender, frames);
        for frame in FRAMES {
            sink.send(Bytes::from_static(frame)).await.unwrap();
        }
        sink.close().await.unwrap();
    };
    let receive = FramedRead::new(receiver, codec).try_collect::<Vec<_>>();
    let ((), items) = tokio::join!(send, receive);
    shown(items.unwrap())
}

#[tokio::test]
async fn frames_of_four_protocols_become_text_through_pipes() {
    for framing in framings() {
        assert_eq!(
            through_a_pipe(framing.clone(), Utf8FramesCodec::new(framing)).await,
            expected()
        );
    }
    let lengths = LengthDelimitedCodec::new();
    assert_eq!(through_a_pipe(lengths.clone(), Utf8FramesCodec::new(lengths)).await, expected());
}

// ---- `MessageCodec` -----------------------------------------------------------------------------

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

#[test]
fn limits_and_options_apply_to_received_messages() {
    let text = |payload: &[u8]| frame(MASK, Opcode::Text, true, payload);
    let codec = || MessageCodec::server().with_max_length(3);
    assert_eq!(items(codec(), &[&text(b"abc")]), (vec![Ok(Message::Text("abc".into()))], None));
    let (long, ended) = items(codec(), &[&text(b"abcd")]);
    assert!(matches!(long[..], [Err(MessageError::TooLong { .. })]), "{long:?}");
    assert_eq!(ended, None);
    let codec = MessageCodec::server().with_options(Utf8Options::new().reject_nul());
    let (rejected, _) = items(codec, &[&text(b"\0")]);
    assert!(matches!(rejected[..], [Err(MessageError::Utf8(_))]), "{rejected:?}");
}

#[test]
fn an_end_after_a_control_frame_is_one_inside_a_message_only_between_its_frames() {
    let begin = frame(MASK, Opcode::Text, false, b"a");
    let ping = frame(MASK, Opcode::Ping, true, b"?");
    let pinged = || vec![Ok(Message::Ping(b"?"[..].into()))];
    let unexpected = Some(io::ErrorKind::UnexpectedEof);
    assert_eq!(items(MessageCodec::server(), &[&begin, &ping]), (pinged(), unexpected));
    assert_eq!(items(MessageCodec::server(), &[&ping]), (pinged(), None));
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

/// The offsets of the errors that are items of a server's codec, and its first error that is none.
fn rejections<'a>(
    chunks: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Option<u64>>, Option<io::ErrorKind>) {
    let (mut codec, mut buffer) = (MessageCodec::server(), BytesMut::new());
    let mut offsets = Vec::new();
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        loop {
            match codec.decode(&mut buffer) {
                Ok(Some(item)) => offsets.push(item.unwrap_err().offset()),
                Ok(None) => break,
                Err(error) => return (offsets, Some(error.kind())),
            }
        }
    }
    (offsets, None)
}

#[test]
fn what_follows_ill_formed_text_is_discarded_up_to_the_same_limit_at_any_split() {
    for (len, error) in [(1 << 20, None), ((1 << 20) + 1, Some(io::ErrorKind::Other))] {
        let payload = [&b"ok"[..], &vec![0xFF; len]].concat();
        let bytes = frame(MASK, Opcode::Text, true, &payload);
        for size in [4096, 100_000, bytes.len()] {
            assert_eq!(rejections(bytes.chunks(size)), (vec![Some(2)], error), "{size}");
        }
    }
}

#[test]
fn what_follows_a_close_frame_with_an_error_is_discarded_up_to_the_same_limit_at_any_split() {
    // The code, then the reason. All after the first bytes of `close` is discarded.
    for (close, decided, offset) in
        [(&[3, 0xEE][..], 2, None), (&[3, 0xE8, b'a', 0xFF], 3, Some(1))]
    {
        let payload = [close, &[b'x'; 121]].concat();
        let close_frame = frame(MASK, Opcode::Close, true, &payload);
        for (extra, error) in [(0, None), (1, Some(io::ErrorKind::Other))] {
            let rest = vec![0; (1 << 20) - (payload.len() - decided) + extra];
            let bytes = [&close_frame[..], &rest].concat();
            for size in [1, 2, 50, bytes.len()] {
                let (start, rest) = bytes.split_at(close_frame.len());
                let found = rejections(start.chunks(size).chain([rest]));
                assert_eq!(found, (vec![offset], error), "{close:?} {size}");
            }
        }
    }
}

#[test]
fn what_follows_a_character_that_the_end_cuts_off_is_discarded_up_to_the_same_limit() {
    // Of the bytes that are discarded, these have arrived with the message.
    for (opcode, payload, ill_formed, offset) in
        [(Opcode::Text, &b"ok\xE2\x82"[..], 2, 2), (Opcode::Close, b"\x03\xE8a\xE2", 1, 1)]
    {
        let start = frame(MASK, opcode, true, payload);
        for (extra, error) in [(0, None), (1, Some(io::ErrorKind::Other))] {
            let rest = vec![0; (1 << 20) - ill_formed + extra];
            for size in [1, 3, start.len()] {
                let found = rejections(start.chunks(size).chain([&rest[..]]));
                assert_eq!(found, (vec![Some(offset)], error), "{opcode:?} {size}");
            }
        }
    }
}

#[test]
fn an_ill_formed_close_reason_after_a_long_fragment_discards_nothing() {
    let mut close = encode_close(1000, "bye").unwrap().to_vec();
    close[4] = 0xFF;
    let fragment = frame(MASK, Opcode::Binary, false, &vec![0; 2 << 20]);
    let bytes = [fragment, frame(MASK, Opcode::Close, true, &close)].concat();
    for cut in bytes.len() - 10..=bytes.len() {
        let (found, error) = items(MessageCodec::server(), &[&bytes[..cut], &bytes[cut..]]);
        assert!(matches!(found[..], [Err(MessageError::Reason(_))]), "{found:?}");
        assert_eq!(error, None);
    }
}
