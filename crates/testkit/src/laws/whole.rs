//! The laws of whole texts: L3, L5, L9 and L11.

use wiremend_core::{
    BufferedMender, Limits, MendOptions, Mended, Outcome, Policy, Repair, RepairKind, Repairs,
    TrailingDocuments, apply, mend,
};
use wiremend_extract::{Scope, find};

use super::{Check, Law, Violation};
use crate::{
    Seed,
    cuts::{self, Cut},
    extracted::Extraction,
    oracle,
    run::Run,
};

/// L3: valid JSON comes out unchanged, with no repair, under every policy.
///
/// Does not apply to texts that exceed a limit, or to lone surrogate escapes.
///
/// # Errors
/// The entry point that changed something.
pub fn identity(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Identity, input);
    let limits = options.limits();
    let plain = |tokens: &Vec<oracle::Placed>| {
        oracle::depth(tokens) <= limits.depth()
            && oracle::longest_hold(input, tokens) <= limits.buffer()
            && !oracle::has_lone_surrogate(tokens)
    };
    if !oracle::tokens(input).is_some_and(|tokens| plain(&tokens)) {
        return Ok(());
    }
    for policy in [Policy::STRICT, Policy::CONSERVATIVE, Policy::PERMISSIVE] {
        let options = options.clone().with_policy(policy);
        untouched_whole(check, "mend", &mend(input, &options))?;
        untouched_whole(
            check,
            "BufferedMender",
            &buffered(input, &Cut::every(5, input.len()), &options),
        )?;
        for cut in [Cut::whole(), Cut::bytes(input.len())] {
            let run = Run::new(input, &cut, &options);
            check.same("Mender", &run.outcome(), &Outcome::Unchanged)?;
            check.same("Mender", &run.recorder().repairs(), &&Repairs::new())?;
            check.same_text("Mender", run.recorder().text(), input)?;
        }
    }
    Ok(())
}

fn untouched_whole(check: Check<'_>, entry: &str, mended: &Mended) -> Result<(), Violation> {
    check.same(entry, &mended.outcome(), &Outcome::Unchanged)?;
    check.same(entry, &mended.repairs(), &&Repairs::new())?;
    check.same_text(entry, mended.text().unwrap_or_default().as_bytes(), check.input)
}

fn buffered(input: &[u8], cut: &Cut, options: &MendOptions) -> Mended {
    let mut buffered = BufferedMender::new(options.clone());
    for chunk in cut.chunks(input) {
        buffered.push(chunk, &mut ());
    }
    buffered.finish(&mut ())
}

/// L5: applying the repairs to the input gives the output, for every path that has one.
///
/// # Errors
/// The path whose script does not hold.
pub fn edit_script(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::EditScript, input);
    let mended = mend(input, options);
    check.same("text and outcome", &mended.text().is_some(), &mended.outcome().is_valid())?;
    let recorded = !mended.repairs().is_empty();
    check.that(mended.outcome() != Outcome::Unchanged || !recorded, || {
        format!("unchanged, with {:?}", mended.repairs())
    })?;
    check.that(mended.outcome() != Outcome::Repaired || recorded, || {
        "repaired, with no repair recorded".to_owned()
    })?;
    if let Some(text) = mended.text() {
        changes_something(check, input, mended.repairs())?;
        let applied = apply(input, mended.repairs());
        check.that(applied.is_some(), || format!("no script: {:?}", mended.repairs()))?;
        check.same_text("mend", &applied.unwrap_or_default(), text.as_bytes())?;
        check.that(is_output(text.as_bytes(), options), || format!("mend gives {text:?}"))?;
        let allowed = |repair: wiremend_core::Repair| options.policy().permits(&repair);
        check.that(mended.repairs().iter().all(allowed), || {
            format!("a repair that the policy forbids: {:?}", mended.repairs())
        })?;
    }
    let run = Run::new(input, &Cut::whole(), options);
    if run.outcome().is_valid() {
        changes_something(check, input, run.recorder().repairs())?;
        let applied = apply(input, run.recorder().repairs());
        check.that(applied.is_some(), || format!("no script: {:?}", run.recorder().repairs()))?;
        check.same_text("Mender", &applied.unwrap_or_default(), run.recorder().text())?;
    }
    Ok(())
}

/// Fails if a repair replaces something by itself.
fn changes_something(check: Check<'_>, input: &[u8], repairs: &Repairs) -> Result<(), Violation> {
    let idle = |repair: &Repair| input.get(repair.span()) == Some(repair.after().as_bytes());
    check.same("a repair that changes nothing", &repairs.iter().find(idle), &None)
}

