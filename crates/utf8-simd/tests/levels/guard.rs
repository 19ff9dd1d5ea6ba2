//! Levels read only their input and write only their output: inaccessible pages enclose both.
#![cfg(unix)]
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::ops::RangeInclusive;
use std::ptr;

use utf8_simd::{
    Latin1, Level, NulForm, Source, Target, Utf8, Utf16, Utf16Be, Utf16Le, Utf32, transcode,
};

use crate::DETECTED;

/// Longer than every path for short inputs, and several strides.
const LONGEST: usize = 700;
/// Around the lengths at which the longest paths begin (blocks of 1,024 bytes, 1,536 unmasked at once),
/// and enough for several rounds of them.
const LONGER: [usize; 12] =
    [1023, 1024, 1025, 1150, 1535, 1536, 1537, 1600, 1791, 1792, 2300, 3000];

const SCRIPTS: [&str; 6] = ["plain", "é", "語", "😀", "\u{10FFFF}", "mixed é ж 語 🦀 and ASCII, "];
const ERRORS: [&[u8]; 5] = [b"\xFF", b"\xC0", b"\xE0\x80", b"\xF4\x90", b"\x80"];
const MASK: [u8; 4] = [0x80, 0x5A, 0xFF, 0x01];

/// The fill byte of output slices.
const BYTE: u8 = 0xEE;
const UNIT: u16 = 0xE123;
const CHAR: char = '\u{E123}';

/// The position of a slice: directly after an inaccessible page, or directly before one.
#[derive(Clone, Copy, Debug)]
enum Edge {
    Start,
    End,
}

const EDGES: [Edge; 2] = [Edge::Start, Edge::End];

/// The positions of an input and an output.
const BOTH_EDGES: [(Edge, Edge); 4] = [
    (Edge::Start, Edge::Start),
    (Edge::Start, Edge::End),
    (Edge::End, Edge::Start),
    (Edge::End, Edge::End),
];

/// Memory between two inaccessible pages.
struct Guarded {
    start: *mut u8,
    page: usize,
}

impl Guarded {
    /// The number of pages between the two.
    const INNER: usize = 4;

    fn new() -> Self {
        // SAFETY: `sysconf` only returns a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let (inner, all) = (Self::INNER * page, (Self::INNER + 2) * page);
        // SAFETY: an anonymous mapping at an address that the system chooses.
        let pages = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            libc::mmap(ptr::null_mut(), all, libc::PROT_NONE, flags, -1, 0)
        };
        assert_ne!(pages, libc::MAP_FAILED, "mmap");
        // SAFETY: the mapping is longer than one page.
        let start = unsafe { pages.add(page) };
        // SAFETY: the pages between the first and the last; nothing refers to them yet.
        let done = unsafe { libc::mprotect(start, inner, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(done, 0, "mprotect");
        Self { start: start.cast(), page }
    }

    /// Copies `values` to that edge.
    fn put<T: Copy>(&mut self, values: &[T], edge: Edge) -> &mut [T] {
        let room = (Self::INNER * self.page).checked_sub(size_of_val(values)).expect("room");
        let at = match edge {
            Edge::Start => 0,
            Edge::End => room,
        };
        assert_eq!(at % align_of::<T>(), 0);
        // SAFETY: these bytes from `at` on are in the accessible pages, which live as long as `self`
        // and to which nothing else refers. Pages are aligned, and so is `at`.
        unsafe {
            let start = self.start.add(at).cast::<T>();
            start.copy_from_nonoverlapping(values.as_ptr(), values.len());
            std::slice::from_raw_parts_mut(start, values.len())
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let all = (Self::INNER + 2) * self.page;
        // SAFETY: the mapping made by `new`, to which nothing refers any more.
        let done = unsafe { libc::munmap(self.start.sub(self.page).cast(), all) };
        assert_eq!(done, 0, "munmap");
    }
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..=LONGEST).chain(LONGER)
}

/// The needed room, a little more, a little less, and half.
fn rooms(needed: usize) -> [usize; 4] {
    [needed, needed + 7, needed.saturating_sub(1), needed / 2]
}

fn valid_up_to(bytes: &[u8]) -> usize {
    str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len)
}

