//! The headers of frames (RFC 6455 section 5.2).

use std::error::Error;
use std::fmt;

use bytes::{BufMut, BytesMut};
use utf8_codec::payload::websocket::{MessageError, Opcode};

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whether this is the last frame of its message.
    pub fin: bool,
    /// The opcode.
    pub opcode: Opcode,
    /// The masking key, if the payload is masked.
    pub mask: Option<[u8; 4]>,
    /// The length of the payload, in bytes.
    pub len: u64,
}

/// Why a header is rejected. The close code is 1002.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderError {
    /// A reserved bit is set, but no extension was negotiated.
    ReservedBits,
    /// The opcode is reserved.
    Opcode(MessageError),
    /// The length is not in its shortest form, or has its highest bit set.
    Length,
}

impl Header {
    /// Parses the header at the start of `bytes`, and returns it with its length; `None` if it is incomplete.
    ///
    /// # Errors
    ///
    /// Returned as soon as the bytes cannot be the beginning of a header.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, HeaderError> {
        let Some(&first) = bytes.first() else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err(HeaderError::ReservedBits);
        }
        let opcode = Opcode::try_from(first & 0x0F).map_err(HeaderError::Opcode)?;
        let Some(&second) = bytes.get(1) else { return Ok(None) };
        let (len, after) = match (second & 0x7F, &bytes[2..]) {
            (126, [a, b, after @ ..]) => (u64::from(u16::from_be_bytes([*a, *b])), after),
            (127, [a, b, c, d, e, f, g, h, after @ ..]) => {
                (u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]), after)
            }
            (126.., _) => return Ok(None),
            (len, after) => (u64::from(len), after),
        };
        let least = [0, 126, 1 << 16][usize::from((second & 0x7F).saturating_sub(125))];
        if len < least || len > u64::MAX >> 1 {
            return Err(HeaderError::Length);
        }
        let (mask, after) = match (second & 0x80, after.split_first_chunk()) {
            (0, _) => (None, after),
            (_, Some((mask, after))) => (Some(*mask), after),
            (_, None) => return Ok(None),
        };
        let fin = first & 0x80 != 0;
        Ok(Some((Self { fin, opcode, mask, len }, bytes.len() - after.len())))
    }

    /// Appends the header to `out`.
    pub fn write(&self, out: &mut BytesMut) {
        out.put_u8(u8::from(self.fin) << 7 | u8::from(self.opcode));
        let masked = u8::from(self.mask.is_some()) << 7;
        match self.len {
            0..126 => out.put_u8(masked | self.len as u8),
            126..0x1_0000 => {
                out.put_u8(masked | 126);
                out.put_u16(self.len as u16);
            }
            0x1_0000.. => {
                out.put_u8(masked | 127);
                out.put_u64(self.len);
            }
        }
        out.extend_from_slice(self.mask.as_ref().map_or(&[], |mask| mask));
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReservedBits => f.write_str("reserved bit is set"),
            Self::Opcode(error) => error.fmt(f),
            Self::Length => f.write_str("length is not in its shortest form"),
        }
    }
}

impl Error for HeaderError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_parses_only_once_it_is_complete() {
        let lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 1 << 30, u64::MAX >> 1];
        for len in lengths {
            for mask in [None, Some([1, 2, 3, 4])] {
                for fin in [false, true] {
                    let header = Header { fin, opcode: Opcode::Binary, mask, len };
                    let mut bytes = BytesMut::new();
                    header.write(&mut bytes);
                    let whole = bytes.len();
                    bytes.extend_from_slice(b"payload");
                    for end in 0..whole {
                        assert_eq!(Header::parse(&bytes[..end]), Ok(None), "{header:?}");
                    }
                    for end in whole..=bytes.len() {
                        assert_eq!(Header::parse(&bytes[..end]), Ok(Some((header, whole))));
                    }
                }
            }
        }
    }

    #[test]
    fn an_invalid_header_is_rejected() {
        let cases: [(&[u8], _); 8] = [
            (&[0xC1], HeaderError::ReservedBits),
            (&[0x11], HeaderError::ReservedBits),
            (&[0x83], HeaderError::Opcode(MessageError::ReservedOpcode(3))),
            (&[0x8F], HeaderError::Opcode(MessageError::ReservedOpcode(15))),
            (&[0x81, 0xFE, 0, 125], HeaderError::Length),
            (&[0x81, 0x7E, 0, 0], HeaderError::Length),
            (&[0x82, 0x7F, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], HeaderError::Length),
            (&[0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], HeaderError::Length),
        ];
        for (bytes, error) in cases {
            assert_eq!(Header::parse(bytes), Err(error), "{bytes:02x?}");
        }
    }
}
