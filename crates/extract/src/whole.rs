//! The whole-text path: several readings of a text, and how to choose among them.

mod assemble;
mod reading;
mod search;

use wiremend_core::{
    MendOptions, Mended, Outcome, Repair, RepairKind, Repairs, TrailingDocuments, mend,
};

use crate::Scope;
use search::Documents;

/// Finds the JSON in a whole text and mends it. The result is one edit script for the whole text,
/// in which prose, fences and reasoning are deleted.
///
/// The text is read twice: as one document, and as prose that contains documents. With
/// [`Scope::Whole`] and [`Scope::Best`], the first reading is chosen if nothing around the document
/// has to be dropped; with the other scopes, the document must also begin where the second reading
/// finds one. Valid JSON is left unchanged. If neither reading finds JSON, the outcome is
/// [`Outcome::None`]. [`Scope`] says what becomes of several documents.
///
/// ```
/// use wiremend_core::{MendOptions, Outcome};
/// use wiremend_extract::{Scope, find};
///
/// let mended = find(b"Here it is: {name: 'Ada'} Enjoy!", Scope::Best, &MendOptions::new());
/// assert_eq!(mended.text(), Some(r#"{"name": "Ada"}"#));
/// let two = find(b"{\"a\": 1} and {\"b\": 2}", Scope::All, &MendOptions::new());
/// assert_eq!(two.text(), Some(r#"[{"a": 1}, {"b": 2}]"#));
/// let prose = find(b"if (x) { return 1; }", Scope::Best, &MendOptions::new());
/// assert_eq!(prose.outcome(), Outcome::None);
/// ```
#[must_use]
pub fn find(input: &[u8], scope: Scope, options: &MendOptions) -> Mended {
    if scope == Scope::Fenced {
        return Documents::find(input, scope, options).choose(input, scope, options);
    }
    let channel = matches!(scope, Scope::Best | Scope::Whole);
    let strict = options.trailing_documents() == TrailingDocuments::Error;
    // The scope decides which of several documents counts.
    let one = options.clone().with_trailing_documents(TrailingDocuments::First);
    let whole = mend(input, if channel || strict { options } else { &one });
    if whole.outcome() == Outcome::Unchanged {
        return whole;
    }
    let misread = reading::swallows_fence(input, &whole)
        || is_code_span(input, &whole)
        || joins_labels(input, &whole, true);
    if channel && is_settled(input, &whole) && !misread {
        return whole;
    }
    // A channel of JSON is one document, whatever follows it.
    if scope == Scope::Whole
        && (whole.text().is_some() || strict && whole.outcome() == Outcome::Invalid)
        && !drops_lead(input, &whole)
        && !misread
    {
        return whole;
    }
    // Text that begins as an object and was refused, or cut off, contains no other document.
    let refused = matches!(whole.outcome(), Outcome::Cut | Outcome::Invalid | Outcome::Overflow);
    if channel && refused && begins_as_object(input) {
        return whole;
    }
    if channel && is_escaped_document(input, &whole) {
        return whole;
    }
    let found = Documents::find(input, scope, options);
    let Some(first) = found.first() else {
        return if channel && is_convincing(input, &whole, scope) {
            whole
        } else {
            Mended::new(Outcome::None, None, Repairs::new(), None)
        };
    };
    let start = document_start(input, &whole);
    // Only a channel of JSON has comments before the document.
    let begins = first == start || channel && first < start;
    // A text that begins with its only document needs no other reading.
    let alone = found.is_alone()
        && whole.text().is_some()
        && !drops_lead(input, &whole)
        && !joins_labels(input, &whole, false);
    // The last of several documents is not what begins the text.
    let last = scope == Scope::Last && found.len() > 1;
    if begins && !misread && !last && (is_settled(input, &whole) || alone) {
        return whole;
    }
    found.choose(input, scope, options)
}

/// Whether the text begins with a brace and a quoted key.
fn begins_as_object(input: &[u8]) -> bool {
    let text = input.trim_ascii_start();
    let key = text.strip_prefix(b"{").unwrap_or_default().trim_ascii_start();
    matches!(key.first(), Some(b'"' | b'\''))
}

/// Whether the reading is of a document in quotes whose own quotes are escaped, which no document of
/// a text is.
fn is_escaped_document(input: &[u8], whole: &Mended) -> bool {
    let quoted = input.trim_ascii_start().starts_with(b"\\\"");
    let lead = || whole.repairs().iter().next().and_then(|repair| input.get(..repair.end()));
    let begins = if drops_lead(input, whole) {
        (quoted || whole.repairs().contains(RepairKind::EscapedDocument))
            && lead().is_some_and(|lead| lead.ends_with(b"\""))
    } else {
        quoted
    };
    begins && whole.text().is_some()
}

/// Whether text before the document was dropped.
fn drops_lead(input: &[u8], whole: &Mended) -> bool {
    let start = document_start(input, whole);
    let before = |repair: &Repair| repair.start() <= start && start < repair.end();
    whole.repairs().iter().find(before).is_some_and(|repair| {
        matches!(
            repair.kind(),
            RepairKind::InlineProse | RepairKind::LeadingProse | RepairKind::StrayText
        )
    })
}

