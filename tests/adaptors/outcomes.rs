//! What every adaptor yields for ill-formed input, a BOM, errors of its source, and the end.
#![cfg(feature = "stream")]

#[cfg(feature = "http-body")]
use futures::StreamExt;
use utf8_codec::stream::{Utf8Reader, Utf8StreamExt};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

use crate::lists::MODES;
use crate::script::Does::{self, Chunk, End, Error};
use crate::script::Script;
use crate::{reader, stream};

/// What an adaptor yields as words, with `-` for the end; its count of errors and the offset of the first.
type Outcome = (Vec<String>, u64, Option<u64>);

type Adaptor = (&'static str, fn(&[Does], Utf8Options, ErrorMode) -> Outcome);

const STREAM: Adaptor = ("Utf8Stream", |does, options, mode| {
    let mut stream = Script::new(does).utf8().with_options(options).with_error_mode(mode);
    let (words, decoder) = (stream::ready(&mut stream), stream.decoder());
    (words, decoder.error_count(), decoder.first_error().map(|error| error.valid_up_to()))
});

const READER: Adaptor = ("Utf8Reader", |does, options, mode| {
    let reader = Utf8Reader::new(Script::new(does));
    let mut reader = reader.with_options(options).with_error_mode(mode);
    let (words, decoder) = (reader::ready(&mut reader), reader.decoder());
    (words, decoder.error_count(), decoder.first_error().map(|error| error.valid_up_to()))
});

#[cfg(feature = "http-body")]
const BODY: Adaptor = ("Utf8Body", |does, options, mode| {
    use utf8_codec::http::{BodyError, Utf8Body};
    let frame = |chunk: &'static [u8]| http_body::Frame::data(bytes::Bytes::from_static(chunk));
    let frames = Script::new(does).map(move |chunk| chunk.map(frame));
    let body = Utf8Body::new(http_body_util::StreamBody::new(frames));
    let mut body = body.with_options(options).with_error_mode(mode);
    let next = futures::stream::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_text_frame(cx));
    let words = crate::script::items(next, |frame| match frame {
        Ok(frame) => frame.into_data().expect("there are no trailers").to_string(),
        Err(BodyError::Utf8(error)) => format!("{} {:02x?}", error.valid_up_to(), error.bytes()),
        Err(error) => panic!("{error}"),
    });
    (words, body.error_count(), body.first_error().and_then(|error| error.offset()))
});

/// The adaptors that take empty chunks: a read of no bytes would be the end.
const OF_CHUNKS: &[Adaptor] = &[
    STREAM,
    #[cfg(feature = "http-body")]
    BODY,
];

/// The adaptors that continue after an error of their source.
const CONTINUING: &[Adaptor] = &[STREAM, READER];

fn all() -> impl Iterator<Item = &'static Adaptor> {
    OF_CHUNKS.iter().chain([&READER])
}

/// Checks what an adaptor yields. Returns its count of errors and the offset of the first.
fn yields(
    (name, run): &Adaptor,
    (options, mode): (Utf8Options, ErrorMode),
    does: &[Does],
    expected: &[&str],
) -> (u64, Option<u64>) {
    let (words, count, first) = run(does, options, mode);
    assert_eq!(words, expected, "{name}, {mode:?}: {does:?}");
    (count, first)
}

/// Like [`yields`], but a reader may return the same text in other pieces, as it does around a repair or a BOM.
fn yields_joined(
    adaptor: &Adaptor,
    settings: (Utf8Options, ErrorMode),
    does: &[Does],
    expected: &[&str],
) -> (u64, Option<u64>) {
    if adaptor.0 != READER.0 {
        return yields(adaptor, settings, does, expected);
    }
    let (words, count, first) = adaptor.1(does, settings.0, settings.1);
    assert_eq!(words.concat(), expected.concat(), "{settings:?}: {does:?}");
    (count, first)
}

fn plain(mode: ErrorMode) -> (Utf8Options, ErrorMode) {
    (Utf8Options::new(), mode)
}

#[test]
fn errors_are_yielded_in_order_without_another_poll() {
    let expected =
        ["ab", "2 [ff]", "3 [c0]", "c", "5 [ed]", "6 [a0]", "7 [80]", "d", "9 [e2, 82]", "e"];
    for adaptor in all() {
        let does = [Chunk(b"ab\xFF\xC0c\xED\xA0\x80d\xE2\x82e")];
        yields(adaptor, plain(ErrorMode::Fatal), &does, &expected);
        let does = [does[0], End];
        yields(adaptor, plain(ErrorMode::Fatal), &does, &[&expected[..], &["-"]].concat());
    }
}

#[test]
fn an_error_decided_by_the_next_chunk_precedes_its_text() {
    let does = [Chunk(b"a\xF0\x9F"), Chunk(b"\x98"), Chunk(b"bc"), End];
    for adaptor in all() {
        yields(adaptor, plain(ErrorMode::Fatal), &does, &["a", "1 [f0, 9f, 98]", "bc", "-"]);
    }
}

