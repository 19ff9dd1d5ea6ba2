//! UTF-32, in numbers and in `char`s.

use super::{Errors, Sealed, Source, Stop, Target, Transcoded, Utf32};
use super::{through_utf16, utf16::is_high};
use crate::simd::{Level, surrogate_pair};

impl Sealed for char {}

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

    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [char],
        errors: Errors,
    ) -> Transcoded {
        S::to_chars(input, output, errors)
    }
}

impl Sealed for Utf32 {}

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

    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u32],
        errors: Errors,
    ) -> Transcoded {
        let put = |units: &[u16], out: &mut [u32]| put(units, u32::from, out);
        through_utf16::<S, u32>(input, output, errors, u16::MAX, put)
    }
}

/// Writes the characters of well-formed UTF-16 as `char`s, as many as fit. Returns the units read and the `char`s
/// written.
pub(super) fn put_chars(units: &[u16], output: &mut [char]) -> (usize, usize) {
    put(units, |c| c, output)
}

/// The units that are tested and converted together, and after which the next are.
const BLOCK: usize = 16;

fn put<U: Copy>(units: &[u16], of: impl Fn(char) -> U, output: &mut [U]) -> (usize, usize) {
    let one = |unit: u16| of(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER));
    let (mut read, mut written) = (0, 0);
    loop {
        while let (Some(from), Some(to)) =
            (units[read..].first_chunk::<BLOCK>(), output[written..].first_chunk_mut::<BLOCK>())
            && from.iter().fold(true, |none, unit| none & (unit & 0xF800 != 0xD800))
        {
            for (to, &from) in to.iter_mut().zip(from) {
                *to = one(from);
            }
            read += BLOCK;
            written += BLOCK;
        }
        for _ in 0..BLOCK {
            let (Some(&unit), Some(to)) = (units.get(read), output.get_mut(written)) else {
                return (read, written);
            };
            let pair = units.get(read + 1).and_then(|&low| surrogate_pair(unit, low));
            *to = pair.map_or_else(|| one(unit), &of);
            read += if is_high(unit) { 2 } else { 1 };
            written += 1;
        }
    }
}

fn decode<U: Copy>(
    input: &[U],
    value: impl Fn(U) -> u32,
    output: &mut [u16],
    errors: Errors,
) -> Transcoded {
    let (mut read, mut written) = (0, 0);
    let stop = loop {
        while let (Some(from), Some(to)) =
            (input[read..].first_chunk::<BLOCK>(), output[written..].first_chunk_mut::<BLOCK>())
            && from.iter().fold(0, |most, &unit| value(unit).max(most)) < 0xD800
        {
            for (to, &from) in to.iter_mut().zip(from) {
                *to = value(from) as u16;
            }
            read += BLOCK;
            written += BLOCK;
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
