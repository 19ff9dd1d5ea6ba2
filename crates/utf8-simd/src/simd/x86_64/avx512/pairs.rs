//! Surrogate pairs to UTF-8 with AVX-512: the output of a pair is computed at the first three and the
//! last of its six positions, and the other two are removed (`vpcompressb`). And back.
//!
//! ```text
//! position 0          1          2          3          4          5
//! byte     ED         1010vvvv   10wwwwww   ED         1011xxxx   10yyyyyy
//! becomes  11110uuu   10uuwwww   10wwxxxx   nothing    nothing    10yyyyyy      uuuuu = vvvv + 1
//! ```
//!
//! All positions of a block are computed at once, from the block and from the bytes up to five
//! positions later (loaded again, not shuffled); masks select the needed ones. Blocks follow each other at
//! a fixed distance, and a few bits of a mask represent the part of a pair or of `C0 80` in the next block.
//! At a byte to stop at, and near the end, a block ends before an incomplete sequence.
//!
//! In the other direction each byte gets three positions and uses one, with two exceptions: the third byte
//! of four also produces the ED and the byte after it, and 00 becomes two bytes.

use core::arch::x86_64::*;

use crate::simd::generic::{Aligned, first};
use crate::simd::reference::pairs::{NulForm, PairMarks, ROOM};
use crate::simd::table;
use crate::simd::x86_64::avx512::vector::{BLOCK, lanes, load, load_within, store, table};

/// `11110uuu` by the low six bits of `1010vvvv`.
static LEADING: Aligned = PairsPart::Leading.by_low_bits();
/// `10uu....` by the low six bits of `1010vvvv`.
static SECOND_HIGH: Aligned = PairsPart::SecondHigh.by_low_bits();
/// `....wwww`, the first four, by `10wwwwww`.
static SECOND_LOW: Aligned = PairsPart::SecondLow.by_low_bits();
/// `10ww....`, the last two, by `10wwwwww`.
static THIRD_HIGH: Aligned = PairsPart::ThirdHigh.by_low_bits();

/// `1010vvvv` without `uu`, by the low six bits of `11110uuu`: the addend for `uu`.
static HALF_BY_LEADING: Aligned = PairsPart::HalfByLeading.by_low_bits();
/// `10wwww..` by `10uuwwww`.
static HALF_BY_SECOND: Aligned = PairsPart::HalfBySecond.by_low_bits();
/// `uu` by `10uuwwww`, `ww` by `10wwxxxx`.
static NEXT_TWO: Aligned = PairsPart::NextTwo.by_low_bits();
/// The source byte of each position, with three positions per byte.
static THREE_EACH: Aligned = PairsPart::ThreeEach.by_low_bits();

/// Tables by the value of one byte, for the bytes computed from it.
#[derive(Clone, Copy)]
enum PairsPart {
    Leading,
    SecondHigh,
    SecondLow,
    ThirdHigh,
    HalfByLeading,
    HalfBySecond,
    NextTwo,
    ThreeEach,
}

