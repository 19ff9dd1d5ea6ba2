//! Buffer to buffer: how much of a chunk fits in a destination of fixed size, and how does the caller continue?

use utf8_simd::{
    Level, RepairedPrefix, Stop, Target, Transcoded, Utf8, Utf16, Validated, head, tail, tail_mut,
    transcode,
};

#[cfg(feature = "alloc")]
use crate::decoder::utf8_decoder::lossy::RESERVE;
use crate::decoder::{
    ErrorDensity, ErrorMode, Progress, Repair, Status, Step, Utf8Decoder, Utf8Error, progress,
};

/// The most bytes that are repaired before they are converted: they stay in the cache, and a window
/// costs little for each of them. 512 are 1.3 to 2.1 times as slow, 8,192 up to 1.15 times as fast. Rows
/// `replace-utf-16/*/1-in-1024`.
const REPAIR_WINDOW: usize = 4096;

/// The fewest bytes for which the repair loop is worth a `String`. Rows `replace-utf-16/*/1-in-1024`.
const SHORTEST_WINDOW: usize = 128;

/// The number of errors in a window from which the next window is repaired too. Rows `replace-utf-16/*/1-in-64`.
const DENSE_WINDOW: u64 = 2;

/// The most bytes that the repair of one byte has: `\xFF`.
const MOST_BYTES_PER_BYTE: usize = 4;

/// The most units that one byte of text or its repair has.
fn most_units_per_byte<T: Target>(mode: ErrorMode) -> usize {
    match mode {
        ErrorMode::Escape => MOST_BYTES_PER_BYTE,
        _ if size_of::<T::Unit>() == 1 => MOST_BYTES_PER_BYTE,
        // A character outside ASCII has no more units than bytes, and each other repair is one character for a byte.
        _ => 1,
    }
}

/// One spare byte is reserved for each of this many bytes, because most repairs are longer than their error. Then a long
/// text is not moved because of rare errors. Rows `as-windows1252/*/1-in-1024`.
const BYTES_PER_SPARE: usize = 32;

/// Memory for repaired text.
#[cfg(feature = "alloc")]
type Scratch = alloc::string::String;
#[cfg(not(feature = "alloc"))]
type Scratch = [u8; 0];

/// Buffer to buffer, with an error mode.
impl Utf8Decoder {
    /// Decodes `chunk` and appends its text to `text`.
    ///
    /// If fewer than `chunk.len()` bytes are free, it reserves `chunk.len()` bytes, and in lossy modes another 32nd of them
    /// for repairs. The status is [`Status::Done`], or, in [`ErrorMode::Fatal`],
    /// [`Status::IllFormed`]. To continue after the error, push `chunk[read..]`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut text = String::new();
    /// let progress = decoder.push_to_string(b"10 \xE2\x82", ErrorMode::Replacement, &mut text);
    /// assert_eq!((progress.read, progress.held, progress.written), (5, 2, 3));
    /// let progress = decoder.push_to_string(b"\xAC or \xFF", ErrorMode::Replacement, &mut text);
    /// assert_eq!(progress.status, Status::Done);
    /// assert_eq!(text, "10 € or \u{FFFD}");
    /// assert_eq!(decoder.error_count(), 1);
    /// ```
    #[cfg(feature = "alloc")]
    #[doc(alias = "with_error_mode")]
    pub fn push_to_string(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        text: &mut alloc::string::String,
    ) -> Progress {
        if text.capacity() - text.len() < chunk.len() {
            let repairs = if mode == ErrorMode::Fatal { 0 } else { chunk.len() / BYTES_PER_SPARE };
            text.reserve(chunk.len() + repairs);
        }
        let before = text.len();
        let mut input = chunk;
        let mut status = Status::Done;
        while status == Status::Done
            && let Some(split) = self.partial.take(&mut self.scanner, &mut input)
        {
            match split {
                Ok(c) => text.push(c),
                Err(error) => {
                    self.stats.note(error);
                    match self.repair(mode, &error) {
                        Some(repair) => text.push_str(&repair),
                        None => status = Status::IllFormed(error),
                    }
                }
            }
        }
        if status == Status::Done && self.incomplete().is_empty() {
            match self.decode_lossy(input, mode, text) {
                Ok(used) => {
                    self.hold(tail(input, used));
                    input = &[];
                }
                Err((used, error)) => {
                    input = tail(input, used);
                    status = Status::IllFormed(error);
                }
            }
        }
        progress(chunk.len() - input.len(), self.incomplete(), text.len() - before, status)
    }

