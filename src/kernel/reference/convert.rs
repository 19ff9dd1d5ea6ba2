//! Text to `char`s and UTF-16, and back: the operations, and their reference.
//!
//! Text is `str`, validated before. A kernel's own implementation gives the same answers, writes the
//! same units, and leaves those behind them as they were.

use crate::kernel::Kernel;
use crate::kernel::scalar::ascii_len;
#[cfg(target_arch = "x86_64")]
use crate::kernel::{Tier, avx512};

impl Kernel {
    /// Counts the characters of `text`.
    #[doc(hidden)]
    #[inline]
    pub fn count_chars(self, text: &str) -> usize {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::decode::count_chars(text) },
            _ => text.chars().count(),
        }
    }

    /// Whether many characters are decoded at once, rather than one after another.
    #[cfg(feature = "stream")]
    pub(crate) const fn decodes_many(self) -> bool {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => true,
            _ => false,
        }
    }

    /// Decodes `text` into `out`, as far as it has room. Returns the bytes read and the `char`s
    /// written; the others in `out` are as they were.
    #[doc(hidden)]
    #[inline]
    pub fn decode_chars(self, text: &str, out: &mut [char]) -> (usize, usize) {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::decode::decode_chars(text, out) },
            _ => decode(text, out),
        }
    }

    /// Decodes `bytes` into `out` if they are ASCII, 64 at the most, and fit. Says whether they are;
    /// if not, `out` is as it was.
    ///
    /// For short messages, where validating first takes as long as all of this.
    #[doc(hidden)]
    #[inline]
    pub fn decode_short_ascii(self, bytes: &[u8], out: &mut [char]) -> bool {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::decode::short_ascii_to_chars(bytes, out) },
            _ => short_ascii(bytes, out),
        }
    }

    /// Decodes `text` into `out`, as far as it has room, without splitting a pair of surrogates.
    /// Returns the bytes read and the UTF-16 units written; the others in `out` are as they were.
    #[doc(hidden)]
    #[inline]
    pub fn decode_utf16(self, text: &str, out: &mut [u16]) -> (usize, usize) {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::decode::decode_utf16(text, out) },
            _ => decode(text, out),
        }
    }

    /// Encodes `chars` into `out`, as far as it has room for whole ones. Returns the `char`s read and
    /// the bytes written; the others in `out` are as they were.
    #[doc(hidden)]
    #[inline]
    pub fn encode_chars(self, chars: &[char], out: &mut [u8]) -> (usize, usize) {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::encode::encode_chars(chars, out) },
            _ => encode(chars, out),
        }
    }
}

/// What text is decoded to.
pub(in crate::kernel) trait Unit: Copy + From<u8> {
    /// Writes `c` to the start of `out`; how many units, or `None` where it does not fit.
    fn put(c: char, out: &mut [Self]) -> Option<usize>;
}

impl Unit for char {
    #[inline]
    fn put(c: char, out: &mut [Self]) -> Option<usize> {
        *out.first_mut()? = c;
        Some(1)
    }
}

impl Unit for u16 {
    #[inline]
    fn put(c: char, out: &mut [Self]) -> Option<usize> {
        let len = c.len_utf16();
        c.encode_utf16(out.get_mut(..len)?);
        Some(len)
    }
}

/// Decodes `text` into `out`: ASCII in strides, then one character after another until there is ASCII
/// again.
pub(in crate::kernel) fn decode<U: Unit>(text: &str, out: &mut [U]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    loop {
        let (bytes, room) = (&text.as_bytes()[read..], &mut out[written..]);
        let ascii = ascii_len(&bytes[..bytes.len().min(room.len())]);
        for (unit, &byte) in room.iter_mut().zip(&bytes[..ascii]) {
            *unit = U::from(byte);
        }
        read += ascii;
        written += ascii;
        let mut chars = text[read..].chars();
        loop {
            let Some(c) = chars.next() else { return (read, written) };
            let Some(units) = U::put(c, &mut out[written..]) else { return (read, written) };
            read += c.len_utf8();
            written += units;
            if c.is_ascii() {
                break;
            }
        }
    }
}

/// Encodes `chars` into `out`, one after another.
pub(in crate::kernel) fn encode(chars: &[char], out: &mut [u8]) -> (usize, usize) {
    let mut written = 0;
    for (read, c) in chars.iter().enumerate() {
        let Some(room) = out[written..].get_mut(..c.len_utf8()) else { return (read, written) };
        written += c.encode_utf8(room).len();
    }
    (chars.len(), written)
}

/// Decodes `bytes` if they are ASCII, few, and fit.
fn short_ascii(bytes: &[u8], out: &mut [char]) -> bool {
    if bytes.len() > out.len().min(64) || !bytes.is_ascii() {
        return false;
    }
    for (unit, &byte) in out.iter_mut().zip(bytes) {
        *unit = char::from(byte);
    }
    true
}
