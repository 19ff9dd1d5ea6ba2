//! The public types of the core and of the codecs, with one interface.

use std::io;

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use tokio_util::codec::Decoder;
use utf8_codec::codec::{CharCodec, CodecError, Utf8ChunksCodec, Utf8Codec};
use utf8_codec::decoder::{Piece, Progress, Status};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Error, Utf8Options, Utf8Validator};

#[cfg(feature = "stream")]
use super::blocking::Blocking;
#[cfg(feature = "stream")]
use super::streams::{Chars, Read, Texts};
use super::{Atom, Errors, model_error};

/// An object under test that yields its output as atoms.
pub trait Subject {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom>;
    fn finish(&mut self) -> Vec<Atom>;
    /// The decoder, and the number of bytes that wait outside it. A validator has none.
    fn state(&self) -> Option<(&Utf8Decoder, usize)>;

    /// The held bytes.
    fn held(&self) -> usize {
        self.state().map_or(0, |(decoder, waiting)| decoder.incomplete().len() + waiting)
    }

    /// Whether a BOM was stripped, and the number of skipped bytes.
    fn start(&self) -> (bool, usize) {
        self.state().map_or((false, 0), |(decoder, _)| (decoder.bom_seen(), decoder.skipped()))
    }

    /// The number of consumed bytes, held ones included, if the object knows it.
    fn position(&self) -> Option<u64> {
        self.state().map(|(decoder, waiting)| decoder.position() + waiting as u64)
    }

    /// The number of errors and the first of them, if the object counts them.
    fn errors(&self) -> Option<Errors> {
        self.state().map(|(decoder, _)| counted(decoder))
    }

    /// The offsets that the object has reported since the last call, if it reports any.
    fn places(&mut self) -> Vec<Reported> {
        Vec::new()
    }

    /// Starts a new stream with the same settings. False if that needs a new object.
    fn reset(&mut self) -> bool {
        false
    }

    /// Whether it yields text, not only errors.
    fn yields_text(&self) -> bool {
        true
    }
}

/// An offset that an object reported.
#[derive(Clone, Copy, Debug)]
pub struct Reported {
    /// The number of characters before.
    pub chars: usize,
    /// Whether the next character starts there, or only the last one ends there.
    pub is_next: bool,
    pub offset: u64,
}

/// The errors that a decoder has counted, in the model's terms.
pub fn counted(decoder: &Utf8Decoder) -> Errors {
    Errors {
        count: decoder.error_count(),
        rejected: decoder.rejected_count(),
        first: decoder.first_error().map(|error| model_error(&error)),
    }
}

/// Makes an object that reports errors or, in a lossy mode, repairs them.
pub type Make = fn(Utf8Options, ErrorMode) -> Box<dyn Subject>;

/// Every type that supports this mode, by name.
pub fn all(mode: ErrorMode) -> Vec<(&'static str, Make)> {
    let mut all: Vec<(&'static str, Make)> = Vec::new();
    if mode == ErrorMode::Fatal {
        all.extend(REPORTING);
    }
    all.extend(REPORTING_AND_REPAIRING);
    #[cfg(feature = "stream")]
    all.extend(STREAMS);
    #[cfg(feature = "http-body")]
    all.push(("Utf8Body", super::body::Framed::boxed));
    all
}

const REPORTING: [(&str, Make); 4] = [
    ("Utf8Decoder::push", |options, mode| Decoding::boxed(options, mode, &[Way::Pieces])),
    ("Utf8Decoder::next_piece", |options, mode| Decoding::boxed(options, mode, &[Way::Next])),
    ("Utf8Decoder::push_bytes", |options, mode| Decoding::boxed(options, mode, &[Way::Bytes])),
    ("Utf8ChunksCodec", |options, _| Called::boxed(Utf8ChunksCodec::new().with_options(options))),
];

const REPORTING_AND_REPAIRING: [(&str, Make); 4] = [
    ("Utf8Decoder::push_to_string", |options, mode| Decoding::boxed(options, mode, &[Way::String])),
    ("Utf8Codec", |options, mode| {
        Called::boxed(Utf8Codec::new().with_options(options).with_error_mode(mode))
    }),
    ("Utf8Decoder::push_to_slice", |options, mode| {
        // The smallest size that fits every character and every repair.
        let room = if mode == ErrorMode::Fatal { 4 } else { 16 };
        Decoding::boxed(options, mode, &[Way::Slice(room)])
    }),
    ("CharCodec", |options, mode| {
        Called::boxed(CharCodec::new().with_options(options).with_error_mode(mode))
    }),
];

#[cfg(feature = "stream")]
const STREAMS: [(&str, Make); 5] = [
    ("Utf8Stream", Texts::boxed),
    ("CharStream", Chars::boxed),
    ("Utf8Reader", Read::boxed),
    ("Utf8Reader, 4 bytes", |options, mode| Read::with_capacity(options, mode, 4)),
    ("io::Utf8Reader, 4 bytes", |options, mode| Blocking::with_capacity(options, mode, 4)),
];

/// A method of decoding; the last ones write to a buffer of this many elements.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    Pieces,
    /// A new iterator for each piece.
    BrokenOff,
    Next,
    Bytes,
    String,
    Slice(usize),
    Chars(usize),
    Utf16(usize),
}

