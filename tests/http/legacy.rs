//! Bodies in other encodings, compared with encoding_rs on the whole input.

use std::convert::Infallible;

use bytes::Bytes;
use encoding_rs::Encoding;
use futures::executor::block_on;
use futures::{FutureExt, StreamExt, stream};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, StreamBody};
use utf8_codec::http::{BodyError, Utf8Body};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

use crate::encodings::{LABELS, whole};
use crate::lists::MODES;
use crate::script::Does::{Chunk as Data, End, Error as Fail, Trailers};
use crate::script::{Script, body, ready};

/// The output for a body in pieces of these sizes.
fn in_pieces(label: &str, bytes: &[u8], sizes: &[usize]) -> Vec<String> {
    let (mut frames, mut rest, mut sizes) = (Vec::new(), bytes, sizes.iter().cycle());
    while !rest.is_empty() {
        let size = sizes.next().map_or(rest.len(), |size| (*size).min(rest.len()));
        let (piece, after) = rest.split_at(size);
        frames.push(Ok::<_, Infallible>(Frame::data(Bytes::copy_from_slice(piece))));
        rest = after;
    }
    let mut body =
        Utf8Body::new(StreamBody::new(stream::iter(frames))).with_charset(label).unwrap();
    let mut words = ready(&mut body);
    assert_eq!(words.pop().as_deref(), Some("-"));
    let is_error = |word: &String| word.ends_with(']') && word.contains(" [");
    let split = |word: String| match is_error(&word) {
        true => vec![word],
        false => word.chars().map(String::from).collect(),
    };
    words.into_iter().flat_map(split).collect()
}

#[test]
fn splits_do_not_affect_pairs_of_bytes_in_every_encoding() {
    let bytes = |range: std::ops::RangeInclusive<u8>| range.collect::<Vec<_>>();
    for label in LABELS {
        let encoding = Encoding::for_label(label.as_bytes()).unwrap();
        let (first, second) = match label {
            "utf-16be" | "utf-16le" => (vec![0xD8, 0xDC], bytes(0..=0xFF)),
            _ if encoding.is_single_byte() => (bytes(0..=0xFF), vec![]),
            _ => (bytes(0x80..=0xFF), bytes(0..=0xFF)),
        };
        let mut all = b"ab".to_vec();
        for a in first {
            all.extend([a, b' ']);
            second.iter().for_each(|b| all.extend([a, *b, b' ', b' ']));
        }
        let expected = whole(label, &all);
        for sizes in [&[usize::MAX][..], &[1], &[4096, 5]] {
            assert!(in_pieces(label, &all, sizes) == expected, "{label} {sizes:?}");
        }
    }
}

#[test]
fn text_in_every_encoding_round_trips() {
    let text = "plain, déjà vu, Ελληνικά, кириллица, שלום, العربية, ไทย, 日本語, 中文, 한국어, 👋 ";
    for label in LABELS {
        let encoding = Encoding::for_label(label.as_bytes()).unwrap();
        if encoding.output_encoding() != encoding {
            continue; // encoding_rs has no UTF-16 encoder.
        }
        let (bytes, ..) = encoding.encode(text);
        let (expected, malformed) = encoding.decode_without_bom_handling(&bytes);
        assert!(!malformed);
        let bytes = bytes.repeat(1000);
        for size in [1, 7, 1460, usize::MAX] {
            let frames = bytes.chunks(size.min(bytes.len()));
            let frames = frames.map(|data| Ok::<_, Infallible>(Frame::data(data)));
            let body = StreamBody::new(stream::iter(frames));
            let body = Utf8Body::new(body).with_charset(label).unwrap();
            let text = block_on(body.collect_text(usize::MAX)).unwrap();
            assert!(text == expected.repeat(1000), "{label} {size}");
        }
    }
}

