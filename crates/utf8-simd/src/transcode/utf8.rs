//! UTF-8, and `str`.

use core::fmt::Debug;

use super::{Errors, Sealed, Source, Stop, Target, Transcoded, Utf8};
use crate::simd::{Level, Sequence, sequence};
use crate::validate::{PrefixEnd, valid_prefix};

impl Sealed for Utf8 {}

impl Source for Utf8 {
    type Input = [u8];
    type InputUnit = u8;
    const NAME: &str = "UTF-8";

    fn to_utf16(input: &[u8], output: &mut [u16], errors: Errors) -> Transcoded {
        decode(input, output, errors)
    }

    fn to_utf8(input: &[u8], output: &mut [u8], errors: Errors) -> Transcoded {
        decode(input, output, errors)
    }

    fn to_chars(input: &[u8], output: &mut [char], errors: Errors) -> Transcoded {
        decode(input, output, errors)
    }
}

impl Target for Utf8 {
    type Unit = u8;

    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u8],
        errors: Errors,
    ) -> Transcoded {
        S::to_utf8(input, output, errors)
    }
}

impl Sealed for str {}

impl Source for str {
    type Input = str;
    type InputUnit = u8;
    const NAME: &str = "UTF-8";

    fn to_utf16(input: &str, output: &mut [u16], _: Errors) -> Transcoded {
        Transcoded::until_full(u16::decode(Level::detect(), input, output), input.len())
    }

    fn to_utf8(input: &str, output: &mut [u8], _: Errors) -> Transcoded {
        Transcoded::until_full(u8::decode(Level::detect(), input, output), input.len())
    }

    fn to_chars(input: &str, output: &mut [char], _: Errors) -> Transcoded {
        Transcoded::until_full(char::decode(Level::detect(), input, output), input.len())
    }
}

/// A unit that a level decodes text to.
trait Unit: Copy + Debug + 'static {
    /// U+FFFD.
    const REPLACEMENT: &'static [Self];

    /// The most bytes that one unit stands for.
    const BYTES: usize;

    /// Decodes `text`, as far as it fits. Returns the bytes read and the units written.
    fn decode(level: Level, text: &str, output: &mut [Self]) -> (usize, usize);

    /// Decodes ASCII at the start of `bytes`, in whole blocks that fit. Returns their length.
    fn decode_ascii(_level: Level, _bytes: &[u8], _output: &mut [Self]) -> usize {
        0
    }

    /// Decodes `bytes` if they are short, well-formed and complete, and fit. Returns the number of units.
    fn decode_short(_level: Level, _bytes: &[u8], _output: &mut [Self]) -> Option<usize> {
        None
    }
}

impl Unit for u8 {
    const REPLACEMENT: &'static [u8] = "\u{FFFD}".as_bytes();
    const BYTES: usize = 1;

    fn decode(_: Level, text: &str, output: &mut [u8]) -> (usize, usize) {
        let mut len = text.len().min(output.len());
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        output[..len].copy_from_slice(&text.as_bytes()[..len]);
        (len, len)
    }
}

impl Unit for u16 {
    const REPLACEMENT: &'static [u16] = &[0xFFFD];
    const BYTES: usize = 3;

    fn decode(level: Level, text: &str, output: &mut [u16]) -> (usize, usize) {
        level.decode_utf16(text, output)
    }

    fn decode_ascii(level: Level, bytes: &[u8], output: &mut [u16]) -> usize {
        level.decode_ascii_utf16(bytes, output)
    }

    fn decode_short(level: Level, bytes: &[u8], output: &mut [u16]) -> Option<usize> {
        level.decode_short_utf16(bytes, output)
    }
}

impl Unit for char {
    const REPLACEMENT: &'static [char] = &[char::REPLACEMENT_CHARACTER];
    const BYTES: usize = 4;

    fn decode(level: Level, text: &str, output: &mut [char]) -> (usize, usize) {
        level.decode_chars(text, output)
    }

    fn decode_ascii(level: Level, bytes: &[u8], output: &mut [char]) -> usize {
        level.decode_ascii_chars(bytes, output)
    }

    fn decode_short(level: Level, bytes: &[u8], output: &mut [char]) -> Option<usize> {
        level.decode_short_chars(bytes, output)
    }
}

/// The most bytes that `Level::decode_short_utf16` and `decode_short_chars` decode.
const SHORT: usize = 64;

