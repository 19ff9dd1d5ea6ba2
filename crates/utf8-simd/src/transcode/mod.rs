//! Conversion between encodings.
//!
//! ```text
//! Utf8, str ────────────────────► every encoding but UTF-16 in bytes   with the operations of a level
//! char, Latin1, Utf16 ──────────► Utf8                                 with the operations of a level
//! Utf16Le, Utf16Be ─────────────► Utf8                                 likewise; what a level leaves, a block at a time
//! Utf32 ────────────────────────► Utf8, Utf16                          likewise; what a level leaves, one by one
//! Utf16 ────────────────────────► Utf32, char, Latin1                  the same
//! char ─────────────────────────► Utf16                                the same
//! Latin1 ───────────────────────► Utf16                                the same
//! Utf16, Utf16Le, Utf16Be ──────► Utf16                                in loops that compilers vectorise
//! Utf32, char ──────────────────► Utf32, char                          the same
//! ```
//!
//! Other directions go through a block of well-formed UTF-16 on the stack. So do UTF-8 to Latin-1 after a character that is
//! replaced, and conversions to UTF-16 in bytes after the ASCII at the start, except short UTF-8 with AVX-512. If the end of a block
//! does not fit into the output, the source is decoded once more, up to the last unit that fits, to find how much of it has been
//! read.

mod latin1;
#[cfg(feature = "alloc")]
mod owned;
mod utf16;
mod utf32;
mod utf8;

#[cfg(feature = "alloc")]
pub use owned::{
    TranscodeError, from_utf8_lossy, transcode_to_string, transcode_to_string_lossy,
    transcode_to_vec, transcode_to_vec_lossy,
};

#[cfg(feature = "alloc")]
use alloc::string::String;
use core::ops::{Index, RangeFrom};

use crate::simd::{RepairedPrefix, ScalarUnit};
#[cfg(feature = "alloc")]
use crate::validate::valid_prefix;
use utf16::is_high;

/// Converts `input` from the encoding `S` to the encoding `T`, as much as fits into `output`. Stops at the first
/// ill-formed sequence.
///
/// A character is written whole or not at all. To continue, call it again with the input from
/// [`read`](Transcoded::read) on: after [`Stop::Full`] with a new output, after [`Stop::IllFormed`] and
/// [`Stop::Unmappable`] after as many units as these say, after [`Stop::Incomplete`] with more input.
///
/// Units of `output` after [`written`](Transcoded::written) may be overwritten. An output is never full if it has
/// at least this many units for each unit of the input. Two bytes of [`Utf16Le`] or [`Utf16Be`] are a unit here, and
/// so is a single one at the end:
///
/// | to | from UTF-8 | Latin-1 | UTF-16 | UTF-32, `char` |
/// | --- | --- | --- | --- | --- |
/// | `Utf8` | 1 | 2 | 3 | 4 |
/// | `Utf16` | 1 | 1 | 1 | 2 |
/// | `Utf16Le`, `Utf16Be` | 2 | 2 | 2 | 4 |
/// | `Utf32`, `char`, `Latin1` | 1 | 1 | 1 | 1 |
///
/// With room for one character, each call makes progress: four units of `Utf8`, `Utf16Le` or `Utf16Be`, two of `Utf16`,
/// one of the others. With less, [`Stop::Full`] can come again and again.
///
/// # Examples
///
/// ```
/// use utf8_simd::{Stop, Transcoded, Utf8, Utf16, transcode};
///
/// let mut units = [0; 8];
/// let input = b"5 \xE2\x82\xAC, \xFF";
/// let Transcoded { read, written, stop } = transcode::<Utf8, Utf16>(input, &mut units);
/// assert_eq!(String::from_utf16(&units[..written]).unwrap(), "5 €, ");
/// assert_eq!((read, stop), (7, Stop::IllFormed(1)));
/// ```
#[doc(alias("utf8_to_utf16", "utf8_to_utf32", "utf8_to_latin1", "utf16_to_utf8", "utf32_to_utf8"))]
#[doc(alias("latin1_to_utf8", "latin1_to_utf16", "utf16_to_latin1", "utf16_to_utf32", "convert"))]
#[inline]
pub fn transcode<S, T>(input: &S::Input, output: &mut [T::Unit]) -> Transcoded
where
    S: Source + ?Sized,
    T: Target,
{
    T::from_source::<S>(input, output, Errors::Stop)
}

