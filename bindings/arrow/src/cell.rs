//! Values as cells of typed columns.

use std::{cell::RefCell, collections::HashMap, fmt, sync::Arc};

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, MapArray, StringArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::shape::{Members, Shape};

/// A value of a known shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Cell {
    #[default]
    Null,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    List(Vec<Cell>),
    Map(Vec<(String, Cell)>),
    /// In the order of the members.
    Struct(Vec<Cell>),
}

impl Shape {
    /// The value of a text that fits the schema. The error says which part of it has no place.
    pub(crate) fn read(&self, json: &str) -> Result<Cell, String> {
        let fault = RefCell::new(None);
        let seed = Seed { shape: self, path: &Path::Root, fault: &fault };
        let mut reader = serde_json::Deserializer::from_str(json);
        let read = seed.deserialize(&mut reader).and_then(|cell| reader.end().map(|()| cell));
        read.map_err(|error| fault.take().unwrap_or_else(|| error.to_string()))
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "int64",
            Self::Number => "float64",
            Self::Text | Self::Json => "text",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Struct(_) => "struct",
        }
    }
}

/// Where a value is.
enum Path<'a> {
    Root,
    Member(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

/// As a JSON Pointer, as issues have it.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(path, name) => {
                write!(f, "{path}/{}", name.replace('~', "~0").replace('/', "~1"))
            }
            Self::Item(path, at) => write!(f, "{path}/{at}"),
        }
    }
}

/// Reads a value of a shape. It is as recursive as the shape is deep.
#[derive(Clone, Copy)]
struct Seed<'a> {
    shape: &'a Shape,
    path: &'a Path<'a>,
    fault: &'a RefCell<Option<String>>,
}

