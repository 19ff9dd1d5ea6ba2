use core::iter::FusedIterator;

use bytes::Bytes;
use bytestring::ByteString;

use crate::core::carry::Resumed;
use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::scanner::{Scanner, Step};
use crate::unchecked::{Ending, SplitTo, take_text};

/// Owned pieces, without copying.
impl Utf8Decoder {
    /// Decodes the next chunk of the stream, as [`push`](Self::push) does, into text that shares
    /// the chunk's memory.
    ///
    /// Only a character that was cut is copied. A small piece keeps the whole chunk's memory alive;
    /// `ByteString::from(&*piece)` copies it out. At the end of the stream, call
    /// [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// Each ill-formed part is an `Err` in its place. Decoding goes on behind it.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use utf8_codec::Utf8Decoder;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut text = String::new();
    /// for chunk in [&b"Zeich\xE2\x82"[..], b"\xAC", b"n"] {
    ///     for piece in decoder.push_bytes(Bytes::from_static(chunk)) {
    ///         text.push_str(&piece.unwrap());
    ///     }
    /// }
    /// decoder.finish().unwrap();
    /// assert_eq!(text, "Zeich€n");
    /// ```
    pub fn push_bytes(&mut self, chunk: Bytes) -> OwnedPieces<'_> {
        OwnedPieces { decoder: self, input: chunk }
    }
}

/// The text and the errors of one chunk, in order; see [`Utf8Decoder::push_bytes`].
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use utf8_codec::Utf8Decoder;
///
/// let chunk = Bytes::from_static(b"ab\xFFcd");
/// let mut decoder = Utf8Decoder::new();
/// let mut pieces = decoder.push_bytes(chunk.clone());
/// let first = pieces.next().unwrap().unwrap();
/// assert_eq!(first.as_ptr(), chunk.as_ptr()); // not a copy
/// assert_eq!(pieces.into_rest(), b"\xFFcd"[..]);
/// ```
#[derive(Debug)]
#[must_use = "bytes are consumed as the iterator is asked for pieces"]
pub struct OwnedPieces<'a> {
    decoder: &'a mut Utf8Decoder,
    input: Bytes,
}

impl OwnedPieces<'_> {
    /// Returns the bytes of the chunk that have not been consumed, for a caller who breaks off.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use utf8_codec::Utf8Decoder;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut pieces = decoder.push_bytes(Bytes::from_static(b"text\xFFbinary"));
    /// while let Some(Ok(text)) = pieces.next() {
    ///     assert_eq!(text, "text");
    /// }
    /// assert_eq!(pieces.into_rest(), b"binary"[..]);
    /// ```
    pub fn into_rest(self) -> Bytes {
        self.input
    }
}

impl Iterator for OwnedPieces<'_> {
    type Item = Result<ByteString, Utf8Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { decoder, input } = self;
        while !input.is_empty() {
            if !decoder.incomplete().is_empty() {
                let (used, resumed) = decoder.resume(input);
                let _consumed = input.split_to(used);
                match resumed {
                    Resumed::Nothing => continue,
                    Resumed::Char(c) => {
                        return Some(Ok(ByteString::from(&*c.encode_utf8(&mut [0; 4]))));
                    }
                    Resumed::Error(error) => return Some(Err(error)),
                }
            }
            match step_owned(&mut decoder.scanner, input) {
                OwnedStep::Text(text) => return Some(Ok(text)),
                OwnedStep::Error(error) => return Some(Err(decoder.tally.note(error))),
                OwnedStep::Hold => {
                    decoder.hold(input);
                    input.clear();
                }
            }
        }
        None
    }
}

impl FusedIterator for OwnedPieces<'_> {}

/// [`Step`], with the text owned and everything but what is held taken off the input.
pub(crate) enum OwnedStep {
    Text(ByteString),
    Error(Utf8Error),
    Hold,
}

/// Takes what `input` begins with off its front.
#[inline]
pub(crate) fn step_owned<B: SplitTo>(scanner: &mut Scanner, input: &mut B) -> OwnedStep {
    if scanner.is_plain() {
        let (text, ending) = take_plain(scanner, input);
        if !text.is_empty() {
            return OwnedStep::Text(text);
        }
        if ending == Ending::End {
            return OwnedStep::Hold;
        }
    }
    step_owned_slowly(scanner, input)
}

/// Where the scanner [is plain](Scanner::is_plain): takes the text off the front of `input`, and says why
/// there is no more.
#[inline]
pub(crate) fn take_plain<B: SplitTo>(scanner: &mut Scanner, input: &mut B) -> (ByteString, Ending) {
    let mut ending = Ending::End;
    let text = take_text(input, |bytes| {
        let text;
        (text, ending) = scanner.step_plain(bytes);
        text
    });
    (text, ending)
}

#[inline(never)]
pub(crate) fn step_owned_slowly<B: SplitTo>(scanner: &mut Scanner, input: &mut B) -> OwnedStep {
    loop {
        let mut found = Ok(0);
        let text = take_text(input, |bytes| match scanner.step(bytes) {
            Step::Text(text) => text,
            Step::Silent(len) => {
                found = Ok(len);
                ""
            }
            Step::Error(error) => {
                found = Err(error);
                ""
            }
            Step::Hold => "",
        });
        match found {
            Ok(0) if text.is_empty() => return OwnedStep::Hold,
            Ok(0) => return OwnedStep::Text(text),
            Ok(silent) => drop(input.split_to_bytes(silent)),
            Err(error) => {
                drop(input.split_to_bytes(error.bytes().len()));
                return OwnedStep::Error(error);
            }
        }
    }
}
