//! Boundaries and their consequences, across chunks too: a boundary is at most three bytes away, byte
//! order is code point order, text is truncated without splitting a character, and no match starts
//! inside a character.

use proptest::prelude::*;
use utf8_codec::{ErrorMode, Utf8Decoder, boundary};

/// Bytes in which boundaries are hard to find.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::sample::select(vec![
        &b"a"[..],
        b"\n",
        b"\x7F",
        b"\x80",
        b"\xBF",
        b"\xC0",
        b"\xC1",
        b"\xC2",
        b"\xDF",
        b"\xE0",
        b"\xE2\x82",
        b"\xED",
        b"\xEF\xBF",
        b"\xF0",
        b"\xF0\x9F",
        b"\xF0\x9F\x98",
        b"\xF4\x8F",
        b"\xF4\x90",
        b"\xF5",
        b"\xFF",
        b"\xC3\xA9",
        b"\xE2\x82\xAC",
        b"\xF0\x9F\x98\x80",
        b"\xED\xA0\x80",
        b"\xE0\x9F\xBF",
    ]);
    prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
}

/// The boundaries of the whole, by std.
fn boundaries(bytes: &[u8]) -> Vec<usize> {
    let mut all = vec![0];
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            at += c.len_utf8();
            all.push(at);
        }
        if !chunk.invalid().is_empty() {
            at += chunk.invalid().len();
            all.push(at);
        }
    }
    all
}

fn check_boundaries(bytes: &[u8]) {
    let all = boundaries(bytes);
    for index in 0..=bytes.len() {
        let before = *all.iter().rfind(|&&at| at <= index).unwrap();
        let after = *all.iter().find(|&&at| at >= index).unwrap();
        assert_eq!(boundary::floor(bytes, index), before, "{bytes:02x?} before {index}");
        assert_eq!(boundary::ceil(bytes, index), after, "{bytes:02x?} after {index}");
        assert_eq!(boundary::is_boundary(bytes, index), before == index, "{bytes:02x?} at {index}");
        assert!(index - before <= 3 && after - index <= 3);
    }
    for index in [bytes.len() + 1, usize::MAX] {
        assert_eq!(boundary::floor(bytes, index), bytes.len());
        assert_eq!(boundary::ceil(bytes, index), bytes.len());
        assert!(!boundary::is_boundary(bytes, index));
    }
}

#[test]
fn boundaries_equal_std_for_all_strings_of_five_edge_bytes() {
    const BYTES: [u8; 12] =
        [0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xC3, 0xE0, 0xED, 0xF0, 0xF4, 0xFF];
    for index in 0..12_usize.pow(5) {
        check_boundaries(&[0, 1, 2, 3, 4].map(|place| BYTES[index / 12_usize.pow(place) % 12]));
    }
}

proptest! {
    #[test]
    fn boundaries_equal_std(bytes in bytes()) {
        check_boundaries(&bytes);
    }

    #[test]
    fn boundaries_of_random_bytes(bytes: Vec<u8>) {
        check_boundaries(&bytes);
    }

    #[test]
    fn bytes_split_at_a_boundary_decode_as_the_whole(bytes in bytes(), index: prop::sample::Index) {
        let index = index.index(bytes.len() + 1);
        let decoded = |part: &[u8]| {
            let (mut decoder, mut text) = (Utf8Decoder::new(), [0; 4096]);
            let read = decoder.push_to_slice(part, ErrorMode::Replacement, &mut text);
            let end = decoder.finish_to_slice(ErrorMode::Replacement, &mut text[read.written..]);
            let len = read.written + end.written;
            (text[..len].to_vec(), decoder.error_count())
        };
        for cut in [boundary::floor(&bytes, index), boundary::ceil(&bytes, index)] {
            let (whole, errors) = decoded(&bytes);
            let (front, back) = (decoded(&bytes[..cut]), decoded(&bytes[cut..]));
            prop_assert_eq!([front.0, back.0].concat(), whole);
            prop_assert_eq!(front.1 + back.1, errors);
        }
    }

    #[test]
    fn byte_order_is_code_point_order(a: String, b: String) {
        prop_assert_eq!(a.as_bytes().cmp(b.as_bytes()), a.chars().cmp(b.chars()));
        prop_assert_eq!(a.cmp(&b), a.chars().cmp(b.chars()));
    }
}

#[test]
fn byte_order_is_code_point_order_for_all_adjacent_scalars() {
    let mut last: Option<[u8; 4]> = None;
    for c in '\0'..=char::MAX {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes);
        assert!(last < Some(bytes) || c == '\0', "{c:?}");
        last = Some(bytes);
    }
}

// ---- pieces of limited length -------------------------------------------------------------------

#[test]
fn truncate_returns_the_longest_prefix_that_fits() {
    let text = "a¢€👋";
    let lengths: Vec<_> = (0..12).map(|limit| boundary::truncate(text, limit).len()).collect();
    assert_eq!(lengths, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10]);
    assert_eq!(boundary::truncate(text, usize::MAX), text);
    assert_eq!(boundary::truncate("", 7), "");
}

