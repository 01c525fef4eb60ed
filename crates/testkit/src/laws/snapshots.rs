//! L12: partial values.

use wiremend_core::{DeltaOp, MendOptions, Mender, OwnedValue, Partial, Revision};

use super::{Check, Law, Shown, Violation, push::moments};
use crate::{
    Seed,
    cuts::{self, Cut},
    oracle::{self, Placed, Token},
    run::Run,
};

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
