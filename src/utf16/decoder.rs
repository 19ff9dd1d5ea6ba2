//! How are chunks of UTF-16 units decoded to UTF-8?

use utf8_simd::{Level, surrogate_pair};

use crate::decoder::{ErrorMode, ErrorStats, Progress, Repair, Status, Step, progress};
use crate::utf16::{Utf16End, Utf16Error};
#[cfg(feature = "alloc")]
use utf8_simd::text::push_utf16;

/// Decodes UTF-16 units to UTF-8, chunk by chunk. A chunk can end anywhere.
///
/// Between calls the decoder holds at most one high surrogate, whose low surrogate may be the next
/// unit. Everything else that the units so far determine has been returned. An empty chunk changes
/// nothing. At the end of the stream, [`finish`](Self::finish), or one of its forms with a mode,
/// turns a held surrogate into one error or one repair. Further calls return `Ok`. After an error,
/// decoding continues with the next unit. After `finish`, offsets keep counting;
/// [`reset`](Self::reset) starts a new stream.
///
/// The decoder has a size of 40 bytes on a 64-bit machine and allocates nothing.
///
/// # Examples
///
/// The waving hand is the pair D83D DC4B. Here it is split across two chunks:
///
/// ```
/// # #[cfg(feature = "alloc")]
/// # {
/// use utf8_codec::ErrorMode;
/// use utf8_codec::utf16::Utf16Decoder;
///
/// let (mut decoder, mut text) = (Utf16Decoder::new(), String::new());
/// let progress = decoder.push_to_string(&[0x61, 0xD83D], ErrorMode::Fatal, &mut text);
/// assert_eq!((progress.read, progress.held), (2, 1));
/// assert_eq!((&*text, decoder.incomplete()), ("a", Some(0xD83D)));
/// let progress = decoder.push_to_string(&[0xDC4B, 0x62], ErrorMode::Fatal, &mut text);
/// assert_eq!(progress.read, 2);
/// assert_eq!((&*text, decoder.incomplete()), ("a👋b", None));
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Utf16Decoder {
    /// Invariant: a high surrogate, if there is one.
    high: Option<u16>,
    /// The number of units consumed, including a held one.
    position: u64,
    stats: ErrorStats<Utf16Error>,
}

impl Utf16Decoder {
    /// Creates a decoder at the start of a stream.
    pub const fn new() -> Self {
        Self { high: None, position: 0, stats: ErrorStats::new() }
    }

    /// Decodes `units` to UTF-8 in `buffer`, as far as there is room. `read` and `held` count
    /// units, `written` counts bytes.
    ///
    /// No character and no repair is split. The [`Status`] determines how to continue. With at
    /// least six bytes of room the status is never [`Status::TooSmall`]. The bytes of `buffer` after
    /// the first `written` may be overwritten.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::decoder::Status;
    /// use utf8_codec::utf16::Utf16Decoder;
    ///
    /// let mut decoder = Utf16Decoder::new();
    /// let (units, mode) = ([0x61, 0xD83D, 0xDC4B, 0x62], ErrorMode::Fatal);
    /// let mut buffer = [0; 4];
    /// let progress = decoder.push_to_slice(&units, mode, &mut buffer);
    /// assert_eq!((progress.read, progress.written, progress.status), (1, 1, Status::Full));
    /// let progress = decoder.push_to_slice(&units[1..], mode, &mut buffer);
    /// assert_eq!((progress.read, progress.written, progress.status), (2, 4, Status::Full));
    /// assert_eq!(buffer, *"👋".as_bytes());
    /// ```
    pub fn push_to_slice(
        &mut self,
        units: &[u16],
        mode: ErrorMode,
        buffer: &mut [u8],
    ) -> Progress<Utf16Error> {
        let mut out = Slice { buffer, written: 0 };
        self.push_into(units, mode, &mut out)
    }

