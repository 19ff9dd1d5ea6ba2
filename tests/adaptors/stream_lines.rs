//! `Utf8Lines` over streams, readers and text: the same lines at the same times as `Utf8LinesCodec`;
//! starting inside a stream, errors, and what follows the lines. `contract` has what they share with the other adaptors.
#![cfg(all(feature = "codec", feature = "stream"))]

use crate::script;

use std::convert::Infallible;
use std::io;
use std::pin::pin;

use crate::support::MODES;
use bytes::Bytes;
use futures::executor::block_on;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use script::Does::{Chunk, End, Pause};
use script::{Script, soon, whole};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use utf8_codec::codec::Utf8LinesCodec;
use utf8_codec::lines::{Delimiter, Line, LineError, LongLines};
use utf8_codec::stream::{StreamError, Utf8Lines, Utf8Reader, Utf8Stream, Utf8StreamExt};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

/// Formats a line or a line error.
fn reported<E: std::fmt::Display>(item: Result<Line, StreamError<E>>) -> String {
    match item {
        Ok(line) => line.to_string(),
        Err(StreamError::Line(error)) => format!("<{error}>"),
        Err(StreamError::Inner(error)) => format!("! {error}"),
        Err(_) => "?".to_owned(),
    }
}

/// Formats all items that are ready, with the source's errors after a `!` and `-` for the end.
fn ready<L, E: std::fmt::Display>(lines: &mut L) -> Vec<String>
where
    L: Stream<Item = Result<Line, StreamError<E>>> + Unpin,
{
    let mut words = Vec::new();
    while let Some(item) = lines.next().now_or_never() {
        words.push(match item {
            Some(item) => reported(item),
            None => "-".to_owned(),
        });
        if words.last().is_some_and(|word| word == "-") {
            break;
        }
    }
    words
}

/// The error of a line. Its source does not fail.
fn line_error<E: std::fmt::Debug>(error: StreamError<E>) -> LineError {
    match error {
        StreamError::Line(error) => error,
        error => panic!("{error:?}"),
    }
}

// ---- settings -----------------------------------------------------------------------------------

#[test]
fn lines_have_numbers_and_errors() {
    let mut lines = Utf8Stream::new(whole(&[b"\xEF\xBB\xBFa\xFF\nb\xC3", b"\n"]))
        .with_options(Utf8Options::new().with_bom(BomPolicy::Strip))
        .with_error_mode(ErrorMode::Replacement)
        .lines();
    assert_eq!(ready(&mut lines), ["a\u{FFFD}", "b\u{FFFD}", "-"]);
    assert_eq!(lines.decoder().error_count(), 2);
    assert_eq!(lines.decoder().first_error().unwrap().valid_up_to(), 4);
    assert!(lines.decoder().bom_seen());
}

// ---- starting inside a stream -------------------------------------------------------------------

#[test]
fn lines_start_at_the_position_of_the_stream() {
    let chunks = [&b"head\xE2"[..], b"\x82\xAC\nbody\n\xFFtail\n", b"end"];
    for (steps, expected) in [
        (0, "1@0 head€|2@8 body|3@13 <>|4@19 end|-"),
        (1, "1@4 €|2@8 body|3@13 <>|4@19 end|-"),
        (2, "1@7 |2@8 body|3@13 <>|4@19 end|-"),
        (3, "1@13 <>|2@19 end|-"),
    ] {
        let mut texts = whole(&chunks).utf8();
        for _ in 0..steps {
            texts.next().now_or_never().unwrap().unwrap().unwrap();
        }
        assert_eq!(places(&mut texts.lines()), expected, "after {steps}");
    }
    let mut ended = whole(&[b"a"]).utf8();
    while ended.next().now_or_never().unwrap().is_some() {}
    assert_eq!(places(&mut ended.lines()), "-");
}

