//! The contenders that the crate's own benchmarks leave out because they take long to build.

use std::convert::Infallible;
use std::hint::black_box;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, WINDOWS_1252};
use futures::executor::block_on;
use futures::{StreamExt, stream};
use tungstenite::WebSocket;
use tungstenite::protocol::{Role, WebSocketConfig};
use utf8_codec::dialect::Dialect;

use crate::chars::{ByteTexts, CharTexts, buffer, room};
use crate::framed::{READ, WholeCharacters, framed};
use crate::stream::{Chunks, over};
use crate::support::{Room, Row};
use crate::validate::{all, sum};
use crate::{dialect, fallback};

pub(crate) fn validate<'a>(row: &mut Row<'a>, messages: &'a [&'a [u8]]) {
    row.peer("simdutf8", all(messages, |message| simdutf8::basic::from_utf8(message).is_ok()));
    row.peer("simdutf", all(messages, simdutf::validate_utf8));
    // It is made for short strings. For long ones it does the same as std.
    if messages.iter().all(|message| message.len() <= 128) {
        row.peer("smoothutf8", all(messages, smoothutf8::verify));
    }
    row.peer(
        "encoding_rs",
        all(messages, |message| Encoding::utf8_valid_up_to(message) == message.len()),
    );
}

/// The flavours of the peers that return the offset of the error.
pub(crate) fn locate<'a>(row: &mut Row<'a>, messages: &'a [&'a [u8]]) {
    row.peer(
        "simdutf8",
        sum(messages, |message| {
            simdutf8::compat::from_utf8(message).map_or_else(|error| error.valid_up_to(), str::len)
        }),
    );
    row.peer("simdutf", sum(messages, |message| simdutf::validate_utf8_with_errors(message).count));
    row.peer("encoding_rs", sum(messages, Encoding::utf8_valid_up_to));
}

pub(crate) fn decode<'a>(row: &mut Row<'a>, streams: &'a [Chunks<'a>]) {
    row.peer("encoding_rs", over(streams, encoding_rs_decode(streams)));
    row.peer("utf-8", over(streams, utf_8_decode));
    row.peer("utf8-zero", over(streams, utf8_zero_decode));
    row.peer("async-utf8-decoder", over(streams, async_utf8_decoder_decode));
}

/// Copies into one reused `str`.
fn encoding_rs_decode(streams: &[Chunks<'_>]) -> impl FnMut(&[&[u8]]) -> usize + use<> {
    let longest = streams.iter().flatten().map(|chunk| chunk.len()).max().unwrap_or(0);
    let mut buffer = "\0".repeat(3 * longest + 16);
    move |chunks| {
        let mut decoder = UTF_8.new_decoder_without_bom_handling();
        let mut len = 0;
        for (n, chunk) in chunks.iter().enumerate() {
            let is_last = n + 1 == chunks.len();
            let (result, _, written, replaced) = decoder.decode_to_str(chunk, &mut buffer, is_last);
            assert!(result == CoderResult::InputEmpty && !replaced, "the text is UTF-8");
            len += written;
        }
        len
    }
}

/// The two crates have the same API: one is a fork of the other.
macro_rules! incremental {
    ($name:ident, $peer:ident) => {
        fn $name(chunks: &[&[u8]]) -> usize {
            let mut incomplete: Option<$peer::Incomplete> = None;
            let mut len = 0;
            for chunk in chunks {
                let mut input = *chunk;
                if let Some(mut held) = incomplete.take() {
                    let Some((text, rest)) = held.try_complete(input) else {
                        incomplete = Some(held);
                        continue;
                    };
                    len += text.expect("the text is UTF-8").len();
                    input = rest;
                }
                match $peer::decode(input) {
                    Ok(text) => len += text.len(),
                    Err($peer::DecodeError::Incomplete { valid_prefix, incomplete_suffix }) => {
                        len += valid_prefix.len();
                        incomplete = Some(incomplete_suffix);
                    }
                    Err($peer::DecodeError::Invalid { .. }) => panic!("the text is UTF-8"),
                }
            }
            assert!(incomplete.is_none(), "the text is whole");
            len
        }
    };
}
incremental!(utf_8_decode, utf8);
incremental!(utf8_zero_decode, utf8_zero);

/// Reads from a reader and returns a new `String` for each read.
fn async_utf8_decoder_decode(chunks: &[&[u8]]) -> usize {
    let longest = chunks.iter().map(|chunk| chunk.len()).max().unwrap_or(0);
    let reader = ChunkReader(chunks.iter());
    // It reads after the bytes that it holds, at most three.
    let mut texts = async_utf8_decoder::Utf8Decoder::with_capacity(longest + 3, reader);
    let mut len = 0;
    block_on(async {
        while let Some(text) = texts.next().await {
            len += text.expect("the text is UTF-8").len();
        }
    });
    len
}

/// Returns one chunk per read. The buffer must have room for it.
struct ChunkReader<'a>(std::slice::Iter<'a, &'a [u8]>);

impl futures::io::AsyncRead for ChunkReader<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let chunk = self.0.next().copied().unwrap_or_default();
        buffer[..chunk.len()].copy_from_slice(chunk);
        Poll::Ready(Ok(chunk.len()))
    }
}

