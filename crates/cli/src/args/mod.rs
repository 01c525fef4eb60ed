//! The command line: the options of each command, their values, and the codes of repairs as people type them.

#[cfg(feature = "serve")]
mod serve;

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use wiremend_core::{Limits, MendOptions, Policy, RepairKind, Risk, TrailingDocuments};
use wiremend_extract::Scope;
use wiremend_schema::Rule;
use wiremend_wire::ApiFormat;

use crate::{
    exit::{
        CHECK_CODES, EXIT_CODES, EXTRACT_CODES, OTHER_CODES, REPAIR_CODES, STREAM_CODES,
        TRACE_CODES,
    },
    input::is_lines_name,
    visible::Shown,
};

#[cfg(feature = "serve")]
pub(crate) use serve::{Admin, ServeArgs};

/// The heading of the options that all commands have.
const GLOBAL: &str = "Global options";

/// Repairs the JSON that language models emit: in files, in pipes, and in provider streams.
#[derive(Debug, Parser)]
#[command(name = "wiremend", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colour.
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    /// Print errors only: no list of repairs and no summary.
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,

    /// List each repair. By default, repairs of one kind share a line that counts them.
    #[arg(short, long, global = true, help_heading = GLOBAL, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Batch(BatchArgs),
    Check(CheckArgs),
    Explain(ExplainArgs),
    Extract(ExtractArgs),
    Repair(RepairArgs),
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    Stream(StreamArgs),
    Trace(TraceArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// If the output is a terminal and NO_COLOR is not set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Answer JSON Lines requests with JSON Lines replies, in the same order.
///
/// A request has an `input` or `input_base64` and, optionally, an `id` and an `op` (repair, stream,
/// events or calls). Every request gets a reply of one line. The reply to a bad request has an
/// `error`. Blank lines are skipped. Memory use is bounded: each thread holds only a few requests at
/// a time.
///
/// docs/command.md lists the fields of requests and replies.
#[derive(Debug, Args)]
#[command(after_help = OTHER_CODES)]
pub(crate) struct BatchArgs {
    /// File of requests, one per line; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// How to split an input that is read as a stream: whole, bytes, or pieces of N bytes.
    #[arg(long, value_name = "whole|bytes|N", default_value = "whole")]
    pub(crate) split: Split,

    /// Number of worker threads [default: one per core].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,

    /// Maximum length of a request, in bytes. A longer one gets an error as its reply.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub(crate) max_line: usize,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// Report whether files are valid JSON and, if not, which repairs they need and where.
///
/// Nothing is changed. All files are checked, even if one of them cannot be read.
#[derive(Debug, Args)]
#[command(after_help = CHECK_CODES)]
pub(crate) struct CheckArgs {
    /// Files and directories to check; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) files: Vec<PathBuf>,

    /// Which files of a directory are read, by name or, with a `/`, by path: `*.json`, `logs/**/*.txt`.
    /// May be repeated [default: all whose name does not begin with a dot].
    #[arg(long = "match", value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,

    /// Each line of an input is a document of its own: JSON Lines. It is implied for a file whose name
    /// ends in .jsonl or .ndjson.
    #[arg(long)]
    pub(crate) lines: bool,

    /// Print one JSON object per file or line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with a code that says why an input is not valid; see below.
    #[arg(long)]
    pub(crate) exit_code: bool,

    #[command(flatten)]
    pub(crate) schema: SchemaArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Explain the code of a repair or of a schema rule, or another word that this program prints: an outcome, a risk, the
/// type of a line, a field of a report.
#[derive(Debug, Args)]
#[command(after_help = OTHER_CODES)]
pub(crate) struct ExplainArgs {
    /// The word as it appears in reports: single-quote, missing-comma, closed, lossy, dropped, …
    #[arg(required_unless_present = "list")]
    pub(crate) code: Option<String>,

    /// List all codes and words.
    #[arg(long, conflicts_with = "code")]
    list: bool,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Find the JSON in a text, repair it, and print it.
///
/// The JSON goes to standard output and the list of repairs to standard error. Valid JSON is printed
/// unchanged, byte for byte. If the input cannot be repaired, nothing is printed. With --stream,
/// output begins before the end of the input is known, so there may be some even then.
///
/// Several files and directories are repaired on all cores. Each result is one line of the output, or a
/// file of --out, or replaces its file with --in-place. With --lines and --field, the inputs hold records.
/// Inputs may be compressed (gzip, Zstandard).
#[derive(Clone, Debug, Args)]
#[command(after_help = REPAIR_CODES)]
pub(crate) struct RepairArgs {
    /// Files and directories to repair; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) files: Vec<PathBuf>,

    /// Repair while reading, in bounded memory. The result can differ from that of the whole text,
    /// because output that has been written cannot be changed.
    #[arg(long, conflicts_with_all = ["schema", "tools"])]
    pub(crate) stream: bool,

    /// Print JSON: one report for each input or, with --stream, one event per line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with 1 if anything was repaired.
    #[arg(long)]
    pub(crate) exit_code: bool,

    /// Exit with 0 whenever the output is valid JSON, even if the input was cut off and had to be
    /// closed.
    #[arg(long, conflicts_with = "exit_code")]
    pub(crate) exit_zero: bool,

    /// What else is a failure, if the output is valid JSON. May be repeated [default: cut].
    #[arg(long, value_name = "WHAT", value_delimiter = ',', conflicts_with_all = ["exit_code", "exit_zero"])]
    pub(crate) fail_on: Vec<FailOn>,

    /// If the input cannot be repaired, print it unchanged.
    #[arg(long, conflicts_with_all = ["stream", "json"])]
    pub(crate) or_input: bool,

    /// Where to look for JSON [default: best; with --stream: whole].
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<ScopeArg>,

    /// What to do with documents after the first [default: array; with --stream: first].
    #[arg(long, alias = "following", value_name = "RULE")]
    pub(crate) trailing: Option<TrailingArg>,

    #[command(flatten)]
    pub(crate) many: ManyArgs,

    #[command(flatten)]
    pub(crate) schema: SchemaArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Read the body of a provider's streaming response and show it repaired, as it arrives.
///
/// Text is shown as it comes, and the arguments of each tool call are repaired while they stream. At
/// the end, a report says how the stream and each call ended and what was repaired.
#[derive(Debug, Args)]
#[command(after_help = STREAM_CODES)]
pub(crate) struct StreamArgs {
    /// The response body; `-` is standard input, which may be a live pipe.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// Format of the body: `auto` detects it.
    #[arg(long = "format", alias = "wire", value_name = "auto|NAME", default_value = "auto")]
    pub(crate) wire: FormatArg,

    /// What to print.
    #[arg(long, value_name = "WHAT", default_value = "text")]
    pub(crate) emit: Emit,

    /// Short for --emit events.
    #[arg(long, conflicts_with = "emit")]
    pub(crate) json: bool,

    /// Print the arguments of each call as changes to a value, instead of as pieces of text: add (as
    /// in JSON Patch), append (to a string), close.
    #[arg(long, requires = "json")]
    pub(crate) deltas: bool,

    /// Exit with 1 if anything was repaired.
    #[arg(long)]
    pub(crate) exit_code: bool,

    /// Repair the JSON documents in the text too, and show each when it has ended.
    #[arg(long)]
    pub(crate) objects: bool,

    /// Where to look for documents: first, fenced, all or whole. Implies --objects [default: all].
    #[arg(long, value_name = "WHERE")]
    pub(crate) scope: Option<ScopeArg>,

    /// Look for tool calls in the text, in this dialect, in that of this model, or in all of them. With
    /// all, only the tools of --tools count. With --emit provider, a complete call leaves in the
    /// provider's own shape.
    #[arg(long, value_name = "auto|DIALECT|MODEL")]
    pub(crate) calls_in_text: Option<String>,

    /// With --calls-in-text, what the prompt has already written of the answer, such as the
    /// `<tool_call>` at the end of a template.
    #[arg(long, value_name = "TEXT", requires = "calls_in_text")]
    pub(crate) prefill: Option<String>,

    /// A JSON Schema for the documents in the text: each is made to match it when it has ended. A
    /// response without documents and calls is read as a whole, as XML or as a plain string.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,

    /// Tool declarations as OpenAI, Anthropic, Gemini or MCP write them, or a directory of schemas:
    /// the arguments of each call are made to match the schema of its tool when the call has ended.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,

    /// A name for the schema.
    #[arg(long, value_name = "NAME", requires = "schema")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// Show the repair step by step: what came in, what became certain, and what was changed.
#[derive(Debug, Args)]
#[command(after_help = TRACE_CODES)]
pub(crate) struct TraceArgs {
    /// File to repair; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// How to split the input: whole, bytes, or pieces of N bytes.
    #[arg(long, value_name = "whole|bytes|N", default_value = "bytes")]
    pub(crate) split: Split,

    /// Print one JSON object per step, or per reading.
    #[arg(long)]
    pub(crate) json: bool,

    /// Show the two best readings of the whole text and what each costs, instead of steps: the further the second is,
    /// the surer is the first.
    #[arg(long, conflicts_with = "split")]
    pub(crate) readings: bool,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}

/// The schema that a value has to match.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SchemaArgs {
    /// A JSON Schema: the value is validated and, if there is one right way, made to match it.
    #[arg(long, value_name = "FILE", conflicts_with = "tools")]
    pub(crate) schema: Option<PathBuf>,

    /// Tool declarations as OpenAI, Anthropic, Gemini or MCP write them, or a directory of schemas:
    /// the value is the arguments of one tool.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,

    /// The name of the tool, or a name for the schema.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

/// How much is read.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct InputArgs {
    /// Maximum length of an input that is read as a whole, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    pub(crate) max_input: usize,
}

/// Which schema rules are used.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RuleArgs {
    /// Disable a schema rule. May be repeated.
    #[arg(long, value_name = "CODE", value_parser = rule)]
    pub(crate) rule_off: Vec<Rule>,

    /// Enable a schema rule that is off by default. May be repeated.
    #[arg(long, value_name = "CODE", value_parser = rule)]
    pub(crate) rule_on: Vec<Rule>,
}

/// Which repairs are allowed, and the limits.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EngineArgs {
    /// Which repairs are allowed [default: permissive; for calls in a stream: conservative].
    #[arg(long, value_name = "POLICY")]
    policy: Option<PolicyArg>,

    /// The highest risk allowed. The stricter of this and the policy applies.
    #[arg(long, value_name = "RISK")]
    max_risk: Option<RiskArg>,

    /// Forbid a repair. May be repeated.
    #[arg(long, value_name = "CODE", value_parser = repair_kind)]
    off: Vec<RepairKind>,

    #[command(flatten)]
    limits: LimitArgs,
}

impl EngineArgs {
    /// The engine options; `default` is the policy if none is given.
    pub(crate) fn options(&self, default: PolicyArg) -> MendOptions {
        let mut policy = self.policy.unwrap_or(default).policy();
        if let Some(risk) = self.max_risk {
            policy = policy.at_most(risk.risk());
        }
        for &kind in &self.off {
            policy = policy.without(kind);
        }
        MendOptions::new().with_policy(policy).with_limits(self.limits.limits())
    }
}

/// Limits on the input.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LimitArgs {
    /// Maximum nesting, in levels [default: 127].
    #[arg(long, value_name = "LEVELS")]
    depth: Option<usize>,

    /// Maximum look-ahead at an ambiguous place when streaming, in bytes; at least 16 [default: 64].
    #[arg(long, value_name = "BYTES")]
    lookahead: Option<usize>,

    /// Maximum number of bytes held back when streaming [default: 65536].
    #[arg(long, value_name = "BYTES")]
    buffer: Option<usize>,

    /// Maximum number of documents that are joined, if they have less than 16 bytes on average
    /// [default: 250000].
    #[arg(long, value_name = "N")]
    max_documents: Option<usize>,
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
        if let Some(documents) = self.max_documents {
            limits = limits.with_documents(documents);
        }
        limits
    }
}

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

/// What `stream` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// Each tool call when it has ended, one JSON object per line; with --objects or --schema, the
    /// documents too.
    Calls,
    /// Everything that is certain, one JSON object per line.
    Events,
    /// The body itself, with the arguments of its calls repaired.
    Provider,
    /// Text and calls, for people.
    Text,
}

