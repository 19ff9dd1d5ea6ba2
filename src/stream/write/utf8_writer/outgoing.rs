//! How are copied and shared bytes queued for writing, in order?

use std::collections::VecDeque;
use std::io::IoSlice;
use std::mem;

use bytes::{Buf, Bytes, BytesMut};

use crate::adaptor::unwritten::Unwritten;

/// A queue of bytes: some copied into one buffer, some shared with their owners.
#[derive(Default)]
pub(super) struct Outgoing {
    /// The copied bytes, without the shared bytes between them.
    copied: BytesMut,
    shared: VecDeque<Shared>,
    /// The number of copied bytes after the last shared bytes.
    tail: usize,
    len: usize,
    unwritten: Unwritten,
}

struct Shared {
    /// The number of copied bytes between these and the previous shared bytes.
    copied_before: usize,
    /// Invariant: not empty.
    bytes: Bytes,
}

impl Outgoing {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn copy(&mut self, bytes: &[u8]) {
        if self.copied.capacity() - self.copied.len() < bytes.len() {
            // Reserves more than a few bytes at a time.
            self.copied.reserve(bytes.len().max(ROOM));
        }
        self.copied.extend_from_slice(bytes);
        self.tail += bytes.len();
        self.len += bytes.len();
    }

    /// Reserves room for `bytes` more bytes.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.copied.reserve(bytes);
    }

    pub(super) fn share(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.len += bytes.len();
            self.shared.push_back(Shared { copied_before: mem::take(&mut self.tail), bytes });
        }
    }

    /// Returns the bytes in order, in contiguous pieces. None is empty.
    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let (mut before, tail) = self.copied.split_at(self.copied.len() - self.tail);
        let shared = self.shared.iter().flat_map(move |Shared { copied_before, bytes }| {
            let (copied, rest) = before.split_at(*copied_before);
            before = rest;
            [copied, bytes]
        });
        shared.chain([tail]).filter(|piece| !piece.is_empty())
    }

    /// Returns the first piece. It is empty only if there is none.
    pub(super) fn first(&self) -> &[u8] {
        self.pieces().next().unwrap_or_default()
    }

    /// Returns whether everything is copied, so that there is at most one piece.
    pub(super) fn is_copied(&self) -> bool {
        self.shared.is_empty()
    }

    /// Fills `slices` with the first pieces. Returns how many were filled.
    pub(super) fn lend<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let lent = slices.iter_mut().zip(self.pieces());
        lent.map(|(slice, piece)| *slice = IoSlice::new(piece)).count()
    }

    /// Removes the first `n` bytes, or all if there are fewer.
    pub(super) fn advance(&mut self, n: usize) {
        let n = n.min(self.len);
        self.len -= n;
        let mut left = n;
        while let Some(front) = self.shared.front_mut() {
            let copied = left.min(front.copied_before);
            self.copied.advance(copied);
            front.copied_before -= copied;
            left -= copied;
            let shared = left.min(front.bytes.len());
            front.bytes.advance(shared);
            left -= shared;
            if !front.bytes.is_empty() {
                return;
            }
            self.shared.pop_front();
        }
        self.copied.advance(left);
        self.tail -= left;
    }

    /// Does not report bytes that are dropped unwritten.
    pub(super) fn forgive(&mut self) {
        self.unwritten.forgive();
    }

    /// Frees the memory if the queue is empty.
    pub(super) fn release(&mut self) {
        if self.len == 0 {
            *self = Self::default();
        }
    }

    /// Returns everything in one piece, copied unless it is contiguous.
    pub(super) fn into_bytes(mut self) -> Bytes {
        self.forgive();
        match self.shared.front_mut() {
            None => mem::take(&mut self.copied).freeze(),
            Some(Shared { bytes, .. }) if bytes.len() == self.len => mem::take(bytes),
            Some(_) => self.pieces().collect::<Vec<_>>().concat().into(),
        }
    }
}

#[cfg(debug_assertions)]
impl Drop for Outgoing {
    fn drop(&mut self) {
        self.unwritten.drop_with(self.len, "stream::Utf8Writer");
    }
}

/// The minimum number of bytes to reserve.
const ROOM: usize = 256;
