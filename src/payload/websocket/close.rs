use bytes::{BufMut, Bytes, BytesMut};
use bytestring::ByteString;

use crate::core::boundary;
use crate::core::decoder::Utf8Decoder;
use crate::payload::websocket::{MessageError, ProtocolError};

/// What a close frame says: a code, and a reason in words (RFC 6455 section 5.5.1).
///
/// The codes that may stand in a close frame are 1000 to 1003, 1007 to 1014 (the last three were added
/// to the registry later), and 3000 to 4999. The others are reserved, or stand for closings without a
/// code.
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
/// # Ok::<(), utf8_codec::payload::websocket::ProtocolError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClosePayload {
    /// Invariant: one that may be sent.
    code: u16,
    /// Invariant: at most 123 bytes.
    reason: ByteString,
}

/// The most bytes that a control frame has room for.
pub(super) const MAX_CONTROL: usize = 125;

const MAX_REASON: usize = MAX_CONTROL - 2;

impl ClosePayload {
    /// Creates a payload. Of a reason with more than 123 bytes, for which a control frame has no room,
    /// it takes as many whole characters as fit.
    ///
    /// # Errors
    ///
    /// [`ProtocolError::CloseCode`] where the code must not be sent.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{ClosePayload, ProtocolError};
    ///
    /// assert_eq!(ClosePayload::new(4000, "€".repeat(99))?.reason(), "€".repeat(41));
    /// assert_eq!(ClosePayload::new(1006, ""), Err(ProtocolError::CloseCode(1006)));
    /// # Ok::<(), ProtocolError>(())
    /// ```
    pub fn new(code: u16, reason: impl AsRef<str>) -> Result<Self, ProtocolError> {
        check_code(code)?;
        Ok(Self::allowed(code, reason.as_ref()))
    }

    /// As [`new`](Self::new) with a code that may be sent.
    pub(super) fn allowed(code: u16, reason: &str) -> Self {
        debug_assert!(check_code(code).is_ok());
        Self { code, reason: ByteString::from(boundary::truncate(reason, MAX_REASON)) }
    }

    /// Reads the payload of a close frame, unmasked; `None` where it is empty and says nothing.
    ///
    /// The reason shares the memory of `payload`.
    ///
    /// # Errors
    ///
    /// [`MessageError::Reason`] where the reason is not UTF-8, [`MessageError::Protocol`] where the code
    /// is cut or must not be sent, or where there is more than a control frame may have.
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
            [_] => return Err(ProtocolError::TruncatedCloseCode.into()),
            _ if payload.len() > MAX_CONTROL => return Err(ProtocolError::LongControl.into()),
            [high, low, ..] => u16::from_be_bytes([high, low]),
        };
        check_code(code)?;
        let mut decoder = Utf8Decoder::new();
        let mut reason = ByteString::new();
        // Up to an error it is one piece of text.
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

    /// Returns the bytes for a close frame, not masked: at most 125.
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

fn check_code(code: u16) -> Result<(), ProtocolError> {
    match code {
        1000..=1003 | 1007..=1014 | 3000..=4999 => Ok(()),
        _ => Err(ProtocolError::CloseCode(code)),
    }
}
