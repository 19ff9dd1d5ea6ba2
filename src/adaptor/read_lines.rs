//! What does a reader or a stream of lines hold, and when does a line come? It does no I/O; both `Utf8Lines` share it.

use bytes::BytesMut;

use crate::adaptor::SourceState;
use crate::adaptor::read_text::Unread;
use crate::core::decoder::Utf8Decoder;
use crate::lines::machine::{LineMachine, NoLegacy};
use crate::lines::{Delimiter, Line, LineError};

/// Lines, and the bytes that are in no line yet.
///
/// The adaptor does this loop:
///
/// ```text
/// if let Some(line) = lines.next_line() { deliver line }
/// if let Some(line) = lines.last_line() { deliver line }
/// if lines.has_ended()                  { deliver the end }
/// append bytes to lines.buffer(), or call lines.finish() at the end
/// ```
#[derive(Clone, Debug)]
pub(crate) struct ReadLines {
    machine: LineMachine<NoLegacy>,
    buffer: BytesMut,
    state: SourceState,
}

impl ReadLines {
    pub(crate) fn new() -> Self {
        let (machine, buffer) = (LineMachine::new(NoLegacy), BytesMut::new());
        Self { machine, buffer, state: SourceState::Open }
    }

    /// The lines of the unread bytes come first.
    pub(crate) fn continuing(unread: Unread) -> Self {
        let Unread { bytes, decoder, mode, has_ended } = unread;
        let mut lines = Self { buffer: bytes, ..Self::new() };
        lines.machine.set_decoder(decoder);
        lines.machine.set_error_mode(mode);
        if has_ended {
            lines.finish();
        }
        lines
    }

    /// Returns the bytes that are in no line yet.
    pub(crate) fn into_unread(self) -> Unread {
        let (decoder, mode) = self.machine.into_decoder();
        Unread { bytes: self.buffer, decoder, mode, has_ended: self.state == SourceState::Ended }
    }

    pub(crate) fn set_delimiter(&mut self, delimiter: Delimiter) {
        self.machine.set_delimiter(delimiter);
    }

    pub(crate) fn set_max_length(&mut self, max_length: usize) {
        self.machine.set_max_length(max_length);
    }

    #[inline]
    pub(crate) fn decoder(&self) -> &Utf8Decoder {
        self.machine.decoder()
    }

    #[inline]
    pub(crate) fn rest(&self) -> &[u8] {
        &self.buffer
    }

    /// Returns where the adaptor appends bytes.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Returns the next line, if it is complete.
    #[inline(always)]
    pub(crate) fn next_line(&mut self) -> Option<Result<Line, LineError>> {
        if self.state != SourceState::Open {
            return None;
        }
        self.machine.next_line(&mut self.buffer)
    }

    /// Returns the next line, if the source has ended. Not one function with `next_line`: see `crate::core`, "Store
    /// forwarding"; scenario `reader`, rows `read-lines`.
    #[inline(always)]
    pub(crate) fn last_line(&mut self) -> Option<Result<Line, LineError>> {
        if self.state != SourceState::Ending {
            return None;
        }
        let line = self.machine.finish_line(&mut self.buffer);
        if line.is_none() {
            self.state = SourceState::Ended;
        }
        line
    }

    /// Whether no line follows.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.state == SourceState::Ended
    }

    /// The source has ended. Lines may be left.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.state = SourceState::Ending;
    }

    /// Rejects the current line, because the source failed and bytes of it may be missing.
    #[cfg(feature = "stream")]
    pub(crate) fn reject_line(&mut self) {
        self.machine.reject_line(&mut self.buffer);
    }

    /// Frees memory, because the source is pending.
    #[cfg(feature = "stream")]
    #[inline]
    pub(crate) fn shrink(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }
}
