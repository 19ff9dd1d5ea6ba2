//! `Utf8LinesCodec`: lines.

use utf8_codec::Utf8ErrorKind;

use super::*;
use crate::lists::{assert_linear, outcomes, sum_of};
use crate::support::lines::LineSettings;
use crate::support::reference::{self, LineItem};

// ---- scripts --------------------------------------------------------------------------------

#[tokio::test(start_paused = true)]
async fn every_delimiter_ends_lines_at_any_split() {
    let table = [
        (Delimiter::lf(), "one\r\ntwo\rtwo\n\n\r\rö", [0, 5, 13, 14]),
        (Delimiter::crlf(), "one\r\ntwo\r\n\r\nö", [0, 5, 10, 12]),
        (Delimiter::crlf_or_lf(), "one\r\ntwo\n\r\nö", [0, 5, 9, 11]),
        (Delimiter::any_newline(), "one\r\ntwo\rtwo\n\n", [0, 5, 9, 13]),
        (Delimiter::nul(), "one\0two\n\r\0\0ö\r", [0, 4, 10, 11]),
        (Delimiter::text("aa").unwrap(), "oneaatwoabaaaaö", [0, 5, 12, 14]),
        (Delimiter::text("。").unwrap(), "one。two\u{3001}。。ö", [0, 6, 15, 18]),
        (Delimiter::text("--->").unwrap(), "one--->t-->--->--->ö--", [0, 7, 15, 19]),
    ];
    let texts = [
        ["one", "two\rtwo", "", "\r\rö"],
        ["one", "two", "", "ö"],
        ["one", "two", "", "ö"],
        ["one", "two", "two", ""],
        ["one", "two\n\r", "", "ö\r"],
        ["one", "twoab", "", "ö"],
        ["one", "two\u{3001}", "", "ö"],
        ["one", "t-->", "", "ö--"],
    ];
    for ((delimiter, input, offsets), texts) in table.into_iter().zip(texts) {
        let last_is_open = delimiter != Delimiter::any_newline();
        let expected: Vec<_> = (0..4)
            .map(|i| {
                let end = if i == 3 && last_is_open { " (unterminated)" } else { "" };
                format!("{}@{} {:?}{end}", i + 1, offsets[i], texts[i])
            })
            .collect();
        for size in 1..=input.len() {
            let chunks: Vec<_> = input.as_bytes().chunks(size).collect();
            let codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone());
            assert_eq!(
                reported(pausing(&chunks), codec, show_line).await,
                expected,
                "{delimiter:?} by {size}",
            );
        }
    }
}

/// Why a line is rejected, and the offset of the reason.
#[derive(Debug, PartialEq)]
enum Reason {
    BareCr(u64),
    Utf8(u64),
}

#[test]
fn a_bare_cr_rejects_its_line_at_any_split() {
    let input = b"ok\r\na\rb\r\nc\r\r\n\xFF\rd\ne\r\xFF\nend\r";
    let reason = |error| match error {
        LineError::BareCr { cr_offset, .. } => Reason::BareCr(cr_offset),
        LineError::Utf8 { error, .. } => Reason::Utf8(error.valid_up_to()),
        error => panic!("{error}"),
    };
    let bare_cr = |offset| Err(Reason::BareCr(offset));
    for mode in [ErrorMode::Fatal, ErrorMode::Replacement] {
        for cut in 0..=input.len() {
            let mut codec =
                Utf8LinesCodec::new().with_delimiter(Delimiter::crlf_or_lf()).with_error_mode(mode);
            let lines = outcomes(&mut codec, [&input[..cut], &input[cut..]]).into_iter();
            let line = |line: Result<Line, _>| line.map(String::from).map_err(reason);
            let lines: Vec<_> = lines.map(|item| line(item.unwrap())).collect();
            assert_eq!(lines[..3], [Ok("ok".to_owned()), bare_cr(5), bare_cr(10)], "{cut}");
            match mode {
                ErrorMode::Fatal => assert_eq!(lines[3], Err(Reason::Utf8(13)), "{cut}"),
                _ => assert_eq!(lines[3], bare_cr(14), "{cut}"),
            }
            assert_eq!(lines[4..], [bare_cr(18), bare_cr(24)], "{cut}");
            assert_eq!(codec.decoder().error_count(), 1, "the second FF is in a rejected line");
        }
    }
}

/// Each line is what is between two CR LF. It is rejected if it contains a CR, an LF or a byte that is not UTF-8, and
/// then no part of it is a line.
#[test]
fn crlf_lines_end_only_at_crlf_at_any_split() {
    const BYTES: &[u8] = b"a\r\n\xFF";
    let mut strings = vec![Vec::new()];
    let mut last = strings.clone();
    for _ in 0..6 {
        last = last.iter().flat_map(|s| BYTES.iter().map(|&b| [&s[..], &[b]].concat())).collect();
        strings.extend_from_slice(&last);
    }
    for (delimiter, of_model) in [
        (Delimiter::crlf(), reference::Delimiter::Crlf),
        (Delimiter::crlf_or_lf(), reference::Delimiter::CrlfOrLf),
    ] {
        for (of_mode, mode) in [MODES[0], MODES[1], MODES[2]] {
            for limit in [1, 100] {
                let delimiter = delimiter.clone();
                let settings = LineSettings { mode, delimiter, limit, ..LineSettings::default() };
                let checked = sum_of(&strings, |bytes| {
                    let model = |ended| {
                        let items = reference::lines_prefix(
                            bytes,
                            support::PLAIN,
                            of_mode,
                            &of_model,
                            limit,
                            ended,
                        );
                        items.into_iter().map(undated_item).collect::<Vec<_>>()
                    };
                    let expected = model(true);
                    let early = model(false).len();
                    for cuts in every_cut(bytes.len()) {
                        let steps = support::line_items(&settings, bytes, &cuts);
                        let items: Vec<_> = steps.concat().into_iter().map(undated_item).collect();
                        assert_eq!(items, expected, "{settings:?}: {bytes:02x?} {cuts:?}");
                        let before_the_end: usize =
                            steps[..steps.len() - 1].iter().map(Vec::len).sum();
                        assert_eq!(before_the_end, early, "early: {bytes:02x?} {cuts:?}");
                    }
                    if settings.delimiter == Delimiter::crlf()
                        && mode == ErrorMode::Fatal
                        && limit == 100
                    {
                        let lossy = String::from_utf8_lossy(bytes);
                        let mut whole: Vec<_> = lossy.split("\r\n").collect();
                        whole.truncate(whole.len() - usize::from(whole.ends_with(&[""])));
                        whole.retain(|line| !line.contains(['\r', '\n', '\u{FFFD}']));
                        let accepted: Vec<_> = expected.iter().filter_map(text_of_line).collect();
                        assert_eq!(accepted, whole, "{bytes:02x?}");
                    }
                    1
                });
                assert_eq!(checked, strings.len() as u64);
            }
        }
    }
}

fn text_of_line(item: &LineItem) -> Option<&str> {
    match item {
        LineItem::Line { text, .. } => Some(text),
        _ => None,
    }
}

#[test]
fn a_bare_lf_does_not_end_a_command() {
    let mut codec = Utf8LinesCodec::new().with_delimiter(Delimiter::crlf());
    let mut buffer = BytesMut::from("MAIL FROM:<a>\nRCPT TO:<b>\r\na\r\r\nend\r");
    let reported = [decode_lines(&mut codec, &mut buffer), end_lines(&mut codec, &mut buffer)];
    let expected = [
        "<line 1 contains a bare LF at byte 13 of the stream>",
        "<line 2 contains a bare CR at byte 28 of the stream>",
        "<line 3 contains a bare CR at byte 34 of the stream>",
    ];
    assert_eq!(reported.concat(), expected);
}

#[test]
fn a_bare_cr_in_a_replaced_buffer_rejects_its_line() {
    let mut codec = Utf8LinesCodec::new().with_delimiter(Delimiter::crlf());
    let mut buffer = BytesMut::from("a long beginning without CR");
    assert_eq!(codec.decode(&mut buffer).unwrap(), None);
    buffer.clear();
    buffer.extend_from_slice(b"a\rb\r\nc\r\n");
    let error = codec.decode(&mut buffer).unwrap().unwrap().unwrap_err();
    assert_eq!(error, LineError::BareCr { number: 1, offset: 0, cr_offset: 1 });
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "c");
}

#[test]
fn crlf_lines_are_written_whole_or_not_at_all() {
    for delimiter in [Delimiter::crlf(), Delimiter::crlf_or_lf()] {
        let mut codec = Utf8LinesCodec::new().with_delimiter(delimiter);
        let mut buffer = BytesMut::new();
        for (text, offset) in [("a\nRCPT evil", 1), ("a\r", 1), ("\r\n", 0), ("é\rb", 2), ("\n", 0)]
        {
            let error = codec.encode(text, &mut buffer).unwrap_err();
            assert!(matches!(error, CodecError::EmbeddedDelimiter { offset: at } if at == offset));
        }
        assert!(buffer.is_empty());
        codec.encode("é", &mut buffer).unwrap();
        assert_eq!(buffer, "é\r\n");
    }
}

#[tokio::test]
async fn a_command_after_a_bare_cr_or_lf_is_rejected_and_the_session_continues() {
    let (client, server) = tokio::io::duplex(16);
    let crlf = || Utf8LinesCodec::new().with_delimiter(Delimiter::crlf()).with_max_length(510);
    let serve = tokio::spawn(async move {
        let mut session = Framed::new(server, crlf());
        let mut accepted = Vec::new();
        while let Some(line) = session.next().await {
            let reply = match line.unwrap() {
                Ok(line) => {
                    accepted.push(line.text.to_string());
                    "250 ok".to_owned()
                }
                Err(error) => format!("500 {error}"),
            };
            session.send(reply).await.unwrap();
        }
        accepted
    });
    let (replies, mut commands) = tokio::io::split(client);
    let send = tokio::spawn(async move {
        let input =
            b"HELO a\r\nMAIL FROM:<a>\rRCPT TO:<evil>\r\nMAIL FROM:<a>\nRCPT TO:<evil>\r\nQUIT\r\n";
        commands.write_all(input).await.unwrap();
        commands.shutdown().await.unwrap();
    });
    let replies: Vec<_> = FramedRead::new(replies, crlf())
        .map(|line| line.unwrap().unwrap().text.to_string())
        .take(4)
        .collect()
        .await;
    send.await.unwrap();
    let rejections = [
        "500 line 2 contains a bare CR at byte 21 of the stream",
        "500 line 3 contains a bare LF at byte 51 of the stream",
    ];
    assert_eq!(replies, ["250 ok", rejections[0], rejections[1], "250 ok"]);
    assert_eq!(serve.await.unwrap(), ["HELO a", "QUIT"]);
}

