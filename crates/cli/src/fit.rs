//! Making values match a schema, in `repair`, `check` and `stream`, and reporting the result.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use serde::Serialize;
use serde_json::Value;
use wiremend_core::{MendOptions, Outcome, RepairKind};
use wiremend_extract::{Scope, Tools};
use wiremend_response::{CallCheck, FittedCall, FittedObject};
use wiremend_schema::{
    Applied, Cause, Change, FitOptions, Fitted, Issue, Registry, Rendering, Resolved, Rules,
    Schema, SharedRegistry, Tree,
};
use wiremend_wire::{Block, Call, Doubt};

use crate::{
    Session,
    args::{RepairArgs, RuleArgs, SchemaArgs, StreamArgs},
    exit::Failure,
    input::read_up_to,
    out::Out,
    report::{self, Listing, Record},
    visible::{BAD, BOLD, Paint, Shown, notice, shown},
};

/// The most that is read of schemas and tools, in bytes: of one file, or of a directory.
const MAX_SCHEMA: usize = 16 << 20;

/// The most tools that are read.
const MAX_TOOLS: usize = 1024;

/// A schema, and the name of what it is for.
#[derive(Debug)]
pub(crate) struct Target {
    schema: Schema,
    rules: Rules,
    name: Option<String>,
    /// The name of the tool in its declaration, or the `$id` of the schema.
    id: Option<String>,
}

impl Target {
    /// The schema from the command line, if there is one.
    pub(crate) fn of_args(args: &SchemaArgs) -> Result<Option<Self>, Failure> {
        let name = args.name.as_deref();
        let target = if let Some(path) = &args.schema {
            Self::of_schema(&read(path, MAX_SCHEMA)?, name)
        } else if let Some(path) = &args.tools {
            registry(path)?.and_then(|registry| Self::of_registry(&registry, name))
        } else {
            return Ok(None);
        };
        Ok(Some(target.map_err(Failure::Usage)?.switched(&args.rules)))
    }

    /// The schema in a file.
    pub(crate) fn of_file(
        path: &Path,
        name: Option<&str>,
        rules: &RuleArgs,
    ) -> Result<Self, Failure> {
        let target = Self::of_schema(&read(path, MAX_SCHEMA)?, name).map_err(Failure::Usage)?;
        Ok(target.switched(rules))
    }

    /// Applies the rule options of the command line.
    fn switched(mut self, args: &RuleArgs) -> Self {
        self.rules = switched(self.rules, args);
        self
    }

    pub(crate) fn of_schema(text: &str, name: Option<&str>) -> Result<Self, String> {
        let schema = Schema::from_text(text).map_err(|error| error.to_string())?;
        let id = schema.id().or(name).map(str::to_owned);
        Ok(Self { schema, rules: Rules::new(), name: name.map(str::to_owned), id })
    }

    pub(crate) fn of_tools(text: &str, name: Option<&str>) -> Result<Self, String> {
        Self::of_registry(&tools(text)?, name)
    }

    fn of_registry(registry: &Registry, name: Option<&str>) -> Result<Self, String> {
        let mut names = registry.names();
        let only = names.next().filter(|_| names.next().is_none());
        match registry.resolve(name.or(only), None) {
            Resolved::Tool { name, schema, rules, .. } => Ok(Self::of_tool(name, schema, rules)),
            Resolved::Unknown { nearest: Some(nearest), .. } => {
                Err(format!("no such tool; the nearest is `{nearest}`"))
            }
            Resolved::Unknown { .. } => Err("no such tool".to_owned()),
            _ => Err("there are several tools: name one".to_owned()),
        }
    }

    fn of_tool(name: &str, schema: &Schema, rules: &Rules) -> Self {
        let (schema, rules) = (schema.clone(), rules.clone());
        Self { schema, rules, name: Some(name.to_owned()), id: Some(name.to_owned()) }
    }

    pub(crate) const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The name of the tool, or the identifier of the schema.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The rules, and the name that the value may carry.
    pub(crate) fn options(&self) -> FitOptions {
        let options = FitOptions::new().with_rules(self.rules.clone());
        match &self.name {
            Some(name) => options.with_name(name),
            None => options,
        }
    }

    pub(crate) fn fit(&self, input: &[u8], engine: MendOptions, scope: Scope) -> Fitted {
        self.schema.fit(input, &self.options().with_mending(engine).with_scope(scope))
    }
}

/// Those rules, with the switches of the command line.
fn switched(mut rules: Rules, args: &RuleArgs) -> Rules {
    for rule in &args.rule_off {
        rules = rules.without(*rule);
    }
    for rule in &args.rule_on {
        rules = rules.with(*rule);
    }
    rules
}

