//! `jsonmend explain`: what a code means.

use std::io::{self, Write as _};

use jsonmend_core::{Policy, RepairKind, Risk};
use serde_json::json;

use crate::{
    Session,
    args::ExplainArgs,
    exit::{Exit, Failure},
    paint::{BOLD, DIM, NAME},
    visible::visible,
};

pub(crate) fn run(args: &ExplainArgs, session: Session) -> Result<Exit, Failure> {
    let mut out = io::stdout().lock();
    let Some(code) = &args.code else {
        for &kind in RepairKind::ALL {
            if args.json {
                writeln!(out, "{}", object(kind))?;
            } else {
                // The padding is outside the colour: escapes would count as width.
                let name = session.stdout.paint(NAME, kind.code());
                let pad = " ".repeat(22_usize.saturating_sub(kind.code().len()));
                writeln!(out, "{name}{pad}{:<8}{}", kind.risk(), kind.summary())?;
            }
        }
        out.flush()?;
        return Ok(Exit::Unchanged);
    };
    let kind = RepairKind::from_code(code).ok_or_else(|| Failure::Usage(unknown(code)))?;
    if args.json {
        writeln!(out, "{}", object(kind))?;
    } else {
        writeln!(out, "{}", page(kind, session))?;
    }
    out.flush()?;
    Ok(Exit::Unchanged)
}

fn page(kind: RepairKind, session: Session) -> String {
    let paint = session.stdout;
    let (before, after) = kind.example();
    let label = |text: &str| paint.paint(DIM, format_args!("{text:<8}"));
    format!(
        "{title}\n\n{summary}\n\n{l_before}  {before}\n{l_after}  {after}\n\n{l_risk}  {risk}: {meaning}\n\
         {l_allowed}  {allowed}\n{l_off}  --off {kind}",
        title = paint.paint(BOLD, kind),
        summary = kind.summary(),
        l_before = label("before"),
        before = visible(before.as_bytes(), 200),
        l_after = label("after"),
        after = visible(after.as_bytes(), 200),
        l_risk = label("risk"),
        risk = kind.risk(),
        meaning = meaning(kind.risk()),
        l_allowed = label("policies"),
        allowed = policies(kind).join(", "),
        l_off = label("refuse"),
    )
}

fn object(kind: RepairKind) -> serde_json::Value {
    let (before, after) = kind.example();
    json!({
        "code": kind.code(),
        "risk": kind.risk().code(),
        "summary": kind.summary(),
        "before": before,
        "after": after,
        "meaning": meaning(kind.risk()),
        "policies": policies(kind),
    })
}

/// What a reader may still rely on after a repair of that risk.
const fn meaning(risk: Risk) -> &'static str {
    match risk {
        Risk::Exact => "there is one reading, and nothing is lost",
        Risk::Likely => {
            "the reading is strongly indicated, or nothing that carries meaning changed"
        }
        Risk::Lossy => "something the input held is dropped, because JSON cannot hold it",
        Risk::Guess => "something is invented, or one of several readings was chosen: check it",
    }
}

/// The policies that make the repair.
fn policies(kind: RepairKind) -> Vec<&'static str> {
    [("conservative", Policy::CONSERVATIVE), ("permissive", Policy::PERMISSIVE)]
        .into_iter()
        .filter(|(_, policy)| policy.allows(kind))
        .map(|(name, _)| name)
        .collect()
}

/// The complaint about a code that does not exist, with the nearest one that does.
pub(crate) fn unknown(code: &str) -> String {
    let shown = visible(code.as_bytes(), 40);
    // Codes are short; a longer word is like none of them, and would cost its square.
    let wanted: Vec<char> = code.chars().take(64).collect();
    let distance = |kind: &RepairKind| edit_distance(&wanted, kind.code());
    let nearest = RepairKind::ALL.iter().copied().min_by_key(distance);
    match nearest.filter(|kind| distance(kind) <= kind.code().len() / 2) {
        Some(kind) => format!("no repair has the code `{shown}`; did you mean `{kind}`?"),
        None => format!("no repair has the code `{shown}`; `jsonmend explain --list` lists them"),
    }
}

/// The fewest insertions, deletions and replacements that turn one word into the other
/// (Levenshtein), one row of the table at a time.
fn edit_distance(from: &[char], to: &str) -> usize {
    let mut row: Vec<usize> = (0..=from.len()).collect();
    for (line, c) in to.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, &have) in row.iter_mut().skip(1).zip(from) {
            let replaced = diagonal + usize::from(have != c);
            diagonal = *cell;
            left = replaced.min(left + 1).min(*cell + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(from: &str, to: &str) -> usize {
        edit_distance(&from.chars().collect::<Vec<_>>(), to)
    }

    #[test]
    fn distances_are_the_textbook_ones() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }

    #[test]
    fn the_nearest_code_is_named_when_it_is_near() {
        assert!(unknown("single-quotes").contains("did you mean `single-quote`"));
        assert!(unknown("mising-coma").contains("did you mean `missing-comma`"));
        assert!(unknown("zzzzzzzzzzzzzzzzzzzzzzz").contains("--list"));
    }

    #[test]
    fn every_kind_has_a_policy_that_makes_it() {
        for &kind in RepairKind::ALL {
            assert!(policies(kind).contains(&"permissive"), "{kind}");
        }
    }
}
