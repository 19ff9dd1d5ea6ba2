//! `Utf8Stream`: inner errors, the end, shared memory, readers and real sources. `contract` has what it shares with the other
//! adaptors.
#![cfg(feature = "stream")]

use crate::lists;
use crate::script;
#[cfg(feature = "codec")]
use crate::support;

use std::convert::Infallible;
use std::future::{Future, pending};
use std::io;
use std::net::Ipv4Addr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use futures::stream::FusedStream;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use lists::{MODES, MULTILINGUAL};
use script::Does::{self, Chunk, End, Error};
use script::{Script, channel, items, soon, whole};
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_test::{assert_ready, assert_ready_eq, task};
use tokio_util::io::{ReaderStream, StreamReader};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::stream::{StreamError, Utf8Lines, Utf8Reader, Utf8Stream, Utf8StreamExt};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Error, Utf8Options};

type Item<E> = Result<ByteString, StreamError<E>>;

/// Formats an item: text, the offset and bytes of an error, or the inner error after a `!`.
fn word<E: std::fmt::Display>(item: Item<E>) -> String {
    match item {
        Ok(text) => {
            assert!(!text.is_empty(), "items are never empty");
            text.to_string()
        }
        Err(StreamError::Utf8(error)) => {
            format!("{} {:02x?}", error.valid_up_to(), error.bytes())
        }
        Err(StreamError::Inner(error)) => format!("! {error}"),
        Err(error) => panic!("{error}"),
    }
}

/// Formats all items that are ready, with `-` for the end.
pub(crate) fn ready<S, B, E>(stream: &mut Utf8Stream<S>) -> Vec<String>
where
    S: Stream<Item = Result<B, E>> + Unpin,
    B: Into<Bytes>,
    E: std::fmt::Display,
{
    items(stream, word)
}

fn reported(mode: ErrorMode, does: &[Does]) -> Vec<String> {
    ready(&mut Script::new(does).utf8().with_error_mode(mode))
}

// ---- errors -----------------------------------------------------------------------------------

#[test]
fn the_end_reports_a_missing_bom_then_incomplete_bytes() {
    let options = Utf8Options::new().with_bom(BomPolicy::Require);
    let stream = |mode| {
        let script = Script::new(&[Chunk(b"\xEF"), Chunk(b"\xBB"), End]);
        script.utf8().with_options(options).with_error_mode(mode)
    };
    assert_eq!(ready(&mut stream(ErrorMode::Fatal)), ["0 []", "0 [ef, bb]", "-"]);
    let mut fatal = stream(ErrorMode::Fatal);
    assert_eq!(fatal.next().now_or_never().flatten().map(word).as_deref(), Some("0 []"));
    assert!(!fatal.is_terminated(), "another error follows at the end");
    let mut lossy = stream(ErrorMode::Escape);
    assert_eq!(ready(&mut lossy), [r"\xef\xbb", "-"]);
    assert_eq!(lossy.decoder().error_count(), 2);
}

// ---- inner errors -----------------------------------------------------------------------------

#[test]
fn consecutive_inner_errors_are_yielded() {
    let words = reported(ErrorMode::Fatal, &[Error("1"), Error("2"), Chunk(b""), Error("3"), End]);
    assert_eq!(words, ["! 1", "! 2", "! 3", "-"]);
}

#[test]
fn errors_convert_to_io_errors() {
    let utf8 = |bytes: &'static [u8]| {
        let mut stream = whole(&[bytes]).map_err(|never| match never {}).utf8();
        let error: StreamError<io::Error> =
            stream.next().now_or_never().unwrap().unwrap().unwrap_err();
        io::Error::from(error)
    };
    assert_eq!(utf8(b"\xFF").kind(), io::ErrorKind::InvalidData);
    assert_eq!(utf8(b"\xC3").kind(), io::ErrorKind::UnexpectedEof);
    let reset = || io::Error::new(io::ErrorKind::ConnectionReset, "the cable");
    let inner = io::Error::from(StreamError::Inner(reset()));
    assert_eq!((inner.kind(), &*inner.to_string()), (io::ErrorKind::ConnectionReset, "the cable"));
    let inner = io::Error::from(StreamError::Inner(reset()));
    assert_eq!((inner.kind(), &*inner.to_string()), (io::ErrorKind::ConnectionReset, "the cable"));
    let too_long = io::Error::from(StreamError::<io::Error>::TooLong { max_length: 7 });
    assert_eq!(too_long.kind(), io::ErrorKind::InvalidData);
    assert_eq!(too_long.to_string(), "text is longer than 7 bytes");
}