/// A decoder that uses several methods, one after another.
pub struct Decoding {
    decoder: Utf8Decoder,
    mode: ErrorMode,
    ways: Vec<Way>,
    turn: usize,
}

impl Decoding {
    pub fn boxed(options: Utf8Options, mode: ErrorMode, ways: &[Way]) -> Box<dyn Subject> {
        let decoder = Utf8Decoder::new().with_options(options);
        Box::new(Self { decoder, mode, ways: ways.to_vec(), turn: 0 })
    }

    fn next_way(&mut self) -> Way {
        let way = self.ways[self.turn % self.ways.len()];
        self.turn += 1;
        way
    }

    /// The output of a push into a buffer, repeated as needed. A buffer that is too small is replaced
    /// by one that just fits. `read` converts its contents.
    fn through_buffer<T: Copy + PartialEq>(
        &mut self,
        blank: T,
        room: usize,
        chunk: &[u8],
        convert: impl Fn(&mut Utf8Decoder, &[u8], ErrorMode, &mut [T]) -> Progress,
        read: impl Fn(&[T]) -> Vec<char>,
    ) -> Vec<Atom> {
        let mut buffer = vec![blank; room];
        let (mut out, mut input) = (Vec::new(), chunk);
        loop {
            buffer.fill(blank);
            let progress = convert(&mut self.decoder, input, self.mode, &mut buffer);
            out.extend(read(&buffer[..progress.written]).into_iter().map(Atom::Char));
            input = &input[progress.read..];
            match progress.status {
                Status::Done => {
                    assert!(input.is_empty());
                    self.assert_held(progress, chunk);
                    return out;
                }
                Status::Full => assert!(progress.read + progress.written > 0, "no progress"),
                Status::IllFormed(error) => out.push(Atom::from(&error)),
                Status::TooSmall { needed } => {
                    assert!(needed > buffer.len(), "{needed} elements are available");
                    assert_eq!((progress.read, progress.written), (0, 0));
                    buffer.resize(needed, blank);
                }
                status => unreachable!("{status:?}"),
            }
        }
    }

    /// All incomplete bytes of the chunk are held.
    fn assert_held(&self, progress: Progress, chunk: &[u8]) {
        let incomplete = self.decoder.incomplete().len();
        assert_eq!(progress.held, incomplete.min(chunk.len()), "of {chunk:02x?}");
    }

    fn by_string(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let (mut out, mut input) = (Vec::new(), chunk);
        loop {
            let mut text = String::from("kept");
            let progress = self.decoder.push_to_string(input, self.mode, &mut text);
            assert_eq!(progress.written, text.len() - "kept".len());
            out.extend(text["kept".len()..].chars().map(Atom::Char));
            input = &input[progress.read..];
            match progress.status {
                Status::Done => {
                    assert!(input.is_empty());
                    self.assert_held(progress, chunk);
                    return out;
                }
                Status::IllFormed(error) => out.push(Atom::from(&error)),
                other => panic!("{other:?} from a destination without bounds"),
            }
        }
    }
}