/// Text in every script and length, and where possible also from inside a character.
fn for_each_text(mut check: impl FnMut(&[u8])) {
    for script in SCRIPTS {
        let text = script.repeat(LONGER[LONGER.len() - 1]);
        for len in lengths() {
            check(&text.as_bytes()[..len]);
            check(&text.as_bytes()[1..1 + len]);
        }
    }
}

/// Text of these lengths with an error at its start, in its middle and at its end.
fn for_each_error(lengths: impl Iterator<Item = usize>, mut check: impl FnMut(&[u8])) {
    for len in lengths.filter(|&len| len > 0) {
        for error in ERRORS {
            for from in [0, len / 2, len.saturating_sub(error.len())] {
                for fill in [b"a".as_slice(), "жé".as_bytes(), "語".as_bytes()] {
                    let mut bytes: Vec<u8> = fill.iter().copied().cycle().take(len).collect();
                    let to = (from + error.len()).min(len);
                    bytes[from..to].copy_from_slice(&error[..to - from]);
                    check(&bytes);
                }
            }
        }
    }
}

/// Compares the functions that only read with std.
fn check_reading(page: &mut Guarded, bytes: &[u8]) {
    let valid_up_to = valid_up_to(bytes);
    let ranges: [RangeInclusive<u8>; 3] = [0x00..=0xEF, 0x01..=0x7F, 0x00..=0xFF];
    for edge in EDGES {
        let place = &*page.put(bytes, edge);
        for level in Level::available() {
            let context = || format!("{}, {} bytes, {edge:?}", level.name(), bytes.len());
            assert_eq!(level.validate(place).valid_up_to, valid_up_to, "{}", context());
            assert!(level.valid_prefix_len(place) <= valid_up_to, "{}", context());
            if let Some(incomplete) = level.validate_next(0, place) {
                assert_eq!(place.len() - incomplete, valid_up_to, "{}", context());
            }
            for ends in [*b"\n\n", *b"x\n"] {
                let ascii = place.iter().take_while(|byte| byte.is_ascii() && !ends.contains(byte));
                assert_eq!(level.ascii_before(ends, place), ascii.count(), "{}", context());
            }
            for range in &ranges {
                let outside = place.iter().position(|byte| !range.contains(byte));
                assert_eq!(level.find_outside(place, range.clone()), outside, "{}", context());
            }
            for blocks in [place.as_chunks().0, place.as_rchunks().1] {
                let mut masks = vec![0; blocks.len()];
                level.byte_masks(blocks, *b"x\n", &mut masks);
                let matches = blocks.as_flattened().iter().filter(|&&byte| b"x\n".contains(&byte));
                let found: u32 = masks.iter().map(|mask| mask.count_ones()).sum();
                assert_eq!(found as usize, matches.count(), "{}", context());
            }
            for block in [place.first_chunk(), place.last_chunk()].into_iter().flatten() {
                let ends = level.block_errors(block).map_or(64, |parts| parts.end);
                assert!((61..=64).contains(&ends), "{}", context());
            }
        }
    }
}

/// Compares the repair of damaged text with std, in rooms around the least that a level asks for.
fn check_repairs(input: &mut Guarded, output: &mut Guarded, bytes: &[u8]) {
    for (from, to) in BOTH_EDGES {
        let place = &*input.put(bytes, from);
        for (level, room) in
            Level::available().flat_map(|l| [0, 63, 64, 71, 72, 95, 96, 300].map(|r| (l, r)))
        {
            let context = || format!("{}, {} bytes, {from:?}, {to:?}", level.name(), bytes.len());
            let out = output.put(&vec![UNIT; room], to);
            let done = level.decode_damaged_utf16(place, out);
            let text = String::from_utf8_lossy(&bytes[..done.read]);
            assert!(text.encode_utf16().eq(out[..done.written].iter().copied()), "{}", context());
            let out = output.put(&vec![CHAR; room], to);
            let done = level.decode_damaged_chars(place, out);
            let text = String::from_utf8_lossy(&bytes[..done.read]);
            assert!(text.chars().eq(out[..done.written].iter().copied()), "{}", context());
        }
    }
}

