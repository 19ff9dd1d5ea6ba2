//! Text from a terminal that switches between Latin-1 and UTF-8 by escape sequences.

use core::iter::FusedIterator;

use crate::core::decoder::{Pieces, Utf8Decoder};
use crate::core::error::Utf8Error;

/// Turns the stream of a terminal, which switches between Latin-1 and UTF-8, into text.
///
/// Two escape sequences of ISO 2022 are known, those of the Linux console (utf-8(7)): `ESC % G` enters
/// UTF-8, `ESC % @` leaves it. They are removed, wherever they stand and however they are cut, also
/// where they change nothing. A stream begins outside, unless
/// [`in_coding_system`](Self::in_coding_system) says otherwise. Outside each byte is the character
/// of ISO 8859-1, and nothing is ill-formed; inside, what is ill-formed is an error, as from a
/// [`Utf8Decoder`].
///
/// Other bytes are text, control characters and other escape sequences included:
///
/// - An escape that arrives within an unfinished sequence of UTF-8 breaks it: one
///   [`Truncated`](crate::Utf8ErrorKind::Truncated) error, at once; then the escape is what it is.
/// - `ESC`, or `ESC %`, followed by anything else is text as it came, and so is what follows; if that
///   is another `ESC`, it may begin a switch. `ESC % 8`, an old form of `ESC % G`, is text, too.
/// - At the end, an unfinished sequence is an error, and an unfinished escape is text.
///
/// Between calls it holds three bytes at the most: the beginning of a sequence, or of an escape that
/// may be a switch. `push(b"")` yields nothing and changes nothing. After an error and after
/// [`finish`](Self::finish) decoding goes on, in the same coding system, with offsets that go on.
///
/// # Examples
///
/// ```
/// use utf8_codec::terminal::TerminalDecoder;
///
/// let mut decoder = TerminalDecoder::new();
/// let mut text = String::new();
/// for chunk in [&b"caf\xE9, \x1B"[..], b"%Gcaf\xC3", b"\xA9\x1B%", b"@, caf\xE9"] {
///     decoder.push(chunk).for_each(|piece| text.push_str(piece.unwrap()));
/// }
/// assert_eq!(decoder.finish(), None);
/// assert_eq!(text, "café, café, café");
/// ```
#[derive(Clone, Debug)]
pub struct TerminalDecoder {
    /// What is UTF-8 goes through it; the position counts everything but a held escape.
    decoder: Utf8Decoder,
    system: CodingSystem,
    escape: Escape,
}

/// How a terminal's bytes are to be read: the "coding system" that an escape of ISO 2022 designates.
///
/// # Examples
///
/// ```
/// use utf8_codec::terminal::{CodingSystem, TerminalDecoder};
///
/// let mut decoder = TerminalDecoder::new();
/// decoder.push(b"\x1B%G").for_each(drop);
/// assert_eq!(decoder.coding_system(), CodingSystem::Utf8);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CodingSystem {
    /// ISO 8859-1: a byte is a character.
    #[default]
    Latin1,
    /// UTF-8.
    Utf8,
}

/// How much of an escape has been seen and is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    None,
    /// `ESC`
    Begun,
    /// `ESC %`
    Percent,
}

impl Escape {
    const fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Begun => "\x1B",
            Self::Percent => "\x1B%",
        }
    }

    /// Gives up what is held: it is text.
    fn take(&mut self) -> &'static str {
        let held = self.as_str();
        *self = Self::None;
        held
    }
}

