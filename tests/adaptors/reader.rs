//! `Utf8Reader` and `Utf8ByteReader`: text, errors, parts and bytes. `contract` has what they share with the other adaptors;
//! `tests/vectors` splits every vector at every byte.
#![cfg(feature = "stream")]

use crate::lists;
use crate::script;

use std::future::poll_fn;
use std::io;
use std::pin::pin;

use futures::{FutureExt, StreamExt, stream};
use lists::{MODES, MULTILINGUAL};
use script::Does::{self, Chunk, End, Error, Pause};
use script::Script;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt};
use tokio::task::yield_now;
use tokio_util::io::StreamReader;
use utf8_codec::stream::{StreamError, Utf8Reader};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

/// Formats the result of a read: text, the offset and bytes of an error, the reader's error after a
/// `!`, or `-` for the end.
fn word(read: Result<Option<&str>, StreamError<io::Error>>) -> String {
    match read {
        Ok(Some(text)) => {
            assert!(!text.is_empty(), "texts are never empty");
            text.to_owned()
        }
        Ok(None) => "-".to_owned(),
        Err(StreamError::Utf8(error)) => format!("{} {:02x?}", error.valid_up_to(), error.bytes()),
        Err(StreamError::Inner(error)) => format!("! {error}"),
        Err(error) => panic!("{error}"),
    }
}

/// Formats all results that are ready.
pub(crate) fn ready<R: AsyncRead + Unpin>(reader: &mut Utf8Reader<R>) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(read) = reader.next_str().now_or_never() {
        words.push(word(read));
        if words.last().is_some_and(|word| word == "-") {
            break;
        }
    }
    words
}

fn reported(mode: ErrorMode, does: &[Does]) -> Vec<String> {
    ready(&mut Utf8Reader::new(Script::new(does)).with_error_mode(mode))
}

// ---- text -------------------------------------------------------------------------------------

#[test]
fn a_split_character_is_returned_with_the_text_after_it() {
    let words =
        reported(ErrorMode::Fatal, &[Chunk(b"a\xE2"), Chunk(b"\x82"), Chunk(b"\xACb"), End]);
    assert_eq!(words, ["a", "€b", "-"]);
    let words = reported(ErrorMode::Fatal, &[Chunk(b"\xF0\x9F\x98"), Pause, Chunk(b"\x80"), End]);
    assert_eq!(words, [] as [&str; 0]);
}

#[test]
fn unconsumed_text_is_returned_again() {
    let mut reader = Utf8Reader::new(Script::new(&[Chunk("größer".as_bytes()), Chunk(b"!")]));
    assert_eq!(reader.peek_str().now_or_never().unwrap().unwrap(), Some("größer"));
    reader.consume(2);
    reader.consume(0);
    assert_eq!(reader.as_str(), "ößer");
    assert_eq!(reader.next_char().now_or_never().unwrap().unwrap(), Some('ö'));
    assert_eq!(reader.peek_str().now_or_never().unwrap().unwrap(), Some("ßer"));
    assert_eq!(reader.get_ref().polls, 1, "there was text");
    assert_eq!(reader.next_str().now_or_never().unwrap().unwrap(), Some("ßer"));
    assert_eq!(reader.next_str().now_or_never().unwrap().unwrap(), Some("!"));
}

#[test]
#[should_panic(expected = "byte 2 is not a character boundary of the decoded text (3 bytes)")]
fn consume_into_a_character_panics() {
    let mut reader = Utf8Reader::new(Script::new(&[Chunk("aß".as_bytes())]));
    let _ = reader.peek_str().now_or_never();
    reader.consume(2);
}

#[test]
#[should_panic(expected = "byte 4 is not a character boundary of the decoded text (3 bytes)")]
fn consume_past_the_text_panics() {
    let mut reader = Utf8Reader::new(Script::new(&[Chunk("aß".as_bytes()), Chunk(b"more")]));
    let _ = reader.peek_str().now_or_never();
    reader.consume(4);
}

#[test]
#[should_panic(expected = "byte 4 is not a character boundary of the decoded text (3 bytes)")]
fn consume_past_a_repair_panics() {
    let does = [Chunk(b"\xFFx")];
    let mut reader = Utf8Reader::new(Script::new(&does)).with_error_mode(ErrorMode::Latin1);
    let _ = reader.peek_str().now_or_never();
    reader.consume("ÿx".len() + 1);
}

