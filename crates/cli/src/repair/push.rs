//! `jsonmend repair --stream`: what is certain is written after every read, and nothing is kept.

use jsonmend_core::{Mender, Options, Outcome, Output, Repair, Risk, TrailingDocuments};
use jsonmend_extract::{Extractor, Scope, TextSink};
use serde_json::json;

use super::{LISTED, summary, unlisted};
use crate::{
    Session,
    exit::Failure,
    fault,
    fragment::Fragments,
    input::{CHUNK, Input},
    out::Out,
    paint::{BAD, notice},
    position::Tracker,
    report::{self, Record},
};

pub(super) fn run(
    mut input: Input,
    scope: Scope,
    options: &Options,
    json: bool,
    session: Session,
) -> Result<Outcome, Failure> {
    let mut reader = Reader::new(scope, options.clone());
    let mut sink = Sink {
        out: Out::new(),
        json,
        name: input.name().to_owned(),
        session,
        fragments: Fragments::default(),
        texts: Fragments::default(),
        tracker: Tracker::new(),
        repairs: 0,
        risk: None,
        wrote: false,
    };
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = input.chunk(&mut buffer)?;
        if chunk.is_empty() {
            break;
        }
        sink.tracker.push(chunk);
        reader.push(chunk, &mut sink);
        sink.tracker.settle(reader.withheld());
        sink.out.flush()?;
    }
    let outcome = reader.finish(&mut sink);
    let refused = reader.refused().filter(|_| outcome == Outcome::Invalid).cloned();
    let refused = refused.map(|repair| (fault::reason(&repair, options), repair));
    sink.close(outcome, refused)?;
    Ok(outcome)
}

/// What reads the input.
enum Reader {
    Text(Box<Extractor>),
    /// A channel of nothing but documents, all of which are kept.
    Sequence(Box<Mender>, Documents),
}

impl Reader {
    fn new(scope: Scope, options: Options) -> Self {
        if scope == Scope::Whole && options.trailing_documents() == TrailingDocuments::All {
            Self::Sequence(Box::new(Mender::new(options)), Documents::default())
        } else {
            Self::Text(Box::new(Extractor::new(scope, options)))
        }
    }

    fn push(&mut self, chunk: &[u8], sink: &mut Sink) {
        match self {
            Self::Text(extractor) => extractor.push(chunk, sink),
            Self::Sequence(mender, documents) => {
                mender.push(chunk, &mut Told { sink, documents, last: None });
            }
        }
    }

    fn withheld(&self) -> usize {
        match self {
            Self::Text(extractor) => extractor.withheld(),
            Self::Sequence(mender, _) => mender.withheld(),
        }
    }

    /// The first repair that the policy forbade.
    fn refused(&self) -> Option<&Repair> {
        match self {
            Self::Text(extractor) => extractor.refused(),
            Self::Sequence(mender, _) => mender.refused(),
        }
    }

    fn finish(&mut self, sink: &mut Sink) -> Outcome {
        match self {
            Self::Text(extractor) => extractor.finish(sink),
            Self::Sequence(mender, documents) => {
                let mut last = None;
                let outcome = mender.finish(&mut Told { sink, documents, last: Some(&mut last) });
                // What was open at the end ended as the input did, cut off perhaps.
                if let Some(own) = last.filter(|_| outcome.is_complete()) {
                    sink.end(own);
                } else if last.is_some() || documents.open {
                    sink.end(outcome);
                }
                outcome
            }
        }
    }
}

/// The documents of a sequence.
#[derive(Default)]
struct Documents {
    /// Whether one has begun and not ended.
    open: bool,
    /// How many repairs there were when the last one ended.
    before: usize,
}

/// Tells the documents of a sequence apart.
struct Told<'a> {
    sink: &'a mut Sink,
    documents: &'a mut Documents,
    /// At the end of the input: how the last document ended by itself, which is not told yet.
    last: Option<&'a mut Option<Outcome>>,
}

