//! Runs `websocket` cases through `MessageAssembler`, frame by frame, as a server does.

use bytes::BytesMut;
use serde_json::{Map, Value, json};

use utf8_codec::Utf8ErrorKind;
use utf8_codec::websocket::{Message, MessageAssembler, MessageError, Opcode, encode_close};

use super::{byte_strings, described, hex, object, of_type, skip, str_of};

/// Answers `case` with the fields of its `expect`, or with `skip` if it has another operation. The case's
/// own `expect` is ignored.
///
/// The answer is that of [`MessageAssembler::pieces`]. The other methods, and frames without a mask, have to
/// end in the same way.
///
/// # Errors
///
/// If the case is malformed, or if two methods end differently.
pub(crate) fn answer(case: &Value) -> Result<Map<String, Value>, String> {
    let op = str_of(case, "op")?;
    if op != "websocket" {
        return Ok(skip(format!("operation {op}")));
    }
    let frames = of_type(case, "frames", Value::as_array)?;
    let frames = frames.iter().map(Frame::new).collect::<Result<Vec<_>, _>>()?;
    let run = Run::new(&frames, Some(MASK), pieces);
    for mask in [Some(MASK), None] {
        for give in [pieces, push, push_bytes, validate] as [Give; 4] {
            let other = Run::new(&frames, mask, give);
            if (other.end, other.fail_step) != (run.end, run.fail_step) {
                return Err(format!("{:?} or {:?}", run.end, other.end));
            }
        }
        for give in [push, push_bytes] as [Give; 2] {
            let (here, there) = (&run.steps.concat(), Run::new(&frames, mask, give).kept);
            if run.end.is_ok() && *here != hex(there.as_deref().unwrap_or_default().as_bytes()) {
                return Err(format!("{here} or {there:?}"));
            }
        }
    }
    Ok(run.answer(decided_by(&frames)))
}

/// A frame, with its payload in pieces.
struct Frame {
    opcode: Opcode,
    fin: bool,
    chops: Vec<Vec<u8>>,
}

/// The outcome of a connection with one message.
struct Run {
    /// The text that each piece of data yields, then the text of the end.
    steps: Vec<String>,
    held: Vec<usize>,
    /// The code of the peer's close frame, or the error the connection is closed with instead.
    end: Result<u16, MessageError>,
    /// The step that reports the error. `None` if all is well, and for an error before any data.
    fail_step: Option<usize>,
    /// The text of the last message.
    kept: Option<String>,
    /// The code of a close frame that the case itself has; 1005 if it has none.
    close: Option<u16>,
}

/// Receives a piece and returns the text it yields.
type Give = fn(&mut MessageAssembler, &mut [u8]) -> (String, Result<(), MessageError>);

const MASK: [u8; 4] = [0x37, 0xFA, 0x21, 0x3D];

/// RFC 6455 section 7.4.1: the code that stands for a close frame without one.
const NO_STATUS: u16 = 1005;

fn pieces(
    connection: &mut MessageAssembler,
    piece: &mut [u8],
) -> (String, Result<(), MessageError>) {
    let mut out = String::new();
    let result = connection.pieces(piece).try_for_each(|text| text.map(|text| out.push_str(text)));
    (out, result)
}

fn push(connection: &mut MessageAssembler, piece: &mut [u8]) -> (String, Result<(), MessageError>) {
    (String::new(), connection.push(piece))
}

fn push_bytes(
    connection: &mut MessageAssembler,
    piece: &mut [u8],
) -> (String, Result<(), MessageError>) {
    (String::new(), connection.push_bytes(BytesMut::from(&*piece)))
}

fn validate(
    connection: &mut MessageAssembler,
    piece: &mut [u8],
) -> (String, Result<(), MessageError>) {
    (String::new(), connection.validate(piece))
}

impl Frame {
    fn new(frame: &Value) -> Result<Self, String> {
        let opcode =
            of_type(frame, "opcode", |value| Opcode::try_from(value.as_u64()? as u8).ok())?;
        let fin = of_type(frame, "fin", Value::as_bool)?;
        Ok(Self { opcode, fin, chops: byte_strings(&frame["chops"])? })
    }
}

