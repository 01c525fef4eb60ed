//! `wiremend repair`: text in, repaired JSON out.

mod push;

use wiremend_core::{Mended, Options, Outcome, TrailingDocuments};
use wiremend_extract::{Scope, mend_text};

use crate::{
    Session,
    args::{PolicyArg, RepairArgs, ScopeArg, TrailingArg},
    check::Report,
    exit::{Exit, Failure},
    fault::Fault,
    fit::{self, Target},
    input::Input,
    listing::Listing,
    out::Out,
    paint::notice,
    report,
    visible::shown,
};

pub(crate) fn run(args: &RepairArgs, session: Session) -> Result<Exit, Failure> {
    let trailing = if args.stream { TrailingDocuments::First } else { TrailingDocuments::Array };
    let options = args
        .engine
        .options(PolicyArg::Permissive)
        .with_trailing_documents(args.trailing.map_or(trailing, TrailingArg::trailing));
    if args.stream {
        refuse_for_stream(args)?;
    }
    let target = Target::of_args(&args.schema)?;
    let mut input = Input::open(&args.file, session.quiet)?;
    // Of several documents, the first is the best only if it was asked for.
    let whole_text = args.stream || args.trailing == Some(TrailingArg::First);
    let default = if whole_text { Scope::Whole } else { Scope::Best };
    let scope = args.scope.map_or(default, ScopeArg::scope);
    let (outcome, missing) = if let Some(target) = target {
        let text = input.read_all(args.input.max_input)?;
        let fitted = target.fit(&text, options, scope);
        let missing = fit::drops_document(&fitted);
        (fit::repair(args, input.name(), &text, &target, &fitted, session)?, missing)
    } else if args.stream {
        push::run(input, scope, &options, args.json, session)?
    } else {
        whole(args, input, scope, &options, session)?
    };
    Ok(match args.exit_zero && outcome.is_valid() {
        true => Exit::Unchanged,
        false => Exit::of(outcome).without(missing),
    })
}

/// Refuses the options that need the whole text: what `--stream` has written cannot be taken back.
fn refuse_for_stream(args: &RepairArgs) -> Result<(), Failure> {
    let message = match (args.scope, args.trailing) {
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

/// The whole-text path: everything is read before anything is written. Returns the outcome, and whether
/// a document was dropped.
fn whole(
    args: &RepairArgs,
    mut input: Input,
    scope: Scope,
    options: &Options,
    session: Session,
) -> Result<(Outcome, bool), Failure> {
    let text = input.read_all(args.input.max_input)?;
    let mended = mend_text(&text, scope, options);
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
    Ok((mended.outcome(), report::drops_document(mended.repairs())))
}

fn notices(name: &str, text: &[u8], mended: &Mended, options: &Options, session: Session) {
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
