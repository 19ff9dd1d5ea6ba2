//! Readers, writers, streams, buffers and conversions of the same program that panic, lie, or replace what they
//! were given: no text is ill-formed, no received byte is lost, and every object stays usable.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use futures::{FutureExt, Stream, StreamExt};
use tokio::io::AsyncWrite;
use tokio_util::codec::Encoder;
use utf8_codec::codec::{DialectCodec, JavaUtfCodec};
use utf8_codec::codec::{Utf8Codec, Utf8LinesCodec};
use utf8_codec::dialect::{Dialect, DialectPiece};
use utf8_codec::stream::{Utf8Lines, Utf8Reader, Utf8Stream, Utf8StreamExt, Utf8Writer};
use utf8_codec::{ErrorMode, Utf8Options, io as blocking};

use super::*;

/// What a neighbour does when it is called.
#[derive(Clone, Copy, Debug)]
enum Does {
    Bytes(&'static [u8]),
    Panic,
    /// A reader puts these bytes into a buffer of its own, and returns that.
    Replace(usize),
}

use Does::{Panic, Replace};

/// A reader, and a stream of chunks, that does what is written here, and then ends.
struct Neighbour(VecDeque<Does>);

impl Neighbour {
    fn new(does: &[Does]) -> Self {
        Self(does.iter().copied().collect())
    }

    fn next_bytes(&mut self) -> Option<&'static [u8]> {
        match self.0.pop_front() {
            Some(Does::Bytes(bytes)) => Some(bytes),
            Some(Panic | Replace(_)) => panics(),
            None => None,
        }
    }
}

impl Read for Neighbour {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let bytes = self.next_bytes().unwrap_or_default();
        room[..bytes.len()].copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

/// Leaks a buffer. Its address is kept, so that tools that look for leaks report only those of others.
fn forever(buffer: Vec<u8>) -> &'static mut [u8] {
    static ADDRESSES: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let buffer = buffer.leak();
    ADDRESSES.lock().unwrap().push(buffer.as_ptr().addr());
    buffer
}

impl AsyncRead for Neighbour {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(&Replace(len)) = self.0.front() {
            self.0.pop_front();
            *room = ReadBuf::new(forever(vec![b'!'; len]));
            room.set_filled(len);
        } else {
            room.put_slice(self.next_bytes().unwrap_or_default());
        }
        Poll::Ready(Ok(()))
    }
}

impl Stream for Neighbour {
    type Item = io::Result<&'static [u8]>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.next_bytes().map(Ok))
    }
}

/// Panics without a message on standard error.
fn panics() -> ! {
    resume_unwind(Box::new("as it should"))
}

/// Whether `call` panics.
fn caught<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}

/// All items of a stream, with `!` for each panic or error of the source.
fn all<S: Stream<Item = Result<T, E>> + Unpin, T: AsRef<str>, E>(mut stream: S) -> String {
    let mut seen = String::new();
    for _ in 0..100 {
        match caught(|| stream.next().now_or_never().expect("it never waits")) {
            Some(Some(Ok(text))) => seen += text.as_ref(),
            Some(None) => return seen,
            Some(Some(Err(_))) | None => seen.push('!'),
        }
    }
    panic!("it does not end: {seen}")
}

/// Panics inside characters, and between the texts of two lines.
const PANICS: &[Does] = &[
    Panic,
    Does::Bytes(b"5 \xE2\x82"),
    Panic,
    Panic,
    Does::Bytes(b"\xAC, \xF0\x9F"),
    Panic,
    Does::Bytes(b"\x98\x80.\n\xC3"),
    Panic,
    Does::Bytes(b"\xA9"),
    Panic,
];

#[test]
fn a_source_that_panics_loses_no_text() {
    for mode in [ErrorMode::Fatal, ErrorMode::Replacement] {
        let texts = Utf8Stream::new(Neighbour::new(PANICS)).with_error_mode(mode);
        assert_eq!(all(texts), "!5 !!€, !😀.\n!é!");
        let texts = Utf8Stream::from_reader(Neighbour::new(PANICS)).with_error_mode(mode);
        assert_eq!(all(texts), "!5 !!€, !😀.\n!é!");
        let chars = Utf8Stream::new(Neighbour::new(PANICS)).with_error_mode(mode).chars();
        assert_eq!(all(chars.map(|c| c.map(|c| c.to_string()))), "!5 !!€, !😀.\n!é!");
        let mut reader = Utf8Reader::new(Neighbour::new(PANICS)).with_error_mode(mode);
        let mut seen = String::new();
        loop {
            match caught(|| reader.next_str().now_or_never().unwrap().unwrap().map(String::from)) {
                Some(Some(text)) => seen += &text,
                Some(None) => break,
                None => seen.push('!'),
            }
        }
        assert_eq!(seen, "!5 !!€, !😀.\n!é!");
    }
}

