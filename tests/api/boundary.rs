//! Text in pieces of a limited number of bytes.

use proptest::prelude::*;
use utf8_codec::boundary;

#[test]
fn a_truncated_text_is_the_longest_that_fits() {
    let text = "a¢€👋";
    let lengths: Vec<_> = (0..12).map(|limit| boundary::truncate(text, limit).len()).collect();
    assert_eq!(lengths, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10]);
    assert_eq!(boundary::truncate(text, usize::MAX), text);
    assert_eq!(boundary::truncate("", 7), "");
}

#[test]
#[should_panic(expected = "3 bytes do not fit every character")]
fn a_limit_below_four_bytes_panics_even_for_ascii() {
    let _pieces = boundary::at_most("ascii", 3);
}

#[test]
fn an_empty_text_has_no_pieces() {
    assert_eq!(boundary::at_most("", 4).next(), None);
}

proptest! {
    #[test]
    fn pieces_are_the_text_and_each_is_as_long_as_possible(text in any::<String>(), limit in 4_usize..20) {
        let pieces: Vec<_> = boundary::at_most(&text, limit).collect();
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
    fn owned_pieces_equal_borrowed_ones_and_share_memory(text in any::<String>(), limit in 4_usize..20) {
        let owner = utf8_codec::ByteString::from(&*text);
        let mut at = 0;
        let mut borrowed = boundary::at_most(&text, limit);
        for piece in boundary::owned_at_most(owner.clone(), limit) {
            prop_assert_eq!(Some(&*piece), borrowed.next());
            prop_assert_eq!(piece.as_ptr(), owner[at..].as_ptr());
            at += piece.len();
        }
        prop_assert_eq!(borrowed.next(), None);
    }
}

#[test]
fn the_iterators_can_be_sent_and_shared() {
    fn assert<T: Send + Sync + Unpin + Clone>(_: T) {}
    assert(boundary::at_most("text", 4));
    #[cfg(feature = "bytes")]
    assert(boundary::owned_at_most("text".into(), 4));
}
