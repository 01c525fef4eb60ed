//! Whether a value is valid, in bounded work.
//!
//! A subschema is asked about a value at most once where references could ask again and again: such
//! answers are kept. Everything that is done is paid for out of one budget, which grows with the
//! length of the text and with nothing else: subschemas asked, members and items looked at, bytes
//! matched, repairs tried, and issues written. When it is used up, all answers are no, and
//! [`Judge::is_spent`] says that they mean nothing.

mod check;
mod evaluated;
mod problem;
mod scope;
mod work;

use std::collections::HashMap;

pub(crate) use problem::{Problem, Summary, What};
pub(crate) use scope::ScopeId;
#[cfg(feature = "work")]
pub use work::steps;

use crate::{
    Schema, Tree,
    compile::{ShapeId, Shapes},
    tree::{Instance, Node},
};
use problem::{First, List};
use scope::Scopes;

/// The work that any value may take, in steps.
pub(crate) const STEPS: u64 = 32 << 20;
/// The work that it may take besides for each byte of its text, in steps.
const BY_BYTE: u64 = 256;
/// How many subschemas may be asked inside each other. A value of 127 levels, each through a reference,
/// a union and a list, needs 635.
const DEPTH: usize = 768;
/// The most answers that are kept.
const ANSWERS: usize = 1 << 20;
/// An answer is kept only if it took so many steps to find it.
const WORTH_KEEPING: u64 = 32;

/// A subschema and a value in a dynamic scope.
type Question = (ShapeId, u32, ScopeId);

/// What has been found out about one tree.
#[derive(Default)]
pub(crate) struct Answers {
    known: HashMap<Question, bool>,
    /// The questions that are open, outermost first.
    open: Vec<Question>,
}

/// Judges values by a schema, on account.
pub(crate) struct Judge<'s> {
    schema: &'s Schema,
    shapes: &'s Shapes,
    /// Whether the dynamic scope matters.
    is_scoped: bool,
    left: u64,
    spent: bool,
    depth: usize,
    answers: Answers,
    /// The outermost open question whose answer was assumed to be yes since this was last reset.
    assumed: usize,
    scopes: Scopes,
    /// A string whose pattern could not be decided, and the part that has the pattern.
    undecided: Option<(u32, ShapeId)>,
}

impl<'s> Judge<'s> {
    /// For a text of so many bytes.
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

    /// With so many steps, beside those that so many bytes allow.
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

    /// Pays for some work; `false` if it may not be done.
    #[inline]
    pub(crate) fn spend(&mut self, steps: u64) -> bool {
        if self.spent {
            return false;
        }
        match self.left.checked_sub(steps) {
            Some(left) => {
                work::count(steps);
                self.left = left;
            }
            None => self.spent = true,
        }
        !self.spent
    }

    /// As [`Judge::spend`], for work on so many bytes.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> bool {
        self.spend(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// How many steps are left.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// Whether the budget is used up. Then nothing that was answered since counts.
    pub(crate) const fn is_spent(&self) -> bool {
        self.spent
    }

    /// Turns to another tree; what is known of this one is returned, for [`Judge::turn_back`].
    pub(crate) fn turn_to_another(&mut self) -> Answers {
        std::mem::take(&mut self.answers)
    }

    /// Turns back to a tree.
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

    /// Whether a value of the tree that was turned to is valid for some parts of the schema.
    pub(crate) fn accepts(&mut self, parts: &[ShapeId], node: Node<'_>) -> bool {
        let undecided = self.undecided.take();
        let value = Instance::Node(node);
        let valid = parts.iter().all(|id| self.valid(*id, value, ScopeId::NONE));
        let valid = valid && !self.spent && self.undecided.is_none();
        self.undecided = undecided;
        valid
    }

    /// What is wrong with a value of the tree that was turned to, at most so many. It may be nothing
    /// though the value was not accepted: see [`Judge::undecided`].
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

    /// How wrong a value of the tree that was turned to is for a part of the schema.
    pub(crate) fn summary(&mut self, part: ShapeId, node: Node<'_>, scope: ScopeId) -> Summary {
        let mut summary = Summary::of(node);
        self.collect(part, Instance::Node(node), scope, &mut summary);
        summary
    }

    /// A string for which a pattern could not be decided, and the part that has the pattern.
    pub(crate) const fn undecided(&self) -> Option<(u32, ShapeId)> {
        self.undecided
    }

    /// Whether a value is valid for one part.
    fn valid(&mut self, id: ShapeId, value: Instance<'_>, scope: ScopeId) -> bool {
        let Some(shape) = self.shapes().shape(id) else { return true };
        let checks = &shape.checks;
        if checks.accepts_all {
            return true;
        }
        if let Some(types) = checks.types.filter(|_| checks.is_plain) {
            let is_integer = || value.node().is_some_and(|node| node.is_integer());
            return types.take(value.kind(), is_integer);
        }
        match value {
            Instance::Node(node) if checks.is_shared => self.valid_once(id, node, scope),
            _ => self.check(id, checks, value, scope, &mut First),
        }
    }

    /// The same, for a part that may be asked about the value in several ways.
    fn valid_once(&mut self, id: ShapeId, node: Node<'_>, scope: ScopeId) -> bool {
        let question = (id, node.index(), scope);
        if let Some(known) = self.answers.known.get(&question) {
            return *known;
        }
        if self.is_open(question) {
            return true;
        }
        let Some(shape) = self.shapes().shape(id) else { return true };
        let (left, assumed) = (self.left, std::mem::replace(&mut self.assumed, usize::MAX));
        let undecided = self.undecided.take();
        let own = self.answers.open.len();
        self.open(question);
        let valid = self.check(id, &shape.checks, Instance::Node(node), scope, &mut First);
        self.close();
        // An answer that rests on one that was only assumed holds for this question alone.
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

    /// Begins to answer a question.
    fn open(&mut self, question: Question) {
        self.answers.open.push(question);
    }

    /// Ends the question that was begun last.
    fn close(&mut self) {
        self.answers.open.pop();
    }

    /// Whether a question is being answered already: a reference has led back to it. It asks for
    /// nothing more then.
    fn is_open(&mut self, question: Question) -> bool {
        // Questions about the same value follow each other: a subschema is never asked about what is
        // around a value.
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
