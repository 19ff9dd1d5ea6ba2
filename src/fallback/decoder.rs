//! How are chunks of bytes, not all of them UTF-8, decoded to a `String`?

use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use crate::decoder::{
    AtEnd, ErrorMode, Progress, Status, Utf8Decoder, Utf8Error, Utf8Options, progress,
};
use crate::fallback::LegacyEncoding;
use crate::fallback::state::{Extent, FallbackState, FallbackUses};

/// Decodes a byte stream, chunk by chunk. Bytes that are not UTF-8 are decoded in a legacy
/// encoding.
///
/// A chunk can end anywhere: how the stream is split into chunks never affects the text. After each
/// push, everything that the bytes so far determine has been appended. The rest is held: the table
/// in [the module](crate::fallback) has the limits. An empty chunk changes nothing.
/// [`finish_to_string`](Self::finish_to_string) decodes the held bytes. After an error and after
/// the end of a stream, decoding continues and offsets keep counting. A new line begins after the
/// end. A stream that has fallen back permanently stays in its legacy encoding until
/// [`reset`](Self::reset).
///
/// # Examples
///
/// ```
/// use utf8_codec::ErrorMode;
/// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
///
/// let mut decoder = FallbackDecoder::line(LegacyEncoding::windows_1252());
/// let mut text = String::new();
/// let progress = decoder.push_to_string(b"10 \xE2\x82", ErrorMode::Fatal, &mut text);
/// assert_eq!((&*text, progress.read, progress.held), ("10 ", 5, 2));
/// let _done = decoder.push_to_string(b"\xAC\n10 \x80", ErrorMode::Fatal, &mut text);
/// assert_eq!(text, "10 €\n10 €");
/// ```
///
/// The constructors, compared:
///
/// ```
/// use utf8_codec::ErrorMode;
/// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
///
/// let read = |mut decoder: FallbackDecoder| {
///     let mut text = String::new();
///     let bytes = b"\xC3\xBC, \xFC\n\xC3\xBC\n";
///     let _done = decoder.push_to_string(bytes, ErrorMode::Fatal, &mut text);
///     text
/// };
/// let latin1 = LegacyEncoding::latin1();
/// assert_eq!(read(FallbackDecoder::part(latin1)), "ü, ü\nü\n");
/// assert_eq!(read(FallbackDecoder::line(latin1)), "Ã¼, ü\nü\n");
/// assert_eq!(read(FallbackDecoder::rest(latin1)), "ü, ü\nÃ¼\n");
/// assert_eq!(read(FallbackDecoder::without_bom(latin1)), "Ã¼, ü\nÃ¼\n");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct FallbackDecoder {
    /// Holds no bytes itself.
    pub(super) decoder: Utf8Decoder,
    pub(super) state: FallbackState,
    pub(super) held: HeldBytes,
}

/// Bytes that are undecided, or that follow an error.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldBytes {
    bytes: Vec<u8>,
    /// The number of bytes that have been decoded.
    done: usize,
    /// Whether the remaining bytes are known to need more bytes.
    wait: Wait,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wait {
    #[default]
    No,
    ForMore,
}

impl FallbackDecoder {
    /// Creates a decoder with the default options.
    pub(super) const fn new(encoding: LegacyEncoding, extent: Extent) -> Self {
        let held = HeldBytes { bytes: Vec::new(), done: 0, wait: Wait::No };
        Self { decoder: Utf8Decoder::new(), state: FallbackState::new(encoding, extent), held }
    }

    /// Returns the state of a new stream, for a codec that takes this decoder for its settings.
    pub(crate) fn into_state(mut self) -> FallbackState {
        self.state.reset();
        self.state
    }

    /// Continues from `decoder`, with the settings of this one.
    pub(crate) fn continuing(mut self, mut decoder: Utf8Decoder) -> Self {
        self.reset();
        self.held.bytes = decoder.take_held().as_bytes().to_vec();
        Self { decoder, ..self }
    }

