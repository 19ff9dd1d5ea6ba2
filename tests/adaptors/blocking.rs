//! `io`: readers and writers that fail, are interrupted, or break their contract. `tests/vectors` reads every vector with the
//! blocking reader, at every split.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::lists::{MODES, MULTILINGUAL};
use bytes::BytesMut;
use utf8_codec::io::{StreamError, Utf8Reader, Utf8Writer};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Encoder, Utf8Error, Utf8Options};

/// What a call of `read` does.
#[derive(Clone, Copy, Debug)]
enum Does<'a> {
    Chunk(&'a [u8]),
    Error(ErrorKind),
    /// Reads nothing and claims to have read this many bytes more than there is room for.
    Lie(usize),
    /// Fills the room with `FF` and claims to have read this many bytes, at most all.
    Overwrite(usize),
    Panic,
    End,
}

use Does::{Chunk, End, Error, Lie, Overwrite, Panic};

/// A reader that follows a script, and then ends.
#[derive(Clone, Debug)]
struct Script<'a> {
    does: VecDeque<Does<'a>>,
    calls: usize,
    /// The largest room that a read offered.
    room: usize,
}

impl<'a> Script<'a> {
    fn new(does: &[Does<'a>]) -> Self {
        Self { does: does.iter().copied().collect(), calls: 0, room: 0 }
    }
}

impl Read for Script<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        assert!(!room.is_empty(), "there must be room");
        (self.calls, self.room) = (self.calls + 1, self.room.max(room.len()));
        match self.does.pop_front() {
            Some(Chunk(chunk)) => {
                let (now, later) = chunk.split_at(chunk.len().min(room.len()));
                room[..now.len()].copy_from_slice(now);
                if !later.is_empty() {
                    self.does.push_front(Chunk(later));
                }
                Ok(now.len())
            }
            Some(Error(kind)) => Err(kind.into()),
            Some(Lie(more)) => Ok(room.len().saturating_add(more)),
            Some(Overwrite(claimed)) => {
                room.fill(0xFF);
                Ok(claimed.min(room.len()))
            }
            Some(Panic) => panic!("the reader panics"),
            Some(End) | None => Ok(0),
        }
    }
}

fn ill_formed(error: &Utf8Error) -> String {
    format!("<{} {:02x?}>", error.valid_up_to(), error.bytes())
}

fn of_stream(error: StreamError<io::Error>) -> String {
    match error {
        StreamError::Utf8(error) => ill_formed(&error),
        StreamError::Inner(error) => format!("<{error}>"),
        error => panic!("{error}"),
    }
}

/// All text, with each error as `<...>`.
fn read_all<R: Read>(reader: &mut Utf8Reader<R>) -> String {
    let mut seen = String::new();
    loop {
        match reader.next_str() {
            Ok(Some(text)) => {
                assert!(!text.is_empty(), "texts are never empty");
                seen += text;
            }
            Ok(None) => return seen,
            Err(error) => seen += &of_stream(error),
        }
    }
}

fn seen(does: &[Does]) -> String {
    read_all(&mut Utf8Reader::new(Script::new(does)))
}

// ---- readers ------------------------------------------------------------------------------------

#[test]
fn repairs_of_a_line_longer_than_the_largest_buffer_are_read_in_pieces() {
    let len = (1 << 24) + 3;
    let bytes = [&vec![b'\xFF'; len][..], "é".as_bytes()].concat();
    let then_fails = (&bytes[..]).chain(Script::new(&[Error(ErrorKind::WouldBlock)]));
    let lines = Utf8Reader::new(then_fails).with_error_mode(ErrorMode::Latin1).into_lines();
    let mut lines = lines.with_max_length(usize::MAX);
    assert!(matches!(lines.next_line(), Some(Err(StreamError::Inner(_)))));
    let mut reader = lines.into_reader();
    let mut lengths = Vec::new();
    while let Some(text) = reader.next_str().unwrap() {
        assert!(text.trim_start_matches('ÿ').trim_start_matches('é').is_empty());
        lengths.push(text.len());
    }
    // After the first error, 2^24 bytes.
    assert_eq!(lengths, [2 * ((1 << 24) + 1), 2 * 2 + "é".len()]);
    assert_eq!(reader.decoder().error_count(), len as u64);
}

