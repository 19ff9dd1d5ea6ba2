//! Encodings that resemble UTF-8.

use bstr::ByteSlice;
use encoding_rs::{Encoding, UTF_8};
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};
use utf8_codec::{ErrorMode, Utf8ErrorKind, Utf8Validator};

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
