//! A cursor follows a schema while a value arrives.

mod ahead;
mod begun;
mod finding;
mod origin;
mod partial;
mod places;
mod salvage;
mod scalars;
mod spelling;
mod stream;
mod walk;

use serde_json::Value;
use wiremend_core::{EventReader, Output, Repair, RepairKind};

pub use ahead::Expected;
pub use finding::{Finding, Standing};
pub use partial::{NodeState, Snapshot};
pub use stream::FitStream;

use crate::{Applied, Change, FitOptions, Schema};
use walk::Walk;

/// Follows a schema while a value is still arriving.
///
/// A cursor is an [`Output`]: pass it to a [`Mender`](wiremend_core::Mender). It knows what is
/// [expected](Self::expected) next, converts scalars to their types when they end, reports as soon
/// as [nothing valid can follow](Self::findings), and keeps the [value so far](Self::root), with a
/// state for each node. Of several documents, it follows the first.
///
/// A union is followed in every branch that is still possible. Conditions that need the whole value
/// are not checked: whether items are unique, `if`, `not`, and the rules that restructure an
/// object. [`Schema::fit`] checks them at the end, and [`FitStream`] does both.
///
/// ```
/// use wiremend_core::{Mender, Options};
/// use wiremend_schema::{Cursor, FitOptions, NodeState, Schema, Standing};
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
/// # Ok::<(), wiremend_schema::SchemaError>(())
/// ```
///
/// The cost of a chunk depends on its own size, not on what came before. The cursor keeps the value
/// so far, a few words per level, and the places of the schema that were visited.
#[derive(Clone, Debug)]
pub struct Cursor {
    reader: EventReader,
    walk: Walk,
}

impl Cursor {
    /// Creates a cursor at the start of a value. The highest risk, the enabled rules and the name
    /// are taken from `options`. Scalars are coerced by rules up to
    /// [`Risk::Likely`](wiremend_core::Risk::Likely) at most.
    #[must_use]
    pub fn new(schema: &Schema, options: &FitOptions) -> Self {
        Self { reader: EventReader::new(), walk: Walk::new(schema, options) }
    }

    /// The text ends with the value: nothing that follows belongs to it. For the other crates.
    #[doc(hidden)]
    pub const fn end_with_root(&mut self) {
        self.walk.ends_with_root = true;
    }

    /// The text may be read otherwise in the end, so nothing that is found from here on is
    /// [`Standing::Lost`]. For the other crates: a repair that the cursor is told of counts by itself.
    #[doc(hidden)]
    pub const fn doubt_reading(&mut self) {
        self.walk.unsure = true;
    }

    /// The value so far; `None` until it begins.
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

    /// The problems that no further input can fix, in the order in which they were found; at most
    /// 1,000. A finding is never withdrawn. It can be wrong only if its key is repeated later,
    /// because the last value of a key counts.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        self.walk.findings()
    }

    /// The first finding that no rule can fix either, which is a reason to stop the generation.
    ///
    /// There is none under a policy that allows guesses, because such a policy gives up on nothing
    /// early. See [`Policy::CONSERVATIVE`](wiremend_core::Policy::CONSERVATIVE). Nor is there one after a
    /// repair of a higher risk than [`Exact`](wiremend_core::Risk::Exact), such as a missing comma: the
    /// whole text may show another reading. That a property is missing at the end of the value is not
    /// one, because the bracket may be one too many.
    #[must_use]
    pub fn lost(&self) -> Option<&Finding> {
        self.walk.findings().iter().find(|finding| finding.standing() == Standing::Lost)
    }

    /// What is missing so far, outermost first: required properties and items of open objects and
    /// arrays, and the rest of a listed value. The cost grows with the number of requirements of
    /// the open objects.
    #[must_use]
    pub fn pending(&self) -> Vec<Finding> {
        self.walk.pending()
    }

    /// The scalars that were coerced, in order, with their positions in the original input. Each
    /// change includes the repairs within its bytes.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        self.walk.changes()
    }

    /// The same changes, with the rules that made them.
    #[must_use]
    pub fn applied(&self) -> &[Applied] {
        self.walk.applied()
    }

    /// Starts over with the next value. The buffers, and what is known about the schema, are kept.
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

    /// Ends an open number or literal.
    fn settle(&mut self) {
        let walk = &mut self.walk;
        self.reader.end_token(&mut |at, event| walk.step(at, event));
    }

    /// Raw text is ignored.
    fn raw(&mut self) {
        self.reader.stop();
    }

    fn repair(&mut self, repair: Repair) {
        // A number that came in one slice with what is repaired after it ends as early as by itself.
        if !is_of_number(repair.kind()) {
            self.settle();
        }
        self.walk.repaired(self.reader.offset(), &repair);
    }
}

/// Whether a repair may be inside of a number.
const fn is_of_number(kind: RepairKind) -> bool {
    use RepairKind::{
        CutNumber, DigitSeparator, Fraction, HexNumber, LeadingDot, LeadingPlus, LeadingZero,
        NonFinite, TrailingDot,
    };
    matches!(
        kind,
        CutNumber
            | DigitSeparator
            | Fraction
            | HexNumber
            | LeadingDot
            | LeadingPlus
            | LeadingZero
            | NonFinite
            | TrailingDot
    )
}

/// A listed value as JSON text.
fn spelled(option: &Value) -> String {
    option.to_string()
}
