//! Turns the reports of the judge into issues.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use wiremend_core::{Path, Step};

use super::{Issue, IssueCode, Missing, expected::Wording, hint};
use crate::{
    compile::{Schema, Shape, ShapeId, Shapes, Types},
    judge::{Judge, Problem, ScopeId, What},
    part::Part,
    tree::{Node, Tree},
};

/// The most problems that are looked at, and the most issues. A longer list would not help anyone.
const MOST: usize = 1_000;
/// The cost of a byte of an issue, in steps. Issues stay in memory.
const BYTE: usize = 16;

/// Reports what is wrong with a value, in document order.
pub(crate) fn issues(judge: &mut Judge<'_>, tree: &Tree<'_>) -> Vec<Issue> {
    let other = judge.turn_to_another();
    let issues = found(judge, tree);
    judge.turn_back(other);
    issues
}

fn found(judge: &mut Judge<'_>, tree: &Tree<'_>) -> Vec<Issue> {
    let overflow = || Issue::too_much_work(tree.text().len());
    let problems = judge.problems(Shapes::ROOT, tree.root(), ScopeId::NONE, MOST);
    if judge.is_spent() {
        return vec![overflow()];
    }
    if !problems.is_empty() && hint::echoes_schema(tree.root()) {
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
                let hint =
                    if code == IssueCode::Type { hint::flattened(node, &part) } else { None };
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
        let sent = if compared { hint::misnamed(name, node, &part) } else { None };
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