/// Converts like [`transcode`], but replaces what is ill-formed and continues: it stops only at the end or when
/// `output` is full.
///
/// U+FFFD replaces each maximal subpart of UTF-8 (Unicode 3.9, WHATWG), each unpaired surrogate of UTF-16, each unit of
/// UTF-32 that is no scalar value, and an incomplete end. If `input` is a chunk of a stream, cut an incomplete end
/// off before, or use [`transcode`].
///
/// In Latin-1 `?` replaces each character that Latin-1 lacks, U+FFFD included.
///
/// An output of the size for [`transcode`] is never full, except for UTF-8 from UTF-8, which needs 3 bytes
/// for each.
///
/// # Examples
///
/// ```
/// use utf8_simd::{Latin1, Stop, Utf8, Utf16, Utf16Be, transcode_lossy};
///
/// let units = [0x48, 0xD83D, 0x69, 0xD83D, 0xDE00]; // an unpaired surrogate, a pair
/// let mut bytes = [0; 16];
/// let done = transcode_lossy::<Utf16, Utf8>(&units, &mut bytes);
/// assert_eq!((&bytes[..done.written], done.stop), ("H\u{FFFD}i😀".as_bytes(), Stop::Done));
///
/// let done = transcode_lossy::<Utf16Be, Latin1>(b"\0\xE9\x20\xAC\0!", &mut bytes);
/// assert_eq!(&bytes[..done.written], b"\xE9?!");
/// ```
#[doc(alias("with_replacement", "to_well_formed"))]
#[inline]
pub fn transcode_lossy<S, T>(input: &S::Input, output: &mut [T::Unit]) -> Transcoded
where
    S: Source + ?Sized,
    T: Target,
{
    T::from_source::<S>(input, output, Errors::Replace)
}

/// What a conversion has read and written, and why it stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transcoded {
    /// The length of the input that has been read: an index at which a character begins. Of [`Utf16Le`] and [`Utf16Be`], these
    /// are bytes, as in [`written`](Self::written) and [`Stop`].
    pub read: usize,
    /// The length of the output that has been written.
    pub written: usize,
    /// Why it stopped.
    pub stop: Stop,
}

/// Why a conversion stopped. Units of [`Utf16Le`] and [`Utf16Be`] are bytes here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All of the input has been read.
    Done,
    /// The next character or replacement does not fit into the output.
    Full,
    /// The next units, as many as this, are ill-formed: a maximal subpart of UTF-8, an unpaired surrogate of UTF-16,
    /// or no scalar value.
    IllFormed(usize),
    /// The next units, as many as this, are the start of a character, and all of the input that is left.
    Incomplete(usize),
    /// The next units, as many as this, are a character that the target encoding lacks. Only Latin-1 lacks any.
    Unmappable(usize),
}

/// An encoding to convert from.
///
/// The encodings of this crate implement it, and [`str`]: UTF-8 that needs no validation.
pub trait Source {
    /// The input: a slice of units.
    type Input: ?Sized + AsRef<[Self::InputUnit]> + Index<RangeFrom<usize>, Output = Self::Input>;

    #[doc(hidden)]
    type InputUnit;

    #[doc(hidden)]
    const NAME: &str;

    /// Converts to UTF-16, without an unpaired surrogate.
    #[doc(hidden)]
    fn to_utf16(input: &Self::Input, output: &mut [u16], errors: Errors) -> Transcoded;

    #[doc(hidden)]
    fn to_utf8(input: &Self::Input, output: &mut [u8], errors: Errors) -> Transcoded;

    /// Appends to `text`. Returns the units read, and why it stopped, which is not `Full`.
    #[cfg(feature = "alloc")]
    #[doc(hidden)]
    fn push_to_string(input: &Self::Input, errors: Errors, text: &mut String) -> (usize, Stop) {
        text.reserve(input.as_ref().len());
        // To initialise a large block would take longer than to convert a short text.
        if input.as_ref().len() <= 128 {
            push_by_blocks::<Self, 256>(input, errors, text)
        } else {
            push_by_blocks::<Self, 4096>(input, errors, text)
        }
    }

    #[doc(hidden)]
    fn to_utf32<C: ScalarUnit>(
        input: &Self::Input,
        output: &mut [C],
        errors: Errors,
    ) -> Transcoded {
        through_utf16::<Self, C>(input, output, errors, u16::MAX, utf32::put)
    }

    /// Converts an input to UTF-16 in bytes if it is short and well-formed, fits, and the level has a method for it. Returns the
    /// number of units; if `None`, `output` may be overwritten.
    #[doc(hidden)]
    #[inline]
    fn to_few_bytes<const SWAPPED: bool>(
        _input: &Self::Input,
        _output: &mut [[u8; 2]],
    ) -> Option<usize> {
        None
    }

