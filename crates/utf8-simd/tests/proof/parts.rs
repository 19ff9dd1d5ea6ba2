//! All ill-formed parts of a block at once.

use utf8_simd::{Level, RepairedPrefix};

use crate::automaton::State;
use crate::grammar::CLASSES;
use crate::support::sum_of;

/// The bytes on which a bit of the result depends: three before it, and three after it.
const WINDOW: usize = 7;

const BLOCK: usize = 64;

/// The parts by the automaton: the starts, those of two or three bytes, those of three, and the end.
fn parts(block: &[u8; BLOCK]) -> (u64, u64, u64, usize) {
    let (mut starts, mut two_or_three, mut three, mut at) = (0, 0, 0, 0);
    while at < BLOCK - 3 {
        let (mut state, mut len) = (State::Boundary, 0);
        loop {
            match state.next(block[at + len]) {
                Some(next) => (state, len) = (next, len + 1),
                None => {
                    starts |= 1 << at;
                    two_or_three |= u64::from(len >= 2) << at;
                    three |= u64::from(len == 3) << at;
                    len = len.max(1);
                    break;
                }
            }
            if state == State::Boundary {
                break;
            }
        }
        at += len;
    }
    (starts, two_or_three, three, at)
}

/// Checks one block. Returns how many that are.
fn check(level: Level, block: &[u8; BLOCK]) -> u64 {
    let found = level.block_errors(block).expect("the level has the method");
    let found = (found.starts, found.two_or_three, found.three, found.end);
    let expected = parts(block);
    assert_eq!(found, expected, "{block:02x?}");
    check_repairs(level, block, expected);
    1
}

/// Checks the units of the block: those of its characters, and U+FFFD for each part.
fn check_repairs(level: Level, block: &[u8; BLOCK], parts: (u64, u64, u64, usize)) {
    let (starts, two_or_three, three, end) = parts;
    let (mut chars, mut len, mut at) = (['\0'; BLOCK], 0, 0);
    while at < end {
        let after = match starts >> at & 1 {
            1 => at + 1 + (two_or_three >> at & 1) as usize + (three >> at & 1) as usize,
            _ => (at + 1..end)
                .find(|&next| block[next] & 0xC0 != 0x80 || starts >> next & 1 == 1)
                .unwrap_or(end),
        };
        let c = str::from_utf8(&block[at..after]).ok().and_then(|text| text.chars().next());
        chars[len] = c.unwrap_or(char::REPLACEMENT_CHARACTER);
        assert_eq!(c.is_none(), starts >> at & 1 == 1, "{block:02x?}");
        (len, at) = (len + 1, after);
    }
    let (chars, errors) = (&chars[..len], starts.count_ones() as usize);
    // Numbers, because a wrong one would not be a `char`.
    let mut out = [0xE123_u32; 96];
    let done = level.decode_damaged_chars(block, &mut out);
    assert_eq!(done, RepairedPrefix { read: end, written: len, errors }, "{block:02x?}");
    assert!(out[..len].iter().zip(chars).all(|(&a, &b)| a == u32::from(b)), "{block:02x?}");
    // What is overwritten after them: a value that is no `char` would be undefined behaviour.
    let is_of_text =
        |c| matches!(c, 0 | 0xFFFD | 0xE123) || chars.iter().any(|&x| u32::from(x) == c);
    assert!(out[len..].iter().all(|&c| is_of_text(c)), "{block:02x?}");
    let (mut units, mut out) = ([0; 2], [0xE123; 96]);
    let done = level.decode_damaged_utf16(block, &mut out);
    let mut written = 0;
    for c in chars {
        let units = c.encode_utf16(&mut units);
        assert_eq!(&out[written..][..units.len()], units, "{block:02x?}");
        written += units.len();
    }
    assert_eq!(done, RepairedPrefix { read: end, written, errors }, "{block:02x?}");
}

/// A string that contains every string of `WINDOW` digits below `digits` once, without the end that wraps around: the
/// Lyndon words whose lengths divide `WINDOW`, in order.
fn every_window(digits: u8) -> Vec<u8> {
    let mut string = Vec::new();
    let mut word = vec![0_u8];
    loop {
        if WINDOW.is_multiple_of(word.len()) {
            string.extend_from_slice(&word);
        }
        let len = word.len();
        word = (0..WINDOW).map(|i| word[i % len]).collect();
        while word.last() == Some(&(digits - 1)) {
            word.pop();
        }
        match word.last_mut() {
            Some(last) => *last += 1,
            None => return string,
        }
    }
}

/// Lemma 11. For strings of seven bytes of all classes, at some places of a block, and for all pairs of bytes at every
/// place.
#[test]
#[ignore = "takes seconds in release mode"]
fn a_block_has_the_parts_of_the_automaton() {
    let has_method = |level: &Level| level.block_errors(&[0; BLOCK]).is_some();
    let levels: Vec<Level> = Level::available().filter(has_method).collect();
    if levels.is_empty() {
        println!("a level that finds all parts of a block at once: skipped, this machine lacks it");
    }
    for level in levels {
        check_level(level);
    }
}

fn check_level(level: Level) {
    let mut string: Vec<u8> = every_window(CLASSES.len() as u8)
        .iter()
        .map(|&class| CLASSES[usize::from(class)])
        .collect();
    assert_eq!(string.len(), CLASSES.len().pow(WINDOW as u32));
    string.extend_from_within(..BLOCK + WINDOW);
    let (string, step) = (&string, BLOCK - WINDOW + 1);
    // A few places are enough: masks are shifted whole, and the pairs below cross every boundary between vectors.
    let phases: Vec<usize> = (0..step).step_by(7).collect();
    let blocks = sum_of(&phases, |&phase| {
        let blocks = string[phase..].windows(BLOCK).step_by(step);
        blocks.map(|block| check(level, block.try_into().unwrap())).sum()
    });
    let firsts: Vec<u8> = (0..=0xFF).collect();
    let pairs = sum_of(&firsts, |&first| {
        let mut count = 0;
        for (second, at) in (0..=0xFF).flat_map(|second| (0..BLOCK - 1).map(move |at| (second, at)))
        {
            for filler in [0x41, 0x85] {
                let mut block = [filler; BLOCK];
                block[at..at + 2].copy_from_slice(&[first, second]);
                count += check(level, &block);
            }
        }
        count
    });
    println!(
        "{}: {} strings of {WINDOW} classes: {blocks} blocks; all pairs: {pairs} blocks",
        level.name(),
        CLASSES.len().pow(WINDOW as u32)
    );
}