#[test]
fn repairs_stay_within_input_and_output() {
    let (mut input, mut output) = (Guarded::new(), Guarded::new());
    for_each_error([60, 63, 64, 65, 100, 127, 128, 129, 200].into_iter(), |bytes| {
        check_repairs(&mut input, &mut output, bytes);
    });
}

#[test]
fn validation_reads_only_its_input() {
    let mut page = Guarded::new();
    for_each_text(|bytes| check_reading(&mut page, bytes));
}

#[test]
fn error_search_reads_only_its_input() {
    let mut page = Guarded::new();
    for_each_error(lengths(), |bytes| check_reading(&mut page, bytes));
}

/// Compares copying with [`Level::valid_prefix_len`], and with a search.
fn check_copying(input: &mut Guarded, output: &mut Guarded, bytes: &[u8]) {
    for (from, to) in BOTH_EDGES {
        let place = &*input.put(bytes, from);
        for room in rooms(bytes.len()) {
            for level in Level::available() {
                let out = output.put(&vec![MaybeUninit::new(BYTE); room], to);
                let copied = level.copy_valid_prefix(place, out);
                // SAFETY: all elements have been initialised.
                let out = unsafe { &*(ptr::from_ref(out) as *const [u8]) };
                let context = || format!("{}, {} into {room}", level.name(), bytes.len());
                assert_eq!(
                    copied,
                    level.valid_prefix_len(&bytes[..room.min(bytes.len())]),
                    "{}",
                    context()
                );
                assert!(out[..copied] == bytes[..copied], "{}, {from:?}, {to:?}", context());
                let after = &out[bytes.len().min(room)..];
                assert!(after.iter().all(|&byte| byte == BYTE), "{}, after", context());

                let out = output.put(&vec![MaybeUninit::new(BYTE); room], to);
                let (copied, ascii) = level.copy_before(*b"x\n", place, out);
                // SAFETY: all elements have been initialised.
                let out = unsafe { &*(ptr::from_ref(out) as *const [u8]) };
                let before = bytes.iter().take(room).take_while(|byte| !b"x\n".contains(byte));
                assert_eq!(copied, before.count(), "{}", context());
                assert!(out[..copied] == bytes[..copied], "{}, {from:?}, {to:?}", context());
                assert!(ascii <= copied && bytes[..ascii].is_ascii(), "{}, ASCII", context());
                let after = &out[bytes.len().min(room)..];
                assert!(after.iter().all(|&byte| byte == BYTE), "{}, after", context());
            }
        }
    }
}

