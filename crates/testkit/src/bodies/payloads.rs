//! The payloads of a body, and the same body with another one.

use std::ops::Range;

use serde_json::Value;

use super::places::{Unit, units};
use crate::transport::Events;

/// The payloads of a body that are JSON objects.
///
/// ```
/// use wiremend_testkit::bodies::Payloads;
/// use serde_json::json;
///
/// let body = b"data: {\"n\": 1}\n\ndata: [DONE]\n\n";
/// let payloads = Payloads::of(body);
/// assert_eq!(payloads.iter().collect::<Vec<_>>(), [&json!({"n": 1})]);
/// assert_eq!(payloads.replaced(0, &json!({"m": 2})), b"data: {\"m\":2}\n\ndata: [DONE]\n\n");
/// ```
#[derive(Clone, Debug)]
pub struct Payloads {
    units: Vec<Unit>,
    /// In which unit each is, where, and what it says.
    found: Vec<(usize, Range<usize>, Value)>,
}

impl Payloads {
    /// Finds them: one in each event, line or frame, or one that is the whole body.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        let units = units(body);
        let mut found = Vec::new();
        for (number, unit) in units.iter().enumerate() {
            let events = Events::of(unit.payload());
            for (event, end) in events.iter().zip(events.ends()) {
                let start = end - event.len();
                let open = event.iter().position(|byte| *byte == b'{');
                let close = event.iter().rposition(|byte| *byte == b'}');
                let (Some(open), Some(close)) = (open, close) else { continue };
                let text = event.get(open..=close).unwrap_or_default();
                if let Ok(value) = serde_json::from_slice(text) {
                    found.push((number, start + open..start + close + 1, value));
                }
            }
        }
        Self { units, found }
    }

    /// What each says.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.found.iter().map(|(.., value)| value)
    }

    /// The body with another payload in the place of that one.
    #[must_use]
    pub fn replaced(&self, number: usize, by: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        let place = self.found.get(number);
        for (of, unit) in self.units.iter().enumerate() {
            let mut payload = unit.payload().to_vec();
            if let Some((_, span, _)) = place.filter(|(unit, ..)| *unit == of) {
                payload.splice(span.clone(), by.to_string().into_bytes());
            }
            unit.write(&payload, &mut out);
        }
        out
    }
}
