//! UTF-8, and `str`.

#[cfg(feature = "alloc")]
use alloc::string::String;
use core::fmt::Debug;

#[cfg(feature = "alloc")]
use super::push_by_blocks;
use super::{Errors, Source, Stop, Target, Transcoded, Utf8, latin1};
use crate::simd::{
    BLOCK_ERRORS_LEN, BlockErrors, Level, RepairedPrefix, ScalarUnit, Sequence, head, sequence,
    tail, tail_mut,
};
use crate::text::split_far;
use crate::validate::{PrefixEnd, valid_prefix, valid_prefix_dense};

impl Source for Utf8 {
    type Input = [u8];
    type InputUnit = u8;
    const NAME: &str = "UTF-8";

    #[inline(always)]
    fn to_utf16(input: &[u8], output: &mut [u16], errors: Errors) -> Transcoded {
        decode(input, output, errors)
    }

    #[inline(always)]
    fn to_utf8(input: &[u8], output: &mut [u8], errors: Errors) -> Transcoded {
        decode(input, output, errors)
    }

    #[inline(always)]
    fn to_utf32<C: ScalarUnit>(input: &[u8], output: &mut [C], errors: Errors) -> Transcoded {
        decode(input, output, errors)
    }

    #[inline(always)]
    fn to_few_bytes<const SWAPPED: bool>(input: &[u8], output: &mut [[u8; 2]]) -> Option<usize> {
        Level::detect().decode_short_bytes::<SWAPPED>(input, output)
    }

    fn bytes(input: &[u8]) -> &[u8] {
        input
    }

    fn to_latin1(input: &[u8], output: &mut [u8], errors: Errors) -> Transcoded {
        latin1::from_utf8(input, output, errors)
    }

    #[cfg(feature = "alloc")]
    fn push_to_string(input: &[u8], errors: Errors, text: &mut String) -> (usize, Stop) {
        let (valid, end) = valid_prefix(input);
        text.reserve(input.len());
        text.push_str(valid);
        let stop = match end {
            PrefixEnd::Input => Stop::Done,
            _ if errors == Errors::Replace => {
                push_damaged(&input[valid.len()..], text);
                return (input.len(), Stop::Done);
            }
            PrefixEnd::Incomplete(len) => Stop::Incomplete(len),
            PrefixEnd::IllFormed(len) => Stop::IllFormed(len),
        };
        (valid.len(), stop)
    }
}

/// Appends the text of `input`, with U+FFFD for each ill-formed part. Without vectors, validation one character after
/// another is the fastest.
#[cfg(feature = "alloc")]
pub(super) fn push_damaged(input: &[u8], text: &mut String) {
    if Level::detect().decodes_many() {
        push_by_blocks::<Utf8, 4096>(input, Errors::Replace, text);
        return;
    }
    for chunk in input.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

impl Target for Utf8 {
    type Unit = u8;

    #[inline(always)]
    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u8],
        errors: Errors,
    ) -> Transcoded {
        S::to_utf8(input, output, errors)
    }
}

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

    fn to_utf32<C: ScalarUnit>(input: &str, output: &mut [C], _: Errors) -> Transcoded {
        Transcoded::until_full(C::decode(Level::detect(), input, output), input.len())
    }

    #[inline(always)]
    fn to_few_bytes<const SWAPPED: bool>(input: &str, output: &mut [[u8; 2]]) -> Option<usize> {
        Utf8::to_few_bytes::<SWAPPED>(input.as_bytes(), output)
    }

    fn bytes(input: &str) -> &[u8] {
        input.as_bytes()
    }

    fn to_latin1(input: &str, output: &mut [u8], errors: Errors) -> Transcoded {
        Utf8::to_latin1(input.as_bytes(), output, errors)
    }
}

