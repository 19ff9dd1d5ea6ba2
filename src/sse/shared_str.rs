//! Text that many events have in common.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

/// Text that events share: a clone allocates and copies nothing.
///
/// # Examples
///
/// ```
/// use utf8_codec::sse::SharedStr;
///
/// let id = SharedStr::from("7");
/// assert_eq!((&*id, &id.clone()), ("7", &id));
/// assert_eq!(SharedStr::default(), "");
/// ```
#[derive(Clone)]
pub struct SharedStr(Text);

#[derive(Clone)]
enum Text {
    // A thin pointer: the enum is no larger than the `Arc`.
    Static(&'static &'static str),
    Shared(Arc<str>),
}

impl SharedStr {
    pub(super) const EMPTY: Self = Self(Text::Static(&""));
    pub(super) const MESSAGE: Self = Self(Text::Static(&"message"));
}

impl Deref for SharedStr {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match &self.0 {
            Text::Static(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl Default for SharedStr {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Copies the text, unless it is empty.
impl From<&str> for SharedStr {
    fn from(text: &str) -> Self {
        if text.is_empty() { Self::default() } else { Self(Text::Shared(text.into())) }
    }
}

impl From<String> for SharedStr {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<Arc<str>> for SharedStr {
    fn from(text: Arc<str>) -> Self {
        Self(Text::Shared(text))
    }
}

impl AsRef<str> for SharedStr {
    fn as_ref(&self) -> &str {
        self
    }
}

impl PartialEq for SharedStr {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for SharedStr {}

impl PartialEq<str> for SharedStr {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for SharedStr {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl Hash for SharedStr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for SharedStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for SharedStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
