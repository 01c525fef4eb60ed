//! Text outside of calls.

use super::{
    CallExtractor, Engine, State, Thought,
    ground::Seat,
    place::{LAST, keep_last},
    trial::{Trial, Verdict},
};
use crate::dialect::{
    brace::BraceCall,
    frames::{self, Turn},
    input::TextInput,
    json::{CLOSE, JsonCall, Step},
    markers::Markers,
    out::Ctx,
    prefill::Prefilled,
    python::PythonCall,
    react,
    reader::decide::{Decision, Opening},
    setup::Setup,
    shape::{Frames, Shape},
    sink::{CallSink, MentionedCall},
    xml::XmlCall,
};

/// From how many bytes on a text is searched in blocks.
const LONG: usize = 40;

impl CallExtractor {
    pub(super) fn text<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
        sink: &mut Prefilled<'_, S>,
    ) -> Step {
        if let Some(row) = self.after.or(self.around) {
            return self.after_call(row, rest, eof, setup, sink);
        }
        if self.in_header {
            let Some(decision) = self.rest_of_header(rest, eof, setup) else {
                self.state = State::Text;
                return Step::Wait;
            };
            self.in_header = false;
            if let Some(decision) = decision {
                return self.apply(decision, rest, setup, sink);
            }
        }
        if !self.is_judged(rest, eof, sink) {
            self.state = State::Text;
            return Step::Wait;
        }
        let mut at = 0;
        loop {
            let plain = self.plain(rest, at, setup);
            self.skip(rest.get(at..at + plain).unwrap_or_default());
            at += plain;
            let here = rest.get(at..).unwrap_or_default();
            if here.is_empty() {
                break;
            }
            let place = self.place(rest, at);
            self.steps += 1;
            match self.decide(here, place, eof, setup) {
                Some(Decision::Text(length)) => {
                    self.skip(here.get(..length).unwrap_or_default());
                    at += length;
                }
                Some(Decision::Mention(length)) => {
                    self.skip(here.get(..length).unwrap_or_default());
                    self.mentioned = true;
                    at += length;
                }
                decision if at > 0 => {
                    // What comes before is certain, whatever is here.
                    let _ = decision;
                    break;
                }
                None => {
                    self.state = State::Text;
                    return Step::Wait;
                }
                Some(Decision::Judge(_)) => {
                    let ground = self.ground.clone();
                    self.trial = Some(Box::new(Trial::new(self.judge(), ground)));
                    self.state = State::Text;
                    return Step::Read(0);
                }
                Some(decision) => return self.apply(decision, here, setup, sink),
            }
        }
        self.pass(rest.get(..at).unwrap_or_default(), sink);
        Step::Read(at)
    }

    /// Notes text that was read.
    pub(super) fn skip(&mut self, text: &[u8]) {
        self.mentioned = self.mentioned && !text.contains(&b'\n');
        self.ground.read(text);
    }

    /// Judges what may be a call without a marker. Returns whether nothing waits for that.
    fn is_judged<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        sink: &mut Prefilled<'_, S>,
    ) -> bool {
        let Some(mut trial) = self.trial.take() else { return true };
        let verdict = trial.judge(rest, self.options.limits().buffer(), eof);
        if verdict.is_none() {
            self.trial = Some(trial);
            return false;
        }
        self.steps += trial.steps();
        self.verdict = verdict;
        if let Some(Verdict::Text(_)) = verdict {
            let start = self.out.at;
            trial.mentioned(|name, dialect, at| {
                sink.mentioned(&MentionedCall { name, dialect, offset: start + at });
            });
        }
        true
    }

    /// How much of a text there is from `from` on before anything may begin.
    pub(super) fn plain(&self, rest: &[u8], from: usize, setup: &Setup) -> usize {
        if rest.len() - from.min(rest.len()) >= LONG
            && let Some(found) = setup.find(self.before(rest, 0, 1).unwrap_or(b'\n'), rest, from)
        {
            return found;
        }
        let mut at = from;
        loop {
            let here = rest.get(at..).unwrap_or_default();
            at += setup.clear(self.before(rest, at, 1).unwrap_or(b'\n'), here);
            let here = rest.get(at..).unwrap_or_default();
            if here.is_empty() || setup.wakes(here) {
                return at - from;
            }
            at += 1;
        }
    }

    /// Reads and emits text.
    pub(super) fn emit<S: CallSink>(&mut self, bytes: &[u8], sink: &mut S) {
        self.skip(bytes);
        self.pass(bytes, sink);
    }

    /// Emits text that was read.
    pub(super) fn pass<S: CallSink>(&mut self, bytes: &[u8], sink: &mut S) {
        keep_last(&mut self.last, bytes);
        self.spoke = self.spoke || !bytes.iter().all(u8::is_ascii_whitespace);
        self.out.text(bytes, sink);
    }

    pub(super) fn apply<S: CallSink>(
        &mut self,
        decision: Decision,
        rest: &[u8],
        setup: &Setup,
        sink: &mut S,
    ) -> Step {
        self.state = State::Text;
        let bytes = |length: usize| rest.get(..length).unwrap_or(rest);
        let markup = matches!(decision, Decision::Markup(_) | Decision::Around(..));
        if !markup && !matches!(decision, Decision::Open(..)) {
            self.out.unwrap(sink);
        }
        match decision {
            Decision::Text(length) | Decision::Mention(length) => {
                self.emit(bytes(length), sink);
                Step::Read(length)
            }
            Decision::Judge(decision) => self.apply(*decision, rest, setup, sink),
            Decision::Mentioned(row, name) => {
                if let Some(dialect) = setup.rows.get(row) {
                    let (name, offset) = (setup.tools.resolve(&name), self.out.at);
                    sink.mentioned(&MentionedCall { name, dialect, offset });
                }
                self.emit(bytes(1), sink);
                Step::Read(1)
            }
            Decision::Shown(decision) => match *decision {
                Decision::Around(row, length) => {
                    (self.around, self.seat) = (Some(row), Seat::Shown);
                    self.emit(bytes(length), sink);
                    Step::Read(length)
                }
                other => {
                    self.out.mentions = true;
                    let step = self.apply(other, rest, setup, sink);
                    self.out.mentions = matches!(self.state, State::Call(..));
                    step
                }
            },
            Decision::Closed(length) => {
                self.interrupted = false;
                self.out.markup(bytes(length), sink);
                Step::Read(length)
            }
            Decision::Markup(length) => {
                self.ground.marker();
                self.out.beside(bytes(length), sink);
                Step::Read(length)
            }
            Decision::Answer(length, opens) => {
                self.answers = opens;
                self.only_marked = opens && rest.starts_with(b"<|");
                self.out.markup(bytes(length), sink);
                Step::Read(length)
            }
            Decision::Result(length, opens) => {
                self.in_result = opens;
                self.emit(bytes(length), sink);
                Step::Read(length)
            }
            Decision::Around(row, length) => {
                self.around = Some(row);
                self.out.around(bytes(length), sink);
                Step::Read(length)
            }
            Decision::Reasoning(length, close) => {
                self.ground.message();
                self.out.markup(bytes(length), sink);
                (self.seen, self.interrupted) = (true, false);
                self.state = State::Reasoning(Thought::until(close));
                Step::Read(length)
            }
            Decision::WasReasoning(length) => {
                self.out.markup(bytes(length), sink);
                self.was_reasoning(sink);
                Step::Read(length)
            }
            Decision::Turn(row, turn, length) => {
                self.turn(row, turn, bytes(length), setup, sink);
                Step::Read(length)
            }
            Decision::Open(row, opening, length) => {
                self.open(row, &opening, bytes(length), setup, sink);
                Step::Read(length)
            }
        }
    }

    fn was_reasoning<S: CallSink>(&mut self, sink: &mut S) {
        (self.seen, self.spoke) = (true, false);
        self.out.forget();
        self.last = [b'\n'; LAST];
        self.ground.message();
        sink.text_was_reasoning();
    }

    /// A message begins or ends.
    pub(super) fn turn<S: CallSink>(
        &mut self,
        row: usize,
        turn: Turn,
        header: &[u8],
        setup: &Setup,
        sink: &mut S,
    ) {
        let seen = std::mem::replace(&mut self.seen, true);
        self.last = [b'\n'; LAST];
        self.ground.message();
        let unread = std::mem::take(&mut self.unread);
        let cut = matches!(turn, Turn::Cut(_));
        (self.for_user, self.in_result) = (turn == Turn::ForUser, false);
        match turn {
            // The end of a message that is text, because no call began with its header.
            Turn::End if unread => {
                self.emit(header, sink);
                return;
            }
            Turn::Call(name) | Turn::Cut(name) => {
                let frames = setup.rows.get(row).and_then(|row| row.frames);
                let ends = match frames {
                    Some(Frames::Harmony) => &frames::HARMONY_ENDS[..],
                    _ => &[],
                };
                let starts = match frames {
                    Some(Frames::Harmony) => &frames::HARMONY_STARTS[..],
                    _ => &[],
                };
                let ends = ends.iter().map(|end| (CLOSE, *end));
                let stops = ends.chain(starts.iter().map(|start| (CLOSE + 1, *start)));
                let opening = Opening::Frame(name, Markers::new(stops), cut);
                self.open(row, &opening, header, setup, sink);
                self.unread = matches!(self.state, State::Text) || self.out.unknown;
                return;
            }
            Turn::Reasoning => self.state = State::Reasoning(Thought::default()),
            Turn::EndOfReasoning => {
                self.out.markup(header, sink);
                if !seen && self.made.is_empty() {
                    self.was_reasoning(sink);
                }
                return;
            }
            Turn::ForUser | Turn::Text | Turn::End => {}
        }
        self.out.markup(header, sink);
    }

    /// A call may begin, with these bytes of markup.
    pub(super) fn open<S: CallSink>(
        &mut self,
        row: usize,
        opening: &Opening,
        markup: &[u8],
        setup: &Setup,
        sink: &mut S,
    ) {
        let Some(dialect) = setup.rows.get(row) else { return };
        let bare = opening.is_bare(dialect);
        self.out.open_block(setup.auto || bare, bare);
        self.after = None;
        self.alone =
            matches!(opening, Opening::Json(_)) && bare && self.place(b"", 0).begins_line();
        self.block = match opening {
            Opening::Json(shape) => Some(*shape).filter(|shape| dialect.is_block(*shape)),
            _ => None,
        };
        let ctx = &mut self.ctx(dialect, setup, false, sink);
        ctx.markup(markup);
        let begun = |ctx: &mut Ctx<'_, S>, name: &str, id: Option<&str>| {
            let begun = ctx.begin(name, id);
            if !begun {
                ctx.fail();
            }
            begun || ctx.read_unknown(name)
        };
        let in_json = |call| Engine::Json(Box::new(call));
        let engine = match opening {
            Opening::Json(shape) => match dialect.shapes.get(*shape) {
                Some(Shape::Json(block)) if block.open.is_empty() => in_json(JsonCall::bare(ctx)),
                Some(Shape::Json(block)) => {
                    let closes = block.close.iter().any(|close| !close.is_empty());
                    let stops = setup.stops(row, *shape, &block.close);
                    in_json(JsonCall::between(stops, closes, block.keyed, ctx))
                }
                _ => return ctx.fail(),
            },
            Opening::Named(shape, name, id, closed) => {
                let Some(Shape::Named(named)) = dialect.shapes.get(*shape) else {
                    return ctx.fail();
                };
                if !begun(ctx, name, id.as_deref()) {
                    return;
                }
                if *closed {
                    ctx.stop_short();
                }
                let closes = named.close.iter().any(|close| !close.is_empty());
                let stops = setup.stops(row, *shape, &named.close);
                in_json(JsonCall::arguments(stops, closes, ctx).after_mark(&named.name_end))
            }
            Opening::Unopened(shape, name) => {
                if !begun(ctx, name, None) {
                    return;
                }
                let close = dialect.shapes.get(*shape).map_or(&[][..], Shape::closers);
                in_json(JsonCall::unopened(setup.stops(row, *shape, close), ctx))
            }
            Opening::Frame(name, stops, cut) => {
                if !begun(ctx, name, None) {
                    return;
                }
                if *cut {
                    ctx.stop_short();
                }
                let closes = dialect.frames.is_some();
                in_json(JsonCall::arguments(stops.clone(), closes, ctx))
            }
            Opening::Unread(shape, name) => {
                if !begun(ctx, name, None) {
                    return;
                }
                let stops = setup.stops_unread(row, *shape);
                in_json(JsonCall::unread(stops, true, ctx))
            }
            Opening::Xml(shape, opening) => {
                let Some(Shape::Xml(xml)) = dialect.shapes.get(*shape) else { return ctx.fail() };
                if !begun(ctx, &opening.name, None) {
                    return;
                }
                Engine::Xml(XmlCall::new(xml, opening, ctx))
            }
            Opening::Python(shape, found) => {
                let Some(Shape::Python(block)) = dialect.shapes.get(*shape) else {
                    return ctx.fail();
                };
                if !begun(ctx, &found.name, None) {
                    return;
                }
                let closes = block.close.iter().any(|close| !close.is_empty());
                let stops = setup.stops(row, *shape, &block.close);
                Engine::Python(PythonCall::new(found, block.method, stops, closes))
            }
            Opening::Brace(shape, name) => {
                let Some(Shape::Brace(brace)) = dialect.shapes.get(*shape) else {
                    return ctx.fail();
                };
                if !begun(ctx, name, None) {
                    return;
                }
                Engine::Brace(BraceCall::new(brace, ctx))
            }
            Opening::Input(shape) => {
                let Some(Shape::Input(input)) = dialect.shapes.get(*shape) else {
                    return ctx.fail();
                };
                if !begun(ctx, &input.tool, None) {
                    return;
                }
                let close = &input.block.close;
                if input.is_text {
                    Engine::Input(TextInput::between(close))
                } else {
                    let closes = close.iter().any(|close| !close.is_empty());
                    in_json(JsonCall::input(setup.stops(row, *shape, close), closes, ctx))
                }
            }
            Opening::Action(name, json) => {
                if !begun(ctx, name, None) {
                    return;
                }
                if *json {
                    let stops = react::STOPS.iter().map(|stop| (1, *stop));
                    let input = JsonCall::input(Markers::new(stops), false, ctx);
                    in_json(input.after_mark(&react::INPUT.into()))
                } else {
                    Engine::Input(TextInput::of_action(ctx))
                }
            }
        };
        self.state = State::Call(row, Box::new(engine));
    }
}
