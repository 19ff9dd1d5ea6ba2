//! Dialects with all methods: the decoder, the encoder, the codec; and Java's strings.

#[path = "../dialect.rs"]
mod model;

use arbitrary::Arbitrary;
use bytes::BytesMut;
use model::{Atom, Outcome, Rules, all_rules};
use tokio_util::codec::{Decoder, Encoder};
use utf8_codec::codec::CodecError;
use utf8_codec::codec::{DialectCodec, JavaUtfCodec};
use utf8_codec::decoder::{Progress, Status};
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectError, DialectPiece};
use utf8_codec::{ErrorMode, Utf8ErrorKind};

use super::input::{Bytes, Many, Text, Units};
use super::streams::Settings;
use crate::support::reference::{self, Bom, Config, Event, Kind, Start};
use crate::support::{MODES, PLAIN, policy};

fn rules(number: u8) -> Rules {
    let all = all_rules();
    all[usize::from(number) % all.len()]
}

// ---- the decoder --------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct DialectPlan {
    rules: u8,
    /// Only its start and, unless it is `Fatal`, its mode are used.
    settings: Settings,
    operations: Many<Push>,
}

#[derive(Arbitrary, Clone, Debug)]
enum Push {
    /// In chunks of this many bytes, or in one. The decoder takes them by one method after another.
    Bytes(Bytes<40>, u8),
    /// The same bytes this many times.
    Run(Bytes<40>, u8, u8),
    Nothing,
    /// Starts another stream, in which offsets continue and the start has passed.
    Finish,
    Reset,
}

/// A method of decoding. That of the codec is `CodePoints`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Pieces,
    /// A new iterator for each piece.
    BrokenOff,
    CodePoints,
    String,
}

/// A code point, or an error.
type Came = Result<u32, Wrong>;

/// An item of the codec.
type Item = DialectPiece<bytestring::ByteString>;

/// What a call of the codec returns.
type DecodedItem = Result<Option<Item>, CodecError<DialectError>>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Wrong {
    at: u64,
    bytes: Vec<u8>,
    kind: Utf8ErrorKind,
    /// The byte after it, if that is the reason.
    next: Option<u8>,
}

/// Pieces are those of the model. Every other method yields these pieces, repaired in the given mode.
pub fn dialect_decoder(plan: &DialectPlan) {
    let mut stream = Stream::new(rules(plan.rules), plan.settings);
    let bom_bytes = plan.settings.bom_bytes();
    stream.push_all(bom_bytes, plan.settings.choice);
    for operation in plan.operations.iter() {
        match operation {
            Push::Bytes(more, size) => stream.push_all(&more.0, *size),
            Push::Run(more, times, size) => {
                // Long streams are slow, so they are rare.
                let times = if *times < 250 { times % 32 } else { u8::MAX };
                let most = 6000 / more.0.len().max(1);
                stream.push_all(&more.0.repeat(usize::from(times).min(most)), *size);
            }
            Push::Nothing => stream.push(b""),
            Push::Finish => stream.finish(),
            Push::Reset => {
                stream.reset();
                stream.push_all(bom_bytes, plan.settings.choice);
            }
        }
    }
    stream.finish();
}

struct Stream {
    rules: Rules,
    mode: (reference::Mode, ErrorMode),
    start: Bom,
    /// The start of the stream: `Keep` after the end of the first.
    bom: Bom,
    /// Yields pieces, whatever the other one does.
    pieces: DialectDecoder,
    ways: DialectDecoder,
    /// Continues from push to push.
    turn: usize,
    codec: DialectCodec,
    buffer: BytesMut,
    /// Encodes the codec's items, until there is an error.
    copier: DialectCodec,
    copy: BytesMut,
    /// The stream, and the number of bytes before it.
    bytes: Vec<u8>,
    before: usize,
    /// The decided output, and the number of its bytes.
    atoms: Vec<Atom>,
    decided: usize,
    /// What the decoder that uses all methods must have counted.
    noted: Vec<Came>,
}

