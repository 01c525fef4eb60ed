//! The law of asking again: whatever is answered, the loop ends, and what it returns is valid.

use core::time::Duration;

use wiremend_reask::{Answer, Failure, Reask, ReaskOptions, Step};
use wiremend_schema::{FitOptions, Schema, Tree};
use wiremend_wire::FinishReason;

use crate::laws::{Law, Violation};

/// What divides the answers of an input.
const SEPARATOR: u8 = 0x1e;
/// More steps than any loop with these budgets may take.
const STEPS: usize = 40;

/// Feeds a loop with the pieces of `input` as answers, again and again. The first byte of a piece says how the
/// answer ended.
///
/// # Errors
/// If the loop does not end, exceeds its budgets, or returns a value that is not valid.
pub fn ends_with_what_is_valid(
    schema: &Schema,
    input: &[u8],
    fit: FitOptions,
) -> Result<(), Violation> {
    let violation = |what: String| Err(Violation::new(Law::HonestEnds, input, what));
    let options = ReaskOptions::new().with_fit(fit).with_attempts(5).with_continuations(4);
    let mut reask = Reask::new(schema, options);
    let mut shown = false;
    let pieces: Vec<&[u8]> = input.split(|byte| *byte == SEPARATOR).collect();
    for piece in pieces.iter().cycle().take(STEPS) {
        let (&kind, text) = piece.split_first().unwrap_or((&0, &[]));
        let text = String::from_utf8_lossy(text).into_owned();
        let step = if kind & 7 == 7 {
            reask.failed(Failure::status(400, text), Duration::ZERO)
        } else {
            let finish = match kind & 33 {
                0 => FinishReason::Stop,
                1 => FinishReason::Length,
                _ => FinishReason::ContentFilter,
            };
            shown |= kind & 64 != 0;
            let answer = if kind & 4 == 0 { Answer::text(text) } else { Answer::arguments(text) };
            reask.answer(&answer.with_finish(finish).with_shown(kind & 64 != 0), Duration::ZERO)
        };
        match step {
            Step::Done(_) if kind & 7 != 7 && kind & 32 != 0 => {
                return violation("what a filter stopped is a value".to_owned());
            }
            Step::Done(done) => {
                let valid = Tree::read(done.json()).is_ok_and(|tree| schema.accepts(&tree));
                if !valid || done.fitted().text() != Some(done.json()) {
                    return violation(format!("returned {}", done.json()));
                }
                return Ok(());
            }
            Step::Exhausted(end) if end.spent().calls() > 10 => {
                return violation(format!("{} calls", end.spent().calls()));
            }
            Step::Exhausted(_) => return Ok(()),
            Step::Ask(ask) if shown && ask.attempt() > 0 => {
                return violation("a replacement of what was shown".to_owned());
            }
            Step::Ask(ask) | Step::Continue(ask)
                if ask.user_message().unwrap_or_default().contains("<|") =>
            {
                return violation("the mark of a chat template in a prompt".to_owned());
            }
            _ => {}
        }
    }
    // A caller that only gets failures ends the loop itself.
    let failing = pieces.iter().any(|piece| piece.first().is_some_and(|kind| kind & 7 == 7));
    if failing { Ok(()) } else { violation("the loop does not end".to_owned()) }
}
