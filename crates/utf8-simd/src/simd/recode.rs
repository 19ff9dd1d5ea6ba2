//! The units of UTF-32, and names of the conversions between units that [`Level::recode`](super::Level::recode) vectorises.

use core::fmt;
use core::marker::PhantomData;
use core::ptr;

/// A unit of UTF-32: a number, or a `char`.
pub trait ScalarUnit:
    Copy + From<u8> + From<char> + Into<u32> + Initialised + fmt::Debug + 'static
{
    /// Whether each is a scalar value.
    const IS_SCALAR: bool;

    /// U+FFFD.
    const REPLACEMENT: &'static [Self];

    /// Returns the same memory as numbers.
    ///
    /// # Safety
    ///
    /// - Only scalar values are written through the result.
    unsafe fn as_numbers(items: &mut [Self]) -> &mut [u32];
}

impl ScalarUnit for u32 {
    const IS_SCALAR: bool = false;
    const REPLACEMENT: &'static [Self] = &[0xFFFD];

    #[inline(always)]
    unsafe fn as_numbers(items: &mut [Self]) -> &mut [u32] {
        items
    }
}

impl ScalarUnit for char {
    const IS_SCALAR: bool = true;
    const REPLACEMENT: &'static [Self] = &[Self::REPLACEMENT_CHARACTER];

    #[inline(always)]
    unsafe fn as_numbers(items: &mut [Self]) -> &mut [u32] {
        let numbers = ptr::from_mut(items) as *mut [u32];
        // SAFETY: a `char` has the layout of a `u32`, and the caller promises that the items stay `char`s.
        unsafe { &mut *numbers }
    }
}

/// A conversion between units of two encodings.
pub(crate) trait Recode {
    type From: Initialised;
    type To: Copy;

    /// The conversion, for a level that has loops of its own.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    const CONVERSION: Conversion;
}

/// A conversion as a value. Numbers need not be scalar values.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[derive(Clone, Copy)]
pub(crate) enum Conversion {
    AsciiToBytes {
        is_swapped: bool,
    },
    BytesToUtf8 {
        is_swapped: bool,
        replaces: bool,
    },
    Latin1ToUtf16,
    Utf16ToLatin1,
    Utf16ToUtf32,
    NumbersToUtf8,
    NumbersToUtf16,
    CharsToUtf16,
    /// One for which no level has a loop of its own.
    Other,
}

/// UTF-16, or `u32` or `char`s, to UTF-8.
pub(crate) struct ToUtf8<T>(PhantomData<T>);

/// UTF-16 in bytes to UTF-8. With `SWAPPED`, the bytes of a unit are in the other order than those of the machine. With `REPLACES`,
/// U+FFFD replaces unpaired surrogates, and a high surrogate at the end is one: the caller leaves it out if it is incomplete.
pub(crate) struct BytesToUtf8<const SWAPPED: bool, const REPLACES: bool>;

/// ASCII to UTF-16 in bytes.
pub(crate) struct AsciiToBytes<const SWAPPED: bool>;

/// UTF-16 to UTF-16 in bytes.
pub(crate) struct UnitsToBytes<const SWAPPED: bool>;

/// UTF-16 in bytes to UTF-16.
pub(crate) struct BytesToUnits<const SWAPPED: bool>;

/// `u32` or `char`s to UTF-16.
pub(crate) struct ToUtf16<C>(PhantomData<C>);

/// UTF-16 to `u32` or `char`s.
pub(crate) struct ToUtf32<C>(PhantomData<C>);

/// UTF-16 to Latin-1.
pub(crate) struct ToLatin1;

/// Latin-1 to UTF-16.
pub(crate) struct Latin1ToUtf16;

/// Defines the units of conversions, and their values.
macro_rules! units {
    ($([$($generics:tt)*] $conversion:ty: $from:ty => $to:ty, $value:expr;)*) => {$(
        impl<$($generics)*> Recode for $conversion {
            type From = $from;
            type To = $to;

            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            const CONVERSION: Conversion = $value;
        }
    )*};
}

units! {
    [] ToUtf8<u16>: u16 => u8, Conversion::Other;
    [C: ScalarUnit] ToUtf8<C>: C => u8, match C::IS_SCALAR {
        true => Conversion::Other,
        false => Conversion::NumbersToUtf8,
    };
    [const SWAPPED: bool, const REPLACES: bool] BytesToUtf8<SWAPPED, REPLACES>: [u8; 2] => u8,
        Conversion::BytesToUtf8 { is_swapped: SWAPPED, replaces: REPLACES };
    [const SWAPPED: bool] AsciiToBytes<SWAPPED>: u8 => [u8; 2],
        Conversion::AsciiToBytes { is_swapped: SWAPPED };
    [const SWAPPED: bool] UnitsToBytes<SWAPPED>: u16 => [u8; 2], Conversion::Other;
    [const SWAPPED: bool] BytesToUnits<SWAPPED>: [u8; 2] => u16, Conversion::Other;
    [C: ScalarUnit] ToUtf16<C>: C => u16, match C::IS_SCALAR {
        true => Conversion::CharsToUtf16,
        false => Conversion::NumbersToUtf16,
    };
    [C: ScalarUnit] ToUtf32<C>: u16 => C, Conversion::Utf16ToUtf32;
    [] ToLatin1: u16 => u8, Conversion::Utf16ToLatin1;
    [] Latin1ToUtf16: u8 => u16, Conversion::Latin1ToUtf16;
}

/// Returns the bytes of a unit; with `SWAPPED`, in the other order than that of the machine.
#[inline(always)]
pub(crate) fn unit_bytes<const SWAPPED: bool>(unit: u16) -> [u8; 2] {
    if SWAPPED { unit.swap_bytes() } else { unit }.to_ne_bytes()
}

/// An item that consists of initialised bytes.
///
/// # Safety
///
/// - It has no padding, and no part of it can be uninitialised.
pub unsafe trait Initialised: Copy {}

// SAFETY: an integer.
unsafe impl Initialised for u8 {}
// SAFETY: an integer.
unsafe impl Initialised for u16 {}
// SAFETY: an integer.
unsafe impl Initialised for u32 {}
// SAFETY: it is represented as a `u32`.
unsafe impl Initialised for char {}
// SAFETY: two integers of a byte.
unsafe impl Initialised for [u8; 2] {}