    /// Sets the options. Call it before the first push.
    pub fn with_options(mut self, options: Utf8Options) -> Self {
        self.reset();
        Self { decoder: Utf8Decoder::new().with_options(options), ..self }
    }

    /// Decodes `chunk` and appends the text to `text`. `mode` determines what replaces each error.
    ///
    /// Ill-formed bytes fall back, and are not returned as errors; [`error_count`](Self::error_count) counts them. The options
    /// define errors, so with the default options none is returned. The status is [`Status::Done`], or [`Status::IllFormed`]
    /// in [`ErrorMode::Fatal`]. After an error, push the bytes that have not been read to continue.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::decoder::Status;
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    /// use utf8_codec::{ErrorMode, Utf8Options};
    ///
    /// let mut decoder = FallbackDecoder::rest(LegacyEncoding::latin1())
    ///     .with_options(Utf8Options::new().reject_nul());
    /// let (chunk, mut text) = (b"ab\0c\xE9!", String::new());
    /// let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
    /// assert!(matches!(progress.status, Status::IllFormed(error) if error.valid_up_to() == 2));
    /// assert_eq!((&*text, progress.read), ("ab", 3));
    /// let _done = decoder.push_to_string(&chunk[3..], ErrorMode::Fatal, &mut text);
    /// assert_eq!(text, "abcé!");
    /// let _done = decoder.push_to_string(b"\0", ErrorMode::Escape, &mut text);
    /// assert_eq!(text, r"abcé!\x00");
    /// ```
    pub fn push_to_string(&mut self, chunk: &[u8], mode: ErrorMode, text: &mut String) -> Progress {
        let (before, mut rest) = (text.len(), chunk);
        let status = self
            .append_chunk(&mut rest, mode, text)
            .map_or_else(Status::IllFormed, |()| Status::Done);
        progress(chunk.len() - rest.len(), self.incomplete(), text.len() - before, status)
    }

