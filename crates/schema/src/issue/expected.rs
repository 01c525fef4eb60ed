//! Describes in words what a keyword asks for.

use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::{IssueCode, nearest::folded};
use crate::{
    compile::{Checks, Scalar, Types},
    issue::{distance, nearest::is_comparable},
    judge::What,
    tree::{JsonType, Node},
};

/// How many options a message lists.
const LISTED: usize = 10;
/// How many pairs of names are compared for the issues of one value. Beyond that, options are
/// listed in the order of the schema, and no name is suggested.
const COMPARED: usize = 16_384;

/// Describes what was expected.
pub(super) struct Wording {
    compared: usize,
}

impl Default for Wording {
    fn default() -> Self {
        Self { compared: COMPARED }
    }
}

impl Wording {
    /// Whether this many pairs of names may be compared.
    pub(super) const fn may_compare(&mut self, pairs: usize) -> bool {
        match self.compared.checked_sub(pairs) {
            Some(left) => {
                self.compared = left;
                true
            }
            None => false,
        }
    }

    /// The code of a problem, what was expected, and the keyword. Unions, missing and unexpected
    /// properties, and the keywords of [`Wording::of_scalar`] are handled elsewhere.
    pub(super) fn of(
        &mut self,
        what: What<'_>,
        checks: &Checks,
        node: Node<'_>,
    ) -> (IssueCode, String, &'static str) {
        use IssueCode as Code;
        let text = checks.text.as_deref();
        let list = checks.list.as_deref();
        let object = checks.object.as_deref();
        let number = |limit: Option<u64>| limit.unwrap_or_default();
        match what {
            What::Type => (Code::Type, checks.types.unwrap_or(Types::NONE).listed(), "type"),
            What::Enum(_) => {
                let options = checks
                    .values
                    .as_ref()
                    .and_then(|own| own.options.as_ref())
                    .map(|own| own.all.as_slice());
                (Code::Enum, self.one_of(options.unwrap_or_default(), node), "enum")
            }
            What::Const => {
                let constant = checks.values.as_ref().and_then(|own| own.constant.as_ref());
                (Code::Const, constant.map(Value::to_string).unwrap_or_default(), "const")
            }
            What::MaxLength => {
                let limit = number(text.and_then(|own| own.most));
                (Code::Length, format!("at most {limit} characters"), "maxLength")
            }
            What::MinLength => {
                let limit = number(text.and_then(|own| own.least));
                (Code::Length, format!("at least {limit} characters"), "minLength")
            }
            What::MaxItems => {
                let limit = number(list.and_then(|own| own.most));
                (Code::Count, format!("at most {limit} items"), "maxItems")
            }
            What::MinItems => {
                let limit = number(list.and_then(|own| own.least));
                (Code::Count, format!("at least {limit} items"), "minItems")
            }
            What::FurtherItems => {
                let limit = list.map_or(0, |own| own.prefix.len());
                (Code::Count, format!("at most {limit} items"), "additionalItems")
            }
            What::MaxProperties => {
                let limit = number(object.and_then(|own| own.most));
                (Code::Count, format!("at most {limit} properties"), "maxProperties")
            }
            What::MinProperties => {
                let limit = number(object.and_then(|own| own.least));
                (Code::Count, format!("at least {limit} properties"), "minProperties")
            }
            What::UnevaluatedItems => (Code::Count, "no further items".into(), "unevaluatedItems"),
            What::Pattern => {
                let pattern = text.map(|own| own.spelled.as_str()).unwrap_or_default();
                (Code::Pattern, format!("a string that matches {pattern}"), "pattern")
            }
            What::Unique => (Code::Unique, "items that are all different".into(), "uniqueItems"),
            What::Contains(keyword) => {
                (Code::Content, "an item of the kind that `contains` asks for".into(), keyword)
            }
            What::Names => {
                (Code::Name, "property names that the schema allows".into(), "propertyNames")
            }
            What::Never => (Code::Forbidden, "nothing here".into(), ""),
            What::Not => (Code::Union, "a value that the schema under `not` refuses".into(), "not"),
            What::OneOfSeveral => {
                let expected = "a value that is valid for exactly one of several schemas";
                (Code::Union, expected.into(), "oneOf")
            }
            What::AnyOf | What::OneOf | What::Required(..) | What::Scalar | What::Unexpected(_) => {
                (Code::Union, "a value that the schema allows".into(), "")
            }
        }
    }

    /// The same for the keywords that the library checks.
    pub(super) fn of_scalar(scalar: &Scalar, node: Node<'_>) -> Vec<(IssueCode, String, String)> {
        let errors = scalar.problems(node);
        if errors.is_empty() {
            let expected = "a value that the schema allows".to_owned();
            return vec![(IssueCode::Union, expected, String::new())];
        }
        let worded = errors.iter().map(|error| {
            let (code, expected) = bound(error.kind());
            let keyword = error.schema_path().as_str().trim_start_matches('/').to_owned();
            (code, expected, keyword)
        });
        worded.collect()
    }

    /// The listed values, nearest first.
    fn one_of(&mut self, options: &[Value], node: Node<'_>) -> String {
        let mut options: Vec<&Value> = options.iter().collect();
        let own = node.as_str().filter(|own| node.kind() == JsonType::String && is_comparable(own));
        if let Some(own) = own.filter(|_| self.may_compare(options.len())) {
            let own = folded(&own);
            let near = |option: &Value| {
                let option = folded(option.as_str().filter(|option| is_comparable(option))?);
                if !own.is_empty() && (option.contains(&own) || own.contains(&option)) {
                    return Some(0);
                }
                distance(&option, &own, 8)
            };
            options.sort_by_cached_key(|option| near(option).unwrap_or(usize::MAX));
        }
        let shown: Vec<String> = options.iter().take(LISTED).map(ToString::to_string).collect();
        let more = options.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        match shown.as_slice() {
            [only] if more.is_empty() => only.clone(),
            _ => format!("one of {}{more}", shown.join(", ")),
        }
    }
}

/// Describes the bounds of a number, and formats and encodings.
fn bound(kind: &Kind) -> (IssueCode, String) {
    use IssueCode as Code;
    match kind {
        Kind::Maximum { limit } => (Code::Range, format!("at most {limit}")),
        Kind::Minimum { limit } => (Code::Range, format!("at least {limit}")),
        Kind::ExclusiveMaximum { limit } => (Code::Range, format!("less than {limit}")),
        Kind::ExclusiveMinimum { limit } => (Code::Range, format!("more than {limit}")),
        Kind::MultipleOf { multiple_of } => (Code::Range, format!("a multiple of {multiple_of}")),
        Kind::Format { format } => (Code::Format, format!("a string in the format {format}")),
        Kind::ContentEncoding { content_encoding } => {
            (Code::Content, format!("a string in {content_encoding}"))
        }
        Kind::ContentMediaType { content_media_type } => {
            (Code::Content, format!("a string that holds {content_media_type}"))
        }
        Kind::FromUtf8 { .. } => (Code::Content, "a string that encodes UTF-8".into()),
        _ => (Code::Union, "a value that the schema allows".into()),
    }
}
