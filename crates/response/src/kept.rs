//! What was received of a text and may still be needed.

/// The end of a text, as received, up to limits.
#[derive(Debug)]
pub(crate) struct Kept {
    /// How much is kept of a text before an object begins in it.
    before: usize,
    /// How much is kept of an object.
    object: usize,
    /// The offset of its start in the text.
    from: usize,
    bytes: Vec<u8>,
    /// Whether the text so far is only white space.
    #[cfg(feature = "schema")]
    is_blank: bool,
}

impl Kept {
    pub(crate) const fn new(before: usize, object: usize) -> Self {
        Self {
            before,
            object,
            from: 0,
            bytes: Vec::new(),
            #[cfg(feature = "schema")]
            is_blank: true,
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        #[cfg(feature = "schema")]
        {
            self.is_blank = self.is_blank && text.trim().is_empty();
        }
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(crate) const fn end(&self) -> usize {
        self.from + self.bytes.len()
    }

    /// How many bytes it holds.
    pub(crate) const fn held(&self) -> usize {
        self.bytes.len()
    }

    #[cfg(feature = "schema")]
    pub(crate) const fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// An object, if it is within the limit.
    pub(crate) fn get(&self, start: usize, length: usize) -> Option<&[u8]> {
        let at = start.checked_sub(self.from).filter(|_| length <= self.object)?;
        self.bytes.get(at..at.checked_add(length)?)
    }

    /// The whole text, if it is within the limit.
    #[cfg(feature = "schema")]
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        (self.from == 0 && self.bytes.len() <= self.before).then_some(&self.bytes)
    }

    /// If more than the limit is kept, drops what precedes the open object, or what precedes `withheld`
    /// if no object is open. If the open object exceeds its limit, drops everything. What is withheld may turn out
    /// not to belong to the object.
    pub(crate) fn forget(&mut self, open: Option<usize>, withheld: usize) {
        if self.bytes.len() <= self.before {
            return;
        }
        let too_long = open.is_some_and(|start| withheld.saturating_sub(start) > self.object);
        self.drop_before(if too_long { self.end() } else { open.unwrap_or(withheld) });
    }

    /// Drops everything, because of a limit on all texts.
    pub(crate) fn give_up(&mut self) {
        self.drop_before(self.end());
    }

    fn drop_before(&mut self, needed: usize) {
        let gone = needed.saturating_sub(self.from).min(self.bytes.len());
        self.bytes.drain(..gone);
        self.from += gone;
    }
}
