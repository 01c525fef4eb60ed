//! Renders issues for people, models and programs.

use serde_json::{Value, json};

use super::{Issue, IssueCode};

/// Options for rendering issues.
///
/// What was received is quoted and shortened, so that nothing in it reads as an instruction.
///
/// ```
/// use wiremend_schema::{Rendering, Schema, Tree};
///
/// let schema = Schema::from_text(r#"{"items": {"type": "integer"}}"#)?;
/// let issues = schema.validate(&Tree::read(r#"["a", "b", "c"]"#)?);
/// assert_eq!(
///     Rendering::new().with_lines(2).with_masked(true).for_model(&issues),
///     "- /0: expected integer, got string\n- /1: expected integer, got string\n+1 more",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rendering {
    lines: usize,
    characters: usize,
    masked: bool,
}

impl Rendering {
    /// The defaults: 8 lines, and 120 characters of each value.
    #[must_use]
    pub const fn new() -> Self {
        Self { lines: 8, characters: 120, masked: false }
    }

    /// Sets how many issues are listed; the number of omitted ones is stated. At least 1.
    #[must_use]
    pub const fn with_lines(mut self, lines: usize) -> Self {
        self.lines = if lines == 0 { 1 } else { lines };
        self
    }

    /// Sets how many characters of a value are shown, at most 240.
    #[must_use]
    pub const fn with_characters(mut self, characters: usize) -> Self {
        self.characters = characters;
        self
    }

    /// Sets whether values are masked, so that only their types are shown.
    #[must_use]
    pub const fn with_masked(mut self, masked: bool) -> Self {
        self.masked = masked;
        self
    }

    /// Renders one issue on one line, for a person.
    #[must_use]
    pub fn line(&self, issue: &Issue) -> String {
        let place = if issue.pointer().is_empty() { "/" } else { issue.pointer() };
        let received = self.received(issue);
        let problem = match issue.code() {
            IssueCode::Missing => format!("missing {}", issue.expected()),
            IssueCode::Unexpected => "unexpected property".to_owned(),
            IssueCode::Syntax => issue.expected().to_owned(),
            IssueCode::Truncated => {
                let (at, expected) = (issue.span().start, issue.expected());
                format!("the text was cut off at byte {at}, before {expected}")
            }
            IssueCode::SchemaEcho => format!("expected {}", issue.expected()),
            _ => format!("expected {}, got {received}", issue.expected()),
        };
        match issue.hint() {
            Some(hint) => format!("{place}: {problem}; {hint}"),
            None => format!("{place}: {problem}"),
        }
    }

    /// Renders the first issues for a model, one per line, and says how many were omitted.
    #[must_use]
    pub fn for_model(&self, issues: &[Issue]) -> String {
        let mut lines: Vec<String> =
            issues.iter().take(self.lines).map(|issue| format!("- {}", self.line(issue))).collect();
        if issues.len() > self.lines {
            lines.push(format!("+{} more", issues.len() - self.lines));
        }
        lines.join("\n")
    }

    /// Renders all issues as a JSON array, for a program.
    #[must_use]
    pub fn json(&self, issues: &[Issue]) -> String {
        Value::Array(issues.iter().map(|issue| self.object(issue)).collect()).to_string()
    }

    fn object(&self, issue: &Issue) -> Value {
        json!({
            "pointer": issue.pointer(),
            "path": issue.path().to_string(),
            "code": issue.code().code(),
            "expected": issue.expected(),
            "received": self.received(issue),
            "schema_path": issue.schema_path(),
            "start": issue.span().start,
            "end": issue.span().end,
            "hint": issue.hint(),
        })
    }

    /// `number 3`, `string "abc…`
    fn received(&self, issue: &Issue) -> String {
        let received = issue.received();
        if self.masked || matches!(received.raw(), "" | "null") {
            return received.kind().to_string();
        }
        let mut shown: String = received.raw().chars().take(self.characters).collect();
        let whole = received.is_whole() && shown.len() == received.raw().len();
        // A line break inside the value would break the line.
        shown = shown.replace(['\n', '\r', '\t'], " ");
        format!("{} {shown}{}", received.kind(), if whole { "" } else { "…" })
    }
}

impl Default for Rendering {
    fn default() -> Self {
        Self::new()
    }
}
