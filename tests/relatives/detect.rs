//! Detection while bytes arrive: the rules, at every split. `tests/random/plans.rs` has random input.

use crate::lists::detector::{Answer, answer, kind, so_far};

use utf8_codec::detect::{Detector, StreamKind};

fn detect<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (StreamKind, Answer) {
    let mut detector = Detector::new();
    for chunk in chunks {
        let kind = detector.push(chunk);
        assert_eq!(kind, detector.kind());
    }
    let so_far = answer(&detector);
    let kind = detector.finish();
    assert_eq!(detector.finish(), kind);
    assert!(detector.is_certain());
    (kind, so_far)
}

/// Checks the kind of every prefix, and that later kinds are among those announced before.
fn check(bytes: &[u8]) {
    let mut detector = Detector::new();
    let mut before = answer(&detector);
    let mut earlier = vec![before];
    for (at, byte) in bytes.iter().enumerate() {
        detector.push(&[*byte]);
        let now = answer(&detector);
        let seen = &bytes[..=at];
        assert_eq!(now, so_far(seen), "{seen:02x?}");
        assert_eq!(detect([seen]), (kind(seen), now), "{seen:02x?} in one chunk");
        for earlier in &earlier {
            let kept = earlier.0 == now.0 || earlier.1.contains(&now.0);
            assert!(kept, "{earlier:?} became {now:?} by {seen:02x?}");
        }
        assert!(!now.1.contains(&now.0));
        if now != before {
            earlier.push(now);
        }
        before = now;
    }
    assert_eq!(detector.position(), bytes.len() as u64);
    assert_eq!(detector.finish(), kind(bytes), "{bytes:02x?}");
}

const BYTES: [u8; 13] =
    [0x00, 0x07, 0x0A, 0x1B, 0x41, 0x82, 0xBB, 0xBF, 0xC3, 0xE2, 0xEF, 0xFE, 0xFF];

#[test]
fn rules_apply_to_all_strings_of_four_edge_bytes() {
    for len in 0..=4 {
        for index in 0..13_usize.pow(len) {
            let bytes: Vec<_> =
                (0..len).map(|place| BYTES[index / 13_usize.pow(place) % 13]).collect();
            check(&bytes);
        }
    }
}

#[test]
fn splits_do_not_affect_all_strings_of_four_edge_bytes() {
    for index in 0..13_usize.pow(4) {
        let bytes = [0, 1, 2, 3].map(|place| BYTES[index / 13_usize.pow(place) % 13]);
        let whole = detect([&bytes[..]]);
        for at in 0..=bytes.len() {
            let (a, b) = bytes.split_at(at);
            assert_eq!(detect([a, b"", b]), whole, "{bytes:02x?} at {at}");
        }
    }
}

#[test]
fn a_truncated_bom_is_not_a_bom() {
    let table: &[(&[u8], StreamKind)] = &[
        (b"\xFF\xFE", StreamKind::Utf16Le),
        (b"\xFF\xFE\0", StreamKind::Utf16Le),
        (b"\xFF\xFE\0\0", StreamKind::Utf32Le),
        (b"\xFE\xFF", StreamKind::Utf16Be),
        (b"\0\0\xFE\xFF", StreamKind::Utf32Be),
        (b"\xEF\xBB\xBF", StreamKind::Utf8WithBom),
        (b"\xEF\xBB", StreamKind::Legacy),
        (b"\xEF", StreamKind::Legacy),
        (b"\xFF", StreamKind::Legacy),
        (b"\xFE", StreamKind::Legacy),
        (b"\0", StreamKind::Binary),
        (b"\0\0", StreamKind::Binary),
        (b"\0\0\xFE", StreamKind::Binary),
    ];
    for &(bytes, kind) in table {
        assert_eq!(detect([bytes]).0, kind, "{bytes:02x?}");
    }
}

#[test]
fn display_lists_the_kind_and_its_successors() {
    let mut detector = Detector::new();
    assert!(detector.to_string().starts_with("empty so far; may become ASCII, UTF-8, "));
    let words = |bytes| {
        let mut detector = Detector::new();
        detector.push(bytes);
        detector.to_string()
    };
    assert_eq!(words(b"a"), "ASCII so far; may become UTF-8, legacy or binary");
    assert_eq!(words(b"a\xFF"), "legacy so far; may become binary");
    assert_eq!(words(b"a\0"), "binary");
    assert_eq!(detector.finish().to_string(), "empty");
}

