//! The crate beside the development heads of simdutf and simdutf8: validation and conversions of one input in one call.

mod simdutf;
#[path = "../../support/simdutf_level.rs"]
mod simdutf_level;
#[path = "../../support/mod.rs"]
mod support;

use std::hint::black_box;
use std::ops::{Range, RangeInclusive};

use clap::Parser;
use simdutf_level::force_simdutf;
use support::corpus::Pool;
use support::{Bench, Corpus, Options, Rng, Room, Row, Work};
use utf8_simd::{
    Latin1, Level, Stop, Transcoded, Utf8, Utf16, Utf16Be, Utf32, from_utf8, is_utf8, transcode,
    transcode_lossy,
};

/// Measures validation and conversions beside the development heads of simdutf and simdutf8.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

/// Bytes of all inputs of a row, if one is not longer: they fit in an L1 cache.
const L1: usize = 24 << 10;
/// Bytes of the longest inputs.
const LONG: usize = 64 << 10;

fn main() {
    let Arguments { options } = Arguments::parse();
    if let Some(level) = options.level {
        force_simdutf(level);
    }
    let effort = options.effort();
    let milliseconds = effort.sample as f64 / 1e6;
    let commits = [
        ("utf8-codec", env!("OURS_COMMIT")),
        ("simdutf", env!("SIMDUTF_COMMIT")),
        ("simdutf8", env!("SIMDUTF8_COMMIT")),
    ];
    let about = [
        ("commits", commits.map(|(name, commit)| format!("{name} {commit}")).join(", ")),
        ("compilers", env!("COMPILERS").to_owned()),
        ("samples", format!("medians of {}, each of at least {milliseconds} ms", effort.rounds)),
    ];
    Bench::new(options, effort, &about).run(&[
        validate,
        locate,
        convert,
        latin1,
        count_units,
        repair,
    ]);
}

/// simdutf8 selects the best implementation; that of a lower level has to be called by name.
fn simdutf8_validate(input: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if Level::detect().name() == "avx2" && input.len() >= 64 {
        // SAFETY: there is a level of this name, so the machine has AVX2.
        return unsafe { simdutf8::basic::imp::x86::avx2::validate_utf8(input) }.is_ok();
    }
    simdutf8::basic::from_utf8(input).is_ok()
}

fn validate(bench: &mut Bench) {
    const SHORT: [usize; 8] = [1, 2, 4, 8, 16, 24, 64, 256];
    const LENGTHS: [usize; 3] = [1460, 8192, LONG];
    for corpus in Corpus::SCRIPTS {
        let exact = |len: usize| (len.to_string(), len..=len, 16);
        let lengths = SHORT.map(exact).into_iter().chain([("1-24".to_owned(), 1..=24, 16)]);
        let long = LENGTHS.map(|len| (format!("{len}+24"), len..=len, 24));
        for (size, lengths, offset) in lengths.chain(LENGTHS.map(exact)).chain(long) {
            validate_row(bench, corpus, size, lengths, offset);
        }
    }
}

fn validate_row(
    bench: &mut Bench,
    corpus: Corpus,
    size: String,
    lengths: RangeInclusive<usize>,
    offset: usize,
) {
    let Some(name) = bench.name("validate", corpus.name(), size) else { return };
    // In the L1 cache, if one fits.
    let pool = Pool::at(offset, corpus, lengths, L1);
    let messages = pool.messages();
    let bytes = messages.iter().map(|message| message.len()).sum();
    let mut row = Row::new(name, Work::new(bytes, messages.len(), "message"));
    row.expect(messages.len());
    row.ours(count(&messages, is_utf8));
    row.peer("simdutf", count(&messages, simdutf::validate_utf8));
    row.peer("simdutf8", count(&messages, simdutf8_validate));
    bench.measure(row);
}

fn count<'a>(
    messages: &'a [&'a [u8]],
    is_valid: impl Fn(&[u8]) -> bool + 'a,
) -> impl FnMut() -> u64 + 'a {
    move || black_box(messages).iter().map(|message| u64::from(is_valid(message))).sum()
}