/// The peers that read by themselves.
pub(crate) fn read<'a>(row: &mut Row<'a>, input: &'a [u8], read: usize) {
    let chunks: Chunks<'_> = input.chunks(read).collect();
    let wire = fragments(&chunks);
    row.peer("async-utf8-decoder", move || async_utf8_decoder_decode(black_box(&chunks)) as u64);
    row.peer("tungstenite", move || tungstenite_read(black_box(&wire)));
}

/// A WebSocket message from a server: one frame per chunk.
fn fragments(chunks: &[&[u8]]) -> Vec<u8> {
    let mut wire = Vec::new();
    for (n, chunk) in chunks.iter().enumerate() {
        let opcode = if n == 0 { 1 } else { 0 };
        let is_last = if n + 1 == chunks.len() { 0x80 } else { 0 };
        wire.push(is_last | opcode);
        match u8::try_from(chunk.len()) {
            Ok(len @ ..126) => wire.push(len),
            _ => {
                wire.push(126);
                wire.extend_from_slice(&(chunk.len() as u16).to_be_bytes());
            }
        }
        wire.extend_from_slice(chunk);
    }
    wire
}

/// Joins the frames into one message and validates each of them.
fn tungstenite_read(wire: &[u8]) -> u64 {
    let config = WebSocketConfig::default().read_buffer_size(8192);
    let socket = Wire(io::Cursor::new(wire));
    let mut socket = WebSocket::from_raw_socket(socket, Role::Client, Some(config));
    socket.read().expect("the text is UTF-8").len() as u64
}

/// The bytes that the server sends. Everything written to it is discarded.
struct Wire<'a>(io::Cursor<&'a [u8]>);

impl io::Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl io::Write for Wire<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn verdict<'a>(row: &mut Row<'a>, streams: &'a [Chunks<'a>]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        row.peer("simdutf8", over(streams, simdutf8_verdict));
    }
}

/// Returns a verdict only at the end, and no offset.
#[cfg(target_arch = "x86_64")]
fn simdutf8_verdict(chunks: &[&[u8]]) -> usize {
    use simdutf8::basic::imp::Utf8Validator;
    use simdutf8::basic::imp::x86::avx2::Utf8ValidatorImp;

    assert!(std::arch::is_x86_feature_detected!("avx2"));
    // SAFETY: the machine has AVX2, as asserted above.
    let mut validator = unsafe { Utf8ValidatorImp::new() };
    for chunk in chunks {
        // SAFETY: the machine has AVX2, as asserted above.
        unsafe { validator.update(chunk) };
    }
    // SAFETY: the machine has AVX2, as asserted above.
    usize::from(unsafe { validator.finalize() }.is_ok())
}

