//! The laws of ends: L8 and L10.

use wiremend_core::{Collected, MendOptions, Mender, Outcome, Partial, Policy, apply, mend};

use super::{Check, Law, Violation};
use crate::{cuts::Cut, oracle, run::Run};

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
