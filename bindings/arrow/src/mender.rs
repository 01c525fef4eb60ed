//! What mends a column.

use std::fmt;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};
use arrow_select::{concat::concat, take::take};
use serde_json::Value;
use wiremend::{
    MendOptions,
    extract::Scope,
    schema::{FitOptions, Schema, SchemaError},
};

use crate::{
    cores,
    mending::Engine,
    result::Form,
    shape::Shape,
    texts::{Distinct, Width, no_texts},
};

/// Mends each text of a column of strings or binary, of any width, or of a dictionary of these.
///
/// The result is a column of structs `{json, outcome, risk, message, repairs}` with as many rows, null for null; `json` has
/// the width of the texts. By default it works on the thread that calls it.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{Array, ArrayRef, StringArray, cast::AsArray};
/// use wiremend_arrow::ColumnMender;
///
/// let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("{city: 'Oslo'}"), None]));
/// let mended = ColumnMender::new().mend(&texts)?;
/// let json = mended.as_struct().column_by_name("json").unwrap();
/// assert_eq!(json.as_string::<i32>().value(0), r#"{"city": "Oslo"}"#);
/// assert!(mended.is_null(1));
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
pub struct ColumnMender {
    engine: Engine,
    shape: Option<Shape>,
    edits: bool,
    threads: usize,
}

impl ColumnMender {
    /// Mends the best JSON of each text, with every repair.
    #[must_use]
    pub fn new() -> Self {
        Self::with_options(Scope::Best, MendOptions::new())
    }

    /// Mends what is in this scope of each text.
    #[must_use]
    pub fn with_options(scope: Scope, options: MendOptions) -> Self {
        Self::of(Engine::Find(scope, options))
    }

    /// Makes each value fit a schema. A text whose value cannot is `invalid`.
    #[must_use]
    pub fn fitting(schema: Schema, options: FitOptions) -> Self {
        Self::of(Engine::Fit(schema, Box::new(options)))
    }

    /// As [`fitting`](Self::fitting), with a column of the types that the schema has, `value`, in place of the JSON text.
    ///
    /// # Errors
    ///
    /// The schema cannot be compiled.
    pub fn typed(schema: &Value, options: FitOptions) -> Result<Self, SchemaError> {
        let mut schema = schema.clone();
        let shape = Shape::of(&mut schema);
        let schema = Schema::compile(&schema)?;
        let engine = Engine::Typed(schema, Box::new(options), shape.clone());
        Ok(Self { shape: Some(shape), ..Self::of(engine) })
    }

    fn of(engine: Engine) -> Self {
        Self { engine, shape: None, edits: false, threads: 1 }
    }

    /// Lists each change in a further field, `edits`.
    #[must_use]
    pub fn with_edits(mut self, edits: bool) -> Self {
        self.edits = edits;
        self
    }

    /// Mends so many rows at a time. `None` is as many as there are cores.
    #[must_use]
    pub fn with_threads(mut self, threads: Option<usize>) -> Self {
        self.threads = cores::threads(threads);
        self
    }

    /// The type of the results for texts of a type.
    ///
    /// # Errors
    ///
    /// It is no type of texts.
    pub fn kind(&self, texts: &DataType) -> Result<DataType, ArrowError> {
        Ok(self.form(texts)?.kind())
    }

    /// Mends each text.
    ///
    /// # Errors
    ///
    /// It is no column of texts; or its results have more than 2 GiB and not a type for that.
    pub fn mend(&self, texts: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        let form = self.form(texts.data_type())?;
        let distinct = Distinct::of(texts)?;
        let found = distinct.texts()?;
        let found = &*found;
        let pieces = cores::pieces(found);
        let done = cores::each(&pieces, self.threads, |rows| {
            let row = |row| found.get(row).map(|text| self.engine.row(text, self.edits));
            form.column(rows.map(row).collect())
        });
        let done = done.into_iter().collect::<Result<Vec<_>, _>>()?;
        let results = match done.as_slice() {
            [] => form.nulls(0)?,
            [one] => ArrayRef::clone(one),
            several => concat(&several.iter().map(AsRef::as_ref).collect::<Vec<_>>())?,
        };
        match &distinct.rows {
            Some(_) if results.is_empty() => form.nulls(texts.len()),
            Some(rows) => take(&results, rows, None),
            None => Ok(results),
        }
    }

    fn form(&self, texts: &DataType) -> Result<Form, ArrowError> {
        let width = Width::of(texts).ok_or_else(|| no_texts(texts))?;
        Ok(Form { width, shape: self.shape.clone(), edits: self.edits })
    }
}

impl Default for ColumnMender {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ColumnMender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColumnMender").finish_non_exhaustive()
    }
}
