//! Whether the arguments so far are whole.

use jsonmend_core::{Following, Mender, Options};

use crate::work;

/// Follows a text where somebody asks: most streams name their calls, and nobody does.
///
/// It reads as mending does, whatever the caller's policy allows, so that a body that was mended is
/// told into the same calls as before: `{'a': '5"'}` and `{"a": "5\""}` end alike.
#[derive(Debug, Default)]
pub(super) struct Ending {
    mender: Option<Box<Mender>>,
    /// How much of the text it has read.
    read: usize,
}

impl Ending {
    /// Whether `text` is whole, which begins with what was asked about before.
    pub(super) fn is_reached(&mut self, text: &str) -> bool {
        let mender = self.mender.get_or_insert_with(|| {
            Box::new(Mender::new(Options::new().with_following(Following::All)))
        });
        let before = mender.steps();
        mender.push(text.get(self.read..).unwrap_or_default().as_bytes(), &mut ());
        self.read = text.len();
        let mut after = mender.steps();
        let mut reached = mender.document_ended() && mender.completion().is_none();
        // What the last quote means may wait for more: here there is none.
        if !reached && mender.withheld() > 0 && text.trim_end().ends_with(['}', ']']) {
            let mut ended = mender.clone();
            reached = ended.finish(&mut ()).is_complete();
            after = ended.steps();
        }
        work::count(usize::try_from(after - before).unwrap_or(usize::MAX));
        reached
    }

    /// The text begins anew.
    pub(super) fn reset(&mut self) {
        self.mender = None;
        self.read = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Ending;

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
                let mut ending = Ending::default();
                ending.is_reached(&text[..cut]);
                assert_eq!(ending.is_reached(text), whole, "{text} at {cut}");
            }
        }
    }
}
