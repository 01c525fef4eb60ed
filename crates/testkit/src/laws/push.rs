//! The laws of the push path: L1, L2, L4, L6, L7.

use wiremend_core::{MendOptions, Mender, Outcome, RepairKind, TrailingDocuments, mend};

use super::{Check, Law, Shown, Violation};
use crate::{
    Seed,
    cuts::{self, Cut},
    oracle,
    run::{Moment, Run},
};

/// L1: after byte k the text, the repairs, the completion and the outcome are the same, however
/// the bytes were divided. Tries the cuts of [`cuts::thorough`].
///
/// # Errors
/// A cut after which something differs from the byte-by-byte run.
pub fn split_invariance(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    split_invariance_at(input, options, &cuts::thorough(input.len()))
}

/// L1 at the given cuts.
///
/// # Errors
/// A cut after which something differs from the byte-by-byte run.
pub fn split_invariance_at(
    input: &[u8],
    options: &MendOptions,
    cuts: &[Cut],
) -> Result<(), Violation> {
    let check = Check::new(Law::SplitInvariance, input);
    let bytes = Run::new(input, &Cut::bytes(input.len()), options);
    for cut in cuts {
        let run = Run::new(input, cut, options);
        let at = || format!("cut at {:?}", cut.offsets().get(..40).unwrap_or(cut.offsets()));
        let (got, want) = (run.recorder(), bytes.recorder());
        check.same(&format!("outcome, {}", at()), &run.outcome(), &bytes.outcome())?;
        check.same_text(&format!("text, {}", at()), got.text(), want.text())?;
        check.same(&format!("repairs, {}", at()), &got.repairs(), &want.repairs())?;
        check.same(&format!("document ends, {}", at()), &got.ends(), &want.ends())?;
        for moment in run.moments() {
            let Some(at_byte) = moment.offset.checked_sub(1) else {
                check.same("text before any input", &moment.text_len, &0)?;
                continue;
            };
            let Some(same) = bytes.moments().get(at_byte) else { continue };
            check.same(&format!("after byte {}, {}", moment.offset, at()), moment, same)?;
        }
    }
    Ok(())
}

/// L2: while a document is open, its text with the completion is valid JSON; at a valid end, the
/// output is.
///
/// # Errors
/// The byte after which it is not, or an end that is not.
pub fn always_valid(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::AlwaysValid, input);
    let run = Run::new(input, &Cut::bytes(input.len()), options);
    for moment in moments(&run) {
        if moment.outcome.is_some() {
            break;
        }
        let open = run.open_text(moment);
        let begun = !open.trim_ascii().is_empty();
        let Some(completion) = &moment.completion else {
            // A whole document needs no completion, even before its end is reported.
            check.that(!begun || oracle::is_json(open), || {
                format!("no completion of {} after byte {}", Shown(open), moment.offset)
            })?;
            continue;
        };
        let text = [open, completion.as_bytes()].concat();
        check.that(oracle::is_json(&text), || {
            let (open, closed) = (Shown(open), Shown(completion.as_bytes()));
            format!("{open} completed by {closed} after byte {}", moment.offset)
        })?;
    }
    valid_end(check, &run, options)
}

fn valid_end(check: Check<'_>, run: &Run, options: &MendOptions) -> Result<(), Violation> {
    if !run.outcome().is_valid() {
        return Ok(());
    }
    let (text, ends) = (run.recorder().text(), run.recorder().ends());
    let several = options.trailing_documents() == TrailingDocuments::All;
    check.that(if several { !ends.is_empty() } else { ends.len() == 1 }, || {
        format!("{} documents ended, outcome {}", ends.len(), run.outcome())
    })?;
    let starts = [0].into_iter().chain(ends.iter().copied());
    for (start, end) in starts.zip(ends.iter().copied()) {
        let document = text.get(start..end).unwrap_or_default();
        check.that(oracle::is_json(document), || format!("document {}", Shown(document)))?;
    }
    let rest = ends.last().and_then(|&end| text.get(end..)).unwrap_or_default();
    check.that(rest.trim_ascii().is_empty(), || format!("{} after the end", Shown(rest)))
}

/// All moments of a short run; for a long one, the first thousand and then every 97th.
pub(super) fn moments(run: &Run) -> impl Iterator<Item = &Moment> {
    run.moments().iter().enumerate().filter(|(at, _)| *at < 1000 || at % 97 == 0).map(|(_, m)| m)
}

/// L4: repairs come in order, without overlaps, and each before the first output byte after it;
/// completion and queries take nothing back.
///
/// # Errors
/// A repair that comes too late, or out of order.
pub fn append_only(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::AppendOnly, input);
    let run = Run::new(input, &Cut::bytes(input.len()), options);
    let recorder = run.recorder();
    let (mut read, mut written) = (0, 0);
    for (repair, &came) in recorder.repairs().iter().zip(recorder.repaired_at()) {
        check.that(read <= repair.start() && repair.start() <= repair.end(), || {
            format!("{repair:?} begins before {read}")
        })?;
        check.that(repair.end() <= input.len(), || format!("{repair:?} ends after the input"))?;
        written += repair.start() - read;
        check.that(came <= written, || {
            format!("{repair:?} belongs at byte {written} of the output, and came at {came}")
        })?;
        written += repair.after().len();
        read = repair.end();
    }
    let rising = run.moments().windows(2).all(|pair| match pair {
        [before, after] => {
            before.text_len <= after.text_len
                && before.repairs <= after.repairs
                && before.documents <= after.documents
        }
        _ => true,
    });
    check.that(rising, || "something was taken back".to_owned())
}

