//! The fallback in the codecs: by the line, after a reset, and with offsets.

use bytes::BytesMut;
use proptest::prelude::*;
use tokio_util::codec::Decoder;
use utf8_codec::codec::{Utf8Codec, Utf8LinesCodec};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::lines::{Delimiter, LineError};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

use crate::fallback::{cut, cuts, inputs};
use crate::fallback_model::{EXTENTS, Extent, lines, run};
use crate::lists::assert_linear;

const LATIN1: LegacyEncoding = LegacyEncoding::latin1();
const BOM: &[u8] = b"\xEF\xBB\xBF";

proptest! {
    #[test]
    fn lines_after_a_bom_that_decides_are_those_without_a_fallback(bytes in inputs(), lens in cuts()) {
        let bytes = [BOM, &bytes].concat();
        for mode in [ErrorMode::Fatal, ErrorMode::Escape] {
            let plain = Utf8LinesCodec::new().with_error_mode(mode);
            let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
            let expected = lines(&mut plain.clone().with_options(strip), [&bytes[..]]);
            let codec = || plain.clone().with_fallback(FallbackDecoder::without_bom(LATIN1));
            prop_assert_eq!(&lines(&mut codec(), [&bytes[..]]), &expected);
            prop_assert_eq!(&lines(&mut codec(), bytes.chunks(1)), &expected);
            prop_assert_eq!(&lines(&mut codec(), cut(&bytes, &lens)), &expected);
        }
    }

    #[test]
    fn lines_with_limits_modes_and_strictness_do_not_depend_on_splits(
        bytes in inputs(),
        lens in cuts(),
        limit in 0_usize..12,
    ) {
        let options = Utf8Options::new().only_mqtt_characters();
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
                            .with_fallback(extent.decoder(LATIN1))
                    };
                    let whole = lines(&mut codec(), [&bytes[..]]);
                    prop_assert_eq!(&lines(&mut codec(), cut(&bytes, &lens)), &whole);
                    prop_assert_eq!(&lines(&mut codec(), bytes.chunks(1)), &whole);
                }
            }
        }
    }
}

#[test]
fn a_rejected_character_is_legal_in_a_line_that_turns_out_to_be_legacy() {
    let options = Utf8Options::new().reject_controls();
    let line = FallbackDecoder::line(LegacyEncoding::windows_1252());
    for mode in [ErrorMode::Fatal, ErrorMode::Replacement] {
        for bytes in [&b"\xC2\x85\xE9\n"[..], b"\xE9\xC2\x85\n"] {
            let codec = Utf8LinesCodec::new().with_options(options).with_error_mode(mode);
            let mut codec = codec.with_fallback(line.clone());
            let line = codec.decode(&mut BytesMut::from(bytes)).unwrap().unwrap().unwrap();
            let (text, offset) = if bytes[0] == 0xC2 { ("Â…é", 2) } else { ("éÂ…", 0) };
            assert_eq!(line, text, "{mode:?}");
            assert_eq!((line.error_count, line.first_error_offset), (1, Some(offset)), "{mode:?}");
        }
    }
}

#[test]
fn a_line_of_rejected_characters_takes_linear_time() {
    let options = Utf8Options::new().reject_controls();
    // Controls in UTF-8 after an accepted character, ASCII controls, and controls in Latin-1.
    let lines = ["é\u{85}".as_bytes(), b"\x01", b"\xE9!\x9B"];
    for (piece, extent) in lines.into_iter().flat_map(|line| EXTENTS.map(|extent| (line, extent))) {
        assert_linear(1 << 15, |size| {
            let mut buffer = BytesMut::from(&*piece.repeat(size));
            buffer.extend_from_slice(b"\n");
            let codec = Utf8LinesCodec::new().with_options(options).with_max_length(1 << 20);
            let codec = codec.with_error_mode(ErrorMode::Skip);
            let mut codec = codec.with_fallback(extent.decoder(LATIN1));
            let count = codec.decode(&mut buffer).unwrap().unwrap().unwrap().error_count;
            assert!(count >= size as u64 || extent == Extent::WithoutBom, "{extent:?}: {count}");
        });
    }
}

#[test]
fn a_forbidden_bom_is_not_part_of_a_legacy_line() {
    let options = Utf8Options::new().with_bom(BomPolicy::Forbid);
    for mode in [ErrorMode::Replacement, ErrorMode::Latin1, ErrorMode::Windows1252] {
        let codec = Utf8LinesCodec::new().with_options(options).with_error_mode(mode);
        let mut codec = codec.with_fallback(FallbackDecoder::line(LegacyEncoding::windows_1252()));
        let mut buffer = BytesMut::from(&b"\xEF\xBB\xBF\xC2\n"[..]);
        let line = codec.decode(&mut buffer).unwrap().unwrap().unwrap();
        assert_eq!((&*line.text, codec.fallback_uses().first), ("\u{FFFD}Â", Some(3)), "{mode:?}");
    }
}

#[test]
fn an_irc_line_is_entirely_utf8_or_entirely_legacy() {
    let irc = FallbackDecoder::line(LegacyEncoding::windows_1252());
    let mut codec = Utf8LinesCodec::new().with_fallback(irc);
    let (reported, outcome) =
        lines(&mut codec, [&b":a PRIVMSG #b :\xC3\xA9\r\n"[..], b":a \x80\xC3\xA9\r\n\xE2\x82"]);
    assert_eq!(reported, ["1 0 true :a PRIVMSG #b :é", "2 19 true :a €Ã©", "3 27 false â‚"]);
    assert_eq!((outcome.runs, outcome.first), (2, Some(22)));
}

