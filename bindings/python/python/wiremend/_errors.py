"""Why there is no value: one tree of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import Mended, Repair


class MendError(ValueError):
    """There is no value, or not a whole one. The subclasses say why."""

    outcome: str
    """How mending ended, such as ``"cut"``."""

    place: str | None
    """Where in the value, such as ``$.a[0]``, if that is known."""

    repairs: tuple[Repair, ...]
    """The repairs that were made, or that were needed."""

    for_model: str
    """A sentence for the model that wrote the text: what is wrong, and what to send instead."""

    result: object
    """What was raised for: a `Mended`, a `Fitted` or a `MendedArguments`."""

    def __init__(
        self,
        message: str,
        *,
        outcome: str,
        place: str | None,
        repairs: tuple[Repair, ...],
        for_model: str,
        result: object,
    ) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.place = place
        self.repairs = repairs
        self.for_model = for_model
        self.result = result


class Cut(MendError):
    """The text was cut off. ``result.value`` is what there is of it, if the policy allows closing it."""


class Refused(MendError):
    """The text has no JSON, or needs a repair that the policy forbids."""


class LimitExceeded(MendError):
    """The text is deeper or longer than the limits allow."""


class SchemaMismatch(MendError):
    """The value does not fit its schema, and no rule makes it fit."""


def refusal(result: Mended) -> MendError:
    """The error for the result of mending a text, which is not complete."""
    outcome, place, repairs = result.outcome, result.cut_at, result.repairs
    if outcome in ("closed", "cut"):
        at = "" if place in (None, "$") else f" at {place}"
        kind: type[MendError] = Cut
        message = f"the text was cut off{at}"
        for_model = f"Your JSON was cut off{at}. Send all of it again, and make it shorter if it does not fit."
    elif outcome == "none":
        kind, message = Refused, "the text has no JSON"
        for_model = "Your answer has no JSON. Answer with JSON, and nothing else."
    elif outcome == "overflow":
        kind, message = LimitExceeded, "the text is deeper or longer than the limits allow"
        for_model = "Your JSON is nested too deeply, or too long. Send less of it."
    else:
        kind, message = Refused, "the text is not JSON, and the policy forbids what would make it so"
        if repairs:
            place = repairs[-1].path
            message += f": {repairs[-1].kind} at {place}"
        for_model = "Your answer is not valid JSON. Send all of it again as strict JSON."
        if place not in (None, "$"):
            for_model = f"Your answer is not valid JSON: see {place}. Send all of it again as strict JSON."
    return kind(message, outcome=outcome, place=place, repairs=repairs, for_model=for_model, result=result)
