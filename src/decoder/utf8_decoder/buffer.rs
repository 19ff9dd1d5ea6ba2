//! Buffer to buffer: how much of a chunk fits in a destination of fixed size, and how does the caller continue?

use crate::decoder::ends::tail;
use crate::decoder::error::Utf8Error;
use crate::decoder::mode::{ErrorMode, Repair};
use crate::decoder::partial::Resumed;
use crate::decoder::progress::{Progress, Status, progress};
use crate::decoder::step::Step;
use crate::decoder::text::Ending;
#[cfg(feature = "alloc")]
use crate::decoder::text::ErrorDensity;
use crate::decoder::utf8_decoder::Utf8Decoder;
use crate::decoder::utf8_decoder::destination::{Destination, SHORT};
#[cfg(feature = "alloc")]
use crate::decoder::utf8_decoder::lossy::RESERVE;

/// The longest chunk that is decoded in one step: short enough to stay in the cache. Rows `to-utf-16/*/64` take one
/// step, rows `to-utf-16/*/65536` many.
const ONE_STEP: usize = 1024;

/// The most bytes that are repaired before they are converted: they stay in the cache, and a window
/// costs little for each of them. 512 are 1.3 to 2.1 times as slow, 8,192 up to 1.15 times as fast. Rows
/// `replace-utf-16/*/1-in-1024`.
#[cfg(feature = "alloc")]
const REPAIR_WINDOW: usize = 4096;

/// The fewest bytes for which the repair loop is worth a `String`. Rows `replace-utf-16/*/1-in-1024`.
#[cfg(feature = "alloc")]
const SHORTEST_WINDOW: usize = 128;

/// The number of errors in a window from which the next window is repaired too. Rows `replace-utf-16/*/1-in-64`.
#[cfg(feature = "alloc")]
const DENSE_WINDOW: u64 = 2;

/// The most units that the repair of one byte has: `\xFF`.
#[cfg(feature = "alloc")]
const MOST_UNITS_PER_BYTE: usize = 4;

/// One spare byte is reserved for each of this many bytes, because most repairs are longer than their error. Then a long
/// text is not moved because of rare errors. Rows `as-windows1252/*/1-in-1024`.
#[cfg(feature = "alloc")]
const BYTES_PER_SPARE: usize = 32;

/// No character and no repair has more units than this. [`Status::TooSmall`] promises it.
const LONGEST: usize = 16;

