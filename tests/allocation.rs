//! Heap use of readers, streams and writers, counted by the allocator: reads allocate nothing while data keeps
//! arriving, and an idle connection holds no buffer.
#![cfg(all(feature = "codec", feature = "stream"))]

#[path = "support/counting.rs"]
mod counting;
#[path = "support/lists.rs"]
mod lists;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::BytesMut;
use counting::{allocations, held, largest, watch};
use futures::{FutureExt, StreamExt};
use lists::{LOSSY, MULTILINGUAL};
use tokio::io::{AsyncRead, AsyncWriteExt, DuplexStream, ReadBuf, duplex};
use tokio_util::codec::{BytesCodec, Decoder, FramedRead};
use utf8_codec::codec::MessageCodec;
use utf8_codec::lines::{Delimiter, LineDecoder};
use utf8_codec::stream::{
    CharStream, Utf8ByteReader, Utf8Lines, Utf8Reader, Utf8Stream, Utf8StreamExt, Utf8Writer,
};
use utf8_codec::websocket::{FrameHeader, Opcode};
use utf8_codec::{ByteString, ErrorMode, Utf8Decoder};

#[test]
fn a_codec_of_messages_holds_nothing_after_its_last_item() {
    let mask = [1, 2, 3, 4];
    let frame = |opcode, fin, payload: &[u8]| {
        let header = FrameHeader::new(opcode, fin, Some(mask), payload.len() as u64).unwrap();
        let masked = payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key);
        let mut bytes = header.encode(&mut [0; FrameHeader::MAX_LENGTH]).to_vec();
        bytes.extend(masked);
        bytes
    };
    let close = frame(Opcode::Close, true, b"");
    let ill_formed = frame(Opcode::Continuation, true, b"\xFF");
    // Reserved bits, a frame without a mask, and a message inside another.
    let text = frame(Opcode::Text, true, b"x");
    for last in [&close[..], &ill_formed, b"\xF1\x80", b"\x80\x01a", &text, b""] {
        let fragment = frame(Opcode::Text, false, &[b'a'; 100_000]);
        let before = watch();
        let mut codec = MessageCodec::server();
        let mut buffer = BytesMut::from(&*fragment);
        assert!(codec.decode(&mut buffer).unwrap().is_none());
        assert!(held() - before > 100_000);
        buffer.extend_from_slice(last);
        let item = match last {
            b"" => codec.decode_eof(&mut buffer).is_err(),
            _ => codec.decode(&mut buffer).unwrap().is_some(),
        };
        assert!(item, "{last:x?}");
        drop(buffer);
        assert!(held() - before < 1000, "{last:x?}: {} bytes are held", held() - before);
    }
}

/// The number of allocations of this thread, and the bytes it holds.
fn taken() -> (usize, isize) {
    (allocations(), held())
}

/// A reader that is always ready and repeats a text, this many bytes per read.
struct Endless {
    text: &'static [u8],
    at: usize,
    read: usize,
}

impl Endless {
    fn new(read: usize) -> Self {
        Self { text: MULTILINGUAL.as_bytes(), at: 0, read }
    }
}

impl AsyncRead for Endless {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        for _ in 0..self.read.min(buffer.remaining()) {
            buffer.put_slice(&self.text[self.at..=self.at]);
            self.at = (self.at + 1) % self.text.len();
        }
        Poll::Ready(Ok(()))
    }
}

impl io::Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.read.min(buffer.len());
        for byte in &mut buffer[..len] {
            *byte = self.text[self.at];
            self.at = (self.at + 1) % self.text.len();
        }
        Ok(len)
    }
}

#[test]
fn reads_allocate_nothing_while_data_keeps_arriving() {
    for read in [1, 2, 3, 64, 95, 96, 97, 1460, 8192, 100_000] {
        let mut reader = Utf8Reader::new(Endless::new(read));
        let mut bytes = 0;
        let mut next = || {
            let text = reader.next_str().now_or_never().expect("it is ready").unwrap().unwrap();
            bytes += text.len();
        };
        // The first reads can allocate.
        (0..3).for_each(|_| next());
        let before = taken();
        (0..1000).for_each(|_| next());
        assert_eq!(taken(), before, "{read} bytes at once");
        assert!(bytes >= 1000 * read.min(2000), "{bytes}");
    }
}

