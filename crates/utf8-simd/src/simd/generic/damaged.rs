//! Damaged text to `char`s and to UTF-16: the bytes of ill-formed parts are set to zero, and each part becomes one unit, U+FFFD.

use super::lanes::Lanes;
use super::test::backs_of;
use super::units::{EXCESS, OutputUnit, Units};
use super::vector::load;
use crate::simd::{BLOCK_ERRORS_LEN as BLOCK, BlockErrors, RepairedPrefix};

/// The number of blocks without an error after which a level stops, because other methods are then faster. Rows
/// `replace-utf-16/*/1-in-1024` of `benches/scenarios/damaged.rs`.
pub(in crate::simd) const PATIENCE: usize = 3;

impl BlockErrors {
    /// The bytes of the ill-formed parts.
    #[inline(always)]
    pub(in crate::simd) const fn bytes(self) -> u64 {
        self.starts | self.two_or_three << 1 | self.three << 2
    }

    /// The last bytes of the characters and of the ill-formed parts. `continuations` are the bytes from 80 to BF.
    #[inline(always)]
    pub(in crate::simd) const fn ends(self, continuations: u64) -> u64 {
        let begins = !continuations | self.starts;
        (begins >> 1 | 1 << (self.end - 1)) & u64::MAX >> (64 - self.end)
    }
}

/// Decodes blocks of damaged text; see [`Level::decode_damaged_utf16`](crate::simd::Level::decode_damaged_utf16).
///
/// A block begins with a character or an ill-formed part, so its vectors need nothing before it.
#[inline(always)]
pub(in crate::simd) fn decode_damaged<V: Lanes, U: OutputUnit>(
    any: V,
    input: &[u8],
    out: &mut [U::Item],
    block_errors: impl Fn(&[u8; BLOCK]) -> Option<BlockErrors>,
) -> RepairedPrefix {
    let mut done = RepairedPrefix::default();
    let mut clean = 0;
    while clean < PATIENCE
        && let Some(block) = input[done.read..].first_chunk::<BLOCK>()
        && let Some(errors) = block_errors(block)
        && let Some(room) = out[done.written..].get_mut(..BLOCK + EXCESS)
    {
        let continuations = V::mask_of_64(|at| any.splat(0xC0).cmpgt(load(any, block, at)));
        let (ill_formed, ends) = (errors.bytes(), errors.ends(continuations));
        let (mut before, mut written, mut at) = (any.splat(0), 0, 0);
        while at < BLOCK {
            let replaced = any.expand_bitmask((ill_formed >> at) as u32);
            let vector = load::<V>(any, block, at).and(replaced.xor(any.splat(0xFF)));
            let backs = backs_of(vector, before);
            let all = u32::MAX >> (32 - V::LEN);
            let inside = (u64::MAX >> (BLOCK - errors.end) >> at) as u32 & all;
            let units = Units::of_block(vector, backs, (ends >> at) as u32 & all, U::SIZE);
            written += units.replace(replaced).put_whole::<U>(inside, &mut room[written..]);
            before = vector;
            at += V::LEN;
        }
        done.read += errors.end;
        done.written += written;
        done.errors += errors.starts.count_ones() as usize;
        clean = if errors.starts == 0 { clean + 1 } else { 0 };
    }
    done
}

impl<V: Lanes> Units<V> {
    /// Sets the units of `replaced` bytes, which are zero, to U+FFFD.
    #[inline(always)]
    fn replace(self, replaced: V) -> Self {
        let [low, high] = self.planes;
        let low = low.or(replaced.and(low.splat(0xFD)));
        Self { planes: [low, high.or(replaced)], ..self }
    }

    /// [`put`](Self::put), with the first unit of a pair whose second one is in the next vector. `inside` are the bytes that
    /// belong to the block.
    #[inline(always)]
    fn put_whole<U: OutputUnit>(self, inside: u32, room: &mut [U::Item]) -> usize {
        let cut = if self.len < V::LEN { 1 << (V::LEN - 1) & inside } else { 0 };
        Self { keep: self.keep | cut, ..self }.put::<U>(room)
    }
}
