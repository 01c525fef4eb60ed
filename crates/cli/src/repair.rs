//! `jsonmend repair`: a text in, mended JSON out.

use std::io::{self, IsTerminal as _, Write};

use jsonmend_core::{Following, Mended, Options, Outcome, Repair};
use jsonmend_extract::{Extractor, Parts, Scope, mend_text};
use serde_json::json;

use crate::{
    Session,
    args::{FollowingArg, PolicyArg, RepairArgs, ScopeArg},
    check::Report,
    exit::{Exit, Failure},
    fault::Fault,
    fit::{self, Target},
    fragment::Fragments,
    input::{CHUNK, Input},
    out::Out,
    paint::notice,
    position::{Locator, Tracker},
    report::{self, Record},
};

/// How many repairs a notice lists; `check` and `--json` list all.
const LISTED: usize = 50;

pub(crate) fn run(args: &RepairArgs, session: Session) -> Result<Exit, Failure> {
    let following = if args.stream { Following::First } else { Following::Array };
    let options = args
        .engine
        .options(PolicyArg::Permissive)
        .with_following(args.following.map_or(following, FollowingArg::following));
    let target = Target::of_args(&args.schema)?;
    let mut input = Input::open(&args.file, session.quiet)?;
    if let Some(target) = target {
        let text = input.read_all()?;
        let scope = args.scope.map_or(Scope::Best, ScopeArg::scope);
        let fitted = target.fit(&text, options, scope);
        let outcome = fit::repair(args, input.name(), &text, &target, &fitted, session)?;
        return Ok(if args.exit_zero && outcome.is_valid() {
            Exit::Unchanged
        } else {
            Exit::of(outcome)
        });
    }
    let outcome = if args.stream {
        let scope = args.scope.map_or(Scope::Whole, ScopeArg::scope);
        pushed(args, input, scope, options, session)?
    } else {
        let scope = args.scope.map_or(Scope::Best, ScopeArg::scope);
        whole(args, input, scope, &options, session)?
    };
    Ok(if args.exit_zero && outcome.is_valid() { Exit::Unchanged } else { Exit::of(outcome) })
}

/// The whole-text path: everything is read before anything is written.
fn whole(
    args: &RepairArgs,
    mut input: Input,
    scope: Scope,
    options: &Options,
    session: Session,
) -> Result<Outcome, Failure> {
    let text = input.read_all()?;
    let mended = mend_text(&text, scope, options);
    let mut out = io::stdout().lock();
    if args.json {
        let report = Report::new(input.name(), &text, &mended, options).with_json(&mended);
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
    } else if let Some(json) = mended.text() {
        out.write_all(json.as_bytes())?;
        end_line(&mut out, json.as_bytes())?;
    } else if args.or_input {
        out.write_all(&text)?;
    }
    out.flush()?;
    if !args.json {
        notices(input.name(), &text, &mended, options, session);
    }
    Ok(mended.outcome())
}

/// The bytes of a result are the result; only a person at a terminal gets a line end with it.
pub(crate) fn end_line(out: &mut io::StdoutLock<'_>, text: &[u8]) -> io::Result<()> {
    if out.is_terminal() && !text.ends_with(b"\n") { out.write_all(b"\n") } else { Ok(()) }
}

fn notices(name: &str, text: &[u8], mended: &Mended, options: &Options, session: Session) {
    let paint = session.stderr;
    if mended.outcome().is_valid() && !session.quiet {
        let mut locator = Locator::new(text);
        for repair in mended.repairs().iter().take(LISTED) {
            let seen = (locator.at(repair.start), report::span(text, repair));
            notice(report::line(paint, name, repair, Some(seen)));
        }
        unlisted(mended.repairs().len());
        summary(name, mended.outcome(), &report::count(mended.repairs()), session);
    }
    if let Some(fault) = Fault::of(text, mended, options) {
        if !mended.outcome().is_valid() {
            notice(fault.paragraph(paint, "error", name, text));
        } else if !session.quiet {
            notice(fault.paragraph(paint, "cut off", name, text));
        }
    }
}

fn unlisted(count: usize) {
    if count > LISTED {
        notice(format_args!("… and {} more", count - LISTED));
    }
}

fn summary(name: &str, outcome: Outcome, count: &str, session: Session) {
    if outcome != Outcome::Unchanged {
        notice(format_args!("{name}: {} ({count})", report::outcome(session.stderr, outcome)));
    }
}

/// The push path: what is certain is written after every read, and nothing is kept.
fn pushed(
    args: &RepairArgs,
    mut input: Input,
    scope: Scope,
    options: Options,
    session: Session,
) -> Result<Outcome, Failure> {
    let mut extractor = Extractor::new(scope, options);
    let mut sink = Sink {
        out: Out::new(),
        json: args.json,
        name: input.name().to_owned(),
        session,
        fragments: Fragments::default(),
        texts: Fragments::default(),
        tracker: Tracker::new(),
        repairs: 0,
        wrote: false,
    };
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = input.chunk(&mut buffer)?;
        if chunk.is_empty() {
            break;
        }
        sink.tracker.push(chunk);
        extractor.push(chunk, &mut sink);
        sink.tracker.settle(extractor.withheld());
        sink.out.flush()?;
    }
    let outcome = extractor.finish(&mut sink);
    sink.close(outcome)?;
    Ok(outcome)
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
    wrote: bool,
}

impl Sink {
    fn told(&mut self, kind: &str, text: &str) {
        if !text.is_empty() {
            self.out.record(&json!({ "type": kind, "text": text }));
        }
    }

    fn close(mut self, outcome: Outcome) -> Result<(), Failure> {
        if self.json {
            let rest = self.texts.finish();
            self.told("text", &rest);
            let end = json!({ "type": "end", "outcome": outcome.code(), "repairs": self.repairs });
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
            let plural = if self.repairs == 1 { "" } else { "s" };
            let count = format!("{} repair{plural}", self.repairs);
            summary(&self.name, outcome, &count, self.session);
        }
        Ok(())
    }
}

impl Parts for Sink {
    /// What is no part of a document, such as all that follows a refusal.
    fn text(&mut self, bytes: &[u8]) {
        if self.json {
            let text = self.texts.push(bytes);
            self.told("text", &text);
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
        let seen = self.tracker.look(repair.start, repair.end);
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
