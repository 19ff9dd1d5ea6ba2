//! UTF-16, in units and in bytes.

use super::through_utf16;
use super::{Errors, Sealed, Source, Stop, Target, Transcoded, Utf16, Utf16Be, Utf16Le};
use crate::simd::Level;

const REPLACEMENT: u16 = 0xFFFD;

impl Sealed for Utf16 {}

impl Source for Utf16 {
    type Input = [u16];
    type InputUnit = u16;
    const NAME: &str = "UTF-16";

    fn to_utf16(input: &[u16], output: &mut [u16], errors: Errors) -> Transcoded {
        decode(input, |unit| unit, output, errors).replace_end(output, errors, &[REPLACEMENT])
    }

    fn to_utf8(input: &[u16], output: &mut [u8], errors: Errors) -> Transcoded {
        let level = Level::detect();
        let (mut read, mut written) = (0, 0);
        loop {
            let (used, bytes) = level.encode_utf16(&input[read..], &mut output[written..]);
            read += used;
            written += bytes;
            let rest = &input[read..];
            let stop = stop_before(rest, |unit| unit);
            if errors == Errors::Stop || !matches!(stop, Stop::IllFormed(_)) {
                let done = Transcoded { read, written, stop };
                return done.replace_end(output, errors, "\u{FFFD}".as_bytes());
            }
            let done = encode_damaged(level, rest, &mut output[written..]);
            read += done.read;
            written += done.written;
            if done.stop != Stop::Done {
                return Transcoded { read, written, ..done };
            }
        }
    }
}

/// Encodes the start of `input`, which begins with an unpaired surrogate, with U+FFFD for each.
#[cold]
#[inline(never)]
fn encode_damaged(level: Level, input: &[u16], output: &mut [u8]) -> Transcoded {
    const WINDOW: usize = 256;
    let window = match input.get(..WINDOW) {
        // The low surrogate may follow.
        Some([window @ .., last]) if is_high(*last) => window,
        Some(window) => window,
        None => input,
    };
    let put = |units: &[u16], out: &mut [u8]| level.encode_utf16(units, out);
    through_utf16::<Utf16, u8>(window, output, Errors::Replace, u16::MAX, put)
}

impl Target for Utf16 {
    type Unit = u16;

    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u16],
        errors: Errors,
    ) -> Transcoded {
        S::to_utf16(input, output, errors)
    }
}

impl Sealed for Utf16Le {}

impl Source for Utf16Le {
    type Input = [u8];
    type InputUnit = u8;
    const NAME: &str = "UTF-16LE";

    fn to_utf16(input: &[u8], output: &mut [u16], errors: Errors) -> Transcoded {
        decode_bytes(input, u16::from_le_bytes, output, errors)
    }
}

impl Target for Utf16Le {
    type Unit = u8;

    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u8],
        errors: Errors,
    ) -> Transcoded {
        let put = |units: &[u16], out: &mut [u8]| put_bytes(units, u16::to_le_bytes, out);
        through_utf16::<S, u8>(input, output, errors, u16::MAX, put)
    }
}

impl Sealed for Utf16Be {}

impl Source for Utf16Be {
    type Input = [u8];
    type InputUnit = u8;
    const NAME: &str = "UTF-16BE";

    fn to_utf16(input: &[u8], output: &mut [u16], errors: Errors) -> Transcoded {
        decode_bytes(input, u16::from_be_bytes, output, errors)
    }
}

impl Target for Utf16Be {
    type Unit = u8;

    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u8],
        errors: Errors,
    ) -> Transcoded {
        let put = |units: &[u16], out: &mut [u8]| put_bytes(units, u16::to_be_bytes, out);
        through_utf16::<S, u8>(input, output, errors, u16::MAX, put)
    }
}

/// Writes whole characters as bytes, as many as fit. Returns the units read and the bytes written.
fn put_bytes(
    units: &[u16],
    to_bytes: impl Fn(u16) -> [u8; 2],
    output: &mut [u8],
) -> (usize, usize) {
    let (output, _) = output.as_chunks_mut();
    let mut len = units.len().min(output.len());
    if len < units.len() && len > 0 && is_high(units[len - 1]) {
        len -= 1;
    }
    for (to, &unit) in output.iter_mut().zip(&units[..len]) {
        *to = to_bytes(unit);
    }
    (len, 2 * len)
}

/// Decodes UTF-16 in bytes.
fn decode_bytes(
    input: &[u8],
    unit: impl Fn([u8; 2]) -> u16 + Copy,
    output: &mut [u16],
    errors: Errors,
) -> Transcoded {
    let (units, odd) = input.as_chunks();
    let Transcoded { read, written, stop } = decode(units, unit, output, errors);
    let stop = match stop {
        Stop::Done if !odd.is_empty() => Stop::Incomplete(1),
        Stop::Incomplete(_) => Stop::Incomplete(2 + odd.len()),
        Stop::IllFormed(_) => Stop::IllFormed(2),
        stop => stop,
    };
    Transcoded { read: 2 * read, written, stop }.replace_end(output, errors, &[REPLACEMENT])
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
fn decode<U: Copy>(
    input: &[U],
    unit: impl Fn(U) -> u16 + Copy,
    output: &mut [u16],
    errors: Errors,
) -> Transcoded {
    let fits = input.len().min(output.len());
    let mut len = 0;
    while len < fits {
        let end = fits.min(len + BLOCK);
        let block = &mut output[len..end];
        for (to, &from) in block.iter_mut().zip(&input[len..end]) {
            *to = unit(from);
        }
        let has_surrogates = block.iter().fold(false, |any, &unit| any | is_surrogate(unit));
        let accepted = if has_surrogates {
            pair(block, input.get(end).copied().map(unit), errors)
        } else {
            block.len()
        };
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

/// The units of a block.
const BLOCK: usize = 64;

/// Finds how many units of `block` are whole characters, or replaces those that are not. `next` is the unit after
/// the block.
fn pair(block: &mut [u16], next: Option<u16>, errors: Errors) -> usize {
    let len = match (&*block, next) {
        // Its low surrogate is outside.
        ([.., last], None) if is_high(*last) => block.len() - 1,
        ([.., last], Some(next)) if is_high(*last) && is_low(next) => block.len() - 1,
        _ => block.len(),
    };
    let mut padded = [0; BLOCK + 2];
    padded[1..=block.len()].copy_from_slice(block);
    padded[block.len() + 1] = next.unwrap_or(0);
    let neighbours = padded.iter().zip(&padded[1..]).zip(&padded[2..]).take(len);
    let unpaired = neighbours.map(|((&before, &unit), &after)| {
        (is_high(unit) & !is_low(after)) | (is_low(unit) & !is_high(before))
    });
    if errors == Errors::Stop {
        return unpaired.clone().position(|unpaired| unpaired).unwrap_or(len);
    }
    for (unit, unpaired) in block.iter_mut().zip(unpaired) {
        *unit = if unpaired { REPLACEMENT } else { *unit };
    }
    len
}

/// Returns why a strict conversion stops before `input`, if it is neither ill-formed nor at its end: the output is full.
fn stop_before<U: Copy>(input: &[U], unit: impl Fn(U) -> u16) -> Stop {
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

fn is_surrogate(unit: u16) -> bool {
    unit & 0xF800 == 0xD800
}

pub(super) fn is_high(unit: u16) -> bool {
    unit & 0xFC00 == 0xD800
}

fn is_low(unit: u16) -> bool {
    unit & 0xFC00 == 0xDC00
}
