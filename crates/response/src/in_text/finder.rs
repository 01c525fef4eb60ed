//! Finds calls in a text for a rewriter.

use core::ops::Range;

use wiremend_core::{MendOptions, Outcome};
use wiremend_extract::{CallEnd, CallExtractor, CallSink, CallStart};
use wiremend_wire::{CallFinder, CallText, TextCall};

use super::account;

/// Finds the stretches of a text that consist of complete calls.
pub(super) struct TextCallFinder {
    reader: CallExtractor,
    runs: Runs,
}

impl TextCallFinder {
    /// `mending`: how the reader mends arguments.
    pub(super) fn new(reader: CallExtractor, mending: MendOptions) -> Self {
        Self { reader, runs: Runs { mending, ..Runs::default() } }
    }
}

impl CallFinder for TextCallFinder {
    fn push(&mut self, text: &str) -> usize {
        self.reader.push(text.as_bytes(), &mut self.runs);
        self.runs.certain()
    }

    fn finish(&mut self, clean: bool) -> Vec<CallText> {
        if clean {
            self.reader.finish_at_eos(&mut self.runs);
        } else {
            self.reader.finish(&mut self.runs);
        }
        self.runs.close(false);
        core::mem::take(&mut self.runs.found)
    }
}

/// Collects runs of calls and markers: what is neither text nor reasoning.
#[derive(Debug, Default)]
struct Runs {
    /// How much of the text was read.
    at: usize,
    /// The open run.
    run: Option<Run>,
    /// The last byte that was read belongs to reasoning.
    after_reasoning: bool,
    found: Vec<CallText>,
    mending: MendOptions,
}

#[derive(Debug, Default)]
struct Run {
    span: Range<usize>,
    /// Where the last marker in it begins, which may open a reasoning block.
    last_marker: usize,
    calls: Vec<TextCall>,
    /// It has a call that cannot be carried out, so all of it stays.
    stays: bool,
    raw: Vec<u8>,
    arguments: Vec<u8>,
    name: String,
    dialect: String,
}

impl Runs {
    /// The offset up to which the text is certain to stay.
    fn certain(&self) -> usize {
        let first = self.found.first().map(|stretch| stretch.span.start);
        let open = self.run.as_ref().map(|run| run.span.start);
        first.or(open).unwrap_or(self.at)
    }

    /// The open run, which grows by `length` bytes.
    fn grow(&mut self, length: usize) -> &mut Run {
        let start = self.at;
        self.at += length;
        let end = self.at;
        self.after_reasoning = false;
        let run = self.run.get_or_insert_with(|| Run { span: start..start, ..Run::default() });
        run.span.end = end;
        run
    }

    /// Ends the open run. `reasoning`: what follows is reasoning, so the last marker opened it.
    fn close(&mut self, reasoning: bool) {
        let Some(mut run) = self.run.take() else { return };
        if reasoning {
            run.span.end = run.last_marker;
        }
        if !run.stays && !run.calls.is_empty() {
            self.found.push(CallText::new(run.span, run.calls));
        }
    }
}

impl CallSink for Runs {
    fn text(&mut self, bytes: &[u8]) {
        self.close(false);
        self.after_reasoning = false;
        self.at += bytes.len();
    }

    fn reasoning(&mut self, bytes: &[u8]) {
        self.close(true);
        self.after_reasoning = true;
        self.at += bytes.len();
    }

    fn markup(&mut self, bytes: &[u8]) {
        // The marker that closes a reasoning block belongs to it.
        if core::mem::take(&mut self.after_reasoning) {
            self.at += bytes.len();
            return;
        }
        let start = self.at;
        self.grow(bytes.len()).last_marker = start;
    }

    fn begin(&mut self, call: &CallStart<'_>) {
        let (name, dialect) = (call.name.to_owned(), call.dialect.name().to_owned());
        let run = self.grow(0);
        (run.name, run.dialect) = (name, dialect);
        run.raw.clear();
        run.arguments.clear();
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.grow(bytes.len()).raw.extend_from_slice(bytes);
    }

