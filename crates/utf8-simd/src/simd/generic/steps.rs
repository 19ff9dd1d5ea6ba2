//! The loop of a conversion: in steps of a vector, in strides of steps while items are plain, with short vectors in two steps at
//! once while items are below 800, and in steps of a short vector at the end. If all items are plain, the last stride overlaps the one before it instead.

use core::mem::MaybeUninit;
use core::ops::ControlFlow::{self, Break, Continue};

use super::lanes::Lanes;
use super::vector::{Vector16, as_bytes, copy_few, load, load_few};
use crate::simd::recode::{Initialised, Recode};
use crate::simd::{ScalarUnit, bytes_to_multiple};

const PART: usize = 16;
/// The number of steps in a stride of plain items.
const STRIDE: usize = 4;

/// From this number of items on, stores that cross no cache lines are faster: the first stride overlaps the one after it. Rows
/// `utf-16-to-utf-32/*/65536` of `benches/heads`.
const LONG: usize = 2048;

/// The number of bytes that a step may overwrite: three for each item and a part. That is enough for four each, because a step has
/// at most 16 items, and for two steps of at most two bytes each.
pub(super) const fn step_room<V: Lanes>() -> usize {
    3 * (V::LEN / 2) + PART
}

/// An item of the input.
pub(in crate::simd) trait Item: Initialised {
    /// A loaded step: `LEN / 2` items.
    type Step<V: Lanes>: Copy;

    /// Loads the first items.
    fn load<V: Lanes>(any: V, items: &[Self]) -> Self::Step<V>;

    /// Loads fewer items, with zeros after them; `None` if there are no items, or one or three bytes.
    fn load_few<V: Lanes + Vector16>(any: V, items: &[Self]) -> Option<Self::Step<V>>;
}

/// How a conversion is done, in steps. An item is plain if it becomes one unit whatever its bits are: ASCII in UTF-8, and in
/// UTF-16 and UTF-32 all but surrogates and characters above U+FFFF. Zero is plain.
pub(in crate::simd) trait RecodeSteps: Recode<From: Item> {
    /// The number of bytes that a plain item becomes.
    const PLAIN: usize = size_of::<Self::To>();

    /// Whether a short input that is not all plain is left whole, because the caller converts it in another way.
    const IS_ALL_OR_NOTHING: bool = false;

    /// The number of items at the end that are faster one by one.
    const LEFT: usize = 0;

    /// Converts a step. Returns the items read and the bytes written. Does not read a high surrogate at the end.
    /// Unpaired ones are `replaced` and counted; without a counter, reads nothing if there is one, except that `BytesToUtf8` may
    /// replace them uncounted. Reads nothing either if another item cannot be converted.
    #[inline(always)]
    fn put<V: Lanes>(
        step: <Self::From as Item>::Step<V>,
        room: &mut [MaybeUninit<u8>],
        _replaced: &mut Option<&mut u64>,
    ) -> (usize, usize) {
        let count = if Self::put_plain([step], room) { V::LEN / 2 } else { 0 };
        (count, Self::PLAIN * count)
    }

    /// Whether `item` is below 800. False without [`put_two_steps`](Self::put_two_steps).
    #[inline(always)]
    fn is_below_800(_item: &Self::From) -> bool {
        false
    }

    /// Converts two steps if all of their items are below 800, otherwise writes nothing. Returns the bytes written. May
    /// overwrite as many bytes as one step.
    #[inline(always)]
    fn put_two_steps<V: Lanes>(
        _steps: [<Self::From as Item>::Step<V>; 2],
        _room: &mut [MaybeUninit<u8>],
    ) -> Option<usize> {
        None
    }

    /// Converts steps if all of their items are plain, otherwise writes nothing. Returns whether they are.
    fn put_plain<V: Lanes, const N: usize>(
        steps: [<Self::From as Item>::Step<V>; N],
        room: &mut [MaybeUninit<u8>],
    ) -> bool;
}

/// Converts units; see [`Level::recode`](crate::simd::Level::recode).
#[inline(always)]
pub(in crate::simd) fn recode<V: Lanes, Short: Lanes + Vector16, R: RecodeSteps>(
    any: (V, Short),
    items: &[R::From],
    out: &mut [MaybeUninit<u8>],
) -> (usize, usize) {
    let (read, written) = encode::<V, Short, R>(any, items, out, &mut None);
    (read, written / size_of::<R::To>())
}

