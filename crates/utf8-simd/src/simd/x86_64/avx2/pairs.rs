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

use crate::simd::reference::pairs::NulForm;
use crate::simd::reference::pairs::{self, ROOM};

/// The number of bytes tested together.
const BLOCK: usize = 32;
/// The minimum input for another block: the block, and the bytes after it that are tested or copied.
const AHEAD: usize = 2 * BLOCK;
/// The minimum free output for splitting another block: each byte can become two, plus the excess of a copy.
const ROOM_TO_SPLIT: usize = 3 * BLOCK;

/// Rewrites pairs; see [`Level::join_pairs`](crate::simd::Level::join_pairs).
#[target_feature(enable = "avx2")]
pub(in crate::simd) fn join_pairs(input: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    // Consumed bytes after `read`: at most five, the end of a sequence that started before them.
    let mut done = 0;
    let mut begun = 0;
    while input.len() - read >= AHEAD && out.len() - written >= ROOM {
        // SAFETY: there are 64 bytes and more.
        let bytes = unsafe { Bytes64::load(input.as_ptr().add(read)) };
        let found = Found::in_bytes(&bytes, nul, begun);
        begun = found.begun;
        let mut marks = found.pairs | found.nuls & !(found.nuls << 2);
        let mut end = BLOCK;
        if found.stop != 0 {
            end = found.stop.trailing_zeros() as usize;
            marks &= !(u64::MAX << end);
        }
        while marks != 0 {
            let mark = marks.trailing_zeros() as usize;
            // SAFETY: `done` is at most `mark`, less than 32, so that 32 bytes from there on are within
            // the 64. Of these no more has been written than read, and there is room for 64.
            unsafe { copy(input.as_ptr().add(read + done), out.as_mut_ptr().add(written)) };
            written += mark - done;
            if found.nuls >> mark & 1 == 0 {
                // SAFETY: 16 bytes from `mark`, less than 32, on are within the 64. No more has been written
                // than read, and there is room for 64.
                unsafe {
                    join_one(input.as_ptr().add(read + mark), out.as_mut_ptr().add(written));
                }
                written += 4;
                done = mark + 6;
            } else {
                let bytes = ((found.nuls | found.nuls << 1) >> mark).trailing_ones() as usize;
                out[written..written + BLOCK].fill(0);
                written += bytes / 2;
                done = mark + bytes;
            }
            marks &= marks - 1;
        }
        if done < end {
            // SAFETY: `done` is less than `end`, at most 32, so that 32 bytes from there on are within the
            // 64. No more has been written than read, and there is room for 64.
            unsafe { copy(input.as_ptr().add(read + done), out.as_mut_ptr().add(written)) };
            written += end - done;
            done = end;
        }
        if found.stop != 0 {
            return (read + done, written);
        }
        read += BLOCK;
        done -= BLOCK;
    }
    read += done;
    let (more_read, more_written) = pairs::join_pairs(&input[read..], nul, &mut out[written..]);
    (read + more_read, written + more_written)
}

/// The sequences that start in a block.
struct Found {
    /// Pairs.
    pairs: u64,
    /// `C0 80`, with [`NulForm::TwoBytes`].
    nuls: u64,
    /// The bytes to stop at.
    stop: u64,
    /// The second halves of pairs, in the next block.
    begun: u64,
}

impl Found {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn in_bytes(bytes: &Bytes64, nul: NulForm, begun_before: u64) -> Self {
        const WITHIN: u64 = (1 << BLOCK) - 1;
        let ed = bytes.equal(0xED);
        let [first, second] = [bytes.masked_equal(0xF0, 0xA0), bytes.masked_equal(0xF0, 0xB0)];
        let tail = bytes.masked_equal(0xC0, 0x80);
        let halves = ed & (first | second) >> 1;
        let pairs = ed & first >> 1 & tail >> 2 & ed >> 3 & second >> 4 & tail >> 5 & WITHIN;
        let mut stop = halves & !(pairs | pairs << 3 | begun_before) | bytes.large();
        let mut nuls = 0;
        if nul == NulForm::TwoBytes {
            let c0 = bytes.equal(0xC0);
            nuls = c0 & bytes.equal(0x80) >> 1 & WITHIN;
            stop |= c0 & !nuls | bytes.equal(0x00);
        }
        Self { pairs, nuls, stop: stop & WITHIN, begun: pairs << 3 >> BLOCK }
    }
}

/// Two blocks.
struct Bytes64([__m256i; 2]);

impl Bytes64 {
    /// # Safety
    ///
    /// - 64 bytes can be read at `at`.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller promises 64 bytes, two blocks.
        Self(unsafe { [load(at), load(at.add(BLOCK))] })
    }

    /// Marks the bytes that equal this one.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(&self, byte: u8) -> u64 {
        let [low, high] = self.0;
        u64::from(equal(low, byte)) | u64::from(equal(high, byte)) << BLOCK
    }

    /// Marks the bytes that have these bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn masked_equal(&self, bits: u8, byte: u8) -> u64 {
        let [low, high] = self.0;
        let [low, high] = [_mm256_and_si256(low, splat(bits)), _mm256_and_si256(high, splat(bits))];
        Self([low, high]).equal(byte)
    }

    /// Marks the bytes from F0 on, of the first block.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn large(&self) -> u64 {
        large(self.0[0]).into()
    }
}

