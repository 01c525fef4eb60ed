//! What a keyword asks for, in words.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use super::{IssueCode, nearest::folded};
use crate::{
    issue::distance,
    tree::{JsonKind, Node},
};

/// How many options a message lists.
const LISTED: usize = 10;

/// The code of an error and what was expected. Unions, missing and unexpected properties are not
/// handled here: they need more than the keyword.
pub(super) fn expected(kind: &Kind, node: Node<'_>) -> (IssueCode, String) {
    use IssueCode as Code;
    match kind {
        Kind::Type { kind: TypeKind::Single(single) } => (Code::Type, single.to_string()),
        Kind::Type { kind: TypeKind::Multiple(several) } => {
            let names: Vec<&str> = several.iter().map(jsonschema::JsonType::as_str).collect();
            (Code::Type, names.join(" or "))
        }
        Kind::Enum { options } => (Code::Enum, one_of(options, node)),
        Kind::Constant { expected_value } => (Code::Const, expected_value.to_string()),
        Kind::Maximum { limit } => (Code::Range, format!("at most {limit}")),
        Kind::Minimum { limit } => (Code::Range, format!("at least {limit}")),
        Kind::ExclusiveMaximum { limit } => (Code::Range, format!("less than {limit}")),
        Kind::ExclusiveMinimum { limit } => (Code::Range, format!("more than {limit}")),
        Kind::MultipleOf { multiple_of } => (Code::Range, format!("a multiple of {multiple_of}")),
        Kind::MaxLength { limit } => (Code::Length, format!("at most {limit} characters")),
        Kind::MinLength { limit } => (Code::Length, format!("at least {limit} characters")),
        Kind::MaxItems { limit } => (Code::Count, format!("at most {limit} items")),
        Kind::MinItems { limit } => (Code::Count, format!("at least {limit} items")),
        Kind::AdditionalItems { limit } => (Code::Count, format!("at most {limit} items")),
        Kind::MaxProperties { limit } => (Code::Count, format!("at most {limit} properties")),
        Kind::MinProperties { limit } => (Code::Count, format!("at least {limit} properties")),
        Kind::UnevaluatedItems { .. } => (Code::Count, "no further items".into()),
        Kind::Pattern { pattern } => (Code::Pattern, format!("a string that matches {pattern}")),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            (Code::Pattern, "a string that its pattern can be matched with".into())
        }
        Kind::Format { format } => (Code::Format, format!("a string in the format {format}")),
        Kind::UniqueItems => (Code::Unique, "items that are all different".into()),
        Kind::Contains => (Code::Content, "an item of the kind that `contains` asks for".into()),
        Kind::ContentEncoding { content_encoding } => {
            (Code::Content, format!("a string in {content_encoding}"))
        }
        Kind::ContentMediaType { content_media_type } => {
            (Code::Content, format!("a string that holds {content_media_type}"))
        }
        Kind::FromUtf8 { .. } => (Code::Content, "a string that encodes UTF-8".into()),
        Kind::PropertyNames { .. } => (Code::Name, "property names that the schema allows".into()),
        Kind::FalseSchema => (Code::Forbidden, "nothing here".into()),
        Kind::Not { .. } => (Code::Union, "a value that the schema under `not` refuses".into()),
        _ => (Code::Union, "a value that the schema allows".into()),
    }
}

/// The options, nearest first.
fn one_of(options: &Value, node: Node<'_>) -> String {
    let mut options: Vec<&Value> =
        options.as_array().map(Vec::as_slice).into_iter().flatten().collect();
    if node.kind() == JsonKind::String {
        let own = folded(&node.as_str().unwrap_or_default());
        let near = |option: &Value| {
            let option = folded(option.as_str()?);
            if !own.is_empty() && (option.contains(&own) || own.contains(&option)) {
                return Some(0);
            }
            distance(&option, &own, 8)
        };
        options.sort_by_key(|option| near(option).unwrap_or(usize::MAX));
    }
    let shown: Vec<String> = options.iter().take(LISTED).map(ToString::to_string).collect();
    let more = options.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    match shown.as_slice() {
        [only] if more.is_empty() => only.clone(),
        _ => format!("one of {}{more}", shown.join(", ")),
    }
}
