//! Readers of calls that know one tool.

use wiremend_core::MendOptions;
use wiremend_extract::{CallExtractor, Dialect, Tools};

/// A reader for a dialect, or for all, that knows the tool `book`.
pub(crate) fn reader(dialect: Option<&str>) -> CallExtractor {
    let tools = Tools::new().with_tool("book", ["seats", "name"], None);
    let reader = CallExtractor::new(MendOptions::new()).with_tools(tools);
    match dialect.and_then(Dialect::by_name) {
        Some(dialect) => reader.with_dialect(dialect.clone()),
        None => reader,
    }
}