/// A unit that a level decodes text to.
pub(super) trait DecodeUnit: Copy + From<u8> + Debug + 'static {
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

    /// Decodes blocks of damaged text; see [`Level::decode_damaged_utf16`].
    fn decode_damaged_blocks(_level: Level, _input: &[u8], _output: &mut [Self]) -> RepairedPrefix {
        RepairedPrefix::default()
    }

    /// Decodes the start of `input`, which has an error near, with U+FFFD for each ill-formed part. Returns the bytes
    /// read and the units written.
    fn decode_damaged(level: Level, input: &[u8], output: &mut [Self]) -> (usize, usize) {
        if let RepairedPrefix { read: read @ 1.., written, .. } = put_damaged(input, output) {
            return (read, written);
        }
        let mut repaired = [0; 1024];
        // No more than fits, so that the cost is in proportion to the output.
        let most = repaired.len().min(output.len().saturating_mul(Self::BYTES));
        let (read, len) = repair(level, input, &mut repaired[..most], NEAR);
        let (text, _) = valid_prefix(&repaired[..len]);
        let (used, written) = Self::decode(level, text, output);
        match used == len {
            true => (read, written),
            false => (repair(level, input, &mut repaired[..used], usize::MAX).0, written),
        }
    }

    /// Decodes `bytes` if they are short, well-formed and complete, and fit. Returns the number of units.
    fn decode_short(_level: Level, _bytes: &[u8], _output: &mut [Self]) -> Option<usize> {
        None
    }
}

impl DecodeUnit for u8 {
    const REPLACEMENT: &'static [u8] = "\u{FFFD}".as_bytes();
    const BYTES: usize = 1;

    fn decode(_: Level, text: &str, output: &mut [u8]) -> (usize, usize) {
        let mut len = text.len().min(output.len());
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        if let (Some(output), Some(text)) = (output.get_mut(..len), text.as_bytes().get(..len)) {
            output.copy_from_slice(text);
        }
        (len, len)
    }

    fn decode_damaged(level: Level, input: &[u8], output: &mut [u8]) -> (usize, usize) {
        repair(level, input, output, NEAR)
    }
}

impl DecodeUnit for u16 {
    const REPLACEMENT: &'static [u16] = &[0xFFFD];
    const BYTES: usize = 3;

    fn decode(level: Level, text: &str, output: &mut [u16]) -> (usize, usize) {
        level.decode_utf16(text, output)
    }

    fn decode_ascii(level: Level, bytes: &[u8], output: &mut [u16]) -> usize {
        level.decode_ascii_utf16(bytes, output)
    }

    fn decode_damaged_blocks(level: Level, input: &[u8], output: &mut [u16]) -> RepairedPrefix {
        level.decode_damaged_utf16(input, output)
    }

    #[inline]
    fn decode_short(level: Level, bytes: &[u8], output: &mut [u16]) -> Option<usize> {
        level.decode_short_utf16(bytes, output)
    }
}

impl<C: ScalarUnit> DecodeUnit for C {
    const REPLACEMENT: &'static [C] = C::REPLACEMENT;
    const BYTES: usize = 4;

    fn decode(level: Level, text: &str, output: &mut [C]) -> (usize, usize) {
        level.decode_chars(text, output)
    }

    fn decode_ascii(level: Level, bytes: &[u8], output: &mut [C]) -> usize {
        level.decode_ascii_chars(bytes, output)
    }

    fn decode_damaged_blocks(level: Level, input: &[u8], output: &mut [C]) -> RepairedPrefix {
        level.decode_damaged_chars(input, output)
    }

    #[inline]
    fn decode_short(level: Level, bytes: &[u8], output: &mut [C]) -> Option<usize> {
        level.decode_short_chars(bytes, output)
    }
}

/// The most bytes that `Level::decode_short_utf16` and `decode_short_chars` decode.
const SHORT: usize = 512;

/// The most bytes of ASCII that they decode at every level; with vectors, of any text.
const SHORT_ASCII: usize = 64;

/// Validates `input` and decodes it.
// Always inlined: what a call saves and restores takes longer than decoding short input. Rows `to-utf-16/*/64`.
#[inline(always)]
fn decode<U: DecodeUnit>(input: &[u8], output: &mut [U], errors: Errors) -> Transcoded {
    if input.len() <= SHORT
        && let Some(written) = U::decode_short(Level::detect(), input, output)
    {
        return Transcoded { read: input.len(), written, stop: Stop::Done };
    }
    let done = decode_valid(input, output);
    match errors {
        Errors::Stop => done,
        Errors::Replace => decode_damaged(input, output, done),
    }
}

