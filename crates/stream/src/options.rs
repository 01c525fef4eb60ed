//! What a [`MendStream`](crate::MendStream) is told.

use jsonmend_core::Options;
use jsonmend_extract::Scope;
use jsonmend_wire::WireOptions;

/// How a response is read.
///
/// ```
/// use jsonmend_stream::MendOptions;
/// use jsonmend_extract::Scope;
///
/// let options = MendOptions::new().with_content(Scope::Whole).with_object_limit(65_536);
/// assert_eq!(options.content(), Some(Scope::Whole));
/// assert_eq!(options.without_content().content(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MendOptions {
    wire: WireOptions,
    content: Option<Scope>,
    mending: Options,
    object_limit: usize,
}

impl MendOptions {
    /// The defaults, as each method states them.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            wire: WireOptions::new(),
            content: Some(Scope::All),
            mending: Options::new(),
            object_limit: 8 << 20,
        }
    }

    /// How the body and the tool calls are read.
    ///
    /// ### Default
    /// Everything detected; tool calls under [`Policy::CONSERVATIVE`](jsonmend_core::Policy::CONSERVATIVE).
    #[must_use]
    pub fn with_wire(mut self, options: WireOptions) -> Self {
        self.wire = options;
        self
    }

    /// Where objects are looked for in the text. [`Scope::Whole`] is for a response that should be
    /// JSON and nothing else.
    ///
    /// ### Default
    /// [`Scope::All`].
    #[must_use]
    pub const fn with_content(mut self, scope: Scope) -> Self {
        self.content = Some(scope);
        self
    }

    /// Looks for no objects: text is handed out as it comes.
    #[must_use]
    pub const fn without_content(mut self) -> Self {
        self.content = None;
        self
    }

    /// How objects in the text are mended.
    ///
    /// ### Default
    /// [`Policy::PERMISSIVE`](jsonmend_core::Policy::PERMISSIVE), default limits.
    #[must_use]
    pub fn with_mending(mut self, options: Options) -> Self {
        self.mending = options;
        self
    }

    /// How large an object of the text may grow that is kept until its end, in bytes. Beyond, its
    /// fragments still come, and it ends as [`Outcome::Overflow`](jsonmend_core::Outcome::Overflow).
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_object_limit(mut self, bytes: usize) -> Self {
        self.object_limit = bytes;
        self
    }

    /// How the body and the tool calls are read.
    #[must_use]
    pub const fn wire(&self) -> &WireOptions {
        &self.wire
    }

    /// Where objects are looked for in the text.
    #[must_use]
    pub const fn content(&self) -> Option<Scope> {
        self.content
    }

    /// How objects in the text are mended.
    #[must_use]
    pub const fn mending(&self) -> &Options {
        &self.mending
    }

    /// The largest object that is kept, in bytes.
    #[must_use]
    pub const fn object_limit(&self) -> usize {
        self.object_limit
    }
}

impl Default for MendOptions {
    fn default() -> Self {
        Self::new()
    }
}
