//! `char`s and UTF-16, to and from UTF-8; and encodings that resemble UTF-8.

use std::char::decode_utf16;

use bstr::ByteSlice;
use encoding_rs::{CoderResult, Encoding, UTF_8, UTF_16LE};
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};
use utf8_codec::utf16::Utf16Decoder;
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8ErrorKind, Utf8Validator};

// ---- `char`s and UTF-16 ------------------------------------------------------------------------

const CHUNKS: [&[u8]; 2] = [b"a\xF0\x9F", b"\x91\x8B"];

#[test]
fn ours_decodes_split_characters_to_chars_and_utf16() {
    let (mut decoder, mut chars, mut units) = (Utf8Decoder::new(), ['\0'; 9], [0; 9]);
    let written =
        CHUNKS.map(|chunk| decoder.push_to_chars(chunk, ErrorMode::Fatal, &mut chars).written);
    assert_eq!((written, chars[0]), ([1, 1], '👋'));

    let mut decoder = Utf8Decoder::new();
    let written =
        CHUNKS.map(|chunk| decoder.push_to_utf16(chunk, ErrorMode::Fatal, &mut units).written);
    assert_eq!((written, &units[..2]), ([1, 2], &[0xD83D, 0xDC4B][..]));
}

#[test]
fn ours_joins_a_pair_of_surrogates_split_across_chunks() {
    let (mut decoder, mut text) = (Utf16Decoder::new(), String::new());
    for chunk in [&[0x61, 0xD83D][..], &[0xDC4B, 0xDC00]] {
        let _done = decoder.push_to_string(chunk, ErrorMode::Replacement, &mut text);
    }
    assert_eq!(text, "a👋\u{FFFD}");
}

#[test]
fn std_decode_utf16_reports_each_unpaired_surrogate() {
    let chars: Vec<_> = decode_utf16([0x61, 0xD83D, 0xDC4B, 0xDC00])
        .map(|char| char.map_err(|error| error.unpaired_surrogate()))
        .collect();
    assert_eq!(chars, [Ok('a'), Ok('👋'), Err(0xDC00)]);
}

#[test]
fn std_from_utf16_reports_no_offset() {
    let error = String::from_utf16(&[0x61, 0xDC00]).unwrap_err();
    assert_eq!(error.to_string(), "invalid utf-16: lone surrogate found");
    assert_eq!(size_of_val(&error), 0);
}

#[test]
fn simdutf_reports_where_a_conversion_stopped() {
    let bytes = b"ab\xFF";
    let mut units = [0_u16; 3];
    // SAFETY: the input has three bytes, and the output a unit for each of them.
    let result = unsafe {
        simdutf::convert_utf8_to_utf16_with_errors(bytes.as_ptr(), bytes.len(), units.as_mut_ptr())
    };
    assert_eq!((result.count, result.error), (2, simdutf::ErrorCode::HeaderBits));
}

#[test]
fn simdutf_converts_whole_inputs_only() {
    let mut units = [0_u16; 9];
    let written = CHUNKS.map(|chunk| {
        // SAFETY: the output has a unit for each byte of the input.
        unsafe { simdutf::convert_utf8_to_utf16(chunk.as_ptr(), chunk.len(), units.as_mut_ptr()) }
    });
    assert_eq!(written, [0, 0]);
}

#[test]
fn encoding_rs_decodes_split_characters_to_utf16() {
    let (mut decoder, mut units) = (UTF_8.new_decoder(), [0; 9]);
    let mut written = 0;
    for chunk in CHUNKS {
        let (result, _, n, replaced) = decoder.decode_to_utf16(chunk, &mut units[written..], false);
        assert_eq!((result, replaced), (CoderResult::InputEmpty, false));
        written += n;
    }
    assert_eq!(units[..written], [0x61, 0xD83D, 0xDC4B]);
}

#[test]
fn encoding_rs_mem_converts_whole_slices_only() {
    let mut bytes = [0; 20];
    let converted = [&[0x61, 0xD83D][..], &[0xDC4B]].map(|units| {
        let written = encoding_rs::mem::convert_utf16_to_utf8(units, &mut bytes);
        String::from_utf8(bytes[..written].to_vec()).unwrap()
    });
    assert_eq!(converted, ["a\u{FFFD}", "\u{FFFD}"]);
}

