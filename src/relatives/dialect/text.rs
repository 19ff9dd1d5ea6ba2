use alloc::string::String;
use alloc::vec::Vec;

use crate::core::mode::ErrorMode;
use crate::core::tally::Tally;
use crate::dialect::CodePoint;
use crate::dialect::decoder::DialectDecoder;
use crate::dialect::error::DialectError;
use crate::dialect::grammar::Behind;
use crate::dialect::pieces::{DialectPiece, DialectPieces};
use crate::dialect::scanner::{DialectScanner, DialectStep};

/// Into a `String` or code points, with the error mode of the decoder.
impl DialectDecoder {
    /// Decodes `chunk` and appends its text to `text`, which is made to have room for as many bytes.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`] the first ill-formed part, or the first code point that is no Unicode
    /// scalar value ([`NotScalar`](crate::dialect::DialectErrorKind::NotScalar)). The text before it
    /// is out, the decoder stands behind it ([`position`](Self::position)), and the rest of the
    /// chunk has not been looked at. In the other modes, none.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
    /// let mut text = String::new();
    /// for chunk in [&b"nul: \xC0"[..], b"\x80, smile: \xED\xA0\xBD\xED\xB8", b"\x80"] {
    ///     decoder.push_to_string(chunk, &mut text).unwrap();
    /// }
    /// decoder.finish_to_string(&mut text).unwrap();
    /// assert_eq!(text, "nul: \0, smile: 😀");
    /// ```
    pub fn push_to_string(&mut self, chunk: &[u8], text: &mut String) -> Result<(), DialectError> {
        text.reserve(chunk.len());
        let mut read = 0;
        while !self.incomplete().is_empty() && read < chunk.len() {
            if let Some(used) = self.resume_text(&chunk[read..], text) {
                read += used;
                break;
            }
            let (used, resumed) = self.resume(&chunk[read..], Behind::More);
            read += used;
            match resumed {
                None => {}
                Some(Ok(code_point)) => self.put(code_point, text)?,
                Some(Err(error)) => text.push_str(&error.repair(self.error_mode()).ok_or(error)?),
            }
        }
        while read < chunk.len() {
            let mode = self.error_mode();
            let run = decode_to(&mut self.scanner, &mut self.tally, &chunk[read..], mode, text);
            read += run.read;
            match run.halt {
                None => {
                    self.hold(&chunk[read..]);
                    break;
                }
                Some(Halt::CodePoint(code_point, len)) => {
                    read += len;
                    self.put(code_point, text)?;
                }
                Some(Halt::Error(error)) => return Err(self.tally.note(error)),
            }
        }
        Ok(())
    }

    /// Ends the stream, and appends what its end comes to.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], as [`finish`](Self::finish) and [`push_to_string`]; there may be
    /// more than one: call until `Ok`.
    ///
    /// [`push_to_string`]: Self::push_to_string
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Cesu8).with_error_mode(ErrorMode::Escape);
    /// let mut text = String::new();
    /// decoder.push_to_string(b"half \xED\xA0\xBD", &mut text).unwrap();
    /// decoder.finish_to_string(&mut text).unwrap();
    /// assert_eq!(text, r"half \xed\xa0\xbd");
    /// ```
    pub fn finish_to_string(&mut self, text: &mut String) -> Result<(), DialectError> {
        while let Some(piece) = self.finish().next() {
            match piece {
                Ok(DialectPiece::Text(piece)) => text.push_str(piece),
                Ok(DialectPiece::CodePoint(code_point)) => self.put(code_point, text)?,
                Err(error) => text.push_str(&error.repair(self.error_mode()).ok_or(error)?),
            }
        }
        Ok(())
    }

    /// Decodes `chunk` and appends its code points.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`] the first ill-formed part; the decoder stands behind it
    /// ([`position`](Self::position)), and the rest of the chunk has not been looked at. In the other
    /// modes none: the code points of what repairs an error are appended.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{CodePoint, Dialect, DialectDecoder};
    ///
    /// let mut code_points = Vec::new();
    /// let mut decoder = DialectDecoder::new(Dialect::Rfc2279);
    /// for chunk in [&b"A\xFD\xBF\xBF"[..], b"\xBF\xBF\xBF"] {
    ///     decoder.push_to_code_points(chunk, &mut code_points).unwrap();
    /// }
    /// assert_eq!(code_points, [CodePoint::from('A'), CodePoint::MAX]);
    /// ```
    pub fn push_to_code_points(
        &mut self,
        chunk: &[u8],
        code_points: &mut Vec<CodePoint>,
    ) -> Result<(), DialectError> {
        let mode = self.error_mode();
        collect(self.push(chunk), mode, code_points)
    }

    /// Ends the stream, and appends the code points that its end comes to.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], as [`finish`](Self::finish); there may be more than one: call until
    /// `Ok`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{CodePoint, Dialect, DialectDecoder};
    ///
    /// let mut code_points = Vec::new();
    /// let mut decoder = DialectDecoder::new(Dialect::Utf8b);
    /// decoder.push_to_code_points(b"\xE2\x82", &mut code_points).unwrap();
    /// assert!(code_points.is_empty()); // it may become a euro sign
    /// decoder.finish_to_code_points(&mut code_points).unwrap();
    /// assert_eq!(code_points, [0xDCE2, 0xDC82].map(|value| CodePoint::new(value).unwrap()));
    /// ```
    pub fn finish_to_code_points(
        &mut self,
        code_points: &mut Vec<CodePoint>,
    ) -> Result<(), DialectError> {
        let mode = self.error_mode();
        collect(self.finish(), mode, code_points)
    }

    /// Appends a code point that has just been decoded, if it is text.
    fn put(&mut self, code_point: CodePoint, text: &mut String) -> Result<(), DialectError> {
        match code_point.to_char() {
            Some(c) => text.push(c),
            None => {
                let error = self.tally.note(self.scanner.not_scalar(code_point));
                text.push_str(&error.repair(self.error_mode()).ok_or(error)?);
            }
        }
        Ok(())
    }
}

