use alloc::string::String;
use alloc::vec::Vec;

use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::options::Utf8Options;
use crate::fallback::switch::Found;
use crate::fallback::{Fallback, FallbackReport, Switch};
use crate::relatives::Follow;

/// Turns a stream of bytes, in chunks cut anywhere, into text, and reads in a legacy encoding what is
/// not UTF-8.
///
/// The text is that of the whole stream, whatever the chunks. What the bytes so far determine is out
/// after each chunk. Between calls it holds what they do not determine: see the table of
/// [the module](crate::fallback) for how much that can be. `push(b"")` changes nothing.
/// [`finish`](Self::finish) decides what is held. After an error, and after `finish`, decoding goes on
/// with offsets that go on, after `finish` with a new line; a stream that has turned to its legacy
/// encoding for good stays there until [`reset`](Self::reset).
///
/// # Examples
///
/// ```
/// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
///
/// let mut decoder = FallbackDecoder::new(Fallback::line(LegacyEncoding::windows_1252()));
/// let mut text = String::new();
/// decoder.push(b"10 \xE2\x82", &mut text).unwrap();
/// assert_eq!(text, "10 ");
/// decoder.push(b"\xAC\n10 \x80", &mut text).unwrap();
/// assert_eq!(text, "10 €\n10 €");
/// ```
#[derive(Clone, Debug)]
pub struct FallbackDecoder {
    pub(crate) decoder: Utf8Decoder,
    pub(crate) mode: ErrorMode,
    pub(crate) switch: Switch,
    held: Held,
}

/// Bytes that are undecided, or decided and not handed out, because of an error before them.
#[derive(Clone, Debug, Default)]
struct Held {
    bytes: Vec<u8>,
    /// So many of them are done with.
    done: usize,
    /// Whether the others are known to say nothing before more comes.
    wait: Wait,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wait {
    #[default]
    No,
    ForMore,
}

impl FallbackDecoder {
    /// Creates a decoder with the default options, in [`ErrorMode::Fatal`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::part(LegacyEncoding::latin1()));
    /// let mut text = String::new();
    /// decoder.push(b"caf\xE9!", &mut text).unwrap();
    /// assert_eq!(text, "café!");
    /// ```
    #[must_use]
    pub fn new(fallback: Fallback) -> Self {
        Self::continuing(Utf8Decoder::new(), fallback)
    }

    /// Goes on where `decoder` is.
    pub(crate) fn continuing(mut decoder: Utf8Decoder, fallback: Fallback) -> Self {
        let held = Held { bytes: decoder.take_held().as_bytes().to_vec(), ..Held::default() };
        Self { decoder, mode: ErrorMode::Fatal, switch: Switch::new(fallback), held }
    }

    /// Sets how streams begin and what they may contain: for before the first byte, as it starts a
    /// new stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    /// use utf8_codec::{BomPolicy, Utf8Options};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::part(LegacyEncoding::latin1()))
    ///     .with_options(Utf8Options::new().with_bom(BomPolicy::Strip));
    /// let mut text = String::new();
    /// decoder.push(b"\xEF\xBB\xBFcaf\xE9", &mut text).unwrap();
    /// decoder.finish(&mut text).unwrap();
    /// assert_eq!(text, "café");
    /// ```
    #[must_use]
    pub fn with_options(self, options: Utf8Options) -> Self {
        let decoder = Utf8Decoder::new().with_options(options);
        Self { mode: self.mode, ..Self::continuing(decoder, self.switch.fallback()) }
    }

