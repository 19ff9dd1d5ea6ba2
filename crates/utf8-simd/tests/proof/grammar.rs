//! The grammar of RFC 3629, and the windows of four bytes; the scalar level reads one sequence like
//! the automaton (lemma 2).

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ops::RangeInclusive;

use crate::automaton::{State, is_never};
use crate::simd::reference_sequence;
use crate::support::sum_of;

/// RFC 3629 section 4: a row for each alternative of `UTF8-char`, with the range of each of its bytes.
const ABNF: &[&[RangeInclusive<u8>]] = &[
    // UTF8-1 = %x00-7F
    &[0x00..=0x7F],
    // UTF8-2 = %xC2-DF UTF8-tail
    &[0xC2..=0xDF, TAIL],
    // UTF8-3 = %xE0 %xA0-BF UTF8-tail / %xE1-EC 2( UTF8-tail ) / %xED %x80-9F UTF8-tail / %xEE-EF 2( UTF8-tail )
    &[0xE0..=0xE0, 0xA0..=0xBF, TAIL],
    &[0xE1..=0xEC, TAIL, TAIL],
    &[0xED..=0xED, 0x80..=0x9F, TAIL],
    &[0xEE..=0xEF, TAIL, TAIL],
    // UTF8-4 = %xF0 %x90-BF 2( UTF8-tail ) / %xF1-F3 3( UTF8-tail ) / %xF4 %x80-8F 2( UTF8-tail )
    &[0xF0..=0xF0, 0x90..=0xBF, TAIL, TAIL],
    &[0xF1..=0xF3, TAIL, TAIL, TAIL],
    &[0xF4..=0xF4, 0x80..=0x8F, TAIL, TAIL],
];

/// UTF8-tail = %x80-BF
const TAIL: RangeInclusive<u8> = 0x80..=0xBF;

/// The verdict of the reference automaton on an input: the length of the well-formed prefix, and the length of
/// the maximal subpart after it, unless the input ends inside a character or after one.
#[cfg(target_arch = "x86_64")]
pub fn verdict(input: &[u8]) -> (usize, Option<usize>) {
    let (mut state, mut start) = (State::Boundary, 0);
    for (at, &byte) in input.iter().enumerate() {
        match state.next(byte) {
            Some(next) => state = next,
            None => return (start, Some((at - start).max(1))),
        }
        if state == State::Boundary {
            start = at + 1;
        }
    }
    (start, None)
}

/// Lemma 1. The automaton accepts the strings of the grammar, and is alive exactly after the prefixes of such
/// strings. The maximal subpart of an ill-formed sequence is by definition the longest such prefix, or one byte
/// if there is none (Unicode 3.9, U+FFFD Substitution of Maximal Subparts; WHATWG, UTF-8 decoder).
#[test]
fn the_reference_automaton_is_the_grammar() {
    // The rows that the bytes of the current character match, and how many bytes these are.
    type Rows = BTreeSet<(usize, usize)>;
    let start: Rows = (0..ABNF.len()).map(|row| (row, 0)).collect();
    let mut seen = HashSet::from([(start.clone(), State::Boundary)]);
    let mut queue = VecDeque::from_iter(seen.iter().cloned());
    let mut steps = 0;
    while let Some((rows, state)) = queue.pop_front() {
        for byte in 0..=0xFF {
            let matching = rows.iter().filter(|(row, at)| ABNF[*row][*at].contains(&byte));
            let mut after: Rows = matching.map(|(row, at)| (*row, at + 1)).collect();
            let whole = after.iter().any(|(row, at)| *at == ABNF[*row].len());
            assert_eq!(state.next(byte).is_some(), !after.is_empty(), "{state:?}, {byte:02x}");
            assert_eq!(state.next(byte) == Some(State::Boundary), whole, "{state:?}, {byte:02x}");
            assert!(!whole || after.len() == 1, "two readings: {state:?}, {byte:02x}");
            steps += 1;
            let Some(next) = state.next(byte) else { continue };
            if whole {
                after = start.clone();
            }
            if seen.insert((after.clone(), next)) {
                queue.push_back((after, next));
            }
        }
    }
    println!("{} states of the product, {steps} steps", seen.len());
}

/// Whether the last of four bytes shows no error, given the three bytes before it. Zeros precede the input.
///
/// A lead C0, C1 or F5 to FF shows its error on the byte after it.
pub fn is_fine([a, b, c, d]: [u8; 4]) -> bool {
    let wanted = c >= 0xC0 || b >= 0xE0 || a >= 0xF0;
    let allowed = match c {
        0xC0..=0xC1 | 0xF5.. => false,
        0xE0 => d >= 0xA0,
        0xED => d <= 0x9F,
        0xF0 => d >= 0x90,
        0xF4 => d <= 0x8F,
        _ => true,
    };
    wanted == matches!(d, 0x80..=0xBF) && allowed
}

