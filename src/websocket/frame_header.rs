//! How is the header of a frame parsed and encoded?

use crate::websocket::{MessageError, message::MAX_CONTROL};

/// The header of a frame (RFC 6455 section 5.2): two to fourteen bytes.
///
/// It does no I/O and holds no heap memory. [`parse`](Self::parse) takes the bytes that a connection has
/// received, [`encode`](Self::encode) writes into an array. A value of this type follows every rule of
/// section 5.2. A client must mask its frames, a server must not (section 5.1):
/// [`parse_from_client`](Self::parse_from_client) and [`parse_from_server`](Self::parse_from_server) check
/// this as well.
///
/// # Examples
///
/// A server that reads one frame:
///
/// ```
/// use utf8_codec::websocket::{FrameHeader, Message, MessageAssembler};
///
/// let mut received = *b"\x81\x85\x37\xFA\x21\x3D\x7F\x9F\x4D\x51\x58";
/// let mut connection = MessageAssembler::new();
///
/// assert_eq!(FrameHeader::parse_from_client(&received[..5])?, None); // one byte is missing
/// let (header, len) = FrameHeader::parse_from_client(&received)?.unwrap();
/// assert_eq!((header.payload_length(), len), (5, 6));
/// connection.start(&header)?;
/// connection.push(&mut received[len..])?;
/// assert_eq!(connection.end_frame()?, Some(Message::Text("Hello".into())));
/// # Ok::<(), utf8_codec::websocket::MessageError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameHeader {
    /// Invariant: for a control opcode, `fin` is set and `payload_length` is at most 125.
    opcode: Opcode,
    fin: bool,
    mask: Option<[u8; 4]>,
    /// Invariant: below 2^63.
    payload_length: u64,
}

const FIN: u8 = 0x80;
const RESERVED: u8 = 0x70;
const MASKED: u8 = 0x80;
/// The values of the seven-bit length that announce a length of two or of eight bytes.
const TWO_BYTES: u8 = 126;
const EIGHT_BYTES: u8 = 127;

impl FrameHeader {
    /// The length of the longest header, in bytes.
    pub const MAX_LENGTH: usize = 14;

    /// Creates the header of a frame. `fin` marks the last frame of a message.
    ///
    /// # Errors
    ///
    /// [`FragmentedControl`](MessageError::FragmentedControl) and
    /// [`LongControl`](MessageError::LongControl) for a control frame without FIN or of more than 125
    /// bytes, [`FrameLength`](MessageError::FrameLength) for a payload of 2^63 bytes or more.
    pub const fn new(
        opcode: Opcode,
        fin: bool,
        mask: Option<[u8; 4]>,
        payload_length: u64,
    ) -> Result<Self, MessageError> {
        if opcode.is_control() && !fin {
            return Err(MessageError::FragmentedControl);
        }
        if opcode.is_control() && payload_length > MAX_CONTROL as u64 {
            return Err(MessageError::LongControl);
        }
        if payload_length > u64::MAX >> 1 {
            return Err(MessageError::FrameLength);
        }
        Ok(Self { opcode, fin, mask, payload_length })
    }

    /// Parses the header at the start of `bytes`. Returns it with its own length in bytes, or `None` if it
    /// is incomplete. The bytes after it are not read.
    ///
    /// # Errors
    ///
    /// An error is returned as soon as no further bytes could complete a header:
    /// [`ReservedBits`](MessageError::ReservedBits), [`ReservedOpcode`](MessageError::ReservedOpcode),
    /// [`FragmentedControl`](MessageError::FragmentedControl), [`LongControl`](MessageError::LongControl),
    /// and [`FrameLength`](MessageError::FrameLength) for a length that is not in its shortest form or has
    /// its highest bit set. The close code of all of them is 1002.
    ///
    /// Extensions give reserved bits a meaning. If you negotiate one, clear its bits first.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::websocket::{FrameHeader, MessageError, Opcode};
    ///
    /// let (header, len) = FrameHeader::parse(b"\x82\x7E\x01\x00payload")?.unwrap();
    /// assert_eq!((header.opcode(), header.payload_length(), len), (Opcode::Binary, 256, 4));
    /// assert_eq!(FrameHeader::parse(b"\x82\x7E\x01")?, None);
    /// assert_eq!(FrameHeader::parse(b"\x09"), Err(MessageError::FragmentedControl));
    /// assert_eq!(FrameHeader::parse(b"\x82\x7E\x00\x05"), Err(MessageError::FrameLength));
    /// # Ok::<(), MessageError>(())
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, MessageError> {
        Self::parse_with(bytes, None)
    }

