//! Names that are spelled differently and mean the same: their case, separators and typing errors.

/// The longest name that is compared with others, in bytes. A longer one is not a variant of
/// another name.
const LONGEST: usize = 256;

/// Whether a name is short enough to be compared with others.
pub(crate) const fn is_comparable(name: &str) -> bool {
    name.len() <= LONGEST
}

/// Removes the case and the separators of a name, so that camel, snake and kebab case become the
/// same. A mark counts as a separator only between two letters, or between a letter and a digit;
/// elsewhere it may be a sign or a point.
pub(crate) fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    let mut before: Option<char> = None;
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let numbers = before.zip(next).is_some_and(|(a, b)| a.is_numeric() && b.is_numeric());
        let names =
            before.zip(next).is_some_and(|(a, b)| a.is_alphanumeric() && b.is_alphanumeric());
        let separates = match c {
            '_' | ' ' | '\t' | '\n' => !numbers,
            '-' | '.' => names && !numbers,
            _ => false,
        };
        if !separates {
            folded.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    folded
}

/// The edit distance (insert, delete, replace, swap two neighbours) between two names, if it is at
/// most `most`. Names longer than 64 characters are never close.
pub(crate) fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
    // Hundreds of names may be compared with one: most are told apart by their length or first letters.
    if a.is_ascii() && b.is_ascii() && a.len().abs_diff(b.len()) > most {
        return None;
    }
    let (mut first, mut second) = (['\0'; MAX_COMPARED], ['\0'; MAX_COMPARED]);
    let (a, b) = (characters(a, &mut first)?, characters(b, &mut second)?);
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    let mut rows = [[0_usize; MAX_COMPARED + 1]; 3];
    let [before, last, next] = &mut rows;
    let (mut before, mut last, mut next) = (before, last, next);
    let width = b.len() + 1;
    last.iter_mut().take(width).enumerate().for_each(|(column, cost)| *cost = column);
    let mut least_before = 0;
    for (row, x) in a.iter().enumerate() {
        next[0] = row + 1;
        let mut least = row + 1;
        for (column, y) in b.iter().enumerate() {
            let replaced = last[column] + usize::from(x != y);
            let mut cost = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            let swapped = row > 0 && column > 0 && a[row - 1] == *y && b[column - 1] == *x;
            if swapped {
                cost = cost.min(before[column - 1] + 1);
            }
            next[column + 1] = cost;
            least = least.min(cost);
        }
        if least > most && least_before >= most {
            return None;
        }
        least_before = least;
        (before, last, next) = (last, next, before);
    }
    last.get(b.len()).copied().filter(|cost| *cost <= most)
}

/// The most characters of a name that is compared.
const MAX_COMPARED: usize = 64;

/// The characters of a name, unless there are too many.
fn characters<'b>(name: &str, buffer: &'b mut [char; MAX_COMPARED]) -> Option<&'b [char]> {
    let mut count = 0;
    for c in name.chars() {
        *buffer.get_mut(count)? = c;
        count += 1;
    }
    buffer.get(..count)
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
        assert_eq!(distance("ab", "ba", 1), Some(1));
        assert_eq!(distance("xaby", "xbay", 1), Some(1));
        assert_eq!(distance("abcdef", "ghijkl", 2), None);
        assert_eq!(distance("é", "e", 1), Some(1));
        assert_eq!(distance(&"a".repeat(65), &"a".repeat(65), 1), None);
    }

    #[test]
    fn all_cases_of_a_name_fold_to_the_same() {
        for name in ["userName", "user_name", "User-Name", "USER NAME", "user.name"] {
            assert_eq!(folded(name), "username");
        }
    }

    #[test]
    fn signs_and_points_are_not_separators() {
        let alike = |a: &str, b: &str| folded(a) == folded(b);
        for (a, b) in [("-1", "1"), ("1.5", "15"), ("A-", "A"), ("1-5", "15"), ("v1.1", "v11")] {
            assert!(!alike(a, b), "{a} {b}");
        }
        for (a, b) in [("1 5", "15"), ("-low", "LOW"), ("..", ""), ("a - b", "a_b")] {
            assert!(!alike(a, b), "{a} {b}");
        }
        for (a, b) in [("_id", "id"), ("class_", "class"), ("Dark-2", "DARK_2"), ("V1.1", "v1.1")] {
            assert!(alike(a, b), "{a} {b}");
        }
    }
}
