//! The instructions of AVX-512 in plain Rust, for machines that lack them. `.ci/check emulated` puts this file in the place of
//! `core::arch` in a copy of the level, and runs its tests.
//!
//! Each function is written from the operation in Intel's manual, not from what the level needs.
#![allow(missing_docs, missing_debug_implementations, unreachable_pub, non_camel_case_types)]

pub use core::arch::x86_64::{
    __m128i, __m256i, _bzhi_u64, _mm_xor_si128, _mm256_add_epi8, _mm256_adds_epi8, _mm256_avg_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_xor_si256, _pdep_u64,
    _pext_u64,
};
use core::array::from_fn;
use core::mem::transmute;

/// A vector of 64 bytes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct __m512i([u8; 64]);

const ZERO: __m512i = __m512i([0; 64]);

/// A vector as lanes of another width, lowest first.
macro_rules! lanes {
    ($($to:ident $from:ident $lane:ident $count:literal $size:literal;)*) => {$(
        fn $to(vector: __m512i) -> [$lane; $count] {
            let (lanes, _) = vector.0.as_chunks::<$size>();
            from_fn(|i| $lane::from_le_bytes(lanes[i]))
        }
        fn $from(lanes: [$lane; $count]) -> __m512i {
            __m512i(from_fn(|i| lanes[i / $size].to_le_bytes()[i % $size]))
        }
    )*};
}
lanes! {
    u8s of_u8s u8 64 1;
    u16s of_u16s u16 32 2;
    u32s of_u32s u32 16 4;
    u64s of_u64s u64 8 8;
}

fn m128(bytes: [u8; 16]) -> __m128i {
    // SAFETY: both types have 16 bytes, and all values are valid.
    unsafe { transmute(bytes) }
}

fn bytes_128(vector: __m128i) -> [u8; 16] {
    // SAFETY: as above.
    unsafe { transmute(vector) }
}

fn m256(bytes: [u8; 32]) -> __m256i {
    // SAFETY: as above, with 32 bytes.
    unsafe { transmute(bytes) }
}

fn bytes_256(vector: __m256i) -> [u8; 32] {
    // SAFETY: as above, with 32 bytes.
    unsafe { transmute(vector) }
}

/// The lanes whose bit is set are those of `yes`.
macro_rules! selects {
    ($($name:ident $to:ident $from:ident $mask:ident;)*) => {$(
        fn $name(mask: $mask, yes: __m512i, no: __m512i) -> __m512i {
            let (yes, no) = ($to(yes), $to(no));
            $from(from_fn(|i| if mask >> i & 1 == 1 { yes[i] } else { no[i] }))
        }
    )*};
}
selects! {
    select_8 u8s of_u8s u64;
    select_16 u16s of_u16s u32;
    select_32 u32s of_u32s u16;
}

/// Functions of two lanes.
macro_rules! lanewise {
    ($to:ident $from:ident: $($name:ident = $of:expr;)*) => {$(
        pub fn $name(x: __m512i, y: __m512i) -> __m512i {
            let (x, y) = ($to(x), $to(y));
            $from(from_fn(|i| $of(x[i], y[i])))
        }
    )*};
}
lanewise! { u8s of_u8s:
    _mm512_or_si512 = |x, y| x | y;
    _mm512_and_si512 = |x, y| x & y;
    _mm512_xor_si512 = |x, y| x ^ y;
    _mm512_add_epi8 = u8::wrapping_add;
    _mm512_sub_epi8 = u8::wrapping_sub;
    _mm512_adds_epi8 = |x: u8, y: u8| x.cast_signed().saturating_add(y.cast_signed()).cast_unsigned();
    _mm512_subs_epu8 = u8::saturating_sub;
    _mm512_avg_epu8 = |x: u8, y: u8| (u16::from(x) + u16::from(y)).div_ceil(2) as u8;
    _mm512_max_epu8 = Ord::max;
    _mm512_min_epu8 = Ord::min;
    _mm512_min_epi8 = |x: u8, y: u8| x.cast_signed().min(y.cast_signed()).cast_unsigned();
}
lanewise! { u16s of_u16s: _mm512_add_epi16 = u16::wrapping_add; }
lanewise! { u32s of_u32s: _mm512_add_epi32 = u32::wrapping_add; }
lanewise! { u64s of_u64s: _mm512_add_epi64 = u64::wrapping_add; }