impl Stream {
    fn new(rules: Rules, settings: Settings) -> Self {
        let mode = match rules.fatal {
            true => MODES[0],
            false => match settings.mode() {
                (_, ErrorMode::Fatal) => MODES[1],
                mode => mode,
            },
        };
        let bom = match settings.config().start {
            Start::Beginning(bom) => bom,
            Start::MidStream => Bom::Keep,
        };
        let decoder = rules.decoder().with_bom(policy(bom));
        let codec = DialectCodec::new(rules.dialect).with_decoder(decoder.clone());
        let codec = codec.with_encoder(rules.encoder());
        Self {
            rules,
            mode,
            start: bom,
            bom,
            pieces: decoder.clone(),
            ways: decoder,
            turn: usize::from(settings.choice),
            codec: codec.clone().with_error_mode(mode.1),
            buffer: BytesMut::new(),
            copier: codec,
            copy: BytesMut::new(),
            bytes: Vec::new(),
            before: 0,
            atoms: Vec::new(),
            decided: 0,
            noted: Vec::new(),
        }
    }

    fn push_all(&mut self, bytes: &[u8], size: u8) {
        let size = match usize::from(size % 8) {
            0 => bytes.len(),
            size => size * bytes.len().div_ceil(40),
        };
        bytes.chunks(size.max(1)).for_each(|chunk| self.push(chunk));
    }

    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        let way = self.next_way();
        let came = pieces(self.pieces.push(chunk));
        self.compare_pieces(&came, false);
        let by_ways = by_way(way, self.mode.1, chunk, &mut self.ways);
        self.buffer.extend_from_slice(chunk);
        let by_codec = self.through_codec(DialectCodec::decode);
        self.compare_ways(way, &came, by_ways, by_codec);
        let held = self.pieces.incomplete();
        assert_eq!((self.ways.incomplete(), &self.buffer[..]), (held, held), "{:02x?}", self.bytes);
    }

    fn finish(&mut self) {
        let way = self.next_way();
        let came = ended(&mut self.pieces);
        self.compare_pieces(&came, true);
        let by_ways = at_the_end(way, self.mode.1, &mut self.ways);
        let by_codec = self.through_codec(DialectCodec::decode_eof);
        self.compare_ways(way, &came, by_ways, by_codec);
        assert_eq!(at_the_end(Way::Pieces, self.mode.1, &mut self.ways), [], "a second end");
        assert!(self.buffer.is_empty(), "no byte is left over at the end");
        if self.pieces.error_count() == 0 {
            let bom = if self.pieces.bom_seen() && self.before == 0 { 3 } else { 0 };
            assert_eq!(self.copy, self.bytes[bom..], "{:?}", self.rules);
        }

        self.begin(self.before + self.bytes.len(), Bom::Keep);
    }

    fn reset(&mut self) {
        self.pieces.reset();
        self.ways.reset();
        self.codec.reset();
        self.buffer.clear();
        self.noted.clear();
        self.begin(0, self.start);
    }

    /// Starts a stream after this many bytes.
    fn begin(&mut self, before: usize, bom: Bom) {
        // The encoder does not receive the end.
        self.copier.reset();
        self.copy.clear();
        (self.before, self.bom) = (before, bom);
        self.bytes.clear();
        self.atoms.clear();
        self.decided = 0;
    }

    fn next_way(&mut self) -> Way {
        self.turn += 1;
        [Way::Pieces, Way::BrokenOff, Way::CodePoints, Way::String][self.turn % 4]
    }

    /// Compares pieces with the model: all pieces so far, of long streams only at the end.
    fn compare_pieces(&mut self, came: &[Came], ended: bool) {
        let before = self.before as u64;
        self.atoms.extend(came.iter().map(|came| match came {
            Ok(value) => Atom::CodePoint(*value),
            Err(Wrong { at, bytes, kind, next }) => {
                let (at, len) = ((at - before) as usize, bytes.len());
                assert!(next.is_none() || self.bytes.get(at + len).copied() == *next);
                Atom::Error { at, len, at_the_end: *kind == Utf8ErrorKind::Incomplete }
            }
        }));
        if !ended && self.bytes.len() > 120 {
            return;
        }
        let (bom, error) = opening(self.bom, &self.bytes, ended);
        let taken = bom + error.unwrap_or(0);
        let mut expected = model::decode(self.rules, &self.bytes[taken..], ended);
        for atom in &mut expected.atoms {
            if let Atom::Error { at, .. } = atom {
                *at += taken;
            }
        }
        let error = error.map(|len| Atom::Error { at: 0, len, at_the_end: false });
        expected.atoms.splice(..0, error);
        let atoms = std::mem::take(&mut self.atoms);
        let found = Outcome { atoms, held: self.pieces.incomplete().len() };
        assert_eq!(found, expected, "{:?}, {:?}: {:02x?}", self.rules, self.bom, self.bytes);
        self.atoms = found.atoms;
        if self.before == 0 {
            assert_eq!(self.pieces.bom_seen(), bom > 0, "{:02x?}", self.bytes);
        }
    }

    /// Compares the output of the other methods with the pieces.
    fn compare_ways(&mut self, way: Way, came: &[Came], by_ways: Vec<Came>, by_codec: Vec<Came>) {
        if self.decided == 0 && self.before == 0 && self.pieces.bom_seen() {
            self.decided = 3;
        }
        let context = |way| format!("{way:?}, {:?}: {:02x?}", self.rules, self.bytes);
        let (expected, _) = self.reported(Way::CodePoints, came);
        assert_eq!(by_codec, expected, "{}", context("codec"));
        let (expected, noted) = self.reported(way, came);
        assert_eq!(by_ways, expected, "{}", context(&format!("{way:?}")));
        self.noted.extend(noted);
        self.decided += came.iter().map(|came| bytes_of(self.rules, came).len()).sum::<usize>();

        let all = self.bytes.len();
        assert_eq!(
            self.decided + self.pieces.incomplete().len(),
            all,
            "every byte is in exactly one piece"
        );
        let all = (self.before + all) as u64;
        assert_eq!((self.pieces.position(), self.ways.position()), (all, all));
        assert_eq!(self.codec.decoder().position() + self.buffer.len() as u64, all);
        assert_eq!(self.codec.decoder().error_count(), self.pieces.error_count());
        assert_eq!(self.ways.error_count(), self.noted.len() as u64);
        let first = self.ways.first_error().as_ref().map(came_of);
        assert_eq!(first.as_ref(), self.noted.first());
        assert_eq!(self.ways.bom_seen(), self.pieces.bom_seen());
    }

    /// The output of this method for these pieces, and the errors that are counted.
    fn reported(&self, way: Way, came: &[Came]) -> (Vec<Came>, Vec<Came>) {
        let (mut reported, mut noted) = (Vec::new(), Vec::new());
        let mut at = (self.before + self.decided) as u64;
        for came in came {
            let bytes = bytes_of(self.rules, came);
            let len = bytes.len() as u64;
            let came = match came {
                Ok(value) if way == Way::String && char::from_u32(*value).is_none() => {
                    Err(Wrong { at, bytes, kind: Utf8ErrorKind::NotScalar, next: None })
                }
                came => came.clone(),
            };
            at += len;
            match &came {
                Ok(_) => reported.push(came),
                Err(wrong) => {
                    noted.push(came.clone());
                    let repair = self.repair(wrong);
                    match repair.filter(|_| !matches!(way, Way::Pieces | Way::BrokenOff)) {
                        Some(repair) => reported.extend(repair.chars().map(|c| Ok(c.into()))),
                        None => reported.push(came),
                    }
                }
            }
        }
        (reported, noted)
    }

    fn repair(&self, wrong: &Wrong) -> Option<String> {
        let kind = match wrong.kind {
            Utf8ErrorKind::MissingBom => Kind::MissingBom,
            Utf8ErrorKind::ForbiddenBom => Kind::ForbiddenBom,
            // Rejected for its value, whatever the encoding.
            Utf8ErrorKind::TooLarge | Utf8ErrorKind::Nul => Kind::Forbidden,
            Utf8ErrorKind::NotScalar if self.rules.dialect != Dialect::Utf8b => Kind::Forbidden,
            _ => Kind::InvalidByte,
        };
        let bytes = wrong.bytes.clone();
        let error = reference::Error { offset: 0, bytes, kind, next: None, decided_by: None };
        reference::repair(self.mode.0, &error, PLAIN)
    }

    /// The codec's items until it needs more input.
    fn through_codec(
        &mut self,
        decode: fn(&mut DialectCodec, &mut BytesMut) -> DecodedItem,
    ) -> Vec<Came> {
        let mut out = Vec::new();
        loop {
            let item = match decode(&mut self.codec, &mut self.buffer) {
                Ok(Some(item)) => item,
                Ok(None) => return out,
                Err(CodecError::Invalid(error)) => {
                    out.push(came_of(&error));
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            match &item {
                DialectPiece::Text(text) => {
                    assert!(!text.is_empty(), "items are never empty");
                    out.extend(text.chars().map(|c| Ok(c.into())));
                }
                DialectPiece::CodePoint(code_point) => {
                    assert_eq!(char::from_u32(*code_point), None, "it is text");
                    out.push(Ok(*code_point));
                }
            }
            if self.pieces.error_count() == 0 {
                self.copier.encode(item, &mut self.copy).expect("it can be encoded");
            }
        }
    }
}

/// The length of the BOM to strip, and that of an error at the start.
fn opening(bom: Bom, bytes: &[u8], ended: bool) -> (usize, Option<usize>) {
    let config = Config { start: Start::Beginning(bom), ..PLAIN };
    let opening = reference::decode_prefix(&bytes[..bytes.len().min(3)], config, ended);
    let error = opening.events.into_iter().next().and_then(|event| match event {
        Event::Error(error) => Some(error),
        Event::Text(_) => None,
    });
    let error = error.filter(|error| matches!(error.kind, Kind::MissingBom | Kind::ForbiddenBom));
    (if opening.bom_seen { 3 } else { 0 }, error.map(|error| error.bytes.len()))
}

/// The bytes of a piece.
fn bytes_of(rules: Rules, came: &Came) -> Vec<u8> {
    match came {
        Ok(value) => {
            let all = Rules { unpaired: true, limit: false, ..rules };
            model::encode(all, *value).expect("it was decoded")
        }
        Err(wrong) => wrong.bytes.clone(),
    }
}

fn came_of(error: &DialectError) -> Came {
    let (bytes, kind) = (error.bytes().to_vec(), error.kind());
    let len = Some(bytes.len()).filter(|_| kind != Utf8ErrorKind::Incomplete);
    assert_eq!(error.error_len(), len, "{error}");
    Err(Wrong { at: error.offset(), bytes, kind, next: error.next_byte() })
}

fn pieces<'a>(
    pieces: impl IntoIterator<Item = Result<DialectPiece<&'a str>, DialectError>>,
) -> Vec<Came> {
    let mut out = Vec::new();
    for piece in pieces {
        match piece {
            Ok(piece) => out.extend(piece.code_points().map(Ok)),
            Err(error) => out.push(came_of(&error)),
        }
    }
    out
}

