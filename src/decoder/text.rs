//! What the rooms above use of `utf8_simd`, which converts well-formed bytes to text.

#[cfg(feature = "alloc")]
pub(crate) use utf8_simd::text::push_utf16;
#[cfg(feature = "std")]
pub(crate) use utf8_simd::text::split_line;
pub(crate) use utf8_simd::text::{BlockPart, BlockParts, ShortText, first_char, split_range};
#[cfg(feature = "std")]
#[allow(unused_imports)] // each adaptor needs some of them
pub(crate) use utf8_simd::text::{GatheredText, SplitTo, slice_text, take_text, take_text_with};
#[cfg(feature = "std")]
pub(crate) use utf8_simd::text::{ReadBuffer, assert_char_boundary};
pub(crate) use utf8_simd::{Level, NulForm, surrogate_pair};

#[cfg(feature = "std")]
use utf8_simd::valid_prefix;

/// Returns `input` if all of it is text, without strictness. For lines that are not ASCII: it does not test for short
/// ASCII first, as [`from_utf8`](crate::from_utf8) does.
#[cfg(feature = "std")]
#[inline]
pub(crate) fn all_text(input: &[u8]) -> Option<&str> {
    let (text, _) = valid_prefix(input);
    (text.len() == input.len()).then_some(text)
}

/// Decodes `text` into `chars`, which has room for one `char` per byte. Returns the number of `char`s
/// written.
#[cfg(feature = "stream")]
pub(crate) fn decode_chars(text: &str, chars: &mut [char]) -> usize {
    debug_assert!(text.len() <= chars.len());
    let level = Level::detect();
    if level.decodes_many() || text.is_ascii() {
        level.decode_chars(text, chars).1
    } else {
        // One by one, as these levels do it, but without their bounds checks: 1.2 to 1.3 times as
        // fast (`blocks/*` of `benches/versus`).
        chars.iter_mut().zip(text.chars()).map(|(place, c)| *place = c).count()
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_line_starts_with_its_ascii_and_is_text_as_a_whole() {
        for (input, first) in [("ab\ncd", "ab"), ("\ncd", ""), ("ažluť\n", "a"), ("ab", "ab")] {
            let text = split_line(Level::detect(), b'\n', input.as_bytes());
            assert!(input.starts_with(text) && text.starts_with(first), "{text:?} of {input:?}");
            assert_eq!(all_text(input.as_bytes()), Some(input));
        }
        assert_eq!(all_text(b"ab\xFF"), None);
        assert_eq!(all_text(b"ab\xE2\x82"), None);
    }
}
