//! How does a body become text?

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use bytestring::ByteString;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::adaptor::charset::Charset;
use crate::adaptor::legacy::Legacy;
use crate::adaptor::{ChunkText, MAX_TURNS, Turns, coop_yield};
use crate::decoder::{ErrorMode, Utf8Decoder, Utf8Options, append_within};
use crate::http::BodyError;
use crate::http::body_chunks::BodyChunks;
use crate::http::content_type::name_utf8;
use crate::http::error::BoxError;
use crate::http::header_fields::forget_bytes;

pin_project! {
    /// The body of a request or a response as text. Each frame of data is a non-empty run of whole
    /// characters in UTF-8.
    ///
    /// It is a `Body` that wraps another body. Everything that an inner frame determines is returned
    /// before the next one is requested. The boundaries of the frames depend on the inner frames.
    /// The text does not. Text is not copied if the inner data is `Bytes`. A character split across
    /// frames is copied, and is a frame of its own. In a lossy mode an inner frame yields at most
    /// one frame, which is a copy if something was repaired or if the frame completed a character.
    ///
    /// Between polls it holds at most three bytes, the beginning of a character or of a BOM. In
    /// [`ErrorMode::Fatal`] it also holds the rest of one inner frame, and trailers after an error or a repair at the
    /// end.
    /// Bodies in other charsets are converted in blocks of 16 KiB. It is at most 160 bytes larger
    /// than the inner body. Empty frames are skipped, and change nothing.
    ///
    /// Trailers are passed on, without the fields that describe bytes that have changed, such as
    /// `Content-Digest`; see [`update_headers`](Self::update_headers). An incomplete character before
    /// them, or before the end, is one error or one repair. After the end, the inner body is not polled again.
    ///
    /// `size_hint` is exact if the hint of the inner body is exact and the bytes do not change: the
    /// charset is UTF-8, the mode is [`ErrorMode::Fatal`], no BOM is removed and no bytes are
    /// skipped.
    ///
    /// # Errors
    ///
    /// [`BodyError::Utf8`] (or [`Legacy`](BodyError::Legacy)) for each ill-formed part in
    /// [`ErrorMode::Fatal`], the default, after the text before it. A body is usually dropped at
    /// its first error. If you poll it again, it continues after the ill-formed part. After
    /// [`BodyError::TooLong`] and [`BodyError::Inner`] the body has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of [`text_frame`](Self::text_frame), or of http-body-util's `frame`,
    /// loses nothing: the bytes are held here or still in the inner body.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use futures::stream;
    /// use http_body::Frame;
    /// use http_body_util::{BodyExt, StreamBody};
    /// use utf8_codec::http::{BodyError, Utf8Body};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BodyError> {
    /// let frames = [&b"5 \xE2\x82"[..], b"\xAC, \xFF", b"6 \xC2\xA3"];
    /// let frames = frames.map(|data| Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(data))));
    /// let mut body = Utf8Body::new(StreamBody::new(stream::iter(frames)));
    ///
    /// assert_eq!(body.frame().await.unwrap()?.into_data().unwrap(), "5 ");
    /// assert_eq!(body.frame().await.unwrap()?.into_data().unwrap(), "€");
    /// assert_eq!(body.frame().await.unwrap()?.into_data().unwrap(), ", ");
    /// assert_eq!(body.frame().await.unwrap().unwrap_err().offset(), Some(7));
    /// assert_eq!(body.collect_text(100).await?, "6 £");
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    #[must_use = "bodies do nothing unless polled"]
    pub struct Utf8Body<B> {
        #[pin]
        pub(super) chunks: BodyChunks<B>,
        pub(super) text: ChunkText,
    }
}

impl<B> Utf8Body<B> {
    /// Reads `inner` as UTF-8, with the default options, in [`ErrorMode::Fatal`].
    pub fn new(inner: B) -> Self {
        Self { chunks: BodyChunks::new(inner), text: ChunkText::new() }
    }