/// Comparisons of two lanes, as a mask.
macro_rules! comparisons {
    ($to:ident $mask:ident: $($name:ident = $of:expr;)*) => {$(
        pub fn $name(x: __m512i, y: __m512i) -> $mask {
            let (x, y) = ($to(x), $to(y));
            (0..x.len()).fold(0, |mask, i| mask | $mask::from($of(x[i], y[i])) << i)
        }
    )*};
}
comparisons! { u8s u64:
    _mm512_cmpeq_epi8_mask = |x, y| x == y;
    _mm512_cmpge_epu8_mask = |x, y| x >= y;
    _mm512_cmpgt_epu8_mask = |x, y| x > y;
    _mm512_cmplt_epu8_mask = |x, y| x < y;
    _mm512_cmpge_epi8_mask = |x: u8, y: u8| x.cast_signed() >= y.cast_signed();
    _mm512_cmpgt_epi8_mask = |x: u8, y: u8| x.cast_signed() > y.cast_signed();
    _mm512_cmple_epi8_mask = |x: u8, y: u8| x.cast_signed() <= y.cast_signed();
    _mm512_cmplt_epi8_mask = |x: u8, y: u8| x.cast_signed() < y.cast_signed();
    _mm512_test_epi8_mask = |x, y| x & y != 0;
    _mm512_testn_epi8_mask = |x, y| x & y == 0;
}
comparisons! { u16s u32:
    _mm512_cmpeq_epi16_mask = |x, y| x == y;
    _mm512_cmpge_epu16_mask = |x, y| x >= y;
    _mm512_cmpgt_epu16_mask = |x, y| x > y;
    _mm512_test_epi16_mask = |x, y| x & y != 0;
}
comparisons! { u32s u16:
    _mm512_cmpeq_epi32_mask = |x, y| x == y;
    _mm512_cmpge_epu32_mask = |x, y| x >= y;
    _mm512_cmpgt_epu32_mask = |x, y| x > y;
    _mm512_test_epi32_mask = |x, y| x & y != 0;
}

pub fn _mm512_mask_cmplt_epi8_mask(mask: u64, x: __m512i, y: __m512i) -> u64 {
    mask & _mm512_cmplt_epi8_mask(x, y)
}
pub fn _mm512_mask_cmpge_epu8_mask(mask: u64, x: __m512i, y: __m512i) -> u64 {
    mask & _mm512_cmpge_epu8_mask(x, y)
}
pub fn _kortestz_mask64_u8(x: u64, y: u64) -> u8 {
    u8::from(x | y == 0)
}
pub fn _mm512_movepi8_mask(x: __m512i) -> u64 {
    _mm512_test_epi8_mask(x, _mm512_set1_epi8(i8::MIN))
}
pub fn _mm512_movm_epi8(mask: u64) -> __m512i {
    select_8(mask, _mm512_set1_epi8(-1), ZERO)
}

pub fn _mm512_setzero_si512() -> __m512i {
    ZERO
}
pub fn _mm512_set1_epi8(x: i8) -> __m512i {
    of_u8s([x.cast_unsigned(); 64])
}
pub fn _mm512_set1_epi16(x: i16) -> __m512i {
    of_u16s([x.cast_unsigned(); 32])
}
pub fn _mm512_set1_epi32(x: i32) -> __m512i {
    of_u32s([x.cast_unsigned(); 16])
}
pub fn _mm512_set1_epi64(x: i64) -> __m512i {
    of_u64s([x.cast_unsigned(); 8])
}
#[allow(clippy::too_many_arguments)]
pub fn _mm512_set_epi64(
    e7: i64,
    e6: i64,
    e5: i64,
    e4: i64,
    e3: i64,
    e2: i64,
    e1: i64,
    e0: i64,
) -> __m512i {
    of_u64s([e0, e1, e2, e3, e4, e5, e6, e7].map(i64::cast_unsigned))
}

/// Each bit is that of `TABLE` whose index is the bits of the three.
fn ternary<const TABLE: i32>(x: u8, y: u8, z: u8) -> u8 {
    (0..8).fold(0, |found, bit| {
        let index = (x >> bit & 1) << 2 | (y >> bit & 1) << 1 | z >> bit & 1;
        found | ((TABLE >> index & 1) as u8) << bit
    })
}
pub fn _mm512_ternarylogic_epi64<const TABLE: i32>(x: __m512i, y: __m512i, z: __m512i) -> __m512i {
    __m512i(from_fn(|i| ternary::<TABLE>(x.0[i], y.0[i], z.0[i])))
}
pub fn _mm512_mask_ternarylogic_epi32<const TABLE: i32>(
    x: __m512i,
    mask: u16,
    y: __m512i,
    z: __m512i,
) -> __m512i {
    select_32(mask, _mm512_ternarylogic_epi64::<TABLE>(x, y, z), x)
}
pub fn _mm256_ternarylogic_epi64<const TABLE: i32>(x: __m256i, y: __m256i, z: __m256i) -> __m256i {
    let [x, y, z] = [x, y, z].map(bytes_256);
    m256(from_fn(|i| ternary::<TABLE>(x[i], y[i], z[i])))
}