    /// Returns the bytes of an input that extends ASCII.
    #[doc(hidden)]
    fn bytes(_input: &Self::Input) -> &[u8] {
        &[]
    }

    #[doc(hidden)]
    fn to_latin1(input: &Self::Input, output: &mut [u8], errors: Errors) -> Transcoded {
        let put = |units: &[u16], room: &mut [u8]| latin1::put(units, room, errors);
        through_utf16::<Self, _>(input, output, errors, latin1::GREATEST, put)
    }
}

/// An encoding to convert to: each of this crate.
pub trait Target: Sized {
    /// The unit of the output.
    type Unit: Copy + Default;

    /// Converts damaged UTF-8 at the start of `input`, with U+FFFD for each ill-formed part, if there is a fast method for it.
    #[doc(hidden)]
    fn put_damaged(_input: &[u8], _output: &mut [Self::Unit]) -> RepairedPrefix {
        RepairedPrefix::default()
    }

    #[doc(hidden)]
    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [Self::Unit],
        errors: Errors,
    ) -> Transcoded;
}

/// What happens to an error. Nobody can name it, so nobody else can implement [`Source`] or [`Target`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// The conversion stops.
    Stop,
    /// U+FFFD replaces it, in Latin-1 `?`.
    Replace,
}

/// UTF-8, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Utf8;

/// UTF-16, in units of the machine's byte order.
#[derive(Clone, Copy, Debug)]
pub struct Utf16;

/// UTF-16LE: UTF-16 in bytes, the lower byte of a unit first. U+FEFF at the start is a character as any other.
#[derive(Clone, Copy, Debug)]
pub struct Utf16Le;

/// UTF-16BE: UTF-16 in bytes, the higher byte of a unit first. U+FEFF at the start is a character as any other.
#[derive(Clone, Copy, Debug)]
pub struct Utf16Be;

/// UTF-32, in numbers of the machine's byte order. [`prim@char`] is an encoding too: UTF-32 whose units are known
/// to be scalar values.
#[derive(Clone, Copy, Debug)]
pub struct Utf32;

/// Latin-1 (ISO 8859-1), in bytes: the characters up to U+00FF, each as its number.
///
/// What the Web calls Latin-1 is Windows-1252, which differs in 80 to 9F.
#[derive(Clone, Copy, Debug)]
pub struct Latin1;

impl Transcoded {
    /// Replaces an incomplete end, unless it is to be reported.
    #[inline]
    fn replace_end<U: Copy>(self, output: &mut [U], errors: Errors, replacement: &[U]) -> Self {
        let Self { read, written, stop: Stop::Incomplete(len) } = self else { return self };
        if errors == Errors::Stop {
            return self;
        }
        let end = written + replacement.len();
        match output.get_mut(written..end) {
            Some(room) => {
                room.copy_from_slice(replacement);
                Self { read: read + len, written: end, stop: Stop::Done }
            }
            None => Self { stop: Stop::Full, ..self },
        }
    }

    /// The progress of this conversion of a rest, `read` and `written` before it included.
    #[inline]
    fn after(self, read: usize, written: usize) -> Self {
        Self { read: read + self.read, written: written + self.written, stop: self.stop }
    }

    /// The progress of a conversion to which only the end of an output of the right size is an obstacle.
    #[inline]
    fn until_full((read, written): (usize, usize), len: usize) -> Self {
        Self { read, written, stop: if read == len { Stop::Done } else { Stop::Full } }
    }
}

/// Converts with a block of UTF-16 in between.
///
/// `put` converts whole characters, as many as fit, up to one that the encoding lacks, and returns the units read and written.
/// `greatest` is the greatest unit whose character the encoding has.
fn through_utf16<S: Source + ?Sized, U>(
    input: &S::Input,
    output: &mut [U],
    errors: Errors,
    greatest: u16,
    put: impl Fn(&[u16], &mut [U]) -> (usize, usize),
) -> Transcoded {
    // To initialise a large block would take longer than to convert a short text.
    match input.as_ref().len() {
        ..=64 => through_block::<S, U, 64>(input, output, errors, greatest, put),
        65..=4096 => through_block::<S, U, 1024>(input, output, errors, greatest, put),
        _ => through_block::<S, U, 4096>(input, output, errors, greatest, put),
    }
}

