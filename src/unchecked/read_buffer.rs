//! The buffer of a reader that lends text.

use std::{fmt, mem, ptr};

/// A buffer that a reader fills and that text is lent from: first text that has not been consumed,
/// then bytes that have not been looked at.
///
/// As long as they are few, they are in the buffer itself; memory from the heap is taken when they
/// fill that, and given back by [`shrink`](Self::shrink).
#[derive(Clone)]
pub(crate) struct ReadBuffer {
    memory: Memory,
    /// Invariant: `start <= text <= filled`, which is within `memory`, and the bytes from `start` to
    /// `text` are well-formed UTF-8.
    start: usize,
    text: usize,
    filled: usize,
}

#[derive(Clone)]
enum Memory {
    Within([u8; ReadBuffer::WITHIN]),
    Heap(Box<[u8]>),
}

impl ReadBuffer {
    /// Bytes that are kept in the buffer itself.
    pub(crate) const WITHIN: usize = 96;

    pub(crate) const fn new() -> Self {
        Self { memory: Memory::Within([0; Self::WITHIN]), start: 0, text: 0, filled: 0 }
    }

    /// A buffer in which these bytes have been read, with room for `capacity` bytes, if it is on the
    /// heap.
    pub(crate) fn holding(bytes: &[u8], capacity: usize) -> Self {
        let mut buffer = Self::new();
        if bytes.len() > Self::WITHIN {
            buffer.memory = Memory::Heap(vec![0; capacity.max(bytes.len())].into());
        }
        buffer.room(usize::MAX)[..bytes.len()].copy_from_slice(bytes);
        buffer.fill(bytes.len());
        buffer
    }

    /// The text that has not been consumed.
    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        let text = &self.memory.as_slice()[self.start..self.text];
        // SAFETY: the invariant of `start` and `text`. Where there is text, `accept` alone moves
        // `text`, after bytes that are a `str`, and `start` is moved to boundaries only. These bytes
        // do not change: none before `filled` are lent to be written to, `room` puts an end to the
        // text before it moves any, and `shrink` moves them all.
        unsafe { str::from_utf8_unchecked(text) }
    }

    /// The bytes after the text, which have not been looked at.
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
        let start = mem::replace(&mut self.start, self.text);
        let text = &self.memory.as_slice()[start..self.text];
        // SAFETY: until the line above `start` was what it is here, and by the invariant the bytes from
        // there to `text` are well-formed UTF-8.
        unsafe { str::from_utf8_unchecked(text) }
    }

    /// Consumes the first character of the text.
    #[inline]
    pub(crate) fn next_char(&mut self) -> Option<char> {
        let mut chars = self.as_str().chars();
        let next = chars.next()?;
        self.start = self.text - chars.as_str().len();
        Some(next)
    }

    /// Makes text of what `scan` finds to be text at the start of the rest. Returns its length.
    #[inline]
    pub(crate) fn accept(&mut self, scan: impl for<'a> FnOnce(&'a [u8]) -> &'a str) -> usize {
        let rest = self.rest();
        let text = scan(rest);
        let is_front = ptr::eq(text.as_ptr(), rest.as_ptr()) && text.len() <= rest.len();
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

    /// Has the rest begin `len` bytes earlier: with bytes that have been passed since the last
    /// [`room`](Self::room).
    pub(crate) fn take_back(&mut self, len: usize) {
        debug_assert!(self.start == self.text);
        self.text -= len;
        self.start = self.text;
    }

    /// Moves the rest to the front, and returns where a reader may put more: memory of at most
    /// `capacity` bytes. Text that has not been consumed is dropped; there should be none.
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
            Memory::Within(bytes) => &mut bytes[..],
            Memory::Heap(bytes) => bytes,
        };
        match memory.get(from..from + 4) {
            // Whether a character was cut cannot be foreseen: no branch, and no call, hangs on it.
            Some(&[a, b, c, d]) if len <= 4 => memory[..4].copy_from_slice(&[a, b, c, d]),
            _ => memory.copy_within(from..from + len, 0),
        }
        // (The memory may be more than the capacity, if that has been made less.)
        let room = &mut memory[len..];
        let most = room.len().min(capacity.saturating_sub(len));
        &mut room[..most]
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

    /// Notes that `len` bytes have been put in the room.
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

impl Memory {
    #[inline]
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Within(bytes) => bytes,
            Self::Heap(bytes) => bytes,
        }
    }
}

impl fmt::Debug for ReadBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadBuffer")
            .field("text", &self.as_str())
            .field("rest", &format_args!("{:02x?}", self.rest()))
            .finish_non_exhaustive()
    }
}
