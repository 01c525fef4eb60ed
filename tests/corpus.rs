//! Every case of the corpus through every entry point, and every law on every case.

use std::{fmt::Write as _, sync::Arc};

use wiremend_core::{
    BufferedMender, Limits, MendOptions, Mended, Outcome, Policy, RepairKind, Repairs,
    TrailingDocuments, mend,
};
use wiremend_extract::{Scope, find};
use wiremend_testkit::{
    Seed,
    cases::{self, Case},
    cuts::{self, Cut},
    extracted::Extraction,
    guides::{Counting, Unknowing},
    laws, oracle,
    run::Run,
};

fn corpus() -> Vec<Case> {
    cases::read_folder(&wiremend_tests::corpus()).unwrap()
}

/// Runs `check` on each case that `picked` selects, and fails once with all failures.
fn every(picked: impl Fn(&Case) -> bool, check: impl Fn(&Case) -> Result<(), String>) {
    let cases: Vec<Case> = corpus().into_iter().filter(picked).collect();
    assert!(!cases.is_empty(), "no case to check");
    let mut report = String::new();
    for case in &cases {
        if let Err(what) = check(case) {
            writeln!(report, "\n{}: {what}", case.name).unwrap();
        }
    }
    assert!(report.is_empty(), "{} cases checked{report}", cases.len());
}

fn kinds(repairs: &Repairs) -> Vec<RepairKind> {
    let mut kinds = Vec::new();
    for repair in repairs {
        if !kinds.contains(&repair.kind()) {
            kinds.push(repair.kind());
        }
    }
    kinds
}

fn expect(
    case: &Case,
    outcome: Outcome,
    text: Option<&str>,
    repairs: &Repairs,
) -> Result<(), String> {
    if outcome != case.outcome {
        return Err(format!("outcome {outcome}, not {}; text {text:?}", case.outcome));
    }
    if text != case.output.as_deref() {
        return Err(format!("text {text:?}, not {:?}", case.output));
    }
    let open = case.kinds.is_empty() && (!outcome.is_valid() || case.scope.is_some());
    if !open && kinds(repairs) != case.kinds {
        return Err(format!("kinds {:?}, not {:?}", kinds(repairs), case.kinds));
    }
    Ok(())
}

fn expect_mended(case: &Case, mended: &Mended) -> Result<(), String> {
    expect(case, mended.outcome(), mended.text(), mended.repairs())
}

#[test]
fn the_whole_text_path_reads_each_case_as_written() {
    every(
        |case| case.scope.is_none(),
        |case| expect_mended(case, &mend(&case.input, &case.options)),
    );
}

#[test]
fn the_buffered_path_reads_each_case_as_written() {
    every(
        |case| case.scope.is_none() && case.input.len() <= case.options.limits().buffer(),
        |case| {
            let mut buffered = BufferedMender::new(case.options.clone());
            for chunk in Cut::every(3, case.input.len()).chunks(&case.input) {
                buffered.push(chunk, &mut ());
            }
            expect_mended(case, &buffered.finish(&mut ()))
        },
    );
}

#[test]
fn the_push_path_reads_each_case_as_written() {
    every(
        |case| case.scope.is_none() && !case.whole_text_only,
        |case| {
            for cut in [Cut::whole(), Cut::bytes(case.input.len())] {
                let run = Run::new(&case.input, &cut, &case.options);
                let text = std::str::from_utf8(run.recorder().text()).unwrap_or_default();
                let text = run.outcome().is_valid().then_some(text);
                let mut case = case.clone();
                if !run.outcome().is_valid() {
                    // The output before the refusal was mended; what was refused is not recorded.
                    case.kinds = Vec::new();
                }
                expect(&case, run.outcome(), text, run.recorder().repairs())?;
            }
            Ok(())
        },
    );
}

#[test]
fn the_scope_whole_reads_a_channel_like_the_core() {
    every(
        |case| case.scope.is_none(),
        |case| expect_mended(case, &find(&case.input, Scope::Whole, &case.options)),
    );
}

