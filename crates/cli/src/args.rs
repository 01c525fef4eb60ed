//! The command line.

mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jsonmend_core::{Limits, Options, RepairKind};
use jsonmend_schema::Rule;

pub(crate) use self::values::{Emit, FollowingArg, PolicyArg, RiskArg, ScopeArg, Split, WireArg};
use self::values::{at_least_one, repair_kind, rule};
use crate::exit::EXIT_CODES;

/// Mends the JSON that language models emit: in files, in pipes, and in provider streams.
#[derive(Debug, Parser)]
#[command(name = "jsonmend", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    /// Print no notices; errors are still printed.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Batch(BatchArgs),
    Check(CheckArgs),
    Explain(ExplainArgs),
    Repair(RepairArgs),
    Stream(StreamArgs),
    Trace(TraceArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

/// Answer JSON Lines requests with JSON Lines replies, in the same order.
///
/// A request has `id`, `op` (repair, stream, events), `input` or `input_base64`, and optionally
/// `chunks`, `mode` (text, stream), `policy`, `max_risk`, `snapshots`, `wire`, `framing`, and for a value
/// that shall fit a schema `schema`, or `tools` and `name`. Every request gets one line; a bad one gets
/// an `error`. docs/batch.md has the fields of requests and replies. Blank lines are skipped. Memory is bounded: at most a few requests a thread
/// are under way.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct BatchArgs {
    /// JSON Lines of requests; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// How to cut an input that is pushed: whole, bytes, or pieces of N bytes.
    #[arg(long, value_name = "whole|bytes|N", default_value = "whole")]
    pub(crate) split: Split,

    /// How many threads work; by default one a core.
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,

    /// The longest request line, in bytes; a longer one is skipped and answered with an error.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub(crate) max_line: usize,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Say whether files are valid JSON; if not, what would change and where.
///
/// With several files the exit code is the highest of any: 0 says that all of them are valid. A file
/// that cannot be read keeps no other from being checked.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CheckArgs {
    /// Files to check; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) files: Vec<PathBuf>,

    /// Print one JSON object a file.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) schema: SchemaArgs,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Explain the code of a repair, or of a rule of a schema; `--list` shows all.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ExplainArgs {
    /// The code, as in the reports: single-quote, missing-comma, …
    #[arg(required_unless_present = "list")]
    pub(crate) code: Option<String>,

    /// List all codes.
    #[arg(long, conflicts_with = "code")]
    pub(crate) list: bool,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Find the JSON in a text, mend it, and print it.
///
/// The mended text goes to standard output, byte for byte, and what was changed to standard error.
/// Valid JSON leaves as it came. Where nothing valid can be made, nothing is printed; with `--stream`
/// what was certain has been, and the rest follows as it came.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct RepairArgs {
    /// The file to mend; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// Mend while reading, in bounded memory. The result may differ where a repair would have to
    /// reach behind what has been written.
    #[arg(long, conflicts_with_all = ["schema", "tools"])]
    pub(crate) stream: bool,

    /// Print JSON: one report, or with --stream one event a line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with 0 whenever the output is valid JSON, repaired or closed too.
    #[arg(long)]
    pub(crate) exit_zero: bool,

    /// Where nothing valid can be made, print the input as it came.
    #[arg(long, conflicts_with_all = ["stream", "json"])]
    pub(crate) or_input: bool,

    /// Where to look for JSON. By default the best reading of the text, which may be several
    /// documents; `first` takes only the first. With --stream the whole, which ends with its first
    /// document.
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<ScopeArg>,

    /// What to do with further documents. By default they join one array; with --stream they are
    /// dropped, and `all` keeps each as a text of its own.
    #[arg(long, value_name = "RULE")]
    pub(crate) following: Option<FollowingArg>,

    #[command(flatten)]
    pub(crate) schema: SchemaArgs,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Read a provider's response body and show it mended, while it arrives.
///
/// Text is shown as it comes, each tool call's arguments are mended while they stream, and the end
/// says how the stream and each call ended and what was changed.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct StreamArgs {
    /// The response body; `-` is standard input, which may be a live pipe.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// The provider's format; by default what the body says.
    #[arg(long, value_name = "auto|NAME", default_value = "auto")]
    pub(crate) wire: WireArg,

    /// What to print.
    #[arg(long, value_name = "WHAT", default_value = "text")]
    pub(crate) emit: Emit,

    /// The same as --emit events.
    #[arg(long, conflicts_with = "emit")]
    pub(crate) json: bool,

    /// Print the changes of each call's arguments as values, in the place of pieces of their text:
    /// add (as in JSON Patch), append (to a string), close.
    #[arg(long, requires = "json")]
    pub(crate) deltas: bool,

    /// Mend the JSON in the text too, and show each document once it has ended.
    #[arg(long)]
    pub(crate) objects: bool,

    /// A JSON Schema: each document in the text is brought into it once it has ended. A response
    /// without documents and calls is read as a whole: XML, or plain words.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,

    /// Tools as OpenAI, Anthropic, Gemini or MCP declare them, or a directory of schemas: the
    /// arguments of each call are brought into its schema once it has ended.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,

    /// The name of what the schema is for.
    #[arg(long, value_name = "NAME", requires = "schema")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Show every step of mending: what came in, what became certain, and what was changed.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct TraceArgs {
    /// The file to mend; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// How to cut the input: whole, bytes, or pieces of N bytes.
    #[arg(long, value_name = "whole|bytes|N", default_value = "bytes")]
    pub(crate) split: Split,

    /// Print one JSON object a step.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// The schema that a value is brought into.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SchemaArgs {
    /// A JSON Schema: the value is validated, and brought into it where there is one right way.
    #[arg(long, value_name = "FILE", conflicts_with = "tools")]
    pub(crate) schema: Option<PathBuf>,

    /// Tools as OpenAI, Anthropic, Gemini or MCP declare them, or a directory of schemas: the value
    /// is the arguments of one.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,

    /// The name of the tool, or of what the schema is for.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

/// The switches of the rules.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RuleArgs {
    /// A rule that may not be used; may be given several times.
    #[arg(long, value_name = "CODE", value_parser = rule)]
    pub(crate) rule_off: Vec<Rule>,

    /// A rule that is off by default and may be used; may be given several times.
    #[arg(long, value_name = "CODE", value_parser = rule)]
    pub(crate) rule_on: Vec<Rule>,
}

