//! Google Gemini and Vertex AI, `streamGenerateContent`, as events or as one array.
//!
//! Every candidate is a scope. Its parts are not numbered: a run of parts of one kind is a block, and
//! calls are counted. The finish reason is the only end-of-stream marker.

use std::collections::BTreeMap;

use super::{
    ARGUMENTS, Arguments, CallDelta, Delta, FLAG, Format, LIST, MAX_CHOICE, Members, NUMBER,
    OBJECT, OBJECTS, Place, TEXT, arguments, entries, excerpt, finish, non_empty, ordinal,
    partial_args::PartialArgs, piece, usage,
};
use crate::{Block, Doubt, ErrorKind, FinishReason, WireError, json::Node};

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
