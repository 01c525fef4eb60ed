//! What a request says about the answer: its model, its tools, whether it wants JSON, whether it wants a
//! stream. And the few edits of it: a switch that is for the gateway, and calls in its history.

mod history;
mod members;
mod switches;
mod tools;
mod wanted;

use http::Uri;

pub(crate) use history::{Fixed, History};
pub(crate) use switches::{Switches, right_switch};
pub(crate) use tools::{Declared, ToolCache};

use members::{Edits, Members, items};
use wanted::{Wanted, wanted};

/// The plug-in of OpenRouter that does what a gateway does.
const HEALING: &str = "response-healing";

/// What a request says about its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) model: Option<String>,
    /// It wants a stream.
    pub(crate) stream: bool,
    /// It wants JSON as content.
    pub(crate) json: bool,
    /// The schema of that content, as the declaration of a tool.
    pub(crate) schema: Option<String>,
    /// The declarations of its tools, as they were written.
    pub(crate) tools: Option<String>,
    /// Calls of its history.
    pub(crate) fixed: Fixed,
    /// What is sent on instead of its body, if that is not the same.
    pub(crate) body: Option<String>,
}

impl Asked {
    /// What only the path says.
    pub(crate) fn of_path(uri: &Uri) -> Self {
        let path = uri.path();
        let last = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        Self { model: model_of(path), stream: last.contains("stream"), ..Self::default() }
    }

    /// What the body says, too. Nothing of a body that is not JSON. A switch in it changes those of the
    /// headers, before the history is mended under them.
    pub(crate) fn read(uri: &Uri, body: &[u8], switches: &mut Switches) -> Self {
        let mut asked = Self::of_path(uri);
        let Ok(text) = std::str::from_utf8(body) else { return asked };
        // A mark of the byte order before it is sent on, as it came.
        let json = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
        let Some(members) = Members::of(json) else { return asked };
        if let Some(model) = members.string("model") {
            asked.model = Some(model);
        }
        asked.stream |= members.get("stream") == Some("true");
        Wanted { json: asked.json, schema: asked.schema } = wanted(&members);
        asked.tools = tools::declared(&members);
        let mut edits = Edits::new(text);
        if let Some(on) = take_healing(json, &members, &mut edits) {
            switches.heal(on);
        }
        if switches.mending.history {
            asked.fixed = History::of(uri.path()).mend(&members, switches, &mut edits);
        }
        asked.body = (!edits.is_empty()).then(|| edits.apply());
        asked
    }
}

/// The model in a path: `/models/NAME:generateContent`, `/model/NAME/converse`, `/deployments/NAME/chat`.
fn model_of(path: &str) -> Option<String> {
    let mut segments = path.split('/');
    segments.find(|segment| ["models", "model", "deployments"].contains(segment))?;
    let name = segments.next()?.split(':').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Takes the plug-in out, and says whether it was switched on. If it is there several times, the last one
/// counts.
fn take_healing<'t>(text: &'t str, members: &Members<'t>, edits: &mut Edits<'t>) -> Option<bool> {
    let list = members.get("plugins")?;
    let plugins = items(list);
    let healing = |(number, item): (usize, &&'t str)| {
        let plugin = Members::of(item)?;
        let is_on = plugin.get("enabled") != Some("false");
        (plugin.string("id")? == HEALING).then_some((number, is_on))
    };
    let found: Vec<(usize, bool)> = plugins.iter().enumerate().filter_map(healing).collect();
    let (_, is_on) = *found.last()?;
    if found.len() == plugins.len() {
        let values: Vec<&str> = members.values().collect();
        edits.remove(text, &values, &[members.position("plugins")?]);
    } else {
        let numbers: Vec<usize> = found.iter().map(|(number, _)| *number).collect();
        edits.remove(list, &plugins, &numbers);
    }
    Some(is_on)
}

