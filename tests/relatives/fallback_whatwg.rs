//! The legacy encodings as the Encoding Standard and encoding_rs decode them.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, ISO_2022_JP, KOI8_R, REPLACEMENT, SHIFT_JIS,
    UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, WINDOWS_1253, X_USER_DEFINED,
};
use proptest::prelude::*;
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::lines::LineDecoder;
use utf8_codec::{ErrorMode, Utf8Options};

use crate::fallback::{cut, cuts, inputs};
use crate::fallback_model::{EXTENTS, Extent, decode, model, push, push_all};

const ENCODINGS: [&Encoding; 10] = [
    BIG5,
    EUC_JP,
    EUC_KR,
    GB18030,
    GBK,
    KOI8_R,
    SHIFT_JIS,
    WINDOWS_1252,
    WINDOWS_1253,
    X_USER_DEFINED,
];

fn whole(encoding: &'static Encoding) -> impl Fn(&[u8]) -> String + Copy {
    move |bytes| encoding.decode_without_bom_handling(bytes).0.into_owned()
}

proptest! {
    #[test]
    fn splits_do_not_affect_any_encoding(bytes in inputs(), lens in cuts()) {
        for encoding in ENCODINGS {
            let legacy = LegacyEncoding::whatwg(encoding).unwrap();
            for extent in EXTENTS {
                let expected = model(&bytes, extent, whole(encoding));
                let new = || extent.decoder(legacy);
                let name = encoding.name();
                prop_assert_eq!(&decode(&mut new(), ErrorMode::Fatal, [&bytes[..]]), &expected, "{} {:?}", name, extent);
                prop_assert_eq!(&decode(&mut new(), ErrorMode::Fatal, bytes.chunks(1)), &expected, "{} {:?}", name, extent);
                prop_assert_eq!(&decode(&mut new(), ErrorMode::Fatal, cut(&bytes, &lens)), &expected, "{} {:?}", name, extent);
            }
        }
    }

    #[test]
    fn random_bytes_in_any_encoding(bytes: Vec<u8>, lens in cuts()) {
        for encoding in ENCODINGS {
            let legacy = LegacyEncoding::whatwg(encoding).unwrap();
            for extent in EXTENTS {
                if extent == Extent::WithoutBom && bytes.starts_with(b"\xEF\xBB\xBF") {
                    continue; // ill-formed parts are errors
                }
                let expected = model(&bytes, extent, whole(encoding));
                let mut decoder = extent.decoder(legacy);
                let mut text = String::new();
                for chunk in cut(&bytes, &lens) {
                    push(&mut decoder, chunk, &mut text);
                    if !matches!(extent, Extent::Line(_)) {
                        prop_assert!(decoder.incomplete().len() <= 6);
                    }
                }
                decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
                prop_assert_eq!(&text, &expected.text, "{} {:?}", encoding.name(), extent);
            }
        }
    }
}

#[test]
fn splits_do_not_affect_bytes_of_gb18030() {
    let bytes = [0x20, 0x30, 0x7F, 0x80, 0x81, 0xFE, 0xFF];
    let legacy = LegacyEncoding::whatwg(GB18030).unwrap();
    for index in 0..7_usize.pow(5) {
        let input = [0, 1, 2, 3, 4].map(|place| bytes[index / 7_usize.pow(place) % 7]);
        for extent in [Extent::Rest, Extent::Part] {
            let expected = model(&input, extent, whole(GB18030));
            for at in 0..=input.len() {
                let (a, b) = input.split_at(at);
                let mut decoder = extent.decoder(legacy);
                assert_eq!(
                    decode(&mut decoder, ErrorMode::Fatal, [a, b]),
                    expected,
                    "{input:02x?} at {at}"
                );
            }
        }
    }
}

#[test]
fn built_in_tables_equal_the_encoding_standard() {
    let all: Vec<u8> = (0..=255).rev().collect();
    let rest = Extent::Rest;
    let own =
        decode(&mut rest.decoder(LegacyEncoding::windows_1252()), ErrorMode::Fatal, [&all[..]]);
    assert_eq!(own.text, whole(WINDOWS_1252)(&all));
}

#[test]
fn encodings_that_are_not_ascii_compatible_are_rejected() {
    for encoding in [UTF_8, UTF_16BE, UTF_16LE, ISO_2022_JP, REPLACEMENT] {
        assert_eq!(LegacyEncoding::whatwg(encoding), None, "{}", encoding.name());
    }
}