/// Compares unmasking with a loop, and its verdict with that for unmasked bytes.
fn check_unmasking(page: &mut Guarded, bytes: &[u8]) {
    let masked: Vec<u8> =
        bytes.iter().zip(MASK.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
    for edge in EDGES {
        for level in Level::available() {
            let context = || format!("{}, {} bytes, {edge:?}", level.name(), bytes.len());
            let place = page.put(&masked, edge);
            level.unmask(place, MASK);
            assert!(place == bytes, "{}", context());
            let place = page.put(&masked, edge);
            let stop = level.unmask_and_validate(place, MASK);
            assert!(place == bytes, "{}", context());
            assert_eq!(stop, level.validate(bytes), "{}", context());
        }
    }
}

#[test]
fn copying_stays_within_its_slices() {
    let (mut input, mut output) = (Guarded::new(), Guarded::new());
    let mut check = |bytes: &[u8]| check_copying(&mut input, &mut output, bytes);
    for_each_text(&mut check);
    for_each_error((1..300).step_by(7).chain(LONGER), &mut check);
}

#[test]
fn unmasking_stays_within_its_slice() {
    let mut page = Guarded::new();
    for_each_text(|bytes| check_unmasking(&mut page, bytes));
    for_each_error(lengths(), |bytes| check_unmasking(&mut page, bytes));
}

/// Compares decoding with std.
fn check_decoding(text: &str, input: &mut Guarded, output: &mut Guarded) {
    let chars: Vec<char> = text.chars().collect();
    let units: Vec<u16> = text.encode_utf16().collect();
    for (from, to) in BOTH_EDGES {
        let place = &*input.put(text.as_bytes(), from);
        let place = str::from_utf8(place).unwrap();
        // Without vectors, only ASCII is decoded at once.
        let decodes =
            |level: Level| text.is_ascii() || !matches!(level.name(), "scalar" | "portable");
        for level in Level::available() {
            let context = || format!("{}, {} bytes, {from:?}, {to:?}", level.name(), text.len());
            assert_eq!(level.count_chars(place), chars.len(), "{}", context());
            assert_eq!(level.count_utf16(place), place.encode_utf16().count(), "{}", context());
            for room in rooms(chars.len()) {
                let out = output.put(&vec![CHAR; room], to);
                let (_, written) = level.decode_chars(place, out);
                assert_eq!(written, room.min(chars.len()), "{}", context());
                assert!(out[..written] == chars[..written], "{}", context());

                let out = output.put(&vec![CHAR; room], to);
                let done = level.decode_short_chars(place.as_bytes(), out);
                let written = done.unwrap_or(0);
                let must = decodes(level) && text.len() <= 64 && chars.len() <= room;
                assert!(done.map_or(!must, |done| done == chars.len()), "{}", context());
                assert!(out[..written] == chars[..written], "{}", context());
            }
            for room in rooms(units.len()) {
                let out = output.put(&vec![UNIT; room], to);
                let done = level.decode_short_utf16(place.as_bytes(), out);
                let written = done.unwrap_or(0);
                let must = decodes(level) && text.len() <= 64 && units.len() <= room;
                assert!(done.map_or(!must, |done| done == units.len()), "{}", context());
                assert!(out[..written] == units[..written], "{}", context());

                let out = output.put(&vec![UNIT; room], to);
                let (_, written) = level.decode_utf16(place, out);
                // Except for a pair that does not fit.
                assert!(written + 1 >= room.min(units.len()), "{}", context());
                assert!(out[..written] == units[..written], "{}", context());
            }
        }
    }
}

/// Compares decoding of ASCII by `decode`, which leaves the rest of the output as it was, with a loop.
fn check_ascii<U: Copy + PartialEq + From<u8>>(
    decode: fn(Level, &[u8], &mut [U]) -> usize,
    fill: U,
    bytes: &[u8],
    memory: &mut [Guarded; 2],
) {
    let [input, output] = memory;
    let ascii = bytes.iter().take_while(|byte| byte.is_ascii()).count();
    for (from, to) in BOTH_EDGES {
        let place = &*input.put(bytes, from);
        for (level, room) in Level::available().flat_map(|l| rooms(ascii).map(|r| (l, r))) {
            let context = || format!("{}, {ascii} into {room}, {from:?}, {to:?}", level.name());
            let least = room.min(ascii).saturating_sub(63);
            let out = output.put(&vec![fill; room], to);
            let len = decode(level, place, out);
            assert!((least..=room.min(ascii)).contains(&len), "{}", context());
            let expected = bytes[..len].iter().map(|&byte| byte.into());
            let rest = std::iter::repeat_n(fill, room - len);
            assert!(expected.chain(rest).eq(out.iter().copied()), "{}", context());
        }
    }
}

#[test]
fn decoding_of_ascii_stays_within_its_slices() {
    let mut memory = [Guarded::new(), Guarded::new()];
    let mut check = |bytes: &[u8]| {
        check_ascii(Level::decode_ascii_chars, CHAR, bytes, &mut memory);
        check_ascii(Level::decode_ascii_utf16, UNIT, bytes, &mut memory);
    };
    let text = "only ASCII, ".repeat(LONGER[LONGER.len() - 1]).into_bytes();
    for len in lengths() {
        check(&text[..len]);
    }
    for_each_error((1..300).step_by(7).chain(LONGER), check);
}

#[test]
fn repairs_of_utf16_stay_within_their_slices() {
    let (mut input, mut output) = (Guarded::new(), Guarded::new());
    let kinds = [&[0x61, 0xD800][..], &[0xDC00], &[0x8A9E, 0xD800, 0x61, 0xDC00, 0xD83D, 0xDE00]];
    for (kind, len) in kinds.into_iter().flat_map(|kind| lengths().map(move |len| (kind, len))) {
        let units: Vec<u16> = kind.iter().copied().cycle().take(len).collect();
        for (from, to) in BOTH_EDGES {
            let place = &*input.put(&units, from);
            for (level, room) in Level::available().flat_map(|l| rooms(3 * len).map(|r| (l, r))) {
                let context = || format!("{}, {len} into {room}, {from:?}, {to:?}", level.name());
                let out = output.put(&vec![BYTE; room], to);
                let mut count = 0;
                let (read, written) = level.encode_utf16(place, out, Some(&mut count));
                let expected = String::from_utf16_lossy(&units[..read]);
                assert!(out[..written] == *expected.as_bytes(), "{}", context());
                let unpaired = char::decode_utf16(units[..read].iter().copied());
                let unpaired = unpaired.filter(Result::is_err).count();
                assert_eq!(count, unpaired as u64, "{}", context());
                // All but an incomplete pair, and a character that does not fit.
                assert!(read + 1 >= len || written + 3 >= room, "{}", context());
            }
        }
    }
}

/// Compares encoding with std.
fn check_encoding(text: &str, input: &mut Guarded, output: &mut Guarded) {
    let chars: Vec<char> = text.chars().collect();
    for (from, to) in BOTH_EDGES {
        let place = &*input.put(&chars, from);
        for level in Level::available() {
            let context = || format!("{}, {} bytes, {from:?}, {to:?}", level.name(), text.len());
            for room in rooms(text.len()) {
                let out = output.put(&vec![BYTE; room], to);
                let (_, written) = level.encode_chars(place, out);
                // Except for a character that does not fit.
                assert!(written + 3 >= room.min(text.len()), "{}", context());
                assert!(out[..written] == text.as_bytes()[..written], "{}", context());
            }
        }
    }
    let units: Vec<u16> = text.encode_utf16().collect();
    for (from, to) in BOTH_EDGES {
        let place = &*input.put(&units, from);
        for level in Level::available() {
            let context = || format!("{}, {} bytes, {from:?}, {to:?}", level.name(), text.len());
            for room in rooms(text.len()) {
                let out = output.put(&vec![BYTE; room], to);
                let (_, written) = level.encode_utf16(place, out, None);
                // Except for a character that does not fit.
                assert!(written + 3 >= room.min(text.len()), "{}", context());
                assert!(out[..written] == text.as_bytes()[..written], "{}", context());
            }
        }
    }
}

#[test]
fn decoding_and_encoding_stay_within_their_slices() {
    let (mut input, mut output) = (Guarded::new(), Guarded::new());
    for_each_text(|bytes| {
        if let Ok(text) = str::from_utf8(bytes) {
            check_decoding(text, &mut input, &mut output);
            check_encoding(text, &mut input, &mut output);
        }
    });
}

/// Compares a conversion at these edges with that elsewhere.
fn check_transcoding<I: Copy, S, T>(units: &[I], needed: usize, memory: &mut [Guarded; 2])
where
    S: Source<Input = [I]>,
    T: Target<Unit: PartialEq>,
{
    let [input, output] = memory;
    for (from, to) in BOTH_EDGES {
        let place = &*input.put(units, from);
        for level in Level::available() {
            level.set_detected();
            for room in rooms(needed) {
                let mut elsewhere = vec![T::Unit::default(); room];
                let expected = transcode::<S, T>(units, &mut elsewhere);
                let out = output.put(&vec![T::Unit::default(); room], to);
                let found = transcode::<S, T>(place, out);
                let context = || format!("{}, {} units into {room}", level.name(), units.len());
                assert_eq!(found, expected, "{}", context());
                assert!(out[..found.written] == elsewhere[..found.written], "{}", context());
            }
        }
    }
}

#[test]
fn conversions_between_units_stay_within_their_slices() {
    let _lock = DETECTED.lock();
    let best = Level::detect();
    let mut memory = [Guarded::new(), Guarded::new()];
    for script in SCRIPTS {
        let text = script.repeat(LONGEST);
        for len in (0..150).chain([255, 256, 257, 600]) {
            let chars: Vec<char> = text.chars().take(len).collect();
            let bytes = String::from_iter(&chars).into_bytes();
            let numbers: Vec<u32> = chars.iter().map(|&c| c.into()).collect();
            let units: Vec<u16> = text.encode_utf16().take(len).collect();
            let in_bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            check_transcoding::<_, Utf16, Utf32>(&units, len, &mut memory);
            check_transcoding::<_, Utf16, Latin1>(&units, len, &mut memory);
            check_transcoding::<_, Utf32, Utf16>(&numbers, 2 * len, &mut memory);
            check_transcoding::<_, char, Utf16>(&chars, len, &mut memory);
            check_transcoding::<_, Utf32, Utf8>(&numbers, bytes.len(), &mut memory);
            check_transcoding::<_, Utf16Be, Utf8>(&in_bytes, 3 * len, &mut memory);
            check_transcoding::<_, Utf16Le, Utf8>(&in_bytes, 3 * len, &mut memory);
            check_transcoding::<_, Utf8, Utf16Be>(&bytes, 2 * bytes.len(), &mut memory);
        }
    }
    best.set_detected();
}

type Convert = fn(Level, &[u8], &mut [u8]) -> (usize, usize);

/// Compares conversions between UTF-8 and Latin-1 at these edges with those elsewhere. The text is any Latin-1.
fn check_latin1(bytes: &[u8], input: &mut Guarded, output: &mut Guarded) {
    let needed = bytes.len() + bytes.iter().filter(|byte| !byte.is_ascii()).count();
    for (from, to) in BOTH_EDGES {
        let place = &*input.put(bytes, from);
        for level in Level::available() {
            let mut check = |convert: Convert, room| {
                let mut elsewhere = vec![BYTE; room];
                let expected = convert(level, bytes, &mut elsewhere);
                let out = output.put(&vec![BYTE; room], to);
                let found = convert(level, place, out);
                let context = || format!("{}, {} into {room}", level.name(), bytes.len());
                assert_eq!(found, expected, "{}", context());
                assert!(out[..found.1] == elsewhere[..found.1], "{}", context());
            };
            for room in rooms(needed) {
                check(Level::encode_latin1, room);
            }
            for room in rooms(bytes.len()) {
                check(Level::decode_latin1, room);
            }
        }
    }
}

#[test]
fn conversions_of_latin_1_stay_within_their_slices() {
    let (mut input, mut output) = (Guarded::new(), Guarded::new());
    let mut check = |bytes: &[u8]| check_latin1(bytes, &mut input, &mut output);
    for_each_text(&mut check);
    for_each_error((1..300).step_by(7).chain(LONGER), &mut check);
}

#[test]
fn joining_and_splitting_pairs_stay_within_their_slices() {
    let (mut input, mut output) = (Guarded::new(), Guarded::new());
    let joined = ["a", "é", "😀", "a😀\0"].map(|text| text.repeat(LONGEST).into_bytes());
    let split =
        [&b"\xED\xA0\xBD\xED\xB8\x80"[..], b"a\xC0\x80", b"\xED\xA0\xBD\xED\xB8\x80\xC0\x80"];
    let split = split.map(|bytes| bytes.repeat(LONGEST));
    for (inputs, is_joined) in [(&joined[..], true), (&split[..], false)] {
        for bytes in inputs {
            for len in 0..=LONGEST {
                // Only text is split.
                let len = if is_joined { valid_up_to(&bytes[..len]) } else { len };
                check_pairs(&bytes[..len], is_joined, &mut input, &mut output);
            }
        }
    }
}

/// Compares rewriting pairs at these edges with rewriting elsewhere.
fn check_pairs(bytes: &[u8], is_joined: bool, input: &mut Guarded, output: &mut Guarded) {
    for (from, to) in BOTH_EDGES {
        let place = &*input.put(bytes, from);
        for level in Level::available() {
            for (nul, room) in [
                (NulForm::OneByte, bytes.len() + 80),
                (NulForm::TwoBytes, bytes.len() + 80),
                (NulForm::TwoBytes, bytes.len() / 2),
            ] {
                let rewrite = |bytes: &[u8], out: &mut [u8]| match is_joined {
                    true => level.split_pairs(bytes, nul, out),
                    false => level.join_pairs(bytes, nul, out),
                };
                let mut expected = vec![BYTE; room];
                let (read, written) = rewrite(bytes, &mut expected);
                let out = output.put(&vec![BYTE; room], to);
                assert_eq!(rewrite(place, out), (read, written), "{}", level.name());
                assert!(out[..written] == expected[..written], "{}", level.name());
            }
        }
    }
}
