use crate::core::bom::{Opening, Start};
use crate::core::error::{Utf8Error, Utf8ErrorKind};
use crate::core::options::Utf8Options;
use crate::kernel::{Kernel, decode_char, error_at_start};
#[cfg(feature = "codec")]
use crate::unchecked::split_line;
#[cfg(feature = "bytes")]
use crate::unchecked::unmask_and_split_far;
use crate::unchecked::{Ending, Look, split_far, split_text};

/// The one state machine: what the bytes at a place in a stream are.
///
/// Holds no bytes. A caller shows it the bytes from [`position`](Self::position) on, is told what
/// the first of them are, and shows it what follows; bytes that are answered with
/// [`Step::Hold`] are shown again together with those that come after them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner {
    position: u64,
    options: Utf8Options,
    start: Start,
    kernel: Kernel,
    /// Where errors are, more may be.
    look: Look,
}

/// What the bytes shown begin with. All but `Hold` move the position behind what they describe.
#[derive(Debug)]
pub(crate) enum Step<'a> {
    /// Text, not empty.
    Text(&'a str),
    /// So many bytes that mean nothing: a signature, or the rest of a character that began before
    /// the stream was joined.
    Silent(usize),
    /// An error; its own bytes are consumed, none for a missing signature.
    Error(Utf8Error),
    /// No bytes at all, or at most three that may still become a sequence or a signature.
    Hold,
}

impl Scanner {
    pub(crate) fn new(options: Utf8Options) -> Self {
        Self {
            position: 0,
            options,
            start: options.start(),
            kernel: Kernel::detect(),
            look: Look::Far,
        }
    }

