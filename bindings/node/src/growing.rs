//! Texts that arrive, and values that grow.

use serde::ser::{Serialize, SerializeSeq as _, Serializer};
use wiremend::{
    Output, Partial, Repair,
    partial::{DeltaOp, Deltas, Revision},
    repair::{Path, Repairs, Step},
};

use crate::{
    answer::Answer,
    host::{CHANGES, CLOSE, FEED},
    options::Options,
    texts::of_pieces,
};

/// Mends a text while it arrives.
pub(crate) struct Mender {
    mender: wiremend::Mender,
    emitted: Emitted,
    growing: Growing,
    /// How much of the text was returned.
    returned: usize,
}

#[derive(Default)]
struct Emitted {
    text: Vec<u8>,
    repairs: Repairs,
}

impl Output for Emitted {
    fn copy(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }
    fn repair(&mut self, repair: Repair) {
        self.repairs.push(&repair);
    }
}

impl Mender {
    pub(crate) fn new(options: &Options) -> Result<Self, String> {
        Ok(Self {
            mender: wiremend::Mender::new(options.mending("permissive", "first")?),
            emitted: Emitted::default(),
            growing: Growing::default(),
            returned: 0,
        })
    }

    pub(crate) fn run(
        &mut self,
        operation: u32,
        text: &[u8],
        to: &mut Answer,
    ) -> Result<(), String> {
        let Self { mender, emitted, growing, returned } = self;
        match operation {
            FEED => {
                mender.push(text, &mut (&mut *emitted, &mut growing.partial));
                let completion = mender.completion().map(|rest| rest.to_string());
                to.json(&(completion, mender.outcome().map(wiremend::Outcome::code)))?;
                let new = emitted.text.get(*returned..).unwrap_or_default();
                // Up to the last whole character.
                let whole = match std::str::from_utf8(new) {
                    Err(error) if error.error_len().is_none() => error.valid_up_to(),
                    _ => new.len(),
                };
                *returned += whole;
                to.push(new.get(..whole).unwrap_or_default());
                Ok(())
            }
            CLOSE => {
                let outcome = mender.finish(&mut (&mut *emitted, &mut growing.partial));
                let Emitted { text, repairs } = emitted;
                let json = outcome.is_valid() && std::str::from_utf8(text).is_ok();
                let cut = matches!(outcome, wiremend::Outcome::Closed | wiremend::Outcome::Cut);
                let cut_at = cut.then(|| mender.path());
                to.json(&of_pieces(outcome, text, 0, repairs, cut_at.as_ref(), json))?;
                if json {
                    to.push(text);
                }
                Ok(())
            }
            CHANGES => growing.changes(to),
            _ => Err("a mender cannot do that".to_owned()),
        }
    }
}

/// A value of mended text that grows.
#[derive(Default)]
pub(crate) struct Growing {
    partial: Partial,
    seen: Revision,
}

impl Growing {
    /// Reads mended text, and answers with what changed.
    pub(crate) fn run(&mut self, text: &[u8], to: &mut Answer) -> Result<(), String> {
        self.partial.copy(text);
        self.partial.settle();
        self.changes(to)
    }

    fn changes(&mut self, to: &mut Answer) -> Result<(), String> {
        to.json(&Changes(self.partial.since(&self.seen)))?;
        self.seen = self.partial.revision();
        Ok(())
    }
}

/// Changes, each in one or two items of a list: `1` and a key or null for an array, `2` for an object, `3` for a string, `4`
/// and a text that the string grows by, `5` for an end; `6`, a key and JSON for anything else.
///
/// All of them happen at the end of the value, so they need no paths.
struct Changes<'a>(Deltas<'a>);

impl Serialize for Changes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for delta in self.0.clone() {
            let opened = match delta.op() {
                DeltaOp::AddArray => 1,
                DeltaOp::AddObject => 2,
                DeltaOp::AddString => 3,
                DeltaOp::Append(text) => {
                    list.serialize_element(&4)?;
                    list.serialize_element(&text)?;
                    continue;
                }
                DeltaOp::Close => {
                    list.serialize_element(&5)?;
                    continue;
                }
                _ => 6,
            };
            list.serialize_element(&opened)?;
            list.serialize_element(&key(&delta.path()))?;
            match delta.op() {
                DeltaOp::AddBool(value) => list.serialize_element(&value)?,
                DeltaOp::AddNull => list.serialize_element(&())?,
                // As written: the host reads it as it reads any number.
                DeltaOp::AddNumber(number) => list.serialize_element(&format!("{number}"))?,
                _ => {}
            }
        }
        list.end()
    }
}

/// The key of a member. `None` for an item, and for the value itself.
fn key(path: &Path) -> Option<&str> {
    match path.steps().last() {
        Some(Step::Key(key)) => Some(key),
        _ => None,
    }
}
