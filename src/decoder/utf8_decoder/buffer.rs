//! Buffer to buffer: how much of a chunk fits in a destination of fixed size, and how does the caller continue?

use utf8_simd::{PrefixEnd, head, tail};

use crate::decoder::utf8_decoder::destination::{Destination, SHORT};
#[cfg(feature = "alloc")]
use crate::decoder::utf8_decoder::lossy::RESERVE;
use crate::decoder::{
    ErrorDensity, ErrorMode, Progress, Repair, Status, Step, Utf8Decoder, Utf8Error, progress,
};

/// The longest chunk that is decoded in one step: short enough to stay in the cache. Rows `to-utf-16/*/64` take one
/// step, rows `to-utf-16/*/65536` many.
const ONE_STEP: usize = 1024;

/// The most bytes that are repaired before they are converted: they stay in the cache, and a window
/// costs little for each of them. 512 are 1.3 to 2.1 times as slow, 8,192 up to 1.15 times as fast. Rows
/// `replace-utf-16/*/1-in-1024`.
const REPAIR_WINDOW: usize = 4096;

/// The fewest bytes for which the repair loop is worth a `String`. Rows `replace-utf-16/*/1-in-1024`.
const SHORTEST_WINDOW: usize = 128;

/// The number of errors in a window from which the next window is repaired too. Rows `replace-utf-16/*/1-in-64`.
const DENSE_WINDOW: u64 = 2;

/// The most units that the repair of one byte has: `\xFF`.
const MOST_UNITS_PER_BYTE: usize = 4;

