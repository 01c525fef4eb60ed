//! The tables: which contenders are measured on which documents.

use wiremend_benches::{
    documents::{self, Document, SIZE},
    measure::{Budget, Contender, Timed, interleaved},
};
use wiremend_core::{MendOptions, Mender, Partial, mend};

use crate::{ours, peers};

/// A table, which can be selected by its name.
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) about: String,
    kind: Kind,
}

enum Kind {
    Own(Document),
    Whole(Document),
    Pieces(Document),
    Snapshots(Document),
}

/// The documents on which peers are measured.
const AGAINST_PEERS: [&str; 6] = ["clean", "broken", "repr", "literals", "string", "escapes"];

/// The size for those that would take too long.
const SHORT: usize = 8 << 10;

/// The size of the text for snapshots after every piece.
const SNAPSHOTS: usize = 200_000;

/// Every table, in order.
pub(crate) fn all() -> Vec<Table> {
    let mut tables = Vec::new();
    for document in documents::ALL {
        let (name, about) = (document.name.to_owned(), document.about.to_owned());
        tables.push(Table { name, about, kind: Kind::Own(document) });
    }
    for document in AGAINST_PEERS.into_iter().filter_map(documents::named) {
        let name = format!("peers-{}", document.name);
        let about = format!("peers, whole text: {}", document.about);
        tables.push(Table { name, about, kind: Kind::Whole(document) });
    }
    for document in AGAINST_PEERS.into_iter().filter_map(documents::named) {
        let name = format!("pieces-{}", document.name);
        let about = format!("peers, 8-byte pieces: {}", document.about);
        tables.push(Table { name, about, kind: Kind::Pieces(document) });
    }
    for document in ["clean", "repr", "string", "escapes"].into_iter().filter_map(documents::named)
    {
        let name = format!("snapshots-{}", document.name);
        let about = format!("a snapshot after every 8-byte piece: {}", document.about);
        tables.push(Table { name, about, kind: Kind::Snapshots(document) });
    }
    tables
}

impl Table {
    /// Runs it, on texts of at most `size` bytes.
    pub(crate) fn measure(&self, budget: Budget, size: usize) -> Vec<Timed> {
        match self.kind {
            Kind::Own(document) => own(document, size.min(SIZE), budget),
            Kind::Whole(document) => whole(document, size.min(SIZE / 4), budget),
            Kind::Pieces(document) => pieces(document, size.min(SIZE / 16), budget),
            Kind::Snapshots(document) => snapshots(document, size.min(SNAPSHOTS), budget),
        }
    }
}

/// Whether a document is not valid JSON.
fn is_broken(document: Document) -> bool {
    matches!(document.name, "broken" | "repr" | "literals")
}

/// A document that `serde_json` can skip: the document itself, or the valid one that means the same.
fn valid(document: Document, size: usize) -> String {
    let text = document.text(size);
    if !is_broken(document) {
        return text;
    }
    let mended = mend(text.as_bytes(), &MendOptions::new());
    mended.text().unwrap_or_default().to_owned()
}

fn baseline(text: &str) -> Contender<'_> {
    Contender::new("serde_json IgnoredAny", text.len(), || ours::skip(text))
}

fn own(document: Document, size: usize, budget: Budget) -> Vec<Timed> {
    let (text, skipped) = (document.text(size), valid(document, size));
    // Small pieces take long. With less text, a run ends before the machine is disturbed.
    let less = document.text(size.min(SIZE / 16));
    let (text, less) = (text.as_str(), less.as_str());
    let mut contenders = vec![baseline(&skipped)];
    contenders.push(Contender::new("memchr", text.len(), || ours::search(text)));
    let pieces = [
        ("whole", text.len()),
        ("4 KiB", 4096),
        ("256 B", 256),
        ("64 B", 64),
        ("8 B", 8),
        ("1 B", 1),
    ];
    for (name, piece) in pieces {
        let mut mender = Mender::new(MendOptions::new());
        let read = if piece < 4096 { less } else { text };
        contenders.push(Contender::new(format!("Mender, {name}"), read.len(), move || {
            ours::push(&mut mender, read, piece);
        }));
    }
    contenders.push(Contender::new("mend", text.len(), || ours::mend_whole(text)));
    interleaved(&mut contenders, budget)
}

fn whole(document: Document, size: usize, budget: Budget) -> Vec<Timed> {
    let (text, skipped) = (document.text(size), valid(document, size));
    let text = text.as_str();
    let mut mender = Mender::new(MendOptions::new());
    let mut contenders = vec![
        baseline(&skipped),
        Contender::new("Mender", text.len(), || ours::push(&mut mender, text, text.len())),
        Contender::new("mend", text.len(), || ours::mend_whole(text)),
    ];
    let can = |peer: &peers::Peer| peer.mends || !is_broken(document);
    for peer in peers::WHOLE.into_iter().filter(can) {
        contenders.push(Contender::new(peer.name, text.len(), move || (peer.read)(text)));
    }
    interleaved(&mut contenders, budget)
}

fn pieces(document: Document, size: usize, budget: Budget) -> Vec<Timed> {
    let (text, skipped) = (document.text(size), valid(document, size));
    let head = document.text(size.min(SHORT));
    let (text, head) = (text.as_str(), head.as_str());
    let mut mender = Mender::new(MendOptions::new());
    let mut viewed = (Mender::new(MendOptions::new()), Partial::new());
    let mut contenders = vec![
        baseline(&skipped),
        Contender::new("Mender", text.len(), || ours::push(&mut mender, text, 8)),
        Contender::new("Mender and Partial", text.len(), || {
            ours::snapshots(&mut viewed.0, &mut viewed.1, text, 8);
        }),
    ];
    let is_string = matches!(document.name, "string" | "escapes");
    let can = |peer: &peers::Peer| peer.mends || !is_broken(document);
    for peer in peers::PIECES.into_iter().filter(can) {
        let slow = peer.short || is_string && peers::SLOW_ON_STRINGS.contains(&peer.name);
        let read = if slow { head } else { text };
        contenders.push(Contender::new(peer.name, read.len(), move || (peer.read)(read)));
    }
    interleaved(&mut contenders, budget)
}

fn snapshots(document: Document, size: usize, budget: Budget) -> Vec<Timed> {
    let text = document.text(size);
    let text = text.as_str();
    let (mut mender, mut partial) = (Mender::new(MendOptions::new()), Partial::new());
    let mut pushed = Mender::new(MendOptions::new());
    let skipped = valid(document, size);
    let mut contenders = vec![
        baseline(&skipped),
        Contender::new("a snapshot after every piece", text.len(), || {
            ours::snapshots(&mut mender, &mut partial, text, 8);
        }),
        Contender::new("no snapshot", text.len(), || ours::push(&mut pushed, text, 8)),
    ];
    interleaved(&mut contenders, budget)
}