impl PairsPart {
    const fn by_low_bits(self) -> Aligned {
        Aligned(table!(64, |i| {
            let bits = i as u8;
            let u = (bits & 0x0F) + 1;
            match self {
                Self::Leading => 0xF0 | u >> 2,
                Self::SecondHigh => 0x80 | (u & 3) << 4,
                Self::SecondLow => bits >> 2,
                Self::ThirdHigh => 0x80 | (bits & 3) << 4,
                Self::HalfByLeading => 0xA0 - 1 + ((bits & 7) << 2),
                Self::HalfBySecond => 0x80 | (bits & 0x0F) << 2,
                Self::NextTwo => bits >> 4,
                Self::ThreeEach => bits / 3,
            }
        }))
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn join_pairs(input: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = join_blocks(input, nul, out);
    while read < input.len()
        && let Some(room) = out[written..].first_chunk_mut::<ROOM>()
    {
        let left = (input.len() - read).min(BLOCK);
        let [block, ahead1, ahead2] = [0, 1, 2].map(|by| load_within(input, read, by));
        // A sequence that does not end in the block starts with a byte to stop at.
        let equal = |bits, byte, n| masked_is(block, bits, byte) >> n;
        let marks = PairMarks::new(equal, nul, 0);
        let mut count = (marks.stop | !lanes(left)).trailing_zeros() as usize;
        // The bytes after ED decide whether it is a surrogate.
        if count == left && marks.ed & lanes(count) & !lanes(count - 1) != 0 {
            count -= 1;
        }
        if count == 0 {
            break;
        }
        let pairs = marks.pairs & lanes(count);
        let bytes = rewritten(block, ahead1, ahead2, [pairs, pairs << 1, pairs << 2], marks.nuls);
        let keep = lanes(count) & !(pairs << 3 | pairs << 4 | marks.nuls << 1);
        store(_mm512_maskz_compress_epi8(keep, bytes), room);
        read += count;
        written += keep.count_ones() as usize;
    }
    (read, written)
}

/// Rewrites complete blocks, up to one with a byte to stop at.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn join_blocks(input: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
    let all = out.len();
    let (mut rest, mut place) = (input, out);
    // Sequences that started in the block before.
    let (mut before, mut nuls_before) = (0_u64, 0_u64);
    while let (Some(bytes), Some(room)) =
        (rest.first_chunk::<{ BLOCK + AHEAD }>(), place.first_chunk_mut::<ROOM>())
    {
        let ahead = [0, 1, 2, 3, 4, 5].map(|by| load(first(&bytes[by..])));
        let equal = |bits, byte, n: usize| masked_is(ahead[n], bits, byte);
        let marks = PairMarks::new(equal, nul, before >> 61);
        if marks.stop != 0 {
            break;
        }
        let (pairs, nuls) = (marks.pairs, marks.nuls);
        let bytes = if pairs | nuls | before >> 59 == 0 {
            ahead[0]
        } else {
            let places = [pairs, pairs << 1 | before >> 63, pairs << 2 | before >> 62];
            rewritten(ahead[0], ahead[1], ahead[2], places, nuls)
        };
        let dropped = pairs << 3 | pairs << 4 | before >> 61 | before >> 60;
        let keep = !(dropped | nuls << 1 | nuls_before >> 63);
        store(_mm512_maskz_compress_epi8(keep, bytes), room);
        rest = &rest[BLOCK..];
        place = &mut place[keep.count_ones() as usize..];
        (before, nuls_before) = (pairs, nuls);
    }
    // Goes back to the start of an incomplete sequence. Of a pair, at most three bytes have been written.
    let unfinished = match before >> 59 {
        0 => (nuls_before >> 63) as usize,
        late => AHEAD - late.trailing_zeros() as usize,
    };
    (input.len() - rest.len() - unfinished, all - place.len() - unfinished.min(3))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn split_pairs(text: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while read < text.len()
        && let Some(room) = out[written..].first_chunk_mut::<ROOM>()
    {
        let left = (text.len() - read).min(BLOCK);
        let block = load_within(text, read, 0);
        let [before1, before2] = [-1, -2].map(|by| load_within(text, read, by));
        let (second, third) = (is_large(before1), is_large(before2));
        let nuls = if nul == NulForm::TwoBytes { is(block, 0x00) & lanes(left) } else { 0 };
        if is_large(block) | second | third | nuls == 0 {
            store(block, room);
            read += left;
            written += left;
            continue;
        }
        let count = left.min(THIRD);
        let two = entry(&NEXT_TWO, block);
        let half1 = _mm512_add_epi8(entry(&HALF_BY_LEADING, before1), two);
        let half2 = _mm512_or_si512(entry(&HALF_BY_SECOND, before1), two);
        let bytes = _mm512_mask_mov_epi8(block, is_large(block), splat(0xED));
        let bytes = _mm512_mask_mov_epi8(bytes, second, half1);
        let bytes = _mm512_mask_mov_epi8(bytes, third, half2);
        let bytes = _mm512_mask_mov_epi8(bytes, nuls, splat(0xC0));
        let x = _mm512_and_si512(block, splat(0x0F));
        let last = _mm512_or_si512(x, splat(0xB0));

        // Each byte gets three positions. All need the first, some need others.
        let three_each = table(&THREE_EACH);
        let of = |places: u64| _pdep_u64(places & lanes(count), FIRSTS);
        let (thirds, zeros) = (of(third), of(nuls));
        let places = _mm512_permutexvar_epi8(three_each, bytes);
        let places = _mm512_mask_mov_epi8(places, thirds << 1, splat(0xED));
        let places = _mm512_mask_mov_epi8(places, zeros << 1, splat(0x80));
        let last = _mm512_permutexvar_epi8(three_each, last);
        let places = _mm512_mask_mov_epi8(places, thirds << 2, last);
        let keep = of(!0) | thirds << 1 | thirds << 2 | zeros << 1;
        store(_mm512_maskz_compress_epi8(keep, places), room);
        read += count;
        written += keep.count_ones() as usize;
    }
    // Goes back to the start of four bytes: those read so far have become one, two or five.
    for (unfinished, put) in [(1, 1), (2, 2), (3, 5)] {
        if read < text.len() && read >= unfinished && text[read - unfinished] >= 0xF0 {
            return (read - unfinished, written - put);
        }
    }
    (read, written)
}

/// The number of bytes that get three positions each.
const THIRD: usize = BLOCK / 3;
/// The first position of each byte.
const FIRSTS: u64 = 0x9249_2492_4924_9249;

/// The number of bytes after a block that determine its sequences.
const AHEAD: usize = 5;

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn splat(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte as i8)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn is(block: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(block, splat(byte))
}

/// F0 to FF.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn is_large(block: __m512i) -> u64 {
    _mm512_cmpge_epu8_mask(block, splat(0xF0))
}

/// Marks the bytes that have these bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn masked_is(block: __m512i, bits: u8, byte: u8) -> u64 {
    is(_mm512_and_si512(block, splat(bits)), byte)
}

/// Rewrites the sequences of a block as UTF-8: at `places[0]`, their start, at `places[1]`, one position
/// later, and at `places[2]`. Writes zeros at `nuls`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn rewritten(
    block: __m512i,
    ahead1: __m512i,
    ahead2: __m512i,
    places: [u64; 3],
    nuls: u64,
) -> __m512i {
    let first = entry(&LEADING, ahead1);
    let second = _mm512_or_si512(entry(&SECOND_HIGH, block), entry(&SECOND_LOW, ahead1));
    let x = _mm512_and_si512(ahead2, splat(0x0F));
    let third = _mm512_or_si512(entry(&THIRD_HIGH, block), x);
    let bytes = _mm512_maskz_mov_epi8(!nuls, block);
    let bytes = _mm512_mask_mov_epi8(bytes, places[0], first);
    let bytes = _mm512_mask_mov_epi8(bytes, places[1], second);
    _mm512_mask_mov_epi8(bytes, places[2], third)
}

/// Returns the table entry that the low six bits of each byte select.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn entry(entries: &Aligned, by: __m512i) -> __m512i {
    _mm512_permutexvar_epi8(by, table(entries))
}
