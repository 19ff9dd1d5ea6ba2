//! The validator, the decoder in all its ways, and the codecs.

use bytes::{Bytes, BytesMut};
use utf8_codec::codec::{CharCodec, Utf8ChunksCodec, Utf8Codec};
use utf8_codec::{ErrorMode, Status, Utf8Decoder, Utf8Error, Utf8Validator};

use super::input::{self, Many};
use super::streams::{Object, Plan, Settings, check};
use crate::support::{Atom, Tell, model_error, options};

pub fn validator(plan: &Plan) {
    check(plan, &|settings| {
        Box::new(Validating(Utf8Validator::with_options(options(settings.config()))))
    });
}

pub fn decoder_pieces(plan: &Plan) {
    check(plan, &|settings| {
        // Whatever the mode: pieces are always text and errors.
        let decoder = Utf8Decoder::with_options(options(settings.config()));
        let broken_off = settings.choice.is_multiple_of(2);
        match settings.mode().1 {
            ErrorMode::Fatal => Box::new(Pieces { decoder, broken_off }),
            mode => Box::new(Converting { decoder, mode, choice: settings.choice, turn: 0 }),
        }
    });
}

pub fn decoder_owned(plan: &Plan) {
    check(plan, &|settings| {
        let decoder = Utf8Decoder::with_options(options(settings.config()));
        let mode = settings.mode().1;
        Box::new(Converting { decoder, mode, choice: settings.choice, turn: 0 })
    });
}

pub fn codecs(plan: &Plan) {
    check(plan, &|settings: Settings| {
        let (options, mode) = (options(settings.config()), settings.mode().1);
        match settings.choice % 3 {
            0 => {
                let codec = Utf8Codec::new().with_options(options).with_error_mode(mode);
                Box::new(Coded::new(codec, Utf8Codec::reset))
            }
            1 if mode == ErrorMode::Fatal => {
                let codec = Utf8ChunksCodec::new().with_options(options);
                Box::new(Coded::new(codec, Utf8ChunksCodec::reset))
            }
            _ => {
                let codec = CharCodec::new().with_options(options).with_error_mode(mode);
                Box::new(Coded::new(codec, CharCodec::reset))
            }
        }
    });
}

struct Validating(Utf8Validator);

impl Object for Validating {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let before = self.0.position();
        let mut errors = Vec::new();
        while let Err(error) = self.0.push(&chunk[(self.0.position() - before) as usize..]) {
            errors.push(Atom::Error(model_error(&error)));
        }
        assert_eq!(self.0.position() - before, chunk.len() as u64);
        assert_eq!(self.0.is_complete(), self.0.incomplete().is_empty());
        errors
    }

    fn finish(&mut self) -> Vec<Atom> {
        let mut errors = Vec::new();
        while let Err(error) = self.0.finish() {
            errors.push(Atom::Error(model_error(&error)));
        }
        errors
    }

    fn held(&self) -> usize {
        self.0.incomplete().len()
    }

    fn start(&self) -> (bool, usize) {
        (self.0.bom_seen(), self.0.skipped())
    }

    fn reset(&mut self) -> bool {
        self.0.reset();
        true
    }

    fn tells_text(&self) -> bool {
        false
    }
}

/// Borrowed pieces, all of them or one for each call.
struct Pieces {
    decoder: Utf8Decoder,
    broken_off: bool,
}

impl Object for Pieces {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let mut out = Vec::new();
        if !self.broken_off {
            self.decoder.push(chunk).for_each(|piece| add(&mut out, piece));
            return out;
        }
        let mut rest = chunk;
        loop {
            let mut pieces = self.decoder.push(rest);
            let Some(piece) = pieces.next() else { return out };
            add(&mut out, piece);
            rest = pieces.rest();
        }
    }

    fn finish(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        while let Err(error) = self.decoder.finish() {
            out.push(Atom::Error(model_error(&error)));
        }
        out
    }

    fn held(&self) -> usize {
        self.decoder.incomplete().len()
    }

    fn start(&self) -> (bool, usize) {
        (self.decoder.bom_seen(), self.decoder.skipped())
    }

    fn reset(&mut self) -> bool {
        self.decoder.reset();
        true
    }
}

fn add<T: AsRef<str>>(out: &mut Vec<Atom>, piece: Result<T, Utf8Error>) {
    match piece {
        Ok(text) => {
            assert!(!text.as_ref().is_empty(), "pieces are never empty");
            out.extend(text.as_ref().chars().map(Atom::Char));
        }
        Err(error) => out.push(Atom::Error(model_error(&error))),
    }
}

