//! UTF-16, in units and in bytes.

#[cfg(feature = "alloc")]
use alloc::string::String;

use super::utf8::put_damaged;
use super::{
    Errors, Source, Stop, Target, Transcoded, Utf16, Utf16Be, Utf16Le, latin1, recode_first,
    replacing, through_utf16, utf32,
};
use crate::simd::{
    AsciiToBytes, BytesToUnits, BytesToUtf8, Level, RepairedPrefix, ScalarUnit, Task, ToLatin1,
    ToUtf32, UnitsToBytes, unit_bytes,
};
#[cfg(feature = "alloc")]
use crate::text::push_utf16;

const REPLACEMENT: u16 = 0xFFFD;

impl Source for Utf16 {
    type Input = [u16];
    type InputUnit = u16;
    const NAME: &str = "UTF-16";

    fn to_utf16(input: &[u16], output: &mut [u16], errors: Errors) -> Transcoded {
        let done = Level::detect().run(Decode { input, unit: |unit| unit, output, errors });
        done.replace_end(output, errors, &[REPLACEMENT])
    }

    #[inline(always)]
    fn to_utf8(input: &[u16], output: &mut [u8], errors: Errors) -> Transcoded {
        let mut count = 0;
        let replaced = (errors == Errors::Replace).then_some(&mut count);
        let (read, written) = Level::detect().encode_utf16(input, output, replaced);
        if read == input.len() {
            return Transcoded { read, written, stop: Stop::Done };
        }
        end_of_utf8(input, output, errors, (read, written))
    }

    #[inline(always)]
    fn to_utf32<C: ScalarUnit>(input: &[u16], output: &mut [C], errors: Errors) -> Transcoded {
        let recode =
            |units: &[u16], room: &mut [C]| Level::detect().recode::<ToUtf32<C>>(units, room);
        recode_first(input, output, recode, |rest, room| rest_to_utf32(rest, room, errors))
    }

    #[inline(always)]
    fn to_latin1(input: &[u16], output: &mut [u8], errors: Errors) -> Transcoded {
        let recode =
            |units: &[u16], room: &mut [u8]| Level::detect().recode::<ToLatin1>(units, room);
        recode_first(input, output, recode, |rest, room| rest_to_latin1(rest, room, errors))
    }

    #[cfg(feature = "alloc")]
    fn push_to_string(input: &[u16], errors: Errors, text: &mut String) -> (usize, Stop) {
        const SHORT: usize = 64;
        let level = Level::detect();
        let (mut read, mut count) = (0, 0);
        loop {
            let rest = &input[read..];
            // The longest encoding of a short text, so that it is allocated once.
            text.reserve(rest.len().max(3 * rest.len().min(SHORT)));
            let replaced = (errors == Errors::Replace).then_some(&mut count);
            read += push_utf16(level, rest, replaced, text);
            match (stop_before(&input[read..], |unit| unit), errors) {
                (Stop::Full, _) | (Stop::IllFormed(_), Errors::Replace) => {}
                (Stop::Incomplete(_), Errors::Replace) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    return (input.len(), Stop::Done);
                }
                (stop, _) => return (read, stop),
            }
        }
    }
}

impl Target for Utf16 {
    type Unit = u16;

    fn put_damaged(input: &[u8], output: &mut [u16]) -> RepairedPrefix {
        put_damaged(input, output)
    }

    #[inline(always)]
    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u16],
        errors: Errors,
    ) -> Transcoded {
        S::to_utf16(input, output, errors)
    }
}

/// Returns why the conversion to UTF-8 stopped, after it has replaced an incomplete end.
#[inline(never)]
fn end_of_utf8(
    input: &[u16],
    output: &mut [u8],
    errors: Errors,
    (read, written): (usize, usize),
) -> Transcoded {
    let stop = match stop_before(&input[read..], |unit| unit) {
        Stop::IllFormed(_) if errors == Errors::Replace => Stop::Full,
        stop => stop,
    };
    let done = Transcoded { read, written, stop };
    done.replace_end(output, errors, "\u{FFFD}".as_bytes())
}

