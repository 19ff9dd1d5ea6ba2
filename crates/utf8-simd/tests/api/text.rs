//! The containers for validated text, and the functions that they share with the decoder, compared with plain vectors and with the
//! text of std.

use std::cell::Cell;

#[cfg(feature = "std")]
use utf8_simd::text::ReadBuffer;
use utf8_simd::text::{
    self, BlockPart, BlockParts, Repairs, Replaced, ShortText, SortedBlock, TextOutput,
};
use utf8_simd::{ErrorLen, Level, Sequence, begins_nothing};

use crate::support::{MULTILINGUAL, Random};
use crate::transcode::damaged;

/// Damaged text: more and less than a block, with many errors and with few.
fn inputs() -> Vec<Vec<u8>> {
    let mut random = Random(11);
    let mut inputs = Vec::new();
    for len in [0, 1, 7, 63, 66, 67, 127, 128, 129, 500] {
        for fill in ["a", "é", "日本", "😀x", MULTILINGUAL] {
            for one_in in [1, 3, 16, 100] {
                let text = fill.repeat(len / fill.len() + 1);
                inputs.push(damaged(&text.as_bytes()[..len], one_in, &mut random));
            }
        }
    }
    inputs
}

#[test]
fn short_texts_are_those_of_std() {
    let text = |short: ShortText| {
        let (bytes, len) = short.bytes();
        str::from_utf8(&bytes[..len]).unwrap().to_owned()
    };
    for byte in 0..=u8::MAX {
        assert_eq!(text(ShortText::escape(byte)), format!("\\x{byte:02x}"));
        assert_eq!(text(ShortText::from_latin1(byte)), char::from(byte).to_string());
    }
    for c in ['\0', '\u{7F}', 'é', '\u{FFFF}', '\u{10FFFF}'] {
        assert_eq!(text(ShortText::from_char(c)), c.to_string());
    }
}

/// The parts are the first ones of std; those that begin before index 61 do not depend on later bytes.
#[test]
fn the_parts_of_a_block_are_the_chunks_of_std() {
    for input in inputs() {
        let mut expected = Vec::new();
        let (mut at, mut errors) = (0, 0);
        for chunk in input.utf8_chunks() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid());
            if !valid.is_empty() {
                expected.push(BlockPart::Text(valid));
            }
            at += valid.len();
            errors += usize::from(!invalid.is_empty() && at < 61);
            let word = input
                .get(at..at + 4)
                .map_or(0, |word| u32::from_le_bytes(word.try_into().unwrap()));
            expected.push(BlockPart::IllFormed(invalid.len(), word));
            at += invalid.len();
        }
        for level in Level::available() {
            let Some(mut parts) = BlockParts::new(level, &input) else { continue };
            let (mut taken, mut found) = (0, 0);
            for expected in &expected {
                assert_eq!(parts.taken(), taken);
                let Some(part) = parts.take() else { break };
                assert_eq!(part, *expected, "{}: {input:02x?}", level.name());
                taken += match part {
                    BlockPart::Text(text) => text.len(),
                    BlockPart::IllFormed(len, _) => len,
                };
                found += usize::from(matches!(part, BlockPart::IllFormed(..)));
            }
            assert_eq!((parts.take(), parts.taken()), (None, taken));
            assert!(found > 0 && found >= errors, "{}: {input:02x?}", level.name());
        }
    }
}

#[test]
fn the_parts_of_a_block_need_three_bytes_after_it() {
    for level in Level::available() {
        let has_parts = |len| BlockParts::new(level, &[0xFF; 100][..len]).is_some();
        let has_method = level != Level::SCALAR;
        let expected = [false, has_method, has_method];
        assert_eq!([66, 67, 100].map(has_parts), expected, "{}", level.name());
    }
}

/// Repairs that count the parts.
#[derive(Default)]
struct Counted<const REPLACED: u8>(Cell<usize>);

