//! The operations of a level. Each selects the implementation of its level; no other code does.

use core::mem::MaybeUninit;
use core::ops::RangeInclusive;

#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
use super::aarch64;
#[cfg(any(target_pointer_width = "64", target_arch = "wasm32"))]
use super::portable;
use super::recode::ScalarUnit;
use super::reference::pairs::NulForm;
use super::slices::Task;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use super::wasm32;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::x86_64::{avx2, avx512, sse41};
use crate::simd::{
    BLOCK_ERRORS_LEN, BlockErrors, InstructionSet, Level, RecodeSteps, RepairedPrefix, Validated,
    as_uninit, reference,
};

/// Calls `operation` of the level's module. Every module has all operations. Those that it does not vectorise
/// are safe functions of the reference, so `unsafe` may be unused.
///
/// A `match` is faster than a table of function pointers: for a message of 64 bytes 4.9 ns instead of 8.6
/// (`benches/scenarios/validate.rs`).
macro_rules! dispatch {
    ($level:ident, $operation:ident$(::<$type:ident>)?($($argument:expr),*)) => {{
        #[allow(unused_unsafe)]
        let result = match $level.0 {
            InstructionSet::Scalar => reference::$operation$(::<$type>)?($($argument),*),
            #[cfg(any(target_pointer_width = "64", target_arch = "wasm32"))]
            InstructionSet::Portable => portable::$operation$(::<$type>)?($($argument),*),
            // SAFETY: there is a `Level` of this level, so the machine has been found to have SSE4.1 and POPCNT.
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            InstructionSet::Sse41 => unsafe { sse41::$operation$(::<$type>)?($($argument),*) },
            // SAFETY: there is a `Level` of this level, so the machine has been found to have AVX2 and POPCNT.
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            InstructionSet::Avx2 => unsafe { avx2::$operation$(::<$type>)?($($argument),*) },
            // SAFETY: there is a `Level` of this level, so the machine has been found to have all the
            // extensions of AVX-512 that `InstructionSet::is_available` checks.
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            InstructionSet::Avx512 => unsafe { avx512::$operation$(::<$type>)?($($argument),*) },
            // SAFETY: there is a `Level` of this level, so the machine has been found to have NEON.
            #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
            InstructionSet::Neon => unsafe { aarch64::$operation$(::<$type>)?($($argument),*) },
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            InstructionSet::Simd128 => wasm32::$operation$(::<$type>)?($($argument),*),
        };
        result
    }};
}

// The functions of the crate are the public face; `utf8-codec` uses these too.
#[doc(hidden)]
impl Level {
    /// Finds how far `input` is well-formed UTF-8 (RFC 3629 section 4) and what follows.
    ///
    /// `valid_up_to` and the length of the subpart equal those of [`core::str::from_utf8`]. Reads at most
    /// 2 KiB after the first ill-formed sequence, and nothing outside `input`.
    #[inline]
    pub fn validate(self, input: &[u8]) -> Validated {
        if self.0.is_common() {
            dispatch!(self, validate(input))
        } else {
            self.validate_uncommonly(input)
        }
    }

    /// [`validate`](Self::validate) for the other levels, so that it chooses between two: comparisons instead of a
    /// jump table.
    ///
    /// Validation of 64 bytes takes 0.2 to 1.3 ns less by this (row `verdict/ascii/64`).
    /// UTF-16 to UTF-8 would take up to 1.2 ns more (row `from-utf-16/ascii/64`).
    #[cold]
    #[inline(never)]
    fn validate_uncommonly(self, input: &[u8]) -> Validated {
        dispatch!(self, validate(input))
    }

    /// Validates a short chunk after an incomplete sequence, whose bytes are the last ones of `before`, in little-endian order,
    /// after zeros. Returns how many bytes at the end of `input` are an incomplete sequence, or `None`: if there is an error, if
    /// F4 or more is among the bytes, or if there is no fast method for this level, or for other lengths than 35 to 256 bytes.
    #[inline]
    pub fn validate_next(self, before: u32, input: &[u8]) -> Option<usize> {
        if !matches!(input.len(), 35..=256) {
            return None;
        }
        dispatch!(self, validate_next(before, input))
    }

    /// Counts well-formed bytes at the start of `input`: all of them or a few less, up to the last character
    /// before an error or before the end of a block.
    ///
    /// Tests each block before it reads the next, for inputs in which an error is near.
    #[inline]
    pub fn valid_prefix_len(self, input: &[u8]) -> usize {
        dispatch!(self, valid_prefix_len(input))
    }

