//! The encodings that can be read, each as a [`Reading`].

use std::ops::ControlFlow;

use utf8_codec::decoder::Status;
use utf8_codec::detect::{Detector, StreamKind};
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectError, DialectPiece};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::terminal::TerminalDecoder;
use utf8_codec::utf16::Utf16Decoder;
use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Error, Utf8Options};

use super::writing::Order;

/// A part of a source.
pub(crate) enum Piece<'a> {
    Text(&'a str),
    /// A code point that is not a scalar value, and the offset of its first byte.
    CodePoint(u32, u64),
    /// An ill-formed part: a message with its offset, and its repair if it is not fatal.
    IllFormed {
        what: String,
        repair: Option<String>,
    },
}

pub(crate) type Each<'e> = dyn FnMut(Piece<'_>) -> ControlFlow<()> + 'e;

/// A decoder of any encoding. After a break, it is not used again.
pub(crate) trait Reading {
    /// Decodes the next chunk, which is not empty, and passes each piece to `each`, until it breaks.
    fn push(&mut self, chunk: &[u8], each: &mut Each<'_>) -> ControlFlow<()>;

    /// Ends the stream.
    fn finish(&mut self, each: &mut Each<'_>) -> ControlFlow<()>;

    /// The name of the encoding that was read.
    fn name(&self) -> String;
}

/// The encoding of a source.
#[derive(Clone, Copy)]
pub(crate) enum From {
    Utf8,
    Dialect(Dialect),
    Utf16(Order),
    /// The order is that of the BOM; little-endian without one, as in the WHATWG Encoding Standard.
    Utf16ByBom,
    Iso2022,
    Latin1,
    Windows1252,
    #[cfg(feature = "encoding_rs")]
    Whatwg(&'static encoding_rs::Encoding),
    Auto,
}

/// How to read it.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) errors: ErrorMode,
    pub(crate) bom: Option<BomPolicy>,
    pub(crate) unpaired: bool,
    /// The fallback: how much it decodes, and its encoding.
    pub(crate) fallback: (Extent, LegacyEncoding),
}

pub(crate) static FROM: [(&str, From); 14] = [
    ("utf-8", From::Utf8),
    ("rfc2279", From::Dialect(Dialect::Rfc2279)),
    ("cesu-8", From::Dialect(Dialect::Cesu8)),
    ("modified-utf-8", From::Dialect(Dialect::ModifiedUtf8)),
    ("wtf-8", From::Dialect(Dialect::Wtf8)),
    ("utf-8b", From::Dialect(Dialect::Utf8b)),
    ("surrogatepass", From::Dialect(Dialect::SurrogatePass)),
    ("utf-16le", From::Utf16(Order::LowFirst)),
    ("utf-16be", From::Utf16(Order::HighFirst)),
    ("utf-16", From::Utf16ByBom),
    ("latin1", From::Latin1),
    ("windows-1252", From::Windows1252),
    ("iso-2022", From::Iso2022),
    ("auto", From::Auto),
];

/// Returns the encoding of this name.
pub(crate) fn from(name: &str) -> Result<From, String> {
    match FROM.iter().find(|row| row.0 == name) {
        Some(row) => Ok(row.1),
        None => whatwg(name),
    }
}

/// Returns the legacy encoding of this name.
pub(crate) fn legacy(name: &str) -> Result<LegacyEncoding, String> {
    match from(name)? {
        From::Latin1 => Ok(LegacyEncoding::latin1()),
        From::Windows1252 => Ok(LegacyEncoding::windows_1252()),
        #[cfg(feature = "encoding_rs")]
        From::Whatwg(encoding) => LegacyEncoding::whatwg(encoding)
            .ok_or_else(|| format!("{} is not compatible with ASCII", encoding.name())),
        _ => Err("not a legacy encoding".to_owned()),
    }
}

#[cfg(feature = "encoding_rs")]
fn whatwg(label: &str) -> Result<From, String> {
    use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

    match Encoding::for_label_no_replacement(label.as_bytes()) {
        Some(encoding) if encoding == UTF_8 => Ok(From::Utf8),
        Some(encoding) if encoding == UTF_16LE => {
            match label.trim().eq_ignore_ascii_case("utf-16le") {
                true => Ok(From::Utf16(Order::LowFirst)),
                // Such as `UTF-16` and `ucs-2`.
                false => Ok(From::Utf16ByBom),
            }
        }
        Some(encoding) if encoding == UTF_16BE => Ok(From::Utf16(Order::HighFirst)),
        Some(encoding) => Ok(From::Whatwg(encoding)),
        None => Err(format!("not one of {}, and not a WHATWG label", names())),
    }
}

#[cfg(not(feature = "encoding_rs"))]
fn whatwg(_: &str) -> Result<From, String> {
    Err(format!("not one of {} (WHATWG labels need the feature encoding_rs)", names()))
}

fn names() -> String {
    FROM.map(|row| row.0).join(", ")
}

/// How much is decoded in the fallback encoding after an ill-formed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Part,
    Line,
    Rest,
}

pub(crate) static EXTENTS: [(&str, Extent); 3] =
    [("part", Extent::Part), ("line", Extent::Line), ("rest", Extent::Rest)];

impl Extent {
    fn decoder(self, encoding: LegacyEncoding) -> FallbackDecoder {
        match self {
            Self::Part => FallbackDecoder::part(encoding),
            Self::Line => FallbackDecoder::line(encoding),
            Self::Rest => FallbackDecoder::rest(encoding),
        }
    }
}

impl From {
    pub(crate) fn may_have_bom(self) -> bool {
        matches!(
            self,
            Self::Utf8 | Self::Dialect(_) | Self::Utf16(_) | Self::Utf16ByBom | Self::Auto
        )
    }

