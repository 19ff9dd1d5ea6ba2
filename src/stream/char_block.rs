//! How are the `char`s of a text, which may contain repairs, yielded with their offsets at the cost of a slice?

use std::mem;

use bytes::Buf;
use bytestring::ByteString;
use utf8_simd::text::assert_char_boundary;
use utf8_simd::transcode;

use crate::adaptor::ChunkText;
use crate::decoder::{ErrorMode, Utf8Error, Utf8Options, floor_char_boundary, free_if_empty};

/// Text that has not been yielded. Its beginning is decoded to `char`s.
#[derive(Clone, Debug)]
pub(super) struct CharBlock {
    piece: CharPiece,
    /// Decoded `char`s. Those from `next` have not been yielded.
    ///
    /// For most scripts, decoding many at once is faster than `str::chars`, which mispredicts a
    /// branch at each change of the encoded length.
    ahead: Vec<char>,
    next: usize,
    /// A `char`, at most `next`, and where it begins in the piece. Where `next` begins follows from the `char`s
    /// between: to yield one changes `next` and nothing else. Rows `chars` of `benches/scenarios/reader.rs`.
    mark: Mark,
    /// Where the last of them ends in the piece.
    ahead_to: usize,
}

/// A decoded `char`, and where it begins.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// An index in the decoded `char`s.
    char: usize,
    /// An index in the piece.
    byte: usize,
}

impl CharBlock {
    /// Creates an empty block at `offset`.
    pub(super) const fn new(offset: u64) -> Self {
        let piece = CharPiece::Text { text: ByteString::new(), offset };
        Self { piece, ahead: Vec::new(), next: 0, mark: Mark { char: 0, byte: 0 }, ahead_to: 0 }
    }

    /// Replaces the piece, which has been yielded completely.
    pub(super) fn fill(&mut self, piece: CharPiece) {
        self.piece = piece;
        self.look_ahead_from(0);
    }

    /// Frees all memory of an empty block.
    pub(super) fn shrink(&mut self) {
        debug_assert!(self.as_str().is_empty());
        *self = Self::new(self.offset());
    }

    #[inline]
    pub(super) fn next_char(&mut self) -> Option<char> {
        let next = *self.ahead.get(self.next)?;
        self.next += 1;
        Some(next)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.ahead.get(self.next).copied()
    }

    /// Returns the number of bytes of the piece that have been yielded.
    #[inline]
    fn at(&self) -> usize {
        let yielded = &self.ahead[self.mark.char..self.next];
        self.mark.byte + yielded.iter().map(|&c| len_of(c)).sum::<usize>()
    }

    /// Moves the mark to the next `char`, so that [`at`](Self::at) costs nothing.
    #[inline]
    pub(super) fn mark(&mut self) {
        self.mark = Mark { char: self.next, byte: self.at() };
    }

    /// Returns and consumes all decoded `char`s.
    pub(super) fn take_chars(&mut self) -> &[char] {
        let from = mem::replace(&mut self.next, self.ahead.len());
        self.mark = Mark { char: self.next, byte: self.ahead_to };
        &self.ahead[from..]
    }

    pub(super) fn as_str(&self) -> &str {
        &self.piece.as_str()[self.at()..]
    }

    /// Returns the offset in the stream of the next `char`.
    pub(super) fn offset(&self) -> u64 {
        self.piece.offset(self.at())
    }

    /// Consumes `len` bytes of the text.
    ///
    /// # Panics
    ///
    /// If `len` is not a character boundary of the text.
    pub(super) fn consume(&mut self, len: usize) {
        assert_char_boundary(self.as_str(), len);
        let mut at = self.at();
        let end = at + len;
        if end < self.ahead_to {
            while at < end
                && let Some(next) = self.next_char()
            {
                at += len_of(next);
            }
            self.mark = Mark { char: self.next, byte: at };
        } else {
            self.look_ahead_from(end);
        }
    }

