//! `wiremend repair`: text in, repaired JSON out.
//!
//! With `--stream`, what is certain is written after every read, and nothing is kept.

use serde_json::json;
use wiremend_core::{
    Lead, MendOptions, Mended, Mender, Outcome, Output, Path, Paths, Repair, RepairKind, Risk,
    TrailingDocuments,
};
use wiremend_extract::{Finder, Scope, TextSink, find};

use crate::{
    Session,
    args::{PolicyArg, RepairArgs, ScopeArg, TrailingArg},
    check::Report,
    doors,
    exit::{Exit, Failure},
    fault::{self, Fault, Tracker},
    fit::{self, Target},
    input::{CHUNK, Input},
    many,
    out::{Fragments, Out},
    report::{self, Edit, Kinds, Listing, Record},
    visible::{BAD, notice, shown},
};

pub(crate) fn run(args: &RepairArgs, session: Session) -> Result<Exit, Failure> {
    if args.stream {
        refuse_for_stream(args)?;
    }
    let options = options(args);
    let scope = scope(args);
    let target = Target::of_args(&args.schema)?;
    let file = match args.files.as_slice() {
        [file] if !args.many.is_used() && !args.divides(file) && !file.is_dir() => file,
        _ => return many::run(args, options, scope, target, session),
    };
    let mut input = Input::open(file, session.quiet)?.unpacked();
    let result = if let Some(target) = target {
        let text = read(args, &mut input)?;
        let fitted = target.fit(&text, options, scope);
        let taken = doors::taken_line(&text, doors::changes(&fitted));
        let missing = fit::drops_document(&fitted) || taken.is_some();
        let outcome = fit::repair(args, input.name(), &text, &target, &fitted, session)?;
        let joined = fitted.outcome() != Outcome::Unchanged;
        to_lines(input.name(), &text, taken, joined, session);
        Summary { outcome, missing, risk: fitted.risk() }
    } else if args.stream {
        repair_stream(input, scope, &options, args.json, session)?
    } else {
        whole(args, input, scope, &options, session)?
    };
    let Summary { outcome, missing, risk } = result;
    Ok(match args.exit_zero && outcome.is_valid() {
        true => Exit::Unchanged,
        false => Exit::judged(outcome, missing, risk, &args.fail_on),
    })
}

/// What decides the exit code.
struct Summary {
    outcome: Outcome,
    /// Whether a document was dropped.
    missing: bool,
    risk: Option<Risk>,
}

/// How texts are mended.
fn options(args: &RepairArgs) -> MendOptions {
    let trailing = if args.stream { TrailingDocuments::First } else { TrailingDocuments::Array };
    let trailing = args.trailing.map_or(trailing, TrailingArg::trailing);
    // What `--stream` writes is not searched.
    args.engine.options(PolicyArg::Permissive).with_trailing_documents(trailing)
}

/// Where documents are looked for. Of several, the first is the best only if it was asked for.
fn scope(args: &RepairArgs) -> Scope {
    let whole_text = args.stream || args.trailing == Some(TrailingArg::First);
    let default = if whole_text { Scope::Whole } else { Scope::Best };
    args.scope.map_or(default, ScopeArg::scope)
}

/// Refuses the options that need the whole text: what `--stream` has written cannot be taken back.
fn refuse_for_stream(args: &RepairArgs) -> Result<(), Failure> {
    let message = match (args.scope, args.trailing) {
        _ if args.many.is_used() || args.files.len() > 1 => {
            "--stream reads one input: with several, and for records, each is read as a whole"
        }
        (Some(ScopeArg::Best | ScopeArg::Last), _) => {
            "--stream cannot choose between documents: --scope best and last need the whole text"
        }
        (_, Some(TrailingArg::Array | TrailingArg::Last)) => {
            "--stream writes the first document before it has seen others: --trailing array and last \
             need the whole text"
        }
        (Some(ScopeArg::All | ScopeArg::Fenced), Some(TrailingArg::First)) => {
            "--scope all and fenced are all documents: use --scope first for one"
        }
        (Some(ScopeArg::First), Some(TrailingArg::All)) => {
            "--scope first is one document: use --trailing all with --scope whole or all"
        }
        _ => return Ok(()),
    };
    Err(Failure::Usage(message.to_owned()))
}