#[test]
fn lines_start_at_the_position_of_the_reader() {
    let bytes = &b"head\xE2\x82\xAC\nbody\n\xFFtail\nend"[..];
    for (chars, expected) in [
        (0, "1@0 head€|2@8 body|3@13 <>|4@19 end|-"),
        (4, "1@4 €|2@8 body|3@13 <>|4@19 end|-"),
        (5, "1@7 |2@8 body|3@13 <>|4@19 end|-"),
        (7, "1@9 ody|2@13 <>|3@19 end|-"),
        (11, "1@13 <>|2@19 end|-"),
        (99, "-"),
    ] {
        let mut reader = Utf8Reader::new(bytes).with_capacity(6);
        if chars == 99 {
            while !matches!(reader.next_str().now_or_never().unwrap(), Ok(None)) {}
        } else {
            let next = |_| reader.next_char().now_or_never().unwrap().unwrap();
            assert_eq!((0..chars).filter_map(next).count(), chars);
        }
        let mut lines = reader.into_lines();
        assert_eq!(places(&mut lines), expected, "after {chars}");
    }
    let mut repairing = Utf8Reader::new(&b"\xFF\n"[..]).with_error_mode(ErrorMode::Escape);
    assert_eq!(repairing.next_char().now_or_never().unwrap().unwrap(), Some('\\'));
    assert_eq!(
        repairing.into_lines().next().now_or_never().unwrap().unwrap().unwrap(),
        "",
        "a partly consumed repair is consumed",
    );
}

#[test]
fn a_character_split_between_text_and_lines_is_in_the_first_line() {
    for is_pending in [false, true] {
        let does = [Chunk(b"ab\xE2\x82"), Pause, Chunk(b"\xAC\ncd\n")];
        let mut text = Script::new(&does).utf8();
        assert_eq!(text.next().now_or_never().unwrap().unwrap().unwrap(), "ab");
        assert!(!is_pending || text.next().now_or_never().is_none());
        let mut lines = text.lines();
        assert_eq!([ready(&mut lines), ready(&mut lines)].concat(), ["€", "cd"]);
    }
}

#[test]
fn lines_of_a_stream_that_has_ended_do_not_poll_it() {
    let mut text = Script::new(&[Chunk(b"ab"), End, Chunk(b"cd")]).utf8();
    while text.next().now_or_never().unwrap().is_some() {}
    let mut lines = text.lines();
    assert_eq!(ready(&mut lines), ["-"]);
    assert_eq!(lines.get_ref().polls, 2);
}

#[test]
fn a_reader_keeps_its_capacity_in_lines() {
    let script = Script::new(&[Chunk(b"one\ntwo and the rest"), End]);
    let mut lines = Utf8Reader::new(script).with_capacity(5).into_lines();
    assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "one");
    let mut reader = lines.into_reader();
    assert_eq!(block_on(reader.collect_text(100)).unwrap(), "two and the rest");
    assert_eq!(reader.get_ref().room, 5);
}

#[test]
fn offsets_of_lines_after_repaired_text_are_exact() {
    let bytes = &b"\xFFa\xFFb\nxx\xE2\x82\n\xFF\nq\n\xC3"[..];
    for (_, mode) in MODES.into_iter().filter(|&(_, mode)| mode != ErrorMode::Fatal) {
        for limit in [1, 2, 3, 4, 100] {
            let reader = || Utf8Reader::new(bytes).with_error_mode(mode);
            let mut whole = reader().into_lines().with_max_length(limit);
            let expected = places(&mut whole);
            let mut peeking = reader();
            peeking.peek_str().now_or_never().unwrap().unwrap();
            let mut lines = peeking.into_lines().with_max_length(limit);
            assert_eq!(places(&mut lines), expected, "{mode:?} {limit}");
            assert_eq!(
                lines.decoder().error_count(),
                whole.decoder().error_count(),
                "{mode:?} {limit}"
            );
            assert_eq!(
                lines.decoder().first_error(),
                whole.decoder().first_error(),
                "{mode:?} {limit}"
            );
        }
    }
    let mut escaping = Utf8Reader::new(bytes).with_error_mode(ErrorMode::Escape);
    for _ in 0..7 {
        escaping.next_char().now_or_never().unwrap().unwrap();
    }
    let expected = r"1@3 b|2@5 xx\xe2\x82|3@10 \xff|4@12 q|5@14 \xc3|-";
    assert_eq!(places(&mut escaping.into_lines()), expected);
}

