//! Text to `char`s and UTF-16 and back, and unmasking: every level of this machine compared with std.

use utf8_simd::Level;

use crate::support::{FILLS, Random, fill_to};
use crate::utf16::encodes_as_std;

/// A value that no test expects to be written, to detect unchanged units.
const CHAR: char = '\u{E123}';
const UNIT: u16 = 0xE123;
const BYTE: u8 = 0xAA;

/// Sizes of a destination around the needed one.
fn sizes_around(needed: usize) -> impl Iterator<Item = usize> {
    let less = [1, 2, 3, 4, 15, 16, 17, 63, 64, 65].map(|less| needed.saturating_sub(less));
    let more = [0, 1, 2, 3, 15, 63, 64, 200].map(|more| needed + more);
    less.into_iter().chain(more).chain([0, needed / 2])
}

fn decode_chars_is_that_of_std(text: &str, room: usize) {
    let expected: Vec<char> = text.chars().take(room).collect();
    let read: usize = expected.iter().map(|c| c.len_utf8()).sum();
    for level in Level::available() {
        let mut out = vec![CHAR; room];
        let found = level.decode_chars(text, &mut out);
        let name = level.name();
        assert_eq!(found, (read, expected.len()), "{name}: {text:?} into {room}");
        assert!(out[..found.1] == expected, "{name}: {text:?} into {room}: {out:?}");
        // What may be overwritten are `char`s.
        assert!(out[found.1..].iter().all(|&c| char::from_u32(c as u32) == Some(c)), "{name}");
    }
}

fn decode_utf16_is_that_of_std(text: &str, room: usize) {
    let mut expected: Vec<u16> = Vec::new();
    let mut read = 0;
    for c in text.chars() {
        if expected.len() + c.len_utf16() > room {
            break;
        }
        expected.extend(c.encode_utf16(&mut [0; 2]).iter());
        read += c.len_utf8();
    }
    for level in Level::available() {
        let mut out = vec![UNIT; room];
        let found = level.decode_utf16(text, &mut out);
        let name = level.name();
        assert_eq!(found, (read, expected.len()), "{name}: {text:?} into {room}");
        assert!(out[..found.1] == expected, "{name}: {text:?} into {room}: {out:04x?}");
    }
}

fn encode_chars_is_that_of_std(chars: &[char], room: usize) {
    let mut expected = String::new();
    let mut read = 0;
    for &c in chars {
        if expected.len() + c.len_utf8() > room {
            break;
        }
        expected.push(c);
        read += 1;
    }
    for level in Level::available() {
        let mut out = vec![BYTE; room];
        let found = level.encode_chars(chars, &mut out);
        let name = level.name();
        assert_eq!(found, (read, expected.len()), "{name}: {chars:?} into {room}");
        assert!(
            out[..found.1] == *expected.as_bytes(),
            "{name}: {chars:?} into {room}: {out:02x?}"
        );
    }
}

/// All conversions of `text` into destinations of these sizes.
fn all_conversions(text: &str, sizes: impl Fn(usize) -> Vec<usize>) {
    let chars: Vec<char> = text.chars().collect();
    for level in Level::available() {
        assert_eq!(level.count_chars(text), chars.len(), "{}: {text:?}", level.name());
        let units = text.encode_utf16().count();
        assert_eq!(level.count_utf16(text), units, "{}: {text:?}", level.name());
    }
    for room in sizes(chars.len()) {
        decode_chars_is_that_of_std(text, room);
    }
    for room in sizes(text.encode_utf16().count()) {
        decode_utf16_is_that_of_std(text, room);
    }
    for room in sizes(text.len()) {
        encode_chars_is_that_of_std(&chars, room);
    }
}

#[test]
fn texts_of_every_length_and_script_convert_as_in_std() {
    for fill in FILLS {
        for len in 0..=300 {
            let text = fill_to(fill, len);
            all_conversions(&text, |needed| sizes_around(needed).collect());
        }
    }
}

