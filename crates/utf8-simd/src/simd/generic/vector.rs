//! The vector operations that the algorithms need.

use core::mem::{MaybeUninit, size_of_val};
use core::ptr;

use crate::simd::recode::Initialised;
use crate::simd::{as_uninit, table, tail};

/// Addends by the low four bits of `lead` (E0 = 01 .. EF = 10, F0 = 11 .. F3 = 14; 00 below E0). The sum of
/// `lead`, its addend and `here` (C0..=FF) has bit 7 set for the second bytes that may follow. If `lead` plus
/// its addend is C0 to FF, that is true of all second bytes.
#[cfg(not(target_arch = "aarch64"))]
pub(in crate::simd) static SECOND: [u8; 16] = {
    let mut table = [0xC0; 16]; // C0 + 00..=20 = C0..=E0: any
    // E0: 9F + 01 = A0. 80..=9F are C0..=DF: 60..=7F, A0..=BF are E0..=FF: 80..=9F.
    // F0: 9F + 11 = B0. 80..=8F are C0..=CF: 70..=7F, 90..=BF are D0..=FF: 80..=AF.
    table[0x1] = 0x9F;
    // ED: 12 + 0E = 20. 80..=9F are C0..=DF: E0..=FF, A0..=BF are E0..=FF: 00..=1F.
    table[0xE] = 0x12;
    table
};

/// A table aligned to a cache line. A load across two lines slows down short inputs.
#[repr(C, align(64))]
pub(in crate::simd) struct Aligned(pub(in crate::simd) [u8; 64]);

/// By the leading byte, C0 to FF, the addend that clears bit 7 of `here` if the second byte may not follow. For levels that
/// can select from 64 or 32 entries.
#[cfg(any(all(target_arch = "x86_64", target_feature = "sse2"), target_arch = "aarch64"))]
pub(in crate::simd) static SECOND_BY_LEAD: Aligned = Aligned(table!(64, |i| {
    // 80..=BF are C0..=FF in `here`.
    match 0xC0 + i {
        0xE0 => 0xA0,                      // C0..=DF: 60..=7F, E0..=FF: 80..=9F
        0xED => 0x20,                      // C0..=DF: E0..=FF, E0..=FF: 00..=1F
        0xF0 => 0xB0,                      // C0..=CF: 70..=7F, D0..=FF: 80..=AF
        0xF4 => 0x30,                      // C0..=CF: F0..=FF, D0..=FF: 00..=2F
        0xC0 | 0xC1 | 0xF5..=0xFF => 0x40, // 00..=3F
        _ => 0,
    }
}));

/// A vector of bytes.
///
/// Only a function with the target feature can construct the first one: `zero` of the type. Functions that load take `any`
/// vector as the proof. Implementations are `inline(always)` and without `target_feature`, so that they become part of the function
/// that has it. A closure has no target feature of its own, and is fast only if it is inlined too: those of
/// `block_errors` are, see rows `replace/*/1-in-8` of `benches/instructions.txt`.
///
/// Invariant: values exist only where the machine has the instructions that the methods use.
pub(in crate::simd) trait Vector: Copy {
    const LEN: usize;
    /// Bits of [`movemask`](Self::movemask) for each byte.
    const MASK_BITS: u32 = 1;
    /// Whether [`second_addends`](Self::second_addends) is right for F4..=FF too.
    const TESTS_ALL_LEADS: bool = false;
    /// Whether [`or3`](Self::or3), [`or_xor`](Self::or_xor) and [`or_and_not`](Self::or_and_not) are one instruction each,
    /// and [`second_addends`](Self::second_addends) is right for C0 and C1 too.
    const HAS_TERNARY: bool = false;

