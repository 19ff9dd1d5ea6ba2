//! Every level of this machine compared with the scalar one, and that one with std.

#![allow(unsafe_code)]

use crate::DETECTED;
use crate::support::{self, Random};

use std::collections::BTreeSet;
use std::mem::MaybeUninit;

use utf8_simd::{BlockErrors, ErrorLen, Level, RepairedPrefix, Validated};

/// Text in every script, and pieces of sequences.
const SEEDS: &[&[u8]] = &[
    b"a",
    b"\xC3\xA9",
    b"\xE2\x82\xAC",
    b"\xF0\x9F\x98\x80",
    b"\xC2\x80",
    b"\xDF\xBF",
    b"\xE0\xA0\x80",
    b"\xED\x9F\xBF",
    b"\xEE\x80\x80",
    b"\xEF\xBF\xBF",
    b"\xF0\x90\x80\x80",
    b"\xF4\x8F\xBF\xBF",
    b"\x80",
    b"\xBF",
    b"\xC0",
    b"\xC1",
    b"\xC0\x80",
    b"\xC1\xBF",
    b"\xC2",
    b"\xDF",
    b"\xC2\xC2",
    b"\xC3\xA9\xA9",
    b"\xE0",
    b"\xE0\x80",
    b"\xE0\x9F\xBF",
    b"\xE0\xA0",
    b"\xE1\x80",
    b"\xE1\x80\x7F",
    b"\xED\xA0\x80",
    b"\xED\xBF\xBF",
    b"\xED\x9F",
    b"\xEF\xBF",
    b"\xE2\x82\xAC\xAC",
    b"\xF0",
    b"\xF0\x80\x80\x80",
    b"\xF0\x8F\xBF\xBF",
    b"\xF0\x90",
    b"\xF0\x90\x80",
    b"\xF0\x9F\x98\x80\x80",
    b"\xF1\x80\x80",
    b"\xF3\xBF\xBF\xC0",
    b"\xF4\x90\x80\x80",
    b"\xF4\x8F\xBF",
    b"\xF5\x80\x80\x80",
    b"\xF7\xBF\xBF\xBF",
    b"\xF8\x88\x80\x80\x80",
    b"\xFC",
    b"\xFE",
    b"\xFF",
    b"\xFF\xFF",
];

/// The text that seeds are inserted into.
const FILLS: &[&str] = &["a", "é", "€", "😀", "aé€😀"];

fn of_std(bytes: &[u8]) -> Validated {
    let Err(error) = std::str::from_utf8(bytes) else {
        return Validated { valid_up_to: bytes.len(), error_len: ErrorLen::None };
    };
    let error_len = match error.error_len() {
        None => ErrorLen::None,
        Some(1) => ErrorLen::One,
        Some(2) => ErrorLen::Two,
        _ => ErrorLen::Three,
    };
    Validated { valid_up_to: error.valid_up_to(), error_len }
}

/// Compares every level with std on `bytes`.
fn check(bytes: &[u8]) {
    let expected = of_std(bytes);
    for level in Level::available() {
        let found = level.validate(bytes);
        assert!(
            found == expected,
            "{}: {found:?}, std: {expected:?}, for {} bytes {bytes:02x?}",
            level.name(),
            bytes.len(),
        );
    }
    for held in (0..=3).filter(|&held| matches!(bytes.len().wrapping_sub(held), 35..=256)) {
        check_next(bytes, held, expected);
    }
}

/// Compares every level with std on `bytes` as a chunk after the first `held`, if those are an incomplete sequence.
fn check_next(bytes: &[u8], held: usize, expected: Validated) {
    let (held, chunk) = bytes.split_at(held);
    if of_std(held) != (Validated { valid_up_to: 0, error_len: ErrorLen::None }) {
        return;
    }
    let before = held.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let before = (before << (8 * (4 - held.len()))) as u32;
    let incomplete = bytes.len() - expected.valid_up_to;
    let expected = (expected.error_len == ErrorLen::None).then_some(incomplete);
    let is_undecided = bytes.iter().any(|&byte| byte >= 0xF4);
    for level in Level::available() {
        let found = level.validate_next(before, chunk);
        let has_none = is_undecided || matches!(level.name(), "scalar" | "portable");
        assert!(
            found == expected || found.is_none() && has_none,
            "{}: {found:?}, std: {expected:?}, for {held:02x?} and {} bytes {chunk:02x?}",
            level.name(),
            chunk.len(),
        );
    }
}

