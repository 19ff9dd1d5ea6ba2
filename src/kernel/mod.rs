//! The innermost loops, one implementation per instruction set behind one value.
//!
//! A [`Kernel`] names an implementation this machine can run; it comes only from
//! [`Kernel::detect`] and [`Kernel::available`], so safe code cannot name another. The scalar kernel
//! is the definition of correct: any other has to give the same [`Stop`]s for the same bytes.

mod scalar;

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
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Kernel;
    ///
    /// assert_eq!(Kernel::detect(), Kernel::detect());
    /// ```
    pub fn detect() -> Self {
        Self(Tier::Scalar)
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
        [Self(Tier::Scalar)].into_iter()
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
        }
    }
}
