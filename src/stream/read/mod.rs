mod byte_reader;
mod chunks;
mod content;
mod waiting;

pub use byte_reader::Utf8ByteReader;
pub use chunks::ReaderChunks;

use std::pin::Pin;
use std::task::{Context, Poll, ready};
#[cfg(feature = "codec")]
use std::{io, mem};

#[cfg(feature = "codec")]
use bytes::BytesMut;
use pin_project_lite::pin_project;
use tokio::io::AsyncRead;

use crate::adaptor::chunk::SILENT_CHUNKS;
use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::options::Utf8Options;
use crate::stream::ReadError;
use crate::stream::read::content::Content;
#[cfg(feature = "codec")]
use crate::unchecked::ReadBuffer;

pin_project! {
    /// Reads text from an `AsyncRead`, and lends it: the fast way from a socket to `&str`.
    ///
    /// What a read brings is validated where it stands and lent from there, so that nothing is copied
    /// and nothing allocated while data keep coming. What is not finished, three bytes at the most,
    /// waits in the buffer and is lent with what follows it. How the text is divided depends on the
    /// reads; the text does not.
    ///
    /// # Memory
    ///
    /// A `Utf8Reader` is 240 bytes larger than its reader, on a 64-bit machine. Up to 96 bytes are read
    /// into these; when a read has filled them, a buffer is taken for the next, of 8,192 bytes (8 KiB)
    /// if not [set](Self::with_capacity) otherwise. It is given back when the text has been consumed
    /// and the reader is pending, and so is that of repaired text: a quiet connection has none.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], the default, [`ReadError::Utf8`] for each ill-formed part, in its
    /// place: the text before it comes first, and what stands behind it comes next, at once. In every
    /// mode [`ReadError::Io`] where reading fails; the next call reads again. A read of no bytes is
    /// the end: the reader is not asked again.
    ///
    /// # Cancel safety
    ///
    /// No method loses anything when its future is dropped, but for
    /// [`collect_text`](Self::collect_text). A pending `Utf8Reader` has passed on the waker, or has
    /// used it already: after 32 reads in a row that yield no text, other tasks have their turn.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio::io::AsyncWriteExt;
    /// use utf8_codec::stream::{ReadError, Utf8Reader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ReadError> {
    /// let (mut peer, socket) = tokio::io::duplex(64);
    /// let mut reader = Utf8Reader::new(socket);
    ///
    /// peer.write_all(b"snowman: \xE2\x98").await?;
    /// assert_eq!(reader.next_str().await?, Some("snowman: "));
    /// peer.write_all(b"\x83.").await?;
    /// assert_eq!(reader.next_str().await?, Some("☃."));
    /// drop(peer);
    /// assert_eq!(reader.next_str().await?, None);
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    pub struct Utf8Reader<R> {
        #[pin]
        reader: R,
        content: Content,
        state: State,
        capacity: usize,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// What is in the buffer has not been looked at.
    Looking,
    /// What is in the buffer, three bytes at the most, may be the beginning of what comes.
    Reading,
    /// There is nothing to come. What is in the buffer is incomplete.
    Ending,
    /// All has been said.
    Ended,
}

/// A [`Utf8Reader`] taken apart: the stream goes on with `text`, then `bytes`, then `reader`.
///
/// # Examples
///
/// ```
/// use utf8_codec::stream::{ReadError, Utf8Reader};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ReadError> {
/// let mut reader = Utf8Reader::new(&b"200 ok\n\xE2\x82\xACuro\xFF\0 and more"[..]).with_capacity(15);
/// let text = reader.peek_str().await?.unwrap();
/// let line = text.find('\n').unwrap() + 1;
/// reader.consume(line);
///
/// let mut parts = reader.into_parts();
/// assert_eq!((&*parts.text, &*parts.bytes, parts.reader), ("€uro", &b"\xFF\0"[..], &b" and more"[..]));
/// assert!(parts.decoder.push(&parts.bytes).next().unwrap().is_err()); // it goes on there
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Utf8ReaderParts<R> {
    /// The reader.
    pub reader: R,
    /// Text that has been decoded and not been consumed.
    pub text: String,
    /// Bytes that have been read and not been decoded.
    pub bytes: Vec<u8>,
    /// The decoder, which is to be shown `bytes`, and then what the reader reads.
    pub decoder: Utf8Decoder,
}

impl<R> Utf8Reader<R> {
    /// Reads from `reader`, with the default options, in [`ErrorMode::Fatal`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new("żółw".as_bytes());
    /// assert_eq!(reader.next_str().await.unwrap(), Some("żółw"));
    /// # }
    /// ```
    pub fn new(reader: R) -> Self {
        Self { reader, content: Content::new(), state: State::Reading, capacity: CAPACITY }
    }

    /// Sets the size of the buffer that is taken when there is much to read, in bytes; of one that is
    /// less than 4, 4. At most so many are read at once. To be called before the first read.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new("żółw".as_bytes()).with_capacity(5); // C5 BC C3 B3 C5 82 77
    /// assert_eq!(reader.next_str().await.unwrap(), Some("żó"));
    /// assert_eq!(reader.next_str().await.unwrap(), Some("łw"));
    /// # }
    /// ```
    #[must_use]
    pub fn with_capacity(self, capacity: usize) -> Self {
        Self { capacity: capacity.max(4), ..self }
    }

    /// Sets how the stream begins and what it may contain. To be called before the first read: the
    /// decoder is made anew.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    /// use utf8_codec::{BomPolicy, Utf8Options};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    /// let mut reader = Utf8Reader::new("\u{FEFF}text".as_bytes()).with_options(options);
    /// assert_eq!(reader.next_str().await.unwrap(), Some("text"));
    /// # }
    /// ```
    #[must_use]
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self {
            content: Content { decoder: Utf8Decoder::new().with_options(options), ..self.content },
            ..self
        }
    }

    /// Sets what becomes of ill-formed parts. From a repair on, what a read has brought is copied, and
    /// lent in one piece: up to four times the bytes that were read ([`ErrorMode::Escape`]). May be
    /// called at any time; holds for what has not been decoded.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new(&b"caf\xE9!"[..]).with_error_mode(ErrorMode::Latin1);
    /// assert_eq!(reader.next_str().await.unwrap(), Some("caf"));
    /// assert_eq!(reader.next_str().await.unwrap(), Some("é!"));
    /// # }
    /// ```
    #[must_use]
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { content: Content { mode, ..self.content }, ..self }
    }

    /// Returns the text that has been decoded and not been consumed, none of it where only a read can
    /// tell what comes next.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new("one two".as_bytes());
    /// assert_eq!(reader.as_str(), "");
    /// reader.next_char().await.unwrap();
    /// assert_eq!(reader.as_str(), "ne two");
    /// # }
    /// ```
    pub fn as_str(&self) -> &str {
        self.content.as_str()
    }

    /// Returns the bytes that have been read and not been looked at; when the reader has been
    /// pending, the beginning of one sequence or of a signature, three bytes at the most.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new(&b"HELO\xFFbinary"[..]);
    /// reader.next_str().await.unwrap();
    /// assert_eq!(reader.rest(), b"\xFFbinary");
    /// # }
    /// ```
    pub fn rest(&self) -> &[u8] {
        self.content.buffer.rest()
    }

    /// Consumes the first `len` bytes of [`as_str`](Self::as_str), which is also what
    /// [`poll_fill_str`](Self::poll_fill_str) lends.
    ///
    /// # Panics
    ///
    /// If `len` is not between two characters of that text, at its start or at its end.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new("größe: 7".as_bytes());
    /// let name = reader.peek_str().await.unwrap().unwrap().find(':').unwrap();
    /// reader.consume(name);
    /// assert_eq!(reader.as_str(), ": 7");
    /// # }
    /// ```
    pub fn consume(&mut self, len: usize) {
        self.content.consume(len);
    }

    /// Returns the reader.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// assert_eq!(Utf8Reader::new(&b"bytes"[..]).get_ref(), b"bytes");
    /// ```
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the reader, to be changed. What is read from it here is missing in the text.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// let mut reader = Utf8Reader::new(&b"bytes"[..]);
    /// *reader.get_mut() = b"other bytes";
    /// assert_eq!(reader.into_parts().reader, b"other bytes");
    /// ```
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Takes it apart. Nothing is lost; for the sake of an owned text and owned bytes, what is unread
    /// is copied.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new(&b"ab\xE2\x82"[..]);
    /// assert_eq!(reader.next_char().await.unwrap(), Some('a'));
    /// let parts = reader.into_parts();
    /// assert_eq!((&*parts.text, &*parts.bytes), ("b", &b"\xE2\x82"[..]));
    /// # }
    /// ```
    pub fn into_parts(self) -> Utf8ReaderParts<R> {
        let text = self.as_str().to_owned();
        let bytes = self.rest().to_vec();
        Utf8ReaderParts { reader: self.reader, text, bytes, decoder: self.content.decoder }
    }

    /// Makes a reader of bytes that are well-formed text: for those who take an `AsyncRead` or an
    /// `AsyncBufRead`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio::io::AsyncReadExt;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let reader = Utf8Reader::new(&b"caf\xE9"[..]).with_error_mode(ErrorMode::Windows1252);
    /// let mut bytes = Vec::new();
    /// reader.into_byte_reader().read_to_end(&mut bytes).await?;
    /// assert_eq!(bytes, "café".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_byte_reader(self) -> Utf8ByteReader<R> {
        Utf8ByteReader::new(self)
    }

    /// Returns the decoder within, which knows the position in the stream, whether a signature was
    /// removed, and how many bytes were skipped. It holds nothing: see [`rest`](Self::rest).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new(&b"abc\xE2"[..]);
    /// reader.next_str().await.unwrap();
    /// assert_eq!((reader.decoder().position(), reader.rest()), (3, &b"\xE2"[..]));
    /// # }
    /// ```
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.content.decoder
    }

    /// Returns how many ill-formed parts (maximal subparts) and refused characters there were.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new(&b"\xFF.\xFF"[..]).with_error_mode(ErrorMode::Skip);
    /// assert_eq!(reader.collect_text(100).await.unwrap(), ".");
    /// assert_eq!(reader.error_count(), 2);
    /// # }
    /// ```
    pub fn error_count(&self) -> u64 {
        self.content.decoder.error_count()
    }

    /// Returns the first error of the stream, repaired or not.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new(&b"ab\xFF"[..]).with_error_mode(ErrorMode::Skip);
    /// assert_eq!(reader.collect_text(100).await.unwrap(), "ab");
    /// assert_eq!(reader.first_error().unwrap().valid_up_to(), 2);
    /// # }
    /// ```
    pub fn first_error(&self) -> Option<Utf8Error> {
        self.content.decoder.first_error()
    }

    /// Returns the offset in the stream of the text that is lent next; `None` where that need not be
    /// what was read, but may stand for it.
    pub(super) fn offset(&self) -> Option<u64> {
        let unread = self.as_str().len() as u64;
        (self.content.mode == ErrorMode::Fatal)
            .then(|| self.decoder().position().saturating_sub(unread))
    }

    /// Whether the reader has ended.
    #[cfg(feature = "codec")]
    pub(super) fn is_at_end(&self) -> bool {
        matches!(self.state, State::Ending | State::Ended)
    }

    /// Takes what is unread, and what is to decode it: from here on only [`poll_raw`](Self::poll_raw)
    /// is called.
    #[cfg(feature = "codec")]
    pub(super) fn take_unread(&mut self) -> (Vec<u8>, Utf8Decoder, ErrorMode) {
        let mut content = mem::replace(&mut self.content, Content::new());
        // Who gets the reader back finds it as it was, behind all that has been read.
        self.content.mode = content.mode;
        self.content.decoder = content.decoder.clone();
        self.content.go_behind(content.buffer.rest().len());
        let begun = content.take_back_repairs();
        let Content { buffer, mut decoder, mode, .. } = content;
        let text = buffer.as_str().as_bytes();
        // A repair may be longer than what it stands for.
        let unread = (begun.len() + text.len()) as u64;
        decoder.scanner.seek(decoder.position().saturating_sub(unread));
        ([begun.as_bytes(), text, buffer.rest()].concat(), decoder, mode)
    }

    /// Goes on with what others have left: `unread`, which a decoder has come to; nothing, if that is
    /// how it has ended.
    #[cfg(feature = "codec")]
    pub(super) fn go_on(
        self,
        unread: &[u8],
        decoder: Utf8Decoder,
        mode: ErrorMode,
        has_ended: bool,
    ) -> Self {
        let buffer = ReadBuffer::holding(unread, self.capacity);
        let content = Content { buffer, decoder, mode, ..Content::new() };
        let state = if has_ended { State::Ended } else { State::Looking };
        Self { content, state, ..self }
    }
}

