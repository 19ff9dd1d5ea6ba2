//! C functions over the core: no std, no allocator, a custom panic handler.
//!
//! The C caller owns the memory. It passes a `utf8_validator` or `utf8_decoder`, which the `_init`
//! functions initialise. Neither needs to be released.

#![no_std]

use core::mem::MaybeUninit;
use core::panic::PanicInfo;
use core::slice;

use utf8_codec::decoder::{Progress, Status};
use utf8_codec::{
    ErrorMode, TextPosition, Utf8Decoder, Utf8Encoder, Utf8Error, Utf8Validator, boundary,
};
use utf8_simd::{ByteFinder, PrefixEnd};

unsafe extern "C" {
    /// Nothing defines it: the library can be linked only if no path panics.
    fn utf8_codec_can_panic() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: it does not exist, so this is never called.
    unsafe { utf8_codec_can_panic() }
}

/// A path that panics: with it, `.ci/check no-panic` shows that such a library cannot be linked.
///
/// # Safety
///
/// `bytes` is valid for reads of `len` bytes.
#[cfg(feature = "deliberate-panic")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn utf8_byte_at(bytes: *const u8, len: usize, at: usize) -> u8 {
    // SAFETY: the caller guarantees that `len` bytes can be read.
    let bytes = unsafe { slice::from_raw_parts(bytes, len) };
    bytes[at]
}

/// Memory for an object of the core.
#[repr(C, align(8))]
pub struct Memory([MaybeUninit<u8>; 128]);

const _: () = assert!(size_of::<Utf8Validator>() <= size_of::<Memory>());
const _: () = assert!(size_of::<Utf8Decoder>() <= size_of::<Memory>());
const _: () = assert!(align_of::<Utf8Validator>() <= align_of::<Memory>());
const _: () = assert!(align_of::<Utf8Decoder>() <= align_of::<Memory>());

/// An error for C: `len` is -1 if the stream ended inside a sequence.
#[repr(C)]
pub struct Error {
    valid_up_to: u64,
    len: i32,
}

/// The progress of a repair, for C.
#[repr(C)]
pub struct Repaired {
    read: usize,
    held: usize,
    written: usize,
    /// 0: done, 1: the buffer is full, 2: the buffer is too small, 3: never.
    status: i32,
}

type OnText = unsafe extern "C" fn(context: *mut u8, text: *const u8, len: usize);
type OnError = unsafe extern "C" fn(context: *mut u8, error: Error);

/// Starts validating a stream.
///
/// # Safety
///
/// `memory` is valid for writes and stays in place for as long as it is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn utf8_validator_init(memory: *mut Memory) {
    // SAFETY: the caller's memory is large enough and aligned, as asserted above.
    unsafe { memory.cast::<Utf8Validator>().write(Utf8Validator::new()) }
}

/// Validates a chunk. Returns false at an error, and writes it to `error`.
///
/// # Safety
///
/// `memory` was passed to `utf8_validator_init`; `chunk` is valid for reads of `len` bytes, `error` for
/// writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn utf8_validator_push(
    memory: *mut Memory,
    chunk: *const u8,
    len: usize,
    error: *mut Error,
) -> bool {
    // SAFETY: the caller guarantees that `memory` holds a validator that nothing else uses.
    let validator = unsafe { &mut *memory.cast::<Utf8Validator>() };
    // SAFETY: the caller guarantees that `len` bytes can be read.
    let chunk = unsafe { slice::from_raw_parts(chunk, len) };
    // SAFETY: the caller guarantees that `error` can be written.
    unsafe { verdict(validator.push(chunk), error) }
}

/// Ends the stream. Returns false if it was incomplete, and writes the error to `error`.
///
/// # Safety
///
/// `memory` was passed to `utf8_validator_init`; `error` is valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn utf8_validator_finish(memory: *mut Memory, error: *mut Error) -> bool {
    // SAFETY: the caller guarantees that `memory` holds a validator that nothing else uses.
    let validator = unsafe { &mut *memory.cast::<Utf8Validator>() };
    // SAFETY: the caller guarantees that `error` can be written.
    unsafe { verdict(validator.finish(), error) }
}

