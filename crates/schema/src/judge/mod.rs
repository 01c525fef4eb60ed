//! Validates values in bounded work.
//!
//! Answers are cached, so that a subschema is applied to the same value only once even if many
//! references lead to it. All work is charged to one budget, which depends only on the length of
//! the text: subschemas applied, members and items visited, bytes matched, repairs tried, and
//! issues written. Once the budget is used up, every answer is no, and [`Judge::is_spent`] says
//! that the answers are meaningless.
//!
//! The keywords themselves are checked in `check.rs`.

mod check;

#[cfg(feature = "work")]
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use crate::{
    Schema, Tree,
    compile::{Checks, Dynamic, ShapeId, Shapes},
    tree::{Instance, Node},
};

/// The steps that any value may take.
pub(crate) const STEPS: u64 = 32 << 20;
/// The additional steps for each byte of its text.
const BY_BYTE: u64 = 256;
/// How many applications of subschemas may be nested. A value of 127 levels, each through a
/// reference, a union and a list, needs 635.
const DEPTH: usize = 768;
/// The most answers that are cached.
const ANSWERS: usize = 1 << 20;
/// An answer is cached if finding it took at least this many steps.
const WORTH_KEEPING: u64 = 32;

/// Whether a value is valid for a subschema, in a dynamic scope.
type Question = (ShapeId, u32, ScopeId);

/// What is known about the values of one tree.
#[derive(Default)]
pub(crate) struct Answers {
    known: HashMap<Question, bool>,
    /// The open questions, outermost first.
    open: Vec<Question>,
}

/// Validates values against a schema, within a budget.
pub(crate) struct Judge<'s> {
    schema: &'s Schema,
    shapes: &'s Shapes,
    /// Whether the dynamic scope matters.
    is_scoped: bool,
    left: u64,
    spent: bool,
    depth: usize,
    answers: Answers,
    /// The outermost open question that was assumed to be true since the last reset.
    assumed: usize,
    scopes: Scopes,
    /// A string whose pattern could not be decided, and the subschema with the pattern.
    undecided: Option<(u32, ShapeId)>,
}