#[tokio::test]
async fn one_read_is_at_most_the_capacity() {
    let text = MULTILINGUAL.repeat(300);
    for capacity in [0, 1, 4, 5, 7, 95, 96, 97, 98, 99, 100, 1000, 8192, 1 << 20] {
        let mut reader = Utf8Reader::new(text.as_bytes()).with_capacity(capacity);
        let (mut seen, mut longest) = (String::new(), 0);
        while let Some(text) = reader.next_str().await.unwrap() {
            seen += text;
            longest = longest.max(text.len());
        }
        assert_eq!(seen, text, "{capacity}");
        assert!(longest <= capacity.max(4), "{longest} of {capacity}");
    }
}

#[test]
fn a_repair_can_be_consumed_in_parts() {
    let does = [Chunk(b"a\xFFb")];
    let mut reader = Utf8Reader::new(Script::new(&does)).with_error_mode(ErrorMode::Escape);
    let mut next = || reader.next_char().now_or_never().unwrap().unwrap().unwrap();
    assert_eq!([next(), next(), next()], ['a', '\\', 'x']);
    assert_eq!(reader.as_str(), "ffb");
    reader.consume(1);
    assert_eq!(reader.peek_str().now_or_never().unwrap().unwrap(), Some("fb"));
    assert_eq!(reader.next_str().now_or_never().unwrap().unwrap(), Some("fb"));
    assert!(reader.next_char().now_or_never().is_none());
}

#[test]
fn options_set_after_the_first_read_keep_the_offsets() {
    let strict = Utf8Options::new().with_bom(BomPolicy::Require).reject_nul();
    let does = [Chunk(b"\xC3\xA9\0"), Chunk(b"\0\xEF\xBB\xBFb\xFF"), End];
    let mut reader = Utf8Reader::new(Script::new(&does));
    assert_eq!(reader.next_str().now_or_never().unwrap().unwrap(), Some("é\0"));
    let mut reader = reader.with_options(strict);
    assert_eq!(ready(&mut reader), ["3 [00]", "\u{FEFF}b", "8 [ff]", "-"]);
    assert_eq!(reader.decoder().position(), 9);
}

#[tokio::test]
async fn lowering_the_capacity_loses_no_data() {
    for before in [2, 90, 93, 95, 200] {
        let text = format!("{}{}", "a".repeat(before), MULTILINGUAL);
        for steps in 1..4 {
            let mut reader = Utf8Reader::new(text.as_bytes());
            let mut seen = String::new();
            for _ in 0..steps {
                seen.extend(reader.next_str().await.unwrap());
            }
            let mut reader = reader.with_capacity(4);
            while let Some(text) = reader.next_str().await.unwrap() {
                seen += text;
            }
            assert_eq!(seen, text);
        }
    }
}

// ---- collecting ---------------------------------------------------------------------------------

#[tokio::test]
async fn text_over_the_limit_is_not_consumed() {
    let mut reader = Utf8Reader::new(Script::new(&[Chunk(b"one "), Chunk(b"two"), End]));
    let mut text = "zero ".to_owned();
    let error = reader.append_text(&mut text, 10).await.unwrap_err();
    assert!(matches!(error, StreamError::TooLong { max_length: 10 }));
    assert_eq!((&*text, reader.as_str()), ("zero one ", "two"));
    reader.append_text(&mut text, 12).await.unwrap();
    assert_eq!(text, "zero one two");
    let already = reader.append_text(&mut text, 3).await;
    assert!(already.is_ok(), "there is nothing to append");
}

#[tokio::test]
async fn text_before_an_error_is_appended() {
    let does = [Chunk(b"a\xFFb"), Error("reset"), Chunk(b"c"), End];
    let mut reader = Utf8Reader::new(Script::new(&does));
    let mut text = String::new();
    let error = reader.append_text(&mut text, 100).await.unwrap_err();
    assert!(matches!(error, StreamError::Utf8(_)) && text == "a");
    let error = reader.append_text(&mut text, 100).await.unwrap_err();
    assert!(matches!(error, StreamError::Inner(_)) && text == "ab");
    reader.append_text(&mut text, 100).await.unwrap();
    assert_eq!(text, "abc");
}

