//! Calls that a model states twice: as a draft and then for good, or again in an explanation.
//!
//! A call is restated if it equals an earlier one, and a marker is missing around at least one of the two:
//! between markers, a model that calls twice means to. If it is missing around both, there has to be
//! prose between them. Whether a call is restated is known only at its end, so what may be one waits.

use super::super::{
    Dialect,
    sink::{CallEnd, CallSink, CallStart, RestatedCall},
};

/// How many words between two calls are prose. Fewer are code around them, as in `x = f()`.
const PROSE: u8 = 3;
/// How many calls are compared with later ones.
const MOST: usize = 256;

/// The calls of a text, as far as later ones may repeat them.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    past: Vec<Past>,
    /// The number of the stretch of calls without prose in between.
    stretch: usize,
    /// Whether the last call had no marker.
    bare: Option<bool>,
    /// How many words of text there are after the last call.
    words: u8,
    in_word: bool,
    /// The arguments of the open call, unless they are too long to be compared.
    open: Option<Compact>,
    /// How many bytes of arguments may be kept, and how many are.
    most: usize,
    bytes: usize,
    /// Whether the call that ended last is the last of `past`.
    kept: bool,
}

#[derive(Clone, Debug)]
struct Past {
    name: String,
    arguments: Vec<u8>,
    stretch: usize,
    bare: bool,
    /// The number of the call that it is, or that it repeats.
    index: usize,
}

impl Calls {
    /// Text comes between calls.
    pub(super) fn text(&mut self, bytes: &[u8]) {
        if self.past.is_empty() || self.words >= PROSE {
            return;
        }
        for &byte in bytes {
            let word = byte.is_ascii_alphanumeric() || byte >= 0x80 || byte == b'_';
            // Chinese and Japanese have no spaces between words: there, a character counts as one.
            if word && (!self.in_word || matches!(byte, 0xe3..=0xe9)) {
                self.words += 1;
                if self.words >= PROSE {
                    self.stretch += 1;
                    return;
                }
            }
            self.in_word = word;
        }
    }

    /// A call begins. Returns whether it may be a restated one. Arguments are compared up to this many
    /// bytes, and no more than these are kept of all calls.
    pub(super) fn begin(&mut self, name: &str, bare: bool, most: usize) -> bool {
        (self.words, self.in_word) = (0, false);
        // What is next to a block between markers, without any, is not a part of it.
        if self.bare.replace(bare).is_some_and(|last| last != bare) {
            self.stretch += 1;
        }
        (self.open, self.most) = (Some(Compact::default()), most);
        let earlier = |past: &Past| past.stretch < self.stretch && (bare || past.bare);
        self.past.iter().any(|past| earlier(past) && past.name == name)
    }

    pub(super) fn arguments(&mut self, json: &[u8]) {
        if let Some(open) = &mut self.open {
            open.read(json);
            if open.text.len() > self.most {
                self.open = None;
            }
        }
    }

    /// The open call has ended. Returns the number of the call that it repeats. One that cannot be run
    /// repeats none.
    pub(super) fn end(
        &mut self,
        name: &str,
        bare: bool,
        index: usize,
        can_run: bool,
    ) -> Option<usize> {
        self.kept = false;
        let arguments = self.open.take().filter(|_| can_run)?.text;
        // Calls of one stretch repeat none of it.
        let earlier = self.past.first().is_some_and(|first| first.stretch < self.stretch);
        let mut same: Vec<&Past> = self.past.iter().filter(|_| earlier).collect();
        same.retain(|past| past.arguments == arguments && past.name == name);
        let now = same.iter().filter(|past| past.stretch == self.stretch).count();
        // As many in one stretch as there are in an earlier one repeat those.
        let repeated = same.iter().enumerate().find(|(at, past)| {
            let before = same.iter().take(*at).filter(|other| other.stretch == past.stretch);
            past.stretch < self.stretch && (bare || past.bare) && before.count() == now
        });
        let repeated = repeated.map(|(_, past)| past.index);
        if self.past.len() < MOST && self.bytes + arguments.len() <= self.most {
            self.bytes += arguments.len();
            let (name, index) = (name.to_owned(), repeated.unwrap_or(index));
            self.past.push(Past { name, arguments, stretch: self.stretch, bare, index });
            self.kept = true;
        }
        repeated
    }

    /// The call that has just ended turns out to be none that can be run, so nothing repeats it.
    pub(super) fn withdraw(&mut self) {
        if std::mem::take(&mut self.kept)
            && let Some(last) = self.past.pop()
        {
            self.bytes -= last.arguments.len();
        }
    }
}

/// Arguments without the white space between their tokens.
#[derive(Clone, Debug, Default)]
struct Compact {
    text: Vec<u8>,
    in_string: bool,
    escaped: bool,
}