/// Converts all of `items` if they are plain and at most a stride, or of any kind, less than a step of `V` and at most one of `Short`,
/// and if there is more room than they need. Returns the items read and the units written, `(0, 0)` if one is not plain and the conversion
/// [`IS_ALL_OR_NOTHING`](RecodeSteps::IS_ALL_OR_NOTHING); `None` if [`recode`] is to be tried.
///
/// Separate, because loading the constants of [`recode`] takes longer than this: rows `utf-16-to-utf-32/*/16` of `benches/heads`.
#[inline(always)]
pub(in crate::simd) fn recode_short<V: Lanes, Short: Lanes + Vector16, R: RecodeSteps>(
    (any, short): (V, Short),
    items: &[R::From],
    out: &mut [MaybeUninit<u8>],
) -> Option<(usize, usize)> {
    let (len, step) = (items.len(), V::LEN / 2);
    if len > STRIDE * step || out.len() < R::PLAIN * (len + PART) {
        return None;
    }
    let is_plain = if len >= step {
        put_short_plain::<V, R>(any, items, out)
    } else if len > Short::LEN / 2 {
        put_short_plain::<Short, R>(short, items, out)
    } else if out.len() >= step_room::<Short>() {
        let step = match len == Short::LEN / 2 {
            true => R::From::load(short, items),
            false => R::From::load_few(short, items)?,
        };
        let (more, written) = R::put::<Short>(step, out, &mut None);
        let Some(zeros) = more.checked_sub(len) else {
            return R::IS_ALL_OR_NOTHING.then_some((0, 0));
        };
        return Some((len, (written - R::PLAIN * zeros) / size_of::<R::To>()));
    } else {
        return None;
    };
    match is_plain {
        true => Some((len, len)),
        false => R::IS_ALL_OR_NOTHING.then_some((0, 0)),
    }
}

/// Converts items if they are plain. There is at least a step; the last one overlaps the one before it.
#[inline(always)]
fn put_short_plain<V: Lanes, R: RecodeSteps>(
    any: V,
    items: &[R::From],
    out: &mut [MaybeUninit<u8>],
) -> bool {
    let step = V::LEN / 2;
    let last = items.len() - step;
    let mut at = 0;
    while at < last {
        if !R::put_plain::<V, 1>([R::From::load(any, &items[at..])], &mut out[R::PLAIN * at..]) {
            return false;
        }
        at += step;
    }
    R::put_plain::<V, 1>([R::From::load(any, &items[last..])], &mut out[R::PLAIN * last..])
}

/// Converts items in steps of `V`, and the rest in steps of `Short`. Stops where a step cannot be converted or does not fit.
#[inline(always)]
pub(super) fn encode<V: Lanes, Short: Lanes + Vector16, R: RecodeSteps>(
    (any, short): (V, Short),
    items: &[R::From],
    out: &mut [MaybeUninit<u8>],
    replaced: &mut Option<&mut u64>,
) -> (usize, usize) {
    let (read, written) = match encode_steps::<V, R>(any, items, out, replaced) {
        Continue((read, written)) if read < items.len() => (read, written),
        Continue(done) | Break(done) => return done,
    };
    let (more, len) = encode_rest::<Short, R>(short, &items[read..], &mut out[written..], replaced);
    (read + more, written + len)
}

/// Converts whole steps, as far as another is certain to fit. Breaks at the end, or before a step that cannot be converted.
#[inline(always)]
fn encode_steps<V: Lanes, R: RecodeSteps>(
    any: V,
    items: &[R::From],
    out: &mut [MaybeUninit<u8>],
    replaced: &mut Option<&mut u64>,
) -> ControlFlow<(usize, usize), (usize, usize)> {
    let step = V::LEN / 2;
    let room = step_room::<V>();
    let stride = STRIDE * step;
    // Shrinking slices have less register pressure than indexes: row `from-utf-16/latin/8192` a fifth less time.
    let size = out.len();
    let (mut rest, mut place) = (items, &mut *out);
    if rest.len() >= LONG && put_plain::<V, R>(any, rest, place) {
        let count = bytes_to_multiple(place, V::LEN) / R::PLAIN;
        (rest, place) = (&rest[count..], &mut place[R::PLAIN * count..]);
    }
    // A text is often all ASCII. Rows `from-chars/ascii/*`, `from-utf-16/ascii/*`. One loop for this and the later strides is a
    // fifth slower for two-byte text.
    if put_plain::<V, R>(any, rest, place) {
        (rest, place) = (&rest[stride..], &mut place[R::PLAIN * stride..]);
        if rest.is_empty() {
            return Break((items.len(), R::PLAIN * items.len()));
        }
        while put_plain::<V, R>(any, rest, place) {
            (rest, place) = (&rest[stride..], &mut place[R::PLAIN * stride..]);
        }
        // The last stride overlaps the one before it.
        let (read, last) = (items.len() - rest.len(), items.len() - stride);
        if (1..stride).contains(&rest.len())
            && put_plain::<V, R>(any, &items[last..], &mut out[R::PLAIN * last..])
        {
            return Break((items.len(), R::PLAIN * items.len()));
        }
        (rest, place) = (&items[read..], &mut out[R::PLAIN * read..]);
    }
    let mut is_stuck = false;
    while rest.len() >= step && place.len() >= room {
        let (more, len) = R::put::<V>(R::From::load(any, rest), place, replaced);
        if more == 0 {
            is_stuck = true;
            break;
        }
        (rest, place) = (&rest[more..], &mut place[len..]);
        // ASCII often continues.
        while len == R::PLAIN * step && put_plain::<V, R>(any, rest, place) {
            (rest, place) = (&rest[stride..], &mut place[R::PLAIN * stride..]);
        }
        // So do characters of two bytes. A longer vector takes as many in one step (`benches/ARM.md`).
        if V::LEN == 16 && len <= 2 * step && rest.first().is_some_and(R::is_below_800) {
            while rest.len() >= 2 * step && place.len() >= room {
                let steps = [R::From::load(any, rest), R::From::load(any, &rest[step..])];
                let Some(len) = R::put_two_steps::<V>(steps, place) else { break };
                (rest, place) = (&rest[2 * step..], &mut place[len..]);
            }
        }
    }
    let (read, left) = (items.len() - rest.len(), place.len());
    let done = (read, size - left);
    if is_stuck { Break(done) } else { Continue(done) }
}

