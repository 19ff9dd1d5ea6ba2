//! `Utf8Stream`, `CharStream` and `Utf8Reader` as [`Subject`]s. The last two use each of their methods
//! in turn.

use std::convert::Infallible;
use std::fmt::Debug;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};

use bytes::Bytes;
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::stream::FusedStream;
use futures::{FutureExt, Stream, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, DuplexStream};
use utf8_codec::stream::{CharStream, StreamError, Utf8Reader, Utf8Stream};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Error, Utf8ErrorKind, Utf8Options};

use super::Atom;
use super::subjects::{Reported, Subject};

type Chunks = UnboundedReceiver<Result<Bytes, Infallible>>;

/// The input of a source.
enum Feed {
    Channel(UnboundedSender<Result<Bytes, Infallible>>),
    Pipe(DuplexStream),
}

impl Feed {
    fn give(&mut self, chunk: &[u8]) {
        match self {
            Self::Channel(sender) => {
                sender.unbounded_send(Ok(Bytes::copy_from_slice(chunk))).expect("open");
            }
            Self::Pipe(pipe) => {
                pipe.write_all(chunk).now_or_never().expect("there is room").expect("open");
            }
        }
    }
}

/// How often a reader with reads of this size is pending before it has read `chunk`: it yields to other
/// tasks between small reads.
fn patience(capacity: usize, chunk: &[u8]) -> usize {
    if capacity < 64 { (1 + chunk.len()).min(16) } else { 1 }
}

/// A stream over a channel or a pipe, polled after each chunk while it is ready.
pub struct Texts<S> {
    /// `None` once the stream has ended.
    feed: Option<Feed>,
    stream: Utf8Stream<S>,
    /// Whether a chunk yields at most one item.
    makes_one: bool,
    capacity: usize,
}

impl Texts<Chunks> {
    pub fn boxed(options: Utf8Options, mode: ErrorMode) -> Box<dyn Subject> {
        let (sender, receiver) = mpsc::unbounded();
        let stream = Utf8Stream::new(receiver).with_options(options).with_error_mode(mode);
        let (feed, makes_one) = (Some(Feed::Channel(sender)), mode != ErrorMode::Fatal);
        Box::new(Self { feed, stream, makes_one, capacity: usize::MAX })
    }

    /// Reads at most `capacity` bytes at once.
    pub fn from_reader(options: Utf8Options, mode: ErrorMode, capacity: usize) -> Box<dyn Subject> {
        let (pipe, socket) = tokio::io::duplex(1 << 20);
        let stream = Utf8Stream::from_reader(socket).with_capacity(capacity);
        let stream = stream.with_options(options).with_error_mode(mode);
        let feed = Some(Feed::Pipe(pipe));
        Box::new(Texts { feed, stream, makes_one: false, capacity })
    }
}

impl<S, E> Texts<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Debug,
{
    /// The items until the stream is pending or has ended.
    fn ready(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let mut out = Vec::new();
        let (mut items, mut pending) = (0, 0);
        while pending < patience(self.capacity, chunk) {
            let item = match self.stream.next().now_or_never() {
                None => {
                    pending += 1;
                    continue;
                }
                Some(None) => break,
                Some(Some(item)) => item,
            };
            match item {
                Ok(text) => {
                    assert!(!text.is_empty(), "items are never empty");
                    out.extend(text.chars().map(Atom::Char));
                }
                Err(StreamError::Utf8(error)) => out.push(Atom::from(&error)),
                Err(error) => panic!("{error:?}"),
            }
            items += 1;
        }
        assert!(items <= 1 || !self.makes_one, "one item per chunk");
        out
    }
}

impl<S, E> Subject for Texts<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Debug,
{
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        self.feed.as_mut().expect("not ended").give(chunk);
        let out = self.ready(chunk);
        assert!(self.stream.rest().is_empty() && !self.stream.is_terminated());
        out
    }

    fn finish(&mut self) -> Vec<Atom> {
        self.feed = None;
        let out = self.ready(&[]);
        assert!(self.stream.is_terminated());
        assert!(matches!(self.stream.next().now_or_never(), Some(None)), "it stays ended");
        out
    }

    fn state(&self) -> Option<(&Utf8Decoder, usize)> {
        Some((self.stream.decoder(), 0))
    }
}

