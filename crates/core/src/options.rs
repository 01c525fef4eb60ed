//! What the caller allows: policy, limits, and what to do about text after a document.

use alloc::sync::Arc;

use crate::{Guide, KindSet, Repair, RepairKind, Risk, code::by_code, guide::Root};

/// Which repairs may be made.
///
/// ```
/// use wiremend_core::{Policy, RepairKind, Risk};
/// let policy = Policy::CONSERVATIVE.without(RepairKind::CallWrapper);
/// assert!(policy.allows(RepairKind::SingleQuote));
/// assert!(!policy.allows(RepairKind::CallWrapper));
/// assert!(!policy.allows(RepairKind::MissingValue));
/// assert!(Policy::PERMISSIVE.at_most(Risk::Exact).allows(RepairKind::Comment));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    max_risk: Option<Risk>,
    close_cut: bool,
    off: KindSet,
}

impl Policy {
    /// No repairs: the input is valid JSON, or it is refused.
    pub const STRICT: Self = Self { max_risk: None, close_cut: false, off: KindSet::EMPTY };
    /// Repairs up to [`Risk::Likely`]. A document that was cut off is never closed. Use it for tool
    /// calls.
    pub const CONSERVATIVE: Self =
        Self { max_risk: Some(Risk::Likely), close_cut: false, off: KindSet::EMPTY };
    /// All repairs, each with its risk. Use it for text and snapshots.
    pub const PERMISSIVE: Self =
        Self { max_risk: Some(Risk::Guess), close_cut: true, off: KindSet::EMPTY };

    /// What a consistent dialect of JSON needs: Python's `repr`, and JavaScript's literals.
    pub(crate) const DIALECT: Self = {
        let mut off = KindSet::EMPTY;
        let mut at = 0;
        while at < RepairKind::ALL.len() {
            let kind = RepairKind::ALL[at];
            if !kind.is_of_dialect() {
                off = off.with(kind);
            }
            at += 1;
        }
        Self { max_risk: Some(Risk::Exact), close_cut: false, off }
    };

    /// This policy, but with no repair above `risk`. If the policy is already stricter, its own
    /// maximum stays. Below [`Risk::Guess`], a document that was cut off is not closed.
    #[must_use]
    pub fn at_most(mut self, risk: Risk) -> Self {
        self.max_risk = self.max_risk.map(|max| max.min(risk));
        self.close_cut &= risk == Risk::Guess;
        self
    }

    /// This policy without repairs of this kind.
    #[must_use]
    pub const fn without(mut self, kind: RepairKind) -> Self {
        self.off = self.off.with(kind);
        self
    }

    /// Whether repairs of this kind are allowed.
    #[must_use]
    pub fn allows(&self, kind: RepairKind) -> bool {
        self.max_risk.is_some_and(|max| kind.risk() <= max) && !self.off.contains(kind)
    }

    /// Whether this repair is allowed: its kind, and its [risk](Repair::risk), which may be higher.
    ///
    /// ```
    /// use wiremend_core::{MendOptions, Policy, mend};
    /// let mended = mend(br#"{"a": "5"", "b": 1}"#, &MendOptions::new());
    /// let repair = mended.repairs().first().unwrap();
    /// let policy = Policy::PERMISSIVE.at_most(repair.kind().risk());
    /// assert!(policy.allows(repair.kind()) && !policy.permits(&repair));
    /// ```
    #[must_use]
    pub fn permits(&self, repair: &Repair) -> bool {
        self.allows(repair.kind()) && self.max_risk >= Some(repair.risk())
    }

    /// Whether every repair that a consistent dialect needs is allowed.
    pub(crate) fn allows_dialects(&self) -> bool {
        RepairKind::ALL.iter().all(|kind| !kind.is_of_dialect() || self.allows(*kind))
    }

    /// The highest risk that is allowed. `None` allows no repair.
    #[must_use]
    pub const fn max_risk(&self) -> Option<Risk> {
        self.max_risk
    }

    /// Whether a document that was cut off by the end of the input may be closed.
    #[must_use]
    pub const fn closes_cut(&self) -> bool {
        self.close_cut
    }
}

impl Default for Policy {
    /// [`Policy::PERMISSIVE`].
    fn default() -> Self {
        Self::PERMISSIVE
    }
}

