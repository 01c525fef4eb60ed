//! `Display` and `FromStr` for types with a code.

pub use wiremend_core::UnknownCode;

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
                Self::ALL.iter().copied().find(|one| one.code() == code).ok_or($crate::UnknownCode::new("code"))
            }
        }
    )+};
}
pub(crate) use coded;
