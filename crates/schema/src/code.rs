//! The codes of the public enums: stable names, in both directions.

pub use wiremend_core::UnknownCode;

/// Implements `Display`, `FromStr`, `from_code` and, with the feature `serde`, `Serialize` for an
/// enum that has `ALL` and `code`.
macro_rules! coded {
    ($name:ident, $what:literal) => {
        impl $name {
            #[doc = concat!("The ", $what, " with that code.")]
            #[must_use]
            pub fn from_code(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|own| own.code() == code)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.code())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownCode;

            fn from_str(code: &str) -> Result<Self, Self::Err> {
                Self::from_code(code).ok_or($crate::UnknownCode::new($what))
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.code())
            }
        }
    };
}

pub(crate) use coded;
