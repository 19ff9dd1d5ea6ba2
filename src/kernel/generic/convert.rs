//! The conversions of a tier, for its module.

/// Defines the conversions that `generic` has, for its target features, its vector, and the vector for the ends of
/// texts.
macro_rules! convert {
    ($features:literal, $vector:ty, $short:ty) => {
        /// Counts; see [`Kernel::count_chars`](crate::kernel::Kernel::count_chars).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn count_chars(text: &str) -> usize {
            generic::count_chars(text)
        }

        /// Decodes; see [`Kernel::decode_chars`](crate::kernel::Kernel::decode_chars).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn decode_chars(text: &str, out: &mut [char]) -> (usize, usize) {
            generic::decode_chars::<$vector>(<$vector>::token(), text, out)
        }

        /// Decodes; see [`Kernel::decode_utf16`](crate::kernel::Kernel::decode_utf16).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn decode_utf16(text: &str, out: &mut [u16]) -> (usize, usize) {
            let token = <$vector>::token();
            match generic::decode_short_ascii::<$vector, u16>(token, text.as_bytes(), out) {
                true => (text.len(), text.len()),
                false => decode_any_to_utf16(text, out),
            }
        }

        /// Decodes; see [`Kernel::decode_short_utf16`](crate::kernel::Kernel::decode_short_utf16).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn decode_short_utf16(
            bytes: &[u8],
            out: &mut [u16],
        ) -> Option<usize> {
            if !(<$vector>::LEN..=64).contains(&bytes.len()) {
                return reference::decode_short_utf16(bytes, out);
            }
            let done = generic::decode_short_ascii::<$vector, u16>(<$vector>::token(), bytes, out);
            done.then_some(bytes.len())
        }

        /// Decodes; see [`Kernel::decode_ascii_chars`](crate::kernel::Kernel::decode_ascii_chars).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn decode_ascii_chars(bytes: &[u8], out: &mut [char]) -> usize {
            if <$vector>::LEN > 16 {
                // The compiler widens by four in one instruction, which `Lanes` lacks. Rows `to-chars/ascii`.
                return reference::convert::decode_ascii(bytes, out);
            }
            generic::decode_leading_ascii::<$vector, _>(<$vector>::token(), bytes, out)
        }

        /// Decodes; see [`Kernel::decode_ascii_utf16`](crate::kernel::Kernel::decode_ascii_utf16).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn decode_ascii_utf16(bytes: &[u8], out: &mut [u16]) -> usize {
            generic::decode_leading_ascii::<$vector, _>(<$vector>::token(), bytes, out)
        }

        #[inline(never)]
        #[target_feature(enable = $features)]
        fn decode_any_to_utf16(text: &str, out: &mut [u16]) -> (usize, usize) {
            generic::decode_utf16::<$vector>(<$vector>::token(), text, out)
        }

        /// Encodes; see [`Kernel::encode_chars`](crate::kernel::Kernel::encode_chars).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn encode_chars(chars: &[char], out: &mut [u8]) -> (usize, usize) {
            generic::encode_chars::<$vector, $short>(
                (<$vector>::token(), <$short>::token()),
                chars,
                out,
            )
        }

        /// Encodes; see [`Kernel::encode_utf16`](crate::kernel::Kernel::encode_utf16).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn encode_utf16(
            units: &[u16],
            out: &mut [core::mem::MaybeUninit<u8>],
        ) -> (usize, usize) {
            generic::encode_utf16::<$vector, $short>(
                (<$vector>::token(), <$short>::token()),
                units,
                out,
            )
        }
    };
}
pub(in crate::kernel) use convert;
