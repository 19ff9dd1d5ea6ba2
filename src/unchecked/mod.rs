//! Bytes to `str`: the one place outside the kernels where `unsafe` stands.

#[cfg(feature = "bytes")]
mod gathered_text;
#[cfg(feature = "stream")]
mod read_buffer;
mod short_text;
#[cfg(feature = "alloc")]
mod text_output;

#[cfg(feature = "bytes")]
pub(crate) use gathered_text::GatheredText;
#[cfg(feature = "stream")]
pub(crate) use read_buffer::ReadBuffer;
pub(crate) use short_text::ShortText;
#[cfg(feature = "alloc")]
pub(crate) use text_output::{Repairs, SortedBlock, Step, TextOutput};

use core::ops::RangeInclusive;

use crate::core::error::Utf8ErrorKind;
use crate::core::strictness::Strictness;
use crate::kernel::{Kernel, sequence_len};

/// What follows a run of accepted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The end of the input, or up to three bytes that may still become a sequence.
    End,
    /// A maximal subpart of this length.
    IllFormed(usize),
    /// A character of this length, well-formed and refused.
    Refused(usize, Utf8ErrorKind),
}

/// How far ahead to look for the end of a run of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// As far as it goes: errors are rare.
    Far,
    /// No further than needed, so that errors that stand close together cost no more than what is
    /// between them.
    Near,
}

/// Splits off the accepted text at the start of `input` and says what follows it.
#[inline]
pub(crate) fn split_text(
    kernel: Kernel,
    input: &[u8],
    strictness: Strictness,
    look: Look,
) -> (&str, Ending) {
    match look {
        _ if !strictness.is_off() => split_strictly(kernel, input, strictness),
        Look::Far => split_far(kernel, input),
        Look::Near => split_near(kernel, input),
    }
}

/// As [`split_text`], as far as it goes, refusing nothing.
#[inline]
pub(crate) fn split_far(kernel: Kernel, input: &[u8]) -> (&str, Ending) {
    let found = kernel.validate(input);
    // SAFETY: `Kernel::validate` promises that the first `valid_up_to` bytes are well-formed UTF-8,
    // and that index is within `input`. `tests/kernels.rs` holds every kernel to it.
    let text = unsafe { core::str::from_utf8_unchecked(&input[..found.valid_up_to]) };
    (text, found.error_len.get().map_or(Ending::End, Ending::IllFormed))
}

/// The character of two bytes or more that `bytes` begin with, if they begin with one.
#[inline]
pub(crate) fn first_char(bytes: &[u8; 4]) -> Option<&str> {
    let len = sequence_len(*bytes);
    // SAFETY: `sequence_len` promises that so many bytes, if it is not 0, are a well-formed sequence.
    (len != 0).then(|| unsafe { core::str::from_utf8_unchecked(&bytes[..len]) })
}

/// Splits off text at the start of `input`, not beyond the first byte that is `end`: all of the ASCII,
/// at least.
#[cfg(feature = "codec")]
#[inline]
pub(crate) fn split_line(kernel: Kernel, end: u8, input: &[u8]) -> &str {
    let text = &input[..kernel.text_before(end, input)];
    // SAFETY: `Kernel::text_before` promises that these bytes are well-formed UTF-8.
    // `tests/kernels.rs` holds every kernel to it.
    unsafe { core::str::from_utf8_unchecked(text) }
}

/// Splits off the bytes of `range`, ASCII all of them, at the start of `input`.
#[inline]
pub(crate) fn split_range(kernel: Kernel, input: &[u8], range: RangeInclusive<u8>) -> &str {
    assert!(range.end().is_ascii());
    let end = kernel.find_outside(input, range).unwrap_or(input.len());
    // SAFETY: `Kernel::find_outside` promises that all bytes before the first that it finds, or all
    // there are, lie in the range, which ends with ASCII. `tests/pairs.rs` holds every kernel to it.
    unsafe { core::str::from_utf8_unchecked(&input[..end]) }
}

/// Looks at block after block, so that an error near by costs no more than what is before it.
fn split_near(kernel: Kernel, input: &[u8]) -> (&str, Ending) {
    /// More than what the kernel leaves before an error, or where there is no whole block.
    const REST: usize = 72;
    let mut accepted = 0;
    let ending = loop {
        accepted += kernel.valid_prefix_len(&input[accepted..]);
        let end = input.len().min(accepted + REST);
        let (text, ending) = split_far(Kernel::SCALAR, &input[accepted..end]);
        accepted += text.len();
        if ending != Ending::End || end == input.len() {
            break ending;
        }
    };
    // SAFETY: `Kernel::valid_prefix_len` promises well-formed bytes and whole characters, and between these
    // are `str`s; `accepted` is the sum of their lengths from the start of `input` on.
    let text = unsafe { core::str::from_utf8_unchecked(&input[..accepted]) };
    (text, ending)
}

