//! Validation without repair: what is wrong with a value, from the reports of the judge.
//!
//! Each report becomes an issue that says in words what the keyword asks for, and suggests what may have been meant.

use std::collections::{HashMap, HashSet};

use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;
use wiremend_core::{Path, Step};

use super::{IssueCode, Missing};
use crate::{
    Issue, Schema, Tree,
    compile::{Checks, Scalar, Shape, ShapeId, Shapes, Types},
    judge::{Judge, Problem, ScopeId, What},
    names::{distance, folded, is_comparable},
    part::Part,
    tree::{JsonType, Node},
};

impl Schema {
    /// Whether a value is valid. A value that takes more work than its length allows is not;
    /// [`Schema::validate`] reports that.
    #[must_use]
    pub fn accepts(&self, tree: &Tree<'_>) -> bool {
        Judge::new(self, tree.text().len()).accepts_whole(tree)
    }

    /// What is wrong with a value, in document order; empty if it is valid. If the value takes too
    /// much work to check, the last issue is an
    /// [`IssueCode::Overflow`](crate::IssueCode::Overflow).
    #[must_use]
    pub fn validate(&self, tree: &Tree<'_>) -> Vec<Issue> {
        issues(&mut Judge::new(self, tree.text().len()), tree)
    }
}

/// The most problems that are looked at, and the most issues. A longer list would not help anyone.
const MOST: usize = 1_000;
/// The cost of a byte of an issue, in steps. Issues stay in memory.
const BYTE: usize = 16;

/// Reports what is wrong with a value, in document order.
pub(crate) fn issues(judge: &mut Judge<'_>, tree: &Tree<'_>) -> Vec<Issue> {
    let other = judge.turn_to_another();
    let issues = localised(judge, tree);
    judge.turn_back(other);
    issues
}

fn localised(judge: &mut Judge<'_>, tree: &Tree<'_>) -> Vec<Issue> {
    let overflow = || Issue::too_much_work(tree.text().len());
    let problems = judge.problems(Shapes::ROOT, tree.root(), ScopeId::NONE, MOST);
    if judge.is_spent() {
        return vec![overflow()];
    }
    if !problems.is_empty() && echoes_schema(tree.root()) {
        let issue = Issue::new(IssueCode::SchemaEcho, tree.root(), "an instance of the schema")
            .with_hint("you returned the schema itself; return an instance of it");
        return vec![issue];
    }
    let refused = !problems.is_empty() || !judge.accepts(&[Shapes::ROOT], tree.root());
    let mut localised = Localised::new(judge);
    let mut open: Vec<Problem<'_, '_>> = problems;
    open.reverse();
    while let Some(problem) = open.pop() {
        if localised.issues.len() >= MOST || localised.judge.is_spent() {
            break;
        }
        localised.read(&problem, &mut open);
    }
    if refused && localised.issues.is_empty() {
        localised.without_problem(tree);
    }
    let spent = localised.judge.is_spent();
    let mut issues = localised.joined();
    if spent {
        issues.push(overflow());
    }
    issues
}

struct Localised<'j, 's> {
    judge: &'j mut Judge<'s>,
    schema: &'s Schema,
    positions: Positions,
    wording: Wording,
    /// The unions whose branches have been looked into: subschema, value, scope, and whether it is
    /// `anyOf`. A branch that refers to the union it is in would lead back there for ever.
    unions: HashSet<(ShapeId, u32, ScopeId, bool)>,
    issues: Vec<Issue>,
}

impl<'j, 's> Localised<'j, 's> {
    fn new(judge: &'j mut Judge<'s>) -> Self {
        let schema = judge.schema();
        let (positions, wording) = (Positions::default(), Wording::default());
        let (unions, issues) = (HashSet::new(), Vec::new());
        Self { judge, schema, positions, wording, unions, issues }
    }

