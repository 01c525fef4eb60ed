//! Text outside of calls.

use super::{
    CallExtractor, Engine, State,
    defined::LAST,
    place::{Place, keep_last},
};
use crate::dialect::{
    brace::BraceCall,
    frames::{self, Turn},
    input::TextInput,
    json::{CLOSE, JsonCall, SPACE, Step},
    markers::Markers,
    out::Ctx,
    python::PythonCall,
    react,
    reader::decide::{Decision, Opening},
    setup::Setup,
    shape::{Frames, Shape},
    sink::CallSink,
    watch::Watched,
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
        sink: &mut Watched<'_, S>,
    ) -> Step {
        if let Some(row) = self.after.or(self.around) {
            return self.after_call(row, rest, eof, setup, sink);
        }
        let mut at = 0;
        loop {
            at += self.plain_from(rest, at, setup);
            let here = rest.get(at..).unwrap_or_default();
            if here.is_empty() {
                break;
            }
            let place = self.place(rest, at);
            self.steps += 1;
            match self.decide(here, place, eof, setup) {
                Some(Decision::Text(length)) => at += length,
                decision if at > 0 => {
                    // What comes before is certain, whatever is here.
                    let _ = decision;
                    break;
                }
                None => {
                    self.state = State::Text;
                    return Step::Wait;
                }
                Some(decision) => match sink.is_in_string(here, eof) {
                    // It is a part of the string.
                    Some(true) => at = 1,
                    Some(false) => return self.apply(decision, here, setup, sink),
                    None => {
                        self.state = State::Text;
                        return Step::Wait;
                    }
                },
            }
        }
        self.emit(rest.get(..at).unwrap_or_default(), sink);
        Step::Read(at)
    }

    /// How many bytes there are before one with which anything may begin.
    pub(super) fn plain(&self, rest: &[u8], setup: &Setup) -> usize {
        self.plain_from(rest, 0, setup)
    }

    fn plain_from(&self, rest: &[u8], from: usize, setup: &Setup) -> usize {
        if rest.len() - from.min(rest.len()) >= LONG
            && let Some(found) = setup.find(self.before(rest, 0, 1).unwrap_or(b'\n'), rest, from)
        {
            return found - from;
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

    pub(super) fn emit<S: CallSink>(&mut self, bytes: &[u8], sink: &mut S) {
        keep_last(&mut self.last, bytes);
        self.spoke = self.spoke || !bytes.iter().all(u8::is_ascii_whitespace);
        self.out.text(bytes, sink);
    }

    /// White space and separators after a call or a marker around calls belong to it if another marker
    /// follows.
    fn after_call<S: CallSink>(
        &mut self,
        row: usize,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
        sink: &mut S,
    ) -> Step {
        self.state = State::Text;
        let separators = setup.rows.get(row).map_or(&b""[..], |row| row.separators);
        let gap = |byte: &u8| byte.is_ascii_whitespace() || separators.contains(byte);
        let space = rest.iter().take(SPACE).take_while(|byte| gap(byte)).count();
        // What comes after too much white space does not count, however much of it has arrived.
        let far = space == SPACE;
        let next = if far { b"" } else { rest.get(space..).unwrap_or_default() };
        if next.is_empty() && !eof && !far {
            return Step::Wait;
        }
        let place = Place::AFTER_MARKUP;
        let decision = match next {
            [] => Some(Decision::Text(0)),
            _ => self.decide(next, place, eof, setup),
        };
        match decision {
            None => Step::Wait,
            Some(Decision::Text(_)) => {
                self.after = None;
                self.around = None;
                self.out.unwrap(sink);
                self.emit(rest.get(..space).unwrap_or_default(), sink);
                Step::Read(space)
            }
            Some(decision) => {
                let bytes = rest.get(..space).unwrap_or_default();
                self.out.beside(bytes, sink);
                if space > 0 {
                    return Step::Read(space);
                }
                let markup = matches!(decision, Decision::Markup(_) | Decision::Around(..));
                self.around = self.around.filter(|_| markup && self.out.wrapped);
                let step = self.apply(decision, next, setup, sink);
                if !markup {
                    self.after = None;
                }
                step
            }
        }
    }

    fn apply<S: CallSink>(
        &mut self,
        decision: Decision,
        rest: &[u8],
        setup: &Setup,
        sink: &mut S,
    ) -> Step {
        self.state = State::Text;
        let bytes = |length: usize| rest.get(..length).unwrap_or(rest);
        if !matches!(decision, Decision::Markup(_) | Decision::Around(..) | Decision::Open(..)) {
            self.out.unwrap(sink);
        }
        match decision {
            Decision::Text(length) => {
                self.emit(bytes(length), sink);
                Step::Read(length)
            }
            Decision::Closed(length) => {
                self.interrupted = false;
                self.out.markup(bytes(length), sink);
                Step::Read(length)
            }
            Decision::Markup(length) => {
                self.out.beside(bytes(length), sink);
                Step::Read(length)
            }
            Decision::Around(row, length) => {
                self.around = Some(row);
                self.out.around(bytes(length), sink);
                Step::Read(length)
            }
            Decision::Reasoning(length, close) => {
                self.out.markup(bytes(length), sink);
                (self.seen, self.interrupted) = (true, false);
                self.state = State::Reasoning(close);
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
        self.seen = true;
        self.out.forget();
        self.last = [b'\n'; LAST];
        sink.text_was_reasoning();
    }

    /// A message begins or ends.
    fn turn<S: CallSink>(
        &mut self,
        row: usize,
        turn: Turn,
        header: &[u8],
        setup: &Setup,
        sink: &mut S,
    ) {
        let seen = std::mem::replace(&mut self.seen, true);
        self.last = [b'\n'; LAST];
        let unread = std::mem::take(&mut self.unread);
        let cut = matches!(turn, Turn::Cut(_));
        self.for_user = turn == Turn::ForUser;
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
                self.unread = matches!(self.state, State::Text);
                return;
            }
            Turn::Reasoning => self.state = State::Reasoning(Vec::new()),
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
    fn open<S: CallSink>(
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
        let ctx = &mut self.ctx(dialect, setup, false, sink);
        ctx.markup(markup);
        let begun = |ctx: &mut Ctx<'_, S>, name: &str, id: Option<&str>| {
            let begun = ctx.begin(name, id);
            if !begun {
                ctx.fail();
            }
            begun
        };
        let in_json = |call| Engine::Json(Box::new(call));
        let engine = match opening {
            Opening::Json(shape) => match dialect.shapes.get(*shape) {
                Some(Shape::Json(block)) if block.open.is_empty() => in_json(JsonCall::bare(ctx)),
                Some(Shape::Json(block)) => {
                    let closes = block.close.iter().any(|close| !close.is_empty());
                    let stops = setup.stops(row, &block.close);
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
                in_json(JsonCall::arguments(setup.stops(row, &named.close), closes, ctx))
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
                let stops = match dialect.shapes.get(*shape) {
                    Some(Shape::Python(block)) => setup.stops(row, &block.close),
                    Some(Shape::Xml(xml)) => {
                        let begins = xml.begins();
                        Markers::new(begins.iter().map(|tag| (CLOSE + 1, tag.as_str())))
                    }
                    _ => Markers::new([]),
                };
                in_json(JsonCall::unread(stops, true, ctx))
            }
            Opening::Xml(shape, name) => {
                let Some(Shape::Xml(xml)) = dialect.shapes.get(*shape) else { return ctx.fail() };
                if !begun(ctx, name, None) {
                    return;
                }
                Engine::Xml(XmlCall::new(xml, name))
            }
            Opening::Python(shape, found) => {
                let Some(Shape::Python(block)) = dialect.shapes.get(*shape) else {
                    return ctx.fail();
                };
                if !begun(ctx, &found.name, None) {
                    return;
                }
                let closes = block.close.iter().any(|close| !close.is_empty());
                let stops = setup.stops(row, &block.close);
                Engine::Python(PythonCall::new(found, stops, closes, ctx))
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
                    in_json(JsonCall::arguments(setup.stops(row, close), closes, ctx))
                }
            }
            Opening::Action(name, json) => {
                if !begun(ctx, name, None) {
                    return;
                }
                if *json {
                    let stops = react::STOPS.iter().map(|stop| (1, *stop));
                    in_json(JsonCall::arguments(Markers::new(stops), false, ctx))
                } else {
                    Engine::Input(TextInput::of_action())
                }
            }
        };
        self.state = State::Call(row, Box::new(engine));
    }

    /// Reads reasoning up to its end.
    pub(super) fn reasoning<S: CallSink>(
        &mut self,
        close: Vec<u8>,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
        sink: &mut S,
    ) -> Step {
        if close.is_empty() {
            return self.framed_reasoning(rest, eof, setup, sink);
        }
        let first = close.first().copied().unwrap_or_default();
        let clear = rest.iter().position(|byte| *byte == first).unwrap_or(rest.len());
        if clear > 0 {
            self.out.reasoning(rest.get(..clear).unwrap_or_default(), sink);
            self.state = State::Reasoning(close);
            return Step::Read(clear);
        }
        let head = rest.get(..close.len()).unwrap_or(rest);
        let same = head.len() == close.len() && head.eq_ignore_ascii_case(&close);
        let labels = close.starts_with(b"\n");
        if same {
            // A label of the ReAct prompt is read as text.
            if labels {
                self.out.reasoning(b"\n", sink);
                self.last = [b'\n'; LAST];
                return Step::Read(1);
            }
            self.out.markup(head, sink);
            self.last = [b'\n'; LAST];
            return Step::Read(close.len());
        }
        let partial = close.get(..head.len()).is_some_and(|start| start.eq_ignore_ascii_case(head));
        if partial && !eof {
            self.state = State::Reasoning(close);
            return Step::Wait;
        }
        let answers = |mark: &&str| mark.starts_with('\n');
        if labels && self.ends_thought(rest, eof, answers).unwrap_or(true) {
            if self.ends_thought(rest, eof, answers).is_none() {
                self.state = State::Reasoning(close);
                return Step::Wait;
            }
            self.out.reasoning(b"\n", sink);
            self.last = [b'\n'; LAST];
            return Step::Read(1);
        }
        // A control token that begins a call ends the reasoning, too.
        if rest.starts_with(b"<|") || rest.starts_with("<｜".as_bytes()) {
            let place = Place::AFTER_MARKUP;
            match self.decide(rest, place, eof, setup) {
                None => {
                    self.state = State::Reasoning(close);
                    return Step::Wait;
                }
                Some(Decision::Open(..) | Decision::Markup(_) | Decision::Around(..)) => {
                    self.interrupted = true;
                    return Step::Read(0);
                }
                Some(_) => {}
            }
        } else if !eof && (rest == b"<" || "<｜".as_bytes().starts_with(rest)) {
            self.state = State::Reasoning(close);
            return Step::Wait;
        }
        self.out.reasoning(rest.get(..1).unwrap_or_default(), sink);
        self.state = State::Reasoning(close);
        Step::Read(1)
    }

    /// Whether another label of the ReAct prompt follows a thought. `None` waits for more.
    fn ends_thought(&self, rest: &[u8], eof: bool, labels: impl Fn(&&str) -> bool) -> Option<bool> {
        let mut stops = react::STOPS.into_iter().filter(labels);
        let mut partial = false;
        let here = stops.any(|stop| {
            partial |= rest.len() < stop.len() && stop.as_bytes().starts_with(rest);
            rest.starts_with(stop.as_bytes())
        });
        if here || eof || !partial { Some(here) } else { None }
    }

    fn framed_reasoning<S: CallSink>(
        &mut self,
        rest: &[u8],
        eof: bool,
        setup: &Setup,
        sink: &mut S,
    ) -> Step {
        let mut at = 0;
        while at < rest.len() {
            let here = rest.get(at..).unwrap_or_default();
            let clear = setup.clear(b' ', here);
            if clear > 0 {
                at += clear;
                continue;
            }
            match self.frame(here, false, eof, setup) {
                Some(None) => at += 1,
                found if at > 0 => {
                    let _ = found;
                    break;
                }
                None => {
                    self.state = State::Reasoning(Vec::new());
                    return Step::Wait;
                }
                Some(Some((row, turn, length))) => {
                    self.state = State::Text;
                    self.turn(row, turn, rest.get(..length).unwrap_or_default(), setup, sink);
                    return Step::Read(length);
                }
            }
        }
        self.out.reasoning(rest.get(..at).unwrap_or_default(), sink);
        self.state = State::Reasoning(Vec::new());
        Step::Read(at)
    }
}
