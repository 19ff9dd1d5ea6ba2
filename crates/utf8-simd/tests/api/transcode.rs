//! Every direction of transcoding, strict and lossy, compared with a plain model.

use std::cell::Cell;
use std::fmt::Debug;

use utf8_simd::{
    Latin1, Level, RepairedPrefix, Source, Stop, Target, Transcoded, Utf8, Utf16, Utf16Be, Utf16Le,
    Utf32, transcode, transcode_lossy, transcode_to_string, transcode_to_string_lossy,
    transcode_to_vec, transcode_to_vec_lossy,
};

use crate::Levels;
use crate::support::{FILLS, Random, fill_to};
use crate::validate::EDGES;

/// A character of the source or an error, and its length in units.
#[derive(Clone, Copy, Debug)]
enum Item {
    Char(char, usize),
    IllFormed(usize),
    Incomplete(usize),
}

/// The model of a source.
trait SourceModel: Source {
    /// The column of the table in the documentation of `transcode`.
    const COLUMN: usize;

    fn items(input: &Self::Input) -> Vec<Item>;
}

/// The model of a target.
trait TargetModel: Target<Unit: PartialEq + Debug> {
    /// Appends the units of `c`; `None` if the encoding lacks it.
    fn append(c: char, units: &mut Vec<Self::Unit>) -> Option<()>;

    /// The row of the table in the documentation of `transcode`.
    const ROW: [usize; 4];

    /// A unit to recognise what has not been written.
    const LEFT: Self::Unit;
}

impl SourceModel for Utf8 {
    const COLUMN: usize = 0;

    fn items(input: &[u8]) -> Vec<Item> {
        let mut items = Vec::new();
        let mut at = 0;
        for chunk in input.utf8_chunks() {
            items.extend(str::items(chunk.valid()));
            let len = chunk.invalid().len();
            at += chunk.valid().len() + len;
            let is_incomplete = at == input.len()
                && std::str::from_utf8(chunk.invalid()).is_err_and(|e| e.error_len().is_none());
            match len {
                0 => {}
                _ if is_incomplete => items.push(Item::Incomplete(len)),
                _ => items.push(Item::IllFormed(len)),
            }
        }
        items
    }
}

impl SourceModel for str {
    const COLUMN: usize = 0;

    fn items(input: &str) -> Vec<Item> {
        input.chars().map(|c| Item::Char(c, c.len_utf8())).collect()
    }
}

impl SourceModel for Utf16 {
    const COLUMN: usize = 2;

    fn items(input: &[u16]) -> Vec<Item> {
        let mut left = input.len();
        let item = |decoded: Result<char, std::char::DecodeUtf16Error>| {
            left -= decoded.as_ref().map_or(1, |c| c.len_utf16());
            match decoded {
                Ok(c) => Item::Char(c, c.len_utf16()),
                Err(e) if left == 0 && e.unpaired_surrogate() < 0xDC00 => Item::Incomplete(1),
                Err(_) => Item::IllFormed(1),
            }
        };
        char::decode_utf16(input.iter().copied()).map(item).collect()
    }
}

