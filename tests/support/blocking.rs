//! The blocking `Utf8Reader` as a [`Subject`]. It uses each of its methods in turn.

use std::io::{self, BufRead, ErrorKind};

use utf8_codec::io::{StreamError, Utf8Reader};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Options};

use super::Atom;
use super::lines::feed::Feed;
use super::streams::{most, read_error, whole};
use super::subjects::Subject;

/// A reader that reads after each chunk until it would block.
pub struct Blocking {
    feed: Feed,
    /// `None` while it is being converted.
    reader: Option<Utf8Reader<Feed>>,
    mode: ErrorMode,
    turn: usize,
}

type Taken = Result<Option<String>, StreamError<io::Error>>;

impl Blocking {
    /// Reads at most `capacity` bytes at once.
    pub fn with_capacity(
        options: Utf8Options,
        mode: ErrorMode,
        capacity: usize,
    ) -> Box<dyn Subject> {
        let feed = Feed::default();
        let reader = Utf8Reader::new(feed.clone()).with_options(options).with_error_mode(mode);
        let reader = Some(reader.with_capacity(capacity));
        Box::new(Self { feed, reader, mode, turn: 0 })
    }

    fn reader(&mut self) -> &mut Utf8Reader<Feed> {
        self.reader.as_mut().expect("it is back")
    }

    fn ready(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        loop {
            self.turn += 1;
            let taken = match self.turn % 5 {
                0 => self.reader().next_str().map(|text| text.map(str::to_owned)),
                1 => self.reader().next_char().map(|c| c.map(String::from)),
                2 => self.peek_and_take(),
                3 => self.fill_bytes(),
                _ => {
                    self.go_to_lines_and_back();
                    continue;
                }
            };
            match taken {
                Ok(None) => return out,
                Ok(Some(text)) => out.extend(text.chars().map(Atom::Char)),
                Err(StreamError::Utf8(error)) => out.push(Atom::from(&error)),
                Err(StreamError::Inner(error)) if error.kind() == ErrorKind::WouldBlock => {
                    assert_eq!(self.reader().as_str(), "", "nothing is held");
                    return out;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn peek_and_take(&mut self) -> Taken {
        let first = self.reader().peek_str()?.and_then(|text| text.chars().next());
        self.reader().consume(first.map_or(0, char::len_utf8));
        Ok(first.map(String::from))
    }

    /// Consumes most of the available bytes. Of a split character, all bytes are returned at once.
    fn fill_bytes(&mut self) -> Taken {
        let mut bytes = self.reader.take().expect("it is back").into_byte_reader();
        let shown = bytes.fill_buf().map(<[_]>::to_vec);
        if let Ok(shown) = &shown {
            bytes.consume(most(shown));
        }
        self.reader = Some(bytes.into_inner());
        shown.map(|shown| whole(&shown[..most(&shown)])).map_err(read_error)
    }

    /// Converts to lines and back, but not inside a repair of several characters, whose rest that would consume.
    fn go_to_lines_and_back(&mut self) {
        let long_repairs = [ErrorMode::Escape, ErrorMode::Latin1, ErrorMode::Windows1252];
        let has_text = !self.reader().as_str().is_empty();
        if !has_text || !long_repairs.contains(&self.mode) {
            self.reader = self.reader.take().map(|reader| reader.into_lines().into_reader());
        }
    }
}

impl Subject for Blocking {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        self.feed.push(chunk);
        self.ready()
    }

    fn finish(&mut self) -> Vec<Atom> {
        self.feed.end();
        let out = self.ready();
        assert!(matches!(self.reader().next_str(), Ok(None)), "it stays ended");
        out
    }

    fn state(&self) -> Option<(&Utf8Decoder, usize)> {
        let reader = self.reader.as_ref().expect("it is back");
        Some((reader.decoder(), reader.rest().len()))
    }
}
