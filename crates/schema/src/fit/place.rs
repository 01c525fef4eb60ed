//! The location of a value while it is compared with the schema, and which rules may be applied there.

use wiremend_core::{Path, Risk, Step};

use super::FitOptions;
use crate::{
    Rule,
    compile::{Off, ShapeId},
    part::Part,
};

/// How many levels of a value are followed.
pub(super) const DEPTH: usize = 64;

/// The location of a value, with the context that rules depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Location {
    pub(super) path: Vec<Step>,
    /// The path as a JSON Pointer, to look up which rules are enabled.
    pub(super) pointer: String,
    /// Whether the value is an item of a list.
    pub(super) in_array: bool,
    /// Whether it is the whole value.
    pub(super) is_root: bool,
    /// Whether another string would be valid here.
    pub(super) takes_strings: bool,
    /// Whether it is tried as one of several branches of a union that accept its type.
    pub(super) is_choice: bool,
    pub(super) forms: usize,
    pub(super) depth: usize,
    /// The rules that the schema switches off here.
    pub(super) off: Vec<Off>,
}

impl Location {
    pub(crate) fn root() -> Self {
        Self { is_root: true, ..Self::default() }
    }

    pub(super) fn member(&self, key: &str) -> Self {
        let pointer = format!("{}/{}", self.pointer, key.replace('~', "~0").replace('/', "~1"));
        Self { in_array: false, ..self.below(Step::Key(key.into()), pointer) }
    }

    pub(super) fn item(&self, index: usize) -> Self {
        let pointer = format!("{}/{index}", self.pointer);
        Self { in_array: true, ..self.below(Step::Index(index), pointer) }
    }

    fn below(&self, step: Step, pointer: String) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        let (off, depth, forms) = (self.off.clone(), self.depth + 1, self.forms);
        Self { path, pointer, depth, forms, off, ..Self::default() }
    }

    pub(super) fn reshaped(&self) -> Self {
        Self { forms: self.forms + 1, depth: self.depth + 1, ..self.clone() }
    }

    /// Adds the rules that these subschemas switch off, here and below.
    pub(super) fn with_switches(mut self, parts: &[Part<'_>]) -> Self {
        let shapes = parts.iter().flat_map(Part::shapes).map(|shape| &shape.off);
        self.off.extend(shapes.filter(|off| **off != Off::Nothing).cloned());
        self
    }

    pub(super) fn path(&self) -> Path {
        Path::from(self.path.clone())
    }
}

/// What the result of fitting a value depends on, apart from the schema and the options. If the
/// same value is reached again at the same place, the cached result is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Visit {
    node: u32,
    parts: Vec<ShapeId>,
    pointer: String,
    flags: [bool; 4],
    forms: usize,
    depth: usize,
    off: Vec<Off>,
}

impl Location {
    /// The cache key of a node for a part of the schema.
    pub(super) fn visit(&self, node: u32, part: &Part<'_>) -> Visit {
        Visit {
            node,
            parts: part.essence(),
            pointer: self.pointer.clone(),
            flags: [self.in_array, self.is_root, self.takes_strings, self.is_choice],
            forms: self.forms,
            depth: self.depth,
            off: self.off.clone(),
        }
    }
}

/// The options, with the highest risk that they allow.
#[derive(Clone, Copy)]
pub(super) struct Permit<'o> {
    options: &'o FitOptions,
    pub(super) max_risk: Risk,
}

impl<'o> Permit<'o> {
    /// `None` if the policy allows no repair.
    pub(super) fn new(options: &'o FitOptions) -> Option<Self> {
        Some(Self { options, max_risk: options.mending().policy().max_risk()? })
    }

    pub(super) fn name(&self) -> Option<&'o str> {
        self.options.name()
    }

    /// Whether a rule may be used at a place.
    pub(super) fn allows(&self, rule: Rule, place: &Location, part: &Part<'_>) -> bool {
        let own = part.shapes().map(|shape| &shape.off);
        let off = place.off.iter().chain(own).any(|off| match off {
            Off::Nothing => false,
            Off::Everything => true,
            Off::Codes(codes) => codes.iter().any(|code| code == rule.code()),
        });
        rule.risk() <= self.max_risk && !off && self.options.rules().allows(rule, &place.pointer)
    }

    pub(super) const fn is_in_sentence(&self) -> bool {
        self.options.in_sentence
    }

    /// Whether the policy allows a risk.
    pub(super) fn takes(&self, risk: Risk) -> bool {
        risk <= self.max_risk
    }
}
