//! Peers that flood.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use futures::{StreamExt, future};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::codec::FramedRead;
use tokio_util::io::InspectReader;
use utf8_codec::codec::{CharCodec, CodecError, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};
use utf8_codec::lines::{Delimiter, LineDecoder, LineError};
use utf8_codec::stream::{StreamError, Utf8Reader, Utf8Stream};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Error, Utf8ErrorKind, Utf8Options};

use crate::{Counted, connection, connections, counting, soon};

const MIB: usize = 1 << 20;

const LOSSY: [(ErrorMode, &str); 5] = [
    (ErrorMode::Replacement, "\u{FFFD}"),
    (ErrorMode::Skip, ""),
    (ErrorMode::Escape, r"\xff"),
    (ErrorMode::Latin1, "ÿ"),
    (ErrorMode::Windows1252, "ÿ"),
];

/// The limit of additional memory: some read buffers and the output of one read.
const BOUND: isize = 256 * 1024;

/// Writes `bytes` bytes of repeated `unit`, then closes.
async fn flood(mut peer: TcpStream, unit: &[u8], bytes: usize) {
    let block = unit.repeat((1 << 16) / unit.len());
    let mut rest = bytes;
    while rest > 0 {
        let now = rest.min(block.len());
        // The receiver may have closed the connection.
        if peer.write_all(&block[..now]).await.is_err() {
            return;
        }
        rest -= now;
    }
}

/// The result of `read` on a flooded connection, and how much memory it used besides.
async fn flooded<F, T>(unit: &[u8], bytes: usize, read: impl FnOnce(TcpStream) -> F) -> (T, isize)
where
    F: Future<Output = T>,
{
    let (peer, socket) = connection().await;
    let before = counting::watch();
    let read = read(socket);
    let ((), result) = soon(future::join(flood(peer, unit, bytes), read)).await;
    (result, counting::most() - before)
}

/// Whether `text` is `unit` repeated.
fn is_all(text: &str, unit: &str) -> bool {
    text.len().is_multiple_of(unit.len().max(1))
        && text.as_bytes().chunks(unit.len().max(1)).all(|part| part == unit.as_bytes())
}

#[tokio::test]
async fn a_flood_of_errors_is_one_item_per_read() {
    for (mode, repair) in LOSSY {
        let ((items, bytes, reads, errors), more) = flooded(b"\xFF", MIB, |socket| async move {
            let codec = Utf8Codec::new().with_error_mode(mode);
            let mut texts = FramedRead::new(Counted::new(socket), codec);
            let (mut items, mut bytes) = (0, 0);
            while let Some(text) = texts.next().await {
                let text = text.unwrap();
                assert!(is_all(&text, repair), "{mode:?}");
                items += 1;
                bytes += text.len();
            }
            (items, bytes, texts.get_ref().reads, texts.decoder().decoder().error_count())
        })
        .await;
        assert_eq!((bytes, errors), (repair.len() * MIB, MIB as u64), "{mode:?}");
        assert!(items <= reads, "{items} items for {reads} reads, {mode:?}");
        assert!(repair.is_empty() || items == reads, "{items} items for {reads} reads, {mode:?}");
        assert!(reads <= MIB / 64, "a flood comes in large reads");
        assert!(more <= BOUND, "{more} more bytes, {mode:?}");

        let ((items, bytes, reads, errors), more) = flooded(b"\xFF", MIB, |socket| async move {
            let texts = Utf8Stream::from_reader(Counted::new(socket));
            let mut texts = texts.with_error_mode(mode);
            let (mut items, mut bytes) = (0, 0);
            while let Some(text) = texts.next().await {
                let text = text.unwrap();
                assert!(is_all(&text, repair), "{mode:?}");
                items += 1;
                bytes += text.len();
            }
            (items, bytes, texts.get_ref().get_ref().reads, texts.decoder().error_count())
        })
        .await;
        assert_eq!((bytes, errors), (repair.len() * MIB, MIB as u64), "{mode:?}");
        assert!(items <= reads, "{items} items for {reads} reads, {mode:?}");
        assert!(more <= BOUND, "{more} more bytes, {mode:?}");

        let ((items, bytes, reads, errors), more) = flooded(b"\xFF", MIB, |socket| async move {
            let mut texts = Utf8Reader::new(Counted::new(socket)).with_error_mode(mode);
            let (mut items, mut bytes) = (0, 0);
            while let Some(text) = texts.next_str().await.unwrap() {
                assert!(is_all(text, repair), "{mode:?}");
                items += 1;
                bytes += text.len();
            }
            (items, bytes, texts.get_ref().reads, texts.decoder().error_count())
        })
        .await;
        assert_eq!((bytes, errors), (repair.len() * MIB, MIB as u64), "{mode:?}");
        assert!(items <= reads, "{items} items for {reads} reads, {mode:?}");
        assert!(more <= BOUND, "{more} more bytes, {mode:?}");
    }
}

