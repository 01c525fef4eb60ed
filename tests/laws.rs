//! Every law on generated documents, whole and damaged, under every policy and under small limits.

use proptest::prelude::*;
use wiremend_core::{MendOptions, TrailingDocuments};
use wiremend_extract::Scope;
use wiremend_testkit::{
    Seed, cuts,
    damage::{self, Damaged},
    documents, fuzz, laws, prose, wrapped,
};

/// A document, damaged in up to three ways or not at all.
fn damaged() -> impl Strategy<Value = Damaged> {
    (documents::document(), 0_usize..4, any::<u64>()).prop_map(|(text, count, seed)| {
        damage::damaged(text.as_bytes(), count, &mut Seed::new(seed))
    })
}

fn options() -> impl Strategy<Value = MendOptions> {
    prop_oneof![2 => Just(MendOptions::new()), 3 => any::<u8>().prop_map(fuzz::options)]
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// One property test per law.
macro_rules! laws_on_damaged_documents {
    ($($name:ident)*) => {
        proptest! {
            #![proptest_config(cases(400))]
            $(
                #[test]
                fn $name(damaged in damaged(), options in options()) {
                    let verdict = laws::$name(&damaged.text, &options);
                    prop_assert!(verdict.is_ok(), "{} under {options:?}", verdict.unwrap_err());
                }
            )*
        }
    };
}

laws_on_damaged_documents! {
    always_valid append_only edit_script bounded any_call_order
    nothing_lost idempotence agreement stable_snapshots partial_agrees deltas_rebuild
    space_around
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn split_invariance(damaged in damaged(), options in options(), seed in any::<u64>()) {
        let cuts = cuts::few(damaged.text.len(), &mut Seed::new(seed));
        let verdict = laws::split_invariance_at(&damaged.text, &options, &cuts);
        prop_assert!(verdict.is_ok(), "{} under {options:?}", verdict.unwrap_err());
    }

    #[test]
    fn identity(text in documents::document()) {
        let verdict = laws::identity(text.as_bytes(), &MendOptions::new());
        prop_assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
        let options = MendOptions::new().with_trailing_documents(TrailingDocuments::All);
        let verdict = laws::identity(text.as_bytes(), &options);
        prop_assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
    }

    #[test]
    fn text_around(damaged in damaged(), options in options(), scope in scopes()) {
        let options = options.with_trailing_documents(TrailingDocuments::First);
        let verdict = laws::text_laws(&damaged.text, scope, &options);
        prop_assert!(verdict.is_ok(), "{} under {options:?}", verdict.unwrap_err());
        let verdict = laws::text_space_around(&damaged.text, scope, &options);
        prop_assert!(verdict.is_ok(), "{} under {options:?}", verdict.unwrap_err());
    }

    #[test]
    fn text_agreement_of_damaged_documents(
        damaged in damaged(),
        options in options(),
        scope in scopes(),
        around in any::<u64>(),
    ) {
        let mut text = prose::text(&mut Seed::new(around)).into_bytes();
        let verdict = laws::text_agreement(&damaged.text, scope, &options);
        prop_assert!(verdict.is_ok(), "{} under {options:?}", verdict.unwrap_err());
        text.extend_from_slice(&damaged.text);
        let verdict = laws::text_agreement(&text, scope, &options);
        prop_assert!(verdict.is_ok(), "{} under {options:?}", verdict.unwrap_err());
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn honest_ends(text in documents::container()) {
        let verdict = laws::honest_ends(text.as_bytes(), &MendOptions::new());
        prop_assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
    }

    #[test]
    fn split_invariance_at_every_place(damaged in damaged()) {
        let verdict = laws::split_invariance(&damaged.text, &MendOptions::new());
        prop_assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
    }
}

/// A damaged document in a wrapper, or a part of one.
fn in_wrapper() -> impl Strategy<Value = Vec<u8>> {
    (damaged(), any::<u64>())
        .prop_map(|(damaged, seed)| wrapped::wrapped(&damaged.text, &mut Seed::new(seed)))
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn laws_of_texts_in_wrappers(text in in_wrapper(), options in options()) {
        let verdict = laws::all(&text, &options);
        prop_assert!(verdict.is_ok(), "{} under {options:?}", verdict.unwrap_err());
    }

    #[test]
    fn text_laws_of_texts_in_wrappers(
        text in in_wrapper(),
        options in options(),
        scope in scopes(),
    ) {
        let options = options.with_trailing_documents(TrailingDocuments::First);
        let verdict = laws::text_laws(&text, scope, &options);
        prop_assert!(verdict.is_ok(), "{} under {options:?}", verdict.unwrap_err());
        let verdict = laws::text_agreement(&text, scope, &options);
        prop_assert!(verdict.is_ok(), "{} under {options:?}", verdict.unwrap_err());
    }

    /// Marks and entities leave the document as it was. Of two levels of escapes, the engine reads one.
    #[test]
    fn wrappers_are_taken_off(text in documents::container()) {
        let document = wrapped::on_lines(text.as_bytes());
        prop_assume!(!document[1..].trim_ascii_start().starts_with(b"]"));
        // Entities are looked for in the first bytes of a document.
        prop_assume!(document.iter().position(|byte| *byte == b'"').is_none_or(|at| at < 60));
        let exact = |wrapper: &wrapped::Wrapper| *wrapper != wrapped::Wrapper::Escapes;
        for wrapper in wrapped::Wrapper::all().filter(exact) {
            let input = wrapper.wrap(&document);
            let mended = wiremend_core::mend(&input, &MendOptions::new());
            let text = mended.text().unwrap_or_default().as_bytes();
            let same = |one: &[u8], other: &[u8]| {
                let value = |text| serde_json::from_slice::<serde_json::Value>(text).ok();
                one == other || value(one).is_some() && value(one) == value(other)
            };
            prop_assert!(same(text, &document), "{wrapper:?}: {}", text.escape_ascii());
        }
    }
}

fn scopes() -> impl Strategy<Value = Scope> {
    let scopes = [Scope::All, Scope::Best, Scope::Fenced, Scope::First, Scope::Last, Scope::Whole];
    proptest::sample::select(scopes.to_vec())
}

#[test]
fn damage_of_every_kind_is_mended_to_json() {
    const TEXT: &[u8] =
        br#"{"name": "a \"b\" c", "list": [1, 2.5, null], "ok": true, "o": {"k": "v"}}"#;
    for way in damage::Damage::ALL {
        for seed in 0..40 {
            let Some(broken) = way.apply(TEXT, &mut Seed::new(seed)) else { continue };
            let mended = wiremend_core::mend(&broken, &MendOptions::new());
            let blank = broken.trim_ascii().is_empty();
            assert!(
                mended.outcome().is_valid() || blank,
                "{way}: {} gives {}",
                broken.escape_ascii(),
                mended.outcome()
            );
        }
    }
}

/// Whether the text in a fence was cut off does not depend on the fence.
#[test]
fn text_agreement_of_text_cut_after_two_kinds_of_quotes() {
    let options = MendOptions::new().with_trailing_documents(TrailingDocuments::First);
    for text in ["```\n[[\"'", "```\n+[\n+  [\"'", "```\n{\"a\": \"'", "```\n['\"", "x:\n\n[\"'"] {
        for scope in [Scope::First, Scope::Best, Scope::Last, Scope::All, Scope::Fenced] {
            let verdict = laws::text_agreement(text.as_bytes(), scope, &options);
            assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
        }
    }
}

#[test]
fn text_agreement_of_prose() {
    let mut seed = Seed::of(b"prose");
    let scopes = [Scope::Whole, Scope::First, Scope::Best, Scope::Last, Scope::All, Scope::Fenced];
    for _ in 0..3000 {
        let text = prose::text(&mut seed);
        for scope in scopes {
            let verdict = laws::text_agreement(text.as_bytes(), scope, &MendOptions::new());
            assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
            let verdict = laws::text_space_around(text.as_bytes(), scope, &MendOptions::new());
            assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
        }
    }
}
