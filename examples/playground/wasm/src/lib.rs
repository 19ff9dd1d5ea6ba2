//! The decoder as the page sees it: [`trace`] decodes a stream chunk by chunk and records every step as JSON;
//! [`Validator`] and [`Decoder`] are what the race runs.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use utf8_codec::decoder::Status;
use utf8_codec::io::{StreamError, Utf8Lines, Utf8Reader};
use utf8_codec::lines::Delimiter;
use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Error, Utf8Options, Utf8Validator};
use utf8_simd::Level;
use wasm_bindgen::prelude::wasm_bindgen;

/// The controls of the page.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settings {
    bom: Bom,
    mode: Mode,
    reject: Vec<Reject>,
    mid_stream: bool,
    lines: Lines,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Bom {
    Keep,
    Strip,
    Require,
    Forbid,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    Fatal,
    Replacement,
    Skip,
    Escape,
    Latin1,
    Windows1252,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reject {
    Nul,
    Controls,
    ControlsExceptWhitespace,
    Noncharacters,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Lines {
    Off,
    Lf,
    Crlf,
    AnyNewline,
    Nul,
}

impl Settings {
    fn options(&self) -> Utf8Options {
        let options = self.reject.iter().fold(Utf8Options::new(), |options, reject| match reject {
            Reject::Nul => options.reject_nul(),
            Reject::Controls => options.reject_controls(),
            Reject::ControlsExceptWhitespace => options.reject_controls_except_whitespace(),
            Reject::Noncharacters => options.reject_noncharacters(),
        });
        if self.mid_stream {
            return options.with_mid_stream_start();
        }
        options.with_bom(match self.bom {
            Bom::Keep => BomPolicy::Keep,
            Bom::Strip => BomPolicy::Strip,
            Bom::Require => BomPolicy::Require,
            Bom::Forbid => BomPolicy::Forbid,
        })
    }

    fn mode(&self) -> ErrorMode {
        match self.mode {
            Mode::Fatal => ErrorMode::Fatal,
            Mode::Replacement => ErrorMode::Replacement,
            Mode::Skip => ErrorMode::Skip,
            Mode::Escape => ErrorMode::Escape,
            Mode::Latin1 => ErrorMode::Latin1,
            Mode::Windows1252 => ErrorMode::Windows1252,
        }
    }

    fn delimiter(&self) -> Option<Delimiter> {
        match self.lines {
            Lines::Off => None,
            Lines::Lf => Some(Delimiter::lf()),
            Lines::Crlf => Some(Delimiter::crlf()),
            Lines::AnyNewline => Some(Delimiter::any_newline()),
            Lines::Nul => Some(Delimiter::nul()),
        }
    }
}

/// The state after one chunk, or after the end of the stream.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    /// The chunk. Empty for the end of the stream.
    start: usize,
    end: usize,
    pieces: Vec<Piece>,
    held: Vec<u8>,
    position: u64,
    error_count: u64,
    /// An error ended the stream: the mode is `Fatal`.
    stopped: bool,
    lines: Vec<LineItem>,
    /// The number of bytes of the incomplete line.
    line_rest: usize,
}

/// What a chunk yields, in the order of the stream.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Piece {
    Text {
        offset: u64,
        text: String,
    },
    Bom {
        offset: u64,
        len: u64,
    },
    Skipped {
        offset: u64,
        len: u64,
    },
    Error {
        offset: u64,
        len: u64,
        /// The name of the `Utf8ErrorKind`.
        kind: String,
        bytes: Vec<u8>,
        next: Option<u8>,
        message: String,
        /// The text that replaces the part. `None` in the mode `Fatal`.
        repair: Option<String>,
    },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LineItem {
    number: u64,
    offset: u64,
    text: Option<String>,
    error: Option<String>,
    /// Whether a delimiter ended the line.
    delimited: bool,
}

/// Decodes `bytes` in chunks that end before each of `cuts`, and returns an array of steps as JSON: one step
/// per chunk, and one for the end of the stream.
///
/// # Errors
///
/// `settings` is not the JSON of a [`Settings`], or `cuts` are not in ascending order inside `bytes`.
#[wasm_bindgen]
pub fn trace(bytes: &[u8], cuts: &[u32], settings: &str) -> Result<String, String> {
    let settings: Settings = serde_json::from_str(settings).map_err(|error| error.to_string())?;
    let cuts: Vec<_> = cuts.iter().map(|&cut| cut as usize).collect();
    let borders: Vec<_> = [0].into_iter().chain(cuts).chain([bytes.len()]).collect();
    if !borders.is_sorted() {
        return Err("the cuts are not in order".into());
    }
    let mut session = Session::new(&settings);
    let mut steps = Vec::new();
    for pair in borders.windows(2) {
        let step = session.push(bytes, pair[0], pair[1]);
        let stopped = step.stopped;
        steps.push(step);
        if stopped {
            return serde_json::to_string(&steps).map_err(|error| error.to_string());
        }
    }
    steps.push(session.finish(bytes.len()));
    serde_json::to_string(&steps).map_err(|error| error.to_string())
}

/// Returns the name of the kernel that this module uses; `simd128` if it was built with that feature.
#[wasm_bindgen]
#[must_use]
pub fn kernel() -> String {
    Level::detect().name().into()
}

struct Session {
    decoder: Utf8Decoder,
    mode: ErrorMode,
    options: Utf8Options,
    lines: Option<(Feed, Utf8Lines<Utf8Reader<Feed>>)>,
    /// The offset of the next piece.
    offset: u64,
}

impl Session {
    fn new(settings: &Settings) -> Self {
        let (options, mode) = (settings.options(), settings.mode());
        let lines = settings.delimiter().map(|delimiter| {
            let feed = Feed::default();
            let reader = Utf8Reader::new(feed.clone()).with_options(options).with_error_mode(mode);
            (feed, reader.into_lines().with_delimiter(delimiter))
        });
        let decoder = Utf8Decoder::new().with_options(options);
        Self { decoder, mode, options, lines, offset: 0 }
    }

    fn push(&mut self, bytes: &[u8], start: usize, end: usize) -> Step {
        // Rejected lines do not end a stream of lines.
        let stops = self.mode == ErrorMode::Fatal && self.lines.is_none();
        let before = (self.decoder.bom_seen(), self.decoder.skipped());
        let mut found = Vec::new();
        for piece in self.decoder.push(&bytes[start..end]) {
            let is_err = piece.is_err();
            found.push(piece.map(str::to_owned));
            if is_err && stops {
                break;
            }
        }
        let mut pieces = Vec::new();
        // Only text and errors are yielded. A BOM and skipped bytes precede them.
        if self.decoder.bom_seen() && !before.0 {
            self.offset = 3;
            pieces.push(Piece::Bom { offset: 0, len: 3 });
        }
        let skipped = (self.decoder.skipped() - before.1) as u64;
        if skipped > 0 {
            pieces.push(Piece::Skipped { offset: self.offset, len: skipped });
            self.offset += skipped;
        }
        let stopped = stops && matches!(found.last(), Some(Err(_)));
        for piece in found {
            pieces.push(self.piece(piece));
        }
        let lines = self.take_lines(|feed| feed.bytes.extend_from_slice(&bytes[start..end]));
        self.step(start, end, pieces, lines, stopped)
    }

    fn finish(&mut self, end: usize) -> Step {
        let mut pieces = Vec::new();
        let mut stopped = false;
        while let Err(error) = self.decoder.finish() {
            pieces.push(self.piece(Err(error)));
            stopped = self.mode == ErrorMode::Fatal && self.lines.is_none();
        }
        let lines = self.take_lines(|feed| feed.ended = true);
        self.step(end, end, pieces, lines, stopped)
    }

    fn piece(&mut self, piece: Result<String, Utf8Error>) -> Piece {
        let (offset, piece) = match piece {
            Ok(text) => {
                (self.offset + text.len() as u64, Piece::Text { offset: self.offset, text })
            }
            Err(error) => {
                let (offset, len) = (error.valid_up_to(), error.bytes().len() as u64);
                let piece = Piece::Error {
                    offset,
                    len,
                    kind: format!("{:?}", error.kind()),
                    bytes: error.bytes().to_vec(),
                    next: error.next_byte(),
                    message: error.to_string(),
                    repair: self.mode.repair(&error, self.options).map(|repair| repair.to_string()),
                };
                (offset + len, piece)
            }
        };
        self.offset = offset;
        piece
    }

    /// Feeds the lines and returns those that are complete.
    fn take_lines(&mut self, feed_them: impl FnOnce(&mut Waiting)) -> Vec<LineItem> {
        let Some((feed, lines)) = &mut self.lines else { return Vec::new() };
        feed_them(&mut feed.0.borrow_mut());
        let mut items = Vec::new();
        for line in lines {
            items.push(match line {
                Ok(line) => LineItem {
                    number: line.number,
                    offset: line.offset,
                    delimited: line.is_terminated(),
                    text: Some(line.into()),
                    error: None,
                },
                Err(StreamError::Line(error)) => LineItem {
                    number: error.number(),
                    offset: error.offset(),
                    text: None,
                    error: Some(error.to_string()),
                    delimited: true,
                },
                // The feed waits for the next chunk.
                Err(_) => break,
            });
        }
        items
    }

    fn step(
        &self,
        start: usize,
        end: usize,
        pieces: Vec<Piece>,
        lines: Vec<LineItem>,
        stopped: bool,
    ) -> Step {
        Step {
            start,
            end,
            pieces,
            held: self.decoder.incomplete().to_vec(),
            position: self.decoder.position(),
            error_count: self.decoder.error_count(),
            stopped,
            lines,
            line_rest: self.lines.as_ref().map_or(0, |(_, lines)| lines.rest().len()),
        }
    }
}

/// A reader of the chunks so far. At their end it would block.
#[derive(Clone, Debug, Default)]
struct Feed(Rc<RefCell<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    ended: bool,
}

impl Read for Feed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Waiting { bytes, ended } = &mut *self.0.borrow_mut();
        if bytes.is_empty() && !*ended {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let len = bytes.len().min(buffer.len());
        buffer[..len].copy_from_slice(&bytes[..len]);
        bytes.drain(..len);
        Ok(len)
    }
}