#[test]
fn into_inner_returns_a_reader_at_the_next_line() {
    let reader = Utf8Reader::new(&b"one\n\xFFtwo"[..]).with_capacity(4);
    let mut lines = reader.with_error_mode(ErrorMode::Escape).into_lines();
    assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "one");
    assert_eq!(lines.rest(), b"");
    let mut reader = lines.into_inner();
    assert_eq!(reader.decoder().position(), 4);
    assert_eq!(reader.next_str().now_or_never().unwrap().unwrap(), Some(r"\xfftwo"));
    assert_eq!(reader.decoder().first_error().unwrap().valid_up_to(), 4);
}

#[test]
fn into_reader_returns_all_text_after_the_last_line() {
    let long = "long ".repeat(40);
    let bytes =
        [&b"\xEF\xBB\xBFa\xFF\n\xE2\x82\r\n\r\xFFb\xC3\xA9\xC3\n"[..], long.as_bytes(), b"\xFF"]
            .concat();
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    for (_, mode) in MODES.into_iter().filter(|&(_, mode)| mode != ErrorMode::Fatal) {
        let all_of = |bytes: &[u8]| {
            let mut reader = Utf8Reader::new(bytes).with_error_mode(mode);
            reader.collect_text(1000).now_or_never().unwrap().unwrap()
        };
        let mut whole = Utf8Reader::new(&bytes[..]).with_options(options).with_error_mode(mode);
        whole.collect_text(1000).now_or_never().unwrap().unwrap();
        for (cut, capacity) in (0..=bytes.len()).flat_map(|cut| [(cut, 7), (cut, 300)]) {
            let (mut pipe, socket) = tokio::io::duplex(1 << 10);
            let reader = Utf8Reader::new(socket).with_capacity(capacity).with_options(options);
            let mut lines = reader.with_error_mode(mode).into_lines();
            pipe.write_all(&bytes[..cut]).now_or_never().unwrap().unwrap();
            ready(&mut lines);
            let mut reader = lines.into_reader();
            let newline = bytes[..cut].iter().rposition(|&byte| byte == b'\n');
            let start = newline.map_or(if cut < 3 { 0 } else { 3 }, |at| at + 1);
            assert_eq!(reader.decoder().position(), start as u64, "{mode:?} {cut}");

            pipe.write_all(&bytes[cut..]).now_or_never().unwrap().unwrap();
            drop(pipe);
            let text = block_on(reader.collect_text(1000)).unwrap();
            assert_eq!(text, all_of(&bytes[start.max(3)..]), "{mode:?} {cut}");
            assert_eq!(
                reader.decoder().error_count(),
                whole.decoder().error_count(),
                "{mode:?} {cut}"
            );
            assert_eq!(
                reader.decoder().first_error(),
                whole.decoder().first_error(),
                "{mode:?} {cut}"
            );
            assert!(reader.decoder().bom_seen());
        }
    }
}

#[test]
fn into_reader_repeats_neither_errors_nor_the_end() {
    let bytes = &b"one\n\xFFtwo\nthree\xFF"[..];
    let mut lines = Utf8Reader::new(bytes).into_lines();
    assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "one");
    assert!(lines.next().now_or_never().unwrap().unwrap().is_err());
    let mut reader = lines.into_reader();
    assert_eq!(reader.next_str().now_or_never().unwrap().unwrap(), Some("two\nthree"));
    assert!(reader.next_str().now_or_never().unwrap().is_err());
    assert_eq!((reader.decoder().error_count(), reader.decoder().position()), (2, 15));

    let mut lines =
        Utf8Reader::new(Script::new(&[Chunk(b"line"), End, Chunk(b"after")])).into_lines();
    assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "line");
    assert!(lines.next().now_or_never().unwrap().is_none());
    assert_eq!(lines.into_reader().next_str().now_or_never().unwrap().unwrap(), None);
}

/// Formats the lines with their numbers and offsets.
fn places<L, E: std::fmt::Debug>(lines: &mut L) -> String
where
    L: Stream<Item = Result<Line, StreamError<E>>> + Unpin,
{
    let mut words: Vec<_> = std::iter::from_fn(|| lines.next().now_or_never().flatten())
        .map(|item| match item.map_err(line_error) {
            Ok(line) => format!("{}@{} {}", line.number, line.offset, line.text),
            Err(error) => format!("{}@{} <>", error.number(), error.offset()),
        })
        .collect();
    words.push("-".to_owned());
    words.join("|")
}

