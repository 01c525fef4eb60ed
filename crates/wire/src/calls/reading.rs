//! What the text of arguments means, independent of its form.

use jsonmend_core::{Mended, Options, RepairKind, mend};

use crate::{json, work};

/// The text after a leading `{}`, if another object follows.
pub(super) fn after_placeholder(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("{}")?.trim_start();
    rest.starts_with('{').then_some(rest)
}

/// Whether two texts are the same JSON value, however it is written.
pub(super) fn says_the_same(one: &str, other: &str) -> bool {
    if one == other || json::meaning(one) == json::meaning(other) {
        return true;
    }
    mended_meaning(one).is_some_and(|one| mended_meaning(other) == Some(one))
}

/// What a text says once it is repaired, if it can be.
pub(super) fn mended_meaning(text: &str) -> Option<u64> {
    work::count(text.len());
    mend(text.as_bytes(), &Options::new()).text().map(json::meaning)
}

/// Whether repaired arguments are an object, an array that the model itself closed, or a literal such as
/// null that was only spelled or wrapped in another way. Anything else may be what is left of an object
/// whose start was lost: `"Oslo"}`, or an array and a brace.
pub(super) fn is_whole_value(raw: &str, mended: &Mended) -> bool {
    let text = mended.text().unwrap_or(raw).trim_start();
    let closed = raw.trim_end().ends_with([']', '`']);
    let harmless = [
        RepairKind::ByteOrderMark,
        RepairKind::CodeFence,
        RepairKind::LiteralCase,
        RepairKind::PythonLiteral,
    ];
    text.starts_with('{')
        || (text.starts_with('[') && closed)
        || mended.repairs().iter().all(|repair| harmless.contains(&repair.kind()))
}

/// Whether a code fence begins before the value and none ends after it.
pub(super) fn has_open_fence(text: &str) -> bool {
    let Some(fence) = text.find("```") else { return false };
    let opens = text.find(['{', '[']).is_none_or(|value| fence < value);
    let closes = text.rfind("```") > text.rfind(['}', ']']).max(Some(fence));
    opens && !closes
}

pub(super) fn is_json(text: &str) -> bool {
    json::first(text).is_ok_and(|(_, rest)| rest.is_empty())
}
