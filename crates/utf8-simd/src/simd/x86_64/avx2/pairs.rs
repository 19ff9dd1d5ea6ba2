//! Surrogate pairs to UTF-8 with AVX2, and back: vectors find and rewrite the sequences.
//!
//! ```text
//! for each block of 32 bytes
//!     marks = the bytes that begin a sequence to rewrite, or to stop at
//!     for each of the marks
//!         copy the bytes before it        always 32 bytes
//!         rewrite it
//!     copy the rest
//! ```
//!
//! Masks over the whole block show which sequences are pairs, and blocks follow each other at a fixed
//! distance. So a step does not wait for the one before it, as it does in the scalar level: the only
//! dependency between two marks is the removal of a bit. The next block consumes the part of a pair that
//! extends into it. Later stores overwrite the excess of each copy. Runs of `C0 80` (and of 00, in the other
//! direction) have one mark, at their start.
//!
//! A pair, as `vvvv wwwwww xxxx yyyyyy` in the bytes of a lane of 32 bits, the highest first:
//!
//! ```text
//! pair      1010vvvv 10wwwwww 1011xxxx 10yyyyyy      (and an ED before the first and the third)
//! sum       000uuuuu 00wwwwww 0000xxxx 00yyyyyy      uuuuu = vvvv + 1
//! becomes   11110uuu 10uuwwww 10wwxxxx 10yyyyyy      of sum >> 2, sum >> 4 and sum
//! ```
//!
//! The remaining cost is the branch that ends the marks of a block, whose number varies (branch
//! misprediction). Two alternatives were slower: up to four adjacent pairs at once, half as fast in
//! letters with occasional pairs, because the number of pairs must be known before the next mark; and
//! pairs rewritten in a word (`cesu-8-decode` and `cesu-8-encode` in `benches/versus`).

use core::arch::x86_64::*;

use super::{load_32, store_32};
use crate::simd::generic::{first, first_mut};
use crate::simd::reference::pairs::{self, NulForm, PairMarks, ROOM};
use crate::simd::x86_64::sse41::{load_16, store_16};

/// The number of bytes tested together.
const STEP: usize = 32;
/// A mask of these bytes.
const WITHIN: u64 = (1 << STEP) - 1;
/// The minimum input for another block: the block, and the bytes after it that are tested or copied.
const AHEAD: usize = 2 * STEP;
/// The minimum free output for splitting another block: each byte can become two, plus the excess of a copy.
const ROOM_TO_SPLIT: usize = 3 * STEP;

#[target_feature(enable = "avx2")]
pub(in crate::simd) fn join_pairs(input: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
    let all = out.len();
    let (mut rest, mut place) = (input, out);
    // Consumed bytes at the start of `rest`: at most five, the end of a sequence that started before them.
    let mut done = 0;
    let mut begun = 0;
    while let (Some(bytes), Some(room)) =
        (rest.first_chunk::<AHEAD>(), place.first_chunk_mut::<ROOM>())
    {
        let halves = [load_32(first(bytes)), load_32(first(&bytes[STEP..]))];
        let equal = |bits, byte, n| {
            let masked = halves.map(|half| equal(_mm256_and_si256(half, splat(bits)), byte));
            (u64::from(masked[0]) | u64::from(masked[1]) << STEP) >> n
        };
        let PairMarks { pairs, nuls, stop, .. } = PairMarks::new(equal, nul, begun);
        let (pairs, nuls, stop) = (pairs & WITHIN, nuls & WITHIN, stop & WITHIN);
        begun = pairs << 3 >> STEP;
        let mut marks = pairs | nuls & !(nuls << 2);
        let mut end = STEP;
        if stop != 0 {
            end = stop.trailing_zeros() as usize;
            marks &= !(u64::MAX << end);
        }
        // Invariant: `put <= done`. Both are below 32 where they are indexes; the remainder tells the compiler.
        let mut put = 0;
        while marks != 0 {
            let mark = marks.trailing_zeros() as usize;
            copy(&bytes[done % STEP..], &mut room[put % STEP..]);
            put += mark - done;
            if nuls >> mark & 1 == 0 {
                let joined = join_one(first(&bytes[mark % STEP..]));
                store_16(joined, first_mut(&mut room[put % STEP..]));
                put += 4;
                done = mark + 6;
            } else {
                let len = ((nuls | nuls << 1) >> mark).trailing_ones() as usize;
                room[put % STEP..][..STEP].fill(0);
                put += len / 2;
                done = mark + len;
            }
            marks &= marks - 1;
        }
        if done < end {
            copy(&bytes[done % STEP..], &mut room[put % STEP..]);
            put += end - done;
            done = end;
        }
        place = &mut place[put..];
        if stop != 0 {
            return (input.len() - rest.len() + done, all - place.len());
        }
        rest = &rest[STEP..];
        done -= STEP;
    }
    let (read, written) = (input.len() - rest.len() + done, all - place.len());
    let (more_read, more_written) = pairs::join_pairs(&input[read..], nul, place);
    (read + more_read, written + more_written)
}

