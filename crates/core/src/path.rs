//! Places in a document.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::{fmt, fmt::Write as _};

/// One step from a container to one of its children.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums)]
pub enum Step {
    /// The member with this (decoded) key.
    Key(Box<str>),
    /// The item at this index, from 0.
    Index(usize),
}

/// A place in a document: the steps from the root. It prints as `$.a[0]["b c"]`.
///
/// ```
/// use wiremend_core::{Path, Step};
/// let path = Path::from(vec![Step::Key("a".into()), Step::Index(0), Step::Key("b c".into())]);
/// assert_eq!(path.to_string(), r#"$.a[0]["b c"]"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Path {
    steps: Vec<Step>,
}

impl Path {
    /// The steps, outermost first.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The path as a JSON Pointer ([RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)).
    ///
    /// ```
    /// use wiremend_core::{Path, Step};
    /// let path = Path::from(vec![Step::Key("a/b".into()), Step::Index(0)]);
    /// assert_eq!(path.to_pointer(), "/a~1b/0");
    /// ```
    #[must_use]
    pub fn to_pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.steps {
            pointer.push('/');
            match step {
                Step::Index(index) => {
                    // Writing to a string does not fail.
                    let _ = write!(pointer, "{index}");
                }
                Step::Key(key) => key.chars().for_each(|c| match c {
                    '~' => pointer.push_str("~0"),
                    '/' => pointer.push_str("~1"),
                    c => pointer.push(c),
                }),
            }
        }
        pointer
    }
}

impl From<Vec<Step>> for Path {
    fn from(steps: Vec<Step>) -> Self {
        Self { steps }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('$')?;
        for step in &self.steps {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_plain(key) => write!(f, ".{key}")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}
