//! Fits a text: tries the readings of the text in turn, and returns the one that fits.

use wiremend_core::{Mended, Outcome, TrailingDocuments};
use wiremend_extract::Scope;

use super::{
    FitOptions, Fitted,
    reading::{Documents, Reading, Tried, fit_as_text},
    xml::Elements,
};
use crate::{Rule, Schema, Tree, compile::Types, judge::Judge, part::Part, tree::JsonType};

impl Schema {
    /// Finds the value in a text, mends and validates it, and makes it fit the schema within the
    /// limits of the policy.
    ///
    /// A valid value is returned unchanged. A value that cannot be made valid is returned with its
    /// issues, and nothing is changed.
    #[must_use]
    pub fn fit(&self, input: &[u8], options: &FitOptions) -> Fitted {
        fit(self, input, None, options)
    }

    /// Like [`fit`](Self::fit), for an input that was mended already: the engine does not read it
    /// again. `mended` must be what the engine makes of the whole input with the engine options of
    /// `options` and the [guide](Self::guide) of this schema, and the scope [`Scope::Whole`].
    ///
    /// ```
    /// use wiremend_core::{MendOptions, mend};
    /// use wiremend_extract::Scope;
    /// use wiremend_schema::{FitOptions, Schema};
    ///
    /// let schema = Schema::from_text(r#"{"properties": {"days": {"type": "integer"}}}"#)?;
    /// let (input, engine) = (b"{'days': '3'}", MendOptions::new());
    /// let options = FitOptions::new().with_mending(engine.clone()).with_scope(Scope::Whole);
    /// let mended = mend(input, &engine.with_guide(schema.guide()));
    /// let fitted = schema.fit_mended(input, mended, &options);
    /// assert_eq!(fitted, schema.fit(input, &options));
    /// assert_eq!(fitted.text(), Some(r#"{"days": 3}"#));
    /// # Ok::<(), wiremend_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn fit_mended(&self, input: &[u8], mended: Mended, options: &FitOptions) -> Fitted {
        fit(self, input, Some(mended), options)
    }
}

/// `mended` is the result of mending the input under these options, if the caller has it.
fn fit(schema: &Schema, input: &[u8], mended: Option<Mended>, options: &FitOptions) -> Fitted {
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
                Some(mended) => Reading::new(input, mended, options.mending()),
                None => Reading::of(input, options.scope(), &options.mending_for(schema)),
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
        Scope::Best if !is_one => Some(Documents::find(input, options.mending_for(schema))),
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
    if options.mending().trailing_documents() == TrailingDocuments::Last {
        readings.reverse();
    }
    for reading in readings.iter().filter(|reading| reading.text != first.text) {
        let other = reading.fit(judge, input, options);
        fitted = fitted.or(other);
    }
    // Words without any document may be a string without its quotes.
    let no_json = first.text.is_none() && first.outcome == Outcome::None;
    let only_object = Part::root(schema).allowed() == Types::OBJECT;
    let bare = Reading::bare(input, options.mending()).filter(|_| no_json && !only_object);
    if let Some(reading) = bare {
        let other = reading.fit(judge, input, options);
        fitted = fitted.or(other);
    }
    if let Some(elements) = elements.filter(|elements| !elements.hold(&first)) {
        let other = elements.fit(judge, input, options);
        fitted = fitted.or(other);
    }
    if let Some(other) = fit_as_text(judge, input, options, no_json) {
        fitted = fitted.or(Tried(other));
    }
    fitted.0
}

/// The tree of a text that is valid JSON already. Mending would change nothing, so the text is
/// parsed only once.
fn valid<'i>(input: &'i [u8], options: &FitOptions) -> Option<Tree<'i>> {
    let text = std::str::from_utf8(input).ok().filter(|_| options.scope() != Scope::Fenced)?;
    let tree = Tree::read(text).ok()?;
    tree.needs_no_mending(options.mending().limits()).then_some(tree)
}