impl<const REPLACED: u8> Repairs for Counted<REPLACED> {
    const REPLACED: Replaced = match REPLACED {
        0 => Replaced::Nothing,
        1 => Replaced::Part,
        _ => Replaced::EachByte,
    };

    fn repair(&self, byte: u8) -> ShortText {
        if REPLACED == 1 { ShortText::REPLACEMENT } else { ShortText::escape(byte) }
    }

    fn note(&self, _part: &[u8]) {
        self.0.set(self.0.get() + 1);
    }
}

/// Appends `input` to a text in batches, each item by one of the methods that can write it.
fn repaired<const REPLACED: u8>(
    level: Level,
    input: &[u8],
    random: &mut Random,
) -> (String, usize) {
    const BATCH: usize = 100;
    let repairs = Counted::<REPLACED>::default();
    let (mut text, mut rest) = (String::new(), input);
    while !rest.is_empty() {
        text.reserve(BATCH + TextOutput::STEP);
        let mut out = TextOutput::new(&mut text, BATCH).unwrap();
        if random.below(2) == 0 {
            rest = &rest[out.copy_valid_prefix(level, rest, TextOutput::STEP)..];
        }
        while !rest.is_empty()
            && let Some(step) = out.step()
        {
            if let Some(bytes) = rest.first_chunk()
                && random.below(2) == 0
                && let Some(block) = SortedBlock::new(level, bytes)
            {
                let before = repairs.0.get();
                let first = step.no_ascii().push_block(&block, &repairs);
                let expected = str::from_utf8(rest).err().map(|e| (e.valid_up_to(), e.error_len()));
                assert_eq!(first.is_some(), block.errors() > 0);
                if let Some((at, len)) = first {
                    assert_eq!(Some((at, Some(len))), expected, "{rest:02x?}");
                }
                assert_eq!(repairs.0.get() - before, block.errors() as usize);
                rest = &rest[block.end()..];
                continue;
            }
            let (ascii, write) = step.push_ascii(rest);
            rest = &rest[ascii..];
            if ascii == 8 || rest.is_empty() {
                continue;
            }
            if random.below(2) == 0 {
                let block = &rest[..rest.len().min(64)];
                let strays = block.iter().take_while(|&&byte| begins_nothing(byte)).count();
                assert_eq!(write.repair_strays(rest, &repairs), strays);
                rest = &rest[strays..];
                continue;
            }
            let len = match write.push_sequence(rest) {
                Ok(len) => len,
                Err((sequence, write)) => {
                    let len = match sequence {
                        Sequence::IllFormed(ErrorLen::None) | Sequence::WellFormed(_) => panic!(),
                        Sequence::IllFormed(len) => len.get().unwrap(),
                        Sequence::Incomplete => rest.len(),
                    };
                    write.repair(&rest[..len], &repairs);
                    len
                }
            };
            rest = &rest[len..];
        }
    }
    (text, repairs.0.get())
}

#[test]
fn repaired_text_is_that_of_std() {
    let mut random = Random(5);
    for input in inputs() {
        let valid = || input.utf8_chunks().map(|chunk| chunk.valid()).collect::<String>();
        let escaped = || {
            let escape =
                |bytes: &[u8]| bytes.iter().map(|b| format!("\\x{b:02x}")).collect::<String>();
            input
                .utf8_chunks()
                .map(|c| c.valid().to_owned() + &escape(c.invalid()))
                .collect::<String>()
        };
        let errors = input.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
        for level in Level::available() {
            let what = || format!("{}: {input:02x?}", level.name());
            let lossy = String::from_utf8_lossy(&input).into_owned();
            assert_eq!(repaired::<1>(level, &input, &mut random), (lossy, errors), "{}", what());
            assert_eq!(repaired::<0>(level, &input, &mut random), (valid(), errors), "{}", what());
            assert_eq!(
                repaired::<2>(level, &input, &mut random),
                (escaped(), errors),
                "{}",
                what()
            );
        }
    }
}

