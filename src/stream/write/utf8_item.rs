//! What can be written to a `Utf8Writer`?

use std::borrow::Cow;
use std::mem;

use bytestring::ByteString;

use super::utf8_writer::MIN_SHARED;
use sealed::Sealed;

pub(super) use sealed::Item;

/// An item that a [`Utf8Writer`](super::Utf8Writer) takes: text, a `char`, or UTF-16 units.
///
/// Implemented for `char`, `&str`, `&String`, `String`, `Cow<str>`, [`ByteString`], `&[u16]` and
/// `Vec<u16>`. It is sealed.
///
/// # Examples
///
/// ```
/// use futures::SinkExt;
/// use utf8_codec::stream::Utf8Writer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut writer = Utf8Writer::new(Vec::new());
/// writer.feed("one ").await?;
/// writer.feed(String::from("two ")).await?;
/// writer.feed('3').await?;
/// writer.feed(vec![0xD83D]).await?; // a high surrogate
/// writer.send(&[0xDC4B][..]).await?; // its low surrogate
/// assert_eq!(writer.into_inner(), "one two 3👋".as_bytes());
/// # Ok(())
/// # }
/// ```
pub trait Utf8Item: Sealed {}

/// Seals [`Utf8Item`].
mod sealed {
    use bytestring::ByteString;

    pub trait Sealed {
        /// Returns what the writer takes, moving it out if it is owned.
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
        // A short one would be copied anyway.
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
