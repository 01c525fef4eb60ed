//! The arguments of one call, and the type that its provider wants of them.

use std::borrow::Cow;

use serde_json::{Value, json};
use wiremend_core::{MendOptions, Policy, RepairKind, Risk, mend_document};
use wiremend_wire::{FinishReason, MendedArguments};

use super::HistoryFixes;
use crate::{
    members::{Edits, Members},
    switches::Switches,
};

/// What arguments are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A string that holds JSON. `always`: an object, and a call without it is refused.
    Text { always: bool },
    /// An object. `always`: a call without it is refused.
    Object { always: bool },
}

/// The object that has the arguments of a call, and its name.
pub(super) struct Call<'t> {
    text: &'t str,
    members: Members<'t>,
    key: &'static str,
    wanted: Wanted,
}

impl<'t> Call<'t> {
    pub(super) fn of(text: &'t str, key: &'static str, wanted: Wanted) -> Option<Self> {
        Some(Self { text, members: Members::of(text)?, key, wanted })
    }
}

/// What becomes of arguments.
enum Fix {
    /// They are right, or become so, as this JSON.
    Mended(String),
    /// They cannot be mended: this is their text.
    Replaced(String),
}

/// Changes the arguments of a call that its provider would refuse.
pub(super) fn judge<'t>(
    call: &Call<'t>,
    switches: &Switches,
    fixed: &mut HistoryFixes,
    edits: &mut Edits<'t>,
) {
    let tool = call.members.string("name").unwrap_or_default();
    // Arguments that are to pass as they come do so here, too, whatever the provider makes of them.
    let Some(policy) = switches.policy_of_history(&tool) else { return };
    let given = call.members.get(call.key);
    let fix = match given {
        None | Some("null") => of_none(call.wanted),
        Some(value) => of_value(value, call.wanted, policy),
    };
    let json = match fix {
        None => return,
        Some(Fix::Mended(json)) => {
            fixed.mended += 1;
            json
        }
        Some(Fix::Replaced(text)) => {
            fixed.replaced += 1;
            json!({ "invalid_json": text }).to_string()
        }
    };
    let by = match call.wanted {
        Wanted::Text { .. } => Value::String(json).to_string(),
        Wanted::Object { .. } => json,
    };
    match given {
        Some(given) => edits.replace(given, by),
        None => edits.insert(call.text, &call.members, call.key, &by),
    }
}

/// A call without arguments has none: an empty object, where that must be said.
fn of_none(wanted: Wanted) -> Option<Fix> {
    let (Wanted::Text { always } | Wanted::Object { always }) = wanted;
    always.then(|| Fix::Mended("{}".to_owned()))
}

/// Arguments that are a string or another value. A string may hold what was cut off, so nothing of it is completed.
fn of_value(value: &str, wanted: Wanted, policy: Policy) -> Option<Fix> {
    let is_string = value.starts_with('"');
    let (raw, is_whole) = if is_string { decoded(value)? } else { (value.to_owned(), true) };
    let is_right = match wanted {
        Wanted::Text { always: true } => is_string && is_whole && is_object(&raw) && is_json(&raw),
        Wanted::Text { always: false } => !is_string || (is_whole && is_json(&raw)),
        Wanted::Object { .. } => !is_string && is_object(value),
    };
    if is_right {
        return None;
    }
    let json = if is_whole || policy.allows(RepairKind::LoneSurrogate) {
        let any = wanted == Wanted::Text { always: false };
        object_of(&raw, any, &MendOptions::new().with_policy(policy))
    } else {
        None
    };
    Some(json.map_or(Fix::Replaced(raw), Fix::Mended))
}

/// The object that a text gives: itself, or what the string in it holds. Nothing and null are arguments that there are
/// none of. `any`: it need not be an object.
fn object_of(raw: &str, any: bool, options: &MendOptions) -> Option<String> {
    let mut text = Cow::Borrowed(raw);
    // A string in a string has twice as many backslashes, so there are few of them.
    loop {
        let mended = MendedArguments::new(&text, FinishReason::ToolCalls, options);
        let value = mended.value()?;
        let json = value.trim();
        if any || is_object(json) {
            return Some(value.to_owned());
        }
        match json {
            "null" => return Some("{}".to_owned()),
            string if string.starts_with('"') => {
                let (inner, is_whole) = decoded(string)?;
                if !is_whole && !options.policy().allows(RepairKind::LoneSurrogate) {
                    return None;
                }
                text = Cow::Owned(inner);
            }
            _ => return None,
        }
    }
}

fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{')
}

/// The text of a string, and whether all of it is characters. Half of a surrogate pair is none: it becomes
/// U+FFFD.
fn decoded(literal: &str) -> Option<(String, bool)> {
    if let Ok(text) = serde_json::from_str(literal) {
        return Some((text, true));
    }
    let options = MendOptions::new().with_policy(Policy::PERMISSIVE.at_most(Risk::Lossy));
    let mended = mend_document(format!("[{literal}]").as_bytes(), &options);
    let [text] = serde_json::from_str::<[String; 1]>(mended.text()?).ok()?;
    Some((text, false))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
