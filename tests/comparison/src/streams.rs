//! Valid text that arrives in chunks: is it accepted, and where is an error? And readers, blocking and async.

use std::io::{BufReader, ErrorKind, Read};
use std::str;

use encoding_rs::{CoderResult, DecoderResult, UTF_8, UTF_16LE};
use futures::executor::block_on;
use futures::{FutureExt, StreamExt};
use tokio::io::AsyncReadExt;
use tokio_util::codec::FramedRead;
use utf8_codec::codec::Utf8Codec;
use utf8_codec::io;
use utf8_codec::stream::{StreamError, Utf8Reader, Utf8Stream};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Validator};
use utf8_zero::{BufReadDecoder, BufReadDecoderError, DecodeError};

use crate::{Script, byte_strings};

// ---- validating and decoding a stream ----------------------------------------------------------

#[test]
fn std_rejects_valid_text_cut_inside_a_character() {
    let [first, second] = [&b"10 \xE2\x82"[..], b"\xAC"];
    assert!(str::from_utf8(&[first, second].concat()).is_ok());
    assert!(str::from_utf8(first).is_err() && str::from_utf8(second).is_err());
}

/// The offset and the length of the first error, if there is one.
type Place = Option<(u64, Option<usize>)>;

fn validate(chunks: &[&[u8]]) -> Place {
    let mut validator = Utf8Validator::new();
    let pushed = chunks.iter().try_for_each(|chunk| validator.push(chunk));
    let error = pushed.and_then(|()| validator.finish()).err()?;
    Some((error.valid_up_to(), error.error_len()))
}

#[test]
fn ours_reports_the_same_error_at_every_split() {
    for bytes in byte_strings() {
        for at in 0..=bytes.len() {
            let (first, second) = bytes.split_at(at);
            assert_eq!(validate(&[first, b"", second]), validate(&[&bytes]), "{bytes:02x?}, {at}");
        }
    }
}

#[test]
fn ours_borrows_text_from_the_chunk() {
    let (chunk, mut decoder) = (b"10 \xE2\x82", Utf8Decoder::new());
    let text = decoder.push(chunk).next().unwrap().unwrap();
    assert_eq!((text, text.as_ptr()), ("10 ", chunk.as_ptr()));
}

#[test]
fn ours_returns_the_text_before_and_after_an_error() {
    let chunks = [&b"a\xE2\x82"[..], b"\xAC\xFF", b"b"];
    let chunks = futures::stream::iter(chunks).map(Ok::<_, std::io::Error>);
    let items: Vec<_> = block_on(Utf8Stream::new(chunks).collect());
    let texts: String = items.iter().flatten().map(|text| &**text).collect();
    assert_eq!((&*texts, items.iter().filter(|item| item.is_err()).count()), ("a€b", 1));
}