// ---- traits -----------------------------------------------------------------------------------

#[tokio::test]
async fn a_fused_stream_works_in_a_select_loop() {
    let mut stream = whole(&[b"a\xFF", b"b"]).utf8();
    let mut words = Vec::new();
    loop {
        futures::select! {
            item = stream.select_next_some() => words.push(word(item)),
            complete => break,
        }
    }
    assert_eq!(words, ["a", "1 [ff]", "b"]);
}

#[test]
fn a_stream_is_unpin_if_its_source_is() {
    fn is_unpin<T: Unpin>() {}
    fn returns_unpin_and_sent<T: Unpin + Send + Sync>(_: fn(TcpStream) -> T) {}
    is_unpin::<Utf8Stream<Script>>();
    returns_unpin_and_sent(Utf8Stream::from_reader);
    returns_unpin_and_sent(|socket| Utf8Stream::from_reader(socket).into_inner());

    let steps = stream::unfold(0, |n| async move {
        tokio::task::yield_now().await;
        (n < 2).then(|| (Ok::<_, Infallible>([&b"\xC3"[..], b"\xA9"][n]), n + 1))
    });
    let mut texts = pin!(steps.utf8()); // is not Unpin
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(texts.next()), Some(Ok("é".into())));
    assert_eq!(runtime.block_on(texts.next()), None);
}

#[test]
fn chunks_can_be_any_type_that_converts_to_bytes() {
    fn text<B: Into<Bytes>>(chunks: Vec<B>) -> String {
        let chunks = stream::iter(chunks.into_iter().map(Ok::<_, Infallible>));
        chunks.utf8().collect_text(100).now_or_never().unwrap().unwrap()
    }
    let (a, b) = (&b"gr\xC3"[..], &b"\xBCn"[..]);
    assert_eq!(text(vec![a, b]), "grün");
    assert_eq!(text(vec![a.to_vec(), b.to_vec()]), "grün");
    assert_eq!(text(vec![Bytes::from_static(a), Bytes::from_static(b)]), "grün");
    assert_eq!(text(vec![BytesMut::from(a), BytesMut::from(b)]), "grün");
    assert_eq!(text(vec![Box::<[u8]>::from(a), Box::from(b)]), "grün");
    assert_eq!(text(vec![String::from("gr"), String::from("ün")]), "grün");
}

// ---- memory -----------------------------------------------------------------------------------

fn lies_in(text: &str, chunk: &Bytes) -> bool {
    chunk.as_ptr_range().contains(&text.as_ptr())
}

#[test]
fn a_clean_chunk_is_not_copied() {
    for mode in MODES {
        let chunks = [Bytes::from("first ".repeat(1000)), Bytes::from("zweitens ü".to_owned())];
        let inner = stream::iter(chunks.clone().map(Ok::<_, Infallible>));
        let mut texts = inner.utf8().with_error_mode(mode);
        for chunk in chunks {
            let text = texts.next().now_or_never().unwrap().unwrap().unwrap();
            assert_eq!((text.as_ptr(), text.len()), (chunk.as_ptr(), chunk.len()), "{mode:?}");
        }
    }
}

#[test]
fn a_clean_chunk_with_an_incomplete_end_is_not_copied() {
    for mode in MODES {
        let chunk = Bytes::copy_from_slice(b"almost all of it\xE2\x82");
        let inner = stream::iter([Ok::<_, Infallible>(chunk.clone())]);
        let mut texts = inner.utf8().with_error_mode(mode);
        let text = texts.next().now_or_never().unwrap().unwrap().unwrap();
        assert_eq!((text.as_ptr(), text.len()), (chunk.as_ptr(), 16), "{mode:?}");
    }
}