#[test]
fn text_cases_read_as_written() {
    every(
        |case| case.scope.is_some(),
        |case| {
            let scope = case.scope.unwrap_or_default();
            expect_mended(case, &find(&case.input, scope, &case.options))?;
            if case.outcome == Outcome::None {
                laws::untouched(&case.input, scope, &case.options).map_err(|v| v.to_string())?;
            }
            for cut in [Cut::whole(), Cut::bytes(case.input.len())] {
                let run = Extraction::new(&case.input, &cut, scope, &case.options);
                if case.text.as_ref().is_some_and(|text| text.as_bytes() != run.found().text()) {
                    return Err(format!("{:?}, not text {:?}", run.found(), case.text));
                }
                let json = run.found().documents().last().map(|document| &document.json[..]);
                if case.outcome.is_valid() && json != case.output.as_deref().map(str::as_bytes) {
                    return Err(format!("{:?}, not {:?}", run.found(), case.output));
                }
            }
            Ok(())
        },
    );
}

#[test]
fn outputs_can_be_used() {
    every(
        |case| case.output.is_some() && case.usable && !oracle_sees_several(case),
        |case| {
            let output = case.output.as_deref().unwrap_or_default();
            oracle::is_usable(output.as_bytes()).then_some(()).ok_or_else(|| output.to_owned())
        },
    );
}

fn oracle_sees_several(case: &Case) -> bool {
    case.options.trailing_documents() == wiremend_core::TrailingDocuments::All
}

#[test]
fn paths_agree_unless_the_case_says_otherwise() {
    every(
        |case| case.scope.is_none() && !case.whole_text_only,
        |case| laws::push_agreement(&case.input, &case.options).map_err(|v| v.to_string()),
    );
}

/// One test per law, so that a failure names the law, and the laws run in parallel.
macro_rules! laws_on_every_case {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            every(
                |case| case.scope.is_none(),
                |case| laws::$name(&case.input, &case.options).map_err(|v| v.to_string()),
            );
        }
    )*};
}

laws_on_every_case! {
    split_invariance always_valid identity append_only edit_script bounded any_call_order
    nothing_lost idempotence honest_ends agreement stable_snapshots partial_agrees deltas_rebuild
    space_around
}

#[test]
fn text_laws() {
    every(
        |case| case.scope.is_some(),
        |case| {
            let scope = case.scope.unwrap_or_default();
            laws::text_laws(&case.input, scope, &case.options).map_err(|v| v.to_string())
        },
    );
}

#[test]
fn white_space_around_a_text_changes_nothing() {
    every(
        |case| case.input.len() < 4096,
        |case| {
            let scopes = [Scope::Whole, Scope::First, Scope::Best, Scope::Last, Scope::All];
            scopes.into_iter().try_for_each(|scope| {
                laws::text_space_around(&case.input, scope, &case.options)
                    .map_err(|v| v.to_string())
            })
        },
    );
}

#[test]
fn the_extractor_and_the_whole_text_agree() {
    every(
        |case| case.input.len() < 4096,
        |case| {
            let scopes = [Scope::Whole, Scope::First, Scope::Best, Scope::Last, Scope::All];
            scopes.into_iter().try_for_each(|scope| {
                laws::text_agreement(&case.input, scope, &case.options).map_err(|v| v.to_string())
            })
        },
    );
}

#[test]
fn a_guide_that_knows_nothing_changes_nothing() {
    every(
        |case| case.options.guide().is_none() && case.input.len() < 4096,
        |case| {
            let guided = case.options.clone().with_guide(Arc::new(Unknowing));
            let (with, without) = (mend(&case.input, &guided), mend(&case.input, &case.options));
            if with != without {
                return Err(format!("{with:?} instead of {without:?}"));
            }
            for cut in [Cut::whole(), Cut::bytes(case.input.len())] {
                let with = Run::new(&case.input, &cut, &guided);
                let without = Run::new(&case.input, &cut, &case.options);
                let (got, want) = (with.recorder(), without.recorder());
                if got.text() != want.text() || got.repairs() != want.repairs() {
                    return Err(format!("{:?} instead of {:?}", got.text(), want.text()));
                }
            }
            Ok(())
        },
    );
}