/// Validates a stream.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Validator(Utf8Validator);

#[wasm_bindgen]
impl Validator {
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Validates the next chunk. Returns whether it is well-formed.
    pub fn push(&mut self, chunk: &[u8]) -> bool {
        self.0.push(chunk).is_ok()
    }

    /// Ends the stream and starts the next. Returns whether the end is well-formed.
    pub fn finish(&mut self) -> bool {
        let well_formed = self.0.finish().is_ok();
        self.0.reset();
        well_formed
    }
}

/// Decodes a stream to UTF-16, the form of JavaScript's strings, in the memory of this module. Errors become
/// U+FFFD.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Decoder {
    decoder: Utf8Decoder,
    units: Vec<u16>,
}

#[wasm_bindgen]
impl Decoder {
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes the next chunk. Returns the number of UTF-16 units.
    pub fn push(&mut self, chunk: &[u8]) -> usize {
        // No byte becomes more than one unit. The held bytes can become one each.
        if self.units.len() < chunk.len() + 3 {
            self.units.resize(chunk.len() + 3, 0);
        }
        let progress = self.decoder.push_to_utf16(chunk, ErrorMode::Replacement, &mut self.units);
        debug_assert_eq!(progress.status, Status::Done);
        progress.written
    }

    /// Ends the stream and starts the next. Returns the number of UTF-16 units.
    pub fn finish(&mut self) -> usize {
        self.units.resize(self.units.len().max(3), 0);
        let progress = self.decoder.finish_to_utf16(ErrorMode::Replacement, &mut self.units);
        self.decoder.reset();
        progress.written
    }

    /// Returns the units that the last call wrote, as a string. `len` is the number it returned.
    #[must_use]
    pub fn text(&self, len: usize) -> String {
        String::from_utf16_lossy(&self.units[..len])
    }
}
