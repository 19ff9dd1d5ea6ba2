//! Calls to a `MessageAssembler` in any order, including invalid ones.

use arbitrary::Arbitrary;
use bytes::BytesMut;
use utf8_codec::websocket::{
    Message, MessageAssembler, MessageError, Opcode, encode_close, parse_close,
};

use super::input::{Bytes, Many};
use super::streams::Settings;
use crate::support::reference::{self, Config, Event, Kind};
use crate::support::{PLAIN, model_error, undated};

#[derive(Arbitrary, Clone, Debug)]
pub struct Calls {
    settings: Settings,
    limit: u8,
    calls: Many<Call, 40>,
}

#[derive(Arbitrary, Clone, Debug)]
enum Call {
    /// A complete frame; after an error, the first of another connection.
    Frame(Header, Option<u16>, Many<Piece, 6>),
    Start(Header),
    Announce(u16),
    Push(Piece),
    End,
    Reset,
    Limit(u8),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Header {
    /// The bits of the opcode. Some values choose an opcode that is valid here.
    bits: u8,
    fin: u8,
    mask: Option<[u8; 4]>,
    /// The first bytes of a control frame's payload.
    content: u8,
}

impl Header {
    /// A payload: with a close code if the frame closes, and often near the maximum length.
    fn content(self, is_closing: bool) -> Vec<u8> {
        const CODES: [u16; 13] =
            [0, 999, 1000, 1003, 1004, 1006, 1007, 1014, 1015, 2999, 3000, 4999, 5000];
        let mut content = Vec::new();
        if is_closing && self.content >= 32 {
            let code = CODES[usize::from(self.content) % CODES.len()];
            content.extend_from_slice(&code.to_be_bytes());
        }
        if self.content >= 192 {
            content.resize(123 + usize::from(self.content % 4), b'a');
        }
        content
    }
}

#[derive(Arbitrary, Clone, Debug)]
struct Piece {
    way: Way,
    bytes: Bytes<140>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Way {
    Copied,
    Given,
    Lent,
    Judged,
}

/// The maximum message length; from 200 on, far above what is sent.
fn limit_of(number: u8) -> u64 {
    if number < 200 { number.into() } else { 1 << 20 }
}

/// Every call returns what the model returns, with the same effect.
pub fn websocket_calls(plan: &Calls) {
    let options = plan.settings.options();
    let limit = limit_of(plan.limit);
    let mut peer = Peer {
        connection: MessageAssembler::new().with_options(options).with_max_length(limit),
        model: Model { config: plan.settings.config(), limit, ..Model::default() },
        mask: None,
    };
    for call in plan.calls.iter() {
        match call {
            Call::Frame(header, announced, pieces) => {
                peer.replace_failed_connection();
                peer.start(*header);
                announced.iter().for_each(|length| peer.announce(*length));
                if let Some(Frame::Control { opcode, .. }) = peer.model.frame {
                    peer.push(Way::Copied, &header.content(opcode == Opcode::Close));
                }
                pieces.iter().for_each(|piece| peer.push(piece.way, &piece.bytes.0));
                peer.end();
            }
            Call::Start(header) => peer.start(*header),
            Call::Announce(length) => peer.announce(*length),
            Call::Push(piece) => peer.push(piece.way, &piece.bytes.0),
            Call::End => peer.end(),
            Call::Reset => peer.reset(),
            Call::Limit(limit) => peer.limit(limit_of(*limit)),
        }
        peer.compare();
    }
}

/// A connection and its model.
struct Peer {
    connection: MessageAssembler,
    model: Model,
    /// The mask of the open frame, and how many bytes have arrived.
    mask: Option<([u8; 4], usize)>,
}

impl Peer {
    /// Replaces a connection that has failed.
    fn replace_failed_connection(&mut self) {
        if self.model.failed.is_some() {
            self.announce(0);
            self.reset();
        }
    }

