//! Latin-1 to UTF-8 and back: every level of this machine compared with plain loops.

use utf8_simd::Level;

use crate::support::Random;

/// The fill byte of outputs.
const BYTE: u8 = 0xAA;

/// Texts of Latin-1 that are repeated: the edges of ASCII and of both leading bytes, in several densities.
const FILLS: [&[u8]; 6] = [
    b"plain ",
    b"\x80",
    b"\xFF\xBF\xC0\x80",
    b"na\xEFve caf\xE9, \xC0 la carte \xA7 42\xBF ",
    b"a\x7F\0\xC0b",
    b"one in many, and all of the others are ASCII: \xE9; it has to be longer than a block of any level. ",
];

/// What ends the text that can be decoded: ill-formed sequences, and characters that Latin-1 lacks.
const STOPS: [&[u8]; 16] = [
    b"\x80",
    b"\xBF",
    b"\xC0\x80",
    b"\xC1\xBF",
    b"\xC2",
    b"\xC3",
    b"\xC3\xC3\xA9",
    b"\xC3\x7F",
    b"\xC4\x80",
    b"\xDF\xBF",
    b"\xE0\x80\x80",
    b"\xE2\x82\xAC",
    b"\xE9",
    b"\xF0\x9F\x98\x80",
    b"\xF5",
    b"\xFF",
];

/// `fill` from `from` on, repeated.
fn latin1(fill: &[u8], from: usize, len: usize) -> Vec<u8> {
    fill.iter().cycle().skip(from).take(len).copied().collect()
}

fn utf8(latin1: &[u8]) -> Vec<u8> {
    latin1.iter().map(|&byte| char::from(byte)).collect::<String>().into_bytes()
}

/// Sizes of an output around the needed one.
fn rooms(needed: usize) -> impl Iterator<Item = usize> {
    [0, 1, 2, 3, 16, 17, 40, 130]
        .into_iter()
        .flat_map(move |by| [needed + by, needed.saturating_sub(by)])
}

fn is_encoded_as_by_a_loop(latin1: &[u8], room: usize) {
    let mut expected = Vec::new();
    let mut read = 0;
    for &byte in latin1 {
        let c = char::from(byte);
        if expected.len() + c.len_utf8() > room {
            break;
        }
        expected.extend(c.encode_utf8(&mut [0; 2]).bytes());
        read += 1;
    }
    for level in Level::available() {
        let mut out = vec![BYTE; room];
        let found = level.encode_latin1(latin1, &mut out);
        let name = level.name();
        assert_eq!(found, (read, expected.len()), "{name}: {latin1:02x?} into {room}");
        assert!(out.starts_with(&expected), "{name}: {latin1:02x?} into {room}: {out:02x?}");
    }
}

fn is_decoded_as_by_a_loop(bytes: &[u8], room: usize) {
    let mut expected = Vec::new();
    let mut read = 0;
    while expected.len() < room {
        match bytes[read..] {
            [byte @ ..=0x7F, ..] => expected.push(byte),
            [0xC2, byte @ 0x80..=0xBF, ..] => expected.push(byte),
            [0xC3, byte @ 0x80..=0xBF, ..] => expected.push(byte + 0x40),
            _ => break,
        }
        read += if bytes[read] < 0x80 { 1 } else { 2 };
    }
    for level in Level::available() {
        let mut out = vec![BYTE; room];
        let found = level.decode_latin1(bytes, &mut out);
        let name = level.name();
        assert_eq!(found, (read, expected.len()), "{name}: {bytes:02x?} into {room}");
        assert!(out.starts_with(&expected), "{name}: {bytes:02x?} into {room}: {out:02x?}");
    }
}

#[test]
fn latin_1_of_every_length_converts_as_by_a_loop() {
    for fill in FILLS {
        for len in 0..=300 {
            let latin1 = latin1(fill, len % fill.len(), len);
            let utf8 = utf8(&latin1);
            for room in rooms(utf8.len()) {
                is_encoded_as_by_a_loop(&latin1, room);
            }
            for room in rooms(len) {
                is_decoded_as_by_a_loop(&utf8, room);
            }
        }
    }
}

#[test]
fn outputs_of_every_size_are_filled_with_latin_1_as_by_a_loop() {
    for fill in FILLS {
        let latin1 = latin1(fill, 0, 300);
        let utf8 = utf8(&latin1);
        for room in 0..=utf8.len() + 1 {
            is_encoded_as_by_a_loop(&latin1, room);
            is_decoded_as_by_a_loop(&utf8, room);
        }
    }
}

#[test]
fn text_cut_anywhere_is_decoded_to_latin_1_as_by_a_loop() {
    for fill in FILLS {
        let utf8 = utf8(&latin1(fill, 0, 300));
        for at in 0..utf8.len() {
            is_decoded_as_by_a_loop(&utf8[at..], utf8.len() + 64);
            is_decoded_as_by_a_loop(&utf8[..at], utf8.len() + 64);
            is_decoded_as_by_a_loop(&utf8[..at], at);
        }
    }
}

#[test]
fn decoding_to_latin_1_stops_at_the_same_place_at_every_position() {
    for fill in FILLS {
        for (stop, before) in STOPS.iter().flat_map(|stop| (0..=300).map(move |len| (stop, len))) {
            let before = utf8(&latin1(fill, 0, before));
            for after in [0, 1, 17, 70, 200] {
                let input = [&before, *stop, &utf8(&latin1(fill, 0, after))].concat();
                is_decoded_as_by_a_loop(&input, input.len());
                is_decoded_as_by_a_loop(&input, input.len() + 64);
            }
        }
    }
}

#[test]
fn all_pairs_of_bytes_are_decoded_to_latin_1_as_by_a_loop_around_the_edges_of_blocks() {
    for (first, second) in (0..=255).flat_map(|first| (0..=255).map(move |second| (first, second)))
    {
        for at in [0, 14, 15, 31, 40, 62, 63, 127] {
            let mut input = [b'a'; 150];
            input[at..at + 2].copy_from_slice(&[first, second]);
            is_decoded_as_by_a_loop(&input, input.len());
            is_decoded_as_by_a_loop(&input[..at + 2], input.len());
        }
    }
}

#[test]
fn random_bytes_convert_with_latin_1_as_by_a_loop() {
    let mut random = Random(5);
    for _ in 0..20_000 {
        let len = random.below(400);
        let one_in = [1, 4, 20, 200][random.below(4)];
        let mut byte = || match random.below(one_in) {
            0 => random.below(256) as u8,
            _ => b'a' + random.below(26) as u8,
        };
        let latin1: Vec<u8> = (0..len).map(|_| byte()).collect();
        let mut utf8 = utf8(&latin1);
        let room = random.below(utf8.len() + 80);
        is_encoded_as_by_a_loop(&latin1, room);
        is_decoded_as_by_a_loop(&utf8, room);
        if len > 0 {
            let at = random.below(utf8.len());
            utf8[at] = random.below(256) as u8;
            is_decoded_as_by_a_loop(&utf8, room);
        }
    }
}
