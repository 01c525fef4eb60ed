//! What the text of arguments means, independent of its form.

use wiremend_core::{MendOptions, Mended, RepairKind, mend};

use crate::{json, work};

/// The text after a leading `{}`, if another object follows.
pub(super) fn after_placeholder(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix("{}")?.trim_start();
    rest.starts_with('{').then_some(rest)
}

/// How much of `text` repeats what `before` says, if it begins with all of it, whatever the white space between
/// tokens.
pub(super) fn repeated(before: &str, text: &str) -> Option<usize> {
    /// How much more white space than text may be passed over.
    const MOST_SPACE: usize = 8;
    if text.starts_with(before) {
        return Some(before.len());
    }
    if before.len() / MOST_SPACE > text.len() {
        return None;
    }
    let (one, other) = (before.as_bytes(), text.as_bytes());
    let spaces = |bytes: &[u8], from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| json::is_space(char::from(**byte))).count()
    };
    let divides = |byte: Option<&u8>| matches!(byte, Some(b'{' | b'}' | b'[' | b']' | b',' | b':'));
    let (mut at, mut to) = (0, 0);
    let (mut quote, mut last) = (None, Some(&b'{'));
    loop {
        if quote.is_none() {
            let (here, there) = (spaces(one, at), spaces(other, to));
            let (next, same) = (one.get(at + here), other.get(to + there));
            // Between two words, white space means something.
            let free = divides(last) || divides(next) || (next.is_none() && divides(same));
            if (here == 0) != (there == 0) && !free {
                return (next.is_none() && here == 0).then_some(to);
            }
            (at, to) = (at + here, to + there);
        }
        let Some(byte) = one.get(at) else {
            work::count(at + to);
            return Some(to);
        };
        if other.get(to) != Some(byte) {
            work::count(at + to);
            return None;
        }
        let length = if quote.is_some() && *byte == b'\\' { 2 } else { 1 };
        if length == 2 && one.get(at + 1) != other.get(to + 1) {
            // An escape of which only the beginning has arrived.
            return (at + 1 == one.len()).then_some(to + 1);
        }
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'"') => quote = Some(b'"'),
            (None, b'\'') if divides(last) => quote = Some(b'\''),
            _ => {}
        }
        (at, to, last) = (at + length, to + length, Some(byte));
    }
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
    mend(text.as_bytes(), &MendOptions::new()).text().map(json::meaning)
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
