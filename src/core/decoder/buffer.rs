use crate::core::carry::Resumed;
use crate::core::decoder::Utf8Decoder;
use crate::core::decoder::destination::Destination;
use crate::core::error::Utf8Error;
use crate::core::mode::{ErrorMode, Repair};
use crate::core::scanner::Step;
use crate::core::text::Ending;

/// Bytes that are decoded in one step, before a cache could be too small for what comes of them.
const SHORT: usize = 1024;

/// How far a call from buffer to buffer has come.
///
/// # Examples
///
/// ```
/// use utf8_codec::{ErrorMode, Utf8Decoder};
/// use utf8_codec::decoder::Status;
///
/// let mut decoder = Utf8Decoder::new();
/// let mut buffer = [0; 8];
/// let progress = decoder.push_to_slice(b"abc\xE2\x82", ErrorMode::Fatal, &mut buffer);
/// assert_eq!((progress.read, progress.held, progress.written), (3, 2, 3));
/// assert_eq!(progress.status, Status::Done);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Progress<E = Utf8Error> {
    /// Units of the input whose text (or repair, or error) is out: bytes, or `char`s or UTF-16 units
    /// where these go in.
    pub read: usize,
    /// Further units of the input, up to three bytes or one UTF-16 unit, that a decoder keeps as the
    /// beginning of an unfinished sequence; 0 unless the status is [`Status::Done`]. Go on with
    /// `input[read + held..]`.
    pub held: usize,
    /// Units written to the destination: bytes, `char`s or UTF-16 units, whichever it is made of.
    pub written: usize,
    /// Why the call came back.
    pub status: Status<E>,
}

/// Why a call from buffer to buffer came back.
///
/// # Examples
///
/// Every status but `Done` says what has to change before the next call. A stream through a buffer
/// of fixed size, to its end:
///
/// ```
/// use utf8_codec::{ErrorMode, Utf8Decoder};
/// use utf8_codec::decoder::Status;
///
/// let chunks = [&b"gr\xC3"[..], b"\xB6\xC3\x9Fer: \xFF", b" 10 \xE2\x82"];
/// let (mut decoder, mode) = (Utf8Decoder::new(), ErrorMode::Replacement);
/// let (mut buffer, mut out) = ([0; 16], Vec::new());
/// for chunk in chunks {
///     let mut input = chunk;
///     loop {
///         let progress = decoder.push_to_slice(input, mode, &mut buffer);
///         out.extend_from_slice(&buffer[..progress.written]);
///         input = &input[progress.read + progress.held..];
///         match progress.status {
///             Status::Done => break,
///             Status::Full => continue, // what was in the buffer is out, and there is room again
///             Status::TooSmall { .. } => unreachable!("16 bytes are always enough"),
///             Status::IllFormed(_) => unreachable!("the mode repairs"),
///         }
///     }
/// }
/// loop {
///     let progress = decoder.finish_to_slice(mode, &mut buffer);
///     out.extend_from_slice(&buffer[..progress.written]);
///     if progress.status == Status::Done {
///         break;
///     }
/// }
/// assert_eq!(String::from_utf8(out).unwrap(), "größer: \u{FFFD} 10 \u{FFFD}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status<E = Utf8Error> {
    /// All input is used up.
    Done,
    /// The next character or repair does not fit in what is left of the destination.
    Full,
    /// Nothing was read and nothing written, because the next character or repair alone needs more
    /// than the whole destination: `needed` units of it (bytes, `char`s or UTF-16 units). With 16
    /// units this never happens.
    TooSmall {
        /// The length of what could not be written, in units of the destination.
        needed: usize,
    },
    /// An error, only in [`ErrorMode::Fatal`]; `read` counts its units, as far as they are of this
    /// input.
    IllFormed(E),
}

/// Something to write, found at the front of the input.
enum Found<'a> {
    /// Text, as much of it as fits.
    Text(&'a str),
    /// A character that was cut.
    Char(char),
    /// A repair, to be written whole.
    Repair(Repair),
    Nothing,
}

/// Buffer to buffer, with an error mode.
impl Utf8Decoder {
    /// Decodes `chunk` and appends its text to `text`, which is made to have room for as many bytes.
    ///
    /// The status is [`Status::Done`], or [`Status::IllFormed`] in [`ErrorMode::Fatal`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut text = String::new();
    /// decoder.push_to_string(b"10 \xE2\x82", ErrorMode::Replacement, &mut text);
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
        text.reserve(chunk.len());
        let before = text.len();
        let mut read = 0;
        let mut status = Status::Done;
        while read < chunk.len() && !self.incomplete().is_empty() && status == Status::Done {
            let (used, resumed) = self.resume(&chunk[read..]);
            read += used;
            match resumed {
                Resumed::Nothing => {}
                Resumed::Char(c) => text.push(c),
                Resumed::Error(error) => match mode.repair(&error) {
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
        self.progress(read, text.len() - before, status)
    }

    /// Ends the stream, and appends what repairs its end to `text`.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], as [`finish`](Self::finish).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut text = String::new();
    /// decoder.push_to_string(b"10 \xE2\x82", ErrorMode::Escape, &mut text);
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
            text.push_str(&mode.repair(&error).ok_or(error)?);
        }
        Ok(())
    }

    /// Decodes `chunk` into `buffer`, as far as it has room.
    ///
    /// No character is split and no repair cut short. See [`Status`] for going on.
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

