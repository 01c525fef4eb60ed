from collections.abc import Iterable, Iterator
from typing import Any, SupportsIndex, final, overload

from ._errors import MendError
from ._words import CallOutcome, Documents, Outcome, Policy, Risk, Scope, Text as AnyText, Treatment
from .events import Event

__all__ = [
    "Answer",
    "Asked",
    "Call",
    "CallBegan",
    "CallEnded",
    "CallFitted",
    "CallFragment",
    "CallIssue",
    "CallNamed",
    "CallRaw",
    "CallRestated",
    "Change",
    "Citation",
    "Doubted",
    "Ended",
    "EnvelopeMended",
    "Error",
    "Exchange",
    "Exchanges",
    "Finish",
    "Fitted",
    "FittedCall",
    "FormatDetected",
    "FoundCall",
    "FoundCalls",
    "FramingDetected",
    "Growing",
    "Issue",
    "Items",
    "KeepAlive",
    "Mended",
    "MendedArguments",
    "Mender",
    "Object",
    "ObjectBegan",
    "ObjectEnded",
    "ObjectFitted",
    "ObjectFragment",
    "ObjectIssue",
    "ObjectRaw",
    "Oversize",
    "Reader",
    "Reading",
    "Reasoning",
    "Refusal",
    "Repair",
    "Result",
    "Schema",
    "Text",
    "TextWasReasoning",
    "Tools",
    "Unfinished",
    "UnknownTool",
    "Usage",
    "find",
    "find_calls",
    "loads",
    "mend",
    "mend_arguments",
    "readings",
]

@final
class Repair:
    """One change that it took to make a text valid JSON.

    For a `str`, `start` and `end` count characters; for anything else, and for what arrived in chunks, bytes
    of UTF-8.
    """
    __match_args__ = ("kind", "before", "after", "path")
    @property
    def kind(self) -> str:
        """What was wrong: a code of the list of repairs or rules, such as `single-quote`."""
    @property
    def risk(self) -> Risk:
        """What it assumes: `exact`, `likely`, `lossy` or `guess`."""
    @property
    def start(self) -> int:
        """Where the text that was replaced begins."""
    @property
    def end(self) -> int:
        """Where it ends."""
    @property
    def before(self) -> str | None:
        """The text that was replaced. `None` if it arrived in chunks, which are not kept."""
    @property
    def after(self) -> str:
        """The text instead."""
    @property
    def path(self) -> str:
        """Where in the value, such as `$.a[0]`."""
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Change:
    """One change that it took to make a text valid JSON, and its value fit a schema: a repair, or what a rule did.

    For a `str`, `start` and `end` count characters; for anything else, and for what arrived in chunks, bytes
    of UTF-8.
    """
    __match_args__ = ("kind", "before", "after", "path")
    @property
    def kind(self) -> str:
        """What was wrong: a code of the list of repairs or rules, such as `single-quote`."""
    @property
    def risk(self) -> Risk:
        """What it assumes: `exact`, `likely`, `lossy` or `guess`."""
    @property
    def start(self) -> int:
        """Where the text that was replaced begins."""
    @property
    def end(self) -> int:
        """Where it ends."""
    @property
    def before(self) -> str | None:
        """The text that was replaced. `None` if it arrived in chunks, which are not kept."""
    @property
    def after(self) -> str:
        """The text instead."""
    @property
    def path(self) -> str:
        """Where in the value, such as `$.a[0]`."""
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Reading:
    """One way to read a broken text."""
    __match_args__ = ("cost", "text")
    @property
    def cost(self) -> int:
        """What its repairs cost together, in hundredths of a comment that is dropped."""
    @property
    def text(self) -> str:
        """What it makes of the text: JSON."""
    @property
    def repairs(self) -> tuple[Repair, ...]:
        """Its repairs."""

