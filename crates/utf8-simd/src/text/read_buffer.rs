//! The buffer of a reader that returns borrowed text.

use std::{convert::Infallible, fmt, mem};

use crate::text::front_len;

/// Panics if `len` is not a character boundary of `text`.
#[doc(hidden)]
#[inline]
pub fn assert_char_boundary(text: &str, len: usize) {
    assert!(
        text.is_char_boundary(len),
        "byte {len} is not a character boundary of the decoded text ({} bytes)",
        text.len()
    );
}

/// A buffer that a reader fills and text is borrowed from. It holds text that has not been consumed, then
/// bytes that have not been scanned.
///
/// A few bytes are stored inline. When they fill the inline memory, the buffer allocates on the heap;
/// [`shrink`](Self::shrink) frees that memory.
#[derive(Clone)]
pub struct ReadBuffer {
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
    /// The length of the inline memory.
    pub const WITHIN: usize = 96;

    /// Creates an empty buffer. Allocates nothing.
    pub const fn new() -> Self {
        Self { memory: Memory::Within([0; Self::WITHIN]), start: 0, text: 0, filled: 0 }
    }

    /// Creates a buffer that contains `bytes` as if they had been read. If they do not fit inline, it allocates
    /// `capacity` bytes, or more if there are more.
    pub fn holding(bytes: &[u8], capacity: usize) -> Self {
        let mut buffer = Self::new();
        if bytes.len() > Self::WITHIN {
            buffer.memory = Memory::Heap(vec![0; capacity.max(bytes.len())].into());
        }
        buffer.room(usize::MAX)[..bytes.len()].copy_from_slice(bytes);
        buffer.fill(bytes.len());
        buffer
    }

    /// Returns the text that has not been consumed.
    #[inline]
    pub fn as_str(&self) -> &str {
        let text = &self.memory.as_slice()[self.start..self.text];
        // SAFETY: the invariant of `start` and `text`. Only `accept` advances `text`, past bytes that are a
        // `str`; `start` moves to character boundaries only. These bytes do not change: no byte before `filled`
        // is borrowed mutably, `room` empties the text before it moves any byte, and `shrink` moves all.
        unsafe { str::from_utf8_unchecked(text) }
    }

    /// Whether there is text that has not been consumed.
    #[inline]
    pub fn has_text(&self) -> bool {
        self.start < self.text
    }

    /// Returns the bytes after the text, which have not been scanned.
    #[inline]
    pub fn rest(&self) -> &[u8] {
        &self.memory.as_slice()[self.text..self.filled]
    }

    /// Returns the rest, and the `len` bytes before it, which have been [passed](Self::pass) or consumed since the last
    /// [`room`](Self::room).
    ///
    /// # Panics
    ///
    /// If the memory does not have that many bytes before the rest.
    pub fn rest_after(&self, len: usize) -> &[u8] {
        &self.memory.as_slice()[self.text - len..self.filled]
    }

    /// Consumes `len` bytes of the text.
    ///
    /// # Panics
    ///
    /// If `len` is not a character boundary of the text.
    #[inline]
    pub fn consume(&mut self, len: usize) {
        assert_char_boundary(self.as_str(), len);
        self.start += len;
    }

    /// Consumes all the text.
    #[inline]
    pub fn take(&mut self) -> &str {
        let start = mem::replace(&mut self.start, self.text);
        let text = &self.memory.as_slice()[start..self.text];
        // SAFETY: this `start` is the one before the line above. By the invariant, the bytes from there to
        // `text` are well-formed UTF-8.
        unsafe { str::from_utf8_unchecked(text) }
    }

    /// Consumes the first character of the text.
    #[inline]
    pub fn next_char(&mut self) -> Option<char> {
        let mut chars = self.as_str().chars();
        let next = chars.next()?;
        self.start = self.text - chars.as_str().len();
        Some(next)
    }

