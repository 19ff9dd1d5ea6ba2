//! The innermost loops, one implementation per instruction set behind one value.
//!
//! A [`Kernel`] names an implementation this machine can run; it comes only from
//! [`Kernel::detect`] and [`Kernel::available`], so safe code cannot name another. The scalar kernel
//! is the definition of correct: any other has to give the same [`Stop`]s for the same bytes.

use core::sync::atomic::{AtomicU8, Ordering};

#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

/// Whether the machine has all of these features: asked of it with `std`, otherwise of the build.
#[cfg(target_arch = "x86_64")]
macro_rules! has {
    ($($feature:tt),*) => {{
        #[cfg(feature = "std")]
        let has = true $(&& std::arch::is_x86_feature_detected!($feature))*;
        #[cfg(not(feature = "std"))]
        let has = true $(&& cfg!(target_feature = $feature))*;
        has
    }};
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(Tier);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Tier {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Tier {
    /// The tiers of this architecture, the plainest first.
    const ALL: &[Self] = &[
        Self::Scalar,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
    ];

    /// Whether this machine has what the tier needs.
    fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => has!("avx512f", "avx512bw", "avx512vl", "avx512vbmi", "bmi2"),
        }
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

/// What ended a run of well-formed bytes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The input ended, inside a sequence (1 to 3 bytes of it) or not (0 bytes).
    End,
    /// A maximal subpart of this length, 1 to 3 bytes, which the input shows to be ill-formed.
    IllFormed(u8),
}

impl Kernel {
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
        // 0 is "not yet known"; every thread finds the same.
        static FOUND: AtomicU8 = AtomicU8::new(0);
        let known = FOUND.load(Ordering::Relaxed);
        if let Some(tier) = usize::from(known).checked_sub(1).and_then(|at| Tier::ALL.get(at)) {
            return Self(*tier);
        }
        let best = Tier::ALL.iter().rposition(|tier| tier.is_available()).unwrap_or(0);
        FOUND.store(best as u8 + 1, Ordering::Relaxed);
        Self(Tier::ALL[best])
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
        match self.0 {
            Tier::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => "avx512",
        }
    }

    /// Finds how far `input` is well-formed UTF-8 (RFC 3629 section 4) and what comes then.
    ///
    /// `valid_up_to` and the length of the subpart are those of [`core::str::from_utf8`]. At most
    /// one block behind the first ill-formed sequence is looked at, and nothing outside `input`.
    #[doc(hidden)]
    #[inline]
    pub fn validate(self, input: &[u8]) -> Stop {
        match self.0 {
            Tier::Scalar => scalar::validate(input),
            // SAFETY: the tier is only made where the features it needs have been found.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::validate(input) },
        }
    }
}

impl Stop {
    /// All `len` bytes are well-formed.
    #[inline]
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

    /// The last bytes of `input`, four or more, may begin a sequence; the others are well-formed.
    #[inline]
    fn clean_up_to_tail(input: &[u8]) -> Self {
        match *input {
            [.., a, b, c] if a < 0xF0 && b < 0xE0 && c < 0xC0 => Self::clean(input.len()),
            _ => scalar::validate_from(input, input.len()),
        }
    }
}