#[test]
fn ours_decodes_with_offsets_after_an_error() {
    let mut decoder = Utf8Decoder::new();
    let mut offsets = Vec::new();
    for chunk in [&b"a\xFF"[..], b"b\xFF"] {
        offsets.extend(decoder.push(chunk).filter_map(Result::err).map(|e| e.valid_up_to()));
    }
    assert_eq!(offsets, [1, 3]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn simdutf8_streaming_validator_returns_a_verdict_at_the_end() {
    use simdutf8::basic::imp::Utf8Validator as _;
    use simdutf8::basic::imp::x86::avx2::Utf8ValidatorImp;

    if !std::arch::is_x86_feature_detected!("avx2") {
        return;
    }
    let verdict = |chunks: &[&[u8]]| {
        // SAFETY: the machine has AVX2, as has just been found.
        let mut validator = unsafe { Utf8ValidatorImp::new() };
        for chunk in chunks {
            // SAFETY: the machine has AVX2, as was found before. It returns nothing.
            let () = unsafe { validator.update(chunk) };
        }
        // SAFETY: the machine has AVX2, as was found before.
        unsafe { validator.finalize() }
    };
    assert!(verdict(&[b"10 \xE2", b"\x82\xAC"]).is_ok());
    assert_eq!(size_of_val(&verdict(&[b"\xFF", b"and a lot more"]).unwrap_err()), 0);
}

/// The offset and the length of the first error, computed by the caller from what the decoder returns.
fn encoding_rs_place(chunks: &[&[u8]]) -> Option<(u64, usize)> {
    let mut decoder = UTF_8.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(100);
    let mut before = 0;
    for (n, chunk) in chunks.iter().enumerate() {
        let last = n + 1 == chunks.len();
        let (result, read) = decoder.decode_to_string_without_replacement(chunk, &mut text, last);
        before += read as u64;
        match result {
            DecoderResult::InputEmpty => {}
            DecoderResult::OutputFull => panic!("there is room"),
            DecoderResult::Malformed(len, after) => {
                return Some((before - u64::from(len) - u64::from(after), len.into()));
            }
        }
    }
    None
}

#[test]
fn encoding_rs_error_offsets_can_be_computed_at_every_split() {
    for bytes in byte_strings() {
        let whole = validate(&[&bytes])
            .map(|(offset, len)| (offset, len.unwrap_or(bytes.len() - offset as usize)));
        for at in 0..=bytes.len() {
            let (first, second) = bytes.split_at(at);
            assert_eq!(encoding_rs_place(&[first, second]), whole, "{bytes:02x?}, {at}");
        }
    }
}

fn encoding_rs_text(mut decoder: encoding_rs::Decoder, bytes: &[u8]) -> (String, &'static str) {
    let mut text = String::with_capacity(100);
    for byte in bytes {
        let _ = decoder.decode_to_string(&[*byte], &mut text, false);
    }
    let _ = decoder.decode_to_string(b"", &mut text, true);
    (text, decoder.encoding().name())
}

#[test]
fn encoding_rs_new_decoder_removes_a_bom() {
    assert_eq!(encoding_rs_text(UTF_8.new_decoder(), b"\xEF\xBB\xBFa").0, "a");
    let keep = UTF_8.new_decoder_without_bom_handling();
    assert_eq!(encoding_rs_text(keep, b"\xEF\xBB\xBFa").0, "\u{FEFF}a");
}

#[test]
fn encoding_rs_new_decoder_becomes_utf_16_at_its_bom() {
    let utf_16 = b"\xFF\xFEa\0";
    assert_eq!(encoding_rs_text(UTF_8.new_decoder(), utf_16), ("a".into(), UTF_16LE.name()));
    let utf_8 = UTF_8.new_decoder_with_bom_removal();
    assert_eq!(encoding_rs_text(utf_8, utf_16), ("\u{FFFD}\u{FFFD}a\0".into(), "UTF-8"));
}

#[test]
fn encoding_rs_stops_when_the_output_is_full() {
    let mut text = String::with_capacity(4);
    let room = text.capacity();
    let input = vec![b'a'; room + 1];
    let mut decoder = UTF_8.new_decoder();
    let (result, read, _) = decoder.decode_to_string(&input, &mut text, true);
    assert_eq!((result, read <= room, text.capacity()), (CoderResult::OutputFull, true, room));
}

#[test]
#[should_panic(expected = "finished")]
fn encoding_rs_panics_if_used_after_the_end() {
    let mut decoder = UTF_8.new_decoder();
    let mut text = String::with_capacity(100);
    let _ = decoder.decode_to_string(b"a", &mut text, true);
    let _ = decoder.decode_to_string(b"b", &mut text, true);
}

#[test]
fn ours_in_framed_read_ends_at_an_error_unless_lossy() {
    let mut texts = FramedRead::new(&b"a\xFFb"[..], Utf8Codec::new());
    assert_eq!(block_on(texts.next()).unwrap().unwrap(), "a");
    assert!(block_on(texts.next()).unwrap().is_err());
    assert!(block_on(texts.next()).is_none());

    let lossy = Utf8Codec::new().with_error_mode(ErrorMode::Replacement);
    let texts = FramedRead::new(&b"a\xFFb"[..], lossy).map(|text| text.unwrap().to_string());
    assert_eq!(block_on(texts.collect::<String>()), "a\u{FFFD}b");
}

#[test]
fn ours_continues_after_finish() {
    let mut decoder = Utf8Decoder::new();
    assert_eq!(decoder.push(b"a\xE2").count(), 1);
    assert_eq!(decoder.finish().unwrap_err().valid_up_to(), 1);
    assert_eq!(decoder.push(b"b\xFF").find_map(Result::err).unwrap().valid_up_to(), 3);
}

#[test]
fn utf8_zero_decode_returns_the_incomplete_end() {
    let chunk = b"10 \xE2\x82";
    let Err(DecodeError::Incomplete { valid_prefix, mut incomplete_suffix }) =
        utf8_zero::decode(chunk)
    else {
        panic!("it is incomplete");
    };
    assert_eq!(valid_prefix.as_ptr(), chunk.as_ptr());
    let (completed, rest) = incomplete_suffix.try_complete(b"\xAC").unwrap();
    assert_eq!((valid_prefix, completed, rest), ("10 ", Ok("€"), &b""[..]));
}

#[test]
fn utf8_zero_errors_hold_the_bytes_and_no_offset() {
    let Err(DecodeError::Incomplete { mut incomplete_suffix, .. }) = utf8_zero::decode(b"10 \xE2")
    else {
        panic!("it is incomplete");
    };
    // All there is to know about the error that began three bytes into the chunk before.
    assert_eq!(incomplete_suffix.try_complete(b"x"), Some((Err(&b"\xE2"[..]), &b"x"[..])));
}

fn async_utf8_decoder(chunks: &[&[u8]]) -> async_utf8_decoder::Utf8Decoder<Script> {
    async_utf8_decoder::Utf8Decoder::new(Script::new(chunks))
}

#[test]
fn async_utf8_decoder_joins_split_characters() {
    let texts = async_utf8_decoder(&[b"10 \xE2", b"\x82", b"\xAC"]).map(Result::unwrap);
    assert_eq!(block_on(texts.collect::<String>()), "10 €");
}

#[test]
fn async_utf8_decoder_drops_the_text_of_the_read_that_has_an_error() {
    let decoder = async_utf8_decoder(&[b"kept ", b"lost\xFFlost ", b"kept"]);
    let items: Vec<_> = block_on(decoder.map(Result::ok).collect());
    assert_eq!(items, [Some("kept ".into()), None, Some("kept".into())]);
}

#[test]
fn async_utf8_decoder_offsets_start_at_each_read() {
    let mut decoder = async_utf8_decoder(&[b"0123456789", b"ab\xFF"]);
    block_on(decoder.next());
    let Some(Err(async_utf8_decoder::DecodeError::Utf8Error(error))) = block_on(decoder.next())
    else {
        panic!("there is an error");
    };
    assert_eq!(error.valid_up_to(), 2); // of 12
}

#[test]
fn async_utf8_decoder_repeats_the_error_at_the_end() {
    let mut decoder = async_utf8_decoder(&[b"10 \xE2\x82"]);
    assert_eq!(block_on(decoder.next()).unwrap().unwrap(), "10 ");
    for _ in 0..100 {
        assert!(block_on(decoder.next()).unwrap().is_err());
    }
}

// ---- readers -----------------------------------------------------------------------------------

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

/// The text that a reader returned, or the offset of its error. `None` at the end.
fn item(result: Result<Option<&str>, StreamError<std::io::Error>>) -> Option<String> {
    match result {
        Ok(text) => text.map(str::to_owned),
        Err(StreamError::Utf8(error)) => Some(format!("error at {}", error.valid_up_to())),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn ours_borrows_text_from_an_async_reader_as_it_arrives() {
    let mut reader = Utf8Reader::new(Script::new(&[&b"5 \xE2"[..], b"\x82\xAC", b"x\xFF", b"y"]));
    let items: Vec<_> = std::iter::from_fn(|| item(block_on(reader.next_str()))).collect();
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
    let items: Vec<_> = std::iter::from_fn(|| item(reader.next_str())).collect();
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
