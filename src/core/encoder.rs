use crate::core::bom::BOM;
use crate::core::boundary::floor_char_boundary;
use crate::core::decoder::buffer::{Progress, Status};
use crate::kernel::Kernel;

/// Turns text into bytes, with a signature in front if asked: the counterpart of
/// [`Utf8Decoder`](crate::Utf8Decoder).
///
/// Text is UTF-8 already, so nothing is held between calls and nothing can fail. The signature
/// (RFC 3629, section 6) is written once, by the first call, even if that brings empty text. After
/// [`reset`](Self::reset) it is due again.
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
pub struct Utf8Encoder {
    signature: Signature,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Signature {
    #[default]
    None,
    Due,
    Written,
}

impl Utf8Encoder {
    /// Creates an encoder that writes no signature.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(utf8_codec::Utf8Encoder::new().push("text").concat(), b"text");
    /// ```
    pub const fn new() -> Self {
        Self { signature: Signature::None }
    }

    /// Writes a BOM before anything else.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Encoder;
    ///
    /// assert_eq!(Utf8Encoder::new().with_bom().push("").concat(), b"\xEF\xBB\xBF");
    /// ```
    #[must_use]
    pub const fn with_bom(self) -> Self {
        Self { signature: Signature::Due }
    }

    /// Encodes `text`: the bytes to write, in order, without copying.
    ///
    /// The first slice is the signature if it is due, otherwise empty; the second is the text.
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
    #[must_use = "the first result holds the signature, if one is due"]
    pub fn push<'a>(&mut self, text: &'a str) -> [&'a [u8]; 2] {
        [self.take_signature(), text.as_bytes()]
    }

    /// Encodes `text` into `buffer`, as far as it has room; a character that does not fit whole is
    /// not written at all. See [`Status`] for going on.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Encoder;
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut buffer = [0; 4];
    /// let progress = Utf8Encoder::new().push_to_slice("aé€", &mut buffer);
    /// assert_eq!((progress.read, progress.written, progress.status), (3, 3, Status::Full));
    /// assert_eq!(&buffer[..3], "aé".as_bytes());
    /// ```
    pub fn push_to_slice(&mut self, text: &str, buffer: &mut [u8]) -> Progress {
        let Some(start) = self.signature_to_slice(buffer) else { return no_room(BOM.len()) };
        let read = floor_char_boundary(text, buffer.len() - start);
        buffer[start..start + read].copy_from_slice(&text.as_bytes()[..read]);
        stopped(read, start + read, text[read..].chars().next())
    }

    /// Encodes `chars` into `buffer`, as far as it has room; `read` counts `char`s.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Encoder;
    /// use utf8_codec::decoder::Status;
    ///
    /// let mut buffer = [0; 8];
    /// let progress = Utf8Encoder::new().push_chars_to_slice(&['a', 'é', '😀'], &mut buffer);
    /// assert_eq!((progress.read, progress.written, progress.status), (3, 7, Status::Done));
    /// ```
    pub fn push_chars_to_slice(&mut self, chars: &[char], buffer: &mut [u8]) -> Progress {
        let Some(start) = self.signature_to_slice(buffer) else { return no_room(BOM.len()) };
        let (read, encoded) = Kernel::detect().encode_chars(chars, &mut buffer[start..]);
        stopped(read, start + encoded, chars.get(read).copied())
    }

    /// Starts a new stream: a signature, if asked for, is due again.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Encoder;
    ///
    /// let mut encoder = Utf8Encoder::new().with_bom();
    /// assert_eq!(encoder.push("one stream")[0], b"\xEF\xBB\xBF");
    /// encoder.reset();
    /// assert_eq!(encoder.push("another")[0], b"\xEF\xBB\xBF");
    /// ```
    pub fn reset(&mut self) {
        if self.signature == Signature::Written {
            self.signature = Signature::Due;
        }
    }

    /// Returns the signature if it is due; from then on it is written.
    pub(crate) fn take_signature(&mut self) -> &'static [u8] {
        match self.signature {
            Signature::None | Signature::Written => &[],
            Signature::Due => {
                self.signature = Signature::Written;
                &BOM
            }
        }
    }

    /// Writes the signature if it is due. Returns how long it is, or `None` where it does not fit
    /// and is still due.
    fn signature_to_slice(&mut self, buffer: &mut [u8]) -> Option<usize> {
        if self.signature == Signature::Due && buffer.len() < BOM.len() {
            return None;
        }
        let signature = self.take_signature();
        buffer[..signature.len()].copy_from_slice(signature);
        Some(signature.len())
    }
}

/// Where encoding has come to, with `next` the character that did not fit.
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
