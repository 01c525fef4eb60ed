//! The laws of the extractor: L1, L2, L4, L5, L7, L8 and L9 for text with JSON somewhere in it.

use wiremend_core::{MendOptions, Outcome, Repair, Repairs, apply};
use wiremend_extract::{Finder, Scope, find};

use super::{Check, Law, Shown, Violation, prefixes::offsets};
use crate::{
    Seed,
    cuts::{self, Cut},
    extracted::{Extraction, Found, Part},
    oracle,
};

/// Checks the extractor and [`find`] on `input`: split invariance, valid documents, an edit
/// script, nothing lost, idempotence, and the same end when asked again.
///
/// # Errors
/// The first law that `input` breaks.
pub fn text_laws(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let cuts = if input.len() <= 300 {
        cuts::thorough(input.len())
    } else {
        cuts::few(input.len(), &mut Seed::of(input))
    };
    text_laws_at(input, scope, options, &cuts)?;
    let mut heads = offsets(input.len()).map(|at| input.get(..at).unwrap_or_default());
    heads.try_for_each(|head| text_abandoned(head, scope, options))
}

/// [`text_laws`], with split invariance at the given cuts, and without giving up.
///
/// # Errors
/// The first law that `input` breaks.
pub fn text_laws_at(
    input: &[u8],
    scope: Scope,
    options: &MendOptions,
    cuts: &[Cut],
) -> Result<(), Violation> {
    let bytes = Extraction::new(input, &Cut::bytes(input.len()), scope, options);
    split_invariance(input, scope, options, cuts, &bytes)?;
    valid_documents(input, &bytes)?;
    valid_so_far(input, &bytes)?;
    nothing_lost(input, scope, &bytes)?;
    same_end(input, scope, options)?;
    whole_text(input, scope, options)
}

fn split_invariance(
    input: &[u8],
    scope: Scope,
    options: &MendOptions,
    cuts: &[Cut],
    bytes: &Extraction,
) -> Result<(), Violation> {
    let check = Check::new(Law::SplitInvariance, input);
    for cut in cuts {
        let run = Extraction::new(input, cut, scope, options);
        let at =
            || format!("{scope:?} cut at {:?}", cut.offsets().get(..40).unwrap_or(cut.offsets()));
        check.that(run.found() == bytes.found() && run.outcome() == bytes.outcome(), || {
            format!(
                "{}: {:?} {:?} instead of {:?} {:?}",
                at(),
                run.outcome(),
                run.found(),
                bytes.outcome(),
                bytes.found()
            )
        })?;
        for progress in run.progress() {
            let Some(same) = progress.offset.checked_sub(1).and_then(|k| bytes.progress().get(k))
            else {
                continue;
            };
            check.same(&format!("after byte {}, {}", progress.offset, at()), progress, same)?;
        }
    }
    Ok(())
}

fn valid_documents(input: &[u8], run: &Extraction) -> Result<(), Violation> {
    let check = Check::new(Law::AlwaysValid, input);
    check.same("calls about a document where none is open", &run.found().strays(), &0)?;
    let mut last = None;
    for document in run.found().documents() {
        let Some(outcome) = document.outcome else {
            return check.that(false, || format!("{document:?} never ended"));
        };
        let json = Shown(&document.json);
        check.that(!outcome.is_valid() || oracle::is_json(&document.json), || {
            format!("a document, {outcome}: {json}")
        })?;
        last = Some(outcome);
    }
    let outcome = run.outcome();
    check.that(last.is_some() || !outcome.is_valid(), || format!("{outcome}, with no document"))
}

/// L2: at every byte, the document that is open is valid JSON with its completion.
fn valid_so_far(input: &[u8], run: &Extraction) -> Result<(), Violation> {
    let check = Check::new(Law::AlwaysValid, input);
    for progress in run.progress() {
        let Some(completion) = &progress.completion else { continue };
        let begun: Vec<_> = run.found().documents().take(progress.documents).collect();
        let Some((open, before)) = begun.split_last() else { continue };
        let earlier: usize = before.iter().map(|document| document.json.len()).sum();
        let open = open.json.get(..progress.json - earlier).unwrap_or_default();
        let text = [open, completion.as_bytes()].concat();
        check.that(oracle::is_json(&text), || {
            let (open, closed) = (Shown(open), Shown(completion.as_bytes()));
            format!("{open} completed by {closed} after byte {}", progress.offset)
        })?;
    }
    Ok(())
}

/// L8: nothing is lost, and nothing stays open, if the extractor is abandoned after `input`.
///
/// # Errors
/// What was lost, or the document that did not end.
pub fn text_abandoned(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::NothingLost, input);
    let run = Extraction::abandoned(input, scope, options);
    check.same("the outcome of abandon", &run.outcome(), &Outcome::Abandoned)?;
    let open = run.found().documents().find(|document| document.outcome.is_none());
    check.that(open.is_none(), || format!("abandoned, with {open:?}"))?;
    nothing_lost(input, scope, &run)
}

