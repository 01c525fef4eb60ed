//! Arguments as JSON text: strings inside of strings, and objects that are put together.

use std::collections::BTreeSet;

use wiremend_core::{MendOptions, Mender, Outcome, Output, Repair, RepairKind};

use super::{out::Ctx, repairs::Repairs, sink::CallSink};

/// Decodes the content of a JSON string, in any pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Unescape {
    state: Escape,
    /// The first half of a surrogate pair.
    high: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Escape {
    #[default]
    None,
    Slash,
    Hex(u8, u32),
}

impl Unescape {
    pub(super) fn push(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.state = match self.state {
            Escape::None if byte == b'\\' => Escape::Slash,
            Escape::None => {
                self.flush(out);
                out.push(byte);
                Escape::None
            }
            Escape::Slash if byte == b'u' => Escape::Hex(0, 0),
            Escape::Slash => {
                self.flush(out);
                out.push(match byte {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'b' => 8,
                    b'f' => 12,
                    other => other,
                });
                Escape::None
            }
            Escape::Hex(read, value) => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                let value = value << 4 | digit;
                if read < 3 {
                    Escape::Hex(read + 1, value)
                } else {
                    self.unit(value, out);
                    Escape::None
                }
            }
        };
    }

    fn unit(&mut self, value: u32, out: &mut Vec<u8>) {
        match (self.high.take(), value) {
            (Some(high), 0xDC00..=0xDFFF) => {
                let joined = 0x10000 + ((high - 0xD800) << 10) + (value - 0xDC00);
                push_char(joined, out);
            }
            (before, _) => {
                if before.is_some() {
                    push_char(0xFFFD, out);
                }
                if (0xD800..0xDC00).contains(&value) {
                    self.high = Some(value);
                } else {
                    push_char(value, out);
                }
            }
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        if self.high.take().is_some() {
            push_char(0xFFFD, out);
        }
    }
}