    /// Ends the stream, and appends the repair of an incomplete sequence to `text`.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], those of [`finish`](Self::finish). In the other modes, none.
    #[cfg(feature = "alloc")]
    pub fn finish_to_string(
        &mut self,
        mode: ErrorMode,
        text: &mut alloc::string::String,
    ) -> Result<(), Utf8Error> {
        while let Err(error) = self.finish() {
            text.push_str(&self.repair(mode, &error).ok_or(error)?);
        }
        Ok(())
    }

    /// Decodes as much of `chunk` as fits into `buffer`.
    ///
    /// A character or a repair is never written in part. [`Status`] shows how to continue. The bytes of `buffer` after those
    /// written may be overwritten.
    ///
    /// With the feature `alloc`, in a lossy mode, a call allocates up to 16.5 KiB while errors are dense: it repairs
    /// up to 4 KiB at a time in a `String`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut buffer = [0; 5];
    /// let progress = decoder.push_to_slice(b"abc\x80def", ErrorMode::Replacement, &mut buffer);
    /// assert_eq!((progress.read, progress.written, progress.status), (3, 3, Status::Full));
    /// let progress = decoder.push_to_slice(b"\x80def", ErrorMode::Replacement, &mut buffer);
    /// assert_eq!(&buffer[..progress.written], "\u{FFFD}de".as_bytes());
    /// ```
    pub fn push_to_slice(&mut self, chunk: &[u8], mode: ErrorMode, buffer: &mut [u8]) -> Progress {
        self.push_to::<Utf8>(chunk, mode, buffer)
    }

    /// Decodes as much of `chunk` as fits into `chars`. `written` counts `char`s.
    ///
    /// A repair is never written in part. [`Status`] shows how to continue. The `char`s after those written may be
    /// overwritten. Allocates as [`push_to_slice`](Self::push_to_slice) does, but nothing in [`ErrorMode::Replacement`] on a
    /// machine with vectors.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut chars = ['\0'; 5];
    /// let progress = decoder.push_to_chars("größer".as_bytes(), ErrorMode::Fatal, &mut chars);
    /// assert_eq!((progress.read, progress.written, progress.status), (7, 5, Status::Full));
    /// assert_eq!(chars, ['g', 'r', 'ö', 'ß', 'e']);
    /// ```
    ///
    /// A repair can be several `char`s:
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut chars = ['\0'; 3];
    /// let progress = Utf8Decoder::new().push_to_chars(b"\xFF", ErrorMode::Escape, &mut chars);
    /// assert_eq!((progress.read, progress.status), (0, Status::TooSmall { needed: 4 }));
    /// ```
    #[inline]
    pub fn push_to_chars(&mut self, chunk: &[u8], mode: ErrorMode, chars: &mut [char]) -> Progress {
        self.push_to::<char>(chunk, mode, chars)
    }

    /// Decodes as much of `chunk` as fits into `units` of UTF-16, in native byte order. `written` counts units.
    ///
    /// A surrogate pair or a repair is never written in part. [`Status`] shows how to continue. The units after those
    /// written may be overwritten. Allocates as [`push_to_slice`](Self::push_to_slice) does, but nothing in
    /// [`ErrorMode::Replacement`] on a machine with vectors.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut units = [0; 4];
    /// let progress = decoder.push_to_utf16("abc👋".as_bytes(), ErrorMode::Fatal, &mut units);
    /// assert_eq!((progress.read, progress.written, progress.status), (3, 3, Status::Full));
    /// let progress = decoder.push_to_utf16("👋".as_bytes(), ErrorMode::Fatal, &mut units);
    /// assert_eq!((progress.read, progress.written, progress.status), (4, 2, Status::Done));
    /// assert_eq!(units[..2], [0xD83D, 0xDC4B]);
    /// ```
    #[inline]
    pub fn push_to_utf16(&mut self, chunk: &[u8], mode: ErrorMode, units: &mut [u16]) -> Progress {
        self.push_to::<Utf16>(chunk, mode, units)
    }

    /// Ends the stream, and writes the repair of an incomplete sequence into `buffer`.
    ///
    /// Returns [`Status::TooSmall`] if the repair does not fit: nothing has been written, and you can repeat the call
    /// with more room. In [`ErrorMode::Fatal`], returns [`Status::IllFormed`] once for each error. Call it until
    /// [`Status::Done`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut buffer = [0; 16];
    /// let progress = decoder.push_to_slice(b"\xE2\x82", ErrorMode::Escape, &mut buffer);
    /// assert_eq!((progress.held, progress.written), (2, 0));
    /// let progress = decoder.finish_to_slice(ErrorMode::Escape, &mut buffer[..5]);
    /// assert_eq!(progress.status, Status::TooSmall { needed: 8 });
    /// let progress = decoder.finish_to_slice(ErrorMode::Escape, &mut buffer);
    /// assert_eq!(&buffer[..progress.written], br"\xe2\x82");
    /// ```
    pub fn finish_to_slice(&mut self, mode: ErrorMode, buffer: &mut [u8]) -> Progress {
        self.finish_to::<Utf8>(mode, buffer)
    }

