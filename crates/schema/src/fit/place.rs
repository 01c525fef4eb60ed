//! Where a value is while it is followed through the schema.

use jsonmend_core::{Path, Step};

use crate::{
    compile::{Off, ShapeId},
    part::Part,
};

/// How deep a value is followed, in levels.
pub(super) const DEPTH: usize = 64;

/// A node of the value on its way through the schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    pub(super) path: Vec<Step>,
    /// The same as a JSON Pointer, for the switches.
    pub(super) pointer: String,
    /// Whether it is an item of a list.
    pub(super) in_array: bool,
    /// Whether it is the whole value.
    pub(super) is_root: bool,
    /// Whether a string would be valid here, though not this one.
    pub(super) takes_strings: bool,
    /// Whether it is tried as one of several branches of a union that take its type.
    pub(super) is_choice: bool,
    pub(super) forms: usize,
    pub(super) depth: usize,
    /// What the schema switches off here.
    pub(super) off: Vec<Off>,
}

impl Place {
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

    /// With what these parts of the schema switch off, here and below.
    pub(super) fn with_switches(mut self, parts: &[Part<'_>]) -> Self {
        let shapes = parts.iter().flat_map(Part::shapes).map(|shape| &shape.off);
        self.off.extend(shapes.filter(|off| **off != Off::Nothing).cloned());
        self
    }

    pub(super) fn path(&self) -> Path {
        Path::from(self.path.clone())
    }
}

/// What the result of fitting a value depends on, beside the schema and the options: a value that comes
/// by again at the same place needs no second look.
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

impl Place {
    /// A visit of a node for a part of the schema.
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
