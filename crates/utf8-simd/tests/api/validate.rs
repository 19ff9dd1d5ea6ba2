//! Validation, prefixes, unmasking and counting, compared with std.

use std::borrow::Cow;
use std::error::Error;

use utf8_simd::{
    PrefixEnd, Utf8Error, count_chars, error_at_start, from_utf8, from_utf8_lossy, from_utf8_mut,
    is_utf8, sequence_len, unmask, unmask_and_validate, utf16_len, valid_prefix,
    valid_prefix_dense,
};

use crate::Levels;
use crate::support::{FILLS, MULTILINGUAL, Random, fill_to, sum_of};
use crate::transcode::damaged;

const MASK: [u8; 4] = [0x80, 0x5A, 0xFF, 0x01];

fn std_error(error: core::str::Utf8Error) -> (usize, Option<usize>) {
    (error.valid_up_to(), error.error_len())
}

fn our_error(error: Utf8Error) -> (usize, Option<usize>) {
    (error.valid_up_to(), error.error_len())
}

/// Compares all functions of bytes with those of std.
fn is_as_in_std(level: &str, bytes: &[u8]) {
    let expected = core::str::from_utf8(bytes).map_err(std_error);
    assert_eq!(from_utf8(bytes).map_err(our_error), expected, "{level}: {bytes:02x?}");
    assert_eq!(is_utf8(bytes), expected.is_ok(), "{level}: {bytes:02x?}");
    let mut copy = bytes.to_vec();
    let found = from_utf8_mut(&mut copy).map_err(our_error).map(|text| &*text);
    assert_eq!(found, expected, "{level}: {bytes:02x?}");

    let (end, len) = match expected {
        Ok(_) => (PrefixEnd::Input, bytes.len()),
        Err((at, Some(len))) => (PrefixEnd::IllFormed(len), at),
        Err((at, None)) => (PrefixEnd::Incomplete(bytes.len() - at), at),
    };
    for (text, found) in [valid_prefix(bytes), valid_prefix_dense(bytes)] {
        assert_eq!((text.as_bytes(), found), (&bytes[..len], end), "{level}: {bytes:02x?}");
    }

    let mut masked = bytes.to_vec();
    unmask(&mut masked, MASK);
    assert!(masked.iter().zip(bytes).enumerate().all(|(i, (m, b))| m ^ MASK[i % 4] == *b));
    let found = unmask_and_validate(&mut masked, MASK).map_err(our_error);
    assert_eq!(found, expected, "{level}: {bytes:02x?}");
    assert_eq!(masked, bytes, "{level}");
}

fn is_repaired_as_in_std(level: &str, bytes: &[u8]) {
    let (found, expected) = (from_utf8_lossy(bytes), String::from_utf8_lossy(bytes));
    assert_eq!(found, expected, "{level}: {bytes:02x?}");
    assert_eq!(matches!(found, Cow::Borrowed(_)), matches!(expected, Cow::Borrowed(_)), "{level}");
}

/// Bytes at the edges of the ranges of RFC 3629 section 4.
pub(crate) const EDGES: [u8; 20] = [
    0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF,
    0xF0, 0xF4, 0xF5, 0xFF,
];

#[test]
fn all_strings_of_up_to_two_bytes_and_edges_of_four_are_as_in_std() {
    let levels = Levels::lock();
    levels.each(|level| {
        is_as_in_std(level, b"");
        for a in 0..=u8::MAX {
            is_as_in_std(level, &[a]);
            is_repaired_as_in_std(level, &[a]);
            for b in 0..=u8::MAX {
                is_as_in_std(level, &[a, b]);
                is_repaired_as_in_std(level, &[a, b]);
            }
        }
        for a in EDGES {
            for b in EDGES {
                for c in EDGES {
                    for d in EDGES {
                        is_as_in_std(level, &[a, b, c, d]);
                        is_repaired_as_in_std(level, &[a, b, c, d, b'!']);
                    }
                }
            }
        }
    });
}

#[test]
fn a_sequence_or_an_ill_formed_part_at_the_start_has_the_length_of_that_of_std() {
    for a in 0..=u8::MAX {
        for b in EDGES {
            for c in EDGES {
                for d in EDGES {
                    let bytes = [a, b, c, d];
                    let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
                    let first = text.chars().next().filter(|c| !c.is_ascii());
                    let len = first.map_or(0, char::len_utf8);
                    assert_eq!(sequence_len(bytes), len, "{bytes:02x?}");
                }
                for input in [&[a][..], &[a, b], &[a, b, c]] {
                    let error =
                        str::from_utf8(input).err().filter(|error| error.valid_up_to() == 0);
                    let expected = error.and_then(|error| error.error_len());
                    if !a.is_ascii() {
                        assert_eq!(error_at_start(input), expected, "{input:02x?}");
                    }
                }
            }
        }
    }
}

