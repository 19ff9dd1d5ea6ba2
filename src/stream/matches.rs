use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use bytestring::ByteString;
use futures::Stream;
use futures::stream::FusedStream;
use pin_project_lite::pin_project;

use crate::adaptor::cooperate::{SILENT_CHUNKS, give_way};
use crate::search::finder::TextFinder;
use crate::stream::{StreamError, Utf8Stream};

pin_project! {
    /// The places of a text in a stream: what [`Utf8Stream::matches`] makes.
    ///
    /// An item is the offset of a match's first byte, as soon as its last has come. In
    /// [`ErrorMode::Fatal`](crate::ErrorMode::Fatal) it is the offset in the stream of bytes; nothing
    /// matches across what is ill-formed. In the lossy modes it is the offset in the repaired text,
    /// behind a signature and skipped bytes, if they were removed.
    ///
    /// Keeps what is left of one piece of text.
    ///
    /// # Errors
    ///
    /// Those of the [`Utf8Stream`], in their places; each is an item, and the search goes on.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()` loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use utf8_codec::search::TextFinder;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"5 \xE2\x82"[..], b"\xAC or 6 \xE2", b"\x82\xAC"].map(Ok::<_, std::io::Error>);
    /// let euros = stream::iter(chunks).utf8().matches(TextFinder::new("€").unwrap());
    /// assert_eq!(euros.try_collect::<Vec<_>>().await.unwrap(), [2, 11]);
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct TextMatches<S> {
        #[pin]
        texts: Utf8Stream<S>,
        finder: TextFinder,
        piece: ByteString,
        // So much of the piece has been looked at.
        seen: usize,
        // So many of the bytes that were removed from the start have been counted.
        removed: usize,
    }
}

impl<S> TextMatches<S> {
    pub(super) fn new(texts: Utf8Stream<S>, mut finder: TextFinder) -> Self {
        finder.reset();
        let decoder = texts.decoder();
        finder.skip(decoder.position() - decoder.incomplete().len() as u64);
        let removed = decoder.removed();
        Self { texts, finder, piece: ByteString::new(), seen: 0, removed }
    }

    /// Returns the stream of text within.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::search::TextFinder;
    /// use utf8_codec::stream::Utf8Stream;
    ///
    /// let matches = Utf8Stream::from_reader(&b"text"[..]).matches(TextFinder::new("x").unwrap());
    /// assert_eq!(matches.get_ref().decoder().position(), 0);
    /// ```
    pub fn get_ref(&self) -> &Utf8Stream<S> {
        &self.texts
    }
}

impl<S, B, E> Stream for TextMatches<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    type Item = Result<u64, StreamError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        for _ in 0..SILENT_CHUNKS {
            if *this.seen < this.piece.len() {
                let (place, used) = this.finder.step(&this.piece[*this.seen..]);
                *this.seen += used;
                if let Some(place) = place {
                    return Poll::Ready(Some(Ok(place)));
                }
            }
            let next = ready!(this.texts.as_mut().poll_next(cx));
            let removed = this.texts.decoder().removed();
            if removed > *this.removed {
                this.finder.skip((removed - *this.removed) as u64);
                *this.removed = removed;
            }
            match next {
                Some(Ok(piece)) => (*this.piece, *this.seen) = (piece, 0),
                Some(Err(error)) => {
                    if let StreamError::Utf8(error) = &error {
                        this.finder.skip(error.bytes().len() as u64);
                    }
                    return Poll::Ready(Some(Err(error)));
                }
                None => return Poll::Ready(None),
            }
        }
        give_way(cx)
    }
}

impl<S, B, E> FusedStream for TextMatches<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    fn is_terminated(&self) -> bool {
        self.texts.is_terminated()
    }
}
