//! Calls that lack their opener.

use super::{
    CallExtractor,
    bare::first_key,
    decide::{Decision, LONGEST_NAME, Opening},
    place::TextBefore,
};
use crate::dialect::{
    json::{past_space, window},
    markers::MarkersHere,
    named::{is_in_name, name_and_id},
    setup::Setup,
    shape::Shape,
    xml,
};

impl CallExtractor {
    /// The name of a known tool that begins a line, directly before what follows names in a dialect: a call
    /// whose opener is missing. The inner `None` says that there is none.
    pub(super) fn unopened(
        &self,
        rest: &[u8],
        place: TextBefore,
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<Decision>> {
        if setup.unopened.is_empty() || !place.begins_line() || self.is_quiet() || self.only_marked
        {
            return Some(None);
        }
        let (near, ended) = window(rest, LONGEST_NAME, eof);
        let length = near.iter().take_while(|byte| is_in_name(byte)).count();
        let written = near.get(..length).and_then(|name| std::str::from_utf8(name).ok());
        let Some(written) = written.filter(|name| !name.is_empty()) else { return Some(None) };
        let (space, next) = past_space(near.get(length..).unwrap_or_default(), ended)?;
        let found = match setup.name_ends.at(next, ended) {
            MarkersHere::Partial => return None,
            MarkersHere::Nothing => return Some(None),
            MarkersHere::Here(found) => found,
        };
        for (id, end) in found {
            let Some(&(row, shape)) = setup.unopened.get(id) else { continue };
            let opening = match setup.rows.get(row).and_then(|row| row.shapes.get(shape)) {
                Some(Shape::Xml(_)) if setup.knows(written) => {
                    let opening = xml::Opening::unopened(written, length);
                    (Opening::Xml(shape, Box::new(opening)), length)
                }
                Some(Shape::Named(named)) => {
                    let (name, id) = name_and_id(named, written, &setup.tools);
                    let Some(tool) = setup.tools.known(name) else { continue };
                    let Some(brace) = next.get(..end).and_then(|end| end.strip_suffix(b"{")) else {
                        let named = Opening::Named(shape, name.to_owned(), id, false);
                        return Some(Some(Decision::Open(row, named, length + space + end)));
                    };
                    // An object may follow any word, so it has to be that of the arguments.
                    let length = length + brace.len();
                    let key = first_key(rest.get(length..).unwrap_or_default(), eof)?;
                    if space > 0 || !key.is_some_and(|key| tool.has(&key)) {
                        continue;
                    }
                    (Opening::Unopened(shape, name.to_owned()), length)
                }
                _ => continue,
            };
            return Some(Some(Decision::Open(row, opening.0, opening.1)));
        }
        Some(None)
    }
}
