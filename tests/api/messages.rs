//! The messages of errors, by kind and by options. `error_chains.rs` has the message of each variant.

use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};
use utf8_codec::{BomPolicy, Utf8Error, Utf8ErrorKind, Utf8Options, Utf8Validator};

pub(crate) const PLAIN: Utf8Options = Utf8Options::new();
pub(crate) const REQUIRE: Utf8Options = PLAIN.with_bom(BomPolicy::Require);
pub(crate) const FORBID: Utf8Options = PLAIN.with_bom(BomPolicy::Forbid);
pub(crate) const STRICT: Utf8Options = PLAIN.only_mqtt_characters();

/// The first error of a stream that arrives one byte at a time.
pub(crate) fn first_error(options: Utf8Options, bytes: &[u8]) -> Utf8Error {
    let mut validator = Utf8Validator::new().with_options(options);
    let mut results = bytes.iter().map(|byte| validator.push(&[*byte]));
    results.find_map(Result::err).or_else(|| validator.finish().err()).expect("no error")
}

#[test]
fn utf8_error_displays_its_reason_and_offset() {
    let ill_formed: &[(&[u8], &str)] = &[
        (b"a\x80", "1: unexpected continuation byte (80)"),
        (b"a\xBF\x80", "1: unexpected continuation byte (bf)"),
        (b"\xC0\x80", "0: overlong encoding (c0)"),
        (b"\xC1", "0: overlong encoding (c1)"),
        (b"\xE0\x9F", "0: overlong encoding (e0, followed by 9f)"),
        (b"\xF0\x8F", "0: overlong encoding (f0, followed by 8f)"),
        (b"\xED\xA0", "0: encoded surrogate (ed, followed by a0)"),
        (b"\xED\xBF", "0: encoded surrogate (ed, followed by bf)"),
        (b"\xF4\x90", "0: code point above U+10FFFF (f4, followed by 90)"),
        (b"\xF5\x80", "0: code point above U+10FFFF (f5)"),
        (b"\xF7", "0: code point above U+10FFFF (f7)"),
        (b"\xF8", "0: invalid byte (f8)"),
        (b"\xFD", "0: invalid byte (fd)"),
        (b"\xC3\xC3", "0: truncated character (c3, followed by c3)"),
        (b"\xED\xFF", "0: truncated character (ed, followed by ff)"),
        (b"\xF0\x9F\x98\n", "0: truncated character (f0 9f 98, followed by 0a)"),
        (b"ab\xC3", "2: unexpected end inside a character (c3)"),
        (b"\xF4\x8F\xBF", "0: unexpected end inside a character (f4 8f bf)"),
    ];
    for (bytes, expected) in ill_formed {
        let message = first_error(PLAIN, bytes).to_string();
        assert_eq!(message, format!("invalid UTF-8 at byte {expected}"), "{bytes:02x?}");
    }
    let rejected: &[(Utf8Options, &[u8], &str)] = &[
        (FORBID, b"\xEF\xBB\xBF", "forbidden byte order mark (ef bb bf) at byte 0"),
        (REQUIRE, b"a", "missing byte order mark"),
        (REQUIRE, b"\xEF\xBBa", "missing byte order mark"),
        (REQUIRE, b"", "missing byte order mark"),
        (STRICT, b"\xEF\xB7\x90", "forbidden noncharacter (ef b7 90) at byte 0"),
        (STRICT, b"a\xF4\x8F\xBF\xBF", "forbidden noncharacter (f4 8f bf bf) at byte 1"),
        (STRICT, b"a\0", "forbidden character (00) at byte 1"),
        (STRICT, b"\xC2\x85", "forbidden character (c2 85) at byte 0"),
    ];
    for (options, bytes, expected) in rejected {
        assert_eq!(first_error(*options, bytes).to_string(), *expected, "{bytes:02x?}");
    }
}

