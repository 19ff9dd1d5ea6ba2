//! What is ill-formed in a body that is not UTF-8?

use bytes::Bytes;

#[cfg(feature = "encoding_rs")]
use crate::core::error::{Utf8Error, Utf8ErrorKind};
use crate::payload::http::BodyError;

/// An ill-formed part of a body in an encoding other than UTF-8. It holds no heap memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct LegacyError {
    encoding: &'static str,
    offset: u64,
    bytes: [u8; 4],
    len: u8,
}

impl LegacyError {
    /// Creates an error. `part` has one to four bytes.
    #[cfg(feature = "encoding_rs")]
    pub(super) fn new(encoding: &'static str, offset: u64, part: &[u8]) -> Self {
        let mut bytes = [0; 4];
        bytes[..part.len()].copy_from_slice(part);
        Self { encoding, offset, bytes, len: part.len() as u8 }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Converts the error to an error of the core, for its repair.
    #[cfg(feature = "encoding_rs")]
    pub(super) fn to_utf8(self) -> Utf8Error {
        Utf8Error::new(self.offset, Utf8ErrorKind::InvalidByte, self.bytes(), None)
    }
}

impl From<LegacyError> for BodyError {
    fn from(error: LegacyError) -> Self {
        let LegacyError { encoding, offset, .. } = error;
        Self::Legacy { encoding, offset, bytes: Bytes::copy_from_slice(error.bytes()) }
    }
}
