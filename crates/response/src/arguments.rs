//! The arguments of one call and the schema of its tool, for callers that already have the whole text.

use wiremend_extract::Scope;
use wiremend_schema::{FitOptions, Fitted, Schema};
use wiremend_wire::{ArgumentsOutcome, FinishReason, MendedArguments};

/// The arguments of a call, repaired and fitted to a schema. Returned by [`fit_arguments`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedArguments {
    mended: MendedArguments,
    fitted: Option<Fitted>,
}

impl FittedArguments {
    /// The arguments as JSON text that is valid for the schema, if the call may be run with them.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        let fitted = self.fitted.as_ref().filter(|fitted| fitted.outcome().is_complete())?;
        fitted.text()
    }

    /// The outcome. Arguments that do not fit the schema are refused.
    #[must_use]
    pub fn outcome(&self) -> ArgumentsOutcome {
        match &self.fitted {
            None => self.mended.outcome(),
            Some(fitted) if fitted.text().is_some() => fitted.outcome().into(),
            Some(_) => ArgumentsOutcome::Refused,
        }
    }

    /// Reads the arguments as a `T`, if they are complete and fit the schema.
    ///
    /// # Errors
    /// [`ParseError::Incomplete`](wiremend_wire::ParseError::Incomplete) if the call may not be run with
    /// them, [`ParseError::Type`](wiremend_wire::ParseError::Type) if they are of another type.
    #[cfg(feature = "serde_json")]
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, wiremend_wire::ParseError> {
        let outcome = self.fitted.as_ref().map_or(wiremend_core::Outcome::Cut, Fitted::outcome);
        wiremend_wire::ParseError::check(self.value(), outcome, self.mended.doubt())
    }

    /// The result of the repair alone, without the schema.
    #[must_use]
    pub const fn mended(&self) -> &MendedArguments {
        &self.mended
    }

    /// The result of fitting: the changes, or what is wrong. `None` if the arguments were cut off.
    #[must_use]
    pub const fn fitted(&self) -> Option<&Fitted> {
        self.fitted.as_ref()
    }
}

/// Repairs the arguments of one tool call and fits them to the schema of the tool; see
/// [`mend_arguments`](wiremend_wire::mend_arguments).
///
/// The policy of `options` applies to the repairs and to the rules. Its scope is set to the whole text.
/// Set the [name](FitOptions::with_name) of the tool, and
/// [`Policy::CONSERVATIVE`](wiremend_core::Policy::CONSERVATIVE) for calls with side effects.
///
/// ```
/// use wiremend_core::{MendOptions, Policy};
/// use wiremend_response::fit_arguments;
/// use wiremend_schema::{FitOptions, Schema};
/// use wiremend_wire::{ArgumentsOutcome, FinishReason};
///
/// let schema = Schema::from_text(r#"{"properties": {"days": {"type": "integer"}}, "required": ["days"]}"#)?;
/// let options = FitOptions::new().with_mending(MendOptions::new().with_policy(Policy::CONSERVATIVE));
/// let fit = |raw, finish| fit_arguments(raw, finish, &schema, &options);
///
/// assert_eq!(fit("{'days': '3'}", FinishReason::ToolCalls).value(), Some("{\"days\": 3}"));
/// let wrong = fit("{'days': 'a few'}", FinishReason::ToolCalls);
/// assert_eq!(wrong.outcome(), ArgumentsOutcome::Refused);
/// assert_eq!(wrong.fitted().unwrap().issues().len(), 1);
/// assert_eq!(fit("{'days': 3", FinishReason::Length).outcome(), ArgumentsOutcome::Cut);
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[must_use]
pub fn fit_arguments(
    raw: &str,
    finish: FinishReason,
    schema: &Schema,
    options: &FitOptions,
) -> FittedArguments {
    let engine = options.mending().clone();
    let guided = engine.with_guide(schema.guide());
    let mended = MendedArguments::new(raw, finish, &guided);
    let fitted = (mended.outcome() != ArgumentsOutcome::Cut)
        .then(|| schema.fit(mended.raw().as_bytes(), &options.clone().with_scope(Scope::Whole)));
    FittedArguments { mended, fitted }
}