/// The tools that a file declares, or the schemas in a directory. The inner error is about their
/// content.
pub(crate) fn registry(path: &Path) -> Result<Result<Registry, String>, Failure> {
    if !path.is_dir() {
        return Ok(tools(&read(path, MAX_SCHEMA)?));
    }
    let reading = |error| Failure::reading(&path.display().to_string(), error);
    let mut files = Vec::new();
    let mut room = MAX_SCHEMA;
    for entry in fs::read_dir(path).map_err(reading)? {
        let file = entry.map_err(reading)?.path();
        if file.extension().is_some_and(|extension| extension == "json") {
            let own = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if files.len() == MAX_TOOLS {
                return Ok(Err(too_many_tools()));
            }
            let text = read(&file, room)?;
            room -= text.len();
            files.push((own, text));
        }
    }
    let texts = files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Ok(Registry::from_texts(texts).map_err(|error| error.to_string()))
}

fn tools(text: &str) -> Result<Registry, String> {
    let tools: Value =
        serde_json::from_str(text).map_err(|error| format!("the tools are not JSON: {error}"))?;
    if declared(&tools) > MAX_TOOLS {
        return Err(too_many_tools());
    }
    Registry::from_tools(&tools).map_err(|error| error.to_string())
}

fn too_many_tools() -> String {
    format!("more than {MAX_TOOLS} tools")
}

/// How many tools are declared: objects with a name or a function, in whatever holds them.
fn declared(tools: &Value) -> usize {
    let mut open = vec![tools];
    let mut count = 0;
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            // What is within a declaration is a schema.
            Value::Object(members)
                if ["name", "function"].iter().any(|key| members.contains_key(*key)) =>
            {
                count += 1;
            }
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    count
}

/// Reads a file of at most `limit` bytes.
fn read(path: &Path, limit: usize) -> Result<String, Failure> {
    let name = path.display();
    let failed = |error| Failure::reading(&name.to_string(), error);
    let bytes = read_up_to(File::open(path).map_err(failed)?, limit).map_err(failed)?;
    let bytes = bytes.ok_or_else(|| {
        Failure::Usage(format!(
            "{name}: schemas and tools of more than {MAX_SCHEMA} bytes are not read"
        ))
    })?;
    String::from_utf8(bytes)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))
}

/// The part of a report that is about the schema.
#[derive(Debug, Serialize)]
pub(crate) struct Fitting {
    schema_id: Option<String>,
    issues: Vec<IssueRecord>,
    coerced: Vec<AppliedRecord>,
}

impl Fitting {
    pub(crate) fn new(schema_id: Option<String>, fitted: &Fitted) -> Self {
        Self {
            schema_id,
            issues: fitted.issues().iter().map(IssueRecord::from).collect(),
            coerced: fitted.applied().iter().map(AppliedRecord::from).collect(),
        }
    }

    /// The report for a text in which `offset` more bytes come first.
    fn shifted(mut self, offset: usize) -> Self {
        for IssueRecord { start, end, .. } in &mut self.issues {
            (*start, *end) = (*start + offset, *end + offset);
        }
        for AppliedRecord { start, end, .. } in &mut self.coerced {
            (*start, *end) = (*start + offset, *end + offset);
        }
        self
    }
}

