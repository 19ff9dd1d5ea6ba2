//! The containers for validated text, and the functions that they share with the decoder.

#[cfg(feature = "std")]
use utf8_simd::text::ReadBuffer;
use utf8_simd::{Level, text};

#[test]
fn a_reversed_range_has_no_bytes() {
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 0x70..=0x10;
    for level in Level::available() {
        let text = text::split_range(level, b"\xFF\xFE not ASCII", reversed.clone());
        // As bytes: what is not text cannot be printed as text.
        assert_eq!(text.as_bytes(), b"");
    }
}

#[cfg_attr(miri, ignore)]
#[test]
fn a_near_error_is_found_at_every_offset_in_a_word() {
    for level in Level::available() {
        for at in 0..=17 {
            for [a, b] in (0..=u16::MAX).map(u16::to_be_bytes) {
                let mut bytes = [b'x'; 20];
                bytes[at..at + 2].copy_from_slice(&[a, b]);
                let error = str::from_utf8(&bytes).err();
                let len = error.map_or(bytes.len(), |error| error.valid_up_to());
                let (text, error_len) = text::split_near(level, &bytes);
                assert_eq!(text.as_bytes(), &bytes[..len]);
                assert_eq!(error_len, error.and_then(|error| error.error_len()));
            }
        }
    }
}

#[cfg_attr(miri, ignore)]
#[test]
fn the_text_before_an_error_at_every_index_is_that_of_std() {
    for fill in ["a", "é", "€", "𝄞", "aé€𝄞"] {
        for (len, seed) in
            (0..=400).flat_map(|len| [(len, &b"\xFF"[..]), (len, b"\xE2\x82"), (len, b"")])
        {
            let mut bytes = fill.repeat(len / fill.len() + 1).into_bytes();
            bytes.truncate(len);
            bytes.extend_from_slice(seed);
            bytes.extend_from_slice(
                &fill.as_bytes().repeat(100)[..if seed.is_empty() { 0 } else { 97 }],
            );
            let error = str::from_utf8(&bytes).err();
            let valid_up_to = error.map_or(bytes.len(), |error| error.valid_up_to());
            for level in Level::available() {
                let (text, error_len) = text::split_near(level, &bytes);
                let name = level.name();
                assert_eq!(text.len(), valid_up_to, "{name}: {len} bytes of {fill}, {seed:x?}");
                assert_eq!(error_len, error.and_then(|error| error.error_len()), "{name}");
            }
        }
    }
}

#[test]
fn short_ascii_is_text_unless_a_byte_is_high() {
    for len in 0..=40 {
        let bytes = &mut [0x7F; 40][..len];
        assert!(text::whole_text(Level::SCALAR, bytes).is_ok(), "{len}");
        for at in 0..len {
            bytes[at] = 0x80;
            assert!(text::whole_text(Level::SCALAR, bytes).is_err(), "{at} of {len}");
            bytes[at] = 0x7F;
        }
    }
}

#[cfg(feature = "bytes")]
#[test]
fn only_text_at_the_start_of_the_bytes_is_taken() {
    let mut bytes = bytes::Bytes::from_static(b"abc\xFF");
    for text in ["abc", "abcdefgh", ""] {
        assert_eq!(text::take_text(&mut bytes, |_| text), "");
    }
    let long = "abcdefgh";
    let mut start = bytes::Bytes::from_static(&long.as_bytes()[..3]);
    assert_eq!(text::take_text(&mut start, |_| long), "");
    let inner = text::take_text(&mut bytes, |all| str::from_utf8(&all[1..3]).unwrap());
    assert_eq!((&*inner, &*bytes), ("", &b"abc\xFF"[..]));
    let front = text::take_text(&mut bytes, |all| str::from_utf8(&all[..3]).unwrap());
    assert_eq!((&*front, &*bytes), ("abc", &b"\xFF"[..]));
}

#[cfg(feature = "bytes")]
#[test]
fn a_prefix_is_taken_with_why_it_ended() {
    use utf8_simd::PrefixEnd::{IllFormed, Incomplete, Input};
    for (input, len, end) in [
        (&b"ab\xC3\xA9"[..], 4, Input),
        (b"ab\xC3", 2, Incomplete(1)),
        (b"ab\xFFc", 2, IllFormed(1)),
        (b"\xE2\x82c", 0, IllFormed(2)),
        (b"", 0, Input),
    ] {
        let mut bytes = bytes::Bytes::from_static(input);
        let mut bytes_mut = bytes::BytesMut::from(input);
        for (text, found) in
            [text::take_valid_prefix(&mut bytes), text::take_valid_prefix(&mut bytes_mut)]
        {
            assert_eq!((&*text, found), (str::from_utf8(&input[..len]).unwrap(), end));
        }
        assert_eq!((&bytes[..], &bytes_mut[..]), (&input[len..], &input[len..]));
    }
}

#[cfg(feature = "std")]
#[test]
fn only_the_start_of_the_rest_becomes_text() {
    let mut buffer = ReadBuffer::new();
    buffer.room(16)[..4].copy_from_slice(b"abc\xFF");
    buffer.fill(4);
    for text in ["abc", "abcdefgh", ""] {
        assert_eq!((buffer.accept(|_| text), buffer.as_str()), (0, ""));
    }
    assert_eq!(buffer.accept(|rest| str::from_utf8(&rest[1..3]).unwrap()), 0);
    assert_eq!(buffer.accept(|rest| str::from_utf8(&rest[..3]).unwrap()), 3);
    assert_eq!((buffer.as_str(), buffer.rest()), ("abc", &b"\xFF"[..]));
    assert_eq!(buffer.try_accept(|_| Err("invalid")), Err("invalid"));
    assert_eq!((buffer.as_str(), buffer.rest()), ("abc", &b"\xFF"[..]));
}

#[cfg(feature = "std")]
#[test]
fn unread_bytes_move_to_the_front_of_the_room() {
    let all = *b"0123456789";
    for len in 0..=all.len() {
        for passed in 0..=len {
            let mut buffer = ReadBuffer::new();
            buffer.room(64)[..len].copy_from_slice(&all[..len]);
            buffer.fill(len);
            buffer.pass(passed);
            let left = len - passed;
            assert_eq!(buffer.room(64).len(), ReadBuffer::WITHIN.min(64) - left);
            assert_eq!(buffer.rest(), &all[passed..len]);
        }
    }
}