#[test]
fn each_call_repairs_with_at_most_one_allocation_of_at_most_16896_bytes() {
    let (input, mut buffer) = ([0xFF; 100_000], vec![0; 32 << 10]);
    for mode in LOSSY {
        let mut decoder = Utf8Decoder::new();
        let (mut read, mut calls) = (0, 0);
        watch();
        let before = taken();
        while read < input.len() {
            read += decoder.push_to_slice(&input[read..], mode, &mut buffer).read;
            calls += 1;
        }
        let after = taken();
        let allocations = after.0 - before.0;
        assert!((1..=calls).contains(&allocations), "{mode:?}: {allocations} in {calls} calls");
        assert_eq!(after.1, before.1, "{mode:?}");
        assert!(largest() <= 16896, "{mode:?}: {} bytes", largest());
    }
}

#[test]
fn chars_and_byte_reads_allocate_nothing_while_data_keeps_arriving() {
    let mut reader = Utf8Reader::new(Endless::new(1460));
    let mut chars = 0;
    while chars < 3 * 1460 {
        chars += usize::from(reader.next_char().now_or_never().unwrap().unwrap().is_some());
    }
    let before = taken();
    for _ in 0..10_000 {
        assert!(reader.next_char().now_or_never().unwrap().unwrap().is_some());
    }
    assert_eq!(taken(), before);

    let mut reader = reader.into_byte_reader();
    let mut buffer = [0; 1000];
    let before = taken();
    for _ in 0..1000 {
        let read = tokio::io::AsyncReadExt::read(&mut reader, &mut buffer).now_or_never();
        assert!(read.unwrap().unwrap() > 0);
    }
    assert_eq!(taken(), before);
}

#[test]
fn repairs_allocate_nothing_while_data_keeps_arriving() {
    let mut reader = Utf8Reader::new(tokio::io::repeat(0xFF)).with_error_mode(ErrorMode::Escape);
    let mut next = || reader.next_str().now_or_never().unwrap().unwrap().unwrap().len();
    assert!((0..3).map(|_| next()).sum::<usize>() > 0);
    let before = taken();
    assert_eq!((0..100).map(|_| next()).sum::<usize>(), 100 * 4 * 8192);
    assert_eq!(taken(), before);
}

#[test]
fn short_messages_allocate_nothing() {
    let (mut peer, socket) = duplex(4096);
    let mut reader = Utf8Reader::new(socket);
    // Lets the pipe allocate its buffer.
    peer.write_all(&[b'.'; 4096]).now_or_never().unwrap().unwrap();
    while reader.next_str().now_or_never().is_some() {}
    let before = taken();
    for length in [1, 10, 95] {
        peer.write_all(&[b'.'; 95][..length]).now_or_never().unwrap().unwrap();
        let text = reader.next_str().now_or_never().unwrap().unwrap().unwrap();
        assert_eq!(text.len(), length);
        assert!(reader.next_str().now_or_never().is_none());
    }
    assert_eq!(taken(), before);
}

#[test]
fn a_drained_reader_frees_its_buffer_while_pending() {
    let (mut peer, socket) = duplex(1 << 16);
    peer.write_all(&[b'.'; 1 << 16]).now_or_never().unwrap().unwrap();
    let mut reader = Utf8Reader::new(socket);
    let start = taken().1;
    let mut largest = 0;
    while let Some(text) = reader.next_str().now_or_never() {
        assert!(text.unwrap().is_some());
        largest = largest.max(taken().1 - start);
    }
    assert_eq!(largest, 8192, "the buffer, and nothing else");
    assert_eq!(taken().1, start);

    // An incomplete character is kept.
    peer.write_all(&[&[b'.'; 5000][..], b"\xF0\x9F\x98"].concat()).now_or_never().unwrap().unwrap();
    while reader.next_str().now_or_never().is_some() {}
    assert_eq!((taken().1, reader.rest()), (start, &b"\xF0\x9F\x98"[..]));
    peer.write_all(b"\x80").now_or_never().unwrap().unwrap();
    assert_eq!(reader.next_str().now_or_never().unwrap().unwrap(), Some("😀"));
}

