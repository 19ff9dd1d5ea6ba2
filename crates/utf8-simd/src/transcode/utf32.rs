//! UTF-32, in numbers and in `char`s.

use super::utf8::put_damaged_ascii;
use super::utf16::is_surrogate;
use super::{Errors, Source, Stop, TOGETHER, Target, Transcoded, Utf32, put_by_blocks};
use crate::simd::{Level, surrogate_pair};

impl Source for char {
    type Input = [char];
    type InputUnit = char;
    const NAME: &str = "UTF-32";

    fn to_utf16(input: &[char], output: &mut [u16], errors: Errors) -> Transcoded {
        decode(input, u32::from, output, errors)
    }

    fn to_utf8(input: &[char], output: &mut [u8], _: Errors) -> Transcoded {
        Transcoded::until_full(Level::detect().encode_chars(input, output), input.len())
    }

    fn to_chars(input: &[char], output: &mut [char], _: Errors) -> Transcoded {
        let len = input.len().min(output.len());
        output[..len].copy_from_slice(&input[..len]);
        Transcoded::until_full((len, len), input.len())
    }
}

impl Target for char {
    type Unit = char;

    fn put(units: &[u16], output: &mut [char], _: Errors) -> (usize, usize) {
        put(units, output, |c| c)
    }

    fn put_damaged_ascii(input: &[u8], output: &mut [char]) -> (usize, usize) {
        put_damaged_ascii(input, output, char::REPLACEMENT_CHARACTER)
    }

    #[inline(always)]
    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [char],
        errors: Errors,
    ) -> Transcoded {
        S::to_chars(input, output, errors)
    }
}

impl Source for Utf32 {
    type Input = [u32];
    type InputUnit = u32;
    const NAME: &str = "UTF-32";

    fn to_utf16(input: &[u32], output: &mut [u16], errors: Errors) -> Transcoded {
        decode(input, |unit| unit, output, errors)
    }
}

impl Target for Utf32 {
    type Unit = u32;

    fn put(units: &[u16], output: &mut [u32], _: Errors) -> (usize, usize) {
        put(units, output, u32::from)
    }
}

/// Writes the characters of well-formed UTF-16, as many as fit. Returns the units read and written.
fn put<U: Copy>(units: &[u16], output: &mut [U], of: impl Fn(char) -> U) -> (usize, usize) {
    let plain = |unit: u16| char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER);
    let one = |rest: &[u16]| match *rest {
        [high, low, ..] => Some(of(surrogate_pair(high, low).unwrap_or_else(|| plain(high)))),
        [unit] => Some(of(plain(unit))),
        [] => None,
    };
    put_by_blocks(units, output, |unit| !is_surrogate(unit), |unit| of(plain(unit)), one)
}

fn decode<U: Copy>(
    input: &[U],
    value: impl Fn(U) -> u32,
    output: &mut [u16],
    errors: Errors,
) -> Transcoded {
    let (mut read, mut written) = (0, 0);
    let stop = loop {
        while let (Some(from), Some(to)) = (
            input[read..].first_chunk::<TOGETHER>(),
            output[written..].first_chunk_mut::<TOGETHER>(),
        ) && from.iter().fold(0, |most, &unit| value(unit).max(most)) < 0xD800
        {
            for (to, &from) in to.iter_mut().zip(from) {
                *to = value(from) as u16;
            }
            read += TOGETHER;
            written += TOGETHER;
        }
        let Some(&unit) = input.get(read) else { break Stop::Done };
        let c = match char::from_u32(value(unit)) {
            Some(c) => c,
            None if errors == Errors::Replace => char::REPLACEMENT_CHARACTER,
            None => break Stop::IllFormed(1),
        };
        let Some(to) = output.get_mut(written..written + c.len_utf16()) else { break Stop::Full };
        c.encode_utf16(to);
        read += 1;
        written += to.len();
    };
    Transcoded { read, written, stop }
}
