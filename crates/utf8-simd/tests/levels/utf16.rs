//! UTF-16 to UTF-8: every level of this machine compared with std.

use utf8_simd::Level;

use crate::support::Random;

/// A value that no test expects to be written, to detect unchanged bytes.
const BYTE: u8 = 0xEE;

/// `units` up to the first unpaired surrogate in UTF-8, as much as fits.
fn expected(units: &[u16], room: usize) -> (usize, Vec<u8>) {
    let (mut read, mut bytes) = (0, Vec::new());
    for c in char::decode_utf16(units.iter().copied()) {
        let Ok(c) = c else { break };
        if bytes.len() + c.len_utf8() > room {
            break;
        }
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        read += c.len_utf16();
    }
    (read, bytes)
}

pub(crate) fn encodes_as_std(level: Level, units: &[u16], room: usize) {
    let (read, bytes) = expected(units, room);
    let mut out = vec![BYTE; room];
    let found = level.encode_utf16(units, &mut out, None);
    let name = level.name();
    assert_eq!(found, (read, bytes.len()), "{name}: {units:04x?} into {room}");
    assert!(out.starts_with(&bytes), "{name}: {units:04x?} into {room}");
}

/// `len` units of repeated `text`.
fn fill(text: &str, len: usize) -> Vec<u16> {
    text.encode_utf16().collect::<Vec<_>>().into_iter().cycle().take(len).collect()
}

const FILLS: &[&str] =
    &["a", "é", "€", "aé", "é€", "aé€", "😀", "a😀", "日本😀", "ab\u{7FF}\u{800}\u{FFFF}"];

#[test]
fn utf16_of_every_length_and_script_encodes_as_in_std() {
    for level in Level::available() {
        for text in FILLS {
            for len in 0..200 {
                let units = fill(text, len);
                let needed = expected(&units, usize::MAX).1.len();
                for less in [0, 1, 2, 3, 4, 15, 16, 17, 40] {
                    encodes_as_std(level, &units, needed.saturating_sub(less));
                }
                encodes_as_std(level, &units, needed + 100);
            }
        }
    }
}

#[test]
fn every_unit_encodes_as_in_std_in_every_lane() {
    for level in Level::available() {
        for text in ["a", "é", "€", "😀"] {
            for at in 0..20 {
                let mut units = fill(text, 48);
                for unit in 0..=u16::MAX {
                    // Most units at one position, those at the ends of ranges at all positions.
                    let is_edge =
                        (unit.wrapping_add(2) & 0x3FF) < 4 || unit < 0x82 || unit & 0x7F == 0;
                    if at != 9 && !is_edge {
                        continue;
                    }
                    units[at] = unit;
                    encodes_as_std(level, &units, 160);
                }
            }
        }
    }
}

#[test]
fn every_unit_encodes_as_in_std_among_many_pairs() {
    for level in Level::available() {
        for text in ["😀", "é😀\u{10FFFF}", "😀日"] {
            for at in 0..64 {
                let mut units = fill(text, 140);
                for unit in 0..=u16::MAX {
                    // Most units in one place of either half, those at the ends of ranges everywhere.
                    let is_edge = (unit.wrapping_add(2) & 0x3FF) < 4 || unit & 0x1FF == 0x80;
                    if !matches!(at, 8 | 9) && !is_edge {
                        continue;
                    }
                    units[at] = unit;
                    encodes_as_std(level, &units, 480);
                }
            }
        }
    }
}

#[test]
fn all_pairs_of_surrogates_encode_as_in_std() {
    let highs = 0xD800..=0xDBFF_u16;
    let pairs = |high| (0xDC00..=0xDFFF_u16).flat_map(move |low| [high, low]);
    for level in Level::available() {
        for high in highs.clone() {
            let units: Vec<u16> = pairs(high).collect();
            encodes_as_std(level, &units, 2 * units.len() + 64);
        }
    }
}

#[test]
fn surrogates_in_every_order_encode_as_in_std_at_every_position() {
    const KINDS: [u16; 6] = [u16::from_be_bytes(*b"\0a"), 0xE9, 0x20AC, 0xD83D, 0xDE00, 0xDBFF];
    for level in Level::available() {
        for (text, len) in [("a", 70), ("€", 70), ("😀", 70), ("😀", 150), ("€aé😀😀😀", 150)]
        {
            for at in 0..len / 2 {
                for kinds in 0..KINDS.len().pow(3) {
                    let mut units = fill(text, len);
                    for i in 0..3 {
                        units[at + i] = KINDS[kinds / KINDS.len().pow(i as u32) % KINDS.len()];
                    }
                    encodes_as_std(level, &units, 4 * len);
                }
            }
        }
    }
}

#[test]
fn runs_of_one_unit_encode_as_in_std() {
    for level in Level::available() {
        for unit in (0..=u16::MAX).step_by(0x10) {
            for len in [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 70] {
                encodes_as_std(level, &vec![unit; len], 3 * len);
                encodes_as_std(level, &vec![unit; len], 4 * len + 64);
            }
        }
    }
}

#[test]
fn a_pair_at_the_window_edge_is_encoded() {
    for level in Level::available() {
        for before in 4080..4110 {
            let mut units = fill("a", before);
            units.extend("😀 and more text, 日本語 and so on".encode_utf16());
            encodes_as_std(level, &units, 3 * units.len());
            units[before + 1] = u16::from(b'x');
            encodes_as_std(level, &units, 3 * units.len());
        }
    }
}

#[test]
fn unpaired_surrogates_are_replaced_as_by_std() {
    let mut random = Random(11);
    let alphabet = [0x61, 0xE9, 0x20AC, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xD83D, 0xDE00];
    for len in 0..=300 {
        for room in [len, len / 2, 2 * len, 3 * len, 3 * len + 64] {
            // Mostly pairs, letters with a few surrogates, or anything.
            let units: Vec<u16> = match random.below(4) {
                0 => (0..len).map(|i| if i % 2 == 0 { 0xD83D } else { 0xDE00 }).collect(),
                1 => (0..len).map(|i| [0x61, 0xD800][usize::from(i % 64 == 5)]).collect(),
                2 => (0..len).map(|_| alphabet[random.below(4)]).collect(),
                _ => (0..len).map(|_| alphabet[random.below(9)]).collect(),
            };
            for level in Level::available() {
                replaces_as_std(level, &units, room);
            }
        }
    }
}

/// Replaces the unpaired surrogates of `units` into `room` bytes.
fn replaces_as_std(level: Level, units: &[u16], room: usize) {
    let (mut read, mut text, mut replaced) = (0, String::new(), 0);
    for c in char::decode_utf16(units.iter().copied()) {
        let used = c.as_ref().map_or(1, |c| c.len_utf16());
        // A high surrogate at the end is left.
        let is_left = c.is_err() && read + 1 == units.len() && units[read] < 0xDC00;
        let len = c.as_ref().map_or(3, |c| c.len_utf8());
        if is_left || text.len() + len > room {
            break;
        }
        replaced += u64::from(c.is_err());
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        read += used;
    }
    let (mut out, mut count) = (vec![0; room], 0);
    let done = level.encode_utf16(units, &mut out, Some(&mut count));
    let context = format!("{} {room} {units:04x?}", level.name());
    assert_eq!(done, (read, text.len()), "{context}");
    assert_eq!(&out[..done.1], text.as_bytes(), "{context}");
    assert_eq!(count, replaced, "{context}");
}
