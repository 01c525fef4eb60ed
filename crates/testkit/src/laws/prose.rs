//! L11 for text with JSON somewhere in it: the extractor and the whole text find the same documents.

use wiremend_core::{
    MendOptions, Mended, Outcome, Policy, Repair, RepairKind, TrailingDocuments, mend_document,
    mend_marked, prose::Marks,
};
use wiremend_extract::{Scope, find};

use super::{Check, Law, Violation};
use crate::{
    cuts::Cut,
    extracted::{Document, Extraction},
};

/// L11 between [`Finder`](wiremend_extract::Finder), in any pieces, and [`find`]: what is
/// text for one is text for the other, and a document reads the same, except for
/// [the list](https://github.com/wiremend/wiremend/blob/main/docs/repairs.md#whole-text-only). Each
/// exception is recognized by what the whole text made of the input:
///
/// * all of it is valid JSON, which is never changed, however many brackets it begins with;
/// * the braces around all of it were lost, so that a brace was added;
/// * a scalar, alone but for fences, comments and stray punctuation, or in backticks;
/// * an empty document is ignored if another one is not;
/// * a bracket before the document was taken for stray text, where a stream has begun there;
/// * the document needs a repair that only whole texts allow: [`mend_document`], which has all of it,
///   reads it differently from a [`Mender`](wiremend_core::Mender);
/// * a closing fence ends a string that was left open;
/// * a string begins the text and is open for longer than the buffer, for which a stream does not wait;
/// * a bracket before the document was never closed, so that the document is part of something cut off.
///
/// # Errors
/// The difference.
pub fn text_agreement(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Agreement, input);
    let options = &options.clone().with_trailing_documents(TrailingDocuments::First);
    let whole = find(input, scope, options);
    if matches!(scope, Scope::All | Scope::Fenced) && whole.outcome() != Outcome::Unchanged {
        let run = Extraction::new(input, &Cut::every(3, input.len()), scope, options);
        let found: Vec<&Document> = run.found().documents().collect();
        if found.len() > 1 {
            return joins(check, &whole, &found);
        }
    }
    for cut in [Cut::whole(), Cut::every(3, input.len())] {
        agrees(check, &whole, scope, options, &cut)?;
    }
    Ok(())
}

/// All documents are the items of an array. Those that need no repair are compared.
fn joins(check: Check<'_>, whole: &Mended, found: &[&Document]) -> Result<(), Violation> {
    let solid = |text: &[u8]| -> Vec<u8> {
        text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
    };
    let plain = |one: &&Document| {
        one.outcome == Some(Outcome::Unchanged) && one.json.iter().any(u8::is_ascii_alphanumeric)
    };
    // Otherwise, the whole text has read on behind a document.
    let around = |repair: Repair| {
        use RepairKind::{
            CodeFence, ExtraComma, InlineProse, LeadingProse, LineDelimited, TrailingProse,
        };
        let kinds =
            [CodeFence, ExtraComma, InlineProse, LeadingProse, LineDelimited, TrailingProse];
        kinds.contains(&repair.kind())
    };
    let same = found.iter().all(plain) && whole.repairs().iter().all(around);
    let Some(text) = whole.text().filter(|_| same) else { return Ok(()) };
    let items: Vec<Vec<u8>> = found.iter().map(|one| solid(&one.json)).collect();
    let want = [b"[".as_slice(), &items.join(&b','), b"]"].concat();
    check.same_text("all documents", &solid(text.as_bytes()), &want)
}