impl Subject for Decoding {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        match self.next_way() {
            Way::Pieces => self.decoder.push(chunk).flat_map(atoms_of_piece).collect(),
            Way::BrokenOff => {
                let (mut out, mut rest) = (Vec::new(), chunk);
                loop {
                    let mut pieces = self.decoder.push(rest);
                    let Some(piece) = pieces.next() else { return out };
                    out.extend(atoms_of_piece(piece));
                    rest = pieces.rest();
                }
            }
            Way::Next => {
                let (mut out, mut rest) = (Vec::new(), chunk);
                while let Some(piece) = self.decoder.next_piece(&mut rest) {
                    match piece {
                        Ok(Piece::Text(text)) => {
                            let (from, to) = (chunk.as_ptr_range(), text.as_bytes().as_ptr_range());
                            assert!(from.start <= to.start && to.end <= from.end, "it is a copy");
                            out.extend(text.chars().map(Atom::Char));
                        }
                        Ok(Piece::Char(c)) => out.push(Atom::Char(c)),
                        Err(error) => out.push(Atom::from(&error)),
                    }
                }
                assert_eq!(rest, b"");
                out
            }
            Way::Bytes => {
                let chunk = Bytes::copy_from_slice(chunk);
                self.decoder.push_bytes(chunk).flat_map(atoms_of_piece).collect()
            }
            Way::String => self.by_string(chunk),
            Way::Slice(room) => {
                self.through_buffer(0xFF, room, chunk, Utf8Decoder::push_to_slice, chars_of_bytes)
            }
            Way::Chars(room) => {
                let blank = '\u{E123}';
                self.through_buffer(blank, room, chunk, Utf8Decoder::push_to_chars, <[_]>::to_vec)
            }
            Way::Utf16(room) => {
                self.through_buffer(0xD800, room, chunk, Utf8Decoder::push_to_utf16, chars_of_units)
            }
        }
    }

    fn finish(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        match self.next_way() {
            Way::Pieces | Way::BrokenOff | Way::Next | Way::Bytes => {
                while let Err(error) = self.decoder.finish() {
                    out.push(Atom::from(&error));
                }
            }
            Way::String => {
                let mut text = String::new();
                while let Err(error) = self.decoder.finish_to_string(self.mode, &mut text) {
                    out.push(Atom::from(&error));
                }
                out.extend(text.chars().map(Atom::Char));
            }
            Way::Slice(room) => {
                let finish = |decoder: &mut Utf8Decoder, _: &[u8], mode, buffer: &mut [u8]| {
                    decoder.finish_to_slice(mode, buffer)
                };
                out = self.through_buffer(0xFF, room, b"", finish, chars_of_bytes);
            }
            Way::Chars(room) => {
                let finish = |decoder: &mut Utf8Decoder, _: &[u8], mode, buffer: &mut [char]| {
                    decoder.finish_to_chars(mode, buffer)
                };
                out = self.through_buffer('\u{E123}', room, b"", finish, <[_]>::to_vec);
            }
            Way::Utf16(room) => {
                let finish = |decoder: &mut Utf8Decoder, _: &[u8], mode, buffer: &mut [u16]| {
                    decoder.finish_to_utf16(mode, buffer)
                };
                out = self.through_buffer(0xD800, room, b"", finish, chars_of_units);
            }
        }
        assert_eq!(self.decoder.finish(), Ok(()), "a further call is harmless");
        out
    }

    fn state(&self) -> Option<(&Utf8Decoder, usize)> {
        Some((&self.decoder, 0))
    }

    fn reset(&mut self) -> bool {
        self.decoder.reset();
        true
    }
}

fn atoms_of_piece<T: AsRef<str>>(piece: Result<T, Utf8Error>) -> Vec<Atom> {
    match piece {
        Ok(text) => {
            assert!(!text.as_ref().is_empty(), "pieces are never empty");
            text.as_ref().chars().map(Atom::Char).collect()
        }
        Err(error) => vec![Atom::from(&error)],
    }
}

fn chars_of_bytes(bytes: &[u8]) -> Vec<char> {
    str::from_utf8(bytes).expect("whole characters are written").chars().collect()
}