// Not inlined, so that a short text does not reserve the stack of the largest block.
#[inline(never)]
fn through_block<S: Source + ?Sized, U, const LEN: usize>(
    input: &S::Input,
    output: &mut [U],
    errors: Errors,
    greatest: u16,
    put: impl Fn(&[u16], &mut [U]) -> (usize, usize),
) -> Transcoded {
    let mut block = [0; LEN];
    let (mut read, mut written) = (0, 0);
    loop {
        let (rest, room) = (&input[read..], &mut output[written..]);
        // A unit of output takes two units of UTF-16 at most; one pair is needed to see what is next.
        let most = room.len().saturating_mul(2).clamp(2, LEN);
        let decoded = S::to_utf16(rest, &mut block[..most], errors);
        let (used, len) = put(&block[..decoded.written], room);
        written += len;
        if used == decoded.written {
            read += decoded.read;
            if decoded.stop != Stop::Full {
                return Transcoded { read, written, stop: decoded.stop };
            }
        } else {
            let (fits, after) = block.split_at_mut(used);
            read += S::to_utf16(rest, fits, errors).read;
            let next_len = if is_high(after[0]) { 2 } else { 1 };
            let stop = if after[0] > greatest && errors == Errors::Stop {
                Stop::Unmappable(S::to_utf16(&input[read..], &mut after[..next_len], errors).read)
            } else {
                Stop::Full
            };
            return Transcoded { read, written, stop };
        }
    }
}

/// Converts units by `recode`, and where that stops, up to 16 characters by `one`, then by `recode` again. `one` converts the first
/// character and returns the units read and written. `None` ends the conversion: the character does not fit or cannot be
/// converted, or the input is empty. Returns the totals.
#[inline(always)]
fn convert_units<T, U>(
    input: &[T],
    output: &mut [U],
    recode: impl Fn(&[T], &mut [U]) -> (usize, usize),
    one: impl Fn(&[T], &mut [U]) -> Option<(usize, usize)>,
) -> (usize, usize) {
    const FEW: usize = 16;
    let (mut read, mut written) = (0, 0);
    loop {
        let (used, len) = recode(&input[read..], &mut output[written..]);
        read += used;
        written += len;
        if read == input.len() {
            return (read, written);
        }
        for _ in 0..FEW {
            let Some((used, len)) = one(&input[read..], &mut output[written..]) else {
                return (read, written);
            };
            read += used;
            written += len;
        }
    }
}

/// Converts by `recode`, and what that leaves by `rest`.
///
/// Inlined: returning a result through memory takes a third of the time of a short input (rows `utf-16-to-latin-1/*/16` of
/// `benches/heads`).
#[inline(always)]
fn recode_first<T, U>(
    input: &[T],
    output: &mut [U],
    recode: impl Fn(&[T], &mut [U]) -> (usize, usize),
    rest: impl FnOnce(&[T], &mut [U]) -> Transcoded,
) -> Transcoded {
    let (read, written) = recode(input, output);
    if read == input.len() {
        return Transcoded { read, written, stop: Stop::Done };
    }
    rest(&input[read..], &mut output[written..]).after(read, written)
}

/// Converts units by `put`, which converts as many as fit and returns the units read and written. `stop` returns why it
/// stops before a rest; what is ill-formed is replaced, or stops the conversion.
fn replacing<T, U: Copy>(
    input: &[T],
    output: &mut [U],
    errors: Errors,
    replacement: &[U],
    put: impl Fn(&[T], &mut [U]) -> (usize, usize),
    stop: impl Fn(&[T]) -> Stop,
) -> Transcoded {
    let (mut read, mut written) = (0, 0);
    loop {
        let (used, len) = put(&input[read..], &mut output[written..]);
        read += used;
        written += len;
        let stop = match stop(&input[read..]) {
            Stop::IllFormed(len) if errors == Errors::Replace => {
                let end = written + replacement.len();
                if let Some(room) = output.get_mut(written..end) {
                    room.copy_from_slice(replacement);
                    read += len;
                    written = end;
                    continue;
                }
                Stop::Full
            }
            stop => stop,
        };
        return Transcoded { read, written, stop }.replace_end(output, errors, replacement);
    }
}

/// Converts a block on the stack at a time, which is validated once more: that costs about as much as to initialise
/// the memory of the `String`, and needs no unsafe code.
#[cfg(feature = "alloc")]
fn push_by_blocks<S: Source + ?Sized, const LEN: usize>(
    input: &S::Input,
    errors: Errors,
    text: &mut String,
) -> (usize, Stop) {
    let mut block = [0; LEN];
    let mut read = 0;
    loop {
        let done = S::to_utf8(&input[read..], &mut block, errors);
        read += done.read;
        text.push_str(valid_prefix(&block[..done.written]).0);
        if done.stop != Stop::Full {
            return (read, done.stop);
        }
    }
}
