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

    pub(super) fn boxed(bytes: &[u8]) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
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