#[test]
fn unmapped_bytes_are_replaced_and_counted() {
    let legacy = LegacyEncoding::whatwg(SHIFT_JIS).unwrap();
    let mut decoder = Extent::Rest.decoder(legacy);
    let mut text = String::new();
    push(&mut decoder, b"\x93\xFA\xFF\x81", &mut text);
    decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
    assert_eq!((&*text, decoder.fallback_uses().replaced), ("日\u{FFFD}\u{FFFD}", 2));
}

#[test]
fn spare_capacity_does_not_slow_decoding() {
    // If each byte and each error initialised all spare capacity, this would take hours.
    let legacy = LegacyEncoding::whatwg(SHIFT_JIS).unwrap();
    let mut text = String::with_capacity(1 << 30);
    let mut decoder = Extent::Rest.decoder(legacy);
    for _ in 0..100_000 {
        push(&mut decoder, b"\xFFa", &mut text);
    }
    assert_eq!((text.len(), decoder.fallback_uses().replaced), (400_000, 100_000));
    let mut decoder = Extent::Rest.decoder(legacy);
    text.clear();
    push(&mut decoder, &b"\xFFa".repeat(100_000), &mut text);
    assert_eq!((text.len(), decoder.fallback_uses().replaced), (400_000, 100_000));
}

#[test]
fn after_the_line_limit_at_most_six_bytes_are_held() {
    let legacy = LegacyEncoding::whatwg(encoding_rs::GBK).unwrap();
    let bytes = ["ࠀ".as_bytes(), &[0xF0, 0x9F, 0x98].repeat(20)].concat();
    let held = (1..bytes.len()).map(|len| {
        let mut decoder = Extent::Line(0).decoder(legacy);
        push(&mut decoder, &bytes[..len], &mut String::new());
        decoder.incomplete().len()
    });
    let most = held.max().unwrap();
    assert!((4..=6).contains(&most), "{most}");
}

#[test]
fn an_incomplete_character_before_a_rejected_one_is_replaced() {
    let legacy = LegacyEncoding::whatwg(GBK).unwrap();
    let options = Utf8Options::new().only_mqtt_characters();
    for extent in [Extent::Rest, Extent::Line(64)] {
        let mut decoder = extent.decoder(legacy).with_options(options);
        let mut text = String::new();
        let mode = ErrorMode::Replacement;
        push_all(&mut decoder, b"\xC4\xE3\xC4\0\xE3", mode, &mut text, |_, error| {
            panic!("{error}")
        });
        assert_eq!(text, "你\u{FFFD}\u{FFFD}", "{extent:?}");
        assert_eq!((decoder.incomplete(), decoder.error_count()), (&b"\xE3"[..], 2), "{extent:?}");
    }
}

/// A line that is legacy only by its end. C3 A9 is a character in both encodings; if characters can be rejected, few are decoded at
/// once.
#[test]
fn a_long_line_of_characters_of_two_bytes_is_decoded_at_the_end_of_the_stream() {
    let options = Utf8Options::new().reject_nul();
    for ascii in ["", " ", "  "] {
        let line = format!("é{ascii}{}", "é".repeat(200));
        let bytes = [line.as_bytes(), b"\xC3"].concat();
        let expected = whole(GBK)(&bytes);
        let mut decoder = FallbackDecoder::line(LegacyEncoding::whatwg(GBK).unwrap());
        decoder = decoder.with_options(options);
        assert_eq!(decode(&mut decoder, ErrorMode::Fatal, [&bytes[..]]).text, expected);
    }
}

#[test]
fn a_character_of_several_bytes_that_the_options_reject_is_one_error() {
    let encoding = LegacyEncoding::whatwg(encoding_rs::GB18030).unwrap();
    let options = Utf8Options::new().only_mqtt_characters();
    // U+0080, U+FFFE, and a four-byte character that is accepted.
    let bytes = b"\xB0\xA1\x81\x30\x81\x30\x84\x31\xA4\x38 \x81\x30\x84\x36\xFF";
    for extent in [Extent::Rest, Extent::WithoutBom, Extent::Line(100)] {
        for size in 1..=bytes.len() {
            let mut decoder = extent.decoder(encoding).with_options(options);
            let found = decode(&mut decoder, ErrorMode::Fatal, bytes.chunks(size));
            let errors = "<Forbidden at 2: [81, 30, 81, 30]><Noncharacter at 6: [84, 31, a4, 38]>";
            assert_eq!(found.text, format!("啊{errors} ¥\u{FFFD}"), "{extent:?} {size}");
        }
    }
}