#[test]
fn an_output_has_steps_until_its_batch_is_complete() {
    for batch in [1, 8, 9, 100] {
        let mut text = String::from("before");
        text.reserve_exact(TextOutput::STEP + batch);
        let room = text.capacity() - text.len() - TextOutput::STEP;
        assert!(TextOutput::new(&mut text, room + 1).is_none());
        let mut out = TextOutput::new(&mut text, batch).unwrap();
        let mut steps = 0;
        while let Some(step) = out.step() {
            step.push_ascii(b"12345678");
            steps += 1;
        }
        assert_eq!(steps, batch.div_ceil(8), "{batch}");
        drop(out);
        assert_eq!(text, format!("before{}", "12345678".repeat(steps)));
    }
}

#[test]
fn latin_1_and_utf_16_are_appended() {
    for level in Level::available() {
        for len in [0, 1, 100, 4096, 4097, 10_000] {
            let latin1: Vec<u8> = (0..=u8::MAX).cycle().take(len).collect();
            let expected: String = latin1.iter().map(|&byte| char::from(byte)).collect();
            let mut text = String::from("é");
            text::push_latin1(level, &latin1, &mut text);
            assert_eq!(text, format!("é{expected}"), "{}", level.name());

            let units: Vec<u16> = format!("{expected}😀").encode_utf16().collect();
            let mut text = String::from("é");
            text.reserve(3 * units.len());
            let read = text::push_utf16(level, &[&units[..], &[0xDC00]].concat(), None, &mut text);
            assert_eq!((read, text), (units.len(), format!("é{expected}😀")), "{}", level.name());
            let mut text = String::new();
            assert_eq!(text::push_utf16(level, &units, None, &mut text), 0);
        }
    }
}

#[test]
fn copies_leave_room() {
    for level in Level::available() {
        let mut text = String::new();
        text.reserve_exact(TextOutput::STEP + 300);
        let room = text.capacity();
        let mut out = TextOutput::new(&mut text, 1).unwrap();
        let copied = out.copy_valid_prefix(level, &[b'a'; 5000], room - 100);
        assert!((64..=100).contains(&copied), "{}: {copied}", level.name());
        assert_eq!(out.copy_valid_prefix(level, &[b'a'; 5000], room), 0);
    }
}

#[test]
fn deferred_text_has_the_bytes_and_the_room_of_a_vector() {
    let mut deferred = text::DeferredText::default();
    assert!(deferred.is_empty());
    assert_eq!(deferred.capacity(), 0);
    deferred.reserve_exact(100);
    assert!(deferred.capacity() >= 100);
    deferred.push(b"a\xC3");
    assert_eq!((deferred.is_empty(), deferred.len(), deferred.rest()), (false, 2, &b"a\xC3"[..]));
    assert_eq!(deferred.validate(), utf8_simd::PrefixEnd::Incomplete(1));
    // Text after bytes that have not been validated is not validated.
    deferred.push_str("b");
    assert_eq!(deferred.rest(), b"\xC3b");
    deferred.clear_rest();
    deferred.push_str("é");
    assert_eq!(deferred.rest(), b"");
    // As much as there is room for.
    let room = deferred.capacity() - deferred.len();
    assert_eq!(deferred.push_before(Level::detect(), *b"\r\n", &[b'x'; 5000]), room);
    assert_eq!(deferred.validate(), utf8_simd::PrefixEnd::Input);
    deferred.shrink_to_fit();
    assert_eq!(deferred.capacity(), deferred.len());
    assert_eq!(deferred.into_text(), format!("aé{}", "x".repeat(room)));
    let mut deferred = text::DeferredText::with_capacity(100);
    deferred.push(b"abc");
    deferred.shrink_to_fit();
    assert!(deferred.capacity() < 100);
}

