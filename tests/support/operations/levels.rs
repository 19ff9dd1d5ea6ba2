//! Every operation of each level, compared with std and plain loops.

use std::mem::MaybeUninit;

use arbitrary::Arbitrary;
use utf8_simd::{ErrorLen, Level, NulForm, RepairedPrefix, Validated};

use super::input::Bytes;

#[derive(Arbitrary, Clone, Debug)]
pub struct Work {
    bytes: Bytes<3000>,
    /// The number of leading bytes to leave out, for every alignment.
    skipped: u8,
    /// The number of elements by which the room is less than needed.
    less: u8,
    /// The byte that ends text; seven bits of it are used.
    end: u8,
    mask: [u8; 4],
}

/// The fill of a buffer, to detect what is written.
const BYTE: u8 = 0xEE;
const UNIT: u16 = 0xE123;
const CHAR: char = '\u{E123}';

/// Checks every level of this machine.
pub fn every_level(work: &Work) {
    Level::available().for_each(|level| check(level, work));
}

fn check(level: Level, work: &Work) {
    let bytes = &work.bytes.0[usize::from(work.skipped % 64).min(work.bytes.0.len())..];
    let less = usize::from(work.less);
    let stop = validates(level, bytes);
    copies(level, bytes, less);
    unmasks(level, bytes, work.mask, stop);
    let text = str::from_utf8(&bytes[..stop.valid_up_to]).expect("that much is well-formed");
    converts(level, text, less);
    decodes_short(level, &bytes[..bytes.len().min(less)]);
    finds(level, bytes);
    for end in [b'\n', 0, work.end & 0x7F] {
        finds_end(level, end, bytes);
    }
    parts(level, bytes);
    repairs(level, bytes, less);
    pairs(level, text, less);
}

fn validates(level: Level, bytes: &[u8]) -> Validated {
    let expected = match str::from_utf8(bytes) {
        Ok(text) => Validated { valid_up_to: text.len(), error_len: ErrorLen::None },
        Err(error) => Validated {
            valid_up_to: error.valid_up_to(),
            error_len: match error.error_len() {
                None => ErrorLen::None,
                Some(1) => ErrorLen::One,
                Some(2) => ErrorLen::Two,
                _ => ErrorLen::Three,
            },
        },
    };
    assert_eq!(level.validate(bytes), expected, "{level:?}: {bytes:02x?}");
    let clean = level.valid_prefix_len(bytes);
    assert!(str::from_utf8(&bytes[..clean]).is_ok(), "{level:?}, {clean}: {bytes:02x?}");
    expected
}

fn unmasks(level: Level, bytes: &[u8], mask: [u8; 4], stop: Validated) {
    let mut masked = bytes.to_vec();
    for (at, byte) in masked.iter_mut().enumerate() {
        *byte ^= mask[at % 4];
    }
    let mut plain = masked.clone();
    level.unmask(&mut plain, mask);
    assert!(plain == bytes, "{level:?}, {mask:02x?}: {bytes:02x?}");
    assert_eq!(level.unmask_and_validate(&mut masked, mask), stop, "{level:?}: {bytes:02x?}");
    assert!(masked == bytes, "{level:?}, {mask:02x?}: {bytes:02x?}");
}

/// Copies to a buffer with less room, and to one with enough.
#[allow(unsafe_code)]
fn copies(level: Level, bytes: &[u8], less: usize) {
    for room in [bytes.len().saturating_sub(less), bytes.len() + 7] {
        let mut out = vec![MaybeUninit::new(BYTE); room + 64];
        let copied = level.copy_valid_prefix(bytes, &mut out[..room]);
        let within = &bytes[..room.min(bytes.len())];
        assert_eq!(copied, level.valid_prefix_len(within), "{level:?}, {room}: {bytes:02x?}");
        // SAFETY: all elements have been initialised.
        let out: Vec<u8> = out.iter().map(|byte| unsafe { byte.assume_init() }).collect();
        assert!(out[..copied] == within[..copied], "{level:?}, {room}: {bytes:02x?}");
        let after = out[within.len()..].iter().all(|&byte| byte == BYTE);
        assert!(after, "{level:?}, after {room}: {bytes:02x?}");
    }
}