/// Whether a document in backticks, or in three quotes as Python writes a text of several lines, was
/// read as one string.
fn is_code_span(input: &[u8], whole: &Mended) -> bool {
    let text = input.trim_ascii_start();
    let span = [b"`".as_slice(), b"\"\"\"", b"'''"].into_iter();
    let span = span.filter_map(|quote| text.strip_prefix(quote)).next().unwrap_or_default();
    matches!(span.trim_ascii_start().first(), Some(b'{' | b'['))
        && whole.text().is_some_and(|text| text.trim_start().starts_with('"'))
}

/// Whether a label around a document, like `[TOOL_CALLS]`, was made an item of an array with it. If
/// `words` is false, `[1]` is a label as well.
fn joins_labels(input: &[u8], whole: &Mended, words: bool) -> bool {
    let starts = |kind: RepairKind| {
        let of_kind = whole.repairs().iter().filter(move |repair| repair.kind() == kind);
        of_kind.map(|repair| repair.start()).collect::<Vec<usize>>()
    };
    if !whole.repairs().contains(RepairKind::LineDelimited) {
        return false;
    }
    let ends = starts(RepairKind::LineDelimited);
    let unquoted = if words { starts(RepairKind::UnquotedString) } else { Vec::new() };
    // A label contains no quotes or brackets.
    let is_label = |from: usize, to: usize| {
        let item = input.get(from..to).unwrap_or_default().trim_ascii();
        let inside = item.strip_prefix(b"[").and_then(|item| item.strip_suffix(b"]"));
        let first = unquoted.partition_point(|start| *start < from);
        inside.is_some_and(|inside| !inside.iter().any(|byte| b"\"'{}[],".contains(byte)))
            && (!words || unquoted.get(first).is_some_and(|start| *start < to))
    };
    let items = ends.len().saturating_sub(1);
    let labels = ends.windows(2).filter(|ends| is_label(ends[0], ends[1])).count();
    (1..items).contains(&labels)
}

/// Whether a reading of the whole text dropped only fences around the document.
fn is_settled(input: &[u8], whole: &Mended) -> bool {
    const AROUND: &[RepairKind] = &[
        RepairKind::InlineProse,
        RepairKind::LeadingProse,
        RepairKind::TrailingProse,
        RepairKind::SecondDocument,
    ];
    !matches!(whole.outcome(), Outcome::None | Outcome::Invalid)
        && !AROUND.iter().any(|kind| whole.repairs().contains(*kind))
        && !drops_lead(input, whole)
}

/// Where the document of a reading of the whole text begins: after white space, and after fences,
/// comments, stray signs and other documents that were dropped. If prose comes before it, at the start
/// of the text.
fn document_start(input: &[u8], whole: &Mended) -> usize {
    let mut start = 0;
    let space = |from: usize| {
        let rest = input.get(from..).unwrap_or_default();
        from + rest.len() - rest.trim_ascii_start().len()
    };
    for repair in whole.repairs() {
        let around = matches!(
            repair.kind(),
            RepairKind::ByteOrderMark
                | RepairKind::CodeFence
                | RepairKind::Comment
                | RepairKind::ExtraClose
                | RepairKind::ExtraColon
                | RepairKind::ExtraComma
                | RepairKind::LineMark
                | RepairKind::OddSpace
                | RepairKind::SecondDocument
        ) || repair.kind() == RepairKind::EscapedDocument && repair.after() == " ";
        if !around || repair.start() > space(start) {
            break;
        }
        start = repair.end();
    }
    space(start)
}

/// Whether to accept a reading of the whole text although the search for documents found none.
fn is_convincing(input: &[u8], whole: &Mended, scope: Scope) -> bool {
    let Some(text) = whole.text() else {
        // It was refused, cut off or too large. That says more than "none" would.
        let first = input.trim_ascii_start().first();
        return scope == Scope::Whole || first.is_some_and(|byte| matches!(byte, b'{' | b'['));
    };
    if drops_lead(input, whole) {
        let text = text.trim();
        // Where JSON is expected, an array among words is not a citation.
        let expected = scope == Scope::Whole && text.len() > 2 && text.starts_with(['{', '[']);
        return expected || ends_with_object(input, text);
    }
    // Brackets alone are empty documents.
    if input.iter().all(|byte| b"{}[] \t\r\n".contains(byte)) {
        return true;
    }
    // `"Hello," she said` and `[docs](x) …` are not JSON.
    const AFTER: &[RepairKind] =
        &[RepairKind::InlineProse, RepairKind::TrailingProse, RepairKind::SecondDocument];
    !AFTER.iter().any(|kind| whole.repairs().contains(*kind))
}

/// Whether the input is words followed by the object `text`, which is then not code or a citation.
fn ends_with_object(input: &[u8], text: &str) -> bool {
    let words = input.trim_ascii_end().strip_suffix(text.as_bytes());
    let is_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || !byte.is_ascii();
    text.starts_with('{') && words.is_some_and(|words| words.iter().all(is_word))
}