#[test]
fn no_guide_is_asked_about_valid_json() {
    every(
        |case| case.outcome == Outcome::Unchanged && case.scope.is_none(),
        |case| {
            let guide = Counting::default();
            let options = case.options.clone().with_guide(Arc::new(guide.clone()));
            drop(mend(&case.input, &options));
            for cut in [Cut::whole(), Cut::every(3, case.input.len())] {
                drop(Run::new(&case.input, &cut, &options));
            }
            match guide.asked() {
                0 => Ok(()),
                times => Err(format!("asked {times} times")),
            }
        },
    );
}

/// Each kind is used in at least two cases. One refuses it because of its risk, and one because it is
/// switched off.
#[test]
fn every_kind_is_allowed_refused_and_switched_off() {
    let cases = corpus();
    let mut missing = String::new();
    for &kind in RepairKind::ALL {
        let fires = cases.iter().filter(|case| case.kinds.contains(&kind)).count();
        let needs = |case: &&Case| {
            let allowed = case.options.clone().with_policy(Policy::PERMISSIVE);
            let mended = mend(&case.input, &allowed);
            mended.repairs().contains(kind)
        };
        let mut refused: Vec<Policy> = Vec::new();
        for case in cases.iter().filter(|case| !case.options.policy().allows(kind)).filter(needs) {
            refused.push(case.options.policy());
        }
        let off = refused.iter().any(|policy| policy.max_risk() == Policy::PERMISSIVE.max_risk());
        let risk = refused.iter().any(|policy| policy.max_risk() < Some(kind.risk()));
        if fires < 2 || !off || !risk {
            writeln!(missing, "{kind}: fires {fires}, off {off}, risk {risk}").unwrap();
        }
    }
    assert!(missing.is_empty(), "cases are missing\n{missing}");
}

#[test]
fn cuts_of_the_corpus_are_many() {
    let cuts: usize = corpus().iter().map(|case| cuts::thorough(case.input.len()).len()).sum();
    assert!(cuts > 10_000, "{cuts}");
}

/// A small buffer is exceeded at the same byte however the input is divided, both where a run was
/// lengthened that may have to be withheld, and where the look-ahead is larger than the buffer.
#[test]
fn a_small_buffer_is_exceeded_at_the_same_byte() {
    let (mut overflows, mut seed) = (0, Seed::of(b"buffer"));
    let fillers = [" ", "\n", "a", "\"", ",", "1", "/", "{"];
    for case in corpus() {
        let mut input = case.input.clone();
        let (filler, times) = (*seed.pick(&fillers).unwrap(), 20 + seed.below(120));
        let at = seed.below(input.len() + 1);
        input.splice(at..at, filler.repeat(times).into_bytes());
        for (buffer, lookahead) in [(0, 16), (20, 16), (9, 64), (70, 64), (48, 128)] {
            let limits = Limits::new().with_buffer(buffer).with_lookahead(lookahead);
            let options = case.options.clone().with_limits(limits);
            let cuts = [Cut::whole(), Cut::bytes(input.len()), Cut::every(50, input.len())];
            laws::split_invariance_at(&input, &options, &cuts).unwrap();
            let outcome = Run::new(&input, &Cut::whole(), &options).outcome();
            overflows += usize::from(outcome == Outcome::Overflow);
        }
    }
    assert!(overflows > 100, "{overflows}");
}

/// A gap so long that it is released before the text after it arrives still ends the document's line.
#[test]
fn a_long_gap_after_the_document_reads_the_same_at_every_cut() {
    let limits = Limits::new().with_buffer(20).with_lookahead(16);
    let options = MendOptions::new().with_limits(limits);
    for gap in ["\n", " ", "\n ", " \n", "}\n"] {
        for tail in ["if (x) { y }", "2", "{\"a\": 1}"] {
            for trailing in [TrailingDocuments::First, TrailingDocuments::All] {
                let options = options.clone().with_trailing_documents(trailing);
                let input = format!("[1]{}{tail}", gap.repeat(40)).into_bytes();
                let cuts = [Cut::whole(), Cut::bytes(input.len()), Cut::every(50, input.len())];
                laws::split_invariance_at(&input, &options, &cuts).unwrap();
            }
        }
    }
}
