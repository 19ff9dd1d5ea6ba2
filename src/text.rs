//! Bytes to `str`: the one place outside the kernels where `unsafe` stands.

use crate::error::Utf8ErrorKind;
use crate::kernel::{Kernel, sequence_len};
use crate::strictness::Strictness;

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
    let stop = kernel.validate(input);
    // SAFETY: `Kernel::validate` promises that the first `valid_up_to` bytes are well-formed UTF-8,
    // and that index is within `input`. `tests/kernels.rs` holds every kernel to it.
    let text = unsafe { core::str::from_utf8_unchecked(&input[..stop.valid_up_to]) };
    (text, stop.why.error_len().map_or(Ending::End, Ending::IllFormed))
}

/// The character of two bytes or more that `bytes` begin with, if they begin with one.
#[inline]
pub(crate) fn first_char(bytes: &[u8; 4]) -> Option<&str> {
    let len = sequence_len(*bytes);
    // SAFETY: `sequence_len` promises that so many bytes, if it is not 0, are a well-formed sequence.
    (len != 0).then(|| unsafe { core::str::from_utf8_unchecked(&bytes[..len]) })
}

/// Splits off the ASCII at the start of `input`, up to the first byte that is `end`.
#[cfg(feature = "codec")]
#[inline]
pub(crate) fn split_ascii(kernel: Kernel, end: u8, input: &[u8]) -> &str {
    let ascii = &input[..kernel.ascii_before(end, input)];
    debug_assert!(ascii.is_ascii());
    // SAFETY: `Kernel::ascii_before` promises that these bytes are ASCII, of which each is UTF-8.
    // `tests/kernels.rs` holds every kernel to it.
    unsafe { core::str::from_utf8_unchecked(ascii) }
}

/// Looks at block after block, so that an error near by costs no more than what is before it.
fn split_near(kernel: Kernel, input: &[u8]) -> (&str, Ending) {
    /// More than what the kernel leaves before an error, or where there is no whole block.
    const REST: usize = 72;
    let mut accepted = 0;
    let ending = loop {
        accepted += kernel.clean_len(&input[accepted..]);
        let end = input.len().min(accepted + REST);
        let (text, ending) = split_far(Kernel::SCALAR, &input[accepted..end]);
        accepted += text.len();
        if ending != Ending::End || end == input.len() {
            break ending;
        }
    };
    // SAFETY: `Kernel::clean_len` promises well-formed bytes and whole characters, and between these
    // are `str`s; `accepted` is the sum of their lengths from the start of `input` on.
    let text = unsafe { core::str::from_utf8_unchecked(&input[..accepted]) };
    (text, ending)
}