    /// Starts a new stream.
    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.options);
    }

    /// Offset in the stream of the next byte to be shown.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    pub(crate) const fn bom_seen(&self) -> bool {
        matches!(self.start, Start::OverWithBom)
    }

    pub(crate) const fn skipped(&self) -> usize {
        self.start.skipped()
    }

    /// The start of the stream, to be asked what it will make of the next bytes.
    #[cfg(any(feature = "codec", feature = "http-body"))]
    pub(crate) const fn start(&self) -> Start {
        self.start
    }

    /// Says what `input` begins with.
    #[inline]
    pub(crate) fn step<'a>(&mut self, input: &'a [u8]) -> Step<'a> {
        if self.is_plain() {
            let (text, ending) = self.plain(input);
            if !text.is_empty() {
                return Step::Text(text);
            }
            if ending == Ending::End {
                return Step::Hold;
            }
        }
        self.step_slowly(input)
    }

    /// As [`step`](Self::step) where the scanner [is plain](Self::is_plain): the text `input` begins
    /// with, perhaps none, and what follows it.
    #[inline]
    pub(crate) fn plain<'a>(&mut self, input: &'a [u8]) -> (&'a str, Ending) {
        let (text, ending) = split_far(self.kernel, input);
        if !text.is_empty() {
            self.accept(text, ending);
        }
        (text, ending)
    }

    /// Whether nothing is asked but what the kernel answers: no start, no strictness, no errors near.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.look == Look::Far && self.asks_for_utf8_only()
    }

    /// Whether the start is over and no strictness refuses what is well-formed.
    #[inline]
    fn asks_for_utf8_only(&self) -> bool {
        self.start.is_over() && self.options.strictness().is_off()
    }

    #[inline(never)]
    fn step_slowly<'a>(&mut self, input: &'a [u8]) -> Step<'a> {
        if !self.start.is_over()
            && let Some(step) = self.open(input)
        {
            return step;
        }
        if let Some(error) = self.error_here(input) {
            return Step::Error(error);
        }
        let strictness = self.options.strictness();
        let (text, ending) = split_text(self.kernel, input, strictness, self.look);
        if !text.is_empty() {
            return self.accept(text, ending);
        }
        match ending {
            Ending::End => Step::Hold,
            Ending::IllFormed(len) => self.refuse(Utf8Error::classify(self.position, input, len)),
            Ending::Refused(len, kind) => {
                self.refuse(Utf8Error::new(self.position, kind, &input[..len], None))
            }
        }
    }

    /// Takes the character that a few bytes, which have just been put together, are, if that is all
    /// there is to say of them.
    #[inline]
    pub(crate) fn take_char(&mut self, bytes: &[u8]) -> Option<char> {
        if !self.asks_for_utf8_only() {
            return None;
        }
        let c = decode_char(bytes)?;
        self.position += bytes.len() as u64;
        Some(c)
    }

    #[inline]
    fn accept<'a>(&mut self, text: &'a str, ending: Ending) -> Step<'a> {
        self.look = if ending == Ending::End { Look::Far } else { Look::Near };
        self.position += text.len() as u64;
        Step::Text(text)
    }

    /// Where errors are near: the error that `byte`, the next, is by itself, whatever follows.
    #[inline(always)]
    pub(crate) fn stray_here(&mut self, byte: u8) -> Option<Utf8Error> {
        if self.look == Look::Far || !matches!(byte, 0x80..=0xC1 | 0xF5..) || !self.start.is_over()
        {
            return None;
        }
        let error = Utf8Error::of_byte(self.position, byte);
        self.position += 1;
        Some(error)
    }

    /// As [`step`](Self::step) where errors are near, if one is right here: the shortest way, for floods
    /// of them.
    // (Always inlined: an error that is returned through memory is read back before it is all there.)
    #[inline(always)]
    pub(crate) fn error_here(&mut self, input: &[u8]) -> Option<Utf8Error> {
        if self.look == Look::Far || input.is_empty() || !self.start.is_over() {
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

    /// Says what the start of the stream makes of `input`; `None` where it leaves it to the text.
    #[cold]
    pub(crate) fn open<'a>(&mut self, input: &[u8]) -> Option<Step<'a>> {
        Some(match self.start.open(input) {
            Opening::Text => return None,
            Opening::Hold => Step::Hold,
            Opening::Silent(len) => {
                self.position += len as u64;
                Step::Silent(len)
            }
            Opening::Error(error) => self.refuse(error),
        })
    }

    /// Whether errors stand close together here, and nothing but UTF-8 is asked for: where
    /// [`repair`](crate::core::decoder::repair::repair) does better than single steps.
    #[cfg(feature = "alloc")]
    pub(crate) fn looks_near(&self) -> bool {
        self.look == Look::Near && self.asks_for_utf8_only()
    }

    #[cfg(feature = "alloc")]
    pub(crate) const fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Passes over bytes that have been repaired, up to where it looks better.
    #[cfg(feature = "alloc")]
    pub(crate) fn pass_near(&mut self, bytes: usize) {
        self.position += bytes as u64;
        self.look = Look::Far;
    }

    /// Passes over text that a caller has found itself, where the scanner [is plain](Self::is_plain).
    #[inline]
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.position += bytes as u64;
    }

    /// Takes back the last `bytes` bytes of a step that was [`Step::Text`], to be shown again.
    pub(crate) fn unread(&mut self, bytes: usize) {
        self.position -= bytes as u64;
    }

    /// Ends the stream behind `tail`, bytes that the last step answered with [`Step::Hold`].
    ///
    /// Returns what is wrong with that end: a missing signature first, an incomplete sequence when
    /// asked again, nothing once all is said. An incomplete tail is consumed with its error.
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

    fn refuse<'a>(&mut self, error: Utf8Error) -> Step<'a> {
        self.look = Look::Near;
        self.position += error.bytes().len() as u64;
        Step::Error(error)
    }
}