#[cfg(feature = "alloc")]
#[test]
fn deferred_text_is_the_text_before_an_error_at_every_cut() {
    let damaged = "a€😀é".repeat(40).into_bytes();
    for (at, byte) in (0..damaged.len()).zip([0xFF, b'a', 0x80, 0xF0].into_iter().cycle()) {
        let mut bytes = damaged.clone();
        bytes[at] = byte;
        let valid = std::str::from_utf8(&bytes).map_or_else(|e| e.valid_up_to(), str::len);
        let mut deferred = text::DeferredText::with_capacity(bytes.len());
        let (front, back) = bytes.split_at(bytes.len() * at / damaged.len());
        assert_eq!(deferred.push_before(Level::detect(), *b"\r\n", front), front.len());
        deferred.validate();
        assert_eq!(deferred.push_before(Level::detect(), *b"\r\n", back), back.len());
        deferred.validate();
        assert_eq!(deferred.rest(), &bytes[valid..], "{at}");
        deferred.push_str("more");
        assert_eq!(deferred.len(), bytes.len() + 4);
        deferred.clear_rest();
        let end = if valid == bytes.len() { "more" } else { "" };
        assert_eq!(deferred.into_text().into_bytes(), [&bytes[..valid], end.as_bytes()].concat());
    }
}

#[test]
fn a_reversed_range_has_no_bytes() {
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 0x70..=0x10;
    for level in Level::available() {
        let text = text::split_range(level, b"\xFF\xFE not ASCII", reversed.clone());
        // As bytes: what is not text cannot be printed as text.
        assert_eq!(text.as_bytes(), b"");
    }
}

#[cfg_attr(miri, ignore)]
#[test]
fn a_near_error_is_found_at_every_offset_in_a_word() {
    for level in Level::available() {
        for at in 0..=17 {
            for [a, b] in (0..=u16::MAX).map(u16::to_be_bytes) {
                let mut bytes = [b'x'; 20];
                bytes[at..at + 2].copy_from_slice(&[a, b]);
                let error = str::from_utf8(&bytes).err();
                let len = error.map_or(bytes.len(), |error| error.valid_up_to());
                let (text, error_len) = text::split_near(level, &bytes);
                assert_eq!(text.as_bytes(), &bytes[..len]);
                assert_eq!(error_len, error.and_then(|error| error.error_len()));
            }
        }
    }
}

#[cfg_attr(miri, ignore)]
#[test]
fn the_text_before_an_error_at_every_index_is_that_of_std() {
    for fill in ["a", "é", "€", "𝄞", "aé€𝄞"] {
        for (len, seed) in
            (0..=400).flat_map(|len| [(len, &b"\xFF"[..]), (len, b"\xE2\x82"), (len, b"")])
        {
            let mut bytes = fill.repeat(len / fill.len() + 1).into_bytes();
            bytes.truncate(len);
            bytes.extend_from_slice(seed);
            bytes.extend_from_slice(
                &fill.as_bytes().repeat(100)[..if seed.is_empty() { 0 } else { 97 }],
            );
            let error = str::from_utf8(&bytes).err();
            let valid_up_to = error.map_or(bytes.len(), |error| error.valid_up_to());
            for level in Level::available() {
                let (text, error_len) = text::split_near(level, &bytes);
                let name = level.name();
                assert_eq!(text.len(), valid_up_to, "{name}: {len} bytes of {fill}, {seed:x?}");
                assert_eq!(error_len, error.and_then(|error| error.error_len()), "{name}");
            }
        }
    }
}

#[test]
fn short_ascii_is_text_unless_a_byte_is_high() {
    for len in 0..=80 {
        let bytes = &mut [0x7F; 80][..len];
        assert!(text::whole_text(bytes).is_ok(), "{len}");
        for at in 0..len {
            bytes[at] = 0x80;
            assert!(text::whole_text(bytes).is_err(), "{at} of {len}");
            bytes[at] = 0x7F;
        }
    }
}

