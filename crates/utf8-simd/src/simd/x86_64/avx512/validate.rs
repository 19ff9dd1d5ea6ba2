//! Validation, and code that other operations share: blocks, tables, the test of a block.
//!
//! All state is bit 7 of each byte lane. For a block and the same block moved back by one, two and
//! three bytes (`back1`, `back2`, `back3`: loaded again, not shuffled):
//!
//! ```text
//! wanted = back1 >= C0  or  back2 >= E0  or  back3 >= F0     this must be a continuation byte
//! here   = block is in 80..=BF                               it is one
//! pair   = the second-byte ranges of E0, ED, F0 and F4 hold, and the leading byte is one
//! error |= (wanted xor here)  or  (back1 >= C0 and not pair)
//! ```
//!
//! - `x >= 256 - 2^k` is bit 7 of the rounded average of `x` and `2^k - 1`: `vpavgb` runs on four
//!   ports of a Zen 4 where a saturating subtraction runs on two.
//! - `here` is bit 7 of the signed saturating sum with 40: ASCII saturates below it, leading bytes
//!   turn positive.
//! - `pair` is bit 7 of the block plus an entry of [`SECOND`], which `vpermb` picks by the low six
//!   bits of `back1`: these number the leading bytes C0..=FF.
//!
//! A block depends only on the bytes before it, so blocks can overlap: the last block of an input is aligned
//! to its end. The maximum of 256 bytes decides whether they are ASCII, need the full test, or (below E0) a
//! test of half the cost.
//!
//! An error is marked on the byte that shows it, one to three bytes after the start of the ill-formed
//! sequence. The accumulated marks are tested about once per KiB. If there are any, the last KiB is
//! scanned again for the first, and the reference determines the details.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::simd::generic::{
    cold_path, distance_to_line, error_near, first, first_mut, sequence_start,
};
use crate::simd::reference;
use crate::simd::results::Validated;
use crate::simd::x86_64::avx2::load_32;
use crate::simd::x86_64::sse41::AnyByte;
use crate::simd::{head, tail};

pub(super) const BLOCK: usize = 64;
pub(super) const STRIDE: usize = 4 * BLOCK;
/// Strides between two tests of the accumulated errors.
const GROUP: usize = 4;

/// A table aligned to a cache line. A load across two lines slows down short inputs.
#[repr(C, align(64))]
pub(super) struct Aligned(pub(super) [u8; 64]);

/// For each leading byte C0..=FF, the addend that sets bit 7 of a second byte if and only if it is allowed.
/// `wanted` and `here` test for 80..=BF, so most leading bytes need no addend.
static SECOND: Aligned = Aligned({
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = match 0xC0 + i {
            0xC0 | 0xC1 => 0x80, // never: 80..=BF + 80 clears bit 7
            0xE0 => 0xE0,        // A0..=BF + E0 = 80..=9F; 80..=9F + E0 = 60..=7F
            0xED => 0x60,        // 80..=9F + 60 = E0..=FF; A0..=BF + 60 = 00..=1F
            0xF0 => 0xF0,        // 90..=BF + F0 = 80..=AF; 80..=8F + F0 = 70..=7F
            0xF4 => 0x70,        // 80..=8F + 70 = F0..=FF; 90..=BF + 70 = 00..=2F
            0xF5..=0xFF => 0x80, // never
            _ => 0,
        };
        i += 1;
    }
    table
});

/// The rounded average with this sets bit 7 of those of a block's last three bytes that begin a sequence
/// which the block does not contain completely.
static UNFINISHED: Aligned = Aligned({
    let mut table = [0; 64];
    [table[61], table[62], table[63]] = [0x0F, 0x1F, 0x3F];
    table
});

/// `a | b | c`
pub(super) const OR3: i32 = 0xFE;
/// `a | (b ^ c)`
const OR_XOR: i32 = 0xF6;
/// `(a | b) ^ c`
const OR_THEN_XOR: i32 = 0x56;
/// `a | (b & !c)`
const OR_AND_NOT: i32 = 0xF4;

