//! Columns in and out.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, Field, FieldRef};
use arrow_select::{concat::concat, take::take};
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
};
use pyo3_arrow::{PyArray, PyArrayReader, PyChunkedArray, PyField};
use serde_json::Value;
use wiremend::schema::{FitOptions, Schema};

use crate::{
    cores,
    mending::Engine,
    options,
    result::Form,
    shape::Shape,
    texts::{Distinct, Width, no_texts},
};

/// How the texts of columns are mended.
#[pyclass(frozen, module = "wiremend_arrow")]
pub(crate) struct Mending {
    engine: Engine,
    shape: Option<Shape>,
    edits: bool,
    threads: usize,
}

/// A column of results, in chunks.
#[pyclass(frozen, module = "wiremend_arrow")]
pub(crate) struct Results {
    chunks: Vec<ArrayRef>,
    field: FieldRef,
    /// Whether it is one array, and no stream of arrays.
    single: bool,
}

#[pymethods]
impl Mending {
    #[new]
    #[allow(
        clippy::too_many_arguments,
        clippy::needless_pass_by_value,
        reason = "they are keywords"
    )]
    #[pyo3(signature = (schema, typed, edits, scope, policy, without, documents, depth, threads))]
    fn new(
        schema: Option<&str>,
        typed: bool,
        edits: bool,
        scope: &str,
        policy: &str,
        without: Vec<String>,
        documents: &str,
        depth: usize,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let mending = options::mending(policy, &without, documents, depth)?;
        let scope = options::scope(scope)?;
        let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
        let mut shape = None;
        let engine = match schema {
            None if typed => {
                return Err(PyValueError::new_err("typed columns need a schema"));
            }
            None => Engine::Find(scope, mending),
            Some(text) => {
                let mut schema: Value =
                    serde_json::from_str(text).map_err(|error| wrong(&error))?;
                if typed {
                    shape = Some(Shape::of(&mut schema));
                }
                let schema = Schema::compile(&schema).map_err(|error| wrong(&error))?;
                let options = FitOptions::new().with_mending(mending).with_scope(scope);
                match &shape {
                    Some(shape) => Engine::Typed(schema, Box::new(options), shape.clone()),
                    None => Engine::Fit(schema, Box::new(options)),
                }
            }
        };
        Ok(Self { engine, shape, edits, threads: cores::threads(threads) })
    }

    /// Mends each text of a column.
    fn mend(&self, column: &Bound<'_, PyAny>) -> PyResult<Results> {
        let py = column.py();
        if column.hasattr("__arrow_c_stream__")? {
            let reader = column.extract::<PyArrayReader>()?.into_reader()?;
            let form = self.form_of(reader.field().data_type())?;
            // To read a stream may need the interpreter, for which it then asks itself.
            let mut reader = reader;
            let mut chunks = Vec::new();
            while let Some(chunk) =
                py.detach(|| reader.next().map(|chunk| self.chunk(&chunk?, &form)))
            {
                chunks.push(chunk.map_err(raised)?);
                py.check_signals()?;
            }
            return Ok(Results::new(chunks, &form, false));
        }
        if column.hasattr("__arrow_c_array__")? {
            let (array, _) = column.extract::<PyArray>()?.into_inner();
            let form = self.form_of(array.data_type())?;
            let chunk = py.detach(|| self.chunk(&array, &form)).map_err(raised)?;
            return Ok(Results::new(vec![chunk], &form, true));
        }
        let kind = column.get_type();
        Err(PyTypeError::new_err(format!(
            "a column of Arrow is needed (with __arrow_c_array__ or __arrow_c_stream__), not {kind}"
        )))
    }

    /// The type of the results for texts of a width, with `__arrow_c_schema__`.
    fn kind(&self, text: &str) -> PyResult<PyField> {
        let width = match text {
            "string" | "binary" => Width::Small,
            "large_string" | "large_binary" => Width::Large,
            "string_view" | "binary_view" => Width::View,
            other => {
                let message = format!(
                    "text must be 'string', 'large_string' or 'string_view', not {other:?}"
                );
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(PyField::new(field(&self.form(width))))
    }
}

impl Mending {
    fn form(&self, width: Width) -> Form {
        Form { width, shape: self.shape.clone(), edits: self.edits }
    }

    fn form_of(&self, kind: &arrow_schema::DataType) -> PyResult<Form> {
        Width::of(kind).map(|width| self.form(width)).ok_or_else(|| raised(no_texts(kind)))
    }

    fn chunk(&self, chunk: &ArrayRef, form: &Form) -> Result<ArrayRef, ArrowError> {
        let distinct = Distinct::of(chunk)?;
        let texts = distinct.texts()?;
        let texts = &*texts;
        let pieces = cores::pieces(texts);
        let done = cores::each(&pieces, self.threads, |rows| {
            let row = |row| texts.get(row).map(|text| self.engine.row(text, form.edits));
            form.column(rows.map(row).collect())
        });
        let done = done.into_iter().collect::<Result<Vec<_>, _>>()?;
        let results = match done.as_slice() {
            [] => form.nulls(0)?,
            [one] => ArrayRef::clone(one),
            several => concat(&several.iter().map(AsRef::as_ref).collect::<Vec<_>>())?,
        };
        match &distinct.rows {
            Some(_) if results.is_empty() => form.nulls(chunk.len()),
            Some(rows) => take(&results, rows, None),
            None => Ok(results),
        }
    }
}

impl Results {
    fn new(chunks: Vec<ArrayRef>, form: &Form, single: bool) -> Self {
        Self { chunks, field: field(form), single }
    }

    pub(crate) fn single(array: ArrayRef, name: &str) -> Self {
        let field = Arc::new(Field::new(name, array.data_type().clone(), true));
        Self { chunks: vec![array], field, single: true }
    }
}

#[pymethods]
impl Results {
    /// The lengths of the chunks.
    #[getter]
    fn chunks(&self) -> Vec<usize> {
        self.chunks.iter().map(Array::len).collect()
    }

    /// As an array, if it came as one.
    fn array(&self) -> Option<PyArray> {
        let chunk = self.chunks.first().filter(|_| self.single)?;
        Some(PyArray::new(ArrayRef::clone(chunk), Arc::clone(&self.field)))
    }

    /// As a stream of arrays.
    fn stream(&self) -> PyResult<PyChunkedArray> {
        PyChunkedArray::try_new(self.chunks.clone(), Arc::clone(&self.field))
    }
}

fn field(form: &Form) -> FieldRef {
    Arc::new(Field::new("mended", form.kind(), true))
}

pub(crate) fn raised(error: ArrowError) -> PyErr {
    match error {
        ArrowError::SchemaError(message) => PyTypeError::new_err(message),
        ArrowError::OffsetOverflowError(_) => PyOverflowError::new_err(
            "the results of a chunk are longer than 2 GiB: cast the column to large_string, or divide it",
        ),
        other => PyValueError::new_err(other.to_string()),
    }
}
