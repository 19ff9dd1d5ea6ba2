//! The feature `serde`: options and errors survive a round trip, and what no decoder returns is rejected.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json, to_value};
use utf8_codec::{
    BomPolicy, ErrorMode, TextPosition, Utf8Decoder, Utf8Error, Utf8ErrorKind, Utf8Options,
};

/// Writes a value, compares it with `expected`, and reads it again.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, expected: Value) {
    let written = to_value(&value).unwrap();
    assert_eq!(written, expected);
    assert_eq!(from_value::<T>(written).unwrap(), value);
}

#[test]
fn modes_and_policies_are_written_as_their_names() {
    use {BomPolicy as Bom, ErrorMode as Mode};
    let modes =
        [Mode::Fatal, Mode::Replacement, Mode::Skip, Mode::Escape, Mode::Latin1, Mode::Windows1252];
    modes.into_iter().for_each(|mode| round_trip(mode, mode.to_string().into()));
    let policies = [Bom::Keep, Bom::Strip, Bom::Require, Bom::Forbid];
    policies.into_iter().for_each(|policy| round_trip(policy, policy.to_string().into()));
    assert!(from_value::<Mode>(json!("strict")).is_err());
}

#[test]
fn options_are_written_with_all_fields_and_read_with_defaults() {
    let options = Utf8Options::new().with_bom(BomPolicy::Strip).only_mqtt_characters();
    let strictness = json!(["noncharacters", "nul", "controls", "whitespace"]);
    round_trip(
        options,
        json!({"bom": "strip", "mid_stream_start": false, "strictness": strictness}),
    );
    round_trip(
        Utf8Options::new().with_mid_stream_start(),
        json!({"bom": "keep", "mid_stream_start": true, "strictness": []}),
    );
    let read = |value| from_value::<Utf8Options>(value);
    assert_eq!(read(json!({})).unwrap(), Utf8Options::new());
    let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
    assert_eq!(read(json!({"bom": "strip"})).unwrap(), strip);
    assert!(read(json!({"bmo": "strip"})).is_err());
    assert!(read(json!({"bom": "strip", "mid_stream_start": true})).is_err());
    assert!(read(json!({"strictness": ["nul", "letters"]})).is_err());
}

#[test]
fn every_strictness_survives_a_round_trip() {
    let reject: [fn(Utf8Options) -> Utf8Options; 7] = [
        Utf8Options::reject_noncharacters,
        Utf8Options::reject_nul,
        Utf8Options::reject_controls,
        Utf8Options::reject_controls_except_whitespace,
        Utf8Options::only_xml_characters,
        Utf8Options::only_unicode_assignables,
        Utf8Options::only_displayable_characters,
    ];
    for first in reject {
        for second in reject {
            let options = second(first(Utf8Options::new()));
            let written = to_value(options).unwrap();
            assert_eq!(from_value::<Utf8Options>(written).unwrap(), options);
        }
    }
    let read = |strictness| from_value::<Utf8Options>(json!({ "strictness": strictness })).unwrap();
    // Whitespace alone, which no method rejects.
    round_trip(
        read(json!(["whitespace"])),
        json!({"bom": "keep", "mid_stream_start": false, "strictness": ["whitespace"]}),
    );
    // A class can occur twice, alone and in a larger one.
    let twice = json!(["nul", "C0 controls", "controls", "nul"]);
    let once = json!(["controls", "nul"]);
    assert_eq!(read(twice), read(once));
    let xml = json!(["U+FFFE and U+FFFF", "nul", "C0 controls"]);
    round_trip(
        Utf8Options::new().only_xml_characters(),
        json!({"bom": "keep", "mid_stream_start": false, "strictness": xml}),
    );
}

#[test]
fn positions_are_written_with_their_fields() {
    let mut position = TextPosition::new();
    position.push("a\nb👋");
    round_trip(position, json!({"line": 2, "column": 3, "utf16_column": 4, "offset": 7}));
    for impossible in [
        json!({"line": 0, "column": 1, "utf16_column": 1, "offset": 0}),
        json!({"line": 1, "column": 0, "utf16_column": 1, "offset": 0}),
        json!({"line": 1, "column": 1, "utf16_column": 0, "offset": 0}),
        json!({"line": 1, "column": 1, "utf16_column": 1, "offset": -1}),
        json!({"line": 1, "column": 1, "utf16_column": 1}),
    ] {
        assert!(from_value::<TextPosition>(impossible.clone()).is_err(), "{impossible}");
    }
}

