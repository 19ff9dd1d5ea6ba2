//! The codecs of tokio-util: what they have in common, and modules for each.
#![cfg(feature = "codec")]

mod dialects;
mod frames;
mod lines;
#[path = "../support/lists.rs"]
mod lists;
mod ported;
#[path = "../support/mod.rs"]
mod support;
mod text;

use std::borrow::Cow;
use std::fmt::Display;
use std::io;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use futures::{FutureExt, SinkExt, Stream, StreamExt, TryStreamExt, stream};
use proptest::prelude::*;
use support::reference::{Config, Controls, Kind};
use support::subjects::ToAtoms;
use support::{Atom, Expected, MODES, undated_item};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, repeat};
use tokio_test::io::{Builder, Mock};
use tokio_util::codec::{Decoder, Encoder, Framed, FramedParts, FramedRead, FramedWrite};
use utf8_codec::codec::{CharCodec, CodecError, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::lines::{Delimiter, Line, LineDecoder, LineError, LineRef, LongLines};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Encoder, Utf8Error, Utf8Options};

// ---- scripts --------------------------------------------------------------------------------

/// Formats everything that the stream over `reader` yields until two `None`s in a row: items with
/// `show`, errors after a `!`, and `-` for a `None` before the end.
async fn reported<C>(reader: Mock, codec: C, show: impl Fn(C::Item) -> String) -> Vec<String>
where
    C: Decoder,
    C::Error: Display,
{
    let mut frames = pin!(FramedRead::new(reader, codec));
    let mut reported = Vec::new();
    let mut nones = 0;
    while nones < 2 {
        match frames.next().await {
            Some(Ok(item)) => reported.push(show(item)),
            Some(Err(error)) => reported.push(format!("! {error}")),
            None => reported.push("-".to_owned()),
        }
        nones = if reported.last().is_some_and(|last| last == "-") { nones + 1 } else { 0 };
    }
    reported.truncate(reported.len() - 2);
    reported
}

/// A reader that delivers `chunks` one by one, and is pending before each but the first.
fn pausing(chunks: &[&[u8]]) -> Mock {
    let mut script = Builder::new();
    for (i, chunk) in chunks.iter().enumerate() {
        if i > 0 {
            script.wait(Duration::from_secs(1));
        }
        script.read(chunk);
    }
    script.build()
}

fn show_text(text: ByteString) -> String {
    text.to_string()
}

fn show_char(c: char) -> String {
    c.to_string()
}

fn show_chunk(chunk: Result<ByteString, Utf8Error>) -> String {
    match chunk {
        Ok(text) => text.to_string(),
        Err(error) => format!("<{error}>"),
    }
}

fn show_line(line: Result<Line, LineError>) -> String {
    match line {
        Ok(line) => {
            let end = if line.is_terminated() { "" } else { " (unterminated)" };
            format!("{}@{} {:?}{end}", line.number, line.offset, &*line)
        }
        Err(error) => format!("<{error}>"),
    }
}

fn delimiters() -> [Delimiter; 6] {
    [
        Delimiter::lf(),
        Delimiter::any_newline(),
        Delimiter::nul(),
        Delimiter::text("aa").unwrap(),
        Delimiter::text("。").unwrap(),
        Delimiter::text("--->").unwrap(),
    ]
}

const STRIP: Utf8Options = Utf8Options::new().with_bom(BomPolicy::Strip);

const REQUIRE: Utf8Options = Utf8Options::new().with_bom(BomPolicy::Require);

const FORBID: Utf8Options = Utf8Options::new().with_bom(BomPolicy::Forbid);

#[tokio::test(start_paused = true)]
async fn characters_split_between_reads_are_joined() {
    let text = "aß€😀";
    for size in 1..=text.len() {
        let chunks: Vec<_> = text.as_bytes().chunks(size).collect();
        assert_eq!(reported(pausing(&chunks), Utf8Codec::new(), show_text).await.concat(), text);
        assert_eq!(
            reported(pausing(&chunks), Utf8ChunksCodec::new(), show_chunk).await.concat(),
            text
        );
        assert_eq!(
            reported(pausing(&chunks), CharCodec::new(), show_char).await,
            ["a", "ß", "€", "😀"],
        );
        assert_eq!(
            reported(pausing(&chunks), Utf8LinesCodec::new(), show_line).await,
            ["1@0 \"aß€😀\" (unterminated)"],
        );
    }
}

