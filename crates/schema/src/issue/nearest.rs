//! How alike two names are.

/// A name without case and separators: what camel, snake and kebab case have in common.
pub(crate) fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' ' | '.' | '\t' | '\n'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// The edit distance (insert, delete, replace, swap two neighbours) of two names, if it is at most
/// `most`. Names longer than 64 characters are never near.
pub(crate) fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most || a.len().max(b.len()) > 64 {
        return None;
    }
    let width = b.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (row, x) in a.iter().enumerate() {
        let mut next = vec![row + 1; width];
        for (column, y) in b.iter().enumerate() {
            let replaced = last[column] + usize::from(x != y);
            let mut cost = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let swapped = row > 0 && column > 0 && a[row - 1] == *y && b[column - 1] == *x;
            if swapped {
                cost = cost.min(before[column - 1] + 1);
            }
            next[column + 1] = cost;
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().filter(|cost| *cost <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_spelled_alike_are_near() {
        assert_eq!(distance("limit", "limitt", 2), Some(1));
        assert_eq!(distance("user_name", "user_nmae", 2), Some(1));
        assert_eq!(distance("abc", "abc", 0), Some(0));
        assert_eq!(distance("kitten", "sitting", 2), None);
        assert_eq!(distance("kitten", "sitting", 3), Some(3));
        assert_eq!(distance("", "ab", 2), Some(2));
    }

    #[test]
    fn cases_of_a_name_fold_to_one() {
        for name in ["userName", "user_name", "User-Name", "USER NAME", "user.name"] {
            assert_eq!(folded(name), "username");
        }
    }
}
