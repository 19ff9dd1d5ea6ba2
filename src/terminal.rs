//! Decodes the bytes of a terminal, which switches between Latin-1 and UTF-8 by escape sequences.

use core::iter::FusedIterator;

use utf8_simd::text::first_char;

use crate::decoder::{
    ErrorMode, Pieces, Progress, Status, Utf8Decoder, Utf8Error, Utf8Options, progress,
};

/// Decodes the bytes of a terminal, which switches between Latin-1 and UTF-8.
///
/// The decoder recognises two ISO 2022 escape sequences, those of the Linux console (utf-8(7)):
/// `ESC % G` enters UTF-8, `ESC % @` leaves it. It removes them wherever they occur and however
/// they are split, even if they change nothing. A stream starts in Latin-1, or in UTF-8 after
/// [`with_utf8_start`](Self::with_utf8_start). In Latin-1 each byte is the character of ISO 8859-1,
/// and no byte is ill-formed. In UTF-8, ill-formed bytes are errors, as in a [`Utf8Decoder`].
///
/// All other bytes are text, including control characters and other escape sequences:
///
/// - An escape inside an incomplete UTF-8 sequence is an immediate
///   [`Truncated`](crate::Utf8ErrorKind::Truncated) error of that sequence. The escape is then decoded
///   as usual.
/// - `ESC` or `ESC %` followed by another byte is text. If that byte is `ESC`, it can start a switch.
///   `ESC % 8`, an old form of `ESC % G`, is text too.
/// - At the end of the stream, an incomplete sequence is an error and an incomplete escape is text.
///
/// Between calls the decoder holds at most three bytes: the beginning of a sequence, or of an escape
/// that may be a switch. `push(b"")` yields nothing and changes nothing. After an error and after
/// [`finish`](Self::finish) decoding continues in the same encoding, and offsets keep counting.
/// U+FEFF is text.
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
/// assert_eq!(decoder.finish(), Ok(None));
/// assert_eq!(text, "café, café, café");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TerminalDecoder {
    /// Decodes the UTF-8. Its position counts every byte except those of a held escape.
    decoder: Utf8Decoder,
    /// The encoding in which a stream starts.
    initial: TerminalCharset,
    /// The encoding of the next byte.
    charset: TerminalCharset,
    escape: Escape,
}

/// The encoding of a terminal's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TerminalCharset {
    /// ISO 8859-1: each byte is a character.
    Latin1,
    Utf8,
}

/// The part of an escape that is held.
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

    /// Returns the held part, which is text. Nothing is held after it.
    fn take(&mut self) -> &'static str {
        let held = self.as_str();
        *self = Self::None;
        held
    }
}

impl TerminalDecoder {
    /// Creates a decoder that starts in Latin-1.
    pub const fn new() -> Self {
        let charset = TerminalCharset::Latin1;
        Self { decoder: Utf8Decoder::new(), initial: charset, charset, escape: Escape::None }
    }

    /// Starts streams in UTF-8, as most terminals do today. Call it before the first push.
    pub const fn with_utf8_start(self) -> Self {
        Self { initial: TerminalCharset::Utf8, charset: TerminalCharset::Utf8, ..self }
    }

