//! The encoder: text to bytes, with a BOM on request.

use utf8_simd::{Level, Transcoded, Utf8, transcode};

use crate::decoder::{BOM, Progress, Status};

/// Encodes text as bytes, with a BOM on request: the counterpart of [`Utf8Decoder`](crate::Utf8Decoder).
///
/// A `str` is UTF-8 already, so the encoder holds nothing between calls and never fails. The first call writes
/// the BOM (RFC 3629, section 6), even for empty text. After [`reset`](Self::reset), the next call writes it
/// again.
///
/// # Examples
///
/// ```
/// use utf8_codec::Utf8Encoder;
///
/// let mut encoder = Utf8Encoder::new().with_bom();
/// assert_eq!(encoder.push("größer").concat(), b"\xEF\xBB\xBFgr\xC3\xB6\xC3\x9Fer");
/// assert_eq!(encoder.push(", am größten").concat(), ", am größten".as_bytes());
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Utf8Encoder {
    bom: Bom,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bom {
    #[default]
    None,
    Due,
    Written,
}

impl Utf8Encoder {
    /// Creates an encoder that writes no BOM.
    pub const fn new() -> Self {
        Self { bom: Bom::None }
    }

    /// Writes a BOM before anything else.
    pub const fn with_bom(self) -> Self {
        Self { bom: Bom::Due }
    }

    /// Encodes `text` without copying. Returns the bytes to write, in order.
    ///
    /// The first slice is the BOM if it is due, and empty otherwise. The second is the text.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{IoSlice, Write};
    /// use utf8_codec::Utf8Encoder;
    ///
    /// let mut file = Vec::new();
    /// let slices = Utf8Encoder::new().with_bom().push("text").map(IoSlice::new);
    /// assert_eq!(file.write_vectored(&slices).unwrap(), 7);
    /// assert_eq!(file, b"\xEF\xBB\xBFtext");
    /// ```
    #[must_use = "the first slice is the BOM, if it is due"]
    pub fn push<'a>(&mut self, text: &'a str) -> [&'a [u8]; 2] {
        [self.take_bom(), text.as_bytes()]
    }

    /// Encodes as much of `text` as fits into `buffer`.
    ///
    /// A character is never written in part. [`Status`] shows how to continue.
    pub fn push_to_slice(&mut self, text: &str, buffer: &mut [u8]) -> Progress {
        let Some(start) = self.bom_to_slice(buffer) else { return no_room(BOM.len()) };
        let room = buffer.get_mut(start..).unwrap_or_default();
        let Transcoded { read, written, .. } = transcode::<str, Utf8>(text, room);
        let next = text.get(read..).and_then(|rest| rest.chars().next());
        stopped(read, start + written, next)
    }

    /// Encodes as many of `chars` as fit into `buffer`. `read` counts `char`s.
    pub fn push_chars_to_slice(&mut self, chars: &[char], buffer: &mut [u8]) -> Progress {
        let Some(start) = self.bom_to_slice(buffer) else { return no_room(BOM.len()) };
        let (read, encoded) = Level::detect().encode_chars(chars, &mut buffer[start..]);
        stopped(read, start + encoded, chars.get(read).copied())
    }

    /// Starts a new stream with the same settings: the BOM, if requested, is due again.
    pub const fn reset(&mut self) {
        if matches!(self.bom, Bom::Written) {
            self.bom = Bom::Due;
        }
    }

    /// Returns the BOM if it is due, and marks it as written.
    pub(crate) fn take_bom(&mut self) -> &'static [u8] {
        match self.bom {
            Bom::None | Bom::Written => &[],
            Bom::Due => {
                self.bom = Bom::Written;
                &BOM
            }
        }
    }

    /// Writes the BOM if it is due. Returns its length, or `None` if it does not fit and is still due.
    fn bom_to_slice(&mut self, buffer: &mut [u8]) -> Option<usize> {
        if self.bom == Bom::Due {
            *buffer.first_chunk_mut()? = BOM;
        }
        Some(self.take_bom().len())
    }
}

/// The progress of an encoder that stopped before `next` because it did not fit.
fn stopped(read: usize, written: usize, next: Option<char>) -> Progress {
    match next {
        None => Progress { read, held: 0, written, status: Status::Done },
        Some(next) if written == 0 => no_room(next.len_utf8()),
        Some(_) => Progress { read, held: 0, written, status: Status::Full },
    }
}

fn no_room(needed: usize) -> Progress {
    Progress { read: 0, held: 0, written: 0, status: Status::TooSmall { needed } }
}
