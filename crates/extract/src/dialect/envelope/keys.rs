//! The keys that models give the parts of a call.

use crate::dialect::arguments::Unescape;

pub(super) const NAMES: [&str; 8] = [
    "name",
    "function",
    "tool",
    "tool_name",
    "toolName",
    "function_name",
    "action",
    "recipient_name",
];
pub(super) const ARGUMENTS: [&str; 12] = [
    "arguments",
    "parameters",
    "params",
    "args",
    "input",
    "kwargs",
    "tool_input",
    "action_input",
    "function_args",
    "function_arguments",
    "tool_args",
    "tool_arguments",
];
pub(super) const IDS: [&str; 4] = ["id", "tool_call_id", "call_id", "toolCallId"];
pub(super) const LISTS: [&str; 7] =
    ["tool_calls", "toolCalls", "function_calls", "functionCalls", "calls", "tool_uses", "actions"];
/// Keys of an object that has the name and the arguments.
pub(super) const INNER: [&str; 8] = [
    "function",
    "function_call",
    "functionCall",
    "tool",
    "tool_call",
    "toolCall",
    "action",
    "command",
];
/// Keys that may be next to those of a call, or to a list of calls.
pub(super) const OTHERS: [&str; 17] = [
    "type",
    "index",
    "content",
    "needsMoreWork",
    "needs_more_work",
    "thought",
    "thoughts",
    "plan",
    "explanation",
    "reasoning",
    "thinking",
    "rationale",
    "analysis",
    "reason",
    "message",
    "role",
    "status",
];

/// Those of [`OTHERS`] that are as likely arguments, where a tool has a parameter with that name.
pub(super) const ARGUMENTS_TOO: [&str; 12] = [
    "analysis",
    "content",
    "explanation",
    "message",
    "plan",
    "rationale",
    "reason",
    "reasoning",
    "status",
    "thinking",
    "thought",
    "thoughts",
];

/// Keys of what came of a call.
pub(super) const RESULTS: [&str; 9] = [
    "output",
    "result",
    "response",
    "error",
    "observation",
    "stdout",
    "stderr",
    "exit_code",
    "returncode",
];

/// The keys of objects that may be calls, or may list calls.
pub(in crate::dialect) fn keys_of_calls() -> impl Iterator<Item = &'static str> {
    [&NAMES[..], &ARGUMENTS, &IDS, &LISTS, &INNER, &OTHERS].into_iter().flatten().copied()
}

/// Whether an object with this key may be a call, or may list calls.
pub(in crate::dialect) fn is_key_of_call(key: &str) -> bool {
    keys_of_calls().any(|own| own == key)
}

/// The longest name, key or identifier, in bytes.
pub(in crate::dialect) const LONGEST_NAME: usize = 256;

/// The value of a name or key, whose characters may be escaped.
pub(super) fn unescaped(token: &[u8]) -> String {
    let mut out = Vec::with_capacity(token.len());
    let mut decoder = Unescape::default();
    for &byte in token {
        decoder.push(byte, &mut out);
    }
    String::from_utf8_lossy(&out).into_owned()
}