/// For WebSocket payloads, which come masked.
#[cfg(feature = "bytes")]
impl Scanner {
    /// Unmasks all of `input`, and says what it then begins with: in one pass, where nothing but
    /// UTF-8 is asked for.
    #[inline]
    pub(crate) fn unmask_and_step<'a>(
        &mut self,
        input: &'a mut [u8],
        mask: [u8; 4],
    ) -> (&'a [u8], Step<'a>) {
        if !self.is_plain() {
            self.unmask(input, mask);
            return (input, self.step(input));
        }
        let (input, text, ending) = unmask_and_split_far(self.kernel, input, mask);
        let step = match ending {
            _ if !text.is_empty() => self.accept(text, ending),
            Ending::End => Step::Hold,
            _ => self.step_slowly(input),
        };
        (input, step)
    }

    pub(crate) fn unmask(&self, input: &mut [u8], mask: [u8; 4]) {
        self.kernel.unmask(input, mask);
    }
}

/// For callers that read something else than UTF-8 in between.
#[cfg(feature = "alloc")]
impl Scanner {
    /// Moves to another place in the stream; its start is behind.
    pub(crate) fn seek(&mut self, position: u64) {
        self.position = position;
    }

    /// Gives up looking for anything at the start of the stream.
    pub(crate) fn close_start(&mut self) {
        self.start.finish();
    }

    /// Says what `input` begins with where it is not UTF-8 and yet agrees with ASCII:
    /// [`Step::Silent`] up to and with the first `line_end`, or up to the first character that is
    /// refused; if that is the first, its error. Only ASCII characters are judged.
    pub(crate) fn step_legacy<'a>(&mut self, input: &[u8], line_end: Option<u8>) -> Step<'a> {
        let strictness = self.options.strictness();
        let is_end = |byte| line_end == Some(byte);
        let stop = match (strictness.is_off(), line_end) {
            (true, None) => None,
            _ => input.iter().position(|&byte| is_end(byte) || strictness.refuses_ascii(byte)),
        };
        let len = match stop {
            Some(at) if !strictness.refuses_ascii(input[at]) => at + 1,
            Some(0) => {
                let kind = Utf8ErrorKind::Forbidden;
                let error = Utf8Error::new(self.position, kind, &input[..1], None);
                self.position += 1;
                return Step::Error(error);
            }
            Some(at) => at,
            None if input.is_empty() => return Step::Hold,
            None => input.len(),
        };
        self.position += len as u64;
        Step::Silent(len)
    }
}

/// For callers that look ahead, as one does who must find the end of a line first.
#[cfg(feature = "codec")]
impl Scanner {
    /// Ends what is incomplete: `tail`, one to three bytes that the last step answered with
    /// [`Step::Hold`], is followed by `next`, a byte that continues no sequence. Returns what is
    /// wrong with that: more than once, where a required signature is missing too.
    pub(crate) fn break_off(&mut self, tail: &[u8], next: u8) -> Option<Utf8Error> {
        let mut joined = [next; 4];
        joined[..tail.len()].copy_from_slice(tail);
        match self.step(&joined[..tail.len() + 1]) {
            Step::Error(error) => Some(error),
            Step::Text(_) | Step::Silent(_) | Step::Hold => None,
        }
    }

    /// Where the scanner [is plain](Self::is_plain): text that `input` begins with, not beyond the
    /// first byte that is `end`; all of the ASCII, at least. The position stays.
    #[inline]
    pub(crate) fn peek_text<'a>(&self, end: u8, input: &'a [u8]) -> &'a str {
        debug_assert!(self.is_plain());
        split_line(self.kernel, end, input)
    }

    /// Where the scanner [is plain](Self::is_plain): `input` as text, if all of it is. The position
    /// stays.
    #[inline]
    pub(crate) fn peek_whole<'a>(&self, input: &'a [u8]) -> Option<&'a str> {
        debug_assert!(self.is_plain());
        let (text, _) = split_far(self.kernel, input);
        (text.len() == input.len()).then_some(text)
    }
}

