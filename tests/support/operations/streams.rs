//! Operations on a stream of bytes, and the model's answer.

use std::ops::Range;

use arbitrary::Arbitrary;
use utf8_codec::{ErrorMode, Utf8Options};

use super::input::{Bytes, Many};
use crate::support::blocking::Blocking;
use crate::support::reference::{self, Bom, Config, Controls, Decoded, Start};
use crate::support::streams::{Chars, Read, Texts};
use crate::support::subjects::{Make, Subject};
use crate::support::{self, Atom, Errors, MODES, atoms, check_places, undated};

/// The operations, in order; then the stream ends.
#[derive(Arbitrary, Clone, Debug)]
pub struct Plan {
    pub settings: Settings,
    pub operations: Many<Operation>,
}

#[derive(Arbitrary, Clone, Debug)]
pub enum Operation {
    Push {
        bytes: Bytes<400>,
        /// In chunks of this many bytes, or in one; of long inputs sixteen times as many.
        chunks: u8,
    },
    PushNothing,
    Finish,
    Reset,
    /// Continues with a new object with other settings.
    Change(Settings),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Settings {
    start: u8,
    strictness: u8,
    mode: u8,
    /// For each object to use as it likes.
    pub choice: u8,
}

impl Settings {
    pub fn config(self) -> Config {
        Config {
            start: match self.start % 8 {
                0 => Start::Beginning(Bom::Strip),
                1 => Start::Beginning(Bom::Require),
                2 => Start::Beginning(Bom::Forbid),
                3 => Start::MidStream,
                _ => Start::Beginning(Bom::Keep),
            },
            reject_noncharacters: self.strictness & 0x11 == 0x11,
            reject_nul: self.strictness & 0x22 == 0x22,
            controls: match self.strictness & 0xC0 {
                0x40 => Controls::RejectedExceptWhitespace,
                0x80 => Controls::Rejected,
                _ => Controls::Allowed,
            },
        }
    }

    /// A BOM, or a part of it, if the policy uses it.
    pub fn bom_bytes(self) -> &'static [u8] {
        match self.config().start {
            Start::Beginning(Bom::Keep) => &[],
            _ => &b"\xEF\xBB\xBF"[..usize::from(self.choice >> 6)],
        }
    }

    pub fn options(self) -> Utf8Options {
        support::options(self.config())
    }

    pub fn mode(self) -> (reference::Mode, ErrorMode) {
        MODES[usize::from(self.mode) % MODES.len()]
    }
}

/// Chunks of this many bytes, or one; of long inputs sixteen times as many.
pub fn cut(bytes: &[u8], chunks: u8) -> impl Iterator<Item = &[u8]> {
    let size = match (usize::from(chunks % 8), bytes.len()) {
        (0, len) => len.max(1),
        (size, ..=40) => size,
        (size, _) => 16 * size,
    };
    bytes.chunks(size)
}

/// Runs a plan on objects made by `make`.
pub fn check(plan: &Plan, make: &dyn Fn(Settings) -> Box<dyn Subject>) {
    let mut stream = Stream::new(plan.settings, make);
    for operation in plan.operations.iter() {
        match operation {
            Operation::Push { bytes, chunks } => {
                cut(&bytes.0, *chunks).for_each(|chunk| stream.push(chunk));
            }
            Operation::PushNothing => stream.push(b""),
            Operation::Finish => stream.finish(make),
            Operation::Reset => stream.reset(make),
            Operation::Change(settings) => stream = Stream::new(*settings, make),
        }
    }
    stream.finish(make);
}

/// A summary of the bytes that have been checked.
#[derive(Default)]
struct Done {
    start: (bool, usize),
    errors: Errors,
    /// The number of their characters, and where the last one ends.
    chars: usize,
    end: u64,
}

struct Stream {
    object: Box<dyn Subject>,
    settings: Settings,
    config: Config,
    /// The number of bytes before `bytes`, which have been checked.
    before: u64,
    done: Done,
    bytes: Vec<u8>,
    out: Vec<Atom>,
}

impl Stream {
    fn new(settings: Settings, make: &dyn Fn(Settings) -> Box<dyn Subject>) -> Self {
        let (object, config, done) = (make(settings), settings.config(), Done::default());
        Self { object, settings, config, before: 0, done, bytes: Vec::new(), out: Vec::new() }
    }

    fn push(&mut self, chunk: &[u8]) {
        self.out.extend(self.object.push(chunk));
        self.bytes.extend_from_slice(chunk);
        let decoded = self.compare(false);
        let held = self.object.held();
        assert_eq!(held, decoded.held, "held of {:02x?}, {:?}", self.bytes, self.settings);
        // The model scans all bytes for each chunk, which is slow.
        if self.bytes.len() > 64 && held == 0 && !decoded.events.is_empty() {
            self.settle(&decoded);
        }
    }