#[test]
fn what_the_start_of_the_stream_has_decided_is_the_same_in_lines_after_a_look_ahead() {
    let policy = |bom| Utf8Options::new().with_bom(bom);
    let require = policy(BomPolicy::Require);
    for looks in [false, true] {
        let mut reader = Utf8Reader::new(&b"\xFFab\n"[..]).with_options(require);
        assert_eq!(of_stream(reader.next_str().unwrap_err()), "<0 []>");
        let mut reader = reader.with_error_mode(ErrorMode::Replacement);
        if looks {
            assert_eq!(reader.peek_str().unwrap(), Some("\u{FFFD}ab\n"));
        }
        let mut lines = reader.into_lines();
        let line = lines.next().unwrap().unwrap();
        assert_eq!((&*line.text, line.error_count), ("\u{FFFD}ab", 1), "{looks}");
        assert_eq!(lines.decoder().error_count(), 2);

        let forbid = policy(BomPolicy::Forbid);
        let reader = Utf8Reader::new("\u{FEFF}ab\n".as_bytes()).with_options(forbid);
        let mut reader = reader.with_error_mode(ErrorMode::Replacement);
        if looks {
            assert_eq!(reader.peek_str().unwrap(), Some("\u{FFFD}ab\n"));
            reader = reader.with_options(policy(BomPolicy::Keep)); // too late
        }
        let line = reader.into_lines().next().unwrap().unwrap();
        assert_eq!((&*line.text, line.error_count), ("\u{FFFD}ab", 1), "{looks}");
    }
}

#[test]
fn an_interrupted_read_is_repeated() {
    let interrupted = Error(ErrorKind::Interrupted);
    let does = [interrupted, Chunk(b"5 \xE2"), interrupted, interrupted, Chunk(b"\x82\xAC"), End];
    assert_eq!(seen(&does), "5 €");
    let reader = Utf8Reader::new(Script::new(&does));
    let mut text = String::new();
    reader.into_byte_reader().read_to_string(&mut text).unwrap();
    assert_eq!(text, "5 €");
}

#[test]
fn an_io_error_inside_a_character_loses_no_data() {
    let kinds = [ErrorKind::WouldBlock, ErrorKind::TimedOut, ErrorKind::ConnectionReset];
    for kind in kinds {
        for mode in MODES {
            let does = [Chunk(b"1 \xE2"), Error(kind), Chunk(b"\x82"), Error(kind), Chunk(b"\xAC")];
            let mut reader = Utf8Reader::new(Script::new(&does)).with_error_mode(mode);
            assert_eq!(read_all(&mut reader), format!("1 <{kind}><{kind}>€"));
        }
    }
}

#[test]
fn the_rest_is_what_has_been_read_but_not_decoded() {
    let mut reader = Utf8Reader::new(Script::new(&[Chunk(b"a\xFFb\xE2"), Chunk(b"\x82\xAC")]));
    assert_eq!(reader.rest(), b"");
    assert_eq!(reader.next_str().unwrap(), Some("a"));
    assert_eq!(reader.rest(), b"\xFFb\xE2");
    assert_eq!(of_stream(reader.next_str().unwrap_err()), "<1 [ff]>");
    assert_eq!(reader.rest(), b"b\xE2");
}

#[test]
fn an_ended_reader_is_not_read_again() {
    let mut reader = Utf8Reader::new(Script::new(&[Chunk(b"a\xF0\x9F"), End, Chunk(b"late")]));
    assert_eq!(read_all(&mut reader), "a<1 [f0, 9f]>");
    for _ in 0..3 {
        assert_eq!(reader.next_str().unwrap(), None);
        assert!(reader.chars().next().is_none());
    }
    assert_eq!(reader.get_ref().calls, 2);
}

#[test]
fn a_large_input_is_read_as_it_is_decoded() {
    let mut bytes = MULTILINGUAL.repeat(500).into_bytes();
    bytes[20_001] = 0xFF;
    for mode in &MODES[1..] {
        let mut text = String::new();
        let decoded = Utf8Decoder::new().push_to_string(&bytes, *mode, &mut text);
        assert_eq!(decoded.read, bytes.len());
        let mut reader = Utf8Reader::new(&bytes[..]).with_error_mode(*mode);
        assert_eq!(read_all(&mut reader), text, "{mode}");
    }
}