    /// Sets what becomes of what the options refuse. (What is ill-formed falls back.)
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    /// use utf8_codec::{ErrorMode, Strictness, Utf8Options};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::rest(LegacyEncoding::latin1()))
    ///     .with_options(Utf8Options::new().with_strictness(Strictness::new().refuse_nul()))
    ///     .with_error_mode(ErrorMode::Escape);
    /// let mut text = String::new();
    /// decoder.push(b"\0\xE9\0", &mut text).unwrap();
    /// assert_eq!(text, r"\x00é\x00");
    /// ```
    #[must_use]
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    /// Decodes the next chunk of the stream and appends its text to `text`.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], the first thing that the options refuse. The text before it has been
    /// appended; the bytes behind it are kept and come first in the next call, which may well be
    /// `push(b"", text)`. Call until `Ok` before the next chunk, or chunks pile up. With the default
    /// options there are no errors.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    /// use utf8_codec::{Strictness, Utf8Options};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::rest(LegacyEncoding::latin1()))
    ///     .with_options(Utf8Options::new().with_strictness(Strictness::new().refuse_nul()));
    /// let mut text = String::new();
    /// let error = decoder.push(b"ab\0c\xE9!", &mut text).unwrap_err();
    /// assert_eq!((&*text, error.valid_up_to()), ("ab", 2));
    /// decoder.push(b"", &mut text).unwrap();
    /// assert_eq!(text, "abcé!");
    /// ```
    pub fn push(&mut self, chunk: &[u8], text: &mut String) -> Result<(), Utf8Error> {
        let mut chunk = chunk;
        loop {
            let result = if self.held.is_empty() {
                let found = self.switch.step(&mut self.decoder, chunk, Follow::More, text);
                let (used, result) = take(found, self.mode, text);
                if used == 0 && result == Ok(Pace::Waits) {
                    self.held.hold(chunk, Wait::ForMore);
                    return Ok(());
                }
                chunk = &chunk[used..];
                result
            } else {
                let (used, result) = self.step_held(chunk, text);
                chunk = &chunk[used..];
                result
            };
            match result {
                Ok(Pace::GoesOn) => {}
                Ok(Pace::Waits) => return Ok(()),
                Err(error) => {
                    self.held.hold(chunk, Wait::No);
                    return Err(error);
                }
            }
        }
    }

    /// Ends the stream: appends the text of what is held.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push); and [`MissingBom`](crate::Utf8ErrorKind::MissingBom) where a required
    /// signature is. Call until `Ok`. Then calling again is harmless.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::part(LegacyEncoding::windows_1252()));
    /// let mut text = String::new();
    /// decoder.push(b"10 \xE2\x82", &mut text).unwrap();
    /// decoder.finish(&mut text).unwrap();
    /// assert_eq!(text, "10 â‚");
    /// ```
    pub fn finish(&mut self, text: &mut String) -> Result<(), Utf8Error> {
        while self.step_end(text)? == Pace::GoesOn {}
        Ok(())
    }

    /// Starts a new stream with the same settings: offset 0, UTF-8, nothing held, a signature looked
    /// for, nothing reported.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::rest(LegacyEncoding::latin1()));
    /// decoder.push(b"\xE9", &mut String::new()).unwrap();
    /// decoder.finish(&mut String::new()).unwrap();
    /// decoder.reset();
    /// let mut text = String::new();
    /// decoder.push(b"\xC3\xA9", &mut text).unwrap();
    /// assert_eq!((&*text, decoder.report().runs), ("é", 0));
    /// ```
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.switch.reset();
        self.held.clear();
    }

    /// Returns what the fallback has done so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::part(LegacyEncoding::latin1()));
    /// decoder.push(b"\xE9 and \xE8\xE9.", &mut String::new()).unwrap();
    /// assert_eq!((decoder.report().runs, decoder.report().bytes), (2, 3));
    /// ```
    #[must_use]
    pub fn report(&self) -> FallbackReport {
        self.switch.report()
    }

    /// Returns how many bytes of the stream have been consumed, those held included.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::part(LegacyEncoding::latin1()));
    /// decoder.push(b"\xE9 \xC3", &mut String::new()).unwrap();
    /// assert_eq!((decoder.position(), decoder.held()), (3, &b"\xC3"[..]));
    /// ```
    #[must_use]
    pub fn position(&self) -> u64 {
        self.decoder.position() + self.held.rest().len() as u64
    }

    /// Returns the bytes that are held.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::line(LegacyEncoding::latin1()));
    /// decoder.push(b"gr\xC3\xBC\xC3\x9Fe", &mut String::new()).unwrap();
    /// assert_eq!(decoder.held(), b"\xC3\xBC\xC3\x9Fe"); // the line may turn out not to be UTF-8
    /// ```
    #[must_use]
    pub fn held(&self) -> &[u8] {
        self.held.rest()
    }

    /// Whether a signature was removed from the start of this stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    /// use utf8_codec::{BomPolicy, Utf8Options};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::part(LegacyEncoding::latin1()))
    ///     .with_options(Utf8Options::new().with_bom(BomPolicy::Strip));
    /// decoder.push(b"\xEF\xBB\xBF", &mut String::new()).unwrap();
    /// assert!(decoder.bom_seen());
    /// ```
    #[must_use]
    pub fn bom_seen(&self) -> bool {
        self.decoder.bom_seen()
    }