impl Compact {
    fn read(&mut self, json: &[u8]) {
        for &byte in json {
            if self.escaped {
                self.escaped = false;
            } else if byte == b'"' {
                self.in_string = !self.in_string;
            } else if byte == b'\\' {
                self.escaped = true;
            } else if !self.in_string && byte.is_ascii_whitespace() {
                continue;
            }
            self.text.push(byte);
        }
    }
}

/// A block of calls that waits, because so far it has only calls that may be restated ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    events: Vec<Event>,
    bytes: usize,
}

/// What is emitted about a block of calls.
#[derive(Clone, Debug)]
enum Event {
    Bytes(Kind, Vec<u8>),
    Begin(Box<KeptCall>),
    Id(String),
    End(CallEnd),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    /// Text that is in markup.
    Content,
    Markup,
    Raw,
    Arguments,
}

#[derive(Clone, Debug)]
struct KeptCall {
    name: String,
    id: Option<String>,
    known: bool,
    nearest: Option<String>,
    offset: usize,
    /// The number of the call that it repeats.
    repeats: Option<usize>,
}

impl CallSink for Waiting {
    fn text(&mut self, bytes: &[u8]) {
        self.keep(Kind::Text, bytes);
    }
    fn content(&mut self, text: &[u8]) {
        self.keep(Kind::Content, text);
    }
    fn markup(&mut self, bytes: &[u8]) {
        self.keep(Kind::Markup, bytes);
    }
    fn raw(&mut self, bytes: &[u8]) {
        self.keep(Kind::Raw, bytes);
    }
    fn arguments(&mut self, json: &[u8]) {
        self.keep(Kind::Arguments, json);
    }
    fn begin(&mut self, call: &CallStart<'_>) {
        self.bytes += size_of::<KeptCall>();
        self.events.push(Event::Begin(Box::new(KeptCall {
            name: call.name.to_owned(),
            id: call.id.map(str::to_owned),
            known: call.known,
            nearest: call.nearest.map(str::to_owned),
            offset: call.offset,
            repeats: None,
        })));
    }
    fn id(&mut self, id: &str) {
        self.bytes += id.len();
        self.events.push(Event::Id(id.to_owned()));
    }
    fn end(&mut self, end: &CallEnd) {
        self.bytes += size_of::<KeptCall>();
        self.events.push(Event::End(end.clone()));
    }
}

impl Waiting {
    fn keep(&mut self, kind: Kind, bytes: &[u8]) {
        self.bytes += bytes.len();
        match self.events.last_mut() {
            Some(Event::Bytes(last, kept)) if *last == kind => kept.extend_from_slice(bytes),
            _ => self.events.push(Event::Bytes(kind, bytes.to_vec())),
        }
    }

    /// How much memory the block takes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The source in it.
    pub(super) fn source(&self) -> impl Iterator<Item = &[u8]> {
        self.events.iter().filter_map(|event| match event {
            Event::Bytes(Kind::Text | Kind::Markup | Kind::Raw, bytes) => Some(bytes.as_slice()),
            _ => None,
        })
    }

    /// The last call repeats one.
    pub(super) fn repeats(&mut self, index: usize) {
        let calls = self.events.iter_mut().rev().filter_map(|event| match event {
            Event::Begin(call) => Some(call),
            _ => None,
        });
        if let Some(call) = calls.into_iter().next() {
            call.repeats = Some(index);
        }
    }

    /// Emits everything. The source of a restated call is markup, or text if `shown`. `calls` counts the calls that
    /// have begun.
    pub(super) fn release<S: CallSink>(
        self,
        dialect: &Dialect,
        shown: bool,
        calls: &mut usize,
        sink: &mut S,
    ) {
        let mut restated = false;
        for event in self.events {
            match event {
                Event::Begin(call) => {
                    let KeptCall { name, id, known, nearest, offset, repeats } = &*call;
                    let (name, offset) = (name.as_str(), *offset);
                    restated = repeats.is_some();
                    if let Some(index) = *repeats {
                        sink.restated(&RestatedCall { name, index, dialect, offset });
                        continue;
                    }
                    let (id, nearest) = (id.as_deref(), nearest.as_deref());
                    let (index, known) = (*calls, *known);
                    sink.begin(&CallStart { index, name, id, dialect, known, nearest, offset });
                    *calls += 1;
                }
                Event::Id(id) if !restated => sink.id(&id),
                Event::End(end) if !restated => sink.end(&end),
                Event::Id(_) | Event::End(_) => {}
                Event::Bytes(kind, bytes) => match kind {
                    Kind::Arguments if restated => {}
                    Kind::Arguments => sink.arguments(&bytes),
                    // It is in the text that is shown.
                    Kind::Content if shown => {}
                    Kind::Content => sink.content(&bytes),
                    Kind::Text => sink.text(&bytes),
                    Kind::Markup | Kind::Raw if shown => sink.text(&bytes),
                    Kind::Raw if !restated => sink.raw(&bytes),
                    Kind::Markup | Kind::Raw => sink.markup(&bytes),
                },
            }
        }
    }
}