class Result:
    """What came of a text: its JSON, if there is any, and whether that is whole."""
    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing: then there is no `error`. A call may be run only if it is complete."""
    @property
    def text(self) -> str | None:
        """The JSON text. `None` if there is none, and of a call that may not be run."""
    @property
    def value(self) -> Any:
        """The value of the text, built once. Raises `error` if there is no text."""
    @property
    def error(self) -> MendError | None:
        """The error that says why it is not complete, to be raised. `None` if it is."""

@final
class Mended(Result):
    """The result of mending a text."""
    __match_args__ = ("outcome", "text")
    @property
    def outcome(self) -> Outcome:
        """How mending ended: `unchanged`, `repaired`, `closed`, `cut`, `none`, `invalid`, `overflow` or
        `abandoned`.
        """
    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs, in order. If there is no text, the ones that were needed."""
    @property
    def cut_at(self) -> str | None:
        """Where in the value it was cut off, such as `$.a[0]`, if it was."""
    @property
    def risk(self) -> Risk | None:
        """The highest risk among the repairs: `exact`, `likely`, `lossy` or `guess`. `None` without repairs."""

@final
class Mender:
    """Mends a text while it arrives.

    `feed` each chunk, then `close`. How the text is divided into chunks changes nothing. What `feed` returned is
    never taken back.
    """
    def __new__(
        cls,
        *,
        policy: Policy = "permissive",
        without: Iterable[str] | None = None,
        depth: int = 127,
    ) -> Mender: ...
    def feed(self, chunk: AnyText) -> str:
        """Reads a chunk, and returns the mended text that is certain now."""
    def close(self) -> Mended:
        """Ends the text, and returns the result: the same one when it is called again."""
    def snapshot(self) -> Any:
        """The value so far, as an object of its own: what is open in it is shown as far as it has arrived. `None`
        before the value begins. Costs as much as the value is large.

        A later snapshot never contradicts it: strings and lists only grow, numbers and words appear whole.
        """
    @property
    def completion(self) -> str | None:
        """What would make the text that was returned so far valid JSON. `None` where there is nothing to complete."""
    @property
    def outcome(self) -> Outcome | None:
        """How it ended, once nothing that follows can change it."""
    @property
    def repair_count(self) -> int:
        """How many repairs were made."""

@final
class Issue:
    """What is wrong with a value, and where."""
    __match_args__ = ("code", "path", "expected")
    @property
    def code(self) -> str:
        """The kind: a stable code, such as `type`."""
    @property
    def path(self) -> str:
        """Where, such as `$.a[0]`."""
    @property
    def pointer(self) -> str:
        """The same as a JSON Pointer."""
    @property
    def expected(self) -> str:
        """What the schema wants there."""
    @property
    def received(self) -> str:
        """The beginning of what is there."""
    @property
    def hint(self) -> str | None:
        """What may help."""
    @property
    def message(self) -> str:
        """All of it in a line."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Schema:
    """A JSON Schema, compiled."""
    def __new__(cls, text: str) -> Schema: ...
    def fit(
        self,
        text: AnyText,
        *,
        scope: Scope = "best",
        policy: Policy = "permissive",
        without: Iterable[str] | None = None,
        documents: Documents = "array",
        depth: int = 127,
        search: bool = True,
    ) -> Fitted:
        """Mends a text, and makes its value fit."""
    @property
    def source(self) -> str:
        """The schema, as JSON text."""

@final
class Fitted(Result):
    """The result of fitting a text to a schema."""
    __match_args__ = ("outcome", "text")
    @property
    def outcome(self) -> Outcome:
        """How it ended; `invalid` if the value does not fit."""
    @property
    def changes(self) -> tuple[Change, ...]:
        """The edit script from the text to the one that fits. Empty if there is none."""
    @property
    def rules(self) -> tuple[str, ...]:
        """The codes of the rules that were applied, or that could have been if the value does not fit."""
    @property
    def issues(self) -> tuple[Issue, ...]:
        """What is wrong with the value. Empty if it fits."""
    def for_model(self, lines: int = 8) -> str:
        """What is wrong, for the model: one issue a line, at most so many."""
    @property
    def cut_at(self) -> str | None:
        """Where in the value it was cut off, if it was."""
    @property
    def risk(self) -> Risk | None:
        """The highest risk among the changes. `None` without changes."""

@final
class Tools:
    """The tools that a request declares."""
    def __new__(cls, text: str) -> Tools: ...
    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools."""