#[test]
fn utf8_error_offset_is_counted_from_the_start_of_the_stream() {
    let mut validator = Utf8Validator::new();
    validator.push(&[b'x'; 1042]).unwrap();
    let error = validator.push(b"\xED\xA0\x80").unwrap_err();
    let message = "invalid UTF-8 at byte 1042: encoded surrogate (ed, followed by a0)";
    assert_eq!(error.to_string(), message);
}

#[test]
fn utf8_error_in_alternate_form_omits_the_offset() {
    for (options, bytes, expected) in [
        (PLAIN, &b"a\xED\xA0"[..], "encoded surrogate (ed, followed by a0)"),
        (PLAIN, b"\xFF", "invalid byte (ff); this looks like UTF-16"),
        (STRICT, b"a\0", "forbidden character (00)"),
        (REQUIRE, b"a", "missing byte order mark"),
    ] {
        assert_eq!(format!("{:#}", first_error(options, bytes)), expected);
    }
}

#[test]
fn utf8_error_mentions_utf16_only_for_fe_and_ff_at_the_start() {
    let hint = "; this looks like UTF-16";
    for byte in 0x80..=0xFF {
        let first = first_error(PLAIN, &[byte]).to_string();
        assert_eq!(first.ends_with(hint), byte >= 0xFE, "{first}");
        let later = first_error(PLAIN, &[b'x', byte]).to_string();
        assert!(!later.ends_with(hint), "{later}");
    }
    let message = "invalid UTF-8 at byte 0: invalid byte (fe); this looks like UTF-16";
    assert_eq!(first_error(PLAIN, b"\xFE\xFF").to_string(), message);
}

#[test]
fn kinds_obey_width_and_precision() {
    assert_eq!(format!("[{:<14}]", Utf8ErrorKind::InvalidByte), "[invalid byte  ]");
    assert_eq!(format!("[{:>12.4}]", Utf8ErrorKind::Truncated), "[        trun]");
    assert_eq!(Utf8ErrorKind::MissingBom.to_string(), "missing byte order mark");
    assert_eq!(format!("[{:<10}]", Utf8ErrorKind::Nul), "[NUL byte  ]");
}

#[test]
fn dialect_error_displays_its_reason_and_offset() {
    let message = |bom, dialect, bytes: &[u8]| {
        let mut decoder = DialectDecoder::new(dialect).with_bom(bom);
        let pushed = decoder.push(bytes).find_map(Result::err);
        pushed.or_else(|| decoder.finish().err()).expect("no error").to_string()
    };
    let table = [
        (Dialect::Rfc2279, &b"a\xC0\xAF"[..], "RFC 2279 UTF-8 at byte 1: overlong encoding (c0)"),
        (
            Dialect::Rfc2279,
            b"\xF8\x80",
            "RFC 2279 UTF-8 at byte 0: overlong encoding (f8, followed by 80)",
        ),
        (
            Dialect::Rfc2279,
            b"\xED\xA0",
            "RFC 2279 UTF-8 at byte 0: encoded surrogate (ed, followed by a0)",
        ),
        (Dialect::Rfc2279, b"\xFE", "RFC 2279 UTF-8 at byte 0: invalid byte (fe)"),
        (Dialect::Cesu8, b"\xED\xB0", "CESU-8 at byte 0: unpaired surrogate (ed, followed by b0)"),
        (Dialect::Cesu8, b"\xF0\x9F", "CESU-8 at byte 0: four-byte sequence (f0)"),
        (Dialect::Cesu8, b"\xF5", "CESU-8 at byte 0: invalid byte (f5)"),
        (Dialect::ModifiedUtf8, b"a\0", "Modified UTF-8 at byte 1: NUL byte (00)"),
        (
            Dialect::ModifiedUtf8,
            b"\xC0",
            "Modified UTF-8 at byte 0: unexpected end inside a character (c0)",
        ),
        (
            Dialect::ModifiedUtf8,
            b"\xC0A",
            "Modified UTF-8 at byte 0: truncated character (c0, followed by 41)",
        ),
        (Dialect::Wtf8, b"\x80", "WTF-8 at byte 0: unexpected continuation byte (80)"),
        (
            Dialect::Wtf8,
            b"\xF4\x90",
            "WTF-8 at byte 0: code point above U+10FFFF (f4, followed by 90)",
        ),
        (
            Dialect::Wtf8,
            b"\xED\xA0\x80\xED\xB0\x80",
            "WTF-8 at byte 3: encoded surrogate pair (ed, followed by b0)",
        ),
        (
            Dialect::SurrogatePass,
            b"\xED\xA0A",
            "UTF-8 with surrogates at byte 0: encoded surrogate (ed, followed by a0)",
        ),
    ];
    for (dialect, bytes, expected) in table {
        let message = message(BomPolicy::Keep, dialect, bytes);
        assert_eq!(message, format!("invalid {expected}"), "{bytes:02x?}");
    }
    let forbidden = message(BomPolicy::Forbid, Dialect::Cesu8, b"\xEF\xBB\xBF");
    assert_eq!(forbidden, "forbidden byte order mark (ef bb bf) at byte 0");
    let missing = message(BomPolicy::Require, Dialect::Cesu8, b"a");
    assert_eq!(missing, "missing byte order mark");
}

