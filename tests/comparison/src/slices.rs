//! Is this slice UTF-8, and where is it not?

use std::str::{self, Utf8Error};

use bstr::ByteSlice;
use encoding_rs::Encoding;
use utf8_codec::{Utf8Decoder, Utf8ErrorKind, Utf8Validator};

use crate::support::byte_strings;

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
