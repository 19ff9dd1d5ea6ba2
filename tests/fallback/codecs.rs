use bytes::BytesMut;
use proptest::prelude::*;
use tokio_util::codec::Decoder;
use utf8_codec::codec::{Delimiter, LineEnd, LineErrorKind, Utf8Codec, Utf8LinesCodec};
use utf8_codec::fallback::{Fallback, LegacyEncoding};
use utf8_codec::{ErrorMode, Strictness, Utf8Options};

use crate::model::{EXTENTS, Extent, Outcome, cut, cuts, inputs, latin1, model};

const LATIN1: LegacyEncoding = LegacyEncoding::latin1();

fn run(mut codec: Utf8Codec, chunks: &[&[u8]]) -> Outcome {
    let (mut buffer, mut text, mut fed) = (BytesMut::new(), String::new(), 0);
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        fed += chunk.len() as u64;
        while let Some(piece) = codec.decode(&mut buffer).unwrap() {
            assert!(!piece.is_empty());
            text += &piece;
        }
        assert_eq!(codec.decoder().position() + buffer.len() as u64, fed, "nothing is kept within");
    }
    while let Some(piece) = codec.decode_eof(&mut buffer).unwrap() {
        text += &piece;
    }
    assert!(buffer.is_empty());
    Outcome::new(text, codec.fallback_report())
}

/// The lines' texts and errors, each with its number and offset.
fn lines(mut codec: Utf8LinesCodec, chunks: &[&[u8]]) -> (Vec<String>, Outcome) {
    let (mut buffer, mut told) = (BytesMut::new(), Vec::new());
    let mut tell = |item| {
        told.push(match item {
            Ok(line) => {
                let utf8_codec::codec::Line { text, number, offset, end, .. } = line;
                format!("{number} {offset} {end:?} {text}")
            }
            Err(error) => {
                let error: utf8_codec::codec::LineError = error;
                format!("{error}: {:?}", error.kind)
            }
        });
    };
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        while let Some(item) = codec.decode(&mut buffer).unwrap() {
            tell(item);
        }
    }
    while let Some(item) = codec.decode_eof(&mut buffer).unwrap() {
        tell(item);
    }
    let outcome = Outcome::new(String::new(), codec.fallback_report());
    (told, outcome)
}

fn model_lines(bytes: &[u8], extent: Extent) -> Vec<String> {
    let (mut told, mut at, mut turned) = (Vec::new(), 0, false);
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let content = match line {
            [content @ .., b'\r', b'\n'] | [content @ .., b'\n'] | content => content,
        };
        let text = if turned { latin1(content) } else { model(content, extent, latin1).text };
        // The model leaves ASCII in front of a legacy line to UTF-8: it is the same.
        turned |= extent == Extent::Rest && str::from_utf8(content).is_err();
        let end = if line.ends_with(b"\n") { LineEnd::Delimiter } else { LineEnd::Stream };
        told.push(format!("{} {at} {end:?} {text}", index + 1));
        at += line.len();
    }
    told
}

