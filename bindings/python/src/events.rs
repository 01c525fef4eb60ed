//! The events of a response, as objects.

use pyo3::{
    PyTraverseError, PyVisit,
    prelude::*,
    types::{PyString, PyTuple},
};
use wiremend::{
    response::Event,
    wire::{Block, StreamOutcome},
};
use wiremend_plain::Pieces;

use crate::{
    calls::{Call, FittedCall},
    mended::{Mended, Origin},
    repair::{self, shown},
    result::ResultBase,
    schema::{Fitted, Issue},
};

/// The fields of an event, and how it is shown.
macro_rules! shows {
    ($name:ident: $($field:ident)* $(=> $visited:ident)?) => {
        #[pymethods]
        impl $name {
            $(
                fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
                    visit.call(&self.$visited)
                }
            )?

            #[classattr]
            #[pyo3(name = "__match_args__")]
            fn fields(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
                let fields: &[&str] = &[$(stringify!($field)),*];
                PyTuple::new(py, fields)
            }

            fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
                shown(slf.as_any(), stringify!($name), &[$(stringify!($field)),*])
            }
        }
    };
}

/// Events that are values: equal if their fields are.
macro_rules! values {
    ($($(#[$about:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? })*) => { $(
        $(#[$about])*
        #[pyclass(frozen, eq, get_all, module = "wiremend.events")]
        #[derive(PartialEq, Eq)]
        pub(crate) struct $name { $($field: $kind),* }

        shows!($name: $($field)*);
    )* };
}

/// Events with an object, which may have a value.
macro_rules! holders {
    ($($(#[$about:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? } $(=> $visited:ident)?)*) => { $(
        $(#[$about])*
        #[pyclass(frozen, get_all, module = "wiremend.events")]
        pub(crate) struct $name { $($field: $kind),* }

        shows!($name: $($field)* $(=> $visited)?);
    )* };
}

values! {
    /// More text. `choice`, `block` and `part` say which one it belongs to.
    Text { text: String, choice: u32, block: u32, part: u32 }

    /// More of the model's reasoning.
    Reasoning { text: String, choice: u32, block: u32, part: u32 }

    /// More of a refusal.
    Refusal { text: String, choice: u32, block: u32, part: u32 }

    /// All text of the block so far was reasoning.
    TextWasReasoning { choice: u32, block: u32, part: u32 }

    /// A source that the provider cites: its own JSON.
    Citation { json: String, choice: u32, block: u32, part: u32 }

    /// A call began. Its id and name are there if the stream has sent them yet.
    CallBegan { number: usize, name: Option<String>, id: Option<String>, choice: u32, kind: &'static str }

    /// The name of a call became known, or grew.
    CallNamed { number: usize, name: String }

    /// More of the arguments of a call, mended. For display only: `CallEnded` decides.
    CallFragment { number: usize, json: String }

    /// More of a call that is not JSON, as it came.
    CallRaw { number: usize, text: String }

    /// A call in the text repeats an earlier one, so it is none.
    CallRestated { number: usize, name: String }

    /// A call in the text names a tool that does not exist, so it is text, which follows.
    UnknownTool { name: String, nearest: Option<String> }

    /// An object began in the text.
    ObjectBegan { number: usize, choice: u32, block: u32, part: u32 }

    /// More of an object, mended.
    ObjectFragment { number: usize, json: String }

    /// More of an object, as it came, from where mending stopped.
    ObjectRaw { number: usize, text: String }

    /// Something was lost, damaged or contradicted: no call that is open here is complete.
    Doubted { doubt: &'static str }

    /// An error inside the response.
    Error { kind: &'static str, message: String, code: Option<String>, error_type: Option<String> }

    /// A choice or message finished. `original` is the provider's word.
    Finish { reason: &'static str, choice: u32, original: String }

    /// Token counts, as far as they are known.
    Usage { input: Option<u64>, output: Option<u64>, cached: Option<u64>, reasoning: Option<u64> }

    /// The provider's format was recognised.
    FormatDetected { format: &'static str }

    /// The framing was recognised, or is another than it seemed.
    FramingDetected { framing: &'static str }

    /// Something that only keeps the connection open.
    KeepAlive {}

    /// A line or an event exceeded a limit and was dropped.
    Oversize { limit: usize }

    /// The payload in which the stream was cut off, as it came.
    Unfinished { text: String }

    /// The stream ended: the last event. `complete`, `cut`, `error`, `lossy`, `overflow` or `unrecognised`.
    Ended { outcome: &'static str, is_complete: bool }
}

holders! {
    /// A call ended. Run it only if `call.is_complete`; with tools, see `CallFitted`.
    CallEnded { call: Py<Call> } => call

    /// The same call, with the arguments that fit its tool. Only with tools.
    CallFitted { call: Py<FittedCall> } => call

    /// Something is wrong with a call that no further text can fix. With the standing `lost`, no rule can either.
    CallIssue { number: usize, issue: Py<Issue>, standing: &'static str }

    /// An object ended.
    ObjectEnded { object: Py<Object> } => object

    /// The result of fitting an object, or a text without one, to the schema. Only with a schema.
    ObjectFitted { fitted: Option<Py<Fitted>>, number: Option<usize>, is_complete: bool } => fitted

    /// Something is wrong with an object that no further text can fix. With the standing `lost`, no rule can either.
    ObjectIssue { number: usize, issue: Py<Issue>, standing: &'static str }

    /// An envelope was broken JSON, and was mended before it was read.
    EnvelopeMended { mended: Py<Mended> } => mended
}

/// An object in the text of a response.
#[pyclass(frozen, extends = ResultBase, module = "wiremend")]
pub(crate) struct Object(wiremend::response::Object);

impl Object {
    fn new(py: Python<'_>, object: wiremend::response::Object) -> PyResult<Bound<'_, Self>> {
        let text = object.json().map(|json| PyString::new(py, json));
        ResultBase::new(text, object.outcome().is_complete()).with(py, Self(object))
    }
}

#[pymethods]
impl Object {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH: (&'static str, &'static str) = ("outcome", "text");

    /// Its number, from 0.
    #[getter]
    const fn number(&self) -> usize {
        self.0.number()
    }

    /// How it ended.
    #[getter]
    const fn outcome(&self) -> &'static str {
        self.0.outcome().code()
    }

    /// The repairs, in order, relative to the text of its block.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mended = self.0.json().unwrap_or_default();
        repair::of_mended(py, mended.as_bytes(), self.0.offset(), self.0.repairs())
    }

    /// Where it was cut off, if it was.
    #[getter]
    fn cut_at(&self) -> Option<String> {
        self.0.cut_at().map(ToString::to_string)
    }

    /// Why it is not complete, although it may look so.
    #[getter]
    fn doubt(&self) -> Option<&'static str> {
        self.0.doubt().map(wiremend::wire::Doubt::code)
    }
}

/// The object of an event. `None` for an event that shows nothing.
pub(crate) fn object_of<'py>(
    py: Python<'py>,
    event: Event,
    pieces: &mut Pieces<(bool, usize)>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(Some(match event {
        Event::Text { block, text, .. } => {
            let (choice, block, part) = place(block);
            any(py, Text { text, choice, block, part })?
        }
        Event::Reasoning { block, text, .. } => {
            let (choice, block, part) = place(block);
            any(py, Reasoning { text, choice, block, part })?
        }
        Event::Refusal { block, text, .. } => {
            let (choice, block, part) = place(block);
            any(py, Refusal { text, choice, block, part })?
        }
        Event::TextWasReasoning { block, .. } => {
            let (choice, block, part) = place(block);
            any(py, TextWasReasoning { choice, block, part })?
        }
        Event::Citation { block, json, .. } => {
            let (choice, block, part) = place(block);
            any(py, Citation { json, choice, block, part })?
        }
        Event::CallBegan { call, choice, kind, id, name, .. } => {
            any(py, CallBegan { number: call, name, id, choice, kind: kind.code() })?
        }
        Event::CallNamed { call, name, .. } => any(py, CallNamed { number: call, name })?,
        Event::CallFragment { call, json, .. } => {
            let json = pieces.whole((true, call), json);
            any(py, CallFragment { number: call, json })?
        }
        Event::CallRaw { call, text, .. } => {
            let text = pieces.whole((true, call), text);
            any(py, CallRaw { number: call, text })?
        }
        Event::CallEnded(call) => {
            pieces.end(&(true, call.number()));
            any(py, CallEnded { call: Call::of(py, call)?.unbind() })?
        }
        Event::CallFitted(fitted) => {
            any(py, CallFitted { call: FittedCall::of(py, &fitted)?.unbind() })?
        }
        Event::CallIssue { call, issue, .. } => {
            let standing = issue.standing().code();
            any(
                py,
                CallIssue { number: call, issue: Py::new(py, Issue::of(issue.issue()))?, standing },
            )?
        }
        Event::CallRestated { call, name, .. } => any(py, CallRestated { number: call, name })?,
        Event::UnknownTool { name, nearest, .. } => any(py, UnknownTool { name, nearest })?,
        Event::ObjectBegan { object, block, .. } => {
            let (choice, block, part) = place(block);
            any(py, ObjectBegan { number: object, choice, block, part })?
        }
        Event::ObjectFragment { object, json, .. } => {
            let json = pieces.whole((false, object), json);
            any(py, ObjectFragment { number: object, json })?
        }
        Event::ObjectRaw { object, text, .. } => {
            let text = pieces.whole((false, object), text);
            any(py, ObjectRaw { number: object, text })?
        }
        Event::ObjectEnded(object) => {
            pieces.end(&(false, object.number()));
            any(py, ObjectEnded { object: Object::new(py, *object)?.unbind() })?
        }
        Event::ObjectFitted(object) => {
            let fitted = object.fitted().map(|fitted| Fitted::new(py, None, fitted.clone()));
            let fitted = fitted.transpose()?.map(Bound::unbind);
            let is_complete = object.outcome().is_complete();
            any(py, ObjectFitted { fitted, number: object.object(), is_complete })?
        }
        Event::ObjectIssue { object, issue, .. } => {
            let standing = issue.standing().code();
            any(
                py,
                ObjectIssue {
                    number: object,
                    issue: Py::new(py, Issue::of(issue.issue()))?,
                    standing,
                },
            )?
        }
        Event::Doubted(doubt) => any(py, Doubted { doubt: doubt.code() })?,
        Event::EnvelopeMended(mended) => {
            let cut_at = mended.cut_at().cloned();
            let (outcome, text, repairs) = mended.into_parts();
            let origin = Origin::Chunks(text.clone().unwrap_or_default().into_bytes());
            let text = text.map(|text| PyString::new(py, &text));
            let (base, mended) = Mended::new(origin, outcome, text, repairs, cut_at);
            any(py, EnvelopeMended { mended: base.with(py, mended)?.unbind() })?
        }
        Event::Error(error) => any(
            py,
            Error {
                kind: error.kind().code(),
                message: error.message().to_owned(),
                code: error.code().map(str::to_owned),
                error_type: error.error_type().map(str::to_owned),
            },
        )?,
        Event::Finish(finish) => any(
            py,
            Finish {
                reason: finish.reason().code(),
                choice: finish.choice(),
                original: finish.original().to_owned(),
            },
        )?,
        Event::Usage(usage) => any(
            py,
            Usage {
                input: usage.input(),
                output: usage.output(),
                cached: usage.cached(),
                reasoning: usage.reasoning(),
            },
        )?,
        Event::FormatDetected(format) => any(py, FormatDetected { format: format.code() })?,
        Event::FramingDetected(framing) => any(py, FramingDetected { framing: framing.code() })?,
        Event::KeepAlive => any(py, KeepAlive {})?,
        Event::Oversize { limit, .. } => any(py, Oversize { limit })?,
        Event::Unfinished(text) => any(py, Unfinished { text })?,
        Event::Ended(outcome) => any(
            py,
            Ended { outcome: outcome.code(), is_complete: outcome == StreamOutcome::Complete },
        )?,
        _ => return Ok(None),
    }))
}

fn any<T: pyo3::PyClass + Into<pyo3::PyClassInitializer<T>>>(
    py: Python<'_>,
    event: T,
) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, event)?.into_any())
}

const fn place(block: Block) -> (u32, u32, u32) {
    (block.choice(), block.block(), block.part())
}
