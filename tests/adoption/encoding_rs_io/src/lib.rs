//! The API of encoding_rs_io 0.1, on top of `utf8-codec`. Encodings other than UTF-8 and UTF-16 are decoded by encoding_rs.
#![forbid(unsafe_code)]

use std::fmt;
use std::io::{self, Read};

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use utf8_codec::decoder::Status;
use utf8_codec::utf16::Utf16Decoder;
use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Options};

/// How bytes are decoded.
#[derive(Clone, Debug)]
pub struct DecodeReaderBytesBuilder {
    encoding: Option<&'static Encoding>,
    utf8_passthru: bool,
    strip_bom: bool,
    bom_override: bool,
    bom_sniffing: bool,
}

impl Default for DecodeReaderBytesBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl DecodeReaderBytesBuilder {
    pub fn new() -> Self {
        Self {
            encoding: None,
            utf8_passthru: false,
            strip_bom: false,
            bom_override: false,
            bom_sniffing: true,
        }
    }

    pub fn build<R: Read>(&self, reader: R) -> DecodeReaderBytes<R, Vec<u8>> {
        DecodeReaderBytes::with_buffer(self, reader, vec![0; 8 << 10])
    }

    /// # Errors
    ///
    /// If the buffer has fewer than four bytes.
    pub fn build_with_buffer<R: Read, B: AsMut<[u8]>>(
        &self,
        reader: R,
        mut buffer: B,
    ) -> io::Result<DecodeReaderBytes<R, B>> {
        let len = buffer.as_mut().len();
        if len < 4 {
            let message = format!("the buffer has {len} bytes, and a character up to 4");
            return Err(io::Error::other(message));
        }
        Ok(DecodeReaderBytes::with_buffer(self, reader, buffer))
    }

    pub fn encoding(&mut self, encoding: Option<&'static Encoding>) -> &mut Self {
        self.encoding = encoding;
        self
    }

    pub fn utf8_passthru(&mut self, yes: bool) -> &mut Self {
        self.utf8_passthru = yes;
        self
    }

    pub fn strip_bom(&mut self, yes: bool) -> &mut Self {
        self.strip_bom = yes;
        self
    }

    pub fn bom_override(&mut self, yes: bool) -> &mut Self {
        self.bom_override = yes;
        self
    }

    pub fn bom_sniffing(&mut self, yes: bool) -> &mut Self {
        self.bom_sniffing = yes;
        self
    }

    /// Chooses the decoder of a stream that starts with `start`, and how many bytes of it are not decoded.
    fn choose(&self, start: &[u8]) -> (Transcoder, usize) {
        let bom = Encoding::for_bom(start);
        let counts = self.bom_sniffing && (self.encoding.is_none() || self.bom_override);
        let passes = |of| self.utf8_passthru && of == UTF_8;
        let sniffed = bom.filter(|(of, _)| counts && !passes(*of));
        let encoding = sniffed.map(|(encoding, _)| encoding).or(self.encoding);
        let transcoder = match encoding {
            None => Transcoder::Raw,
            Some(encoding) => Transcoder::of(encoding),
        };
        // A decoder removes the BOM of its own encoding.
        let is_own = bom.is_some_and(|(of, _)| Some(of) == encoding);
        let is_removed = self.strip_bom || is_own && !matches!(transcoder, Transcoder::Raw);
        (transcoder, bom.filter(|_| is_removed).map_or(0, |(_, len)| len))
    }
}

enum Transcoder {
    Raw,
    Utf8(Utf8Decoder),
    Utf16 { decoder: Utf16Decoder, push_units: fn(&mut Vec<u16>, &[[u8; 2]]), odd: Option<u8> },
    Other(Box<Decoder>),
}

impl Transcoder {
    fn of(encoding: &'static Encoding) -> Self {
        let decoder = Utf16Decoder::new();
        if encoding == UTF_8 {
            Self::Utf8(
                Utf8Decoder::new().with_options(Utf8Options::new().with_bom(BomPolicy::Keep)),
            )
        } else if encoding == UTF_16LE {
            Self::Utf16 { decoder, push_units: push_le, odd: None }
        } else if encoding == UTF_16BE {
            Self::Utf16 { decoder, push_units: push_be, odd: None }
        } else {
            Self::Other(Box::new(encoding.new_decoder_without_bom_handling()))
        }
    }

    /// Appends the text of `bytes`.
    fn push(&mut self, bytes: &[u8], text: &mut String) {
        match self {
            Self::Raw => {}
            Self::Utf8(decoder) => {
                let progress = decoder.push_to_string(bytes, ErrorMode::Replacement, text);
                debug_assert_eq!(progress.status, Status::Done);
            }
            Self::Utf16 { decoder, push_units, odd } => {
                let mut rest = bytes;
                let first = odd.take();
                let mut units = Vec::with_capacity(bytes.len() / 2 + 1);
                match (first, rest.split_first()) {
                    (Some(first), Some((second, after))) => {
                        push_units(&mut units, &[[first, *second]]);
                        rest = after;
                    }
                    (first, _) => *odd = first,
                }
                let (pairs, last) = rest.as_chunks::<2>();
                push_units(&mut units, pairs);
                if let [last] = last {
                    *odd = Some(*last);
                }
                let progress = decoder.push_to_string(&units, ErrorMode::Replacement, text);
                debug_assert_eq!(progress.status, Status::Done);
            }
            Self::Other(decoder) => Self::push_other(decoder, bytes, text, false),
        }
    }

