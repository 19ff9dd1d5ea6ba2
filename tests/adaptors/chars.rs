//! `CharStream`: offsets, blocks, errors, and other sources. `contract` has what it shares with the other adaptors;
//! `tests/vectors` splits every vector at every byte.
#![cfg(feature = "stream")]

use crate::lists;
use crate::script;

use std::convert::Infallible;
use std::pin::pin;
use std::sync::LazyLock;

use bytes::Bytes;
use futures::stream::FusedStream;
use futures::{FutureExt, StreamExt, stream};
use lists::{LOSSY, MULTILINGUAL, Random};
use script::Does::{self, Chunk, End, Error, Pause};
use script::Script;
use tokio::task::yield_now;
use utf8_codec::stream::{CharStream, StreamError, Utf8Stream, Utf8StreamExt};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Options};

/// Formats an item: a `char`, the offset and bytes of an error, or the inner error after a `!`.
fn word(item: Result<impl ToString, StreamError<&str>>) -> String {
    match item {
        Ok(text) => text.to_string(),
        Err(StreamError::Utf8(error)) => format!("{} {:02x?}", error.valid_up_to(), error.bytes()),
        Err(StreamError::Inner(error)) => format!("! {error}"),
        Err(error) => panic!("{error}"),
    }
}

fn chars_of(does: &[Does], mode: ErrorMode) -> CharStream<Script, &'static str> {
    Utf8Stream::new(Script::new(does)).with_error_mode(mode).chars()
}

/// Formats all items that are ready, with `-` for the end.
fn ready(chars: &mut CharStream<Script, &'static str>) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(item) = chars.next().now_or_never() {
        words.push(item.map_or("-".to_owned(), word));
        if chars.is_terminated() && words.last().is_some_and(|word| word == "-") {
            break;
        }
    }
    words
}

// ---- offsets ----------------------------------------------------------------------------------

fn indices(does: &[Does], mode: ErrorMode, options: Utf8Options) -> Vec<(u64, char)> {
    let texts = Utf8Stream::new(Script::new(does)).with_options(options).with_error_mode(mode);
    let mut chars = texts.chars();
    let mut seen = Vec::new();
    while let Some(Some(item)) = chars.next_indexed().now_or_never() {
        seen.extend(item.ok());
    }
    assert!(chars.is_terminated());
    seen
}

#[test]
fn char_offsets_are_stream_offsets() {
    let does =
        [Chunk(b"\xEF\xBB"), Chunk(b"\xBFa\xE2"), Chunk(b"\x82\xAC\xFF"), Chunk(b"b\xF0"), End];
    let keep = Utf8Options::new();
    let strip = keep.with_bom(BomPolicy::Strip);
    type Row = (ErrorMode, Utf8Options, &'static [(u64, char)]);
    let table: [Row; 5] = [
        (ErrorMode::Fatal, keep, &[(0, '\u{FEFF}'), (3, 'a'), (4, '€'), (8, 'b')]),
        (ErrorMode::Fatal, strip, &[(3, 'a'), (4, '€'), (8, 'b')]),
        (ErrorMode::Skip, strip, &[(3, 'a'), (4, '€'), (8, 'b')]),
        (ErrorMode::Latin1, strip, &[(3, 'a'), (4, '€'), (7, 'ÿ'), (8, 'b'), (9, 'ð')]),
        (
            ErrorMode::Escape,
            strip,
            &[
                (3, 'a'),
                (4, '€'),
                (7, '\\'),
                (7, 'x'),
                (7, 'f'),
                (7, 'f'),
                (8, 'b'),
                (9, '\\'),
                (9, 'x'),
                (9, 'f'),
                (9, '0'),
            ],
        ),
    ];
    for (mode, options, expected) in table {
        assert_eq!(indices(&does, mode, options), expected, "{mode:?}");
    }
    let middle = [Chunk(b"\x82\xACa"), Chunk(b"b"), End];
    let started = indices(&middle, ErrorMode::Fatal, keep.with_mid_stream_start());
    assert_eq!(started, [(2, 'a'), (3, 'b')]);
}

#[test]
fn offsets_of_a_long_text_equal_char_indices_at_any_split() {
    let text = MULTILINGUAL.repeat(100);
    let expected: Vec<_> = text.char_indices().map(|(at, c)| (at as u64, c)).collect();
    for size in [1, 2, 3, 7, 1000, 2047, 2048, 2049, 5000, text.len()] {
        let chunks: Vec<_> = text.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect();
        let chunks = stream::iter(chunks.into_iter().map(Ok::<_, Infallible>));
        let mut chars = chunks.utf8().chars();
        for expected in &expected {
            let next = chars.next_indexed().now_or_never().flatten();
            assert_eq!(next, Some(Ok(*expected)), "{size}");
        }
        assert_eq!(chars.next_indexed().now_or_never(), Some(None), "{size}");
    }
}

/// Bytes with many errors, alone and in runs, and with truncated characters of all lengths.
fn damaged(len: usize) -> Vec<u8> {
    let mut random = Random(0x9E37_79B9);
    let mut next = |below| random.below(below);
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let run = next(8);
        match next(5) {
            0 => bytes.extend((0..run).map(|_| next(256) as u8)),
            1 => bytes.extend("日本👋é".as_bytes().iter().skip(next(8)).take(run)),
            2 => bytes.extend([0xFF].repeat(run)),
            _ => bytes.extend(MULTILINGUAL.as_bytes().iter().take(10 * run)),
        }
    }
    bytes.truncate(len);
    bytes
}

