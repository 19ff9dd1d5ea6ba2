//! `TextPosition`: the line, column and offset of every `char` and error, in all modes and at every split.

use std::io::{self, Read};

use crate::lists::assert_linear;
use utf8_codec::io::{StreamError, Utf8Reader};
use utf8_codec::{BomPolicy, ErrorMode, TextPosition, Utf8Decoder, Utf8Options};

/// A BOM, LF, CR LF, a CR alone, characters of each length, errors alone and in runs, and an incomplete end.
const INPUT: &[u8] =
    b"\xEF\xBB\xBFa\n\xC3\xA9\r\n\r\xFF\xE2\x82x\n\n\xF0\x9F\x91\x8B\xED\xA0\n\xE2\x82\xAC\xE2\x82";

const MODES: [ErrorMode; 5] = [
    ErrorMode::Fatal,
    ErrorMode::Replacement,
    ErrorMode::Skip,
    ErrorMode::Escape,
    ErrorMode::Latin1,
];

/// Line, column in `char`s and in UTF-16 units, offset, and a `char` or the bytes of an error.
type Item = (u64, [u64; 2], u64, Result<char, Vec<u8>>);

/// The items of `bytes`, decoded with std. A BOM at the start is removed.
fn model(bytes: &[u8], mode: ErrorMode) -> Vec<Item> {
    let mut at = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let (mut items, mut line, mut columns) = (Vec::new(), 1, [1, 1]);
    let mut push = |at: usize, item: Result<char, Vec<u8>>| {
        items.push((line, columns, at as u64, item.clone()));
        let [chars, units] = columns;
        let width = item.as_ref().map_or(1, |c| c.len_utf16() as u64);
        (line, columns) = match item {
            Ok('\n') => (line + 1, [1, 1]),
            _ => (line, [chars + 1, units + width]),
        };
    };
    while at < bytes.len() {
        let rest = &bytes[at..];
        let valid = str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
        for (place, c) in str::from_utf8(&rest[..valid]).unwrap().char_indices() {
            push(at + place, Ok(c));
        }
        at += valid;
        let Err(error) = str::from_utf8(&bytes[at..]) else { break };
        let part = &bytes[at..at + error.error_len().unwrap_or(bytes.len() - at)];
        let repair = match mode {
            ErrorMode::Fatal => {
                push(at, Err(part.to_vec()));
                String::new()
            }
            ErrorMode::Replacement => "\u{FFFD}".to_owned(),
            ErrorMode::Skip => String::new(),
            ErrorMode::Escape => part.iter().map(|byte| format!("\\x{byte:02x}")).collect(),
            _ => part.iter().map(|&byte| char::from(byte)).collect(),
        };
        repair.chars().for_each(|c| push(at, Ok(c)));
        at += part.len();
    }
    items
}

/// Every way to split `INPUT` into three chunks, and into single bytes.
fn splits() -> Vec<Vec<&'static [u8]>> {
    let mut splits = vec![INPUT.chunks(1).collect()];
    for first in 0..=INPUT.len() {
        for second in first..=INPUT.len() {
            splits.push(vec![&INPUT[..first], &INPUT[first..second], &INPUT[second..]]);
        }
    }
    splits
}

fn options() -> Utf8Options {
    Utf8Options::new().with_bom(BomPolicy::Strip)
}

fn item(at: TextPosition, next: Result<char, StreamError<io::Error>>) -> Item {
    let next = next.map_err(|error| match error {
        StreamError::Utf8(error) => error.bytes().to_vec(),
        error => panic!("{error}"),
    });
    (at.line, [at.column, at.utf16_column], at.offset, next)
}