fn byte_items(input: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<Item> {
    let (units, odd) = input.as_chunks();
    let units: Vec<u16> = units.iter().copied().map(unit).collect();
    let bytes = |item| match item {
        Item::Char(c, len) => Item::Char(c, 2 * len),
        Item::IllFormed(len) => Item::IllFormed(2 * len),
        Item::Incomplete(len) => Item::Incomplete(2 * len + odd.len()),
    };
    let mut items: Vec<Item> = Utf16::items(&units).into_iter().map(bytes).collect();
    if !odd.is_empty() && !matches!(items.last(), Some(Item::Incomplete(_))) {
        items.push(Item::Incomplete(1));
    }
    items
}

impl SourceModel for Utf16Le {
    const COLUMN: usize = 2;

    fn items(input: &[u8]) -> Vec<Item> {
        byte_items(input, u16::from_le_bytes)
    }
}

impl SourceModel for Utf16Be {
    const COLUMN: usize = 2;

    fn items(input: &[u8]) -> Vec<Item> {
        byte_items(input, u16::from_be_bytes)
    }
}

impl SourceModel for Utf32 {
    const COLUMN: usize = 3;

    fn items(input: &[u32]) -> Vec<Item> {
        let item = |&unit| char::from_u32(unit).map_or(Item::IllFormed(1), |c| Item::Char(c, 1));
        input.iter().map(item).collect()
    }
}

impl SourceModel for char {
    const COLUMN: usize = 3;

    fn items(input: &[char]) -> Vec<Item> {
        input.iter().map(|&c| Item::Char(c, 1)).collect()
    }
}

impl SourceModel for Latin1 {
    const COLUMN: usize = 1;

    fn items(input: &[u8]) -> Vec<Item> {
        input.iter().map(|&byte| Item::Char(char::from(byte), 1)).collect()
    }
}

impl TargetModel for Utf8 {
    const ROW: [usize; 4] = [1, 2, 3, 4];
    const LEFT: u8 = 0xEE;

    fn append(c: char, units: &mut Vec<u8>) -> Option<()> {
        units.extend(c.encode_utf8(&mut [0; 4]).bytes());
        Some(())
    }
}

impl TargetModel for Utf16 {
    const ROW: [usize; 4] = [1, 1, 1, 2];
    const LEFT: u16 = 0xE123;

    fn append(c: char, units: &mut Vec<u16>) -> Option<()> {
        units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
        Some(())
    }
}

impl TargetModel for Utf16Le {
    const ROW: [usize; 4] = [2, 2, 2, 4];
    const LEFT: u8 = 0xEE;

    fn append(c: char, units: &mut Vec<u8>) -> Option<()> {
        units.extend(c.encode_utf16(&mut [0; 2]).iter().flat_map(|unit| unit.to_le_bytes()));
        Some(())
    }
}

impl TargetModel for Utf16Be {
    const ROW: [usize; 4] = [2, 2, 2, 4];
    const LEFT: u8 = 0xEE;

    fn append(c: char, units: &mut Vec<u8>) -> Option<()> {
        units.extend(c.encode_utf16(&mut [0; 2]).iter().flat_map(|unit| unit.to_be_bytes()));
        Some(())
    }
}

impl TargetModel for Utf32 {
    const ROW: [usize; 4] = [1, 1, 1, 1];
    const LEFT: u32 = 0xE123;

    fn append(c: char, units: &mut Vec<u32>) -> Option<()> {
        units.push(c.into());
        Some(())
    }
}

impl TargetModel for char {
    const ROW: [usize; 4] = [1, 1, 1, 1];
    const LEFT: char = '\u{E123}';

    fn append(c: char, units: &mut Vec<char>) -> Option<()> {
        units.push(c);
        Some(())
    }
}

impl TargetModel for Latin1 {
    const ROW: [usize; 4] = [1, 1, 1, 1];
    const LEFT: u8 = 0xEE;

    fn append(c: char, units: &mut Vec<u8>) -> Option<()> {
        units.push(u8::try_from(c).ok()?);
        Some(())
    }
}

/// What a conversion returns and writes.
struct Expected<U> {
    units: Vec<U>,
    /// How much is read and written before each item and after the last.
    ends: Vec<(usize, usize)>,
    /// Why it ends with room for all.
    stop: Stop,
}

impl<U> Expected<U> {
    /// What a conversion into `room` units returns and writes.
    fn within(&self, room: usize) -> (Transcoded, &[U]) {
        let ends = self.ends.partition_point(|&(_, written)| written <= room);
        let (read, written) = self.ends[ends - 1];
        let stop = if ends == self.ends.len() { self.stop } else { Stop::Full };
        (Transcoded { read, written, stop }, &self.units[..written])
    }
}

fn expected<T: TargetModel>(items: &[Item], lossy: bool) -> Expected<T::Unit> {
    let (mut read, mut units, mut ends) = (0, Vec::new(), vec![(0, 0)]);
    let stop = 'stop: {
        for item in items {
            let (found, len, stop) = match *item {
                Item::Char(c, len) => (T::append(c, &mut units), len, Stop::Unmappable(len)),
                Item::IllFormed(len) => (None, len, Stop::IllFormed(len)),
                Item::Incomplete(len) => (None, len, Stop::Incomplete(len)),
            };
            if found.is_none() {
                if !lossy {
                    break 'stop stop;
                }
                T::append('\u{FFFD}', &mut units).or_else(|| T::append('?', &mut units)).unwrap();
            }
            read += len;
            ends.push((read, units.len()));
        }
        Stop::Done
    };
    Expected { units, ends, stop }
}

fn names<S: ?Sized, T>() -> String {
    format!("{} to {}", std::any::type_name::<S>(), std::any::type_name::<T>())
}

/// The units of a short input, the number of those of a long one.
fn shown<I: AsRef<[U]> + Debug + ?Sized, U>(input: &I) -> String {
    match input.as_ref().len() {
        ..100 => format!("{input:x?}"),
        len => format!("{len} units"),
    }
}

type Transcode<S, T> = fn(&<S as Source>::Input, &mut [<T as Target>::Unit]) -> Transcoded;