pub fn _mm512_srli_epi16<const BY: u32>(x: __m512i) -> __m512i {
    of_u16s(u16s(x).map(|lane| lane >> BY))
}
pub fn _mm512_slli_epi16<const BY: u32>(x: __m512i) -> __m512i {
    of_u16s(u16s(x).map(|lane| lane << BY))
}
pub fn _mm512_mask_srli_epi16<const BY: u32>(no: __m512i, mask: u32, x: __m512i) -> __m512i {
    select_16(mask, _mm512_srli_epi16::<BY>(x), no)
}
/// The upper half of each lane of `x` and `y` together, moved up.
pub fn _mm512_shldi_epi16<const BY: i32>(x: __m512i, y: __m512i) -> __m512i {
    let (x, y) = (u16s(x), u16s(y));
    of_u16s(from_fn(|i| {
        let both = u32::from(x[i]) << 16 | u32::from(y[i]);
        (both << (BY & 15) >> 16) as u16
    }))
}
pub fn _mm512_slli_epi32<const BY: u32>(x: __m512i) -> __m512i {
    of_u32s(u32s(x).map(|lane| lane << BY))
}
pub fn _mm512_mask_slli_epi32<const BY: u32>(no: __m512i, mask: u16, x: __m512i) -> __m512i {
    select_32(mask, _mm512_slli_epi32::<BY>(x), no)
}
pub fn _mm512_mask_srli_epi32<const BY: u32>(no: __m512i, mask: u16, x: __m512i) -> __m512i {
    select_32(mask, of_u32s(u32s(x).map(|lane| lane >> BY)), no)
}
pub fn _mm512_mask_add_epi32(no: __m512i, mask: u16, x: __m512i, y: __m512i) -> __m512i {
    select_32(mask, _mm512_add_epi32(x, y), no)
}
pub fn _mm512_mask_add_epi8(no: __m512i, mask: u64, x: __m512i, y: __m512i) -> __m512i {
    select_8(mask, _mm512_add_epi8(x, y), no)
}
pub fn _mm512_mask_sub_epi8(no: __m512i, mask: u64, x: __m512i, y: __m512i) -> __m512i {
    select_8(mask, _mm512_sub_epi8(x, y), no)
}
pub fn _mm512_mask_add_epi16(no: __m512i, mask: u32, x: __m512i, y: __m512i) -> __m512i {
    select_16(mask, _mm512_add_epi16(x, y), no)
}
pub fn _mm512_mask_mov_epi8(no: __m512i, mask: u64, x: __m512i) -> __m512i {
    select_8(mask, x, no)
}
pub fn _mm512_mask_mov_epi16(no: __m512i, mask: u32, x: __m512i) -> __m512i {
    select_16(mask, x, no)
}
pub fn _mm512_mask_mov_epi32(no: __m512i, mask: u16, x: __m512i) -> __m512i {
    select_32(mask, x, no)
}
pub fn _mm512_maskz_mov_epi8(mask: u64, x: __m512i) -> __m512i {
    select_8(mask, x, ZERO)
}