/// Limits for one input. Exceeding one results in
/// [`Outcome::Overflow`](crate::Outcome::Overflow).
///
/// ```
/// use wiremend_core::Limits;
/// let limits = Limits::new().with_depth(1000).with_report(1 << 30);
/// assert_eq!(limits.depth(), 1000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    depth: usize,
    lookahead: usize,
    buffer: usize,
    report: usize,
    documents: usize,
}

impl Limits {
    /// The defaults: depth 127, look-ahead 64 bytes, buffer 65,536 bytes, a report of 16 MiB, 250,000
    /// documents.
    #[must_use]
    pub const fn new() -> Self {
        Self { depth: 127, lookahead: 64, buffer: 65_536, report: 16 << 20, documents: 250_000 }
    }

    /// The deepest nesting, in levels.
    ///
    /// ### Default
    /// 127, the deepest nesting that `serde_json` accepts by default.
    #[must_use]
    pub const fn with_depth(mut self, levels: usize) -> Self {
        self.depth = levels;
        self
    }

    /// How many bytes the push path looks ahead to decide an uncertain case. At least 16.
    ///
    /// ### Default
    /// 64 bytes. With more, decisions are better; with less, text is emitted sooner.
    #[must_use]
    pub const fn with_lookahead(mut self, bytes: usize) -> Self {
        self.lookahead = if bytes < 16 { 16 } else { bytes };
        self
    }

    /// How many bytes the push path may withhold, such as a separator, a key, and the white space
    /// around them. At least the look-ahead and one byte. At most twice the look-ahead, which
    /// is at least 32 bytes, may be withheld in addition.
    ///
    /// ### Default
    /// 65,536 bytes.
    #[must_use]
    pub const fn with_buffer(mut self, bytes: usize) -> Self {
        self.buffer = bytes;
        self
    }

    /// How many bytes of memory the repairs of a whole text may take while it is read, about 48 each.
    /// For a text of more than half that size it is twice its size.
    ///
    /// A text with more repairs than that is not refused. It is read as the push path reads it, which
    /// keeps a few bytes of each, but cannot make a repair before a place that it has passed.
    ///
    /// ### Default
    /// 16 MiB, which is enough for 350,000 repairs.
    #[must_use]
    pub const fn with_report(mut self, bytes: usize) -> Self {
        self.report = bytes;
        self
    }

    /// How many documents a whole text may hold if they are to be joined into an array, or if the
    /// last one is wanted. A long text may hold more: one for every 16 bytes. Joining a document takes
    /// a repair, and so many times the memory of a document of a few bytes.
    ///
    /// ### Default
    /// 250,000, which takes about 60 megabytes.
    #[must_use]
    pub const fn with_documents(mut self, documents: usize) -> Self {
        self.documents = documents;
        self
    }

    /// How many documents a whole text of that many bytes may hold; see
    /// [`with_documents`](Self::with_documents).
    ///
    /// ```
    /// use wiremend_core::Limits;
    /// assert_eq!(Limits::new().documents_in(100), 250_000);
    /// assert_eq!(Limits::new().documents_in(16_000_000), 1_000_000);
    /// ```
    #[must_use]
    pub const fn documents_in(&self, bytes: usize) -> usize {
        let (long, few) = (bytes / 16, if self.documents == 0 { 1 } else { self.documents });
        if long > few { long } else { few }
    }

    /// The deepest nesting, in levels.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// The look-ahead, in bytes.
    #[must_use]
    pub const fn lookahead(&self) -> usize {
        self.lookahead
    }

    /// The maximum number of bytes that may be withheld.
    #[must_use]
    pub const fn buffer(&self) -> usize {
        self.buffer
    }

    /// How many bytes the repairs of a whole text may take while it is read, if it is short.
    #[must_use]
    pub const fn report(&self) -> usize {
        self.report
    }

    /// The same for a text of that many bytes.
    pub(crate) const fn report_for(&self, bytes: usize) -> usize {
        let long = bytes.saturating_mul(2);
        if long > self.report { long } else { self.report }
    }

