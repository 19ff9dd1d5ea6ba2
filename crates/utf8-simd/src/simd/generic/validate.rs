//! Validation: of up to 256 bytes, all tested at once, and of 256 bytes and more, in strides.

use super::scan::{cold_path, locate_error};
use super::test::{
    Tested, Verdict, any_wide, backs_of, needs_beyond, never, test_after, test_beyond, test_first,
    test_full, test_full_at, test_narrow,
};
use super::vector::{Aligned, Vector, Vector16, distance_to_line, first, load};
use crate::simd::{ErrorLen, HIGH_BITS, Validated, head, reference, tail};

/// The rounded average with this sets bit 7 of those of a vector's last three bytes that begin a sequence
/// which the vector does not contain completely.
static UNFINISHED: Aligned = Aligned({
    let mut table = [0; 64];
    [table[61], table[62], table[63]] = [0x0F, 0x1F, 0x3F];
    table
});

/// Marks those of the last three bytes that begin a sequence which the vector does not contain completely.
#[inline(always)]
pub(in crate::simd) fn unfinished<V: Vector>(last: V) -> V {
    last.average(load(last, &UNFINISHED.0, UNFINISHED.0.len() - V::LEN))
}

/// Returns the result for a short input after all tests. `top` is its maximum, `last` its last bytes.
#[inline(always)]
pub(in crate::simd) fn conclude<V: Vector>(
    input: &[u8],
    found: Tested<V>,
    top: V,
    last: V,
) -> Verdict {
    let suspicious = found.marks().or(needs_beyond(top));
    if !suspicious.or(unfinished(last)).any_high_bit() {
        Ok(Validated::all(input.len()))
    } else if suspicious.any_high_bit() {
        Err(0)
    } else {
        Ok(Validated::all_but_tail(input))
    }
}

/// 4 to 16 bytes in one register, after zeros.
#[inline(always)]
pub(in crate::simd) fn validate_up_to_16<V: Vector16>(any: V, input: &[u8]) -> Verdict {
    let words = match (input.first_chunk(), input.last_chunk()) {
        (Some(&first), Some(&last)) if input.len() > 8 => {
            let [first, last] = [u64::from_le_bytes(first), u64::from_le_bytes(last)];
            if (first | last) & HIGH_BITS == 0 {
                return Ok(Validated::all(input.len()));
            }
            [first << (8 * (16 - input.len())), last]
        }
        _ => {
            let (Some(&first), Some(&last)) = (input.first_chunk(), input.last_chunk()) else {
                return Ok(reference::validate(input));
            };
            let [first, last] = [u32::from_le_bytes(first), u32::from_le_bytes(last)];
            if (first | last) & HIGH_BITS as u32 == 0 {
                return Ok(Validated::all(input.len()));
            }
            [0, u64::from(first) << (8 * (8 - input.len())) | u64::from(last) << 32]
        }
    };
    let text = V::words(any, words);
    conclude(input, test_first(text), text, text)
}

/// 17 to 32 bytes in two registers, after zeros.
#[inline(always)]
pub(in crate::simd) fn validate_up_to_32<V: Vector16>(any: V, input: &[u8]) -> Verdict {
    let (Some(low), Some(high)) = (input.first_chunk::<16>(), input.last_chunk::<16>()) else {
        return Ok(reference::validate(input));
    };
    let (low, high) = (any.load(low), any.load(high));
    let top = low.max(high);
    if !top.any_high_bit() {
        return Ok(Validated::all(input.len()));
    }
    let low = low.shift_up(32 - input.len());
    let found = test_first(low);
    conclude(input, test_full(high, backs_of(high, low), found), top, high)
}