#[cfg_attr(miri, ignore)]
#[test]
fn all_strings_of_three_bytes_have_the_verdict_of_std() {
    let levels = Levels::lock();
    let firsts: Vec<u8> = (0..=u8::MAX).collect();
    levels.each(|level| {
        sum_of(&firsts, |&a| {
            for [b, c] in (0..=u16::MAX).map(u16::to_be_bytes) {
                let bytes = [a, b, c];
                let expected = core::str::from_utf8(&bytes).map_err(std_error);
                assert_eq!(from_utf8(&bytes).map_err(our_error), expected, "{level} {bytes:02x?}");
            }
            0
        });
    });
}

#[test]
fn texts_of_every_length_at_every_alignment_are_as_in_std() {
    let levels = Levels::lock();
    levels.each(|level| {
        for fill in FILLS {
            let text = fill_to(fill, 300);
            for len in (0..=100).chain([127, 128, 129, 255, 256, 257, 300]) {
                let bytes = &text.as_bytes()[..len.min(text.len())];
                let start = len % 9;
                is_as_in_std(level, &[&b"123456789"[..start], bytes].concat()[start..]);
                is_repaired_as_in_std(level, bytes);
                is_as_in_std(level, &[bytes, b"\xFF"].concat());
                is_as_in_std(level, &[bytes, b"\xE2\x82", bytes].concat());
            }
        }
    });
}

#[test]
fn damaged_text_is_as_in_std() {
    let levels = Levels::lock();
    let mut random = Random(11);
    for one_in in [1, 2, 8, 16, 64, 1000] {
        for fill in FILLS {
            let len = 200 + random.below(2000);
            let bytes = damaged(fill_to(fill, len).as_bytes(), one_in, &mut random);
            levels.each(|level| {
                is_as_in_std(level, &bytes);
                is_repaired_as_in_std(level, &bytes);
            });
        }
    }
}

#[test]
fn prefixes_in_a_loop_are_the_chunks_of_std() {
    let levels = Levels::lock();
    let mut random = Random(12);
    for one_in in [3, 16, 100] {
        let bytes = damaged(MULTILINGUAL.repeat(50).as_bytes(), one_in, &mut random);
        levels.each(|level| {
            let mut input = &bytes[..];
            for chunk in bytes.utf8_chunks() {
                let invalid = chunk.invalid().len();
                for (text, end) in [valid_prefix(input), valid_prefix_dense(input)] {
                    assert_eq!(text, chunk.valid(), "{level}");
                    match end {
                        PrefixEnd::Input => assert_eq!(invalid, 0, "{level}"),
                        PrefixEnd::Incomplete(len) | PrefixEnd::IllFormed(len) => {
                            assert_eq!(len, invalid, "{level}");
                        }
                    }
                }
                input = &input[chunk.valid().len() + invalid..];
            }
            assert!(input.is_empty());
        });
    }
}

#[test]
fn characters_and_units_are_counted_as_in_std() {
    let levels = Levels::lock();
    levels.each(|level| {
        for fill in FILLS.iter().chain([&MULTILINGUAL]) {
            for len in (0..200).chain([383, 384, 385, 1000, 20_000]) {
                let text = fill_to(fill, len);
                assert_eq!(count_chars(&text), text.chars().count(), "{level}: {text:?}");
                assert_eq!(utf16_len(&text), text.encode_utf16().count(), "{level}: {text:?}");
            }
        }
    });
}

#[test]
fn errors_name_the_offset_and_the_reason() {
    for (bytes, message) in [
        (&b"0123456789abcdefg\xFF"[..], "invalid UTF-8 at byte 17: ill-formed sequence of 1 byte"),
        (b"\xF0\x9F\x98!", "invalid UTF-8 at byte 0: ill-formed sequence of 3 bytes"),
        (b"a\xE2\x82", "invalid UTF-8 at byte 1: unexpected end inside a character"),
    ] {
        let error = from_utf8(bytes).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.source().is_none());
        assert_eq!(format!("{error:?}"), format!("{:?}", core::str::from_utf8(bytes).unwrap_err()));
    }
}

#[test]
fn text_is_changed_in_place() {
    let mut bytes = *b"text that is longer than the words \xC3\xA9";
    from_utf8_mut(&mut bytes).unwrap().make_ascii_uppercase();
    assert_eq!(&bytes, b"TEXT THAT IS LONGER THAN THE WORDS \xC3\xA9");
}
