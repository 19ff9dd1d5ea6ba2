use core::iter::FusedIterator;

use crate::payload::websocket::MessageError;

/// The text of one piece of payload, then perhaps an error; see
/// [`MessageAssembler::pieces`](crate::payload::websocket::MessageAssembler::pieces).
///
/// Three items at the most: the character that was cut, all other text, the error. Nothing is left
/// undone by who does not ask for them.
///
/// # Examples
///
/// ```
/// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
///
/// let mut connection = MessageAssembler::new();
/// connection.start_frame(Opcode::Text, true, None).unwrap();
/// assert_eq!(connection.pieces(&mut b"\xE2\x82".to_vec()).count(), 0);
///
/// let mut piece = b"\xAC and \xFF".to_vec();
/// let mut pieces = connection.pieces(&mut piece);
/// assert_eq!(pieces.next(), Some(Ok("€")));
/// assert_eq!(pieces.next(), Some(Ok(" and ")));
/// assert_eq!(pieces.next().unwrap().unwrap_err().offset(), Some(8));
/// assert_eq!(pieces.next(), None);
/// ```
#[derive(Clone, Debug)]
pub struct TextPieces<'a> {
    pub(super) cut: Option<&'a str>,
    pub(super) text: &'a str,
    pub(super) error: Option<MessageError>,
}

impl<'a> Iterator for TextPieces<'a> {
    type Item = Result<&'a str, MessageError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(cut) = self.cut.take() {
            return Some(Ok(cut));
        }
        match core::mem::take(&mut self.text) {
            "" => self.error.take().map(Err),
            text => Some(Ok(text)),
        }
    }
}

impl FusedIterator for TextPieces<'_> {}
