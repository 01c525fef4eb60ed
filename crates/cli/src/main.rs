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

/// What every command is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    pub(crate) stdout: Paint,
    pub(crate) stderr: Paint,
    pub(crate) quiet: bool,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let session = Session {
        stdout: Paint::stdout(cli.color),
        stderr: Paint::stderr(cli.color),
        quiet: cli.quiet,
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
        Command::Check(args) => check::run(args, session),
        Command::Explain(args) => explain::run(args, session),
        Command::Repair(args) => repair::run(args, session),
        Command::Stream(args) => stream::run(args, session),
        Command::Trace(args) => trace::run(args, session),
    }
}
