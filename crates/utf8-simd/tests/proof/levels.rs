//! The vector levels: every path of every length, on vectors of expressions.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;

use crate::grammar::{CLASSES, is_fine, verdict};
use crate::machine::{Answer, Arena, Kind, Lane, MARGIN, Script, with};
use crate::paths::{Explorer, Firsts, Outcome};
use crate::simd::{
    AVX2, AVX512, ErrorLen, SSE41, Shipped, Validated, all_but_tail, error_near, incomplete_len,
    reference_prefix, reference_validate, runs_here, sequence_start,
};
use crate::support::sum_of;

/// The byte that fills the input. Only code after the last query reads it.
const FILL: u8 = 0xC3;

/// An input at an address with this remainder by 64, and memory before and after it.
struct Input {
    memory: Vec<u8>,
    from: usize,
    len: usize,
}

impl Input {
    fn new(len: usize, alignment: usize) -> Self {
        let memory = vec![FILL; len + 2 * MARGIN + 128];
        let from = MARGIN + 64 - (memory.as_ptr().addr() + MARGIN) % 64 + alignment;
        Self { memory, from, len }
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.from..][..self.len]
    }
}

/// What a level returned for bytes that are all [`FILL`], a leading byte of two.
fn outcome(found: Validated, len: usize) -> Outcome {
    match (found.valid_up_to, found.error_len) {
        (at, ErrorLen::None) if at == len => Outcome::All,
        (at, ErrorLen::None) if at == len - 1 => Outcome::AllButTail,
        // The scalar level began one byte before the mark, if there is one.
        (0, ErrorLen::One) => Outcome::Near(0),
        (at, ErrorLen::One) => Outcome::Near(at + 1),
        _ => panic!("{found:?} for {len} bytes"),
    }
}

/// Answers that nothing is set.
struct NothingSet;

impl Script for NothingSet {
    fn answer(&mut self, _: &mut Arena, _: &[Lane], _: Kind) -> Answer {
        Answer::None
    }
}

/// Which input bytes a level moves to which lanes if it loads them as words, or `None` if it does not. It
/// shifts words by whole bytes and combines them, so that different bytes show where each of them is.
fn words(level: &Shipped, len: usize) -> Option<Vec<Lane>> {
    let lanes = |number: fn(usize) -> usize| {
        let mut input = Input::new(len, 0);
        let from = input.from;
        for (i, byte) in input.memory[from..from + len].iter_mut().enumerate() {
            *byte = 0x80 + number(i) as u8;
        }
        with(|machine| {
            machine.begin(input.bytes());
            machine.seen_words = None;
            machine.script = Some(Box::new(NothingSet));
        });
        // SAFETY: this machine has the features: `runs_here`.
        unsafe { (level.validate)(input.bytes()) };
        with(|machine| machine.seen_words.take()).map(|bytes| {
            bytes.map(|byte| match byte {
                0 => None,
                _ => Some((0..len).find(|i| 0x80 + number(*i) as u8 == byte).expect("a byte")),
            })
        })
    };
    let bytes = lanes(|i| i + 1)?;
    assert_eq!(Some(bytes), lanes(|i| (i + 1) * 37 % 127), "{}", level.name);
    Some(with(|machine| {
        let lane = |at: Option<usize>| match at {
            Some(at) => machine.arena.input(at),
            None => machine.arena.constant(0),
        };
        bytes.map(lane).to_vec()
    }))
}

thread_local! {
    /// What the paths of other lengths have shown.
    static EXPLORERS: [RefCell<Explorer>; 2] =
        [false, true].map(|last| RefCell::new(Explorer::new(last)));
}

/// What to explore.
#[derive(Clone, Copy)]
struct Config {
    len: usize,
    /// The remainder of the address by 64.
    alignment: usize,
    /// The number of bytes at the start that precede the chunk.
    held: usize,
    firsts: Firsts,
    /// The number of random paths, in place of all paths.
    random: Option<u64>,
}

