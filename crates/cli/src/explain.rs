//! `wiremend explain`: the meaning of codes, and of the other words that this program prints.

use serde_json::json;
use wiremend_core::{Policy, RepairKind, Risk};
use wiremend_extract::Dialect;
use wiremend_schema::Rule;
use wiremend_wire::ApiFormat;

use crate::{
    Session,
    args::{ExplainArgs, repair_codes, unknown},
    exit::{Exit, Failure},
    many::{LABELS, SKIPPED},
    out::Out,
    visible::{BOLD, DIM, NAME, Shown, shown},
};

pub(crate) fn run(args: &ExplainArgs, session: Session) -> Result<Exit, Failure> {
    let mut out = Out::new();
    let Some(code) = &args.code else {
        let repairs = RepairKind::ALL.iter().copied().map(Entry::of_repair);
        for entry in repairs.chain(Rule::ALL.iter().copied().map(Entry::of_rule)) {
            if args.json {
                out.record(&entry.object());
            } else {
                out.line(&row(
                    session,
                    entry.code,
                    &Shown::of(entry.risk).padded(8),
                    entry.summary,
                ));
            }
        }
        for word in all() {
            if args.json {
                out.record(&object(&word));
            } else {
                let of = session.stdout.paint(DIM, shown!("{}: ", word.of));
                out.line(&row(session, word.code, &of, word.meaning));
            }
        }
        out.flush()?;
        return Ok(Exit::Unchanged);
    };
    let entry = Entry::find(code);
    let meanings: Vec<Word> = meanings(code).collect();
    if entry.is_none() && meanings.is_empty() {
        let rules = Rule::ALL.iter().map(|rule| rule.code());
        let words = all().map(|word| word.code);
        let all = repair_codes().chain(rules).chain(words);
        return Err(Failure::Usage(unknown("this program prints no word", code, all)));
    }
    if args.json {
        entry.iter().for_each(|entry| out.record(&entry.object()));
        meanings.iter().for_each(|word| out.record(&object(word)));
    } else {
        entry.iter().for_each(|entry| out.line(&entry.page(session)));
        if !meanings.is_empty() {
            out.line(&page(session, code, &meanings));
        }
    }
    out.flush()?;
    Ok(Exit::Unchanged)
}

fn row(session: Session, code: &'static str, of: &Shown, summary: &'static str) -> Shown {
    shown!("{}{}{}", session.stdout.paint(NAME, Shown::of(code).padded(28)), of, summary)
}

/// The meanings of a word: a line for each thing that it is a word for.
fn page(session: Session, code: &str, meanings: &[Word]) -> Shown {
    let lines = meanings.iter().map(|word| {
        let of = session.stdout.paint(DIM, Shown::of(word.of).padded(26));
        shown!("{}{}", of, word.meaning)
    });
    let lines: Vec<Shown> = lines.collect();
    shown!("{}\n\n{}", session.stdout.paint(BOLD, code), Shown::join(&lines, "\n"))
}

fn object(word: &Word) -> serde_json::Value {
    json!({ "code": word.code, "of": word.of, "summary": word.meaning })
}

/// The description of a repair or of a schema rule.
struct Entry {
    code: &'static str,
    risk: Risk,
    summary: &'static str,
    example: (&'static str, &'static str),
    policies: Vec<&'static str>,
    /// The option that disables it or, for a rule that is off by default, enables it.
    switch: &'static str,
    of: &'static str,
}

impl Entry {
    fn find(code: &str) -> Option<Self> {
        let repair = RepairKind::from_code(code).map(Self::of_repair);
        repair.or_else(|| Rule::from_code(code).map(Self::of_rule))
    }

    fn of_repair(kind: RepairKind) -> Self {
        Self {
            code: kind.code(),
            risk: kind.risk(),
            summary: kind.summary(),
            example: kind.example(),
            policies: policies(|policy| policy.allows(kind)),
            switch: "--off",
            of: "syntax",
        }
    }

    fn of_rule(rule: Rule) -> Self {
        Self {
            code: rule.code(),
            risk: rule.risk(),
            summary: rule.summary(),
            example: rule.example(),
            policies: policies(|policy| Some(rule.risk()) <= policy.max_risk()),
            switch: if rule.is_default() { "--rule-off" } else { "--rule-on" },
            of: "schema",
        }
    }

