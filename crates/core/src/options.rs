//! What the caller allows: policy, limits, and what follows a document.

use alloc::sync::Arc;

use crate::{Guide, KindSet, RepairKind, Risk, code::by_code, guide::Root};

/// Which repairs may be made.
///
/// ```
/// use jsonmend_core::{Policy, RepairKind, Risk};
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
    /// No repair at all: valid JSON, or a refusal.
    pub const STRICT: Self = Self { max_risk: None, close_cut: false, off: KindSet::EMPTY };
    /// Repairs up to [`Risk::Likely`]; what was cut off is never closed. The default for tool calls.
    pub const CONSERVATIVE: Self =
        Self { max_risk: Some(Risk::Likely), close_cut: false, off: KindSet::EMPTY };
    /// Every repair, each with its risk. The default for text and snapshots.
    pub const PERMISSIVE: Self =
        Self { max_risk: Some(Risk::Guess), close_cut: true, off: KindSet::EMPTY };

    /// What a reading of the rest of a text may need to be taken for one that reads well: what
    /// [`Policy::CONSERVATIVE`] allows, and words after the document.
    pub(crate) const TRIAL: Self = {
        let mut off = KindSet::EMPTY;
        let mut at = 0;
        while at < RepairKind::ALL.len() {
            let kind = RepairKind::ALL[at];
            if matches!(kind.risk(), Risk::Lossy) && !matches!(kind, RepairKind::InlineProse) {
                off = off.with(kind);
            }
            at += 1;
        }
        Self { max_risk: Some(Risk::Lossy), close_cut: false, off }
    };

    /// This policy, with no repair above `risk`. The stricter of the two wins; below
    /// [`Risk::Guess`] what was cut off is not closed.
    #[must_use]
    pub fn at_most(mut self, risk: Risk) -> Self {
        self.max_risk = self.max_risk.map(|max| max.min(risk));
        self.close_cut &= risk == Risk::Guess;
        self
    }

    /// This policy without repairs of that kind.
    #[must_use]
    pub const fn without(mut self, kind: RepairKind) -> Self {
        self.off = self.off.with(kind);
        self
    }

    /// Whether a repair of that kind may be made.
    #[must_use]
    pub fn allows(&self, kind: RepairKind) -> bool {
        self.max_risk.is_some_and(|max| kind.risk() <= max) && !self.off.contains(kind)
    }

    /// The highest risk allowed; `None` allows no repair.
    #[must_use]
    pub const fn max_risk(&self) -> Option<Risk> {
        self.max_risk
    }

    /// Whether a document that the input's end cut off may be closed.
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

/// Bounds on what one input may cost. Passing one ends in
/// [`Outcome::Overflow`](crate::Outcome::Overflow).
///
/// ```
/// use jsonmend_core::Limits;
/// let limits = Limits::new().with_depth(1000).with_repairs(50);
/// assert_eq!(limits.depth(), 1000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    depth: usize,
    lookahead: usize,
    buffer: usize,
    repairs: usize,
}

impl Limits {
    /// The defaults: depth 127, look-ahead 64 bytes, buffer 65,536 bytes, 10,000 repairs.
    #[must_use]
    pub const fn new() -> Self {
        Self { depth: 127, lookahead: 64, buffer: 65_536, repairs: 10_000 }
    }

    /// The deepest nesting, in levels.
    ///
    /// ### Default
    /// 127: one less than `serde_json`'s own limit refuses.
    #[must_use]
    pub const fn with_depth(mut self, levels: usize) -> Self {
        self.depth = levels;
        self
    }

    /// How many bytes the push path looks ahead at a doubtful place. At least 16.
    ///
    /// ### Default
    /// 64 bytes. More decides better; less shows sooner.
    #[must_use]
    pub const fn with_lookahead(mut self, bytes: usize) -> Self {
        self.lookahead = if bytes < 16 { 16 } else { bytes };
        self
    }

    /// How many bytes the push path may read and hold back: a separator, a key, and the white space
    /// around; at least its look-ahead and a byte. At most two windows of look-ahead come on top of
    /// them.
    ///
    /// ### Default
    /// 65,536 bytes.
    #[must_use]
    pub const fn with_buffer(mut self, bytes: usize) -> Self {
        self.buffer = bytes;
        self
    }

    /// How many repairs one input may need.
    ///
    /// ### Default
    /// 10,000.
    #[must_use]
    pub const fn with_repairs(mut self, repairs: usize) -> Self {
        self.repairs = repairs;
        self
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

    /// The largest number of bytes held back.
    #[must_use]
    pub const fn buffer(&self) -> usize {
        self.buffer
    }

    /// The largest number of repairs.
    #[must_use]
    pub const fn repairs(&self) -> usize {
        self.repairs
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// What happens to what follows a complete document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TrailingDocuments {
    /// Every document is kept, each as a text of its own, separated as in the input or by a newline.
    All,
    /// Whole text only: several documents become the items of one array. The push path reads this
    /// as [`TrailingDocuments::First`], for an array cannot be opened after what has left.
    Array,
    /// What follows makes the input invalid; white space aside.
    Error,
    /// The first document is kept, what follows is dropped (and recorded).
    #[default]
    First,
    /// Whole text only: the last document is kept. The push path reads this as
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
/// use jsonmend_core::{TrailingDocuments, Options, Policy};
/// let options = Options::new().with_policy(Policy::CONSERVATIVE).with_trailing_documents(TrailingDocuments::All);
/// assert_eq!(options.policy(), Policy::CONSERVATIVE);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Options {
    policy: Policy,
    limits: Limits,
    following: TrailingDocuments,
    guide: Option<Root>,
}

impl Options {
    /// Permissive policy, default limits, first document.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            policy: Policy::PERMISSIVE,
            limits: Limits::new(),
            following: TrailingDocuments::First,
            guide: None,
        }
    }

    /// With that policy.
    #[must_use]
    pub const fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// With those limits.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// With that rule for what follows a document.
    #[must_use]
    pub const fn with_trailing_documents(mut self, following: TrailingDocuments) -> Self {
        self.following = following;
        self
    }

    /// With a guide to what the value should be, which settles what the bytes leave open. Options
    /// are equal if their guides are one and the same, not if they say the same.
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

    /// The rule for what follows a document.
    #[must_use]
    pub const fn trailing_documents(&self) -> TrailingDocuments {
        self.following
    }

    /// The guide.
    #[must_use]
    pub fn guide(&self) -> Option<&Arc<dyn Guide>> {
        self.guide.as_ref().map(|root| &root.0)
    }
}
