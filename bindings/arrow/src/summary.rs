//! What became of a column, in numbers and examples.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use arrow_array::{
    Array, ArrayRef, Float64Array, Int32Array, Int64Array, ListArray, StringArray, StructArray,
    cast::AsArray, types::Int32Type,
};
use arrow_buffer::OffsetBuffer;
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Fields};
use pyo3::{exceptions::PyValueError, prelude::*};
use pyo3_arrow::{PyChunkedArray, input::AnyArray};
use wiremend::{RepairKind, schema::Rule};

use crate::{
    column::{Results, raised},
    result::{item, kind_fields},
    texts::texts,
};

/// Further sources are counted together.
const SOURCES: usize = 1000;

/// The longest text of an example, in characters.
const LONGEST: usize = 500;

const OTHERS: &str = "(others)";

/// Counts of outcomes, risks and kinds of repair, by source, with examples.
#[pyclass(frozen, module = "wiremend_arrow")]
pub(crate) struct Tally {
    examples: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    rows: i64,
    /// How many rows each source has.
    sources: BTreeMap<Option<String>, i64>,
    counts: BTreeMap<(What, String, Option<String>), Count>,
    examples: HashMap<(What, String), Vec<Example>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum What {
    Outcome,
    Risk,
    Kind,
}

#[derive(Clone, Copy, Default)]
struct Count {
    rows: i64,
    repairs: i64,
}

/// The number of a row, its source, what it was and what it became.
type Example = (i64, Option<String>, Option<String>, Option<String>);

/// What is counted, its name, its source, the rows, their share, the repairs, what the name means.
type Line = (&'static str, String, Option<String>, i64, f64, i64, &'static str);

impl What {
    const fn word(self) -> &'static str {
        match self {
            Self::Outcome => "outcome",
            Self::Risk => "risk",
            Self::Kind => "kind",
        }
    }
}

/// What is read of the results of a chunk.
struct Read {
    results: ArrayRef,
    first: ArrayRef,
    outcomes: ArrayRef,
    risks: ArrayRef,
    repairs: ArrayRef,
}

impl Read {
    fn of(results: &ArrayRef) -> Result<Self, ArrowError> {
        let found = results.as_struct_opt();
        let member = |name: &str| found.and_then(|results| results.column_by_name(name));
        let needed = |name: &str| {
            member(name).ok_or_else(|| {
                let message = format!("a column of results is needed: this one has no {name:?}");
                ArrowError::SchemaError(message)
            })
        };
        let list = DataType::List(item(kind_fields()));
        Ok(Self {
            results: ArrayRef::clone(results),
            first: match member("json") {
                Some(json) => cast(json, &DataType::LargeUtf8)?,
                None => Arc::new(StringArray::new_null(results.len())),
            },
            outcomes: cast(needed("outcome")?, &DataType::Utf8)?,
            risks: cast(needed("risk")?, &DataType::Utf8)?,
            repairs: cast(needed("repairs")?, &list)?,
        })
    }
}

/// Rows of chunks, one after the other.
struct Cursor {
    chunks: Vec<ArrayRef>,
    chunk: usize,
    row: usize,
}

impl Cursor {
    fn of(column: PyChunkedArray, to: Option<&DataType>) -> Result<Self, ArrowError> {
        let (chunks, _) = column.into_inner();
        let made = chunks.into_iter().map(|chunk| match (to, chunk.data_type()) {
            (Some(to), _) => cast(&chunk, to),
            (None, DataType::Dictionary(_, values)) => cast(&chunk, &values.clone()),
            _ => Ok(chunk),
        });
        Ok(Self { chunks: made.collect::<Result<_, _>>()?, chunk: 0, row: 0 })
    }

    fn len(&self) -> usize {
        self.chunks.iter().map(Array::len).sum()
    }

    /// The chunk of the next row, and its place there.
    fn step(&mut self) -> Option<(&ArrayRef, usize)> {
        while self.row >= self.chunks.get(self.chunk)?.len() {
            (self.chunk, self.row) = (self.chunk + 1, 0);
        }
        self.row += 1;
        Some((self.chunks.get(self.chunk)?, self.row - 1))
    }
}

#[pymethods]
impl Tally {
    #[new]
    fn new(examples: usize) -> Self {
        Self { examples, state: Mutex::default() }
    }