#[test]
fn destinations_of_every_size_are_filled_as_in_std() {
    for fill in FILLS {
        let text = fill_to(fill, 700);
        all_conversions(&text, |needed| (0..=needed + 1).collect());
    }
}

/// Calls `check` with the lengths of characters that fill `len` bytes, the last one perhaps beyond, in all orders.
fn patterns(lengths: &mut Vec<usize>, len: usize, check: &mut impl FnMut(&[usize])) {
    if len == 0 {
        return check(lengths);
    }
    for next in 1..=4 {
        lengths.push(next);
        patterns(lengths, len.saturating_sub(next), check);
        lengths.pop();
    }
}

/// Of the lemmas about conversions, those for the ends of texts, for AVX-512 and for the portable level.
#[test]
#[ignore = "a minute in release mode"]
fn every_pattern_of_character_lengths_converts_as_in_std() {
    const EXAMPLES: [[char; 4]; 4] = [
        ['\0', '\x7F', 'U', '\t'],
        ['\u{80}', '\u{7FF}', '\u{555}', '\u{2AA}'],
        ['\u{800}', '\u{FFFF}', '\u{D7FF}', '\u{E000}'],
        ['\u{10000}', '\u{10FFFF}', '\u{55555}', '\u{AAAAA}'],
    ];
    // Texts that end at once, after a block of each level, and after a stride.
    for ascii in [0, 1, 16, 31, 61, 130] {
        let mut number = 0;
        patterns(&mut Vec::new(), 16, &mut |lengths| {
            number += 1;
            let example = |(i, len): (usize, &usize)| EXAMPLES[len - 1][(number + i) % 4];
            let mut text = "a".repeat(ascii);
            text.extend(lengths.iter().enumerate().map(example));
            all_conversions(&text, |needed| vec![needed, needed - 1, needed + 70]);
            let units: Vec<u16> = text.encode_utf16().collect();
            for level in Level::available() {
                encodes_as_std(level, &units, text.len());
                encodes_as_std(level, &units, text.len() + 70);
            }
        });
    }
}

#[test]
fn texts_at_every_alignment_convert_as_in_std() {
    for fill in FILLS {
        let text = fill_to(fill, 900);
        let boundaries = (0..64).filter(|&from| text.is_char_boundary(from));
        for from in boundaries {
            for len in [1, 16, 33, 63, 64, 65, 130, 300, 400, 640, 800] {
                let mut to = from + len;
                while !text.is_char_boundary(to) {
                    to -= 1;
                }
                all_conversions(&text[from..to], |needed| vec![needed]);
            }
        }
    }
}

#[test]
fn texts_of_adjacent_scripts_convert_as_in_std() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for round in 0..20_000 {
        let mut text = String::new();
        let target = [30, 100, 300, 600, 1500][round % 5];
        while text.len() < target {
            let len = [1, 2, 5, 20, 64, 200][random.below(6)];
            text.push_str(&fill_to(FILLS[random.below(FILLS.len())], len));
        }
        let less = random.below(100);
        all_conversions(&text, |needed| vec![needed, needed + 300, needed.saturating_sub(less)]);
    }
}