/// The results of `finish` until there are no more.
fn ended(decoder: &mut DialectDecoder) -> Vec<Came> {
    let ends = std::iter::from_fn(|| decoder.finish().transpose());
    pieces(ends.map(|end| end.map(DialectPiece::CodePoint)))
}

fn by_way(way: Way, mode: ErrorMode, chunk: &[u8], decoder: &mut DialectDecoder) -> Vec<Came> {
    let before = decoder.position();
    let rest = |decoder: &DialectDecoder| &chunk[(decoder.position() - before) as usize..];
    match way {
        Way::Pieces => pieces(decoder.push(chunk)),
        Way::BrokenOff => {
            let mut out = Vec::new();
            loop {
                let Some(piece) = decoder.push(rest(decoder)).next() else { return out };
                out.extend(pieces([piece]));
            }
        }
        Way::CodePoints => {
            let push = |out: &mut _| ok(decoder.push_to_code_points(rest(decoder), mode, out));
            until_ok(push, code_points)
        }
        Way::String => until_ok(|out| ok(decoder.push_to_string(rest(decoder), mode, out)), chars),
    }
}

fn at_the_end(way: Way, mode: ErrorMode, decoder: &mut DialectDecoder) -> Vec<Came> {
    match way {
        Way::Pieces | Way::BrokenOff => ended(decoder),
        Way::CodePoints => until_ok(|out| decoder.finish_to_code_points(mode, out), code_points),
        Way::String => until_ok(|out| decoder.finish_to_string(mode, out), chars),
    }
}

