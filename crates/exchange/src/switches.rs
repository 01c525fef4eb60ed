//! The headers with which a request says what is mended in its answer.

use core::{error::Error, fmt};

use wiremend_core::Policy;

use crate::{
    Arguments, CallsInText, Content, Mending, Repair, ToolRule,
    head::{Head, HeaderEdit, text},
    request::take_healing_of,
};

/// What a request says, in headers that are not sent on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    mending: Mending,
    /// The policy that the request asks for, which narrows that of a tool.
    policy: Option<Repair>,
    /// What it says of content goes before the plug-in, as its policy does.
    content: Option<Content>,
    /// What the request wants to be done with arguments, at most.
    arguments: Option<Arguments>,
    /// The model may be asked again, if that is configured.
    reask: bool,
}

const POLICY: &str = "x-wiremend-policy";
const MODE: &str = "x-wiremend-mode";
const ARGUMENTS: &str = "x-wiremend-arguments";
const CONTENT: &str = "x-wiremend-content";
const CALLS: &str = "x-wiremend-calls-in-text";
const CUT: &str = "x-wiremend-cut";
const REASK: &str = "x-wiremend-reask";
const HISTORY: &str = "x-wiremend-history";
const COMMENT: &str = "x-wiremend-comment";
const PLUGINS: &str = "x-enable-plugins";

/// The switches, and the values of each.
const VALUES: [(&str, &str); 9] = [
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

/// A header of a request that would switch something, but is not known, has no known value, or is there twice. The message
/// says what would be right in its place, and repeats no value.
///
/// ```
/// use wiremend_exchange::{Exchanges, Mending};
///
/// let exchanges = Exchanges::new(Mending::new());
/// let switch = [("x-wiremend-mode", &b"fast"[..])];
/// let error = exchanges.request("POST", "/v1/messages", switch).unwrap_err();
/// assert_eq!(error.to_string(), "x-wiremend-mode is there once, and is eager or validated");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSwitch {
    name: String,
}

impl BadSwitch {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }

    /// The name of the header, in lower case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for BadSwitch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, values)) = VALUES.iter().find(|(known, _)| *known == self.name) {
            return write!(f, "{name} is there once, and is {values}");
        }
        let known: Vec<&str> = VALUES.iter().map(|(name, _)| *name).collect();
        let name: String = self.name.chars().take(100).collect();
        write!(f, "{name} is none of {}", known.join(", "))
    }
}

impl Error for BadSwitch {}

impl Switches {
    /// Those of a request without any.
    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) const fn of(mending: Mending) -> Self {
        Self { mending, policy: None, content: None, arguments: None, reask: true }
    }

    /// Reads the headers.
    pub(crate) fn read(head: &Head<'_>, default: &Mending) -> Result<Self, BadSwitch> {
        // Of two lines, nobody knows which one counts.
        if let Some(name) = head.own().find(|name| head.all(name).nth(1).is_some()) {
            return Err(BadSwitch { name });
        }
        let mut mending = default.clone();
        let (mut policy, mut content, mut arguments, mut reask) = (None, None, None, true);
        for (name, _) in VALUES {
            let Some(value) = head.all(name).next() else { continue };
            let value = text(value).unwrap_or("?").trim();
            let bad = |_| BadSwitch::new(name);
            let yes = || match value {
                "on" | "true" => Ok(true),
                "off" | "false" => Ok(false),
                _ => Err(BadSwitch::new(name)),
            };
            mending = match name {
                POLICY => mending.with_policy(*policy.insert(value.parse().map_err(bad)?)),
                MODE => mending.with_mode(value.parse().map_err(bad)?),
                ARGUMENTS => mending.with_arguments(*arguments.insert(value.parse().map_err(bad)?)),
                CONTENT => mending.with_content(*content.insert(value.parse().map_err(bad)?)),
                CALLS => {
                    let calls = CallsInText::try_from(value.to_owned());
                    mending.with_calls_in_text(calls.map_err(bad)?)
                }
                CUT => mending.with_cut(value.parse().map_err(bad)?),
                HISTORY => mending.with_history(yes()?),
                COMMENT => mending.with_comment(yes()?),
                _ => {
                    reask = yes()?;
                    mending
                }
            };
        }
        let known = |name: &String| VALUES.iter().any(|(known, _)| known == name);
        if let Some(name) = head.own().find(|name| !known(name)) {
            return Err(BadSwitch { name });
        }
        let mut switches = Self { mending, policy, content, arguments, reask };
        if plugins_left(head).is_some() {
            switches.heal(true);
        }
        Ok(switches)
    }

    /// What is mended.
    pub(crate) const fn mending(&self) -> &Mending {
        &self.mending
    }

    /// Whether the model may be asked again.
    pub(crate) const fn reask(&self) -> bool {
        self.reask
    }

    /// What is done with the arguments of a tool, and under which policy. A rule for the tool goes before
    /// what holds for all, and the request can only narrow it.
    pub(crate) fn of_tool(&self, tool: &str) -> (Arguments, Repair) {
        let rule = self.mending.tools().iter().find(|rule| rule.matches(tool));
        let (arguments, policy) = (self.mending.arguments(), self.mending.policy());
        let own = rule.and_then(ToolRule::arguments);
        let limit = rule.and_then(ToolRule::policy);
        (
            own.map_or(arguments, |own| self.arguments.map_or(own, |asked| own.narrowed(asked))),
            limit.map_or(policy, |own| self.policy.map_or(own, |asked| own.narrowed(asked))),
        )
    }

    /// The policy under which the arguments of a tool are mended in the history of the request. None, if they
    /// pass as they come.
    pub(crate) fn policy_of_history(&self, tool: &str) -> Option<Policy> {
        // As for an answer, a policy of `off` goes before the rules for tools.
        if !self.mending.history() || self.mending.policy() == Repair::Off {
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
        let mut mending = self.mending.clone();
        if on && self.policy.is_none() && mending.policy() == Repair::Off {
            mending = mending.with_policy(Repair::Likely);
        }
        let content = match (on, self.content, mending.content()) {
            (_, Some(own), _) => own,
            (false, None, _) => Content::Text,
            (true, None, Content::Text) => Content::Asked,
            (true, None, configured) => configured,
        };
        self.mending = mending.with_content(content);
    }
}