#[test]
fn types_are_send_sync_unpin_clone_and_debug() {
    fn is_plain<T: Send + Sync + Unpin + Clone + std::fmt::Debug>() {}
    is_plain::<Detector>();
    is_plain::<StreamKind>();
}

#[cfg(feature = "chardetng")]
mod guesses {
    use utf8_codec::detect::{Detector, StreamKind};

    const TEXTS: [(&str, &str); 5] = [
        ("windows-1251", "Съешь ещё этих мягких французских булок, да выпей чаю"),
        ("Shift_JIS", "いろはにほへと ちりぬるを、日本語の文章です。"),
        ("EUC-KR", "키스의 고유조건은 입술끼리 만나야 하고"),
        ("GBK", "我能吞下玻璃而不伤身体，这是一个测试。"),
        ("windows-1252", "Où l'obèse jury mûr fête un whisky à côté"),
    ];

    #[test]
    fn a_guess_does_not_depend_on_splits() {
        for (name, text) in TEXTS {
            let encoding = encoding_rs::Encoding::for_label(name.as_bytes()).unwrap();
            let bytes = encoding.encode(text).0;
            for size in 1..=bytes.len() {
                let mut guesser = Detector::new().with_guesser();
                for chunk in bytes.chunks(size) {
                    guesser.push(chunk);
                    guesser.push(b"");
                }
                assert_eq!(guesser.finish(), StreamKind::Legacy);
                assert_eq!(guesser.finish(), StreamKind::Legacy);
                assert_eq!(guesser.guess(None).unwrap().name(), name, "{size}");
            }
        }
    }

    #[test]
    fn only_legacy_input_has_a_guess_and_no_label_panics() {
        for bytes in [&b"ascii"[..], "Grüße".as_bytes(), b"\xFF\xFEa\0", b"\0\xE9"] {
            let mut guesser = Detector::new().with_guesser();
            guesser.push(bytes);
            guesser.finish();
            assert_eq!(guesser.guess(None), None);
        }
        let mut guesser = Detector::new().with_guesser();
        guesser.push(b"caf\xE9 ");
        guesser.finish();
        guesser.push(b"more, after the end");
        for label in ["", ".", "JP", "a.b", "日本", "xn--p1ai", " "] {
            assert!(guesser.guess(Some(label)).is_some());
        }
    }

    #[test]
    fn detection_is_the_same_with_a_guesser_and_a_guess_needs_one() {
        for bytes in [&b"caf\xE9."[..], b"\xFF", b"\xFF\xFEa\0", b"text\0\xE9", b""] {
            let (mut plain, mut guessing) = (Detector::new(), Detector::new().with_guesser());
            for byte in bytes.chunks(1) {
                assert_eq!(guessing.push(byte), plain.push(byte));
                assert_eq!(guessing.may_become(), plain.may_become());
            }
            assert_eq!((plain.guess(None), guessing.finish()), (None, plain.finish()));
            assert_eq!(guessing.guess(None).is_some(), guessing.kind() == StreamKind::Legacy);
            assert_eq!(guessing.position(), plain.position());
        }
    }

    #[test]
    fn a_new_stream_is_guessed_after_reset() {
        let mut guesser = Detector::new().with_guesser();
        for (name, text) in TEXTS {
            let encoding = encoding_rs::Encoding::for_label(name.as_bytes()).unwrap();
            guesser.push(&encoding.encode(text).0);
            guesser.finish();
            assert_eq!(guesser.guess(None).unwrap().name(), name);
            guesser.reset();
            assert_eq!((guesser.guess(None), guesser.position()), (None, 0));
        }
    }

    #[test]
    fn a_clone_guesses_if_the_stream_has_not_begun() {
        let mut original = Detector::new().with_guesser();
        original.push(b"");
        let mut copy = original.clone();
        for detector in [&mut original, &mut copy] {
            detector.push(b"caf\xE9 ");
            assert!(detector.guess(None).is_some());
        }
        let mut late = original.clone();
        assert_eq!((late.push(b"."), late.guess(None)), (StreamKind::Legacy, None));
        late.reset();
        late.push(b"caf\xE9 ");
        assert!(late.guess(None).is_some());
    }

    #[test]
    fn a_detector_with_a_guesser_is_send_sync_unpin_and_debug() {
        fn is_plain<T: Send + Sync + Unpin + std::fmt::Debug>() {}
        is_plain::<Detector>();
        let mut detector = Detector::new().with_guesser();
        detector.push(b"ab");
        assert!(format!("{detector:?}").contains("Guesser { position: 2, .. }"));
    }
}