#[test]
fn repaired_chars_have_the_offset_of_their_error() {
    let bytes = damaged(20_000);
    for mode in LOSSY {
        let (mut decoder, mut expected, mut at) = (Utf8Decoder::new(), Vec::new(), 0);
        for piece in decoder.push(&bytes) {
            match piece {
                Ok(text) => {
                    expected.extend(text.char_indices().map(|(i, c)| (at + i as u64, c)));
                    at += text.len() as u64;
                }
                Err(error) => {
                    let repair = mode.repair(&error, Utf8Options::new()).unwrap();
                    expected.extend(repair.chars().map(|c| (error.valid_up_to(), c)));
                    at += error.bytes().len() as u64;
                }
            }
        }
        let end = decoder
            .finish()
            .err()
            .map(|error| (error, mode.repair(&error, Utf8Options::new()).unwrap()));
        if let Some((error, repair)) = end {
            expected.extend(repair.chars().map(|c| (error.valid_up_to(), c)));
        }
        for size in [1, 7, 100, 1000, 1024, 1025, 5000, bytes.len()] {
            let chunks: Vec<_> = bytes.chunks(size).map(Bytes::copy_from_slice).collect();
            let texts = stream::iter(chunks.into_iter().map(Ok::<_, Infallible>)).utf8();
            let mut chars = texts.with_error_mode(mode).chars();
            let mut seen = Vec::new();
            while let Some(Some(item)) = chars.next_indexed().now_or_never() {
                seen.push(item.unwrap());
            }
            assert!(seen == expected, "{mode:?}, {size} bytes per read");
            assert!(mode == ErrorMode::Skip || chars.offset() == bytes.len() as u64);
            assert_eq!(chars.get_ref().decoder().error_count(), decoder.error_count());
        }
    }
}

#[test]
fn offset_is_that_of_the_next_char_or_the_end() {
    let mut chars = chars_of(&[Chunk(b"\xC3\xA9\xFFx"), Chunk(b"y"), End], ErrorMode::Fatal);
    assert_eq!(chars.offset(), 0);
    let mut offsets = Vec::new();
    while chars.next().now_or_never().flatten().is_some() {
        offsets.push(chars.offset());
    }
    assert_eq!(offsets, [2, 2, 4, 5]);
    assert_eq!(chars.offset(), 5);
}

/// A fixed bug: the offset was after skipped bytes if they were in one chunk with another error.
#[test]
fn offset_at_the_end_excludes_skipped_errors() {
    let one: &[Does] = &[Chunk(b"\xFFa\xFF\xFF"), End];
    let many: &[Does] = &[Chunk(b"\xFFa"), Chunk(b"\xFF"), Chunk(b"\xFF"), End];
    for does in [one, many] {
        let mut chars = chars_of(does, ErrorMode::Skip);
        assert_eq!(chars.next().now_or_never().flatten(), Some(Ok('a')));
        assert_eq!((chars.as_str(), chars.offset()), ("", 2), "{does:?}");
        assert_eq!(chars.next().now_or_never(), Some(None));
        assert_eq!(chars.offset(), 2, "{does:?}");
    }
}