/// A `CharStream` over a channel, polled after each chunk while it is ready.
pub struct Chars {
    /// `None` once the stream has ended.
    sender: Option<UnboundedSender<Result<Bytes, Infallible>>>,
    chars: CharStream<Chunks, Infallible>,
    /// The number of characters so far.
    taken: usize,
    reported: Vec<Reported>,
    turn: usize,
}

impl Chars {
    pub fn boxed(options: Utf8Options, mode: ErrorMode) -> Box<dyn Subject> {
        let (sender, receiver) = mpsc::unbounded();
        let stream = Utf8Stream::new(receiver).with_options(options).with_error_mode(mode);
        let (sender, chars) = (Some(sender), stream.chars());
        Box::new(Self { sender, chars, taken: 0, reported: Vec::new(), turn: 0 })
    }

    fn chars(&mut self) -> &mut CharStream<Chunks, Infallible> {
        &mut self.chars
    }

    fn source(&self) -> &Utf8Stream<Chunks> {
        self.chars.get_ref()
    }

    fn ready(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        loop {
            self.turn += 1;
            self.report();
            let taken = match self.turn % 5 {
                0 => self.take_block(),
                1 => self.take_text(),
                2 => self.peek_and_take(),
                3 => self.take_index(),
                _ => self.take_char(),
            };
            let Some(atoms) = taken else { break };
            self.taken += atoms.iter().filter(|atom| matches!(atom, Atom::Char(_))).count();
            out.extend(atoms);
        }
        self.report();
        assert_eq!(self.chars().as_str(), "", "nothing is held");
        out
    }

    /// Records the offset that the stream reports.
    fn report(&mut self) {
        let is_next = !self.chars().as_str().is_empty();
        let offset = self.chars().offset();
        self.reported.push(Reported { chars: self.taken, is_next, offset });
    }

    fn take_char(&mut self) -> Option<Vec<Atom>> {
        let next = self.chars().next().now_or_never()??;
        Some(vec![next.map_or_else(atom, Atom::Char)])
    }

    fn peek_and_take(&mut self) -> Option<Vec<Atom>> {
        let peeked = self.chars().peek().now_or_never()??.map_err(Clone::clone);
        self.report();
        if let Ok(c) = peeked {
            assert!(self.chars().as_str().starts_with(c));
        }
        let next = self.chars().next().now_or_never()??;
        assert_eq!(next, peeked, "peek and next agree");
        Some(vec![next.map_or_else(atom, Atom::Char)])
    }

    fn take_block(&mut self) -> Option<Vec<Atom>> {
        match self.chars().next_block().now_or_never()?? {
            Ok(block) => {
                assert!(!block.is_empty(), "blocks are never empty");
                Some(block.iter().copied().map(Atom::Char).collect())
            }
            Err(error) => Some(vec![atom(error)]),
        }
    }

    /// Takes one with its offset.
    fn take_index(&mut self) -> Option<Vec<Atom>> {
        let next = self.chars().next_indexed().now_or_never()??;
        Some(vec![match next {
            Ok((offset, c)) => {
                self.reported.push(Reported { chars: self.taken, is_next: true, offset });
                Atom::Char(c)
            }
            Err(error) => atom(error),
        }])
    }

    /// Takes about half of the available text.
    fn take_text(&mut self) -> Option<Vec<Atom>> {
        if self.chars().peek().now_or_never()??.is_err() {
            return self.take_block();
        }
        self.report();
        let text = self.chars().as_str();
        let half =
            (text.len() / 2..).find(|&at| text.is_char_boundary(at)).expect("there is an end");
        let half = text[..half].to_owned();
        self.chars().advance(half.len());
        Some(half.chars().map(Atom::Char).collect())
    }
}

impl Subject for Chars {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let sender = self.sender.as_ref().expect("not ended");
        sender.unbounded_send(Ok(Bytes::copy_from_slice(chunk))).expect("open");
        let out = self.ready();
        assert!(!self.chars().is_terminated());
        out
    }

    fn finish(&mut self) -> Vec<Atom> {
        self.sender = None;
        let out = self.ready();
        assert!(self.chars().is_terminated());
        assert_eq!(self.chars().next().now_or_never(), Some(None), "it stays ended");
        out
    }

    fn state(&self) -> Option<(&Utf8Decoder, usize)> {
        Some((self.source().decoder(), 0))
    }

    fn places(&mut self) -> Vec<Reported> {
        std::mem::take(&mut self.reported)
    }
}

