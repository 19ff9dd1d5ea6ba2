//! The innermost loops, with one implementation per instruction set. A [`Level`] selects one.
//!
//! A [`Level`] names an implementation that this machine can run. Besides [`Level::SCALAR`], only [`Level::detect`] and
//! [`Level::available`] return one, so safe code cannot name another.
//!
//! | module | content |
//! | --- | --- |
//! | `dispatch` | the operations of a level; each selects its implementation in one `match` |
//! | `reference` | plain, safe code that defines the correct results; vector levels call it for tails |
//! | `portable` | for machines without vectors: validation, ill-formed parts and line ends, faster than by the reference |
//! | `masks` | the ill-formed parts of a block from masks of its bytes |
//! | `generic` | the algorithms over a vector of 16 or 32 bytes |
//! | `x86_64`, `aarch64`, `wasm32` | the vectors of an instruction set, and the algorithms specific to it |
//!
//! To add an instruction set, write a module that has all operations of `reference` (re-export those
//! that it does not vectorise), add an [`InstructionSet`], and a row in the macro of `dispatch`.
//!
//! # Unsafe code
//!
//! It is in two modules: here, for the instructions of a machine and their loads and stores; and in
//! [`text`](crate::text), which converts bytes that a level has validated to `str`. Each block makes one claim and proves
//! it. All claims rest on six rules:
//!
//! - **A level runs only on a machine that supports it.** [`Level`] wraps a private enumeration. It is
//!   constructed only for a level whose features the machine has. (`tests/levels/validate.rs`)
//! - **Vectors are proofs.** The vector types are private. Only functions of their level construct one, and these run only where
//!   the machine has all features of the level. The bodies of their methods are safe functions with the target feature, which
//!   `arithmetic!` calls: an unsafe operation in a body, or an instruction that the feature does not include, does not compile.
//! - **A vector is loaded from an array and stored to one**, by one function for each length. Slices are checked
//!   before, except in the innermost loops, where a check would take 5 to 20 % more instructions.
//! - **Nothing outside a slice is accessed.** `tests/levels/guard.rs` places inputs and outputs next to
//!   inaccessible pages. `.ci/check asan` runs the crate's tests with an address sanitizer, except those of every
//!   split in every mode, of pairs of splits and of resident memory; `.ci/check fuzz` runs every target,
//!   `.ci/check miri` the core, `.ci/check valgrind` the levels that valgrind knows.
//! - **Only well-formed bytes become `str`.** Every level of the machine is compared with the standard library: on all
//!   strings of up to four bytes (in emulators: three); in long texts, on all strings of four bytes whose ASCII bytes are 00 or 7F;
//!   on four bytes of every kind at a length for each path; on every seed at every offset and alignment; and
//!   by the fuzzer. (`tests/levels`, `tests/exhaustive`, `fuzz`)
//! - **Only scalar values become `char`s.** Levels write those of well-formed text, or of units in which they have found no
//!   unpaired surrogate; after them zeros, or the number of a part of a character, which is below D800 (`avx512`, `put_chars`);
//!   `numbers` tests each number of an input. Tests compare them with the standard library. (`tests/levels/convert.rs`, `tests/api/transcode.rs`)
//!
//! `clippy::undocumented_unsafe_blocks` checks that each block has a proof, `.ci/check unsafe` that there is no
//! unsafe code elsewhere.

use core::fmt;
use core::mem;
use core::sync::atomic::{AtomicU8, Ordering};

/// Whether the machine has all of these features. With `std` the machine is queried, otherwise the
/// build's target features decide.
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
))]
macro_rules! has {
    ($($feature:tt),*) => {{
        #[cfg(all(feature = "std", target_arch = "x86_64", target_feature = "sse2"))]
        let has = true $(&& std::arch::is_x86_feature_detected!($feature))*;
        #[cfg(all(feature = "std", target_arch = "aarch64"))]
        let has = true $(&& std::arch::is_aarch64_feature_detected!($feature))*;
        #[cfg(not(feature = "std"))]
        let has = true $(&& cfg!(target_feature = $feature))*;
        has
    }};
}