/// Compares one conversion with the model, into outputs of many sizes.
fn direction<S: SourceModel + ?Sized, T: TargetModel>(levels: &Levels, input: &S::Input)
where
    S::Input: Debug,
{
    let items = S::items(input);
    for lossy in [false, true] {
        let transcode: Transcode<S, T> =
            if lossy { transcode_lossy::<S, T> } else { transcode::<S, T> };
        let expected = expected::<T>(&items, lossy);
        let (whole, all) = expected.within(usize::MAX);
        let needed = all.len();
        let units: usize = match S::COLUMN {
            // Bytes of UTF-16 count half.
            2 => input.as_ref().len().div_ceil(3 - size_of::<S::InputUnit>().min(2)),
            _ => input.as_ref().len(),
        };
        let repaired = lossy && S::COLUMN == 0 && T::ROW == Utf8::ROW;
        let most = if repaired { 3 * units } else { T::ROW[S::COLUMN] * units };
        assert!(needed <= most, "{} {lossy}, {}", names::<S, T>(), shown(input));
        let sizes = if needed < 12 {
            (0..needed + 3).collect()
        } else {
            let less = [1, 2, 3, 4, 5, 16, 65].map(|less| needed.saturating_sub(less));
            [&[0, 1, 2, 3, 7, needed / 2, needed, needed + 1, needed + 2, needed + 100], &less[..]]
                .concat()
        };
        for room in sizes {
            let (done, units) = expected.within(room);
            levels.each(|level| {
                // Not aligned, and between units that stay.
                let start = 1 + room % 3;
                let mut out = vec![T::LEFT; start + room + 1];
                let found = transcode(input, &mut out[start..start + room]);
                let what =
                    || format!("{level}, {} {room} {lossy}, {}", names::<S, T>(), shown(input));
                assert_eq!(found, done, "{}", what());
                assert!(out[start..].starts_with(units), "{}", what());
                assert!(out[..start].iter().all(|&unit| unit == T::LEFT), "{}", what());
                assert_eq!(out[start + room], T::LEFT, "{}", what());
            });
        }
        levels.each(|level| {
            let (vec, error) = if lossy {
                (Some(transcode_to_vec_lossy::<S, T>(input)), None)
            } else {
                match transcode_to_vec::<S, T>(input) {
                    Ok(vec) => (Some(vec), None),
                    Err(error) => (None, Some((error.offset(), error.stop()))),
                }
            };
            let failed = (whole.stop != Stop::Done).then_some((whole.read, whole.stop));
            assert_eq!(error, failed, "{level}");
            assert!(
                vec.is_none_or(|vec| vec == all),
                "{level}, {} {}",
                names::<S, T>(),
                shown(input)
            );
        });
    }
}

/// Continues after each stop, with outputs of the given sizes in turn, and joins what was written.
fn resumed<S: SourceModel + ?Sized, T: TargetModel>(
    levels: &Levels,
    input: &S::Input,
    sizes: &[usize],
) {
    let items = S::items(input);
    for lossy in [false, true] {
        let transcode: Transcode<S, T> =
            if lossy { transcode_lossy::<S, T> } else { transcode::<S, T> };
        // A strict conversion continues after the error without a replacement.
        let good: Vec<Item> = items
            .iter()
            .copied()
            .filter(|item| {
                lossy
                    || matches!(item, Item::Char(c, _) if T::append(*c, &mut Vec::new()).is_some())
            })
            .collect();
        let all = expected::<T>(&good, lossy).units;
        levels.each(|level| {
            let (mut rest, mut joined) = (input, Vec::new());
            for size in sizes.iter().cycle() {
                let mut out = vec![T::LEFT; *size];
                let done = transcode(rest, &mut out);
                joined.extend_from_slice(&out[..done.written]);
                rest = &rest[done.read..];
                match done.stop {
                    Stop::Done => break,
                    Stop::Full => {}
                    Stop::IllFormed(len) | Stop::Incomplete(len) | Stop::Unmappable(len) => {
                        rest = &rest[len..];
                    }
                }
            }
            assert!(joined == all, "{level}, {} {lossy}", names::<S, T>());
        });
    }
}

/// The sizes of outputs that are filled one after another. Each holds any character.
const SIZES: [usize; 6] = [4, 7, 64, 300, 5, 33];

/// Converts `input` in every direction.
fn directions<S: SourceModel + ?Sized>(levels: &Levels, input: &S::Input)
where
    S::Input: Debug,
{
    direction::<S, Utf8>(levels, input);
    direction::<S, Utf16>(levels, input);
    direction::<S, Utf16Le>(levels, input);
    direction::<S, Utf16Be>(levels, input);
    direction::<S, Utf32>(levels, input);
    direction::<S, char>(levels, input);
    direction::<S, Latin1>(levels, input);

    let items = S::items(input);
    let text = expected::<Utf8>(&items, true).units;
    let strict = expected::<Utf8>(&items, false);
    let (whole, strict) = strict.within(usize::MAX);
    levels.each(|level| {
        assert_eq!(transcode_to_string_lossy::<S>(input).as_bytes(), text, "{level}");
        match transcode_to_string::<S>(input) {
            Ok(text) => assert_eq!((text.as_bytes(), whole.stop), (strict, Stop::Done)),
            Err(error) => assert_eq!((error.offset(), error.stop()), (whole.read, whole.stop)),
        }
    });
}

