//! The whole-text path: the engine without emitting anything early, and the readings that need the
//! whole text.

use alloc::{string::String, vec::Vec};

use crate::{
    Mended, Options, Outcome, Path, Policy, Repair, RepairKind, TrailingDocuments, apply,
    engine::{Edit, Engine, Source, Stop},
    mended::into_string,
};

/// Mends a whole text, with the same rules as [`Mender`](crate::Mender). Because nothing is emitted
/// early, a repair may also change text far before the place where the need for it was found.
#[must_use]
pub fn mend(input: &[u8], options: &Options) -> Mended {
    mend_counting(input, options).0
}

/// How many steps [`mend`] takes, for tests of linearity.
#[cfg(feature = "coverage")]
#[must_use]
pub fn steps(input: &[u8], options: &Options) -> u64 {
    mend_counting(input, options).1
}

/// The result, and how many steps the engine took for all readings.
fn mend_counting(input: &[u8], options: &Options) -> (Mended, u64) {
    // Valid JSON gets no other reading, however unusual it is. Neither does the beginning of valid
    // JSON, because a reading that closes it would make a text that was cut off look complete.
    let strict = options.clone().with_policy(Policy::STRICT);
    let mut engine = Engine::streaming(strict);
    engine.bound_documents(input.len());
    let end = engine.run(Source::new(input, 0, true));
    let steps = engine.steps();
    match end {
        Ok(()) if engine.outcome(0) == Outcome::Unchanged && engine.documents() == 1 => {
            if let Ok(text) = core::str::from_utf8(input) {
                let mended = Mended::new(Outcome::Unchanged, Some(text.into()), Vec::new(), None);
                return (mended, steps);
            }
        }
        Err(Stop::Cut) => {
            let engine = Engine::streaming(options.clone());
            let reading = Reading::with(engine, input);
            let steps = steps + reading.steps;
            return (reading.finish(input, options), steps);
        }
        Ok(()) | Err(Stop::Nothing | Stop::Overflow | Stop::Refused) => {}
    }
    let reading = Reading::with(Engine::whole(options.clone()), input);
    let steps = steps + reading.steps;
    match reading.outer_braces_lost(input, options) {
        Some(better) => {
            let steps = steps + better.steps;
            (better.finish(input, options), steps)
        }
        None => (reading.finish(input, options), steps),
    }
}

/// The result of one reading of the text.
struct Reading {
    outcome: Outcome,
    repairs: Vec<Repair>,
    /// The start and the end of each document.
    documents: Vec<(usize, usize)>,
    /// The highest number of containers that were open at the same time.
    deepest: usize,
    cut_at: Path,
    steps: u64,
}

impl Reading {
    fn with(mut engine: Engine, input: &[u8]) -> Self {
        engine.bound_documents(input.len());
        let stop = engine.run(Source::new(input, 0, true)).err();
        let cut_at = engine.path();
        let mut repairs = Vec::new();
        let mut documents = Vec::new();
        engine.drain_all(|edit| match edit {
            Edit::Replace(repair, _) => repairs.push(repair),
            Edit::EndDocument { start, end } => documents.push((start, end)),
        });
        // If a repair was made and later became one that is not allowed, it is in the list already.
        let refused = engine.refused().filter(|_| stop == Some(Stop::Refused));
        if let Some(refused) = refused.filter(|refused| !repairs.contains(refused)) {
            let at = repairs.iter().take_while(|r| r.start <= refused.start).count();
            repairs.insert(at, refused.clone());
        }
        let outcome = match stop {
            None => engine.outcome(repairs.len()),
            Some(Stop::Cut) => Outcome::Cut,
            Some(Stop::Nothing) => Outcome::None,
            Some(Stop::Overflow) => Outcome::Overflow,
            Some(Stop::Refused) => Outcome::Invalid,
        };
        Self {
            outcome,
            repairs,
            documents,
            deepest: engine.deepest(),
            cut_at,
            steps: engine.steps(),
        }
    }

    /// `"a": 1, "b": 2}` is not a string followed by text: its opening brace, or both, are missing.
    fn outer_braces_lost(&self, input: &[u8], options: &Options) -> Option<Self> {
        let &(start, end) = self.documents.first()?;
        let scalar = input.get(start) == Some(&b'"') || input.get(start) == Some(&b'\'');
        let colon = input.get(end..)?.trim_ascii_start().first() == Some(&b':');
        if !scalar || !colon || !options.policy().allows(RepairKind::MissingOpen) {
            return None;
        }
        let mut braced = Vec::with_capacity(input.len() + 1);
        braced.extend_from_slice(&input[..start]);
        braced.push(b'{');
        braced.extend_from_slice(&input[start..]);
        let mut reading = Self::with(Engine::whole(options.clone()), &braced);
        if !reading.outcome.is_valid() {
            return None;
        }
        // Subtract the added brace from the offsets after it. No repair can span it.
        for repair in &mut reading.repairs {
            repair.start -= usize::from(repair.start > start);
            repair.end -= usize::from(repair.end > start);
        }
        for document in &mut reading.documents {
            document.0 -= usize::from(document.0 > start);
            document.1 -= usize::from(document.1 > start);
        }
        let open = Repair::new(RepairKind::MissingOpen, start..start, "{", Path::default());
        let at = reading.repairs.iter().take_while(|r| r.end <= start && r.start < start).count();
        reading.repairs.insert(at, open);
        if reading.outcome == Outcome::Unchanged {
            reading.outcome = Outcome::Repaired;
        }
        Some(reading)
    }