#[test]
fn all_scalar_values_convert_in_order_and_shuffled() {
    let mut chars: Vec<char> = ('\0'..=char::MAX).collect();
    for round in 0..4 {
        let text = String::from_iter(&chars);
        for level in Level::available() {
            let name = level.name();
            assert_eq!(level.count_chars(&text), chars.len(), "{name}");
            assert_eq!(level.count_utf16(&text), text.encode_utf16().count(), "{name}");

            let mut out = vec![CHAR; chars.len() + 7];
            assert_eq!(level.decode_chars(&text, &mut out), (text.len(), chars.len()), "{name}");
            assert!(out[..chars.len()] == chars && out[chars.len()..] == [CHAR; 7], "{name}");

            let units: Vec<u16> = text.encode_utf16().collect();
            let mut out = vec![UNIT; units.len() + 7];
            assert_eq!(level.decode_utf16(&text, &mut out), (text.len(), units.len()), "{name}");
            assert!(out[..units.len()] == units && out[units.len()..] == [UNIT; 7], "{name}");

            for room in [text.len(), text.len() + 7] {
                let mut out = vec![BYTE; text.len() + 7];
                let done = level.encode_chars(&chars, &mut out[..room]);
                assert_eq!(done, (chars.len(), text.len()), "{name}");
                assert!(out[..text.len()] == *text.as_bytes(), "{name}");
                assert!(out[room..].iter().all(|&byte| byte == BYTE), "{name}");
            }
        }
        // First shuffled within stretches, so that all characters of one length stay together; then
        // completely.
        let stretch = [64, 4096, chars.len()][round.min(2)];
        let mut random = Random(42 + round as u64);
        for part in chars.chunks_mut(stretch) {
            for i in (1..part.len()).rev() {
                part.swap(i, random.below(i + 1));
            }
        }
    }
}

/// Checks how much of `bytes`, of which `ascii` are ASCII, is decoded into `room` units.
fn decodes_ascii(bytes: &[u8], ascii: usize, room: usize) {
    let most = ascii.min(room);
    for level in Level::available() {
        let name = level.name();
        let mut out = vec![CHAR; room];
        let len = level.decode_ascii_chars(bytes, &mut out);
        assert!(len <= most && most - len < 64, "{name}, {len} of {most}");
        assert!(out.iter().zip(bytes).take(len).all(|(&c, &byte)| c == char::from(byte)), "{name}");
        assert!(out[len..].iter().all(|&c| c == CHAR), "{name}");

        // At every address in a cache line.
        for offset in 0..if room < 256 { 32 } else { 1 } {
            let mut out = vec![UNIT; offset + room];
            let (before, out) = out.split_at_mut(offset);
            let len = level.decode_ascii_utf16(bytes, out);
            assert!(len <= most && most - len < 64, "{name}, {len} of {most}");
            let mut units = out.iter().zip(bytes).take(len);
            assert!(units.all(|(&unit, &byte)| unit == u16::from(byte)), "{name}");
            assert!(before.iter().chain(&out[len..]).all(|&unit| unit == UNIT), "{name}");
        }
    }
}

#[test]
fn ascii_is_decoded_up_to_its_last_block() {
    let ascii: Vec<u8> = (0..1000).map(|i| (i * 37 % 128) as u8).collect();
    for len in (0..=200).chain([1000]) {
        for room in [0, 1, 63, 64, 65, 127, 128, 129, 160, 200, 1000] {
            decodes_ascii(&ascii[..len], len, room);
        }
        for at in 0..len {
            let mut bytes = ascii[..len].to_vec();
            bytes[at] = 0x80;
            decodes_ascii(&bytes, at, len);
        }
    }
}

/// The most bytes that a level may decode at once, and the most that each level decodes if they are ASCII.
const SHORT: [usize; 2] = [512, 64];