    /// Loads the vector at the start of `bytes`. `self` only proves that the machine has the instructions.
    fn load(self, bytes: &[u8]) -> Self;
    /// Stores this vector at the start of `bytes`; its bytes are then initialised.
    fn store(self, bytes: &mut [MaybeUninit<u8>]);
    /// The same byte in each lane. `self` only proves that the machine has the instructions.
    fn splat(self, byte: u8) -> Self;
    /// The same word in each four lanes, in little-endian order.
    fn splat_word(self, word: u32) -> Self;
    fn or(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn wrapping_add(self, other: Self) -> Self;
    /// The saturating sum of signed bytes.
    fn saturating_add(self, other: Self) -> Self;
    /// The saturating difference of unsigned bytes.
    fn saturating_sub(self, other: Self) -> Self;
    /// `(self + other + 1) / 2`
    fn average(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    /// The minimum of signed bytes.
    fn signed_min(self, other: Self) -> Self;
    /// For each leading byte, an addend that leaves bit 7 of `here` (C0..=FF) set if the second byte may follow it.
    /// See the documentation of `generic`.
    fn second_addends(self) -> Self;
    /// The leading bytes counted from E0 = 1; 0 for lower bytes.
    #[cfg(not(target_arch = "aarch64"))]
    #[inline(always)]
    fn leads(self) -> Self {
        self.saturating_sub(self.splat(0xDF))
    }
    /// `self | a | b`
    #[inline(always)]
    fn or3(self, a: Self, b: Self) -> Self {
        self.or(a).or(b)
    }
    /// `self | (a ^ b)`
    #[inline(always)]
    fn or_xor(self, a: Self, b: Self) -> Self {
        self.or(a.xor(b))
    }
    /// `self | (a & !b)`
    #[inline(always)]
    fn or_and_not(self, a: Self, b: Self) -> Self {
        self.or(a.and(b.xor(b.splat(0xFF))))
    }
    /// For each byte, the one `N` bytes (1 to 3) before it; `before` is the vector before this one.
    fn prev<const N: usize>(self, before: Self) -> Self;
    /// Bit 7 of each byte, as `MASK_BITS` equal bits.
    fn movemask(self) -> u64;

    /// Bit 7 of each of 64 bytes, one bit per byte. `bytes` returns the vector at an index.
    #[inline(always)]
    fn mask_of_64(bytes: impl Fn(usize) -> Self) -> u64 {
        const { assert!(Self::MASK_BITS == 1) };
        let mut mask = 0;
        let mut at = 0;
        while at < 64 {
            mask |= bytes(at).movemask() << at;
            at += Self::LEN;
        }
        mask
    }

    /// Marks the bytes from `least` on, which is 80 or more.
    #[inline(always)]
    fn at_least(self, least: u8) -> Self {
        self.saturating_sub(self.splat(least - 0x80))
    }

    #[inline(always)]
    fn any_high_bit(self) -> bool {
        self.movemask() != 0
    }

    /// The index of the first byte whose bit 7 is set.
    #[inline(always)]
    fn first_high_bit(self) -> Option<usize> {
        let mask = self.movemask();
        (mask != 0).then_some((mask.trailing_zeros() / Self::MASK_BITS) as usize)
    }
}

/// Loads the vector at `at`, which is within `bytes`.
#[inline(always)]
pub(in crate::simd) fn load<V: Vector>(any: V, bytes: &[u8], at: usize) -> V {
    any.load(tail(bytes, at))
}

/// Stores `vector` at `at`.
#[inline(always)]
pub(in crate::simd) fn store<V: Vector>(vector: V, bytes: &mut [u8], at: usize) {
    // SAFETY: a vector writes initialised bytes only.
    vector.store(unsafe { as_uninit(&mut bytes[at..]) });
}

/// The first `N` bytes. There are as many: the zeros are not reached, and stand for a call that panics.
#[inline(always)]
pub(in crate::simd) fn first<const N: usize>(bytes: &[u8]) -> &[u8; N] {
    debug_assert!(N <= bytes.len());
    bytes.first_chunk().unwrap_or(&[0; N])
}

/// The first `N` bytes.
#[inline(always)]
pub(in crate::simd) fn first_mut<T, const N: usize>(bytes: &mut [T]) -> &mut [T; N] {
    bytes.first_chunk_mut().expect("room for a whole vector")
}

#[inline(always)]
pub(in crate::simd) fn as_bytes<T: Initialised>(items: &[T]) -> &[u8] {
    // SAFETY: all of the memory is initialised, as `Initialised` promises, and a byte needs no alignment.
    unsafe { &*ptr::slice_from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

/// A vector of 16 bytes.
pub(in crate::simd) trait Vector16: Vector {
    /// A vector of two words, each in little-endian order.
    fn words(self, words: [u64; 2]) -> Self;

    /// This vector moved up by `n` bytes, at most 16, with zeros below.
    fn shift_up(self, n: usize) -> Self;
}

/// Loads 2, or 4 to 15 bytes, with zeros after them; `None` for other numbers.
#[inline(always)]
pub(in crate::simd) fn load_few<V: Vector16>(any: V, bytes: &[u8]) -> Option<V> {
    let len = bytes.len();
    if len > 15 {
        return None;
    }
    if len > 8 {
        let [first, last] =
            [bytes.first_chunk()?, bytes.last_chunk()?].map(|&word| u64::from_le_bytes(word));
        return Some(any.words([first, last >> (8 * (16 - len))]));
    }
    if let [low, high] = *bytes {
        return Some(any.words([u16::from_le_bytes([low, high]).into(), 0]));
    }
    let [first, last] =
        [bytes.first_chunk()?, bytes.last_chunk()?].map(|&word| u32::from_le_bytes(word));
    Some(any.words([u64::from(first) | u64::from(last) << (8 * (len - 4)), 0]))
}

/// The indexes that move a vector of 16 bytes up by `n` bytes, from `16 - n` on.
pub(in crate::simd) static SHIFT_UP: [u8; 32] =
    table!(32, |i| if i < 16 { 0x80 } else { i as u8 - 16 });

/// The number of bytes from `at` up to the next cache line, 1 to 64. Loads that cross no line are faster.
#[inline(always)]
pub(in crate::simd) fn distance_to_line(at: *const u8) -> usize {
    64 - at as usize % 64
}

/// Methods of a vector. Each body becomes a safe function with the target feature, so the compiler rejects an unsafe
/// operation in it, and an instruction of another feature. Its first parameter is the vector.
///
/// ```text
/// arithmetic! { "sse4.1":
///     fn splat(_any: Bytes16, byte: u8) -> Bytes16 { Bytes16(_mm_set1_epi8(byte as i8)) }
/// }
/// ```
macro_rules! arithmetic {
    ($feature:literal: $($access:vis fn $method:ident $(<const $N:ident: $number:ty>)? (
        $vector:ident: $this:ty $(, $argument:ident: $type:ty)*
    ) -> $result:ty $body:block)*) => {$(
        #[inline(always)]
        $access fn $method $(<const $N: $number>)? (self $(, $argument: $type)*) -> $result {
            #[inline]
            #[target_feature(enable = $feature)]
            fn calculate $(<const $N: $number>)? (
                $vector: $this $(, $argument: $type)*
            ) -> $result $body
            // SAFETY: a vector exists only where the machine has the feature.
            unsafe { calculate $(::<$N>)? (self $(, $argument)*) }
        }
    )*};
}
pub(in crate::simd) use arithmetic;

/// Methods of a vector that are a single instruction on two vectors.
macro_rules! lanewise {
    ($feature:literal, $vector:ident: $($method:ident: $instruction:ident,)*) => {
        arithmetic! { $feature: $(
            fn $method(a: $vector, b: $vector) -> $vector { $vector($instruction(a.0, b.0)) }
        )* }
    };
}
pub(in crate::simd) use lanewise;

/// Copies a few items, at most about 32, in overlapping chunks: a call to `memcpy` would take longer
/// (`benches/scenarios/chars.rs`).
#[inline(always)]
pub(super) fn copy_few<U: Copy>(from: &[U], to: &mut [U]) {
    #[inline(always)]
    fn by<const N: usize, U: Copy>(from: &[U], to: &mut [U]) {
        for (from, to) in from.as_chunks::<N>().0.iter().zip(to.as_chunks_mut::<N>().0) {
            *to = *from;
        }
        if let (Some(from), Some(to)) = (from.last_chunk::<N>(), to.last_chunk_mut::<N>()) {
            *to = *from;
        }
    }
    assert_eq!(from.len(), to.len());
    match from.len() {
        0 => {}
        1 => to[0] = from[0],
        2..=3 => by::<2, U>(from, to),
        4..=7 => by::<4, U>(from, to),
        _ => by::<8, U>(from, to),
    }
}
