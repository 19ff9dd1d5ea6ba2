//! WIP
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;

mod bom;
#[cfg(feature = "codec")]
pub mod codec;
mod decoder;
mod encoder;
mod error;
mod incomplete;
#[allow(unsafe_code)]
mod kernel;
mod mode;
mod options;
#[cfg(feature = "bytes")]
mod owned;
mod scanner;
mod strictness;
mod tally;
#[allow(unsafe_code)]
mod text;
mod transcode;
mod validator;

pub use bom::BomPolicy;
pub use decoder::{Pieces, Utf8Decoder};
pub use encoder::Utf8Encoder;
pub use error::{Utf8Error, Utf8ErrorKind};
pub use kernel::Kernel;
#[doc(hidden)]
pub use kernel::{Stop, Why};
pub use mode::{ErrorMode, Repair};
pub use options::Utf8Options;
#[cfg(feature = "bytes")]
pub use owned::OwnedPieces;
pub use strictness::Strictness;
pub use transcode::{Progress, Status};
pub use validator::Utf8Validator;
