//! Validation: of up to 256 bytes, all tested at once, and of 256 bytes and more, in strides.

#[cfg(not(target_arch = "wasm32"))]
use super::scan::cold_path;
use super::scan::error_near;
use super::test::{
    Found, Look, any_wide, needs_beyond, never, test_beyond, test_first, test_full, test_full_at,
    test_narrow,
};
use super::vector::{Vector, Vector16, distance_to_line, load};
use crate::kernel::reference;
use crate::kernel::results::Validated;

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
    // SAFETY: `HALF` blocks can be read from the start on, and from `second` on, to the end. Every block that is tested
    // has three bytes before it; the one at 3 ends at `LEN + 3`, which is at most `len`.
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
        // If `second` is 1 or 2, fewer than three bytes are before it. `HALF` is then 2 or more, so the first
        // two blocks contain that block. The block at 3 is tested instead.
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
    // tests are at `LEN`, which is more than 3, or after it.
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

/// The number of bytes whose maximum decides which test they need.
const STRIDE: usize = 128;
/// The number of bytes tested for ASCII at once.
const RUN: usize = 2 * STRIDE;
/// The approximate number of bytes between two tests of the marks.
const GROUP: usize = 1024;
/// The number of bytes for which the last required test is expected to be required again.
const SOON: usize = 512;

/// Validates 256 bytes and more, in strides. The last stride is aligned to the end of the input.
///
/// - ASCII is skipped, unless there were two-byte letters in the last half KiB. Near such letters, ASCII gets
///   their test too, so that a few letters in much ASCII do not cost a branch misprediction each.
/// - After a byte above DF, the full test is used, without a branch: for one stride, or for 1 KiB if the last
///   switch was less than half a KiB ago or at most 1 KiB is left.
#[inline(always)]
pub(in crate::kernel) fn validate_long<V: Vector>(token: V::Token, input: &[u8]) -> Look {
    let len = input.len();
    let (Some(first_run), Some(last_run)) = (input.first_chunk(), input.last_chunk()) else {
        return Ok(reference::validate(input));
    };
    let start = input.as_ptr();
    let to_line = distance_to_line(start);
    let last = len - STRIDE;
    let block: V = load(token, input, 0);
    let zero = block.splat(0);
    let mut found = Found::nothing(zero);
    let mut tested = 0;
    let mut at;
    if is_ascii::<V>(token, first_run) {
        // Short vectors lose less where they cross a line than they gain by alignment.
        let from = if V::LEN == 16 { RUN } else { RUN - 64 + to_line };
        at = skip_ascii::<V>(token, input, from, last_run);
        if at == len {
            return Ok(Validated::all(len));
        }
        if let Some(found) = stray_after_ascii::<V>(token, input, at) {
            return Ok(found);
        }
        tested = at.min(last);
    } else {
        if let Some(block) = first_run.first_chunk()
            && let Some(found) = Validated::stray(input, ascii_in_64::<V>(token, block))
        {
            return Ok(found);
        }
        // SAFETY: two blocks and more are in `input`.
        let (second, both) = unsafe {
            let at = start.add(V::LEN);
            (V::load(token, at), test_full_at(token, at, test_first(block)))
        };
        let top = block.max(second);
        if both.marks().or(top.saturating_sub(top.splat(0xF4 - 0x80))).any_high_bit()
            && let Some(near) = first_in_two_blocks([block, second])
        {
            return Ok(error_near(input, near));
        }
        at = V::LEN + to_line % V::LEN;
    }
    at = at.min(last);
    // Invariant: all bytes before `at` (3..=last) have been tested, none is marked before `tested`, and
    // `top` has the maximum from `group` on (of bytes above DF).
    let mut group = at;
    let mut top = zero;
    let mut test_at = 0;
    let mut calm_at = 0;
    let mut wide_until = 0;
    loop {
        // SAFETY: `at` is 3 or more, and at most the index of the last stride.
        let greatest = unsafe { greatest_of::<V>(token, start.add(at)) };
        top = top.max(greatest);
        let high = greatest.any_high_bit();
        let mut calm = false;
        if any_wide(greatest) {
            // Includes the rest of the input if it is short.
            let wanted = if at < wide_until { GROUP } else { STRIDE };
            let end = if len - at <= wanted.max(SOON) { len } else { at + wanted };
            // SAFETY: `at` is 3 or more; `end` is at least a stride after it, and at most `len`.
            (found, top) = unsafe { test_full_in(token, start, at, end, found, top) };
            at = end;
            wide_until = at + SOON;
        } else {
            calm = !high & (at >= calm_at);
            if !calm {
                // SAFETY: `at` is 3 or more, and a stride from there on is within `input`.
                found = unsafe { test_narrow_stride(token, start.add(at), found) };
            }
            at += STRIDE;
            calm_at = if high { at + SOON } else { calm_at };
        }
        if calm | (at >= test_at) | (at == len) {
            if !V::TESTS_ALL_LEADS && needs_beyond(top) {
                // There is an error; the caller locates it.
                if never(top).any_high_bit() {
                    return Err(tested);
                }
                // SAFETY: from `group` to `at`, a stride and more, is in `input`; `group` is 3 or more.
                found.errors = unsafe { test_beyond_in(token, start, group, at, found.errors) };
            }
            if found.marks().any_high_bit() {
                return Err(tested);
            }
            if at == len {
                return Ok(Validated::all_but_tail(input));
            }
            if calm {
                at = skip_ascii::<V>(token, input, at, last_run);
                if at == len {
                    return Ok(Validated::all(len));
                }
            }
            at = at.min(last);
            tested = at;
            group = at;
            top = zero;
            test_at = at + GROUP;
        }
        at = at.min(last);
    }
}