#[test]
fn a_read_offers_64_kib_or_the_capacity() {
    let bytes = vec![b'a'; 100_000];
    let mut reader = Utf8Reader::new(Script::new(&[Chunk(&bytes)]));
    assert_eq!(read_all(&mut reader).len(), bytes.len());
    assert_eq!((reader.get_ref().room, reader.get_ref().calls), (1 << 16, 3));
    for capacity in [0, 1, 4, 5, 95, 96, 97, 10_000, usize::MAX] {
        let mut reader = Utf8Reader::new(Script::new(&[Chunk(&bytes)])).with_capacity(capacity);
        assert_eq!(read_all(&mut reader).len(), bytes.len());
        // The first 96 bytes of the buffer are not on the heap.
        assert_eq!(reader.get_ref().room, capacity.clamp(4, 1 << 24));
    }
}

#[test]
fn a_claim_of_more_bytes_than_there_is_room_for_is_an_error() {
    for more in [1, 100, 1 << 16, usize::MAX] {
        for mode in MODES {
            let does = [Chunk(b"5 \xE2\x82"), Lie(more), Chunk(b"\xAC."), Lie(more), Chunk(b"x")];
            let mut reader = Utf8Reader::new(Script::new(&does)).with_error_mode(mode);
            assert_eq!(reader.next_str().unwrap(), Some("5 "));
            let Err(StreamError::Inner(error)) = reader.next_str() else { panic!("an error") };
            assert!(error.to_string().starts_with("reader claims "), "{error}");
            assert_eq!(reader.next_str().unwrap(), Some("€."));
            assert!(reader.next_char().is_err());
            assert_eq!(reader.next_str().unwrap(), Some("x"));
            assert_eq!(reader.next_str().unwrap(), None);
        }
    }
}

#[test]
fn bytes_that_were_not_read_but_claimed_are_validated() {
    for claimed in [0, 1, 7, 8000, 8190, 8192, 10_000] {
        for first in [&b"5 \xE2\x82"[..], b"\xC3", b"abc"] {
            for second in [&b"\xAC."[..], b"\xA9", b"d"] {
                for mode in MODES {
                    let does = [Chunk(first), Overwrite(claimed), Chunk(second)];
                    let mut reader = Utf8Reader::new(Script::new(&does))
                        .with_capacity(8192)
                        .with_error_mode(mode);
                    let mut calls = 0;
                    while !matches!(reader.next_str(), Ok(None)) {
                        calls += 1;
                        assert!(str::from_utf8(reader.as_str().as_bytes()).is_ok());
                        assert!(calls < 10_000);
                    }
                }
            }
        }
    }
    // A reader that writes into the room and then reports another length.
    struct Stale(usize);
    impl Read for Stale {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            let text = "żółw".as_bytes();
            if !self.0.is_multiple_of(3) {
                let at = room.len() / 2;
                room[at..at + text.len()].copy_from_slice(text);
            }
            Ok(if self.0 > 9 { 0 } else { room.len() / 2 + 2 })
        }
    }
    let mut reader = Utf8Reader::new(Stale(0));
    let text = read_all(&mut reader);
    assert!(text.contains('ż'));
}

#[test]
fn options_set_after_the_first_read_keep_the_offsets() {
    let strict = Utf8Options::new().with_bom(BomPolicy::Require).reject_nul();
    let does = [Chunk(b"\xC3\xA9\0"), Chunk(b"\0\xEF\xBB\xBFb\xFF")];
    let mut reader = Utf8Reader::new(Script::new(&does));
    assert_eq!(reader.next_str().unwrap(), Some("é\0"));
    let mut reader = reader.with_options(strict);
    assert_eq!(read_all(&mut reader), "<3 [00]>\u{FEFF}b<8 [ff]>");
    assert_eq!(reader.decoder().position(), 9);
}

#[test]
fn a_reader_that_panics_loses_no_data() {
    let does = [Chunk(b"5 \xE2\x82"), Panic, Chunk(b"\xAC."), End];
    let mut reader = Utf8Reader::new(Script::new(&does));
    assert_eq!(reader.next_str().unwrap(), Some("5 "));
    assert!(catch_unwind(AssertUnwindSafe(|| reader.next_str().map(drop))).is_err());
    assert_eq!(reader.as_str(), "");
    assert_eq!(reader.next_str().unwrap(), Some("€."));
}