#[test]
fn lines_of_text_do_not_depend_on_item_boundaries() {
    let texts = stream::iter([Ok("od"), Ok(""), Err("late"), Ok("in\r"), Ok("\ndva"), Ok("\n")]);
    assert_eq!(ready(&mut texts.text_lines()), ["! late", "dva", "-"]);
    let texts = Utf8Stream::from_reader(&b"a\xFFb\nc"[..]).with_error_mode(ErrorMode::Skip);
    let upper = texts.map_ok(|text| text.to_uppercase());
    assert_eq!(ready(&mut upper.text_lines()), ["AB", "C", "-"]);
}

#[test]
fn line_offsets_are_exact_after_a_partly_consumed_repair_near_the_start() {
    let bytes = &b"\xC2\nline two\nbad \xFF\nend"[..];
    let mut reader = Utf8Reader::new(bytes).with_error_mode(ErrorMode::Escape);
    assert_eq!(reader.next_char().now_or_never().unwrap().unwrap(), Some('\\'));
    let mut lines = reader.into_lines();
    assert_eq!(places(&mut lines), r"1@1 |2@2 line two|3@11 bad \xff|4@17 end|-");
    assert_eq!(lines.decoder().position(), 20);
    assert_eq!(lines.decoder().error_count(), 2);
}

#[test]
fn lines_start_after_a_partly_consumed_repair() {
    let bytes = &b"\xE2\x82a\xFF\xF0\x9Fb\n\xC3\nend"[..];
    // The end of each unit, and whether it is ill-formed.
    let units = [
        (2, true),
        (3, false),
        (4, true),
        (6, true),
        (7, false),
        (8, false),
        (9, true),
        (10, false),
    ];
    for (_, mode) in MODES.into_iter().filter(|&(_, mode)| mode != ErrorMode::Fatal) {
        let (mut starts, mut from) = (vec![0], 0);
        for (end, is_ill_formed) in units {
            let chars = match (is_ill_formed, mode) {
                (false, _) | (true, ErrorMode::Replacement) => 1,
                (true, ErrorMode::Skip) => 0,
                (true, ErrorMode::Escape) => 4 * (end - from),
                (true, _) => end - from,
            };
            starts.extend(vec![end; chars]);
            from = end;
        }
        for (chars, start) in starts.into_iter().enumerate() {
            let mut reader = Utf8Reader::new(bytes).with_error_mode(mode);
            for _ in 0..chars {
                reader.next_char().now_or_never().unwrap().unwrap().unwrap();
            }
            let mut lines = reader.into_lines();
            let mut expected = Utf8Reader::new(&bytes[start..]).with_error_mode(mode).into_lines();
            let number = |line: Line| (line.number, line.offset, line.to_string());
            loop {
                let line = lines.next().now_or_never().unwrap().map(|line| number(line.unwrap()));
                let same = expected.next().now_or_never().unwrap().map(|line| {
                    let (line, offset, text) = number(line.unwrap());
                    (line, offset + start as u64, text)
                });
                assert_eq!(line, same, "{mode:?}, {chars} characters consumed");
                if line.is_none() {
                    break;
                }
            }
            let before = units.iter().filter(|(end, bad)| *bad && *end <= start).count() as u64;
            let errors = before + expected.decoder().error_count();
            assert_eq!(
                lines.decoder().error_count(),
                errors,
                "{mode:?}, {chars} characters consumed"
            );
            assert_eq!(lines.decoder().position(), bytes.len() as u64);
        }
    }
}