    /// Restarts the model where nothing is held and the start has passed: like a stream that starts
    /// here.
    fn settle(&mut self, decoded: &Decoded) {
        self.done = self.done_with(decoded);
        self.config.start = Start::Beginning(Bom::Keep);
        self.before += self.bytes.len() as u64;
        self.bytes.clear();
        self.out.clear();
    }

    fn finish(&mut self, make: &dyn Fn(Settings) -> Box<dyn Subject>) {
        self.out.extend(self.object.finish());
        self.compare(true);
        assert_eq!(self.object.finish(), [], "a second end");
        self.reset(make);
    }

    fn reset(&mut self, make: &dyn Fn(Settings) -> Box<dyn Subject>) {
        if !self.object.reset() {
            self.object = make(self.settings);
        }
        self.config = self.settings.config();
        (self.before, self.done) = (0, Done::default());
        self.bytes.clear();
        self.out.clear();
    }

    /// Compares the output with the model.
    fn compare(&mut self, ended: bool) -> Decoded {
        let decoded = reference::decode_prefix(&self.bytes, self.config, ended);
        let (mode, _) = self.settings.mode();
        let mut expected = Vec::new();
        for atom in atoms(&decoded.events) {
            match atom {
                Atom::Char(_) if !self.object.yields_text() => {}
                Atom::Error(error) => match reference::repair(mode, &error, self.config) {
                    Some(repair) if self.object.yields_text() => {
                        expected.extend(repair.chars().map(Atom::Char));
                    }
                    _ => {
                        let offset = error.offset + self.before;
                        let error = reference::Error { offset, ..*error };
                        expected.push(Atom::Error(Box::new(undated(error))));
                    }
                },
                atom => expected.push(atom),
            }
        }
        let (bytes, settings, before) = (&self.bytes, self.settings, self.before);
        let context = || format!("{bytes:02x?} after {before}, ended: {ended}, {settings:?}");
        assert_eq!(self.out, expected, "{}", context());
        let done = self.done_with(&decoded);
        assert_eq!(self.object.start(), done.start, "{}", context());
        if let Some(position) = self.object.position() {
            assert_eq!(position, before + bytes.len() as u64, "{}", context());
        }
        if let Some(errors) = self.object.errors() {
            assert_eq!(errors, done.errors, "{}", context());
        }
        let places = self.places(&decoded);
        check_places(&self.object.places(), &places, self.done.chars, self.done.end);
        decoded
    }

    /// The ranges of the characters.
    fn places(&self, decoded: &Decoded) -> Vec<Range<u64>> {
        let places = support::places(decoded, self.settings.mode().0, self.config);
        places.iter().map(|place| place.start + self.before..place.end + self.before).collect()
    }

    /// The summary once these bytes have been checked, too.
    fn done_with(&self, decoded: &Decoded) -> Done {
        let Errors { count, rejected, first } = support::errors_in(decoded);
        let first =
            first.map(|error| reference::Error { offset: error.offset + self.before, ..error });
        let before = &self.done.errors;
        let places = self.places(decoded);
        Done {
            start: (self.done.start.0 | decoded.bom_seen, self.done.start.1 + decoded.skipped),
            errors: Errors {
                count: before.count + count,
                rejected: before.rejected + rejected,
                first: before.first.clone().or(first),
            },
            chars: self.done.chars + places.len(),
            end: places.last().map_or(self.done.end, |place| place.end),
        }
    }
}

/// Makes objects with the settings' options and mode.
fn of(make: Make) -> impl Fn(Settings) -> Box<dyn Subject> {
    move |settings| make(settings.options(), settings.mode().1)
}

pub fn text_stream(plan: &Plan) {
    check(plan, &|settings| {
        let (options, mode) = (settings.options(), settings.mode().1);
        match settings.choice {
            0..64 => Texts::from_reader(options, mode, settings.choice.into()),
            64..128 => Texts::from_reader(options, mode, 8192),
            _ => Texts::boxed(options, mode),
        }
    });
}

pub fn char_stream(plan: &Plan) {
    check(plan, &of(Chars::boxed));
}

pub fn reader(plan: &Plan) {
    check(plan, &|settings| {
        let (options, mode) = (settings.options(), settings.mode().1);
        let capacity = if settings.choice < 128 { 4 } else { 8192 };
        Read::with_capacity(options, mode, capacity)
    });
}

pub fn blocking_reader(plan: &Plan) {
    check(plan, &|settings| {
        let (options, mode) = (settings.options(), settings.mode().1);
        let capacity = if settings.choice < 128 { 4 } else { 8192 };
        Blocking::with_capacity(options, mode, capacity)
    });
}

#[cfg(feature = "http-body")]
pub fn body(plan: &Plan) {
    check(plan, &of(crate::support::body::Framed::boxed));
}