impl TerminalDecoder {
    /// Creates a decoder that begins in Latin-1.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::terminal::TerminalDecoder;
    ///
    /// assert_eq!(TerminalDecoder::new().push(b"\xDF").next(), Some(Ok("ß")));
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::in_coding_system(CodingSystem::Latin1)
    }

    /// Creates a decoder that begins in `system`: most terminals of today begin in UTF-8.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::terminal::{CodingSystem, TerminalDecoder};
    ///
    /// let mut decoder = TerminalDecoder::in_coding_system(CodingSystem::Utf8);
    /// assert_eq!(decoder.push("ß".as_bytes()).next(), Some(Ok("ß")));
    /// ```
    #[must_use]
    pub fn in_coding_system(system: CodingSystem) -> Self {
        Self { decoder: Utf8Decoder::new(), system, escape: Escape::None }
    }

    /// Decodes the next chunk of the stream: text and errors, in order.
    ///
    /// The iterator does the work as it is asked; what it has not reached has not been consumed
    /// ([`TerminalPieces::rest`]). Run to its end, everything that the bytes so far determine has come
    /// out. Nothing is copied; outside of UTF-8 a character above 7F is a piece of its own.
    ///
    /// # Errors
    ///
    /// Inside UTF-8, each ill-formed part is an `Err` in its place.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8ErrorKind;
    /// use utf8_codec::terminal::{CodingSystem, TerminalDecoder};
    ///
    /// let mut decoder = TerminalDecoder::in_coding_system(CodingSystem::Utf8);
    /// let mut pieces = decoder.push(b"5 \xE2\x82\x1B%@\xA4");
    /// assert_eq!(pieces.next(), Some(Ok("5 ")));
    /// assert_eq!(pieces.next().unwrap().unwrap_err().kind(), Utf8ErrorKind::Truncated);
    /// assert_eq!(pieces.next(), Some(Ok("¤")));
    /// ```
    pub fn push<'d, 'c: 'd>(&'d mut self, chunk: &'c [u8]) -> TerminalPieces<'d, 'c> {
        let Self { decoder, system, escape } = self;
        TerminalPieces { utf8: decoder.push(b""), system, escape, chunk, input: chunk }
    }

    /// Ends the stream: what is held is an error or text. A second call gives `None`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8ErrorKind;
    /// use utf8_codec::terminal::{CodingSystem, TerminalDecoder};
    ///
    /// let mut decoder = TerminalDecoder::in_coding_system(CodingSystem::Utf8);
    /// decoder.push(b"\xE2\x82").for_each(drop);
    /// let error = decoder.finish().unwrap().unwrap_err();
    /// assert_eq!(error.kind(), Utf8ErrorKind::Incomplete);
    ///
    /// decoder.push(b"\x1B").for_each(drop); // the escape key, perhaps
    /// assert_eq!(decoder.finish(), Some(Ok("\x1B")));
    /// assert_eq!(decoder.finish(), None);
    /// ```
    pub fn finish(&mut self) -> Option<Result<&'static str, Utf8Error>> {
        let held = self.escape.take();
        if !held.is_empty() {
            self.decoder.push(b"").pass(held.len());
            return Some(Ok(held));
        }
        self.decoder.finish().err().map(Err)
    }

    /// Starts a new stream in `system`: offset 0, nothing held.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::terminal::{CodingSystem, TerminalDecoder};
    ///
    /// let mut decoder = TerminalDecoder::new();
    /// decoder.push(b"\x1B%G\xC3").for_each(drop);
    /// decoder.reset(CodingSystem::Latin1);
    /// assert_eq!((decoder.position(), decoder.coding_system()), (0, CodingSystem::Latin1));
    /// assert_eq!(decoder.finish(), None);
    /// ```
    pub fn reset(&mut self, system: CodingSystem) {
        self.decoder.reset();
        self.system = system;
        self.escape = Escape::None;
    }

    /// Returns how the bytes that come are read.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::terminal::{CodingSystem, TerminalDecoder};
    ///
    /// let mut decoder = TerminalDecoder::in_coding_system(CodingSystem::Utf8);
    /// decoder.push(b"\x1B%").for_each(drop);
    /// assert_eq!(decoder.coding_system(), CodingSystem::Utf8); // as long as the escape is not finished
    /// decoder.push(b"@").for_each(drop);
    /// assert_eq!(decoder.coding_system(), CodingSystem::Latin1);
    /// ```
    #[must_use]
    pub fn coding_system(&self) -> CodingSystem {
        self.system
    }

    /// Returns how many bytes of the stream have been consumed, those held and the switches included.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut decoder = utf8_codec::terminal::TerminalDecoder::new();
    /// decoder.push(b"\x1B%G\xC3").for_each(drop);
    /// assert_eq!(decoder.position(), 4);
    /// ```
    #[must_use]
    pub fn position(&self) -> u64 {
        self.decoder.position() + self.escape.as_str().len() as u64
    }

    /// Returns how many errors this stream has had so far.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut decoder = utf8_codec::terminal::TerminalDecoder::new();
    /// decoder.push(b"\xFF\x1B%G\xFF").for_each(drop);
    /// assert_eq!(decoder.error_count(), 1); // only inside UTF-8
    /// ```
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.decoder.error_count()
    }
}

impl Default for TerminalDecoder {
    fn default() -> Self {
        Self::new()
    }
}

