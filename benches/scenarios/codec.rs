//! `Utf8Codec`, and others of its shape.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio_util::codec::{BytesCodec, Decoder};
use utf8_codec::codec::Utf8Codec;

use super::framed::{LEN, READ, framed};
use super::support::{Bench, Corpus, Row, Work};

pub(crate) type CodecPeers = for<'a> fn(&mut Row<'a>, &'a [u8]);

/// Text as it comes, without copying.
pub(crate) fn codec(bench: &mut Bench, peers: CodecPeers) {
    for corpus in Corpus::SCRIPTS {
        let Some(name) = bench.name("codec", corpus.name(), READ.to_string()) else { continue };
        let text = corpus.text(LEN, 0);
        let input = text.as_bytes();

        let mut row = Row::new(name, Work::new(LEN, LEN.div_ceil(READ), "read"));
        row.expect(LEN);
        row.ours(framed(input, Utf8Codec::new, |text| text.len()));
        row.peer("std", framed(input, || WholeCharacters(up_to_tail_std), |text| text.len()));
        peers(&mut row, input);
        row.floor("(BytesCodec)", framed(input, BytesCodec::new, |bytes| bytes.len()));
        bench.measure(row);
    }
}

/// The codec that one writes who has a validator: what it accepts becomes an item without copying,
/// an unfinished character stays in the buffer. (That the item is text, its type does not say.)
pub(crate) struct WholeCharacters(pub(crate) fn(&[u8]) -> Option<usize>);

impl Decoder for WholeCharacters {
    type Item = Bytes;
    type Error = io::Error;

    fn decode(&mut self, source: &mut BytesMut) -> io::Result<Option<Bytes>> {
        if source.is_empty() {
            return Ok(None);
        }
        match (self.0)(source) {
            Some(0) => Ok(None),
            Some(len) => Ok(Some(source.split_to(len).freeze())),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// How much of the bytes is text, if only the end is missing from the others.
fn up_to_tail_std(bytes: &[u8]) -> Option<usize> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.len()),
        Err(error) if error.error_len().is_none() => Some(error.valid_up_to()),
        Err(_) => None,
    }
}