#[test]
fn short_ascii_is_decoded_entirely_or_not_at_all() {
    for level in Level::available() {
        let name = level.name();
        for len in (0..=70).chain(120..=200).chain(500..=520) {
            let ascii = vec![b'x'; len];
            for room in (0..=80).chain([len.saturating_sub(1), len, len + 1, len + 100]) {
                let fits = |most: usize| len <= most && len <= room;
                let mut out = vec![CHAR; room];
                let done = level.decode_short_chars(&ascii, &mut out);
                let may =
                    (done == Some(len) && fits(SHORT[0])) || (done.is_none() && !fits(SHORT[1]));
                assert!(may, "{name}, {len} into {room}");
                assert!(
                    out[..done.unwrap_or(0)].iter().all(|&c| c == 'x'),
                    "{name}, {len} into {room}"
                );
                let end = out.get(len..).unwrap_or_default();
                assert!(end.iter().all(|&c| c == CHAR), "{name}, {len} into {room}");

                let mut out = vec![UNIT; room];
                let done = level.decode_short_utf16(&ascii, &mut out);
                let may =
                    (done == Some(len) && fits(SHORT[0])) || (done.is_none() && !fits(SHORT[1]));
                assert!(may, "{name}, {len} into {room}");
                let is_x = |&unit: &u16| unit == u16::from(b'x');
                assert!(out[..done.unwrap_or(0)].iter().all(is_x), "{name}, {len} into {room}");
                let end = out.get(len..).unwrap_or_default();
                assert!(end.iter().all(|&unit| unit == UNIT), "{name}, {len} into {room}");
            }
            for at in 0..len {
                let mut bytes = ascii.clone();
                bytes[at] = 0x80;
                let mut out = vec![CHAR; len + 100];
                assert_eq!(level.decode_short_chars(&bytes, &mut out), None, "{name}, {len}, {at}");
                assert!(out[at..].iter().all(|&c| c == CHAR), "{name}, {len}, {at}");
                let mut out = vec![UNIT; len + 100];
                assert_eq!(level.decode_short_utf16(&bytes, &mut out), None, "{name}, {len}, {at}");
                assert!(out[at..].iter().all(|&unit| unit == UNIT), "{name}, {len}, {at}");
            }
        }
    }
}

/// Checks that every level decodes `bytes` entirely or not at all.
fn decodes_short(bytes: &[u8]) {
    let text = str::from_utf8(bytes).ok();
    let chars: Vec<char> = text.unwrap_or_default().chars().collect();
    let units: Vec<u16> = text.unwrap_or_default().encode_utf16().collect();
    for level in Level::available() {
        if text.is_none() {
            let (mut chars, mut units) = ([CHAR; 600], [UNIT; 600]);
            assert_eq!(level.decode_short_chars(bytes, &mut chars), None, "{bytes:02x?}");
            assert_eq!(level.decode_short_utf16(bytes, &mut units), None, "{bytes:02x?}");
        }
        for room in [chars.len().saturating_sub(1), chars.len(), chars.len() + 100] {
            let mut out = vec![CHAR; room];
            let done = level.decode_short_chars(bytes, &mut out);
            let written = done.unwrap_or(0);
            assert!(done.is_none_or(|done| done == chars.len()), "{level:?}: {bytes:02x?}");
            assert!(out[..written] == chars[..written], "{level:?}: {bytes:02x?}");
            let is_unchanged = out.iter().all(|&c| c == CHAR);
            assert!(done.is_some() || bytes.len() > 64 || is_unchanged, "{level:?}: {bytes:02x?}");
        }
        for room in [units.len().saturating_sub(1), units.len(), units.len() + 100] {
            let mut out = vec![UNIT; room];
            let done = level.decode_short_utf16(bytes, &mut out);
            let written = done.unwrap_or(0);
            assert!(done.is_none_or(|done| done == units.len()), "{level:?}: {bytes:02x?}");
            assert!(out[..written] == units[..written], "{level:?}: {bytes:02x?}");
            let is_unchanged = out.iter().all(|&unit| unit == UNIT);
            assert!(done.is_some() || bytes.len() > 64 || is_unchanged, "{level:?}: {bytes:02x?}");
        }
    }
}

