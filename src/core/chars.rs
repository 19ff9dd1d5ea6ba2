//! How is text decoded to many `char`s in one call?

use crate::kernel::Kernel;

/// Decodes `text` into `chars`, which has room for one `char` per byte. Returns the number of `char`s
/// written.
pub(crate) fn decode_chars(text: &str, chars: &mut [char]) -> usize {
    debug_assert!(text.len() <= chars.len());
    let kernel = Kernel::detect();
    if kernel.decodes_many() || text.is_ascii() {
        kernel.decode_chars(text, chars).1
    } else {
        // One by one, as these kernels do it, but without their bounds checks: 1.2 to 1.3 times as
        // fast (`blocks/*` of `benches/versus`).
        chars.iter_mut().zip(text.chars()).map(|(place, c)| *place = c).count()
    }
}
