//! The headers with which a request says what is mended in its answer.

use http::{HeaderMap, HeaderName, HeaderValue};
use wiremend_core::Policy;

use super::take_healing_of;
use crate::config::{Arguments, CallsInText, Content, Mending, Repair, ToolRule};
use crate::headers::is_own;

/// What a request says, in headers that are for the gateway and are not sent on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    pub(crate) mending: Mending,
    /// The policy that the request asks for, which narrows that of a tool.
    policy: Option<Repair>,
    /// What it says of content goes before the plug-in, as its policy does.
    content: Option<Content>,
    /// What the request wants to be done with arguments, at most.
    arguments: Option<Arguments>,
    /// The model may be asked again, if that is configured.
    pub(crate) reask: bool,
}

const POLICY: HeaderName = HeaderName::from_static("x-wiremend-policy");
const MODE: HeaderName = HeaderName::from_static("x-wiremend-mode");
const ARGUMENTS: HeaderName = HeaderName::from_static("x-wiremend-arguments");
const CONTENT: HeaderName = HeaderName::from_static("x-wiremend-content");
const CALLS: HeaderName = HeaderName::from_static("x-wiremend-calls-in-text");
const CUT: HeaderName = HeaderName::from_static("x-wiremend-cut");
const REASK: HeaderName = HeaderName::from_static("x-wiremend-reask");
const HISTORY: HeaderName = HeaderName::from_static("x-wiremend-history");
const COMMENT: HeaderName = HeaderName::from_static("x-wiremend-comment");
const PLUGINS: HeaderName = HeaderName::from_static("x-enable-plugins");

/// The switches, and the values of each.
static VALUES: [(HeaderName, &str); 9] = [
    (POLICY, "exact, likely, lossy or off"),
    (MODE, "eager or validated"),
    (ARGUMENTS, "fit, mend or pass"),
    (CONTENT, "asked, json or text"),
    (CALLS, "off, auto, or the name of a dialect or a model"),
    (CUT, "pass or withhold"),
    (REASK, "on or off"),
    (HISTORY, "on or off"),
    (COMMENT, "on or off"),
];

/// What would be right in the place of a switch that is wrong.
pub(crate) fn right_switch(name: &HeaderName) -> String {
    if let Some((name, values)) = VALUES.iter().find(|(known, _)| known == name) {
        return format!("{name} is there once, and is {values}");
    }
    let known: Vec<&str> = VALUES.iter().map(|(name, _)| name.as_str()).collect();
    let name: String = name.as_str().chars().take(100).collect();
    format!("{name} is none of {}", known.join(", "))
}

