//! Every way to divide an input into chunks, and what must hold for all of them.

use wiremend_core::{MendOptions, Outcome, apply};
use wiremend_extract::{Finder, FoundDocuments, Scope};

/// The result for an input. Panics unless it is the same however the input is divided.
pub(crate) fn extract(
    input: &[u8],
    scope: Scope,
    options: &MendOptions,
) -> (FoundDocuments, Outcome) {
    let whole = run(&[input], scope, options.clone());
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(run(&bytes, scope, options.clone()), whole, "byte by byte: {}", show(input));
    for cut in 0..=input.len() {
        let (head, tail) = input.split_at(cut);
        let cuts = run(&[head, b"", tail], scope, options.clone());
        assert_eq!(cuts, whole, "cut at {cut}: {}", show(input));
    }
    prefixes(input, scope, options);
    accounts(input, scope, &whole);
    whole
}

fn run(chunks: &[&[u8]], scope: Scope, options: MendOptions) -> (FoundDocuments, Outcome) {
    let mut extractor = Finder::new(scope, options);
    let mut found = FoundDocuments::default();
    for chunk in chunks {
        extractor.push(chunk, &mut found);
    }
    let outcome = extractor.finish(&mut found);
    assert_eq!(extractor.finish(&mut found), outcome);
    assert_eq!(extractor.withheld(), 0);
    (found, outcome)
}

/// After any number of bytes, the same must be emitted, and the same number withheld.
fn prefixes(input: &[u8], scope: Scope, options: &MendOptions) {
    let mut growing = (Finder::new(scope, options.clone()), FoundDocuments::default());
    for (at, byte) in input.chunks(1).enumerate() {
        growing.0.push(byte, &mut growing.1);
        let mut extractor = Finder::new(scope, options.clone());
        let mut found = FoundDocuments::default();
        extractor.push(&input[..=at], &mut found);
        assert_eq!(found, growing.1, "after {} bytes of {}", at + 1, show(input));
        assert_eq!(extractor.withheld(), growing.0.withheld(), "{} of {}", at + 1, show(input));
        let completions = [&extractor, &growing.0]
            .map(|extractor| extractor.completion().map(|completion| completion.to_string()));
        assert_eq!(completions[0], completions[1], "{} of {}", at + 1, show(input));
        assert!(extractor.withheld() <= at + 1);
    }
}

/// Checks that repairs account for every document, and nothing is lost.
fn accounts(input: &[u8], scope: Scope, (found, outcome): &(FoundDocuments, Outcome)) {
    let single = !matches!(scope, Scope::All | Scope::Fenced);
    for document in found.documents() {
        let ended = document.outcome().expect("every document ends");
        if ended.is_valid() && single {
            let applied = apply(input, document.repairs()).expect("repairs are sorted");
            assert_eq!(show(&applied), show(document.json()), "{}", show(input));
        }
        assert_eq!(ended == Outcome::Unchanged, ended.is_valid() && document.repairs().is_empty());
    }
    if *outcome == Outcome::None {
        assert!(found.documents().is_empty());
        assert_eq!(found.text().len() + found.reasoning().len(), input.len());
    }
    if found.reasoning().is_empty() && found.documents().is_empty() {
        assert_eq!(show(found.text()), show(input));
    }
}

pub(crate) fn show(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
