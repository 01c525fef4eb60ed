//! How a response is read.

#[cfg(feature = "schema")]
use wiremend::schema::{FitOptions, Schema, SharedRegistry};
use wiremend::{
    MendOptions,
    calls::Dialect,
    response::{ResponseOptions, TextCalls},
    wire::{ApiFormat, WireOptions},
};

/// How a response is read: what each package takes under these names.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "they are the options of the packages, which describe them")]
pub struct Response<'a> {
    #[cfg(feature = "schema")]
    pub tools: Option<&'a SharedRegistry>,
    #[cfg(feature = "schema")]
    pub schema: Option<&'a Schema>,
    pub objects: Option<&'a str>,
    pub calls_in_text: bool,
    pub dialect: Option<&'a str>,
    pub format: Option<&'a str>,
    pub content_type: Option<&'a str>,
}

impl Response<'_> {
    /// The options, with how calls and how texts are mended.
    ///
    /// # Errors
    ///
    /// A word that names nothing.
    pub fn options(
        self,
        calls: MendOptions,
        texts: MendOptions,
    ) -> Result<ResponseOptions, String> {
        let mut wire = WireOptions::new().with_mending(calls);
        if let Some(content_type) = self.content_type {
            wire = wire.with_content_type(content_type);
        }
        if let Some(code) = self.format {
            wire = wire.with_format(ApiFormat::from_code(code).ok_or_else(|| {
                let known: Vec<_> = ApiFormat::ALL.iter().map(|format| format.code()).collect();
                format!("no format {code:?}; formats: {}", known.join(", "))
            })?);
        }
        let mut options = ResponseOptions::new().with_wire(wire).with_mending(texts.clone());
        #[cfg(feature = "schema")]
        if let Some(tools) = self.tools {
            options = options.with_tools(tools);
        }
        #[cfg(feature = "schema")]
        if let Some(schema) = self.schema {
            options = options.with_schema(schema, FitOptions::new().with_mending(texts));
        }
        if let Some(objects) = self.objects {
            options = options.with_objects(crate::scope(objects)?);
        }
        Ok(match self.dialect {
            Some(name) => options.with_calls_in_text(TextCalls::of_dialect(dialect(name)?.clone())),
            None if self.calls_in_text => options.with_calls_in_text(TextCalls::detected()),
            None => options,
        })
    }
}

/// The dialect of that name, or of the model of that name.
///
/// # Errors
///
/// A name that neither has.
pub fn dialect(name: &str) -> Result<&'static Dialect, String> {
    Dialect::by_name(name).or_else(|| Dialect::of_model(name)).ok_or_else(|| {
        let known: Vec<_> = Dialect::all().iter().map(Dialect::name).collect();
        format!("no dialect or model is called {name:?}; dialects: {}", known.join(", "))
    })
}
