//! Vectorised UTF-8 validation and transcoding, without dependencies.
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;

mod simd;
pub mod text;

// Until the callers are renamed.
#[doc(hidden)]
pub use simd::Level as Kernel;
pub use simd::{
    BLOCK_ERRORS_LEN, BlockErrors, ErrorLen, Level, NulForm, Sequence, Validated, begins_nothing,
    decode_char, error_at_start, sequence, sequence_len, surrogate_pair,
};