// ---- parts --------------------------------------------------------------------------------------

/// Returns the stream as `text` with the offsets of errors. The reader is taken apart after `steps`
/// steps, and the rest is decoded by a decoder.
fn apart_after(steps: usize, bytes: &[u8], mode: ErrorMode) -> (String, u64) {
    let mut reader = Utf8Reader::new(bytes).with_error_mode(mode).with_capacity(5);
    let mut seen = String::new();
    for _ in 0..steps {
        if let Some(Ok(Some(c))) = reader.next_char().now_or_never() {
            seen.push(c);
        }
    }
    seen += reader.as_str();
    let (mut decoder, rest) = (reader.decoder().clone(), reader.rest().to_vec());
    for chunk in [&*rest, reader.into_inner()] {
        for piece in decoder.push(chunk) {
            match piece {
                Ok(text) => seen += text,
                Err(error) => {
                    seen += mode.repair(&error, Utf8Options::new()).as_deref().unwrap_or_default()
                }
            }
        }
    }
    while let Err(error) = decoder.finish() {
        seen += mode.repair(&error, Utf8Options::new()).as_deref().unwrap_or_default();
    }
    (seen, decoder.error_count())
}

#[test]
fn into_parts_loses_no_data_at_any_step() {
    let bytes = b"ab\xFFc\xE2\x82\xAC\xE2\x82d\xF0\x9F\x98\x80\xF0\x9F\x98efghijk\xC3";
    for mode in MODES {
        let whole = apart_after(0, bytes, mode);
        assert_eq!(whole.1, 4);
        for steps in 1..60 {
            assert_eq!(apart_after(steps, bytes, mode), whole, "{mode:?} after {steps}");
        }
    }
}

// ---- bytes --------------------------------------------------------------------------------------

#[tokio::test]
async fn bytes_can_be_read_in_any_sizes() {
    let text = MULTILINGUAL.repeat(40);
    for size in [1, 2, 3, 7, 64, 97, 5000] {
        let mut reader = Utf8Reader::new(text.as_bytes()).with_capacity(100).into_byte_reader();
        let (mut bytes, mut buffer) = (Vec::new(), vec![0; size]);
        loop {
            let read = reader.read(&mut buffer).await.unwrap();
            if read == 0 {
                break;
            }
            bytes.extend_from_slice(&buffer[..read]);
        }
        assert_eq!(bytes, text.as_bytes(), "{size}");
    }
}

#[tokio::test]
async fn text_continues_with_the_character_that_was_read_in_part() {
    use std::io::Read as _;

    let text = "a€é";
    for len in 0..=text.len() {
        let whole = (0..=len).rev().find(|&len| text.is_char_boundary(len)).unwrap();
        let rest = Some(&text[whole..]).filter(|rest| !rest.is_empty());
        let mut bytes = vec![0; len];

        let mut reader = Utf8Reader::new(text.as_bytes()).into_byte_reader();
        reader.read_exact(&mut bytes).await.unwrap();
        assert_eq!(reader.into_inner().next_str().await.unwrap(), rest, "{len}");

        let mut reader = utf8_codec::io::Utf8Reader::new(text.as_bytes()).into_byte_reader();
        reader.read_exact(&mut bytes).unwrap();
        assert_eq!(reader.into_inner().next_str().unwrap(), rest, "{len}");
    }
}

#[tokio::test]
async fn a_byte_reader_works_as_async_buf_read() {
    let peer = b"first\nzw\xC3\xB6lf\nlast".chain(&b" one"[..]);
    let mut lines = Utf8Reader::new(peer).with_capacity(4).into_byte_reader().lines();
    let mut seen = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        seen.push(line);
    }
    assert_eq!(seen, ["first", "zwölf", "last one"]);
}

