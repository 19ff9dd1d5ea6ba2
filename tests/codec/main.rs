//! The codecs under tokio-util: scripts of reads, pauses, read errors and ends of the stream; calls
//! after errors and after the end; buffers that are taken away; encoders; limits.
#![cfg(feature = "codec")]

#[path = "../support/mod.rs"]
mod support;

use std::borrow::Cow;
use std::error::Error;
use std::io;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use futures::{FutureExt, SinkExt, Stream, StreamExt, TryStreamExt, stream};
use proptest::prelude::*;
use support::reference::Kind;
use support::subjects::Tell;
use support::{Atom, MODES, undated_item};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, repeat};
use tokio_test::io::{Builder, Mock};
use tokio_util::codec::{Decoder, Encoder, Framed, FramedParts, FramedRead, FramedWrite};
use utf8_codec::codec::{CharCodec, CodecError, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};
use utf8_codec::lines::{Delimiter, Line, LineEnd, LineError, LineErrorKind};
use utf8_codec::{
    BomPolicy, ErrorMode, Strictness, Utf8Decoder, Utf8Encoder, Utf8Error, Utf8Options,
};

// ---- scripts --------------------------------------------------------------------------------

/// What the stream over `reader` yields until it yields `None` twice in a row: items as `show`
/// tells them, errors behind a `!` with their sources, and `-` for a `None` that was not the end.
async fn told<C>(reader: Mock, codec: C, show: impl Fn(C::Item) -> String) -> Vec<String>
where
    C: Decoder,
    C::Error: Error + 'static,
{
    let mut frames = pin!(FramedRead::new(reader, codec));
    let mut told = Vec::new();
    let mut nones = 0;
    while nones < 2 {
        match frames.next().await {
            Some(Ok(item)) => told.push(show(item)),
            Some(Err(error)) => told.push(format!("! {}", with_sources(&error))),
            None => told.push("-".to_owned()),
        }
        nones = if told.last().is_some_and(|last| last == "-") { nones + 1 } else { 0 };
    }
    told.truncate(told.len() - 2);
    told
}

fn with_sources(error: &(dyn Error + 'static)) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", with_sources(source)),
        None => error.to_string(),
    }
}

/// A reader that delivers `chunks` one by one, pausing before each but the first.
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
            let end = if line.end == LineEnd::Delimiter { "" } else { " (unterminated)" };
            format!("{}@{} {:?}{end}", line.number, line.offset, &*line)
        }
        Err(error) => format!("<{}>", with_sources(&error)),
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
async fn characters_cut_by_pauses_come_out_whole() {
    let text = "aß€😀";
    for size in 1..=text.len() {
        let chunks: Vec<_> = text.as_bytes().chunks(size).collect();
        assert_eq!(told(pausing(&chunks), Utf8Codec::new(), show_text).await.concat(), text);
        assert_eq!(told(pausing(&chunks), Utf8ChunksCodec::new(), show_chunk).await.concat(), text);
        assert_eq!(
            told(pausing(&chunks), CharCodec::new(), show_char).await,
            ["a", "ß", "€", "😀"],
        );
        assert_eq!(
            told(pausing(&chunks), Utf8LinesCodec::new(), show_line).await,
            ["1@0 \"aß€😀\" (unterminated)"],
        );
    }
}

#[tokio::test(start_paused = true)]
async fn in_fatal_mode_text_comes_before_the_error_and_the_rest_waits_for_more_input() {
    let reader = || pausing(&[b"ok\xFFmore", b"!\xED", b"\xA0"]);
    let errors = [
        "! the input is invalid: ill-formed utf-8 at byte 2: invalid byte (ff)",
        "! the input is invalid: ill-formed utf-8 at byte 8: surrogate (ed, then a0)",
        "! the input is invalid: ill-formed utf-8 at byte 9: unexpected continuation byte (a0)",
    ];
    assert_eq!(
        told(reader(), Utf8Codec::new(), show_text).await,
        ["ok", errors[0], "-", "more!", errors[1], "-", errors[2]],
    );
    assert_eq!(
        told(reader(), CharCodec::new(), show_char).await,
        ["o", "k", errors[0], "-", "m", "o", "r", "e", "!", errors[1], "-", errors[2]],
    );
}

#[tokio::test(start_paused = true)]
async fn lossy_modes_repair_what_is_cut_and_what_is_unfinished() {
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
        assert_eq!(told(pausing(chunks), codec, show_text).await.concat(), expected, "{mode:?}");
        let codec = CharCodec::new().with_error_mode(mode);
        assert_eq!(told(pausing(chunks), codec, show_char).await.concat(), expected, "{mode:?}");
        let codec = Utf8LinesCodec::new().with_error_mode(mode);
        assert_eq!(
            told(pausing(chunks), codec, show_line).await,
            [format!("1@0 {expected:?} (unterminated)")],
            "{mode:?}",
        );
    }
}