fn converts(level: Level, text: &str, less: usize) {
    let chars: Vec<char> = text.chars().collect();
    let units: Vec<u16> = text.encode_utf16().collect();
    assert_eq!(level.count_chars(text), chars.len(), "{level:?}: {text:?}");
    assert_eq!(level.count_utf16(text), text.encode_utf16().count(), "{level:?}: {text:?}");

    for less in [0, less] {
        let room = chars.len().saturating_sub(less);
        let read: usize = chars[..room].iter().map(|c| c.len_utf8()).sum();
        let done = written(room, CHAR, &chars, |out| level.decode_chars(text, out));
        assert_eq!(done, (read, room), "{level:?}: {text:?}");

        // Neither a pair nor a character is split.
        let room = units.len().saturating_sub(less);
        let (read, written_units) =
            written(room, UNIT, &units, |out| level.decode_utf16(text, out));
        let expected = text[..read].encode_utf16().count();
        assert_eq!(written_units, expected, "{level:?}: {text:?}");
        assert!(room - written_units <= 1 || read == text.len(), "{level:?}: {text:?}");

        let room = text.len().saturating_sub(less);
        let encode = |out: &mut [u8]| level.encode_chars(&chars, out);
        let (read, written_bytes) = written_within(room, BYTE, text.as_bytes(), encode).0;
        let expected: usize = chars[..read].iter().map(|c| c.len_utf8()).sum();
        assert_eq!(written_bytes, expected, "{level:?}: {text:?}");
        assert!(room - written_bytes <= 3 || read == chars.len(), "{level:?}: {text:?}");

        let encode = |out: &mut [u8]| level.encode_utf16(&units, out, None);
        let (read, written_bytes) = written_within(room, BYTE, text.as_bytes(), encode).0;
        let expected = String::from_utf16(&units[..read]).expect("no pair is split").len();
        assert_eq!(written_bytes, expected, "{level:?}: {text:?}");
        assert!(room - written_bytes <= 3 || read == units.len(), "{level:?}: {text:?}");

        let mut damaged = units.clone();
        damaged.iter_mut().skip(less).step_by(less + 3).for_each(|unit| *unit ^= 0xD800);
        let repaired = String::from_utf16_lossy(&damaged);
        let mut replaced = 0;
        let encode = |out: &mut [u8]| level.encode_utf16(&damaged, out, Some(&mut replaced));
        let room = repaired.len().saturating_sub(less);
        let (read, written_bytes) = written_within(room, BYTE, repaired.as_bytes(), encode).0;
        let (before, rest) = damaged.split_at(read);
        let chars = || char::decode_utf16(before.iter().copied());
        assert_eq!(repaired[..written_bytes], String::from_utf16_lossy(before), "{damaged:04x?}");
        assert_eq!(replaced, chars().filter(Result::is_err).count() as u64, "{damaged:04x?}");
        let is_left = matches!(rest, [] | [0xD800..0xDC00]);
        assert!(is_left || room - written_bytes <= 3, "{level:?}: {damaged:04x?}");
    }
}

/// The numbers of elements read and written by `write` with this much room. Checks the output.
fn written<T: Copy + PartialEq>(
    room: usize,
    blank: T,
    expected: &[T],
    write: impl FnOnce(&mut [T]) -> (usize, usize),
) -> (usize, usize) {
    written_within(room, blank, expected, write).0
}