/// Asserts that nothing keeps consumed chunks alive while the source is pending.
fn assert_freed<T: Stream + Unpin>(chunks: &[&[u8]], make: impl FnOnce(Source) -> T, what: &str) {
    let chunks: Vec<_> = chunks.iter().map(|chunk| Bytes::from(chunk.to_vec())).collect();
    let source = stream::iter(chunks.clone().into_iter().map(Ok));
    let mut items = make(source.chain(stream::pending()).boxed());
    while items.next().now_or_never().is_some() {}
    let held = chunks.iter().position(|chunk| !chunk.is_unique());
    assert_eq!(held, None, "{what}");
}

type Source = stream::BoxStream<'static, Result<Bytes, Infallible>>;

#[test]
fn a_chunk_is_freed_once_consumed_whatever_its_end() {
    let ends: [&[u8]; 8] =
        [b"", b"\n", b"\xFF", b"\xFFa", b"\xFF\n", b"\xE2\x82", b"\xFF\xE2\x82", b"\xE2\x82a"];
    for mode in MODES {
        let text = |source: Source| source.utf8().with_error_mode(mode);
        let fallback = FallbackDecoder::part(LegacyEncoding::latin1());
        for end in ends {
            let first = [&[b'a'; 3000][..], end].concat();
            // The byte after it completes a character, or does not continue it.
            for chunks in [&[&*first][..], &[&first, b"\xAC"], &[&first, b"!"]] {
                assert_freed(chunks, text, &format!("text after {end:x?}, {mode:?}"));
                assert_freed(
                    chunks,
                    |source| text(source).chars(),
                    &format!("chars after {end:x?}, {mode:?}"),
                );
                assert_freed(
                    chunks,
                    |source| text(source).lines(),
                    &format!("lines after {end:x?}, {mode:?}"),
                );
                let fall_back = |source| text(source).with_fallback(fallback.clone());
                assert_freed(chunks, fall_back, &format!("fallback after {end:x?}, {mode:?}"));
            }
        }
    }
}

#[test]
fn a_vec_is_converted_without_a_copy() {
    let chunk = b"owned".to_vec();
    let at = chunk.as_ptr();
    let mut texts = stream::iter([Ok::<_, Infallible>(chunk)]).utf8();
    assert_eq!(texts.next().now_or_never().unwrap().unwrap().unwrap().as_ptr(), at);
}

#[test]
fn text_after_a_bom_error_or_split_character_is_not_copied() {
    let chunks = [
        Bytes::copy_from_slice(b"\xEF\xBB\xBFab\xFFcd\xE2"),
        Bytes::copy_from_slice(b"\x82\xACef"),
    ];
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    let inner = stream::iter(chunks.clone().map(Ok::<_, Infallible>));
    let items: Vec<_> = inner.utf8().with_options(options).collect().now_or_never().unwrap();
    let texts: Vec<_> = items.into_iter().filter_map(Result::ok).collect();
    assert_eq!(texts, ["ab", "cd", "€", "ef"]);
    assert!(lies_in(&texts[0], &chunks[0]) && lies_in(&texts[1], &chunks[0]));
    assert!(lies_in(&texts[3], &chunks[1]));
}

#[test]
fn items_of_a_reader_share_its_read_buffer() {
    let reader = tokio_test::io::Builder::new().read(b"one").read(b"two").build();
    let mut texts = Utf8Stream::from_reader(reader);
    let mut next = || texts.next().now_or_never().unwrap().unwrap().unwrap();
    let (one, two) = (next(), next());
    assert_eq!((&*one, &*two), ("one", "two"));
    assert_eq!(one.as_bytes().as_ptr_range().end, two.as_ptr());
}

#[test]
fn rest_returns_the_undecoded_bytes() {
    let mut stream = Script::new(&[Chunk(b"ab\xFFcd\xE2\x82")]).utf8();
    let mut rests = Vec::new();
    while stream.next().now_or_never().is_some() {
        rests.push(stream.rest().to_vec());
    }
    assert_eq!(rests, [&b"\xFFcd\xE2\x82"[..], b"cd\xE2\x82", b"\xE2\x82"]);
    assert_eq!((stream.rest(), stream.decoder().incomplete()), (&b""[..], &b"\xE2\x82"[..]));
    assert_eq!(stream.decoder().position(), 7);
}

// ---- wakers -----------------------------------------------------------------------------------

