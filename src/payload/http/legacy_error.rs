//! What is ill-formed in a body that is not UTF-8?

use std::fmt;

#[cfg(feature = "encoding_rs")]
use crate::core::error::{Utf8Error, Utf8ErrorKind};

/// An ill-formed part of a body in an encoding other than UTF-8.
///
/// Its extent is that of the WHATWG Encoding Standard: the bytes that one U+FFFD replaces. Its offset counts
/// bytes of the body. Without the feature `encoding_rs` there is none.
///
/// # Examples
///
/// ```
/// # #[cfg(not(feature = "encoding_rs"))]
/// # fn main() {}
/// # #[cfg(feature = "encoding_rs")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use bytes::Bytes;
/// use http_body_util::Full;
/// use utf8_codec::payload::http::{BodyError, Charset, Utf8Body};
///
/// let body = Full::<Bytes>::from(&b"\x93\xFA\x96{\xFF"[..]); // "日本", and a byte too many
/// let body = Utf8Body::new(body).with_charset(Charset::from_label("shift_jis").unwrap());
/// let error = body.collect_text(1000).await.unwrap_err();
///
/// let BodyError::Legacy(error) = error else { panic!("{error}") };
/// assert_eq!((error.offset(), error.bytes()), (4, &b"\xFF"[..]));
/// assert_eq!(error.to_string(), "ill-formed Shift_JIS at byte 4 (ff)");
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LegacyError {
    encoding: &'static str,
    offset: u64,
    /// Invariant: bytes from `len` on are zero, so that the derived comparisons hold.
    bytes: [u8; 4],
    len: u8,
}

impl LegacyError {
    /// `part` is one to four bytes.
    #[cfg(feature = "encoding_rs")]
    pub(super) fn new(encoding: &'static str, offset: u64, part: &[u8]) -> Self {
        let mut bytes = [0; 4];
        bytes[..part.len()].copy_from_slice(part);
        Self { encoding, offset, bytes, len: part.len() as u8 }
    }

    /// Returns the name of the encoding in the WHATWG Encoding Standard.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(not(feature = "encoding_rs"))]
    /// # fn main() {}
    /// # #[cfg(feature = "encoding_rs")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # use bytes::Bytes;
    /// # use http_body_util::Full;
    /// # use utf8_codec::payload::http::{BodyError, Charset, Utf8Body};
    /// let body = Utf8Body::new(Full::<Bytes>::from(&b"\xFF"[..]));
    /// let body = body.with_charset(Charset::from_label("korean").unwrap());
    /// let Err(BodyError::Legacy(error)) = body.collect_text(1000).await else { panic!() };
    /// assert_eq!(error.encoding(), "EUC-KR");
    /// # }
    /// ```
    pub fn encoding(&self) -> &'static str {
        self.encoding
    }

    /// Returns the offset of the ill-formed part in the body, in bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(not(feature = "encoding_rs"))]
    /// # fn main() {}
    /// # #[cfg(feature = "encoding_rs")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # use bytes::Bytes;
    /// # use http_body_util::Full;
    /// # use utf8_codec::payload::http::{BodyError, Charset, Utf8Body};
    /// let body = Utf8Body::new(Full::<Bytes>::from(&b"a\0b\0\x00\xDC"[..]));
    /// let body = body.with_charset(Charset::from_label("utf-16").unwrap());
    /// let Err(BodyError::Legacy(error)) = body.collect_text(1000).await else { panic!() };
    /// assert_eq!(error.offset(), 4);
    /// # }
    /// ```
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the bytes of the ill-formed part: one to four.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(not(feature = "encoding_rs"))]
    /// # fn main() {}
    /// # #[cfg(feature = "encoding_rs")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # use bytes::Bytes;
    /// # use http_body_util::Full;
    /// # use utf8_codec::payload::http::{BodyError, Charset, Utf8Body};
    /// let body = Utf8Body::new(Full::<Bytes>::from(&b"\0a\xDC\x00"[..]));
    /// let body = body.with_charset(Charset::from_label("utf-16be").unwrap());
    /// let Err(BodyError::Legacy(error)) = body.collect_text(1000).await else { panic!() };
    /// assert_eq!(error.bytes(), b"\xDC\x00");
    /// # }
    /// ```
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns it as an error of the core, for its repair.
    #[cfg(feature = "encoding_rs")]
    pub(super) fn to_utf8(self) -> Utf8Error {
        Utf8Error::new(self.offset, Utf8ErrorKind::InvalidByte, self.bytes(), None)
    }
}

/// For example `ill-formed Shift_JIS at byte 4 (81 ff)`.
impl fmt::Display for LegacyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ill-formed {} at byte {}", self.encoding, self.offset)?;
        for (i, byte) in self.bytes().iter().enumerate() {
            write!(f, "{}{byte:02x}", if i == 0 { " (" } else { " " })?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for LegacyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LegacyError")
            .field("encoding", &self.encoding)
            .field("offset", &self.offset)
            .field("bytes", &format_args!("{:02x?}", self.bytes()))
            .finish()
    }
}

impl std::error::Error for LegacyError {}