/// An issue in JSON output.
#[derive(Debug, Serialize)]
struct IssueRecord {
    code: &'static str,
    pointer: String,
    path: String,
    message: String,
    expected: String,
    received: &'static str,
    schema_path: String,
    start: usize,
    end: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl From<&Issue> for IssueRecord {
    fn from(issue: &Issue) -> Self {
        Self {
            code: issue.code().code(),
            pointer: issue.pointer().to_owned(),
            path: issue.path().to_string(),
            message: Rendering::new().line(issue),
            expected: issue.expected().to_owned(),
            received: issue.received().kind().code(),
            schema_path: issue.schema_path().to_owned(),
            start: issue.span().start,
            end: issue.span().end,
            hint: issue.hint().map(str::to_owned),
        }
    }
}

/// An applied rule in JSON output.
#[derive(Debug, Serialize)]
struct AppliedRecord {
    rule: &'static str,
    risk: &'static str,
    path: String,
    schema_path: String,
    start: usize,
    end: usize,
    before: String,
    after: String,
}

impl From<&Applied> for AppliedRecord {
    fn from(applied: &Applied) -> Self {
        Self {
            rule: applied.rule().code(),
            risk: applied.risk().code(),
            path: applied.path().to_string(),
            schema_path: applied.schema_path().to_owned(),
            start: applied.start(),
            end: applied.end(),
            before: applied.before().to_owned(),
            after: applied.after().to_owned(),
        }
    }
}

/// One line for each applied rule or, if the value does not match, for each issue.
fn remarks(fitted: &Fitted) -> Vec<String> {
    let applied = fitted.applied().iter().filter(|_| fitted.text().is_some());
    let rule = |applied: &Applied| {
        format!("{} ({}) at {}", applied.rule(), applied.risk(), applied.path())
    };
    let issues = fitted.issues().iter().map(|issue| Rendering::new().line(issue));
    applied.map(rule).chain(issues).collect()
}

/// The records of `changes`.
pub(crate) fn changes(changes: &[Change]) -> Vec<Record> {
    changes.iter().map(Record::from).collect()
}

/// The tools that the command line names, with its rule switches.
pub(crate) fn tools_of_args(args: &StreamArgs) -> Result<Option<SharedRegistry>, Failure> {
    let Some(path) = &args.tools else { return Ok(None) };
    let registry = registry(path)?.map_err(Failure::Usage)?;
    Ok(Some(SharedRegistry::new(with_switches(registry, &args.rules))))
}

/// The tools that a request brings along.
pub(crate) fn tools_of_text(text: &str) -> Result<SharedRegistry, String> {
    tools(text).map(SharedRegistry::new)
}

/// The tools that the calls in a text may name. A tool is known by its name even if its schema cannot
/// be used, as where a type has a name that JSON Schema does not know.
pub(crate) fn call_tools(text: &str) -> Result<Tools, String> {
    let error = match tools(text) {
        Ok(registry) => return Ok(registry.tools()),
        Err(error) => error,
    };
    let Ok(Value::Array(declared)) = serde_json::from_str(text) else { return Err(error) };
    Ok(declared.into_iter().fold(Tools::new(), |known, tool| {
        let alone = Value::Array(vec![tool]);
        if let Ok(registry) = Registry::from_tools(&alone) {
            return known.and(registry.tools());
        }
        let tool = alone.get(0).unwrap_or(&Value::Null);
        let tool = tool.get("function").unwrap_or(tool);
        let Some(name) = tool.get("name").and_then(Value::as_str) else { return known };
        let properties = tool.pointer("/parameters/properties").and_then(Value::as_object);
        let parameters = properties.into_iter().flatten().map(|(name, _)| name.as_str());
        known.with_tool(name, parameters, None)
    }))
}

fn with_switches(mut registry: Registry, args: &RuleArgs) -> Registry {
    let names: Vec<String> = registry.names().map(str::to_owned).collect();
    for name in names {
        let own: Rules = match registry.resolve(Some(&name), None) {
            Resolved::Tool { rules, .. } => rules.clone(),
            _ => continue,
        };
        registry = registry.with_rules(&name, switched(own, args));
    }
    registry
}

/// How the arguments of a call match the schema of its tool. `None` where there is nothing to check
/// them by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallReport<'f>(&'f FittedCall);

/// The JSON output for it.
#[derive(Debug, Serialize)]
pub(crate) struct CallFitRecord<'a> {
    r#type: &'static str,
    call: usize,
    outcome: &'static str,
    /// The arguments, if they match the schema and the call is complete.
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<&'a str>,
    repairs: Vec<Record>,
    #[serde(flatten)]
    fit: Option<Fitting>,
}

impl<'f> CallReport<'f> {
    pub(crate) fn new(call: &'f FittedCall) -> Option<Self> {
        (!matches!(call.check(), CallCheck::Unchecked)).then_some(Self(call))
    }

    pub(crate) fn call(self) -> &'f Call {
        self.0.call()
    }

    /// An unknown tool is refused, and a call without an end is cut off.
    pub(crate) fn outcome(self) -> Outcome {
        match (self.0.check(), self.call().outcome()) {
            (CallCheck::Fitted { fitted, .. }, _) => fitted.outcome(),
            (CallCheck::Incomplete, Outcome::None) => Outcome::Cut,
            (CallCheck::Incomplete, outcome) => outcome,
            _ => Outcome::Invalid,
        }
    }

    /// The arguments, if they match the schema and the call is complete.
    pub(crate) fn arguments(self) -> Option<&'f str> {
        self.0.arguments()
    }

    pub(crate) fn record(self) -> CallFitRecord<'f> {
        let (outcome, nearest) = match self.0.check() {
            CallCheck::Unknown { nearest, .. } => ("unknown-tool", nearest.as_deref()),
            _ => (self.outcome().code(), None),
        };
        let fitted = match self.0.check() {
            CallCheck::Fitted { tool, fitted, .. } => Some((tool, fitted)),
            _ => None,
        };
        CallFitRecord {
            r#type: "call-fit",
            call: self.call().number(),
            outcome,
            arguments: self.arguments(),
            nearest,
            repairs: fitted.map(|(_, fitted)| changes(fitted.changes())).unwrap_or_default(),
            fit: fitted.map(|(tool, fitted)| Fitting::new(Some(tool.clone()), fitted)),
        }
    }

    /// One line for each applied rule or issue.
    pub(crate) fn lines(self) -> Vec<String> {
        match self.0.check() {
            CallCheck::Fitted { fitted, .. } => remarks(fitted),
            CallCheck::Unknown { nearest, .. } => {
                let nearest = nearest.as_ref().map(|name| format!("; the nearest is `{name}`"));
                vec![format!("no such tool{}", nearest.unwrap_or_default())]
            }
            _ => self
                .call()
                .doubt()
                .map(|doubt| doubt.description().to_owned())
                .into_iter()
                .collect(),
        }
    }
}

