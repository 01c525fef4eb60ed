//! The calls of a stream and the schemas of their tools.

use std::path::Path;

use jsonmend_core::{Options, Outcome};
use jsonmend_extract::Scope;
use jsonmend_schema::{Fitted, Registry, Rendering, Resolved};
use jsonmend_wire::Call;
use serde::Serialize;

use super::{Fitting, Target, changes, registry};
use crate::{exit::Failure, report::Record};

/// The tools that calls may name.
#[derive(Debug)]
pub(crate) struct CallSchemas {
    registry: Registry,
    engine: Options,
}

impl CallSchemas {
    pub(crate) fn read(path: &Path, engine: Options) -> Result<Self, Failure> {
        let registry = registry(path)?.map_err(Failure::Usage)?;
        Ok(Self { registry, engine })
    }

    /// Brings the arguments of a call that has ended into the schema of its tool. They are read from
    /// what the model wrote, so that the changes are one script.
    pub(crate) fn fit(&self, call: &Call) -> CallFit {
        let (target, nearest) = match self.registry.resolve(Some(call.name()), None) {
            Resolved::Tool { name, schema, rules } => {
                (Some(Target::of_tool(name, schema, rules)), None)
            }
            Resolved::Unknown { nearest } => (None, nearest.map(str::to_owned)),
            _ => (None, None),
        };
        // A call without arguments has none; the schema says whether it needs some.
        let raw = if call.raw().trim().is_empty() { "{}" } else { call.raw() };
        let fitted = target
            .map(|target| (target.fit(raw.as_bytes(), self.engine.clone(), Scope::Whole), target));
        CallFit { call: call.number(), fitted, nearest }
    }
}

/// What became of the arguments of a call.
#[derive(Debug)]
pub(crate) struct CallFit {
    call: usize,
    /// `None` if no tool has that name.
    fitted: Option<(Fitted, Target)>,
    nearest: Option<String>,
}

/// The same as a machine reads it.
#[derive(Debug, Serialize)]
pub(crate) struct CallFitRecord<'a> {
    r#type: &'static str,
    call: usize,
    outcome: &'static str,
    /// Valid for the schema.
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<&'a str>,
    repairs: Vec<Record>,
    #[serde(flatten)]
    fit: Option<Fitting>,
}

impl CallFit {
    /// An unknown tool is refused.
    pub(crate) fn outcome(&self) -> Outcome {
        self.fitted.as_ref().map_or(Outcome::Invalid, |(fitted, _)| fitted.outcome())
    }

    /// The arguments, valid for the schema.
    pub(crate) fn arguments(&self) -> Option<&str> {
        self.fitted.as_ref().and_then(|(fitted, _)| fitted.text())
    }

    pub(crate) fn record(&self) -> CallFitRecord<'_> {
        let fitted = self.fitted.as_ref();
        CallFitRecord {
            r#type: "call-fit",
            call: self.call,
            outcome: fitted.map_or("unknown-tool", |(fitted, _)| fitted.outcome().code()),
            arguments: self.arguments(),
            nearest: self.nearest.as_deref(),
            repairs: fitted.map(|(fitted, _)| changes(fitted.changes())).unwrap_or_default(),
            fit: fitted.map(|(fitted, target)| Fitting::new(target, fitted)),
        }
    }

    /// What a person is told, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Some((fitted, _)) = &self.fitted else {
            let nearest = self.nearest.as_ref().map(|name| format!("; the nearest is `{name}`"));
            return vec![format!("no such tool{}", nearest.unwrap_or_default())];
        };
        let applied = fitted.applied().iter().filter(|_| fitted.text().is_some());
        let rule = |applied: &jsonmend_schema::Applied| {
            format!("{} ({}) at {}", applied.rule, applied.risk, applied.path)
        };
        let issues = fitted.issues().iter().map(|issue| Rendering::new().line(issue));
        applied.map(rule).chain(issues).collect()
    }
}
