//! What one decoder accepts and another rejects is never passed on. `dialects`: not by a decoder, codec or stream. Here:
//! overlong forms and surrogates are not decoded to what they imitate by a fallback, a switch of charsets, a
//! detector or a search.
#![cfg(feature = "alloc")]

#[cfg(all(feature = "codec", feature = "stream"))]
#[path = "../tools/src/bin/conformance/driver/mod.rs"]
#[allow(dead_code, reason = "each user takes its own part")]
mod driver;
#[cfg(feature = "codec")]
#[path = "../support/lists.rs"]
mod lists;

use utf8_codec::decoder::Status;
use utf8_codec::detect::{Detector, StreamKind};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::terminal::TerminalDecoder;
use utf8_codec::{ErrorMode, boundary};

/// NUL, a slash, surrogates, a pair of them, a value too large; and what each imitates.
const FORMS: [(&[u8], &str); 9] = [
    (b"\xC0\x80", "\0"),
    (b"\xE0\x80\x80", "\0"),
    (b"\xC0\xAF", "/"),
    (b"\xE0\x80\xAF", "/"),
    (b"\xF0\x80\x80\xAF", "/"),
    (b"\xF8\x80\x80\x80\xAF", "/"),
    (b"\xED\xA0\x80", "\u{FFFF}"),
    (b"\xED\xA0\xBD\xED\xB8\x80", "\u{1F600}"),
    (b"\xF4\x90\x80\x80", "\u{10FFFF}"),
];

fn fallbacks() -> Vec<FallbackDecoder> {
    #[cfg(not(feature = "encoding_rs"))]
    let others = [];
    #[cfg(feature = "encoding_rs")]
    let others =
        [encoding_rs::SHIFT_JIS, encoding_rs::GB18030, encoding_rs::BIG5, encoding_rs::EUC_KR]
            .map(|encoding| LegacyEncoding::whatwg(encoding).unwrap());
    let extents = [FallbackDecoder::part, FallbackDecoder::line, FallbackDecoder::rest];
    [LegacyEncoding::latin1(), LegacyEncoding::windows_1252()]
        .into_iter()
        .chain(others)
        .flat_map(|encoding| extents.map(|extent| extent(encoding)))
        .collect()
}

/// Calls `check` with each form between `!` and `.`, which are never part of a two-byte character,
/// split at each offset.
fn for_each_form(check: impl Fn(&[&[u8]], &str)) {
    for (form, pretended) in FORMS {
        let bytes = [b"!", form, b"."].concat();
        for at in 0..=bytes.len() {
            let (front, back) = bytes.split_at(at);
            check(&[front, back], pretended);
        }
        check(&bytes.chunks(1).collect::<Vec<_>>(), pretended);
    }
}

#[track_caller]
fn assert_stopped(text: &str, pretended: &str) {
    assert!(text.starts_with('!') && text.ends_with('.'), "{text:?}");
    assert!(!text.contains(pretended), "{text:?}");
}

#[test]
fn fallbacks_never_pass_a_disguised_form() {
    for fallback in fallbacks() {
        for_each_form(|chunks, pretended| {
            let mut decoder = fallback.clone();
            let mut text = String::new();
            for chunk in chunks {
                let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
                assert_eq!(progress.status, Status::Done);
            }
            decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
            assert_stopped(&text, pretended);
            assert!(decoder.fallback_uses().first.is_some() && decoder.error_count() > 0);
        });
    }
}

#[test]
fn charset_switches_never_pass_a_disguised_form() {
    for start in [TerminalDecoder::new(), TerminalDecoder::new().with_utf8_start()] {
        for_each_form(|chunks, pretended| {
            let mut decoder = start.clone();
            let mut text = String::new();
            for chunk in chunks {
                decoder.push(chunk).flatten().for_each(|piece| text.push_str(piece));
            }
            assert_stopped(&text, pretended);
            assert_eq!(decoder.error_count() > 0, start.is_utf8());
        });
    }
}

#[test]
fn a_detector_never_reports_a_disguised_form_as_utf8() {
    for_each_form(|chunks, _| {
        let mut detector = Detector::new();
        for chunk in chunks {
            detector.push(chunk);
        }
        assert_eq!(detector.finish(), StreamKind::Legacy);
    });
}