#[inline(never)]
fn rest_to_utf32<C: ScalarUnit>(input: &[u16], output: &mut [C], errors: Errors) -> Transcoded {
    let stop = |rest: &[u16]| stop_before(rest, |unit| unit);
    replacing(input, output, errors, C::REPLACEMENT, utf32::put, stop)
}

#[inline(never)]
fn rest_to_latin1(input: &[u16], output: &mut [u8], errors: Errors) -> Transcoded {
    let put = |units: &[u16], room: &mut [u8]| latin1::put(units, room, errors);
    let stop = |rest: &[u16]| match stop_before(rest, |unit| unit) {
        Stop::Full if errors == Errors::Stop && rest[0] > latin1::GREATEST => {
            Stop::Unmappable(1 + usize::from(is_high(rest[0])))
        }
        stop => stop,
    };
    replacing(input, output, errors, b"?", put, stop)
}

impl Source for Utf16Le {
    type Input = [u8];
    type InputUnit = u8;
    const NAME: &str = "UTF-16LE";

    fn to_utf16(input: &[u8], output: &mut [u16], errors: Errors) -> Transcoded {
        decode_bytes::<LE_SWAPPED>(input, output, errors)
    }

    #[inline(always)]
    fn to_utf8(input: &[u8], output: &mut [u8], errors: Errors) -> Transcoded {
        bytes_to_utf8::<LE_SWAPPED>(input, output, errors)
    }
}

impl Target for Utf16Le {
    type Unit = u8;

    #[inline(always)]
    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u8],
        errors: Errors,
    ) -> Transcoded {
        to_bytes::<S, LE_SWAPPED>(input, output, errors)
    }
}

impl Source for Utf16Be {
    type Input = [u8];
    type InputUnit = u8;
    const NAME: &str = "UTF-16BE";

    fn to_utf16(input: &[u8], output: &mut [u16], errors: Errors) -> Transcoded {
        decode_bytes::<BE_SWAPPED>(input, output, errors)
    }

    #[inline(always)]
    fn to_utf8(input: &[u8], output: &mut [u8], errors: Errors) -> Transcoded {
        bytes_to_utf8::<BE_SWAPPED>(input, output, errors)
    }
}

impl Target for Utf16Be {
    type Unit = u8;

    #[inline(always)]
    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u8],
        errors: Errors,
    ) -> Transcoded {
        to_bytes::<S, BE_SWAPPED>(input, output, errors)
    }
}

/// Converts to UTF-16 in bytes: short input and leading ASCII directly, if the level can; the rest by way of blocks.
#[inline(always)]
fn to_bytes<S: Source + ?Sized, const SWAPPED: bool>(
    input: &S::Input,
    output: &mut [u8],
    errors: Errors,
) -> Transcoded {
    let units = output.as_chunks_mut().0;
    if let Some(written) = S::to_few_bytes::<SWAPPED>(input, units) {
        let read = input.as_ref().len();
        return Transcoded { read, written: 2 * written, stop: Stop::Done };
    }
    let ascii = match S::bytes(input) {
        from @ [0..0x80, ..] => Level::detect().recode::<AsciiToBytes<SWAPPED>>(from, units).0,
        _ => 0,
    };
    if ascii > 0 && ascii == input.as_ref().len() {
        return Transcoded { read: ascii, written: 2 * ascii, stop: Stop::Done };
    }
    let (rest, room) = (&input[ascii..], &mut output[2 * ascii..]);
    let done = through_utf16::<S, _>(rest, room, errors, u16::MAX, put_bytes::<SWAPPED>);
    done.after(ascii, 2 * ascii)
}

/// Writes whole characters as bytes, as many as fit. Returns the units read and the bytes written.
fn put_bytes<const SWAPPED: bool>(units: &[u16], output: &mut [u8]) -> (usize, usize) {
    let (output, _) = output.as_chunks_mut();
    let mut len = units.len().min(output.len());
    if len < units.len() && len > 0 && is_high(units[len - 1]) {
        len -= 1;
    }
    Level::detect().map::<UnitsToBytes<SWAPPED>>(&units[..len], output, unit_bytes::<SWAPPED>);
    (len, 2 * len)
}

/// Whether the bytes of a unit are in the other order than those of the machine.
const LE_SWAPPED: bool = cfg!(target_endian = "big");
const BE_SWAPPED: bool = !LE_SWAPPED;