#[test]
fn lines_start_after_a_partly_consumed_repair_of_a_forbidden_or_after_a_missing_bom() {
    let reader = Utf8Reader::new(&b"\xFFab\ncd"[..]).with_error_mode(ErrorMode::Escape);
    let mut reader = reader.with_options(Utf8Options::new().with_bom(BomPolicy::Require));
    for expected in r"\xffa".chars() {
        assert_eq!(reader.next_char().now_or_never().unwrap().unwrap(), Some(expected));
    }
    assert_eq!(ready(&mut reader.into_lines()), ["b", "cd", "-"]);

    let reader = Utf8Reader::new(&b"\xEF\xBB\xBFab\ncd"[..]).with_error_mode(ErrorMode::Escape);
    let mut reader = reader.with_options(Utf8Options::new().with_bom(BomPolicy::Forbid));
    for expected in r"\xef\xbb\xbfa".chars() {
        assert_eq!(reader.next_char().now_or_never().unwrap().unwrap(), Some(expected));
    }
    assert_eq!(ready(&mut reader.into_lines()), ["b", "cd", "-"]);
}

#[test]
fn a_bom_character_after_a_partly_consumed_repair_is_text() {
    let bytes = &b"x\xFF\xEF\xBB\xBFab\ncd"[..];
    let reader = Utf8Reader::new(bytes).with_error_mode(ErrorMode::Replacement);
    let mut reader = reader.with_options(Utf8Options::new().with_bom(BomPolicy::Forbid));
    for expected in "x\u{FFFD}".chars() {
        assert_eq!(reader.next_char().now_or_never().unwrap().unwrap(), Some(expected));
    }
    assert_eq!(ready(&mut reader.into_lines()), ["\u{FEFF}ab", "cd", "-"]);
}

#[test]
fn a_rejected_character_that_is_decoded_again_as_a_line_is_counted_once() {
    let does = [Chunk(b"a\0b"), Chunk(b"c\0d\0e\nf"), End];
    let reader = Utf8Reader::new(Script::new(&does)).with_error_mode(ErrorMode::Replacement);
    let mut reader = reader.with_options(Utf8Options::new().reject_nul());
    for expected in "a\u{FFFD}bc\u{FFFD}".chars() {
        assert_eq!(reader.next_char().now_or_never().unwrap().unwrap(), Some(expected));
    }
    let mut lines = reader.into_lines();
    assert_eq!(lines.decoder().rejected_count(), 2);
    assert_eq!(ready(&mut lines), ["d\u{FFFD}e", "f", "-"]);
    assert_eq!(lines.decoder().rejected_count(), 3);
}

// ---- errors and the end -------------------------------------------------------------------------

#[test]
fn a_source_error_rejects_its_line_unless_the_source_is_a_reader() {
    let does =
        [Ok(&b"on"[..]), Err("1"), Ok(b"e\ntw\xC3"), Err("2"), Err("3"), Ok(b"\xA9"), Err("4")];
    let mut lines = Utf8Lines::new(stream::iter(does));
    assert_eq!(ready(&mut lines), ["! 1", "! 2", "! 3", "! 4", "-"]);

    for (kind, expected) in [
        (io::ErrorKind::TimedOut, &["! 1", "one", "! 2", "twé", "-"][..]),
        // The reader may have skipped bytes.
        (io::ErrorKind::InvalidData, &["! 1", "! 2", "-"]),
        (io::ErrorKind::UnexpectedEof, &["! 1", "! 2", "-"]),
        (io::ErrorKind::Other, &["! 1", "! 2", "-"]),
    ] {
        let reader = || {
            tokio_test::io::Builder::new()
                .read(b"on")
                .read_error(io::Error::new(kind, "1"))
                .read(b"e\ntw\xC3")
                .read_error(io::Error::new(kind, "2"))
                .read(b"\xA9")
                .build()
        };
        assert_eq!(ready(&mut Utf8Reader::new(reader()).into_lines()), expected);
        assert_eq!(ready(&mut Utf8Stream::from_reader(reader()).lines()), expected);
    }
}

/// What the text of `bytes` yields as lines, if it is decoded twice: through each adaptor that returns text as bytes.
fn decoded_twice(bytes: &'static [u8]) -> [Vec<String>; 6] {
    let script = || Script::new(&[Chunk(bytes), End]);
    let reader = || Utf8Reader::new(script()).into_byte_reader();
    let stream = |wrap: fn(StreamError<io::Error>) -> io::Error| {
        let texts = Utf8Stream::from_reader(script()).into_byte_stream();
        Utf8Reader::new(tokio_util::io::StreamReader::new(texts.map_err(wrap))).into_lines()
    };
    let blocking = || utf8_codec::io::Utf8Reader::new(bytes).into_byte_reader();
    let charset = utf8_codec::io::CharsetReader::new(blocking());
    [
        ready(&mut Utf8Reader::new(reader()).into_lines()),
        ready(&mut Utf8Stream::from_reader(reader()).lines()),
        ready(&mut stream(io::Error::from)),
        ready(&mut stream(io::Error::other)),
        blocking_lines(blocking()),
        blocking_lines(charset),
    ]
}

