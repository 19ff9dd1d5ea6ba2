//! The codecs as encoders: they write the text, and decode it again.

use std::fmt::{Debug, Display};

use arbitrary::Arbitrary;
use bytes::BytesMut;
use tokio_util::codec::{Decoder, Encoder};
use utf8_codec::codec::{CharCodec, CodecError, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};
use utf8_codec::{BomPolicy, Utf8Encoder, Utf8Options};

use super::input::{self, Many, Text};
use super::lines::delimiter_of;
use crate::support::delimiter;
use crate::support::reference::Delimiter;

#[derive(Arbitrary, Clone, Debug)]
pub struct EncodersPlan {
    with_bom: bool,
    codec: Codec,
}

#[derive(Arbitrary, Clone, Debug)]
enum Codec {
    /// `None` starts another stream.
    Text(Many<Option<Text<60>>>),
    Chars(Many<Option<Letters>>),
    Lines(u8, Many<Option<Text<40>>>),
    Chunks(Many<input::Bytes<60>>),
}

#[derive(Arbitrary, Clone, Debug)]
enum Letters {
    One(char),
    Some(Text<60>),
}

pub fn encoders(plan: &EncodersPlan) {
    match &plan.codec {
        Codec::Text(items) => texts(plan.with_bom, items),
        Codec::Chars(items) => chars(plan.with_bom, items),
        Codec::Lines(delimiter, items) => lines(plan.with_bom, &delimiter_of(*delimiter), items),
        Codec::Chunks(pieces) => chunks(pieces),
    }
}

fn encoder(with_bom: bool) -> Utf8Encoder {
    if with_bom { Utf8Encoder::new().with_bom() } else { Utf8Encoder::new() }
}

fn options(with_bom: bool) -> Utf8Options {
    Utf8Options::new().with_bom(if with_bom { BomPolicy::Require } else { BomPolicy::Keep })
}

/// What must have been written, stream by stream: a BOM comes with the first item.
struct Written {
    with_bom: bool,
    text: String,
    buffer: BytesMut,
}

impl Written {
    fn new(with_bom: bool) -> Self {
        Self { with_bom, text: String::new(), buffer: BytesMut::new() }
    }

    fn expect(&mut self, item: &str) {
        if self.with_bom && self.text.is_empty() {
            self.text.push('\u{FEFF}');
        }
        self.text.push_str(item);
        assert!(self.buffer == self.text.as_bytes(), "{:?} after {item:?}", self.text);
    }

    /// The bytes written for one stream, and its text.
    fn take(&mut self) -> (BytesMut, String) {
        let text = std::mem::take(&mut self.text);
        let content = text.strip_prefix('\u{FEFF}').filter(|_| self.with_bom);
        let content = content.unwrap_or(&text).to_owned();
        (std::mem::take(&mut self.buffer), content)
    }
}

/// The codec that encoded a stream decodes its text.
fn read_back<C>(codec: &mut C, (mut bytes, content): (BytesMut, String))
where
    C: Decoder<Item: Display, Error: Debug>,
{
    if bytes.is_empty() {
        return;
    }
    let mut read = String::new();
    while let Some(item) = codec.decode_eof(&mut bytes).expect("it is text") {
        read += &item.to_string();
    }
    assert_eq!(read, content);
}

fn texts(with_bom: bool, items: &[Option<Text<60>>]) {
    let codec = Utf8Codec::new().with_options(options(with_bom));
    let mut codec = codec.with_encoder(encoder(with_bom));
    let mut written = Written::new(with_bom);
    for item in items.iter().chain([&None]) {
        match item {
            Some(text) => {
                codec.encode(&text.0, &mut written.buffer).expect("it is text");
                written.expect(&text.0);
            }
            None => {
                read_back(&mut codec, written.take());
                codec.reset();
            }
        }
    }
}

