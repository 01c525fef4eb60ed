//! Validation issues as data, and how they are written for people, models and programs.

mod validation;

use std::{fmt, ops::Range};

use serde_json::{Value, json};
pub(crate) use validation::{is_schema, issues};
use wiremend_core::{Path, Risk, Step};

use crate::{
    Rule,
    code::coded,
    tree::{JsonType, Node},
};

/// How much of a value an issue keeps, in characters.
const KEPT: usize = 240;

/// The hint for a text that was cut off.
const CONTINUE: &str = "continue from there";

/// The same, where the value looks whole but for its closers, or text follows it.
const CLOSE: &str = "it was cut off there, or a closer is missing before";

/// The kind of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum IssueCode {
    /// The value is not the one that `const` requires.
    Const,
    /// `contains` is not satisfied, or the content of a string is wrong.
    Content,
    /// There are too few or too many items or properties.
    Count,
    /// The value is not listed in `enum`.
    Enum,
    /// No value is allowed here.
    Forbidden,
    /// The string does not match the `format`.
    Format,
    /// The string is too short or too long.
    Length,
    /// A required property is missing.
    Missing,
    /// The name of a property is not allowed.
    Name,
    /// Validating the value takes more work than its length allows.
    Overflow,
    /// The string does not match the `pattern`.
    Pattern,
    /// The number is too small, too large, or not a multiple.
    Range,
    /// The value is the schema itself, not an instance of it.
    SchemaEcho,
    /// The text contains no value, several values, a value that needs a repair which the policy
    /// forbids, or a value that exceeds the limits.
    Syntax,
    /// The text was cut off inside the value, or before a part of it that the schema requires.
    Truncated,
    /// The value has the wrong type.
    Type,
    /// The property is not declared.
    Unexpected,
    /// The value is valid for none of several schemas, or for too many of them.
    Union,
    /// The items are not unique.
    Unique,
}

impl IssueCode {
    /// All codes, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Const,
        Self::Content,
        Self::Count,
        Self::Enum,
        Self::Forbidden,
        Self::Format,
        Self::Length,
        Self::Missing,
        Self::Name,
        Self::Overflow,
        Self::Pattern,
        Self::Range,
        Self::SchemaEcho,
        Self::Syntax,
        Self::Truncated,
        Self::Type,
        Self::Unexpected,
        Self::Union,
        Self::Unique,
    ];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Const => "const",
            Self::Content => "content",
            Self::Count => "count",
            Self::Enum => "enum",
            Self::Forbidden => "forbidden",
            Self::Format => "format",
            Self::Length => "length",
            Self::Missing => "missing",
            Self::Name => "name",
            Self::Overflow => "overflow",
            Self::Pattern => "pattern",
            Self::Range => "range",
            Self::SchemaEcho => "schema-echo",
            Self::Syntax => "syntax",
            Self::Truncated => "truncated",
            Self::Type => "type",
            Self::Unexpected => "unexpected",
            Self::Union => "union",
            Self::Unique => "unique",
        }
    }
}

coded!(IssueCode, "issue code");

/// An issue with a value. It is displayed on one line: `/tags/2: expected string, got number 3`.
///
/// ```
/// use wiremend_schema::{IssueCode, Schema, Tree};
///
/// let schema = Schema::from_text(
///     r#"{"properties": {"limit": {"type": "integer"}}, "required": ["limit"]}"#,
/// )?;
/// let issues = schema.validate(&Tree::read(r#"{"limitt": 3}"#)?);
/// assert_eq!(issues[0].code(), IssueCode::Missing);
/// assert_eq!(issues[0].hint(), Some(r#"did you mean "limit"? you sent "limitt""#));
/// assert_eq!((issues[0].missing(), issues[0].sent_as()), (Some("limit"), Some("limitt")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    code: IssueCode,
    pointer: String,
    path: Path,
    expected: String,
    received: Received,
    schema_path: String,
    span: Range<usize>,
    hint: Option<String>,
    missing: Option<Box<Missing>>,
    mended_by: Option<(Rule, Risk)>,
}

/// The property that an issue misses.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Missing {
    name: String,
    /// The name that was probably sent instead.
    sent: Option<String>,
}

impl Issue {
    fn new(code: IssueCode, node: Node<'_>, expected: impl Into<String>) -> Self {
        Self::at(code, node, path_of(node), expected)
    }