    /// Decodes `units` and appends the text to `text`, after reserving one byte per unit.
    ///
    /// The status is [`Status::Done`], or [`Status::IllFormed`] in [`ErrorMode::Fatal`].
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")]
    /// # {
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::decoder::Status;
    /// use utf8_codec::utf16::Utf16Decoder;
    ///
    /// let (mut decoder, mut text) = (Utf16Decoder::new(), String::new());
    /// let progress = decoder.push_to_string(&[0x20AC, 0xDC00, 0x21], ErrorMode::Fatal, &mut text);
    /// assert_eq!((progress.read, progress.written), (2, 3)); // the surrogate has been read
    /// assert!(matches!(progress.status, Status::IllFormed(error) if error.offset() == 1));
    /// let progress = decoder.push_to_string(&[0x21], ErrorMode::Fatal, &mut text);
    /// assert_eq!((&*text, progress.status), ("€!", Status::Done));
    /// # }
    /// ```
    #[cfg(feature = "alloc")]
    pub fn push_to_string(
        &mut self,
        units: &[u16],
        mode: ErrorMode,
        text: &mut alloc::string::String,
    ) -> Progress<Utf16Error> {
        self.push_into(units, mode, text)
    }

    /// Ends the stream. A held high surrogate is an error. Further calls return `Ok`.
    ///
    /// # Errors
    ///
    /// An [incomplete](Utf16Error::is_incomplete) error for a held high surrogate.
    pub fn finish(&mut self) -> Result<(), Utf16Error> {
        self.end_pair(Utf16End::Reached)
    }

    /// Ends the stream and writes the repair of a held surrogate, if any, to `buffer`.
    ///
    /// With [`Status::TooSmall`] the stream has not ended: call it again with more room.
    pub fn finish_to_slice(&mut self, mode: ErrorMode, buffer: &mut [u8]) -> Progress<Utf16Error> {
        let mut out = Slice { buffer, written: 0 };
        let status = match self.alone(Utf16End::Reached) {
            None => Status::Done,
            Some(error) => match error.repair(mode) {
                Some(text) if !out.push_str(&text) => Status::TooSmall { needed: text.len() },
                repair => {
                    self.pass(0);
                    self.stats.note(error);
                    repair.map_or(Status::IllFormed(error), |_| Status::Done)
                }
            },
        };
        Progress { read: 0, held: 0, written: out.written, status }
    }

    /// Ends the stream and appends the repair of a held surrogate, if any, to `text`.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], the same as [`finish`](Self::finish).
    #[cfg(feature = "alloc")]
    pub fn finish_to_string(
        &mut self,
        mode: ErrorMode,
        text: &mut alloc::string::String,
    ) -> Result<(), Utf16Error> {
        match self.finish() {
            Ok(()) => {}
            Err(error) => text.push_str(&error.repair(mode).ok_or(error)?),
        }
        Ok(())
    }

    /// Starts a new stream: offset 0, nothing held, no error counted.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Returns the number of units consumed in this stream, including a held one.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Returns the held high surrogate, if any.
    pub const fn incomplete(&self) -> Option<u16> {
        self.high
    }

    /// Returns the number of unpaired surrogates in this stream so far, repaired or not.
    pub const fn error_count(&self) -> u64 {
        self.stats.count()
    }

    /// Returns the first error of this stream, repaired or not.
    pub const fn first_error(&self) -> Option<Utf16Error> {
        self.stats.first()
    }

    /// Decodes all `units` through a buffer on the stack, and passes their text to `out` in portions. In
    /// [`ErrorMode::Fatal`] it skips unpaired surrogates, and returns the first as an error.
    pub(crate) fn push_all(
        &mut self,
        units: &[u16],
        mode: ErrorMode,
        out: impl FnMut(&[u8]),
    ) -> Result<(), Utf16Error> {
        // For a few units, clearing a large buffer costs more than filling a small one.
        match units.len() <= 16 {
            true => self.push_through(&mut [0; 64], units, mode, out),
            false => self.push_through(&mut [0; 1024], units, mode, out),
        }
    }

