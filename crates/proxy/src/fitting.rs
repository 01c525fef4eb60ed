//! Arguments of calls are fitted to the schemas that the request declares.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jsonmend_core::{Mended, Options, Outcome, Policy, Risk};
use jsonmend_schema::{FitOptions, Rules};
use jsonmend_wire::{Call, Fitter, ToolPolicies};

use crate::{
    config::{Arguments, Repair},
    edit::{EDITS, Edit},
    request::{Declared, Switches},
};

/// What fitting did to a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FitNote {
    /// What was changed, also to make it JSON: the kinds with their number.
    pub(crate) changes: Vec<(&'static str, Risk, usize)>,
    /// The first ones, with their places.
    pub(crate) edits: Vec<Edit>,
    /// What is wrong, if it cannot be made to fit.
    pub(crate) issues: usize,
}

/// A call whose arguments cannot be made to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) number: usize,
    pub(crate) tool: String,
    pub(crate) raw: String,
}

/// The most calls of an answer that are asked for again.
const MISFITS: usize = 8;

/// Passes what was done from the fitter to the account, which hears of the call right after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FitNotes(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    last: Option<FitNote>,
    misfits: Vec<Misfit>,
    /// What the model said when it was asked again, by the number of the call.
    asked: BTreeMap<usize, String>,
}

impl FitNotes {
    /// What the model said when it was asked again.
    pub(crate) fn of_asked(asked: BTreeMap<usize, String>) -> Self {
        Self(Arc::new(Mutex::new(Notes { asked, ..Notes::default() })))
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, note: FitNote) {
        self.lock().last = Some(note);
    }

    pub(crate) fn take(&self) -> Option<FitNote> {
        self.lock().last.take()
    }

    /// The calls that do not fit.
    pub(crate) fn take_misfits(&self) -> Vec<Misfit> {
        core::mem::take(&mut self.lock().misfits)
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
        let (arguments, _) = switches.of_tool(call.name());
        if arguments != Arguments::Fit {
            return None;
        }
        let asked = notes.lock().asked.remove(&call.number());
        if let Some(json) = asked {
            let (code, risk, end) = ("asked-again", Risk::Lossy, call.raw().len());
            let edit = Edit { start: 0, end, code, risk, after: json.clone() };
            notes.put(FitNote { changes: vec![(code, risk, 1)], edits: vec![edit], issues: 0 });
            return Some(vec![(0..end, json)]);
        }
        fit(call, &declared, &switches, &notes)
    })
}

/// How the arguments of a tool are fitted.
pub(crate) fn options(switches: &Switches, tool: &str, rules: &Rules) -> FitOptions {
    let (arguments, policy) = switches.of_tool(tool);
    let engine = Options::new().with_policy(engine(arguments, policy));
    let options = FitOptions::new().with_engine(engine).with_scope(jsonmend_extract::Scope::Whole);
    options.with_name(tool).with_rules(rules.clone())
}

fn fit(
    call: &Call,
    declared: &Declared,
    switches: &Switches,
    notes: &FitNotes,
) -> Option<Vec<(std::ops::Range<usize>, String)>> {
    let (name, schema, rules) = declared.tool(call.name())?;
    let options = options(switches, name, rules);
    let input = call.raw().as_bytes();
    // What was mended with the same guide is not mended again. A longer text was mended as it arrived.
    let known = call.is_guided() && call.outcome() == Outcome::Repaired;
    let known = known && input.len() <= options.engine().limits().buffer();
    let fitted = if known {
        let text = Some(call.arguments().to_owned());
        let mended = Mended::new(call.outcome(), text, call.repairs().clone(), None);
        schema.fit_mended(input, mended, &options)
    } else {
        schema.fit(input, &options)
    };
    if fitted.text().is_none() || !fitted.outcome().is_complete() {
        let mut kept = notes.lock();
        if kept.misfits.len() < MISFITS {
            let (tool, raw) = (call.name().to_owned(), call.raw().to_owned());
            kept.misfits.push(Misfit { number: call.number(), tool, raw });
        }
        drop(kept);
        notes.put(FitNote { issues: fitted.issues().len().max(1), ..FitNote::default() });
        return None;
    }
    let mut changes: Vec<(&'static str, Risk, usize)> = Vec::new();
    let mut edits = Vec::new();
    let mut script = Vec::new();
    for change in fitted.changes() {
        let (code, risk) = (change.cause().code(), change.risk());
        let (start, end) = (change.start(), change.end());
        // Only so many are listed, and all are made.
        if edits.len() < EDITS {
            edits.push(Edit { start, end, code, risk, after: change.after().to_owned() });
        }
        script.push((start..end, change.after().to_owned()));
        match changes.iter_mut().find(|(known, of, _)| *known == code && *of == risk) {
            Some((.., count)) => *count += 1,
            None => changes.push((code, risk, 1)),
        }
    }
    notes.put(FitNote { changes, edits, issues: 0 });
    Some(script)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Mending, request::ToolCache};
    use jsonmend_wire::{WireOptions, transcribe};

    /// However many changes there are, few are noted, and all of them are made.
    #[test]
    fn few_edits_are_noted() {
        let tools = r#"[{"name": "f", "input_schema": {"properties": {"a": {"type": "array"}}}}]"#;
        let declared = ToolCache::default().of(tools.to_owned());
        let switches = Switches::take(&mut hyper::HeaderMap::new(), Mending::new()).unwrap();
        let arguments = format!("{{'a': [{}]}}", "'x',".repeat(1_000));
        let function = serde_json::json!({"name": "f", "arguments": arguments});
        let calls = serde_json::json!([{"id": "1", "type": "function", "function": function}]);
        let choice =
            serde_json::json!({"message": {"tool_calls": calls}, "finish_reason": "tool_calls"});
        let body = serde_json::json!({"choices": [choice]}).to_string();
        let transcript = transcribe(body.as_bytes(), WireOptions::new());
        let notes = FitNotes::default();
        let script = fit(transcript.calls()[0], &declared, &switches, &notes).unwrap();
        let note = notes.take().unwrap();
        assert_eq!(note.edits.len(), EDITS);
        assert!(script.len() > 1_000);
        assert_eq!(note.changes.iter().map(|change| change.2).sum::<usize>(), script.len());
    }
}
