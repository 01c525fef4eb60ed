//! Reads a text as a Rust type.

use std::{error::Error, fmt};

use serde::de::DeserializeOwned;
use wiremend_core::Outcome;

use crate::{FitOptions, Fitted, Rendering, Schema, SchemaError};

/// Why a text could not be read as a Rust type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParseAsError {
    /// The text was cut off inside the value. The part that arrived may still fit the schema. In
    /// that case it is [`Fitted::text`], and [`Schema::parse_incomplete_as`] reads it.
    Cut(Box<Fitted>),
    /// The schema of the type does not compile.
    Schema(SchemaError),
    /// The value fits the schema, but not the type.
    #[non_exhaustive]
    Type {
        /// The path to the problem as serde writes it, such as `items[2].price`. `.` is the whole
        /// value.
        path: String,
        /// The error message of serde.
        message: String,
        /// The fitted value.
        fitted: Box<Fitted>,
    },
    /// The text contains no value that fits the schema. [`Fitted::issues`] says why.
    Unfit(Box<Fitted>),
}

impl ParseAsError {
    /// The result of fitting the text, if it was fitted.
    #[must_use]
    pub fn fitted(&self) -> Option<&Fitted> {
        match self {
            Self::Schema(_) => None,
            Self::Cut(fitted) | Self::Type { fitted, .. } | Self::Unfit(fitted) => Some(fitted),
        }
    }
}

impl fmt::Display for ParseAsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut(fitted) => match fitted.cut_at() {
                Some(path) => write!(f, "the text was cut off inside the value, at {path}"),
                None => f.write_str("the text was cut off inside the value"),
            },
            Self::Schema(error) => error.fmt(f),
            Self::Type { path, message, .. } => write!(f, "{path}: {message}"),
            Self::Unfit(fitted) if fitted.issues().is_empty() => {
                write!(f, "no value that fits the schema: {}", fitted.outcome())
            }
            Self::Unfit(fitted) => {
                write!(
                    f,
                    "the value does not fit the schema:\n{}",
                    Rendering::new().for_model(fitted.issues())
                )
            }
        }
    }
}

// The message of a schema error is included above, so the error is not also a source.
impl Error for ParseAsError {}

impl Schema {
    /// [Fits](Schema::fit) a text to the schema and reads it as a `T`, which should be the type
    /// that the schema describes. Returns the value and the result of fitting.
    ///
    /// A text that was cut off is an error, even if the part that arrived fits the schema.
    ///
    /// ```
    /// use wiremend_schema::{FitOptions, ParseAsError, Schema};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Order { count: u8 }
    ///
    /// let schema = Schema::from_text(
    ///     r#"{"properties": {"count": {"type": "integer"}}, "required": ["count"]}"#,
    /// )?;
    /// let (order, fitted) = schema.parse_as::<Order>(b"{count: '4'}", &FitOptions::new())?;
    /// assert_eq!((order.count, fitted.text()), (4, Some(r#"{"count": 4}"#)));
    ///
    /// let error = schema.parse_as::<Order>(b"{\"count\": 400}", &FitOptions::new()).err().unwrap();
    /// assert!(error.to_string().starts_with("count: invalid value: integer `400`"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ParseAsError::Cut`] if the text was cut off, [`ParseAsError::Unfit`] if it cannot be made
    /// to fit, and [`ParseAsError::Type`] if serde rejects the value.
    pub fn parse_as<T: DeserializeOwned>(
        &self,
        input: &[u8],
        options: &FitOptions,
    ) -> Result<(T, Fitted), ParseAsError> {
        let fitted = self.fit(input, options);
        if is_cut(&fitted) { Err(ParseAsError::Cut(Box::new(fitted))) } else { read(fitted) }
    }