fn all_resumed<S: SourceModel + ?Sized>(levels: &Levels, input: &S::Input) {
    resumed::<S, Utf8>(levels, input, &SIZES);
    resumed::<S, Utf16>(levels, input, &SIZES);
    resumed::<S, Utf16Le>(levels, input, &SIZES);
    resumed::<S, Utf16Be>(levels, input, &SIZES);
    resumed::<S, Utf32>(levels, input, &SIZES);
    resumed::<S, char>(levels, input, &SIZES);
    resumed::<S, Latin1>(levels, input, &SIZES);
}

fn le_bytes(units: &[u16]) -> Vec<u8> {
    units.iter().flat_map(|unit| unit.to_le_bytes()).collect()
}

fn be_bytes(units: &[u16]) -> Vec<u8> {
    units.iter().flat_map(|unit| unit.to_be_bytes()).collect()
}

/// `bytes` in which about one in `one_in` is replaced by a random one, removed or repeated.
pub(crate) fn damaged(bytes: &[u8], one_in: usize, random: &mut Random) -> Vec<u8> {
    damaged_by(bytes, one_in, random, |random| {
        let edge = EDGES[random.below(EDGES.len())];
        if random.below(2) == 0 { edge } else { random.below(256) as u8 }
    })
}

fn damaged_by<U: Copy>(
    units: &[U],
    one_in: usize,
    random: &mut Random,
    unit: impl Fn(&mut Random) -> U,
) -> Vec<U> {
    let mut out = Vec::with_capacity(units.len());
    for &good in units {
        match random.below(4 * one_in) {
            0 => {}
            1 => out.extend([good, good]),
            2 => out.extend([unit(random), good]),
            3 => out.push(unit(random)),
            _ => out.push(good),
        }
    }
    out
}

fn surrogate(random: &mut Random) -> u16 {
    [0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xD83D, 0xDE00, 0xD7FF, 0xE000][random.below(8)]
}

/// Converts `text` from every encoding, whole and damaged.
fn all_directions(
    levels: &Levels,
    text: &str,
    one_in: usize,
    random: &mut Random,
    convert: &Converter,
) {
    let Converter { utf8, of_str, utf16, le, be, utf32, chars, latin1 } = convert;
    of_str(levels, text);
    utf8(levels, &damaged(text.as_bytes(), one_in, random));
    latin1(levels, text.as_bytes());
    let units: Vec<u16> = text.encode_utf16().collect();
    let units = damaged_by(&units, one_in, random, surrogate);
    utf16(levels, &units);
    le(levels, &le_bytes(&units));
    le(levels, &damaged(&le_bytes(&units), 10 * one_in, random));
    be(levels, &be_bytes(&units));
    be(levels, &damaged(&be_bytes(&units), 10 * one_in, random));
    let scalars: Vec<char> = text.chars().collect();
    chars(levels, &scalars);
    let numbers: Vec<u32> = scalars.iter().copied().map(u32::from).collect();
    utf32(
        levels,
        &damaged_by(&numbers, one_in, random, |random| {
            [0xD800, 0xDFFF, 0x11_0000, u32::MAX, 0xFF, 0x100, 0x1_0000][random.below(7)]
        }),
    );
}

/// A check of each source.
struct Converter {
    utf8: fn(&Levels, &[u8]),
    of_str: fn(&Levels, &str),
    utf16: fn(&Levels, &[u16]),
    le: fn(&Levels, &[u8]),
    be: fn(&Levels, &[u8]),
    utf32: fn(&Levels, &[u32]),
    chars: fn(&Levels, &[char]),
    latin1: fn(&Levels, &[u8]),
}

const WHOLE: Converter = Converter {
    utf8: directions::<Utf8>,
    of_str: directions::<str>,
    utf16: directions::<Utf16>,
    le: directions::<Utf16Le>,
    be: directions::<Utf16Be>,
    utf32: directions::<Utf32>,
    chars: directions::<char>,
    latin1: directions::<Latin1>,
};

const RESUMED: Converter = Converter {
    utf8: all_resumed::<Utf8>,
    of_str: all_resumed::<str>,
    utf16: all_resumed::<Utf16>,
    le: all_resumed::<Utf16Le>,
    be: all_resumed::<Utf16Be>,
    utf32: all_resumed::<Utf32>,
    chars: all_resumed::<char>,
    latin1: all_resumed::<Latin1>,
};

const DENSITIES: [usize; 5] = [2, 8, 16, 64, 1000];