#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
mod aarch64;
mod dispatch;
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod generic;
mod numbers;
// Only levels above the reference use it.
#[cfg(any(
    target_pointer_width = "64",
    all(target_arch = "x86_64", target_feature = "sse2"),
    target_arch = "aarch64",
    target_arch = "wasm32"
))]
mod masks;
// Elsewhere shifts of 64 bits are slow.
#[cfg(any(target_pointer_width = "64", target_arch = "wasm32"))]
mod portable;
mod recode;
mod reference;
mod results;
mod slices;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm32;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod x86_64 {
    pub(super) mod avx2;
    pub(super) mod avx512;
    pub(super) mod sse41;
}

#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
use generic::RecodeSteps;
pub(crate) use numbers::scalar_values;
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
use recode::Recode as RecodeSteps;
pub use recode::ScalarUnit;
pub(crate) use recode::{
    AsciiToBytes, BytesToUnits, BytesToUtf8, Latin1ToUtf16, ToLatin1, ToUtf8, ToUtf16, ToUtf32,
    UnitsToBytes, unit_bytes,
};
pub(crate) use reference::ascii_len;
pub use reference::pairs::NulForm;
pub use reference::{Sequence, begins_nothing, sequence, surrogate_pair};
pub use results::BLOCK_ERRORS_LEN;
pub use results::{BlockErrors, ErrorLen, RepairedPrefix, Validated};
pub(crate) use slices::{HIGH_BITS, Task, table};
use slices::{as_uninit, bytes_to_multiple};
pub use slices::{head, tail, tail_mut};

/// An implementation of the inner loops that this machine can run.
///
/// # Examples
///
/// ```
/// use utf8_simd::Level;
///
/// let best = Level::detect();
/// assert!(Level::available().any(|level| level == best));
/// for level in Level::available() {
///     level.set_detected(); // and test the code that uses it
///     assert_eq!(Level::detect().name(), level.name());
/// }
/// best.set_detected();
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Level(InstructionSet);