    pub(super) fn in_charset(mut self, charset: Charset) -> Self {
        self.chunks.legacy = Legacy::boxed(charset);
        self
    }

    /// Sets how the text begins and what it may contain. Call it before the first poll.
    ///
    /// Once the first character of the text has been decoded, it continues with the same offsets: the rejected characters apply to
    /// the bytes that have not been decoded, and the other options have no effect.
    ///
    /// If the charset is not UTF-8, the options apply to the converted text: a BOM is recognised at its start, even if
    /// skipped ill-formed bytes precede it. In UTF-16, a BOM also determines the byte order, as in the WHATWG Encoding
    /// Standard.
    pub fn with_options(mut self, options: Utf8Options) -> Self {
        self.text.decoder = self.text.decoder.with_options(options);
        self
    }

    /// Sets what replaces ill-formed parts.
    pub fn with_error_mode(mut self, mode: ErrorMode) -> Self {
        self.chunks.mode = mode;
        self.text.mode = mode;
        self
    }

    /// Sets the maximum length of the inner body, in bytes of data. By default there is no limit,
    /// because nothing accumulates here. If you lower it below the number of bytes received, further
    /// bytes are rejected.
    ///
    /// The bytes within the limit are decoded and returned. Then the body returns
    /// [`BodyError::TooLong`] and ends. A body whose size hint already exceeds the limit is
    /// rejected before it is polled, so that no `100 Continue` is sent for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http_body_util::{BodyExt, Full};
    /// use utf8_codec::http::{BodyError, Utf8Body};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut body = Utf8Body::new(Full::<Bytes>::from("too long")).with_max_length(7);
    /// let error = body.frame().await.unwrap().unwrap_err();
    /// assert!(matches!(error, BodyError::TooLong { max_length: 7 }));
    /// assert!(body.frame().await.is_none());
    /// # }
    /// ```
    pub fn with_max_length(mut self, max_length: u64) -> Self {
        self.chunks.max_length = max_length;
        self
    }

    /// Returns the name of the charset of the inner body, as in the WHATWG Encoding Standard. The byte order of
    /// UTF-16 is that of the BOM, once it has been read.
    pub fn charset(&self) -> &'static str {
        self.chunks.charset().name()
    }

    /// Returns the inner body.
    pub fn get_ref(&self) -> &B {
        &self.chunks.inner
    }

    /// Returns the inner body mutably. Frames that you take from it are missing from the text.
    pub fn get_mut(&mut self) -> &mut B {
        &mut self.chunks.inner
    }

    /// Consumes the adaptor and returns the inner body.
    ///
    /// Data that was received but not returned is lost: the beginning of a character
    /// (`decoder().incomplete()`), the rest of a frame after an error, trailers after an error or a repair at the end, and
    /// bytes that have not been converted from another charset.
    pub fn into_inner(self) -> B {
        self.chunks.inner
    }

    /// Returns the inner decoder, for the position in the text, the held bytes, whether a BOM was
    /// removed, and how many bytes were skipped.
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.text.decoder
    }

    /// Returns the number of ill-formed parts and rejected characters so far.
    pub fn error_count(&self) -> u64 {
        self.text.decoder.error_count() + self.chunks.error_count()
    }

    /// Returns the first error in the text, repaired or not.
    pub fn first_error(&self) -> Option<BodyError> {
        let in_text = self.text.decoder.first_error();
        match (in_text, self.chunks.legacy.as_ref().and_then(|legacy| legacy.first_error())) {
            (Some(in_text), Some((at, _))) if in_text.valid_up_to() < at => Some(in_text.into()),
            (_, Some((_, in_body))) => Some(in_body.into()),
            (in_text, None) => in_text.map(BodyError::Utf8),
        }
    }

    /// Changes the header fields of a message so that they describe this text. Call it before the first poll, if
    /// you send the body on or give it to code that reads the headers.
    ///
    /// If the charset is not UTF-8, a `Content-Type` then names UTF-8; a malformed one is removed. If the bytes can change, because they are
    /// converted, a BOM is removed, or the mode is lossy, the fields that describe them change:
    ///
    /// | field | becomes |
    /// | --- | --- |
    /// | `Content-Length`, `Accept-Ranges`, `Content-Digest`, `Repr-Digest` (RFC 9530), `Digest`, `Content-MD5` | removed |
    /// | `ETag` | weak (RFC 9110, section 8.8.1); removed if it is malformed |
    ///
    /// All others are unchanged: `Last-Modified` describes the resource and not its bytes. Verify digests, and signed
    /// messages (RFC 9421), before you wrap the body. The same fields of trailers change if the bytes have
    /// changed; this needs no call.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http::Response;
    /// use http_body_util::Full;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::http::Utf8Body;
    ///
    /// # fn main() -> Result<(), http::Error> {
    /// let response = Response::builder().header("content-length", 5).header("etag", r#""v1""#);
    /// let (mut head, body) = response.body(Full::<Bytes>::from(&b"caf\xE9!"[..]))?.into_parts();
    /// let body = Utf8Body::new(body).with_error_mode(ErrorMode::Replacement);
    /// body.update_headers(&mut head.headers);
    /// assert!(!head.headers.contains_key("content-length"));
    /// assert_eq!(head.headers["etag"], r#"W/"v1""#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_headers(&self, headers: &mut HeaderMap) {
        if self.chunks.charset() != Charset::Utf8 {
            name_utf8(headers);
        }
        if !self.keeps_bytes() {
            forget_bytes(headers);
        }
    }
}