/// The format of a body; `None` to detect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FormatArg(pub(crate) Option<ApiFormat>);

impl std::str::FromStr for FormatArg {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match (name, ApiFormat::from_code(name)) {
            ("auto", _) => Ok(Self(None)),
            (_, Some(wire)) => Ok(Self(Some(wire))),
            _ => {
                let known: Vec<&str> = ApiFormat::ALL.iter().map(|format| format.code()).collect();
                Err(format!("expected `auto` or one of {}", known.join(", ")))
            }
        }
    }
}

/// How an input is split into the pieces that are pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    Whole,
    Every(usize),
}

impl Split {
    /// The pieces of `input`. None of them is empty.
    pub(crate) fn pieces(self, input: &[u8]) -> std::slice::Chunks<'_, u8> {
        match self {
            Self::Whole => input.chunks(input.len().max(1)),
            Self::Every(size) => input.chunks(size.max(1)),
        }
    }
}

impl std::str::FromStr for Split {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "whole" => Ok(Self::Whole),
            "bytes" => Ok(Self::Every(1)),
            _ => at_least_one(text).map(Self::Every).map_err(|_| {
                "expected `whole`, `bytes`, or a number of bytes of at least 1".to_owned()
            }),
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a number of at least 1".to_owned())
}

fn rule(code: &str) -> Result<Rule, String> {
    Rule::from_code(code).ok_or_else(|| format!("there is no rule `{code}`"))
}