/// Validates `input` and decodes it, a window at a time, so that a window is still in the cache when it is decoded.
#[inline(never)]
fn decode_valid<U: DecodeUnit>(input: &[u8], output: &mut [U]) -> Transcoded {
    let level = Level::detect();
    let (mut read, mut written, mut is_after_ascii) = (0, 0, false);
    loop {
        let (rest, room) = (tail(input, read), tail_mut(output, written));
        if is_after_ascii && rest.is_empty() {
            return Transcoded { read, written, stop: Stop::Done };
        }
        if is_after_ascii
            && rest.len() <= SHORT
            && let Some(units) = U::decode_short(level, rest, room)
        {
            let (read, written) = (input.len(), written + units);
            return Transcoded { read, written, stop: Stop::Done };
        }
        let ascii = if rest.len() > SHORT_ASCII { U::decode_ascii(level, rest, room) } else { 0 };
        is_after_ascii = ascii > 0;
        if is_after_ascii {
            read += ascii;
            written += ascii;
            continue;
        }
        let window = head(rest, rest.len().min(window::<U>(room.len())));
        let (text, end) = valid_prefix(window);
        let (used, units) = U::decode(level, text, room);
        read += used;
        written += units;
        let stop = match end {
            _ if used < text.len() => Stop::Full,
            // The window ends, perhaps inside a character, not the input.
            PrefixEnd::Input | PrefixEnd::Incomplete(_) if window.len() < rest.len() => continue,
            PrefixEnd::Input => Stop::Done,
            PrefixEnd::Incomplete(len) => Stop::Incomplete(len),
            PrefixEnd::IllFormed(len) => Stop::IllFormed(len),
        };
        return Transcoded { read, written, stop };
    }
}

/// Continues after what is `done`, with U+FFFD for each ill-formed part.
#[inline(never)]
fn decode_damaged<U: DecodeUnit>(
    input: &[u8],
    output: &mut [U],
    mut done: Transcoded,
) -> Transcoded {
    while let Transcoded { read, written, stop: Stop::IllFormed(_) } = done {
        let (rest, room) = (&input[read..], &mut output[written..]);
        let (used, units) = U::decode_damaged(Level::detect(), rest, room);
        if used == 0 {
            return Transcoded { stop: Stop::Full, ..done };
        }
        let next = decode_valid(&rest[used..], &mut room[units..]);
        let (read, written) = (read + used + next.read, written + units + next.written);
        done = Transcoded { read, written, ..next };
    }
    done.replace_end(output, Errors::Replace, U::REPLACEMENT)
}

/// Returns the number of bytes to validate if there is room for `room` units: few that do not fit, and enough for one
/// character.
fn window<U: DecodeUnit>(room: usize) -> usize {
    const MORE: usize = 512;
    const LARGEST: usize = 16 * 1024;
    room.saturating_mul(U::BYTES).min(room.saturating_add(MORE)).clamp(4, LARGEST)
}

/// After this many well-formed bytes, errors are no longer near.
const NEAR: usize = 128;

/// Decodes damaged text at the start of `input`, with U+FFFD for each ill-formed part, if there is a fast method for it.
pub(super) fn put_damaged<U: DecodeUnit>(input: &[u8], output: &mut [U]) -> RepairedPrefix {
    if input.len() > ASCII_BLOCK
        && let done @ RepairedPrefix { read: 1.., .. } = put_damaged_ascii(input, output)
    {
        return done;
    }
    match put_damaged_blocks(input, output) {
        RepairedPrefix { read: 0, .. } => put_damaged_ascii(input, output),
        done => done,
    }
}