/// Finds how far `input` is well-formed; see [`Level::validate`](crate::simd::Level::validate).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn validate(input: &[u8]) -> Validated {
    // Not in the order of lengths, because each comparison that fails is a jump.
    match input.len() {
        320.. => validate_long(input),
        ..64 => validate_up_to_63(input),
        64 => validate_block(input),
        129.. => validate_up_to_319(input),
        _ => validate_up_to_128(input),
    }
}

/// Counts bytes; see [`Level::valid_prefix_len`](crate::simd::Level::valid_prefix_len).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn valid_prefix_len(input: &[u8]) -> usize {
    valid_prefix::<false>(input, &mut [])
}

/// Copies bytes; see [`Level::copy_valid_prefix`](crate::simd::Level::copy_valid_prefix).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn copy_valid_prefix(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    valid_prefix::<true>(input, out)
}

/// Counts the well-formed bytes that `input` begins with, block by block, and copies the blocks to `out`
/// with `COPY`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn valid_prefix<const COPY: bool>(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    assert!(!COPY || out.len() >= input.len());
    let Some(start) = input.first_chunk() else { return 0 };
    let block = load(start);
    if COPY {
        store(block, first_mut(out));
    }
    let zero = _mm512_setzero_si512();
    // After one error another is likely: a test for ASCII does not pay off.
    let [back1, back2, back3] = [-1, -2, -3].map(|by| load_within(input, 0, by));
    let start_marks = marks(test(block, back1, back2, back3, zero));
    if start_marks != 0 {
        return sequence_start(input, start_marks.trailing_zeros() as usize);
    }
    let mut at = BLOCK;
    while at + BLOCK <= input.len() {
        // SAFETY: a block is at `at`, and a block is before it.
        let place = unsafe { Place::<{ 3 + BLOCK }>::at(input, at) };
        let block = place.back::<0>();
        if COPY {
            // SAFETY: a block is at `at` in `input`, and `out` is not shorter.
            store(block, first_mut(unsafe { out.get_unchecked_mut(at..at + BLOCK) }));
        }
        if any_high_bit(_mm512_or_si512(block, place.back::<3>())) {
            let marks = marks(test_full(place, zero));
            if marks != 0 {
                return sequence_start(input, at + marks.trailing_zeros() as usize);
            }
        }
        at += BLOCK;
    }
    Validated::all_but_tail(head(input, at)).valid_up_to
}

/// Up to 63 bytes in one register, with zeros before and after them.
///
/// The test for ASCII has no branch on the length: the length of messages is hard to predict.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn validate_up_to_63(input: &[u8]) -> Validated {
    debug_assert!(input.len() < BLOCK);
    let text = load_start(input);
    if !any_high_bit(text) {
        return Validated::all(input.len());
    }
    let marks = if input.len() < 32 {
        first_marks_of_half(_mm512_castsi512_si256(text)).into()
    } else {
        marks(first_errors(text))
    };
    // The zeros after the input mark an incomplete sequence as an error.
    if marks == 0 {
        return Validated::all(input.len());
    }
    stop_at(input, 0, _bzhi_u64(marks, input.len() as u32))
}

/// 64 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn validate_block(input: &[u8]) -> Validated {
    let Ok(block) = input.try_into() else { return validate_up_to_63(input) };
    let (low, high) = load_halves(block);
    if _mm256_movemask_epi8(_mm256_or_si256(low, high)) == 0 {
        return Validated::all(BLOCK);
    }
    cold_path();
    let text = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
    let errors = first_errors(text);
    if is_finished(errors, text) {
        return Validated::all(BLOCK);
    }
    stop_at(input, 0, marks(errors))
}

