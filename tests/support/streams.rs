//! `Utf8Stream`, and `CharStream` and `Utf8Reader` taken by each of their methods in turn, behind
//! [`Subject`].

use std::convert::Infallible;

use bytes::Bytes;
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::stream::FusedStream;
use futures::{FutureExt, StreamExt};
use tokio::io::{AsyncWriteExt, DuplexStream};
use utf8_codec::stream::{CharStream, ReadError, StreamError, Utf8Reader, Utf8Stream};
use utf8_codec::{ErrorMode, Strictness, Utf8Options};

use super::subjects::Subject;
use super::{Atom, model_error};

type Chunks = UnboundedReceiver<Result<Bytes, Infallible>>;

/// A stream over a channel, polled after each chunk for as long as it is ready.
pub struct Texts {
    /// `None` once the stream is to end.
    sender: Option<UnboundedSender<Result<Bytes, Infallible>>>,
    stream: Utf8Stream<Chunks>,
    mode: ErrorMode,
}

impl Texts {
    pub fn boxed(options: Utf8Options, mode: ErrorMode) -> Box<dyn Subject> {
        let (sender, receiver) = mpsc::unbounded();
        let stream = Utf8Stream::new(receiver).with_options(options).with_error_mode(mode);
        Box::new(Self { sender: Some(sender), stream, mode })
    }

    /// What comes out before the stream is pending, or has ended.
    fn ready(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        let mut items = 0;
        while let Some(Some(item)) = self.stream.next().now_or_never() {
            match item {
                Ok(text) => {
                    assert!(!text.is_empty(), "items are never empty");
                    out.extend(text.chars().map(Atom::Char));
                }
                Err(StreamError::Utf8(error)) => out.push(Atom::Error(model_error(&error))),
                Err(error) => panic!("{error}"),
            }
            items += 1;
        }
        assert!(items <= 1 || self.mode == ErrorMode::Fatal, "one item for a chunk");
        out
    }
}

impl Subject for Texts {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let sender = self.sender.as_ref().expect("not ended");
        sender.unbounded_send(Ok(Bytes::copy_from_slice(chunk))).expect("open");
        let out = self.ready();
        assert!(self.stream.rest().is_empty() && !self.stream.is_terminated());
        out
    }

    fn finish(&mut self) -> Vec<Atom> {
        self.sender = None;
        let out = self.ready();
        assert!(self.stream.is_terminated());
        assert_eq!(self.stream.next().now_or_never(), Some(None), "and so it stays");
        out
    }

    fn held(&self) -> usize {
        self.stream.decoder().incomplete().len()
    }

    fn start(&self) -> (bool, usize) {
        let decoder = self.stream.decoder();
        (decoder.bom_seen(), decoder.skipped())
    }
}

/// `char`s over a channel, polled after each chunk for as long as they are ready.
pub struct Chars {
    /// `None` once the stream is to end.
    sender: Option<UnboundedSender<Result<Bytes, Infallible>>>,
    chars: CharStream<Utf8Stream<Chunks>>,
    mode: ErrorMode,
    /// All that has been pushed.
    bytes: Vec<u8>,
    turn: usize,
}

impl Chars {
    pub fn boxed(options: Utf8Options, mode: ErrorMode) -> Box<dyn Subject> {
        let (sender, receiver) = mpsc::unbounded();
        let stream = Utf8Stream::new(receiver).with_options(options).with_error_mode(mode);
        let (chars, bytes) = (stream.chars(), Vec::new());
        Box::new(Self { sender: Some(sender), chars, mode, bytes, turn: 0 })
    }

    fn ready(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        loop {
            self.turn += 1;
            let taken = match self.turn % 4 {
                0 => self.take_block(),
                1 => self.take_text(),
                2 => self.peek_and_take(),
                _ => self.take_char(),
            };
            match taken {
                Some(atoms) => out.extend(atoms),
                None => break,
            }
        }
        assert_eq!(self.chars.as_str(), "", "nothing is kept back");
        out
    }

    fn take_char(&mut self) -> Option<Vec<Atom>> {
        let known = !self.chars.as_str().is_empty();
        let offset = self.chars.offset();
        let next = self.chars.next().now_or_never()??;
        if let (Ok(c), true) = (&next, known) {
            self.assert_place(&c.to_string(), offset);
        }
        Some(vec![next.map_or_else(atom, Atom::Char)])
    }

    fn peek_and_take(&mut self) -> Option<Vec<Atom>> {
        let peeked = self.chars.peek().now_or_never()??.map_err(Clone::clone);
        if let Ok(c) = peeked {
            let offset = self.chars.offset();
            self.assert_place(&c.to_string(), offset);
            assert!(self.chars.as_str().starts_with(c));
        }
        let next = self.chars.next().now_or_never()??;
        assert_eq!(next, peeked, "what is peeked at is what comes");
        Some(vec![next.map_or_else(atom, Atom::Char)])
    }

    fn take_block(&mut self) -> Option<Vec<Atom>> {
        match self.chars.next_block().now_or_never()?? {
            Ok(block) => {
                assert!(!block.is_empty(), "blocks are never empty");
                Some(block.iter().copied().map(Atom::Char).collect())
            }
            Err(error) => Some(vec![atom(error)]),
        }
    }