/// Takes the plug-in out of the list of a header, and says whether it was there. What is left may be empty.
pub(crate) fn take_healing_of(list: &str) -> Option<String> {
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    let left: Vec<&str> = names.iter().copied().filter(|name| *name != HEALING).collect();
    (left.len() < names.len()).then(|| left.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Content, Mending, Repair};

    fn read(path: &str, body: &str) -> Asked {
        read_with(path, body, Mending::new()).0
    }

    /// The same, with the switches as they are then.
    fn read_with(path: &str, body: &str, mending: Mending) -> (Asked, Switches) {
        let mut switches = Switches::of(mending);
        let asked = Asked::read(&path.parse().unwrap(), body.as_bytes(), &mut switches);
        (asked, switches)
    }

    #[test]
    fn the_model_and_the_stream_are_in_the_body_or_in_the_path() {
        let asked = read("/v1/chat/completions", r#"{"model":"m\u00e9","stream":true}"#);
        assert_eq!((asked.model.as_deref(), asked.stream), (Some("mé"), true));
        let asked = read("/v1beta/models/gemini-x:streamGenerateContent", "{}");
        assert_eq!((asked.model.as_deref(), asked.stream), (Some("gemini-x"), true));
        let asked = read("/model/a.b-v1/converse-stream", "{}");
        assert_eq!((asked.model.as_deref(), asked.stream), (Some("a.b-v1"), true));
        let asked = read("/v1/chat/completions", r#"{"stream":false}"#);
        assert_eq!((asked.model, asked.stream, asked.body), (None, false, None));
    }

    #[test]
    fn the_plug_in_is_taken_out_and_nothing_else_changes() {
        let off = || Mending::new().with_policy(Repair::Off);
        let healed = |body: &str| {
            let (asked, switches) = read_with("/", body, off());
            (asked.body, switches.mending.policy())
        };
        let some = |body: &str| Some(body.to_owned());
        for (body, sent, policy) in [
            (
                r#" {"a": 1.0, "plugins": [{"id": "response-healing"}]} "#,
                some(r#" {"a": 1.0} "#),
                Repair::Likely,
            ),
            (
                r#"{"plugins":[{"id":"response-healing","enabled":false}],"a":1}"#,
                some(r#"{"a":1}"#),
                Repair::Off,
            ),
            (
                r#"{"plugins":[{"id":"web"}, {"id":"response-healing"}]}"#,
                some(r#"{"plugins":[{"id":"web"}]}"#),
                Repair::Likely,
            ),
            (
                r#"{"plugins":[{"id":"response-healing"},{"id":"response-healing"},{"id":"web"}]}"#,
                some(r#"{"plugins":[{"id":"web"}]}"#),
                Repair::Likely,
            ),
            (
                r#"{"plugins":[{"id":"response-healing"},{"id":"web"},{"id":"response-healing","enabled":false}]}"#,
                some(r#"{"plugins":[{"id":"web"}]}"#),
                Repair::Off,
            ),
            (
                r#"{"a":1,"plugins":[{"id":"response-healing"}, {"id":"response-healing"}]}"#,
                some(r#"{"a":1}"#),
                Repair::Likely,
            ),
            (r#"{"plugins":[{"id":"web"}]}"#, None, Repair::Off),
            (r#"{"plugins":["response-healing",{"name":"x"}]}"#, None, Repair::Off),
        ] {
            assert_eq!(healed(body), (sent, policy), "{body}");
        }
        assert_eq!(take_healing_of("web, response-healing").as_deref(), Some("web"));
        assert_eq!(take_healing_of("response-healing").as_deref(), Some(""));
        assert_eq!(take_healing_of("web"), None);
    }

    /// It is about content that the request asks for as JSON. Calls are mended without it, too.
    #[test]
    fn a_plug_in_that_is_switched_off_leaves_content_alone_and_mends_calls() {
        let body = r#"{"plugins":[{"id":"response-healing","enabled":false}]}"#;
        let (_, switches) = read_with("/", body, Mending::new().with_content(Content::Json));
        assert_eq!(switches.mending, Mending::new().with_content(Content::Text));
        let body = r#"{"plugins":[{"id":"response-healing"}]}"#;
        let (_, switches) = read_with("/", body, Mending::new().with_content(Content::Text));
        assert_eq!(switches.mending, Mending::new());
        let (_, switches) = read_with("/", body, Mending::new().with_policy(Repair::Exact));
        assert_eq!(switches.mending, Mending::new().with_policy(Repair::Exact));
    }

    #[test]
    fn a_body_with_a_byte_order_mark_is_read_and_keeps_it() {
        let body = "\u{feff} {\"model\":\"m\",\"plugins\":[{\"id\":\"response-healing\"}],\"a\":1}";
        let asked = read("/", body);
        assert_eq!(asked.model.as_deref(), Some("m"));
        assert_eq!(asked.body.as_deref(), Some("\u{feff} {\"model\":\"m\",\"a\":1}"));
        assert_eq!(read("/", "\u{feff}{}").body, None);
    }

    /// The plug-in is read before the history is mended.
    #[test]
    fn the_plug_in_switches_the_history_on_as_well() {
        let history = r#""messages":[{"tool_calls":[{"function":{"arguments":"{'a': 1}"}}]}]"#;
        let off = || Mending::new().with_policy(Repair::Off);
        let path = "/v1/chat/completions";
        let (asked, _) = read_with(path, &format!("{{{history}}}"), off());
        assert_eq!((asked.fixed, asked.body), (Fixed::default(), None));
        let body = format!(r#"{{"plugins":[{{"id":"response-healing"}}],{history}}}"#);
        let (asked, _) = read_with(path, &body, off());
        assert_eq!(asked.fixed, Fixed { mended: 1, replaced: 0 });
    }
}
