//! Readers, blocking and async.

use std::io::{BufReader, ErrorKind, Read};

use futures::FutureExt;
use futures::executor::block_on;
use tokio::io::AsyncReadExt;
use utf8_codec::io;
use utf8_codec::stream::{StreamError, Utf8Reader};
use utf8_zero::{BufReadDecoder, BufReadDecoderError};

use crate::support::Script;

#[test]
fn std_read_to_string_returns_all_or_nothing() {
    let mut text = String::from("kept, ");
    let error = Read::read_to_string(&mut &b"lost\xFF"[..], &mut text).unwrap_err();
    assert_eq!((error.kind(), &*text), (ErrorKind::InvalidData, "kept, "));
    assert_eq!(error.to_string(), "stream did not contain valid UTF-8");
}

#[test]
fn tokio_read_to_string_returns_all_or_nothing() {
    let mut text = String::from("kept, ");
    let mut reader = &b"lost\xFF"[..];
    let error = block_on(AsyncReadExt::read_to_string(&mut reader, &mut text)).unwrap_err();
    assert_eq!((error.kind(), &*text), (ErrorKind::InvalidData, "kept, "));
    // The index in the string: six bytes were there before.
    assert_eq!(error.to_string(), "invalid utf-8 sequence of 1 bytes from index 10");
}

#[test]
fn tokio_read_to_string_loses_what_it_read_when_cancelled() {
    let (mut text, mut reader) = (String::new(), Script::open(&[b"lost"]));
    assert!(AsyncReadExt::read_to_string(&mut reader, &mut text).now_or_never().is_none());
    let mut reader = Script::new(&[b"kept"]);
    block_on(AsyncReadExt::read_to_string(&mut reader, &mut text)).unwrap();
    assert_eq!(text, "kept");
}

#[test]
fn ours_borrows_text_from_an_async_reader_as_it_arrives() {
    let mut reader = Utf8Reader::new(Script::new(&[&b"5 \xE2"[..], b"\x82\xAC", b"x\xFF", b"y"]));
    let mut next = || match block_on(reader.next_str()) {
        Ok(text) => text.map(str::to_owned),
        Err(StreamError::Utf8(error)) => Some(format!("error at {}", error.valid_up_to())),
        Err(error) => panic!("{error}"),
    };
    let items: Vec<_> = std::iter::from_fn(&mut next).collect();
    assert_eq!(items, ["5 ", "€", "x", "error at 6", "y"]);
}

#[test]
fn ours_loses_nothing_when_cancelled() {
    let mut reader = Utf8Reader::new(Script::open(&[b"\xE2\x82"]));
    assert!(reader.next_str().now_or_never().is_none());
    *reader.get_mut() = Script::new(&[b"\xAC"]);
    assert_eq!(block_on(reader.next_str()).unwrap(), Some("€"));
}

#[test]
fn ours_borrows_text_from_a_blocking_reader() {
    let chunks = [&b"5 \xE2"[..], b"\x82\xAC", b"x\xFF", b"y"];
    let mut reader = io::Utf8Reader::new(Script::new(&chunks));
    let mut next = || match reader.next_str() {
        Ok(text) => text.map(str::to_owned),
        Err(StreamError::Utf8(error)) => Some(format!("error at {}", error.valid_up_to())),
        Err(error) => panic!("{error}"),
    };
    let items: Vec<_> = std::iter::from_fn(&mut next).collect();
    assert_eq!(items, ["5 ", "€", "x", "error at 6", "y"]);
}

#[test]
fn utf8_zero_borrows_text_from_a_blocking_reader() {
    let mut decoder =
        BufReadDecoder::new(BufReader::new(Script::new(&[&b"5 \xE2"[..], b"\x82\xAC\xFF"])));
    let mut items = Vec::new();
    while let Some(item) = decoder.next_strict() {
        items.push(match item {
            Ok(text) => text.to_owned(),
            Err(BufReadDecoderError::InvalidByteSequence(bytes)) => format!("error {bytes:02x?}"),
            Err(BufReadDecoderError::Io(error)) => panic!("{error}"),
        });
    }
    assert_eq!(items, ["5 ", "€", "error [ff]"]);
}