impl<B: Body<Error: Into<BoxError>>> Utf8Body<B> {
    /// Polls for the next frame, like `poll_frame`, with its data as text.
    ///
    /// # Errors
    ///
    /// See [`Utf8Body`](Self#errors).
    #[allow(clippy::type_complexity, reason = "it is that of `Body::poll_frame`")]
    pub fn poll_text_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<ByteString>, BodyError>>> {
        let mut this = self.project();
        let mut silent = 0;
        loop {
            if let Some(text) = this.text.next().transpose() {
                return Poll::Ready(Some(text.map(Frame::data).map_err(BodyError::Utf8)));
            }
            if silent == MAX_TURNS {
                return coop_yield(cx);
            }
            if let Some(chunk) = ready!(this.chunks.as_mut().poll_chunk(cx)).transpose()? {
                this.text.chunk = chunk;
                silent += 1;
                continue;
            }
            if this.chunks.has_failed() {
                return Poll::Ready(None);
            }
            if let Some(text) = this.text.end().transpose() {
                return Poll::Ready(Some(text.map(Frame::data).map_err(BodyError::Utf8)));
            }
            let mut trailers = this.chunks.as_mut().take_trailers();
            if let Some(fields) = trailers.as_mut().and_then(Frame::trailers_mut)
                && (this.chunks.charset() != Charset::Utf8 || has_changed(&this.text.decoder))
            {
                forget_bytes(fields);
            }
            return Poll::Ready(trailers.map(|frame| Ok(frame.map_data(|_| ByteString::new()))));
        }
    }

    /// Returns the next frame, with its data as text; `None` at the end.
    ///
    /// # Errors
    ///
    /// See [`Utf8Body`](Self#errors).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    #[allow(clippy::type_complexity, reason = "it is that of `Body::poll_frame`")]
    pub async fn text_frame(&mut self) -> Option<Result<Frame<ByteString>, BodyError>>
    where
        B: Unpin,
    {
        poll_fn(|cx| Pin::new(&mut *self).poll_text_frame(cx)).await
    }