    /// Counts the rows of a column of results. The texts that were mended are for the examples.
    fn add(
        &self,
        py: Python<'_>,
        results: AnyArray,
        text: Option<AnyArray>,
        source: Option<AnyArray>,
    ) -> PyResult<()> {
        let chunked =
            |column: Option<AnyArray>| column.map(AnyArray::into_chunked_array).transpose();
        let results = results.into_chunked_array()?;
        let (text, source) = (chunked(text)?, chunked(source)?);
        let added = py.detach(|| {
            let results = Cursor::of(results, None)?;
            let text = text.map(|column| Cursor::of(column, None)).transpose()?;
            let source =
                source.map(|column| Cursor::of(column, Some(&DataType::Utf8))).transpose()?;
            let other = [&text, &source].into_iter().flatten().find(|c| c.len() != results.len());
            if let Some(other) = other {
                let (own, other) = (results.len(), other.len());
                let message = format!("the columns have {own} and {other} rows");
                return Err(ArrowError::InvalidArgumentError(message));
            }
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.add(&results.chunks, text, source, self.examples)
        });
        added.map_err(raised)
    }

    /// How many rows were counted.
    #[getter]
    fn rows(&self) -> i64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).rows
    }

    /// How many rows each source has.
    fn sources(&self) -> Vec<(Option<String>, i64)> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sources.iter().map(|(source, rows)| (source.clone(), *rows)).collect()
    }

    fn lines(&self) -> Vec<Line> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).lines()
    }

    fn examples(&self, what: &str, name: &str) -> PyResult<Vec<Example>> {
        let what = [What::Outcome, What::Risk, What::Kind].into_iter().find(|w| w.word() == what);
        let what = what.ok_or_else(|| PyValueError::new_err("no such table"))?;
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(state.examples.get(&(what, name.to_owned())).cloned().unwrap_or_default())
    }

    /// All of it as a table: an array of structs.
    fn table(&self) -> PyResult<Results> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Results::single(state.table().map_err(raised)?, "summary"))
    }
}

impl State {
    fn add(
        &mut self,
        results: &[ArrayRef],
        mut text: Option<Cursor>,
        mut source: Option<Cursor>,
        examples: usize,
    ) -> Result<(), ArrowError> {
        for results in results {
            let read = Read::of(results)?;
            for row in 0..results.len() {
                let source = source.as_mut().and_then(Cursor::step);
                let source = source.and_then(|(chunk, row)| {
                    let names = chunk.as_string::<i32>();
                    names.is_valid(row).then(|| names.value(row).to_owned())
                });
                let text = text.as_mut().and_then(Cursor::step);
                self.count(&read, row, source, text, examples)?;
            }
        }
        Ok(())
    }

    fn count(
        &mut self,
        read: &Read,
        row: usize,
        source: Option<String>,
        text: Option<(&ArrayRef, usize)>,
        most: usize,
    ) -> Result<(), ArrowError> {
        let source = match self.sources.len() < SOURCES || self.sources.contains_key(&source) {
            true => source,
            false => Some(OTHERS.to_owned()),
        };
        *self.sources.entry(source.clone()).or_default() += 1;
        let number = self.rows;
        self.rows += 1;
        let word = |words: &ArrayRef| {
            let words = words.as_string::<i32>();
            words.is_valid(row).then(|| words.value(row).to_owned())
        };
        let mut found = Vec::new();
        if read.results.is_null(row) {
            found.push((What::Outcome, "absent".to_owned(), 0));
        } else {
            let repairs = read.repairs.as_list::<i32>();
            let kinds = repairs.value(row);
            let kinds = kinds.as_struct();
            let names = kinds.column(0).as_string::<i32>();
            let counts: &Int32Array = kinds.column(2).as_primitive::<Int32Type>();
            let counts: Vec<i64> = counts.iter().map(|count| count.map_or(0, i64::from)).collect();
            let all = counts.iter().sum();
            found.extend(word(&read.outcomes).map(|outcome| (What::Outcome, outcome, all)));
            let risk = word(&read.risks).unwrap_or_else(|| "none".to_owned());
            found.push((What::Risk, risk, all));
            for (name, count) in names.iter().zip(counts) {
                found.push((What::Kind, name.unwrap_or_default().to_owned(), count));
            }
        }
        let mut example: Option<Example> = None;
        for (what, name, repairs) in found {
            let examples = self.examples.entry((what, name.clone())).or_default();
            if examples.len() < most {
                let example = match &example {
                    Some(example) => example.clone(),
                    None => {
                        let json = match read.first.data_type() {
                            DataType::LargeUtf8 => shown(&read.first, row)?,
                            _ => None,
                        };
                        let text = text.map(|(chunk, row)| shown(chunk, row)).transpose()?;
                        (number, source.clone(), text.flatten(), json)
                    }
                };
                examples.push(example);
            }
            example = examples.last().filter(|last| last.0 == number).cloned().or(example);
            let count = self.counts.entry((what, name, source.clone())).or_default();
            count.rows += 1;
            count.repairs += repairs;
        }
        Ok(())
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines: Vec<(What, Line)> = Vec::with_capacity(self.counts.len());
        for ((what, name, source), count) in &self.counts {
            let of = self.sources.get(source).copied().unwrap_or_default().max(1);
            #[allow(clippy::cast_precision_loss, reason = "a share")]
            let share = count.rows as f64 / of as f64;
            let about = match what {
                What::Kind => RepairKind::from_code(name)
                    .map(RepairKind::summary)
                    .or_else(|| Rule::from_code(name).map(Rule::summary))
                    .unwrap_or_default(),
                _ => "",
            };
            let (rows, repairs) = (count.rows, count.repairs);
            lines.push((
                *what,
                (what.word(), name.clone(), source.clone(), rows, share, repairs, about),
            ));
        }
        lines.sort_by_key(|(what, line)| (*what, line.2.clone(), std::cmp::Reverse(line.3)));
        lines.into_iter().map(|(_, line)| line).collect()
    }

