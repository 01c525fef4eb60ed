//! Names that programs read: every enum with a code prints it, and is read from it.

use std::{error::Error, fmt};

/// There is nothing of that code.
///
/// ```
/// use jsonmend_schema::Rule;
/// let error = "wrap".parse::<Rule>().unwrap_err();
/// assert_eq!(error.to_string(), "there is no rule `wrap`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCode {
    what: &'static str,
    code: String,
}

impl UnknownCode {
    pub(crate) fn new(what: &'static str, code: &str) -> Self {
        Self { what, code: code.to_owned() }
    }

    /// The code that was not found.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }
}

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} `{}`", self.what, self.code)
    }
}

impl Error for UnknownCode {}

/// `Display`, `FromStr`, `from_code` and, with the feature, `Serialize`, for an enum with `ALL` and
/// `code`.
macro_rules! coded {
    ($name:ident, $what:literal) => {
        impl $name {
            #[doc = concat!("The ", $what, " of that code.")]
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
                Self::from_code(code).ok_or_else(|| $crate::UnknownCode::new($what, code))
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
