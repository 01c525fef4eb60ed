//! The laws of values and their schemas: L1, L3, L5, L9 and L11 for [`Schema::fit`], and L12 for the
//! cursor: what it reports early stays true.

use std::collections::BTreeMap;

use wiremend_core::{Collected, JsonType, MendOptions, Mender, Outcome, Output, Repair};
use wiremend_extract::{Scope, find};
use wiremend_schema::{
    Applied, Cause, Change, Cursor, EarlyIssue, FitOptions, Fitted, Fitter, NodeState, Rule,
    Schema, Snapshot, Tree, apply_changes,
};

use super::{Check, Law, Violation};
use crate::{
    Seed,
    cuts::{self, Cut},
    extracted::Extraction,
};

/// Everything that holds for a schema, a text and options.
///
/// # Errors
/// The law that is broken.
pub fn schema_laws(schema: &Schema, input: &[u8], options: &FitOptions) -> Result<(), Violation> {
    let fitted = schema.fit(input, options);
    script(schema, input, &fitted)?;
    valid_stays(schema, input, &fitted, options)?;
    again(schema, input, &fitted, options)?;
    streams(schema, input, &fitted, options)?;
    cursor(schema, input, options)?;
    growth(schema, input, &fitted, options)
}

/// What holds for any schema that compiles, however it is made, and any text: the fitted text is
/// valid, a valid one stays, and what is shown while it arrives ends as the whole does.
///
/// # Errors
/// The law that is broken.
pub fn hostile_schema_laws(
    schema: &Schema,
    input: &[u8],
    options: &FitOptions,
) -> Result<(), Violation> {
    let fitted = schema.fit(input, options);
    let check = Check::new(Law::NoPanic, input);
    check.that(fitted.text().is_some() || !fitted.issues().is_empty(), || {
        format!("{} without a reason", fitted.outcome())
    })?;
    script(schema, input, &fitted)?;
    valid_stays(schema, input, &fitted, options)?;
    let mut stream = Fitter::new(schema, options.clone());
    for piece in input.chunks(7) {
        stream.push(piece);
        let cursor = stream.cursor();
        let _ = (cursor.expected(), cursor.early_issues(), cursor.pending(), cursor.root());
    }
    // A longer text is shown, but not kept.
    if input.len() > options.mending().limits().buffer() {
        return Ok(());
    }
    check.same("the end of the stream", &stream.finish(), &fitted)
}

/// L5: the script gives the text, and the text is valid.
fn script(schema: &Schema, input: &[u8], fitted: &Fitted) -> Result<(), Violation> {
    let check = Check::new(Law::EditScript, input);
    let Some(text) = fitted.text() else {
        check.same("changes without a text", &fitted.changes().len(), &0)?;
        return check
            .that(!fitted.outcome().is_valid(), || format!("{} without a text", fitted.outcome()));
    };
    check.same(
        "applied changes",
        &apply_changes(input, fitted.changes()).as_deref(),
        &Some(text),
    )?;
    let reported = fitted.changes().iter().map(Change::risk).max();
    check.same("the highest risk of the changes", &reported, &fitted.risk())?;
    let accepted = Tree::read(text).is_ok_and(|tree| schema.accepts(&tree));
    check.that(accepted, || format!("not valid: {text}"))
}

/// L3: a value that is valid as received stays unchanged, except for whole numbers that become
/// digits; without that rule it always stays unchanged.
fn valid_stays(
    schema: &Schema,
    input: &[u8],
    fitted: &Fitted,
    options: &FitOptions,
) -> Result<(), Violation> {
    let check = Check::new(Law::Identity, input);
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    let Ok(tree) = Tree::read(text) else { return Ok(()) };
    // Changes because of the engine's limits or of lone surrogates are the engine's responsibility.
    let mended = wiremend_core::mend(input, options.mending());
    if mended.outcome() != Outcome::Unchanged || !schema.accepts(&tree) {
        return Ok(());
    }
    let (spelled, other): (Vec<&Applied>, Vec<&Applied>) =
        fitted.applied().iter().partition(|applied| applied.rule() == Rule::IntegralFloat);
    check.same("rules in a valid value", &other, &Vec::new())?;
    check.same("changes of a valid value", &fitted.changes().len(), &spelled.len())?;
    if spelled.is_empty() {
        return check.same("a valid value", &fitted.text(), &Some(text));
    }
    let rules = options.rules().clone().without(Rule::IntegralFloat);
    let unspelled = schema.fit(input, &options.clone().with_rules(rules));
    check.same("a valid value", &unspelled.text(), &Some(text))?;
    check.same("a valid value", &unspelled.changes().len(), &0)
}