/// Counts the characters of a text. Returns false if it is not UTF-8, and writes the first error to `error`.
///
/// # Safety
///
/// `bytes` is valid for reads of `len` bytes, `count` and `error` for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn utf8_count_chars(
    bytes: *const u8,
    len: usize,
    count: *mut usize,
    error: *mut Error,
) -> bool {
    // SAFETY: the caller guarantees that `len` bytes can be read.
    let bytes = unsafe { slice::from_raw_parts(bytes, len) };
    let text = utf8_codec::from_utf8(bytes);
    // SAFETY: the caller guarantees that `count` can be written.
    unsafe { count.write(text.map_or(0, utf8_codec::count_chars)) };
    // SAFETY: the caller guarantees that `error` can be written.
    unsafe { verdict(text.map(|_| ()), error) }
}

/// Starts decoding a stream.
///
/// # Safety
///
/// `memory` is valid for writes and stays in place for as long as it is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn utf8_decoder_init(memory: *mut Memory) {
    // SAFETY: the caller's memory is large enough and aligned, as asserted above.
    unsafe { memory.cast::<Utf8Decoder>().write(Utf8Decoder::new()) }
}

/// Decodes a chunk and calls back with its text and its errors, in order.
///
/// # Safety
///
/// `memory` was passed to `utf8_decoder_init`; `chunk` is valid for reads of `len` bytes; the functions
/// accept `context` and do not unwind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn utf8_decoder_push(
    memory: *mut Memory,
    chunk: *const u8,
    len: usize,
    on_text: OnText,
    on_error: OnError,
    context: *mut u8,
) {
    // SAFETY: the caller guarantees that `memory` holds a decoder that nothing else uses.
    let decoder = unsafe { &mut *memory.cast::<Utf8Decoder>() };
    // SAFETY: the caller guarantees that `len` bytes can be read.
    let chunk = unsafe { slice::from_raw_parts(chunk, len) };
    for piece in decoder.push(chunk) {
        match piece {
            // SAFETY: the caller guarantees that the function accepts `context`; the text is a slice.
            Ok(text) => unsafe { on_text(context, text.as_ptr(), text.len()) },
            // SAFETY: the caller guarantees that the function accepts `context`.
            Err(error) => unsafe { on_error(context, for_c(error)) },
        }
    }
}

/// Ends the stream. Returns false if it ended inside a character, and writes the error to `error`.
///
/// # Safety
///
/// `memory` was passed to `utf8_decoder_init`; `error` is valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn utf8_decoder_finish(memory: *mut Memory, error: *mut Error) -> bool {
    // SAFETY: the caller guarantees that `memory` holds a decoder that nothing else uses.
    let decoder = unsafe { &mut *memory.cast::<Utf8Decoder>() };
    // SAFETY: the caller guarantees that `error` can be written.
    unsafe { verdict(decoder.finish(), error) }
}

/// Decodes a chunk into a buffer, and replaces ill-formed parts with U+FFFD.
///
/// # Safety
///
/// `memory` was passed to `utf8_decoder_init`; `chunk` is valid for reads of `len` bytes, `buffer` for
/// reads and writes of `room` bytes, and they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn utf8_decoder_repair(
    memory: *mut Memory,
    chunk: *const u8,
    len: usize,
    buffer: *mut u8,
    room: usize,
    mode: u8,
) -> Repaired {
    // SAFETY: the caller guarantees that `memory` holds a decoder that nothing else uses.
    let decoder = unsafe { &mut *memory.cast::<Utf8Decoder>() };
    // SAFETY: the caller guarantees that `len` bytes can be read.
    let chunk = unsafe { slice::from_raw_parts(chunk, len) };
    // SAFETY: the caller guarantees that `room` bytes, no part of `chunk`, can be read and written.
    let buffer = unsafe { slice::from_raw_parts_mut(buffer, room) };
    repaired(decoder.push_to_slice(chunk, mode_of(mode), buffer))
}

/// Ends the stream, and writes U+FFFD to the buffer if it ended inside a character.
///
/// # Safety
///
/// `memory` was passed to `utf8_decoder_init`; `buffer` is valid for reads and writes of `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn utf8_decoder_repair_end(
    memory: *mut Memory,
    buffer: *mut u8,
    room: usize,
    mode: u8,
) -> Repaired {
    // SAFETY: the caller guarantees that `memory` holds a decoder that nothing else uses.
    let decoder = unsafe { &mut *memory.cast::<Utf8Decoder>() };
    // SAFETY: the caller guarantees that `room` bytes can be read and written.
    let buffer = unsafe { slice::from_raw_parts_mut(buffer, room) };
    repaired(decoder.finish_to_slice(mode_of(mode), buffer))
}

