//! Decodes chunks cut anywhere into text, and reports each error.

pub(crate) mod buffer;
pub(crate) mod destination;
#[cfg(any(feature = "codec", feature = "http-body", feature = "stream"))]
pub(crate) mod item;
#[cfg(feature = "alloc")]
pub(crate) mod lossy;
#[cfg(feature = "bytes")]
pub(crate) mod masked;
#[cfg(feature = "bytes")]
pub(crate) mod owned;
#[cfg(feature = "alloc")]
#[allow(unsafe_code)]
pub(crate) mod repair;
#[cfg(feature = "codec")]
pub(crate) mod take;

use core::iter::FusedIterator;

pub use buffer::{Progress, Status};
#[cfg(feature = "bytes")]
pub use owned::OwnedPieces;

#[cfg(feature = "stream")]
use crate::core::bom::BOM;
use crate::core::carry::{Carry, Resumed};
use crate::core::error::Utf8Error;
use crate::core::options::Utf8Options;
use crate::core::scanner::{Scanner, Step};
use crate::core::tally::Tally;
use crate::unchecked::{Ending, first_char};

/// Turns a stream of bytes, in chunks cut anywhere, into text, and reports what is ill-formed.
///
/// It always reports and knows no error mode of its own: [`push`](Self::push) gives text and errors
/// in the order of the stream. The text is that of the chunk, borrowed; a character that was cut is
/// lent from the decoder.
///
/// Between calls it holds at most three bytes, the beginning of one sequence or of a signature.
/// `push(b"")` yields nothing and changes nothing. [`finish`](Self::finish) turns an incomplete tail
/// into one error. After an error, and after `finish`, decoding goes on with offsets that go on;
/// a signature is looked for again only after [`reset`](Self::reset).
///
/// # Examples
///
/// ```
/// use utf8_codec::Utf8Decoder;
///
/// let mut decoder = Utf8Decoder::new();
/// let mut text = String::new();
/// for chunk in [&b"Gr\xC3"[..], b"", b"\xBC\xC3", b"\x9Fe \xF0\x9F\x91", b"\x8B"] {
///     for piece in decoder.push(chunk) {
///         text.push_str(piece.unwrap());
///     }
/// }
/// decoder.finish().unwrap();
/// assert_eq!(text, "Grüße 👋");
/// ```
#[derive(Clone, Debug)]
pub struct Utf8Decoder {
    pub(crate) scanner: Scanner,
    carry: Carry,
    /// The character that was cut, while a piece of it is lent out.
    lent: [u8; 4],
    pub(crate) tally: Tally,
}

impl Utf8Decoder {
    /// Creates a decoder with the default options.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut decoder = utf8_codec::Utf8Decoder::new();
    /// assert_eq!(decoder.push("žluťoučký".as_bytes()).next(), Some(Ok("žluťoučký")));
    /// ```
    pub fn new() -> Self {
        Self {
            scanner: Scanner::new(Utf8Options::new()),
            carry: Carry::new(),
            lent: [0; 4],
            tally: Tally::new(),
        }
    }