/// One decoder by all its ways of writing, one after another.
struct Converting {
    decoder: Utf8Decoder,
    mode: ErrorMode,
    choice: u8,
    turn: u8,
}

impl Converting {
    /// Room for the longest repair, and a little more or less.
    fn room(&self) -> usize {
        16 + usize::from(self.choice / 8)
    }

    /// What is written into a slice of so many elements.
    fn convert<T: Copy>(
        &mut self,
        chunk: &[u8],
        blank: T,
        push: impl Fn(&mut Utf8Decoder, &[u8], ErrorMode, &mut [T]) -> utf8_codec::Progress,
        read: impl Fn(&[T]) -> Vec<char>,
    ) -> Vec<Atom> {
        let (mut out, mut input) = (Vec::new(), chunk);
        let mut buffer = vec![blank; self.room()];
        loop {
            let progress = push(&mut self.decoder, input, self.mode, &mut buffer);
            out.extend(read(&buffer[..progress.written]).into_iter().map(Atom::Char));
            input = &input[progress.read + progress.held..];
            match progress.status {
                Status::Done => break,
                Status::Full => assert!(progress.read + progress.written > 0, "no progress"),
                Status::IllFormed(error) => out.push(Atom::Error(model_error(&error))),
                Status::TooSmall { needed } => panic!("{needed} elements needed"),
            }
        }
        assert!(input.is_empty());
        out
    }
}

impl Object for Converting {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        self.turn = self.turn.wrapping_add(1);
        let mut out = Vec::new();
        match (self.choice.wrapping_add(self.turn) % 5, self.mode) {
            (0, ErrorMode::Fatal) => {
                let owned = Bytes::copy_from_slice(chunk);
                self.decoder.push_bytes(owned).for_each(|piece| add(&mut out, piece));
                out
            }
            (0 | 1, _) => {
                let mut input = chunk;
                loop {
                    let mut text = String::from("kept");
                    let progress = self.decoder.push_to_string(input, self.mode, &mut text);
                    assert_eq!(progress.written, text.len() - "kept".len());
                    out.extend(text["kept".len()..].chars().map(Atom::Char));
                    input = &input[progress.read + progress.held..];
                    match progress.status {
                        Status::Done => return out,
                        Status::IllFormed(error) => out.push(Atom::Error(model_error(&error))),
                        other => panic!("{other:?} from a destination without bounds"),
                    }
                }
            }
            (2, _) => self.convert(chunk, 0xEE, Utf8Decoder::push_to_slice, |bytes| {
                str::from_utf8(bytes).expect("whole characters are written").chars().collect()
            }),
            (3, _) => self.convert(chunk, '\u{E123}', Utf8Decoder::push_to_chars, <[char]>::to_vec),
            _ => self.convert(chunk, 0xD800, Utf8Decoder::push_to_utf16, |units| {
                String::from_utf16(units).expect("whole pairs are written").chars().collect()
            }),
        }
    }

    fn finish(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        if self.choice.is_multiple_of(2) {
            let mut text = String::new();
            while let Err(error) = self.decoder.finish_to_string(self.mode, &mut text) {
                out.push(Atom::Error(model_error(&error)));
            }
            out.extend(text.chars().map(Atom::Char));
            return out;
        }
        let mut buffer = ['\0'; 16];
        loop {
            let progress = self.decoder.finish_to_chars(self.mode, &mut buffer);
            out.extend(buffer[..progress.written].iter().copied().map(Atom::Char));
            match progress.status {
                Status::Done => return out,
                Status::Full => {}
                Status::IllFormed(error) => out.push(Atom::Error(model_error(&error))),
                Status::TooSmall { needed } => panic!("{needed} elements needed"),
            }
        }
    }

    fn held(&self) -> usize {
        self.decoder.incomplete().len()
    }

    fn start(&self) -> (bool, usize) {
        (self.decoder.bom_seen(), self.decoder.skipped())
    }

    fn reset(&mut self) -> bool {
        self.decoder.reset();
        true
    }
}

/// A codec, called as its reader would if it went on after errors and after the end.
struct Coded<C> {
    codec: C,
    reset: fn(&mut C),
    buffer: BytesMut,
}

impl<C> Coded<C> {
    fn new(codec: C, reset: fn(&mut C)) -> Self {
        Self { codec, reset, buffer: BytesMut::new() }
    }
}

