//! The words of the prompts.

/// How insistent a prompt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Strength {
    /// The first correction.
    Plain,
    /// A further one.
    Firm,
    /// The last one, if it is not the only one.
    Final,
}

impl Strength {
    /// All strengths, from the mildest on.
    pub const ALL: &'static [Self] = &[Self::Plain, Self::Firm, Self::Final];

    /// The strength of an attempt, counted from 1.
    pub(crate) const fn of(attempt: u32, of: u32) -> Self {
        match attempt {
            0 | 1 => Self::Plain,
            _ if attempt >= of => Self::Final,
            _ => Self::Firm,
        }
    }
}

/// The words of the prompts. Each text may be replaced, by one in any language.
///
/// A text has slots in braces. What is put into them is not read as a template again. A line with nothing but a
/// slot that is empty is left out.
///
/// | slot | what it holds | in |
/// |---|---|---|
/// | `{lead}` | the words of the [`Strength`] | all but the continuation |
/// | `{subject}` | `Your answer`, or `Your call of the tool "name"` | all |
/// | `{reason}` | `does not match the JSON Schema`, `did not arrive as a whole`, `is not valid JSON`, or `is no call of the tool "name"` | the first words |
/// | `{attempt}`, `{of}` | which attempt it is, of how many | all |
/// | `{issues}` | what is wrong, a line each | all but the continuation |
/// | `{hints}` | what was seen in the answer, a line each | all but the continuation |
/// | `{answer}` | an excerpt of the answer, or of its parts that are kept, framed as data | all |
/// | `{schema}` | the JSON Schemas of the fields, or from the second correction on that of the whole, if it is not too long | all but the continuation |
/// | `{example}` | an example of the reply | all but the continuation |
/// | `{keys}` | the keys of the reply, each with the JSON Pointer of its field, a line each | the fields |
///
/// ```
/// use wiremend_reask::{Answer, Reask, ReaskOptions, Step, Strength, Templates};
/// use wiremend_schema::Schema;
/// use core::time::Duration;
///
/// let templates = Templates::new()
///     .with_lead(Strength::Plain, "{subject} passt nicht zum Schema.")
///     .with_whole("{lead}\n{issues}\n{hints}\nBitte nur JSON.");
/// let options = ReaskOptions::new().with_templates(templates);
/// let mut reask = Reask::new(&Schema::from_text(r#"{"type": "array"}"#)?, options);
/// let Step::Ask(ask) = reask.answer(&Answer::text("{\"a\": 1}"), Duration::ZERO) else { panic!() };
/// assert_eq!(
///     ask.user_message(),
///     Some("Your answer passt nicht zum Schema.\n- /: expected array, got object {\"a\": 1}\nBitte nur JSON."),
/// );
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Templates {
    leads: [String; 3],
    whole: String,
    tool_whole: String,
    fields: String,
    tool_fields: String,
    continuation: String,
}

const WHOLE: &str = "{lead}

What is wrong:
{issues}

Hints:
{hints}

{answer}

The JSON Schema:
{schema}

For example:
{example}

Reply with the whole corrected JSON value and nothing else: no other words, no code fence.";

const TOOL_WHOLE: &str = "{lead}

What is wrong:
{issues}

Hints:
{hints}

{answer}

The JSON Schema of the arguments:
{schema}

For example:
{example}

Call the tool with the whole corrected arguments, or reply with them as one JSON value and nothing else: no other words, no code fence.";

const FIELDS: &str = "{lead}

Only this is wrong:
{issues}

Hints:
{hints}

{answer}

Reply with the corrected values, not with the whole value, and with nothing else: one JSON object with these keys, each for the place after it:
{keys}

For example:
{example}

Their JSON Schemas:
{schema}";

const TOOL_FIELDS: &str = "{lead}

Only this is wrong:
{issues}

Hints:
{hints}

{answer}