#[test]
fn every_length_and_script_is_converted_as_by_the_model() {
    let levels = Levels::lock();
    let mut random = Random(31);
    for fill in FILLS {
        for len in [0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 100] {
            let one_in = DENSITIES[random.below(DENSITIES.len())];
            all_directions(&levels, &fill_to(fill, len), one_in, &mut random, &WHOLE);
        }
    }
}

/// The conversions between units that vectors do in steps.
fn in_steps(levels: &Levels, units: &[u16], numbers: &[u32]) {
    direction::<Utf16, Utf32>(levels, units);
    direction::<Utf16, char>(levels, units);
    direction::<Utf16, Latin1>(levels, units);
    direction::<Utf16Be, Utf8>(levels, &be_bytes(units));
    direction::<Utf16Le, Utf8>(levels, &le_bytes(units));
    direction::<Utf32, Utf8>(levels, numbers);
    direction::<Utf32, Utf16>(levels, numbers);
}

#[test]
fn units_of_every_length_and_script_are_converted_as_by_the_model() {
    let levels = Levels::lock();
    for fill in FILLS {
        let text = fill_to(fill, 800);
        let (units, chars): (Vec<u16>, Vec<char>) =
            (text.encode_utf16().collect(), text.chars().collect());
        for len in 0..=200 {
            let numbers: Vec<u32> = chars.iter().take(len).map(|&c| c.into()).collect();
            in_steps(&levels, &units[..len], &numbers);
            let text = String::from_iter(&chars[..len]);
            direction::<char, Utf16>(&levels, &chars[..len]);
            direction::<Utf8, Utf16Be>(&levels, text.as_bytes());
            direction::<str, Utf16Le>(&levels, &text);
            direction::<Latin1, Utf16Be>(&levels, &text.as_bytes()[..len]);
        }
    }
}

#[test]
fn units_damaged_at_every_position_are_converted_as_by_the_model() {
    const UNITS: [u16; 6] = [0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x100, 0xFFFF];
    const NUMBERS: [u32; 6] = [0xD800, 0xDFFF, 0x11_0000, 0x8000_0041, u32::MAX, 0x10_FFFF];
    let levels = Levels::lock();
    for fill in ["a", "é", "€", "😀", "aé€😀"] {
        for len in [3, 7, 15, 40, 70] {
            let text = fill.repeat(len);
            let units: Vec<u16> = text.encode_utf16().take(len).collect();
            let numbers: Vec<u32> = text.chars().take(len).map(u32::from).collect();
            for at in 0..len {
                for (unit, number) in UNITS.into_iter().zip(NUMBERS) {
                    let (mut units, mut numbers) = (units.clone(), numbers.clone());
                    (units[at], numbers[at]) = (unit, number);
                    in_steps(&levels, &units, &numbers);
                }
                let mut bytes = text.as_bytes()[..len].to_vec();
                bytes[at] = 0x80;
                direction::<Utf8, Utf16Be>(&levels, &bytes);
            }
        }
    }
}

#[test]
fn long_damaged_text_is_converted_as_by_the_model() {
    let levels = Levels::lock();
    let mut random = Random(32);
    for one_in in DENSITIES {
        for fill in FILLS {
            let len = 500 + random.below(1500);
            all_directions(&levels, &fill_to(fill, len), one_in, &mut random, &WHOLE);
        }
        let text: String = FILLS.iter().map(|fill| fill_to(fill, 400)).collect();
        all_directions(&levels, &text.repeat(4), one_in, &mut random, &WHOLE);
    }
}

/// Decodes the damaged prefix of `input` at every level. Returns whether every level has a method for it.
fn damaged_prefix<T: TargetModel>(levels: &Levels, input: &[u8], room: usize) -> bool {
    let items = Utf8::items(input);
    let everywhere = Cell::new(true);
    levels.each(|level| {
        let mut out = vec![T::LEFT; room];
        let RepairedPrefix { read, written, errors } = T::put_damaged(input, &mut out);
        let (mut end, mut prefix) = (0, Vec::new());
        for &item in &items {
            if end >= read {
                break;
            }
            let (Item::Char(_, len) | Item::IllFormed(len) | Item::Incomplete(len)) = item;
            end += len;
            prefix.push(item);
        }
        let what = || format!("{level}, {} {room}, {}", names::<Utf8, T>(), shown(input));
        assert_eq!(end, read, "{}", what());
        let count = prefix.iter().filter(|item| matches!(item, Item::IllFormed(_))).count();
        assert_eq!(errors, count, "{}", what());
        let expected = expected::<T>(&prefix, true);
        assert_eq!(&out[..written], expected.within(usize::MAX).1, "{}", what());
        everywhere.set(everywhere.get() && read > 0);
    });
    everywhere.get()
}