/// Each byte is the one of `x`, then of `y`, whose index is the low seven bits.
pub fn _mm512_permutex2var_epi8(x: __m512i, indexes: __m512i, y: __m512i) -> __m512i {
    let both = [x.0, y.0];
    __m512i(indexes.0.map(|i| both[usize::from(i >> 6 & 1)][usize::from(i & 63)]))
}
pub fn _mm512_permutex2var_epi16(x: __m512i, indexes: __m512i, y: __m512i) -> __m512i {
    let both = [u16s(x), u16s(y)];
    of_u16s(u16s(indexes).map(|i| both[usize::from(i >> 5 & 1)][usize::from(i & 31)]))
}
pub fn _mm512_permutexvar_epi8(indexes: __m512i, x: __m512i) -> __m512i {
    __m512i(indexes.0.map(|i| x.0[usize::from(i & 63)]))
}
pub fn _mm512_permutexvar_epi64(indexes: __m512i, x: __m512i) -> __m512i {
    of_u64s(u64s(indexes).map(|i| u64s(x)[(i & 7) as usize]))
}
pub fn _mm512_maskz_permutexvar_epi8(mask: u64, indexes: __m512i, x: __m512i) -> __m512i {
    select_8(mask, _mm512_permutexvar_epi8(indexes, x), ZERO)
}
pub fn _mm512_maskz_permutex2var_epi8(
    mask: u64,
    x: __m512i,
    indexes: __m512i,
    y: __m512i,
) -> __m512i {
    select_8(mask, _mm512_permutex2var_epi8(x, indexes, y), ZERO)
}
pub fn _mm512_mask2_permutex2var_epi8(
    x: __m512i,
    indexes: __m512i,
    mask: u64,
    y: __m512i,
) -> __m512i {
    select_8(mask, _mm512_permutex2var_epi8(x, indexes, y), indexes)
}
/// Within 16 bytes; an index with bit 7 selects zero.
pub fn _mm512_shuffle_epi8(x: __m512i, indexes: __m512i) -> __m512i {
    __m512i(from_fn(|i| match indexes.0[i] {
        0x80.. => 0,
        index => x.0[i / 16 * 16 + usize::from(index & 15)],
    }))
}
/// The lanes whose bit is set, in the first places, and the others of `rest`.
fn compress<T: Copy, const N: usize>(mut rest: [T; N], mask: u64, x: [T; N]) -> [T; N] {
    let chosen = (0..N).filter(|i| mask >> i & 1 == 1);
    for (to, from) in chosen.enumerate() {
        rest[to] = x[from];
    }
    rest
}
pub fn _mm512_mask_compress_epi8(rest: __m512i, mask: u64, x: __m512i) -> __m512i {
    of_u8s(compress(u8s(rest), mask, u8s(x)))
}
pub fn _mm512_maskz_compress_epi8(mask: u64, x: __m512i) -> __m512i {
    _mm512_mask_compress_epi8(ZERO, mask, x)
}
pub fn _mm512_maskz_compress_epi16(mask: u32, x: __m512i) -> __m512i {
    of_u16s(compress([0; 32], mask.into(), u16s(x)))
}
pub fn _mm512_maskz_compress_epi32(mask: u16, x: __m512i) -> __m512i {
    of_u32s(compress([0; 16], mask.into(), u32s(x)))
}
/// Each byte is the eight bits of its lane of `x` from the bit on that the low six bits of `from` name.
pub fn _mm512_multishift_epi64_epi8(from: __m512i, x: __m512i) -> __m512i {
    let x = u64s(x);
    __m512i(from_fn(|i| x[i / 8].rotate_right(u32::from(from.0[i] & 63)) as u8))
}
/// Interleaves the first halves of the 16 bytes.
pub fn _mm512_unpacklo_epi8(x: __m512i, y: __m512i) -> __m512i {
    __m512i(from_fn(|i| [x, y][i % 2].0[i / 16 * 16 + i % 16 / 2]))
}
pub fn _mm512_unpackhi_epi8(x: __m512i, y: __m512i) -> __m512i {
    __m512i(from_fn(|i| [x, y][i % 2].0[i / 16 * 16 + 8 + i % 16 / 2]))
}
/// Narrows within 16 bytes, with saturation: eight lanes of `x`, then eight of `y`.
pub fn _mm512_packus_epi16(x: __m512i, y: __m512i) -> __m512i {
    let both = [u16s(x), u16s(y)];
    __m512i(from_fn(|i| {
        let lane = both[i % 16 / 8][i / 16 * 8 + i % 8];
        lane.cast_signed().clamp(0, 255) as u8
    }))
}
/// Narrows within 16 bytes, with saturation: four lanes of `x`, then four of `y`.
pub fn _mm512_packus_epi32(x: __m512i, y: __m512i) -> __m512i {
    let both = [u32s(x), u32s(y)];
    of_u16s(from_fn(|i| {
        let lane = both[i % 8 / 4][i / 8 * 4 + i % 4];
        lane.cast_signed().clamp(0, u16::MAX.into()) as u16
    }))
}

pub fn _mm512_maddubs_epi16(x: __m512i, y: __m512i) -> __m512i {
    let product = |i: usize| i32::from(x.0[i]) * i32::from(y.0[i].cast_signed());
    of_u16s(from_fn(|i| {
        let sum = product(2 * i) + product(2 * i + 1);
        (sum.clamp(i16::MIN.into(), i16::MAX.into()) as i16).cast_unsigned()
    }))
}
pub fn _mm512_madd_epi16(x: __m512i, y: __m512i) -> __m512i {
    let (x, y) = (u16s(x), u16s(y));
    let product = |i: usize| i32::from(x[i].cast_signed()) * i32::from(y[i].cast_signed());
    of_u32s(from_fn(|i| product(2 * i).wrapping_add(product(2 * i + 1)).cast_unsigned()))
}
pub fn _mm512_sad_epu8(x: __m512i, y: __m512i) -> __m512i {
    let difference = |i: usize| u64::from(x.0[i].abs_diff(y.0[i]));
    of_u64s(from_fn(|i| (8 * i..8 * i + 8).map(difference).sum()))
}
pub fn _mm512_reduce_add_epi64(x: __m512i) -> i64 {
    u64s(x).into_iter().fold(0, u64::wrapping_add).cast_signed()
}

