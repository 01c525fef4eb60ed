//! A value as a `Deserializer`.

use alloc::string::{String, ToString as _};
use core::fmt;

use ::serde::{
    de::{
        DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer,
        MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor, value::BorrowedStrDeserializer,
    },
    forward_to_deserialize_any,
};

use crate::{JsonType, Value};

/// The deepest nesting that can be read, because reading is recursive, and so is dropping the
/// result. This is also the limit of `serde_json`.
const MAX_DEPTH: usize = 127;

/// Why a [`Value`] could not be converted to a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeserializeError {
    reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    Depth,
    Number(String),
    Other(String),
}

impl DeserializeError {
    const DEPTH: Self = Self { reason: Reason::Depth };

    /// Whether containers are nested more than 127 deep.
    #[must_use]
    pub const fn is_depth(&self) -> bool {
        matches!(self.reason, Reason::Depth)
    }

    /// Whether a number of the value is out of the range of the type.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        matches!(self.reason, Reason::Number(_))
    }
}

impl fmt::Display for DeserializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Depth => write!(f, "the value is deeper than {MAX_DEPTH} levels"),
            Reason::Number(number) => write!(f, "the number {number} is out of range"),
            Reason::Other(what) => f.write_str(what),
        }
    }
}

impl core::error::Error for DeserializeError {}

impl ::serde::de::Error for DeserializeError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self { reason: Reason::Other(what.to_string()) }
    }
}

type Result<T> = core::result::Result<T, DeserializeError>;

/// Everything open is read as if it were closed. Strings and keys are borrowed from the value.
/// Needs the feature `serde`.
///
/// ```
/// use wiremend_core::{Mender, MendOptions, Partial};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Trip<'a> {
///     city: &'a str,
///     days: Option<u32>,
/// }
///
/// let mut mender = Mender::new(MendOptions::new());
/// let mut partial = Partial::new();
/// mender.push(b"{'city': 'Par", &mut partial);
/// let trip = Trip::deserialize(partial.root().unwrap()).unwrap();
/// assert_eq!((trip.city, trip.days), ("Par", None));
/// ```
///
/// # Errors
/// A [`DeserializeError`] if the value has another type, a number is out of range, or containers
/// are nested more than 127 deep.
impl<'de> Deserializer<'de> for Value<'de> {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        Reader::new(self).deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        Reader::new(self).deserialize_option(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        Reader::new(self).deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        Reader::new(self).deserialize_enum(name, variants, visitor)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        Reader::new(self).deserialize_u128(visitor)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        Reader::new(self).deserialize_i128(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        Reader::new(self).deserialize_bytes(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        Reader::new(self).deserialize_bytes(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

impl<'de> IntoDeserializer<'de, DeserializeError> for Value<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// A value, and how many further levels may be nested in it.
#[derive(Clone, Copy)]
struct Reader<'de> {
    value: Value<'de>,
    left: usize,
}

impl<'de> Reader<'de> {
    const fn new(value: Value<'de>) -> Self {
        Self { value, left: MAX_DEPTH }
    }