    /// Decodes the beginning of the remaining text. No decoded `char`s may be left. Returns whether
    /// there is any text.
    pub(super) fn look_ahead(&mut self) -> bool {
        debug_assert_eq!(self.next, self.ahead.len());
        self.look_ahead_from(self.ahead_to)
    }

    /// Like [`look_ahead`](Self::look_ahead), if the remaining text begins `at` bytes into the piece.
    fn look_ahead_from(&mut self, at: usize) -> bool {
        let text = &self.piece.as_str()[at..];
        let some = &text[..floor_char_boundary(text, AHEAD)];
        self.next = 0;
        self.mark = Mark { char: 0, byte: at };
        self.ahead.resize(some.len(), '\0');
        let decoded = transcode::<str, char>(some, &mut self.ahead).written;
        self.ahead.truncate(decoded);
        self.ahead_to = at + some.len();
        decoded > 0
    }
}

/// Like `char::len_utf8`, but without branches.
#[inline]
fn len_of(c: char) -> usize {
    1 + usize::from(c >= '\u{80}') + usize::from(c >= '\u{800}') + usize::from(c >= '\u{10000}')
}

/// The maximum number of bytes of text decoded at once, into at most 8 KiB of `char`s.
const AHEAD: usize = 2048;

/// Text and its offset in the stream. Never empty.
#[derive(Clone, Debug)]
pub(super) enum CharPiece {
    /// Well-formed text that starts at `offset`.
    Text { text: ByteString, offset: u64 },
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

impl CharPiece {
    #[inline]
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Text { text, .. } => text,
            Self::Repaired(repaired) => &repaired.text,
        }
    }

    /// Returns the offset in the stream of the character at `at`, or of the end of the text.
    pub(super) fn offset(&self, at: usize) -> u64 {
        match self {
            Self::Text { offset, .. } => offset + at as u64,
            Self::Repaired(repaired) => repaired.offset(at),
        }
    }
}

impl Repaired {
    fn push(&mut self, mode: ErrorMode, options: Utf8Options, error: &Utf8Error) {
        let Some(repair) = mode.repair(error, options) else { return };
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
pub(super) fn next_piece(text: &mut ChunkText) -> Result<Option<CharPiece>, Utf8Error> {
    while let Some(piece) = text.decoder.take_piece(&mut text.chunk) {
        // After text, the decoder holds nothing.
        let position = text.decoder.position();
        let piece = match piece {
            Ok(text) => Some(CharPiece::Text { offset: position - text.len() as u64, text }),
            Err(error) => repaired_piece(text, error)?,
        };
        if piece.is_some() {
            return Ok(piece);
        }
    }
    Ok(None)
}

/// Returns the next piece that the end of the stream determines, then `None`.
pub(super) fn end_piece(text: &mut ChunkText) -> Result<Option<CharPiece>, Utf8Error> {
    while let Err(error) = text.decoder.finish() {
        if let Some(piece) = repaired_piece(text, error)? {
            return Ok(Some(piece));
        }
    }
    Ok(None)
}

/// Repairs an error and the errors that follow closely. With dense errors, a piece for each would
/// cost more than the repair itself.
fn repaired_piece(text: &mut ChunkText, error: Utf8Error) -> Result<Option<CharPiece>, Utf8Error> {
    if text.mode == ErrorMode::Fatal {
        return Err(error);
    }
    let (mut repaired, options) = (Repaired::default(), text.decoder.scanner().options());
    repaired.push(text.mode, options, &error);
    let window = text.chunk.len().min(WINDOW);
    for piece in text.decoder.push(&text.chunk[..window]) {
        match piece {
            Ok(text) => repaired.text.push_str(text),
            Err(error) => repaired.push(text.mode, options, &error),
        }
    }
    text.chunk.advance(window);
    free_if_empty(&mut text.chunk);
    Ok((!repaired.text.is_empty()).then_some(CharPiece::Repaired(repaired)))
}

/// How many bytes after an error are searched for more errors. Their text can be four times as long,
/// the list of repairs 16 times.
const WINDOW: usize = 1024;
