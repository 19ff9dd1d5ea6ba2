//! `FallbackDecoder`: which bytes are decoded in the legacy encoding, what is held, and what a BOM decides.

use proptest::prelude::*;
use utf8_codec::decoder::Status;
use utf8_codec::fallback::{FallbackDecoder, FallbackUses, LegacyEncoding};
use utf8_codec::{BomPolicy, ErrorMode, Utf8ErrorKind, Utf8Options};

use crate::counting;
use crate::fallback_model::{EXTENTS, Extent, decode, latin1, model, push};
use crate::lists::assert_linear;

const LATIN1: LegacyEncoding = LegacyEncoding::latin1();
const WINDOWS: LegacyEncoding = LegacyEncoding::windows_1252();

fn is_plain<T: Send + Sync + Unpin + Clone + std::fmt::Debug>() {}

#[test]
fn types_are_send_sync_unpin_clone_and_debug() {
    is_plain::<FallbackDecoder>();
    is_plain::<LegacyEncoding>();
}

proptest! {
    #[test]
    fn determined_text_is_emitted_and_the_rest_is_held(bytes in inputs()) {
        for extent in EXTENTS {
            if extent == Extent::WithoutBom && bytes.starts_with(b"\xEF\xBB\xBF") {
                continue; // ill-formed parts are errors
            }
            let mut decoder = extent.decoder(LATIN1);
            let mut text = String::new();
            for (at, byte) in bytes.iter().enumerate() {
                push(&mut decoder, &[*byte], &mut text);
                let seen = &bytes[..=at];
                prop_assert_eq!(decoder.position(), seen.len() as u64);
                prop_assert!(seen.ends_with(decoder.incomplete()));
                let done = &seen[..seen.len() - decoder.incomplete().len()];
                prop_assert_eq!(&text, &model(done, extent, latin1).text);
                let most = match extent {
                    Extent::Part | Extent::Rest | Extent::WithoutBom => 3,
                    Extent::Line(limit) => limit.saturating_add(3),
                };
                prop_assert!(decoder.incomplete().len() <= most);
            }
        }
    }

    #[test]
    fn part_fallback_to_latin1_equals_the_error_mode(bytes in inputs()) {
        for (encoding, mode) in [(LATIN1, ErrorMode::Latin1), (WINDOWS, ErrorMode::Windows1252)] {
            let mut expected = String::new();
            let mut decoder = utf8_codec::Utf8Decoder::new();
            let _ = decoder.push_to_string(&bytes, mode, &mut expected);
            decoder.finish_to_string(mode, &mut expected).unwrap();
            let mut fallen = FallbackDecoder::part(encoding);
            let mut text = String::new();
            push(&mut fallen, &bytes, &mut text);
            fallen.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
            prop_assert_eq!(text, expected);
            prop_assert_eq!(fallen.error_count(), decoder.error_count());
            prop_assert_eq!(fallen.first_error(), decoder.first_error());
        }
    }
}

#[test]
fn the_bom_is_decided_before_the_encoding() {
    let read = |bom, bytes: &[u8]| {
        let mut decoder =
            FallbackDecoder::line(LATIN1).with_options(Utf8Options::new().with_bom(bom));
        let mut text = String::new();
        let result = match decoder.push_to_string(bytes, ErrorMode::Fatal, &mut text).status {
            Status::IllFormed(error) => Err(error),
            _ => decoder.finish_to_string(ErrorMode::Fatal, &mut text),
        };
        (text, result.map_err(|error| error.kind()))
    };
    assert_eq!(read(BomPolicy::Keep, b"\xEF\xBB\xBF\xE9"), ("ï»¿é".to_owned(), Ok(())));
    assert_eq!(read(BomPolicy::Strip, b"\xEF\xBB\xBF\xE9"), ("é".to_owned(), Ok(())));
    assert_eq!(read(BomPolicy::Strip, b"\xE9\n\xEF\xBB\xBF\n").0, "é\n\u{FEFF}\n");
    let missing = Err(Utf8ErrorKind::MissingBom);
    assert_eq!(read(BomPolicy::Require, b"\xE9"), (String::new(), missing));
    let forbidden = Err(Utf8ErrorKind::ForbiddenBom);
    assert_eq!(read(BomPolicy::Forbid, b"\xEF\xBB\xBF\xE9"), (String::new(), forbidden));
}