/// Checks how much every level counts as valid, and copies.
fn check_clean(bytes: &[u8]) {
    let valid_up_to = of_std(bytes).valid_up_to;
    for level in Level::available() {
        let name = level.name();
        let clean = level.valid_prefix_len(bytes);
        assert!(std::str::from_utf8(&bytes[..clean]).is_ok(), "{name}, {clean}: {bytes:02x?}");
        // All valid bytes, except for one character and the rest of a block.
        assert!(clean + 3 + 64 >= valid_up_to, "{name}, {clean} of {valid_up_to}: {bytes:02x?}");

        for room in [bytes.len(), bytes.len() / 2] {
            let mut out = vec![MaybeUninit::new(0xEE); bytes.len() + 8];
            let copied = level.copy_valid_prefix(bytes, &mut out[..room]);
            assert!(copied <= room && std::str::from_utf8(&bytes[..copied]).is_ok(), "{name}");
            assert!(room < bytes.len() || copied == clean, "{name}: {bytes:02x?}");
            // SAFETY: all elements have been initialised.
            let out = out.iter().map(|byte| unsafe { byte.assume_init() }).collect::<Vec<_>>();
            assert_eq!(out[..copied], bytes[..copied], "{name}");
            assert_eq!(out[room..], vec![0xEE; out.len() - room], "{name}: written outside");
        }
    }
}

/// `len` bytes of repeated `fill`, padded with ASCII where the last character would be split.
fn fill_to(fill: &str, len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = fill.bytes().cycle().take(len).collect();
    let valid = of_std(&bytes).valid_up_to;
    bytes[valid..].fill(b'z');
    bytes
}

#[test]
fn available_levels_are_in_order() {
    let known: &[&str] = match std::env::consts::ARCH {
        "x86_64" => &["scalar", "portable", "sse4.1", "avx2", "avx512"],
        "aarch64" if cfg!(target_endian = "little") => &["scalar", "portable", "neon"],
        "wasm32" if cfg!(target_feature = "simd128") => &["scalar", "portable", "simd128"],
        "wasm32" => &["scalar", "portable"],
        _ if cfg!(target_pointer_width = "64") => &["scalar", "portable"],
        _ => &["scalar"],
    };
    let names: Vec<_> = Level::available().map(Level::name).collect();
    // Machines can lack the last ones.
    assert_eq!(names, known[..names.len()]);
    // Every 64-bit machine has `portable`, every aarch64 NEON, and a build for wasm32 has what it asks for.
    for always in ["portable", "neon", "simd128"] {
        assert!(known.contains(&always) <= names.contains(&always));
    }
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    {
        use std::arch::is_x86_feature_detected as has;

        let has_avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("bmi2");
        let has_avx512 = has_avx512 && has!("avx512vbmi") && has!("avx512vbmi2");
        for (name, has) in [
            ("sse4.1", has!("sse4.1") && has!("popcnt")),
            ("avx2", has!("avx2") && has!("popcnt")),
            ("avx512", has_avx512 && has!("popcnt")),
        ] {
            assert_eq!(names.contains(&name), has, "{name}");
        }
    }
}