    fn arguments(&mut self, json: &[u8]) {
        self.grow(0).arguments.extend_from_slice(json);
    }

    fn end(&mut self, end: &CallEnd) {
        let run = self.grow(0);
        let (raw, json) = (core::mem::take(&mut run.raw), core::mem::take(&mut run.arguments));
        let (raw, mended) = account(&raw, json, end, &self.mending);
        let run = self.grow(0);
        let repaired = mended.outcome() == Outcome::Repaired;
        let (outcome, arguments, repairs) = mended.into_parts();
        // A provider sends arguments as an object.
        match arguments.filter(|json| outcome.is_complete() && json.starts_with('{')) {
            Some(arguments) => {
                let call = TextCall::new(&run.name, &run.dialect, arguments, repaired);
                run.calls.push(call.with_repairs(raw, repairs));
            }
            None => run.stays = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use wiremend_core::MendOptions;
    use wiremend_extract::{Dialect, Tools};

    use super::*;

    fn found(dialect: &str, text: &str, clean: bool) -> (String, Vec<String>) {
        let tools = Tools::new().with_tool("book", ["seats"], None);
        let reader = CallExtractor::new(MendOptions::new()).with_tools(tools);
        let reader = reader.with_dialect(Dialect::by_name(dialect).unwrap().clone());
        let whole = {
            let mut finder = TextCallFinder::new(reader.clone(), MendOptions::new());
            finder.push(text);
            finder.finish(clean)
        };
        let mut finder = TextCallFinder::new(reader, MendOptions::new());
        let mut certain = 0;
        for piece in text.split_inclusive(|_| true) {
            let now = finder.push(piece);
            assert!(now >= certain, "certain text stays certain");
            certain = now;
        }
        let split = finder.finish(clean);
        assert_eq!(split, whole);
        assert!(split.first().is_none_or(|stretch| stretch.span.start >= certain));
        let mut rest = text.to_owned();
        for stretch in split.iter().rev() {
            rest.replace_range(stretch.span.clone(), "");
        }
        let calls = split.into_iter().flat_map(|stretch| stretch.calls);
        (rest, calls.map(|call| call.name + &call.arguments).collect())
    }

    #[test]
    fn a_stretch_of_complete_calls_is_taken_out_with_its_markers() {
        let call = "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": 2}}</tool_call>";
        let want = "book{\"seats\": 2}".to_owned();
        let (rest, calls) = found("hermes", &format!("One. {call}\n{call} Two."), true);
        assert_eq!((rest.as_str(), calls), ("One.  Two.", vec![want.clone(), want.clone()]));
        let (rest, calls) = found("hermes", &format!("<think>hm</think>\n{call}"), true);
        assert_eq!((rest.as_str(), calls), ("<think>hm</think>\n", vec![want]));
        let (rest, calls) = found("hermes", "Two <tool_call> tags", true);
        assert_eq!((rest.as_str(), calls.len()), ("Two <tool_call> tags", 0));
    }

    #[test]
    fn a_call_in_a_string_of_a_document_stays() {
        let call = "<tool_call>{'name': 'book', 'arguments': {'seats': 2}}</tool_call>";
        for text in [format!("{{\"note\": \"{call}\"}}"), format!("As JSON: [\"{call}\", 2].")] {
            assert_eq!(found("hermes", &text, true), (text, vec![]));
        }
        let (rest, calls) = found("hermes", &format!("[\"{call}\"] {call}"), true);
        assert_eq!((rest, calls.len()), (format!("[\"{call}\"] "), 1));
    }

    #[test]
    fn a_stretch_with_a_call_that_cannot_be_carried_out_stays() {
        let cut = "<tool_call>{\"name\": \"book\", \"arguments\": {\"seats\": ";
        assert_eq!(found("hermes", cut, false), (cut.to_owned(), vec![]));
        let both =
            format!("<tool_call>{{\"name\": \"book\", \"arguments\": {{}}}}</tool_call>{cut}");
        assert_eq!(found("hermes", &both, false), (both, vec![]));
    }
}
