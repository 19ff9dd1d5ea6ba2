//! How do text, `char`s and UTF-16 units reach an `AsyncWrite`?

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::io::IoSlice;
use std::mem;

use bytes::{Buf, Bytes, BytesMut};
use bytestring::ByteString;
use pin_project_lite::pin_project;

use crate::adaptor::CAPACITY;
use crate::adaptor::write_text::{Unwritten, WriteText};
use crate::decoder::encoder::Utf8Encoder;
use crate::decoder::mode::ErrorMode;
use crate::utf16::Utf16Decoder;

pin_project! {
    /// Writes text, `char`s and UTF-16 units to an `AsyncWrite`, as UTF-8.
    ///
    /// It writes into a buffer. When the buffer is full, the next call waits until there is room.
    /// [`flush`](Self::flush) writes everything that is buffered, and [`close`](Self::close) ends
    /// the stream. It does not implement `AsyncWrite`, because arbitrary bytes need not be text. It
    /// is a `Sink` of `char`, of text (`&str`, `&String`, `String`, `Cow<str>`, `ByteString`) and
    /// of UTF-16 units (`&[u16]`, `Vec<u16>`), in any mix.
    ///
    /// A `ByteString` or `String` of 256 bytes or more is not copied: its bytes are written from
    /// where they are, in order with everything else, up to 64 slices in one call. If the inner
    /// writer does not support vectored writes (`is_write_vectored`), texts shorter than the
    /// capacity are copied too, so that fewer calls are needed. Everything else is copied once.
    ///
    /// A trailing high surrogate is held until the next unit arrives; `flush` keeps it. `close` and
    /// any other text that is not empty turn it into an unpaired surrogate. The [`ErrorMode`] decides
    /// what replaces an unpaired surrogate.
    ///
    /// **Dropping it writes nothing**: call `close` or `flush`. In debug builds, dropping it with
    /// unwritten bytes writes one line to standard error, at most once per process, unless the
    /// inner writer has failed or the thread is panicking. It does not panic: a task that is
    /// cancelled drops its writer too. [`unwritten_len`](Self::unwritten_len) returns the number of
    /// unwritten bytes.
    ///
    /// # Memory
    ///
    /// It is 144 bytes larger than the inner writer, on a 64-bit machine. It buffers at most its
    /// capacity, 8,192 bytes (8 KiB) unless set otherwise, plus the last item, which it takes
    /// whole. A `ByteString` that is not copied keeps all of its memory alive until it is written.
    /// To write parts of large reads to a peer that may be slow, use
    /// [`write_str`](Self::write_str), which copies. After a flush it holds no heap memory.
    ///
    /// # Errors
    ///
    /// An error of the inner writer, or [`WriteZero`](std::io::ErrorKind::WriteZero) if it accepts
    /// no bytes. Nothing is lost. The call has not taken its text, and you can repeat it.
    /// [`Interrupted`](std::io::ErrorKind::Interrupted) is not an error: the inner call is repeated.
    ///
    /// In [`ErrorMode::Fatal`], the default, an error for the first unpaired surrogate that the call
    /// found. Its inner error ([`get_ref`](std::io::Error::get_ref)) is a [`Utf16Error`]. Lone
    /// surrogates are skipped and everything else has been taken, so do not repeat that call.
    ///
    /// After `close`, [`BrokenPipe`](std::io::ErrorKind::BrokenPipe).
    ///
    /// # Cancel safety
    ///
    /// Writes are atomic: a future that is dropped before it is ready, for example by
    /// `tokio::select!`, has taken none of its text. Text that was taken earlier is written by the
    /// next call that waits.
    ///
    /// [`Utf16Error`]: crate::utf16::Utf16Error
    ///
    /// # Examples
    ///
    /// A surrogate pair split across calls, between texts:
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.write_str("waves: ").await?;
    /// writer.write_utf16(&[0xD83D]).await?;
    /// writer.write_utf16(&[0xDC4B]).await?;
    /// writer.write_char('!').await?;
    /// writer.close().await?;
    /// assert_eq!(writer.into_inner(), "waves: 👋!".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// As a sink of items of several types:
    ///
    /// ```
    /// use futures::SinkExt;
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.feed("one ").await?;
    /// writer.feed(String::from("two ")).await?;
    /// writer.feed('3').await?;
    /// writer.feed(vec![0xD83D]).await?; // a high surrogate
    /// writer.send(&[0xDC4B][..]).await?; // its low surrogate
    /// assert_eq!(writer.into_inner(), "one two 3👋".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// As the sink of a stream of text:
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// stream::iter(["größer, ", "höher, ", "weiter"]).map(Ok).forward(&mut writer).await?;
    /// assert_eq!(writer.into_inner(), "größer, höher, weiter".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "writers do nothing unless written to"]
    pub struct Utf8Writer<W> {
        #[pin]
        pub(super) writer: W,
        pub(super) outgoing: Outgoing,
        pub(super) capacity: usize,
        pub(super) text: WriteText,
        pub(super) state: WriteState,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteState {
    Open,
    /// The inner writer has been shut down.
    Closed,
}

impl<W> Utf8Writer<W> {
    /// Writes to `writer`, without a BOM, in [`ErrorMode::Fatal`], with a capacity of 8,192 bytes
    /// (8 KiB).
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            outgoing: Outgoing::default(),
            capacity: CAPACITY,
            text: WriteText::new(),
            state: WriteState::Open,
        }
    }

    /// Sets the number of bytes, at least 1, that are buffered before a write waits. Nothing is
    /// allocated in advance.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::FutureExt;
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// let (_peer, socket) = tokio::io::duplex(1);
    /// let mut writer = Utf8Writer::new(socket).with_capacity(3);
    /// assert!(writer.write_str("abc").now_or_never().is_some()); // held
    /// assert!(writer.write_str("d").now_or_never().is_some()); // "a" has been written
    /// assert!(writer.write_str("e").now_or_never().is_none()); // waits for room
    /// ```
    pub fn with_capacity(self, capacity: usize) -> Self {
        Self { capacity: capacity.max(1), ..self }
    }

    /// Sets the encoder, which determines whether a BOM is written.
    ///
    /// The BOM is written before the first text, even if that is empty. If there is no text before
    /// `close`, no BOM is written.
    pub fn with_encoder(self, encoder: Utf8Encoder) -> Self {
        Self { text: self.text.with_encoder(encoder), ..self }
    }

    /// Sets what replaces unpaired surrogates.
    pub fn with_surrogate_mode(self, mode: ErrorMode) -> Self {
        Self { text: self.text.with_surrogate_mode(mode), ..self }
    }

    /// Returns the number of buffered bytes.
    pub fn unwritten_len(&self) -> usize {
        self.outgoing.len()
    }

    /// Returns the inner UTF-16 decoder, for the number of units, the held surrogate, and the
    /// number of unpaired surrogates.
    pub fn utf16(&self) -> &Utf16Decoder {
        self.text.utf16()
    }

    /// Returns the inner writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Returns the inner writer mutably. Bytes that you write to it precede the buffered bytes,
    /// which may start in the middle of a character: flush first.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Consumes the adaptor and returns the inner writer. Buffered bytes are lost (see
    /// [`unwritten_len`](Self::unwritten_len)), and so is a held surrogate.
    /// [`into_parts`](Self::into_parts) returns the bytes.
    pub fn into_inner(mut self) -> W {
        self.outgoing.forgive();
        self.writer
    }

    /// Consumes the adaptor and returns the inner writer and the bytes that have not been written.
    ///
    /// The bytes start where the writer stopped, perhaps within a character, and end between two
    /// characters. They are copied unless they are contiguous. A held surrogate is lost; see
    /// [`utf16`](Self::utf16).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.write_str("written").await?;
    /// writer.flush().await?;
    /// writer.write_str("€").await?;
    ///
    /// let (writer, unwritten) = writer.into_parts();
    /// assert_eq!((&*writer, unwritten), (&b"written"[..], "€".into()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_parts(self) -> (W, Bytes) {
        (self.writer, self.outgoing.into_bytes())
    }
}