    pub(crate) fn reading(self, settings: Settings) -> Box<dyn Reading> {
        let Settings { errors, bom, unpaired, .. } = settings;
        let policy = bom.unwrap_or(BomPolicy::Keep);
        match self {
            Self::Utf8 => {
                let options = Utf8Options::new().with_bom(policy);
                Box::new(Utf8 { decoder: Utf8Decoder::new().with_options(options), errors })
            }
            Self::Dialect(dialect) => {
                let (decoder, encoder) =
                    (DialectDecoder::new(dialect), DialectEncoder::new(dialect));
                let (decoder, encoder) = match unpaired {
                    true => {
                        (decoder.with_unpaired_surrogates(), encoder.with_unpaired_surrogates())
                    }
                    false => (decoder, encoder),
                };
                Box::new(OfDialect::new(decoder, encoder, policy, errors))
            }
            Self::Utf16(order) => Box::new(Utf16::new(order, policy, errors)),
            Self::Utf16ByBom => {
                let policy = bom.unwrap_or(BomPolicy::Strip);
                Box::new(Utf16 { by_bom: true, ..Utf16::new(Order::LowFirst, policy, errors) })
            }
            Self::Iso2022 => Box::new(Iso2022 { decoder: TerminalDecoder::new(), errors }),
            Self::Latin1 => Box::new(SingleByte::new("latin1", ErrorMode::Latin1)),
            Self::Windows1252 => Box::new(SingleByte::new("windows-1252", ErrorMode::Windows1252)),
            #[cfg(feature = "encoding_rs")]
            Self::Whatwg(encoding) => Box::new(whatwg::Whatwg::new(encoding, errors)),
            Self::Auto => Box::new(Auto::new(settings)),
        }
    }
}

struct Utf8 {
    decoder: Utf8Decoder,
    errors: ErrorMode,
}

fn ill_formed(error: &Utf8Error, errors: ErrorMode) -> Piece<'static> {
    let repair = errors.repair(error, Utf8Options::new()).map(|repair| repair.to_string());
    Piece::IllFormed { what: error.to_string(), repair }
}

impl Reading for Utf8 {
    fn push(&mut self, chunk: &[u8], each: &mut Each<'_>) -> ControlFlow<()> {
        let Self { decoder, errors } = self;
        decoder.push(chunk).try_for_each(|piece| match piece {
            Ok(text) => each(Piece::Text(text)),
            Err(error) => each(ill_formed(&error, *errors)),
        })
    }

    fn finish(&mut self, each: &mut Each<'_>) -> ControlFlow<()> {
        while let Err(error) = self.decoder.finish() {
            each(ill_formed(&error, self.errors))?;
        }
        ControlFlow::Continue(())
    }

    fn name(&self) -> String {
        "utf-8".to_owned()
    }
}

struct OfDialect {
    decoder: DialectDecoder,
    /// Encodes a code point as it was in the stream.
    encoder: DialectEncoder,
    errors: ErrorMode,
    policy: BomPolicy,
    /// The first three bytes.
    head: Vec<u8>,
    /// The offset of the next piece.
    at: u64,
}

