//! The column of results.

use std::{iter::repeat_n, sync::Arc};

use arrow_array::{
    ArrayRef, Int32Array, Int64Array, LargeStringArray, ListArray, StringArray, StringViewArray,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use wiremend::Risk;

use crate::{
    cell::{self, Cell},
    mending::{Row, Value},
    shape::Shape,
    texts::Width,
};

/// What the column of results is made of.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// Of the JSON text.
    pub(crate) width: Width,
    /// Of the value, if there is one in place of the JSON text.
    pub(crate) shape: Option<Shape>,
    pub(crate) edits: bool,
}

impl Form {
    pub(crate) fn fields(&self) -> Fields {
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let mut fields = vec![
            match &self.shape {
                Some(shape) => Field::new("value", shape.kind(), true),
                None => Field::new("json", self.width.kind(), true),
            },
            text("outcome"),
            text("risk"),
            text("message"),
            Field::new("repairs", DataType::List(item(kind_fields())), true),
        ];
        if self.edits {
            fields.push(Field::new("edits", DataType::List(item(edit_fields())), true));
        }
        Fields::from(fields)
    }

    pub(crate) fn kind(&self) -> DataType {
        DataType::Struct(self.fields())
    }

    /// A column of rows, with null for null.
    pub(crate) fn column(&self, mut rows: Vec<Option<Row>>) -> Result<ArrayRef, ArrowError> {
        let results = rows.iter_mut().map(|row| row.as_mut().and_then(|row| row.result.take()));
        let first = match &self.shape {
            Some(shape) => {
                let cells = results.map(|result| match result {
                    Some(Value::Cell(cell)) => cell,
                    _ => Cell::Null,
                });
                cell::array(shape, cells.collect())?
            }
            None => {
                let texts = results.map(|result| match result {
                    Some(Value::Text(text)) => Some(text),
                    _ => None,
                });
                let texts: Vec<Option<String>> = texts.collect();
                let bytes = texts.iter().flatten().map(String::len).sum();
                if self.width == Width::Small && i32::try_from(bytes).is_err() {
                    return Err(ArrowError::OffsetOverflowError(bytes));
                }
                match self.width {
                    Width::Small => Arc::new(StringArray::from_iter(texts)) as ArrayRef,
                    Width::Large => Arc::new(LargeStringArray::from_iter(texts)),
                    Width::View => Arc::new(StringViewArray::from_iter(texts)),
                }
            }
        };
        let nulls = NullBuffer::from_iter(rows.iter().map(Option::is_some));
        let words = |word: fn(&Row) -> Option<&str>| -> ArrayRef {
            Arc::new(StringArray::from_iter(rows.iter().map(|row| row.as_ref().and_then(word))))
        };
        let mut columns = vec![
            first,
            words(|row| Some(row.outcome.code())),
            words(|row| row.risk.map(Risk::code)),
            words(|row| row.message.as_deref()),
            kinds(&rows, &nulls)?,
        ];
        if self.edits {
            columns.push(edits(&rows, &nulls)?);
        }
        Ok(Arc::new(StructArray::try_new(self.fields(), columns, Some(nulls))?))
    }

    /// So many nulls.
    pub(crate) fn nulls(&self, rows: usize) -> Result<ArrayRef, ArrowError> {
        self.column(repeat_n((), rows).map(|()| None).collect())
    }
}

pub(crate) fn item(fields: Fields) -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(fields), true))
}

pub(crate) fn kind_fields() -> Fields {
    Fields::from(vec![
        Field::new("kind", DataType::Utf8, true),
        Field::new("risk", DataType::Utf8, true),
        Field::new("count", DataType::Int32, true),
    ])
}

fn edit_fields() -> Fields {
    Fields::from(vec![
        Field::new("kind", DataType::Utf8, true),
        Field::new("risk", DataType::Utf8, true),
        Field::new("start", DataType::Int64, true),
        Field::new("end", DataType::Int64, true),
        Field::new("after", DataType::Utf8, true),
        Field::new("path", DataType::Utf8, true),
    ])
}

/// A list of structs for each row.
fn lists(
    lengths: impl IntoIterator<Item = usize>,
    fields: Fields,
    columns: Vec<ArrayRef>,
    nulls: &NullBuffer,
) -> Result<ArrayRef, ArrowError> {
    let items = Arc::new(StructArray::try_new(fields.clone(), columns, None)?);
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(item(fields), offsets, items, Some(nulls.clone()))?))
}

fn kinds(rows: &[Option<Row>], nulls: &NullBuffer) -> Result<ArrayRef, ArrowError> {
    let all: Vec<_> = rows.iter().flatten().flat_map(|row| &row.kinds).collect();
    let all = || all.iter();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(all().map(|(code, ..)| code))),
        Arc::new(StringArray::from_iter_values(all().map(|(_, risk, _)| risk.code()))),
        Arc::new(Int32Array::from_iter_values(all().map(|(.., count)| *count))),
    ];
    let lengths = rows.iter().map(|row| row.as_ref().map_or(0, |row| row.kinds.len()));
    lists(lengths, kind_fields(), columns, nulls)
}

fn edits(rows: &[Option<Row>], nulls: &NullBuffer) -> Result<ArrayRef, ArrowError> {
    let all: Vec<_> = rows.iter().flatten().flat_map(|row| &row.edits).collect();
    let all = || all.iter();
    let place = |place: usize| i64::try_from(place).unwrap_or(i64::MAX);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(all().map(|edit| edit.kind))),
        Arc::new(StringArray::from_iter_values(all().map(|edit| edit.risk.code()))),
        Arc::new(Int64Array::from_iter_values(all().map(|edit| place(edit.start)))),
        Arc::new(Int64Array::from_iter_values(all().map(|edit| place(edit.end)))),
        Arc::new(StringArray::from_iter_values(all().map(|edit| &edit.after))),
        Arc::new(StringArray::from_iter_values(all().map(|edit| &edit.path))),
    ];
    let lengths = rows.iter().map(|row| row.as_ref().map_or(0, |row| row.edits.len()));
    lists(lengths, edit_fields(), columns, nulls)
}