/// [`first_errors`] of half a block, as a mask.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn first_marks_of_half(text: __m256i) -> u32 {
    let low_half_up = _mm256_permute2x128_si256::<0x08>(text, text);
    let back1 = _mm256_alignr_epi8::<15>(text, low_half_up);
    let back2 = _mm256_alignr_epi8::<14>(text, low_half_up);
    let back3 = _mm256_alignr_epi8::<13>(text, low_half_up);
    let after_lead = _mm256_avg_epu8(back1, _mm256_set1_epi8(0x3F));
    let third = _mm256_avg_epu8(back2, _mm256_set1_epi8(0x1F));
    let fourth = _mm256_avg_epu8(back3, _mm256_set1_epi8(0x0F));
    let here = _mm256_adds_epi8(text, _mm256_set1_epi8(0x40));
    let second = _mm512_permutexvar_epi8(_mm512_castsi256_si512(back1), second());
    let pair = _mm256_add_epi8(text, _mm512_castsi512_si256(second));
    let wanted = _mm256_ternarylogic_epi64::<OR3>(after_lead, third, fourth);
    let errors = _mm256_xor_si256(wanted, here);
    let errors = _mm256_ternarylogic_epi64::<OR_AND_NOT>(errors, after_lead, pair);
    _mm256_movemask_epi8(errors) as u32
}

/// 65 to 128 bytes in two registers that overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn validate_up_to_128(input: &[u8]) -> Validated {
    debug_assert!((65..=128).contains(&input.len()));
    let last_at = input.len() - BLOCK;
    let (Some(first), Some(last)) = (input.first_chunk(), input.last_chunk()) else {
        return validate_up_to_63(input);
    };
    let (first, last) = (load(first), load(last));
    if !any_high_bit(_mm512_or_si512(first, last)) {
        return Validated::all(input.len());
    }
    let first_errors = first_errors(first);
    let last_errors = if let Some(place) = input.last_chunk::<{ 3 + BLOCK }>() {
        test_full(Place(place), _mm512_setzero_si512())
    } else {
        // With zeros before it, the first bytes of the block may be marked wrongly. The first block contains
        // them, too.
        _mm512_maskz_mov_epi8(!0b111, self::first_errors(last))
    };
    if is_finished(_mm512_or_si512(first_errors, last_errors), last) {
        Validated::all(input.len())
    } else if any_high_bit(first_errors) {
        stop_at(input, 0, marks(first_errors))
    } else {
        stop_at(input, last_at, marks(last_errors))
    }
}

/// 129 to 319 bytes in blocks of 64; the last block is aligned to the end of the input.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn validate_up_to_319(input: &[u8]) -> Validated {
    debug_assert!((129..=319).contains(&input.len()));
    let last = input.len() - BLOCK;
    let (Some([a, b]), Some([c, d])) =
        (two_blocks(input.first_chunk()), two_blocks(input.last_chunk()))
    else {
        return validate_up_to_63(input);
    };
    // The first two and the last two blocks may have a third between.
    let between = load(first(&input[last.min(2 * BLOCK)..]));
    let all = _mm512_ternarylogic_epi64::<OR3>(_mm512_or_si512(a, b), c, d);
    if !any_high_bit(_mm512_or_si512(all, between)) {
        return Validated::all(input.len());
    }
    let mut errors = first_errors(a);
    if any_high_bit(errors) {
        return stop_at(input, 0, marks(errors));
    }
    let mut at = BLOCK;
    loop {
        // SAFETY: `at` is 64 or more, and at most the index of the last block.
        errors = test_full(unsafe { Place::<{ 3 + BLOCK }>::at(input, at) }, errors);
        if at == last {
            break;
        }
        at = (at + BLOCK).min(last);
    }
    if is_finished(errors, d) {
        Validated::all(input.len())
    } else if any_high_bit(errors) {
        locate_error(input, BLOCK)
    } else {
        Validated::all_but_tail(input)
    }
}