fn repair_kind(code: &str) -> Result<RepairKind, String> {
    RepairKind::from_code(code).ok_or_else(|| unknown(NO_REPAIR, code, repair_codes()))
}

const NO_REPAIR: &str = "no repair has the code";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyArg {
    /// Exact and likely repairs. An input that was cut off is not closed.
    Conservative,
    /// Every repair.
    Permissive,
    /// No repair: anything but valid JSON is refused.
    Strict,
}

impl PolicyArg {
    const fn policy(self) -> Policy {
        match self {
            Self::Conservative => Policy::CONSERVATIVE,
            Self::Permissive => Policy::PERMISSIVE,
            Self::Strict => Policy::STRICT,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RiskArg {
    /// There is one reading, and nothing is lost.
    Exact,
    /// The reading is strongly indicated.
    Likely,
    /// Something is dropped.
    Lossy,
    /// Something is invented or chosen.
    Guess,
}

impl RiskArg {
    const fn risk(self) -> Risk {
        match self {
            Self::Exact => Risk::Exact,
            Self::Likely => Risk::Likely,
            Self::Lossy => Risk::Lossy,
            Self::Guess => Risk::Guess,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// All documents in the text.
    All,
    /// The best reading of the text, which may be several documents (not with --stream).
    Best,
    /// The documents in code fences.
    Fenced,
    /// The first document.
    First,
    /// The last document (not with --stream).
    Last,
    /// The whole text is one document.
    Whole,
}

impl ScopeArg {
    pub(crate) const fn scope(self) -> Scope {
        match self {
            Self::All => Scope::All,
            Self::Best => Scope::Best,
            Self::Fenced => Scope::Fenced,
            Self::First => Scope::First,
            Self::Last => Scope::Last,
            Self::Whole => Scope::Whole,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrailingArg {
    /// Print each document separately.
    All,
    /// Join the documents into an array (not with --stream).
    Array,
    /// Refuse the input.
    Error,
    /// Keep the first document.
    First,
    /// Keep the last document (not with --stream).
    Last,
}

impl TrailingArg {
    pub(crate) const fn trailing(self) -> TrailingDocuments {
        match self {
            Self::All => TrailingDocuments::All,
            Self::Array => TrailingDocuments::Array,
            Self::Error => TrailingDocuments::Error,
            Self::First => TrailingDocuments::First,
            Self::Last => TrailingDocuments::Last,
        }
    }
}

/// The codes of the repairs.
pub(crate) fn repair_codes() -> impl Iterator<Item = &'static str> {
    RepairKind::ALL.iter().map(|kind| kind.code())
}

/// The error message for a word that is not in `codes`, with the most similar one. `what` says what it is
/// not.
pub(crate) fn unknown(what: &str, code: &str, codes: impl Iterator<Item = &'static str>) -> String {
    let shown = Shown::clipped(code.as_bytes(), 40);
    let shown = shown.as_str();
    // Codes are short. A long word is similar to none of them, and comparing it would be slow.
    let wanted: Vec<char> = code.chars().take(64).collect();
    let distance = |code: &&str| edit_distance(&wanted, code);
    match codes.min_by_key(distance).filter(|code| distance(code) <= code.len() / 2) {
        Some(code) => format!("{what} `{shown}`; did you mean `{code}`?"),
        None => format!("{what} `{shown}`; `wiremend explain --list` lists them"),
    }
}

/// The fewest insertions, deletions and replacements that turn one word into the other
/// (Levenshtein), one row of the table at a time.
fn edit_distance(from: &[char], to: &str) -> usize {
    let mut row: Vec<usize> = (0..=from.len()).collect();
    for (line, c) in to.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, &have) in row.iter_mut().skip(1).zip(from) {
            let replaced = diagonal + usize::from(have != c);
            diagonal = *cell;
            left = replaced.min(left + 1).min(*cell + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

// The options of `repair` for many inputs and for the records in them.

/// The heading of these options.
const MANY: &str = "Many inputs and records";

/// Several inputs, what is in them, and where the results go.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ManyArgs {
    /// Print each document on one line, without white space. It is implied by several inputs and by a
    /// directory.
    #[arg(long, help_heading = MANY)]
    pub(crate) jsonl: bool,

    /// Each line of an input is a record of its own: JSON Lines. A bad one costs no other. It is implied
    /// for a file whose name ends in .jsonl or .ndjson, unless --stream, --scope or --trailing says how its
    /// text is read.
    #[arg(long, help_heading = MANY, conflicts_with = "csv")]
    pub(crate) lines: bool,

    /// The inputs are tables: CSV with a first row of names, or the same with tabs or semicolons. It is
    /// implied by --field for a name that ends in .csv or .tsv.
    #[arg(long, help_heading = MANY, requires = "field")]
    pub(crate) csv: bool,

    /// Repair only the text in this field of each record; the rest passes byte for byte. `/a/0/b` is a
    /// JSON Pointer. May be repeated.
    #[arg(long, help_heading = MANY, value_name = "NAME")]
    pub(crate) field: Vec<String>,

    /// Which files of a directory are read, by name or, with a `/`, by path: `*.json`, `logs/**/*.txt`.
    /// May be repeated [default: all whose name does not begin with a dot].
    #[arg(long = "match", help_heading = MANY, value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,

    /// Write each result to a file of the same name in this directory.
    #[arg(long, help_heading = MANY, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Replace each file by its result, if it could be repaired. Never half of a file: the result is
    /// written beside it and renamed.
    #[arg(long, help_heading = MANY, conflicts_with = "out")]
    pub(crate) in_place: bool,

    /// Write the outcome of every document or record to this file: as CSV if its name ends in .csv, else
    /// as JSON Lines.
    #[arg(long, help_heading = MANY, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Write a page of HTML to this file: outcomes, risks and kinds of repair as bars, by source, with
    /// twenty examples of each.
    #[arg(long, help_heading = MANY, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,

    /// Keep the records that could not be repaired in this file, as they came, and out of the output.
    #[arg(long, help_heading = MANY, value_name = "FILE")]
    pub(crate) rejects: Option<PathBuf>,

    /// In place of what could not be repaired, write `null`, so that there is a line for each input.
    #[arg(long, help_heading = MANY, conflicts_with_all = ["or_input", "in_place", "out"])]
    pub(crate) or_null: bool,

    /// Number of worker threads [default: one per core].
    #[arg(long, help_heading = MANY, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
}

impl ManyArgs {
    /// Whether an option was given that a single document has no use for.
    pub(crate) fn is_used(&self) -> bool {
        let flags = [self.jsonl, self.lines, self.csv, self.in_place, self.or_null];
        let files = [&self.out, &self.report, &self.summary, &self.rejects];
        flags.contains(&true)
            || files.iter().any(|file| file.is_some())
            || !self.field.is_empty()
            || !self.patterns.is_empty()
            || self.threads.is_some()
    }

    /// Whether the inputs hold records, whatever their names are.
    fn has_records(&self) -> bool {
        self.lines || self.csv || !self.field.is_empty()
    }
}

impl RepairArgs {
    /// Whether the lines of files are records if the names of the files say so.
    pub(crate) fn lines_by_name(&self) -> bool {
        !self.stream && self.scope.is_none() && self.trailing.is_none()
    }

    /// Whether an input is divided into records.
    pub(crate) fn divides(&self, path: &Path) -> bool {
        self.many.has_records() || self.lines_by_name() && is_lines_name(path)
    }

    /// Whether all inputs are.
    pub(crate) fn has_records(&self) -> bool {
        self.files.iter().all(|path| self.divides(path))
    }
}

/// What makes a run fail, besides an input that could not be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A repair that is likely right, or riskier.
    Likely,
    /// A repair that drops something, or riskier.
    Lossy,
    /// A repair that invents or chooses something.
    Guess,
    /// Something is missing: the input was cut off, or a document was dropped.
    Cut,
}

impl FailOn {
    /// The lowest risk that fails.
    pub(crate) const fn risk(self) -> Option<Risk> {
        match self {
            Self::Likely => Some(Risk::Likely),
            Self::Lossy => Some(Risk::Lossy),
            Self::Guess => Some(Risk::Guess),
            Self::Cut => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

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

    #[test]
    fn splits_are_parsed() {
        let pieces = |split: &str| -> Vec<usize> {
            split.parse::<Split>().unwrap().pieces(b"abcde").map(<[u8]>::len).collect()
        };
        assert_eq!(pieces("whole"), [5]);
        assert_eq!(pieces("bytes"), [1; 5]);
        assert_eq!(pieces("2"), [2, 2, 1]);
        assert!("0".parse::<Split>().is_err());
        assert!("x".parse::<Split>().is_err());
        assert_eq!(Split::Whole.pieces(b"").count(), 0);
    }

    fn distance(from: &str, to: &str) -> usize {
        edit_distance(&from.chars().collect::<Vec<_>>(), to)
    }

    #[test]
    fn distances_are_the_textbook_ones() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }

    #[test]
    fn the_nearest_code_is_named_when_it_is_near() {
        let unknown = |code| unknown(NO_REPAIR, code, repair_codes());
        assert!(unknown("single-quotes").contains("did you mean `single-quote`"));
        assert!(unknown("mising-coma").contains("did you mean `missing-comma`"));
        // `--off` takes repairs, not schema rules.
        assert!(!unknown("enum-normalise").contains("did you mean `enum"));
        assert!(unknown("zzzzzzzzzzzzzzzzzzzzzzz").contains("--list"));
    }
}
