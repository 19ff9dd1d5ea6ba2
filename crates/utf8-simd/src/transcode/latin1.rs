//! Latin-1.

use super::utf16::stop_before;
use super::{
    Errors, Latin1, Map, Source, Stop, Target, Transcoded, Utf8, put_units, through_utf16,
};
use crate::simd::{Level, head, tail};

impl Source for Latin1 {
    type Input = [u8];
    type InputUnit = u8;
    const NAME: &str = "Latin-1";

    fn to_utf16(input: &[u8], output: &mut [u16], _: Errors) -> Transcoded {
        let len = input.len().min(output.len());
        Level::detect().run(Map { from: input, to: output, of: u16::from });
        Transcoded::until_full((len, len), input.len())
    }

    fn to_utf8(input: &[u8], output: &mut [u8], errors: Errors) -> Transcoded {
        by_windows(input, output, |window, room| {
            through_utf16::<Self, _>(window, room, errors, u16::MAX, Utf8::put)
        })
    }
}

impl Target for Latin1 {
    type Unit = u8;
    const GREATEST: u16 = 0xFF;

    fn put(units: &[u16], output: &mut [u8], errors: Errors) -> (usize, usize) {
        let one = |rest: &[u16]| match u8::try_from(*rest.first()?) {
            Ok(byte) => Some(byte),
            Err(_) if errors == Errors::Replace => {
                (stop_before(rest, |unit| unit) == Stop::Full).then_some(b'?')
            }
            Err(_) => None,
        };
        let plain = |block: &[u16]| block.iter().fold(0, |all, unit| all | unit) <= 0xFF;
        put_units(units, output, plain, |unit| unit as u8, one)
    }

    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u8],
        errors: Errors,
    ) -> Transcoded {
        S::to_latin1(input, output, errors)
    }
}

/// Converts between UTF-8 and Latin-1: copies ASCII, which is the same in both, and calls `convert` for other text, a window at
/// a time.
pub(super) fn by_windows(
    input: &[u8],
    output: &mut [u8],
    convert: impl Fn(&[u8], &mut [u8]) -> Transcoded,
) -> Transcoded {
    const SHORT: usize = 64;
    /// So much that `convert` rarely initialises its block, and what was read is still in the cache when it is copied.
    const WINDOW: usize = 8192;
    // To find where ASCII ends takes longer than to convert a short text.
    let is_short = input.len() <= SHORT && !input.is_ascii();
    let (mut read, mut written) = (0, 0);
    loop {
        let (rest, room) = (tail(input, read), output.get_mut(written..).unwrap_or_default());
        let most = rest.len().min(room.len()).min(WINDOW);
        let text = head(rest, most);
        let ascii = if is_short { 0 } else { Level::detect().ascii_before([0x80; 2], text) };
        if let (Some(text), Some(room)) = (rest.get(..ascii), room.get_mut(..ascii)) {
            room.copy_from_slice(text);
        }
        read += ascii;
        written += ascii;
        if ascii == rest.len() {
            return Transcoded { read, written, stop: Stop::Done };
        }
        if ascii == WINDOW {
            continue;
        }
        let (rest, room) = (tail(rest, ascii), room.get_mut(ascii..).unwrap_or_default());
        let window = head(rest, before_character(rest, WINDOW));
        let done = convert(window, room);
        read += done.read;
        written += done.written;
        let stop = match done.stop {
            stop if window.len() == rest.len() => stop,
            Stop::Done => continue,
            // What follows the window does not continue it.
            Stop::Incomplete(len) => Stop::IllFormed(len),
            stop => stop,
        };
        return Transcoded { read, written, stop };
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
