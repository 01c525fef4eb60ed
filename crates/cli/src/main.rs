//! The `jsonmend` command.

mod args;
mod batch;
mod check;
mod codes;
mod excerpt;
mod exit;
mod explain;
mod fault;
mod fit;
mod fragment;
mod input;
mod listing;
mod out;
mod paint;
mod position;
mod repair;
mod report;
mod stream;
mod trace;
mod visible;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{
    args::{Cli, Command},
    exit::{Exit, Failure},
    paint::{BAD, Paint, notice},
};

/// The settings that all commands share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    pub(crate) stdout: Paint,
    pub(crate) stderr: Paint,
    pub(crate) quiet: bool,
    /// Report every repair by itself.
    pub(crate) verbose: bool,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let session = Session {
        stdout: Paint::stdout(cli.color),
        stderr: Paint::stderr(cli.color),
        quiet: cli.quiet,
        verbose: cli.verbose,
    };
    let result = dispatch(&cli.command, session);
    let exit = result.unwrap_or_else(|failure| {
        if !matches!(failure, Failure::Pipe) {
            notice(format_args!("{}: {failure}", session.stderr.paint(BAD, "error")));
        }
        failure.exit()
    });
    exit.into()
}

fn dispatch(command: &Command, session: Session) -> Result<Exit, Failure> {
    match command {
        Command::Batch(args) => batch::run(args, session),
        Command::Check(args) => {
            check::run(args, session).map(|exit| exit.for_check(args.exit_code))
        }
        Command::Explain(args) => explain::run(args, session),
        Command::Repair(args) => {
            repair::run(args, session).map(|exit| exit.for_output(args.exit_code))
        }
        Command::Stream(args) => {
            stream::run(args, session).map(|exit| exit.for_output(args.exit_code))
        }
        Command::Trace(args) => trace::run(args, session),
    }
}
