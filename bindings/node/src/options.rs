//! Options of operations.

use serde::Deserialize;
use wiremend::MendOptions;
#[cfg(feature = "wire")]
use wiremend::wire::FinishReason;
use wiremend_plain::Unit;

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
        self.mending_with(self.policy.as_deref().unwrap_or(policy), documents)
    }

    /// The same, with a policy that is no option of this name.
    pub(crate) fn mending_with(
        &self,
        policy: &str,
        documents: &str,
    ) -> Result<MendOptions, String> {
        let documents = self.documents.as_deref().unwrap_or(documents);
        let (depth, search) = (self.depth.unwrap_or(127), self.search.unwrap_or(true));
        wiremend_plain::mending(policy, &self.without, documents, depth, search)
    }

    /// What the places in the text count.
    pub(crate) const fn unit(&self) -> Unit {
        if self.string { Unit::Utf16 } else { Unit::Byte }
    }

    /// How the turn of a call ended.
    #[cfg(feature = "wire")]
    pub(crate) fn finish(&self) -> FinishReason {
        FinishReason::from_provider(self.finish_reason.as_deref().unwrap_or_default())
    }
}
