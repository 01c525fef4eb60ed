//! The laws of the push path: L1, L2, L4, L6, L7.

use wiremend_core::{
    Collected, DeltaOp, MendOptions, Mender, Outcome, OwnedValue, Partial, Policy, RepairKind,
    Revision, TrailingDocuments, apply, mend,
};

use super::{Check, Law, Shown, Violation};
use crate::{
    Seed,
    cuts::{self, Cut},
    oracle::{self, Placed, Token},
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

// The laws of ends: L8 and L10.

/// L8: however the push path ends, every byte of the input was copied or replaced by a recorded
/// repair, even if it is abandoned after any byte.
///
/// # Errors
/// The end at which bytes are missing, or were invented.
pub fn nothing_lost(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    nothing_lost_at_end(input, options)?;
    let mut heads = offsets(input.len()).map(|at| input.get(..at).unwrap_or_default());
    heads.try_for_each(|head| abandoned(head, options))
}

/// L8, if the input is finished.
///
/// # Errors
/// The cut with which bytes are missing, or were invented.
pub fn nothing_lost_at_end(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::NothingLost, input);
    for cut in [Cut::whole(), Cut::bytes(input.len())] {
        let run = Run::new(input, &cut, options);
        let accounted = apply(input, run.recorder().repairs()).unwrap_or_default();
        check.same_text(run.outcome().code(), run.recorder().text(), &accounted)?;
    }
    Ok(())
}

/// L8, if the push path is abandoned after `input`.
///
/// # Errors
/// What is missing, or was invented.
pub fn abandoned(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::NothingLost, input);
    let mut mender = Mender::new(options.clone());
    let mut out = (Partial::new(), Collected::default());
    mender.push(input, &mut out);
    let settled = mender.outcome();
    let outcome = mender.abandon(&mut out);
    let seen = out.0.revision();
    mender.push(b"more", &mut out);
    check.that(out.0.since(&seen).next().is_none(), || {
        "abandoned, the snapshot read on in raw text".to_owned()
    })?;
    let out = out.1;
    check.same("the outcome of abandon", &outcome, &settled.unwrap_or(Outcome::Abandoned))?;
    check.same("withheld after abandon", &mender.withheld(), &0)?;
    let accounted = apply(input, out.repairs()).unwrap_or_default();
    let (text, raw) = out.text().split_at(out.text().len().saturating_sub(4));
    check.same_text("pushed after abandon", raw, b"more")?;
    check.same_text("abandoned", text, &accounted)
}

/// L10: a valid container with its end cut off is closed, cut or nothing; never complete.
///
/// # Errors
/// The prefix that was called something else.
pub fn honest_ends(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::HonestEnds, input);
    cut_at_is_consistent(check, input, options)?;
    let Some(tokens) = oracle::tokens(input) else { return Ok(()) };
    let container = matches!(
        tokens.first().map(|first| &first.token),
        Some(oracle::Token::OpenArray | oracle::Token::OpenObject)
    );
    if !container || oracle::depth(&tokens) > options.limits().depth() {
        return Ok(());
    }
    if oracle::has_lone_surrogate(&tokens) {
        return Ok(());
    }
    let (first, last) =
        (tokens.first().map_or(0, |first| first.start), tokens.last().map_or(0, |last| last.end));
    let limits = options.limits();
    if oracle::longest_hold(input, &tokens) > limits.buffer() {
        return Ok(());
    }
    for at in offsets(last) {
        let head = input.get(..at).unwrap_or_default();
        for policy in [Policy::PERMISSIVE, Policy::CONSERVATIVE, Policy::STRICT] {
            let options = options.clone().with_policy(policy);
            let mended = mend(head, &options);
            let run = Run::new(head, &Cut::whole(), &options);
            for outcome in [mended.outcome(), run.outcome()] {
                let honest = match outcome {
                    Outcome::None => true,
                    Outcome::Closed => policy.closes_cut() && at > first,
                    Outcome::Cut => !policy.closes_cut() && at > first,
                    _ => false,
                };
                check
                    .that(honest, || format!("cut after byte {at}, {outcome} under {policy:?}"))?;
            }
            cut_at_is_consistent(Check { input: head, ..check }, head, &options)?;
        }
    }
    Ok(())
}

/// An outcome says where the input was cut off if and only if it was.
fn cut_at_is_consistent(
    check: Check<'_>,
    input: &[u8],
    options: &MendOptions,
) -> Result<(), Violation> {
    let mended = mend(input, options);
    let cut = matches!(mended.outcome(), Outcome::Closed | Outcome::Cut);
    check.same("whether the place of the cut is reported", &mended.cut_at().is_some(), &cut)
}

