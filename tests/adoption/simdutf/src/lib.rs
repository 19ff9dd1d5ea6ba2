//! The safe functions of simdutf 0.7, in Rust, on top of `utf8-simd`.
//!
//! Of the conversions, which are unsafe functions over pointers, there are none: a program that calls one does not build with
//! this crate. `utf8_simd::transcode` is the safe counterpart.
#![no_std]
#![forbid(unsafe_code)]

use utf8_simd::{Stop, Utf16, is_utf8, transcode};

/// Why and where validation stopped.
#[derive(Clone, Copy, Debug)]
pub struct Result {
    pub error: ErrorCode,
    /// The length of a valid input, or the index of the error, both in units.
    pub count: usize,
}

/// The numbers are those of simdutf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum ErrorCode {
    Success = 0,
    /// No sequence has this byte.
    HeaderBits = 1,
    /// A continuation byte is missing.
    TooShort = 2,
    /// A continuation byte without a sequence.
    TooLong = 3,
    OverLong = 4,
    /// Above U+10FFFF, or above U+007F in ASCII.
    TooLarge = 5,
    Surrogate = 6,
    InvalidBase64Character = 7,
    Base64InputRemainder = 8,
    Base64ExtraBits = 9,
    OutputBufferTooSmall = 10,
    Other = 11,
}

bitflags::bitflags! {
    /// A set of encodings.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct Encoding: u32 {
        const UNSPECIFIED = 0;
        const UTF8 = 1;
        const UTF16_LE = 2;
        const UTF16_BE = 4;
        const UTF32_LE = 8;
        const UTF32_BE = 16;
    }
}

/// The numbers are those of simdutf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Base64Options {
    Default = 0,
    Url = 1,
    DefaultNoPadding = 2,
    UrlWithPadding = 3,
    DefaultAcceptGarbage = 4,
    UrlAcceptGarbage = 5,
    DefaultOrUrl = 8,
    DefaultOrUrlAcceptGarbage = 12,
}

/// `Ok`, or the index of the first error and its code.
type Checked = core::result::Result<(), (usize, ErrorCode)>;

fn result(checked: Checked, len: usize) -> Result {
    match checked {
        Ok(()) => Result { error: ErrorCode::Success, count: len },
        Err((count, error)) => Result { error, count },
    }
}

// ---- Validation ----

fn check_ascii(src: &[u8]) -> Checked {
    if src.is_ascii() {
        return Ok(());
    }
    let index = src.iter().position(|byte| !byte.is_ascii());
    Err((index.unwrap_or(src.len()), ErrorCode::TooLarge))
}

fn check_utf8(src: &[u8]) -> Checked {
    utf8_simd::from_utf8(src).map(drop).map_err(|error| {
        let index = error.valid_up_to();
        (index, utf8_error(&src[index..]))
    })
}

/// The error of the first sequence: it lacks a byte, or else its value is not a scalar value.
fn utf8_error(sequence: &[u8]) -> ErrorCode {
    let (len, least) = match sequence[0] {
        0xC0..=0xDF => (2, 0x80),
        0xE0..=0xEF => (3, 0x800),
        0xF0..=0xF7 => (4, 0x1_0000),
        0xF8.. => return ErrorCode::HeaderBits,
        _ => return ErrorCode::TooLong,
    };
    let is_continued = |byte: &u8| byte & 0xC0 == 0x80;
    let Some(bytes) = sequence.get(1..len).filter(|bytes| bytes.iter().all(is_continued)) else {
        return ErrorCode::TooShort;
    };
    let first = u32::from(sequence[0]) & (0x7F >> len);
    let number = bytes.iter().fold(first, |number, &byte| number << 6 | u32::from(byte & 0x3F));
    if number < least {
        ErrorCode::OverLong
    } else if number > 0x10_FFFF {
        ErrorCode::TooLarge
    } else {
        ErrorCode::Surrogate
    }
}