impl<'s> Judge<'s> {
    /// Creates a judge for a text of `length` bytes.
    pub(crate) fn new(schema: &'s Schema, length: usize) -> Self {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        Self {
            schema,
            shapes: schema.shapes(),
            is_scoped: schema.shapes().is_scoped(),
            left: length.saturating_mul(BY_BYTE).saturating_add(STEPS),
            spent: false,
            depth: 0,
            answers: Answers::default(),
            assumed: usize::MAX,
            scopes: Scopes::default(),
            undecided: None,
        }
    }

    /// Creates a judge with `steps` steps, in addition to those for `length` bytes.
    pub(crate) fn with(schema: &'s Schema, steps: u64, length: usize) -> Self {
        let own = Self::new(schema, length);
        Self { left: own.left.saturating_sub(STEPS).saturating_add(steps), ..own }
    }

    pub(crate) const fn schema(&self) -> &'s Schema {
        self.schema
    }

    const fn shapes(&self) -> &'s Shapes {
        self.shapes
    }

    /// Charges the budget for some work; `false` if it must not be done.
    #[inline]
    pub(crate) fn spend(&mut self, steps: u64) -> bool {
        if self.spent {
            return false;
        }
        match self.left.checked_sub(steps) {
            Some(left) => {
                count(steps);
                self.left = left;
            }
            None => self.spent = true,
        }
        !self.spent
    }

    /// Like [`Judge::spend`], for work on a number of bytes.
    #[inline]
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> bool {
        self.spend(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// The number of steps that are left.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// Whether the budget is used up, so that later answers do not count.
    pub(crate) const fn is_spent(&self) -> bool {
        self.spent
    }

    /// Switches to another tree. Returns what is known about the current one, for
    /// [`Judge::turn_back`].
    pub(crate) fn turn_to_another(&mut self) -> Answers {
        std::mem::take(&mut self.answers)
    }

    /// Switches back to a tree.
    pub(crate) fn turn_back(&mut self, answers: Answers) {
        self.answers = answers;
    }

    /// Whether a whole value is valid.
    pub(crate) fn accepts_whole(&mut self, tree: &Tree<'_>) -> bool {
        let other = self.turn_to_another();
        let accepted = self.accepts(&[Shapes::ROOT], tree.root());
        self.turn_back(other);
        accepted
    }

    /// Whether a value of the current tree is valid for all of `parts`.
    pub(crate) fn accepts(&mut self, parts: &[ShapeId], node: Node<'_>) -> bool {
        let undecided = self.undecided.take();
        let value = Instance::Node(node);
        let valid = parts.iter().all(|id| self.valid(*id, value, ScopeId::NONE));
        let valid = valid && !self.spent && self.undecided.is_none();
        self.undecided = undecided;
        valid
    }

    /// The first problems of a value of the current tree. There may be none although the value was
    /// rejected: see [`Judge::undecided`].
    pub(crate) fn problems<'t>(
        &mut self,
        part: ShapeId,
        node: Node<'t>,
        scope: ScopeId,
        most: usize,
    ) -> Vec<Problem<'s, 't>> {
        let mut list = List::new(most);
        self.collect(part, Instance::Node(node), scope, &mut list);
        list.found
    }

    /// How badly a value of the current tree fails a subschema.
    pub(crate) fn summary(&mut self, part: ShapeId, node: Node<'_>, scope: ScopeId) -> Summary {
        let mut summary = Summary::of(node);
        self.collect(part, Instance::Node(node), scope, &mut summary);
        summary
    }

    /// A string whose pattern could not be decided, and the subschema with the pattern.
    pub(crate) const fn undecided(&self) -> Option<(u32, ShapeId)> {
        self.undecided
    }

    /// Whether a value is valid for one subschema. Most of them only require a type.
    #[inline]
    fn valid(&mut self, id: ShapeId, value: Instance<'_>, scope: ScopeId) -> bool {
        let Some(checks) = self.shapes().checks(id) else { return true };
        if checks.accepts_all {
            return true;
        }
        if let Some(types) = checks.types.filter(|_| checks.is_plain) {
            let is_integer = || value.node().is_some_and(|node| node.is_integer());
            return types.take(value.kind(), is_integer);
        }
        self.checked(id, checks, value, scope)
    }

    /// The same, for a subschema with other conditions.
    #[inline(never)]
    fn checked(
        &mut self,
        id: ShapeId,
        checks: &'s Checks,
        value: Instance<'_>,
        scope: ScopeId,
    ) -> bool {
        match value {
            Instance::Node(node) if checks.is_shared => self.valid_once(id, node, scope),
            _ => self.check(id, checks, value, scope, &mut First),
        }
    }

    /// The same, for a subschema that may be applied to the value in several ways.
    fn valid_once(&mut self, id: ShapeId, node: Node<'_>, scope: ScopeId) -> bool {
        let question = (id, node.index(), scope);
        if let Some(known) = self.answers.known.get(&question) {
            return *known;
        }
        if self.is_open(question) {
            return true;
        }
        let Some(checks) = self.shapes().checks(id) else { return true };
        let (left, assumed) = (self.left, std::mem::replace(&mut self.assumed, usize::MAX));
        let undecided = self.undecided.take();
        let own = self.answers.open.len();
        self.open(question);
        let valid = self.check(id, checks, Instance::Node(node), scope, &mut First);
        self.close();
        // An answer that depends on an assumption is valid for this question only.
        let sure = self.assumed >= own && self.undecided.is_none() && !self.spent;
        if sure && left - self.left >= WORTH_KEEPING {
            if self.answers.known.len() >= ANSWERS {
                self.answers.known.clear();
            }
            self.answers.known.insert(question, valid);
        }
        if self.assumed >= own {
            self.assumed = usize::MAX;
        }
        self.assumed = self.assumed.min(assumed);
        self.undecided = self.undecided.or(undecided);
        valid
    }

    /// Opens a question.
    fn open(&mut self, question: Question) {
        self.answers.open.push(question);
    }

    /// Closes the question that was opened last.
    fn close(&mut self) {
        self.answers.open.pop();
    }

    /// Whether a question is already open, because a reference has led back to it. It adds no
    /// further conditions then.
    fn is_open(&mut self, question: Question) -> bool {
        // Questions about the same value are adjacent, because a subschema never looks at what
        // encloses the value.
        let same = self.answers.open.iter().enumerate().rev();
        let mut about_it = same.take_while(|(_, (_, node, _))| *node == question.1);
        let found = about_it.find(|(_, open)| **open == question).map(|(at, _)| at);
        if let Some(at) = found {
            self.assumed = self.assumed.min(at);
        }
        let looked = self.answers.open.len() as u64 / 16;
        self.spend(looked);
        found.is_some()
    }
}

