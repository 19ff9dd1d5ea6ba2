//! Which charset are bytes in, and how are they decoded to UTF-8?

#[cfg(feature = "encoding_rs")]
use encoding_rs::Encoding;
use utf8_simd::{Stop, Transcoded, Utf8, Utf16Be, Utf16Le, head, transcode, valid_prefix};

#[cfg(feature = "encoding_rs")]
use crate::adaptor::whatwg_decoder::WhatwgDecoder;
use crate::decoder::{AtEnd, Partial, Status, Utf8Error, Utf8ErrorKind, WINDOWS_1252_C1};
use crate::fallback::decode_bytes;

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
            Charset::Utf16(order) => {
                Self::Utf16(Utf16Bytes { order, held: Partial::new(), position: 0 })
            }
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
    /// The beginning of a split character.
    held: Partial,
    /// The offset of the next byte to decode, the first of those held.
    position: u64,
}

impl Utf16Bytes {
    fn decode(&mut self, bytes: &[u8], at_end: AtEnd, text: &mut String) -> (usize, Status) {
        let mut read = 0;
        loop {
            let (held, rest) = (self.held, &bytes[read..]);
            let joined;
            let input = if held.is_empty() {
                rest
            } else {
                joined = [held.as_bytes(), head(rest, rest.len().min(4 - held.len()))].concat();
                &joined[..]
            };
            self.order = match (self.order, input) {
                (ByteOrder::Big, [0xFF, 0xFE, ..]) if self.position == 0 => ByteOrder::Little,
                (ByteOrder::Little, [0xFE, 0xFF, ..]) if self.position == 0 => ByteOrder::Big,
                (order, _) => order,
            };
            let done = self.append(input, text);
            let is_last = held.is_empty() || done.read == 0;
            let ill_formed = match done.stop {
                Stop::IllFormed(len) => len,
                Stop::Incomplete(len) if is_last && at_end == AtEnd::Yes => len,
                _ => 0,
            };
            let (offset, end) = (self.position + done.read as u64, done.read + ill_formed);
            self.position += end as u64;
            self.held.hold(held.as_bytes().get(end..).unwrap_or_default());
            read += end.saturating_sub(held.len());
            match done.stop {
                _ if ill_formed > 0 => {
                    let part = &input[done.read..end];
                    let error = Utf8Error::new(offset, Utf8ErrorKind::InvalidByte, part, None);
                    return (read, Status::IllFormed(error));
                }
                Stop::Full if done.read == 0 => return (read, Status::Full),
                Stop::Done if is_last => return (read, Status::Done),
                Stop::Incomplete(_) if is_last => {
                    self.held.hold(&input[end..]);
                    return (bytes.len(), Status::Done);
                }
                _ => {}
            }
        }
    }

    /// Appends text up to an ill-formed part, as far as the capacity of `text` allows.
    fn append(&self, input: &[u8], text: &mut String) -> Transcoded {
        let mut block = [0; 1024];
        let room = block.len().min(text.capacity() - text.len());
        let done = match self.order {
            ByteOrder::Big => transcode::<Utf16Be, Utf8>(input, &mut block[..room]),
            ByteOrder::Little => transcode::<Utf16Le, Utf8>(input, &mut block[..room]),
        };
        text.push_str(valid_prefix(&block[..done.written]).0);
        done
    }
}
