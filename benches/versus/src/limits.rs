//! Validation and conversions beside loops that only load the same input, and store as many bytes, in the widest vectors
//! of the level: for each cache.

use std::hint::black_box;

use utf8_simd::{Latin1, Level, Stop, Transcoded, Utf8, Utf16, is_utf8, transcode};

use crate::support::{Bench, Corpus, Room, Row, Work};

/// The bytes that an operation reads and writes. They fit in common sizes of the cache with this name; the last do not fit in
/// any.
const SIZES: [(&str, usize); 4] =
    [("L1", 24 << 10), ("L2", 512 << 10), ("L3", 8 << 20), ("DRAM", 128 << 20)];

const SCRIPTS: [Corpus; 4] = [Corpus::Ascii, Corpus::Cyrillic, Corpus::Cjk, Corpus::Emoji];

/// The length of the text that is repeated: too long for a branch predictor to learn.
const PART: usize = 1 << 20;

pub(crate) fn limits(bench: &mut Bench) {
    for (size, total) in SIZES {
        for corpus in SCRIPTS {
            validate(bench, corpus, size, total);
        }
        for corpus in SCRIPTS {
            let part = corpus.text(PART, 0);
            let row = Conversion { corpus, size, total, part: &part };
            let (bytes, wide) =
                (|text: &str| text.as_bytes().to_vec(), 2 * part.encode_utf16().count());
            row.measure(bench, "limit-to-utf-16", wide, bytes, transcode::<Utf8, Utf16>);
            let units = |text: &str| text.encode_utf16().collect();
            row.measure(bench, "limit-from-utf-16", wide, units, transcode::<Utf16, Utf8>);
            let wide = 4 * part.chars().count();
            row.measure(bench, "limit-to-chars", wide, bytes, transcode::<Utf8, char>);
            let chars = |text: &str| text.chars().collect();
            row.measure(bench, "limit-from-chars", wide, chars, transcode::<char, Utf8>);
        }
        for corpus in [Corpus::Ascii, Corpus::Latin] {
            let as_latin1 = |c| u8::try_from(c).unwrap_or(0xE9);
            let part: String =
                corpus.text(PART, 0).chars().map(as_latin1).map(char::from).collect();
            let row = Conversion { corpus, size, total, part: &part };
            let (bytes, narrow) = (|text: &str| text.as_bytes().to_vec(), part.chars().count());
            row.measure(bench, "limit-to-latin-1", narrow, bytes, transcode::<Utf8, Latin1>);
            let latin1 = |text: &str| text.chars().map(as_latin1).collect();
            row.measure(bench, "limit-from-latin-1", narrow, latin1, transcode::<Latin1, Utf8>);
        }
    }
}

fn validate(bench: &mut Bench, corpus: Corpus, size: &str, total: usize) {
    let Some(name) = bench.name("limit-validate", corpus.name(), size) else { return };
    let input = at_line(repeated(&corpus.text(PART, 0), total).as_bytes());
    let mut row = Row::new(name, Work::new(input.len(), 1, "text"));
    row.expect(1);
    row.ours(|| is_utf8(black_box(&input)).into());
    row.expect(0);
    row.floor("(limit)", || load_and_store(black_box(&input), &mut []));
    bench.measure(row);
}

struct Conversion<'a> {
    corpus: Corpus,
    size: &'a str,
    /// The bytes that are read and written.
    total: usize,
    part: &'a str,
}

impl Conversion<'_> {
    /// Measures the conversion of an input made of text. One side of it is UTF-8; the other has `other` bytes for a part.
    fn measure<I: Item, O: Item>(
        &self,
        bench: &mut Bench,
        what: &str,
        other: usize,
        input: impl Fn(&str) -> Vec<I>,
        convert: impl Fn(&[I], &mut [O]) -> Transcoded,
    ) {
        let Some(name) = bench.name(what, self.corpus.name(), self.size) else { return };
        let len = self.total * self.part.len() / (self.part.len() + other);
        let input = at_line(&input(&repeated(self.part, len)));
        let written = convert(&input, &mut vec![O::default(); 4 * input.len()]).written;
        let [bytes, stored] = [size_of_val(&*input), written * size_of::<O>()];
        let (mut output, mut limit) = (Room::aligned(written, LINE), Room::aligned(stored, LINE));
        let mut row = Row::new(name, Work::new(bytes, 1, "text"));
        row.expect(written);
        row.ours(|| {
            let done = convert(black_box(&input), &mut output);
            assert_eq!(done.stop, Stop::Done);
            black_box(&output);
            done.written as u64
        });
        row.expect(stored / LINE);
        row.floor("(limit)", || load_and_store(black_box(as_bytes(&input)), black_box(&mut limit)));
        bench.measure(row);
    }
}

/// The text again and again, of this length or less, whole characters.
fn repeated(part: &str, len: usize) -> String {
    let rest = len % part.len();
    let end = (0..=rest).rev().find(|&end| part.is_char_boundary(end)).unwrap_or(0);
    part.repeat(len / part.len()) + &part[..end]
}

