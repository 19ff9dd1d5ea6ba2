//! Which charset are bytes in, and how are they decoded to UTF-8?

#[cfg(feature = "encoding_rs")]
use encoding_rs::Encoding;

#[cfg(feature = "encoding_rs")]
use crate::adaptor::whatwg_decoder::WhatwgDecoder;
use crate::decoder::{AtEnd, ErrorMode, Status, Utf8Error, Utf8ErrorKind, WINDOWS_1252_C1};
use crate::fallback::decode_bytes;
use crate::utf16::{Utf16Decoder, Utf16Error};

/// An encoding of the WHATWG Encoding Standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Charset {
    #[default]
    Utf8,
    Windows1252,
    Utf16(ByteOrder),
    #[cfg(feature = "encoding_rs")]
    Whatwg(&'static Encoding),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Big,
    Little,
}

/// The labels of the Encoding Standard, section 4.2, of the encodings that are decoded without encoding_rs.
const LABELS: [(Charset, &str); 4] = [
    (Charset::Utf8, "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"),
    (
        Charset::Windows1252,
        "windows-1252 iso-8859-1 latin1 us-ascii ascii ansi_x3.4-1968 cp1252 cp819 csisolatin1 ibm819 iso-ir-100 \
         iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 x-cp1252",
    ),
    (Charset::Utf16(ByteOrder::Big), "utf-16be unicodefffe"),
    (
        Charset::Utf16(ByteOrder::Little),
        "utf-16le utf-16 csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff",
    ),
];

impl Charset {
    /// Finds the encoding with this label. Case, and ASCII whitespace around the label, are ignored.
    pub(crate) fn from_label(label: &[u8]) -> Option<Self> {
        let label = label.trim_ascii();
        let is_label = |known: &str| label.eq_ignore_ascii_case(known.as_bytes());
        let known = LABELS.iter().find(|(_, labels)| labels.split(' ').any(is_label));
        #[cfg(feature = "encoding_rs")]
        let other = || Encoding::for_label_no_replacement(label).map(Self::Whatwg);
        #[cfg(not(feature = "encoding_rs"))]
        let other = || None;
        known.map(|(charset, _)| *charset).or_else(other)
    }

    /// Returns the name of the encoding in the Encoding Standard.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Windows1252 => "windows-1252",
            Self::Utf16(ByteOrder::Big) => "UTF-16BE",
            Self::Utf16(ByteOrder::Little) => "UTF-16LE",
            #[cfg(feature = "encoding_rs")]
            Self::Whatwg(encoding) => encoding.name(),
        }
    }
}

/// Decodes a stream in a charset other than UTF-8, and reports each ill-formed part.
///
/// Between calls it keeps the beginning of a split character. An initial U+FEFF is text. After the end of a stream it
/// can decode another. Offsets keep counting.
#[derive(Debug)]
pub(super) enum CharsetDecoder {
    Windows1252,
    Utf16(Utf16Bytes),
    #[cfg(feature = "encoding_rs")]
    Whatwg(WhatwgDecoder),
}

impl CharsetDecoder {
    /// Returns `None` for UTF-8.
    pub(super) fn new(charset: Charset) -> Option<Self> {
        Some(match charset {
            Charset::Utf8 => return None,
            Charset::Windows1252 => Self::Windows1252,
            Charset::Utf16(order) => Self::Utf16(Utf16Bytes::new(order, 0)),
            #[cfg(feature = "encoding_rs")]
            Charset::Whatwg(encoding) => Self::Whatwg(WhatwgDecoder::new(encoding)),
        })
    }

    /// Returns the charset. The byte order of UTF-16 is that of the BOM, once it has been decoded.
    pub(super) fn charset(&self) -> Charset {
        match self {
            Self::Windows1252 => Charset::Windows1252,
            Self::Utf16(bytes) => Charset::Utf16(bytes.order),
            #[cfg(feature = "encoding_rs")]
            Self::Whatwg(decoder) => Charset::Whatwg(decoder.encoding()),
        }
    }

