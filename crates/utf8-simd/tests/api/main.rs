//! The public functions, on every level of this machine, compared with the standard library or with plain loops.

mod containers;
#[path = "../support/mod.rs"]
mod support;
mod transcode;
mod validate;

use std::sync::{Mutex, MutexGuard, PoisonError};

use utf8_simd::Level;

/// The right to change the detected level, which all threads share.
struct Levels {
    best: Level,
    _lock: MutexGuard<'static, ()>,
}

impl Levels {
    fn lock() -> Self {
        static LOCK: Mutex<()> = Mutex::new(());
        let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        Self { best: Level::detect(), _lock }
    }

    /// Calls `check` with each level detected.
    fn each(&self, check: impl Fn(&str)) {
        for level in Level::available() {
            level.set_detected();
            assert_eq!(Level::detect(), level);
            check(level.name());
        }
    }
}

impl Drop for Levels {
    fn drop(&mut self) {
        self.best.set_detected();
    }
}

mod offsets {
    //! Strings by offsets, compared with one call for each string.

    use std::fmt::Debug;

    use utf8_simd::{OffsetsError, from_utf8, from_utf8_offsets};

    use crate::Levels;
    use crate::support::{FILLS, Random, fill_to};
    use crate::transcode::damaged;

    /// Validates each string alone.
    fn expected(buffer: &[u8], offsets: &[i64]) -> Result<String, OffsetsError> {
        let mut start = 0;
        let mut text = String::new();
        for (index, &offset) in offsets.iter().enumerate() {
            let end = usize::try_from(offset).unwrap_or(usize::MAX);
            if end < start || end > buffer.len() {
                return Err(OffsetsError::Offset { index });
            }
            if index > 0 {
                match core::str::from_utf8(&buffer[start..end]) {
                    Ok(string) => text.push_str(string),
                    Err(_) => {
                        let error = from_utf8(&buffer[start..end]).unwrap_err();
                        return Err(OffsetsError::Utf8 { index: index - 1, error });
                    }
                }
            }
            start = end;
        }
        Ok(text)
    }

    /// Compares the results for offsets of each type.
    fn are_as_each_alone(levels: &Levels, buffer: &[u8], offsets: &[i64]) {
        fn of<O: Copy + TryInto<usize> + TryFrom<i64>>(buffer: &[u8], offsets: &[i64])
        where
            <O as TryFrom<i64>>::Error: Debug,
        {
            if let Ok(typed) =
                offsets.iter().map(|&at| O::try_from(at)).collect::<Result<Vec<O>, _>>()
            {
                let found = from_utf8_offsets(buffer, &typed).map(String::from);
                assert_eq!(found, expected(buffer, offsets), "{buffer:02x?} {offsets:?}");
            }
        }
        levels.each(|_| {
            of::<i32>(buffer, offsets);
            of::<u32>(buffer, offsets);
            of::<i64>(buffer, offsets);
            of::<u64>(buffer, offsets);
            of::<usize>(buffer, offsets);
        });
    }

    #[test]
    fn all_offsets_of_short_buffers_are_as_each_string_alone() {
        let levels = Levels::lock();
        for buffer in
            ["", "a", "é", "aé€", "😀a"].map(str::as_bytes).into_iter().chain([&b"a\xFFb"[..]])
        {
            let ends: Vec<i64> = (-1..=buffer.len() as i64 + 1).collect();
            are_as_each_alone(&levels, buffer, &[]);
            for &a in &ends {
                are_as_each_alone(&levels, buffer, &[a]);
                for &b in &ends {
                    are_as_each_alone(&levels, buffer, &[a, b]);
                    for &c in &ends {
                        are_as_each_alone(&levels, buffer, &[a, b, c]);
                        are_as_each_alone(&levels, buffer, &[a, b, b, c]);
                    }
                }
            }
        }
    }

    #[test]
    fn random_columns_are_as_each_string_alone() {
        let levels = Levels::lock();
        let mut random = Random(21);
        for round in 0..400 {
            let fill = FILLS[random.below(FILLS.len())];
            let text = fill_to(fill, 1 + random.below(3000));
            let mut buffer = text.as_bytes().to_vec();
            let mut offsets = vec![0];
            let mut at = 0;
            while at < text.len() {
                at = (at + random.below(25)).min(text.len());
                while !text.is_char_boundary(at) {
                    at += 1;
                }
                offsets.push(at as i64);
            }
            // Columns may be slices of longer ones.
            let from = random.below(3).min(offsets.len() - 1);
            match round % 4 {
                0 => {}
                1 => buffer = damaged(&buffer, 500, &mut random),
                2 => {
                    let index = random.below(offsets.len());
                    offsets[index] += random.below(7) as i64 - 3;
                }
                _ => {
                    let index = random.below(offsets.len());
                    offsets[index] = [-1, i64::from(i32::MAX), 0][random.below(3)];
                }
            }
            are_as_each_alone(&levels, &buffer, &offsets[from..]);
        }
    }

