//! `wiremend check`: whether inputs are valid and, if not, what a repair would change.

use serde::Serialize;
use wiremend_core::{MendOptions, Mended, Outcome, TrailingDocuments};
use wiremend_extract::{Scope, find};

use crate::{
    Session,
    args::{CheckArgs, PolicyArg},
    doors,
    exit::{Exit, Failure},
    fault::Fault,
    fit::{self, Target},
    input::{Input, is_lines_name},
    many::{
        records::{Ends, Records, without_end},
        walk::{Found, Own, Pattern, walk},
    },
    out::Out,
    report::{self, Listing, Placed},
    visible::{BOLD, notice, shown},
};

/// The output of `--json` for one file, for `check` and `repair`.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    file: &'a str,
    /// The line of a record.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_line: Option<u64>,
    /// Whether the input is valid JSON without repairs.
    valid: bool,
    outcome: &'static str,
    /// The repaired text, for `repair` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Option<&'a str>>,
    repairs: Vec<Placed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(
        file: &'a str,
        text: &[u8],
        mended: &'a Mended,
        options: &MendOptions,
    ) -> Self {
        Self {
            file,
            at_line: None,
            valid: mended.outcome() == Outcome::Unchanged,
            outcome: mended.outcome().code(),
            json: None,
            repairs: report::placed(text, mended.repairs()),
            cut_at: mended.cut_at().map(ToString::to_string),
            fault: Fault::of(text, mended, options),
        }
    }

    /// The report of a record that begins on this line of the file. The places in it are those in the record.
    pub(crate) const fn at_line(mut self, line: Option<u64>) -> Self {
        self.at_line = line;
        self
    }

    /// The report with the repaired text.
    pub(crate) fn with_json(mut self, mended: &'a Mended) -> Self {
        self.json = Some(mended.text());
        self
    }
}

pub(crate) fn run(args: &CheckArgs, session: Session) -> Result<Exit, Failure> {
    let options = args
        .engine
        .options(PolicyArg::Permissive)
        .with_trailing_documents(TrailingDocuments::Array);
    let target = Target::of_args(&args.schema)?;
    let checking = Checking { options, target, json: args.json, session };
    let (mut worst, mut stopped) = (Exit::Unchanged, None);
    // If a file cannot be read, the others are still checked.
    let mut note = |checked: Result<Exit, Failure>| {
        let exit = match checked {
            Ok(exit) => exit,
            Err(failure @ Failure::Pipe) => {
                stopped = Some(failure);
                return false;
            }
            Err(failure) => {
                notice(&shown!("{}: {}", session.stderr.paint(BOLD, "error"), failure));
                failure.exit()
            }
        };
        worst = worst.max(exit);
        true
    };
    let patterns: Vec<Pattern> = args.patterns.iter().map(|name| Pattern::new(name)).collect();
    walk(&args.files, &patterns, &Own::default(), &mut |found| match found {
        Found::Failed { path, error } => {
            note(Err(Failure::reading(&path.display().to_string(), error)))
        }
        Found::File { path, .. } => {
            let input = Input::open(&path, session.quiet).map(Input::unpacked);
            note(input.and_then(|input| match args.lines || is_lines_name(&path) {
                true => checking.lines(input, args.input.max_input),
                false => checking.document(input, args.input.max_input),
            }))
        }
    });
    stopped.map_or(Ok(worst), Err)
}

/// How inputs are checked.
struct Checking {
    options: MendOptions,
    target: Option<Target>,
    json: bool,
    session: Session,
}

impl Checking {
    fn document(&self, mut input: Input, limit: usize) -> Result<Exit, Failure> {
        let text = input.read_all(limit)?;
        match doors::is_body(&text) {
            true => Err(Failure::Body { name: input.name().to_owned() }),
            false => self.text(input.name(), None, &text, self.session),
        }
    }

    /// Each line is a document. Of those that are valid, nothing is said.
    fn lines(&self, input: Input, limit: usize) -> Result<Exit, Failure> {
        let name = input.name().to_owned();
        let session = Session { quiet: true, ..self.session };
        let mut records = Records::new(input, Ends::Lines, limit);
        let mut worst = Exit::Unchanged;
        while let Some(batch) = records.next().map_err(|error| Failure::reading(&name, error))? {
            let (mut start, mut line) = (0, batch.line);
            let too_long = |line| Failure::TooLong { name: format!("{name}:{line}"), limit };
            if batch.ends.is_empty() {
                return Err(too_long(line));
            }
            for end in batch.ends {
                let (text, _) = without_end(batch.bytes.get(start..end).unwrap_or_default());
                if text.len() > limit {
                    return Err(too_long(line));
                }
                if !text.trim_ascii().is_empty() {
                    worst = worst.max(self.text(&name, Some(line), text, session)?);
                }
                (start, line) = (end, line + 1);
            }
        }
        if worst == Exit::Unchanged && !self.session.quiet && !self.json {
            let mut out = Out::new();
            out.line(&shown!("{}: valid JSON Lines", self.session.stdout.paint(BOLD, name)));
            out.flush()?;
        }
        Ok(worst)
    }

    /// A text that is a file or, in one, a line.
    fn text(
        &self,
        file: &str,
        line: Option<u64>,
        text: &[u8],
        session: Session,
    ) -> Result<Exit, Failure> {
        let name = line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
        let options = &self.options;
        let mut out = Out::new();
        let exit = if let Some(target) = &self.target {
            let fitted = target.fit(text, options.clone(), Scope::Best);
            match self.json {
                true => out.record(&fit::Report::new(file, target, &fitted).at_line(line)),
                false => fit::check(&mut out, &name, text, target, &fitted, session),
            }
            Exit::of(fitted.outcome()).without(fit::drops_document(&fitted))
        } else {
            let mended = find(text, Scope::Best, options);
            match self.json {
                true => out.record(&Report::new(file, text, &mended, options).at_line(line)),
                false => people(&mut out, &name, text, &mended, options, session),
            }
            Exit::of(mended.outcome()).without(report::drops_document(mended.repairs()))
        };
        out.flush()?;
        Ok(exit)
    }
}

fn people(
    out: &mut Out,
    name: &str,
    text: &[u8],
    mended: &Mended,
    options: &MendOptions,
    session: Session,
) {
    let paint = session.stdout;
    let title = paint.paint(BOLD, name);
    if mended.outcome() == Outcome::Unchanged {
        if !session.quiet {
            out.line(&shown!("{}: valid JSON", title));
        }
        return;
    }
    let listing = Listing { paint, name: Some(name), verbose: session.verbose };
    for paragraph in listing.paragraphs(text, mended.repairs()) {
        out.line(&paragraph);
    }
    if let Some(fault) = Fault::of(text, mended, options) {
        let label = if mended.outcome().is_valid() { "cut off" } else { "error" };
        out.line(&fault.paragraph(paint, label, name, text));
    }
    let state = report::not_valid(paint, "not valid JSON", mended.outcome());
    if mended.outcome().is_valid() {
        out.line(&shown!("{}: {} ({})", title, state, report::count(mended.repairs())));
    } else {
        // Nothing would be repaired, and the fault above says why.
        out.line(&shown!("{}: {}", title, state));
    }
}
