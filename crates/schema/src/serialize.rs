//! Serializes reports, with the same spelling as the command line.

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeStruct},
};

use crate::{Applied, Change, EarlyIssue, Fitted, Issue, Rendering};

/// `{"code", "risk", "start", "end", "after", "path"}`
impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Change", 6)?;
        fields.serialize_field("code", self.cause().code())?;
        fields.serialize_field("risk", self.risk().code())?;
        fields.serialize_field("start", &self.start())?;
        fields.serialize_field("end", &self.end())?;
        fields.serialize_field("after", self.after())?;
        fields.serialize_field("path", &self.path().to_string())?;
        fields.end()
    }
}

/// `{"rule", "risk", "path", "schema_path", "start", "end", "before", "after"}`
impl Serialize for Applied {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Applied", 8)?;
        fields.serialize_field("rule", self.rule().code())?;
        fields.serialize_field("risk", self.risk().code())?;
        fields.serialize_field("path", &self.path().to_string())?;
        fields.serialize_field("schema_path", self.schema_path())?;
        fields.serialize_field("start", &self.start())?;
        fields.serialize_field("end", &self.end())?;
        fields.serialize_field("before", self.before())?;
        fields.serialize_field("after", self.after())?;
        fields.end()
    }
}

fn issue_fields<M: SerializeMap>(issue: &Issue, fields: &mut M) -> Result<(), M::Error> {
    fields.serialize_entry("code", issue.code().code())?;
    fields.serialize_entry("pointer", issue.pointer())?;
    fields.serialize_entry("path", &issue.path().to_string())?;
    fields.serialize_entry("message", &Rendering::new().line(issue))?;
    fields.serialize_entry("expected", issue.expected())?;
    fields.serialize_entry("received", issue.received().kind().code())?;
    fields.serialize_entry("schema_path", issue.schema_path())?;
    fields.serialize_entry("start", &issue.span().start)?;
    fields.serialize_entry("end", &issue.span().end)?;
    match issue.hint() {
        Some(hint) => fields.serialize_entry("hint", hint),
        None => Ok(()),
    }
}

/// `{"code", "pointer", "path", "message", "expected", "received", "schema_path", "start", "end"}`, and
/// `"hint"` if there is one.
impl Serialize for Issue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        issue_fields(self, &mut fields)?;
        fields.end()
    }
}

/// `{"standing", "offset"}`, followed by the fields of the issue.
impl Serialize for EarlyIssue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("standing", self.standing().code())?;
        fields.serialize_entry("offset", &self.offset())?;
        issue_fields(self.issue(), &mut fields)?;
        fields.end()
    }
}

/// `{"outcome", "json", "repairs", "issues", "coerced", "cut_at"}`; `json` is the text, as a string.
impl Serialize for Fitted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Fitted", 6)?;
        fields.serialize_field("outcome", self.outcome().code())?;
        fields.serialize_field("json", &self.text())?;
        fields.serialize_field("repairs", self.changes())?;
        fields.serialize_field("issues", self.issues())?;
        fields.serialize_field("coerced", self.applied())?;
        fields.serialize_field("cut_at", &self.cut_at().map(ToString::to_string))?;
        fields.end()
    }
}