    /// Like [`parse`](Self::parse), for a frame from a client. Use it in a server. A client must mask
    /// every frame (section 5.1).
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse), and [`NotMasked`](MessageError::NotMasked) for a frame that is not
    /// masked.
    pub fn parse_from_client(bytes: &[u8]) -> Result<Option<(Self, usize)>, MessageError> {
        Self::parse_with(bytes, Some(true))
    }

    /// Like [`parse`](Self::parse), for a frame from a server. Use it in a client. A server must not mask
    /// a frame (section 5.1).
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse), and [`Masked`](MessageError::Masked) for a frame that is masked.
    pub fn parse_from_server(bytes: &[u8]) -> Result<Option<(Self, usize)>, MessageError> {
        Self::parse_with(bytes, Some(false))
    }

    /// `must_be_masked` is `None` if both are accepted.
    fn parse_with(
        bytes: &[u8],
        must_be_masked: Option<bool>,
    ) -> Result<Option<(Self, usize)>, MessageError> {
        let Some(&first) = bytes.first() else { return Ok(None) };
        if first & RESERVED != 0 {
            return Err(MessageError::ReservedBits);
        }
        let (opcode, fin) = (Opcode::try_from(first & 0x0F)?, first & FIN != 0);
        if opcode.is_control() && !fin {
            return Err(MessageError::FragmentedControl);
        }
        let Some(&second) = bytes.get(1) else { return Ok(None) };
        let (is_masked, short) = (second & MASKED != 0, second & !MASKED);
        match must_be_masked {
            Some(true) if !is_masked => return Err(MessageError::NotMasked),
            Some(false) if is_masked => return Err(MessageError::Masked),
            _ => {}
        }
        if opcode.is_control() && usize::from(short) > MAX_CONTROL {
            return Err(MessageError::LongControl);
        }
        let Some((payload_length, after)) = parse_length(short, &bytes[2..])? else {
            return Ok(None);
        };
        let (mask, after) = match after.split_first_chunk() {
            _ if !is_masked => (None, after),
            Some((mask, after)) => (Some(*mask), after),
            None => return Ok(None),
        };
        let header = Self { opcode, fin, mask, payload_length };
        Ok(Some((header, bytes.len() - after.len())))
    }

    /// Writes the header to the start of `out`, with the length in its shortest form, and returns it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::websocket::{FrameHeader, MessageError, Opcode};
    ///
    /// let mut out = [0; FrameHeader::MAX_LENGTH];
    /// let header = FrameHeader::new(Opcode::Text, false, Some(*b"mask"), 70_000)?;
    /// assert_eq!(header.encode(&mut out), b"\x01\xFF\0\0\0\0\0\x01\x11\x70mask");
    /// # Ok::<(), MessageError>(())
    /// ```
    pub fn encode<'a>(&self, out: &'a mut [u8; Self::MAX_LENGTH]) -> &'a [u8] {
        let long = self.payload_length.to_be_bytes();
        let (short, more) = match self.payload_length {
            0..126 => (long[7], &[][..]),
            126..0x1_0000 => (TWO_BYTES, &long[6..]),
            0x1_0000.. => (EIGHT_BYTES, &long[..]),
        };
        let mask = self.mask.as_ref().map_or(&[][..], |mask| mask);
        out[0] = u8::from(self.opcode) | if self.fin { FIN } else { 0 };
        out[1] = short | if self.mask.is_some() { MASKED } else { 0 };
        let (end_of_length, end) = (2 + more.len(), 2 + more.len() + mask.len());
        out[2..end_of_length].copy_from_slice(more);
        out[end_of_length..end].copy_from_slice(mask);
        &out[..end]
    }

    /// Returns the opcode.
    pub const fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// Returns whether this is the last frame of its message.
    pub const fn fin(&self) -> bool {
        self.fin
    }

    /// Returns the masking key, if the payload is masked.
    pub const fn mask(&self) -> Option<[u8; 4]> {
        self.mask
    }

    /// Returns the length of the payload, in bytes. It is below 2^63, and at most 125 for a control frame.
    pub const fn payload_length(&self) -> u64 {
        self.payload_length
    }
}

/// Parses the length of the payload and returns the bytes after it; `None` if it is incomplete. `short` is the
/// seven-bit length.
///
/// ```text
/// length = %x00-7D                      ; 0 to 125
///        / %x7E  2OCTET                 ; 126 to 65,535
///        / %x7F  %x00-7F 7OCTET         ; 65,536 to 2^63 - 1
/// ```
fn parse_length(short: u8, bytes: &[u8]) -> Result<Option<(u64, &[u8])>, MessageError> {
    match short {
        TWO_BYTES => match bytes {
            [0, 0..=125, ..] => Err(MessageError::FrameLength),
            [a, b, after @ ..] => Ok(Some((u64::from(u16::from_be_bytes([*a, *b])), after))),
            _ => Ok(None),
        },
        EIGHT_BYTES => match bytes {
            [0x80..=0xFF, ..] | [0, 0, 0, 0, 0, 0, ..] => Err(MessageError::FrameLength),
            _ => Ok(bytes
                .split_first_chunk()
                .map(|(long, after)| (u64::from_be_bytes(*long), after))),
        },
        short => Ok(Some((u64::from(short), bytes))),
    }
}

/// The opcode of a frame (RFC 6455 section 5.2).
///
/// # Examples
///
/// ```
/// use utf8_codec::websocket::{MessageError, Opcode};
///
/// let header = [0x81, 0x05];
/// assert_eq!(Opcode::try_from(header[0] & 0x0F), Ok(Opcode::Text));
/// assert_eq!(Opcode::try_from(0x3), Err(MessageError::ReservedOpcode(0x3)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// Continues the message.
    Continuation = 0x0,
    /// A text message, or the first frame of one.
    Text = 0x1,
    /// A binary message, or the first frame of one.
    Binary = 0x2,
    /// The last frame of the connection.
    Close = 0x8,
    /// Answer it with a pong.
    Ping = 0x9,
    /// The answer to a ping.
    Pong = 0xA,
}

impl Opcode {
    /// Returns whether this is a control frame: close, ping or pong. Control frames are never
    /// fragmented, can come between the frames of a message, and have at most 125 bytes of payload.
    pub const fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// Converts from the four bits of the header.
impl TryFrom<u8> for Opcode {
    type Error = MessageError;

    fn try_from(bits: u8) -> Result<Self, MessageError> {
        Ok(match bits {
            0x0 => Self::Continuation,
            0x1 => Self::Text,
            0x2 => Self::Binary,
            0x8 => Self::Close,
            0x9 => Self::Ping,
            0xA => Self::Pong,
            reserved => return Err(MessageError::ReservedOpcode(reserved)),
        })
    }
}

/// Converts to the four bits of the header.
impl From<Opcode> for u8 {
    fn from(opcode: Opcode) -> Self {
        opcode as Self
    }
}
