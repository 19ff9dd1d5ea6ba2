//! The scanner, the centre of the crate: what do the next bytes of a stream mean?

use utf8_simd::text::{split_until, unmask_and_split_far};
use utf8_simd::{
    Level, PrefixEnd, begins_nothing, error_at_start, head, valid_prefix, valid_prefix_dense,
};

use crate::decoder::{BomPolicy, BomState, Utf8Error, Utf8ErrorKind, Utf8Options};

/// The state of a UTF-8 stream between two bytes.
///
/// A scanner holds no bytes and never fails. The caller passes it the bytes from
/// [`position`](Self::position) on. [`step`](Self::step) classifies the first of them and moves past them; the
/// caller then passes the bytes that follow. [`Step::NeedMore`] consumes nothing: the caller passes the same bytes
/// again, together with the bytes after them.
///
/// ```text
/// loop {
///     match scanner.step(input) {
///         Step::Text(text)   => deliver text, input = &input[text.len()..]
///         Step::Skip(len)    => input = &input[len..]
///         Step::Error(error) => report or repair, input = &input[error.bytes().len()..]
///         Step::NeedMore     => keep input (at most 3 bytes) until more arrives, or finish(input)
///     }
/// }
/// ```
///
/// A scanner is a small value. To look ahead, step a copy; to commit, assign it back. Everything that decodes
/// UTF-8 in this crate is such a loop. The other layers use it through
/// [`Utf8Decoder`](crate::Utf8Decoder), which holds the bytes of a split character and counts errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner {
    position: u64,
    options: Utf8Options,
    start: BomState,
    density: ErrorDensity,
}

/// How dense errors are: how the end of the text is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorDensity {
    /// Validate to the end of the input.
    Rare,
    /// Validate block by block: each of many errors costs only what precedes it.
    Dense,
    /// As `Dense`, but without the fast paths for single errors: the caller has found all ill-formed parts of a block.
    Batched,
}

impl Scanner {
    pub(crate) const fn new(options: Utf8Options) -> Self {
        Self { position: 0, options, start: options.start(), density: ErrorDensity::Rare }
    }

    /// Sets the options. Those for the start of the stream apply only before its first byte.
    pub(crate) const fn with_options(self, options: Utf8Options) -> Self {
        let is_start_open =
            self.position == 0 && (!self.start.is_over() || self.options.start().is_over());
        let start = if is_start_open { options.start() } else { self.start };
        Self { options, start, ..self }
    }

    /// Starts a new stream with the same options.
    pub(crate) const fn reset(&mut self) {
        *self = Self::new(self.options);
    }

    /// Returns the offset of the next byte to pass.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// Returns the options.
    pub(crate) const fn options(&self) -> Utf8Options {
        self.options
    }

    /// Removes a BOM, whatever the policy, if the stream can still begin with one.
    pub(crate) const fn expect_bom(&mut self) {
        self.start = self.with_options(self.options.with_bom(BomPolicy::Strip)).start;
    }

    /// Expects what `options` say at the start of the stream, to which the caller returns.
    pub(crate) const fn reopen(&mut self, options: Utf8Options) {
        self.start = options.start();
    }

    pub(crate) const fn bom_seen(&self) -> bool {
        self.start.bom_seen()
    }

    /// Returns the state of the start of the stream.
    pub(crate) const fn start(&self) -> BomState {
        self.start
    }