#[tokio::test(start_paused = true)]
async fn in_fatal_mode_text_precedes_the_error_and_the_rest_waits_for_input() {
    let reader = || pausing(&[b"ok\xFFmore", b"!\xED", b"\xA0"]);
    let errors = [
        "! invalid UTF-8 at byte 2: invalid byte (ff)",
        "! invalid UTF-8 at byte 8: encoded surrogate (ed, followed by a0)",
        "! invalid UTF-8 at byte 9: unexpected continuation byte (a0)",
    ];
    assert_eq!(
        reported(reader(), Utf8Codec::new(), show_text).await,
        ["ok", errors[0], "-", "more!", errors[1], "-", errors[2]],
    );
    assert_eq!(
        reported(reader(), CharCodec::new(), show_char).await,
        ["o", "k", errors[0], "-", "m", "o", "r", "e", "!", errors[1], "-", errors[2]],
    );
}

#[tokio::test(start_paused = true)]
async fn lossy_modes_repair_split_and_incomplete_sequences() {
    let table = [
        (ErrorMode::Replacement, "caf\u{FFFD}€\u{FFFD}\u{FFFD}\u{FFFD}.\u{FFFD}"),
        (ErrorMode::Skip, "caf€."),
        (ErrorMode::Escape, r"caf\xe9€\xed\xa0\x80.\xf0\x9f"),
        (ErrorMode::Latin1, "café€í\u{A0}\u{80}.ð\u{9F}"),
        (ErrorMode::Windows1252, "café€í\u{A0}€.ðŸ"),
    ];
    let chunks: &[&[u8]] = &[b"caf\xE9", b"\xE2\x82", b"\xAC\xED", b"\xA0\x80.\xF0", b"\x9F"];
    for (mode, expected) in table {
        let codec = Utf8Codec::new().with_error_mode(mode);
        assert_eq!(
            reported(pausing(chunks), codec, show_text).await.concat(),
            expected,
            "{mode:?}"
        );
        let codec = CharCodec::new().with_error_mode(mode);
        assert_eq!(
            reported(pausing(chunks), codec, show_char).await.concat(),
            expected,
            "{mode:?}"
        );
        let codec = Utf8LinesCodec::new().with_error_mode(mode);
        assert_eq!(
            reported(pausing(chunks), codec, show_line).await,
            [format!("1@0 {expected:?} (unterminated)")],
            "{mode:?}",
        );
    }
}

/// A stream whose reads fail inside a character, twice.
fn failing() -> Mock {
    let failure = || io::Error::new(io::ErrorKind::ConnectionReset, "the cable");
    let mut script = Builder::new();
    script.read(b"1\xE2").read_error(failure()).read(b"\x82").wait(Duration::from_secs(1));
    script.read_error(failure()).read(b"\xAC\n2");
    script.build()
}

#[tokio::test(start_paused = true)]
async fn a_read_error_inside_a_character_loses_no_data() {
    let io = "! the cable";
    assert_eq!(
        reported(failing(), Utf8Codec::new(), show_text).await,
        ["1", io, "-", io, "-", "€\n2"],
    );
    assert_eq!(
        reported(failing(), CharCodec::new(), show_char).await,
        ["1", io, "-", io, "-", "€", "\n", "2"],
    );
    let io = "! the cable";
    assert_eq!(
        reported(failing(), Utf8ChunksCodec::new(), show_chunk).await,
        ["1", io, "-", io, "-", "€\n2"],
    );
    assert_eq!(
        reported(failing(), Utf8LinesCodec::new(), show_line).await,
        [io, "-", io, "-", "1@0 \"1€\"", "2@5 \"2\" (unterminated)"],
    );
}