    /// The children, with one level less.
    fn children(self) -> Result<Children<'de>> {
        let left = self.left.checked_sub(1).ok_or(DeserializeError::DEPTH)?;
        let next = self.value.first_child();
        Ok(Children { value: self.value, next, given: None, left, count: self.value.len() })
    }

    fn text(self) -> &'de str {
        self.value.as_str().unwrap_or_default()
    }

    fn number(self) -> &'de str {
        self.value.as_number().unwrap_or_default()
    }

    fn out_of_range(self) -> DeserializeError {
        DeserializeError { reason: Reason::Number(self.number().to_string()) }
    }

    fn unexpected(self, expected: &dyn Expected) -> DeserializeError {
        let found = match self.value.kind() {
            JsonType::Array => Unexpected::Seq,
            JsonType::Boolean => Unexpected::Bool(self.value.as_bool() == Some(true)),
            JsonType::Null => Unexpected::Unit,
            JsonType::Number => Unexpected::Other("number"),
            JsonType::Object => Unexpected::Map,
            JsonType::String => Unexpected::Str(self.text()),
        };
        DeserializeError::invalid_type(found, expected)
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value.kind() {
            JsonType::Array => {
                let mut items = self.children()?;
                let made = visitor.visit_seq(&mut items)?;
                items.ended(made, "fewer items")
            }
            JsonType::Boolean => visitor.visit_bool(self.value.as_bool() == Some(true)),
            JsonType::Null => visitor.visit_unit(),
            JsonType::Number => {
                let text = self.number();
                if let Ok(number) = text.parse() {
                    visitor.visit_u64(number)
                } else if let Ok(number) = text.parse() {
                    visitor.visit_i64(number)
                } else {
                    match text.parse::<f64>() {
                        Ok(number) if number.is_finite() => visitor.visit_f64(number),
                        _ => Err(self.out_of_range()),
                    }
                }
            }
            JsonType::Object => {
                let mut members = self.children()?;
                let made = visitor.visit_map(&mut members)?;
                members.ended(made, "fewer members")
            }
            JsonType::String => visitor.visit_borrowed_str(self.text()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value.kind() {
            JsonType::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.value.kind() {
            JsonType::String => visitor.visit_enum(BorrowedStrDeserializer::new(self.text())),
            JsonType::Object if self.value.len() == 1 => {
                let mut members = self.children()?;
                let member = members.advance();
                visitor.visit_enum(Variant(member.ok_or_else(|| self.unexpected(&"a variant"))?))
            }
            _ => Err(self.unexpected(&"a string, or an object with one member")),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.number().parse() {
            Ok(number) => visitor.visit_u128(number),
            Err(_) if self.value.kind() == JsonType::Number => Err(self.out_of_range()),
            Err(_) => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.number().parse() {
            Ok(number) => visitor.visit_i128(number),
            Err(_) if self.value.kind() == JsonType::Number => Err(self.out_of_range()),
            Err(_) => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value.kind() {
            JsonType::String => visitor.visit_borrowed_bytes(self.text().as_bytes()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    /// Skips the value, however deep it is.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// The items or members of a value.
struct Children<'de> {
    value: Value<'de>,
    next: Option<Value<'de>>,
    /// The member whose key was returned last.
    given: Option<Reader<'de>>,
    left: usize,
    /// How many are left.
    count: usize,
}

impl<'de> Children<'de> {
    fn advance(&mut self) -> Option<Reader<'de>> {
        let value = self.next?;
        self.next = value.sibling();
        self.count = self.count.saturating_sub(1);
        Some(Reader { value, left: self.left })
    }

    /// Returns what was made of them, if all of them were read.
    fn ended<T>(&self, made: T, expected: &str) -> Result<T> {
        if self.count == 0 {
            return Ok(made);
        }
        Err(DeserializeError::invalid_length(self.value.len(), &expected))
    }
}

impl<'de> SeqAccess<'de> for Children<'de> {
    type Error = DeserializeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        self.advance().map(|item| seed.deserialize(item)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.count)
    }
}

impl<'de> MapAccess<'de> for Children<'de> {
    type Error = DeserializeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        self.given = self.advance();
        let Some(member) = self.given else { return Ok(None) };
        seed.deserialize(Key(member.value.key().unwrap_or_default())).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let member = self.given.take();
        seed.deserialize(member.ok_or_else(|| DeserializeError::custom("a value without a key"))?)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.count)
    }
}

/// A key. If the type of the key is a number or a Boolean, it is parsed as one.
#[derive(Clone, Copy)]
struct Key<'de>(&'de str);

macro_rules! parsed_key {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.0.parse() {
                Ok(key) => visitor.$visit(key),
                Err(_) => visitor.visit_borrowed_str(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(self.0)
    }

    parsed_key! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8
        deserialize_i16 visit_i16
        deserialize_i32 visit_i32
        deserialize_i64 visit_i64
        deserialize_i128 visit_i128
        deserialize_u8 visit_u8
        deserialize_u16 visit_u16
        deserialize_u32 visit_u32
        deserialize_u64 visit_u64
        deserialize_u128 visit_u128
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// The member of an object that names a variant and contains its fields.
struct Variant<'de>(Reader<'de>);

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DeserializeError;
    type Variant = Reader<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Reader<'de>)> {
        let name = Key(self.0.value.key().unwrap_or_default());
        Ok((seed.deserialize(name)?, self.0))
    }
}

impl<'de> VariantAccess<'de> for Reader<'de> {
    type Error = DeserializeError;

    fn unit_variant(self) -> Result<()> {
        match self.value.kind() {
            JsonType::Null => Ok(()),
            _ => Err(self.unexpected(&"null")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        match self.value.kind() {
            JsonType::Array => self.deserialize_any(visitor),
            _ => Err(self.unexpected(&"the fields of a variant")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.value.kind() {
            JsonType::Array | JsonType::Object => self.deserialize_any(visitor),
            _ => Err(self.unexpected(&"the fields of a variant")),
        }
    }
}
