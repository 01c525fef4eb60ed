//! The last answers, for `/repairs`.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use crate::{account::Account, metrics::Elapsed, request::Fixed};

/// What is known about a request, for the list and for labels. Nothing of its headers, its query or its body.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) upstream: String,
    pub(crate) model: String,
    pub(crate) status: u16,
    pub(crate) fixed: Fixed,
}

/// The last answers.
#[derive(Debug)]
pub(crate) struct Recent {
    kept: usize,
    answers: Mutex<VecDeque<Value>>,
}

impl Recent {
    pub(crate) const fn new(kept: usize) -> Self {
        Self { kept, answers: Mutex::new(VecDeque::new()) }
    }

    pub(crate) fn note(&self, account: &Account, about: &About, elapsed: Elapsed) {
        if self.kept == 0 {
            return;
        }
        let calls = account.calls.iter().map(|call| {
            let repairs = call.repairs.iter().map(
                |(code, risk, count)| json!({"code": code, "risk": risk.code(), "count": count}),
            );
            let repairs: Vec<Value> = repairs.collect();
            let mut entry =
                json!({"tool": call.tool, "outcome": call.outcome.code(), "repairs": repairs});
            if call.issues > 0 {
                entry["issues"] = call.issues.into();
            }
            if let Some((came, left)) = &call.content {
                entry["came"] = came.as_str().into();
                entry["left"] = left.as_str().into();
            }
            entry
        });
        let calls: Vec<Value> = calls.collect();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let answer = json!({
            "unix_time": now.as_secs(),
            "upstream": about.upstream,
            "model": about.model,
            "status": about.status,
            "format": account.format.map(jsonmend_wire::ApiFormat::code),
            "outcome": account.verdict().code(),
            "account": account.line(),
            "calls": calls,
            "history": {"mended": about.fixed.mended, "replaced": about.fixed.replaced},
            "milliseconds": elapsed.total.as_millis() as u64,
            "overhead_microseconds": account.overhead.as_micros() as u64,
        });
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.truncate(self.kept - 1);
        answers.push_front(answer);
    }

    /// The answers, the last one first.
    pub(crate) fn list(&self) -> Value {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        json!({ "answers": answers.iter().collect::<Vec<_>>() })
    }
}