/// The mode of this number, which the linker cannot know. 0 is U+FFFD.
fn mode_of(number: u8) -> ErrorMode {
    match number {
        0 => ErrorMode::Replacement,
        1 => ErrorMode::Skip,
        2 => ErrorMode::Escape,
        3 => ErrorMode::Latin1,
        4 => ErrorMode::Windows1252,
        _ => ErrorMode::Fatal,
    }
}

/// # Safety
///
/// `error` is valid for writes.
unsafe fn verdict(result: Result<(), Utf8Error>, error: *mut Error) -> bool {
    match result {
        Ok(()) => true,
        Err(found) => {
            // SAFETY: the caller guarantees that `error` can be written.
            unsafe { error.write(for_c(found)) };
            false
        }
    }
}

fn for_c(error: Utf8Error) -> Error {
    let len = error.error_len().map_or(-1, |len| len as i32);
    Error { valid_up_to: error.valid_up_to(), len }
}

fn repaired(progress: Progress) -> Repaired {
    let Progress { read, held, written, status, .. } = progress;
    let status = match status {
        Status::Done => 0,
        Status::Full => 1,
        Status::TooSmall { .. } => 2,
        // A lossy mode has no errors.
        _ => 3,
    };
    Repaired { read, held, written, status }
}

// ---- functions that the streams do not call: of all of them, those of which no path panics. SECURITY.md lists the others ----

/// Defines functions of C: each passes bytes and a number to an expression, and returns a number.
macro_rules! functions {
    ($($name:ident, $bytes:ident, $number:ident: $result:expr;)*) => {$(
        /// # Safety
        ///
        /// `bytes` is valid for reads and writes of `len` bytes, which nothing else uses.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(bytes: *mut u8, len: usize, $number: usize) -> usize {
            // SAFETY: the caller guarantees it.
            let $bytes = unsafe { slice::from_raw_parts_mut(bytes, len) };
            $result
        }
    )*};
}
functions! {
    utf8_from, bytes, _n: utf8_simd::from_utf8(bytes).map_or(0, str::len);
    utf8_from_mut, bytes, _n: utf8_simd::from_utf8_mut(bytes).map_or(0, |text| text.len());
    utf8_is, bytes, _n: utf8_simd::is_utf8(bytes).into();
    utf8_prefix, bytes, _n: with_end(utf8_simd::valid_prefix(bytes));
    utf8_prefix_dense, bytes, _n: with_end(utf8_simd::valid_prefix_dense(bytes));
    utf8_chars, bytes, _n: utf8_simd::count_chars(text_of(bytes));
    utf8_utf16_len, bytes, _n: utf8_simd::utf16_len(text_of(bytes));
    utf8_offsets, bytes, end: {
        utf8_simd::from_utf8_offsets(bytes, &[0, end, bytes.len()]).map_or(0, str::len)
    };
    utf8_find, bytes, needles: {
        let [a, b, ..] = needles.to_le_bytes();
        let mut finder = ByteFinder::new(a, b);
        finder.next(bytes).and(finder.next(bytes)).unwrap_or(bytes.len())
    };
    utf8_unmask, bytes, mask: {
        utf8_simd::unmask(bytes, (mask as u32).to_ne_bytes());
        bytes.len()
    };
    utf8_boundary_floor, bytes, index: boundary::floor(bytes, index);
    utf8_boundary_ceil, bytes, index: boundary::ceil(bytes, index);
    utf8_boundary_is, bytes, index: boundary::is_boundary(bytes, index).into();
    utf8_truncate, bytes, max_length: boundary::truncate(text_of(bytes), max_length).len();
    utf8_position, bytes, skipped: {
        let mut position = TextPosition::new();
        position.skip(skipped as u64);
        position.push(text_of(bytes));
        if let Err(error) = Utf8Validator::new().push(bytes) {
            position.push_error(&error);
        }
        (position.line + position.column + position.utf16_column) as usize
    };
    utf8_encode, bytes, room: {
        // The output follows the text.
        let Some((text, output)) = bytes.split_at_mut_checked(room) else { return 0 };
        let mut encoder = Utf8Encoder::new().with_bom();
        let written = encoder.push_to_slice(text_of(text), output).written;
        written + encoder.push(text_of(text)).map(<[u8]>::len).into_iter().sum::<usize>()
    };
}

fn text_of(bytes: &[u8]) -> &str {
    utf8_simd::valid_prefix(bytes).0
}

fn with_end((text, end): (&str, PrefixEnd)) -> usize {
    match end {
        PrefixEnd::Input => text.len(),
        PrefixEnd::Incomplete(len) | PrefixEnd::IllFormed(len) => text.len() + len,
    }
}
