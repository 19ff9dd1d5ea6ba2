//! At most four bytes of text, by value: the replacement of one ill-formed byte or sequence.

/// Well-formed text of at most four bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortText {
    /// Invariant: the first `len` bytes, at most 4, are well-formed UTF-8; the others are zero.
    bytes: [u8; 4],
    len: u8,
}

impl ShortText {
    pub(crate) const REPLACEMENT: Self = Self::from_char(char::REPLACEMENT_CHARACTER);

    pub(crate) const fn from_char(c: char) -> Self {
        let mut bytes = [0; 4];
        let len = c.encode_utf8(&mut bytes).len() as u8;
        Self { bytes, len }
    }

    /// Returns the character that `byte` encodes in ISO 8859-1.
    #[inline]
    pub(crate) fn from_latin1(byte: u8) -> Self {
        Self { bytes: LATIN1[usize::from(byte)], len: 1 + (byte >> 7) }
    }

    /// `\xHH`
    #[inline]
    pub(crate) fn escape(byte: u8) -> Self {
        Self { bytes: ESCAPES[usize::from(byte)], len: 4 }
    }

    /// Returns the bytes, and the length of the text.
    #[inline]
    pub(crate) const fn bytes(self) -> ([u8; 4], usize) {
        (self.bytes, self.len as usize)
    }
}

/// `\xHH` for each byte.
static ESCAPES: [[u8; 4]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut escapes = [*b"\\x00"; 256];
    let mut byte = 0;
    while byte < 256 {
        escapes[byte] = [b'\\', b'x', DIGITS[byte >> 4], DIGITS[byte & 0xF]];
        byte += 1;
    }
    escapes
};

/// Each byte in ISO 8859-1, as UTF-8. (The table is faster than the arithmetic: row `as-latin1/ff/all` of
/// `benches/scenarios/damaged.rs`.)
static LATIN1: [[u8; 4]; 256] = {
    let mut latin1 = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let [high, low] = [byte as u8 >> 6, byte as u8 & 0x3F];
        latin1[byte] = match byte {
            0..0x80 => [byte as u8, 0, 0, 0],
            _ => [0xC0 | high, 0x80 | low, 0, 0],
        };
        byte += 1;
    }
    latin1
};
