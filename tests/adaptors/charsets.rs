//! `CharsetReader`, compared with encoding_rs on the whole input, at every cut.
#![cfg(feature = "stream")]

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

#[cfg(feature = "encoding_rs")]
use encoding_rs::Encoding;
use futures::FutureExt;
use tokio::io::{AsyncRead, ReadBuf};
use utf8_codec::ErrorMode;
use utf8_codec::io::CharsetReader;
#[cfg(feature = "encoding_rs")]
use utf8_codec::{BomPolicy, Utf8Options, io::Utf8Reader, stream};

#[cfg(feature = "encoding_rs")]
const STRIP: Utf8Options = Utf8Options::new().with_bom(BomPolicy::Strip);

/// The inputs of encoding_rs_io's own tests, and those with errors and unusual ends.
#[cfg(feature = "encoding_rs")]
const INPUTS: [(&str, &[u8]); 34] = [
    ("utf-8", b"\xFF\xFEf\x00o\x00o\x00b\x00a\x00r\x00"),
    ("utf-8", b"\xFF\xFE\x16\x04"),
    ("utf-8", b"\xFE\xFF\x04\x16"),
    ("utf-8", b"\xEF\xBB\xBFfoo\xFFbar"),
    ("utf-8", b"\xD0\x96"),
    ("utf-16le", b"\x16\x04"),
    ("utf-16be", b"\x04\x16"),
    ("chinese", b"\xA7\xA8"),
    ("korean", b"\xAC\xA8"),
    ("big5-hkscs", b"\xC7\xFA"),
    ("gbk", b"\xA7\xA8"),
    ("sjis", b"\x84\x47"),
    ("euc-jp", b"\xA7\xA8"),
    ("latin1", b"\xA9"),
    ("utf-8", b"\xEF\xBB\xBFa"),
    ("utf-8", b"\xEF\xBB"),
    ("utf-8", b""),
    ("utf-8", b"\xFF"),
    ("utf-8", b"\xFF\xFE"),
    ("utf-8", b"\xEF\xBB\xBF\xEF\xBB\xBFa"),
    ("utf-16le", b"\xFF"),
    ("utf-16le", b"\xFE\xFF\x00a\x00"),
    ("utf-16le", b"\xFF\xFE\xFF\xFEa\x00"),
    ("utf-16be", b"\x00a\xD8\x00\x00b\xDC\x00\x00c"),
    ("utf-16be", b"\xD8\x3D\xDC\x4B\xD8\x3D\xD8\x3D\xDC\x4B"),
    ("utf-16le", b"\x3D\xD8\x4B\xDC\x3D\xD8\x4B"),
    ("utf-16le", b"\x3D\xD8"),
    ("utf-16le", b"\x00\xDCa\x00\x00\xDCb"),
    ("windows-1252", b"\xEF\xBB\xBF\xC3\xA9"),
    ("windows-1252", b"\xEF\xBBcaf\xE9 \x80\x81"),
    ("windows-1252", b"\xFF\xFEa\x00"),
    ("windows-1252", b"\xFEa"),
    ("iso-2022-jp", b"\x1B$B\x46\x7C\x1B(B\x1B"),
    ("shift_jis", b"\x93\xFA\x96\x81\xFFb\x93"),
];

/// A reader in pieces of these lengths, then of all that is left. An async one is pending before each.
struct Cut<'a>(&'a [u8], Vec<usize>, bool);

impl Read for Cut<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let len = self.1.first().copied().unwrap_or(usize::MAX).min(room.len()).min(self.0.len());
        match self.1.first_mut() {
            Some(left) if *left > len => *left -= len,
            Some(_) => drop(self.1.remove(0)),
            None => {}
        }
        self.0.read(&mut room[..len])
    }
}

impl AsyncRead for Cut<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.2 = !self.2;
        if self.2 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let len = self.read(room.initialize_unfilled())?;
        room.advance(len);
        Poll::Ready(Ok(()))
    }
}

/// No cut, each single cut, and each pair of cuts.
fn cuts(len: usize) -> Vec<Vec<usize>> {
    let pairs = (1..len).flat_map(|first| (1..len - first).map(move |second| vec![first, second]));
    [vec![]].into_iter().chain((1..len).map(|first| vec![first])).chain(pairs).collect()
}

fn over<R>(label: &str, reader: R, mode: ErrorMode) -> CharsetReader<R> {
    CharsetReader::new(reader).with_charset(label).unwrap().with_error_mode(mode)
}

