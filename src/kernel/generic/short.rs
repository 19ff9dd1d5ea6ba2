//! Up to 256 bytes, all of them tested at once.

use crate::kernel::generic::{Found, Look, Vector, Vector16, first, full, full_at};
use crate::kernel::{Stop, scalar};

/// What makes bit 7 of the average with it say, for the last three bytes of a vector, whether they
/// begin a sequence that goes on behind them.
static UNFINISHED: [u8; 32] = {
    let mut table = [0; 32];
    [table[29], table[30], table[31]] = [0x0F, 0x1F, 0x3F];
    table
};

/// The answer for a short input of which everything has been looked at, `top` being its greatest
/// bytes and `last` its last ones.
#[inline(always)]
fn conclude<V: Vector>(input: &[u8], found: Found<V>, top: V, last: V) -> Look {
    const { assert!(V::LEN <= UNFINISHED.len()) };
    // SAFETY: a vector is not longer than the table. That there is one shows that the machine has its
    // instructions.
    let unfinished = unsafe { V::load(UNFINISHED.as_ptr().add(UNFINISHED.len() - V::LEN)) };
    let suspicious = found.marks().or(top.minus(top.each(0xF4 - 0x80)));
    if !suspicious.or(last.average(unfinished)).any_high() {
        Ok(Stop::clean(input.len()))
    } else if suspicious.any_high() {
        Err(0)
    } else {
        Ok(Stop::clean_up_to_tail(input))
    }
}

/// 4 to 16 bytes in one register, the bytes in front of them being zeros.
///
/// # Safety
///
/// - The machine has the vector's instructions.
#[inline(always)]
pub(in crate::kernel) unsafe fn up_to_16<V: Vector16>(input: &[u8]) -> Look {
    let words = match (input.first_chunk(), input.last_chunk()) {
        (Some(&first), Some(&last)) if input.len() > 8 => {
            let [first, last] = [u64::from_le_bytes(first), u64::from_le_bytes(last)];
            if (first | last) & 0x8080_8080_8080_8080 == 0 {
                return Ok(Stop::clean(input.len()));
            }
            [first << (8 * (16 - input.len())), last]
        }
        _ => {
            let (Some(&first), Some(&last)) = (input.first_chunk(), input.last_chunk()) else {
                return Ok(scalar::validate(input));
            };
            let [first, last] = [u32::from_le_bytes(first), u32::from_le_bytes(last)];
            if (first | last) & 0x8080_8080 == 0 {
                return Ok(Stop::clean(input.len()));
            }
            [0, u64::from(first) << (8 * (8 - input.len())) | u64::from(last) << 32]
        }
    };
    // SAFETY: the caller's promise.
    let text = unsafe { V::from_words(words) };
    conclude(input, first(text), text, text)
}

/// 17 to 32 bytes in two registers, the bytes in front of them being zeros.
///
/// # Safety
///
/// - `input` has 17 to 32 bytes.
/// - The machine has the vector's instructions.
#[inline(always)]
pub(in crate::kernel) unsafe fn up_to_32<V: Vector16>(input: &[u8]) -> Look {
    debug_assert!((17..=32).contains(&input.len()));
    // SAFETY: the first and the last 16 bytes are within `input`, which has more.
    let (low, high) =
        unsafe { (V::load(input.as_ptr()), V::load(input.as_ptr().add(input.len() - 16))) };
    let top = low.max(high);
    if !top.any_high() {
        return Ok(Stop::clean(input.len()));
    }
    // SAFETY: `input` has 17 to 32 bytes, so that this is 0 to 15.
    let low = unsafe { low.up(32 - input.len()) };
    let found = first(low);
    let backs = [high.back::<1>(low), high.back::<2>(low), high.back::<3>(low)];
    conclude(input, full(high, backs, found), top, high)
}

/// More bytes than half of `2 * HALF` blocks have, and no more than these: as many blocks from the
/// start as from the end, overlapping.
///
/// # Safety
///
/// - `input` has more than `HALF * LEN` bytes, at least `LEN + 3`, and `2 * HALF * LEN` at most.
/// - The machine has the vector's instructions.
#[inline(always)]
pub(in crate::kernel) unsafe fn halves<V: Vector, const HALF: usize>(input: &[u8]) -> Look {
    let len = input.len();
    debug_assert!(len > HALF * V::LEN && len <= 2 * HALF * V::LEN && len >= V::LEN + 3);
    let start = input.as_ptr();
    // The blocks at 0, LEN, .. and at `second`, `second + LEN`, .. cover the input.
    let second = len - HALF * V::LEN;
    // SAFETY: `HALF` blocks can be read from the start on, and from `second` on, to the end.
    unsafe {
        let block = V::load(start);
        let mut top = block.max(V::load(start.add(second)));
        let mut i = 1;
        while i < HALF {
            top = top.max(V::load(start.add(i * V::LEN)));
            top = top.max(V::load(start.add(second + i * V::LEN)));
            i += 1;
        }
        if !top.any_high() {
            return Ok(Stop::clean(len));
        }
        // With one or two bytes before it (`HALF` is 2 or more then) the block at `second` is within
        // the first two, and one that is not needed stands for it.
        let mut found = full_at(start.add(second.max(3)), first(block));
        let mut i = 1;
        while i < HALF {
            found = full_at(start.add(i * V::LEN), found);
            found = full_at(start.add(second + i * V::LEN), found);
            i += 1;
        }
        conclude(input, found, top, V::load(start.add(len - V::LEN)))
    }
}

/// A few blocks, the last of which is laid against the end.
///
/// # Safety
///
/// - `input` has `2 * LEN` bytes and more.
/// - The machine has the vector's instructions.
#[inline(always)]
pub(in crate::kernel) unsafe fn blocks<V: Vector>(input: &[u8]) -> Look {
    debug_assert!(input.len() >= 2 * V::LEN);
    let start = input.as_ptr();
    let last = input.len() - V::LEN;
    // SAFETY: every block is at `last` at most, and so within `input`; those that `full_at` is asked
    // for are at `LEN` or behind it.
    unsafe {
        let block = V::load(start);
        let mut top = block.max(V::load(start.add(last)));
        let mut at = V::LEN;
        while at < last {
            top = top.max(V::load(start.add(at)));
            at += V::LEN;
        }
        if !top.any_high() {
            return Ok(Stop::clean(input.len()));
        }
        let mut found = first(block);
        let mut at = V::LEN;
        while at < last {
            found = full_at(start.add(at), found);
            at += V::LEN;
        }
        conclude(input, full_at(start.add(last), found), top, V::load(start.add(last)))
    }
}