/// Whether `text` is what a valid outcome promises.
fn is_output(text: &[u8], options: &MendOptions) -> bool {
    match options.trailing_documents() {
        TrailingDocuments::All => oracle::are_documents(text),
        _ => oracle::is_json(text),
    }
}

/// L9: mending the output changes nothing and records nothing.
///
/// # Errors
/// The path that changed mended text.
pub fn idempotence(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Idempotence, input);
    let run = Run::new(input, &Cut::whole(), options);
    let pushed = run.outcome().is_valid().then(|| run.recorder().text().to_vec());
    let mended = mend(input, options).text().map(|text| text.as_bytes().to_vec());
    for text in [pushed, mended].into_iter().flatten() {
        let again = Check { input: &text, ..check };
        // The output may be longer than the input, and exceed limits that the input just met.
        let limits = options.limits();
        let options =
            &options.clone().with_limits(limits.with_buffer(limits.buffer() + 2 * text.len()));
        untouched_whole(again, "mend, again", &mend(&text, options))?;
        let run = Run::new(&text, &Cut::whole(), options);
        again.same("Mender, again", &run.outcome(), &Outcome::Unchanged)?;
        again.same("Mender, again", &run.recorder().repairs(), &&Repairs::new())?;
        again.same_text("Mender, again", run.recorder().text(), &text)?;
    }
    Ok(())
}

/// L11: the buffered path gives the result of `mend`, however the input was divided, as long as the
/// input fits the buffer; beyond that it gives the result of the push path.
///
/// # Errors
/// A cut at which they differ.
pub fn agreement(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Agreement, input);
    let whole = mend(input, options);
    for cut in cuts::few(input.len(), &mut Seed::of(input)) {
        let buffered = buffered(input, &cut, options);
        if input.len() <= options.limits().buffer() {
            check.same("BufferedMender", &buffered, &whole)?;
            continue;
        }
        let run = Run::new(input, &cut, options);
        check.same("BufferedMender beyond the buffer", &buffered.outcome(), &run.outcome())?;
        let text = buffered.text().map_or_else(|| run.recorder().text(), str::as_bytes);
        check.same_text("BufferedMender beyond the buffer", text, run.recorder().text())?;
    }
    Ok(())
}

/// L11 between the push path and `mend`, for inputs that need no repair that only whole texts allow. What is in doubt
/// is known only of whole texts.
///
/// # Errors
/// The difference.
pub fn push_agreement(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    let check = Check::new(Law::Agreement, input);
    let (whole, run) = (mend(input, options), Run::new(input, &Cut::whole(), options));
    // Only a whole text is known to have another reading, and refused for it.
    let doubted = whole.repairs().last().is_some_and(|repair| repair.is_in_doubt());
    if doubted && whole.outcome() == Outcome::Invalid {
        return Ok(());
    }
    check.same("Mender", &run.outcome(), &whole.outcome())?;
    if let Some(text) = whole.text() {
        let sure = |repair: Repair| {
            let (kind, span, after) = repair.into_parts();
            Repair::new(kind, span, after)
        };
        let repairs: Repairs = whole.repairs().iter().map(sure).collect();
        check.same_text("Mender", run.recorder().text(), text.as_bytes())?;
        check.same("Mender", &run.recorder().repairs(), &&repairs)?;
    }
    Ok(())
}

// L15: white space around a text changes nothing.

/// What is put before a text, and after it. White space before the text on its first line is a part of
/// that line, whose beginning may be the mark of all lines, or a fence: so it counts only before a bracket.
const AROUND: [(&str, &str); 8] = [
    ("", " "),
    ("", "\n"),
    ("", "\r\n"),
    ("", "\t\n "),
    ("", "\n\n"),
    (" ", ""),
    ("\n", ""),
    ("\r\n\n", "\n"),
];

/// What was read of a text.
#[derive(Debug, PartialEq)]
struct ReadText {
    outcome: Outcome,
    /// The documents, without white space outside of strings, and their outcomes.
    documents: Vec<(Option<Outcome>, String)>,
    /// Kind, span in the text, and replacement.
    repairs: Vec<(RepairKind, usize, usize, String)>,
}

/// A text, and the white space before it.
#[derive(Clone, Copy)]
struct Around<'a> {
    prefix: usize,
    text: &'a [u8],
}