    /// Classifies the start of `input`, and moves past it.
    #[inline]
    pub(crate) fn step<'a>(&mut self, input: &'a [u8]) -> Step<&'a str> {
        if self.is_on_fast_path() {
            let (text, end) = self.step_fast_path(input);
            if !text.is_empty() {
                return Step::Text(text);
            }
            if !matches!(end, PrefixEnd::IllFormed(_)) {
                return Step::NeedMore;
            }
        }
        self.step_slowly(input)
    }

    /// Like [`step`](Self::step), but at the end of the stream incomplete bytes are an error.
    #[inline]
    pub(crate) fn step_at<'a>(&mut self, input: &'a [u8], at_end: AtEnd) -> Step<&'a str> {
        let step = self.step(input);
        if !matches!(step, Step::NeedMore) || at_end == AtEnd::No {
            return step;
        }
        self.finish(input).map_or(Step::NeedMore, Step::Error)
    }

    /// Whether the level alone decides: the start is over, strictness is off, errors are rare.
    #[inline]
    pub(crate) fn is_on_fast_path(&self) -> bool {
        self.density == ErrorDensity::Rare && self.asks_for_utf8_only()
    }

    /// The fast path of [`step`](Self::step) for a scanner that [is on the fast path](Self::is_on_fast_path). Returns the text
    /// that `input` begins with, which can be empty, and what follows it. A call of it costs a nanosecond.
    #[inline(always)]
    pub(crate) fn step_fast_path<'a>(&mut self, input: &'a [u8]) -> (&'a str, PrefixEnd) {
        let (text, end) = valid_prefix(input);
        self.accept(text.len(), end);
        (text, end)
    }

    /// Like [`step_fast_path`](Self::step_fast_path), for a scanner for which [errors are dense](Self::are_errors_dense).
    #[inline]
    pub(crate) fn step_dense<'a>(&mut self, input: &'a [u8]) -> (&'a str, PrefixEnd) {
        let (text, end) = valid_prefix_dense(input);
        if !text.is_empty() {
            self.accept(text.len(), end);
        }
        (text, end)
    }

    /// Whether the start is over and strictness is off.
    #[inline]
    pub(super) fn asks_for_utf8_only(&self) -> bool {
        self.start.is_over() && self.options.strictness().is_off()
    }

    #[inline(never)]
    fn step_slowly<'a>(&mut self, input: &'a [u8]) -> Step<&'a str> {
        if !self.start.is_over()
            && let Some(step) = self.open(input)
        {
            return step;
        }
        if let Some(error) = self.error_here(input) {
            return Step::Error(error);
        }
        if !self.options.strictness().is_off() {
            return self.step_strictly(input);
        }
        let (text, end) = match self.density {
            ErrorDensity::Rare => valid_prefix(input),
            ErrorDensity::Dense | ErrorDensity::Batched => valid_prefix_dense(input),
        };
        if !text.is_empty() {
            self.accept(text.len(), end);
            return Step::Text(text);
        }
        match end {
            PrefixEnd::IllFormed(len) => self.ill_formed(input, len),
            PrefixEnd::Input | PrefixEnd::Incomplete(_) => Step::NeedMore,
        }
    }

    /// Like [`step`](Self::step), if characters are rejected.
    fn step_strictly<'a>(&mut self, input: &'a [u8]) -> Step<&'a str> {
        let strictness = self.options.strictness();
        let (text, end) = split_until(Level::detect(), input, |text| {
            let (at, len, kind) = strictness.find_rejected(text)?;
            Some((at, (len, kind)))
        });
        if !text.is_empty() {
            self.accept_before(text.len(), !matches!(end, Err(None)));
            return Step::Text(text);
        }
        match end {
            Ok((len, kind)) => {
                self.reject(Utf8Error::new(self.position, kind, head(input, len), None))
            }
            Err(Some(len)) => self.ill_formed(input, len),
            Err(None) => Step::NeedMore,
        }
    }

    /// Moves past text that a level has found, and that ended so.
    #[inline]
    pub(super) fn accept(&mut self, len: usize, end: PrefixEnd) {
        self.accept_before(len, matches!(end, PrefixEnd::IllFormed(_)));
    }

    /// Moves past text, which an error follows or not.
    #[inline]
    fn accept_before(&mut self, len: usize, is_error: bool) {
        self.density = if is_error { ErrorDensity::Dense } else { ErrorDensity::Rare };
        self.position += len as u64;
    }

    // Like `reject`, to which the error would be copied: see `crate::decoder`, "Store forwarding"; scenario `damaged`,
    // rows `pieces/*/1-in-64`.
    #[inline(always)]
    fn ill_formed<'a>(&mut self, input: &[u8], len: usize) -> Step<&'a str> {
        let position = self.position;
        self.accept_before(len, true);
        Step::Error(Utf8Error::classify(position, input, len))
    }

    fn reject<'a>(&mut self, error: Utf8Error) -> Step<&'a str> {
        self.density = ErrorDensity::Dense;
        self.position += error.bytes().len() as u64;
        Step::Error(error)
    }

    /// Ends the stream after `tail`, for which the last step returned [`Step::NeedMore`].
    ///
    /// Each call returns one error that the end decides: `MissingBom`, then `Incomplete`, which consumes the
    /// tail. After that, calls return `None`.
    pub(crate) fn finish(&mut self, tail: &[u8]) -> Option<Utf8Error> {
        if let Some(missing) = self.start.finish() {
            return Some(missing);
        }
        if tail.is_empty() {
            return None;
        }
        let error = Utf8Error::new(self.position, Utf8ErrorKind::Incomplete, tail, None);
        self.position += tail.len() as u64;
        Some(error)
    }

    /// Skips bytes that the caller does not pass.
    #[inline]
    pub(crate) const fn skip(&mut self, bytes: usize) {
        self.position += bytes as u64;
    }

    /// Moves back before the last `bytes` bytes of a [`Step::Text`]. The caller passes them again.
    pub(crate) const fn unread(&mut self, bytes: usize) {
        self.position -= bytes as u64;
    }

    /// If errors are dense and `byte`, the next, is an error whatever follows it: consumes it and returns the
    /// error.
    #[inline(always)]
    pub(super) fn take_stray(&mut self, byte: u8) -> Option<Utf8Error> {
        if self.density != ErrorDensity::Dense || !begins_nothing(byte) || !self.start.is_over() {
            return None;
        }
        let error = Utf8Error::of_byte(self.position, byte);
        self.position += 1;
        Some(error)
    }

    /// If errors are dense and `input` begins with one: consumes it and returns it. This is the shortest path
    /// for many errors in a row.
    // Always inlined: see `crate::decoder`, "Store forwarding"; scenario `damaged`, rows `pieces`.
    #[inline(always)]
    pub(super) fn error_here(&mut self, input: &[u8]) -> Option<Utf8Error> {
        if self.density != ErrorDensity::Dense || input.is_empty() || !self.start.is_over() {
            return None;
        }
        let error = match input[0] {
            ..0x80 => return None,
            byte @ (0x80..=0xC1 | 0xF5..) => Utf8Error::of_byte(self.position, byte),
            _ => Utf8Error::classify(self.position, input, error_at_start(input)?),
        };
        self.position += error.bytes().len() as u64;
        Some(error)
    }

    /// Whether errors are dense and the scanner checks nothing but UTF-8. Many errors at once are then faster than
    /// single steps.
    pub(super) fn are_errors_dense(&self) -> bool {
        self.density != ErrorDensity::Rare && self.asks_for_utf8_only()
    }

    /// Returns whether the caller takes parts of a block.
    #[inline(always)]
    pub(super) fn is_batched(&self) -> bool {
        self.density == ErrorDensity::Batched
    }

    /// Sets how dense errors are: [`ErrorDensity::Batched`] exactly while the caller has parts of a block.
    #[inline(always)]
    pub(super) fn set_density(&mut self, density: ErrorDensity) {
        self.density = density;
    }

    /// Unmasks all of `input`, the payload of a WebSocket frame, and steps over its start. It takes one pass if
    /// the scanner [is on the fast path](Self::is_on_fast_path).
    #[inline]
    pub(super) fn unmask_and_step<'a>(
        &mut self,
        input: &'a mut [u8],
        mask: [u8; 4],
    ) -> (&'a [u8], Step<&'a str>) {
        let level = Level::detect();
        if !self.is_on_fast_path() {
            level.unmask(input, mask);
            return (input, self.step(input));
        }
        let (input, text, error_len) = unmask_and_split_far(level, input, mask);
        self.accept_before(text.len(), error_len.is_some());
        let step = match error_len {
            _ if !text.is_empty() => Step::Text(text),
            None => Step::NeedMore,
            Some(len) => self.ill_formed(input, len),
        };
        (input, step)
    }

    /// Continues at another offset of the stream.
    pub(crate) const fn seek(&mut self, position: u64) {
        self.position = position;
    }

    /// Expects no BOM and skips no continuation bytes from here on.
    pub(crate) fn close_start(&mut self) {
        self.start.finish();
    }

    /// A CR has ended a line: an LF directly after it is skipped.
    pub(crate) fn expect_lf(&mut self) {
        self.start.expect_lf();
    }

    /// Steps over the start of the stream. Returns `None` if `input` begins with text.
    pub(crate) fn open<'a>(&mut self, input: &[u8]) -> Option<Step<&'a str>> {
        Some(match self.start.open(input) {
            Step::Text(()) => return None,
            Step::NeedMore => Step::NeedMore,
            Step::Skip(len) => {
                self.position += len as u64;
                Step::Skip(len)
            }
            Step::Error(error) => self.reject(error),
        })
    }

    /// Ends the sequence of `tail`, one to three bytes for which the last step returned [`Step::NeedMore`]. The
    /// byte `next` follows them and continues no sequence. Returns the error. Call it until `None`, because
    /// `MissingBom` precedes the error of the sequence.
    pub(crate) fn break_off(&mut self, tail: &[u8], next: u8) -> Option<Utf8Error> {
        let mut joined = [next; 4];
        joined[..tail.len()].copy_from_slice(tail);
        match self.step(&joined[..tail.len() + 1]) {
            Step::Error(error) => Some(error),
            Step::Text(_) | Step::Skip(_) | Step::NeedMore => None,
        }
    }

    /// Steps over `input` in a legacy encoding that contains ASCII. Returns [`Step::Skip`] up to and
    /// including the first `line_end`, or up to the first rejected character, or the error of a rejected
    /// character at the front. Only ASCII characters are checked.
    #[cfg(feature = "alloc")]
    pub(crate) fn step_legacy<'a>(
        &mut self,
        input: &'a [u8],
        line_end: Option<u8>,
    ) -> Step<&'a str> {
        let strictness = self.options.strictness();
        let is_end = |byte| line_end == Some(byte);
        let stop = match (strictness.is_off(), line_end) {
            (true, None) => None,
            (true, Some(line_end)) => memchr::memchr(line_end, input),
            _ => input.iter().position(|&byte| is_end(byte) || strictness.rejects_ascii(byte)),
        };
        let len = match stop {
            Some(at) if !strictness.rejects_ascii(input[at]) => at + 1,
            Some(0) => {
                let kind = Utf8ErrorKind::Forbidden;
                let error = Utf8Error::new(self.position, kind, &input[..1], None);
                self.position += 1;
                return Step::Error(error);
            }
            Some(at) => at,
            None if input.is_empty() => return Step::NeedMore,
            None => input.len(),
        };
        self.skip(len);
        Step::Skip(len)
    }
}

