//! Faults that parsers of event streams have had, and hostile streams.

use std::time::Duration;

use utf8_codec::payload::sse::{EventDecoder, EventError};

use crate::counting::{allocated, held, most, watch};

fn data(decoder: &mut EventDecoder, chunk: &[u8]) -> Vec<String> {
    decoder.push(chunk).map(|event| event.unwrap().data).collect()
}

#[test]
fn a_bom_in_three_chunks_is_removed_and_only_the_first() {
    let mut decoder = EventDecoder::new();
    for byte in b"\xEF\xBB\xBF" {
        assert_eq!(data(&mut decoder, &[*byte]), [""; 0]);
    }
    assert_eq!(data(&mut decoder, "data: \u{FEFF}x\n\n".as_bytes()), ["\u{FEFF}x"]);
    // The name of this field begins with U+FEFF.
    assert_eq!(data(&mut decoder, "\u{FEFF}data: x\n\n".as_bytes()), [""; 0]);
}

#[test]
fn two_boms_at_the_start_make_the_first_field_unknown() {
    let mut decoder = EventDecoder::new();
    let stream = "\u{FEFF}\u{FEFF}data: x\n\ndata: y\n\n";
    assert_eq!(data(&mut decoder, stream.as_bytes()), ["y"]);
}

#[test]
fn cr_at_the_end_of_a_chunk_ends_the_event_at_once() {
    let mut decoder = EventDecoder::new();
    assert_eq!(data(&mut decoder, b"data: x\r\n\r"), ["x"]);
    // This LF belongs to the CR before it: it is not another empty line.
    assert_eq!(data(&mut decoder, b"\ndata: y\r"), [""; 0]);
    assert_eq!(data(&mut decoder, b"\r"), ["y"]);
    assert_eq!(data(&mut decoder, b""), [""; 0]);
    assert_eq!(data(&mut decoder, b"\ndata: z\n\n"), ["z"]);
}

#[test]
fn a_character_in_two_chunks_is_not_replaced() {
    let mut decoder = EventDecoder::new();
    for chunk in "data: 🤖\n".as_bytes().chunks(1) {
        assert_eq!(data(&mut decoder, chunk), [""; 0]);
    }
    assert_eq!((data(&mut decoder, b"\n"), decoder.error_count()), (vec!["🤖".to_owned()], 0));
}

#[test]
fn an_id_with_nul_keeps_the_previous_id() {
    let mut decoder = EventDecoder::new();
    assert_eq!(data(&mut decoder, b"id: 1\nid: 2\0\ndata\n\nid:\0\ndata\n\n").len(), 2);
    assert_eq!(decoder.last_event_id(), "1");
}

#[test]
fn an_id_applies_when_its_event_ends() {
    let mut decoder = EventDecoder::new();
    assert_eq!(data(&mut decoder, b"id: 1\ndata: a\n\nid: 2\ndata: b\n"), ["a"]);
    assert_eq!(decoder.last_event_id(), "1", "the second event could be cut off here");
    assert_eq!(data(&mut decoder, b"\n"), ["b"]);
    assert_eq!(decoder.last_event_id(), "2");
}

#[test]
fn retry_accepts_only_ascii_digits() {
    let mut decoder = EventDecoder::new();
    assert_eq!(data(&mut decoder, b"retry: 3\n"), [""; 0]);
    for junk in ["", "-1", "+1", "1.5", "1e3", "0x10", "5 ", " 5", "5s", "٣", "１", "5\0"] {
        let line = format!("retry: {junk}\n");
        for chunk in line.as_bytes().chunks(1) {
            assert_eq!(data(&mut decoder, chunk), [""; 0]);
        }
        assert_eq!(decoder.reconnection_time(), Some(Duration::from_millis(3)), "{junk:?}");
    }
    assert_eq!(data(&mut decoder, b"retry: 18446744073709551616\n"), [""; 0]);
    assert_eq!(decoder.reconnection_time(), Some(Duration::from_millis(u64::MAX)));
}

#[test]
fn field_names_are_compared_exactly() {
    let stream = b"Data: 1\nDATA: 2\n data: 3\ndata : 4\ndata\0: 5\ndatas: 6\ndat: 7\n\n";
    assert_eq!(data(&mut EventDecoder::new(), stream), [""; 0]);
}

#[test]
fn an_incomplete_event_at_the_end_is_discarded_by_reset() {
    let mut decoder = EventDecoder::new();
    let cut = b"retry: 5\nid: 1\ndata: 1\n\nid: 2\nevent: x\ndata: 2\ndata: \xE2";
    assert_eq!(data(&mut decoder, cut), ["1"]);
    decoder.reset();
    assert_eq!((decoder.position(), decoder.last_event_id()), (0, ""));
    assert_eq!(decoder.reconnection_time(), None);
    let event = decoder.push(b"\xEF\xBB\xBFdata: 3\n\n").next().unwrap().unwrap();
    assert_eq!((&*event.event_type, &*event.data, &*event.last_event_id), ("message", "3", ""));
}