impl<'a> Seed<'a> {
    fn has_no_place<E: Error>(&self, value: impl fmt::Display) -> E {
        let path = self.path.to_string();
        let path = if path.is_empty() { "/" } else { &path };
        let message = format!("{path}: {value} has no place in a column of {}", self.shape.name());
        *self.fault.borrow_mut() = Some(message);
        E::custom("no place")
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Cell;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Cell, D::Error> {
        if !matches!(self.shape, Shape::Json | Shape::Integer | Shape::Number) {
            return from.deserialize_any(self);
        }
        // As it is written: numbers can be larger than what a visitor gets.
        let raw: &RawValue = serde::Deserialize::deserialize(from)?;
        let raw = raw.get();
        if raw == "null" {
            return Ok(Cell::Null);
        }
        let cell = match self.shape {
            Shape::Integer => integer(raw).map(Cell::Integer),
            Shape::Number => {
                raw.parse().ok().filter(|number: &f64| number.is_finite()).map(Cell::Number)
            }
            _ => Some(Cell::Text(raw.to_owned())),
        };
        cell.ok_or_else(|| self.has_no_place(raw))
    }
}

/// An integer, also one that is written as a fraction.
fn integer(raw: &str) -> Option<i64> {
    /// Each integer up to this is a number of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    raw.parse().ok().or_else(|| {
        let number: f64 = raw.parse().ok()?;
        #[allow(clippy::cast_possible_truncation, reason = "it is an integer")]
        (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
    })
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shape.name())
    }

    fn visit_unit<E: Error>(self) -> Result<Cell, E> {
        Ok(Cell::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Cell, E> {
        match self.shape {
            Shape::Boolean => Ok(Cell::Boolean(value)),
            _ => Err(self.has_no_place(value)),
        }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Cell, E> {
        Err(self.has_no_place(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Cell, E> {
        Err(self.has_no_place(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Cell, E> {
        Err(self.has_no_place(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Cell, E> {
        match self.shape {
            Shape::Text => Ok(Cell::Text(value.to_owned())),
            _ => Err(self.has_no_place("a string")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Cell, A::Error> {
        let Shape::List(shape) = self.shape else { return Err(self.has_no_place("a list")) };
        let mut cells = Vec::new();
        loop {
            let path = Path::Item(self.path, cells.len());
            match items.next_element_seed(Seed { shape, path: &path, fault: self.fault })? {
                Some(cell) => cells.push(cell),
                None => return Ok(Cell::List(cells)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Cell, A::Error> {
        match self.shape {
            Shape::Struct(known) => {
                let mut cells = vec![Cell::Null; known.list.len()];
                while let Some(name) = members.next_key::<String>()? {
                    let Some((at, shape)) = known.find(&name) else {
                        return Err(self.has_no_place(format_args!("the member {name:?}")));
                    };
                    let path = Path::Member(self.path, &name);
                    // Of a name that is there twice, the last value counts, as for most readers.
                    cells[at] =
                        members.next_value_seed(Seed { shape, path: &path, fault: self.fault })?;
                }
                Ok(Cell::Struct(cells))
            }
            Shape::Map(shape) => {
                let (mut entries, mut places) = (Vec::new(), HashMap::new());
                while let Some(name) = members.next_key::<String>()? {
                    let path = Path::Member(self.path, &name);
                    let cell =
                        members.next_value_seed(Seed { shape, path: &path, fault: self.fault })?;
                    let at = *places.entry(name.clone()).or_insert(entries.len());
                    if at == entries.len() {
                        entries.push((name, cell));
                    } else {
                        entries[at].1 = cell;
                    }
                }
                Ok(Cell::Map(entries))
            }
            _ => Err(self.has_no_place("an object")),
        }
    }
}

/// A column of cells of a shape.
pub(crate) fn array(shape: &Shape, cells: Vec<Cell>) -> Result<ArrayRef, ArrowError> {
    let valid = || NullBuffer::from_iter(cells.iter().map(|cell| *cell != Cell::Null));
    Ok(match shape {
        Shape::Boolean => Arc::new(BooleanArray::from_iter(cells.iter().map(|cell| match cell {
            Cell::Boolean(value) => Some(*value),
            _ => None,
        }))),
        Shape::Integer => Arc::new(Int64Array::from_iter(cells.iter().map(|cell| match cell {
            Cell::Integer(value) => Some(*value),
            _ => None,
        }))),
        Shape::Number => Arc::new(Float64Array::from_iter(cells.iter().map(|cell| match cell {
            Cell::Number(value) => Some(*value),
            _ => None,
        }))),
        Shape::Text | Shape::Json => {
            Arc::new(StringArray::from_iter(cells.iter().map(|cell| match cell {
                Cell::Text(value) => Some(value.as_str()),
                _ => None,
            })))
        }
        Shape::List(items) => {
            let nulls = valid();
            let lists: Vec<Vec<Cell>> = cells
                .into_iter()
                .map(|cell| match cell {
                    Cell::List(items) => items,
                    _ => Vec::new(),
                })
                .collect();
            let offsets = OffsetBuffer::from_lengths(lists.iter().map(Vec::len));
            let values = array(items, lists.into_iter().flatten().collect())?;
            let field = Arc::new(Field::new("item", items.kind(), true));
            Arc::new(ListArray::try_new(field, offsets, values, Some(nulls))?)
        }
        Shape::Map(shape) => {
            let nulls = valid();
            let maps: Vec<Vec<(String, Cell)>> = cells
                .into_iter()
                .map(|cell| match cell {
                    Cell::Map(entries) => entries,
                    _ => Vec::new(),
                })
                .collect();
            let offsets = OffsetBuffer::from_lengths(maps.iter().map(Vec::len));
            let (keys, values): (Vec<String>, Vec<Cell>) = maps.into_iter().flatten().unzip();
            let entries = Shape::entries(shape);
            let DataType::Struct(fields) = entries.data_type() else {
                return Err(ArrowError::SchemaError("a map has entries".to_owned()));
            };
            let columns =
                vec![Arc::new(StringArray::from_iter_values(keys)) as _, array(shape, values)?];
            let inner = StructArray::try_new(fields.clone(), columns, None)?;
            Arc::new(MapArray::try_new(entries, offsets, inner, Some(nulls), false)?)
        }
        Shape::Struct(members) => {
            let nulls = valid();
            Arc::new(structs(members, cells, nulls)?)
        }
    })
}

fn structs(
    members: &Members,
    cells: Vec<Cell>,
    nulls: NullBuffer,
) -> Result<StructArray, ArrowError> {
    let mut columns: Vec<Vec<Cell>> =
        members.list.iter().map(|_| Vec::with_capacity(cells.len())).collect();
    for cell in cells {
        let mut row = match cell {
            Cell::Struct(row) => row.into_iter(),
            _ => Vec::new().into_iter(),
        };
        for column in &mut columns {
            column.push(row.next().unwrap_or_default());
        }
    }
    let fields: Fields = members.fields();
    let arrays = members.list.iter().zip(columns).map(|((_, shape), cells)| array(shape, cells));
    StructArray::try_new(fields, arrays.collect::<Result<_, _>>()?, Some(nulls))
}