#[test]
fn without_bom_holds_only_what_can_become_a_bom() {
    for bytes in
        [&b"\xC2"[..], b"\xE2\x82", b"\xED\x81", b"\xF0\x9F\x98", b"\xEF\x8F", b"\xEF\xBB\xBE"]
    {
        for cut in 0..=bytes.len() {
            let mut decoder = FallbackDecoder::without_bom(LATIN1);
            let mut text = String::new();
            push(&mut decoder, &bytes[..cut], &mut text);
            push(&mut decoder, &bytes[cut..], &mut text);
            assert_eq!(text, latin1(bytes), "{bytes:x?} {cut}");
            assert_eq!((decoder.incomplete(), decoder.fallback_uses().first), (&b""[..], Some(0)));
        }
    }
    for bom in [&b"\xEF"[..], b"\xEF\xBB"] {
        let mut decoder = FallbackDecoder::without_bom(LATIN1);
        let mut text = String::new();
        push(&mut decoder, bom, &mut text);
        assert_eq!((&*text, decoder.incomplete()), ("", bom));
    }
}

#[test]
fn a_legacy_character_that_the_options_reject_is_an_error() {
    let options = Utf8Options::new().reject_controls();
    for extent in EXTENTS {
        // In windows-1252, 9B is a quotation mark, and 81 a control.
        for (encoding, bytes, at) in
            [(LATIN1, b"a\xE9\x9B31m", 2), (WINDOWS, b"\x9B\xE9\x8131m", 2)]
        {
            for size in 1..=bytes.len() {
                let mut decoder = extent.decoder(encoding).with_options(options);
                let found = decode(&mut decoder, ErrorMode::Fatal, bytes.chunks(size)).text;
                let error = format!("<Forbidden at {at}: [{:02x}]>", bytes[at]);
                let [before, after] =
                    [&bytes[..at], &bytes[at + 1..]].map(|part| match encoding == WINDOWS {
                        true => latin1(part).replace('\u{9B}', "›"),
                        false => latin1(part),
                    });
                assert_eq!(found, format!("{before}{error}{after}"), "{extent:?} {size}");
                for mode in [ErrorMode::Replacement, ErrorMode::Latin1, ErrorMode::Windows1252] {
                    let mut decoder = extent.decoder(encoding).with_options(options);
                    let found = decode(&mut decoder, mode, bytes.chunks(size)).text;
                    assert_eq!(
                        found,
                        format!("{before}\u{FFFD}{after}"),
                        "{extent:?} {mode:?} {size}"
                    );
                    assert_eq!(decoder.rejected_count(), 1);
                }
            }
        }
    }
}

#[test]
fn a_flood_of_rejected_legacy_characters_takes_linear_time() {
    let options = Utf8Options::new().reject_controls();
    for extent in EXTENTS {
        assert_linear(1 << 16, |size| {
            let bytes = [b"\xE9!", &*vec![0x9B; size]].concat();
            let mut decoder = extent.decoder(LATIN1).with_options(options);
            let found = decode(&mut decoder, ErrorMode::Skip, [&bytes[..]]);
            assert_eq!(&*found.text, "é!", "{extent:?}");
        });
    }
}

#[test]
fn an_endless_line_is_held_up_to_the_limit() {
    let mut decoder = FallbackDecoder::line(LATIN1).with_max_length(1000);
    let (mut text, mut most) = (String::new(), 0);
    for _ in 0..100_000 {
        text.clear();
        push(&mut decoder, "é€".as_bytes(), &mut text);
        most = most.max(decoder.incomplete().len());
    }
    assert!((900..=1003).contains(&most), "{most}");
    push(&mut decoder, b"\xE9 \xC3\xA9\n\xC3\xA9 \xE9\n", &mut text);
    assert!(text.ends_with("é€é é\nÃ© é\n"));
    assert_eq!((decoder.fallback_uses().runs, decoder.fallback_uses().bytes), (2, 6));
}

#[test]
fn a_line_longer_than_the_limit_ends_at_a_rejected_lf_and_at_no_other_error() {
    let options = Utf8Options::new().reject_controls();
    for (bytes, expected) in
        [("é\n\u{C9}", "ééé<Forbidden at 6: [0a]>Ã‰é"), ("é\tÉ", "ééé<Forbidden at 6: [09]>Éé")]
    {
        let bytes = [format!("éé{bytes}").as_bytes(), b"\xE9"].concat();
        for size in 1..=bytes.len() {
            let mut decoder = FallbackDecoder::line(WINDOWS).with_max_length(4);
            decoder = decoder.with_options(options);
            let found = decode(&mut decoder, ErrorMode::Fatal, bytes.chunks(size)).text;
            assert_eq!(found, expected, "{size}");
        }
    }
}

