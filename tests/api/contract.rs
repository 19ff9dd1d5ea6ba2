//! Do all incremental decoders keep the contract (`src/core/mod.rs`)? A trait, and a check for each
//! rule.
//!
//! The checks expect no particular text: each decoder's own tests do that.

use std::fmt::Debug;
use std::iter;

use utf8_codec::decoder::{Progress, Status};
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectError};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::terminal::TerminalDecoder;
use utf8_codec::utf16::{Utf16Decoder, Utf16Error};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Error, Utf8Validator};

use crate::lists::LOSSY;

/// A test for each rule, which checks each decoder.
macro_rules! rules {
    ($($rule:ident)*) => {
        mod rule {
            use super::*;

            $(
                #[test]
                fn $rule() {
                    super::$rule::<Utf8Validator>();
                    super::$rule::<Utf8Decoder>();
                    super::$rule::<Utf16Decoder>();
                    super::$rule::<TerminalDecoder>();
                    super::$rule::<DialectDecoder>();
                    super::$rule::<FallbackDecoder>();
                }
            )*
        }
    };
}

rules! {
    an_empty_chunk_changes_nothing
    the_position_includes_held_bytes
    every_split_gives_the_same_text_and_errors
    finish_reports_once_and_then_returns_ok
    errors_are_counted_and_the_first_is_kept
    a_lossy_string_is_the_pieces_with_each_error_repaired
    a_fatal_string_stops_at_each_error_and_continues_after_it
    after_finish_decoding_continues_and_offsets_keep_counting
    reset_starts_a_new_stream
}

/// The common interface of all incremental decoders.
trait IncrementalDecoder: Clone + Sized {
    /// A new decoder, so that `new` is a `const fn`.
    const NEW: Self;

    /// Bytes, or UTF-16 units.
    type Unit: Copy + PartialEq + Debug + 'static;
    type Error: Copy + PartialEq + Debug;

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

    fn offset(error: &Self::Error) -> u64;
    fn repair(mode: ErrorMode, error: &Self::Error) -> Option<String>;
}

/// A character or an error, so that the sizes of pieces do not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece<E> {
    Char(char),
    Error(E),
}

// ---- the rules ----------------------------------------------------------------------------------

fn an_empty_chunk_changes_nothing<D: IncrementalDecoder>() {
    for_each_prefix::<D>(|decoder, prefix| {
        let before = state(decoder);
        assert_eq!(report(decoder, &[]), [], "after {prefix:02x?}");
        let mut text = String::new();
        for mode in LOSSY.into_iter().chain([ErrorMode::Fatal]) {
            let progress = decoder.push_to_string(&[], mode, &mut text);
            let done = progress.is_none_or(|progress| progress.status == Status::Done);
            assert!(done && text.is_empty(), "{mode:?} after {prefix:02x?}");
        }
        assert!(state(decoder) == before, "after {prefix:02x?}");
    });
}

fn the_position_includes_held_bytes<D: IncrementalDecoder>() {
    for_each_prefix::<D>(|decoder, prefix| {
        assert_eq!(decoder.position(), prefix.len() as u64, "after {prefix:02x?}");
        assert!(prefix.ends_with(&decoder.incomplete()), "after {prefix:02x?}");
    });
}

fn every_split_gives_the_same_text_and_errors<D: IncrementalDecoder>() {
    for input in D::inputs() {
        let whole = decode(&mut { D::NEW }, [&input[..]]);
        assert_eq!(decode(&mut { D::NEW }, input.chunks(1)), whole, "one by one: {input:02x?}");
        for first in 0..=input.len() {
            for second in first..=input.len() {
                let chunks = [&input[..first], &input[first..second], &input[second..]];
                assert_eq!(decode(&mut { D::NEW }, chunks), whole, "{chunks:02x?}");
            }
        }
    }
}

fn finish_reports_once_and_then_returns_ok<D: IncrementalDecoder>() {
    for_each_prefix::<D>(|decoder, prefix| {
        let _pieces = end(decoder);
        assert_eq!(decoder.incomplete(), [], "after {prefix:02x?}");
        let before = state(decoder);
        for _ in 0..3 {
            assert_eq!(decoder.finish(), Ok(None), "after {prefix:02x?}");
            let mut text = String::new();
            assert_eq!(decoder.finish_to_string(ErrorMode::Fatal, &mut text), Ok(()));
            assert_eq!(text, "", "after {prefix:02x?}");
        }
        assert!(state(decoder) == before, "after {prefix:02x?}");
    });
}