#[test]
fn chars_can_be_dropped_at_any_time() {
    let mut reader = Utf8Reader::new(Script::new(&[Chunk(b"a\xC3"), Chunk(b"\xA9\xFFb")]));
    let mut seen = String::new();
    while let Some(next) = reader.chars().next() {
        seen += &next.map_or_else(of_stream, String::from);
    }
    assert_eq!(seen, "aé<3 [ff]>b");
}

#[test]
fn collected_text_is_at_most_the_limit() {
    let mut text = String::from("zero ");
    let does = [Chunk(b"one "), Chunk(b"two")];
    let mut reader = Utf8Reader::new(Script::new(&does));
    let error = reader.append_text(&mut text, 10).unwrap_err();
    assert!(matches!(error, StreamError::TooLong { max_length: 10 }));
    assert_eq!((&*text, reader.as_str()), ("zero one ", "two"));
    reader.append_text(&mut text, 12).unwrap();
    assert_eq!(text, "zero one two");

    let error = Utf8Reader::new(io::repeat(b'x')).append_text(&mut text, 1_000_005).unwrap_err();
    assert!(matches!(error, StreamError::TooLong { .. }));
    assert!(text.capacity() <= 1_000_005, "{}", text.capacity());
}

#[test]
fn text_is_collected_up_to_the_limit() {
    let does = [Chunk(b"one \xC3"), Chunk(b"\xA9t")];
    let collect = |max_length| Utf8Reader::new(Script::new(&does)).collect_text(max_length);
    assert_eq!(collect(7).unwrap(), "one ét");
    assert!(matches!(collect(6), Err(StreamError::TooLong { max_length: 6 })));
}

#[test]
fn buf_read_of_std_sees_well_formed_text() {
    let does = [Chunk(b"caf\xE9\nth\xC3"), Chunk(b"\xA9\nend")];
    let reader = Utf8Reader::new(Script::new(&does)).with_error_mode(ErrorMode::Latin1);
    let lines: Result<Vec<_>, _> = reader.into_byte_reader().lines().collect();
    assert_eq!(lines.unwrap(), ["café", "thé", "end"]);
}

#[test]
#[should_panic(expected = "cannot consume 4 of 3 bytes")]
fn consuming_more_bytes_than_were_returned_panics() {
    let mut reader = Utf8Reader::new(&b"abc"[..]).into_byte_reader();
    let _ = reader.fill_buf();
    reader.consume(4);
}

#[test]
#[should_panic(expected = "cannot consume 18446744073709551615 of 2 bytes")]
#[cfg(target_pointer_width = "64")]
fn consume_of_usize_max_after_a_part_panics() {
    let mut reader = Utf8Reader::new(&b"abc"[..]).into_byte_reader();
    let _ = reader.fill_buf();
    reader.consume(1);
    reader.consume(usize::MAX);
}

#[cfg(feature = "std")]
mod lines {
    use super::*;

    #[test]
    fn a_line_continues_after_an_io_error() {
        let error = Error(ErrorKind::TimedOut);
        let interrupted = Error(ErrorKind::Interrupted);
        let other = Error(ErrorKind::WouldBlock);
        let does = [Chunk(b"on"), error, interrupted, Chunk(b"e\nt\xC3"), other, Chunk(b"\xA9")];
        assert_eq!(lines_and_errors(&does), (vec!["one".to_owned(), "té".to_owned()], 2));
    }

    #[test]
    fn a_line_from_which_a_reader_may_have_removed_bytes_is_rejected() {
        use ErrorKind::{InvalidData, Other, UnexpectedEof};
        for error in [Error(InvalidData), Error(UnexpectedEof), Error(Other), Lie(1)] {
            let does = [Chunk(b"pay 10"), error, Chunk(b"00\nnext\n")];
            assert_eq!(lines_and_errors(&does), (vec!["next".to_owned()], 1));
        }
    }