    fn start(&mut self, header: Header) {
        let fitting = match (&self.model.message, header.bits % 2) {
            (Some(_), _) => 0,
            (None, 0) => 1,
            (None, _) => 2,
        };
        let bits = if header.bits < 160 { fitting } else { header.bits % 16 };
        let opcode = match Opcode::try_from(bits) {
            Ok(opcode) => opcode,
            Err(error) => {
                assert!(matches!(bits, 3..8 | 11..16));
                return assert_eq!(error, MessageError::ReservedOpcode(bits));
            }
        };
        assert_eq!(u8::from(opcode), bits);
        // Most control frames are final.
        let fin = !header.fin.is_multiple_of(if opcode.is_control() { 8 } else { 2 });
        let started = self.connection.start_frame(opcode, fin, header.mask);
        let expected = self.model.start(opcode, fin);
        assert_eq!(started.map_err(reported), expected);
        self.mask = header.mask.filter(|_| expected.is_ok()).map(|mask| (mask, 0));
    }

    fn announce(&mut self, length: u16) {
        let length = match (length % 8, u64::from(length / 8)) {
            (0, _) => self.model.room(),
            (1, _) => self.model.room().saturating_add(1),
            (2, length) => 125 + length % 2,
            (3, _) => u64::MAX,
            (_, length) => length % 200,
        };
        let announced = self.connection.announce(length);
        assert_eq!(announced.map_err(reported), self.model.announce(length));
    }

    fn push(&mut self, way: Way, piece: &[u8]) {
        let mut masked = piece.to_vec();
        if let (Some((mask, come)), true) = (&mut self.mask, self.model.frame.is_some()) {
            for byte in &mut masked {
                *byte ^= mask[*come % 4];
                *come += 1;
            }
        }
        let is_kept = matches!(way, Way::Copied | Way::Given);
        let (text, expected) = self.model.push(piece, is_kept);
        let pushed = match way {
            Way::Given => {
                let pushed = self.connection.push_bytes(BytesMut::from(&masked[..]));
                masked.copy_from_slice(piece);
                pushed
            }
            Way::Copied => self.connection.push(&mut masked),
            Way::Judged => self.connection.validate(&mut masked),
            Way::Lent => {
                let mut lent = String::new();
                let pieces = &mut self.connection.pieces(&mut masked);
                let pushed = pieces.try_for_each(|piece| piece.map(|text| lent.push_str(text)));
                assert_eq!(lent, text, "of {piece:02x?}");
                pushed
            }
        };
        assert_eq!(pushed.map_err(reported), expected, "of {piece:02x?}");
        assert_eq!(masked, piece, "the bytes are unmasked in place");
    }

    fn end(&mut self) {
        let ended = self.connection.end_frame();
        assert_eq!(ended.map_err(reported), self.model.end());
    }

    fn reset(&mut self) {
        self.connection.reset();
        let Model { config, limit, .. } = self.model;
        self.model = Model { config, limit, ..Model::default() };
    }

    fn limit(&mut self, limit: u64) {
        self.connection = std::mem::take(&mut self.connection).with_max_length(limit);
        self.model.limit = limit;
    }

    fn compare(&mut self) {
        if self.model.frame.is_none() {
            self.mask = None;
        }
        let message = self.model.message.as_ref();
        let position = message.map_or(0, |message| message.bytes.len() as u64);
        assert_eq!(self.connection.position(), position);
        let held = message.map_or(&[][..], |message| message.held(self.model.config));
        assert_eq!(self.connection.incomplete(), held);
    }
}

// ---- the model ----------------------------------------------------------------------------------

/// The state of a connection: RFC 6455, sections 5.4 to 5.6 and 7.4.
struct Model {
    config: Config,
    limit: u64,
    /// After an error, every call returns it again.
    failed: Option<Problem>,
    frame: Option<Frame>,
    message: Option<Open>,
}

impl Default for Model {
    fn default() -> Self {
        Self { config: PLAIN, limit: 0, failed: None, frame: None, message: None }
    }
}

enum Frame {
    Data { fin: bool },
    Control { opcode: Opcode, payload: Vec<u8> },
}

/// A message that has started.
struct Open {
    is_text: bool,
    /// All bytes received.
    bytes: Vec<u8>,
    /// The bytes to keep.
    kept: Vec<u8>,
}

impl Open {
    fn held(&self, config: Config) -> &[u8] {
        if !self.is_text {
            return &[];
        }
        let held = reference::decode_prefix(&self.bytes, config, false).held;
        &self.bytes[self.bytes.len() - held..]
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    Utf8(reference::Error),
    Reason(reference::Error),
    TooLong(u64),
    Protocol(MessageError),
}

impl Model {
    /// The first error is permanent.
    fn fail<T>(&mut self, problem: Problem) -> Result<T, Problem> {
        (self.frame, self.message) = (None, None);
        Err(self.failed.get_or_insert(problem).clone())
    }