#[test]
fn errors_have_the_offset_and_extent_of_the_encoding_standard() {
    let reported = |label: &str, does: &[_]| ready(&mut body(does).with_charset(label).unwrap());
    let does = [Data(b"a\x81"), Data(b"\xFFb\xFD"), Data(b"\x93\xFA"), End];
    assert_eq!(reported("shift_jis", &does), ["a", "1 [81, ff]", "b", "4 [fd]", "日", "-"]);
    let does = [Data(b"a\0\0"), Data(b"\xD8b"), Data(b"\0c"), End];
    assert_eq!(reported("utf-16le", &does), ["a", "2 [00, d8]", "b", "6 [63]", "-"]);
    let does = [Data(b"a\x81"), Trailers("1"), End];
    assert_eq!(reported("gb18030", &does), ["a", "1 [81]", "x: 1", "-"]);
    let does = [Data(b"a\x81"), Fail("reset"), Data(b"b")];
    assert_eq!(reported("gb18030", &does), ["a", "! reset", "-"]);
    // Decided by the fourth byte: the first starts no character, and the two between are text.
    let does = [Data(b"\x81"), Data(b"\x30"), Data(b"\x81"), Data(b"x"), End];
    assert_eq!(reported("gb18030", &does), ["0 [81]", "0亁", "-"]);
}

#[test]
fn every_mode_repairs_errors() {
    let does = [Data(b"a\x81"), Data(b"\xFFb\xFD"), End];
    let table = [
        (ErrorMode::Replacement, "a\u{FFFD}b\u{FFFD}"),
        (ErrorMode::Skip, "ab"),
        (ErrorMode::Escape, r"a\x81\xffb\xfd"),
        (ErrorMode::Latin1, "a\u{81}ÿbý"),
        (ErrorMode::Windows1252, "a\u{81}ÿbý"),
    ];
    for (mode, expected) in table {
        let mut body = body(&does).with_charset("shift_jis").unwrap().with_error_mode(mode);
        let words = ready(&mut body);
        assert_eq!(words[..words.len() - 1].concat(), expected, "{mode:?}");
        assert_eq!(body.error_count(), 2);
        let Some(BodyError::Legacy { encoding, offset, bytes }) = body.first_error() else {
            panic!()
        };
        assert_eq!((encoding, offset, &*bytes), ("Shift_JIS", 1, &b"\x81\xFF"[..]));
    }
}

#[test]
fn modes_that_replace_each_byte_also_replace_bytes_of_ascii() {
    for mode in [ErrorMode::Latin1, ErrorMode::Windows1252] {
        for (label, bytes, expected) in [
            ("gb18030", &b"a\xFE\x39\xFE\x39b"[..], "aþ9þ9b"),
            ("iso-2022-jp", b"a\x0Eb", "a\x0Eb"),
            // No bytes, but units.
            ("utf-16le", b"a\0\x3D\xD8b\0", "a\u{FFFD}b"),
            ("utf-16be", b"\0a\xDC\0\0b\x41", "a\u{FFFD}b\u{FFFD}"),
        ] {
            let body = Utf8Body::new(Full::<Bytes>::from(bytes)).with_charset(label).unwrap();
            let text = block_on(body.with_error_mode(mode).collect_text(usize::MAX)).unwrap();
            assert_eq!(text, expected, "{label} {mode:?}");
        }
    }
}

#[cfg(feature = "stream")]
#[test]
fn the_source_of_a_text_stream_counts_what_the_conversion_has_repaired() {
    let body = || {
        let body = Utf8Body::new(Full::<Bytes>::from(&b"a\xFFb\n\x81\xFF"[..]));
        body.with_charset("shift_jis").unwrap().with_error_mode(ErrorMode::Replacement)
    };
    let mut texts = body().into_text_stream();
    while block_on(texts.next()).is_some() {}
    assert_eq!((texts.get_ref().error_count(), texts.decoder().error_count()), (2, 0));
    let mut lines = body().into_lines();
    let texts: Vec<_> = block_on(lines.by_ref().map(|line| line.unwrap().text).collect());
    assert_eq!(texts, ["a\u{FFFD}b", "\u{FFFD}"]);
    assert_eq!((lines.get_ref().error_count(), lines.decoder().error_count()), (2, 0));
    assert_eq!(
        Utf8Body::new(Full::<Bytes>::default()).into_text_stream().get_ref().error_count(),
        0
    );
}