@final
class MendedArguments(Result):
    """The arguments of a call, mended."""
    __match_args__ = ("outcome", "text")
    @property
    def outcome(self) -> CallOutcome:
        """How it ended: `whole`, `repaired`, `cut` or `refused`."""
    @property
    def raw(self) -> str:
        """The arguments as they came."""
    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs, in order, without what a schema changed."""
    @property
    def issues(self) -> tuple[Issue, ...]:
        """What is wrong with them, if they do not fit the schema."""
    @property
    def doubt(self) -> str | None:
        """Why they are not complete, although they may look so: a code, such as `unclean-stop`."""
    @property
    def cut_at(self) -> str | None:
        """Where they were cut off, if they were."""

@final
class FoundCall(Result):
    """A call that was found in a text."""
    __match_args__ = ("name", "text")
    @property
    def name(self) -> str:
        """The name of the tool."""
    @property
    def id(self) -> str | None:
        """The identifier that the model gave it."""
    @property
    def outcome(self) -> CallOutcome:
        """How it ended: `whole`, `repaired`, `cut` or `refused`."""
    @property
    def raw(self) -> str:
        """The arguments as the model wrote them."""
    @property
    def dialect(self) -> str:
        """The name of the dialect in which it is written."""
    @property
    def known(self) -> bool:
        """Whether the tool is known. `True` if no tools were given."""
    @property
    def in_reasoning(self) -> bool:
        """Whether it is a draft in the reasoning of the model, and no call."""
    @property
    def span(self) -> tuple[int, int] | None:
        """Where it begins and ends in the text, in bytes of UTF-8, with its markers."""

@final
class FoundCalls:
    """What was found in a text: calls, and the text around them."""
    @property
    def calls(self) -> tuple[FoundCall, ...]:
        """The calls, in order."""
    @property
    def text(self) -> str:
        """The text outside of calls and reasoning."""
    @property
    def reasoning(self) -> str:
        """The content of the blocks of reasoning."""
    @property
    def unknown(self) -> list[tuple[str, str | None]]:
        """The names of tools that do not exist, each with the nearest one that does."""
    def __iter__(self) -> Iterator[FoundCall]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: SupportsIndex, /) -> FoundCall: ...
    @overload
    def __getitem__(self, at: slice, /) -> tuple[FoundCall, ...]: ...

@final
class Call(Result):
    """A call of a response that has ended."""
    __match_args__ = ("name", "text")
    @property
    def number(self) -> int:
        """Its number in the response, from 0."""
    @property
    def choice(self) -> int:
        """The choice or message that it belongs to."""
    @property
    def kind(self) -> str:
        """`function`, `server` for a tool of the provider, or `custom` for one that takes free text."""
    @property
    def id(self) -> str | None:
        """Its id, if the stream sent one."""
    @property
    def name(self) -> str:
        """The name of the tool."""
    @property
    def outcome(self) -> Outcome:
        """How it ended: the outcome of its arguments."""
    @property
    def raw(self) -> str:
        """The arguments as they came."""
    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs, in order, relative to `raw`."""
    @property
    def doubt(self) -> str | None:
        """Why it is not complete, although it may look so: a code, such as `lost-event`."""
    @property
    def cut_at(self) -> str | None:
        """Where the arguments were cut off, if they were."""
    @property
    def dialect(self) -> str | None:
        """The dialect in which it was found in a text. `None` for a call of the format."""

@final
class FittedCall(Result):
    """A call of a response, and its arguments as they fit the schema of its tool."""
    __match_args__ = ("name", "text")
    @property
    def call(self) -> Call:
        """The call itself."""
    @property
    def name(self) -> str:
        """The name of the tool: the declared one, if the call means that."""
    @property
    def check(self) -> str:
        """What was checked: `fitted`, `incomplete`, `unknown` for a tool that does not exist, or `unchecked` for one
        without a schema.
        """
    @property
    def nearest(self) -> str | None:
        """The declared tool with the most similar name, if the tool does not exist."""
    @property
    def fitted(self) -> Fitted | None:
        """The result of fitting the arguments."""

