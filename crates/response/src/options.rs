//! How a [`ResponseReader`](crate::ResponseReader) reads.

use jsonmend_core::Options;
use jsonmend_extract::Scope;
#[cfg(feature = "schema")]
use jsonmend_schema::{FitOptions, Schema, SharedRegistry};
use jsonmend_wire::WireOptions;

/// How a response is read.
///
/// ```
/// use jsonmend_response::ResponseOptions;
/// use jsonmend_extract::Scope;
///
/// let options = ResponseOptions::new().with_objects(Scope::All).with_object_limit(65_536);
/// assert_eq!(options.objects(), Some(Scope::All));
/// ```
#[derive(Clone, Debug)]
pub struct ResponseOptions {
    wire: WireOptions,
    objects: Option<Scope>,
    taken_out: bool,
    mending: Options,
    object_limit: usize,
    #[cfg(feature = "schema")]
    pub(crate) tools: Option<SharedRegistry>,
    #[cfg(feature = "schema")]
    pub(crate) schema: Option<(Schema, FitOptions)>,
}

impl ResponseOptions {
    /// The defaults, as each method states them.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            wire: WireOptions::new(),
            objects: None,
            taken_out: false,
            mending: Options::new(),
            object_limit: 8 << 20,
            #[cfg(feature = "schema")]
            tools: None,
            #[cfg(feature = "schema")]
            schema: None,
        }
    }

    /// How the body and the tool calls are read.
    ///
    /// ### Default
    /// Framing and format are detected; tool calls are mended under
    /// [`Policy::CONSERVATIVE`](jsonmend_core::Policy::CONSERVATIVE).
    #[must_use]
    pub fn with_wire(mut self, options: WireOptions) -> Self {
        self.wire = options;
        self
    }

    /// Looks for objects in the text. They come beside the text, which is handed out whole all the
    /// same; see [`without_objects_in_text`](Self::without_objects_in_text). [`Scope::Whole`] is for a
    /// response that should be JSON and nothing else.
    ///
    /// ### Default
    /// The text is not searched, unless there is a schema for it.
    #[must_use]
    pub const fn with_objects(mut self, scope: Scope) -> Self {
        self.objects = Some(scope);
        self
    }

    /// Leaves objects out of the text that is handed out, and reasoning that the model wrote between
    /// tags into its text: that comes as reasoning. What is left of a sentence around an object may
    /// not be one: this is for text that is shown beside its objects.
    ///
    /// ### Default
    /// Text is handed out as it came.
    #[must_use]
    pub const fn without_objects_in_text(mut self) -> Self {
        self.taken_out = true;
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

    /// Brings each call into the schema of its tool:
    /// [`Event::CallFitted`](crate::Event::CallFitted) and
    /// [`Event::CallFound`](crate::Event::CallFound) come beside the other events.
    ///
    /// The policy for rules is the one that calls are mended under ([`with_wire`](Self::with_wire)). A
    /// call is checked by the tools that were registered when it began; swapping the registry does not
    /// wait, and counts from the next call on. The schemas also settle what the bytes of the arguments
    /// leave open, unless the options for the body bring guides of their own.
    ///
    /// Each open call costs a cursor besides, with the value of its arguments so far.
    ///
    /// ### Default
    /// Calls are not checked.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn with_tools(mut self, tools: &SharedRegistry) -> Self {
        self.tools = Some(tools.clone());
        self
    }

    /// Brings each object of the text into that schema:
    /// [`Event::ObjectFitted`](crate::Event::ObjectFitted) comes after its end. Where a choice holds
    /// neither an object nor a call, the schema reads its text as a whole. Of `options`, the engine
    /// and the scope are set by the reader.
    ///
    /// Text is kept for it, up to the buffer limit of [`with_mending`](Self::with_mending); an object
    /// beyond that is not fitted.
    ///
    /// ### Default
    /// Objects are not checked.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn with_schema(mut self, schema: &Schema, options: FitOptions) -> Self {
        self.schema = Some((schema.clone(), options));
        self
    }

    /// How the body and the tool calls are read.
    #[must_use]
    pub const fn wire(&self) -> &WireOptions {
        &self.wire
    }

    /// Where objects are looked for in the text; `None` if they are not.
    #[must_use]
    pub const fn objects(&self) -> Option<Scope> {
        #[cfg(feature = "schema")]
        if self.objects.is_none() && self.schema.is_some() {
            return Some(Scope::All);
        }
        self.objects
    }

    /// Whether objects are left out of the text.
    #[must_use]
    pub const fn takes_objects_out(&self) -> bool {
        self.taken_out
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

impl Default for ResponseOptions {
    fn default() -> Self {
        Self::new()
    }
}