#[test]
fn a_line_is_held_up_to_the_default_limit() {
    let mut decoder = FallbackDecoder::line(LATIN1);
    let line = "é".repeat(32 * 1024 - 1);
    push(&mut decoder, line.as_bytes(), &mut String::new());
    assert_eq!(decoder.incomplete(), line.as_bytes());
    push(&mut decoder, "é".as_bytes(), &mut String::new());
    assert_eq!(decoder.incomplete(), b"");
}

/// C3 9B is a letter in UTF-8, and contains a control in Latin-1.
#[test]
fn the_rest_of_a_held_line_follows_an_error_without_another_byte() {
    let options = Utf8Options::new().only_displayable_characters();
    let mut decoder = FallbackDecoder::line(LATIN1).with_options(options);
    let mut text = String::new();
    push(&mut decoder, b"\xC3\x9B", &mut text);
    push(&mut decoder, b"abc", &mut text);
    let progress = decoder.push_to_string(b"\xE9\n", ErrorMode::Fatal, &mut text);
    assert!(matches!(progress.status, Status::IllFormed(error) if error.valid_up_to() == 1));
    assert_eq!((progress.read, decoder.incomplete()), (0, &b"abc"[..]));
    push(&mut decoder, b"", &mut text);
    assert_eq!((&*text, decoder.incomplete()), ("Ãabc", &b""[..]));
    push(&mut decoder, b"\xE9\n", &mut text);
    assert_eq!(text, "Ãabcé\n");
}

#[test]
fn the_buffer_of_a_long_line_is_freed_before_the_rest_of_it_is_decoded() {
    let options = Utf8Options::new().only_displayable_characters();
    let mut decoder = FallbackDecoder::line(LATIN1).with_options(options);
    let mut text = String::with_capacity(200_000);
    let line = [&b"\xC3\xA9".repeat(20_000)[..], b"\xC3\x9B", &[b'x'; 1000]].concat();
    let before = counting::held();
    push(&mut decoder, &line, &mut text);
    let progress = decoder.push_to_string(b"\xE9\n", ErrorMode::Fatal, &mut text);
    assert!(matches!(progress.status, Status::IllFormed(error) if error.valid_up_to() == 40_001));
    assert_eq!(decoder.incomplete().len(), 1000);
    assert!(counting::held() - before <= 16 * 1024, "{}", counting::held() - before);
}

#[test]
fn the_buffer_of_a_long_line_is_freed_at_its_end() {
    let mut decoder = FallbackDecoder::line(LATIN1);
    let mut text = String::with_capacity(600_000);
    let before = counting::held();
    for end in ["", "\n", "", "!"] {
        push(&mut decoder, "é".repeat(20_000).as_bytes(), &mut text);
        push(&mut decoder, "é".repeat(20_000).as_bytes(), &mut text);
        push(&mut decoder, end.as_bytes(), &mut text);
        assert!(counting::held() - before <= 16 * 1024, "{}", counting::held() - before);
    }
    for end in ["\n", "\né"] {
        push(&mut decoder, "é".repeat(20_000).as_bytes(), &mut text);
        push(&mut decoder, end.as_bytes(), &mut text);
        assert!(counting::held() - before <= 16 * 1024, "{}", counting::held() - before);
    }
}

#[test]
fn a_legacy_line_ends_at_the_first_of_many_line_ends() {
    for ends in 1..=50 {
        let mut decoder = FallbackDecoder::line(LATIN1);
        let mut text = String::new();
        push(&mut decoder, b"\xE9", &mut text);
        push(&mut decoder, b" ", &mut text);
        push(&mut decoder, "\n".repeat(ends).as_bytes(), &mut text);
        push(&mut decoder, "é\n".as_bytes(), &mut text);
        assert_eq!(text, format!("é {}é\n", "\n".repeat(ends)));
        assert_eq!(decoder.fallback_uses().bytes, 3);
    }
}