fn blocking_lines(reader: impl io::Read) -> Vec<String> {
    let lines = utf8_codec::io::Utf8Reader::new(reader).into_lines();
    lines.map(reported).chain(["-".to_owned()]).collect()
}

#[test]
fn a_line_from_which_a_reader_has_removed_an_ill_formed_part_is_rejected() {
    for (bytes, expected) in [
        (&b"pay 10\xFF00\nnext\n"[..], &["!", "next", "-"][..]),
        (b"one\n\xFF\nnext", &["one", "!", "next", "-"]),
        (b"one\npay 10\xE2\x82", &["one", "!", "-"]),
    ] {
        for words in decoded_twice(bytes) {
            let words = words.into_iter().map(|word| match word.starts_with("! ") {
                true => "!".to_owned(),
                false => word,
            });
            assert_eq!(words.collect::<Vec<_>>(), expected, "{bytes:02x?}");
        }
    }
}

#[test]
fn a_line_containing_a_text_error_is_rejected() {
    for (chunks, expected) in [
        (&[&b"{\"a\":1\xFF"[..], b"2}\nnext\n"][..], "! next -"),
        (&[b"one\n\xFFtwo\nnext\n"], "one ! next -"),
        (&[b"one\n", b"\xFF", b"two", b"\n", b"next\n"], "one ! next -"),
        (&[b"one\ntwo\xFF"], "one ! -"),
        (&[b"one\ntwo\xFF\nnext"], "one ! next -"),
        (&[b"one\ntwo\xFF\xFF-\xFF\nnext"], "one ! ! ! next -"),
        (&[b"one\ntwo\n\xFF"], "one two ! -"),
    ] {
        let mut lines = whole(chunks).utf8().text_lines();
        let words = ready(&mut lines).into_iter().map(|word| match word.split_once(' ') {
            Some(("!", _)) => "!".to_owned(),
            _ => word,
        });
        assert_eq!(words.collect::<Vec<_>>().join(" "), expected, "{chunks:02x?}");
    }
}

#[test]
fn a_line_interrupted_by_a_source_error_is_rejected_and_counted() {
    let texts = stream::iter([Ok("one\ntw"), Err("failed"), Ok("o\nthree\nfour")]);
    let mut lines = texts.text_lines();
    let mut next = || lines.next().now_or_never().unwrap();
    assert_eq!(next().unwrap().unwrap().number, 1);
    assert_eq!(next(), Some(Err(StreamError::Inner("failed"))));
    let three = next().unwrap().unwrap();
    assert_eq!((&*three, three.number, three.offset), ("three", 3, 8));
    assert_eq!(next().unwrap().unwrap(), "four");
    assert_eq!(next(), None);
}

#[tokio::test]
async fn the_rest_of_an_interrupted_line_uses_bounded_memory() {
    let rest = stream::repeat(Ok(Bytes::from(vec![b'x'; 8192]))).take(1000);
    let chunks = stream::iter([Ok(Bytes::from("begun")), Err("failed")]).chain(rest);
    let last = stream::iter([Ok(Bytes::from("\nnext\n"))]);
    let mut lines = Utf8Lines::new(chunks.chain(last));
    assert_eq!(soon(lines.next()).await, Some(Err(StreamError::Inner("failed"))));
    let next = soon(lines.next()).await.unwrap().unwrap();
    assert_eq!((&*next, next.number, next.offset), ("next", 2, 5 + 8192 * 1000 + 1));
    assert!(lines.rest().is_empty());
}

