//! The text of one item: copied only from the first repair on.

use bytestring::ByteString;

use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;

/// The text of one item under construction.
pub(crate) struct Item {
    /// Text that shares the buffer's memory, up to the first repair.
    clean: ByteString,
    /// From the first repair on: a copy of `clean`, and everything after it.
    repaired: Option<String>,
}

impl Item {
    pub(crate) const fn new() -> Self {
        Self { clean: ByteString::new(), repaired: None }
    }

    pub(crate) fn push(&mut self, text: ByteString) {
        if self.clean.is_empty() && self.repaired.is_none() {
            self.clean = text;
        } else {
            self.repaired().push_str(&text);
        }
    }

    pub(crate) fn repair(&mut self, mode: ErrorMode, error: Utf8Error) -> Result<(), Utf8Error> {
        let repair = mode.repair(&error).ok_or(error)?;
        if !repair.is_empty() {
            self.repaired().push_str(&repair);
        }
        Ok(())
    }

    /// Returns the text so far as a copy, to append to.
    pub(crate) fn repaired(&mut self) -> &mut String {
        self.repaired.get_or_insert_with(|| String::from(&*self.clean))
    }

    pub(crate) fn into_text(self) -> ByteString {
        self.repaired.map_or(self.clean, ByteString::from)
    }

    /// Returns the text, or `None` if it is empty.
    #[cfg(any(feature = "codec", feature = "http-body", feature = "stream"))]
    pub(crate) fn into_item(self) -> Option<ByteString> {
        Some(self.into_text()).filter(|text| !text.is_empty())
    }
}
