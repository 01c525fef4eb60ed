//! The `wiremend` command.

mod args;
mod batch;
mod check;
mod doors;
mod exit;
mod explain;
mod extract;
mod fault;
mod fit;
mod input;
mod many;
mod ordered;
mod out;
mod repair;
mod report;
#[cfg(feature = "serve")]
mod serve;
mod stream;
mod string;
mod trace;
mod visible;

use std::{env, ffi::OsString, process::ExitCode};

use args::{Cli, Command};
use clap::Parser as _;
use exit::{Exit, Failure};
use visible::{BAD, Paint, notice};
use visible::{Shown, shown};

/// The allocator of musl rounds the buffers of connections up by a seventh.
#[cfg(all(target_env = "musl", feature = "serve"))]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

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
    let arguments: Vec<OsString> = env::args_os().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error, &arguments),
    };
    let session = Session {
        stdout: Paint::stdout(cli.color),
        stderr: Paint::stderr(cli.color),
        quiet: cli.quiet,
        verbose: cli.verbose,
    };
    let exit = dispatch(&cli.command, session).unwrap_or_else(|failure| {
        report(&failure, session.stderr);
        failure.exit()
    });
    exit.into()
}

/// Prints help, the version, or an error in the command line.
///
/// clap repeats arguments in its errors. So they are made visible first, and read again for the
/// message. If they can be read then, the first message is shown instead, without colours.
fn unparsed(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let shown = arguments.iter().map(|argument| Shown::of(argument.display()));
    let shown: Vec<Shown> = shown.collect();
    let code = u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8);
    match Cli::try_parse_from(shown.iter().map(Shown::as_str)) {
        Err(error) => {
            if let Err(failed) = error.print().map_err(Failure::from) {
                report(&failed, Paint::stderr(args::Color::Auto));
                return failed.exit().into();
            }
        }
        Ok(_) => notice(&Shown::of(error.render())),
    }
    ExitCode::from(code)
}

/// Reports why a command stopped.
fn report(failure: &Failure, paint: Paint) {
    if !matches!(failure, Failure::Pipe) {
        notice(&shown!("{}: {}", paint.paint(BAD, "error"), failure));
    }
}

fn dispatch(command: &Command, session: Session) -> Result<Exit, Failure> {
    match command {
        Command::Batch(args) => batch::run(args, session),
        Command::Check(args) => {
            check::run(args, session).map(|exit| exit.for_check(args.exit_code))
        }
        Command::Explain(args) => explain::run(args, session),
        Command::Extract(args) => extract::run(args, session),
        Command::Repair(args) => {
            let detailed = args.exit_code || !args.fail_on.is_empty();
            repair::run(args, session).map(|exit| exit.for_output(detailed))
        }
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, session),
        Command::Stream(args) => {
            stream::run(args, session).map(|exit| exit.for_output(args.exit_code))
        }
        Command::Trace(args) => trace::run(args, session),
    }
}