/// Decodes damaged text block by block. Decodes nothing if the level has no method for blocks.
fn put_damaged_blocks<U: DecodeUnit>(input: &[u8], output: &mut [U]) -> RepairedPrefix {
    /// The most bytes of text that are read at once.
    const FAR: usize = 4096;
    let level = Level::detect();
    let mut done = RepairedPrefix::default();
    loop {
        let (rest, room) = (tail(input, done.read), tail_mut(output, done.written));
        let mut part = U::decode_damaged_blocks(level, rest, room);
        if part.read == 0 {
            part = put_damaged_few(level, rest, room);
        }
        let (rest, room) = (tail(rest, part.read), tail_mut(room, part.written));
        let (text, end) = match part.errors {
            0 => ("", PrefixEnd::Input),
            _ => valid_prefix_dense(head(rest, rest.len().min(window::<U>(room.len())).min(FAR))),
        };
        let (read, written) = U::decode(level, text, room);
        done.read += part.read + read;
        done.written += part.written + written;
        done.errors += part.errors;
        if read < text.len() || !matches!(end, PrefixEnd::IllFormed(_)) {
            return done;
        }
    }
}

/// Decodes a few bytes of damaged text, fewer than a block, as many as there is certainly room for. Leaves an incomplete end.
/// Decodes nothing if the level has no method for blocks.
fn put_damaged_few<U: DecodeUnit>(level: Level, input: &[u8], output: &mut [U]) -> RepairedPrefix {
    /// A block ends at most three bytes earlier, and more units may be overwritten.
    const MOST: usize = BLOCK_ERRORS_LEN - 3;
    const UNITS: usize = BLOCK_ERRORS_LEN + 8;
    // A byte is a unit at most.
    let input = head(input, input.len().min(output.len()).min(MOST));
    let is_incomplete = |len: &usize| {
        let end = tail(input, input.len().saturating_sub(*len));
        matches!(sequence(end), Sequence::Incomplete)
    };
    let incomplete = (1..=3).find(is_incomplete).unwrap_or(0);
    let input = head(input, input.len().saturating_sub(incomplete));
    let (mut block, mut units) = ([0; BLOCK_ERRORS_LEN], [U::from(0); UNITS]);
    if let Some(start) = block.get_mut(..input.len()) {
        start.copy_from_slice(input);
    }
    let done = U::decode_damaged_blocks(level, &block, &mut units);
    // Each zero that was read is a unit.
    let written = done.written.saturating_sub(done.read.saturating_sub(input.len()));
    match (output.get_mut(..written), units.get(..written)) {
        (Some(output), Some(units)) if done.read > 0 => {
            output.copy_from_slice(units);
            RepairedPrefix { read: input.len(), written, ..done }
        }
        _ => RepairedPrefix::default(),
    }
}

/// The bytes of damaged ASCII that are decoded at once.
const ASCII_BLOCK: usize = 32;

/// Decodes damaged ASCII at the start of `input`: a unit for each byte. Stops before a sequence or an ill-formed part of more
/// bytes, and after 128 bytes or more without an error. Decodes nothing if the first bytes are not damaged ASCII, or if a unit
/// of the output is not a character. Rows `replace-utf-16/latin-1` of `benches/scenarios/damaged.rs`.
fn put_damaged_ascii<U: DecodeUnit>(input: &[u8], output: &mut [U]) -> RepairedPrefix {
    const CALM: usize = 128;
    let &[replacement] = U::REPLACEMENT else { return RepairedPrefix::default() };
    let (mut read, mut errors, mut last_error) = (0, 0, 0);
    loop {
        let (from, to) = (tail(input, read), tail_mut(output, read));
        if let Some(found) = put_singles::<U, ASCII_BLOCK>(from, to, replacement) {
            read += ASCII_BLOCK;
            errors += found;
            last_error = if found > 0 { read } else { last_error };
            if read - last_error >= CALM {
                break;
            }
            continue;
        }
        if read == 0 && from.len() > ASCII_BLOCK {
            break;
        }
        for (at, (&byte, to)) in from.iter().zip(to).take(ASCII_BLOCK).enumerate() {
            // The byte after a leading byte, or the end, decides.
            let next = if let 0xC2..=0xF4 = byte { from.get(at + 1) } else { Some(&0) };
            if next.is_none_or(|&next| is_continuation(next)) {
                break;
            }
            *to = if byte.is_ascii() { U::from(byte) } else { replacement };
            read += 1;
            errors += usize::from(!byte.is_ascii());
        }
        break;
    }
    RepairedPrefix { read, written: read, errors }
}

