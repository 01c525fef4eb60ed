//! Google Gemini and Vertex AI, `streamGenerateContent`, as events or as one array.
//!
//! Every candidate is a scope. Its parts are not numbered: a run of parts of one kind is a block, and
//! calls are counted. The finish reason is the only end-of-stream marker.

use std::collections::BTreeMap;

use super::{
    ANY, ARGUMENTS, Arguments, CallDelta, Delta, FLAG, Format, LIST, MAX_CHOICE, Members, NUMBER,
    OBJECT, OBJECTS, Out, Place, TEXT, arguments, entries, excerpt, finish, non_empty, ordinal,
    piece, usage,
};
use crate::{
    Block, Doubt, ErrorKind, FinishReason, WireError,
    json::{Node, escape},
};

const MARKS: [&str; 3] = ["candidates", "promptFeedback", "usageMetadata"];

/// What a payload holds. Some services wrap it in another object.
const RESPONSE: Place<3> =
    Place::of([("candidates", OBJECTS), ("promptFeedback", OBJECT), ("usageMetadata", OBJECT)])
        .needs(1)
        .beside(&["createTime", "error", "modelStatus", "modelVersion", "responseId", "traceId"]);

const CANDIDATE: Place<6> = Place::of([
    ("content", OBJECT),
    ("finishReason", TEXT),
    ("finishMessage", TEXT),
    ("citationMetadata", OBJECT),
    ("groundingMetadata", OBJECT),
    ("index", NUMBER),
])
.needs(1)
.beside(&[
    "avgLogprobs",
    "groundingAttributions",
    "logprobsResult",
    "safetyRatings",
    "tokenCount",
    "urlContextMetadata",
]);

const CONTENT: Place<1> = Place::of([("parts", OBJECTS)]).needs(1).beside(&["role"]);

/// A part. What the provider ran itself, and files, are not read.
const PART: Place<3> = Place::of([("text", TEXT), ("functionCall", OBJECT), ("thought", FLAG)])
    .needs_one_of(3)
    .beside(&[
        "codeExecutionResult",
        "executableCode",
        "fileData",
        "functionResponse",
        "inlineData",
        "mediaResolution",
        "partMetadata",
        "thoughtSignature",
        "toolCall",
        "toolResponse",
        "videoMetadata",
    ]);

const CALL: Place<5> = Place::of([
    ("args", ARGUMENTS),
    ("partialArgs", LIST),
    ("name", TEXT),
    ("id", TEXT),
    ("willContinue", FLAG),
])
.needs_one_of(2);

/// A piece of a call, which says whether more follows.
const CALL_PIECE: Place<5> = Place::of([
    ("partialArgs", LIST),
    ("willContinue", FLAG),
    ("args", ARGUMENTS),
    ("name", TEXT),
    ("id", TEXT),
])
.needs(2);

/// Candidates, or what is sent instead of them. Some services wrap that in another object.
pub(super) fn recognise(_: &str, payload: &Members<'_>) -> bool {
    let inner = payload.field("response");
    MARKS.into_iter().any(|name| payload.has(name) || inner.is_some_and(|inner| inner.has(name)))
}

/// The names of the token counts.
const USAGE: [&str; 4] =
    ["promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount"];

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    candidates: BTreeMap<u32, Candidate>,
    /// The prompt was refused, so there will be no candidates.
    blocked: bool,
}

#[derive(Debug, Default)]
struct Candidate {
    block: u32,
    last: Option<Kind>,
    calls: i64,
    /// The call whose arguments arrive leaf by leaf.
    partial: Option<PartialArgs>,
    /// A leaf arrived while no call was open, so it may belong to the next one.
    stray: bool,
    finished: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Call,
    Text,
    Thought,
}