    fn page(&self, session: Session) -> Shown {
        let paint = session.stdout;
        let (before, after) = self.example;
        let label = |text: &str| paint.paint(DIM, Shown::of(text).padded(8));
        let switch = if self.switch == "--rule-on" { "allow" } else { "refuse" };
        shown!(
            "{}\n\n{}\n\n{}  {}\n{}  {}\n\n{}  {}: {}\n{}  {}\n{}  {} {}",
            paint.paint(BOLD, self.code),
            self.summary,
            label("before"),
            Shown::clipped(before.as_bytes(), 200),
            label("after"),
            Shown::clipped(after.as_bytes(), 200),
            label("risk"),
            self.risk,
            meaning(self.risk),
            label("policies"),
            self.policies.join(", "),
            label(switch),
            self.switch,
            self.code,
        )
    }

    fn object(&self) -> serde_json::Value {
        json!({
            "code": self.code,
            "of": self.of,
            "risk": self.risk.code(),
            "summary": self.summary,
            "before": self.example.0,
            "after": self.example.1,
            "meaning": meaning(self.risk),
            "policies": self.policies,
        })
    }
}

/// What a risk means for the result.
fn meaning(risk: Risk) -> &'static str {
    meanings(risk.code()).find(|word| word.of == "risk").map_or("", |word| word.meaning)
}

/// The policies that allow a repair.
fn policies(allows: impl Fn(&Policy) -> bool) -> Vec<&'static str> {
    [("conservative", Policy::CONSERVATIVE), ("permissive", Policy::PERMISSIVE)]
        .into_iter()
        .filter(|(_, policy)| allows(policy))
        .map(|(name, _)| name)
        .collect()
}

// The words that this program prints besides the codes of repairs and schema rules: outcomes, risks, reasons, types
// of lines, the names of fields.

/// A word, what it is a word for, and what it means.
pub(crate) struct Word {
    pub(crate) code: &'static str,
    pub(crate) of: &'static str,
    pub(crate) meaning: &'static str,
}

/// The meanings of a word: one for each thing that it is a word for.
pub(crate) fn meanings(code: &str) -> impl Iterator<Item = Word> + '_ {
    all().filter(move |word| word.code == code)
}

/// All words, by what they are words for.
pub(crate) fn all() -> impl Iterator<Item = Word> {
    let own = [("input of many", &LABELS[..]), ("left out in directories", &SKIPPED)];
    let own = own.into_iter().flat_map(|(of, words)| words.iter().map(move |word| (of, *word)));
    let table = TABLE.iter().flat_map(|(of, words)| words.iter().map(move |word| (*of, *word)));
    let table = table.chain(own).map(|(of, (code, meaning))| Word { code, of, meaning });
    let formats = ApiFormat::ALL.iter().map(|format| Word {
        code: format.code(),
        of: "format",
        meaning: "the form in which a provider streams its responses: docs/providers.md",
    });
    let dialects = Dialect::all().iter().map(|dialect| Word {
        code: dialect.name(),
        of: "dialect",
        meaning: "the form in which models write tool calls in text: docs/dialects.md",
    });
    table.chain(formats).chain(dialects)
}

type Words = &'static [(&'static str, &'static str)];