/// Decodes `N` bytes of ASCII and of ill-formed parts of one byte. Returns how many are ill-formed; `None` if there may be others,
/// or less room or input. Compilers vectorise this.
fn put_singles<U: Copy + From<u8>, const N: usize>(
    input: &[u8],
    output: &mut [U],
    replacement: U,
) -> Option<usize> {
    let (bytes, next) = (input.first_chunk::<N>()?, input.get(1..)?.first_chunk::<N>()?);
    let output = output.first_chunk_mut::<N>()?;
    let joined =
        |(&byte, &next): (&u8, &u8)| u8::from(byte >= 0xC2) & u8::from(is_continuation(next));
    if bytes.iter().zip(next).fold(0, |any, pair| any | joined(pair)) != 0 {
        return None;
    }
    for (unit, &byte) in output.iter_mut().zip(bytes) {
        *unit = if byte.is_ascii() { U::from(byte) } else { replacement };
    }
    // Bit 7 of each byte of a word, in words: compilers for WebAssembly do not vectorise a sum of bytes.
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (words, _) = bytes.as_chunks();
    let in_bytes = |word: &[u8; 8]| u64::from_le_bytes(*word) >> 7 & ONES;
    let sums = words.iter().map(in_bytes).sum::<u64>();
    Some((sums.wrapping_mul(ONES) >> 56) as usize)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Copies `input` to `output`, as far as it fits, with U+FFFD for each ill-formed part. Stops after `near` bytes
/// or more without an error, and before an incomplete end. Returns the bytes read and written.
///
/// ```text
/// block by block, if the level finds all errors of a block at once, and there is room for the longest result:
///     copy the text between them
/// else:
///     copy the text before the next error
/// ```
#[inline(never)]
fn repair(level: Level, input: &[u8], output: &mut [u8], near: usize) -> (usize, usize) {
    let (mut read, mut written, mut last_error) = (0, 0, 0);
    while read < input.len() && read - last_error < near {
        let (from, to) = (&input[read..], &mut output[written..]);
        if let (Some(from), Some(to)) = (from.first_chunk(), to.first_chunk_mut())
            && let Some(block) = from.first_chunk()
            && let Some(errors) = level.block_errors(block)
        {
            if errors.starts != 0 {
                last_error = read + BLOCK_ERRORS_LEN;
            }
            read += errors.end;
            written += repair_block(from, errors, to);
            last_error = last_error.min(read);
            continue;
        }
        // Enough for a character or for all that fits.
        let window = &from[..from.len().min(NEAR.min(to.len() + 4))];
        let (text, error_len) = split_far(Level::SCALAR, window);
        let (used, copied) = u8::decode(level, text, to);
        read += used;
        written += copied;
        match error_len {
            _ if used < text.len() => break,
            Some(len) => {
                let Some(to) = to[copied..].first_chunk_mut() else { break };
                *to = *b"\xEF\xBF\xBD";
                written += to.len();
                read += len;
                last_error = read;
            }
            None if window.len() < from.len() => {}
            None => break,
        }
    }
    (read, written)
}

/// Copies the text of a block, with U+FFFD for each ill-formed part. Returns the bytes written.
///
/// Whole arrays are copied, of which only the first bytes count: a copy of a variable length is a call.
#[inline]
fn repair_block(
    from: &[u8; 2 * BLOCK_ERRORS_LEN],
    errors: BlockErrors,
    to: &mut [u8; 4 * BLOCK_ERRORS_LEN],
) -> usize {
    let (mut at, mut written, mut left) = (0, 0, errors.starts);
    let mut copy = |at: usize, len: usize, written: usize| {
        if let (Some(from), Some(to)) =
            (from[at..].first_chunk(), to[written..].first_chunk_mut::<BLOCK_ERRORS_LEN>())
        {
            *to = *from;
        }
        if let Some(to) = to[written + len..].first_chunk_mut() {
            *to = *b"\xEF\xBF\xBD";
        }
        written + len
    };
    while left != 0 {
        let part = left.trailing_zeros() as usize;
        written = copy(at, part - at, written) + 3;
        at = part + 1;
        at += (errors.two_or_three >> part & 1) as usize + (errors.three >> part & 1) as usize;
        left &= left - 1;
    }
    copy(at, errors.end - at, written)
}