/// Locates the first error in the first two blocks of an input, so that the strides need not.
#[cold]
#[inline(always)]
fn first_in_two_blocks<V: Vector>([first, second]: [V; 2]) -> Option<usize> {
    let zero = first.splat(0);
    let mut found = test_first(first);
    found.errors = found.errors.or(test_beyond(first, first.prev::<1>(zero)));
    if let Some(i) = found.marks().first_high_bit() {
        return Some(i);
    }
    let backs = [second.prev::<1>(first), second.prev::<2>(first), second.prev::<3>(first)];
    found = test_full(second, backs, Found::nothing(zero));
    found.errors = found.errors.or(test_beyond(second, backs[0]));
    found.marks().first_high_bit().map(|i| V::LEN + i)
}

/// The maxima of the bytes of a stride and of the three bytes before it.
///
/// # Safety
///
/// - `STRIDE` bytes can be read at `at`, and 3 before it.
#[inline(always)]
unsafe fn greatest_of<V: Vector>(token: V::Token, at: *const u8) -> V {
    // SAFETY: all loads are within the bytes that the caller promises.
    unsafe {
        let mut greatest = V::load(token, at.sub(3));
        let mut i = 0;
        while i < STRIDE {
            greatest = greatest.max(V::load(token, at.add(i)));
            i += V::LEN;
        }
        greatest
    }
}

/// [`test_narrow`] for a stride.
///
/// # Safety
///
/// - `STRIDE` bytes can be read at `at`, and 1 before it.
#[inline(always)]
unsafe fn test_narrow_stride<V: Vector>(
    token: V::Token,
    at: *const u8,
    mut found: Found<V>,
) -> Found<V> {
    let mut i = 0;
    while i < STRIDE {
        // SAFETY: both loads are within the bytes that the caller promises.
        let [block, back1] =
            unsafe { [V::load(token, at.add(i)), V::load(token, at.add(i).sub(1))] };
        found = test_narrow(block, back1, found);
        i += V::LEN;
    }
    found
}