/// What may be repaired, and the limits.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EngineArgs {
    /// Which repairs may be made. The default is permissive; for the calls in a stream, conservative.
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<PolicyArg>,

    /// The highest risk a repair may have; the stricter of this and the policy wins.
    #[arg(long, value_name = "RISK")]
    pub(crate) max_risk: Option<RiskArg>,

    /// A repair that may not be made; may be given several times.
    #[arg(long, value_name = "CODE", value_parser = repair_kind)]
    pub(crate) off: Vec<RepairKind>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl EngineArgs {
    /// The options asked for, with `default` where no policy is named.
    pub(crate) fn options(&self, default: PolicyArg) -> Options {
        let mut policy = self.policy.unwrap_or(default).policy();
        if let Some(risk) = self.max_risk {
            policy = policy.at_most(risk.risk());
        }
        for &kind in &self.off {
            policy = policy.without(kind);
        }
        Options::new().with_policy(policy).with_limits(self.limits.limits())
    }
}

/// The limits.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LimitArgs {
    /// The deepest nesting, in levels [default: 127].
    #[arg(long, value_name = "LEVELS")]
    pub(crate) depth: Option<usize>,

    /// How far to look ahead at a doubtful place when streaming, in bytes; at least 16
    /// [default: 64].
    #[arg(long, value_name = "BYTES")]
    pub(crate) lookahead: Option<usize>,

    /// How much may be held back when streaming, in bytes [default: 65536].
    #[arg(long, value_name = "BYTES")]
    pub(crate) buffer: Option<usize>,

    /// How many repairs one input may need [default: 10000].
    #[arg(long, value_name = "N")]
    pub(crate) max_repairs: Option<usize>,
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::new();
        if let Some(levels) = self.depth {
            limits = limits.with_depth(levels);
        }
        if let Some(bytes) = self.lookahead {
            limits = limits.with_lookahead(bytes);
        }
        if let Some(bytes) = self.buffer {
            limits = limits.with_buffer(bytes);
        }
        if let Some(repairs) = self.max_repairs {
            limits = limits.with_repairs(repairs);
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use jsonmend_core::Risk;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_stricter_of_policy_and_risk_wins() {
        let with = |policy, max_risk| EngineArgs { policy, max_risk, ..EngineArgs::default() };
        let risk = |args: EngineArgs| args.options(PolicyArg::Permissive).policy().max_risk();
        assert_eq!(risk(with(None, None)), Some(Risk::Guess));
        assert_eq!(
            risk(with(Some(PolicyArg::Conservative), Some(RiskArg::Guess))),
            Some(Risk::Likely)
        );
        assert_eq!(risk(with(None, Some(RiskArg::Exact))), Some(Risk::Exact));
        assert_eq!(risk(with(Some(PolicyArg::Strict), Some(RiskArg::Guess))), None);
    }
}
