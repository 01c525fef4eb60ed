//! Columns in and out.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
};
use pyo3_arrow::{PyArray, PyArrayReader, PyChunkedArray, PyField};
use serde_json::Value;
use wiremend::schema::{FitOptions, Schema};

use crate::mender::ColumnMender;

/// How the texts of columns are mended.
#[pyclass(frozen, module = "wiremend_arrow")]
pub(crate) struct Mending(ColumnMender);

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
    #[pyo3(signature = (schema, typed, edits, scope, policy, without, documents, depth, search, threads))]
    fn new(
        schema: Option<&str>,
        typed: bool,
        edits: bool,
        scope: &str,
        policy: &str,
        without: Vec<String>,
        documents: &str,
        depth: usize,
        search: bool,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let mending = wiremend_plain::mending(policy, without, documents, depth, search);
        let mending = mending.map_err(PyValueError::new_err)?;
        let scope = wiremend_plain::scope(scope).map_err(PyValueError::new_err)?;
        let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
        let mender = match schema {
            None if typed => {
                return Err(PyValueError::new_err("typed columns need a schema"));
            }
            None => ColumnMender::with_options(scope, mending),
            Some(text) => {
                let schema: Value = serde_json::from_str(text).map_err(|error| wrong(&error))?;
                let options = FitOptions::new().with_mending(mending).with_scope(scope);
                match typed {
                    true => ColumnMender::typed(&schema, options),
                    false => Schema::compile(&schema)
                        .map(|schema| ColumnMender::fitting(schema, options)),
                }
                .map_err(|error| wrong(&error))?
            }
        };
        Ok(Self(mender.with_edits(edits).with_threads(threads)))
    }

    /// Mends each text of a column.
    fn mend(&self, column: &Bound<'_, PyAny>) -> PyResult<Results> {
        let py = column.py();
        if column.hasattr("__arrow_c_stream__")? {
            let reader = column.extract::<PyArrayReader>()?.into_reader()?;
            let kind = self.0.kind(reader.field().data_type()).map_err(raised)?;
            // To read a stream may need the interpreter, for which it then asks itself.
            let mut reader = reader;
            let mut chunks = Vec::new();
            while let Some(chunk) = py.detach(|| reader.next().map(|chunk| self.0.mend(&chunk?))) {
                chunks.push(chunk.map_err(raised)?);
                py.check_signals()?;
            }
            return Ok(Results::new(chunks, kind, false));
        }
        if column.hasattr("__arrow_c_array__")? {
            let (array, _) = column.extract::<PyArray>()?.into_inner();
            let kind = self.0.kind(array.data_type()).map_err(raised)?;
            let chunk = py.detach(|| self.0.mend(&array)).map_err(raised)?;
            return Ok(Results::new(vec![chunk], kind, true));
        }
        let kind = column.get_type();
        Err(PyTypeError::new_err(format!(
            "a column of Arrow is needed (with __arrow_c_array__ or __arrow_c_stream__), not {kind}"
        )))
    }

    /// The type of the results for texts of a width, with `__arrow_c_schema__`.
    fn kind(&self, text: &str) -> PyResult<PyField> {
        let texts = match text {
            "string" | "binary" => DataType::Utf8,
            "large_string" | "large_binary" => DataType::LargeUtf8,
            "string_view" | "binary_view" => DataType::Utf8View,
            other => {
                let message = format!(
                    "text must be 'string', 'large_string' or 'string_view', not {other:?}"
                );
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(PyField::new(field(self.0.kind(&texts).map_err(raised)?)))
    }
}

impl Results {
    fn new(chunks: Vec<ArrayRef>, kind: DataType, single: bool) -> Self {
        Self { chunks, field: field(kind), single }
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

fn field(kind: DataType) -> FieldRef {
    Arc::new(Field::new("mended", kind, true))
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
