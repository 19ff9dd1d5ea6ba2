//! encoding_rs, with the right encoding from the start.

use std::convert::Infallible;
use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use encoding_rs::{Decoder, UTF_8, WINDOWS_1252};
use futures::executor::block_on;
use futures::{StreamExt, stream};

use crate::fallback::Input;
use crate::framed::{READ, framed};
use crate::support::Row;

fn decoder(input: &Input) -> Decoder {
    let encoding = if input.is_legacy { WINDOWS_1252 } else { UTF_8 };
    encoding.new_decoder_without_bom_handling()
}

/// Appends the text of a chunk. The decoder holds an incomplete character.
fn append(decoder: &mut Decoder, chunk: &[u8], is_last: bool, text: &mut String) {
    let room = decoder.max_utf8_buffer_length(chunk.len()).expect("a chunk is not that long");
    text.reserve(room);
    let _ = decoder.decode_to_string(chunk, text, is_last);
}

pub(crate) fn decode<'a>(row: &mut Row<'a>, input: &'a Input) {
    row.peer("encoding_rs", || {
        let mut decoder = decoder(input);
        let mut text = String::with_capacity(2 * input.bytes.len());
        for chunk in black_box(&input.bytes).chunks(READ) {
            append(&mut decoder, chunk, false, &mut text);
        }
        append(&mut decoder, b"", true, &mut text);
        text.len() as u64
    });
}

/// The usual codec around encoding_rs: a `String` for each read.
struct Codec(Decoder);

impl tokio_util::codec::Decoder for Codec {
    type Item = String;
    type Error = std::io::Error;

    fn decode(&mut self, source: &mut BytesMut) -> std::io::Result<Option<String>> {
        let mut text = String::new();
        append(&mut self.0, &source.split(), false, &mut text);
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn decode_eof(&mut self, source: &mut BytesMut) -> std::io::Result<Option<String>> {
        let mut text = String::new();
        append(&mut self.0, &source.split(), false, &mut text);
        Ok(Some(text).filter(|text| !text.is_empty()))
    }
}

pub(crate) fn codec<'a>(row: &mut Row<'a>, input: &'a Input) {
    row.peer("encoding_rs", framed(&input.bytes, || Codec(decoder(input)), |text| text.len()));
}

pub(crate) fn streams<'a>(row: &mut Row<'a>, input: &'a Input) {
    let chunks: Vec<Result<_, Infallible>> =
        input.bytes.chunks(READ).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
    row.peer("encoding_rs", move || {
        let mut decoder = decoder(input);
        let texts = stream::iter(black_box(&chunks).clone()).map(|chunk| {
            let mut text = String::new();
            append(&mut decoder, &chunk.expect("nothing fails"), false, &mut text);
            text.len() as u64
        });
        block_on(texts.fold(0, async |sum, len| sum + len))
    });
}
