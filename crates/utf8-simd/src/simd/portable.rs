//! Machines without vectors: validation at the same speed for every script, without `unsafe`.
//!
//! The reference takes a branch for each character, which is often mispredicted: after each word, and at each change
//! of length. Here an automaton steps over each byte with a load and a shift:
//!
//! ```text
//! while there is a window of two halves and three bytes:
//!     64 bytes of ASCII:  skip them
//!     otherwise:          step over both halves at once. The second begins after the continuation bytes in the
//!                         middle, so its first state is known: WHOLE.
//! step over the rest
//! ill-formed or incomplete: the reference decides, from the last character boundary on
//! ```
//!
//! A state is an offset in the bits of a table entry, where the next state is stored: `next = TABLE[byte] >> state`.
//! A step therefore takes the latency of one shift, and two chains of steps overlap.

use core::mem::MaybeUninit;

pub(in crate::simd) use crate::simd::reference::{
    ascii_before, block_errors, byte_masks, count_chars, count_utf16, decode_ascii_chars,
    decode_ascii_utf16, decode_chars, decode_latin1, decode_short_chars, decode_short_utf16,
    decode_utf16, encode_chars, encode_latin1, encode_utf16, find_outside, join_pairs, run,
    split_pairs, unmask, valid_prefix_len,
};
use crate::simd::{ErrorLen, Validated, head, reference, tail};

/// The length from which `core` validates the start of an input: a text in another encoding often has an error there, which
/// the automaton shows only after a window. Rows `locate/*/start` with level `portable`.
const LONG: usize = 1024;
const START: usize = 64;

/// Finds the length of the well-formed prefix. Out of line: it is one of the arms of each dispatch.
#[inline(never)]
pub(in crate::simd) fn validate(input: &[u8]) -> Validated {
    let mut at = 0;
    if input.len() >= LONG {
        let start = core::str::from_utf8(head(input, START));
        let error_len = match start.map_err(|error| error.error_len()) {
            Ok(_) | Err(None) => ErrorLen::None,
            Err(Some(1)) => ErrorLen::One,
            Err(Some(2)) => ErrorLen::Two,
            Err(Some(_)) => ErrorLen::Three,
        };
        at = start.map_or_else(|error| error.valid_up_to(), str::len);
        if error_len != ErrorLen::None {
            return Validated { valid_up_to: at, error_len };
        }
    }
    let valid = at + validate_by_steps(tail(input, at));
    // Text of 4 to 32 bytes takes a sixth less by this: rows `validate/*/4-32` with level `portable`.
    if valid == input.len() {
        return Validated { valid_up_to: valid, error_len: ErrorLen::None };
    }
    let rest = reference::validate(tail(input, valid));
    Validated { valid_up_to: valid + rest.valid_up_to, ..rest }
}

#[inline(never)]
pub(in crate::simd) fn unmask_and_validate(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    unmask(bytes, mask);
    validate(bytes)
}

/// Counts the well-formed bytes, if they are not all, without those of the last window.
#[inline]
fn validate_by_steps(input: &[u8]) -> usize {
    let (mut at, mut state) = (0, WHOLE);
    loop {
        if state == WHOLE {
            at += ascii_len::<{ 2 * HALF }>(tail(input, at));
        }
        let Some(window) = tail(input, at).first_chunk() else { break };
        let Some((len, next)) = step_window(window, state) else {
            return boundary(head(input, at), state);
        };
        at += len;
        state = next;
    }
    if state == WHOLE {
        at += ascii_len::<8>(tail(input, at));
        if at == input.len() {
            return at;
        }
    }
    // In words, because compilers for WebAssembly do not unroll this. Row `validate/emoji/4-32`.
    let (words, rest) = tail(input, at).as_chunks::<4>();
    let end = words.iter().fold(state, |state, word| step_all(state, word));
    match step_all(end, rest) & STATE {
        WHOLE => input.len(),
        _ => boundary(head(input, at), state),
    }
}

/// Copies the well-formed bytes; `out` is as long as `input` or longer.
#[inline(never)]
pub(in crate::simd) fn copy_valid_prefix(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let valid = validate(input).valid_up_to;
    for (out, byte) in out.iter_mut().zip(&input[..valid]) {
        out.write(*byte);
    }
    valid
}

