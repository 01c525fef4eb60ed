//! What stands on schemas: values and arguments that fit one, and what is wrong with them.

use wiremend::{
    response::fit_arguments,
    schema::{self, Cursor, FitOptions, Fitted, Rendering, Schema},
};
use wiremend_plain::{Unit, of_changes, scope};

use crate::{
    answer::Answer,
    calls::of_arguments,
    host::FEED,
    options::Options,
    texts::{Issue, Said, path},
};

impl Issue {
    pub(crate) fn of(issue: &schema::Issue) -> Self {
        Self {
            code: issue.code().code(),
            path: issue.path().to_string(),
            pointer: issue.pointer().to_owned(),
            expected: issue.expected().to_owned(),
            received: issue.received().raw().to_owned(),
            hint: issue.hint().map(str::to_owned),
            message: issue.to_string(),
        }
    }
}

pub(crate) fn fit(
    schema: &Schema,
    options: &Options,
    text: &[u8],
    to: &mut Answer,
) -> Result<(), String> {
    let mending = options.mending("permissive", "array")?;
    let scope = scope(options.scope.as_deref().unwrap_or("best"))?;
    let fitted = schema.fit(text, &FitOptions::new().with_mending(mending).with_scope(scope));
    to.json(&of_fitted(&fitted, Some((text, options.unit()))))?;
    to.push(fitted.text().unwrap_or_default().as_bytes());
    Ok(())
}

/// What there is to say about a value that was fitted. The text, if it is kept, and what its places count.
pub(crate) fn of_fitted<'a>(fitted: &Fitted, text: Option<(&[u8], Unit)>) -> Said<'a> {
    Said {
        outcome: fitted.outcome().code(),
        json: 2 * u8::from(fitted.text().is_some()),
        complete: fitted.outcome().is_complete(),
        risk: fitted.risk().map(wiremend::Risk::code),
        cut_at: path(fitted.cut_at()),
        repairs: of_changes(text, fitted.changes()),
        issues: fitted.issues().iter().map(Issue::of).collect(),
        rules: fitted.applied().iter().map(|applied| applied.rule().code()).collect(),
        for_model: (!fitted.issues().is_empty())
            .then(|| Rendering::new().with_lines(8).for_model(fitted.issues())),
        ..Said::default()
    }
}

pub(crate) fn arguments(
    schema: &Schema,
    options: &Options,
    text: &[u8],
    to: &mut Answer,
) -> Result<(), String> {
    let raw = String::from_utf8_lossy(text);
    let mending = FitOptions::new().with_mending(options.mending("conservative", "first")?);
    let fitted = fit_arguments(&raw, options.finish(), schema, &mending);
    let issues = fitted.fitted().map_or(&[][..], Fitted::issues);
    to.json(&Said {
        outcome: fitted.outcome().code(),
        issues: issues.iter().map(Issue::of).collect(),
        ..of_arguments(fitted.mended(), fitted.value(), options, text)
    })?;
    to.push(fitted.value().unwrap_or_default().as_bytes());
    Ok(())
}

/// The arguments of a call, while they arrive.
pub(crate) struct Arriving {
    mender: wiremend::Mender,
    cursor: Cursor,
}

impl Arriving {
    pub(crate) fn new(schema: &Schema, options: &Options) -> Result<Self, String> {
        let mending = options.mending("conservative", "first")?;
        let cursor = Cursor::new(schema, &FitOptions::new().with_mending(mending.clone()));
        Ok(Self { mender: wiremend::Mender::new(mending), cursor })
    }

    /// Reads more of them, and answers whether all so far stays as it came.
    pub(crate) fn run(
        &mut self,
        operation: u32,
        text: &[u8],
        to: &mut Answer,
    ) -> Result<(), String> {
        if operation != FEED {
            return Err("arguments that arrive cannot do that".to_owned());
        }
        let Self { mender, cursor } = self;
        mender.push(text, cursor);
        let is_valid = mender.withheld() == 0 && mender.repair_count() == 0;
        to.json(&(is_valid && cursor.is_as_written()))
    }
}
