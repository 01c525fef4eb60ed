//! What became of a column, in numbers and examples.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arrow_array::{
    Array, ArrayRef, Float64Array, Int32Array, Int64Array, ListArray, StringArray, StructArray,
    cast::AsArray, new_null_array, types::Int32Type,
};
use arrow_buffer::OffsetBuffer;
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Fields};
use pyo3::prelude::*;
use pyo3_arrow::{PyChunkedArray, input::AnyArray};
use wiremend_summary::{Example, Row, Summary, What};

use crate::{
    column::{Results, raised},
    result::{item, kind_fields},
    texts::texts,
};

/// Counts of outcomes, risks and kinds of repair, by source, with examples.
#[pyclass(frozen, module = "wiremend_arrow")]
pub(crate) struct Tally(Mutex<Summary<u64>>);

impl Tally {
    fn state(&self) -> MutexGuard<'_, Summary<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is read of the results of a chunk.
struct Read {
    results: ArrayRef,
    first: ArrayRef,
    outcomes: ArrayRef,
    risks: ArrayRef,
    repairs: ArrayRef,
    messages: ArrayRef,
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
        let or_null = |name: &str, to: &DataType| match member(name) {
            Some(column) => cast(column, to),
            None => Ok(new_null_array(to, results.len())),
        };
        Ok(Self {
            results: ArrayRef::clone(results),
            first: or_null("json", &DataType::LargeUtf8)?,
            outcomes: cast(needed("outcome")?, &DataType::Utf8)?,
            risks: cast(needed("risk")?, &DataType::Utf8)?,
            repairs: cast(needed("repairs")?, &list)?,
            messages: or_null("message", &DataType::Utf8)?,
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
        Self(Mutex::new(Summary::new(examples)))
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
            add(&mut self.state(), &results.chunks, text, source)
        });
        added.map_err(raised)
    }

    /// How many rows were counted.
    #[getter]
    fn rows(&self) -> u64 {
        self.state().rows()
    }

    /// How many rows have each outcome, the most frequent first.
    fn outcomes(&self) -> Vec<(String, u64)> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for line in self.state().lines() {
            if line.what == What::Outcome {
                *counts.entry(line.name.to_owned()).or_default() += line.rows;
            }
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, rows)| Reverse(*rows));
        counts
    }

    /// As a page that needs nothing else.
    fn page(&self, title: &str) -> String {
        self.state().page(title)
    }

    /// The same as a part of another page.
    fn part(&self) -> String {
        self.state().part()
    }

    /// All of it as a table: an array of structs.
    fn table(&self) -> PyResult<Results> {
        Ok(Results::single(table(&self.state()).map_err(raised)?, "summary"))
    }
}

/// Adds the rows of chunks of results.
fn add(
    to: &mut Summary<u64>,
    results: &[ArrayRef],
    mut text: Option<Cursor>,
    mut source: Option<Cursor>,
) -> Result<(), ArrowError> {
    for results in results {
        let read = Read::of(results)?;
        for row in 0..results.len() {
            let source = source.as_mut().and_then(Cursor::step).and_then(|(chunk, row)| {
                let names = chunk.as_string::<i32>();
                names.is_valid(row).then(|| names.value(row))
            });
            let text = text.as_mut().and_then(Cursor::step);
            count(to, &read, row, source, text)?;
        }
    }
    Ok(())
}

fn count(
    to: &mut Summary<u64>,
    read: &Read,
    at: usize,
    source: Option<&str>,
    text: Option<(&ArrayRef, usize)>,
) -> Result<(), ArrowError> {
    let repairs = read.repairs.as_list::<i32>();
    let list = (!read.results.is_null(at)).then(|| repairs.value(at));
    let mut kinds = Vec::new();
    if let Some(list) = &list {
        let list = list.as_struct();
        let counts: &Int32Array = list.column(2).as_primitive::<Int32Type>();
        let counts = counts.iter().map(|count| count.map_or(0, |n| u64::try_from(n).unwrap_or(0)));
        let names = list.column(0).as_string::<i32>().iter().map(Option::unwrap_or_default);
        kinds.extend(names.zip(counts));
    }
    let word = |words: &ArrayRef| {
        let words = words.as_string::<i32>();
        words.is_valid(at).then(|| words.value(at).to_owned())
    };
    let (outcome, risk) = match &list {
        None => (Some("absent".to_owned()), None),
        Some(_) => (word(&read.outcomes), Some(word(&read.risks))),
    };
    let risk = risk.as_ref().map(|risk| risk.as_deref().unwrap_or("none"));
    let outcome = outcome.as_deref().unwrap_or("(null)");
    let row = Row { source, outcome, risk, kinds: &kinds };
    let example = match to.wants(&row) {
        false => None,
        true => {
            let place = text.map_or(0, |(_, row)| row);
            let text = text.map(|(chunk, _)| texts(chunk)).transpose()?;
            let text = text.as_ref().and_then(|texts| texts.get(place));
            let json = texts(&read.first)?;
            let json = json.get(at);
            Some(Example::new(to.rows(), text, json, word(&read.messages).as_deref()))
        }
    };
    to.add(&row, example);
    Ok(())
}

/// All counts as an array of structs.
fn table(summary: &Summary<u64>) -> Result<ArrayRef, ArrowError> {
    let lines = summary.lines();
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let row = Field::new("row", DataType::Int64, true);
    let example = Fields::from(vec![row, text("text"), text("json"), text("message")]);
    let offsets = OffsetBuffer::from_lengths(lines.iter().map(|line| line.examples.len()));
    let all = || lines.iter().flat_map(|line| &line.examples);
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let shown: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(all().map(|example| number(example.place)))),
        Arc::new(StringArray::from_iter(all().map(|example| example.text.as_deref()))),
        Arc::new(StringArray::from_iter(all().map(|example| example.json.as_deref()))),
        Arc::new(StringArray::from_iter(all().map(|example| example.message.as_deref()))),
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
        Arc::new(StringArray::from_iter_values(lines.iter().map(|line| line.what.code()))),
        Arc::new(StringArray::from_iter_values(lines.iter().map(|line| line.name))),
        Arc::new(StringArray::from_iter(lines.iter().map(|line| line.source))),
        Arc::new(Int64Array::from_iter_values(lines.iter().map(|line| number(line.rows)))),
        Arc::new(Float64Array::from_iter_values(lines.iter().map(|line| line.share))),
        Arc::new(Int64Array::from_iter_values(lines.iter().map(|line| number(line.repairs)))),
        Arc::new(examples),
    ];
    Ok(Arc::new(StructArray::try_new(fields, columns, None)?))
}