/// What to write next.
enum ToWrite<'a> {
    /// Text. It is written as far as it fits.
    Text(&'a str),
    /// A character that was split across chunks. It is written whole.
    Char(char),
    /// A repair. It is written whole.
    Repair(Repair),
    Nothing,
}

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
        let mut read = 0;
        let mut status = Status::Done;
        while read < chunk.len() && !self.incomplete().is_empty() && status == Status::Done {
            let (used, resumed) = self.resume(&chunk[read..]);
            read += used;
            match resumed {
                Resumed::Nothing => {}
                Resumed::Char(c) => text.push(c),
                Resumed::Error(error) => match self.repair(mode, &error) {
                    Some(repair) => text.push_str(&repair),
                    None => status = Status::IllFormed(error),
                },
            }
        }
        if status == Status::Done && self.incomplete().is_empty() {
            match self.decode_lossy(&chunk[read..], mode, text) {
                Ok(used) => {
                    self.hold(&chunk[read + used..]);
                    read = chunk.len();
                }
                Err((used, error)) => {
                    read += used;
                    status = Status::IllFormed(error);
                }
            }
        }
        progress(read, self.incomplete(), text.len() - before, status)
    }

    /// Ends the stream, and appends the repair of an incomplete sequence to `text`.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], those of [`finish`](Self::finish). In the other modes, none.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut text = String::new();
    /// let progress = decoder.push_to_string(b"10 \xE2\x82", ErrorMode::Escape, &mut text);
    /// assert_eq!(progress.held, 2);
    /// decoder.finish_to_string(ErrorMode::Escape, &mut text).unwrap();
    /// assert_eq!(text, r"10 \xe2\x82");
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut chars = ['\0'; 4];
    /// let progress = decoder.push_to_chars(b"ab\xE2\x82", ErrorMode::Replacement, &mut chars);
    /// assert_eq!((progress.held, progress.written), (2, 2));
    /// let progress = decoder.finish_to_chars(ErrorMode::Replacement, &mut chars[2..]);
    /// assert_eq!((progress.written, progress.status), (1, Status::Done));
    /// assert_eq!(chars[..3], ['a', 'b', '\u{FFFD}']);
    /// ```
    pub fn finish_to_chars(&mut self, mode: ErrorMode, chars: &mut [char]) -> Progress {
        self.finish_to(mode, chars)
    }

    /// Ends the stream, and writes the repair of an incomplete sequence into `units` of UTF-16. `written` counts
    /// units.
    ///
    /// The status is that of [`finish_to_slice`](Self::finish_to_slice).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut units = [0; 4];
    /// let progress = decoder.push_to_utf16(b"ab\xF0\x9F", ErrorMode::Replacement, &mut units);
    /// assert_eq!((progress.held, progress.written), (2, 2));
    /// let progress = decoder.finish_to_utf16(ErrorMode::Replacement, &mut units[2..]);
    /// assert_eq!((progress.written, progress.status), (1, Status::Done));
    /// assert_eq!(units[..3], [0x61, 0x62, 0xFFFD]);
    /// ```
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
            && self.is_decided_by_kernel()
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
        if self.is_decided_by_kernel() {
            // No destination needs more units than UTF-8 needs bytes.
            if chunk.len() <= ONE_STEP && destination.size() >= chunk.len() {
                let (text, ending) = self.scanner.step_fast_path(chunk);
                if ending == Ending::End {
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
            let ascii = self.put_ascii(input, destination, written);
            if ascii > 0 {
                input = tail(input, ascii);
                written += ascii;
                continue;
            }
            let room = destination.size() - written;
            // Restored if the character or the repair does not fit. A copy costs as much as an error.
            let before = (room < LONGEST).then(|| self.clone());
            let (used, found) = match self.find(input, mode, D::window(room)) {
                Ok(found) => found,
                Err((used, error)) => {
                    input = tail(input, used);
                    break Status::IllFormed(error);
                }
            };
            let mut scratch = [0; 4];
            let whole: &str = match &found {
                ToWrite::Nothing => "",
                ToWrite::Char(c) => c.encode_utf8(&mut scratch),
                ToWrite::Repair(repair) => repair,
                ToWrite::Text(text) => {
                    let (fits, units) = destination.put(written, text);
                    if fits > 0 {
                        written += units;
                        input = tail(input, fits);
                        if fits == text.len() {
                            continue;
                        }
                        self.scanner.unread(text.len() - fits);
                        break Status::Full;
                    }
                    // Not even the first character fits.
                    let first = text.chars().next().map_or(0, char::len_utf8);
                    text.get(..first).unwrap_or_default()
                }
            };
            let needed = D::units(whole);
            if needed > room {
                debug_assert!(
                    before.is_some(),
                    "a character or a repair is not longer than `LONGEST`"
                );
                if let Some(before) = before {
                    *self = before;
                }
                break match (input.len() == chunk.len(), written) {
                    (true, 0) => Status::TooSmall { needed },
                    _ => Status::Full,
                };
            }
            destination.put(written, whole);
            written += needed;
            input = tail(input, used);
        };
        progress(chunk.len() - input.len(), self.incomplete(), written, status)
    }

    /// Whether the level alone decides what the input begins with: nothing is held, and the scanner is on the fast path.
    #[inline]
    fn is_decided_by_kernel(&self) -> bool {
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
        let read = self.repair_near(&input[..window], mode, repaired);
        if self.error_count() - before >= DENSE_WINDOW {
            self.scanner.set_density(ErrorDensity::Dense);
        }
        let (put, units) = destination.put(at, repaired);
        debug_assert_eq!(put, repaired.len(), "no repair has more units");
        (read, units)
    }

    /// Writes ASCII at the start of `input` from unit `at` on, if the destination has a fast path. Returns its length.
    #[inline]
    fn put_ascii<D: Destination + ?Sized>(
        &mut self,
        input: &[u8],
        destination: &mut D,
        at: usize,
    ) -> usize {
        if !self.is_decided_by_kernel() {
            return 0;
        }
        let len = destination.put_ascii(at, input);
        self.scanner.skip(len);
        len
    }

    fn finish_to<D: Destination + ?Sized>(
        &mut self,
        mode: ErrorMode,
        destination: &mut D,
    ) -> Progress {
        let mut written = 0;
        let status = loop {
            let before = self.clone();
            let Err(error) = self.finish() else { break Status::Done };
            let Some(repair) = self.repair(mode, &error) else { break Status::IllFormed(error) };
            let needed = D::units(&repair);
            // Only `MissingBom` comes before another error, and its repair is empty.
            if needed > destination.size() {
                *self = before;
                break Status::TooSmall { needed };
            }
            destination.put(0, &repair);
            written = needed;
        };
        Progress { read: 0, held: 0, written, status }
    }

    /// Returns what to write next: text within `window` bytes of `input`, a split character, or a
    /// repair.
    fn find<'a>(
        &mut self,
        input: &'a [u8],
        mode: ErrorMode,
        window: usize,
    ) -> Result<(usize, ToWrite<'a>), (usize, Utf8Error)> {
        let (used, error) = if !self.incomplete().is_empty() {
            match self.resume(input) {
                (used, Resumed::Nothing) => return Ok((used, ToWrite::Nothing)),
                (used, Resumed::Char(c)) => return Ok((used, ToWrite::Char(c))),
                (used, Resumed::Error(error)) => (used, error),
            }
        } else {
            // Four bytes are never answered with `Hold`, so held bytes are the end of the input.
            let window = &input[..input.len().min(window.max(4))];
            match self.step(window) {
                Step::Text(text) => return Ok((text.len(), ToWrite::Text(text))),
                Step::Skip(len) => return Ok((len, ToWrite::Nothing)),
                Step::NeedMore => {
                    self.hold(input);
                    return Ok((input.len(), ToWrite::Nothing));
                }
                Step::Error(error) => (error.bytes().len(), error),
            }
        };
        match self.repair(mode, &error) {
            Some(repair) => Ok((used, ToWrite::Repair(repair))),
            None => Err((used, error)),
        }
    }
}