/// Looks at windows that grow, as a refused character has to be looked for in each.
fn split_strictly(kernel: Kernel, input: &[u8], strictness: Strictness) -> (&str, Ending) {
/// As [`split_far`], after unmasking all of `input` in the same pass; gives it back unmasked, too.
#[cfg(feature = "bytes")]
#[inline]
pub(crate) fn unmask_and_split_far(
    kernel: Kernel,
    input: &mut [u8],
    mask: [u8; 4],
) -> (&[u8], &str, Ending) {
    let stop = kernel.unmask_and_validate(input, mask);
    let input: &[u8] = input;
    // SAFETY: `Kernel::unmask_and_validate` promises that the first `valid_up_to` bytes are now
    // well-formed UTF-8, and that index is within `input`. `tests/kernels.rs` holds every kernel to it.
    let text = unsafe { core::str::from_utf8_unchecked(&input[..stop.valid_up_to]) };
    (input, text, stop.why.error_len().map_or(Ending::End, Ending::IllFormed))
}

/// Looks at windows that grow. The first is left to the scalar kernel, which is the quickest to come
/// to an error near by; a refused character is looked for within each.
fn split_near(kernel: Kernel, input: &[u8], strictness: Strictness) -> (&str, Ending) {
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

/// Text in the buffer that it came in, and behind it bytes of which nothing has been said yet.
#[cfg(feature = "bytes")]
#[derive(Clone, Debug, Default)]
pub(crate) struct TextBuffer {
    bytes: bytes::BytesMut,
    /// Invariant: at most as many as there are bytes, and the first so many are well-formed UTF-8.
    text: usize,
}

#[cfg(feature = "bytes")]
impl TextBuffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether `bytes` lie in memory where this ends.
    pub(crate) fn is_followed_by(&self, bytes: &[u8]) -> bool {
        core::ptr::eq(self.bytes.as_ptr_range().end, bytes.as_ptr())
    }

    /// Adds `bytes` behind what is there, without copying if they follow it in the same memory or
    /// nothing is there; and takes the text that `scan` finds at the start of what is then behind the
    /// text. Of that, `scan` says first how many bytes to pass over, which it may only where there is no
    /// text before them.
    ///
    /// Text that does not start there is none of ours, and is not taken.
    #[inline]
    pub(crate) fn extend(
        &mut self,
        mut bytes: bytes::BytesMut,
        scan: impl for<'a> FnOnce(&'a mut [u8]) -> (usize, &'a str),
    ) {
        // (Scanned before it is moved: a copy of what has only just been written has to wait for it.)
        let (silent, len) = if self.bytes.is_empty() {
            let found = find_text(&mut bytes, scan);
            self.bytes = bytes;
            found
        } else {
            self.bytes.unsplit(bytes);
            find_text(&mut self.bytes[self.text..], scan)
        };
        debug_assert!(silent == 0 || self.text == 0);
        if silent == 0 {
            self.text += len;
        } else if self.text == 0 {
            bytes::Buf::advance(&mut self.bytes, silent);
            self.text = len;
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        let text = &self.bytes[..self.text];
        // SAFETY: the first `text` bytes are well-formed: that is the invariant. `extend` alone adds to
        // them, what `find_text` has found to be a `str` directly behind them, or at the start.
        unsafe { core::str::from_utf8_unchecked(text) }
    }

    /// What is behind the text.
    pub(crate) fn behind(&self) -> &[u8] {
        &self.bytes[self.text..]
    }

    /// Drops what is behind the text.
    pub(crate) fn truncate(&mut self) {
        self.bytes.truncate(self.text);
    }

    /// Returns the text, without copying it.
    pub(crate) fn into_text(mut self) -> bytestring::ByteString {
        self.truncate();
        // SAFETY: what is left is the first `text` bytes, which are well-formed, as in `as_str`.
        unsafe { bytestring::ByteString::from_bytes_unchecked(self.bytes.freeze()) }
    }
}

/// Says how many bytes of `bytes` are to be passed over, and how many then are the text that `scan`
/// finds there: none, where its text is not there.
#[cfg(feature = "bytes")]
#[inline]
fn find_text(
    bytes: &mut [u8],
    scan: impl for<'a> FnOnce(&'a mut [u8]) -> (usize, &'a str),
) -> (usize, usize) {
    let all = bytes.as_ptr_range();
    let (silent, text) = scan(bytes);
    let range = text.as_bytes().as_ptr_range();
    let is_there = range.start.addr() == all.start.addr() + silent && range.end <= all.end;
    (silent, if is_there { text.len() } else { 0 })
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
    fn split_to_bytes(&mut self, n: usize) -> bytes::Bytes {
        self.split_to(n)
    }
}

// SAFETY: that is what `split_to` does, and `freeze` changes no bytes.
#[cfg(feature = "bytes")]
unsafe impl SplitTo for bytes::BytesMut {
    fn split_to_bytes(&mut self, n: usize) -> bytes::Bytes {
        self.split_to(n).freeze()
    }
}

/// A buffer that a reader fills and that text is lent from: first text that has not been consumed,
/// then bytes that have not been looked at.
///
/// As long as they are few, they are in the buffer itself; memory from the heap is taken when they
/// fill that, and given back by [`shrink`](Self::shrink).
#[cfg(feature = "stream")]
#[derive(Clone)]
pub(crate) struct TextBuffer {
    memory: Memory,
    /// Invariant: `start <= text <= filled`, which is within `memory`, and the bytes from `start` to
    /// `text` are well-formed UTF-8.
    start: usize,
    text: usize,
    filled: usize,
}

#[cfg(feature = "stream")]
#[derive(Clone)]
enum Memory {
    Within([u8; TextBuffer::WITHIN]),
    Heap(Box<[u8]>),
}

#[cfg(feature = "stream")]
impl TextBuffer {
    /// Bytes that are kept in the buffer itself.
    pub(crate) const WITHIN: usize = 96;

    pub(crate) const fn new() -> Self {
        Self { memory: Memory::Within([0; Self::WITHIN]), start: 0, text: 0, filled: 0 }
    }

    /// The text that has not been consumed.
    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        let text = &self.memory.as_slice()[self.start..self.text];
        // SAFETY: the invariant of `start` and `text`. Where there is text, `accept` alone moves
        // `text`, behind bytes that are a `str`, and `start` is moved to boundaries only. These bytes
        // do not change: none before `filled` are lent to be written to, `room` puts an end to the
        // text before it moves any, and `shrink` moves them all.
        unsafe { core::str::from_utf8_unchecked(text) }
    }

    /// The bytes behind the text, which have not been looked at.
    #[inline]
    pub(crate) fn rest(&self) -> &[u8] {
        &self.memory.as_slice()[self.text..self.filled]
    }

    /// Consumes `len` bytes of the text.
    ///
    /// # Panics
    ///
    /// If that is not between two characters of it.
    #[inline]
    pub(crate) fn consume(&mut self, len: usize) {
        let text = self.as_str();
        assert!(text.is_char_boundary(len), "{len} is not a character boundary of {text:?}");
        self.start += len;
    }

    /// Consumes all the text.
    #[inline]
    pub(crate) fn take(&mut self) -> &str {
        let start = core::mem::replace(&mut self.start, self.text);
        let text = &self.memory.as_slice()[start..self.text];
        // SAFETY: as in `as_str`, where `start` was what it has just been here.
        unsafe { core::str::from_utf8_unchecked(text) }
    }

    /// Consumes the first character of the text.
    #[inline]
    pub(crate) fn next_char(&mut self) -> Option<char> {
        let mut chars = self.as_str().chars();
        let next = chars.next()?;
        self.start = self.text - chars.as_str().len();
        Some(next)
    }

    /// Makes text of what `scan` finds to be text at the front of the rest, and says how long it is.
    #[inline]
    pub(crate) fn accept(&mut self, scan: impl for<'a> FnOnce(&'a [u8]) -> &'a str) -> usize {
        let rest = self.rest();
        let text = scan(rest);
        let is_front = core::ptr::eq(text.as_ptr(), rest.as_ptr()) && text.len() <= rest.len();
        let len = if is_front { text.len() } else { 0 };
        // The bytes from `text` on are a `str`, which may be appended to another.
        self.text += len;
        len
    }

    /// Drops the first `len` bytes of the rest, and the text, of which there should be none.
    #[inline]
    pub(crate) fn pass(&mut self, len: usize) {
        debug_assert!(self.start == self.text);
        assert!(len <= self.rest().len());
        self.text += len;
        self.start = self.text;
    }

    /// Moves the rest to the front, and returns where a reader may put more: memory of `capacity`
    /// bytes at the most. Text that has not been consumed is dropped; there should be none.
    ///
    /// If what was read last filled the buffer, it is time for memory from the heap.
    #[inline]
    pub(crate) fn room(&mut self, capacity: usize) -> &mut [u8] {
        debug_assert!(self.start == self.text);
        if self.filled == Self::WITHIN && capacity > Self::WITHIN {
            self.grow(capacity);
        }
        let (from, len) = (self.text, self.filled - self.text);
        (self.start, self.text, self.filled) = (0, 0, len);
        let memory = match &mut self.memory {
            Memory::Within(bytes) => &mut bytes[..capacity.min(Self::WITHIN)],
            Memory::Heap(bytes) => bytes,
        };
        match memory.get(from..from + 4) {
            // Whether a character was cut cannot be foreseen: no branch, and no call, hangs on it.
            Some(&[a, b, c, d]) if len <= 4 => memory[..4].copy_from_slice(&[a, b, c, d]),
            _ => memory.copy_within(from..from + len, 0),
        }
        &mut memory[len..]
    }

    /// Takes memory from the heap in place of that in the buffer itself.
    #[cold]
    fn grow(&mut self, capacity: usize) {
        if let Memory::Within(within) = &self.memory {
            let mut heap = vec![0; capacity].into_boxed_slice();
            heap[..Self::WITHIN].copy_from_slice(within);
            self.memory = Memory::Heap(heap);
        }
    }

    /// Takes note that so many bytes have been put in the room.
    #[inline]
    pub(crate) fn fill(&mut self, len: usize) {
        self.filled += len; // more than there is room for would be found by the next slice
    }

    /// Gives back memory from the heap if what is left fits in the buffer itself.
    pub(crate) fn shrink(&mut self) {
        let left = self.start..self.filled;
        if let Memory::Heap(heap) = &self.memory
            && left.len() < Self::WITHIN
        {
            let mut within = [0; Self::WITHIN];
            within[..left.len()].copy_from_slice(&heap[left]);
            self.memory = Memory::Within(within);
            self.text -= self.start;
            self.filled -= self.start;
            self.start = 0;
        }
    }
}

#[cfg(feature = "stream")]
impl Memory {
    #[inline]
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Within(bytes) => bytes,
            Self::Heap(bytes) => bytes,
        }
    }
}

#[cfg(feature = "stream")]
impl core::fmt::Debug for TextBuffer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TextBuffer")
            .field("text", &self.as_str())
            .field("rest", &format_args!("{:02x?}", self.rest()))
            .finish_non_exhaustive()
    }
}
