//! The dialects with tokio-util: items, the bytes that stay in the buffer, and the state after errors.

use std::fmt::Debug;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncWriteExt, duplex};
use tokio::time::timeout;
use tokio_util::codec::{Decoder, Encoder, Framed, FramedRead};
use utf8_codec::ByteString;
use utf8_codec::codec::CodecError;
use utf8_codec::codec::{DialectCodec, JavaUtfCodec};
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectError, DialectPiece};
use utf8_codec::{BomPolicy, ErrorMode, Utf8ErrorKind};

use crate::support::chunks;

/// A time limit against hanging.
const LONG: Duration = Duration::from_secs(30);

const MODES: [ErrorMode; 4] =
    [ErrorMode::Fatal, ErrorMode::Replacement, ErrorMode::Skip, ErrorMode::Escape];

// ---- DialectCodec -------------------------------------------------------------------------------

/// The output, in order.
type Atom = Result<u32, DialectError>;

type Item = DialectPiece<ByteString>;

/// Calls a codec as `FramedRead` would if it continued after errors.
fn through_codec(codec: &mut DialectCodec, bytes: &[u8], cuts: &[usize]) -> Vec<Atom> {
    let mut buffer = BytesMut::new();
    let mut atoms = Vec::new();
    let mut put = |item: Result<Item, CodecError<DialectError>>| match item {
        Ok(DialectPiece::Text(text)) => {
            assert!(!text.is_empty(), "items are never empty");
            atoms.extend(text.chars().map(|c| Ok(c.into())));
        }
        Ok(DialectPiece::CodePoint(code_point)) => {
            assert_eq!(char::from_u32(code_point), None);
            atoms.push(Ok(code_point));
        }
        Err(CodecError::Invalid(error)) => atoms.push(Err(error)),
        Err(error) => panic!("{error}"),
    };
    for (from, to) in chunks(bytes.len(), cuts) {
        buffer.extend_from_slice(&bytes[from..to]);
        while let Some(item) = codec.decode(&mut buffer).transpose() {
            put(item);
        }
        assert!(buffer.len() <= 5, "{buffer:?} is left");
        assert_eq!(codec.decoder().position() + buffer.len() as u64, to as u64);
    }
    while let Some(item) = codec.decode_eof(&mut buffer).transpose() {
        put(item);
    }
    assert!(buffer.is_empty());
    assert!(matches!(codec.decode_eof(&mut buffer), Ok(None)));
    atoms
}

#[test]
fn plain_text_is_not_copied() {
    let mut buffer = BytesMut::from(&b"plain text \xED\xA0"[..]);
    let start = buffer.as_ptr();
    let mut codec = DialectCodec::new(Dialect::Cesu8);
    let Some(DialectPiece::Text(text)) = codec.decode(&mut buffer).unwrap() else { panic!() };
    assert_eq!((&*text, text.as_ptr()), ("plain text ", start));
    assert_eq!(buffer, b"\xED\xA0"[..]);
}

#[test]
fn long_plain_text_is_not_copied_whatever_follows() {
    let long = "a".repeat(5000);
    let mut buffer = BytesMut::from(&[long.as_bytes(), b"\xFFmore"].concat()[..]);
    let start = buffer.as_ptr();
    let mut codec = DialectCodec::new(Dialect::Cesu8).with_error_mode(ErrorMode::Replacement);
    let Some(DialectPiece::Text(text)) = codec.decode(&mut buffer).unwrap() else { panic!() };
    assert_eq!((&*text, text.as_ptr()), (&*long, start));
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().as_str(), Some("\u{FFFD}more"));
}

#[test]
fn an_error_follows_the_text_before_it_and_decoding_continues() {
    let mut codec = DialectCodec::new(Dialect::ModifiedUtf8);
    let mut buffer = BytesMut::from(&b"be\xC0\x80fore\0after"[..]);
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().as_str(), Some("be\0fore"));
    let error = codec.decode(&mut buffer).unwrap_err();
    let error = match error {
        CodecError::Invalid(error) => error,
        error => panic!("{error}"),
    };
    assert_eq!((error.kind(), error.offset()), (Utf8ErrorKind::Nul, 8));
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().as_str(), Some("after"));
    assert_eq!(codec.decoder().error_count(), 1);
    assert_eq!(codec.decoder().first_error(), Some(error));
}

