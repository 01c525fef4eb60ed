//! The calls of a stream and the schemas of their tools.

use std::sync::Arc;

use jsonmend_core::{Options, Outcome};
use jsonmend_extract::Scope;
use jsonmend_schema::{Fitted, Registry, Resolved};
use jsonmend_wire::{Call, CallKind, Guides};
use serde::Serialize;

use super::{Fitting, Target, changes, registry, told, tools};
use crate::{
    args::{RuleArgs, StreamArgs},
    exit::Failure,
    report::Record,
};

/// The tools that calls may name.
#[derive(Debug)]
pub(crate) struct CallSchemas {
    registry: Arc<Registry>,
    switches: RuleArgs,
    engine: Options,
}

impl CallSchemas {
    /// What the command line names; `None` if it names no tools.
    pub(crate) fn of_args(args: &StreamArgs, engine: Options) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.tools else { return Ok(None) };
        let registry = registry(path)?.map_err(Failure::Usage)?;
        Ok(Some(Self { registry: Arc::new(registry), switches: args.rules.clone(), engine }))
    }

    /// What a request brings along.
    pub(crate) fn of_tools(text: &str, engine: Options) -> Result<Self, String> {
        let registry = Arc::new(tools(text)?);
        Ok(Self { registry, switches: RuleArgs::default(), engine })
    }

    /// The schemas settle what the bytes of the arguments leave open.
    pub(crate) fn guides(&self) -> Guides {
        let registry = Arc::clone(&self.registry);
        Guides::new(move |name| match registry.resolve(Some(name), None) {
            Resolved::Tool { schema, .. } => Some(schema.guide()),
            _ => None,
        })
    }

    /// Brings the arguments of a call that has ended into the schema of its tool. They are read from
    /// what the model wrote, so that the changes are one script. `None` for what no schema describes:
    /// free text, and a tool of the provider's own that the registry does not name.
    pub(crate) fn fit(&self, call: &Call) -> Option<CallFit> {
        if call.kind() == CallKind::Custom {
            return None;
        }
        let (target, nearest) = match self.registry.resolve(Some(call.name()), None) {
            Resolved::Tool { name, schema, rules, .. } => {
                (Some(Target::of_tool(name, schema, rules).switched(&self.switches)), None)
            }
            Resolved::Unknown { .. } if call.kind() == CallKind::Server => return None,
            Resolved::Unknown { nearest, .. } => (None, nearest.map(str::to_owned)),
            _ => (None, None),
        };
        // A call without arguments has none; the schema says whether it needs some.
        let blank = call.raw().trim().is_empty();
        let raw = if blank { "{}" } else { call.raw() };
        let fitted = target
            .map(|target| (target.fit(raw.as_bytes(), self.engine.clone(), Scope::Whole), target));
        // What looks whole by itself may still be what a stream left when it broke off.
        let cut = match call.outcome() {
            Outcome::None if blank => Some(Outcome::Cut),
            outcome @ (Outcome::Cut | Outcome::Overflow | Outcome::Abandoned) => Some(outcome),
            _ => None,
        };
        Some(CallFit { call: call.number(), cut, fitted, nearest })
    }
}

/// What became of the arguments of a call.
#[derive(Debug)]
pub(crate) struct CallFit {
    call: usize,
    /// The call broke off, or was too long: whatever its text looks like, it is not whole.
    cut: Option<Outcome>,
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
        let fitted = self.fitted.as_ref().map_or(Outcome::Invalid, |(fitted, _)| fitted.outcome());
        self.cut.filter(|_| fitted.is_valid()).unwrap_or(fitted)
    }

    /// The arguments, valid for the schema.
    pub(crate) fn arguments(&self) -> Option<&str> {
        self.whole().and_then(|(fitted, _)| fitted.text())
    }

    /// What the schema made of arguments that did not break off.
    fn whole(&self) -> Option<&(Fitted, Target)> {
        self.fitted.as_ref().filter(|_| self.cut.is_none())
    }

    pub(crate) fn record(&self) -> CallFitRecord<'_> {
        let fitted = self.fitted.as_ref();
        let outcome = fitted.map_or("unknown-tool", |_| self.outcome().code());
        CallFitRecord {
            r#type: "call-fit",
            call: self.call,
            outcome,
            arguments: self.arguments(),
            nearest: self.nearest.as_deref(),
            repairs: self.whole().map(|(fitted, _)| changes(fitted.changes())).unwrap_or_default(),
            fit: fitted.map(|(fitted, target)| Fitting::new(target, fitted)),
        }
    }

    /// What a person is told, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        match &self.fitted {
            Some((fitted, _)) => told(fitted),
            None => {
                let nearest =
                    self.nearest.as_ref().map(|name| format!("; the nearest is `{name}`"));
                vec![format!("no such tool{}", nearest.unwrap_or_default())]
            }
        }
    }
}