/// L5 and L8: text, reasoning and the sources of the documents are the input, divided into pieces; the
/// repairs of a document turn its piece into its text, and those of a single document the whole
/// input.
fn nothing_lost(input: &[u8], scope: Scope, run: &Extraction) -> Result<(), Violation> {
    let check = Check::new(Law::NothingLost, input);
    let parts = run.found().parts();
    let mut at = 0;
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text(bytes) | Part::Reasoning(bytes) => {
                let source = input.get(at..at + bytes.len()).unwrap_or_default();
                check.same_text(&format!("the text at byte {at}"), bytes, source)?;
                at += bytes.len();
            }
            Part::Document(document) => {
                check.same("where a document begins", &document.offset, &at)?;
                at = source_end(input, parts.get(index + 1..).unwrap_or_default());
                let source = input.get(document.offset..at);
                check.that(source.is_some(), || format!("{document:?} ends at byte {at}"))?;
                let inside =
                    |repair: &&Repair| document.offset <= repair.start() && repair.end() <= at;
                let inside = document.repairs.iter().filter(inside).map(|repair| {
                    repair
                        .clone()
                        .with_span(repair.start() - document.offset..repair.end() - document.offset)
                });
                let inside: Vec<Repair> = inside.collect();
                let mended = apply(source.unwrap_or_default(), &inside).unwrap_or_default();
                check.same_text("a document", &document.json, &mended)?;
            }
        }
    }
    check.same("how far the parts reach", &at, &input.len())?;
    let single = !matches!(scope, Scope::All | Scope::Fenced);
    for document in run
        .found()
        .documents()
        .filter(|document| single && document.outcome.is_some_and(Outcome::is_valid))
    {
        let script = Check::new(Law::EditScript, input);
        let mended = apply(input, &document.repairs);
        script.that(mended.is_some(), || format!("no script: {:?}", document.repairs))?;
        script.same_text("the only document", &document.json, &mended.unwrap_or_default())?;
    }
    Ok(())
}

/// Where the source of a document ends: what follows it is text, up to the next document or the end.
fn source_end(input: &[u8], following: &[Part]) -> usize {
    let mut text = 0;
    for part in following {
        match part {
            Part::Text(bytes) | Part::Reasoning(bytes) => text += bytes.len(),
            Part::Document(next) => return next.offset.saturating_sub(text),
        }
    }
    input.len().saturating_sub(text)
}

fn same_end(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::NoPanic, input);
    let mut extractor = Finder::new(scope, options.clone());
    let mut found = Found::default();
    extractor.push(input, &mut found);
    check.that(extractor.withheld() <= input.len(), || "more withheld than pushed".to_owned())?;
    let outcome = extractor.finish(&mut found);
    check.same("withheld after the end", &extractor.withheld(), &0)?;
    extractor.push(input, &mut found);
    extractor.push(b"", &mut found);
    check.same("a settled outcome", &extractor.finish(&mut found), &outcome)
}

fn whole_text(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::EditScript, input);
    let mended = find(input, scope, options);
    check.same("text and outcome", &mended.text().is_some(), &mended.outcome().is_valid())?;
    let Some(text) = mended.text() else { return Ok(()) };
    let applied = apply(input, mended.repairs());
    check.that(applied.is_some(), || format!("no script: {:?}", mended.repairs()))?;
    check.same_text("find", &applied.unwrap_or_default(), text.as_bytes())?;
    let valid = match scope {
        Scope::All => oracle::are_documents(text.as_bytes()),
        _ => oracle::is_json(text.as_bytes()) || oracle::are_documents(text.as_bytes()),
    };
    check.that(valid, || format!("find gives {text:?}"))?;
    let check = Check::new(Law::Idempotence, input);
    let again = find(text.as_bytes(), Scope::Whole, options);
    if oracle::is_json(text.as_bytes()) {
        check.same("find, again", &again.outcome(), &Outcome::Unchanged)?;
        check.same("find, again", &again.repairs(), &&Repairs::new())?;
    }
    Ok(())
}

/// Text without JSON: it is emitted unchanged, as text, and no document is found in it.
///
/// # Errors
/// What was found or changed.
pub fn untouched(input: &[u8], scope: Scope, options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Identity, input);
    for cut in [Cut::whole(), Cut::bytes(input.len()), Cut::every(3, input.len())] {
        let run = Extraction::new(input, &cut, scope, options);
        check.same("Finder", &run.outcome(), &Outcome::None)?;
        check.that(run.found().documents().next().is_none(), || format!("{:?}", run.found()))?;
        check.same_text("Finder", &run.found().text(), input)?;
    }
    let mended = find(input, scope, options);
    check.same("find", &mended.outcome(), &Outcome::None)?;
    check.same("find", &mended.text(), &None)
}