    /// The same, if the path to the value is already known.
    fn at(code: IssueCode, node: Node<'_>, path: Path, expected: impl Into<String>) -> Self {
        Self {
            code,
            pointer: pointer_of(&path),
            path,
            expected: expected.into(),
            received: Received::of(node),
            schema_path: String::new(),
            span: node.span(),
            hint: None,
            missing: None,
            mended_by: None,
        }
    }

    /// The text ended inside the value at `path`, after `length` bytes.
    pub(crate) fn truncated(path: Path, length: usize) -> Self {
        let expected = "the rest of the value";
        Self::of_text(IssueCode::Truncated, path, expected, length..length).with_hint(CONTINUE)
    }

    /// Whether the issue is that something is missing, rather than that something else is in its
    /// place.
    pub(crate) fn is_lack(&self) -> bool {
        let keyword = self.schema_path.rsplit('/').next();
        let short = matches!(keyword, Some("minItems" | "minProperties"));
        (short || self.code == IssueCode::Missing) && self.hint.is_none()
    }

    /// The same issue for a value that ended at this byte of the text without its end, before the
    /// missing part. It was cut off; if it ended with a closer, or if text follows, it may also lack
    /// a closer.
    pub(crate) fn before_cut(mut self, text: &[u8], end: usize) -> Self {
        self.code = IssueCode::Truncated;
        self.span = end..end;
        let (value, rest) = text.split_at(end.min(text.len()));
        let closed = matches!(value.trim_ascii_end().last(), Some(b'}' | b']'));
        let open = rest.trim_ascii().is_empty() && !closed;
        self.with_hint(if open { CONTINUE } else { CLOSE })
    }

    /// There is no value to validate.
    pub(crate) fn syntax(path: Path, reason: impl Into<String>, span: Range<usize>) -> Self {
        Self::of_text(IssueCode::Syntax, path, reason, span)
    }

    /// The value exceeds the limits and was not validated. `length` is the length of the text in
    /// bytes.
    pub(crate) fn beyond_limits(length: usize) -> Self {
        Self::syntax(Path::default(), "deeper or longer than the limits allow", 0..length)
    }

    /// Validating the value would take too much work. `length` is the length of the text in bytes.
    pub(crate) fn too_much_work(length: usize) -> Self {
        let reason = "more work than the limits allow: the schema can be applied in too many ways";
        Self::of_text(IssueCode::Overflow, Path::default(), reason, 0..length)
    }

    /// The approximate memory that it takes, in bytes.
    fn size(&self) -> usize {
        let texts = [&self.pointer, &self.expected, &self.schema_path, &self.received.raw];
        let texts: usize = texts.iter().map(|text| text.len()).sum();
        texts + self.pointer.len() + size_of::<Self>()
    }

