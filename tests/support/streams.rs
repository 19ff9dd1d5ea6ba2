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

use super::reference::Error;
use super::subjects::{Subject, Told, counted};
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

    fn position(&self) -> Option<u64> {
        Some(self.stream.decoder().position())
    }

    fn errors(&self) -> Option<(u64, Option<Error>)> {
        Some(counted(self.stream.error_count(), self.stream.first_error()))
    }
}

/// `char`s over a channel, polled after each chunk for as long as they are ready.
pub struct Chars {
    /// `None` once the stream is to end.
    sender: Option<UnboundedSender<Result<Bytes, Infallible>>>,
    /// `None` while it is made into something else.
    chars: Option<CharStream<Utf8Stream<Chunks>>>,
    /// How many have come out.
    taken: usize,
    told: Vec<Told>,
    turn: usize,
}

impl Chars {
    pub fn boxed(options: Utf8Options, mode: ErrorMode) -> Box<dyn Subject> {
        let (sender, receiver) = mpsc::unbounded();
        let stream = Utf8Stream::new(receiver).with_options(options).with_error_mode(mode);
        let (sender, chars) = (Some(sender), Some(stream.chars()));
        Box::new(Self { sender, chars, taken: 0, told: Vec::new(), turn: 0 })
    }

    fn chars(&mut self) -> &mut CharStream<Utf8Stream<Chunks>> {
        self.chars.as_mut().expect("it is back")
    }

    fn source(&self) -> &Utf8Stream<Chunks> {
        self.chars.as_ref().expect("it is back").get_ref()
    }

    fn ready(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        loop {
            self.turn += 1;
            self.tell();
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
        self.tell();
        assert_eq!(self.chars().as_str(), "", "nothing is kept back");
        out
    }

    /// Notes where the stream says that it is.
    fn tell(&mut self) {
        let is_next = !self.chars().as_str().is_empty();
        let offset = self.chars().offset();
        self.told.push(Told { chars: self.taken, is_next, offset });
    }

    fn take_char(&mut self) -> Option<Vec<Atom>> {
        let next = self.chars().next().now_or_never()??;
        Some(vec![next.map_or_else(atom, Atom::Char)])
    }

    fn peek_and_take(&mut self) -> Option<Vec<Atom>> {
        let peeked = self.chars().peek().now_or_never()??.map_err(Clone::clone);
        self.tell();
        if let Ok(c) = peeked {
            assert!(self.chars().as_str().starts_with(c));
        }
        let next = self.chars().next().now_or_never()??;
        assert_eq!(next, peeked, "what is peeked at is what comes");
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

    /// Takes one with its offset, and goes back to those without.
    fn take_index(&mut self) -> Option<Vec<Atom>> {
        let mut indices = self.chars.take().expect("it is back").indices();
        let next = indices.next().now_or_never().flatten();
        assert_eq!(indices.is_terminated(), indices.get_ref().is_terminated());
        self.chars = Some(indices.into_inner());
        Some(vec![match next? {
            Ok((offset, c)) => {
                self.told.push(Told { chars: self.taken, is_next: true, offset });
                Atom::Char(c)
            }
            Err(error) => atom(error),
        }])
    }

    /// Takes about half of the text there is.
    fn take_text(&mut self) -> Option<Vec<Atom>> {
        if self.chars().peek().now_or_never()??.is_err() {
            return self.take_block();
        }
        self.tell();
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
        assert_eq!(self.chars().next().now_or_never(), Some(None), "and so it stays");
        out
    }

    fn held(&self) -> usize {
        self.source().decoder().incomplete().len()
    }

    fn start(&self) -> (bool, usize) {
        let decoder = self.source().decoder();
        (decoder.bom_seen(), decoder.skipped())
    }

    fn position(&self) -> Option<u64> {
        Some(self.source().decoder().position())
    }

    fn errors(&self) -> Option<(u64, Option<Error>)> {
        Some(counted(self.source().error_count(), self.source().first_error()))
    }

    fn places(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
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
    /// Whether it went there with the rest of a repair, perhaps, which counts as if it had been sent.
    is_displaced: bool,
    mode: ErrorMode,
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
        Box::new(Self {
            pipe: Some(pipe),
            reader,
            goes_to_lines,
            is_displaced: false,
            mode,
            patience,
            turn: 0,
        })
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
            let long_repairs = [ErrorMode::Escape, ErrorMode::Latin1, ErrorMode::Windows1252];
            let has_text = !self.reader().as_str().is_empty();
            self.is_displaced |= has_text && long_repairs.contains(&self.mode);
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

    fn position(&self) -> Option<u64> {
        let reader = self.reader.as_ref().expect("it is back");
        let position = reader.decoder().position() + reader.rest().len() as u64;
        (!self.is_displaced).then_some(position)
    }

    fn errors(&self) -> Option<(u64, Option<Error>)> {
        let reader = self.reader.as_ref().expect("it is back");
        Some(counted(reader.error_count(), reader.first_error()))
    }
}
