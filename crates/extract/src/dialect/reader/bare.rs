//! Calls without a marker, which only the name of a known tool makes one.

use super::{
    CallExtractor,
    decide::{Decision, LONGEST_NAME, Opening},
    place::TextBefore,
};
use crate::dialect::{
    json::{may_be_call, past_space, window},
    markers::Markers,
    python,
    setup::Setup,
    shape::Shape,
};

impl CallExtractor {
    /// A call without a marker. The inner `None` says that there is none.
    pub(super) fn bare(
        &self,
        row: usize,
        shape: usize,
        rest: &[u8],
        place: TextBefore,
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<Decision>> {
        let Some(own) = setup.rows.get(row).and_then(|row| row.shapes.get(shape)) else {
            return Some(None);
        };
        match own {
            Shape::Json(_) => {
                let is_key = |key: &str| setup.may_be_key(key);
                if setup.auto && setup.tools.is_empty() || !may_be_call(rest, eof, Some(&is_key))? {
                    return Some(None);
                }
                Some(Some(Decision::Open(row, Opening::Json(shape), 0)))
            }
            Shape::Python(_) => {
                if place.in_word() {
                    return Some(None);
                }
                let Some(opening) = python::open(rest, eof)? else { return Some(None) };
                let known = setup.knows(&opening.name);
                // A marker before it says as much as a list around it.
                let sure = opening.list || place.marked || self.around == Some(row);
                // Without a list around it, only the name of a tool makes it a call.
                let plain = opening.quoted.is_none() || opening.braced;
                if known && (setup.auto || sure) || opening.list && !setup.auto && plain {
                    let length = opening.length;
                    return Some(Some(Decision::Open(
                        row,
                        Opening::Python(shape, opening),
                        length,
                    )));
                }
                Some(None)
            }
            Shape::Line => {
                if place.in_word() {
                    return Some(None);
                }
                let is_name =
                    |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
                let length = rest.iter().take(LONGEST_NAME).take_while(is_name).count();
                let after = rest.get(length..).unwrap_or_default();
                if length == LONGEST_NAME {
                    return Some(None);
                }
                let (space, next) = past_space(after, eof)?;
                let gap = after.get(..space).unwrap_or_default();
                if length == 0 || next.first() != Some(&b'{') || !gap.contains(&b'\n') {
                    return Some(None);
                }
                let name =
                    String::from_utf8_lossy(rest.get(..length).unwrap_or_default()).into_owned();
                let Some(tool) = setup.tools.known(&name) else { return Some(None) };
                let begins = place.is_line_start() || !place.seat.is_said();
                if !begins && !first_key(next, eof)?.is_some_and(|key| tool.has(&key)) {
                    return Some(None);
                }
                let opening = Opening::Frame(name, Markers::new([]), false);
                Some(Some(Decision::Open(row, opening, length + space)))
            }
            _ => Some(None),
        }
    }
}

/// The first key of the object at the start of `rest`. The outer `None` waits for more.
pub(super) fn first_key(rest: &[u8], eof: bool) -> Option<Option<String>> {
    let (_, inside) = past_space(rest.get(1..).unwrap_or_default(), eof)?;
    let Some((quote @ (b'"' | b'\''), key)) = inside.split_first() else { return Some(None) };
    let (key, eof) = window(key, LONGEST_NAME, eof);
    match key.iter().position(|byte| byte == quote) {
        Some(length) => {
            Some(key.get(..length).map(|key| String::from_utf8_lossy(key).into_owned()))
        }
        None if eof => Some(None),
        None => None,
    }
}
