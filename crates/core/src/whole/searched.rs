//! The choice between the engine's reading of a whole text and the cheapest one.

use alloc::vec::Vec;

use super::{
    TextReading, doubt,
    doubt::{Doubt, NEAR},
    without_space,
};
use crate::{
    Located, MendOptions, Outcome, Policy, Repair, RepairKind, Repairs, Risk, TrailingDocuments,
    apply, engine::Engine, search, signs::solid,
};

/// What a search makes of a text that was read before.
struct Searched {
    /// A reading that is enough cheaper.
    found: Option<search::Answer>,
    /// Where another one than that which is taken is near.
    doubts: Vec<Doubt>,
    steps: u64,
}

impl TextReading {
    /// This reading, or the cheapest one, if that is much cheaper; and the steps that finding it took.
    pub(super) fn or_searched(
        self,
        input: &[u8],
        options: &MendOptions,
        begin: impl Fn(Engine) -> Engine,
    ) -> (Self, u64) {
        // White space after the text does not make it anything else.
        let text = solid(input);
        let following = options.trailing_documents();
        let unfit = !options.searches() || following == TrailingDocuments::Error;
        if unfit || search::is_too_much(text, self.repairs.len()) {
            return (self, 0);
        }
        // What the policy allows must not decide what the text says.
        let mut steps = 0;
        let mut open = None;
        if options.policy() != Policy::PERMISSIVE {
            let options = options.clone().with_policy(Policy::PERMISSIVE);
            let Ok(reading) = Self::whole(begin(Engine::whole(options.clone())), input, &[]) else {
                return (self, 0);
            };
            steps += reading.steps;
            open = Some(reading.outer_braces_lost(input, &options).unwrap_or(reading));
        }
        let known = open.as_ref().unwrap_or(&self);
        if options.guide().is_some() {
            // What the guide has decided stays.
            let options = MendOptions::new().with_limits(options.limits());
            let options = options.with_trailing_documents(following);
            let Ok(alone) = Self::whole(begin(Engine::whole(options.clone())), input, &[]) else {
                return (self, steps);
            };
            steps += alone.steps;
            let alone = alone.outer_braces_lost(input, &options).unwrap_or(alone);
            if alone.repairs != known.repairs {
                return (self, steps);
            }
        }
        // A limit is met, or an end is cut, whatever else a text may say.
        let ends = matches!(self.outcome, Outcome::Closed | Outcome::Cut | Outcome::Overflow);
        if ends && known.outcome.is_complete() {
            return (self, steps);
        }
        let Some(searched) = known.cheaper(text, options) else { return (self, steps) };
        steps += searched.steps;
        let Some(found) = searched.found else {
            return (self.doubted(&searched.doubts, options.policy()), steps);
        };
        let other = Doubt::between(&known.repairs, &found.repairs);
        let reading = match known.around(found, input, options) {
            Some(reading) => reading.doubted(&searched.doubts, options.policy()),
            None => self.doubted(&[other], options.policy()),
        };
        (reading, steps)
    }