#[test]
fn the_forced_or_the_last_level_is_in_use() {
    let forced = [
        ("scalar", cfg!(utf8_simd_level = "scalar")),
        ("portable", cfg!(utf8_simd_level = "portable")),
        ("sse4.1", cfg!(utf8_simd_level = "sse4.1")),
        ("avx2", cfg!(utf8_simd_level = "avx2")),
        ("avx512", cfg!(utf8_simd_level = "avx512")),
        ("neon", cfg!(utf8_simd_level = "neon")),
        ("simd128", cfg!(utf8_simd_level = "simd128")),
    ];
    let forced = forced.into_iter().find_map(|(name, forced)| forced.then_some(name));
    let last = Level::available().last().map(Level::name);
    let _lock = DETECTED.lock();
    assert_eq!(Some(Level::detect().name()), forced.or(last));
}

#[test]
fn every_seed_between_texts_of_every_length_has_the_verdict_of_std() {
    for fill in FILLS {
        for before in 0..=140 {
            let front = fill_to(fill, before);
            for seed in SEEDS {
                for after in [0, 1, 2, 3, 4, 13, 29, 61, 64, 130] {
                    check(&[&front[..], seed, &fill_to(fill, after)].concat());
                }
            }
        }
    }
}

#[test]
fn every_seed_in_long_text_has_the_verdict_of_std() {
    for fill in FILLS {
        for before in (129..1400).step_by(1) {
            let front = fill_to(fill, before);
            for (seed, after) in
                SEEDS.iter().zip([0, 1, 2, 3, 5, 61, 200, 700, 1300].into_iter().cycle())
            {
                check(&[&front[..], seed, &fill_to(fill, after)].concat());
            }
        }
    }
}

#[test]
fn texts_of_every_length_and_alignment_have_the_verdict_of_std() {
    for fill in FILLS {
        let text = fill.repeat(2000 / fill.len());
        for from in 0..70 {
            for len in 0..=660 {
                check(&text.as_bytes()[from..from + len]);
            }
        }
    }
}

#[test]
fn text_with_one_changed_byte_has_the_verdict_of_std() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let scripts = ["plain text, ", "жёлтый ", "日本語。", "🦀🚀", "mixed é ж 語 🦀 ", "ÀÉÎÕÜ"];
    for round in 0..60_000 {
        let mut text = String::new();
        let target = [20, 60, 130, 400, 1500][round % 5];
        while text.len() < target {
            text.push_str(scripts[random.below(scripts.len())]);
        }
        let mut bytes = text.into_bytes();
        let at = random.below(bytes.len());
        bytes[at] = match random.below(3) {
            0 => bytes[at] ^ (1 << random.below(8)),
            1 => random.below(256) as u8,
            _ => 0x80 | random.below(128) as u8,
        };
        let from = random.below(bytes.len().min(70));
        check(&bytes[from..]);
    }
}

#[test]
fn runs_of_hostile_bytes_have_the_verdict_of_std() {
    let mut random = Random(42);
    let alphabet =
        [0x41, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF];
    for _ in 0..200_000 {
        let len = random.below(160);
        let bytes: Vec<u8> = (0..len).map(|_| alphabet[random.below(alphabet.len())]).collect();
        check(&bytes);
    }
}

/// Blocks of ASCII need no test, except after an incomplete character.
#[test]
fn ascii_inside_a_character_has_the_verdict_of_std() {
    for (fill, before) in FILLS.iter().flat_map(|fill| (0..140).map(move |before| (fill, before))) {
        for character in ["é", "€", "😀"] {
            for at in 1..character.len() {
                let (lead, end) = character.as_bytes().split_at(at);
                let ascii = [b'a'; 128];
                check(&[&fill_to(fill, before), lead, &ascii, end, &fill_to(fill, 140)].concat());
            }
        }
    }
}

#[test]
fn runs_of_one_byte_have_the_verdict_of_std() {
    for byte in 0..=0xFF {
        for len in 0..=200 {
            check(&vec![byte; len]);
        }
    }
}

/// Checks that every level counts the leading ASCII before the first of `ends`.
fn check_ascii_before(ends: [u8; 2], bytes: &[u8]) {
    let ascii = bytes.iter().take_while(|byte| byte.is_ascii() && !ends.contains(byte)).count();
    for level in Level::available() {
        assert_eq!(level.ascii_before(ends, bytes), ascii, "{}: {bytes:02X?}", level.name());
    }
}

