use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use futures::Stream;
use futures::stream::FusedStream;
use pin_project_lite::pin_project;
use tokio::io::AsyncRead;
use tokio_util::codec::Decoder;

use crate::adaptor::cooperate::{SILENT_CHUNKS, give_way};
use crate::codec::Utf8LinesCodec;
use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::options::Utf8Options;
use crate::lines::{Delimiter, Line, LineError};
use crate::stream::poll::State;
use crate::stream::{Texts, Utf8Reader, Utf8Stream};

pin_project! {
    /// Lines of a stream of chunks or of a reader, each with its number and place: what
    /// [`Utf8LinesCodec`] makes of a `FramedRead`, with the same settings.
    ///
    /// The source is any `Stream` of `Result<B, E>` with `B: Into<Bytes>`, a [`Utf8Reader`], or
    /// a stream of text. An item is `Result<Result<Line, LineError>, E>`: a line, or a line that was refused, or an error of
    /// the source, and the stream goes on behind each of them. In [`ErrorMode::Fatal`], the default,
    /// a line's first trouble is told as soon as it is known; the next line comes as if nothing had
    /// been.
    ///
    /// Holds the line that is not finished: 65,536 bytes (64 KiB) of it
    /// ([`Utf8LinesCodec::DEFAULT_MAX_LENGTH`]) if not set otherwise, besides the delimiter and one
    /// chunk; over a `Utf8Reader` no memory from the heap while that is pending between two lines. It is
    /// at most 200 bytes larger than its source. An
    /// empty chunk changes nothing. The end of the source ends the last line; then comes `None`, and
    /// nothing else ever after.
    ///
    /// Settings are for before the first poll.
    ///
    /// # Errors
    ///
    /// Those of the source, as items in their places; lines that are refused are items within.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()` loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let chunks = [&b"GET /caf\xC3"[..], b"\xA9\r\nGET /caf\xE9\r\nGET", b" /tea"];
    /// let mut lines = stream::iter(chunks.map(Ok::<_, std::io::Error>)).utf8().lines();
    /// let mut seen = Vec::new();
    /// while let Some(line) = lines.try_next().await? {
    ///     seen.push(match line {
    ///         Ok(line) => line.to_string(),
    ///         Err(error) => error.to_string(),
    ///     });
    /// }
    /// assert_eq!(seen, ["GET /café", "line 2, from byte 12 on, is not acceptable utf-8", "GET /tea"]);
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct Utf8Lines<S> {
        #[pin]
        source: S,
        machine: Machine,
    }
}

#[derive(Clone, Debug)]
struct Machine {
    codec: Utf8LinesCodec,
    /// What has not been made lines of.
    buffer: BytesMut,
    state: State,
}