#[test]
fn a_source_that_panics_loses_no_line() {
    let text =
        |line: Result<utf8_codec::lines::Line, _>| line.map(|line| format!("{}|", line.text));
    let lines = Utf8Lines::new(Neighbour::new(PANICS)).map(text);
    assert_eq!(all(lines), "!!!!5 €, 😀.|!!é|");
    let lines = Utf8Reader::new(Neighbour::new(PANICS)).into_lines().map(text);
    assert_eq!(all(lines), "!!!!5 €, 😀.|!!é|");
    let mut lines = blocking::Utf8Reader::new(Neighbour::new(PANICS)).into_lines();
    let mut seen = String::new();
    loop {
        match caught(|| lines.next()) {
            Some(Some(line)) => seen += &line.unwrap().text,
            Some(None) => break,
            None => seen.push('!'),
        }
    }
    assert_eq!(seen, "!!!!5 €, 😀.!!é");
}

#[test]
fn a_source_that_panics_loses_no_event() {
    let does =
        [Does::Bytes(b"data: \xE2\x82"), Panic, Does::Bytes(b"\xAC\n"), Panic, Does::Bytes(b"\n")];
    let events = Neighbour::new(&does).utf8().events();
    assert_eq!(all(events.map(|event| event.map(|event| event.data))), "!!€");
}

#[tokio::test]
async fn a_replaced_read_buffer_is_an_error_and_no_text() {
    for len in [0, 1, 95, 96, 97, 8192, 100_000] {
        let does = [Does::Bytes(b"5 \xE2\x82"), Replace(len), Does::Bytes(b"\xAC"), Replace(len)];
        let mut reader = Utf8Reader::new(Neighbour::new(&does));
        assert_eq!(reader.next_str().await.unwrap(), Some("5 "));
        let error = reader.next_str().await.unwrap_err();
        let message = "the reader replaced the `ReadBuf` that it was given";
        assert!(error.to_string().ends_with(message), "{error}");
        assert_eq!(reader.rest(), b"\xE2\x82");
        assert_eq!(reader.next_str().await.unwrap(), Some("€"));
        assert!(reader.next_str().await.is_err());
        assert_eq!(reader.next_str().await.unwrap(), None);

        assert_eq!(all(Utf8Stream::from_reader(Neighbour::new(&does))), "5 !€!");
        let mut chunks = Utf8Stream::from_reader(Neighbour::new(&does)).into_inner();
        assert_eq!(chunks.next().await.unwrap().unwrap(), &b"5 \xE2\x82"[..]);
        assert!(chunks.next().await.unwrap().is_err());
        assert_eq!(chunks.next().await.unwrap().unwrap(), &b"\xAC"[..]);
    }
}

/// A writer that takes one byte at a time, and panics before every other.
#[derive(Default)]
struct PanickyWriter {
    taken: Vec<u8>,
    calls: usize,
}

impl PanickyWriter {
    fn take(&mut self, bytes: &[u8]) -> usize {
        self.calls += 1;
        if self.calls.is_multiple_of(2) {
            panics()
        }
        self.taken.extend(bytes.first());
        1.min(bytes.len())
    }
}

impl Write for PanickyWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.take(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsyncWrite for PanickyWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(self.take(bytes)))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Claims to have taken more than there was, at the end.
        let one = self.take(&parts[0]);
        let is_last = parts.len() == 1 && parts[0].len() == 1;
        Poll::Ready(Ok(if is_last { usize::MAX } else { one }))
    }

    /// Not the same answer twice.
    fn is_write_vectored(&self) -> bool {
        self.calls.is_multiple_of(3)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn a_writer_that_panics_takes_every_byte_once() {
    let long = ByteString::from("ж".repeat(300));
    let mut writer = Utf8Writer::new(PanickyWriter::default()).with_capacity(7);
    let mut wanted = String::new();
    for _ in 0..3 {
        for text in ["né", "€", "", "😀."] {
            // A write that panics has taken nothing.
            while caught(|| writer.write_str(text).now_or_never().unwrap().unwrap()).is_none() {}
            wanted += text;
        }
        while caught(|| writer.write_text(long.clone()).now_or_never().unwrap().unwrap()).is_none()
        {
        }
        wanted += &long;
    }
    while caught(|| writer.close().now_or_never().unwrap().unwrap()).is_none() {}
    assert_eq!(str::from_utf8(&writer.into_inner().taken), Ok(&*wanted));

    let mut writer = blocking::Utf8Writer::new(PanickyWriter::default()).with_capacity(7);
    for text in wanted.split_inclusive(' ').flat_map(|part| part.split_inclusive('.')) {
        while caught(|| writer.write_str(text).unwrap()).is_none() {}
    }
    while caught(|| writer.finish().unwrap()).is_none() {}
    assert_eq!(str::from_utf8(&writer.into_inner().taken), Ok(&*wanted));
}

#[test]
fn text_whose_display_panics_is_written_up_to_there() {
    struct Half;
    impl std::fmt::Display for Half {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("né")?;
            panics()
        }
    }
    let mut writer = blocking::Utf8Writer::new(Vec::new());
    assert!(caught(|| write!(writer, "a {Half} b")).is_none());
    write!(writer, " €").unwrap();
    writer.finish().unwrap();
    assert_eq!(writer.into_inner(), "a né €".as_bytes());
}