/// The text and the errors of one chunk, in order; see [`TerminalDecoder::push`].
///
/// # Examples
///
/// ```
/// use utf8_codec::terminal::TerminalDecoder;
///
/// let mut decoder = TerminalDecoder::new();
/// let mut pieces = decoder.push(b"ab\x1B%G\xFFcd");
/// assert_eq!(pieces.next(), Some(Ok("ab")));
/// assert!(pieces.next().unwrap().is_err());
/// assert_eq!(pieces.rest(), b"cd");
/// assert_eq!(pieces.next(), Some(Ok("cd")));
/// assert_eq!(pieces.next(), None);
/// ```
#[derive(Debug)]
#[must_use = "bytes are consumed as the iterator is asked for pieces"]
pub struct TerminalPieces<'d, 'c> {
    /// What is left of the last stretch of UTF-8.
    utf8: Pieces<'d, 'c>,
    system: &'d mut CodingSystem,
    escape: &'d mut Escape,
    chunk: &'c [u8],
    /// What stands behind that stretch.
    input: &'c [u8],
}

impl<'d, 'c: 'd> TerminalPieces<'d, 'c> {
    /// Returns the bytes of the chunk that have not been consumed, for a caller who breaks off and
    /// pushes them again.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::terminal::TerminalDecoder;
    ///
    /// let mut decoder = TerminalDecoder::new();
    /// let mut pieces = decoder.push(b"\xE9\xE8\x1B%Gtext");
    /// assert_eq!(pieces.next(), Some(Ok("é")));
    /// let rest = pieces.rest();
    /// assert_eq!(rest, b"\xE8\x1B%Gtext");
    /// assert_eq!(decoder.push(rest).next(), Some(Ok("è")));
    /// ```
    pub fn rest(&self) -> &'c [u8] {
        let len = self.utf8.rest().len() + self.input.len();
        &self.chunk[self.chunk.len() - len..]
    }

    /// Takes the first `len` bytes, which are no UTF-8.
    fn take(&mut self, len: usize) -> &'c [u8] {
        let (taken, rest) = self.input.split_at(len);
        self.input = rest;
        self.utf8.pass(len);
        taken
    }

    /// Takes the next byte into the escape that is held, or gives up that escape: then it is text.
    fn go_on_with_escape(&mut self, byte: u8) -> Option<&'static str> {
        *self.escape = match (*self.escape, byte) {
            (Escape::Begun, b'%') => Escape::Percent,
            (Escape::Percent, b'G' | b'@') => {
                *self.system = if byte == b'G' { CodingSystem::Utf8 } else { CodingSystem::Latin1 };
                self.utf8.pass(Escape::Percent.as_str().len() + 1);
                self.input = &self.input[1..];
                *self.escape = Escape::None;
                return None;
            }
            _ => {
                let text = self.escape.take();
                self.utf8.pass(text.len());
                return Some(text);
            }
        };
        self.input = &self.input[1..];
        None
    }
}

impl<'d, 'c: 'd> Iterator for TerminalPieces<'d, 'c> {
    type Item = Result<&'d str, Utf8Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(piece) = self.utf8.next() {
                return Some(piece);
            }
            let &byte = self.input.first()?;
            if *self.escape != Escape::None {
                match self.go_on_with_escape(byte) {
                    Some(text) => return Some(Ok(text)),
                    None => continue,
                }
            }
            if byte == ESC {
                if let Some(error) = self.utf8.break_off(&self.input[..1]) {
                    return Some(Err(error));
                }
                *self.escape = Escape::Begun;
                self.input = &self.input[1..];
                continue;
            }
            let up_to = |end: fn(u8) -> bool| {
                self.input.iter().position(|&byte| end(byte)).unwrap_or(self.input.len())
            };
            match *self.system {
                CodingSystem::Utf8 => {
                    let (stretch, rest) = self.input.split_at(up_to(|byte| byte == ESC));
                    self.utf8.show(stretch);
                    self.input = rest;
                }
                CodingSystem::Latin1 if byte.is_ascii() => {
                    let ascii = self.take(up_to(|byte| byte == ESC || !byte.is_ascii()));
                    return core::str::from_utf8(ascii).ok().map(Ok);
                }
                CodingSystem::Latin1 => {
                    self.take(1);
                    let at = 2 * usize::from(byte - 0x80);
                    return Some(Ok(&LATIN1[at..at + 2]));
                }
            }
        }
    }
}

impl<'d, 'c: 'd> FusedIterator for TerminalPieces<'d, 'c> {}

const ESC: u8 = 0x1B;

/// U+0080 to U+00FF, two bytes each.
static LATIN1: &str = {
    const BYTES: [u8; 256] = {
        let mut bytes = [0; 256];
        let mut at = 0;
        while at < 256 {
            let value = 0x80 + at / 2;
            bytes[at] = 0xC0 | (value >> 6) as u8;
            bytes[at + 1] = 0x80 | (value & 0x3F) as u8;
            at += 2;
        }
        bytes
    };
    match core::str::from_utf8(&BYTES) {
        Ok(text) => text,
        Err(_) => panic!("two bytes of UTF-8 each"),
    }
};