    /// Sets the options, before the first push.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{BomPolicy, Utf8Decoder, Utf8Options};
    ///
    /// let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    /// let mut decoder = Utf8Decoder::new().with_options(options);
    /// assert_eq!(decoder.push("\u{FEFF}text".as_bytes()).next(), Some(Ok("text")));
    /// ```
    #[must_use]
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self { scanner: Scanner::new(options), ..Self::new() }
    }

    /// Decodes the next chunk of the stream: text and errors, in order.
    ///
    /// The iterator does the work as it is asked; what it has not reached has not been consumed
    /// ([`Pieces::rest`]). Run to its end, everything that the bytes so far determine has come out.
    /// Costs one pass over `chunk`, and copies nothing. At the end of the stream, call
    /// [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// Each ill-formed part is an `Err` in its place. Decoding goes on behind it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Decoder;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut seen = Vec::new();
    /// for piece in decoder.push(b"good\xFFmore\xE2\x82") {
    ///     match piece {
    ///         Ok(text) => seen.push(text.to_owned()),
    ///         Err(error) => seen.push(error.to_string()),
    ///     }
    /// }
    /// assert_eq!(seen, ["good", "ill-formed utf-8 at byte 4: invalid byte (ff)", "more"]);
    /// assert_eq!(decoder.push(b"\xAC").next(), Some(Ok("€")));
    /// ```
    pub fn push<'d, 'c: 'd>(&'d mut self, chunk: &'c [u8]) -> Pieces<'d, 'c> {
        let Self { scanner, carry, lent, tally } = self;
        Pieces { scanner, carry, lent: Some(lent), tally, input: chunk }
    }

    /// Ends the stream.
    ///
    /// A second call is harmless and, once what is wrong has been said, `Ok`. There are two errors
    /// to be said only if the end cut a required signature short: its absence, then the incomplete
    /// sequence. With [`BomPolicy::Require`](crate::BomPolicy::Require), call until `Ok`.
    ///
    /// # Errors
    ///
    /// [`Incomplete`](crate::Utf8ErrorKind::Incomplete) where the stream ends inside a sequence,
    /// [`MissingBom`](crate::Utf8ErrorKind::MissingBom) where it ends before a required signature.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Decoder;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// assert_eq!(decoder.push(b"\xE2\x82").count(), 0);
    /// let error = decoder.finish().unwrap_err();
    /// assert_eq!(error.to_string(), "ill-formed utf-8 at byte 0: incomplete (e2 82, then the end)");
    /// assert_eq!(decoder.finish(), Ok(()));
    /// ```
    pub fn finish(&mut self) -> Result<(), Utf8Error> {
        match self.carry.finish(&mut self.scanner) {
            Some(error) => Err(self.tally.note(error)),
            None => Ok(()),
        }
    }

    /// Starts a new stream with the same options: offset 0, nothing held, no error counted, a
    /// signature looked for.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Decoder;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// assert_eq!(decoder.push(b"half a \xC3").count(), 1);
    /// decoder.reset();
    /// assert_eq!(decoder.position(), 0);
    /// assert_eq!(decoder.push(b"new").next(), Some(Ok("new")));
    /// ```
    pub fn reset(&mut self) {
        self.scanner.reset();
        self.carry.clear();
        self.tally = Tally::default();
    }

    /// Returns how many bytes of the stream have been consumed, those held included.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut decoder = utf8_codec::Utf8Decoder::new();
    /// assert_eq!(decoder.push(b"abc\xE2").count(), 1);
    /// assert_eq!(decoder.position(), 4);
    /// ```
    pub fn position(&self) -> u64 {
        self.scanner.position() + self.carry.len() as u64
    }

    /// Returns the bytes that are held: the beginning of a sequence or of a signature, at most
    /// three bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut decoder = utf8_codec::Utf8Decoder::new();
    /// assert_eq!(decoder.push(b"abc\xE2").count(), 1);
    /// assert_eq!(decoder.incomplete(), b"\xE2");
    /// ```
    pub fn incomplete(&self) -> &[u8] {
        self.carry.as_bytes()
    }

    /// Whether a signature was removed from the start of this stream.
    ///
    /// Always false with [`BomPolicy::Keep`](crate::BomPolicy::Keep) and
    /// [`BomPolicy::Forbid`](crate::BomPolicy::Forbid).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{BomPolicy, Utf8Decoder, Utf8Options};
    ///
    /// let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    /// let mut decoder = Utf8Decoder::new().with_options(options);
    /// assert_eq!(decoder.push(b"\xEF\xBB\xBF").count(), 0);
    /// assert!(decoder.bom_seen());
    /// ```
    pub fn bom_seen(&self) -> bool {
        self.scanner.bom_seen()
    }

    /// Returns how many continuation bytes were skipped at a mid-stream start, at most three.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{Utf8Decoder, Utf8Options};
    ///
    /// let options = Utf8Options::new().with_mid_stream_start();
    /// let mut decoder = Utf8Decoder::new().with_options(options);
    /// assert_eq!(decoder.push(b"\x80tail").next(), Some(Ok("tail")));
    /// assert_eq!(decoder.skipped(), 1);
    /// ```
    pub fn skipped(&self) -> usize {
        self.scanner.skipped()
    }

    /// How many bytes were removed from the start of the stream: a signature, and what was skipped.
    #[cfg(feature = "stream")]
    pub(crate) fn removed(&self) -> usize {
        let signature = if self.bom_seen() { BOM.len() } else { 0 };
        signature + self.skipped()
    }

    /// Returns how many errors this stream has had so far: ill-formed parts (maximal subparts) and
    /// what the options refuse.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut decoder = utf8_codec::Utf8Decoder::new();
    /// decoder.push(b"\xFF\xC0\x80").for_each(drop);
    /// assert_eq!(decoder.error_count(), 3);
    /// ```
    pub fn error_count(&self) -> u64 {
        self.tally.count()
    }

    /// Returns the first error of this stream.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut decoder = utf8_codec::Utf8Decoder::new();
    /// decoder.push(b"ab\xFFcd\xFF").for_each(drop);
    /// assert_eq!(decoder.first_error().unwrap().valid_up_to(), 2);
    /// ```
    pub fn first_error(&self) -> Option<Utf8Error> {
        self.tally.first()
    }

    /// Completes what is held with the first bytes of `input`, neither of them empty; see
    /// [`Carry::resume`].
    pub(crate) fn resume(&mut self, input: &[u8]) -> (usize, Resumed) {
        let (used, resumed) = self.carry.resume(&mut self.scanner, input);
        if let Resumed::Error(error) = resumed {
            self.tally.note(error);
        }
        (used, resumed)
    }

    /// Holds `tail`, which the last step answered with [`Step::Hold`].
    pub(crate) fn hold(&mut self, tail: &[u8]) {
        self.carry.hold(tail);
    }

    /// Gives what is held to such a caller as [`step`](Self::step) has.
    #[cfg(feature = "alloc")]
    pub(crate) fn take_held(&mut self) -> alloc::vec::Vec<u8> {
        let held = self.incomplete().to_vec();
        self.carry.clear();
        held
    }

    /// Says what `input`, the bytes at [`position`](Self::position), begins with, and holds nothing
    /// back: for callers that keep the bytes themselves.
    pub(crate) fn step<'i>(&mut self, input: &'i [u8]) -> Step<'i> {
        debug_assert!(self.carry.is_empty());
        let step = self.scanner.step(input);
        if let Step::Error(error) = step {
            self.tally.note(error);
        }
        step
    }

    /// Gives what is held to such a caller.
    #[cfg(all(feature = "codec", feature = "stream"))]
    pub(crate) fn take_incomplete(&mut self) -> Carry {
        core::mem::replace(&mut self.carry, Carry::new())
    }

    /// Ends the stream behind `tail`, which such a caller keeps; see [`Scanner::finish`].
    #[cfg(any(feature = "codec", feature = "stream"))]
    pub(crate) fn finish_behind(&mut self, tail: &[u8]) -> Option<Utf8Error> {
        self.scanner.finish(tail).map(|error| self.tally.note(error))
    }
}