    /// Decodes `bytes` and appends the text to `text`, as far as its capacity allows. Returns the number of bytes
    /// decoded.
    ///
    /// With [`AtEnd::Yes`], [`Status::Done`] ends the stream. [`Status::IllFormed`] is returned after an ill-formed
    /// part, one to four bytes, which one U+FFFD replaces.
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        at_end: AtEnd,
        text: &mut String,
    ) -> (usize, Status) {
        match self {
            Self::Windows1252 => {
                // A character has at most three bytes.
                let read = bytes.len().min((text.capacity() - text.len()) / 3);
                decode_bytes(Some(&WINDOWS_1252_C1), &bytes[..read], text);
                (read, if read < bytes.len() { Status::Full } else { Status::Done })
            }
            Self::Utf16(decoder) => decoder.decode(bytes, at_end, text),
            #[cfg(feature = "encoding_rs")]
            Self::Whatwg(decoder) => decoder.decode(bytes, at_end, text),
        }
    }
}

/// Decodes the bytes of UTF-16. A BOM overrides the byte order of the label: U+FFFE is a noncharacter, and not expected in
/// text.
#[derive(Debug)]
pub(super) struct Utf16Bytes {
    order: ByteOrder,
    decoder: Utf16Decoder,
    /// The first byte of a split unit.
    odd: Option<u8>,
    /// The offset of the first unit of the decoder.
    start: u64,
}

impl Utf16Bytes {
    fn new(order: ByteOrder, start: u64) -> Self {
        Self { order, decoder: Utf16Decoder::new(), odd: None, start }
    }

    fn decode(&mut self, bytes: &[u8], at_end: AtEnd, text: &mut String) -> (usize, Status) {
        let mut total = 0;
        loop {
            let rest = &bytes[total..];
            let mut units = [0; 256];
            let room = ((text.capacity() - text.len()) / 3).min(units.len());
            let (odd, odd_len) = (self.odd, usize::from(self.odd.is_some()));
            let count = ((odd_len + rest.len()) / 2).min(room);
            let mut joined = odd.into_iter().chain(rest.iter().copied());
            for unit in &mut units[..count] {
                let pair = [joined.next(), joined.next()].map(Option::unwrap_or_default);
                *unit = self.unit(pair);
            }
            if let (0, 0xFFFE) = (self.start + self.decoder.position(), units[0]) {
                self.order = match self.order {
                    ByteOrder::Big => ByteOrder::Little,
                    ByteOrder::Little => ByteOrder::Big,
                };
                continue;
            }
            let progress = self.decoder.push_to_string(&units[..count], ErrorMode::Fatal, text);
            if progress.read > 0 {
                self.odd = None;
                total += 2 * progress.read - odd_len;
            }
            if let Status::IllFormed(error) = progress.status {
                return (total, Status::IllFormed(self.error(error)));
            }
            match &bytes[total..] {
                rest if rest.len() + usize::from(self.odd.is_some()) > 1 => {
                    if room == 0 {
                        return (total, Status::Full);
                    }
                }
                [last] => {
                    self.odd = Some(*last);
                    total += 1;
                }
                _ => break,
            }
        }
        if at_end == AtEnd::No {
            return (total, Status::Done);
        }
        let high = self.decoder.finish().err().map(|error| self.error(error));
        let end = self.start + 2 * self.decoder.position();
        let odd = self.odd.as_slice();
        let part = [high.as_ref().map_or(&[][..], Utf8Error::bytes), odd].concat();
        let error = Utf8Error::new(
            high.map_or(end, |error| error.valid_up_to()),
            Utf8ErrorKind::InvalidByte,
            &part,
            None,
        );
        *self = Self::new(self.order, end + odd.len() as u64);
        (total, if part.is_empty() { Status::Done } else { Status::IllFormed(error) })
    }

    fn unit(&self, pair: [u8; 2]) -> u16 {
        match self.order {
            ByteOrder::Big => u16::from_be_bytes(pair),
            ByteOrder::Little => u16::from_le_bytes(pair),
        }
    }

    /// Returns the error with the offset and the bytes of the surrogate.
    fn error(&self, error: Utf16Error) -> Utf8Error {
        let pair = error.unpaired_surrogate().to_be_bytes();
        let (pair, offset) = (self.unit(pair).to_be_bytes(), self.start + 2 * error.offset());
        Utf8Error::new(offset, Utf8ErrorKind::InvalidByte, &pair, None)
    }
}