impl Switches {
    /// Those of a request without any.
    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) const fn of(mending: Mending) -> Self {
        Self { mending, policy: None, content: None, arguments: None, reask: true }
    }

    /// Takes the headers out. An error is the name of the one that has no known value, or several.
    pub(crate) fn take(headers: &mut HeaderMap, default: Mending) -> Result<Self, HeaderName> {
        let mut mending = default;
        let (mut policy, mut content, mut arguments) = (None, None, None);
        // Of two lines, nobody knows which one counts.
        let twice = |name: &&HeaderName| headers.get_all(*name).iter().count() > 1;
        if let Some(name) = headers.keys().filter(|name| is_own(name)).find(twice) {
            return Err(name.clone());
        }
        let mut take = |name: &HeaderName| {
            headers.remove(name).map(|value| value.to_str().unwrap_or("?").trim().to_owned())
        };
        let yes = |name: HeaderName, text: &str| match text {
            "on" | "true" => Ok(true),
            "off" | "false" => Ok(false),
            _ => Err(name),
        };
        if let Some(text) = take(&POLICY) {
            mending.policy = text.parse().map_err(|()| POLICY)?;
            policy = Some(mending.policy);
        }
        if let Some(text) = take(&MODE) {
            mending.mode = text.parse().map_err(|()| MODE)?;
        }
        if let Some(text) = take(&ARGUMENTS) {
            mending.arguments = text.parse().map_err(|()| ARGUMENTS)?;
            arguments = Some(mending.arguments);
        }
        if let Some(text) = take(&CONTENT) {
            mending.content = text.parse().map_err(|()| CONTENT)?;
            content = Some(mending.content);
        }
        if let Some(text) = take(&CALLS) {
            mending.calls_in_text = CallsInText::try_from(text).map_err(|_| CALLS)?;
        }
        if let Some(text) = take(&CUT) {
            mending.cut = text.parse().map_err(|()| CUT)?;
        }
        if let Some(text) = take(&HISTORY) {
            mending.history = yes(HISTORY, &text)?;
        }
        if let Some(text) = take(&COMMENT) {
            mending.comment = yes(COMMENT, &text)?;
        }
        let mut reask = true;
        if let Some(text) = take(&REASK) {
            reask = yes(REASK, &text)?;
        }
        if let Some(unknown) = headers.keys().find(|name| is_own(name)) {
            return Err(unknown.clone());
        }
        let mut switches = Self { mending, policy, content, arguments, reask };
        if take_plugin(headers) {
            switches.heal(true);
        }
        Ok(switches)
    }

    /// What is done with the arguments of a tool, and under which policy. A rule for the tool goes before
    /// what holds for all, and the request can only narrow it.
    pub(crate) fn of_tool(&self, tool: &str) -> (Arguments, Repair) {
        let Mending { arguments, policy, tools, .. } = &self.mending;
        let rule = tools.iter().find(|rule| rule.matches(tool));
        let own = rule.and_then(ToolRule::arguments);
        let limit = rule.and_then(ToolRule::policy);
        (
            own.map_or(*arguments, |own| self.arguments.map_or(own, |asked| own.narrowed(asked))),
            limit.map_or(*policy, |own| self.policy.map_or(own, |asked| own.narrowed(asked))),
        )
    }

    /// The policy under which the arguments of a tool are mended in the history of the request. None, if they
    /// pass as they come.
    pub(crate) fn policy_of_history(&self, tool: &str) -> Option<Policy> {
        let Mending { history, policy, .. } = self.mending;
        // As for an answer, a policy of `off` goes before the rules for tools.
        if !history || policy == Repair::Off {
            return None;
        }
        match self.of_tool(tool) {
            (Arguments::Pass, _) => None,
            (_, policy) => policy.engine(),
        }
    }

    /// What the plug-in says: JSON that was asked for is mended, or it is not. What the request says in a
    /// header of the gateway itself goes before it.
    pub(crate) fn heal(&mut self, on: bool) {
        if on && self.policy.is_none() && self.mending.policy == Repair::Off {
            self.mending.policy = Repair::Likely;
        }
        self.mending.content = match (on, self.content, self.mending.content) {
            (_, Some(own), _) => own,
            (false, None, _) => Content::Text,
            (true, None, Content::Text) => Content::Asked,
            (true, None, configured) => configured,
        };
    }
}