#[test]
fn code_points_come_between_the_text_around_them() {
    let (bytes, end) = (b"\xED\xA0\x80ab\xED\xBF\xBFc\xED\xA0\xBD", b"\xED\xA0\xBD");
    let of = |text: &str| text.chars().map(|c| Ok(c.into())).collect::<Vec<Atom>>();
    let expected =
        [vec![Ok(0xD800)], of("ab"), vec![Ok(0xDFFF)], of("c"), vec![Ok(0xD83D)]].concat();
    for cut in 0..=bytes.len() {
        let atoms = through_codec(&mut DialectCodec::new(Dialect::Wtf8), bytes, &[cut]);
        assert_eq!(atoms, expected, "at {cut}");
    }
    let mut codec = DialectCodec::new(Dialect::Cesu8);
    let mut buffer = BytesMut::from(&end[..]);
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    assert!(matches!(codec.decode_eof(&mut buffer), Err(CodecError::Invalid(_))));
    let mut buffer = BytesMut::from(&[&b"text"[..], end].concat()[..]);
    assert_eq!(codec.decode_eof(&mut buffer).unwrap().unwrap().as_str(), Some("text"));
    assert!(matches!(codec.decode_eof(&mut buffer), Err(CodecError::Invalid(_))));
}

#[test]
fn wtf8_rejects_a_low_surrogate_after_a_high_one() {
    let half = |value| Item::CodePoint(value);
    let mut codec = DialectCodec::new(Dialect::Wtf8);
    let mut buffer = BytesMut::new();
    codec.encode(half(0xD83D), &mut buffer).unwrap();
    codec.encode("", &mut buffer).unwrap();
    let error = codec.encode(half(0xDE00), &mut buffer).unwrap_err();
    let CodecError::Invalid(error) = error else { panic!("{error}") };
    assert_eq!((error.offset(), error.kind()), (1, Utf8ErrorKind::SurrogatePair));
    assert_eq!(error.code_point(), Some(0xDE00));
    codec.encode("text", &mut buffer).unwrap();
    codec.encode(half(0xDE00), &mut buffer).unwrap();
    codec.encode(half(0xD83D), &mut buffer).unwrap();
    assert_eq!(buffer, b"\xED\xA0\xBDtext\xED\xB8\x80\xED\xA0\xBD"[..]);
}

#[test]
fn a_codec_can_decode_one_dialect_and_encode_another() {
    let encoder = DialectEncoder::new(Dialect::ModifiedUtf8).with_bom();
    let mut codec = DialectCodec::new(Dialect::Cesu8).with_encoder(encoder);
    let mut buffer = BytesMut::from(&b"\0\xED\xA0\xBD\xED\xB8\x80"[..]);
    let item = codec.decode(&mut buffer).unwrap().unwrap();
    let mut out = BytesMut::new();
    codec.encode(item, &mut out).unwrap();
    assert_eq!(out, b"\xEF\xBB\xBF\xC0\x80\xED\xA0\xBD\xED\xB8\x80"[..]);
}

#[test]
fn a_split_bom_is_stripped() {
    let decoder = DialectDecoder::new(Dialect::Utf8b).with_bom(BomPolicy::Require);
    let mut codec = DialectCodec::new(Dialect::Utf8b).with_decoder(decoder);
    let atoms = through_codec(&mut codec, b"\xEF\xBB\xBFa", &[1, 2]);
    assert_eq!(atoms, [Ok('a'.into())]);
    assert!(codec.decoder().bom_seen());
    codec.reset();
    let mut atoms = through_codec(&mut codec, b"", &[]).into_iter();
    assert_eq!(atoms.next().unwrap().unwrap_err().kind(), Utf8ErrorKind::MissingBom);
}

#[tokio::test]
async fn framed_decodes_and_encodes_a_dialect() {
    let (left, right) = duplex(3);
    let mut left = Framed::new(left, DialectCodec::new(Dialect::Cesu8));
    let mut right = Framed::new(right, DialectCodec::new(Dialect::Cesu8));
    let text = "smile: 😀 ".repeat(20);
    let sending = async {
        left.send(&*text).await.unwrap();
        SinkExt::<&str>::close(&mut left).await.unwrap();
    };
    let receiving = async {
        let mut seen = String::new();
        while let Some(item) = right.next().await {
            seen.push_str(item.unwrap().as_str().unwrap());
        }
        seen
    };
    let ((), seen) = timeout(LONG, futures::future::join(sending, receiving)).await.unwrap();
    assert_eq!(seen, text);
}

