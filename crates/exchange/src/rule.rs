//! What is done with the arguments of single tools.

use serde::{Deserialize, Serialize};

use crate::{Arguments, Repair, SettingError};

/// What is done with the arguments of the tools of a name, where that is not what [`Mending`] says.
///
/// Of the rules of an upstream, and after them those of all, the first one whose name matches counts. A
/// request can narrow it, but not widen it.
///
/// [`Mending`]: crate::Mending
///
/// ```
/// use wiremend_exchange::{Arguments, Mending, Repair, ToolRule};
/// let delete = ToolRule::new("delete_*")?.with_arguments(Arguments::Pass);
/// let search = ToolRule::new("search")?.with_policy(Repair::Lossy);
/// assert!(delete.matches("delete_user") && !search.matches("search_all"));
/// let mending = Mending::new().with_tools(vec![delete, search]);
/// # Ok::<(), wiremend_exchange::SettingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRule {
    name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Arguments>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<Repair>,
}

/// The longest pattern.
const LONGEST: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Name(String);

impl ToolRule {
    /// A rule for the tools of that name, in which `*` stands for any characters. It changes nothing yet.
    ///
    /// # Errors
    /// If the name is empty or has more than 256 bytes.
    pub fn new(name: &str) -> Result<Self, SettingError> {
        Ok(Self { name: name.to_owned().try_into()?, arguments: None, policy: None })
    }

    /// Sets what is done with the arguments.
    #[must_use]
    pub const fn with_arguments(mut self, arguments: Arguments) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Sets the highest risk of a repair, and of a change that makes the arguments fit.
    #[must_use]
    pub const fn with_policy(mut self, policy: Repair) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Whether it is for a tool of that name.
    #[must_use]
    pub fn matches(&self, tool: &str) -> bool {
        matches(self.name.0.as_bytes(), tool.as_bytes())
    }

    pub(crate) const fn arguments(&self) -> Option<Arguments> {
        self.arguments
    }

    pub(crate) const fn policy(&self) -> Option<Repair> {
        self.policy
    }
}

impl TryFrom<String> for Name {
    type Error = SettingError;

    fn try_from(name: String) -> Result<Self, SettingError> {
        if name.is_empty() || name.len() > LONGEST {
            return Err(SettingError("the name of a tool is empty or too long"));
        }
        Ok(Self(name))
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

/// Whether a name matches a pattern. Only the last star is tried again, so the work is bounded by the
/// product of the lengths.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    // Behind the last star, and how far the name was read there.
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                star = Some((at, read));
            }
            Some(byte) if *byte == name[read] => (at, read) = (at + 1, read + 1),
            _ => {
                let Some((after, tried)) = star else { return false };
                star = Some((after, tried + 1));
                (at, read) = (after, tried + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_a_length() {
        assert!(ToolRule::new(&"a".repeat(LONGEST)).is_ok());
        assert!(ToolRule::new(&"a".repeat(LONGEST + 1)).is_err());
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, yes, no) in [
            ("f", vec!["f"], vec!["", "ff", "F"]),
            ("*", vec!["", "f"], vec![]),
            ("get_*", vec!["get_", "get_x"], vec!["get", "xget_"]),
            ("*_file", vec!["read_file", "_file_file"], vec!["read_files"]),
            ("a*b*c", vec!["abc", "axbxbc"], vec!["ab", "acb"]),
            ("**", vec!["x"], vec![]),
        ] {
            let rule = ToolRule::new(pattern).unwrap();
            for name in yes {
                assert!(rule.matches(name), "{pattern} {name}");
            }
            for name in no {
                assert!(!rule.matches(name), "{pattern} {name}");
            }
        }
        assert!(ToolRule::new("").is_err());
        // A pattern made to be slow is not.
        let slow = ToolRule::new(&"*a".repeat(128)).unwrap();
        assert!(
            !slow.matches(&"a".repeat(100_000).replace("aa", "ab")[..99_999].replace('a', "b"))
        );
    }
}
