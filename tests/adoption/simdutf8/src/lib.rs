//! The API of simdutf8 0.1, on top of `utf8-simd`.
//!
//! It differs in one way: the functions in `imp` use the best level of the machine, not the one in their path.
#![cfg_attr(not(feature = "std"), no_std)]

/// Validation without the offset of the error.
pub mod basic {
    use core::fmt;

    /// The input is not UTF-8.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Utf8Error;

    impl fmt::Display for Utf8Error {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("invalid utf-8 sequence")
        }
    }

    impl core::error::Error for Utf8Error {}

    #[inline]
    pub fn from_utf8(input: &[u8]) -> Result<&str, Utf8Error> {
        utf8_simd::from_utf8(input).map_err(|_| Utf8Error)
    }

    #[inline]
    pub fn from_utf8_mut(input: &mut [u8]) -> Result<&mut str, Utf8Error> {
        utf8_simd::from_utf8_mut(input).map_err(|_| Utf8Error)
    }

    /// Validators of streams.
    #[cfg(feature = "public_imp")]
    pub mod imp {
        use super::Utf8Error;
        use crate::stream::Validator;

        /// # Safety
        ///
        /// The methods are unsafe only because those of simdutf8 are. Here they have no conditions.
        #[allow(clippy::missing_safety_doc, reason = "the lines above hold for each method")]
        pub trait Utf8Validator {
            unsafe fn new() -> Self
            where
                Self: Sized;
            unsafe fn update(&mut self, input: &[u8]);
            unsafe fn finalize(self) -> Result<(), Utf8Error>;
        }

        /// # Safety
        ///
        /// As [`Utf8Validator`].
        #[allow(clippy::missing_safety_doc, reason = "the lines above hold for each method")]
        pub trait ChunkedUtf8Validator {
            unsafe fn new() -> Self
            where
                Self: Sized;
            /// # Panics
            ///
            /// If the length of `input` is not a multiple of 64.
            unsafe fn update_from_chunks(&mut self, input: &[u8]);
            unsafe fn finalize(self, remaining_input: Option<&[u8]>) -> Result<(), Utf8Error>;
        }

        #[derive(Debug, Default)]
        pub struct Utf8ValidatorImp(Validator);

        #[derive(Debug, Default)]
        pub struct ChunkedUtf8ValidatorImp(Validator);

        impl Utf8Validator for Utf8ValidatorImp {
            #[inline]
            unsafe fn new() -> Self {
                Self::default()
            }

            #[inline]
            unsafe fn update(&mut self, input: &[u8]) {
                self.0.push(input);
            }

            #[inline]
            unsafe fn finalize(self) -> Result<(), Utf8Error> {
                self.0.finish()
            }
        }

        impl ChunkedUtf8Validator for ChunkedUtf8ValidatorImp {
            #[inline]
            unsafe fn new() -> Self {
                Self::default()
            }

            #[inline]
            unsafe fn update_from_chunks(&mut self, input: &[u8]) {
                assert!(
                    input.len().is_multiple_of(64),
                    "the length of a chunk is a multiple of 64"
                );
                self.0.push(input);
            }

            #[inline]
            unsafe fn finalize(mut self, remaining_input: Option<&[u8]>) -> Result<(), Utf8Error> {
                self.0.push(remaining_input.unwrap_or_default());
                self.0.finish()
            }
        }

        /// # Safety
        ///
        /// There are no conditions.
        #[inline]
        pub unsafe fn validate_utf8(input: &[u8]) -> Result<(), Utf8Error> {
            super::from_utf8(input).map(drop)
        }

        pub mod aarch64 {
            pub mod neon {
                pub use super::super::{ChunkedUtf8ValidatorImp, Utf8ValidatorImp, validate_utf8};
            }
        }

        pub mod portable {
            pub use super::{ChunkedUtf8ValidatorImp, Utf8ValidatorImp, validate_utf8};
        }

        pub mod wasm32 {
            pub mod simd128 {
                pub use super::super::{ChunkedUtf8ValidatorImp, Utf8ValidatorImp, validate_utf8};
            }
        }

        pub mod x86 {
            pub mod avx2 {
                pub use super::super::{ChunkedUtf8ValidatorImp, Utf8ValidatorImp, validate_utf8};
            }
            pub mod sse42 {
                pub use super::super::{ChunkedUtf8ValidatorImp, Utf8ValidatorImp, validate_utf8};
            }
        }
    }
}

