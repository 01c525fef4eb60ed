//! Arguments of calls, and JSON content, are fitted to the schemas that the request declares.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use wiremend_core::{MendOptions, Mended, Outcome, Policy, Risk};
use wiremend_schema::{FitOptions, Fitted, Rules};
use wiremend_wire::{Block, Call, FitHook, Fittable, ToolPolicies};

use crate::{
    Arguments, Repair,
    account::{EDITS, Edit},
    switches::Switches,
    tools::Declared,
};

/// What fitting did to a call, or to content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FitNote {
    /// What was changed, also to make it JSON: the kinds with their number.
    pub(crate) changes: Vec<(&'static str, Risk, usize)>,
    /// The first ones, with their places.
    pub(crate) edits: Vec<Edit>,
    /// What is wrong, if it cannot be made to fit.
    pub(crate) issues: usize,
}

/// A call whose arguments cannot be made to fit. The model may be asked for others; see
/// [`Answer::say`](crate::Answer::say).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    number: usize,
    tool: String,
    raw: String,
}

impl Misfit {
    /// The number of the call in its answer, from 0.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments, as they came.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }
}

/// The most calls of an answer that are asked for again.
const MISFITS: usize = 8;

/// What was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FittedPart {
    /// The call of that number.
    Call(usize),
    Content(Block),
}

/// Passes what was done from the fitter to the account, which hears of the call, or of the content, after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FitNotes(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    /// What the account has not heard of yet.
    done: BTreeMap<FittedPart, FitNote>,
    misfits: Vec<Misfit>,
    /// What the model said when it was asked again, by the number of the call.
    asked: BTreeMap<usize, String>,
}

impl Notes {
    /// Keeps a call that does not fit.
    fn keep(&mut self, call: &Call) {
        if self.misfits.len() < MISFITS {
            let (tool, raw) = (call.name().to_owned(), call.raw().to_owned());
            self.misfits.push(Misfit { number: call.number(), tool, raw });
        }
    }
}

impl FitNotes {
    /// Says what the model said when it was asked again.
    pub(crate) fn say(&self, asked: BTreeMap<usize, String>) {
        self.lock().asked = asked;
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, place: FittedPart, note: FitNote) {
        self.lock().done.insert(place, note);
    }

    pub(crate) fn take(&self, place: FittedPart) -> FitNote {
        self.lock().done.remove(&place).unwrap_or_default()
    }