/// What is left of the header of plug-ins, if the one that mends is in one of its lines. Other lines stay.
fn plugins_left(head: &Head<'_>) -> Option<Vec<Vec<u8>>> {
    let mut taken = false;
    let lines = head.all(PLUGINS).filter_map(|line| {
        let Some(left) = text(line).and_then(take_healing_of) else { return Some(line.to_vec()) };
        taken = true;
        (!left.is_empty()).then(|| left.into_bytes())
    });
    let lines: Vec<Vec<u8>> = lines.collect();
    taken.then_some(lines)
}

/// The headers of a request that are not sent on as they came.
pub(crate) fn edits(head: &Head<'_>) -> Vec<HeaderEdit> {
    let own = head.own().map(HeaderEdit::removed);
    own.chain(plugins_left(head).map(|lines| HeaderEdit::lines_of(PLUGINS, lines))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;

    /// The switches, and the headers that are sent on.
    fn take(
        rows: &[(&str, &str)],
        default: &Mending,
    ) -> (Result<Switches, BadSwitch>, Vec<(String, String)>) {
        let head = Head::of(rows.iter().map(|(name, value)| (*name, value.as_bytes())));
        let edits = edits(&head);
        let mut left: Vec<(String, String)> =
            rows.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        left.retain(|(name, _)| edits.iter().all(|edit| edit.name() != name));
        for edit in &edits {
            let lines = edit.lines().map(|line| String::from_utf8(line.to_vec()).unwrap());
            left.extend(lines.map(|line| (edit.name().to_owned(), line)));
        }
        (Switches::read(&head, default), left)
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
        let (switches, left) = take(&rows, &Mending::new());
        let want = Mending::new()
            .with_policy(Repair::Exact)
            .with_mode(Mode::Validated)
            .with_arguments(Arguments::Mend)
            .with_content(Content::Json)
            .with_calls_in_text(CallsInText::Named("hermes".into()))
            .with_history(false)
            .with_comment(true);
        assert_eq!(*switches.unwrap().mending(), want);
        assert_eq!(left.len(), 1);
        assert_eq!(
            take(&[("x-wiremend-policy", "all")], &Mending::new()).0,
            Err(BadSwitch::new(POLICY))
        );
        assert_eq!(
            take(&[("x-wiremend-calls-in-text", "hermez")], &Mending::new()).0,
            Err(BadSwitch::new(CALLS))
        );
        let twice = [("x-wiremend-policy", "off"), ("x-wiremend-policy", "off")];
        assert_eq!(take(&twice, &Mending::new()).0, Err(BadSwitch::new(POLICY)));
        let unknown = BadSwitch::new("x-wiremend-speed");
        assert_eq!(take(&[("x-wiremend-speed", "1")], &Mending::new()).0, Err(unknown));
    }

    #[test]
    fn a_request_narrows_the_rule_of_a_tool_and_widens_none() {
        let rule = |name| ToolRule::new(name).unwrap();
        let rules = vec![
            rule("rm_*").with_arguments(Arguments::Mend).with_policy(Repair::Exact),
            rule("*").with_policy(Repair::Lossy),
        ];
        let default = Mending::new().with_tools(rules);
        let of = |rows: &[(&str, &str)], tool: &str| take(rows, &default).0.unwrap().of_tool(tool);
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
        let (switches, left) = take(&[("x-enable-plugins", "web,response-healing")], &off);
        assert_eq!(switches.unwrap().mending().policy(), Repair::Likely);
        assert_eq!(left, [("x-enable-plugins".to_owned(), "web".to_owned())]);
        let (switches, left) = take(&[("x-enable-plugins", "response-healing")], &off);
        assert_eq!(switches.unwrap().mending().policy(), Repair::Likely);
        assert!(left.is_empty());
        let (switches, left) = take(&[("x-enable-plugins", "web")], &off);
        assert_eq!((switches.unwrap().mending(), left.len()), (&off, 1));
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
            let (switches, left) = take(lines, &off);
            assert_eq!(switches.unwrap().mending().policy(), Repair::Likely, "{lines:?}");
            let left: Vec<&str> = left.iter().map(|(_, line)| line.as_str()).collect();
            assert_eq!(left, stay);
        }
    }

    #[test]
    fn a_header_of_the_gateway_goes_before_the_plug_in() {
        let plugin = ("x-enable-plugins", "response-healing");
        let of = |rows: &[(&str, &str)]| take(rows, &Mending::new()).0.unwrap().mending().clone();
        let off = of(&[plugin, ("x-wiremend-policy", "off")]);
        assert_eq!(off.policy(), Repair::Off);
        let text = of(&[plugin, ("x-wiremend-content", "text")]);
        assert_eq!(text.content(), Content::Text);
        let rows = [("x-wiremend-policy", "off"), ("x-wiremend-content", "json")];
        let mut switches = take(&rows, &Mending::new()).0.unwrap();
        for on in [true, false] {
            switches.heal(on);
            assert_eq!(switches.mending().policy(), Repair::Off);
            assert_eq!(switches.mending().content(), Content::Json);
        }
    }
}
