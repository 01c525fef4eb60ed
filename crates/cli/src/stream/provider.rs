//! `--emit provider`: the body with repaired arguments, for clients of the provider.

use std::io::{self, Write as _};

use jsonmend_wire::{RewriteOptions, RewriteOutcome, Rewriter, Rewritten, WireOptions};

use super::Verdict;
use crate::{
    Session,
    exit::{Exit, Failure},
    input::{CHUNK, Input},
    paint::{BAD, notice},
};

/// Rewrites the input as it arrives. After every read, everything that is certain is written.
pub(super) fn rewrite(
    mut input: Input,
    options: WireOptions,
    session: Session,
) -> Result<Exit, Failure> {
    let mut rewriter = Rewriter::new(RewriteOptions::new().with_wire(options));
    let mut verdict = Verdict(Exit::Unchanged);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut buffer = vec![0; CHUNK];
    let (failed, outcome) = loop {
        let mut written = Ok(());
        let mut take = |piece: Rewritten<'_>| match piece {
            Rewritten::Bytes(bytes) if written.is_ok() => written = out.write_all(bytes),
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
        written?;
        out.flush()?;
        if let Some(ended) = ended {
            break ended;
        }
    };
    if outcome == RewriteOutcome::Encoded {
        let label = session.stderr.paint(BAD, "error");
        notice(format_args!(
            "{label}: {}: the body is compressed, so it is passed through unchanged",
            input.name()
        ));
        verdict.worst(Exit::Refused);
    }
    failed.map_or(Ok(verdict.0), Err)
}