    fn break_protocol<T>(&mut self, error: MessageError) -> Result<T, Problem> {
        self.fail(Problem::Protocol(error))
    }

    fn start(&mut self, opcode: Opcode, fin: bool) -> Result<(), Problem> {
        if self.failed.is_some() || self.frame.is_some() {
            return self.break_protocol(MessageError::NestedFrame);
        }
        if opcode.is_control() {
            if !fin {
                return self.break_protocol(MessageError::FragmentedControl);
            }
            self.frame = Some(Frame::Control { opcode, payload: Vec::new() });
            return Ok(());
        }
        match (opcode == Opcode::Continuation, &self.message) {
            (true, None) => return self.break_protocol(MessageError::UnexpectedContinuation),
            (false, Some(_)) => return self.break_protocol(MessageError::InterruptedMessage),
            (true, Some(_)) => {}
            (false, None) => {
                let is_text = opcode == Opcode::Text;
                self.message = Some(Open { is_text, bytes: Vec::new(), kept: Vec::new() });
            }
        }
        self.frame = Some(Frame::Data { fin });
        Ok(())
    }

    fn room(&self) -> u64 {
        let come = self.message.as_ref().map_or(0, |message| message.bytes.len() as u64);
        self.limit.saturating_sub(come)
    }

    fn announce(&mut self, length: u64) -> Result<(), Problem> {
        match &self.frame {
            None => self.break_protocol(MessageError::NoFrame),
            Some(Frame::Control { .. }) if length > 125 => {
                self.break_protocol(MessageError::LongControl)
            }
            Some(Frame::Control { opcode: Opcode::Close, .. }) if length == 1 => {
                self.break_protocol(MessageError::TruncatedCloseCode)
            }
            Some(Frame::Data { .. }) if length > self.room() => {
                self.fail(Problem::TooLong(self.limit))
            }
            Some(_) => Ok(()),
        }
    }

    /// The text that the piece completes, and its error.
    fn push(&mut self, piece: &[u8], is_kept: bool) -> (String, Result<(), Problem>) {
        let room = usize::try_from(self.room()).unwrap_or(usize::MAX);
        let (config, limit) = (self.config, self.limit);
        let (text, problem) = match (&mut self.frame, &mut self.message) {
            (None, _) => (String::new(), Some(Problem::Protocol(MessageError::NoFrame))),
            (Some(Frame::Control { opcode, payload }), _) => {
                payload.extend_from_slice(piece);
                let admitted = &payload[..payload.len().min(125)];
                let closing = (*opcode == Opcode::Close).then(|| close_problem(admitted)).flatten();
                let is_long = payload.len() > 125;
                let too_long = is_long.then_some(Problem::Protocol(MessageError::LongControl));
                (String::new(), closing.or(too_long))
            }
            (Some(Frame::Data { .. }), Some(message)) => {
                let admitted = &piece[..piece.len().min(room)];
                let too_long = (admitted.len() < piece.len()).then_some(Problem::TooLong(limit));
                let (before, _) = judged(&message.bytes, config, false);
                message.bytes.extend_from_slice(admitted);
                if message.is_text {
                    let (text, error) = judged(&message.bytes, config, false);
                    let text = text[before.len()..].to_owned();
                    message.kept.extend_from_slice(if is_kept { text.as_bytes() } else { b"" });
                    (text, error.map(Problem::Utf8).or(too_long))
                } else {
                    message.kept.extend_from_slice(if is_kept { admitted } else { b"" });
                    (String::new(), too_long)
                }
            }
            (Some(Frame::Data { .. }), None) => unreachable!("of a message"),
        };
        (text, problem.map_or(Ok(()), |problem| self.fail(problem)))
    }

