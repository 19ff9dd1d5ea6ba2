//! How is a code point written in a dialect?

use core::fmt;
use core::ops::Deref;

use crate::dialect::Dialect;
use crate::dialect::grammar::generalized;
use crate::dialect::options::{Options, Unpaired, Values};

/// The bytes that one call of a [`DialectEncoder`](crate::dialect::DialectEncoder) returns: at most
/// 24. They are not allocated.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EncodedBytes {
    /// Invariant: bytes from `len` on are zero, so that the derived comparisons hold.
    bytes: [u8; 24],
    len: u8,
}

impl EncodedBytes {
    pub(super) const EMPTY: Self = Self { bytes: [0; 24], len: 0 };

    /// Appends `bytes`. The longest result is a BOM, the escape of a held surrogate, and the escape
    /// of the largest code point: 3 + 6 + 10 bytes.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        let at = usize::from(self.len);
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len() as u8;
    }

    pub(super) fn extend_escape(&mut self, code_point: u32) {
        let (mark, digits) = if code_point <= 0xFFFF { (b"\\u", 4) } else { (b"\\U", 8) };
        self.extend(mark);
        for digit in (0..digits).rev() {
            let nibble = code_point >> (4 * digit) & 0xF;
            self.extend(&[b"0123456789abcdef"[nibble as usize]]);
        }
    }
}

impl Deref for EncodedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl AsRef<[u8]> for EncodedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for EncodedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x?}", &**self)
    }
}

/// Returns the bytes of a code point and their number, one to six, or `None` if it has no form in
/// the dialect.
pub(super) fn form(
    dialect: Dialect,
    options: Options,
    code_point: u32,
) -> Option<([u8; 6], usize)> {
    match (dialect, code_point) {
        (Dialect::ModifiedUtf8, 0) => Some(([0xC0, 0x80, 0, 0, 0, 0], 2)),
        (Dialect::Cesu8 | Dialect::ModifiedUtf8, 0x1_0000..=0x10_FFFF) => {
            Some((pair_form(code_point), 6))
        }
        (Dialect::Cesu8 | Dialect::ModifiedUtf8, 0xD800..=0xDFFF)
            if options.unpaired == Unpaired::Rejected =>
        {
            None
        }
        (Dialect::Utf8b, 0xDC80..=0xDCFF) => Some(([code_point as u8, 0, 0, 0, 0, 0], 1)),
        (Dialect::Utf8b | Dialect::Rfc2279, 0xD800..=0xDFFF) => None,
        (Dialect::Rfc2279, 0x11_0000..=0x7FFF_FFFF) if options.values == Values::All => {
            Some(generalized(code_point))
        }
        (_, 0x11_0000..) => None,
        _ => Some(generalized(code_point)),
    }
}

/// Returns the two surrogates of a value above U+FFFF, in three bytes each.
pub(super) const fn pair_form(value: u32) -> [u8; 6] {
    let value = value - 0x1_0000;
    [
        0xED,
        0xA0 | (value >> 16) as u8 & 0x0F,
        0x80 | (value >> 10) as u8 & 0x3F,
        0xED,
        0xB0 | (value >> 6) as u8 & 0x0F,
        0x80 | value as u8 & 0x3F,
    ]
}
