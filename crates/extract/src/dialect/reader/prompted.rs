//! The beginning of an answer to a prompt that ends inside of a header.

use super::{
    CallExtractor,
    decide::{Decision, LONGEST_NAME, Opening},
};
use crate::dialect::{
    frames::Turn,
    json::past_space,
    python::is_name,
    setup::Setup,
    shape::{Frames, Named, Shape},
};

/// What every kind of content of Inkling begins with, after the name of a tool.
const CONTENT: &[u8] = b"<|content_";

impl CallExtractor {
    /// What the text begins with, if it goes on with a header that the prompt has opened. The outer `None`
    /// waits for more.
    pub(super) fn rest_of_header(
        &self,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
    ) -> Option<Option<Decision>> {
        let length = rest.iter().take(LONGEST_NAME).take_while(|byte| is_name(**byte)).count();
        if length == 0 || length == LONGEST_NAME {
            return Some(None);
        }
        let (name, after) = rest.split_at(length);
        if after.is_empty() && !eof {
            return None;
        }
        let name = String::from_utf8_lossy(name).into_owned();
        for (row, dialect) in setup.rows.iter().enumerate() {
            if dialect.frames == Some(Frames::Inkling) {
                if after.starts_with(CONTENT) {
                    return Some(Some(Decision::Turn(row, Turn::Text, length)));
                }
                if CONTENT.starts_with(after) && !eof {
                    return None;
                }
            }
            for (shape, own) in dialect.shapes.iter().enumerate() {
                let Shape::Named(named) = own else { continue };
                if !named.prompted {
                    continue;
                }
                match addressed(named, &name, after, eof)? {
                    Addressed::User(gap) => {
                        return Some(Some(Decision::Markup(length + gap)));
                    }
                    Addressed::Tool(gap) => {
                        let opening = Opening::Named(shape, name, None, false);
                        return Some(Some(Decision::Open(row, opening, length + gap)));
                    }
                    Addressed::Nobody => {}
                }
            }
        }
        Some(None)
    }
}

/// Whom a header addresses, and the length of what ends it.
enum Addressed {
    User(usize),
    Tool(usize),
    Nobody,
}

/// Reads what follows a name that may be all of a header. Without the marker, only arguments make it the name
/// of a tool. `None` waits for more.
fn addressed(named: &Named, name: &str, after: &[u8], eof: bool) -> Option<Addressed> {
    let mut gap = 0;
    let end = named.name_end.as_bytes();
    if after == b"\r" && !eof {
        return None;
    }
    for spelled in [end, b"\r\n"] {
        if after.starts_with(spelled) {
            gap = spelled.len();
        }
    }
    if gap == 0 {
        return Some(Addressed::Nobody);
    }
    if named.text_names.iter().any(|text| text == name) {
        return Some(Addressed::User(gap));
    }
    let (_, next) = past_space(after.get(gap..).unwrap_or_default(), eof)?;
    Some(if next.first() == Some(&b'{') { Addressed::Tool(gap) } else { Addressed::Nobody })
}
