//! `wiremend check`: whether inputs are valid and, if not, what a repair would change.

use serde::Serialize;
use wiremend_core::{MendOptions, Mended, Outcome, TrailingDocuments};
use wiremend_extract::{Scope, find};

use crate::{
    Session,
    args::{CheckArgs, PolicyArg},
    exit::{Exit, Failure},
    fault::Fault,
    fit::{self, Target},
    input::Input,
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
    let mut worst = Exit::Unchanged;
    for path in &args.files {
        // If a file cannot be read, the others are still checked.
        let exit =
            match Input::open(path, session.quiet).map(Input::unpacked).and_then(|mut input| {
                let text = input.read_all(args.input.max_input)?;
                match &target {
                    Some(target) => {
                        fit::check(input.name(), &text, target, options.clone(), args.json, session)
                    }
                    None => check(input.name(), &text, &options, args.json, session),
                }
            }) {
                Ok(exit) => exit,
                Err(failure @ Failure::Pipe) => return Err(failure),
                Err(failure) => {
                    notice(&shown!("{}: {}", session.stderr.paint(BOLD, "error"), failure));
                    failure.exit()
                }
            };
        worst = worst.max(exit);
    }
    Ok(worst)
}

fn check(
    name: &str,
    text: &[u8],
    options: &MendOptions,
    json: bool,
    session: Session,
) -> Result<Exit, Failure> {
    let mended = find(text, Scope::Best, options);
    let mut out = Out::new();
    if json {
        out.record(&Report::new(name, text, &mended, options));
    } else {
        people(&mut out, name, text, &mended, options, session);
    }
    out.flush()?;
    Ok(Exit::of(mended.outcome()).without(report::drops_document(mended.repairs())))
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