/// Defines [`InstructionSet`]: for each level, the simplest first, its name and whether this machine has its features.
macro_rules! instruction_sets {
    ($($(#[$cfg:meta])* $level:ident $name:literal if $is_available:expr;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        enum InstructionSet {
            $($(#[$cfg])* $level,)*
        }

        impl InstructionSet {
            const ALL: &[Self] = &[$($(#[$cfg])* Self::$level),*];

            fn is_available(self) -> bool {
                match self {
                    $($(#[$cfg])* Self::$level => $is_available,)*
                }
            }

            const fn name(self) -> &'static str {
                match self {
                    $($(#[$cfg])* Self::$level => $name,)*
                }
            }

            /// Whether `--cfg utf8_simd_level="NAME"` selects this level, for tests and benchmarks. If `NAME` is `environment`,
            /// the variable `UTF8_SIMD_LEVEL` has the name of the level: one build for the tests of all levels. Needs `std`.
            fn is_forced(self) -> bool {
                #[cfg(utf8_simd_level = "environment")]
                return std::env::var("UTF8_SIMD_LEVEL").is_ok_and(|name| name == self.name());
                #[cfg(not(utf8_simd_level = "environment"))]
                match self {
                    $($(#[$cfg])* Self::$level => cfg!(utf8_simd_level = $name),)*
                }
            }
        }
    };
}

instruction_sets! {
    Scalar "scalar" if true;
    #[cfg(any(target_pointer_width = "64", target_arch = "wasm32"))]
    Portable "portable" if true;
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Sse41 "sse4.1" if has!("sse4.1", "popcnt");
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Avx2 "avx2" if has!("avx2", "popcnt");
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Avx512 "avx512" if has!(
        "avx512f", "avx512bw", "avx512vl", "avx512vbmi", "avx512vbmi2", "bmi2", "popcnt"
    );
    #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
    Neon "neon" if has!("neon");
    // The level exists only in builds that enable the feature.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128 "simd128" if true;
}

impl InstructionSet {
    /// Whether machines of this architecture commonly run this level.
    #[inline]
    const fn is_common(self) -> bool {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        return matches!(self, Self::Avx2 | Self::Avx512);
        #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
        true
    }
}

/// The level that [`Level::detect`] returns, as a number; `UNDETECTED` before its first call.
///
/// Invariant: it is the number of a level that this machine can run, or `UNDETECTED`.
static DETECTED: AtomicU8 = AtomicU8::new(UNDETECTED);

/// Not the number of a level.
const UNDETECTED: u8 = u8::MAX;

impl Level {
    /// The reference level. It is the fastest for a few bytes.
    pub const SCALAR: Self = Self(InstructionSet::Scalar);

    /// Returns the fastest level that this machine can run. The first call caches it.
    ///
    /// Without `std` the machine is not queried: the target features of the build decide.
    // A load and a comparison. A range check of the number cost a nanosecond for each call: rows `verdict/*/64` of
    // `benches/scenarios/stream.rs`.
    #[inline]
    pub fn detect() -> Self {
        let mut number = DETECTED.load(Ordering::Relaxed);
        if number == UNDETECTED {
            number = Self::detect_first();
        }
        // SAFETY: by the invariant of `DETECTED`, `number` is the number of a level.
        Self(unsafe { mem::transmute::<u8, InstructionSet>(number) })
    }

    /// Makes [`detect`](Self::detect) return this level from now on, in all threads. For tests and benchmarks.
    pub fn set_detected(self) {
        DETECTED.store(self.0 as u8, Ordering::Relaxed);
    }

    /// Stores the best level, unless another thread has stored one meanwhile. Returns the number of that which is stored.
    #[cold]
    fn detect_first() -> u8 {
        let best = Self::find_best().0 as u8;
        // Without this operation, a level that another thread selects meanwhile is lost.
        #[cfg(not(target_has_atomic = "8"))]
        DETECTED.store(best, Ordering::Relaxed);
        #[cfg(target_has_atomic = "8")]
        if let Err(other) =
            DETECTED.compare_exchange(UNDETECTED, best, Ordering::Relaxed, Ordering::Relaxed)
        {
            return other;
        }
        best
    }

    fn find_best() -> Self {
        let any_is_forced = InstructionSet::ALL.iter().any(|level| level.is_forced());
        #[cfg(utf8_simd_level = "environment")]
        assert!(
            Self::available().any(|level| level.0.is_forced()),
            "the variable UTF8_SIMD_LEVEL does not name a level of this machine"
        );
        let best = Self::available().filter(|level| !any_is_forced || level.0.is_forced()).last();
        best.unwrap_or(Self::SCALAR)
    }

    /// Returns every level that this machine can run, the simplest first.
    pub fn available() -> impl Iterator<Item = Self> {
        InstructionSet::ALL.iter().copied().filter(|level| level.is_available()).map(Self)
    }

    /// Returns the level's name, as benchmarks print it.
    pub const fn name(self) -> &'static str {
        self.0.name()
    }

    /// Whether vectors decode several characters at once.
    #[doc(hidden)]
    pub const fn decodes_many(self) -> bool {
        match self.0 {
            InstructionSet::Scalar => false,
            #[cfg(any(target_pointer_width = "64", target_arch = "wasm32"))]
            InstructionSet::Portable => false,
            #[allow(unreachable_patterns)] // there may be no vectors
            _ => true,
        }
    }
}

/// The length of the well-formed sequence of two or more bytes at the start of `bytes`; 0 for anything
/// else.
#[inline]
pub fn sequence_len(bytes: [u8; 4]) -> usize {
    reference::well_formed_len(u32::from_le_bytes(bytes))
}

/// Returns the length of the ill-formed maximal subpart at the start of `input`, if there is one. `input` begins
/// with a byte that is not ASCII.
#[inline]
pub fn error_at_start(input: &[u8]) -> Option<usize> {
    debug_assert!(!input[0].is_ascii());
    match sequence(input) {
        Sequence::IllFormed(error_len) => error_len.get(),
        _ => None,
    }
}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Level").field(&self.name()).finish()
    }
}