#[tokio::test(start_paused = true)]
async fn chunks_go_on_behind_each_error_without_a_gap() {
    let reader = pausing(&[b"ok\xFFmore\xE2", b"\x82", b"\xF0\x90"]);
    assert_eq!(
        told(reader, Utf8ChunksCodec::new(), show_chunk).await,
        [
            "ok",
            "<ill-formed utf-8 at byte 2: invalid byte (ff)>",
            "more",
            "<ill-formed utf-8 at byte 7: truncated (e2 82, then f0)>",
            "<ill-formed utf-8 at byte 9: incomplete (f0 90, then the end)>",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn lines_come_by_every_delimiter_however_they_are_cut() {
    let table = [
        (Delimiter::lf(), "one\r\ntwo\rtwo\n\n\r\rö", [0, 5, 13, 14]),
        (Delimiter::any_newline(), "one\r\ntwo\rtwo\n\n", [0, 5, 9, 13]),
        (Delimiter::nul(), "one\0two\n\r\0\0ö\r", [0, 4, 10, 11]),
        (Delimiter::text("aa").unwrap(), "oneaatwoabaaaaö", [0, 5, 12, 14]),
        (Delimiter::text("。").unwrap(), "one。two\u{3001}。。ö", [0, 6, 15, 18]),
        (Delimiter::text("--->").unwrap(), "one--->t-->--->--->ö--", [0, 7, 15, 19]),
    ];
    let texts = [
        ["one", "two\rtwo", "", "\r\rö"],
        ["one", "two", "two", ""],
        ["one", "two\n\r", "", "ö\r"],
        ["one", "twoab", "", "ö"],
        ["one", "two\u{3001}", "", "ö"],
        ["one", "t-->", "", "ö--"],
    ];
    for ((delimiter, input, offsets), texts) in table.into_iter().zip(texts) {
        let last_is_open = delimiter != Delimiter::any_newline();
        let expected: Vec<_> = (0..4)
            .map(|i| {
                let end = if i == 3 && last_is_open { " (unterminated)" } else { "" };
                format!("{}@{} {:?}{end}", i + 1, offsets[i], texts[i])
            })
            .collect();
        for size in 1..=input.len() {
            let chunks: Vec<_> = input.as_bytes().chunks(size).collect();
            let codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone());
            assert_eq!(
                told(pausing(&chunks), codec, show_line).await,
                expected,
                "{delimiter:?} by {size}",
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_lf_of_a_crlf_that_comes_after_a_pause_belongs_to_the_line_before() {
    let codec = Utf8LinesCodec::new().with_delimiter(Delimiter::any_newline());
    let mut lines = FramedRead::new(pausing(&[b"a\r", b"\nb\r", b"\r\n", b"\n"]), codec);
    let first = lines.next().now_or_never().flatten().unwrap().unwrap().unwrap();
    assert_eq!(first.text, "a", "a line that a CR ends does not wait for an LF");
    let rest: Vec<_> = lines.map_ok(show_line).try_collect().await.unwrap();
    assert_eq!(rest, ["2@3 \"b\"", "3@5 \"\"", "4@7 \"\""]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_line_neither_loses_nor_delays_the_next() {
    let reader = pausing(&[b"go", b"od\nb\xFFd\xC0", b"\xFF\nnext\nlast \xE2\x82"]);
    assert_eq!(
        told(reader, Utf8LinesCodec::new(), show_line).await,
        [
            "1@0 \"good\"",
            "<line 2, from byte 5 on, is not acceptable utf-8: ill-formed utf-8 at byte 6: invalid byte (ff)>",
            "3@11 \"next\"",
            "<line 4, from byte 16 on, is not acceptable utf-8: \
             ill-formed utf-8 at byte 21: incomplete (e2 82, then the end)>",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_line_error_is_told_before_the_rest_of_the_line_arrives() {
    let mut script = Builder::new();
    script.read(b"b\xFF").wait(Duration::from_secs(3600)).read(b"d\n");
    let mut lines = FramedRead::new(script.build(), Utf8LinesCodec::new());
    let first = lines.next().now_or_never().flatten().unwrap().unwrap();
    assert_eq!(first.unwrap_err().number, 1);
    assert!(lines.next().await.is_none());
}

/// A stream in which reading fails in the middle of a character, twice.
fn failing() -> Mock {
    let failure = || io::Error::new(io::ErrorKind::ConnectionReset, "the cable");
    let mut script = Builder::new();
    script.read(b"1\xE2").read_error(failure()).read(b"\x82").wait(Duration::from_secs(1));
    script.read_error(failure()).read(b"\xAC\n2");
    script.build()
}

#[tokio::test(start_paused = true)]
async fn a_read_error_in_the_middle_of_a_character_loses_nothing() {
    let io = "! input or output failed: the cable";
    assert_eq!(told(failing(), Utf8Codec::new(), show_text).await, ["1", io, "-", io, "-", "€\n2"],);
    assert_eq!(
        told(failing(), CharCodec::new(), show_char).await,
        ["1", io, "-", io, "-", "€", "\n", "2"],
    );
    let io = "! the cable";
    assert_eq!(
        told(failing(), Utf8ChunksCodec::new(), show_chunk).await,
        ["1", io, "-", io, "-", "€\n2"],
    );
    assert_eq!(
        told(failing(), Utf8LinesCodec::new(), show_line).await,
        [io, "-", io, "-", "1@0 \"1€\"", "2@5 \"2\" (unterminated)"],
    );
}

#[tokio::test]
async fn an_empty_stream_gives_nothing() {
    let empty = || Builder::new().build();
    for options in [Utf8Options::new(), STRIP, FORBID, Utf8Options::new().with_mid_stream_start()] {
        let codec = Utf8Codec::new().with_options(options);
        assert!(told(empty(), codec, show_text).await.is_empty());
        let codec = CharCodec::new().with_options(options);
        assert!(told(empty(), codec, show_char).await.is_empty());
        let codec = Utf8ChunksCodec::new().with_options(options);
        assert!(told(empty(), codec, show_chunk).await.is_empty());
        let codec = Utf8LinesCodec::new().with_options(options);
        assert!(told(empty(), codec, show_line).await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_character_at_the_end_is_one_error() {
    let reader = || pausing(&[b"x\xF0", b"\x9F", b"\x98"]);
    let error = "ill-formed utf-8 at byte 1: incomplete (f0 9f 98, then the end)";
    let fatal = format!("! the input is invalid: {error}");
    assert_eq!(told(reader(), Utf8Codec::new(), show_text).await, ["x", &fatal]);
    assert_eq!(told(reader(), CharCodec::new(), show_char).await, ["x", &fatal]);
    let item = format!("<{error}>");
    assert_eq!(told(reader(), Utf8ChunksCodec::new(), show_chunk).await, ["x", &item]);
    let line = format!("<line 1, from byte 0 on, is not acceptable utf-8: {error}>");
    assert_eq!(told(reader(), Utf8LinesCodec::new(), show_line).await, [line]);
}

// ---- calls after errors and after the end -----------------------------------------------------

/// Calls `decode` until it has nothing to say, going on after errors.
fn decode_all<C: Tell>(codec: &mut C, buffer: &mut BytesMut) -> Vec<Atom> {
    let mut atoms = Vec::new();
    loop {
        match codec.decode(buffer) {
            Ok(Some(item)) => atoms.extend(C::item(item)),
            Ok(None) => return atoms,
            Err(error) => atoms.push(C::error(error)),
        }
    }
}

fn end_all<C: Tell>(codec: &mut C, buffer: &mut BytesMut) -> Vec<Atom> {
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
        assert!(matches!(codec.decode_eof(buffer), Ok(None)), "the end is told once");
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

fn goes_on_after_the_end<C: Tell>(mut codec: C, reset: fn(&mut C)) {
    let mut buffer = BytesMut::from(&b"\xEF\xBB\xBFab\xFFcd\xE2\x82"[..]);
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), "ab<InvalidByte@5>cd");
    assert_eq!(buffer, b"\xE2\x82"[..]);
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), "<Incomplete@8>");
    assert!(codec.inner().bom_seen());

    buffer.extend_from_slice(b"\xEF\xBB\xBFx\xFF\xF0");
    let later = spell(&decode_all(&mut codec, &mut buffer));
    assert_eq!(later, "\u{FEFF}x<InvalidByte@14>", "offsets go on; no signature is looked for");
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), "<Incomplete@15>");

    reset(&mut codec);
    assert!(!codec.inner().bom_seen());
    buffer.extend_from_slice(b"\xEF\xBB\xBFx\xFF");
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), "x<InvalidByte@4>");
    assert!(codec.inner().bom_seen());
}

#[test]
fn after_errors_and_after_the_end_codecs_go_on_until_reset() {
    goes_on_after_the_end(Utf8Codec::new().with_options(STRIP), Utf8Codec::reset);
    goes_on_after_the_end(Utf8ChunksCodec::new().with_options(STRIP), Utf8ChunksCodec::reset);
    goes_on_after_the_end(CharCodec::new().with_options(STRIP), CharCodec::reset);
}

fn asks_for_the_signature_once<C: Tell>(mut codec: C, reset: fn(&mut C)) {
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
fn a_missing_signature_is_told_once_a_stream() {
    asks_for_the_signature_once(Utf8Codec::new().with_options(REQUIRE), Utf8Codec::reset);
    asks_for_the_signature_once(
        Utf8ChunksCodec::new().with_options(REQUIRE),
        Utf8ChunksCodec::reset,
    );
    asks_for_the_signature_once(CharCodec::new().with_options(REQUIRE), CharCodec::reset);
}

fn decode_lines(codec: &mut Utf8LinesCodec, buffer: &mut BytesMut) -> Vec<String> {
    std::iter::from_fn(|| codec.decode(buffer).unwrap()).map(show_line).collect()
}

fn end_lines(codec: &mut Utf8LinesCodec, buffer: &mut BytesMut) -> Vec<String> {
    let lines = std::iter::from_fn(|| codec.decode_eof(buffer).unwrap()).map(show_line).collect();
    assert!(buffer.is_empty());
    for _ in 0..3 {
        assert!(codec.decode_eof(buffer).unwrap().is_none(), "the end is told once");
    }
    lines
}

#[test]
fn after_the_end_lines_go_on_counting_until_reset() {
    for delimiter in [Delimiter::lf(), Delimiter::any_newline()] {
        let mut codec = Utf8LinesCodec::new().with_options(STRIP).with_delimiter(delimiter);
        let mut buffer = BytesMut::from("\u{FEFF}a\nb");
        assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@3 \"a\""]);
        assert_eq!(end_lines(&mut codec, &mut buffer), ["2@5 \"b\" (unterminated)"]);

        buffer.extend_from_slice("\u{FEFF}c\nd\u{FF}\n".as_bytes());
        assert_eq!(decode_lines(&mut codec, &mut buffer), ["3@6 \"\\u{feff}c\"", "4@11 \"dÿ\""],);
        assert_eq!(end_lines(&mut codec, &mut buffer), [""; 0]);

        buffer.extend_from_slice(b"refused\xFF and never ended");
        let told = decode_lines(&mut codec, &mut buffer);
        assert!(
            told[0].starts_with("<line 5, from byte 15 on, is not acceptable utf-8"),
            "{told:?}"
        );
        assert_eq!(end_lines(&mut codec, &mut buffer), [""; 0]);
        buffer.extend_from_slice(b"six\n");
        assert_eq!(decode_lines(&mut codec, &mut buffer), ["6@39 \"six\""]);

        codec.reset();
        buffer.extend_from_slice("\u{FEFF}a\n".as_bytes());
        assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@3 \"a\""]);
    }
}

#[test]
fn reset_in_the_middle_of_a_refused_line_starts_at_line_one() {
    let mut codec = Utf8LinesCodec::new().with_max_length(3);
    let mut buffer = BytesMut::from("far too long");
    assert!(decode_lines(&mut codec, &mut buffer)[0].starts_with("<line 1"));
    codec.reset();
    buffer.clear();
    buffer.extend_from_slice(b"new\n");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@0 \"new\""]);
}

#[test]
fn an_lf_after_the_end_is_a_line_of_its_own() {
    let mut codec = Utf8LinesCodec::new().with_delimiter(Delimiter::any_newline());
    let mut buffer = BytesMut::from("a\r");
    assert_eq!(end_lines(&mut codec, &mut buffer), ["1@0 \"a\""]);
    buffer.extend_from_slice(b"\n");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["2@2 \"\""]);
}

/// An empty line, and a U+FEFF at the start of the second.
fn looks_for_no_signature_behind_an_empty_line(delimiter: &Delimiter) {
    let end = delimiter.as_str();
    let input = format!("{end}\u{FEFF}x{end}");
    for (options, mode) in [
        (STRIP, ErrorMode::Fatal),
        (FORBID, ErrorMode::Fatal),
        (STRIP, ErrorMode::Skip),
        (FORBID, ErrorMode::Skip),
        (REQUIRE, ErrorMode::Skip),
    ] {
        let mut codec = Utf8LinesCodec::new()
            .with_options(options)
            .with_error_mode(mode)
            .with_delimiter(delimiter.clone());
        let mut buffer = BytesMut::from(&*input);
        let expected = ["1@0 \"\"".to_owned(), format!("2@{} \"\\u{{feff}}x\"", end.len())];
        let context = format!("{delimiter:?}, {options:?}, {mode:?}");
        assert_eq!(decode_lines(&mut codec, &mut buffer), expected, "{context}");
        assert_eq!(codec.decoder().error_count(), u64::from(options == REQUIRE), "{context}");
    }
}

/// An empty line where there should have been a signature, and another.
fn misses_the_signature_before_an_empty_line(delimiter: &Delimiter) {
    let end = delimiter.as_str();
    let mut codec = Utf8LinesCodec::new().with_options(REQUIRE).with_delimiter(delimiter.clone());
    let mut buffer = BytesMut::from(end);
    assert_eq!(
        decode_lines(&mut codec, &mut buffer),
        [
            "<line 1, from byte 0 on, is not acceptable utf-8: refused utf-8 at byte 0: missing byte order mark>"
        ],
        "{delimiter:?}",
    );
    buffer.extend_from_slice(end.as_bytes());
    let second = format!("2@{} \"\"", end.len());
    assert_eq!(decode_lines(&mut codec, &mut buffer), [second], "{delimiter:?}");
}

#[test]
fn a_signature_is_looked_for_in_the_first_line_only_even_if_that_line_is_empty() {
    for delimiter in delimiters() {
        looks_for_no_signature_behind_an_empty_line(&delimiter);
    }
}

#[test]
fn a_missing_signature_is_the_trouble_of_an_empty_first_line() {
    for delimiter in delimiters() {
        misses_the_signature_before_an_empty_line(&delimiter);
    }
}

/// The fullwidth comma begins with EF, as the signature does. The byte was taken for the beginning
/// of one, and U+FEFF at the start of the second line for the whole.
#[test]
fn a_delimiter_that_begins_like_a_signature_ends_the_search_for_one() {
    looks_for_no_signature_behind_an_empty_line(&Delimiter::text("，").unwrap());
}

/// As above: the empty line came as if nothing were missing.
#[test]
fn a_delimiter_that_begins_like_a_signature_does_not_stand_for_a_required_one() {
    misses_the_signature_before_an_empty_line(&Delimiter::text("，").unwrap());
}

#[test]
fn strictness_exempts_delimiters_that_come_alone() {
    let strictness = Strictness::new().refuse_nul().refuse_controls().refuse_noncharacters();
    let options = Utf8Options::new().with_strictness(strictness);
    let odd = Delimiter::text("\u{1}\u{FFFF}").unwrap();
    for delimiter in [Delimiter::lf(), Delimiter::any_newline(), Delimiter::nul(), odd] {
        for end in ["\r\n", delimiter.as_str()] {
            if end == "\r\n" && delimiter.as_str() != "\n" {
                continue;
            }
            let mut codec =
                Utf8LinesCodec::new().with_options(options).with_delimiter(delimiter.clone());
            let mut buffer = BytesMut::new();
            let mut told = Vec::new();
            for byte in format!("ab{end}{end}c{end}").bytes() {
                buffer.extend_from_slice(&[byte]);
                told.extend(decode_lines(&mut codec, &mut buffer));
            }
            let (second, third) = (2 + end.len(), 2 + 2 * end.len());
            let expected =
                ["1@0 \"ab\"".to_owned(), format!("2@{second} \"\""), format!("3@{third} \"c\"")];
            assert_eq!(told, expected, "{delimiter:?} as {end:?}");
            assert_eq!(codec.decoder().error_count(), 0);
        }
    }
}

#[test]
fn an_escape_is_handed_out_whole_by_the_char_codec_before_and_after_the_end() {
    let mut codec = CharCodec::new().with_error_mode(ErrorMode::Escape);
    let mut buffer = BytesMut::from(&b"\xFFa\xE2\x82"[..]);
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), r"\xffa");
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), r"\xe2\x82");
    buffer.extend_from_slice(b"\xFE");
    assert_eq!(codec.decode(&mut buffer).unwrap(), Some('\\'));
    codec.reset();
    buffer.extend_from_slice(b"b");
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), "b", "reset drops a begun repair");
}

