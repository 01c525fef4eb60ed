//! `jsonmend repair`: a text in, mended JSON out.

mod push;

use std::io::{self, IsTerminal as _, Write};

use jsonmend_core::{Mended, Options, Outcome, TrailingDocuments};
use jsonmend_extract::{Scope, mend_text};

use crate::{
    Session,
    args::{FollowingArg, PolicyArg, RepairArgs, ScopeArg},
    check::Report,
    exit::{Exit, Failure},
    fault::Fault,
    fit::{self, Target},
    input::Input,
    paint::notice,
    position::Locator,
    report,
};

/// How many repairs a notice lists; `check` and `--json` list all.
const LISTED: usize = 50;

pub(crate) fn run(args: &RepairArgs, session: Session) -> Result<Exit, Failure> {
    let following = if args.stream { TrailingDocuments::First } else { TrailingDocuments::Array };
    let options = args
        .engine
        .options(PolicyArg::Permissive)
        .with_trailing_documents(args.following.map_or(following, FollowingArg::following));
    if args.stream {
        refuse_for_stream(args)?;
    }
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
        push::run(input, scope, &options, args.json, session)?
    } else {
        let scope = args.scope.map_or(Scope::Best, ScopeArg::scope);
        whole(args, input, scope, &options, session)?
    };
    Ok(if args.exit_zero && outcome.is_valid() { Exit::Unchanged } else { Exit::of(outcome) })
}

/// What has been written cannot be taken back: these readings need the whole text.
fn refuse_for_stream(args: &RepairArgs) -> Result<(), Failure> {
    let message = match (args.scope, args.following) {
        (Some(ScopeArg::Best | ScopeArg::Last), _) => {
            "--stream cannot choose among documents: --scope best and last need the whole text"
        }
        (_, Some(FollowingArg::Array | FollowingArg::Last)) => {
            "--stream writes the first document before it knows of others: --following array and last \
             need the whole text"
        }
        (Some(ScopeArg::First), Some(FollowingArg::All)) => {
            "--scope first is one document: --following all goes with --scope whole or all"
        }
        _ => return Ok(()),
    };
    Err(Failure::Usage(message.to_owned()))
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
            let seen = (locator.at(repair.start()), report::span(text, repair));
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