fn agrees(
    check: Check<'_>,
    whole: &Mended,
    scope: Scope,
    options: &MendOptions,
    cut: &Cut,
) -> Result<(), Violation> {
    let input = check.input;
    let found = candidates(input, scope, options, cut);
    let about = |what: &str| {
        let (outcome, text, repairs) = (whole.outcome(), whole.text(), whole.repairs());
        format!("{scope:?}, {what}: find {outcome} {text:?} {repairs:?}; found {found:?}")
    };
    let Some(text) = whole.text() else {
        let allowed =
            options.policy() == Policy::PERMISSIVE && whole.outcome() != Outcome::Overflow;
        // In a text that may be anything, only what is one wherever it is counts.
        let sure = if scope == Scope::Best { Scope::All } else { scope };
        let sure = candidates(input, sure, options, cut);
        // A string that is longer than the buffer is a document, whatever follows it.
        let buffer = options.limits().buffer();
        let missed = sure.iter().any(|document| {
            document.outcome.is_some_and(Outcome::is_valid)
                && !is_open_for(input, document.offset, buffer)
        });
        return check.that(!allowed || !missed, || about("a document is text"));
    };
    if is_exempt(text, whole) || whole.outcome() == Outcome::Unchanged {
        return Ok(());
    }
    // A line whose end is out of sight may be another document for a stream only.
    let window = options.limits().lookahead();
    let long =
        |line: &[u8]| line.len() >= window && line.starts_with(b"{") | line.starts_with(b"[");
    if input.split(|byte| *byte == b'\n').skip(1).any(long) {
        return Ok(());
    }
    let start = start_of(input, 0, whole.repairs().iter());
    let same = found.iter().find(|document| {
        start_of(input, document.offset, document.repairs.iter().cloned()) == start
    });
    let brackets = |document: &Document| document.json.iter().all(|b| b"{}[] \t\r\n".contains(b));
    let empty = found.first().is_some_and(brackets);
    let Some(document) = same else {
        let skipped = scope != Scope::Best && empty;
        // Brackets before the document that seem never to be closed are stray text for the whole text.
        let stray =
            |repair: Repair| repair.kind() == RepairKind::StrayText && repair.start() < start;
        let outside = found.iter().any(|document| document.offset < start)
            && whole.repairs().iter().any(stray);
        let buffer = options.limits().buffer();
        let long = found.first().is_some_and(|first| is_open_for(input, first.offset, buffer));
        return check.that(skipped || outside || long, || {
            about(&format!("nothing begins at byte {start}"))
        });
    };
    // Where others may follow, the whole text may read it up to the next one.
    let next = match scope {
        Scope::Whole => None,
        _ => candidates(input, Scope::Best, options, cut)
            .iter()
            .map(|other| other.offset)
            .filter(|offset| *offset > start)
            .min(),
    };
    let permissive = options.clone().with_policy(Policy::PERMISSIVE);
    let json = document.json.trim_ascii();
    let complete = document.outcome.is_some_and(Outcome::is_complete);
    let marked = document.repairs.iter().any(|repair| repair.kind() == RepairKind::LineMark);
    let marks = marked.then(|| Marks::before(input, start, window)).flatten();
    let own = [input.len(), next.unwrap_or(input.len())].iter().all(|end| {
        let text = input.get(start..*end).unwrap_or_default();
        let all = match marks {
            Some(marks) => mend_marked(text, marks, &permissive),
            None => mend_document(text, &permissive),
        };
        all.text().is_some_and(|all| all.as_bytes().trim_ascii() == json)
            && all.outcome().is_complete() == complete
    });
    let fence = input.trim_ascii_end().ends_with(b"```");
    if !own || fence || !document.outcome.is_some_and(Outcome::is_valid) {
        return Ok(());
    }
    check.that(text.as_bytes().trim_ascii() == json, || about("another text"))?;
    // Whether the text around the document belongs to it, and is never closed, is reported only where
    // one document is wanted.
    let around = |repair: &Repair| {
        repair.end() <= start || repair.end() == input.len() && repair.start() > start
    };
    let guessed = document.repairs.iter().any(|repair| repair.kind().doubts_end());
    let part = |kind| matches!(kind, RepairKind::SecondDocument | RepairKind::StrayText);
    let stray = |repair: Repair| around(&repair) && (part(repair.kind()) || guessed);
    let torn = whole.outcome() == Outcome::Closed && whole.repairs().iter().any(stray);
    check.that(torn || complete == whole.outcome().is_complete(), || about("another end"))
}

/// The documents that the extractor finds, of which the whole text may take one.
fn candidates(input: &[u8], scope: Scope, options: &MendOptions, cut: &Cut) -> Vec<Document> {
    let options = options.clone().with_policy(Policy::PERMISSIVE);
    let find = |scope: Scope| -> Vec<Document> {
        Extraction::new(input, cut, scope, &options).found().documents().cloned().collect()
    };
    match scope {
        // A text that is JSON from its first byte on, or the best document in it.
        Scope::Best => [find(Scope::Whole), find(Scope::All)].concat(),
        Scope::Last => find(Scope::All).split_off(find(Scope::All).len().saturating_sub(1)),
        Scope::All => find(Scope::First),
        Scope::Fenced => find(Scope::Fenced),
        _ => find(scope),
    }
}

/// Whether a string begins at `offset` that is still open after the first `buffer` bytes of the input.
fn is_open_for(input: &[u8], offset: usize, buffer: usize) -> bool {
    let Some([b'"', string @ ..]) = input.get(offset..buffer.max(offset)) else { return false };
    let mut escaped = false;
    input.len() > buffer
        && string.iter().all(|&byte| {
            let inside = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            inside
        })
}

/// Whether the whole text found something that only whole texts show.
fn is_exempt(text: &str, whole: &Mended) -> bool {
    let scalar = !text.trim_start().starts_with(['{', '[']);
    let braces = |repair: Repair| repair.kind() == RepairKind::MissingOpen;
    scalar || whole.repairs().iter().any(braces)
}

/// The first byte at or after `at` that is neither white space nor deleted.
fn start_of(input: &[u8], at: usize, repairs: impl Iterator<Item = Repair>) -> usize {
    let space = |from: usize| {
        let rest = input.get(from..).unwrap_or_default();
        from + rest.len() - rest.trim_ascii_start().len()
    };
    let mut at = space(at);
    for repair in repairs {
        if repair.start() > at {
            break;
        }
        // Of one value in parentheses, with a name or not, they are where it begins.
        let parens = matches!(repair.kind(), RepairKind::Tuple | RepairKind::CallWrapper);
        let dropped = repair.after().trim().is_empty() && !parens;
        if dropped && repair.end() > at {
            at = space(repair.end());
        }
    }
    at
}