#[tokio::test]
async fn an_empty_stream_yields_nothing() {
    let empty = || Builder::new().build();
    for options in [Utf8Options::new(), STRIP, FORBID, Utf8Options::new().with_mid_stream_start()] {
        let codec = Utf8Codec::new().with_options(options);
        assert!(reported(empty(), codec, show_text).await.is_empty());
        let codec = CharCodec::new().with_options(options);
        assert!(reported(empty(), codec, show_char).await.is_empty());
        let codec = Utf8ChunksCodec::new().with_options(options);
        assert!(reported(empty(), codec, show_chunk).await.is_empty());
        let codec = Utf8LinesCodec::new().with_options(options);
        assert!(reported(empty(), codec, show_line).await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_character_at_the_end_is_one_error() {
    let reader = || pausing(&[b"x\xF0", b"\x9F", b"\x98"]);
    let reason = "unexpected end inside a character (f0 9f 98)";
    let error = format!("invalid UTF-8 at byte 1: {reason}");
    let fatal = format!("! {error}");
    assert_eq!(reported(reader(), Utf8Codec::new(), show_text).await, ["x", &fatal]);
    assert_eq!(reported(reader(), CharCodec::new(), show_char).await, ["x", &fatal]);
    let item = format!("<{error}>");
    assert_eq!(reported(reader(), Utf8ChunksCodec::new(), show_chunk).await, ["x", &item]);
    let line = format!("<line 1 is not valid UTF-8: {reason} at byte 1 of the stream>");
    assert_eq!(reported(reader(), Utf8LinesCodec::new(), show_line).await, [line]);
}

#[tokio::test]
async fn lossy_codecs_replace_errors() {
    let reader = || Builder::new().read(b"a\xFFb\n").build();
    assert_eq!(reported(reader(), Utf8Codec::lossy(), show_text).await, ["a\u{FFFD}b\n"]);
    let lines = reported(reader(), Utf8LinesCodec::lossy(), show_line).await;
    assert_eq!(lines, ["1@0 \"a\u{FFFD}b\""]);
}

// ---- calls after errors and after the end -----------------------------------------------------

/// Calls `decode` until it returns `None`, and continues after errors.
fn decode_all<C: ToAtoms>(codec: &mut C, buffer: &mut BytesMut) -> Vec<Atom> {
    let mut atoms = Vec::new();
    loop {
        match codec.decode(buffer) {
            Ok(Some(item)) => atoms.extend(C::item(item)),
            Ok(None) => return atoms,
            Err(error) => atoms.push(C::error(error)),
        }
    }
}

fn end_all<C: ToAtoms>(codec: &mut C, buffer: &mut BytesMut) -> Vec<Atom> {
    let mut atoms = Vec::new();
    loop {
        match codec.decode_eof(buffer) {
            Ok(Some(item)) => atoms.extend(C::item(item)),
            Ok(None) => break,
            Err(error) => atoms.push(C::error(error)),
        }
    }
    assert!(buffer.is_empty());
    for _ in 0..3 {
        assert!(matches!(codec.decode_eof(buffer), Ok(None)), "the end is reported once");
    }
    atoms
}

/// `abc` for text, `<Kind@offset>` for errors.
fn spell(atoms: &[Atom]) -> String {
    let spell = |atom: &Atom| match atom {
        Atom::Char(c) => c.to_string(),
        Atom::Error(error) => format!("<{:?}@{}>", error.kind, error.offset),
    };
    atoms.iter().map(spell).collect()
}

fn continues_after_the_end<C: ToAtoms>(mut codec: C, reset: fn(&mut C)) {
    let mut buffer = BytesMut::from(&b"\xEF\xBB\xBFab\xFFcd\xE2\x82"[..]);
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), "ab<InvalidByte@5>cd");
    assert_eq!(buffer, b"\xE2\x82"[..]);
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), "<Incomplete@8>");
    assert!(codec.inner().bom_seen());

    buffer.extend_from_slice(b"\xEF\xBB\xBFx\xFF\xF0");
    let later = spell(&decode_all(&mut codec, &mut buffer));
    assert_eq!(later, "\u{FEFF}x<InvalidByte@14>", "offsets continue; no BOM is expected");
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), "<Incomplete@15>");

    reset(&mut codec);
    assert!(!codec.inner().bom_seen());
    buffer.extend_from_slice(b"\xEF\xBB\xBFx\xFF");
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), "x<InvalidByte@4>");
    assert!(codec.inner().bom_seen());
}

#[test]
fn offsets_continue_after_errors_and_the_end_until_reset() {
    continues_after_the_end(Utf8Codec::new().with_options(STRIP), Utf8Codec::reset);
    continues_after_the_end(Utf8ChunksCodec::new().with_options(STRIP), Utf8ChunksCodec::reset);
    continues_after_the_end(CharCodec::new().with_options(STRIP), CharCodec::reset);
}

fn reports_a_missing_bom_once<C: ToAtoms>(mut codec: C, reset: fn(&mut C)) {
    let mut buffer = BytesMut::new();
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), "<MissingBom@0>");
    buffer.extend_from_slice(b"\xEF\xBB\xBFx");
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), "\u{FEFF}x");
    reset(&mut codec);
    buffer.extend_from_slice(b"\xEF\xBB");
    assert_eq!(decode_all(&mut codec, &mut buffer), []);
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), "<MissingBom@0><Incomplete@0>");
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), "");
}