#[tokio::test(start_paused = true)]
async fn a_late_lf_after_cr_does_not_end_a_second_line() {
    let codec = Utf8LinesCodec::new().with_delimiter(Delimiter::any_newline());
    let mut lines = FramedRead::new(pausing(&[b"a\r", b"\nb\r", b"\r\n", b"\n"]), codec);
    let first = lines.next().now_or_never().flatten().unwrap().unwrap().unwrap();
    assert_eq!(first.text, "a", "a line that a CR ends does not wait for an LF");
    let rest: Vec<_> = lines.map_ok(show_line).try_collect().await.unwrap();
    assert_eq!(rest, ["2@3 \"b\"", "3@5 \"\"", "4@7 \"\""]);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_line_does_not_affect_the_next() {
    let reader = pausing(&[b"go", b"od\nb\xFFd\xC0", b"\xFF\nnext\nlast \xE2\x82"]);
    assert_eq!(
        reported(reader, Utf8LinesCodec::new(), show_line).await,
        [
            "1@0 \"good\"",
            "<line 2 is not valid UTF-8: invalid byte (ff) at byte 6 of the stream>",
            "3@11 \"next\"",
            "<line 4 is not valid UTF-8: unexpected end inside a character (e2 82) at byte 21 of the stream>",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_line_error_is_returned_before_the_rest_of_the_line_arrives() {
    let mut script = Builder::new();
    script.read(b"b\xFF").wait(Duration::from_secs(3600)).read(b"d\n");
    let mut lines = FramedRead::new(script.build(), Utf8LinesCodec::new());
    let first = lines.next().now_or_never().flatten().unwrap().unwrap();
    assert_eq!(first.unwrap_err().number(), 1);
    assert!(lines.next().await.is_none());
}

// ---- calls after errors and after the end -----------------------------------------------------

#[test]
fn line_numbers_continue_after_the_end_until_reset() {
    for delimiter in [Delimiter::lf(), Delimiter::any_newline()] {
        let mut codec = Utf8LinesCodec::new().with_options(STRIP).with_delimiter(delimiter);
        let mut buffer = BytesMut::from("\u{FEFF}a\nb");
        assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@3 \"a\""]);
        assert_eq!(end_lines(&mut codec, &mut buffer), ["2@5 \"b\" (unterminated)"]);

        buffer.extend_from_slice("\u{FEFF}c\nd\u{FF}\n".as_bytes());
        assert_eq!(decode_lines(&mut codec, &mut buffer), ["3@6 \"\\u{feff}c\"", "4@11 \"dÿ\""],);
        assert_eq!(end_lines(&mut codec, &mut buffer), [""; 0]);

        buffer.extend_from_slice(b"invalid\xFF and never ended");
        let reported = decode_lines(&mut codec, &mut buffer);
        assert!(reported[0].starts_with("<line 5 is not valid UTF-8"), "{reported:?}");
        assert_eq!(end_lines(&mut codec, &mut buffer), [""; 0]);
        buffer.extend_from_slice(b"six\n");
        assert_eq!(decode_lines(&mut codec, &mut buffer), ["6@39 \"six\""]);

        codec.reset();
        buffer.extend_from_slice("\u{FEFF}a\n".as_bytes());
        assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@3 \"a\""]);
    }
}

#[test]
fn a_line_equals_its_text() {
    let mut decoder = LineDecoder::new();
    let mut lines = decoder.push(b"one\n");
    let line = lines.next_line().unwrap().unwrap();
    assert!(line == *"one" && line == "one" && line.as_ref() == "one");
    assert!(line != *"two" && line != "two");
}

#[test]
fn options_set_inside_a_stream_start_a_new_stream_at_line_one() {
    let mut codec = Utf8LinesCodec::new();
    let mut buffer = BytesMut::from("one\n\u{FEFF}two\nbegun");
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "one");
    let mut codec = codec.with_options(STRIP);
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@3 \"two\""]);
    let mut codec = codec.with_options(STRIP);
    buffer.extend_from_slice(b"\n");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@0 \"begun\""]);
}

#[test]
fn reset_inside_a_rejected_line_restarts_at_line_one() {
    let mut codec = Utf8LinesCodec::new().with_max_length(3);
    let mut buffer = BytesMut::from("far too long");
    assert!(decode_lines(&mut codec, &mut buffer)[0].starts_with("<line 1"));
    codec.reset();
    buffer.clear();
    buffer.extend_from_slice(b"new\n");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@0 \"new\""]);
}

#[test]
fn an_lf_after_the_end_is_an_empty_line() {
    let mut codec = Utf8LinesCodec::new().with_delimiter(Delimiter::any_newline());
    let mut buffer = BytesMut::from("a\r");
    assert_eq!(end_lines(&mut codec, &mut buffer), ["1@0 \"a\""]);
    buffer.extend_from_slice(b"\n");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["2@2 \"\""]);
}

/// Checks an empty line, then a line that starts with U+FEFF.
fn recognises_no_bom_after_an_empty_line(delimiter: &Delimiter) {
    let end = delimiter.as_str();
    let input = format!("{end}\u{FEFF}x{end}");
    for (options, mode) in [
        (STRIP, ErrorMode::Fatal),
        (FORBID, ErrorMode::Fatal),
        (STRIP, ErrorMode::Skip),
        (FORBID, ErrorMode::Skip),
        (REQUIRE, ErrorMode::Skip),
    ] {
        let mut codec = Utf8LinesCodec::new()
            .with_options(options)
            .with_error_mode(mode)
            .with_delimiter(delimiter.clone());
        let mut buffer = BytesMut::from(&*input);
        let expected = ["1@0 \"\"".to_owned(), format!("2@{} \"\\u{{feff}}x\"", end.len())];
        let context = format!("{delimiter:?}, {options:?}, {mode:?}");
        assert_eq!(decode_lines(&mut codec, &mut buffer), expected, "{context}");
        assert_eq!(codec.decoder().error_count(), u64::from(options == REQUIRE), "{context}");
    }
}

/// Checks an empty line where a BOM is required, then another.
fn reports_a_missing_bom_before_an_empty_line(delimiter: &Delimiter) {
    let end = delimiter.as_str();
    let mut codec = Utf8LinesCodec::new().with_options(REQUIRE).with_delimiter(delimiter.clone());
    let mut buffer = BytesMut::from(end);
    assert_eq!(
        decode_lines(&mut codec, &mut buffer),
        ["<line 1: missing byte order mark>"],
        "{delimiter:?}",
    );
    buffer.extend_from_slice(end.as_bytes());
    let second = format!("2@{} \"\"", end.len());
    assert_eq!(decode_lines(&mut codec, &mut buffer), [second], "{delimiter:?}");
}

#[test]
fn a_bom_is_recognised_only_in_the_first_line_even_if_empty() {
    for delimiter in delimiters() {
        recognises_no_bom_after_an_empty_line(&delimiter);
    }
}

#[test]
fn a_missing_bom_of_an_empty_stream_is_its_first_line() {
    let mut codec = Utf8LinesCodec::new().with_options(REQUIRE);
    let mut buffer = BytesMut::new();
    let error = codec.decode_eof(&mut buffer).unwrap().unwrap().unwrap_err();
    assert_eq!(error.number(), 1);
    // A file that grows continues after its end.
    buffer.extend_from_slice(b"more\n");
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap().number, 2);
}

#[test]
fn a_missing_bom_is_the_error_of_an_empty_first_line() {
    for delimiter in delimiters() {
        reports_a_missing_bom_before_an_empty_line(&delimiter);
    }
}

#[test]
fn the_rest_of_a_character_at_a_mid_stream_start_ends_with_its_line() {
    let options = Utf8Options::new().with_mid_stream_start();
    for start in [&b""[..], b"\x80", b"\x80\x81", b"\x80\x81\x82"] {
        let input = [start, b"\n\x83\n"].concat();
        for cuts in every_cut(input.len()) {
            let mut codec =
                Utf8LinesCodec::new().with_options(options).with_error_mode(ErrorMode::Latin1);
            let (mut buffer, mut texts) = (BytesMut::new(), Vec::new());
            for (from, to) in support::chunks(input.len(), &cuts) {
                buffer.extend_from_slice(&input[from..to]);
                while let Some(line) = codec.decode(&mut buffer).unwrap() {
                    texts.push(line.unwrap().text.to_string());
                }
            }
            assert_eq!(texts, ["", "\u{83}"], "{start:?} {cuts:?}");
            assert_eq!(codec.decoder().skipped(), start.len(), "{cuts:?}");
        }
    }
}

/// A fixed bug: the fullwidth comma starts with EF, as the BOM does. The byte was held as a possible
/// BOM, and U+FEFF at the start of the second line was taken for one.
#[test]
fn a_delimiter_that_starts_like_a_bom_ends_bom_detection() {
    recognises_no_bom_after_an_empty_line(&Delimiter::text("，").unwrap());
}

/// A fixed bug: the empty line was accepted although the required BOM was missing.
#[test]
fn a_delimiter_that_starts_like_a_bom_does_not_satisfy_require() {
    reports_a_missing_bom_before_an_empty_line(&Delimiter::text("，").unwrap());
}

#[test]
fn strictness_exempts_the_delimiter() {
    let options = Utf8Options::new().reject_nul().reject_controls().reject_noncharacters();
    let odd = Delimiter::text("\u{1}\u{FFFF}").unwrap();
    for delimiter in [Delimiter::lf(), Delimiter::any_newline(), Delimiter::nul(), odd] {
        for end in ["\r\n", delimiter.as_str()] {
            if end == "\r\n" && delimiter.as_str() != "\n" {
                continue;
            }
            let mut codec =
                Utf8LinesCodec::new().with_options(options).with_delimiter(delimiter.clone());
            let mut buffer = BytesMut::new();
            let mut reported = Vec::new();
            for byte in format!("ab{end}{end}c{end}").bytes() {
                buffer.extend_from_slice(&[byte]);
                reported.extend(decode_lines(&mut codec, &mut buffer));
            }
            let (second, third) = (2 + end.len(), 2 + 2 * end.len());
            let expected =
                ["1@0 \"ab\"".to_owned(), format!("2@{second} \"\""), format!("3@{third} \"c\"")];
            assert_eq!(reported, expected, "{delimiter:?} as {end:?}");
            assert_eq!(codec.decoder().error_count(), 0);
        }
    }
}

// ---- into_parts -------------------------------------------------------------------------------

#[tokio::test(start_paused = true)]
async fn into_parts_inside_a_line_loses_no_data() {
    let script: &[&[u8]] = &[b"one\nha\xC3", b"\xB6\r\nthree"];
    for (_, mode) in MODES {
        let codec = Utf8LinesCodec::new().with_error_mode(mode);
        let reported = taken_apart_and_put_together(script, codec, show_line, b"ha\xC3").await;
        assert_eq!(reported, ["1@0 \"one\"", "2@4 \"haö\"", "3@10 \"three\" (unterminated)"]);
    }
}

// ---- no copies --------------------------------------------------------------------------------

#[test]
fn clean_lines_are_not_copied_in_any_mode_with_any_delimiter() {
    for (_, mode) in MODES {
        for delimiter in delimiters() {
            let end = delimiter.as_str();
            let input = format!("one{end}zwö{end}{end}vi€r{end}last");
            let starts =
                [0, 3 + end.len(), 7 + 2 * end.len(), 7 + 3 * end.len(), 13 + 4 * end.len()];
            for size in 1..=input.len() {
                let (mut buffer, start) = read_buffer(b"");
                let mut codec =
                    Utf8LinesCodec::new().with_error_mode(mode).with_delimiter(delimiter.clone());
                let mut lines = Vec::new();
                for chunk in input.as_bytes().chunks(size) {
                    buffer.extend_from_slice(chunk);
                    while let Some(line) = codec.decode(&mut buffer).unwrap() {
                        lines.push(line.unwrap());
                    }
                }
                lines.push(codec.decode_eof(&mut buffer).unwrap().unwrap().unwrap());
                assert_eq!(lines.len(), 5);
                for (line, offset) in lines.iter().zip(starts) {
                    assert_eq!(line.offset, offset as u64);
                    if !line.is_empty() {
                        assert_eq!(place(line), start + offset, "{delimiter:?}, {mode:?}: {line}");
                    }
                }
            }
        }
    }
}

#[test]
fn only_repaired_lines_are_copied() {
    for (_, mode) in MODES.into_iter().skip(1) {
        let (mut buffer, start) = read_buffer(b"one\nt\xFFo\nthree\n");
        let mut codec = Utf8LinesCodec::new().with_error_mode(mode);
        let mut next = || codec.decode(&mut buffer).unwrap().unwrap().unwrap();
        let (one, two, three) = (next(), next(), next());
        assert_eq!((place(&one), place(&three)), (start, start + 8));
        assert!(!(start..start + 1024).contains(&place(&two)), "{mode:?}");
    }
}