    #[test]
    fn errors_name_the_string_or_the_offset() {
        let error = from_utf8_offsets(b"abc\xFFd", &[0_u32, 2, 5]).unwrap_err();
        let message = "string 1: invalid UTF-8 at byte 1: ill-formed sequence of 1 byte";
        assert_eq!(error.to_string(), message);
        let error = from_utf8_offsets(b"abc", &[0_i32, 2, 1]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "offset 2 is outside the buffer or less than the one before it"
        );
    }
}

mod programs {
    //! Programs written for other libraries, which differ here in their imports or in the names of functions only.

    use crate::Levels;

    /// A program written for `core::str::from_utf8`: reads key-value pairs and reports damage as std's documentation of
    /// `Utf8Error` describes.
    mod for_std {
        #[cfg(not(test))]
        use core::str::{Utf8Error, from_utf8};
        #[cfg(test)]
        use utf8_simd::{Utf8Error, from_utf8};

        #[derive(Debug, PartialEq)]
        pub(super) enum ParseError {
            Encoding(Utf8Error),
            NoValue,
        }

        impl From<Utf8Error> for ParseError {
            fn from(error: Utf8Error) -> Self {
                Self::Encoding(error)
            }
        }

        pub(super) fn pair(line: &[u8]) -> Result<(&str, &str), ParseError> {
            from_utf8(line)?.split_once('=').ok_or(ParseError::NoValue)
        }

        /// The loop of std's documentation.
        pub(super) fn lossy(mut input: &[u8], mut push: impl FnMut(&str)) {
            loop {
                match from_utf8(input) {
                    Ok(valid) => {
                        push(valid);
                        break;
                    }
                    Err(error) => {
                        let (valid, after_valid) = input.split_at(error.valid_up_to());
                        push(from_utf8(valid).unwrap());
                        push("\u{FFFD}");
                        if let Some(invalid_sequence_length) = error.error_len() {
                            input = &after_valid[invalid_sequence_length..];
                        } else {
                            break;
                        }
                    }
                }
            }
        }

        pub(super) fn boxed(
            bytes: &[u8],
        ) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
            Ok(from_utf8(bytes)?.to_owned())
        }
    }

    #[test]
    fn a_program_for_std_changes_its_imports() {
        Levels::lock().each(|_| {
            assert_eq!(for_std::pair("klíč=hodnota".as_bytes()), Ok(("klíč", "hodnota")));
            assert_eq!(for_std::pair(b"key"), Err(for_std::ParseError::NoValue));
            assert!(matches!(for_std::pair(b"k=\xFF"), Err(for_std::ParseError::Encoding(_))));
            let mut text = String::new();
            for_std::lossy(b"Hello \xF0\x90\x80World\xE2\x82", |part| text.push_str(part));
            assert_eq!(text, "Hello \u{FFFD}World\u{FFFD}");
            assert_eq!(for_std::boxed(b"text").unwrap(), "text");
            assert!(for_std::boxed(b"te\xFFt").is_err());
        });
    }

    /// A program in the manner of simdutf's example: validate, compute the length, allocate, convert, convert back.
    #[test]
    fn a_program_for_simdutf_changes_names() {
        use utf8_simd::{
            Stop, Transcoded, Utf8, Utf16, Utf16Le, is_utf8, transcode, utf16_len, valid_prefix,
        };

        fn round_trip(source: &[u8]) -> Result<Vec<u8>, usize> {
            // simdutf::validate_utf8
            if !is_utf8(source) {
                // simdutf::validate_utf8_with_errors
                return Err(valid_prefix(source).0.len());
            }
            // simdutf::utf16_length_from_utf8
            let (text, _) = valid_prefix(source);
            let mut utf16 = vec![0; utf16_len(text)];
            // simdutf::convert_valid_utf8_to_utf16
            let done = transcode::<str, Utf16>(text, &mut utf16);
            assert_eq!((done.written, done.stop), (utf16.len(), Stop::Done));
            // simdutf::convert_utf8_to_utf16le_with_errors
            let mut utf16le = vec![0; 2 * utf16_len(text)];
            let done = transcode::<Utf8, Utf16Le>(source, &mut utf16le);
            assert_eq!((done.written, done.stop), (utf16le.len(), Stop::Done));
            // simdutf::convert_utf16_to_utf8, with room for three bytes a unit
            let mut utf8 = vec![0; 3 * utf16.len()];
            let Transcoded { written, stop: Stop::Done, .. } =
                transcode::<Utf16, Utf8>(&utf16, &mut utf8)
            else {
                return Err(0);
            };
            utf8.truncate(written);
            Ok(utf8)
        }

        Levels::lock().each(|level| {
            let text = "Zażółć gęślą jaźń, 色は匂へど, 👩‍👩‍👧‍👦. ".repeat(40);
            assert_eq!(round_trip(text.as_bytes()).as_deref(), Ok(text.as_bytes()), "{level}");
            assert_eq!(round_trip(b""), Ok(vec![]), "{level}");
            assert_eq!(round_trip(b"1234\xC0"), Err(4), "{level}");
        });
    }
}

