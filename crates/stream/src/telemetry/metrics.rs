//! Counters of the facade `metrics`.

use metrics::{Label, SharedString, counter};
use wiremend_core::Outcome;

use super::{Ended, Watch};

/// What all counters of one response have in common.
fn labels(watch: &Watch, kind: &'static str, tool: &str) -> Vec<Label> {
    let format = watch.format.map_or("none", wiremend_wire::ApiFormat::code);
    let model = watch.telemetry.model.as_deref().unwrap_or("unknown").to_owned();
    vec![
        Label::from_static_parts("kind", kind),
        Label::from_static_parts("format", format),
        Label::from_static_parts("streaming", if watch.streaming { "true" } else { "false" }),
        Label::new("model", SharedString::from_owned(model)),
        Label::new("tool", SharedString::from_owned(tool.to_owned())),
    ]
}

/// The labels and some more.
fn and<const N: usize>(labels: &[Label], more: [(&'static str, &'static str); N]) -> Vec<Label> {
    let more = more.map(|(name, value)| Label::from_static_parts(name, value));
    [labels, &more[..]].concat()
}

/// A call or an object has ended.
pub(super) fn ended(watch: &Watch, ended: &Ended<'_>) {
    let own = labels(watch, ended.kind, ended.tool);
    counter!("wiremend_attempts_total", own.clone()).increment(1);
    let outcome = [("outcome", ended.outcome.code())];
    counter!("wiremend_outcomes_total", and(&own, outcome)).increment(1);
    // Those of a text that was refused would have been needed. They were not made.
    if ended.outcome.is_valid() {
        for (kind, count) in ended.repairs.kinds() {
            let repair = [("code", kind.code()), ("risk", kind.risk().code())];
            counter!("wiremend_repairs_total", and(&own, repair)).increment(count as u64);
        }
    }
    match ended.outcome {
        Outcome::Closed | Outcome::Cut if ended.kind == "call" => {
            counter!("wiremend_cut_calls_total", own).increment(1);
        }
        Outcome::Overflow => counter!("wiremend_overflows_total", own).increment(1),
        Outcome::Abandoned | Outcome::Invalid => {
            counter!("wiremend_fallbacks_total", own).increment(1);
        }
        _ => {}
    }
}

/// A value was fitted to its schema, or could not be.
#[cfg(feature = "schema")]
pub(super) fn fitted(
    watch: &Watch,
    (kind, tool): (&'static str, &str),
    fitted: &wiremend_schema::Fitted,
    outcome: Outcome,
) {
    let fits = if !outcome.is_complete() {
        "no"
    } else if fitted.applied().is_empty() {
        "as-is"
    } else {
        "coerced"
    };
    let own = labels(watch, kind, tool);
    counter!("wiremend_fits_total", and(&own, [("fits", fits)])).increment(1);
}

/// A hook, or the library for it, has judged a call or an object.
pub(super) fn judged(watch: &Watch, kind: &'static str, tool: &str, judgement: &'static str) {
    let own = labels(watch, kind, tool);
    counter!("wiremend_judgements_total", and(&own, [("judgement", judgement)])).increment(1);
}
