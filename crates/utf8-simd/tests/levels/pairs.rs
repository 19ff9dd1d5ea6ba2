//! The level functions for the dialects: every level of this machine compared with plain loops.

use std::ops::RangeInclusive;

use proptest::prelude::*;
use utf8_simd::{Level, NulForm};

const NULS: [NulForm; 2] = [NulForm::OneByte, NulForm::TwoBytes];

/// A value that no test expects to be written.
const BYTE: u8 = 0xAA;

// ---- finding ------------------------------------------------------------------------------------

fn find_outside_is_that_of_a_loop(bytes: &[u8], range: RangeInclusive<u8>) {
    let expected = bytes.iter().position(|byte| !range.contains(byte));
    for level in Level::available() {
        let found = level.find_outside(bytes, range.clone());
        assert_eq!(found, expected, "{}: {range:?} in {bytes:02x?}", level.name());
    }
}

#[test]
fn a_byte_outside_the_range_is_found_at_every_position_and_length() {
    for range in [0x00..=0xEF, 0x01..=0xEF, 0x00..=0x7F, 0x01..=0x7F] {
        let edges = [*range.start(), *range.end(), 0x41];
        for len in (0..=200).chain([255, 256, 257, 1023, 1024, 1025, 1100, 2047, 2049, 3333]) {
            let mut bytes: Vec<u8> = edges.iter().copied().cycle().take(len).collect();
            find_outside_is_that_of_a_loop(&bytes, range.clone());
            for at in (0..len).step_by(if len > 300 { 31 } else { 1 }) {
                let inside = bytes[at];
                for outside in [range.start().wrapping_sub(1), range.end() + 1, 0xFF] {
                    if !range.contains(&outside) {
                        bytes[at] = outside;
                        find_outside_is_that_of_a_loop(&bytes, range.clone());
                    }
                }
                bytes[at] = inside;
            }
        }
    }
}

#[test]
fn the_first_byte_outside_the_range_is_found() {
    let mut bytes = vec![0x41; 700];
    for at in (0..700).rev() {
        bytes[at] = 0xF0 + (at % 16) as u8;
        find_outside_is_that_of_a_loop(&bytes, 0x00..=0xEF);
    }
}

// ---- joining ------------------------------------------------------------------------------------

/// A plain loop that stops after reading `until` bytes: the number of bytes read, and the output.
fn joined(input: &[u8], nul: NulForm, until: usize) -> (usize, Vec<u8>) {
    let mut out = Vec::new();
    let mut read = 0;
    loop {
        if read >= until {
            return (read, out);
        }
        let rest = &input[read..];
        let (len, bytes): (usize, Vec<u8>) = match *rest {
            [
                0xED,
                b @ 0xA0..=0xAF,
                c @ 0x80..=0xBF,
                0xED,
                e @ 0xB0..=0xBF,
                f @ 0x80..=0xBF,
                ..,
            ] => {
                let unit = |b: u8, c: u8| 0xD000 | u16::from(b & 0x3F) << 6 | u16::from(c & 0x3F);
                let text = String::from_utf16(&[unit(b, c), unit(e, f)]).expect("a pair");
                (6, text.into_bytes())
            }
            [0xED, 0xA0..=0xBF, ..] | [0xED] | [0xF0..=0xFF, ..] | [] => return (read, out),
            [0xC0, 0x80, ..] if nul == NulForm::TwoBytes => (2, vec![0]),
            [0x00 | 0xC0, ..] if nul == NulForm::TwoBytes => return (read, out),
            [byte, ..] => (1, vec![byte]),
        };
        read += len;
        out.extend(bytes);
    }
}

fn join_pairs_is_that_of_a_loop(input: &[u8], nul: NulForm) {
    let (read, expected) = joined(input, nul, usize::MAX);
    for level in Level::available() {
        let mut out = vec![BYTE; input.len() + 64];
        let found = level.join_pairs(input, nul, &mut out);
        let name = level.name();
        assert_eq!(found, (read, expected.len()), "{name}, {nul:?}: {input:02x?}");
        assert!(out[..expected.len()] == expected, "{name}, {nul:?}: {input:02x?}: {out:02x?}");
    }
}