/// Validates the units after `of` has changed their byte order, a block at a time.
fn check_utf16(src: &[u16], of: impl Fn(u16) -> u16) -> Checked {
    let (mut block, mut copy) = ([0; 512], [0; 512]);
    let mut read = 0;
    while read < src.len() {
        let rest = &src[read..];
        let len = rest.len().min(block.len());
        for (to, &from) in block.iter_mut().zip(rest) {
            *to = of(from);
        }
        let done = transcode::<Utf16, Utf16>(&block[..len], &mut copy);
        read += done.read;
        match done.stop {
            Stop::Done => {}
            // The next block begins with it.
            Stop::Incomplete(_) if len < rest.len() => {}
            _ => return Err((read, ErrorCode::Surrogate)),
        }
    }
    Ok(())
}

fn check_utf32(src: &[u32]) -> Checked {
    let index = src.iter().position(|&unit| char::from_u32(unit).is_none());
    index.map_or(Ok(()), |index| {
        let is_large = src[index] > 0x10_FFFF;
        Err((index, if is_large { ErrorCode::TooLarge } else { ErrorCode::Surrogate }))
    })
}

#[must_use]
pub fn validate_ascii(src: &[u8]) -> bool {
    src.is_ascii()
}

#[must_use]
pub fn validate_utf8(src: &[u8]) -> bool {
    is_utf8(src)
}

#[must_use]
pub fn validate_utf16(src: &[u16]) -> bool {
    check_utf16(src, |unit| unit).is_ok()
}

#[must_use]
pub fn validate_utf16be(src: &[u16]) -> bool {
    check_utf16(src, u16::from_be).is_ok()
}

#[must_use]
pub fn validate_utf16le(src: &[u16]) -> bool {
    check_utf16(src, u16::from_le).is_ok()
}

#[must_use]
pub fn validate_utf32(src: &[u32]) -> bool {
    check_utf32(src).is_ok()
}

#[must_use]
pub fn validate_ascii_with_errors(src: &[u8]) -> Result {
    result(check_ascii(src), src.len())
}

#[must_use]
pub fn validate_utf8_with_errors(src: &[u8]) -> Result {
    result(check_utf8(src), src.len())
}

#[must_use]
pub fn validate_utf16_with_errors(src: &[u16]) -> Result {
    result(check_utf16(src, |unit| unit), src.len())
}

#[must_use]
pub fn validate_utf16be_with_errors(src: &[u16]) -> Result {
    result(check_utf16(src, u16::from_be), src.len())
}

#[must_use]
pub fn validate_utf16le_with_errors(src: &[u16]) -> Result {
    result(check_utf16(src, u16::from_le), src.len())
}

#[must_use]
pub fn validate_utf32_with_errors(src: &[u32]) -> Result {
    result(check_utf32(src), src.len())
}

// ---- Lengths ----

/// The sum of the lengths of the units, each 4 at most.
fn sum<U: Copy>(src: &[U], length: impl Fn(U) -> u16) -> usize {
    let block = |units: &[U]| units.iter().map(|&unit| length(unit)).sum::<u16>();
    src.chunks(usize::from(u16::MAX / 4)).map(|units| usize::from(block(units))).sum()
}

/// 1 for a byte that begins a character.
fn is_start(byte: u8) -> u16 {
    u16::from(byte & 0xC0 != 0x80)
}

/// 1 for a unit that begins a character.
fn begins(unit: u16) -> u16 {
    u16::from(unit & 0xFC00 != 0xDC00)
}

/// The bytes of UTF-8, a half of them for a surrogate.
fn utf8_length(unit: u16) -> u16 {
    1 + u16::from(unit >= 0x80) + u16::from(unit >= 0x800 && unit & 0xF800 != 0xD800)
}

#[must_use]
pub fn count_utf8(src: &[u8]) -> usize {
    sum(src, is_start)
}

#[must_use]
pub fn count_utf16(src: &[u16]) -> usize {
    sum(src, begins)
}

#[must_use]
pub fn count_utf16be(src: &[u16]) -> usize {
    sum(src, |unit| begins(u16::from_be(unit)))
}

#[must_use]
pub fn count_utf16le(src: &[u16]) -> usize {
    sum(src, |unit| begins(u16::from_le(unit)))
}

#[must_use]
pub fn utf8_length_from_utf16(src: &[u16]) -> usize {
    sum(src, utf8_length)
}

#[must_use]
pub fn utf8_length_from_utf16be(src: &[u16]) -> usize {
    sum(src, |unit| utf8_length(u16::from_be(unit)))
}

