//! The schemas for the calls and the objects of a response, and the reports about them.

use serde::Serialize;
use serde_json::Value;
use wiremend_core::Outcome;
use wiremend_extract::Tools;
use wiremend_response::{CallFit, ObjectFit};
use wiremend_schema::{Registry, Resolved, Rules, SharedRegistry};
use wiremend_wire::{Block, Call, Doubt};

use super::{Fitting, changes, registry, remarks, run::summary, switched, tools};
use crate::{
    args::{RuleArgs, StreamArgs},
    exit::Failure,
    paint::Paint,
    report::{self, Record},
    visible::Shown,
};

/// The tools that the command line names, with its rule switches.
pub(crate) fn tools_of_args(args: &StreamArgs) -> Result<Option<SharedRegistry>, Failure> {
    let Some(path) = &args.tools else { return Ok(None) };
    let registry = registry(path)?.map_err(Failure::Usage)?;
    Ok(Some(SharedRegistry::new(with_switches(registry, &args.rules))))
}

/// The tools that a request brings along.
pub(crate) fn tools_of_text(text: &str) -> Result<SharedRegistry, String> {
    tools(text).map(SharedRegistry::new)
}

/// The tools that the calls in a text may name. A tool is known by its name even if its schema cannot
/// be used, as where a type has a name that JSON Schema does not know.
pub(crate) fn call_tools(text: &str) -> Result<Tools, String> {
    let error = match tools(text) {
        Ok(registry) => return Ok(registry.tools()),
        Err(error) => error,
    };
    let Ok(Value::Array(declared)) = serde_json::from_str(text) else { return Err(error) };
    Ok(declared.into_iter().fold(Tools::new(), |known, tool| {
        let alone = Value::Array(vec![tool]);
        if let Ok(registry) = Registry::from_tools(&alone) {
            return known.and(registry.tools());
        }
        let tool = alone.get(0).unwrap_or(&Value::Null);
        let tool = tool.get("function").unwrap_or(tool);
        let Some(name) = tool.get("name").and_then(Value::as_str) else { return known };
        let properties = tool.pointer("/parameters/properties").and_then(Value::as_object);
        let parameters = properties.into_iter().flatten().map(|(name, _)| name.as_str());
        known.with_tool(name, parameters, None)
    }))
}

fn with_switches(mut registry: Registry, args: &RuleArgs) -> Registry {
    let names: Vec<String> = registry.names().map(str::to_owned).collect();
    for name in names {
        let own: Rules = match registry.resolve(Some(&name), None) {
            Resolved::Tool { rules, .. } => rules.clone(),
            _ => continue,
        };
        registry = registry.with_rules(&name, switched(own, args));
    }
    registry
}

/// How the arguments of a call match the schema of its tool. `None` where there is nothing to check
/// them by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallReport<'f> {
    call: usize,
    fit: &'f CallFit,
}

/// The JSON output for it.
#[derive(Debug, Serialize)]
pub(crate) struct CallFitRecord<'a> {
    r#type: &'static str,
    call: usize,
    outcome: &'static str,
    /// The arguments, if they match the schema and the call is complete.
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<&'a str>,
    repairs: Vec<Record>,
    #[serde(flatten)]
    fit: Option<Fitting>,
}

impl<'f> CallReport<'f> {
    pub(crate) fn new(call: usize, fit: &'f CallFit) -> Option<Self> {
        (!matches!(fit, CallFit::Unchecked)).then_some(Self { call, fit })
    }

    /// An unknown tool is refused, and a call without an end is cut off.
    pub(crate) fn outcome(self) -> Outcome {
        match self.fit {
            CallFit::Fitted { fitted, .. } => fitted.outcome(),
            CallFit::Incomplete { outcome: Outcome::None, .. } => Outcome::Cut,
            CallFit::Incomplete { outcome, .. } => *outcome,
            _ => Outcome::Invalid,
        }
    }

