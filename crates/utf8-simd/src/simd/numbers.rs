//! UTF-32 in numbers and in `char`s, which have the same layout.

use core::{fmt, ptr};

use super::{Level, Task, tail};

/// A unit of UTF-32: a number, or a `char`.
pub trait ScalarUnit: Copy + From<u8> + From<char> + fmt::Debug + 'static {
    /// U+FFFD.
    const REPLACEMENT: &'static [Self];

    /// Converts a unit of UTF-16 that is no surrogate.
    fn of_unit(unit: u16) -> Self;

    /// Returns the same memory as numbers.
    ///
    /// # Safety
    ///
    /// - Only scalar values are written through the result.
    unsafe fn as_numbers(items: &mut [Self]) -> &mut [u32];
}

impl ScalarUnit for u32 {
    const REPLACEMENT: &'static [Self] = &[0xFFFD];

    #[inline(always)]
    fn of_unit(unit: u16) -> Self {
        unit.into()
    }

    #[inline(always)]
    unsafe fn as_numbers(items: &mut [Self]) -> &mut [u32] {
        items
    }
}

impl ScalarUnit for char {
    const REPLACEMENT: &'static [Self] = &[Self::REPLACEMENT_CHARACTER];

    #[inline(always)]
    fn of_unit(unit: u16) -> Self {
        Self::from_u32(unit.into()).unwrap_or(Self::REPLACEMENT_CHARACTER)
    }

    #[inline(always)]
    unsafe fn as_numbers(items: &mut [Self]) -> &mut [u32] {
        let numbers = ptr::from_mut(items) as *mut [u32];
        // SAFETY: a `char` has the layout of a `u32`, and the caller promises that the items stay `char`s.
        unsafe { &mut *numbers }
    }
}

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
        let all = |block: &&[u32]| are_scalar_values(block, 0x11_0000);
        let whole = self.0.chunks(BLOCK).take_while(all).map(<[_]>::len).sum();
        let is_scalar = |&&number: &&u32| char::from_u32(number).is_some();
        whole + tail(self.0, whole).iter().take_while(is_scalar).count()
    }
}

/// Whether all of `units` are scalar values below `end`, at most 11_0000. Compilers vectorise this.
#[inline(always)]
pub(crate) fn are_scalar_values<C: Copy + Into<u32>>(units: &[C], end: u32) -> bool {
    // Surrogates become 0 to 7FF.
    let moved = |unit: C| unit.into().wrapping_sub(0xD800);
    let least = units.iter().fold(u32::MAX, |least, &unit| least.min(moved(unit)));
    let most = units.iter().fold(0, |most, &unit| most.max(unit.into()));
    least >= 0x800 && most < end
}