/// The outcome of a push as a `Result`.
fn ok(progress: Progress<DialectError>) -> Result<(), DialectError> {
    match progress.status {
        Status::Done => Ok(()),
        Status::IllFormed(error) => Err(error),
        _ => panic!("there is room"),
    }
}

/// Calls again after each error.
fn until_ok<O: Default>(
    mut call: impl FnMut(&mut O) -> Result<(), DialectError>,
    read: fn(O) -> Vec<Came>,
) -> Vec<Came> {
    let mut all = Vec::new();
    loop {
        let mut out = O::default();
        let result = call(&mut out);
        all.extend(read(out));
        match result {
            Ok(()) => return all,
            Err(error) => all.push(came_of(&error)),
        }
    }
}

fn code_points(code_points: Vec<u32>) -> Vec<Came> {
    code_points.into_iter().map(Ok).collect()
}

fn chars(text: String) -> Vec<Came> {
    text.chars().map(|c| Ok(c.into())).collect()
}

// ---- the encoder --------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct DialectText {
    rules: u8,
    mode: u8,
    with_bom: bool,
    operations: Many<Encode>,
}

#[derive(Arbitrary, Clone, Debug)]
enum Encode {
    /// This many at once, or each alone.
    CodePoints(Many<(u8, u32)>, u8),
    Units(Units<20>, u8),
    /// This many times.
    Text(Text<40>, u8),
    Finish,
    Reset,
}