mod text {
    //! The containers for validated text, and the functions that they share with the decoder.

    #[cfg(feature = "std")]
    use utf8_simd::text::ReadBuffer;
    use utf8_simd::{Level, text};

    #[cfg(feature = "alloc")]
    #[test]
    fn deferred_text_is_the_text_before_an_error_at_every_cut() {
        let damaged = "a€😀é".repeat(40).into_bytes();
        for (at, byte) in (0..damaged.len()).zip([0xFF, b'a', 0x80, 0xF0].into_iter().cycle()) {
            let mut bytes = damaged.clone();
            bytes[at] = byte;
            let valid = std::str::from_utf8(&bytes).map_or_else(|e| e.valid_up_to(), str::len);
            let mut deferred = text::DeferredText::with_capacity(bytes.len());
            let (front, back) = bytes.split_at(bytes.len() * at / damaged.len());
            assert_eq!(deferred.push_before(Level::detect(), *b"\r\n", front), front.len());
            deferred.validate();
            assert_eq!(deferred.push_before(Level::detect(), *b"\r\n", back), back.len());
            deferred.validate();
            assert_eq!(deferred.rest(), &bytes[valid..], "{at}");
            deferred.push_str("more");
            assert_eq!(deferred.len(), bytes.len() + 4);
            deferred.clear_rest();
            let end = if valid == bytes.len() { "more" } else { "" };
            assert_eq!(
                deferred.into_text().into_bytes(),
                [&bytes[..valid], end.as_bytes()].concat()
            );
        }
    }

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
        for len in 0..=80 {
            let bytes = &mut [0x7F; 80][..len];
            assert!(text::whole_text(bytes).is_ok(), "{len}");
            for at in 0..len {
                bytes[at] = 0x80;
                assert!(text::whole_text(bytes).is_err(), "{at} of {len}");
                bytes[at] = 0x7F;
            }
        }
    }

    #[test]
    fn short_bytes_of_which_several_are_high_are_no_text() {
        for len in 1..=80 {
            for at in 0..len {
                // In ASCII two high bytes, after NULs high bytes only.
                for other in 0..at {
                    let mut bytes = [0x7F; 80];
                    (bytes[at], bytes[other]) = (0x80, 0x80);
                    assert!(text::whole_text(&bytes[..len]).is_err(), "{other}, {at} of {len}");
                }
                for end in at + 1..=len {
                    let mut bytes = [0; 80];
                    bytes[at..end].fill(0x80);
                    assert!(text::whole_text(&bytes[..len]).is_err(), "{at}..{end} of {len}");
                }
            }
        }
        for a in crate::validate::EDGES {
            for b in crate::validate::EDGES {
                for bytes in [[b'a', a, b], [a, b, b'a']] {
                    let expected = str::from_utf8(&bytes);
                    assert_eq!(text::whole_text(&bytes).ok(), expected.ok(), "{bytes:02x?}");
                    let expected = str::from_utf8(&bytes[..2]);
                    assert_eq!(text::whole_text(&bytes[..2]).ok(), expected.ok(), "{bytes:02x?}");
                }
            }
        }
    }

    #[test]
    fn the_first_character_of_four_bytes_is_that_of_std() {
        use crate::validate::EDGES;
        for index in 0..EDGES.len().pow(4) {
            let edge = |place| EDGES[index / EDGES.len().pow(place) % EDGES.len()];
            let bytes = [0, 1, 2, 3].map(edge);
            let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            let first = text.split_inclusive(|_| true).next().filter(|c| c.len() > 1);
            assert_eq!(text::first_char(&bytes), first, "{bytes:02x?}");
        }
    }

    /// ASCII, in which each byte in turn is one of the ends, or not ASCII.
    #[test]
    fn ascii_is_split_off_before_each_end_and_outside_each_range() {
        for level in Level::available() {
            for len in 0..=140 {
                for (at, byte) in (0..=len).flat_map(|at| [(at, b'\n'), (at, b'\r'), (at, 0x80)]) {
                    let mut bytes = [b'x'; 140];
                    if let Some(place) = bytes.get_mut(at) {
                        *place = byte;
                    }
                    let bytes = &bytes[..len];
                    let expected = str::from_utf8(&bytes[..at]).unwrap();
                    let found = text::split_line(level, *b"\n\r", bytes);
                    assert_eq!(found, expected, "{}: {byte} at {at} of {len}", level.name());
                    let found = text::split_range(level, bytes, b' '..=b'~');
                    assert_eq!(found, expected, "{}: {byte} at {at} of {len}", level.name());
                }
            }
        }
    }

    /// In the first window, and in each of the next, which are larger.
    #[test]
    fn text_is_split_off_where_a_function_of_its_windows_finds_an_end() {
        let line = "é€𝄞a".repeat(2000);
        for level in Level::available() {
            for at in [0, 10, 30, 40, 150, 160, 170, 670, 680, 690, 5000, 9000, 19_990] {
                for (end, found) in [
                    (&b"\nx"[..], Ok('\n')),
                    (b"\xFFx", Err(Some(1))),
                    (b"\xF0\x9F", Err(None)),
                    (b"", Err(None)),
                ] {
                    let bytes = [&line.as_bytes()[..at], end].concat();
                    let find = |text: &str| text.find('\n').map(|at| (at, '\n'));
                    let (text, ending) = text::split_until(level, &bytes, find);
                    assert_eq!(text, &line[..at], "{}: {end:02x?}", level.name());
                    assert_eq!(ending, found, "{}: {at}", level.name());
                }
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
    fn a_full_buffer_grows_to_any_larger_capacity() {
        for (small, large) in [(96, 97), (100, 8192), (4, 96), (4, 8192), (8192, 1 << 20)] {
            let mut buffer = ReadBuffer::new();
            let mut rest = Vec::new();
            for capacity in [small, small, large, large] {
                let room = buffer.room(capacity);
                assert_eq!(room.is_empty(), rest.len() >= capacity, "{small} {large}");
                room.fill(rest.len() as u8);
                let len = room.len();
                rest.extend(vec![rest.len() as u8; len]);
                buffer.fill(len);
                assert_eq!(buffer.rest(), rest, "{small} {large}");
            }
            assert_eq!(rest.len(), large);
        }
        let mut buffer = ReadBuffer::holding(&[b'a'; 200], 4);
        assert_eq!(buffer.rest(), [b'a'; 200]);
        assert_eq!(buffer.room(8192).len(), 8192 - 200);
        // As many bytes as fit inline allocate nothing yet.
        let mut buffer = ReadBuffer::holding(&[b'a'; ReadBuffer::WITHIN], 500);
        assert_eq!(buffer.room(1000).len(), 1000 - ReadBuffer::WITHIN);
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

    #[cfg(feature = "std")]
    #[test]
    fn a_character_fits_into_four_bytes() {
        let smile = "\u{1F600}".as_bytes();
        let mut buffer = ReadBuffer::new();
        for byte in smile {
            buffer.room(4)[0] = *byte;
            buffer.fill(1);
        }
        assert_eq!(buffer.rest(), smile);
        assert!(buffer.room(4).is_empty());
    }

    #[cfg(feature = "std")]
    #[test]
    fn bytes_that_fit_inline_are_moved_there() {
        for left in [ReadBuffer::WITHIN, ReadBuffer::WITHIN + 1] {
            let bytes = vec![b'a'; 2 * ReadBuffer::WITHIN];
            let mut buffer = ReadBuffer::holding(&bytes, 500);
            buffer.pass(bytes.len() - left);
            buffer.shrink();
            assert_eq!(buffer.rest(), &bytes[..left]);
            // Inline memory that is full is replaced, memory on the heap is not.
            let len = if left <= ReadBuffer::WITHIN { 1000 } else { 500 };
            assert_eq!(buffer.room(1000).len(), len - left);
        }
    }
}
