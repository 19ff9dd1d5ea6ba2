//! The C interface of simdutf, with slices instead of pointers. An output is as long as the input can need.

use std::ffi::c_char;

/// A result of the functions that return where they stopped.
#[repr(C)]
struct SimdutfResult {
    error: i32,
    count: usize,
}

unsafe extern "C" {
    fn simdutf_validate_utf8(input: *const c_char, len: usize) -> bool;
    fn simdutf_validate_utf8_with_errors(input: *const c_char, len: usize) -> SimdutfResult;
    fn simdutf_count_utf8(input: *const c_char, len: usize) -> usize;
    fn simdutf_utf16_length_from_utf8(input: *const c_char, len: usize) -> usize;
}

pub(crate) fn validate_utf8(input: &[u8]) -> bool {
    // SAFETY: the function reads the bytes of `input`.
    unsafe { simdutf_validate_utf8(input.as_ptr().cast(), input.len()) }
}

/// The number of characters.
pub(crate) fn count_chars(text: &str) -> usize {
    // SAFETY: the function reads the bytes of `text`.
    unsafe { simdutf_count_utf8(text.as_ptr().cast(), text.len()) }
}

/// The number of UTF-16 units that encode the text.
pub(crate) fn utf16_len(text: &str) -> usize {
    // SAFETY: the function reads the bytes of `text`.
    unsafe { simdutf_utf16_length_from_utf8(text.as_ptr().cast(), text.len()) }
}

/// The offset of the first error, or the length.
pub(crate) fn valid_up_to(input: &[u8]) -> usize {
    // SAFETY: the function reads the bytes of `input`.
    let result = unsafe { simdutf_validate_utf8_with_errors(input.as_ptr().cast(), input.len()) };
    if result.error == 0 { input.len() } else { result.count }
}

/// Conversions: their name in C, the units they read and write, and how many units of output one of input can need.
macro_rules! conversions {
    ($($name:ident = $c:ident: $from:ty => $to:ty, $most:literal;)*) => {
        unsafe extern "C" {
            $(fn $c(input: *const $from, len: usize, output: *mut $to) -> usize;)*
        }
        $(
            /// Returns the number of units written; 0 if the input is ill-formed.
            pub(crate) fn $name(input: &[$from], output: &mut [$to]) -> usize {
                assert!($most * input.len() <= output.len());
                // SAFETY: the function reads `input`, and writes at most as many units as `output` has, as asserted.
                unsafe { $c(input.as_ptr(), input.len(), output.as_mut_ptr()) }
            }
        )*
    };
}

conversions! {
    utf8_to_utf16 = simdutf_convert_utf8_to_utf16le: u8 => u16, 1;
    utf8_to_utf32 = simdutf_convert_utf8_to_utf32: u8 => u32, 1;
    utf8_to_latin1 = simdutf_convert_utf8_to_latin1: u8 => u8, 1;
    utf16_to_utf8 = simdutf_convert_utf16le_to_utf8: u16 => u8, 3;
    utf16_to_utf8_lossy = simdutf_convert_utf16le_to_utf8_with_replacement: u16 => u8, 3;
    utf32_to_utf8 = simdutf_convert_utf32_to_utf8: u32 => u8, 4;
    latin1_to_utf8 = simdutf_convert_latin1_to_utf8: u8 => u8, 2;
    utf8_to_utf16be = simdutf_convert_utf8_to_utf16be: u8 => u16, 1;
    utf16be_to_utf8 = simdutf_convert_utf16be_to_utf8: u16 => u8, 3;
    utf16_to_utf32 = simdutf_convert_utf16le_to_utf32: u16 => u32, 1;
    utf32_to_utf16 = simdutf_convert_utf32_to_utf16le: u32 => u16, 2;
    utf16_to_latin1 = simdutf_convert_utf16le_to_latin1: u16 => u8, 1;
    latin1_to_utf16 = simdutf_convert_latin1_to_utf16le: u8 => u16, 1;
}
