//! A request that is being answered, for the live page.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use serde_json::{Value, json};
use wiremend_core::Outcome;
use wiremend_wire::{ApiFormat, Rewriter, WireEvent};

use super::Live;
use crate::recent::unix_millis;

/// How many calls of an open answer are shown.
const CALLS: usize = 16;

/// How long a name is shown.
const NAME: usize = 128;

/// The most bytes of arguments of an open call that are shown.
const TEXT: usize = 4 << 10;

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Watched {
    id: u64,
    began: u64,
    upstream: String,
    content: bool,
    /// What has left of the answer.
    bytes: AtomicU64,
    /// How often something changed.
    version: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    model: String,
    status: u16,
    format: Option<ApiFormat>,
    calls: Vec<OpenCall>,
    /// How many there are, also of those that are not shown.
    begun: usize,
}

#[derive(Debug, Default)]
struct OpenCall {
    number: usize,
    tool: String,
    outcome: Option<Outcome>,
    /// The length of its arguments so far.
    bytes: usize,
    /// The beginning of what came, and of what left, if content is shown.
    came: String,
    left: Vec<u8>,
}

impl Watched {
    pub(super) fn new(id: u64, upstream: &str, content: bool) -> Self {
        Self {
            id,
            began: unix_millis(),
            upstream: upstream.to_owned(),
            content,
            bytes: AtomicU64::new(0),
            version: AtomicU64::new(1),
            known: Mutex::default(),
        }
    }

    /// The number of the request, from 1.
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// Says which model was asked.
    pub(crate) fn asks(&self, model: &str) {
        self.known().model = name_shown(model);
        self.changed();
    }

    /// Says that the answer has begun.
    pub(crate) fn answers(&self, status: u16) {
        self.known().status = status;
        self.changed();
    }

    /// Says how much more of it has left.
    pub(crate) fn passed(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.changed();
    }

    pub(crate) fn note(&self, event: &WireEvent<'_>) {
        self.changed();
        match *event {
            WireEvent::FormatDetected(format) => self.known().format = Some(format),
            WireEvent::CallBegan { call, name, .. } => {
                let tool = name_shown(name.unwrap_or_default());
                let begun = OpenCall { number: call, tool, ..OpenCall::default() };
                let mut known = self.known();
                // A body that is mended again has the same calls.
                if let Some(again) = known.calls.iter_mut().find(|open| open.number == call) {
                    *again = begun;
                    return;
                }
                known.begun += 1;
                if known.calls.len() < CALLS {
                    // Most answers have one.
                    known.calls.reserve_exact(1);
                    known.calls.push(begun);
                }
            }
            WireEvent::CallNamed { call, name } => {
                self.with_call(call, |open| open.tool = name_shown(name));
            }
            WireEvent::CallFragment { call, bytes } | WireEvent::CallRaw { call, bytes } => {
                self.with_call(call, |open| {
                    open.bytes += bytes.len();
                    if self.content {
                        let room = TEXT - open.left.len();
                        open.left.extend_from_slice(&bytes[..room.min(bytes.len())]);
                    }
                });
            }
            WireEvent::CallEnded(call) => self.with_call(call.number(), |open| {
                open.outcome = Some(call.outcome());
                open.bytes = call.arguments().len();
                if self.content {
                    open.came = begin(call.raw()).to_owned();
                    open.left = begin(call.arguments()).into();
                }
            }),
            _ => {}
        }
    }

    /// Takes what has come of the open calls, if somebody looks.
    pub(crate) fn look(&self, live: &Live, rewriter: &Rewriter) {
        if !self.content || !live.has_readers() {
            return;
        }
        for (number, came) in rewriter.open_calls() {
            self.with_call(number, |open| {
                let came = begin(came);
                if open.came.len() != came.len() {
                    came.clone_into(&mut open.came);
                    // Of a call that is held, nothing leaves that would say so.
                    self.changed();
                }
            });
        }
    }

    pub(super) fn row(&self) -> Value {
        let known = self.known();
        let calls = known.calls.iter().map(|call| {
            let mut entry = json!({
                "number": call.number,
                "tool": call.tool,
                "bytes": call.bytes,
                "outcome": call.outcome.map(Outcome::code),
            });
            if self.content {
                entry["came"] = call.came.as_str().into();
                entry["left"] = String::from_utf8_lossy(&call.left).into();
            }
            entry
        });
        let calls: Vec<Value> = calls.collect();
        json!({
            "id": self.id,
            "began": self.began,
            "upstream": self.upstream,
            "model": known.model,
            "status": known.status,
            "format": known.format.map(ApiFormat::code),
            "bytes": self.bytes(),
            "calls": calls,
            "begun": known.begun,
        })
    }

    fn with_call(&self, number: usize, change: impl FnOnce(&mut OpenCall)) {
        let mut known = self.known();
        if let Some(call) = known.calls.iter_mut().find(|call| call.number == number) {
            change(call);
        }
    }

    fn changed(&self) {
        self.version.fetch_add(1, Ordering::Relaxed);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning of a name.
pub(crate) fn name_shown(name: &str) -> String {
    name.chars().take(NAME).collect()
}

/// The beginning of a text.
fn begin(text: &str) -> &str {
    let end = (0..=TEXT.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}
