//! The values of an `enum`, indexed by the names that a text may use for them.

use std::collections::HashMap;

use serde_json::Value;

use crate::issue::folded;

/// The most mentions of values that are considered in one text. A text with more is not a choice.
const MOST: usize = 256;

/// The position of a value; `None` if several values share the name.
type Only = Option<usize>;

/// The values listed by one part of a schema, indexed by name.
pub(crate) struct Choices {
    all: Vec<Value>,
    exact: HashMap<String, Only>,
    folded: HashMap<String, Only>,
    /// The values that are not strings, by their JSON text.
    written: HashMap<String, Only>,
    /// The names in lower case; `None` for values that are not strings.
    lower: Vec<Option<String>>,
    words: Vec<Vec<String>>,
    /// The positions of names, by their first word.
    by_word: HashMap<String, Vec<usize>>,
}

fn note(names: &mut HashMap<String, Only>, name: String, at: usize) {
    names.entry(name).and_modify(|only| *only = None).or_insert(Some(at));
}

impl Choices {
    pub(crate) fn new(all: &[Value]) -> Self {
        let mut choices = Self {
            all: all.to_vec(),
            exact: HashMap::new(),
            folded: HashMap::new(),
            written: HashMap::new(),
            lower: Vec::with_capacity(all.len()),
            words: Vec::with_capacity(all.len()),
            by_word: HashMap::new(),
        };
        for (at, value) in all.iter().enumerate() {
            choices.lower.push(value.as_str().map(str::to_lowercase));
            choices.words.push(value.as_str().map(words).unwrap_or_default());
            match value {
                Value::String(name) => {
                    note(&mut choices.exact, name.clone(), at);
                    note(&mut choices.folded, folded(name), at);
                    if let Some(word) = choices.words.last().and_then(|words| words.first()) {
                        choices.by_word.entry(word.clone()).or_default().push(at);
                    }
                }
                Value::Null => {
                    note(&mut choices.written, "null".to_owned(), at);
                    note(&mut choices.written, "None".to_owned(), at);
                }
                Value::Bool(_) | Value::Number(_) => {
                    note(&mut choices.written, value.to_string(), at);
                }
                Value::Array(_) | Value::Object(_) => {}
            }
        }
        choices
    }

    fn only(&self, names: &HashMap<String, Only>, name: &str) -> Option<&Value> {
        names.get(name).copied().flatten().and_then(|at| self.all.get(at))
    }

    /// The value with exactly that name.
    pub(crate) fn exact(&self, name: &str) -> Option<&Value> {
        self.only(&self.exact, name)
    }

    /// The only value whose name is equal to `folded` after folding.
    pub(crate) fn folded(&self, folded: &str) -> Option<&Value> {
        self.only(&self.folded, folded).filter(|_| !folded.is_empty())
    }

    /// The only value that is written like this and is not a string. The case of booleans does not
    /// matter.
    pub(crate) fn written(&self, text: &str) -> Option<&Value> {
        let boolean = ["true", "false"].into_iter().find(|word| text.eq_ignore_ascii_case(word));
        self.only(&self.written, boolean.unwrap_or(text))
    }

    /// The only value whose lower-case name satisfies `same`.
    pub(crate) fn only_like(&self, same: impl Fn(&str) -> bool) -> Option<&Value> {
        let names = self.lower.iter().zip(&self.all);
        let mut found = names.filter(|(name, _)| name.as_deref().is_some_and(&same));
        let (_, first) = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The only value whose words occur in the text, complete and in order. Where two overlap, the
    /// longer one counts.
    pub(crate) fn named(&self, text: &[String]) -> Option<&Value> {
        let mut found: Vec<(usize, (usize, usize))> = Vec::new();
        for (start, word) in text.iter().enumerate() {
            for at in self.by_word.get(word).into_iter().flatten() {
                let Some(name) = self.words.get(*at) else { continue };
                if text.get(start..).is_some_and(|rest| rest.starts_with(name)) {
                    found.push((*at, (start, start + name.len())));
                }
                if found.len() > MOST {
                    return None;
                }
            }
        }
        let covered = |(start, end): (usize, usize)| {
            found.iter().any(|(_, (s, e))| *s <= start && end <= *e && e - s > end - start)
        };
        let mut free = found.iter().filter(|(_, place)| !covered(*place)).map(|(at, _)| *at);
        let first = self.all.get(free.next()?)?;
        free.all(|other| self.all.get(other) == Some(first)).then_some(first)
    }
}

/// The words of a text, in lower case.
pub(crate) fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}
