//! What stands for `legacy` in a build without other encodings: nothing of it can exist.

use bytes::Bytes;

use crate::core::mode::ErrorMode;
use crate::payload::http::LegacyError;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum LegacyEncoding {}

pub(super) fn for_label(_: &[u8]) -> Option<LegacyEncoding> {
    None
}

impl LegacyEncoding {
    pub(super) fn name(self) -> &'static str {
        match self {}
    }
}

#[derive(Debug)]
pub(super) enum Legacy {}

impl Legacy {
    pub(super) fn boxed(encoding: LegacyEncoding) -> Box<Self> {
        match encoding {}
    }

    pub(super) fn push(&mut self, _: Bytes) {
        match *self {}
    }

    pub(super) fn finish(&mut self) {
        match *self {}
    }

    pub(super) fn is_idle(&self) -> bool {
        match *self {}
    }

    pub(super) fn error_count(&self) -> u64 {
        match *self {}
    }

    pub(super) fn first_error(&self) -> Option<(u64, LegacyError)> {
        match *self {}
    }

    pub(super) fn next(&mut self, _: ErrorMode) -> Result<Option<Bytes>, LegacyError> {
        match *self {}
    }
}