// ---- random bytes -------------------------------------------------------------------------------

proptest! {
    #[test]
    fn error_count_covers_the_whole_stream(
        bytes in hostile_bytes(24),
        cuts in any_cuts(),
        (_, mode) in prop::sample::select(&MODES[1..]),
        options in prop::sample::select(starts().to_vec()),
        delimiter in prop::sample::select(delimiters().to_vec()),
    ) {
        let mut decoder = Utf8Decoder::new().with_options(options);
        decoder.push(&bytes).for_each(drop);
        while decoder.finish().is_err() {}

        let mut codec = Utf8LinesCodec::new()
            .with_options(options)
            .with_error_mode(mode)
            .with_delimiter(delimiter);
        let mut buffer = BytesMut::new();
        for chunk in pieces_of(&bytes, &cuts) {
            buffer.extend_from_slice(chunk);
            decode_lines(&mut codec, &mut buffer);
        }
        end_lines(&mut codec, &mut buffer);
        prop_assert_eq!(codec.decoder().error_count(), decoder.error_count());
        prop_assert_eq!(codec.decoder().first_error(), decoder.first_error());
        prop_assert_eq!(codec.decoder().skipped(), decoder.skipped());
    }
}

proptest! {
    #[test]
    fn encoded_lines_decode_to_the_same_lines(
        texts in prop::collection::vec(texts_near_delimiters(), 1..6),
        delimiter in prop::sample::select(&[
            "\n", "\r", "\r\n", "lf", "any", "nul", "a", "aa", "aab", "aba", "abab", "é", "。", "a\r", "\u{FEFF}",
        ][..]),
        bom in any::<bool>(),
    ) {
        let delimiter = match delimiter {
            "lf" => Delimiter::lf(),
            "any" => Delimiter::any_newline(),
            "nul" => Delimiter::nul(),
            text => Delimiter::text(text).unwrap(),
        };
        let mut codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone());
        if bom {
            codec = codec.with_encoder(Utf8Encoder::new().with_bom()).with_options(STRIP);
        }
        let (mut wire, mut accepted) = (BytesMut::new(), Vec::new());
        for text in texts {
            let before = wire.len();
            match codec.encode(&*text, &mut wire) {
                Ok(()) => accepted.push(text),
                Err(CodecError::EmbeddedDelimiter { offset: at }) => {
                    prop_assert!(at < text.len());
                    prop_assert_eq!(wire.len(), before, "a rejected text is not written");
                    // Rejected for a reason: if written, its line would end early.
                    let mut forced = BytesMut::from(&*format!("{text}{}", delimiter.as_str()));
                    let mut reader = Utf8LinesCodec::new().with_delimiter(delimiter.clone());
                    let line = reader.decode(&mut forced).unwrap().unwrap().unwrap();
                    prop_assert!(line.len() < text.len() && text.starts_with(&*line.text));
                }
                Err(error) => panic!("{error}"),
            }
        }
        let mut read = Vec::new();
        while let Some(line) = codec.decode_eof(&mut wire).unwrap() {
            let line = line.unwrap();
            prop_assert!(line.is_terminated());
            read.push(line.to_string());
        }
        prop_assert_eq!(read, accepted);
    }
}

fn texts_near_delimiters() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(&["a", "b", "\r", "\n", "\0", "é", "。", "\u{3001}"][..])
            .prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

// ---- encoders -----------------------------------------------------------------------------------

#[test]
fn a_rejected_line_leaves_the_bom_to_the_next() {
    let mut codec = Utf8LinesCodec::new().with_encoder(Utf8Encoder::new().with_bom());
    codec.encode("two\nlines", &mut BytesMut::new()).unwrap_err();
    assert_eq!(encoded(&mut codec, "one"), b"\xEF\xBB\xBFone\n"[..]);
}

#[tokio::test]
async fn every_text_type_can_be_sent_as_a_line() {
    let (mut peer, socket) = duplex(1024);
    let mut framed = Framed::new(socket, Utf8LinesCodec::new());
    let owned = String::from("String");
    framed.feed("str").await.unwrap();
    framed.feed(&owned).await.unwrap();
    framed.feed(owned).await.unwrap();
    framed.feed(Cow::Borrowed("Cow")).await.unwrap();
    framed.feed(ByteString::from("ByteString")).await.unwrap();
    let line = Utf8LinesCodec::new().decode(&mut BytesMut::from("Line\n")).unwrap();
    framed.feed(line.unwrap().unwrap()).await.unwrap();
    SinkExt::<&str>::flush(&mut framed).await.unwrap();
    SinkExt::<&str>::close(&mut framed).await.unwrap();
    let mut text = String::new();
    peer.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "str\nString\nString\nCow\nByteString\nLine\n");
}

#[tokio::test]
async fn the_sink_is_usable_after_a_rejected_line() {
    let script = Builder::new().write(b"one\n").write(b"two\n").build();
    let mut sink = FramedWrite::new(script, Utf8LinesCodec::new());
    sink.send("one").await.unwrap();
    let error = sink.send("x\ny").await.unwrap_err();
    assert!(matches!(error, CodecError::EmbeddedDelimiter { offset: 1 }));
    assert_eq!(error.to_string(), "text contains a delimiter, or a bare CR or LF, at byte 1");
    sink.send("two").await.unwrap();
}

#[tokio::test]
async fn a_write_error_keeps_its_kind_and_message() {
    let failure = io::Error::new(io::ErrorKind::BrokenPipe, "gone");
    let script = Builder::new().write_error(failure).build();
    let mut sink = FramedWrite::new(script, Utf8LinesCodec::new());
    let error = sink.send("one").await.unwrap_err();
    assert_eq!(error.to_string(), "gone");
    assert!(matches!(error, CodecError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe));
}

#[test]
fn texts_that_would_decode_differently_are_rejected() {
    let text = |text| Delimiter::text(text).unwrap();
    let table = [
        (Delimiter::lf(), "a\nb", Some(1)),
        (Delimiter::lf(), "\n", Some(0)),
        (Delimiter::lf(), "a\r", Some(1)),
        (Delimiter::lf(), "\r", Some(0)),
        (Delimiter::lf(), "a\rb", None),
        (Delimiter::lf(), "", None),
        (Delimiter::any_newline(), "a\rb", Some(1)),
        (Delimiter::any_newline(), "a\nb", Some(1)),
        (Delimiter::any_newline(), "a\r", Some(1)),
        (Delimiter::any_newline(), "a\u{2028}b\u{85}", None),
        (Delimiter::nul(), "a\0", Some(1)),
        (Delimiter::nul(), "a\r\n", None),
        (text("aa"), "ba", Some(1)),
        (text("aa"), "baa", Some(1)),
        (text("aa"), "a", Some(0)),
        (text("aa"), "ab", None),
        (text("aba"), "cab", Some(1)),
        (text("aba"), "ca", None),
        (text("--->"), "x--->", Some(1)),
        (text("--->"), "x---", None),
        (text("。"), "x。", Some(1)),
        (text("。"), "x\u{3001}", None),
        (text("\n"), "a\r", None),
        (text("\r\n"), "a\r", None),
        (text("\r\n"), "a\r\r\n", Some(2)),
        (text("\r\n"), "a\r\nb", Some(1)),
        (text("é"), "e\u{301}", None),
    ];
    for (delimiter, text, expected) in table {
        let mut codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone());
        let at = match codec.encode(text, &mut BytesMut::new()) {
            Ok(()) => None,
            Err(CodecError::EmbeddedDelimiter { offset }) => Some(offset),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(at, expected, "{text:?} with {delimiter:?}");
    }
}

/// A fixed bug: the CR belongs to the delimiter, so the line would end at the CR; the error reported
/// the LF.
#[test]
fn the_offset_of_an_embedded_crlf_is_that_of_its_cr() {
    let error = Utf8LinesCodec::new().encode("a\r\nb", &mut BytesMut::new()).unwrap_err();
    assert_eq!(error.to_string(), "text contains a delimiter, or a bare CR or LF, at byte 1");
}

// ---- limits -------------------------------------------------------------------------------------

/// Contents of exactly `len` bytes with characters of all lengths and without a delimiter.
fn contents(len: usize) -> Vec<String> {
    let mut contents = vec!["x".repeat(len)];
    for c in ["é", "€", "😀"] {
        let mut content = c.repeat(len / c.len());
        content += &"x".repeat(len - content.len());
        contents.push(content);
    }
    contents
}

#[test]
fn the_length_limit_is_exact_at_any_split() {
    for delimiter in delimiters() {
        let ends: &[&str] = match delimiter.as_str() {
            "\n" if delimiter == Delimiter::lf() => &["\n", "\r\n"],
            "\n" => &["\n", "\r\n", "\r"],
            text => &[text],
        };
        for (limit, &end) in
            [0, 1, 4, 5].iter().flat_map(|limit| ends.iter().map(move |e| (limit, e)))
        {
            for len in [*limit, limit + 1, limit + 2] {
                for content in contents(len) {
                    let input = format!("{content}{end}{}{end}", "x".repeat(*limit));
                    for cuts in every_cut(input.len()) {
                        let (limit, delimiter) = (*limit, delimiter.clone());
                        let settings = LineSettings { delimiter, limit, ..LineSettings::default() };
                        check_limit(&settings, &input, &content, end, &cuts);
                    }
                }
            }
        }
    }
}

fn every_cut(len: usize) -> Vec<Vec<usize>> {
    let mut cuts: Vec<_> = (0..=len).map(|cut| vec![cut]).collect();
    cuts.push((1..len).collect());
    cuts
}

fn check_limit(settings: &LineSettings, input: &str, content: &str, end: &str, cuts: &[usize]) {
    let context = format!("{settings:?}: {input:?} split at {cuts:?}");
    let steps = support::line_items(settings, input.as_bytes(), cuts);
    let items: Vec<_> = steps.concat().into_iter().map(undated_item).collect();
    let next = content.len() + end.len();
    assert_eq!(items.len(), 2, "{context}");
    let reported = format!("{:?}", items[0]);
    match content.len() <= settings.limit {
        true => assert!(reported.starts_with("Line {"), "{reported}, {context}"),
        false => assert_eq!(reported, "TooLong { number: 1, offset: 0 }", "{context}"),
    }
    let reported = format!("{:?}", items[1]);
    assert!(
        reported.contains("number: 2") && reported.contains(&format!("offset: {next},")),
        "{context}"
    );
    assert!(reported.starts_with("Line {"), "{context}");
}

/// In every form: the characters up to the limit, and the next line.
#[test]
fn a_line_is_cut_in_the_same_way_whole_in_halves_and_byte_by_byte() {
    const PIECES: [&[u8]; 6] = [b"a", b"\xC3\xA9", b"\r", b"\n", b"\xFF", b"\xE2\x82"];
    let mut strings = vec![Vec::new()];
    let mut last = strings.clone();
    for _ in 0..4 {
        last = last.iter().flat_map(|s| PIECES.map(|piece| [&s[..], piece].concat())).collect();
        strings.extend_from_slice(&last);
    }
    let delimiters = [
        reference::Delimiter::Lf,
        reference::Delimiter::Crlf,
        reference::Delimiter::Any,
        reference::Delimiter::Str("a\n".to_owned()),
    ];
    for (of_mode, mode) in [MODES[0], MODES[3]] {
        for (delimiter, len) in delimiters.iter().flat_map(|it| [1, 3].map(|len| (it, len))) {
            let limit = reference::Limit::Cut(len);
            let settings = support::line_settings(support::PLAIN, mode, delimiter, limit);
            for bytes in &strings {
                let expected =
                    reference::lines_prefix(bytes, support::PLAIN, of_mode, delimiter, limit, true);
                let expected: Vec<_> = expected.into_iter().map(undated_item).collect();
                for cuts in [vec![bytes.len() / 2], (1..bytes.len()).collect(), Vec::new()] {
                    let items = support::line_items(&settings, bytes, &cuts).concat();
                    let items: Vec<_> = items.into_iter().map(undated_item).collect();
                    assert_eq!(items, expected, "{settings:?}: {bytes:02x?} {cuts:?}");
                }
            }
        }
    }
}

