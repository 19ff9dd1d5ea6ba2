//! How is a stream in a dialect decoded to a `String` or to code points, with errors repaired?

use alloc::string::String;
use alloc::vec::Vec;

use crate::decoder::{AtEnd, ErrorMode, ErrorStats, Progress, Status, Step, progress};
use crate::dialect::DialectPiece;
use crate::dialect::decoder::DialectDecoder;
use crate::dialect::error::DialectError;
use crate::dialect::scanner::DialectScanner;

/// Methods that write to a `String` or to code points, with an [`ErrorMode`].
impl DialectDecoder {
    /// Decodes `chunk` and appends the text to `text`. `mode` determines what replaces each error.
    ///
    /// A code point that is not a Unicode scalar value is an error here
    /// ([`NotScalar`](crate::Utf8ErrorKind::NotScalar)). The status is
    /// [`Status::Done`], or [`Status::IllFormed`] in [`ErrorMode::Fatal`]. After an error, push the
    /// bytes that have not been read to continue. It reserves one byte of `text` per byte of
    /// `chunk`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::decoder::Status;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
    /// let mut text = String::new();
    /// for chunk in [&b"nul: \xC0"[..], b"\x80, smile: \xED\xA0\xBD\xED\xB8", b"\x80"] {
    ///     let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
    ///     assert_eq!(progress.status, Status::Done);
    /// }
    /// decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
    /// assert_eq!(text, "nul: \0, smile: 😀");
    /// ```
    pub fn push_to_string(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        text: &mut String,
    ) -> Progress<DialectError> {
        let (start, before) = (self.position(), text.len());
        let appended = self.append_chunk(chunk, mode, text);
        let status = appended.map_or_else(Status::IllFormed, |()| Status::Done);
        let used = (self.position() - start) as usize;
        progress(used, self.incomplete(), text.len() - before, status)
    }

    /// Ends the stream and appends the text of the held bytes.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], the same as [`finish`](Self::finish), and a code point that is not
    /// a Unicode scalar value. There may be more than one: call it until it returns `Ok`.
    pub fn finish_to_string(
        &mut self,
        mode: ErrorMode,
        text: &mut String,
    ) -> Result<(), DialectError> {
        loop {
            match self.end(mode) {
                Ok(None) => return Ok(()),
                Ok(Some(code_point)) => self.append(code_point, mode, text)?,
                Err(error) => text.push_str(&error.repair(mode).ok_or(error)?),
            }
        }
    }

    /// Decodes `chunk` and appends its code points. `mode` determines what replaces each error.
    ///
    /// The status is [`Status::Done`], or [`Status::IllFormed`] in [`ErrorMode::Fatal`]. After an
    /// error, push the bytes that have not been read to continue. `written` counts code points.
    pub fn push_to_code_points(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        code_points: &mut Vec<u32>,
    ) -> Progress<DialectError> {
        let (start, before) = (self.position(), code_points.len());
        let appended = self.pieces(chunk, mode).try_for_each(|piece| {
            match piece {
                Ok(piece) => code_points.extend(piece.code_points()),
                Err(error) => {
                    code_points.extend(error.repair(mode).ok_or(error)?.chars().map(u32::from));
                }
            }
            Ok(())
        });
        let status = appended.map_or_else(Status::IllFormed, |()| Status::Done);
        let used = (self.position() - start) as usize;
        progress(used, self.incomplete(), code_points.len() - before, status)
    }

    /// Ends the stream and appends the code points of the held bytes.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], the same as [`finish`](Self::finish). There may be more than one:
    /// call it until it returns `Ok`.
    pub fn finish_to_code_points(
        &mut self,
        mode: ErrorMode,
        code_points: &mut Vec<u32>,
    ) -> Result<(), DialectError> {
        loop {
            match self.end(mode) {
                Ok(None) => return Ok(()),
                Ok(Some(code_point)) => code_points.push(code_point),
                Err(error) => {
                    code_points.extend(error.repair(mode).ok_or(error)?.chars().map(u32::from));
                }
            }
        }
    }

