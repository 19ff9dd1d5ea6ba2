//! Latin-1.

use super::utf16::{is_high, stop_before};
use super::{Errors, Latin1, Source, Stop, Target, Transcoded, Utf8, convert_units, through_utf16};
use crate::simd::{Latin1ToUtf16, Level, Sequence, ToLatin1, head, sequence, tail, tail_mut};

impl Source for Latin1 {
    type Input = [u8];
    type InputUnit = u8;
    const NAME: &str = "Latin-1";

    #[inline]
    fn to_utf16(input: &[u8], output: &mut [u16], _: Errors) -> Transcoded {
        let len = Level::detect().map::<Latin1ToUtf16>(input, output, u16::from);
        Transcoded::until_full((len, len), input.len())
    }

    fn to_utf8(input: &[u8], output: &mut [u8], _: Errors) -> Transcoded {
        Transcoded::until_full(Level::detect().encode_latin1(input, output), input.len())
    }

    fn bytes(input: &[u8]) -> &[u8] {
        input
    }
}

impl Target for Latin1 {
    type Unit = u8;

    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u8],
        errors: Errors,
    ) -> Transcoded {
        S::to_latin1(input, output, errors)
    }
}

/// The greatest unit of UTF-16 whose character Latin-1 has.
pub(super) const GREATEST: u16 = 0xFF;

/// Writes the characters of UTF-16, as many as fit, up to one that Latin-1 lacks unless it is replaced, and up to an unpaired
/// surrogate. Returns the units read and the bytes written.
pub(super) fn put(units: &[u16], output: &mut [u8], errors: Errors) -> (usize, usize) {
    let one = |rest: &[u16], room: &mut [u8]| {
        let (&unit, to) = (rest.first()?, room.first_mut()?);
        let is_replaced = errors == Errors::Replace && stop_before(rest, |unit| unit) == Stop::Full;
        *to = u8::try_from(unit).ok().or(is_replaced.then_some(b'?'))?;
        Some((1 + usize::from(is_high(unit)), 1))
    };
    let level = Level::detect();
    convert_units(units, output, |units, room| level.recode::<ToLatin1>(units, room), one)
}

/// Converts UTF-8 to Latin-1.
#[inline]
pub(super) fn from_utf8(input: &[u8], output: &mut [u8], errors: Errors) -> Transcoded {
    let (read, written) = Level::detect().decode_latin1(input, output);
    if read == input.len() {
        return Transcoded { read, written, stop: Stop::Done };
    }
    from_utf8_after(input, output, errors, (read, written))
}

/// Continues [`from_utf8`] where the level stopped.
#[inline(never)]
fn from_utf8_after(
    input: &[u8],
    output: &mut [u8],
    errors: Errors,
    (mut read, mut written): (usize, usize),
) -> Transcoded {
    /// The bytes that are converted through UTF-16 from a character on that is replaced: more of these often follow.
    const WINDOW: usize = 512;
    if errors == Errors::Stop {
        let rest = tail(input, read);
        let stop = match rest {
            [0..0x80, ..] => Stop::Full,
            _ => match sequence(rest) {
                Sequence::WellFormed(2) if rest[0] < 0xC4 => Stop::Full,
                Sequence::WellFormed(len) => Stop::Unmappable(len),
                Sequence::Incomplete => Stop::Incomplete(rest.len()),
                Sequence::IllFormed(len) => Stop::IllFormed(len.get().unwrap_or(1)),
            },
        };
        return Transcoded { read, written, stop };
    }
    loop {
        let (rest, room) = (tail(input, read), tail_mut(output, written));
        let window = head(rest, before_character(rest, WINDOW));
        let put = |units: &[u16], room: &mut [u8]| put(units, room, errors);
        let done = through_utf16::<Utf8, _>(window, room, errors, GREATEST, put);
        read += done.read;
        written += done.written;
        if done.stop != Stop::Done || read == input.len() {
            return Transcoded { read, written, stop: done.stop };
        }
        let room = tail_mut(output, written);
        let (more, len) = Level::detect().decode_latin1(tail(input, read), room);
        read += more;
        written += len;
        if read == input.len() {
            return Transcoded { read, written, stop: Stop::Done };
        }
    }
}

/// Returns an index of at most `most` that is not inside a character of UTF-8, nor inside a part that one U+FFFD replaces.
fn before_character(bytes: &[u8], most: usize) -> usize {
    if bytes.len() <= most {
        return bytes.len();
    }
    // The last of four continuation bytes continues nothing.
    let starts = (most - 3..=most).rev().find(|&at| bytes[at] & 0xC0 != 0x80);
    starts.unwrap_or(most)
}