    /// Ends the stream, and writes the repair of an incomplete sequence into `chars`. `written` counts `char`s.
    ///
    /// The status is that of [`finish_to_slice`](Self::finish_to_slice).
    pub fn finish_to_chars(&mut self, mode: ErrorMode, chars: &mut [char]) -> Progress {
        self.finish_to::<char>(mode, chars)
    }

    /// Ends the stream, and writes the repair of an incomplete sequence into `units` of UTF-16. `written` counts
    /// units.
    ///
    /// The status is that of [`finish_to_slice`](Self::finish_to_slice).
    pub fn finish_to_utf16(&mut self, mode: ErrorMode, units: &mut [u16]) -> Progress {
        self.finish_to::<Utf16>(mode, units)
    }

    /// Decodes `chunk` into `units`.
    // Always inlined: what the call saves and restores takes longer than decoding a short chunk. Rows `to-utf-16/*/64`.
    #[inline(always)]
    fn push_to<T: Target>(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        units: &mut [T::Unit],
    ) -> Progress {
        let done = self.put_text::<T>(chunk, units);
        match done.stop {
            Stop::Done => progress(done.read, &[], done.written, Status::Done),
            _ => self.push_on::<T>(chunk, mode, units, done),
        }
    }

    /// Continues after what is `done`: in turn what only the steps of the decoder decide, and text.
    #[inline(never)]
    fn push_on<T: Target>(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        units: &mut [T::Unit],
        mut done: Transcoded,
    ) -> Progress {
        let (mut input, mut written) = (chunk, 0);
        let mut scratch = Scratch::default();
        let status = loop {
            input = tail(input, done.read);
            written += done.written;
            match done.stop {
                Stop::Done => break Status::Done,
                Stop::Incomplete(_) => {
                    self.hold(input);
                    input = &[];
                    break Status::Done;
                }
                Stop::IllFormed(_) => self.scanner.set_density(ErrorDensity::Dense),
                Stop::Full | Stop::Unmappable(_) => {}
            }
            let room = tail_mut(units, written);
            let next = self.put_next::<T>(input, mode, room, &mut scratch);
            input = tail(input, next.read);
            written += next.written;
            match next.status {
                Status::Done => {}
                Status::TooSmall { .. } if written > 0 || input.len() < chunk.len() => {
                    break Status::Full;
                }
                status => break status,
            }
            done = self.put_text::<T>(input, tail_mut(units, written));
        };
        progress(chunk.len() - input.len(), self.incomplete(), written, status)
    }

    /// Writes text as far as the level alone decides what it is: while nothing is held, and the scanner is on the fast path.
    #[inline(always)]
    fn put_text<T: Target>(&mut self, input: &[u8], room: &mut [T::Unit]) -> Transcoded {
        if !self.scanner.is_on_fast_path() || !self.partial.is_empty() {
            let stop = if input.is_empty() { Stop::Done } else { Stop::Full };
            return Transcoded { read: 0, written: 0, stop };
        }
        let done = transcode::<Utf8, T>(input, room);
        self.scanner.skip(done.read);
        done
    }

    /// Writes what `input` begins with: repairs in bulk, text as far as it fits, a split character or a repair whole. What
    /// does not fit is not consumed. The status is that for a destination that begins there.
    #[inline(never)]
    fn put_next<T: Target>(
        &mut self,
        input: &[u8],
        mode: ErrorMode,
        room: &mut [T::Unit],
        scratch: &mut Scratch,
    ) -> Progress {
        if let Some(done) = self.put_damaged::<T>(input, mode, room) {
            return done;
        }
        #[cfg(feature = "alloc")]
        if let Some(done) = self.put_repaired::<T>(input, mode, room, scratch) {
            return done;
        }
        let (mut scanner, mut partial) = (self.scanner, self.partial);
        let (read, step) = if partial.is_empty() {
            // No unit stands for more than 4 bytes.
            match scanner.step(head(input, input.len().min(room.len().saturating_mul(4).max(4)))) {
                Step::Text(text) => {
                    let Transcoded { read, written, .. } = transcode::<str, T>(text, room);
                    scanner.unread(text.len() - read);
                    self.scanner = scanner;
                    let next = text.get(read..).and_then(|rest| rest.chars().next());
                    let status = next.map_or(Status::Done, |c| Status::TooSmall {
                        needed: OutputUnits::<T>::of(&Repair::from_char(c)).len,
                    });
                    return progress(read, &[], written, status);
                }
                Step::Skip(len) => (len, Step::Skip(len)),
                Step::Error(error) => (error.bytes().len(), Step::Error(error)),
                Step::NeedMore => {
                    partial.hold(input);
                    (input.len(), Step::NeedMore)
                }
            }
        } else {
            partial.resume(&mut scanner, input)
        };
        let (whole, status) = match step {
            Step::Text(c) => (Repair::from_char(c), Status::Done),
            Step::Skip(_) | Step::NeedMore => (Repair::EMPTY, Status::Done),
            Step::Error(error) => match self.repair(mode, &error) {
                Some(repair) => (repair, Status::Done),
                None => (Repair::EMPTY, Status::IllFormed(error)),
            },
        };
        let units = OutputUnits::<T>::of(&whole);
        if !units.fit(room) {
            return progress(0, &[], 0, Status::TooSmall { needed: units.len });
        }
        (self.scanner, self.partial) = (scanner, partial);
        if let Step::Error(error) = step {
            self.stats.note(error);
        }
        progress(read, &[], units.len, status)
    }

