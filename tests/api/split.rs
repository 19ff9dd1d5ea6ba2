//! Text in pieces of a limited number of bytes.

use proptest::prelude::*;
use utf8_codec::split;

#[test]
fn a_truncated_text_is_the_longest_that_fits() {
    let text = "a¢€👋";
    let lengths: Vec<_> = (0..12).map(|limit| split::truncate(text, limit).len()).collect();
    assert_eq!(lengths, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10]);
    assert_eq!(split::truncate(text, usize::MAX), text);
    assert_eq!(split::truncate("", 7), "");
}

#[test]
#[should_panic(expected = "3 bytes do not fit every character")]
fn a_limit_that_some_character_breaks_is_refused_even_for_ascii() {
    let _pieces = split::at_most("ascii", 3);
}

#[test]
fn of_no_text_there_are_no_pieces() {
    assert_eq!(split::at_most("", 4).next(), None);
}

proptest! {
    #[test]
    fn pieces_are_the_text_and_each_as_long_as_can_be(text in any::<String>(), limit in 4_usize..20) {
        let pieces: Vec<_> = split::at_most(&text, limit).collect();
        prop_assert_eq!(pieces.concat(), &*text);
        for (n, piece) in pieces.iter().enumerate() {
            prop_assert!(!piece.is_empty() && piece.len() <= limit);
            if let Some(next) = pieces.get(n + 1).and_then(|next| next.chars().next()) {
                prop_assert!(piece.len() + next.len_utf8() > limit);
            }
        }
    }

    #[cfg(feature = "bytes")]
    #[test]
    fn owned_pieces_are_the_same_and_share_the_memory(text in any::<String>(), limit in 4_usize..20) {
        let owner = utf8_codec::ByteString::from(&*text);
        let mut at = 0;
        let mut borrowed = split::at_most(&text, limit);
        for piece in split::owned_at_most(owner.clone(), limit) {
            prop_assert_eq!(Some(&*piece), borrowed.next());
            prop_assert_eq!(piece.as_ptr(), owner[at..].as_ptr());
            at += piece.len();
        }
        prop_assert_eq!(borrowed.next(), None);
    }
}

#[cfg(target_pointer_width = "64")]
#[test]
fn the_sizes_are_those_of_the_documentation() {
    assert_eq!(size_of::<split::AtMost<'_>>(), 24);
    #[cfg(feature = "bytes")]
    assert_eq!(size_of::<split::OwnedAtMost>(), 40);
}

#[test]
fn everything_can_be_sent_and_shared() {
    fn assert<T: Send + Sync + Unpin + Clone + std::fmt::Debug>() {}
    assert::<split::AtMost<'_>>();
    #[cfg(feature = "bytes")]
    assert::<split::OwnedAtMost>();
}