#[test]
fn the_last_chunk_before_yielding_is_decoded() {
    let does = [[Chunk(b""); 31].as_slice(), &[Chunk(b"a\xFFb"), Chunk(b"c")]].concat();
    let mut stream = task::spawn(Script::new(&does).utf8());
    assert_ready_eq!(stream.poll_next(), Some(Ok("a".into())));
    assert!(assert_ready!(stream.poll_next()).unwrap().is_err());
    assert_ready_eq!(stream.poll_next(), Some(Ok("b".into())));
    assert_ready_eq!(stream.poll_next(), Some(Ok("c".into())));
}

#[tokio::test]
async fn a_timeout_stops_a_stream_without_items() {
    let mut texts = stream::repeat(Ok::<_, Infallible>(&b""[..])).utf8();
    assert!(timeout(Duration::from_millis(20), texts.next()).await.is_err());
    let texts = stream::repeat(Ok::<_, Infallible>(&b"\xFF"[..])).utf8();
    let collected = texts.with_error_mode(ErrorMode::Skip).collect_text(10);
    assert!(timeout(Duration::from_millis(20), collected).await.is_err());
}

// ---- collect_text -----------------------------------------------------------------------------

#[test]
fn collecting_is_send() {
    fn is_sent<F: Future + Send>(_: F) {}
    is_sent(Utf8Stream::from_reader(tokio::io::empty()).collect_text(1));
    is_sent(whole(&[]).utf8().collect_text(1));
}

// ---- readers ----------------------------------------------------------------------------------

#[tokio::test]
async fn a_reader_continues_after_its_errors() {
    let reader = tokio_test::io::Builder::new()
        .read(b"a\xE2")
        .read_error(io::ErrorKind::TimedOut.into())
        .read(b"\x82")
        .wait(Duration::from_millis(1))
        .read(b"\xAC\xFFb\xF0")
        .read_error(io::Error::other("gone"))
        .build();
    let words: Vec<_> = Utf8Stream::from_reader(reader).map(word).collect().await;
    assert_eq!(words, ["a", "! timed out", "€", "4 [ff]", "b", "! gone", "6 [f0]"]);
}

#[tokio::test]
async fn a_reader_works_with_buffers_of_every_size() {
    let text = "ASCII, кириллица, 日本語, 👋🏽. ".repeat(700);
    for capacity in [0, 1, 2, 3, 7, 8, 9, 63, 64, 1000, 8192, 1 << 20] {
        let texts = Utf8Stream::from_reader(text.as_bytes()).with_capacity(capacity);
        let mut chunks = texts.into_inner();
        let first = chunks.next().await.unwrap().unwrap();
        assert_eq!(first.len(), capacity.max(1).min(text.len()));
        let whole = stream::iter([Ok(first)]).chain(chunks);
        assert_eq!(whole.utf8().collect_text(text.len()).await.unwrap(), text, "{capacity}");
    }
}

/// A reader that reads from another, one to three bytes at a time.
struct Dribble<R>(R, usize);

impl<R: AsyncRead + Unpin> AsyncRead for Dribble<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.1 = self.1 % 3 + 1;
        let mut few = buffer.take(self.1);
        let poll = Pin::new(&mut self.0).poll_read(cx, &mut few);
        let read = few.filled().len();
        buffer.advance(read);
        poll
    }
}

#[tokio::test]
async fn small_reads_share_a_buffer() {
    let text = "žluťoučký kůň ".repeat(2000);
    let texts = Utf8Stream::from_reader(Dribble(text.as_bytes(), 0)).with_capacity(64);
    let mut chunks = texts.into_inner();
    let (mut bytes, mut kept) = (Vec::new(), Vec::new());
    while let Some(chunk) = chunks.try_next().await.unwrap() {
        bytes.extend_from_slice(&chunk);
        kept.push(chunk);
    }
    assert_eq!(bytes, text.as_bytes());
    assert_eq!(kept.concat(), text.as_bytes(), "no chunk was overwritten");
    let sizes = kept.iter().zip([1, 2, 3].into_iter().cycle());
    let shorter = sizes.filter(|(chunk, size)| chunk.len() < *size).count();
    assert!(shorter <= 1, "{shorter} reads were shortened by the rest of a buffer");
    let texts = Utf8Stream::from_reader(Dribble(text.as_bytes(), 0));
    assert_eq!(texts.collect_text(usize::MAX).await.unwrap(), text);
}

