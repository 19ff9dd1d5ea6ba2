//! Machines without vectors: validation at the same speed for every script, the ill-formed parts of a block, and line ends,
//! without `unsafe`.
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
//! ill-formed, or an error is probably near: step over one word after another, and then over the last word again,
//!                         with a count of its bytes of whole characters
//! ```
//!
//! A state is an offset in the bits of a table entry, where the next state is stored: `next = TABLE[byte] >> state`.
//! A step therefore takes the latency of one shift, and two chains of steps overlap.

use core::mem::MaybeUninit;

use crate::simd::masks::Masks;
pub(in crate::simd) use crate::simd::reference::{
    ascii_before, copy_before, count_chars, count_utf16, decode_ascii_chars, decode_ascii_utf16,
    decode_chars, decode_damaged_chars, decode_damaged_utf16, decode_latin1, decode_short_bytes,
    decode_short_chars, decode_short_utf16, decode_utf16, encode_chars, encode_latin1,
    encode_utf16, find_outside, join_pairs, recode, run, split_pairs, unmask, validate_next,
};
use crate::simd::{
    BLOCK_ERRORS_LEN, BlockErrors, ErrorLen, HIGH_BITS, Sequence, Validated, begins_nothing, head,
    sequence, tail,
};

/// The length from which the start of an input is stepped over word by word: a text in another encoding often has an error
/// there, which two automata show only after a window. Rows `locate/*/start` with level `portable`.
const LONG: usize = 1024;
const START: usize = 64;

/// Finds the length of the well-formed prefix. ASCII needs no other function, and few registers: rows `decode/ascii/64` with
/// level `portable`.
#[inline(never)]
pub(in crate::simd) fn validate(input: &[u8]) -> Validated {
    if let Some(word) = input.first_chunk()
        && first_high(*word) == 0
    {
        return validate_text(input, 0);
    }
    let ascii = ascii_len(input);
    match input.get(ascii) {
        None => Validated { valid_up_to: ascii, error_len: ErrorLen::None },
        Some(&byte) if begins_nothing(byte) => {
            Validated { valid_up_to: ascii, error_len: ErrorLen::One }
        }
        Some(_) => validate_text(input, ascii),
    }
}

/// [`validate`] from a boundary on.
#[inline(never)]
fn validate_text(input: &[u8], at: usize) -> Validated {
    match input.len() - at {
        0..WINDOW => validate_end(input, at, WHOLE),
        WINDOW..LONG => validate_windows(input, at, WHOLE),
        LONG.. => validate_start(input, at),
    }
}

/// [`validate_text`] of a long input. A function of its own, which needs few registers until it calls the next.
#[inline(never)]
fn validate_start(input: &[u8], mut at: usize) -> Validated {
    let (words, _) = head(tail(input, at), START).as_chunks::<8>();
    let mut state = WHOLE;
    for word in words {
        let next = step_all(state, word) & STATE;
        if next == ILL_FORMED {
            return validate_last(input, at, state, word);
        }
        (at, state) = (at + 8, next);
    }
    validate_windows(input, at, state)
}

/// [`validate`] from `at` on: the bytes before it are well-formed and end in `state`.
#[inline(never)]
fn validate_windows(input: &[u8], mut at: usize, mut state: u64) -> Validated {
    loop {
        if state == WHOLE {
            at += ascii_blocks_len(tail(input, at));
        }
        let Some(window) = tail(input, at).first_chunk() else { break };
        let Some((len, next)) = step_window(window, state) else {
            return locate(input, at);
        };
        at += len;
        state = next;
    }
    validate_end(input, at, state)
}

/// [`validate`] from `at` on: the bytes before it are well-formed and end in `state`.
#[inline(always)]
fn validate_end(input: &[u8], at: usize, state: u64) -> Validated {
    // In words, because compilers for WebAssembly do not unroll this. Row `validate/emoji/4-32`.
    let (words, rest) = tail(input, at).as_chunks::<4>();
    let end = words.iter().fold(state, |state, word| step_all(state, word));
    let valid_up_to = match step_all(end, rest) & STATE {
        ILL_FORMED => return locate(input, at),
        WHOLE => input.len(),
        _ => boundary(input),
    };
    Validated { valid_up_to, error_len: ErrorLen::None }
}

/// [`validate`], if an error is near: the bytes before `at` are well-formed, except that a character may begin there.
#[cold]
#[inline(never)]
fn locate(input: &[u8], at: usize) -> Validated {
    let at = boundary(head(input, at));
    let near = validate_near(tail(input, at));
    Validated { valid_up_to: at + near.valid_up_to, ..near }
}