/// The offset of the first error in 8 KiB.
fn locate(bench: &mut Bench) {
    for (place, at) in [("start", 0), ("middle", 4096), ("end", 8128)] {
        for corpus in Corpus::SCRIPTS {
            let Some(name) = bench.name("locate", corpus.name(), place) else { continue };
            let broken = |seed| {
                let mut input = corpus.text(8192, seed).into_bytes();
                input[at + Rng::new(seed).range(0..=63)] = 0xFF;
                input
            };
            let inputs: Vec<_> = (0..32).map(broken).collect();
            let sum = |place: fn(&[u8]) -> usize| {
                move |inputs: &[Vec<u8>]| inputs.iter().map(|input| place(input)).sum::<usize>()
            };
            let ours =
                |input: &[u8]| from_utf8(input).map_or_else(|error| error.valid_up_to(), str::len);
            let theirs = |input: &[u8]| {
                simdutf8::compat::from_utf8(input)
                    .map_or_else(|error| error.valid_up_to(), str::len)
            };
            let found = sum(ours)(&inputs);
            let mut row = Row::new(name, Work::new(found, inputs.len(), "error"));
            row.expect(found);
            row.ours(|| sum(ours)(black_box(&inputs)) as u64);
            row.peer("simdutf", || sum(simdutf::valid_up_to)(black_box(&inputs)) as u64);
            if Level::detect().name() != "avx2" {
                row.peer("simdutf8", || sum(theirs)(black_box(&inputs)) as u64);
            }
            bench.measure(row);
        }
    }
}

/// The lengths of texts in bytes; the last begin 24 bytes after a multiple of 64.
const SIZES: [(&str, usize, usize); 7] = [
    ("16", 16, 0),
    ("64", 64, 0),
    ("1460", 1460, 0),
    ("8192", 8192, 0),
    ("65536", LONG, 0),
    ("1460+24", 1460, 24),
    ("65536+24", LONG, 24),
];

fn convert(bench: &mut Bench) {
    for (size, len, offset) in SIZES {
        for corpus in Corpus::SCRIPTS {
            let texts = texts(corpus, len);
            let bytes = Inputs::new(texts.iter().map(|text| text.clone().into_bytes()), offset);
            let in_units = || texts.iter().map(|text| text.encode_utf16().collect::<Vec<_>>());
            let units: Inputs<u16> = Inputs::new(in_units(), offset);
            let swap = |units: Vec<u16>| units.into_iter().map(u16::to_be).collect::<Vec<_>>();
            let swapped: Inputs<u16> = Inputs::new(in_units().map(swap), offset);
            let as_bytes =
                |units: Vec<u16>| units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            let big_endian: Inputs<u8> = Inputs::new(in_units().map(as_bytes), offset);
            let chars = texts.iter().map(|text| text.chars().collect());
            let chars: Inputs<char> = Inputs::new(chars, offset);
            let numbers = texts.iter().map(|text| text.chars().map(u32::from).collect());
            let numbers: Inputs<u32> = Inputs::new(numbers, offset);

            conversion(
                bench,
                ("to-utf-16", corpus, size),
                (&bytes, whole(transcode::<Utf8, Utf16>)),
                (&bytes, simdutf::utf8_to_utf16),
            );
            conversion(
                bench,
                ("to-chars", corpus, size),
                (&bytes, whole(transcode::<Utf8, char>)),
                (&bytes, simdutf::utf8_to_utf32),
            );
            conversion(
                bench,
                ("from-utf-16", corpus, size),
                (&units, whole(transcode::<Utf16, Utf8>)),
                (&units, simdutf::utf16_to_utf8),
            );
            conversion(
                bench,
                ("from-chars", corpus, size),
                (&chars, whole(transcode::<char, Utf8>)),
                (&numbers, simdutf::utf32_to_utf8),
            );
            conversion(
                bench,
                ("to-utf-32", corpus, size),
                (&bytes, whole(transcode::<Utf8, Utf32>)),
                (&bytes, simdutf::utf8_to_utf32),
            );
            conversion(
                bench,
                ("from-utf-32", corpus, size),
                (&numbers, whole(transcode::<Utf32, Utf8>)),
                (&numbers, simdutf::utf32_to_utf8),
            );
            let halved = whole(transcode::<Utf8, Utf16Be>);
            conversion(
                bench,
                ("to-utf-16be", corpus, size),
                (&bytes, move |input: &[u8], output: &mut [u8]| halved(input, output) / 2),
                (&bytes, simdutf::utf8_to_utf16be),
            );
            conversion(
                bench,
                ("from-utf-16be", corpus, size),
                (&big_endian, whole(transcode::<Utf16Be, Utf8>)),
                (&swapped, simdutf::utf16be_to_utf8),
            );
            conversion(
                bench,
                ("utf-16-to-utf-32", corpus, size),
                (&units, whole(transcode::<Utf16, Utf32>)),
                (&units, simdutf::utf16_to_utf32),
            );
            conversion(
                bench,
                ("utf-32-to-utf-16", corpus, size),
                (&numbers, whole(transcode::<Utf32, Utf16>)),
                (&numbers, simdutf::utf32_to_utf16),
            );
        }
    }
}