impl Config {
    fn new(len: usize, firsts: Firsts) -> Self {
        Self { len, alignment: 0, held: 0, firsts, random: None }
    }
}

/// Explores the paths of an operation. Returns their number.
fn explore(config: &Config, words: Option<Vec<Lane>>, run: impl Fn(&[u8]) -> Outcome) -> u64 {
    let input = Input::new(config.len, config.alignment);
    EXPLORERS.with(|explorers| {
        let counts = explorers.each_ref().map(|explorer| {
            let explorer = &mut *explorer.borrow_mut();
            (explorer.firsts, explorer.held) = (config.firsts, config.held);
            with(|machine| {
                if words.is_none() {
                    machine.begin(input.bytes());
                }
                machine.words = words.clone();
                let (held, arena) = (config.held, &mut machine.arena);
                machine.word = (held > 0).then(|| {
                    std::array::from_fn(|i| match (i + held).checked_sub(4) {
                        Some(at) => arena.input(at),
                        None => arena.constant(0),
                    })
                });
            });
            let before = explorer.counts.paths;
            explorer.explore(input.bytes(), config.random, &|| run(input.bytes()));
            explorer.counts.paths - before
        });
        assert_eq!(counts[0], counts[1], "a level distinguishes lanes: {} bytes", config.len);
        counts[0]
    })
}

fn explore_all(name: &str, configs: &[Config], explore: impl Fn(&Config) -> u64 + Sync) {
    let paths = sum_of(configs, explore);
    println!("{name}: {} inputs, {paths} paths", configs.len());
}

/// Explores `Level::validate`.
fn validate(level: &Shipped, configs: &[Config]) {
    if !runs_here(level.name) {
        return;
    }
    explore_all(level.name, configs, |config| {
        let words = if config.len <= 16 { words(level, config.len) } else { None };
        explore(config, words, |input| {
            // SAFETY: this machine has the features: `runs_here`.
            outcome(unsafe { (level.validate)(input) }, config.len)
        })
    });
}

/// Explores `Level::validate_next`, after the first bytes of an input.
fn validate_next(level: &Shipped, configs: &[Config]) {
    if !runs_here(level.name) {
        return;
    }
    explore_all(level.name, configs, |config| {
        let (ascii, text) = (Cell::new(false), Cell::new(false));
        let paths = explore(config, None, |input| {
            // SAFETY: this machine has the features: `runs_here`.
            match unsafe { (level.validate_next)(0, &input[config.held..]) } {
                None => Outcome::Near(0),
                // The last byte is `FILL`, so this does not depend on the last bytes.
                Some(0) => {
                    ascii.set(true);
                    Outcome::All
                }
                Some(_) => {
                    text.set(true);
                    Outcome::AllButTail
                }
            }
        });
        assert!(ascii.get() && text.get(), "{} bytes are never accepted", config.len);
        paths
    });
}

/// Explores `Level::valid_prefix_len` and `Level::copy_valid_prefix`.
fn valid_prefix(level: &Shipped, configs: &[Config]) {
    if !runs_here(level.name) {
        return;
    }
    let near = |len: usize| Outcome::Near(if len == 0 { 0 } else { len + 1 });
    explore_all(level.name, configs, |config| {
        let longest = Cell::new(0);
        let len = explore(config, None, |input| {
            // SAFETY: this machine has the features: `runs_here`.
            let len = unsafe { (level.valid_prefix_len)(input) };
            longest.set(longest.get().max(len));
            near(len)
        });
        // The path without marks. The last byte of a block is `FILL`, a sequence that continues.
        let whole_blocks = config.len / level.block * level.block;
        assert_eq!(longest.get(), whole_blocks.saturating_sub(1));
        let copy = explore(config, None, |input| {
            let mut out = vec![MaybeUninit::new(0); input.len()];
            // SAFETY: as before.
            let len = unsafe { (level.copy_valid_prefix)(input, &mut out) };
            with(|machine| {
                for (address, lane) in std::mem::take(&mut machine.stored) {
                    let at = address - out.as_ptr().addr();
                    assert!(at < out.len());
                    assert_eq!(lane, machine.arena.input(at), "a copy");
                    out[at].write(1);
                }
            });
            // SAFETY: all are initialised.
            let copied = out.iter().take_while(|byte| unsafe { byte.assume_init() } == 1).count();
            assert!(copied >= len, "{copied} bytes copied, {len} returned");
            near(len)
        });
        assert_eq!(len, copy);
        len + copy
    });
}