    /// Copies the bytes that [`valid_prefix_len`](Self::valid_prefix_len) counts to the start of `out`, as far
    /// as they fit. Returns their number; they are well-formed text. Later bytes of `out` may be overwritten.
    #[inline]
    pub fn copy_valid_prefix(self, input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
        let input = &input[..input.len().min(out.len())];
        dispatch!(self, copy_valid_prefix(input, out))
    }

    /// Counts the ASCII bytes at the start of `input`, up to the first of `ends`.
    ///
    /// If one of `ends` follows, this finds a line of ASCII in one pass, instead of a search and a validation.
    #[inline]
    pub fn ascii_before(self, ends: [u8; 2], input: &[u8]) -> usize {
        dispatch!(self, ascii_before(ends, input))
    }

    /// Copies the bytes at the start of `input`, up to the first of `ends`, to the start of `out`, as far as they fit.
    /// Returns their number, and the length of a prefix that is known to be ASCII; it can be too short, and is 0 if a level does
    /// not test that. Later bytes of `out` may be overwritten.
    #[inline]
    pub fn copy_before(
        self,
        ends: [u8; 2],
        input: &[u8],
        out: &mut [MaybeUninit<u8>],
    ) -> (usize, usize) {
        dispatch!(self, copy_before(ends, input, out))
    }

    /// Finds the ill-formed parts of a block that does not begin inside a sequence. Returns `None` if this
    /// level has no fast method, or if they are so few that it is not faster.
    #[inline]
    pub fn block_errors(self, block: &[u8; BLOCK_ERRORS_LEN]) -> Option<BlockErrors> {
        dispatch!(self, block_errors(block))
    }

    /// For each of `blocks`, stores a mask of the bytes that are one of `needles`, as far as there are `masks`. Bit 0 is the
    /// first byte.
    #[inline]
    pub fn byte_masks(self, blocks: &[[u8; 64]], needles: [u8; 2], masks: &mut [u64]) {
        dispatch!(self, byte_masks(blocks, needles, masks));
    }

    /// Unmasks `bytes` in place (RFC 6455 section 5.3): `bytes[i] ^= mask[i % 4]`. If a payload arrives in
    /// pieces, the mask of the next piece is this one rotated left by the length of this piece.
    #[inline]
    pub fn unmask(self, bytes: &mut [u8], mask: [u8; 4]) {
        dispatch!(self, unmask(bytes, mask));
    }

    /// Unmasks all of `bytes` in place, like [`unmask`](Self::unmask), and validates the result, like
    /// [`validate`](Self::validate).
    #[inline]
    pub fn unmask_and_validate(self, bytes: &mut [u8], mask: [u8; 4]) -> Validated {
        dispatch!(self, unmask_and_validate(bytes, mask))
    }

    /// Finds the first byte of `bytes` that is not in `range`.
    #[inline]
    pub fn find_outside(self, bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
        dispatch!(self, find_outside(bytes, range))
    }

    /// Rewrites `input` as UTF-8 into `out`: a pair of surrogates becomes the four bytes of its scalar value,
    /// `C0 80` becomes 00 with [`NulForm::TwoBytes`], all other bytes are copied. Stops when fewer than 64
    /// bytes of `out` are left. Returns the bytes read and the bytes written; later bytes of `out` may be
    /// overwritten.
    ///
    /// Also stops before F0 to FF; before a surrogate that does not form a pair with the next one; before ED
    /// at the end; and with [`NulForm::TwoBytes`] before 00, and before C0 without 80. Other bytes may be
    /// ill-formed.
    #[inline]
    pub fn join_pairs(self, input: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
        dispatch!(self, join_pairs(input, nul, out))
    }

    /// The reverse: rewrites `text`, which is UTF-8 and may begin inside a character of up to three
    /// bytes, with pairs of surrogates. Stops when fewer than 64 bytes of `out` are left, or fewer than 69
    /// before a character of four bytes. Returns the bytes read and the bytes written; later
    /// bytes of `out` may be overwritten.
    #[inline]
    pub fn split_pairs(self, text: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
        dispatch!(self, split_pairs(text, nul, out))
    }

