//! Making values match a schema, and reporting the result.

mod response;
mod run;

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use serde::Serialize;
use serde_json::Value;
use wiremend_core::Options;
use wiremend_extract::Scope;
use wiremend_schema::{
    Applied, Change, FitOptions, Fitted, Issue, Registry, Rendering, Resolved, Rules, Schema,
};

pub(crate) use response::{CallReport, ObjectReport, call_tools, tools_of_args, tools_of_text};
pub(crate) use run::{check, drops_document, more_issues, repair};

use crate::{
    args::{RuleArgs, SchemaArgs},
    exit::Failure,
    input::read_up_to,
    report::Record,
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

    pub(crate) fn fit(&self, input: &[u8], engine: Options, scope: Scope) -> Fitted {
        self.schema.fit(input, &self.options().with_engine(engine).with_scope(scope))
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
