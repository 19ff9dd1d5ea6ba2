//! The functions for whole slices, and `Utf8Decoder::push_lossy`, compared with std.

use std::iter;

use utf8_codec::{Utf8ErrorKind, count_chars, from_utf8};

/// A byte of each kind that decoding distinguishes.
const BYTES: [u8; 20] = [
    0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBB, 0xBF, 0xC1, 0xC2, 0xE0, 0xE2, 0xED, 0xEF,
    0xF0, 0xF1, 0xF4, 0xFF,
];

/// Every string of up to `most` of these bytes.
fn strings(most: u32) -> impl Iterator<Item = Vec<u8>> {
    let count = BYTES.len();
    (0..=most).flat_map(move |len| {
        (0..count.pow(len)).map(move |number| {
            let digits = iter::successors(Some(number), |number| Some(number / count));
            digits.take(len as usize).map(|digit| BYTES[digit % count]).collect()
        })
    })
}

/// Each string alone, and after and before text that is longer than a vector.
fn inputs() -> impl Iterator<Item = Vec<u8>> {
    let long = "zwölf Boxkämpfer, ".repeat(12);
    strings(3).flat_map(move |bytes| {
        let within = [long.as_bytes(), &bytes, long.as_bytes()].concat();
        let at_end = [long.as_bytes(), &bytes].concat();
        [bytes, within, at_end]
    })
}

#[test]
fn from_utf8_agrees_with_std() {
    for bytes in inputs() {
        match (from_utf8(&bytes), str::from_utf8(&bytes)) {
            (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs),
            (Err(ours), Err(theirs)) => {
                assert_eq!(ours.valid_up_to(), theirs.valid_up_to() as u64, "{bytes:02x?}");
                assert_eq!(ours.error_len(), theirs.error_len(), "{bytes:02x?}");
                let bytes = &bytes[theirs.valid_up_to()..];
                assert_eq!(ours.bytes(), &bytes[..theirs.error_len().unwrap_or(bytes.len())]);
                let is_incomplete = ours.kind() == Utf8ErrorKind::Incomplete;
                assert_eq!(is_incomplete, theirs.error_len().is_none());
                let next = theirs.error_len().and_then(|len| bytes.get(len)).copied();
                if let Some(shown) = ours.next_byte() {
                    assert_eq!(Some(shown), next, "{bytes:02x?}");
                }
            }
            (ours, theirs) => panic!("{ours:?} but {theirs:?} for {bytes:02x?}"),
        }
    }
}

#[test]
fn count_chars_agrees_with_std() {
    for bytes in inputs() {
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(count_chars(&text), text.chars().count(), "{text:?}");
    }
}

#[cfg(feature = "alloc")]
mod lossy {
    use std::borrow::Cow;