    /// The cheapest reading, if it is cheaper than this one by more than chance. `None` if there is nothing in this
    /// one that has a rival.
    fn cheaper(&self, text: &[u8], options: &MendOptions) -> Option<Searched> {
        let bracket = |start: usize| {
            let begins = text.get(start..).unwrap_or_default();
            // A string that never ends may be words before a document.
            let words = begins.starts_with(b"\"") && !self.outcome.is_complete();
            words || matches!(begins, [b'{' | b'[' | b'(', ..] | [b'"', b'{', ..])
        };
        // White space after the text is part of none of them.
        let clamp = |repair: Repair| {
            let span = repair.start.min(text.len())..repair.end.min(text.len());
            repair.with_span(span)
        };
        let within = |repair: &Repair| repair.start < text.len() || repair.start == repair.end;
        let repairs = || self.repairs.iter().filter(within).map(clamp);
        // What is around the documents is judged before.
        let first = self.documents.first().map_or(0, |document| document.0);
        let last = self.documents.last().map_or(0, |document| document.1.min(text.len()));
        let inner = |repair: &Repair| {
            let before = repair.end <= first && repair.start < first;
            !(before || repair.start >= last && repair.end > last)
        };
        // Brackets that were dropped there may be a part of one, if it begins or ends elsewhere.
        let bracket_around =
            |repair: &Repair| matches!(repair.kind, RepairKind::StrayText | RepairKind::ExtraClose);
        let own = |repair: &Repair| inner(repair) || bracket_around(repair);
        let none = self.outcome == Outcome::None && search::has_token_spaces(text);
        let start = self.documents.first().map_or(0, |document| document.0);
        let has_rival = |repair: Repair| search::has_rival(repair.kind);
        let rival =
            self.outcome.is_valid() && bracket(start) && repairs().filter(own).any(has_rival);
        if !rival && !none {
            return None;
        }
        let (several, depth) = (self.documents.len() > 1, options.limits().depth());
        let found = search::search(text, start, several, depth, NEAR)?;
        let same_span = found.documents.iter().eq(&[(start, last)]);
        let counts = |repair: &Repair| if same_span { inner(repair) } else { own(repair) };
        let own: Repairs = repairs().filter(counts).collect();
        let repairs: Repairs = repairs().collect();
        if repairs == found.repairs {
            let doubts = found.doubts(text, options);
            return Some(Searched { found: None, doubts, steps: found.steps });
        }
        if !none && !own.iter().any(has_rival) {
            return Some(Searched { found: None, doubts: Vec::new(), steps: found.steps });
        }
        let price = if none { u32::MAX } else { search::price(&own, text, self.documents.len()) };
        let (exact, work) = search::cost_of(&own, text, start, several, depth);
        let steps = found.steps + work;
        // What is priced kind by kind may cost less where it is.
        let (price, margins) = match exact {
            Some(exact) => (exact, [100, 80, 250, 100]),
            None => (price.saturating_add(found.around), [400, 150, 400, 300]),
        };
        let risk = found.repairs.risk();
        let margin = match self.repairs.risk() {
            _ if !self.outcome.is_complete() && found.is_cut => 400,
            _ if !self.outcome.is_complete() => 50,
            Some(Risk::Exact) | None => margins[0],
            Some(Risk::Likely) => margins[1],
            Some(Risk::Lossy) => margins[2],
            Some(Risk::Guess) => margins[3],
        };
        let dropped = |repairs: &Repairs| -> usize {
            let dropped = repairs.iter().filter(|repair| repair.after().is_empty());
            dropped.map(|repair| repair.end - repair.start).sum()
        };
        let (theirs, own_dropped) = (dropped(&found.repairs), dropped(&repairs));
        let more = theirs > own_dropped;
        let loses = self.repairs.risk() >= Some(Risk::Lossy) && theirs < own_dropped;
        let riskier = match risk {
            _ if more => 200,
            // To keep what this one loses is worth a guess.
            _ if loses => 0,
            // Both close what is open.
            _ if !self.outcome.is_complete() && found.is_cut => 0,
            risk if risk <= self.repairs.risk() => 0,
            Some(Risk::Likely) => 100,
            _ => 200,
        };
        let begin = found.documents.first()?.0;
        let elsewhere = if begin == start { 0 } else { 200 };
        // A document that seemed to begin there is what others find, too.
        let skipped =
            text.get(start..begin).is_some_and(|text| text.iter().any(|b| b"{[".contains(b)));
        let misfits = |text: &Option<Vec<u8>>| match (options.guide(), text) {
            (Some(guide), Some(text)) => search::misfits(text, guide),
            _ => (0, 0),
        };
        let (text_of_own, other) = (apply(text, &repairs), apply(text, &found.repairs));
        let same = text_of_own.as_deref().map(without_space) == other.as_deref().map(without_space);
        let (known, unknown) = (misfits(&text_of_own), misfits(&other));
        // What is as the guide knows it needs no other reading.
        let fits = matches!(known, (0, 1..));
        let cost =
            found.cost.saturating_add(margin + riskier + elsewhere + search::MISFIT * unknown.0);
        let dearer = cost >= price.saturating_add(search::MISFIT * known.0);
        let torn = found.is_cut && self.outcome.is_complete();
        // Another document is none that is dropped.
        let fewer = self.documents.len() > 1 && more;
        // Prose before a document is no key of another one around it.
        let invented = begin != start && !text.get(begin).is_some_and(|byte| b"{[(".contains(byte));
        let odd = torn || fits || skipped || fewer || invented;
        let doubts = match () {
            () if fits => Vec::new(),
            // It is not the cheapest, if only by the risk of another one.
            () if !same && (dearer || odd) => {
                let cheaper = exact.is_some() || found.cost + 200 < price;
                let other = cheaper.then(|| Doubt::between(&repairs, &found.repairs));
                other.into_iter().collect()
            }
            () => found.doubts(text, options),
        };
        let worse = same || dearer || odd;
        Some(Searched { found: (!worse).then_some(found), doubts, steps })
    }

