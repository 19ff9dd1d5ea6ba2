//! Lines, some of which are not UTF-8.

use std::io::{BufRead, ErrorKind};

use bstr::ByteSlice;
use bstr::io::BufReadExt;
use bytes::BytesMut;
use futures::executor::block_on;
use futures::{FutureExt, StreamExt};
use tokio::io::AsyncBufReadExt;
use tokio_util::codec::{
    AnyDelimiterCodec, Decoder, Encoder, FramedRead, LinesCodec, LinesCodecError,
};
use utf8_codec::ErrorMode;
use utf8_codec::codec::{CodecError, Utf8LinesCodec};
use utf8_codec::lines::LineError;

use crate::Script;

const INPUT: &[u8] = b"one\ncaf\xE9\nthree\n";

#[test]
fn lines_codec_in_framed_read_ends_after_invalid_utf8() {
    let mut lines = FramedRead::new(INPUT, LinesCodec::new());
    assert_eq!(block_on(lines.next()).unwrap().unwrap(), "one");
    assert!(block_on(lines.next()).unwrap().is_err());
    assert!(block_on(lines.next()).is_none());
}

#[test]
fn lines_codec_in_framed_read_continues_if_polled_after_the_end() {
    let mut lines = FramedRead::new(INPUT, LinesCodec::new());
    while block_on(lines.next()).is_some() {}
    assert_eq!(block_on(lines.next()).unwrap().unwrap(), "three");
}

#[test]
fn lines_codec_by_hand_continues_after_invalid_utf8() {
    let mut codec = LinesCodec::new();
    let mut buffer = BytesMut::from(INPUT);
    let mut next = || codec.decode(&mut buffer).ok();
    assert_eq!(
        [next(), next(), next()],
        [Some(Some("one".into())), None, Some(Some("three".into()))]
    );
}

#[test]
fn lines_codec_error_has_no_offset_and_no_source() {
    let mut codec = LinesCodec::new();
    let error = codec.decode(&mut BytesMut::from(&b"caf\xE9\n"[..])).unwrap_err();
    assert_eq!(error.to_string(), "Unable to decode input as UTF8");
    assert!(std::error::Error::source(&error).is_none());
}

#[test]
fn lines_codec_reports_an_error_when_the_line_is_complete() {
    let mut codec = LinesCodec::new();
    let mut buffer = BytesMut::from(&b"\xFF and so on"[..]);
    assert_eq!(codec.decode(&mut buffer).unwrap(), None);
    buffer.extend_from_slice(b"\n");
    assert!(codec.decode(&mut buffer).is_err());
}

#[test]
fn lines_codec_has_no_limit_by_default() {
    let mut codec = LinesCodec::new();
    let mut buffer = BytesMut::new();
    for _ in 0..1024 {
        buffer.extend_from_slice(&[b'a'; 1024]);
        assert_eq!(codec.decode(&mut buffer).unwrap(), None);
    }
    assert_eq!(buffer.len(), 1 << 20);
}

#[test]
fn lines_codec_with_a_limit_skips_the_rest_of_the_line() {
    let mut codec = LinesCodec::new_with_max_length(4);
    let mut buffer = BytesMut::from(&b"too long\nnext\n"[..]);
    let error = codec.decode(&mut buffer).unwrap_err();
    assert!(matches!(error, LinesCodecError::MaxLineLengthExceeded));
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap(), "next");
}

#[test]
fn lines_codec_in_framed_read_ends_after_a_long_line() {
    let mut lines = FramedRead::new(&b"too long\nnext\n"[..], LinesCodec::new_with_max_length(4));
    assert!(block_on(lines.next()).unwrap().is_err());
    assert!(block_on(lines.next()).is_none());
}

