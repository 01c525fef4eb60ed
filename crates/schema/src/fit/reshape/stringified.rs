//! Reads a list or an object from the text of a string.

use wiremend_core::{Options, Policy, Risk, TrailingDocuments, mend};

use super::{Proposal, Site};
use crate::{Rule, Tree, tree::JsonType};

pub(super) fn propose<'t, 's>(site: &Site<'t, 's, '_>, found: &mut Vec<Proposal<'t, 's>>) {
    let (node, part) = (site.node, site.part);
    let wanted = part.allows(JsonType::Array) || part.allows(JsonType::Object);
    let Some(text) = node.as_str().filter(|_| wanted) else { return };
    let text = text.trim();
    let fenced = text.starts_with("```") || text.starts_with("~~~");
    if !text.starts_with(['[', '{']) && !fenced {
        return;
    }
    let rule = if fenced {
        Rule::FenceInString
    } else if site.place.is_root {
        Rule::UnwrapDoubleEncodedRoot
    } else {
        Rule::UnwrapStringified
    };
    // If another string would be valid, this one may have been meant as a string too.
    let takes_strings = site.place.takes_strings || part.allows(JsonType::String);
    if Tree::read(text).is_ok() {
        let risk = if takes_strings { Risk::Likely } else { Risk::Exact };
        found.push(Proposal::text(rule, text).with_risk(risk));
        return;
    }
    // In that case it is parsed only if nothing is missing from it.
    if takes_strings {
        return;
    }
    let policy = Policy::PERMISSIVE.at_most(site.max_risk);
    let options = Options::new()
        .with_policy(policy)
        .with_trailing_documents(TrailingDocuments::Error)
        .with_guide(part.guide());
    let mended = mend(text.as_bytes(), &options);
    let lossy = mended.repairs().kinds().any(|(kind, _)| kind.risk() == Risk::Lossy);
    let risk = mended.repairs().risk();
    if let Some(inner) = mended.text().filter(|inner| inner.starts_with(['[', '{']) && !lossy) {
        found.push(Proposal::text(rule, inner).with_risk(risk.unwrap_or(Risk::Exact)));
    }
}