#[test]
fn a_position_that_is_pushed_the_pieces_of_a_decoder_is_that_of_the_next_piece() {
    let expected = model(INPUT, ErrorMode::Fatal);
    let end = |position: TextPosition| {
        (position.line, [position.column, position.utf16_column], position.offset)
    };
    for split in splits() {
        let mut decoder = Utf8Decoder::new().with_options(options());
        let (mut position, mut begun) = (TextPosition::new(), false);
        let mut check = |position: &mut TextPosition,
                         piece: Result<&str, utf8_codec::Utf8Error>| {
            if !begun {
                position.skip(3);
                begun = true;
            }
            let at = *position;
            let (line, column, offset, _) = expected
                .iter()
                .find(|(.., offset, _)| *offset == at.offset)
                .expect("an item begins here");
            assert_eq!(end(at), (*line, *column, *offset), "{split:?}");
            match piece {
                Ok(text) => position.push(text),
                Err(error) => position.push_error(&error),
            }
        };
        for chunk in &split {
            for piece in decoder.push(chunk) {
                check(&mut position, piece);
            }
        }
        while let Err(error) = decoder.finish() {
            check(&mut position, Err(error));
        }
        assert_eq!(end(position), (6, [3, 3], INPUT.len() as u64), "{split:?}");
    }
}

#[test]
fn a_position_moves_past_text_as_past_each_of_its_chars() {
    let text = "a\r\nb\rc\n\n日本👋é".repeat(60) + &"x".repeat(300);
    let (mut whole, mut parts) = (TextPosition::new(), TextPosition::new());
    whole.push(&text);
    text.chars().for_each(|c| parts.push(c.encode_utf8(&mut [0; 4])));
    assert_eq!(whole, parts);
    assert_eq!((whole.line, whole.column, whole.offset), (181, 305, text.len() as u64));
    whole.push("");
    assert_eq!(whole, parts);
    assert!(TextPosition::default() < whole);
}

#[test]
fn the_numbers_of_a_position_saturate() {
    const MAX: u64 = u64::MAX;
    let mut end = TextPosition::new();
    (end.line, end.column) = (MAX, MAX);
    end.skip(MAX);
    let numbers = |position: TextPosition| (position.line, position.column, position.offset);

    let mut position = end;
    position.skip(MAX);
    position.push("text");
    assert_eq!(numbers(position), (MAX, MAX, MAX));
    position.push("a\nb");
    assert_eq!(numbers(position), (MAX, 2, MAX));

    // The offset of an error, and of a char of a reader, is its own.
    let options = Utf8Options::new().reject_controls();
    let mut decoder = Utf8Decoder::new().with_options(options);
    for (input, column) in [(&b"\xFF"[..], MAX), (b"\n", 1)] {
        let error = decoder.push(input).next().unwrap().unwrap_err();
        let mut position = end;
        position.push_error(&error);
        assert_eq!(numbers(position), (MAX, column, decoder.position()));
    }
    let mut position = end;
    let count = Utf8Reader::new(&b"a\xFF\n"[..]).chars_with_positions(&mut position).count();
    assert_eq!((count, numbers(position)), (3, (MAX, 1, 2)));
}

#[test]
fn a_rejected_lf_ends_a_line_and_a_missing_bom_has_no_column() {
    let options = Utf8Options::new().with_bom(BomPolicy::Require).reject_controls();
    let mut decoder = Utf8Decoder::new().with_options(options);
    let mut position = TextPosition::new();
    let mut seen = Vec::new();
    for piece in decoder.push(b"a\nb") {
        seen.push((position.line, position.column, position.offset));
        match piece {
            Ok(text) => position.push(text),
            Err(error) => position.push_error(&error),
        }
    }
    assert_eq!(seen, [(1, 1, 0), (1, 1, 0), (1, 2, 1), (2, 1, 2)]);
}

/// A reader of one chunk per read.
struct Chunks<'a>(std::slice::Iter<'a, &'static [u8]>);

impl Read for Chunks<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let chunk = self.0.find(|chunk| !chunk.is_empty()).copied().unwrap_or_default();
        room[..chunk.len()].copy_from_slice(chunk);
        Ok(chunk.len())
    }
}