#[test]
fn short_bytes_of_which_several_are_high_are_no_text() {
    for len in 1..=80 {
        for at in 0..len {
            // In ASCII two high bytes, after NULs high bytes only.
            for other in 0..at {
                let mut bytes = [0x7F; 80];
                (bytes[at], bytes[other]) = (0x80, 0x80);
                assert!(text::whole_text(&bytes[..len]).is_err(), "{other}, {at} of {len}");
            }
            for end in at + 1..=len {
                let mut bytes = [0; 80];
                bytes[at..end].fill(0x80);
                assert!(text::whole_text(&bytes[..len]).is_err(), "{at}..{end} of {len}");
            }
        }
    }
    for a in crate::validate::EDGES {
        for b in crate::validate::EDGES {
            for bytes in [[b'a', a, b], [a, b, b'a']] {
                let expected = str::from_utf8(&bytes);
                assert_eq!(text::whole_text(&bytes).ok(), expected.ok(), "{bytes:02x?}");
                let expected = str::from_utf8(&bytes[..2]);
                assert_eq!(text::whole_text(&bytes[..2]).ok(), expected.ok(), "{bytes:02x?}");
            }
        }
    }
}

#[test]
fn the_first_character_of_four_bytes_is_that_of_std() {
    use crate::validate::EDGES;
    for index in 0..EDGES.len().pow(4) {
        let edge = |place| EDGES[index / EDGES.len().pow(place) % EDGES.len()];
        let bytes = [0, 1, 2, 3].map(edge);
        let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let first = text.split_inclusive(|_| true).next().filter(|c| c.len() > 1);
        assert_eq!(text::first_char(&bytes), first, "{bytes:02x?}");
    }
}

/// ASCII, in which each byte in turn is one of the ends, or not ASCII.
#[test]
fn ascii_is_split_off_before_each_end_and_outside_each_range() {
    for level in Level::available() {
        for len in 0..=140 {
            for (at, byte) in (0..=len).flat_map(|at| [(at, b'\n'), (at, b'\r'), (at, 0x80)]) {
                let mut bytes = [b'x'; 140];
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
                let bytes = &bytes[..len];
                let expected = str::from_utf8(&bytes[..at]).unwrap();
                let found = text::split_line(level, *b"\n\r", bytes);
                assert_eq!(found, expected, "{}: {byte} at {at} of {len}", level.name());
                let found = text::split_range(level, bytes, b' '..=b'~');
                assert_eq!(found, expected, "{}: {byte} at {at} of {len}", level.name());
            }
        }
    }
}

/// In the first window, and in each of the next, which are larger.
#[test]
fn text_is_split_off_where_a_function_of_its_windows_finds_an_end() {
    let line = "é€𝄞a".repeat(2000);
    for level in Level::available() {
        for at in [0, 10, 30, 40, 150, 160, 170, 670, 680, 690, 5000, 9000, 19_990] {
            for (end, found) in [
                (&b"\nx"[..], Ok('\n')),
                (b"\xFFx", Err(Some(1))),
                (b"\xF0\x9F", Err(None)),
                (b"", Err(None)),
            ] {
                let bytes = [&line.as_bytes()[..at], end].concat();
                let find = |text: &str| text.find('\n').map(|at| (at, '\n'));
                let (text, ending) = text::split_until(level, &bytes, find);
                assert_eq!(text, &line[..at], "{}: {end:02x?}", level.name());
                assert_eq!(ending, found, "{}: {at}", level.name());
            }
        }
    }
}

#[cfg(feature = "bytes")]
#[test]
fn only_text_at_the_start_of_the_bytes_is_taken() {
    let mut bytes = bytes::Bytes::from_static(b"abc\xFF");
    for text in ["abc", "abcdefgh", ""] {
        assert_eq!(text::take_text(&mut bytes, |_| text), "");
    }
    let long = "abcdefgh";
    let mut start = bytes::Bytes::from_static(&long.as_bytes()[..3]);
    assert_eq!(text::take_text(&mut start, |_| long), "");
    let inner = text::take_text(&mut bytes, |all| str::from_utf8(&all[1..3]).unwrap());
    assert_eq!((&*inner, &*bytes), ("", &b"abc\xFF"[..]));
    let front = text::take_text(&mut bytes, |all| str::from_utf8(&all[..3]).unwrap());
    assert_eq!((&*front, &*bytes), ("abc", &b"\xFF"[..]));
}