fn atom(error: StreamError<Infallible>) -> Atom {
    match error {
        StreamError::Utf8(error) => Atom::from(&error),
        other => panic!("{other}"),
    }
}

/// A reader over a pipe, read after each chunk while it is ready.
pub struct Read {
    /// `None` once the stream has ended.
    pipe: Option<DuplexStream>,
    /// `None` while it is being converted.
    reader: Option<Utf8Reader<DuplexStream>>,
    mode: ErrorMode,
    capacity: usize,
    turn: usize,
}

impl Read {
    pub fn boxed(options: Utf8Options, mode: ErrorMode) -> Box<dyn Subject> {
        Self::with_capacity(options, mode, 8192)
    }

    /// Reads at most `capacity` bytes at once.
    pub fn with_capacity(
        options: Utf8Options,
        mode: ErrorMode,
        capacity: usize,
    ) -> Box<dyn Subject> {
        let (pipe, socket) = tokio::io::duplex(1 << 20);
        let reader = Utf8Reader::new(socket).with_options(options).with_error_mode(mode);
        let reader = Some(reader.with_capacity(capacity));
        Box::new(Self { pipe: Some(pipe), reader, mode, capacity, turn: 0 })
    }

    fn reader(&mut self) -> &mut Utf8Reader<DuplexStream> {
        self.reader.as_mut().expect("it is back")
    }

    fn ready(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let (mut out, mut pending) = (Vec::new(), 0);
        while pending < patience(self.capacity, chunk) {
            self.turn += 1;
            let taken = match self.turn % 8 {
                0 => self.take_all(),
                1 => self.take_half(),
                2 => self.take_char(),
                3 => self.fill_and_take(),
                4 => self.read_bytes(),
                5 => self.fill_bytes(),
                6 => self.append(&mut out),
                _ => {
                    self.go_to_lines_and_back();
                    continue;
                }
            };
            match taken {
                Some(Ok(None)) => return out,
                Some(Ok(Some(text))) => out.extend(text.chars().map(Atom::Char)),
                Some(Err(StreamError::Utf8(error))) => out.push(Atom::from(&error)),
                Some(Err(error)) => panic!("{error}"),
                None => pending += 1,
            }
        }
        assert_eq!(self.reader().as_str(), "", "nothing is held");
        out
    }

    fn take_all(&mut self) -> Taken {
        let text = self.reader().next_str().now_or_never()?;
        Some(text.map(|text| {
            assert_ne!(text, Some(""), "texts are never empty");
            text.map(str::to_owned)
        }))
    }

    fn take_half(&mut self) -> Taken {
        let text = match self.reader().peek_str().now_or_never()? {
            Ok(Some(text)) => text,
            Ok(None) => return Some(Ok(None)),
            Err(error) => return Some(Err(error)),
        };
        let half =
            (text.len().div_ceil(2)..).find(|&at| text.is_char_boundary(at)).expect("an end");
        let half = text[..half].to_owned();
        self.reader().consume(half.len());
        Some(Ok(Some(half)))
    }

    fn take_char(&mut self) -> Taken {
        let next = self.reader().next_char().now_or_never()?;
        Some(next.map(|c| c.map(String::from)))
    }

    /// Consumes the first character of the available text.
    fn fill_and_take(&mut self) -> Taken {
        let reader = self.reader();
        let lent = poll_fn(|cx| {
            let text = Pin::new(&mut *reader).poll_fill_str(cx);
            text.map_ok(|text| text.chars().next().map(String::from))
        });
        let first = lent.now_or_never()?;
        if let Ok(Some(first)) = &first {
            self.reader().consume(first.len());
        }
        Some(first)
    }

    /// Reads some bytes. Of a split character, all bytes arrive at once.
    fn read_bytes(&mut self) -> Taken {
        let mut bytes = self.reader.take().expect("it is back").into_byte_reader();
        let (mut read, mut buffer) = (Vec::new(), [0; 3]);
        let last = loop {
            let room = &mut buffer[..1 + read.len() % 3];
            let len = bytes.read(room).now_or_never();
            match len {
                Some(Ok(len)) => read.extend_from_slice(&buffer[..len]),
                last => break last,
            }
            // An error can follow the text.
            if read.len() > 9 || bytes.get_ref().as_str().is_empty() {
                break len;
            }
        };
        self.reader = Some(bytes.into_inner());
        Some(last?.map(|_| whole(&read)).map_err(read_error))
    }