fn near(&(kind, value): &(u8, u32)) -> u32 {
    match kind % 8 {
        0 => value & 0x7F,
        1 => 0xD800 | value & 0x3FF,
        2 => 0xDC00 | value & 0x3FF,
        3 => 0xDC80 | value & 0x7F,
        4 => 0x1_0000 + value % 0x10_0000,
        5 => value & 0x1F_FFFF,
        6 => value & 0x7FFF_FFFF,
        _ => value & 0xFFFF,
    }
}

/// The output is what the model encodes for each code point or pair. The codec writes the same for its
/// items, but cannot wait for the second half of a pair.
pub fn dialect_encoder(text: &DialectText) {
    let mut writing = Writing::new(text);
    for operation in text.operations.iter().chain([&Encode::Finish]) {
        match operation {
            Encode::CodePoints(code_points, size) => {
                let code_points: Vec<_> = code_points.iter().map(near).collect();
                writing.push(
                    &code_points,
                    *size,
                    DialectEncoder::push_code_point,
                    DialectEncoder::push_code_points_to_vec,
                );
                code_points.into_iter().for_each(|code_point| writing.code_point(code_point));
            }
            Encode::Units(units, size) => {
                writing.push(
                    &units.0,
                    *size,
                    DialectEncoder::push_unit,
                    DialectEncoder::push_utf16_to_vec,
                );
                units.0.iter().for_each(|unit| writing.expected.push((*unit).into(), true));
            }
            Encode::Text(text, times) => {
                let most = 3000 / text.0.len().max(1);
                writing.text(&text.0.repeat(usize::from(*times).clamp(1, most.max(1))));
            }
            Encode::Finish => writing.finish(),
            Encode::Reset => {
                let Writing { mut encoder, mut codec, .. } = writing;
                encoder.reset();
                codec.reset();
                writing = Writing { encoder, codec, ..Writing::new(text) };
            }
        }
        writing.compare();
    }
}

