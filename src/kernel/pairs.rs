//! CESU-8 and Modified UTF-8 where they are not UTF-8: pairs of surrogates, and U+0000.
//!
//! Bytes are rewritten as UTF-8 without being validated: a pair of surrogates, `ED A0..AF tail ED
//! B0..BF tail`, as the four bytes of what it stands for, `C0 80` as 00, everything else as it is. What
//! comes out is then validated like any other UTF-8, so that nothing here has to be relied on.

use core::ops::RangeInclusive;

use super::Kernel;
#[cfg(target_arch = "x86_64")]
use super::{Tier, avx512};

/// How U+0000 is written where surrogates come in pairs.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nul {
    /// As one byte, 00: CESU-8.
    Short,
    /// As `C0 80`: Modified UTF-8, which has no byte 00.
    Long,
}

impl Nul {
    /// The bytes that a stretch of UTF-8 may have to mean the same.
    pub(crate) const fn plain_bytes(self) -> RangeInclusive<u8> {
        match self {
            Self::Short => 0x00..=0xEF,
            Self::Long => 0x01..=0xEF,
        }
    }

    /// Those of them that are ASCII.
    pub(crate) const fn plain_ascii(self) -> RangeInclusive<u8> {
        match self {
            Self::Short => 0x00..=0x7F,
            Self::Long => 0x01..=0x7F,
        }
    }
}

impl Kernel {
    /// Rewrites `input` as UTF-8 into `out`, until fewer than 64 bytes of that are left. Returns the
    /// bytes read and the bytes written; those behind them in `out` may be anything.
    ///
    /// Stops in front of what is not UTF-8, a pair, or `C0 80`, as far as one can tell from these
    /// bytes: F0 to FF; with [`Nul::Long`] 00, and C0 before anything but 80; a surrogate that is no
    /// pair with what follows, or ED at the end. Other bytes may be ill-formed.
    #[doc(hidden)]
    #[inline]
    pub fn join_pairs(self, input: &[u8], nul: Nul, out: &mut [u8]) -> (usize, usize) {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::pairs::join_pairs(input, nul, out) },
            _ => join_pairs(input, nul, out),
        }
    }

    /// Rewrites `text`, which is UTF-8 and may begin inside a character of up to three bytes, with
    /// pairs of surrogates: the other way round. Goes on until fewer than 64 bytes of `out` are left.
    /// Returns the bytes read and the bytes written; those behind them in `out` may be anything.
    #[doc(hidden)]
    #[inline]
    pub fn split_pairs(self, text: &[u8], nul: Nul, out: &mut [u8]) -> (usize, usize) {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::pairs::split_pairs(text, nul, out) },
            _ => split_pairs(text, nul, out),
        }
    }
}

/// Bytes of room without which nothing is begun.
pub(super) const ROOM: usize = 64;

/// The reference: a word at a time up to something to look at, then that.
pub(super) fn join_pairs(input: &[u8], nul: Nul, out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while out.len() - written >= ROOM {
        let (rest, room) = (&input[read..], &mut out[written..]);
        let Some(word) = rest.first_chunk::<8>() else {
            let plain = rest.iter().take_while(|&&byte| is_plain(byte, nul)).count();
            room[..plain].copy_from_slice(&rest[..plain]);
            (read, written) = (read + plain, written + plain);
            match one(&input[read..], nul, &mut out[written..]) {
                Some((len, put)) => (read, written) = (read + len, written + put),
                None => break,
            }
            continue;
        };
        room[..8].copy_from_slice(word);
        let plain = plain_len(*word, nul);
        (read, written) = (read + plain, written + plain);
        if plain < 8 {
            match one(&input[read..], nul, &mut out[written..]) {
                Some((len, put)) => (read, written) = (read + len, written + put),
                None => break,
            }
        }
    }
    (read, written)
}