#[cfg(feature = "bytes")]
#[test]
fn a_prefix_is_taken_with_why_it_ended() {
    use utf8_simd::PrefixEnd::{IllFormed, Incomplete, Input};
    for (input, len, end) in [
        (&b"ab\xC3\xA9"[..], 4, Input),
        (b"ab\xC3", 2, Incomplete(1)),
        (b"ab\xFFc", 2, IllFormed(1)),
        (b"\xE2\x82c", 0, IllFormed(2)),
        (b"", 0, Input),
    ] {
        let mut bytes = bytes::Bytes::from_static(input);
        let mut bytes_mut = bytes::BytesMut::from(input);
        for (text, found) in
            [text::take_valid_prefix(&mut bytes), text::take_valid_prefix(&mut bytes_mut)]
        {
            assert_eq!((&*text, found), (str::from_utf8(&input[..len]).unwrap(), end));
        }
        assert_eq!((&bytes[..], &bytes_mut[..]), (&input[len..], &input[len..]));
    }
}

#[cfg(feature = "std")]
#[test]
fn only_the_start_of_the_rest_becomes_text() {
    let mut buffer = ReadBuffer::new();
    buffer.room(16)[..4].copy_from_slice(b"abc\xFF");
    buffer.fill(4);
    for text in ["abc", "abcdefgh", ""] {
        assert_eq!((buffer.accept(|_| text), buffer.as_str()), (0, ""));
    }
    assert_eq!(buffer.accept(|rest| str::from_utf8(&rest[1..3]).unwrap()), 0);
    assert_eq!(buffer.accept(|rest| str::from_utf8(&rest[..3]).unwrap()), 3);
    assert_eq!((buffer.as_str(), buffer.rest()), ("abc", &b"\xFF"[..]));
    assert_eq!(buffer.try_accept(|_| Err("invalid")), Err("invalid"));
    assert_eq!((buffer.as_str(), buffer.rest()), ("abc", &b"\xFF"[..]));
}

#[cfg(feature = "std")]
#[test]
fn a_full_buffer_grows_to_any_larger_capacity() {
    for (small, large) in [(96, 97), (100, 8192), (4, 96), (4, 8192), (8192, 1 << 20)] {
        let mut buffer = ReadBuffer::new();
        let mut rest = Vec::new();
        for capacity in [small, small, large, large] {
            let room = buffer.room(capacity);
            assert_eq!(room.is_empty(), rest.len() >= capacity, "{small} {large}");
            room.fill(rest.len() as u8);
            let len = room.len();
            rest.extend(vec![rest.len() as u8; len]);
            buffer.fill(len);
            assert_eq!(buffer.rest(), rest, "{small} {large}");
        }
        assert_eq!(rest.len(), large);
    }
    let mut buffer = ReadBuffer::holding(&[b'a'; 200], 4);
    assert_eq!(buffer.rest(), [b'a'; 200]);
    assert_eq!(buffer.room(8192).len(), 8192 - 200);
    // As many bytes as fit inline allocate nothing yet.
    let mut buffer = ReadBuffer::holding(&[b'a'; ReadBuffer::WITHIN], 500);
    assert_eq!(buffer.room(1000).len(), 1000 - ReadBuffer::WITHIN);
}

#[cfg(feature = "std")]
#[test]
fn unread_bytes_move_to_the_front_of_the_room() {
    let all = *b"0123456789";
    for len in 0..=all.len() {
        for passed in 0..=len {
            let mut buffer = ReadBuffer::new();
            buffer.room(64)[..len].copy_from_slice(&all[..len]);
            buffer.fill(len);
            buffer.pass(passed);
            let left = len - passed;
            assert_eq!(buffer.room(64).len(), ReadBuffer::WITHIN.min(64) - left);
            assert_eq!(buffer.rest(), &all[passed..len]);
        }
    }
}