/// Validation with the offset of the error, as in std.
pub mod compat {
    use core::fmt;

    /// Where the input stops being UTF-8. The text is that of simdutf8, which programs search.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Utf8Error(utf8_simd::Utf8Error);

    impl Utf8Error {
        #[inline]
        pub fn valid_up_to(&self) -> usize {
            self.0.valid_up_to()
        }

        #[inline]
        pub fn error_len(&self) -> Option<usize> {
            self.0.error_len()
        }
    }

    impl fmt::Display for Utf8Error {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let index = self.valid_up_to();
            match self.error_len() {
                Some(len) => write!(f, "invalid utf-8 sequence of {len} bytes from index {index}"),
                None => write!(f, "incomplete utf-8 byte sequence from index {index}"),
            }
        }
    }

    impl core::error::Error for Utf8Error {}

    #[inline]
    pub fn from_utf8(input: &[u8]) -> Result<&str, Utf8Error> {
        utf8_simd::from_utf8(input).map_err(Utf8Error)
    }

    #[inline]
    pub fn from_utf8_mut(input: &mut [u8]) -> Result<&mut str, Utf8Error> {
        utf8_simd::from_utf8_mut(input).map_err(Utf8Error)
    }

    /// Validation at one level. Here it is the best one of the machine.
    #[cfg(feature = "public_imp")]
    pub mod imp {
        use super::Utf8Error;

        /// # Safety
        ///
        /// There are no conditions.
        #[inline]
        pub unsafe fn validate_utf8(input: &[u8]) -> Result<(), Utf8Error> {
            super::from_utf8(input).map(drop)
        }

        pub mod aarch64 {
            pub mod neon {
                pub use super::super::validate_utf8;
            }
        }

        pub mod wasm32 {
            pub mod simd128 {
                pub use super::super::validate_utf8;
            }
        }

        pub mod x86 {
            pub mod avx2 {
                pub use super::super::validate_utf8;
            }
            pub mod sse42 {
                pub use super::super::validate_utf8;
            }
        }
    }
}

#[cfg(feature = "public_imp")]
mod stream {
    use crate::basic::Utf8Error;
    use utf8_simd::{PrefixEnd, valid_prefix};

    /// Validates a stream of chunks: what came before is valid, but for an error or the start of a character.
    #[derive(Debug, Default)]
    pub struct Validator {
        start: [u8; 3],
        start_len: usize,
        is_invalid: bool,
    }

    impl Validator {
        #[inline]
        pub fn push(&mut self, mut chunk: &[u8]) {
            if self.start_len > 0 {
                chunk = self.complete(chunk);
            }
            match valid_prefix(chunk).1 {
                PrefixEnd::Input => {}
                PrefixEnd::Incomplete(len) => {
                    self.start[..len].copy_from_slice(&chunk[chunk.len() - len..]);
                    self.start_len = len;
                }
                PrefixEnd::IllFormed(_) => self.is_invalid = true,
            }
        }

        /// Adds bytes to the character that has begun, and returns the others.
        fn complete<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
            let mut character = [0; 4];
            character[..self.start_len].copy_from_slice(&self.start[..self.start_len]);
            for (index, byte) in chunk.iter().enumerate() {
                character[self.start_len] = *byte;
                match valid_prefix(&character[..=self.start_len]).1 {
                    PrefixEnd::Input => {
                        self.start_len = 0;
                        return &chunk[index + 1..];
                    }
                    PrefixEnd::Incomplete(len) => self.start_len = len,
                    PrefixEnd::IllFormed(_) => {
                        self.is_invalid = true;
                        self.start_len = 0;
                        return &[];
                    }
                }
            }
            self.start.copy_from_slice(&character[..3]);
            &[]
        }

        #[inline]
        pub fn finish(&self) -> Result<(), Utf8Error> {
            if self.is_invalid || self.start_len > 0 { Err(Utf8Error) } else { Ok(()) }
        }
    }
}
