//! Closing containers, with the right closer or another one.

use super::{
    Engine, Expect, Flow, Source, Step, Stop, Token,
    brackets::Closer,
    follows::{Fit, after_closer},
    frames::Shape,
    source::{Edge, Look},
    try_peek,
};
use crate::RepairKind;

impl Engine {
    pub(super) fn close(&mut self, source: &Source<'_>, token: Token) -> Step {
        let wanted = |shape: Shape| match token {
            Token::ObjectClose => shape == Shape::Object,
            Token::ArrayClose => shape.is_list(),
            _ => matches!(shape, Shape::Tuple | Shape::Call),
        };
        let above = self.frames.above(wanted);
        if above == Some(0) {
            return self.close_top(source, token);
        }
        let group = token == Token::GroupClose;
        let meaning = try_peek!(self.likely_closer(source, above, group), Closer::Extra);
        self.close_as(source, meaning)
    }

    /// What the closer at `pos` means, according to what follows it: `[{"a": 1]`, or
    /// `{"k": ["v"}, …`. It could close the container that has `above` others on top of it.
    fn likely_closer(
        &mut self,
        source: &Source<'_>,
        above: Option<usize>,
        group: bool,
    ) -> Result<Closer, Edge> {
        let inner = self.frames.shape_below(0);
        let look = source.look(self.pos + 1, self.window);
        let fits = |container, otherwise| match after_closer(container, look) {
            Err(Edge::More) => Err(Edge::More),
            Err(_) => Ok(otherwise),
            Ok(fit) => Ok(fit == Fit::Fits),
        };
        let Some(above) = above else {
            // Nothing of this shape is open: a mistyped closer, or one too many.
            let mistyped = !group && fits(inner, inner.is_none())?;
            return Ok(if mistyped { Closer::Mistyped } else { Closer::Extra });
        };
        // Are closers missing, or is this one mistyped?
        let outer = self.frames.shape_below(above);
        if self.follows_object(above, outer) {
            match self.reads_on(look) {
                Err(Edge::More) => return Err(Edge::More),
                Ok(true) => return Ok(Closer::Extra),
                _ => {}
            }
        }
        let mistyped = !fits(outer, true)? && fits(inner, true)?;
        Ok(if mistyped { Closer::Mistyped } else { Closer::Lost(above) })
    }

    /// `{"k": [{"a": 1}}`: whether the brace follows an object in an array that is a member's
    /// value. If the outer object is in an array itself, the next item would not settle the
    /// question.
    fn follows_object(&self, above: usize, outer: Option<Shape>) -> bool {
        let list = self.expect == Expect::ItemEnd
            && self.closed.is_object
            && self.closed.end == self.gap.start;
        list && above == 1 && matches!(outer, None | Some(Shape::Object))
    }

    /// Whether only the array can continue after this brace: `, {` or `], "n": 3`. If `}],` was
    /// meant to be `]},`, a brace will be missing at the end, which is a guess or a cut.
    fn reads_on(&mut self, mut look: Look<'_>) -> Result<bool, Edge> {
        let next = look.gap()?;
        if !matches!(next, b',' | b']') {
            return Ok(false);
        }
        look.bump();
        let after = look.gap()?;
        Ok(if next == b',' { after == b'{' } else { matches!(after, b',' | b'}') })
    }

    fn close_top(&mut self, source: &Source<'_>, token: Token) -> Step {
        self.drop_comma()?;
        let at = self.pos;
        let Some(shape) = self.frames.top() else { return Err(Stop::Refused) };
        if shape == Shape::Tuple && self.whole && token == Token::GroupClose {
            // `("x")` is a value in parentheses; `("x",)` and `("x", "y")` are lists.
            let end = self.gap.start.max(source.base());
            let single = self.frames.items() == 1 && !source.again(end, at).contains(&b',');
            let start = self.frames.start();
            if single && self.withdraw_tuple(start) {
                self.edit(RepairKind::Tuple, start..start + 1, "")?;
                self.edit(RepairKind::Tuple, at..at + 1, "")?;
                return self.popped(source);
            }
        }
        if shape == Shape::Tuple {
            // It may be closed as the list that it has become.
            if source.byte(at) != Some(b']') {
                self.edit(RepairKind::Tuple, at..at + 1, "]")?;
            }
        } else if shape == Shape::Call {
            // `f()` contains no value.
            self.edit(RepairKind::MissingValue, at..at + 1, "null")?;
        }
        self.popped(source)
    }
}