pub fn _mm512_cvtepi32_epi8(x: __m512i) -> __m128i {
    m128(u32s(x).map(|lane| lane as u8))
}
pub fn _mm512_cvtepi32_epi16(x: __m512i) -> __m256i {
    m256(from_fn(|i| u32s(x)[i / 2].to_le_bytes()[i % 2]))
}
pub fn _mm512_cvtepi16_epi8(x: __m512i) -> __m256i {
    m256(u16s(x).map(|lane| lane as u8))
}
pub fn _mm512_cvtepu8_epi32(x: __m128i) -> __m512i {
    of_u32s(bytes_128(x).map(u32::from))
}
pub fn _mm512_cvtepu16_epi32(x: __m256i) -> __m512i {
    let bytes = bytes_256(x);
    of_u32s(from_fn(|i| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]).into()))
}
pub fn _mm512_cvtepu8_epi16(x: __m256i) -> __m512i {
    of_u16s(bytes_256(x).map(u16::from))
}
pub fn _mm512_extracti32x4_epi32<const PART: i32>(x: __m512i) -> __m128i {
    m128(from_fn(|i| x.0[16 * PART as usize + i]))
}
pub fn _mm512_extracti64x4_epi64<const PART: i32>(x: __m512i) -> __m256i {
    m256(from_fn(|i| x.0[32 * PART as usize + i]))
}
pub fn _mm512_inserti64x4<const PART: i32>(x: __m512i, part: __m256i) -> __m512i {
    let mut found = x;
    found.0[32 * PART as usize..][..32].copy_from_slice(&bytes_256(part));
    found
}
pub fn _mm512_castsi512_si256(x: __m512i) -> __m256i {
    _mm512_extracti64x4_epi64::<0>(x)
}
pub fn _mm512_castsi512_si128(x: __m512i) -> __m128i {
    _mm512_extracti32x4_epi32::<0>(x)
}
/// The upper half is undefined: nothing may depend on it.
pub fn _mm512_castsi256_si512(x: __m256i) -> __m512i {
    _mm512_inserti64x4::<0>(__m512i([0xE5; 64]), x)
}

/// # Safety
///
/// 64 bytes can be read at `from`.
pub unsafe fn _mm512_loadu_si512(from: *const __m512i) -> __m512i {
    // SAFETY: by the caller.
    __m512i(unsafe { from.cast::<[u8; 64]>().read_unaligned() })
}
/// # Safety
///
/// 64 bytes can be written at `to`.
pub unsafe fn _mm512_storeu_si512(to: *mut __m512i, x: __m512i) {
    // SAFETY: by the caller.
    unsafe { to.cast::<[u8; 64]>().write_unaligned(x.0) }
}
/// # Safety
///
/// The bytes at `from` whose bits are set can be read. The others are not.
pub unsafe fn _mm512_maskz_loadu_epi8(mask: u64, from: *const i8) -> __m512i {
    // SAFETY: by the caller.
    let byte = |i| unsafe { from.wrapping_add(i).read().cast_unsigned() };
    __m512i(from_fn(|i| if mask >> i & 1 == 1 { byte(i) } else { 0 }))
}

/// Stores of the lanes whose bits are set.
macro_rules! stores {
    ($($name:ident $to:ident $lane:ident $mask:ident;)*) => {$(
        /// # Safety
        ///
        /// The lanes at `to` whose bits are set can be written. The others are not.
        pub unsafe fn $name(to: *mut $lane, mask: $mask, x: __m512i) {
            for (i, lane) in $to(x).into_iter().enumerate() {
                if mask >> i & 1 == 1 {
                    // SAFETY: by the caller.
                    unsafe { to.wrapping_add(i).write_unaligned(lane.cast_signed()) }
                }
            }
        }
    )*};
}
stores! {
    _mm512_mask_storeu_epi8 u8s i8 u64;
    _mm512_mask_storeu_epi16 u16s i16 u32;
    _mm512_mask_storeu_epi32 u32s i32 u16;
}
