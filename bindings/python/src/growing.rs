//! Values of mended text that grow, and the items of an array in it.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    sync::MutexExt,
    types::{PyFrozenSet, PyList},
};
use wiremend::{
    Output, Partial,
    partial::{DeltaOp, EventReader, ParseEvent, Revision},
    repair::{Path, Step},
};

use crate::{source::Source, value};

/// A value of mended text that grows.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Growing(Mutex<Grown>);

struct Grown {
    partial: Partial,
    seen: Revision,
    closed: HashSet<String>,
}

#[pymethods]
impl Growing {
    #[new]
    fn new() -> Self {
        let (partial, seen) = (Partial::new(), Revision::default());
        Self(Mutex::new(Grown { partial, seen, closed: HashSet::new() }))
    }

    /// Reads mended text, and says whether the value changed.
    fn feed(&self, json: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = json.py();
        let json = Source::of(json)?;
        let bytes = json.bytes(py)?;
        let mut grown = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let Grown { partial, seen, closed } = &mut *grown;
        partial.copy(bytes);
        partial.settle();
        let mut changed = false;
        for delta in partial.since(seen) {
            changed = true;
            match delta.op() {
                DeltaOp::AddArray
                | DeltaOp::AddObject
                | DeltaOp::AddString
                | DeltaOp::Append(_) => {}
                _ => {
                    closed.insert(delta.path().to_string());
                }
            }
        }
        *seen = partial.revision();
        Ok(changed)
    }

    /// The value so far, as an object of its own. `None` before it begins.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let grown = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        match grown.partial.root() {
            Some(root) => value::build(py, root),
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// The paths of what will not change any more.
    #[getter]
    fn closed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyFrozenSet>> {
        let grown = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        PyFrozenSet::new(py, &grown.closed)
    }
}

/// The items of one array in a mended text, each when it is whole.
#[pyclass(frozen, module = "wiremend")]
pub(crate) struct Items(Mutex<Array>);

#[pymethods]
impl Items {
    #[new]
    fn new(pointer: &str) -> PyResult<Self> {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            let message =
                format!("a JSON Pointer begins with a slash or is empty, not {pointer:?}");
            return Err(PyValueError::new_err(message));
        }
        let steps = pointer.split('/').skip(1);
        let target = steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
        Ok(Self(Mutex::new(Array::new(target))))
    }

    /// Reads mended text, and returns the items that ended in it: the JSON text of each, and its path.
    fn feed<'py>(&self, json: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = json.py();
        let json = Source::of(json)?;
        let bytes = json.bytes(py)?;
        let mut array = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        PyList::new(py, array.read(bytes))
    }
}

struct Array {
    reader: EventReader,
    place: Place,
    /// The text from `base` on, as far as it may belong to an item.
    kept: Vec<u8>,
    base: usize,
}

/// Where in the document the reader is.
struct Place {
    target: Vec<String>,
    /// The containers that are open.
    open: Vec<Level>,
    /// How many of them lead to the target.
    good: usize,
    in_string: bool,
    /// Where the item that is open begins.
    begun: Option<usize>,
    /// The items that ended: which part of the text each is, and its path.
    ended: Vec<(usize, usize, Path)>,
}

struct Level {
    /// The key of the member that is read. `None` in an array.
    key: Option<String>,
    /// How many values have begun in it.
    values: usize,
}

impl Array {
    fn new(target: Vec<String>) -> Self {
        let place = Place {
            target,
            open: Vec::new(),
            good: 0,
            in_string: false,
            begun: None,
            ended: Vec::new(),
        };
        Self { reader: EventReader::new(), place, kept: Vec::new(), base: 0 }
    }

    fn read(&mut self, bytes: &[u8]) -> Vec<(String, String)> {
        self.kept.extend_from_slice(bytes);
        let place = &mut self.place;
        self.reader.read(bytes, &mut |at, event| place.note(at, event));
        let text = |(start, end, path): (usize, usize, Path)| {
            let item = self.kept.get(start - self.base..end - self.base).unwrap_or_default();
            (String::from_utf8_lossy(item).into_owned(), path.to_string())
        };
        let ended = std::mem::take(&mut self.place.ended).into_iter().map(text).collect();
        // A number that is not whole yet begins after the last event.
        let from = self.place.begun.unwrap_or_else(|| self.base + self.loose());
        self.kept.drain(..from - self.base);
        self.base = from;
        ended
    }

    /// How much of the kept text no item can begin in: all but a word or number at its end.
    fn loose(&self) -> usize {
        if self.place.in_string {
            return self.kept.len();
        }
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        self.kept.len() - self.kept.iter().rev().take_while(|byte| word(byte)).count()
    }
}

impl Place {
    fn note(&mut self, at: usize, event: ParseEvent<'_>) {
        match event {
            ParseEvent::Key(key) => {
                if let Some(level) = self.open.last_mut() {
                    level.key = Some(key.to_owned());
                }
            }
            ParseEvent::BeginArray | ParseEvent::BeginObject => {
                self.begin(at);
                let key = matches!(event, ParseEvent::BeginObject).then(String::new);
                self.open.push(Level { key, values: 0 });
            }
            ParseEvent::BeginString => {
                self.in_string = true;
                self.begin(at);
            }
            ParseEvent::EndArray | ParseEvent::EndObject => {
                self.open.pop();
                self.end(at + 1);
            }
            ParseEvent::EndString => {
                self.in_string = false;
                self.end(at + 1);
            }
            ParseEvent::Bool(value) => self.scalar(at, if value { 4 } else { 5 }),
            ParseEvent::Null => self.scalar(at, 4),
            ParseEvent::Number(text) => self.scalar(at, text.len()),
            _ => {}
        }
    }

    fn scalar(&mut self, end: usize, length: usize) {
        self.begin(end - length);
        self.end(end);
    }

    fn begin(&mut self, at: usize) {
        let depth = self.open.len();
        let Some(level) = self.open.last_mut() else { return };
        let index = level.values;
        level.values += 1;
        if self.good + 1 != depth {
            return;
        }
        match (self.target.get(depth - 1), &level.key) {
            (Some(step), Some(key)) if step == key => self.good = depth,
            (Some(step), None) if *step == index.to_string() => self.good = depth,
            (None, None) => self.begun = Some(at),
            _ => {}
        }
    }

    fn end(&mut self, end: usize) {
        let depth = self.open.len();
        self.good = self.good.min(depth.saturating_sub(1));
        if depth == self.target.len() + 1
            && let Some(start) = self.begun.take()
        {
            let step = |level: &Level| match &level.key {
                Some(key) => Step::Key(key.as_str().into()),
                None => Step::Index(level.values.saturating_sub(1)),
            };
            let path = Path::from(self.open.iter().map(step).collect::<Vec<_>>());
            self.ended.push((start, end, path));
        }
    }
}
