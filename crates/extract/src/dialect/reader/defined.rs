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

/// Whether a function is defined at a place. `back` returns the byte that is so far before it.
pub(super) fn is_defined(back: impl Fn(usize) -> Option<u8>) -> bool {
    // Whether a word ends so far before the place.
    let ends = |word: &str, distance: usize| {
        let mut letters = word.bytes().rev().zip(distance..);
        letters.all(|(byte, distance)| back(distance) == Some(byte))
            && back(distance + word.len()).is_none_or(|byte| !is_word(byte))
    };
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