/// Takes the plug-in out of every line of the header, and says whether it was there. Other lines stay.
fn take_plugin(headers: &mut HeaderMap) -> bool {
    let lines: Vec<HeaderValue> = headers.get_all(&PLUGINS).iter().cloned().collect();
    let left = |line: &HeaderValue| line.to_str().ok().and_then(take_healing_of);
    if lines.iter().all(|line| left(line).is_none()) {
        return false;
    }
    headers.remove(&PLUGINS);
    for line in lines {
        let Some(left) = left(&line) else {
            headers.append(PLUGINS, line);
            continue;
        };
        if let Ok(left) = left.parse::<HeaderValue>()
            && !left.is_empty()
        {
            headers.append(PLUGINS, left);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Mode;

    fn take(
        rows: &[(&'static str, &'static str)],
        default: Mending,
    ) -> (Result<Switches, HeaderName>, HeaderMap) {
        let row = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        // A line for each, also where a name comes twice.
        let mut headers = HeaderMap::new();
        for (name, value) in rows.iter().map(row) {
            headers.append(name, value);
        }
        (Switches::take(&mut headers, default), headers)
    }

    #[test]
    fn switches_are_read_and_taken_out() {
        let rows = [
            ("x-wiremend-policy", "exact"),
            ("x-wiremend-mode", "validated"),
            ("x-wiremend-arguments", "mend"),
            ("x-wiremend-content", "json"),
            ("x-wiremend-calls-in-text", "hermes"),
            ("x-wiremend-history", "off"),
            ("x-wiremend-comment", "on"),
            ("x-api-key", "k"),
        ];
        let (switches, left) = take(&rows, Mending::new());
        let want = Mending::new()
            .with_policy(Repair::Exact)
            .with_mode(Mode::Validated)
            .with_arguments(Arguments::Mend)
            .with_content(Content::Json)
            .with_calls_in_text(CallsInText::Named("hermes".into()))
            .with_history(false)
            .with_comment(true);
        assert_eq!(switches.unwrap().mending, want);
        assert_eq!(left.len(), 1);
        assert_eq!(take(&[("x-wiremend-policy", "all")], Mending::new()).0, Err(POLICY));
        assert_eq!(take(&[("x-wiremend-calls-in-text", "hermez")], Mending::new()).0, Err(CALLS));
        let twice = [("x-wiremend-policy", "off"), ("x-wiremend-policy", "off")];
        assert_eq!(take(&twice, Mending::new()).0, Err(POLICY));
        let unknown = HeaderName::from_static("x-wiremend-speed");
        assert_eq!(take(&[("x-wiremend-speed", "1")], Mending::new()).0, Err(unknown));
    }

    #[test]
    fn a_request_narrows_the_rule_of_a_tool_and_widens_none() {
        let rule = |name| crate::config::ToolRule::new(name).unwrap();
        let rules = vec![
            rule("rm_*").with_arguments(Arguments::Mend).with_policy(Repair::Exact),
            rule("*").with_policy(Repair::Lossy),
        ];
        let default = Mending::new().with_tools(rules);
        let of = |rows: &[(&'static str, &'static str)], tool: &str| {
            take(rows, default.clone()).0.unwrap().of_tool(tool)
        };
        let wide = [("x-wiremend-policy", "lossy"), ("x-wiremend-arguments", "fit")];
        let narrow = [("x-wiremend-policy", "exact"), ("x-wiremend-arguments", "pass")];
        assert_eq!(of(&[], "rm_all"), (Arguments::Mend, Repair::Exact));
        assert_eq!(of(&[], "f"), (Arguments::Fit, Repair::Lossy));
        assert_eq!(of(&wide, "rm_all"), (Arguments::Mend, Repair::Exact));
        assert_eq!(of(&narrow, "rm_all"), (Arguments::Pass, Repair::Exact));
        assert_eq!(of(&narrow, "f"), (Arguments::Pass, Repair::Exact));
    }

    #[test]
    fn the_plug_in_switches_mending_on() {
        let off = Mending::new().with_policy(Repair::Off);
        let (switches, left) = take(&[("x-enable-plugins", "web,response-healing")], off.clone());
        assert_eq!(switches.unwrap().mending.policy(), Repair::Likely);
        assert_eq!(left["x-enable-plugins"], "web");
        let (switches, left) = take(&[("x-enable-plugins", "response-healing")], off.clone());
        assert_eq!(switches.unwrap().mending.policy(), Repair::Likely);
        assert!(left.is_empty());
        let (switches, left) = take(&[("x-enable-plugins", "web")], off.clone());
        assert_eq!((switches.unwrap().mending, left.len()), (off, 1));
    }

    #[test]
    fn the_plug_in_is_taken_out_of_every_line_and_nothing_else_is() {
        let off = Mending::new().with_policy(Repair::Off);
        let name = "x-enable-plugins";
        for (lines, stay) in [
            (&[(name, "response-healing"), (name, "web")][..], &["web"][..]),
            (&[(name, "web"), (name, "response-healing")], &["web"]),
            (&[(name, "web,files"), (name, "response-healing, a")], &["web,files", "a"]),
            (&[(name, "response-healing"), (name, "response-healing")], &[]),
        ] {
            let (switches, left) = take(lines, off.clone());
            assert_eq!(switches.unwrap().mending.policy(), Repair::Likely, "{lines:?}");
            let left: Vec<&str> =
                left.get_all(name).iter().map(|line| line.to_str().unwrap()).collect();
            assert_eq!(left, stay);
        }
    }

    #[test]
    fn a_header_of_the_gateway_goes_before_the_plug_in() {
        let plugin = ("x-enable-plugins", "response-healing");
        let of =
            |rows: &[(&'static str, &'static str)]| take(rows, Mending::new()).0.unwrap().mending;
        let off = of(&[plugin, ("x-wiremend-policy", "off")]);
        assert_eq!(off.policy(), Repair::Off);
        let text = of(&[plugin, ("x-wiremend-content", "text")]);
        assert_eq!(text.content(), Content::Text);
        let rows = [("x-wiremend-policy", "off"), ("x-wiremend-content", "json")];
        let mut switches = take(&rows, Mending::new()).0.unwrap();
        for on in [true, false] {
            switches.heal(on);
            assert_eq!(switches.mending.policy(), Repair::Off);
            assert_eq!(switches.mending.content(), Content::Json);
        }
    }
}
