//! Stable names, and the types that are parsed from them.

use core::fmt;

/// The error of [`FromStr`](core::str::FromStr) for types with stable names: nothing has this name.
///
/// ```
/// use wiremend_core::{Outcome, Risk};
/// assert_eq!("lossy".parse(), Ok(Risk::Lossy));
/// assert_eq!("Lossy".parse::<Risk>().unwrap_err().to_string(), "no such risk");
/// assert!("fine".parse::<Outcome>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownCode {
    what: &'static str,
}

impl UnknownCode {
    /// Creates the error for a code that no `what` has.
    #[must_use]
    pub const fn new(what: &'static str) -> Self {
        Self { what }
    }
}

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no such {}", self.what)
    }
}

impl core::error::Error for UnknownCode {}

/// Implements `Display` and `FromStr` for a type with `code` and `ALL`.
macro_rules! by_code {
    ($type:ty, $what:literal) => {
        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.code())
            }
        }

        impl core::str::FromStr for $type {
            type Err = $crate::UnknownCode;

            fn from_str(code: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().find(|one| one.code() == code);
                found.copied().ok_or($crate::UnknownCode::new($what))
            }
        }
    };
}
pub(crate) use by_code;
