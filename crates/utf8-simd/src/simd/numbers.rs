//! UTF-32 in numbers and in `char`s, which have the same layout.

use core::ptr;

use super::{Level, Task, tail};

/// Returns the scalar values at the start of `numbers`.
pub(crate) fn scalar_values(level: Level, numbers: &[u32]) -> &[char] {
    let count = level.run(CountScalarValues(numbers));
    let chars = ptr::from_ref(&numbers[..count]) as *const [char];
    // SAFETY: a `char` has the layout of a `u32`, and each of these numbers has been found to be a scalar value.
    unsafe { &*chars }
}

/// Counts the scalar values at the start of numbers.
struct CountScalarValues<'a>(&'a [u32]);

impl Task for CountScalarValues<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        /// The numbers that are tested together, as a slice: compilers unroll the loop over an array, and then do not vectorise it.
        const BLOCK: usize = 128;
        let all = |block: &&[u32]| are_scalar_values(block);
        let whole = self.0.chunks(BLOCK).take_while(all).map(<[_]>::len).sum();
        let is_scalar = |&&number: &&u32| char::from_u32(number).is_some();
        whole + tail(self.0, whole).iter().take_while(is_scalar).count()
    }
}

/// Whether all of `numbers` are scalar values. Compilers vectorise this.
#[inline(always)]
fn are_scalar_values(numbers: &[u32]) -> bool {
    // Surrogates become 0 to 7FF.
    let moved = |number: u32| number.wrapping_sub(0xD800);
    let least = numbers.iter().fold(u32::MAX, |least, &number| least.min(moved(number)));
    let most = numbers.iter().fold(0, |most, &number| most.max(number));
    least >= 0x800 && most < 0x11_0000
}