impl<C: Tell> Object for Coded<C> {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        self.buffer.extend_from_slice(chunk);
        let mut out = Vec::new();
        loop {
            match self.codec.decode(&mut self.buffer) {
                Ok(Some(item)) => out.extend(C::item(item)),
                Ok(None) => return out,
                Err(error) => out.push(C::error(error)),
            }
        }
    }

    fn finish(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        loop {
            match self.codec.decode_eof(&mut self.buffer) {
                Ok(Some(item)) => out.extend(C::item(item)),
                Ok(None) => break,
                Err(error) => out.push(C::error(error)),
            }
        }
        assert!(self.buffer.is_empty(), "everything is accounted for at the end");
        out
    }

    fn held(&self) -> usize {
        self.buffer.len()
    }

    fn start(&self) -> (bool, usize) {
        (self.codec.inner().bom_seen(), self.codec.inner().skipped())
    }

    fn reset(&mut self) -> bool {
        self.buffer.clear();
        (self.reset)(&mut self.codec);
        true
    }
}

// ---- against std and encoding_rs ----------------------------------------------------------------

/// Long inputs in chunks of so many bytes each, in turn.
#[derive(arbitrary::Arbitrary, Clone, Debug)]
pub struct Long {
    bytes: input::Bytes<4000>,
    sizes: Many<u16>,
}

impl Long {
    /// The chunks; where there are no sizes, the whole.
    pub fn chunks(&self) -> Vec<&[u8]> {
        let (mut rest, mut chunks) = (&self.bytes.0[..], Vec::new());
        for size in &*self.sizes {
            let (chunk, behind) = rest.split_at(rest.len().min(usize::from(*size % 1500)));
            chunks.push(chunk);
            rest = behind;
        }
        chunks.push(rest);
        chunks
    }
}

/// Long enough for every way through the kernels: replacement is that of std, and with the signature
/// off that of encoding_rs; the errors are those of std.
pub fn long(long: &Long) {
    let bytes = &long.bytes.0[..];
    let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
    for chunk in long.chunks() {
        let progress = decoder.push_to_string(chunk, ErrorMode::Replacement, &mut text);
        assert_eq!(progress.status, Status::Done);
    }
    decoder.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
    assert!(text == String::from_utf8_lossy(bytes), "{bytes:02x?}");

    let (mut decoder, mut validator) = (Utf8Decoder::new(), Utf8Validator::new());
    let (mut errors, mut joined) = (Vec::new(), String::new());
    for chunk in long.chunks() {
        for piece in decoder.push(chunk) {
            match piece {
                Ok(piece) => joined.push_str(piece),
                Err(error) => errors.push(error),
            }
        }
        let before = validator.position();
        while validator.push(&chunk[(validator.position() - before) as usize..]).is_err() {}
    }
    errors.extend(decoder.finish().err());
    let mut expected = Vec::new();
    let mut at = 0;
    let mut clean = String::new();
    for chunk in bytes.utf8_chunks() {
        clean.push_str(chunk.valid());
        at += chunk.valid().len() as u64;
        if !chunk.invalid().is_empty() {
            expected.push((at, chunk.invalid().to_vec()));
            at += chunk.invalid().len() as u64;
        }
    }
    let errors: Vec<_> =
        errors.iter().map(|error| (error.valid_up_to(), error.bytes().to_vec())).collect();
    assert!(joined == clean && errors == expected, "{bytes:02x?}");
    assert_eq!(validator.position(), bytes.len() as u64);

    #[cfg(feature = "encoding_rs")]
    of_encoding_rs(long);
}

#[cfg(feature = "encoding_rs")]
fn of_encoding_rs(long: &Long) {
    let options = utf8_codec::Utf8Options::new().with_bom(utf8_codec::BomPolicy::Strip);
    let mut ours = Utf8Decoder::with_options(options);
    let mut theirs = encoding_rs::UTF_8.new_decoder_with_bom_removal();
    let (mut text, mut expected) = (String::new(), String::new());
    let chunks = long.chunks();
    for (number, chunk) in chunks.iter().enumerate() {
        let _done = ours.push_to_string(chunk, ErrorMode::Replacement, &mut text);
        expected.reserve(theirs.max_utf8_buffer_length(chunk.len()).unwrap());
        let last = number + 1 == chunks.len();
        let (result, ..) = theirs.decode_to_string(chunk, &mut expected, last);
        assert_eq!(result, encoding_rs::CoderResult::InputEmpty);
    }
    ours.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
    assert!(text == expected, "{:02x?}", long.bytes.0);
}
