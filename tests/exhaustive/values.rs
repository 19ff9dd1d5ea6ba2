//! All scalar values through everything that decodes and everything that encodes.
#![cfg(all(feature = "codec", feature = "stream"))]

use std::convert::Infallible;
use std::io;
use std::sync::OnceLock;

use crate::lists::{DIALECTS, decoded};
use crate::support::{Atom, PLAIN, subjects};
use bytes::{Bytes, BytesMut};
use futures::executor::{block_on, block_on_stream};
use futures::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use tokio::io::AsyncReadExt;
use tokio_util::codec::Encoder;
use tokio_util::io::StreamReader;
use utf8_codec::codec::{CharCodec, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};
use utf8_codec::codec::{DialectCodec, JavaUtfCodec};
use utf8_codec::decoder::Status;
use utf8_codec::detect::{Detector, StreamKind};
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectPiece};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::lines::Line;
use utf8_codec::search::TextFinder;
use utf8_codec::stream::{Utf8Reader, Utf8Stream, Utf8Writer};
use utf8_codec::terminal::TerminalDecoder;
use utf8_codec::utf16::Utf16Decoder;
use utf8_codec::websocket::{Message, MessageAssembler, Opcode};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Encoder};
use utf8_simd::Level;

/// All scalar values in order: 4,382,592 bytes.
fn all() -> &'static str {
    static ALL: OnceLock<String> = OnceLock::new();
    ALL.get_or_init(|| ('\0'..=char::MAX).collect())
}

/// Splits characters of all lengths at all offsets.
const SIZES: [usize; 2] = [7, 4093];

#[test]
fn every_decoder_decodes_all_scalar_values() {
    for mode in [ErrorMode::Fatal, ErrorMode::Replacement] {
        for (name, mut subject) in subjects(PLAIN, mode) {
            // Compares item by item: a million atoms need much memory.
            let mut expected = all().chars();
            let mut compare = |atoms: Vec<Atom>| {
                for atom in atoms {
                    let next = expected.next().map(Atom::Char);
                    assert_eq!(Some(atom), next, "{name}, {mode:?}");
                }
            };
            for chunk in all().as_bytes().chunks(1021) {
                compare(subject.push(chunk));
            }
            compare(subject.finish());
            assert_eq!(expected.next(), None, "{name}, {mode:?}");
        }
    }
}

#[test]
fn output_buffers_of_every_type_receive_all_scalar_values() {
    for size in SIZES {
        let mut decoders = [const { None }; 3].map(|_: Option<()>| Utf8Decoder::new());
        let (mut bytes, mut chars, mut units) = (vec![0; 64], vec!['\0'; 64], vec![0; 64]);
        let (mut of_bytes, mut of_chars, mut of_units) = (String::new(), String::new(), Vec::new());
        let mode = ErrorMode::Fatal;
        for chunk in all().as_bytes().chunks(size) {
            let [to_bytes, to_chars, to_units] = &mut decoders;
            push(chunk, |rest| {
                let progress = to_bytes.push_to_slice(rest, mode, &mut bytes);
                of_bytes.push_str(str::from_utf8(&bytes[..progress.written]).unwrap());
                progress
            });
            push(chunk, |rest| {
                let progress = to_chars.push_to_chars(rest, mode, &mut chars);
                of_chars.extend(&chars[..progress.written]);
                progress
            });
            push(chunk, |rest| {
                let progress = to_units.push_to_utf16(rest, mode, &mut units);
                of_units.extend_from_slice(&units[..progress.written]);
                progress
            });
        }
        for mut decoder in decoders {
            assert_eq!(decoder.finish(), Ok(()));
        }
        assert!(of_bytes == all() && of_chars == all(), "in chunks of {size}");
        assert!(all().encode_utf16().eq(of_units), "in chunks of {size}");
    }
}

