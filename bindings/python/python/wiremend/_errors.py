"""Why there is no value: one tree of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Issue, Repair


class MendError(ValueError):
    """There is no value, or not a whole one. The subclasses say why."""

    def __init__(self, message: str, result: Any, place: str | None, for_model: str) -> None:
        super().__init__(message)
        self.result = result
        """What was raised for, such as a `Mended`. What there is of a value that was cut off is in it. ``None`` after the
        error was pickled."""
        self.outcome: str = result.outcome
        """How it ended, such as ``"cut"``."""
        self.place = place
        """Where in the value, such as ``$.a[0]``, if that is known."""
        self.for_model = for_model
        """A sentence for the model that wrote the text: what is wrong, and what to send instead."""

    def __reduce__(self) -> Any:
        # Results stay in their process. An error that leaves it, as from a pool, says why all the same.
        return _without_result, (type(self), str(self), self.outcome, self.place, self.for_model)

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs that were made, or that were needed."""
        repairs: tuple[Repair, ...] = getattr(self.result, "repairs", ())
        return repairs

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What is wrong with the value, if it does not fit a schema."""
        issues: tuple[Issue, ...] = getattr(self.result, "issues", ())
        return issues


class Cut(MendError):
    """It was cut off, or may have been."""


class Refused(MendError):
    """It has no JSON, needs a repair that the policy forbids, or calls a tool that does not exist."""


class LimitExceeded(MendError):
    """It is deeper or longer than the limits allow."""


class SchemaMismatch(MendError):
    """The value does not fit its schema, and no rule makes it fit."""


def _without_result(kind: type[MendError], message: str, outcome: str, place: str | None, for_model: str) -> MendError:
    error = kind.__new__(kind, message)
    error.result, error.outcome, error.place, error.for_model = None, outcome, place, for_model
    return error


def refusal(result: Any) -> MendError:
    """The error for a result that is not complete."""
    match getattr(result, "check", None):
        case "fitted":
            return refusal(result.fitted)
        case "incomplete":
            return refusal(result.call)
        case "unknown" | "unchecked":
            return _unchecked(result)
    outcome: str = result.outcome
    place: str | None = getattr(result, "cut_at", None)
    issues: tuple[Issue, ...] = getattr(result, "issues", ())
    doubt: str | None = getattr(result, "doubt", None)
    codes = {issue.code for issue in issues}
    if outcome in ("closed", "cut", "abandoned") or doubt is not None:
        at = "" if place in (None, "$") else f" at {place}"
        why = "" if doubt is None else f" ({doubt})"
        message = f"it was cut off, or may have been{why}" if doubt else f"it was cut off{at}"
        for_model = f"Your JSON was cut off{at}. Send all of it again, and make it shorter if it does not fit."
        return Cut(message, result, place, for_model)
    if outcome == "overflow" or "overflow" in codes:
        message = "it is deeper or longer than the limits allow"
        return LimitExceeded(message, result, place, "Your JSON is nested too deeply, or too long. Send less of it.")
    if len(issues) > 0 and codes != {"syntax"}:
        first = issues[0]
        wrong = "\n".join(f"- {issue.message}" for issue in issues[:8])
        more = f"\n+{len(issues) - 8} more" if len(issues) > 8 else ""
        message = f"it does not fit the schema: {first.message}"
        for_model = f"Your JSON does not fit the schema. Send all of it again, with this put right:\n{wrong}{more}"
        return SchemaMismatch(message, result, first.path, for_model)
    if outcome == "none":
        for_model = "Your answer has no JSON. Answer with JSON, and nothing else."
        why = getattr(result, "why", None) or "there is no JSON in it"
        return Refused(why, result, place, for_model)
    message = "it is not JSON, and the policy forbids what would make it so"
    repairs: tuple[Repair, ...] = getattr(result, "repairs", ())
    if repairs:
        place = repairs[-1].path
        message += f": {repairs[-1].kind} at {place}"
    see = "" if place in (None, "$") else f": see {place}"
    for_model = f"Your answer is not valid JSON{see}. Send all of it again as strict JSON."
    return Refused(message, result, place, for_model)


def _unchecked(call: Any) -> MendError:
    result = call.call
    if call.check == "unchecked":
        return Refused(f"the tool {call.name!r} has no schema", result, None, f"The tool {call.name} cannot be called.")
    nearest = "" if call.nearest is None else f" Did you mean {call.nearest}?"
    for_model = f"There is no tool called {call.name}.{nearest} Call one of the tools that were declared."
    return Refused(f"there is no tool called {call.name!r}", result, None, for_model)