/// Sequences that are one or two characters, or nearly, at every place of a short text.
#[test]
fn short_text_is_decoded_only_if_it_is_well_formed_and_complete() {
    let parts: [&[u8]; 28] = [
        b"\xC2\x80",
        b"\xDF\xBF",
        b"\xC1\xBF",
        b"\xC2",
        b"\xC2\x7F",
        b"\xE0\xA0\x80",
        b"\xE0\x9F\xBF",
        b"\xED\x9F\xBF",
        b"\xED\xA0\x80",
        b"\xEF\xBF\xBF",
        b"\xE2\x82",
        b"\xE2\x82\x41",
        b"\xF0\x90\x80\x80",
        b"\xF0\x8F\xBF\xBF",
        b"\xF4\x8F\xBF\xBF",
        b"\xF4\x90\x80\x80",
        b"\xF0\x9F\x92",
        b"\xF0\x9F\x92\x41",
        b"\xF5\x80\x80\x80",
        b"\xFF",
        b"\x80",
        b"\xC3\xA9\xE2\x82\xAC",
        b"\xF0\x9F\x92\xA9\xC3\xA9",
        b"\xE2\x82\xAC\xF0\x9F\x92\xA9",
        b"\xC3\xA9\xC3\xA9",
        b"\xF0\x9F\x92\xA9\xF0\x9F\x92\xA9",
        b"\xE2\x82\xAC\x80",
        b"\xC3\xA9\xA9",
    ];
    for filler in ["x", "\u{E9}", "\u{20AC}", "\u{1F4A9}"] {
        for part in parts {
            for before in 0..=130 {
                for after in [0, 1, 2, 3, 63, 100] {
                    let (start, end) = (filler.repeat(before), filler.repeat(after));
                    let bytes = [start.as_bytes(), part, end.as_bytes()].concat();
                    if bytes.len() <= 200 {
                        decodes_short(&bytes);
                    }
                }
            }
        }
    }
}

/// Masks or unmasks `bytes`.
fn masked(bytes: &[u8], mask: [u8; 4]) -> Vec<u8> {
    bytes.iter().zip(mask.into_iter().cycle()).map(|(byte, key)| byte ^ key).collect()
}

/// Compares `unmask` and `unmask_and_validate` with a loop and with `validate`. `bytes` are `at` bytes
/// after the start of their allocation.
fn unmasking_agrees(bytes: &[u8], mask: [u8; 4], at: usize) {
    let after = 5;
    let framed = [&vec![BYTE; at][..], &masked(bytes, mask), &[BYTE; 5]].concat();
    let inside = at..at + bytes.len();
    let intact = |found: &[u8]| {
        found[inside.clone()] == *bytes
            && found[..at].iter().all(|&byte| byte == BYTE)
            && found[inside.end..] == [BYTE; 5]
    };
    debug_assert_eq!(framed.len(), at + bytes.len() + after);
    for level in Level::available() {
        let name = level.name();
        let mut found = framed.clone();
        level.unmask(&mut found[inside.clone()], mask);
        assert!(intact(&found), "{name}: {bytes:02x?}, {mask:02x?}, at {at}: {found:02x?}");

        let mut found = framed.clone();
        let stop = level.unmask_and_validate(&mut found[inside.clone()], mask);
        assert!(intact(&found), "{name}: {bytes:02x?}, {mask:02x?}, at {at}: {found:02x?}");
        let expected = level.validate(bytes);
        assert_eq!(stop, expected, "{name}: {bytes:02x?}, {mask:02x?}, at {at}");
    }
}

const MASK: [u8; 4] = [0x80, 0x5A, 0xFF, 0x01];

/// Masks that turn leading bytes into continuation bytes, and ASCII into other ASCII.
const GENTLE_MASKS: [[u8; 4]; 4] =
    [[0x40, 0, 0, 0], [0, 0x40, 0, 0], [0, 0, 0x40, 0], [0, 0, 0, 0x40]];

#[test]
fn unmasking_equals_the_reference_at_every_length_and_alignment() {
    for fill in FILLS {
        for len in 0..=700 {
            let text = fill_to(fill, len);
            for at in [0, 1, 2, 3, 4, 7, 31, 32, 33, 60, 63] {
                unmasking_agrees(text.as_bytes(), MASK, at);
            }
        }
        let text = fill_to(fill, 2000);
        for at in 0..64 {
            for len in [1, 15, 16, 17, 64, 65, 125, 126, 300, 320, 511, 1030, 2000] {
                let from = at % 7;
                unmasking_agrees(&text.as_bytes()[from..text.len().min(from + len)], MASK, at);
            }
        }
    }
}