#[cfg(feature = "std")]
#[test]
fn a_character_fits_into_four_bytes() {
    let smile = "\u{1F600}".as_bytes();
    let mut buffer = ReadBuffer::new();
    for byte in smile {
        buffer.room(4)[0] = *byte;
        buffer.fill(1);
    }
    assert_eq!(buffer.rest(), smile);
    assert!(buffer.room(4).is_empty());
}

#[cfg(feature = "std")]
#[test]
fn bytes_that_fit_inline_are_moved_there() {
    for left in [ReadBuffer::WITHIN, ReadBuffer::WITHIN + 1] {
        let bytes = vec![b'a'; 2 * ReadBuffer::WITHIN];
        let mut buffer = ReadBuffer::holding(&bytes, 500);
        buffer.pass(bytes.len() - left);
        buffer.shrink();
        assert_eq!(buffer.rest(), &bytes[..left]);
        // Inline memory that is full is replaced, memory on the heap is not.
        let len = if left <= ReadBuffer::WITHIN { 1000 } else { 500 };
        assert_eq!(buffer.room(1000).len(), len - left);
    }
}

#[cfg(feature = "std")]
mod read_buffer {
    use utf8_simd::text::{ReadBuffer, assert_char_boundary};
    use utf8_simd::valid_prefix;

    use super::{MULTILINGUAL, Random, damaged};

    #[test]
    fn a_read_buffer_holds_what_vectors_hold() {
        let mut random = Random(3);
        for capacity in [4, 96, 97, 1000] {
            let source = damaged(MULTILINGUAL.repeat(40).as_bytes(), 100, &mut random);
            let mut source = &source[..];
            let mut buffer = ReadBuffer::new();
            let (mut text, mut rest) = (String::new(), Vec::new());
            while !source.is_empty() {
                match random.below(8) {
                    0 | 1 if text.is_empty() => {
                        let room = buffer.room(capacity);
                        assert!(room.len() <= capacity.saturating_sub(rest.len()));
                        let len = room.len().min(source.len()).min(random.below(200));
                        room[..len].copy_from_slice(&source[..len]);
                        buffer.fill(len);
                        rest.extend_from_slice(&source[..len]);
                        source = &source[len..];
                    }
                    2 => {
                        let found = valid_prefix(&rest).0;
                        text += found;
                        assert_eq!(buffer.accept(|rest| valid_prefix(rest).0), found.len());
                        rest.drain(..found.len());
                    }
                    3 => {
                        let next = text.chars().next();
                        assert_eq!(buffer.next_char(), next);
                        text.drain(..next.map_or(0, char::len_utf8));
                    }
                    4 => {
                        let len = random.below(text.len() + 1);
                        let len = (0..=len).rev().find(|&len| text.is_char_boundary(len)).unwrap();
                        buffer.consume(len);
                        text.drain(..len);
                    }
                    5 => assert_eq!(buffer.take(), std::mem::take(&mut text)),
                    6 if text.is_empty() && valid_prefix(&rest).0.is_empty() => {
                        let len = random.below(rest.len().min(4) + 1);
                        let passed = [&rest[..len], &rest[len..]].concat();
                        buffer.pass(len);
                        assert_eq!(buffer.rest_after(len), passed);
                        rest.drain(..len);
                    }
                    _ => buffer.shrink(),
                }
                assert_eq!((buffer.as_str(), buffer.rest()), (&*text, &*rest));
                assert_eq!(buffer.has_text(), !text.is_empty());
            }
        }
    }

