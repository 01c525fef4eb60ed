//! `Display` and `FromStr` for types with a code.

use core::fmt;

/// The error for a code that this version does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownCode;

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such code")
    }
}

impl std::error::Error for UnknownCode {}

/// Implements `Display` with `code()`, and `FromStr` with the codes of `ALL`.
macro_rules! coded {
    ($($name:ident),+) => {$(
        /// The code.
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.code())
            }
        }

        impl core::str::FromStr for $name {
            type Err = $crate::UnknownCode;

            fn from_str(code: &str) -> Result<Self, $crate::UnknownCode> {
                Self::ALL.iter().copied().find(|one| one.code() == code).ok_or($crate::UnknownCode)
            }
        }
    )+};
}
pub(crate) use coded;
