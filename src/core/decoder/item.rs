//! The text of one item, copied from the first repair on.

use bytestring::ByteString;

use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;

/// The text of one item in the making.
pub(crate) struct Item {
    /// The buffer's own text, for as long as nothing has to be repaired.
    clean: ByteString,
    /// From the first repair on a copy of it, and all that follows.
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

    /// The text so far, to be appended to: from here on it is a copy.
    pub(crate) fn repaired(&mut self) -> &mut String {
        self.repaired.get_or_insert_with(|| String::from(&*self.clean))
    }

    pub(crate) fn into_text(self) -> ByteString {
        self.repaired.map_or(self.clean, ByteString::from)
    }

    /// The text, unless it is empty.
    pub(crate) fn into_item(self) -> Option<ByteString> {
        Some(self.into_text()).filter(|text| !text.is_empty())
    }
}