/// `utf8-codec` counts the errors of these prefixes.
#[test]
fn damaged_prefixes_are_decoded_and_counted_as_by_the_model() {
    let levels = Levels::lock();
    let mut random = Random(37);
    let mut prefix = |text: &[u8], one_in| {
        let input = [b"\xFF", &damaged(text, one_in, &mut random)[..]].concat();
        [0, 1, 40, input.len() / 2, input.len()].map(|room| {
            damaged_prefix::<Utf16>(&levels, &input, room)
                & damaged_prefix::<Utf32>(&levels, &input, room)
                & damaged_prefix::<char>(&levels, &input, room)
        })
    };
    for len in [5, 31, 32, 33, 64, 100, 300, 1000, 5000] {
        for one_in in DENSITIES {
            for fill in FILLS {
                prefix(fill_to(fill, len).as_bytes(), one_in);
            }
        }
        let latin_1: Vec<u8> =
            b"Fu\xDFg\xE4nger \xFCber ".iter().copied().cycle().take(len).collect();
        let [.., all] = prefix(&latin_1, 1000);
        assert!(all, "{len}");
    }
}

/// Conversions have a separate path for ASCII at the start, and therefore for the end of the text after it.
#[test]
fn text_after_ascii_is_converted_as_by_the_model() {
    let levels = Levels::lock();
    for fill in FILLS {
        for ascii in [1, 63, 64, 65, 130, 256] {
            for len in [1, 30, 64, 90, 130, 300, 700, 1200] {
                for end in [&b""[..], b"am", b"am\xF8\x88\xE2\x82"] {
                    let text = fill_to("plain ", ascii) + &fill_to(fill, len);
                    let input = [text.as_bytes(), end].concat();
                    direction::<Utf8, Utf8>(&levels, &input);
                    direction::<Utf8, Utf16>(&levels, &input);
                    direction::<Utf8, char>(&levels, &input);
                }
            }
        }
    }
}

/// From the first replacement on, text is converted to Latin-1 in windows of 512 bytes, which must not cut a character or an
/// ill-formed part.
#[test]
fn text_across_the_windows_of_latin_1_is_converted_as_by_the_model() {
    let levels = Levels::lock();
    const CROSSING: [&[u8]; 7] = [
        b"\xC3\xA9",
        b"\xE2\x82\xAC",
        b"\xF0\x9F\x98\x80",
        b"\xE2\x82",
        b"\xF0\x9F\x98",
        b"\x80\x80\x80\x80\x80\x80",
        b"\xF8\x88",
    ];
    for crossing in CROSSING {
        for before in 0..8 {
            for replaced in ["\u{20AC}", ""] {
                let text = replaced.to_owned() + &fill_to("\u{E9}", 512 - replaced.len() - before);
                let input = [text.as_bytes(), crossing, b"\xC3\xA9 plain"].concat();
                direction::<Utf8, Latin1>(&levels, &input);
                direction::<Utf8, Latin1>(&levels, &[b"plain ", &input[..]].concat());
                direction::<Latin1, Utf8>(&levels, &input);
            }
        }
    }
}

/// Without room, U+00FF is not unmappable, and U+0100 is, also as the first of several.
#[test]
fn characters_around_the_last_one_of_latin_1_are_converted_as_by_the_model() {
    let levels = Levels::lock();
    for text in ["\u{FE}", "\u{FF}", "\u{100}", "\u{101}", "\u{FF}\u{100}", "\u{100}\u{FF}"] {
        for before in [0, 5, 40] {
            let text = fill_to("a", before) + text;
            let units: Vec<u16> = text.encode_utf16().collect();
            let numbers: Vec<u32> = text.chars().map(u32::from).collect();
            direction::<Utf8, Latin1>(&levels, text.as_bytes());
            direction::<str, Latin1>(&levels, &text);
            direction::<Utf16, Latin1>(&levels, &units);
            direction::<Utf16Le, Latin1>(&levels, &le_bytes(&units));
            direction::<Utf32, Latin1>(&levels, &numbers);
        }
    }
}

/// Units are converted in blocks, which must not cut a pair of surrogates, and to which the end need not be aligned.
#[test]
fn text_across_blocks_of_units_is_converted_as_by_the_model() {
    let levels = Levels::lock();
    const CROSSING: [&[u16]; 4] = [&[0xDBFF, 0xDFFF], &[0xD800], &[0xDC00], &[0xFFFF]];
    const NUMBERS: [u32; 5] = [0x10_FFFF, 0x11_0000, 0xD800, 0xDFFF, 0xE000];
    for block in [32, 128, 256, 1024, 4096] {
        for before in 0..4 {
            for after in [0, 1, 31, 32, 40] {
                let fill = |crossing: &[u16]| {
                    [&vec![0xE9; block - before], crossing, &vec![0x41; after]].concat()
                };
                for crossing in CROSSING {
                    let units = fill(crossing);
                    let bytes = be_bytes(&units);
                    direction::<Utf16, Utf8>(&levels, &units);
                    direction::<Utf16, Utf32>(&levels, &units);
                    direction::<Utf16, Latin1>(&levels, &units);
                    direction::<Utf16, Utf16Be>(&levels, &units);
                    direction::<Utf16Be, Utf8>(&levels, &bytes);
                    direction::<Utf16Be, Utf16>(&levels, &bytes);
                    direction::<Utf16Be, Utf32>(&levels, &bytes);
                }
                for number in NUMBERS {
                    let mut numbers: Vec<_> = fill(&[]).into_iter().map(u32::from).collect();
                    numbers.insert(block - before, number);
                    direction::<Utf32, Utf8>(&levels, &numbers);
                    direction::<Utf32, Utf16>(&levels, &numbers);
                    direction::<Utf32, char>(&levels, &numbers);
                }
            }
        }
    }
}

