//! Streams, readers and writers.

#[cfg(feature = "std")]
mod blocking;
mod chars;
mod contract;
#[cfg(feature = "std")]
#[path = "../support/lists.rs"]
mod lists;
#[cfg(feature = "std")]
mod positions;
mod reader;
#[cfg(any(feature = "codec", feature = "stream"))]
#[path = "../support/script.rs"]
mod script;
mod sockets;
mod stream;
mod stream_lines;
#[cfg(all(feature = "codec", feature = "stream"))]
#[path = "../support/mod.rs"]
mod support;
mod writer;

mod charsets {
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
    use utf8_codec::io::{CharsetReader, StreamError};
    use utf8_codec::lines::Line;
    #[cfg(feature = "encoding_rs")]
    use utf8_codec::{BomPolicy, Utf8Options};
    use utf8_codec::{io::Utf8Reader, stream};

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
            let len =
                self.1.first().copied().unwrap_or(usize::MAX).min(room.len()).min(self.0.len());
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
        let pairs =
            (1..len).flat_map(|first| (1..len - first).map(move |second| vec![first, second]));
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
                assert_eq!(
                    blocking.get_ref().charset(),
                    used.name(),
                    "{label} {bytes:02x?} {cut:?}"
                );

                let reader = stream::Utf8Reader::new(over(label, file(), mode)).with_options(STRIP);
                let mut reader = Box::pin(reader.with_error_mode(mode));
                let text = futures::executor::block_on(reader.collect_text(1000)).unwrap();
                assert_eq!(text, expected, "{label} {bytes:02x?} {cut:?}, async");
            }
        }
    }

    #[cfg(feature = "encoding_rs")]
    #[test]
    fn long_text_in_any_charset_is_decoded_as_by_encoding_rs() {
        let mode = ErrorMode::Replacement;
        for (label, part) in INPUTS {
            let bytes = part.repeat(12_000 / part.len().max(1));
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            let (expected, _, had_errors) = encoding.decode(&bytes);
            for cut in [vec![], vec![1], vec![3, 8191]] {
                let reader = over(label, Cut(&bytes, cut.clone(), false), mode);
                let mut reader = Utf8Reader::new(reader).with_options(STRIP).with_error_mode(mode);
                let text = reader.collect_text(1 << 20).unwrap();
                assert!(text == expected, "{label} {part:02x?} {cut:?}");
                let errors = reader.get_ref().error_count() + reader.decoder().error_count();
                assert_eq!(errors > 0, had_errors, "{label} {part:02x?} {cut:?}");
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
        let bytes = b"\xFF\xFEa\x00\x00\xD8b\x00\x00\xDCc";
        for cut in cuts(bytes.len()) {
            let mut reader = over("utf-8", Cut(bytes, cut, false), ErrorMode::Fatal);
            let (mut text, mut errors) = (Vec::new(), Vec::new());
            for _ in 0..4 {
                if let Err(error) = reader.read_to_end(&mut text) {
                    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
                    errors.push((String::from_utf8(text.clone()).unwrap(), error.to_string()));
                }
            }
            assert_eq!(text, "\u{FEFF}ab".as_bytes());
            let message = |at, reason| format!("invalid UTF-16LE at byte {at}: {reason}");
            let expected = [
                ("\u{FEFF}a", message(4, "unpaired high surrogate (00 d8)")),
                ("\u{FEFF}ab", message(8, "unpaired low surrogate (00 dc)")),
                ("\u{FEFF}ab", message(10, "unexpected end inside a character (63)")),
            ];
            assert_eq!(errors, expected.map(|(text, message)| (text.to_owned(), message)));
            assert_eq!(reader.error_count(), 3);
        }
    }

    #[test]
    fn a_line_or_event_with_an_ill_formed_part_in_another_charset_is_rejected_at_every_cut() {
        use futures::{StreamExt as _, executor::block_on};

        let line = |line: Result<Line, StreamError<io::Error>>| match line {
            Ok(line) => line.to_string(),
            Err(StreamError::Inner(error)) => format!("! {error}"),
            Err(error) => panic!("{error}"),
        };
        for (label, bytes, expected) in [
            (
                "utf-8",
                &b"\xFF\xFEa\0\x3D\xD8b\0\n\0o\0k\0"[..],
                "! invalid UTF-16LE at byte 4: unpaired high surrogate (3d d8)",
            ),
            (
                "utf-8",
                b"\xFE\xFF\0a\xD8\x3D\0b\0\n\0o\0k",
                "! invalid UTF-16BE at byte 4: unpaired high surrogate (d8 3d)",
            ),
            #[cfg(feature = "encoding_rs")]
            (
                "shift_jis",
                b"ab\x81\xFFcd\nok",
                "! invalid Shift_JIS at byte 2: ill-formed bytes (81 ff)",
            ),
        ] {
            for cut in cuts(bytes.len()) {
                let reader = || over(label, Cut(bytes, cut.clone(), false), ErrorMode::Fatal);
                let blocking = Utf8Reader::new(reader()).into_lines();
                assert_eq!(blocking.map(line).collect::<Vec<_>>(), [expected, "ok"], "{cut:?}");
                let lines = stream::Utf8Reader::new(reader()).into_lines();
                let lines: Vec<_> = block_on(lines.map(line).collect());
                assert_eq!(lines, [expected, "ok"], "{cut:?}, async");
                let lines = stream::Utf8Stream::from_reader(reader()).lines();
                let lines: Vec<_> = block_on(lines.map(line).collect());
                assert_eq!(lines, [expected, "ok"], "{cut:?}, stream");
                // A reader around it passes the error on.
                let around = io::BufReader::new(reader());
                let blocking = Utf8Reader::new(around).into_lines();
                assert_eq!(blocking.map(line).collect::<Vec<_>>(), [expected, "ok"], "{cut:?}");
            }
        }
        let bytes: Vec<u8> =
            "\u{FEFF}data: a?b\n\ndata: ok\n\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        let at = bytes.iter().position(|&byte| byte == b'?').unwrap();
        let bytes = [&bytes[..at - 1], b"\xDC\x4B", &bytes[at + 1..]].concat();
        for cut in cuts(bytes.len()) {
            let reader = over("utf-8", Cut(&bytes, cut, false), ErrorMode::Fatal);
            let events = stream::Utf8Stream::from_reader(reader).events();
            let events: Vec<_> =
                block_on(events.map(|event| event.map(|event| event.data)).collect());
            let [Err(StreamError::Inner(error)), Ok(data)] = &events[..] else {
                panic!("{events:?}")
            };
            assert!(error.to_string().starts_with("invalid UTF-16BE at byte 16"), "{error}");
            assert_eq!(data, "ok");
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
}

mod outcomes {
    //! What every adaptor yields for ill-formed input, a BOM, errors of its source, and the end.
    #![cfg(feature = "stream")]

    #[cfg(feature = "http-body")]
    use futures::StreamExt;
    use utf8_codec::stream::{Utf8Reader, Utf8StreamExt};
    use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

    use crate::lists::MODES;
    use crate::script::Does::{self, Chunk, End, Error};
    use crate::script::Script;
    use crate::{reader, stream};

    /// What an adaptor yields as words, with `-` for the end; its count of errors and the offset of the first.
    type Outcome = (Vec<String>, u64, Option<u64>);

    type Adaptor = (&'static str, fn(&[Does], Utf8Options, ErrorMode) -> Outcome);

    const STREAM: Adaptor = ("Utf8Stream", |does, options, mode| {
        let mut stream = Script::new(does).utf8().with_options(options).with_error_mode(mode);
        let (words, decoder) = (stream::ready(&mut stream), stream.decoder());
        (words, decoder.error_count(), decoder.first_error().map(|error| error.valid_up_to()))
    });

    const READER: Adaptor = ("Utf8Reader", |does, options, mode| {
        let reader = Utf8Reader::new(Script::new(does));
        let mut reader = reader.with_options(options).with_error_mode(mode);
        let (words, decoder) = (reader::ready(&mut reader), reader.decoder());
        (words, decoder.error_count(), decoder.first_error().map(|error| error.valid_up_to()))
    });

    #[cfg(feature = "http-body")]
    const BODY: Adaptor = ("Utf8Body", |does, options, mode| {
        use utf8_codec::http::{BodyError, Utf8Body};
        let frame = |chunk: &'static [u8]| http_body::Frame::data(bytes::Bytes::from_static(chunk));
        let frames = Script::new(does).map(move |chunk| chunk.map(frame));
        let body = Utf8Body::new(http_body_util::StreamBody::new(frames));
        let mut body = body.with_options(options).with_error_mode(mode);
        let next = futures::stream::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_text_frame(cx));
        let words = crate::script::items(next, |frame| match frame {
            Ok(frame) => frame.into_data().expect("there are no trailers").to_string(),
            Err(BodyError::Utf8(error)) => {
                format!("{} {:02x?}", error.valid_up_to(), error.bytes())
            }
            Err(error) => panic!("{error}"),
        });
        (words, body.error_count(), body.first_error().and_then(|error| error.offset()))
    });

    /// The adaptors that take empty chunks: a read of no bytes would be the end.
    const OF_CHUNKS: &[Adaptor] = &[
        STREAM,
        #[cfg(feature = "http-body")]
        BODY,
    ];

    /// The adaptors that continue after an error of their source.
    const CONTINUING: &[Adaptor] = &[STREAM, READER];

    fn all() -> impl Iterator<Item = &'static Adaptor> {
        OF_CHUNKS.iter().chain([&READER])
    }

    /// Checks what an adaptor yields. Returns its count of errors and the offset of the first.
    fn yields(
        (name, run): &Adaptor,
        (options, mode): (Utf8Options, ErrorMode),
        does: &[Does],
        expected: &[&str],
    ) -> (u64, Option<u64>) {
        let (words, count, first) = run(does, options, mode);
        assert_eq!(words, expected, "{name}, {mode:?}: {does:?}");
        (count, first)
    }

    /// Like [`yields`], but a reader may return the same text in other pieces, as it does around a repair or a BOM.
    fn yields_joined(
        adaptor: &Adaptor,
        settings: (Utf8Options, ErrorMode),
        does: &[Does],
        expected: &[&str],
    ) -> (u64, Option<u64>) {
        if adaptor.0 != READER.0 {
            return yields(adaptor, settings, does, expected);
        }
        let (words, count, first) = adaptor.1(does, settings.0, settings.1);
        assert_eq!(words.concat(), expected.concat(), "{settings:?}: {does:?}");
        (count, first)
    }

    fn plain(mode: ErrorMode) -> (Utf8Options, ErrorMode) {
        (Utf8Options::new(), mode)
    }

    #[test]
    fn errors_are_yielded_in_order_without_another_poll() {
        let expected =
            ["ab", "2 [ff]", "3 [c0]", "c", "5 [ed]", "6 [a0]", "7 [80]", "d", "9 [e2, 82]", "e"];
        for adaptor in all() {
            let does = [Chunk(b"ab\xFF\xC0c\xED\xA0\x80d\xE2\x82e")];
            yields(adaptor, plain(ErrorMode::Fatal), &does, &expected);
            let does = [does[0], End];
            yields(adaptor, plain(ErrorMode::Fatal), &does, &[&expected[..], &["-"]].concat());
        }
    }

    #[test]
    fn an_error_decided_by_the_next_chunk_precedes_its_text() {
        let does = [Chunk(b"a\xF0\x9F"), Chunk(b"\x98"), Chunk(b"bc"), End];
        for adaptor in all() {
            yields(adaptor, plain(ErrorMode::Fatal), &does, &["a", "1 [f0, 9f, 98]", "bc", "-"]);
        }
    }

    #[test]
    fn a_lossy_mode_yields_one_item_per_chunk() {
        let does = [Chunk(b"caf\xE9, \x80\xE2\x82"), Chunk(b"\xAC\xFF!"), Chunk(b"\xC3"), End];
        let table = [
            (
                ErrorMode::Replacement,
                ["caf\u{FFFD}, \u{FFFD}", "€\u{FFFD}!", "\u{FFFD}", "-"].as_slice(),
            ),
            (ErrorMode::Skip, &["caf, ", "€!", "-"]),
            (ErrorMode::Escape, &[r"caf\xe9, \x80", r"€\xff!", r"\xc3", "-"]),
            (ErrorMode::Latin1, &["café, \u{80}", "€ÿ!", "Ã", "-"]),
            (ErrorMode::Windows1252, &["café, €", "€ÿ!", "Ã", "-"]),
        ];
        for (mode, expected) in table {
            for adaptor in all() {
                let counted = yields_joined(adaptor, plain(mode), &does, expected);
                assert_eq!(counted, (4, Some(3)), "{}", adaptor.0);
            }
        }
    }

    #[test]
    fn an_incomplete_end_is_one_error_and_then_none() {
        for adaptor in all() {
            let does = [Chunk(b"a\xF0\x9F"), End, Chunk(b"more")];
            yields(adaptor, plain(ErrorMode::Fatal), &does, &["a", "1 [f0, 9f]", "-"]);
            yields(adaptor, plain(ErrorMode::Fatal), &[End], &["-"]);
            let does = [Chunk(b"\xF0\x9F"), End];
            yields(adaptor, plain(ErrorMode::Replacement), &does, &["\u{FFFD}", "-"]);
            yields(adaptor, plain(ErrorMode::Skip), &does, &["-"]);
        }
    }

    #[test]
    fn options_are_applied() {
        let options = Utf8Options::new();
        let with = |bom| options.with_bom(bom);
        let bom: &[_] = &[Chunk(b"\xEF"), Chunk(b"\xBB"), Chunk(b"\xBFa"), End];
        let table: [(_, &[_], &[_]); 8] = [
            (options, bom, &["\u{FEFF}", "a", "-"]),
            (with(BomPolicy::Strip), bom, &["a", "-"]),
            (with(BomPolicy::Require), bom, &["a", "-"]),
            (with(BomPolicy::Require), &[End], &["0 []", "-"]),
            (with(BomPolicy::Require), &[Chunk(b"\xEF\xBB"), End], &["0 []", "0 [ef, bb]", "-"]),
            (with(BomPolicy::Forbid), bom, &["0 [ef, bb, bf]", "a", "-"]),
            (
                options.with_mid_stream_start(),
                &[Chunk(b"\x82"), Chunk(b"\xACa\x80"), End],
                &["a", "3 [80]", "-"],
            ),
            (
                options.reject_nul(),
                &[Chunk(b"a\0b\xC3"), Chunk(b"\xA9"), End],
                &["a", "1 [00]", "b", "é", "-"],
            ),
        ];
        for (options, does, expected) in table {
            for adaptor in all() {
                yields_joined(adaptor, (options, ErrorMode::Fatal), does, expected);
            }
        }
    }

    #[test]
    fn an_inner_error_inside_a_character_loses_no_data() {
        let does = [Chunk(b"1 \xE2"), Error("a"), Chunk(b"\x82"), Error("b"), Chunk(b"\xAC"), End];
        for mode in MODES {
            for adaptor in CONTINUING {
                yields(adaptor, plain(mode), &does, &["1 ", "! a", "! b", "€", "-"]);
            }
        }
    }

    #[test]
    fn text_and_errors_are_yielded_before_an_inner_error() {
        let does = [Chunk(b"ab\xFFc\xE2"), Error("reset"), End];
        for adaptor in CONTINUING {
            let expected = ["ab", "2 [ff]", "c", "! reset", "4 [e2]", "-"];
            yields(adaptor, plain(ErrorMode::Fatal), &does, &expected);
            let expected = ["abÿc", "! reset", "â", "-"];
            yields_joined(adaptor, plain(ErrorMode::Latin1), &does, &expected);
        }
    }

    #[test]
    fn empty_chunks_change_nothing() {
        let does = [b"", &b"\xE2"[..], b"", b"\x82", b"", b"\xAC"].map(Chunk);
        for adaptor in OF_CHUNKS {
            for mode in MODES {
                yields(adaptor, plain(mode), &does, &["€"]);
                yields(adaptor, plain(mode), &[Chunk(b""), Chunk(b""), End], &["-"]);
            }
            let does = [Chunk(b"\xFF"), Chunk(b"\xFF"), Chunk(b"a")];
            yields(adaptor, plain(ErrorMode::Skip), &does, &["a"]);
        }
    }
}

#[cfg(feature = "stream")]
mod turns {
    //! Readers and writers that are always ready: interrupted calls are repeated, other tasks have their turn, and buffers
    //! have a largest size.

    use std::io::{self, ErrorKind};
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use futures::{FutureExt, StreamExt};
    use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
    use utf8_codec::stream::{CharsetReader, Utf8Reader, Utf8Stream, Utf8Writer};

    /// The number of calls in one poll.
    const TURNS: usize = 32;

    /// A reader of one byte a call, or a writer of one byte a call. It is always ready.
    #[derive(Debug, Default)]
    struct Greedy {
        text: Vec<u8>,
        /// The number of interruptions before each call.
        interruptions: usize,
        interrupted: usize,
        calls: usize,
        is_vectored: bool,
    }

    impl Greedy {
        fn new(text: &str, interruptions: usize) -> Self {
            Self { text: text.bytes().rev().collect(), interruptions, ..Self::default() }
        }

        fn call<T>(&mut self, succeed: impl FnOnce(&mut Self) -> T) -> Poll<io::Result<T>> {
            self.calls += 1;
            if self.interrupted < self.interruptions {
                self.interrupted += 1;
                return Poll::Ready(Err(ErrorKind::Interrupted.into()));
            }
            self.interrupted = 0;
            Poll::Ready(Ok(succeed(self)))
        }
    }

    impl AsyncRead for Greedy {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            room: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            self.call(|this| {
                assert!(room.remaining() <= 1 << 24, "a room of {} bytes", room.remaining());
                room.put_slice(this.text.pop().as_slice());
            })
        }
    }

    impl AsyncWrite for Greedy {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.call(|this| {
                this.text.push(bytes[0]);
                1
            })
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            slices: &[io::IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            self.poll_write(cx, &slices[0])
        }

        fn is_write_vectored(&self) -> bool {
            self.is_vectored
        }

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.call(|_| ())
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.call(|_| ())
        }
    }

    const TEXT: &str = "größe\n€\n👋 and more\n";

    /// Polls until the future is ready.
    fn finish<T>(future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        for _ in 0..100_000 {
            if let Some(done) = future.as_mut().now_or_never() {
                return done;
            }
        }
        panic!("it is always pending");
    }

    #[test]
    fn an_interrupted_read_is_repeated() {
        for interruptions in [0, 1, 2, TURNS] {
            let greedy = || Greedy::new(TEXT, interruptions);
            let lines: Vec<_> = TEXT.lines().collect();

            assert_eq!(finish(Utf8Reader::new(greedy()).collect_text(100)).unwrap(), TEXT);
            assert_eq!(finish(Utf8Stream::from_reader(greedy()).collect_text(100)).unwrap(), TEXT);
            let (mut passed, mut byte) = (Vec::new(), [0]);
            let mut file = CharsetReader::new(greedy());
            while finish(file.read(&mut byte)).unwrap() > 0 {
                passed.extend(byte);
            }
            assert_eq!(passed, TEXT.as_bytes());
            let mut text = String::new();
            let mut bytes = Utf8Reader::new(greedy()).into_byte_reader();
            finish(bytes.read_to_string(&mut text)).unwrap();
            assert_eq!(text, TEXT);
            let read = finish(
                Utf8Reader::new(greedy()).into_lines().map(Result::unwrap).collect::<Vec<_>>(),
            );
            assert_eq!(read, lines);
            let read = Utf8Stream::from_reader(greedy()).lines().map(Result::unwrap);
            assert_eq!(finish(read.collect::<Vec<_>>()), lines);
            let read = Utf8Stream::from_reader(greedy()).chars().map(Result::unwrap);
            assert_eq!(finish(read.collect::<String>()), TEXT);
        }
    }

    #[test]
    fn an_interrupted_write_is_repeated() {
        for interruptions in [0, 1, 2, TURNS] {
            for is_vectored in [false, true] {
                let greedy = Greedy { interruptions, is_vectored, ..Greedy::default() };
                let mut writer = Utf8Writer::new(greedy).with_capacity(2);
                let long = "x".repeat(300);
                finish(writer.write_str(TEXT)).unwrap();
                finish(writer.write_text(long.clone().into())).unwrap();
                finish(writer.flush()).unwrap();
                finish(writer.write_char('!')).unwrap();
                finish(writer.close()).unwrap();
                assert_eq!(writer.into_inner().text, format!("{TEXT}{long}!").into_bytes());
            }
        }
    }

    #[test]
    fn calls_that_are_always_interrupted_let_other_tasks_run() {
        let greedy = || Greedy::new(TEXT, usize::MAX);
        let mut reader = Utf8Reader::new(greedy());
        let mut texts = Utf8Stream::from_reader(greedy());
        let mut lines = Utf8Reader::new(greedy()).into_lines();
        let mut writer = Utf8Writer::new(greedy());
        assert!(writer.write_str("a").now_or_never().unwrap().is_ok());
        for polls in 1..4 {
            assert!(reader.next_str().now_or_never().is_none());
            assert!(texts.next().now_or_never().is_none());
            assert!(lines.next().now_or_never().is_none());
            assert!(writer.flush().now_or_never().is_none());
            let calls = [
                reader.get_ref().calls,
                texts.get_ref().get_ref().calls,
                lines.get_ref().get_ref().calls,
                writer.get_ref().calls,
            ];
            assert_eq!(calls, [polls; 4]);
        }
        drop(writer.into_parts());
    }

    #[test]
    fn collecting_text_lets_other_tasks_run() {
        let text = "a".repeat(1000);
        let mut reader = Utf8Reader::new(Greedy::new(&text, 0));
        let mut appended = String::new();
        for polls in 1..4 {
            assert!(reader.append_text(&mut appended, 2000).now_or_never().is_none());
            assert_eq!((appended.len(), reader.get_ref().calls), (TURNS * polls, TURNS * polls));
        }
        finish(reader.append_text(&mut appended, 2000)).unwrap();
        assert_eq!(appended, text);

        let mut polls = 0;
        let mut collected =
            Box::pin(Utf8Stream::from_reader(Greedy::new(&text, 0)).collect_text(2000));
        let collected = loop {
            polls += 1;
            if let Some(collected) = collected.as_mut().now_or_never() {
                break collected;
            }
        };
        assert_eq!((collected.unwrap(), polls), (text, 1 + 1000 / TURNS));
    }

    #[tokio::test]
    async fn any_capacity_is_clamped() {
        for capacity in [0, 1, usize::MAX] {
            let reader = || Greedy::new(TEXT, 0);
            let mut texts = Utf8Reader::new(reader()).with_capacity(capacity);
            assert_eq!(texts.collect_text(100).await.unwrap(), TEXT);
            // After a read that fills the inline buffer.
            let mut texts = Utf8Reader::new(&[b'a'; 1000][..]).with_capacity(capacity);
            assert_eq!(texts.collect_text(1000).await.unwrap().len(), 1000);
            let texts = Utf8Stream::from_reader(reader()).with_capacity(capacity);
            assert_eq!(texts.collect_text(100).await.unwrap(), TEXT);
            let mut writer = Utf8Writer::new(Vec::new()).with_capacity(capacity);
            writer.write_str(TEXT).await.unwrap();
            writer.close().await.unwrap();
            assert_eq!(writer.into_inner(), TEXT.as_bytes());
        }
    }
}
