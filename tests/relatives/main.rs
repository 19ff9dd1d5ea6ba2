//! Dialects, legacy encodings, UTF-16, detection and terminals.

#[cfg(feature = "alloc")]
#[path = "../support/counting.rs"]
mod counting;
mod detect;
mod dialect;
#[cfg(feature = "alloc")]
#[path = "../support/dialect.rs"]
mod dialect_model;
mod dialect_text;
#[cfg(feature = "alloc")]
mod fallback;
#[cfg(feature = "codec")]
mod fallback_codecs;
#[cfg(feature = "alloc")]
#[path = "../support/fallback.rs"]
mod fallback_model;
#[cfg(feature = "encoding_rs")]
mod fallback_whatwg;
#[cfg(all(feature = "codec", feature = "serde"))]
#[path = "../support/lines.rs"]
mod lines;
#[path = "../support/lists.rs"]
mod lists;
#[cfg(feature = "alloc")]
#[path = "../support/reference.rs"]
#[allow(dead_code, reason = "each test binary uses its own part")]
mod reference;
#[cfg(feature = "alloc")]
#[path = "../support/utf16.rs"]
mod subject;
mod terminal;
mod utf16;

mod dialect_cpython {
    //! UTF-8B and `surrogatepass` compared with the installed CPython, if there is one.
    #![cfg(feature = "std")]

    use std::fmt::Write as _;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use utf8_codec::ErrorMode;
    use utf8_codec::decoder::Status;
    use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};

    use crate::lists::Random;

    /// Answers each line, `d HANDLER HEX` or `e HANDLER NUMBERS`, with the output, or with the index of the
    /// failure.
    const SCRIPT: &str = r"
import sys
for line in sys.stdin:
    what, handler, *rest = line.split()
    try:
        if what == 'd':
            text = bytes.fromhex(''.join(rest)).decode('utf-8', handler)
            print('ok', *[ord(c) for c in text])
        else:
            text = ''.join(chr(int(n)) for n in rest)
            print('ok', text.encode('utf-8', handler).hex())
    except UnicodeError as error:
        print('no', error.start)