#[test]
fn a_lossy_mode_yields_one_item_per_chunk() {
    let does = [Chunk(b"caf\xE9, \x80\xE2\x82"), Chunk(b"\xAC\xFF!"), Chunk(b"\xC3"), End];
    let table = [
        (
            ErrorMode::Replacement,
            ["caf\u{FFFD}, \u{FFFD}", "€\u{FFFD}!", "\u{FFFD}", "-"].as_slice(),
        ),
        (ErrorMode::Skip, &["caf, ", "€!", "-"]),
        (ErrorMode::Escape, &[r"caf\xe9, \x80", r"€\xff!", r"\xc3", "-"]),
        (ErrorMode::Latin1, &["café, \u{80}", "€ÿ!", "Ã", "-"]),
        (ErrorMode::Windows1252, &["café, €", "€ÿ!", "Ã", "-"]),
    ];
    for (mode, expected) in table {
        for adaptor in all() {
            let counted = yields_joined(adaptor, plain(mode), &does, expected);
            assert_eq!(counted, (4, Some(3)), "{}", adaptor.0);
        }
    }
}

#[test]
fn an_incomplete_end_is_one_error_and_then_none() {
    for adaptor in all() {
        let does = [Chunk(b"a\xF0\x9F"), End, Chunk(b"more")];
        yields(adaptor, plain(ErrorMode::Fatal), &does, &["a", "1 [f0, 9f]", "-"]);
        yields(adaptor, plain(ErrorMode::Fatal), &[End], &["-"]);
        let does = [Chunk(b"\xF0\x9F"), End];
        yields(adaptor, plain(ErrorMode::Replacement), &does, &["\u{FFFD}", "-"]);
        yields(adaptor, plain(ErrorMode::Skip), &does, &["-"]);
    }
}

#[test]
fn options_are_applied() {
    let options = Utf8Options::new();
    let with = |bom| options.with_bom(bom);
    let bom: &[_] = &[Chunk(b"\xEF"), Chunk(b"\xBB"), Chunk(b"\xBFa"), End];
    let table: [(_, &[_], &[_]); 8] = [
        (options, bom, &["\u{FEFF}", "a", "-"]),
        (with(BomPolicy::Strip), bom, &["a", "-"]),
        (with(BomPolicy::Require), bom, &["a", "-"]),
        (with(BomPolicy::Require), &[End], &["0 []", "-"]),
        (with(BomPolicy::Require), &[Chunk(b"\xEF\xBB"), End], &["0 []", "0 [ef, bb]", "-"]),
        (with(BomPolicy::Forbid), bom, &["0 [ef, bb, bf]", "a", "-"]),
        (
            options.with_mid_stream_start(),
            &[Chunk(b"\x82"), Chunk(b"\xACa\x80"), End],
            &["a", "3 [80]", "-"],
        ),
        (
            options.reject_nul(),
            &[Chunk(b"a\0b\xC3"), Chunk(b"\xA9"), End],
            &["a", "1 [00]", "b", "é", "-"],
        ),
    ];
    for (options, does, expected) in table {
        for adaptor in all() {
            yields_joined(adaptor, (options, ErrorMode::Fatal), does, expected);
        }
    }
}

#[test]
fn an_inner_error_inside_a_character_loses_no_data() {
    let does = [Chunk(b"1 \xE2"), Error("a"), Chunk(b"\x82"), Error("b"), Chunk(b"\xAC"), End];
    for mode in MODES {
        for adaptor in CONTINUING {
            yields(adaptor, plain(mode), &does, &["1 ", "! a", "! b", "€", "-"]);
        }
    }
}

#[test]
fn text_and_errors_are_yielded_before_an_inner_error() {
    let does = [Chunk(b"ab\xFFc\xE2"), Error("reset"), End];
    for adaptor in CONTINUING {
        let expected = ["ab", "2 [ff]", "c", "! reset", "4 [e2]", "-"];
        yields(adaptor, plain(ErrorMode::Fatal), &does, &expected);
        let expected = ["abÿc", "! reset", "â", "-"];
        yields_joined(adaptor, plain(ErrorMode::Latin1), &does, &expected);
    }
}

#[test]
fn empty_chunks_change_nothing() {
    let does = [b"", &b"\xE2"[..], b"", b"\x82", b"", b"\xAC"].map(Chunk);
    for adaptor in OF_CHUNKS {
        for mode in MODES {
            yields(adaptor, plain(mode), &does, &["€"]);
            yields(adaptor, plain(mode), &[Chunk(b""), Chunk(b""), End], &["-"]);
        }
        let does = [Chunk(b"\xFF"), Chunk(b"\xFF"), Chunk(b"a")];
        yields(adaptor, plain(ErrorMode::Skip), &does, &["a"]);
    }
}