#[must_use]
pub fn utf8_length_from_utf16le(src: &[u16]) -> usize {
    sum(src, |unit| utf8_length(u16::from_le(unit)))
}

#[must_use]
pub fn utf8_length_from_utf32(src: &[u32]) -> usize {
    sum(src, |unit| {
        1 + u16::from(unit >= 0x80) + u16::from(unit >= 0x800) + u16::from(unit >= 0x1_0000)
    })
}

#[must_use]
pub fn utf8_length_from_latin1(src: &[u8]) -> usize {
    sum(src, |byte| 1 + u16::from(!byte.is_ascii()))
}

#[must_use]
pub fn utf16_length_from_utf8(src: &[u8]) -> usize {
    sum(src, |byte| is_start(byte) + u16::from(byte >= 0xF0))
}

#[must_use]
pub fn utf16_length_from_utf32(src: &[u32]) -> usize {
    sum(src, |unit| 1 + u16::from(unit >= 0x1_0000))
}

#[must_use]
pub fn utf16_length_from_latin1(src_len: usize) -> usize {
    src_len
}

#[must_use]
pub fn utf32_length_from_utf8(src: &[u8]) -> usize {
    count_utf8(src)
}

#[must_use]
pub fn utf32_length_from_utf16(src: &[u16]) -> usize {
    count_utf16(src)
}

#[must_use]
pub fn utf32_length_from_utf16be(src: &[u16]) -> usize {
    count_utf16be(src)
}

#[must_use]
pub fn utf32_length_from_utf16le(src: &[u16]) -> usize {
    count_utf16le(src)
}

#[must_use]
pub fn latin1_length_from_utf8(src: &[u8]) -> usize {
    count_utf8(src)
}

#[must_use]
pub fn latin1_length_from_utf16(src_len: usize) -> usize {
    src_len
}

#[must_use]
pub fn latin1_length_from_utf32(src_len: usize) -> usize {
    src_len
}

#[must_use]
pub fn base64_length_from_binary(len: usize, options: Base64Options) -> usize {
    let has_padding = matches!(options as u64 & 3, 0 | 3);
    if has_padding { len.div_ceil(3) * 4 } else { (len * 4).div_ceil(3) }
}

/// With an LF between two lines.
#[must_use]
pub fn base64_length_from_binary_with_lines(
    len: usize,
    options: Base64Options,
    line_length: usize,
) -> usize {
    let length = base64_length_from_binary(len, options);
    length + length.div_ceil(line_length.max(4)).saturating_sub(1)
}

// ---- Detection ----

/// The encodings in which `src` is valid, unless it begins with a BOM: then that of the BOM.
#[must_use]
pub fn autodetect_encodings(src: &[u8]) -> Encoding {
    match src {
        [0xFF, 0xFE, 0, 0, ..] => return Encoding::UTF32_LE,
        [0xFF, 0xFE, ..] => return Encoding::UTF16_LE,
        [0xFE, 0xFF, ..] => return Encoding::UTF16_BE,
        [0, 0, 0xFE, 0xFF, ..] => return Encoding::UTF32_BE,
        [0xEF, 0xBB, 0xBF, ..] => return Encoding::UTF8,
        _ => {}
    }
    let (units, odd) = src.as_chunks();
    let mut utf16 = char::decode_utf16(units.iter().map(|&unit| u16::from_le_bytes(unit)));
    let (numbers, rest) = src.as_chunks();
    let is_scalar = |&unit: &[u8; 4]| char::from_u32(u32::from_le_bytes(unit)).is_some();
    let mut encodings = Encoding::UNSPECIFIED;
    encodings.set(Encoding::UTF8, is_utf8(src));
    encodings.set(Encoding::UTF16_LE, odd.is_empty() && utf16.all(|unit| unit.is_ok()));
    encodings.set(Encoding::UTF32_LE, rest.is_empty() && numbers.iter().all(is_scalar));
    encodings
}

/// The first of UTF-8, UTF-16LE and UTF-32LE in which `src` is valid.
#[must_use]
pub fn autodetect_single_encoding(src: &[u8]) -> Encoding {
    autodetect_encodings(src).iter().next().unwrap_or(Encoding::UNSPECIFIED)
}