/// How many bytes one may take in a wrapper: a mark before its line, or an entity.
const WRAPPED_BYTE: usize = 24;

/// How far a mark before a line is looked for, if the look-ahead is less.
const LONGEST_MARK: usize = 32;

/// What takes a wrapper off.
const WRAPPERS: [RepairKind; 3] =
    [RepairKind::LineMark, RepairKind::HtmlEntity, RepairKind::EscapedDocument];

/// L6, the part about what is withheld: never more than the buffer limit, and a byte with the
/// look-ahead after it, which is at least 32 bytes where a mark may begin a line; in valid JSON no more than one look-ahead and one token, where a key counts
/// together with its number or literal; deep inside a string value no more than one character.
///
/// # Errors
/// The byte after which too much was withheld.
pub fn bounded(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Bounded, input);
    let run = Run::new(input, &Cut::bytes(input.len()), options);
    let limits = options.limits();
    let buffer = limits.buffer().max(limits.lookahead() + 1);
    for moment in run.moments() {
        // What was read and is withheld, the byte that is judged, and the look-ahead after it.
        let most = buffer + 1 + limits.lookahead().max(LONGEST_MARK);
        if moment.withheld <= most {
            continue;
        }
        // The limit counts bytes of the text without its wrapper, of which each may take more.
        let mended = mend(input, &MendOptions::new());
        let taken_off = |kind: &RepairKind| mended.repairs().contains(*kind);
        // What overflows, or holds no JSON, has no repairs that say so.
        let wrapped = WRAPPERS.iter().any(taken_off)
            || !run.outcome().is_valid() && (input.contains(&b'&') || input.contains(&b'\\'));
        check.that(wrapped && moment.withheld <= WRAPPED_BYTE * most, || {
            format!("{} bytes withheld after byte {}", moment.withheld, moment.offset)
        })?;
    }
    let Some(tokens) =
        oracle::tokens(input).filter(|tokens| oracle::depth(tokens) <= limits.depth())
    else {
        return Ok(());
    };
    let most = limits.lookahead() + oracle::longest_hold(input, &tokens);
    for moment in run.moments() {
        check.that(moment.withheld <= most, || {
            let withheld = moment.withheld;
            format!("{withheld} bytes of valid JSON withheld after byte {}", moment.offset)
        })?;
    }
    // An escaped surrogate pair, all but its last byte.
    const CHARACTER: usize = 11;
    for placed in tokens.iter().filter(|placed| matches!(placed.token, oracle::Token::Text(_))) {
        let inside = placed.start + limits.lookahead() + 1..placed.end;
        for moment in run.moments().get(inside).unwrap_or_default() {
            if moment.offset == placed.end {
                continue;
            }
            check.that(moment.withheld <= CHARACTER, || {
                let withheld = moment.withheld;
                format!("{withheld} bytes inside a string withheld after byte {}", moment.offset)
            })?;
        }
    }
    Ok(())
}

/// L7: pushes, ends, queries, clones and resets in an order that depends on the input. Nothing may
/// panic, a settled outcome stays until `reset`, and after `reset` everything is as new.
///
/// # Errors
/// An outcome that changed, or a run that differs after `reset`.
pub fn any_call_order(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::NoPanic, input);
    let mut seed = Seed::of(input);
    let mut mender = Mender::new(options.clone());
    let mut settled = None;
    let mut rest = input;
    for _ in 0..60 {
        let mut out = Vec::new();
        match seed.below(12) {
            0 => settled = Some(mender.finish(&mut out)),
            1 => settled = Some(settled_by_abandon(&mut mender, &mut out)),
            2 => {
                mender.reset();
                (settled, rest) = (None, input);
            }
            3 => mender = mender.clone(),
            4 => drop((mender.path().to_string(), mender.depth(), mender.repair_count())),
            5 => drop((mender.withheld(), mender.offset(), mender.document_ended())),
            6 => drop(mender.completion().map(|completion| completion.to_string())),
            _ => {
                let (chunk, tail) = rest.split_at(seed.below(rest.len() + 1));
                mender.push(chunk, &mut out);
                rest = tail;
                let raw = mender.withheld() == 0 && out == chunk;
                check.that(settled.is_none() || raw, || {
                    format!("pushed {} after the end, got {}", Shown(chunk), Shown(&out))
                })?;
            }
        }
        if settled.is_some() {
            check.same("a settled outcome", &mender.outcome(), &settled)?;
        }
        settled = settled.or(mender.outcome());
    }
    mender.reset();
    let mut again = Vec::new();
    mender.push(input, &mut again);
    let outcome = mender.finish(&mut again);
    let fresh = Run::new(input, &Cut::whole(), options);
    check.same("the outcome after reset", &outcome, &fresh.outcome())?;
    check.same_text("the text after reset", &again, fresh.recorder().text())
}

/// Abandoning settles an open run as abandoned, and leaves a settled one as it is.
fn settled_by_abandon(mender: &mut Mender, out: &mut Vec<u8>) -> Outcome {
    let before = mender.outcome();
    let after = mender.abandon(out);
    before.unwrap_or(after)
}