fn configs(lengths: impl IntoIterator<Item = usize>, firsts: Firsts) -> Vec<Config> {
    lengths.into_iter().map(|len| Config::new(len, firsts)).collect()
}

/// Lemmas 5 and 14 for a few lengths of each function: a quick check.
#[test]
fn some_short_inputs_are_marked_exactly() {
    for (level, lengths) in [
        (&SSE41, [4, 9, 15, 24, 35, 66]),
        (&AVX2, [5, 16, 17, 33, 35, 67]),
        (&AVX512, [4, 33, 63, 64, 65, 131]),
    ] {
        validate(level, &configs(lengths, Firsts::One));
    }
    for level in [&SSE41, &AVX2] {
        validate_next(level, &chunks([35, 64, 127, 200]));
    }
}

/// Lemma 5, short inputs: every length up to the strides, and every path.
#[test]
#[ignore = "a minute in release mode"]
fn all_short_inputs_are_marked_exactly() {
    validate(&SSE41, &configs(4..=256, Firsts::Edges));
    validate(&AVX2, &configs(4..=256, Firsts::Edges));
    validate(&AVX512, &configs(4..=319, Firsts::Edges));
}

/// Chunks of these lengths, after each number of bytes.
fn chunks(lengths: impl IntoIterator<Item = usize> + Clone) -> Vec<Config> {
    let after = |held: usize| {
        let config = move |len| Config { held, ..Config::new(held + len, Firsts::One) };
        lengths.clone().into_iter().map(config)
    };
    (0..=3).flat_map(after).collect()
}

/// Lemma 14: every length and every path.
#[test]
#[ignore = "a quarter of a minute in release mode"]
fn chunks_after_a_part_of_a_character_are_marked_exactly() {
    for level in [&SSE41, &AVX2] {
        validate_next(level, &chunks(35..=256));
    }
}

/// Lemma 5, every index of a mark.
#[test]
#[ignore = "a minute in release mode"]
fn every_lane_is_marked_exactly() {
    validate(&SSE41, &configs([16, 19, 32, 63, 100, 200], Firsts::Every));
    validate(&AVX2, &configs([16, 24, 34, 35, 64, 65, 101, 200], Firsts::Every));
    validate(&AVX512, &configs([31, 63, 64, 66, 128, 193, 300], Firsts::Every));
}

/// Lemma 6, long inputs: every path of one to three strides.
#[test]
#[ignore = "a minute in release mode"]
fn all_paths_of_a_few_strides_are_marked_exactly() {
    let at = |lengths: &[usize], alignments: &[usize]| -> Vec<_> {
        let each = lengths.iter().flat_map(|len| alignments.iter().map(move |at| (*len, *at)));
        each.map(|(len, alignment)| Config { alignment, ..Config::new(len, Firsts::One) }).collect()
    };
    validate(&AVX512, &at(&[320, 321, 384, 500, 577], &[0, 1, 48, 49, 63]));
    validate(&AVX2, &at(&[257, 300, 385], &[0, 1, 30, 33, 63]));
    validate(&SSE41, &at(&[257, 300, 385], &[0, 1, 14, 63]));
}

/// Lemma 6, long inputs: random paths of up to 4 KiB, which reach every state of the loops.
#[test]
#[ignore = "a minute in release mode"]
fn random_paths_of_long_inputs_are_marked_exactly() {
    let random: Vec<_> = (0..30)
        .map(|i| {
            let len = 330 + i * i * 4 + i % 7;
            Config { alignment: i * 29 % 64, random: Some(40), ..Config::new(len, Firsts::One) }
        })
        .collect();
    for level in [&AVX512, &AVX2, &SSE41] {
        validate(level, &random);
    }
}