#[cfg(feature = "encoding_rs")]
#[test]
fn a_file_in_any_charset_is_decoded_as_by_encoding_rs_at_every_cut() {
    for (label, bytes) in INPUTS {
        let (expected, used, _) = Encoding::for_label(label.as_bytes()).unwrap().decode(bytes);
        for cut in cuts(bytes.len()) {
            let (mode, file) = (ErrorMode::Replacement, || Cut(bytes, cut.clone(), false));
            let blocking = Utf8Reader::new(over(label, file(), mode)).with_options(STRIP);
            let mut blocking = blocking.with_error_mode(mode);
            let text = blocking.collect_text(1000).unwrap();
            assert_eq!(text, expected, "{label} {bytes:02x?} {cut:?}");
            assert_eq!(blocking.get_ref().charset(), used.name(), "{label} {bytes:02x?} {cut:?}");

            let reader = stream::Utf8Reader::new(over(label, file(), mode)).with_options(STRIP);
            let mut reader = Box::pin(reader.with_error_mode(mode));
            let text = futures::executor::block_on(reader.collect_text(1000)).unwrap();
            assert_eq!(text, expected, "{label} {bytes:02x?} {cut:?}, async");
        }
    }
}

#[test]
fn small_reads_of_a_charset_reader_lose_nothing() {
    let units: Vec<u16> = "žluť 日本 👋 ".repeat(3000).encode_utf16().collect();
    let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    for size in [1, 2, 7, 5000, 100_000] {
        let mut reader = over("utf-16", Cut(&bytes, vec![5, 8191], false), ErrorMode::Fatal);
        let (mut text, mut room) = (Vec::new(), vec![0; size]);
        loop {
            match reader.read(&mut room).unwrap() {
                0 => break,
                len => text.extend_from_slice(&room[..len]),
            }
        }
        assert!(text == "žluť 日本 👋 ".repeat(3000).into_bytes(), "{size}");

        let mut reader = over("utf-16", Cut(&bytes, vec![5, 8191], false), ErrorMode::Fatal);
        let mut text = Vec::new();
        let read = async {
            loop {
                match tokio::io::AsyncReadExt::read(&mut reader, &mut room).await.unwrap() {
                    0 => break,
                    len => text.extend_from_slice(&room[..len]),
                }
            }
        };
        futures::executor::block_on(read);
        assert!(text == "žluť 日本 👋 ".repeat(3000).into_bytes(), "{size}, async");
    }
}

#[test]
fn an_error_in_a_charset_follows_its_text_and_has_its_offset_in_the_file() {
    let bytes = b"\xFF\xFEa\x00\x00\xD8b\x00c";
    for cut in cuts(bytes.len()) {
        let mut reader = over("utf-8", Cut(bytes, cut, false), ErrorMode::Fatal);
        let (mut text, mut errors) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            if let Err(error) = reader.read_to_end(&mut text) {
                assert_eq!(error.kind(), io::ErrorKind::InvalidData);
                errors.push((String::from_utf8(text.clone()).unwrap(), error.to_string()));
            }
        }
        assert_eq!(text, "\u{FEFF}ab".as_bytes());
        let message =
            |at, bytes| format!("invalid UTF-16LE at byte {at}: ill-formed bytes ({bytes})");
        assert_eq!(errors[0], ("\u{FEFF}a".into(), message(4, "00 d8")));
        assert_eq!(errors[1], ("\u{FEFF}ab".into(), message(8, "63")));
        assert_eq!((errors.len(), reader.error_count()), (2, 2));
    }
}

#[test]
fn an_io_error_before_the_charset_is_known_loses_nothing() {
    use tokio::io::AsyncReadExt as _;

    use crate::script::Does::{Chunk, End, Error, Pause};
    use crate::script::Script;

    let does =
        [Chunk(b"\xFE"), Error("e"), Chunk(b"\xFF\x00"), Pause, Error("f"), Chunk(b"a"), End];
    let mut reader = over("utf-8", Script::new(&does), ErrorMode::Fatal);
    let (mut text, mut failures) = (Vec::new(), 0);
    while reader.read_to_end(&mut text).now_or_never().is_none_or(|read| read.is_err()) {
        failures += 1;
    }
    assert_eq!((&*text, failures), ("\u{FEFF}a".as_bytes(), 3));
}

#[cfg(feature = "encoding_rs")]
#[test]
fn a_reader_that_is_always_ready_without_text_lets_other_tasks_run() {
    use tokio::io::AsyncReadExt as _;

    let mut reader = over("shift_jis", tokio::io::repeat(0xFF), ErrorMode::Skip);
    let mut room = [0; 10];
    assert!(reader.read(&mut room).now_or_never().is_none());
    let errors = reader.error_count();
    assert!(errors > 0 && errors <= 32 * 8192, "{errors}");
}

#[test]
fn an_unknown_or_unsupported_label_is_rejected() {
    assert!(CharsetReader::new(io::empty()).with_charset("x-none").is_none());
    assert!(CharsetReader::new(io::empty()).with_charset("iso-2022-kr").is_none());
    assert_eq!(
        CharsetReader::new(io::empty()).with_charset(" Latin1 ").unwrap().charset(),
        "windows-1252"
    );
}
