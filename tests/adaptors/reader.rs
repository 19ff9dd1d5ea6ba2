//! `Utf8Reader` and `Utf8ByteReader`: text, errors, the end, wakers, dropped futures, parts, and real
//! sources. `tests/vectors` splits every vector at every byte.
#![cfg(feature = "stream")]

use crate::lists;
use crate::script;

use std::future::poll_fn;
use std::io;
use std::net::Ipv4Addr;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use lists::{MODES, MULTILINGUAL};
use script::Does::{self, Chunk, End, Error, Pause};
use script::{
    Script, assert_waits_only_for_script, channel, scripts, socket_in_odd_pieces, soon,
    write_slowly,
};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_test::{assert_pending, assert_ready, task};
use tokio_util::io::StreamReader;
use utf8_codec::stream::{StreamError, Utf8ByteReader, Utf8Reader};
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

// ---- the end ----------------------------------------------------------------------

#[test]
fn an_ended_reader_is_not_read_again() {
    let does = [Chunk(b"a\xF0\x9F"), End, Chunk(b"b"), Error("late")];
    let mut reader = Utf8Reader::new(Script::new(&does));
    assert_eq!(ready(&mut reader), ["a", "1 [f0, 9f]", "-"]);
    for _ in 0..3 {
        assert_eq!(ready(&mut reader), ["-"]);
    }
    assert_eq!(reader.get_ref().polls, 2);
}

// ---- collecting ---------------------------------------------------------------------------------

#[tokio::test]
async fn collected_text_is_at_most_the_limit() {
    for limit in 0..12 {
        let chunks = [Chunk(b"5 \xE2"), Chunk(b"\x82\xAC"), Pause, Chunk(b", 6"), End];
        for mode in MODES {
            let mut reader = Utf8Reader::new(Script::new(&chunks)).with_error_mode(mode);
            match soon(reader.collect_text(limit)).await {
                Ok(text) => assert_eq!((&*text, limit >= 8), ("5 €, 6", true)),
                Err(error) => {
                    assert!(limit < 8 && matches!(error, StreamError::TooLong { .. }), "{error:?}");
                }
            }
        }
    }
    let mut reader = Utf8Reader::new(&b"\xFF\xFF"[..]).with_error_mode(ErrorMode::Escape);
    assert!(matches!(reader.collect_text(7).await, Err(StreamError::TooLong { max_length: 7 })));
}

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

