//! Edit scripts: what was changed in a text, and why.

use std::{fmt, ops::Range, str::FromStr};

use wiremend_core::{Located, Path, Repair, RepairKind, Repairs, Risk};

use crate::{Rule, UnknownCode};

/// Why a text was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// A rule, to make a value fit its schema.
    Rule(Rule),
    /// A repair, to make the text valid JSON.
    Syntax(RepairKind),
}

impl Cause {
    /// The stable kebab-case code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Rule(rule) => rule.code(),
            Self::Syntax(kind) => kind.code(),
        }
    }

    /// The risk of the rule, or of the kind of repair. A repair that is in doubt has a higher one.
    #[must_use]
    pub const fn risk(self) -> Risk {
        match self {
            Self::Rule(rule) => rule.risk(),
            Self::Syntax(kind) => kind.risk(),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Cause {
    type Err = UnknownCode;

    fn from_str(code: &str) -> Result<Self, UnknownCode> {
        let syntax = || RepairKind::from_code(code).map(Self::Syntax);
        let cause = Rule::from_code(code).map(Self::Rule).or_else(syntax);
        cause.ok_or(UnknownCode::new("rule or repair"))
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// A single change of a text, which replaces the bytes `start..end` by `after`.
///
/// The changes of a script are sorted and do not overlap. If a repair and a rule touch the same
/// bytes, they are combined into one change, whose cause is the one with the higher risk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub(crate) cause: Cause,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) after: String,
    pub(crate) path: Path,
    risk: Risk,
}

impl Change {
    pub(crate) fn new(
        cause: Cause,
        span: Range<usize>,
        after: impl Into<String>,
        path: Path,
    ) -> Self {
        let risk = cause.risk();
        Self { cause, start: span.start, end: span.end, after: after.into(), path, risk }
    }

    /// Raises the risk to at least `risk`, because of other edits to the same bytes.
    pub(crate) fn with_risk(mut self, risk: Risk) -> Self {
        self.risk = self.risk.max(risk);
        self
    }

    /// Why the text was changed.
    #[must_use]
    pub const fn cause(&self) -> Cause {
        self.cause
    }

    /// The first byte that is replaced, as an offset into the input.
    #[must_use]
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The end of the bytes that are replaced, exclusive. Equal to the start for an insertion.
    #[must_use]
    pub const fn end(&self) -> usize {
        self.end
    }

    /// The byte range that is replaced.
    #[must_use]
    pub const fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The text that replaces them.
    #[must_use]
    pub fn after(&self) -> &str {
        &self.after
    }

    /// The path of the changed value in the document.
    #[must_use]
    pub const fn path(&self) -> &Path {
        &self.path
    }

    /// The risk of the change: the risk of its cause, or a higher one if more was done to the same
    /// bytes.
    #[must_use]
    pub const fn risk(&self) -> Risk {
        self.risk
    }
}

impl Change {
    /// The change that a repair of the syntax makes, at this place of the document.
    pub(crate) fn syntax(repair: &Repair, path: Path) -> Self {
        let change = Self::new(Cause::Syntax(repair.kind()), repair.span(), repair.after(), path);
        change.with_risk(repair.risk())
    }

    /// The changes that the repairs of `input` make.
    pub(crate) fn of_repairs(input: &[u8], repairs: &Repairs) -> Vec<Self> {
        let mut located = Located::in_input(input, repairs);
        let mut changes = Vec::with_capacity(repairs.len());
        while let Some(repair) = located.next() {
            changes.push(Self::syntax(&repair, located.path()));
        }
        changes
    }
}

/// Applies a script to the text that it was made for. `None` if the script is not sorted, has
/// overlaps, or splits a character.
#[must_use]
pub fn apply_changes(input: &[u8], changes: &[Change]) -> Option<String> {
    let mut out = Vec::with_capacity(input.len());
    let mut at = 0;
    for change in changes {
        out.extend_from_slice(input.get(at..change.start)?);
        if change.end < change.start {
            return None;
        }
        out.extend_from_slice(change.after.as_bytes());
        at = change.end;
    }
    out.extend_from_slice(input.get(at..)?);
    String::from_utf8(out).ok()
}

/// Combines two scripts into one: `first` leads from the input to `middle`, and `second` from there
/// to the output.
pub(crate) fn compose(first: &[Change], middle: &str, second: &[Change]) -> Vec<Change> {
    let mut composed = Vec::with_capacity(first.len() + second.len());
    let mut placed = Placed::of(first);
    let mut second = second.iter().peekable();
    while let Some(group) = placed.next_group(&mut second) {
        composed.push(group.join(middle));
    }
    composed
}

/// The range of the original text from which a range of the changed text came. Inserted text came
/// from the position of its insertion, or from what it replaced.
pub(crate) fn origin(script: &[Change], span: &Range<usize>) -> Range<usize> {
    Origins::new(script).of(span)
}

/// Computes [`origin`] for ranges in ascending order, so that the script is read only once.
pub(crate) struct Origins<'c> {
    rest: &'c [Change],
    shift: Shift,
}

impl<'c> Origins<'c> {
    pub(crate) fn new(script: &'c [Change]) -> Self {
        Self { rest: script, shift: Shift::default() }
    }

    /// The origin of a range that begins no earlier than the previous one ended.
    pub(crate) fn of(&mut self, span: &Range<usize>) -> Range<usize> {
        let start = self.source(span.start).start;
        match span.end.checked_sub(1).filter(|last| *last >= span.start) {
            Some(last) => start..self.source(last).end.max(start),
            None => start..start,
        }
    }

    /// The bytes from which the byte at `at` was made.
    fn source(&mut self, at: usize) -> Range<usize> {
        while let Some((change, rest)) = self.rest.split_first() {
            let from = (change.start + self.shift.grown).saturating_sub(self.shift.shrunk);
            if from > at {
                break;
            }
            if at < from + change.after.len() {
                return change.start..change.end;
            }
            self.shift.pass(change);
            self.rest = rest;
        }
        let at = self.shift.back(at);
        at..at + 1
    }
}

/// How far the preceding changes have moved the text.
#[derive(Clone, Copy, Debug, Default)]
struct Shift {
    grown: usize,
    shrunk: usize,
}

impl Shift {
    fn pass(&mut self, change: &Change) {
        self.grown += change.after.len();
        self.shrunk += change.end - change.start;
    }

    /// Maps an offset that no change covers from the middle text to the input.
    fn back(self, at: usize) -> usize {
        (at + self.shrunk).saturating_sub(self.grown)
    }
}

/// Walks the first script along the middle text.
struct Placed<'c> {
    rest: &'c [Change],
    /// The effect of the changes that were passed.
    shift: Shift,
}

/// Changes of both scripts that touch each other.
struct Group<'c> {
    input: Range<usize>,
    middle: Range<usize>,
    first: Vec<&'c Change>,
    second: Vec<&'c Change>,
}