#[test]
fn offset_starts_at_the_position_of_the_source() {
    let script = [Chunk(b"ab\xE2"), Chunk(b"\x82\xAC\xFFc"), End];
    for (steps, offset) in [(0, 0), (1, 2), (2, 5), (3, 6), (4, 7)] {
        let mut texts = Utf8Stream::new(Script::new(&script));
        for _ in 0..steps {
            texts.next().now_or_never().unwrap();
        }
        assert_eq!(texts.chars().offset(), offset, "after {steps}");
    }
    let mut chars = stream::iter(["ab", "c"].map(Ok::<_, Infallible>)).utf8().chars();
    chars.next_block().now_or_never().unwrap();
    assert_eq!(chars.into_inner().chars().offset(), 2);
}

#[test]
fn offset_is_unchanged_while_the_source_is_pending() {
    let does = [Chunk(b"ab\xFF"), Pause, Pause, Chunk(b"c"), End];
    let mut chars = chars_of(&does, ErrorMode::Escape);
    assert_eq!(ready(&mut chars), ["a", "b", "\\", "x", "f", "f"]);
    assert_eq!(chars.offset(), 3);
    assert_eq!(ready(&mut chars), [] as [&str; 0]);
    assert_eq!(chars.offset(), 3);
    assert_eq!(ready(&mut chars), ["c", "-"]);
    assert_eq!(chars.offset(), 4);
}

// ---- text and blocks ----------------------------------------------------------------------------

#[test]
fn decoded_text_can_be_borrowed_and_advanced() {
    let mut chars = chars_of(&[Chunk("größer, länger".as_bytes()), End], ErrorMode::Fatal);
    assert_eq!(chars.as_str(), "");
    assert_eq!(chars.peek().now_or_never().flatten(), Some(Ok('g')));
    assert_eq!(chars.as_str(), "größer, länger");
    chars.advance(4);
    assert_eq!((chars.as_str(), chars.offset()), ("ßer, länger", 4));
    assert_eq!(chars.next().now_or_never().flatten(), Some(Ok('ß')));
    assert_eq!(chars.peek().now_or_never().flatten(), Some(Ok('e')));
    chars.advance(0);
    chars.advance(5);
    assert_eq!(
        chars.next_block().now_or_never().flatten(),
        Some(Ok(&['ä', 'n', 'g', 'e', 'r'][..]))
    );
    assert_eq!((chars.as_str(), chars.offset()), ("", 17));
    assert!(!chars.is_terminated());
    assert_eq!(chars.next_block().now_or_never(), Some(None));
    assert!(chars.is_terminated());
}

#[test]
fn advance_can_skip_past_the_decoded_block() {
    static TEXT: LazyLock<String> = LazyLock::new(|| MULTILINGUAL.repeat(200));
    let text = TEXT.as_str();
    let boundary = |at: usize| (at..).find(|&at| text.is_char_boundary(at)).unwrap();
    for step in [1, 2047, 2048, 2049, 5000, 10_000] {
        let mut chars = chars_of(&[Chunk(text.as_bytes())], ErrorMode::Fatal);
        let mut at = 0;
        while at + step < text.len() {
            assert!(chars.peek().now_or_never().flatten().is_some());
            assert!(chars.as_str() == &text[at..], "the whole chunk");
            let len = boundary(at + step) - at;
            chars.advance(len);
            at += len;
            assert_eq!(chars.offset(), at as u64);
            let next = chars.next().now_or_never().flatten();
            assert_eq!(next, text[at..].chars().next().map(Ok));
            at += next.map_or(0, |c| c.map_or(0, char::len_utf8));
        }
    }
}

#[test]
#[should_panic(expected = "byte 2 is not a character boundary of the decoded text (3 bytes)")]
fn advance_into_a_character_panics() {
    let mut chars = chars_of(&[Chunk("aß".as_bytes())], ErrorMode::Fatal);
    let _ = chars.peek().now_or_never();
    chars.advance(2);
}

#[test]
#[should_panic(expected = "byte 1 is not a character boundary of the decoded text (0 bytes)")]
fn advance_past_known_text_panics() {
    chars_of(&[Chunk(b"a")], ErrorMode::Fatal).advance(1);
}

#[test]
fn a_repair_can_be_borrowed_and_advanced() {
    let mut chars = chars_of(&[Chunk(b"a\xFFb"), End], ErrorMode::Escape);
    assert_eq!(chars.next_block().now_or_never().flatten(), Some(Ok(&['a'][..])));
    assert_eq!(chars.peek().now_or_never().flatten(), Some(Ok('\\')));
    assert_eq!((chars.as_str(), chars.offset()), (r"\xffb", 1));
    chars.advance(2);
    assert_eq!((chars.as_str(), chars.offset()), ("ffb", 1));
    assert_eq!(chars.next().now_or_never().flatten(), Some(Ok('f')));
    chars.advance(1);
    assert_eq!((chars.as_str(), chars.offset()), ("b", 2));
    assert_eq!(chars.next_block().now_or_never().flatten(), Some(Ok(&['b'][..])));
    assert_eq!(chars.offset(), 3);
}

