//! Words in place of `null`.

/// Words that mean that there is no value.
const NOTHING: [&str; 10] = [
    "",
    "null",
    "none",
    "nil",
    "n/a",
    "na",
    "undefined",
    "unknown",
    "not specified",
    "not provided",
];

/// Whether the word means that there is no value. It is trimmed, and in lower case.
pub(crate) fn means_nothing(word: &str) -> bool {
    NOTHING.contains(&word)
}
