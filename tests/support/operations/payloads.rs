//! WebSocket messages, in frames and pieces, and server-sent events, in chunks.

use arbitrary::Arbitrary;
use bytes::BytesMut;
use futures::executor::block_on_stream;
use futures::stream;
use utf8_codec::sse::{Event, EventEncoder, EventError};
use utf8_codec::stream::{StreamError, Utf8StreamExt};
use utf8_codec::websocket::{
    Message, MessageAssembler, MessageError, Opcode, encode_close, parse_close,
};

use super::events::{Limits, decode, expected};
use super::input::{Bytes, Many};
use super::streams::cut;

#[derive(Arbitrary, Clone, Debug)]
pub struct Conversation {
    /// The maximum message length; from 200 on, far above what is sent.
    limit: u8,
    messages: Many<Sent, 8>,
    close: Option<(u16, Bytes<130>)>,
}

#[derive(Arbitrary, Clone, Debug)]
struct Sent {
    is_binary: bool,
    way: Way,
    frames: Many<Frame, 6>,
}

/// How the pieces are passed.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Kept,
    Lent,
    Judged,
}

#[derive(Arbitrary, Clone, Debug)]
struct Frame {
    mask: Option<[u8; 4]>,
    is_announced: bool,
    /// The pieces. If the text is kept, each is passed by value or by reference.
    pieces: Many<(bool, Bytes<30>), 8>,
    /// Sent before it.
    ping: Option<Bytes<20>>,
}

/// The error of a message.
#[derive(Debug, PartialEq, Eq)]
enum Problem {
    IllFormed { valid_up_to: u64, error_len: Option<usize> },
    TooLong,
}

fn reported(error: MessageError) -> Problem {
    match error {
        MessageError::Utf8(error) => {
            assert_eq!(MessageError::Utf8(error).close_code(), 1007);
            Problem::IllFormed { valid_up_to: error.valid_up_to(), error_len: error.error_len() }
        }
        MessageError::TooLong { .. } => Problem::TooLong,
        other => panic!("{other}"),
    }
}

/// The verdict of std on the bytes up to the limit.
fn problem(bytes: &[u8], is_binary: bool, limit: usize, ended: bool) -> Option<Problem> {
    let within = &bytes[..bytes.len().min(limit)];
    match str::from_utf8(within) {
        Err(error) if !is_binary && (error.error_len().is_some() || ended) => {
            let valid_up_to = error.valid_up_to() as u64;
            Some(Problem::IllFormed { valid_up_to, error_len: error.error_len() })
        }
        _ => (bytes.len() > limit).then_some(Problem::TooLong),
    }
}

/// Messages and verdicts are those of std, whatever the frames and pieces.
pub fn websocket(conversation: &Conversation) {
    let limit = if conversation.limit < 200 { conversation.limit.into() } else { 1 << 20 };
    let mut connection = MessageAssembler::new().with_max_length(limit as u64);
    for message in conversation.messages.iter() {
        if let Err(error) = send(&mut connection, message, limit) {
            let again = connection.start_frame(Opcode::Text, true, None).unwrap_err();
            assert_eq!(reported(again), error, "every call returns the same error");
            connection.reset();
        }
    }
    if let Some((code, reason)) = &conversation.close {
        close(&mut connection, *code, reason);
    }
}

/// Sends a close frame with this code and reason, truncated to fit.
fn close(connection: &mut MessageAssembler, code: u16, reason: &Bytes<130>) {
    // Most codes are near the valid ones.
    let code = if code < 0x8000 { 990 + code % 40 } else { code & 0x1FFF };
    let reason = &reason.0[..reason.0.len().min(123)];
    connection.start_frame(Opcode::Close, true, None).unwrap();
    let mut bytes = code.to_be_bytes().into_iter().chain(reason.iter().copied());
    let pushed = bytes.try_for_each(|byte| connection.push(&mut [byte]));
    let allowed = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
    match (pushed.and_then(|()| connection.end_frame()), str::from_utf8(reason)) {
        (Ok(Some(Message::Close(Some(found)))), Ok(reason)) if allowed => {
            assert_eq!(found, (code, reason.into()));
            assert_eq!(parse_close(encode_close(code, reason).unwrap()), Ok(Some(found)));
        }
        (Err(MessageError::Reason(error)), Err(expected)) if allowed => {
            assert_eq!(error.valid_up_to(), expected.valid_up_to() as u64);
            assert_eq!(error.error_len(), expected.error_len());
        }
        (Err(MessageError::CloseCode(_)), _) if !allowed => {}
        (other, _) => panic!("{other:?} of code {code}, {reason:02x?}"),
    }
}