#[test]
fn ascii_is_counted_up_to_an_end_or_a_non_ascii_byte() {
    for ends in [*b"\n\n", *b"\r\n", [0, 0x7F], [0x80, 0xFF]] {
        for len in (0..=300).chain([511, 512, 513, 700, 1459]) {
            let mut bytes: Vec<u8> = (b' '..0x7F).cycle().take(len).collect();
            let [a, b] = ends;
            for (at, byte) in (0..len).flat_map(|at| [a, b, 0x80, 0xFF].map(|byte| (at, byte))) {
                let was = std::mem::replace(&mut bytes[at], byte);
                check_ascii_before(ends, &bytes);
                check_ascii_before(ends, &bytes[at.saturating_sub(len % 70)..]);
                bytes[at] = was;
            }
            check_ascii_before(ends, &bytes);
        }
    }
}

/// Checks that every level copies the bytes before the first of `ends`, as far as there is `room`.
fn check_copy_before(ends: [u8; 2], bytes: &[u8], room: usize) {
    let len = bytes.iter().take(room).take_while(|byte| !ends.contains(byte)).count();
    let ascii = bytes.iter().take_while(|byte| byte.is_ascii()).count();
    for level in Level::available() {
        let context = || format!("{}, {room}: {bytes:02X?}", level.name());
        let mut out = vec![MaybeUninit::new(0); room];
        let (copied, found) = level.copy_before(ends, bytes, &mut out);
        assert_eq!(copied, len, "{}", context());
        assert!(found <= ascii.min(len), "{}", context());
        // SAFETY: all elements have been initialised.
        let is_copy = |(byte, out): (&u8, &MaybeUninit<u8>)| *byte == unsafe { out.assume_init() };
        assert!(bytes[..len].iter().zip(&out).all(is_copy), "{}", context());
    }
}

#[test]
fn bytes_are_copied_up_to_an_end_or_as_far_as_there_is_room() {
    for ends in [*b"\n\n", *b"\r\n", [0, 0x7F], [0x80, 0xFF]] {
        for len in (0..=300).chain([511, 512, 513, 700, 1459]) {
            let mut bytes: Vec<u8> = (b' '..0x7F).chain("é語".bytes()).cycle().take(len).collect();
            let [a, b] = ends;
            for (at, byte) in (0..len).flat_map(|at| [a, b, b'\t', 0xFF].map(|byte| (at, byte))) {
                let was = std::mem::replace(&mut bytes[at], byte);
                check_copy_before(ends, &bytes, len);
                check_copy_before(ends, &bytes[at.saturating_sub(len % 70)..], at);
                bytes[at] = was;
            }
            check_copy_before(ends, &bytes, len + 100);
            check_copy_before(ends, &vec![b'x'; len], len);
        }
    }
}

/// The ill-formed parts that start in all but the last three bytes of a block, by std.
fn parts_of(block: &[u8; 64]) -> BlockErrors {
    let mut expected = BlockErrors { starts: 0, two_or_three: 0, three: 0, end: 0 };
    for chunk in block.utf8_chunks() {
        for c in chunk.valid().chars() {
            if expected.end > 60 {
                return expected;
            }
            expected.end += c.len_utf8();
        }
        if expected.end > 60 {
            return expected;
        }
        let len = chunk.invalid().len();
        expected.starts |= u64::from(len > 0) << expected.end;
        expected.two_or_three |= u64::from(len > 1) << expected.end;
        expected.three |= u64::from(len > 2) << expected.end;
        expected.end += len;
    }
    expected
}

fn check_parts(block: &[u8; 64]) {
    for level in Level::available() {
        if let Some(parts) = level.block_errors(block) {
            assert_eq!(parts, parts_of(block), "{}: {block:02X?}", level.name());
            check_repairs(level, block, parts);
        }
    }
}

