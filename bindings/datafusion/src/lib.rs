//! A function for DataFusion that mends a column of JSON that language models wrote.
//!
//! `mend_json(text)` takes strings or binary of any width, or a dictionary of these, and gives for each row a struct
//! `{json, outcome, risk, message, repairs}`; null for null. `docs/arrow.md` describes its fields.
//!
//! ```
//! use datafusion::{arrow::util::display::array_value_to_string, prelude::SessionContext};
//! use wiremend_datafusion::MendJson;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let context = SessionContext::new();
//! context.register_udf(MendJson::new().into());
//! let frame = context.sql("select get_field(mend_json('{city: Oslo}'), 'json') as json").await?;
//! let found = frame.collect().await?;
//! assert_eq!(array_value_to_string(found[0].column(0), 0)?, r#"{"city": "Oslo"}"#);
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use datafusion_common::{Result, ScalarValue, arrow::datatypes::DataType};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use wiremend::schema::{FitOptions, Schema};
use wiremend_arrow::ColumnMender;

/// The function `mend_json`, or one of another name for a schema.
///
/// It works on the thread that calls it: DataFusion has a partition for each core already.
#[derive(Clone, Debug)]
pub struct MendJson {
    name: String,
    signature: Signature,
    mender: Arc<ColumnMender>,
}

impl MendJson {
    /// `mend_json(text)`: the best JSON of each text, with every repair.
    #[must_use]
    pub fn new() -> Self {
        Self::of("mend_json", ColumnMender::new())
    }

    /// A function of this name that makes each value fit a schema. A text whose value cannot is `invalid`.
    ///
    /// ```
    /// use wiremend::schema::{FitOptions, Schema};
    /// use wiremend_datafusion::MendJson;
    ///
    /// let schema = serde_json::json!({"type": "object", "properties": {"days": {"type": "integer"}}});
    /// let function = MendJson::fitting("mend_trip", Schema::compile(&schema)?, FitOptions::new());
    /// # Ok::<(), wiremend::schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn fitting(name: &str, schema: Schema, options: FitOptions) -> Self {
        Self::of(name, ColumnMender::fitting(schema, options))
    }

    /// A function of this name that does what a mender of columns does.
    #[must_use]
    pub fn of(name: &str, mender: ColumnMender) -> Self {
        // Not `string`: that would cast binary to text, and fail where it is not UTF-8.
        let signature = Signature::any(1, Volatility::Immutable);
        Self { name: name.to_owned(), signature, mender: Arc::new(mender) }
    }
}

impl Default for MendJson {
    fn default() -> Self {
        Self::new()
    }
}

/// Menders cannot be compared, so that only copies are equal.
impl PartialEq for MendJson {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.mender, &other.mender)
    }
}

impl Eq for MendJson {}

impl Hash for MendJson {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        Arc::as_ptr(&self.mender).hash(state);
    }
}

impl ScalarUDFImpl for MendJson {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(self.mender.kind(arguments.first().unwrap_or(&DataType::Null))?)
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(match arguments.args.as_slice() {
            [ColumnarValue::Array(texts)] => ColumnarValue::Array(self.mender.mend(texts)?),
            [ColumnarValue::Scalar(text)] => {
                let mended = self.mender.mend(&text.to_array()?)?;
                ColumnarValue::Scalar(ScalarValue::try_from_array(&mended, 0)?)
            }
            others => {
                let count = others.len();
                return datafusion_common::plan_err!("{} takes one text, not {count}", self.name);
            }
        })
    }
}
