//! What can be seen in an answer that was not accepted, and what to say about it.

use wiremend_core::{Options, RepairKind};
use wiremend_extract::{Scope, is_reasoning_tag, mend_text};
use wiremend_schema::{Issue, IssueCode};

use super::frame::{harmless_line, start_of};

/// How many hints a prompt has at most.
const MOST: usize = 4;
/// How much of an answer is looked at, in bytes.
const SEEN: usize = 64 << 10;

/// A habit of models that was seen in an answer, for the prompt that asks for another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Hint {
    /// There was nothing in the answer.
    Empty,
    /// Another tool was called.
    OtherTool(String),
    /// It was cut off.
    CutOff,
    /// It was the schema itself.
    SchemaEcho,
    /// There were words, and no JSON.
    Prose,
    /// There was a wrapper for calls in XML around the JSON.
    XmlWrapper,
    /// An XML element was in the place of an object.
    WrongTag(String),
    /// There was a code fence.
    Fence,
    /// Strings or keys had other quotes, or none.
    Quotes,
    /// There were commas without a further item.
    TrailingComma,
    /// There were raw line breaks in strings.
    LineBreak,
    /// There were literals of another language, such as `None`.
    Literal,
    /// There were comments.
    Comment,
    /// Something was left out with an ellipsis.
    Ellipsis,
}

impl Hint {
    /// The stable kebab-case name.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Comment => "comment",
            Self::CutOff => "cut-off",
            Self::Ellipsis => "ellipsis",
            Self::Empty => "empty",
            Self::Fence => "fence",
            Self::LineBreak => "line-break",
            Self::Literal => "literal",
            Self::OtherTool(_) => "other-tool",
            Self::Prose => "prose",
            Self::Quotes => "quotes",
            Self::SchemaEcho => "schema-echo",
            Self::TrailingComma => "trailing-comma",
            Self::WrongTag(_) => "wrong-tag",
            Self::XmlWrapper => "xml-wrapper",
        }
    }

    /// What the prompt says about it.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Comment => "Write no comments in the JSON.".into(),
            Self::CutOff => "The answer was too long and was cut off. Be brief.".into(),
            Self::Ellipsis => "Write everything out. Do not abbreviate with an ellipsis.".into(),
            Self::Empty => "The answer was empty.".into(),
            Self::Fence => "Write no Markdown code fence around the JSON.".into(),
            Self::LineBreak => "Write line breaks in strings as \\n.".into(),
            Self::Literal => "Write true, false and null, as in JSON.".into(),
            Self::OtherTool(name) => format!("You called {name:?}, which is another tool."),
            Self::Prose => {
                "Reply with the JSON itself. Put what you have to say into its fields.".into()
            }
            Self::Quotes => "Put keys and strings into double quotes.".into(),
            Self::SchemaEcho => {
                "You returned the schema itself. Return a value that the schema describes.".into()
            }
            Self::TrailingComma => "Write no comma before a closing bracket.".into(),
            Self::WrongTag(tag) => format!("Write a JSON object, not the XML element <{tag}>."),
            Self::XmlWrapper => "Write no XML around the JSON.".into(),
        }
    }
}

/// What can be seen in an answer. Words about spelling only where there is no value to speak of: what was
/// repaired needs no correction.
pub(crate) fn seen(
    text: &str,
    issues: &[Issue],
    is_cut: bool,
    other_tool: Option<&str>,
) -> Vec<Hint> {
    let mut hints = Vec::new();
    hints.extend(other_tool.map(|name| Hint::OtherTool(shortened(name))));
    if is_cut {
        hints.push(Hint::CutOff);
    }
    if issues.iter().any(|issue| issue.code() == IssueCode::SchemaEcho) {
        hints.push(Hint::SchemaEcho);
    }
    let text = start_of(text, SEEN).trim();
    if text.is_empty() && other_tool.is_none() {
        hints.push(Hint::Empty);
    }
    let lower = text.to_ascii_lowercase();
    let wrappers = ["<function_calls", "<tool_call", "<invoke", "<function=", "[tool_calls]"];
    if wrappers.iter().any(|wrapper| lower.contains(wrapper)) {
        hints.push(Hint::XmlWrapper);
    } else if let Some(tag) = element(text) {
        hints.push(Hint::WrongTag(tag));
    }
    if issues.iter().any(|issue| issue.code() == IssueCode::Syntax) && !text.is_empty() {
        spelling(text, &mut hints);
    }
    hints.truncate(MOST);
    hints
}

fn spelling(text: &str, hints: &mut Vec<Hint>) {
    use RepairKind as Kind;
    let mended = mend_text(text.as_bytes(), Scope::Best, &Options::new());
    let has_json = mended.text().is_some() || !mended.repairs().is_empty();
    if !has_json && !hints.iter().any(|hint| matches!(hint, Hint::XmlWrapper | Hint::WrongTag(_))) {
        hints.push(Hint::Prose);
    }
    const KINDS: &[(Kind, Hint)] = &[
        (Kind::CodeFence, Hint::Fence),
        (Kind::SingleQuote, Hint::Quotes),
        (Kind::SmartQuote, Hint::Quotes),
        (Kind::BacktickQuote, Hint::Quotes),
        (Kind::UnquotedKey, Hint::Quotes),
        (Kind::UnquotedString, Hint::Quotes),
        (Kind::ExtraComma, Hint::TrailingComma),
        (Kind::UnescapedControl, Hint::LineBreak),
        (Kind::PythonLiteral, Hint::Literal),
        (Kind::LiteralCase, Hint::Literal),
        (Kind::Undefined, Hint::Literal),
        (Kind::NonFinite, Hint::Literal),
        (Kind::Comment, Hint::Comment),
        (Kind::Ellipsis, Hint::Ellipsis),
    ];
    for (kind, hint) in KINDS {
        if mended.repairs().contains(*kind) && !hints.contains(hint) {
            hints.push(hint.clone());
        }
    }
}

/// The name of the XML element that a text begins with, if it also ends it.
fn element(text: &str) -> Option<String> {
    const LONGEST: usize = 40;
    let inside = text.strip_prefix('<')?;
    let end = inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))?;
    let name = inside.get(..end).filter(|name| !name.is_empty() && name.len() <= LONGEST)?;
    let closed = inside.contains(&format!("</{name}>"));
    (closed && !is_reasoning_tag(name)).then(|| name.to_owned())
}

fn shortened(name: &str) -> String {
    harmless_line(name).chars().take(64).collect()
}