#[tokio::test]
async fn an_endless_line_is_rejected_and_the_next_is_delivered() {
    let long = stream::repeat(Ok::<_, Infallible>(Bytes::from(vec![b'x'; 8192]))).take(1000);
    let mut lines = pin!(Utf8Lines::new(long.chain(whole(&[b"\nnext\n"]).map_ok(Bytes::from))));
    let error = line_error(soon(lines.next()).await.unwrap().unwrap_err());
    let max_length = Utf8LinesCodec::DEFAULT_MAX_LENGTH;
    assert_eq!(error, LineError::TooLong { number: 1, offset: 0, max_length });
    let next = soon(lines.next()).await.unwrap().unwrap();
    assert_eq!((&*next, next.number), ("next", 2));
}

#[test]
fn an_unshared_chunk_is_not_copied() {
    let chunk = Bytes::from(b"one\ntwo\n".to_vec());
    let at = chunk.as_ptr();
    let mut lines = Utf8Lines::new(stream::iter([Ok::<_, Infallible>(chunk)]));
    let mut next = || lines.next().now_or_never().unwrap().unwrap().unwrap().text;
    let (one, two) = (next(), next());
    assert_eq!((one.as_ptr(), two.as_ptr()), (at, at.wrapping_add(4)));
}

#[test]
fn lines_are_send_sync_and_unpin() {
    fn is_plain<T: Send + Sync + Unpin + std::fmt::Debug>() {}
    is_plain::<Utf8Lines<()>>();
    is_plain::<Utf8Lines<Utf8Reader<TcpStream>>>();
}

/// What follows a line that CR LF ends, however the bytes arrive, whatever reads it.
#[tokio::test]
async fn what_follows_the_lines_begins_after_the_lf_of_a_crlf() {
    let inputs = ["a\r\nbody", "a\rbody", "a\nbody", "a\r\n\nbody", "a\r\r\nbody", "a\r\n", "a\r"];
    for input in inputs {
        let expected = &input[if input.starts_with("a\r\n") { 3 } else { 2 }..];
        for size in 1..=input.len() {
            let chunks: Vec<_> = input.as_bytes().chunks(size).map(Bytes::from_static).collect();
            let reads = || {
                let mut reads = tokio_test::io::Builder::new();
                for chunk in &chunks {
                    reads.read(chunk);
                }
                reads.build()
            };
            let context = format!("{input:?} {size}");

            let mut lines = Utf8Reader::new(reads()).into_lines();
            lines = lines.with_delimiter(Delimiter::any_newline());
            assert_eq!(lines.next().await.unwrap().unwrap(), "a", "{context}");
            assert!(!lines.rest().starts_with(b"\n") || expected.starts_with('\n'), "{context}");
            let text = lines.into_reader().collect_text(100).await.unwrap();
            assert_eq!(text, expected, "reader, {context}");

            let source = stream::iter(chunks.clone().into_iter().map(Ok::<_, Infallible>));
            let mut lines = Utf8Lines::new(source).with_delimiter(Delimiter::any_newline());
            assert_eq!(lines.next().await.unwrap().unwrap(), "a", "{context}");
            let text = lines.into_stream().collect_text(100).await.unwrap();
            assert_eq!(text, expected, "stream, {context}");

            let lines =
                utf8_codec::io::Utf8Reader::new(InPieces(input.as_bytes(), size)).into_lines();
            let mut lines = lines.with_delimiter(Delimiter::any_newline());
            assert_eq!(Iterator::next(&mut lines).unwrap().unwrap(), "a", "{context}");
            let text = lines.into_reader().collect_text(100).unwrap();
            assert_eq!(text, expected, "blocking, {context}");
        }
    }
}

/// A reader that returns at most this many bytes at a time.
struct InPieces<'a>(&'a [u8], usize);

impl io::Read for InPieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.1.min(buffer.len());
        self.0.read(&mut buffer[..len])
    }
}

