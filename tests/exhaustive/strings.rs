//! All scalar values, and all byte strings of one to three bytes.

#![cfg(feature = "codec")]

use bytes::BytesMut;
use tokio_util::codec::{Decoder, Encoder};
use utf8_codec::codec::CharCodec;
use utf8_codec::{Utf8Decoder, Utf8Encoder, Utf8Validator};

fn all_scalar_values() -> String {
    ('\0'..=char::MAX).collect()
}

#[test]
fn all_scalar_values_pass_in_chunks_of_every_small_size() {
    let all = all_scalar_values();
    for size in [1, 2, 3, 5, 7, 64, 1021] {
        let mut decoder = Utf8Decoder::new();
        let mut validator = Utf8Validator::new();
        let mut text = String::with_capacity(all.len());
        for chunk in all.as_bytes().chunks(size) {
            validator.push(chunk).unwrap();
            for piece in decoder.push(chunk) {
                text.push_str(piece.unwrap());
            }
        }
        assert_eq!((validator.finish(), decoder.finish()), (Ok(()), Ok(())));
        assert!(text == all, "in chunks of {size}");
    }
}

#[test]
fn all_scalar_values_pass_through_char_codec_and_encoder() {
    let all: Vec<char> = all_scalar_values().chars().collect();
    let mut wire = BytesMut::new();
    CharCodec::new().encode(&all[..], &mut wire).unwrap();
    assert!(wire == all_scalar_values().as_bytes());

    let mut buffer = vec![0; wire.len()];
    let progress = Utf8Encoder::new().push_chars_to_slice(&all, &mut buffer);
    assert_eq!((progress.read, progress.written), (all.len(), wire.len()));
    assert!(buffer == wire);

    let mut codec = CharCodec::new();
    for &c in &all {
        assert_eq!(codec.decode(&mut wire).unwrap(), Some(c));
    }
    assert_eq!(codec.decode_eof(&mut wire).unwrap(), None);
}

/// The first error of `bytes` by std, or `None`.
fn of_std(bytes: &[u8]) -> Option<(u64, Option<usize>)> {
    let error = std::str::from_utf8(bytes).err()?;
    Some((error.valid_up_to() as u64, error.error_len()))
}

fn of_validator(bytes: &[u8], cut: usize) -> Option<(u64, Option<usize>)> {
    let mut validator = Utf8Validator::new();
    let verdict = validator
        .push(&bytes[..cut])
        .and_then(|()| validator.push(&bytes[cut..]))
        .and_then(|()| validator.finish());
    let error = verdict.err()?;
    Some((error.valid_up_to(), error.error_len()))
}

#[test]
fn all_strings_of_one_to_three_bytes_validate_as_in_std() {
    for len in 1..=3 {
        for value in 0..1_u32 << (8 * len) {
            let bytes = &value.to_be_bytes()[4 - len..];
            let expected = of_std(bytes);
            for cut in 0..len {
                assert_eq!(of_validator(bytes, cut), expected, "{bytes:02x?} split at {cut}");
            }
        }
    }
}

#[test]
fn all_strings_of_one_to_three_bytes_decode_as_in_std() {
    for len in 1..=3 {
        for value in 0..1_u32 << (8 * len) {
            let bytes = &value.to_be_bytes()[4 - len..];
            let mut decoder = Utf8Decoder::new();
            let mut pieces = decoder.push(bytes);
            let mut at = 0;
            for chunk in bytes.utf8_chunks() {
                if !chunk.valid().is_empty() {
                    assert_eq!(pieces.next(), Some(Ok(chunk.valid())), "{bytes:02x?}");
                    at += chunk.valid().len();
                }
                if chunk.invalid().is_empty() || at + chunk.invalid().len() == len {
                    // The last part can be incomplete; it is then reported at the end.
                    let last = pieces.next().map(|piece| piece.unwrap_err());
                    assert_eq!(pieces.next(), None);
                    let last = last.or_else(|| decoder.finish().err());
                    let found = last.map_or(vec![], |error| error.bytes().to_vec());
                    assert_eq!(found, chunk.invalid(), "{bytes:02x?}");
                    break;
                }
                let error = pieces.next().unwrap().unwrap_err();
                assert_eq!(error.valid_up_to(), at as u64, "{bytes:02x?}");
                assert_eq!(error.bytes(), chunk.invalid(), "{bytes:02x?}");
                at += chunk.invalid().len();
            }
        }
    }
}