/// Counts the bytes of the blocks of `N` ASCII bytes at the start of `input`.
#[inline(always)]
fn ascii_len<const N: usize>(input: &[u8]) -> usize {
    let (blocks, _) = input.as_chunks::<N>();
    let is_ascii = |block: &&[u8; N]| {
        let (words, _) = block.as_chunks();
        words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word)) & HIGH == 0
    };
    N * blocks.iter().take_while(is_ascii).count()
}

/// The number of bytes that each of two automata steps over.
const HALF: usize = 32;

/// Steps over a window, except for the bytes after the second half. Returns the number of bytes, and the state after
/// them, or `None` if they are ill-formed.
#[inline(always)]
fn step_window(window: &[u8; 2 * HALF + 3], state: u64) -> Option<(usize, u64)> {
    let (half, after) = window.split_first_chunk::<HALF>()?;
    let a = is_continuation(after[0]);
    let b = a & is_continuation(after[1]);
    let c = b & is_continuation(after[2]);
    let middle = HALF + usize::from(a) + usize::from(b) + usize::from(c);
    let (mut first, mut second) = (state, WHOLE);
    for (&one, &other) in half.iter().zip(window[middle..].first_chunk::<HALF>()?) {
        first = step(first, one);
        second = step(second, other);
    }
    // How many bytes continue the first half is unpredictable: no branch depends on it.
    for (continues, &byte) in [a, b, c].into_iter().zip(after) {
        first = if continues { step(first, byte) } else { first };
    }
    let second = second & STATE;
    (first & STATE == WHOLE && second != ILL_FORMED).then_some((middle + HALF, second))
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Returns the last character boundary in `bytes`, which are well-formed and end in `state`.
#[cold]
fn boundary(bytes: &[u8], state: u64) -> usize {
    let begun = match state {
        WHOLE => None,
        _ => bytes.iter().rposition(|&byte| !is_continuation(byte)),
    };
    begun.unwrap_or(bytes.len())
}

#[inline(always)]
fn step(state: u64, byte: u8) -> u64 {
    TABLE[usize::from(byte)] >> (state & STATE)
}

#[inline(always)]
fn step_all(state: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(state, |state, &byte| step(state, byte))
}

// The states: offsets of six bits. After a step, the higher bits of a state have no meaning.

/// No further byte leads out of this state.
const ILL_FORMED: u64 = 0;
/// After a whole character.
const WHOLE: u64 = 6;
/// Before one, two or three continuation bytes.
const ONE: u64 = 12;
const TWO: u64 = 18;
const THREE: u64 = 24;
/// After a leading byte with another range for the second byte.
const AFTER_E0: u64 = 30;
const AFTER_ED: u64 = 36;
const AFTER_F0: u64 = 42;
const AFTER_F4: u64 = 48;

/// The bits of a state.
const STATE: u64 = 0x3F;

const HIGH: u64 = 0x8080_8080_8080_8080;

/// For each byte, the next state at the offset of each state.
static TABLE: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut state = WHOLE;
        while state <= AFTER_F4 {
            table[byte] |= next(state, byte as u8) << state;
            state += 6;
        }
        byte += 1;
    }
    table
};

/// RFC 3629 section 4.
const fn next(state: u64, byte: u8) -> u64 {
    match (state, byte) {
        (WHOLE, 0x00..=0x7F) | (ONE, 0x80..=0xBF) => WHOLE,
        (WHOLE, 0xC2..=0xDF) | (TWO, 0x80..=0xBF) => ONE,
        (AFTER_E0, 0xA0..=0xBF) | (AFTER_ED, 0x80..=0x9F) => ONE,
        (WHOLE, 0xE0) => AFTER_E0,
        (WHOLE, 0xED) => AFTER_ED,
        (WHOLE, 0xE1..=0xEF) | (THREE, 0x80..=0xBF) => TWO,
        (AFTER_F0, 0x90..=0xBF) | (AFTER_F4, 0x80..=0x8F) => TWO,
        (WHOLE, 0xF0) => AFTER_F0,
        (WHOLE, 0xF1..=0xF3) => THREE,
        (WHOLE, 0xF4) => AFTER_F4,
        _ => ILL_FORMED,
    }
}
