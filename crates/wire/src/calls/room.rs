//! What may be kept of all open calls of a response.

use super::{CallDelta, Calls, Sink, Source, WireError};

impl Calls {
    /// Reads a piece of an open call, within what may be kept of all of them.
    pub(super) fn extend(
        &mut self,
        key: (u32, usize),
        delta: CallDelta<'_>,
        source: Source<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Box<WireError>> {
        let room = self.limits.open_arguments().saturating_sub(self.kept);
        if let Some(open) = self.open.get_mut(&key) {
            open.arguments.set_room(room);
        }
        let result = self.read_piece(key, delta, source, sink);
        if let Some(open) = self.open.get_mut(&key) {
            let before = core::mem::replace(&mut open.kept, open.arguments.kept());
            self.kept = (self.kept + open.kept).saturating_sub(before);
        }
        result
    }
}