    /// Appends to the text what `scan` finds at the start of the rest. Returns its length.
    #[inline(always)]
    pub fn accept(&mut self, scan: impl for<'a> FnOnce(&'a [u8]) -> &'a str) -> usize {
        self.try_accept(|rest| Ok::<_, Infallible>(scan(rest))).unwrap_or(0)
    }

    /// Like [`accept`](Self::accept), if `scan` may find something else than text, which is returned.
    #[inline(always)]
    pub fn try_accept<T>(
        &mut self,
        scan: impl for<'a> FnOnce(&'a [u8]) -> Result<&'a str, T>,
    ) -> Result<usize, T> {
        let rest = self.rest();
        let len = front_len(scan(rest)?, rest);
        // The bytes from `text` on are a `str`, so the text before them can be extended by them.
        self.text += len;
        Ok(len)
    }

    /// Drops the first `len` bytes of the rest.
    ///
    /// # Panics
    ///
    /// If the rest has fewer bytes, or, with debug assertions, if there is text that has not been consumed.
    #[inline]
    pub fn pass(&mut self, len: usize) {
        debug_assert!(self.start == self.text);
        assert!(len <= self.rest().len());
        self.text += len;
        self.start = self.text;
    }

    /// Moves the rest to the front, and returns the memory that a reader may fill. With the rest it has at most `capacity`
    /// bytes: at least 4 are needed, or an incomplete character can leave no room.
    ///
    /// Allocates `capacity` bytes on the heap if the last read filled the memory, and that is smaller.
    ///
    /// # Panics
    ///
    /// With debug assertions, if there is text that has not been consumed. Without, drops it.
    #[inline]
    pub fn room(&mut self, capacity: usize) -> &mut [u8] {
        debug_assert!(self.start == self.text);
        if self.filled >= Self::WITHIN
            && capacity > self.filled
            && self.filled == self.memory.as_slice().len()
        {
            self.grow(capacity);
        }
        let (from, len) = (self.text, self.filled - self.text);
        (self.start, self.text, self.filled) = (0, 0, len);
        let memory = match &mut self.memory {
            Memory::Within(bytes) => &mut bytes[..],
            Memory::Heap(bytes) => bytes,
        };
        // Whether a character is split is unpredictable: neither a branch nor a call depends on it.
        let few = memory.get(from..).and_then(|rest| rest.first_chunk::<4>().copied());
        match (few, memory.first_chunk_mut()) {
            (Some(few), Some(front)) if len <= 4 => *front = few,
            _ => memory.copy_within(from..from + len, 0),
        }
        // The memory exceeds `capacity` if that has been reduced.
        let room = &mut memory[len..];
        let most = room.len().min(capacity.saturating_sub(len));
        &mut room[..most]
    }

    /// Allocates `capacity` bytes on the heap now, if they do not fit inline and nothing is allocated: for
    /// readers whose first read is as large as the others.
    ///
    /// # Panics
    ///
    /// If `capacity` exceeds `isize::MAX`.
    #[inline]
    pub fn reserve(&mut self, capacity: usize) {
        if capacity > Self::WITHIN && matches!(self.memory, Memory::Within(_)) {
            self.grow(capacity);
        }
    }

    /// Allocates memory on the heap to replace the memory, which is smaller.
    #[cold]
    fn grow(&mut self, capacity: usize) {
        let mut heap = vec![0; capacity].into_boxed_slice();
        let memory = self.memory.as_slice();
        heap[..memory.len()].copy_from_slice(memory);
        self.memory = Memory::Heap(heap);
    }

    /// Records that a reader has filled `len` bytes of the room.
    ///
    /// # Panics
    ///
    /// If the memory has no room for them: the reader has returned a wrong number.
    #[inline]
    pub fn fill(&mut self, len: usize) {
        let room = self.memory.as_slice().len() - self.filled;
        if len > room {
            overfilled(len, room);
        }
        self.filled += len;
    }

    /// Frees the memory on the heap if the remaining bytes fit inline.
    pub fn shrink(&mut self) {
        let left = self.start..self.filled;
        if let Memory::Heap(heap) = &self.memory
            && left.len() <= Self::WITHIN
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

/// Out of line, so that the numbers stay in registers: rows `read/*/64`.
#[cold]
#[inline(never)]
fn overfilled(len: usize, room: usize) -> ! {
    panic!("a reader filled {len} bytes of {room}");
}

impl Default for ReadBuffer {
    fn default() -> Self {
        Self::new()
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
