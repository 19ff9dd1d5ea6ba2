//! The settings in the table of the guide's page on protocols: what each accepts and rejects.
//!
//! A test is named after its row. Where the crate lacks a setting, the test shows what it does instead.

use utf8_codec::{BomPolicy, Utf8ErrorKind, Utf8Options, Utf8Validator};

const DEFAULT: Utf8Options = Utf8Options::new();
const STRIP: Utf8Options = DEFAULT.with_bom(BomPolicy::Strip);

const BOM: &[u8] = b"\xEF\xBB\xBF";
const OVERLONG_SLASH: &[u8] = b"\xC0\xAF";
const SURROGATE: &[u8] = b"\xED\xA0\x80";
const LATIN_1: &[u8] = b"caf\xE9!";

#[test]
fn json_ignores_a_bom_and_rejects_what_is_not_utf_8() {
    assert_eq!(verdict(STRIP, "{\"name\":\"café\"}".as_bytes()), Ok(()));
    assert_eq!(verdict(STRIP, &[BOM, b"{}"].concat()), Ok(()));
    assert_eq!(verdict(STRIP, b"\"\xE9\""), Err(Utf8ErrorKind::Truncated));
    assert_eq!(verdict(STRIP, SURROGATE), Err(Utf8ErrorKind::Surrogate));
    // Escapes are ASCII: an unpaired surrogate in one is the parser's to reject.
    assert_eq!(verdict(STRIP, br#""\uDEAD""#), Ok(()));
}

#[test]
fn json_is_written_without_a_bom() {
    assert_eq!(utf8_codec::Utf8Encoder::new().push("{}"), [&b""[..], b"{}"]);
}

#[test]
fn i_json_rejects_noncharacters_that_are_not_escaped() {
    let options = STRIP.reject_noncharacters();
    assert_eq!(verdict(options, "\"\u{FFFE}\"".as_bytes()), Err(Utf8ErrorKind::Noncharacter));
    assert_eq!(verdict(options, "\"\u{FDD0}\"".as_bytes()), Err(Utf8ErrorKind::Noncharacter));
    assert_eq!(verdict(options, SURROGATE), Err(Utf8ErrorKind::Surrogate));
    assert_eq!(verdict(options, "\"\u{FFFD}\u{7F}\"".as_bytes()), Ok(()));
    assert_eq!(verdict(options, br#""\uFFFE""#), Ok(()));
}

#[test]
fn mqtt_5_rejects_nul_and_accepts_noncharacters() {
    let options = DEFAULT.reject_nul();
    assert_eq!(verdict(options, b"a\0b"), Err(Utf8ErrorKind::Forbidden));
    assert_eq!(verdict(options, SURROGATE), Err(Utf8ErrorKind::Surrogate));
    assert_eq!(verdict(options, "\u{1}\u{85}\u{FFFF}\u{FDD0}".as_bytes()), Ok(()));
}

#[test]
fn mqtt_5_with_its_recommendations_rejects_controls_and_noncharacters() {
    let options = DEFAULT.only_mqtt_characters();
    for text in ["\0", "\u{1}", "\t", "\n", "\u{1F}", "\u{7F}", "\u{9F}"] {
        assert_eq!(verdict(options, text.as_bytes()), Err(Utf8ErrorKind::Forbidden), "{text:?}");
    }
    for text in ["\u{FFFF}", "\u{FDD0}", "\u{10FFFE}"] {
        assert_eq!(verdict(options, text.as_bytes()), Err(Utf8ErrorKind::Noncharacter), "{text:?}");
    }
    assert_eq!(verdict(options, "sensors/キッチン \u{A0}\u{E000}".as_bytes()), Ok(()));
}

#[test]
fn syslog_msg_with_a_bom_is_utf_8_and_without_one_is_octets() {
    let msg = DEFAULT.with_bom(BomPolicy::Require);
    assert_eq!(verdict(msg, &[BOM, "café".as_bytes()].concat()), Ok(()));
    assert_eq!(verdict(msg, "café".as_bytes()), Err(Utf8ErrorKind::MissingBom));
    assert_eq!(verdict(msg, LATIN_1), Err(Utf8ErrorKind::MissingBom));
    // With a BOM, a form that is not the shortest must not be interpreted.
    assert_eq!(verdict(msg, &[BOM, OVERLONG_SLASH].concat()), Err(Utf8ErrorKind::Overlong));
    // Octets below 32 are legal.
    assert_eq!(verdict(msg, &[BOM, b"\0\x07\n"].concat()), Ok(()));
}

#[cfg(feature = "alloc")]
#[test]
fn syslog_msg_is_legacy_text_unless_a_bom_declares_it_as_utf_8() {
    use utf8_codec::ErrorMode;
    use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};

    let read = |msg: &[u8]| {
        let mut decoder = FallbackDecoder::without_bom(LegacyEncoding::latin1());
        let mut text = String::new();
        for byte in msg {
            let _done = decoder.push_to_string(&[*byte], ErrorMode::Escape, &mut text);
        }
        decoder.finish_to_string(ErrorMode::Escape, &mut text).unwrap();
        (text, decoder.bom_seen())
    };
    assert_eq!(read(&[BOM, "café".as_bytes()].concat()), ("café".into(), true));
    assert_eq!(read(&[BOM, OVERLONG_SLASH].concat()), (r"\xc0\xaf".into(), true));
    assert_eq!(read(LATIN_1), ("café!".into(), false));
    assert_eq!(read("é".as_bytes()), ("Ã©".into(), false));
}

#[test]
fn syslog_param_value_is_utf_8_with_controls() {
    assert_eq!(verdict(DEFAULT, "é\0\u{1B}\u{85}".as_bytes()), Ok(()));
    assert_eq!(verdict(DEFAULT, OVERLONG_SLASH), Err(Utf8ErrorKind::Overlong));
    assert_eq!(verdict(DEFAULT, LATIN_1), Err(Utf8ErrorKind::Truncated));
}

#[test]
fn xmpp_rejects_other_encodings_than_utf_8() {
    assert_eq!(verdict(DEFAULT, "<stream>café</stream>".as_bytes()), Ok(()));
    assert_eq!(verdict(DEFAULT, LATIN_1), Err(Utf8ErrorKind::Truncated));
    assert_eq!(verdict(DEFAULT, b"\xFF\xFE<\0"), Err(Utf8ErrorKind::InvalidByte));
}

#[test]
fn xmpp_streams_contain_xml_characters_only() {
    let options = DEFAULT.only_xml_characters();
    assert_eq!(verdict(options, "<body>\u{85}\t\u{FDD0}</body>".as_bytes()), Ok(()));
    assert_eq!(verdict(options, b"<body>\x08</body>"), Err(Utf8ErrorKind::Forbidden));
    assert_eq!(verdict(options, "\u{FFFF}".as_bytes()), Err(Utf8ErrorKind::Noncharacter));
}

#[test]
fn imap_rejects_nul() {
    let options = DEFAULT.reject_nul();
    assert_eq!(verdict(options, "a1 LIST \"\" \"Entwürfe\"\r\n".as_bytes()), Ok(()));
    assert_eq!(verdict(options, b"a1 \0"), Err(Utf8ErrorKind::Forbidden));
}

#[test]
fn ftp_pathname_is_utf_8_if_it_is_well_formed() {
    assert_eq!(verdict(DEFAULT, "größe.txt".as_bytes()), Ok(()));
    assert!(verdict(DEFAULT, b"gr\xF6\xDFe.txt").is_err());
    // RFC 2640 cites the UTF-8 of RFC 2279, with sequences of up to six bytes.
    assert!(verdict(DEFAULT, b"\xFC\x84\x80\x80\x80\x80").is_err());
}

#[test]
fn ldap_accepts_every_character() {
    assert_eq!(verdict(DEFAULT, "cn=Lučić\0\u{FEFF}\u{FFFE}".as_bytes()), Ok(()));
    assert_eq!(verdict(DEFAULT, LATIN_1), Err(Utf8ErrorKind::Truncated));
}

#[test]
fn protobuf_accepts_every_character() {
    assert_eq!(verdict(DEFAULT, "\0\u{7F}\u{FEFF}\u{FFFF}\u{10FFFF}".as_bytes()), Ok(()));
    assert_eq!(verdict(DEFAULT, b"\xC3\x28"), Err(Utf8ErrorKind::Truncated));
    assert_eq!(verdict(DEFAULT, SURROGATE), Err(Utf8ErrorKind::Surrogate));
}

#[test]
fn cbor_chunks_of_a_text_string_are_complete_by_themselves() {
    let mut validator = Utf8Validator::new();
    validator.push("caf\u{E9}".as_bytes()).unwrap();
    assert!(validator.is_complete());
    validator.push(b"caf\xC3").unwrap();
    assert!(!validator.is_complete());
}

type Subset = (Utf8Options, fn(char) -> bool);

/// The subsets of RFC 9839, as the ABNF of sections 4.1 to 4.3, and what can be shown.
const SUBSETS: [Subset; 4] = [
    (DEFAULT, |_| true),
    (
        DEFAULT.only_xml_characters(),
        |c| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..),
    ),
    (DEFAULT.only_unicode_assignables(), |c| {
        matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{A0}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}')
            || (c > '\u{FFFF}' && u32::from(c) % 0x1_0000 <= 0xFFFD)
    }),
    (DEFAULT.only_displayable_characters(), |c| {
        let is_control = c.is_control() && c != '\t' && c != '\n';
        let bidirectional = ['\u{61C}', '\u{200E}', '\u{200F}'].contains(&c)
            || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        let separator = ['\u{2028}', '\u{2029}'].contains(&c);
        let without_width =
            matches!(c, '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}');
        !(is_control || bidirectional || separator || without_width)
    }),
];

#[test]
fn subsets_accept_exactly_their_characters() {
    for (options, is_accepted) in SUBSETS {
        for c in '\0'..=char::MAX {
            assert_eq!(accepts(options, c), is_accepted(c), "{c:?}, {options:?}");
        }
        assert_eq!(verdict(options, SURROGATE), Err(Utf8ErrorKind::Surrogate));
    }
    let names = SUBSETS.map(|(options, _)| format!("{options:?}"));
    assert!(names[1].ends_with(r#"Strictness {"U+FFFE and U+FFFF", "nul", "C0 controls"} }"#));
    assert!(names[2].ends_with(r#"Strictness {"noncharacters", "nul", "controls"} }"#));
}

#[test]
fn subsets_reject_the_same_characters_of_a_long_text_at_any_split() {
    let text: String = ('\0'..=char::MAX).collect();
    for (options, is_accepted) in SUBSETS {
        let rejected = text.char_indices().filter(|(_, c)| !is_accepted(*c));
        let expected: Vec<_> = rejected.map(|(at, c)| (at as u64, c.len_utf8())).collect();
        for size in [1, 3, 64, 1000, text.len()] {
            let mut decoder = utf8_codec::Utf8Decoder::new().with_options(options);
            let (mut kept, mut errors) = (0, Vec::new());
            for chunk in text.as_bytes().chunks(size) {
                for piece in decoder.push(chunk) {
                    match piece {
                        Ok(text) => kept += text.len(),
                        Err(error) => errors.push((error.valid_up_to(), error.bytes().len())),
                    }
                }
            }
            assert_eq!(errors, expected, "{options:?} by {size}");
            let rejected: usize = expected.iter().map(|(_, len)| len).sum();
            assert_eq!(kept + rejected, text.len());
        }
    }
}

#[test]
fn linux_utf_8_streams_have_neither_surrogates_nor_noncharacters() {
    let options = DEFAULT.reject_noncharacters();
    assert_eq!(verdict(options, "\u{FFFE}".as_bytes()), Err(Utf8ErrorKind::Noncharacter));
    assert_eq!(verdict(options, "\u{FFFF}".as_bytes()), Err(Utf8ErrorKind::Noncharacter));
    assert_eq!(verdict(options, SURROGATE), Err(Utf8ErrorKind::Surrogate));
    assert_eq!(verdict(options, OVERLONG_SLASH), Err(Utf8ErrorKind::Overlong));
}

/// The kind of the first error, whatever the chunks.
fn verdict(options: Utf8Options, bytes: &[u8]) -> Result<(), Utf8ErrorKind> {
    let verdict = |size| {
        let mut validator = Utf8Validator::new().with_options(options);
        bytes.chunks(size).try_for_each(|chunk| validator.push(chunk))?;
        validator.finish()
    };
    let whole = verdict(bytes.len().max(1));
    assert_eq!(verdict(1), whole, "{bytes:x?}");
    whole.map_err(|error| error.kind())
}

fn accepts(options: Utf8Options, c: char) -> bool {
    let mut validator = Utf8Validator::new().with_options(options);
    validator.push(c.encode_utf8(&mut [0; 4]).as_bytes()).is_ok() && validator.finish().is_ok()
}

#[cfg(feature = "alloc")]
mod text {
    //! Settings that turn bytes into text.

    use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};
    use utf8_codec::terminal::TerminalDecoder;
    use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Encoder, Utf8Options};

    use super::{DEFAULT, STRIP};

    #[test]
    fn whatwg_utf_8_decode_strips_a_bom_and_replaces_each_maximal_subpart() {
        let text =
            decode(STRIP, ErrorMode::Replacement, b"\xEF\xBB\xBF\xEF\xBB\xBFa\xF0\x9F\x98b\xE2");
        assert_eq!(text, Some("\u{FEFF}a\u{FFFD}b\u{FFFD}".into()));
    }

    #[test]
    fn whatwg_utf_8_decode_without_bom_keeps_u_feff() {
        let text = decode(DEFAULT, ErrorMode::Replacement, b"\xEF\xBB\xBFa\xFF");
        assert_eq!(text, Some("\u{FEFF}a\u{FFFD}".into()));
    }

    #[test]
    fn whatwg_utf_8_decode_without_bom_or_fail_fails() {
        assert_eq!(decode(DEFAULT, ErrorMode::Fatal, b"\xEF\xBB\xBFa"), Some("\u{FEFF}a".into()));
        assert_eq!(decode(DEFAULT, ErrorMode::Fatal, b"a\xFF"), None);
    }

    #[test]
    fn rfc_9839_subsets_are_repaired_and_checked_in_legacy_text() {
        let all: String = ('\0'..=char::MAX).collect();
        for (options, is_accepted) in super::SUBSETS {
            // The last two modes never write a rejected character.
            for mode in [ErrorMode::Skip, ErrorMode::Latin1] {
                let repair = if mode == ErrorMode::Skip { "" } else { "\u{FFFD}" };
                let mut expected = String::new();
                for c in all.chars() {
                    match is_accepted(c) {
                        true => expected.push(c),
                        false => expected.push_str(repair),
                    }
                }
                assert!(decode(options, mode, all.as_bytes()) == Some(expected), "{options:?}");
            }
            let fallback = utf8_codec::fallback::FallbackDecoder::without_bom(
                utf8_codec::fallback::LegacyEncoding::latin1(),
            );
            for byte in 0..=0x7F {
                let mut decoder = fallback.clone().with_options(options);
                let mut text = String::new();
                let _done = decoder.push_to_string(&[byte], ErrorMode::Skip, &mut text);
                assert_eq!(text.len(), usize::from(is_accepted(char::from(byte))), "{byte:02x}");
            }
        }
    }

    #[test]
    fn mqtt_5_never_strips_u_feff() {
        let text = decode(DEFAULT, ErrorMode::Fatal, "\u{FEFF}a\u{FEFF}".as_bytes());
        assert_eq!(text, Some("\u{FEFF}a\u{FEFF}".into()));
    }

    #[test]
    fn xmpp_keeps_u_feff_at_the_start_as_anywhere() {
        let text = decode(DEFAULT, ErrorMode::Fatal, "\u{FEFF}<a>\u{FEFF}</a>".as_bytes());
        assert_eq!(text, Some("\u{FEFF}<a>\u{FEFF}</a>".into()));
    }

    #[test]
    fn csv_line_breaks_in_quotes_reach_the_parser() {
        let table = "name,note\r\ncafé,\"two\r\nlines\"\r\n";
        assert_eq!(decode(STRIP, ErrorMode::Fatal, table.as_bytes()), Some(table.into()));
        let with_bom = format!("\u{FEFF}{table}");
        assert_eq!(decode(STRIP, ErrorMode::Fatal, with_bom.as_bytes()), Some(table.into()));
    }

    #[test]
    fn ftp_pathname_of_unknown_encoding_is_kept_byte_for_byte() {
        assert_eq!(
            through_code_points(Dialect::Utf8b, b"gr\xF6\xDFe \xC3\xB6"),
            b"gr\xF6\xDFe \xC3\xB6"
        );
    }

    #[test]
    fn linux_console_switches_by_two_escapes_and_not_by_the_obsolete_one() {
        let mut decoder = TerminalDecoder::new();
        let mut text = String::new();
        let _done =
            decoder.push_to_string(b"\xE9\x1B%G\xC3\xA9\x1B%@\xE9", ErrorMode::Fatal, &mut text);
        assert_eq!(text, "ééé");
        text.clear();
        let _done = decoder.push_to_string(b"\x1B%8\xC3\xA9", ErrorMode::Fatal, &mut text);
        assert_eq!(text, "\x1B%8Ã©");
    }

    #[test]
    fn java_writes_nul_in_two_bytes_and_supplementary_characters_in_six() {
        let java = b"\xC0\x80\xED\xA0\xBD\xED\xB8\x80";
        let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
        let mut text = String::new();
        let _done = decoder.push_to_string(java, ErrorMode::Fatal, &mut text);
        assert_eq!(text, "\0😀");
        assert_eq!(through_code_points(Dialect::ModifiedUtf8, java), java);
        for ill_formed in [&b"\0"[..], "😀".as_bytes(), b"\xC0\x81"] {
            let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
            let _done = decoder.push_to_string(ill_formed, ErrorMode::Skip, &mut text);
            assert!(decoder.error_count() > 0, "{ill_formed:x?}");
        }
    }

    #[test]
    fn python_surrogateescape_maps_bytes_to_u_dc80_to_u_dcff_and_back() {
        let mut decoder = DialectDecoder::new(Dialect::Utf8b);
        let mut code_points = Vec::new();
        let _done = decoder.push_to_code_points(b"a\x80\xFF", ErrorMode::Fatal, &mut code_points);
        assert_eq!(code_points, [0x61, 0xDC80, 0xDCFF]);
        assert_eq!(
            through_code_points(Dialect::Utf8b, b"a\x80\xFF\xED\xA0\x80"),
            b"a\x80\xFF\xED\xA0\x80"
        );
    }

    #[test]
    fn python_surrogatepass_reads_surrogates_and_writes_them() {
        assert_eq!(through_code_points(Dialect::SurrogatePass, b"\xED\xA0\x80a"), b"\xED\xA0\x80a");
    }

    #[test]
    fn python_utf_8_sig_strips_one_bom_and_writes_one() {
        let text = decode(STRIP, ErrorMode::Fatal, "\u{FEFF}\u{FEFF}a".as_bytes());
        assert_eq!(text, Some("\u{FEFF}a".into()));
        assert_eq!(Utf8Encoder::new().with_bom().push("a").concat(), "\u{FEFF}a".as_bytes());
    }

    #[test]
    fn net_unicode_forbids_a_bom() {
        let forbid = DEFAULT.with_bom(BomPolicy::Forbid);
        assert_eq!(decode(forbid, ErrorMode::Fatal, "\u{FEFF}a".as_bytes()), None);
        assert_eq!(
            decode(forbid, ErrorMode::Fatal, "a\u{FEFF}".as_bytes()),
            Some("a\u{FEFF}".into())
        );
    }

    /// The text, whatever the chunks; `None` after an error.
    fn decode(options: Utf8Options, mode: ErrorMode, bytes: &[u8]) -> Option<String> {
        let decode = |size| {
            let (mut decoder, mut text) = (Utf8Decoder::new().with_options(options), String::new());
            for chunk in bytes.chunks(size) {
                let _done = decoder.push_to_string(chunk, mode, &mut text);
            }
            let end = decoder.finish_to_string(mode, &mut text);
            (end.is_ok() && (mode != ErrorMode::Fatal || decoder.error_count() == 0))
                .then_some(text)
        };
        let whole = decode(bytes.len());
        assert_eq!(decode(1), whole, "{bytes:x?}");
        whole
    }

    /// The bytes decoded to code points, and these encoded again.
    fn through_code_points(dialect: Dialect, bytes: &[u8]) -> Vec<u8> {
        let (mut decoder, mut code_points) = (DialectDecoder::new(dialect), Vec::new());
        let _done = decoder.push_to_code_points(bytes, ErrorMode::Fatal, &mut code_points);
        decoder.finish_to_code_points(ErrorMode::Fatal, &mut code_points).unwrap();
        let (mut encoder, mut encoded) = (DialectEncoder::new(dialect), Vec::new());
        encoder.push_code_points_to_vec(&code_points, &mut encoded).unwrap();
        encoder.finish_to_vec(&mut encoded).unwrap();
        encoded
    }
}

#[cfg(feature = "alloc")]
#[test]
fn server_sent_events_strip_a_bom_replace_errors_and_ignore_an_id_with_nul() {
    let mut decoder = utf8_codec::sse::EventDecoder::new();
    let events =
        decoder.push(b"\xEF\xBB\xBFdata: \xFF\rid: 1\0\r\n\nid: 2\ndata: \xEF\xBB\xBFb\n\r");
    let events: Vec<_> = events.map(Result::unwrap).collect();
    let events: Vec<_> = events.iter().map(|event| (&*event.data, &*event.last_event_id)).collect();
    assert_eq!(events, [("\u{FFFD}", ""), ("\u{FEFF}b", "2")]);
}

#[cfg(feature = "codec")]
mod frames {
    use bytes::BytesMut;
    use tokio_util::codec::{Decoder, Encoder};
    use utf8_codec::TextPosition;
    use utf8_codec::codec::{DecimalFrames, Utf8FramesCodec};

    #[test]
    fn language_server_protocol_counts_bytes_of_content_and_utf_16_units_of_columns() {
        let mut codec = Utf8FramesCodec::new(DecimalFrames::content_length());
        let mut wire = BytesMut::new();
        codec.encode("{\"a𐐀b\":0}", &mut wire).unwrap();
        assert_eq!(wire, "Content-Length: 12\r\n\r\n{\"a𐐀b\":0}");
        let field = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n";
        let mut wire = BytesMut::from(&[&field[..], &wire].concat()[..]);
        assert_eq!(codec.decode(&mut wire).unwrap().unwrap().unwrap(), "{\"a𐐀b\":0}");
        // The example of the specification: in `a𐐀b`, the characters are 0, 1 and 3.
        let mut position = TextPosition::new();
        let starts = ["a", "𐐀", "b"].map(|text| {
            let start = position.utf16_column - 1;
            position.push(text);
            start
        });
        assert_eq!(starts, [0, 1, 3]);
    }

    #[test]
    fn syslog_over_tcp_has_line_ends_in_messages_and_continues_after_one_that_is_not_utf_8() {
        let mut codec = Utf8FramesCodec::new(DecimalFrames::octet_counting());
        let mut wire = BytesMut::from(&b"8 <34>1 a\n7 <34>1 \xE98 <34>1 \xC3\xA9"[..]);
        assert_eq!(codec.decode(&mut wire).unwrap().unwrap().unwrap(), "<34>1 a\n");
        assert_eq!(codec.decode(&mut wire).unwrap().unwrap().unwrap_err().valid_up_to(), 6);
        assert_eq!(codec.decode(&mut wire).unwrap().unwrap().unwrap(), "<34>1 é");
    }
}

#[cfg(feature = "codec")]
mod lines {
    //! Settings for protocols of lines.

    use bytes::BytesMut;
    use tokio_util::codec::{Decoder, Encoder};
    use utf8_codec::codec::JavaUtfCodec;
    use utf8_codec::codec::{CodecError, Utf8LinesCodec};
    use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    use utf8_codec::lines::{Delimiter, LineError};

    use super::{DEFAULT, STRIP};
    use crate::lists::decoded;

    /// Why a line was rejected.
    #[derive(Debug, PartialEq)]
    enum Rejected {
        Utf8,
        TooLong,
        Other,
    }

    #[test]
    fn json_lines_reject_one_line_and_continue() {
        let codec = Utf8LinesCodec::new().with_options(STRIP);
        let input = b"\xEF\xBB\xBF{\"a\":\"\xC3\xA9\"}\n{\"a\":\"\xE9\"}\r\n{}\n";
        assert_eq!(
            read(codec, input),
            [Ok("{\"a\":\"é\"}".into()), Err(Rejected::Utf8), Ok("{}".into())]
        );
    }

    #[test]
    fn json_lines_are_written_with_lf_and_without_embedded_newlines() {
        assert_eq!(write(Utf8LinesCodec::new(), "{}"), Some("{}\n".into()));
        assert_eq!(write(Utf8LinesCodec::new(), "{\n}"), None);
        assert_eq!(write(Utf8LinesCodec::new(), "{}\n"), None);
    }

    fn irc() -> Utf8LinesCodec {
        Utf8LinesCodec::new()
            .with_delimiter(Delimiter::any_newline())
            .with_options(DEFAULT.reject_nul())
            .with_max_length(510)
    }

    #[test]
    fn irc_utf8only_rejects_a_line_that_is_not_utf_8_contains_nul_or_is_too_long() {
        let long = [b'a'; 511];
        let input =
            [b"NICK caf\xE9\r\nNICK \0\r\n", &long[..], b"\r\nNICK caf\xC3\xA9\r\n"].concat();
        let lines = [
            Err(Rejected::Utf8),
            Err(Rejected::Utf8),
            Err(Rejected::TooLong),
            Ok("NICK café".into()),
        ];
        assert_eq!(read(irc(), &input), lines);
    }

    #[test]
    fn irc_ends_a_message_at_cr_and_at_lf() {
        let lines = ["A", "B", "C"].map(|line| Ok(line.into()));
        assert_eq!(read(irc(), b"A\rB\nC\r\n"), lines);
    }

    #[test]
    fn irc_of_old_clients_falls_back_by_line_and_still_rejects_nul() {
        let codec = irc().with_fallback(FallbackDecoder::line(LegacyEncoding::windows_1252()));
        let lines = [Ok("café".into()), Ok("café".into()), Err(Rejected::Utf8)];
        assert_eq!(read(codec, b"caf\xC3\xA9\r\ncaf\xE9\r\ncaf\xE9\0\r\n"), lines);
    }

    #[test]
    fn irc_is_written_with_crlf_and_without_cr_or_lf_in_a_message() {
        let crlf = || irc().with_delimiter(Delimiter::crlf_or_lf());
        assert_eq!(write(crlf(), "PONG"), Some("PONG\r\n".into()));
        for injected in ["PONG\r\nQUIT", "PONG\nQUIT", "PONG\rQUIT", "PONG\r"] {
            assert_eq!(write(crlf(), injected), None);
        }
        let lines = [Ok("A".into()), Err(Rejected::Other), Ok("B".into())];
        assert_eq!(read(crlf(), b"A\nPONG\rQUIT\r\nB\r\n"), lines);
    }

    fn smtp() -> Utf8LinesCodec {
        Utf8LinesCodec::new().with_delimiter(Delimiter::text("\r\n").unwrap()).with_max_length(998)
    }

    #[test]
    fn smtputf8_ends_lines_at_crlf_only_and_at_998_octets() {
        let long = "é".repeat(500);
        let input = ["MAIL FROM:<jörg@example.org> SMTPUTF8\r\n.\n.\r.\r\n", &long, "\r\nQUIT\r\n"]
            .concat();
        let lines = [
            Ok("MAIL FROM:<jörg@example.org> SMTPUTF8".into()),
            Ok(".\n.\r.".into()), // not the end of a message
            Err(Rejected::TooLong),
            Ok("QUIT".into()),
        ];
        assert_eq!(read(smtp(), input.as_bytes()), lines);
        assert_eq!(read(smtp(), b"RCPT TO:<j\xF6rg@example.org>\r\n"), [Err(Rejected::Utf8)]);
    }

    #[test]
    fn smtputf8_commands_contain_no_bare_cr_or_lf_and_may_contain_tabs() {
        let commands = || smtp().with_delimiter(Delimiter::crlf());
        let lines = [Err(Rejected::Other), Err(Rejected::Other), Ok("a\tb".into())];
        let input = b"HELO a\rMAIL b\r\nMAIL FROM:<a>\nRCPT TO:<b>\r\na\tb\r\n";
        assert_eq!(read(commands(), input), lines);
        assert_eq!(write(commands(), "a\nRCPT evil"), None);
    }

    #[test]
    fn smtputf8_rejects_lone_cr_and_lf_only_together_with_tabs() {
        let strict = || smtp().with_options(DEFAULT.reject_controls());
        assert_eq!(read(strict(), b"a\nb\r\n"), [Err(Rejected::Utf8)]);
        assert_eq!(read(strict(), b"a\rb\r\n"), [Err(Rejected::Utf8)]);
        assert_eq!(read(strict(), b"a\tb\r\n"), [Err(Rejected::Utf8)]);
        assert_eq!(read(strict(), b"a b\r\n"), [Ok("a b".into())]);
    }

    #[test]
    fn ftp_command_with_a_pathname_ends_at_crlf_and_keeps_cr_nul() {
        let lines = [Ok("STOR foo\r\0\nboo.bar".into())];
        assert_eq!(read(smtp(), b"STOR foo\r\0\nboo.bar\r\n"), lines);
    }

    #[test]
    fn csv_records_are_not_lines() {
        let lines = ["café,\"two", "lines\""].map(|line| Ok(line.into()));
        assert_eq!(read(Utf8LinesCodec::new(), "café,\"two\r\nlines\"\r\n".as_bytes()), lines);
    }

    #[test]
    fn java_strings_have_a_length_of_two_bytes() {
        let mut buffer = BytesMut::from(&b"\x00\x02\xC0\x80\x00\x01\x00"[..]);
        let mut codec = JavaUtfCodec::new();
        assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "\0");
        assert!(codec.decode(&mut buffer).unwrap().unwrap().is_err());
    }

    /// The lines, whatever the chunks.
    fn read(codec: Utf8LinesCodec, input: &[u8]) -> Vec<Result<String, Rejected>> {
        let read = |size| decoded(codec.clone(), input.chunks(size));
        let whole = read(input.len());
        assert_eq!(read(1), whole, "{input:x?}");
        let line = |line: Result<_, _>| line.map(String::from).map_err(why);
        whole.into_iter().map(line).collect()
    }

    fn why(error: LineError) -> Rejected {
        match error {
            LineError::Utf8 { .. } => Rejected::Utf8,
            LineError::TooLong { .. } => Rejected::TooLong,
            _ => Rejected::Other,
        }
    }

    /// The bytes written for one line; `None` if the text would be read back as other lines.
    fn write(mut codec: Utf8LinesCodec, text: &str) -> Option<String> {
        let mut buffer = BytesMut::new();
        match codec.encode(text, &mut buffer) {
            Ok(()) => Some(String::from_utf8(buffer.to_vec()).unwrap()),
            Err(CodecError::EmbeddedDelimiter { .. }) => None,
            Err(error) => panic!("{error}"),
        }
    }
}

#[cfg(feature = "std")]
mod websocket {
    use utf8_codec::websocket::{Message, MessageAssembler, MessageError, Opcode, parse_close};

    #[test]
    fn websocket_frame_ends_inside_a_character() {
        let mut connection = MessageAssembler::new();
        frame(&mut connection, Opcode::Text, false, b"\xEF\xBB\xBF\xE2").unwrap();
        let message = frame(&mut connection, Opcode::Continuation, true, b"\x82\xAC\0\xEF\xBF\xBF");
        assert_eq!(message, Ok(Some(Message::Text("\u{FEFF}€\0\u{FFFF}".into()))));
    }

    #[test]
    fn websocket_closes_with_1007_for_text_that_is_not_utf_8() {
        for text in [&b"caf\xE9"[..], b"\xED\xA0\x80", b"\xC0\x80"] {
            let error = frame(&mut MessageAssembler::new(), Opcode::Text, true, text).unwrap_err();
            assert_eq!(error.close_code(), 1007, "{text:x?}");
        }
        assert!(frame(&mut MessageAssembler::new(), Opcode::Binary, true, b"\xFF").is_ok());
    }

    #[test]
    fn websocket_close_reason_is_utf_8() {
        let close = |payload: &'static [u8]| parse_close(payload.into());
        assert_eq!(close(b"\x03\xE8caf\xC3\xA9"), Ok(Some((1000, "café".into()))));
        assert_eq!(close(b"\x03\xE8caf\xE9").unwrap_err().close_code(), 1007);
    }

    fn frame(
        connection: &mut MessageAssembler,
        opcode: Opcode,
        last: bool,
        payload: &[u8],
    ) -> Result<Option<Message>, MessageError> {
        connection.start_frame(opcode, last, None)?;
        connection.push(&mut payload.to_vec())?;
        connection.end_frame()
    }
}

#[cfg(feature = "http-body")]
mod http {
    use bytes::Bytes;
    use http_body_util::Full;
    use utf8_codec::http::Utf8Body;

    fn body(bytes: &'static [u8]) -> Full<Bytes> {
        Full::from(bytes)
    }

    #[test]
    fn http_charset_names_ignore_case_and_unknown_ones_are_415() {
        for field in ["text/plain; charset=utf-8", "text/plain;CharSet=\"UTF-8\"", "text/csv"] {
            assert_eq!(Utf8Body::from_content_type(field, body(b"")).unwrap().charset(), "UTF-8");
        }
        let error =
            Utf8Body::from_content_type("text/plain; charset=x-none", body(b"")).unwrap_err();
        assert_eq!(error.status(), 415);
    }

    #[cfg(feature = "encoding_rs")]
    #[tokio::test]
    async fn http_bom_does_not_override_the_charset() {
        let field = "text/html; charset=windows-1252";
        let body = Utf8Body::from_content_type(field, body(b"\xEF\xBB\xBFcaf\xC3\xA9")).unwrap();
        assert_eq!(body.collect_text(100).await.unwrap(), "ï»¿cafÃ©");
    }
}
