//! The algorithm of the kernels that work on vectors of 16 or 32 bytes, written once.
//!
//! It is that of `avx512.rs` in the operations that smaller vectors have. State is bit 7 of each byte
//! lane. For a block and the same block moved back by one, two and three bytes (`back1`, `back2`,
//! `back3`: loaded again, not shuffled):
//!
//! ```text
//! wanted  = back1 >= C0  or  back2 >= E0  or  back3 >= F0    a continuation byte has to be here
//! here    = block is in 80..=BF                              one is
//! good    = here and the second-byte range of E0, ED or F0 holds
//! errors |= wanted xor good
//! least   = min(least, here)                                 C0 and C1 are its 00 and 01
//! ```
//!
//! - `x >= 256 - 2^k` is bit 7 of the rounded average of `x` and `2^k - 1`. Their *or* is written as
//!   the maximum: with an *or* LLVM takes the averages apart and computes them in 16 bits, at half
//!   the speed.
//! - `here` is bit 7 of the signed saturating sum of the block and 40, which makes 80..=BF C0..=FF,
//!   C0 and C1 00 and 01, other leading bytes 02..=3F and ASCII 40..=7F.
//! - `good` is bit 7 of `here` and of `here` plus an addend: of the leading byte `lead` (counted from
//!   E0 = 1; 0 for anything less) plus an entry of [`SECOND`] that its low four bits pick. So E0 and F0,
//!   which share an entry, get addends that differ by 10, and so do the second bytes they allow.
//!
//! That says nothing of F4's second byte and of F5..=FF, which text hardly has: where a byte is F4 or
//! more, [`beyond`] is to be asked too. Without a leading byte above DF the narrow test,
//! `(back1 >= C0) xor here`, is enough.
//!
//! (The usual three tables, for the nibbles of a byte and the high one of the next, take 16 operations
//! for what is 14 here, and have no part that can be left out for two-byte letters.)
//!
//! A long input is looked at in strides. Of each the greatest byte, that of the three bytes before it
//! included, decides what is to be done. As a branch that goes one way and then the other costs as
//! much as a stride, what has been needed is done for a while without asking: see [`long`].
//!
//! An error is marked on the byte that shows it, one to three bytes behind the start of the
//! ill-formed sequence. Marks are tested about once in a KiB; [`locate`] then finds the first of them,
//! and the scalar kernel tells the rest.

mod long;
mod short;

use super::{Stop, scalar};

pub(in crate::kernel) use long::long;
pub(in crate::kernel) use short::{blocks, halves, up_to_16, up_to_32};

/// A vector of bytes.
///
/// Implementations are `inline(always)` and without `target_feature`, so that they become part of
/// the function that has it. (Closures in between would lose it.)
///
/// Invariant: values exist only where the machine has the instructions that the methods use.
pub(super) trait Vector: Copy {
    /// Bytes in a vector.
    const LEN: usize;

    /// Loads a vector.
    ///
    /// # Safety
    ///
    /// - `LEN` bytes can be read at `at`.
    /// - The machine has this vector's instructions.
    unsafe fn load(at: *const u8) -> Self;