/// The characters and the UTF-16 units of a text.
fn count_units(bench: &mut Bench) {
    for (size, len, offset) in SIZES {
        for corpus in Corpus::SCRIPTS {
            let texts = Inputs::new(texts(corpus, len).into_iter().map(String::into_bytes), offset);
            let texts: Vec<_> =
                texts.iter().map(|text| str::from_utf8(text).expect("texts are UTF-8")).collect();
            let bytes = texts.iter().map(|text| text.len()).sum();
            let sum = |count: fn(&str) -> usize| {
                let texts = &texts;
                move || black_box(texts).iter().map(|text| count(text) as u64).sum::<u64>()
            };
            let contenders: [(_, fn(&str) -> usize, fn(&str) -> usize); 2] = [
                ("count-chars", utf8_simd::count_chars, simdutf::count_chars),
                ("utf-16-len", utf8_simd::utf16_len, simdutf::utf16_len),
            ];
            for (what, ours, theirs) in contenders {
                let Some(name) = bench.name(what, corpus.name(), size) else { continue };
                let mut row = Row::new(name, Work::new(bytes, texts.len(), "text"));
                row.expect(sum(ours)() as usize);
                row.ours(sum(ours));
                row.peer("simdutf", sum(theirs));
                bench.measure(row);
            }
        }
    }
}

fn texts(corpus: Corpus, len: usize) -> Vec<String> {
    (0..(L1 / len).max(1)).map(|seed| corpus.text(len, seed as u64)).collect()
}

fn latin1(bench: &mut Bench) {
    for (size, len, offset) in SIZES {
        for corpus in [Corpus::Ascii, Corpus::Latin] {
            let as_latin1 = |c| u8::try_from(c).unwrap_or(0xE9);
            let latin1 = |text: &String| text.chars().map(as_latin1).collect();
            let latin1_texts: Vec<Vec<u8>> = texts(corpus, len).iter().map(latin1).collect();
            let as_text = |text: &Vec<u8>| text.iter().copied().map(char::from).collect::<String>();
            let bytes = latin1_texts.iter().map(|text| as_text(text).into_bytes());
            let bytes = Inputs::new(bytes, offset);
            let latin1 = Inputs::new(latin1_texts.clone(), offset);

            conversion(
                bench,
                ("to-latin-1", corpus, size),
                (&bytes, whole(transcode::<Utf8, Latin1>)),
                (&bytes, simdutf::utf8_to_latin1),
            );
            conversion(
                bench,
                ("from-latin-1", corpus, size),
                (&latin1, whole(transcode::<Latin1, Utf8>)),
                (&latin1, simdutf::latin1_to_utf8),
            );
            let units =
                latin1_texts.iter().map(|text| text.iter().copied().map(u16::from).collect());
            let units: Inputs<u16> = Inputs::new(units, offset);
            conversion(
                bench,
                ("utf-16-to-latin-1", corpus, size),
                (&units, whole(transcode::<Utf16, Latin1>)),
                (&units, simdutf::utf16_to_latin1),
            );
            conversion(
                bench,
                ("latin-1-to-utf-16", corpus, size),
                (&latin1, whole(transcode::<Latin1, Utf16>)),
                (&latin1, simdutf::latin1_to_utf16),
            );
        }
    }
}