#[test]
fn a_line_is_cut_as_soon_as_it_is_too_long_and_its_rest_is_dropped() {
    let codec = || Utf8LinesCodec::new().with_max_length(3).with_long_lines(LongLines::Cut);
    let (read, shown) = bytes_until_an_item(codec(), b"abcd");
    assert_eq!((read, &shown[..]), (4, "1@0 \"abc\" (unterminated)"));
    let mut buffer = BytesMut::from(&b"ab\xC3\xA9 \xFF\xFF\nabc\n"[..]);
    let mut codec = codec();
    let line = codec.decode(&mut buffer).unwrap().unwrap().unwrap();
    assert_eq!((&line.text[..], line.is_cut(), line.is_terminated()), ("ab", true, false));
    let line = codec.decode(&mut buffer).unwrap().unwrap().unwrap();
    assert_eq!((&line.text[..], line.is_cut(), line.is_terminated()), ("abc", false, true));
    assert_eq!((line.number, line.offset), (2, 8));
    assert_eq!(codec.decoder().error_count(), 0, "the rest is not validated");
}

#[test]
fn a_line_that_is_being_rejected_is_not_forgotten_if_rejected_lines_are_kept_twice() {
    let mut codec = Utf8LinesCodec::new().keep_rejected();
    let mut buffer = BytesMut::from(&b"a\xFF"[..]);
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    let mut codec = codec.keep_rejected();
    buffer.extend_from_slice(b"b\nok\n");
    assert!(codec.decode(&mut buffer).unwrap().unwrap().is_err());
    assert_eq!(codec.rejected(), b"a\xFFb\n");
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "ok");
    codec.reset();
    assert_eq!(codec.rejected(), b"");
}

#[test]
fn an_ill_formed_part_at_the_end_of_the_limit_is_an_error_whatever_follows_it() {
    for delimiter in [Delimiter::lf(), Delimiter::crlf(), Delimiter::text(" au-").unwrap()] {
        for next in [&b" au lait"[..], b"\rau lait", b"au lait", b"\xFF and more", b"\xC3\xA9t\xE9"]
        {
            let bytes = [&b"caf\xE9"[..], next, delimiter.as_str().as_bytes()].concat();
            for (mode, expected) in [
                (ErrorMode::Fatal, None),
                (ErrorMode::Replacement, Some("caf\u{FFFD}")),
                (ErrorMode::Latin1, Some("café")),
                (ErrorMode::Skip, Some("caf")),
            ] {
                for size in 1..=bytes.len() {
                    let mut codec = Utf8LinesCodec::new()
                        .with_error_mode(mode)
                        .with_delimiter(delimiter.clone())
                        .with_max_length(4)
                        .with_long_lines(LongLines::Cut);
                    let (mut buffer, mut item) = (BytesMut::new(), None);
                    for chunk in bytes.chunks(size) {
                        buffer.extend_from_slice(chunk);
                        item = item.or(codec.decode(&mut buffer).unwrap());
                    }
                    let item = item.unwrap();
                    let case = format!("{bytes:02x?} {mode:?} {size}: {item:?}");
                    match (item, expected) {
                        (Ok(line), Some(text)) => {
                            assert_eq!((&*line.text, line.error_count), (text, 1), "{case}");
                        }
                        (Err(LineError::Utf8 { error, .. }), None) => {
                            assert_eq!(error.valid_up_to(), 3, "{case}");
                        }
                        _ => panic!("{case}"),
                    }
                    assert_eq!(codec.decoder().error_count(), 1, "{case}");
                }
            }
        }
    }
    // Not if the limit splits a character, or what may be one.
    for bytes in ["caf\u{E9}\n".as_bytes(), b"caf\xE2\x82 \n", b"caf\xE2\x82\xAC\n"] {
        let codec = Utf8LinesCodec::new().with_max_length(4).with_long_lines(LongLines::Cut);
        let (mut codec, mut buffer) = (codec, BytesMut::from(bytes));
        let line = codec.decode(&mut buffer).unwrap().unwrap().unwrap();
        assert_eq!((&*line.text, line.error_count), ("caf", 0), "{bytes:02x?}");
    }
}

/// If the end of the stream shows that a BOM is missing, that error precedes a cut at the limit.
#[test]
fn a_missing_bom_is_reported_before_a_line_is_cut() {
    for input in [&b"\xEF\xBB"[..], b"\xEF", b"\xEF\xBB\n", b"ab"] {
        for limit in [0, 1] {
            let mut codec = Utf8LinesCodec::new()
                .with_options(Utf8Options::new().with_bom(BomPolicy::Require))
                .with_max_length(limit)
                .with_long_lines(LongLines::Cut);
            let mut buffer = BytesMut::from(input);
            let error = codec.decode_eof(&mut buffer).unwrap().unwrap().unwrap_err();
            let LineError::Utf8 { error, .. } = error else { panic!("{error}") };
            assert_eq!(error.kind(), utf8_codec::Utf8ErrorKind::MissingBom, "{input:02x?} {limit}");
        }
    }
}

/// The last character is complete in a legacy encoding too.
#[cfg(feature = "encoding_rs")]
#[test]
fn a_line_that_falls_back_is_cut_between_characters_at_any_split() {
    let sjis = LegacyEncoding::whatwg(encoding_rs::SHIFT_JIS).unwrap();
    let latin1 = LegacyEncoding::latin1();
    let gb18030 = LegacyEncoding::whatwg(encoding_rs::GB18030).unwrap();
    let table: [(FallbackDecoder, &[u8], &str); 17] = [
        (FallbackDecoder::line(latin1), b"ca\xE9 au lait", "ca\u{e9} "),
        (FallbackDecoder::line(latin1), b"caf\xC3\xA9", "caf"),
        (FallbackDecoder::part(latin1), b"c\xFF\xC3\xA9 \xFF", "c\u{ff}\u{e9}"),
        (FallbackDecoder::part(latin1), b"c\xFF\xFF\xE9 \xFF", "c\u{ff}\u{ff}\u{e9}"),
        (FallbackDecoder::part(latin1), b"c\xFF\xFF\xE9\x80 \xFF", "c\u{ff}\u{ff}"),
        (FallbackDecoder::part(latin1), b"\xC3\xA9b\xE9 xyz", "\u{e9}b\u{e9}"),
        (FallbackDecoder::part(sjis), b"\xC3\xA9b\xE9 xyz", "\u{e9}b\u{fffd}"),
        // The limit splits a character after an ill-formed part, or a legacy character, or neither.
        (FallbackDecoder::part(sjis), b"a\x93\xE3\x81\x82zz", "a\u{fffd}"),
        (FallbackDecoder::part(gb18030), b"ab\x81\xC3\xA9zz", "ab\u{fffd}"),
        (FallbackDecoder::part(gb18030), b"abc\xB0\xA1zz", "abc\u{fffd}"),
        (FallbackDecoder::part(gb18030), b"ab\xB0\xA1zz", "ab\u{554a}"),
        (FallbackDecoder::line(latin1), b"\xC3\xA9b\xE9 xyz", "\u{c3}\u{a9}b\u{e9}"),
        (FallbackDecoder::line(latin1), b"caf\xE9\rX", "caf\u{e9}"),
        (FallbackDecoder::line(sjis), b"caf\x93\xFA\x96\x7B", "caf"),
        (FallbackDecoder::line(sjis), b"ca\x93\xFA\x96\x7B", "ca\u{65e5}"),
        (FallbackDecoder::rest(sjis), b"\x93\xFA\x96\x7B\x8C\xEA", "\u{65e5}\u{672c}"),
        (FallbackDecoder::rest(sjis), b"a\x93\xFA\x96\x7B", "a\u{65e5}"),
    ];
    // Afterwards, everything is legacy.
    let settings = LineSettings {
        limit: 4,
        long_lines: LongLines::Cut,
        fallback: Some(FallbackDecoder::rest(latin1)),
        ..LineSettings::default()
    };
    let input = b"caf\xE9 xyz\n\xC3\xA9\n";
    for size in 1..=input.len() {
        let lines = crate::support::lines::line_steps(&settings, input.chunks(size)).concat();
        let texts: Vec<_> = lines.into_iter().map(|line| line.unwrap().text).collect();
        assert_eq!(texts, ["caf\u{e9}", "\u{c3}\u{a9}"], "{size}");
    }
    for (fallback, line, expected) in table {
        let settings = LineSettings {
            limit: 4,
            long_lines: LongLines::Cut,
            fallback: Some(fallback),
            ..LineSettings::default()
        };
        let input = [line, b"\nnext\n"].concat();
        for size in 1..=input.len() {
            let lines = crate::support::lines::line_steps(&settings, input.chunks(size)).concat();
            let texts: Vec<_> = lines.into_iter().map(|line| line.unwrap().text).collect();
            assert_eq!(texts, [expected, "next"], "{settings:?} {size}");
        }
    }
}

#[cfg(feature = "encoding_rs")]
#[test]
fn the_limit_can_be_lowered_inside_a_line() {
    let euc_kr = LegacyEncoding::whatwg(encoding_rs::EUC_KR).unwrap();
    for fallback in [FallbackDecoder::part(euc_kr), FallbackDecoder::line(euc_kr)] {
        let mut codec = Utf8LinesCodec::new()
            .with_options(Utf8Options::new().reject_nul())
            .with_fallback(fallback);
        let mut buffer = BytesMut::from(&b"abc\xB0"[..]);
        assert!(codec.decode(&mut buffer).unwrap().is_none());
        let mut codec = codec.with_max_length(2);
        buffer.extend_from_slice(b"\xA1\nok\n");
        let error = codec.decode(&mut buffer).unwrap().unwrap().unwrap_err();
        assert!(matches!(error, LineError::TooLong { max_length: 2, .. }), "{error:?}");
        assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "ok");
    }
}

/// The number of bytes of `input`, pushed one at a time, until the first item.
fn bytes_until_an_item(mut codec: Utf8LinesCodec, input: &[u8]) -> (usize, String) {
    let mut buffer = BytesMut::new();
    for (at, byte) in input.iter().enumerate() {
        buffer.extend_from_slice(&[*byte]);
        if let Some(item) = codec.decode(&mut buffer).unwrap() {
            return (at + 1, show_line(item));
        }
    }
    panic!("no item");
}

#[test]
fn too_long_is_reported_once_no_delimiter_is_possible() {
    let too_long = "<line 1 at byte 0 of the stream is longer than 3 bytes>";
    let table: [(Delimiter, &[u8], usize); 9] = [
        (Delimiter::lf(), b"abcd", 4),
        (Delimiter::lf(), b"abc\rd", 5),
        (Delimiter::lf(), b"abc\r\r", 5),
        (Delimiter::any_newline(), b"abcd", 4),
        (Delimiter::nul(), b"abc\n", 4),
        (Delimiter::text("--->").unwrap(), b"abc---x", 7),
        (Delimiter::text("--->").unwrap(), b"abc----", 7),
        (Delimiter::text("aab").unwrap(), b"xyzaaa", 6),
        (Delimiter::text("。").unwrap(), b"abc\xE3\x80\x81", 6),
    ];
    for (delimiter, input, expected) in table {
        let codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone()).with_max_length(3);
        let reported = bytes_until_an_item(codec, input);
        assert_eq!(reported, (expected, too_long.to_owned()), "{delimiter:?}");
    }
}