    /// Like [`push_to_string`](Self::push_to_string). Moves `chunk` past the bytes read.
    fn append_chunk(
        &mut self,
        chunk: &mut &[u8],
        mode: ErrorMode,
        text: &mut String,
    ) -> Result<(), Utf8Error> {
        while !(chunk.is_empty() && self.held.needs_more()) {
            if !self.held.is_empty() {
                self.append_held(chunk, mode, text)?;
                continue;
            }
            match self.state.append(&mut self.decoder, chunk, AtEnd::No, mode, text) {
                Ok(Some(used)) => *chunk = &chunk[used..],
                Ok(None) => self.held.hold(mem::take(chunk)),
                Err(error) => {
                    *chunk = &chunk[error.bytes().len()..];
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Ends the stream and appends the text of the held bytes to `text`.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], an error that the options define, including [`MissingBom`] if a
    /// required BOM is missing. Call it until it returns `Ok`. Further calls return `Ok`.
    ///
    /// [`MissingBom`]: crate::Utf8ErrorKind::MissingBom
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::part(LegacyEncoding::windows_1252());
    /// let mut text = String::new();
    /// let _done = decoder.push_to_string(b"10 \xE2\x82", ErrorMode::Fatal, &mut text);
    /// decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
    /// assert_eq!(text, "10 â‚");
    /// ```
    pub fn finish_to_string(
        &mut self,
        mode: ErrorMode,
        text: &mut String,
    ) -> Result<(), Utf8Error> {
        while self.append_end(mode, text)?.is_some() {}
        Ok(())
    }

    /// Starts a new stream with the same settings: offset 0, UTF-8, nothing held, a BOM expected,
    /// no errors counted.
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.state.reset();
        self.held.clear();
    }

    /// Returns what has been decoded in the legacy encoding.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    ///
    /// let mut decoder = FallbackDecoder::rest(LegacyEncoding::latin1());
    /// let _done = decoder.push_to_string(b"abc \xC3", ErrorMode::Fatal, &mut String::new());
    /// assert_eq!(decoder.fallback_uses().first, None); // C3 may be UTF-8
    /// let _done = decoder.push_to_string(b"d", ErrorMode::Fatal, &mut String::new());
    /// assert_eq!(decoder.fallback_uses().first, Some(4));
    /// ```
    pub const fn fallback_uses(&self) -> FallbackUses {
        self.state.uses()
    }

    /// Returns the number of bytes of the stream consumed, including held bytes.
    pub fn position(&self) -> u64 {
        self.decoder.position() + self.held.rest().len() as u64
    }

    /// Returns the held bytes, which are undecided or follow an error.
    pub fn incomplete(&self) -> &[u8] {
        self.held.rest()
    }

    /// Returns whether a BOM was removed from the start of this stream.
    pub fn bom_seen(&self) -> bool {
        self.decoder.bom_seen()
    }

    /// Returns the number of errors in this stream so far. Each ill-formed part counts, but if a
    /// line or the rest falls back, only the first one in it does. Errors that the options define
    /// count too.
    pub fn error_count(&self) -> u64 {
        self.decoder.error_count()
    }

    /// Returns how many of these errors are not ill-formed UTF-8: characters that the options reject, and a BOM that is
    /// forbidden or missing.
    pub fn rejected_count(&self) -> u64 {
        self.decoder.rejected_count()
    }

    /// Returns the first of these errors.
    pub fn first_error(&self) -> Option<Utf8Error> {
        self.decoder.first_error()
    }

    /// Performs one step on the held bytes at the end of the stream. Returns `None` if there are none.
    pub(super) fn append_end(
        &mut self,
        mode: ErrorMode,
        text: &mut String,
    ) -> Result<Option<usize>, Utf8Error> {
        let held = self.held.rest();
        let step = self.state.append(&mut self.decoder, held, AtEnd::Yes, mode, text);
        match step {
            Ok(Some(used)) => self.held.take(used),
            Ok(None) => {
                self.held.clear();
                self.state.finish();
            }
            Err(error) => self.held.take(error.bytes().len()),
        }
        step
    }

    /// Performs one step on the held bytes and, if they are not enough, the first bytes of `chunk`. Moves `chunk` past
    /// those that have been decoded or are held.
    pub(super) fn append_held(
        &mut self,
        chunk: &mut &[u8],
        mode: ErrorMode,
        text: &mut String,
    ) -> Result<(), Utf8Error> {
        let own = self.held.rest().len();
        let lent = match self.held.wait {
            Wait::No => 0,
            Wait::ForMore => chunk.len().min(own.clamp(LEAST_LENT, MOST_LENT)),
        };
        self.held.append(&chunk[..lent]);
        let held = self.held.rest();
        let step = self.state.append(&mut self.decoder, held, AtEnd::No, mode, text);
        let used = match step {
            Ok(Some(used)) => used,
            Ok(None) => {
                self.held.wait = Wait::ForMore;
                *chunk = &chunk[lent..];
                return Ok(());
            }
            Err(error) => error.bytes().len(),
        };
        // The bytes of `chunk` are removed again: they may be decoded without a copy.
        self.held.wait = Wait::No;
        self.held.bytes.truncate(self.held.bytes.len() - lent);
        self.held.take(used.min(own));
        *chunk = &chunk[used.saturating_sub(own)..];
        step.map(drop)
    }
}

/// The number of bytes of a chunk that are appended to the held bytes, to be decoded together.
const LEAST_LENT: usize = 64;
const MOST_LENT: usize = 4096;

impl HeldBytes {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.done..]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    /// Returns whether the held bytes are known to need more bytes, or there are none.
    pub(super) fn needs_more(&self) -> bool {
        self.is_empty() || self.wait == Wait::ForMore
    }

    /// Holds `bytes`, which need more bytes.
    pub(super) fn hold(&mut self, bytes: &[u8]) {
        self.append(bytes);
        self.wait = Wait::ForMore;
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

/// A capacity larger than this, in bytes, is freed when few bytes are held.
const ROOM: usize = 16 * 1024;