impl Output for Told<'_> {
    fn copy(&mut self, bytes: &[u8]) {
        if !bytes.trim_ascii().is_empty() {
            self.documents.open = true;
            if let Some(outcome) = self.last.as_mut().and_then(|last| last.take()) {
                self.sink.end(outcome);
            }
        }
        self.sink.json(bytes);
    }

    fn repair(&mut self, repair: Repair) {
        self.sink.repair(repair);
    }

    fn end_document(&mut self) {
        let before = std::mem::replace(&mut self.documents.before, self.sink.repairs);
        let repaired = before != self.sink.repairs;
        let outcome = if repaired { Outcome::Repaired } else { Outcome::Unchanged };
        self.documents.open = false;
        match &mut self.last {
            Some(last) => **last = Some(outcome),
            None => self.sink.end(outcome),
        }
    }
}

/// Writes the documents, and says what was changed in them.
struct Sink {
    out: Out,
    json: bool,
    name: String,
    session: Session,
    fragments: Fragments,
    /// The same for text outside documents.
    texts: Fragments,
    tracker: Tracker,
    repairs: usize,
    /// The highest risk of the repairs.
    risk: Option<Risk>,
    wrote: bool,
}

impl Sink {
    fn told(&mut self, kind: &str, text: &str) {
        if !text.is_empty() {
            self.out.record(&json!({ "type": kind, "text": text }));
        }
    }

    fn close(mut self, outcome: Outcome, refused: Option<(String, Repair)>) -> Result<(), Failure> {
        if self.json {
            let rest = self.texts.finish();
            self.told("text", &rest);
            let mut end =
                json!({ "type": "end", "outcome": outcome.code(), "repairs": self.repairs });
            if let Some((_, repair)) = &refused {
                end["refused"] = json!(Record::from(repair));
            }
            self.out.record(&end);
        } else if self.wrote && self.out.is_terminal() {
            self.out.bytes(b"\n");
        }
        self.out.flush()?;
        if self.json {
            return Ok(());
        }
        if !self.session.quiet {
            unlisted(self.repairs);
        }
        if !self.session.quiet || !outcome.is_valid() {
            let count = report::count_of(self.repairs, self.risk);
            summary(&self.name, outcome, &count, self.session);
        }
        if let Some((reason, repair)) = refused {
            let error = self.session.stderr.paint(BAD, "error");
            notice(format_args!("{error}: {}: byte {}: {reason}", self.name, repair.start()));
        }
        Ok(())
    }
}

impl TextSink for Sink {
    /// What is no part of a document, such as all that follows a refusal.
    fn text(&mut self, bytes: &[u8]) {
        if self.json {
            let text = self.texts.push(bytes);
            self.told("text", &text);
        }
    }

    /// Every document is a text of its own, on a line of its own.
    fn begin(&mut self, _: usize) {
        if self.wrote && !self.json {
            self.out.bytes(b"\n");
        }
    }

    fn json(&mut self, bytes: &[u8]) {
        self.wrote = true;
        if self.json {
            let rest = self.texts.finish();
            self.told("text", &rest);
            let text = self.fragments.push(bytes);
            self.told("json", &text);
        } else {
            self.out.bytes(bytes);
        }
    }

    fn repair(&mut self, repair: Repair) {
        self.repairs += 1;
        self.risk = self.risk.max(Some(repair.risk()));
        let seen = self.tracker.look(repair.start(), repair.end());
        if self.json {
            let place = seen.map(|(at, _)| json!({ "line": at.line, "column": at.column }));
            let record = Record::from(&repair);
            self.out.record(&json!({ "type": "repair", "repair": record, "position": place }));
        } else if !self.session.quiet && self.repairs <= LISTED {
            let line = report::line(self.session.stderr, &self.name, &repair, seen);
            notice(line);
        }
    }

    fn end(&mut self, outcome: Outcome) {
        if self.json {
            let rest = self.fragments.finish();
            self.told("json", &rest);
            self.out.record(&json!({ "type": "document", "outcome": outcome.code() }));
        }
    }
}