/// The short ways: without them everything would be as right, and slower.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BomPolicy, Strictness};

    /// Scanners that have something to ask of what comes next.
    fn busy() -> [Scanner; 2] {
        let strict = Strictness::new().refuse_nul();
        [Utf8Options::new().with_bom(BomPolicy::Strip), Utf8Options::new().with_strictness(strict)]
            .map(Scanner::new)
    }

    /// A scanner behind an error.
    fn near() -> Scanner {
        let mut scanner = Scanner::new(Utf8Options::new());
        assert!(matches!(scanner.step(b"\xFF"), Step::Error(_)));
        scanner
    }

    #[test]
    fn a_scanner_is_plain_where_it_asks_for_nothing_and_no_error_is_near() {
        assert!(Scanner::new(Utf8Options::new()).is_plain());
        let [mut strip, mut strict] = busy();
        assert!(!strip.is_plain() && !strict.is_plain());
        assert!(matches!(strip.step(b"text"), Step::Text("text")));
        assert!(matches!(strict.step(b"text"), Step::Text("text")));
        assert!(strip.is_plain() && !strict.is_plain());

        let mut near = near();
        assert!(!near.is_plain());
        assert!(matches!(near.step(&[b'a'; 100]), Step::Text(_)));
        assert!(near.is_plain());
    }

    #[test]
    fn an_error_that_is_near_is_told_at_once() {
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
            let mut scanner = near();
            assert_eq!(len(scanner.error_here(input)), expected, "{input:02x?}");
            assert_eq!(scanner.position(), 1 + expected.unwrap_or(0) as u64);
            let mut scanner = near();
            if let [byte, ..] = *input {
                let stray = expected.filter(|_| matches!(byte, 0x80..=0xC1 | 0xF5..));
                assert_eq!(len(scanner.stray_here(byte)), stray, "{input:02x?}");
                assert_eq!(scanner.position(), 1 + stray.unwrap_or(0) as u64);
            }
            // Where none is near, and where the start is not over, it is left to the step.
            for mut scanner in [Scanner::new(Utf8Options::new()), busy()[0]] {
                assert_eq!(len(scanner.error_here(input)), None);
                assert_eq!(len(scanner.stray_here(0xFF)), None);
                assert_eq!(scanner.position(), 0);
            }
        }
    }

    #[test]
    fn a_whole_character_is_taken_where_nothing_is_asked() {
        let mut scanner = Scanner::new(Utf8Options::new());
        assert_eq!(scanner.take_char("€".as_bytes()), Some('€'));
        assert_eq!(scanner.position(), 3);
        assert_eq!(scanner.take_char(b"\xE2\x82"), None);
        assert_eq!(scanner.position(), 3);
        assert!(busy().iter_mut().all(|scanner| scanner.take_char("€".as_bytes()).is_none()));
    }

    #[cfg(feature = "codec")]
    #[test]
    fn text_is_peeked_at_and_stays() {
        let scanner = Scanner::new(Utf8Options::new());
        for (input, first) in [("ab\ncd", "ab"), ("\ncd", ""), ("ažluť\n", "a"), ("ab", "ab")] {
            let text = scanner.peek_text(b'\n', input.as_bytes());
            assert!(input.starts_with(text) && text.starts_with(first), "{text:?} of {input:?}");
            assert_eq!(scanner.peek_whole(input.as_bytes()), Some(input));
        }
        assert_eq!(scanner.peek_whole(b"ab\xFF"), None);
        assert_eq!(scanner.peek_whole(b"ab\xE2\x82"), None);
        assert_eq!(scanner.position(), 0);
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn what_is_near_is_far_behind_what_has_been_repaired() {
        assert!(!Scanner::new(Utf8Options::new()).looks_near());
        let mut scanner = near();
        assert!(scanner.looks_near());
        scanner.pass_near(10);
        assert_eq!((scanner.position(), scanner.looks_near()), (11, false));

        let [_, mut strict] = busy();
        assert!(matches!(strict.step(b"\xFF"), Step::Error(_)));
        assert!(!strict.looks_near());
    }
}
