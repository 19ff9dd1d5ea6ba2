//! CESU-8 and Modified UTF-8 where they differ from UTF-8: surrogate pairs and U+0000.
//!
//! Bytes are rewritten as UTF-8 without validation: a surrogate pair, `ED A0..AF tail ED B0..BF tail`,
//! becomes the four bytes of its scalar value, `C0 80` becomes 00, all other bytes are copied. The
//! output is then validated like any other UTF-8, so nothing relies on this code.

use core::ops::RangeInclusive;

use crate::simd::HIGH_BITS;

/// The encoding of U+0000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NulForm {
    /// As one byte, 00: CESU-8.
    OneByte,
    /// As `C0 80`: Modified UTF-8, which has no byte 00.
    TwoBytes,
}

impl NulForm {
    /// A range of bytes: text of these bytes only is the same in the dialect and in UTF-8.
    pub const fn plain_bytes(self) -> RangeInclusive<u8> {
        match self {
            Self::OneByte => 0x00..=0xEF,
            Self::TwoBytes => 0x01..=0xEF,
        }
    }

    /// The ASCII bytes in that range.
    pub const fn plain_ascii(self) -> RangeInclusive<u8> {
        match self {
            Self::OneByte => 0x00..=0x7F,
            Self::TwoBytes => 0x01..=0x7F,
        }
    }
}

/// The sequences that start in a block. Bit `i` of a mask represents byte `i`.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(in crate::simd) struct PairMarks {
    pub(in crate::simd) ed: u64,
    pub(in crate::simd) pairs: u64,
    /// `C0 80`, with [`NulForm::TwoBytes`].
    pub(in crate::simd) nuls: u64,
    /// The bytes to stop at.
    pub(in crate::simd) stop: u64,
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
impl PairMarks {
    /// `equal(bits, byte, n)` marks where the byte `n` positions later has these `bits`. `seconds` are the second halves of
    /// pairs that started before the block.
    #[inline(always)]
    pub(in crate::simd) fn new(
        equal: impl Fn(u8, u8, usize) -> u64,
        nul: NulForm,
        seconds: u64,
    ) -> Self {
        let ed = equal(0xFF, 0xED, 0);
        let (mut pairs, mut nuls, mut stop) = (0, 0, equal(0xF0, 0xF0, 0));
        if nul == NulForm::TwoBytes {
            let c0 = equal(0xFF, 0xC0, 0);
            nuls = if c0 == 0 { 0 } else { c0 & equal(0xFF, 0x80, 1) };
            stop |= c0 & !nuls | equal(0xFF, 0x00, 0);
        }
        if ed != 0 {
            let first = ed & equal(0xF0, 0xA0, 1) & equal(0xC0, 0x80, 2);
            pairs = first & equal(0xFF, 0xED, 3) & equal(0xF0, 0xB0, 4) & equal(0xC0, 0x80, 5);
            stop |= ed & equal(0xE0, 0xA0, 1) & !(pairs | pairs << 3 | seconds);
        }
        Self { ed, pairs, nuls, stop }
    }
}

/// The minimum free output for another step.
pub(in crate::simd) const ROOM: usize = 64;

/// Joins pairs: one word at a time, and the last bytes one by one.
pub(in crate::simd) fn join_pairs(input: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while let Some(room) = out[written..].first_chunk_mut::<ROOM>() {
        let rest = &input[read..];
        let rewritten = match rest.first_chunk::<8>() {
            Some(word) => join_word(*word, nul, room),
            None => join_one(rest, nul, room),
        };
        match rewritten {
            Some((len, put)) => (read, written) = (read + len, written + put),
            None => break,
        }
    }
    (read, written)
}

/// Splits pairs: one word at a time, and the last bytes one by one.
pub(in crate::simd) fn split_pairs(text: &[u8], nul: NulForm, out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while let Some(room) = out[written..].first_chunk_mut::<ROOM>() {
        let rest = &text[read..];
        let rewritten = match rest.first_chunk::<8>() {
            Some(word) => Some(split_word(*word, nul, room)),
            None => split_one(rest, nul, room),
        };
        match rewritten {
            Some((len, put)) => (read, written) = (read + len, written + put),
            None => break,
        }
    }
    (read, written)
}

/// Rewrites the start of `word`. Returns the bytes read and written, or `None` at a byte to stop at.
#[inline]
fn join_word(word: [u8; 8], nul: NulForm, room: &mut [u8; ROOM]) -> Option<(usize, usize)> {
    let bytes = u64::from_le_bytes(word);
    if let Some(joined) = join(bytes) {
        room[..4].copy_from_slice(&joined);
        return Some((6, 4));
    }
    if nul == NulForm::TwoBytes && word[0] == 0xC0 {
        room[..4].fill(0);
        return match bytes {
            0x80C0_80C0_80C0_80C0 => Some((8, 4)),
            _ if word[1] == 0x80 => Some((2, 1)),
            _ => None,
        };
    }
    room[..8].copy_from_slice(&word);
    let marks = large_bytes(bytes) | zeros(bytes ^ 0xEDED_EDED_EDED_EDED);
    let marks = match nul {
        NulForm::OneByte => marks,
        NulForm::TwoBytes => marks | zeros(bytes ^ 0xC0C0_C0C0_C0C0_C0C0) | zeros(bytes),
    };
    match first_marked(marks) {
        0 => is_no_surrogate(word[0], word[1]).then_some((1, 1)),
        plain => Some((plain, plain)),
    }
}

