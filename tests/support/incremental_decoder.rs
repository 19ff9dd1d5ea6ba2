//! A trait that all incremental decoders implement, so that one test checks each of them.

use std::fmt::Debug;
use std::iter;

use utf8_codec::decoder::Progress;
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectError};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::terminal::TerminalDecoder;
use utf8_codec::utf16::{Utf16Decoder, Utf16Error};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Error, Utf8Options, Utf8Validator};

/// The common interface of all incremental decoders.
pub(crate) trait IncrementalDecoder: Clone + Sized {
    /// A new decoder, so that `new` is a `const fn`.
    const NEW: Self;

    /// Bytes, or UTF-16 units.
    type Unit: Copy + PartialEq + Debug + 'static;
    type Error: DecodeError;

    /// Inputs that are well-formed, ill-formed, and unfinished.
    fn inputs() -> Vec<Vec<Self::Unit>>;

    /// All that `push` yields; `None` for a decoder that has no `push`.
    fn push(&mut self, chunk: &[Self::Unit]) -> Option<Vec<Piece<Self::Error>>>;

    /// `None` for a decoder that has no output.
    fn push_to_string(
        &mut self,
        chunk: &[Self::Unit],
        mode: ErrorMode,
        text: &mut String,
    ) -> Option<Progress<Self::Error>>;

    /// The text that the end completes, if there is any.
    fn finish(&mut self) -> Result<Option<String>, Self::Error>;

    fn finish_to_string(&mut self, mode: ErrorMode, text: &mut String) -> Result<(), Self::Error>;

    fn position(&self) -> u64;
    fn incomplete(&self) -> Vec<Self::Unit>;
    fn reset(&mut self);

    /// The number of errors, and the first; `None` for a decoder that does not count.
    fn errors(&self) -> Option<(u64, Option<Self::Error>)>;
}

/// The common interface of the errors of these decoders.
pub(crate) trait DecodeError: Copy + PartialEq + Debug {
    fn offset(&self) -> u64;
    fn repair(&self, mode: ErrorMode) -> Option<String>;
}

/// A character or an error, so that the sizes of pieces do not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Piece<E> {
    Char(char),
    Error(E),
}

impl IncrementalDecoder for Utf8Validator {
    const NEW: Self = Self::new();

    type Unit = u8;
    type Error = Utf8Error;

    fn inputs() -> Vec<Vec<u8>> {
        byte_inputs()
    }

    /// Errors only.
    fn push(&mut self, chunk: &[u8]) -> Option<Vec<Piece<Utf8Error>>> {
        let start = self.position();
        let next = || {
            let seen = (self.position() - start) as usize;
            Self::push(self, &chunk[seen..]).err().map(Piece::Error)
        };
        Some(iter::from_fn(next).collect())
    }

    fn push_to_string(&mut self, _: &[u8], _: ErrorMode, _: &mut String) -> Option<Progress> {
        None
    }

    fn finish(&mut self) -> Result<Option<String>, Utf8Error> {
        Self::finish(self).map(|()| None)
    }

    fn finish_to_string(&mut self, _: ErrorMode, _: &mut String) -> Result<(), Utf8Error> {
        Self::finish(self)
    }

    fn position(&self) -> u64 {
        Self::position(self)
    }

    fn incomplete(&self) -> Vec<u8> {
        Self::incomplete(self).to_vec()
    }

    fn reset(&mut self) {
        Self::reset(self);
    }

    fn errors(&self) -> Option<(u64, Option<Utf8Error>)> {
        None
    }
}

/// The methods that all decoders but the validator have, by the same names.
macro_rules! inherent_methods {
    ($unit:ty, $error:ty) => {
        fn push_to_string(
            &mut self,
            chunk: &[$unit],
            mode: ErrorMode,
            text: &mut String,
        ) -> Option<Progress<$error>> {
            Some(Self::push_to_string(self, chunk, mode, text))
        }

        fn finish_to_string(&mut self, mode: ErrorMode, text: &mut String) -> Result<(), $error> {
            Self::finish_to_string(self, mode, text)
        }

        fn position(&self) -> u64 {
            Self::position(self)
        }

        fn incomplete(&self) -> Vec<$unit> {
            Self::incomplete(self).iter().copied().collect()
        }

        fn reset(&mut self) {
            Self::reset(self);
        }
    };
}

impl IncrementalDecoder for Utf8Decoder {
    const NEW: Self = Self::new();

    type Unit = u8;
    type Error = Utf8Error;

    fn inputs() -> Vec<Vec<u8>> {
        byte_inputs()
    }

    fn push(&mut self, chunk: &[u8]) -> Option<Vec<Piece<Utf8Error>>> {
        Some(Self::push(self, chunk).flat_map(pieces_of).collect())
    }

    fn finish(&mut self) -> Result<Option<String>, Utf8Error> {
        Self::finish(self).map(|()| None)
    }

    fn errors(&self) -> Option<(u64, Option<Utf8Error>)> {
        Some((self.error_count(), self.first_error()))
    }

    inherent_methods!(u8, Utf8Error);
}

impl IncrementalDecoder for TerminalDecoder {
    const NEW: Self = Self::new();

    type Unit = u8;
    type Error = Utf8Error;

    fn inputs() -> Vec<Vec<u8>> {
        let in_utf8 = |bytes: &Vec<u8>| [b"\x1B%G", &bytes[..], b"\x1B%"].concat();
        let back = b"\xE9\x1B%G\xC3\xA9\xC3\x1B%@\xE9\x1B[1m\x1B%X\x1B".to_vec();
        byte_inputs().iter().map(in_utf8).chain(byte_inputs()).chain([back]).collect()
    }