/// The errors of `bytes`.
fn errors(bytes: &[u8], options: Utf8Options) -> Vec<Utf8Error> {
    let mut decoder = Utf8Decoder::new().with_options(options);
    let mut errors: Vec<_> = decoder.push(bytes).filter_map(Result::err).collect();
    while let Err(error) = decoder.finish() {
        errors.push(error);
    }
    errors
}

#[test]
fn every_error_survives_a_round_trip() {
    let strict = Utf8Options::new().only_mqtt_characters();
    let mut seen = Vec::new();
    for bom in [BomPolicy::Keep, BomPolicy::Require, BomPolicy::Forbid] {
        for first in 0..=0xFF {
            for second in
                [0x00, 0x41, 0x7F, 0x80, 0x85, 0x8F, 0x90, 0x9F, 0xA0, 0xBB, 0xBF, 0xC2, 0xFF]
            {
                for third in [0x41, 0x80, 0xBE, 0xBF] {
                    for fourth in [&b""[..], b"\xBF", b"\xBE!"] {
                        let bytes = [&[first, second, third], fourth].concat();
                        for error in errors(&bytes, strict.with_bom(bom)) {
                            let written = to_value(error).unwrap();
                            assert_eq!(from_value::<Utf8Error>(written).unwrap(), error);
                            if !seen.contains(&error.kind()) {
                                seen.push(error.kind());
                            }
                        }
                    }
                }
            }
        }
    }
    assert_eq!(seen.len(), 11, "every kind: {seen:?}");
    let error = errors(b"5 \xE2\x82!", Utf8Options::new())[0];
    let fields = json!({
        "valid_up_to": 2, "kind": "truncated", "bytes": [0xE2, 0x82], "next_byte": 0x21
    });
    round_trip(error, fields);
    round_trip(Utf8ErrorKind::UnexpectedContinuation, json!("unexpected_continuation"));
    round_trip(Utf8ErrorKind::FourByteSequence, json!("four_byte_sequence"));
    round_trip(Utf8ErrorKind::NotScalar, json!("not_scalar"));
    round_trip(Utf8ErrorKind::Nul, json!("nul"));
    round_trip(Utf8ErrorKind::SurrogatePair, json!("surrogate_pair"));
    round_trip(Utf8ErrorKind::UnpairedSurrogate, json!("unpaired_surrogate"));
}

#[test]
fn an_error_that_no_decoder_returns_is_rejected() {
    for (kind, bytes, next) in [
        ("truncated", &[0xE2, 0x82][..], None),
        ("truncated", &[0xE2, 0x82], Some(0xAC)),
        ("truncated", &[0xE2, 0x82, 0xAC], Some(0x21)),
        ("overlong", &[0xE2, 0x82], Some(0x21)),
        ("incomplete", &[0x41], None),
        ("incomplete", &[0xFF], None),
        ("invalid_byte", &[0xFF], Some(0x41)),
        ("invalid_byte", &[], None),
        ("forbidden", &[0x41, 0x42], None),
        ("forbidden", &[0x41], None),
        ("forbidden", &[0, 0], None),
        ("noncharacter", &[0], None),
        ("forbidden", &[0xEF, 0xBF, 0xBF], None),
        ("missing_bom", &[0x41], None),
        ("forbidden_bom", &[0xEF, 0xBB], None),
        ("truncated", &[1, 2, 3, 4, 5], None),
        ("unknown", &[0xFF], None),
        // Kinds that only dialects have.
        ("four_byte_sequence", &[0xF0], None),
        ("not_scalar", &[0xED], Some(0xA0)),
        ("nul", &[0], None),
        ("surrogate_pair", &[0xED], Some(0xB0)),
        ("unpaired_surrogate", &[0xED], Some(0xA0)),
    ] {
        let fields = json!({"valid_up_to": 0, "kind": kind, "bytes": bytes, "next_byte": next});
        assert!(from_value::<Utf8Error>(fields).is_err(), "{kind} {bytes:02x?} {next:02x?}");
    }
}

