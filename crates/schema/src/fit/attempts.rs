//! Fits a text: tries the readings of the text in turn, and returns the one that fits.

use wiremend_core::{Mended, Outcome, TrailingDocuments};
use wiremend_extract::Scope;

use super::{
    FitOptions, Fitted,
    documents::Documents,
    elements::Elements,
    reading::{Reading, Tried},
    words::words,
};
use crate::{Rule, Schema, Tree, compile::Types, judge::Judge, part::Part, tree::JsonType};

/// `mended` is the result of mending the input under these options, if the caller has it.
pub(super) fn fit(
    schema: &Schema,
    input: &[u8],
    mended: Option<Mended>,
    options: &FitOptions,
) -> Fitted {
    let judge = &mut Judge::with(schema, options.steps(), input.len());
    let tree = valid(input, options);
    let is_one = tree.is_some();
    let (first, mut fitted) = match tree {
        Some(tree) => {
            let reading = Reading::valid(tree.text());
            let fitted = reading.fit_tree(&tree, judge, input, options);
            (reading, fitted)
        }
        None => {
            let reading = match mended {
                Some(mended) => Reading::new(input, mended, options.engine()),
                None => Reading::of(input, options.scope(), &options.engine_for(schema)),
            };
            let fitted = reading.fit(judge, input, options);
            (reading, fitted)
        }
    };
    // A value that was valid from the start is the only candidate, however its numbers are written.
    let only_spelled = fitted.0.applied.iter().all(|applied| applied.rule == Rule::IntegralFloat);
    if fitted.0.outcome == Outcome::Unchanged || is_one && fitted.0.text.is_some() && only_spelled {
        return fitted.0;
    }
    let elements = Elements::find(schema, input, options);
    if let Some(elements) = elements.as_ref().filter(|elements| elements.hold(&first)) {
        // JSON inside an element is the content of that element.
        let other = elements.fit(judge, input, options);
        if other.0.text.is_some() || first.text.is_none() {
            fitted = other;
        }
        if fitted.is_settled() {
            return fitted.0;
        }
    }
    let documents = match options.scope() {
        Scope::Best if !is_one => Some(Documents::find(input, options.engine_for(schema))),
        _ => None,
    };
    let takes_list = Part::root(schema).allows(JsonType::Array) && options.takes_several();
    if let Some(list) = documents.as_ref().filter(|_| takes_list && !first.is_list()) {
        // If the schema asks for a list, several documents are its items.
        let fitted = list.list().map(|reading| reading.fit(judge, input, options).0);
        if let Some(fitted) = fitted.filter(|fitted| fitted.text.is_some()) {
            return fitted;
        }
    }
    if fitted.is_settled() {
        return fitted.0;
    }
    // If the text as a whole does not fit, one of its documents may, or its words.
    let mut readings = documents.as_ref().map(Documents::each).unwrap_or_default();
    if options.engine().trailing_documents() == TrailingDocuments::Last {
        readings.reverse();
    }
    for reading in readings.iter().filter(|reading| reading.text != first.text) {
        let other = reading.fit(judge, input, options);
        fitted = fitted.or(other);
    }
    // Words without any document may be a string without its quotes.
    let no_json = first.text.is_none() && first.outcome == Outcome::None;
    let only_object = Part::root(schema).allowed() == Types::OBJECT;
    let bare = Reading::bare(input, options.engine()).filter(|_| no_json && !only_object);
    if let Some(reading) = bare {
        let other = reading.fit(judge, input, options);
        fitted = fitted.or(other);
    }
    if let Some(elements) = elements.filter(|elements| !elements.hold(&first)) {
        let other = elements.fit(judge, input, options);
        fitted = fitted.or(other);
    }
    if let Some(other) = words(judge, input, options, no_json) {
        fitted = fitted.or(Tried(other));
    }
    fitted.0
}

/// The tree of a text that is valid JSON already. Mending would change nothing, so the text is
/// parsed only once.
fn valid<'i>(input: &'i [u8], options: &FitOptions) -> Option<Tree<'i>> {
    let text = std::str::from_utf8(input).ok().filter(|_| options.scope() != Scope::Fenced)?;
    let tree = Tree::read(text).ok()?;
    tree.needs_no_mending(options.engine().limits()).then_some(tree)
}