fn after_finish_decoding_continues_and_offsets_keep_counting<D: IncrementalDecoder>() {
    for input in D::inputs() {
        let mut decoder = D::NEW;
        let once = decode(&mut decoder, [&input[..]]);
        let twice = decode(&mut decoder, [&input[..]]);
        assert_eq!(decoder.position(), 2 * input.len() as u64, "{input:02x?}");
        assert_eq!(text_of(&once), text_of(&twice), "{input:02x?}");
        let offsets = |pieces: &[Piece<D::Error>], base: u64| -> Vec<_> {
            errors_of(pieces).map(|error| D::offset(&error) - base).collect()
        };
        assert_eq!(offsets(&once, 0), offsets(&twice, input.len() as u64), "{input:02x?}");
    }
}

fn errors_are_counted_and_the_first_is_kept<D: IncrementalDecoder>() {
    for input in D::inputs() {
        let mut decoder = D::NEW;
        let pieces = decode(&mut decoder, [&input[..]]);
        let errors: Vec<_> = errors_of(&pieces).collect();
        if let Some((count, first)) = decoder.errors() {
            assert_eq!(count, errors.len() as u64, "{input:02x?}");
            assert_eq!(first, errors.first().copied(), "{input:02x?}");
        }
        let mut offsets = errors.iter().map(D::offset);
        assert!(offsets.clone().is_sorted(), "{input:02x?}");
        assert!(offsets.all(|offset| offset < input.len() as u64), "{input:02x?}");
    }
}

fn reset_starts_a_new_stream<D: IncrementalDecoder>() {
    for_each_prefix::<D>(|decoder, prefix| {
        decoder.reset();
        assert!(state(decoder) == state(&D::NEW), "after {prefix:02x?}");
        for input in D::inputs() {
            let expected = decode(&mut { D::NEW }, [&input[..]]);
            assert_eq!(decode(decoder, [&input[..]]), expected, "after {prefix:02x?}");
            decoder.reset();
        }
    });
}

fn a_lossy_string_is_the_pieces_with_each_error_repaired<D: IncrementalDecoder>() {
    for input in D::inputs() {
        let pieces = decode(&mut { D::NEW }, [&input[..]]);
        for (mode, size) in LOSSY.into_iter().flat_map(|mode| [1, 2, 3, 64].map(|n| (mode, n))) {
            let expected: String = pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Char(c) => c.to_string(),
                    Piece::Error(error) => D::repair(mode, error).expect("a lossy mode"),
                })
                .collect();
            let (mut decoder, mut text) = (D::NEW, String::new());
            for chunk in input.chunks(size) {
                let before = text.len();
                let Some(progress) = decoder.push_to_string(chunk, mode, &mut text) else { return };
                assert_eq!(progress.status, Status::Done, "{mode:?}: {input:02x?}");
                assert_eq!(progress.read + progress.held, chunk.len(), "{mode:?}: {input:02x?}");
                assert_eq!(progress.written, text.len() - before, "{mode:?}: {input:02x?}");
            }
            decoder.finish_to_string(mode, &mut text).expect("a lossy mode");
            assert_eq!(text, expected, "{mode:?}, {size} at a time: {input:02x?}");
            let count = errors_of(&pieces).count() as u64;
            assert!(decoder.errors().is_none_or(|(counted, _)| counted == count), "{input:02x?}");
        }
    }
}

fn a_fatal_string_stops_at_each_error_and_continues_after_it<D: IncrementalDecoder>() {
    for input in D::inputs() {
        let whole = decode(&mut { D::NEW }, [&input[..]]);
        let mut decoder = D::NEW;
        let Some(mut pieces) = to_string(&mut decoder, &input) else { return };
        pieces.extend(end(&mut decoder));
        assert_eq!(pieces, whole, "{input:02x?}");
    }
}

// ---- helpers of the rules -----------------------------------------------------------------------

/// Runs `check` on a decoder that has been pushed each prefix of each input.
fn for_each_prefix<D: IncrementalDecoder>(mut check: impl FnMut(&mut D, &[D::Unit])) {
    for input in D::inputs() {
        for end in 0..=input.len() {
            let mut decoder = D::NEW;
            report(&mut decoder, &input[..end]);
            check(&mut decoder, &input[..end]);
        }
    }
}

/// Everything that can be observed of a decoder.
fn state<D: IncrementalDecoder>(decoder: &D) -> impl PartialEq + use<D> {
    (decoder.position(), decoder.incomplete(), decoder.errors())
}

/// The pieces of these chunks and of the end.
fn decode<'c, D: IncrementalDecoder>(
    decoder: &mut D,
    chunks: impl IntoIterator<Item = &'c [D::Unit]>,
) -> Vec<Piece<D::Error>> {
    let mut pieces = Vec::new();
    for chunk in chunks {
        pieces.extend(report(decoder, chunk));
    }
    pieces.extend(end(decoder));
    pieces
}

