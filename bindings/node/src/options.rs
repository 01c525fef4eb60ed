//! Options of operations.

use serde::Deserialize;
use wiremend::{
    Limits, MendOptions, Policy, RepairKind, Risk, extract::Scope, repair::TrailingDocuments,
    wire::FinishReason,
};

/// The options of all operations. Each reads its own; the types of the package say which those are.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Options {
    pub(crate) policy: Option<String>,
    pub(crate) without: Vec<String>,
    pub(crate) documents: Option<String>,
    pub(crate) depth: Option<usize>,
    pub(crate) scope: Option<String>,
    pub(crate) search: Option<bool>,
    pub(crate) finish_reason: Option<String>,
    pub(crate) dialect: Option<String>,
    pub(crate) cut: bool,
    pub(crate) tools: u32,
    pub(crate) schema: u32,
    pub(crate) objects: Option<String>,
    pub(crate) calls_in_text: bool,
    pub(crate) format: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) text_policy: Option<String>,
    pub(crate) mending: Option<serde_json::Value>,
    pub(crate) held_bytes: Option<usize>,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) status: u16,
    /// The text is a string of the host, whose places are counted in UTF-16.
    pub(crate) string: bool,
    /// Repairs are listed. It takes longer than to make them.
    pub(crate) list: bool,
}

impl Options {
    pub(crate) fn read(options: &[u8]) -> Result<Self, String> {
        if options.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_slice(options).map_err(|error| format!("options: {error}"))
    }

    /// How a text is mended.
    pub(crate) fn mending(&self, policy: &str, documents: &str) -> Result<MendOptions, String> {
        let policy = self.policy.as_deref().unwrap_or(policy);
        self.mending_with(policy, self.documents.as_deref().unwrap_or(documents))
    }

    /// How the turn of a call ended.
    pub(crate) fn finish(&self) -> FinishReason {
        FinishReason::from_provider(self.finish_reason.as_deref().unwrap_or_default())
    }

    /// The same, with a policy that is no option of this name.
    pub(crate) fn mending_with(
        &self,
        policy: &str,
        documents: &str,
    ) -> Result<MendOptions, String> {
        let policy = match policy {
            "permissive" => Policy::PERMISSIVE,
            "conservative" => Policy::CONSERVATIVE,
            "strict" => Policy::STRICT,
            risk => {
                let known = "'strict', 'conservative', 'permissive' or a risk";
                let risk = Risk::from_code(risk).ok_or_else(|| wrong("policy", known, risk))?;
                Policy::PERMISSIVE.at_most(risk)
            }
        };
        let policy = self.without.iter().try_fold(policy, |policy, code| {
            let kind = RepairKind::from_code(code);
            kind.map(|kind| policy.without(kind))
                .ok_or_else(|| format!("no repair has the code {code:?}"))
        })?;
        let documents = match documents {
            "array" => TrailingDocuments::Array,
            "error" => TrailingDocuments::Error,
            "first" => TrailingDocuments::First,
            "last" => TrailingDocuments::Last,
            other => return Err(wrong("documents", "'array', 'first', 'last' or 'error'", other)),
        };
        let depth = self.depth.unwrap_or(127);
        Ok(MendOptions::new()
            .with_policy(policy)
            .with_trailing_documents(documents)
            .with_limits(Limits::new().with_depth(depth)))
    }
}

/// Where to look for JSON in a text.
pub(crate) fn scope(code: &str) -> Result<Scope, String> {
    let known = "'all', 'best', 'fenced', 'first', 'last' or 'whole'";
    code.parse().map_err(|_| wrong("scope", known, code))
}

fn wrong(name: &str, known: &str, other: &str) -> String {
    format!("{name} must be {known}, not {other:?}")
}