/// A problem: a keyword of a subschema, and the value that violates it.
#[derive(Clone, Debug)]
pub(crate) struct Problem<'s, 't> {
    pub(crate) node: Node<'t>,
    pub(crate) part: ShapeId,
    pub(crate) scope: ScopeId,
    pub(crate) what: What<'s>,
    /// The rejected members, for [`What::Unexpected`].
    pub(crate) members: Vec<Node<'t>>,
}

/// The violated keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What<'s> {
    AnyOf,
    Const,
    Contains(&'static str),
    /// The number of listed values.
    Enum(usize),
    /// `additionalItems: false`
    FurtherItems,
    MaxItems,
    MaxLength,
    MaxProperties,
    MinItems,
    MinLength,
    MinProperties,
    Names,
    /// The schema `false`.
    Never,
    Not,
    OneOf,
    /// The value is valid for more than one branch.
    OneOfSeveral,
    Pattern,
    Required(&'static str, &'s str),
    /// A bound of a number, a format or an encoding.
    Scalar,
    Type,
    UnevaluatedItems,
    Unexpected(&'static str),
    Unique,
}

/// Receives problems.
trait Sink<'s, 't> {
    /// Whether it only matters if there is a problem at all.
    const FIRST: bool;

    /// Receives a problem; `false` if no more are wanted.
    fn report(&mut self, problem: Problem<'s, 't>) -> bool;

    /// Whether a question is asked for the first time.
    fn is_new(&mut self, question: Question) -> bool;
}

/// The most questions that are remembered.
const REMEMBERED: usize = 1 << 18;

fn remember(asked: &mut HashSet<Question>, question: Question) -> bool {
    if asked.len() >= REMEMBERED {
        asked.clear();
    }
    asked.insert(question)
}

/// Only records whether there is a problem.
struct First;

impl<'s, 't> Sink<'s, 't> for First {
    const FIRST: bool = true;

    fn report(&mut self, _: Problem<'s, 't>) -> bool {
        false
    }

    fn is_new(&mut self, _: Question) -> bool {
        true
    }
}

/// Keeps the first problems.
struct List<'s, 't> {
    found: Vec<Problem<'s, 't>>,
    most: usize,
    asked: HashSet<Question>,
}

impl List<'_, '_> {
    fn new(most: usize) -> Self {
        Self { found: Vec::new(), most, asked: HashSet::new() }
    }
}

impl<'s, 't> Sink<'s, 't> for List<'s, 't> {
    const FIRST: bool = false;

    fn report(&mut self, problem: Problem<'s, 't>) -> bool {
        if self.found.len() < self.most {
            self.found.push(problem);
        }
        self.found.len() < self.most
    }

    fn is_new(&mut self, question: Question) -> bool {
        remember(&mut self.asked, question)
    }
}

/// How badly a value fails a branch of a union.
pub(crate) struct Summary {
    /// The value that the branch is applied to.
    own: u32,
    pub(crate) count: usize,
    /// Whether the branch does not accept the value's type.
    pub(crate) is_mistyped: bool,
    /// Whether a constant shows that another branch was meant.
    pub(crate) is_discriminated: bool,
    asked: HashSet<Question>,
}

impl Summary {
    /// The most problems that are counted.
    const MOST: usize = 1_000;

    fn of(node: Node<'_>) -> Self {
        Self {
            own: node.index(),
            count: 0,
            is_mistyped: false,
            is_discriminated: false,
            asked: HashSet::new(),
        }
    }
}

impl<'s, 't> Sink<'s, 't> for Summary {
    const FIRST: bool = false;

    fn report(&mut self, problem: Problem<'s, 't>) -> bool {
        self.count += 1;
        let own = problem.node.index() == self.own;
        self.is_mistyped |= own && matches!(problem.what, What::Type | What::Never);
        self.is_discriminated |= matches!(problem.what, What::Const | What::Enum(1));
        self.count < Self::MOST
    }

    fn is_new(&mut self, question: Question) -> bool {
        remember(&mut self.asked, question)
    }
}

/// Identifies a scope by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScopeId(u32);

impl ScopeId {
    /// The empty scope.
    pub(crate) const NONE: Self = Self(0);
}

/// All scopes so far, each with its resources, outermost first. Only the first time that a resource
/// is entered matters.
#[derive(Default)]
struct Scopes {
    /// All scopes but the empty one.
    all: Vec<Vec<u16>>,
    entered: HashMap<(ScopeId, u16), ScopeId>,
}

impl Scopes {
    fn resources(&self, scope: ScopeId) -> &[u16] {
        let at = (scope.0 as usize).checked_sub(1);
        at.and_then(|at| self.all.get(at)).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Judge<'_> {
    /// The scope after entering a resource.
    fn enter(&mut self, scope: ScopeId, resource: u16) -> ScopeId {
        if !self.shapes().is_scoped() || self.scopes.resources(scope).contains(&resource) {
            return scope;
        }
        if let Some(known) = self.scopes.entered.get(&(scope, resource)) {
            return *known;
        }
        let mut resources = self.scopes.resources(scope).to_vec();
        resources.push(resource);
        self.spend_bytes(64 + 8 * resources.len());
        self.scopes.all.push(resources);
        let id = ScopeId(u32::try_from(self.scopes.all.len()).unwrap_or(u32::MAX));
        self.scopes.entered.insert((scope, resource), id);
        id
    }

    /// The target of a reference in a scope: the outermost anchor with its name.
    fn target(&self, scope: ScopeId, dynamic: &Dynamic) -> ShapeId {
        let resources = self.scopes.resources(scope).iter();
        let mut anchors =
            resources.filter_map(|resource| self.shapes().anchor(*resource, &dynamic.anchor));
        anchors.next().unwrap_or(dynamic.target)
    }
}

#[cfg(feature = "work")]
thread_local! {
    static COUNTED: Cell<u64> = const { Cell::new(0) };
}

/// How many steps this thread has taken so far. A step is the unit of the limit on work in
/// `docs/limits.md`. Requires the feature `work`.
///
/// ```
/// use wiremend_schema::{Schema, Tree, steps};
///
/// let schema = Schema::from_text(r#"{"items": {"type": "integer"}}"#)?;
/// let before = steps();
/// assert!(schema.accepts(&Tree::read("[1, 2, 3]")?));
/// assert!(steps() - before >= 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "work")]
#[must_use]
pub fn steps() -> u64 {
    COUNTED.get()
}

/// Adds to the count.
#[cfg(feature = "work")]
fn count(steps: u64) {
    COUNTED.set(COUNTED.get() + steps);
}

/// Does nothing.
#[cfg(not(feature = "work"))]
#[inline]
const fn count(_: u64) {}
