//! Messages in the shapes of providers.

use serde_json::{Value, json};

/// The API that a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// `messages` of the Messages API of Anthropic.
    Anthropic,
    /// `contents` of Gemini.
    Gemini,
    /// `messages` of OpenAI's Chat Completions, and of everything that copies them.
    OpenAiChat,
    /// `input` of OpenAI's Responses.
    OpenAiResponses,
}

impl Shape {
    /// All shapes, in alphabetical order.
    pub const ALL: &'static [Self] =
        &[Self::Anthropic, Self::Gemini, Self::OpenAiChat, Self::OpenAiResponses];

    /// A message of the user.
    ///
    /// ```
    /// use wiremend_reask::Shape;
    /// let message = Shape::Gemini.user("Hello");
    /// assert_eq!(message.to_string(), r#"{"role":"user","parts":[{"text":"Hello"}]}"#);
    /// ```
    #[must_use]
    pub fn user(self, text: &str) -> Value {
        match self {
            Self::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
            Self::Anthropic | Self::OpenAiChat | Self::OpenAiResponses => {
                json!({"role": "user", "content": text})
            }
        }
    }

    /// A message of the model.
    #[must_use]
    pub fn assistant(self, text: &str) -> Value {
        match self {
            Self::Gemini => json!({"role": "model", "parts": [{"text": text}]}),
            // Anthropic refuses white space at the end of the model's text.
            Self::Anthropic => json!({"role": "assistant", "content": text.trim_end()}),
            Self::OpenAiChat | Self::OpenAiResponses => {
                json!({"role": "assistant", "content": text})
            }
        }
    }

    /// The result of a call, which failed: `id` is that of the call. Gemini goes by the name, and `id` may be empty.
    ///
    /// ```
    /// use wiremend_reask::Shape;
    /// let message = Shape::Anthropic.tool_result("c1", "add", "no");
    /// assert_eq!(message["content"][0]["is_error"], true);
    /// ```
    #[must_use]
    pub fn tool_result(self, id: &str, name: &str, text: &str) -> Value {
        match self {
            Self::Anthropic => json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "is_error": true, "content": text},
            ]}),
            Self::Gemini => {
                let mut result = json!({"name": name, "response": {"error": text}});
                if !id.is_empty() {
                    result["id"] = json!(id);
                }
                json!({"role": "user", "parts": [{"functionResponse": result}]})
            }
            Self::OpenAiChat => json!({"role": "tool", "tool_call_id": id, "content": text}),
            Self::OpenAiResponses => {
                json!({"type": "function_call_output", "call_id": id, "output": text})
            }
        }
    }
}