#[inline(never)]
pub(in crate::simd) fn unmask_and_validate(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    unmask(bytes, mask);
    validate(bytes)
}

pub(in crate::simd) fn valid_prefix_len(input: &[u8]) -> usize {
    validate_near(input).valid_up_to
}

/// Copies the well-formed bytes; `out` is as long as `input` or longer.
#[inline(never)]
pub(in crate::simd) fn copy_valid_prefix(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    validate_by_words::<true>(input, out).valid_up_to
}

/// Like [`validate`], for inputs in which an error is near.
#[inline(never)]
fn validate_near(input: &[u8]) -> Validated {
    validate_by_words::<false>(input, &mut [])
}

/// [`validate`], one word after another. With `COPY`, copies the words to `out`.
#[inline(always)]
fn validate_by_words<const COPY: bool>(input: &[u8], out: &mut [MaybeUninit<u8>]) -> Validated {
    let (words, rest) = input.as_chunks::<8>();
    let (out_words, _) = out.as_chunks_mut::<8>();
    let mut copy = |i: usize, word: &[u8; 8]| {
        if COPY && let Some(out) = out_words.get_mut(i) {
            *out = word.map(MaybeUninit::new);
        }
    };
    let mut i = 0;
    while let Some(word) = words.get(i)
        && first_high(*word) == 8
    {
        copy(i, word);
        i += 1;
    }
    // Most errors in ASCII end here.
    if let Some(word) = words.get(i) {
        let ascii = 8 * i + first_high(*word);
        if ascii > 0
            && let Sequence::IllFormed(error_len) = sequence(tail(input, ascii))
        {
            copy(i, word);
            return Validated { valid_up_to: ascii, error_len };
        }
    }
    let mut state = WHOLE;
    for word in tail(words, i) {
        copy(i, word);
        if state != WHOLE || first_high(*word) < 8 {
            let next = step_all(state, word) & STATE;
            if next == ILL_FORMED {
                return validate_last(input, 8 * i, state, word);
            }
            state = next;
        }
        i += 1;
    }
    if COPY {
        for (out, byte) in out.iter_mut().skip(8 * i).zip(rest) {
            out.write(*byte);
        }
    }
    validate_last(input, 8 * i, state, rest)
}

/// [`validate`] of the bytes before `at`, which end in `state`, and of the word or less there. Where the text ends in it is
/// unpredictable: no branch depends on it.
#[inline(always)]
fn validate_last(input: &[u8], at: usize, mut state: u64, last: &[u8]) -> Validated {
    let (mut end, mut alive) = (boundary(head(input, at)), at);
    for (i, &byte) in last.iter().enumerate() {
        state = step(state, byte) & STATE;
        end = if state == WHOLE { at + i + 1 } else { end };
        alive += usize::from(state != ILL_FORMED);
    }
    let error_len = match (state, alive - end) {
        (ILL_FORMED, 0 | 1) => ErrorLen::One,
        (ILL_FORMED, 2) => ErrorLen::Two,
        (ILL_FORMED, _) => ErrorLen::Three,
        _ => ErrorLen::None,
    };
    Validated { valid_up_to: end, error_len }
}

/// The fewest ill-formed parts for which a block is worth the time.
const MANY: u32 = 2;

/// Finds the ill-formed parts, if there are many; see [`Level::block_errors`](crate::simd::Level::block_errors). Eight bytes
/// at once in a word: the condition of a byte is its bit 7, and no sum of two bytes carries into the next.
#[inline(never)]
pub(in crate::simd) fn block_errors(block: &[u8; BLOCK_ERRORS_LEN]) -> Option<BlockErrors> {
    let (words, _) = block.as_chunks::<8>();
    let word = |i| words.get(i).map_or(0, |word| u64::from_le_bytes(*word));
    let high = mask_of(block, |bytes| bytes);
    let from_c0 = mask_of(block, |bytes| bytes & bytes << 1);
    let (mut from_e0, mut from_f0, mut bad) = (0, 0, 0);
    // In damaged ASCII, there is usually no such byte, and no other condition counts.
    if from_c0 & (high & !from_c0) >> 1 != 0 {
        for i in 0..8 {
            let bytes = word(i);
            let next = bytes >> 8 | word(i + 1) << 56;
            let c0 = bytes & bytes << 1;
            let e0 = c0 & bytes << 2;
            let f0 = e0 & bytes << 3;
            // vvvvww of 1111vvvv 10ww....
            let value = (bytes & each(0x0F)) << 2 | (next >> 4) & each(0x03);
            // Not C0, C1.
            let two = (bytes & each(0x1E)) + each(0x7E);
            // Not E0 80..9F, ED A0..BF: neither 00000w nor 11011w.
            let three = (value + each(0x7E)) & ((value ^ each(0x36)) + each(0x7E));
            // F0 90 to F4 8F: 000001 to 010000.
            let four = (value + each(0x7F)) & (each(0x90) - value);
            let two_or_three = two ^ (two ^ three) & e0;
            let good = two_or_three ^ (two_or_three ^ four) & f0;
            from_e0 |= high_bits(e0) << (8 * i);
            from_f0 |= high_bits(f0) << (8 * i);
            bad |= high_bits(c0 & !good) << (8 * i);
        }
    }
    let masks = Masks {
        high,
        from_c0,
        from_c2: from_c0,
        from_e0,
        from_f0,
        from_f5: 0,
        may_follow: !(bad << 1),
    };
    Some(masks.errors()).filter(|errors| errors.starts.count_ones() >= MANY)
}

