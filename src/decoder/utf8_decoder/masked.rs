//! Masked chunks: how is the payload of a WebSocket frame unmasked and validated in one pass?

use core::slice;

use utf8_simd::{Level, tail};

use crate::decoder::{Step, Utf8Decoder, Utf8Error};

/// The masking key of a WebSocket frame (RFC 6455 section 5.3), rotated to the next byte of the payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mask([u8; 4]);

impl Mask {
    pub(crate) const fn new(key: [u8; 4]) -> Self {
        Self(key)
    }

    /// Returns the key for the next `len` bytes, and advances past them.
    fn advance(&mut self, len: usize) -> [u8; 4] {
        let key = self.0;
        // Rotated as a little-endian word, because rotating an array by a variable is slow.
        self.0 = u32::from_le_bytes(key).rotate_right(8 * (len % 4) as u32).to_le_bytes();
        key
    }
}

/// An unmasked chunk, decoded up to the first error.
#[derive(Debug, Default)]
pub(crate) struct Unmasked<'a> {
    /// The split character that the first bytes complete.
    pub(crate) cut: Option<char>,
    /// The number of bytes after it that yield nothing, such as a BOM.
    pub(crate) silent: usize,
    /// All text after them.
    pub(crate) text: &'a str,
    /// The first error. The bytes after it are unmasked, but not consumed.
    pub(crate) error: Option<Utf8Error>,
    /// If there is no error: an incomplete character at the end.
    pub(crate) incomplete: &'a [u8],
}

impl Utf8Decoder {
    /// Unmasks all of `chunk` if there is a mask, and decodes it up to the first error.
    #[inline]
    pub(crate) fn push_masked<'c>(
        &mut self,
        mut chunk: &'c mut [u8],
        mask: &mut Option<Mask>,
    ) -> Unmasked<'c> {
        let mut cut = None;
        while !self.incomplete().is_empty() {
            let Some((byte, rest)) = chunk.split_first_mut() else { return Unmasked::default() };
            self.unmask(slice::from_mut(byte), mask);
            match self.resume(slice::from_ref(byte)).1 {
                Step::Skip(_) | Step::NeedMore => {}
                Step::Text(c) => cut = Some(c), // nothing is held any more
                Step::Error(error) => {
                    self.unmask(rest, mask);
                    return Unmasked { error: Some(error), ..Unmasked::default() };
                }
            }
            chunk = rest;
        }
        let unmasked = self.step_masked(chunk, mask);
        self.hold(unmasked.incomplete);
        Unmasked { cut, ..unmasked }
    }

    /// Like [`push_masked`](Self::push_masked), for callers that keep the undecoded bytes. The decoder holds
    /// nothing.
    #[inline]
    pub(crate) fn step_masked<'c>(
        &mut self,
        bytes: &'c mut [u8],
        mask: &mut Option<Mask>,
    ) -> Unmasked<'c> {
        debug_assert!(self.incomplete().is_empty());
        let (bytes, step) = match mask {
            Some(mask) => {
                let key = mask.advance(bytes.len());
                self.scanner.unmask_and_step(bytes, key)
            }
            None => {
                let bytes: &[u8] = bytes;
                (bytes, self.scanner.step(bytes))
            }
        };
        match step {
            Step::Text(text) if text.len() == bytes.len() => {
                Unmasked { text, ..Unmasked::default() }
            }
            step => self.step_on(bytes, step),
        }
    }

    /// Continues after the first step.
    #[inline(never)]
    fn step_on<'c>(&mut self, mut bytes: &'c [u8], mut step: Step<&'c str>) -> Unmasked<'c> {
        let mut unmasked = Unmasked::default();
        loop {
            match step {
                Step::Text(text) => {
                    debug_assert!(unmasked.text.is_empty(), "only an error interrupts text");
                    unmasked.text = text;
                    bytes = tail(bytes, text.len());
                }
                Step::Skip(len) => {
                    unmasked.silent += len;
                    bytes = tail(bytes, len);
                }
                Step::Error(error) => {
                    unmasked.error = Some(self.stats.note(error));
                    return unmasked;
                }
                Step::NeedMore => {
                    unmasked.incomplete = bytes;
                    return unmasked;
                }
            }
            if bytes.is_empty() {
                return unmasked;
            }
            step = self.scanner.step(bytes);
        }
    }

    /// Unmasks `bytes` if there is a mask, without decoding them.
    pub(crate) fn unmask(&self, bytes: &mut [u8], mask: &mut Option<Mask>) {
        if let Some(mask) = mask {
            let key = mask.advance(bytes.len());
            Level::detect().unmask(bytes, key);
        }
    }
}
