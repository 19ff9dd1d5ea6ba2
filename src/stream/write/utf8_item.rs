//! What can be written to a `Utf8Writer`?

use std::borrow::Cow;
use std::mem;

use bytestring::ByteString;

use super::utf8_writer::MIN_SHARED;

/// An item that a [`Utf8Writer`](super::Utf8Writer) accepts: one of the item types of its `Sink`s.
pub(super) trait Utf8Item {
    /// Returns the content of the item. Owned content is moved out.
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
        // A short text is copied in any case.
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
