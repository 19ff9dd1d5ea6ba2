//! The encodings that can be written.

use std::fmt;

use utf8_codec::decoder::Status;
use utf8_codec::dialect::{Dialect, DialectEncoder};
use utf8_codec::{ErrorMode, Utf8Decoder};

/// The encoding of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Utf8,
    Dialect(Dialect),
    Utf16(Order),
}

/// The byte order of UTF-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    LowFirst,
    HighFirst,
}

pub(crate) static TO: [(&str, To); 9] = [
    ("utf-8", To::Utf8),
    ("rfc2279", To::Dialect(Dialect::Rfc2279)),
    ("cesu-8", To::Dialect(Dialect::Cesu8)),
    ("modified-utf-8", To::Dialect(Dialect::ModifiedUtf8)),
    ("wtf-8", To::Dialect(Dialect::Wtf8)),
    ("utf-8b", To::Dialect(Dialect::Utf8b)),
    ("surrogatepass", To::Dialect(Dialect::SurrogatePass)),
    ("utf-16le", To::Utf16(Order::LowFirst)),
    ("utf-16be", To::Utf16(Order::HighFirst)),
];

/// What replaces a code point that the target cannot represent.
pub(crate) static UNENCODABLE: [(&str, ErrorMode); 4] = [
    ("fatal", ErrorMode::Fatal),
    ("replacement", ErrorMode::Replacement),
    ("escape", ErrorMode::Escape),
    ("skip", ErrorMode::Skip),
];

/// The name on the command line.
impl fmt::Display for To {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(TO.iter().find(|row| row.1 == *self).map_or("", |row| row.0))
    }
}

/// An encoder into a buffer. Besides the buffer, it holds at most one high surrogate between calls.
pub(crate) struct Writing {
    to: To,
    /// Encodes into the dialect, or into UTF-8 for the targets UTF-8 and UTF-16.
    encoder: DialectEncoder,
    unpaired: bool,
    bytes: Vec<u8>,
}

impl Writing {
    pub(crate) fn new(to: To, unencodable: ErrorMode, unpaired: bool, with_bom: bool) -> Self {
        let encoder = match to {
            To::Dialect(dialect) => DialectEncoder::new(dialect),
            // RFC 2279 with the limit of RFC 3629 is UTF-8.
            To::Utf8 | To::Utf16(_) => DialectEncoder::new(Dialect::Rfc2279).with_rfc3629_limit(),
        };
        let encoder = if unpaired { encoder.with_unpaired_surrogates() } else { encoder };
        let mut encoder = encoder.with_error_mode(unencodable);
        let mut bytes = Vec::new();
        match to {
            To::Utf16(order) if with_bom => put_units("\u{FEFF}", order, &mut bytes),
            _ if with_bom => encoder = encoder.with_bom(),
            _ => {}
        }
        Self { to, encoder, unpaired, bytes }
    }

    pub(crate) fn to(&self) -> To {
        self.to
    }

    /// Writes text, which every target can represent.
    pub(crate) fn push(&mut self, text: &str) {
        match self.to {
            To::Utf16(order) => put_units(text, order, &mut self.bytes),
            // Cannot fail: a dialect that rejects unpaired surrogates never holds one before text.
            _ => {
                let _ = self.encoder.push_to_vec(text, &mut self.bytes);
            }
        }
    }

    /// Writes a code point that is not a scalar value. Returns whether the target can represent it. If not,
    /// its replacement is written, or, with `Err`, nothing.
    pub(crate) fn push_code_point(&mut self, code_point: u32) -> Result<bool, ()> {
        let rejected = self.encoder.error_count();
        match (self.to, u16::try_from(code_point)) {
            (To::Utf16(order), Ok(unit)) if self.unpaired => {
                self.bytes.extend(order.bytes(unit));
                return Ok(true);
            }
            _ => {}
        }
        let encoded = self.encoder.push_code_point(code_point).map_err(|_| ())?;
        match self.to {
            To::Utf16(order) => {
                put_units(&String::from_utf8_lossy(&encoded), order, &mut self.bytes);
            }
            _ => self.bytes.extend_from_slice(&encoded),
        }
        Ok(self.encoder.error_count() == rejected)
    }

    /// Ends the stream: writes what is held.
    pub(crate) fn finish(&mut self) {
        // Cannot fail: a dialect can represent what it holds.
        let _ = self.encoder.finish_to_vec(&mut self.bytes);
    }

    /// Returns the bytes written since the last `clear`.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }
}

impl Order {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::LowFirst => Self::HighFirst,
            Self::HighFirst => Self::LowFirst,
        }
    }

    fn bytes(self, unit: u16) -> [u8; 2] {
        match self {
            Self::LowFirst => unit.to_le_bytes(),
            Self::HighFirst => unit.to_be_bytes(),
        }
    }

    pub(crate) fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::LowFirst => u16::from_le_bytes(bytes),
            Self::HighFirst => u16::from_be_bytes(bytes),
        }
    }
}

/// Appends the text as UTF-16.
fn put_units(text: &str, order: Order, bytes: &mut Vec<u8>) {
    let mut decoder = Utf8Decoder::new();
    let mut units = [0; 2048];
    let mut rest = text.as_bytes();
    bytes.reserve(2 * rest.len());
    loop {
        let progress = decoder.push_to_utf16(rest, ErrorMode::Replacement, &mut units);
        bytes.extend(units[..progress.written].iter().flat_map(|&unit| order.bytes(unit)));
        rest = &rest[progress.read..];
        if progress.status == Status::Done {
            break;
        }
    }
}
