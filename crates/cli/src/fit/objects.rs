//! The documents in the text of a stream, and their schema.

use jsonmend_core::{Options, Outcome, TrailingDocuments};
use jsonmend_extract::Scope;
use jsonmend_schema::Fitted;
use jsonmend_wire::Block;
use serde::Serialize;

use super::{Fitting, Target, changes, run::summary, told};
use crate::{
    args::StreamArgs,
    exit::Failure,
    paint::Paint,
    report::{self, Record},
};

/// The schema for the documents in the text.
#[derive(Debug)]
pub(crate) struct ObjectSchema {
    target: Target,
    engine: Options,
}

impl ObjectSchema {
    /// The schema from the command line, if there is one.
    pub(crate) fn of_args(args: &StreamArgs, engine: Options) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.schema else { return Ok(None) };
        let target = Target::of_file(path, args.name.as_deref(), &args.rules)?;
        Ok(Some(Self { target, engine }))
    }

    /// The schema of a batch request.
    pub(crate) fn of_schema(
        text: &str,
        name: Option<&str>,
        engine: Options,
    ) -> Result<Self, String> {
        Ok(Self { target: Target::of_schema(text, name)?, engine })
    }

    /// The maximum length of a document, in bytes.
    pub(crate) const fn limit(&self) -> usize {
        self.engine.limits().buffer()
    }

    /// Makes a document match the schema. `raw` is what the model wrote, so that all changes are one
    /// edit script; it is `None` if the document is longer than the limit.
    pub(crate) fn fit(&self, block: Block, start: usize, raw: Option<&[u8]>) -> ObjectFit<'_> {
        let fitted = raw.map(|raw| self.target.fit(raw, self.engine.clone(), Scope::Whole));
        ObjectFit { schema: self, block, start, fitted }
    }

    /// Makes a text without a document match the schema, by reading the text as a whole.
    pub(crate) fn fit_text(&self, block: Block, raw: Option<&[u8]>) -> ObjectFit<'_> {
        let engine = self.engine.clone().with_trailing_documents(TrailingDocuments::Array);
        let fitted = raw.map(|raw| self.target.fit(raw, engine, Scope::Best));
        ObjectFit { schema: self, block, start: 0, fitted }
    }
}

/// How a document matches the schema.
#[derive(Debug)]
pub(crate) struct ObjectFit<'s> {
    schema: &'s ObjectSchema,
    block: Block,
    /// Where it begins in its text.
    start: usize,
    /// `None` if it was too long to be kept.
    fitted: Option<Fitted>,
}

/// The JSON output for it. Offsets count from the start of the text.
#[derive(Debug, Serialize)]
pub(crate) struct ObjectFitRecord<'a> {
    r#type: &'static str,
    choice: u32,
    block: u32,
    part: u32,
    start: usize,
    /// The value, if it matches the schema.
    json: Option<&'a str>,
    outcome: &'static str,
    repairs: Vec<Record>,
    #[serde(flatten)]
    fit: Option<Fitting>,
}

impl ObjectFit<'_> {
    pub(crate) fn outcome(&self) -> Outcome {
        self.fitted.as_ref().map_or(Outcome::Overflow, Fitted::outcome)
    }

    /// The text it is in, and where it begins there.
    pub(crate) const fn place(&self) -> (Block, usize) {
        (self.block, self.start)
    }

    /// The value, if it matches the schema.
    pub(crate) fn json(&self) -> Option<&str> {
        self.fitted.as_ref().and_then(Fitted::text)
    }

    pub(crate) fn record(&self) -> ObjectFitRecord<'_> {
        let fitted = self.fitted.as_ref();
        let repairs = fitted.map(|fitted| changes(fitted.changes())).unwrap_or_default();
        let fit = fitted.map(|fitted| Fitting::new(&self.schema.target, fitted));
        ObjectFitRecord {
            r#type: "object-fit",
            choice: self.block.choice,
            block: self.block.block,
            part: self.block.part,
            start: self.start,
            json: self.json(),
            outcome: self.outcome().code(),
            repairs: repairs.into_iter().map(|record| record.shifted(self.start)).collect(),
            fit: fit.map(|fit| fit.shifted(self.start)),
        }
    }

    /// `repaired (2 changes, 1 rule, highest risk likely)`.
    pub(crate) fn summary(&self, paint: Paint) -> String {
        let outcome = || report::outcome(paint, self.outcome());
        self.fitted.as_ref().map_or_else(outcome, |fitted| summary(fitted, paint))
    }

    /// One line for each applied rule or issue.
    pub(crate) fn lines(&self) -> Vec<String> {
        let too_long = || vec![format!("longer than {} bytes (--buffer)", self.schema.limit())];
        self.fitted.as_ref().map_or_else(too_long, told)
    }
}