impl OfDialect {
    fn new(
        decoder: DialectDecoder,
        encoder: DialectEncoder,
        policy: BomPolicy,
        errors: ErrorMode,
    ) -> Self {
        let decoder = match errors {
            ErrorMode::Fatal => decoder.with_bom(policy),
            _ => decoder.with_bom(policy).with_whole_errors(),
        };
        Self { decoder, encoder, errors, policy, head: Vec::new(), at: 0 }
    }

    /// Moves past a BOM that the decoder removes, which is not a piece.
    fn skip_bom(&mut self, chunk: &[u8]) {
        if self.head.len() < BOM.len() {
            self.head.extend(chunk.iter().take(BOM.len() - self.head.len()));
            let is_removed = matches!(self.policy, BomPolicy::Strip | BomPolicy::Require);
            if self.head == BOM && is_removed {
                self.at = BOM.len() as u64;
            }
        }
    }
}

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

impl Reading for OfDialect {
    fn push(&mut self, chunk: &[u8], each: &mut Each<'_>) -> ControlFlow<()> {
        self.skip_bom(chunk);
        let Self { decoder, encoder, errors, at, .. } = self;
        decoder.push(chunk).try_for_each(|piece| show(piece, encoder, *errors, at, each))
    }

    fn finish(&mut self, each: &mut Each<'_>) -> ControlFlow<()> {
        let Self { decoder, encoder, errors, at, .. } = self;
        while let Some(piece) = decoder.finish().transpose() {
            show(piece.map(DialectPiece::CodePoint), encoder, *errors, at, each)?;
        }
        ControlFlow::Continue(())
    }

    fn name(&self) -> String {
        self.decoder.dialect().to_string()
    }
}

fn show(
    piece: Result<DialectPiece<&str>, DialectError>,
    encoder: &DialectEncoder,
    errors: ErrorMode,
    at: &mut u64,
    each: &mut Each<'_>,
) -> ControlFlow<()> {
    match piece {
        Ok(DialectPiece::Text(text)) => {
            *at += text.len() as u64;
            each(Piece::Text(text))
        }
        Ok(DialectPiece::CodePoint(code_point)) => {
            let start = *at;
            *at += encoded_len(code_point, encoder.clone());
            match char::from_u32(code_point) {
                Some(c) => each(Piece::Text(c.encode_utf8(&mut [0; 4]))),
                None => each(Piece::CodePoint(code_point, start)),
            }
        }
        Err(error) => {
            *at = error.offset() + error.bytes().len() as u64;
            let repair = error.repair(errors).map(|repair| repair.to_string());
            each(Piece::IllFormed { what: error.to_string(), repair })
        }
    }
}

/// The number of bytes that a code point was decoded from.
fn encoded_len(code_point: u32, mut encoder: DialectEncoder) -> u64 {
    let pushed = encoder.push_code_point(code_point).map_or(0, |bytes| bytes.len());
    let held = encoder.finish().map_or(0, |bytes| bytes.len());
    (pushed + held) as u64
}

struct Utf16 {
    order: Order,
    /// Whether a BOM of the other order changes it.
    by_bom: bool,
    policy: BomPolicy,
    errors: ErrorMode,
    decoder: Utf16Decoder,
    /// The bytes received so far.
    position: u64,
    /// The length of a BOM that was removed.
    removed: u64,
    /// The first byte of an incomplete unit.
    odd: Option<u8>,
    units: Vec<u16>,
    text: String,
}

impl Utf16 {
    fn new(order: Order, policy: BomPolicy, errors: ErrorMode) -> Self {
        Self {
            order,
            by_bom: false,
            policy,
            errors,
            decoder: Utf16Decoder::new(),
            position: 0,
            removed: 0,
            odd: None,
            units: Vec::new(),
            text: String::new(),
        }
    }