#[test]
fn lines_that_never_end_with_a_chunk_do_not_accumulate() {
    let mut decoder = FallbackDecoder::line(LATIN1).with_max_length(64);
    let mut text = String::new();
    for round in 0..10_000 {
        let chunk = if round % 3 == 0 { &b"\n\xE9"[..] } else { b"\xC3\xA9\n\xC3" };
        text.clear();
        push(&mut decoder, chunk, &mut text);
        assert!(decoder.incomplete().len() <= 67);
    }
    assert_eq!(decoder.position(), 3334 * 2 + 6666 * 4);
}

#[test]
fn rest_fallback_survives_finish_but_not_reset() {
    let mut decoder = FallbackDecoder::rest(WINDOWS);
    let mut text = String::new();
    push(&mut decoder, b"\x80", &mut text);
    decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
    decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
    push(&mut decoder, b"\xC3\xA9", &mut text);
    assert_eq!(text, "€Ã©");
    decoder.reset();
    push(&mut decoder, b"\xC3\xA9", &mut text);
    assert_eq!((&*text, decoder.fallback_uses()), ("€Ã©é", FallbackUses::default()));
}

#[test]
fn a_new_line_starts_after_finish() {
    let mut decoder = FallbackDecoder::line(LATIN1);
    let mut text = String::new();
    push(&mut decoder, b"\xE9 ", &mut text);
    decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
    push(&mut decoder, b"\xC3\xA9", &mut text);
    decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
    assert_eq!((&*text, decoder.position()), ("é é", 4));
}

#[test]
fn a_bom_decides_the_encoding_at_any_split() {
    type Row = (&'static [u8], &'static str, bool, u64);
    let table: [Row; 9] = [
        (b"\xEF\xBB\xBFcaf\xC3\xA9", "café", true, 0),
        (b"\xEF\xBB\xBFcaf\xE9!\xE2\x82", "caf\\xe9!\\xe2\\x82", true, 2),
        (b"\xEF\xBB\xBF\xEF\xBB\xBFa", "\u{FEFF}a", true, 0),
        (b"\xEF\xBB\xBF", "", true, 0),
        (b"caf\xC3\xA9", "cafÃ©", false, 0),
        (b"a\xEF\xBB\xBFb", "aï»¿b", false, 0),
        (b"\xEF\xBBa", "ï»a", false, 0),
        (b"\xEF", "ï", false, 0),
        (b"", "", false, 0),
    ];
    for (bytes, expected, bom_seen, errors) in table {
        // The BOM policy has no effect.
        for bom in [BomPolicy::Keep, BomPolicy::Strip, BomPolicy::Require, BomPolicy::Forbid] {
            let options = Utf8Options::new().with_bom(bom);
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let mut decoder = FallbackDecoder::without_bom(LATIN1).with_options(options);
                    let chunks = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    let outcome = decode(&mut decoder, ErrorMode::Escape, chunks);
                    let context = format!("{bytes:02x?} {bom:?} {first} {second}");
                    assert_eq!(outcome.text, expected, "{context}");
                    assert_eq!(decoder.bom_seen(), bom_seen, "{context}");
                    assert_eq!(decoder.error_count(), errors, "{context}");
                    let legacy = (!bom_seen && !bytes.is_empty()).then_some(0);
                    assert_eq!(decoder.fallback_uses().first, legacy, "{context}");
                    decoder.reset();
                    let again = decode(&mut decoder, ErrorMode::Escape, [bytes]);
                    assert_eq!(again.text, expected, "{context}, after reset");
                }
            }
        }
    }
}

#[test]
fn a_bom_decides_for_a_stream_that_has_not_begun_or_already_had_one() {
    let options = Utf8Options::new().reject_nul();
    let mut decoder = FallbackDecoder::without_bom(LATIN1).with_options(options);
    let outcome = decode(&mut decoder, ErrorMode::Replacement, [&b"a\0\xE9"[..]]);
    assert_eq!(outcome.text, "a\u{FFFD}é", "NUL is rejected in legacy text too");
    let mid_stream = Utf8Options::new().with_mid_stream_start();
    let mut decoder = FallbackDecoder::without_bom(LATIN1).with_options(mid_stream);
    let outcome = decode(&mut decoder, ErrorMode::Fatal, [&b"\x80\x80a"[..]]);
    assert_eq!((&*outcome.text, decoder.fallback_uses().first), ("\u{80}\u{80}a", Some(0)));
}