const TABLE: &[(&str, Words)] = &[
    (
        "outcome",
        &[
            ("abandoned", "the reader stopped before the end"),
            ("closed", "the input was cut off, and the document was closed: it is not complete"),
            (
                "cut",
                "the input was cut off, and the policy forbids closing it, or the schema requires what is missing",
            ),
            ("invalid", "it needs a repair that the policy forbids, or does not match its schema"),
            ("none", "the input holds no JSON"),
            ("overflow", "a limit was exceeded"),
            ("repaired", "it was complete but broken, and is valid now"),
            ("unchanged", "it was valid, and is the same byte for byte"),
        ],
    ),
    (
        "risk",
        &[
            ("exact", "there is one reading, and nothing is lost"),
            (
                "likely",
                "the reading is strongly indicated, or nothing that carries meaning changed",
            ),
            ("lossy", "something the input held is dropped, because JSON cannot hold it"),
            ("guess", "something is invented, or one of several readings was chosen: check it"),
        ],
    ),
    (
        "policy",
        &[
            ("conservative", "exact and likely repairs; what was cut off is not closed"),
            ("permissive", "every repair"),
            ("strict", "no repair"),
        ],
    ),
    (
        "end of a stream",
        &[
            ("complete", "it ended as its format says"),
            ("cut", "the body ended before its end was stated"),
            ("error", "it holds an error of the provider, or something that is not its format"),
            ("lossy", "an event, or a part of one, was lost"),
            ("overflow", "a limit was exceeded, and something was dropped"),
            ("unrecognised", "it is in no known format"),
        ],
    ),
    (
        "outcome of a call",
        &[
            ("cut", "the arguments were cut off, or may have been: do not run it"),
            (
                "refused",
                "the arguments need a repair that the policy forbids, or exceed a limit: do not run it",
            ),
            ("repaired", "the arguments were broken, and are valid now"),
            ("unknown-tool", "no tool of this name is declared"),
            ("whole", "the arguments are what the model wrote"),
        ],
    ),
    (
        "kind of call",
        &[
            ("custom", "a tool that takes free text, which is never repaired"),
            ("function", "a function of the caller, with JSON arguments"),
            ("server", "a tool that the provider runs itself"),
        ],
    ),
    (
        "how a call in text ended",
        &[
            ("closed", "with its closing marker, or its last bracket where the dialect has none"),
            ("end-of-input", "the text ended in it"),
            ("marker-missing", "its arguments ended, and the closing marker did not follow"),
        ],
    ),
    (
        "doubt",
        &[
            ("body-ended", "the stream ended before the call did"),
            ("contradiction", "the stream contradicts itself about the call"),
            ("damaged-event", "an event that may belong to the call was damaged"),
            ("incomplete", "the provider marks the call as incomplete"),
            ("limit", "a line or an event passed a limit while the call was open"),
            ("lost-event", "an event that may belong to the call was lost"),
            ("missing-start", "the first event of the call is missing"),
            ("no-object", "the arguments were broken, and are not an object"),
            ("open-fence", "the arguments begin with a code fence that is never closed"),
            ("stream-error", "the stream reported an error while the call was open"),
            ("unclean-stop", "the turn did not end with a clean stop"),
        ],
    ),
    (
        "error in a stream",
        &[
            ("contradiction", "a call that had ended was sent again with other arguments"),
            ("late-arguments", "arguments came for a call that had ended"),
            ("malformed", "a payload is not JSON"),
            ("not-a-stream", "the body is not that of a response: a page, a text, or compressed"),
            ("provider", "the provider reports an error"),
            ("too-many-calls", "there are more calls than the limit"),
            ("unrecognised", "no payload is in a known format"),
        ],
    ),
    (
        "why a model stopped",
        &[
            ("cancelled", "the request was cancelled"),
            ("content-filter", "a filter stopped it"),
            ("error", "something failed"),
            ("length", "it reached a limit of tokens or time: its last output may be cut off"),
            ("other", "a reason that is not known; `original` has the provider's word"),
            ("pause", "it paused, to be continued"),
            ("refusal", "it declined to answer"),
            ("stop", "it finished, or reached a stop sequence"),
            ("tool-calls", "it asks for tool calls"),
        ],
    ),
    (
        "issue with a schema",
        &[
            ("const", "the value is not the one that `const` requires"),
            ("content", "`contains` is not satisfied, or the content of a string is wrong"),
            ("count", "there are too few or too many items or properties"),
            ("enum", "the value is not listed in `enum`"),
            ("forbidden", "no value is allowed here"),
            ("format", "the string does not match the `format`"),
            ("length", "the string is too short or too long"),
            ("missing", "a required property is missing"),
            ("name", "the name of a property is not allowed"),
            ("overflow", "validating the value takes more work than its length allows"),
            ("pattern", "the string does not match the `pattern`"),
            ("range", "the number is too small, too large, or not a multiple"),
            ("schema-echo", "the value is the schema itself, not an instance of it"),
            ("syntax", "there is no value, or one that cannot be repaired"),
            (
                "truncated",
                "the value ends, without its end, before a part that the schema requires",
            ),
            ("type", "the value has the wrong type"),
            ("unexpected", "the property is not declared"),
            ("union", "the value is valid for none of several schemas, or for too many of them"),
            ("unique", "the items are not unique"),
        ],
    ),
    (
        "framing",
        &[
            ("event-stream", "binary messages of AWS"),
            ("html", "a page, and so an error on the way to the model"),
            ("json", "one JSON value"),
            ("json-array", "a JSON array whose items are the payloads"),
            ("ndjson", "JSON values that follow each other, mostly one on a line"),
            ("sse", "server-sent events"),
            ("sse-strict", "server-sent events exactly as specified"),
            ("text", "anything else"),
        ],
    ),
    (
        "type of a line",
        &[
            ("arguments", "a piece of the arguments of a call"),
            ("call", "a call has begun or, from `extract`, has ended"),
            ("call-end", "a call has ended"),
            ("call-fit", "how the arguments of a call match the schema of their tool"),
            ("call-name", "the name of a call that began without it"),
            ("citation", "a source that the provider names"),
            ("content", "the text for the user that an object has beside its calls"),
            ("delta", "a change to the value of the arguments of a call"),
            ("document", "a document has ended"),
            ("end", "the end of the input, and its outcome"),
            ("envelope", "what was repaired around the text and the calls of a response"),
            ("error", "an error in a stream"),
            ("finish", "why the model stopped"),
            ("framing", "how the body is divided into events"),
            ("json", "a piece of a document"),
            ("listening", "the addresses of the gateway"),
            ("markup", "a marker around calls or reasoning"),
            ("mentioned", "a call of a known tool that is not made where it is written"),
            ("object", "a document in the text of a response"),
            ("object-fit", "how a document in the text matches the schema"),
            ("oversize", "a line or an event was longer than the limit, and was dropped"),
            ("payload", "a document in a text"),
            ("raw", "a piece of what is passed on as it came, after a refusal or a limit"),
            ("reasoning", "a piece of the model's reasoning"),
            ("refusal", "a piece of the text with which the model declines"),
            ("repair", "a repair"),
            ("restated", "a call that repeats an earlier one"),
            ("text", "a piece of text"),
            ("text-was-reasoning", "all text before was reasoning that the prompt had opened"),
            ("unfinished", "the text in which the body ended, without an end"),
            ("unknown", "a call of a tool that does not exist"),
            ("usage", "how many tokens were used"),
            ("wire", "the format of the body"),
        ],
    ),
    (
        "count",
        &[
            (
                "documents",
                "texts, each of them a file or, among files that are read as a whole, a line of JSON Lines",
            ),
            ("records", "lines that are documents, or records with the field"),
        ],
    ),
    (
        "field",
        &[
            ("after", "what a repair or a rule puts in place of what was there"),
            ("arguments", "the arguments of a call, as JSON text"),
            ("at_line", "the line of the file on which a record begins, from 1"),
            ("before", "what was there"),
            ("block", "the number of a part of a response that holds text"),
            ("byte", "a place in the input, in bytes from 0"),
            ("cached", "the tokens that the provider had kept from an earlier request"),
            ("call", "the number of a call, from 0"),
            ("call_fits", "how each call matches the schema of its tool"),
            ("calls", "the calls that may be run or, of a stream, all"),
            ("certain", "how many bytes of the output are certain"),
            ("choice", "the number of an answer, where a response has several"),
            ("citations", "the sources that the provider names"),
            ("code", "a word that `explain` knows or, of an error, the provider's own"),
            ("coerced", "the rules that made a value match its schema or, without one, could have"),
            ("column", "the character of the line, from 1"),
            ("completion", "what would make valid JSON of the output so far"),
            ("content", "the text without reasoning, markers and calls"),
            ("cost", "what the repairs of a reading cost, in hundredths of a comment"),
            ("cut_at", "the path of what was open when the input was cut off"),
            ("data", "the payload of an event"),
            ("depth", "how many containers are open"),
            ("doubt", "why a call or a document may lack something"),
            (
                "dropped",
                "whether the result lacks a document that the input holds; of events, how many",
            ),
            ("emitted", "how many bytes were certain after each chunk"),
            ("end", "where it ends: the byte after it"),
            ("error", "why there is no reply"),
            ("error_type", "the provider's word for the kind of an error"),
            ("errors", "the errors in a stream"),
            ("event", "the type of an event"),
            ("events", "the events of a body"),
            ("expected", "what the schema asks for"),
            ("failed_generation", "what the model had written when the provider refused it"),
            ("fault", "where and why an input could not be repaired, or was cut off"),
            ("field", "the field of a record that was mended"),
            ("file", "the name of the input"),
            ("finish", "why the model stopped"),
            ("format", "the dialect of a call"),
            ("framing", "how a body is divided into events"),
            ("hint", "what would help with an issue"),
            ("id", "the identifier of a call, of a request or of an event"),
            ("incomplete", "the calls that may not be run"),
            ("input", "the tokens of the prompt"),
            ("issues", "what does not match the schema"),
            ("json", "the result, as JSON text; null if there is none"),
            ("kind", "the kind of a call or of an error"),
            ("kinds", "how many repairs there were, by their kind"),
            ("known", "false if no such tool is declared"),
            ("line", "the line, from 1; of a record, the one on which it begins"),
            ("matched", "how a call in text ended"),
            ("meaning", "what a risk means for the result"),
            ("mentioned", "calls that are not made where they are written"),
            ("message", "why it failed or is not whole, for people"),
            ("name", "the name of a tool"),
            ("nearest", "the declared tool whose name is most similar"),
            ("object_fits", "how each document in the text matches the schema"),
            ("objects", "the documents in the text of a response"),
            ("of", "what a word is a word for"),
            ("offset", "where a piece begins in the input"),
            ("op", "how a value changes: add, append or close"),
            ("original", "the provider's own word"),
            ("outcome", "how it ended"),
            ("output", "the tokens of the answer"),
            ("param", "the parameter of the request that an error is about"),
            ("part", "the number of a part of a block"),
            ("path", "the place in the document, such as `$.a[0]`"),
            ("piece", "the input of a step"),
            ("pointer", "the place in the document, as a JSON Pointer"),
            ("policies", "the policies that allow a repair"),
            ("position", "the line and column of a repair; null if the text is no longer there"),
            ("raw", "what came, before it was repaired"),
            ("reason", "why the model stopped"),
            ("reasoning", "the reasoning of the model; of a usage, its tokens"),
            ("received", "the type of the value that is there"),
            ("refusal", "the text with which the model declined"),
            ("refused", "the repair that the policy forbids"),
            ("repair", "a repair"),
            ("repairs", "what was repaired or, as a number, how often"),
            ("repeats", "the number or place of the call that this one repeats"),
            ("restated", "calls that repeat an earlier one"),
            ("retry", "how long a client shall wait, in milliseconds"),
            ("risk", "the risk of a repair; of an input, the highest; null without repairs"),
            ("rule", "a rule that made a value match its schema"),
            ("schema_id", "the identifier of the schema, or the name of its tool"),
            ("schema_path", "the place in the schema, as a JSON Pointer"),
            ("snapshots", "the completed document after each chunk that changed it"),
            ("start", "where it begins, in bytes of the input"),
            ("summary", "what a word means"),
            ("text", "a piece of text, or all of it"),
            ("type", "what a line is; of an error, the provider's word for its kind"),
            ("unknown", "calls of tools that do not exist"),
            ("usage", "how many tokens were used"),
            ("valid", "whether the input was valid, so that nothing had to be done"),
            ("value", "the value of a change"),
            ("wire", "the format of a body"),
            ("withheld", "how many bytes of the input are not certain yet"),
        ],
    ),
    (
        "type of a value",
        &[
            ("array", "a list"),
            ("boolean", "`true` or `false`"),
            ("null", "`null`"),
            ("number", "a number"),
            ("object", "members with names"),
            ("string", "a string"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use wiremend_core::{JsonType, Outcome, Risk};
    use wiremend_extract::CallOutcome;
    use wiremend_schema::IssueCode;
    use wiremend_wire::{
        ArgumentsOutcome, CallKind, Doubt, ErrorKind, FinishReason, Framing, StreamOutcome,
    };

    #[test]
    fn every_kind_has_a_policy_that_makes_it() {
        for &kind in RepairKind::ALL {
            assert!(Entry::of_repair(kind).policies.contains(&"permissive"), "{kind}");
        }
    }

    /// The codes of a type, each with its name.
    macro_rules! codes {
        ($($of:literal: $type:ty),* $(,)?) => {
            [$(($of, <$type>::ALL.iter().map(|value| value.code()).collect::<Vec<_>>())),*]
        };
    }

    #[test]
    fn every_code_has_a_meaning() {
        for (of, codes) in codes! {
            "outcome": Outcome,
            "risk": Risk,
            "end of a stream": StreamOutcome,
            "outcome of a call": CallOutcome,
            "outcome of a call": ArgumentsOutcome,
            "kind of call": CallKind,
            "doubt": Doubt,
            "error in a stream": ErrorKind,
            "why a model stopped": FinishReason,
            "issue with a schema": IssueCode,
            "framing": Framing,
            "type of a value": JsonType,
        } {
            for code in codes {
                assert!(meanings(code).any(|word| word.of == of), "{of}: {code}");
            }
        }
    }

    #[test]
    fn a_doubt_is_described_as_in_the_reports() {
        for doubt in Doubt::ALL {
            let mut meanings = meanings(doubt.code()).filter(|word| word.of == "doubt");
            assert_eq!(meanings.next().map(|word| word.meaning), Some(doubt.description()));
        }
    }

    #[test]
    fn a_word_has_one_meaning_for_each_thing() {
        for word in all() {
            assert_eq!(
                meanings(word.code).filter(|other| other.of == word.of).count(),
                1,
                "{}",
                word.code
            );
            assert!(!word.meaning.ends_with('.'), "{}", word.code);
        }
    }
}