/// The reference, likewise.
pub(super) fn split_pairs(text: &[u8], nul: Nul, out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while out.len() - written >= ROOM {
        let (rest, room) = (&text[read..], &mut out[written..]);
        let plain = match rest.first_chunk::<8>() {
            Some(word) => {
                room[..8].copy_from_slice(word);
                let marks = large_bytes(*word) | if nul == Nul::Long { zeros(*word) } else { 0 };
                first_marked(marks)
            }
            None => {
                let plain = rest.iter().take_while(|byte| nul.plain_bytes().contains(byte)).count();
                room[..plain].copy_from_slice(&rest[..plain]);
                plain
            }
        };
        (read, written) = (read + plain, written + plain);
        let room = &mut out[written..];
        match text[read..] {
            [] => break,
            [a @ 0xF0..=0xFF, b, c, d, ..] if plain < 8 => {
                room[..6].copy_from_slice(&split([a, b, c, d]));
                (read, written) = (read + 4, written + 6);
            }
            [0x00, ..] if plain < 8 && nul == Nul::Long => {
                room[..2].copy_from_slice(&[0xC0, 0x80]);
                (read, written) = (read + 1, written + 2);
            }
            // A character that is not all there.
            [0xF0..=0xFF, ..] if plain < 8 => break,
            _ => {}
        }
    }
    (read, written)
}

/// Rewrites what `rest` begins with, a byte that is not plain; the bytes read and written.
#[inline]
fn one(rest: &[u8], nul: Nul, room: &mut [u8]) -> Option<(usize, usize)> {
    match *rest {
        [0xED, 0xA0..=0xBF, ..] => {
            let pair = rest.first_chunk::<6>()?;
            room[..4].copy_from_slice(&join(*pair)?);
            Some((6, 4))
        }
        // No surrogate; what it is, if anything, will be seen.
        [0xED, _, ..] => {
            room[0] = 0xED;
            Some((1, 1))
        }
        [0xC0, 0x80, ..] if nul == Nul::Long => {
            room[0] = 0;
            Some((2, 1))
        }
        _ => None,
    }
}

/// Rewrites six bytes, if they are a pair.
///
/// ```text
/// ED 1010vvvv 10wwwwww ED 1011xxxx 10yyyyyy    the value is 1_0000 + vvvv_wwwwww_xxxx_yyyyyy
/// 11110uuu 10uuwwww 10wwxxxx 10yyyyyy          uuuuu = vvvv + 1
/// ```
#[inline]
fn join([first, v, w, second, x, y]: [u8; 6]) -> Option<[u8; 4]> {
    let bytes = u64::from_be_bytes([0, 0, first, v, w, second, x, y]);
    if bytes & 0xFFF0_C0FF_F0C0 != 0xEDA0_80ED_B080 {
        return None;
    }
    let u = (v & 0x0F) + 1;
    Some([0xF0 | u >> 2, 0x80 | (u & 3) << 4 | (w & 0x3F) >> 2, 0x80 | (w & 3) << 4 | x & 0x0F, y])
}

/// Rewrites four bytes as a pair, the other way round.
#[inline]
const fn split([a, b, c, y]: [u8; 4]) -> [u8; 6] {
    let u = (a & 0x07) << 2 | b >> 4 & 3;
    let w = (b & 0x0F) << 2 | c >> 4 & 3;
    [0xED, 0xA0 | u.wrapping_sub(1) & 0x0F, 0x80 | w, 0xED, 0xB0 | c & 0x0F, y]
}

const fn is_plain(byte: u8, nul: Nul) -> bool {
    match nul {
        Nul::Short => byte < 0xF0 && byte != 0xED,
        Nul::Long => byte < 0xF0 && byte != 0xED && byte != 0xC0 && byte != 0x00,
    }
}

/// How many bytes of a word are plain before one that is not.
#[inline]
fn plain_len(word: [u8; 8], nul: Nul) -> usize {
    let marks = large_bytes(word) | zeros(word.map(|byte| byte ^ 0xED));
    first_marked(match nul {
        Nul::Short => marks,
        Nul::Long => marks | zeros(word.map(|byte| byte ^ 0xC0)) | zeros(word),
    })
}

const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks the bytes from F0 on.
#[inline]
fn large_bytes(word: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(word);
    word & word << 1 & word << 2 & word << 3 & HIGH
}

/// Marks the first byte that is zero, none before it, and perhaps some behind.
#[inline]
fn zeros(word: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(word);
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & HIGH
}

/// The place of the first byte that is marked, in bit 7, or 8.
#[inline]
const fn first_marked(marks: u64) -> usize {
    // Of zero, 64 are zero.
    marks.trailing_zeros() as usize / 8
}
