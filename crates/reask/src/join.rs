//! Puts an answer that was cut off together with what the model wrote when it was asked to go on.

/// The shortest repetition of the end of an answer that is taken for one, in bytes.
const OVERLAP: usize = 12;
/// How far back a repetition is looked for, in bytes.
const LONGEST: usize = 512;

/// Ways to read `more` after `prefix`, the likeliest first.
///
/// Models repeat the last words, put the rest into a code fence, or begin again in spite of what they were
/// told. A reading that does not begin with the prefix is only among them if nothing of it has been shown.
pub(crate) fn readings(prefix: &str, more: &str, is_shown: bool) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut push = |reading: String| {
        if !all.contains(&reading) {
            all.push(reading);
        }
    };
    if begins_again(prefix, more) && !is_shown {
        push(more.to_owned());
    }
    for more in [Some(more), unfenced(more)].into_iter().flatten() {
        let overlap = overlap(prefix, more);
        if overlap > 0 {
            push(format!("{prefix}{}", more.get(overlap..).unwrap_or_default()));
        }
        push(format!("{prefix}{more}"));
    }
    if !is_shown {
        push(more.to_owned());
    }
    all
}

/// Whether the model began again instead of going on.
pub(crate) fn begins_again(prefix: &str, more: &str) -> bool {
    /// How much of the beginning is compared, in characters.
    const COMPARED: usize = 16;
    let start: String = prefix.trim_start().chars().take(COMPARED).collect();
    let begun = start.chars().count() >= 2 && start.contains(['{', '[', '`', '<']);
    begun && more.trim_start().starts_with(&start)
}

/// How many bytes at the start of `more` repeat the end of `prefix`.
fn overlap(prefix: &str, more: &str) -> usize {
    let most = more.len().min(prefix.len()).min(LONGEST);
    let repeats = |length: &usize| {
        more.is_char_boundary(*length) && more.get(..*length).is_some_and(|s| prefix.ends_with(s))
    };
    (OVERLAP..=most).rev().find(repeats).unwrap_or_default()
}

/// What is inside the code fence that a text begins with.
fn unfenced(text: &str) -> Option<&str> {
    let (first, rest) = text.trim_start().split_once('\n')?;
    let is_fence = first.starts_with("```") && !first.trim_start_matches('`').contains('`');
    let end = rest.trim_end();
    is_fence.then(|| {
        end.strip_suffix("```").map_or(rest, |inside| inside.strip_suffix('\n').unwrap_or(inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_read_in_all_likely_ways() {
        let prefix = r#"{"note": "the quick brown fox"#;
        assert_eq!(readings(prefix, " jumps\"}", true), [format!("{prefix} jumps\"}}")]);
        let again = readings(prefix, "quick brown fox jumps\"}", true);
        assert_eq!(again[0], format!("{prefix} jumps\"}}"));
        let fenced = readings(prefix, "```json\n jumps\"}\n```", true);
        assert!(fenced.contains(&format!("{prefix} jumps\"}}")));
        let anew = r#"{"note": "the quick brown fox jumps"}"#;
        assert_eq!(readings(prefix, anew, false)[0], anew);
        assert!(readings(prefix, anew, true).iter().all(|reading| reading.starts_with(prefix)));
    }
}
