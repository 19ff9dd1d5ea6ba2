//! Lemma 2: the scalar level reads one sequence like the automaton.

use crate::automaton::State;
use crate::grammar::CLASSES;
use crate::simd::reference_sequence;
use crate::support::sum_of;

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