// ---- limits -------------------------------------------------------------------------------------

#[test]
fn the_default_limit_is_1_mib() {
    let longest = "x".repeat(1 << 20);
    for (text, is_ok) in [(longest.clone(), true), (longest + "x", false)] {
        let mut decoder = EventDecoder::new();
        let stream = format!("data: {text}\n\n");
        assert_eq!(decoder.push(stream.as_bytes()).next().unwrap().is_ok(), is_ok);
    }
}

#[test]
fn the_id_of_a_rejected_event_does_not_apply() {
    let mut decoder = EventDecoder::new().with_max_length(4);
    let stream = b"id: 1\ndata: a\n\nid: 2\ndata: long\nid: 3\n\ndata: b\n\n";
    let items: Vec<_> = decoder.push(stream).collect();
    assert_eq!(items[1], Err(EventError::TooLong { offset: 15, max_length: 4 }));
    assert_eq!(items[2].as_ref().unwrap().last_event_id, "1");
    assert_eq!(items.len(), 3);
}

#[test]
fn the_beginning_of_a_character_in_a_rejected_event_is_dropped() {
    let stream = b"data: long\xE2\x82\n\ndata: \xAC\n\n";
    for size in 1..=stream.len() {
        let mut decoder = EventDecoder::new().with_max_length(3);
        let items: Vec<_> =
            stream.chunks(size).flat_map(|chunk| decoder.push(chunk).collect::<Vec<_>>()).collect();
        assert!(items[0].is_err());
        assert_eq!(items[1].as_ref().unwrap().data, "\u{FFFD}", "{size}");
        assert_eq!((items.len(), decoder.error_count()), (2, 1), "{size}");
        assert_eq!(decoder.first_error().unwrap().valid_up_to(), 20, "{size}");
    }
}

#[test]
fn replacements_count_for_the_limit_as_they_are_stored() {
    let mut decoder = EventDecoder::new().with_max_length(6);
    assert!(decoder.push(b"data: \xFF\xFF\n\n").next().unwrap().is_ok());
    assert!(decoder.push(b"data: \xFF\xFF\xFF\n\n").next().unwrap().is_err());
}

#[test]
fn an_endless_line_holds_bounded_memory() {
    const LIMIT: usize = 1 << 16;
    for start in ["data: ", "event: ", "id: ", ": ", "unknown: ", "retry: ", "", "\u{FEFF}"] {
        for part in [&[b'7'; 1000][..], &[0xFF; 1000], &[b':'; 1000]] {
            let before = watch();
            let mut decoder = EventDecoder::new().with_max_length(LIMIT);
            let mut errors = decoder.push(start.as_bytes()).count();
            for _ in 0..1000 {
                errors += decoder.push(part).count();
            }
            let most = most() - before;
            assert!(most <= 2 * LIMIT as isize, "{most} bytes after {start:?}");
            let is_kept = matches!(start, "data: " | "event: " | "id: ");
            assert_eq!(errors, usize::from(is_kept), "{start:?}");
            assert_eq!(held(), before, "nothing is held of a rejected event");
        }
    }
}

#[test]
fn endless_lines_of_one_event_hold_bounded_memory() {
    const LIMIT: usize = 1 << 16;
    for line in ["data: some text\n", "data\n", "id: 1234567\n", "event: a-type\n", ":\n"] {
        let before = watch();
        let mut decoder = EventDecoder::new().with_max_length(LIMIT);
        let mut errors = 0;
        for _ in 0..100_000 {
            errors += decoder.push(line.as_bytes()).count();
        }
        assert!(most() - before <= 2 * LIMIT as isize, "{line:?}");
        assert_eq!(errors, usize::from(line != ":\n"), "{line:?}");
    }
}

// ---- work ---------------------------------------------------------------------------------------

/// The decoder holds no undecoded bytes, so a byte is scanned once. What remains is copying text while a buffer
/// grows.
#[test]
fn a_long_line_in_single_bytes_is_not_copied_again_and_again() {
    for size in [1, 2, 63] {
        for lines in [1, 100] {
            let line = format!("data: {}\n", "x".repeat((1 << 16) / lines));
            let stream = line.repeat(lines) + "\n";
            let mut decoder = EventDecoder::new();
            let before = allocated();
            let mut len = 0;
            for chunk in stream.as_bytes().chunks(size) {
                len += decoder.push(chunk).map(|event| event.unwrap().data.len()).sum::<usize>();
            }
            let allocated = allocated() - before;
            assert!(len >= 1 << 16, "the event has arrived");
            assert!(allocated <= 4 * len as u64, "{allocated} bytes for {len}");
        }
    }
}

#[test]
fn comments_and_keep_alives_allocate_nothing() {
    let mut decoder = EventDecoder::new();
    let before = allocated();
    for _ in 0..1000 {
        assert_eq!(decoder.push(b": keep-alive\r\n\r\nunknown: x\nretry: 5\n\n").count(), 0);
    }
    assert_eq!(allocated() - before, 0);
}