/// How an object, or a text, matches the schema for the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectReport<'f> {
    fit: &'f FittedObject,
    schema_id: Option<&'f str>,
}

/// The JSON output for it. Offsets count from the start of the text.
#[derive(Debug, Serialize)]
pub(crate) struct ObjectFitRecord<'a> {
    r#type: &'static str,
    choice: u32,
    block: u32,
    part: u32,
    start: usize,
    /// The value, if it matches the schema.
    json: Option<&'a str>,
    outcome: &'static str,
    /// Why the value may lack something.
    doubt: Option<&'static str>,
    repairs: Vec<Record>,
    #[serde(flatten)]
    fit: Option<Fitting>,
}

impl<'f> ObjectReport<'f> {
    pub(crate) const fn new(fit: &'f FittedObject, schema_id: Option<&'f str>) -> Self {
        Self { fit, schema_id }
    }

    pub(crate) fn outcome(self) -> Outcome {
        self.fit.outcome()
    }

    /// The text it is in, and where it begins there.
    pub(crate) const fn place(self) -> (Block, usize) {
        (self.fit.block(), self.fit.offset())
    }

    /// The value, if it matches the schema.
    pub(crate) fn json(self) -> Option<&'f str> {
        self.fit.json()
    }

    pub(crate) fn record(self) -> ObjectFitRecord<'f> {
        let (block, start) = self.place();
        let fitted = self.fit.fitted();
        let repairs = fitted.map(|fitted| changes(fitted.changes())).unwrap_or_default();
        let fit = fitted.map(|fitted| Fitting::new(self.schema_id.map(str::to_owned), fitted));
        ObjectFitRecord {
            r#type: "object-fit",
            choice: block.choice(),
            block: block.block(),
            part: block.part(),
            start,
            json: self.json(),
            outcome: self.outcome().code(),
            doubt: self.fit.doubt().map(Doubt::code),
            repairs: repairs.into_iter().map(|record| record.shifted(start)).collect(),
            fit: fit.map(|fit| fit.shifted(start)),
        }
    }

    /// `repaired (2 repairs, highest risk likely)`.
    pub(crate) fn summary(self, paint: Paint) -> Shown {
        match self.fit.fitted() {
            Some(fitted) if self.fit.doubt().is_none() => summary(fitted, paint),
            _ => report::outcome(paint, self.outcome()),
        }
    }

    /// One line for each reason to doubt it, applied rule or issue.
    pub(crate) fn lines(self) -> Vec<String> {
        let too_long = || vec![format!("longer than {} bytes (--buffer)", self.fit.limit())];
        let doubt = self.fit.doubt().map(|doubt| doubt.description().to_owned());
        doubt.into_iter().chain(self.fit.fitted().map_or_else(too_long, remarks)).collect()
    }
}

/// The number of issues that are listed; `check`, `--json` and `--verbose` list all.
const LISTED: usize = 50;

/// The output of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    file: &'a str,
    /// The line of a record.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_line: Option<u64>,
    /// Whether the input is valid JSON and matches the schema, without changes.
    valid: bool,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Option<&'a str>>,
    repairs: Vec<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at: Option<String>,
    #[serde(flatten)]
    fit: Fitting,
}

impl<'a> Report<'a> {
    pub(crate) fn new(file: &'a str, target: &Target, fitted: &'a Fitted) -> Self {
        Self {
            file,
            at_line: None,
            valid: fitted.outcome() == Outcome::Unchanged,
            outcome: fitted.outcome().code(),
            json: None,
            repairs: changes(fitted.changes()),
            cut_at: fitted.cut_at().map(ToString::to_string),
            fit: Fitting::new(target.id().map(str::to_owned), fitted),
        }
    }