/// Pushes until `chunk` is consumed.
fn push(chunk: &[u8], mut step: impl FnMut(&[u8]) -> utf8_codec::decoder::Progress) {
    let mut rest = chunk;
    loop {
        let progress = step(rest);
        rest = &rest[progress.read..];
        match progress.status {
            Status::Done => return assert!(rest.is_empty()),
            Status::Full => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn codecs_encode_and_decode_all_scalar_values() {
    let mut wire = BytesMut::new();
    Utf8Codec::new().encode(all(), &mut wire).unwrap();
    Utf8ChunksCodec::new().encode(Ok(all().into()), &mut wire).unwrap();
    CharCodec::new().encode(&all().chars().collect::<Vec<_>>()[..], &mut wire).unwrap();
    assert!(wire == all().repeat(3).as_bytes());

    for size in SIZES {
        let texts = decoded(Utf8Codec::new(), all().as_bytes().chunks(size));
        assert!(texts.concat() == all(), "in chunks of {size}");
        let codec = Utf8Codec::new().with_error_mode(ErrorMode::Escape);
        assert!(
            decoded(codec, all().as_bytes().chunks(size)).concat() == all(),
            "in chunks of {size}"
        );
        let chunks = decoded(Utf8ChunksCodec::new(), all().as_bytes().chunks(size));
        let bytes: Vec<u8> =
            chunks.iter().flat_map(|chunk| chunk.as_ref().unwrap().as_bytes().to_vec()).collect();
        assert!(bytes == all().as_bytes(), "in chunks of {size}");
        let chars: String =
            decoded(CharCodec::new(), all().as_bytes().chunks(size)).into_iter().collect();
        assert!(chars == all(), "in chunks of {size}");

        // They include U+000A, which ends a line.
        let lines = Utf8LinesCodec::new().with_max_length(usize::MAX);
        let mut text = String::new();
        for line in decoded(lines, all().as_bytes().chunks(size)) {
            push_line(line.unwrap(), &mut text);
        }
        assert!(text == all(), "in chunks of {size}");
    }

    let mut wire = BytesMut::new();
    let mut lines = Utf8LinesCodec::new();
    for line in all().split('\n') {
        lines.encode(line, &mut wire).unwrap();
    }
    assert!(wire == [all(), "\n"].concat().as_bytes());
}

/// Appends a line with its line feed.
fn push_line(line: Line, text: &mut String) {
    text.push_str(&line);
    text.push_str(if line.is_terminated() { "\n" } else { "" });
}

#[test]
fn the_writer_and_the_encoder_write_all_scalar_values() {
    let mut writer = Utf8Writer::new(Vec::new()).with_encoder(Utf8Encoder::new().with_bom());
    let half = all().len() / 2;
    writer.write_str(&all()[..all().ceil_boundary(half)]).now_or_never().unwrap().unwrap();
    for c in all()[all().ceil_boundary(half)..].chars() {
        writer.write_char(c).now_or_never().unwrap().unwrap();
    }
    for unit in all().encode_utf16() {
        writer.write_utf16(&[unit]).now_or_never().unwrap().unwrap();
    }
    writer.close().now_or_never().unwrap().unwrap();
    let written = writer.into_inner();
    assert!(written == ["\u{FEFF}", all(), all()].concat().as_bytes());

    let mut encoder = Utf8Encoder::new();
    let (mut rest, mut out, mut buffer) = (all(), Vec::new(), [0; 4]);
    while !rest.is_empty() {
        let progress = encoder.push_to_slice(rest, &mut buffer);
        assert!(progress.read > 0);
        out.extend_from_slice(&buffer[..progress.written]);
        rest = &rest[progress.read..];
    }
    assert!(out == all().as_bytes());

    let (chars, mut buffer) = (all().chars().collect::<Vec<_>>(), vec![0; all().len()]);
    let progress = encoder.push_chars_to_slice(&chars, &mut buffer);
    assert_eq!((progress.read, progress.written), (chars.len(), buffer.len()));
    assert!(buffer == all().as_bytes());
}

/// `str::ceil_char_boundary`, which is newer than the minimum Rust version.
trait CeilBoundary {
    fn ceil_boundary(&self, at: usize) -> usize;
}

impl CeilBoundary for str {
    fn ceil_boundary(&self, at: usize) -> usize {
        (at..).find(|&at| self.is_char_boundary(at)).unwrap()
    }
}

/// All of them in chunks, as from a connection.
fn chunks(size: usize) -> impl Stream<Item = Result<Bytes, Infallible>> + Unpin {
    stream::iter(all().as_bytes().chunks(size).map(|chunk| Ok(Bytes::from_static(chunk))))
}

#[test]
fn line_streams_and_fallbacks_return_all_scalar_values() {
    for size in SIZES {
        let lines =
            block_on_stream(Utf8Stream::new(chunks(size)).lines().with_max_length(all().len()));
        let mut text = String::new();
        lines.for_each(|line| push_line(line.unwrap(), &mut text));
        assert!(text == all(), "in chunks of {size}");

        let fallback = FallbackDecoder::part(LegacyEncoding::latin1());
        let texts = block_on_stream(Utf8Stream::new(chunks(size)).with_fallback(fallback));
        let text: String = texts.map(|text| text.unwrap().to_string()).collect();
        assert!(text == all(), "in chunks of {size}");
    }
}

#[test]
fn the_byte_reader_returns_all_scalar_values() {
    for size in SIZES {
        let source = StreamReader::new(chunks(size).map_err(io::Error::other));
        let mut reader = Utf8Reader::new(source).into_byte_reader();
        // An odd size, so that characters are read in parts.
        let (mut bytes, mut buffer) = (Vec::new(), [0; 61]);
        while let read @ 1.. = block_on(reader.read(&mut buffer)).unwrap() {
            bytes.extend_from_slice(&buffer[..read]);
        }
        assert!(bytes == all().as_bytes(), "in chunks of {size}");
    }
}

#[test]
fn all_scalar_values_round_trip_through_utf16() {
    let units: Vec<u16> = all().encode_utf16().collect();
    for size in SIZES {
        let (mut decoder, mut text) = (Utf16Decoder::new(), String::new());
        for chunk in units.chunks(size) {
            let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
            assert_eq!(progress.status, Status::Done);
        }
        assert_eq!(decoder.finish(), Ok(()));
        assert!(text == all(), "in chunks of {size}");
    }
}

/// Sends them as masked frames, each in pieces that `take` pushes. Returns the message of the last
/// frame.
fn message(size: usize, mut take: impl FnMut(&mut MessageAssembler, &mut [u8])) -> Option<Message> {
    let mask = [0x37, 0xFA, 0x21, 0x3D];
    let mut connection = MessageAssembler::new();
    let mut frames = all().as_bytes().chunks(size * 9).peekable();
    let mut opcode = Opcode::Text;
    let mut message = None;
    while let Some(frame) = frames.next() {
        connection.start_frame(opcode, frames.peek().is_none(), Some(mask)).unwrap();
        opcode = Opcode::Continuation;
        let mut masked: Vec<u8> =
            frame.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        masked.chunks_mut(size).for_each(|piece| take(&mut connection, piece));
        assert!(masked == frame, "the bytes are unmasked in place");
        message = connection.end_frame().unwrap();
    }
    message
}

#[test]
fn masked_websocket_frames_carry_all_scalar_values() {
    for size in SIZES {
        let kept = message(size, |connection, piece| connection.push(piece).unwrap());
        assert!(kept == Some(Message::Text(all().into())), "in pieces of {size}");

        let mut text = String::new();
        let lent = message(size, |connection, piece| {
            connection.pieces(piece).for_each(|piece| text.push_str(piece.unwrap()));
        });
        assert!(text == all(), "in pieces of {size}");

        let mut validated = 0;
        let judged = message(size, |connection, piece| {
            connection.validate(piece).unwrap();
            validated = connection.position();
        });
        assert_eq!(validated, all().len() as u64);
        assert_eq!([lent, judged], [const { "" }; 2].map(|none| Some(Message::Text(none.into()))));
    }
}

#[test]
fn all_scalar_values_round_trip_through_every_dialect() {
    for dialect in DIALECTS {
        let mut bytes = Vec::new();
        let mut encoder = DialectEncoder::new(dialect);
        encoder.push_to_vec(all(), &mut bytes).unwrap();
        encoder.finish_to_vec(&mut bytes).unwrap();
        let mut one_by_one = Vec::new();
        for c in all().chars() {
            one_by_one.extend_from_slice(&encoder.push_code_point(c.into()).unwrap());
        }
        one_by_one.extend_from_slice(&encoder.finish().unwrap());
        assert!(bytes == one_by_one, "{dialect}");
        let mut wire = BytesMut::new();
        DialectCodec::new(dialect).encode(all(), &mut wire).unwrap();
        assert!(wire == bytes, "{dialect}");
        wire.clear();
        let mut codec = DialectCodec::new(dialect);
        for c in all().chars() {
            codec.encode(DialectPiece::<&str>::CodePoint(c.into()), &mut wire).unwrap();
        }
        assert!(wire == bytes, "{dialect}, one by one");
        let same = !matches!(dialect, Dialect::Cesu8 | Dialect::ModifiedUtf8);
        assert_eq!(bytes == all().as_bytes(), same, "{dialect}");

        for size in SIZES {
            let (mut decoder, mut text) = (DialectDecoder::new(dialect), String::new());
            for chunk in bytes.chunks(size) {
                let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
                assert_eq!(progress.status, Status::Done);
            }
            decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
            assert!(text == all(), "{dialect}, in chunks of {size}");
            let mut text = String::new();
            for item in decoded(DialectCodec::new(dialect), bytes.chunks(size)) {
                let DialectPiece::Text(item) = item else { panic!("the input is text") };
                text.push_str(&item);
            }
            assert!(text == all(), "{dialect}, in chunks of {size}");
        }
    }

    let mut wire = BytesMut::new();
    let strings: Vec<String> = all()
        .chars()
        .collect::<Vec<_>>()
        .chunks(10_000)
        .map(|chars| chars.iter().collect())
        .collect();
    for string in &strings {
        JavaUtfCodec::new().encode(string, &mut wire).unwrap();
    }
    let back = decoded(JavaUtfCodec::new(), wire.chunks(4093));
    let back: Vec<String> = back.into_iter().map(|string| string.unwrap().into()).collect();
    assert!(back == strings);
}

#[test]
fn fallbacks_detectors_and_terminals_accept_all_scalar_values() {
    let latin1 = LegacyEncoding::latin1();
    for fallback in [
        FallbackDecoder::part(latin1),
        FallbackDecoder::line(latin1),
        FallbackDecoder::rest(latin1),
    ] {
        for size in SIZES {
            let (mut decoder, mut text) = (fallback.clone(), String::new());
            for chunk in all().as_bytes().chunks(size) {
                let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
                assert_eq!(progress.status, Status::Done);
            }
            decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
            assert!(text == all(), "in chunks of {size}");
            assert_eq!(decoder.fallback_uses().runs, 0);
        }
    }
    // In order they contain no escape sequence that switches charsets.
    let (mut terminal, mut text) = (TerminalDecoder::new().with_utf8_start(), String::new());
    for chunk in all().as_bytes().chunks(7) {
        terminal.push(chunk).for_each(|piece| text.push_str(piece.unwrap()));
    }
    assert!(text == all() && terminal.finish() == Ok(None));

    // Without control characters the input is certainly UTF-8.
    let mut detector = Detector::new();
    for chunk in all().as_bytes()[0x20..].chunks(7) {
        detector.push(chunk);
    }
    assert_eq!(detector.finish(), StreamKind::Utf8);
}

#[test]
fn every_level_converts_all_scalar_values() {
    let chars: Vec<char> = all().chars().collect();
    let units: Vec<u16> = all().encode_utf16().collect();
    for kernel in Level::available() {
        assert_eq!(kernel.validate(all().as_bytes()).valid_up_to, all().len(), "{kernel:?}");
        assert_eq!(kernel.count_chars(all()), chars.len(), "{kernel:?}");
        let mut out = vec!['\0'; chars.len()];
        assert_eq!(kernel.decode_chars(all(), &mut out), (all().len(), chars.len()), "{kernel:?}");
        assert!(out == chars, "{kernel:?}");
        let mut out = vec![0; units.len()];
        assert_eq!(kernel.decode_utf16(all(), &mut out), (all().len(), units.len()), "{kernel:?}");
        assert!(out == units, "{kernel:?}");
        let mut out = vec![0; all().len()];
        assert_eq!(kernel.encode_chars(&chars, &mut out), (chars.len(), all().len()), "{kernel:?}");
        assert!(out == all().as_bytes(), "{kernel:?}");
    }
}

#[test]
fn scalar_values_are_found_at_their_offset() {
    // The text before it is long enough for splits at every offset of it.
    for c in ['\0', 'é', '€', '\u{FEFF}', '😀', char::MAX] {
        let expected = all().find(c).unwrap() as u64;
        let mut finder = TextFinder::new([&*c.encode_utf8(&mut [0; 4])]).unwrap();
        let mut texts = Utf8Stream::new(chunks(11));
        let mut places = Vec::new();
        while let Some(text) = texts.next().now_or_never().unwrap() {
            places.extend(finder.push(&text.unwrap()));
        }
        assert_eq!(places, [(0, expected)], "{c:?}");
    }
}