/// With less room than the output needs: the output is a prefix, with less than a block left.
fn join_pairs_keeps_to_its_room(input: &[u8], nul: NulForm, room: usize) {
    let (_, all) = joined(input, nul, usize::MAX);
    for level in Level::available() {
        let mut out = vec![BYTE; room];
        let (read, written) = level.join_pairs(input, nul, &mut out);
        let context = format!("{}, {nul:?}: {input:02x?} into {room}", level.name());
        assert_eq!(joined(input, nul, read), (read, out[..written].to_vec()), "{context}");
        assert!(written == all.len() || room - written < 64, "{context}: {written} written");
    }
}

/// Text and other bytes to insert at every position.
const SEEDS: &[&[u8]] = &[
    b"\xED\xA0\xBD\xED\xB8\x80",
    b"\xED\xA0\x80\xED\xB0\x80",
    b"\xED\xAF\xBF\xED\xBF\xBF",
    b"\xED\xA0\xBD\xED\xB8\x80\xED\xA0\xBD\xED\xB8\x80",
    b"\xED\xA0\xBD",
    b"\xED\xB8\x80",
    b"\xED\xA0\xBD\xED\xA0\xBD\xED\xB8\x80",
    b"\xED\xA0\xBD\xED\xB8",
    b"\xED\xA0\xBD\xED\xB8A",
    b"\xED\xA0\xBDA\xB8\x80",
    b"\xED\xA0A\xED\xB8\x80",
    b"\xED\xB8\x80\xED\xB8\x80",
    b"\xEE\xA0\x80\xED\xB0\x80",
    b"\xED\xA0\x80\xEE\xB0\x80",
    b"\xED\xA0\xBD\xED\xA0\xBD",
    b"\xED\xA0\xBD\xED\x9F\xBF",
    b"\xED\x9F\xBF",
    b"\xED",
    b"\xED\xED\xED",
    b"\xEDA",
    b"\xC0\x80",
    b"\xC0\x80\xC0\x80",
    b"\xC0",
    b"\xC0\x81",
    b"\xC0\xC0\x80",
    b"\0",
    b"\xF0\x9F\x98\x80",
    b"\xFF",
];

/// The bytes they are inserted into.
const FILLS: &[&[u8]] = &[
    b"a",
    b"\xC3\xA9",
    b"\xE2\x82\xAC",
    b"\xED\xA0\xBD\xED\xB8\x80",
    b"a\xED\xA0\xBD\xED\xB8\x80",
    b"\xC0\x80",
    b"a\xC0\x80b",
];

#[test]
fn seeds_are_joined_at_every_position_and_length() {
    for seed in SEEDS {
        for fill in FILLS {
            for nul in NULS {
                for before in 0..=140 {
                    let mut input: Vec<u8> = fill.iter().copied().cycle().take(before).collect();
                    input.extend_from_slice(seed);
                    join_pairs_is_that_of_a_loop(&input, nul);
                    input.extend(fill.iter().copied().cycle().take(90));
                    join_pairs_is_that_of_a_loop(&input, nul);
                }
            }
        }
    }
}

#[test]
fn joining_stops_in_runs_of_one_byte() {
    for byte in 0..=0xFF {
        for len in [1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 70, 127, 128, 200] {
            for nul in NULS {
                join_pairs_is_that_of_a_loop(&vec![byte; len], nul);
            }
        }
    }
}

#[test]
fn every_pair_is_joined() {
    for high in 0xD800..=0xDBFF_u32 {
        let pairs = (0xDC00..=0xDFFF).flat_map(|low| {
            [high, low].into_iter().flat_map(|half| {
                [0xED, 0x80 | (half >> 6 & 0x3F) as u8, 0x80 | (half & 0x3F) as u8]
            })
        });
        join_pairs_is_that_of_a_loop(&pairs.collect::<Vec<_>>(), NulForm::OneByte);
    }
}

