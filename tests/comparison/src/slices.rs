//! Is this slice UTF-8, and where is it not? And `String::from_utf8_lossy` in a loop, and what does better.

use std::str::{self, Utf8Error};

use bstr::ByteSlice;
use encoding_rs::{Encoding, UTF_8};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8ErrorKind, Utf8Validator};

use crate::byte_strings;

// ---- validating a slice ------------------------------------------------------------------------

type Place = (usize, Option<usize>);

fn std_place(bytes: &[u8]) -> Option<Place> {
    let place = |error: Utf8Error| (error.valid_up_to(), error.error_len());
    str::from_utf8(bytes).err().map(place)
}

#[test]
fn std_reports_offset_and_length() {
    assert_eq!(std_place(b"ab\xFFc"), Some((2, Some(1))));
    assert_eq!(std_place(b"ab\xE2\x82"), Some((2, None)));
}

#[test]
fn ours_reports_offset_and_length_as_std_does() {
    for bytes in byte_strings() {
        let mut validator = Utf8Validator::new();
        let error = validator.push(&bytes).and_then(|_| validator.finish()).err();
        let place = error.map(|error| (error.valid_up_to() as usize, error.error_len()));
        assert_eq!(place, std_place(&bytes), "{bytes:02x?}");
    }
}

#[test]
fn ours_reports_kind_and_bytes() {
    let mut decoder = Utf8Decoder::new();
    let error = decoder.push(b"ab\xED\xA0\x80").find_map(Result::err).unwrap();
    assert_eq!((error.kind(), error.bytes()), (Utf8ErrorKind::Surrogate, &b"\xED"[..]));
    assert_eq!(error.next_byte(), Some(0xA0));
}

#[test]
fn simdutf8_basic_reports_no_offset() {
    let error = simdutf8::basic::from_utf8(b"ab\xFFc").unwrap_err();
    assert_eq!(size_of_val(&error), 0);
}

#[test]
fn simdutf8_compat_reports_what_std_does() {
    for bytes in byte_strings() {
        let error = simdutf8::compat::from_utf8(&bytes).err();
        let place = error.map(|error| (error.valid_up_to(), error.error_len()));
        assert_eq!(place, std_place(&bytes), "{bytes:02x?}");
    }
}

#[test]
fn simdutf_reports_an_offset_and_a_reason() {
    let result = simdutf::validate_utf8_with_errors(b"ab\xED\xA0\x80");
    assert_eq!((result.count, result.error), (2, simdutf::ErrorCode::Surrogate));
}

#[test]
fn simdutf_does_not_distinguish_incomplete_from_ill_formed() {
    let incomplete = simdutf::validate_utf8_with_errors(b"ab\xE2\x82");
    let ill_formed = simdutf::validate_utf8_with_errors(b"ab\xE2\x82c");
    assert_eq!((incomplete.count, incomplete.error), (2, simdutf::ErrorCode::TooShort));
    assert_eq!((ill_formed.count, ill_formed.error), (2, simdutf::ErrorCode::TooShort));
}

#[test]
fn encoding_rs_valid_up_to_reports_the_offset_only() {
    assert_eq!(Encoding::utf8_valid_up_to(b"ab\xE2\x82"), 2);
    assert_eq!(Encoding::utf8_valid_up_to(b"ab\xE2\x82c"), 2);
}

#[test]
fn bstr_reports_what_std_does() {
    for bytes in byte_strings() {
        let error = bytes.to_str().err();
        let place = error.map(|error| (error.valid_up_to(), error.error_len()));
        assert_eq!(place, std_place(&bytes), "{bytes:02x?}");
    }
}

// ---- lossy decoding in a loop ------------------------------------------------------------------

const CHUNKS: [&[u8]; 2] = [b"10 \xE2\x82", b"\xAC"];

/// Ours, in two pushes.
fn ours(bytes: &[u8], at: usize, mode: ErrorMode) -> String {
    let mut decoder = Utf8Decoder::new();
    let mut text = String::new();
    let (first, second) = bytes.split_at(at);
    for chunk in [first, second] {
        let _done = decoder.push_to_string(chunk, mode, &mut text);
    }
    let _ = decoder.finish_to_string(mode, &mut text);
    text
}

