//! Tests of the statements in COMPARISON.md: the modules have a section per task, one test per statement.
#![cfg(test)]

mod encodings;
mod lines;
mod slices;
mod streams;
mod websocket;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

// ---- inputs that several modules share ------------------------------------------------------------

/// Byte strings of all lengths up to four, over bytes of every kind that UTF-8 distinguishes.
pub(crate) fn byte_strings() -> Vec<Vec<u8>> {
    const KINDS: [u8; 14] =
        [b'a', 0x80, 0x90, 0xA0, 0xBF, 0xC0, 0xC3, 0xE0, 0xE2, 0xED, 0xF0, 0xF1, 0xF4, 0xFF];
    let mut strings = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..4 {
        let to = strings.len();
        for n in from..to {
            for byte in KINDS {
                let mut longer = strings[n].clone();
                longer.push(byte);
                strings.push(longer);
            }
        }
        from = to;
    }
    strings
}

/// A reader that returns one chunk per read, then the end. What is written to it is kept.
#[derive(Debug)]
pub(crate) struct Script {
    chunks: std::vec::IntoIter<Vec<u8>>,
    /// Whether the peer keeps the connection open after the last chunk.
    open: bool,
    pub(crate) written: Vec<u8>,
}

impl Script {
    pub(crate) fn new<C: AsRef<[u8]>>(chunks: &[C]) -> Self {
        let chunks: Vec<_> = chunks.iter().map(|chunk| chunk.as_ref().to_vec()).collect();
        Self { chunks: chunks.into_iter(), open: false, written: Vec::new() }
    }

    pub(crate) fn open<C: AsRef<[u8]>>(chunks: &[C]) -> Self {
        Self { open: true, ..Self::new(chunks) }
    }

    fn next(&mut self, room: usize) -> Option<Vec<u8>> {
        let chunk = self.chunks.next();
        assert!(chunk.as_ref().is_none_or(|chunk| chunk.len() <= room), "a chunk is too long");
        chunk
    }
}

impl io::Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.next(buffer.len()) {
            None if self.open => Err(io::ErrorKind::WouldBlock.into()),
            None => Ok(0),
            Some(chunk) => {
                buffer[..chunk.len()].copy_from_slice(&chunk);
                Ok(chunk.len())
            }
        }
    }
}

impl io::Write for Script {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.next(buffer.remaining()) {
            None if self.open => return Poll::Pending,
            None => {}
            Some(chunk) => buffer.put_slice(&chunk),
        }
        Poll::Ready(Ok(()))
    }
}