/// As [`split_far`], after unmasking all of `input` in the same pass; gives it back unmasked, too.
#[cfg(feature = "bytes")]
#[inline]
pub(crate) fn unmask_and_split_far(
    kernel: Kernel,
    input: &mut [u8],
    mask: [u8; 4],
) -> (&[u8], &str, Ending) {
    let found = kernel.unmask_and_validate(input, mask);
    let input: &[u8] = input;
    // SAFETY: `Kernel::unmask_and_validate` promises that the first `valid_up_to` bytes are now
    // well-formed UTF-8, and that index is within `input`. `tests/kernels.rs` holds every kernel to it.
    let text = unsafe { core::str::from_utf8_unchecked(&input[..found.valid_up_to]) };
    (input, text, found.error_len.get().map_or(Ending::End, Ending::IllFormed))
}

/// Looks at windows that grow, as a refused character has to be looked for in each.
fn split_strictly(kernel: Kernel, input: &[u8], strictness: Strictness) -> (&str, Ending) {
    const FIRST: usize = 32;
    const LARGEST: usize = 4096;
    let mut accepted = 0;
    let mut window = FIRST;
    let mut kernel_for_window = Kernel::SCALAR;
    let ending = loop {
        let end = input.len().min(accepted + window);
        let (text, ending) = split_far(kernel_for_window, &input[accepted..end]);
        if let Some((at, len, kind)) = strictness.find_refused(text) {
            accepted += text[..at].len();
            break Ending::Refused(len, kind);
        }
        accepted += text.len();
        if ending != Ending::End || end == input.len() {
            break ending;
        }
        window = (window * 4).min(LARGEST);
        kernel_for_window = kernel;
    };
    // SAFETY: `accepted` is the sum of lengths of `str`s that followed one another from the start of
    // `input`; where the last was cut, slicing it has shown that to be between two characters.
    let text = unsafe { core::str::from_utf8_unchecked(&input[..accepted]) };
    (text, ending)
}

/// Splits off the text that `scan` finds at the start of `bytes`, without copying it.
///
/// Text that does not start at the first byte of `bytes` is none of ours, and comes out empty.
#[cfg(feature = "bytes")]
#[inline]
pub(crate) fn take_text<B: SplitTo>(
    bytes: &mut B,
    scan: impl for<'a> FnOnce(&'a [u8]) -> &'a str,
) -> bytestring::ByteString {
    let all: &[u8] = bytes.as_ref();
    let text = scan(all);
    let is_front = core::ptr::eq(text.as_ptr(), all.as_ptr()) && text.len() <= all.len();
    let len = if is_front { text.len() } else { 0 };
    if len == 0 {
        return bytestring::ByteString::new(); // splitting off nothing would count references
    }
    let taken = bytes.split_to_bytes(len);
    assert_eq!(taken.len(), len, "what was asked for has been split off");
    // SAFETY: the first `len` bytes of `bytes` are those of `text`, a `str`: both start at the same
    // place, and `text` is not longer. `SplitTo` promises that these are the bytes split off, and
    // nothing can have changed them since, as `bytes` is borrowed mutably.
    unsafe { bytestring::ByteString::from_bytes_unchecked(taken) }
}

/// [`Bytes`](bytes::Bytes) and [`BytesMut`](bytes::BytesMut): buffers that are cut without copying.
///
/// # Safety
///
/// - `split_to_bytes` gives the first bytes of what `as_ref` shows, unchanged.
#[cfg(feature = "bytes")]
pub(crate) unsafe trait SplitTo: AsRef<[u8]> {
    /// Takes the first `n` bytes, at most all, off the front.
    fn split_to_bytes(&mut self, n: usize) -> bytes::Bytes;
}

// SAFETY: that is what `split_to` does.
#[cfg(feature = "bytes")]
unsafe impl SplitTo for bytes::Bytes {
    #[inline(always)]
    fn split_to_bytes(&mut self, n: usize) -> bytes::Bytes {
        self.split_to(n)
    }
}

// SAFETY: that is what `split_to` does, and `freeze` changes no bytes.
#[cfg(feature = "bytes")]
unsafe impl SplitTo for bytes::BytesMut {
    #[inline(always)]
    fn split_to_bytes(&mut self, n: usize) -> bytes::Bytes {
        self.split_to(n).freeze()
    }
}