/// Long conversions store at multiples of a cache line; the first step overlaps the one after it.
#[test]
fn long_text_is_converted_as_by_the_model_at_every_offset_in_a_cache_line() {
    let levels = Levels::lock();
    const LEN: usize = 4096;
    for fill in ["plain ", "na\u{EF}ve ", "\u{416}\u{E9} ", "\u{4E2D}\u{20AC}"] {
        for (pair, at) in [("", 0), ("\u{1F600}", 20), ("\u{1F600}", LEN)] {
            let mut chars: Vec<char> = fill.chars().cycle().take(LEN + 70).collect();
            chars.splice(at..at, pair.chars());
            let text: String = chars.iter().collect();
            let units: Vec<u16> = text.encode_utf16().collect();
            let bytes = be_bytes(&units);
            let numbers: Vec<u32> = chars.iter().map(|&c| c.into()).collect();
            let latin1: Vec<u8> = units.iter().map(|&unit| unit as u8).collect();
            for offset in 0..64 {
                placed::<Latin1, Utf8>(&levels, &latin1, offset);
                placed::<Latin1, Utf16>(&levels, &latin1, offset);
                placed::<Latin1, Utf16Be>(&levels, &latin1, offset);
                placed::<Utf8, Latin1>(&levels, text.as_bytes(), offset);
                placed::<Utf8, Utf16>(&levels, text.as_bytes(), offset);
                placed::<Utf8, Utf16Le>(&levels, text.as_bytes(), offset);
                placed::<Utf8, Utf16Be>(&levels, text.as_bytes(), offset);
                placed::<Utf8, char>(&levels, text.as_bytes(), offset);
                placed::<Utf16, Utf32>(&levels, &units, offset);
                placed::<Utf16, Latin1>(&levels, &units, offset);
                placed::<Utf16, Utf8>(&levels, &units, offset);
                placed::<Utf16Be, Utf8>(&levels, &bytes, offset);
                placed::<char, Utf8>(&levels, &chars, offset);
                placed::<char, Utf16>(&levels, &chars, offset);
                placed::<Utf32, Utf8>(&levels, &numbers, offset);
                placed::<Utf32, Utf16>(&levels, &numbers, offset);
                levels.each(|level| {
                    let start = text.char_indices().nth(offset).unwrap().0;
                    let counted = Level::detect().count_chars(&text[start..]);
                    assert_eq!(counted, chars.len() - offset, "{level}");
                });
            }
        }
    }
}

/// Converts into an output that begins `offset` units after a multiple of a cache line.
#[track_caller]
fn placed<S: SourceModel + ?Sized, T: TargetModel>(
    levels: &Levels,
    input: &S::Input,
    offset: usize,
) {
    let expected = expected::<T>(&S::items(input), false);
    let (done, units) = expected.within(usize::MAX);
    levels.each(|level| {
        let mut out = vec![T::LEFT; 64 + offset + units.len() + 1];
        let start = offset + out.as_ptr().align_offset(64) % 64;
        let end = start + units.len();
        let found = transcode::<S, T>(input, &mut out[start..end]);
        assert_eq!(found, done, "{level}, {} {offset}", names::<S, T>());
        assert!(out[start..end] == *units, "{level}, {} {offset}", names::<S, T>());
        assert_eq!(out[end], T::LEFT, "{level}, {} {offset}", names::<S, T>());
    });
}

#[test]
fn resumed_conversions_join_to_the_whole() {
    let levels = Levels::lock();
    let mut random = Random(33);
    for one_in in DENSITIES {
        for fill in FILLS {
            let len = random.below(1500);
            all_directions(&levels, &fill_to(fill, len), one_in, &mut random, &RESUMED);
        }
        let text: String = FILLS.iter().map(|fill| fill_to(fill, 200)).collect();
        all_directions(&levels, &text, one_in, &mut random, &RESUMED);
    }
}