fn send(connection: &mut MessageAssembler, sent: &Sent, limit: usize) -> Result<(), Problem> {
    let mut frames = sent.frames.to_vec();
    if frames.is_empty() {
        frames.push(Frame { mask: None, is_announced: true, pieces: Many::none(), ping: None });
    }
    let last = frames.len() - 1;
    let (mut bytes, mut lent) = (Vec::new(), String::new());
    for (number, frame) in frames.iter().enumerate() {
        if let Some(ping) = &frame.ping {
            connection.start_frame(Opcode::Ping, true, None).unwrap();
            connection.push(&mut ping.0.clone()).unwrap();
            let answer = connection.end_frame().unwrap();
            assert_eq!(answer, Some(Message::Ping(ping.0.clone().into())));
        }
        let opcode = match (number, sent.is_binary) {
            (0, true) => Opcode::Binary,
            (0, false) => Opcode::Text,
            _ => Opcode::Continuation,
        };
        connection.start_frame(opcode, number == last, frame.mask).unwrap();
        let pieces = &frame.pieces;
        if frame.is_announced {
            let length: usize = pieces.iter().map(|(_, piece)| piece.0.len()).sum();
            let announced = connection.announce(length as u64);
            assert_eq!(announced.is_err(), bytes.len() + length > limit);
            announced.map_err(reported)?;
        }
        let mut place = 0;
        for (is_given, piece) in &**pieces {
            bytes.extend_from_slice(&piece.0);
            let mut masked = piece.0.clone();
            for byte in &mut masked {
                *byte ^= frame.mask.map_or(0, |mask| mask[place % 4]);
                place += 1;
            }
            let found = match sent.way {
                Way::Kept if *is_given => connection.push_bytes(BytesMut::from(&masked[..])),
                way => {
                    let found = match way {
                        Way::Kept => connection.push(&mut masked),
                        Way::Lent => connection
                            .pieces(&mut masked)
                            .try_for_each(|piece| piece.map(|text| lent.push_str(text))),
                        Way::Judged => connection.validate(&mut masked),
                    };
                    assert_eq!(masked, piece.0, "the bytes are unmasked in place");
                    found
                }
            };
            let expected = problem(&bytes, sent.is_binary, limit, false);
            assert_eq!(found.map_err(reported).err(), expected, "{bytes:02x?}, limit {limit}");
            if sent.way == Way::Lent && !sent.is_binary {
                let within = &bytes[..bytes.len().min(limit)];
                let valid = within.utf8_chunks().next().map_or("", |chunk| chunk.valid());
                assert_eq!(lent, valid, "{bytes:02x?}, limit {limit}");
            }
            if let Some(problem) = expected {
                return Err(problem);
            }
        }
        let ended = connection.end_frame();
        if number < last {
            assert_eq!(ended, Ok(None));
            continue;
        }
        let kept = if sent.way == Way::Kept { &bytes[..] } else { b"" };
        let expected = match problem(&bytes, sent.is_binary, limit, true) {
            Some(problem) => Err(problem),
            None if sent.is_binary => Ok(Some(Message::Binary(kept.to_vec().into()))),
            None => Ok(Some(Message::Text(str::from_utf8(kept).unwrap().into()))),
        };
        assert_eq!(ended.map_err(reported), expected, "{bytes:02x?}");
        expected?;
    }
    Ok(())
}

#[derive(Arbitrary, Clone, Debug)]
pub struct EventLines {
    /// The maximum event length; from 200 on, far above what is sent.
    limit: u8,
    /// See [`cut`].
    chunks: u8,
    lines: Many<EventLine, 60>,
}

#[derive(Arbitrary, Clone, Debug)]
enum EventLine {
    Field { name: u8, value: Bytes<40>, end: u8 },
    Digits { time: u32, end: u8 },
    Empty { end: u8 },
    Any(Bytes<40>),
}

impl EventLine {
    fn append(&self, bytes: &mut Vec<u8>) {
        const NAMES: [&str; 7] = ["data: ", "data:", "event: ", "id: ", "retry: ", ": ", "data"];
        const ENDS: [&str; 4] = ["\n", "\r", "\r\n", "\n\n"];
        let end = match self {
            Self::Field { name, value, end } => {
                bytes.extend_from_slice(NAMES[usize::from(*name) % NAMES.len()].as_bytes());
                bytes.extend_from_slice(&value.0);
                end
            }
            Self::Digits { time, end } => {
                bytes.extend_from_slice(format!("retry:{time}").as_bytes());
                end
            }
            Self::Empty { end } => end,
            Self::Any(any) => return bytes.extend_from_slice(&any.0),
        };
        bytes.extend_from_slice(ENDS[usize::from(*end) % ENDS.len()].as_bytes());
    }
}

/// Events are those of the model, however the stream is split, and the encoder's text decodes to the same events.
pub fn events(plan: &EventLines) {
    let mut bytes = Vec::new();
    plan.lines.iter().for_each(|line| line.append(&mut bytes));
    let limits = match usize::from(plan.limit) {
        limit @ ..200 => Limits { content: limit % 40, id: limit / 10 },
        _ => Limits { content: 1 << 20, id: 1 << 20 },
    };
    let whole = decode([&*bytes], limits);
    assert_eq!(whole.0, expected(&bytes, limits), "{limits:?}, {bytes:02x?}");
    assert_eq!(decode(cut(&bytes, plan.chunks), limits), whole, "{limits:?}, {bytes:02x?}");

    let chunks = cut(&bytes, plan.chunks).map(|chunk| Ok::<_, ()>(chunk.to_vec()));
    let streamed = stream::iter(chunks).utf8().events().with_max_length(limits.content);
    let streamed = block_on_stream(streamed.with_max_id_length(limits.id));
    let (mut encoder, mut text, mut events) = (EventEncoder::new(), String::new(), Vec::new());
    let mut items = whole.0.items.into_iter();
    for item in streamed {
        match (item, items.next().expect("no item more")) {
            (Ok(event), expected) => {
                let event = event.map_data(String::from);
                assert_eq!(Ok(&event), expected.as_ref());
                encoder.encode(&event, &mut text).expect("a decoded event can be encoded");
                // What has been replaced is sent as it is.
                events.push(Ok(Event { repaired: 0, ..event }));
            }
            (Err(StreamError::EventTooLong { part, offset, max_length }), expected) => {
                assert_eq!(expected, Err(EventError::TooLong { part, offset, max_length }));
            }
            (Err(error), _) => panic!("{error:?}"),
        }
    }
    assert_eq!(items.next(), None);
    let unlimited = Limits { content: usize::MAX, id: usize::MAX };
    assert_eq!(decode([text.as_bytes()], unlimited).0.items, events, "{text:?}");
}