";

    /// Python's answers to `questions`, or `None` without Python.
    fn ask(questions: &str) -> Option<Vec<String>> {
        let python = Command::new("python3")
            .args(["-X", "utf8", "-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut python) = python else {
            skip("python3 is not installed");
            return None;
        };
        let mut stdin = python.stdin.take()?;
        let questions = questions.to_owned();
        let writer = std::thread::spawn(move || stdin.write_all(questions.as_bytes()));
        let output = python.wait_with_output().expect("python3 was started");
        let written = writer.join().expect("the writer does not panic");
        assert!(output.status.success() && written.is_ok(), "{}: {written:?}", output.status);
        let answers = String::from_utf8(output.stdout).expect("the script prints ASCII");
        Some(answers.lines().map(str::to_owned).collect())
    }

    /// Prints the reason past the test harness, which captures the output of passing tests.
    fn skip(why: &str) {
        let _unseen = writeln!(std::io::stderr(), "SKIPPED: {why}");
    }

    const HANDLERS: [(&str, Dialect); 2] =
        [("surrogateescape", Dialect::Utf8b), ("surrogatepass", Dialect::SurrogatePass)];

    fn decoded(dialect: Dialect, bytes: &[u8]) -> String {
        let mut code_points = Vec::new();
        let mut decoder = DialectDecoder::new(dialect);
        // In arbitrary chunks.
        let pushed = bytes.chunks(3).try_for_each(|chunk| {
            match decoder.push_to_code_points(chunk, ErrorMode::Fatal, &mut code_points).status {
                Status::IllFormed(error) => Err(error),
                _ => Ok(()),
            }
        });
        let ended = |()| decoder.finish_to_code_points(ErrorMode::Fatal, &mut code_points);
        match pushed.and_then(ended) {
            Ok(()) => code_points.iter().fold("ok".to_owned(), |mut answer, code_point| {
                write!(answer, " {}", code_point).expect("writing to a string succeeds");
                answer
            }),
            Err(error) => format!("no {}", error.offset()),
        }
    }

    fn encoded(dialect: Dialect, code_points: &[u32]) -> String {
        let mut bytes = Vec::new();
        let mut encoder = DialectEncoder::new(dialect);
        let pushed = encoder.push_code_points_to_vec(code_points, &mut bytes);
        match pushed.and_then(|()| encoder.finish_to_vec(&mut bytes)) {
            Ok(()) => format!("ok {}", hex(&bytes)),
            Err(error) => format!("no {}", error.offset()),
        }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    const PIECES: &[&[u8]] = &[
        b"a",
        b"\0",
        b"\x80",
        b"\xBF",
        b"\xC0",
        b"\xC2",
        b"\xC3\xA9",
        b"\xE0",
        b"\xE0\x80",
        b"\xE2\x82",
        b"\xE2\x82\xAC",
        b"\xED",
        b"\xED\xA0",
        b"\xED\xA0\x80",
        b"\xED\xB2\x80",
        b"\xED\xBF\xBF",
        b"\xED\x9F\xBF",
        b"\xF0\x9F\x98",
        b"\xF0\x9F\x98\x80",
        b"\xF4\x90",
        b"\xF8\x88\x80\x80\x80",
        b"\xFF",
    ];

    #[test]
    fn bytes_decode_as_in_python() {
        let mut rng = Random(0x9E37_79B9);
        let mut strings: Vec<Vec<u8>> =
            (0..=0xFFFF_u16).map(|n| n.to_be_bytes().to_vec()).collect();
        strings.extend((0..20_000).map(|_| {
            let pieces = rng.below(8);
            (0..pieces).flat_map(|_| PIECES[rng.below(PIECES.len())].to_vec()).collect()
        }));
        strings.extend((0..5000).map(|_| {
            let len = rng.below(40);
            (0..len).map(|_| rng.below(256) as u8).collect()
        }));
        for (handler, dialect) in HANDLERS {
            let questions: String =
                strings.iter().map(|bytes| format!("d {handler} {}\n", hex(bytes))).collect();
            let Some(answers) = ask(&questions) else { return };
            assert_eq!(answers.len(), strings.len());
            for (bytes, answer) in strings.iter().zip(answers) {
                assert_eq!(decoded(dialect, bytes), answer.trim_end(), "{handler}: {bytes:02x?}");
            }
        }
    }

    #[test]
    fn code_points_encode_as_in_python() {
        let mut rng = Random(0x7F4A_7C15);
        let code_point = |rng: &mut Random| match rng.below(5) {
            0 => 0xD800 + rng.below(0x800),
            1 => 0xDC80 + rng.below(0x80),
            2 => rng.below(0x80),
            _ => rng.below(0x11_0000),
        };
        let strings: Vec<Vec<u32>> = (0..30_000)
            .map(|_| {
                let len = rng.below(6);
                (0..len).map(|_| code_point(&mut rng) as u32).collect()
            })
            .collect();
        for (handler, dialect) in HANDLERS {
            let numbers = |string: &[u32]| -> String {
                string.iter().map(|code_point| format!(" {}", code_point)).collect()
            };
            let questions: String =
                strings.iter().map(|string| format!("e {handler}{}\n", numbers(string))).collect();
            let Some(answers) = ask(&questions) else { return };
            assert_eq!(answers.len(), strings.len());
            for (string, answer) in strings.iter().zip(answers) {
                assert_eq!(
                    encoded(dialect, string).trim_end(),
                    answer.trim_end(),
                    "{handler}: {string:?}"
                );
            }
        }
    }
}

#[cfg(all(feature = "codec", feature = "serde"))]
mod fallback_lines {
    //! The lines of a codec with a fallback, compared with a decoder for each line, with all options.

    use utf8_codec::decoder::Status;
    use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    use utf8_codec::lines::{LineDecoder, LineError};
    use utf8_codec::{BomPolicy, ErrorMode, Utf8Error, Utf8Options};

    use crate::lines::{Item, LineSettings, line_steps};
    use crate::lists::MODES;

    const LATIN1: LegacyEncoding = LegacyEncoding::latin1();

    /// The lines of a codec are those of a decoder of its own for each line, which gets the content of the line.
    #[test]
    fn every_line_equals_that_of_the_decoder_with_all_options_at_any_split() {
        check_strings_of(2, &MODES);
        check_strings_of(3, &[ErrorMode::Fatal, ErrorMode::Escape]);
    }

    #[test]
    #[ignore = "takes a minute"]
    fn every_line_of_four_pieces_equals_that_of_the_decoder_with_all_options_at_any_split() {
        check_strings_of(4, &MODES);
    }

    #[test]
    fn an_empty_stream_whose_bom_would_decide_has_no_line_and_no_error() {
        for bom in [BomPolicy::Keep, BomPolicy::Strip, BomPolicy::Require, BomPolicy::Forbid] {
            let options = Utf8Options::new().with_bom(bom);
            let mut lines = LineDecoder::new()
                .with_options(options)
                .with_fallback(FallbackDecoder::without_bom(LATIN1));
            assert!(lines.finish_line().is_none(), "{bom:?}");
            assert_eq!(lines.decoder().error_count(), 0, "{bom:?}");
        }
    }

    fn check_strings_of(most: usize, modes: &[ErrorMode]) {
        /// Each byte is a whole line, a part of a BOM or of a character, a control, or none of these.
        const PIECES: [&[u8]; 8] =
            [b"\xC2", b"\x85", b"\xE9", b"\n", b"\xEF\xBB\xBF", b"\xFF", b"\x01", b"a"];
        let strict = [
            Utf8Options::new(),
            Utf8Options::new().reject_nul(),
            Utf8Options::new().reject_controls(),
            Utf8Options::new().reject_controls_except_whitespace(),
            Utf8Options::new().reject_noncharacters(),
            Utf8Options::new().only_mqtt_characters(),
            Utf8Options::new().only_xml_characters(),
            Utf8Options::new().only_unicode_assignables(),
            Utf8Options::new().only_displayable_characters(),
        ];
        let policies = [BomPolicy::Keep, BomPolicy::Strip, BomPolicy::Require, BomPolicy::Forbid];
        let mut strings = vec![Vec::new()];
        let mut last = strings.clone();
        for _ in 0..most {
            last = last.iter().flat_map(|s| PIECES.map(|piece| [&s[..], piece].concat())).collect();
            strings.extend_from_slice(&last);
        }
        for encoding in [LATIN1, LegacyEncoding::windows_1252()] {
            for fallback in [FallbackDecoder::line(encoding), FallbackDecoder::part(encoding)] {
                for strictness in strict {
                    for options in policies.map(|policy| strictness.with_bom(policy)) {
                        for &mode in modes {
                            for bytes in &strings {
                                check_lines(&fallback, options, strictness, mode, bytes);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Compares the lines of the whole and of its bytes with those of decoders.
    fn check_lines(
        fallback: &FallbackDecoder,
        options: Utf8Options,
        strictness: Utf8Options,
        mode: ErrorMode,
        bytes: &[u8],
    ) {
        let expected = lines_by_decoders(fallback, options, strictness, mode, bytes);
        let fallback_of_lines = Some(fallback.clone());
        let settings =
            LineSettings { options, mode, fallback: fallback_of_lines, ..LineSettings::default() };
        for size in [1, 2, bytes.len().max(1)] {
            let found = line_steps(&settings, bytes.chunks(size)).concat();
            let found: Vec<_> = found.into_iter().map(reported).collect();
            assert_eq!(found, expected, "{fallback:?} {options:?} {mode:?} {size}: {bytes:02x?}");
        }
    }

    /// The text, the number of errors and the offset of the first; or the error that rejects the line.
    type Reported = Result<(String, u64, Option<u64>), Utf8Error>;

    fn reported(line: Item) -> Reported {
        match line {
            Ok(line) => Ok((line.text.to_string(), line.error_count, line.first_error_offset)),
            Err(LineError::Utf8 { error, .. }) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }

    fn lines_by_decoders(
        fallback: &FallbackDecoder,
        options: Utf8Options,
        strictness: Utf8Options,
        mode: ErrorMode,
        bytes: &[u8],
    ) -> Vec<Reported> {
        let (mut lines, mut at, mut options) = (Vec::new(), 0, options);
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let mut decoder = fallback.clone().with_options(options);
            let mut text = String::new();
            let content = line.strip_suffix(b"\n").unwrap_or(line);
            let first = match decoder.push_to_string(content, mode, &mut text).status {
                Status::IllFormed(error) => Err(error),
                _ => decoder.finish_to_string(mode, &mut text),
            };
            let is_only_bom = decoder.bom_seen() && content.len() == 3 && line.len() == 3;
            if !is_only_bom {
                lines.push(match first {
                    Ok(()) => {
                        let first = decoder.first_error().map(|error| at + error.valid_up_to());
                        Ok((text, decoder.error_count(), first))
                    }
                    Err(error) => Err(moved(error, at)),
                });
            }
            at += line.len() as u64;
            options = strictness;
        }
        if bytes.is_empty()
            && let Err(error) =
                fallback.clone().with_options(options).finish_to_string(mode, &mut String::new())
        {
            lines.push(Err(error));
        }
        lines
    }

    /// The same error, `by` bytes later in the stream.
    fn moved(error: Utf8Error, by: u64) -> Utf8Error {
        if by == 0 {
            return error;
        }
        let mut value = serde_json::to_value(error).unwrap();
        value["valid_up_to"] = (error.valid_up_to() + by).into();
        serde_json::from_value(value).unwrap()
    }
}

#[cfg(feature = "stream")]
mod fallback_streams {
    //! The fallback in streams: pending reads, errors of the source, and text that is not copied.

    use std::convert::Infallible;

    use bytes::Bytes;
    use futures::channel::mpsc;
    use futures::stream;
    use futures::{FutureExt, StreamExt};
    use proptest::prelude::*;
    use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    use utf8_codec::stream::{StreamError, Utf8Stream};
    use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

    use crate::fallback::{cut, cuts, inputs};
    use crate::fallback_model::{EXTENTS, stream as read};

    const LATIN1: LegacyEncoding = LegacyEncoding::latin1();

    fn chunks(
        chunks: &[&[u8]],
    ) -> impl stream::Stream<Item = Result<Bytes, Infallible>> + Unpin + use<> {
        let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        stream::iter(chunks)
    }

    fn is_plain<T: Send + Sync + Unpin + Clone>() {}

    #[test]
    fn the_stream_is_send_sync_unpin_and_clone() {
        is_plain::<Utf8Stream<stream::Empty<Result<Bytes, Infallible>>, FallbackDecoder>>();
    }

    proptest! {
        #[test]
        fn errors_are_in_order_at_any_split(bytes in inputs(), lens in cuts()) {
            let options = Utf8Options::new().only_mqtt_characters();
            for extent in EXTENTS {
                let reported = |chunking: Vec<&[u8]>| {
                    read(chunking, |texts| {
                        texts.with_options(options).with_fallback(extent.decoder(LATIN1))
                    })
                };
                let whole = reported(vec![&bytes]);
                prop_assert_eq!(&reported(bytes.chunks(1).collect()), &whole);
                prop_assert_eq!(&reported(cut(&bytes, &lens)), &whole);
            }
        }
    }

    #[tokio::test]
    async fn with_fallback_keeps_held_bytes() {
        let mut texts = Utf8Stream::new(chunks(&[b"a\xC3", b"\xA9\xE9!"]));
        assert_eq!(texts.next().await.unwrap().unwrap(), "a");
        let mut texts =
            texts.with_error_mode(ErrorMode::Replacement).with_fallback(EXTENTS[0].decoder(LATIN1));
        let mut text = String::new();
        while let Some(piece) = texts.next().await {
            text += &piece.unwrap();
        }
        assert_eq!(text, "éé!");
        assert_eq!(texts.decoder().fallback_uses().first, Some(3));
    }

    #[test]
    fn a_used_decoder_is_a_setting_without_its_stream_and_its_options() {
        for extent in EXTENTS {
            let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
            let mut used = extent.decoder(LATIN1).with_options(strip);
            let _done =
                used.push_to_string(b"\xC3\xA9\xE9 \xC3", ErrorMode::Fatal, &mut String::new());
            for bytes in [&b"\xEF\xBB\xBF\xC3\xA9 \xE9"[..], b"\xC3\xA9\n\xE9\xE9", b"\xA9"] {
                let of_used = read([bytes], |texts| texts.with_fallback(used.clone()));
                let of_new = read([bytes], |texts| texts.with_fallback(extent.decoder(LATIN1)));
                assert_eq!(of_used, of_new, "{extent:?}");
            }
        }
    }

    #[tokio::test]
    async fn with_fallback_keeps_an_incomplete_character_after_pending() {
        let (sender, receiver) = mpsc::unbounded::<Result<_, Infallible>>();
        let mut texts = Utf8Stream::new(receiver);
        sender.unbounded_send(Ok(&b"a\xC3"[..])).unwrap();
        assert_eq!(texts.next().await.unwrap().unwrap(), "a");
        assert_eq!(texts.next().now_or_never(), None);
        assert_eq!(texts.decoder().incomplete(), b"\xC3");

        let mut texts = texts.with_fallback(EXTENTS[0].decoder(LATIN1));
        sender.unbounded_send(Ok(b"\xA9\xE9!")).unwrap();
        drop(sender);
        let mut text = String::new();
        while let Some(piece) = texts.next().await {
            text += &piece.unwrap();
        }
        assert_eq!((text.as_str(), texts.decoder().fallback_uses().first), ("éé!", Some(3)));
    }

    #[tokio::test]
    async fn an_inner_error_is_in_order_and_held_bytes_are_kept() {
        let inner = stream::iter([Ok(&b"\xC3"[..]), Err("cut off"), Ok(b"\xA9\n")]);
        let mut texts = Utf8Stream::new(inner).with_fallback(EXTENTS[1].decoder(LATIN1));
        assert_eq!(texts.next().await, Some(Err(StreamError::Inner("cut off"))));
        assert_eq!(texts.next().await, Some(Ok("é\n".into())));
        assert_eq!(texts.next().await, None);
        assert_eq!(texts.next().await, None);
    }

    #[test]
    fn text_without_held_bytes_is_not_copied() {
        let chunk = Bytes::from_static("Grüße\nascii".as_bytes());
        let inner = stream::iter([Ok::<_, Infallible>(chunk.clone())]);
        let mut texts = Utf8Stream::new(inner).with_fallback(EXTENTS[1].decoder(LATIN1));
        let text = texts.next().now_or_never().unwrap().unwrap().unwrap();
        assert_eq!((text.as_ptr(), text.len()), (chunk.as_ptr(), chunk.len()));
    }
}