#[test]
fn after_the_end_of_an_empty_stream_legacy_bytes_are_decoded_at_once() {
    let mut decoder = FallbackDecoder::without_bom(LATIN1);
    let mut text = String::new();
    for _ in 0..2 {
        decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
    }
    let uses = decoder.fallback_uses();
    assert_eq!((uses.first, uses.runs), (None, 0));
    push(&mut decoder, b"\xE2", &mut text);
    assert_eq!((&*text, decoder.incomplete()), ("â", &b""[..]));
    let uses = decoder.fallback_uses();
    assert_eq!((uses.first, uses.runs, uses.bytes), (Some(0), 1, 1));

    // No BOM is expected until `reset`.
    for at in 0..=3 {
        let (first, second) = "\u{FEFF}x".as_bytes().split_at(at);
        let (mut decoder, mut text) = (FallbackDecoder::without_bom(LATIN1), String::new());
        decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
        push(&mut decoder, first, &mut text);
        push(&mut decoder, second, &mut text);
        assert_eq!((&*text, decoder.bom_seen()), ("ï»¿x", false));
        decoder.reset();
        text.clear();
        push(&mut decoder, first, &mut text);
        push(&mut decoder, second, &mut text);
        assert_eq!((&*text, decoder.bom_seen()), ("x", true));
    }
}

/// Long inputs with near errors are decoded many parts at once; single bytes never are.
#[test]
fn many_near_parts_are_counted_like_single_ones() {
    let parts: [&[u8]; 9] = [
        b"\xE9",
        b" caf\xE9 ",
        b"\xE2\x82",
        b"abcdefgh",
        b"\xF0\x9F\x98",
        "é€".as_bytes(),
        b"\xC3",
        b"\x80\x9F",
        b"\n",
    ];
    let mut bytes = Vec::new();
    for n in 0..4000_usize {
        bytes.extend_from_slice(parts[n * n % 83 % parts.len()]);
    }
    bytes.extend_from_slice(&[b'a'; 9000]);
    bytes.extend_from_slice(b"\xE9 \xE2\x82");

    for encoding in [LegacyEncoding::latin1(), LegacyEncoding::windows_1252()] {
        let decode = |len: usize| {
            let mut decoder = FallbackDecoder::part(encoding);
            let mut text = String::with_capacity(4 * bytes.len());
            for chunk in bytes.chunks(len) {
                let _done = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
            }
            decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
            assert_eq!(decoder.rejected_count(), 0);
            let errors = (decoder.error_count(), decoder.first_error(), decoder.position());
            (text, decoder.fallback_uses(), errors)
        };
        let expected = decode(1);
        for len in [2, 3, 7, 63, 64, 300, 1460, 4096, 20_000, bytes.len()] {
            assert!(decode(len) == expected, "{encoding:?}, chunks of {len}");
        }
    }
}

/// Splits `bytes` at these lengths in turn; 0 is an empty chunk.
#[cfg(any(feature = "codec", feature = "stream", feature = "encoding_rs"))]
pub(crate) fn cut<'a>(bytes: &'a [u8], lens: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut chunks = Vec::new();
    for &len in lens.iter().cycle() {
        let (chunk, after) = rest.split_at(len.min(rest.len()));
        chunks.push(chunk);
        rest = after;
        if rest.is_empty() || lens.iter().all(|&len| len == 0) {
            break;
        }
    }
    chunks.push(rest);
    chunks
}

/// Bytes that trigger every case of a fallback.
pub(crate) fn inputs() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::sample::select(vec![
        &b"a"[..],
        b"b0@",
        b"\n",
        b"\n",
        b"\r\n",
        b"\xC3\xA9",
        b"\xE2\x82\xAC",
        b"\xF0\x9F\x98\x80",
        b"\xE9",
        b"\xC3",
        b"\xE2\x82",
        b"\xF0\x9F\x98",
        b"\x80",
        b"\x93\xFA",
        b"\x81\x30",
        b"\x81\x30\x81\x30",
        b"\x8F\xA2",
        b"\xFF",
        b"\xC0\x80",
        b"\xED\xA0\x80",
        b"\xB0\xA1",
        b"\xEF\xBB\xBF",
        b"\0",
    ]);
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

#[cfg(any(feature = "codec", feature = "stream", feature = "encoding_rs"))]
pub(crate) fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0_usize..6, 1..5)
}
