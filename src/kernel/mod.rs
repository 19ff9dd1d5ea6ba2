//! The innermost loops, one implementation per instruction set behind one value.
//!
//! A [`Kernel`] names an implementation this machine can run; it comes only from
//! [`Kernel::detect`] and [`Kernel::available`], so safe code cannot name another. The scalar kernel
//! is the definition of correct: any other has to give the same answers for the same input.
//!
//! To add an instruction set: a file, a [`Tier`], and a row in each `match`. (A table of functions
//! would read better; called through one, a message of 64 bytes took 8.6 ns instead of 4.9.)

use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

pub use block_errors::Parts;
#[doc(hidden)]
pub use reference::pairs::Nul;

/// Whether the machine has all of these features: asked of it with `std`, otherwise of the build.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
macro_rules! has {
    ($($feature:tt),*) => {{
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        let has = true $(&& std::arch::is_x86_feature_detected!($feature))*;
        #[cfg(all(feature = "std", target_arch = "aarch64"))]
        let has = true $(&& std::arch::is_aarch64_feature_detected!($feature))*;
        #[cfg(not(feature = "std"))]
        let has = true $(&& cfg!(target_feature = $feature))*;
        has
    }};
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod aarch64;
pub(crate) mod block_errors;
mod dispatch;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod generic;
mod line;
mod reference;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use aarch64::neon;
pub(crate) use reference::validate as scalar;
#[cfg(target_arch = "x86_64")]
use x86_64::{avx2, avx512, sse41};

/// An implementation of the inner loops that this machine can run.
///
/// # Examples
///
/// ```
/// use utf8_codec::Kernel;
///
/// let kernel = Kernel::detect();
/// assert!(Kernel::available().any(|other| other == kernel));
/// assert!(Kernel::available().any(|other| other.name() == "scalar"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel(Tier);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Tier {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Sse41,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon,
}

impl Tier {
    /// The tiers of this architecture, the plainest first.
    const ALL: &[Self] = &[
        Self::Scalar,
        #[cfg(target_arch = "x86_64")]
        Self::Sse41,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        Self::Neon,
    ];

    /// Whether this machine has what the tier needs.
    fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Sse41 => has!("sse4.1"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => has!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => has!(
                "avx512f",
                "avx512bw",
                "avx512vl",
                "avx512vbmi",
                "avx512vbmi2",
                "bmi2",
                "popcnt"
            ),
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon => has!("neon"),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Self::Sse41 => "sse4.1",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Self::Neon => "neon",
        }
    }

    /// The tier whose place in `ALL` this is.
    #[inline]
    const fn from_number(number: u8) -> Option<Self> {
        // Counted out, so that it costs a comparison and no memory access.
        let mut at = 0;
        while at < Self::ALL.len() {
            if Self::ALL[at] as u8 == number {
                return Some(Self::ALL[at]);
            }
            at += 1;
        }
        None
    }
}

/// Where validation stopped, and why.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Bytes before this index are well-formed.
    pub valid_up_to: usize,
    /// What follows them.
    pub why: Why,
}

/// What ended a run of well-formed bytes. (Without fields, so that a [`Stop`] fits two registers.)
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The input ended, inside a sequence (1 to 3 bytes of it) or not (0 bytes).
    End,
    /// A maximal subpart of one byte, which the input shows to be ill-formed.
    IllFormed1,
    /// One of two bytes.
    IllFormed2,
    /// One of three bytes.
    IllFormed3,
}

impl Kernel {
    /// The reference, and the quickest for a few bytes.
    pub(crate) const SCALAR: Self = Self(Tier::Scalar);

    /// Returns the fastest kernel for this machine; found once, then remembered.
    ///
    /// Without `std` what the machine has is not asked: the target features of the build decide.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Kernel;
    ///
    /// assert_eq!(Kernel::detect(), Kernel::detect());
    /// ```
    #[inline]
    pub fn detect() -> Self {
        // Every thread finds the same, so that it does not matter which is the first.
        static FOUND: AtomicU8 = AtomicU8::new(u8::MAX);
        match Tier::from_number(FOUND.load(Ordering::Relaxed)) {
            Some(tier) => Self(tier),
            None => Self::find_best(&FOUND),
        }
    }

    #[cold]
    fn find_best(found: &AtomicU8) -> Self {
        let best = match forced() {
            Some(name) => Self::available().find(|kernel| kernel.name() == name),
            None => Self::available().last(),
        };
        let best = best.unwrap_or(Self(Tier::Scalar));
        found.store(best.0 as u8, Ordering::Relaxed);
        best
    }

    /// Returns every kernel this machine can run, the plainest first.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Kernel;
    ///
    /// let names: Vec<_> = Kernel::available().map(Kernel::name).collect();
    /// assert_eq!(names[0], "scalar");
    /// ```
    pub fn available() -> impl Iterator<Item = Self> {
        Tier::ALL.iter().copied().filter(|tier| tier.is_available()).map(Self)
    }