#[test]
#[should_panic(expected = "max_length must be at least 4, not 3")]
fn a_limit_below_four_bytes_panics() {
    let _pieces = boundary::at_most("ascii", 3);
}

#[test]
fn an_empty_text_has_no_pieces() {
    assert_eq!(boundary::at_most("", 4).next(), None);
}

proptest! {
    #[test]
    fn pieces_join_to_the_text_and_are_as_long_as_possible(text in any::<String>(), limit in 4_usize..20) {
        let pieces: Vec<_> = boundary::at_most(&text, limit).collect();
        prop_assert_eq!(pieces.concat(), &*text);
        for (n, piece) in pieces.iter().enumerate() {
            prop_assert!(!piece.is_empty() && piece.len() <= limit);
            if let Some(next) = pieces.get(n + 1).and_then(|next| next.chars().next()) {
                prop_assert!(piece.len() + next.len_utf8() > limit);
            }
        }
    }

    #[cfg(feature = "std")]
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
fn iterators_are_send_and_sync() {
    fn assert<T: Send + Sync + Unpin + Clone>(_: T) {}
    assert(boundary::at_most("text", 4));
    #[cfg(feature = "std")]
    assert(boundary::owned_at_most("text".into(), 4));
}

// ---- search -------------------------------------------------------------------------------------

#[cfg(any(feature = "codec", feature = "stream"))]
mod find {
    use proptest::prelude::*;
    use utf8_codec::search::TextFinder;

    /// Texts with many common substrings.
    fn text(most: usize) -> impl Strategy<Value = String> {
        let part =
            prop::sample::select(vec!["a", "b", "é", "è", "€", "₭", "😀", "😁", "ab", "aab"]);
        prop::collection::vec(part, 0..most).prop_map(|parts| parts.concat())
    }

    fn pieces<'a>(text: &'a str, lens: &[usize]) -> Vec<&'a str> {
        let mut rest = text;
        let mut pieces = Vec::new();
        for &len in lens.iter().cycle() {
            let end = rest.char_indices().map(|(at, _)| at).chain([rest.len()]).nth(len);
            let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
            pieces.push(piece);
            rest = after;
            if rest.is_empty() || lens.iter().all(|&len| len == 0) {
                break;
            }
        }
        pieces.push(rest);
        pieces
    }

    proptest! {
        #[test]
        fn matches_equal_std_at_any_split(
            haystack in text(40),
            needle in text(4),
            lens in prop::collection::vec(0_usize..5, 1..5),
        ) {
            let Some(mut finder) = TextFinder::new([&*needle]) else {
                prop_assert!(needle.is_empty());
                return Ok(());
            };
            let expected: Vec<_> =
                haystack.match_indices(&needle).map(|(at, _)| at as u64).collect();
            for pieces in [vec![&haystack[..]], pieces(&haystack, &[1]), pieces(&haystack, &lens)] {
                finder.reset();
                let mut found = Vec::new();
                for piece in pieces {
                    found.extend(finder.push(piece).map(|(_, at)| at));
                }
                prop_assert_eq!(&found, &expected);
                prop_assert_eq!(finder.position(), haystack.len() as u64);
                for at in found {
                    prop_assert!(haystack.is_char_boundary(at as usize));
                    prop_assert!(haystack.is_char_boundary(at as usize + needle.len()));
                }
            }
        }

        #[test]
        fn a_caller_can_stop_after_any_match(haystack in text(40), needle in text(3)) {
            prop_assume!(!needle.is_empty());
            let mut finder = TextFinder::new([&*needle]).unwrap();
            let (mut rest, mut found) = (&haystack[..], Vec::new());
            loop {
                let start = finder.position();
                let Some((_, at)) = finder.push(rest).next() else { break };
                rest = &rest[(finder.position() - start) as usize..];
                found.push(at);
            }
            let expected: Vec<_> =
                haystack.match_indices(&needle).map(|(at, _)| at as u64).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn no_match_spans_skipped_bytes(front in text(8), back in text(8), needle in text(3)) {
            prop_assume!(!needle.is_empty());
            let mut finder = TextFinder::new([&*needle]).unwrap();
            let mut found: Vec<_> = finder.push(&front).map(|(_, at)| at).collect();
            finder.skip(2);
            found.extend(finder.push(&back).map(|(_, at)| at));
            let separated = format!("{front}\0\0{back}");
            let expected: Vec<_> =
                separated.match_indices(&needle).map(|(at, _)| at as u64).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_position_saturates_at_u64_max() {
        let mut finder = TextFinder::new(["ab"]).unwrap();
        for skipped in [u64::MAX - 3, u64::MAX] {
            finder.skip(skipped);
            assert_eq!(finder.position(), skipped);
            assert_eq!(finder.push("-ab-ab-").count(), 2);
            assert_eq!(finder.push("no more").count(), 0);
            assert_eq!(finder.position(), u64::MAX);
        }
        finder.reset();
        assert_eq!(finder.push("ab").next(), Some((0, 0)));
    }

    #[test]
    fn a_finder_has_the_common_traits() {
        fn is_plain<T: Send + Sync + Unpin + std::fmt::Debug>() {}
        is_plain::<TextFinder>();
    }
}