Call the tool again as it is defined, or reply with the corrected values and nothing else: one JSON object with these keys, each for the place after it:
{keys}

For example:
{example}

Their JSON Schemas:
{schema}";

const CONTINUATION: &str = "{subject} was cut off. Go on exactly where it ends, in the middle of a word if need be. Repeat nothing, and write nothing else.

{answer}";

impl Templates {
    /// The words in English.
    #[must_use]
    pub fn new() -> Self {
        let leads = [
            "{subject} could not be used: it {reason}.",
            "{subject} could not be used either: it {reason}. This is correction {attempt} of {of}.",
            "{subject} could not be used either: it {reason}. This is the last attempt: every word that is not valid JSON for the schema makes it fail.",
        ];
        Self {
            leads: leads.map(str::to_owned),
            whole: WHOLE.to_owned(),
            tool_whole: TOOL_WHOLE.to_owned(),
            fields: FIELDS.to_owned(),
            tool_fields: TOOL_FIELDS.to_owned(),
            continuation: CONTINUATION.to_owned(),
        }
    }

    /// Replaces the first words of the prompts of that strength.
    #[must_use]
    pub fn with_lead(mut self, strength: Strength, text: impl Into<String>) -> Self {
        if let Some(lead) = self.leads.get_mut(strength as usize) {
            *lead = text.into();
        }
        self
    }

    /// Replaces the prompt that asks for the whole value, of an answer and of a call alike.
    #[must_use]
    pub fn with_whole(mut self, text: impl Into<String>) -> Self {
        self.whole = text.into();
        self.tool_whole.clone_from(&self.whole);
        self
    }

    /// Replaces the prompt that asks for single fields, of an answer and of a call alike.
    #[must_use]
    pub fn with_fields(mut self, text: impl Into<String>) -> Self {
        self.fields = text.into();
        self.tool_fields.clone_from(&self.fields);
        self
    }

    /// Replaces the prompt that asks to go on.
    #[must_use]
    pub fn with_continuation(mut self, text: impl Into<String>) -> Self {
        self.continuation = text.into();
        self
    }

    pub(crate) fn lead(&self, strength: Strength) -> &str {
        self.leads.get(strength as usize).map(String::as_str).unwrap_or_default()
    }

    pub(crate) fn whole(&self, of_call: bool) -> &str {
        if of_call { &self.tool_whole } else { &self.whole }
    }

    pub(crate) fn fields(&self, of_call: bool) -> &str {
        if of_call { &self.tool_fields } else { &self.fields }
    }

    pub(crate) fn continuation(&self) -> &str {
        &self.continuation
    }
}

impl Default for Templates {
    fn default() -> Self {
        Self::new()
    }
}

/// Fills the slots of a template, in one pass. A line that consists of an empty slot is left out, and of empty
/// lines in a row only one is kept. A line without slots that announces it with a colon is left out with it.
pub(crate) fn fill(template: &str, slots: &[(&str, &str)]) -> String {
    let mut lines: Vec<String> = Vec::new();
    // Whether the last line announces the next one.
    let mut announced = false;
    for line in template.lines() {
        let filled = filled(line, slots);
        if filled.is_empty() && !line.is_empty() {
            if announced {
                lines.pop();
            }
            announced = false;
            continue;
        }
        if filled.is_empty() && lines.last().is_none_or(String::is_empty) {
            continue;
        }
        announced = line.ends_with(':') && !line.contains('{');
        lines.push(filled);
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n")
}

fn filled(line: &str, slots: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let slot = after.split_once('}').and_then(|(name, after)| {
            let (_, value) = slots.iter().find(|(known, _)| *known == name)?;
            Some((*value, after))
        });
        match slot {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_a_slot_is_no_template() {
        let slots = [("a", "{b}"), ("b", "x"), ("none", "")];
        assert_eq!(fill("{a} {b} {c} {\n\nIt is:\n{none}\n\n{b}", &slots), "{b} x {c} {\n\nx");
    }
}
