//! Every level of this machine, compared with the standard library.

mod convert;
mod guard;
#[cfg(feature = "bytes")]
mod hostile;
mod latin1;
mod pairs;
#[path = "../support/mod.rs"]
mod support;
mod utf16;
mod validate;

/// Held by tests of the level that is detected, which is the same in all threads.
static DETECTED: std::sync::Mutex<()> = std::sync::Mutex::new(());

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