impl<S> Utf8Lines<S> {
    /// Makes lines of the chunks of `source`, with the default settings: ended by LF or CR LF, of
    /// 64 KiB at the most, in [`ErrorMode::Fatal`]. For those of a reader, see
    /// [`Utf8Reader::into_lines`].
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8Lines;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = stream::iter([Ok::<_, std::io::Error>("fir"), Ok("st\nsecond")]);
    /// let mut lines = Utf8Lines::new(chunks);
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "first");
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "second");
    /// # }
    /// ```
    pub fn new(source: S) -> Self {
        let (codec, buffer) = (Utf8LinesCodec::new(), BytesMut::new());
        Self { source, machine: Machine { codec, buffer, state: State::Open } }
    }

    /// Goes on with what others have left: `unread`, which a decoder has come to.
    fn going_on(source: S, unread: BytesMut, decoder: Utf8Decoder, mode: ErrorMode) -> Self {
        let codec = Utf8LinesCodec::new().with_decoder(decoder).with_error_mode(mode);
        Self { source, machine: Machine { codec, buffer: unread, state: State::Open } }
    }

    /// Sets how the stream begins and what it may contain.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    /// use utf8_codec::{BomPolicy, Utf8Options};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    /// let chunks = stream::iter([Ok::<_, std::io::Error>("\u{FEFF}line\n")]);
    /// let mut lines = chunks.utf8().lines().with_options(options);
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "line");
    /// # }
    /// ```
    pub fn with_options(self, options: Utf8Options) -> Self {
        self.with(|codec| codec.with_options(options))
    }

    /// Sets what becomes of ill-formed parts.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = stream::iter([Ok::<_, std::io::Error>(&b"na\xEFve\n"[..])]);
    /// let mut lines = chunks.utf8().lines().with_error_mode(ErrorMode::Latin1);
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "naïve");
    /// # }
    /// ```
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        self.with(|codec| codec.with_error_mode(mode))
    }

    /// Sets what ends a line.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::lines::Delimiter;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = stream::iter([Ok::<_, std::io::Error>("data: 1\r"), Ok("\n\r")]);
    /// let mut lines = chunks.utf8().lines().with_delimiter(Delimiter::any_newline());
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "data: 1");
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "");
    /// # }
    /// ```
    pub fn with_delimiter(self, delimiter: Delimiter) -> Self {
        self.with(|codec| codec.with_delimiter(delimiter))
    }

    /// Sets the limit on the length of a line, in bytes as they come, without signature and
    /// delimiter.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = stream::iter([Ok::<_, std::io::Error>("four\nfive!\n")]);
    /// let mut lines = chunks.utf8().lines().with_max_length(4);
    /// assert!(lines.next().await.unwrap().unwrap().is_ok());
    /// assert!(lines.next().await.unwrap().unwrap().is_err());
    /// # }
    /// ```
    pub fn with_max_length(self, limit: usize) -> Self {
        self.with(|codec| codec.with_max_length(limit))
    }

    /// Returns the source.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// let lines = Utf8Reader::new(&b"line\n"[..]).into_lines();
    /// assert_eq!(lines.get_ref().get_ref(), b"line\n");
    /// ```
    pub fn get_ref(&self) -> &S {
        &self.source
    }

    /// Returns the source for good. What has come out of it and is in no line is lost: what was read
    /// ahead is in [`rest`](Self::rest), so copy it out first. Of a [`Utf8Reader`],
    /// [`into_reader`](Utf8Lines::into_reader) loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"text follows\n"[..], b"\0\xFFbinary"].map(Ok::<_, std::io::Error>);
    /// let mut lines = stream::iter(chunks).utf8().lines();
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "text follows");
    /// assert_eq!(lines.into_inner().next().await.unwrap().unwrap(), b"\0\xFFbinary");
    /// # }
    /// ```
    pub fn into_inner(self) -> S {
        self.source
    }

    /// Returns the bytes that have come and are in no line yet.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut lines = stream::iter([Ok::<_, std::io::Error>("one\ntwo")]).utf8().lines();
    /// lines.next().await;
    /// assert_eq!(lines.rest(), b"two");
    /// # }
    /// ```
    pub fn rest(&self) -> &[u8] {
        &self.machine.buffer
    }

    /// Returns the decoder within, which knows whether a signature was removed and how many bytes
    /// were skipped. Its position is how far [`rest`](Self::rest) has been looked at.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut lines = stream::iter([Ok::<_, std::io::Error>("one\n")]).utf8().lines();
    /// lines.next().await;
    /// assert_eq!(lines.decoder().position(), 4);
    /// # }
    /// ```
    pub fn decoder(&self) -> &Utf8Decoder {
        self.machine.codec.decoder()
    }

    /// Returns how many errors have been found in the lines; see [`Utf8LinesCodec::error_count`].
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = stream::iter([Ok::<_, std::io::Error>(&b"\xFF.\xFF\n"[..])]);
    /// let mut lines = chunks.utf8().lines().with_error_mode(ErrorMode::Skip);
    /// lines.next().await;
    /// assert_eq!(lines.error_count(), 2);
    /// # }
    /// ```
    pub fn error_count(&self) -> u64 {
        self.machine.codec.error_count()
    }

    /// Returns the first of these errors, repaired or not.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut lines = stream::iter([Ok::<_, std::io::Error>(&b"ab\xFF\n"[..])]).utf8().lines();
    /// lines.next().await;
    /// assert_eq!(lines.first_error().unwrap().valid_up_to(), 2);
    /// # }
    /// ```
    pub fn first_error(&self) -> Option<Utf8Error> {
        self.machine.codec.first_error()
    }

    fn with(self, set: impl FnOnce(Utf8LinesCodec) -> Utf8LinesCodec) -> Self {
        let codec = set(self.machine.codec);
        Self { machine: Machine { codec, ..self.machine }, ..self }
    }

    /// Polls for the next line; `fill` polls the source for more and says whether there is.
    fn poll_line<E>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut fill: impl FnMut(
            Pin<&mut S>,
            &mut Context<'_>,
            &mut BytesMut,
        ) -> Poll<Option<Result<(), E>>>,
    ) -> Poll<Option<Result<Result<Line, LineError>, E>>> {
        let mut this = self.project();
        let Machine { codec, buffer, state } = this.machine;
        // Not by `poll_items`, which costs a tenth here (benches/reader.rs, read-lines).
        let mut silent = 0;
        loop {
            // Nothing is read here, so that nothing fails. (In two places: a line that comes from either
            // would be a place in memory.)
            if *state == State::Open
                && let Ok(Some(line)) = codec.decode(buffer)
            {
                return Poll::Ready(Some(Ok(line)));
            }
            if *state == State::Ending
                && let Ok(Some(line)) = codec.decode_eof(buffer)
            {
                return Poll::Ready(Some(Ok(line)));
            }
            match state {
                State::Open if silent == SILENT_CHUNKS => return give_way(cx),
                State::Open => match fill(this.source.as_mut(), cx, buffer) {
                    Poll::Ready(Some(Ok(()))) => silent += 1,
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                    Poll::Ready(None) => *state = State::Ending,
                    Poll::Pending => {
                        if buffer.is_empty() {
                            *buffer = BytesMut::new();
                        }
                        return Poll::Pending;
                    }
                },
                State::Ending => *state = State::Ended,
                State::Ended => return Poll::Ready(None),
            }
        }
    }
}