/// What an input begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<T, E = Utf8Error> {
    /// Non-empty text, or where it is.
    Text(T),
    /// This many bytes that yield nothing: a removed BOM, the rest of a character that began before a mid-stream start,
    /// or the LF of a CR LF whose CR has ended a line.
    Skip(usize),
    /// An error. Its own bytes are consumed; `MissingBom` has none.
    Error(E),
    /// No bytes, or the start of something that more bytes complete. The caller passes them again, together with the bytes after them.
    NeedMore,
}

impl<'a, E> Step<&'a str, E> {
    /// Separates the text, which is empty if this is another step.
    #[inline]
    pub(crate) fn split(self) -> (&'a str, Step<(), E>) {
        match self {
            Self::Text(text) => (text, Step::Text(())),
            Self::Skip(len) => ("", Step::Skip(len)),
            Self::Error(error) => ("", Step::Error(error)),
            Self::NeedMore => ("", Step::NeedMore),
        }
    }
}

/// What follows an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// Bytes that have not arrived, and may belong to the last sequence.
    No,
    /// Bytes that belong to another sequence. Only in an encoding such as GB18030 does the end of the stream mean something else.
    Other,
    /// The end of the stream.
    Yes,
}

// Tests of the fast paths, on which only speed depends.
#[cfg(test)]
mod tests {
    use super::*;