    /// Runs a task with the instructions of this level.
    #[inline]
    pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
        dispatch!(self, run(task))
    }

    /// Counts the characters of `text`.
    #[inline]
    pub fn count_chars(self, text: &str) -> usize {
        dispatch!(self, count_chars(text))
    }

    /// Counts the UTF-16 units that encode `text`.
    #[inline]
    pub fn count_utf16(self, text: &str) -> usize {
        dispatch!(self, count_utf16(text))
    }

    /// Decodes `text` into `out`, as far as it fits. Returns the bytes read and the `char`s written; later ones in
    /// `out` may be overwritten.
    #[inline]
    pub fn decode_chars<C: ScalarUnit>(self, text: &str, out: &mut [C]) -> (usize, usize) {
        // SAFETY: every level writes the scalar values of `text`, and after them zeros or the number of a part of a character,
        // which is below D800.
        let out = unsafe { C::as_numbers(out) };
        dispatch!(self, decode_chars(text, out))
    }

    /// Decodes `bytes` into `out` if they are short, well-formed and complete, and fit. Returns the number of `char`s; later
    /// ones may be overwritten.
    /// If not, or if a level is not faster for them, returns `None`; then the start of them may have been decoded.
    ///
    /// For short messages, where a call of validation and another of the decoder would take longer. Short is at most 64 bytes,
    /// 512 with AVX-512; without vectors, at most 64 bytes of ASCII.
    #[inline]
    pub fn decode_short_chars<C: ScalarUnit>(self, bytes: &[u8], out: &mut [C]) -> Option<usize> {
        // SAFETY: every level writes the scalar values of well-formed bytes, zeros, and numbers of parts of characters, which are
        // below D800.
        let out = unsafe { C::as_numbers(out) };
        dispatch!(self, decode_short_chars(bytes, out))
    }

    /// Like [`decode_short_chars`](Self::decode_short_chars), to UTF-16.
    #[inline]
    pub fn decode_short_utf16(self, bytes: &[u8], out: &mut [u16]) -> Option<usize> {
        dispatch!(self, decode_short_utf16(bytes, out))
    }

    /// Like [`decode_short_chars`](Self::decode_short_chars), to UTF-16 in bytes; with `SWAPPED`, in the order that is not the
    /// machine's. A level without vectors returns `None`.
    #[inline]
    pub(crate) fn decode_short_bytes<const SWAPPED: bool>(
        self,
        bytes: &[u8],
        out: &mut [[u8; 2]],
    ) -> Option<usize> {
        dispatch!(self, decode_short_bytes::<SWAPPED>(bytes, out))
    }

    /// Like [`decode_damaged_utf16`](Self::decode_damaged_utf16), to `char`s.
    #[inline]
    pub fn decode_damaged_chars<C: ScalarUnit>(
        self,
        input: &[u8],
        out: &mut [C],
    ) -> RepairedPrefix {
        // SAFETY: every level writes the scalar values of well-formed sequences, which it has tested, U+FFFD, and zeros.
        let out = unsafe { C::as_numbers(out) };
        dispatch!(self, decode_damaged_chars(input, out))
    }

    /// Decodes blocks of 64 bytes at the start of `input`, which does not begin inside a sequence, with U+FFFD for each
    /// ill-formed part (Unicode 3.9, table 3-8). Stops where fewer bytes are left, and after three blocks without an error; may
    /// stop where fewer than 72 units fit. A level without vectors decodes nothing. Later units of `out` may be overwritten, with
    /// zeros, U+FFFD or characters of the text.
    #[inline]
    pub fn decode_damaged_utf16(self, input: &[u8], out: &mut [u16]) -> RepairedPrefix {
        dispatch!(self, decode_damaged_utf16(input, out))
    }

    /// Decodes ASCII at the start of `bytes` into `out`, as far as it fits. Returns the number of bytes; fewer
    /// than 64 more may be ASCII and fit. The other `char`s in `out` are unchanged.
    ///
    /// It needs no validated text, so long ASCII takes one pass instead of two.
    #[inline]
    pub fn decode_ascii_chars<C: ScalarUnit>(self, bytes: &[u8], out: &mut [C]) -> usize {
        // SAFETY: every level writes zero-extended bytes.
        let out = unsafe { C::as_numbers(out) };
        dispatch!(self, decode_ascii_chars(bytes, out))
    }

    /// Like [`decode_ascii_chars`](Self::decode_ascii_chars), to UTF-16.
    #[inline]
    pub fn decode_ascii_utf16(self, bytes: &[u8], out: &mut [u16]) -> usize {
        dispatch!(self, decode_ascii_utf16(bytes, out))
    }

    /// Decodes `text` into `out`, as far as it fits, without splitting a pair of surrogates.
    /// Returns the bytes read and the UTF-16 units written; later units of `out` may be overwritten.
    #[inline]
    pub fn decode_utf16(self, text: &str, out: &mut [u16]) -> (usize, usize) {
        dispatch!(self, decode_utf16(text, out))
    }

    /// Encodes `chars` into `out`, as far as whole ones fit. Returns the `char`s read and the bytes written;
    /// later bytes of `out` may be overwritten.
    #[inline]
    pub fn encode_chars(self, chars: &[char], out: &mut [u8]) -> (usize, usize) {
        dispatch!(self, encode_chars(chars, out))
    }

    /// Encodes UTF-16 `units` into `out`, as far as whole characters fit. Stops before an unpaired surrogate, unless these
    /// are `replaced` by U+FFFD and counted, and before a high surrogate at the end. Returns the units read and the bytes
    /// written, which are well-formed text; later bytes of `out` may be overwritten.
    #[inline]
    pub fn encode_utf16(
        self,
        units: &[u16],
        out: &mut [u8],
        replaced: Option<&mut u64>,
    ) -> (usize, usize) {
        // SAFETY: every level writes encoded bytes, vectors of them, and copies of an initialised scratch.
        let out = unsafe { as_uninit(out) };
        self.encode_utf16_into_spare(units, out, replaced)
    }

    /// Like [`encode_utf16`](Self::encode_utf16), into memory that may be uninitialised. The bytes written
    /// become initialised.
    #[inline]
    pub fn encode_utf16_into_spare(
        self,
        units: &[u16],
        out: &mut [MaybeUninit<u8>],
        replaced: Option<&mut u64>,
    ) -> (usize, usize) {
        let units = match units {
            [before @ .., 0xD800..0xDC00] if replaced.is_some() => before,
            _ => units,
        };
        dispatch!(self, encode_utf16(units, out, replaced))
    }

    /// Converts `items` into `out`. Stops before an item that cannot be converted or does not fit, perhaps some items earlier; a
    /// level without this conversion converts nothing. Returns the items read and the units written; later units of `out` may
    /// be overwritten.
    #[inline]
    #[allow(private_bounds)] // only the names of conversions are public in the crate
    pub(crate) fn recode<R: RecodeSteps>(
        self,
        items: &[R::From],
        out: &mut [R::To],
    ) -> (usize, usize) {
        // SAFETY: every level writes units of the encoding, which are valid, and zeros.
        let out = unsafe { as_uninit(out) };
        if self.0.is_common() {
            dispatch!(self, recode::<R>(items, out))
        } else {
            self.recode_uncommonly::<R>(items, out)
        }
    }

    /// [`recode`](Self::recode) for the other levels, as for validation: rows `utf-32-to-utf-16/*/16` of `benches/heads`.
    #[cold]
    #[inline(never)]
    fn recode_uncommonly<R: RecodeSteps>(
        self,
        items: &[R::From],
        out: &mut [MaybeUninit<u8>],
    ) -> (usize, usize) {
        dispatch!(self, recode::<R>(items, out))
    }

    /// Converts each of `items` to one unit, as many as fit: by [`recode`](Self::recode), and what that leaves by `of`. Returns how
    /// many.
    #[inline]
    #[allow(private_bounds)] // as above
    pub(crate) fn map<R: RecodeSteps>(
        self,
        items: &[R::From],
        out: &mut [R::To],
        of: impl Fn(R::From) -> R::To,
    ) -> usize {
        let items = &items[..items.len().min(out.len())];
        let (done, _) = self.recode::<R>(items, out);
        for (to, &from) in out[done..].iter_mut().zip(&items[done..]) {
            *to = of(from);
        }
        items.len()
    }

    /// Encodes Latin-1 as UTF-8 into `out`, as far as whole characters fit. Returns the bytes read and the bytes written; later
    /// bytes of `out` may be overwritten.
    #[inline]
    pub fn encode_latin1(self, latin1: &[u8], out: &mut [u8]) -> (usize, usize) {
        dispatch!(self, encode_latin1(latin1, out))
    }

    /// Decodes UTF-8 to Latin-1 into `out`, as far as whole characters fit. Stops before an ill-formed sequence, an incomplete
    /// one, and a character beyond U+00FF. Returns the bytes read and the bytes written; later bytes of `out` may be overwritten.
    #[inline]
    pub fn decode_latin1(self, bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
        dispatch!(self, decode_latin1(bytes, out))
    }
}