#[test]
fn an_error_that_an_earlier_byte_decides_precedes_too_long() {
    for (delimiter, input, byte) in [
        (Delimiter::text("ab").unwrap(), &b"x\xE2\x82a"[..], "61"),
        (Delimiter::text("ab").unwrap(), b"x\xE2\x82ay", "61"),
        (Delimiter::lf(), b"x\xE2\x82\r", "0d"),
        (Delimiter::lf(), b"x\xE2\x82\ry", "0d"),
    ] {
        for cuts in every_cut(input.len()) {
            let codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone());
            let mut codec = codec.with_max_length(3);
            let (mut buffer, mut items) = (BytesMut::new(), Vec::new());
            for (from, to) in support::chunks(input.len(), &cuts) {
                buffer.extend_from_slice(&input[from..to]);
                items.extend(decode_lines(&mut codec, &mut buffer));
            }
            items.extend(end_lines(&mut codec, &mut buffer));
            let reason = format!("truncated character (e2 82, followed by {byte}) at byte 1");
            let expected = format!("<line 1 is not valid UTF-8: {reason} of the stream>");
            assert_eq!(items, [expected], "{cuts:?}");
        }
    }
}

#[test]
fn the_end_can_decide_that_a_line_is_too_long() {
    let delimiter = Delimiter::text("ab").unwrap();
    let mut codec = Utf8LinesCodec::new().with_delimiter(delimiter).with_max_length(3);
    let mut buffer = BytesMut::from("xyza");
    assert!(decode_lines(&mut codec, &mut buffer).is_empty());
    assert_eq!(
        end_lines(&mut codec, &mut buffer),
        ["<line 1 at byte 0 of the stream is longer than 3 bytes>"]
    );
}

#[test]
fn a_forbidden_bom_longer_than_the_limit_is_too_long() {
    let options = Utf8Options::new().with_bom(BomPolicy::Forbid);
    let bom = Delimiter::text("\u{FEFF}").unwrap();
    for delimiter in [Delimiter::lf(), bom] {
        let codec = Utf8LinesCodec::new().with_options(options).with_delimiter(delimiter);
        let mut codec = codec.with_max_length(2);
        let items = decode_lines(&mut codec, &mut BytesMut::from(&b"\xEF\xBB\xBFa"[..]));
        assert_eq!(items, ["<line 1 at byte 0 of the stream is longer than 2 bytes>"]);
    }
}

#[test]
fn a_forbidden_bom_of_a_line_that_is_too_long_is_forbidden_in_the_text_after_it_at_any_split() {
    let input = b"\xEF\xBB\xBFhi\n";
    for (max_length, long_lines) in
        (0..3).flat_map(|max| [(max, LongLines::Reject), (max, LongLines::Cut)])
    {
        for (first, second) in
            (0..4).flat_map(|first| (first..4).map(move |second| (first, second)))
        {
            let options = Utf8Options::new().with_bom(BomPolicy::Forbid);
            let codec = Utf8LinesCodec::new().with_options(options).with_max_length(max_length);
            let mut codec = codec.with_long_lines(long_lines);
            let (mut buffer, mut line) = (BytesMut::new(), None);
            for part in [&input[..first], &input[first..second], &input[second..]] {
                buffer.extend_from_slice(part);
                line = line.or_else(|| codec.decode(&mut buffer).unwrap());
            }
            let case = format!("{max_length} {long_lines:?} {first} {second}: {line:?}");
            match (long_lines, line.unwrap()) {
                (LongLines::Cut, Ok(line)) => assert_eq!(&*line, "", "{case}"),
                (_, line) => {
                    let too_long = LineError::TooLong { number: 1, offset: 0, max_length };
                    assert_eq!(line, Err(too_long), "{case}");
                }
            }
            let mut texts = Utf8ChunksCodec::from(codec);
            let error = texts.decode(&mut buffer).unwrap().unwrap().unwrap_err();
            let found = (error.kind(), error.valid_up_to());
            assert_eq!(found, (Utf8ErrorKind::ForbiddenBom, 0), "{case}");
            let text = texts.decode(&mut buffer).unwrap().unwrap();
            assert_eq!(text.unwrap(), "hi\n", "{case}");
        }
    }
}

#[test]
fn a_written_line_takes_no_more_memory_than_its_bytes() {
    let delimiter = Delimiter::text(&"-".repeat(1000)).unwrap();
    let mut codec = Utf8LinesCodec::new().with_delimiter(delimiter);
    let mut buffer = BytesMut::new();
    codec.encode("a".repeat(1000), &mut buffer).unwrap();
    assert_eq!(buffer.len(), 2000);
    assert!(buffer.capacity() < 4096, "{}", buffer.capacity());
}

#[test]
fn lossy_modes_apply_the_limit_to_input_bytes() {
    for (_, mode) in MODES.into_iter().skip(1) {
        let codec = || Utf8LinesCodec::new().with_error_mode(mode).with_max_length(3);
        let mut buffer = BytesMut::from(&b"\xFF\xFF\xFF\n\xFF\xFF\xFF\xFF\nok\n"[..]);
        let reported = decode_lines(&mut codec(), &mut buffer);
        assert!(reported[0].starts_with("1@0"), "{mode:?}: {reported:?}");
        assert_eq!(
            reported[1..],
            ["<line 2 at byte 4 of the stream is longer than 3 bytes>", "3@9 \"ok\""]
        );
    }
}

#[test]
fn the_limit_excludes_bom_and_delimiter() {
    let mut codec = Utf8LinesCodec::new().with_options(STRIP).with_max_length(2);
    let mut buffer = BytesMut::from("\u{FEFF}ab\r\ncd\r\n");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@3 \"ab\"", "2@7 \"cd\""]);
    let (read, line) = bytes_until_an_item(
        Utf8LinesCodec::new().with_options(STRIP).with_max_length(1),
        "\u{FEFF}a\n".as_bytes(),
    );
    assert_eq!((read, &line[..]), (5, "1@3 \"a\""));
}

/// A fixed bug: every call searched a partly matched delimiter again, here in 500 million steps.
#[test]
fn a_bytewise_delimiter_is_searched_in_linear_time() {
    for (mode, (first, expected)) in [ErrorMode::Fatal, ErrorMode::Skip]
        .into_iter()
        .flat_map(|mode| [("x", "x"), ("a", "a")].map(|first| (mode, first)))
    {
        assert_linear(1 << 16, |size| {
            let delimiter = format!("{}b", "a".repeat(size));
            let mut codec = Utf8LinesCodec::new()
                .with_delimiter(Delimiter::text(&delimiter).unwrap())
                .with_error_mode(mode)
                .with_max_length(200_000);
            let mut buffer = BytesMut::new();
            let mut lines = Vec::new();
            for byte in first.bytes().chain(delimiter.bytes()) {
                buffer.extend_from_slice(&[byte]);
                lines.extend(codec.decode(&mut buffer).unwrap());
            }
            assert_eq!(lines.len(), 1);
            assert_eq!(lines[0].as_ref().unwrap(), expected);
        });
    }
}

#[test]
fn a_bytewise_delimiter_after_a_rejected_line_is_searched_in_linear_time() {
    assert_linear(1 << 16, |size| {
        let delimiter = format!("{}b", "a".repeat(size));
        let codec = Utf8LinesCodec::new().with_delimiter(Delimiter::text(&delimiter).unwrap());
        let mut codec = codec.with_max_length(1);
        let mut buffer = BytesMut::new();
        let mut lines = Vec::new();
        for byte in "xx".bytes().chain(delimiter.bytes()) {
            buffer.extend_from_slice(&[byte]);
            lines.extend(codec.decode(&mut buffer).unwrap());
        }
        assert_eq!((lines.len(), buffer.len()), (1, 0));
        let error = *lines[0].as_ref().unwrap_err();
        assert_eq!(error, LineError::TooLong { number: 1, offset: 0, max_length: 1 });
    });
}

#[tokio::test]
async fn an_endless_line_uses_bounded_memory() {
    const LIMIT: usize = Utf8LinesCodec::DEFAULT_MAX_LENGTH;
    for (_, mode) in MODES {
        for (delimiter, byte) in [
            (Delimiter::lf(), b'a'),
            (Delimiter::lf(), b'\r'),
            (Delimiter::nul(), b'a'),
            (Delimiter::text("aab").unwrap(), b'a'),
        ] {
            let line = repeat(byte).take(16 << 20).chain(&b"aab\n\0next"[..]);
            let codec = Utf8LinesCodec::new().with_error_mode(mode).with_delimiter(delimiter);
            let mut lines = FramedRead::new(line, codec);
            let error = lines.next().await.unwrap().unwrap().unwrap_err();
            assert_eq!(error, LineError::TooLong { number: 1, offset: 0, max_length: LIMIT });
            // A full `BytesMut` doubles; the last time is at the limit.
            let bound = 2 * LIMIT;
            assert!(lines.read_buffer().capacity() <= bound, "{}", lines.read_buffer().capacity());
            let next = lines.next().await.unwrap().unwrap().unwrap();
            assert!(next.ends_with("next"), "{next}");
            assert_eq!(next.number, 2);
            assert!(lines.read_buffer().capacity() <= bound, "{}", lines.read_buffer().capacity());
        }
    }
}

#[test]
fn a_rejected_line_holds_less_than_a_delimiter() {
    for (delimiter, most) in delimiters().into_iter().zip([1, 0, 0, 1, 2, 3]) {
        let mut codec = Utf8LinesCodec::new().with_delimiter(delimiter.clone()).with_max_length(1);
        let mut buffer = BytesMut::new();
        let mut errors = 0;
        for piece in "xxb-\r--x\u{3001}aba---\r".as_bytes().iter().cycle().take(4000) {
            let piece = if delimiter.as_str() == "\n" && *piece == b'\r' { b'x' } else { *piece };
            buffer.extend_from_slice(&[piece]);
            errors += decode_lines(&mut codec, &mut buffer).len();
            assert!(errors == 0 || buffer.len() <= most, "{delimiter:?} holds {buffer:?}");
        }
        assert_eq!(errors, 1, "{delimiter:?}");
    }
}

// ---- callers that change the buffer ---------------------------------------------------------------

fn any_delimiter(random: &mut Random) -> Delimiter {
    let odd =
        ["，", "\u{FEFF}", "\r\n", "-", "aaa", "\u{FEFF}a"].map(|t| Delimiter::text(t).unwrap());
    random.of(&[&delimiters()[..], &odd].concat())
}

fn any_lines_codec(random: &mut Random) -> Utf8LinesCodec {
    Utf8LinesCodec::new()
        .with_error_mode(random.of(&MODES).1)
        .with_delimiter(any_delimiter(random))
        .with_max_length(random.of(&[0, 1, 2, 3, 5, 8, 13, 1000]))
        .with_options(any_strict_options(random))
}

/// Calls the codec a few times and checks that it yields text.
fn call_lines(random: &mut Random, codec: &mut Utf8LinesCodec, buffer: &mut BytesMut) {
    for _ in 0..random.below(4) {
        let item = match random.below(8) {
            0 => codec.decode_eof(buffer).unwrap(),
            _ => codec.decode(buffer).unwrap(),
        };
        if let Some(Ok(line)) = item {
            assert!(str::from_utf8(line.text.as_bytes()).is_ok(), "{line:?}");
        }
    }
}

#[test]
fn changing_the_buffer_never_panics_or_yields_invalid_text() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..200_000 {
        let mut codec = any_lines_codec(&mut random);
        let mut buffer = BytesMut::new();
        for _ in 0..random.below(12) {
            meddle(&mut random, &mut buffer);
            call_lines(&mut random, &mut codec, &mut buffer);
        }
    }
}