/// Like [`join_word`], for the last bytes, fewer than eight.
fn join_one(rest: &[u8], nul: NulForm, room: &mut [u8; ROOM]) -> Option<(usize, usize)> {
    match *rest {
        [a, b, c, d, e, f, ..] if a == 0xED && matches!(b, 0xA0..=0xBF) => {
            room[..4].copy_from_slice(&join(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))?);
            return Some((6, 4));
        }
        [0xED, next, ..] if !is_no_surrogate(0xED, next) => return None,
        [] | [0xED] | [0xF0..=0xFF, ..] => return None,
        [0xC0, 0x80, ..] if nul == NulForm::TwoBytes => {
            room[0] = 0;
            return Some((2, 1));
        }
        [0x00 | 0xC0, ..] if nul == NulForm::TwoBytes => return None,
        [byte, ..] => room[0] = byte,
    }
    Some((1, 1))
}

/// Rewrites the start of `word`. Returns the bytes read and written.
#[inline]
fn split_word(word: [u8; 8], nul: NulForm, room: &mut [u8; ROOM]) -> (usize, usize) {
    let bytes = u64::from_le_bytes(word);
    match word {
        [a @ 0xF0..=0xFF, b, c, d, ..] => {
            room[..6].copy_from_slice(&split([a, b, c, d]));
            (4, 6)
        }
        [0x00, ..] if nul == NulForm::TwoBytes => {
            for pair in room[..16].as_chunks_mut::<2>().0 {
                *pair = [0xC0, 0x80];
            }
            if bytes == 0 { (8, 16) } else { (1, 2) }
        }
        _ => {
            room[..8].copy_from_slice(&word);
            let nuls = if nul == NulForm::TwoBytes { zeros(bytes) } else { 0 };
            let plain = first_marked(large_bytes(bytes) | nuls);
            (plain, plain)
        }
    }
}

/// Like [`split_word`], for the last bytes, fewer than eight. Returns `None` if there are none, or only an
/// incomplete character.
fn split_one(rest: &[u8], nul: NulForm, room: &mut [u8; ROOM]) -> Option<(usize, usize)> {
    match *rest {
        [a @ 0xF0..=0xFF, b, c, d, ..] => {
            room[..6].copy_from_slice(&split([a, b, c, d]));
            return Some((4, 6));
        }
        [] | [0xF0..=0xFF, ..] => return None,
        [0x00, ..] if nul == NulForm::TwoBytes => {
            room[..2].copy_from_slice(&[0xC0, 0x80]);
            return Some((1, 2));
        }
        [byte, ..] => room[0] = byte,
    }
    Some((1, 1))
}

/// Rewrites six bytes, the first in the lowest bits, if they are a pair.
///
/// ```text
/// ED 1010vvvv 10wwwwww ED 1011xxxx 10yyyyyy    the value is 1_0000 + vvvv_wwwwww_xxxx_yyyyyy
/// 11110uuu 10uuwwww 10wwxxxx 10yyyyyy          uuuuu = vvvv + 1
/// ```
#[inline]
const fn join(bytes: u64) -> Option<[u8; 4]> {
    if bytes & 0x0000_C0F0_FFC0_F0FF != 0x0000_80B0_ED80_A0ED {
        return None;
    }
    let [_, v, w, _, x, y, _, _] = bytes.to_le_bytes();
    let u = (v & 0x0F) + 1;
    Some([0xF0 | u >> 2, 0x80 | (u & 3) << 4 | (w & 0x3F) >> 2, 0x80 | (w & 3) << 4 | x & 0x0F, y])
}

/// Rewrites four bytes as a pair: the inverse.
#[inline]
const fn split([a, b, c, y]: [u8; 4]) -> [u8; 6] {
    let u = (a & 0x07) << 2 | b >> 4 & 3;
    let w = (b & 0x0F) << 2 | c >> 4 & 3;
    [0xED, 0xA0 | u.wrapping_sub(1) & 0x0F, 0x80 | w, 0xED, 0xB0 | c & 0x0F, y]
}

/// Whether this ED does not start a surrogate. Validation classifies it later.
const fn is_no_surrogate(byte: u8, next: u8) -> bool {
    byte == 0xED && !matches!(next, 0xA0..=0xBF)
}

/// Marks the bytes from F0 on.
#[inline]
const fn large_bytes(word: u64) -> u64 {
    word & word << 1 & word << 2 & word << 3 & HIGH_BITS
}

/// Marks the first zero byte, no byte before it, and possibly some after it.
#[inline]
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & HIGH_BITS
}

/// The index of the first byte whose bit 7 is set, or 8.
#[inline]
const fn first_marked(marks: u64) -> usize {
    // The number of trailing zeros of zero is 64.
    marks.trailing_zeros() as usize / 8
}