#[test]
fn dialect_error_of_an_encoder_displays_its_code_point_and_offset() {
    let mut encoder = DialectEncoder::new(Dialect::Cesu8);
    encoder.push_unit(0x61).unwrap();
    let error = encoder.push_unit(0xDC00).unwrap_err();
    assert_eq!(error.to_string(), "U+DC00 at offset 1 cannot be encoded in CESU-8");
    assert_eq!(format!("{error:#}"), "U+DC00 cannot be encoded in CESU-8");
    let mut encoder = DialectEncoder::new(Dialect::Utf8b);
    let error = encoder.push_code_point(0x11_0000).unwrap_err();
    assert_eq!(error.to_string(), "U+110000 at offset 0 cannot be encoded in UTF-8B");
}

#[cfg(feature = "alloc")]
mod alloc {
    use utf8_codec::ErrorMode;
    use utf8_codec::decoder::Status;
    use utf8_codec::dialect::{Dialect, DialectDecoder};
    use utf8_codec::utf16::Utf16Decoder;

    #[test]
    fn dialect_error_displays_a_code_point_that_is_not_text() {
        for (dialect, bytes, reason) in [
            (Dialect::Utf8b, &b"caf\xE9!"[..], "U+DCE9 (e9)"),
            (Dialect::Wtf8, b"caf\xED\xA0\x80!", "U+D800 (ed a0 80)"),
        ] {
            let mut text = String::new();
            let mut decoder = DialectDecoder::new(dialect);
            let progress = decoder.push_to_string(bytes, ErrorMode::Fatal, &mut text);
            let Status::IllFormed(error) = progress.status else { panic!("no error") };
            let message = format!("not a scalar value: {reason}");
            assert_eq!(error.to_string(), format!("{message} at byte 3"));
            assert_eq!(format!("{error:#}"), message);
        }
    }

    #[test]
    fn utf16_error_displays_its_reason_and_offset() {
        let message = |units: &[u16]| {
            let mut decoder = Utf16Decoder::new();
            let progress = decoder.push_to_string(units, ErrorMode::Skip, &mut String::new());
            assert_eq!(progress.status, Status::Done);
            decoder.finish().err().or(decoder.first_error()).expect("no error").to_string()
        };
        for (units, expected) in [
            (&[1, 0xD83D, 1][..], "invalid UTF-16 at unit 1: unpaired high surrogate (d83d)"),
            (&[0xDC0B], "invalid UTF-16 at unit 0: unpaired low surrogate (dc0b)"),
            (
                &[1, 2, 0xDBFF],
                "invalid UTF-16 at unit 2: unexpected end after a high surrogate (dbff)",
            ),
        ] {
            assert_eq!(message(units), expected);
        }
    }
}

/// The errors that contain others.
#[cfg(any(feature = "codec", feature = "stream"))]
mod containers {
    use super::*;

