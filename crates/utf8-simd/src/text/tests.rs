use super::{Level, split_range};

#[test]
fn a_reversed_range_has_no_bytes() {
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 0x70..=0x10;
    for level in Level::available() {
        let text = split_range(level, b"\xFF\xFE not ASCII", reversed.clone());
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
                let (text, error_len) = super::split_near(level, &bytes);
                assert_eq!(text.as_bytes(), &bytes[..len]);
                assert_eq!(error_len, error.and_then(|error| error.error_len()));
            }
        }
    }
}

#[test]
fn short_ascii_is_found_unless_a_byte_is_high() {
    for len in 0..=40 {
        let bytes = &mut [0x7F; 40][..len];
        assert_eq!(super::is_short_ascii(bytes), len <= 32, "{len}");
        for at in 0..len {
            bytes[at] = 0x80;
            assert!(!super::is_short_ascii(bytes), "{at} of {len}");
            bytes[at] = 0x7F;
        }
    }
}

#[cfg(feature = "bytes")]
#[test]
fn only_text_at_the_start_of_the_bytes_is_taken() {
    let mut bytes = bytes::Bytes::from_static(b"abc\xFF");
    for text in ["abc", "abcdefgh", ""] {
        assert_eq!(super::take_text(&mut bytes, |_| text), "");
    }
    let long = "abcdefgh";
    let mut start = bytes::Bytes::from_static(&long.as_bytes()[..3]);
    assert_eq!(super::take_text(&mut start, |_| long), "");
    let inner = super::take_text(&mut bytes, |all| str::from_utf8(&all[1..3]).unwrap());
    assert_eq!((&*inner, &*bytes), ("", &b"abc\xFF"[..]));
    let front = super::take_text(&mut bytes, |all| str::from_utf8(&all[..3]).unwrap());
    assert_eq!((&*front, &*bytes), ("abc", &b"\xFF"[..]));
}
