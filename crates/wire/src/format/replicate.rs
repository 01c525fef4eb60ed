//! Replicate: the payload of an event `output` is a piece of the text itself.

use super::{Delta, Format, Members, Piece, non_empty};
use crate::{Block, FinishReason, json::Node};

/// Never: this format is not detected from the content of a payload.
pub(super) fn recognise(_: &str, _: &Members<'_>) -> bool {
    false
}

/// Detects the format from the name of the event.
pub(super) fn recognise_plain(event: &str) -> bool {
    event == "output"
}

/// The decoder.
#[derive(Debug, Default)]
pub(super) struct Replicate {
    done: bool,
}

impl Format for Replicate {
    fn decode(&mut self, event: &str, payload: Node<'_>, out: &mut dyn FnMut(Delta<'_>)) {
        if event != "done" {
            return;
        }
        self.done = true;
        // Anything but plain success has a reason.
        let original = non_empty(payload.field("reason")).unwrap_or("done".into());
        let reason = match original.as_ref() {
            "done" => FinishReason::Stop,
            word => FinishReason::from_provider(word),
        };
        out(Delta::Finish { scope: 0, reason, original });
    }

    fn decode_plain(&mut self, event: &str, data: &str, out: &mut dyn FnMut(Delta<'_>)) -> bool {
        let is_text = recognise_plain(event);
        if let Some(text) = Piece::plain(data).filter(|_| is_text) {
            out(Delta::Text { block: Block::default(), text });
        }
        is_text
    }

    fn names(&self) -> &'static [&'static str] {
        &["output"]
    }

    fn is_ended(&self) -> bool {
        self.done
    }
}