/// Inputs of `HALF` to `2 * HALF` bytes, whole blocks: `HALF` bytes from the start and `HALF` up to the end, which may
/// overlap.
#[cfg(not(target_arch = "wasm32"))]
#[inline(always)]
pub(in crate::simd) fn validate_halves<V: Vector, const HALF: usize>(
    any: V,
    input: &[u8],
) -> Verdict {
    let (Some(first), Some(last)) = (input.first_chunk::<HALF>(), input.last_chunk::<HALF>())
    else {
        return Ok(reference::validate(input));
    };
    if input.len() < V::LEN + 3 || input.len() > 2 * HALF {
        return Ok(reference::validate(input)); // not reached
    }
    match test_halves(any.splat(0), input, first, last) {
        None => Ok(Validated::all(input.len())),
        Some((found, top)) => conclude(input, found, top, load(any, last, HALF - V::LEN)),
    }
}

/// Validates like [`validate_halves`] after the incomplete sequence that ends `before`; see
/// [`Level::validate_next`](crate::simd::Level::validate_next).
#[inline(always)]
pub(in crate::simd) fn validate_next<V: Vector, const HALF: usize>(
    any: V,
    before: u32,
    input: &[u8],
) -> Option<usize> {
    let (first, last) = (input.first_chunk::<HALF>()?, input.last_chunk::<HALF>()?);
    if input.len() < V::LEN + 3 || input.len() > 2 * HALF {
        return None; // not reached
    }
    let Some((found, top)) = test_halves(any.splat_word(before), input, first, last) else {
        return Some(0);
    };
    if found.marks().or(needs_beyond(top)).any_high_bit() {
        return None;
    }
    Some(incomplete_len(*input.last_chunk()?))
}

/// The length of the incomplete sequence at the end of text with these last bytes.
///
/// Without a branch: where a chunk splits a character is hard to predict. Rows `verdict/*/64`.
#[inline(always)]
pub(in crate::simd) fn incomplete_len([third, second, last]: [u8; 3]) -> usize {
    usize::from(last >= 0xC0) + 2 * usize::from(second >= 0xE0) + 3 * usize::from(third >= 0xF0)
}

/// Tests `input` after `before`, by its two halves, which may overlap. Returns what was found, and the maximum; `None` if all,
/// also before it, is ASCII.
#[inline(always)]
fn test_halves<V: Vector, const HALF: usize>(
    before: V,
    input: &[u8],
    first: &[u8; HALF],
    last: &[u8; HALF],
) -> Option<(Tested<V>, V)> {
    let any = before;
    let block: V = load(any, first, 0);
    let mut top = block.max(before).max(load(any, last, 0));
    let mut at = V::LEN;
    while at < HALF {
        top = top.max(load(any, first, at));
        top = top.max(load(any, last, at));
        at += V::LEN;
    }
    if !top.any_high_bit() {
        return None;
    }
    cold_path();
    // If the second half starts at 1 or 2, fewer than three bytes are before it. There are then two blocks or more in the
    // first half, which contain its first block. The block at 3 is tested instead.
    let second = (input.len() - HALF).max(3);
    // SAFETY: `second` is 3 or more. Its block ends with the input or before: the half from there on has a block or more, and
    // a block at 3 is within the input, as tested.
    let window = unsafe { input.get_unchecked(second - 3..second + V::LEN) };
    let mut found = test_full_at(any, window, 3, test_after(block, before));
    let mut at = V::LEN;
    while at < HALF {
        found = test_full_at(any, first, at, found);
        found = test_full_at(any, last, at, found);
        at += V::LEN;
    }
    Some((found, top))
}