    /// An issue about the text rather than a value in it.
    fn of_text(code: IssueCode, path: Path, reason: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            code,
            pointer: pointer_of(&path),
            path,
            expected: reason.into(),
            received: Received { kind: JsonType::Null, raw: String::new(), whole: true },
            schema_path: String::new(),
            span,
            hint: None,
            missing: None,
            mended_by: None,
        }
    }

    /// An issue about a value that may still be open. `raw` is the part of it that has arrived.
    pub(crate) fn begun(
        code: IssueCode,
        path: Path,
        kind: JsonType,
        raw: &str,
        expected: impl Into<String>,
        span: Range<usize>,
    ) -> Self {
        let kept: String = raw.chars().take(KEPT).collect();
        let received = Received { kind, whole: kept.len() == raw.len(), raw: kept };
        let (schema_path, hint) = (String::new(), None);
        Self {
            code,
            pointer: pointer_of(&path),
            path,
            expected: expected.into(),
            received,
            schema_path,
            span,
            hint,
            missing: None,
            mended_by: None,
        }
    }

    fn with_schema_path(mut self, schema_path: impl Into<String>) -> Self {
        self.schema_path = schema_path.into();
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same issue, which that rule mends once the rest fits. The hint says so, unless there is another one.
    pub(crate) fn with_mending(mut self, rule: Rule, risk: Risk) -> Self {
        self.mended_by = Some((rule, risk));
        self.hint =
            self.hint.or_else(|| Some(format!("{rule} ({risk}) mends this once the rest fits")));
        self
    }

    /// The same issue, of whose value more may follow.
    pub(crate) const fn of_open_value(mut self) -> Self {
        self.received.whole = false;
        self
    }

    /// The same issue at `span` of another text.
    pub(crate) fn with_span(mut self, span: Range<usize>) -> Self {
        self.span = span;
        self
    }

    /// The kind of the issue.
    #[must_use]
    pub const fn code(&self) -> IssueCode {
        self.code
    }

    /// The location, as a JSON Pointer (RFC 6901). Empty for the root.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The location, as a dotted path: `$.tags[2]`.
    #[must_use]
    pub const fn path(&self) -> &Path {
        &self.path
    }

    /// What the schema expects, in words.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// The value that was received.
    #[must_use]
    pub const fn received(&self) -> &Received {
        &self.received
    }

    /// The location of the violated keyword in the schema, as a JSON Pointer.
    #[must_use]
    pub fn schema_path(&self) -> &str {
        &self.schema_path
    }

    /// The byte range of the value: in the text that was validated or, after a repair was
    /// attempted, in the original input.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The name of the property that is missing from the value at [`pointer`](Self::pointer), if this is
    /// what is wrong.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref().map(|missing| missing.name.as_str())
    }

    /// The name under which the missing property was probably sent.
    #[must_use]
    pub fn sent_as(&self) -> Option<&str> {
        self.missing.as_deref().and_then(|missing| missing.sent.as_deref())
    }

    /// The rule that mends this as soon as the rest of the value fits, and the highest risk of all that it takes: of
    /// several rules, the one for the value itself. `None` if nothing that the [options](crate::FitOptions) allow
    /// mends it. Only [`Schema::fit`](crate::Schema::fit) knows that: issues of
    /// [`Schema::validate`](crate::Schema::validate) and of a [`Cursor`](crate::Cursor) have none.
    ///
    /// Such an issue need not be corrected. The others prevent the fit.
    ///
    /// ```
    /// use wiremend_core::Risk;
    /// use wiremend_schema::{FitOptions, Rule, Schema};
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"properties": {"limit": {"type": "integer"}, "sort": {"enum": ["new", "old"]}}}"#,
    /// )?;
    /// let fitted = schema.fit(br#"{"limit": "3", "sort": "nice"}"#, &FitOptions::new());
    /// let mended_by: Vec<_> = fitted.issues().iter().map(|issue| issue.mended_by()).collect();
    /// assert_eq!(mended_by, [Some((Rule::StringToNumber, Risk::Exact)), None]);
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub const fn mended_by(&self) -> Option<(Rule, Risk)> {
        self.mended_by
    }

    /// A suggestion, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Rendering::new().line(self))
    }
}

/// The value that an issue is about: its type, and its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    kind: JsonType,
    raw: String,
    whole: bool,
}

impl Received {
    fn of(node: Node<'_>) -> Self {
        let raw: String = node.raw().chars().take(KEPT).collect();
        Self { kind: node.kind(), whole: raw.len() == node.raw().len(), raw }
    }

    /// Its type.
    #[must_use]
    pub const fn kind(&self) -> JsonType {
        self.kind
    }

    /// The text of the value, at most its first 240 characters.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Whether [`Received::raw`] is the complete value.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.whole
    }
}

/// A path as a JSON Pointer.
pub(crate) fn pointer_of(path: &Path) -> String {
    path.steps().iter().fold(String::new(), |pointer, step| match step {
        Step::Key(key) => pointer + "/" + &key.replace('~', "~0").replace('/', "~1"),
        Step::Index(index) => format!("{pointer}/{index}"),
    })
}

/// The path from the root to a node.
fn path_of(node: Node<'_>) -> Path {
    let mut steps = Vec::new();
    let mut node = node;
    while let Some(parent) = node.parent() {
        steps.push(match node.key() {
            Some(key) => Step::Key(key.into()),
            None => {
                let own = node.index();
                let at = parent.children().position(|item| item.index() == own);
                Step::Index(at.unwrap_or_default())
            }
        });
        node = parent;
    }
    steps.reverse();
    Path::from(steps)
}

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
                format!("the value ends at byte {at}, before {expected}")
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
