//! The vector operations that the algorithms need.

use super::test::second_addends;

/// A vector of bytes.
///
/// Implementations are `inline(always)` and without `target_feature`, so that they become part of the function
/// that has it. (A closure has no target feature of its own, and is fast only if it is inlined too: those of
/// `block_errors` are, see rows `replace/*/1-in-8` of `benches/instructions.txt`.)
///
/// Invariant: values exist only where the machine has the instructions that the methods use.
pub(in crate::kernel) trait Vector: Copy {
    /// Bytes in a vector.
    const LEN: usize;
    /// Bits of [`movemask`](Self::movemask) for each byte.
    const MASK_BITS: u32 = 1;
    /// Whether [`second_addends`](Self::second_addends) is right for F4..=FF too.
    const TESTS_ALL_LEADS: bool = false;

    /// Proves that the machine has the instructions. Only a function with the target feature can construct
    /// the first one.
    type Token: Copy;

    /// Loads a vector.
    ///
    /// # Safety
    ///
    /// - `LEN` bytes can be read at `at`.
    unsafe fn load(token: Self::Token, at: *const u8) -> Self;
    /// Stores this vector.
    ///
    /// # Safety
    ///
    /// - `LEN` bytes can be written at `at`.
    unsafe fn store(self, at: *mut u8);
    /// The same byte in each lane. (`self` only proves that the machine has the instructions.)
    fn splat(self, byte: u8) -> Self;
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
    /// The maximum of each pair of unsigned bytes.
    fn max(self, other: Self) -> Self;
    /// The minimum of each pair of unsigned bytes.
    fn min(self, other: Self) -> Self;
    /// The entries of `table` that the low four bits of each byte select. Each byte is below 80.
    fn lookup_16(self, table: &[u8; 16]) -> Self;
    /// For each leading byte, an addend that leaves bit 7 of `here` (C0..=FF) set if the second byte may follow it.
    /// See the documentation of `generic`.
    #[inline(always)]
    fn second_addends(self) -> Self {
        second_addends(self)
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

    /// Whether bit 7 of any byte is set.
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

/// Loads the vector at `at`.
///
/// # Panics
///
/// If it is not within `bytes`.
#[inline(always)]
pub(super) fn load<V: Vector>(token: V::Token, bytes: &[u8], at: usize) -> V {
    let block = &bytes[at..at + V::LEN];
    // SAFETY: `block` has the bytes of a vector.
    unsafe { V::load(token, block.as_ptr()) }
}

/// Stores `vector` at `at`.
///
/// # Panics
///
/// If it does not fit in `bytes`.
#[inline(always)]
pub(super) fn store<V: Vector>(vector: V, bytes: &mut [u8], at: usize) {
    let block = &mut bytes[at..at + V::LEN];
    // SAFETY: `block` has the bytes of a vector.
    unsafe { vector.store(block.as_mut_ptr()) };
}

/// A vector of 16 bytes.
pub(in crate::kernel) trait Vector16: Vector {
    fn from_bytes(token: Self::Token, bytes: &[u8; 16]) -> Self;

    /// A vector of two words, each in little-endian order.
    fn from_words(token: Self::Token, words: [u64; 2]) -> Self;

    /// This vector moved up by `n` bytes, at most 16, with zeros below.
    fn shift_up(self, n: usize) -> Self;
}

/// The indexes that move a vector of 16 bytes up by `n` bytes, from `16 - n` on.
pub(in crate::kernel) static SHIFT_UP: [u8; 32] = {
    let mut table = [0x80; 32];
    let mut i = 0;
    while i < 16 {
        table[16 + i] = i as u8;
        i += 1;
    }
    table
};

/// Methods of a [`Vector`] that are a single instruction on two vectors.
macro_rules! lanewise {
    ($($method:ident: $instruction:ident,)*) => {$(
        #[inline(always)]
        fn $method(self, other: Self) -> Self {
            // SAFETY: vectors exist only where the machine has their instructions.
            Self(unsafe { $instruction(self.0, other.0) })
        }
    )*};
}
pub(in crate::kernel) use lanewise;

/// The number of bytes from `at` up to the next cache line, 1 to 64. Loads that cross no line are faster.
#[inline(always)]
pub(in crate::kernel) fn distance_to_line(at: *const u8) -> usize {
    64 - at as usize % 64
}

/// Methods of a vector, or of its token, that call safe functions with its target feature.
macro_rules! arithmetic {
    ($(fn $method:ident $(<const $N:ident: $number:ty>)? (
        $self:ident $(, $argument:ident: $type:ty)*
    ) -> $result:ty $body:block)*) => {$(
        #[inline(always)]
        fn $method $(<const $N: $number>)? ($self $(, $argument: $type)*) -> $result {
            // SAFETY: vectors and their proofs exist only where the machine has the instructions.
            unsafe { $body }
        }
    )*};
}
pub(in crate::kernel) use arithmetic;