    /// The arguments, if they match the schema and the call is complete.
    pub(crate) fn arguments(self) -> Option<&'f str> {
        self.fit.arguments()
    }

    pub(crate) fn record(self) -> CallFitRecord<'f> {
        let (outcome, nearest) = match self.fit {
            CallFit::Unknown { nearest, .. } => ("unknown-tool", nearest.as_deref()),
            _ => (self.outcome().code(), None),
        };
        let fitted = match self.fit {
            CallFit::Fitted { tool, fitted, .. } => Some((tool, fitted)),
            _ => None,
        };
        CallFitRecord {
            r#type: "call-fit",
            call: self.call,
            outcome,
            arguments: self.arguments(),
            nearest,
            repairs: fitted.map(|(_, fitted)| changes(fitted.changes())).unwrap_or_default(),
            fit: fitted.map(|(tool, fitted)| Fitting::new(Some(tool.clone()), fitted)),
        }
    }

    /// One line for each applied rule or issue.
    pub(crate) fn lines(self, call: &Call) -> Vec<String> {
        match self.fit {
            CallFit::Fitted { fitted, .. } => remarks(fitted),
            CallFit::Unknown { nearest, .. } => {
                let nearest = nearest.as_ref().map(|name| format!("; the nearest is `{name}`"));
                vec![format!("no such tool{}", nearest.unwrap_or_default())]
            }
            _ => call.doubt().map(|doubt| doubt.description().to_owned()).into_iter().collect(),
        }
    }
}

/// How an object, or a text, matches the schema for the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectReport<'f> {
    fit: &'f ObjectFit,
    schema_id: Option<&'f str>,
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
    /// Why the value may lack something.
    doubt: Option<&'static str>,
    repairs: Vec<Record>,
    #[serde(flatten)]
    fit: Option<Fitting>,
}

impl<'f> ObjectReport<'f> {
    pub(crate) const fn new(fit: &'f ObjectFit, schema_id: Option<&'f str>) -> Self {
        Self { fit, schema_id }
    }

    pub(crate) fn outcome(self) -> Outcome {
        self.fit.outcome()
    }

    /// The text it is in, and where it begins there.
    pub(crate) const fn place(self) -> (Block, usize) {
        (self.fit.block(), self.fit.offset())
    }

    /// The value, if it matches the schema.
    pub(crate) fn json(self) -> Option<&'f str> {
        self.fit.json()
    }

    pub(crate) fn record(self) -> ObjectFitRecord<'f> {
        let (block, start) = self.place();
        let fitted = self.fit.fitted();
        let repairs = fitted.map(|fitted| changes(fitted.changes())).unwrap_or_default();
        let fit = fitted.map(|fitted| Fitting::new(self.schema_id.map(str::to_owned), fitted));
        ObjectFitRecord {
            r#type: "object-fit",
            choice: block.choice(),
            block: block.block(),
            part: block.part(),
            start,
            json: self.json(),
            outcome: self.outcome().code(),
            doubt: self.fit.doubt().map(Doubt::code),
            repairs: repairs.into_iter().map(|record| record.shifted(start)).collect(),
            fit: fit.map(|fit| fit.shifted(start)),
        }
    }

    /// `repaired (2 changes, 1 rule, highest risk likely)`.
    pub(crate) fn summary(self, paint: Paint) -> Shown {
        match self.fit.fitted() {
            Some(fitted) if self.fit.doubt().is_none() => summary(fitted, paint),
            _ => report::outcome(paint, self.outcome()),
        }
    }

    /// One line for each reason to doubt it, applied rule or issue.
    pub(crate) fn lines(self) -> Vec<String> {
        let too_long = || vec![format!("longer than {} bytes (--buffer)", self.fit.limit())];
        let doubt = self.fit.doubt().map(|doubt| doubt.description().to_owned());
        doubt.into_iter().chain(self.fit.fitted().map_or_else(too_long, remarks)).collect()
    }
}
