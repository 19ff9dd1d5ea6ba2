//! `io`: the blocking readers return what the async readers return, at every cut; readers and writers that
//! fail, are interrupted, or break their contract.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::lists::MODES;
use bytes::BytesMut;
use utf8_codec::io::{StreamError, Utf8Reader, Utf8Writer};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Encoder, Utf8Error, Utf8Options};

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

// ---- like the async readers ---------------------------------------------------------------------

/// One trait for the types of `io` and of `stream`: both return the same at every cut.
#[cfg(all(feature = "codec", feature = "stream"))]
mod like_async {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use futures::StreamExt;
    use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, ReadBuf};
    use utf8_codec::lines::{Delimiter, Line};
    use utf8_codec::{Utf8Decoder, io as blocking, stream};

    use super::*;
    use crate::lists::sum_of;
    use crate::support::{self, MODES};

    impl AsyncRead for Script<'_> {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let read = Read::read(&mut *self, buffer.initialize_unfilled())?;
            buffer.advance(read);
            Poll::Ready(Ok(()))
        }
    }

    /// A reader of text, blocking or async.
    trait Reading<'a>: Sized {
        /// The number of methods that return text.
        const METHODS: usize;

        fn over(source: Script<'a>, options: Utf8Options, mode: ErrorMode) -> Self;

        /// Appends the next item that this method returns to `seen`, an error as `<...>`. Returns false
        /// at the end.
        fn take(&mut self, method: usize, seen: &mut String) -> bool;

        fn decoder(&self) -> &Utf8Decoder;
    }

    /// The result of a future, which is pending only to let other tasks run.
    macro_rules! now {
        ($future:expr) => {
            futures::executor::block_on($future)
        };
        (blocking $result:expr) => {
            $result
        };
    }

    fn of_io(error: io::Error) -> String {
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
        cause.map_or_else(|| format!("<{error}>"), ill_formed)
    }

    fn append<T: ToString>(
        seen: &mut String,
        next: Result<Option<T>, StreamError<io::Error>>,
    ) -> bool {
        match next {
            Ok(Some(next)) => *seen += &next.to_string(),
            Ok(None) => return false,
            Err(error) => *seen += &of_stream(error),
        }
        true
    }

    fn append_line(seen: &mut String, line: Option<Result<Line, StreamError<io::Error>>>) -> bool {
        match line {
            None => return false,
            Some(Ok(line)) => {
                let terminated = line.is_terminated();
                *seen += &format!("{}@{}:{terminated}|{}|", line.number, line.offset, line.text);
            }
            Some(Err(StreamError::Line(error))) => *seen += &format!("{error:?}"),
            Some(Err(error)) => *seen += &error.to_string(),
        }
        true
    }

    /// Implements [`Reading`] for the types of one module. Their methods have the same names.
    macro_rules! reading {
        ($module:ident, [$($blocking:ident)?]) => {
            impl<'a> Reading<'a> for $module::Utf8Reader<Script<'a>> {
                const METHODS: usize = 4;

                fn over(source: Script<'a>, options: Utf8Options, mode: ErrorMode) -> Self {
                    Self::new(source).with_capacity(7).with_options(options).with_error_mode(mode)
                }

                fn take(&mut self, method: usize, seen: &mut String) -> bool {
                    match method {
                        0 => append(seen, now!($($blocking)? self.next_str())),
                        1 => append(seen, now!($($blocking)? self.next_char())),
                        2 => {
                            let text = now!($($blocking)? self.peek_str());
                            let text = text.map(|text| text.map(str::to_owned));
                            let len = text.as_ref().ok().and_then(|text| text.as_ref());
                            self.consume(len.map_or(0, String::len));
                            append(seen, text)
                        }
                        _ => {
                            let mut text = String::new();
                            let result = now!($($blocking)? self.append_text(&mut text, 1000));
                            *seen += &text;
                            append(seen, result.map(|()| None::<String>))
                        }
                    }
                }

                fn decoder(&self) -> &Utf8Decoder {
                    self.decoder()
                }
            }

            impl<'a> Reading<'a> for $module::Utf8ByteReader<$module::Utf8Reader<Script<'a>>> {
                const METHODS: usize = 3;

                fn over(source: Script<'a>, options: Utf8Options, mode: ErrorMode) -> Self {
                    $module::Utf8Reader::over(source, options, mode).into_byte_reader()
                }

                /// Bytes, as Latin-1.
                fn take(&mut self, method: usize, seen: &mut String) -> bool {
                    let mut bytes = [0; 5];
                    let read = match method {
                        0 => now!($($blocking)? self.read(&mut bytes)),
                        1 => now!($($blocking)? self.read(&mut bytes[..1])),
                        _ => now!($($blocking)? self.fill_buf()).map(|all| {
                            let len = all.len().min(3);
                            bytes[..len].copy_from_slice(&all[..len]);
                            len
                        }),
                    };
                    if let (2, Ok(len)) = (method, &read) {
                        self.consume(*len);
                    }
                    match read {
                        Ok(0) => return false,
                        Ok(len) => seen.extend(bytes[..len].iter().copied().map(char::from)),
                        Err(error) => *seen += &of_io(error),
                    }
                    true
                }

                fn decoder(&self) -> &Utf8Decoder {
                    self.get_ref().decoder()
                }
            }
        };
    }

    reading!(blocking, [blocking]);
    reading!(stream, []);

    /// The number of delimiters and limits that `Lines` uses.
    const LINES: usize = 5;

    /// The lines of a new reader for each method: the delimiter and the limit have to be set first.
    struct Lines<L> {
        lines: Option<L>,
        all: [Option<L>; LINES],
    }

    macro_rules! lines {
        ($lines:ty, $module:ident, |$taken:ident| $next:expr) => {
            impl<'a> Reading<'a> for Lines<$lines> {
                const METHODS: usize = LINES;

                fn over(source: Script<'a>, options: Utf8Options, mode: ErrorMode) -> Self {
                    let make = |method| {
                        let reader = $module::Utf8Reader::over(source.clone(), options, mode);
                        let lines = reader.into_lines();
                        Some(match method {
                            0 => lines,
                            1 => lines.with_delimiter(Delimiter::any_newline()),
                            2 => lines.with_delimiter(Delimiter::nul()),
                            3 => lines.with_delimiter(Delimiter::text("é").unwrap()),
                            _ => lines.with_max_length(2),
                        })
                    };
                    Self { lines: None, all: std::array::from_fn(make) }
                }

                fn take(&mut self, method: usize, seen: &mut String) -> bool {
                    if let Some(lines) = self.all[method].take() {
                        self.lines = Some(lines);
                    }
                    let $taken = self.lines.as_mut().unwrap();
                    append_line(seen, $next)
                }

                fn decoder(&self) -> &Utf8Decoder {
                    self.lines.as_ref().unwrap().decoder()
                }
            }
        };
    }

    lines!(blocking::Utf8Lines<blocking::Utf8Reader<Script<'a>>>, blocking, |lines| lines.next());
    lines!(stream::Utf8Lines<stream::Utf8Reader<Script<'a>>>, stream, |lines| now!(
        StreamExt::next(lines)
    ));

    /// Everything that `method` returns, and what the decoder then reports.
    fn run<'a, T: Reading<'a>>(
        does: &[Does<'a>],
        options: Utf8Options,
        mode: ErrorMode,
        method: usize,
    ) -> String {
        let mut reader = T::over(Script::new(does), options, mode);
        let mut seen = String::new();
        let mut calls = 0;
        while reader.take(method, &mut seen) || (method == 3 && calls < 100 && T::METHODS == 4) {
            calls += 1;
            assert!(calls < 10_000, "{seen}");
        }
        let decoder = reader.decoder();
        let errors = (decoder.error_count(), decoder.first_error());
        format!("{seen} {errors:?} {} {}", decoder.position(), decoder.bom_seen())
    }

    fn agree<'a, Blocking: Reading<'a>, Async: Reading<'a>>(
        does: &[Does<'a>],
        options: Utf8Options,
        mode: ErrorMode,
    ) {
        assert_eq!(Blocking::METHODS, Async::METHODS);
        for method in 0..Blocking::METHODS {
            let ours = run::<Blocking>(does, options, mode, method);
            let theirs = run::<Async>(does, options, mode, method);
            assert_eq!(ours, theirs, "method {method}, {mode:?}, {options:?}: {does:02x?}");
        }
    }

    /// The parts of `bytes`, without empty ones: these would end the stream.
    fn cut(bytes: &[u8], at: usize) -> Vec<Does<'_>> {
        let (first, second) = bytes.split_at(at);
        [first, second].into_iter().filter(|part| !part.is_empty()).map(Chunk).collect()
    }

    /// The first `most` bytes of every input of the vectors, cut at every byte, and in single bytes.
    fn at_every_cut(most: usize, check: impl Fn(&[Does<'_>], Utf8Options, ErrorMode) + Sync) {
        let inputs = support::inputs();
        let checked = sum_of(&inputs, |(bytes, config)| {
            let options = support::options(*config);
            let bytes = &bytes[..bytes.len().min(most)];
            for (_, mode) in MODES {
                for at in 0..bytes.len().max(1) {
                    check(&cut(bytes, at), options, mode);
                }
                check(&bytes.chunks(1).map(Chunk).collect::<Vec<_>>(), options, mode);
            }
            1
        });
        assert!(checked > 1000, "{checked}");
    }

    type Async<'a> = stream::Utf8Reader<Script<'a>>;
    type Blocking<'a> = blocking::Utf8Reader<Script<'a>>;
    type AsyncBytes<'a> = stream::Utf8ByteReader<Async<'a>>;
    type BlockingBytes<'a> = blocking::Utf8ByteReader<Blocking<'a>>;
    type AsyncLines<'a> = Lines<stream::Utf8Lines<Async<'a>>>;
    type BlockingLines<'a> = Lines<blocking::Utf8Lines<Blocking<'a>>>;

    fn texts_agree(does: &[Does<'_>], options: Utf8Options, mode: ErrorMode) {
        agree::<Blocking, Async>(does, options, mode);
    }

    fn bytes_agree(does: &[Does<'_>], options: Utf8Options, mode: ErrorMode) {
        agree::<BlockingBytes, AsyncBytes>(does, options, mode);
    }

    fn lines_agree(does: &[Does<'_>], options: Utf8Options, mode: ErrorMode) {
        agree::<BlockingLines, AsyncLines>(does, options, mode);
    }

    /// Enough for every short vector.
    const SHORT: usize = 24;

    #[test]
    fn texts_and_errors_are_those_of_the_async_reader_at_every_cut() {
        at_every_cut(SHORT, texts_agree);
    }

    #[test]
    fn bytes_are_those_of_the_async_reader_at_every_cut() {
        at_every_cut(SHORT, bytes_agree);
    }

    #[test]
    #[ignore = "seconds in release mode"]
    fn long_inputs_are_read_as_by_the_async_reader_at_every_cut() {
        at_every_cut(60, |does, options, mode| {
            texts_agree(does, options, mode);
            bytes_agree(does, options, mode);
            lines_agree(does, options, mode);
        });
    }

    #[test]
    fn lines_are_those_of_the_async_reader_at_every_cut() {
        at_every_cut(SHORT, lines_agree);
        for bytes in [
            &b"one\ntwo\r\nthree"[..],
            b"\xEF\xBB\xBFa\r\n\r\r\n\xE2\x82\n\xFF\r",
            b"\n\n\xC3\n\xA9\0\xC3\xA9x\xC3\xA9",
        ] {
            for (_, mode) in MODES {
                for at in 0..bytes.len() {
                    lines_agree(&cut(bytes, at), Utf8Options::new(), mode);
                }
            }
        }
    }

    #[test]
    fn errors_of_the_reader_come_where_those_of_the_async_reader_come() {
        let error = Error(ErrorKind::TimedOut);
        let steps = [Chunk(b"a\xE2\x82"), Chunk(b"\xACb\n"), Chunk(b"\xFF\xC3"), error];
        for script in crate::script::scripts(&steps, 4) {
            for (_, mode) in MODES {
                let options = Utf8Options::new();
                texts_agree(&script, options, mode);
                lines_agree(&script, options, mode);
            }
        }
    }

    #[test]
    fn large_inputs_are_read_alike() {
        let text = crate::lists::MULTILINGUAL.repeat(500);
        let mut bytes = text.into_bytes();
        bytes[20_001] = 0xFF;
        for (_, mode) in MODES {
            let mut theirs = String::new();
            let mut reader = stream::Utf8Reader::new(&bytes[..]).with_error_mode(mode);
            loop {
                match now!(reader.next_str()) {
                    Ok(Some(text)) => theirs += text,
                    Ok(None) => break,
                    Err(error) => theirs += &of_stream(error),
                }
            }
            let mut reader = blocking::Utf8Reader::new(&bytes[..]).with_error_mode(mode);
            assert_eq!(read_all(&mut reader), theirs, "{mode:?}");
        }
    }
}

// ---- readers ------------------------------------------------------------------------------------

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
        let does = [Chunk(b"on"), error, interrupted, Chunk(b"e\nt\xC3"), Lie(1), Chunk(b"\xA9")];
        let lines = Utf8Reader::new(Script::new(&does)).into_lines();
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
        assert_eq!((lines, errors), (vec!["one".to_owned(), "té".to_owned()], 2));
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
