//! Counts the characters of a text: the bytes that begin one.

/// Counts the characters of `text`. Compilers vectorise this with the target features of the caller.
#[inline(always)]
pub(in crate::kernel) fn count_chars(text: &str) -> usize {
    /// The number of bytes whose count fits in a byte.
    const BLOCK: usize = 192;
    let begins = |count: u8, &byte: &u8| count + u8::from(byte as i8 >= -0x40);
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    let in_blocks = blocks.iter().map(|block| usize::from(block.iter().fold(0, begins)));
    in_blocks.sum::<usize>() + usize::from(rest.iter().fold(0, begins))
}
