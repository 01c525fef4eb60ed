//! How texts are mended, and where to look in them.

use wiremend::{
    Limits, MendOptions, Policy, RepairKind, Risk, extract::Scope, repair::TrailingDocuments,
};

/// How texts are mended.
///
/// # Errors
///
/// A word that none of the options is.
///
/// ```
/// let options = wiremend_plain::mending("likely", ["missing-comma"], "array", 127, true)?;
/// assert_eq!(wiremend::mend(b"[1 2]", &options).outcome(), wiremend::Outcome::Invalid);
/// let wrong = wiremend_plain::mending("lax", [""; 0], "array", 127, true);
/// assert_eq!(wrong.unwrap_err(), r#"policy must be 'strict', 'conservative', 'permissive' or a risk, not "lax""#);
/// # Ok::<(), String>(())
/// ```
pub fn mending(
    policy: &str,
    without: impl IntoIterator<Item = impl AsRef<str>>,
    documents: &str,
    depth: usize,
    search: bool,
) -> Result<MendOptions, String> {
    let known = "'array', 'first', 'last' or 'error'";
    let rule = documents.parse().ok().filter(|rule| *rule != TrailingDocuments::All);
    let rule = rule.ok_or_else(|| wrong("documents", known, documents))?;
    let without = without.into_iter();
    let policy = without
        .map(|code| kind(code.as_ref()))
        .try_fold(named(policy)?, |policy, kind| kind.map(|kind| policy.without(kind)))?;
    let options = MendOptions::new()
        .with_policy(policy)
        .with_trailing_documents(rule)
        .with_limits(Limits::new().with_depth(depth));
    Ok(if search { options } else { options.without_search() })
}

fn named(policy: &str) -> Result<Policy, String> {
    Ok(match policy {
        "permissive" => Policy::PERMISSIVE,
        "conservative" => Policy::CONSERVATIVE,
        "strict" => Policy::STRICT,
        risk => {
            let known = "'strict', 'conservative', 'permissive' or a risk";
            let risk = Risk::from_code(risk).ok_or_else(|| wrong("policy", known, risk))?;
            Policy::PERMISSIVE.at_most(risk)
        }
    })
}

fn kind(code: &str) -> Result<RepairKind, String> {
    RepairKind::from_code(code).ok_or_else(|| format!("no repair has the code {code:?}"))
}

/// Where to look for JSON in a text.
///
/// # Errors
///
/// A word that is no scope.
pub fn scope(code: &str) -> Result<Scope, String> {
    let known = "'all', 'best', 'fenced', 'first', 'last' or 'whole'";
    code.parse().map_err(|_| wrong("scope", known, code))
}

fn wrong(name: &str, known: &str, other: &str) -> String {
    format!("{name} must be {known}, not {other:?}")
}