    fn push_through(
        &mut self,
        buffer: &mut [u8],
        mut units: &[u16],
        mode: ErrorMode,
        mut out: impl FnMut(&[u8]),
    ) -> Result<(), Utf16Error> {
        let mut first = Ok(());
        while !units.is_empty() {
            let progress = self.push_to_slice(units, mode, buffer);
            out(&buffer[..progress.written]);
            units = &units[progress.read..];
            if let Status::IllFormed(error) = progress.status {
                first = first.and(Err(error));
            }
        }
        first
    }

    /// Decodes `units` into `out`.
    #[inline(always)]
    fn push_into(
        &mut self,
        units: &[u16],
        mode: ErrorMode,
        out: &mut impl Utf8Output,
    ) -> Progress<Utf16Error> {
        let start = out.len();
        let run = self.push_run(units, mode, out);
        if run == units.len() {
            return progress(run, &[], out.len() - start, Status::Done);
        }
        let (decoded, status) = self.push_rest(units, run, mode, out);
        // If all units have been read, those after the decoded ones are held.
        let held = if status == Status::Done { units.len() - decoded } else { 0 };
        Progress { read: decoded + held, held, written: out.len() - start, status }
    }

    /// Decodes `units` up to an unpaired surrogate that is not replaced, nothing if a surrogate is held. Returns the units
    /// read.
    #[inline(always)]
    fn push_run(&mut self, units: &[u16], mode: ErrorMode, out: &mut impl Utf8Output) -> usize {
        if self.high.is_some() {
            return 0;
        }
        let run = match mode {
            ErrorMode::Replacement => self.push_replaced(units, out),
            _ => out.push_units(units, None),
        };
        self.position += run as u64;
        run
    }

    /// Decodes and counts, with U+FFFD for unpaired surrogates. Returns the units read.
    #[inline(never)]
    fn push_replaced(&mut self, units: &[u16], out: &mut impl Utf8Output) -> usize {
        let mut replaced = 0;
        let run = out.push_units(units, Some(&mut replaced));
        if replaced > 0 {
            self.stats.add(replaced, || first_unpaired(self.position, units));
        }
        run
    }

    /// Decodes `units` after the first `run`. Returns the units decoded, and how it ended.
    #[inline(never)]
    fn push_rest(
        &mut self,
        units: &[u16],
        run: usize,
        mode: ErrorMode,
        out: &mut impl Utf8Output,
    ) -> (usize, Status<Utf16Error>) {
        let mut read = run;
        loop {
            let used = match self.push_one(&units[read..], mode, out) {
                Ok(used) => used,
                Err((_, Status::TooSmall { .. })) if read > 0 || out.len() > 0 => {
                    return (read, Status::Full);
                }
                Err((used, status)) => return (read + used, status),
            };
            read += used;
            read += self.push_run(&units[read..], mode, out);
            if read == units.len() {
                return (read, Status::Done);
            }
        }
    }

    /// Decodes the first character of `units`, or repairs the unpaired surrogate there. Returns the units decoded, and why
    /// it cannot continue.
    fn push_one(
        &mut self,
        units: &[u16],
        mode: ErrorMode,
        out: &mut impl Utf8Output,
    ) -> Result<usize, (usize, Status<Utf16Error>)> {
        let held = usize::from(self.high.is_some());
        let (used, text, error) = match self.step(units) {
            Step::Text(c) => (c.len_utf16() - held, Some(Repair::from_char(c)), None),
            Step::Error(error) => (1 - held, error.repair(mode), Some(error)),
            Step::Skip(_) | Step::NeedMore => {
                // At most one unit is left.
                self.high = units.first().copied().or(self.high);
                self.position += units.len() as u64;
                return Err((0, Status::Done));
            }
        };
        if let Some(text) = text.filter(|text| !out.push_str(text)) {
            return Err((0, Status::TooSmall { needed: text.len() }));
        }
        self.pass(used);
        match error.map(|error| self.stats.note(error)) {
            Some(error) if text.is_none() => Err((used, Status::IllFormed(error))),
            _ => Ok(used),
        }
    }