    /// Writes the start of `input`, repaired, if the engine has a fast method for it.
    fn put_damaged<T: Target>(
        &mut self,
        input: &[u8],
        mode: ErrorMode,
        room: &mut [T::Unit],
    ) -> Option<Progress> {
        let asks_for_it = mode == ErrorMode::Replacement
            && self.scanner.are_errors_dense()
            && self.partial.is_empty();
        if !asks_for_it {
            return None;
        }
        let RepairedPrefix { read: read @ 1.., written, errors } = T::put_damaged(input, room)
        else {
            return None;
        };
        let position = self.scanner.position();
        self.stats.add(errors as u64, || {
            let Validated { valid_up_to, error_len } = Level::detect().validate(input);
            let part = tail(input, valid_up_to);
            Some(Utf8Error::classify(position + valid_up_to as u64, part, error_len.get()?))
        });
        self.scanner.skip(read);
        let is_dense = errors as u64 >= DENSE_WINDOW;
        let density = if is_dense { ErrorDensity::Dense } else { ErrorDensity::Rare };
        self.scanner.set_density(density);
        Some(progress(read, &[], written, Status::Done))
    }

    /// If the repair loop is faster: writes the start of `input`, repaired.
    #[cfg(feature = "alloc")]
    #[inline]
    fn put_repaired<T: Target>(
        &mut self,
        input: &[u8],
        mode: ErrorMode,
        room: &mut [T::Unit],
        text: &mut Scratch,
    ) -> Option<Progress> {
        let window =
            input.len().min(room.len() / most_units_per_byte::<T>(mode)).min(REPAIR_WINDOW);
        let is_faster = window >= SHORTEST_WINDOW
            && mode != ErrorMode::Fatal
            && self.scanner.are_errors_dense()
            && self.partial.is_empty();
        if !is_faster {
            return None;
        }
        text.clear();
        text.reserve(window * MOST_BYTES_PER_BYTE + RESERVE);
        let before = self.error_count();
        let read = self.repair_near(head(input, window), mode, text);
        if self.error_count() - before >= DENSE_WINDOW {
            self.scanner.set_density(ErrorDensity::Dense);
        }
        let done = transcode::<str, T>(text, room);
        debug_assert_eq!(done.read, text.len(), "no repair has more units");
        (read > 0).then(|| progress(read, &[], done.written, Status::Done))
    }

    fn finish_to<T: Target>(&mut self, mode: ErrorMode, room: &mut [T::Unit]) -> Progress {
        let mut written = 0;
        let status = loop {
            let (mut scanner, mut partial) = (self.scanner, self.partial);
            let Some(error) = partial.finish(&mut scanner) else { break Status::Done };
            let repair = self.repair(mode, &error);
            let units = OutputUnits::<T>::of(&repair.unwrap_or_default());
            // Only `MissingBom` comes before another error, and its repair is empty.
            if !units.fit(room) {
                break Status::TooSmall { needed: units.len };
            }
            (self.scanner, self.partial) = (scanner, partial);
            self.stats.note(error);
            if repair.is_none() {
                break Status::IllFormed(error);
            }
            written = units.len;
        };
        progress(0, &[], written, status)
    }
}

/// The units of a character or a repair, which are written whole or not at all.
struct OutputUnits<T: Target> {
    units: [T::Unit; 24],
    len: usize,
}

impl<T: Target> OutputUnits<T> {
    fn of(text: &Repair) -> Self {
        let mut units = [T::Unit::default(); 24];
        let len = transcode::<str, T>(text, &mut units).written;
        Self { units, len }
    }

    /// Writes them, if they fit.
    fn fit(&self, room: &mut [T::Unit]) -> bool {
        let room = room.get_mut(..self.len).zip(self.units.get(..self.len));
        room.map(|(room, units)| room.copy_from_slice(units)).is_some()
    }
}