/// Reads a text. The body of a streaming response is none.
fn read(args: &RepairArgs, input: &mut Input) -> Result<Vec<u8>, Failure> {
    let text = input.read_all(args.input.max_input)?;
    if !doors::is_body(&text) {
        return Ok(text);
    }
    if args.or_input {
        let mut out = Out::new();
        out.text(&text);
        out.flush()?;
    }
    Err(Failure::Body { name: input.name().to_owned() })
}

/// Names `--lines`: for a line that another one took in, or where several lines were joined.
fn to_lines(name: &str, text: &[u8], taken: Option<String>, joined: bool, session: Session) {
    let hint = || doors::of_lines(text).filter(|_| joined && !session.quiet);
    if let Some(message) = taken.or_else(hint) {
        notice(&shown!("{}: {}", name, message));
    }
}

/// The whole-text path: everything is read before anything is written.
fn whole(
    args: &RepairArgs,
    mut input: Input,
    scope: Scope,
    options: &MendOptions,
    session: Session,
) -> Result<Summary, Failure> {
    let text = read(args, &mut input)?;
    let mended = find(&text, scope, options);
    let taken = doors::taken_line(&text, doors::edits(mended.repairs()));
    let mut out = Out::new();
    if args.json {
        out.record(&Report::new(input.name(), &text, &mended, options).with_json(&mended));
    } else if let Some(json) = mended.text() {
        out.document(json.as_bytes());
        out.end_line(json.as_bytes());
    } else if args.or_input {
        out.text(&text);
    }
    out.flush()?;
    if !args.json {
        notices(input.name(), &text, &mended, options, session);
    }
    let missing = report::drops_document(mended.repairs()) || taken.is_some();
    let joined = mended.repairs().contains(RepairKind::LineDelimited);
    to_lines(input.name(), &text, taken, joined, session);
    Ok(Summary { outcome: mended.outcome(), missing, risk: mended.repairs().risk() })
}

fn notices(name: &str, text: &[u8], mended: &Mended, options: &MendOptions, session: Session) {
    let paint = session.stderr;
    if mended.outcome().is_valid() && !session.quiet {
        let listing = Listing { paint, name: Some(name), verbose: session.verbose };
        listing.lines(Some(text), mended.located(text)).iter().for_each(notice);
        summary(name, mended.outcome(), &report::count(mended.repairs()), session);
    }
    if let Some(fault) = Fault::of(text, mended, options) {
        if !mended.outcome().is_valid() {
            notice(&fault.paragraph(paint, "error", name, text));
        } else if !session.quiet {
            notice(&fault.paragraph(paint, "cut off", name, text));
        }
    }
}

fn summary(name: &str, outcome: Outcome, count: &str, session: Session) {
    if outcome != Outcome::Unchanged {
        notice(&shown!("{}: {} ({})", name, report::outcome(session.stderr, outcome), count));
    }
}

fn repair_stream(
    mut input: Input,
    scope: Scope,
    options: &MendOptions,
    json: bool,
    session: Session,
) -> Result<Summary, Failure> {
    let mut reader = Reader::new(scope, options.clone());
    let mut sink = Sink {
        out: Out::new(),
        json,
        name: input.name().to_owned(),
        session,
        fragments: Fragments::default(),
        texts: Fragments::default(),
        tracker: Tracker::new(),
        paths: Paths::new(),
        repairs: 0,
        risk: None,
        kinds: Kinds::default(),
        wrote: false,
        raw: false,
        gap: None,
        missing: false,
    };
    let (mut buffer, mut head) = (vec![0; CHUNK], Vec::new());
    loop {
        let chunk = input.chunk(&mut buffer)?;
        if chunk.is_empty() {
            break;
        }
        head.extend(chunk.iter().take(doors::HEAD - head.len()));
        sink.tracker.push(chunk);
        reader.push(chunk, &mut sink);
        sink.tracker.settle(reader.withheld());
        sink.out.flush()?;
    }
    let outcome = reader.finish(&mut sink);
    let refused = reader.refused().filter(|_| outcome == Outcome::Invalid);
    let refused = refused.map(|(repair, path)| Refused {
        reason: fault::reason(&repair, options),
        repair,
        path,
    });
    let overflow = (outcome == Outcome::Overflow).then(|| fault::overflow(options));
    let (missing, risk) = (sink.missing, sink.risk);
    sink.close(outcome, refused, overflow)?;
    match doors::is_body(&head) {
        true => Err(Failure::Body { name: input.name().to_owned() }),
        false => Ok(Summary { outcome, missing, risk }),
    }
}