#[test]
fn changing_settings_inside_a_line_never_panics() {
    let mut random = Random(0xA076_1D64_78BD_642F);
    for _ in 0..200_000 {
        let mut codec = any_lines_codec(&mut random);
        let mut buffer = BytesMut::new();
        for _ in 0..random.below(12) {
            buffer.extend_from_slice(&random.bytes(8));
            call_lines(&mut random, &mut codec, &mut buffer);
            codec = match random.below(6) {
                0 => codec.with_max_length(random.below(20)),
                1 => codec.with_delimiter(any_delimiter(&mut random)),
                2 => codec.with_options(any_strict_options(&mut random)),
                3 => codec.with_error_mode(random.of(&MODES).1),
                _ => codec,
            };
        }
    }
}

/// A fixed bug: the state of the longer line was trusted, and the codec panicked.
#[test]
fn lowering_the_limit_and_truncating_the_buffer_inside_a_line_never_panics() {
    let mut codec = Utf8LinesCodec::new();
    let mut buffer = BytesMut::from("a".repeat(100).as_str());
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    let mut codec = codec.with_max_length(10);
    buffer.truncate(50);
    let _either = codec.decode(&mut buffer).unwrap();
}

// ---- other cases ----------------------------------------------------------------------------------

#[test]
fn a_clone_is_independent() {
    let mut codec = Utf8LinesCodec::new();
    let mut buffer = BytesMut::from("one\ntw");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@0 \"one\""]);
    let (mut other, mut copy) = (codec.clone(), buffer.clone());
    buffer.extend_from_slice(b"o\n");
    copy.extend_from_slice(b"ice\n");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["2@4 \"two\""]);
    assert_eq!(decode_lines(&mut other, &mut copy), ["2@4 \"twice\""]);
}

/// Checks that a stream without input is pending.
fn is_pending<S: Stream + Unpin>(frames: &mut S) -> bool {
    frames.next().now_or_never().is_none()
}

#[tokio::test]
async fn a_dropped_read_loses_no_data() {
    let (mut peer, socket) = duplex(64);
    let mut lines = FramedRead::new(socket, Utf8LinesCodec::new());
    for byte in "größe\n".bytes() {
        assert!(is_pending(&mut lines));
        peer.write_all(&[byte]).await.unwrap();
    }
    assert_eq!(lines.next().await.unwrap().unwrap().unwrap().text, "größe");
}

#[test]
fn a_repaired_line_counts_its_errors_at_any_split() {
    let input = b"\xEF\xBB\xBFok\n\xFFa\xE2\x82\r\nclean\n\xE2\x82\n\xC0\xAF\xED\xA0b\nend\xF0\x9F";
    let expected =
        [(0, None), (2, Some(6)), (0, None), (1, Some(18)), (4, Some(21)), (1, Some(30))];
    let modes = [ErrorMode::Replacement, ErrorMode::Skip, ErrorMode::Escape, ErrorMode::Latin1];
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    let strict = options.reject_controls();
    for cuts in every_cut(input.len()) {
        for mode in modes {
            for options in [options, strict] {
                let codec = Utf8LinesCodec::new().with_options(options).with_error_mode(mode);
                let (found, errors, first) = errors_of_lines(codec, input, &cuts);
                assert_eq!(found, expected, "{mode:?} {cuts:?}");
                assert_eq!((errors, first), (8, Some(6)), "{mode:?} {cuts:?}");
            }
        }
        let fatal = Utf8LinesCodec::new().with_options(options);
        let (found, ..) = errors_of_lines(fatal, input, &cuts);
        assert_eq!(found, [(0, None), (0, None)], "only the clean lines are left, {cuts:?}");

        // A line that falls back as a whole has one error, and each part that falls back alone is one.
        let latin1 = LegacyEncoding::latin1();
        let line = Utf8LinesCodec::new()
            .with_options(options)
            .with_fallback(FallbackDecoder::line(latin1));
        let (found, ..) = errors_of_lines(line, input, &cuts);
        let firsts: Vec<_> = expected.map(|(errors, first)| (errors.min(1), first)).into();
        assert_eq!(found, firsts, "{cuts:?}");
        let part = Utf8LinesCodec::new()
            .with_options(options)
            .with_fallback(FallbackDecoder::part(latin1));
        assert_eq!(errors_of_lines(part, input, &cuts).0, expected, "{cuts:?}");
    }
    let missing = Utf8Options::new().with_bom(BomPolicy::Require);
    let codec = Utf8LinesCodec::new().with_options(missing).with_error_mode(ErrorMode::Skip);
    assert_eq!(errors_of_lines(codec, b"a\n\xFF\n", &[]).0, [(1, Some(0)), (1, Some(2))]);
}

/// A number of errors, and the offset of the first.
type Counted = (u64, Option<u64>);

/// The errors of each line; and those of the decoder.
fn errors_of_lines(
    mut codec: Utf8LinesCodec,
    input: &[u8],
    cuts: &[usize],
) -> (Vec<Counted>, u64, Option<u64>) {
    let chunks = support::chunks(input.len(), cuts);
    let lines = outcomes(&mut codec, chunks.map(|(from, to)| &input[from..to])).into_iter();
    let lines = lines.filter_map(|item| item.unwrap().ok());
    let found = lines.map(|line| (line.error_count, line.first_error_offset)).collect();
    let first = codec.decoder().first_error().map(|error| error.valid_up_to());
    (found, codec.decoder().error_count(), first)
}

#[test]
fn an_lf_after_a_cr_ends_no_line_if_the_lines_of_a_chunk_are_dropped_after_it() {
    for first in [&b"x\na\r"[..], b"a\r", b"\r"] {
        let mut decoder = LineDecoder::new().with_delimiter(Delimiter::any_newline());
        let mut number = 0;
        while decoder.decoder().position() < first.len() as u64 {
            let from = decoder.decoder().position() as usize;
            let mut lines = decoder.push(&first[from..]);
            number = lines.next_line().unwrap().unwrap().number;
        }
        let mut lines = decoder.push(b"\nb\n");
        let line = lines.next_line().unwrap().unwrap();
        let expected = ("b", number + 1, first.len() as u64 + 1);
        assert_eq!((line.text, line.number, line.offset), expected);
    }
}

#[test]
fn errors_of_a_rejected_line_with_a_fallback_are_counted_up_to_the_byte_that_rejects_it() {
    for (input, options) in [
        (&b"\x93\xFA\n"[..], Utf8Options::new().reject_controls()),
        (b"\x80\xC2a\n", Utf8Options::new().only_displayable_characters()),
        (b"\xFF\x93\xFA\xFA\n", Utf8Options::new().reject_controls()),
    ] {
        let count = |size: usize| {
            let mut codec = Utf8LinesCodec::new()
                .with_options(options)
                .with_fallback(FallbackDecoder::part(LegacyEncoding::latin1()));
            let items = outcomes(&mut codec, input.chunks(size));
            assert!(items.iter().any(|item| matches!(item, Ok(Err(LineError::Utf8 { .. })))));
            codec.decoder().error_count()
        };
        let counts: Vec<_> = (1..=input.len()).map(count).collect();
        assert!(counts.iter().all(|it| *it == counts[0]), "{input:?}: {counts:?}");
    }
}

#[test]
fn text_after_a_rejected_or_cut_line_continues_at_the_same_byte_at_any_split() {
    let input = b"abcd\xC3\xA9gh\nX";
    for (max_length, long_lines, expected) in [
        (2, LongLines::Reject, "cd\u{E9}gh\nX"),
        (5, LongLines::Reject, "\u{E9}gh\nX"),
        (0, LongLines::Reject, "abcd\u{E9}gh\nX"),
        (2, LongLines::Cut, "cd\u{E9}gh\nX"),
        (5, LongLines::Cut, "\u{E9}gh\nX"),
    ] {
        for cut in max_length + 2..=input.len() {
            let mut lines =
                Utf8LinesCodec::new().with_max_length(max_length).with_long_lines(long_lines);
            let mut buffer = BytesMut::from(&input[..cut]);
            let item = lines.decode(&mut buffer).unwrap();
            let Some(item) = item else { continue };
            assert_eq!(item.is_ok(), long_lines == LongLines::Cut);
            buffer.extend_from_slice(&input[cut..]);
            let text = Utf8Codec::from(lines).decode_eof(&mut buffer).unwrap().unwrap();
            assert_eq!(text, expected, "{max_length} {long_lines:?} {cut}");
        }
    }
}

#[test]
fn text_after_lines_falls_back_from_the_same_byte_whether_or_not_it_was_searched_for_a_line() {
    let input = b"one\ncaf\xC3\xA9 \xE9!";
    for extent in [FallbackDecoder::rest, FallbackDecoder::part, FallbackDecoder::line] {
        let read = |cut: usize, searches: usize| {
            let fallback = extent(LegacyEncoding::latin1());
            let mut lines = Utf8LinesCodec::new().with_fallback(fallback);
            let mut buffer = BytesMut::from(&input[..cut]);
            assert_eq!(lines.decode(&mut buffer).unwrap().unwrap().unwrap(), "one");
            for _ in 0..searches {
                assert_eq!(lines.decode(&mut buffer).unwrap(), None);
            }
            buffer.extend_from_slice(&input[cut..]);
            let mut codec = Utf8Codec::from(lines);
            let mut text = String::new();
            while let Some(piece) = codec.decode_eof(&mut buffer).unwrap() {
                text += &piece;
            }
            (text, codec.fallback_uses(), codec.decoder().error_count())
        };
        let expected = read(4, 0);
        for (cut, searches) in (4..=input.len()).flat_map(|cut| [(cut, 0), (cut, 1), (cut, 2)]) {
            assert_eq!(read(cut, searches), expected, "{cut} {searches}");
        }
    }
}

#[test]
fn a_line_after_skipped_bytes_is_the_same_whether_or_not_they_were_searched_for_a_line() {
    let fallback = |lines: Utf8LinesCodec| {
        lines.with_fallback(FallbackDecoder::rest(LegacyEncoding::latin1()))
    };
    let any_newline = |lines: Utf8LinesCodec| lines.with_delimiter(Delimiter::any_newline());
    let forbidding =
        |lines: Utf8LinesCodec| lines.with_options(Utf8Options::new().with_bom(BomPolicy::Forbid));
    let plain = |lines: Utf8LinesCodec| lines;
    type Setting = dyn Fn(Utf8LinesCodec) -> Utf8LinesCodec;
    for (settings, header, body, next, expected) in [
        (
            &fallback as &Setting,
            "H\n",
            &b"\xFF!"[..],
            &b"caf\xC3\xA9\n"[..],
            &["2@4 caf\u{E9}"][..],
        ),
        (&plain, "H\n", b"ok", b"caf\xC3\xA9\n", &["2@4 caf\u{E9}"]),
        // The LF ends an empty line: it does not belong to the CR.
        (&any_newline, "H\r", b"xx", b"\nN\n", &["2@4 ", "3@5 N"]),
        (&any_newline, "H\r\n", b"xx", b"\nN\n", &["2@5 ", "3@6 N"]),
        // A BOM begins the stream, or is text.
        (&forbidding, "", b"xx", b"\xEF\xBB\xBFN\n", &["1@2 \u{FEFF}N"]),
    ] {
        for searches in 0..3 {
            let mut lines = settings(Utf8LinesCodec::new());
            let mut buffer = BytesMut::from(header);
            if !header.is_empty() {
                assert_eq!(lines.decode(&mut buffer).unwrap().unwrap().unwrap(), "H");
            }
            // An LF that belongs to the header is read with it.
            assert!(buffer.is_empty());
            buffer.extend_from_slice(body);
            for _ in 0..searches {
                assert_eq!(lines.decode(&mut buffer).unwrap(), None);
            }
            buffer.clear();
            lines.skip_bytes(body.len());
            buffer.extend_from_slice(next);
            let mut found = Vec::new();
            while let Some(line) = lines.decode(&mut buffer).unwrap() {
                let line = line.unwrap();
                found.push(format!("{}@{} {}", line.number, line.offset, line.text));
            }
            assert_eq!(found, expected, "{header:?} {searches}");
            assert_eq!(lines.decoder().error_count(), 0);
        }
    }
}