/// Whether no sequence continues after the last three bytes of an input. Zeros precede the input.
pub fn is_complete([a, b, c]: [u8; 3]) -> bool {
    a < 0xF0 && b < 0xE0 && c < 0xC0
}

/// The class of a byte. The functions above do not distinguish bytes of one class.
pub fn class(byte: u8) -> u8 {
    BOUNDS.iter().filter(|bound| **bound <= byte).count() as u8
}

const BOUNDS: [u8; 13] =
    [0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5];

/// The first byte of each class.
pub const CLASSES: [u8; 14] =
    [0x00, 0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5];

/// Lemma 3. A string of any length has only fine windows if and only if the automaton reads all of it, except
/// perhaps a last byte that starts no sequence. The automaton then is between two characters if and only if
/// the string is complete.
///
/// The product of the automaton and of the last three bytes is finite.
#[test]
fn fine_windows_are_well_formed_text() {
    // A class is enough: every comparison in `is_fine`, `is_complete` and `State::next` is with a bound.
    for byte in 0..=0xFF_u8 {
        let same = CLASSES[usize::from(class(byte))];
        for x in CLASSES {
            for y in CLASSES {
                for z in CLASSES {
                    for (one, other) in [
                        ([byte, x, y, z], [same, x, y, z]),
                        ([x, byte, y, z], [x, same, y, z]),
                        ([x, y, byte, z], [x, y, same, z]),
                        ([x, y, z, byte], [x, y, z, same]),
                    ] {
                        assert_eq!(is_fine(one), is_fine(other), "{one:02x?}");
                    }
                }
            }
        }
    }
    // `None`: the last byte starts no sequence.
    let start = (Some(State::Boundary), [0; 3]);
    let mut seen = HashSet::from([start]);
    let mut queue = VecDeque::from([start]);
    while let Some((state, last)) = queue.pop_front() {
        let boundary = state == Some(State::Boundary);
        assert_eq!(boundary, is_complete(last), "{state:?} {last:02x?}");
        for byte in 0..=0xFF {
            let [a, b, c] = last;
            let fine = is_fine([a, b, c, byte]);
            let next = state.and_then(|state| state.next(byte));
            assert_eq!(
                fine,
                next.is_some() || boundary && is_never(byte),
                "{state:?} {last:02x?} {byte:02x}"
            );
            let after = (next, [b, c, CLASSES[usize::from(class(byte))]]);
            if fine && seen.insert(after) {
                queue.push_back(after);
            }
        }
    }
    println!("{} states of the product", seen.len());
}

// ---- lemma 2, for one sequence ------------------------------------------------------------------

/// The reading of the automaton of the sequence at the start of an input that is not ASCII.
fn sequence_by_automaton(input: &[u8]) -> (usize, Option<usize>) {
    let mut state = State::Boundary;
    for (at, &byte) in input.iter().enumerate() {
        match state.next(byte) {
            Some(State::Boundary) => return (at + 1, None),
            Some(next) => state = next,
            None => return (0, Some(at.max(1))),
        }
    }
    (0, None)
}

/// Compares the scalar reading of one sequence with the automaton for all inputs of four bytes that start with
/// these two.
fn check_sequences(first: u8, second: u8) {
    let mut input = [first, second, 0, 0];
    for third in 0..=0xFF {
        for fourth in 0..=0xFF {
            [input[2], input[3]] = [third, fourth];
            assert_eq!(reference_sequence(&input), sequence_by_automaton(&input), "{input:02x?}");
        }
    }
}

/// Lemma 2, for one sequence.
#[test]
fn the_scalar_level_reads_every_sequence_like_the_automaton() {
    for first in 0x80..=0xFF {
        assert_eq!(reference_sequence(&[first]), sequence_by_automaton(&[first]));
        for second in 0..=0xFF {
            let input = [first, second];
            assert_eq!(reference_sequence(&input), sequence_by_automaton(&input), "{input:02x?}");
            for third in 0..=0xFF {
                let input = [first, second, third];
                assert_eq!(reference_sequence(&input), sequence_by_automaton(&input));
            }
            // The edges of every class; the ignored test has all bytes.
            let edges = || CLASSES.into_iter().flat_map(|byte| [byte, byte.wrapping_sub(1)]);
            for third in edges() {
                for fourth in edges() {
                    let input = [first, second, third, fourth];
                    assert_eq!(
                        reference_sequence(&input),
                        sequence_by_automaton(&input),
                        "{input:02x?}"
                    );
                }
            }
        }
    }
}

/// Lemma 2, for one sequence: all 2^31 inputs.
#[test]
#[ignore = "half a minute in release mode"]
fn the_scalar_level_reads_all_four_bytes_like_the_automaton() {
    let pairs = Vec::from_iter((0x80..=0xFF).flat_map(|a| (0..=0xFF).map(move |b| (a, b))));
    sum_of(&pairs, |(first, second)| {
        check_sequences(*first, *second);
        1
    });
}