/// 320 bytes and more in strides aligned to cache lines; the last stride is aligned to the end of the
/// input.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn validate_long(input: &[u8]) -> Validated {
    debug_assert!(input.len() >= STRIDE + BLOCK);
    let to_line = distance_to_line(input.as_ptr());
    let last = input.len() - STRIDE;
    let mut at = 0;
    // Skips leading ASCII, which has no errors.
    // SAFETY: `at` is at most the index of the last stride.
    while is_ascii(first(unsafe { input.get_unchecked(at..at + STRIDE) })) {
        if at == last {
            return Validated::all(input.len());
        }
        at = if at == 0 { STRIDE - BLOCK + to_line } else { at + STRIDE }.min(last);
    }
    let mut errors = _mm512_setzero_si512();
    if at > 0 {
        if let Some(found) = stray_after_ascii(input, at) {
            return found;
        }
    } else {
        let Some(block) = input.first_chunk() else { return validate_up_to_63(input) };
        let block = load(block);
        let ascii = _mm512_movepi8_mask(block).trailing_zeros() as usize;
        if let Some(found) = Validated::stray(input, ascii) {
            return found;
        }
        errors = first_errors(block);
        if any_high_bit(errors) {
            return stop_at(input, 0, marks(errors));
        }
        at = if to_line < 16 { BLOCK } else { to_line };
    }
    let mut tested = at;
    let mut strides = 0;
    // Invariant: all bytes before `at` have been tested; no error is marked before `tested`.
    loop {
        // SAFETY: `at` is 16 or more, and at most the index of the last stride.
        errors = stride(first(unsafe { input.get_unchecked(at - 16..at + STRIDE) }), errors);
        // The first test is early, so that dense errors do not cost a whole group each.
        if strides % GROUP == 0 || at == last {
            if any_high_bit(errors) {
                return locate_error(input, tested);
            }
            if at == last {
                return Validated::all_but_tail(input);
            }
            tested = at;
        }
        strides += 1;
        at = (at + STRIDE).min(last);
    }
}

/// Returns the result if the first byte from `at` on that is not ASCII begins no sequence; the bytes before `at` are
/// ASCII. This is most stray bytes in ASCII, and needs no test of sequences. Rows `locate/ascii`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn stray_after_ascii(input: &[u8], at: usize) -> Option<Validated> {
    let (blocks, _) = tail(input, at).as_chunks();
    let mut first_high = at;
    for block in blocks {
        let high = _mm512_movepi8_mask(load(block));
        first_high += high.trailing_zeros() as usize;
        if high != 0 {
            break;
        }
    }
    Validated::stray(input, first_high)
}

/// Whether 256 bytes are ASCII.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn is_ascii(bytes: &[u8; STRIDE]) -> bool {
    let [a, b, c, d] = [0, 1, 2, 3].map(|n| load(first(&bytes[n * BLOCK..])));
    !any_high_bit(_mm512_ternarylogic_epi64::<OR3>(_mm512_or_si512(a, b), c, d))
}

/// Adds to `errors` those of the 256 bytes after the first 16 of `bytes`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn stride(bytes: &[u8; 16 + STRIDE], errors: __m512i) -> __m512i {
    let places = [0, 1, 2, 3].map(|n| Place::<{ 16 + BLOCK }>(first(&bytes[n * BLOCK..])));
    let [a, b, c, d] = [
        places[0].back::<0>(),
        places[1].back::<0>(),
        places[2].back::<0>(),
        places[3].back::<0>(),
    ];
    let back3 = places[0].back::<3>();
    let greatest = _mm512_max_epu8(_mm512_max_epu8(a, b), _mm512_max_epu8(c, d));
    // Includes the bytes before, whose sequences can extend into this stride.
    let greatest = _mm512_max_epu8(greatest, back3);
    if !any_high_bit(greatest) {
        return errors;
    }
    let zero = _mm512_setzero_si512();
    let [a, b, c, d] = match Reach::of(greatest) {
        Reach::Two => [
            test_narrow(places[0], zero),
            test_narrow(places[1], zero),
            test_narrow(places[2], zero),
            test_narrow(places[3], zero),
        ],
        Reach::Three => [
            test_medium(places[0], zero),
            test_medium(places[1], zero),
            test_medium(places[2], zero),
            test_medium(places[3], zero),
        ],
        Reach::Four => [
            test_shuffled(places[0], zero),
            test_shuffled(places[1], zero),
            test_shuffled(places[2], zero),
            test_shuffled(places[3], zero),
        ],
    };
    let abc = _mm512_ternarylogic_epi64::<OR3>(a, b, c);
    _mm512_ternarylogic_epi64::<OR3>(errors, abc, d)
}

