//! Every level of this machine, compared with the standard library.

mod convert;
mod guard;
mod pairs;
#[path = "../support/mod.rs"]
mod support;
mod utf16;
mod validate;

mod find {
    //! Finding one of two bytes: every level of this machine, and the finder that remembers, compared with plain loops.

    use utf8_simd::{ByteFinder, Level};

    use crate::support::Random;

    /// The masks of a loop.
    fn masks(blocks: &[[u8; 64]], needles: [u8; 2]) -> Vec<u64> {
        let is_match = |byte: &u8| u64::from(needles.contains(byte));
        let mask =
            |block: &[u8; 64]| block.iter().rev().fold(0, |mask, byte| mask << 1 | is_match(byte));
        blocks.iter().map(mask).collect()
    }

    #[test]
    fn every_pair_of_bytes_is_found_among_all_bytes_at_every_level() {
        let bytes: Vec<u8> = (0..=255).collect();
        let (blocks, []) = bytes.as_chunks::<64>() else { panic!("256 bytes are blocks") };
        for level in Level::available() {
            for (a, b) in (0..=255).flat_map(|a| (0..=255).map(move |b| (a, b))) {
                let mut found = [0x5A; 4];
                level.byte_masks(blocks, [a, b], &mut found);
                let mut expected = [0; 4];
                for needle in [a, b] {
                    expected[usize::from(needle / 64)] |= 1 << (needle % 64);
                }
                assert_eq!(found, expected, "{}: {a:02x} {b:02x}", level.name());
            }
        }
    }

    #[test]
    fn any_number_of_blocks_and_masks_is_allowed_at_every_level() {
        let mut random = Random(1);
        let bytes: Vec<u8> = (0..64 * 20).map(|_| b"\r\nab"[random.below(4)]).collect();
        let (blocks, []) = bytes.as_chunks::<64>() else { panic!("they are blocks") };
        for level in Level::available() {
            for (len, room) in (0..=20).flat_map(|len| (0..=20).map(move |room| (len, room))) {
                let mut found = vec![0x5A; room];
                level.byte_masks(&blocks[..len], *b"\r\n", &mut found);
                let mut expected = masks(&blocks[..len.min(room)], *b"\r\n");
                expected.resize(room, 0x5A);
                assert_eq!(found, expected, "{}: {len} blocks, {room} masks", level.name());
            }
        }
    }

    /// The matches that the finder returns. It returns none after the last.
    fn found(bytes: &[u8], [a, b]: [u8; 2]) -> Vec<usize> {
        let mut finder = ByteFinder::new(a, b);
        let found = std::iter::from_fn(|| finder.next(bytes)).collect();
        assert_eq!((finder.next(bytes), finder.next(bytes)), (None, None));
        found
    }

    #[test]
    fn the_finder_finds_what_a_loop_finds_at_every_length_and_density() {
        let mut random = Random(1);
        for needles in [*b"\r\n", *b"\n\n", [0, 0], [0, 0xFF]] {
            for (len, one_in) in
                (0..=1200).flat_map(|len| [1, 2, 70, 900].map(|one_in| (len, one_in)))
            {
                let mut byte = || match random.below(one_in) {
                    0 => needles[random.below(2)],
                    _ => b"a\x0B\x01\x80"[random.below(4)],
                };
                let bytes: Vec<u8> = (0..len).map(|_| byte()).collect();
                let expected = bytes.iter().enumerate();
                let expected =
                    expected.filter(|(_, byte)| needles.contains(byte)).map(|(at, _)| at);
                let expected: Vec<_> = expected.collect();
                assert_eq!(found(&bytes, needles), expected, "{needles:02x?} in {bytes:02x?}");
            }
        }
    }

    #[test]
    fn the_finder_finds_a_byte_at_every_index_of_every_length() {
        for len in 0..=700 {
            let mut bytes = vec![b'.'; len];
            assert_eq!(found(&bytes, *b"\r\n"), [0; 0]);
            for at in 0..len {
                bytes[at] = b'\n';
                assert_eq!(found(&bytes, *b"\r\n"), [at], "{len}");
                bytes[at] = b'.';
            }
        }
    }
}