/// Every proper prefix of a short text; of a long one the first few hundred, and then every 61st.
pub(super) fn offsets(len: usize) -> impl Iterator<Item = usize> {
    (0..len).filter(|at| *at < 400 || at.is_multiple_of(61))
}

// L12: partial values.

/// L12: what `output + completion()` contains after one byte, it still contains after the next and at
/// the end: nothing changes its type, numbers and literals appear whole, strings only grow, and only
/// open containers gain members or items.
///
/// # Errors
/// The byte after which a snapshot is contradicted, and by what.
pub fn stable_snapshots(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::StableSnapshots, input);
    let run = Run::new(input, &Cut::bytes(input.len()), options);
    let mut last: Option<(usize, Snapshot)> = None;
    for moment in moments(&run) {
        let Some(completion) = &moment.completion else { continue };
        let Some(now) = Snapshot::new(run.open_text(moment), completion) else { continue };
        if let Some((document, before)) = &last
            && *document == moment.documents
        {
            check.that(before.is_prefix_of(&now), || {
                let (before, now) = (Shown(&before.text), Shown(&now.text));
                format!("{before} became {now} after byte {}", moment.offset)
            })?;
        }
        last = Some((moment.documents, now));
    }
    // The last snapshot of the last document must agree with the final output.
    let Some((document, before)) = last.filter(|_| run.outcome().is_valid()) else {
        return Ok(());
    };
    let ends = run.recorder().ends();
    let start = document.checked_sub(1).and_then(|at| ends.get(at)).copied().unwrap_or(0);
    let Some(&end) = ends.get(document) else { return Ok(()) };
    let text = run.recorder().text().get(start..end).unwrap_or_default();
    let Some(whole) = Snapshot::new(text, "") else { return Ok(()) };
    check.that(before.is_prefix_of(&whole), || {
        format!("{} became {} at the end", Shown(&before.text), Shown(&whole.text))
    })
}

/// L12 for [`Partial`]: after every byte it holds the value of `output + completion()`.
///
/// # Errors
/// The byte after which they differ.
pub fn partial_agrees(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::StableSnapshots, input);
    let mut mender = Mender::new(options.clone());
    let mut partial = Partial::new();
    let mut text = Vec::new();
    for (at, byte) in input.iter().enumerate() {
        mender.push(&[*byte], &mut (&mut partial, &mut text));
        let Some(completion) = mender.completion() else { continue };
        let spelled = [&text[..], completion.to_string().as_bytes()].concat();
        // One document only: a partial value keeps the first.
        let Some(tokens) = oracle::tokens(&spelled).filter(|_| !partial.is_complete()) else {
            continue;
        };
        let shown = partial.to_string();
        let contained = oracle::tokens(shown.as_bytes()).unwrap_or_default();
        let same = tokens.iter().map(decoded).eq(contained.iter().map(decoded));
        check.that(same, || format!("{} shows {shown} after byte {at}", Shown(&spelled)))?;
    }
    Ok(())
}

/// A token with its escapes decoded: a partial value keeps no spelling.
fn decoded(placed: &Placed) -> Token {
    let decode = |text: &[u8]| {
        let quoted = [&b"\""[..], text, b"\""].concat();
        serde_json::from_slice::<String>(&quoted).map_or_else(|_| text.to_vec(), String::into_bytes)
    };
    match &placed.token {
        Token::Key(key) => Token::Key(decode(key)),
        Token::Text(text) => Token::Text(decode(text)),
        token => token.clone(),
    }
}

/// L12 for changes: applied in order to an earlier state of a [`Partial`], they give the present one,
/// whatever the chunks and however often a reader asks; and together they are no larger than the
/// document.
///
/// # Errors
/// The chunk after which the two differ, or the change that does not fit.
pub fn deltas_rebuild(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let mut seed = Seed::of(input);
    cuts::few(input.len(), &mut seed)
        .iter()
        .try_for_each(|cut| deltas_rebuild_at(input, options, cut, &mut seed))
}

