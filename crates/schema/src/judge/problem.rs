//! What is wrong with a value, as the checks report it, and who takes the reports.

use std::collections::HashSet;

use super::{Question, ScopeId};
use crate::{compile::ShapeId, tree::Node};

/// One thing that is wrong: a keyword of a part of the schema, and the value that it is about.
#[derive(Clone, Debug)]
pub(crate) struct Problem<'s, 't> {
    pub(crate) node: Node<'t>,
    pub(crate) part: ShapeId,
    pub(crate) scope: ScopeId,
    pub(crate) what: What<'s>,
    /// The members that are refused, for [`What::Unexpected`].
    pub(crate) members: Vec<Node<'t>>,
}

/// The keyword that is not satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What<'s> {
    AnyOf,
    Const,
    Contains(&'static str),
    /// With so many values.
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
    /// Valid for more than one branch.
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

/// Takes what is found.
pub(super) trait Sink<'s, 't> {
    /// Whether it is enough to know that there is something.
    const FIRST: bool;

    /// Takes a problem; `false` if no more are wanted.
    fn report(&mut self, problem: Problem<'s, 't>) -> bool;

    /// Whether a question has not been asked before.
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

/// Wants to know whether there is anything.
pub(super) struct First;

impl<'s, 't> Sink<'s, 't> for First {
    const FIRST: bool = true;

    fn report(&mut self, _: Problem<'s, 't>) -> bool {
        false
    }

    fn is_new(&mut self, _: Question) -> bool {
        true
    }
}

/// Keeps the first ones.
pub(super) struct List<'s, 't> {
    pub(super) found: Vec<Problem<'s, 't>>,
    most: usize,
    asked: HashSet<Question>,
}

impl List<'_, '_> {
    pub(super) fn new(most: usize) -> Self {
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

/// How wrong a value is for a branch of a union.
pub(crate) struct Summary {
    /// The value that the branch is asked about.
    own: u32,
    pub(crate) count: usize,
    /// Whether it is of no type that the branch takes.
    pub(crate) is_mistyped: bool,
    /// Whether a constant tells that another branch was meant.
    pub(crate) is_discriminated: bool,
    asked: HashSet<Question>,
}

impl Summary {
    /// The most problems that are counted.
    const MOST: usize = 1_000;

    pub(super) fn of(node: Node<'_>) -> Self {
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
