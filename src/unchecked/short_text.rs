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
    pub(crate) const fn from_latin1(byte: u8) -> Self {
        match byte {
            0..0x80 => Self { bytes: [byte, 0, 0, 0], len: 1 },
            0x80.. => Self { bytes: [0xC0 | byte >> 6, 0x80 | byte & 0x3F, 0, 0], len: 2 },
        }
    }

    /// `\xHH`
    pub(crate) const fn escape(byte: u8) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = [DIGITS[(byte >> 4) as usize], DIGITS[(byte & 0xF) as usize]];
        Self { bytes: [b'\\', b'x', digits[0], digits[1]], len: 4 }
    }

    /// Returns the bytes, and the length of the text.
    #[inline]
    pub(crate) const fn bytes(self) -> ([u8; 4], usize) {
        (self.bytes, self.len as usize)
    }
}