    #[test]
    fn memory_is_reserved_once() {
        let mut buffer = ReadBuffer::new();
        buffer.reserve(ReadBuffer::WITHIN);
        assert_eq!(buffer.room(1000).len(), ReadBuffer::WITHIN);
        buffer.reserve(200);
        assert_eq!(buffer.room(1000).len(), 200);
        buffer.reserve(300);
        assert_eq!(buffer.room(1000).len(), 200);
        buffer.shrink();
        assert_eq!(buffer.room(1000).len(), ReadBuffer::WITHIN);
    }

    #[test]
    fn an_index_in_a_character_is_no_boundary() {
        for len in 0..=4 {
            let panics = std::panic::catch_unwind(|| assert_char_boundary("aé", len)).is_err();
            assert_eq!(panics, !"aé".is_char_boundary(len), "{len}");
        }
    }
}

#[cfg(feature = "bytes")]
mod shared {
    use bytes::{Bytes, BytesMut};
    use utf8_simd::text::{GatheredText, slice_text};
    use utf8_simd::valid_prefix;

    #[test]
    fn adjacent_pieces_are_gathered_without_a_copy() {
        let mut buffer = BytesMut::from("abcé€".as_bytes());
        let address = buffer.as_ptr();
        let mut gathered = GatheredText::default();
        assert!(gathered.is_empty());
        gathered.extend(buffer.split_to(4), |bytes| (0, valid_prefix(bytes).0));
        assert!(!gathered.is_empty());
        assert_eq!((gathered.as_str(), gathered.after_text()), ("abc", &b"\xC3"[..]));
        assert!(gathered.is_followed_by(&buffer));
        assert!(!gathered.is_followed_by(b"abc"));
        gathered.extend(buffer, |bytes| (0, valid_prefix(bytes).0));
        assert_eq!((gathered.as_str(), gathered.after_text()), ("abcé€", &b""[..]));
        let text = gathered.into_text();
        assert_eq!((&*text, text.as_ptr()), ("abcé€", address));
    }

    #[test]
    fn bytes_before_the_first_text_are_skipped() {
        for (piece, silent, text) in [("--", 2, ""), ("-é", 1, "é"), ("é", 0, "é")] {
            let mut gathered = GatheredText::default();
            gathered.extend(piece.into(), |bytes| (silent, valid_prefix(&bytes[silent..]).0));
            assert_eq!(gathered.as_str(), text);
            gathered.extend("ab".into(), |bytes| (0, valid_prefix(bytes).0));
            assert_eq!(gathered.into_text(), [text, "ab"].concat());
        }
    }

    #[test]
    fn a_copy_replaces_the_bytes_after_the_text() {
        for growth in [0, 1, 100] {
            let mut gathered = GatheredText::default();
            let buffer = {
                let mut buffer = BytesMut::with_capacity(20);
                buffer.extend_from_slice(b"a\xC3");
                buffer
            };
            let address = buffer.as_ptr();
            gathered.extend(buffer, |bytes| (0, valid_prefix(bytes).0));
            gathered.push_copy("é", growth);
            assert_eq!((gathered.as_str(), gathered.after_text()), ("aé", &b""[..]));
            assert_eq!(gathered.as_str().as_ptr() == address, growth == 0);
            assert!(gathered.capacity() > growth);
            gathered.push_copy("€", 0);
            assert_eq!(gathered.clone().into_text(), "aé€");
            gathered.truncate();
            assert_eq!(gathered.into_text(), "aé€");
        }
    }

    #[test]
    fn a_slice_is_the_same_memory() {
        let bytes = Bytes::from_static(b"\xFFtext\xFF");
        let text = slice_text(&bytes, str::from_utf8(&bytes[1..5]).unwrap());
        assert_eq!((&*text, text.as_ptr()), ("text", bytes[1..].as_ptr()));
        assert_eq!(slice_text(&bytes, ""), "");
    }

    #[test]
    #[should_panic = "range"]
    fn text_of_other_memory_is_no_slice() {
        slice_text(&Bytes::from_static(b"text"), "a text");
    }
}