impl Default for Utf8Decoder {
    fn default() -> Self {
        Self::new()
    }
}

/// The text and the errors of one chunk, in order; see [`Utf8Decoder::push`].
///
/// # Examples
///
/// ```
/// use utf8_codec::Utf8Decoder;
///
/// let mut decoder = Utf8Decoder::new();
/// let mut pieces = decoder.push(b"ab\xFFcd");
/// assert_eq!(pieces.next(), Some(Ok("ab")));
/// assert!(pieces.next().unwrap().is_err());
/// assert_eq!(pieces.next(), Some(Ok("cd")));
/// assert_eq!(pieces.next(), None);
/// ```
#[derive(Debug)]
#[must_use = "bytes are consumed as the iterator is asked for pieces"]
pub struct Pieces<'d, 'c> {
    scanner: &'d mut Scanner,
    carry: &'d mut Carry,
    /// Where a character that was cut is lent from. Taken with the character; there is only one
    /// in a chunk, since the carry is filled again by the chunk's last bytes only.
    lent: Option<&'d mut [u8; 4]>,
    tally: &'d mut Tally,
    input: &'c [u8],
}

impl<'c> Pieces<'_, 'c> {
    /// Returns the bytes of the chunk that have not been consumed.
    ///
    /// A caller who breaks off pushes them again, now or later, for decoding to go on there. When
    /// the iterator has returned `None`, they are none.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Decoder;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut pieces = decoder.push(b"HELO\xFFbinary, perhaps");
    /// assert_eq!(pieces.next(), Some(Ok("HELO")));
    /// let rest = pieces.rest();
    /// assert_eq!(rest, b"\xFFbinary, perhaps");
    ///
    /// assert!(decoder.push(rest).next().unwrap().is_err()); // where it had broken off
    /// ```
    pub fn rest(&self) -> &'c [u8] {
        self.input
    }
}