/// The length of the longest sequence in a stride.
pub(super) enum Reach {
    Two,
    Three,
    Four,
}

impl Reach {
    /// Classifies bytes by their maximum per lane. Those before a stride count too: their sequences may end in it.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    pub(super) fn of(greatest: __m512i) -> Self {
        let reaches = |lead: u8| {
            let mask = _mm512_cmpge_epu8_mask(greatest, _mm512_set1_epi8(lead as i8));
            _kortestz_mask64_u8(mask, mask) == 0
        };
        if !reaches(0xE0) {
            Self::Two
        } else if !reaches(0xF0) {
            Self::Three
        } else {
            Self::Four
        }
    }
}

/// Whether no sequence extends beyond these four bytes, the first in the lowest bits.
#[inline(always)]
pub(super) fn ends_complete(bytes: u32) -> bool {
    let [_, a, b, c] = bytes.to_le_bytes();
    a < 0xF0 && b < 0xE0 && c < 0xC0
}

/// Adds to `errors` those of a block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn test_full<const LEN: usize>(place: Place<'_, LEN>, errors: __m512i) -> __m512i {
    let [block, back1, back2, back3] =
        [place.back::<0>(), place.back::<1>(), place.back::<2>(), place.back::<3>()];
    test(block, back1, back2, back3, errors)
}

/// Like [`test_full`], with one load fewer across cache lines.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn test_shuffled(place: Place<'_, { 16 + BLOCK }>, errors: __m512i) -> __m512i {
    let [block, back1, back16] = [place.back::<0>(), place.back::<1>(), place.back::<16>()];
    let back2 = _mm512_alignr_epi8::<14>(block, back16);
    let back3 = _mm512_alignr_epi8::<13>(block, back16);
    test(block, back1, back2, back3, errors)
}

/// Adds to `errors` those of a block, if no sequence in it or extending into it has more than three bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn test_medium<const LEN: usize>(place: Place<'_, LEN>, errors: __m512i) -> __m512i {
    test_medium_bytes(place.back::<0>(), place.back::<1>(), place.back::<2>(), errors)
}

/// The test of [`test_medium`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn test_medium_bytes(
    block: __m512i,
    back1: __m512i,
    back2: __m512i,
    errors: __m512i,
) -> __m512i {
    let after_lead = _mm512_avg_epu8(back1, _mm512_set1_epi8(0x3F));
    let third = _mm512_avg_epu8(back2, _mm512_set1_epi8(0x1F));
    let here = _mm512_adds_epi8(block, _mm512_set1_epi8(0x40));
    let pair = _mm512_add_epi8(block, _mm512_permutexvar_epi8(back1, second()));
    let unlike = _mm512_ternarylogic_epi64::<OR_THEN_XOR>(after_lead, third, here);
    let errors = _mm512_or_si512(errors, unlike);
    _mm512_ternarylogic_epi64::<OR_AND_NOT>(errors, after_lead, pair)
}

/// Adds to `errors` those of a block, if no sequence in it or extending into it has more than two bytes. Each
/// byte of C2..=DF must precede a continuation byte, and no other byte may; C0 and C1 are errors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn test_narrow<const LEN: usize>(place: Place<'_, LEN>, errors: __m512i) -> __m512i {
    test_narrow_bytes(place.back::<0>(), place.back::<1>(), errors)
}

