//! `FrameHeader` against RFC 6455 section 5.2: every pair of first bytes, every cut, both roles.

use utf8_codec::websocket::{
    FrameHeader, Message, MessageAssembler, MessageError, Opcode, parse_close,
};

/// A side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

const SENDERS: [Option<Role>; 3] = [None, Some(Role::Client), Some(Role::Server)];

type Parsed = Result<Option<(FrameHeader, usize)>, MessageError>;

fn parse(sender: Option<Role>, bytes: &[u8]) -> Parsed {
    match sender {
        Some(Role::Client) => FrameHeader::parse_from_client(bytes),
        Some(Role::Server) => FrameHeader::parse_from_server(bytes),
        None => FrameHeader::parse(bytes),
    }
}

/// The fields of a header of at least 14 bytes, read one after the other: FIN, opcode, mask, payload length, and
/// its own length.
type Fields = (bool, u8, Option<[u8; 4]>, u64, usize);

/// What the RFC requires of a whole header, in the order of its fields.
fn model(sender: Option<Role>, bytes: &[u8; 14]) -> Result<Fields, MessageError> {
    let (fin, opcode) = (bytes[0] >= 0x80, bytes[0] % 16);
    if !matches!(bytes[0] / 16, 0 | 8) {
        return Err(MessageError::ReservedBits);
    }
    if matches!(opcode, 3..=7 | 11..=15) {
        return Err(MessageError::ReservedOpcode(opcode));
    }
    let is_control = opcode >= 8;
    if is_control && !fin {
        return Err(MessageError::FragmentedControl);
    }
    let is_masked = bytes[1] >= 0x80;
    if sender == Some(Role::Client) && !is_masked {
        return Err(MessageError::NotMasked);
    }
    if sender == Some(Role::Server) && is_masked {
        return Err(MessageError::Masked);
    }
    let short = bytes[1] % 128;
    if is_control && short >= 126 {
        return Err(MessageError::LongControl);
    }
    let number = |bytes: &[u8]| bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
    let (length, minimum, at) = match short {
        126 => (number(&bytes[2..4]), 126, 4),
        127 => (number(&bytes[2..10]), 65_536, 10),
        short => (short.into(), 0, 2),
    };
    if length < minimum || length >= 1 << 63 {
        return Err(MessageError::FrameLength);
    }
    let mask = is_masked.then(|| bytes[at..at + 4].try_into().unwrap());
    Ok((fin, opcode, mask, length, if is_masked { at + 4 } else { at }))
}

/// Bytes after the first two, around the limits of the lengths.
fn tails() -> Vec<[u8; 12]> {
    let mut tails = vec![[0; 12], [0xFF; 12], [0x7F; 12]];
    for length in [1, 125, 126, 127, 255, 256, 65_535, 65_536, 1 << 32, (1 << 63) - 1, 1 << 63] {
        let long = u64::to_be_bytes(length);
        let mut tail = [0xA5; 12];
        tail[..8].copy_from_slice(&long);
        tails.push(tail);
        tail[..2].copy_from_slice(&long[6..]);
        tails.push(tail);
    }
    tails
}

#[test]
fn every_header_is_parsed_or_rejected_as_in_the_rfc() {
    for sender in SENDERS {
        for start in 0..=u16::MAX {
            for tail in tails() {
                let mut bytes = [0; 14];
                bytes[..2].copy_from_slice(&start.to_be_bytes());
                bytes[2..].copy_from_slice(&tail);
                let found = parse(sender, &bytes).map(|header| {
                    let (header, len) = header.expect("14 bytes are a whole header");
                    let opcode = u8::from(header.opcode());
                    (header.fin(), opcode, header.mask(), header.payload_length(), len)
                });
                assert_eq!(found, model(sender, &bytes), "{sender:?} {bytes:02x?}");
            }
        }
    }
}

#[test]
fn a_header_in_pieces_is_incomplete_until_its_last_byte() {
    for_headers(|sender, bytes| {
        let Ok(Some((header, len))) = parse(sender, bytes) else { return };
        for end in 0..=bytes.len() {
            let expected = (end >= len).then_some((header, len));
            assert_eq!(parse(sender, &bytes[..end]), Ok(expected), "{bytes:02x?}");
        }
        let mut out = [0x55; 14];
        assert_eq!(header.encode(&mut out), &bytes[..len], "the only encoding");
        let made =
            FrameHeader::new(header.opcode(), header.fin(), header.mask(), header.payload_length());
        assert_eq!(made, Ok(header));
    });
}

