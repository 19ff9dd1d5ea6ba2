//! What the rooms above use of `utf8_simd`, which converts well-formed bytes to text.

pub(crate) use utf8_simd::text::{first_char, split_line};
pub(crate) use utf8_simd::{Level, PrefixEnd, valid_prefix};

/// Returns `input` if all of it is text, without strictness. For lines that are not ASCII: it does not test for short
/// ASCII first, as [`from_utf8`](crate::from_utf8) does.
#[inline]
pub(crate) fn all_text(input: &[u8]) -> Option<&str> {
    let (text, _) = valid_prefix(input);
    (text.len() == input.len()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_starts_with_its_ascii_and_is_text_as_a_whole() {
        for (input, first) in [("ab\ncd", "ab"), ("\ncd", ""), ("ažluť\n", "a"), ("ab", "ab")] {
            assert_eq!(split_line(Level::detect(), *b"\r\n", input.as_bytes()), first);
            assert_eq!(all_text(input.as_bytes()), Some(input));
        }
        assert_eq!(all_text(b"ab\xFF"), None);
        assert_eq!(all_text(b"ab\xE2\x82"), None);
    }
}