/// Like [`written`]. Elements after the output may be overwritten as far as there is room. Returns the destination too.
fn written_within<T: Copy + PartialEq>(
    room: usize,
    blank: T,
    expected: &[T],
    write: impl FnOnce(&mut [T]) -> (usize, usize),
) -> ((usize, usize), Vec<T>) {
    let mut out = vec![blank; room + 64];
    let (read, written) = write(&mut out[..room]);
    assert!(out[..written] == expected[..written], "{written} of {room} differ");
    assert!(out[room..].iter().all(|unit| *unit == blank), "after the room of {room}");
    ((read, written), out)
}

/// Short text that fits is decoded entirely, if it is ASCII; other text entirely or not at all; anything else not at
/// all.
fn decodes_short(level: Level, bytes: &[u8]) {
    let text = str::from_utf8(bytes).ok();
    let chars: Vec<char> = text.unwrap_or_default().chars().collect();
    let units: Vec<u16> = text.unwrap_or_default().encode_utf16().collect();
    let check = |done: Option<usize>, len: usize, room: usize| match done {
        Some(done) => assert!(text.is_some() && done == len, "{level:?}, {room}: {bytes:02x?}"),
        None => {
            let must = text.is_some_and(str::is_ascii) && len <= room.min(64);
            assert!(!must, "{level:?}, {room}: {bytes:02x?}");
        }
    };
    for room in [chars.len().saturating_sub(1), chars.len(), bytes.len() + 100] {
        written(room, CHAR, &chars, |out| {
            let done = level.decode_short_chars(bytes, out);
            check(done, chars.len(), room);
            (bytes.len(), done.unwrap_or(0))
        });
    }
    for room in [units.len().saturating_sub(1), units.len(), bytes.len() + 100] {
        written(room, UNIT, &units, |out| {
            let done = level.decode_short_utf16(bytes, out);
            check(done, units.len(), room);
            (bytes.len(), done.unwrap_or(0))
        });
    }
    decodes_ascii(level, bytes);
}

/// ASCII at the start of any bytes, without its last block.
fn decodes_ascii(level: Level, bytes: &[u8]) {
    let ascii = &bytes[..bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len())];
    let chars: Vec<char> = ascii.iter().copied().map(char::from).collect();
    let units: Vec<u16> = ascii.iter().copied().map(u16::from).collect();
    for room in [bytes.len() / 2, bytes.len()] {
        let least = ascii.len().min(room).saturating_sub(63);
        written(room, CHAR, &chars, |out| {
            let len = level.decode_ascii_chars(bytes, out);
            assert!(len >= least, "{level:?}, {room}: {bytes:02x?}");
            (len, len)
        });
        written(room, UNIT, &units, |out| {
            let len = level.decode_ascii_utf16(bytes, out);
            assert!(len >= least, "{level:?}, {room}: {bytes:02x?}");
            (len, len)
        });
    }
}

fn finds(level: Level, bytes: &[u8]) {
    for range in [0x00..=0xEF, 0x01..=0x7F] {
        let expected = bytes.iter().position(|byte| !range.contains(byte));
        assert_eq!(level.find_outside(bytes, range), expected, "{level:?}: {bytes:02x?}");
    }
}

/// The leading ASCII before a delimiter is counted.
fn finds_end(level: Level, end: u8, bytes: &[u8]) {
    for ends in [[end; 2], [end, b'\r']] {
        let ascii = bytes.iter().take_while(|byte| byte.is_ascii() && !ends.contains(byte)).count();
        assert_eq!(level.ascii_before(ends, bytes), ascii, "{level:?}: {bytes:02x?}");
    }
}

/// The ill-formed parts of each block, one after another, are those of the whole.
fn parts(level: Level, bytes: &[u8]) {
    let mut expected = Vec::new();
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            expected.push((at, chunk.invalid().len()));
        }
        at += chunk.invalid().len();
    }
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(parts) = bytes[at..].first_chunk().and_then(|block| level.block_errors(block)) {
        for i in (0..64).filter(|i| parts.starts >> i & 1 != 0) {
            let longer = (parts.two_or_three >> i & 1) + (parts.three >> i & 1);
            found.push((at + i, 1 + longer as usize));
        }
        at += parts.end;
    }
    expected.retain(|part| part.0 < at);
    assert_eq!(found, expected, "{level:?}: {bytes:02x?}");
}