/// Lemma 7.
#[test]
fn every_valid_prefix_is_well_formed() {
    strings(4, 0, &mut |bytes| {
        let well_formed = verdict(bytes).0;
        assert_eq!(reference_prefix(bytes), (well_formed, bytes[..well_formed].to_vec()));
    });
    for level in [&SSE41, &AVX2, &AVX512] {
        let block = level.block;
        let lengths = [block - 1, block, 2 * block, 2 * block + 1, 3 * block];
        valid_prefix(level, &configs(lengths, Firsts::Edges));
    }
}

/// Whether a level takes an input for ASCII without looking at a vector.
fn skips_vectors(level: &Shipped, input: &Input) -> bool {
    with(|machine| {
        machine.begin(input.bytes());
        machine.seen_words = None;
        machine.script = Some(Box::new(NothingSet));
    });
    // SAFETY: the callers have asked `runs_here`.
    unsafe { (level.validate)(input.bytes()) };
    with(|machine| machine.seen_words.is_none())
}

/// Lemma 8. Inputs of up to three bytes, and ASCII in words.
#[test]
fn the_shortest_inputs_have_the_verdict_of_the_automaton() {
    let levels = [SSE41, AVX2].into_iter().filter(|level| runs_here(level.name));
    let levels: Vec<_> = levels.collect();
    strings(3, 0, &mut |bytes| {
        let expected = verdict(bytes);
        let check = |name: &str, found: Validated| {
            let found = (found.valid_up_to, found.error_len.get());
            assert_eq!(found, expected, "{name}: {bytes:02x?}");
        };
        check("scalar", reference_validate(bytes));
        for level in &levels {
            // SAFETY: this machine has the features: `runs_here`.
            check(level.name, unsafe { (level.validate)(bytes) });
        }
        for level in utf8_simd::Level::available() {
            let found = level.validate(bytes);
            let found = (found.valid_up_to, found.error_len.get());
            assert_eq!(found, expected, "{}: {bytes:02x?}", level.name());
        }
    });
    // The scalar level: the first byte that is not ASCII, in three blocks.
    for len in 0..=48 {
        for at in 0..=len {
            for byte in CLASSES {
                let mut bytes = vec![0x7F; len];
                bytes[at..].fill(byte);
                let found = reference_validate(&bytes);
                assert_eq!((found.valid_up_to, found.error_len.get()), verdict(&bytes));
            }
        }
    }
    // Words: the test is linear, so that one byte at a time decides.
    for level in [SSE41, AVX2].iter().filter(|level| runs_here(level.name)) {
        for len in 4..=16 {
            let mut input = Input::new(len, 0);
            for at in 0..len {
                let from = input.from;
                input.memory[from..from + len].fill(0x7F);
                assert!(skips_vectors(level, &input));
                input.memory[from + at] = 0x80;
                assert!(!skips_vectors(level, &input), "{}: {at} of {len}", level.name);
            }
        }
    }
}

/// Lemma 8, an error at each index.
#[test]
fn text_with_an_error_at_every_index_has_the_verdict_of_the_automaton() {
    for fill in ["a", "é", "€", "😀"] {
        for at in 0..=700 {
            let mut bytes = fill.repeat(800 / fill.len()).into_bytes();
            if let Some(byte) = bytes.get_mut(at).filter(|_| at < 700) {
                *byte = 0xFF;
            }
            let expected = verdict(&bytes);
            for level in utf8_simd::Level::available() {
                let found = level.validate(&bytes);
                let found = (found.valid_up_to, found.error_len.get());
                assert_eq!(found, expected, "{}: {fill}, {at}", level.name());
                let counted = level.valid_prefix_len(&bytes);
                assert!(counted <= expected.0, "{}: {fill}, {at}: {counted}", level.name());
                assert!(counted + 66 >= expected.0, "{}: {fill}, {at}: {counted}", level.name());
            }
        }
    }
}