impl<R> Utf8Lines<Utf8Reader<R>> {
    /// Returns the reader, for what follows the lines. Nothing is lost: what has been read and is in no
    /// line ([`rest`](Self::rest)) comes next. It is copied, into memory that is given back when the
    /// text has been consumed and the reader is pending.
    ///
    /// Options and error mode are those of the lines, and their errors have been counted; those in a
    /// line that is not finished will be. Of a line that has been refused, the rest comes. Where lines
    /// may end with CR, the LF that belongs to one may come. A reader that has ended while lines were
    /// left is asked once more.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut lines = Utf8Reader::new("DATA\r\nžluť\r\n.\r\n".as_bytes()).into_lines();
    /// assert_eq!(lines.try_next().await?.unwrap()?, "DATA");
    /// let mut reader = lines.into_reader();
    /// assert_eq!(reader.next_str().await?, Some("žluť\r\n.\r\n"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_reader(self) -> Utf8Reader<R> {
        let Machine { codec, buffer, state } = self.machine;
        let (decoder, mode) = codec.into_decoder();
        self.source.go_on(&buffer, decoder, mode, state == State::Ended)
    }
}

impl<S, B, E> Stream for Utf8Lines<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    type Item = Result<Result<Line, LineError>, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_line(cx, |source, cx, buffer| {
            source.poll_next(cx).map_ok(|chunk| append(buffer, chunk.into()))
        })
    }
}

impl<S, T, E> Stream for Utf8Lines<Texts<S>>
where
    S: Stream<Item = Result<T, E>>,
    T: Into<ByteString>,
{
    type Item = Result<Result<Line, LineError>, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_line(cx, |source, cx, buffer| {
            source.poll_text(cx).map_ok(|text| append(buffer, text.into_bytes()))
        })
    }
}

impl<R: AsyncRead> Stream for Utf8Lines<Utf8Reader<R>> {
    type Item = Result<Result<Line, LineError>, std::io::Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_line(cx, |source, cx, buffer| {
            source.poll_raw(cx, buffer).map(|read| match read {
                Ok(0) => None,
                Ok(_) => Some(Ok(())),
                Err(error) => Some(Err(error)),
            })
        })
    }
}

impl<S> FusedStream for Utf8Lines<S>
where
    Self: Stream,
{
    fn is_terminated(&self) -> bool {
        self.machine.state == State::Ended
    }
}

impl<S> Utf8Stream<S> {
    /// Makes a stream of lines, with the options and the error mode of this one. The first line begins
    /// at the place up to which text has been handed on.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let texts = stream::iter([Ok::<_, std::io::Error>(&b"\xFF\n"[..])]).utf8();
    /// let mut lines = texts.with_error_mode(ErrorMode::Escape).lines();
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), r"\xff");
    /// # }
    /// ```
    pub fn lines(self) -> Utf8Lines<S> {
        let is_at_end = self.is_at_end();
        let (inner, mut decoder, mode, chunk) = self.into_raw();
        let held = decoder.take_held();
        let unread = [held.as_bytes(), &chunk].concat();
        let mut lines = Utf8Lines::going_on(inner, BytesMut::from(&*unread), decoder, mode);
        if is_at_end {
            lines.machine.state = State::Ending;
        }
        lines
    }
}

impl<R> Utf8Reader<R> {
    /// Makes a stream of lines, with the options, the error mode and the buffer of this reader. The
    /// first line begins at the place up to which text has been consumed. Text that was repaired and
    /// has not been consumed is decoded again from its bytes; of a repair that was begun, what is left
    /// stands in the first line, as if the peer had sent it.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use tokio::io::AsyncWriteExt;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (mut peer, socket) = tokio::io::duplex(5);
    /// tokio::spawn(async move { peer.write_all("žluť\nbílá\n".as_bytes()).await });
    /// let mut lines = Utf8Reader::new(socket).into_lines();
    /// assert_eq!(lines.try_next().await?.unwrap().unwrap(), "žluť");
    /// assert_eq!(lines.try_next().await?.unwrap().unwrap(), "bílá");
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_lines(mut self) -> Utf8Lines<Self> {
        let is_at_end = self.is_at_end();
        let (unread, decoder, mode) = self.take_unread();
        let mut lines = Utf8Lines::going_on(self, BytesMut::from(&*unread), decoder, mode);
        if is_at_end {
            lines.machine.state = State::Ending;
        }
        lines
    }
}

/// Appends a chunk, without copying where nobody else has it and there is nothing before it.
fn append(buffer: &mut BytesMut, chunk: Bytes) {
    if !buffer.is_empty() {
        return buffer.extend_from_slice(&chunk);
    }
    match chunk.try_into_mut() {
        Ok(chunk) => *buffer = chunk,
        Err(chunk) => buffer.extend_from_slice(&chunk),
    }
}