/// An offset and a code point.
type Rejected = (u64, u32);

fn rejected(error: DialectError) -> Rejected {
    assert_eq!((error.bytes(), error.error_len()), (&[][..], Some(0)), "an encoder has no bytes");
    (error.offset(), error.code_point().expect("an encoder rejects a code point"))
}

struct Writing {
    encoder: DialectEncoder,
    bytes: Vec<u8>,
    errors: Vec<Rejected>,
    expected: Written,
    codec: DialectCodec,
    items: BytesMut,
    /// Whether an item has been written, and the BOM before it.
    is_signed: bool,
    errors_of_items: Vec<Rejected>,
    expected_of_items: Written,
}

impl Writing {
    fn new(text: &DialectText) -> Self {
        let rules = rules(text.rules);
        let (_, mode) = MODES[usize::from(text.mode) % MODES.len()];
        let mut encoder = rules.encoder().with_error_mode(mode);
        if text.with_bom {
            encoder = encoder.with_bom();
        }
        let bom = if text.with_bom { "\u{FEFF}" } else { "" };
        let written = |waits| Written {
            rules,
            mode,
            waits,
            bom,
            bytes: Vec::new(),
            errors: Vec::new(),
            first_half: None,
            ends_with_half: false,
            taken: 0,
        };
        Self {
            codec: DialectCodec::new(rules.dialect).with_encoder(encoder.clone()),
            encoder,
            bytes: Vec::new(),
            errors: Vec::new(),
            expected: written(true),
            items: BytesMut::new(),
            is_signed: false,
            errors_of_items: Vec::new(),
            expected_of_items: written(false),
        }
    }

    /// Pushes this many at once, and after an error the rest again.
    fn push<T: Copy, B: AsRef<[u8]>>(
        &mut self,
        all: &[T],
        size: u8,
        one: impl Fn(&mut DialectEncoder, T) -> Result<B, DialectError>,
        many: impl Fn(&mut DialectEncoder, &[T], &mut Vec<u8>) -> Result<(), DialectError>,
    ) {
        let size = usize::from(size % 8);
        let Self { encoder, bytes, errors, .. } = self;
        for chunk in all.chunks(size.max(1)) {
            let start = encoder.position();
            loop {
                let result = match &chunk[(encoder.position() - start) as usize..] {
                    [] if size == 0 => break,
                    [item] if size == 0 => {
                        one(encoder, *item).map(|form| bytes.extend_from_slice(form.as_ref()))
                    }
                    rest => many(encoder, rest, bytes),
                };
                match result {
                    Ok(()) => break,
                    Err(error) => errors.push(rejected(error)),
                }
            }
        }
    }

    /// A code point that was pushed is also encoded as an item.
    fn code_point(&mut self, code_point: u32) {
        let joined = self.codec.decoder().dialect() == Dialect::Wtf8;
        self.expected.push(code_point, joined);
        self.expected_of_items.push(code_point, joined);
        match self.codec.encode(Item::CodePoint(code_point), &mut self.items) {
            Ok(()) => self.is_signed = true,
            Err(CodecError::Invalid(error)) => self.errors_of_items.push(rejected(error)),
            Err(error) => panic!("{error}"),
        }
    }