    fn read<'t>(&mut self, problem: &Problem<'s, 't>, open: &mut Vec<Problem<'s, 't>>) {
        let (node, part, scope) = (problem.node, problem.part, problem.scope);
        let shapes = self.schema.shapes();
        let Some((shape, checks)) = shapes.shape(part).zip(shapes.checks(part)) else { return };
        let combined = checks.combined.as_deref();
        match problem.what {
            What::AnyOf | What::OneOf => {
                let any = problem.what == What::AnyOf;
                if !self.unions.insert((part, node.index(), scope, any)) {
                    return;
                }
                let keyword = if any { "anyOf" } else { "oneOf" };
                let branches = combined.map(|own| if any { &own.any_of } else { &own.one_of });
                let branches = branches.map(Vec::as_slice).unwrap_or_default();
                match self.best_branch(branches, node, scope) {
                    Some(best) => {
                        let room = MOST.saturating_sub(open.len());
                        let inside = self.judge.problems(best, node, scope, room);
                        open.extend(inside.into_iter().rev());
                    }
                    None => {
                        let types = self.union_types(branches, node, scope);
                        self.push(IssueCode::Type, node, types, shape, keyword);
                    }
                }
            }
            What::Required(keyword, name) => self.missing(node, name, part, shape, keyword),
            What::Unexpected(keyword) => {
                for member in &problem.members {
                    // The issue is about the member, because that is what must be removed.
                    self.push(IssueCode::Unexpected, *member, "no such property", shape, keyword);
                    if self.issues.len() >= MOST || self.judge.is_spent() {
                        break;
                    }
                }
            }
            What::Scalar => {
                let Some(scalar) = checks.scalar.as_deref() else { return };
                for (code, expected, keyword) in Wording::of_scalar(scalar, node) {
                    self.push(code, node, expected, shape, &keyword);
                }
            }
            what => {
                let (code, expected, keyword) = self.wording.of(what, checks, node);
                let part = Part::of(self.schema, vec![part]);
                let hint = if code == IssueCode::Type { flattened(node, &part) } else { None };
                self.push(code, node, expected, shape, keyword);
                if let (Some(issue), Some(hint)) = (self.issues.last_mut(), hint) {
                    issue.hint = Some(hint);
                }
            }
        }
    }

    /// The branch that a value of a union was meant for: one that accepts its type, preferably with
    /// a matching constant, and then with the fewest problems. `None` if no branch accepts its
    /// type.
    fn best_branch(
        &mut self,
        branches: &[ShapeId],
        node: Node<'_>,
        scope: ScopeId,
    ) -> Option<ShapeId> {
        let mut best = None;
        for id in branches {
            let summary = self.judge.summary(*id, node, scope);
            let key = (summary.is_discriminated, summary.count);
            let better = best.is_none_or(|(_, other)| key < other);
            if summary.count > 0 && !summary.is_mistyped && better {
                best = Some((*id, key));
            }
        }
        best.map(|(id, _)| id)
    }

    /// The types that the branches of a union accept, in words.
    fn union_types(&mut self, branches: &[ShapeId], node: Node<'_>, scope: ScopeId) -> String {
        /// The most problems of a branch that are searched for types.
        const MOST: usize = 16;
        let mut names: Vec<String> = Vec::new();
        for id in branches {
            for problem in self.judge.problems(*id, node, scope, MOST) {
                let checks = self.schema.shapes().checks(problem.part);
                let types = checks.and_then(|checks| checks.types).unwrap_or(Types::NONE);
                let name = types.listed();
                if problem.what == What::Type && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        if names.is_empty() { "a value that the schema allows".into() } else { names.join(" or ") }
    }

    fn push(
        &mut self,
        code: IssueCode,
        node: Node<'_>,
        expected: impl Into<String>,
        shape: &Shape,
        keyword: &str,
    ) {
        let path = self.positions.path(node, self.judge);
        let separator = if keyword.is_empty() { "" } else { "/" };
        let schema_path = format!("{}{separator}{keyword}", shape.pointer);
        let issue = Issue::at(code, node, path, expected).with_schema_path(schema_path);
        if self.judge.spend_bytes(BYTE.saturating_mul(issue.size())) {
            self.issues.push(issue);
        }
    }

    fn missing(&mut self, node: Node<'_>, name: &str, part: ShapeId, shape: &Shape, keyword: &str) {
        let part = Part::of(self.schema, vec![part]);
        let property = Value::from(name);
        let types = part.property(name).map(|place| place.allowed().names());
        let expected = match types.filter(|names| !names.is_empty()) {
            Some(types) if !types.contains("object or null") => {
                format!("required property {property} ({types})")
            }
            _ => format!("required property {property}"),
        };
        let compared = self.wording.may_compare(node.len());
        let sent = if compared { misnamed(name, node, &part) } else { None };
        let before = self.issues.len();
        self.push(IssueCode::Missing, node, expected, shape, keyword);
        // The budget may have refused the issue.
        let Some(issue) = self.issues.get_mut(before) else { return };
        if let Some(sent) = &sent {
            let sent = Value::from(sent.as_str());
            issue.hint = Some(format!("did you mean {property}? you sent {sent}"));
        }
        issue.missing = Some(Box::new(Missing { name: name.to_owned(), sent }));
    }

    /// The value was rejected although no keyword rejects it, because a pattern could not be
    /// decided.
    fn without_problem(&mut self, tree: &Tree<'_>) {
        let (index, part) = self.judge.undecided().unwrap_or((0, Shapes::ROOT));
        let Some(shape) = self.schema.shapes().shape(part) else { return };
        let node = tree.node(index).unwrap_or_else(|| tree.root());
        if self.judge.undecided().is_some() {
            let expected = "a string for which the pattern can be decided";
            self.push(IssueCode::Pattern, node, expected, shape, "pattern");
        } else {
            self.push(IssueCode::Union, node, "a value that the schema allows", shape, "");
        }
    }

    /// The issues in document order, without duplicates. A property that is unexpected because it
    /// was meant to be a missing one is not a separate issue.
    fn joined(self) -> Vec<Issue> {
        let mut issues = self.issues;
        let explained: Vec<(String, String)> = issues
            .iter()
            .filter_map(|issue| Some((issue.pointer.clone(), issue.sent_as()?.to_owned())))
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

/// The positions of items in their lists. Each list is walked only once, in document order.
#[derive(Default)]
struct Positions {
    /// For each list, the item that was found last, and its position.
    last: HashMap<u32, (u32, usize)>,
}

impl Positions {
    /// The path from the root to a node. Charges the budget.
    fn path(&mut self, node: Node<'_>, judge: &mut Judge<'_>) -> Path {
        let mut steps = Vec::new();
        let mut node = node;
        while let Some(parent) = node.parent() {
            steps.push(match node.key() {
                Some(key) => Step::Key(key.as_ref().into()),
                None => Step::Index(self.position(parent, node, judge)),
            });
            node = parent;
        }
        steps.reverse();
        Path::from(steps)
    }

    fn position(&mut self, list: Node<'_>, item: Node<'_>, judge: &mut Judge<'_>) -> usize {
        let last = self.last.get(&list.index()).copied();
        let (from, first) = last.filter(|(from, _)| *from <= item.index()).unzip();
        let mut items = list.children_from(from);
        let passed = items.position(|other| other.index() == item.index()).unwrap_or_default();
        judge.spend_bytes(1 + passed / 4);
        let position = first.unwrap_or_default() + passed;
        self.last.insert(list.index(), (item.index(), position));
        position
    }
}

/// How many options a message lists.
const LISTED: usize = 10;
/// How many pairs of names are compared for the issues of one value. Beyond that, options are
/// listed in the order of the schema, and no name is suggested.
const COMPARED: usize = 16_384;

/// Describes what was expected.
struct Wording {
    compared: usize,
}

impl Default for Wording {
    fn default() -> Self {
        Self { compared: COMPARED }
    }
}

impl Wording {
    /// Whether this many pairs of names may be compared.
    const fn may_compare(&mut self, pairs: usize) -> bool {
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
    fn of(
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
    fn of_scalar(scalar: &Scalar, node: Node<'_>) -> Vec<(IssueCode, String, String)> {
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

/// The most members that are searched for a misspelled name.
const MOST_MEMBERS: usize = 256;

/// Whether the value is the schema itself rather than an instance of it.
fn echoes_schema(root: Node<'_>) -> bool {
    let properties = root.member("properties").filter(|node| node.kind() == JsonType::Object);
    let Some(properties) = properties else { return false };
    let typed =
        root.member("type").and_then(|kind| kind.as_str()).is_some_and(|kind| kind == "object");
    typed && properties.len() > 0 && properties.children().all(is_schema)
}

/// Whether a value is a schema rather than data: an object with a keyword that names a type, and no
/// value beside it.
pub(crate) fn is_schema(node: Node<'_>) -> bool {
    const TELLING: [&str; 7] = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "properties"];
    let holds = ["value", "default", "example"].iter().any(|key| node.member(key).is_some());
    let named = |key: &str| match (key, node.member(key)) {
        ("type", Some(kind)) => {
            kind.as_str().is_some_and(|name| Types::named(&name) != Types::NONE)
                || kind.kind() == JsonType::Array
        }
        (_, member) => member.is_some(),
    };
    node.kind() == JsonType::Object && !holds && TELLING.iter().any(|key| named(key))
}

/// The name that was probably sent instead of a missing property.
fn misnamed<'t>(missing: &str, object: Node<'t>, part: &Part<'_>) -> Option<String> {
    if object.len() > MOST_MEMBERS || !is_comparable(missing) {
        return None;
    }
    let unknown = object.children().filter_map(|member| member.key());
    let unknown = unknown.filter(|key| is_comparable(key) && !part.declares(key));
    let wanted = folded(missing);
    let near = |key: &str| if folded(key) == wanted { Some(0) } else { distance(key, missing, 2) };
    unknown
        .filter_map(|key| near(&key).map(|cost| (cost, key)))
        .min_by_key(|(cost, _)| *cost)
        .map(|(_, key)| key.into_owned())
}

/// A hint for an item in the place of a list of lists, whose nesting was flattened.
fn flattened(node: Node<'_>, part: &Part<'_>) -> Option<String> {
    let in_list = node.parent().is_some_and(|parent| parent.kind() == JsonType::Array);
    if !in_list || node.is_container() || part.allowed() != Types::ARRAY {
        return None;
    }
    let types = part.item(0).allowed();
    let (items, example) = if !part.has_items() {
        (String::new(), "[[…], […]]")
    } else if types == Types::INTEGER || types == Types::NUMBER {
        (format!(" of {}s", types.names()), "[[10, 20], [30, 40]]")
    } else if types == Types::STRING {
        (" of strings".to_owned(), r#"[["a", "b"], ["c", "d"]]"#)
    } else {
        (String::new(), "[[…], […]]")
    };
    Some(format!("expected a list of lists{items}, e.g. {example}"))
}
