//! UTF-32, in numbers and in `char`s.

use super::utf8::put_damaged_ascii;
use super::utf16::is_surrogate;
use super::{CALM, Errors, MapBlocks, Source, Stop, Target, Transcoded, Utf32, put_units};
use crate::simd::{Level, ScalarUnit, scalar_values, surrogate_pair, tail};

impl Source for char {
    type Input = [char];
    type InputUnit = char;
    const NAME: &str = "UTF-32";

    fn to_utf16(input: &[char], output: &mut [u16], _: Errors) -> Transcoded {
        Transcoded::until_full(encode_utf16(input, output), input.len())
    }

    fn to_utf8(input: &[char], output: &mut [u8], _: Errors) -> Transcoded {
        Transcoded::until_full(Level::detect().encode_chars(input, output), input.len())
    }

    fn to_utf32<C: ScalarUnit>(input: &[char], output: &mut [C], _: Errors) -> Transcoded {
        Transcoded::until_full(copy(input, output), input.len())
    }
}

impl Target for char {
    type Unit = char;

    fn put_damaged_ascii(input: &[u8], output: &mut [char]) -> (usize, usize) {
        put_damaged_ascii(input, output, char::REPLACEMENT_CHARACTER)
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

    fn to_utf16(input: &[u32], output: &mut [u16], errors: Errors) -> Transcoded {
        let (mut read, mut written) = (0, 0);
        loop {
            let (used, len) = encode_utf16(&input[read..], &mut output[written..]);
            read += used;
            written += len;
            let is_ill_formed = input.get(read).is_some_and(|&unit| char::from_u32(unit).is_none());
            let stop = match (input.get(read), output.get_mut(written), errors) {
                (None, ..) => Stop::Done,
                (Some(_), _, Errors::Stop) if is_ill_formed => Stop::IllFormed(1),
                (Some(_), Some(to), Errors::Replace) if is_ill_formed => {
                    *to = 0xFFFD;
                    read += 1;
                    written += 1;
                    continue;
                }
                _ => Stop::Full,
            };
            return Transcoded { read, written, stop };
        }
    }

    fn to_utf8(input: &[u32], output: &mut [u8], errors: Errors) -> Transcoded {
        let level = Level::detect();
        let plain = |block: &[u32]| block.iter().fold(0, |all, unit| all | unit) < 0x80;
        let ascii = MapBlocks { from: input, to: &mut *output, plain, of: |unit| unit as u8 };
        let ascii = level.run(ascii);
        let encode = |chars: &[char], room: &mut [u8]| level.encode_chars(chars, room);
        let (rest, room) = (tail(input, ascii), &mut output[ascii..]);
        let done = by_chars(rest, room, errors, "\u{FFFD}".as_bytes(), encode);
        Transcoded { read: ascii + done.read, written: ascii + done.written, ..done }
    }

    fn to_utf32<C: ScalarUnit>(input: &[u32], output: &mut [C], errors: Errors) -> Transcoded {
        by_chars(input, output, errors, C::REPLACEMENT, copy)
    }
}

impl Target for Utf32 {
    type Unit = u32;

    fn put_damaged_ascii(input: &[u8], output: &mut [u32]) -> (usize, usize) {
        put_damaged_ascii(input, output, 0xFFFD)
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
    let one = |rest: &[u16]| match *rest {
        [high, low, ..] if is_surrogate(high) => surrogate_pair(high, low).map(C::from),
        [unit, ..] => char::from_u32(unit.into()).map(C::from),
        [] => None,
    };
    let no_surrogates = |block: &[u16]| {
        block.iter().fold(u16::MAX, |least, unit| least.min(unit.wrapping_sub(0xD800))) >= 0x800
    };
    put_units(units, output, no_surrogates, C::of_unit, one)
}

/// Copies `char`s, as many as fit. Returns how many are read and written.
fn copy<C: ScalarUnit>(chars: &[char], output: &mut [C]) -> (usize, usize) {
    let len = output.iter_mut().zip(chars).map(|(to, &c)| *to = C::from(c)).count();
    (len, len)
}

/// Encodes numbers or `char`s in UTF-16, as many as fit, up to one that is no scalar value. Returns how many are read, and the
/// units written.
fn encode_utf16<C: ScalarUnit + Into<u32>>(items: &[C], output: &mut [u16]) -> (usize, usize) {
    let level = Level::detect();
    let plain = |block: &[C]| {
        let most = block.iter().fold(0, |most, &c| c.into().max(most));
        let least =
            block.iter().fold(u32::MAX, |least, &c| least.min(c.into().wrapping_sub(0xD800)));
        most < 0x1_0000 && least >= 0x800
    };
    let (mut read, mut written) = (0, 0);
    loop {
        let (from, to) = (&items[read..], &mut output[written..]);
        let len = level.run(MapBlocks { from, to, plain, of: |c: C| c.into() as u16 });
        read += len;
        written += len;
        let mut calm = 0;
        while calm < CALM {
            let Some(c) = items.get(read).and_then(|&c| char::from_u32(c.into())) else {
                return (read, written);
            };
            let Some(to) = output.get_mut(written..written + c.len_utf16()) else {
                return (read, written);
            };
            calm = if to.len() == 1 { calm + 1 } else { 0 };
            written += c.encode_utf16(to).len();
            read += 1;
        }
    }
}

/// Converts numbers by way of `char`s, a window at a time, so that it is still in the cache when it is converted.
fn by_chars<U: Copy>(
    input: &[u32],
    output: &mut [U],
    errors: Errors,
    replacement: &[U],
    convert: impl Fn(&[char], &mut [U]) -> (usize, usize),
) -> Transcoded {
    const WINDOW: usize = 4096;
    let (mut read, mut written) = (0, 0);
    let stop = loop {
        let rest = tail(input, read);
        // No more than fit, and one that shows why it stopped.
        let most = (output.len() - written).saturating_add(1).min(WINDOW);
        let window = &rest[..rest.len().min(most)];
        let chars = scalar_values(Level::detect(), window);
        let (used, len) = convert(chars, &mut output[written..]);
        read += used;
        written += len;
        if used < chars.len() {
            break Stop::Full;
        }
        if chars.len() == rest.len() {
            break Stop::Done;
        }
        if chars.len() == window.len() {
            continue;
        }
        if errors == Errors::Stop {
            break Stop::IllFormed(1);
        }
        let Some(room) = output.get_mut(written..written + replacement.len()) else {
            break Stop::Full;
        };
        room.copy_from_slice(replacement);
        read += 1;
        written += replacement.len();
    };
    Transcoded { read, written, stop }
}