/// The pieces of `push`, or the error at which the fatal mode stops.
fn report<D: IncrementalDecoder>(decoder: &mut D, chunk: &[D::Unit]) -> Vec<Piece<D::Error>> {
    let pushed = decoder.push(chunk);
    pushed.or_else(|| to_string(decoder, chunk)).expect("push or push_to_string")
}

fn to_string<D: IncrementalDecoder>(
    decoder: &mut D,
    chunk: &[D::Unit],
) -> Option<Vec<Piece<D::Error>>> {
    let (mut pieces, mut chunk) = (Vec::new(), chunk);
    loop {
        let mut text = String::new();
        let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text)?;
        assert_eq!(progress.written, text.len());
        pieces.extend(text.chars().map(Piece::Char));
        chunk = &chunk[progress.read + progress.held..];
        match progress.status {
            Status::Done => {
                assert!(chunk.is_empty());
                return Some(pieces);
            }
            Status::IllFormed(error) => pieces.push(Piece::Error(error)),
            status => panic!("a string has room: {status:?}"),
        }
    }
}

fn end<D: IncrementalDecoder>(decoder: &mut D) -> Vec<Piece<D::Error>> {
    let mut pieces = Vec::new();
    for _ in 0..100 {
        match decoder.finish() {
            Ok(None) => return pieces,
            Ok(Some(text)) => pieces.extend(text.chars().map(Piece::Char)),
            Err(error) => pieces.push(Piece::Error(error)),
        }
    }
    panic!("finish never returns Ok: {pieces:?}");
}

fn text_of<E>(pieces: &[Piece<E>]) -> String {
    let char = |piece: &Piece<E>| if let Piece::Char(c) = piece { Some(*c) } else { None };
    pieces.iter().filter_map(char).collect()
}

fn errors_of<E: Copy>(pieces: &[Piece<E>]) -> impl Iterator<Item = E> {
    pieces.iter().filter_map(|piece| if let Piece::Error(e) = piece { Some(*e) } else { None })
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

// ---- the decoders -------------------------------------------------------------------------------

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

    fn offset(error: &Utf8Error) -> u64 {
        error.valid_up_to()
    }

    fn repair(mode: ErrorMode, error: &Utf8Error) -> Option<String> {
        mode.repair(error).map(|repair| repair.to_string())
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

        fn reset(&mut self) {
            Self::reset(self);
        }

        fn errors(&self) -> Option<(u64, Option<$error>)> {
            Some((self.error_count(), self.first_error()))
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

    fn incomplete(&self) -> Vec<u8> {
        Self::incomplete(self).to_vec()
    }

    fn offset(error: &Utf8Error) -> u64 {
        error.valid_up_to()
    }

    fn repair(mode: ErrorMode, error: &Utf8Error) -> Option<String> {
        mode.repair(error).map(|repair| repair.to_string())
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

    fn incomplete(&self) -> Vec<u8> {
        Self::incomplete(self).to_vec()
    }

    fn offset(error: &Utf8Error) -> u64 {
        error.valid_up_to()
    }

    fn repair(mode: ErrorMode, error: &Utf8Error) -> Option<String> {
        mode.repair(error).map(|repair| repair.to_string())
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

    fn incomplete(&self) -> Vec<u16> {
        Self::incomplete(self).into_iter().collect()
    }

    fn offset(error: &Utf16Error) -> u64 {
        error.offset()
    }

    fn repair(mode: ErrorMode, error: &Utf16Error) -> Option<String> {
        error.repair(mode).map(|repair| repair.to_string())
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

    fn incomplete(&self) -> Vec<u8> {
        Self::incomplete(self).to_vec()
    }

    fn offset(error: &DialectError) -> u64 {
        error.offset()
    }

    fn repair(mode: ErrorMode, error: &DialectError) -> Option<String> {
        error.repair(mode).map(|repair| repair.to_string())
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

    fn push_to_string(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        text: &mut String,
    ) -> Option<Progress> {
        Some(Self::push_to_string(self, chunk, mode, text))
    }

    fn finish(&mut self) -> Result<Option<String>, Utf8Error> {
        let mut text = String::new();
        Self::finish_to_string(self, ErrorMode::Fatal, &mut text)?;
        Ok((!text.is_empty()).then_some(text))
    }

    fn finish_to_string(&mut self, mode: ErrorMode, text: &mut String) -> Result<(), Utf8Error> {
        Self::finish_to_string(self, mode, text)
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

    fn offset(error: &Utf8Error) -> u64 {
        error.valid_up_to()
    }

    fn repair(mode: ErrorMode, error: &Utf8Error) -> Option<String> {
        mode.repair(error).map(|repair| repair.to_string())
    }
}