    /// Decodes the next chunk of the stream into text and errors, in order.
    ///
    /// The iterator is lazy: bytes it has not reached are not consumed. If you stop early, push the
    /// bytes from [`position`](Self::position) again to continue. Once exhausted, the iterator has
    /// yielded everything that the bytes so far determine. It copies nothing. In Latin-1, each
    /// character above U+007F is a piece of its own.
    ///
    /// # Errors
    ///
    /// In UTF-8, each ill-formed part is an `Err`. Decoding continues after it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8ErrorKind;
    /// use utf8_codec::terminal::TerminalDecoder;
    ///
    /// let mut decoder = TerminalDecoder::new().with_utf8_start();
    /// let mut pieces = decoder.push(b"5 \xE2\x82\x1B%@\xA4");
    /// assert_eq!(pieces.next(), Some(Ok("5 ")));
    /// assert_eq!(pieces.next().unwrap().unwrap_err().kind(), Utf8ErrorKind::Truncated);
    /// assert_eq!(pieces.next(), Some(Ok("¤")));
    /// ```
    pub fn push<'d, 'c: 'd>(&'d mut self, chunk: &'c [u8]) -> TerminalPieces<'d, 'c> {
        let Self { decoder, charset, escape, .. } = self;
        TerminalPieces { utf8: decoder.push(b""), charset, escape, input: chunk }
    }

    /// Decodes `chunk` and appends the text to `text`. `mode` determines what replaces each
    /// ill-formed part.
    ///
    /// The status is [`Status::Done`], or [`Status::IllFormed`] in [`ErrorMode::Fatal`]. After an error,
    /// push the bytes that have not been read to continue.
    #[cfg(feature = "alloc")]
    pub fn push_to_string(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        text: &mut alloc::string::String,
    ) -> Progress {
        text.reserve(chunk.len());
        let (start, before) = (self.position(), text.len());
        let appended = self.push(chunk).try_for_each(|piece| {
            match piece {
                Ok(piece) => text.push_str(piece),
                Err(error) => text.push_str(&mode.repair(&error, Utf8Options::new()).ok_or(error)?),
            }
            Ok(())
        });
        let status = appended.map_or_else(Status::IllFormed, |()| Status::Done);
        let used = (self.position() - start) as usize;
        progress(used, self.incomplete(), text.len() - before, status)
    }

    /// Ends the stream. A held escape is text, and a held beginning of a sequence is an error.
    ///
    /// Further calls return `Ok(None)`.
    ///
    /// # Errors
    ///
    /// [`Incomplete`](crate::Utf8ErrorKind::Incomplete) for a held beginning of a sequence.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8ErrorKind;
    /// use utf8_codec::terminal::TerminalDecoder;
    ///
    /// let mut decoder = TerminalDecoder::new().with_utf8_start();
    /// decoder.push(b"\xE2\x82").for_each(drop);
    /// let error = decoder.finish().unwrap_err();
    /// assert_eq!(error.kind(), Utf8ErrorKind::Incomplete);
    ///
    /// decoder.push(b"\x1B").for_each(drop); // possibly the escape key
    /// assert_eq!(decoder.finish(), Ok(Some("\x1B")));
    /// assert_eq!(decoder.finish(), Ok(None));
    /// ```
    pub fn finish(&mut self) -> Result<Option<&'static str>, Utf8Error> {
        let held = self.escape.take();
        if !held.is_empty() {
            self.decoder.push(b"").pass(held.len());
            return Ok(Some(held));
        }
        self.decoder.finish().map(|()| None)
    }

    /// Ends the stream and appends its last text to `text`.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], the same as [`finish`](Self::finish).
    #[cfg(feature = "alloc")]
    pub fn finish_to_string(
        &mut self,
        mode: ErrorMode,
        text: &mut alloc::string::String,
    ) -> Result<(), Utf8Error> {
        loop {
            match self.finish() {
                Ok(None) => return Ok(()),
                Ok(Some(held)) => text.push_str(held),
                Err(error) => text.push_str(&mode.repair(&error, Utf8Options::new()).ok_or(error)?),
            }
        }
    }

    /// Starts a new stream with the same settings: offset 0, nothing held, no error counted, in the
    /// initial encoding.
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.charset = self.initial;
        self.escape = Escape::None;
    }

    /// Returns whether the next byte is decoded as UTF-8. If not, it is decoded as Latin-1.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::terminal::TerminalDecoder;
    ///
    /// let mut decoder = TerminalDecoder::new().with_utf8_start();
    /// decoder.push(b"\x1B%").for_each(drop);
    /// assert!(decoder.is_utf8()); // until the escape is complete
    /// decoder.push(b"@").for_each(drop);
    /// assert!(!decoder.is_utf8());
    /// ```
    pub fn is_utf8(&self) -> bool {
        self.charset == TerminalCharset::Utf8
    }

    /// Returns the number of bytes of the stream consumed, including held bytes and switches.
    pub fn position(&self) -> u64 {
        self.decoder.position() + self.escape.as_str().len() as u64
    }

    /// Returns the held bytes, at most three: the beginning of a sequence or of an escape.
    pub fn incomplete(&self) -> &[u8] {
        match self.escape {
            Escape::None => self.decoder.incomplete(),
            escape => escape.as_str().as_bytes(),
        }
    }

    /// Returns the number of errors in this stream so far.
    pub fn error_count(&self) -> u64 {
        self.decoder.error_count()
    }

    /// Returns the first error of this stream.
    pub fn first_error(&self) -> Option<Utf8Error> {
        self.decoder.first_error()
    }
}

impl Default for TerminalDecoder {
    fn default() -> Self {
        Self::new()
    }
}

/// The text and the errors of one chunk, in order; see [`TerminalDecoder::push`].
#[derive(Debug)]
#[must_use = "iterators are lazy: bytes are consumed as pieces are taken"]
pub struct TerminalPieces<'d, 'c> {
    /// The rest of the current stretch of UTF-8.
    utf8: Pieces<'d, 'c>,
    charset: &'d mut TerminalCharset,
    escape: &'d mut Escape,
    /// The bytes after that stretch.
    input: &'c [u8],
}

impl<'d, 'c: 'd> TerminalPieces<'d, 'c> {
    /// Consumes the first `len` bytes, which are not UTF-8.
    fn take(&mut self, len: usize) -> &'c [u8] {
        let (taken, rest) = self.input.split_at(len);
        self.input = rest;
        self.utf8.pass(len);
        taken
    }

    /// Adds `byte`, the next one, to the held escape. If it cannot continue the escape, returns the held
    /// part as text.
    fn continue_escape(&mut self, byte: u8) -> Option<&'static str> {
        match (*self.escape, byte) {
            (Escape::Begun, b'%') => *self.escape = Escape::Percent,
            (Escape::Percent, b'G' | b'@') => {
                *self.charset =
                    if byte == b'G' { TerminalCharset::Utf8 } else { TerminalCharset::Latin1 };
                self.utf8.pass(self.escape.take().len() + 1);
            }
            _ => {
                let text = self.escape.take();
                self.utf8.pass(text.len());
                return Some(text);
            }
        }
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
                match self.continue_escape(byte) {
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
            match *self.charset {
                TerminalCharset::Utf8 => {
                    let (stretch, rest) = self.input.split_at(up_to(|byte| byte == ESC));
                    self.utf8.show(stretch);
                    self.input = rest;
                }
                TerminalCharset::Latin1 if byte.is_ascii() => {
                    let ascii = self.take(up_to(|byte| byte == ESC || !byte.is_ascii()));
                    return core::str::from_utf8(ascii).ok().map(Ok);
                }
                TerminalCharset::Latin1 => {
                    self.take(1);
                    return first_char(&LATIN1[usize::from(byte - 0x80)]).map(Ok);
                }
            }
        }
    }
}

impl<'d, 'c: 'd> FusedIterator for TerminalPieces<'d, 'c> {}

const ESC: u8 = 0x1B;

/// U+0080 to U+00FF, each in the first two bytes.
static LATIN1: [[u8; 4]; 128] = {
    let mut chars = [[0; 4]; 128];
    let mut at = 0;
    while at < 128 {
        ((0x80 + at) as u8 as char).encode_utf8(&mut chars[at]);
        at += 1;
    }
    chars
};
