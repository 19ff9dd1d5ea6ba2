//! The public types that do no input or output.

mod boundary;
#[cfg(feature = "alloc")]
mod contract;
#[cfg(all(feature = "codec", feature = "stream", feature = "http-body"))]
mod error_chains;
#[cfg(feature = "alloc")]
#[path = "../support/incremental_decoder.rs"]
mod incremental_decoder;
#[path = "../support/lists.rs"]
mod lists;
mod messages;
mod protocols;
#[cfg(feature = "serde")]
mod serde;
mod traits;

mod search {
    //! One needle and several, compared with a search of the whole text.
    #![cfg(feature = "alloc")]

    use utf8_codec::search::TextFinder;

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
                let new = TextFinder::new(needles.iter().copied()).unwrap();
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
                let mut finder = TextFinder::new(needles.iter().copied()).unwrap();
                let chars: Vec<char> = text.chars().collect();
                let pieces = chars.chunks(size).map(String::from_iter);
                let found: Vec<_> =
                    pieces.flat_map(|piece| finder.push(&piece).collect::<Vec<_>>()).collect();
                assert_eq!((found, finder.begun()), expected, "{needles:?} {size}");
            }
        }
    }

    #[test]
    fn a_finder_requires_needles_skips_and_resets() {
        assert!(TextFinder::new([]).is_none());
        assert!(TextFinder::new(["a", ""]).is_none());
        let mut finder = TextFinder::new(["ab", "cd"]).unwrap();
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
}

mod slices {
    //! The functions for whole slices, and `Utf8Decoder::push_lossy`, compared with std.

    use std::iter;

    use utf8_codec::{Utf8ErrorKind, count_chars, from_utf8};

    /// A byte of each kind that decoding distinguishes.
    const BYTES: [u8; 20] = [
        0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBB, 0xBF, 0xC1, 0xC2, 0xE0, 0xE2, 0xED,
        0xEF, 0xF0, 0xF1, 0xF4, 0xFF,
    ];

    /// Every string of up to `most` of these bytes.
    fn strings(most: u32) -> impl Iterator<Item = Vec<u8>> {
        let count = BYTES.len();
        (0..=most).flat_map(move |len| {
            (0..count.pow(len)).map(move |number| {
                let digits = iter::successors(Some(number), |number| Some(number / count));
                digits.take(len as usize).map(|digit| BYTES[digit % count]).collect()
            })
        })
    }

    /// Each string alone, and after and before text that is longer than a vector.
    fn inputs() -> impl Iterator<Item = Vec<u8>> {
        let long = "zwölf Boxkämpfer, ".repeat(12);
        strings(3).flat_map(move |bytes| {
            let within = [long.as_bytes(), &bytes, long.as_bytes()].concat();
            let at_end = [long.as_bytes(), &bytes].concat();
            [bytes, within, at_end]
        })
    }

    #[test]
    fn from_utf8_agrees_with_std() {
        for bytes in inputs() {
            match (from_utf8(&bytes), str::from_utf8(&bytes)) {
                (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs),
                (Err(ours), Err(theirs)) => {
                    assert_eq!(ours.valid_up_to(), theirs.valid_up_to() as u64, "{bytes:02x?}");
                    assert_eq!(ours.error_len(), theirs.error_len(), "{bytes:02x?}");
                    let bytes = &bytes[theirs.valid_up_to()..];
                    assert_eq!(ours.bytes(), &bytes[..theirs.error_len().unwrap_or(bytes.len())]);
                    let is_incomplete = ours.kind() == Utf8ErrorKind::Incomplete;
                    assert_eq!(is_incomplete, theirs.error_len().is_none());
                    let next = theirs.error_len().and_then(|len| bytes.get(len)).copied();
                    if let Some(shown) = ours.next_byte() {
                        assert_eq!(Some(shown), next, "{bytes:02x?}");
                    }
                }
                (ours, theirs) => panic!("{ours:?} but {theirs:?} for {bytes:02x?}"),
            }
        }
    }

    #[test]
    fn count_chars_agrees_with_std() {
        for bytes in inputs() {
            let text = String::from_utf8_lossy(&bytes);
            assert_eq!(count_chars(&text), text.chars().count(), "{text:?}");
        }
    }

    #[cfg(feature = "alloc")]
    mod lossy {
        use std::borrow::Cow;