    /// Scanners that are not on the fast path.
    fn busy() -> [Scanner; 2] {
        let options = Utf8Options::new();
        [options.with_bom(BomPolicy::Strip), options.reject_nul()].map(Scanner::new)
    }

    /// A scanner after an error.
    fn dense() -> Scanner {
        let mut scanner = Scanner::new(Utf8Options::new());
        assert!(matches!(scanner.step(b"\xFF"), Step::Error(_)));
        scanner
    }

    #[test]
    fn a_scanner_is_on_the_fast_path_without_open_start_strictness_or_dense_errors() {
        assert!(Scanner::new(Utf8Options::new()).is_on_fast_path());
        let [mut strip, mut strict] = busy();
        assert!(!strip.is_on_fast_path() && !strict.is_on_fast_path());
        assert!(matches!(strip.step(b"text"), Step::Text("text")));
        assert!(matches!(strict.step(b"text"), Step::Text("text")));
        assert!(strip.is_on_fast_path() && !strict.is_on_fast_path());

        let mut dense = dense();
        assert!(!dense.is_on_fast_path());
        assert!(matches!(dense.step(&[b'a'; 100]), Step::Text(_)));
        assert!(dense.is_on_fast_path());
    }

    #[test]
    fn dense_errors_are_classified_without_a_call_of_a_level() {
        let len = |error: Option<Utf8Error>| error.map(|error| error.bytes().len());
        for (input, expected) in [
            (&b"\x80"[..], Some(1)),
            (b"\xC1", Some(1)),
            (b"\xF5\x80", Some(1)),
            (b"\xE2\x82a", Some(2)),
            (b"\xED\xA0\x80", Some(1)),
            (b"\xE2\x82", None),
            (b"a\xFF", None),
            ("é".as_bytes(), None),
            (b"", None),
        ] {
            let mut scanner = dense();
            assert_eq!(len(scanner.error_here(input)), expected, "{input:02x?}");
            assert_eq!(scanner.position(), 1 + expected.unwrap_or(0) as u64);
            let mut scanner = dense();
            if let [byte, ..] = *input {
                let stray = expected.filter(|_| matches!(byte, 0x80..=0xC1 | 0xF5..));
                assert_eq!(len(scanner.take_stray(byte)), stray, "{input:02x?}");
                assert_eq!(scanner.position(), 1 + stray.unwrap_or(0) as u64);
            }
            // If errors are rare, or the start is not over, `step` decides.
            for mut scanner in [Scanner::new(Utf8Options::new()), busy()[0]] {
                assert_eq!(len(scanner.error_here(input)), None);
                assert_eq!(len(scanner.take_stray(0xFF)), None);
                assert_eq!(scanner.position(), 0);
            }
        }
    }

    #[test]
    fn errors_are_no_longer_dense_after_the_repair_loop() {
        assert!(!Scanner::new(Utf8Options::new()).are_errors_dense());
        let mut scanner = dense();
        assert!(scanner.are_errors_dense());
        scanner.skip(10);
        scanner.set_density(ErrorDensity::Rare);
        assert_eq!((scanner.position(), scanner.are_errors_dense()), (11, false));

        let [_, mut strict] = busy();
        assert!(matches!(strict.step(b"\xFF"), Step::Error(_)));
        assert!(!strict.are_errors_dense());
    }
}