    /// The same byte in each lane. (`self` only proves that the machine has the instructions.)
    fn each(self, byte: u8) -> Self;
    fn or(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// The sum, wrapping.
    fn plus(self, other: Self) -> Self;
    /// The sum of signed bytes, saturating.
    fn plus_signed(self, other: Self) -> Self;
    /// The difference, 0 instead of less.
    fn minus(self, other: Self) -> Self;
    /// `(self + other + 1) / 2`
    fn average(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    /// The entries of `table` that the low four bits of bytes below 80 number.
    fn pick_from(self, table: &[u8; 16]) -> Self;
    /// This vector moved back by `N` bytes, 1 to 3, behind `before`.
    fn back<const N: usize>(self, before: Self) -> Self;
    /// Stores this vector.
    ///
    /// # Safety
    ///
    /// - `LEN` bytes can be written at `at`.
    unsafe fn store(self, at: *mut u8);
    /// Whether bit 7 of any byte is set.
    fn any_high(self) -> bool;
    /// The first byte of which bit 7 is set.
    fn first_high(self) -> Option<usize>;
}

/// A vector of 16 bytes.
pub(super) trait Vector16: Vector {
    /// A vector of two words, each in little-endian order.
    ///
    /// # Safety
    ///
    /// - The machine has this vector's instructions.
    unsafe fn from_words(words: [u64; 2]) -> Self;

    /// This vector moved up by `n` bytes, zeros coming in.
    ///
    /// # Safety
    ///
    /// - `n` is 16 at most.
    unsafe fn up(self, n: usize) -> Self;
}

/// The indexes that move a vector of 16 bytes up by `n` bytes, from `16 - n` on.
pub(super) static UP: [u8; 32] = {
    let mut table = [0x80; 32];
    let mut i = 0;
    while i < 16 {
        table[16 + i] = i as u8;
        i += 1;
    }
    table
};

/// By the low four bits of `lead` (E0 = 01 .. EF = 10, F0 = 11 .. F3 = 14; 00 below E0) what has to
/// be added to it, so that added to `here` (C0..=FF) this leaves bit 7 set for the second bytes that
/// may follow. A sum of C0..=FF leaves it set for all of them.
static SECOND: [u8; 16] = {
    let mut table = [0xC0; 16]; // C0 + 00..=20 = C0..=E0: any
    // E0: 9F + 01 = A0. 80..=9F are C0..=DF: 60..=7F, A0..=BF are E0..=FF: 80..=9F.
    // F0: 9F + 11 = B0. 80..=8F are C0..=CF: 70..=7F, 90..=BF are D0..=FF: 80..=AF.
    table[0x1] = 0x9F;
    // ED: 12 + 0E = 20. 80..=9F are C0..=DF: E0..=FF, A0..=BF are E0..=FF: 00..=1F.
    table[0xE] = 0x12;
    table
};

/// What has been found: an answer, or that there may be an error at this byte or behind it.
pub(super) type Look = Result<Stop, usize>;

/// What blocks add up to.
#[derive(Clone, Copy)]
struct Found<V> {
    /// Bit 7 is set for bytes that show an error.
    errors: V,
    /// The least value of `here`: below 2 for C0 and C1.
    least: V,
}

impl<V: Vector> Found<V> {
    #[inline(always)]
    fn nothing(any: V) -> Self {
        Self { errors: any.each(0), least: any.each(0xFF) }
    }

    /// Bit 7 is set where there is an error.
    #[inline(always)]
    fn marks(self) -> V {
        self.errors.or(self.least.each(0x81).minus(self.least))
    }
}

/// The test of the module's documentation.
#[inline(always)]
fn full<V: Vector>(block: V, [back1, back2, back3]: [V; 3], found: Found<V>) -> Found<V> {
    let after_lead = back1.average(block.each(0x3F));
    let third = back2.average(block.each(0x1F));
    let fourth = back3.average(block.each(0x0F));
    let wanted = after_lead.max(third).max(fourth);
    let here = block.plus_signed(block.each(0x40));
    let lead = back1.minus(block.each(0xDF));
    let good = here.and(here.plus(lead.pick_from(&SECOND).plus(lead)));
    Found { errors: found.errors.or(wanted.xor(good)), least: found.least.min(here) }
}

/// The test for a block in which and before which no byte is above DF.
#[inline(always)]
fn narrow<V: Vector>(block: V, back1: V, found: Found<V>) -> Found<V> {
    let wanted = back1.average(block.each(0x3F));
    let here = block.plus_signed(block.each(0x40));
    Found { errors: found.errors.or(wanted.xor(here)), least: found.least.min(here) }
}

/// The errors that the other tests do not mark: F5..=FF, and after F4 (or these) 90..=FF.
#[inline(always)]
fn beyond<V: Vector>(block: V, back1: V) -> V {
    let never = block.minus(block.each(0xF5 - 0x80));
    let after_f4 = back1.minus(block.each(0xF4 - 0x80));
    never.or(after_f4.and(block.minus(block.each(0x90 - 0x80))))
}

/// Whether there is any byte that makes asking [`beyond`] necessary, `top` being the greatest.
#[inline(always)]
fn has_beyond<V: Vector>(top: V) -> bool {
    top.minus(top.each(0xF4 - 0x80)).any_high()
}

/// [`full`] for a block with nothing before it.
#[inline(always)]
fn first<V: Vector>(block: V) -> Found<V> {
    let zero = block.each(0);
    let backs = [block.back::<1>(zero), block.back::<2>(zero), block.back::<3>(zero)];
    full(block, backs, Found::nothing(zero))
}

/// [`full`] for the block at `at`.
///
/// # Safety
///
/// - `LEN` bytes can be read at `at`, and 3 before it.
/// - The machine has the vector's instructions.
#[inline(always)]
unsafe fn full_at<V: Vector>(at: *const u8, found: Found<V>) -> Found<V> {
    // SAFETY: all four loads are within the bytes that the caller promises.
    let [block, back1, back2, back3] =
        unsafe { [V::load(at), V::load(at.sub(1)), V::load(at.sub(2)), V::load(at.sub(3))] };
    full(block, [back1, back2, back3], found)
}

/// Counts the well-formed bytes that `input` begins with, block by block, and copies them to `out`
/// unless that is null; see [`Kernel::clean_len`](super::Kernel::clean_len).
///
/// # Safety
///
/// - `out` is null, or `input.len()` bytes can be written there.
/// - The machine has the vector's instructions.
#[inline(always)]
pub(super) unsafe fn clean<V: Vector>(input: &[u8], out: *mut u8) -> usize {
    let start = input.as_ptr();
    let mut at = 0;
    while at + V::LEN <= input.len() {
        // SAFETY: a block can be read at `at`, and written as far into `out`. `at` is 0 or a block and
        // more, which has more than 3 bytes.
        unsafe {
            let block = V::load(start.add(at));
            let back3 = if at == 0 { block } else { V::load(start.add(at - 3)) };
            if block.or(back3).any_high() {
                let (found, back1) = if at == 0 {
                    (first(block), block.back::<1>(block.each(0)))
                } else {
                    (full_at(start.add(at), Found::nothing(block)), V::load(start.add(at - 1)))
                };
                if let Some(i) = found.marks().or(beyond(block, back1)).first_high() {
                    if !out.is_null() {
                        block.store(out.add(at));
                    }
                    return Stop::before(input, at + i);
                }
            }
            if !out.is_null() {
                block.store(out.add(at));
            }
        }
        at += V::LEN;
    }
    if at == 0 { 0 } else { Stop::clean_up_to_tail(&input[..at]).valid_up_to }
}

/// Counts the ASCII bytes that `input` begins with up to the first that is `end`.
///
/// # Safety
///
/// - The machine has the vector's instructions.
#[inline(always)]
pub(super) unsafe fn ascii_before<V: Vector>(end: u8, input: &[u8]) -> usize {
    let Some(last) = input.len().checked_sub(V::LEN) else {
        return scalar::ascii_before(end, input);
    };
    let mut at = 0;
    loop {
        // SAFETY: `at` is at most the place of the last block.
        let block = unsafe { V::load(input.as_ptr().add(at)) };
        // 80 - x, saturating, is 80 for 0 and has bit 7 clear for everything else.
        let ends = block.each(0x80).minus(block.xor(block.each(end)));
        if let Some(i) = block.or(ends).first_high() {
            return at + i;
        }
        if at == last {
            return input.len();
        }
        at = (at + V::LEN).min(last);
    }
}

/// Finds the first error in `input`, which is at `from` or behind it, if there is one.
///
/// # Safety
///
/// - The machine has the vector's instructions.
#[inline(always)]
pub(super) unsafe fn locate<V: Vector>(input: &[u8], from: usize) -> Stop {
    if input.len() < V::LEN + 3 {
        return scalar::validate(input);
    }
    let start = input.as_ptr();
    let last = input.len() - V::LEN;
    // With less than three bytes in front begin at the start.
    let mut at = if from < 3 { 0 } else { from.min(last) };
    loop {
        // SAFETY: `at` is at most the place of the last block, which is 3 or more, and either 0 or
        // 3 or more, as a block has more than 3 bytes.
        let found = unsafe {
            let block = V::load(start.add(at));
            let (mut found, back1) = if at == 0 {
                (first(block), block.back::<1>(block.each(0)))
            } else {
                (full_at(start.add(at), Found::nothing(block)), V::load(start.add(at - 1)))
            };
            found.errors = found.errors.or(beyond(block, back1));
            found
        };
        if let Some(i) = found.marks().first_high() {
            return Stop::marked(input, at + i);
        }
        if at == last {
            return Stop::clean_up_to_tail(input);
        }
        at = (at + V::LEN).min(last);
    }
}