#[test]
fn an_invalid_header_is_rejected_at_the_first_byte_that_makes_it_invalid() {
    for_headers(|sender, bytes| {
        let Err(error) = parse(sender, bytes) else { return };
        let end = (0..=bytes.len()).find(|&end| parse(sender, &bytes[..end]) != Ok(None)).unwrap();
        for end in end..=bytes.len() {
            assert_eq!(parse(sender, &bytes[..end]), Err(error), "{bytes:02x?}");
        }
        // Some continuation of the bytes before that one is a header.
        let mut continued = *bytes;
        let is_open = [0x01, 0x81, 0x7F].iter().any(|byte| {
            continued[end - 1..].fill(*byte);
            matches!(parse(sender, &continued), Ok(Some(_)))
        });
        assert!(is_open, "rejected too late, after {end} bytes: {bytes:02x?}");
    });
}

/// Calls `check` with the first two bytes of every kind, and the tails.
fn for_headers(mut check: impl FnMut(Option<Role>, &[u8; 14])) {
    let seconds = [0, 1, 125, 126, 127, 0x80, 0x81, 0xFD, 0xFE, 0xFF];
    for sender in SENDERS {
        for first in 0..=u8::MAX {
            for second in seconds {
                for tail in tails() {
                    let mut bytes = [first, second, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
                    bytes[2..].copy_from_slice(&tail);
                    check(sender, &bytes);
                }
            }
        }
    }
}

#[test]
fn an_invalid_header_cannot_be_created() {
    let new = |opcode, fin, len| FrameHeader::new(opcode, fin, None, len).map(drop);
    assert_eq!(new(Opcode::Close, false, 0), Err(MessageError::FragmentedControl));
    assert_eq!(new(Opcode::Pong, true, 126), Err(MessageError::LongControl));
    assert_eq!(new(Opcode::Ping, true, 125), Ok(()));
    assert_eq!(new(Opcode::Binary, true, 1 << 63), Err(MessageError::FrameLength));
    assert_eq!(new(Opcode::Continuation, false, (1 << 63) - 1), Ok(()));
}

#[test]
fn the_close_code_of_an_invalid_header_is_1002() {
    for error in [
        MessageError::ReservedBits,
        MessageError::ReservedOpcode(3),
        MessageError::FrameLength,
        MessageError::Masked,
        MessageError::NotMasked,
    ] {
        assert_eq!((error.close_code(), error.offset()), (1002, None));
        let close = parse_close(error.to_close());
        assert_eq!(close, Ok(Some((1002, error.to_string().into()))));
    }
}

#[test]
fn a_session_of_raw_bytes_gives_the_same_messages_at_every_split() {
    let mut sent = Vec::new();
    for (opcode, fin, payload) in [
        (Opcode::Text, false, &b"caf\xC3"[..]),
        (Opcode::Ping, true, b"\xFF"),
        (Opcode::Continuation, true, b"\xA9"),
        (Opcode::Binary, true, &[0xFE; 300]),
    ] {
        let mask = [7, 0, 255, 1];
        let header = FrameHeader::new(opcode, fin, Some(mask), payload.len() as u64).unwrap();
        sent.extend_from_slice(header.encode(&mut [0; 14]));
        sent.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    }
    let expected = [
        Message::Ping(b"\xFF"[..].into()),
        Message::Text("café".into()),
        Message::Binary(vec![0xFE; 300].into()),
    ];
    for at in 0..=sent.len() {
        let (first, second) = sent.split_at(at);
        assert_eq!(received(&[first, second]), expected, "{at}");
    }
    assert_eq!(received(&sent.chunks(1).collect::<Vec<_>>()), expected);
}

/// The messages of a client, read as a server would.
fn received(chunks: &[&[u8]]) -> Vec<Message> {
    let (mut buffer, mut rest) = (Vec::new(), None);
    let (mut connection, mut messages) = (MessageAssembler::new(), Vec::new());
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        loop {
            let left = match rest {
                Some(left) => left,
                None => {
                    let parsed = FrameHeader::parse_from_client(&buffer).unwrap();
                    let Some((header, len)) = parsed else { break };
                    buffer.drain(..len);
                    connection.start(&header).unwrap();
                    header.payload_length() as usize
                }
            };
            let mut piece: Vec<_> = buffer.drain(..left.min(buffer.len())).collect();
            connection.push(&mut piece).unwrap();
            if piece.len() < left {
                rest = Some(left - piece.len());
                break;
            }
            rest = None;
            messages.extend(connection.end_frame().unwrap());
        }
    }
    messages
}
