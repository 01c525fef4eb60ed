//! The codes of repairs as people type them.

use wiremend_core::RepairKind;

use crate::visible::Shown;

/// The codes of the repairs.
pub(crate) fn repairs() -> impl Iterator<Item = &'static str> {
    RepairKind::ALL.iter().map(|kind| kind.code())
}

/// The error message for a code that is not in `codes`, with the most similar one.
pub(crate) fn unknown(code: &str, codes: impl Iterator<Item = &'static str>) -> String {
    let shown = Shown::clipped(code.as_bytes(), 40);
    let shown = shown.as_str();
    // Codes are short. A long word is similar to none of them, and comparing it would be slow.
    let wanted: Vec<char> = code.chars().take(64).collect();
    let distance = |code: &&str| edit_distance(&wanted, code);
    match codes.min_by_key(distance).filter(|code| distance(code) <= code.len() / 2) {
        Some(code) => format!("no repair has the code `{shown}`; did you mean `{code}`?"),
        None => format!("no repair has the code `{shown}`; `wiremend explain --list` lists them"),
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
        assert!(unknown("single-quotes", repairs()).contains("did you mean `single-quote`"));
        assert!(unknown("mising-coma", repairs()).contains("did you mean `missing-comma`"));
        // `--off` takes repairs, not schema rules.
        assert!(!unknown("enum-normalise", repairs()).contains("did you mean `enum"));
        assert!(unknown("zzzzzzzzzzzzzzzzzzzzzzz", repairs()).contains("--list"));
    }
}