#[test]
fn a_missing_bom_is_reported_once_per_stream() {
    reports_a_missing_bom_once(Utf8Codec::new().with_options(REQUIRE), Utf8Codec::reset);
    reports_a_missing_bom_once(
        Utf8ChunksCodec::new().with_options(REQUIRE),
        Utf8ChunksCodec::reset,
    );
    reports_a_missing_bom_once(CharCodec::new().with_options(REQUIRE), CharCodec::reset);
}

fn decode_lines(codec: &mut Utf8LinesCodec, buffer: &mut BytesMut) -> Vec<String> {
    std::iter::from_fn(|| codec.decode(buffer).unwrap()).map(show_line).collect()
}

fn end_lines(codec: &mut Utf8LinesCodec, buffer: &mut BytesMut) -> Vec<String> {
    let lines = std::iter::from_fn(|| codec.decode_eof(buffer).unwrap()).map(show_line).collect();
    assert!(buffer.is_empty());
    for _ in 0..3 {
        assert!(codec.decode_eof(buffer).unwrap().is_none(), "the end is reported once");
    }
    lines
}

// ---- into_parts -------------------------------------------------------------------------------

/// Takes the parts of a pending stream, and continues with them.
async fn taken_apart_and_put_together<C>(
    script: &[&[u8]],
    codec: C,
    show: fn(C::Item) -> String,
    held: &[u8],
) -> Vec<String>
where
    C: Decoder,
    C::Error: Display,
{
    let mut frames = FramedRead::new(pausing(script), codec);
    let mut reported = Vec::new();
    while let Some(Some(item)) = frames.next().now_or_never() {
        reported.push(show(item.ok().unwrap()));
    }
    let parts = frames.into_parts();
    assert_eq!(parts.read_buf, held);
    let mut again = FramedParts::new::<()>(parts.io, Mute(parts.codec));
    again.read_buf = parts.read_buf;
    let mut frames = pin!(Framed::from_parts(again));
    while let Some(item) = frames.next().await {
        reported.push(show(item.ok().unwrap()));
    }
    reported
}

/// A decoder with an encoder that encodes nothing.
struct Mute<C>(C);

impl<C: Decoder> Decoder for Mute<C> {
    type Item = C::Item;
    type Error = C::Error;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<C::Item>, C::Error> {
        self.0.decode(src)
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<C::Item>, C::Error> {
        self.0.decode_eof(src)
    }
}

impl<C> Encoder<()> for Mute<C> {
    type Error = io::Error;

