//! How are the offsets of characters kept in text that contains repairs?

use bytes::Buf;
use bytestring::ByteString;

use crate::adaptor::chunk_text::ChunkText;
use crate::core::carry::Resumed;
use crate::core::error::Utf8Error;
use crate::core::mode::{ErrorMode, Repair};

/// Text and its offset in the stream. Never empty.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Well-formed text that starts at `offset`.
    Text { text: ByteString, offset: u64 },
    /// One character that was split across chunks.
    Char { text: Repair, offset: u64 },
    /// Text that starts with a repair, which may be empty.
    Repaired(Repaired),
}

/// Text that contains repairs.
#[derive(Clone, Debug, Default)]
pub(super) struct Repaired {
    text: String,
    /// One per repair. Invariant: the first is at 0, and they are in order.
    repairs: Vec<RepairAt>,
}

/// The position of a repair in the text, and of its ill-formed part in the stream.
#[derive(Clone, Copy, Debug)]
struct RepairAt {
    offset: u64,
    at: u32,
    /// The length of the repair.
    len: u8,
    /// The length of the ill-formed part.
    error_len: u8,
}

impl Piece {
    #[inline]
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Text { text, .. } => text,
            Self::Char { text, .. } => text,
            Self::Repaired(repaired) => &repaired.text,
        }
    }

    /// Returns the offset in the stream of the character at `at`, or of the end of the text.
    pub(super) fn offset(&self, at: usize) -> u64 {
        match self {
            Self::Text { offset, .. } | Self::Char { offset, .. } => offset + at as u64,
            Self::Repaired(repaired) => repaired.offset(at),
        }
    }
}

impl Repaired {
    fn push(&mut self, mode: ErrorMode, error: &Utf8Error) {
        let Some(repair) = mode.repair(error) else { return };
        self.repairs.push(RepairAt {
            offset: error.valid_up_to(),
            at: self.text.len() as u32,
            len: repair.len() as u8,
            error_len: error.bytes().len() as u8,
        });
        self.text.push_str(&repair);
    }

    fn offset(&self, at: usize) -> u64 {
        // At the end of the text, an empty repair after the last character does not count.
        let last = at.min(self.text.len() - 1);
        let passed = self.repairs.partition_point(|repair| repair.at as usize <= last);
        let Some(repair) = self.repairs[..passed].last() else { return 0 };
        match (at - repair.at as usize).checked_sub(usize::from(repair.len)) {
            Some(text) => repair.offset + u64::from(repair.error_len) + text as u64,
            None => repair.offset,
        }
    }
}

/// Returns the next piece of the chunk. The rest of the chunk stays in `text`.
pub(super) fn next_piece(text: &mut ChunkText) -> Result<Option<Piece>, Utf8Error> {
    while !text.chunk.is_empty() {
        let found = if text.decoder.incomplete().is_empty() {
            whole_piece(text)
        } else {
            split_piece(text)
        };
        if let Some(piece) = found.or_else(|error| repaired_piece(text, error))? {
            return Ok(Some(piece));
        }
    }
    Ok(None)
}

/// Returns the next piece that the end of the stream determines, then `None`.
pub(super) fn end_piece(text: &mut ChunkText) -> Result<Option<Piece>, Utf8Error> {
    while let Err(error) = text.decoder.finish() {
        if let Some(piece) = repaired_piece(text, error)? {
            return Ok(Some(piece));
        }
    }
    Ok(None)
}

fn whole_piece(text: &mut ChunkText) -> Result<Option<Piece>, Utf8Error> {
    let piece = text.decoder.take_piece(&mut text.chunk);
    // After text, the decoder holds nothing.
    let position = text.decoder.position();
    let piece = piece.transpose()?;
    Ok(piece.map(|text| Piece::Text { offset: position - text.len() as u64, text }))
}

/// Completes the held character. Unlike `push_bytes`, this does not allocate.
fn split_piece(text: &mut ChunkText) -> Result<Option<Piece>, Utf8Error> {
    let (used, resumed) = text.decoder.resume(&text.chunk);
    text.chunk.advance(used);
    match resumed {
        Resumed::Nothing => Ok(None),
        Resumed::Error(error) => Err(error),
        Resumed::Char(c) => {
            let offset = text.decoder.position() - c.len_utf8() as u64;
            Ok(Some(Piece::Char { text: Repair::from_char(c), offset }))
        }
    }
}

/// Repairs an error and the errors that follow closely. With dense errors, a piece for each would
/// cost more than the repair itself.
fn repaired_piece(text: &mut ChunkText, error: Utf8Error) -> Result<Option<Piece>, Utf8Error> {
    if text.mode == ErrorMode::Fatal {
        return Err(error);
    }
    let mut repaired = Repaired::default();
    repaired.push(text.mode, &error);
    let window = text.chunk.len().min(WINDOW);
    for piece in text.decoder.push(&text.chunk[..window]) {
        match piece {
            Ok(text) => repaired.text.push_str(text),
            Err(error) => repaired.push(text.mode, &error),
        }
    }
    text.chunk.advance(window);
    Ok((!repaired.text.is_empty()).then_some(Piece::Repaired(repaired)))
}

/// How many bytes after an error are searched for more errors. Their text can be four times as long,
/// the list of repairs 16 times.
const WINDOW: usize = 1024;
