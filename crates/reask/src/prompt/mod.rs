//! The prompts, made from issues as data.

pub(crate) mod frame;
pub(crate) mod hint;
pub(crate) mod message;
pub(crate) mod template;

use wiremend_schema::{Issue, IssueCode, Rendering, Schema};

use crate::{
    ReaskOptions,
    example::{Example, example, smallest},
    fields::Fields,
    subschema::discriminator,
};
use frame::{frame, harmless_json, harmless_line};
use hint::Hint;
use template::{Strength, fill};

/// How many issues are listed.
const LISTED: usize = 8;
/// How much of the end of an answer is repeated where it is to be continued, in characters.
const END: usize = 200;

/// The text of a question, for a message of the user and for the result of a call, which leaves out what the
/// message with the call says already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) user: String,
    pub(crate) tool: String,
}

/// What a prompt is made from.
pub(crate) struct Facts<'f> {
    pub(crate) options: &'f ReaskOptions,
    pub(crate) schema: &'f Schema,
    pub(crate) issues: &'f [Issue],
    pub(crate) hints: &'f [Hint],
    pub(crate) attempt: u32,
    /// The answer that is to be corrected.
    pub(crate) answer: &'f str,
    /// Whether that is the last one, rather than a better one before.
    pub(crate) is_last: bool,
    /// Whether the model called the tool last, or wrote such a call into its text.
    pub(crate) is_call: bool,
    /// Whether the answer that is to be corrected is in the message with the last call, as it is.
    pub(crate) is_there: bool,
    /// Whether the model is to start afresh, without what it wrote.
    pub(crate) is_fresh: bool,
}