fn push_char(value: u32, out: &mut Vec<u8>) {
    let c = char::from_u32(value).unwrap_or('\u{FFFD}');
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Arguments that are a JSON string. If an object is written in it, the arguments are that object.
#[derive(Clone, Debug)]
pub(super) struct Inner {
    mender: Mender,
    decoder: Unescape,
    reading: QuotedForm,
    held: Vec<u8>,
    repairs: Repairs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuotedForm {
    /// Nothing but the quote and white space was read.
    Start,
    /// An object is written in it.
    Object,
    /// It is a string.
    String,
}

impl Inner {
    pub(super) fn new(options: &MendOptions) -> Self {
        Self {
            mender: Mender::new(options.clone()),
            decoder: Unescape::default(),
            reading: QuotedForm::Start,
            held: Vec::new(),
            repairs: Repairs::default(),
        }
    }

    /// Whether an object is written in the string.
    pub(super) fn is_object(&self) -> bool {
        self.reading == QuotedForm::Object
    }

    /// Reads JSON text of the string, with its quotes.
    pub(super) fn push<S: CallSink>(&mut self, run: &[u8], ctx: &mut Ctx<'_, S>) {
        let mut decoded = Vec::with_capacity(run.len());
        for (at, &byte) in run.iter().enumerate() {
            match self.reading {
                QuotedForm::String => {
                    ctx.arguments(run.get(at..).unwrap_or_default());
                    return;
                }
                QuotedForm::Start => {
                    self.held.push(byte);
                    if self.held.len() == 1 {
                        continue;
                    }
                    if byte == b'"' && self.held.get(self.held.len() - 2) != Some(&b'\\') {
                        if ctx.takes_nothing() {
                            // Nothing but white space is in it.
                            self.held = b"{}".to_vec();
                        }
                        self.become_string(ctx);
                        continue;
                    }
                    self.decoder.push(byte, &mut decoded);
                    match decoded.iter().find(|byte| !byte.is_ascii_whitespace()) {
                        None => decoded.clear(),
                        Some(b'{') => self.reading = QuotedForm::Object,
                        Some(_) => self.become_string(ctx),
                    }
                }
                // The closing quote is not escaped, so it never passes the decoder as content.
                QuotedForm::Object if byte == b'"' && self.decoder.is_plain() => {}
                QuotedForm::Object => self.decoder.push(byte, &mut decoded),
            }
        }
        if self.reading == QuotedForm::Object {
            self.mender.push(&decoded, &mut Mended::new(ctx, &mut self.repairs, &[]));
        }
    }

    fn become_string<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) {
        self.reading = QuotedForm::String;
        ctx.arguments(&std::mem::take(&mut self.held));
    }

    /// Ends the string. Returns how many repairs there were inside, and whether the object in it is
    /// complete, if there is one.
    pub(super) fn finish<S: CallSink>(&mut self, ctx: &mut Ctx<'_, S>) -> (usize, Option<bool>) {
        match self.reading {
            QuotedForm::Start => {
                self.become_string(ctx);
                (0, None)
            }
            QuotedForm::String => (0, None),
            QuotedForm::Object => {
                let outcome = Mended::new(ctx, &mut self.repairs, &[]).finish(&mut self.mender);
                (self.repairs.count, Some(outcome.is_valid()))
            }
        }
    }
}

impl Unescape {
    const fn is_plain(&self) -> bool {
        matches!(self.state, Escape::None)
    }
}

/// Passes the output of a mender on as arguments.
pub(super) struct Mended<'p, 'a, S> {
    ctx: &'p mut Ctx<'a, S>,
    repairs: &'p mut Repairs,
    /// What the dialect writes otherwise than JSON, which is no repair.
    own: &'static [RepairKind],
    /// Whether the value ends here.
    ends: bool,
    /// Which other repairs refuse the call.
    refuses: fn(RepairKind) -> bool,
}

impl<'p, 'a, S: CallSink> Mended<'p, 'a, S> {
    pub(super) fn new(
        ctx: &'p mut Ctx<'a, S>,
        repairs: &'p mut Repairs,
        own: &'static [RepairKind],
    ) -> Self {
        Self { ctx, repairs, own, ends: false, refuses: |_| false }
    }

    /// Refuses the call if it needs one of these repairs.
    pub(super) fn refusing(mut self, refuses: fn(RepairKind) -> bool) -> Self {
        self.refuses = refuses;
        self
    }

    /// Ends the value, although it may be open.
    pub(super) fn finish(mut self, mender: &mut Mender) -> Outcome {
        self.ends = true;
        mender.finish(&mut self)
    }
}

impl<S: CallSink> Output for Mended<'_, '_, S> {
    fn copy(&mut self, bytes: &[u8]) {
        self.ctx.arguments(bytes);
        if self.repairs.read(bytes) {
            self.ctx.refuse();
        }
    }
    fn repair(&mut self, repair: Repair) {
        self.repairs.count += usize::from(!self.own.contains(&repair.kind()));
        let short = self.repairs.stops_short(repair.kind());
        if repair.kind() == RepairKind::MissingClose {
            self.ctx.lacks_bracket();
        }
        if self.ends && short {
            self.ctx.stop_short();
        } else if self.repairs.note(repair.kind()) || short || (self.refuses)(repair.kind()) {
            self.ctx.refuse();
        }
    }
}

/// An object of arguments that is put together from keys and values.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    keys: BTreeSet<String>,
    open: bool,
}

impl Object {
    /// Begins a member.
    pub(super) fn key<S: CallSink>(&mut self, key: &str, ctx: &mut Ctx<'_, S>) {
        let mut json = if self.open { b", ".to_vec() } else { b"{".to_vec() };
        self.open = true;
        self.keys.insert(key.to_owned());
        quote(key.as_bytes(), &mut json);
        json.extend_from_slice(b": ");
        ctx.arguments(&json);
    }

    /// Whether there is a member of that key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// How many members there are.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Ends the object.
    pub(super) fn end<S: CallSink>(&self, ctx: &mut Ctx<'_, S>) {
        ctx.arguments(if self.open { b"}" } else { b"{}" });
    }
}

/// Appends text as a JSON string.
pub(super) fn quote(text: &[u8], json: &mut Vec<u8>) {
    json.push(b'"');
    escape(text, json);
    json.push(b'"');
}

/// Appends text as the content of a JSON string.
pub(super) fn escape(text: &[u8], json: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'"' | b'\\' => json.extend_from_slice(&[b'\\', byte]),
            b'\n' => json.extend_from_slice(b"\\n"),
            b'\r' => json.extend_from_slice(b"\\r"),
            b'\t' => json.extend_from_slice(b"\\t"),
            0..0x20 => json.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => json.push(byte),
        }
    }
}