fn chars(with_bom: bool, items: &[Option<Letters>]) {
    let codec = CharCodec::new().with_options(options(with_bom));
    let mut codec = codec.with_encoder(encoder(with_bom));
    let mut written = Written::new(with_bom);
    for item in items.iter().chain([&None]) {
        match item {
            Some(Letters::One(c)) => {
                codec.encode(*c, &mut written.buffer).expect("it is text");
                written.expect(&c.to_string());
            }
            Some(Letters::Some(text)) => {
                let chars: Vec<_> = text.0.chars().collect();
                codec.encode(&chars[..], &mut written.buffer).expect("it is text");
                written.expect(&text.0);
            }
            None => {
                read_back(&mut codec, written.take());
                codec.reset();
            }
        }
    }
}

/// Whether `line` decodes to one line, as far as the delimiter is concerned.
fn is_line(line: &str, delimiter: &Delimiter) -> bool {
    match delimiter {
        Delimiter::Lf => !line.contains('\n') && !line.ends_with('\r'),
        Delimiter::Any | Delimiter::Crlf | Delimiter::CrlfOrLf => !line.contains(['\n', '\r']),
        Delimiter::Nul => !line.contains('\0'),
        Delimiter::OneOf(chars) => !line.contains(|c| chars.contains(c)),
        Delimiter::Str(text) => format!("{line}{text}").find(&**text) == Some(line.len()),
    }
}

fn lines(with_bom: bool, of_model: &Delimiter, items: &[Option<Text<40>>]) {
    let mut codec = Utf8LinesCodec::new()
        .with_options(options(with_bom))
        .with_delimiter(delimiter(of_model))
        .with_encoder(encoder(with_bom));
    let end = delimiter(of_model).as_str().to_owned();
    let mut written = Written::new(with_bom);
    let mut sent = Vec::new();
    for item in items.iter().chain([&None]) {
        match item {
            Some(text) => match codec.encode(&text.0, &mut written.buffer) {
                Ok(()) => {
                    assert!(is_line(&text.0, of_model), "{text:?}, {of_model:?}");
                    written.expect(&format!("{}{end}", text.0));
                    sent.push(text.0.clone());
                }
                Err(CodecError::EmbeddedDelimiter { offset: at }) => {
                    assert!(!is_line(&text.0, of_model), "{text:?}, {of_model:?}");
                    assert!(text.0.is_char_boundary(at) && at < text.0.len(), "{text:?} at {at}");
                    assert!(written.buffer == written.text.as_bytes(), "nothing is written");
                }
                Err(error) => panic!("{error}"),
            },
            None => {
                let (mut bytes, _) = written.take();
                let mut read = Vec::new();
                if !bytes.is_empty() {
                    while let Some(line) = codec.decode_eof(&mut bytes).expect("it was written") {
                        read.push(line.expect("it is text").text.to_string());
                    }
                }
                assert_eq!(read, sent, "{of_model:?}");
                sent.clear();
                codec.reset();
            }
        }
    }
}

/// Chunks, including ill-formed parts, are encoded to the bytes they were decoded from.
fn chunks(pieces: &[input::Bytes<60>]) {
    let (mut reader, mut writer) = (Utf8ChunksCodec::new(), Utf8ChunksCodec::new());
    let (mut bytes, mut written, mut buffer) = (Vec::new(), BytesMut::new(), BytesMut::new());
    let mut pass_on = |chunk: Result<utf8_codec::ByteString, utf8_codec::Utf8Error>,
                       written: &mut BytesMut| {
        writer.encode(chunk, written).expect("it is a chunk");
    };
    for piece in pieces {
        bytes.extend_from_slice(&piece.0);
        buffer.extend_from_slice(&piece.0);
        while let Some(chunk) = reader.decode(&mut buffer).expect("errors are items") {
            pass_on(chunk, &mut written);
        }
        assert!(bytes[..bytes.len() - buffer.len()] == written, "{bytes:02x?}");
    }
    while let Some(chunk) = reader.decode_eof(&mut buffer).expect("errors are items") {
        pass_on(chunk, &mut written);
    }
    assert!(bytes == written, "{bytes:02x?}");
}
