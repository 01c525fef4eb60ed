//! How often documents that were damaged are mended right, and that the pages do not promise more.
//!
//! `tests/damage.md` and `docs/repairs.md` have what is measured here. A change may only improve it; one
//! that improves it much, or that has a good reason to make something worse, writes the pages again:
//! `UPDATE_DOCS=1 cargo test -p wiremend-tests --test it damaged::`.

use std::{
    collections::BTreeMap,
    env, fs,
    sync::{LazyLock, Mutex},
};

use wiremend_core::{MendOptions, Mended, Policy, mend};
use wiremend_extract::{Scope, find};
use wiremend_testkit::{
    damaged::{Entry, Kind, Rates, Sample, Verdict, by_distance, samples},
    oracle,
};

static SAMPLES: LazyLock<Vec<(String, Sample)>> = LazyLock::new(|| samples(1, 30));
static RATES: LazyLock<Rates> = LazyLock::new(|| Rates::measure(&SAMPLES));

static WRITING: Mutex<()> = Mutex::new(());

/// How far a rate may rise above the one in the page, in points.
const BEHIND: i64 = 10;

#[test]
fn damage_is_mended_as_often_as_the_page_says() {
    states("tests/damage.md", "rates", &RATES.by_damage());
}

#[test]
fn repairs_are_right_as_often_as_the_page_says() {
    states("docs/repairs.md", "rates", &RATES.by_repair());
}

#[test]
fn texts_are_read_right_as_often_as_the_page_says_of_their_next_reading() {
    states("tests/damage.md", "distances", &by_distance(&SAMPLES));
}

/// Checks that no rate is worse than the page states, and none much better; or writes the table there, between the marks.
fn states(path: &str, mark: &str, measured: &str) {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    // Two tables of a page are not written at once.
    let _one = WRITING.lock();
    let file = wiremend_tests::root().join(path);
    let page = fs::read_to_string(&file).unwrap();
    let (head, rest) = page.split_once(&begin).expect("a mark before the table");
    let (stated, tail) = rest.split_once(&end).expect("a mark after the table");
    if env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1") {
        let page = format!("{head}{begin}\n{measured}\n{end}{tail}");
        fs::write(file, page).unwrap();
        return;
    }
    let (heads, stated) = rows(stated);
    let (new_heads, measured) = rows(measured);
    assert_eq!((heads, stated.len()), (new_heads.clone(), measured.len()), "{path} is out of date");
    let mut changed = Vec::new();
    for (name, rates) in &measured {
        let before = stated.get(name).unwrap_or_else(|| panic!("{path} has no `{name}`"));
        for ((column, now), before) in new_heads.iter().zip(rates).zip(before) {
            let (Some(now), Some(before)) = (now, before) else { continue };
            let gain = if column.starts_with("right") { now - before } else { before - now };
            if !(0..=BEHIND).contains(&gain) {
                changed.push(format!("{name}, {column}: {before} %, now {now} %"));
            }
        }
    }
    assert!(changed.is_empty(), "{path} is out of date, see {}:\n{}", file!(), changed.join("\n"));
}

/// The headings of a table after the first, and by the first cell of each row, the numbers in the others.
fn rows(table: &str) -> (Vec<String>, BTreeMap<String, Vec<Option<i64>>>) {
    // A bar in an example is escaped.
    let table = table.replace("\\|", "");
    let mut lines = table
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.split('|').skip(1).map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    let heads = lines.next().unwrap().split_off(1);
    let rate = |cell: &String| cell.split(' ').next()?.parse().ok();
    let rates = |row: Vec<String>| (row[0].clone(), row[1..].iter().map(rate).collect());
    (heads, lines.skip(1).map(rates).collect())
}

/// A policy decides by what the repairs say of themselves, their doubt with it, and changes no text.
#[test]
fn a_policy_permits_what_its_repairs_say() {
    let conservative = MendOptions::new().with_policy(Policy::CONSERVATIVE);
    let permits = |mended: &Mended| {
        mended.repairs().iter().all(|repair| Policy::CONSERVATIVE.permits(&repair))
    };
    let mut wrong = Vec::new();
    for (name, sample) in SAMPLES.iter() {
        let text = sample.text.as_bytes();
        let (any, some) = (mend(text, &MendOptions::new()), mend(text, &conservative));
        let same = some.text() == any.text().filter(|_| permits(&any));
        // Beside prose, `find` may refuse more: it looks for another document in what is refused.
        let [found, sure] = [MendOptions::new(), conservative.clone()]
            .map(|options| find(text, Scope::Best, &options));
        let refused = permits(&found) || sure.text().is_none();
        if any.outcome().is_complete() && !same || found.outcome().is_complete() && !refused {
            wrong.push(format!("{name}: {}", sample.text));
        }
    }
    assert!(wrong.is_empty(), "{} differ, such as\n{}", wrong.len(), wrong[0]);
}

#[test]
fn what_is_cut_off_is_complete_under_no_conservative_policy() {
    // Between two backticks or apostrophes there may also be a string, and a mender is given no prose.
    let entries = [Entry::Text, Entry::Stream];
    let mut wrong = Vec::new();
    for (_, sample) in SAMPLES.iter() {
        let Some(cut) = sample.cut_off(0) else { continue };
        for entry in entries {
            if cut.ask(entry, Policy::CONSERVATIVE).complete {
                wrong.push(format!("{}: {cut:?}", entry.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kind_damages_documents_and_leaves_their_value() {
    for kind in Kind::all() {
        let of_kind = SAMPLES.iter().filter(|(name, _)| name == kind.name());
        assert!(of_kind.count() >= 20, "{kind:?}");
        assert!(kind.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'));
    }
    for (name, sample) in SAMPLES.iter() {
        assert!(!oracle::is_json(sample.text.as_bytes()), "{name}: {sample:?}");
        assert!((200..30_000).contains(&sample.text.len()), "{name}: {sample:?}");
        let compact = sample.value.to_string();
        assert!((200..5_000).contains(&compact.len()), "{name}: {compact}");
    }
    assert!(SAMPLES.iter().filter(|(_, sample)| sample.kinds.len() > 1).count() > 800);
}

#[test]
fn samples_are_the_same_again() {
    for kind in Kind::all().step_by(7) {
        let (one, other) = (Sample::of_kind(kind, 5).unwrap(), Sample::of_kind(kind, 5).unwrap());
        assert_eq!((&one.text, &one.value), (&other.text, &other.value));
        assert_ne!(one.text, Sample::of_kind(kind, 6).unwrap().text);
    }
}

/// What is not damaged at all has to be right, or the judge is wrong.
#[test]
fn a_sound_document_is_right() {
    for (_, sample) in SAMPLES.iter().step_by(20) {
        let mut sound = sample.clone();
        sound.text = sample.value.to_string();
        for entry in Entry::ALL {
            let answer = sound.ask(entry, Policy::STRICT);
            assert_eq!((answer.verdict, answer.complete), (Verdict::Right, true), "{sound:?}");
        }
    }
}
