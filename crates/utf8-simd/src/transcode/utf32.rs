//! UTF-32, in numbers and in `char`s.

use super::utf8::put_damaged;
use super::utf16::is_surrogate;
use super::{
    Errors, Source, Stop, Target, Transcoded, Utf32, convert_units, recode_first, replacing,
};
use crate::simd::{
    Level, RepairedPrefix, ScalarUnit, ToUtf8, ToUtf16, ToUtf32, scalar_values, surrogate_pair,
    tail,
};

impl Source for char {
    type Input = [char];
    type InputUnit = char;
    const NAME: &str = "UTF-32";

    #[inline(always)]
    fn to_utf16(input: &[char], output: &mut [u16], _: Errors) -> Transcoded {
        let recode =
            |chars: &[char], room: &mut [u16]| Level::detect().recode::<ToUtf16<char>>(chars, room);
        recode_first(input, output, recode, |rest, room| {
            Transcoded::until_full(encode_utf16(rest, room), rest.len())
        })
    }

    #[inline(always)]
    fn to_utf8(input: &[char], output: &mut [u8], _: Errors) -> Transcoded {
        Transcoded::until_full(Level::detect().encode_chars(input, output), input.len())
    }

    fn to_utf32<C: ScalarUnit>(input: &[char], output: &mut [C], _: Errors) -> Transcoded {
        Transcoded::until_full(copy(input, output), input.len())
    }
}

impl Target for char {
    type Unit = char;

    fn put_damaged(input: &[u8], output: &mut [char]) -> RepairedPrefix {
        put_damaged(input, output)
    }

    #[inline(always)]
    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [char],
        errors: Errors,
    ) -> Transcoded {
        S::to_utf32(input, output, errors)
    }
}

impl Source for Utf32 {
    type Input = [u32];
    type InputUnit = u32;
    const NAME: &str = "UTF-32";

    #[inline(always)]
    fn to_utf16(input: &[u32], output: &mut [u16], errors: Errors) -> Transcoded {
        let recode = |numbers: &[u32], room: &mut [u16]| {
            Level::detect().recode::<ToUtf16<u32>>(numbers, room)
        };
        recode_first(input, output, recode, |rest, room| rest_to_utf16(rest, room, errors))
    }

    #[inline(always)]
    fn to_utf8(input: &[u32], output: &mut [u8], errors: Errors) -> Transcoded {
        let recode =
            |numbers: &[u32], room: &mut [u8]| Level::detect().recode::<ToUtf8<u32>>(numbers, room);
        recode_first(input, output, recode, |rest, room| rest_to_utf8(rest, room, errors))
    }

    fn to_utf32<C: ScalarUnit>(input: &[u32], output: &mut [C], errors: Errors) -> Transcoded {
        let put = |rest: &[u32], room: &mut [C]| by_chars(rest, room, copy);
        replacing(input, output, errors, C::REPLACEMENT, put, stop_before)
    }
}

#[inline(never)]
fn rest_to_utf16(input: &[u32], output: &mut [u16], errors: Errors) -> Transcoded {
    replacing(input, output, errors, &[0xFFFD], encode_utf16, stop_before)
}

#[inline(never)]
fn rest_to_utf8(input: &[u32], output: &mut [u8], errors: Errors) -> Transcoded {
    replacing(input, output, errors, "\u{FFFD}".as_bytes(), encode_numbers, stop_before)
}

impl Target for Utf32 {
    type Unit = u32;

    fn put_damaged(input: &[u8], output: &mut [u32]) -> RepairedPrefix {
        put_damaged(input, output)
    }

    #[inline(always)]
    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u32],
        errors: Errors,
    ) -> Transcoded {
        S::to_utf32(input, output, errors)
    }
}

/// Writes the characters of UTF-16, as many as fit. Stops before an unpaired surrogate. Returns the units read and the
/// characters written.
pub(super) fn put<C: ScalarUnit>(units: &[u16], output: &mut [C]) -> (usize, usize) {
    let one = |rest: &[u16], room: &mut [C]| {
        let to = room.first_mut()?;
        let (c, len) = match *rest {
            [high, low, ..] if is_surrogate(high) => (surrogate_pair(high, low)?, 2),
            [unit, ..] => (char::from_u32(unit.into())?, 1),
            [] => return None,
        };
        *to = c.into();
        Some((len, 1))
    };
    let level = Level::detect();
    convert_units(units, output, |units, room| level.recode::<ToUtf32<C>>(units, room), one)
}

/// Copies `char`s, as many as fit. Returns how many are read and written.
fn copy<C: ScalarUnit>(chars: &[char], output: &mut [C]) -> (usize, usize) {
    let len = output.iter_mut().zip(chars).map(|(to, &c)| *to = C::from(c)).count();
    (len, len)
}

/// Encodes numbers in UTF-8, as many as fit, up to one that is no scalar value. Returns how many are read, and the bytes written.
fn encode_numbers(input: &[u32], output: &mut [u8]) -> (usize, usize) {
    let one = |rest: &[u32], room: &mut [u8]| {
        let c = char::from_u32(*rest.first()?)?;
        let to = room.get_mut(..c.len_utf8())?;
        Some((1, c.encode_utf8(to).len()))
    };
    let level = Level::detect();
    convert_units(input, output, |input, room| level.recode::<ToUtf8<u32>>(input, room), one)
}

/// Encodes numbers or `char`s in UTF-16, as many as fit, up to one that is no scalar value. Returns how many are read, and the
/// units written.
fn encode_utf16<C: ScalarUnit>(items: &[C], output: &mut [u16]) -> (usize, usize) {
    let one = |rest: &[C], room: &mut [u16]| {
        let c = char::from_u32((*rest.first()?).into())?;
        let to = room.get_mut(..c.len_utf16())?;
        Some((1, c.encode_utf16(to).len()))
    };
    let level = Level::detect();
    convert_units(items, output, |items, room| level.recode::<ToUtf16<C>>(items, room), one)
}

/// Converts numbers by way of `char`s, as many as fit, up to one that is no scalar value: a window at a time, so that it is still
/// in the cache when it is converted. Returns how many are read, and the units written.
fn by_chars<U>(
    input: &[u32],
    output: &mut [U],
    convert: impl Fn(&[char], &mut [U]) -> (usize, usize),
) -> (usize, usize) {
    const WINDOW: usize = 4096;
    let (mut read, mut written) = (0, 0);
    loop {
        let rest = tail(input, read);
        // No more than fit, and one that shows why it stopped.
        let most = (output.len() - written).saturating_add(1).min(WINDOW);
        let window = &rest[..rest.len().min(most)];
        let chars = scalar_values(Level::detect(), window);
        let (used, len) = convert(chars, &mut output[written..]);
        read += used;
        written += len;
        if used < window.len() || window.len() == rest.len() {
            return (read, written);
        }
    }
}

/// Returns why a strict conversion stops before `input`, if it is neither ill-formed nor at its end: the output is full.
fn stop_before(input: &[u32]) -> Stop {
    match input.first() {
        None => Stop::Done,
        Some(&unit) if char::from_u32(unit).is_none() => Stop::IllFormed(1),
        Some(_) => Stop::Full,
    }
}
