//! How is text decoded to `char`s at once?

use crate::kernel::Kernel;

/// Decodes `text` into `chars`, which has room for one `char` a byte. Returns how many it wrote.
pub(crate) fn decode_chars(text: &str, chars: &mut [char]) -> usize {
    debug_assert!(text.len() <= chars.len());
    let kernel = Kernel::detect();
    if kernel.decodes_many() || text.is_ascii() {
        kernel.decode_chars(text, chars).1
    } else {
        // One by one, as the kernel would do it, but without its checks for room.
        chars.iter_mut().zip(text.chars()).map(|(place, c)| *place = c).count()
    }
}