#[tokio::test]
async fn a_flood_of_errors_yields_each_repaired_char() {
    for (mode, repair) in LOSSY {
        let (chars, more) = flooded(b"\xFF", MIB / 4, |socket| async move {
            let mut chars = FramedRead::new(socket, CharCodec::new().with_error_mode(mode));
            let mut count = 0;
            while let Some(c) = chars.next().await {
                assert!(repair.contains(c.unwrap()), "{mode:?}");
                count += 1;
            }
            assert_eq!(chars.decoder().decoder().error_count(), MIB as u64 / 4);
            count
        })
        .await;
        assert_eq!(chars, repair.chars().count() * MIB / 4, "{mode:?}");
        assert!(more <= BOUND, "{more} more bytes, {mode:?}");
    }
}

/// Checks the next error of a flood of `FF`.
fn check_errors(errors: &mut u64, error: &Utf8Error) {
    assert_eq!((error.valid_up_to(), error.kind()), (*errors, Utf8ErrorKind::InvalidByte));
    *errors += 1;
}

#[tokio::test]
async fn reported_errors_of_a_flood_are_one_per_byte_in_order() {
    let (errors, more) = flooded(b"\xFF", MIB, |socket| async move {
        let mut chunks = FramedRead::new(socket, Utf8ChunksCodec::new());
        let mut errors = 0;
        while let Some(chunk) = chunks.next().await {
            let Err(error) = chunk.unwrap() else { panic!("no text was sent") };
            check_errors(&mut errors, &error);
        }
        errors
    })
    .await;
    assert_eq!(errors, MIB as u64);
    assert!(more <= BOUND, "{more} more bytes");

    let (errors, more) = flooded(b"\xFF", MIB, |socket| async move {
        let mut texts = Utf8Stream::from_reader(socket);
        let mut errors = 0;
        while let Some(text) = texts.next().await {
            let Err(StreamError::Utf8(error)) = text else { panic!("no text was sent") };
            check_errors(&mut errors, &error);
        }
        errors
    })
    .await;
    assert_eq!(errors, MIB as u64);
    assert!(more <= BOUND, "{more} more bytes");

    let (errors, more) = flooded(b"\xFF", MIB, |socket| async move {
        let mut texts = Utf8Reader::new(socket);
        let mut errors = 0;
        loop {
            match texts.next_str().await {
                Err(StreamError::Utf8(error)) => check_errors(&mut errors, &error),
                Ok(None) => return errors,
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
    assert_eq!(errors, MIB as u64);
    assert!(more <= BOUND, "{more} more bytes");
}

#[tokio::test]
async fn in_fatal_mode_a_flood_ends_at_its_first_byte() {
    let ((error, reads), more) = flooded(b"\xFF", 64 * MIB, |socket| async move {
        let mut texts = FramedRead::new(Counted::new(socket), Utf8Codec::new());
        let error = texts.next().await.unwrap().unwrap_err();
        assert!(texts.next().await.is_none());
        (error, texts.get_ref().reads)
    })
    .await;
    assert!(matches!(error, CodecError::Invalid(error) if error.valid_up_to() == 0));
    assert_eq!(reads, 1);
    assert!(more <= BOUND, "{more} more bytes");
}

#[tokio::test]
async fn a_flood_of_boms_loses_at_most_the_first() {
    let count = MIB / 3;
    // (BOMs stripped, errors)
    for (policy, removed, errors) in [
        (BomPolicy::Keep, 0, 0),
        (BomPolicy::Strip, 1, 0),
        (BomPolicy::Require, 1, 0),
        (BomPolicy::Forbid, 1, 1),
    ] {
        let options = Utf8Options::new().with_bom(policy);
        let (seen, more) = flooded("\u{FEFF}".as_bytes(), 3 * count, |socket| async move {
            let mut texts =
                Utf8Reader::new(socket).with_options(options).with_error_mode(ErrorMode::Skip);
            let mut chars = 0;
            while let Some(text) = texts.next_str().await.unwrap() {
                assert!(is_all(text, "\u{FEFF}"));
                chars += text.chars().count();
            }
            (chars, texts.decoder().error_count())
        })
        .await;
        assert_eq!(seen, (count - removed, errors), "{policy:?}");
        assert!(more <= BOUND, "{more} more bytes, {policy:?}");

        // In packets that split every BOM, and through a codec.
        let (mut peer, socket) = connection().await;
        let write = async move {
            for piece in "\u{FEFF}".repeat(1000).as_bytes().chunks(2) {
                peer.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let codec = Utf8Codec::new().with_options(options).with_error_mode(ErrorMode::Escape);
        let texts = FramedRead::new(socket, codec).map(Result::unwrap);
        let ((), texts) = soon(future::join(write, texts.collect::<Vec<_>>())).await;
        let expected = match policy {
            BomPolicy::Forbid => r"\xef\xbb\xbf".to_owned() + &"\u{FEFF}".repeat(999),
            _ => "\u{FEFF}".repeat(1000 - removed),
        };
        assert_eq!(texts.concat(), expected, "{policy:?}");
    }
}

#[tokio::test]
async fn endless_lines_on_many_connections_use_bounded_memory() {
    const LIMIT: usize = 1000;
    const CONNECTIONS: usize = 64;
    let (peers, sockets) = connections(CONNECTIONS).await;
    let block = vec![b'x'; 1 << 16];
    let before = counting::watch();
    let writes = peers.into_iter().map(|mut peer| {
        let block = &block;
        async move {
            for _ in 0..16 {
                peer.write_all(block).await.unwrap();
            }
            peer.write_all("\nweiß\n".as_bytes()).await.unwrap();
        }
    });
    let reads = sockets.into_iter().enumerate().map(|(number, socket)| async move {
        // The first error of the line is reported, once.
        let mode = if number % 2 == 0 { ErrorMode::Fatal } else { ErrorMode::Replacement };
        let too_long = LineError::TooLong { number: 1, offset: 0, max_length: LIMIT };
        let next = ("weiß", 2, MIB as u64 + 1);
        if number % 4 < 2 {
            let codec = Utf8LinesCodec::new().with_max_length(LIMIT).with_error_mode(mode);
            let mut lines = FramedRead::new(socket, codec);
            assert_eq!(lines.next().await.unwrap().unwrap().unwrap_err(), too_long);
            let line = lines.next().await.unwrap().unwrap().unwrap();
            assert_eq!((&*line.text, line.number, line.offset), next);
            assert!(lines.next().await.is_none());
        } else {
            let reader = Utf8Reader::new(socket).with_error_mode(mode);
            let mut lines = reader.into_lines().with_max_length(LIMIT);
            let rejected = lines.next_line().await.unwrap().unwrap_err();
            assert!(matches!(rejected, StreamError::Line(error) if error == too_long));
            let line = lines.next_line().await.unwrap().unwrap();
            assert_eq!((line.text, line.number, line.offset), next);
            assert!(lines.next_line().await.is_none());
        }
    });
    soon(future::join(future::join_all(writes), future::join_all(reads))).await;
    let each = (counting::most() - before) / CONNECTIONS.cast_signed();
    println!("{each} bytes for each of {CONNECTIONS} endless lines");
    // The read buffer, which can double once.
    assert!(each <= 40 * 1024, "{each}");
}

#[test]
fn a_line_decoder_holds_at_most_twice_the_limit_and_the_delimiter() {
    let long = "ab".repeat(150) + "c";
    for (delimiter, unit) in [
        (Delimiter::lf(), &b"x"[..]),
        (Delimiter::lf(), b"\r"),
        (Delimiter::any_newline(), "é".as_bytes()),
        (Delimiter::crlf(), b"x\r"),
        (Delimiter::text(&long).unwrap(), b"ab"),
        (Delimiter::text(&long).unwrap(), b"\xFF"),
    ] {
        let flood = unit.repeat(MIB / unit.len());
        for limit in [0, 1, 1000, 1 << 16] {
            for size in [1, 7, 255, 1000, 4096, MIB] {
                for mode in [ErrorMode::Fatal, ErrorMode::Escape] {
                    let bound = 2 * (limit + delimiter.as_str().len()) + 64;
                    let decoder = LineDecoder::new().with_delimiter(delimiter.clone());
                    let mut decoder = decoder.with_max_length(limit).with_error_mode(mode);
                    let before = counting::watch();
                    let mut items = 0;
                    // Small chunks are slow, and a part is longer than each limit.
                    let flood = if size < 255 { &flood[..3 << 16] } else { &flood };
                    for chunk in flood.chunks(size) {
                        let mut lines = decoder.push(chunk);
                        while lines.next_line().is_some() {
                            items += 1;
                        }
                    }
                    while decoder.finish_line().is_some() {
                        items += 1;
                    }
                    let most = counting::most() - before;
                    assert_eq!(items, 1, "the line is rejected once");
                    assert!(
                        most <= bound as isize,
                        "{most}: {delimiter:?} {limit} {size} {mode:?}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn an_endless_line_of_errors_is_rejected_once() {
    for mode in LOSSY.map(|(mode, _)| mode).into_iter().chain([ErrorMode::Fatal]) {
        let (mut peer, socket) = connection().await;
        let before = counting::watch();
        let write = async move {
            let block = [0xFF; 1 << 16];
            for _ in 0..16 {
                peer.write_all(&block).await.unwrap();
            }
            peer.write_all(b"\nnext\n").await.unwrap();
        };
        let read = async move {
            let mut lines = FramedRead::new(socket, Utf8LinesCodec::new().with_error_mode(mode));
            let rejected = lines.next().await.unwrap().unwrap().unwrap_err();
            match rejected {
                LineError::Utf8 { error, .. } => {
                    assert_eq!((mode, error.valid_up_to()), (ErrorMode::Fatal, 0))
                }
                LineError::TooLong { max_length: limit, .. } => assert_eq!(limit, 65_536),
                other => panic!("{other:?}"),
            }
            assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "next");
            assert!(lines.next().await.is_none());
        };
        soon(future::join(write, read)).await;
        // A line at the limit, four times as long when it is repaired.
        let more = counting::most() - before;
        assert!(more <= 3 * BOUND, "{more} more bytes, {mode:?}");
    }
}

#[tokio::test]
async fn a_flood_on_one_connection_does_not_delay_another() {
    let (peers, sockets) = connections(2).await;
    let read = Arc::new(AtomicUsize::new(0));
    let [flooder, mut good]: [TcpStream; 2] = peers.try_into().unwrap();
    let [flooded, quiet]: [TcpStream; 2] = sockets.try_into().unwrap();
    let flooding = tokio::spawn(async move { flood(flooder, b"\xFF", usize::MAX).await });
    // This mode emits nothing, so the reader is never interrupted.
    let draining = tokio::spawn({
        let flooded = InspectReader::new(flooded, {
            let read = Arc::clone(&read);
            move |bytes: &[u8]| {
                read.fetch_add(bytes.len(), Relaxed);
            }
        });
        async move {
            let mut texts = Utf8Reader::new(flooded).with_error_mode(ErrorMode::Skip);
            while texts.next_str().await.unwrap().is_some() {}
        }
    });
    let echo = tokio::spawn(async move {
        let mut reader = Utf8Reader::new(quiet);
        let mut text = reader.next_str().await.unwrap().unwrap().to_owned();
        while text.len() < "grüß dich".len() {
            text += reader.next_str().await.unwrap().unwrap();
        }
        reader.into_inner().write_all(text.as_bytes()).await.unwrap();
    });
    for byte in "grüß dich".bytes() {
        good.write_all(&[byte]).await.unwrap();
        // The flood continues meanwhile.
        let before = read.load(Relaxed);
        while read.load(Relaxed) < before + MIB {
            tokio::task::yield_now().await;
        }
    }
    let before = read.load(Relaxed);
    let mut answer = String::new();
    soon(good.read_to_string(&mut answer)).await.unwrap();
    assert_eq!(answer, "grüß dich");
    let meanwhile = read.load(Relaxed) - before;
    assert!(meanwhile < 16 * MIB, "{meanwhile} bytes of the flood came first");
    soon(echo).await.unwrap();
    draining.abort();
    flooding.abort();
}
