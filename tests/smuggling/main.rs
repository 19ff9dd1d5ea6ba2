//! What one decoder accepts and another rejects is never passed on. `dialects`: not by a decoder, codec or stream. Here:
//! overlong forms and surrogates are not decoded to what they imitate by a fallback, a switch of charsets, a
//! detector or a search.
#![cfg(feature = "alloc")]

mod dialects;
#[cfg(all(feature = "codec", feature = "stream"))]
#[path = "../tools/src/bin/conformance/driver/mod.rs"]
#[allow(dead_code, reason = "each user takes its own part")]
mod driver;
#[cfg(all(feature = "codec", feature = "stream"))]
#[path = "../support/lists.rs"]
mod lists;

use utf8_codec::decoder::Status;
use utf8_codec::detect::{Detector, StreamKind};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::terminal::TerminalDecoder;
use utf8_codec::{ErrorMode, boundary};

/// NUL, a slash, surrogates, a pair of them, a value too large; and what each imitates.
const FORMS: [(&[u8], &str); 9] = [
    (b"\xC0\x80", "\0"),
    (b"\xE0\x80\x80", "\0"),
    (b"\xC0\xAF", "/"),
    (b"\xE0\x80\xAF", "/"),
    (b"\xF0\x80\x80\xAF", "/"),
    (b"\xF8\x80\x80\x80\xAF", "/"),
    (b"\xED\xA0\x80", "\u{FFFF}"),
    (b"\xED\xA0\xBD\xED\xB8\x80", "\u{1F600}"),
    (b"\xF4\x90\x80\x80", "\u{10FFFF}"),
];

fn fallbacks() -> Vec<FallbackDecoder> {
    #[cfg(not(feature = "encoding_rs"))]
    let others = [];
    #[cfg(feature = "encoding_rs")]
    let others =
        [encoding_rs::SHIFT_JIS, encoding_rs::GB18030, encoding_rs::BIG5, encoding_rs::EUC_KR]
            .map(|encoding| LegacyEncoding::whatwg(encoding).unwrap());
    let extents = [FallbackDecoder::part, FallbackDecoder::line, FallbackDecoder::rest];
    [LegacyEncoding::latin1(), LegacyEncoding::windows_1252()]
        .into_iter()
        .chain(others)
        .flat_map(|encoding| extents.map(|extent| extent(encoding)))
        .collect()
}

/// Calls `check` with each form between `!` and `.`, which are never part of a two-byte character,
/// split at each offset.
fn for_each_form(check: impl Fn(&[&[u8]], &str)) {
    for (form, pretended) in FORMS {
        let bytes = [b"!", form, b"."].concat();
        for at in 0..=bytes.len() {
            let (front, back) = bytes.split_at(at);
            check(&[front, back], pretended);
        }
        check(&bytes.chunks(1).collect::<Vec<_>>(), pretended);
    }
}

#[track_caller]
fn assert_stopped(text: &str, pretended: &str) {
    assert!(text.starts_with('!') && text.ends_with('.'), "{text:?}");
    assert!(!text.contains(pretended), "{text:?}");
}

#[test]
fn fallbacks_never_pass_a_disguised_form() {
    for fallback in fallbacks() {
        for_each_form(|chunks, pretended| {
            let mut decoder = fallback.clone();
            let mut text = String::new();
            for chunk in chunks {
                let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
                assert_eq!(progress.status, Status::Done);
            }
            decoder.finish_to_string(ErrorMode::Fatal, &mut text).unwrap();
            assert_stopped(&text, pretended);
            assert!(decoder.first_fallback().is_some() && decoder.error_count() > 0);
        });
    }
}

#[test]
fn charset_switches_never_pass_a_disguised_form() {
    for start in [TerminalDecoder::new(), TerminalDecoder::new().with_utf8_start()] {
        for_each_form(|chunks, pretended| {
            let mut decoder = start.clone();
            let mut text = String::new();
            for chunk in chunks {
                decoder.push(chunk).flatten().for_each(|piece| text.push_str(piece));
            }
            assert_stopped(&text, pretended);
            assert_eq!(decoder.error_count() > 0, start.is_utf8());
        });
    }
}

#[test]
fn a_detector_never_reports_a_disguised_form_as_utf8() {
    for_each_form(|chunks, _| {
        let mut detector = Detector::new();
        for chunk in chunks {
            detector.push(chunk);
        }
        assert_eq!(detector.finish(), StreamKind::Legacy);
    });
}

#[test]
fn a_disguised_form_is_not_one_unit_between_boundaries() {
    for (form, _) in FORMS {
        assert!(boundary::is_boundary(form, 1), "{form:02x?}");
    }
}

#[cfg(feature = "codec")]
#[test]
fn codecs_with_a_fallback_never_pass_a_disguised_form() {
    use bytes::BytesMut;
    use tokio_util::codec::Decoder;
    use utf8_codec::codec::{Utf8Codec, Utf8LinesCodec};

    for fallback in fallbacks() {
        for_each_form(|chunks, pretended| {
            let (mut codec, mut text) =
                (Utf8Codec::new().with_fallback(fallback.clone()), String::new());
            let (mut lines, mut line) =
                (Utf8LinesCodec::new().with_fallback(fallback.clone()), String::new());
            let (mut buffer, mut line_buffer) = (BytesMut::new(), BytesMut::new());
            for chunk in chunks {
                buffer.extend_from_slice(chunk);
                while let Some(piece) = codec.decode(&mut buffer).unwrap() {
                    text += &piece;
                }
                line_buffer.extend_from_slice(chunk);
                assert!(lines.decode(&mut line_buffer).unwrap().is_none());
            }
            while let Some(piece) = codec.decode_eof(&mut buffer).unwrap() {
                text += &piece;
            }
            while let Some(item) = lines.decode_eof(&mut line_buffer).unwrap() {
                line += &item.unwrap().text;
            }
            assert_stopped(&text, pretended);
            assert_stopped(&line, pretended);
        });
    }
}

#[cfg(feature = "stream")]
#[test]
fn streams_with_a_fallback_or_a_search_never_pass_a_disguised_form() {
    use bytes::Bytes;
    use futures::{FutureExt, StreamExt, stream};
    use utf8_codec::search::TextFinder;
    use utf8_codec::stream::{StreamError, Utf8Stream};

    let inner = |chunks: &[&[u8]]| {
        let chunks = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk)));
        stream::iter(chunks.collect::<Vec<Result<_, std::convert::Infallible>>>())
    };
    for fallback in fallbacks() {
        for_each_form(|chunks, pretended| {
            let texts = Utf8Stream::new(inner(chunks)).with_fallback(fallback.clone());
            let texts = texts.map(Result::unwrap).collect::<Vec<_>>().now_or_never().unwrap();
            assert_stopped(&texts.iter().map(|text| &**text).collect::<String>(), pretended);
        });
    }
    for_each_form(|chunks, pretended| {
        for needle in [pretended, "!."] {
            let mut finder = TextFinder::new(needle).unwrap();
            let texts = Utf8Stream::new(inner(chunks));
            let items = texts.collect::<Vec<_>>().now_or_never().unwrap();
            assert!(items.iter().any(Result::is_err));
            for item in items {
                match item {
                    Ok(text) => assert_eq!(finder.push(&text).next(), None),
                    Err(StreamError::Utf8(error)) => finder.skip(error.bytes().len() as u64),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    });
}
