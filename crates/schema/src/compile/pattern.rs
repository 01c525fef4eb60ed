//! Patterns: a linear-time engine where it supports the pattern, and a backtracking engine with a
//! step limit otherwise.

use std::{fmt, panic::AssertUnwindSafe, sync::Arc};

use regex::RegexBuilder;

/// The sizes that a compiled pattern may have, in bytes, and what matching a byte of text then
/// costs. The smallest sufficient size is used.
const SIZES: [(usize, u64); 3] = [(4 << 10, 1), (64 << 10, 8), (1 << 20, 64)];
/// How many steps the backtracking engine may take, in the first attempt and at most. A match that
/// takes longer stays undecided.
const STEPS: [usize; 2] = [1_000, 100_000];

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Searched {
    Match,
    Nothing,
    /// The engine gave up, or the work budget was used up.
    Undecided,
}

/// A compiled pattern, which is cheap to clone.
#[derive(Clone)]
pub(crate) struct Pattern(Arc<Engine>);

enum Engine {
    Linear {
        regex: regex::Regex,
        weight: u64,
    },
    /// The same pattern with a small and a large step limit: nearly all texts need only the small
    /// one.
    Stepping {
        engines: [fancy_regex::Regex; 2],
    },
}

/// A compiled pattern, and how much memory it may take.
pub(super) struct Sized {
    pub(super) pattern: Pattern,
    pub(super) bytes: usize,
}

impl Pattern {
    /// `None` if the pattern is not a regular expression, or is too large.
    pub(super) fn compile(pattern: &str) -> Option<Sized> {
        let spelled = spelled(pattern);
        let translated = jsonschema_regex::to_rust_regex(&spelled).ok()?;
        for (size, weight) in SIZES {
            // The cache of a lazy automaton must hold a few states, whatever their size.
            let cache = size.saturating_mul(2).max(64 << 10);
            let mut builder = RegexBuilder::new(&translated);
            match builder.size_limit(size).dfa_size_limit(cache).build() {
                Ok(regex) => {
                    let pattern = Self(Arc::new(Engine::Linear { regex, weight }));
                    return Some(Sized { pattern, bytes: size });
                }
                Err(regex::Error::CompiledTooBig(_)) => {}
                Err(_) => break,
            }
        }
        // The engine may compile each group as a pattern of its own.
        let pieces = 1 + translated.matches(['(', '|', '\\']).count();
        SIZES.iter().find_map(|(size, _)| {
            let build = |steps: usize| {
                let mut builder = fancy_regex::RegexBuilder::new(&translated);
                builder.backtrack_limit(steps).delegate_size_limit(*size);
                builder.delegate_dfa_size_limit(size.saturating_mul(2).max(64 << 10));
                builder.build().ok()
            };
            let [few, many] = STEPS;
            let engines = [build(few)?, build(many)?];
            let pattern = Self(Arc::new(Engine::Stepping { engines }));
            Some(Sized { pattern, bytes: size.saturating_mul(pieces) })
        })
    }

    /// Searches for a match. `spend` is called before each attempt with the work that it may cost.
    pub(crate) fn search(&self, text: &str, mut spend: impl FnMut(u64) -> bool) -> Searched {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        match &*self.0 {
            Engine::Linear { regex, weight } => {
                if !spend(length.saturating_mul(*weight).saturating_add(4)) {
                    return Searched::Undecided;
                }
                guarded(|| Some(regex.is_match(text)))
            }
            Engine::Stepping { engines } => {
                for (engine, steps) in engines.iter().zip(STEPS) {
                    // A single step may look at the rest of the text.
                    let steps = u64::try_from(steps).unwrap_or(u64::MAX);
                    if !spend(steps.saturating_mul(1 + length / 16)) {
                        return Searched::Undecided;
                    }
                    let found = guarded(|| engine.is_match(text).ok());
                    if found != Searched::Undecided {
                        return found;
                    }
                }
                Searched::Undecided
            }
        }
    }
}

/// What `\s` means in JSON Schema.
const SPACES: &str = r"\x{9}-\x{d}\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}-\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}";

/// Spells out the classes and control characters of a pattern, where they are outside of brackets.
/// The translation in the library would parse the whole pattern again for each of them.
fn spelled(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(escaped) = chars.next() else {
            out.push(c);
            break;
        };
        let control = chars.peek().copied().filter(|_| escaped == 'c');
        match (escaped, control) {
            ('c', Some(letter)) if letter.is_ascii_alphabetic() => {
                chars.next();
                out.push_str(&format!("\\x{:02x}", u32::from(letter) % 32));
            }
            ('d', _) if !in_class => out.push_str("[0-9]"),
            ('D', _) if !in_class => out.push_str("[^0-9]"),
            ('w', _) if !in_class => out.push_str("[A-Za-z0-9_]"),
            ('W', _) if !in_class => out.push_str("[^A-Za-z0-9_]"),
            ('s', _) if !in_class => out.extend(["[", SPACES, "]"]),
            ('S', _) if !in_class => out.extend(["[^", SPACES, "]"]),
            _ => out.extend([c, escaped]),
        }
    }
    out
}

/// Some patterns make the engines panic on some texts; such a match is undecided. The engines keep
/// no state that an interrupted search could leave inconsistent.
fn guarded(search: impl FnOnce() -> Option<bool>) -> Searched {
    match std::panic::catch_unwind(AssertUnwindSafe(search)) {
        Ok(Some(true)) => Searched::Match,
        Ok(Some(false)) => Searched::Nothing,
        Ok(None) | Err(_) => Searched::Undecided,
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Engine::Linear { regex, .. } => {
                f.debug_tuple("Pattern").field(&regex.as_str()).finish()
            }
            Engine::Stepping { engines: [few, _] } => {
                f.debug_tuple("Pattern").field(&few.as_str()).finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(pattern: &str, text: &str) -> Searched {
        Pattern::compile(pattern).unwrap().pattern.search(text, |_| true)
    }

    #[test]
    fn both_engines_agree() {
        for (pattern, text, expected) in [
            ("^a+$", "aaa", Searched::Match),
            ("^a+$", "aab", Searched::Nothing),
            ("^(?!x)a", "ab", Searched::Match),
            ("^(?!x)x", "xb", Searched::Nothing),
            (r"^(.)\1$", "bb", Searched::Match),
            (r"^\d{2}$", "12", Searched::Match),
            (r"^\d{2}$", "१२", Searched::Nothing),
            (r"^(?=\d)", "१", Searched::Nothing),
            (r"^\\d$", r"\d", Searched::Match),
            (r"^[\w\d]\W\D\s\S$", "a--\u{a0}b", Searched::Match),
            (r"^\cA[\cB]\cz$", "\u{1}\u{2}\u{1a}", Searched::Match),
        ] {
            assert_eq!(search(pattern, text), expected, "{pattern} {text}");
        }
        assert!(Pattern::compile("(").is_none());
        assert!(Pattern::compile("^(a{1000}){1000}$").is_none());
    }

    #[test]
    fn a_search_may_be_undecided() {
        let text = "a".repeat(40) + "!";
        assert_eq!(search(r"(.*)*\1z", &text), Searched::Undecided);
        let pattern = Pattern::compile("^a+$").unwrap().pattern;
        assert_eq!(pattern.search(&text, |_| false), Searched::Undecided);
        let mut asked = Vec::new();
        let spend = |work| {
            asked.push(work);
            true
        };
        let _ = Pattern::compile(r"(.*)*\1z").unwrap().pattern.search(&text, spend);
        assert_eq!(asked.len(), 2, "few steps, then many: {asked:?}");
    }
}
