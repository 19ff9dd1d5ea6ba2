use std::borrow::Cow;
use std::{mem, slice};

use bytestring::ByteString;

use super::MIN_SHARED;
use sealed::Sealed;

pub(super) use sealed::Item;

/// What a [`Utf8Writer`](super::Utf8Writer) takes: text, a character, or UTF-16 units.
///
/// Implemented for `char`, `&str`, `&String`, `String`, `Cow<str>`, [`ByteString`], `u16`, `&[u16]` and
/// `Vec<u16>`, and for nothing else.
///
/// # Examples
///
/// ```
/// use futures::SinkExt;
/// use utf8_codec::stream::{Utf8WriteExt, WriteError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), WriteError> {
/// let mut writer = Vec::new().utf8_writer();
/// writer.feed("one ").await?;
/// writer.feed(String::from("two ")).await?;
/// writer.feed('3').await?;
/// writer.feed(0xD83D).await?; // the first half of a pair
/// writer.send(&[0xDC4B][..]).await?; // and the second
/// assert_eq!(writer.into_inner(), "one two 3👋".as_bytes());
/// # Ok(())
/// # }
/// ```
pub trait Utf8Item: Sealed {}

/// Keeps others from implementing [`Utf8Item`].
mod sealed {
    use bytestring::ByteString;

    pub trait Sealed {
        /// What the writer takes; nothing that can be moved is left behind.
        fn take(&mut self) -> Item<'_>;
    }

    #[derive(Clone, Debug)]
    pub enum Item<'a> {
        Char(char),
        Str(&'a str),
        Text(ByteString),
        Units(&'a [u16]),
    }
}

impl Utf8Item for char {}
impl Sealed for char {
    fn take(&mut self) -> Item<'_> {
        Item::Char(*self)
    }
}

impl Utf8Item for &str {}
impl Sealed for &str {
    fn take(&mut self) -> Item<'_> {
        Item::Str(self)
    }
}

impl Utf8Item for &String {}
impl Sealed for &String {
    fn take(&mut self) -> Item<'_> {
        Item::Str(self)
    }
}

impl Utf8Item for String {}
impl Sealed for String {
    fn take(&mut self) -> Item<'_> {
        // A short one would be copied all the same.
        match self.len() < MIN_SHARED {
            true => Item::Str(self),
            false => Item::Text(mem::take(self).into()),
        }
    }
}

impl Utf8Item for Cow<'_, str> {}
impl Sealed for Cow<'_, str> {
    fn take(&mut self) -> Item<'_> {
        match self {
            Self::Borrowed(text) => text.take(),
            Self::Owned(text) => text.take(),
        }
    }
}

impl Utf8Item for ByteString {}
impl Sealed for ByteString {
    fn take(&mut self) -> Item<'_> {
        Item::Text(mem::take(self))
    }
}

impl Utf8Item for u16 {}
impl Sealed for u16 {
    fn take(&mut self) -> Item<'_> {
        Item::Units(slice::from_ref(self))
    }
}

impl Utf8Item for &[u16] {}
impl Sealed for &[u16] {
    fn take(&mut self) -> Item<'_> {
        Item::Units(self)
    }
}

impl Utf8Item for Vec<u16> {}
impl Sealed for Vec<u16> {
    fn take(&mut self) -> Item<'_> {
        Item::Units(self)
    }
}