#[test]
fn an_lf_that_arrives_after_its_cr_is_no_bom_that_decides_the_encoding_of_the_text() {
    let input = b"h\r\n\xE9";
    for cut in 2..input.len() {
        let mut lines = Utf8LinesCodec::new().with_delimiter(Delimiter::any_newline());
        let mut buffer = BytesMut::from(&input[..cut]);
        assert_eq!(lines.decode(&mut buffer).unwrap().unwrap().unwrap(), "h");
        let latin1 = FallbackDecoder::without_bom(LegacyEncoding::latin1());
        let mut codec = Utf8Codec::from(lines).with_fallback(latin1);
        buffer.extend_from_slice(&input[cut..]);
        assert_eq!(codec.decode_eof(&mut buffer).unwrap().unwrap(), "é", "{cut}");
        assert_eq!((codec.fallback_uses().first, codec.decoder().error_count()), (Some(3), 0));
    }
}

#[test]
fn a_bom_that_decides_the_encoding_of_one_stream_is_text_in_the_next() {
    let latin1 = || LegacyEncoding::latin1();
    let without_bom = || FallbackDecoder::without_bom(latin1());
    let bom = "\u{FEFF}x\n".as_bytes();
    let text = |mut codec: Utf8ChunksCodec, buffer: &mut BytesMut| {
        codec.decode_eof(buffer).unwrap().unwrap().unwrap()
    };

    // After `reset`, with the options of the codec.
    let mut lines = Utf8LinesCodec::new().with_fallback(without_bom());
    let mut buffer = BytesMut::from(&b"h\n"[..]);
    assert_eq!(lines.decode(&mut buffer).unwrap().unwrap().unwrap(), "h");
    let mut chunks = Utf8ChunksCodec::from(lines.clone());
    chunks.reset();
    assert_eq!(text(chunks, &mut BytesMut::from(bom)), "\u{FEFF}x\n");
    let mut lines = lines.with_fallback(FallbackDecoder::part(latin1()));
    lines.reset();
    let line = lines.decode(&mut BytesMut::from(bom)).unwrap().unwrap().unwrap();
    assert_eq!((&*line, line.offset), ("\u{FEFF}x", 0));

    // Whether or not it was looked for.
    for cut in 0..3 {
        let mut lines = Utf8LinesCodec::new().with_fallback(without_bom());
        let mut codec = Utf8Codec::new().with_fallback(without_bom());
        let mut buffers = [BytesMut::from(&bom[..cut]), BytesMut::from(&bom[..cut])];
        assert_eq!(lines.decode(&mut buffers[0]).unwrap(), None);
        assert_eq!(codec.decode(&mut buffers[1]).unwrap(), None);
        buffers.iter_mut().for_each(|buffer| buffer.extend_from_slice(&bom[cut..]));
        let chunks = Utf8ChunksCodec::from(lines);
        assert_eq!(text(chunks, &mut buffers[0]), "\u{FEFF}x\n", "{cut}");
        let mut codec = codec.with_fallback(FallbackDecoder::part(latin1()));
        assert_eq!(codec.decode(&mut buffers[1]).unwrap().unwrap(), "\u{FEFF}x\n", "{cut}");
    }

    // After the end of an empty stream, no BOM is expected.
    for bom_policy in [BomPolicy::Keep, BomPolicy::Strip] {
        let options = Utf8Options::new().with_bom(bom_policy);
        let mut lines = Utf8LinesCodec::new().with_options(options).with_fallback(without_bom());
        assert_eq!(lines.decode_eof(&mut BytesMut::new()).unwrap(), None);
        let line = lines.decode(&mut BytesMut::from(bom)).unwrap().unwrap().unwrap();
        assert_eq!(line, "ï»¿x", "{bom_policy:?}");
        assert_eq!((lines.fallback_uses().first, lines.fallback_uses().runs), (Some(0), 1));
    }
}

#[test]
fn errors_of_a_line_whose_buffer_was_replaced_are_not_counted() {
    let mut lines = Utf8LinesCodec::new().with_error_mode(ErrorMode::Replacement);
    let mut buffer = BytesMut::from(&b"a\xFF\xFF"[..]);
    assert_eq!(lines.decode(&mut buffer).unwrap(), None);
    buffer.clear();
    buffer.extend_from_slice(b"b\n");
    let line = lines.decode(&mut buffer).unwrap().unwrap().unwrap();
    assert_eq!((&*line.text, line.error_count), ("b", 0));
    assert_eq!(lines.decoder().error_count(), 0);

    let options = Utf8Options::new().reject_controls();
    let codec = Utf8LinesCodec::new().with_options(options);
    let mut lines = codec.with_error_mode(ErrorMode::Replacement);
    let mut buffer = BytesMut::from(&b"a\x07\x07"[..]);
    assert_eq!(lines.decode(&mut buffer).unwrap(), None);
    assert_eq!(lines.decoder().rejected_count(), 2);
    buffer.clear();
    buffer.extend_from_slice(b"b\n");
    assert!(lines.decode(&mut buffer).unwrap().unwrap().is_ok());
    assert_eq!((lines.decoder().error_count(), lines.decoder().rejected_count()), (0, 0));
}

#[test]
fn a_line_that_is_rejected_or_cut_ends_in_the_next_chunk_if_the_rest_of_its_chunk_is_dropped() {
    for (first, long_lines) in [
        (&b"abcdef"[..], LongLines::Reject),
        (b"abcdef", LongLines::Cut),
        (b"a\xFFbcdef", LongLines::Reject),
    ] {
        let mut decoder = LineDecoder::new().with_max_length(3).with_long_lines(long_lines);
        let item = decoder.push(first).next_line().map(|line| line.is_ok());
        assert_eq!(item, Some(long_lines == LongLines::Cut));
        let mut lines = decoder.push(b"\nok\n");
        assert_eq!(lines.next_line().unwrap().unwrap().text, "ok");
        assert!(lines.next_line().is_none());
    }
}

#[test]
fn a_forbidden_bom_beyond_the_limit_is_no_delimiter_at_any_split() {
    let input = b"\xEF\xBB\xBF\xE2x";
    for (max_length, long_lines) in
        (0..3).flat_map(|max| [(max, LongLines::Reject), (max, LongLines::Cut)])
    {
        for cut in 0..=input.len() {
            let mut decoder = LineDecoder::new()
                .with_options(Utf8Options::new().with_bom(BomPolicy::Forbid))
                .with_delimiter(Delimiter::text("\u{FEFF}").unwrap())
                .with_max_length(max_length)
                .with_long_lines(long_lines)
                .with_error_mode(ErrorMode::Replacement);
            let mut items = Vec::new();
            for chunk in [&input[..cut], &input[cut..]] {
                let mut lines = decoder.push(chunk);
                while let Some(line) = lines.next_line() {
                    items.push(
                        line.map(|line| line.text.to_owned()).map_err(|error| error.number()),
                    );
                }
            }
            while let Some(line) = decoder.finish_line() {
                items.push(line.map(|line| line.text.to_owned()).map_err(|error| error.number()));
            }
            assert_eq!(items.len(), 1, "{max_length} {long_lines:?} {cut}: {items:?}");
        }
    }
}

/// The lines and errors of chunks, and what is kept of the last rejected line.
fn pushed(decoder: LineDecoder, chunks: &[&[u8]]) -> (Vec<String>, Vec<u8>) {
    let mut decoder = decoder.keep_rejected();
    let show = |line: Result<LineRef<'_>, LineError>| match line {
        Ok(line) => format!("{}@{} {:?}", line.number, line.offset, line.text),
        Err(error) => format!("{}@{} rejected", error.number(), error.offset()),
    };
    let mut items = Vec::new();
    for chunk in chunks {
        let mut lines = decoder.push(chunk);
        while let Some(line) = lines.next_line() {
            items.push(show(line));
        }
        let kept = lines.rejected().to_vec();
        assert_eq!(decoder.rejected(), kept);
    }
    while let Some(line) = decoder.finish_line() {
        items.push(show(line));
    }
    (items, decoder.rejected().to_vec())
}

#[test]
fn rejected_lines_are_kept_with_their_delimiter_up_to_the_limit() {
    let arrow = Delimiter::text("--->").unwrap();
    for (delimiter, input, kept) in [
        (Delimiter::lf(), &b"a\xFFb\r\nok"[..], &b"a\xFFb\r\n"[..]),
        (Delimiter::lf(), b"abcdef\nok", b"abcde"),
        (Delimiter::crlf(), b"a\xFFb\r\nok", b"a\xFFb\r\n"),
        (Delimiter::crlf_or_lf(), b"a\xFFb\r\nok", b"a\xFFb\r\n"),
        // An LF after a CR can also arrive later.
        (Delimiter::any_newline(), b"a\xFF\r\nok", b"a\xFF\r"),
        (Delimiter::any_newline(), b"a\xFF\nok", b"a\xFF\n"),
        (Delimiter::any_newline(), b"abcdef\nok", b"abcd"),
        (Delimiter::nul(), b"a\xFFb\0ok", b"a\xFFb\0"),
        (Delimiter::one_of(";,").unwrap(), b"a\xFFb,ok", b"a\xFFb,"),
        (arrow.clone(), b"a\xFFb--->ok", b"a\xFFb--->"),
        (arrow, b"abcd-----ef--->ok", b"abcd---"),
        // A BOM belongs to no line.
        (Delimiter::lf(), b"\xEF\xBB\xBFa\xFF\nok", b"a\xFF\n"),
        (Delimiter::lf(), b"\xEF\xBB\xBFok", b""),
    ] {
        for size in 1..=input.len() {
            let decoder = || {
                let decoder = LineDecoder::new().with_options(STRIP);
                decoder.with_delimiter(delimiter.clone()).with_max_length(3)
            };
            let chunks: Vec<_> = input.chunks(size).collect();
            let (items, rejected) = pushed(decoder(), &chunks);
            assert_eq!(rejected, kept, "{delimiter:?} {size}: {items:?}");
            assert!(items.last().unwrap().ends_with("\"ok\""), "{delimiter:?} {size}: {items:?}");
            assert_eq!(items.len(), 1 + usize::from(!kept.is_empty()));
        }
    }
}

#[test]
fn a_line_of_no_bytes_at_most_is_rejected_at_the_end_if_rejected_lines_are_kept() {
    let mut codec = Utf8LinesCodec::new().with_max_length(0).keep_rejected();
    let items = end_lines(&mut codec, &mut BytesMut::from("a"));
    assert_eq!(items, ["<line 1 at byte 0 of the stream is longer than 0 bytes>"]);
    assert_eq!(codec.rejected(), b"a");
}

#[test]
fn what_is_left_of_a_rejected_line_at_the_end_is_no_line() {
    for (delimiter, input) in [
        (Delimiter::lf(), &b"abcd\r"[..]),
        (Delimiter::text("--->").unwrap(), b"abcd-"),
        (Delimiter::text("--->").unwrap(), b"abcd---"),
    ] {
        let decoder = LineDecoder::new().with_delimiter(delimiter.clone()).with_max_length(3);
        assert_eq!(pushed(decoder, &[input]).0, ["1@0 rejected"]);
        let mut decoder = LineDecoder::new().with_delimiter(delimiter).with_max_length(3);
        assert!(decoder.push(input).next_line().unwrap().is_err());
        assert!(decoder.push(&input[4..]).next_line().is_none());
        assert!(decoder.finish_line().is_none());
    }
}

