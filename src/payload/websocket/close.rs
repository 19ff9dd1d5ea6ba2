//! What does a close frame contain?

use bytes::{BufMut, Bytes, BytesMut};
use bytestring::ByteString;

use crate::core::boundary;
use crate::core::decoder::Utf8Decoder;
use crate::payload::websocket::MessageError;

/// The payload of a close frame: a code and a reason (RFC 6455 section 5.5.1).
///
/// The codes that can be sent are 1000 to 1003, 1007 to 1014 (the last three were added to the IANA
/// registry later), and 3000 to 4999. The others are reserved, or describe a connection that closed
/// without a code.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use utf8_codec::payload::websocket::ClosePayload;
///
/// let payload = ClosePayload::new(1001, "going home")?;
/// assert_eq!(payload.to_bytes(), b"\x03\xE9going home"[..]);
///
/// let parsed = ClosePayload::parse(Bytes::from_static(b"\x03\xE9going home")).unwrap();
/// assert_eq!(parsed, Some(payload));
/// # Ok::<(), utf8_codec::payload::websocket::MessageError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClosePayload {
    /// Invariant: it can be sent.
    code: u16,
    /// Invariant: at most 123 bytes.
    reason: ByteString,
}

/// The maximum payload of a control frame, in bytes.
pub(super) const MAX_CONTROL: usize = 125;

const MAX_REASON: usize = MAX_CONTROL - 2;

impl ClosePayload {
    /// Creates a payload. A reason of more than 123 bytes, the maximum in a control frame, is
    /// truncated after the last whole character that fits.
    ///
    /// # Errors
    ///
    /// [`MessageError::CloseCode`] if the code must not be sent.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{ClosePayload, MessageError};
    ///
    /// assert_eq!(ClosePayload::new(4000, "€".repeat(99))?.reason(), "€".repeat(41));
    /// assert_eq!(ClosePayload::new(1006, ""), Err(MessageError::CloseCode(1006)));
    /// # Ok::<(), MessageError>(())
    /// ```
    pub fn new(code: u16, reason: impl AsRef<str>) -> Result<Self, MessageError> {
        check_code(code)?;
        Ok(Self::allowed(code, reason.as_ref()))
    }

    /// Like [`new`](Self::new), for a code that can be sent.
    pub(super) fn allowed(code: u16, reason: &str) -> Self {
        debug_assert!(check_code(code).is_ok());
        Self { code, reason: ByteString::from(boundary::truncate(reason, MAX_REASON)) }
    }

    /// Parses the unmasked payload of a close frame. Returns `None` if it is empty.
    ///
    /// The reason shares the memory of `payload`.
    ///
    /// # Errors
    ///
    /// [`MessageError::Reason`] if the reason is not UTF-8, [`MessageError::TruncatedCloseCode`] or
    /// [`MessageError::CloseCode`] for the code, [`MessageError::LongControl`] for more than 125 bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use utf8_codec::payload::websocket::ClosePayload;
    ///
    /// let parse = |payload| ClosePayload::parse(Bytes::from_static(payload));
    /// assert_eq!(parse(b""), Ok(None));
    /// assert_eq!(parse(b"\x03").unwrap_err().close_code(), 1002);
    /// assert_eq!(parse(b"\x03\xEE").unwrap_err().close_code(), 1002); // 1006
    /// assert_eq!(parse(b"\x03\xE8\xED\xA0\x80").unwrap_err().close_code(), 1007);
    /// ```
    pub fn parse(payload: Bytes) -> Result<Option<Self>, MessageError> {
        let code = match *payload {
            [] => return Ok(None),
            [_] => return Err(MessageError::TruncatedCloseCode),
            _ if payload.len() > MAX_CONTROL => return Err(MessageError::LongControl),
            [high, low, ..] => u16::from_be_bytes([high, low]),
        };
        check_code(code)?;
        let mut decoder = Utf8Decoder::new();
        let mut reason = ByteString::new();
        // Before an error there is at most one piece of text.
        for piece in decoder.push_bytes(payload.slice(2..)) {
            reason = piece.map_err(MessageError::Reason)?;
        }
        decoder.finish().map_err(MessageError::Reason)?;
        Ok(Some(Self { code, reason }))
    }

    /// Returns the code.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::ClosePayload;
    ///
    /// assert_eq!(ClosePayload::new(1000, "").unwrap().code(), 1000);
    /// ```
    pub const fn code(&self) -> u16 {
        self.code
    }

    /// Returns the reason, which may be empty.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::ClosePayload;
    ///
    /// assert_eq!(ClosePayload::new(1000, "done").unwrap().reason(), "done");
    /// ```
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the payload for a close frame: at most 125 bytes, not masked.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::ClosePayload;
    ///
    /// assert_eq!(ClosePayload::new(3000, "ß").unwrap().to_bytes(), b"\x0B\xB8\xC3\x9F"[..]);
    /// ```
    pub fn to_bytes(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(2 + self.reason.len());
        bytes.put_u16(self.code);
        bytes.put_slice(self.reason.as_bytes());
        bytes.freeze()
    }
}

fn check_code(code: u16) -> Result<(), MessageError> {
    match code {
        1000..=1003 | 1007..=1014 | 3000..=4999 => Ok(()),
        _ => Err(MessageError::CloseCode(code)),
    }
}
