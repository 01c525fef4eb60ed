//! The cost of partial values: documents of 200 KB in pieces of 8 bytes, with a snapshot after every
//! piece, compared with one pass of `serde_json` over the whole text.
//!
//! The pieces of text that a mender emits are recorded first, so that the lines named `partial`
//! show what a partial value adds, without the mender.

use std::hint::black_box;

use wiremend_benches::{
    documents,
    measure::{Budget, Contender, Timed, interleaved},
};
use wiremend_core::{DeltaOp, MendOptions, Mender, Output, Partial, Revision};

const SIZE: usize = 200_000;
const PIECE: usize = 8;

/// Text in the pieces that a mender emitted after each push.
#[derive(Default)]
struct Pieces {
    text: Vec<u8>,
    /// Where each piece ends.
    ends: Vec<usize>,
}

impl Output for Pieces {
    fn copy(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn settle(&mut self) {
        self.ends.push(self.text.len());
    }
}

impl Pieces {
    fn of(text: &[u8]) -> Self {
        let mut pieces = Self::default();
        let mut mender = Mender::new(MendOptions::new());
        for chunk in text.chunks(PIECE) {
            mender.push(chunk, &mut pieces);
        }
        mender.finish(&mut pieces);
        pieces
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).filter_map(|(start, &end)| self.text.get(start..end))
    }
}

/// Reads the current state of the document: its root, and the value that is growing.
fn view(partial: &Partial) -> usize {
    let members = partial.root().map_or(0, |root| root.len());
    let grown = partial.open().and_then(|open| open.as_str()).map_or(0, str::len);
    members + grown
}

/// Reads what has changed since a revision.
fn deltas(partial: &Partial, seen: &mut Revision) -> usize {
    let length = partial.since(seen).map(|delta| match delta.op() {
        DeltaOp::Append(text) => text.len(),
        _ => 1,
    });
    let length = length.sum();
    *seen = partial.revision();
    length
}

/// Passes every piece to `take`, with a partial value to add it to, and reads that after each piece.
fn follow<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    mut take: impl FnMut(&'a [u8], &mut Partial),
    mut look: impl FnMut(&Partial) -> usize,
) {
    let mut partial = Partial::new();
    for piece in pieces {
        take(piece, &mut partial);
        black_box(look(&partial));
    }
    black_box(partial.is_complete());
}

fn contenders<'a>(text: &'a [u8], clean: &'a [u8], pieces: &'a Pieces) -> Vec<Contender<'a>> {
    let bytes = text.len();
    let valid = serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
    let skipped = if valid { text } else { clean };
    let push = |mender: &mut Mender, out: &mut dyn FnMut(&mut Mender, &[u8])| {
        mender.reset();
        text.chunks(PIECE).for_each(|piece| out(mender, piece));
    };
    let mended = move |look: fn(&Partial, &mut Revision) -> usize| {
        let mut mender = Mender::new(MendOptions::new());
        move || {
            let mut seen = Revision::default();
            mender.reset();
            follow(
                text.chunks(PIECE),
                |piece, partial| mender.push(piece, partial),
                |partial| look(partial, &mut seen),
            );
        }
    };
    let read = move |look: fn(&Partial, &mut Revision) -> usize| {
        move || {
            let mut seen = Revision::default();
            follow(
                pieces.iter(),
                |piece, partial| {
                    partial.copy(piece);
                    partial.settle();
                },
                |partial| look(partial, &mut seen),
            );
        }
    };
    let mut mender = Mender::new(MendOptions::new());
    vec![
        Contender::new("serde_json skip", bytes, move || {
            let read: serde_json::Result<serde::de::IgnoredAny> = serde_json::from_slice(skipped);
            black_box(read.is_ok());
        }),
        Contender::new("mender", bytes, move || {
            push(&mut mender, &mut |mender, piece| mender.push(piece, &mut ()));
        }),
        Contender::new("partial", bytes, read(|_, _| 0)),
        Contender::new("partial, view", bytes, read(|partial, _| view(partial))),
        Contender::new("partial, deltas", bytes, read(deltas)),
        Contender::new(
            "partial, both",
            bytes,
            read(|partial, seen| view(partial) + deltas(partial, seen)),
        ),
        Contender::new("mender, partial", bytes, mended(|_, _| 0)),
        Contender::new(
            "mender, both",
            bytes,
            mended(|partial, seen| view(partial) + deltas(partial, seen)),
        ),
    ]
}

fn main() {
    // `cargo test` runs benchmarks, too. One round is enough to check that they run.
    let once = !std::env::args().any(|argument| argument == "--bench");
    let budget = if once { Budget::ONCE } else { Budget::FULL };
    // `cargo bench --bench snapshots -- string` runs only that document, for a profiler.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!("pieces of {PIECE} bytes; time as a multiple of serde_json skipping the document");
    // Documents that `serde_json` cannot read are compared with the clean one of the same size.
    let clean = documents::named("clean").map(|document| document.text(SIZE)).unwrap_or_default();
    for document in documents::ALL {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == document.name) {
            continue;
        }
        let text = document.text(SIZE).into_bytes();
        let pieces = Pieces::of(&text);
        let mut contenders = contenders(&text, clean.as_bytes(), &pieces);
        report(document.name, text.len(), &interleaved(&mut contenders, budget));
    }
}

fn report(name: &str, length: usize, timed: &[Timed]) {
    println!("\n{name} ({} KB)", length / 1000);
    for Timed { name, best, cost, .. } in timed {
        let piece = best.as_secs_f64() * 1e9 / (length / PIECE) as f64;
        println!("  {name:16} {cost:7.2} x   {piece:6.1} ns a piece");
    }
}
