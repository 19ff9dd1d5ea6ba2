//! Validation of up to 256 bytes, all tested at once.

#[cfg(not(target_arch = "wasm32"))]
use super::outcome::cold_path;
use super::test::{Found, Look, test_first, test_full, test_full_at};
use super::vector::{Vector, Vector16, load};
use crate::kernel::reference;
use crate::kernel::validated::Validated;

/// The rounded average with this sets bit 7 of those of a vector's last three bytes that begin a sequence
/// which the vector does not contain completely.
static UNFINISHED: [u8; 32] = {
    let mut table = [0; 32];
    [table[29], table[30], table[31]] = [0x0F, 0x1F, 0x3F];
    table
};

/// Returns the result for a short input after all tests. `top` is its maximum, `last` its last bytes.
#[inline(always)]
fn conclude<V: Vector>(token: V::Token, input: &[u8], found: Found<V>, top: V, last: V) -> Look {
    let unfinished = load(token, &UNFINISHED, UNFINISHED.len() - V::LEN);
    let suspicious = found.marks().or(top.saturating_sub(top.splat(0xF4 - 0x80)));
    if !suspicious.or(last.average(unfinished)).any_high_bit() {
        Ok(Validated::all(input.len()))
    } else if suspicious.any_high_bit() {
        Err(0)
    } else {
        Ok(Validated::all_but_tail(input))
    }
}

/// 4 to 16 bytes in one register, after zeros.
#[inline(always)]
pub(in crate::kernel) fn validate_up_to_16<V: Vector16>(token: V::Token, input: &[u8]) -> Look {
    let words = match (input.first_chunk(), input.last_chunk()) {
        (Some(&first), Some(&last)) if input.len() > 8 => {
            let [first, last] = [u64::from_le_bytes(first), u64::from_le_bytes(last)];
            if (first | last) & 0x8080_8080_8080_8080 == 0 {
                return Ok(Validated::all(input.len()));
            }
            [first << (8 * (16 - input.len())), last]
        }
        _ => {
            let (Some(&first), Some(&last)) = (input.first_chunk(), input.last_chunk()) else {
                return Ok(reference::validate(input));
            };
            let [first, last] = [u32::from_le_bytes(first), u32::from_le_bytes(last)];
            if (first | last) & 0x8080_8080 == 0 {
                return Ok(Validated::all(input.len()));
            }
            [0, u64::from(first) << (8 * (8 - input.len())) | u64::from(last) << 32]
        }
    };
    let text = V::from_words(token, words);
    conclude(token, input, test_first(text), text, text)
}

/// 17 to 32 bytes in two registers, after zeros.
#[inline(always)]
pub(in crate::kernel) fn validate_up_to_32<V: Vector16>(token: V::Token, input: &[u8]) -> Look {
    let (Some(low), Some(high)) = (input.first_chunk(), input.last_chunk()) else {
        return Ok(reference::validate(input));
    };
    let (low, high) = (V::from_bytes(token, low), V::from_bytes(token, high));
    let top = low.max(high);
    if !top.any_high_bit() {
        return Ok(Validated::all(input.len()));
    }
    let low = low.shift_up(32 - input.len());
    let found = test_first(low);
    let backs = [high.prev::<1>(low), high.prev::<2>(low), high.prev::<3>(low)];
    conclude(token, input, test_full(high, backs, found), top, high)
}

/// Inputs of `HALF` to `2 * HALF` blocks: `HALF` blocks from the start and `HALF` up to the end, which may
/// overlap.
#[cfg(not(target_arch = "wasm32"))]
#[inline(always)]
pub(in crate::kernel) fn validate_halves<V: Vector, const HALF: usize>(
    token: V::Token,
    input: &[u8],
) -> Look {
    let len = input.len();
    assert!(len > HALF * V::LEN && len <= 2 * HALF * V::LEN && len >= V::LEN + 3);
    let start = input.as_ptr();
    // The blocks at 0, LEN, .. and at `second`, `second + LEN`, .. cover the input.
    let second = len - HALF * V::LEN;
    // SAFETY: `HALF` blocks can be read from the start on, and from `second` on, to the end.
    unsafe {
        let block = V::load(token, start);
        let mut top = block.max(V::load(token, start.add(second)));
        let mut i = 1;
        while i < HALF {
            top = top.max(V::load(token, start.add(i * V::LEN)));
            top = top.max(V::load(token, start.add(second + i * V::LEN)));
            i += 1;
        }
        if !top.any_high_bit() {
            return Ok(Validated::all(len));
        }
        cold_path();
        // If `second` is 1 or 2, fewer than three bytes are before it. (`HALF` is then 2 or more, so the first
        // two blocks contain that block.) The block at 3 is tested instead.
        let mut found = test_full_at(token, start.add(second.max(3)), test_first(block));
        let mut i = 1;
        while i < HALF {
            found = test_full_at(token, start.add(i * V::LEN), found);
            found = test_full_at(token, start.add(second + i * V::LEN), found);
            i += 1;
        }
        conclude(token, input, found, top, V::load(token, start.add(len - V::LEN)))
    }
}

/// Inputs of at most `MOST` blocks; the last block is aligned to the end.
#[inline(always)]
pub(in crate::kernel) fn validate_blocks<V: Vector, const MOST: usize>(
    token: V::Token,
    input: &[u8],
) -> Look {
    assert!(input.len() >= 2 * V::LEN && input.len() <= MOST * V::LEN);
    let start = input.as_ptr();
    let last = input.len() - V::LEN;
    // SAFETY: every block is at `last` at most, and so within `input`; those that `test_full_at`
    // tests are at `LEN` or after it.
    unsafe {
        let block = V::load(token, start);
        let mut top = block.max(V::load(token, start.add(last)));
        let mut at = V::LEN;
        while at < last {
            top = top.max(V::load(token, start.add(at)));
            at += V::LEN;
        }
        if !top.any_high_bit() {
            return Ok(Validated::all(input.len()));
        }
        let mut found = test_first(block);
        let mut at = V::LEN;
        while at < last {
            found = test_full_at(token, start.add(at), found);
            at += V::LEN;
        }
        conclude(
            token,
            input,
            test_full_at(token, start.add(last), found),
            top,
            V::load(token, start.add(last)),
        )
    }
}