/// [`test_full`] for the bytes of a range, and the maximum of `top` and, if the test needs it, of the bytes.
///
/// # Safety
///
/// - The bytes from `start` to `to` can be read.
/// - `from` is 3 or more, and `LEN` or more below `to`.
#[inline(always)]
unsafe fn test_full_in<V: Vector>(
    token: V::Token,
    start: *const u8,
    from: usize,
    to: usize,
    mut found: Found<V>,
    mut top: V,
) -> (Found<V>, V) {
    let whole = from + (to - from) / V::LEN * V::LEN;
    let mut at = from;
    // SAFETY: whole blocks are tested up to `whole`, and then one that ends at `to`; three bytes are before
    // each of them.
    unsafe {
        while at < whole {
            if !V::TESTS_ALL_LEADS {
                top = top.max(V::load(token, start.add(at)));
            }
            found = test_full_at(token, start.add(at), found);
            at += V::LEN;
        }
        if at < to {
            top = top.max(V::load(token, start.add(to - V::LEN)));
            found = test_full_at(token, start.add(to - V::LEN), found);
        }
    }
    (found, top)
}

/// Whether a run is ASCII.
#[inline(always)]
fn is_ascii<V: Vector>(token: V::Token, run: &[u8; RUN]) -> bool {
    let at = run.as_ptr();
    // SAFETY: a vector is not longer than a run.
    let mut any = unsafe { V::load(token, at) };
    let mut i = V::LEN;
    while i < RUN {
        // SAFETY: the length of a vector divides that of a run, and `i` is a multiple of it.
        any = any.or(unsafe { V::load(token, at.add(i)) });
        i += V::LEN;
    }
    !any.any_high_bit()
}

/// Returns the result if the first byte from `at` on that is not ASCII begins no sequence; the bytes before `at` are
/// ASCII. This is most stray bytes in ASCII, and needs no test of sequences. Rows `locate/ascii`.
#[inline(always)]
fn stray_after_ascii<V: Vector>(token: V::Token, input: &[u8], mut at: usize) -> Option<Validated> {
    while let Some(rest) = input.get(at..)
        && let Some(block) = rest.first_chunk()
    {
        let ascii = ascii_in_64::<V>(token, block);
        at += ascii;
        if ascii < 64 {
            break;
        }
    }
    Validated::stray(input, at)
}

/// Counts the ASCII bytes before the first other byte.
#[inline(always)]
fn ascii_in_64<V: Vector>(token: V::Token, block: &[u8; 64]) -> usize {
    V::mask_of_64(|i| load(token, block, i)).trailing_zeros() as usize
}

/// Returns an index up to which the bytes from `at` on are ASCII; `input.len()` only if all are.
///
/// `last` is the end of `input`.
#[inline(always)]
fn skip_ascii<V: Vector>(token: V::Token, input: &[u8], mut at: usize, last: &[u8; RUN]) -> usize {
    while let Some(rest) = input.get(at..)
        && let Some(run) = rest.first_chunk()
    {
        if !is_ascii::<V>(token, run) {
            return at;
        }
        at += RUN;
    }
    if at == input.len() || is_ascii::<V>(token, last) {
        input.len()
    } else {
        at.min(input.len() - 1)
    }
}

/// `errors`, and the marks of [`test_beyond`] for the bytes of a range.
///
/// # Safety
///
/// - The bytes from `start` to `to` can be read.
/// - `from` is 1 or more, and `LEN` or more below `to`.
#[cold]
#[inline(always)]
unsafe fn test_beyond_in<V: Vector>(
    token: V::Token,
    start: *const u8,
    from: usize,
    to: usize,
    mut errors: V,
) -> V {
    let last = to - V::LEN;
    let mut at = from;
    loop {
        // SAFETY: `at` is at most the index of the last block, and a byte is before it.
        let [block, back1] =
            unsafe { [V::load(token, start.add(at)), V::load(token, start.add(at - 1))] };
        errors = errors.or(test_beyond(block, back1));
        if at == last {
            return errors;
        }
        at = (at + V::LEN).min(last);
    }
}