    /// Returns the kernel's name, as benchmarks print it.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!utf8_codec::Kernel::detect().name().is_empty());
    /// ```
    pub const fn name(self) -> &'static str {
        self.0.name()
    }

    /// Finds how far `input` is well-formed UTF-8 (RFC 3629 section 4) and what comes then.
    ///
    /// `valid_up_to` and the length of the subpart are those of [`core::str::from_utf8`]. About a
    /// KiB behind the first ill-formed sequence is looked at, at most, and nothing outside `input`.
    #[doc(hidden)]
    #[inline]
    pub fn validate(self, input: &[u8]) -> Stop {
        match self.0 {
            Tier::Scalar => scalar::validate(input),
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Sse41 => unsafe { sse41::validate(input) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => unsafe { avx2::validate(input) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::validate(input) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Tier::Neon => unsafe { neon::validate(input) },
        }
    }
}

/// Returns the character that `bytes` are, if they are one well-formed sequence of two to four bytes.
#[inline]
pub(crate) fn decode_char(bytes: &[u8]) -> Option<char> {
    let tail = |byte: u8| u32::from(byte & 0x3F);
    let value = match *bytes {
        [a, b] => u32::from(a & 0x1F) << 6 | tail(b),
        [a, b, c] => u32::from(a & 0x0F) << 12 | tail(b) << 6 | tail(c),
        [a, b, c, d] => u32::from(a & 0x07) << 18 | tail(b) << 12 | tail(c) << 6 | tail(d),
        _ => return None,
    };
    match scalar::sequence(bytes) {
        scalar::Sequence::WellFormed(len) if len == bytes.len() => char::from_u32(value),
        _ => None,
    }
}

/// The length of the well-formed sequence, of two bytes or more, that `bytes` begin with; 0 for
/// anything else.
#[inline]
pub(crate) fn sequence_len(bytes: [u8; 4]) -> usize {
    scalar::well_formed_len(u32::from_le_bytes(bytes))
}

/// The length of the maximal subpart that `input`, which is not empty, begins with, if it begins with
/// something ill-formed.
#[inline]
pub(crate) fn error_at_start(input: &[u8]) -> Option<usize> {
    match scalar::sequence(input) {
        _ if input[0] < 0x80 => None,
        scalar::Sequence::IllFormed(why) => why.error_len(),
        _ => None,
    }
}

/// The kernel that `--cfg utf8_codec_kernel="NAME"` asks for, for tests and benchmarks.
const fn forced() -> Option<&'static str> {
    if cfg!(utf8_codec_kernel = "scalar") {
        Some("scalar")
    } else if cfg!(utf8_codec_kernel = "sse4.1") {
        Some("sse4.1")
    } else if cfg!(utf8_codec_kernel = "avx2") {
        Some("avx2")
    } else if cfg!(utf8_codec_kernel = "avx512") {
        Some("avx512")
    } else if cfg!(utf8_codec_kernel = "neon") {
        Some("neon")
    } else {
        None
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&self.name()).finish()
    }
}

impl Stop {
    /// All `len` bytes are well-formed.
    #[inline(always)]
    const fn clean(len: usize) -> Self {
        Self { valid_up_to: len, why: Why::End }
    }

    /// The first error of `input` shows at byte `near`.
    #[cold]
    fn marked(input: &[u8], near: usize) -> Self {
        let stop = scalar::validate_from(input, near);
        debug_assert!(stop.why != Why::End && stop.valid_up_to <= near, "{stop:?}, near {near}");
        stop
    }

    /// Where the sequence begins that the byte at `near` shows to be ill-formed, or a well-formed one
    /// right before it. Everything before that is well-formed.
    #[inline(always)]
    fn before(input: &[u8], near: usize) -> usize {
        match input[..near] {
            [.., 0xC0..=0xFF] => near - 1,
            [.., 0xC0..=0xFF, 0x80..=0xBF] => near - 2,
            [.., 0xC0..=0xFF, 0x80..=0xBF, 0x80..=0xBF] => near - 3,
            _ => near,
        }
    }

    /// The last bytes of `input` may begin a sequence; the others are well-formed, and
    /// of what begins a sequence every byte but the last has been tested together with the next.
    #[inline(always)]
    fn clean_up_to_tail(input: &[u8]) -> Self {
        let held = match *input {
            [.., 0xC2..=0xF4] => 1,
            [.., 0xC0..=0xFF] => {
                return Self { valid_up_to: input.len() - 1, why: Why::IllFormed1 };
            }
            [.., 0xE0..=0xFF, _] => 2,
            [.., 0xF0..=0xFF, _, _] => 3,
            _ => 0,
        };
        Self::clean(input.len() - held)
    }
}

impl Why {
    /// The length of the maximal subpart, if there is one.
    #[inline]
    pub const fn error_len(self) -> Option<usize> {
        match self {
            Self::End => None,
            Self::IllFormed1 => Some(1),
            Self::IllFormed2 => Some(2),
            Self::IllFormed3 => Some(3),
        }
    }
}