impl Format for Gemini {
    fn decode(&mut self, _: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let wrapped = payload.field("response").filter(|_| !payload.has("candidates"));
        let [candidates, feedback, counts] = RESPONSE.read(wrapped.unwrap_or(payload), out);
        for node in entries(candidates) {
            let members = CANDIDATE.read(node, out);
            let scope = ordinal(members[5]).min(MAX_CHOICE);
            self.candidates.entry(scope).or_default().read(scope, members, out);
        }
        if let Some(feedback) = feedback {
            self.feedback(feedback, out);
        }
        usage(counts, USAGE).into_iter().for_each(out);
    }

    fn is_ended(&self) -> bool {
        let mut candidates = self.candidates.values();
        self.blocked || (!self.candidates.is_empty() && candidates.all(|one| one.finished))
    }
}

impl Gemini {
    fn feedback(&mut self, feedback: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let [reason, message] = feedback.pick(["blockReason", "blockReasonMessage"]);
        let Some(original) = non_empty(reason) else { return };
        self.blocked = true;
        if let Some(text) = piece(message) {
            out(Delta::Refusal { block: Block::default(), text });
        }
        out(Delta::Finish { scope: 0, reason: FinishReason::ContentFilter, original });
    }
}

impl Candidate {
    fn read(
        &mut self,
        scope: u32,
        [content, reason, message, citations, grounding, _]: [Option<Node<'_>>; 6],
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        let [parts] = content.map_or([None], |content| CONTENT.read(content, out));
        let before = self.calls;
        for part in entries(parts) {
            self.part((scope, before), part, out);
        }
        let block = Block::new(scope, self.block);
        if let Some(citations) = citations {
            let [sources, older] = citations.pick(["citationSources", "citations"]);
            for source in sources.or(older).into_iter().flat_map(Node::items) {
                out(Delta::Citation { block, json: source.raw() });
            }
        }
        if let Some(grounding) = grounding.filter(|grounding| !grounding.is_blank()) {
            out(Delta::Citation { block, json: grounding.raw() });
        }
        if let Some(original) = non_empty(reason) {
            self.finished = true;
            self.abandon_partial(scope, original != "STOP", out);
            // Only the message holds the failed text of the model.
            if FinishReason::from_provider(&original) == FinishReason::Error {
                let text = non_empty(message).unwrap_or(original.clone());
                let mut error = WireError::new(ErrorKind::Provider, excerpt(&text));
                error.error_type = Some(original.into_owned());
                out(Delta::Fail(Box::new(error)));
            }
            finish(scope, reason).into_iter().for_each(out);
        }
    }

    /// Reads a part of a payload. `before`: how many calls came before it.
    fn part(
        &mut self,
        (scope, before): (u32, i64),
        part: Node<'_>,
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        let [text, call, thought] = PART.read(part, out);
        if let Some(call) = call {
            self.enter(Kind::Call);
            self.call((scope, before), call, out);
        }
        let Some(text) = piece(text) else { return };
        if thought.is_some_and(|thought| thought.raw() == "true") {
            let block = Block::new(scope, self.enter(Kind::Thought));
            out(Delta::Reasoning { block, text });
        } else {
            let block = Block::new(scope, self.enter(Kind::Text));
            out(Delta::Text { block, text });
        }
    }

    /// The block of a part of that kind.
    fn enter(&mut self, kind: Kind) -> u32 {
        if self.last.replace(kind).is_some_and(|last| last != kind) {
            self.block = self.block.saturating_add(1);
        }
        self.block
    }

    /// Reads a whole call, or a piece of one.
    fn call(
        &mut self,
        (scope, before): (u32, i64),
        call: Node<'_>,
        out: &mut dyn FnMut(Delta<'_>),
    ) {
        let [args, patches, name, id, continues] = CALL.read(call, out);
        if patches.is_some() {
            CALL_PIECE.read(call, out);
        }
        let continues = continues.is_some_and(|continues| continues.raw() == "true");
        let (name, args) = (piece(name), args.filter(|args| !args.is_null()));
        if name.is_some() || args.is_some() {
            self.abandon_partial(scope, false, out);
            let doubt = core::mem::take(&mut self.stray).then_some(Doubt::LostEvent);
            let index = Some(self.calls);
            self.calls = self.calls.saturating_add(1);
            let id = piece(id);
            let arguments = arguments(args);
            out(Delta::Call(CallDelta {
                scope,
                index,
                exact: true,
                sibling: self.calls - 1 > before,
                doubt,
                id,
                name,
                arguments,
                ..CallDelta::default()
            }));
            self.partial = (continues || patches.is_some()).then(PartialArgs::default);
            if self.partial.is_none() {
                self.end(scope, out);
            }
        }
        for patch in patches.into_iter().flat_map(Node::items) {
            self.patch(scope, patch, out);
        }
        // An empty call ends the open one, and so does one without a continuation.
        if !continues {
            self.close_partial(scope, false, out);
            self.stray = false;
        }
    }

    fn patch(&mut self, scope: u32, patch: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        let mut text = String::new();
        match self.partial.as_mut().map(|partial| partial.patch(patch, &mut text, out)) {
            Some(Ok(())) => {
                self.compose(scope, &text, out);
                if self.partial.as_ref().is_some_and(PartialArgs::is_incomplete) {
                    out(Delta::Doubt(Doubt::LostEvent));
                }
            }
            other => {
                self.stray |= other.is_none();
                let message = format!("arguments that fit nowhere: {}", excerpt(patch.raw()));
                out(Delta::Fail(Box::new(WireError::new(ErrorKind::Malformed, message))));
            }
        }
    }

    fn compose(&self, scope: u32, text: &str, out: &mut dyn FnMut(Delta<'_>)) {
        out(Delta::Call(CallDelta {
            scope,
            index: Some(self.calls - 1),
            exact: true,
            arguments: Arguments::Composed(text),
            ..CallDelta::default()
        }));
    }

    /// Ends the call that arrived leaf by leaf. `cut`: it may be incomplete, and stays open.
    fn close_partial(&mut self, scope: u32, cut: bool, out: &mut dyn FnMut(Delta<'_>)) {
        let Some(mut partial) = self.partial.take().filter(|_| !cut) else { return };
        let mut text = String::new();
        if partial.close(&mut text) {
            self.compose(scope, &text, out);
            self.end(scope, out);
        }
    }

    /// The same, where something else ends the call that the format has not ended.
    fn abandon_partial(&mut self, scope: u32, cut: bool, out: &mut dyn FnMut(Delta<'_>)) {
        if self.partial.as_ref().is_some_and(PartialArgs::is_empty) {
            // It was to continue and never did.
            out(Delta::Call(CallDelta {
                scope,
                index: Some(self.calls - 1),
                exact: true,
                doubt: Some(Doubt::LostEvent),
                ..CallDelta::default()
            }));
        }
        self.close_partial(scope, cut, out);
    }

    fn end(&self, scope: u32, out: &mut dyn FnMut(Delta<'_>)) {
        out(Delta::CallEnd { scope, index: self.calls - 1 });
    }
}

// Arguments that Vertex AI sends leaf by leaf: a path, and a value or the next piece of a string.
//
// The model writes its arguments from first to last, so the paths arrive in document order. This makes
// it possible to write JSON text incrementally: only the path of the last leaf is open, and nothing
// else is kept.

/// How deep arguments may be nested.
const MAX_DEPTH: usize = 256;

/// How many items of an array may be skipped in a row.
const MAX_GAP: usize = 64;

const PATCH: Place<6> = Place::of([
    ("stringValue", TEXT),
    ("numberValue", NUMBER),
    ("boolValue", FLAG),
    ("nullValue", ANY),
    ("jsonPath", TEXT),
    ("willContinue", FLAG),
])
.needs_one_of(4);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// A patch that cannot be appended to what was already written, or that holds no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfOrder;

/// Writes the arguments of one call.
#[derive(Debug, Default)]
pub(super) struct PartialArgs {
    /// The path of the last leaf.
    open: Vec<Step>,
    /// The last leaf is a string that continues.
    in_string: bool,
    begun: bool,
    /// Leaves were left out, or a string that was to continue did not.
    incomplete: bool,
}

impl PartialArgs {
    /// Reads a patch, and appends its text to `text`. On an error, that is unchanged.
    pub(super) fn patch(
        &mut self,
        patch: Node<'_>,
        text: &mut String,
        out: Out<'_>,
    ) -> Result<(), OutOfOrder> {
        let [string, number, boolean, _, path, continues] = PATCH.read(patch, out);
        let path = path.and_then(Node::text).ok_or(OutOfOrder)?;
        let steps = steps(&path).ok_or(OutOfOrder)?;
        let goes_on = self.in_string && steps == self.open;
        let value = number.or(boolean);
        let known = match goes_on {
            // The last piece may be nothing but the end.
            true => value.is_none(),
            false => string.is_some() || value.is_some() || patch.has("nullValue"),
        };
        if !known {
            return Err(OutOfOrder);
        }
        if goes_on {
            if let Some(string) = piece(string) {
                escape(&string, text);
            }
        } else {
            self.go_to(steps, text)?;
            match (string, value) {
                (Some(string), _) => {
                    self.in_string = true;
                    text.push('"');
                    escape(&string.text().unwrap_or_default(), text);
                }
                (None, Some(value)) => text.push_str(value.raw()),
                (None, None) => text.push_str("null"),
            }
        }
        let continues = continues.is_some_and(|continues| continues.raw() == "true");
        if self.in_string && !continues {
            self.in_string = false;
            text.push('"');
        }
        Ok(())
    }

    /// Ends the arguments. `false` if a string that should have continued did not.
    pub(super) fn close(&mut self, out: &mut String) -> bool {
        if self.in_string {
            return false;
        }
        if !self.begun {
            out.push_str("{}");
        }
        for step in self.open.drain(..).rev() {
            out.push(closer(&step));
        }
        true
    }

    /// Whether there was no patch so far.
    pub(super) const fn is_empty(&self) -> bool {
        !self.begun
    }

    /// Whether something of the arguments is missing.
    pub(super) const fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Closes what follows the point where the paths diverge, and opens what is new.
    fn go_to(&mut self, steps: Vec<Step>, out: &mut String) -> Result<(), OutOfOrder> {
        let common = self.open.iter().zip(&steps).take_while(|(a, b)| a == b).count();
        let (Some(next), true) = (steps.get(common), steps.len() <= MAX_DEPTH) else {
            return Err(OutOfOrder);
        };
        let last = match self.open.get(common) {
            Some(Step::Index(last)) => Some(*last),
            _ => None,
        };
        if steps.iter().enumerate().skip(common).any(|(depth, step)| {
            let before = last.filter(|_| depth == common).map_or(0, |last| last + 1);
            matches!(step, Step::Index(index) if index.saturating_sub(before) > MAX_GAP)
        }) {
            return Err(OutOfOrder);
        }
        if self.begun {
            let in_order = match (self.open.get(common), next) {
                (Some(Step::Key(_)), Step::Key(_)) => true,
                (Some(Step::Index(last)), Step::Index(index)) => *index > *last,
                _ => false,
            };
            if !in_order {
                return Err(OutOfOrder);
            }
        }
        if core::mem::take(&mut self.in_string) {
            self.incomplete = true;
            out.push('"');
        }
        // The leaf has no bracket of its own: the last step is a place in its container.
        let deeper = self.open.get(common + 1..).unwrap_or_default();
        for step in deeper.iter().rev() {
            out.push(closer(step));
        }
        for (depth, step) in steps.iter().enumerate().skip(common) {
            let first = depth > common || !self.begun;
            match step {
                Step::Key(key) => {
                    out.push_str(if first { "{\"" } else { ",\"" });
                    escape(key, out);
                    out.push_str("\":");
                }
                Step::Index(index) => {
                    out.push(if first { '[' } else { ',' });
                    // Skipped items are null.
                    let before = if first { 0 } else { last.map_or(0, |last| last + 1) };
                    for _ in before..*index {
                        self.incomplete = true;
                        out.push_str("null,");
                    }
                }
            }
        }
        self.begun = true;
        self.open = steps;
        Ok(())
    }
}

const fn closer(step: &Step) -> char {
    match step {
        Step::Key(_) => '}',
        Step::Index(_) => ']',
    }
}

/// The steps of a path: `$.a`, `[0]`, `['a.b']`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[') {
            Some(inner) => bracketed(inner)?,
            None => {
                let name = rest.strip_prefix('.').unwrap_or(rest);
                let end = name.find(['.', '[']).unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                (Step::Key(name.to_owned()), after)
            }
        };
        steps.push(step);
        rest = after;
    }
    Some(steps).filter(|steps| !steps.is_empty())
}

/// Reads a step in brackets. `inner` starts after the opening bracket.
fn bracketed(inner: &str) -> Option<(Step, &str)> {
    let Some(quote) = inner.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        let (index, after) = inner.split_once(']')?;
        return Some((Step::Index(index.parse().ok()?), after));
    };
    let mut key = String::new();
    let mut chars = inner.get(1..)?.chars();
    while let Some(c) = chars.next() {
        if c == quote {
            return Some((Step::Key(key), chars.as_str().strip_prefix(']')?));
        }
        key.push(if c == '\\' { chars.next()? } else { c });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn written(patches: &[&str]) -> (String, bool) {
        let mut writer = PartialArgs::default();
        let mut out = String::new();
        for patch in patches {
            writer.patch(json::first(patch).unwrap().0, &mut out, &mut |_| {}).unwrap();
        }
        let whole = writer.close(&mut out);
        (out, whole)
    }

    #[test]
    fn leaves_become_a_document() {
        let patches = [
            r#"{"jsonPath":"$.a.b[0].c","stringValue":"x\"","willContinue":true}"#,
            r#"{"jsonPath":"$.a.b[0].c","stringValue":"y\n"}"#,
            r#"{"jsonPath":"$.a.b[0].d","numberValue":1.50}"#,
            r#"{"jsonPath":"$.a.b[2]","boolValue":false}"#,
            r#"{"jsonPath":"$['k.\\'e']","nullValue":"NULL_VALUE"}"#,
            r#"{"jsonPath":"$.z[0][0]","stringValue":""}"#,
        ];
        let text = r#"{"a":{"b":[{"c":"x\"y\n","d":1.50},null,false]},"k.'e":null,"z":[[""]]}"#;
        assert_eq!(written(&patches), (text.to_owned(), true));
        assert!(serde_json::from_str::<serde_json::Value>(text).is_ok());
        assert_eq!(written(&[]), ("{}".to_owned(), true));
    }

    #[test]
    fn a_string_that_continues_is_not_closed() {
        let (text, whole) =
            written(&[r#"{"jsonPath":"$.a","stringValue":"Par","willContinue":true}"#]);
        assert_eq!((text.as_str(), whole), ("{\"a\":\"Par", false));
    }

    #[test]
    fn out_of_order_patches_are_rejected_and_write_nothing() {
        let mut writer = PartialArgs::default();
        let mut out = String::new();
        let patch = |text| json::first(text).unwrap().0;
        writer
            .patch(patch(r#"{"jsonPath":"$.a[1]","numberValue":1}"#), &mut out, &mut |_| {})
            .unwrap();
        for wrong in [
            r#"{"jsonPath":"$.a[0]","numberValue":2}"#,
            r#"{"jsonPath":"$.a.b","numberValue":2}"#,
            r#"{"jsonPath":"$.a","numberValue":2}"#,
            r#"{"jsonPath":"$.a[1].b","numberValue":2}"#,
            r#"{"jsonPath":"$.a[99999]","numberValue":2}"#,
            r#"{"jsonPath":"$.a[x]","numberValue":2}"#,
            r#"{"jsonPath":"$","numberValue":2}"#,
            r#"{"numberValue":2}"#,
        ] {
            let result = writer.patch(patch(wrong), &mut out, &mut |_| {});
            assert_eq!(result, Err(OutOfOrder), "{wrong}");
        }
        assert!(writer.close(&mut out));
        assert_eq!(out, "{\"a\":[null,1]}");
    }
}