    fn push(&mut self, chunk: &[u8]) -> Option<Vec<Piece<Utf8Error>>> {
        Some(Self::push(self, chunk).flat_map(pieces_of).collect())
    }

    fn finish(&mut self) -> Result<Option<String>, Utf8Error> {
        Self::finish(self).map(|text| text.map(str::to_owned))
    }

    fn errors(&self) -> Option<(u64, Option<Utf8Error>)> {
        Some((self.error_count(), self.first_error()))
    }

    inherent_methods!(u8, Utf8Error);
}

impl IncrementalDecoder for Utf16Decoder {
    const NEW: Self = Self::new();

    type Unit = u16;
    type Error = Utf16Error;

    fn inputs() -> Vec<Vec<u16>> {
        let text = "größer: 10 €, 👋".encode_utf16().collect();
        vec![vec![], text, vec![0x61, 0xD83D, 0x62, 0xDC4B, 0xD83D, 0xDC4B, 0xD83D], vec![0xD83D]]
    }

    fn push(&mut self, _: &[u16]) -> Option<Vec<Piece<Utf16Error>>> {
        None
    }

    fn finish(&mut self) -> Result<Option<String>, Utf16Error> {
        Self::finish(self).map(|()| None)
    }

    fn errors(&self) -> Option<(u64, Option<Utf16Error>)> {
        Some((self.error_count(), self.first_error()))
    }

    inherent_methods!(u16, Utf16Error);
}

/// CESU-8. Repairs replace whole errors, and so whole errors are reported here.
impl IncrementalDecoder for DialectDecoder {
    const NEW: Self = Self::new(Dialect::Cesu8).with_whole_errors();

    type Unit = u8;
    type Error = DialectError;

    fn inputs() -> Vec<Vec<u8>> {
        let pairs = [
            &b"\xED\xA0\xBD\xED\xB8\x80!"[..],
            b"\xED\xA0\xBD\xED\xA0\xBD\xED\xB8",
            b"\xED\xB8\x80\xED",
            b"a\xED\xA0\x80\xED",
        ];
        byte_inputs().into_iter().chain(pairs.map(<[u8]>::to_vec)).collect()
    }

    fn push(&mut self, chunk: &[u8]) -> Option<Vec<Piece<DialectError>>> {
        let pieces = Self::push(self, chunk).flat_map(|piece| match piece {
            Ok(piece) => {
                piece.code_points().map(|c| Piece::Char(char::from_u32(c).unwrap())).collect()
            }
            Err(error) => vec![Piece::Error(error)],
        });
        Some(pieces.collect())
    }

    fn finish(&mut self) -> Result<Option<String>, DialectError> {
        Self::finish(self).map(|end| end.and_then(char::from_u32).map(String::from))
    }

    fn errors(&self) -> Option<(u64, Option<DialectError>)> {
        Some((self.error_count(), self.first_error()))
    }

    inherent_methods!(u8, DialectError);
}

/// By lines. With the default options nothing is an error: fallbacks are counted, not reported.
impl IncrementalDecoder for FallbackDecoder {
    const NEW: Self = Self::line(LegacyEncoding::windows_1252());

    type Unit = u8;
    type Error = Utf8Error;

    fn inputs() -> Vec<Vec<u8>> {
        byte_inputs()
    }

    fn push(&mut self, _: &[u8]) -> Option<Vec<Piece<Utf8Error>>> {
        None
    }

    fn finish(&mut self) -> Result<Option<String>, Utf8Error> {
        let mut text = String::new();
        Self::finish_to_string(self, ErrorMode::Fatal, &mut text)?;
        Ok((!text.is_empty()).then_some(text))
    }

    fn errors(&self) -> Option<(u64, Option<Utf8Error>)> {
        None
    }

    inherent_methods!(u8, Utf8Error);
}

impl DecodeError for Utf8Error {
    fn offset(&self) -> u64 {
        self.valid_up_to()
    }

    fn repair(&self, mode: ErrorMode) -> Option<String> {
        mode.repair(self, Utf8Options::new()).map(|repair| repair.to_string())
    }
}

impl DecodeError for Utf16Error {
    fn offset(&self) -> u64 {
        self.offset()
    }

    fn repair(&self, mode: ErrorMode) -> Option<String> {
        self.repair(mode).map(|repair| repair.to_string())
    }
}

impl DecodeError for DialectError {
    fn offset(&self) -> u64 {
        self.offset()
    }

    fn repair(&self, mode: ErrorMode) -> Option<String> {
        self.repair(mode).map(|repair| repair.to_string())
    }
}

fn pieces_of<E>(piece: Result<&str, E>) -> Vec<Piece<E>> {
    match piece {
        Ok(text) => text.chars().map(Piece::Char).collect(),
        Err(error) => vec![Piece::Error(error)],
    }
}

/// Bytes of UTF-8, and of most of its relatives.
fn byte_inputs() -> Vec<Vec<u8>> {
    [
        &b""[..],
        b"plain",
        "größer: 10 €, 👋\n".as_bytes(),
        b"caf\xE9\nna\xC3\xAFve\n\xFF\xFE",
        b"\xE2\x82",
        b"a\xF0\x9F\x98",
        b"\xC0\xAF \xED\xA0\x80 \xF4\x90\x80\x80",
        b"\xE2\x82\xE2\x82\xAC\xC3",
    ]
    .map(<[u8]>::to_vec)
    .to_vec()
}