    /// Takes about half of the text there is.
    fn take_text(&mut self) -> Option<Vec<Atom>> {
        if self.chars.peek().now_or_never()??.is_err() {
            return self.take_block();
        }
        let text = self.chars.as_str();
        let half =
            (text.len() / 2..).find(|&at| text.is_char_boundary(at)).expect("there is an end");
        let (half, offset) = (text[..half].to_owned(), self.chars.offset());
        self.assert_place(&half, offset);
        self.chars.advance(half.len());
        Some(half.chars().map(Atom::Char).collect())
    }

    /// Text stands where it is said to stand; what was repaired stands for something else there.
    fn assert_place(&self, text: &str, offset: u64) {
        let there = &self.bytes[offset as usize..];
        let is_right = there.starts_with(text.as_bytes()) || self.mode != ErrorMode::Fatal;
        assert!(is_right, "{text:?} is not at {offset} of {:02x?}", self.bytes);
    }
}

impl Subject for Chars {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        self.bytes.extend_from_slice(chunk);
        let sender = self.sender.as_ref().expect("not ended");
        sender.unbounded_send(Ok(Bytes::copy_from_slice(chunk))).expect("open");
        let out = self.ready();
        assert!(!self.chars.is_terminated());
        out
    }

    fn finish(&mut self) -> Vec<Atom> {
        self.sender = None;
        let out = self.ready();
        assert!(self.chars.is_terminated());
        assert_eq!(self.chars.next().now_or_never(), Some(None), "and so it stays");
        assert_eq!(self.chars.offset(), self.chars.offset().min(self.bytes.len() as u64));
        out
    }

    fn held(&self) -> usize {
        self.chars.get_ref().decoder().incomplete().len()
    }

    fn start(&self) -> (bool, usize) {
        let decoder = self.chars.get_ref().decoder();
        (decoder.bom_seen(), decoder.skipped())
    }
}

fn atom(error: StreamError<Infallible>) -> Atom {
    match error {
        StreamError::Utf8(error) => Atom::Error(model_error(&error)),
        other => panic!("{other}"),
    }
}

/// A reader over a pipe, read after each chunk for as long as it is ready.
pub struct Read {
    /// `None` once the stream is to end.
    pipe: Option<DuplexStream>,
    /// `None` while it is made into something else.
    reader: Option<Utf8Reader<DuplexStream>>,
    /// Unless the rest of a repair might be refused there.
    goes_to_lines: bool,
    /// How often it is asked again: with a small buffer it gives way before all is read.
    patience: u8,
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
        let may_be_refused = matches!(mode, ErrorMode::Latin1 | ErrorMode::Windows1252)
            && options != options.with_strictness(Strictness::new());
        let (goes_to_lines, patience) = (!may_be_refused, if capacity < 64 { 16 } else { 1 });
        Box::new(Self { pipe: Some(pipe), reader, goes_to_lines, patience, turn: 0 })
    }

    fn reader(&mut self) -> &mut Utf8Reader<DuplexStream> {
        self.reader.as_mut().expect("it is back")
    }

    fn ready(&mut self) -> Vec<Atom> {
        let (mut out, mut pending) = (Vec::new(), 0);
        while pending < self.patience {
            self.turn += 1;
            let taken = match self.turn % 4 {
                0 => self.take_all(),
                1 => self.take_half(),
                2 => self.take_char(),
                _ => {
                    self.go_to_lines_and_back();
                    continue;
                }
            };
            match taken {
                Some(Ok(text)) if text.is_empty() => return out,
                Some(Ok(text)) => out.extend(text.chars().map(Atom::Char)),
                Some(Err(ReadError::Utf8(error))) => out.push(Atom::Error(model_error(&error))),
                Some(Err(error)) => panic!("{error}"),
                None => pending += 1,
            }
        }
        assert_eq!(self.reader().as_str(), "", "nothing is kept back");
        out
    }

    fn take_all(&mut self) -> Option<Result<String, ReadError>> {
        let text = self.reader().next_str().now_or_never()?;
        Some(text.map(|text| {
            assert_ne!(text, Some(""), "texts are never empty");
            text.unwrap_or_default().to_owned()
        }))
    }

    fn take_half(&mut self) -> Option<Result<String, ReadError>> {
        let text = match self.reader().peek_str().now_or_never()? {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return Some(Err(error)),
        };
        let half =
            (text.len().div_ceil(2)..).find(|&at| text.is_char_boundary(at)).expect("an end");
        let half = text[..half].to_owned();
        self.reader().consume(half.len());
        Some(Ok(half))
    }

    /// As if somebody had wanted lines, and taken none.
    fn go_to_lines_and_back(&mut self) {
        if self.goes_to_lines {
            self.reader = self.reader.take().map(|reader| reader.into_lines().into_reader());
        }
    }

    fn take_char(&mut self) -> Option<Result<String, ReadError>> {
        let next = self.reader().next_char().now_or_never()?;
        Some(next.map(|c| c.map(String::from).unwrap_or_default()))
    }
}

impl Subject for Read {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let pipe = self.pipe.as_mut().expect("not ended");
        pipe.write_all(chunk).now_or_never().expect("there is room").expect("open");
        self.ready()
    }

    fn finish(&mut self) -> Vec<Atom> {
        self.pipe = None;
        let out = self.ready();
        assert!(
            matches!(self.reader().next_str().now_or_never(), Some(Ok(None))),
            "and so it stays"
        );
        out
    }

    fn held(&self) -> usize {
        self.reader.as_ref().expect("it is back").rest().len()
    }

    fn start(&self) -> (bool, usize) {
        let decoder = self.reader.as_ref().expect("it is back").decoder();
        (decoder.bom_seen(), decoder.skipped())
    }
}
