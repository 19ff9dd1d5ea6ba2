//! The operations of a level, for its module.

/// Defines the operations of `generic` for target features, their vector, and the one for short inputs and the ends of texts.
/// A generic function cannot depend on its parameter for its target feature, so a macro defines them.
///
/// `$validate_64` validates 33 to 64 bytes, except those of the `$lengths`, which each have a function of their own.
macro_rules! operations {
    (
        $feature:literal, $vector:ty, $short:ty,
        $validate_64:ident::<$with_64:ty, $bytes_64:literal>,
        $($lengths:pat => $validate:ident::<$with:ty, $bytes:literal>,)*
    ) => {
        /// Finds how far `input` is well-formed; see [`Level::validate`](crate::simd::Level::validate).
        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn validate(input: &[u8]) -> Validated {
            // Two levels, because each comparison that fails is a jump. There is none before `$validate_64`.
            let look = if input.len() > 32 {
                match input.len() {
                    257.. => return validate_long(input),
                    $($lengths => {
                        generic::cold_path();
                        generic::$validate::<$with, $bytes>(<$with>::zero(), input)
                    })*
                    _ => generic::$validate_64::<$with_64, $bytes_64>(<$with_64>::zero(), input),
                }
            } else {
                match input.len() {
                    17.. => generic::validate_up_to_32(<$short>::zero(), input),
                    4.. => generic::validate_up_to_16(<$short>::zero(), input),
                    _ => return reference::validate(input),
                }
            };
            conclude(input, look)
        }

        #[inline(never)]
        #[target_feature(enable = $feature)]
        fn validate_long(input: &[u8]) -> Validated {
            conclude(input, generic::validate_long(<$vector>::zero(), input))
        }

        /// Returns the result, and locates an error exactly if one is marked.
        #[inline]
        #[target_feature(enable = $feature)]
        fn conclude(input: &[u8], look: Verdict) -> Validated {
            match look {
                Ok(found) => found,
                Err(from) => locate_error(input, from),
            }
        }

        #[cold]
        #[inline(never)]
        #[target_feature(enable = $feature)]
        fn locate_error(input: &[u8], from: usize) -> Validated {
            generic::locate_error(<$vector>::zero(), input, from)
        }

        /// Validates a short chunk; see [`Level::validate_next`](crate::simd::Level::validate_next).
        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn validate_next(before: u32, input: &[u8]) -> Option<usize> {
            match input.len() {
                ..=64 => generic::validate_next::<_, 32>(<$vector>::zero(), before, input),
                65..=128 => generic::validate_next::<_, 64>(<$vector>::zero(), before, input),
                _ => generic::validate_next::<_, 128>(<$vector>::zero(), before, input),
            }
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn valid_prefix_len(input: &[u8]) -> usize {
            generic::valid_prefix_len(<$vector>::zero(), input)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn copy_valid_prefix(
            input: &[u8],
            out: &mut [MaybeUninit<u8>],
        ) -> usize {
            generic::copy_valid_prefix(<$vector>::zero(), input, out)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn ascii_before(ends: [u8; 2], input: &[u8]) -> usize {
            generic::ascii_before(<$vector>::zero(), ends, input)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn copy_before(
            ends: [u8; 2],
            input: &[u8],
            out: &mut [MaybeUninit<u8>],
        ) -> (usize, usize) {
            generic::copy_before(<$vector>::zero(), ends, input, out)
        }

        /// Finds the ill-formed parts; see [`Level::block_errors`](crate::simd::Level::block_errors).
        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn block_errors(block: &[u8; BLOCK_ERRORS_LEN]) -> Option<BlockErrors> {
            generic::block_errors(<$vector>::zero(), block)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn byte_masks(
            blocks: &[[u8; 64]],
            needles: [u8; 2],
            masks: &mut [u64],
        ) {
            generic::byte_masks(<$vector>::zero(), blocks, needles, masks);
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn unmask_and_validate(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
            if bytes.len() < 4 * <$vector>::LEN {
                reference::unmask(bytes, mask);
                return validate(bytes);
            }
            unmask_and_validate_long(bytes, mask)
        }

        #[inline(never)]
        #[target_feature(enable = $feature)]
        fn unmask_and_validate_long(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
            let any = <$vector>::zero();
            generic::unmask_and_validate_long(any, bytes, mask, |input| validate(input))
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn run<T: crate::simd::Task>(task: T) -> T::Output {
            task.run()
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn count_chars(text: &str) -> usize {
            generic::count::<$vector, false>(<$vector>::zero(), text)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn count_utf16(text: &str) -> usize {
            generic::count::<$vector, true>(<$vector>::zero(), text)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn decode_chars(text: &str, out: &mut [u32]) -> (usize, usize) {
            generic::decode_chars((<$vector>::zero(), <$short>::zero()), text, out)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn decode_utf16(text: &str, out: &mut [u16]) -> (usize, usize) {
            let any = <$vector>::zero();
            match generic::decode_short_ascii::<_, u16>(any, text.as_bytes(), out) {
                true => (text.len(), text.len()),
                false => decode_any_to_utf16(text, out),
            }
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn decode_short_chars(bytes: &[u8], out: &mut [u32]) -> Option<usize> {
            decode_short::<u32>(bytes, out)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn decode_short_utf16(bytes: &[u8], out: &mut [u16]) -> Option<usize> {
            decode_short::<u16>(bytes, out)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn decode_short_bytes<const SWAPPED: bool>(
            bytes: &[u8],
            out: &mut [[u8; 2]],
        ) -> Option<usize> {
            decode_short::<generic::Bytes<SWAPPED>>(bytes, out)
        }

        /// Decodes `bytes` if they are short, well-formed and complete, and fit. Returns the number of units.
        #[inline]
        #[target_feature(enable = $feature)]
        fn decode_short<U: generic::OutputUnit>(bytes: &[u8], out: &mut [U::Item]) -> Option<usize> {
            let is_done = match bytes.len() {
                65.. => return None,
                len if len >= <$vector>::LEN && U::SIZE == 2 => {
                    generic::decode_short_ascii::<_, U>(<$vector>::zero(), bytes, out)
                }
                len if len >= <$short>::LEN && U::SIZE == 2 => {
                    generic::decode_short_ascii::<_, U>(<$short>::zero(), bytes, out)
                }
                _ => reference::convert::decode_short_ascii(bytes, out, U::of),
            };
            if is_done { Some(bytes.len()) } else { decode_short_text::<U>(bytes, out) }
        }

        // Separate, because loading its constants would take longer than decoding ASCII: rows `to-utf-16/ascii/16`.
        #[inline(never)]
        #[target_feature(enable = $feature)]
        fn decode_short_text<U: generic::OutputUnit>(bytes: &[u8], out: &mut [U::Item]) -> Option<usize> {
            if validate(bytes).valid_up_to < bytes.len() {
                return None;
            }
            generic::decode_short_text::<$short, U>(<$short>::zero(), bytes, out)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn decode_damaged_chars(input: &[u8], out: &mut [u32]) -> RepairedPrefix {
            generic::decode_damaged::<$vector, u32>(<$vector>::zero(), input, out, |block| block_errors(block))
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn decode_damaged_utf16(input: &[u8], out: &mut [u16]) -> RepairedPrefix {
            generic::decode_damaged::<$vector, u16>(<$vector>::zero(), input, out, |block| block_errors(block))
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn decode_ascii_chars(bytes: &[u8], out: &mut [u32]) -> usize {
            if <$vector>::LEN > 16 {
                // The compiler widens by four in one instruction, which `Lanes` lacks. Rows `to-chars/ascii`.
                return reference::convert::decode_ascii(bytes, out);
            }
            generic::decode_leading_ascii::<_, u32>(<$vector>::zero(), bytes, out)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn decode_ascii_utf16(bytes: &[u8], out: &mut [u16]) -> usize {
            generic::decode_leading_ascii::<_, u16>(<$vector>::zero(), bytes, out)
        }

        #[inline(never)]
        #[target_feature(enable = $feature)]
        fn decode_any_to_utf16(text: &str, out: &mut [u16]) -> (usize, usize) {
            generic::decode_utf16((<$vector>::zero(), <$short>::zero()), text, out)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn encode_chars(chars: &[char], out: &mut [u8]) -> (usize, usize) {
            generic::encode_chars::<$vector, $short>(
                (<$vector>::zero(), <$short>::zero()),
                chars,
                out,
            )
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn encode_utf16(
            units: &[u16],
            out: &mut [MaybeUninit<u8>],
            replaced: Option<&mut u64>,
        ) -> (usize, usize) {
            generic::encode_utf16::<$vector, $short>(
                (<$vector>::zero(), <$short>::zero()),
                units,
                out,
                replaced,
            )
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn recode<R: generic::RecodeSteps>(
            items: &[R::From],
            out: &mut [MaybeUninit<u8>],
        ) -> (usize, usize) {
            let any = (<$vector>::zero(), <$short>::zero());
            match generic::recode_short::<$vector, $short, R>(any, items, out) {
                Some(done) => done,
                None => recode_any::<R>(items, out),
            }
        }

        #[inline(never)]
        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn recode_any<R: generic::RecodeSteps>(
            items: &[R::From],
            out: &mut [MaybeUninit<u8>],
        ) -> (usize, usize) {
            generic::recode::<$vector, $short, R>((<$vector>::zero(), <$short>::zero()), items, out)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn encode_latin1(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
            generic::encode_latin1((<$vector>::zero(), <$short>::zero()), bytes, out)
        }

        #[target_feature(enable = $feature)]
        pub(in crate::simd) fn decode_latin1(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
            generic::decode_latin1((<$vector>::zero(), <$short>::zero()), bytes, out)
        }
    };
}

pub(in crate::simd) use operations;