/// Whether `only_displayable_characters` accepts it, by the list in its documentation.
fn may_be_shown(c: char) -> bool {
    let is_allowed_control = c == '\t' || c == '\n';
    let is_invisible = matches!(c, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}')
        || matches!(c, '\u{2060}'..='\u{206F}' | '\u{FEFF}');
    (is_allowed_control || !c.is_control()) && !is_invisible
}

/// Single bytes such as 9B (CSI), and 9D, 9E, FD and FE, which are zero-width and bidirectional controls in windows-1256.
#[test]
fn repairs_and_legacy_text_contain_only_displayable_characters() {
    let options = Utf8Options::new().only_displayable_characters();
    let bytes: Vec<u8> = (0..=0xFF).collect();
    // GB 18030 encodes all characters, also the rejected ones.
    let hidden = "\u{9B}\u{61C}\u{200B}\u{202E}\u{2028}\u{2066}\u{FEFF}";
    let hidden = GB18030.encode(hidden).0.into_owned();
    let single_bytes = [
        encoding_rs::WINDOWS_1255,
        encoding_rs::WINDOWS_1256,
        encoding_rs::ISO_8859_6,
        encoding_rs::ISO_8859_8,
    ];
    let encodings = ENCODINGS.into_iter().chain(single_bytes);
    let encodings = encodings.map(|encoding| LegacyEncoding::whatwg(encoding).unwrap());
    for encoding in encodings.chain([LegacyEncoding::latin1(), LegacyEncoding::windows_1252()]) {
        for extent in EXTENTS {
            for mode in crate::lists::LOSSY {
                for input in [&bytes, &hidden] {
                    let shown = |size| {
                        let mut decoder = extent.decoder(encoding).with_options(options);
                        let text = decode(&mut decoder, mode, input.chunks(size)).text;
                        (text, decoder.rejected_count())
                    };
                    let whole = shown(input.len());
                    let bad: Vec<char> = whole.0.chars().filter(|&c| !may_be_shown(c)).collect();
                    assert!(bad.is_empty(), "{encoding:?} {extent:?} {mode:?}: {bad:?}");
                    for size in 1..8 {
                        assert_eq!(shown(size), whole, "{encoding:?} {extent:?} {mode:?} {size}");
                    }
                }
            }
        }
    }
}

/// A digit after the first byte of a character of four bytes.
#[test]
fn a_digit_in_an_incomplete_character_is_lost_only_at_the_end_of_the_stream() {
    for encoding in [GB18030, GBK] {
        let legacy = LegacyEncoding::whatwg(encoding).unwrap();
        for content in [&b"x \xDD2"[..], b"x \x810\x81", b"x \x810\x810"] {
            for (delimiter, options) in [
                (&b"\r\n"[..], Utf8Options::new()),
                (b"\n", Utf8Options::new().reject_nul()),
                (b"", Utf8Options::new()),
            ] {
                let bytes = [content, delimiter].concat();
                let expected = whole(encoding)(&bytes);
                for fallback in [FallbackDecoder::line, FallbackDecoder::rest] {
                    let mut lines = LineDecoder::new().with_options(options);
                    lines = lines.with_fallback(fallback(legacy));
                    let line =
                        lines.push(&bytes).next_line().map(|line| line.unwrap().text.to_owned());
                    let line = line
                        .unwrap_or_else(|| lines.finish_line().unwrap().unwrap().text.to_owned());
                    assert_eq!(line, expected.trim_end_matches(['\r', '\n']), "{bytes:02x?}");
                }
            }
            let bytes = [content, b"\0x"].concat();
            let mut decoder = FallbackDecoder::rest(legacy);
            decoder = decoder.with_options(Utf8Options::new().reject_nul());
            let text = decode(&mut decoder, ErrorMode::Skip, [&bytes[..]]).text;
            assert_eq!(text, whole(encoding)(&bytes).replace('\0', ""), "{bytes:02x?}");
        }
    }
}
