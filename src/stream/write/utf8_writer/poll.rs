//! How does `Utf8Writer` take items, and write them out when polled?

use std::borrow::Cow;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytestring::ByteString;
use futures::Sink;
use tokio::io::AsyncWrite;

use super::{MIN_SHARED, State, Utf8Writer};
use crate::adaptor::write_text::write_zero;
use crate::stream::write::utf8_item::{Item, Utf8Item};

/// Methods for hand-written futures. `Sink` has methods of the same names for each type of item.
impl<W: AsyncWrite> Utf8Writer<W> {
    /// Waits until fewer bytes are buffered than the capacity.
    ///
    /// # Errors
    ///
    /// An error of the inner writer.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    /// use std::pin::pin;
    /// use futures::Sink;
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut writer = pin!(Utf8Writer::new(tokio::io::sink()));
    /// poll_fn(|cx| writer.as_mut().poll_ready(cx)).await?;
    /// writer.as_mut().start_send("text")?;
    /// poll_fn(|cx| writer.as_mut().poll_flush(cx)).await?;
    /// poll_fn(|cx| writer.as_mut().poll_close(cx)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state == State::Closed {
            return Poll::Ready(Err(closed()));
        }
        while self.outgoing.len() >= self.capacity {
            ready!(self.as_mut().poll_write_some(cx))?;
        }
        Poll::Ready(Ok(()))
    }

    /// The poll form of [`flush`](Self::flush).
    ///
    /// # Errors
    ///
    /// The same as [`flush`](Self::flush).
    ///
    /// # Examples
    ///
    /// See [`poll_ready`](Self::poll_ready).
    pub fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_write_all(cx))?;
        ready!(self.project().writer.poll_flush(cx))?;
        Poll::Ready(Ok(()))
    }

    /// The poll form of [`close`](Self::close).
    ///
    /// # Errors
    ///
    /// The same as [`close`](Self::close).
    ///
    /// # Examples
    ///
    /// See [`poll_ready`](Self::poll_ready).
    pub fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state == State::Open {
            let this = self.as_mut().project();
            this.text.finish(|bytes| this.outgoing.copy(bytes))?;
            ready!(self.as_mut().poll_write_all(cx))?;
            let this = self.project();
            ready!(this.writer.poll_shutdown(cx))?;
            *this.state = State::Closed;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_all(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.outgoing.len() > 0 {
            ready!(self.as_mut().poll_write_some(cx))?;
        }
        self.project().outgoing.release();
        Poll::Ready(Ok(()))
    }

    /// Writes some of the buffered bytes to the inner writer. There must be at least one.
    fn poll_write_some(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        let poll = if this.outgoing.is_copied() || !this.writer.is_write_vectored() {
            this.writer.poll_write(cx, this.outgoing.first())
        } else {
            let mut slices = [IoSlice::new(&[]); MAX_SLICES];
            let filled = this.outgoing.lend(&mut slices);
            this.writer.poll_write_vectored(cx, &slices[..filled])
        };
        let written = match ready!(poll) {
            Ok(0) => Err(write_zero()),
            result => result,
        };
        Poll::Ready(match written {
            Ok(written) => {
                this.outgoing.advance(written);
                Ok(())
            }
            Err(error) => {
                this.outgoing.forgive();
                Err(error)
            }
        })
    }

    /// Takes `item`, even if the buffer is full.
    pub(super) fn take(self: Pin<&mut Self>, item: Item<'_>) -> io::Result<()> {
        if self.state == State::Closed {
            return Err(closed());
        }
        // Units continue the previous units. Any other text that is not empty ends them.
        let ends_units = match &item {
            Item::Units(_) => false,
            Item::Char(_) => true,
            Item::Str(text) => !text.is_empty(),
            Item::Text(text) => !text.is_empty(),
        };
        let this = self.project();
        let outgoing = this.outgoing;
        let started = this.text.start(ends_units, |bytes| outgoing.copy(bytes));
        match item {
            Item::Char(c) => outgoing.copy(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Item::Str(text) => outgoing.copy(text.as_bytes()),
            Item::Text(text) => {
                let least = match this.writer.is_write_vectored() {
                    true => MIN_SHARED,
                    false => MIN_SHARED.max(*this.capacity),
                };
                match text.len() < least {
                    true => outgoing.copy(text.as_bytes()),
                    false => outgoing.share(text.into_bytes()),
                }
            }
            Item::Units(units) => {
                outgoing.reserve(units.len());
                this.text.push_utf16(units, |bytes| outgoing.copy(bytes))?;
            }
        }
        Ok(started?)
    }
}

/// Implements `Sink` for each type of item, with the methods of the same names.
macro_rules! sinks {
    ($($item:ty),+ $(,)?) => {$(
        impl<W: AsyncWrite> Sink<$item> for Utf8Writer<W> {
            type Error = io::Error;

            fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_ready(cx)
            }

            fn start_send(self: Pin<&mut Self>, mut item: $item) -> io::Result<()> {
                self.take(item.take())
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }

            fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_close(cx)
            }
        }
    )+};
}

sinks!(char, &str, &String, String, Cow<'_, str>, ByteString, &[u16], Vec<u16>);

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "`Utf8Writer` is closed")
}

const MAX_SLICES: usize = 64;
