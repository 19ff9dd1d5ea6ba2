use std::mem;

use bytes::Buf;
use bytestring::ByteString;

use crate::adaptor::chunk::Text;
use crate::core::carry::Resumed;
use crate::core::error::Utf8Error;
use crate::core::mode::{ErrorMode, Repair};

/// Text, and where it stands in the stream. Never empty.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Characters that came, the first of them from `offset`.
    Text { text: ByteString, offset: u64 },
    /// One that was cut.
    Char { text: Repair, offset: u64 },
    /// Text that begins with a repair, or would if that were not empty.
    Repaired(Repaired),
}

/// Text in which there are repairs.
#[derive(Clone, Debug, Default)]
pub struct Repaired {
    text: String,
    /// Of each repair. Invariant: there is one at 0, and none is before the one that precedes it.
    places: Vec<Place>,
}

/// Where a repair stands in a text, and in the stream the ill-formed part that it stands for.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: u64,
    at: u32,
    /// How long the repair is.
    len: u8,
    /// How long the ill-formed part is.
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

    /// The offset in the stream of what stands at `at` in the text, or ends there.
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
        self.places.push(Place {
            offset: error.valid_up_to(),
            at: self.text.len() as u32,
            len: repair.len() as u8,
            error_len: error.bytes().len() as u8,
        });
        self.text.push_str(&repair);
    }

    fn offset(&self, at: usize) -> u64 {
        // Behind the last character, what is skipped has not been passed.
        let last = at.min(self.text.len() - 1);
        let behind = self.places.partition_point(|place| place.at as usize <= last);
        let Some(place) = self.places[..behind].last() else { return 0 };
        match (at - place.at as usize).checked_sub(usize::from(place.len)) {
            Some(text) => place.offset + u64::from(place.error_len) + text as u64,
            None => place.offset,
        }
    }
}

impl Text {
    /// Returns the next piece of the chunk, and leaves what is behind it.
    pub(super) fn next_piece(&mut self) -> Result<Option<Piece>, Utf8Error> {
        while !self.chunk.is_empty() {
            let found = if self.decoder.incomplete().is_empty() {
                self.whole_piece()
            } else {
                self.cut_piece()
            };
            if let Some(piece) = found.or_else(|error| self.repaired_piece(error))? {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    /// Returns what is to be said of the end, until there is nothing more.
    pub(super) fn end_piece(&mut self) -> Result<Option<Piece>, Utf8Error> {
        while let Err(error) = self.decoder.finish() {
            if let Some(piece) = self.repaired_piece(error)? {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    fn whole_piece(&mut self) -> Result<Option<Piece>, Utf8Error> {
        let mut pieces = self.decoder.push_bytes(mem::take(&mut self.chunk));
        let piece = pieces.next();
        self.chunk = pieces.into_rest();
        // Behind text nothing is held.
        let position = self.decoder.position();
        let piece = piece.transpose()?;
        Ok(piece.map(|text| Piece::Text { offset: position - text.len() as u64, text }))
    }

    /// Completes what is held. (`push_bytes` takes memory for the character.)
    fn cut_piece(&mut self) -> Result<Option<Piece>, Utf8Error> {
        let (used, resumed) = self.decoder.resume(&self.chunk);
        self.chunk.advance(used);
        match resumed {
            Resumed::Nothing => Ok(None),
            Resumed::Error(error) => Err(error),
            Resumed::Char(c) => {
                let offset = self.decoder.position() - c.len_utf8() as u64;
                Ok(Some(Piece::Char { text: Repair::from_char(c), offset }))
            }
        }
    }

    /// Repairs an error and those that follow it closely. (A piece for each of them would cost more
    /// than all of them do.)
    fn repaired_piece(&mut self, error: Utf8Error) -> Result<Option<Piece>, Utf8Error> {
        if self.mode == ErrorMode::Fatal {
            return Err(error);
        }
        let mut repaired = Repaired::default();
        repaired.push(self.mode, &error);
        let window = self.chunk.len().min(WINDOW);
        for piece in self.decoder.push(&self.chunk[..window]) {
            match piece {
                Ok(text) => repaired.text.push_str(text),
                Err(error) => repaired.push(self.mode, &error),
            }
        }
        self.chunk.advance(window);
        Ok((!repaired.text.is_empty()).then_some(Piece::Repaired(repaired)))
    }
}

/// So many bytes behind an error are looked at for more, at the most. The text of so many may be four
/// times as long, and the places of so many errors 16 times.
const WINDOW: usize = 1024;
