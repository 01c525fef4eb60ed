//! Puts an answer that was cut off together with what the model wrote when it was asked to go on.

/// The shortest repetition of the end of an answer that is taken for one, in bytes.
const OVERLAP: usize = 12;
/// How far back a repetition is looked for, in bytes.
const LONGEST: usize = 512;

/// A way to read the text that came after an answer that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) text: String,
    /// Whether it counts only as it is, because with repairs almost anything could be read.
    pub(crate) is_exact: bool,
}

/// Ways to read `more` after `prefix`, the likeliest first. There is at least one.
///
/// Models repeat the last words, put the rest into a code fence, or begin again in spite of what they were
/// told. If something of the prefix has been shown, every way begins with it.
pub(crate) fn readings(prefix: &str, more: &str, is_shown: bool) -> Vec<Joined> {
    let mut all: Vec<Joined> = Vec::new();
    let mut push = |text: String, is_exact: bool| {
        if !all.iter().any(|known| known.text == text) {
            all.push(Joined { text, is_exact });
        }
    };
    let is_anew = begins_again(prefix, more);
    if is_anew && (!is_shown || more.starts_with(prefix)) {
        push(more.to_owned(), false);
    }
    for more in [Some(more), unfenced(more)].into_iter().flatten() {
        let overlap = overlap(prefix, more);
        if overlap > 0 && overlap < prefix.len() {
            push(format!("{prefix}{}", more.get(overlap..).unwrap_or_default()), is_anew);
        }
        push(format!("{prefix}{more}"), is_anew);
    }
    if is_anew && is_shown {
        // What was written after the prefix is of no use.
        push(prefix.to_owned(), false);
    }
    if !is_shown {
        push(more.to_owned(), true);
    }
    all
}

/// Whether the model began again instead of going on.
fn begins_again(prefix: &str, more: &str) -> bool {
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

    fn texts(prefix: &str, more: &str, is_shown: bool) -> Vec<String> {
        readings(prefix, more, is_shown).into_iter().map(|joined| joined.text).collect()
    }

    #[test]
    fn the_rest_is_read_in_all_likely_ways() {
        let prefix = r#"{"note": "the quick brown fox"#;
        let whole = format!("{prefix} jumps\"}}");
        assert_eq!(texts(prefix, " jumps\"}", true), [whole.as_str()]);
        assert_eq!(texts(prefix, "quick brown fox jumps\"}", true)[0], whole);
        assert!(texts(prefix, "```json\n jumps\"}\n```", true).contains(&whole));
        assert_eq!(texts(prefix, &whole, false)[0], whole);
        assert_eq!(texts(prefix, &whole, true)[0], whole, "it goes on where it was cut off");
    }

    #[test]
    fn what_was_shown_stays() {
        let prefix = r#"{"note": "the quick brown fox"#;
        let other = r#"{"note": "the quick red fox jumps"}"#;
        assert!(texts(prefix, other, true).iter().all(|text| text.starts_with(prefix)));
        let anew = readings(prefix, other, true);
        assert!(anew.iter().all(|joined| joined.is_exact || joined.text == prefix));
        assert_eq!(texts(prefix, other, false)[0], other);
    }
}