/// The inverse; see [`Level::split_pairs`](crate::simd::Level::split_pairs).
#[target_feature(enable = "avx2")]
pub(in crate::simd) fn split_pairs(text: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    // Consumed bytes after `read`: at most three, the end of a sequence that started before them.
    let mut done = 0;
    while text.len() - read >= AHEAD && out.len() - written >= ROOM_TO_SPLIT {
        // SAFETY: there are 64 bytes and more.
        let block = unsafe { load(text.as_ptr().add(read)) };
        let nuls = if nul == NulForm::TwoBytes { equal(block, 0x00) } else { 0 };
        let mut marks = large(block) | nuls & !(nuls << 1);
        while marks != 0 {
            let mark = marks.trailing_zeros() as usize;
            marks &= marks - 1;
            if mark < done {
                continue; // inside a character: the input is not UTF-8
            }
            // SAFETY: `done` is at most `mark`, less than 32, so that 32 bytes from there on are within
            // the 64. Of each byte read at most two have been written, 62, and there is room for 96.
            unsafe { copy(text.as_ptr().add(read + done), out.as_mut_ptr().add(written)) };
            written += mark - done;
            if nuls >> mark & 1 == 0 {
                // SAFETY: 16 bytes from `mark`, less than 32, on are within the 64. Of each byte read at most
                // two have been written, 62, and there is room for 96.
                unsafe {
                    split_one(text.as_ptr().add(read + mark), out.as_mut_ptr().add(written));
                }
                written += 6;
                done = mark + 4;
            } else {
                let run = (nuls >> mark).trailing_ones() as usize;
                for pair in out[written..written + 2 * run].as_chunks_mut::<2>().0 {
                    *pair = [0xC0, 0x80];
                }
                written += 2 * run;
                done = mark + run;
            }
        }
        if done < BLOCK {
            // SAFETY: `done` is less than 32, so that 32 bytes from there on are within the 64. Of each byte
            // read at most two have been written, 62, and there is room for 96.
            unsafe { copy(text.as_ptr().add(read + done), out.as_mut_ptr().add(written)) };
            written += BLOCK - done;
            done = BLOCK;
        }
        read += BLOCK;
        done -= BLOCK;
    }
    read += done;
    let (more_read, more_written) = pairs::split_pairs(&text[read..], nul, &mut out[written..]);
    (read + more_read, written + more_written)
}

/// Rewrites a pair. Writes 16 bytes, of which four are its own.
///
/// # Safety
///
/// - 16 bytes can be read at `from`, and written at `to`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn join_one(from: *const u8, to: *mut u8) {
    let places = _mm_setr_epi8(5, 4, 2, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    // SAFETY: the caller promises 16 bytes at `from`; the load requires no alignment.
    let pair = _mm_shuffle_epi8(unsafe { _mm_loadu_si128(from.cast()) }, places);
    let sum = _mm_add_epi32(_mm_and_si128(pair, all(0x0F3F_0F3F)), all(0x0100_0000));
    let high = _mm_and_si128(_mm_srli_epi32::<2>(sum), all(0x070F_0000));
    let middle = _mm_and_si128(_mm_srli_epi32::<4>(sum), all(0x0030_3000));
    let low = _mm_and_si128(sum, all(0x0000_0F3F));
    let joined = _mm_or_si128(_mm_or_si128(high, middle), _mm_or_si128(low, all(0xF080_8080)));
    // SAFETY: the caller promises room for 16 bytes at `to`; the store requires no alignment.
    unsafe { _mm_storeu_si128(to.cast(), _mm_shuffle_epi8(joined, swapped())) };
}

/// Rewrites a character of four bytes as a pair. Writes 16 bytes, of which six are its own.
///
/// # Safety
///
/// - 16 bytes can be read at `from`, and written at `to`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn split_one(from: *const u8, to: *mut u8) {
    // SAFETY: the caller promises 16 bytes at `from`; the load requires no alignment.
    let lane = _mm_shuffle_epi8(unsafe { _mm_loadu_si128(from.cast()) }, swapped());
    let high = _mm_slli_epi32::<2>(_mm_and_si128(lane, all(0x070F_0000)));
    let middle = _mm_slli_epi32::<4>(_mm_and_si128(lane, all(0x0030_3000)));
    let low = _mm_and_si128(lane, all(0x0000_0F3F));
    let sum = _mm_sub_epi32(_mm_or_si128(high, middle), all(0x0100_0000));
    // The sum has more bits only for input that is not UTF-8.
    let sum = _mm_and_si128(_mm_or_si128(sum, low), all(0x0F3F_0F3F));
    let halves = _mm_or_si128(sum, all(0xA080_B080));
    let places = _mm_setr_epi8(-1, 3, 2, -1, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    let ed = _mm_setr_epi8(-19, 0, 0, -19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    let pair = _mm_or_si128(_mm_shuffle_epi8(halves, places), ed);
    // SAFETY: the caller promises room for 16 bytes at `to`; the store requires no alignment.
    unsafe { _mm_storeu_si128(to.cast(), pair) };
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

/// Loads a block.
///
/// # Safety
///
/// - 32 bytes can be read at `at`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(at: *const u8) -> __m256i {
    // SAFETY: the caller promises 32 bytes at `at`; the load requires no alignment.
    unsafe { _mm256_loadu_si256(at.cast()) }
}

/// Copies a block.
///
/// # Safety
///
/// - 32 bytes can be read at `from`, and written at `to`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn copy(from: *const u8, to: *mut u8) {
    // SAFETY: the caller promises 32 bytes at `from`, and room for them at `to`; neither requires alignment.
    unsafe { _mm256_storeu_si256(to.cast(), load(from)) };
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte as i8)
}

/// Marks the bytes that equal this one.
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