    /// Returns the next piece of text; `None` at the end. Trailers are dropped.
    ///
    /// # Errors
    ///
    /// See [`Utf8Body`](Self#errors).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http_body_util::Full;
    /// use utf8_codec::http::{BodyError, Utf8Body};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BodyError> {
    /// let mut body = Utf8Body::new(Full::<Bytes>::from("žluťoučký kůň"));
    /// let mut letters = 0;
    /// while let Some(text) = body.next_text().await {
    ///     letters += text?.chars().filter(|c| c.is_alphabetic()).count();
    /// }
    /// assert_eq!(letters, 12);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn next_text(&mut self) -> Option<Result<ByteString, BodyError>>
    where
        B: Unpin,
    {
        let mut turns = Turns::default();
        loop {
            let frame = turns.next(|cx| Pin::new(&mut *self).poll_text_frame(cx)).await?;
            match frame.map(Frame::into_data) {
                Ok(Ok(text)) => return Some(Ok(text)),
                Ok(Err(_trailers)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Collects the whole text, at most `max_length` bytes of it. Trailers are dropped.
    ///
    /// The limit applies to the text: repairs count, a removed BOM and skipped bytes do not. The
    /// capacity of the collected text never exceeds `max_length` bytes; while it grows, the previous
    /// buffer can exist as well. One frame is held in addition, repaired in the lossy modes.
    ///
    /// # Errors
    ///
    /// [`BodyError::TooLong`] as soon as the text is longer than `max_length`, or immediately if
    /// the size hint exceeds it; otherwise the first error of the body. The body and the text so
    /// far are dropped. To keep them, take the frames one by one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the body, which it owns, and the text so far.
    pub async fn collect_text(self, max_length: usize) -> Result<String, BodyError> {
        let too_long = || BodyError::TooLong { max_length: max_length as u64 };
        if self.size_hint().lower() > max_length as u64 {
            return Err(too_long());
        }
        let mut body = pin!(self);
        let (mut text, mut turns) = (String::new(), Turns::default());
        while let Some(frame) = turns.next(|cx| body.as_mut().poll_text_frame(cx)).await {
            let piece = frame?.into_data().unwrap_or_default();
            append_within(&mut text, &piece, max_length, too_long)?;
        }
        Ok(text)
    }
}

impl<B> Utf8Body<B> {
    /// Whether the text is the bytes of the inner body. Meaningful before the first poll.
    pub(super) fn keeps_bytes(&self) -> bool {
        let is_utf8 = self.chunks.charset() == Charset::Utf8;
        is_utf8 && text_size(&self.text, &SizeHint::with_exact(8)).exact().is_some()
    }
}

impl<B: Body<Error: Into<BoxError>>> Body for Utf8Body<B> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = ready!(self.poll_text_frame(cx));
        Poll::Ready(frame.map(|frame| Ok(frame?.map_data(ByteString::into_bytes))))
    }

    fn is_end_stream(&self) -> bool {
        let is_done = self.chunks.is_done() && self.text.chunk.is_empty();
        self.chunks.has_failed() || (is_done && self.text.decoder.clone().finish().is_ok())
    }

    fn size_hint(&self) -> SizeHint {
        match self.is_end_stream() {
            true => SizeHint::with_exact(0),
            false => text_size(&self.text, &self.chunks.size_hint()),
        }
    }
}

/// Whether the text differs from the bytes that were decoded.
fn has_changed(decoder: &Utf8Decoder) -> bool {
    decoder.bom_seen() || decoder.skipped() > 0 || decoder.error_count() > 0
}

/// Returns the bounds of the remaining text, computed from those of the remaining chunks.
fn text_size(text: &ChunkText, chunks: &SizeHint) -> SizeHint {
    let mut hint = SizeHint::new();
    if text.mode != ErrorMode::Fatal {
        return hint;
    }
    let here = (text.decoder.incomplete().len() + text.chunk.len()) as u64;
    let skipped = if text.decoder.scanner().start().may_skip() { 3 } else { 0 };
    if let Some(upper) = chunks.upper() {
        hint.set_upper(upper.saturating_add(here));
    }
    hint.set_lower(chunks.lower().saturating_add(here).saturating_sub(skipped));
    hint
}
