//! The problems of a value as the checks report them, and the receivers of these reports.

use std::collections::HashSet;

use super::{Question, ScopeId};
use crate::{compile::ShapeId, tree::Node};

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
pub(super) trait Sink<'s, 't> {
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

/// Keeps the first problems.
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