#[tokio::test]
async fn into_inner_returns_the_reader_with_its_unread_bytes() {
    let mut texts = Utf8Stream::from_reader(&b"text\nbinary"[..]).with_capacity(5);
    assert_eq!(texts.next().await.unwrap().unwrap(), "text\n");
    assert_eq!(texts.get_ref().get_ref(), b"binary");
    assert_eq!(texts.get_mut().get_mut().split_off_first(), Some(&b'b'));
    assert_eq!(texts.into_inner().into_inner(), b"inary");
}

#[test]
fn debug_of_a_reader_omits_its_buffer() {
    let mut texts = Utf8Stream::from_reader(&b"x"[..]);
    assert!(texts.next().now_or_never().is_some());
    let printed = format!("{texts:?}");
    assert!(printed.contains("capacity: 8192") && printed.len() < 1000, "{printed}");
}

// ---- real sources -----------------------------------------------------------------------------

/// The text of a source as pieces, as `char`s and as lines.
async fn read_in_every_form<S, B>(source: impl Fn() -> S)
where
    S: Stream<Item = io::Result<B>>,
    B: Into<Bytes>,
{
    let text = format!("{MULTILINGUAL}\n").repeat(50);
    assert_eq!(soon(source().utf8().collect_text(text.len())).await.unwrap(), text);
    assert_eq!(soon(source().utf8().chars().try_collect::<String>()).await.unwrap(), text);
    let lines: Vec<_> = soon(Utf8Lines::new(source()).try_collect()).await.unwrap();
    assert!(lines.iter().map(|line| &**line).eq(text.lines()));
}

#[tokio::test]
async fn reader_streams_and_channels_can_be_sources() {
    let text = format!("{MULTILINGUAL}\n").repeat(50);
    read_in_every_form(|| ReaderStream::with_capacity(text.as_bytes(), 100)).await;
    read_in_every_form(|| channel(&text)).await;
    let chunks = channel(&text).map_ok(io::Cursor::new);
    let mut reader = Utf8Reader::new(Box::pin(StreamReader::new(chunks)));
    assert_eq!(soon(reader.collect_text(text.len())).await.unwrap(), text);
}

#[tokio::test]
async fn waiting_for_a_silent_socket_can_be_cancelled() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (socket, _) = listener.accept().await.unwrap();
    let mut texts = Utf8Stream::from_reader(socket);
    for byte in "ж".as_bytes() {
        assert!(timeout(Duration::from_millis(5), texts.next()).await.is_err());
        peer.write_all(&[*byte]).await.unwrap();
    }
    assert_eq!(soon(texts.next()).await.unwrap().unwrap(), "ж");
    tokio::select! {
        item = texts.next() => panic!("{item:?}"),
        () = tokio::time::sleep(Duration::from_millis(5)) => {}
        () = pending() => {}
    }
}

// ---- vectors ----------------------------------------------------------------------------------

/// Every vector byte by byte, with pauses, empty chunks and inner errors between all bytes.
/// `tests/vectors` splits every vector at every byte.
#[cfg(feature = "codec")]
mod vectors {
    use super::support::{self, Atom, Expected, inputs, options};
    use super::{
        ByteString, Chunk, Does, End, Error, ErrorMode, Script, StreamError, StreamExt, Utf8Stream,
        Utf8StreamExt, stream,
    };
    use crate::script::Does::Pause;

    fn atoms<E: std::fmt::Debug>(item: Result<ByteString, StreamError<E>>) -> Vec<Atom> {
        match item {
            Ok(text) => text.chars().map(Atom::Char).collect(),
            Err(StreamError::Utf8(error)) => vec![Atom::from(&error)],
            Err(_) => vec![],
        }
    }