    /// The lines, and the number of errors of the reader.
    fn lines_and_errors(does: &[Does]) -> (Vec<String>, usize) {
        let lines = Utf8Reader::new(Script::new(does)).into_lines();
        let mut errors = 0;
        let lines: Vec<_> = lines
            .filter_map(|line| match line {
                Ok(line) => Some(line.to_string()),
                Err(StreamError::Inner(_)) => {
                    errors += 1;
                    None
                }
                Err(error) => panic!("{error}"),
            })
            .collect();
        (lines, errors)
    }

    #[test]
    fn lines_and_text_can_be_read_in_turn() {
        let bytes = "HELO\r\nžluť\nDATA\n.\nQUIT\n".as_bytes();
        for size in 1..bytes.len() {
            let does: Vec<_> = bytes.chunks(size).map(Chunk).collect();
            let mut reader = Utf8Reader::new(Script::new(&does));
            assert_eq!(reader.next_char().unwrap(), Some('H'));
            let mut lines = reader.into_lines();
            let next = lines.next().unwrap().unwrap();
            assert_eq!((&*next, next.offset), ("ELO", 1));
            let next = lines.next().unwrap().unwrap();
            assert_eq!((&*next, next.offset, next.number), ("žluť", 6, 2));
            let mut reader = lines.into_reader();
            assert_eq!(read_all(&mut reader), "DATA\n.\nQUIT\n");
            assert_eq!(reader.decoder().position(), bytes.len() as u64);
        }
    }

    #[test]
    fn a_repair_that_is_decoded_again_as_a_line_is_counted_once() {
        let mut reader = Utf8Reader::new(&b"a\n\xFF!"[..]).with_error_mode(ErrorMode::Escape);
        assert_eq!(reader.next_str().unwrap(), Some("a\n"));
        assert_eq!(reader.peek_str().unwrap(), Some("\\xff!"));
        assert_eq!(reader.decoder().error_count(), 1);
        let mut lines = reader.into_lines();
        assert_eq!((lines.decoder().error_count(), lines.decoder().first_error()), (0, None));
        assert_eq!(lines.next().unwrap().unwrap(), "\\xff!");
        assert_eq!(lines.decoder().error_count(), 1);
        assert_eq!(lines.decoder().first_error().unwrap().valid_up_to(), 2);
    }

    #[test]
    fn the_rest_is_what_has_been_read_after_the_last_line() {
        let mut lines = Utf8Reader::new(&b"one\ntwo"[..]).into_lines();
        assert_eq!(lines.rest(), b"");
        assert_eq!(lines.next().unwrap().unwrap(), "one");
        assert_eq!(lines.rest(), b"two");
    }

    #[test]
    fn the_start_of_a_stream_stays_open_until_a_byte_has_been_read() {
        let options = Utf8Options::new().with_bom(BomPolicy::Require);
        let lines = Utf8Reader::new(&b"x"[..]).with_options(options).into_lines();
        let mut decoder = lines.get_ref().decoder().clone();
        assert!(decoder.finish().is_err());
    }

    #[test]
    fn a_line_without_end_is_rejected_in_bounded_memory() {
        let reader = Utf8Reader::new(io::repeat(b'x').take(10_000_000).chain(&b"\nshort"[..]));
        let mut lines = reader.into_lines();
        assert!(matches!(lines.next(), Some(Err(StreamError::Line(_)))));
        assert!(lines.rest().len() <= 1 << 16);
        assert_eq!(lines.next().unwrap().unwrap(), "short");
        assert_eq!(lines.rest(), b"");
        assert!(lines.next().is_none());
        assert!(lines.next().is_none());
    }
}

// ---- writers ------------------------------------------------------------------------------------

/// What a call of `write` does.
#[derive(Clone, Copy, Debug)]
enum Accepts {
    Bytes(usize),
    Fails(ErrorKind),
    Nothing,
    /// Accepts one byte and claims to have accepted all, and this many more.
    Claims(usize),
}