fn reader<'a>(split: &'a [&'static [u8]], mode: ErrorMode) -> Utf8Reader<Chunks<'a>> {
    let reader = Utf8Reader::new(Chunks(split.iter()));
    reader.with_options(options()).with_error_mode(mode)
}

#[test]
fn a_blocking_reader_yields_the_position_of_each_item_at_any_split() {
    for mode in MODES {
        let expected = model(INPUT, mode);
        for split in splits() {
            let mut reader = reader(&split, mode);
            let mut position = TextPosition::new();
            let items: Vec<_> = reader
                .chars_with_positions(&mut position)
                .map(|(at, next)| item(at, next))
                .collect();
            assert_eq!(items, expected, "{mode:?} {split:?}");
            assert_eq!(reader.decoder().position(), INPUT.len() as u64);
            assert_eq!(reader.decoder().error_count(), 5, "{mode:?} {split:?}");
        }
    }
}

#[test]
fn positions_continue_after_the_iterator_was_dropped_and_after_chars_without_positions() {
    for mode in MODES {
        let expected = model(INPUT, mode);
        for taken in 0..=expected.len() {
            // The first items without positions: the offsets of the others are the same.
            let mut first = reader(&[INPUT], mode);
            assert_eq!(first.chars().take(taken).count(), taken);
            let rest: Vec<_> = first
                .chars_with_positions(&mut TextPosition::new())
                .map(|(at, next)| (at.offset, next.ok()))
                .collect();
            let known = expected[taken..].iter().map(|(.., at, next)| (*at, next.clone().ok()));
            assert_eq!(rest, known.collect::<Vec<_>>(), "{mode:?} {taken}");

            let mut second = reader(&[INPUT], mode);
            let (mut position, mut items) = (TextPosition::new(), Vec::new());
            let chars = second.chars_with_positions(&mut position);
            items.extend(chars.take(taken).map(|(at, next)| item(at, next)));
            let chars = second.chars_with_positions(&mut position);
            items.extend(chars.map(|(at, next)| item(at, next)));
            assert_eq!(items, expected, "{mode:?} {taken}");
        }
    }
}

#[test]
fn positions_in_the_middle_of_a_repair_continue_with_the_rest_of_it() {
    let mut reader = Utf8Reader::new(&b"\xD2aaa"[..]).with_error_mode(ErrorMode::Escape);
    assert_eq!(reader.next_char().unwrap(), Some('\\'));
    assert_eq!(reader.next_char().unwrap(), Some('x'));
    let rest: Vec<_> = reader
        .chars_with_positions(&mut TextPosition::new())
        .map(|(at, next)| (at.column, at.offset, next.unwrap()))
        .collect();
    assert_eq!(rest, [(1, 0, 'd'), (2, 0, '2'), (3, 1, 'a'), (4, 2, 'a'), (5, 3, 'a')]);
}

#[test]
fn methods_by_turns_return_each_item_once_with_its_offset() {
    for mode in MODES {
        let expected = model(INPUT, mode);
        // Each step takes one item, by the method that a digit of `plan` chooses.
        for plan in 0..3_usize.pow(6) {
            for split in [&[INPUT][..], &[&INPUT[..9], &INPUT[9..]]] {
                let mut reader = reader(split, mode);
                let mut turn = 0;
                for (.., offset, item) in &expected {
                    let method = plan / 3_usize.pow(turn % 6) % 3;
                    turn += 1;
                    let next = match method {
                        0 => reader.next_char().map(Option::unwrap),
                        1 => {
                            let text = reader.peek_str();
                            let next = text.map(|text| text.unwrap().chars().next().unwrap());
                            reader.consume(next.as_ref().map_or(0, |next| next.len_utf8()));
                            next
                        }
                        _ => {
                            let mut position = TextPosition::new();
                            let next = reader.chars_with_positions(&mut position).next();
                            let (at, next) = next.unwrap();
                            assert_eq!(at.offset, *offset, "{mode:?} {plan} {turn}");
                            next
                        }
                    };
                    let next = next.map_err(|error| match error {
                        StreamError::Utf8(error) => error.bytes().to_vec(),
                        error => panic!("{error}"),
                    });
                    assert_eq!(next, *item, "{mode:?} {plan} {turn}");
                }
                assert_eq!(reader.next_char().unwrap(), None);
                assert_eq!(reader.decoder().error_count(), 5, "{mode:?} {plan}");
            }
        }
    }
}

#[test]
fn methods_by_turns_cost_the_same_for_each_byte_of_a_large_buffer() {
    assert_linear(1 << 15, |size| {
        let input = b"\xFFa".repeat(size / 2);
        let reader = Utf8Reader::new(&input[..]).with_error_mode(ErrorMode::Replacement);
        let mut reader = reader.with_capacity(size);
        let mut position = TextPosition::new();
        let mut chars = 0;
        while reader.peek_str().unwrap().is_some() {
            chars += reader.chars_with_positions(&mut position).take(1).count();
        }
        assert_eq!((chars, position.column), (size, 1 + size as u64));
    });
}

#[cfg(feature = "stream")]
mod streams {
    use futures::StreamExt;
    use futures::executor::block_on;
    use futures::stream::{self, FusedStream};
    use utf8_codec::stream::{CharStream, StreamError, Utf8StreamExt};

    use super::{INPUT, MODES, TextPosition, io, item, model, options, splits};

    #[test]
    fn a_char_stream_yields_the_position_of_each_item_at_any_split() {
        for mode in MODES {
            let expected = model(INPUT, mode);
            for split in splits() {
                let chunks = stream::iter(split.clone().into_iter().map(Ok::<_, io::Error>));
                let texts = chunks.utf8().with_options(options()).with_error_mode(mode);
                let mut chars = texts.chars().with_positions();
                let mut items = Vec::new();
                while let Some((at, next)) = block_on(chars.next()) {
                    assert!(!chars.is_terminated());
                    items.push(item(at, next));
                }
                assert!(chars.is_terminated());
                assert_eq!(items, expected, "{mode:?} {split:?}");
            }
        }
    }

    #[test]
    fn an_error_of_the_source_has_the_position_of_the_next_item() {
        let chunks = [Ok(&b"a\nb\xC3"[..]), Err("broken"), Ok(b"\xA9!")];
        let chars = stream::iter(chunks).utf8().chars().with_positions();
        let items: Vec<_> = block_on(chars.collect());
        let places = items.iter().map(|(at, _)| (at.line, at.column, at.offset));
        let expected = [(1, 1, 0), (1, 2, 1), (2, 1, 2), (2, 2, 3), (2, 2, 3), (2, 3, 5)];
        assert_eq!(places.collect::<Vec<_>>(), expected);
        assert_eq!(items[3].1, Err(StreamError::Inner("broken")));

        // After an error in the text, and before a character that is cut.
        let chunks = [Ok(&b"a\xFF"[..]), Err("broken"), Ok(b"\xC3"), Err("broken"), Ok(b"\xA9")];
        let chars = stream::iter(chunks).utf8().chars().with_positions();
        let items: Vec<_> = block_on(chars.collect());
        let places = items.iter().map(|(at, _)| (at.column, at.offset));
        assert_eq!(places.collect::<Vec<_>>(), [(1, 0), (2, 1), (3, 2), (3, 2), (3, 2)]);
    }

    /// A user's type without any bound.
    struct Lexer<S> {
        chars: CharStream<S>,
        position: TextPosition,
    }

    #[test]
    fn a_struct_without_bounds_can_hold_a_char_stream() {
        let source = stream::iter([Ok::<_, io::Error>("one\ntwo")]);
        let mut lexer = Lexer { chars: source.utf8().chars(), position: TextPosition::new() };
        block_on(async {
            while let Some(Ok(_)) = lexer.chars.peek().await {
                let text = lexer.chars.as_str();
                lexer.position.push(text);
                let len = text.len();
                lexer.chars.advance(len);
            }
        });
        assert_eq!(lexer.position.to_string(), "line 2, column 4");
    }
}
