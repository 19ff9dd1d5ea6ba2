//! Do all incremental decoders keep the contract (`src/decoder/mod.rs`)? A check for each rule.
//!
//! The checks expect no particular text: each decoder's own tests do that.

use utf8_codec::decoder::Status;
use utf8_codec::dialect::DialectDecoder;
use utf8_codec::fallback::FallbackDecoder;
use utf8_codec::terminal::TerminalDecoder;
use utf8_codec::utf16::Utf16Decoder;
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Error, Utf8Validator};

use crate::incremental_decoder::{DecodeError, IncrementalDecoder, Piece};
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
            errors_of(pieces).map(|error| error.offset() - base).collect()
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
        let mut offsets = errors.iter().map(DecodeError::offset);
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
                    Piece::Error(error) => error.repair(mode).expect("a lossy mode"),
                })
                .collect();
            let (mut decoder, mut text) = (D::NEW, String::new());
            for chunk in input.chunks(size) {
                let before = text.len();
                let Some(progress) = decoder.push_to_string(chunk, mode, &mut text) else { return };
                assert_eq!(progress.status, Status::Done, "{mode:?}: {input:02x?}");
                assert_eq!(progress.read, chunk.len(), "{mode:?}: {input:02x?}");
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
        chunk = &chunk[progress.read..];
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

// ---- the validator ------------------------------------------------------------------------------

/// The errors in chunks of `size` bytes, and after each chunk the position and the incomplete bytes.
fn verdicts(bytes: &[u8], size: usize) -> (Vec<Utf8Error>, Vec<(u64, Vec<u8>)>) {
    let mut validator = Utf8Validator::new();
    let (mut errors, mut ends) = (Vec::new(), Vec::new());
    for chunk in bytes.chunks(size) {
        let before = validator.position();
        while let Err(error) = validator.push(&chunk[(validator.position() - before) as usize..]) {
            errors.push(error);
        }
        ends.push((validator.position(), validator.incomplete().to_vec()));
    }
    (errors, ends)
}

#[test]
fn chunks_of_every_length_have_the_verdict_of_their_bytes() {
    let texts = ["ascii", "latinÄÖ é", "кириллица", "漢字仮名", "a😀é漢", "\u{10FFFF}€"];
    for (i, text) in texts.into_iter().enumerate() {
        let clean = text.repeat(900 / text.len()).into_bytes();
        for (at, part) in [(0, &b""[..]), (i, b"\xE2\x82"), (70 + i, b"\xFF"), (251, b"\xBF")] {
            let mut bytes = clean.clone();
            bytes.splice(at..at, part.iter().copied());
            let (errors, ends) = verdicts(&bytes, 1);
            for size in (1..=300).chain([bytes.len()]) {
                let expected = ends
                    .iter()
                    .enumerate()
                    .filter(|&(at, _)| at + 1 == bytes.len() || (at + 1) % size == 0);
                let expected = expected.map(|(_, end)| end.clone()).collect();
                assert_eq!(
                    verdicts(&bytes, size),
                    (errors.clone(), expected),
                    "{text} {at} {size}"
                );
            }
        }
    }
}
