//! Vectorised UTF-8 validation and transcoding, without dependencies.
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod error;
mod offsets;
#[allow(unsafe_code)]
mod simd;
#[allow(unsafe_code)]
pub mod text;
mod transcode;
mod validate;

pub use error::Utf8Error;
pub use offsets::{OffsetsError, from_utf8_offsets};
pub use simd::Level;
pub use transcode::{
    Latin1, Source, Stop, Target, Transcoded, Utf8, Utf16, Utf16Be, Utf16Le, Utf32, transcode,
    transcode_lossy,
};
#[cfg(feature = "alloc")]
pub use transcode::{
    TranscodeError, from_utf8_lossy, transcode_to_string, transcode_to_string_lossy,
    transcode_to_vec, transcode_to_vec_lossy,
};
pub use validate::{
    PrefixEnd, count_chars, from_utf8, from_utf8_mut, is_utf8, unmask, unmask_and_validate,
    utf16_len, valid_prefix, valid_prefix_dense,
};

// For `utf8-codec`.
#[doc(hidden)]
pub use simd::Level as Kernel;
#[doc(hidden)]
pub use simd::{
    BLOCK, BlockErrors, ErrorLen, NulForm, Sequence, Validated, begins_nothing, decode_char,
    error_at_start, sequence, sequence_len, surrogate_pair,
};