/// Validates `input` and decodes it, a window at a time, so that a window is still in the cache when it is decoded.
fn decode<U: Unit>(input: &[u8], output: &mut [U], errors: Errors) -> Transcoded {
    let level = Level::detect();
    if input.len() <= SHORT
        && let Some(written) = U::decode_short(level, input, output)
    {
        return Transcoded { read: input.len(), written, stop: Stop::Done };
    }
    let (mut read, mut written) = (0, 0);
    loop {
        let ascii = U::decode_ascii(level, &input[read..], &mut output[written..]);
        read += ascii;
        written += ascii;

        let (rest, room) = (&input[read..], &mut output[written..]);
        let window = &rest[..rest.len().min(window::<U>(room.len()))];
        let (text, end) = valid_prefix(window);
        let (used, units) = U::decode(level, text, room);
        read += used;
        written += units;
        if used < text.len() {
            return Transcoded { read, written, stop: Stop::Full };
        }
        let stop = match end {
            // The window ends, perhaps inside a character, not the input.
            PrefixEnd::Input | PrefixEnd::Incomplete(_) if window.len() < rest.len() => continue,
            PrefixEnd::Input => Stop::Done,
            PrefixEnd::Incomplete(len) => Stop::Incomplete(len),
            PrefixEnd::IllFormed(_) if errors == Errors::Replace => {
                let (used, units) = decode_damaged(level, &input[read..], &mut output[written..]);
                read += used;
                written += units;
                if used > 0 {
                    continue;
                }
                Stop::Full
            }
            PrefixEnd::IllFormed(len) => Stop::IllFormed(len),
        };
        let done = Transcoded { read, written, stop };
        return done.replace_end(output, errors, U::REPLACEMENT);
    }
}

/// Returns the number of bytes to validate if there is room for `room` units: few that do not fit, and enough for one
/// character.
fn window<U: Unit>(room: usize) -> usize {
    const MORE: usize = 512;
    const LARGEST: usize = 16 * 1024;
    room.saturating_mul(U::BYTES).min(room.saturating_add(MORE)).clamp(4, LARGEST)
}

/// Decodes the start of `input`, which has an error near, with U+FFFD for each ill-formed part. Returns the bytes read
/// and the units written.
///
/// Each character is copied by itself, so that an error costs no call of a level.
#[cold]
#[inline(never)]
fn decode_damaged<U: Unit>(level: Level, input: &[u8], output: &mut [U]) -> (usize, usize) {
    /// After this many well-formed bytes, errors are no longer near.
    const NEAR: usize = 64;
    let mut repaired = [0; 256];
    let (read, len) = repair(input, &mut repaired, NEAR);
    let (text, _) = valid_prefix(&repaired[..len]);
    let (used, written) = U::decode(level, text, output);
    let read = if used == len { read } else { repair(input, &mut repaired[..used], usize::MAX).0 };
    (read, written)
}

/// Copies `input` to `output`, as far as it fits, with U+FFFD for each ill-formed part. Stops after `near` bytes
/// or more without an error, and before an incomplete end. Returns the bytes read and written.
fn repair(input: &[u8], output: &mut [u8], near: usize) -> (usize, usize) {
    let (mut read, mut written, mut last_error) = (0, 0, 0);
    while read < input.len() && read.saturating_sub(last_error) < near {
        let from = &input[read..];
        if let (Some(from), Some(to)) = (from.first_chunk(), output[written..].first_chunk_mut()) {
            *to = *from;
            let high = u64::from_le_bytes(*from) & 0x8080_8080_8080_8080;
            let ascii = (high.trailing_zeros() / 8) as usize;
            read += ascii;
            written += ascii;
            if ascii > 0 {
                continue;
            }
        }
        let (len, to_copy) = match from[0] {
            ..0x80 => (1, &from[..1]),
            _ => match sequence(from) {
                Sequence::WellFormed(len) => (len, &from[..len]),
                Sequence::Incomplete => break,
                Sequence::IllFormed(len) => {
                    let len = len.get().unwrap_or(1);
                    last_error = read + len;
                    (len, u8::REPLACEMENT)
                }
            },
        };
        let Some(to) = output.get_mut(written..written + to_copy.len()) else { break };
        to.copy_from_slice(to_copy);
        written += to_copy.len();
        read += len;
    }
    (read, written)
}