// ---- splitting ----------------------------------------------------------------------------------

fn split(text: &str, nul: NulForm) -> Vec<u8> {
    let mut out = Vec::new();
    for c in text.chars() {
        match (c, nul) {
            ('\0', NulForm::TwoBytes) => out.extend(b"\xC0\x80"),
            ('\u{10000}'.., _) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let unit = *unit;
                    let tail = |bits: u16| 0x80 | (bits & 0x3F) as u8;
                    out.extend([0xED, tail(unit >> 6), tail(unit)]);
                }
            }
            _ => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    out
}

fn split_pairs_is_that_of_a_loop(text: &str, nul: NulForm) {
    let expected = split(text, nul);
    for level in Level::available() {
        let mut out = vec![BYTE; expected.len() + 64];
        let found = level.split_pairs(text.as_bytes(), nul, &mut out);
        let name = level.name();
        assert_eq!(found, (text.len(), expected.len()), "{name}, {nul:?}: {text:?}");
        assert!(out[..expected.len()] == expected, "{name}, {nul:?}: {text:?}: {out:02x?}");
    }
}

/// In portions of this much room, the output is complete.
fn split_pairs_continues(text: &str, nul: NulForm, room: usize) {
    for level in Level::available() {
        let (mut rest, mut all) = (text.as_bytes(), Vec::new());
        while !rest.is_empty() {
            let mut out = vec![BYTE; room];
            let (read, written) = level.split_pairs(rest, nul, &mut out);
            let context = format!("{}, {nul:?}: {text:?} in portions of {room}", level.name());
            assert!(read == rest.len() || room - written < 64 + 5, "{context}: {written} written");
            assert!(read > 0, "{context}: no progress");
            all.extend_from_slice(&out[..written]);
            rest = &rest[read..];
        }
        assert!(all == split(text, nul), "{}, {nul:?}: {text:?} in {room}", level.name());
    }
}

#[test]
fn characters_are_split_at_every_position_and_length() {
    for fill in ["a", "é", "€", "😀", "a😀", "\0", "a\0é😀"] {
        for seed in ["", "\0", "\u{10000}", "\u{10FFFF}", "😀😀", "😀\0😀", "é😀€\0", "\u{D7FF}"]
        {
            for before in 0..=70 {
                for nul in NULS {
                    let text = fill.repeat(before) + seed + fill;
                    split_pairs_is_that_of_a_loop(&text, nul);
                    split_pairs_is_that_of_a_loop(&(text + &fill.repeat(40)), nul);
                }
            }
        }
    }
}

#[test]
fn every_character_is_split() {
    let text: String = ('\0'..=char::MAX).collect();
    for nul in NULS {
        split_pairs_is_that_of_a_loop(&text, nul);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn joining_equals_a_plain_loop(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::sample::select(SEEDS).prop_map(<[u8]>::to_vec),
                prop::sample::select(FILLS).prop_map(<[u8]>::to_vec),
                (any::<u8>(), 1..80_usize).prop_map(|(byte, times)| vec![byte; times]),
                (1..30_usize).prop_map(|times| b"\xED\xA0\xBD\xED\xB8\x80".repeat(times)),
            ],
            0..20,
        ),
        nul in prop::sample::select(&NULS[..]),
        room in 0..400_usize,
    ) {
        let input = pieces.concat();
        join_pairs_is_that_of_a_loop(&input, nul);
        join_pairs_keeps_to_its_room(&input, nul, room);
    }

    #[test]
    fn splitting_equals_a_plain_loop(
        text in prop_oneof![any::<String>(), "[a\0é€😀]{0,300}", "[a😀]{0,300}"],
        nul in prop::sample::select(&NULS[..]),
        room in 70..400_usize,
    ) {
        split_pairs_is_that_of_a_loop(&text, nul);
        split_pairs_continues(&text, nul, room);
    }
}