    /// The report of a record that begins on this line of the file.
    pub(crate) const fn at_line(mut self, line: Option<u64>) -> Self {
        self.at_line = line;
        self
    }

    /// The report with the value.
    pub(crate) fn with_json(mut self, fitted: &'a Fitted) -> Self {
        self.json = Some(fitted.text());
        self
    }
}

/// Writes the value, and reports what was changed or is wrong.
pub(crate) fn repair(
    args: &RepairArgs,
    name: &str,
    text: &[u8],
    target: &Target,
    fitted: &Fitted,
    session: Session,
) -> Result<Outcome, Failure> {
    let mut out = Out::new();
    if args.json {
        out.record(&Report::new(name, target, fitted).with_json(fitted));
        out.flush()?;
        return Ok(fitted.outcome());
    }
    if let Some(json) = fitted.text() {
        out.document(json.as_bytes());
        out.end_line(json.as_bytes());
    } else if args.or_input {
        out.text(text);
    }
    out.flush()?;
    if !session.quiet {
        let listing = Listing { paint: session.stderr, name: Some(name), verbose: session.verbose };
        listing.lines(Some(text), fitted.changes()).iter().for_each(notice);
    }
    let listed = if session.verbose { usize::MAX } else { LISTED };
    for issue in fitted.issues().iter().take(listed) {
        notice(&shown!("{}: {}", name, Shown::message(&Rendering::new().line(issue))));
    }
    if let Some(more) = more_issues(fitted.issues().len(), listed) {
        notice(&shown!("{}: {}", name, more));
    }
    if fitted.text().is_none() || !session.quiet && fitted.outcome() != Outcome::Unchanged {
        notice(&shown!("{}: {}", name, summary(fitted, session.stderr)));
    }
    Ok(fitted.outcome())
}

/// Whether a document was dropped, because another one fits the schema.
pub(crate) fn drops_document(fitted: &Fitted) -> bool {
    let second = Cause::Syntax(RepairKind::SecondDocument);
    fitted.changes().iter().any(|change| change.cause() == second)
}

/// `… and 3 more issues (--verbose lists all)`, if there are more than are listed.
pub(crate) fn more_issues(issues: usize, listed: usize) -> Option<Shown> {
    let more = issues.checked_sub(listed).filter(|more| *more > 0)?;
    let noun = if more == 1 { "issue" } else { "issues" };
    Some(shown!("… and {} more {} (--verbose lists all)", more, noun))
}

/// Says whether a text matches the schema and, if not, what is wrong and what would change.
pub(crate) fn check(
    out: &mut Out,
    name: &str,
    text: &[u8],
    target: &Target,
    fitted: &Fitted,
    session: Session,
) {
    let title = session.stdout.paint(BOLD, name);
    if fitted.outcome() == Outcome::Unchanged {
        if !session.quiet {
            out.line(&shown!("{}: valid JSON, and it matches the schema", title));
        }
        return;
    }
    for issue in before(target, fitted) {
        let label = session.stdout.paint(BAD, issue.code());
        let message = Shown::message(&Rendering::new().line(&issue));
        out.line(&shown!("{}: {}: {}", name, label, message));
    }
    let listing = Listing { paint: session.stdout, name: Some(name), verbose: session.verbose };
    for line in listing.lines(Some(text), fitted.changes()) {
        out.line(&line);
    }
    let state = report::not_valid(session.stdout, "not valid", fitted.outcome());
    out.line(&shown!("{}: {} ({})", title, state, counts(fitted)));
}

/// The issues of the value before any rule was applied.
fn before(target: &Target, fitted: &Fitted) -> Vec<Issue> {
    let tree = fitted.mended().filter(|_| fitted.text().is_some()).map(Tree::read);
    match tree {
        Some(Ok(tree)) => target.schema().validate(&tree),
        _ => fitted.issues().to_vec(),
    }
}

/// `repaired (3 repairs, highest risk likely)`
fn summary(fitted: &Fitted, paint: Paint) -> Shown {
    let outcome = report::outcome(paint, fitted.outcome());
    if fitted.outcome() == Outcome::Unchanged {
        return outcome;
    }
    shown!("{} ({})", outcome, counts(fitted))
}

/// `3 repairs, highest risk likely`, or `1 issue`
fn counts(fitted: &Fitted) -> String {
    match (fitted.text(), fitted.issues().len()) {
        (Some(_), _) => report::count_of(fitted.changes().len(), fitted.risk()),
        (None, 1) => "1 issue".to_owned(),
        (None, issues) => format!("{issues} issues"),
    }
}
