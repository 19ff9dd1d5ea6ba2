use core::slice;

use crate::core::carry::Resumed;
use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::scanner::Step;
use crate::kernel::Kernel;

/// The masking key of a WebSocket frame (RFC 6455 section 5.3), turned to where the next byte of the
/// payload stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mask([u8; 4]);

impl Mask {
    pub(crate) const fn new(key: [u8; 4]) -> Self {
        Self(key)
    }

    /// Passes over `len` bytes, and returns the key for them.
    fn advance(&mut self, len: usize) -> [u8; 4] {
        let key = self.0;
        // Its first byte is the lowest. (Rotating an array by a number not known before is slow.)
        self.0 = u32::from_le_bytes(key).rotate_right(8 * (len % 4) as u32).to_le_bytes();
        key
    }
}

/// What bytes are that have been unmasked, up to the first error.
#[derive(Debug, Default)]
pub(crate) struct Unmasked<'a> {
    /// The character that was held, completed by the first of them.
    pub(crate) cut: Option<char>,
    /// How many then mean nothing, as a signature does.
    pub(crate) silent: usize,
    /// All text behind that.
    pub(crate) text: &'a str,
    /// Why it goes no further. What follows is unmasked, and has not been consumed.
    pub(crate) error: Option<Utf8Error>,
    /// Without an error: the beginning of a character at their end.
    pub(crate) incomplete: &'a [u8],
}

impl Utf8Decoder {
    /// Unmasks all of `chunk`, if there is a mask, and decodes it up to the first error.
    #[inline]
    pub(crate) fn push_masked<'c>(
        &mut self,
        mut chunk: &'c mut [u8],
        mask: &mut Option<Mask>,
    ) -> Unmasked<'c> {
        let mut cut = None;
        while !self.incomplete().is_empty() {
            let Some((byte, behind)) = chunk.split_first_mut() else {
                return Unmasked { cut, ..Unmasked::default() };
            };
            self.unmask(slice::from_mut(byte), mask);
            match self.resume(slice::from_ref(byte)).1 {
                Resumed::Nothing => {}
                Resumed::Char(c) => cut = Some(c),
                Resumed::Error(error) => {
                    self.unmask(behind, mask);
                    return Unmasked { cut, error: Some(error), ..Unmasked::default() };
                }
            }
            chunk = behind;
        }
        let unmasked = self.step_masked(chunk, mask);
        self.hold(unmasked.incomplete);
        Unmasked { cut, ..unmasked }
    }

    /// As [`push_masked`](Self::push_masked), and holds nothing back: for callers that keep the bytes
    /// themselves.
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

    /// Goes on behind the first step.
    #[inline(never)]
    fn step_on<'c>(&mut self, mut bytes: &'c [u8], mut step: Step<'c>) -> Unmasked<'c> {
        let mut unmasked = Unmasked::default();
        loop {
            match step {
                Step::Text(text) => {
                    debug_assert!(unmasked.text.is_empty(), "only an error interrupts text");
                    unmasked.text = text;
                    bytes = &bytes[text.len()..];
                }
                Step::Silent(len) => {
                    unmasked.silent += len;
                    bytes = &bytes[len..];
                }
                Step::Error(error) => {
                    unmasked.error = Some(self.tally.note(error));
                    return unmasked;
                }
                Step::Hold => {
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

    /// Unmasks bytes that are not to be decoded, if there is a mask.
    pub(crate) fn unmask(&self, bytes: &mut [u8], mask: &mut Option<Mask>) {
        if let Some(mask) = mask {
            let key = mask.advance(bytes.len());
            Kernel::detect().unmask(bytes, key);
        }
    }
}
