//! Where requests are sent.

use http::{Uri, uri::Authority};
use serde::{Deserialize, Serialize};

use wiremend_exchange::{
    Arguments, CallsInText, Content, CutCalls, Mending, Mode, Repair, ToolRule,
};

use super::ConfigError;
use crate::hosts::is_loopback;

/// A provider, and the paths whose requests it gets.
///
/// ```
/// use wiremend_proxy::Upstream;
/// let upstream = Upstream::parse("/openai=https://api.openai.com/")?;
/// assert_eq!(upstream.prefix(), "/openai");
/// assert_eq!(upstream.url(), "https://api.openai.com");
/// # Ok::<(), wiremend_proxy::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Upstream {
    prefix: String,
    https: bool,
    authority: String,
    /// The path before that of a request, without a slash at its end.
    path: String,
    overrides: Overrides,
}

/// What is mended in another way than by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Overrides {
    policy: Option<Repair>,
    mode: Option<Mode>,
    arguments: Option<Arguments>,
    content: Option<Content>,
    calls_in_text: Option<CallsInText>,
    cut: Option<CutCalls>,
    history: Option<bool>,
    comment: Option<bool>,
    tools: Vec<ToolRule>,
}

/// The same, as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(default = "root")]
    prefix: String,
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<Repair>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Arguments>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Content>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calls_in_text: Option<CallsInText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<CutCalls>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    history: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<bool>,
    #[serde(default, rename = "tool", skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolRule>,
}

fn root() -> String {
    "/".to_owned()
}

impl Upstream {
    /// An upstream for the paths that begin with `prefix`, by whole segments. The prefix is not sent on.
    ///
    /// # Errors
    /// If the prefix does not begin with `/`, or the URL has another scheme than `http` or `https`, no
    /// host, a user, or a query.
    pub fn new(prefix: &str, url: &str) -> Result<Self, ConfigError> {
        // A URL may hold a password, so no message repeats it.
        let wrong =
            |what: &str| ConfigError::new(format!("the URL of the upstream {prefix:?} {what}"));
        let uri: Uri = url.trim().parse().map_err(|_| wrong("cannot be read"))?;
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("begins with neither https:// nor http://")),
        };
        let authority = uri.authority().map(Authority::as_str).unwrap_or_default();
        if authority.is_empty() || authority.contains('@') {
            return Err(wrong("has no host, or a user"));
        }
        if uri.query().is_some() || url.contains('#') {
            return Err(wrong("has a query or a fragment"));
        }
        let prefix = prefix.trim();
        if !prefix.starts_with('/') {
            return Err(ConfigError::new(format!("the prefix {prefix:?} begins with no slash")));
        }
        if prefix.contains(['?', '#', '%']) {
            return Err(ConfigError::new(format!("the prefix {prefix:?} is no path")));
        }
        let prefix = match prefix.trim_end_matches('/') {
            "" => "/",
            prefix => prefix,
        };
        Ok(Self {
            prefix: prefix.to_owned(),
            https,
            authority: authority.to_owned(),
            path: uri.path().trim_end_matches('/').to_owned(),
            overrides: Overrides::default(),
        })
    }

    /// Reads `URL` or `PREFIX=URL`.
    ///
    /// # Errors
    /// The same as [`new`](Self::new).
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        match text.trim().split_once('=') {
            Some((prefix, url)) if prefix.starts_with('/') => Self::new(prefix, url),
            // The sign may be in a URL. Otherwise what is before it may be anything, so it is not repeated.
            Some((prefix, _)) if !prefix.contains("://") => Err(ConfigError::new(
                "a prefix begins with a slash, as in /openai=https://api.openai.com",
            )),
            _ => Self::new("/", text),
        }
    }

    /// The beginning of the paths.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The URL.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.path)
    }

    pub(crate) const fn is_https(&self) -> bool {
        self.https
    }

    /// The host and the port, as the header `Host` has them.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// Whether it is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.authority.parse().is_ok_and(|authority: Authority| is_loopback(authority.host()))
    }

    /// What is mended here.
    pub(crate) fn mending(&self, default: &Mending) -> Mending {
        let own = &self.overrides;
        let calls = own.calls_in_text.as_ref().unwrap_or(default.calls_in_text());
        Mending::new()
            .with_policy(own.policy.unwrap_or(default.policy()))
            .with_mode(own.mode.unwrap_or(default.mode()))
            .with_arguments(own.arguments.unwrap_or(default.arguments()))
            .with_content(own.content.unwrap_or(default.content()))
            .with_calls_in_text(calls.clone())
            .with_cut(own.cut.unwrap_or(default.cut()))
            .with_history(own.history.unwrap_or(default.history()))
            .with_comment(own.comment.unwrap_or(default.comment()))
            // Those of the upstream come first.
            .with_tools(own.tools.iter().chain(default.tools()).cloned().collect())
    }

    /// The path of a request without the prefix, if it has it.
    pub(crate) fn rest<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.prefix == "/" {
            return Some(path);
        }
        let rest = path.strip_prefix(self.prefix.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    /// Where a request goes: the rest of its path, and its query, which begins with `?` if there is one.
    pub(crate) fn target(&self, rest: &str, query: &str) -> Option<Uri> {
        let slash = if self.path.is_empty() && rest.is_empty() { "/" } else { "" };
        format!("{}{slash}{rest}{query}", self.url()).parse().ok()
    }
}