/// Marks the bytes that are one of `needles`; see [`Level::byte_masks`](crate::simd::Level::byte_masks).
pub(in crate::simd) fn byte_masks(blocks: &[[u8; 64]], needles: [u8; 2], masks: &mut [u64]) {
    // The sum is below 80 for 00 only.
    let differs = |bytes: u64| bytes | ((bytes & each(0x7F)) + each(0x7F));
    let [a, b] = needles.map(each);
    for (block, mask) in blocks.iter().zip(masks) {
        *mask = mask_of(block, |bytes| !(differs(bytes ^ a) & differs(bytes ^ b)));
    }
}

/// Bit 7 of each byte of a function of the words.
#[inline(always)]
fn mask_of(block: &[u8; 64], function: impl Fn(u64) -> u64) -> u64 {
    let (words, _) = block.as_chunks::<8>();
    let bits = words.iter().map(|word| high_bits(function(u64::from_le_bytes(*word))));
    bits.enumerate().fold(0, |mask, (i, bits)| mask | bits << (8 * i))
}

/// A word of eight equal bytes.
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Bit 7 of each byte, as a mask.
#[inline(always)]
fn high_bits(word: u64) -> u64 {
    // Bit 8 i + 7 moves to bit 56 + i.
    (word & HIGH_BITS).wrapping_mul(0x0002_0408_1020_4081) >> 56
}

/// Counts the ASCII bytes at the start of `input`. That of the reference takes up to half as long again: rows `validate/ascii/64`
/// and `validate/ascii/16-128` with level `portable`.
#[inline(always)]
fn ascii_len(input: &[u8]) -> usize {
    let mut at = ascii_blocks_len(input);
    if at == input.len() {
        return at;
    }
    let (words, _) = tail(input, at).as_chunks();
    for word in words {
        match first_high(*word) {
            8 => at += 8,
            ascii => return at + ascii,
        }
    }
    match input.last_chunk() {
        Some(last) => input.len() - 8 + first_high(*last),
        None => input.iter().take_while(|byte| byte.is_ascii()).count(),
    }
}

/// The index of the first byte that is not ASCII, or 8.
#[inline(always)]
fn first_high(word: [u8; 8]) -> usize {
    (u64::from_le_bytes(word) & HIGH_BITS).trailing_zeros() as usize / 8
}

/// Counts the bytes of the blocks of ASCII at the start of `input`.
#[inline(always)]
fn ascii_blocks_len(input: &[u8]) -> usize {
    const BLOCK: usize = 2 * HALF;
    let (blocks, _) = input.as_chunks::<BLOCK>();
    let is_ascii = |block: &&[u8; BLOCK]| {
        let (words, _) = block.as_chunks();
        words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word)) & HIGH_BITS == 0
    };
    BLOCK * blocks.iter().take_while(is_ascii).count()
}

/// The number of bytes that each of two automata steps over, and the number that they read.
const HALF: usize = 32;
const WINDOW: usize = 2 * HALF + 3;

/// Steps over a window, except for the bytes after the second half. Returns the number of bytes, and the state after
/// them, or `None` if they are ill-formed.
#[inline(always)]
fn step_window(window: &[u8; WINDOW], state: u64) -> Option<(usize, u64)> {
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

/// Returns the last character boundary in `bytes`, which are well-formed text, and perhaps the start of a character. No
/// branch depends on the bytes.
#[inline(always)]
fn boundary(bytes: &[u8]) -> usize {
    let last = |back| bytes.len().checked_sub(back).map_or(0, |at| bytes[at]);
    let begun = |back, lead| if last(back) >= lead { back } else { 0 };
    bytes.len() - (begun(1, 0xC0) + begun(2, 0xE0) + begun(3, 0xF0))
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