// ---- into_parts -------------------------------------------------------------------------------

/// Takes the parts of a stream that has nothing more to yield for now, and goes on with them.
async fn taken_apart_and_put_together<C>(
    script: &[&[u8]],
    codec: C,
    show: fn(C::Item) -> String,
    held: &[u8],
) -> Vec<String>
where
    C: Decoder,
    C::Error: Error + 'static,
{
    let mut frames = FramedRead::new(pausing(script), codec);
    let mut told = Vec::new();
    while let Some(Some(item)) = frames.next().now_or_never() {
        told.push(show(item.ok().unwrap()));
    }
    let parts = frames.into_parts();
    assert_eq!(parts.read_buf, held);
    let mut again = FramedParts::new::<()>(parts.io, Mute(parts.codec));
    again.read_buf = parts.read_buf;
    let mut frames = pin!(Framed::from_parts(again));
    while let Some(item) = frames.next().await {
        told.push(show(item.ok().unwrap()));
    }
    told
}

/// A decoder that as an encoder takes nothing.
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
async fn parts_taken_in_the_middle_of_a_character_lose_nothing() {
    let script: &[&[u8]] = &[b"one \xF0\x9F\x98", b"\x80 two"];
    let held = &b"\xF0\x9F\x98"[..];
    let told = taken_apart_and_put_together(script, Utf8Codec::new(), show_text, held).await;
    assert_eq!(told, ["one ", "😀 two"]);
    let told = taken_apart_and_put_together(script, Utf8ChunksCodec::new(), show_chunk, held).await;
    assert_eq!(told, ["one ", "😀 two"]);
    let told = taken_apart_and_put_together(script, CharCodec::new(), show_char, held).await;
    assert_eq!(told.concat(), "one 😀 two");
    for (_, mode) in MODES.into_iter().skip(1) {
        let codec = Utf8Codec::new().with_error_mode(mode);
        let told = taken_apart_and_put_together(script, codec, show_text, held).await;
        assert_eq!(told, ["one ", "😀 two"], "{mode:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn parts_taken_in_the_middle_of_a_signature_lose_nothing() {
    let script: &[&[u8]] = &[b"\xEF\xBB", b"\xBFtext\n"];
    let held = &b"\xEF\xBB"[..];
    for options in [STRIP, REQUIRE] {
        let codec = Utf8Codec::new().with_options(options);
        assert_eq!(taken_apart_and_put_together(script, codec, show_text, held).await, ["text\n"]);
        let codec = Utf8LinesCodec::new().with_options(options);
        let told = taken_apart_and_put_together(script, codec, show_line, held).await;
        assert_eq!(told, ["1@3 \"text\""]);
    }
}

#[tokio::test(start_paused = true)]
async fn parts_taken_in_the_middle_of_a_line_lose_nothing() {
    let script: &[&[u8]] = &[b"one\nha\xC3", b"\xB6\r\nthree"];
    for (_, mode) in MODES {
        let codec = Utf8LinesCodec::new().with_error_mode(mode);
        let told = taken_apart_and_put_together(script, codec, show_line, b"ha\xC3").await;
        assert_eq!(told, ["1@0 \"one\"", "2@4 \"haö\"", "3@10 \"three\" (unterminated)"]);
    }
}

#[tokio::test(start_paused = true)]
async fn another_codec_takes_over_behind_the_last_line_with_nothing_missing() {
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

// ---- no copies --------------------------------------------------------------------------------

/// A read buffer as `FramedRead` has it, with room, and the place of its first byte.
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
fn clean_text_is_the_read_buffer_in_every_mode() {
    for (_, mode) in MODES {
        let (mut buffer, start) = read_buffer("clean täxt\u{20AC}".as_bytes());
        buffer.extend_from_slice(b"\xE2\x82");
        let mut codec = Utf8Codec::new().with_error_mode(mode);
        let text = codec.decode(&mut buffer).unwrap().unwrap();
        assert_eq!((&*text, place(&text)), ("clean täxt€", start));
        buffer.extend_from_slice(b"\xACx");
        let text = codec.decode(&mut buffer).unwrap().unwrap();
        assert_eq!((&*text, place(&text)), ("€x", start + 14), "also with a character once cut");
    }
}

#[test]
fn text_around_errors_is_the_read_buffer_where_errors_are_reported() {
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
fn repaired_text_is_a_copy_and_skipped_ends_are_not() {
    for (_, mode) in MODES.into_iter().skip(1) {
        let (mut buffer, start) = read_buffer(b"ab\xFFcd");
        let mut codec = Utf8Codec::new().with_error_mode(mode);
        let text = codec.decode(&mut buffer).unwrap().unwrap();
        assert!(!(start..start + 1024).contains(&place(&text)), "{mode:?}");
    }
    let (mut buffer, start) = read_buffer(b"ab\xFF");
    let mut codec = Utf8Codec::new().with_error_mode(ErrorMode::Skip);
    let text = codec.decode(&mut buffer).unwrap().unwrap();
    assert_eq!((&*text, place(&text)), ("ab", start));
}

#[test]
fn clean_lines_are_the_read_buffer_in_every_mode_and_by_every_delimiter() {
    for (_, mode) in MODES {
        for delimiter in delimiters() {
            let end = delimiter.as_str();
            let input = format!("one{end}zwö{end}{end}vi€r{end}last");
            let starts =
                [0, 3 + end.len(), 7 + 2 * end.len(), 7 + 3 * end.len(), 13 + 4 * end.len()];
            for size in 1..=input.len() {
                let (mut buffer, start) = read_buffer(b"");
                let mut codec =
                    Utf8LinesCodec::new().with_error_mode(mode).with_delimiter(delimiter.clone());
                let mut lines = Vec::new();
                for chunk in input.as_bytes().chunks(size) {
                    buffer.extend_from_slice(chunk);
                    while let Some(line) = codec.decode(&mut buffer).unwrap() {
                        lines.push(line.unwrap());
                    }
                }
                lines.push(codec.decode_eof(&mut buffer).unwrap().unwrap().unwrap());
                assert_eq!(lines.len(), 5);
                for (line, offset) in lines.iter().zip(starts) {
                    assert_eq!(line.offset, offset as u64);
                    if !line.is_empty() {
                        assert_eq!(place(line), start + offset, "{delimiter:?}, {mode:?}: {line}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_repaired_line_is_a_copy_and_its_neighbours_are_not() {
    for (_, mode) in MODES.into_iter().skip(1) {
        let (mut buffer, start) = read_buffer(b"one\nt\xFFo\nthree\n");
        let mut codec = Utf8LinesCodec::new().with_error_mode(mode);
        let mut next = || codec.decode(&mut buffer).unwrap().unwrap().unwrap();
        let (one, two, three) = (next(), next(), next());
        assert_eq!((place(&one), place(&three)), (start, start + 8));
        assert!(!(start..start + 1024).contains(&place(&two)), "{mode:?}");
    }
}

#[test]
fn owned_pieces_are_the_chunk_but_for_a_character_that_was_cut() {
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
fn a_signature_removed_costs_no_copy() {
    let (mut buffer, start) = read_buffer("\u{FEFF}text\n".as_bytes());
    let text = Utf8Codec::new().with_options(STRIP).decode(&mut buffer).unwrap().unwrap();
    assert_eq!(place(&text), start + 3);
    let (mut buffer, start) = read_buffer("\u{FEFF}text\n".as_bytes());
    let line = Utf8LinesCodec::new().with_options(STRIP).decode(&mut buffer).unwrap();
    assert_eq!(place(&line.unwrap().unwrap()), start + 3);
}

// ---- items of the lossy Utf8Codec ---------------------------------------------------------------

/// Bytes that are likely to meet: pieces of sequences and of delimiters.
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

proptest! {
    #[test]
    fn a_lossy_call_gives_at_most_one_item_and_never_an_empty_one(
        bytes in hostile_bytes(24),
        cuts in any_cuts(),
        (_, mode) in prop::sample::select(&MODES[1..]),
        options in prop::sample::select(vec![Utf8Options::new(), STRIP, REQUIRE, FORBID]),
    ) {
        let mut codec = Utf8Codec::new().with_error_mode(mode).with_options(options);
        let mut buffer = BytesMut::new();
        let mut text = String::new();
        for chunk in pieces_of(&bytes, &cuts) {
            buffer.extend_from_slice(chunk);
            if let Some(item) = codec.decode(&mut buffer).unwrap() {
                prop_assert!(!item.is_empty());
                text += &item;
            }
            prop_assert!(buffer.len() <= 3, "{:?} is left", buffer);
            prop_assert_eq!(codec.decode(&mut buffer).unwrap(), None);
        }
        if let Some(item) = codec.decode_eof(&mut buffer).unwrap() {
            prop_assert!(!item.is_empty());
            text += &item;
        }
        prop_assert!(buffer.is_empty());
        prop_assert_eq!(codec.decode_eof(&mut buffer).unwrap(), None);
        if mode == ErrorMode::Replacement && options == Utf8Options::new() {
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn chunks_written_again_are_the_bytes_that_came(
        bytes in hostile_bytes(24),
        cuts in any_cuts(),
        strict in any::<bool>(),
    ) {
        let strictness = match strict {
            true => Strictness::new().refuse_nul().refuse_controls().refuse_noncharacters(),
            false => Strictness::new(),
        };
        let mut codec =
            Utf8ChunksCodec::new().with_options(Utf8Options::new().with_strictness(strictness));
        let (mut buffer, mut written) = (BytesMut::new(), BytesMut::new());
        for chunk in pieces_of(&bytes, &cuts) {
            buffer.extend_from_slice(chunk);
            while let Some(chunk) = codec.decode(&mut buffer).unwrap() {
                let is_empty = match &chunk {
                    Ok(text) => text.is_empty(),
                    Err(error) => error.bytes().is_empty(),
                };
                prop_assert!(!is_empty);
                codec.encode(chunk, &mut written).unwrap();
            }
        }
        while let Some(chunk) = codec.decode_eof(&mut buffer).unwrap() {
            codec.encode(chunk, &mut written).unwrap();
        }
        prop_assert_eq!(written, bytes);
    }

    #[test]
    fn lines_count_the_errors_that_the_stream_has(
        bytes in hostile_bytes(24),
        cuts in any_cuts(),
        (_, mode) in prop::sample::select(&MODES[1..]),
        options in prop::sample::select(vec![Utf8Options::new(), STRIP, REQUIRE, FORBID]),
        delimiter in prop::sample::select(delimiters().to_vec()),
    ) {
        let mut decoder = Utf8Decoder::new().with_options(options);
        decoder.push(&bytes).for_each(drop);
        while decoder.finish().is_err() {}

        let mut codec = Utf8LinesCodec::new()
            .with_options(options)
            .with_error_mode(mode)
            .with_delimiter(delimiter);
        let mut buffer = BytesMut::new();
        for chunk in pieces_of(&bytes, &cuts) {
            buffer.extend_from_slice(chunk);
            decode_lines(&mut codec, &mut buffer);
        }
        end_lines(&mut codec, &mut buffer);
        prop_assert_eq!(codec.decoder().error_count(), decoder.error_count());
        prop_assert_eq!(codec.decoder().first_error(), decoder.first_error());
    }

    #[test]
    fn what_the_line_encoder_accepts_is_read_back_as_the_same_lines(
        texts in prop::collection::vec(texts_near_delimiters(), 1..6),
        delimiter in prop::sample::select(&[
            "\n", "\r", "\r\n", "lf", "any", "nul", "a", "aa", "aab", "aba", "abab", "é", "。", "a\r", "\u{FEFF}",
        ][..]),
        bom in any::<bool>(),
    ) {
        let delimiter = match delimiter {
            "lf" => Delimiter::lf(),
            "any" => Delimiter::any_newline(),
            "nul" => Delimiter::nul(),
            text => Delimiter::text(text).unwrap(),
        };
        let mut codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone());
        if bom {
            codec = codec.with_encoder(Utf8Encoder::new().with_bom()).with_options(STRIP);
        }
        let (mut wire, mut accepted) = (BytesMut::new(), Vec::new());
        for text in texts {
            let before = wire.len();
            match codec.encode(&*text, &mut wire) {
                Ok(()) => accepted.push(text),
                Err(CodecError::EmbeddedDelimiter { offset: at }) => {
                    prop_assert!(at < text.len());
                    prop_assert_eq!(wire.len(), before, "nothing is written of a text refused");
                    // Refused with reason: written, its line would have ended before it does.
                    let mut forced = BytesMut::from(&*format!("{text}{}", delimiter.as_str()));
                    let mut reader = Utf8LinesCodec::new().with_delimiter(delimiter.clone());
                    let line = reader.decode(&mut forced).unwrap().unwrap().unwrap();
                    prop_assert!(line.len() < text.len() && text.starts_with(&*line.text));
                }
                Err(error) => panic!("{error}"),
            }
        }
        let mut read = Vec::new();
        while let Some(line) = codec.decode_eof(&mut wire).unwrap() {
            let line = line.unwrap();
            prop_assert!(line.end == LineEnd::Delimiter);
            read.push(line.to_string());
        }
        prop_assert_eq!(read, accepted);
    }
}

fn texts_near_delimiters() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(&["a", "b", "\r", "\n", "\0", "é", "。", "\u{3001}"][..])
            .prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

// ---- encoders -----------------------------------------------------------------------------------

fn encoded<T, C: Encoder<T>>(codec: &mut C, item: T) -> BytesMut {
    let mut buffer = BytesMut::new();
    codec.encode(item, &mut buffer).ok().unwrap();
    buffer
}

#[test]
fn the_signature_is_written_once_by_the_first_call_even_of_nothing_and_again_after_reset() {
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

#[test]
fn a_line_refused_leaves_the_signature_to_the_next() {
    let mut codec = Utf8LinesCodec::new().with_encoder(Utf8Encoder::new().with_bom());
    codec.encode("two\nlines", &mut BytesMut::new()).unwrap_err();
    assert_eq!(encoded(&mut codec, "one"), b"\xEF\xBB\xBFone\n"[..]);
}

#[test]
fn decoding_does_not_disturb_the_encoder_nor_the_other_way_round() {
    let mut codec =
        Utf8Codec::new().with_encoder(Utf8Encoder::new().with_bom()).with_options(STRIP);
    let mut buffer = BytesMut::from(&b"\xEF\xBB"[..]);
    assert_eq!(codec.decode(&mut buffer).unwrap(), None);
    assert_eq!(encoded(&mut codec, "x"), b"\xEF\xBB\xBFx"[..]);
    buffer.extend_from_slice(b"\xBFy");
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap(), "y");
    assert_eq!(encoded(&mut codec, "z"), b"z"[..]);
}

#[tokio::test]
async fn every_kind_of_text_can_be_sent() {
    let (mut peer, socket) = duplex(1024);
    let mut framed = Framed::new(socket, Utf8Codec::new());
    let owned = String::from("String ");
    framed.send("str ").await.unwrap();
    framed.send(&owned).await.unwrap();
    framed.send(owned).await.unwrap();
    framed.send(Cow::Borrowed("Cow ")).await.unwrap();
    framed.send(Cow::<str>::Owned("Cow ".into())).await.unwrap();
    framed.send(ByteString::from("ByteString ")).await.unwrap();
    framed.send(Box::<str>::from("Box ")).await.unwrap();
    framed.send(Arc::<str>::from("Arc ")).await.unwrap();
    SinkExt::<&str>::close(&mut framed).await.unwrap();
    let mut text = String::new();
    peer.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "str String String Cow Cow ByteString Box Arc ");
}

#[tokio::test]
async fn every_kind_of_text_can_be_sent_as_a_line() {
    let (mut peer, socket) = duplex(1024);
    let mut framed = Framed::new(socket, Utf8LinesCodec::new());
    let owned = String::from("String");
    framed.feed("str").await.unwrap();
    framed.feed(&owned).await.unwrap();
    framed.feed(owned).await.unwrap();
    framed.feed(Cow::Borrowed("Cow")).await.unwrap();
    framed.feed(ByteString::from("ByteString")).await.unwrap();
    let line = Utf8LinesCodec::new().decode(&mut BytesMut::from("Line\n")).unwrap();
    framed.feed(line.unwrap().unwrap()).await.unwrap();
    SinkExt::<&str>::flush(&mut framed).await.unwrap();
    SinkExt::<&str>::close(&mut framed).await.unwrap();
    let mut text = String::new();
    peer.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "str\nString\nString\nCow\nByteString\nLine\n");
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

#[tokio::test]
async fn damaged_bytes_are_forwarded_without_loss() {
    let bytes = b"ok\xFFmore\xED\xA0\x80\0\xF0\x9F";
    for capacity in 1..16 {
        let chunks = FramedRead::with_capacity(&bytes[..], Utf8ChunksCodec::new(), capacity);
        let mut written = Vec::new();
        chunks.forward(FramedWrite::new(&mut written, Utf8ChunksCodec::new())).await.unwrap();
        assert_eq!(written, bytes);
    }
}

#[tokio::test]
async fn chars_are_sent_one_by_one_or_many_at_once() {
    let script = Builder::new().write("ß€".as_bytes()).write("日本".as_bytes()).build();
    let mut framed = FramedWrite::new(script, CharCodec::new());
    framed.send('ß').await.unwrap();
    framed.send('€').await.unwrap();
    framed.send(&['日', '本'][..]).await.unwrap();
    SinkExt::<char>::close(&mut framed).await.unwrap();
}

#[tokio::test]
async fn a_line_refused_does_not_spoil_the_sink() {
    let script = Builder::new().write(b"one\n").write(b"two\n").build();
    let mut sink = FramedWrite::new(script, Utf8LinesCodec::new());
    sink.send("one").await.unwrap();
    let error = sink.send("x\ny").await.unwrap_err();
    assert!(matches!(error, CodecError::EmbeddedDelimiter { offset: 1 }));
    assert_eq!(error.to_string(), "the text would be cut by a delimiter at byte 1");
    sink.send("two").await.unwrap();
}

#[tokio::test]
async fn a_write_error_keeps_its_cause() {
    let failure = io::Error::new(io::ErrorKind::BrokenPipe, "gone");
    let script = Builder::new().write_error(failure).build();
    let mut sink = FramedWrite::new(script, Utf8LinesCodec::new());
    let error = sink.send("one").await.unwrap_err();
    assert_eq!(with_sources(&error), "input or output failed: gone");
}

#[test]
fn texts_that_would_be_read_back_otherwise_are_refused() {
    let text = |text| Delimiter::text(text).unwrap();
    let table = [
        (Delimiter::lf(), "a\nb", Some(1)),
        (Delimiter::lf(), "\n", Some(0)),
        (Delimiter::lf(), "a\r", Some(1)),
        (Delimiter::lf(), "\r", Some(0)),
        (Delimiter::lf(), "a\rb", None),
        (Delimiter::lf(), "", None),
        (Delimiter::any_newline(), "a\rb", Some(1)),
        (Delimiter::any_newline(), "a\nb", Some(1)),
        (Delimiter::any_newline(), "a\r", Some(1)),
        (Delimiter::any_newline(), "a\u{2028}b\u{85}", None),
        (Delimiter::nul(), "a\0", Some(1)),
        (Delimiter::nul(), "a\r\n", None),
        (text("aa"), "ba", Some(1)),
        (text("aa"), "baa", Some(1)),
        (text("aa"), "a", Some(0)),
        (text("aa"), "ab", None),
        (text("aba"), "cab", Some(1)),
        (text("aba"), "ca", None),
        (text("--->"), "x--->", Some(1)),
        (text("--->"), "x---", None),
        (text("。"), "x。", Some(1)),
        (text("。"), "x\u{3001}", None),
        (text("\n"), "a\r", None),
        (text("\r\n"), "a\r", None),
        (text("\r\n"), "a\r\r\n", Some(2)),
        (text("\r\n"), "a\r\nb", Some(1)),
        (text("é"), "e\u{301}", None),
    ];
    for (delimiter, text, expected) in table {
        let mut codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone());
        let at = match codec.encode(text, &mut BytesMut::new()) {
            Ok(()) => None,
            Err(CodecError::EmbeddedDelimiter { offset }) => Some(offset),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(at, expected, "{text:?} with {delimiter:?}");
    }
}

/// The CR belongs to the delimiter, so the line would end before it; the LF was named.
#[test]
fn the_place_of_an_embedded_crlf_is_that_of_its_cr() {
    let error = Utf8LinesCodec::new().encode("a\r\nb", &mut BytesMut::new()).unwrap_err();
    assert_eq!(error.to_string(), "the text would be cut by a delimiter at byte 1");
}

// ---- limits -------------------------------------------------------------------------------------

/// Contents of exactly `len` bytes, of characters of all lengths; none contains a delimiter.
fn contents(len: usize) -> Vec<String> {
    let mut contents = vec!["x".repeat(len)];
    for c in ["é", "€", "😀"] {
        let mut content = c.repeat(len / c.len());
        content += &"x".repeat(len - content.len());
        contents.push(content);
    }
    contents
}

#[test]
fn a_line_at_the_limit_passes_and_one_byte_more_does_not_wherever_it_is_cut() {
    for delimiter in delimiters() {
        let ends: &[&str] = match delimiter.as_str() {
            "\n" if delimiter == Delimiter::lf() => &["\n", "\r\n"],
            "\n" => &["\n", "\r\n", "\r"],
            text => &[text],
        };
        for (limit, &end) in
            [0, 1, 4, 5].iter().flat_map(|limit| ends.iter().map(move |e| (limit, e)))
        {
            for len in [*limit, limit + 1, limit + 2] {
                for content in contents(len) {
                    let input = format!("{content}{end}{}{end}", "x".repeat(*limit));
                    for cuts in every_cut(input.len()) {
                        let codec = Utf8LinesCodec::new()
                            .with_delimiter(delimiter.clone())
                            .with_max_length(*limit);
                        check_limit(codec, &input, &content, end, *limit, &cuts);
                    }
                }
            }
        }
    }
}

fn every_cut(len: usize) -> Vec<Vec<usize>> {
    let mut cuts: Vec<_> = (0..=len).map(|cut| vec![cut]).collect();
    cuts.push((1..len).collect());
    cuts
}

fn check_limit(
    codec: Utf8LinesCodec,
    input: &str,
    content: &str,
    end: &str,
    limit: usize,
    cuts: &[usize],
) {
    let context = format!("{codec:?}: {input:?} cut at {cuts:?}");
    let steps = support::line_items(codec, input.as_bytes(), cuts);
    let items: Vec<_> = steps.concat().into_iter().map(undated_item).collect();
    let next = content.len() + end.len();
    assert_eq!(items.len(), 2, "{context}");
    let told = format!("{:?}", items[0]);
    match content.len() <= limit {
        true => assert!(told.starts_with("Line {"), "{told}, {context}"),
        false => assert_eq!(told, "TooLong { number: 1, offset: 0 }", "{context}"),
    }
    let told = format!("{:?}", items[1]);
    assert!(told.contains("number: 2") && told.contains(&format!("offset: {next},")), "{context}");
    assert!(told.starts_with("Line {"), "{context}");
}

/// How many bytes of `input`, one at a time, it takes for the first item to come.
fn bytes_until_an_item(mut codec: Utf8LinesCodec, input: &[u8]) -> (usize, String) {
    let mut buffer = BytesMut::new();
    for (at, byte) in input.iter().enumerate() {
        buffer.extend_from_slice(&[*byte]);
        if let Some(item) = codec.decode(&mut buffer).unwrap() {
            return (at + 1, show_line(item));
        }
    }
    panic!("no item");
}

#[test]
fn a_line_is_too_long_as_soon_as_its_bytes_cannot_be_a_delimiter() {
    let too_long = "<line 1, from byte 0 on, is longer than 3 bytes>";
    let table: [(Delimiter, &[u8], usize); 9] = [
        (Delimiter::lf(), b"abcd", 4),
        (Delimiter::lf(), b"abc\rd", 5),
        (Delimiter::lf(), b"abc\r\r", 5),
        (Delimiter::any_newline(), b"abcd", 4),
        (Delimiter::nul(), b"abc\n", 4),
        (Delimiter::text("--->").unwrap(), b"abc---x", 7),
        (Delimiter::text("--->").unwrap(), b"abc----", 7),
        (Delimiter::text("aab").unwrap(), b"xyzaaa", 6),
        (Delimiter::text("。").unwrap(), b"abc\xE3\x80\x81", 6),
    ];
    for (delimiter, input, expected) in table {
        let codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone()).with_max_length(3);
        let told = bytes_until_an_item(codec, input);
        assert_eq!(told, (expected, too_long.to_owned()), "{delimiter:?}");
    }
}

#[test]
fn lossy_modes_refuse_long_lines_too_and_count_what_came_not_what_is_written() {
    for (_, mode) in MODES.into_iter().skip(1) {
        let codec = || Utf8LinesCodec::new().with_error_mode(mode).with_max_length(3);
        let mut buffer = BytesMut::from(&b"\xFF\xFF\xFF\n\xFF\xFF\xFF\xFF\nok\n"[..]);
        let told = decode_lines(&mut codec(), &mut buffer);
        assert!(told[0].starts_with("1@0"), "{mode:?}: {told:?}");
        assert_eq!(told[1..], ["<line 2, from byte 4 on, is longer than 3 bytes>", "3@9 \"ok\""]);
    }
}

#[test]
fn the_signature_and_the_delimiter_do_not_count() {
    let mut codec = Utf8LinesCodec::new().with_options(STRIP).with_max_length(2);
    let mut buffer = BytesMut::from("\u{FEFF}ab\r\ncd\r\n");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@3 \"ab\"", "2@7 \"cd\""]);
}

#[test]
fn the_default_limit_is_64_kibibytes() {
    assert_eq!(Utf8LinesCodec::DEFAULT_MAX_LENGTH, 65_536);
    for (len, fits) in [(65_535, true), (65_536, true), (65_537, false), (1 << 20, false)] {
        for (mut codec, end) in [
            (Utf8LinesCodec::new(), "\r\n"),
            (Utf8LinesCodec::default(), "\n"),
            (Utf8LinesCodec::new().with_delimiter(Delimiter::nul()), "\0"),
        ] {
            let mut buffer = BytesMut::from(&*format!("{}{end}next{end}", "x".repeat(len)));
            let line = codec.decode(&mut buffer).unwrap().unwrap();
            match line {
                Ok(line) => assert_eq!((fits, line.len()), (true, len)),
                Err(error) => {
                    assert_eq!(
                        (fits, error.kind),
                        (false, LineErrorKind::TooLong { max_length: 65_536 })
                    );
                }
            }
            assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap().text, "next");
        }
    }
}

/// A delimiter matched in part was searched again by each call: here 500 million steps.
#[test]
fn a_delimiter_that_arrives_byte_by_byte_costs_no_more_than_its_bytes() {
    let begun = "a".repeat(100_000);
    let delimiter = Delimiter::text(&format!("{begun}b")).unwrap();
    for mode in [ErrorMode::Fatal, ErrorMode::Skip] {
        for (input, expected) in [(format!("x{begun}b"), "x"), (format!("{begun}ab"), "a")] {
            let mut codec = Utf8LinesCodec::new()
                .with_delimiter(delimiter.clone())
                .with_error_mode(mode)
                .with_max_length(200_000);
            let mut buffer = BytesMut::new();
            let start = std::time::Instant::now();
            let mut lines = Vec::new();
            for byte in input.bytes() {
                buffer.extend_from_slice(&[byte]);
                lines.extend(codec.decode(&mut buffer).unwrap());
            }
            assert_eq!(lines.len(), 1);
            assert_eq!(lines[0].as_ref().unwrap(), expected);
            assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        }
    }
}

#[tokio::test]
async fn an_endless_line_takes_bounded_memory() {
    const LIMIT: usize = Utf8LinesCodec::DEFAULT_MAX_LENGTH;
    for (_, mode) in MODES {
        for (delimiter, byte) in [
            (Delimiter::lf(), b'a'),
            (Delimiter::lf(), b'\r'),
            (Delimiter::nul(), b'a'),
            (Delimiter::text("aab").unwrap(), b'a'),
        ] {
            let line = repeat(byte).take(16 << 20).chain(&b"aab\n\0next"[..]);
            let codec = Utf8LinesCodec::new().with_error_mode(mode).with_delimiter(delimiter);
            let mut lines = FramedRead::new(line, codec);
            let error = lines.next().await.unwrap().unwrap().unwrap_err();
            assert_eq!(error.kind, LineErrorKind::TooLong { max_length: LIMIT });
            // `BytesMut` doubles when it is full, which is at the limit for the last time.
            let bound = 2 * LIMIT;
            assert!(lines.read_buffer().capacity() <= bound, "{}", lines.read_buffer().capacity());
            let next = lines.next().await.unwrap().unwrap().unwrap();
            assert!(next.ends_with("next"), "{next}");
            assert_eq!(next.number, 2);
            assert!(lines.read_buffer().capacity() <= bound, "{}", lines.read_buffer().capacity());
        }
    }
}

#[tokio::test]
async fn streams_without_lines_never_grow_their_buffer() {
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

#[test]
fn a_refused_line_holds_no_more_than_a_delimiter_may_need() {
    for (delimiter, most) in delimiters().into_iter().zip([1, 0, 0, 1, 2, 3]) {
        let mut codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone()).with_max_length(1);
        let mut buffer = BytesMut::new();
        let mut errors = 0;
        for piece in "xxb-\r--x\u{3001}aba---\r".as_bytes().iter().cycle().take(4000) {
            let piece = if delimiter.as_str() == "\n" && *piece == b'\r' { b'x' } else { *piece };
            buffer.extend_from_slice(&[piece]);
            errors += decode_lines(&mut codec, &mut buffer).len();
            assert!(errors == 0 || buffer.len() <= most, "{delimiter:?} holds {buffer:?}");
        }
        assert_eq!(errors, 1, "{delimiter:?}");
    }
}

// ---- callers that change the buffer ---------------------------------------------------------------

/// Small random numbers, the same in each run.
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

/// Does to `buffer` what no caller should.
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
    let strictness = random.of(&[
        Strictness::new(),
        Strictness::new(),
        Strictness::new().refuse_nul().refuse_controls().refuse_noncharacters(),
        Strictness::mqtt(),
    ]);
    let starts = [Utf8Options::new(), STRIP, REQUIRE, FORBID];
    random
        .of(&[starts[0], starts[1], starts[2], starts[3], starts[0].with_mid_stream_start()])
        .with_strictness(strictness)
}

fn any_delimiter(random: &mut Random) -> Delimiter {
    let odd =
        ["，", "\u{FEFF}", "\r\n", "-", "aaa", "\u{FEFF}a"].map(|t| Delimiter::text(t).unwrap());
    random.of(&[&delimiters()[..], &odd].concat())
}

fn any_lines_codec(random: &mut Random) -> Utf8LinesCodec {
    Utf8LinesCodec::new()
        .with_error_mode(random.of(&MODES).1)
        .with_delimiter(any_delimiter(random))
        .with_max_length(random.of(&[0, 1, 2, 3, 5, 8, 13, 1000]))
        .with_options(any_strict_options(random))
}

/// Calls the codec a few times and checks that what comes is text.
fn call_lines(random: &mut Random, codec: &mut Utf8LinesCodec, buffer: &mut BytesMut) {
    for _ in 0..random.below(4) {
        let item = match random.below(8) {
            0 => codec.decode_eof(buffer).unwrap(),
            _ => codec.decode(buffer).unwrap(),
        };
        if let Some(Ok(line)) = item {
            assert!(str::from_utf8(line.text.as_bytes()).is_ok(), "{line:?}");
        }
    }
}

#[test]
fn a_caller_that_changes_the_buffer_gets_no_panic_and_no_false_text() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..200_000 {
        let mut codec = any_lines_codec(&mut random);
        let mut buffer = BytesMut::new();
        for _ in 0..random.below(12) {
            meddle(&mut random, &mut buffer);
            call_lines(&mut random, &mut codec, &mut buffer);
        }
    }
}

#[test]
fn a_caller_that_changes_the_buffer_of_the_other_codecs_gets_no_panic_and_no_false_text() {
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

#[test]
fn settings_changed_in_the_middle_of_a_line_never_cause_a_panic() {
    let mut random = Random(0xA076_1D64_78BD_642F);
    for _ in 0..200_000 {
        let mut codec = any_lines_codec(&mut random);
        let mut buffer = BytesMut::new();
        for _ in 0..random.below(12) {
            buffer.extend_from_slice(&random.bytes(8));
            call_lines(&mut random, &mut codec, &mut buffer);
            codec = match random.below(6) {
                0 => codec.with_max_length(random.below(20)),
                1 => codec.with_delimiter(any_delimiter(&mut random)),
                2 => codec.with_options(any_strict_options(&mut random)),
                3 => codec.with_error_mode(random.of(&MODES).1),
                _ => codec,
            };
        }
    }
}

/// What was known of the longer line was trusted: a panic.
#[test]
fn a_limit_lowered_and_a_buffer_truncated_in_the_middle_of_a_line_cause_no_panic() {
    let mut codec = Utf8LinesCodec::new();
    let mut buffer = BytesMut::from("a".repeat(100).as_str());
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    let mut codec = codec.with_max_length(10);
    buffer.truncate(50);
    let _either = codec.decode(&mut buffer).unwrap();
}

// ---- what else may go wrong -----------------------------------------------------------------------

#[test]
fn a_clone_goes_on_by_itself() {
    let mut codec = Utf8LinesCodec::new();
    let mut buffer = BytesMut::from("one\ntw");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@0 \"one\""]);
    let (mut other, mut copy) = (codec.clone(), buffer.clone());
    buffer.extend_from_slice(b"o\n");
    copy.extend_from_slice(b"ice\n");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["2@4 \"two\""]);
    assert_eq!(decode_lines(&mut other, &mut copy), ["2@4 \"twice\""]);
}

#[test]
fn the_first_error_and_the_count_are_those_of_the_whole_stream() {
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

#[test]
fn the_position_leaves_out_what_is_still_in_the_buffer() {
    let mut buffer = BytesMut::from(&b"ab\xFF\xF0\x9F"[..]);
    let mut codec = Utf8ChunksCodec::new();
    decode_all(&mut codec, &mut buffer);
    assert_eq!((codec.decoder().position(), buffer.len()), (3, 2));
    let range: Range<u64> = 3..5;
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), format!("<{:?}@3>", Kind::Incomplete));
    assert_eq!(codec.decoder().position(), range.end);
}

/// A stream that is polled when nothing is there must say so and nothing else.
fn is_pending<S: Stream + Unpin>(frames: &mut S) -> bool {
    frames.next().now_or_never().is_none()
}

#[tokio::test]
async fn a_read_that_is_dropped_while_waiting_loses_nothing() {
    let (mut peer, socket) = duplex(64);
    let mut lines = FramedRead::new(socket, Utf8LinesCodec::new());
    for byte in "größe\n".bytes() {
        assert!(is_pending(&mut lines));
        peer.write_all(&[byte]).await.unwrap();
    }
    assert_eq!(lines.next().await.unwrap().unwrap().unwrap().text, "größe");
}