/// A text that is another one each time it is asked, and panics the third time.
struct Fickle(Cell<usize>);

impl AsRef<str> for Fickle {
    fn as_ref(&self) -> &str {
        self.0.set(self.0.get() + 1);
        match self.0.get() {
            1 => "né",
            2 => "two\r\nlines, \0 and more than the first text",
            _ => panics(),
        }
    }
}

#[test]
fn a_text_that_changes_is_checked_and_written_as_one() {
    fn encode<C: Encoder<Fickle, Error: std::fmt::Debug>>(
        mut codec: C,
        calls: usize,
    ) -> Option<BytesMut> {
        let mut dst = BytesMut::from("before ");
        let done = caught(|| codec.encode(Fickle(Cell::new(calls)), &mut dst).unwrap());
        assert!(done.is_some() || dst == "before ", "a text that panics adds nothing");
        done.map(|()| dst.split_off(7))
    }
    assert_eq!(encode(Utf8Codec::new(), 0).unwrap(), "né");
    assert_eq!(encode(Utf8LinesCodec::new(), 0).unwrap(), "né\n");
    assert_eq!(encode(DialectCodec::new(Dialect::Cesu8), 0).unwrap(), "né");
    assert_eq!(encode(JavaUtfCodec::new(), 0).unwrap(), "\0\u{3}né");
    assert!(encode(Utf8Codec::new(), 2).is_none());
    assert!(encode(Utf8LinesCodec::new(), 2).is_none());
    assert!(encode(DialectCodec::new(Dialect::Cesu8), 2).is_none());
    assert!(encode(JavaUtfCodec::new(), 2).is_none());
    // Checked, and then rejected.
    let mut dst = BytesMut::new();
    assert!(Utf8LinesCodec::new().encode(Fickle(Cell::new(1)), &mut dst).is_err());
    assert_eq!(dst, "");

    let piece = DialectPiece::Text(Fickle(Cell::new(0)));
    assert!(piece.code_points().eq(['n', 'é'].map(u32::from)));
    assert!(piece.as_str().unwrap().starts_with("two"));
}