    fn finish(&mut self, text: &mut String) {
        match self {
            Self::Raw => {}
            Self::Utf8(decoder) => {
                let _repaired = decoder.finish_to_string(ErrorMode::Replacement, text);
            }
            Self::Utf16 { decoder, odd, .. } => {
                let before = text.len();
                let _repaired = decoder.finish_to_string(ErrorMode::Replacement, text);
                // Half a unit, and an unpaired surrogate before it, are one error.
                if odd.take().is_some() && text.len() == before {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
            }
            Self::Other(decoder) => Self::push_other(decoder, b"", text, true),
        }
    }

    fn push_other(decoder: &mut Decoder, bytes: &[u8], text: &mut String, is_last: bool) {
        let needed = decoder.max_utf8_buffer_length(bytes.len());
        text.reserve(needed.unwrap_or(bytes.len()));
        let (result, ..) = decoder.decode_to_string(bytes, text, is_last);
        debug_assert_eq!(result, encoding_rs::CoderResult::InputEmpty);
    }
}

fn push_le(units: &mut Vec<u16>, pairs: &[[u8; 2]]) {
    units.extend(pairs.iter().copied().map(u16::from_le_bytes));
}

fn push_be(units: &mut Vec<u16>, pairs: &[[u8; 2]]) {
    units.extend(pairs.iter().copied().map(u16::from_be_bytes));
}

enum State {
    /// The first bytes decide how it is decoded.
    Start,
    Open,
    Finished,
}

/// A reader of the text of another reader.
pub struct DecodeReaderBytes<R, B> {
    reader: R,
    options: DecodeReaderBytesBuilder,
    buffer: B,
    state: State,
    transcoder: Transcoder,
    /// Text, or bytes that are not decoded, which the caller has not read from `read` on.
    text: String,
    start: Vec<u8>,
    read: usize,
}

impl<R: Read> DecodeReaderBytes<R, Vec<u8>> {
    pub fn new(reader: R) -> Self {
        DecodeReaderBytesBuilder::new().build(reader)
    }
}

impl<R: Read, B: AsMut<[u8]>> DecodeReaderBytes<R, B> {
    fn with_buffer(options: &DecodeReaderBytesBuilder, reader: R, buffer: B) -> Self {
        Self {
            reader,
            options: options.clone(),
            buffer,
            state: State::Start,
            transcoder: Transcoder::Raw,
            text: String::new(),
            start: Vec::new(),
            read: 0,
        }
    }

    /// Reads the bytes that can be a BOM, and decodes what follows it.
    fn start(&mut self) -> io::Result<()> {
        while self.start.len() < 3 {
            let mut bytes = [0; 3];
            match self.reader.read(&mut bytes[self.start.len()..]) {
                Ok(0) => break,
                Ok(len) => self.start.extend_from_slice(&bytes[self.start.len()..][..len]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let (transcoder, skipped) = self.options.choose(&self.start);
        self.transcoder = transcoder;
        self.state = State::Open;
        self.start.drain(..skipped);
        if !matches!(self.transcoder, Transcoder::Raw) {
            self.transcoder.push(&self.start, &mut self.text);
            self.start.clear();
        }
        Ok(())
    }

    /// Decodes until there is text.
    fn fill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.read = 0;
        while self.text.is_empty() && matches!(self.state, State::Open) {
            match self.reader.read(self.buffer.as_mut())? {
                0 => {
                    self.transcoder.finish(&mut self.text);
                    self.state = State::Finished;
                }
                len => self.transcoder.push(&self.buffer.as_mut()[..len], &mut self.text),
            }
        }
        Ok(())
    }
}

impl<R: Read, B: AsMut<[u8]>> Read for DecodeReaderBytes<R, B> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if target.is_empty() {
            return Ok(0);
        }
        if matches!(self.state, State::Start) {
            self.start()?;
        }
        if matches!(self.transcoder, Transcoder::Raw) {
            let mut start = &self.start[..];
            return match start.read(target)? {
                0 => self.reader.read(target),
                len => {
                    self.start.drain(..len);
                    Ok(len)
                }
            };
        }
        if self.read == self.text.len() {
            self.fill()?;
        }
        let len = (&self.text.as_bytes()[self.read..]).read(target)?;
        self.read += len;
        Ok(len)
    }
}

impl<R: fmt::Debug, B> fmt::Debug for DecodeReaderBytes<R, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecodeReaderBytes")
            .field("reader", &self.reader)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