// ---- the limit ------------------------------------------------------------------------------------

/// The bytes of a cache line, and of the widest vector.
const LINE: usize = 64;

/// A unit of text.
///
/// # Safety
///
/// - It has no padding.
unsafe trait Item: Copy + Default {}

// SAFETY: an integer.
unsafe impl Item for u8 {}
// SAFETY: an integer.
unsafe impl Item for u16 {}
// SAFETY: it is represented as an integer.
unsafe impl Item for char {}

fn as_bytes<I: Item>(items: &[I]) -> &[u8] {
    // SAFETY: all of these bytes are initialised, as an `Item` has no padding.
    unsafe { std::slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

/// The same items, from the start of a cache line.
fn at_line<T: Item>(items: &[T]) -> Room<T> {
    let mut room = Room::aligned(items.len(), LINE);
    room.copy_from_slice(items);
    room
}

/// Loads the lines of `input` and stores to those of `output`, in turns. Returns the number of lines stored.
fn load_and_store(input: &[u8], output: &mut [u8]) -> u64 {
    let (input, output) = (input.as_chunks().0, output.as_chunks_mut().0);
    match Level::detect().name() {
        // SAFETY: the level exists, so the machine has AVX-512.
        #[cfg(target_arch = "x86_64")]
        "avx512" => unsafe { by_64::load_and_store(input, output) },
        // SAFETY: the level exists, so the machine has AVX2.
        #[cfg(target_arch = "x86_64")]
        "avx2" => unsafe { by_32::load_and_store(input, output) },
        _ => by_16(input, output),
    }
}

type Lines<'a> = &'a [[u8; LINE]];
type LinesMut<'a> = &'a mut [[u8; LINE]];

/// Calls `load` with four lines, then `store` with as many lines as belong to them, and so on.
#[inline(always)]
fn in_turns(
    input: Lines<'_>,
    output: LinesMut<'_>,
    mut load: impl FnMut(&[[u8; LINE]; 4]),
    mut store: impl FnMut(&mut [u8; LINE]),
) -> u64 {
    let (loads, stores) = (input.len().max(1), output.len());
    let (mut lines, mut due) = (output.iter_mut(), 0);
    for four in input.as_chunks().0 {
        load(four);
        due += 4 * stores;
        while due >= loads {
            due -= loads;
            lines.next().map(&mut store);
        }
    }
    lines.for_each(store);
    stores as u64
}

fn by_16(input: Lines<'_>, output: LinesMut<'_>) -> u64 {
    let mut all = [[0; 16]; 4];
    let load = |four: &[[u8; LINE]; 4]| {
        for line in four {
            for (all, part) in all.iter_mut().zip(line.as_chunks::<16>().0) {
                *all = (u128::from_ne_bytes(*all) | u128::from_ne_bytes(*part)).to_ne_bytes();
            }
        }
    };
    let stored = in_turns(input, output, load, |line| line.fill(1));
    black_box(all);
    stored
}

/// The same with vectors of a feature.
#[cfg(target_arch = "x86_64")]
macro_rules! by_vectors {
    ($module:ident, $feature:literal, $vector:ident, $zero:ident, $load:ident, $or:ident, $store:ident) => {
        mod $module {
            use std::arch::x86_64::*;
            use std::hint::black_box;

            use super::{LINE, Lines, LinesMut, in_turns};

            #[target_feature(enable = $feature)]
            pub(super) fn load_and_store(input: Lines<'_>, output: LinesMut<'_>) -> u64 {
                let mut all = [$zero(); 4];
                let load = |four: &[[u8; LINE]; 4]| {
                    for (all, line) in all.iter_mut().zip(four) {
                        for part in line.as_chunks::<{ size_of::<$vector>() }>().0 {
                            // SAFETY: there are the bytes that are loaded, and the machine has the feature.
                            *all = unsafe { $or(*all, $load(part.as_ptr().cast())) };
                        }
                    }
                };
                let store = |line: &mut [u8; LINE]| {
                    for part in line.as_chunks_mut::<{ size_of::<$vector>() }>().0 {
                        // SAFETY: there is room for the bytes that are stored, and the machine has the feature.
                        unsafe { $store(part.as_mut_ptr().cast(), $zero()) };
                    }
                };
                let stored = in_turns(input, output, load, store);
                black_box(all);
                stored
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
by_vectors!(
    by_64,
    "avx512f",
    __m512i,
    _mm512_setzero_si512,
    _mm512_loadu_si512,
    _mm512_or_si512,
    _mm512_storeu_si512
);
#[cfg(target_arch = "x86_64")]
by_vectors!(
    by_32,
    "avx2",
    __m256i,
    _mm256_setzero_si256,
    _mm256_loadu_si256,
    _mm256_or_si256,
    _mm256_storeu_si256
);