/// A block is decoded with U+FFFD for each of its `parts`.
fn check_repairs(level: Level, block: &[u8; 64], parts: BlockErrors) {
    let context = || format!("{}: {block:02X?}", level.name());
    // Numbers, because a wrong one would not be a `char`.
    let (mut units, mut chars) = ([0xEEEE; 96], [0xEEEE_u32; 96]);
    let to_units = level.decode_damaged_utf16(block, &mut units);
    let to_chars = level.decode_damaged_chars(block, &mut chars);
    if level.name() == "portable" {
        assert_eq!((to_units, to_chars), (RepairedPrefix::default(), RepairedPrefix::default()));
        return;
    }
    let (read, errors) = (parts.end, parts.starts.count_ones() as usize);
    let text = String::from_utf8_lossy(&block[..read]);
    let written = text.encode_utf16().count();
    assert_eq!(to_units, RepairedPrefix { read, written, errors }, "{}", context());
    assert!(text.encode_utf16().eq(units[..written].iter().copied()), "{}", context());
    let written = text.chars().count();
    assert_eq!(to_chars, RepairedPrefix { read, written, errors }, "{}", context());
    let chars = chars.map(char::from_u32);
    assert!(text.chars().map(Some).eq(chars[..written].iter().copied()), "{}", context());
    assert!(chars.iter().all(Option::is_some), "{}: not a char after the text", context());
}

#[test]
fn damaged_text_is_decoded_up_to_three_blocks_without_an_error() {
    let has_vectors = |level: &Level| !matches!(level.name(), "scalar" | "portable");
    for level in Level::available().filter(has_vectors) {
        // Of ASCII, a block has 61 bytes: the last three are left to the next one.
        for (errors, read) in [(&[0][..], 4 * 61), (&[0, 4 * 61 - 1], 7 * 61), (&[4 * 61], 3 * 61)]
        {
            let mut input = [b'a'; 1000];
            errors.iter().for_each(|&at| input[at] = 0xFF);
            let done = level.decode_damaged_utf16(&input, &mut [0; 1000]);
            let errors = errors.iter().filter(|&&at| at < read).count();
            assert_eq!(done, RepairedPrefix { read, written: read, errors }, "{}", level.name());
        }
    }
}

#[test]
fn errors_of_a_block_equal_std() {
    for level in Level::available() {
        let (few, many) = (level.block_errors(&[0; 64]), level.block_errors(&[0xFF; 64]));
        let expected = match level.name() {
            "scalar" => (false, false),
            "portable" => (false, true),
            _ => (true, true),
        };
        assert_eq!((few.is_some(), many.is_some()), expected, "{}", level.name());
    }
    let mut random = Random(7);
    let alphabet = [0x41, 0x80, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5];
    for _ in 0..300_000 {
        check_parts(&std::array::from_fn(|_| alphabet[random.below(alphabet.len())]));
    }
    // A surrogate after the last part, and a character of four bytes.
    let mut block = [b'a'; 64];
    block[..5].copy_from_slice(b"\xFF\xF0\x9F\x98\x80");
    block[61..].copy_from_slice(b"\xED\xA0\x80");
    check_parts(&block);
    for fill in FILLS {
        let text: [u8; 64] = fill_to(fill, 64).try_into().unwrap();
        for at in 0..64 {
            for seed in SEEDS {
                let mut block = text;
                let len = seed.len().min(64 - at);
                block[at..at + len].copy_from_slice(&seed[..len]);
                check_parts(&block);
            }
        }
    }
}