#[tokio::test]
async fn collecting_an_endless_reader_is_bounded_by_the_limit() {
    let mut reader = Utf8Reader::new(tokio::io::repeat(b'x'));
    let mut text = String::new();
    let error = soon(reader.append_text(&mut text, 1_000_005)).await.unwrap_err();
    assert!(matches!(error, StreamError::TooLong { max_length: 1_000_005 }));
    assert!(text.capacity() <= 1_000_005, "{}", text.capacity());
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
fn a_reader_is_pending_only_if_its_source_is() {
    let steps = [Chunk(b"a\xFF\xE2"), Chunk(b"\x82"), Chunk(b"\xAC"), Error("e"), Pause, End];
    for does in scripts(&steps, 5) {
        for mode in [ErrorMode::Fatal, ErrorMode::Skip] {
            let reader = Utf8Reader::new(Script::new(&does)).with_error_mode(mode);
            let look = |reader: &Utf8Reader<Script>| reader.get_ref().look();
            assert_waits_only_for_script(&does, reader, look, |cx, mut reader| {
                let poll = reader.as_mut().poll_fill_str(cx).map_ok(str::len);
                if let Poll::Ready(Ok(len)) = poll {
                    reader.consume(len);
                }
                poll.map(|read| !matches!(read, Ok(0)))
            });
        }
    }
}

#[test]
fn a_reader_without_text_yields_to_other_tasks() {
    let does = [[Chunk(b"\xFF"); 100].as_slice(), &[Chunk(b"at last"), End]].concat();
    let mut reader =
        task::spawn(Utf8Reader::new(Script::new(&does)).with_error_mode(ErrorMode::Skip));
    let mut poll = || {
        let poll = reader.enter(|cx, reader| reader.poll_fill_str(cx).map_ok(str::to_owned));
        (poll, reader.is_woken(), reader.get_ref().polls)
    };
    for turn in 1..=3 {
        let (poll, is_woken, polls) = poll();
        assert_pending!(poll);
        assert!(is_woken, "the task is woken");
        assert_eq!(polls, 32 * turn);
    }
    assert_eq!(assert_ready!(poll().0).unwrap(), "at last");
}

#[test]
fn the_last_read_before_yielding_is_decoded() {
    let does = [[Chunk(b"\xFF"); 31].as_slice(), &[Chunk(b"a"), Chunk(b"b")]].concat();
    let mut reader = Utf8Reader::new(Script::new(&does)).with_error_mode(ErrorMode::Skip);
    assert_eq!(ready(&mut reader), ["a", "b"]);
}

// ---- dropped futures ----------------------------------------------------------------------------

#[tokio::test]
async fn an_interrupted_byte_read_loses_no_data() {
    let text = MULTILINGUAL.repeat(20);
    let (peer, socket) = duplex(3);
    let writer = write_slowly(peer, &text);
    let mut reader: Utf8ByteReader<_> = Utf8Reader::new(socket).into_byte_reader();
    let mut bytes = Vec::new();
    loop {
        tokio::select! {
            biased;
            read = reader.read_buf(&mut bytes) => if read.unwrap() == 0 { break },
            () = yield_now() => {}
        }
    }
    soon(writer).await.unwrap();
    assert_eq!(bytes, text.as_bytes());
}

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

// ---- real sources -------------------------------------------------------------------------------

#[tokio::test]
async fn a_duplex_pipe_delivers_text_and_errors_without_waiting() {
    let (mut peer, socket) = duplex(64);
    let mut reader = Utf8Reader::new(socket);
    peer.write_all(b"a\xFFb\xE2\x82").await.unwrap();
    for expected in ["a", "1 [ff]", "b"] {
        assert_eq!(word(soon(reader.next_str()).await), expected); // nothing more is written
    }
    assert!(timeout(Duration::from_millis(10), reader.next_str()).await.is_err());
    assert_eq!(reader.rest(), b"\xE2\x82");
    peer.write_all(b"\xAC").await.unwrap();
    assert_eq!(word(soon(reader.next_str()).await), "€");
    peer.write_all(b"\xE2").await.unwrap();
    drop(peer);
    assert_eq!(word(soon(reader.next_str()).await), "6 [e2]");
    assert_eq!(word(soon(reader.next_str()).await), "-");
}

#[tokio::test]
async fn a_socket_with_odd_packet_sizes_loses_no_data() {
    let text = MULTILINGUAL.repeat(500);
    let damaged = [text.as_bytes(), b"\xFF", text.as_bytes(), b"\xF0\x9F"].concat();
    let (socket, peer) = socket_in_odd_pieces(damaged).await;
    let mut reader = Utf8Reader::new(socket);
    let (mut seen, mut errors) = (String::new(), Vec::new());
    loop {
        match soon(reader.next_str()).await {
            Ok(Some(piece)) => seen += piece,
            Ok(None) => break,
            Err(StreamError::Utf8(error)) => errors.push((seen.len(), error.valid_up_to())),
            Err(error) => panic!("{error}"),
        }
    }
    peer.await.unwrap();
    let len = text.len();
    assert_eq!(errors, [(len, len as u64), (2 * len, 2 * len as u64 + 1)]);
    assert_eq!(seen, text.repeat(2));
    assert_eq!(reader.decoder().position(), 2 * len as u64 + 3);
}

#[tokio::test]
async fn text_before_a_connection_reset_is_delivered() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let mut reader = Utf8Reader::new(listener.accept().await.unwrap().0);
    peer.write_all(b"good\xE2").await.unwrap();
    let mut text = String::new();
    while text.len() < 4 {
        text += soon(reader.next_str()).await.unwrap().unwrap();
    }
    peer.set_zero_linger().unwrap();
    drop(peer);
    let error = soon(reader.next_str()).await.unwrap_err();
    assert!(matches!(error, StreamError::Inner(_)), "{error:?}");
    assert_eq!((&*text, reader.rest()), ("good", &b"\xE2"[..]));
}

#[tokio::test]
async fn a_channel_between_tasks_delivers_all_text() {
    let text = MULTILINGUAL.repeat(100);
    let chunks = channel(&text).map_ok(io::Cursor::new);
    let mut reader = Utf8Reader::new(Box::pin(StreamReader::new(chunks)));
    assert_eq!(soon(reader.collect_text(text.len())).await.unwrap(), text);
}