    /// Returns how many errors there have been: ill-formed parts, where each was decided on, else
    /// the one by which a line or the rest was, and what the options refuse.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::line(LegacyEncoding::latin1()));
    /// decoder.push(b"\xE9\xE9\n\xE9", &mut String::new()).unwrap();
    /// decoder.finish(&mut String::new()).unwrap();
    /// assert_eq!(decoder.error_count(), 2);
    /// ```
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.decoder.error_count()
    }

    /// Returns the first of these errors.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::new(Fallback::line(LegacyEncoding::latin1()));
    /// decoder.push(b"\xC3\xA9 \xE9 \xE8\n", &mut String::new()).unwrap();
    /// assert_eq!(decoder.first_error().unwrap().valid_up_to(), 3); // by which the line was decided
    /// assert_eq!(decoder.report().first, Some(0)); // from its first byte on
    /// ```
    #[must_use]
    pub fn first_error(&self) -> Option<Utf8Error> {
        self.decoder.first_error()
    }

    /// Whether nothing is held.
    #[cfg(feature = "stream")]
    pub(crate) fn is_complete(&self) -> bool {
        self.held.is_empty()
    }

    /// Holds what waits for more.
    #[cfg(feature = "stream")]
    pub(crate) fn hold(&mut self, bytes: &[u8]) {
        self.held.hold(bytes, Wait::ForMore);
    }

    /// Takes a step into what is held, at the end: appends text, or returns an error.
    pub(crate) fn step_end(&mut self, text: &mut String) -> Result<Pace, Utf8Error> {
        let held = self.held.rest();
        let found = self.switch.step(&mut self.decoder, held, Follow::End, text);
        let (used, pace) = take(found, self.mode, text);
        self.held.take(used);
        if pace == Ok(Pace::Waits) {
            self.held.clear();
            self.switch.finish();
        }
        pace
    }

    /// Takes a step into what is held and, where that does not tell, what `chunk` begins with.
    /// Returns how many bytes of `chunk` are done with, or held.
    pub(crate) fn step_held(
        &mut self,
        chunk: &[u8],
        text: &mut String,
    ) -> (usize, Result<Pace, Utf8Error>) {
        loop {
            let own = self.held.rest().len();
            let lent = match self.held.wait {
                Wait::No => 0,
                Wait::ForMore if chunk.is_empty() => return (0, Ok(Pace::Waits)),
                Wait::ForMore => chunk.len().min(own.clamp(LEAST_LENT, MOST_LENT)),
            };
            self.held.append(&chunk[..lent]);
            let held = self.held.rest();
            let found = self.switch.step(&mut self.decoder, held, Follow::More, text);
            let (used, result) = take(found, self.mode, text);
            if used == 0 && result == Ok(Pace::Waits) {
                self.held.wait = Wait::ForMore;
                if lent > 0 {
                    return (lent, Ok(Pace::GoesOn));
                }
                continue;
            }
            self.held.wait = Wait::No;
            // What is lent is given back: it may be decoded where it is.
            self.held.bytes.truncate(self.held.bytes.len() - lent);
            self.held.take(used.min(own));
            return (used.saturating_sub(own), result);
        }
    }
}

/// How many bytes of a chunk are put behind what is held, to be looked at together.
const LEAST_LENT: usize = 64;
const MOST_LENT: usize = 4096;

/// Whether there may be more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    GoesOn,
    Waits,
}

/// Appends what has been found, and says how many bytes that is. The legacy text has been appended.
fn take(found: Found<'_>, mode: ErrorMode, text: &mut String) -> (usize, Result<Pace, Utf8Error>) {
    match found {
        Found::Text(piece) => {
            text.push_str(piece);
            (piece.len(), Ok(Pace::GoesOn))
        }
        Found::Legacy(len) | Found::Silent(len) => (len, Ok(Pace::GoesOn)),
        Found::Error(error) => {
            let repair = mode.repair(&error);
            text.push_str(repair.as_deref().unwrap_or_default());
            (error.bytes().len(), repair.map(|_| Pace::GoesOn).ok_or(error))
        }
        Found::Hold => (0, Ok(Pace::Waits)),
    }
}

impl Held {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.done..]
    }

    fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    fn hold(&mut self, bytes: &[u8], wait: Wait) {
        self.append(bytes);
        self.wait = wait;
    }

    fn append(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.bytes.drain(..self.done);
            self.done = 0;
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn take(&mut self, len: usize) {
        self.done += len;
        if self.is_empty() {
            self.clear();
        } else if self.bytes.capacity() > ROOM && self.rest().len() <= ROOM / 2 {
            self.bytes = self.rest().to_vec();
            self.done = 0;
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(ROOM);
        self.done = 0;
        self.wait = Wait::No;
    }
}

/// More room than this, in bytes, is given back once there is little to hold.
const ROOM: usize = 16 * 1024;