impl Run {
    /// Sends the frames, then, if all is well and they do not close the connection, a close frame with
    /// code 1000.
    fn new(frames: &[Frame], mask: Option<[u8; 4]>, give: Give) -> Self {
        let (steps, held) = (Vec::new(), Vec::new());
        let mut run = Self { steps, held, end: Ok(0), fail_step: None, kept: None, close: None };
        let mut connection = MessageAssembler::new();
        run.end = frames
            .iter()
            .try_for_each(|frame| run.frame(&mut connection, frame, mask, give))
            .and_then(|()| run.close.map_or_else(|| close(&mut connection), Ok));
        if run.end.is_err() {
            run.fail_step = run.steps.len().checked_sub(1);
        }
        run
    }

    fn frame(
        &mut self,
        connection: &mut MessageAssembler,
        frame: &Frame,
        mask: Option<[u8; 4]>,
        give: Give,
    ) -> Result<(), MessageError> {
        connection.start_frame(frame.opcode, frame.fin, mask)?;
        connection.announce(frame.chops.iter().map(|chop| chop.len() as u64).sum())?;
        let mut keys = mask.unwrap_or_default().into_iter().cycle();
        for chop in &frame.chops {
            let mut piece: Vec<_> =
                chop.iter().zip(&mut keys).map(|(byte, key)| byte ^ key).collect();
            let (text, result) = give(connection, &mut piece);
            if !frame.opcode.is_control() {
                self.steps.push(hex(text.as_bytes()));
            }
            result?;
            if !frame.opcode.is_control() {
                self.held.push(connection.incomplete().len());
            }
        }
        let is_last = frame.fin && !frame.opcode.is_control();
        if is_last {
            self.steps.push(String::new());
        }
        match connection.end_frame()? {
            Some(Message::Text(text)) => self.kept = Some(text.into()),
            Some(Message::Close(payload)) => {
                self.close = Some(payload.map_or(NO_STATUS, |(code, _)| code));
            }
            message => assert!(!is_last, "{message:?} for a text message"),
        }
        Ok(())
    }

    fn answer(&self, decided_by: Option<usize>) -> Map<String, Value> {
        let text = self.steps.concat();
        let ws = match self.end {
            Ok(code) => json!({"echo": self.kept.as_ref().map(|_| &text), "close": code}),
            Err(error) => json!({"echo": null, "close": error.close_code()}),
        };
        let error = match self.end {
            Err(MessageError::Utf8(error)) => Some(error),
            _ => None,
        };
        let incomplete = error.is_some_and(|error| error.kind() == Utf8ErrorKind::Incomplete);
        object(json!({
            "out": text,
            "steps": self.steps,
            "held": self.held,
            "errors": error.iter().map(described).collect::<Vec<_>>(),
            "fail_step": self.fail_step,
            "fail_fast_at": decided_by,
            "incomplete_at_eof": incomplete,
            "ws": ws,
        }))
    }
}

fn close(connection: &mut MessageAssembler) -> Result<u16, MessageError> {
    let payload = encode_close(1000, "").expect("a code that may be sent");
    connection.start_frame(Opcode::Close, true, None)?;
    connection.push(&mut payload.to_vec())?;
    match connection.end_frame()? {
        Some(Message::Close(Some((code, _)))) => Ok(code),
        message => panic!("{message:?} of a close frame"),
    }
}

/// The index of the byte at which the message is rejected; `None` if it is accepted, or rejected only at its
/// end. Receives the bytes one by one.
fn decided_by(frames: &[Frame]) -> Option<usize> {
    let bytewise = |frame: &Frame| Frame {
        chops: frame.chops.concat().chunks(1).map(<[u8]>::to_vec).collect(),
        ..*frame
    };
    let bytewise: Vec<_> = frames.iter().map(bytewise).collect();
    let data = frames.iter().filter(|frame| !frame.opcode.is_control());
    let bytes = data.flat_map(|frame| &frame.chops).map(Vec::len).sum::<usize>();
    Run::new(&bytewise, Some(MASK), validate).fail_step.filter(|step| *step < bytes)
}