#[test]
fn valid_prefixes_are_counted_and_copied() {
    for fill in FILLS {
        for before in (0..=300).chain([1000, 1459]) {
            let front = fill_to(fill, before);
            for (seed, after) in SEEDS.iter().zip([0, 1, 3, 60, 61, 64, 200].into_iter().cycle()) {
                check_clean(&[&front[..], seed, &fill_to(fill, after)].concat());
            }
        }
    }
    let mut random = Random(7);
    for _ in 0..100_000 {
        let mut bytes: Vec<u8> = "aé€😀жz".bytes().cycle().take(random.below(300)).collect();
        for _ in 0..random.below(3) {
            if !bytes.is_empty() {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
        }
        check_clean(&bytes[random.below(bytes.len() + 1)..]);
    }
}

/// Lengths of inputs, at least one for each path that a level chooses by length. The last are long for
/// every level: one stride, several, and groups of them.
const WAYS: [usize; 12] = [4, 12, 24, 34, 50, 64, 100, 200, 300, 320, 700, 1600];

/// One byte of every kind, both at each end of a range.
const KINDS: [u8; 13] =
    [0x41, 0x8F, 0x90, 0x9F, 0xA0, 0xC1, 0xC3, 0xE0, 0xE2, 0xED, 0xF0, 0xF4, 0xFF];

const MASK: [u8; 4] = [0x80, 0x5A, 0xFF, 0x01];

/// A text with room for four bytes, and the same text masked.
struct Surroundings {
    plain: Vec<u8>,
    masked: Vec<u8>,
    /// For the same text, when it has been unmasked.
    unmasked: Vec<u8>,
    /// The offset of the room.
    at: usize,
}

impl Surroundings {
    fn new(fill: &str, len: usize, at: usize) -> Self {
        let plain = [fill_to(fill, at), vec![0; 4], fill_to(fill, len - at - 4)].concat();
        let masked = plain.iter().zip(MASK.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
        Self { unmasked: vec![0; plain.len()], plain, masked, at }
    }

    /// Inserts `bytes`, whose own validation gives `stop`. Returns the validation of the whole: the
    /// text after them ends a sequence that they leave incomplete.
    fn put(&mut self, bytes: [u8; 4], stop: Validated) -> Validated {
        let Self { ref mut plain, ref mut masked, at, .. } = *self;
        plain[at..at + 4].copy_from_slice(&bytes);
        for (i, byte) in bytes.into_iter().enumerate() {
            masked[at + i] = byte ^ MASK[(at + i) % 4];
        }
        if stop.valid_up_to == 4 {
            return Validated { valid_up_to: plain.len(), error_len: ErrorLen::None };
        }
        let error_len = match stop.error_len {
            ErrorLen::None if at + 4 < plain.len() => {
                [ErrorLen::Three, ErrorLen::Two, ErrorLen::One][stop.valid_up_to - 1]
            }
            why => why,
        };
        Validated { valid_up_to: at + stop.valid_up_to, error_len }
    }

    /// Compares every verdict of every level with `expected`.
    fn check_verdicts(&mut self, expected: Validated) {
        let Self { ref plain, ref masked, ref mut unmasked, at } = *self;
        for level in Level::available() {
            let context = || format!("{}, at {at}: {plain:02x?}", level.name());
            assert!(level.validate(plain) == expected, "{}", context());
            unmasked.copy_from_slice(masked);
            assert!(level.unmask_and_validate(unmasked, MASK) == expected, "{}", context());
            assert!(unmasked == plain, "{}", context());
            let clean = level.valid_prefix_len(plain);
            // All valid bytes, except for one character and the rest of a block.
            assert!(clean + 3 + 64 >= expected.valid_up_to, "{}", context());
            let ends_character = plain.get(clean).is_none_or(|byte| !matches!(byte, 0x80..=0xBF));
            let is_text =
                clean == expected.valid_up_to || clean < expected.valid_up_to && ends_character;
            assert!(is_text, "{}", context());
        }
    }
}

#[test]
fn every_combination_of_four_byte_kinds_has_the_verdict_of_std_on_every_path() {
    let count = support::sum_of(&WAYS, |&len| {
        let mut count = 0;
        for fill in FILLS {
            for at in BTreeSet::from([0, (len - 4) / 2, len - 4]) {
                let mut surroundings = Surroundings::new(fill, len, at);
                for_each_of_four(KINDS.as_slice(), &KINDS, |bytes| {
                    let expected = surroundings.put(bytes, of_std(&bytes));
                    surroundings.check_verdicts(expected);
                    count += 1;
                });
            }
        }
        count
    });
    // Paths, the first with one offset and the others with three; texts; strings.
    assert_eq!(count, (1 + 11 * 3) * 5 * 13_u64.pow(4));
}

/// Calls `check` with every string of four of these bytes whose first byte is in `firsts`.
fn for_each_of_four(firsts: &[u8], bytes: &[u8], mut check: impl FnMut([u8; 4])) {
    for &a in firsts {
        for &b in bytes {
            for &c in bytes {
                for &d in bytes {
                    check([a, b, c, d]);
                }
            }
        }
    }
}

fn all_bytes() -> Vec<u8> {
    (0..=255).collect()
}

#[test]
fn all_strings_of_one_to_three_bytes_have_the_verdict_of_std() {
    let count = support::sum_of(&all_bytes(), |&first| {
        let mut count = 0;
        for len in 1..=3 {
            for rest in 0..1_u32 << (8 * (len - 1)) {
                let mut bytes = [first, 0, 0];
                bytes[1..len].copy_from_slice(&rest.to_be_bytes()[5 - len..]);
                let bytes = &bytes[..len];
                let expected = of_std(bytes);
                for level in Level::available() {
                    let context = || format!("{}: {bytes:02x?}", level.name());
                    assert!(level.validate(bytes) == expected, "{}", context());
                    let mut masked = [0; 3];
                    for (i, byte) in bytes.iter().enumerate() {
                        masked[i] = byte ^ MASK[i];
                    }
                    let stop = level.unmask_and_validate(&mut masked[..len], MASK);
                    assert!(stop == expected && masked[..len] == *bytes, "{}", context());
                    let valid_up_to = expected.valid_up_to;
                    assert!(level.valid_prefix_len(bytes) <= valid_up_to, "{}", context());
                    assert!(level.ascii_before(*b"\r\n", bytes) <= valid_up_to, "{}", context());
                }
                count += 1;
            }
        }
        count
    });
    assert_eq!(count, (1 << 8) + (1 << 16) + (1 << 24));
}

#[test]
#[ignore = "2^32 strings: minutes in a release build"]
fn all_strings_of_four_bytes_have_the_verdict_of_std() {
    let count = support::sum_of(&all_bytes(), |&first| {
        for rest in 0..1_u32 << 24 {
            let [_, b, c, d] = rest.to_be_bytes();
            let bytes = [first, b, c, d];
            let expected = of_std(&bytes);
            for level in Level::available() {
                assert!(level.validate(&bytes) == expected, "{}: {bytes:02x?}", level.name());
            }
        }
        1 << 24
    });
    assert_eq!(count, 1 << 32);
}

/// The first and the last ASCII byte only, since levels treat ASCII alike; all other bytes.
#[test]
#[ignore = "10^8 strings in several texts: minutes in a release build"]
fn all_strings_of_four_bytes_in_long_texts_have_the_verdict_of_std() {
    let bytes: Vec<u8> = [0, 0x7F].into_iter().chain(0x80..=0xFF).collect();
    let count = support::sum_of(&bytes, |&first| {
        // Across the edge of two vectors, after the first and before the last.
        let mut texts: Vec<_> =
            FILLS.iter().map(|fill| Surroundings::new(fill, 450, 190)).collect();
        let mut count = 0;
        for_each_of_four(&[first], &bytes, |bytes| {
            let alone = of_std(&bytes);
            for text in &mut texts {
                let expected = text.put(bytes, alone);
                for level in Level::available().skip(1) {
                    assert!(
                        level.validate(&text.plain) == expected,
                        "{}: {:02x?}",
                        level.name(),
                        text.plain
                    );
                }
            }
            count += 1;
        });
        count
    });
    assert_eq!(count, 130_u64.pow(4));
}
