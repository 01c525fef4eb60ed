//! Arguments of calls are fitted to the schemas that the request declares.

use std::sync::{Arc, Mutex, PoisonError};

use jsonmend_core::{Mended, Options, Outcome, Policy, Risk};
use jsonmend_schema::{FitOptions, Resolved};
use jsonmend_wire::{Call, Fitter, ToolPolicies};

use crate::{
    config::{Arguments, Repair},
    request::{Declared, Switches},
};

/// What fitting did to a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FitNote {
    /// What was changed, also to make it JSON: the kinds with their number.
    pub(crate) changes: Vec<(&'static str, Risk, usize)>,
    /// What is wrong, if it cannot be made to fit.
    pub(crate) issues: usize,
}

/// Passes what was done from the fitter to the account, which hears of the call right after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FitNotes(Arc<Mutex<Option<FitNote>>>);

impl FitNotes {
    fn put(&self, note: FitNote) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(note);
    }

    pub(crate) fn take(&self) -> Option<FitNote> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The policy of the engine. With one that allows nothing, what is broken passes as it came.
fn engine(arguments: Arguments, policy: Repair) -> Policy {
    match arguments {
        Arguments::Pass => Policy::STRICT,
        _ => policy.engine().unwrap_or(Policy::STRICT),
    }
}

/// The policy for the arguments of each tool, if tools differ.
pub(crate) fn policies(switches: &Switches) -> Option<ToolPolicies> {
    let mending = &switches.mending;
    if mending.tools.is_empty() && mending.arguments != Arguments::Pass {
        return None;
    }
    let switches = switches.clone();
    Some(ToolPolicies::new(move |tool| {
        let (arguments, policy) = switches.of_tool(tool);
        Some(engine(arguments, policy))
    }))
}

/// Fits the calls of an answer to the tools of its request.
pub(crate) fn fitter(declared: &Arc<Declared>, switches: &Switches, notes: &FitNotes) -> Fitter {
    let (declared, switches, notes) = (Arc::clone(declared), switches.clone(), notes.clone());
    Fitter::new(move |call| {
        let (arguments, policy) = switches.of_tool(call.name());
        if arguments != Arguments::Fit {
            return None;
        }
        let engine = Options::new().with_policy(engine(arguments, policy));
        fit(call, &declared, engine, &notes)
    })
}

fn fit(
    call: &Call,
    declared: &Declared,
    engine: Options,
    notes: &FitNotes,
) -> Option<Vec<(std::ops::Range<usize>, String)>> {
    let Resolved::Tool { name, schema, rules, .. } =
        declared.registry()?.resolve(Some(call.name()), None)
    else {
        return None;
    };
    let input = call.raw().as_bytes();
    // What was mended with the same guide is not mended once more. A longer text was mended as it arrived.
    let known = call.is_guided() && call.outcome() == Outcome::Repaired;
    let known = known && input.len() <= engine.limits().buffer();
    let options = FitOptions::new().with_engine(engine).with_scope(jsonmend_extract::Scope::Whole);
    let options = options.with_name(name).with_rules(rules.clone());
    let fitted = if known {
        let text = Some(call.arguments().to_owned());
        let mended = Mended::new(call.outcome(), text, call.repairs().clone(), None);
        schema.fit_mended(input, mended, &options)
    } else {
        schema.fit(input, &options)
    };
    if fitted.text().is_none() || !fitted.outcome().is_complete() {
        notes.put(FitNote { issues: fitted.issues().len().max(1), changes: Vec::new() });
        return None;
    }
    let mut changes: Vec<(&'static str, Risk, usize)> = Vec::new();
    for change in fitted.changes() {
        let (code, risk) = (change.cause().code(), change.risk());
        match changes.iter_mut().find(|(known, of, _)| *known == code && *of == risk) {
            Some((.., count)) => *count += 1,
            None => changes.push((code, risk, 1)),
        }
    }
    notes.put(FitNote { changes, issues: 0 });
    let edits = fitted.changes().iter();
    Some(edits.map(|change| (change.span(), change.after().to_owned())).collect())
}
