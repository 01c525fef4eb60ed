//! A cursor walks the schema while the text arrives.

mod ahead;
mod finding;
mod origin;
mod partial;
mod places;
mod salvage;
mod scalars;
mod spelling;
mod stream;
mod walk;

use jsonmend_core::{EventReader, Output, Repair};
use serde_json::Value;

pub use ahead::Expected;
pub use finding::{Finding, Standing};
pub use partial::{NodeState, Snapshot};
pub use stream::FitStream;

use crate::{Applied, Change, FitOptions, Schema};
use walk::Walk;

/// Walks a schema beside a value that is still arriving.
///
/// It is an [`Output`]: feed it what a [`Mender`](jsonmend_core::Mender) puts out. It knows what is
/// [expected](Self::expected) next, converts scalars to their types as they close, reports at the byte
/// that settles it that [nothing valid can follow](Self::findings), and holds the
/// [value so far](Self::root) with a state a node. Of several documents it follows the first.
///
/// A union is followed in all its branches that are still possible. What needs the whole value is
/// not followed: whether items are different, `if`, `not`, and the rules that change the form of
/// an object. [`Schema::fit`] decides them at the end; [`FitStream`] does both.
///
/// ```
/// use jsonmend_core::{Mender, Options};
/// use jsonmend_schema::{Cursor, FitOptions, NodeState, Schema, Standing};
///
/// let schema = Schema::from_text(
///     r#"{"properties": {"count": {"type": "integer"}, "unit": {"enum": ["kg", "lb"]}},
///         "required": ["count"], "additionalProperties": false}"#,
/// )?;
/// let mut cursor = Cursor::new(&schema, &FitOptions::new());
/// let mut mender = Mender::new(Options::new());
/// mender.push(b"{count: '4", &mut cursor);
/// assert_eq!(cursor.root().unwrap().to_string(), "{}", "it will be a number");
/// mender.push(b"2', unit: 'k", &mut cursor);
/// assert_eq!(cursor.root().unwrap().to_string(), r#"{"count":42}"#);
/// assert_eq!(cursor.root().unwrap().member("count").unwrap().state(), NodeState::Final);
/// assert_eq!(cursor.expected().values(), ["kg"]);
/// mender.push(b"m'}", &mut cursor);
/// mender.finish(&mut cursor);
/// assert_eq!(cursor.findings()[0].standing(), Standing::Definite);
/// assert_eq!(cursor.findings()[0].to_string(), r#"/unit: expected one of "kg", "lb", got string "km""#);
/// # Ok::<(), jsonmend_schema::SchemaError>(())
/// ```
///
/// The cost of a chunk grows with the chunk, not with what came before. Memory: the value so far,
/// some words a level, and the places of the schema that were visited.
#[derive(Clone, Debug)]
pub struct Cursor {
    reader: EventReader,
    walk: Walk,
}

impl Cursor {
    /// A cursor at the start of a value. The highest risk, the switches and the name are those of
    /// `options`; scalars are coerced up to [`Risk::Likely`](jsonmend_core::Risk::Likely) at most.
    #[must_use]
    pub fn new(schema: &Schema, options: &FitOptions) -> Self {
        Self { reader: EventReader::new(), walk: Walk::new(schema, options) }
    }

    /// The value so far; `None` before it has begun.
    #[must_use]
    pub fn root(&self) -> Option<Snapshot<'_>> {
        self.walk.partial().root()
    }

    /// Whether the value has ended.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.walk.is_done()
    }

    /// How many bytes of mended text it has read.
    #[must_use]
    pub const fn bytes_read(&self) -> usize {
        self.reader.offset()
    }

    /// What may come next.
    #[must_use]
    pub fn expected(&self) -> Expected<'_> {
        self.walk.expected()
    }

    /// What more text cannot make valid, in the order in which it was found; at most 1,000. A finding
    /// is never withdrawn. Only a key that comes twice can prove one wrong: its last value counts.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        self.walk.findings()
    }

    /// The first finding that no rule can mend either: a reason to stop the generation.
    ///
    /// A policy that allows guesses gives up nothing early, so there is none; see
    /// [`Policy::CONSERVATIVE`](jsonmend_core::Policy::CONSERVATIVE).
    #[must_use]
    pub fn lost(&self) -> Option<&Finding> {
        self.walk.findings().iter().find(|finding| finding.standing() == Standing::Lost)
    }

    /// What is missing so far, outermost first: required properties and items of what is open, the
    /// rest of a named value. Costs as much as the open objects ask for.
    #[must_use]
    pub fn pending(&self) -> Vec<Finding> {
        self.walk.pending()
    }

    /// The scalars that were coerced, in order, with their places in the input as given. Each
    /// includes the repairs within its bytes.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        self.walk.changes()
    }

    /// The same, with the rules that did it.
    #[must_use]
    pub fn applied(&self) -> &[Applied] {
        self.walk.applied()
    }

    /// Starts over with the next value; keeps the buffers and what is known of the schema.
    pub fn reset(&mut self) {
        self.reader.reset();
        self.walk.reset();
    }
}

impl Output for Cursor {
    fn copy(&mut self, bytes: &[u8]) {
        let walk = &mut self.walk;
        self.reader.read(bytes, &mut |at, event| walk.step(at, event));
    }

    /// A number or literal that is open is whole.
    fn settle(&mut self) {
        let walk = &mut self.walk;
        self.reader.end_token(&mut |at, event| walk.step(at, event));
    }

    /// Raw text is not read.
    fn raw(&mut self) {
        self.reader.stop();
    }

    fn repair(&mut self, repair: Repair) {
        self.walk.repaired(self.reader.offset(), &repair);
    }
}

/// The text of a value that an option lists, as JSON.
fn spelled(option: &Value) -> String {
    option.to_string()
}
