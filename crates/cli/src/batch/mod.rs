//! `wiremend batch`: JSON Lines in, JSON Lines out.

mod answer;
mod calls;
mod framed;
mod growth;
mod head;
mod pipeline;
mod provider;
mod request;

use std::{io::BufReader, thread};

use wiremend_core::Limits;

use crate::{
    Session,
    args::{BatchArgs, Split},
    exit::{Exit, Failure},
    input::{CHUNK, Input},
    out::Out,
};

/// The settings for all requests of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    split: Split,
    limits: Limits,
    max_line: usize,
}

pub(crate) fn run(args: &BatchArgs, session: Session) -> Result<Exit, Failure> {
    let setting =
        Setting { split: args.split, limits: args.limits.limits(), max_line: args.max_line };
    let threads = args
        .threads
        .or_else(|| thread::available_parallelism().map(usize::from).ok())
        .unwrap_or(1)
        .min(MAX_THREADS);
    let input = Input::open(&args.file, session.quiet)?;
    let name = input.name().to_owned();
    let mut out = Out::new();
    let ended = pipeline::run(
        BufReader::with_capacity(CHUNK, input),
        out.lines(),
        threads,
        args.max_line,
        move |line| answer::reply(line, setting),
        answer::panicked,
    );
    match ended {
        Ok(()) => Ok(Exit::Unchanged),
        Err(pipeline::Stopped::Reading(error)) => Err(Failure::reading(&name, error)),
        Err(pipeline::Stopped::Writing(error)) => Err(error.into()),
    }
}

/// The maximum number of threads. More would only wait for each other.
const MAX_THREADS: usize = 1024;