/// L9: a fitted value fits.
fn again(
    schema: &Schema,
    input: &[u8],
    fitted: &Fitted,
    options: &FitOptions,
) -> Result<(), Violation> {
    let check = Check::new(Law::Idempotence, input);
    let Some(text) = fitted.text() else { return Ok(()) };
    let again = schema.fit(text.as_bytes(), options);
    check.same("fitted again", &again.text(), &Some(text))?;
    check.same("fitted again", &again.applied().len(), &0)
}

/// L11: however the text is divided, a stream has the same end as the whole text.
fn streams(
    schema: &Schema,
    input: &[u8],
    fitted: &Fitted,
    options: &FitOptions,
) -> Result<(), Violation> {
    let check = Check::new(Law::Agreement, input);
    if input.len() > options.mending().limits().buffer() {
        return Ok(());
    }
    for cut in [Cut::whole(), Cut::bytes(input.len())] {
        let mut stream = Fitter::new(schema, options.clone());
        cut.chunks(input).for_each(|chunk| stream.push(chunk));
        check.same("Fitter", &stream.finish(), fitted)?;
    }
    Ok(())
}

/// A cursor, and the text that it followed.
struct Followed {
    text: Collected,
    cursor: Cursor,
}

impl Output for Followed {
    fn copy(&mut self, bytes: &[u8]) {
        self.text.copy(bytes);
        self.cursor.copy(bytes);
    }
    fn settle(&mut self) {
        self.cursor.settle();
    }
    fn raw(&mut self) {
        self.cursor.raw();
    }
    fn repair(&mut self, repair: Repair) {
        self.text.repair(repair.clone());
        self.cursor.repair(repair);
    }
}

fn follow(schema: &Schema, input: &[u8], cut: &Cut, options: &FitOptions) -> (Followed, Outcome) {
    let cursor = Cursor::new(schema, options);
    let mut followed = Followed { text: Collected::default(), cursor };
    let mut mender = Mender::new(options.mending().clone());
    cut.chunks(input).for_each(|chunk| mender.push(chunk, &mut followed));
    let outcome = mender.finish(&mut followed);
    (followed, outcome)
}

/// What a cursor reports does not depend on the cuts, and what it reports as wrong is wrong.
fn cursor(schema: &Schema, input: &[u8], options: &FitOptions) -> Result<(), Violation> {
    let account = |cursor: &Cursor| {
        let shown = cursor.root().map(|root| root.to_string());
        (
            shown,
            cursor.early_issues().to_vec(),
            cursor.changes().to_vec(),
            cursor.applied().to_vec(),
        )
    };
    let check = Check::new(Law::SplitInvariance, input);
    let (followed, outcome) = follow(schema, input, &Cut::whole(), options);
    let whole = account(&followed.cursor);
    if !outcome.is_valid() {
        // Raw text is not JSON, and a cursor does not judge it.
        return Ok(());
    }
    let mut cuts = cuts::few(input.len(), &mut Seed::of(input));
    cuts.push(Cut::bytes(input.len()));
    for cut in cuts {
        let (cut, _) = follow(schema, input, &cut, options);
        check.same("Cursor", &account(&cut.cursor), &whole)?;
    }
    let check = Check::new(Law::HonestEnds, input);
    let text = followed.text.to_text();
    let Ok(tree) = Tree::read(&text) else { return Ok(()) };
    // A duplicate key replaces what was found wrong under it.
    if repeats_a_key(&tree) {
        return Ok(());
    }
    if outcome.is_complete() && schema.accepts(&tree) {
        check.same("issues in a valid value", &whole.1, &Vec::new())?;
        let coerced = |change: &&Change| change.cause() != Cause::Rule(Rule::IntegralFloat);
        let coerced: Vec<&Change> = whole.2.iter().filter(coerced).collect();
        check.same("coerced in a valid value", &coerced, &Vec::new())?;
    }
    Ok(())
}

/// Whether the first document is read the same in a stream and in the whole text.
fn reads_alike(input: &[u8], options: &MendOptions) -> bool {
    let streamed = Extraction::new(input, &Cut::whole(), Scope::First, options);
    let whole = find(input, Scope::First, options);
    let first = streamed.found().documents().next().map(|document| document.json.as_slice());
    first == whole.text().map(str::as_bytes)
}