    /// A chunk of one byte with the static lifetime that a script needs.
    fn alone(byte: u8) -> &'static [u8] {
        static BYTES: [u8; 256] = {
            let mut bytes = [0; 256];
            let mut at = 0;
            while at < 256 {
                bytes[at] = at as u8;
                at += 1;
            }
            bytes
        };
        &BYTES[usize::from(byte)..][..1]
    }

    #[tokio::test]
    async fn every_vector_with_interruptions_between_all_bytes() {
        for (bytes, config) in inputs() {
            let expected = Expected::new(&bytes, config);
            let interruptions = [Pause, Error("e"), Chunk(b""), Pause, Error("f")];
            let between = |&byte: &u8| [[Chunk(alone(byte))].as_slice(), &interruptions].concat();
            let does: Vec<Does> = bytes.iter().flat_map(between).chain([End]).collect();
            let stream = Script::new(&does).utf8().with_options(options(config));
            let items: Vec<_> = stream.collect().await;
            let inner = items.iter().filter(|item| matches!(item, Err(StreamError::Inner(_))));
            assert_eq!(inner.count(), 2 * bytes.len());
            let out: Vec<_> = items.into_iter().flat_map(atoms).collect();
            assert_eq!(out, expected.ended, "{bytes:02x?}");

            for (model_mode, mode) in support::MODES.into_iter().skip(1) {
                let stream = Script::new(&does).utf8().with_options(options(config));
                let items: Vec<_> = stream.with_error_mode(mode).collect().await;
                let text: String = items.into_iter().flatten().map(String::from).collect();
                assert_eq!(
                    text,
                    expected.text(model_mode, &expected.ended),
                    "{mode:?}, {bytes:02x?}"
                );
            }
        }
    }

    #[tokio::test]
    async fn every_vector_decodes_as_expected_from_a_reader() {
        for (bytes, config) in inputs() {
            let expected = Expected::new(&bytes, config);
            let reader = Utf8Stream::from_reader(&bytes[..]).with_options(options(config));
            let out: Vec<_> = reader.flat_map(|item| stream::iter(atoms(item))).collect().await;
            assert_eq!(out, expected.ended, "{bytes:02x?}");
            let lossy = Utf8Stream::from_reader(&bytes[..]).with_options(options(config));
            let text = lossy.with_error_mode(ErrorMode::Replacement).collect_text(1 << 20).await;
            let mode = support::reference::Mode::Replacement;
            assert_eq!(text.unwrap(), expected.text(mode, &expected.ended), "{bytes:02x?}");
        }
    }
}

#[test]
fn options_set_after_the_first_poll_keep_the_offsets() {
    let options = Utf8Options::new().with_bom(BomPolicy::Require).reject_nul();
    let chunks = [&b"a\xC3"[..], b"\xA9\xE2", b"\x82", b"\xAC\0\xEF\xBB\xBF\xFF"];
    let expected: [(&str, &[u64]); 5] = [
        ("aé€\u{FEFF}", &[0, 6, 10]),
        ("aé€\u{FEFF}", &[6, 10]),
        ("aé€\u{FEFF}", &[6, 10]),
        ("aé€\u{FEFF}", &[6, 10]),
        ("aé€\0\u{FEFF}", &[10]),
    ];
    for (polls, expected) in expected.into_iter().enumerate() {
        let mut texts = stream::iter(chunks.map(Ok::<_, io::Error>)).utf8();
        let (mut text, mut errors) = (String::new(), Vec::new());
        for _ in 0..polls {
            text += &texts.next().now_or_never().unwrap().unwrap().unwrap();
        }
        let mut texts = texts.with_options(options);
        while let Some(item) = texts.next().now_or_never().unwrap() {
            match item {
                Ok(item) => text += &item,
                Err(StreamError::Utf8(error)) => errors.push(error.valid_up_to()),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!((&*text, &*errors), expected, "{polls}");
        assert_eq!(texts.decoder().position(), 11);
    }
}

#[test]
fn options_set_while_the_start_is_open_decide_it() {
    let policy = |bom| Utf8Options::new().with_bom(bom);
    for (before, after, expected) in [
        (BomPolicy::Keep, BomPolicy::Strip, "x"),
        (BomPolicy::Strip, BomPolicy::Keep, "\u{FEFF}x"),
        (BomPolicy::Require, BomPolicy::Strip, "x"),
    ] {
        let mut decoder = Utf8Decoder::new().with_options(policy(before));
        assert_eq!(decoder.push(b"\xEF\xBB").count(), 0);
        let mut decoder = decoder.with_options(policy(after));
        let text: Result<String, Utf8Error> =
            decoder.push(b"\xBFx").map(|piece| piece.map(str::to_owned)).collect();
        assert_eq!(text.as_deref(), Ok(expected), "{before:?}, {after:?}");
        assert_eq!((decoder.position(), decoder.bom_seen()), (4, expected == "x"));
    }
}