impl<'c> Placed<'c> {
    fn of(first: &'c [Change]) -> Self {
        Self { rest: first, shift: Shift::default() }
    }

    /// The next change of the first script, and its range in the middle text.
    fn peek(&self) -> Option<(&'c Change, Range<usize>)> {
        let change = self.rest.first()?;
        let start = (change.start + self.shift.grown).saturating_sub(self.shift.shrunk);
        Some((change, start..start + change.after.len()))
    }

    fn take(&mut self, group: &mut Group<'c>) {
        let Some((change, covered)) = self.peek() else { return };
        group.input.end = group.input.end.max(change.end);
        group.middle.end = group.middle.end.max(covered.end);
        group.first.push(change);
        self.shift.pass(change);
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    fn next_group<'s>(
        &mut self,
        second: &mut std::iter::Peekable<impl Iterator<Item = &'s Change>>,
    ) -> Option<Group<'c>>
    where
        's: 'c,
    {
        let ahead = second.peek().map(|change| change.start);
        let mut group = match (self.peek(), ahead) {
            (None, None) => return None,
            (Some((change, covered)), start)
                if start.is_none_or(|start| covered.start <= start) =>
            {
                let mut group = Group::at(change.start, covered.start);
                self.take(&mut group);
                group
            }
            _ => {
                let change = second.next()?;
                let start = self.shift.back(change.start);
                let mut group = Group::at(start, change.start);
                group.middle.end = change.end;
                group.second.push(change);
                group
            }
        };
        // A change belongs to the group if it overlaps what the group covers so far.
        loop {
            let more = self.peek().filter(|(_, covered)| group.covers(covered));
            if more.is_some() {
                self.take(&mut group);
                continue;
            }
            match second.next_if(|change| group.covers(&(change.start..change.end))) {
                Some(change) => {
                    group.middle.end = group.middle.end.max(change.end);
                    group.second.push(change);
                }
                None => break,
            }
        }
        // After the last change of the first script, the input and the middle text are the same.
        let end = self.shift.back(group.middle.end);
        group.input.end = group.input.end.max(end);
        Some(group)
    }
}