#[test]
fn the_rest_of_a_chunk_is_what_follows_the_lines_taken() {
    let mut decoder = LineDecoder::new();
    let mut lines = decoder.push(b"a\n\xFF\nc\nd");
    let mut rests = vec![lines.rest()];
    while lines.next_line().is_some() {
        rests.push(lines.rest());
    }
    let (items, _) = pushed(LineDecoder::new(), &[b"a\nbc\r\n\nd\ne\n"]);
    assert_eq!(items, ["1@0 \"a\"", "2@2 \"bc\"", "3@6 \"\"", "4@7 \"d\"", "5@9 \"e\""]);
    assert_eq!(rests, [&b"a\n\xFF\nc\nd"[..], b"\xFF\nc\nd", b"\nc\nd", b"d"]);
    assert_eq!((lines.rest(), decoder.incomplete()), (&b""[..], &b"d"[..]));
}

#[test]
fn a_delimiter_can_be_one_of_several_characters() {
    for chars in ["", "é", ",é"] {
        assert_eq!(Delimiter::one_of(chars), None, "{chars}");
    }
    for chars in [",", ",;", ",;|", ",;|\t"] {
        let delimiter = Delimiter::one_of(chars).unwrap();
        assert_eq!(delimiter.as_str(), ",");
        let decoder = LineDecoder::new().with_delimiter(delimiter);
        let ends: Vec<_> = chars.chars().map(|c| format!("é\r\n{c}")).collect();
        let (items, _) = pushed(decoder, &[ends.concat().as_bytes(), b"."]);
        let mut expected: Vec<_> =
            (0..ends.len()).map(|i| format!("{}@{} \"é\\r\\n\"", i + 1, i * 5)).collect();
        expected.push(format!("{}@{} \".\"", ends.len() + 1, ends.len() * 5));
        assert_eq!(items, expected, "{chars}");
    }
}

#[test]
fn a_bom_that_the_end_cuts_is_an_error() {
    for input in [&b"\xEF"[..], b"\xEF\xBB"] {
        for options in [STRIP, FORBID, Utf8Options::new()] {
            let mut codec = Utf8LinesCodec::new().with_options(options);
            let mut buffer = BytesMut::from(input);
            assert!(decode_lines(&mut codec, &mut buffer).is_empty());
            let items = end_lines(&mut codec, &mut buffer);
            assert_eq!(items.len(), 1, "{items:?}");
            assert!(items[0].contains("unexpected end inside a character"), "{items:?}");
        }
    }
}

#[test]
fn a_second_forbidden_bom_is_a_delimiter_at_any_split() {
    let input = "\u{FEFF}\u{FEFF}a\u{FEFF}".as_bytes();
    for max_length in 0..3 {
        for cuts in every_cut(input.len()) {
            let decoder = LineDecoder::new()
                .with_options(FORBID)
                .with_delimiter(Delimiter::text("\u{FEFF}").unwrap())
                .with_max_length(max_length);
            let chunks = support::chunks(input.len(), &cuts);
            let chunks: Vec<_> = chunks.map(|(from, to)| &input[from..to]).collect();
            let second = if max_length == 0 { "2@6 rejected" } else { "2@6 \"a\"" };
            let expected = ["1@0 rejected", second];
            assert_eq!(pushed(decoder, &chunks).0, expected, "{max_length} {cuts:?}");
        }
    }
}

#[test]
fn bytes_of_a_rejected_line_count_even_if_they_could_begin_a_bom() {
    let mut codec = Utf8LinesCodec::new().with_options(FORBID).with_max_length(1);
    let mut buffer = BytesMut::from(&b"\xEF\xBB"[..]);
    let mut items = decode_lines(&mut codec, &mut buffer);
    assert_eq!(buffer.len(), 2, "they may still begin one");
    items.extend(end_lines(&mut codec, &mut buffer));
    assert_eq!(items, ["<line 1 at byte 0 of the stream is longer than 1 bytes>"]);
    assert_eq!(codec.decoder().position(), 2);
}

#[test]
fn a_buffer_that_was_cleared_inside_a_rejected_line_is_searched_from_its_start() {
    let mut codec = Utf8LinesCodec::new().with_max_length(4);
    codec = codec.with_delimiter(Delimiter::text("--->").unwrap());
    let mut buffer = BytesMut::from("abcdef---");
    assert_eq!(decode_lines(&mut codec, &mut buffer).len(), 1);
    assert_eq!(buffer, "---");
    buffer.clear();
    assert!(decode_lines(&mut codec, &mut buffer).is_empty());
    buffer.extend_from_slice(b">a--->b");
    assert!(decode_lines(&mut codec, &mut buffer).is_empty());
    assert_eq!(end_lines(&mut codec, &mut buffer), ["2@12 \"b\" (unterminated)"]);
}

#[test]
fn a_bom_after_no_skipped_bytes_begins_the_stream() {
    let mut codec = Utf8LinesCodec::new().with_options(STRIP);
    codec.skip_bytes(0);
    let mut buffer = BytesMut::from("\u{FEFF}a\n");
    assert_eq!(decode_lines(&mut codec, &mut buffer), ["1@3 \"a\""]);
}

#[test]
fn a_bom_decides_the_encoding_of_all_lines_at_any_split() {
    for (input, expected) in [
        ("\u{FEFF}é\né\n", ["1@3 \"é\"", "2@6 \"é\""]),
        ("é\n\u{FEFF}\n", ["1@0 \"Ã©\"", "2@3 \"ï»¿\""]),
    ] {
        for cuts in every_cut(input.len()) {
            let latin1 = FallbackDecoder::without_bom(LegacyEncoding::latin1());
            let decoder = LineDecoder::new().with_options(STRIP).with_fallback(latin1);
            let chunks = support::chunks(input.len(), &cuts);
            let chunks: Vec<_> = chunks.map(|(from, to)| &input.as_bytes()[from..to]).collect();
            assert_eq!(pushed(decoder, &chunks).0, expected, "{cuts:?}");
        }
    }
}

/// The line of `input`, its errors, and the number of bytes after which it is known.
fn line_with(
    fallback: FallbackDecoder,
    mode: ErrorMode,
    chunks: &[&[u8]],
) -> (usize, Result<(String, u64), u64>) {
    let mut codec = Utf8LinesCodec::new()
        .with_options(Utf8Options::new().reject_controls())
        .with_error_mode(mode)
        .with_fallback(fallback);
    let (mut buffer, mut read) = (BytesMut::new(), 0);
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        read += chunk.len();
        if let Some(item) = codec.decode(&mut buffer).unwrap() {
            let item = match item {
                Ok(line) => Ok((line.text.to_string(), line.error_count)),
                Err(LineError::Utf8 { error, .. }) => Err(error.valid_up_to()),
                Err(error) => panic!("{error}"),
            };
            return (read, item);
        }
    }
    panic!("no line");
}

#[test]
fn a_rejected_character_rejects_a_line_with_a_fallback_once_it_is_known_to_be_one_at_any_split() {
    let latin1 = LegacyEncoding::latin1();
    let windows_1252 = LegacyEncoding::windows_1252();
    let (part, line) = (FallbackDecoder::part, FallbackDecoder::line);
    for (fallback, input, known, offset) in [
        // ASCII is the same in both encodings.
        (line(latin1), &b"a\x07b\n"[..], 2, 1),
        (line(latin1), b"a\x07\xE9\n", 2, 1),
        // After other characters, UTF-8 is decided at the end.
        (line(latin1), b"\xC3\xA9\x07b\n", 5, 2),
        (line(windows_1252), b"\xC2\x85\n", 3, 0),
        // These are legacy characters once an ill-formed part follows.
        (line(latin1), b"a\xC3\x80\xFFb\n", 4, 2),
        (part(latin1), b"a\x93b\n", 2, 1),
        (part(latin1), b"\xFFa\x93b\n", 3, 2),
    ] {
        for cuts in every_cut(input.len()) {
            let chunks = support::chunks(input.len(), &cuts);
            let chunks: Vec<_> = chunks.map(|(from, to)| &input[from..to]).collect();
            let (read, item) = line_with(fallback.clone(), ErrorMode::Fatal, &chunks);
            assert_eq!(item, Err(offset), "{input:02x?} {cuts:?}");
            if chunks.len() == input.len() {
                assert_eq!(read, known, "{input:02x?}");
            }
        }
        let second = [b"ok\n", input].concat();
        let mut codec = Utf8LinesCodec::new()
            .with_options(Utf8Options::new().reject_controls())
            .with_fallback(fallback);
        let mut buffer = BytesMut::from(&second[..]);
        assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "ok");
        let error = codec.decode(&mut buffer).unwrap().unwrap().unwrap_err();
        let LineError::Utf8 { error, .. } = error else { panic!("{error}") };
        assert_eq!(error.valid_up_to(), 3 + offset, "{input:02x?}");
    }
}

#[test]
fn legacy_characters_are_checked_and_counted_apart_from_the_text_between_them_at_any_split() {
    let latin1 = LegacyEncoding::latin1();
    let windows_1252 = LegacyEncoding::windows_1252();
    let (part, line) = (FallbackDecoder::part, FallbackDecoder::line);
    for (fallback, input, expected) in [
        // Ill-formed parts count, and characters that are rejected. The bytes C3 80 are no control.
        (part(latin1), &b"\xFF\xC3\x80\xFF\n"[..], ("ÿÀÿ", 2)),
        (part(latin1), b"\xFF\x07\xC3\x80\xFF\n", ("ÿ\u{FFFD}Àÿ", 3)),
        (part(latin1), b"a\x93b\x94\n", ("a\u{FFFD}b\u{FFFD}", 4)),
        (part(latin1), b"\x93b\n", ("\u{FFFD}b", 2)),
        (line(latin1), b"\xC3\xA9\x07\n", ("é\u{FFFD}", 1)),
        // C2 85 is a control in UTF-8, but not in windows-1252.
        (line(windows_1252), b"\xC2\x85\xFF\n", ("Â…ÿ", 1)),
        (line(windows_1252), b"\xC2\x85\n", ("\u{FFFD}", 1)),
        (FallbackDecoder::without_bom(latin1), b"\xEF\xBB\xBF\xC3\xA9\xFF\n", ("é\u{FFFD}", 1)),
    ] {
        for cuts in every_cut(input.len()) {
            let chunks = support::chunks(input.len(), &cuts);
            let chunks: Vec<_> = chunks.map(|(from, to)| &input[from..to]).collect();
            let (_, item) = line_with(fallback.clone(), ErrorMode::Replacement, &chunks);
            assert_eq!(item, Ok((expected.0.to_owned(), expected.1)), "{input:02x?} {cuts:?}");
        }
    }
}

/// 93 80 is one character in Shift_JIS, and 80 alone a control.
#[cfg(feature = "encoding_rs")]
#[test]
fn adjacent_ill_formed_parts_are_checked_as_one_character_at_any_split() {
    let sjis = LegacyEncoding::whatwg(encoding_rs::SHIFT_JIS).unwrap();
    for (input, expected) in
        [(&b"\x93\x80\n"[..], Ok("凍")), (b"a\x93\x80b\n", Ok("a凍b")), (b"a\x93b\x80\n", Err(3))]
    {
        for cuts in every_cut(input.len()) {
            let chunks = support::chunks(input.len(), &cuts);
            let chunks: Vec<_> = chunks.map(|(from, to)| &input[from..to]).collect();
            let (_, item) = line_with(FallbackDecoder::part(sjis), ErrorMode::Fatal, &chunks);
            let text = item.as_ref().map(|(text, _)| &text[..]).map_err(|at| *at);
            assert_eq!(text, expected, "{input:02x?} {cuts:?}");
        }
    }
    let part = FallbackDecoder::part(sjis);
    let (_, item) = line_with(part, ErrorMode::Replacement, &[b"\x81\x07\n"]);
    assert_eq!(item, Ok(("\u{FFFD}\u{FFFD}".to_owned(), 2)), "the control counts once");
}
