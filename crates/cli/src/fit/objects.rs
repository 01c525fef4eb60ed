//! The documents in the text of a stream, and the schema they are for.

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
    /// What the command line names; `None` if it names no schema.
    pub(crate) fn of_args(args: &StreamArgs, engine: Options) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.schema else { return Ok(None) };
        let target = Target::of_file(path, args.name.as_deref(), &args.rules)?;
        Ok(Some(Self { target, engine }))
    }

    /// What a request brings along.
    pub(crate) fn of_schema(
        text: &str,
        name: Option<&str>,
        engine: Options,
    ) -> Result<Self, String> {
        Ok(Self { target: Target::of_schema(text, name)?, engine })
    }

    /// How many bytes of text are kept for a document.
    pub(crate) const fn limit(&self) -> usize {
        self.engine.limits().buffer()
    }

    /// Brings a document into the schema. It is read from what the model wrote, so that the changes
    /// are one script; `None` stands for a document that was longer than the limit.
    pub(crate) fn fit(&self, block: Block, start: usize, raw: Option<&[u8]>) -> ObjectFit<'_> {
        let fitted = raw.map(|raw| self.target.fit(raw, self.engine.clone(), Scope::Whole));
        ObjectFit { schema: self, block, start, fitted }
    }

    /// Brings a text in which no document was found into the schema: what is left are readings of the
    /// text as a whole.
    pub(crate) fn fit_text(&self, block: Block, raw: Option<&[u8]>) -> ObjectFit<'_> {
        let engine = self.engine.clone().with_trailing_documents(TrailingDocuments::Array);
        let fitted = raw.map(|raw| self.target.fit(raw, engine, Scope::Best));
        ObjectFit { schema: self, block, start: 0, fitted }
    }
}

/// What became of a document.
#[derive(Debug)]
pub(crate) struct ObjectFit<'s> {
    schema: &'s ObjectSchema,
    block: Block,
    /// Its first byte in its text.
    start: usize,
    /// `None` if it was too long to be kept.
    fitted: Option<Fitted>,
}

/// The same as a machine reads it. Places count from the start of the text.
#[derive(Debug, Serialize)]
pub(crate) struct ObjectFitRecord<'a> {
    r#type: &'static str,
    choice: u32,
    block: u32,
    part: u32,
    start: usize,
    /// Valid for the schema.
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

    /// The text it stands in, and its first byte there.
    pub(crate) const fn place(&self) -> (Block, usize) {
        (self.block, self.start)
    }

    /// The value, valid for the schema.
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

    /// What a person is told, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let too_long = || vec![format!("longer than {} bytes (--buffer)", self.schema.limit())];
        self.fitted.as_ref().map_or_else(too_long, told)
    }
}
