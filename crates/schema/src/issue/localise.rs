//! From the validator's errors to issues.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::{Issue, IssueCode, expected::expected, hint};
use crate::{
    compile::{Schema, ShapeId},
    part::Part,
    tree::{Instance, Node, Tree},
};

/// The most errors that are looked at. A value with more is not made better by a longer list.
const MOST: usize = 1_000;

/// What is wrong with a value, in document order.
pub(crate) fn issues(schema: &Schema, tree: &Tree<'_>) -> Vec<Issue> {
    let errors: Vec<ValidationError<'_>> =
        schema.validator().iter_errors(Instance::Node(tree.root())).take(MOST).collect();
    if errors.is_empty() {
        return Vec::new();
    }
    if hint::echoes_schema(tree.root()) {
        let issue = Issue::new(IssueCode::SchemaEcho, tree.root(), "an instance of the schema")
            .with_hint("you returned the schema itself; return an instance of it");
        return vec![issue];
    }
    let mut localised = Localised { schema, tree, issues: Vec::new() };
    let mut open: Vec<&ValidationError<'_>> = errors.iter().rev().collect();
    while let Some(error) = open.pop() {
        localised.read(error, &mut open);
    }
    localised.joined()
}

struct Localised<'t, 's> {
    schema: &'s Schema,
    tree: &'t Tree<'t>,
    issues: Vec<Issue>,
}

impl<'t> Localised<'t, '_> {
    fn read<'e, 'i>(
        &mut self,
        error: &'e ValidationError<'i>,
        open: &mut Vec<&'e ValidationError<'i>>,
    ) {
        let pointer = error.instance_path().as_str();
        let Some(node) = self.tree.at(pointer) else { return };
        let schema_path = error.schema_path().as_str();
        match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                match best_branch(context, pointer) {
                    Some(errors) => open.extend(errors.iter().rev()),
                    None => self.push(IssueCode::Type, node, union_types(context), schema_path),
                }
            }
            Kind::OneOfMultipleValid { .. } => {
                let expected = "a value that is valid for exactly one of several schemas";
                self.push(IssueCode::Union, node, expected, schema_path);
            }
            Kind::Required { property } => self.missing(node, property, schema_path),
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                for key in unexpected {
                    // The issue is at the member, for that is what must go.
                    let member = node.member(key).unwrap_or(node);
                    self.push(IssueCode::Unexpected, member, "no such property", schema_path);
                }
            }
            kind => {
                let (code, expected) = expected(kind, node);
                let issue = Issue::new(code, node, expected).with_schema_path(schema_path);
                let part = self.part(schema_path);
                let hint = part.filter(|_| code == IssueCode::Type);
                let hint = hint.and_then(|part| hint::flattened(node, &part));
                self.issues.push(match hint {
                    Some(hint) => issue.with_hint(hint),
                    None => issue,
                });
            }
        }
    }

    /// The part of the schema that a keyword is in.
    fn part(&self, schema_path: &str) -> Option<Part<'_>> {
        let (pointer, _) = schema_path.rsplit_once('/')?;
        let id: ShapeId = self.schema.shapes().find(pointer)?;
        Some(Part::of(self.schema, vec![id]))
    }

    fn push(
        &mut self,
        code: IssueCode,
        node: Node<'t>,
        expected: impl Into<String>,
        schema_path: &str,
    ) {
        self.issues.push(Issue::new(code, node, expected).with_schema_path(schema_path));
    }

    fn missing(&mut self, node: Node<'t>, property: &Value, schema_path: &str) {
        let Some(name) = property.as_str() else { return };
        let part = self.part(schema_path);
        let place = part.as_ref().and_then(|part| part.property(name));
        let types = place.map(|place| place.allowed().names()).filter(|names| !names.is_empty());
        let expected = match types {
            Some(types) if !types.contains("object or null") => {
                format!("required property {property} ({types})")
            }
            _ => format!("required property {property}"),
        };
        let issue = Issue::new(IssueCode::Missing, node, expected).with_schema_path(schema_path);
        let sent = part.and_then(|part| hint::misnamed(name, node, &part));
        self.issues.push(match sent {
            Some(sent) => {
                let sent = Value::from(sent);
                issue.with_hint(format!("did you mean {property}? you sent {sent}"))
            }
            None => issue,
        });
    }

    /// The issues in document order, without repetitions. A property that is unexpected because
    /// it was meant for one that is missing is not an issue of its own.
    fn joined(self) -> Vec<Issue> {
        let mut issues = self.issues;
        let explained: Vec<(String, String)> = issues
            .iter()
            .filter(|issue| issue.code == IssueCode::Missing)
            .filter_map(|issue| {
                let sent = issue.hint()?.split_once("you sent ")?.1;
                Some((issue.pointer.clone(), serde_json::from_str(sent).ok()?))
            })
            .collect();
        issues.retain(|issue| {
            let name = issue.pointer.rsplit_once('/').map(|(object, key)| {
                (object.to_owned(), key.replace("~1", "/").replace("~0", "~"))
            });
            issue.code != IssueCode::Unexpected
                || !name.is_some_and(|name| explained.contains(&name))
        });
        issues.sort_by(|a, b| {
            (a.span.start, a.code, &a.expected).cmp(&(b.span.start, b.code, &b.expected))
        });
        issues.dedup_by(|a, b| {
            a.pointer == b.pointer && a.code == b.code && a.expected == b.expected
        });
        issues
    }
}

/// The branch that a value of a union was meant for: one whose type fits, with a constant that
/// fits before others, then with the fewest errors. `None` if it is of no branch's type.
fn best_branch<'c>(
    context: &'c [Vec<ValidationError<'static>>],
    pointer: &str,
) -> Option<&'c Vec<ValidationError<'static>>> {
    let mistyped = |errors: &[ValidationError<'_>]| {
        errors.iter().any(|error| {
            let own = error.instance_path().as_str() == pointer;
            own && matches!(error.kind(), Kind::Type { .. } | Kind::FalseSchema)
        })
    };
    let discriminated = |errors: &[ValidationError<'_>]| {
        errors.iter().any(|error| {
            matches!(error.kind(), Kind::Constant { .. })
                || matches!(error.kind(), Kind::Enum { options } if options.as_array().is_some_and(|options| options.len() == 1))
        })
    };
    context
        .iter()
        .filter(|errors| !errors.is_empty() && !mistyped(errors))
        .min_by_key(|errors| (discriminated(errors), errors.len()))
}

/// The types that the branches of a union ask for, in words.
fn union_types(context: &[Vec<ValidationError<'static>>]) -> String {
    let mut names: Vec<String> = Vec::new();
    for error in context.iter().flatten() {
        let name = match error.kind() {
            Kind::Type { kind: TypeKind::Single(single) } => single.to_string(),
            Kind::Type { kind: TypeKind::Multiple(several) } => {
                several.iter().map(jsonschema::JsonType::as_str).collect::<Vec<_>>().join(" or ")
            }
            _ => continue,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { "a value that the schema allows".into() } else { names.join(" or ") }
}
