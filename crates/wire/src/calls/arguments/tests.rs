//! Tests of how argument text is read.

use super::*;
use wiremend_core::Policy;

fn raw(pieces: &[&str]) -> (String, bool) {
    let mending = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    let mut text = ArgumentText::new(mending, 1000, false);
    for piece in pieces {
        text.push(piece, &mut |_| {});
    }
    match text.close(&mut |_| {}) {
        Closed::Json { raw, resent, .. } => (raw, resent),
        other => panic!("{other:?}"),
    }
}

#[test]
fn fragments_are_joined() {
    assert_eq!(raw(&["{\"a\"", ": [", "1", "1", "]", "}"]), ("{\"a\": [11]}".to_owned(), false));
}

#[test]
fn cumulative_resends_replace() {
    let pieces = ["{\"a\"", "{\"a\": 1", "{\"a\": 1, \"b\": 2", "{\"a\": 1, \"b\": 2}"];
    assert_eq!(raw(&pieces), ("{\"a\": 1, \"b\": 2}".to_owned(), true));
    assert_eq!(raw(&pieces[2..]), ("{\"a\": 1, \"b\": 2}".to_owned(), true));
}

#[test]
fn the_whole_sent_again_counts_once() {
    assert_eq!(raw(&["{\"a\":", "1}", "{\"a\":1}"]), ("{\"a\":1}".to_owned(), true));
}

#[test]
fn what_only_looks_like_a_resend_is_kept() {
    assert_eq!(raw(&["[", "[1]", "]"]), ("[[1]]".to_owned(), false));
    assert_eq!(raw(&["{\"a\":", "{\"a\":", "{}", "}", "}"]).0, "{\"a\":{\"a\":{}}}");
}

#[test]
fn all_of_the_text_once_more_adds_what_is_missing() {
    let mending = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    for (pieces, want) in [
        (&[][..], "{\"a\":[1,1]}"),
        (&["{\"a\":["], "{\"a\":[1,1]}"),
        (&["{\"a\":[1,1]}"], "{\"a\":[1,1]}"),
        (&["{\"b\":2}"], "{\"b\":2}"),
    ] {
        let mut text = ArgumentText::new(mending.clone(), 12, false);
        for piece in pieces {
            text.push(piece, &mut |_| {});
        }
        text.complete("{\"a\":[1,1]}", &mut |_| {});
        let Closed::Json { raw, .. } = text.close(&mut |_| {}) else { panic!("{want}") };
        assert_eq!(raw, want);
    }
}

#[test]
fn an_empty_object_before_the_real_one_is_dropped() {
    let real = ("{\"a\":1}".to_owned(), true);
    assert_eq!(raw(&["{}", "{\"a\"", ":1}"]), real);
    assert_eq!(raw(&["{", "}", "{\"a\":1}"]), real);
    assert_eq!(raw(&["{}\n{\"a\"", ":1}"]), real);
    assert_eq!(raw(&["{}"]), ("{}".to_owned(), false));
}
