//! The options of a [`ResponseReader`](crate::ResponseReader).

use wiremend_core::MendOptions;
use wiremend_extract::Scope;
#[cfg(feature = "schema")]
use wiremend_schema::{FitOptions, Schema, SharedRegistry};
use wiremend_wire::WireOptions;

use crate::TextCalls;

/// How a response is read.
///
/// ```
/// use wiremend_response::ResponseOptions;
/// use wiremend_extract::Scope;
///
/// let options = ResponseOptions::new().with_objects(Scope::All).with_object_limit(65_536);
/// assert_eq!(options.objects(), Some(Scope::All));
/// ```
#[derive(Clone, Debug)]
pub struct ResponseOptions {
    wire: WireOptions,
    objects: Option<Scope>,
    taken_out: bool,
    mending: MendOptions,
    object_limit: usize,
    raw_objects: bool,
    in_text: Option<TextCalls>,
    open_objects_limit: usize,
    #[cfg(feature = "schema")]
    pub(crate) tools: Option<SharedRegistry>,
    #[cfg(feature = "schema")]
    pub(crate) schema: Option<(Schema, FitOptions)>,
    #[cfg(feature = "schema")]
    pub(crate) coerces: bool,
}

impl ResponseOptions {
    /// The defaults. Each method documents its own.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            wire: WireOptions::new(),
            objects: None,
            taken_out: false,
            mending: MendOptions::new(),
            object_limit: 8 << 20,
            raw_objects: false,
            in_text: None,
            open_objects_limit: 16 << 20,
            #[cfg(feature = "schema")]
            tools: None,
            #[cfg(feature = "schema")]
            schema: None,
            #[cfg(feature = "schema")]
            coerces: true,
        }
    }

    /// Sets how the body and the tool calls are read.
    ///
    /// ### Default
    /// Framing and format are detected; tool calls are repaired under
    /// [`Policy::CONSERVATIVE`](wiremend_core::Policy::CONSERVATIVE).
    #[must_use]
    pub fn with_wire(mut self, options: WireOptions) -> Self {
        self.wire = options;
        self
    }

    /// Finds objects in the text. They are emitted in addition to the text, which is still emitted in
    /// full; see [`without_objects_in_text`](Self::without_objects_in_text). [`Scope::Whole`] is for a
    /// response that should be JSON and nothing else.
    ///
    /// ### Default
    /// The text is not searched, unless a schema is set for it.
    #[must_use]
    pub const fn with_objects(mut self, scope: Scope) -> Self {
        self.objects = Some(scope);
        self
    }

    /// Removes objects from the emitted text, and also reasoning that the model wrote between tags in its
    /// text, which is emitted as reasoning instead. What is left of a sentence around an object may not be
    /// a sentence: use this for text that is shown next to its objects.
    ///
    /// ### Default
    /// Text is emitted verbatim.
    #[must_use]
    pub const fn without_objects_in_text(mut self) -> Self {
        self.taken_out = true;
        self
    }

    /// Looks for tool calls in the text, in the dialects that models write. They are emitted like those of
    /// the format, and counted with them, while they arrive; the text comes without them, and reasoning
    /// between tags comes as reasoning. Their arguments are repaired under the policy for calls
    /// ([`with_wire`](Self::with_wire)).
    ///
    /// A call that is cut off or refused has that outcome and is not text. No call that ends after
    /// something of the response was lost is complete. [`Finish`](wiremend_wire::Finish) is as the provider
    /// states it: usually it says that the model stopped, because the provider saw no call.
    ///
    /// ### Default
    /// Text is text.
    #[must_use]
    pub fn with_calls_in_text(mut self, calls: TextCalls) -> Self {
        self.in_text = Some(calls.ready());
        self
    }

    /// Sets how objects in the text are repaired.
    ///
    /// ### Default
    /// [`Policy::PERMISSIVE`](wiremend_core::Policy::PERMISSIVE), default limits.
    #[must_use]
    pub fn with_mending(mut self, options: MendOptions) -> Self {
        self.mending = options;
        self
    }

    /// Sets the size up to which an object in the text is kept until it ends, in bytes. The fragments of
    /// a larger object are still emitted, but it ends as
    /// [`Outcome::Overflow`](wiremend_core::Outcome::Overflow).
    ///
    /// ### Default
    /// 8 MiB.
    #[must_use]
    pub const fn with_object_limit(mut self, bytes: usize) -> Self {
        self.object_limit = bytes;
        self
    }

    /// Sets how many bytes are kept of all objects that are open in the texts of a response, together with
    /// their repairs. The object that exceeds it ends as for [`with_object_limit`](Self::with_object_limit).
    ///
    /// ### Default
    /// 16 MiB.
    #[must_use]
    pub const fn with_open_objects_limit(mut self, bytes: usize) -> Self {
        self.open_objects_limit = bytes;
        self
    }

    /// Keeps the text of each object in the text as the model wrote it, for [`Object::raw`](crate::Object::raw): up to
    /// the [object limit](Self::with_object_limit), and within the
    /// [limit for all open objects](Self::with_open_objects_limit). It takes as much memory again as the
    /// objects.
    ///
    /// ### Default
    /// Only the repaired text is kept.
    #[must_use]
    pub const fn with_raw_objects(mut self) -> Self {
        self.raw_objects = true;
        self
    }

    /// Fits each call to the schema of its tool: [`Event::CallFitted`](crate::Event::CallFitted) and
    /// [`Event::CallIssue`](crate::Event::CallIssue) are emitted in addition to the other events.
    ///
    /// The rules use the same policy as the repair of calls ([`with_wire`](Self::with_wire)). A call is
    /// checked against the tools that were registered when it began. Swapping the registry does not block,
    /// and takes effect with the next call. The schemas also decide what the bytes of the arguments leave
    /// open, unless the options for the body set their own guides.
    ///
    /// Each open call needs an additional cursor, which holds the value of its arguments so far.
    ///
    /// ### Default
    /// Calls are not checked.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn with_tools(mut self, tools: &SharedRegistry) -> Self {
        self.tools = Some(tools.clone());
        self
    }

    /// Fits each object in the text to that schema: [`Event::ObjectIssue`](crate::Event::ObjectIssue) says while it
    /// grows what is wrong with it for certain, and [`Event::ObjectFitted`](crate::Event::ObjectFitted) follows
    /// its end. If a choice holds neither an object nor a call, the schema reads its text as a
    /// whole. Every object is looked for, as
    /// with [`Scope::All`], unless [`with_objects`](Self::with_objects) says otherwise. Of `options`, the
    /// mending is replaced by the one of [`with_mending`](Self::with_mending), which also gives the policy,
    /// and the scope is set. The schema also decides what the bytes of an object leave open, unless the options of
    /// [`with_mending`](Self::with_mending) have a guide of their own.
    ///
    /// Text is buffered for this, up to the buffer limit of [`with_mending`](Self::with_mending). A larger
    /// object is not fitted. Each open object needs an additional cursor, which holds its value so far up to the
    /// same limit.
    ///
    /// ### Default
    /// Objects are not checked.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn with_schema(mut self, schema: &Schema, options: FitOptions) -> Self {
        self.schema = Some((schema.clone(), options));
        self
    }

    /// Makes the schemas only validate, of tools and of the text: no rule changes a value, whatever the registry and
    /// the options say. Syntax is repaired as before.
    ///
    /// ### Default
    /// The rules of each tool, and those of the options for the text.
    #[cfg(feature = "schema")]
    #[must_use]
    pub const fn without_rules(mut self) -> Self {
        self.coerces = false;
        self
    }

    /// How the body and the tool calls are read.
    #[must_use]
    pub const fn wire(&self) -> &WireOptions {
        &self.wire
    }

    /// Where objects are searched for in the text. `None` if they are not.
    #[must_use]
    pub const fn objects(&self) -> Option<Scope> {
        #[cfg(feature = "schema")]
        if self.objects.is_none() && self.schema.is_some() {
            return Some(Scope::All);
        }
        self.objects
    }

    /// Which calls are looked for in the text. `None` if it is not searched for calls.
    #[must_use]
    pub const fn calls_in_text(&self) -> Option<&TextCalls> {
        self.in_text.as_ref()
    }

    /// Whether objects are removed from the text.
    #[must_use]
    pub const fn takes_objects_out(&self) -> bool {
        self.taken_out
    }

    /// How objects in the text are repaired.
    #[must_use]
    pub const fn mending(&self) -> &MendOptions {
        &self.mending
    }

    /// The largest object that is kept, in bytes.
    #[must_use]
    pub const fn object_limit(&self) -> usize {
        self.object_limit
    }

    /// Whether objects are kept as the model wrote them, too.
    #[must_use]
    pub const fn keeps_raw_objects(&self) -> bool {
        self.raw_objects
    }

    /// How many bytes are kept of all open objects.
    #[must_use]
    pub const fn open_objects_limit(&self) -> usize {
        self.open_objects_limit
    }
}

impl Default for ResponseOptions {
    fn default() -> Self {
        Self::new()
    }
}