#[test]
fn lines_codec_counts_the_carriage_return_to_the_limit() {
    let mut codec = LinesCodec::new_with_max_length(4);
    assert_eq!(codec.decode(&mut BytesMut::from("four\n")).unwrap().unwrap(), "four");
    assert!(codec.decode(&mut BytesMut::from("four\r\n")).is_err());
    let mut ours = Utf8LinesCodec::new().with_max_length(4);
    assert_eq!(ours.decode(&mut BytesMut::from("four\r\n")).unwrap().unwrap().unwrap(), "four");
}

#[test]
fn lines_codec_drops_a_carriage_return_at_the_end_of_the_stream() {
    let lines = FramedRead::new(&b"one\r\ntwo\r"[..], LinesCodec::new());
    let lines: Vec<_> = block_on(lines.map(Result::unwrap).collect());
    assert_eq!(lines, ["one", "two"]);
}

#[test]
fn ours_keeps_a_carriage_return_at_the_end_of_the_stream() {
    let lines = FramedRead::new(&b"one\r\ntwo\r"[..], Utf8LinesCodec::new());
    let lines: Vec<_> = block_on(lines.map(|line| line.unwrap().unwrap().to_string()).collect());
    assert_eq!(lines, ["one", "two\r"]);
}

#[test]
fn std_and_tokio_lines_keep_a_carriage_return_at_the_end_of_the_stream() {
    let lines: Vec<_> = BufRead::lines(&b"one\r\ntwo\r"[..]).map(Result::unwrap).collect();
    assert_eq!(lines, ["one", "two\r"]);
    let mut lines = AsyncBufReadExt::lines(&b"two\r"[..]);
    assert_eq!(block_on(lines.next_line()).unwrap().unwrap(), "two\r");
}

#[test]
fn any_delimiter_codec_yields_bytes_without_validation() {
    let codec = AnyDelimiterCodec::new(b"\n".to_vec(), b"\n".to_vec());
    let lines: Vec<_> = block_on(FramedRead::new(INPUT, codec).map(Result::unwrap).collect());
    assert_eq!(lines, [&b"one"[..], b"caf\xE9", b"three"]);
}

#[test]
fn any_delimiter_codec_yields_an_empty_item_within_cr_lf() {
    let codec = AnyDelimiterCodec::new(b"\r\n".to_vec(), b"\n".to_vec());
    let lines = FramedRead::new(&b"one\r\ntwo\r\n"[..], codec);
    let lines: Vec<_> = block_on(lines.map(Result::unwrap).collect());
    assert_eq!(lines, ["one", "", "two", ""]);
}

#[test]
fn any_delimiter_codec_has_no_limit_by_default() {
    let mut codec = AnyDelimiterCodec::default();
    let mut buffer = BytesMut::from(&*vec![b'a'; 1 << 20]);
    assert_eq!(codec.decode(&mut buffer).unwrap(), None);
    assert_eq!(buffer.len(), 1 << 20);
    let mut codec = AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), b"\n".to_vec(), 100);
    assert!(codec.decode(&mut buffer).is_err());
}

#[test]
fn any_delimiter_codec_writes_a_text_with_a_delimiter_as_two() {
    let mut buffer = BytesMut::new();
    AnyDelimiterCodec::default().encode("one,two", &mut buffer).unwrap();
    assert_eq!(buffer, "one,two,");
}

#[test]
fn lines_codec_keeps_a_bom() {
    let mut codec = LinesCodec::new();
    let line = codec.decode(&mut BytesMut::from("\u{FEFF}a\n")).unwrap();
    assert_eq!(line.unwrap(), "\u{FEFF}a");
}

#[test]
fn lines_codec_writes_a_text_with_a_line_ending_as_two_lines() {
    let mut buffer = BytesMut::new();
    LinesCodec::new().encode("one\ntwo", &mut buffer).unwrap();
    assert_eq!(buffer, "one\ntwo\n");
}

#[test]
fn ours_rejects_writing_a_text_with_a_line_ending() {
    let mut buffer = BytesMut::new();
    let error = Utf8LinesCodec::new().encode("one\ntwo", &mut buffer).unwrap_err();
    assert!(matches!(error, CodecError::EmbeddedDelimiter { offset: 3, .. }));
    assert!(buffer.is_empty());
}