impl<R: AsyncRead> Utf8Reader<R> {
    /// Polls for text, and lends what there is without taking it; no text at all is the end.
    ///
    /// Reads only if [`as_str`](Self::as_str) is empty: what is not
    /// [consumed](Self::consume) is lent again. Costs a read, and validating what it brings.
    ///
    /// # Errors
    ///
    /// As said [above](Self#errors). An error is told once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::Pin;
    /// use std::task::{Context, Poll};
    /// use futures::task::noop_waker;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// let waker = noop_waker();
    /// let mut cx = Context::from_waker(&waker);
    /// let mut reader = Utf8Reader::new("größe".as_bytes());
    /// let Poll::Ready(Ok("größe")) = Pin::new(&mut reader).poll_fill_str(&mut cx) else { panic!() };
    /// reader.consume("grö".len());
    /// let Poll::Ready(Ok("ße")) = Pin::new(&mut reader).poll_fill_str(&mut cx) else { panic!() };
    /// ```
    #[inline]
    pub fn poll_fill_str<'a>(
        mut self: Pin<&'a mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<&'a str, ReadError>> {
        ready!(self.as_mut().poll_fill(cx))?;
        Poll::Ready(Ok(self.project().content.as_str()))
    }

    pub(super) fn consume_all(self: Pin<&mut Self>) {
        self.project().content.take();
    }

