use bytestring::ByteString;

use crate::error::Utf8Error;
use crate::mode::ErrorMode;

/// One item in the making: the buffer's own text for as long as nothing has to be repaired.
#[derive(Default)]
pub(crate) struct Item {
    clean: ByteString,
    /// What followed the clean text, from the first repair on.
    repaired: String,
}

impl Item {
    pub(crate) fn push(&mut self, text: ByteString) {
        if self.clean.is_empty() && self.repaired.is_empty() {
            self.clean = text;
        } else {
            self.repaired.push_str(&text);
        }
    }

    pub(crate) fn repair(&mut self, mode: ErrorMode, error: Utf8Error) -> Result<(), Utf8Error> {
        self.repaired.push_str(&mode.repair(&error).ok_or(error)?);
        Ok(())
    }

    /// What follows the text pushed so far, to be appended to.
    #[cfg(feature = "stream")]
    pub(crate) fn repaired(&mut self) -> &mut String {
        &mut self.repaired
    }

    pub(crate) fn into_text(mut self) -> Option<ByteString> {
        if !self.repaired.is_empty() {
            self.repaired.insert_str(0, &self.clean);
            return Some(self.repaired.into());
        }
        (!self.clean.is_empty()).then_some(self.clean)
    }
}