    /// Like [`push_to_string`](Self::push_to_string), up to the first error that is not repaired.
    fn append_chunk(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        text: &mut String,
    ) -> Result<(), DialectError> {
        text.reserve(chunk.len());
        let mut read = 0;
        if self.incomplete().is_empty() && self.scanner.expects_text() {
            // The first step of `decode_run`, and usually the only one.
            let (piece, is_all) = self.scanner.take_text(chunk);
            text.push_str(piece);
            read = piece.len();
            if is_all {
                self.partial.hold(&chunk[read..]);
                return Ok(());
            }
        }
        let span = self.scanner.span(mode);
        while !self.incomplete().is_empty() && read < chunk.len() {
            if let Some(used) = self.resume_text(&chunk[read..], text) {
                read += used;
                break;
            }
            let (used, resumed) = self.resume(&chunk[read..], AtEnd::No, span);
            read += used;
            match resumed {
                None => {}
                Some(Ok(code_point)) => self.append(code_point, mode, text)?,
                Some(Err(error)) => text.push_str(&error.repair(mode).ok_or(error)?),
            }
        }
        while read < chunk.len() {
            let (scanner, stats) = (&mut self.scanner, &mut self.stats);
            let (used, step) = decode_run(scanner, stats, &chunk[read..], AtEnd::No, mode, text);
            read += used;
            match step {
                Step::Text((code_point, len)) => {
                    read += len;
                    self.append(code_point, mode, text)?;
                }
                Step::Error(error) => return Err(self.stats.note(error)),
                Step::Skip(_) | Step::NeedMore => {
                    self.partial.hold(&chunk[read..]);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Appends the code point just decoded, or its repair if it is not a scalar value.
    fn append(
        &mut self,
        code_point: u32,
        mode: ErrorMode,
        text: &mut String,
    ) -> Result<(), DialectError> {
        match char::from_u32(code_point) {
            Some(c) => text.push(c),
            None => {
                let error = self.stats.note(self.scanner.not_scalar(code_point));
                text.push_str(&error.repair(mode).ok_or(error)?);
            }
        }
        Ok(())
    }
}

/// Appends the text of `input`, with errors repaired. Returns the number of bytes consumed, and the step after them that
/// is not text: a code point that is not a scalar value, and its number of bytes; an error that the mode does not repair,
/// which has not been counted; or that more bytes are needed.
pub(crate) fn decode_run(
    scanner: &mut DialectScanner,
    stats: &mut ErrorStats<DialectError>,
    input: &[u8],
    at_end: AtEnd,
    mode: ErrorMode,
    text: &mut String,
) -> (usize, Step<(u32, usize), DialectError>) {
    let span = scanner.span(mode);
    let mut read = 0;
    loop {
        read += scanner.join_pairs(&input[read..], text);
        let is_under_way = scanner.is_under_way();
        if is_under_way {
            let (piece, is_all) = scanner.take_text(&input[read..]);
            text.push_str(piece);
            read += piece.len();
            if is_all && at_end == AtEnd::No {
                return (read, Step::NeedMore);
            }
            if !piece.is_empty() {
                continue;
            }
        }
        let step = match is_under_way {
            true => scanner.step_other(&input[read..], at_end, span),
            false => scanner.step(&input[read..], at_end, span),
        };
        read += match step {
            Step::Text((DialectPiece::Text(piece), len)) => {
                text.push_str(piece);
                len
            }
            Step::Text((DialectPiece::CodePoint(code_point), len)) => {
                let Some(c) = char::from_u32(code_point) else {
                    return (read, Step::Text((code_point, len)));
                };
                text.push(c);
                len
            }
            Step::Skip(len) => len,
            Step::Error(error) => {
                let Some(repair) = error.repair(mode) else { return (read, Step::Error(error)) };
                stats.note(error);
                text.push_str(&repair);
                error.bytes().len()
            }
            Step::NeedMore => return (read, Step::NeedMore),
        };
    }
}