    fn encode(&mut self, (): (), _: &mut BytesMut) -> Result<(), io::Error> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn into_parts_inside_a_character_loses_no_data() {
    let script: &[&[u8]] = &[b"one \xF0\x9F\x98", b"\x80 two"];
    let held = &b"\xF0\x9F\x98"[..];
    let reported = taken_apart_and_put_together(script, Utf8Codec::new(), show_text, held).await;
    assert_eq!(reported, ["one ", "😀 two"]);
    let reported =
        taken_apart_and_put_together(script, Utf8ChunksCodec::new(), show_chunk, held).await;
    assert_eq!(reported, ["one ", "😀 two"]);
    let reported = taken_apart_and_put_together(script, CharCodec::new(), show_char, held).await;
    assert_eq!(reported.concat(), "one 😀 two");
    for (_, mode) in MODES.into_iter().skip(1) {
        let codec = Utf8Codec::new().with_error_mode(mode);
        let reported = taken_apart_and_put_together(script, codec, show_text, held).await;
        assert_eq!(reported, ["one ", "😀 two"], "{mode:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn into_parts_inside_a_bom_loses_no_data() {
    let script: &[&[u8]] = &[b"\xEF\xBB", b"\xBFtext\n"];
    let held = &b"\xEF\xBB"[..];
    for options in [STRIP, REQUIRE] {
        let codec = Utf8Codec::new().with_options(options);
        assert_eq!(taken_apart_and_put_together(script, codec, show_text, held).await, ["text\n"]);
        let codec = Utf8LinesCodec::new().with_options(options);
        let reported = taken_apart_and_put_together(script, codec, show_line, held).await;
        assert_eq!(reported, ["1@3 \"text\""]);
    }
}

#[tokio::test(start_paused = true)]
async fn another_codec_can_continue_after_a_line() {
    let mut lines =
        FramedRead::new(pausing(&[b"HEAD\r\n\r\nbo\xC3", b"\xB6dy"]), Utf8LinesCodec::new());
    while let Some(line) = lines.next().await {
        if line.unwrap().unwrap().is_empty() {
            break;
        }
    }
    let body: Vec<_> = lines.map_decoder(|_| Utf8Codec::new()).try_collect().await.unwrap();
    assert_eq!(body, ["bo", "ödy"]);
}

#[test]
fn no_object_repairs_to_a_rejected_character() {
    let config = Config { controls: Controls::Rejected, ..support::PLAIN };
    let bytes: Vec<u8> = (0x80..=0xFF).chain(*b"\x9D31m").collect();
    let expected = Expected::new(&bytes, config);
    for (model, mode) in [MODES[4], MODES[5]] {
        let text = expected.text(model, &expected.ended);
        let repaired = expected.repaired(model);
        assert!(text.ends_with("ÿ\u{FFFD}31m") && !text.contains(char::is_control), "{text}");
        for cuts in [vec![], (1..bytes.len()).collect()] {
            for (name, subject) in support::subjects(config, mode) {
                support::check_repaired(name, subject, &bytes, &cuts, &repaired);
            }
        }
        let codec = Utf8LinesCodec::new().with_error_mode(mode);
        let mut codec = codec.with_options(Utf8Options::new().reject_controls());
        let line = codec.decode_eof(&mut BytesMut::from(&bytes[..])).unwrap().unwrap().unwrap();
        assert_eq!(*line, *text);
    }
}

/// What follows a line that CR LF ends, however the bytes arrive, whatever reads it.
#[tokio::test(start_paused = true)]
async fn another_codec_continues_after_the_lf_of_a_crlf() {
    let any_newline = Utf8LinesCodec::new().with_delimiter(Delimiter::any_newline());
    let latin1 = LegacyEncoding::latin1();
    for fallback in [None, Some(FallbackDecoder::rest(latin1)), Some(FallbackDecoder::line(latin1))]
    {
        for input in
            ["a\r\nbody", "a\rbody", "a\nbody", "a\r\n\nbody", "a\r\r\nbody", "a\r\n", "a\r"]
        {
            let bytes: Vec<u8> = input
                .chars()
                .map(|c| if c == 'a' && fallback.is_some() { 0xE9 } else { c as u8 })
                .collect();
            let line_len = if input.starts_with("a\r\n") { 3 } else { 2 };
            let expected = &input[line_len..];
            for size in 1..=bytes.len() {
                let codec = match &fallback {
                    Some(fallback) => any_newline.clone().with_fallback(fallback.clone()),
                    None => any_newline.clone(),
                };
                let mut lines =
                    FramedRead::new(pausing(&bytes.chunks(size).collect::<Vec<_>>()), codec);
                lines.next().await.unwrap().unwrap().unwrap();
                let texts = lines.map_decoder(Utf8Codec::from);
                let text: Vec<_> = texts.try_collect().await.unwrap();
                assert_eq!(text.concat(), expected, "{input:?} {size} {fallback:?}");
            }
        }
    }
    for size in 1..=7 {
        let lines = || {
            let chunks: Vec<_> = b"a\r\nbody".chunks(size).collect();
            FramedRead::new(pausing(&chunks), any_newline.clone())
        };
        let mut read = lines();
        read.next().await.unwrap().unwrap().unwrap();
        let chars: String = read.map_decoder(CharCodec::from).try_collect().await.unwrap();
        let mut read = lines();
        read.next().await.unwrap().unwrap().unwrap();
        let chunks: Vec<_> = read.map_decoder(Utf8ChunksCodec::from).try_collect().await.unwrap();
        let chunks: String = chunks.into_iter().map(|chunk| chunk.unwrap().to_string()).collect();
        assert_eq!((&*chars, &*chunks), ("body", "body"), "{size}");
    }
}

#[test]
fn a_codec_after_lines_continues_their_stream() {
    let options = Utf8Options::new().reject_nul();
    let lines = Utf8LinesCodec::new().with_options(options).with_error_mode(ErrorMode::Escape);
    let mut lines = lines.with_encoder(Utf8Encoder::new().with_bom());
    let mut buffer = BytesMut::from(&b"\xFF\n\xFE\0 not yet a line"[..]);
    assert_eq!(decode_lines(&mut lines, &mut buffer), [r#"1@0 "\\xff""#]);
    lines.encode("one", &mut BytesMut::new()).unwrap();
    let mut codec = Utf8Codec::from(lines);
    assert_eq!((codec.decoder().position(), codec.decoder().error_count()), (2, 1));
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap(), r"\xfe\x00 not yet a line");
    assert_eq!((codec.decoder().error_count(), encoded(&mut codec, "two")), (3, "two".into()));
}

// ---- no copies --------------------------------------------------------------------------------

/// A read buffer as in `FramedRead`, with spare capacity, and the address of its first byte.
fn read_buffer(bytes: &[u8]) -> (BytesMut, usize) {
    let mut buffer = BytesMut::with_capacity(1024);
    buffer.extend_from_slice(bytes);
    let start = buffer.as_ptr() as usize;
    (buffer, start)
}

fn place(text: &str) -> usize {
    text.as_ptr() as usize
}

#[test]
fn text_around_reported_errors_is_not_copied() {
    let (mut buffer, start) = read_buffer(b"ab\xFFcd\xE2\x82ef");
    let mut codec = Utf8ChunksCodec::new();
    let mut places = Vec::new();
    while let Some(chunk) = codec.decode(&mut buffer).unwrap() {
        if let Ok(text) = chunk {
            places.push((place(&text) - start, text));
        }
    }
    assert_eq!(places, [(0, "ab".into()), (3, "cd".into()), (7, "ef".into())]);

    let (mut buffer, start) = read_buffer(b"ab\xFFcd");
    let mut codec = Utf8Codec::new();
    assert_eq!(place(&codec.decode(&mut buffer).unwrap().unwrap()), start);
    codec.decode(&mut buffer).unwrap_err();
    assert_eq!(place(&codec.decode(&mut buffer).unwrap().unwrap()), start + 3);
}

#[test]
fn owned_pieces_share_the_chunk_except_split_characters() {
    let mut decoder = Utf8Decoder::new();
    let chunk = Bytes::from(b"ab\xFFcd\xE2\x82".to_vec());
    let start = chunk.as_ptr() as usize;
    let pieces: Vec<_> = decoder.push_bytes(chunk.clone()).collect();
    assert_eq!(place(pieces[0].as_ref().unwrap()), start);
    assert_eq!(place(pieces[2].as_ref().unwrap()), start + 3);

    let chunk = Bytes::from(b"\xACxyz".to_vec());
    let start = chunk.as_ptr() as usize;
    let pieces: Vec<_> = decoder.push_bytes(chunk.clone()).map(Result::unwrap).collect();
    assert_eq!(pieces, ["€", "xyz"]);
    assert_eq!(place(&pieces[1]), start + 1);
    assert!(!(start..start + chunk.len()).contains(&place(&pieces[0])));
}

#[test]
fn stripping_a_bom_does_not_copy() {
    let (mut buffer, start) = read_buffer("\u{FEFF}text\n".as_bytes());
    let text = Utf8Codec::new().with_options(STRIP).decode(&mut buffer).unwrap().unwrap();
    assert_eq!(place(&text), start + 3);
    let (mut buffer, start) = read_buffer("\u{FEFF}text\n".as_bytes());
    let line = Utf8LinesCodec::new().with_options(STRIP).decode(&mut buffer).unwrap();
    assert_eq!(place(&line.unwrap().unwrap()), start + 3);
}

// ---- random bytes -------------------------------------------------------------------------------

/// Bytes that are likely to interact: pieces of sequences and of delimiters.
fn hostile_bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(PIECES).prop_map(<[u8]>::to_vec),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        1 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
    ];
    prop::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
}

const PIECES: &[&[u8]] = &[
    b"a",
    b"-",
    b">",
    b"\n",
    b"\r",
    b"\0",
    b"\x1B",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"\xBB",
    b"\x80",
    b"\xC3",
    b"\xC3\xA9",
    b"\xC0",
    b"\xE2\x82",
    b"\xE2\x82\xAC",
    b"\xE3\x80\x82",
    b"\xE3\x80",
    b"\xED\xA0\x80",
    b"\xEF\xBC\x8C",
    b"\xEF\xBF\xBF",
    b"\xF0\x9F\x98",
    b"\xF0\x9F\x98\x80",
    b"\xF4\x90",
    b"\xF5",
    b"\xFE",
    b"\xFF",
];

fn pieces_of<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.sort_unstable();
    support::chunks(bytes.len(), &at).map(|(from, to)| &bytes[from..to]).collect()
}

fn any_cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..8)
}

