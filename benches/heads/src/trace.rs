//! Runs each operation once between calls of `trace_begin` and `trace_end`, for `arm-model`, which runs it in an emulator
//! that logs the instructions executed there.
//!
//! Prints `operation/script/contender/bytes of UTF-8` of each run, in order.

#[path = "../../support/corpus.rs"]
#[allow(dead_code, reason = "the benchmarks use more of it")]
mod corpus;
#[allow(dead_code, reason = "the benchmark uses more of it")]
mod simdutf;

use std::hint::black_box;

use corpus::Corpus;
use utf8_simd::{Latin1, Source, Stop, Target, Utf8, Utf16, is_utf8, transcode};

/// Bytes of UTF-8 of an input.
const LEN: usize = 8192;

fn main() {
    for script in [Corpus::Ascii, Corpus::Latin, Corpus::Cyrillic, Corpus::Cjk, Corpus::Emoji] {
        let text = script.text(LEN, 0);
        let run = Run { script: script.name(), len: text.len() };
        let bytes = text.as_bytes();
        run.measure("validate", "ours", 1, || is_utf8(black_box(bytes)).into());
        run.measure("validate", "simdutf", 1, || simdutf::validate_utf8(black_box(bytes)).into());
        run.measure("validate", "simdutf8", 1, || {
            simdutf8::basic::from_utf8(black_box(bytes)).is_ok().into()
        });

        let units: Vec<u16> = text.encode_utf16().collect();
        let chars: Vec<char> = text.chars().collect();
        let numbers: Vec<u32> = chars.iter().map(|&c| c.into()).collect();
        let to_utf16 = "UTF-8 to UTF-16";
        run.ours::<Utf8, Utf16>(to_utf16, bytes, units.len());
        run.simdutf(to_utf16, bytes, units.len(), simdutf::utf8_to_utf16);
        run.ours::<Utf8, char>("UTF-8 to chars", bytes, chars.len());
        run.simdutf("UTF-8 to chars", bytes, chars.len(), simdutf::utf8_to_utf32);
        run.ours::<Utf16, Utf8>("UTF-16 to UTF-8", &units, LEN);
        run.simdutf("UTF-16 to UTF-8", &units, LEN, simdutf::utf16_to_utf8);
        run.ours::<char, Utf8>("chars to UTF-8", &chars, LEN);
        run.simdutf("chars to UTF-8", &numbers, LEN, simdutf::utf32_to_utf8);
    }
    for script in [Corpus::Ascii, Corpus::Latin] {
        let text = script.text(LEN, 0);
        let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap_or(0xE9)).collect();
        let text: String = latin1.iter().copied().map(char::from).collect();
        let (run, bytes) = (Run { script: script.name(), len: text.len() }, text.as_bytes());
        run.ours::<Utf8, Latin1>("UTF-8 to Latin-1", bytes, latin1.len());
        run.simdutf("UTF-8 to Latin-1", bytes, latin1.len(), simdutf::utf8_to_latin1);
        run.ours::<Latin1, Utf8>("Latin-1 to UTF-8", &latin1, bytes.len());
        run.simdutf("Latin-1 to UTF-8", &latin1, bytes.len(), simdutf::latin1_to_utf8);
    }
}

struct Run {
    script: &'static str,
    len: usize,
}

impl Run {
    /// Runs it three times, the last time traced: by then its code is linked and the level detected.
    fn measure(
        &self,
        operation: &str,
        contender: &str,
        expected: usize,
        mut pass: impl FnMut() -> usize,
    ) {
        for _ in 0..2 {
            assert_eq!(pass(), expected, "{operation}, {contender}");
        }
        trace_begin();
        let answer = pass();
        trace_end();
        assert_eq!(answer, expected);
        println!("{operation}/{}/{contender}/{}", self.script, self.len);
    }

    fn ours<S: Source + ?Sized, T: Target>(
        &self,
        operation: &str,
        input: &S::Input,
        expected: usize,
    ) {
        let mut output = vec![T::Unit::default(); 4 * LEN];
        self.measure(operation, "ours", expected, || {
            let done = transcode::<S, T>(black_box(input), &mut output);
            assert_eq!(done.stop, Stop::Done);
            done.written
        });
    }

    fn simdutf<I, O: Copy + Default>(
        &self,
        operation: &str,
        input: &[I],
        expected: usize,
        convert: fn(&[I], &mut [O]) -> usize,
    ) {
        let mut output = vec![O::default(); 4 * LEN];
        self.measure(operation, "simdutf", expected, || convert(black_box(input), &mut output));
    }
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn trace_begin() {
    black_box(1);
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn trace_end() {
    black_box(2);
}