        use super::{inputs, strings};
        use utf8_codec::{
            BomPolicy, ErrorMode, Utf8Decoder, Utf8Error, Utf8Options, from_utf8_lossy,
        };

        /// Decodes `chunks` one after another with `push_lossy`.
        fn push_all(decoder: &mut Utf8Decoder, chunks: &[&[u8]]) -> String {
            let mut text: String = chunks.iter().map(|chunk| decoder.push_lossy(chunk)).collect();
            decoder.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
            text
        }

        #[test]
        fn from_utf8_lossy_agrees_with_std() {
            for bytes in inputs() {
                let (ours, theirs) = (from_utf8_lossy(&bytes), String::from_utf8_lossy(&bytes));
                assert_eq!(ours, theirs, "{bytes:02x?}");
                assert_eq!(matches!(ours, Cow::Borrowed(_)), matches!(theirs, Cow::Borrowed(_)));
            }
        }

        #[test]
        fn push_lossy_at_every_two_cuts_agrees_with_std() {
            let endings: Vec<_> = strings(2).collect();
            for bytes in strings(3) {
                let ending =
                    &endings[bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>() % 400];
                let bytes = [&bytes, "€ü".as_bytes(), ending].concat();
                let expected = String::from_utf8_lossy(&bytes);
                for first in 0..=bytes.len() {
                    for second in first..=bytes.len() {
                        let chunks = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                        let text = push_all(&mut Utf8Decoder::new(), &chunks);
                        assert_eq!(text, expected, "{chunks:02x?}");
                    }
                }
            }
        }

        #[test]
        fn push_lossy_counts_errors_and_bytes_like_push_to_string() {
            let options = Utf8Options::new();
            for options in [
                options,
                options.with_bom(BomPolicy::Strip),
                options.with_bom(BomPolicy::Require),
                options.with_bom(BomPolicy::Forbid),
                options.with_mid_stream_start(),
                options.reject_nul(),
            ] {
                for bytes in
                    strings(3).chain(strings(2).map(|end| [b"\xEF\xBB\xBFa\0", &*end].concat()))
                {
                    for cut in 0..=bytes.len() {
                        let (first, second) = bytes.split_at(cut);
                        let mut ours = Utf8Decoder::new().with_options(options);
                        let mut other = ours.clone();
                        let mut expected = String::new();
                        for chunk in [first, second] {
                            let _done =
                                other.push_to_string(chunk, ErrorMode::Replacement, &mut expected);
                        }
                        other.finish_to_string(ErrorMode::Replacement, &mut expected).unwrap();
                        let text = push_all(&mut ours, &[first, second]);
                        assert_eq!(text, expected, "{options:?} {first:02x?} {second:02x?}");
                        let seen = |decoder: &Utf8Decoder| -> (u64, Option<Utf8Error>, u64, bool) {
                            let errors = (decoder.error_count(), decoder.first_error());
                            (errors.0, errors.1, decoder.position(), decoder.bom_seen())
                        };
                        assert_eq!(
                            seen(&ours),
                            seen(&other),
                            "{options:?} {first:02x?} {second:02x?}"
                        );
                    }
                }
            }
        }

        #[test]
        fn push_lossy_borrows_unless_bytes_are_held_or_ill_formed() {
            let mut decoder = Utf8Decoder::new();
            assert!(matches!(decoder.push_lossy(b""), Cow::Borrowed("")));
            assert!(matches!(decoder.push_lossy("größer".as_bytes()), Cow::Borrowed("größer")));
            assert!(matches!(decoder.push_lossy(b"5 \xE2\x82"), Cow::Borrowed("5 ")));
            assert!(matches!(decoder.push_lossy(b"\xAC!"), Cow::Owned(text) if text == "€!"));
            assert!(matches!(decoder.push_lossy(b"again"), Cow::Borrowed("again")));
            assert!(
                matches!(decoder.push_lossy(b"a\xFFb"), Cow::Owned(text) if text == "a\u{FFFD}b")
            );
            assert!(matches!(decoder.push_lossy(b"after"), Cow::Borrowed("after")));

            let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
            let mut decoder = Utf8Decoder::new().with_options(strip);
            assert!(matches!(decoder.push_lossy(b"\xEF\xBB\xBFtext"), Cow::Borrowed("text")));
        }