#[tokio::test]
async fn incomplete_bytes_stay_in_the_read_buffer() {
    let (mut peer, socket) = duplex(64);
    let mut items = FramedRead::new(socket, DialectCodec::new(Dialect::Cesu8));
    peer.write_all(b"abc\xED\xA0\xBD\xED\xB8").await.unwrap();
    let item = timeout(LONG, items.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(item.as_str(), Some("abc"));
    assert_eq!(items.read_buffer(), &b"\xED\xA0\xBD\xED\xB8"[..]);
    peer.write_all(b"\x80").await.unwrap();
    let item = timeout(LONG, items.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(item.as_str(), Some("😀"));
}

// ---- JavaUtfCodec -------------------------------------------------------------------------------

/// The items after each chunk and at the end.
fn strings(
    mut codec: JavaUtfCodec,
    bytes: &[u8],
    cuts: &[usize],
) -> (Vec<Result<String, DialectError>>, Option<io::ErrorKind>) {
    let mut buffer = BytesMut::new();
    let mut items = Vec::new();
    for (from, to) in chunks(bytes.len(), cuts) {
        buffer.extend_from_slice(&bytes[from..to]);
        while let Some(item) = codec.decode(&mut buffer).unwrap() {
            items.push(item.map(String::from));
        }
    }
    let ended = loop {
        match codec.decode_eof(&mut buffer) {
            Ok(Some(item)) => items.push(item.map(String::from)),
            Ok(None) => break None,
            Err(error) => break Some(error.kind()),
        }
    };
    assert!(buffer.is_empty());
    assert!(matches!(codec.decode_eof(&mut buffer), Ok(None)), "a second end");
    (items, ended)
}

fn java(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

#[test]
fn an_error_in_a_string_is_reported_at_its_deciding_byte() {
    let mut codec = JavaUtfCodec::new();
    let mut buffer = BytesMut::from(&b"\x00\x0Agood\xED"[..]);
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    buffer.extend_from_slice(b"\xB0");
    let error = codec.decode(&mut buffer).unwrap().unwrap().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (Utf8ErrorKind::UnpairedSurrogate, 6));
    // Four of its bytes have not arrived, nor the string after them.
    buffer.extend_from_slice(b"123");
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    assert!(buffer.is_empty(), "skipped bytes are not stored");
    buffer.extend_from_slice(b"4\x00\x04next");
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "next");
}

#[test]
fn the_rest_of_a_rejected_string_is_skipped() {
    let bytes = [java(b"one"), java(b"\xFFtwo\0\xED\xB0\x80"), java(b""), java(b"three")].concat();
    for cut in 0..=bytes.len() {
        let (items, ended) = strings(JavaUtfCodec::new(), &bytes, &[cut]);
        let kinds: Vec<_> = items.iter().map(|item| item.as_ref().map_err(|e| e.kind())).collect();
        let texts = ["one", "", "three"].map(String::from);
        let expected =
            [Ok(&texts[0]), Err(Utf8ErrorKind::InvalidByte), Ok(&texts[1]), Ok(&texts[2])];
        assert_eq!((kinds, ended), (expected.to_vec(), None));
    }
}

#[test]
fn surrogates_do_not_pair_across_strings() {
    let bytes = [java(b"\xED\xA0\xBD"), java(b"\xED\xB8\x80")].concat();
    let (items, _) = strings(JavaUtfCodec::new(), &bytes, &[]);
    let kinds: Vec<_> = items.iter().map(|item| item.as_ref().unwrap_err().kind()).collect();
    assert_eq!(kinds, [Utf8ErrorKind::Incomplete, Utf8ErrorKind::UnpairedSurrogate]);
    let lossy = JavaUtfCodec::new().with_error_mode(ErrorMode::Replacement);
    let (items, _) = strings(lossy, &bytes, &[]);
    assert_eq!(items, [Ok("\u{FFFD}".into()), Ok("\u{FFFD}".into())]);
}

#[test]
fn an_end_inside_a_string_is_reported_once() {
    let eof = Some(io::ErrorKind::UnexpectedEof);
    for bytes in [&b"\x00"[..], b"\x00\x05abc", b"\x00\x05\xFF", b"\x00\x01a\x00\x02b"] {
        assert_eq!(strings(JavaUtfCodec::new(), bytes, &[]).1, eof, "{bytes:02x?}");
    }
}

#[test]
fn strings_longer_than_65535_bytes_are_rejected() {
    let mut buffer = BytesMut::new();
    let text = "a".repeat(65_535);
    JavaUtfCodec::new().encode(&text, &mut buffer).unwrap();
    assert_eq!(buffer.len(), 65_537);
    let (items, _) = strings(JavaUtfCodec::new(), &buffer, &[1, 2, 3, 40_000]);
    assert_eq!(items, [Ok(text.clone())]);
    let before = buffer.clone();
    let error = JavaUtfCodec::new().encode(text + "a", &mut buffer).unwrap_err();
    assert!(matches!(error, CodecError::TooLong { length: 65_536, max_length: 65_535 }));
    assert_eq!(buffer, before);
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn a_plain_string_is_not_copied() {
    let mut buffer = BytesMut::from(&b"\x00\x05plain"[..]);
    let start = buffer[2..].as_ptr();
    let text = JavaUtfCodec::new().decode(&mut buffer).unwrap().unwrap().unwrap();
    assert_eq!((&*text, text.as_ptr()), ("plain", start));
    let bytes: Bytes = text.into_bytes();
    assert_eq!(bytes, b"plain"[..]);
}

#[test]
fn a_replaced_buffer_is_decoded_from_its_start() {
    let mut codec = JavaUtfCodec::new();
    let mut buffer = BytesMut::from(&b"\x00\x05abc"[..]);
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    let mut other = BytesMut::from(&b"a"[..]);
    assert!(codec.decode(&mut other).unwrap().is_none());
    other.extend_from_slice(b"b\xC0\x80c");
    assert_eq!(codec.decode(&mut other).unwrap().unwrap().unwrap(), "ab\0c");
}

#[test]
fn reset_expects_a_length() {
    let mut codec = JavaUtfCodec::new();
    for given_up in [&b"\x00\x05ab"[..], b"\x00\x05\xFF", b"\x00\x05\xED\xA0"] {
        let _ = codec.decode(&mut BytesMut::from(given_up)).unwrap();
        codec.reset();
        let next = codec.decode(&mut BytesMut::from(&b"\x00\x02cd"[..])).unwrap();
        assert_eq!(next.unwrap().unwrap(), "cd", "after {given_up:02x?}");
        assert_eq!(codec.decoder().position(), 4, "after {given_up:02x?}");
        codec.reset();
    }
}

#[test]
fn a_truncated_string_is_counted_up_to_the_end() {
    for mode in MODES {
        for bytes in [&b"\x00"[..], b"\x00\x05", b"\x00\x05ab", b"\x00\x05a\xED", b"\x00\x05\xFFab"]
        {
            let mut codec = JavaUtfCodec::new().with_error_mode(mode);
            let mut buffer = BytesMut::new();
            for byte in bytes {
                buffer.extend_from_slice(&[*byte]);
                let _ = codec.decode(&mut buffer).unwrap();
            }
            assert!(codec.decode_eof(&mut buffer).is_err());
            assert_eq!(codec.decoder().position(), bytes.len() as u64, "{mode:?} {bytes:02x?}");
        }
    }
}

#[test]
fn strings_have_no_bom() {
    let bytes = [java("\u{FEFF}one".as_bytes()), java("\u{FEFF}".as_bytes())].concat();
    for mode in MODES {
        let (items, ended) = strings(JavaUtfCodec::new().with_error_mode(mode), &bytes, &[4]);
        assert_eq!(items, [Ok("\u{FEFF}one".into()), Ok("\u{FEFF}".into())], "{mode:?}");
        assert_eq!(ended, None);
    }
}

#[test]
fn a_string_reserves_its_own_length_only() {
    let mut buffer = BytesMut::from(&b"\xFF\x00"[..]);
    buffer.extend_from_slice(&[b'a'; 0x8000]);
    assert!(JavaUtfCodec::new().decode(&mut buffer).unwrap().is_none());
    assert!((0xFF00..=0x1_1000).contains(&buffer.capacity()), "{}", buffer.capacity());
}

// ---- traits -------------------------------------------------------------------------------------

#[test]
fn types_are_send_sync_unpin_and_debug() {
    fn is_plain<T: Send + Sync + Unpin + Debug>() {}
    is_plain::<DialectCodec>();
    is_plain::<CodecError<DialectError>>();
    is_plain::<Item>();
    is_plain::<JavaUtfCodec>();
}

#[test]
fn errors_convert_to_io_error() {
    let mut codec = DialectCodec::new(Dialect::Cesu8);
    let error: io::Error = codec.decode(&mut BytesMut::from(&b"\xFF"[..])).unwrap_err().into();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    let surrogate = Item::CodePoint(0xD800);
    let error: io::Error = codec.encode(surrogate, &mut BytesMut::new()).unwrap_err().into();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    let error: io::Error = CodecError::<DialectError>::from(io::Error::other("reader")).into();
    assert_eq!(error.kind(), io::ErrorKind::Other);
}