/// The reader of the input.
enum Reader {
    Text(Box<Finder>),
    /// An input that consists of documents, all of which are kept.
    Sequence(Box<Mender>, Documents),
}

impl Reader {
    fn new(scope: Scope, options: MendOptions) -> Self {
        if scope == Scope::Whole && options.trailing_documents() == TrailingDocuments::All {
            Self::Sequence(Box::new(Mender::new(options)), Documents::default())
        } else {
            Self::Text(Box::new(Finder::new(scope, options)))
        }
    }

    fn push(&mut self, chunk: &[u8], sink: &mut Sink) {
        match self {
            Self::Text(extractor) => extractor.push(chunk, sink),
            Self::Sequence(mender, documents) => {
                mender.push(chunk, &mut Splitter { sink, documents, last: None });
            }
        }
    }

    fn withheld(&self) -> usize {
        match self {
            Self::Text(extractor) => extractor.withheld(),
            Self::Sequence(mender, _) => mender.withheld(),
        }
    }

    /// The first repair that the policy forbids, and its path.
    fn refused(&self) -> Option<(Repair, Path)> {
        Some(match self {
            Self::Text(extractor) => {
                (extractor.refused()?.clone(), extractor.refused_at()?.clone())
            }
            Self::Sequence(mender, _) => (mender.refused()?.clone(), mender.refused_at()?),
        })
    }

    fn finish(&mut self, sink: &mut Sink) -> Outcome {
        match self {
            Self::Text(extractor) => extractor.finish(sink),
            Self::Sequence(mender, documents) => {
                let mut last = None;
                let outcome =
                    mender.finish(&mut Splitter { sink, documents, last: Some(&mut last) });
                // A document that was open at the end has the outcome of the input.
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
    /// Whether the last thing that was done to the open one was to close it: it was cut off.
    closed: bool,
}

/// Separates the documents of a sequence.
struct Splitter<'a> {
    sink: &'a mut Sink,
    documents: &'a mut Documents,
    /// Only at the end of the input: the outcome of the last document, while it is not yet reported.
    last: Option<&'a mut Option<Outcome>>,
}

impl Output for Splitter<'_> {
    fn copy(&mut self, bytes: &[u8]) {
        if !bytes.trim_ascii().is_empty() {
            (self.documents.open, self.documents.closed) = (true, false);
            if let Some(outcome) = self.last.as_mut().and_then(|last| last.take()) {
                self.sink.end(outcome);
            }
        }
        self.sink.json(bytes);
    }

    fn patch(&mut self, bytes: &[u8]) {
        let closed = self.documents.closed;
        self.copy(bytes);
        self.documents.closed = closed;
    }

    fn repair(&mut self, repair: Repair) {
        self.documents.closed = repair.kind() == RepairKind::MissingClose;
        self.sink.repair(repair);
    }

    fn raw(&mut self) {
        self.sink.raw();
    }

    fn end_document(&mut self) {
        let before = std::mem::replace(&mut self.documents.before, self.sink.repairs);
        let repaired = before != self.sink.repairs;
        let outcome = match (std::mem::take(&mut self.documents.closed), repaired) {
            (true, _) => Outcome::Closed,
            (false, true) => Outcome::Repaired,
            (false, false) => Outcome::Unchanged,
        };
        self.documents.open = false;
        match &mut self.last {
            Some(last) => **last = Some(outcome),
            None => self.sink.end(outcome),
        }
    }
}

/// A repair that the policy forbids.
struct Refused {
    repair: Repair,
    path: Path,
    reason: String,
}

/// Writes the documents and reports their repairs.
struct Sink {
    out: Out,
    json: bool,
    name: String,
    session: Session,
    fragments: Fragments,
    /// The same for the text outside of documents.
    texts: Fragments,
    tracker: Tracker,
    paths: Paths,
    repairs: usize,
    /// The highest risk of the repairs.
    risk: Option<Risk>,
    /// The repairs by kind: listed at the end, so that they do not interrupt the output.
    kinds: Kinds,
    wrote: bool,
    /// Whether the open document is passed through raw.
    raw: bool,
    /// The text after a document that has ended.
    gap: Option<Lead>,
    /// Whether a document is missing: all after the first, or one that was cut off, or never closed between
    /// two others.
    missing: bool,
}

impl Sink {
    /// The type of the fragments of the open document.
    const fn kind(&self) -> &'static str {
        if self.raw { "raw" } else { "json" }
    }

