//! One step loop for every kind of chunk: what is its next piece?

use crate::decoder::ends::tail;
use crate::decoder::error::{ErrorStats, Utf8Error};
use crate::decoder::partial::{Partial, Resumed};
#[cfg(feature = "std")]
use crate::decoder::text::Ending;
use crate::decoder::{scanner::Scanner, step::Step};
#[cfg(feature = "std")]
use utf8_simd::text::take_text;

/// A chunk whose text is not copied: `&[u8]`, `Bytes` or `BytesMut`.
pub(crate) trait Input {
    /// Text that borrows from the chunk or shares its memory.
    type Text: AsRef<str>;

    fn as_bytes(&self) -> &[u8];

    /// Drops the first `len` bytes.
    fn skip(&mut self, len: usize);

    /// Removes and returns the text that `scan` finds at the front.
    fn take_text(&mut self, scan: impl for<'s> FnOnce(&'s [u8]) -> &'s str) -> Self::Text;
}

impl<'a> Input for &'a [u8] {
    type Text = &'a str;

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        self
    }

    #[inline]
    fn skip(&mut self, len: usize) {
        *self = tail(self, len);
    }

    #[inline]
    fn take_text(&mut self, scan: impl for<'s> FnOnce(&'s [u8]) -> &'s str) -> &'a str {
        let text = scan(self);
        self.skip(text.len());
        text
    }
}

#[cfg(feature = "std")]
impl Input for bytes::Bytes {
    type Text = bytestring::ByteString;

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        self
    }

    #[inline]
    fn skip(&mut self, len: usize) {
        bytes::Buf::advance(self, len);
    }

    #[inline]
    fn take_text(&mut self, scan: impl for<'s> FnOnce(&'s [u8]) -> &'s str) -> Self::Text {
        take_text(self, scan)
    }
}

#[cfg(feature = "std")]
impl Input for bytes::BytesMut {
    type Text = bytestring::ByteString;

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        self
    }

    #[inline]
    fn skip(&mut self, len: usize) {
        bytes::Buf::advance(self, len);
    }

    #[inline]
    fn take_text(&mut self, scan: impl for<'s> FnOnce(&'s [u8]) -> &'s str) -> Self::Text {
        take_text(self, scan)
    }
}

/// A [`Step`] whose bytes have been removed from the input, except for `Hold`.
pub(crate) enum Taken<T> {
    Text(T),
    Error(Utf8Error),
    /// At most three bytes are left.
    NeedMore,
}

/// Removes the next piece from `input` and returns it. The first is the split character that `partial` holds,
/// converted by `text_of`. At the end, `partial` holds the bytes that are left.
#[inline(always)]
pub(super) fn take_piece<I: Input>(
    scanner: &mut Scanner,
    partial: &mut Partial,
    stats: &mut ErrorStats,
    input: &mut I,
    text_of: impl FnOnce(char) -> I::Text,
) -> Option<Result<I::Text, Utf8Error>> {
    while !input.as_bytes().is_empty() {
        if !partial.is_empty() {
            let (used, resumed) = partial.resume(scanner, input.as_bytes());
            input.skip(used);
            match resumed {
                Resumed::Nothing => continue,
                Resumed::Char(c) => return Some(Ok(text_of(c))),
                Resumed::Error(error) => return Some(Err(stats.note(error))),
            }
        }
        match take_step(scanner, input) {
            Taken::Text(text) => return Some(Ok(text)),
            Taken::Error(error) => return Some(Err(stats.note(error))),
            Taken::NeedMore => {
                partial.hold(input.as_bytes());
                input.skip(partial.len());
            }
        }
    }
    None
}

/// Removes the text that `input` begins with, which can be empty. Returns it, and what follows it. The scanner
/// [is on the fast path](Scanner::is_on_fast_path).
#[cfg(feature = "std")]
#[inline]
pub(super) fn take_fast_path<I: Input>(scanner: &mut Scanner, input: &mut I) -> (I::Text, Ending) {
    let mut ending = Ending::End;
    let text = input.take_text(|bytes| {
        let text;
        (text, ending) = scanner.step_fast_path(bytes);
        text
    });
    (text, ending)
}

/// Removes what `input` begins with and returns it. Does not count the error.
// Always inlined, because a step is returned through memory: see `crate::decoder`, "Store forwarding"; scenario
// `damaged`, rows `pieces`.
#[inline(always)]
pub(super) fn take_step<I: Input>(scanner: &mut Scanner, input: &mut I) -> Taken<I::Text> {
    loop {
        let mut found = Ok(0);
        let text = input.take_text(|bytes| match scanner.step(bytes) {
            Step::Text(text) => text,
            Step::Skip(len) => {
                found = Ok(len);
                ""
            }
            Step::Error(error) => {
                found = Err(error);
                ""
            }
            Step::NeedMore => "",
        });
        match found {
            Ok(0) if text.as_ref().is_empty() => return Taken::NeedMore,
            Ok(0) => return Taken::Text(text),
            Ok(silent) => input.skip(silent),
            Err(error) => {
                input.skip(error.bytes().len());
                return Taken::Error(error);
            }
        }
    }
}