proptest! {
    #[test]
    fn the_text_codec_reads_what_the_model_reads(bytes in inputs(), lens in cuts()) {
        for extent in EXTENTS {
            let codec = || Utf8Codec::new().with_fallback(extent.fallback(LATIN1));
            let expected = model(&bytes, extent, latin1);
            prop_assert_eq!(&run(codec(), &[&bytes]), &expected, "{:?}", extent);
            prop_assert_eq!(&run(codec(), &cut(&bytes, &lens)), &expected, "{:?}", extent);
            let bytewise: Vec<_> = bytes.chunks(1).collect();
            prop_assert_eq!(&run(codec(), &bytewise), &expected, "{:?}", extent);
        }
    }

    #[test]
    fn the_lines_codec_reads_what_the_model_reads(bytes in inputs(), lens in cuts()) {
        for extent in [Extent::Part, Extent::Line(usize::MAX), Extent::Rest] {
            let codec = || Utf8LinesCodec::new().with_fallback(extent.fallback(LATIN1));
            let expected = model_lines(&bytes, extent);
            let whole = lines(codec(), &[&bytes]);
            prop_assert_eq!(&whole.0, &expected, "{:?}", extent);
            let bytewise: Vec<_> = bytes.chunks(1).collect();
            prop_assert_eq!(&lines(codec(), &bytewise), &whole, "{:?}", extent);
            prop_assert_eq!(&lines(codec(), &cut(&bytes, &lens)), &whole, "{:?}", extent);
        }
    }

    #[test]
    fn lines_with_limits_modes_and_strictness_are_the_same_at_any_cut(
        bytes in inputs(),
        lens in cuts(),
        limit in 0_usize..12,
    ) {
        let options = Utf8Options::new().with_strictness(Strictness::mqtt());
        let delimiters = [Delimiter::lf(), Delimiter::any_newline(), Delimiter::text("b0").unwrap()];
        for delimiter in delimiters {
            for mode in [ErrorMode::Fatal, ErrorMode::Replacement] {
                for extent in EXTENTS {
                    let codec = || {
                        Utf8LinesCodec::new()
                            .with_options(options)
                            .with_error_mode(mode)
                            .with_max_length(limit)
                            .with_delimiter(delimiter.clone())
                            .with_fallback(extent.fallback(LATIN1))
                    };
                    let whole = lines(codec(), &[&bytes]);
                    prop_assert_eq!(&lines(codec(), &cut(&bytes, &lens)), &whole);
                    let bytewise: Vec<_> = bytes.chunks(1).collect();
                    prop_assert_eq!(&lines(codec(), &bytewise), &whole);
                }
            }
        }
    }
}

#[test]
fn a_line_of_irc_is_utf8_or_legacy_as_a_whole() {
    let irc = Fallback::line(LegacyEncoding::windows_1252());
    let codec = Utf8LinesCodec::new().with_fallback(irc);
    let (told, outcome) =
        lines(codec, &[b":a PRIVMSG #b :\xC3\xA9\r\n", b":a \x80\xC3\xA9\r\n\xE2\x82"]);
    assert_eq!(told, ["1 0 Delimiter :a PRIVMSG #b :é", "2 19 Delimiter :a €Ã©", "3 27 Stream â‚"]);
    assert_eq!((outcome.runs, outcome.bytes, outcome.first), (2, 5, Some(22)));
}

#[test]
fn no_nul_slips_through_a_legacy_line() {
    let options = Utf8Options::new().with_strictness(Strictness::new().refuse_nul());
    for extent in [Extent::Part, Extent::Line(usize::MAX), Extent::Rest] {
        for line in [&b"\xE9\0\n"[..], b"\0\xE9\n", b"\xC3\xA9\0\xE9\n"] {
            let codec =
                Utf8LinesCodec::new().with_options(options).with_fallback(extent.fallback(LATIN1));
            let mut buffer = BytesMut::from(line);
            let item = { codec }.decode(&mut buffer).unwrap().unwrap();
            assert!(matches!(item.unwrap_err().kind, LineErrorKind::Utf8(e) if e.bytes() == b"\0"));
        }
    }
}

#[test]
fn a_codec_starts_anew_as_utf8_after_reset() {
    let rest = Fallback::rest(LATIN1);
    let mut codec = Utf8Codec::new().with_fallback(rest);
    codec.decode(&mut BytesMut::from(&b"\xE9"[..])).unwrap();
    codec.decode_eof(&mut BytesMut::from(&b"\xE9"[..])).unwrap();
    codec.reset();
    assert_eq!(run(codec, &["é".as_bytes()]).text, "é");
    let mut codec = Utf8LinesCodec::new().with_fallback(rest);
    codec.decode(&mut BytesMut::from(&b"\xE9\n"[..])).unwrap();
    codec.reset();
    assert_eq!(lines(codec, &["é\n".as_bytes()]).0, ["1 0 Delimiter é"]);
}

#[test]
fn a_buffer_that_is_taken_away_does_no_harm() {
    for extent in EXTENTS {
        let mut codec = Utf8Codec::new().with_fallback(extent.fallback(LATIN1));
        let mut buffer = BytesMut::from("ascii, ééé".as_bytes());
        while codec.decode(&mut buffer).unwrap().is_some() {}
        buffer.clear();
        buffer.extend_from_slice(b"\xE9\n\xC3");
        while codec.decode(&mut buffer).unwrap().is_some() {}
        while codec.decode_eof(&mut buffer).unwrap().is_some() {}
        assert!(buffer.is_empty());
    }
}