    fn table(&self) -> Result<ArrayRef, ArrowError> {
        let lines = self.lines();
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let example = Fields::from(vec![
            Field::new("row", DataType::Int64, true),
            text("text"),
            text("json"),
        ]);
        let of = |line: &Line| {
            let what =
                [What::Outcome, What::Risk, What::Kind].into_iter().find(|w| w.word() == line.0);
            let all = what.and_then(|what| self.examples.get(&(what, line.1.clone())));
            let own = |example: &&Example| example.1 == line.2;
            all.into_iter().flatten().filter(own).collect::<Vec<&Example>>()
        };
        let examples: Vec<Vec<&Example>> = lines.iter().map(of).collect();
        let offsets = OffsetBuffer::from_lengths(examples.iter().map(Vec::len));
        let all: Vec<_> = examples.iter().flatten().collect();
        let all = || all.iter();
        let shown: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(all().map(|example| example.0))),
            Arc::new(StringArray::from_iter(all().map(|example| example.2.as_deref()))),
            Arc::new(StringArray::from_iter(all().map(|example| example.3.as_deref()))),
        ];
        let shown = Arc::new(StructArray::try_new(example.clone(), shown, None)?);
        let examples = ListArray::try_new(item(example.clone()), offsets, shown, None)?;
        let fields = Fields::from(vec![
            text("what"),
            text("name"),
            text("source"),
            Field::new("rows", DataType::Int64, true),
            Field::new("share", DataType::Float64, true),
            Field::new("repairs", DataType::Int64, true),
            Field::new("examples", DataType::List(item(example)), true),
        ]);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter_values(lines.iter().map(|line| line.0))),
            Arc::new(StringArray::from_iter_values(lines.iter().map(|line| &line.1))),
            Arc::new(StringArray::from_iter(lines.iter().map(|line| line.2.as_deref()))),
            Arc::new(Int64Array::from_iter_values(lines.iter().map(|line| line.3))),
            Arc::new(Float64Array::from_iter_values(lines.iter().map(|line| line.4))),
            Arc::new(Int64Array::from_iter_values(lines.iter().map(|line| line.5))),
            Arc::new(examples),
        ];
        Ok(Arc::new(StructArray::try_new(fields, columns, None)?))
    }
}

/// The beginning of a text.
fn shown(chunk: &ArrayRef, row: usize) -> Result<Option<String>, ArrowError> {
    let texts = texts(chunk)?;
    let Some(text) = texts.get(row) else { return Ok(None) };
    // No character has more than four bytes.
    let start = String::from_utf8_lossy(text.get(..LONGEST * 4).unwrap_or(text)).into_owned();
    Ok(Some(match start.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", start.get(..end).unwrap_or_default()),
        None => start,
    }))
}