#[test]
fn a_block_has_at_most_2048_chars() {
    let text = MULTILINGUAL.repeat(200);
    let chunks = stream::iter([Ok::<_, Infallible>(text.clone())]);
    let mut chars = chunks.utf8().chars();
    let (mut seen, mut longest) = (String::new(), 0);
    while let Some(Some(block)) = chars.next_block().now_or_never() {
        let block = block.unwrap();
        longest = longest.max(block.len());
        seen.extend(block);
    }
    assert_eq!(seen, text);
    assert!((500..=2048).contains(&longest), "{longest}");
}

#[test]
fn into_inner_continues_after_the_current_block() {
    let mut chars = chars_of(&[Chunk(b"ab\xFFcd"), Chunk(b"ef"), End], ErrorMode::Skip);
    assert_eq!(chars.next().now_or_never().flatten(), Some(Ok('a')));
    let mut texts = chars.into_inner();
    let mut rest = || texts.next().now_or_never().flatten();
    assert_eq!(rest(), Some(Ok("cd".into())));
    assert_eq!(rest(), Some(Ok("ef".into())));
    assert_eq!(rest(), None);
}

// ---- errors and the end -------------------------------------------------------------------------

#[test]
fn errors_are_yielded_once_in_order() {
    let does = [Chunk(b"a\xE2"), Error("reset"), Chunk(b"\x82"), Chunk(b"\xFFb\xC3"), End];
    let words = ["a", "! reset", "1 [e2, 82]", "3 [ff]", "b", "5 [c3]", "-"];
    assert_eq!(ready(&mut chars_of(&does, ErrorMode::Fatal)), words);

    let mut peeked = chars_of(&does, ErrorMode::Fatal);
    let mut seen = Vec::new();
    while let Some(Some(item)) = peeked.peek().now_or_never() {
        let item = item.map_err(Clone::clone);
        assert_eq!(peeked.peek().now_or_never(), Some(Some(item.as_ref().copied())));
        assert!(!peeked.is_terminated());
        assert_eq!(peeked.next().now_or_never().flatten().as_ref(), Some(&item));
        seen.push(word(item));
    }
    assert_eq!(seen, words[..6]);

    let mut in_blocks = chars_of(&does, ErrorMode::Fatal);
    let mut seen = Vec::new();
    while let Some(Some(item)) = in_blocks.next_block().now_or_never() {
        seen.push(word(item.map(String::from_iter)));
    }
    assert_eq!(seen, words[..6]);
}

// ---- other sources --------------------------------------------------------------------------------

#[test]
fn strings_can_be_chunks() {
    fn all<T: Into<Bytes>>(texts: Vec<T>) -> Vec<(u64, char)> {
        let mut chars = stream::iter(texts.into_iter().map(Ok::<_, Infallible>)).utf8().chars();
        let mut all = Vec::new();
        while let Some(next) = chars.next_indexed().now_or_never().unwrap() {
            all.push(next.unwrap());
        }
        all
    }
    let expected = [(0, 'g'), (1, 'ü'), (3, 'n')];
    assert_eq!(all(vec!["gü", "", "n"]), expected);
    assert_eq!(all(vec!["gü".to_owned(), String::new(), "n".to_owned()]), expected);
    assert_eq!(all(Vec::<String>::new()), []);
}

#[test]
fn futures_and_streams_are_send() {
    fn is_sent<F: Send>(_: F) {}
    let mut chars = Utf8Stream::from_reader(tokio::io::empty()).chars();
    is_sent(chars.next_block());
    is_sent(chars.peek());
    is_sent(chars.next_indexed());
    is_sent(chars);
}

#[tokio::test]
async fn a_source_that_is_not_unpin_can_be_polled() {
    let steps = stream::unfold(0, |n| async move {
        yield_now().await;
        (n < 2).then(|| (Ok::<_, Infallible>([&b"\xC3"[..], b"\xA9"][n]), n + 1))
    });
    let mut chars = pin!(steps.utf8().chars()); // is not Unpin
    assert_eq!(chars.next().await, Some(Ok('é')));
    assert_eq!(chars.next().await, None);
}