pub(crate) fn repair<'a>(row: &mut Row<'a>, input: &'a [u8]) {
    row.peer("encoding_rs", || {
        black_box(UTF_8.decode_without_bom_handling(black_box(input)).0).len() as u64
    });
    row.peer("utf-8", || {
        let mut text = String::with_capacity(input.len() + input.len() / 32); // as much as ours
        utf8::LossyDecoder::new(|piece| text.push_str(piece)).feed(black_box(input));
        black_box(text).len() as u64
    });
    row.peer("utf8-zero", || {
        let mut text = String::with_capacity(input.len() + input.len() / 32); // as much as ours
        utf8_zero::LossyDecoder::new(|piece| text.push_str(piece)).feed(black_box(input));
        black_box(text).len() as u64
    });
}

pub(crate) fn repair_utf16<'a>(row: &mut Row<'a>, input: &'a [u8]) {
    let mut out = Room::new(input.len() + 1);
    row.peer("encoding_rs", move || {
        let mut decoder = UTF_8.new_decoder_without_bom_handling();
        decoder.decode_to_utf16(black_box(input), black_box(&mut out), true).2 as u64
    });
}

pub(crate) fn codec<'a>(row: &mut Row<'a>, input: &'a [u8]) {
    let codec = || WholeCharacters(up_to_tail_simdutf8);
    row.peer("simdutf8", framed(input, codec, |text| text.len()));
}

/// The length without an incomplete character at the end, if the rest is UTF-8.
fn up_to_tail_simdutf8(bytes: &[u8]) -> Option<usize> {
    let incomplete = match *bytes {
        [.., 0xC0..=0xFF] => 1,
        [.., 0xE0..=0xFF, _] => 2,
        [.., 0xF0..=0xFF, _, _] => 3,
        _ => 0,
    };
    let len = bytes.len() - incomplete;
    simdutf8::basic::from_utf8(&bytes[..len]).is_ok().then_some(len)
}

/// As in C++: the destination is a pointer to enough memory.
pub(crate) fn to_chars<'a>(row: &mut Row<'a>, texts: ByteTexts<'a>) {
    let mut units = Room::<u32>::new(room(texts));
    row.peer("simdutf", move || {
        let mut written = 0;
        for text in black_box(texts) {
            // SAFETY: the pointer and length are those of `text`, and `units` has one unit for each of its bytes.
            written += unsafe {
                simdutf::convert_utf8_to_utf32(text.as_ptr(), text.len(), units.as_mut_ptr())
            };
        }
        black_box(&units);
        written as u64
    });
}

pub(crate) fn to_utf16<'a>(row: &mut Row<'a>, texts: ByteTexts<'a>) {
    let mut units = Room::<u16>::new(room(texts));
    row.peer("simdutf", move || {
        let mut written = 0;
        for text in black_box(texts) {
            // SAFETY: the pointer and length are those of `text`, and `units` has one unit for each of its bytes.
            written += unsafe {
                simdutf::convert_utf8_to_utf16(text.as_ptr(), text.len(), units.as_mut_ptr())
            };
        }
        black_box(&units);
        written as u64
    });
    let mut units = Room::<u16>::new(room(texts) + 1);
    row.peer("encoding_rs", move || {
        let mut written = 0;
        for text in black_box(texts) {
            let bytes = text.as_bytes();
            written += encoding_rs::mem::convert_utf8_to_utf16(bytes, &mut units);
        }
        black_box(&units);
        written as u64
    });
}

pub(crate) fn from_chars<'a>(row: &mut Row<'a>, texts: CharTexts<'a>) {
    let mut bytes = buffer(texts);
    row.peer("simdutf", move || {
        let mut written = 0;
        for chars in black_box(texts) {
            // SAFETY: a `char` has the layout of `u32`, and `bytes` has four bytes for each.
            written += unsafe {
                simdutf::convert_utf32_to_utf8(
                    chars.as_ptr().cast(),
                    chars.len(),
                    bytes.as_mut_ptr(),
                )
            };
        }
        black_box(&bytes);
        written as u64
    });
}