impl<'c> Group<'c> {
    fn at(input: usize, middle: usize) -> Self {
        let (first, second) = (Vec::new(), Vec::new());
        Self { input: input..input, middle: middle..middle, first, second }
    }

    /// Whether a range begins inside the group.
    fn covers(&self, range: &Range<usize>) -> bool {
        range.start < self.middle.end
    }

    fn join(self, middle: &str) -> Change {
        let mut after = String::new();
        let mut at = self.middle.start;
        for change in &self.second {
            after.push_str(middle.get(at..change.start).unwrap_or_default());
            after.push_str(&change.after);
            at = change.end;
        }
        after.push_str(middle.get(at..self.middle.end).unwrap_or_default());
        // A rule explains more than a repair of the same bytes.
        let riskiest = self
            .second
            .iter()
            .chain(&self.first)
            .max_by_key(|change| (change.risk(), matches!(change.cause, Cause::Rule(_))));
        let (cause, path, risk) = match riskiest {
            Some(change) => (change.cause, change.path.clone(), change.risk),
            None => (Cause::Syntax(RepairKind::Comment), Path::default(), Risk::Exact),
        };
        Change::new(cause, self.input, after, path).with_risk(risk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(start: usize, end: usize, after: &str) -> Change {
        Change::new(Cause::Rule(Rule::WrapInArray), start..end, after, Path::default())
    }

    /// A composed script does the same as its two scripts in turn, for all scripts of up to two
    /// changes.
    #[test]
    fn a_composed_script_does_what_the_two_do() {
        let input = "abcd";
        let mut single = Vec::new();
        for start in 0..=4 {
            for end in start..=4 {
                for after in ["", "X", "YZ"] {
                    single.push(change(start, end, after));
                }
            }
        }
        let mut scripts = vec![Vec::new()];
        for first in &single {
            scripts.push(vec![first.clone()]);
            for second in single
                .iter()
                .filter(|second| second.start >= first.end && second.start > first.start)
            {
                scripts.push(vec![first.clone(), second.clone()]);
            }
        }
        let mut tried = 0;
        for first in &scripts {
            let middle = apply_changes(input.as_bytes(), first).unwrap();
            for second in scripts.iter().step_by(3) {
                let Some(output) = apply_changes(middle.as_bytes(), second) else { continue };
                let composed = compose(first, &middle, second);
                let once = apply_changes(input.as_bytes(), &composed);
                assert_eq!(once.as_ref(), Some(&output), "{first:?} {second:?} {composed:?}");
                tried += 1;
            }
        }
        assert!(tried > 10_000, "{tried}");
    }

    #[test]
    fn positions_map_back_to_the_input() {
        // "ab" + "XY" inserted at 1, "b" kept: a X Y b
        let script = [change(1, 1, "XY"), change(3, 5, "")];
        // input: a b c d e f; output: a X Y b c f
        let origins: Vec<usize> = (0..6).map(|at| origin(&script, &(at..at)).start).collect();
        assert_eq!(origins, [0, 1, 1, 1, 2, 5]);
        assert_eq!(origin(&script, &(0..4)), 0..2);
        assert_eq!(origin(&script, &(1..3)), 1..1);
        assert_eq!(origin(&script, &(4..6)), 2..6);
    }
}