/// A writer that follows a script, and then accepts everything.
struct Sink {
    script: VecDeque<Accepts>,
    bytes: Vec<u8>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        assert!(!bytes.is_empty(), "empty writes are not made");
        let accepted = match self.script.pop_front() {
            None => bytes.len(),
            Some(Accepts::Bytes(most)) => bytes.len().min(most),
            Some(Accepts::Fails(kind)) => return Err(kind.into()),
            Some(Accepts::Nothing) => 0,
            Some(Accepts::Claims(more)) => {
                self.bytes.push(bytes[0]);
                return Ok(bytes.len().saturating_add(more));
            }
        };
        self.bytes.extend_from_slice(&bytes[..accepted]);
        Ok(accepted)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn sink(script: &[Accepts]) -> Sink {
    Sink { script: script.iter().copied().collect(), bytes: Vec::new() }
}

/// Repeats a call until it succeeds.
fn insist(mut call: impl FnMut() -> io::Result<()>) {
    for _ in 0..100 {
        match call() {
            Ok(()) => return,
            Err(error) => assert!(
                matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WriteZero),
                "{error}"
            ),
        }
    }
    panic!("it always fails");
}

#[test]
fn a_failed_write_has_taken_nothing_and_can_be_repeated() {
    let steps = [
        Accepts::Bytes(1),
        Accepts::Bytes(4),
        Accepts::Fails(ErrorKind::TimedOut),
        Accepts::Fails(ErrorKind::Interrupted),
        Accepts::Nothing,
    ];
    let texts = ["größer", "", "€", "日本語", "x", "👋 and more", "end"];
    for number in 0..5_usize.pow(5) {
        let script: Vec<_> = (0..5).map(|at| steps[number / 5_usize.pow(at) % 5]).collect();
        let mut writer = Utf8Writer::new(sink(&script))
            .with_capacity(1 + number % 9)
            .with_encoder(Utf8Encoder::new().with_bom());
        for text in texts {
            insist(|| writer.write_str(text));
            assert!(writer.unwritten_len() < 1 + number % 9 + "\u{FEFF}".len() + text.len());
        }
        insist(|| writer.write_utf16(&[0xD83D]));
        insist(|| writer.flush());
        insist(|| writer.write_utf16(&[0xDC4B]));
        insist(|| writer.finish());
        assert_eq!(writer.unwritten_len(), 0);
        let expected = format!("\u{FEFF}{}👋", texts.concat());
        assert_eq!(String::from_utf8(writer.into_inner().bytes).unwrap(), expected);
    }
}

/// A writer whose next flushes fail.
struct FailsToFlush(Vec<ErrorKind>);

impl Write for FailsToFlush {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.pop().map_or(Ok(()), |kind| Err(kind.into()))
    }
}

#[test]
fn the_largest_capacity_buffers_everything_until_flush() {
    let mut writer = Utf8Writer::new(Vec::new()).with_capacity(usize::MAX);
    writer.write_str("text").unwrap();
    assert_eq!(writer.get_ref(), b"");
    writer.flush().unwrap();
    assert_eq!(writer.get_ref(), b"text");
}

#[test]
fn chars_and_surrogates_are_written_in_order() {
    let mut writer = Utf8Writer::new(Vec::new()).with_surrogate_mode(ErrorMode::Skip);
    writer.write_char('é').unwrap();
    writer.write_utf16(&[0xDC00, 0xD83D]).unwrap();
    assert_eq!((writer.utf16().error_count(), writer.utf16().incomplete()), (1, Some(0xD83D)));
    writer.write_char('x').unwrap();
    assert_eq!((writer.utf16().error_count(), writer.utf16().incomplete()), (2, None));
    writer.flush().unwrap();
    assert_eq!(writer.get_ref(), "éx".as_bytes());
}

#[test]
fn only_an_interrupted_flush_is_repeated() {
    let kinds = vec![ErrorKind::TimedOut, ErrorKind::Interrupted, ErrorKind::Interrupted];
    let mut writer = Utf8Writer::new(FailsToFlush(kinds));
    assert_eq!(writer.flush().unwrap_err().kind(), ErrorKind::TimedOut);
    writer.flush().unwrap();
    writer.write_str("abc").unwrap();
    writer.flush().unwrap();
}

#[test]
fn unwritten_bytes_can_be_taken_out_at_any_step() {
    for accepted in 0..9 {
        let script = [Accepts::Bytes(accepted), Accepts::Fails(ErrorKind::TimedOut)];
        let mut writer = Utf8Writer::new(sink(&script));
        writer.write_str("5 € ⚑").unwrap();
        assert!(writer.flush().is_err());
        let (sink, unwritten) = writer.into_parts();
        assert_eq!([&sink.bytes[..], &unwritten].concat(), "5 € ⚑".as_bytes());
    }
}

