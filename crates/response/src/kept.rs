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
    /// How much of the text was received.
    received: usize,
    /// Where the single object of the text ended, and up to where white space after it may be needed.
    ended: Option<(usize, usize)>,
    /// Whether the text so far is only white space.
    #[cfg(feature = "schema")]
    is_blank: bool,
    #[cfg(feature = "schema")]
    line: Line,
}

/// What is before a place of a text on its line.
#[cfg(feature = "schema")]
#[derive(Clone, Copy, Debug)]
struct Line {
    at: usize,
    has_words: bool,
    in_tag: bool,
}

#[cfg(feature = "schema")]
impl Line {
    const START: Self = Self { at: 0, has_words: false, in_tag: false };

    fn read(&mut self, bytes: &[u8]) {
        self.at += bytes.len();
        for byte in bytes {
            match byte {
                b'\n' | b'\r' => (self.has_words, self.in_tag) = (false, false),
                b'<' => self.in_tag = true,
                b'>' => self.in_tag = false,
                byte if byte.is_ascii_alphanumeric() || !byte.is_ascii() => {
                    self.has_words |= !self.in_tag;
                }
                _ => {}
            }
        }
    }
}

impl Kept {
    pub(crate) const fn new(before: usize, object: usize) -> Self {
        Self {
            before,
            object,
            from: 0,
            bytes: Vec::new(),
            received: 0,
            ended: None,
            #[cfg(feature = "schema")]
            is_blank: true,
            #[cfg(feature = "schema")]
            line: Line::START,
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        #[cfg(feature = "schema")]
        {
            self.is_blank = self.is_blank && text.trim().is_empty();
        }
        let room = self.ended.map_or(usize::MAX, |(_, most)| most.saturating_sub(self.received));
        self.received += text.len();
        self.bytes.extend_from_slice(text.as_bytes().get(..room).unwrap_or(text.as_bytes()));
    }

    pub(crate) const fn end(&self) -> usize {
        self.received
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

    /// An object to be fitted, without the white space after it if that is too much.
    #[cfg(feature = "schema")]
    pub(crate) fn get_to_fit(&self, start: usize, length: usize) -> Option<&[u8]> {
        let own = self.ended.map_or(length, |(end, _)| length.min(end.saturating_sub(start)));
        let length = if length > self.before { own } else { length };
        self.get(start, length).filter(|raw| raw.len() <= self.before)
    }

    /// Whether there are words before a place on its line, tags apart. Each place has to be after the one before.
    #[cfg(feature = "schema")]
    pub(crate) fn has_words_before(&mut self, place: usize) -> bool {
        self.read_line(place);
        self.line.has_words
    }

    #[cfg(feature = "schema")]
    fn read_line(&mut self, to: usize) {
        let (from, to) = (self.line.at.saturating_sub(self.from), to.saturating_sub(self.from));
        self.line.read(self.bytes.get(from..to.min(self.bytes.len())).unwrap_or_default());
    }

    /// The whole text, if it is within the limit.
    #[cfg(feature = "schema")]
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        (self.from == 0 && self.ended.is_none() && self.bytes.len() <= self.before)
            .then_some(&self.bytes)
    }

    /// If more than the limit is kept, drops what precedes the open object, or what precedes `withheld`
    /// if no object is open. If the open object exceeds its limit, drops everything. What is withheld may turn out
    /// not to belong to the object. `ended`: where the single object of the text ended, if it has. It stays open,
    /// but of what follows, only white space may count as part of it.
    pub(crate) fn forget(&mut self, open: Option<usize>, ended: Option<usize>, withheld: usize) {
        if let (Some(start), Some(end)) = (open, ended)
            && self.ended.is_none()
        {
            let most = start.saturating_add(self.object).max(end);
            self.ended = Some((end, most));
            self.bytes.truncate(most.saturating_sub(self.from));
        }
        if self.bytes.len() <= self.before {
            return;
        }
        let end = self.ended.map_or(withheld, |(end, _)| end);
        let too_long = open.is_some_and(|start| end.saturating_sub(start) > self.object);
        self.drop_before(if too_long { self.end() } else { open.unwrap_or(withheld) });
    }

    /// Drops everything, because of a limit on all texts.
    pub(crate) fn give_up(&mut self) {
        self.drop_before(self.end());
    }

    fn drop_before(&mut self, needed: usize) {
        #[cfg(feature = "schema")]
        self.read_line(needed);
        let gone = needed.saturating_sub(self.from).min(self.bytes.len());
        self.bytes.drain(..gone);
        self.from = self.from.max(needed);
    }
}
