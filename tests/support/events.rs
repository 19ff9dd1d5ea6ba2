//! The algorithm of the standard, over a whole stream: slow, and line by line.

use std::time::Duration;

use utf8_codec::sse::{Event, EventDecoder, EventError, EventPart};

/// What a stream contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) items: Vec<Result<Event, EventError>>,
    pub(crate) last_event_id: String,
    pub(crate) reconnection_time: Option<Duration>,
}

/// The limits of an event and of its ID.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) content: usize,
    pub(crate) id: usize,
}

/// Decodes chunks with an [`EventDecoder`]. Also returns the number of ill-formed parts and the offset of the
/// first.
pub(crate) fn decode<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    limits: Limits,
) -> (Outcome, (u64, Option<u64>)) {
    let decoder = EventDecoder::new().with_max_length(limits.content);
    let mut decoder = decoder.with_max_id_length(limits.id);
    let (mut items, mut len) = (Vec::new(), 0);
    for chunk in chunks {
        items.extend(decoder.push(chunk).map(|item| item.map(Event::into_owned)));
        len += chunk.len() as u64;
        assert_eq!(decoder.position(), len);
    }
    let last_event_id = decoder.last_event_id().to_owned();
    let outcome = Outcome { items, last_event_id, reconnection_time: decoder.reconnection_time() };
    let first = decoder.first_error().map(|error| error.valid_up_to());
    (outcome, (decoder.error_count(), first))
}

/// Decodes a whole stream with the algorithm of the standard, and limits.
pub(crate) fn expected(stream: &[u8], limits: Limits) -> Outcome {
    let mut outcome =
        Outcome { items: Vec::new(), last_event_id: String::new(), reconnection_time: None };
    let mut pending = Pending::default();
    for Line { offset, bytes, is_complete } in lines(stream) {
        if bytes.is_empty() && is_complete {
            let Pending { rejected, data, event_type, id, repaired, .. } =
                std::mem::take(&mut pending);
            if rejected {
                continue;
            }
            outcome.last_event_id = id.unwrap_or(outcome.last_event_id);
            let Some(data) = data else { continue };
            let event_type = if event_type.is_empty() { "message".into() } else { event_type };
            let last_event_id = outcome.last_event_id.as_str().into();
            let event_type = event_type.into();
            outcome.items.push(Ok(Event { event_type, data, last_event_id, repaired }));
            continue;
        }
        let event_offset = *pending.offset.get_or_insert(offset);
        let colon = bytes.iter().position(|&byte| byte == b':');
        let name = &bytes[..colon.unwrap_or(bytes.len())];
        let value = colon.map_or(&[][..], |colon| &bytes[colon + 1..]);
        let (value, replaced) = text(value.strip_prefix(b" ").unwrap_or(value), is_complete);
        if pending.rejected || (value.is_empty() && !is_complete) {
            continue;
        }
        let mut exceeded = None;
        if matches!(name, b"data" | b"event" | b"id") {
            pending.repaired += replaced;
        }
        match name {
            b"data" => {
                let join = if pending.data.is_some() { "\n" } else { "" };
                pending.len += join.len() + value.len();
                *pending.data.get_or_insert_default() += &(join.to_owned() + &value);
            }
            b"event" => {
                pending.len += value.len();
                pending.event_type = value;
            }
            b"id" => {
                if value.len() > limits.id {
                    exceeded = Some((EventPart::Id, limits.id));
                }
                if !value.contains('\0') {
                    pending.id = Some(value);
                }
            }
            b"retry" if is_complete => {
                let is_number =
                    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                if is_number {
                    let time = Duration::from_millis(value.parse().unwrap_or(u64::MAX));
                    outcome.reconnection_time = Some(time);
                }
            }
            _ => {}
        }
        if pending.len > limits.content {
            exceeded = Some((EventPart::Content, limits.content));
        }
        if let Some((part, max_length)) = exceeded {
            let offset = event_offset;
            outcome.items.push(Err(EventError::TooLong { part, offset, max_length }));
            pending = Pending { rejected: true, offset: pending.offset, ..Pending::default() };
        }
    }
    outcome
}

#[derive(Default)]
struct Pending {
    offset: Option<u64>,
    rejected: bool,
    len: usize,
    repaired: u64,
    data: Option<String>,
    event_type: String,
    id: Option<String>,
}

struct Line<'a> {
    offset: u64,
    bytes: &'a [u8],
    is_complete: bool,
}

fn lines(stream: &[u8]) -> Vec<Line<'_>> {
    let mut start = if stream.starts_with("\u{FEFF}".as_bytes()) { 3 } else { 0 };
    let mut lines = Vec::new();
    while start < stream.len() {
        let rest = &stream[start..];
        let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        let len = end.unwrap_or(rest.len());
        let offset = start as u64;
        lines.push(Line { offset, bytes: &rest[..len], is_complete: end.is_some() });
        start += len + if rest[len..].starts_with(b"\r\n") { 2 } else { 1 };
    }
    lines
}

/// Decodes with replacement, and counts the replaced parts. Bytes that could become a character are left out if the line has not ended.
fn text(value: &[u8], is_complete: bool) -> (String, u64) {
    let (mut text, mut replaced) = (String::new(), 0);
    let mut chunks = value.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        let is_held = !is_complete
            && chunks.peek().is_none()
            && std::str::from_utf8(chunk.invalid()).is_err_and(|e| e.error_len().is_none());
        if !chunk.invalid().is_empty() && !is_held {
            text.push('\u{FFFD}');
            replaced += 1;
        }
    }
    (text, replaced)
}