    /// This reading with marks at the repairs in whose place other readings make others.
    fn doubted(mut self, doubts: &[Doubt], policy: Policy) -> Self {
        if doubts.is_empty() || !self.outcome.is_complete() {
            return self;
        }
        let mut repairs: Vec<Repair> = self.repairs.iter().collect();
        doubt::mark(&mut repairs, doubts);
        if let Some(refused) = repairs.iter().position(|repair| !policy.permits(repair)) {
            self.outcome = Outcome::Invalid;
            repairs.truncate(refused + 1);
        }
        self.repairs = repairs.into_iter().collect();
        self
    }

    /// The reading that was found, with what this one says of the text around the same documents, if it
    /// gives valid JSON.
    fn around(&self, found: search::Answer, input: &[u8], options: &MendOptions) -> Option<Self> {
        let (first, last) = (found.documents.first()?.0, found.documents.last()?.1);
        let begins = self.documents.first().is_some_and(|document| document.0 == first);
        let ends = self.documents.last().is_some_and(|document| document.1 == last);
        // How several documents are joined or left out is the engine's to say.
        if found.documents.len() > 1 {
            return None;
        }
        let before = |repair: &Repair| repair.end <= first && repair.start < first;
        let after = |repair: &Repair| repair.start >= last && repair.end > last;
        let mut repairs: Vec<Repair> = Vec::new();
        repairs.extend(self.repairs.iter().filter(|repair| begins && before(repair)));
        let inner = |repair: &Repair| !(begins && before(repair) || ends && after(repair));
        repairs.extend(found.repairs.iter().filter(inner));
        repairs.extend(self.repairs.iter().filter(|repair| ends && after(repair)));
        let text = apply(input, &repairs)?;
        let (documents, deepest) = doubt::documents(&text, options)?;
        if documents != found.documents.len() {
            return None;
        }
        let mut reading = Self { documents: found.documents, deepest, ..Self::new() };
        // What seemed to be cut off is not complete, whatever it says.
        let is_cut = found.is_cut || self.outcome == Outcome::Closed;
        reading.outcome = if is_cut { Outcome::Closed } else { Outcome::Repaired };
        // The repairs that close what is open at the end.
        let closing = |repair: &&Repair| {
            use RepairKind::{MissingClose, UnterminatedString};
            repair.start >= last && matches!(repair.kind, MissingClose | UnterminatedString)
        };
        let open = repairs.len() - repairs.iter().rev().take_while(closing).count();
        if is_cut {
            let mut paths = Located::in_input(input, &repairs);
            paths.by_ref().take(open).for_each(drop);
            reading.cut_at = paths.path();
        }
        let policy = options.policy();
        if let Some(at) = repairs.iter().position(|repair| !policy.allows(repair.kind)) {
            reading.outcome = Outcome::Invalid;
            repairs.truncate(at + 1);
        } else if is_cut && !policy.closes_cut() {
            reading.outcome = Outcome::Cut;
            repairs.truncate(open);
        }
        reading.repairs = repairs.into_iter().collect();
        Some(reading)
    }
}