#[test]
fn a_rejected_nul_is_an_error_in_a_legacy_line() {
    let options = Utf8Options::new().reject_nul();
    for extent in [Extent::Part, Extent::Line(usize::MAX), Extent::Rest] {
        for line in [&b"\xE9\0\n"[..], b"\0\xE9\n", b"\xC3\xA9\0\xE9\n"] {
            let codec =
                Utf8LinesCodec::new().with_options(options).with_fallback(extent.decoder(LATIN1));
            let mut buffer = BytesMut::from(line);
            let item = { codec }.decode(&mut buffer).unwrap().unwrap();
            let error = item.unwrap_err();
            assert!(matches!(error, LineError::Utf8 { error, .. } if error.bytes() == b"\0"));
        }
    }
}

#[test]
fn reset_returns_a_codec_to_utf8() {
    let rest = FallbackDecoder::rest(LATIN1);
    let mut codec = Utf8Codec::new().with_fallback(rest.clone());
    codec.decode(&mut BytesMut::from(&b"\xE9"[..])).unwrap();
    codec.decode_eof(&mut BytesMut::from(&b"\xE9"[..])).unwrap();
    codec.reset();
    assert_eq!(run(&mut codec, ["é".as_bytes()]).text, "é");
    let mut codec = Utf8LinesCodec::new().with_fallback(rest);
    codec.decode(&mut BytesMut::from(&b"\xE9\n"[..])).unwrap();
    codec.reset();
    assert_eq!(lines(&mut codec, ["é\n".as_bytes()]).0, ["1 0 true é"]);
}

#[test]
fn a_used_decoder_is_a_setting_without_its_stream_and_its_options() {
    for extent in EXTENTS {
        let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
        let mut used = extent.decoder(LATIN1).with_options(strip);
        let _done = used.push_to_string(b"\xC3\xA9\xE9 \xC3", ErrorMode::Fatal, &mut String::new());
        for bytes in [&b"\xEF\xBB\xBF\xC3\xA9 \xE9"[..], b"\xC3\xA9\n\xE9\xE9", b"\xA9"] {
            let mut codec = Utf8Codec::new().with_fallback(used.clone());
            let mut fresh = Utf8Codec::new().with_fallback(extent.decoder(LATIN1));
            assert_eq!((codec.fallback_uses().first, codec.fallback_uses().runs), (None, 0));
            assert_eq!(run(&mut codec, [bytes]), run(&mut fresh, [bytes]), "{extent:?}");
            let mut codec = Utf8LinesCodec::new().with_fallback(used.clone());
            let mut fresh = Utf8LinesCodec::new().with_fallback(extent.decoder(LATIN1));
            assert_eq!((codec.fallback_uses().first, codec.fallback_uses().runs), (None, 0));
            assert_eq!(lines(&mut codec, [bytes]), lines(&mut fresh, [bytes]), "{extent:?}");
        }
    }
}

#[test]
fn clearing_the_buffer_is_harmless() {
    for extent in EXTENTS {
        let mut codec = Utf8Codec::new().with_fallback(extent.decoder(LATIN1));
        let mut buffer = BytesMut::from("ascii, ééé".as_bytes());
        while codec.decode(&mut buffer).unwrap().is_some() {}
        buffer.clear();
        buffer.extend_from_slice(b"\xE9\n\xC3");
        while codec.decode(&mut buffer).unwrap().is_some() {}
        while codec.decode_eof(&mut buffer).unwrap().is_some() {}
        assert!(buffer.is_empty());
    }
}

#[test]
fn the_lines_codec_knows_where_the_fallback_began() {
    let bytes = b"one\nzw\xC3\xB6lf\ndix-huit caf\xE9s\nvingt caf\xE9s\n";
    for (fallback, first, count) in [
        (FallbackDecoder::part(LATIN1), 23, 2),
        (FallbackDecoder::line(LATIN1), 23, 2),
        (FallbackDecoder::rest(LATIN1), 23, 1),
    ] {
        let mut codec = Utf8LinesCodec::new().with_fallback(fallback);
        let mut buffer = BytesMut::from(&bytes[..]);
        while codec.decode(&mut buffer).unwrap().is_some() {}
        assert_eq!((codec.fallback_uses().first, codec.fallback_uses().runs), (Some(first), count));
    }
}

#[test]
fn runs_and_bytes_of_damaged_lines_do_not_depend_on_splits() {
    let bytes = b"caf\xE9 \xC3\xA9\xC3 \xE9\xE8x\n".repeat(300);
    let bytes = [&bytes[..], &b"a\xE9".repeat(500), b"\n", &bytes].concat();
    let decode = |len| {
        let mut codec = Utf8LinesCodec::new().with_fallback(FallbackDecoder::part(LATIN1));
        (lines(&mut codec, bytes.chunks(len)).0, codec.fallback_uses())
    };
    let expected = decode(bytes.len());
    assert_eq!((expected.1.runs, expected.1.bytes), (600 * 3 + 500, 600 * 4 + 500));
    for len in [1, 2, 7, 64, 1460] {
        assert_eq!(decode(len), expected, "chunks of {len}");
    }
}