        #[test]
        fn push_lossy_after_errors_keeps_long_text_whole() {
            for text in ["a", "größer, ", "5 €, ", "\u{1F600}"].map(|text| text.repeat(100)) {
                for chunks in
                    [[&b"a\xFF\xFFb"[..], text.as_bytes()], [text.as_bytes(), b"\xFF\xE2"]]
                {
                    let bytes = [chunks[0], chunks[1], chunks[0], text.as_bytes()].concat();
                    let chunks = [chunks[0], chunks[1], chunks[0], text.as_bytes()];
                    let decoded = push_all(&mut Utf8Decoder::new(), &chunks);
                    assert_eq!(decoded, String::from_utf8_lossy(&bytes));
                }
            }
        }

        #[test]
        fn long_ascii_after_held_bytes_and_under_policies_is_decoded_like_short_chunks() {
            let ascii = [&[b'a'; 150][..], b"\0", &[b'b'; 150]].concat();
            let options = Utf8Options::new();
            for options in [
                options,
                options.with_bom(BomPolicy::Require),
                options.with_mid_stream_start(),
                options.reject_nul(),
            ] {
                for before in [&b""[..], b"\xC3", b"\xEF\xBB", b"\xF0\x9F\x98", b"\xFF"] {
                    let decode = |chunks: &[&[u8]]| {
                        let mut decoder = Utf8Decoder::new().with_options(options);
                        let (mut chars, mut units) = ([' '; 1000], [0; 1000]);
                        let (mut of_chars, mut of_units) = (decoder.clone(), decoder.clone());
                        let (mut text, mut char_count, mut unit_count) = (String::new(), 0, 0);
                        for chunk in chunks {
                            let mode = ErrorMode::Escape;
                            let progress = decoder.push_to_string(chunk, mode, &mut text);
                            assert_eq!(progress.read, chunk.len());
                            let chars = &mut chars[char_count..];
                            char_count += of_chars.push_to_chars(chunk, mode, chars).written;
                            let units = &mut units[unit_count..];
                            unit_count += of_units.push_to_utf16(chunk, mode, units).written;
                        }
                        let chars: String = chars[..char_count].iter().collect();
                        assert_eq!(chars, text);
                        assert_eq!(String::from_utf16(&units[..unit_count]).unwrap(), text);
                        let errors =
                            |decoder: &Utf8Decoder| (decoder.error_count(), decoder.first_error());
                        assert_eq!(errors(&of_chars), errors(&decoder));
                        assert_eq!(errors(&of_units), errors(&decoder));
                        (text, errors(&decoder))
                    };
                    let whole = [before, &ascii].concat();
                    let bytes: Vec<&[u8]> = whole.chunks(1).collect();
                    assert_eq!(
                        decode(&[before, &ascii]),
                        decode(&bytes),
                        "{options:?} {before:02x?}"
                    );
                }
            }
        }
    }
}

mod destinations {
    //! Decoding into slices of bytes, `char`s and UTF-16 units, and encoding `char`s, with destinations of every size.