/// One spare byte is reserved for each of this many bytes, because most repairs are longer than their error. Then a long
/// text is not moved because of rare errors. Rows `as-windows1252/*/1-in-1024`.
const BYTES_PER_SPARE: usize = 32;

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
    /// A character or a repair is never written in part. [`Status`] shows how to continue.
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
        self.push_to(chunk, mode, buffer)
    }

    /// Decodes as much of `chunk` as fits into `chars`. `written` counts `char`s.
    ///
    /// A repair is never written in part. [`Status`] shows how to continue. Allocates as
    /// [`push_to_slice`](Self::push_to_slice) does.
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
        self.push_to(chunk, mode, chars)
    }

    /// Decodes as much of `chunk` as fits into `units` of UTF-16, in native byte order. `written` counts units.
    ///
    /// A surrogate pair or a repair is never written in part. [`Status`] shows how to continue. Allocates as
    /// [`push_to_slice`](Self::push_to_slice) does.
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
        self.push_to(chunk, mode, units)
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
        self.finish_to(mode, buffer)
    }

    /// Ends the stream, and writes the repair of an incomplete sequence into `chars`. `written` counts `char`s.
    ///
    /// The status is that of [`finish_to_slice`](Self::finish_to_slice).
    pub fn finish_to_chars(&mut self, mode: ErrorMode, chars: &mut [char]) -> Progress {
        self.finish_to(mode, chars)
    }

    /// Ends the stream, and writes the repair of an incomplete sequence into `units` of UTF-16. `written` counts
    /// units.
    ///
    /// The status is that of [`finish_to_slice`](Self::finish_to_slice).
    pub fn finish_to_utf16(&mut self, mode: ErrorMode, units: &mut [u16]) -> Progress {
        self.finish_to(mode, units)
    }

    /// Decodes `chunk` in one call of a level if it is short.
    // Always inlined: what the call saves and restores takes longer than the decoding. Rows `to-utf-16/*/64` of
    // `benches/scenarios/chars.rs`.
    #[inline(always)]
    fn push_to<D: Destination + ?Sized>(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        destination: &mut D,
    ) -> Progress {
        if chunk.len() <= SHORT
            && self.is_decided_by_level()
            && let Some(written) = destination.put_short(chunk)
        {
            self.scanner.skip(chunk.len());
            return Progress { read: chunk.len(), held: 0, written, status: Status::Done };
        }
        self.push_to_in_one_step(chunk, mode, destination)
    }

    /// Decodes `chunk` in one step if possible.
    #[inline(never)]
    fn push_to_in_one_step<D: Destination + ?Sized>(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        destination: &mut D,
    ) -> Progress {
        if self.is_decided_by_level() {
            // No destination needs more units than UTF-8 needs bytes.
            if chunk.len() <= ONE_STEP && destination.size() >= chunk.len() {
                let (text, end) = self.scanner.step_fast_path(chunk);
                if !matches!(end, PrefixEnd::IllFormed(_)) {
                    let (_, written) = destination.put(0, text);
                    self.hold(tail(chunk, text.len()));
                    return progress(chunk.len(), self.incomplete(), written, Status::Done);
                }
                self.scanner.unread(text.len());
            }
        }
        self.push_to_in_steps(chunk, mode, destination)
    }

    #[inline(never)]
    fn push_to_in_steps<D: Destination + ?Sized>(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        destination: &mut D,
    ) -> Progress {
        let mut input = chunk;
        let mut written = 0;
        #[cfg(feature = "alloc")]
        let mut repaired = alloc::string::String::new();
        let status = loop {
            if input.is_empty() {
                break Status::Done;
            }
            #[cfg(feature = "alloc")]
            {
                let (read, units) =
                    self.put_repaired(input, mode, destination, written, &mut repaired);
                if read > 0 {
                    input = tail(input, read);
                    written += units;
                    continue;
                }
            }
            let next = self.put_next(input, mode, destination, written);
            input = tail(input, next.read);
            written += next.written;
            match next.status {
                Status::Done => {}
                Status::TooSmall { .. } if written > 0 || input.len() < chunk.len() => {
                    break Status::Full;
                }
                status => break status,
            }
        };
        progress(chunk.len() - input.len(), self.incomplete(), written, status)
    }

    /// Writes what `input` begins with from unit `at` on: text as far as it fits, a split character or a repair whole. What
    /// does not fit is not consumed. The status is that for a destination that begins there.
    fn put_next<D: Destination + ?Sized>(
        &mut self,
        input: &[u8],
        mode: ErrorMode,
        destination: &mut D,
        at: usize,
    ) -> Progress {
        if self.is_decided_by_level()
            && let len @ 1.. = destination.put_ascii(at, input)
        {
            self.scanner.skip(len);
            return progress(len, &[], len, Status::Done);
        }
        let room = destination.size() - at;
        let (mut scanner, mut partial) = (self.scanner, self.partial);
        let (read, step) = if partial.is_empty() {
            // Four bytes are never answered with `NeedMore`, so held bytes are the end of the input.
            match scanner.step(head(input, input.len().min(D::window(room).max(4)))) {
                Step::Text(text) => {
                    let (fits, units) = destination.put(at, text);
                    scanner.unread(text.len() - fits);
                    self.scanner = scanner;
                    let next = text.get(fits..).and_then(|rest| rest.chars().next());
                    let status = next.map_or(Status::Done, |c| Status::TooSmall {
                        needed: D::units(c.encode_utf8(&mut [0; 4])),
                    });
                    return progress(fits, &[], units, status);
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
        let needed = D::units(&whole);
        if needed > room {
            return progress(0, &[], 0, Status::TooSmall { needed });
        }
        (self.scanner, self.partial) = (scanner, partial);
        if let Step::Error(error) = step {
            self.stats.note(error);
        }
        destination.put(at, &whole);
        progress(read, &[], needed, status)
    }

    /// Whether the level alone decides what the input begins with: nothing is held, and the scanner is on the fast path.
    #[inline]
    fn is_decided_by_level(&self) -> bool {
        self.scanner.is_on_fast_path() && self.incomplete().is_empty()
    }

    /// If the repair loop is faster: repairs the start of `input` and writes it from unit `at` on. Returns the bytes
    /// read and the units written, or zeros.
    #[cfg(feature = "alloc")]
    #[inline]
    fn put_repaired<D: Destination + ?Sized>(
        &mut self,
        input: &[u8],
        mode: ErrorMode,
        destination: &mut D,
        at: usize,
        repaired: &mut alloc::string::String,
    ) -> (usize, usize) {
        let room = destination.size() - at;
        let window = input.len().min(room / MOST_UNITS_PER_BYTE).min(REPAIR_WINDOW);
        let is_faster = window >= SHORTEST_WINDOW
            && mode != ErrorMode::Fatal
            && self.scanner.are_errors_dense()
            && self.incomplete().is_empty();
        if !is_faster {
            return (0, 0);
        }
        repaired.clear();
        repaired.reserve(window * MOST_UNITS_PER_BYTE + RESERVE);
        let before = self.error_count();
        let read = self.repair_near(head(input, window), mode, repaired);
        if self.error_count() - before >= DENSE_WINDOW {
            self.scanner.set_density(ErrorDensity::Dense);
        }
        let (put, units) = destination.put(at, repaired);
        debug_assert_eq!(put, repaired.len(), "no repair has more units");
        (read, units)
    }

    fn finish_to<D: Destination + ?Sized>(
        &mut self,
        mode: ErrorMode,
        destination: &mut D,
    ) -> Progress {
        let mut written = 0;
        let status = loop {
            let (mut scanner, mut partial) = (self.scanner, self.partial);
            let Some(error) = partial.finish(&mut scanner) else { break Status::Done };
            let repair = self.repair(mode, &error);
            let needed = repair.map_or(0, |repair| D::units(&repair));
            // Only `MissingBom` comes before another error, and its repair is empty.
            if needed > destination.size() {
                break Status::TooSmall { needed };
            }
            (self.scanner, self.partial) = (scanner, partial);
            self.stats.note(error);
            let Some(repair) = repair else { break Status::IllFormed(error) };
            destination.put(0, &repair);
            written = needed;
        };
        progress(0, &[], written, status)
    }
}
