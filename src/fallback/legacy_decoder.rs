//! How is a stream decoded that is in a legacy encoding from its start, such as an HTTP body?

use alloc::string::String;

use crate::decoder::{AtEnd, Status, WINDOWS_1252_C1};
use crate::fallback::legacy::{LegacyEncoding, Table, decode_bytes};
#[cfg(feature = "encoding_rs")]
use crate::fallback::whatwg::WhatwgDecoder;

/// Decodes a stream in a legacy encoding, and reports each ill-formed part.
///
/// Between calls it keeps the beginning of a split character. An initial U+FEFF is text. In UTF-16
/// it also determines the byte order, whatever the name of the encoding, since U+FFFE does not
/// occur in text. After the end of a stream it can decode another. Offsets keep counting.
#[derive(Debug)]
pub(crate) enum LegacyDecoder {
    /// Each byte is a character. 80 to 9F are C1 controls, or those of the table.
    Bytes(LegacyEncoding, Option<&'static [char; 32]>),
    #[cfg(feature = "encoding_rs")]
    Whatwg(WhatwgDecoder),
}

impl LegacyDecoder {
    pub(crate) fn new(encoding: LegacyEncoding) -> Self {
        match encoding.0 {
            Table::Latin1 => Self::Bytes(encoding, None),
            Table::Windows1252 => Self::Bytes(encoding, Some(&WINDOWS_1252_C1)),
            #[cfg(feature = "encoding_rs")]
            Table::Whatwg(encoding) => Self::Whatwg(WhatwgDecoder::new(encoding)),
        }
    }

    /// Returns the encoding. The byte order of UTF-16 is that of the BOM, once it has been decoded.
    pub(crate) fn encoding(&self) -> LegacyEncoding {
        match self {
            Self::Bytes(encoding, _) => *encoding,
            #[cfg(feature = "encoding_rs")]
            Self::Whatwg(decoder) => LegacyEncoding(Table::Whatwg(decoder.encoding())),
        }
    }

    /// Returns the capacity that the text of `bytes` bytes needs, but not much more than `most`.
    pub(crate) const fn room(bytes: usize, most: usize) -> usize {
        let text = bytes.saturating_mul(3);
        (if text < most { text } else { most }) + 16
    }

    /// Decodes `bytes` and appends the text to `text`, as far as its capacity allows. Returns the
    /// number of bytes decoded.
    ///
    /// With [`AtEnd::Yes`], [`Status::Done`] ends the stream. [`Status::IllFormed`] is returned after an ill-formed part,
    /// one to four bytes, which one U+FFFD replaces (WHATWG).
    pub(crate) fn decode(
        &mut self,
        bytes: &[u8],
        at_end: AtEnd,
        text: &mut String,
    ) -> (usize, Status) {
        match self {
            Self::Bytes(_, c1) => {
                // Each byte becomes a character of at most three bytes.
                let fits = bytes.len().min((text.capacity() - text.len()) / 3);
                decode_bytes(*c1, &bytes[..fits], text);
                (fits, if fits == bytes.len() { Status::Done } else { Status::Full })
            }
            #[cfg(feature = "encoding_rs")]
            Self::Whatwg(decoder) => decoder.decode(bytes, at_end, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::options::Strictness;

    #[test]
    fn reserved_room_does_not_overflow() {
        assert_eq!(LegacyDecoder::room(0, 100), 16);
        assert_eq!(LegacyDecoder::room(5, 100), 31);
        assert_eq!(LegacyDecoder::room(usize::MAX / 2, 100), 116);
        // Three times this, wrapped, is 2.
        assert_eq!(LegacyDecoder::room(usize::MAX / 3 + 1, 100), 116);
        assert_eq!(LegacyDecoder::room(usize::MAX, 100), 116);
    }

    #[test]
    fn tables_decode_as_much_as_fits() {
        for encoding in [LegacyEncoding::latin1(), LegacyEncoding::windows_1252()] {
            let mut decoder = LegacyDecoder::new(encoding);
            let (mut text, mut rest) = (String::new(), &b"caf\xE9 \x80 \xFF\x00 and more"[..]);
            let mut whole = String::new();
            encoding.decode(rest, AtEnd::Yes, Strictness::new(), &mut whole).unwrap();
            loop {
                let mut piece = String::with_capacity(10);
                piece.push_str(">> ");
                let capacity = piece.capacity();
                let (read, status) = decoder.decode(rest, AtEnd::No, &mut piece);
                assert_eq!(read, rest.len().min((capacity - 3) / 3));
                assert_eq!(piece.capacity(), capacity);
                text += &piece[3..];
                rest = &rest[read..];
                if status == Status::Done {
                    break;
                }
            }
            assert_eq!(text, whole);
        }
    }
}