/// Returns the unit of two bytes.
#[inline(always)]
fn unit<const SWAPPED: bool>(bytes: [u8; 2]) -> u16 {
    let unit = u16::from_ne_bytes(bytes);
    if SWAPPED { unit.swap_bytes() } else { unit }
}

/// Encodes UTF-16 in bytes as UTF-8.
#[inline(always)]
fn bytes_to_utf8<const SWAPPED: bool>(
    input: &[u8],
    output: &mut [u8],
    errors: Errors,
) -> Transcoded {
    let units = input.as_chunks().0;
    let (read, written) = Level::detect().recode::<BytesToUtf8<SWAPPED, false>>(units, output);
    if 2 * read == input.len() {
        return Transcoded { read: input.len(), written, stop: Stop::Done };
    }
    let (rest, room) = (&input[2 * read..], &mut output[written..]);
    rest_to_utf8::<SWAPPED>(rest, room, errors).after(2 * read, written)
}

/// Encodes what [`bytes_to_utf8`] leaves: everything, if the level has no such conversion; the input from a step on that contains an
/// unpaired surrogate or may not fit; or an incomplete end of one to three bytes.
#[inline(never)]
fn rest_to_utf8<const SWAPPED: bool>(
    input: &[u8],
    output: &mut [u8],
    errors: Errors,
) -> Transcoded {
    const BLOCK: usize = 128;
    let level = Level::detect();
    let (units, odd) = input.as_chunks();
    let (mut read, mut written, mut count) = (0, 0, 0);
    if errors == Errors::Replace {
        let whole = match units {
            [before @ .., last] if is_high(unit::<SWAPPED>(*last)) => before,
            _ => units,
        };
        (read, written) = level.recode::<BytesToUtf8<SWAPPED, true>>(whole, output);
    }
    loop {
        let (rest, mut block) = (&units[read..], [0; BLOCK]);
        let block = &mut block[..rest.len().min(BLOCK)];
        level.map::<BytesToUnits<SWAPPED>>(rest, block, unit::<SWAPPED>);
        let replaced = (errors == Errors::Replace).then_some(&mut count);
        let (used, len) = level.encode_utf16(block, &mut output[written..], replaced);
        read += used;
        written += len;
        let stop = match stop_before(&block[used..], |unit| unit) {
            // The block ends, perhaps inside a pair, not the input.
            Stop::Done | Stop::Incomplete(_) if block.len() < rest.len() => continue,
            Stop::IllFormed(_) if errors == Errors::Replace => Stop::Full,
            stop => in_bytes(stop, odd),
        };
        let done = Transcoded { read: 2 * read, written, stop };
        return done.replace_end(output, errors, "\u{FFFD}".as_bytes());
    }
}

/// Decodes UTF-16 in bytes.
fn decode_bytes<const SWAPPED: bool>(
    input: &[u8],
    output: &mut [u16],
    errors: Errors,
) -> Transcoded {
    let (units, odd) = input.as_chunks();
    let Transcoded { read, written, stop } =
        Level::detect().run(Decode { input: units, unit: unit::<SWAPPED>, output, errors });
    let done = Transcoded { read: 2 * read, written, stop: in_bytes(stop, odd) };
    done.replace_end(output, errors, &[REPLACEMENT])
}

/// Returns `stop` in bytes; `odd` is the byte after the last unit.
fn in_bytes(stop: Stop, odd: &[u8]) -> Stop {
    match stop {
        Stop::Done if !odd.is_empty() => Stop::Incomplete(1),
        Stop::Incomplete(_) => Stop::Incomplete(2 + odd.len()),
        Stop::IllFormed(_) => Stop::IllFormed(2),
        stop => stop,
    }
}

/// Copies units, as far as whole characters fit, up to a high surrogate at the end. Stops before an unpaired surrogate,
/// or replaces it.
///
/// ```text
/// for each block that fits:
///     copy it
///     without surrogates:  accept it
///     otherwise:           compare each unit with the one before and the one after it, without branches
/// ```
struct Decode<'a, U, F> {
    input: &'a [U],
    unit: F,
    output: &'a mut [u16],
    errors: Errors,
}