/// Shows the number of buffered bytes, not the bytes.
impl<W: fmt::Debug> fmt::Debug for Utf8Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Utf8Writer")
            .field("writer", &self.writer)
            .field("unwritten_len", &self.outgoing.len())
            .field("capacity", &self.capacity)
            .field("text", &self.text)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// An item that a [`Utf8Writer`](super::Utf8Writer) accepts: one of the item types of its `Sink`s.
pub(super) trait Utf8Item {
    /// Returns the content of the item. Owned content is moved out.
    fn take(&mut self) -> WriteItem<'_>;
}

#[derive(Clone, Debug)]
pub(super) enum WriteItem<'a> {
    Char(char),
    Str(&'a str),
    Text(ByteString),
    Units(&'a [u16]),
}

impl Utf8Item for char {
    fn take(&mut self) -> WriteItem<'_> {
        WriteItem::Char(*self)
    }
}

impl Utf8Item for &str {
    fn take(&mut self) -> WriteItem<'_> {
        WriteItem::Str(self)
    }
}

impl Utf8Item for &String {
    fn take(&mut self) -> WriteItem<'_> {
        WriteItem::Str(self)
    }
}

impl Utf8Item for String {
    fn take(&mut self) -> WriteItem<'_> {
        // A short text is copied in any case.
        match self.len() < MIN_SHARED {
            true => WriteItem::Str(self),
            false => WriteItem::Text(mem::take(self).into()),
        }
    }
}

