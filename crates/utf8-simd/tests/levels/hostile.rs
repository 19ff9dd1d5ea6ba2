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
    assert!(text.capacity() <= TextOutput::STEP + 8, "the test needs a string without more room");
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
    assert_eq!(one_step(|step| assert_eq!(step.repair_strays(&many, &Longest), 64)), longest(64));
    for level in Level::available() {
        let Some(block) = SortedBlock::new(level, &[0xFF; 128]) else { continue };
        let written = one_step(|step| assert_eq!(step.push_block(&block, &Longest), Some((0, 1))));
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
fn a_line_is_ascii_whatever_ends_it() {
    for level in Level::available() {
        for end in 0x80..=0xFF {
            for (input, ascii) in [("€", ""), ("a€".repeat(40).as_str(), "a"), ("", "")] {
                assert_eq!(
                    split_line(level, [end; 2], input.as_bytes()),
                    ascii,
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