    /// The calls that do not fit, as they were kept, taken out.
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
pub(crate) fn policies(switches: &Arc<Switches>) -> Option<ToolPolicies> {
    let mending = switches.mending();
    if mending.tools().is_empty() && mending.arguments() != Arguments::Pass {
        return None;
    }
    let switches = Arc::clone(switches);
    Some(ToolPolicies::new(move |tool| {
        let (arguments, policy) = switches.of_tool(tool);
        Some(engine(arguments, policy))
    }))
}

/// Fits the calls of an answer to the tools of its request, and its content to the schema that is stated for it.
pub(crate) fn fitter(
    tools: Option<&Arc<Declared>>,
    content: Option<&Arc<Declared>>,
    switches: &Arc<Switches>,
    notes: &FitNotes,
) -> Option<FitHook> {
    tools.or(content)?;
    let (tools, content) = (tools.cloned(), content.cloned());
    let (switches, notes) = (Arc::clone(switches), notes.clone());
    Some(FitHook::new(move |given| {
        let call = match given {
            Fittable::Call(call) => call,
            Fittable::Content { block, raw, .. } => {
                let (name, schema, rules) = content.as_ref()?.only()?;
                let engine = engine(Arguments::Fit, switches.mending().policy());
                let fitted = schema.fit(raw.as_bytes(), &options_of(engine, name, rules));
                let (note, script) = of_fitted(&fitted);
                notes.put(FittedPart::Content(*block), note);
                return script;
            }
            _ => return None,
        };
        if switches.of_tool(call.name()).0 != Arguments::Fit {
            return None;
        }
        let tools = tools.as_ref()?;
        let place = FittedPart::Call(call.number());
        let asked = notes.lock().asked.remove(&call.number());
        if let Some(json) = asked {
            let (code, risk, end) = ("asked-again", Risk::Lossy, call.raw().len());
            let edit = Edit { start: 0, end, code, risk, after: json.clone() };
            let note = FitNote { changes: vec![(code, risk, 1)], edits: vec![edit], issues: 0 };
            notes.put(place, note);
            return Some(vec![(0..end, json)]);
        }
        let (note, script) = fit(call, tools, &switches)?;
        if script.is_none() {
            notes.lock().keep(call);
        }
        notes.put(place, note);
        script
    }))
}

/// How the arguments of a tool are fitted.
pub(crate) fn options(switches: &Switches, tool: &str, rules: &Rules) -> FitOptions {
    let (arguments, policy) = switches.of_tool(tool);
    options_of(engine(arguments, policy), tool, rules)
}

fn options_of(engine: Policy, name: &str, rules: &Rules) -> FitOptions {
    let engine = MendOptions::new().with_policy(engine).without_search();
    let options = FitOptions::new().with_mending(engine).with_scope(wiremend_extract::Scope::Whole);
    options.with_name(name).with_rules(rules.clone())
}

/// Edits of what came.
type Script = Vec<(std::ops::Range<usize>, String)>;

fn fit(call: &Call, declared: &Declared, switches: &Switches) -> Option<(FitNote, Option<Script>)> {
    let (name, schema, rules) = declared.tool(call.name())?;
    let options = options(switches, name, rules);
    let input = call.raw().as_bytes();
    // What was mended with the same guide is not mended again. A longer text was mended as it arrived.
    let known = call.is_guided() && call.outcome() == Outcome::Repaired;
    let known = known && input.len() <= options.mending().limits().buffer();
    Some(of_fitted(&if known {
        let text = Some(call.arguments().to_owned());
        let mended = Mended::new(call.outcome(), text, call.repairs().clone(), None);
        schema.fit_mended(input, mended, &options)
    } else {
        schema.fit(input, &options)
    }))
}

/// What was done, and what makes the text fit. No script: it does not.
fn of_fitted(fitted: &Fitted) -> (FitNote, Option<Script>) {
    if fitted.text().is_none() || !fitted.outcome().is_complete() {
        let issues = fitted.issues().len().max(1);
        return (FitNote { issues, ..FitNote::default() }, None);
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
    (FitNote { changes, edits, issues: 0 }, Some(script))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mending, tools::ToolCache};
    use wiremend_wire::{WireOptions, transcribe};

    /// However many changes there are, few are noted, and all of them are made.
    #[test]
    fn few_edits_are_noted() {
        let tools = r#"[{"name": "f", "input_schema": {"properties": {"a": {"type": "array"}}}}]"#;
        let declared = ToolCache::default().of(tools.to_owned());
        let switches = Switches::of(Mending::new());
        let arguments = format!("{{'a': [{}]}}", "'x',".repeat(1_000));
        let function = serde_json::json!({"name": "f", "arguments": arguments});
        let calls = serde_json::json!([{"id": "1", "type": "function", "function": function}]);
        let choice =
            serde_json::json!({"message": {"tool_calls": calls}, "finish_reason": "tool_calls"});
        let body = serde_json::json!({"choices": [choice]}).to_string();
        let transcript = transcribe(body.as_bytes(), WireOptions::new());
        let (note, script) = fit(transcript.calls()[0], &declared, &switches).unwrap();
        let script = script.unwrap();
        assert_eq!(note.edits.len(), EDITS);
        assert!(script.len() > 1_000);
        assert_eq!(note.changes.iter().map(|change| change.2).sum::<usize>(), script.len());
    }
}