    /// Consumes most of the available bytes, in the same way.
    fn fill_bytes(&mut self) -> Taken {
        let mut bytes = self.reader.take().expect("it is back").into_byte_reader();
        let shown = bytes.fill_buf().now_or_never().map(|shown| shown.map(<[_]>::to_vec));
        if let Some(Ok(shown)) = &shown {
            assert!(str::from_utf8(shown).is_ok(), "available bytes are complete characters");
            bytes.consume(most(shown));
        }
        self.reader = Some(bytes.into_inner());
        Some(shown?.map(|shown| whole(&shown[..most(&shown)])).map_err(read_error))
    }

    /// Appends the next text to a string that is not empty, up to a limit.
    fn append(&mut self, out: &mut Vec<Atom>) -> Taken {
        let (mut text, limit) = (String::from("kept"), 4 + self.turn % 60);
        let appended = settled(self.reader().append_text(&mut text, limit));
        assert!(text.len() <= limit, "{text:?}, limit {limit}");
        let more = text.strip_prefix("kept").expect("it is kept");
        out.extend(more.chars().map(Atom::Char));
        match appended? {
            Ok(()) => Some(Ok(None)),
            Err(StreamError::TooLong { max_length: reported }) => {
                let unread = self.reader().as_str();
                assert!(reported == limit && text.len() + unread.len() > limit, "{unread:?}");
                Some(Ok(Some(String::new())))
            }
            Err(StreamError::Utf8(error)) => Some(Err(StreamError::Utf8(error))),
            Err(error) => panic!("{error}"),
        }
    }

    /// Collects the rest, up to a sufficient limit.
    fn collect(&mut self) -> Vec<Atom> {
        let text = settled(self.reader().collect_text(1 << 20));
        let text = text.expect("it has ended").expect("nothing is rejected");
        text.chars().map(Atom::Char).collect()
    }

    /// Converts to lines and back without reading a line. Not inside a repair of several characters,
    /// whose rest that would consume.
    fn go_to_lines_and_back(&mut self) {
        let long_repairs = [ErrorMode::Escape, ErrorMode::Latin1, ErrorMode::Windows1252];
        let has_text = !self.reader().as_str().is_empty();
        if !has_text || !long_repairs.contains(&self.mode) {
            self.reader = self.reader.take().map(|reader| reader.into_lines().into_reader());
        }
    }
}

/// The result, if the future is ready after it has yielded to other tasks a few times.
fn settled<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    (0..16).find_map(|_| future.as_mut().now_or_never())
}

/// Text, `None` at the end, or an error. Returns `None` if the reader is pending.
type Taken = Option<Result<Option<String>, StreamError<io::Error>>>;

/// About two thirds of some bytes, and at least one complete character.
pub fn most(bytes: &[u8]) -> usize {
    bytes.len().min(4).max(bytes.len() * 2 / 3)
}

/// The characters whose bytes are complete; `None` without bytes.
pub fn whole(bytes: &[u8]) -> Option<String> {
    let text = bytes.utf8_chunks().next()?.valid();
    assert_ne!(text, "", "there is a complete one");
    Some(text.to_owned())
}

pub fn read_error(error: io::Error) -> StreamError<io::Error> {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Utf8Error>());
    let Some(cause) = cause.copied() else { return StreamError::Inner(error) };
    let is_incomplete = cause.kind() == Utf8ErrorKind::Incomplete;
    assert_eq!(error.kind() == io::ErrorKind::UnexpectedEof, is_incomplete, "{error:?}");
    StreamError::Utf8(cause)
}

impl Subject for Read {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let pipe = self.pipe.as_mut().expect("not ended");
        pipe.write_all(chunk).now_or_never().expect("there is room").expect("open");
        self.ready(chunk)
    }

    fn finish(&mut self) -> Vec<Atom> {
        self.pipe = None;
        let out = match (self.mode, self.turn % 2) {
            // In the other modes there is only text.
            (ErrorMode::Fatal, _) | (_, 0) => self.ready(&[]),
            _ => self.collect(),
        };
        assert!(
            matches!(self.reader().next_str().now_or_never(), Some(Ok(None))),
            "it stays ended"
        );
        out
    }

    fn state(&self) -> Option<(&Utf8Decoder, usize)> {
        let reader = self.reader.as_ref().expect("it is back");
        Some((reader.decoder(), reader.rest().len()))
    }
}