// ---- encoders -----------------------------------------------------------------------------------

fn encoded<T, C: Encoder<T>>(codec: &mut C, item: T) -> BytesMut {
    let mut buffer = BytesMut::new();
    codec.encode(item, &mut buffer).ok().unwrap();
    buffer
}

#[test]
fn the_bom_is_written_by_the_first_call_and_again_after_reset() {
    let bom = || Utf8Encoder::new().with_bom();
    let mut codec = Utf8Codec::new().with_encoder(bom());
    for _ in 0..2 {
        assert_eq!(encoded(&mut codec, ""), b"\xEF\xBB\xBF"[..]);
        assert_eq!(encoded(&mut codec, ""), b""[..]);
        assert_eq!(encoded(&mut codec, "x"), b"x"[..]);
        codec.reset();
    }
    let mut codec = Utf8LinesCodec::new().with_encoder(bom());
    for _ in 0..2 {
        assert_eq!(encoded(&mut codec, ""), b"\xEF\xBB\xBF\n"[..]);
        assert_eq!(encoded(&mut codec, ""), b"\n"[..]);
        codec.reset();
    }
    let mut codec = CharCodec::new().with_encoder(bom());
    for _ in 0..2 {
        assert_eq!(encoded(&mut codec, &[][..]), b"\xEF\xBB\xBF"[..]);
        assert_eq!(encoded(&mut codec, 'ß'), "ß".as_bytes());
        assert_eq!(encoded(&mut codec, &['ß', '€', '😀'][..]), "ß€😀".as_bytes());
        codec.reset();
    }
}

