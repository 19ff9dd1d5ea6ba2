//! C functions over the functions of both crates that the streams do not call: of all of them, those of which no path panics.
//! SECURITY.md lists the others.

use core::slice;

use utf8_codec::{TextPosition, Utf8Encoder, Utf8Validator, boundary};
use utf8_simd::{ByteFinder, PrefixEnd};

/// Defines functions of C: each passes bytes and a number to an expression, and returns a number.
macro_rules! functions {
    ($($name:ident, $bytes:ident, $number:ident: $result:expr;)*) => {$(
        /// # Safety
        ///
        /// `bytes` is valid for reads and writes of `len` bytes, which nothing else uses.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(bytes: *mut u8, len: usize, $number: usize) -> usize {
            // SAFETY: the caller guarantees it.
            let $bytes = unsafe { slice::from_raw_parts_mut(bytes, len) };
            $result
        }
    )*};
}
functions! {
    utf8_from, bytes, _n: utf8_simd::from_utf8(bytes).map_or(0, str::len);
    utf8_from_mut, bytes, _n: utf8_simd::from_utf8_mut(bytes).map_or(0, |text| text.len());
    utf8_is, bytes, _n: utf8_simd::is_utf8(bytes).into();
    utf8_prefix, bytes, _n: with_end(utf8_simd::valid_prefix(bytes));
    utf8_prefix_dense, bytes, _n: with_end(utf8_simd::valid_prefix_dense(bytes));
    utf8_chars, bytes, _n: utf8_simd::count_chars(text_of(bytes));
    utf8_utf16_len, bytes, _n: utf8_simd::utf16_len(text_of(bytes));
    utf8_offsets, bytes, end: {
        utf8_simd::from_utf8_offsets(bytes, &[0, end, bytes.len()]).map_or(0, str::len)
    };
    utf8_find, bytes, needles: {
        let [a, b, ..] = needles.to_le_bytes();
        let mut finder = ByteFinder::new(a, b);
        finder.next(bytes).and(finder.next(bytes)).unwrap_or(bytes.len())
    };
    utf8_unmask, bytes, mask: {
        utf8_simd::unmask(bytes, (mask as u32).to_ne_bytes());
        bytes.len()
    };
    utf8_boundary_floor, bytes, index: boundary::floor(bytes, index);
    utf8_boundary_ceil, bytes, index: boundary::ceil(bytes, index);
    utf8_boundary_is, bytes, index: boundary::is_boundary(bytes, index).into();
    utf8_truncate, bytes, max_length: boundary::truncate(text_of(bytes), max_length).len();
    utf8_position, bytes, skipped: {
        let mut position = TextPosition::new();
        position.skip(skipped as u64);
        position.push(text_of(bytes));
        if let Err(error) = Utf8Validator::new().push(bytes) {
            position.push_error(&error);
        }
        (position.line + position.column + position.utf16_column) as usize
    };
    utf8_encode, bytes, room: {
        // The output follows the text.
        let Some((text, output)) = bytes.split_at_mut_checked(room) else { return 0 };
        let mut encoder = Utf8Encoder::new().with_bom();
        let written = encoder.push_to_slice(text_of(text), output).written;
        written + encoder.push(text_of(text)).map(<[u8]>::len).into_iter().sum::<usize>()
    };
}

fn text_of(bytes: &[u8]) -> &str {
    utf8_simd::valid_prefix(bytes).0
}

fn with_end((text, end): (&str, PrefixEnd)) -> usize {
    match end {
        PrefixEnd::Input => text.len(),
        PrefixEnd::Incomplete(len) | PrefixEnd::IllFormed(len) => text.len() + len,
    }
}