/// Before a cache line, the loop of the longest inputs begins with less than a block.
#[test]
fn long_unmasking_equals_the_reference_at_every_distance_to_a_cache_line() {
    for fill in ["a", "aé€😀"] {
        for len in (1500..=3700).step_by(13) {
            let text = fill_to(fill, len);
            for at in 0..64 {
                unmasking_agrees(text.as_bytes(), MASK, at);
            }
        }
    }
}

const WRONGS: [&[u8]; 12] = [
    b"\x80",
    b"\xFF",
    b"\xC0\x80",
    b"\xC2",
    b"\xE0\x9F\xBF",
    b"\xE2\x82",
    b"\xED\xA0\x80",
    b"\xEF",
    b"\xF0\x8F\xBF\xBF",
    b"\xF0\x9F\x98",
    b"\xF4\x90\x80\x80",
    b"\xF0\x9F\x98\x80\x80",
];

#[test]
fn unmasking_finds_errors_at_every_position() {
    for fill in ["a", "é", "€", "😀", "aé€😀"] {
        for before in 0..=300 {
            let front = fill_to(fill, before);
            for wrong in WRONGS {
                for after in [0, 1, 2, 3, 64, 300] {
                    let after = fill_to(fill, after);
                    let bytes = [front.as_bytes(), wrong, after.as_bytes()].concat();
                    unmasking_agrees(&bytes, MASK, before % 5);
                    if before <= 130 {
                        for mask in GENTLE_MASKS {
                            unmasking_agrees(&bytes, mask, 0);
                        }
                    }
                }
            }
        }
        for before in (300..2600).step_by(61) {
            let front = fill_to(fill, before);
            for (wrong, after) in WRONGS.iter().zip([0, 3, 300, 1000].into_iter().cycle()) {
                let after = fill_to(fill, after);
                let bytes = [front.as_bytes(), wrong, after.as_bytes()].concat();
                unmasking_agrees(&bytes, MASK, before % 5);
            }
        }
    }
}

/// The first block determines how the others are tested: here for more than they contain.
#[test]
fn unmasking_finds_errors_in_ascii_after_other_text() {
    for fill in ["é", "€", "😀"] {
        let front = fill_to(fill, 72);
        for before in 0..=130 {
            for wrong in WRONGS {
                for after in [0, 1, 2, 3, 64] {
                    let (before, after) = ("a".repeat(before), "a".repeat(after));
                    let bytes =
                        [front.as_bytes(), before.as_bytes(), wrong, after.as_bytes()].concat();
                    unmasking_agrees(&bytes, MASK, 0);
                }
            }
        }
    }
}

/// Most levels unmask and validate long input in windows of some KiB, a power of two.
#[test]
fn unmasking_finds_errors_around_the_ends_of_windows() {
    for fill in ["a", "aé€😀"] {
        for end in [4096, 8192, 16_384] {
            for before in end - 6..=end + 2 {
                let front = fill_to(fill, before);
                for wrong in WRONGS.into_iter().chain([&b""[..], "\u{F000}".as_bytes()]) {
                    for after in [0, 1, end + 100] {
                        let after = fill_to("é", after);
                        let bytes = [front.as_bytes(), wrong, after.as_bytes()].concat();
                        unmasking_agrees(&bytes, MASK, before % 5);
                    }
                }
            }
        }
    }
}

#[test]
fn a_mask_rotated_by_the_piece_length_continues_in_the_next() {
    let text = "жёлтый text 日本語 🦀".repeat(20);
    for level in Level::available() {
        for cut in 0..=text.len() {
            let mut bytes = masked(text.as_bytes(), MASK);
            let (first, second) = bytes.split_at_mut(cut);
            level.unmask(first, MASK);
            let mut mask = MASK;
            mask.rotate_left(cut % 4);
            level.unmask(second, mask);
            assert!(bytes == text.as_bytes(), "{}: split at {cut}", level.name());
        }
    }
}