/// Lemma 8, the first byte after ASCII: every byte, at every index. With a byte that begins no sequence, the levels
/// return before they test a mark; [`FILL`] is none, so lemmas 5 and 6 do not explore this.
#[test]
fn a_byte_after_ascii_has_the_verdict_of_the_automaton() {
    for len in [257, 320, 333, 800] {
        for at in 0..len {
            let mut bytes = vec![b'a'; len];
            for byte in 0x80..=0xFF {
                bytes[at] = byte;
                let expected = verdict(&bytes);
                for level in utf8_simd::Level::available() {
                    let found = level.validate(&bytes);
                    let found = (found.valid_up_to, found.error_len.get());
                    assert_eq!(found, expected, "{}: {byte:02x} at {at}", level.name());
                }
            }
        }
    }
}

/// Lemma 8, all bytes.
#[test]
#[ignore = "a minute in release mode"]
fn all_strings_of_three_bytes_have_the_verdict_of_the_automaton() {
    let firsts: Vec<u8> = (0..=0xFF).collect();
    sum_of(&firsts, |&first| {
        for level in utf8_simd::Level::available() {
            for rest in 0..=u16::MAX {
                let [second, third] = rest.to_le_bytes();
                let bytes = [first, second, third];
                for len in 1..=3 {
                    let found = level.validate(&bytes[..len]);
                    let found = (found.valid_up_to, found.error_len.get());
                    assert_eq!(found, verdict(&bytes[..len]), "{}", level.name());
                }
            }
        }
        1
    });
}

/// All strings of up to `len` bytes, of one byte per class, without an error at the bytes before `fine`.
fn strings(len: usize, fine: usize, check: &mut impl FnMut(&[u8])) {
    fn extend(bytes: &mut Vec<u8>, len: usize, fine: usize, check: &mut impl FnMut(&[u8])) {
        check(bytes);
        if bytes.len() == len {
            return;
        }
        for byte in CLASSES {
            bytes.push(byte);
            if bytes.len() > fine || is_fine(window(bytes, bytes.len() - 1)) {
                extend(bytes, len, fine, check);
            }
            bytes.pop();
        }
    }
    extend(&mut Vec::new(), len, fine, check);
}

/// The byte at an index and the three before it.
fn window(bytes: &[u8], at: usize) -> [u8; 4] {
    std::array::from_fn(|i| (at + i).checked_sub(3).map_or(0, |at| bytes[at]))
}

/// Lemma 4. The result that is computed from the first mark is that of the automaton. It depends on at most three
/// bytes before the mark, and then on the scalar level.
#[test]
fn the_first_mark_determines_the_result() {
    let mut count = 0;
    for near in 0..=5 {
        // Two bytes after the mark: with one before, a sequence of four.
        strings(near + 2, near, &mut |bytes| {
            count += 1;
            if bytes.len() < near {
                return;
            }
            let expected = reference_validate(bytes);
            let by_automaton = verdict(bytes);
            assert_eq!((expected.valid_up_to, expected.error_len.get()), by_automaton);
            if near < bytes.len() && !is_fine(window(bytes, near)) {
                assert_eq!(error_near(bytes, near), expected, "{near}: {bytes:02x?}");
            }
            let start = sequence_start(bytes, near);
            assert!(start <= near && near <= start + 3);
            assert_eq!(verdict(&bytes[..start]), (start, None), "{near}: {bytes:02x?}");
            if near == bytes.len() {
                assert_eq!(all_but_tail(bytes), expected, "{bytes:02x?}");
                if let Some(&last) = bytes.last_chunk() {
                    let whole = bytes.len() - incomplete_len(last);
                    assert_eq!(whole, expected.valid_up_to, "{bytes:02x?}");
                }
            }
        });
    }
    println!("{count} strings");
}