impl futures::io::AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(io::Read::read(&mut *self, buffer))
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(io::Write::write(&mut *self, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

mod bodies {
    //! HTTP bodies, and text in other encodings than UTF-8.

    use std::convert::Infallible;
    use std::io::Read;

    use bytes::Bytes;
    use encoding_rs::{EncoderResult, Encoding, SHIFT_JIS, UTF_8, WINDOWS_1252};
    use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
    use futures::executor::block_on;
    use futures::stream;
    use http_body::Frame;
    use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
    use utf8_codec::http::{BodyError, Utf8Body};
    use utf8_codec::io::{CharsetReader, Utf8Reader};
    use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

    fn body(
        frames: &[&'static [u8]],
    ) -> impl http_body::Body<Data = Bytes, Error = Infallible> + use<> {
        let frames: Vec<_> =
            frames.iter().map(|data| Ok(Frame::data(Bytes::from_static(data)))).collect();
        StreamBody::new(stream::iter(frames))
    }

    #[test]
    fn http_body_util_collects_bytes_without_a_limit() {
        let frame: &'static [u8] = vec![b'a'; 1 << 20].leak();
        let bytes = block_on(body(&[frame; 20]).collect()).unwrap().to_bytes();
        assert_eq!(bytes.len(), 20 << 20);
    }

    #[test]
    fn http_body_util_limited_ends_a_long_body() {
        let error = block_on(Limited::new(body(&[b"12345", b"67890"]), 9).collect()).unwrap_err();
        assert!(error.is::<LengthLimitError>());
    }

    #[test]
    fn ours_yields_the_text_of_a_body_as_it_arrives() {
        let mut body = Utf8Body::new(body(&[b"5 \xE2", b"\x82\xAC"]));
        let mut next = || block_on(body.text_frame()).unwrap().unwrap().into_data().unwrap();
        assert_eq!((&*next(), &*next()), ("5 ", "€"));
    }

    #[test]
    fn ours_takes_the_limit_of_a_collected_body() {
        let error =
            block_on(Utf8Body::new(body(&[b"12345", b"67890"])).collect_text(9)).unwrap_err();
        assert_eq!((error.status().as_u16(), error.offset()), (413, None));
    }

    #[test]
    fn ours_reports_the_offset_in_the_body() {
        let error =
            block_on(Utf8Body::new(body(&[b"12345", b"6\xFF"])).collect_text(99)).unwrap_err();
        assert_eq!((error.status().as_u16(), error.offset()), (400, Some(6)));
    }

    #[test]
    fn ours_decodes_the_charset_of_the_content_type() {
        let body = Utf8Body::from_content_type("text/plain; charset=latin1", body(&[b"caf\xE9"]));
        assert_eq!(block_on(body.unwrap().collect_text(99)).unwrap(), "café");
    }

    #[test]
    fn ours_rejects_an_unknown_charset() {
        let result =
            Utf8Body::from_content_type("text/plain; charset=klingon", Full::<Bytes>::from("a"));
        let error: BodyError = result.unwrap_err();
        assert_eq!(error.status().as_u16(), 415);
    }

    #[test]
    fn encoding_rs_decodes_every_encoding_of_the_web() {
        let latin1 = Encoding::for_label(b"latin1").unwrap();
        assert_eq!((latin1, &*latin1.decode(b"caf\xE9").0), (WINDOWS_1252, "café"));
        assert_eq!(SHIFT_JIS.decode(b"\x93\xFA\x96{").0, "日本");
    }

    #[test]
    fn encoding_rs_joins_split_characters_of_legacy_encodings() {
        let mut decoder = SHIFT_JIS.new_decoder();
        let mut text = String::with_capacity(100);
        for byte in *b"\x93\xFA\x96{" {
            let _ = decoder.decode_to_string(&[byte], &mut text, false);
        }
        assert_eq!(text, "日本");
    }

    #[test]
    fn encoding_rs_encodes_legacy_encodings() {
        assert_eq!(*WINDOWS_1252.encode("café €").0, *b"caf\xE9 \x80");
        let mut bytes = [0; 10];
        let (result, ..) =
            WINDOWS_1252.new_encoder().encode_from_utf8_without_replacement("日", &mut bytes, true);
        assert_eq!(result, EncoderResult::Unmappable('日'));
    }

    #[test]
    fn encoding_rs_io_is_a_blocking_reader() {
        let mut text = String::new();
        let mut builder = DecodeReaderBytesBuilder::new();
        let mut reader = builder.encoding(Some(SHIFT_JIS)).build(&b"\x93\xFA\x96{"[..]);
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "日本");
    }

    #[test]
    fn encoding_rs_io_replaces_and_does_not_report() {
        let mut text = String::new();
        let mut builder = DecodeReaderBytesBuilder::new();
        builder.encoding(Some(UTF_8)).build(&b"a\xFFb"[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a\u{FFFD}b");
    }

    #[test]
    fn encoding_rs_io_decodes_utf_16_if_there_is_a_bom() {
        let mut text = String::new();
        DecodeReaderBytes::new(&b"\xFF\xFEa\0"[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a");
    }

    #[test]
    fn encoding_rs_io_returns_ill_formed_bytes_unchanged_by_default() {
        let mut bytes = Vec::new();
        DecodeReaderBytes::new(&b"a\xFFb"[..]).read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"a\xFFb");
    }

    /// In both, a BOM determines the charset. In ours, a file without one can be in any charset.
    #[test]
    fn ours_reads_a_file_as_encoding_rs_io_does() {
        let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
        for (label, bytes) in [
            ("utf-8", &b"\xFF\xFEf\0o\0o\0b\0a\0r\0"[..]),
            ("utf-8", b"\xFE\xFF\x04\x16"),
            ("utf-8", b"\xEF\xBB\xBFfoo\xFFbar"),
            ("utf-8", b"a\xE2\x82"),
            ("utf-16le", b"\x16\x04\x00\xD8a\0"),
            ("utf-16be", b"\x04\x16\xD8"),
            ("gbk", b"\xA7\xA8"),
            ("shift_jis", b"\x84\x47\x81\xFF"),
            ("latin1", b"\xA9\x80"),
        ] {
            let encoding = Encoding::for_label(label.as_bytes());
            let mut builder = DecodeReaderBytesBuilder::new();
            let mut expected = String::new();
            let mut theirs = builder.encoding(encoding).bom_override(true).build(bytes);
            theirs.read_to_string(&mut expected).unwrap();

            let ours = CharsetReader::new(bytes).with_charset(label).unwrap();
            let ours = Utf8Reader::new(ours.with_error_mode(ErrorMode::Replacement));
            let mut ours = ours.with_options(strip).with_error_mode(ErrorMode::Replacement);
            assert_eq!(ours.collect_text(100).unwrap(), expected, "{label} {bytes:02x?}");
        }
    }
}

mod events {
    //! Server-sent events, some of which are not UTF-8.

    use std::convert::Infallible;
    use std::panic::catch_unwind;

    use bytes::Bytes;
    use eventsource_stream::{EventStreamError, Eventsource};
    use futures::executor::block_on;
    use futures::{FutureExt, StreamExt, stream};
    use sse_parse::SseParser;
    use sse_stream::SseByteStream;
    use utf8_codec::sse::{EventDecoder, EventError};

    const DAMAGED: &[u8] = b"data: one\n\ndata: caf\xE9\n\ndata: three\n\n";
    const MEBIBYTE: usize = 1 << 20;

    type Texts<E> = Vec<Result<String, E>>;

    fn ours(chunks: &[&[u8]]) -> Texts<EventError> {
        let mut decoder = EventDecoder::new();
        let mut texts = Vec::new();
        for chunk in chunks {
            texts
                .extend(decoder.push(chunk).map(|event| event.map(|event| event.data.to_string())));
        }
        texts
    }

    fn eventsource_stream(chunks: &[&[u8]]) -> Texts<EventStreamError<Infallible>> {
        let events = stream::iter(chunks.iter().map(Ok)).eventsource();
        block_on(events.map(|event| event.map(|event| event.data)).collect())
    }

    fn sse_stream(chunks: &[&[u8]]) -> Texts<sse_stream::Error> {
        let chunks: Vec<_> = chunks.iter().map(|chunk| Bytes::copy_from_slice(chunk)).collect();
        let events = SseByteStream::new(stream::iter(chunks).map(Ok::<_, Infallible>));
        block_on(events.map(|event| event.map(|event| event.data.unwrap_or_default())).collect())
    }

    fn sse_parse(chunks: &[&[u8]]) -> Vec<String> {
        let mut parser = SseParser::new();
        chunks.iter().for_each(|chunk| parser.feed(chunk));
        std::iter::from_fn(|| parser.next_event()).map(|event| event.data).collect()
    }

    fn are_ok<E: std::fmt::Debug>(texts: Texts<E>) -> Vec<String> {
        texts.into_iter().map(Result::unwrap).collect()
    }

    /// An event of `len` bytes of data.
    fn long_event(len: usize) -> Vec<u8> {
        [b"data: ", &*vec![b'a'; len], b"\n\n"].concat()
    }

    #[test]
    fn eventsource_stream_panics_at_a_bom() {
        assert!(catch_unwind(|| eventsource_stream(&[b"\xEF\xBB\xBFdata: one\n\n"])).is_err());
    }

    #[test]
    fn eventsource_stream_yields_no_event_after_an_ill_formed_byte() {
        let texts = eventsource_stream(&[DAMAGED, b"data: four\n\n"]);
        assert_eq!(texts[0].as_deref(), Ok("one"));
        assert!(matches!(texts[1], Err(EventStreamError::Utf8(_))));
        assert_eq!(texts.len(), 2);
    }

    #[test]
    fn eventsource_stream_waits_at_a_cr_and_loses_the_last_event() {
        let chunks = [b"data: one\r\r", b"data: two\r\r"];
        let waiting =
            stream::iter(chunks[..1].iter().map(Ok::<_, Infallible>)).chain(stream::pending());
        assert!(waiting.eventsource().next().now_or_never().is_none());
        assert_eq!(are_ok(eventsource_stream(&chunks.map(|chunk| &chunk[..]))), ["one"]);
    }

    #[test]
    fn eventsource_stream_has_no_limit() {
        let event = long_event(2 * MEBIBYTE);
        assert_eq!(are_ok(eventsource_stream(&[&event]))[0].len(), 2 * MEBIBYTE);
    }

    #[test]
    fn sse_stream_ends_at_an_ill_formed_byte() {
        let texts = sse_stream(&[DAMAGED]);
        assert_eq!(texts[0].as_deref().unwrap(), "one");
        assert!(matches!(texts[1], Err(sse_stream::Error::Utf8Parse(_))));
        assert_eq!(texts.len(), 2);
    }

    #[test]
    fn sse_stream_does_not_inherit_the_last_event_id() {
        let bytes = [Ok::<_, Infallible>(Bytes::from("id: 7\ndata: one\n\ndata: two\n\n"))];
        let events = SseByteStream::new(stream::iter(bytes));
        let ids: Vec<_> = block_on(events.map(|event| event.unwrap().id).collect());
        assert_eq!(ids, [Some("7".to_owned()), None]);
    }

    #[test]
    fn sse_stream_has_no_limit() {
        let event = long_event(2 * MEBIBYTE);
        assert_eq!(are_ok(sse_stream(&[&event]))[0].len(), 2 * MEBIBYTE);
    }

    #[test]
    fn sse_parse_replaces_ill_formed_bytes_and_continues() {
        assert_eq!(sse_parse(&[DAMAGED]), ["one", "caf\u{FFFD}", "three"]);
    }

    #[test]
    fn sse_parse_has_no_limit_by_default() {
        let event = long_event(2 * MEBIBYTE);
        assert_eq!(sse_parse(&[&event])[0].len(), 2 * MEBIBYTE);
        let mut parser = SseParser::new().max_buffer(1000);
        parser.feed(&event);
        assert_eq!(parser.next_event(), None);
    }

    #[test]
    fn all_but_eventsource_stream_remove_a_bom_in_three_chunks() {
        let chunks = [&b"\xEF"[..], b"\xBB", b"\xBFdata: one\n\n"];
        assert_eq!(are_ok(ours(&chunks)), ["one"]);
        assert_eq!(are_ok(sse_stream(&chunks)), ["one"]);
        assert_eq!(sse_parse(&chunks), ["one"]);
    }

    #[test]
    fn ours_replaces_ill_formed_bytes_of_an_event_and_continues() {
        assert_eq!(are_ok(ours(&[DAMAGED])), ["one", "caf\u{FFFD}", "three"]);
    }

    #[test]
    fn ours_returns_an_event_at_a_cr_without_waiting() {
        assert_eq!(are_ok(ours(&[b"data: one\r\rdata: two\r\r"])), ["one", "two"]);
        assert_eq!(are_ok(sse_stream(&[b"data: one\r\r"])), ["one"]);
        assert_eq!(sse_parse(&[b"data: one\r\r"]), ["one"]);
    }

    #[test]
    fn ours_limits_events_by_default() {
        let event = long_event(128 * MEBIBYTE);
        let texts = ours(&[&event, b"data: next\n\n"]);
        assert!(matches!(texts[0], Err(EventError::TooLong { .. })));
        assert_eq!(texts[1].as_deref().unwrap(), "next");
    }
}
