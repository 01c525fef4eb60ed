//! Every cell of the recovery table is reached by a case of the corpus.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use serde_json::json;
use wiremend_core::{
    MendOptions,
    coverage::{Expect, Token, decide, quotes, reached},
    mend,
};
use wiremend_extract::find;
use wiremend_testkit::{
    cases, cuts::Cut, extracted::Extraction, guides::Outline, quoted, run::Run,
};

/// Reads every case in every way, so that the engine uses the table.
///
/// This binary has one test, because the cells that were reached are counted for the whole process.
#[test]
fn every_cell_is_reached_by_a_case() {
    for case in cases::read_folder(&wiremend_tests::corpus()).unwrap() {
        match case.scope {
            None => drop(mend(&case.input, &case.options)),
            Some(scope) => drop(find(&case.input, scope, &case.options)),
        }
        for cut in [Cut::whole(), Cut::bytes(case.input.len())] {
            match case.scope {
                None => drop(Run::new(&case.input, &cut, &case.options)),
                Some(scope) => {
                    drop(Extraction::new(&case.input, &cut, scope, &case.options));
                }
            }
        }
    }
    let guided = MendOptions::new().with_guide(Arc::new(Outline::new(json!({
        "b": "any", "c": "any", "d": "any", "k": "any", "o": "any", "z": "none", "*": "none",
    }))));
    for text in quoted::texts() {
        for options in [&MendOptions::new(), &guided] {
            drop(mend(text.as_bytes(), options));
            drop(Run::new(text.as_bytes(), &Cut::whole(), options));
        }
    }
    let mut missed = Vec::new();
    for &expect in Expect::ALL {
        for &token in Token::ALL {
            if !reached(expect, token) {
                let action = decide(expect, token);
                missed.push(format!("no case reaches {expect:?} x {token:?} ({action:?})"));
            }
        }
    }
    for &place in quotes::QuotePlace::ALL {
        for seen in place.continuations() {
            for context in place.contexts() {
                let reached = quotes::reached(place, seen, context);
                let verdict = quotes::verdict(place, seen, context);
                if reached && !quotes::possible(place, seen, context) {
                    missed.push(format!("reached: {place:?}, {seen:?}, {context:?} ({verdict:?})"));
                }
                if !reached && quotes::possible(place, seen, context) {
                    missed.push(format!(
                        "no case reaches {place:?}, {seen:?}, {context:?} ({verdict:?})"
                    ));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} cells: {missed:#?}", missed.len());
}