impl Around<'_> {
    /// The repairs of the text itself. One that deletes its end may reach over the white space after it.
    fn repairs(
        self,
        repairs: impl Iterator<Item = Repair>,
    ) -> Vec<(RepairKind, usize, usize, String)> {
        let start = self.text.len() - self.text.trim_ascii_start().len();
        let end = start.max(self.text.trim_ascii_end().len());
        let place = |at: usize| at.saturating_sub(self.prefix).clamp(start, end);
        let of_text = repairs.map(|repair| {
            let (from, to) = (place(repair.start()), place(repair.end()));
            (repair.kind(), from, to, repair.after().trim().to_owned())
        });
        of_text.filter(|(_, from, to, after)| from < to || !after.is_empty()).collect()
    }

    fn mended(self, mended: &Mended) -> ReadText {
        let text = mended.text().map(|text| (None, without_space(text.as_bytes(), true)));
        ReadText {
            outcome: mended.outcome(),
            documents: text.into_iter().collect(),
            repairs: self.repairs(mended.repairs().iter()),
        }
    }

    fn found(self, run: &Extraction) -> ReadText {
        let documents: Vec<_> = run.found().documents().collect();
        let text = |json: &[u8], outcome: Option<Outcome>| {
            without_space(json, outcome.is_some_and(Outcome::is_valid))
        };
        ReadText {
            outcome: run.outcome(),
            documents: documents
                .iter()
                .map(|document| (document.outcome, text(&document.json, document.outcome)))
                .collect(),
            repairs: self.repairs(documents.iter().flat_map(|one| one.repairs.iter().cloned())),
        }
    }
}

/// A text without the white space outside of its strings, or if it is no JSON, around it.
fn without_space(text: &[u8], valid: bool) -> String {
    if !valid {
        return String::from_utf8_lossy(text.trim_ascii()).into_owned();
    }
    let (mut kept, mut inside, mut escaped) = (Vec::new(), false, false);
    for &byte in text {
        if inside || !byte.is_ascii_whitespace() {
            kept.push(byte);
        }
        (inside, escaped) = match byte {
            b'"' if !escaped => (!inside, false),
            b'\\' => (inside, inside && !escaped),
            _ => (inside, false),
        };
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// Compares the text with itself in white space, as `read` reads them.
///
/// What a text that was cut off holds last may be another token if white space follows it, as a string
/// that was not closed is another string. That it is not complete is said in either case.
///
/// White space counts against the limits as other bytes do. So a text is compared if they hold all of it, or are
/// as wide as by default and nothing of it is beyond what is kept.
fn same(
    input: &[u8],
    limits: Limits,
    of: &str,
    read: impl Fn(&[u8], Around<'_>) -> ReadText,
) -> Result<(), Violation> {
    let check = Check::new(Law::SpaceAround, input);
    let want = read(input, Around { prefix: 0, text: input });
    let ahead = if limits.lookahead() < Limits::new().lookahead() {
        limits.lookahead()
    } else {
        usize::MAX
    };
    for (before, after) in AROUND {
        if before == " " && !matches!(input.first(), Some(b'{' | b'[')) {
            continue;
        }
        let text = [before.as_bytes(), input, after.as_bytes()].concat();
        if text.len() > ahead.min(limits.buffer()) {
            continue;
        }
        let got = read(&text, Around { prefix: before.len(), text: input });
        let same =
            if want.outcome.is_complete() { got == want } else { !got.outcome.is_complete() };
        check.that(same, || {
            format!("{of}, in {before:?} and {after:?}: {got:?} instead of {want:?}")
        })?;
    }
    Ok(())
}

/// L15 for [`mend`] and [`Mender`](wiremend_core::Mender).
///
/// # Errors
/// The difference that white space makes.
///
/// ```
/// use wiremend_core::MendOptions;
/// use wiremend_testkit::laws;
/// laws::space_around(b"{'a': 1} and {'b': 2}", &MendOptions::new()).unwrap();
/// ```
pub fn space_around(input: &[u8], options: &MendOptions) -> Result<(), Violation> {
    same(input, options.limits(), "mend", |text, around| around.mended(&mend(text, options)))?;
    same(input, options.limits(), "Mender", |text, around| {
        let run = Run::new(text, &Cut::whole(), options);
        let document = without_space(run.recorder().text(), run.outcome().is_valid());
        ReadText {
            outcome: run.outcome(),
            documents: vec![(None, document)],
            repairs: around.repairs(run.recorder().repairs().iter()),
        }
    })
}

/// L15 for [`find`] and [`Finder`](wiremend_extract::Finder).
///
/// # Errors
/// The difference that white space makes.
pub fn text_space_around(
    input: &[u8],
    scope: Scope,
    options: &MendOptions,
) -> Result<(), Violation> {
    same(input, options.limits(), &format!("find, {scope}"), |text, around| {
        around.mended(&find(text, scope, options))
    })?;
    same(input, options.limits(), &format!("Finder, {scope}"), |text, around| {
        around.found(&Extraction::new(text, &Cut::whole(), scope, options))
    })
}