/// Inputs of at most `MOST` bytes; the last block is aligned to the end.
#[inline(always)]
pub(in crate::simd) fn validate_blocks<V: Vector, const MOST: usize>(
    any: V,
    input: &[u8],
) -> Verdict {
    if input.len() < 2 * V::LEN || input.len() > MOST {
        return Ok(reference::validate(input)); // not reached
    }
    let last = input.len() - V::LEN;
    let block: V = load(any, input, 0);
    let mut top = block.max(load(any, input, last));
    let mut at = V::LEN;
    while at < last {
        top = top.max(load(any, input, at));
        at += V::LEN;
    }
    if !top.any_high_bit() {
        return Ok(Validated::all(input.len()));
    }
    let mut found = test_first(block);
    let mut at = V::LEN;
    while at < last {
        // SAFETY: the block at `at` ends before the last one does, and a block or more is before it.
        let window = unsafe { input.get_unchecked(at - 3..at + V::LEN) };
        found = test_full_at(any, window, 3, found);
        at += V::LEN;
    }
    found = test_full_at(any, input, last, found);
    conclude(input, found, top, load(any, input, last))
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
pub(in crate::simd) fn validate_long<V: Vector>(any: V, input: &[u8]) -> Verdict {
    let len = input.len();
    let (Some(first_run), Some(last_run)) = (input.first_chunk(), input.last_chunk()) else {
        return Ok(reference::validate(input));
    };
    let begun = if is_ascii::<V>(any, first_run) {
        // Short vectors lose less where they cross a line than they gain by alignment.
        let to_line = distance_to_line(input.as_ptr());
        let from = if V::LEN == 16 { RUN } else { RUN - 64 + to_line };
        let at = skip_ascii::<V>(any, input, from, last_run);
        if at == len {
            return Ok(Validated::all(len));
        }
        Strides::after_ascii(any, input, at)
    } else {
        Strides::of_text(any, input)
    };
    let mut strides: Strides<'_, V> = match begun {
        Ok(strides) => strides,
        Err(found) => return Ok(found),
    };
    loop {
        let is_calm = strides.test_next();
        if is_calm | (strides.at >= strides.check_at) | (strides.at == len) {
            if strides.has_error() {
                return Err(strides.checked);
            }
            if strides.at == len {
                return Ok(Validated::all_but_tail(input));
            }
            if is_calm {
                strides.at = skip_ascii::<V>(any, input, strides.at, last_run);
                if strides.at == len {
                    return Ok(Validated::all(len));
                }
            }
            strides.begin_group();
        }
        strides.at = strides.at.min(len - STRIDE);
    }
}

/// The strides of a long input.
struct Strides<'a, V: Vector> {
    input: &'a [u8],
    /// Invariant: 3 or more; all bytes before this index have been tested. Before `test_next`, at most the index of the last
    /// stride.
    at: usize,
    found: Tested<V>,
    /// Invariant: no byte before this index is marked.
    checked: usize,
    /// The start of the group, and the maximum of its bytes, of those above DF.
    group: usize,
    top: V,
    /// From which index on the marks are checked.
    check_at: usize,
    /// From which index on a stride of ASCII is skipped.
    calm_at: usize,
    /// Before which index a byte above DF selects the full test for a whole group.
    wide_until: usize,
}

impl<'a, V: Vector> Strides<'a, V> {
    #[inline(always)]
    fn new(any: V, input: &'a [u8], at: usize, checked: usize) -> Self {
        let zero = load::<V>(any, input, 0).splat(0);
        let found = Tested::with_errors(zero);
        let (check_at, calm_at, wide_until) = (0, 0, 0);
        Self { input, at, found, checked, group: at, top: zero, check_at, calm_at, wide_until }
    }

    /// The strides after `at` bytes of ASCII, or the result if a byte that begins no sequence follows.
    #[inline(always)]
    fn after_ascii(any: V, input: &'a [u8], at: usize) -> Result<Self, Validated> {
        if let Some(found) = stray_after_ascii::<V>(any, input, at) {
            return Err(found);
        }
        let at = at.min(input.len() - STRIDE);
        Ok(Self::new(any, input, at, at))
    }