@final
class Object(Result):
    """An object in the text of a response."""
    __match_args__ = ("outcome", "text")
    @property
    def number(self) -> int:
        """Its number, from 0."""
    @property
    def outcome(self) -> Outcome:
        """How it ended."""
    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs, in order, relative to the text of its block."""
    @property
    def cut_at(self) -> str | None:
        """Where it was cut off, if it was."""
    @property
    def doubt(self) -> str | None:
        """Why it is not complete, although it may look so."""

@final
class Text:
    """More text. `choice`, `block` and `part` say which one it belongs to."""
    __match_args__ = ("text", "choice", "block", "part")
    @property
    def text(self) -> str: ...
    @property
    def choice(self) -> int: ...
    @property
    def block(self) -> int: ...
    @property
    def part(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Reasoning:
    """More of the model's reasoning."""
    __match_args__ = ("text", "choice", "block", "part")
    @property
    def text(self) -> str: ...
    @property
    def choice(self) -> int: ...
    @property
    def block(self) -> int: ...
    @property
    def part(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Refusal:
    """More of a refusal."""
    __match_args__ = ("text", "choice", "block", "part")
    @property
    def text(self) -> str: ...
    @property
    def choice(self) -> int: ...
    @property
    def block(self) -> int: ...
    @property
    def part(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class TextWasReasoning:
    """All text of the block so far was reasoning."""
    __match_args__ = ("choice", "block", "part")
    @property
    def choice(self) -> int: ...
    @property
    def block(self) -> int: ...
    @property
    def part(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Citation:
    """A source that the provider cites: its own JSON."""
    __match_args__ = ("json", "choice", "block", "part")
    @property
    def json(self) -> str: ...
    @property
    def choice(self) -> int: ...
    @property
    def block(self) -> int: ...
    @property
    def part(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class CallBegan:
    """A call began. Its id and name are there if the stream has sent them yet."""
    __match_args__ = ("number", "name", "id", "choice", "kind")
    @property
    def number(self) -> int: ...
    @property
    def name(self) -> str | None: ...
    @property
    def id(self) -> str | None: ...
    @property
    def choice(self) -> int: ...
    @property
    def kind(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class CallNamed:
    """The name of a call became known, or grew."""
    __match_args__ = ("number", "name")
    @property
    def number(self) -> int: ...
    @property
    def name(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class CallFragment:
    """More of the arguments of a call, mended. For display only: `CallEnded` decides."""
    __match_args__ = ("number", "json")
    @property
    def number(self) -> int: ...
    @property
    def json(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class CallRaw:
    """More of a call that is not JSON, as it came."""
    __match_args__ = ("number", "text")
    @property
    def number(self) -> int: ...
    @property
    def text(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class CallRestated:
    """A call in the text repeats an earlier one, so it is none."""
    __match_args__ = ("number", "name")
    @property
    def number(self) -> int: ...
    @property
    def name(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class UnknownTool:
    """A call in the text names a tool that does not exist, so it is text, which follows."""
    __match_args__ = ("name", "nearest")
    @property
    def name(self) -> str: ...
    @property
    def nearest(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class ObjectBegan:
    """An object began in the text."""
    __match_args__ = ("number", "choice", "block", "part")
    @property
    def number(self) -> int: ...
    @property
    def choice(self) -> int: ...
    @property
    def block(self) -> int: ...
    @property
    def part(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class ObjectFragment:
    """More of an object, mended."""
    __match_args__ = ("number", "json")
    @property
    def number(self) -> int: ...
    @property
    def json(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class ObjectRaw:
    """More of an object, as it came, from where mending stopped."""
    __match_args__ = ("number", "text")
    @property
    def number(self) -> int: ...
    @property
    def text(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Doubted:
    """Something was lost, damaged or contradicted: no call that is open here is complete."""
    __match_args__ = ("doubt",)
    @property
    def doubt(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Error:
    """An error inside the response."""
    __match_args__ = ("kind", "message", "code", "error_type")
    @property
    def kind(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def code(self) -> str | None: ...
    @property
    def error_type(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Finish:
    """A choice or message finished. `original` is the provider's word."""
    __match_args__ = ("reason", "choice", "original")
    @property
    def reason(self) -> str: ...
    @property
    def choice(self) -> int: ...
    @property
    def original(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Usage:
    """Token counts, as far as they are known."""
    __match_args__ = ("input", "output", "cached", "reasoning")
    @property
    def input(self) -> int | None: ...
    @property
    def output(self) -> int | None: ...
    @property
    def cached(self) -> int | None: ...
    @property
    def reasoning(self) -> int | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class FormatDetected:
    """The provider's format was recognised."""
    __match_args__ = ("format",)
    @property
    def format(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class FramingDetected:
    """The framing was recognised, or is another than it seemed."""
    __match_args__ = ("framing",)
    @property
    def framing(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class KeepAlive:
    """Something that only keeps the connection open."""
    __match_args__ = ()
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Oversize:
    """A line or an event exceeded a limit and was dropped."""
    __match_args__ = ("limit",)
    @property
    def limit(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Unfinished:
    """The payload in which the stream was cut off, as it came."""
    __match_args__ = ("text",)
    @property
    def text(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Ended:
    """The stream ended: the last event. `complete`, `cut`, `error`, `lossy`, `overflow` or `unrecognised`."""
    __match_args__ = ("outcome", "is_complete")
    @property
    def outcome(self) -> str: ...
    @property
    def is_complete(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class CallEnded:
    """A call ended. Run it only if `call.is_complete`; with tools, see `CallFitted`."""
    __match_args__ = ("call",)
    @property
    def call(self) -> Call: ...

@final
class CallFitted:
    """The same call, with the arguments that fit its tool. Only with tools."""
    __match_args__ = ("call",)
    @property
    def call(self) -> FittedCall: ...

@final
class CallIssue:
    """Something is wrong with a call that no further text can fix. With the standing `lost`, no rule can either."""
    __match_args__ = ("number", "issue", "standing")
    @property
    def number(self) -> int: ...
    @property
    def issue(self) -> Issue: ...
    @property
    def standing(self) -> str: ...

@final
class ObjectEnded:
    """An object ended."""
    __match_args__ = ("object",)
    @property
    def object(self) -> Object: ...

@final
class ObjectFitted:
    """The result of fitting an object, or a text without one, to the schema. Only with a schema."""
    __match_args__ = ("fitted", "number", "is_complete")
    @property
    def fitted(self) -> Fitted | None: ...
    @property
    def number(self) -> int | None: ...
    @property
    def is_complete(self) -> bool: ...

@final
class ObjectIssue:
    """Something is wrong with an object that no further text can fix. With the standing `lost`, no rule can either."""
    __match_args__ = ("number", "issue", "standing")
    @property
    def number(self) -> int: ...
    @property
    def issue(self) -> Issue: ...
    @property
    def standing(self) -> str: ...

@final
class EnvelopeMended:
    """An envelope was broken JSON, and was mended before it was read."""
    __match_args__ = ("mended",)
    @property
    def mended(self) -> Mended: ...

@final
class Reader:
    """Reads the body of a response while it arrives, without IO: `feed` each chunk, then `close`; both return events."""
    def __new__(
        cls,
        *,
        tools: Tools | None = None,
        schema: Schema | None = None,
        objects: Scope | None = None,
        calls_in_text: bool = False,
        dialect: str | None = None,
        format: str | None = None,
        content_type: str | None = None,
        policy: Policy = "conservative",
        without: Iterable[str] | None = None,
        text_policy: Policy = "permissive",
        depth: int = 127,
    ) -> Reader: ...
    def feed(self, chunk: AnyText) -> list[Event]:
        """Reads a chunk of the body."""
    def close(self) -> list[Event]:
        """Ends the body. The last event is `Ended`. No events when it is called again."""

@final
class Exchanges:
    """What is mended in exchanges, and the tools of the last of them, compiled: one for a client."""
    def __new__(cls, settings: str = "{}", held_bytes: int = 8388608) -> Exchanges: ...
    def request(self, method: str, path: str, headers: list[tuple[str, bytes]]) -> Asked:
        """The head of a request."""

@final
class Asked:
    """The head of a request, of which the body may follow."""
    @property
    def reads_body(self) -> bool:
        """Whether the body is read. Otherwise it is sent on as it is."""
    def read(self, body: AnyText | None = None) -> Exchange:
        """Reads the body. `None`, if it is not read."""

@final
class Exchange:
    """A request that was read, and what its answer is mended with."""
    @property
    def body(self) -> bytes | None:
        """What is sent instead of the body. `None` if it is sent as it is."""
    @property
    def header_edits(self) -> list[tuple[str, list[bytes]]]:
        """The headers of the request that change."""
    def answer(self, status: int, headers: list[tuple[str, bytes]]) -> Answer:
        """The head of the answer."""

@final
class Answer:
    """Mends the body of one answer."""
    @property
    def treatment(self) -> Treatment:
        """What is done with the body: `pass`, `stream`, or `whole` where the head leaves after it."""
    @property
    def coding(self) -> str | None:
        """The coding of a body that would be mended if it were unpacked."""
    def unpack(self, coding: str) -> None:
        """Says that what is pushed is unpacked."""
    def begin_stream(self) -> None:
        """Makes a whole body a stream, before its first piece: it is too long to be kept."""
    def push(self, chunk: AnyText) -> bytes:
        """Takes a piece, and returns what may leave."""
    def finish(self) -> bytes:
        """Ends the body, and returns what leaves, with the comment that says what was done, if it is wanted."""
    def stop(self) -> bytes:
        """Ends the body where it broke off: what waits is returned as it came."""
    @property
    def header_edits(self) -> list[tuple[str, list[bytes]]]:
        """The headers of the answer that change: for a whole body, after its end."""
    @property
    def verdict(self) -> str:
        """What was done, in a word: `unchanged`, `repaired`, `cut` and so on."""
    @property
    def line(self) -> str:
        """What was done, in a line."""
    @property
    def account(self) -> dict[str, Any]:
        """What was done, call by call."""

@final
class Growing:
    """A value of mended text that grows."""
    def __new__(cls) -> Growing: ...
    def feed(self, json: AnyText) -> bool:
        """Reads mended text, and says whether the value changed."""
    @property
    def value(self) -> Any:
        """The value so far, as an object of its own. `None` before it begins."""
    @property
    def closed(self) -> frozenset[str]:
        """The paths of what will not change any more."""

@final
class Items:
    """The items of one array in a mended text, each when it is whole."""
    def __new__(cls, pointer: str) -> Items: ...
    def feed(self, json: AnyText) -> list[tuple[str, str]]:
        """Reads mended text, and returns the items that ended in it: the JSON text of each, and its path."""

def loads(
    text: AnyText,
    *,
    incomplete: bool = False,
    policy: Policy = "permissive",
    without: Iterable[str] | None = None,
    documents: Documents = "array",
    depth: int = 127,
    search: bool = True,
) -> Any:
    """The value of a text, mended. Raises a `MendError` where there is none, or not a whole one.

    `policy` says which repairs are allowed, `without` lists the codes of some that are not, `documents` says what
    becomes of several documents, `depth` is the deepest nesting, and `search` says whether the cheapest reading is
    searched for where a repair has a rival. With `incomplete`, a text that was cut off has the value that there is of it.
    """
def mend(
    text: AnyText,
    *,
    policy: Policy = "permissive",
    without: Iterable[str] | None = None,
    documents: Documents = "array",
    depth: int = 127,
    search: bool = True,
) -> Mended:
    """Mends a text that should be JSON, and says what was done. It raises for wrong options only, which are those of
    `loads`.
    """
def find(
    text: AnyText,
    *,
    scope: Scope = "best",
    policy: Policy = "permissive",
    without: Iterable[str] | None = None,
    documents: Documents = "array",
    depth: int = 127,
    search: bool = True,
) -> Mended:
    """Finds the JSON in a text with prose, code fences or reasoning around it, and mends it. `scope` says where to look;
    the other options are those of `loads`.
    """
def mend_arguments(
    raw: AnyText,
    finish_reason: str,
    schema: Schema | None = None,
    *,
    policy: Policy = "conservative",
    without: Iterable[str] | None = None,
    depth: int = 127,
) -> MendedArguments:
    """Mends the arguments of a call."""
def find_calls(
    text: AnyText,
    *,
    tools: Tools | None = None,
    dialect: str | None = None,
    cut: bool = False,
    policy: Policy = "conservative",
    without: Iterable[str] | None = None,
    depth: int = 127,
) -> FoundCalls:
    """Finds the calls in a text."""
def readings(text: AnyText, *, depth: int = 127) -> tuple[Reading, ...]:
    """The two cheapest readings of a broken text that give different values, the cheapest first: the further the second one
    is, the surer is the first. `mend` takes the first one if it is cheaper than what a stream reads by a margin, and within
    the policy; here, any repair may be made.

    There is none if a text is valid, is in a wrapper (a data URL, lines with marks), is cut off at the first byte of its
    document, or needs more repairs than a search may make; and only one if nothing else comes near, within 1,000. The first
    16,384 places where one reading was preferred to another are compared: in a long text with more of them, a reading that
    differs only near its end may be missed.
    """