/// The test of [`test_narrow`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn test_narrow_bytes(block: __m512i, back1: __m512i, errors: __m512i) -> __m512i {
    let after_lead = _mm512_avg_epu8(back1, _mm512_set1_epi8(0x3F));
    let after_valid_lead = _mm512_avg_epu8(back1, _mm512_set1_epi8(0x3D));
    let here = _mm512_adds_epi8(block, _mm512_set1_epi8(0x40));
    let errors = _mm512_ternarylogic_epi64::<OR_XOR>(errors, after_lead, here);
    _mm512_ternarylogic_epi64::<OR_AND_NOT>(errors, after_lead, after_valid_lead)
}

/// The errors of a block with nothing before it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn first_errors(block: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let [back1, back2, back3] = prev(zero, block);
    test(block, back1, back2, back3, zero)
}

/// Whether a block with nothing before it is well-formed and complete.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn is_valid_block(block: __m512i) -> bool {
    is_finished(first_errors(block), block)
}

/// Returns a block moved back by one, two and three bytes; `before` precedes it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn prev(before: __m512i, block: __m512i) -> [__m512i; 3] {
    let one = _mm512_set1_epi8(1);
    let back1 = table(&BACK);
    let back2 = _mm512_sub_epi8(back1, one);
    let back3 = _mm512_sub_epi8(back2, one);
    [
        _mm512_permutex2var_epi8(before, back1, block),
        _mm512_permutex2var_epi8(before, back2, block),
        _mm512_permutex2var_epi8(before, back3, block),
    ]
}

/// For each byte of a block, the index of the byte before it; indexes below 64 are in the block before.
pub(super) static BACK: Aligned = Aligned({
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = 63 + i as u8;
        i += 1;
    }
    table
});

/// The test described in the documentation of this module.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn test(
    block: __m512i,
    back1: __m512i,
    back2: __m512i,
    back3: __m512i,
    errors: __m512i,
) -> __m512i {
    let after_lead = _mm512_avg_epu8(back1, _mm512_set1_epi8(0x3F));
    let third = _mm512_avg_epu8(back2, _mm512_set1_epi8(0x1F));
    let fourth = _mm512_avg_epu8(back3, _mm512_set1_epi8(0x0F));
    let here = _mm512_adds_epi8(block, _mm512_set1_epi8(0x40));
    let pair = _mm512_add_epi8(block, _mm512_permutexvar_epi8(back1, second()));
    let wanted = _mm512_ternarylogic_epi64::<OR3>(after_lead, third, fourth);
    let errors = _mm512_ternarylogic_epi64::<OR_XOR>(errors, wanted, here);
    _mm512_ternarylogic_epi64::<OR_AND_NOT>(errors, after_lead, pair)
}

/// Finds the first error in `input`, which is at or after `from`.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn locate_error(input: &[u8], from: usize) -> Validated {
    debug_assert!(input.len() > 2 * BLOCK && from >= 3);
    let last = input.len() - BLOCK;
    let mut at = from.min(last);
    loop {
        let place = Place::<{ 3 + BLOCK }>(first(tail(input, at - 3)));
        let errors = test_full(place, _mm512_setzero_si512());
        if any_high_bit(errors) {
            return stop_at(input, at, marks(errors));
        }
        if at == last {
            debug_assert!(false, "an error was marked");
            return reference::validate(input);
        }
        at = (at + BLOCK).min(last);
    }
}

/// Returns the result for `input`; `marks` are the errors of the block at `at`.
#[inline(always)]
fn stop_at(input: &[u8], at: usize, marks: u64) -> Validated {
    if marks == 0 {
        Validated::all_but_tail(input)
    } else {
        error_near(input, at + marks.trailing_zeros() as usize)
    }
}

/// Whether there are no errors, and no sequence continues past `last`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn is_finished(errors: __m512i, last: __m512i) -> bool {
    !any_high_bit(_mm512_or_si512(errors, _mm512_avg_epu8(last, table(&UNFINISHED))))
}

