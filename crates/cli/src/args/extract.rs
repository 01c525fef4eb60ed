//! The command line of `wiremend extract`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{EngineArgs, ScopeArg};
use crate::exit::EXTRACT_CODES;

/// Find the tool calls in a text, mend their arguments, and print one JSON object per call, or per
/// segment of the text.
///
/// A call has its `name`, its `arguments` as JSON text, and an `outcome`: only one that is `whole` or
/// `repaired` may be run. Without --format, all dialects are looked for, and only the tools of --tools
/// turn text without markers into calls. docs/dialects.md lists the dialects.
#[derive(Debug, Args)]
#[command(after_help = EXTRACT_CODES)]
pub(crate) struct ExtractArgs {
    /// File with the text; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// The dialect of the calls, or the name of the model.
    #[arg(long, value_name = "DIALECT|MODEL", default_value = "auto")]
    pub(crate) format: String,

    /// What the prompt has already written of the answer, such as the `<tool_call>` at the end of a
    /// template. It is read before the text, and is no part of it.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) prefill: String,

    /// The text was cut off, as by a limit of tokens, and not ended by the model: its end closes no call.
    #[arg(long)]
    pub(crate) cut: bool,

    /// Tool declarations as OpenAI, Anthropic, Gemini or MCP write them, or a directory of schemas.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,

    /// What to print.
    #[arg(long, value_name = "WHAT", default_value = "calls")]
    pub(crate) emit: ExtractEmit,

    /// Where to look for documents, with --emit segments: all or fenced [default: all].
    #[arg(long, value_name = "WHERE")]
    pub(crate) scope: Option<ScopeArg>,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// What `extract` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtractEmit {
    /// Each call when it has ended.
    Calls,
    /// Text, reasoning, documents and calls, in order, with their places.
    Segments,
}