#[test]
fn a_drained_reader_frees_its_repairs_while_pending() {
    let (mut peer, socket) = duplex(1 << 16);
    peer.write_all(&[0xFF; 1 << 16]).now_or_never().unwrap().unwrap();
    let mut reader = Utf8Reader::new(socket).with_error_mode(ErrorMode::Escape);
    let start = taken().1;
    let mut length = 0;
    while let Some(text) = reader.next_str().now_or_never() {
        length += text.unwrap().unwrap_or_default().len();
    }
    assert_eq!((length, taken().1), (4 << 16, start));
}

#[test]
fn a_drained_char_stream_frees_its_text_while_pending() {
    let (sender, receiver) = futures::channel::mpsc::unbounded::<io::Result<Vec<u8>>>();
    let mut chars = receiver.utf8().chars();
    let send = || sender.unbounded_send(Ok(MULTILINGUAL.repeat(1000).into_bytes())).unwrap();
    // The channel keeps the memory of a message that has been received.
    send();
    while chars.next().now_or_never().is_some() {}
    let start = taken().1;
    send();
    assert!(taken().1 > start + 1000);
    while chars.next().now_or_never().is_some() {}
    assert!(taken().1 <= start, "{}, {start}", taken().1);
}

/// A reader that is ready every second time, with a line.
struct Pausing {
    is_ready: bool,
}

impl AsyncRead for Pausing {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.is_ready = !self.is_ready;
        if !self.is_ready {
            return Poll::Pending;
        }
        buffer.put_slice(b"a line\n");
        Poll::Ready(Ok(()))
    }
}

/// The lines of [`Endless`] readers, with all lengths of reads, and one in which every line is longer than a read.
#[test]
fn borrowed_lines_allocate_nothing_while_data_keeps_arriving() {
    for (read, capacity) in [(1, 64), (7, 64), (96, 4096), (1460, 8192), (100_000, 8192)] {
        let mut lines = Utf8Reader::new(Endless::new(read)).with_capacity(capacity).into_lines();
        lines = lines.with_delimiter(Delimiter::text(" ").unwrap());
        allocates_nothing(read, || {
            futures::executor::block_on(lines.next_line()).unwrap().unwrap().len()
        });
        let reader = utf8_codec::io::Utf8Reader::new(Endless::new(read)).with_capacity(capacity);
        let mut lines = reader.into_lines().with_delimiter(Delimiter::text(" ").unwrap());
        allocates_nothing(read, || lines.next_line().unwrap().unwrap().len());

        // Each line ends in a read of its own.
        let text = format!("{}\n", "x".repeat(read.min(9999))).into_bytes();
        let mut chunks = text.chunks(read).cycle();
        let mut decoder = LineDecoder::new();
        let mut next = || {
            let mut len = 0;
            let mut lines = decoder.push(chunks.next().expect("it has no end"));
            while let Some(line) = lines.next_line() {
                len += line.unwrap().len();
            }
            len
        };
        allocates_nothing(read, || next() + next() + next());
    }
}

#[test]
fn repaired_lines_allocate_nothing_while_data_keeps_arriving() {
    for mode in LOSSY {
        let mut decoder = LineDecoder::new().with_error_mode(mode);
        allocates_nothing(1, || {
            let mut lines = decoder.push(b"a\xFFb\nc\xE2\x82\n\xFF\n.");
            (0..3).map(|_| lines.next_line().unwrap().unwrap().len()).sum::<usize>() + 1
        });
    }
}

fn allocates_nothing(read: usize, mut line: impl FnMut() -> usize) {
    // The first lines can allocate, until the longest has been cut.
    (0..20_000).for_each(|_| _ = line());
    let before = taken();
    let bytes: usize = (0..1000).map(|_| line()).sum();
    assert_eq!(taken(), before, "{read} bytes at once");
    assert!(bytes > 500, "{bytes}");
}

#[test]
fn lines_of_an_idle_reader_hold_no_memory() {
    let mut lines = Utf8Reader::new(Pausing { is_ready: false }).into_lines();
    let nothing_read = taken().1;
    for _ in 0..3 {
        assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "a line");
        assert!(taken().1 > nothing_read, "the buffer is kept while lines arrive");
        assert!(lines.next().now_or_never().is_none());
        assert_eq!(taken().1, nothing_read);
    }
}

