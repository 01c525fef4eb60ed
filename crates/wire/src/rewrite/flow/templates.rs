//! Copies of events, which can carry what is missing at the end of a text.

use super::{Flow, MOST_ENTRIES};
use crate::{
    calls::{Entry, Target},
    rewrite::{carrier::Carrier, item::Template},
    work,
};

impl Flow {
    /// Keeps a copy of the event for each text that it adds to.
    pub(super) fn keep_templates(
        &mut self,
        end: u64,
        carrier: Carrier,
        entries: &[Entry],
        chunk: &[u8],
    ) {
        if !self.keeps_templates || carrier == Carrier::None || entries.len() > MOST_ENTRIES {
            return;
        }
        for (number, entry) in entries.iter().enumerate() {
            let &Entry::Piece { target, span: Some(span), delta: true, .. } = entry else {
                continue;
            };
            work::count(entries.len());
            let mut others = Vec::new();
            let mut known = true;
            for (at, other) in entries.iter().enumerate() {
                match other {
                    Entry::Other(span) | Entry::Piece { span, .. } if at != number => {
                        known &= span.is_some();
                        others.extend(*span);
                    }
                    Entry::Envelope { .. } => known = false,
                    _ => {}
                }
            }
            let template = self.take_template(&target);
            if !known || entries.contains(&Entry::End(target)) {
                continue;
            }
            let start = self.start_of_event();
            let mut template = template.unwrap_or_else(|| Template::new(carrier, span));
            template.set(self.bytes(start, end, chunk), span, others.into_iter());
            if self.template_bytes + template.len() > self.held_limit {
                // What is missing at the end of that text cannot be appended.
                self.overflow = true;
                continue;
            }
            self.template_bytes += template.len();
            self.templates.insert(target, template);
        }
    }

    /// Takes the copy that is kept for a text.
    pub(super) fn take_template(&mut self, target: &Target) -> Option<Template> {
        let template = self.templates.remove(target)?;
        self.template_bytes -= template.len();
        Some(template)
    }
}