#[test]
fn ours_returns_a_bad_line_as_an_item_and_continues() {
    let mut lines = FramedRead::new(INPUT, Utf8LinesCodec::new());
    let mut next = || block_on(lines.next()).map(Result::unwrap);
    assert_eq!(next().unwrap().unwrap(), "one");
    let error = next().unwrap().unwrap_err();
    let LineError::Utf8 { number, offset, error, .. } = error else { panic!("{error}") };
    assert_eq!((number, offset, error.valid_up_to()), (2, 4, 7));
    assert_eq!(next().unwrap().unwrap(), "three");
    assert!(next().is_none());
}

#[test]
fn ours_reports_a_bad_line_before_its_end() {
    let mut codec = Utf8LinesCodec::new();
    let mut buffer = BytesMut::from(&b"\xFF and so on"[..]);
    assert!(codec.decode(&mut buffer).unwrap().unwrap().is_err());
}

#[test]
fn ours_limits_lines_by_default() {
    let mut codec = Utf8LinesCodec::new();
    let mut buffer = BytesMut::new();
    let mut errors = 0;
    for _ in 0..1024 {
        buffer.extend_from_slice(&[b'a'; 1024]);
        while let Some(line) = codec.decode(&mut buffer).unwrap() {
            let error = line.unwrap_err();
            assert!(matches!(error, LineError::TooLong { max_length: 65_536, .. }), "{error}");
            errors += 1;
        }
        assert!(buffer.len() <= 64 << 10);
    }
    buffer.extend_from_slice(b"\nnext\n");
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "next");
    assert_eq!(errors, 1);
}

#[test]
fn ours_keeps_every_line_in_a_lossy_mode() {
    let codec = Utf8LinesCodec::new().with_error_mode(ErrorMode::Replacement);
    let lines = FramedRead::new(INPUT, codec).map(|line| line.unwrap().unwrap().to_string());
    let lines: Vec<_> = block_on(lines.collect());
    assert_eq!(lines, ["one", "caf\u{FFFD}", "three"]);
}

#[test]
fn std_lines_continue_after_invalid_utf8() {
    let lines: Vec<_> =
        BufRead::lines(INPUT).map(|line| line.map_err(|error| error.kind())).collect();
    assert_eq!(lines, [Ok("one".into()), Err(ErrorKind::InvalidData), Ok("three".into())]);
}

#[test]
fn std_lines_have_no_limit() {
    let line = vec![b'a'; 1 << 20];
    assert_eq!(BufRead::lines(&*line).next().unwrap().unwrap().len(), 1 << 20);
}

#[test]
fn tokio_lines_continue_after_invalid_utf8() {
    let mut lines = AsyncBufReadExt::lines(INPUT);
    let mut next = || block_on(lines.next_line()).map_err(|error| error.kind());
    assert_eq!(next(), Ok(Some("one".into())));
    assert_eq!(next(), Err(ErrorKind::InvalidData));
    assert_eq!(next(), Ok(Some("three".into())));
}

#[test]
fn tokio_lines_keep_half_a_line_when_cancelled() {
    let reader = tokio::io::BufReader::new(Script::open(&[b"half"]));
    let mut lines = AsyncBufReadExt::lines(reader);
    assert!(lines.next_line().now_or_never().is_none());
    *lines.get_mut().get_mut() = Script::new(&[b" a line\n"]);
    assert_eq!(block_on(lines.next_line()).unwrap().unwrap(), "half a line");
}

#[test]
fn bstr_lines_are_bytes() {
    let lines: Vec<_> = INPUT.byte_lines().map(Result::unwrap).collect();
    assert_eq!(lines, [&b"one"[..], b"caf\xE9", b"three"]);
    assert_eq!(lines[1].as_bstr().to_string(), "caf\u{FFFD}");
}