#[test]
fn an_error_that_ends_after_the_largest_offset_is_rejected() {
    let read = |valid_up_to: u64, kind: &str, bytes: &[u8], next: Option<u8>| {
        let fields = json!({
            "valid_up_to": valid_up_to, "kind": kind, "bytes": bytes, "next_byte": next
        });
        from_value::<Utf8Error>(fields)
    };
    for (kind, bytes, next, seen) in [
        ("invalid_byte", &[0xFF][..], None, 1),
        ("incomplete", &[0xE2, 0x82], None, 2),
        ("truncated", &[0xE2, 0x82], Some(0x21), 3),
        ("noncharacter", &[0xF4, 0x8F, 0xBF, 0xBF], None, 4),
    ] {
        for too_large in u64::MAX - seen + 1..=u64::MAX {
            assert!(read(too_large, kind, bytes, next).is_err(), "{kind} at {too_large}");
        }
        let last = read(u64::MAX - seen, kind, bytes, next).unwrap();
        let mut position = TextPosition::new();
        position.push_error(&last);
        assert_eq!(position.offset, u64::MAX - u64::from(next.is_some()), "{kind}");
    }
}

#[test]
fn a_value_of_another_type_is_rejected_with_what_is_expected() {
    let message = |result: Result<(), serde_json::Error>| result.unwrap_err().to_string();
    let strictness =
        |value: Value| message(from_value::<Utf8Options>(json!({ "strictness": value })).map(drop));
    assert_eq!(strictness(json!("nul")), "invalid type: string \"nul\", expected a sequence");
    assert_eq!(strictness(json!([1])), "invalid type: integer `1`, expected a string");
    let name = "unknown class of characters `x`, expected one such as `nul` or `controls`";
    assert_eq!(strictness(json!(["x"])), name);
    let error = |bytes: Value| {
        let fields =
            json!({"valid_up_to": 0, "kind": "truncated", "bytes": bytes, "next_byte": null});
        message(from_value::<Utf8Error>(fields).map(drop))
    };
    assert_eq!(error(json!(true)), "invalid type: boolean `true`, expected a sequence");
    assert_eq!(error(json!([226, 1, 2, 3, 4])), "a UTF-8 error has at most four bytes");
}

#[cfg(feature = "std")]
#[test]
fn errors_of_lines_survive_a_round_trip() {
    use utf8_codec::io::{StreamError, Utf8Reader};
    use utf8_codec::lines::{Delimiter, LineError};

    let input = &b"ok\n\xFF\nfar too long\n"[..];
    let lines = Utf8Reader::new(input).into_lines().with_max_length(5);
    let errors = lines.filter_map(Result::err).map(|error| match error {
        StreamError::Line(error) => error,
        error => panic!("{error}"),
    });
    let errors: Vec<LineError> = errors.collect();
    assert_eq!(errors.len(), 2);
    let utf8 = json!({"valid_up_to": 3, "kind": "invalid_byte", "bytes": [255], "next_byte": null});
    let utf8 = json!({"number": 2, "offset": 3, "error": utf8});
    round_trip(errors[0], json!({"utf8": utf8}));
    let too_long = json!({"number": 3, "offset": 5, "max_length": 5});
    round_trip(errors[1], json!({"too_long": too_long}));

    let mut lines =
        Utf8Reader::new(&b"a\rb\r\n"[..]).into_lines().with_delimiter(Delimiter::crlf());
    let Some(Err(StreamError::Line(error))) = lines.next() else { panic!() };
    round_trip(error, json!({"bare_cr": {"number": 1, "offset": 0, "cr_offset": 1}}));
    let mut lines =
        Utf8Reader::new(&b"a\nb\r\n"[..]).into_lines().with_delimiter(Delimiter::crlf());
    let Some(Err(StreamError::Line(error))) = lines.next() else { panic!() };
    round_trip(error, json!({"bare_lf": {"number": 1, "offset": 0, "lf_offset": 1}}));
}
