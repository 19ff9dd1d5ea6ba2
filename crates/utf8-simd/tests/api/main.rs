//! The public functions, on every level of this machine, compared with the standard library or with plain loops.

#[path = "../support/mod.rs"]
mod support;
mod text;
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