    fn end(&mut self) -> Result<Option<Message>, Problem> {
        match self.frame.take() {
            None => self.break_protocol(MessageError::NoFrame),
            Some(Frame::Data { fin: false }) => Ok(None),
            Some(Frame::Data { fin: true }) => {
                let message = self.message.take().expect("a frame of a message");
                if !message.is_text {
                    return Ok(Some(Message::Binary(message.kept.into())));
                }
                match judged(&message.bytes, self.config, true) {
                    (_, Some(error)) => self.fail(Problem::Utf8(error)),
                    (_, None) => {
                        let kept = String::from_utf8(message.kept).expect("it is text");
                        Ok(Some(Message::Text(kept.into())))
                    }
                }
            }
            Some(Frame::Control { opcode: Opcode::Ping, payload }) => {
                Ok(Some(Message::Ping(payload.into())))
            }
            Some(Frame::Control { opcode: Opcode::Pong, payload }) => {
                Ok(Some(Message::Pong(payload.into())))
            }
            Some(Frame::Control { payload, .. }) => self.close(&payload),
        }
    }

    fn close(&mut self, payload: &[u8]) -> Result<Option<Message>, Problem> {
        let (code, reason) = match payload {
            [] => return Ok(Some(Message::Close(None))),
            [_] => return self.break_protocol(MessageError::TruncatedCloseCode),
            [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
        };
        match judged(reason, PLAIN, true) {
            (_, Some(error)) => self.fail(Problem::Reason(error)),
            (reason, None) => Ok(Some(Message::Close(Some((code, reason.into()))))),
        }
    }
}

/// The problem of the payload of a close frame so far.
fn close_problem(payload: &[u8]) -> Option<Problem> {
    let [high, low, reason @ ..] = payload else { return None };
    match u16::from_be_bytes([*high, *low]) {
        1000..=1003 | 1007..=1014 | 3000..=4999 => {
            judged(reason, PLAIN, false).1.map(Problem::Reason)
        }
        code => Some(Problem::Protocol(MessageError::CloseCode(code))),
    }
}

/// The text up to the first error, and that error.
fn judged(bytes: &[u8], config: Config, ended: bool) -> (String, Option<reference::Error>) {
    let mut text = String::new();
    for event in reference::decode_prefix(bytes, config, ended).events {
        match event {
            Event::Text(more) => text.push_str(&more),
            Event::Error(error) => return (text, Some(undated(error))),
        }
    }
    (text, None)
}

/// An error in the model's terms, with its close code and offset checked.
fn reported(error: MessageError) -> Problem {
    let code_of = |kind| match kind {
        Kind::ForbiddenBom | Kind::MissingBom | Kind::Noncharacter | Kind::Forbidden => 1008,
        _ => 1007,
    };
    let (problem, code, offset) = match error {
        MessageError::Utf8(cause) | MessageError::Reason(cause) => {
            let cause = model_error(&cause);
            let (code, offset) = (code_of(cause.kind), Some(cause.offset));
            match error {
                MessageError::Utf8(_) => (Problem::Utf8(cause), code, offset),
                _ => (Problem::Reason(cause), code, offset),
            }
        }
        MessageError::TooLong { max_length } => {
            (Problem::TooLong(max_length), 1009, Some(max_length))
        }
        other => (Problem::Protocol(other), 1002, None),
    };
    assert_eq!((error.close_code(), error.offset()), (code, offset), "{error:?}");
    let close = error.to_close();
    let (close_code, reason) = parse_close(close.clone()).expect("it can be sent").expect("a code");
    assert_eq!(close_code, code, "{error:?}");
    assert_eq!(encode_close(code, &reason), Ok(close), "{error:?}");
    problem
}
