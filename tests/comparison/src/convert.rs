//! `char`s and UTF-16, to and from UTF-8.

use std::char::decode_utf16;

use encoding_rs::{CoderResult, UTF_8, UTF_16LE};
use utf8_codec::utf16::Utf16Decoder;
use utf8_codec::{ErrorMode, Utf8Decoder};

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
