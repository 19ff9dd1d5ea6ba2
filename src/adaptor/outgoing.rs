//! Which bytes does a writer write next? Bytes that were copied into a buffer, and bytes that are shared with their owners.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};

/// A queue of bytes: some copied into a buffer, some shared with their owners.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    /// Invariant: none of them is empty.
    pieces: VecDeque<Bytes>,
    /// Copied bytes after the pieces.
    copied: BytesMut,
    len: usize,
}

impl Outgoing {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn copy(&mut self, bytes: &[u8]) {
        if self.copied.capacity() - self.copied.len() < bytes.len() {
            // Reserves more than a few bytes at a time.
            self.copied.reserve(bytes.len().max(MIN_RESERVED));
        }
        self.copied.extend_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Reserves room for `bytes` more bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.copied.reserve(bytes);
    }

    pub(crate) fn share(&mut self, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        self.len += bytes.len();
        if !self.copied.is_empty() {
            self.pieces.push_back(self.copied.split().freeze());
        }
        self.pieces.push_back(bytes);
    }

    /// Returns the first piece of contiguous bytes. It is empty only if the queue is.
    pub(crate) fn first(&self) -> &[u8] {
        self.pieces.front().map_or(&self.copied, |piece| piece)
    }

    /// Returns whether there is at most one piece, of copied bytes.
    pub(crate) fn is_copied(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Fills `slices` with the first pieces, none of them empty. Returns how many were filled.
    pub(crate) fn fill_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let last = Some(&self.copied[..]).filter(|copied| !copied.is_empty());
        let pieces = self.pieces.iter().map(|piece| &piece[..]).chain(last);
        let mut filled = 0;
        for (slice, piece) in slices.iter_mut().zip(pieces) {
            *slice = IoSlice::new(piece);
            filled += 1;
        }
        filled
    }

    /// Removes the first `n` bytes, or all if there are fewer.
    pub(crate) fn advance(&mut self, n: usize) {
        let mut left = n.min(self.len);
        self.len -= left;
        while let Some(front) = self.pieces.front_mut() {
            if left < front.len() {
                front.advance(left);
                return;
            }
            left -= front.len();
            self.pieces.pop_front();
        }
        self.copied.advance(left);
    }

    /// Frees the memory that the copied bytes do not need.
    pub(crate) fn shrink(&mut self) {
        self.copied = BytesMut::from(&self.copied[..]);
    }

    /// Returns everything in one piece, copied unless it is contiguous.
    pub(crate) fn into_bytes(mut self) -> Bytes {
        if self.pieces.is_empty() {
            return self.copied.freeze();
        }
        if self.first().len() == self.len {
            return self.pieces.pop_front().unwrap_or_default();
        }
        let mut all = BytesMut::with_capacity(self.len);
        self.pieces.iter().for_each(|piece| all.extend_from_slice(piece));
        all.extend_from_slice(&self.copied);
        all.freeze()
    }
}

/// The minimum number of bytes to reserve.
const MIN_RESERVED: usize = 256;