/// Bytes that turn into a chunk, or panic.
struct Fragile(Option<&'static str>);

impl From<Fragile> for Bytes {
    fn from(fragile: Fragile) -> Self {
        fragile.0.map_or_else(|| panics(), Self::from)
    }
}

impl AsRef<str> for Fragile {
    fn as_ref(&self) -> &str {
        self.0.unwrap_or_else(|| panics())
    }
}

#[test]
fn a_conversion_that_panics_loses_only_its_own_chunk() {
    let chunks = || {
        let parts = [Some("5 €"), None, Some(", 6 £\n"), None, Some("x")];
        futures::stream::iter(parts.map(|part| Ok::<_, ()>(Fragile(part))))
    };
    assert_eq!(all(chunks().utf8()), "5 €!, 6 £\n!x");
    assert_eq!(all(chunks().utf8().chars().map(|c| c.map(|c| c.to_string()))), "5 €!, 6 £\n!x");
    let text = |line: Result<utf8_codec::lines::Line, _>| line.map(|line| line.text);
    // A line or an event from which a chunk is missing is not returned as a whole one.
    let pieces = [Some("pay "), None, Some("100\n"), Some("x\n"), None, Some("y\nz")];
    let pieces = || futures::stream::iter(pieces.map(|part| Ok::<_, ()>(Fragile(part))));
    assert_eq!(all(Utf8Lines::new(pieces()).map(text)), "!x!z");
    assert_eq!(all(pieces().text_lines().map(text)), "!x!z");

    let events = [Some("data: pay "), None, Some("100\n\n"), Some("data: x\n\n")];
    let events =
        futures::stream::iter(events.map(|part| Ok::<_, ()>(Fragile(part)))).utf8().events();
    assert_eq!(all(events.map(|event| event.map(|event| event.data))), "!x");
}

#[cfg(feature = "http-body")]
mod bodies {
    use bytes::Buf;
    use http_body::{Body, Frame, SizeHint};
    use utf8_codec::http::Utf8Body;

    use super::*;

    /// A buffer that claims to have this many bytes more, or fewer, than its chunks have.
    struct Liar {
        chunks: VecDeque<&'static [u8]>,
        more: isize,
    }

    impl Buf for Liar {
        fn remaining(&self) -> usize {
            self.chunks
                .iter()
                .map(|chunk| chunk.len())
                .sum::<usize>()
                .saturating_add_signed(self.more)
        }

        fn chunk(&self) -> &[u8] {
            self.chunks.front().copied().unwrap_or_default()
        }

        fn advance(&mut self, len: usize) {
            let Some(chunk) = self.chunks.front_mut() else { return };
            *chunk = &chunk[len..];
            if chunk.is_empty() {
                self.chunks.pop_front();
            }
        }

        /// More than what was asked for.
        fn copy_to_bytes(&mut self, _: usize) -> Bytes {
            let bytes = self.chunks.iter().copied().collect::<Vec<_>>().concat();
            self.chunks.clear();
            bytes.into()
        }
    }

    /// A body of such buffers, with panics in between, whose hints are wrong.
    struct Lies(VecDeque<Option<Liar>>);

    impl Body for Lies {
        type Data = Liar;
        type Error = io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<io::Result<Frame<Liar>>>> {
            match self.0.pop_front() {
                Some(None) => panics(),
                frame => Poll::Ready(frame.flatten().map(|liar| Ok(Frame::data(liar)))),
            }
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(3)
        }
    }

    fn body(more: isize) -> Utf8Body<Lies> {
        let liar = |chunks: &[&'static [u8]]| {
            Some(Liar { chunks: chunks.iter().copied().collect(), more })
        };
        let frames = [
            liar(&[b"5 \xE2", b"\x82"]),
            None,
            liar(&[b"\xAC, \xF0\x9F\x98"]),
            None,
            liar(&[b"\x80", b".", b"\xFF"]),
        ];
        Utf8Body::new(Lies(frames.into())).with_error_mode(ErrorMode::Replacement)
    }

    fn read(mut body: Utf8Body<Lies>) -> (String, usize) {
        let (mut text, mut faults) = (String::new(), 0);
        for _ in 0..100 {
            match caught(|| body.text_frame().now_or_never().expect("it never waits")) {
                Some(None) => return (text, faults),
                Some(Some(Ok(frame))) => text += &frame.into_data().unwrap(),
                Some(Some(Err(_))) | None => faults += 1,
            }
        }
        panic!("it does not end: {text}")
    }

    #[test]
    fn a_body_whose_buffers_claim_too_much_keeps_all_bytes_and_allocates_no_more() {
        for more in [0, 1, 1 << 20, 1 << 30, isize::MAX] {
            let before = counting::held();
            let (text, faults) = read(body(more));
            assert_eq!((&*text, faults), ("5 €, 😀.\u{FFFD}", 2), "{more}");
            drop(text);
            assert!(counting::held() - before < 4096);
        }
        // The limit counts the bytes that there are.
        let (text, faults) = read(body(isize::MAX).with_max_length(7));
        assert!("5 €, 😀".starts_with(&text) && faults > 0, "{text:?}");
    }

    #[test]
    fn a_body_whose_buffers_claim_too_little_is_cut_there_and_well_formed() {
        for less in 1..5 {
            for max_length in [0, 1, 4, 100] {
                let (text, faults) = read(body(-less).with_max_length(max_length));
                let is_known = |c| "5 €, 😀.\u{FFFD}".contains(c);
                assert!(text.chars().all(is_known) && faults > 0, "{less} {max_length} {text:?}");
                assert!(text.len() as u64 <= 3 * (max_length + 1), "{less} {max_length} {text:?}");
                let is_cut = text.is_empty() == (max_length < 4) && text.len() < 15;
                assert!(is_cut, "{less} {max_length} {text:?}");
            }
        }
    }
}

#[test]
fn options_of_a_panicking_start_still_apply() {
    let does = [Panic, Does::Bytes(b"\xEF\xBB"), Panic, Does::Bytes(b"\xBFx")];
    let options = Utf8Options::new().with_bom(utf8_codec::BomPolicy::Strip);
    let texts = Utf8Stream::new(Neighbour::new(&does)).with_options(options);
    assert_eq!(all(texts), "!!x");
}
