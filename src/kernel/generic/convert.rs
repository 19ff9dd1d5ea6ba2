//! The conversions of a tier, for its module.

/// Defines the conversions that `generic` has, for a vector and its target features.
macro_rules! convert {
    ($features:literal, $vector:ty) => {
        /// Decodes; see [`Kernel::decode_chars`](crate::kernel::Kernel::decode_chars).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn decode_chars(text: &str, out: &mut [char]) -> (usize, usize) {
            generic::decode::<$vector, char>(<$vector>::token(), text, out)
        }

        /// Decodes; see [`Kernel::decode_utf16`](crate::kernel::Kernel::decode_utf16).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn decode_utf16(text: &str, out: &mut [u16]) -> (usize, usize) {
            generic::decode::<$vector, u16>(<$vector>::token(), text, out)
        }

        /// Encodes; see [`Kernel::encode_chars`](crate::kernel::Kernel::encode_chars).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn encode_chars(chars: &[char], out: &mut [u8]) -> (usize, usize) {
            let (read, written) = generic::encode::<$vector, char>(<$vector>::token(), chars, out);
            let (more, len) = reference::encode_chars(&chars[read..], &mut out[written..]);
            (read + more, written + len)
        }

        /// Encodes; see [`Kernel::encode_utf16`](crate::kernel::Kernel::encode_utf16).
        #[target_feature(enable = $features)]
        pub(in crate::kernel) fn encode_utf16(units: &[u16], out: &mut [u8]) -> (usize, usize) {
            let (read, written) = generic::encode_utf16::<$vector>(<$vector>::token(), units, out);
            let (more, len) = reference::encode_utf16(&units[read..], &mut out[written..]);
            (read + more, written + len)
        }
    };
}
pub(in crate::kernel) use convert;