#[cfg_attr(miri, ignore)]
#[test]
fn all_scalar_values_are_converted_in_every_direction() {
    fn all<S: SourceModel + ?Sized>(levels: &Levels, input: &S::Input) {
        fn to<S: SourceModel + ?Sized, T: TargetModel>(
            levels: &Levels,
            input: &S::Input,
            all: &[Item],
        ) {
            let expected = expected::<T>(all, true).units;
            levels.each(|level| {
                assert!(
                    transcode_to_vec_lossy::<S, T>(input) == expected,
                    "{level}, {}",
                    input.as_ref().len()
                );
            });
        }
        let items = S::items(input);
        to::<S, Utf8>(levels, input, &items);
        to::<S, Utf16>(levels, input, &items);
        to::<S, Utf16Le>(levels, input, &items);
        to::<S, Utf16Be>(levels, input, &items);
        to::<S, Utf32>(levels, input, &items);
        to::<S, char>(levels, input, &items);
        to::<S, Latin1>(levels, input, &items);
    }
    let levels = Levels::lock();
    let text: String = ('\0'..=char::MAX).collect();
    all::<str>(&levels, &text);
    all::<Utf8>(&levels, text.as_bytes());
    let units: Vec<u16> = text.encode_utf16().collect();
    all::<Utf16>(&levels, &units);
    all::<Utf16Le>(&levels, &le_bytes(&units));
    all::<Utf16Be>(&levels, &be_bytes(&units));
    all::<char>(&levels, &text.chars().collect::<Vec<_>>());
    all::<Utf32>(&levels, &(0..0x11_0000).collect::<Vec<_>>());
    all::<Latin1>(&levels, &(0..=u8::MAX).collect::<Vec<_>>());
}

#[test]
fn all_short_strings_are_decoded_as_by_the_model() {
    let levels = Levels::lock();
    for a in EDGES {
        direction::<Utf8, Utf16>(&levels, &[a]);
        direction::<Utf16Be, Utf8>(&levels, &[a]);
        for b in 0..=u8::MAX {
            direction::<Utf8, Utf16>(&levels, &[a, b]);
            direction::<Utf8, Latin1>(&levels, &[a, b]);
            direction::<Utf16Be, Utf8>(&levels, &[b, a]);
            for c in EDGES {
                direction::<Utf8, Utf16>(&levels, &[a, b, c]);
            }
        }
    }
}

#[test]
fn all_short_strings_of_surrogates_are_converted_as_by_the_model() {
    const UNITS: [u16; 6] = [0x61, 0xE9, 0x20AC, 0xD83D, 0xDE00, 0xDBFF];
    let levels = Levels::lock();
    for kinds in 0..UNITS.len().pow(4) {
        let units: [u16; 4] = std::array::from_fn(|i| UNITS[kinds / UNITS.len().pow(i as u32) % 6]);
        for len in 0..=4 {
            direction::<Utf16, Utf8>(&levels, &units[..len]);
            direction::<Utf16, Utf16>(&levels, &units[..len]);
            direction::<Utf16, char>(&levels, &units[..len]);
        }
        let bytes = be_bytes(&units);
        direction::<Utf16Be, Utf16Le>(&levels, &bytes[..7]);
    }
}

#[test]
fn surrogates_at_the_edges_of_blocks_are_converted_as_by_the_model() {
    let levels = Levels::lock();
    for at in (60..70).chain(252..262) {
        for pair in [[0xD83D, 0xDE00], [0xD83D, 0x61], [0x61, 0xDE00], [0xDE00, 0xD83D]] {
            let mut units = vec![0x61; 300];
            units[0] = 0xDC00;
            units[at..at + 2].copy_from_slice(&pair);
            for end in [at + 1, at + 2, units.len()] {
                direction::<Utf16, Utf8>(&levels, &units[..end]);
                direction::<Utf16, Utf16>(&levels, &units[..end]);
                direction::<Utf16, Utf32>(&levels, &units[..end]);
                direction::<Utf16Le, Latin1>(&levels, &le_bytes(&units[..end]));
            }
        }
    }
}

#[test]
fn errors_name_the_encoding_the_offset_and_the_reason() {
    let message = |error: utf8_simd::TranscodeError| error.to_string();
    assert_eq!(
        transcode_to_vec::<Utf8, Utf16>(b"a\xE2\x82!").map_err(message),
        Err("invalid UTF-8 at byte 1: ill-formed sequence of 2 bytes".into())
    );
    assert_eq!(
        transcode_to_string::<Utf16Le>(b"a\0b").map_err(message),
        Err("invalid UTF-16LE at byte 2: unexpected end inside a character".into())
    );
    assert_eq!(
        transcode_to_string::<Utf32>(&[0x61, 0xD800]).map_err(message),
        Err("invalid UTF-32 at unit 1: ill-formed sequence of 1 unit".into())
    );
}