    /// Decodes `chunk` into `chars`, as far as it has room; `written` counts `char`s.
    ///
    /// No repair is cut short. See [`Status`] for going on.
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
    /// A repair is as many `char`s as its text has:
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut chars = ['\0'; 3];
    /// let progress = Utf8Decoder::new().push_to_chars(b"\xFF", ErrorMode::Escape, &mut chars);
    /// assert_eq!((progress.read, progress.status), (0, Status::TooSmall { needed: 4 }));
    /// ```
    pub fn push_to_chars(&mut self, chunk: &[u8], mode: ErrorMode, chars: &mut [char]) -> Progress {
        self.push_to(chunk, mode, chars)
    }

    /// Decodes `chunk` into `units` of UTF-16 (in the machine's byte order), as far as it has room;
    /// `written` counts units.
    ///
    /// No pair of surrogates is split and no repair cut short. See [`Status`] for going on.
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
    pub fn push_to_utf16(&mut self, chunk: &[u8], mode: ErrorMode, units: &mut [u16]) -> Progress {
        self.push_to(chunk, mode, units)
    }

    /// Ends the stream, and writes what repairs its end into `buffer`.
    ///
    /// With [`Status::Full`] or [`Status::TooSmall`] the stream has not ended: call again with more
    /// room.
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

    /// Ends the stream, and writes what repairs its end into `chars`; `written` counts `char`s.
    ///
    /// With [`Status::Full`] or [`Status::TooSmall`] the stream has not ended: call again with more
    /// room.
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

    /// Ends the stream, and writes what repairs its end into `units` of UTF-16; `written` counts
    /// units.
    ///
    /// With [`Status::Full`] or [`Status::TooSmall`] the stream has not ended: call again with more
    /// room.
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

    /// One step where one is enough, otherwise as many as it takes.
    #[inline]
    fn push_to<D: Destination + ?Sized>(
        &mut self,
        chunk: &[u8],
        mode: ErrorMode,
        destination: &mut D,
    ) -> Progress {
        if self.scanner.is_plain() && self.incomplete().is_empty() {
            if destination.put_short_ascii(chunk) {
                self.scanner.skip(chunk.len());
                let len = chunk.len();
                return Progress { read: len, held: 0, written: len, status: Status::Done };
            }
            // No encoding takes more units than UTF-8 takes bytes.
            if chunk.len() <= SHORT && destination.size() >= chunk.len() {
                let (text, ending) = self.scanner.step_plain(chunk);
                if ending == Ending::End {
                    let (_, written) = destination.put(0, text);
                    let tail = &chunk[text.len()..];
                    self.hold(tail);
                    return self.progress(chunk.len(), written, Status::Done);
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
        let status = loop {
            if input.is_empty() {
                break Status::Done;
            }
            // What does not fit is taken back: the decoder then never was ahead of its reports.
            let before = self.clone();
            let room = destination.size() - written;
            let (used, found) = match self.find(input, mode, D::window(room)) {
                Ok(found) => found,
                Err((used, error)) => {
                    input = &input[used..];
                    break Status::IllFormed(error);
                }
            };
            let mut scratch = [0; 4];
            let whole: &str = match &found {
                Found::Nothing => "",
                Found::Char(c) => c.encode_utf8(&mut scratch),
                Found::Repair(repair) => repair,
                Found::Text(text) => {
                    let (fits, units) = destination.put(written, text);
                    if fits > 0 {
                        written += units;
                        input = &input[fits..];
                        if fits == text.len() {
                            continue;
                        }
                        self.scanner.unread(text.len() - fits);
                        break Status::Full;
                    }
                    // Not even the first character fits.
                    let first = text.chars().next().map_or(0, char::len_utf8);
                    &text[..first]
                }
            };
            let needed = D::units(whole);
            if needed > room {
                *self = before;
                break match (input.len() == chunk.len(), written) {
                    (true, 0) => Status::TooSmall { needed },
                    _ => Status::Full,
                };
            }
            destination.put(written, whole);
            written += needed;
            input = &input[used..];
        };
        self.progress(chunk.len() - input.len(), written, status)
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
            let Some(repair) = mode.repair(&error) else { break Status::IllFormed(error) };
            let needed = D::units(&repair);
            // Only a missing signature comes before another error, and nothing stands for it.
            if needed > destination.size() {
                *self = before;
                break Status::TooSmall { needed };
            }
            destination.put(0, &repair);
            written = needed;
        };
        Progress { read: 0, held: 0, written, status }
    }

    /// Finds the next thing to write, within `window` bytes of `input` if it is text.
    fn find<'a>(
        &mut self,
        input: &'a [u8],
        mode: ErrorMode,
        window: usize,
    ) -> Result<(usize, Found<'a>), (usize, Utf8Error)> {
        let (used, error) = if !self.incomplete().is_empty() {
            match self.resume(input) {
                (used, Resumed::Nothing) => return Ok((used, Found::Nothing)),
                (used, Resumed::Char(c)) => return Ok((used, Found::Char(c))),
                (used, Resumed::Error(error)) => (used, error),
            }
        } else {
            // Four bytes are never answered with `Hold`: what is held is the end of the input.
            let window = &input[..input.len().min(window.max(4))];
            match self.step(window) {
                Step::Text(text) => return Ok((text.len(), Found::Text(text))),
                Step::Silent(len) => return Ok((len, Found::Nothing)),
                Step::Hold => {
                    self.hold(input);
                    return Ok((input.len(), Found::Nothing));
                }
                Step::Error(error) => (error.bytes().len(), error),
            }
        };
        match mode.repair(&error) {
            Some(repair) => Ok((used, Found::Repair(repair))),
            None => Err((used, error)),
        }
    }

    fn progress(&self, used: usize, written: usize, status: Status) -> Progress {
        let held = match status {
            Status::Done => self.incomplete().len().min(used),
            _ => 0,
        };
        Progress { read: used - held, held, written, status }
    }
}
