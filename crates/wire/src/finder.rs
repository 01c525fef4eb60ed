//! Calls in the text of a response, as another crate finds them.

use core::{fmt, ops::Range};
use std::sync::Arc;

use wiremend_core::{Mended, Outcome, Policy, Repairs};

use crate::Call;

/// Looks for calls in one text of a response, for a [`Rewriter`](crate::Rewriter) that sends them on in the
/// shape of the provider.
pub trait CallFinder: Send + Sync {
    /// Reads more of the text. Returns the offset up to which the text is certain to be no call that can be
    /// sent on. The text after it waits. It never goes back.
    fn push(&mut self, text: &str) -> usize;

    /// Ends the text. `clean`: the model ended it itself. Returns the stretches that consist of complete
    /// calls, in order and after the offset that was returned last. All other text stays.
    fn finish(&mut self, clean: bool) -> Vec<CallText>;
}

/// A stretch of text that consists of calls and their markers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallText {
    /// Where it is in the text, in bytes.
    pub span: Range<usize>,
    /// The calls.
    pub calls: Vec<TextCall>,
}

impl CallText {
    /// The calls that are there.
    #[must_use]
    pub const fn new(span: Range<usize>, calls: Vec<TextCall>) -> Self {
        Self { span, calls }
    }
}

/// A complete call that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextCall {
    /// The name of the tool.
    pub name: String,
    /// The name of the dialect in which it is written.
    pub dialect: String,
    /// The arguments as JSON text that the repairs are relative to: what the model wrote, or where its
    /// dialect is not JSON, what was decoded from it.
    pub raw: String,
    /// The arguments: an object, as valid JSON text.
    pub arguments: String,
    /// Whether they were mended.
    pub mended: bool,
    /// The repairs that lead from `raw` to `arguments`. Empty if a dialect that is not JSON was mended.
    pub repairs: Repairs,
}

impl TextCall {
    /// The call as one that has ended.
    pub(crate) fn to_call(&self, number: usize, choice: u32) -> Call {
        let outcome = if self.mended { Outcome::Repaired } else { Outcome::Unchanged };
        let text = Some(self.arguments.clone());
        let mended = Mended::new(outcome, text, self.repairs.clone(), None);
        let arguments = (self.raw.clone(), mended);
        Call::in_text((number, choice), (self.name.clone(), None), &self.dialect, arguments, None)
    }

    /// A call whose arguments are valid JSON text.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        dialect: impl Into<String>,
        arguments: impl Into<String>,
        mended: bool,
    ) -> Self {
        let (name, dialect, arguments) = (name.into(), dialect.into(), arguments.into());
        let raw = arguments.clone();
        Self { name, dialect, raw, arguments, mended, repairs: Repairs::new() }
    }

    /// Sets the text that was mended, and its repairs.
    #[must_use]
    pub fn with_repairs(mut self, raw: impl Into<String>, repairs: Repairs) -> Self {
        (self.raw, self.repairs) = (raw.into(), repairs);
        self
    }

    /// Whether a policy allows what was repaired. Where that is not known in detail, it was repaired under
    /// `used`, and a policy that allows less does not.
    pub(crate) fn is_allowed(&self, policy: &Policy, used: &Policy) -> bool {
        let unknown = self.mended && self.repairs.is_empty();
        self.repairs.iter().all(|repair| policy.permits(&repair))
            && !(unknown && policy.max_risk() < used.max_risk())
    }
}

/// Creates a finder for a text.
type Create = dyn Fn() -> Box<dyn CallFinder> + Send + Sync;

/// Creates a [`CallFinder`] for each text of a response. It is equal only to itself and its clones.
/// `TextCalls` of `wiremend-response` creates one for the dialects that models write.
#[derive(Clone)]
pub struct CallFinders(Arc<Create>);

impl CallFinders {
    /// Creates finders with a function, which is called once for each text.
    #[must_use]
    pub fn new(create: impl Fn() -> Box<dyn CallFinder> + Send + Sync + 'static) -> Self {
        Self(Arc::new(create))
    }

    pub(crate) fn create(&self) -> Box<dyn CallFinder> {
        (self.0)()
    }
}

impl fmt::Debug for CallFinders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFinders").finish_non_exhaustive()
    }
}

impl PartialEq for CallFinders {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CallFinders {}
