//! The text around a single document, and the repairs that delete it.

use std::ops::Range;

use wiremend_core::{Lead, Policy, Repair, RepairKind, Tail, prose::Fence};

/// What was seen around the document.
#[derive(Clone, Debug)]
pub(crate) struct Margin {
    /// The end of the byte order mark at the start.
    mark: Option<usize>,
    /// The comments before anything else.
    comments: Vec<Range<usize>>,
    /// Whether anything but white space came before the open fence, or before the current byte if
    /// there is no fence.
    prose: bool,
    /// The text before the current byte, or before the document.
    lead: Lead,
    /// The kind of the text before the open fence, and the text that was read in it.
    before_fence: RepairKind,
    inside: Option<Lead>,
    /// The text after the document.
    after: Option<After>,
}

impl Default for Margin {
    fn default() -> Self {
        Self {
            mark: None,
            comments: Vec::new(),
            prose: false,
            lead: Lead::new(),
            before_fence: RepairKind::LeadingProse,
            inside: None,
            after: None,
        }
    }
}

/// The text after the document, with the offset of each part.
#[derive(Clone, Copy, Debug)]
struct After {
    /// Where the document ended.
    end: usize,
    /// The end of stray closers.
    closers: Option<usize>,
    /// The end of the closing fence.
    fence: Option<usize>,
    /// Whether anything but white space came after those.
    prose: bool,
    tail: Tail,
    /// Whether quotes in the document were in doubt, and whether anything in it was.
    doubtful: bool,
    guessed: bool,
    /// Where another document begins.
    second: Option<usize>,
}

impl Margin {
    pub(crate) const fn byte_order_mark(&mut self, end: usize) {
        self.mark = Some(end);
    }

    /// Whether there was a byte order mark.
    pub(crate) const fn has_mark(&self) -> bool {
        self.mark.is_some()
    }

    /// Records a comment that begins at `start`.
    pub(crate) fn comment(&mut self, start: usize) {
        self.comments.push(start..start);
    }

    /// Records that the last comment ends at `end`.
    pub(crate) fn comment_closed(&mut self, end: usize) {
        if let Some(comment) = self.comments.last_mut() {
            comment.end = end;
        }
    }

    /// The comments before anything else, if there is only white space between them.
    pub(crate) fn comments(&self) -> &[Range<usize>] {
        &self.comments
    }

    /// Records something other than white space and an opening fence.
    pub(crate) const fn prose(&mut self) {
        match &mut self.after {
            Some(after) => after.prose = true,
            None => self.prose = true,
        }
    }

    pub(crate) const fn has_prose(&self) -> bool {
        match &self.after {
            Some(after) => after.prose,
            None => self.prose,
        }
    }

    /// Whether the document has ended.
    pub(crate) const fn is_after(&self) -> bool {
        self.after.is_some()
    }

    /// Where the document ended, if it has.
    pub(crate) const fn document_end(&self) -> Option<usize> {
        match &self.after {
            Some(after) => Some(after.end),
            None => None,
        }
    }

    /// Records that the document ended at `end`. `doubtful` says that quotes in it were in doubt, and
    /// `guessed` that anything in it was. At most `lookahead` bytes after it are considered.
    pub(crate) const fn document(
        &mut self,
        end: usize,
        doubtful: bool,
        guessed: bool,
        lookahead: usize,
    ) {
        self.after = Some(After {
            tail: Tail::new(lookahead).in_doubt(doubtful),
            doubtful,
            guessed,
            end,
            closers: None,
            fence: None,
            prose: false,
            second: None,
        });
    }

    /// Records a quote at `at`, which may be directly after the document.
    pub(crate) const fn quote(&mut self, at: usize) {
        if let Some(after) = &mut self.after
            && at == after.end
        {
            after.tail.touch();
        }
    }