    /// Like [`Schema::parse_as`], but also reads the part that arrived of a text that was cut off,
    /// if that part fits. [`Fitted::cut_at`] says where it ends. Use it to display a value, not to
    /// act on it.
    ///
    /// ```
    /// use wiremend_schema::{FitOptions, ParseAsError, Schema};
    ///
    /// let schema = Schema::from_text(r#"{"type": "array", "items": {"type": "string"}}"#)?;
    /// let (text, options) = (br#"["one", "tw"#, FitOptions::new());
    /// let error = schema.parse_as::<Vec<String>>(text, &options).unwrap_err();
    /// assert!(matches!(error, ParseAsError::Cut(_)));
    /// let (items, fitted) = schema.parse_incomplete_as::<Vec<String>>(text, &options)?;
    /// assert_eq!(items, ["one", "tw"]);
    /// assert_eq!(fitted.cut_at().unwrap().to_string(), "$[1]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Schema::parse_as`], except that [`ParseAsError::Cut`] is returned only if the
    /// part that arrived does not fit.
    pub fn parse_incomplete_as<T: DeserializeOwned>(
        &self,
        input: &[u8],
        options: &FitOptions,
    ) -> Result<(T, Fitted), ParseAsError> {
        let fitted = self.fit(input, options);
        match fitted.text() {
            None if is_cut(&fitted) => Err(ParseAsError::Cut(Box::new(fitted))),
            _ => read(fitted),
        }
    }
}

fn is_cut(fitted: &Fitted) -> bool {
    fitted.cut_at().is_some() || matches!(fitted.outcome(), Outcome::Closed | Outcome::Cut)
}

fn read<T: DeserializeOwned>(fitted: Fitted) -> Result<(T, Fitted), ParseAsError> {
    let Some(text) = fitted.text() else { return Err(ParseAsError::Unfit(Box::new(fitted))) };
    let mut reader = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize(&mut reader) {
        Ok(value) => Ok((value, fitted)),
        Err(error) => Err(ParseAsError::Type {
            path: error.path().to_string(),
            message: error.inner().to_string(),
            fitted: Box::new(fitted),
        }),
    }
}

/// Reads a text as a `T`, using the schema that `T` derives. To read more than one text, create the
/// schema once with [`Schema::of`], and call [`Schema::parse_as`].
///
/// ```
/// use wiremend_schema::{FitOptions, parse_as};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Trip { city: String, days: Option<u32> }
///
/// let (trip, _) = parse_as::<Trip>(b"{city: 'Oslo', days: '3'}", &FitOptions::new())?;
/// assert_eq!((trip.city.as_str(), trip.days), ("Oslo", Some(3)));
/// # Ok::<(), wiremend_schema::ParseAsError>(())
/// ```
///
/// # Errors
/// The same as [`Schema::parse_as`], and [`ParseAsError::Schema`] if the schema does not compile.
#[cfg(feature = "schemars")]
pub fn parse_as<T: DeserializeOwned + schemars::JsonSchema>(
    input: &[u8],
    options: &FitOptions,
) -> Result<(T, Fitted), ParseAsError> {
    Schema::of::<T>().map_err(ParseAsError::Schema)?.parse_as(input, options)
}

/// Like [`parse_as`], but also reads the part that arrived of a text that was cut off: see
/// [`Schema::parse_incomplete_as`].
///
/// # Errors
/// The same as [`Schema::parse_incomplete_as`], and [`ParseAsError::Schema`] if the schema does not
/// compile.
#[cfg(feature = "schemars")]
pub fn parse_incomplete_as<T: DeserializeOwned + schemars::JsonSchema>(
    input: &[u8],
    options: &FitOptions,
) -> Result<(T, Fitted), ParseAsError> {
    Schema::of::<T>().map_err(ParseAsError::Schema)?.parse_incomplete_as(input, options)
}

#[cfg(feature = "schemars")]
impl Schema {
    /// Compiles the schema that a Rust type derives.
    ///
    /// # Errors
    /// The same as [`Schema::compile`].
    pub fn of<T: schemars::JsonSchema>() -> Result<Self, SchemaError> {
        Self::compile(&schemars::schema_for!(T).to_value())
    }
}
