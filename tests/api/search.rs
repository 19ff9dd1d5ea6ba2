//! One needle and several, compared with a search of the whole text.
#![cfg(feature = "alloc")]

use utf8_codec::search::{TextFinder, TextSetFinder};

/// The matches and what may begin one at the end, by definition.
fn model(needles: &[&str], text: &str) -> (Vec<(usize, u64)>, usize) {
    let (mut matches, mut from) = (Vec::new(), 0);
    for end in 1..=text.len() {
        let ends_here = |needle: &str| text.as_bytes()[from..end].ends_with(needle.as_bytes());
        let found = (0..needles.len()).filter(|&index| ends_here(needles[index]));
        // If needles are equal, the first one.
        if let Some(index) = found.rev().max_by_key(|&index| needles[index].len()) {
            matches.push((index, (end - needles[index].len()) as u64));
            from = end;
        }
    }
    let rest = &text.as_bytes()[from..];
    let begins = |len: &usize| {
        let tail = &rest[rest.len() - len..];
        needles.iter().any(|needle| needle.len() > *len && needle.as_bytes().starts_with(tail))
    };
    (matches, (0..=rest.len()).rev().find(begins).unwrap_or(0))
}

const SETS: [&[&str]; 8] = [
    &["a"],
    &["abaab"],
    &["éaé"],
    &["ab", "b"],
    &["b", "aab", "ab"],
    &["abab", "ba", "bab"],
    &["é", "aé", "éb"],
    &["aaaa", "ab", "ab"],
];

#[test]
fn needles_are_found_in_every_text_at_every_pair_of_cuts() {
    for needles in SETS {
        for number in 0..3_usize.pow(7) {
            let letters = (0..7).map(|place| ["a", "b", "é"][number / 3_usize.pow(place) % 3]);
            let text: String = letters.collect();
            let expected = model(needles, &text);
            let new = TextSetFinder::new(needles.iter().copied()).unwrap();
            let cuts = || (0..=text.len()).filter(|&at| text.is_char_boundary(at));
            for (first, second) in
                cuts().flat_map(|first| cuts().map(move |second| (first, second)))
            {
                let Some(middle) = text.get(first..second) else { continue };
                let (mut finder, mut found) = (new.clone(), Vec::new());
                for piece in ["", &text[..first], middle, "", &text[second..], ""] {
                    found.extend(finder.push(piece));
                }
                let at = [first, second];
                assert_eq!(
                    (&found, finder.begun()),
                    (&expected.0, expected.1),
                    "{needles:?} in {text} at {at:?}"
                );
                assert_eq!(finder.position(), text.len() as u64);
                let &[needle] = needles else { continue };
                let (mut finder, mut found) = (TextFinder::new(needle).unwrap(), Vec::new());
                for piece in ["", &text[..first], middle, "", &text[second..], ""] {
                    found.extend(finder.push(piece).map(|at| (0, at)));
                }
                assert_eq!(
                    (&found, finder.begun()),
                    (&expected.0, expected.1),
                    "{needle} in {text} at {at:?}"
                );
            }
        }
    }
}

#[test]
fn several_needles_are_found_in_long_texts_in_pieces_of_every_size() {
    let text = format!("{}ab{}é\u{1F44B}aab", "a b ".repeat(200), "ba".repeat(40));
    for needles in [&["aab", "baba", "👋a", "never"][..], &["never", "b"]] {
        let expected = model(needles, &text);
        for size in [1, 2, 5, 31, 32, 33, 100, 5000] {
            let mut finder = TextSetFinder::new(needles.iter().copied()).unwrap();
            let chars: Vec<char> = text.chars().collect();
            let pieces = chars.chunks(size).map(String::from_iter);
            let found: Vec<_> =
                pieces.flat_map(|piece| finder.push(&piece).collect::<Vec<_>>()).collect();
            assert_eq!((found, finder.begun()), expected, "{needles:?} {size}");
        }
    }
}

#[test]
fn a_set_finder_requires_needles_skips_and_resets() {
    assert!(TextSetFinder::new([]).is_none());
    assert!(TextSetFinder::new(["a", ""]).is_none());
    let mut finder = TextSetFinder::new(["ab", "cd"]).unwrap();
    assert_eq!(finder.push("abxc").next(), Some((0, 0)));
    assert_eq!((finder.position(), finder.begun()), (2, 0));
    assert_eq!(finder.push("xc").next(), None);
    finder.skip(1);
    assert_eq!(finder.push("dcd").collect::<Vec<_>>(), [(1, 6)]);
    finder.reset();
    assert_eq!(finder.push("cd").collect::<Vec<_>>(), [(1, 0)]);
    finder.skip(u64::MAX);
    assert_eq!(finder.push("ab").count(), 1);
    assert_eq!(finder.position(), u64::MAX);
}