#[cfg(feature = "stream")]
#[test]
fn nothing_follows_the_error_that_ends_a_body_in_its_lines() {
    let does = [Data(b"x\xE2\x82"), Fail("reset")];
    let mut body = body(&does);
    assert_eq!(body.next_text().now_or_never().unwrap().unwrap().unwrap(), "x");
    assert!(body.next_text().now_or_never().unwrap().unwrap().is_err());
    assert!(block_on(body.into_lines().next()).is_none());
}

#[test]
fn data_after_trailers_is_decoded() {
    let does = [Data(b"\x93"), Trailers("1"), Data(b"\x93\xFA"), Trailers("2"), End];
    let mut body = body(&does).with_charset("shift_jis").unwrap();
    assert_eq!(ready(&mut body), ["0 [93]", "x: 1", "日", "x: 2", "-"]);
    let does = [Data(b"a"), Trailers("1"), Data(b"\xEF\xBB\xBF"), End];
    let mut body = self::body(&does).with_charset("latin1").unwrap();
    assert_eq!(ready(&mut body), ["a", "x: 1", "ï»¿", "-"]);
}

#[test]
fn the_bom_decides_the_byte_order_of_utf_16() {
    let little: [&'static [u8]; 2] = [b"\xFF", b"\xFEa\0"];
    let big: [&'static [u8]; 3] = [b"\xFE", b"\xFF\0", b"a"];
    for label in ["utf-16", "utf-16le", "utf-16be"] {
        for chunks in [&little[..], &big] {
            let body = || Utf8Body::new(Script::of(chunks)).with_charset(label).unwrap();
            let bom = |policy| body().with_options(Utf8Options::new().with_bom(policy));
            let text = |body: Utf8Body<Script>| ready(&mut { body }).concat();
            assert_eq!(text(bom(BomPolicy::Keep)), "\u{FEFF}a-");
            assert_eq!(text(bom(BomPolicy::Strip)), "a-");
            assert_eq!(text(bom(BomPolicy::Require)), "a-");
            assert_eq!(text(bom(BomPolicy::Forbid)), "0 [ef, bb, bf]a-");
        }
        let plain: &[&'static [u8]] = if label == "utf-16be" { &[b"\0", b"a"] } else { &[b"a\0"] };
        let options = Utf8Options::new().with_bom(BomPolicy::Require);
        let body = Utf8Body::new(Script::of(plain)).with_charset(label).unwrap();
        assert_eq!(ready(&mut body.with_options(options)).concat(), "0 []a-");
    }
    // U+FFFE elsewhere is an ordinary character.
    for (label, chunks) in [
        ("utf-16", &[&b"a\0\xFE\xFF"[..]][..]),
        ("utf-16", &[b"a\0", b"\xFE\xFF"]),
        ("utf-16be", &[b"\0a", b"\xFF\xFE"]),
    ] {
        let mut body = Utf8Body::new(Script::of(chunks)).with_charset(label).unwrap();
        assert_eq!(ready(&mut body).concat(), "a\u{FFFE}-");
    }
}

#[test]
fn strictness_applies_to_the_decoded_text() {
    let strict = Utf8Options::new().reject_nul();
    let body =
        || body(&[Data(b"\xE9\0\x81"), End]).with_charset("big5").unwrap().with_options(strict);
    // E9 00 is ill-formed, and 00 is text.
    assert_eq!(ready(&mut body()), ["0 [e9]", "0 [00]", "2 [81]", "-"]);
    let mut lossy = body().with_error_mode(ErrorMode::Skip);
    assert_eq!(ready(&mut lossy), ["-"]);
    assert_eq!(lossy.error_count(), 3);
    assert!(matches!(lossy.first_error(), Some(BodyError::Legacy { .. })));
}

#[test]
fn first_error_is_the_first_in_the_text() {
    let strict = Utf8Options::new().reject_nul();
    let body = |data| {
        let body = body(&[Data(data), End]).with_charset("shift_jis").unwrap();
        body.with_options(strict).with_error_mode(ErrorMode::Replacement)
    };
    let mut rejected_first = body(b"a\0b\xFD");
    assert_eq!(ready(&mut rejected_first).concat(), "a\u{FFFD}b\u{FFFD}-");
    assert!(matches!(rejected_first.first_error(), Some(BodyError::Utf8(_))));
    let mut rejected_first = self::body(&[Data(b"abc\0"), Data(b"\xFD"), End])
        .with_charset("shift_jis")
        .unwrap()
        .with_options(strict)
        .with_error_mode(ErrorMode::Skip);
    assert_eq!(ready(&mut rejected_first).concat(), "abc-");
    assert!(matches!(rejected_first.first_error(), Some(BodyError::Utf8(_))));
    let mut ill_formed_first = body(b"a\xFDb\0");
    assert_eq!(ready(&mut ill_formed_first).concat(), "a\u{FFFD}b\u{FFFD}-");
    assert!(matches!(ill_formed_first.first_error(), Some(BodyError::Legacy { .. })));
}

#[test]
fn a_large_frame_is_emitted_in_bounded_blocks() {
    for mode in MODES {
        let bytes = Bytes::from(b"\x93\xFA\xFD".repeat(100_000));
        let body = Utf8Body::new(Full::new(bytes)).with_charset("shift_jis").unwrap();
        let mut body = body.with_error_mode(mode);
        let (mut frames, mut len, mut errors) = (0, 0, 0);
        while let Some(frame) = body.text_frame().now_or_never().unwrap() {
            match frame {
                Ok(frame) => {
                    let text = frame.into_data().unwrap();
                    assert!(text.len() <= 17 * 1024, "{}", text.len());
                    (frames, len) = (frames + 1, len + text.len());
                }
                Err(_) => errors += 1,
            }
        }
        assert!(frames > 17 && len >= 300_000, "{mode:?}: {frames} {len}");
        assert_eq!(body.error_count(), 100_000);
        assert_eq!(errors, if mode == ErrorMode::Fatal { 100_000 } else { 0 });
    }
}

#[test]
fn text_without_errors_is_emitted_in_bounded_blocks() {
    for (label, part, expected) in
        [("windows-1252", &b"\xE9\x80a"[..], "é€a"), ("utf-16le", b"a\0\xE5\x65", "a日")]
    {
        let bytes = Bytes::from(part.repeat(50_000));
        let mut body = Utf8Body::new(Full::new(bytes)).with_charset(label).unwrap();
        let mut text = String::new();
        while let Some(frame) = body.text_frame().now_or_never().unwrap() {
            let block = frame.unwrap().into_data().unwrap();
            assert!(block.len() <= 16 * 1024 + 16, "{label}: {}", block.len());
            text.push_str(&block);
        }
        assert!(text == expected.repeat(50_000), "{label}");
    }
}

#[test]
fn a_converted_body_has_no_exact_size_hint() {
    let mut body =
        Utf8Body::new(Script::of(&[b"a\xE9"]).with_length()).with_charset("latin1").unwrap();
    assert_eq!((body.size_hint().lower(), body.size_hint().upper()), (0, None));
    assert!(!body.is_end_stream());
    assert_eq!(ready(&mut body), ["aé", "-"]);
    assert_eq!(body.size_hint().exact(), Some(0));
    assert!(body.is_end_stream());
    let cut = Utf8Body::new(Script::of(&[b"a\x93"]).with_length());
    let mut cut = cut.with_charset("shift_jis").unwrap();
    assert!(cut.frame().now_or_never().unwrap().unwrap().is_ok());
    assert!(cut.get_ref().is_end_stream() && !cut.is_end_stream(), "an error follows");
    assert_eq!(ready(&mut cut), ["1 [93]", "-"]);
    let empty = Utf8Body::new(Script::of(&[]).with_length()).with_charset("latin1").unwrap();
    assert!(empty.is_end_stream());
}

#[test]
fn limits_count_body_bytes_and_text_bytes_separately() {
    let body = || body(&[Data(b"\xE9\xE9"), Data(b"\xE9"), End]).with_charset("latin1").unwrap();
    assert_eq!(ready(&mut body().with_max_length(3)).concat(), "ééé-");
    assert_eq!(ready(&mut body().with_max_length(2)).concat(), "éé! > 2-");
    assert_eq!(body().collect_text(6).now_or_never().unwrap().unwrap(), "ééé");
    let error = body().collect_text(5).now_or_never().unwrap().unwrap_err();
    assert!(matches!(error, BodyError::TooLong { max_length: 5 }));
}

#[test]
fn labels_are_those_of_the_encoding_standard() {
    let name = |label: &str| body(&[]).with_charset(label).map(|body| body.charset());
    assert_eq!(name("Latin1").unwrap(), "windows-1252");
    assert_eq!(name("us-ascii").unwrap(), "windows-1252");
    assert_eq!(name(" UTF-16 ").unwrap(), "UTF-16LE");
    assert_eq!(name("sjis").unwrap(), "Shift_JIS");
    for replacement in ["replacement", "iso-2022-kr", "hz-gb-2312", "iso-2022-cn-ext"] {
        assert_eq!(name(replacement).unwrap_err().status(), 415);
    }
    for label in LABELS {
        assert_eq!(name(label).unwrap().to_lowercase(), label);
    }
}

#[test]
fn a_frame_in_another_charset_is_freed_once_it_has_been_decoded() {
    for label in ["latin1", "shift_jis", "utf-16le", "utf-8"] {
        for mode in MODES {
            for end in [&b""[..], b"\xFF", b"\x81", b"a\xE2", b"\xFF\xE2\x82"] {
                let data = Bytes::from([&b"a\0".repeat(1500)[..], end].concat());
                let frames = stream::iter([Ok::<_, Infallible>(Frame::data(data.clone()))]);
                let body = StreamBody::new(frames.chain(stream::pending()).boxed());
                let mut body =
                    Utf8Body::new(body).with_charset(label).unwrap().with_error_mode(mode);
                while body.text_frame().now_or_never().is_some() {}
                assert!(data.is_unique(), "{label}, {mode:?}, after {end:x?}");
            }
        }
    }
}

#[test]
fn an_error_is_counted_when_it_is_returned_at_any_split() {
    let bytes = b"h\0i\0\0\xD8!\0";
    for cut in 0..=bytes.len() {
        let frames = [&bytes[..cut], &bytes[cut..]]
            .map(|data| Ok::<_, Infallible>(Frame::data(Bytes::from(data))));
        let mut body = Utf8Body::new(StreamBody::new(stream::iter(frames)));
        body = body.with_charset("utf-16le").unwrap();
        let mut words = String::new();
        while let Some(item) = block_on(body.next_text()) {
            match item {
                Ok(text) => words += &text,
                Err(_) => words.push('?'),
            }
            let errors = words.matches('?').count() as u64;
            assert_eq!(body.error_count(), errors, "{cut} {words}");
            assert_eq!(body.first_error().is_some(), errors > 0, "{cut} {words}");
        }
        assert_eq!(words, "hi?!", "{cut}");
    }
}
