//! How is text encoded in bulk, into a `Vec`?

use alloc::vec::Vec;

use utf8_simd::{Level, NulForm};

use crate::dialect::{Dialect, encoder::DialectEncoder, error::DialectError};

/// Methods that write to a `Vec`.
impl DialectEncoder {
    /// Encodes `text` and appends its bytes. An empty text only writes the BOM, if requested.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`](crate::ErrorMode::Fatal), a held surrogate that has no form in the
    /// dialect. `text` has then not been consumed: push it again. Text itself is never rejected.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// let mut bytes = Vec::new();
    /// let mut encoder = DialectEncoder::new(Dialect::ModifiedUtf8);
    /// encoder.push_to_vec("a\0😀", &mut bytes).unwrap();
    /// assert_eq!(bytes, b"a\xC0\x80\xED\xA0\xBD\xED\xB8\x80");
    /// ```
    pub fn push_to_vec(&mut self, text: &str, bytes: &mut Vec<u8>) -> Result<(), DialectError> {
        self.push_to(text, |portion| bytes.extend_from_slice(portion))
    }

    /// Encodes code points and appends their bytes.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`](crate::ErrorMode::Fatal), the first code point that has no form in
    /// the dialect. Those before it have been written. To continue, push those from
    /// [`position`](Self::position).
    pub fn push_code_points_to_vec(
        &mut self,
        code_points: &[u32],
        bytes: &mut Vec<u8>,
    ) -> Result<(), DialectError> {
        bytes.extend_from_slice(self.take_bom());
        bytes.reserve(code_points.len());
        code_points.iter().try_for_each(|&code_point| {
            self.push_code_point(code_point).map(|encoded| bytes.extend_from_slice(&encoded))
        })
    }

    /// Encodes UTF-16 units and appends their bytes.
    ///
    /// # Errors
    ///
    /// The same as [`push_code_points_to_vec`](Self::push_code_points_to_vec).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// let mut bytes = Vec::new();
    /// let mut encoder = DialectEncoder::new(Dialect::Wtf8);
    /// encoder.push_utf16_to_vec(&[0xD83D], &mut bytes).unwrap();
    /// encoder.push_utf16_to_vec(&[0xDE00, 0xD83D, 0x21], &mut bytes).unwrap();
    /// encoder.finish_to_vec(&mut bytes).unwrap();
    /// assert_eq!(bytes, b"\xF0\x9F\x98\x80\xED\xA0\xBD!");
    /// ```
    pub fn push_utf16_to_vec(
        &mut self,
        units: &[u16],
        bytes: &mut Vec<u8>,
    ) -> Result<(), DialectError> {
        bytes.extend_from_slice(self.take_bom());
        bytes.reserve(units.len());
        units.iter().try_for_each(|&unit| {
            self.push_unit(unit).map(|encoded| bytes.extend_from_slice(&encoded))
        })
    }

    /// Ends the stream, like [`finish`](Self::finish), and appends the last bytes.
    ///
    /// # Errors
    ///
    /// The same as [`finish`](Self::finish).
    pub fn finish_to_vec(&mut self, bytes: &mut Vec<u8>) -> Result<(), DialectError> {
        bytes.extend_from_slice(self.take_bom());
        bytes.extend_from_slice(&self.finish()?);
        Ok(())
    }

    /// Encodes `text` and passes its bytes to `out` in portions.
    pub(crate) fn push_to(
        &mut self,
        text: &str,
        mut out: impl FnMut(&[u8]),
    ) -> Result<(), DialectError> {
        out(self.take_bom());
        if text.is_empty() {
            // The halves of a pair stay adjacent.
            return Ok(());
        }
        // The result of `finish` is returned through memory: scenario `dialect`, rows `*-encode`.
        if self.holds_before_text() {
            out(&self.finish_before_text()?);
        }
        encode_text(self.dialect(), text, out);
        Ok(())
    }
}

/// The number of bytes that are rewritten at once.
const BUFFER: usize = 512;

/// Passes `text` to `out`. Copies stretches that are the same in UTF-8, and rewrites what is between them.
fn encode_text(dialect: Dialect, text: &str, mut out: impl FnMut(&[u8])) {
    let nul = match dialect {
        Dialect::Cesu8 => NulForm::OneByte,
        Dialect::ModifiedUtf8 => NulForm::TwoBytes,
        _ => return out(text.as_bytes()),
    };
    let level = Level::detect();
    let mut rest = text.as_bytes();
    loop {
        let same = level.find_outside(rest, nul.plain_bytes()).unwrap_or(rest.len());
        out(&rest[..same]);
        rest = &rest[same..];
        // After one sequence that differs, more are likely.
        let mut buffer = [0; BUFFER];
        loop {
            if rest.is_empty() {
                return;
            }
            let (read, written) = level.split_pairs(rest, nul, &mut buffer);
            out(&buffer[..written]);
            rest = &rest[read..];
            if read == written {
                break;
            }
        }
    }
}
