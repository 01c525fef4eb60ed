//! The texts of a column.

use std::collections::HashMap;

use arrow_array::{
    Array, ArrayRef, GenericByteArray, GenericByteViewArray, UInt32Array,
    builder::UInt32Builder,
    cast::AsArray,
    types::{ByteArrayType, ByteViewType},
};
use arrow_schema::{ArrowError, DataType};

/// How texts are stored; the results are, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Small,
    Large,
    View,
}

impl Width {
    /// That of a column of texts. `None` if it is no such column.
    pub(crate) fn of(kind: &DataType) -> Option<Self> {
        Some(match kind {
            DataType::Utf8 | DataType::Binary | DataType::Null => Self::Small,
            DataType::LargeUtf8 | DataType::LargeBinary => Self::Large,
            DataType::Utf8View | DataType::BinaryView => Self::View,
            DataType::Dictionary(_, values) => return Self::of(values),
            _ => return None,
        })
    }

    pub(crate) const fn kind(self) -> DataType {
        match self {
            Self::Small => DataType::Utf8,
            Self::Large => DataType::LargeUtf8,
            Self::View => DataType::Utf8View,
        }
    }
}

/// Texts by row, without a copy.
pub(crate) trait Texts: Sync {
    fn len(&self) -> usize;

    /// `None` for null.
    fn get(&self, row: usize) -> Option<&[u8]>;
}

impl<T: ByteArrayType> Texts for GenericByteArray<T>
where
    T::Native: AsRef<[u8]>,
{
    fn len(&self) -> usize {
        Array::len(self)
    }

    fn get(&self, row: usize) -> Option<&[u8]> {
        self.is_valid(row).then(|| self.value(row).as_ref())
    }
}

impl<T: ByteViewType + ?Sized> Texts for GenericByteViewArray<T>
where
    T::Native: AsRef<[u8]>,
{
    fn len(&self) -> usize {
        Array::len(self)
    }

    fn get(&self, row: usize) -> Option<&[u8]> {
        self.is_valid(row).then(|| self.value(row).as_ref())
    }
}

/// So many nulls.
struct Nulls(usize);

impl Texts for Nulls {
    fn len(&self) -> usize {
        self.0
    }

    fn get(&self, _: usize) -> Option<&[u8]> {
        None
    }
}

/// Some rows of other texts.
struct Chosen<'a> {
    texts: Box<dyn Texts + 'a>,
    rows: &'a [usize],
}

impl Texts for Chosen<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, row: usize) -> Option<&[u8]> {
        self.texts.get(*self.rows.get(row)?)
    }
}

/// The texts of a chunk, each once, and which of them each row has.
pub(crate) struct Distinct {
    values: ArrayRef,
    used: Option<Vec<usize>>,
    /// `None` if each row has its own.
    pub(crate) rows: Option<UInt32Array>,
}

impl Distinct {
    /// Of a dictionary, only what its rows use is read, and each value once.
    pub(crate) fn of(chunk: &ArrayRef) -> Result<Self, ArrowError> {
        let Some(dictionary) = chunk.as_any_dictionary_opt() else {
            return Ok(Self { values: ArrayRef::clone(chunk), used: None, rows: None });
        };
        let values = dictionary.values();
        let (mut places, mut used) = (HashMap::new(), Vec::new());
        let mut rows = UInt32Builder::with_capacity(chunk.len());
        // Without values there are no keys that count, and `normalized_keys` does not allow it.
        let keys = match values.is_empty() {
            true => vec![0; chunk.len()],
            false => dictionary.normalized_keys(),
        };
        for (row, key) in keys.into_iter().enumerate() {
            if dictionary.keys().is_null(row) || values.is_null(key) {
                rows.append_null();
                continue;
            }
            let place = *places.entry(key).or_insert_with(|| {
                used.push(key);
                used.len() - 1
            });
            let place = u32::try_from(place).map_err(|_| {
                ArrowError::InvalidArgumentError("too many values in one chunk".to_owned())
            })?;
            rows.append_value(place);
        }
        Ok(Self { values: ArrayRef::clone(values), used: Some(used), rows: Some(rows.finish()) })
    }

    pub(crate) fn texts(&self) -> Result<Box<dyn Texts + '_>, ArrowError> {
        let texts = texts(&self.values)?;
        Ok(match &self.used {
            Some(rows) => Box::new(Chosen { texts, rows }),
            None => texts,
        })
    }
}

/// The texts of an array that is no dictionary.
pub(crate) fn texts(array: &ArrayRef) -> Result<Box<dyn Texts + '_>, ArrowError> {
    Ok(match array.data_type() {
        DataType::Utf8 => Box::new(array.as_string::<i32>().clone()),
        DataType::LargeUtf8 => Box::new(array.as_string::<i64>().clone()),
        DataType::Utf8View => Box::new(array.as_string_view().clone()),
        DataType::Binary => Box::new(array.as_binary::<i32>().clone()),
        DataType::LargeBinary => Box::new(array.as_binary::<i64>().clone()),
        DataType::BinaryView => Box::new(array.as_binary_view().clone()),
        DataType::Null => Box::new(Nulls(array.len())),
        other => return Err(no_texts(other)),
    })
}

pub(crate) fn no_texts(kind: &DataType) -> ArrowError {
    let table = match kind {
        DataType::Struct(_) => ": pass one column of a table",
        _ => "",
    };
    ArrowError::SchemaError(format!(
        "a column of strings or binary is needed, not of {kind}{table}"
    ))
}