    use utf8_codec::decoder::{Progress, Status};
    use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Encoder, Utf8Options};

    use crate::lists::{FILLS, Random, fill_to};

    /// Values that no test expects to be written.
    const CHAR: char = '\u{E123}';
    const UNIT: u16 = 0xE123;
    const BYTE: u8 = 0xAA;

    /// How to decode into slices of one type.
    struct Destination<T> {
        blank: T,
        of: fn(&str) -> Vec<T>,
        decode: fn(&mut Utf8Decoder, &[u8], ErrorMode, &mut [T]) -> Progress,
        finish: fn(&mut Utf8Decoder, ErrorMode, &mut [T]) -> Progress,
    }

    const BYTES: Destination<u8> = Destination {
        blank: BYTE,
        of: |text| text.into(),
        decode: Utf8Decoder::push_to_slice,
        finish: Utf8Decoder::finish_to_slice,
    };

    const CHARS: Destination<char> = Destination {
        blank: CHAR,
        of: |text| text.chars().collect(),
        decode: Utf8Decoder::push_to_chars,
        finish: Utf8Decoder::finish_to_chars,
    };

    const UNITS: Destination<u16> = Destination {
        blank: UNIT,
        of: |text| text.encode_utf16().collect(),
        decode: Utf8Decoder::push_to_utf16,
        finish: Utf8Decoder::finish_to_utf16,
    };

    /// The first character of the second chunk ends the held bytes. It does not fit after their repair.
    #[test]
    fn a_repair_of_held_bytes_can_fill_the_destination() {
        let mut decoder = Utf8Decoder::new();
        let mut chars = ['\0'];
        let progress = decoder.push_to_chars(b"\xE2\x82", ErrorMode::Replacement, &mut chars);
        assert_eq!((progress.read, progress.held, progress.written), (2, 2, 0));
        let progress = decoder.push_to_chars(b"ab", ErrorMode::Replacement, &mut chars);
        assert_eq!((progress.read, progress.held, progress.written), (0, 0, 1));
        assert_eq!((progress.status, chars), (Status::Full, ['\u{FFFD}']));

        let chunks = [&b"\xE2\x82"[..], b"ab"];
        assert_eq!(CHARS.through(&chunks, ErrorMode::Replacement, 1), ['\u{FFFD}', 'a', 'b']);
    }

    impl<T: Copy + PartialEq> Destination<T> {
        /// Decodes `chunks` into destinations of `size` units and checks what each call reports. Returns all
        /// output.
        fn through(&self, chunks: &[&[u8]], mode: ErrorMode, size: usize) -> Vec<T> {
            let mut decoder = Utf8Decoder::new();
            let mut written = Vec::new();
            let mut consumed = 0;
            for chunk in chunks {
                let mut rest = *chunk;
                loop {
                    let mut out = vec![self.blank; size];
                    let progress = (self.decode)(&mut decoder, rest, mode, &mut out);
                    let used = progress.read;
                    consumed += used;
                    rest = &rest[used..];
                    written.extend_from_slice(&out[..progress.written]);
                    assert_eq!(decoder.position(), consumed as u64);
                    match progress.status {
                        Status::Done => break assert!(rest.is_empty()),
                        Status::Full => assert!(used > 0 || progress.written > 0, "no progress"),
                        Status::TooSmall { needed } => {
                            panic!("{needed} units needed, there are {size}")
                        }
                        status => panic!("{status:?}"),
                    }
                }
            }
            let mut out = vec![self.blank; 16];
            let progress = (self.finish)(&mut decoder, mode, &mut out);
            assert_eq!(progress.status, Status::Done);
            written.extend_from_slice(&out[..progress.written]);
            written
        }
    }

    fn through_all(bytes: &[u8], mode: ErrorMode, expected: &str) {
        for size in [16, 17, 64, 100, 1000] {
            for step in [1, 3, 64, 333, bytes.len().max(1)] {
                let chunks: Vec<_> = bytes.chunks(step).collect();
                let context = format!("{size}, {step}");
                assert!(BYTES.through(&chunks, mode, size) == (BYTES.of)(expected), "{context}");
                assert!(CHARS.through(&chunks, mode, size) == (CHARS.of)(expected), "{context}");
                assert!(UNITS.through(&chunks, mode, size) == (UNITS.of)(expected), "{context}");
            }
        }
    }

    #[test]
    fn small_destinations_decode_as_one_call() {
        for fill in FILLS {
            let text = fill_to(fill, 900);
            through_all(text.as_bytes(), ErrorMode::Fatal, &text);
            // Split inside a character.
            for cut in 890..text.len() {
                let bytes = &text.as_bytes()[..cut];
                let expected = String::from_utf8_lossy(bytes);
                through_all(bytes, ErrorMode::Replacement, &expected);
            }
        }
    }

    #[test]
    fn repairs_are_written_in_units_of_the_destination() {
        let mut random = Random(7);
        let alphabet = [b'a', b'b', 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0x80, 0xFF];
        for _ in 0..200 {
            let bytes: Vec<u8> =
                (0..random.below(300)).map(|_| alphabet[random.below(alphabet.len())]).collect();
            through_all(&bytes, ErrorMode::Replacement, &String::from_utf8_lossy(&bytes));
            let mut escaped = String::new();
            for part in bytes.utf8_chunks() {
                escaped.push_str(part.valid());
                escaped.extend(part.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
            }
            through_all(&bytes, ErrorMode::Escape, &escaped);
        }
    }

    #[test]
    fn needed_is_the_size_of_the_next_character() {
        let two = "éé".as_bytes();
        let mut decoder = Utf8Decoder::new();
        let status = decoder.push_to_slice(two, ErrorMode::Fatal, &mut [0; 1]).status;
        assert_eq!(status, Status::TooSmall { needed: 2 });
        let status = decoder.push_to_chars(two, ErrorMode::Fatal, &mut []).status;
        assert_eq!(status, Status::TooSmall { needed: 1 });
        let status = decoder.push_to_utf16("😀é".as_bytes(), ErrorMode::Fatal, &mut [0; 1]).status;
        assert_eq!(status, Status::TooSmall { needed: 2 });
        let status = decoder.push_to_utf16(b"\xFF", ErrorMode::Escape, &mut [0; 3]).status;
        assert_eq!(status, Status::TooSmall { needed: 4 });
        assert_eq!((decoder.position(), decoder.error_count()), (0, 0));
        // An empty chunk needs no room.
        let status = decoder.push_to_chars(b"", ErrorMode::Fatal, &mut []).status;
        assert_eq!(status, Status::Done);
    }

    #[test]
    fn the_longest_repair_needs_sixteen_units() {
        let options = Utf8Options::new().reject_noncharacters();
        let rejected = "\u{10FFFF}".as_bytes();
        for room in 0..=17 {
            let mut decoder = Utf8Decoder::new().with_options(options);
            let mut buffer = [0; 17];
            let progress = decoder.push_to_slice(rejected, ErrorMode::Escape, &mut buffer[..room]);
            if room < 16 {
                assert_eq!(progress.status, Status::TooSmall { needed: 16 }, "{room}");
                assert_eq!((decoder.position(), decoder.error_count()), (0, 0), "{room}");
            } else {
                assert_eq!((progress.status, progress.written), (Status::Done, 16), "{room}");
                assert_eq!(&buffer[..16], br"\xf4\x8f\xbf\xbf");
            }
        }
    }

    #[test]
    fn a_split_character_needs_its_full_room() {
        let mut decoder = Utf8Decoder::new();
        let mut units = [UNIT; 1];
        let progress = decoder.push_to_utf16(b"\xF0\x9F", ErrorMode::Fatal, &mut units);
        assert_eq!((progress.read, progress.held, progress.status), (2, 2, Status::Done));
        let progress = decoder.push_to_utf16(b"\x98\x80", ErrorMode::Fatal, &mut units);
        assert_eq!((progress.read, progress.status), (0, Status::TooSmall { needed: 2 }));
        assert_eq!((units, decoder.incomplete()), ([UNIT], &b"\xF0\x9F"[..]));
        let mut units = [UNIT; 2];
        let progress = decoder.push_to_utf16(b"\x98\x80", ErrorMode::Fatal, &mut units);
        assert_eq!((progress.read, progress.written, progress.status), (2, 2, Status::Done));
        assert_eq!(units, [0xD83D, 0xDE00]);
    }

    #[test]
    fn a_fatal_error_follows_the_text_before_it() {
        for before in 0..200 {
            let text = fill_to("aé€😀", before);
            let bytes = [text.as_bytes(), b"\xFF", b"z"].concat();
            let mut out = vec![CHAR; 300];
            let mut decoder = Utf8Decoder::new();
            let progress = decoder.push_to_chars(&bytes, ErrorMode::Fatal, &mut out);
            let Status::IllFormed(error) = progress.status else { panic!("{progress:?}") };
            assert_eq!(error.valid_up_to(), text.len() as u64);
            assert_eq!(progress.read, text.len() + 1);
            assert!(text.chars().eq(out[..progress.written].iter().copied()));
        }
    }

    #[test]
    fn small_buffers_encode_as_one_call() {
        for fill in FILLS {
            let chars: Vec<char> = fill_to(fill, 900).chars().collect();
            let expected = [b"\xEF\xBB\xBF", String::from_iter(&chars).as_bytes()].concat();
            for size in [4, 5, 7, 64, 100, 1000] {
                let mut encoder = Utf8Encoder::new().with_bom();
                let (mut rest, mut wire) = (&chars[..], Vec::new());
                loop {
                    let mut buffer = vec![BYTE; size];
                    let progress = encoder.push_chars_to_slice(rest, &mut buffer);
                    wire.extend_from_slice(&buffer[..progress.written]);
                    rest = &rest[progress.read..];
                    match progress.status {
                        Status::Done => break,
                        Status::Full => assert!(size - progress.written < 4),
                        status => panic!("{status:?}"),
                    }
                }
                assert!(wire == expected, "{fill:?} through {size}");
            }
        }
    }
}