#[test]
fn a_disguised_form_is_not_one_unit_between_boundaries() {
    for (form, _) in FORMS {
        assert!(boundary::is_boundary(form, 1), "{form:02x?}");
    }
}

#[cfg(feature = "codec")]
#[test]
fn codecs_with_a_fallback_never_pass_a_disguised_form() {
    use lists::decoded;
    use utf8_codec::codec::{Utf8Codec, Utf8LinesCodec};

    for fallback in fallbacks() {
        for_each_form(|chunks, pretended| {
            let texts = Utf8Codec::new().with_fallback(fallback.clone());
            let text = decoded(texts, chunks.iter().copied()).concat();
            let lines = Utf8LinesCodec::new().with_fallback(fallback.clone());
            let lines = decoded(lines, chunks.iter().copied());
            let [Ok(line)] = &lines[..] else { panic!("{lines:?}") };
            assert_stopped(&text, pretended);
            assert_stopped(line, pretended);
        });
    }
}

#[cfg(feature = "stream")]
#[test]
fn streams_with_a_fallback_or_a_search_never_pass_a_disguised_form() {
    use bytes::Bytes;
    use futures::{FutureExt, StreamExt, stream};
    use utf8_codec::search::TextFinder;
    use utf8_codec::stream::{StreamError, Utf8Stream};

    let inner = |chunks: &[&[u8]]| {
        let chunks = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk)));
        stream::iter(chunks.collect::<Vec<Result<_, std::convert::Infallible>>>())
    };
    for fallback in fallbacks() {
        for_each_form(|chunks, pretended| {
            let texts = Utf8Stream::new(inner(chunks)).with_fallback(fallback.clone());
            let texts = texts.map(Result::unwrap).collect::<Vec<_>>().now_or_never().unwrap();
            assert_stopped(&texts.iter().map(|text| &**text).collect::<String>(), pretended);
        });
    }
    for_each_form(|chunks, pretended| {
        for needle in [pretended, "!."] {
            let mut finder = TextFinder::new([needle]).unwrap();
            let texts = Utf8Stream::new(inner(chunks));
            let items = texts.collect::<Vec<_>>().now_or_never().unwrap();
            assert!(items.iter().any(Result::is_err));
            for item in items {
                match item {
                    Ok(text) => assert_eq!(finder.push(&text).next(), None),
                    Err(StreamError::Utf8(error)) => finder.skip(error.bytes().len() as u64),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    });
}

mod dialects {
    //! A sequence that is a character in some dialects only is not accepted anywhere else: not by a
    //! decoder, codec or stream, in any error mode, at any split.
    #![cfg(all(feature = "codec", feature = "stream"))]

    use crate::driver;
    use crate::lists;

    use bytes::BytesMut;
    use futures::executor::block_on;
    use futures::{FutureExt, StreamExt, stream};
    use lists::{DIALECTS, decoded, sum_of};
    use serde_json::{Value, json};
    use tokio_util::codec::Decoder;
    use utf8_codec::codec::DialectCodec;
    use utf8_codec::codec::Utf8LinesCodec;
    use utf8_codec::decoder::Status;
    use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};
    use utf8_codec::stream::Utf8StreamExt;
    use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Options, Utf8Validator};
    use utf8_simd::Level;

    use driver::{Form, VIAS};

    /// A disguised character: a sequence that only some dialects decode.
    struct Disguise {
        bytes: &'static [u8],
        /// The character that it must not decode to.
        hides: char,
        /// The only dialects that decode it.
        known_to: &'static [Dialect],
    }

    const fn disguise(bytes: &'static [u8], hides: char, known_to: &'static [Dialect]) -> Disguise {
        Disguise { bytes, hides, known_to }
    }

    const DISGUISES: [Disguise; 24] = [
        disguise(b"\xC0\x80", '\0', &[Dialect::ModifiedUtf8]),
        disguise(b"\xE0\x80\x80", '\0', &[]),
        disguise(b"\xF0\x80\x80\x80", '\0', &[]),
        disguise(b"\xF8\x80\x80\x80\x80", '\0', &[]),
        disguise(b"\xFC\x80\x80\x80\x80\x80", '\0', &[]),
        disguise(b"\xC0\xAF", '/', &[]),
        disguise(b"\xE0\x80\xAF", '/', &[]),
        disguise(b"\xF0\x80\x80\xAF", '/', &[]),
        disguise(b"\xF8\x80\x80\x80\xAF", '/', &[]),
        disguise(b"\xFC\x80\x80\x80\x80\xAF", '/', &[]),
        disguise(b"\xC0\xAE\xC0\xAE", '.', &[]),
        disguise(b"\xC1\x81", 'A', &[]),
        disguise(b"\xE0\x83\xBF", 'ÿ', &[]),
        disguise(b"\xF0\x82\x82\xAC", '€', &[]),
        disguise(b"\xED\xA0\xBD", '\u{3D}', &[Dialect::Wtf8, Dialect::SurrogatePass]),
        disguise(b"\xED\xB8\x80", '\u{2E00}', &[Dialect::Wtf8, Dialect::SurrogatePass]),
        disguise(
            b"\xED\xA0\xBD\xED\xB8\x80",
            '😀',
            &[Dialect::Cesu8, Dialect::ModifiedUtf8, Dialect::SurrogatePass],
        ),
        disguise(b"\xED\xB8\x80\xED\xA0\xBD", '😀', &[Dialect::Wtf8, Dialect::SurrogatePass]),
        disguise(b"\xED\xB2\xAF", '/', &[Dialect::Wtf8, Dialect::SurrogatePass]),
        disguise(b"\xF4\x90\x80\x80", '\u{10000}', &[Dialect::Rfc2279]),
        disguise(b"\xF7\xBF\xBF\xBF", '\u{FFFF}', &[Dialect::Rfc2279]),
        disguise(b"\xF8\x88\x80\x80\x80", '\0', &[Dialect::Rfc2279]),
        disguise(b"\xFC\x84\x80\x80\x80\x80", '\0', &[Dialect::Rfc2279]),
        disguise(b"\xFE\x83\xBF\xBF\xBF\xBF\xBF", '\u{FFFF}', &[]),
    ];

    /// Surrounding text, long enough for every path through the kernels.
    const SURROUNDINGS: [(&str, &str); 6] = [
        ("", ""),
        ("a", "b"),
        ("ab€d ", "é"),
        (
            "sixty-three bytes of plain text and then it comes: here it is:",
            "and on it goes, on and on",
        ),
        ("жёлтый, жёлтый, жёлтый, жёлтый, жёлтый, жёлтый, ", "日本語日本語日本語"),
        ("🦀", "🦀🦀"),
    ];

    /// `bytes` within surroundings of many lengths, each with the offset of `bytes`.
    fn inputs(bytes: &[u8]) -> Vec<(Vec<u8>, usize)> {
        let mut inputs = Vec::new();
        for (before, after) in SURROUNDINGS {
            for times in [1, 3, 30] {
                let before = before.repeat(times);
                let input = [before.as_bytes(), bytes, after.as_bytes()].concat();
                inputs.push((input, before.len()));
            }
        }
        inputs
    }

    #[test]
    fn no_kernel_accepts_a_disguised_character() {
        for Disguise { bytes, .. } in DISGUISES {
            for (input, at) in inputs(bytes) {
                for kernel in Level::available() {
                    let stop = kernel.validate(&input);
                    assert_eq!(stop.valid_up_to, at, "{}: {input:02x?}", kernel.name());
                }
            }
        }
    }

    /// Checks every UTF-8 decoder of the crate, through the driver of the conformance data.
    #[test]
    fn no_decoder_accepts_a_disguised_character_in_any_mode_at_any_split() {
        let policies =
            ["strict", "replace", "ignore", "backslashreplace", "latin1", "windows-1252"];
        let all = DISGUISES.iter().flat_map(|Disguise { bytes, hides, .. }| {
            inputs(bytes).into_iter().map(move |(input, at)| (input, at, hides))
        });
        let all: Vec<_> = all.filter(|(input, ..)| input.len() < 300).collect();
        let checked = sum_of(&all, |(input, at, hides)| {
            let mut cuts: Vec<_> =
                [0].into_iter().chain(*at..at + 7).map(|cut| cut.min(input.len())).collect();
            cuts.push(input.len());
            cuts.dedup();
            // The expected output: the input with each error found by std repaired.
            for policy in policies {
                let expected = repaired(input, policy);
                assert!(policy != "strict" || !expected.contains(**hides) || *at > 0);
                let expected = json!(hex(expected.as_bytes()));
                for &cut in &cuts {
                    let case = case(policy, &[&input[..cut], &input[cut..]]);
                    for via in &VIAS {
                        let answer = driver::answer(&case, via, Form::FirstError).unwrap();
                        let context = || format!("{}, {policy}: {case}", via.name);
                        assert_eq!(answer["first_error"]["offset"], json!(at), "{}", context());
                        if let Some(out) = answer.get("out") {
                            assert_eq!(*out, expected, "{}", context());
                        }
                    }
                }
            }
            1
        });
        assert_eq!(checked, all.len() as u64);
    }

    /// The input with its ill-formed parts, as std finds them, repaired.
    fn repaired(input: &[u8], policy: &str) -> String {
        let mut text = String::new();
        for chunk in input.utf8_chunks() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            match policy {
                _ if invalid.is_empty() => {}
                "strict" => return text,
                "replace" => text.push('\u{FFFD}'),
                "ignore" => {}
                "backslashreplace" => {
                    text.extend(invalid.iter().map(|byte| format!("\\x{byte:02x}")));
                }
                "latin1" => text.extend(invalid.iter().copied().map(char::from)),
                // The bytes in 80 to 9F that occur, by the table of windows-1252.
                "windows-1252" => text.extend(invalid.iter().map(|&byte| match byte {
                    0x80 => '€',
                    0x82 => '‚',
                    0x83 => 'ƒ',
                    0x84 => '„',
                    0x88 => 'ˆ',
                    byte => char::from(byte),
                })),
                policy => panic!("there is no policy {policy}"),
            }
        }
        text
    }

    fn case(policy: &str, chunks: &[&[u8]]) -> Value {
        let chunks: Vec<_> = chunks.iter().map(|chunk| hex(chunk)).collect();
        json!({
            "id": "safety", "op": "decode", "dialect": "utf-8", "policy": policy, "bom": "keep",
            "chunks": chunks,
        })
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn no_options_accept_a_disguised_character() {
        let options = [
            Utf8Options::new(),
            Utf8Options::new().with_bom(BomPolicy::Strip),
            Utf8Options::new().with_bom(BomPolicy::Forbid),
            Utf8Options::new().reject_noncharacters().reject_nul().reject_controls(),
            Utf8Options::new().with_mid_stream_start(),
        ];
        for Disguise { bytes, .. } in DISGUISES {
            for (input, at) in inputs(bytes) {
                for options in options {
                    let mut validator = Utf8Validator::new().with_options(options);
                    let mut verdict = validator.push(&input);
                    if verdict.is_ok() {
                        verdict = validator.finish();
                    }
                    assert_eq!(
                        verdict.unwrap_err().valid_up_to(),
                        at as u64,
                        "{options:?}: {input:02x?}"
                    );
                }
            }
        }
    }

    #[test]
    fn chars_and_utf16_never_contain_a_disguised_character() {
        for Disguise { bytes, hides, .. } in DISGUISES {
            for mode in [ErrorMode::Replacement, ErrorMode::Skip] {
                let (mut chars, mut units) = (['x'; 32], [0; 32]);
                let in_chars = Utf8Decoder::new().push_to_chars(bytes, mode, &mut chars);
                let in_units = Utf8Decoder::new().push_to_utf16(bytes, mode, &mut units);
                assert_eq!((in_chars.status, in_units.status), (Status::Done, Status::Done));
                assert!(!chars[..in_chars.written].contains(&hides), "{bytes:02x?}");
                let units = &units[..in_units.written];
                assert!(char::decode_utf16(units.iter().copied()).all(|unit| unit != Ok(hides)));
            }
            let mut chars = ['x'; 32];
            let progress = Utf8Decoder::new().push_to_chars(bytes, ErrorMode::Fatal, &mut chars);
            assert!(matches!(progress.status, Status::IllFormed(_)) && progress.written == 0);
        }
    }

    #[test]
    fn lines_and_collected_text_never_contain_a_disguised_character() {
        for Disguise { bytes, hides, .. } in DISGUISES {
            for size in 1..=bytes.len() {
                let items = decoded(Utf8LinesCodec::new(), bytes.chunks(size));
                assert!(items.len() == 1 && items[0].is_err(), "{bytes:02x?}: {items:?}");

                let chunks: Vec<_> = bytes
                    .chunks(size)
                    .map(|chunk| Ok::<_, std::convert::Infallible>(chunk.to_vec()))
                    .collect();
                let texts = stream::iter(chunks.clone()).utf8();
                let collected = block_on(texts.collect_text(100));
                assert!(collected.is_err(), "{bytes:02x?}: {collected:?}");
                let lossy = stream::iter(chunks).utf8().with_error_mode(ErrorMode::Replacement);
                let texts: Vec<_> = lossy.collect().now_or_never().expect("the source is ready");
                assert!(texts.into_iter().all(|text| !text.unwrap().contains(hides)));
            }
        }
    }

    #[test]
    fn only_its_dialects_accept_a_disguised_character() {
        for Disguise { bytes, known_to, .. } in DISGUISES {
            for dialect in DIALECTS {
                let accepted = |mut decoder: DialectDecoder| {
                    let pushed = decoder.push(bytes).all(|piece| piece.is_ok());
                    pushed
                        && std::iter::from_fn(|| decoder.finish().transpose())
                            .all(|end| end.is_ok())
                };
                let decoder = DialectDecoder::new(dialect);
                // UTF-8B escapes each byte, and reports no errors.
                let expected = known_to.contains(&dialect) || dialect == Dialect::Utf8b;
                assert_eq!(accepted(decoder.clone()), expected, "{dialect}: {bytes:02x?}");
                assert_eq!(
                    accepted(decoder.with_whole_errors()),
                    expected,
                    "{dialect}: {bytes:02x?}"
                );
            }
        }
    }

    #[test]
    fn no_other_dialect_decodes_a_disguised_character_to_its_target() {
        for Disguise { bytes, hides, known_to } in DISGUISES {
            for dialect in DIALECTS {
                let (mut decoder, mode) = (DialectDecoder::new(dialect), ErrorMode::Replacement);
                let mut text = String::new();
                assert_eq!(decoder.push_to_string(bytes, mode, &mut text).status, Status::Done);
                decoder.finish_to_string(mode, &mut text).unwrap();
                assert!(
                    known_to.contains(&dialect) || !text.contains(hides),
                    "{dialect}: {bytes:02x?}"
                );

                let codec = DialectCodec::new(dialect).with_error_mode(ErrorMode::Skip);
                let mut codec = codec;
                let mut buffer = BytesMut::from(bytes);
                while let Ok(Some(item)) = codec.decode_eof(&mut buffer) {
                    let has_it = item.as_str().is_some_and(|text| text.contains(hides));
                    assert!(known_to.contains(&dialect) || !has_it, "{dialect}: {bytes:02x?}");
                }
            }
        }
    }

    #[test]
    fn dialect_encoders_write_utf8_except_for_pairs_and_nul() {
        let text = "a/é€😀\u{FFFF}";
        for dialect in DIALECTS {
            let mut bytes = Vec::new();
            DialectEncoder::new(dialect).push_to_vec(text, &mut bytes).unwrap();
            let has_pairs = matches!(dialect, Dialect::Cesu8 | Dialect::ModifiedUtf8);
            assert_eq!(str::from_utf8(&bytes) == Ok(text), !has_pairs, "{dialect}");
        }
        // A surrogate is encoded only by the dialects that have surrogates.
        for surrogate in [0xD800, 0xDBFF, 0xDC00, 0xDC7F, 0xDD00, 0xDFFF] {
            for dialect in DIALECTS {
                let mut encoder = DialectEncoder::new(dialect);
                let pushed =
                    encoder.push_code_point(surrogate).and_then(|_| encoder.finish().map(drop));
                let has_them = matches!(dialect, Dialect::Wtf8 | Dialect::SurrogatePass);
                assert_eq!(pushed.is_ok(), has_them, "{dialect}: {surrogate:x}");
            }
        }
    }

    /// An escaped byte can be any byte but ASCII: a slash or NUL cannot be smuggled in.
    #[test]
    fn utf8b_never_encodes_an_escape_as_ascii() {
        for value in 0xDC00..=0xDCFF {
            let mut encoder = DialectEncoder::new(Dialect::Utf8b);
            match encoder.push_code_point(value) {
                Ok(bytes) => assert!(value >= 0xDC80 && bytes[..] == [(value - 0xDC00) as u8]),
                Err(error) => assert!(value < 0xDC80 && error.code_point() == Some(value)),
            }
        }
    }
}