/// UTF-16 in which single units are replaced by an unpaired surrogate, repaired.
fn repair(bench: &mut Bench) {
    for every in [16, 64, 1000] {
        for corpus in [Corpus::Ascii, Corpus::Cyrillic, Corpus::Cjk] {
            let mut units: Vec<_> = corpus.text(LONG, 0).encode_utf16().collect();
            let mut rng = Rng::new(every as u64);
            for part in units.chunks_mut(every) {
                part[rng.range(0..=part.len() - 1)] = 0xD800;
            }
            let units = Inputs::new([units], 0);
            let name = ("replace-from-utf-16", corpus, &*format!("1-in-{every}"));
            conversion(
                bench,
                name,
                (&units, whole(transcode_lossy::<Utf16, Utf8>)),
                (&units, simdutf::utf16_to_utf8_lossy),
            );
        }
    }
}

/// Inputs in one buffer. Each begins some bytes after a multiple of 64.
struct Inputs<T> {
    items: Vec<T>,
    ranges: Vec<Range<usize>>,
}

impl<T: Copy + Default> Inputs<T> {
    fn new(inputs: impl IntoIterator<Item = Vec<T>>, offset: usize) -> Self {
        let inputs: Vec<_> = inputs.into_iter().collect();
        let line = 64 / size_of::<T>();
        let most = inputs.iter().map(|input| input.len() + 2 * line).sum::<usize>() + 2 * line;
        let (mut items, mut ranges) = (vec![T::default(); most], Vec::new());
        let mut start = items.as_ptr().align_offset(64) + offset / size_of::<T>();
        for input in inputs {
            let end = start + input.len();
            items[start..end].copy_from_slice(&input);
            ranges.push(start..end);
            start += input.len().next_multiple_of(line);
        }
        Self { items, ranges }
    }

    fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.ranges.iter().map(|range| &self.items[range.clone()])
    }
}

/// A row in which the inputs are converted into a buffer, one after another: by ours, and by simdutf.
fn conversion<I, O, J, P>(
    bench: &mut Bench,
    (what, corpus, size): (&str, Corpus, &str),
    (inputs, ours): (&Inputs<I>, impl Fn(&[I], &mut [O]) -> usize),
    (their_inputs, theirs): (&Inputs<J>, impl Fn(&[J], &mut [P]) -> usize),
) where
    I: Copy + Default,
    O: Copy + Default,
    J: Copy + Default,
    P: Copy + Default,
{
    let Some(name) = bench.name(what, corpus.name(), size) else { return };
    let bytes = inputs.iter().map(size_of_val).sum();
    let mut ours = pass(inputs, ours);
    let mut row = Row::new(name, Work::new(bytes, inputs.ranges.len(), "text"));
    row.expect(ours() as usize);
    row.ours(ours);
    row.peer("simdutf", pass(their_inputs, theirs));
    bench.measure(row);
}

/// The number of units written for all inputs.
fn pass<I: Copy + Default, O: Copy + Default>(
    inputs: &Inputs<I>,
    convert: impl Fn(&[I], &mut [O]) -> usize,
) -> impl FnMut() -> u64 {
    let longest = inputs.ranges.iter().map(Range::len).max().unwrap_or(0);
    let mut output = Room::new(4 * longest);
    move || {
        let written = black_box(inputs).iter().map(|input| convert(input, &mut output));
        let written = written.sum::<usize>();
        black_box(&output);
        written as u64
    }
}

/// The number of units written by a conversion that ends with its input.
fn whole<I: ?Sized, O>(
    convert: impl Fn(&I, &mut [O]) -> Transcoded,
) -> impl Fn(&I, &mut [O]) -> usize {
    move |input, output| {
        let done = convert(input, output);
        assert_eq!(done.stop, Stop::Done);
        done.written
    }
}