impl<U: Copy, F: Fn(U) -> u16 + Copy> Task for Decode<'_, U, F> {
    type Output = Transcoded;

    #[inline(always)]
    fn run(self) -> Transcoded {
        let Self { input, unit, output, errors } = self;
        const COPIED: usize = 64;
        let fits = input.len().min(output.len());
        let mut len = 0;
        while len < fits {
            let end = fits.min(len + COPIED);
            let mut surrogates = 0;
            for (to, &from) in output[len..end].iter_mut().zip(&input[len..end]) {
                *to = unit(from);
                surrogates |= u16::from(is_surrogate(*to));
            }
            if surrogates == 0 {
                len = end;
                continue;
            }
            let end = end.min(input.len() - 1);
            let mut accepted = 0;
            if len > 0 && len < end {
                accepted = pair(&input[len - 1..=end], unit, &mut output[len..end], errors);
            }
            if accepted == 0 {
                accepted = decode_one(&input[len..], unit, &mut output[len..], errors);
            }
            if accepted == 0 {
                break;
            }
            len += accepted;
        }
        let stop = match stop_before(&input[len..], unit) {
            Stop::IllFormed(_) if errors == Errors::Replace => Stop::Full,
            stop => stop,
        };
        Transcoded { read: len, written: len, stop }
    }
}

/// Copies units between two others, up to an unpaired surrogate, or replaces it. Returns the number of units that are
/// whole characters.
///
/// It reads the input again, because a load from what several stores have just written waits for them.
fn pair<U: Copy>(
    input: &[U],
    unit: impl Fn(U) -> u16,
    output: &mut [u16],
    errors: Errors,
) -> usize {
    let is_unpaired = |before: U, here: U, after: U| {
        let [before, here, after] = [unit(before), unit(here), unit(after)];
        is_high(here) & !is_low(after) | is_low(here) & !is_high(before)
    };
    let mut any = 0;
    let neighbours = input.iter().zip(&input[1..]).zip(&input[2..]);
    for (to, ((&before, &here), &after)) in output.iter_mut().zip(neighbours.clone()) {
        let is_unpaired = is_unpaired(before, here, after);
        any |= u16::from(is_unpaired);
        *to = if is_unpaired { REPLACEMENT } else { unit(here) };
    }
    if any != 0 && errors == Errors::Stop {
        let mut unpaired =
            neighbours.map(|((&before, &here), &after)| is_unpaired(before, here, after));
        return unpaired.position(|unpaired| unpaired).unwrap_or(0);
    }
    // A pair that continues after the block is left.
    output.len() - usize::from(output.last().is_some_and(|&last| is_high(last)))
}

/// Copies the first character, or replaces an unpaired surrogate. Returns the number of units, 0 if it does not fit or is
/// not accepted.
fn decode_one<U: Copy>(
    input: &[U],
    unit: impl Fn(U) -> u16 + Copy,
    output: &mut [u16],
    errors: Errors,
) -> usize {
    let len = match stop_before(input, unit) {
        Stop::Full => 1 + usize::from(is_surrogate(unit(input[0]))),
        Stop::IllFormed(_) if errors == Errors::Replace => {
            output[0] = REPLACEMENT;
            return 1;
        }
        _ => return 0,
    };
    let Some(output) = output.get_mut(..len) else { return 0 };
    for (to, &from) in output.iter_mut().zip(input) {
        *to = unit(from);
    }
    len
}

/// Returns why a strict conversion stops before `input`, if it is neither ill-formed nor at its end: the output is full.
pub(super) fn stop_before<U: Copy>(input: &[U], unit: impl Fn(U) -> u16) -> Stop {
    let Some(&first) = input.first() else { return Stop::Done };
    let first = unit(first);
    if !is_surrogate(first) {
        return Stop::Full;
    }
    match input.get(1) {
        None if is_high(first) => Stop::Incomplete(1),
        Some(&second) if is_high(first) && is_low(unit(second)) => Stop::Full,
        _ => Stop::IllFormed(1),
    }
}

pub(super) fn is_surrogate(unit: u16) -> bool {
    unit & 0xF800 == 0xD800
}

pub(super) fn is_high(unit: u16) -> bool {
    unit & 0xFC00 == 0xD800
}

fn is_low(unit: u16) -> bool {
    unit & 0xFC00 == 0xDC00
}