    fn text(&mut self, text: &str) {
        while let Err(error) = self.encoder.push_to_vec(text, &mut self.bytes) {
            self.errors.push(rejected(error));
        }
        self.codec.encode(text, &mut self.items).expect("nothing is held, and text can be encoded");
        self.expected.text(text);
        self.expected_of_items.text(text);
        self.is_signed = true;
    }

    fn finish(&mut self) {
        while let Err(error) = self.encoder.finish_to_vec(&mut self.bytes) {
            self.errors.push(rejected(error));
        }
        assert_eq!(self.encoder.finish().as_deref(), Ok(&[][..]), "a second end");
        self.expected.end();
        assert_eq!(self.bytes, self.expected.signed(), "{:?}", self.expected.rules);
    }

    fn compare(&self) {
        let Self { encoder, expected, expected_of_items, .. } = self;
        let context = (expected.rules, expected.mode);
        // Only a single surrogate after an error is written later than possible.
        let (bytes, signed) = (&self.bytes, expected.signed());
        assert!(bytes.is_empty() || signed.starts_with(bytes), "{context:?}: {bytes:02x?}");
        assert!(bytes.is_empty() || signed.len() - bytes.len() <= 3, "{context:?}: {bytes:02x?}");
        assert_eq!(encoder.position(), expected.taken);
        assert_eq!(encoder.error_count(), expected.errors.len() as u64, "{context:?}");
        assert_eq!(encoder.first_error().map(rejected).as_ref(), expected.errors.first());
        let items = if self.is_signed { expected_of_items.signed() } else { Vec::new() };
        assert_eq!(self.items, items, "{context:?}");
        if expected.mode == ErrorMode::Fatal {
            assert_eq!(self.errors, expected.errors, "{context:?}");
            assert_eq!(self.errors_of_items, expected_of_items.errors, "{context:?}");
        } else {
            assert!(self.errors.is_empty() && self.errors_of_items.is_empty(), "{context:?}");
        }
    }
}

/// What must have been written.
struct Written {
    rules: Rules,
    mode: ErrorMode,
    /// Whether a high surrogate is held.
    waits: bool,
    bom: &'static str,
    /// Without the BOM.
    bytes: Vec<u8>,
    errors: Vec<Rejected>,
    /// The high surrogate that is held, if there is one.
    first_half: Option<Rejected>,
    /// Whether the bytes end with a high surrogate that can be the first half of a pair.
    ends_with_half: bool,
    taken: u64,
}

impl Written {
    fn push(&mut self, value: u32, joined: bool) {
        let index = self.taken;
        self.taken += 1;
        let is_second = joined && (0xDC00..=0xDFFF).contains(&value);
        if is_second && let Some((_, first)) = self.first_half.take() {
            return self.put(index, 0x1_0000 + ((first & 0x3FF) << 10) + (value & 0x3FF));
        }
        self.end();
        if is_second && self.ends_with_half {
            return self.reject(index, value);
        }
        if joined && (0xD800..=0xDBFF).contains(&value) {
            self.first_half = Some((index, value));
            if !self.waits {
                self.end();
            }
        } else {
            self.put(index, value);
        }
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.end();
        }
        text.chars().for_each(|c| self.put(self.taken, c.into()));
    }

    fn end(&mut self) {
        if let Some((index, first)) = self.first_half.take() {
            self.put(index, first);
            self.ends_with_half |= model::encode(self.rules, first).is_some();
        }
    }

    fn put(&mut self, index: u64, value: u32) {
        match model::encode(self.rules, value) {
            Some(form) => self.write(&form),
            None => self.reject(index, value),
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends_with_half &= bytes.is_empty();
    }

    fn reject(&mut self, index: u64, value: u32) {
        self.errors.push((index, value));
        let repair = match self.mode {
            ErrorMode::Fatal | ErrorMode::Skip => String::new(),
            ErrorMode::Escape if value > 0xFFFF => format!("\\U{value:08x}"),
            ErrorMode::Escape => format!("\\u{value:04x}"),
            _ => "\u{FFFD}".to_owned(),
        };
        self.write(repair.as_bytes());
    }

    fn signed(&self) -> Vec<u8> {
        [self.bom.as_bytes(), &self.bytes].concat()
    }
}

