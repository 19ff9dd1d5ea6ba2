//! Is UTF-16 decoded as by `char::decode_utf16`: at every split, in every mode, into buffers of every
//! size, with the offsets of errors? `tests/random/plans.rs` has random units.

#![cfg(feature = "alloc")]

use crate::lists;
use crate::subject;

use lists::MODES;
use proptest::prelude::*;
use subject::{Into, Subject, model, model_of_prefix};
use utf8_codec::decoder::Status;
use utf8_codec::utf16::{Utf16Decoder, Utf16Error};
use utf8_codec::{ErrorMode, Utf8Decoder};

/// Pushes chunks by every method, and checks after each that all determined text has been returned.
fn assert_law(chunks: &[&[u16]]) {
    let units = chunks.concat();
    for mode in MODES {
        for into in [Into::String, Into::Slice(6), Into::Slice(7), Into::Slice(50)] {
            let mut subject = Subject::new(mode, into);
            let mut pushed = 0;
            for chunk in chunks {
                subject.push(chunk);
                pushed += chunk.len();
                subject.assert(&model_of_prefix(&units[..pushed]));
                let held = units[..pushed].last().filter(|unit| matches!(unit, 0xD800..0xDC00));
                assert_eq!(subject.decoder.incomplete(), held.copied());
            }
            subject.finish();
            subject.assert(&model(&units));
        }
    }
}

// ---- chunk independence -----------------------------------------------------------------------

/// Units of every kind, on both sides of each range limit.
const EDGES: [u16; 14] = [
    0x0000, 0x0061, 0x007F, 0x0080, 0x07FF, 0x0800, 0x20AC, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF,
    0xE000, 0xFFFF,
];

#[test]
fn splits_do_not_affect_three_units_of_every_kind() {
    for a in EDGES {
        for b in EDGES {
            for c in EDGES {
                let units = [a, b, c];
                assert_law(&[&units]);
                assert_law(&[&units[..1], &units[1..]]);
                assert_law(&[&units[..2], &[], &units[2..]]);
                assert_law(&[&units[..1], &[], &units[1..2], &units[2..], &[]]);
            }
        }
    }
}

/// Found by random units: pairs after a stride of other text.
#[test]
fn pairs_after_a_stride_of_short_text_are_decoded_at_every_split() {
    let pairs = [0xD800, 0xDC00].repeat(15);
    let units =
        [&[0x80; 13][..], &[0; 43], &pairs, &[0; 19], b"text after it".map(u16::from).as_slice()]
            .concat();
    for at in 0..=units.len() {
        assert_law(&[&units[..at], &units[at..]]);
    }
}

proptest! {

    #[test]
    fn text_round_trips_through_utf16(text in any::<String>(), size in 6_usize..40) {
        let mut units = vec![0; text.len()];
        let progress = Utf8Decoder::new()
            .push_to_utf16(text.as_bytes(), ErrorMode::Fatal, &mut units);
        let mut subject = Subject::new(ErrorMode::Fatal, Into::Slice(size));
        units[..progress.written].chunks(3).for_each(|chunk| subject.push(chunk));
        subject.finish();
        prop_assert_eq!(&subject.text, &text);
        prop_assert!(subject.errors.is_empty());
    }
}

#[test]
fn every_scalar_value_encodes_as_in_std() {
    let mut decoder = Utf16Decoder::new();
    for c in '\0'..=char::MAX {
        let (mut units, mut utf8, mut buffer) = ([0; 2], [0; 4], [0; 4]);
        let units = c.encode_utf16(&mut units);
        let progress = decoder.push_to_slice(units, ErrorMode::Fatal, &mut buffer);
        assert_eq!((progress.read, progress.status), (units.len(), Status::Done));
        assert_eq!(&buffer[..progress.written], c.encode_utf8(&mut utf8).as_bytes());
    }
}

// ---- buffers ----------------------------------------------------------------------------------

/// In a buffer of any length, the longest text that fits is written.
#[test]
fn a_buffer_is_filled_with_complete_characters() {
    let text = "ascii, ascii, ascii, ascii: é€👋 and ÿ\u{FFFF}\u{10FFFF} more, again";
    let units: Vec<_> = text.encode_utf16().collect();
    for size in 0..=text.len() + 1 {
        let mut buffer = vec![0xFF; size];
        let mut decoder = Utf16Decoder::new();
        let progress = decoder.push_to_slice(&units, ErrorMode::Fatal, &mut buffer);
        let fits = utf8_codec::boundary::truncate(text, size);
        assert_eq!(&buffer[..progress.written], fits.as_bytes());
        assert_eq!(progress.read, fits.encode_utf16().count());
        assert_eq!(progress.held, 0);
        assert_eq!(decoder.position(), progress.read as u64);
        match progress.status {
            Status::Done => assert!(size >= text.len()),
            Status::Full => assert!(0 < size && size < text.len()),
            Status::TooSmall { needed } => assert_eq!((size, needed), (0, 1)),
            status => panic!("{status:?}"),
        }
    }
}