fn chars_of_units(units: &[u16]) -> Vec<char> {
    String::from_utf16(units).expect("whole pairs are written").chars().collect()
}

/// A validator, which yields only errors.
pub struct Validating(Utf8Validator);

impl Validating {
    pub fn new(options: Utf8Options) -> Self {
        Self(Utf8Validator::new().with_options(options))
    }
}

impl Subject for Validating {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let before = self.0.position();
        let mut errors = Vec::new();
        while let Err(error) = self.0.push(&chunk[(self.0.position() - before) as usize..]) {
            errors.push(Atom::from(&error));
        }
        assert_eq!(self.0.position() - before, chunk.len() as u64);
        assert_eq!(self.0.is_complete(), self.0.incomplete().is_empty());
        errors
    }

    fn finish(&mut self) -> Vec<Atom> {
        let mut errors = Vec::new();
        while let Err(error) = self.0.finish() {
            errors.push(Atom::from(&error));
        }
        errors
    }

    fn state(&self) -> Option<(&Utf8Decoder, usize)> {
        None
    }

    fn held(&self) -> usize {
        self.0.incomplete().len()
    }

    fn start(&self) -> (bool, usize) {
        (self.0.bom_seen(), self.0.skipped())
    }

    fn position(&self) -> Option<u64> {
        Some(self.0.position())
    }

    fn reset(&mut self) -> bool {
        self.0.reset();
        true
    }

    fn yields_text(&self) -> bool {
        false
    }
}

/// A codec, called as `FramedRead` would if it continued after errors and after the end.
pub struct Called<C> {
    codec: C,
    buffer: BytesMut,
}

impl<C: ToAtoms + 'static> Called<C> {
    pub fn boxed(codec: C) -> Box<dyn Subject> {
        Box::new(Self { codec, buffer: BytesMut::new() })
    }
}

/// Converts a codec's items and errors to the model's terms.
pub trait ToAtoms: Decoder {
    fn item(item: Self::Item) -> Vec<Atom>;
    fn error(error: Self::Error) -> Atom;
    fn inner(&self) -> &Utf8Decoder;

    fn start_again(&mut self);
}

impl<C: ToAtoms> Subject for Called<C> {
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
        assert!(self.buffer.is_empty(), "no byte is left over at the end");
        assert!(matches!(self.codec.decode_eof(&mut self.buffer), Ok(None)));
        out
    }

    fn state(&self) -> Option<(&Utf8Decoder, usize)> {
        Some((self.codec.inner(), self.buffer.len()))
    }

    fn reset(&mut self) -> bool {
        self.buffer.clear();
        self.codec.start_again();
        true
    }
}

fn codec_error(error: CodecError) -> Atom {
    match error {
        CodecError::Invalid(error) => Atom::from(&error),
        other => panic!("{other}"),
    }
}

impl ToAtoms for Utf8Codec {
    fn item(item: Self::Item) -> Vec<Atom> {
        assert!(!item.is_empty(), "items are never empty");
        item.chars().map(Atom::Char).collect()
    }

    fn error(error: CodecError) -> Atom {
        codec_error(error)
    }

    fn inner(&self) -> &Utf8Decoder {
        self.decoder()
    }

    fn start_again(&mut self) {
        self.reset();
    }
}

impl ToAtoms for Utf8ChunksCodec {
    fn item(item: Result<ByteString, Utf8Error>) -> Vec<Atom> {
        match item {
            Ok(text) => {
                assert!(!text.is_empty(), "items are never empty");
                text.chars().map(Atom::Char).collect()
            }
            Err(error) => vec![Atom::from(&error)],
        }
    }

    fn error(error: io::Error) -> Atom {
        panic!("{error}")
    }

    fn inner(&self) -> &Utf8Decoder {
        self.decoder()
    }

    fn start_again(&mut self) {
        self.reset();
    }
}

impl ToAtoms for CharCodec {
    fn item(item: char) -> Vec<Atom> {
        vec![Atom::Char(item)]
    }

    fn error(error: CodecError) -> Atom {
        codec_error(error)
    }

    fn inner(&self) -> &Utf8Decoder {
        self.decoder()
    }

    fn start_again(&mut self) {
        self.reset();
    }
}
