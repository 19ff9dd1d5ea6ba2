//! A slow model of UTF-16, and a decoder that yields its output as atoms.

#![allow(dead_code, reason = "each test binary uses its own part")]

use utf8_codec::ErrorMode;
use utf8_codec::decoder::{Progress, Status};
use utf8_codec::utf16::{Utf16Decoder, Utf16Error};

// ---- the model ---------------------------------------------------------------------------------

/// A character, or an unpaired surrogate with its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    Char(char),
    Lone { offset: u64, unit: u16, kind: Why },
}

/// Why a surrogate is alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    LoneHigh,
    LoneLow,
    Incomplete,
}

impl Atom {
    /// The atom, moved by this many units.
    pub(crate) fn shifted_by(self, units: u64) -> Self {
        match self {
            Self::Lone { offset, unit, kind } => Self::Lone { offset: offset + units, unit, kind },
            Self::Char(_) => self,
        }
    }
}

/// The atoms of units, after which the stream ends.
pub(crate) fn model(units: &[u16]) -> Vec<Atom> {
    let mut offset = 0;
    let atom = |decoded: Result<char, std::char::DecodeUtf16Error>| {
        let at = offset;
        offset += decoded.as_ref().map_or(1, |c| c.len_utf16() as u64);
        decoded.map_or_else(
            |error| {
                let unit = error.unpaired_surrogate();
                let kind = match unit {
                    0xDC00.. => Why::LoneLow,
                    _ if at + 1 == units.len() as u64 => Why::Incomplete,
                    _ => Why::LoneHigh,
                };
                Atom::Lone { offset: at, unit, kind }
            },
            Atom::Char,
        )
    };
    char::decode_utf16(units.iter().copied()).map(atom).collect()
}

/// The atoms that these units determine if more can follow: all but a trailing high surrogate.
pub(crate) fn model_of_prefix(units: &[u16]) -> Vec<Atom> {
    let mut atoms = model(units);
    atoms.pop_if(|atom| matches!(atom, Atom::Lone { kind: Why::Incomplete, .. }));
    atoms
}

pub(crate) fn text_of(atoms: &[Atom], mode: ErrorMode) -> String {
    let text = |atom: &Atom| match (*atom, mode) {
        (Atom::Char(c), _) => c.to_string(),
        (Atom::Lone { .. }, ErrorMode::Fatal | ErrorMode::Skip) => String::new(),
        (Atom::Lone { unit, .. }, ErrorMode::Escape) => format!("\\u{unit:04x}"),
        (
            Atom::Lone { .. },
            ErrorMode::Replacement | ErrorMode::Latin1 | ErrorMode::Windows1252,
        ) => "\u{FFFD}".to_owned(),
    };
    atoms.iter().map(text).collect()
}

pub(crate) fn errors_of(atoms: &[Atom]) -> Vec<Atom> {
    atoms.iter().copied().filter(|atom| matches!(atom, Atom::Lone { .. })).collect()
}

pub(crate) fn reported(error: &Utf16Error) -> Atom {
    let kind = match error.unpaired_surrogate() {
        _ if error.is_incomplete() => Why::Incomplete,
        0xDC00.. => Why::LoneLow,
        _ => Why::LoneHigh,
    };
    Atom::Lone { offset: error.offset(), unit: error.unpaired_surrogate(), kind }
}

// ---- the public types -------------------------------------------------------------------------

/// A method of decoding.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Into {
    String,
    /// Into a buffer of this many bytes.
    Slice(usize),
}

pub(crate) struct Subject {
    pub(crate) decoder: Utf16Decoder,
    mode: ErrorMode,
    pub(crate) into: Into,
    pub(crate) text: String,
    pub(crate) errors: Vec<Atom>,
}

impl Subject {
    pub(crate) fn new(mode: ErrorMode, into: Into) -> Self {
        let (decoder, text, errors) = (Utf16Decoder::new(), String::new(), Vec::new());
        Self { decoder, mode, into, text, errors }
    }

    /// Starts a new stream in another mode.
    pub(crate) fn reset(&mut self, mode: ErrorMode) {
        self.decoder.reset();
        self.mode = mode;
        self.text.clear();
        self.errors.clear();
    }

    pub(crate) fn push(&mut self, chunk: &[u16]) {
        let before = self.decoder.position();
        let (mut units, mut needed) = (chunk, 0);
        loop {
            let Progress { read, written, status, .. } = match self.into {
                Into::String => {
                    let before = self.text.len();
                    let progress = self.decoder.push_to_string(units, self.mode, &mut self.text);
                    assert_eq!(progress.written, self.text.len() - before);
                    progress
                }
                Into::Slice(size) => self.by_slice(size.max(needed), |decoder, mode, buffer| {
                    decoder.push_to_slice(units, mode, buffer)
                }),
            };
            units = &units[read..];
            match status {
                Status::Done => break,
                Status::Full => assert!(read + written > 0, "no progress"),
                Status::IllFormed(error) => self.errors.push(reported(&error)),
                Status::TooSmall { needed: more } => needed = self.more(more, needed),
                status => unreachable!("{status:?}"),
            }
        }
        assert!(units.is_empty());
        assert_eq!(self.decoder.position() - before, chunk.len() as u64);
    }

    pub(crate) fn finish(&mut self) {
        let status = match self.into {
            Into::String => match self.decoder.finish_to_string(self.mode, &mut self.text) {
                Ok(()) => Status::Done,
                Err(error) => Status::IllFormed(error),
            },
            Into::Slice(size) => {
                let finish = |decoder: &mut Utf16Decoder, mode, buffer: &mut [u8]| {
                    decoder.finish_to_slice(mode, buffer)
                };
                match self.by_slice(size, finish).status {
                    Status::TooSmall { needed } => {
                        let needed = self.more(needed, 0);
                        self.by_slice(needed, finish).status
                    }
                    status => status,
                }
            }
        };
        match status {
            Status::Done => {}
            Status::IllFormed(error) => self.errors.push(reported(&error)),
            status => panic!("{status:?}"),
        }
        assert_eq!(self.decoder.finish(), Ok(()), "a further call is harmless");
    }

    fn by_slice(
        &mut self,
        size: usize,
        call: impl FnOnce(&mut Utf16Decoder, ErrorMode, &mut [u8]) -> Progress<Utf16Error>,
    ) -> Progress<Utf16Error> {
        let mut buffer = vec![0xFF; size];
        let progress = call(&mut self.decoder, self.mode, &mut buffer);
        let text = &buffer[..progress.written];
        self.text += str::from_utf8(text).expect("whole characters are written");
        progress
    }

    /// Checks that this much room is reported as needed if there is less.
    fn more(&self, needed: usize, before: usize) -> usize {
        let Into::Slice(size) = self.into else { panic!("a string has room") };
        assert!(needed > size.max(before) && needed <= 6, "{needed} bytes needed");
        needed
    }

    /// Compares the output with these atoms.
    pub(crate) fn assert(&self, atoms: &[Atom]) {
        let errors = errors_of(atoms);
        assert_eq!(self.text, text_of(atoms, self.mode));
        assert_eq!(self.decoder.error_count(), errors.len() as u64);
        assert_eq!(self.decoder.first_error().as_ref().map(reported), errors.first().copied());
        if self.mode == ErrorMode::Fatal {
            assert_eq!(self.errors, errors);
        }
    }
}