    /// The strides of an input that does not begin with a run of ASCII. Tests its first two blocks, and returns the result
    /// if there is an error in them.
    #[inline(always)]
    fn of_text(any: V, input: &'a [u8]) -> Result<Self, Validated> {
        if let Some(block) = input.first_chunk()
            && let Some(found) = Validated::stray(input, ascii_in_64::<V>(any, block))
        {
            return Err(found);
        }
        let blocks: [V; 2] = [load(any, input, 0), load(any, input, V::LEN)];
        let both = test_full_at(any, input, V::LEN, test_first(blocks[0]));
        let top = blocks[0].max(blocks[1]);
        if both.marks().or(needs_beyond(top)).any_high_bit() {
            // An error near the start is located here, so that the strides need not.
            let found = locate_error(any, head(input, 2 * V::LEN), 0);
            if found.error_len != ErrorLen::None {
                return Err(found);
            }
        }
        let at = V::LEN + distance_to_line(input.as_ptr()) % V::LEN;
        Ok(Self::new(any, input, at.min(input.len() - STRIDE), 0))
    }

    /// Tests the next stride, or more. Returns whether it is ASCII, and other bytes are not near.
    #[inline(always)]
    fn test_next(&mut self) -> bool {
        let Self { input, at, top: any, .. } = *self;
        // SAFETY: `at` is 3 or more, and a stride is at `at`, by the invariant of `at`.
        let stride: &[u8; 3 + STRIDE] = first(unsafe { input.get_unchecked(at - 3..at + STRIDE) });
        let greatest = greatest_of::<V>(any, stride);
        self.top = self.top.max(greatest);
        if any_wide(greatest) {
            // Includes the rest of the input if it is short.
            let wanted = if at < self.wide_until { GROUP } else { STRIDE };
            let is_rest = input.len() - at <= wanted.max(SOON);
            let end = if is_rest { input.len() } else { at + wanted };
            (self.found, self.top) = test_full_in(input, at, end, self.found, self.top);
            self.at = end;
            self.wide_until = end + SOON;
            return false;
        }
        let has_high = greatest.any_high_bit();
        let is_calm = !has_high & (at >= self.calm_at);
        if !is_calm {
            self.found = test_narrow_stride(any, stride, self.found);
        }
        self.at += STRIDE;
        self.calm_at = if has_high { self.at + SOON } else { self.calm_at };
        is_calm
    }

    /// Whether there is an error before `at`.
    #[inline(always)]
    fn has_error(&mut self) -> bool {
        if needs_beyond(self.top).any_high_bit() {
            // There is an error; the caller locates it.
            if never(self.top).any_high_bit() {
                return true;
            }
            let Self { input, at, group, top: any, .. } = *self;
            self.found.errors = test_beyond_in(any, input, group, at, self.found.errors);
        }
        self.found.marks().any_high_bit()
    }

    /// Begins a group at `at`; all bytes before it are well-formed.
    #[inline(always)]
    fn begin_group(&mut self) {
        self.at = self.at.min(self.input.len() - STRIDE);
        (self.checked, self.group, self.check_at) = (self.at, self.at, self.at + GROUP);
        self.top = self.top.splat(0);
    }
}

/// The maxima of the bytes of a stride and of the three bytes before it.
#[inline(always)]
fn greatest_of<V: Vector>(any: V, stride: &[u8; 3 + STRIDE]) -> V {
    let mut greatest: V = load(any, stride, 0);
    let mut at = 3;
    while at < stride.len() {
        greatest = greatest.max(load(any, stride, at));
        at += V::LEN;
    }
    greatest
}

/// [`test_narrow`] for a stride after three bytes.
#[inline(always)]
fn test_narrow_stride<V: Vector>(
    any: V,
    stride: &[u8; 3 + STRIDE],
    mut found: Tested<V>,
) -> Tested<V> {
    let mut at = 3;
    while at < stride.len() {
        found = test_narrow(load(any, stride, at), load(any, stride, at - 1), found);
        at += V::LEN;
    }
    found
}