#[target_feature(enable = "avx2")]
pub(in crate::simd) fn split_pairs(text: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
    let all = out.len();
    let (mut rest, mut place) = (text, out);
    // Consumed bytes at the start of `rest`: at most three, the end of a sequence that started before them.
    let mut done = 0;
    while let (Some(bytes), Some(room)) =
        (rest.first_chunk::<AHEAD>(), place.first_chunk_mut::<ROOM_TO_SPLIT>())
    {
        let block = load_32(first(bytes));
        let nuls = if nul == NulForm::TwoBytes { equal(block, 0x00) } else { 0 };
        let mut marks = large(block) | nuls & !(nuls << 1);
        // Invariant: `put <= 2 * done`. Where they are indexes, `done` is below 32; the remainders tell the compiler.
        let mut put = 0;
        while marks != 0 {
            let mark = marks.trailing_zeros() as usize;
            marks &= marks - 1;
            if mark < done {
                continue; // inside a character: the input is not UTF-8
            }
            copy(&bytes[done % STEP..], &mut room[put % (2 * STEP)..]);
            put += mark - done;
            if nuls >> mark & 1 == 0 {
                let halves = split_one(first(&bytes[mark % STEP..]));
                store_16(halves, first_mut(&mut room[put % (2 * STEP)..]));
                put += 6;
                done = mark + 4;
            } else {
                let run = (nuls >> mark).trailing_ones() as usize;
                for pair in room[put..put + 2 * run].as_chunks_mut::<2>().0 {
                    *pair = [0xC0, 0x80];
                }
                put += 2 * run;
                done = mark + run;
            }
        }
        if done < STEP {
            copy(&bytes[done % STEP..], &mut room[put % (2 * STEP)..]);
            put += STEP - done;
            done = STEP;
        }
        rest = &rest[STEP..];
        place = &mut place[put..];
        done -= STEP;
    }
    let (read, written) = (text.len() - rest.len() + done, all - place.len());
    let (more_read, more_written) = pairs::split_pairs(&text[read..], nul, place);
    (read + more_read, written + more_written)
}

/// Rewrites a pair. Of the result, four bytes are its own.
#[inline]
#[target_feature(enable = "avx2")]
fn join_one(bytes: &[u8; 16]) -> __m128i {
    let places = _mm_setr_epi8(5, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    let pair = _mm_shuffle_epi8(load_16(bytes), places);
    let sum = _mm_add_epi32(_mm_and_si128(pair, all(0x0F3F_0F3F)), all(0x0100_0000));
    let high = _mm_and_si128(_mm_srli_epi32::<2>(sum), all(0x070F_0000));
    let middle = _mm_and_si128(_mm_srli_epi32::<4>(sum), all(0x0030_3000));
    let low = _mm_and_si128(sum, all(0x0000_0F3F));
    let joined = _mm_or_si128(_mm_or_si128(high, middle), _mm_or_si128(low, all(0xF080_8080)));
    _mm_shuffle_epi8(joined, swapped())
}

/// Rewrites a character of four bytes as a pair. Of the result, six bytes are its own.
#[inline]
#[target_feature(enable = "avx2")]
fn split_one(bytes: &[u8; 16]) -> __m128i {
    let lane = _mm_shuffle_epi8(load_16(bytes), swapped());
    let high = _mm_slli_epi32::<2>(_mm_and_si128(lane, all(0x070F_0000)));
    let middle = _mm_slli_epi32::<4>(_mm_and_si128(lane, all(0x0030_3000)));
    let low = _mm_and_si128(lane, all(0x0000_0F3F));
    let sum = _mm_sub_epi32(_mm_or_si128(high, middle), all(0x0100_0000));
    // The sum has more bits only for input that is not UTF-8.
    let sum = _mm_and_si128(_mm_or_si128(sum, low), all(0x0F3F_0F3F));
    let halves = _mm_or_si128(sum, all(0xA080_B080));
    let places = _mm_setr_epi8(-1, 3, 2, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    let ed = _mm_setr_epi8(-19, 0, 0, -19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    _mm_or_si128(_mm_shuffle_epi8(halves, places), ed)
}

/// Returns a vector with this number in each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn all(number: u32) -> __m128i {
    _mm_set1_epi32(number as i32)
}

/// Indexes that reverse the bytes of each lane of 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn swapped() -> __m128i {
    _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)
}

#[inline]
#[target_feature(enable = "avx2")]
fn copy(from: &[u8], to: &mut [u8]) {
    store_32(load_32(first(from)), first_mut(to));
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte as i8)
}

#[inline]
#[target_feature(enable = "avx2")]
fn equal(block: __m256i, byte: u8) -> u32 {
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(block, splat(byte))) as u32
}

/// Marks the bytes from F0 on.
#[inline]
#[target_feature(enable = "avx2")]
fn large(block: __m256i) -> u32 {
    let greatest = _mm256_max_epu8(block, splat(0xF0));
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(greatest, block)) as u32
}