    use super::{inputs, strings};
    use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Error, Utf8Options, from_utf8_lossy};

    /// Decodes `chunks` one after another with `push_lossy`.
    fn push_all(decoder: &mut Utf8Decoder, chunks: &[&[u8]]) -> String {
        let mut text: String = chunks.iter().map(|chunk| decoder.push_lossy(chunk)).collect();
        decoder.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
        text
    }

    #[test]
    fn from_utf8_lossy_agrees_with_std() {
        for bytes in inputs() {
            let (ours, theirs) = (from_utf8_lossy(&bytes), String::from_utf8_lossy(&bytes));
            assert_eq!(ours, theirs, "{bytes:02x?}");
            assert_eq!(matches!(ours, Cow::Borrowed(_)), matches!(theirs, Cow::Borrowed(_)));
        }
    }

    #[test]
    fn push_lossy_at_every_two_cuts_agrees_with_std() {
        let endings: Vec<_> = strings(2).collect();
        for bytes in strings(3) {
            let ending = &endings[bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>() % 400];
            let bytes = [&bytes, "€ü".as_bytes(), ending].concat();
            let expected = String::from_utf8_lossy(&bytes);
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let chunks = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    let text = push_all(&mut Utf8Decoder::new(), &chunks);
                    assert_eq!(text, expected, "{chunks:02x?}");
                }
            }
        }
    }

    #[test]
    fn push_lossy_counts_errors_and_bytes_like_push_to_string() {
        let options = Utf8Options::new();
        for options in [
            options,
            options.with_bom(BomPolicy::Strip),
            options.with_bom(BomPolicy::Require),
            options.with_bom(BomPolicy::Forbid),
            options.with_mid_stream_start(),
            options.reject_nul(),
        ] {
            for bytes in
                strings(3).chain(strings(2).map(|end| [b"\xEF\xBB\xBFa\0", &*end].concat()))
            {
                for cut in 0..=bytes.len() {
                    let (first, second) = bytes.split_at(cut);
                    let mut ours = Utf8Decoder::new().with_options(options);
                    let mut other = ours.clone();
                    let mut expected = String::new();
                    for chunk in [first, second] {
                        let _done =
                            other.push_to_string(chunk, ErrorMode::Replacement, &mut expected);
                    }
                    other.finish_to_string(ErrorMode::Replacement, &mut expected).unwrap();
                    let text = push_all(&mut ours, &[first, second]);
                    assert_eq!(text, expected, "{options:?} {first:02x?} {second:02x?}");
                    let seen = |decoder: &Utf8Decoder| -> (u64, Option<Utf8Error>, u64, bool) {
                        let errors = (decoder.error_count(), decoder.first_error());
                        (errors.0, errors.1, decoder.position(), decoder.bom_seen())
                    };
                    assert_eq!(seen(&ours), seen(&other), "{options:?} {first:02x?} {second:02x?}");
                }
            }
        }
    }

    #[test]
    fn push_lossy_borrows_unless_bytes_are_held_or_ill_formed() {
        let mut decoder = Utf8Decoder::new();
        assert!(matches!(decoder.push_lossy(b""), Cow::Borrowed("")));
        assert!(matches!(decoder.push_lossy("größer".as_bytes()), Cow::Borrowed("größer")));
        assert!(matches!(decoder.push_lossy(b"5 \xE2\x82"), Cow::Borrowed("5 ")));
        assert!(matches!(decoder.push_lossy(b"\xAC!"), Cow::Owned(text) if text == "€!"));
        assert!(matches!(decoder.push_lossy(b"again"), Cow::Borrowed("again")));
        assert!(matches!(decoder.push_lossy(b"a\xFFb"), Cow::Owned(text) if text == "a\u{FFFD}b"));
        assert!(matches!(decoder.push_lossy(b"after"), Cow::Borrowed("after")));

        let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
        let mut decoder = Utf8Decoder::new().with_options(strip);
        assert!(matches!(decoder.push_lossy(b"\xEF\xBB\xBFtext"), Cow::Borrowed("text")));
    }

    #[test]
    fn push_lossy_after_errors_keeps_long_text_whole() {
        for text in ["a", "größer, ", "5 €, ", "\u{1F600}"].map(|text| text.repeat(100)) {
            for chunks in [[&b"a\xFF\xFFb"[..], text.as_bytes()], [text.as_bytes(), b"\xFF\xE2"]] {
                let bytes = [chunks[0], chunks[1], chunks[0], text.as_bytes()].concat();
                let chunks = [chunks[0], chunks[1], chunks[0], text.as_bytes()];
                let decoded = push_all(&mut Utf8Decoder::new(), &chunks);
                assert_eq!(decoded, String::from_utf8_lossy(&bytes));
            }
        }
    }

    #[test]
    fn long_ascii_after_held_bytes_and_under_policies_is_decoded_like_short_chunks() {
        let ascii = [&[b'a'; 150][..], b"\0", &[b'b'; 150]].concat();
        let options = Utf8Options::new();
        for options in [
            options,
            options.with_bom(BomPolicy::Require),
            options.with_mid_stream_start(),
            options.reject_nul(),
        ] {
            for before in [&b""[..], b"\xC3", b"\xEF\xBB", b"\xF0\x9F\x98", b"\xFF"] {
                let decode = |chunks: &[&[u8]]| {
                    let mut decoder = Utf8Decoder::new().with_options(options);
                    let (mut chars, mut units) = ([' '; 1000], [0; 1000]);
                    let (mut of_chars, mut of_units) = (decoder.clone(), decoder.clone());
                    let (mut text, mut char_count, mut unit_count) = (String::new(), 0, 0);
                    for chunk in chunks {
                        let mode = ErrorMode::Escape;
                        let progress = decoder.push_to_string(chunk, mode, &mut text);
                        assert_eq!(progress.read, chunk.len());
                        let chars = &mut chars[char_count..];
                        char_count += of_chars.push_to_chars(chunk, mode, chars).written;
                        let units = &mut units[unit_count..];
                        unit_count += of_units.push_to_utf16(chunk, mode, units).written;
                    }
                    let chars: String = chars[..char_count].iter().collect();
                    assert_eq!(chars, text);
                    assert_eq!(String::from_utf16(&units[..unit_count]).unwrap(), text);
                    let errors =
                        |decoder: &Utf8Decoder| (decoder.error_count(), decoder.first_error());
                    assert_eq!(errors(&of_chars), errors(&decoder));
                    assert_eq!(errors(&of_units), errors(&decoder));
                    (text, errors(&decoder))
                };
                let whole = [before, &ascii].concat();
                let bytes: Vec<&[u8]> = whole.chunks(1).collect();
                assert_eq!(decode(&[before, &ascii]), decode(&bytes), "{options:?} {before:02x?}");
            }
        }
    }
}