fn deltas_rebuild_at(
    input: &[u8],
    options: &MendOptions,
    cut: &Cut,
    seed: &mut Seed,
) -> Result<(), Violation> {
    let check = Check::new(Law::StableSnapshots, input);
    let mut mender = Mender::new(options.clone());
    let mut partial = Partial::new();
    let [mut eager, mut idle] = [(); 2].map(|()| Follower::default());
    for chunk in cut.chunks(input) {
        mender.push(chunk, &mut partial);
        eager.catch_up(&partial, check)?;
        if seed.below(5) == 0 {
            idle.catch_up(&partial, check)?;
        }
    }
    mender.finish(&mut partial);
    eager.catch_up(&partial, check)?;
    idle.catch_up(&partial, check)?;
    // Many small steps report what one step reports, except for strings that grew in pieces.
    let mut at_once = Follower::default();
    at_once.catch_up(&partial, check)?;
    let settled = |follower: &Follower| (follower.added, follower.closed);
    check.same("values added and closed", &settled(&eager), &settled(&at_once))?;
    check.same("values added and closed", &settled(&idle), &settled(&at_once))?;
    let most = at_once.appended + eager.asked;
    check.that(eager.appended <= most, || {
        format!("{} pieces of text in {} steps, at most {most}", eager.appended, eager.asked)
    })
}

/// A copy of a partial value that is updated by changes alone.
#[derive(Default)]
struct Follower {
    value: OwnedValue,
    seen: Revision,
    asked: usize,
    added: usize,
    appended: usize,
    closed: usize,
}

impl Follower {
    fn catch_up(&mut self, partial: &Partial, check: Check<'_>) -> Result<(), Violation> {
        self.asked += 1;
        for delta in partial.since(&self.seen) {
            match delta.op() {
                DeltaOp::Append(_) => self.appended += 1,
                DeltaOp::Close => self.closed += 1,
                _ => self.added += 1,
            }
            let applied = self.value.apply(&delta.path(), &delta.op());
            check.that(applied.is_ok(), || format!("{delta} does not fit {}", self.value))?;
        }
        self.seen = partial.revision();
        let now = partial.to_owned_value();
        check.that(self.value == now, || format!("changes gave {:?}, not {now:?}", self.value))
    }
}

/// A partial value: the part that was emitted, closed by the completion.
struct Snapshot {
    text: Vec<u8>,
    tokens: Vec<Placed>,
    /// How much of the text was emitted.
    left: usize,
}

impl Snapshot {
    fn new(open: &[u8], completion: &str) -> Option<Self> {
        let text = [open, completion.as_bytes()].concat();
        let tokens = oracle::tokens(&text)?;
        Some(Self { text, tokens, left: open.len() })
    }

    /// Whether `later` contains everything in this snapshot that is not open.
    fn is_prefix_of(&self, later: &Self) -> bool {
        let added = |placed: &&Placed| placed.token == Token::Close && placed.start >= self.left;
        let open_ends = self.tokens.iter().rev().take_while(added).count();
        let Some(said) = self.tokens.get(..self.tokens.len() - open_ends) else { return false };
        let Some(still) = later.tokens.get(..said.len()) else { return false };
        let Some((last, settled)) = said.split_last() else { return true };
        let Some((last_still, settled_still)) = still.split_last() else { return false };
        let same = settled.iter().zip(settled_still).all(|(a, b)| a.token == b.token);
        same && match (&last.token, &last_still.token) {
            // A string whose closing quote the completion added may still grow.
            (Token::Text(shown), Token::Text(grown)) if last.end > self.left => {
                grown.starts_with(shown)
            }
            (token, still) => token == still,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(before: (&str, &str), later: (&str, &str)) -> bool {
        let snapshot = |(open, closed): (&str, &str)| Snapshot::new(open.as_bytes(), closed);
        snapshot(before).unwrap().is_prefix_of(&snapshot(later).unwrap())
    }

    #[test]
    fn what_is_open_may_grow() {
        assert!(holds((r#"{"a": "x"#, "\"}"), (r#"{"a": "xy"}"#, "")));
        assert!(holds(("[", "]"), ("[[1]", "]")));
        assert!(holds((r#"{"a": {"#, "}}"), (r#"{"a": {}, "b": 1"#, "}")));
    }

    #[test]
    fn what_was_said_may_not_change() {
        assert!(!holds(("[1", "]"), ("[12", "]")));
        assert!(!holds(("[t", "rue]"), ("[false]", "")));
        assert!(!holds((r#"["x""#, "]"), (r#"["xy"]"#, "")));
        assert!(!holds((r#"{"a":"#, " null}"), (r#"{"a": 1}"#, "")));
        assert!(!holds((r#"{"a"#, r#"": null}"#), (r#"{"ab": null}"#, "")));
        assert!(!holds(("[[1]", "]"), ("[[1, 2]]", "")));
    }
}