// ---- Java ---------------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct JavaPlan {
    mode: u8,
    strings: Many<Bytes<60>>,
    chunk: u8,
    /// The number of bytes missing from the last string.
    missing: u8,
}

/// Strings are those of the model, or of the decoder if it repairs. Accepted strings are encoded to the
/// same bytes.
pub fn java(plan: &JavaPlan) {
    let (_, mode) = MODES[usize::from(plan.mode) % MODES.len()];
    let rules =
        Rules { dialect: Dialect::ModifiedUtf8, unpaired: false, limit: false, fatal: true };
    let (mut bytes, mut expected, mut accepted) = (Vec::new(), Vec::new(), Vec::new());
    for string in plan.strings.iter() {
        let length = (string.0.len() as u16).to_be_bytes();
        bytes.extend(length);
        let atoms = model::decode(rules, &string.0, true).atoms;
        let error = atoms.iter().find_map(|atom| match atom {
            Atom::Error { at, len, .. } => Some(((bytes.len() + at) as u64, *len)),
            Atom::CodePoint(_) => None,
        });
        let text = || {
            let code_point = |atom: &Atom| match atom {
                Atom::CodePoint(value) => char::from_u32(*value).expect("a scalar value"),
                Atom::Error { .. } => unreachable!("there is none"),
            };
            atoms.iter().map(code_point).collect::<String>()
        };
        if error.is_none() {
            accepted.extend([&length[..], &string.0].concat());
        }
        let decoder = rules.decoder();
        expected.push(match error {
            Some(_) if mode != ErrorMode::Fatal => Ok(repaired(decoder, mode, &string.0)),
            Some(error) => Err(error),
            None => Ok(text()),
        });
        bytes.extend_from_slice(&string.0);
    }
    // Truncation can remove an error.
    let whole = bytes.len();
    bytes.truncate(whole - usize::from(plan.missing % 4).min(whole));
    let mut codec = JavaUtfCodec::new().with_error_mode(mode);
    let (mut buffer, mut found) = (BytesMut::new(), Vec::new());
    let mut copy = BytesMut::new();
    let mut take = |item: Result<bytestring::ByteString, _>| {
        if let Ok(text) = &item {
            JavaUtfCodec::new()
                .encode(text, &mut copy)
                .expect("it was decoded from the same bytes");
        }
        found.push(
            item.map(String::from)
                .map_err(|error: DialectError| (error.offset(), error.bytes().len())),
        );
    };
    for chunk in bytes.chunks(usize::from(plan.chunk).max(1)) {
        buffer.extend_from_slice(chunk);
        while let Some(item) = codec.decode(&mut buffer).expect("the stream has not ended") {
            take(item);
        }
    }
    let ended = loop {
        match codec.decode_eof(&mut buffer) {
            Ok(Some(item)) => take(item),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error.kind()),
        }
    };
    if bytes.len() == whole {
        assert_eq!((found, ended), (expected, Ok(())), "{plan:?}");
        assert!(mode != ErrorMode::Fatal || copy == accepted, "{plan:?}");
        assert_eq!(codec.decoder().position(), whole as u64, "{plan:?}");
    } else {
        assert!(expected.starts_with(&found) || found.len() == expected.len(), "{plan:?}");
        let rejected = found.len() == expected.len() && found.last().is_some_and(Result::is_err);
        assert!(ended.is_err() || rejected || found.len() < expected.len(), "{plan:?}");
    }
}

fn repaired(mut decoder: DialectDecoder, mode: ErrorMode, bytes: &[u8]) -> String {
    let mut text = String::new();
    ok(decoder.push_to_string(bytes, mode, &mut text)).expect("the mode is lossy");
    decoder.finish_to_string(mode, &mut text).expect("the mode is lossy");
    text
}
