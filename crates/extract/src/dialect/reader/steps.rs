//! The loop that reads.

use super::{CallExtractor, Engine, Seat, State, Thought, Verdict, place::LAST};
use crate::dialect::{
    Dialect,
    json::Step,
    out::Ctx,
    prefill::Prefilled,
    setup::Setup,
    sink::{CallOutcome, CallSink},
};

impl CallExtractor {
    /// Reads what is undecided, as far as that is possible.
    pub(super) fn pump<S: CallSink>(&mut self, eof: bool, eos: bool, sink: &mut Prefilled<'_, S>) {
        let setup = self.take_setup();
        let mut buf = std::mem::take(&mut self.buf);
        let mut at = 0;
        let mut idle = 0;
        loop {
            let rest = buf.get(at..).unwrap_or_default();
            if rest.is_empty() && !eof {
                break;
            }
            let in_text = matches!(self.state, State::Text | State::Reasoning(_));
            if rest.is_empty() && in_text {
                break;
            }
            self.steps += 1 + rest.len().min(64) as u64;
            let step = match self.take_state() {
                State::Text => self.text(rest, eof, &setup, sink),
                State::Reasoning(thought) => self.reasoning(thought, rest, eof, &setup, sink),
                State::Call(row, engine) => self.call(row, engine, rest, eof, eos, &setup, sink),
            };
            match step {
                Step::Read(length) | Step::Done(length) => {
                    at += length;
                    self.pass_judged(length);
                    idle = if length == 0 { idle + 1 } else { 0 };
                }
                Step::Back(length, bytes) => {
                    at += length;
                    // What was judged is counted again.
                    if let Some(Verdict::Calls(left)) = &mut self.verdict {
                        *left += bytes.len();
                    }
                    self.pass_judged(length);
                    let from = at.saturating_sub(bytes.len());
                    if buf.get(from..at) == Some(&bytes[..]) {
                        at = from;
                    } else {
                        buf.splice(..at, bytes);
                        at = 0;
                    }
                    idle = 0;
                }
                Step::Wait => break,
            }
            // A step that reads nothing changes the state, and never twice in the same way.
            debug_assert!(idle < 8, "{:?}", self.state);
            if idle >= 8 {
                break;
            }
        }
        buf.drain(..at.min(buf.len()));
        (self.buf, self.setup) = (buf, Some(setup));
        if eof {
            if let State::Reasoning(Thought { draft: Some((row, name)), .. }) = self.take_state() {
                self.report(row, &name, sink);
            }
            let rest = std::mem::take(&mut self.buf);
            self.out.unwrap(sink);
            self.out.text(&rest, sink);
            self.state = State::Text;
        }
    }

    /// So many of the bytes were read that may have been judged.
    fn pass_judged(&mut self, length: usize) {
        if let Some(Verdict::Calls(left)) = &mut self.verdict {
            *left = left.saturating_sub(length);
            self.verdict = self.verdict.filter(|verdict| *verdict != Verdict::Calls(0));
        }
    }

    fn take_state(&mut self) -> State {
        std::mem::replace(&mut self.state, State::Text)
    }

    /// Says that a call was not read. Its source is where it was written.
    fn report<S: CallSink>(&mut self, row: usize, name: &str, sink: &mut S) {
        let setup = self.take_setup();
        if let Some(dialect) = setup.rows.get(row) {
            self.out.open_block(false, false);
            let ctx = &mut self.ctx(dialect, &setup, false, sink);
            if ctx.begin(name, None) {
                ctx.end(CallOutcome::Cut, 0, true);
                ctx.flush_end(false);
            }
            ctx.close();
        }
        self.setup = Some(setup);
    }

    /// What an engine of this row works with.
    pub(super) fn ctx<'c, S>(
        &'c mut self,
        row: &'c Dialect,
        setup: &'c Setup,
        eos: bool,
        sink: &'c mut S,
    ) -> Ctx<'c, S> {
        let (out, options) = (&mut self.out, &self.options);
        Ctx { sink, out, row, tools: &setup.tools, options, auto: setup.auto, eos }
    }

    #[allow(clippy::too_many_arguments, reason = "they are the parts of one step")]
    fn call<S: CallSink>(
        &mut self,
        row: usize,
        mut engine: Box<Engine>,
        rest: &[u8],
        eof: bool,
        eos: bool,
        setup: &Setup,
        sink: &mut S,
    ) -> Step {
        let Some(dialect) = setup.rows.get(row) else { return Step::Done(0) };
        let ctx = &mut self.ctx(dialect, setup, eos, sink);
        let step = match &mut *engine {
            Engine::Json(engine) => engine.step(rest, eof, ctx),
            Engine::Xml(engine) => engine.step(rest, eof, ctx),
            Engine::Python(engine) => engine.step(rest, eof, ctx),
            Engine::Brace(engine) => engine.step(rest, eof, ctx),
            Engine::Input(engine) => engine.step(rest, eof, ctx),
        };
        if let Step::Done(length) = step {
            self.block = self.block.filter(|_| length == 0);
            let ctx = &mut self.ctx(dialect, setup, eos, sink);
            ctx.fail();
            ctx.flush_end(false);
            let (mentions, unknown) = (ctx.out.mentions, ctx.out.unknown);
            (ctx.out.unknown, ctx.out.mentions) = (false, false);
            if ctx.close() {
                self.after = Some(row);
                if !self.made.contains(&row) {
                    self.made.push(row);
                }
            }
            if mentions {
                // So is what follows it directly.
                (self.after, self.seat, self.block) = (Some(row), Seat::Shown, None);
            }
            if mentions || unknown {
                self.ground.shown();
            } else {
                self.ground.called();
            }
            self.last = [b'\n'; LAST];
            self.spoke = false;
            self.state = State::Text;
        } else {
            self.state = State::Call(row, engine);
        }
        step
    }
}