impl Utf8Item for Cow<'_, str> {
    fn take(&mut self) -> WriteItem<'_> {
        match self {
            Self::Borrowed(text) => text.take(),
            Self::Owned(text) => text.take(),
        }
    }
}

impl Utf8Item for ByteString {
    fn take(&mut self) -> WriteItem<'_> {
        WriteItem::Text(mem::take(self))
    }
}

impl Utf8Item for &[u16] {
    fn take(&mut self) -> WriteItem<'_> {
        WriteItem::Units(self)
    }
}

impl Utf8Item for Vec<u16> {
    fn take(&mut self) -> WriteItem<'_> {
        WriteItem::Units(self)
    }
}

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

    /// Returns the first piece of contiguous bytes. It is empty only if the queue is.
    pub(super) fn first(&self) -> &[u8] {
        match self.shared.front() {
            None => &self.copied,
            Some(Shared { copied_before: 0, bytes }) => bytes,
            Some(Shared { copied_before, .. }) => &self.copied[..*copied_before],
        }
    }

    /// Returns whether everything is copied, so that there is at most one piece.
    pub(super) fn is_copied(&self) -> bool {
        self.shared.is_empty()
    }

    /// Fills `slices` with the first pieces, none of them empty. Returns how many were filled.
    ///
    /// A plain loop: with chained iterators, the rows `write/mixed/1460` and `8192` take a fifth more instructions.
    pub(super) fn lend<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let (mut copied, mut lent) = (&self.copied[..], 0);
        for Shared { copied_before, bytes } in &self.shared {
            let before;
            (before, copied) = copied.split_at(*copied_before);
            for piece in [before, bytes] {
                if piece.is_empty() {
                    continue;
                }
                let Some(slice) = slices.get_mut(lent) else { return lent };
                *slice = IoSlice::new(piece);
                lent += 1;
            }
        }
        if let (false, Some(slice)) = (copied.is_empty(), slices.get_mut(lent)) {
            *slice = IoSlice::new(copied);
            lent += 1;
        }
        lent
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
            if left < front.bytes.len() {
                front.bytes.advance(left);
                return;
            }
            left -= front.bytes.len();
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
            Some(_) => {
                let mut all = BytesMut::with_capacity(self.len);
                while self.len > 0 {
                    all.extend_from_slice(self.first());
                    self.advance(self.first().len());
                }
                all.freeze()
            }
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

/// Shorter texts are copied, which is faster than writing them as slices of their own.
pub(super) const MIN_SHARED: usize = 256;