    fn finish(mut self, input: &[u8], options: &Options) -> Mended {
        if self.outcome == Outcome::None {
            return Mended::new(self.outcome, None, Vec::new(), None);
        }
        if self.outcome.is_valid() && self.documents.len() > 1 {
            let allowed = match options.trailing_documents() {
                TrailingDocuments::Array => match self.only_filled(input) {
                    Some(only) => self.keep(only, options),
                    None => self.wrap(input, options),
                },
                TrailingDocuments::Last => self.keep(self.documents.len() - 1, options),
                TrailingDocuments::All | TrailingDocuments::Error | TrailingDocuments::First => {
                    true
                }
            };
            if !allowed {
                self.outcome = Outcome::Invalid;
            }
        }
        let cut_at = matches!(self.outcome, Outcome::Closed | Outcome::Cut).then_some(self.cut_at);
        let text = if self.outcome.is_valid() {
            apply(input, &self.repairs).map(into_string)
        } else {
            None
        };
        debug_assert_eq!(text.is_some(), self.outcome.is_valid(), "the repairs do not apply");
        if text.is_none() && self.outcome.is_valid() {
            self.outcome = Outcome::Invalid;
        }
        Mended::new(self.outcome, text, self.repairs, cut_at)
    }

    /// Makes the documents the items of one array.
    fn wrap(&mut self, input: &[u8], options: &Options) -> bool {
        let kind = RepairKind::LineDelimited;
        if !options.policy().allows(kind) {
            return false;
        }
        if self.deepest >= options.limits().depth() {
            // The array would be one level too many.
            self.outcome = Outcome::Overflow;
            return true;
        }
        let added =
            |at: usize, after: &'static str| Repair::new(kind, at..at, after, Path::default());
        let mut old = core::mem::take(&mut self.repairs).into_iter().peekable();
        let mut repairs = Vec::with_capacity(old.len() + self.documents.len() + 1);
        for (index, &(start, end)) in self.documents.iter().enumerate() {
            // Repairs before the document. A comma that was dropped there is the one that is
            // needed.
            let mut comma = index == 0;
            let gap = repairs.len();
            while let Some(repair) = old.next_if(|r| r.end <= start && r.start < start) {
                let dropped = repair.kind == RepairKind::ExtraComma && input[repair.start] == b',';
                if !comma && dropped {
                    comma = true;
                } else {
                    repairs.push(repair);
                }
            }
            if index == 0 {
                repairs.push(added(start, "["));
            } else if !comma {
                // Insert the comma directly after the previous document.
                repairs.insert(gap, added(self.documents[index - 1].1, ","));
            }
            while let Some(repair) = old.next_if(|r| r.end <= end) {
                repairs.push(repair);
            }
        }
        let last = self.documents.last().map_or(0, |document| document.1);
        repairs.push(added(last, "]"));
        repairs.extend(old);
        self.repairs = repairs;
        self.outcome =
            if self.outcome == Outcome::Closed { self.outcome } else { Outcome::Repaired };
        true
    }

    /// Drops all documents but one.
    fn keep(&mut self, index: usize, options: &Options) -> bool {
        let kind = RepairKind::SecondDocument;
        if !options.policy().allows(kind) {
            return false;
        }
        let (first, last) = (self.documents[0].0, self.documents[self.documents.len() - 1].1);
        let (start, end) = self.documents[index];
        self.repairs.retain(|repair| {
            repair.end <= first && repair.start < first
                || repair.start >= start && repair.end <= end
                || repair.start > last
                || repair.start == last && repair.end > last
        });
        for dropped in [first..start, end..last] {
            if !dropped.is_empty() {
                let at = self
                    .repairs
                    .iter()
                    .take_while(|r| r.start < dropped.start || r.end <= dropped.start)
                    .count();
                self.repairs.insert(at, Repair::new(kind, dropped, String::new(), Path::default()));
            }
        }
        self.outcome =
            if self.outcome == Outcome::Closed { self.outcome } else { Outcome::Repaired };
        true
    }

    /// The only document with content, if the others are `{}` or `[]`.
    fn only_filled(&self, input: &[u8]) -> Option<usize> {
        let empty = |&(start, end): &(usize, usize)| {
            let text = input.get(start..end).unwrap_or_default();
            text.len() < 8 && text.iter().all(|b| b"{}[] \n".contains(b))
        };
        let mut filled = (0..self.documents.len()).filter(|&at| !empty(&self.documents[at]));
        match (filled.next(), filled.next()) {
            (Some(only), None) => Some(only),
            (None, _) => Some(0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn the_array_around_several_documents_is_a_level() {
        let options = |depth| {
            let limits = Limits::default().with_depth(depth);
            Options::new().with_limits(limits).with_trailing_documents(TrailingDocuments::Array)
        };
        let input = b"[[1]]\n[2]";
        assert_eq!(mend(input, &options(3)).text(), Some("[[[1]],\n[2]]"));
        assert_eq!(mend(input, &options(2)).outcome(), Outcome::Overflow);
    }

    #[test]
    fn the_refused_repair_is_reported_once() {
        let options = Options::new().with_policy(Policy::CONSERVATIVE);
        for input in [&br#"{"t": "if "a" {", "n": 1}"#[..], b"[1, NaN]", b"{'a': [\"x\", ...]}"] {
            let mended = mend(input, &options);
            assert_eq!(mended.outcome(), Outcome::Invalid);
            let kinds = |repair: &&Repair| !Policy::CONSERVATIVE.allows(repair.kind);
            assert_eq!(mended.repairs().iter().filter(kinds).count(), 1, "{:?}", mended.repairs());
        }
    }
}
