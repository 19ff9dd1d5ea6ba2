use bytestring::ByteString;

use crate::error::Utf8Error;
use crate::mode::ErrorMode;

/// The text of one item in the making.
pub(crate) enum Item {
    /// The buffer's own, for as long as nothing has to be repaired.
    Clean(ByteString),
    Repaired(String),
}

impl Item {
    pub(crate) const fn new() -> Self {
        Self::Clean(ByteString::new())
    }

    pub(crate) fn push(&mut self, text: ByteString) {
        match self {
            Self::Clean(clean) if clean.is_empty() => *clean = text,
            _ => self.repaired().push_str(&text),
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
        if let Self::Clean(clean) = self {
            *self = Self::Repaired(String::from(&**clean));
        }
        match self {
            Self::Repaired(text) => text,
            Self::Clean(_) => unreachable!("made a copy above"),
        }
    }

    pub(crate) fn into_text(self) -> ByteString {
        match self {
            Self::Clean(text) => text,
            Self::Repaired(text) => text.into(),
        }
    }

    /// The text, unless it is empty.
    pub(crate) fn into_item(self) -> Option<ByteString> {
        Some(self.into_text()).filter(|text| !text.is_empty())
    }
}
