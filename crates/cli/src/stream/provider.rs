//! `--emit provider`: the body with repaired arguments, for clients of the provider.

use wiremend_wire::{RewriteOptions, RewriteOutcome, Rewriter, Rewritten};

use super::Verdict;
use crate::{
    Session,
    exit::{Exit, Failure},
    input::{CHUNK, Input},
    out::Out,
    paint::{BAD, notice},
    visible::shown,
};

/// Rewrites the input as it arrives. After every read, everything that is certain is written.
pub(super) fn rewrite(
    mut input: Input,
    options: RewriteOptions,
    session: Session,
) -> Result<Exit, Failure> {
    let mut rewriter = Rewriter::new(options);
    let mut verdict = Verdict(Exit::Unchanged);
    let mut out = Out::new();
    let mut buffer = vec![0; CHUNK];
    let (failed, outcome) = loop {
        let mut take = |piece: Rewritten<'_>| match piece {
            Rewritten::Bytes(bytes) => out.text(bytes),
            Rewritten::Event(event) => verdict.note(&event),
            _ => {}
        };
        // If reading fails, everything that has arrived is still written.
        let ended = match input.chunk(&mut buffer) {
            Ok([]) => Some((None, rewriter.finish(&mut take))),
            Ok(chunk) => {
                rewriter.push(chunk, &mut take);
                None
            }
            Err(failure) => Some((Some(failure), rewriter.finish(&mut take))),
        };
        out.flush()?;
        if let Some(ended) = ended {
            break ended;
        }
    };
    if outcome == RewriteOutcome::Encoded {
        let label = session.stderr.paint(BAD, "error");
        notice(&shown!(
            "{}: {}: the body is compressed, so it is passed through unchanged",
            label,
            input.name()
        ));
        verdict.worst(Exit::Refused);
    }
    failed.map_or(Ok(verdict.0), Err)
}