    fn ill_formed(&self, what: String, bytes: &[u8]) -> Piece<'static> {
        Piece::IllFormed { what, repair: repair(bytes, self.errors) }
    }

    /// Applies the BOM policy to the first unit, if there is one.
    fn open(&mut self, each: &mut Each<'_>) -> ControlFlow<()> {
        if self.by_bom && self.units.first() == Some(&0xFEFF_u16.swap_bytes()) {
            self.order = self.order.other();
            self.units.iter_mut().for_each(|unit| *unit = unit.swap_bytes());
        }
        let is_bom = self.units.first() == Some(&0xFEFF);
        if is_bom && self.policy != BomPolicy::Keep {
            self.units.remove(0);
            self.removed = 2;
        }
        match self.policy {
            BomPolicy::Forbid if is_bom => {
                let bytes = match self.order {
                    Order::LowFirst => [0xFF, 0xFE],
                    Order::HighFirst => [0xFE, 0xFF],
                };
                let what = format!(
                    "forbidden byte order mark ({}) at byte 0",
                    super::terminal::hex(&bytes)
                );
                each(self.ill_formed(what, &bytes))
            }
            BomPolicy::Require if !is_bom => {
                each(self.ill_formed("missing byte order mark".to_owned(), b""))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Reading for Utf16 {
    fn push(&mut self, chunk: &[u8], each: &mut Each<'_>) -> ControlFlow<()> {
        let is_first = self.position < 2 && self.position + chunk.len() as u64 >= 2;
        self.position += chunk.len() as u64;
        self.units.clear();
        let mut rest = chunk;
        if let (Some(odd), [first, after @ ..]) = (self.odd, chunk) {
            self.units.push(self.order.unit([odd, *first]));
            self.odd = None;
            rest = after;
        }
        let (pairs, odd) = rest.as_chunks::<2>();
        self.units.extend(pairs.iter().map(|&bytes| self.order.unit(bytes)));
        self.odd = odd.first().copied().or(self.odd);
        if is_first {
            self.open(each)?;
        }

        let Self { decoder, units, text, removed, .. } = self;
        let mut units = &units[..];
        loop {
            text.clear();
            let progress = decoder.push_to_string(units, ErrorMode::Fatal, text);
            if !text.is_empty() {
                each(Piece::Text(text))?;
            }
            let Status::IllFormed(error) = progress.status else {
                return ControlFlow::Continue(());
            };
            units = &units[progress.read..];
            let code_point = u32::from(error.unpaired_surrogate());
            let at = *removed + 2 * error.offset();
            each(Piece::CodePoint(code_point, at))?;
        }
    }

    fn finish(&mut self, each: &mut Each<'_>) -> ControlFlow<()> {
        if self.position < 2 {
            self.units.clear();
            self.open(each)?;
        }
        if let Err(error) = self.decoder.finish() {
            let at = self.removed + 2 * error.offset();
            let code_point = u32::from(error.unpaired_surrogate());
            each(Piece::CodePoint(code_point, at))?;
        }
        match self.odd.take() {
            Some(odd) => {
                let (form, at) = (self.name().to_uppercase(), self.position - 1);
                let why = format!("unexpected end inside a character ({odd:02x})");
                each(self.ill_formed(format!("invalid {form} at byte {at}: {why}"), &[odd]))
            }
            None => ControlFlow::Continue(()),
        }
    }

    fn name(&self) -> String {
        super::writing::To::Utf16(self.order).to_string()
    }
}

/// The repair of ill-formed bytes in an encoding other than UTF-8, as in [`ErrorMode`].
fn repair(bytes: &[u8], errors: ErrorMode) -> Option<String> {
    match errors {
        ErrorMode::Fatal => None,
        ErrorMode::Replacement => Some("\u{FFFD}".repeat(usize::from(!bytes.is_empty()))),
        ErrorMode::Skip => Some(String::new()),
        ErrorMode::Escape => Some(bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()),
        table => Some(bytes.iter().map(|&byte| in_table(byte, table)).collect()),
    }
}

/// The character of a byte in Latin-1 or Windows-1252: the repair of the byte alone, or the byte as ASCII.
fn in_table(byte: u8, table: ErrorMode) -> char {
    let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
    let _ = decoder.push_to_string(&[byte], table, &mut text);
    let _ = decoder.finish_to_string(table, &mut text);
    text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
}

struct SingleByte {
    name: &'static str,
    table: [char; 256],
    text: String,
}

impl SingleByte {
    fn new(name: &'static str, table: ErrorMode) -> Self {
        let table = std::array::from_fn(|byte| in_table(byte as u8, table));
        Self { name, table, text: String::new() }
    }
}

impl Reading for SingleByte {
    fn push(&mut self, chunk: &[u8], each: &mut Each<'_>) -> ControlFlow<()> {
        self.text.clear();
        self.text.extend(chunk.iter().map(|&byte| self.table[usize::from(byte)]));
        each(Piece::Text(&self.text))
    }

    fn finish(&mut self, _: &mut Each<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn name(&self) -> String {
        self.name.to_owned()
    }
}

struct Iso2022 {
    decoder: TerminalDecoder,
    errors: ErrorMode,
}

impl Reading for Iso2022 {
    fn push(&mut self, chunk: &[u8], each: &mut Each<'_>) -> ControlFlow<()> {
        let Self { decoder, errors } = self;
        decoder.push(chunk).try_for_each(|piece| match piece {
            Ok(text) => each(Piece::Text(text)),
            Err(error) => each(ill_formed(&error, *errors)),
        })
    }

    fn finish(&mut self, each: &mut Each<'_>) -> ControlFlow<()> {
        while let Some(piece) = self.decoder.finish().transpose() {
            match piece {
                Ok(text) => each(Piece::Text(text))?,
                Err(error) => each(ill_formed(&error, self.errors))?,
            }
        }
        ControlFlow::Continue(())
    }

    fn name(&self) -> String {
        "iso-2022".to_owned()
    }
}

/// Looks at the first bytes, at most four, and then decodes with one of the others.
struct Auto {
    settings: Settings,
    detector: Detector,
    /// The bytes before the decision.
    held: Vec<u8>,
    decided: Option<Box<dyn Reading>>,
}

impl Auto {
    fn new(settings: Settings) -> Self {
        Self { settings, detector: Detector::new(), held: Vec::new(), decided: None }
    }

    /// Returns the decoder for `kind`; the first call decides.
    fn decide(&mut self, kind: StreamKind) -> &mut dyn Reading {
        let Settings { errors, bom, fallback, .. } = self.settings;
        let policy = bom.unwrap_or(BomPolicy::Strip);
        let make = || -> Box<dyn Reading> {
            match kind {
                StreamKind::Utf16Le => Box::new(Utf16::new(Order::LowFirst, policy, errors)),
                StreamKind::Utf16Be => Box::new(Utf16::new(Order::HighFirst, policy, errors)),
                StreamKind::Utf32Le | StreamKind::Utf32Be => Box::new(NotRead(kind)),
                _ => Box::new(Utf8OrElse::new(fallback, policy, errors)),
            }
        };
        &mut **self.decided.get_or_insert_with(make)
    }
}

impl Reading for Auto {
    fn push(&mut self, chunk: &[u8], each: &mut Each<'_>) -> ControlFlow<()> {
        if let Some(decided) = &mut self.decided {
            return decided.push(chunk, each);
        }
        self.held.extend_from_slice(chunk);
        let kind = self.detector.push(chunk);
        let is_opening = self.held.len() < 4
            && !self.detector.is_certain()
            && matches!(self.held[0], 0x00 | 0xFE | 0xFF);
        if is_opening {
            return ControlFlow::Continue(());
        }
        let held = std::mem::take(&mut self.held);
        self.decide(kind).push(&held, each)
    }

    fn finish(&mut self, each: &mut Each<'_>) -> ControlFlow<()> {
        let held = std::mem::take(&mut self.held);
        let kind = self.detector.finish();
        let decided = self.decide(kind);
        if !held.is_empty() {
            decided.push(&held, each)?;
        }
        decided.finish(each)
    }

    fn name(&self) -> String {
        self.decided.as_ref().map_or_else(|| "nothing".to_owned(), |decided| decided.name())
    }
}

/// An encoding that is detected but cannot be read.
struct NotRead(StreamKind);

impl Reading for NotRead {
    fn push(&mut self, _: &[u8], each: &mut Each<'_>) -> ControlFlow<()> {
        let what = format!("this is {}, which cannot be read", self.0);
        each(Piece::IllFormed { what, repair: None })
    }

    fn finish(&mut self, _: &mut Each<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn name(&self) -> String {
        self.0.to_string()
    }
}

/// UTF-8, with a legacy encoding for ill-formed parts.
struct Utf8OrElse {
    decoder: FallbackDecoder,
    errors: ErrorMode,
    encoding: &'static str,
    text: String,
}

impl Utf8OrElse {
    fn new(
        (extent, encoding): (Extent, LegacyEncoding),
        policy: BomPolicy,
        errors: ErrorMode,
    ) -> Self {
        let options = Utf8Options::new().with_bom(policy);
        let decoder = extent.decoder(encoding).with_options(options);
        Self { decoder, errors, encoding: encoding.name(), text: String::new() }
    }

    /// Passes the decoded text to `each`, then the error after it.
    fn show(&mut self, error: Option<Utf8Error>, each: &mut Each<'_>) -> ControlFlow<()> {
        if !self.text.is_empty() {
            each(Piece::Text(&self.text))?;
        }
        self.text.clear();
        error.map_or(ControlFlow::Continue(()), |error| each(ill_formed(&error, self.errors)))
    }
}

impl Reading for Utf8OrElse {
    fn push(&mut self, chunk: &[u8], each: &mut Each<'_>) -> ControlFlow<()> {
        let mut rest = chunk;
        loop {
            let progress = self.decoder.push_to_string(rest, ErrorMode::Fatal, &mut self.text);
            rest = &rest[progress.read..];
            let Status::IllFormed(error) = progress.status else { return self.show(None, each) };
            self.show(Some(error), each)?;
        }
    }

    fn finish(&mut self, each: &mut Each<'_>) -> ControlFlow<()> {
        loop {
            match self.decoder.finish_to_string(ErrorMode::Fatal, &mut self.text) {
                Ok(()) => return self.show(None, each),
                Err(error) => self.show(Some(error), each)?,
            }
        }
    }

    fn name(&self) -> String {
        match self.decoder.fallback_uses().first {
            None => "utf-8".to_owned(),
            Some(first) => format!(
                "utf-8, and from byte {first} on {} bytes of {}",
                self.decoder.fallback_uses().bytes,
                self.encoding
            ),
        }
    }
}

#[cfg(feature = "encoding_rs")]
mod whatwg {
    use encoding_rs::{Decoder, DecoderResult, Encoding};

    use super::{ControlFlow, Each, ErrorMode, Piece, Reading, repair};

    /// A legacy encoding of the WHATWG Encoding Standard.
    pub(super) struct Whatwg {
        encoding: &'static Encoding,
        decoder: Decoder,
        errors: ErrorMode,
        /// The number of bytes decoded so far.
        position: u64,
        /// The last of these bytes, enough for one error.
        recent: Vec<u8>,
        text: String,
    }

    impl Whatwg {
        pub(super) fn new(encoding: &'static Encoding, errors: ErrorMode) -> Self {
            let decoder = encoding.new_decoder_without_bom_handling();
            let (recent, text) = (Vec::new(), String::new());
            Self { encoding, decoder, errors, position: 0, recent, text }
        }

        fn decode(&mut self, mut rest: &[u8], last: bool, each: &mut Each<'_>) -> ControlFlow<()> {
            self.text.reserve(3 * rest.len() + ROOM);
            loop {
                self.text.clear();
                let (result, read) =
                    self.decoder.decode_to_string_without_replacement(rest, &mut self.text, last);
                self.position += read as u64;
                self.recent.extend_from_slice(&rest[read.saturating_sub(RECENT)..read]);
                self.recent.drain(..self.recent.len().saturating_sub(RECENT));
                rest = &rest[read..];
                if !self.text.is_empty() {
                    each(Piece::Text(&self.text))?;
                }
                match result {
                    DecoderResult::InputEmpty => return ControlFlow::Continue(()),
                    DecoderResult::OutputFull => {}
                    DecoderResult::Malformed(len, after) => {
                        let (len, after) = (usize::from(len), usize::from(after));
                        let end = self.recent.len().saturating_sub(after);
                        let bytes = &self.recent[end.saturating_sub(len)..end];
                        let at = self.position - (len + after) as u64;
                        let hex = super::super::terminal::hex(bytes);
                        let name = self.encoding.name();
                        let what = format!("invalid {name} at byte {at}: {hex}");
                        each(Piece::IllFormed { what, repair: repair(bytes, self.errors) })?;
                    }
                }
            }
        }
    }

    impl Reading for Whatwg {
        fn push(&mut self, chunk: &[u8], each: &mut Each<'_>) -> ControlFlow<()> {
            self.decode(chunk, false, each)
        }

        fn finish(&mut self, each: &mut Each<'_>) -> ControlFlow<()> {
            self.decode(b"", true, each)
        }

        fn name(&self) -> String {
            self.encoding.name().to_owned()
        }
    }

    /// The most bytes of an error and of the bytes read after it.
    const RECENT: usize = 16;
    /// Space that the decoder needs besides that for the text.
    const ROOM: usize = 64;
}