    fn fragment(&mut self, kind: &str, text: &str) {
        if !text.is_empty() {
            self.out.record(&json!({ "type": kind, "text": text }));
        }
    }

    fn close(
        mut self,
        outcome: Outcome,
        refused: Option<Refused>,
        overflow: Option<String>,
    ) -> Result<(), Failure> {
        if self.json {
            let rest = self.texts.finish();
            self.fragment("text", &rest);
            let mut end =
                json!({ "type": "end", "outcome": outcome.code(), "repairs": self.repairs });
            if let Some(Refused { repair, path, .. }) = &refused {
                end["refused"] = json!(Record::new(repair, path));
            }
            self.out.record(&end);
        } else if self.wrote && self.out.is_terminal() {
            self.out.text(b"\n");
        }
        self.out.flush()?;
        if self.json {
            return Ok(());
        }
        if !self.session.quiet {
            self.kinds.lines(self.session.stderr).iter().for_each(notice);
        }
        if !self.session.quiet || !outcome.is_valid() {
            let count = report::count_of(self.repairs, self.risk);
            summary(&self.name, outcome, &count, self.session);
        }
        let error = self.session.stderr.paint(BAD, "error");
        if let Some(reason) = overflow {
            notice(&shown!("{}: {}: {}", error, self.name, reason));
        }
        if let Some(Refused { reason, repair, .. }) = refused {
            notice(&shown!("{}: {}: byte {}: {}", error, self.name, repair.start(), reason));
        }
        Ok(())
    }
}

impl TextSink for Sink {
    /// Text outside of documents, and everything after a refusal.
    fn text(&mut self, bytes: &[u8]) {
        if let Some(gap) = &mut self.gap {
            gap.text(bytes);
        }
        if self.json {
            let text = self.texts.push(bytes);
            self.fragment("text", &text);
        }
    }

    /// Each document begins on a new line.
    fn begin(&mut self, _: usize) {
        self.paths.reset();
        self.raw = false;
        self.missing |= self.gap.take().is_some_and(|gap| gap.is_torn());
        if self.wrote && !self.json {
            self.out.text(b"\n");
        }
    }

    fn raw(&mut self) {
        if self.json && !self.raw {
            let rest = self.fragments.finish();
            self.fragment("json", &rest);
        }
        self.raw = true;
        self.paths.raw();
    }

    fn json(&mut self, bytes: &[u8]) {
        self.wrote = true;
        if !self.session.quiet || self.json {
            self.paths.read(bytes);
        }
        if self.json {
            let rest = self.texts.finish();
            self.fragment("text", &rest);
            let text = self.fragments.push(bytes);
            self.fragment(self.kind(), &text);
        } else {
            self.out.document(bytes);
        }
    }

    fn repair(&mut self, repair: Repair) {
        self.repairs += 1;
        self.missing |= repair.kind() == RepairKind::SecondDocument;
        self.risk = self.risk.max(Some(repair.risk()));
        let seen = self.tracker.look(repair.start(), repair.end());
        if self.json {
            let place = seen.map(|(at, _)| json!({ "line": at.line, "column": at.column }));
            let record = Record::new(&repair, &self.paths.path_of(&repair));
            self.out.record(&json!({ "type": "repair", "repair": record, "position": place }));
        } else if !self.session.quiet {
            let Session { stderr: paint, verbose, .. } = self.session;
            let listing = Listing { paint, name: Some(&self.name), verbose };
            let edit = Edit::from(&repair);
            if verbose {
                notice(&listing.line(edit, &self.paths.path_of(&repair), seen));
            } else {
                self.kinds.add(&listing, edit, || self.paths.path_of(&repair), seen);
            }
        }
    }

    fn end(&mut self, outcome: Outcome) {
        self.gap = Some(Lead::new());
        self.missing |= matches!(outcome, Outcome::Closed | Outcome::Cut);
        if self.json {
            let rest = self.fragments.finish();
            self.fragment(self.kind(), &rest);
            self.out.record(&json!({ "type": "document", "outcome": outcome.code() }));
        }
    }
}