fn collect(
    pieces: DialectPieces<'_, '_>,
    mode: ErrorMode,
    code_points: &mut Vec<CodePoint>,
) -> Result<(), DialectError> {
    for piece in pieces {
        match piece {
            Ok(piece) => code_points.extend(piece.code_points()),
            Err(error) => {
                let repair = error.repair(mode).ok_or(error)?;
                code_points.extend(repair.chars().map(CodePoint::from));
            }
        }
    }
    Ok(())
}

/// How far [`decode_to`] has come.
pub(crate) struct Run {
    /// Bytes consumed, but for what it halted at.
    pub(crate) read: usize,
    /// What it halted at, and the scanner stands behind; `None` where at most five bytes are left,
    /// which may still become something.
    pub(crate) halt: Option<Halt>,
    /// The scanner in front of that.
    #[cfg(feature = "codec")]
    pub(crate) before: DialectScanner,
}

/// What is not for [`decode_to`] to decide.
pub(crate) enum Halt {
    /// So many bytes are a code point that is no scalar value.
    CodePoint(CodePoint, usize),
    /// An error that is not to be repaired; it has not been counted.
    Error(DialectError),
}

/// Appends the text of `input`, each error repaired, up to something that is no text.
pub(crate) fn decode_to(
    scanner: &mut DialectScanner,
    tally: &mut Tally<DialectError>,
    input: &[u8],
    mode: ErrorMode,
    text: &mut String,
) -> Run {
    let mut read = 0;
    loop {
        read += scanner.join_pairs(&input[read..], text);
        if scanner.is_under_way() {
            let (piece, is_all) = scanner.take_text(&input[read..]);
            text.push_str(piece);
            read += piece.len();
            if is_all {
                return Run {
                    read,
                    halt: None,
                    #[cfg(feature = "codec")]
                    before: *scanner,
                };
            }
            if !piece.is_empty() {
                continue;
            }
        }
        #[cfg(feature = "codec")]
        let before = *scanner;
        let step = match scanner.is_under_way() {
            true => scanner.step_other(&input[read..], Behind::More),
            false => scanner.step(&input[read..], Behind::More),
        };
        let halt = match step {
            DialectStep::Text(piece) => {
                text.push_str(piece);
                read += piece.len();
                continue;
            }
            DialectStep::CodePoint(code_point, len) => match code_point.to_char() {
                Some(c) => {
                    text.push(c);
                    read += len;
                    continue;
                }
                None => Some(Halt::CodePoint(code_point, len)),
            },
            DialectStep::Silent(len) => {
                read += len;
                continue;
            }
            DialectStep::Error(error) => match error.repair(mode) {
                Some(repair) => {
                    tally.note(error);
                    text.push_str(&repair);
                    read += error.bytes().len();
                    continue;
                }
                None => Some(Halt::Error(error)),
            },
            DialectStep::Hold => None,
        };
        return Run {
            read,
            halt,
            #[cfg(feature = "codec")]
            before,
        };
    }
}