#[test]
fn std_lossy_on_each_chunk_corrupts_valid_text() {
    let text: String = CHUNKS.map(String::from_utf8_lossy).concat();
    assert_eq!(text, "10 \u{FFFD}\u{FFFD}");
}

#[test]
fn bstr_lossy_on_each_chunk_corrupts_valid_text() {
    let text: String = CHUNKS.map(|chunk| chunk.to_str_lossy()).concat();
    assert_eq!(text, "10 \u{FFFD}\u{FFFD}");
}

#[test]
fn ours_repairs_as_std_does_the_whole_at_every_split() {
    for bytes in byte_strings() {
        for at in 0..=bytes.len() {
            let text = ours(&bytes, at, ErrorMode::Replacement);
            assert_eq!(text, String::from_utf8_lossy(&bytes), "{bytes:02x?}, {at}");
        }
    }
}

#[test]
fn ours_can_skip_escape_or_read_latin_1() {
    let all = |mode| ours(b"a\xE9b", 1, mode);
    assert_eq!(all(ErrorMode::Skip), "ab");
    assert_eq!(all(ErrorMode::Escape), "a\\xe9b");
    assert_eq!(all(ErrorMode::Latin1), "aéb");
}

#[test]
fn ours_counts_the_repairs() {
    let mut decoder = Utf8Decoder::new();
    let mut text = String::new();
    let _done = decoder.push_to_string(b"a\xFFb\xFF", ErrorMode::Replacement, &mut text);
    assert_eq!((decoder.error_count(), decoder.first_error().unwrap().valid_up_to()), (2, 1));
}

#[test]
fn bstr_replaces_as_std_does() {
    for bytes in byte_strings() {
        assert_eq!(bytes.to_str_lossy(), String::from_utf8_lossy(&bytes), "{bytes:02x?}");
    }
}

#[test]
fn encoding_rs_replaces_as_std_does_at_every_split() {
    for bytes in byte_strings() {
        for at in 0..=bytes.len() {
            let mut decoder = UTF_8.new_decoder_without_bom_handling();
            let mut text = String::with_capacity(100);
            let _ = decoder.decode_to_string(&bytes[..at], &mut text, false);
            let _ = decoder.decode_to_string(&bytes[at..], &mut text, true);
            assert_eq!(text, String::from_utf8_lossy(&bytes), "{bytes:02x?}, {at}");
        }
    }
}

#[test]
fn utf8_zero_replaces_as_std_does_at_every_split() {
    for bytes in byte_strings() {
        for at in 0..=bytes.len() {
            let mut text = String::new();
            let mut decoder = utf8_zero::LossyDecoder::new(|piece| text.push_str(piece));
            decoder.feed(&bytes[..at]);
            decoder.feed(&bytes[at..]);
            drop(decoder);
            assert_eq!(text, String::from_utf8_lossy(&bytes), "{bytes:02x?}, {at}");
        }
    }
}

#[test]
fn utf8_zero_replaces_the_incomplete_end_when_dropped() {
    let mut text = String::new();
    let mut decoder = utf8_zero::LossyDecoder::new(|piece| text.push_str(piece));
    decoder.feed(b"a\xE2");
    drop(decoder);
    assert_eq!(text, "a\u{FFFD}");
}

#[test]
fn bstr_chunks_distinguish_an_incomplete_end() {
    let is_incomplete = |bytes: &[u8]| ByteSlice::utf8_chunks(bytes).last().unwrap().incomplete();
    assert!(is_incomplete(b"10 \xE2\x82") && !is_incomplete(b"10 \xE2\x82\xFF"));
}

#[test]
fn std_chunks_do_not_distinguish_an_incomplete_end() {
    let invalid = |bytes: &'static [u8]| bytes.utf8_chunks().next().unwrap().invalid();
    assert_eq!(invalid(b"\xE2\x82"), invalid(b"\xE2\x82x"));
}
