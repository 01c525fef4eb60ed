//! How long mending takes against `serde_json` skipping over the same text.
//!
//! Broken documents cannot be read by `serde_json`; their baseline is the clean document of the
//! same size.

use std::hint::black_box;

use jsonmend_benches::{
    documents::{self, Document},
    measure::{Contender, Timed, interleaved},
};
use jsonmend_core::{Mender, Options, Outcome, Output, mend};

/// Takes what is handed out and looks at its length only, as a socket would.
#[derive(Default)]
struct Counted(usize);

impl Output for Counted {
    fn copy(&mut self, bytes: &[u8]) {
        self.0 += black_box(bytes).len();
    }
}

fn push(mender: &mut Mender, text: &[u8], size: usize) {
    mender.reset();
    let mut out = Counted::default();
    for chunk in text.chunks(size) {
        mender.push(chunk, &mut out);
    }
    let outcome = mender.finish(&mut out);
    assert!(matches!(outcome, Outcome::Unchanged | Outcome::Repaired), "{outcome}");
    black_box(out.0);
}

fn skip(text: &[u8]) {
    let read: serde_json::Result<serde::de::IgnoredAny> = serde_json::from_slice(text);
    black_box(read.is_ok());
}

fn count_lines(text: &[u8]) {
    black_box(memchr::memchr_iter(b'\n', text).count());
}

fn main() {
    // `cargo test` runs benchmarks too; once is enough to see that they run.
    let once = !std::env::args().any(|argument| argument == "--bench");
    let rounds = if once { 1 } else { 15 };
    let documents = documents::all();
    let clean = documents.first().map(|document| document.text.clone()).unwrap_or_default();
    println!("time as a multiple of serde_json skipping the document; MB/s for orientation");
    for document in &documents {
        report(document, &measure(document, &clean, rounds));
    }
}

fn measure(document: &Document, clean: &[u8], rounds: usize) -> Vec<Timed> {
    let text = &document.text[..];
    let valid = serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
    let skipped = if valid { text } else { clean };
    let options = Options::new();
    let mut menders = [(); 4].map(|()| Mender::new(options));
    let [whole, large, small, tiny] = &mut menders;
    let mut contenders = vec![
        Contender::new("serde_json skip", move || skip(skipped)),
        Contender::new("memchr newline", || count_lines(text)),
        Contender::new("mender, whole", move || push(whole, text, text.len())),
        Contender::new("mender, 4 KiB", move || push(large, text, 4096)),
        Contender::new("mender, 256 B", move || push(small, text, 256)),
        Contender::new("mender, 8 B", move || push(tiny, text, 8)),
        Contender::new("mend", || drop(black_box(mend(text, &options)))),
    ];
    interleaved(&mut contenders, rounds)
}

fn report(document: &Document, timed: &[Timed]) {
    let Some(base) = timed.first().map(|base| base.best.as_secs_f64()) else { return };
    println!("\n{} ({} KiB)", document.name, document.text.len() / 1024);
    for Timed { name, best, .. } in timed {
        let seconds = best.as_secs_f64();
        let rate = document.text.len() as f64 / seconds / 1e6;
        println!("  {name:16} {:7.2} x   {rate:8.0} MB/s", seconds / base);
    }
}
