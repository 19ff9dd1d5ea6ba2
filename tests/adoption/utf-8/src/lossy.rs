use crate::{DecodeError, Incomplete, REPLACEMENT_CHARACTER, decode};

/// Decodes chunks into calls of a function, with U+FFFD for each ill-formed sequence. The end is the drop.
#[derive(Debug)]
pub struct LossyDecoder<F: FnMut(&str)> {
    push_str: F,
    incomplete: Incomplete,
}

impl<F: FnMut(&str)> LossyDecoder<F> {
    pub fn new(push_str: F) -> Self {
        Self { push_str, incomplete: Incomplete::empty() }
    }

    pub fn feed(&mut self, mut input: &[u8]) {
        if !self.incomplete.is_empty() {
            let Some((result, rest)) = self.incomplete.try_complete(input) else { return };
            (self.push_str)(result.unwrap_or(REPLACEMENT_CHARACTER));
            input = rest;
        }
        while !input.is_empty() {
            match decode(input) {
                Ok(text) => return (self.push_str)(text),
                Err(DecodeError::Incomplete { valid_prefix, incomplete_suffix }) => {
                    self.incomplete = incomplete_suffix;
                    return self.push_text(valid_prefix);
                }
                Err(DecodeError::Invalid { valid_prefix, remaining_input, .. }) => {
                    self.push_text(valid_prefix);
                    (self.push_str)(REPLACEMENT_CHARACTER);
                    input = remaining_input;
                }
            }
        }
    }

    fn push_text(&mut self, text: &str) {
        if !text.is_empty() {
            (self.push_str)(text);
        }
    }
}

impl<F: FnMut(&str)> Drop for LossyDecoder<F> {
    fn drop(&mut self) {
        if !self.incomplete.is_empty() {
            (self.push_str)(REPLACEMENT_CHARACTER);
        }
    }
}