    /// Sees to it that there is text, if it is not the end.
    #[inline]
    fn poll_fill(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), ReadError>> {
        let this = self.as_mut().project();
        if !this.content.as_str().is_empty() {
            return Poll::Ready(Ok(()));
        }
        if *this.state != State::Reading {
            return self.poll_more(cx, 0);
        }
        // The usual way: a read brings text, and perhaps the beginning of a character.
        match ready!(this.content.poll_read(this.reader, cx, *this.capacity))? {
            0 => *this.state = State::Ending,
            _ => match this.content.look_plainly() {
                Some(state) => {
                    *this.state = state;
                    return Poll::Ready(Ok(()));
                }
                None => *this.state = State::Looking,
            },
        }
        self.poll_more(cx, 1)
    }

    /// As [`poll_fill`](Self::poll_fill), in any state, after so many reads.
    #[inline(never)]
    fn poll_more(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut reads: usize,
    ) -> Poll<Result<(), ReadError>> {
        let mut this = self.project();
        loop {
            match this.state {
                State::Looking => {
                    if this.content.look()? {
                        return Poll::Ready(Ok(()));
                    }
                    *this.state = State::Reading;
                }
                State::Reading if reads == SILENT_CHUNKS => {
                    // Ready again and again, and nothing to show for it: others have their turn.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                State::Reading => {
                    let reader = this.reader.as_mut();
                    let read = ready!(this.content.poll_read(reader, cx, *this.capacity))?;
                    *this.state = if read > 0 { State::Looking } else { State::Ending };
                    reads += 1;
                }
                State::Ending => {
                    if this.content.end()? {
                        return Poll::Ready(Ok(()));
                    }
                    *this.state = State::Ended;
                }
                State::Ended => return Poll::Ready(Ok(())),
            }
        }
    }

    /// Reads what is not to be decoded here into `bytes`: how many, 0 at the end.
    #[cfg(feature = "codec")]
    pub(super) fn poll_raw(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        let read = ready!(this.content.poll_read(this.reader, cx, *this.capacity))?;
        let buffer = &mut this.content.buffer;
        bytes.extend_from_slice(buffer.rest());
        buffer.pass(read);
        this.content.go_behind(read);
        Poll::Ready(Ok(read))
    }
}

const CAPACITY: usize = 8 * 1024;