#[test]
fn encoding_rs_decodes_utf16_bytes_and_does_not_encode_them() {
    assert_eq!(UTF_16LE.decode(b"a\0").0, "a");
    assert_eq!(UTF_16LE.output_encoding(), UTF_8);
}

// ---- dialects ----------------------------------------------------------------------------------

/// U+1F600 in CESU-8, an unpaired surrogate, and NUL in Modified UTF-8.
const NOT_UTF_8: [&[u8]; 3] = [b"\xED\xA0\xBD\xED\xB8\x80", b"\xED\xA0\xBD", b"\xC0\x80"];

#[test]
fn none_accepts_a_dialect_as_utf8() {
    for bytes in NOT_UTF_8 {
        assert!(std::str::from_utf8(bytes).is_err());
        assert!(simdutf8::basic::from_utf8(bytes).is_err());
        assert!(!simdutf::validate_utf8(bytes));
        assert!(bytes.to_str().is_err());
        assert!(UTF_8.decode(bytes).2);
        assert!(utf8_zero::decode(bytes).is_err());
        assert!(Utf8Validator::new().push(bytes).is_err());
    }
}

#[test]
fn encoding_rs_has_no_label_for_a_dialect() {
    for label in ["cesu-8", "wtf-8", "modified-utf-8", "utf-8-sig"] {
        assert_eq!(Encoding::for_label(label.as_bytes()), None);
    }
}

#[test]
fn ours_names_the_reason() {
    let kinds = NOT_UTF_8.map(|bytes| Utf8Validator::new().push(bytes).unwrap_err().kind());
    let surrogate = Utf8ErrorKind::Surrogate;
    assert_eq!(kinds, [surrogate, surrogate, Utf8ErrorKind::Overlong]);
}

fn code_points(dialect: Dialect, bytes: &[u8]) -> Vec<u32> {
    let (mut decoder, mut code_points) = (DialectDecoder::new(dialect), Vec::new());
    for byte in bytes {
        let _done = decoder.push_to_code_points(&[*byte], ErrorMode::Fatal, &mut code_points);
    }
    decoder.finish_to_code_points(ErrorMode::Fatal, &mut code_points).unwrap();
    code_points
}

#[test]
fn ours_decodes_dialects_byte_by_byte() {
    assert_eq!(code_points(Dialect::Cesu8, NOT_UTF_8[0]), [0x1F600]);
    assert_eq!(code_points(Dialect::Wtf8, NOT_UTF_8[1]), [0xD83D]);
    assert_eq!(code_points(Dialect::ModifiedUtf8, NOT_UTF_8[2]), [0]);
    assert_eq!(code_points(Dialect::Utf8b, b"a\xFF"), [0x61, 0xDCFF]);
}

#[test]
fn ours_restores_the_bytes_of_utf8b() {
    let bytes = b"caf\xE9 \xE2\x82";
    let (mut encoder, mut restored) = (DialectEncoder::new(Dialect::Utf8b), Vec::new());
    encoder.push_code_points_to_vec(&code_points(Dialect::Utf8b, bytes), &mut restored).unwrap();
    encoder.finish_to_vec(&mut restored).unwrap();
    assert_eq!(restored, bytes);
}

#[test]
fn simd_cesu8_decodes_whole_slices() {
    assert_eq!(simd_cesu8::decode(NOT_UTF_8[0]).unwrap(), "😀");
    assert!(simd_cesu8::decode(&NOT_UTF_8[0][..3]).is_err());
    assert_eq!(simd_cesu8::mutf8::decode(NOT_UTF_8[2]).unwrap(), "\0");
}

#[cfg(unix)]
#[test]
fn std_os_string_holds_any_bytes() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    let name = OsString::from_vec(b"caf\xE9".to_vec());
    assert_eq!(name.to_str(), None);
    assert_eq!(name.into_vec(), b"caf\xE9");
}