#[tokio::test]
async fn text_is_forwarded_from_one_framed_to_another() {
    let input = "uno\ndöş\n";
    let reader = FramedRead::new(input.as_bytes(), Utf8Codec::new());
    let mut written = Vec::new();
    let writer = FramedWrite::new(&mut written, Utf8Codec::new());
    reader.forward(writer).await.unwrap();
    assert_eq!(written, input.as_bytes());

    let (mut peer, socket) = duplex(1024);
    let framed = Framed::new(socket, Utf8LinesCodec::new());
    stream::iter(["a", "b"]).map(Ok).forward(framed).await.unwrap();
    let mut text = String::new();
    peer.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "a\nb\n", "forward closes");
}

// ---- limits -------------------------------------------------------------------------------------

#[tokio::test]
async fn the_read_buffer_never_grows_without_lines() {
    for (_, mode) in MODES.into_iter().skip(1) {
        for byte in [b'a', 0x80, 0xF0, 0xFF] {
            let codec = Utf8Codec::new().with_error_mode(mode);
            let mut texts = FramedRead::new(repeat(byte).take(1 << 18), codec);
            while let Some(text) = texts.next().await {
                drop(text.unwrap());
                let capacity = texts.read_buffer().capacity();
                assert!(capacity <= 16 * 1024, "{mode:?}, {byte:02x}: {capacity}");
            }
        }
    }
    let mut chunks = FramedRead::new(repeat(0xF0).take(1 << 16), Utf8ChunksCodec::new());
    while let Some(chunk) = chunks.next().await {
        assert_eq!(chunk.unwrap().unwrap_err().bytes(), b"\xF0");
        assert!(chunks.read_buffer().capacity() <= 16 * 1024);
    }
}

// ---- callers that change the buffer ---------------------------------------------------------------

/// Small random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).flat_map(|_| self.of(PIECES).iter().copied()).collect()
    }
}

/// Changes `buffer` as no caller should.
fn meddle(random: &mut Random, buffer: &mut BytesMut) {
    match random.below(8) {
        0 | 1 => buffer.extend_from_slice(&random.bytes(8)),
        2 => buffer.truncate(random.below(buffer.len() + 1)),
        3 => buffer.clear(),
        4 => *buffer = BytesMut::from(&random.bytes(12)[..]),
        5 => drop(buffer.split_to(random.below(buffer.len() + 1))),
        6 => buffer.reverse(),
        _ if buffer.is_empty() => {}
        _ => {
            let at = random.below(buffer.len());
            buffer[at] = random.below(256) as u8;
        }
    }
}

fn any_strict_options(random: &mut Random) -> Utf8Options {
    let reject: [fn(Utf8Options) -> Utf8Options; 4] = [
        |options| options,
        |options| options,
        |options| options.reject_nul().reject_controls().reject_noncharacters(),
        Utf8Options::only_mqtt_characters,
    ];
    let reject = random.of(&reject);
    reject(random.of(&starts()))
}

fn starts() -> [Utf8Options; 5] {
    [Utf8Options::new(), STRIP, REQUIRE, FORBID, Utf8Options::new().with_mid_stream_start()]
}