/// Bit 7 of every byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn high() -> __m512i {
    _mm512_set1_epi8(0x80_u8 as i8)
}

/// Whether bit 7 of any byte is set. `kortest` saves the two cycles of moving the mask to a register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn any_high_bit(bytes: __m512i) -> bool {
    let mask = _mm512_test_epi8_mask(bytes, high());
    _kortestz_mask64_u8(mask, mask) == 0
}

/// Bit 7 of each byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn marks(errors: __m512i) -> u64 {
    _mm512_movepi8_mask(errors)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn second() -> __m512i {
    table(&SECOND)
}

/// A block with the bytes before it, `LEN` bytes in all.
#[derive(Clone, Copy)]
pub(super) struct Place<'a, const LEN: usize>(pub(super) &'a [u8; LEN]);

impl<'a, const LEN: usize> Place<'a, LEN> {
    const BEFORE: usize = LEN - BLOCK;

    /// The block at `at`.
    ///
    /// # Safety
    ///
    /// - A block is at `at`, and there are `LEN - BLOCK` bytes before it.
    #[inline(always)]
    pub(super) unsafe fn at(bytes: &'a [u8], at: usize) -> Self {
        // SAFETY: the caller promises these bytes.
        Self(first(unsafe { bytes.get_unchecked(at - Self::BEFORE..at + BLOCK) }))
    }

    /// Loads the block that starts `BACK` bytes before this one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    pub(super) fn back<const BACK: usize>(self) -> __m512i {
        const { assert!(BACK <= Self::BEFORE) };
        load(first(&self.0[Self::BEFORE - BACK..]))
    }
}

/// Loads a block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn load(block: &[u8; BLOCK]) -> __m512i {
    // SAFETY: a block is 64 bytes; the load requires no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// Loads two blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn two_blocks(bytes: Option<&[u8; 2 * BLOCK]>) -> Option<[__m512i; 2]> {
    let bytes = bytes?;
    Some([load(first(bytes)), load(first(&bytes[BLOCK..]))])
}

/// Loads a block in two halves. If it was just copied, in smaller parts, the load of a whole one would wait for the
/// stores. Rows `read/ascii/64`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn load_halves(block: &[u8; BLOCK]) -> (__m256i, __m256i) {
    (load_32(first(block)), load_32(first(&block[BLOCK / 2..])))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn table(table: &Aligned) -> __m512i {
    load(&table.0)
}

/// Loads the block at the start of `bytes`, with zeros after their end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn load_start(bytes: &[u8]) -> __m512i {
    let inside = lanes(bytes.len().min(BLOCK));
    // SAFETY: the mask lets through the lanes of `bytes`; the others are not accessed.
    unsafe { _mm512_maskz_loadu_epi8(inside, bytes.as_ptr().cast()) }
}

/// Loads the block at `at + by`, with zeros for the bytes outside `bytes`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn load_within(bytes: &[u8], at: usize, by: isize) -> __m512i {
    let from = at as isize + by;
    debug_assert!((-64..=(bytes.len() + STRIDE) as isize).contains(&from));
    let inside = lanes((bytes.len() as isize - from).clamp(0, 64) as usize);
    let before = lanes((-from).clamp(0, 64) as usize);
    // SAFETY: the mask lets through the lanes from the first byte of `bytes` to the last; the others
    // are not accessed.
    unsafe {
        _mm512_maskz_loadu_epi8(inside & !before, bytes.as_ptr().wrapping_offset(from).cast())
    }
}

/// A mask of the first `count` lanes; `count` can exceed 64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn lanes(count: usize) -> u64 {
    debug_assert!(count <= 128);
    _bzhi_u64(!0, count as u32)
}

/// Stores a block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn store<B: AnyByte>(block: __m512i, to: &mut [B; BLOCK]) {
    // SAFETY: a block is 64 bytes, which may have any value; the store requires no alignment.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), block) }
}
