//! The tools that a request declares.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::{Value, json};
use wiremend_schema::{Registry, Resolved, Rules, Schema};
use wiremend_wire::Guides;

use crate::members::Members;

/// The declarations of a request, as they are written there.
pub(crate) fn declared(members: &Members<'_>) -> Option<String> {
    let list = |text: &&str| text.starts_with('[') && text.len() > 2;
    let own = members.any(&["tools", "functions"]).filter(list);
    let converse = || members.object("toolConfig")?.get("tools").filter(list);
    own.or_else(converse).map(str::to_owned)
}

/// Tools, whose schemas are compiled when the first call needs them.
#[derive(Debug)]
pub(crate) struct Declared {
    text: String,
    registry: OnceLock<Option<Registry>>,
}

impl Declared {
    /// The tools, unless they cannot be read: then calls are mended without them.
    pub(crate) fn registry(&self) -> Option<&Registry> {
        let read = || {
            let tools: Value = serde_json::from_str(&self.text).ok()?;
            Registry::from_tools(&plain(tools)).ok()
        };
        self.registry.get_or_init(read).as_ref()
    }

    /// The tool of that name: its own name, its schema, and the rules that it sets.
    pub(crate) fn tool(&self, name: &str) -> Option<(&str, &Schema, &Rules)> {
        match self.registry()?.resolve(Some(name), None) {
            Resolved::Tool { name, schema, rules, .. } => Some((name, schema, rules)),
            _ => None,
        }
    }

    /// The only one, where the schema of the content is declared like a tool.
    pub(crate) fn only(&self) -> Option<(&str, &Schema, &Rules)> {
        self.tool(self.registry()?.names().next()?)
    }

    /// Guides to the arguments of the tools.
    pub(crate) fn guides(self: &Arc<Self>) -> Guides {
        let [guided, declared] = [Arc::clone(self), Arc::clone(self)];
        Guides::new(move |name| guided.tool(name).map(|(_, schema, _)| schema.guide()))
            .with_declared(move |name| declared.tool(name).map(|(name, ..)| name.to_owned()))
    }
}

/// Bedrock's declarations as the others write them: `toolSpec` with `inputSchema.json`.
fn plain(tools: Value) -> Value {
    let Value::Array(tools) = tools else { return tools };
    let of_bedrock = |tool: Value| match tool.get("toolSpec") {
        Some(spec) => {
            let schema = spec.pointer("/inputSchema/json").cloned();
            json!({"name": spec["name"], "parameters": schema.unwrap_or_else(|| json!({}))})
        }
        None => tool,
    };
    tools.into_iter().map(of_bedrock).collect()
}

/// The tools of the last requests: an agent sends the same ones again and again.
#[derive(Debug, Default)]
pub(crate) struct ToolCache(Mutex<Vec<Arc<Declared>>>);

/// How many declarations are kept, and how long each may be.
const KEPT: usize = 32;
const LONGEST: usize = 256 << 10;

impl ToolCache {
    pub(crate) fn of(&self, text: String) -> Arc<Declared> {
        let new = |text| Arc::new(Declared { text, registry: OnceLock::new() });
        if text.len() > LONGEST {
            return new(text);
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|declared| declared.text == text);
        let declared = found.map_or_else(|| new(text), |at| kept.remove(at));
        kept.truncate(KEPT - 1);
        kept.insert(0, Arc::clone(&declared));
        declared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(body: &str) -> Vec<String> {
        let text = declared(&Members::of(body).unwrap()).unwrap();
        let declared = ToolCache::default().of(text);
        declared.registry().map(|r| r.names().map(str::to_owned).collect()).unwrap_or_default()
    }

    #[test]
    fn the_declarations_of_every_provider_are_read() {
        for body in [
            r#"{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}"#,
            r#"{"functions":[{"name":"f","parameters":{"type":"object"}}]}"#,
            r#"{"tools":[{"type":"function","name":"f","parameters":{"type":"object"}},{"type":"web_search"}]}"#,
            r#"{"tools":[{"name":"f","input_schema":{"type":"object"}}]}"#,
            r#"{"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT"}}]}]}"#,
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]}}"#,
        ] {
            assert_eq!(names(body), ["f"], "{body}");
        }
        assert!(names(r#"{"tools":[{"name":"f","input_schema":{"type":7}}]}"#).is_empty());
        assert_eq!(declared(&Members::of(r#"{"tools":[]}"#).unwrap()), None);
    }

    #[test]
    fn the_same_tools_are_compiled_once_and_few_are_kept() {
        let cache = ToolCache::default();
        let first = cache.of("[1]".into());
        for number in 0..KEPT - 1 {
            cache.of(format!("[{number},2]"));
        }
        assert!(Arc::ptr_eq(&first, &cache.of("[1]".into())));
        for number in 0..KEPT {
            cache.of(format!("[{number},3]"));
        }
        assert!(!Arc::ptr_eq(&first, &cache.of("[1]".into())));
        assert_eq!(cache.0.lock().unwrap().len(), KEPT);
    }
}
