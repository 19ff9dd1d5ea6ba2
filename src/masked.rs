use core::slice;

use crate::decoder::Utf8Decoder;
use crate::error::Utf8Error;
use crate::incomplete::Resumed;
use crate::scanner::Step;

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

/// What a chunk is that has been unmasked: text, then perhaps an error.
#[derive(Debug, Default)]
pub(crate) struct Unmasked<'a> {
    /// The character that was cut, completed by the first bytes of the chunk.
    pub(crate) cut: Option<char>,
    /// All text behind it, up to the error or to an incomplete sequence.
    pub(crate) text: &'a str,
    /// Where decoding has stopped. What follows in the chunk is unmasked, and has not been consumed.
    pub(crate) error: Option<Utf8Error>,
}

impl Utf8Decoder {
    /// Unmasks all of `chunk`, if there is a mask, and decodes it up to the first error.
    #[inline]
    pub(crate) fn push_masked<'c>(
        &mut self,
        mut chunk: &'c mut [u8],
        mask: &mut Option<Mask>,
    ) -> Unmasked<'c> {
        let mut unmasked = Unmasked::default();
        while !self.incomplete().is_empty() {
            let Some((byte, behind)) = chunk.split_first_mut() else { return unmasked };
            self.unmask(slice::from_mut(byte), mask);
            match self.resume(slice::from_ref(byte)).1 {
                Resumed::Nothing => {}
                Resumed::Char(c) => unmasked.cut = Some(c),
                Resumed::Error(error) => {
                    self.unmask(behind, mask);
                    unmasked.error = Some(error);
                    return unmasked;
                }
            }
            chunk = behind;
        }
        let (mut rest, mut step) = match mask {
            Some(mask) => {
                let key = mask.advance(chunk.len());
                self.scanner.unmask_and_step(chunk, key)
            }
            None => {
                let chunk: &[u8] = chunk;
                (chunk, self.scanner.step(chunk))
            }
        };
        loop {
            match step {
                Step::Text(text) => {
                    debug_assert!(unmasked.text.is_empty(), "only an error interrupts text");
                    unmasked.text = text;
                    rest = &rest[text.len()..];
                }
                Step::Silent(len) => rest = &rest[len..],
                Step::Error(error) => {
                    unmasked.error = Some(self.tally.note(error));
                    return unmasked;
                }
                Step::Hold => {
                    self.hold(rest);
                    return unmasked;
                }
            }
            if rest.is_empty() {
                return unmasked;
            }
            step = self.scanner.step(rest);
        }
    }

    /// Unmasks bytes that are not to be decoded, if there is a mask.
    pub(crate) fn unmask(&self, bytes: &mut [u8], mask: &mut Option<Mask>) {
        if let Some(mask) = mask {
            let key = mask.advance(bytes.len());
            self.scanner.unmask(bytes, key);
        }
    }
}