#[tokio::test]
async fn bytes_before_and_after_an_error_are_read_in_order() {
    let does = [Chunk(b"ab\xFFcd"), Error("reset"), Chunk(b"ef\xC3"), End];
    let mut reader = Utf8Reader::new(Script::new(&does)).into_byte_reader();
    let mut text = Vec::new();
    let error = reader.read_to_end(&mut text).await.unwrap_err();
    assert_eq!((error.kind(), &*text), (io::ErrorKind::InvalidData, &b"ab"[..]));
    let error = reader.read_to_end(&mut text).await.unwrap_err();
    assert_eq!((&*error.to_string(), &*text), ("reset", &b"abcd"[..]));
    let error = reader.read_to_end(&mut text).await.unwrap_err();
    assert_eq!((error.kind(), &*text), (io::ErrorKind::UnexpectedEof, &b"abcdef"[..]));
    assert_eq!(reader.read_to_end(&mut text).await.unwrap(), 0);
    assert_eq!(reader.get_ref().decoder().error_count(), 2);
}

#[tokio::test]
async fn a_read_into_an_empty_buffer_reads_nothing() {
    let mut reader = Utf8Reader::new(Script::new(&[Chunk(b"a")])).into_byte_reader();
    assert_eq!(reader.read(&mut []).await.unwrap(), 0);
    assert_eq!(reader.get_ref().get_ref().polls, 0);
    assert_eq!(reader.read_u8().await.unwrap(), b'a');
}

/// A fixed bug: in release builds the addition wrapped, and nothing was consumed.
#[tokio::test]
#[should_panic(expected = "cannot consume 18446744073709551615 of 2 bytes")]
#[cfg(target_pointer_width = "64")]
async fn consume_of_usize_max_panics() {
    let mut reader = Utf8Reader::new("äöü".as_bytes()).with_capacity(4).into_byte_reader();
    reader.fill_buf().await.unwrap();
    reader.consume(2);
    reader.consume(usize::MAX);
}

#[tokio::test]
#[should_panic(expected = "cannot consume 3 of 2 bytes")]
async fn consume_past_the_bytes_panics() {
    let mut reader = Utf8Reader::new("äöü".as_bytes()).with_capacity(4).into_byte_reader();
    reader.fill_buf().await.unwrap();
    reader.consume(2);
    reader.consume(3);
}

#[tokio::test]
async fn a_reader_that_is_not_unpin_can_be_polled() {
    let steps = stream::unfold(0, |n| async move {
        yield_now().await;
        (n < 2).then(|| (Ok::<_, io::Error>([&b"\xC3"[..], b"\xA9"][n]), n + 1))
    });
    let mut reader = pin!(Utf8Reader::new(StreamReader::new(steps))); // is not Unpin
    let text = poll_fn(|cx| reader.as_mut().poll_fill_str(cx).map_ok(str::to_owned)).await;
    assert_eq!(text.unwrap(), "é");

    let steps = stream::iter([Ok::<_, io::Error>(&b"\xC3"[..]), Ok(b"\xA9")]).then(|step| async {
        yield_now().await;
        step
    });
    let mut bytes = pin!(Utf8Reader::new(StreamReader::new(steps)).into_byte_reader());
    let text = poll_fn(|cx| bytes.as_mut().poll_fill_buf(cx).map_ok(<[u8]>::to_vec)).await;
    assert_eq!(text.unwrap(), "é".as_bytes());
    bytes.as_mut().consume(2);
    let end = poll_fn(|cx| bytes.as_mut().poll_fill_buf(cx).map_ok(<[u8]>::to_vec)).await;
    assert_eq!(end.unwrap(), b"");
}

// ---- wakers -------------------------------------------------------------------------------------

#[test]
fn the_last_read_before_yielding_is_decoded() {
    let does = [[Chunk(b"\xFF"); 31].as_slice(), &[Chunk(b"a"), Chunk(b"b")]].concat();
    let mut reader = Utf8Reader::new(Script::new(&does)).with_error_mode(ErrorMode::Skip);
    assert_eq!(ready(&mut reader), ["a", "b"]);
}

// ---- dropped futures ----------------------------------------------------------------------------

#[test]
fn futures_are_send() {
    fn is_sent<F: Send>(_: F) {}
    let mut reader = Utf8Reader::new(tokio::io::empty());
    is_sent(reader.next_str());
    is_sent(reader.peek_str());
    is_sent(reader.next_char());
    is_sent(reader.collect_text(1));
    is_sent(reader.append_text(&mut String::new(), 1));
}
