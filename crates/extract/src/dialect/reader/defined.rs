//! Definitions of functions, which look like calls: `def book(seats)`.

use crate::dialect::wake::is_word;

/// Words before the name of a function that is defined.
const DEFINING: [&str; 9] = ["def", "defp", "defun", "fn", "fun", "func", "proc", "sub", "void"];
/// Words that say so only where code begins. In a sentence, "the function f(x)" is not defined.
const NAMING: [&str; 4] = ["class", "function", "method", "procedure"];
/// Words of code before those.
const MODIFIERS: [&str; 12] = [
    "abstract",
    "async",
    "default",
    "export",
    "final",
    "internal",
    "local",
    "override",
    "private",
    "protected",
    "public",
    "static",
];

const fn longest(words: &[&str]) -> usize {
    let mut rest = words;
    let mut longest = 0;
    while let [word, after @ ..] = rest {
        if word.len() > longest {
            longest = word.len();
        }
        rest = after;
    }
    longest
}

const fn larger(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// How many bytes before a place show whether a function is defined there: the words, a blank after
/// each, and a byte before them.
pub(super) const LAST: usize =
    larger(longest(&DEFINING), longest(&NAMING) + 1 + longest(&MODIFIERS)) + 2;

/// Words before a call that is made. Those after the first three join it to another one.
const CALLING: [&str; 5] = ["await", "return", "yield", "and", "then"];
const CALLING_ALONE: usize = 3;

/// Whether a sentence, a comment or a line of a diff goes on at a place, so that a call there is only
/// mentioned. `back` returns the byte that is so far before it. `called` says whether there was a call
/// before.
pub(super) fn goes_on(back: impl Fn(usize) -> Option<u8>, called: bool) -> bool {
    let blanks = (1..LAST).take_while(|at| matches!(back(*at), Some(b' ' | b'\t'))).count();
    // What is further back is known only if it came in the same chunk, so it must not count.
    let far = |distance: usize| match blanks + distance {
        distance @ ..=LAST => back(distance),
        _ => None,
    };
    let ends = |word: &&str| ends(far, word, 1);
    let calling = if called { &CALLING[..] } else { &CALLING[..CALLING_ALONE] };
    match far(1) {
        Some(b'#' | b',' | b'/') => true,
        Some(b'*') => far(2) == Some(b'/'),
        Some(b'-') => blanks == 0 || far(2) == Some(b'-'),
        // A line that a diff adds, or a calculation. After a call, it joins another one to it.
        Some(b'+') => blanks == 0 || !called,
        Some(b'_') => true,
        Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric() && !calling.iter().any(ends),
        Some(_) => {
            let bytes = [4, 3, 2, 1].map(|distance| far(distance).unwrap_or_default());
            let last = (0..4).find_map(|at| std::str::from_utf8(&bytes[at..]).ok()?.chars().last());
            last.is_none_or(char::is_alphanumeric)
        }
        None => false,
    }
}

/// Whether a function is defined at a place. `back` returns the byte that is so far before it.
pub(super) fn is_defined(back: impl Fn(usize) -> Option<u8>) -> bool {
    let ends = |word: &str, distance: usize| ends(&back, word, distance);
    let begins_code = |word: &str| {
        let (before, further) = (back(word.len() + 2), back(word.len() + 3));
        let blank = matches!(before, Some(b' ' | b'\t'));
        !blank
            || further.is_none_or(|byte| !is_word(byte) && byte.is_ascii())
            || MODIFIERS.iter().any(|modifier| ends(modifier, word.len() + 3))
    };
    matches!(back(1), Some(b' ' | b'\t'))
        && (DEFINING.iter().any(|word| ends(word, 2))
            || NAMING.iter().any(|word| ends(word, 2) && begins_code(word)))
}

/// Whether a word ends so far before a place.
fn ends(back: impl Fn(usize) -> Option<u8>, word: &str, distance: usize) -> bool {
    let mut letters = word.bytes().rev().zip(distance..);
    letters.all(|(byte, distance)| back(distance) == Some(byte))
        && back(distance + word.len()).is_none_or(|byte| !is_word(byte))
}
