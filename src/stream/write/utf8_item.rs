//! What can be written to a `Utf8Writer`?

use std::borrow::Cow;
use std::mem;

use bytestring::ByteString;

use super::utf8_writer::MIN_SHARED;

/// Something that a [`Utf8Writer`](super::Utf8Writer) takes, as its `Sink`s list it.
pub(super) trait Utf8Item {
    /// Returns what the writer takes, moving it out if it is owned.
    fn take(&mut self) -> Item<'_>;
}

#[derive(Clone, Debug)]
pub(super) enum Item<'a> {
    Char(char),
    Str(&'a str),
    Text(ByteString),
    Units(&'a [u16]),
}

impl Utf8Item for char {
    fn take(&mut self) -> Item<'_> {
        Item::Char(*self)
    }
}

impl Utf8Item for &str {
    fn take(&mut self) -> Item<'_> {
        Item::Str(self)
    }
}

impl Utf8Item for &String {
    fn take(&mut self) -> Item<'_> {
        Item::Str(self)
    }
}

impl Utf8Item for String {
    fn take(&mut self) -> Item<'_> {
        // A short one would be copied anyway.
        match self.len() < MIN_SHARED {
            true => Item::Str(self),
            false => Item::Text(mem::take(self).into()),
        }
    }
}

impl Utf8Item for Cow<'_, str> {
    fn take(&mut self) -> Item<'_> {
        match self {
            Self::Borrowed(text) => text.take(),
            Self::Owned(text) => text.take(),
        }
    }
}

impl Utf8Item for ByteString {
    fn take(&mut self) -> Item<'_> {
        Item::Text(mem::take(self))
    }
}

impl Utf8Item for &[u16] {
    fn take(&mut self) -> Item<'_> {
        Item::Units(self)
    }
}

impl Utf8Item for Vec<u16> {
    fn take(&mut self) -> Item<'_> {
        Item::Units(self)
    }
}