/// For a decoder that leads only parts of its stream through this one.
impl<'c> Pieces<'_, 'c> {
    /// Goes on with `input`, once all that was there before is consumed.
    pub(crate) fn show(&mut self, input: &'c [u8]) {
        debug_assert!(self.input.is_empty());
        self.input = input;
    }

    /// Ends what is held, if there is something: `next` comes behind it, and continues no sequence.
    pub(crate) fn break_off(&mut self, next: &'c [u8]) -> Option<Utf8Error> {
        if self.carry.is_empty() {
            return None;
        }
        let (_, resumed) = self.carry.resume(self.scanner, next);
        match resumed {
            Resumed::Error(error) => Some(self.tally.note(error)),
            Resumed::Nothing | Resumed::Char(_) => None,
        }
    }

    /// Passes over bytes of the stream that are not shown. None are held.
    pub(crate) fn pass(&mut self, bytes: usize) {
        debug_assert!(self.carry.is_empty());
        self.scanner.skip(bytes);
    }
}

impl<'d, 'c: 'd> Iterator for Pieces<'d, 'c> {
    type Item = Result<&'d str, Utf8Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let &first = self.input.first()?;
        if self.carry.is_empty()
            && let Some(error) = self.scanner.take_stray(first)
        {
            self.input = &self.input[1..];
            return Some(Err(self.tally.note(error)));
        }
        self.take_piece()
    }
}

impl<'d, 'c: 'd> Pieces<'d, 'c> {
    #[inline(never)]
    fn take_piece(&mut self) -> Option<Result<&'d str, Utf8Error>> {
        if self.scanner.is_plain() {
            if !self.carry.is_empty() {
                if let Some(text) = self.take_completed() {
                    return Some(Ok(text));
                }
            } else {
                let (text, ending) = self.scanner.step_plain(self.input);
                self.input = &self.input[text.len()..];
                if ending == Ending::End {
                    self.carry.hold(self.input);
                    self.input = &[];
                }
                if !text.is_empty() {
                    return Some(Ok(text));
                }
            }
        } else if self.carry.is_empty()
            && let Some(error) = self.scanner.error_here(self.input)
        {
            self.input = &self.input[error.bytes().len()..];
            return Some(Err(self.tally.note(error)));
        }
        self.take_piece_slowly()
    }

    /// Takes the character whose first bytes are held, if the chunk has the others and they are right.
    #[inline]
    fn take_completed(&mut self) -> Option<&'d str> {
        let (joined, taken) = self.carry.complete(self.scanner, self.input)?;
        self.input = &self.input[taken..];
        let lent = self.lent.take()?;
        *lent = joined;
        first_char(lent)
    }

    #[inline(never)]
    fn take_piece_slowly(&mut self) -> Option<Result<&'d str, Utf8Error>> {
        while !self.input.is_empty() {
            if !self.carry.is_empty() {
                let (consumed, resumed) = self.carry.resume(self.scanner, self.input);
                self.input = &self.input[consumed..];
                match resumed {
                    Resumed::Nothing => continue,
                    Resumed::Char(c) => return Some(Ok(c.encode_utf8(self.lent.take()?))),
                    Resumed::Error(error) => return Some(Err(self.tally.note(error))),
                }
            }
            if let Some(error) = self.scanner.error_here(self.input) {
                self.input = &self.input[error.bytes().len()..];
                return Some(Err(self.tally.note(error)));
            }
            match self.scanner.step(self.input) {
                Step::Text(text) => {
                    self.input = &self.input[text.len()..];
                    return Some(Ok(text));
                }
                Step::Silent(len) => self.input = &self.input[len..],
                Step::Error(error) => {
                    self.input = &self.input[error.bytes().len()..];
                    return Some(Err(self.tally.note(error)));
                }
                Step::Hold => {
                    self.carry.hold(self.input);
                    self.input = &[];
                }
            }
        }
        None
    }
}

impl<'d, 'c: 'd> FusedIterator for Pieces<'d, 'c> {}
