//! NEON: vectors of 16 bytes. The algorithm is in `generic`.

use core::arch::aarch64::*;
use core::mem::MaybeUninit;

use crate::kernel::block_errors::{BLOCK, BlockErrors};
use crate::kernel::generic::{self, Look, Vector, Vector16, arithmetic, lanewise, tier};
use crate::kernel::reference;
pub(in crate::kernel) use crate::kernel::reference::{
    decode_short_chars, find_outside, join_pairs, split_pairs, unmask,
};
use crate::kernel::validated::Validated;

tier!("neon", Bytes16,
    33..=64 => validate_halves::<Bytes16, 2>,
    65..=128 => validate_halves::<Bytes16, 4>,
    129..=256 => validate_blocks::<Bytes16, 16>,
);

generic::convert!("neon", Bytes16, Bytes16);

/// 16 bytes.
///
/// Invariant: exists only where the machine has NEON.
#[derive(Clone, Copy)]
pub(super) struct Bytes16(pub(super) uint8x16_t);

/// Proves that the machine has NEON.
#[derive(Clone, Copy)]
pub(super) struct HasNeon(());

impl Bytes16 {
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn token() -> HasNeon {
        HasNeon(())
    }
}

/// By the leading byte, E0 to FF, the addend that clears bit 7 of `here` if the second byte may not follow.
static SECOND: [[u8; 16]; 2] = {
    let mut table = [[0; 16]; 2];
    // 80..=9F are C0..=DF in `here`, and A0..=BF are E0..=FF.
    table[0][0x0] = 0xA0; // E0: 60..=7F and 80..=9F
    table[0][0xD] = 0x20; // ED: E0..=FF and 00..=1F
    // 80..=8F are C0..=CF, and 90..=BF are D0..=FF.
    table[1][0x0] = 0xB0; // F0: 70..=7F and 80..=AF
    table[1][0x4] = 0x30; // F4: F0..=FF and 00..=2F
    let mut lead = 0x5;
    while lead < 16 {
        table[1][lead] = 0x40; // F5..=FF: 00..=3F
        lead += 1;
    }
    table
};

/// Loads 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load_16(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: there are the 16 bytes that are loaded.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

impl Vector for Bytes16 {
    const LEN: usize = 16;
    const MASK_BITS: u32 = 4;
    const TESTS_ALL_LEADS: bool = true;

    type Token = HasNeon;

    #[inline(always)]
    unsafe fn load(_: HasNeon, at: *const u8) -> Self {
        // SAFETY: the caller promises that 16 bytes can be read; the token proves NEON.
        Self(unsafe { vld1q_u8(at) })
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        // SAFETY: the caller promises that 16 bytes can be written; `self` proves NEON.
        unsafe { vst1q_u8(at, self.0) };
    }

    arithmetic! {
        fn splat(self, byte: u8) -> Self {
            Self(vdupq_n_u8(byte))
        }
        fn saturating_add(self, other: Self) -> Self {
            let sum = vqaddq_s8(vreinterpretq_s8_u8(self.0), vreinterpretq_s8_u8(other.0));
            Self(vreinterpretq_u8_s8(sum))
        }
        fn prev<const N: usize>(self, before: Self) -> Self {
            const { assert!(matches!(N, 1..=3)) };
            Self(match N {
                1 => vextq_u8::<15>(before.0, self.0),
                2 => vextq_u8::<14>(before.0, self.0),
                _ => vextq_u8::<13>(before.0, self.0),
            })
        }
        fn movemask(self) -> u64 {
            // All bits of each byte, and then four of them.
            let bytes = vreinterpretq_u16_u8(vcltzq_s8(vreinterpretq_s8_u8(self.0)));
            vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(bytes)))
        }
        fn any_high_bit(self) -> bool {
            vmaxvq_u8(self.0) >= 0x80
        }
        fn second_addends(self) -> Self {
            // An index of 32 or more, of what is below E0, picks zero.
            let [low, high] = [load_16(&SECOND[0]), load_16(&SECOND[1])];
            Self(vqtbl2q_u8(uint8x16x2_t(low, high), vsubq_u8(self.0, vdupq_n_u8(0xE0))))
        }
        fn lookup_16(self, table: &[u8; 16]) -> Self {
            // An index of 16 or more would pick zero.
            Self(vqtbl1q_u8(load_16(table), vandq_u8(self.0, vdupq_n_u8(0x0F))))
        }
    }

    #[inline(always)]
    fn mask_of_64(bytes: impl Fn(usize) -> Self) -> u64 {
        let vectors = [bytes(0), bytes(16), bytes(32), bytes(48)];
        vectors[0].join_masks(vectors)
    }

    lanewise! {
        or: vorrq_u8,
        and: vandq_u8,
        xor: veorq_u8,
        wrapping_add: vaddq_u8,
        saturating_sub: vqsubq_u8,
        average: vrhaddq_u8,
        max: vmaxq_u8,
        min: vminq_u8,
    }
}

impl Vector16 for Bytes16 {
    #[inline(always)]
    fn from_bytes(token: HasNeon, bytes: &[u8; 16]) -> Self {
        token.bytes(bytes)
    }

    #[inline(always)]
    fn from_words(token: HasNeon, words: [u64; 2]) -> Self {
        token.words(words)
    }

    arithmetic! {
        fn shift_up(self, n: usize) -> Self {
            let mut indexes = [0; 16];
            indexes.copy_from_slice(&generic::SHIFT_UP[16 - n..][..16]);
            Self(vqtbl1q_u8(self.0, load_16(&indexes)))
        }
    }
}

impl Bytes16 {
    arithmetic! {
        fn join_masks(self, vectors: [Self; 4]) -> u64 {
            // Keeps one bit of each byte. Three sums of adjacent bytes join the bits of eight bytes in one.
            // (`self` only proves that the machine has the instructions.)
            const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
            let bits = load_16(&BITS);
            let [a, b, c, d] = vectors
                .map(|vector| vandq_u8(vcltzq_s8(vreinterpretq_s8_u8(vector.0)), bits));
            let halves = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)))
        }
    }
}

impl HasNeon {
    arithmetic! {
        fn bytes(self, bytes: &[u8; 16]) -> Bytes16 {
            Bytes16(load_16(bytes))
        }
        fn words(self, words: [u64; 2]) -> Bytes16 {
            let [low, high] = words;
            Bytes16(vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))))
        }
    }
}