/// [`test_full`] for the bytes of a range, and the maximum of `top` and, if the test needs it, of the bytes. The range has a
/// block or more, and three bytes are before it.
#[inline(always)]
fn test_full_in<V: Vector>(
    input: &[u8],
    from: usize,
    to: usize,
    mut found: Tested<V>,
    mut top: V,
) -> (Tested<V>, V) {
    if from < 3 || from + V::LEN > to || to > input.len() {
        // Not reached. A mark lets the scalar level decide.
        debug_assert!(false, "{from}..{to} of {}", input.len());
        found.errors = found.errors.or(top.splat(0x80));
        return (found, top);
    }
    let last = tail(input, to - V::LEN - 3);
    let mut rest = head(tail(input, from - 3), 3 + to - from);
    // Two at once take up to a quarter less than one after another if the core is shared. Rows `validate/cjk`.
    while rest.len() >= 3 + 2 * V::LEN {
        (found, top) = test_window(rest, found, top);
        (found, top) = test_window(tail(rest, V::LEN), found, top);
        rest = tail(rest, 2 * V::LEN);
    }
    if rest.len() > 3 + V::LEN {
        (found, top) = test_window(rest, found, top);
    }
    if rest.len() > 3 {
        (found, top) = test_window(last, found, top);
    }
    (found, top)
}

/// [`test_full`] for the block after the first three bytes of `window`, and the maximum of `top` and, if the test needs it, of
/// the block.
#[inline(always)]
fn test_window<V: Vector>(window: &[u8], found: Tested<V>, top: V) -> (Tested<V>, V) {
    let found = test_full_at(top, window, 3, found);
    (found, if V::TESTS_ALL_LEADS { top } else { top.max(load(top, window, 3)) })
}

#[inline(always)]
pub(in crate::simd) fn is_ascii<V: Vector>(any: V, run: &[u8; RUN]) -> bool {
    let mut any: V = load(any, run, 0);
    let mut at = V::LEN;
    while at < RUN {
        any = any.or(load(any, run, at));
        at += V::LEN;
    }
    !any.any_high_bit()
}

/// Returns the result if the first byte from `at` on that is not ASCII begins no sequence; the bytes before `at` are
/// ASCII. This is most stray bytes in ASCII, and needs no test of sequences. Rows `locate/ascii`.
#[inline(always)]
pub(in crate::simd) fn stray_after_ascii<V: Vector>(
    any: V,
    input: &[u8],
    mut at: usize,
) -> Option<Validated> {
    while let Some(rest) = input.get(at..)
        && let Some(block) = rest.first_chunk()
    {
        let ascii = ascii_in_64::<V>(any, block);
        at += ascii;
        if ascii < 64 {
            break;
        }
    }
    Validated::stray(input, at)
}

/// Counts the ASCII bytes before the first other byte.
#[inline(always)]
fn ascii_in_64<V: Vector>(any: V, block: &[u8; 64]) -> usize {
    V::mask_of_64(|i| load(any, block, i)).trailing_zeros() as usize
}

/// Returns an index up to which the bytes from `at` on are ASCII; `input.len()` only if all are.
///
/// `last` is the end of `input`.
#[inline(always)]
fn skip_ascii<V: Vector>(any: V, input: &[u8], mut at: usize, last: &[u8; RUN]) -> usize {
    while let Some(rest) = input.get(at..)
        && let Some(run) = rest.first_chunk()
    {
        if !is_ascii::<V>(any, run) {
            return at;
        }
        at += RUN;
    }
    if at == input.len() || is_ascii::<V>(any, last) {
        input.len()
    } else {
        at.min(input.len() - 1)
    }
}

/// `errors`, and the marks of [`test_beyond`] for the bytes of a range. The range has a block or more, and a byte is before
/// it.
#[cold]
#[inline(always)]
fn test_beyond_in<V: Vector>(any: V, input: &[u8], from: usize, to: usize, mut errors: V) -> V {
    let last = to - V::LEN;
    let mut at = from;
    loop {
        errors = errors.or(test_beyond(load(any, input, at), load(any, input, at - 1)));
        if at == last {
            return errors;
        }
        at = (at + V::LEN).min(last);
    }
}