#[test]
fn input_that_does_not_fit_is_not_consumed() {
    let mut decoder = Utf16Decoder::new();
    let mode = ErrorMode::Escape;
    let progress = decoder.push_to_slice(&[0x61, 0xD800], mode, &mut [0; 6]);
    assert_eq!((progress.read, progress.held, progress.written), (2, 1, 1));

    // The held surrogate is alone, and its repair needs six bytes.
    let progress = decoder.push_to_slice(&[0x62], mode, &mut [0; 5]);
    assert_eq!(progress.status, Status::TooSmall { needed: 6 });
    assert_eq!((progress.read, progress.written, decoder.error_count()), (0, 0, 0));
    assert_eq!((decoder.incomplete(), decoder.position()), (Some(0xD800), 2));
    let progress = decoder.finish_to_slice(mode, &mut [0; 5]);
    assert_eq!(progress.status, Status::TooSmall { needed: 6 });
    assert_eq!((decoder.incomplete(), decoder.error_count()), (Some(0xD800), 0));

    // Six bytes leave no room for what follows.
    let mut buffer = [0; 6];
    let progress = decoder.push_to_slice(&[0x62], mode, &mut buffer);
    assert_eq!((progress.read, progress.written, progress.status), (0, 6, Status::Full));
    assert_eq!(buffer, *br"\ud800");
    assert_eq!((decoder.incomplete(), decoder.error_count()), (None, 1));

    // What is skipped is consumed, without text.
    let mut decoder = Utf16Decoder::new();
    let progress = decoder.push_to_slice(&[0xDC00, 0x20AC], ErrorMode::Skip, &mut [0; 2]);
    assert_eq!((progress.read, progress.written, progress.status), (1, 0, Status::Full));
    assert_eq!((decoder.position(), decoder.error_count()), (1, 1));
}

#[test]
fn a_held_high_surrogate_needs_room_once_its_pair_is_complete() {
    let mut decoder = Utf16Decoder::new();
    let mode = ErrorMode::Fatal;
    assert_eq!(decoder.push_to_slice(&[0xD83D], mode, &mut []).status, Status::Done);
    let progress = decoder.push_to_slice(&[0xDC4B], mode, &mut [0; 3]);
    assert_eq!((progress.read, progress.status), (0, Status::TooSmall { needed: 4 }));
    let mut buffer = [0; 4];
    let progress = decoder.push_to_slice(&[0xDC4B], mode, &mut buffer);
    assert_eq!((progress.read, progress.status), (1, Status::Done));
    assert_eq!(buffer, *"👋".as_bytes());
}

// ---- errors -----------------------------------------------------------------------------------

#[test]
fn an_error_of_a_held_surrogate_leaves_the_next_unit_for_the_next_call() {
    let mut decoder = Utf16Decoder::new();
    let mut text = String::new();
    let progress = decoder.push_to_string(&[0xD800], ErrorMode::Fatal, &mut text);
    assert_eq!((progress.read, progress.held), (1, 1));
    let progress = decoder.push_to_string(&[0x61], ErrorMode::Fatal, &mut text);
    let Status::IllFormed(error) = progress.status else { panic!("{progress:?}") };
    assert_eq!((progress.read, progress.held, error.offset()), (0, 0, 0));
    let progress = decoder.push_to_string(&[0x61], ErrorMode::Fatal, &mut text);
    assert_eq!((progress.read, progress.status, &*text), (1, Status::Done, "a"));
}

#[test]
fn offsets_continue_after_finish_until_reset() {
    let mut decoder = Utf16Decoder::new();
    let mut offset = |units: &[u16], reset: bool| {
        if reset {
            decoder.reset();
        }
        let progress = decoder.push_to_string(units, ErrorMode::Fatal, &mut String::new());
        assert_eq!((progress.written, progress.held), (1, 1));
        decoder.finish().unwrap_err().offset()
    };
    assert_eq!(offset(&[0x61, 0xD800], false), 1);
    assert_eq!(offset(&[0x61, 0xD800], false), 3);
    assert_eq!(offset(&[0x61, 0xD800], true), 1);
}

#[cfg(feature = "std")]
#[test]
fn utf16_errors_convert_to_io_error() {
    use std::io::{Error, ErrorKind};

    let mut decoder = Utf16Decoder::new();
    let progress = decoder.push_to_string(&[0xDC00], ErrorMode::Fatal, &mut String::new());
    let Status::IllFormed(lone) = progress.status else { panic!("{progress:?}") };
    let error = Error::from(lone);
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert_eq!(error.get_ref().unwrap().downcast_ref(), Some(&lone));

    let progress = decoder.push_to_string(&[0xD800], ErrorMode::Fatal, &mut String::new());
    assert_eq!(progress.status, Status::Done);
    assert_eq!(Error::from(decoder.finish().unwrap_err()).kind(), ErrorKind::UnexpectedEof);
}

#[cfg(target_pointer_width = "64")]
#[test]
fn the_sizes_are_as_documented() {
    assert_eq!(size_of::<Utf16Decoder>(), 40);
    assert_eq!(size_of::<Utf16Error>(), 16);
}

#[test]
fn all_types_are_send_and_sync() {
    fn assert<T: Send + Sync + Unpin + Clone + std::fmt::Debug>() {}
    assert::<Utf16Decoder>();
    assert::<Utf16Error>();
}