impl TryFrom<Fields> for Upstream {
    type Error = ConfigError;

    fn try_from(fields: Fields) -> Result<Self, ConfigError> {
        let Fields { prefix, url, policy, mode, arguments, content, .. } = fields;
        let Fields { calls_in_text, cut, history, comment, tools, .. } = fields;
        let overrides = Overrides {
            policy,
            mode,
            arguments,
            content,
            calls_in_text,
            cut,
            history,
            comment,
            tools,
        };
        Ok(Self { overrides, ..Self::new(&prefix, &url)? })
    }
}

impl From<Upstream> for Fields {
    fn from(upstream: Upstream) -> Self {
        let url = upstream.url();
        let own = upstream.overrides;
        Self {
            prefix: upstream.prefix,
            url,
            policy: own.policy,
            mode: own.mode,
            arguments: own.arguments,
            content: own.content,
            calls_in_text: own.calls_in_text,
            cut: own.cut,
            history: own.history,
            comment: own.comment,
            tools: own.tools,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_goes_to_its_path_below_the_url() {
        let target = |upstream: &str, path: &str| {
            let upstream = Upstream::parse(upstream).unwrap();
            upstream
                .rest(path)
                .and_then(|rest| upstream.target(rest, "?q"))
                .map(|uri| uri.to_string())
        };
        let some = |url: &str| Some(url.to_owned());
        assert_eq!(target("http://a:1/", "/v1/x"), some("http://a:1/v1/x?q"));
        assert_eq!(target("/p=https://a/b/", "/p/v1"), some("https://a/b/v1?q"));
        assert_eq!(target("/p/=https://a", "/p"), some("https://a/?q"));
        assert_eq!(target("/p=https://a", "/pq"), None);
        assert_eq!(target("/p=https://a", "/"), None);
    }

    #[test]
    fn a_prefix_begins_with_a_slash() {
        let error = |text: &str| Upstream::parse(text).unwrap_err().to_string();
        for text in ["openai=http://a", "openai = https://a", "=http://a", "hush=ftp://a"] {
            let error = error(text);
            assert!(error.starts_with("a prefix begins with a slash"), "{error}");
            assert!(!error.contains("hush"), "{error}");
        }
        assert!(Upstream::new("openai", "http://a").unwrap_err().to_string().contains("slash"));
        assert_eq!(Upstream::parse("http://a/b=c").unwrap().url(), "http://a/b=c");
    }

    #[test]
    fn what_is_no_upstream_is_refused_without_its_url() {
        for text in
            ["", "a", "ftp://a", "https://", "http://u:secret@a", "http://a?secret", "/x%=http://a"]
        {
            let error = Upstream::parse(text).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