/// Blocks of damaged text become the units of `from_utf8_lossy`, and no sequence is cut.
fn repairs(level: Level, bytes: &[u8], less: usize) {
    let whole = String::from_utf8_lossy(bytes);
    let mut units = vec![UNIT; whole.encode_utf16().count() + 96 - less.min(96)];
    let RepairedPrefix { read, written, errors } = level.decode_damaged_utf16(bytes, &mut units);
    let (front, back) = bytes.split_at(read);
    let [front_text, back_text] = [front, back].map(String::from_utf8_lossy);
    assert!(
        front_text.encode_utf16().eq(units[..written].iter().copied()),
        "{level:?}: {bytes:02x?}"
    );
    assert_eq!(format!("{front_text}{back_text}"), whole, "{level:?}: {bytes:02x?}");
    let parts = front.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    assert_eq!(errors, parts, "{level:?}: {bytes:02x?}");
    match level.name() {
        "scalar" | "portable" => assert_eq!(read, 0),
        _ => assert!(read > 0 || bytes.len() < 64 || units.len() < 96, "{level:?}: {bytes:02x?}"),
    }

    // Numbers, because a wrong one would not be a `char`.
    let mut chars = vec![u32::from(CHAR); whole.chars().count() + 96 - less.min(96)];
    let done = level.decode_damaged_chars(bytes, &mut chars);
    let text = String::from_utf8_lossy(&bytes[..done.read]);
    let chars: Vec<_> = chars.into_iter().map(char::from_u32).collect();
    assert!(
        text.chars().map(Some).eq(chars[..done.written].iter().copied()),
        "{level:?}: {bytes:02x?}"
    );
    assert!(chars.iter().all(Option::is_some), "{level:?}: not a char after {bytes:02x?}");
}

/// Characters of four bytes to surrogate pairs and back.
fn pairs(level: Level, text: &str, less: usize) {
    for nul in [NulForm::OneByte, NulForm::TwoBytes] {
        let mut expected = Vec::new();
        for c in text.chars() {
            match c {
                '\0' if nul == NulForm::TwoBytes => expected.extend([0xC0, 0x80]),
                '\u{10000}'.. => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let tail = |shift: u32| 0x80 | (*unit >> shift & 0x3F) as u8;
                        expected.extend([0xED, tail(6), tail(0)]);
                    }
                }
                c => expected.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        let split = |out: &mut [u8]| level.split_pairs(text.as_bytes(), nul, out);
        rewrites(level, text.as_bytes(), &expected, less, split);
        let join = |out: &mut [u8]| level.join_pairs(&expected, nul, out);
        rewrites(level, &expected, text.as_bytes(), less, join);
    }
}

/// Compares `rewrite` with `expected`: all of it if there is room, otherwise at least as much as fits
/// minus 63 bytes, and minus five for a character that was taken back.
fn rewrites(
    level: Level,
    bytes: &[u8],
    expected: &[u8],
    less: usize,
    rewrite: impl Fn(&mut [u8]) -> (usize, usize),
) {
    let enough = expected.len() + 64;
    for room in [enough, enough.saturating_sub(less)] {
        let mut out = vec![BYTE; room + 64];
        let (read, written) = rewrite(&mut out[..room]);
        assert!(out[..written] == expected[..written], "{level:?}, {room}: {bytes:02x?}");
        let after = out[room..].iter().all(|&byte| byte == BYTE);
        assert!(after, "{level:?}, after {room}: {bytes:02x?}");
        let is_all = (read, written) == (bytes.len(), expected.len());
        let is_full = room - written < 64 + 5;
        assert!(is_all || is_full && room < enough, "{level:?}, {room}: {bytes:02x?}");
    }
}