impl Facts<'_> {
    /// Asks for the whole value.
    pub(crate) fn whole(&self) -> Prompt {
        let title =
            if self.is_last { "This was the answer." } else { "This was the best answer so far." };
        // A hint says that the answer was the schema, which the model need not read again.
        let is_echo = self.issues.iter().any(|issue| issue.code() == IssueCode::SchemaEcho);
        let answer = match self.is_fresh || is_echo {
            true => String::new(),
            false => self.framed(title, self.answer),
        };
        let shown = if self.is_fresh { smallest(self.schema) } else { example(self.schema) };
        // The first request stated the schema. It is repeated only to a model that did not follow it twice.
        let source =
            if self.attempt < 2 { String::new() } else { self.schema.source().to_string() };
        let template = self.options.templates.whole(self.options.tool.is_some());
        self.filled(template, &answer, &source, &shown, "", |_| true)
    }

    /// Asks for the parts that are wrong. The good ones are repeated, because the question is about them, too, and
    /// has to be understood without any other message.
    pub(crate) fn fields(&self, fields: &Fields) -> Prompt {
        let kept = self.framed("These parts of the answer are good and are kept.", &fields.rest());
        let template = self.options.templates.fields(self.options.tool.is_some());
        let source = fields.schemas().to_string();
        let line = |(key, pointer, is_optional)| match is_optional {
            true => format!("- {key}: {pointer}, or null to leave it out"),
            false => format!("- {key}: {pointer}"),
        };
        let keys: Vec<String> = fields.keys().map(line).collect();
        let shown = example(fields.schema());
        self.filled(template, &kept, &source, &shown, &keys.join("\n"), |issue| {
            fields.is_about(issue)
        })
    }

    fn framed(&self, title: &str, text: &str) -> String {
        if text.trim().is_empty() || self.options.excerpt == 0 {
            return String::new();
        }
        frame(title, text, self.options.excerpt)
    }

    fn filled(
        &self,
        template: &str,
        answer: &str,
        source: &str,
        shown: &Example,
        keys: &str,
        is_listed: impl Fn(&Issue) -> bool,
    ) -> Prompt {
        let of = self.options.attempts;
        let (attempt_text, of_text) = (self.attempt.to_string(), of.to_string());
        let tool = self.options.tool.as_deref();
        let subject = subject(tool.filter(|_| self.is_call));
        let reason = self.reason();
        let (issues, hints) = (self.issue_lines(is_listed), self.hint_lines());
        let source = Some(source).filter(|own| own.len() <= self.options.schema_length);
        let source = harmless_json(source.unwrap_or_default());
        let example = harmless_json(&shown.value().to_string());
        let mut slots = vec![
            ("subject", subject.as_str()),
            ("reason", &reason),
            ("attempt", &attempt_text),
            ("of", &of_text),
        ];
        let lead = fill(self.options.templates.lead(Strength::of(self.attempt, of)), &slots);
        slots.extend([
            ("lead", lead.as_str()),
            ("issues", &issues),
            ("hints", &hints),
            ("schema", &source),
            ("example", &example),
            ("keys", keys),
            ("answer", answer),
        ]);
        let user = fill(template, &slots);
        if self.is_there && self.is_last && !self.is_fresh {
            slots.pop();
            slots.push(("answer", ""));
        }
        Prompt { tool: fill(template, &slots), user }
    }

    /// Why the answer cannot be used, in the words that follow `it`.
    fn reason(&self) -> String {
        let is_cut = self.issues.iter().all(|issue| issue.code() == IssueCode::Truncated);
        let is_no_json = self.issues.iter().all(|issue| issue.code() == IssueCode::Syntax);
        match self.options.tool.as_deref() {
            Some(tool) if !self.is_call => format!("is no call of the tool {tool:?}"),
            _ if is_cut => "did not arrive as a whole".to_owned(),
            _ if is_no_json => "is not valid JSON".to_owned(),
            _ => "does not match the JSON Schema".to_owned(),
        }
    }

    fn hint_lines(&self) -> String {
        let lines: Vec<String> =
            self.hints.iter().map(|hint| format!("- {}", hint.text())).collect();
        lines.join("\n")
    }

    fn issue_lines(&self, is_listed: impl Fn(&Issue) -> bool) -> String {
        let issues: Vec<&Issue> = self.issues.iter().filter(|issue| is_listed(issue)).collect();
        if issues.is_empty() {
            return "- /: the answer did not arrive as a whole".to_owned();
        }
        let mut lines: Vec<String> =
            issues.iter().take(LISTED).map(|issue| self.issue_line(issue)).collect();
        if issues.len() > LISTED {
            lines.push(format!("+{} more", issues.len() - LISTED));
        }
        lines.join("\n")
    }

    /// An issue on a line of its own. Keys and values in it are the model's.
    fn issue_line(&self, issue: &Issue) -> String {
        let line = match issue.code() {
            IssueCode::Truncated => {
                let place = if issue.pointer().is_empty() { "/" } else { issue.pointer() };
                format!("{place}: the answer was cut off here")
            }
            _ => without_rule(Rendering::new().line(issue), issue),
        };
        // Of a union, the message names the branch that is nearest. The model may have meant any.
        let values =
            discriminator(self.schema.source(), issue).map(|found| found.values.join(", "));
        let values = values.map(|values| format!("; one of {values}")).unwrap_or_default();
        format!("- {}{}", harmless_line(&line), harmless_line(&values))
    }
}

/// The line of an issue without the rule that would mend it, which means nothing to a model: it is to correct what it is
/// asked for.
fn without_rule(line: String, issue: &Issue) -> String {
    let is_rule = |hint: &&str| {
        issue.mended_by().is_some_and(|(rule, _)| hint.split(' ').next() == Some(rule.code()))
    };
    let hint = issue.hint().filter(is_rule);
    let end = hint.map(|hint| format!("; {hint}"));
    end.and_then(|end| line.strip_suffix(&end).map(str::to_owned)).unwrap_or(line)
}

/// Asks to go on after the end of `prefix`.
pub(crate) fn continuation(options: &ReaskOptions, prefix: &str) -> Prompt {
    let start = prefix.char_indices().rev().nth(END - 1).map_or(0, |(at, _)| at);
    let end = prefix.get(start..).unwrap_or_default();
    let answer = frame("These are its last characters.", end, END);
    let subject = subject(options.tool.as_deref());
    let slots = [("subject", subject.as_str()), ("answer", &answer), ("attempt", ""), ("of", "")];
    let user = fill(options.templates.continuation(), &slots);
    Prompt { tool: user.clone(), user }
}

fn subject(tool: Option<&str>) -> String {
    tool.map_or_else(|| "Your answer".to_owned(), |tool| format!("Your call of the tool {tool:?}"))
}