    /// Classifies the beginning of the held surrogate and `units`. More are needed if there is none, or only a high
    /// surrogate.
    fn step(&self, units: &[u16]) -> Step<char, Utf16Error> {
        let (unit, next) = match (self.high, units) {
            (_, []) => return Step::NeedMore,
            (Some(high), [next, ..]) => (high, Some(*next)),
            (None, [unit, rest @ ..]) => (*unit, rest.first().copied()),
        };
        let c = match (char::from_u32(unit.into()), next) {
            (None, None) if unit < 0xDC00 => return Step::NeedMore,
            (None, Some(next)) => surrogate_pair(unit, next),
            (c, _) => c,
        };
        let offset = self.position - u64::from(self.high.is_some());
        c.map_or(Step::Error(Utf16Error::new(offset, unit, Utf16End::NotReached)), Step::Text)
    }

    /// Ends a run of units because other text follows. A held surrogate is an error.
    pub(crate) fn interrupt(&mut self) -> Result<(), Utf16Error> {
        self.end_pair(Utf16End::NotReached)
    }

    /// Reports a held surrogate as an error.
    fn end_pair(&mut self, end: Utf16End) -> Result<(), Utf16Error> {
        let Some(error) = self.alone(end) else { return Ok(()) };
        self.pass(0);
        Err(self.stats.note(error))
    }

    /// Returns the error for a held surrogate without its pair.
    fn alone(&self, end: Utf16End) -> Option<Utf16Error> {
        let high = self.high?;
        Some(Utf16Error::new(self.position - 1, high, end))
    }

    /// Consumes the held surrogate and `units` more units.
    fn pass(&mut self, units: usize) {
        self.high = None;
        self.position += units as u64;
    }
}

/// Returns the first unpaired surrogate of `units`, which begin at `offset`.
#[cold]
fn first_unpaired(mut offset: u64, units: &[u16]) -> Option<Utf16Error> {
    for c in char::decode_utf16(units.iter().copied()) {
        match c {
            Ok(c) => offset += c.len_utf16() as u64,
            Err(error) => {
                let unit = error.unpaired_surrogate();
                return Some(Utf16Error::new(offset, unit, Utf16End::NotReached));
            }
        }
    }
    None
}

/// The output of decoding.
trait Utf8Output {
    /// Appends the text of the units. Stops before an unpaired surrogate, unless these are `replaced` and counted, before a
    /// high surrogate at the end, and before a character that does not fit. Returns the units read.
    fn push_units(&mut self, units: &[u16], replaced: Option<&mut u64>) -> usize;

    /// Appends `text`. Returns `false` if it does not fit.
    fn push_str(&mut self, text: &str) -> bool;

    /// The number of bytes in it.
    fn len(&self) -> usize;
}

struct Slice<'a> {
    buffer: &'a mut [u8],
    written: usize,
}

impl Utf8Output for Slice<'_> {
    #[inline(always)]
    fn push_units(&mut self, units: &[u16], replaced: Option<&mut u64>) -> usize {
        let room = &mut self.buffer[self.written..];
        let (read, written) = Level::detect().encode_utf16(units, room, replaced);
        self.written += written;
        read
    }

    #[inline(always)]
    fn push_str(&mut self, text: &str) -> bool {
        let room = self.buffer[self.written..].get_mut(..text.len());
        let Some(room) = room else { return false };
        room.copy_from_slice(text.as_bytes());
        self.written += text.len();
        true
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.written
    }
}

#[cfg(feature = "alloc")]
impl Utf8Output for alloc::string::String {
    #[inline(always)]
    fn push_units(&mut self, units: &[u16], mut replaced: Option<&mut u64>) -> usize {
        let level = Level::detect();
        // Enough for ASCII; for other text there is more room afterwards.
        self.reserve(units.len());
        let read = push_utf16(level, units, replaced.as_deref_mut(), self);
        let stopped_for_room = self.capacity() - self.len() < 4;
        if read == units.len() || !stopped_for_room {
            return read;
        }
        self.reserve(3 * (units.len() - read));
        read + push_utf16(level, &units[read..], replaced, self)
    }

    #[inline(always)]
    fn push_str(&mut self, text: &str) -> bool {
        Self::push_str(self, text);
        true
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len()
    }
}
