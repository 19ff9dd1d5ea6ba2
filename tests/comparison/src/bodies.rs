//! HTTP bodies, and text in other encodings than UTF-8.

use std::convert::Infallible;
use std::io::Read;

use bytes::Bytes;
use encoding_rs::{EncoderResult, Encoding, SHIFT_JIS, UTF_8, WINDOWS_1252};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use futures::executor::block_on;
use futures::stream;
use http_body::Frame;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use utf8_codec::http::{BodyError, Utf8Body};
use utf8_codec::io::{CharsetReader, Utf8Reader};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

fn body(
    frames: &[&'static [u8]],
) -> impl http_body::Body<Data = Bytes, Error = Infallible> + use<> {
    let frames: Vec<_> =
        frames.iter().map(|data| Ok(Frame::data(Bytes::from_static(data)))).collect();
    StreamBody::new(stream::iter(frames))
}

#[test]
fn http_body_util_collects_bytes_without_a_limit() {
    let frame: &'static [u8] = vec![b'a'; 1 << 20].leak();
    let bytes = block_on(body(&[frame; 20]).collect()).unwrap().to_bytes();
    assert_eq!(bytes.len(), 20 << 20);
}

#[test]
fn http_body_util_limited_ends_a_long_body() {
    let error = block_on(Limited::new(body(&[b"12345", b"67890"]), 9).collect()).unwrap_err();
    assert!(error.is::<LengthLimitError>());
}

#[test]
fn ours_yields_the_text_of_a_body_as_it_arrives() {
    let mut body = Utf8Body::new(body(&[b"5 \xE2", b"\x82\xAC"]));
    let mut next = || block_on(body.text_frame()).unwrap().unwrap().into_data().unwrap();
    assert_eq!((&*next(), &*next()), ("5 ", "€"));
}

#[test]
fn ours_takes_the_limit_of_a_collected_body() {
    let error = block_on(Utf8Body::new(body(&[b"12345", b"67890"])).collect_text(9)).unwrap_err();
    assert_eq!((error.status().as_u16(), error.offset()), (413, None));
}

#[test]
fn ours_reports_the_offset_in_the_body() {
    let error = block_on(Utf8Body::new(body(&[b"12345", b"6\xFF"])).collect_text(99)).unwrap_err();
    assert_eq!((error.status().as_u16(), error.offset()), (400, Some(6)));
}

#[test]
fn ours_decodes_the_charset_of_the_content_type() {
    let body = Utf8Body::from_content_type("text/plain; charset=latin1", body(&[b"caf\xE9"]));
    assert_eq!(block_on(body.unwrap().collect_text(99)).unwrap(), "café");
}

#[test]
fn ours_rejects_an_unknown_charset() {
    let result =
        Utf8Body::from_content_type("text/plain; charset=klingon", Full::<Bytes>::from("a"));
    let error: BodyError = result.unwrap_err();
    assert_eq!(error.status().as_u16(), 415);
}

#[test]
fn encoding_rs_decodes_every_encoding_of_the_web() {
    let latin1 = Encoding::for_label(b"latin1").unwrap();
    assert_eq!((latin1, &*latin1.decode(b"caf\xE9").0), (WINDOWS_1252, "café"));
    assert_eq!(SHIFT_JIS.decode(b"\x93\xFA\x96{").0, "日本");
}

#[test]
fn encoding_rs_joins_split_characters_of_legacy_encodings() {
    let mut decoder = SHIFT_JIS.new_decoder();
    let mut text = String::with_capacity(100);
    for byte in *b"\x93\xFA\x96{" {
        let _ = decoder.decode_to_string(&[byte], &mut text, false);
    }
    assert_eq!(text, "日本");
}

#[test]
fn encoding_rs_encodes_legacy_encodings() {
    assert_eq!(*WINDOWS_1252.encode("café €").0, *b"caf\xE9 \x80");
    let mut bytes = [0; 10];
    let (result, ..) =
        WINDOWS_1252.new_encoder().encode_from_utf8_without_replacement("日", &mut bytes, true);
    assert_eq!(result, EncoderResult::Unmappable('日'));
}

#[test]
fn encoding_rs_io_is_a_blocking_reader() {
    let mut text = String::new();
    let mut builder = DecodeReaderBytesBuilder::new();
    let mut reader = builder.encoding(Some(SHIFT_JIS)).build(&b"\x93\xFA\x96{"[..]);
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "日本");
}

#[test]
fn encoding_rs_io_replaces_and_does_not_report() {
    let mut text = String::new();
    let mut builder = DecodeReaderBytesBuilder::new();
    builder.encoding(Some(UTF_8)).build(&b"a\xFFb"[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, "a\u{FFFD}b");
}

#[test]
fn encoding_rs_io_decodes_utf_16_if_there_is_a_bom() {
    let mut text = String::new();
    DecodeReaderBytes::new(&b"\xFF\xFEa\0"[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, "a");
}

#[test]
fn encoding_rs_io_returns_ill_formed_bytes_unchanged_by_default() {
    let mut bytes = Vec::new();
    DecodeReaderBytes::new(&b"a\xFFb"[..]).read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"a\xFFb");
}

/// In both, a BOM determines the charset. In ours, a file without one can be in any charset.
#[test]
fn ours_reads_a_file_as_encoding_rs_io_does() {
    let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
    for (label, bytes) in [
        ("utf-8", &b"\xFF\xFEf\0o\0o\0b\0a\0r\0"[..]),
        ("utf-8", b"\xFE\xFF\x04\x16"),
        ("utf-8", b"\xEF\xBB\xBFfoo\xFFbar"),
        ("utf-8", b"a\xE2\x82"),
        ("utf-16le", b"\x16\x04\x00\xD8a\0"),
        ("utf-16be", b"\x04\x16\xD8"),
        ("gbk", b"\xA7\xA8"),
        ("shift_jis", b"\x84\x47\x81\xFF"),
        ("latin1", b"\xA9\x80"),
    ] {
        let encoding = Encoding::for_label(label.as_bytes());
        let mut builder = DecodeReaderBytesBuilder::new();
        let mut expected = String::new();
        let mut theirs = builder.encoding(encoding).bom_override(true).build(bytes);
        theirs.read_to_string(&mut expected).unwrap();

        let ours = CharsetReader::new(bytes).with_charset(label).unwrap();
        let ours = Utf8Reader::new(ours.with_error_mode(ErrorMode::Replacement));
        let mut ours = ours.with_options(strip).with_error_mode(ErrorMode::Replacement);
        assert_eq!(ours.collect_text(100).unwrap(), expected, "{label} {bytes:02x?}");
    }
}