#[cfg(feature = "bytes")]
mod hostile {
    //! The text containers under hostile callers: no text is ill-formed, and nothing outside the memory is accessed.

    use std::mem;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use utf8_simd::Level;
    use utf8_simd::text::{
        BlockPart, BlockParts, GatheredText, OneWrite, ReadBuffer, Repairs, Replaced, ShortText,
        SortedBlock, TextOutput, split_line,
    };

    fn panics<R>(run: impl FnOnce() -> R) -> bool {
        catch_unwind(AssertUnwindSafe(run)).is_err()
    }

    /// Bytes of which many are errors, the same on each call.
    fn hostile_bytes(len: usize) -> Vec<u8> {
        const BYTES: &[u8] = b"a\x80\xBF\xC2\xE0\x9F\xED\xA0\xF0\x90\xF4\x8F\xFF\xE2\x82\xAC";
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        let next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            BYTES[state as usize % BYTES.len()]
        };
        std::iter::repeat_with(next).take(len).collect()
    }

    /// Repairs of the longest text, for every byte.
    struct Longest;

    impl Repairs for Longest {
        const REPLACED: Replaced = Replaced::EachByte;

        fn repair(&self, _: u8) -> ShortText {
            ShortText::from_char('😀')
        }
    }

    /// Repairs that panic at the third part.
    struct Panicking(std::cell::Cell<u8>);

    impl Repairs for Panicking {
        const REPLACED: Replaced = Replaced::Part;

        fn repair(&self, _: u8) -> ShortText {
            ShortText::REPLACEMENT
        }

        fn note(&self, _: &[u8]) {
            self.0.set(self.0.get() + 1);
            assert!(self.0.get() < 3, "the third part");
        }
    }

    /// A string with room for one step and nothing else.
    fn room_for_a_step() -> String {
        let mut text = String::new();
        text.reserve_exact(TextOutput::STEP + 1);
        text
    }

    /// What one step makes of a write, as bytes: what is not text cannot be printed as text.
    fn one_step(write: impl FnOnce(OneWrite<'_, '_>)) -> Vec<u8> {
        let mut text = room_for_a_step();
        let mut out = TextOutput::new(&mut text, 1).unwrap();
        write(out.step().unwrap().push_ascii(b"12345678").1);
        drop(out);
        assert!(
            text.capacity() <= TextOutput::STEP + 8,
            "the test needs a string without more room"
        );
        text.into_bytes()
    }

    #[test]
    fn a_batch_larger_than_memory_has_no_room() {
        let mut text = room_for_a_step();
        for batch in [2, isize::MAX as usize, usize::MAX - TextOutput::STEP + 1, usize::MAX] {
            let room = text.capacity() - TextOutput::STEP;
            assert!(batch <= room || TextOutput::new(&mut text, batch).is_none(), "{batch}");
        }
    }

    #[test]
    fn the_longest_repairs_of_a_step_fit() {
        let longest = |count: usize| [b"12345678", "😀".repeat(count).as_bytes()].concat();
        let many = [0xFF; 200];
        assert_eq!(one_step(|step| step.repair(&many, &Longest)), longest(64));
        assert_eq!(
            one_step(|step| assert_eq!(step.repair_strays(&many, &Longest), 64)),
            longest(64)
        );
        for level in Level::available() {
            let Some(block) = SortedBlock::new(level, &[0xFF; 128]) else { continue };
            let written =
                one_step(|step| assert_eq!(step.push_block(&block, &Longest), Some((0, 1))));
            assert_eq!(written, longest(block.end()), "{level:?}");
        }
    }

    #[test]
    fn repairs_that_panic_leave_well_formed_text() {
        for level in Level::available() {
            for bytes in hostile_bytes(128 * 20).as_chunks::<128>().0 {
                let Some(block) = SortedBlock::new(level, bytes) else { continue };
                let mut text = room_for_a_step();
                let panicked = panics(|| {
                    let mut out = TextOutput::new(&mut text, 1).unwrap();
                    let step = out.step().unwrap().no_ascii();
                    step.push_block(&block, &Panicking(0.into()));
                });
                assert_eq!(panicked, block.errors() >= 3);
                assert!(str::from_utf8(text.as_bytes()).is_ok(), "{level:?} {bytes:02x?}");
            }
        }
    }

    #[test]
    fn a_leaked_output_leaves_the_text_unchanged() {
        let mut text = String::from("before");
        text.reserve(TextOutput::STEP + 1);
        let mut out = TextOutput::new(&mut text, 1).unwrap();
        out.step().unwrap().no_ascii().repair(&[0xFF], &Longest);
        mem::forget(out);
        assert_eq!(text, "before");
    }

    #[test]
    fn blocks_of_any_bytes_have_well_formed_text() {
        let count = if cfg!(miri) { 64 } else { 20_000 };
        for level in Level::available() {
            for bytes in hostile_bytes(128 * count).as_chunks::<128>().0 {
                let mut parts = BlockParts::new(level, bytes);
                while let Some(part) = parts.as_mut().and_then(BlockParts::take) {
                    if let BlockPart::Text(text) = part {
                        assert!(str::from_utf8(text.as_bytes()).is_ok(), "{level:?} {bytes:02x?}");
                    }
                }
                let Some(block) = SortedBlock::new(level, bytes) else { continue };
                let written = one_step(|step| {
                    step.push_block(&block, &Longest);
                });
                assert!(str::from_utf8(&written).is_ok(), "{level:?} {bytes:02x?}");
            }
        }
    }

    #[test]
    fn a_line_ends_with_ascii() {
        for level in Level::available() {
            for end in 0x80..=0xFF {
                for input in ["€", "a€".repeat(40).as_str(), ""] {
                    assert!(
                        panics(|| split_line(level, end, input.as_bytes())),
                        "{level:?} {end:02x}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_wrong_count_from_a_reader_panics_and_leaves_the_buffer_usable() {
        let mut buffer = ReadBuffer::new();
        buffer.room(16)[..3].copy_from_slice(b"abc");
        buffer.fill(3);
        assert_eq!(buffer.accept(|rest| str::from_utf8(rest).unwrap()), 3);
        for len in [ReadBuffer::WITHIN - 2, isize::MAX as usize, usize::MAX - 2, usize::MAX] {
            assert!(panics(|| buffer.fill(len)), "{len}");
            assert!(panics(|| buffer.pass(len)), "{len}");
            assert!(panics(|| _ = buffer.rest_after(len)), "{len}");
            assert!(panics(|| buffer.consume(len)), "{len}");
            assert_eq!((buffer.as_str(), buffer.rest()), ("abc", &b""[..]));
        }
        assert_eq!(buffer.take(), "abc");
        assert_eq!((buffer.rest_after(2), buffer.rest()), (&b"bc"[..], &b""[..]));
    }

    #[test]
    fn gathered_text_has_only_bytes_of_the_buffer() {
        let hostile = || bytes::BytesMut::from(&b"ab\xFF\xFEcd"[..]);
        for silent in [0, 1, 7, isize::MAX as usize, usize::MAX - 5, usize::MAX] {
            for text in ["", "ab", "a long text of other memory"] {
                let mut gathered = GatheredText::default();
                if !panics(|| gathered.extend(hostile(), |_| (silent, text))) {
                    assert_eq!((gathered.as_str(), silent < 7), ("", true));
                }
                gathered.truncate();
                assert_eq!(gathered.into_text(), "");
            }
        }
        // The text at one index, but another number of bytes to skip.
        for silent in 0..7 {
            let mut gathered = GatheredText::default();
            gathered.extend(hostile(), |all| (silent, str::from_utf8(&all[4..]).unwrap()));
            assert_eq!(gathered.into_text(), if silent == 4 { "cd" } else { "" });
        }
        // A buffer that moves: bytes are copied, and text before them stays.
        let mut gathered = GatheredText::default();
        gathered.extend(hostile(), |all| (0, str::from_utf8(&all[..2]).unwrap()));
        gathered.truncate();
        gathered.extend(hostile(), |all| (0, str::from_utf8(&all[..1]).unwrap()));
        assert_eq!((gathered.as_str(), gathered.after_text()), ("aba", &b"b\xFF\xFEcd"[..]));
    }
}