pub(crate) fn from_utf16<'a>(row: &mut Row<'a>, chunks: &'a [&'a [u16]]) {
    repair_from_utf16(row, chunks);
    let longest = chunks.iter().map(|chunk| chunk.len()).max().unwrap_or(0);
    let mut bytes = Room::<u8>::new(3 * longest);
    row.peer("simdutf", move || {
        let convert = |chunk: &&[u16]| {
            assert!(3 * chunk.len() <= bytes.len());
            // SAFETY: a unit becomes at most three bytes, and `bytes` has room for them, as asserted above.
            unsafe {
                simdutf::convert_utf16_to_utf8(chunk.as_ptr(), chunk.len(), bytes.as_mut_ptr())
            }
        };
        black_box(chunks).iter().map(convert).sum::<usize>() as u64
    });
}

/// Replaces unpaired surrogates.
pub(crate) fn repair_from_utf16<'a>(row: &mut Row<'a>, chunks: &'a [&'a [u16]]) {
    let longest = chunks.iter().map(|chunk| chunk.len()).max().unwrap_or(0);
    let mut text = "\0".repeat(3 * longest);
    row.peer("encoding_rs", move || {
        let convert = |chunk: &&[u16]| encoding_rs::mem::convert_utf16_to_str(chunk, &mut text);
        black_box(chunks).iter().map(convert).sum::<usize>() as u64
    });
}

// ---- Windows-1252: encoding_rs, with the right encoding from the start ----------------------------

fn decoder(input: &fallback::Input) -> Decoder {
    let encoding = if input.is_legacy { WINDOWS_1252 } else { UTF_8 };
    encoding.new_decoder_without_bom_handling()
}

/// Appends the text of a chunk. The decoder holds an incomplete character.
fn append(decoder: &mut Decoder, chunk: &[u8], is_last: bool, text: &mut String) {
    let room = decoder.max_utf8_buffer_length(chunk.len()).expect("a chunk is not that long");
    text.reserve(room);
    let _ = decoder.decode_to_string(chunk, text, is_last);
}

pub(crate) fn decode_fallback<'a>(row: &mut Row<'a>, input: &'a fallback::Input) {
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

pub(crate) fn codec_fallback<'a>(row: &mut Row<'a>, input: &'a fallback::Input) {
    row.peer("encoding_rs", framed(&input.bytes, || Codec(decoder(input)), |text| text.len()));
}

pub(crate) fn streams_fallback<'a>(row: &mut Row<'a>, input: &'a fallback::Input) {
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

// ---- CESU-8 and Modified UTF-8 --------------------------------------------------------------------

/// They borrow if they can; the task is a `String`. residua accepts ill-formed input that the others reject.
pub(crate) fn decode_dialect<'a>(row: &mut Row<'a>, dialect: Dialect, input: &'a dialect::Input) {
    let bytes = &input.bytes[..];
    if dialect == Dialect::Cesu8 {
        row.peer("simd_cesu8", move || {
            let text = simd_cesu8::decode_strict(black_box(bytes)).expect("well-formed");
            black_box(text.into_owned()).len() as u64
        });
        row.peer("residua", move || {
            let text = cesu8::decode(black_box(bytes)).expect("well-formed");
            black_box(text.into_owned()).len() as u64
        });
    } else {
        row.peer("simd_cesu8", move || {
            let text = simd_cesu8::mutf8::decode_strict(black_box(bytes)).expect("well-formed");
            black_box(text.into_owned()).len() as u64
        });
        row.peer("residua", move || {
            let text = mutf8::decode(black_box(bytes)).expect("well-formed");
            black_box(text.into_owned()).len() as u64
        });
    }
}

/// They borrow if they can; the task is a `Vec`.
pub(crate) fn encode_dialect<'a>(row: &mut Row<'a>, dialect: Dialect, input: &'a dialect::Input) {
    let text = &input.text[..];
    if dialect == Dialect::Cesu8 {
        row.peer("simd_cesu8", move || {
            black_box(simd_cesu8::encode(black_box(text)).into_owned()).len() as u64
        });
        row.peer("residua", move || {
            black_box(cesu8::encode(black_box(text)).into_owned()).len() as u64
        });
    } else {
        row.peer("simd_cesu8", move || {
            black_box(simd_cesu8::mutf8::encode(black_box(text)).into_owned()).len() as u64
        });
        row.peer("residua", move || {
            black_box(mutf8::encode(black_box(text)).into_owned()).len() as u64
        });
    }
}