/// Converts less than a step of a longer vector, or items for which there is little room. Leaves [`RecodeSteps::LEFT`].
#[inline(always)]
fn encode_rest<V: Lanes + Vector16, R: RecodeSteps>(
    any: V,
    items: &[R::From],
    out: &mut [MaybeUninit<u8>],
    replaced: &mut Option<&mut u64>,
) -> (usize, usize) {
    let step = V::LEN / 2;
    let room = step_room::<V>();
    let (mut read, mut written) = (0, 0);
    let mut scratch = [MaybeUninit::new(0); 3 * 8 + PART];
    while items.len() - read > R::LEFT {
        let rest = &items[read..];
        let count = rest.len().min(step);
        let fits = out.len() - written >= room;
        let place = if fits { &mut out[written..] } else { &mut scratch };
        let before = replaced.as_deref().copied();
        let loaded = if count == step {
            Some(R::From::load(any, rest))
        } else {
            R::From::load_few(any, rest)
        };
        let Some(loaded) = loaded else { break };
        let (more, len) = R::put::<V>(loaded, place, replaced);
        // Zeros after the items are plain.
        let (more, len) = (more.min(count), len - R::PLAIN * more.saturating_sub(count));
        if more == 0 {
            break;
        }
        if !fits {
            let Some(room) = out.get_mut(written..written + len) else {
                if let (Some(replaced), Some(before)) = (replaced, before) {
                    **replaced = before;
                }
                break;
            };
            copy_few(&scratch[..len], room);
        }
        read += more;
        written += len;
    }
    (read, written)
}

/// Converts a stride if there is one, it fits, and all of its items are plain. Returns whether it did.
#[inline(always)]
fn put_plain<V: Lanes, R: RecodeSteps>(
    any: V,
    items: &[R::From],
    room: &mut [MaybeUninit<u8>],
) -> bool {
    let step = V::LEN / 2;
    let stride = STRIDE * step;
    if items.len() < stride || room.len() < R::PLAIN * stride {
        return false;
    }
    let (items, room) = (&items[..stride], &mut room[..R::PLAIN * stride]);
    // Not by `map`: a function that is passed on would lose the target feature.
    let a = R::From::load(any, items);
    let b = R::From::load(any, &items[step..]);
    let c = R::From::load(any, &items[2 * step..]);
    let d = R::From::load(any, &items[3 * step..]);
    R::put_plain::<V, STRIDE>([a, b, c, d], room)
}

impl Item for u8 {
    type Step<V: Lanes> = V;

    #[inline(always)]
    fn load<V: Lanes>(any: V, bytes: &[u8]) -> V {
        any.load_widened(bytes)
    }

    #[inline(always)]
    fn load_few<V: Lanes + Vector16>(any: V, bytes: &[u8]) -> Option<V> {
        let [front, _] = load_few(any, bytes)?.widen();
        Some(front)
    }
}

macro_rules! two_bytes {
    ($($unit:ty)*) => {$(
        impl Item for $unit {
            type Step<V: Lanes> = V;

            #[inline(always)]
            fn load<V: Lanes>(any: V, units: &[Self]) -> V {
                any.load(as_bytes(&units[..V::LEN / 2]))
            }

            #[inline(always)]
            fn load_few<V: Lanes + Vector16>(any: V, units: &[Self]) -> Option<V> {
                load_few(any, as_bytes(units))
            }
        }
    )*};
}
two_bytes!(u16 [u8; 2]);

impl<C: ScalarUnit> Item for C {
    type Step<V: Lanes> = [V; 2];

    #[inline(always)]
    fn load<V: Lanes>(any: V, chars: &[C]) -> [V; 2] {
        let bytes = as_bytes(&chars[..V::LEN / 2]);
        [load(any, bytes, 0), load(any, bytes, V::LEN)]
    }

    #[inline(always)]
    fn load_few<V: Lanes + Vector16>(any: V, chars: &[C]) -> Option<[V; 2]> {
        let bytes = as_bytes(chars);
        let zero = any.splat(0);
        Some(match bytes.first_chunk::<16>() {
            Some(first) => [any.load(first), load_few(any, &bytes[16..]).unwrap_or(zero)],
            None => [load_few(any, bytes)?, zero],
        })
    }
}
