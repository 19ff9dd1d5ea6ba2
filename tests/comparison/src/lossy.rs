//! `String::from_utf8_lossy` in a loop, and what does better.

use bstr::ByteSlice;
use encoding_rs::UTF_8;
use utf8_codec::{ErrorMode, Utf8Decoder};

use crate::support::byte_strings;

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