    #[cfg(feature = "codec")]
    #[test]
    fn codec_error_in_alternate_form_keeps_the_offset() {
        let error = utf8_codec::codec::CodecError::from(first_error(PLAIN, b"ok\xFF"));
        assert_eq!(format!("{error:#}"), "invalid UTF-8 at byte 2: invalid byte (ff)");
    }

    #[cfg(feature = "codec")]
    #[test]
    fn line_error_displays_its_reason_and_offset() {
        use bytes::BytesMut;
        use tokio_util::codec::Decoder;
        use utf8_codec::codec::Utf8LinesCodec;

        for (options, bytes, message) in [
            (
                PLAIN,
                &b"caf\xE9"[..],
                "line 1 is not valid UTF-8: truncated character (e9, followed by 0a) at byte 3 of the stream",
            ),
            (
                PLAIN,
                b"\nok\nca\xFFe",
                "line 3 is not valid UTF-8: invalid byte (ff) at byte 6 of the stream",
            ),
            (
                PLAIN,
                b"\xFF\xFEa\0",
                "line 1 is not valid UTF-8: invalid byte (ff) at byte 0 of the stream; this looks like UTF-16",
            ),
            (STRICT, b"ok\na\0", "line 2: forbidden character (00) at byte 4 of the stream"),
            (
                FORBID,
                b"\xEF\xBB\xBFa",
                "line 1: forbidden byte order mark (ef bb bf) at byte 0 of the stream",
            ),
            (REQUIRE, b"a", "line 1: missing byte order mark"),
        ] {
            let mut buffer = BytesMut::from(bytes);
            buffer.extend_from_slice(b"\n");
            let mut codec = Utf8LinesCodec::new().with_options(options);
            let mut lines = std::iter::from_fn(|| codec.decode(&mut buffer).unwrap());
            assert_eq!(lines.find_map(Result::err).unwrap().to_string(), message);
        }

        let mut codec = Utf8LinesCodec::new().with_max_length(5);
        let mut buffer = BytesMut::from("x\nfar too long\n");
        codec.decode(&mut buffer).unwrap();
        let too_long = codec.decode(&mut buffer).unwrap().unwrap().unwrap_err();
        assert_eq!(too_long.to_string(), "line 2 at byte 2 of the stream is longer than 5 bytes");
    }

    #[cfg(feature = "codec")]
    #[test]
    fn java_utf_codec_displays_an_unexpected_end() {
        use bytes::BytesMut;
        use tokio_util::codec::Decoder;
        use utf8_codec::codec::JavaUtfCodec;

        for (bytes, part) in [
            (&b"\x00\x03on"[..], "a string"),
            (b"\x00\x01a\x00", "the length of a string"),
            (b"\x00\x03\xFFa", "a rejected string"),
        ] {
            let (mut codec, mut buffer) = (JavaUtfCodec::new(), BytesMut::from(bytes));
            let mut items = std::iter::repeat_with(|| codec.decode_eof(&mut buffer));
            let error = items.find_map(Result::err).unwrap();
            let message = format!("unexpected end of the stream at byte 4, inside {part}");
            assert_eq!(error.to_string(), message);
        }
    }

    #[cfg(feature = "stream")]
    #[test]
    fn stream_error_displays_its_reason_and_offset() {
        use utf8_codec::stream::StreamError as E;

        for (options, bytes, message) in [
            (PLAIN, &b"ok\xFF"[..], "invalid UTF-8 in the stream at byte 2: invalid byte (ff)"),
            (
                PLAIN,
                b"\xFF\xFE",
                "invalid UTF-8 in the stream at byte 0: invalid byte (ff); this looks like UTF-16",
            ),
            (STRICT, b"ok\0", "forbidden character (00) in the stream at byte 2"),
            (
                FORBID,
                b"\xEF\xBB\xBF",
                "forbidden byte order mark (ef bb bf) in the stream at byte 0",
            ),
            (REQUIRE, b"a", "missing byte order mark in the stream"),
        ] {
            let error: E<std::io::Error> = first_error(options, bytes).into();
            assert_eq!(error.to_string(), message);
        }
    }
}