    /// The maximum number of documents of a short text.
    #[must_use]
    pub const fn documents(&self) -> usize {
        self.documents
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// What to do about text that follows a complete document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TrailingDocuments {
    /// Every document is kept, as a text of its own, separated as in the input or by a newline.
    All,
    /// Several documents become the items of one array. Whole-text path only: the push path treats
    /// this as [`TrailingDocuments::First`], because it has already emitted the first document when
    /// it finds the second one.
    Array,
    /// Anything but white space after the document makes the input invalid.
    Error,
    /// The first document is kept. What follows is dropped, and recorded as a repair: if it holds
    /// another document, as [`RepairKind::SecondDocument`](crate::RepairKind::SecondDocument).
    #[default]
    First,
    /// The last document is kept. Whole-text path only: the push path treats this as
    /// [`TrailingDocuments::First`].
    Last,
}

impl TrailingDocuments {
    /// All rules, in alphabetical order.
    pub const ALL: &'static [Self] =
        &[Self::All, Self::Array, Self::Error, Self::First, Self::Last];

    /// The stable lower-case name.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Array => "array",
            Self::Error => "error",
            Self::First => "first",
            Self::Last => "last",
        }
    }
}

by_code!(TrailingDocuments, "rule for trailing documents");

/// The settings of a [`Mender`](crate::Mender) or of [`mend`](crate::mend).
///
/// ```
/// use wiremend_core::{TrailingDocuments, MendOptions, Policy};
/// let options = MendOptions::new().with_policy(Policy::CONSERVATIVE).with_trailing_documents(TrailingDocuments::All);
/// assert_eq!(options.policy(), Policy::CONSERVATIVE);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MendOptions {
    policy: Policy,
    limits: Limits,
    following: TrailingDocuments,
    searches: bool,
    guide: Option<Root>,
}

impl Default for MendOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl MendOptions {
    /// The permissive policy, the default limits, and [`TrailingDocuments::First`].
    #[must_use]
    pub const fn new() -> Self {
        Self {
            policy: Policy::PERMISSIVE,
            limits: Limits::new(),
            following: TrailingDocuments::First,
            searches: true,
            guide: None,
        }
    }

    /// Sets the policy.
    #[must_use]
    pub const fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what to do about text after a document.
    #[must_use]
    pub const fn with_trailing_documents(mut self, following: TrailingDocuments) -> Self {
        self.following = following;
        self
    }

    /// Reads a whole text without a search for its cheapest reading, as a [`Mender`](crate::Mender) does:
    /// each quote and bracket means what the bytes shortly after it say.
    ///
    /// ### Default
    /// Where a repair has a rival, the text is searched, and what follows later decides. So it may
    /// contradict what a stream of the text has shown. A [`BufferedMender`](crate::BufferedMender) searches at
    /// its end. A text that seems to be cut off stays incomplete, and what fits a guide stays.
    ///
    /// ```
    /// use wiremend_core::{MendOptions, mend};
    /// let text = br#"{"from": "Oslo"to": "Rome"}"#;
    /// let searched = mend(text, &MendOptions::new());
    /// assert_eq!(searched.text(), Some(r#"{"from": "Oslo","to": "Rome"}"#));
    /// let alone = mend(text, &MendOptions::new().without_search());
    /// assert_eq!(alone.text(), Some(r#"{"from": "Oslo\"to\": \"Rome"}"#));
    /// ```
    #[must_use]
    pub const fn without_search(mut self) -> Self {
        self.searches = false;
        self
    }

    /// Sets a guide, which knows what the value should be and decides what the bytes leave open.
    /// Options are equal only if they have the same guide, not if their guides are equivalent.
    ///
    /// ### Default
    /// None.
    #[must_use]
    pub fn with_guide(mut self, guide: Arc<dyn Guide>) -> Self {
        self.guide = Some(Root(guide));
        self
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// The limits.
    #[must_use]
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// What to do about text after a document.
    #[must_use]
    pub const fn trailing_documents(&self) -> TrailingDocuments {
        self.following
    }

    /// Whether a whole text is searched for its cheapest reading.
    #[must_use]
    pub const fn searches(&self) -> bool {
        self.searches
    }

    /// The guide.
    #[must_use]
    pub fn guide(&self) -> Option<&Arc<dyn Guide>> {
        self.guide.as_ref().map(|root| &root.0)
    }
}