/// L12 for a schema: an early issue stays, a final value stays unchanged, byte by byte; and if the end does
/// no more than the cursor did, both have the same value.
fn growth(
    schema: &Schema,
    input: &[u8],
    fitted: &Fitted,
    options: &FitOptions,
) -> Result<(), Violation> {
    let check = Check::new(Law::StableSnapshots, input);
    if input.len() > MAX_BYTES || input.len() > options.mending().limits().buffer() {
        return Ok(());
    }
    let mut stream = Fitter::new(schema, options.clone());
    let mut issues: Vec<EarlyIssue> = Vec::new();
    let mut changes: Vec<Change> = Vec::new();
    let mut finals: BTreeMap<Vec<usize>, String> = BTreeMap::new();
    let mut at_byte = |stream: &Fitter, at: usize| {
        let cursor = stream.cursor();
        let grew =
            cursor.early_issues().starts_with(&issues) && cursor.changes().starts_with(&changes);
        check.that(grew, || format!("taken back at byte {at}: {issues:?} {changes:?}"))?;
        issues = cursor.early_issues().to_vec();
        changes = cursor.changes().to_vec();
        let now = final_nodes(cursor);
        for (place, text) in &finals {
            check.same("final, a byte later", &now.get(place), &Some(text))?;
        }
        finals = now;
        Ok(())
    };
    for (at, byte) in input.iter().enumerate() {
        stream.push(std::slice::from_ref(byte));
        at_byte(&stream, at)?;
    }
    stream.end();
    at_byte(&stream, input.len())?;
    let cursor = stream.cursor();
    let done = |applied: &[Applied]| -> Vec<(Rule, String)> {
        let done = applied.iter().map(|applied| (applied.rule(), applied.path().to_string()));
        let mut done: Vec<_> = done.collect();
        done.sort();
        done
    };
    // A rule that changes a form, another document of the text, or a reading that needs the whole
    // text leads to a different value.
    let same = done(fitted.applied()) == done(cursor.applied())
        && !drops_a_change(fitted, cursor)
        && fitted.text().is_some()
        && reads_alike(input, options.mending());
    let one = cursor.root().map(|root| root.kind()) == fitted.text().and_then(root_kind);
    if same && one && !fitted.applied().is_empty() {
        // A repair of higher risk in the same bytes names the change.
        let is_there = |own: &Change| {
            let alike = |end: &&Change| end.span() == own.span();
            fitted.changes().iter().find(alike).is_some_and(|end| end.after() == own.after())
        };
        check.that(cursor.changes().iter().all(is_there), || {
            format!("{:?} are not among {:?}", cursor.changes(), fitted.changes())
        })?;
    }
    Ok(())
}

/// Whether the end drops bytes that the cursor followed and changed: it keeps another document than the
/// first, or one that was begun again. The same rules may apply to both, at the same paths.
fn drops_a_change(fitted: &Fitted, cursor: &Cursor) -> bool {
    let drops = |end: &&Change| matches!(end.cause(), Cause::Syntax(_)) && end.after().is_empty();
    fitted.changes().iter().filter(drops).any(|end| {
        cursor.changes().iter().any(|own| end.start() <= own.start() && own.end() <= end.end())
    })
}

/// The longest text that is checked byte by byte.
const MAX_BYTES: usize = 2_000;

fn root_kind(text: &str) -> Option<JsonType> {
    Tree::read(text).ok().map(|tree| tree.root().kind())
}

/// The final values, by position among their siblings, level by level.
fn final_nodes(cursor: &Cursor) -> BTreeMap<Vec<usize>, String> {
    let mut found = BTreeMap::new();
    let mut open: Vec<(Vec<usize>, Snapshot<'_>)> =
        cursor.root().map(|root| (Vec::new(), root)).into_iter().collect();
    while let Some((place, node)) = open.pop() {
        for (index, child) in node.children().enumerate() {
            open.push(([place.as_slice(), &[index]].concat(), child));
        }
        if node.state() == NodeState::Final {
            found.insert(place, node.to_string());
        }
    }
    found
}

fn repeats_a_key(tree: &Tree<'_>) -> bool {
    let mut open = vec![tree.root()];
    while let Some(node) = open.pop() {
        let mut keys: Vec<_> = node.children().filter_map(|child| child.key()).collect();
        keys.sort_unstable();
        if keys.windows(2).any(|pair| pair[0] == pair[1]) {
            return true;
        }
        open.extend(node.children());
    }
    false
}