#[test]
fn a_writer_that_claims_too_much_is_believed_up_to_what_there_was() {
    for more in [1, usize::MAX] {
        let mut writer = Utf8Writer::new(sink(&[Accepts::Claims(more)]));
        writer.write_str("abc").unwrap();
        writer.flush().unwrap();
        writer.write_str("def").unwrap();
        writer.flush().unwrap();
        assert_eq!(writer.into_inner().bytes, b"adef");
    }
}

#[test]
fn lone_surrogates_are_reported_or_repaired() {
    let units: &[&[u16]] = &[&[0x61, 0xD83D], &[0xD83D, 0xDC4B], &[0xDC00], &[0xD800]];
    let table = [
        (ErrorMode::Replacement, "a\u{FFFD}👋\u{FFFD}\u{FFFD}.\u{FFFD}"),
        (ErrorMode::Skip, "a👋."),
    ];
    for (mode, expected) in table {
        let mut writer = Utf8Writer::new(Vec::new()).with_surrogate_mode(mode);
        for units in units {
            writer.write_utf16(units).unwrap();
        }
        writer.write_str("").unwrap();
        let (empty, full_stop) = ("", '.');
        write!(writer, "{empty}{full_stop}").unwrap();
        writer.write_utf16(&[0xD800]).unwrap();
        writer.finish().unwrap();
        writer.finish().unwrap();
        assert_eq!(String::from_utf8(writer.into_inner()).unwrap(), expected);
    }
    let mut writer = Utf8Writer::new(Vec::new());
    let results = units.iter().map(|units| writer.write_utf16(units).is_ok()).collect::<Vec<_>>();
    assert_eq!(results, [true, false, false, true]);
    assert!(write!(writer, "{}.", 1).is_err(), "the held surrogate is alone");
    writer.finish().unwrap();
    assert_eq!(String::from_utf8(writer.into_inner()).unwrap(), "a👋1.");
}

#[test]
fn a_long_text_is_not_kept_after_it_is_written() {
    let mut writer = Utf8Writer::new(Vec::new());
    let text = "ü".repeat(1_000_000);
    writer.write_str(&text).unwrap();
    assert_eq!(writer.unwritten_len(), text.len());
    writer.write_str("!").unwrap();
    assert_eq!((writer.unwritten_len(), writer.get_ref().len()), (1, text.len()));
    assert!(BytesMut::from(writer.into_parts().1).capacity() <= 3 * 8192);
}

/// Writes to a shared sink. A write fails or panics instead, if that is set.
#[derive(Clone, Default)]
struct Shared {
    bytes: Rc<RefCell<Vec<u8>>>,
    fails: bool,
    panics: bool,
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.fails {
            return Err(ErrorKind::TimedOut.into());
        }
        let accepted = bytes.len().min(3);
        self.bytes.borrow_mut().extend_from_slice(&bytes[..accepted]);
        assert!(!self.panics);
        Ok(accepted)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_dropped_writer_writes_its_buffered_bytes_and_ignores_errors() {
    for (fails, expected) in [(false, "5 € ⚑"), (true, "")] {
        let sink = Shared { fails, ..Shared::default() };
        let mut writer = Utf8Writer::new(sink.clone());
        writer.write_str("5 € ⚑").unwrap();
        writer.write_utf16(&[0xD83D]).unwrap(); // nothing decides about it
        drop(writer);
        assert_eq!(*sink.bytes.borrow(), expected.as_bytes());
    }
    let sink = Shared::default();
    let mut writer = Utf8Writer::new(sink.clone());
    writer.write_str("taken apart").unwrap();
    writer.into_inner();
    assert_eq!(*sink.bytes.borrow(), b"");
}

#[test]
fn a_writer_that_panicked_is_not_written_to_when_dropped() {
    let sink = Shared { panics: true, ..Shared::default() };
    let mut writer = Utf8Writer::new(sink.clone());
    writer.write_str("abcdef").unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| writer.flush())).is_err());
    drop(writer);
    assert_eq!(*sink.bytes.borrow(), b"abc");
}