// ---- idle connections -----------------------------------------------------------------------------

/// Opens this many connections and sends a message of 1,000 bytes over each. Returns how many bytes the
/// receiving end of an idle connection holds.
fn quiet<R>(
    connections: usize,
    make: impl Fn(DuplexStream) -> R,
    mut drain: impl FnMut(&mut R),
) -> isize {
    let mut peers = Vec::with_capacity(connections);
    let mut readers = Vec::with_capacity(connections);
    let before = taken().1;
    for _ in 0..connections {
        let (peer, socket) = duplex(2000);
        peers.push(peer);
        readers.push(make(socket));
    }
    for (peer, reader) in peers.iter_mut().zip(&mut readers) {
        peer.write_all(&[b'.'; 1000]).now_or_never().unwrap().unwrap();
        drain(reader);
    }
    let pipes_and_buffers = (taken().1 - before) / connections.cast_signed();
    pipes_and_buffers + size_of::<R>().cast_signed()
}

#[test]
fn a_hundred_thousand_idle_connections_hold_no_buffers() {
    let mut buffer = [0; 2000];
    let bare = quiet(
        100_000,
        |socket| socket,
        |socket| {
            while tokio::io::AsyncReadExt::read(socket, &mut buffer).now_or_never().is_some() {}
        },
    );
    let read = quiet(
        100_000,
        Utf8Reader::new,
        |reader| {
            while reader.next_str().now_or_never().is_some() {}
        },
    );
    let framed = quiet(
        1000,
        |socket| FramedRead::new(socket, BytesCodec::new()),
        |frames| while frames.next().now_or_never().is_some() {},
    );
    println!(
        "a connection takes {bare} bytes; Utf8Reader adds {} and FramedRead {}",
        read - bare,
        framed - bare
    );
    assert!(read - bare <= 256);
    assert!(framed - bare > 8192);
    #[cfg(target_pointer_width = "64")]
    assert_eq!(read - bare, ADDED.cast_signed());
}

/// The documented sizes.
#[cfg(target_pointer_width = "64")]
const ADDED: usize = 240;

#[test]
fn sizes_are_as_documented() {
    type Chunks = futures::stream::Pending<Result<bytes::Bytes, io::Error>>;
    let reader = size_of::<Utf8Reader<DuplexStream>>() - size_of::<DuplexStream>();
    let bytes = size_of::<Utf8ByteReader<Utf8Reader<DuplexStream>>>() - size_of::<DuplexStream>();
    let chars = size_of::<CharStream<Chunks>>() - size_of::<Utf8Stream<Chunks>>();
    println!("Utf8Reader: {reader}, Utf8ByteReader: {bytes}, CharStream: {chars}");
    #[cfg(target_pointer_width = "64")]
    assert_eq!((reader, bytes, chars), (ADDED, ADDED + 8, 144));
    let lines = size_of::<Utf8Lines<Chunks>>() - size_of::<Chunks>();
    println!("Utf8Lines: {lines}");
    assert!(lines <= 456, "{lines}");
}

fn written(writer: &mut Utf8Writer<tokio::io::Sink>, text: &ByteString) -> isize {
    let before = held();
    for _ in 0..100 {
        writer.write_str(text).now_or_never().unwrap().unwrap();
        writer.write_text(text.clone()).now_or_never().unwrap().unwrap();
        writer.write_utf16(&[0x61, 0xD83D]).now_or_never().unwrap().unwrap();
        writer.write_utf16(&[0xDC4B]).now_or_never().unwrap().unwrap();
    }
    let more = held() - before;
    writer.flush().now_or_never().unwrap().unwrap();
    assert_eq!(held(), before, "everything is freed");
    more
}

#[test]
fn a_flushed_writer_holds_no_heap_memory() {
    let before = held();
    let mut writer = Utf8Writer::new(tokio::io::sink());
    assert_eq!(held(), before, "nor does a new one");
    for size in [1, 100, 255, 256, 5000] {
        let text = ByteString::from("x".repeat(size));
        let _another = text.clone(); // from now on its reference count is on the heap
        let held = written(&mut writer, &text);
        assert!(0 < held && held < 64 * 1024, "{held} bytes for what is at most 13,196 long");
    }
}
