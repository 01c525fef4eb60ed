//! Detects whether the arguments so far are complete.

use wiremend_core::{Limits, MendOptions, Mender, Outcome, TrailingDocuments, lexer::Brackets};

use crate::work;

/// The maximum number of withheld bytes that are considered: twice the usual look-ahead and some
/// reserve. If more are withheld, it is not because of a quote that the end of the text would decide.
const MAX_WITHHELD: usize = 256;

/// Follows a text lazily: only if asked, because most streams identify their calls.
///
/// It reads the text like a repair with every permission, whatever the caller's policy allows. So a
/// repaired body is split into the same calls as the original: `{'a': '5"'}` and `{"a": "5\""}` end alike.
#[derive(Debug)]
pub(super) struct Ending {
    limits: Limits,
    mender: Option<Box<Mender>>,
    /// How much of the text the mender has read.
    read: usize,
    /// Decides if a limit was exceeded.
    brackets: Brackets,
    balanced: usize,
}

impl Ending {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, mender: None, read: 0, brackets: Brackets::default(), balanced: 0 }
    }

    /// Whether `text` is complete. It must start with the text of the previous call.
    pub(super) fn is_reached(&mut self, text: &str) -> bool {
        let limits = self.limits;
        let mender = self.mender.get_or_insert_with(|| {
            let options = MendOptions::new()
                .with_trailing_documents(TrailingDocuments::All)
                .with_limits(limits);
            Box::new(Mender::new(options))
        });
        let before = mender.steps();
        mender.push(text.as_bytes().get(self.read..).unwrap_or_default(), &mut ());
        self.read = text.len();
        work::count(usize::try_from(mender.steps() - before).unwrap_or(usize::MAX));
        if mender.outcome() == Some(Outcome::Overflow) {
            return self.is_balanced(text);
        }
        if mender.document_ended() && mender.completion().is_none() {
            return true;
        }
        // The mender may wait for more to decide what the last quote means. Here nothing follows.
        let withheld = mender.withheld();
        let tail = text.as_bytes().get(text.len() - withheld.min(text.len())..).unwrap_or_default();
        let closed = matches!(tail.trim_ascii_end().last(), Some(b'}' | b']'));
        if withheld == 0 || withheld > MAX_WITHHELD || !closed {
            return false;
        }
        work::count(withheld + mender.depth());
        mender.clone().finish(&mut ()).is_complete()
    }

    /// Whether the text has brackets and they are balanced.
    fn is_balanced(&mut self, text: &str) -> bool {
        let rest = text.as_bytes().get(self.balanced..).unwrap_or_default();
        work::count(rest.len());
        self.brackets.absorb(rest);
        self.balanced = text.len();
        self.brackets.is_closed()
    }

    /// Restarts with an empty text.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.limits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_whole_where_mending_finds_its_end() {
        for (text, whole) in [
            (r#"{"a": "b}"}"#, true),
            (r#"{'a': 'it is 5"'}"#, true),
            (r#"{"a": "the 5" disk"}"#, true),
            (r#"Quoted "{"a": 1,}"#, true),
            (r#"{"a": 1} {"b": 2}"#, true),
            (r#"{"a": 1} {"b": 2"#, false),
            (r#"{"a": {"b": 1}"#, false),
            (r#"{"a": "}"#, false),
            ("", false),
            ("words", false),
        ] {
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let mut ending = Ending::new(Limits::new());
                ending.is_reached(&text[..cut]);
                assert_eq!(ending.is_reached(text), whole, "{text} at {cut}");
            }
        }
    }

    #[test]
    fn past_a_limit_the_brackets_decide() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        let key = format!("{{\"{}\":1}}", "k".repeat(70_000));
        for text in [deep, key] {
            let mut ending = Ending::new(Limits::new());
            assert!(!ending.is_reached(&text[..text.len() - 1]));
            assert!(ending.is_reached(&text));
            assert!(
                Ending::new(Limits::new().with_depth(1000).with_buffer(1 << 20)).is_reached(&text)
            );
        }
    }
}