    /// Records text, or the white space around it.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        match &mut self.after {
            Some(after) => {
                bytes.iter().for_each(|byte| after.tail.byte(*byte));
            }
            None => {
                self.lead.text(bytes);
                if let Some(inside) = &mut self.inside {
                    inside.text(bytes);
                }
            }
        }
    }

    /// Records a fence that is opened by these bytes.
    pub(crate) fn fence_opened(&mut self, bytes: &[u8]) {
        self.before_fence = self.lead.kind();
        self.bytes(bytes);
        let mut inside = Lead::new();
        // A document that begins on the fence's line.
        if bytes.iter().any(|byte| matches!(byte, b'{' | b'[')) {
            inside.text(b"{");
        }
        self.inside = Some(inside);
    }

    /// Whether stray closers follow the document.
    pub(crate) fn has_closers(&self) -> bool {
        self.after.is_some_and(|after| after.closers.is_some())
    }

    /// Records stray closers that end at `end`.
    pub(crate) const fn closers(&mut self, end: usize) {
        if let Some(after) = &mut self.after {
            after.tail.closers();
            after.closers = Some(end);
        }
    }

    /// Records a fence that is closed at `end`.
    pub(crate) const fn fence_closed(&mut self, end: usize) {
        match &mut self.after {
            Some(After { prose: true, .. } | After { fence: Some(_), .. }) => self.prose(),
            None => {
                self.inside = None;
                self.prose();
            }
            Some(after) => {
                after.fence = Some(end);
                after.tail.fence();
            }
        }
    }

    /// Records text from another document on.
    pub(crate) fn rest(&mut self, bytes: &[u8]) {
        if let Some(after) = &mut self.after {
            after.tail.pass(bytes);
        }
    }

    /// Records another document that begins at `start`.
    pub(crate) const fn second(&mut self, start: usize) {
        if let Some(after) = &mut self.after
            && after.second.is_none()
        {
            after.second = Some(start);
        }
    }

    /// The repairs that delete the text before a document at `start`, which may be inside `fence`.
    /// `mark` is the length of the mark before it on its line, if its lines are marked.
    pub(crate) fn leading(
        &self,
        start: usize,
        mark: Option<usize>,
        fence: Option<&Fence>,
    ) -> Vec<Repair> {
        let mut cuts = Cuts { mark: mark.map(|length| start - length), ..Cuts::default() };
        cuts.upto(self.mark, RepairKind::ByteOrderMark);
        match fence {
            Some(fence) => {
                if self.prose {
                    cuts.upto(Some(fence.start()), self.before_fence);
                }
                if fence.is_touched() {
                    cuts.upto(Some(fence.inner()), RepairKind::CodeFence);
                    cuts.lead(start, self.inside.as_ref().unwrap_or(&Lead::new()));
                } else {
                    cuts.upto(Some(start), RepairKind::CodeFence);
                }
            }
            None if self.prose => cuts.lead(start, &self.lead),
            None => {
                for comment in &self.comments {
                    cuts.at = comment.start;
                    cuts.upto(Some(comment.end), RepairKind::Comment);
                }
            }
        }
        cuts.repairs
    }

    /// Whether a bracket before the document, or before it in its fence, was never closed.
    pub(crate) fn is_torn(&self) -> bool {
        self.inside.as_ref().unwrap_or(&self.lead).is_torn()
    }

    /// Whether what comes after the document seems to be the rest of it, and does not close it.
    pub(crate) fn lacks_end(&self) -> bool {
        self.after.is_some_and(|after| {
            let tail = after.tail.in_doubt(after.doubtful);
            after.fence.is_none()
                && (tail.lacks_end()
                    || (after.guessed || after.doubtful) && tail.leaves_open(after.guessed))
        })
    }

    /// The repairs that delete the text after the document, in an input of `total` bytes.
    pub(crate) fn trailing(&self, total: usize) -> Vec<Repair> {
        let Some(after) = self.after else { return Vec::new() };
        let mut cuts = Cuts { at: after.end, ..Cuts::default() };
        // White space after closers is deleted with them, because both were emitted as text.
        let bare = after.fence.is_none() && !after.prose && after.second.is_none();
        let closers = after.closers.map(|end| if bare { total } else { end });
        // What they were meant to close may be in a string whose quotes were in doubt.
        let kind = if after.doubtful { RepairKind::StrayText } else { RepairKind::ExtraClose };
        cuts.upto(closers, kind);
        let rest = after.second.unwrap_or(total);
        match after.fence {
            Some(_) if !after.prose => cuts.upto(Some(rest), RepairKind::CodeFence),
            fence => {
                cuts.upto(fence, RepairKind::CodeFence);
                if after.prose || after.second.is_some() {
                    // After a closing fence, nothing belongs to the document.
                    let doubtful = after.doubtful && fence.is_none();
                    let kind = after.tail.in_doubt(doubtful).kind();
                    cuts.upto(Some(rest), kind);
                }
            }
        }
        if after.second.is_some() {
            cuts.upto(Some(total), RepairKind::SecondDocument);
        }
        cuts.repairs
    }
}

/// Deletions, each starting where the last one ended.
#[derive(Default)]
struct Cuts {
    at: usize,
    /// Where the mark begins that is before the document on its line.
    mark: Option<usize>,
    repairs: Vec<Repair>,
}

impl Cuts {
    /// Deletes the text before a document.
    fn lead(&mut self, start: usize, lead: &Lead) {
        match self.mark {
            Some(mark) => {
                self.upto(Some(mark), lead.kind_of_lines());
                self.upto(Some(start), RepairKind::LineMark);
            }
            None => self.upto(Some(start), lead.kind()),
        }
    }

    fn upto(&mut self, end: Option<usize>, kind: RepairKind) {
        if let Some(end) = end
            && end > self.at
        {
            self.repairs.push(Repair::new(kind, self.at..end, ""));
            self.at = end;
        }
    }
}

/// The first of these repairs that the policy forbids.
pub(crate) fn forbidden<'r>(policy: &Policy, repairs: &'r [Repair]) -> Option<&'r Repair> {
    repairs.iter().find(|repair| !policy.permits(repair))
}
