//! What was done to the arguments of a call in a text.

use wiremend_core::{Collected, MendOptions, Mended, Mender, Outcome, Repairs, mend};
use wiremend_extract::{CallEnd, CallOutcome};

/// The arguments of a call as JSON text, and what mending made of it. Where they were written as JSON, it
/// is what the model wrote, and the repairs lead from there to the arguments that were emitted. Otherwise
/// it is what was decoded.
pub(super) fn account(
    raw: &[u8],
    json: Vec<u8>,
    end: &CallEnd,
    mending: &MendOptions,
) -> (String, Mended) {
    let raw = String::from_utf8_lossy(raw).into_owned();
    match end.outcome {
        CallOutcome::Repaired | CallOutcome::Whole => {}
        CallOutcome::Cut => return (raw, failed(Outcome::Cut)),
        _ => return (raw, failed(Outcome::Invalid)),
    }
    let Ok(json) = String::from_utf8(json) else { return (raw, failed(Outcome::Invalid)) };
    let json = if json.is_empty() { "{}".to_owned() } else { json };
    let unchanged = |json: String| {
        let mended = Mended::new(Outcome::Unchanged, Some(json.clone()), Repairs::new(), None);
        (json, mended)
    };
    if raw == json {
        return unchanged(json);
    }
    let mended = mend(raw.as_bytes(), mending);
    if mended.outcome().is_complete() && mended.text() == Some(&json) {
        return (raw, mended);
    }
    if end.outcome == CallOutcome::Whole {
        return unchanged(json);
    }
    // Read piece by piece, a text may be mended in another way.
    let (mut mender, mut out) = (Mender::new(mending.clone()), Collected::default());
    mender.push(raw.as_bytes(), &mut out);
    if mender.finish(&mut out).is_complete() && out.text() == json.as_bytes() {
        let (_, repairs) = out.into_parts();
        return (raw, Mended::new(Outcome::Repaired, Some(json), repairs, None));
    }
    let mended = Mended::new(Outcome::Repaired, Some(json.clone()), Repairs::new(), None);
    (json, mended)
}

/// The result for arguments that are not there as a whole.
pub(super) fn failed(outcome: Outcome) -> Mended {
    Mended::new(outcome, None, Repairs::new(), None)
}