#[tokio::test]
async fn a_stream_after_lines_continues_them_at_any_time() {
    let bytes = b"\xEF\xBB\xBFone\nt\xFFwo\r\nthree \xE2\x82\xAC\nfour\xC3";
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    for size in 1..=bytes.len() {
        for taken in 0..=5 {
            let chunks =
                bytes.chunks(size).map(|chunk| Ok::<_, Infallible>(Bytes::from_static(chunk)));
            let texts = Utf8Stream::new(stream::iter(chunks)).with_options(options);
            let mut lines = texts.with_error_mode(ErrorMode::Escape).lines();
            let mut text = String::new();
            for _ in 0..taken {
                let Some(line) = lines.next().await else { break };
                let line = line.unwrap();
                text += &line;
                text += if line.is_terminated() { "\n" } else { "" };
            }
            let mut texts = lines.into_stream();
            while let Some(piece) = texts.next().await {
                text += &piece.unwrap();
            }
            assert_eq!(
                text.replace('\r', ""),
                "one\nt\\xffwo\nthree €\nfour\\xc3",
                "{size} {taken}"
            );
            assert_eq!(texts.decoder().position(), bytes.len() as u64, "{size} {taken}");
            assert_eq!(texts.decoder().error_count(), 2, "{size} {taken}");
        }
    }
}

#[test]
fn a_rejected_line_is_kept_while_the_source_is_pending() {
    let script = Script::new(&[Chunk(b"t\xFFo\n"), script::Does::Pause, Chunk(b"x\n"), End]);
    let mut lines = Utf8Reader::new(script).into_lines().keep_rejected();
    assert!(lines.next().now_or_never().unwrap().unwrap().is_err());
    assert!(lines.next().now_or_never().is_none());
    assert_eq!(lines.rejected(), b"t\xFFo\n");
    assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "x");
    assert_eq!(lines.rejected(), b"t\xFFo\n");
}

#[test]
fn the_possible_start_of_a_delimiter_is_kept_of_a_rejected_line_if_the_source_fails() {
    for (delimiter, chunks, expected) in [
        (Delimiter::text("--").unwrap(), [&b"a\xFFb-"[..], b"c--ok--"], &b"a\xFFb-c--"[..]),
        (Delimiter::lf(), [b"a\xFFb\r", b"\nok\n"], b"a\xFFb\r\n"),
        (Delimiter::lf(), [b"a\xFFb", b"\nok\n"], b"a\xFFb\n"),
    ] {
        let chunks = [Ok(chunks[0]), Err("failed"), Ok(chunks[1])];
        let mut lines = Utf8Lines::new(stream::iter(chunks)).keep_rejected();
        lines = lines.with_delimiter(delimiter);
        let mut next = || lines.next().now_or_never().unwrap().unwrap();
        assert_eq!(next(), Err(StreamError::Inner("failed")));
        assert!(matches!(next(), Err(StreamError::Line(_))));
        assert_eq!(next().unwrap(), "ok");
        assert_eq!(lines.rejected(), expected);
    }
}

#[test]
fn what_follows_a_rejected_or_cut_line_is_whole_at_any_split() {
    let input = b"abcd\xC3\xA9gh\nX";
    for (long_lines, max_length, expected) in [
        (LongLines::Reject, 5, "égh\nX"),
        (LongLines::Cut, 5, "égh\nX"),
        (LongLines::Cut, 2, "cdégh\nX"),
    ] {
        for cut in 1..input.len() {
            let chunks = [&input[..cut], &input[cut..]].map(Bytes::from_static);
            let texts = Utf8Stream::new(stream::iter(chunks.map(Ok::<_, Infallible>)));
            let mut lines = texts.lines().with_max_length(max_length).with_long_lines(long_lines);
            let item = lines.next().now_or_never().unwrap().unwrap();
            assert_eq!(item.is_ok(), long_lines == LongLines::Cut);
            let text = block_on(lines.into_stream().try_collect::<Vec<_>>()).unwrap().concat();
            assert_eq!(text, expected, "{long_lines:?} {cut}");
        }
    }
    // The CR is bare, which the next chunk shows.
    let chunks = ["a\r", "x and the rest\r\nb\r\n"].map(Bytes::from);
    let texts = Utf8Stream::new(stream::iter(chunks.map(Ok::<_, Infallible>)));
    let mut lines = texts.lines().with_delimiter(Delimiter::crlf());
    assert!(lines.next().now_or_never().unwrap().unwrap().is_err());
    assert_eq!(lines.rest(), b"\rx and the rest\r\nb\r\n");
    assert_eq!(lines.next().now_or_never().unwrap().unwrap().unwrap(), "b");
}
