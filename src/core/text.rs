//! Bytes to text: how long is the text that the options accept, and what follows it?
//!
//! The layers above `core` import items of `unchecked` and `kernel` from here.

pub(crate) use crate::kernel::{Kernel, NulForm, surrogate_pair};
#[cfg(feature = "alloc")]
pub(crate) use crate::unchecked::push_utf16;
pub(crate) use crate::unchecked::{BlockParts, Part, ShortText, first_char, split_range};
#[cfg(feature = "bytes")]
#[allow(unused_imports)] // each adaptor needs some of them
pub(crate) use crate::unchecked::{GatheredText, SplitTo, take_text};
#[cfg(feature = "std")]
pub(crate) use crate::unchecked::{ReadBuffer, assert_char_boundary};

use crate::core::error::Utf8ErrorKind;
use crate::core::strictness::Strictness;
use crate::unchecked;

/// What follows accepted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The end of the input, or up to three bytes that can still become a sequence.
    End,
    /// A maximal subpart of this length.
    IllFormed(usize),
    /// A well-formed character of this length that the options reject.
    Rejected(usize, Utf8ErrorKind),
}

/// How far ahead to look for the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// To the end of the input: errors are rare.
    Far,
    /// Block by block: each of many errors costs only what precedes it.
    Near,
    /// As `Near`, but without the fast paths for single errors: the caller has found all ill-formed parts of a block.
    Parts,
}

impl Ending {
    #[inline]
    fn after(error_len: Option<usize>) -> Self {
        error_len.map_or(Self::End, Self::IllFormed)
    }
}

/// Returns the accepted text at the start of `input`, and what follows it.
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
        Look::Near | Look::Parts => split_near(kernel, input),
    }
}

/// Like [`split_text`] with [`Look::Near`], without strictness.
pub(crate) fn split_near(kernel: Kernel, input: &[u8]) -> (&str, Ending) {
    let (text, error_len) = unchecked::split_near(kernel, input);
    (text, Ending::after(error_len))
}

/// Like [`split_text`] with [`Look::Far`], without strictness.
#[inline]
pub(crate) fn split_far(kernel: Kernel, input: &[u8]) -> (&str, Ending) {
    let (text, error_len) = unchecked::split_far(kernel, input);
    (text, Ending::after(error_len))
}

/// Like [`split_far`], but unmasks all of `input` in the same pass. Returns the unmasked input first.
#[cfg(feature = "bytes")]
#[inline]
pub(crate) fn unmask_and_split_far(
    kernel: Kernel,
    input: &mut [u8],
    mask: [u8; 4],
) -> (&[u8], &str, Ending) {
    let (input, text, error_len) = unchecked::unmask_and_split_far(kernel, input, mask);
    (input, text, Ending::after(error_len))
}

fn split_strictly(kernel: Kernel, input: &[u8], strictness: Strictness) -> (&str, Ending) {
    let (text, ending) = unchecked::split_until(kernel, input, |text| {
        let (at, len, kind) = strictness.find_rejected(text)?;
        Some((at, Ending::Rejected(len, kind)))
    });
    (text, ending.unwrap_or_else(Ending::after))
}
