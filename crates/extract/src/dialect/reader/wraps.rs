//! Markers around calls that are not written in their dialect.

use super::{CallExtractor, begins::Begins, place::TextBefore};
use crate::dialect::{
    json::{SPACE, past_space},
    markers::MarkersHere,
    setup::{Entry, Setup, What},
    shape::Shape,
};

impl CallExtractor {
    /// The row and the length of a marker before a call that is not written in its dialect, or of one around
    /// the markers of another: models mix them. The inner `None` says that there is none.
    pub(super) fn wraps(
        &self,
        found: &[(usize, usize)],
        rest: &[u8],
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<(usize, usize)>> {
        if !setup.auto || self.is_quiet() {
            return Some(None);
        }
        // What follows is the same for all markers of one length.
        let mut tried = 0;
        for (id, length) in found {
            let Some(entry) = setup.entries.get(*id) else { continue };
            let around = match entry.what {
                What::Ornament => true,
                What::Open(shape) => {
                    let own = setup.rows.get(entry.row).and_then(|row| row.shapes.get(shape));
                    matches!(own, Some(Shape::Json(block)) if !block.close.is_empty())
                }
                _ => false,
            };
            if !around || *length == tried {
                continue;
            }
            tried = *length;
            let (space, next) = past_space(rest.get(*length..).unwrap_or_default(), eof)?;
            if next.is_empty() || space == SPACE {
                continue;
            }
            let place = TextBefore { at_start: true, marked: true, ..TextBefore::AFTER_MARKUP };
            for (row, shape) in &setup.kinds {
                if self.bare(*row, *shape, next, place, eof, setup)?.is_some() {
                    return Some(Some((entry.row, *length)));
                }
            }
            let inner = match setup.markers.at(next, eof) {
                MarkersHere::Partial => return None,
                MarkersHere::Nothing => continue,
                MarkersHere::Here(inner) => inner,
            };
            for (id, _) in inner {
                let Some(Entry { row, what: What::Open(shape) }) = setup.entries.get(id) else {
                    continue;
                };
                if let Begins::Call(opening, _) =
                    self.begins(*row, *shape, next, place, eof, setup)?
                    && self.may_name(*row, &opening, setup)
                {
                    return Some(Some((entry.row, *length)));
                }
            }
        }
        Some(None)
    }
}