#[test]
fn changing_the_buffer_of_other_codecs_never_panics_or_yields_invalid_text() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    for _ in 0..100_000 {
        let (options, (_, mode)) = (any_strict_options(&mut random), random.of(&MODES));
        let mut texts = Utf8Codec::new().with_options(options).with_error_mode(mode);
        let mut chunks = Utf8ChunksCodec::new().with_options(options);
        let mut chars = CharCodec::new().with_options(options).with_error_mode(mode);
        let mut buffers = [BytesMut::new(), BytesMut::new(), BytesMut::new()];
        for _ in 0..random.below(8) {
            for buffer in &mut buffers {
                meddle(&mut random, buffer);
            }
            let [first, second, third] = &mut buffers;
            let ends = random.below(8) == 0;
            let text = if ends { texts.decode_eof(first) } else { texts.decode(first) };
            if let Ok(Some(text)) = text {
                assert!(!text.is_empty() && str::from_utf8(text.as_bytes()).is_ok());
            }
            let chunk = if ends { chunks.decode_eof(second) } else { chunks.decode(second) };
            if let Ok(Some(Ok(text))) = chunk {
                assert!(!text.is_empty() && str::from_utf8(text.as_bytes()).is_ok());
            }
            let _any = if ends { chars.decode_eof(third) } else { chars.decode(third) };
        }
    }
}

// ---- other cases ----------------------------------------------------------------------------------

#[test]
fn rejected_characters_are_counted_apart_from_ill_formed_bytes() {
    let input =
        "\u{FEFF}a\0b\u{9B}".bytes().chain(*b"\xC2\0\xFF\n\x7F\xE2\x82").collect::<Vec<_>>();
    let options = Utf8Options::new().with_bom(BomPolicy::Forbid).only_displayable_characters();
    for (_, mode) in MODES.into_iter().skip(1) {
        for first in 0..=input.len() {
            for second in first..=input.len() {
                let mut texts = Utf8Codec::new().with_options(options).with_error_mode(mode);
                let mut lines = Utf8LinesCodec::new().with_options(options).with_error_mode(mode);
                let (mut decoder, mut buffer) =
                    (Utf8Decoder::new().with_options(options), BytesMut::new());
                let (mut text, mut of_lines) = (String::new(), 0);
                for chunk in [&input[..first], b"", &input[first..second], &input[second..]] {
                    let _done = decoder.push_to_string(chunk, mode, &mut text);
                    buffer.extend_from_slice(chunk);
                    while texts.decode(&mut buffer).unwrap().is_some() {}
                }
                while texts.decode_eof(&mut buffer).unwrap().is_some() {}
                let mut buffer = BytesMut::from(&input[..]);
                while let Some(line) = lines.decode_eof(&mut buffer).unwrap() {
                    of_lines += line.unwrap().error_count;
                }
                decoder.finish_to_string(mode, &mut text).unwrap();
                // Ill-formed: C2, FF, and the character that the end cuts.
                for decoder in [&decoder, texts.decoder(), lines.decoder()] {
                    let counts = (decoder.error_count(), decoder.rejected_count());
                    assert_eq!(counts, (8, 5), "{mode:?} {first} {second}");
                }
                assert_eq!(of_lines, 8);
            }
        }
    }
}

#[test]
fn first_error_and_error_count_cover_the_whole_stream() {
    let input = b"a\xFFb\nc\xC0\xAF\nd\xE2\x82";
    let first = |error: Option<Utf8Error>| error.map(|error| error.valid_up_to());
    for (_, mode) in MODES.into_iter().skip(1) {
        for size in 1..=input.len() {
            let mut texts = Utf8Codec::new().with_error_mode(mode);
            let mut chars = CharCodec::new().with_error_mode(mode);
            let mut lines = Utf8LinesCodec::new().with_error_mode(mode);
            let mut buffers = [BytesMut::new(), BytesMut::new(), BytesMut::new()];
            for chunk in input.chunks(size) {
                buffers.iter_mut().for_each(|buffer| buffer.extend_from_slice(chunk));
                decode_all(&mut texts, &mut buffers[0]);
                decode_all(&mut chars, &mut buffers[1]);
                decode_lines(&mut lines, &mut buffers[2]);
            }
            end_all(&mut texts, &mut buffers[0]);
            end_all(&mut chars, &mut buffers[1]);
            end_lines(&mut lines, &mut buffers[2]);
            assert_eq!(
                (texts.decoder().error_count(), first(texts.decoder().first_error())),
                (4, Some(1))
            );
            assert_eq!(
                (chars.decoder().error_count(), first(chars.decoder().first_error())),
                (4, Some(1))
            );
            assert_eq!(
                (lines.decoder().error_count(), first(lines.decoder().first_error())),
                (4, Some(1)),
                "{size}"
            );
        }
    }
}
