"""What a value should be: a JSON Schema, or a type of Python."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import types
import typing
from collections import abc
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from ._errors import SchemaMismatch
from ._native import Fitted, Schema, Tools, loads

T = TypeVar("T")

SchemaLike = Schema | Mapping[str, Any] | type[Any]
"""A schema: compiled, as a dict, or as a type (a pydantic model, a dataclass, a ``TypedDict``, ``list[Model]`` …)."""

ToolsLike = Tools | list[Any]
"""The tools of a request, as it declares them."""


class Shape(Generic[T]):
    """A schema, and how a text that fits it becomes a value."""

    def __init__(self, schema: Schema, read: Callable[[str], T]) -> None:
        self.schema = schema
        self.read = read

    def value(self, fitted: Fitted) -> T:
        """The value of a text that fits. Raises the error of one that does not, and one for what the type refuses."""
        if fitted.error is not None:
            raise fitted.error
        try:
            return self.read(fitted.text or "")
        except ValueError as refused:
            # The validators of a model, or the constructor of a dataclass.
            for_model = f"Your JSON was refused. Send all of it again, with this put right:\n{refused}"
            raise SchemaMismatch(f"its type refuses it: {refused}", fitted, None, for_model) from refused


def shape_of(kind: Any) -> Shape[Any]:
    """The shape that a caller means."""
    if isinstance(kind, Schema):
        return Shape(kind, loads)
    if isinstance(kind, Mapping):
        return _of_schema(json.dumps(kind, default=dict))
    if isinstance(kind, str | bytes):
        raise TypeError("a schema is a dict, a type or a Schema; Schema(text) makes one of JSON text")
    try:
        return _of_type(kind)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        return _of_type.__wrapped__(kind)


def tools_of(tools: ToolsLike | None) -> Tools | None:
    """The tools that a caller means."""
    if tools is None or isinstance(tools, Tools):
        return tools
    return _tools(json.dumps(tools))


@functools.lru_cache(maxsize=64)
def _tools(text: str) -> Tools:
    return Tools(text)


@functools.lru_cache(maxsize=256)
def _of_schema(text: str) -> Shape[Any]:
    return Shape(Schema(text), loads)


@functools.lru_cache(maxsize=256)
def _of_type(kind: Any) -> Shape[Any]:
    describer = _Describer()
    try:
        described = describer.describe(kind)
    except _Foreign as foreign:
        return _of_pydantic(kind, foreign)
    if describer.definitions:
        described = {**described, "$defs": describer.definitions}
    return Shape(Schema(json.dumps(described)), lambda text: _build(kind, loads(text)))


def _of_pydantic(kind: Any, foreign: _Foreign) -> Shape[Any]:
    try:
        from pydantic import PydanticUserError, TypeAdapter
    except ImportError:
        message = f"{foreign.kind!r} needs pydantic, which is not installed"
        raise TypeError(message) from None
    try:
        adapter: Any = TypeAdapter(kind)
    except PydanticUserError as error:
        raise TypeError(str(foreign)) from error
    return Shape(Schema(json.dumps(adapter.json_schema())), adapter.validate_json)


class _Foreign(TypeError):
    """A type that is not of the standard library."""

    def __init__(self, kind: Any) -> None:
        super().__init__(f"no schema is known for {kind!r}")
        self.kind = kind


_SCALARS: dict[Any, dict[str, Any]] = {
    Any: {},
    object: {},
    None: {"type": "null"},
    type(None): {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
}

_LISTS = (list, tuple, set, frozenset, abc.Sequence, abc.Iterable, abc.Collection, abc.Set, abc.MutableSequence)
_MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)


def _unwrapped(kind: Any) -> Any:
    """The type without what only annotates it."""
    while typing.get_origin(kind) in (typing.Annotated, typing.Required, typing.NotRequired):
        kind = typing.get_args(kind)[0]
    return kind


def _is_dataclass(kind: Any) -> bool:
    own = dataclasses.is_dataclass(kind) and isinstance(kind, type)
    return own and not hasattr(kind, "__pydantic_validator__")


def _members(kind: Any) -> dict[str, tuple[Any, bool]]:
    """The members of a dataclass or a ``TypedDict``: the type of each, and whether it is needed."""
    hints = typing.get_type_hints(kind, include_extras=True)
    if _is_dataclass(kind):
        none = dataclasses.MISSING
        fields = [field for field in dataclasses.fields(kind) if field.init]
        return {f.name: (hints[f.name], f.default is none and f.default_factory is none) for f in fields}
    # Where annotations are strings, only the hints know which keys are marked.
    marks = {typing.Required: True, typing.NotRequired: False}
    needed: frozenset[str] = kind.__required_keys__
    return {key: (hint, marks.get(typing.get_origin(hint), key in needed)) for key, hint in hints.items()}


class _Describer:
    """Makes a JSON Schema of a type of the standard library."""

    def __init__(self) -> None:
        self.definitions: dict[str, dict[str, Any]] = {}
        self.names: dict[Any, str] = {}

    def describe(self, kind: Any) -> dict[str, Any]:
        kind = _unwrapped(kind)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        scalar = _SCALARS.get(kind) if kind.__hash__ is not None else None
        if scalar is not None:
            return scalar
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.describe(one) for one in arguments]}
        if (origin or kind) is tuple and arguments and arguments[-1] is not Ellipsis:
            items = [self.describe(one) for one in arguments]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if (origin or kind) in _LISTS:
            return {"type": "array", "items": self.describe(arguments[0])} if arguments else {"type": "array"}
        if (origin or kind) in _MAPPINGS and arguments[:1] in ((), (str,), (Any,)):
            of_values = {"additionalProperties": self.describe(arguments[1])} if arguments else {}
            return {"type": "object", **of_values}
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return {"enum": [member.value for member in kind]}
        if _is_dataclass(kind) or typing.is_typeddict(kind):
            return self.object(kind)
        raise _Foreign(kind)

    def object(self, kind: Any) -> dict[str, Any]:
        """A reference to the schema of an object, which may hold others of its kind."""
        if kind not in self.names:
            name = kind.__name__
            while name in self.definitions:
                name += "_"
            self.names[kind] = name
            self.definitions[name] = {}
            members = _members(kind)
            properties = {key: self.describe(hint) for key, (hint, _) in members.items()}
            required = [key for key, (_, needed) in members.items() if needed]
            self.definitions[name] = {"type": "object", "properties": properties, "required": required}
            if kind.__doc__ and not kind.__doc__.startswith(f"{kind.__name__}("):
                self.definitions[name]["description"] = kind.__doc__
        return {"$ref": f"#/$defs/{self.names[kind]}"}


def _build(wanted: Any, value: Any) -> Any:
    """The value of a type, from one of JSON that fits it."""
    kind: Any = _unwrapped(wanted)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    plain = origin or kind
    if origin in (typing.Union, types.UnionType):
        return _build(next((one for one in arguments if _holds(one, value)), Any), value)
    if kind is float:
        return float(value)
    if isinstance(value, list) and plain in _LISTS:
        if plain is tuple and arguments and arguments[-1] is not Ellipsis:
            return tuple(_build(one, item) for one, item in zip(arguments, value, strict=True))
        of = arguments[0] if arguments else Any
        items = [_build(of, item) for item in value]
        return plain(items) if plain in (tuple, set, frozenset) else set(items) if plain is abc.Set else items
    if isinstance(value, dict) and plain in _MAPPINGS and arguments:
        return {key: _build(arguments[1], item) for key, item in value.items()}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if isinstance(value, dict) and (_is_dataclass(kind) or typing.is_typeddict(kind)):
        members = _members(kind)
        built = {key: _build(members[key][0], item) for key, item in value.items() if key in members}
        return kind(**built) if _is_dataclass(kind) else {**value, **built}
    return value


def _holds(kind: Any, value: Any) -> bool:
    """Whether a value of JSON is one of the type, as far as that is seen at its root."""
    kind = _unwrapped(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    plain = origin or kind
    if plain in (Any, object):
        return True
    if kind in (None, type(None)):
        return value is None
    if origin is typing.Literal:
        return value in arguments
    if origin in (typing.Union, types.UnionType):
        return any(_holds(one, value) for one in arguments)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in (bool, str):
        return isinstance(value, kind)
    if plain in _LISTS:
        if plain is tuple and arguments and arguments[-1] is not Ellipsis:
            return isinstance(value, list) and len(value) == len(arguments) and all(map(_holds, arguments, value))
        return isinstance(value, list) and (not arguments or all(_holds(arguments[0], item) for item in value))
    if plain in _MAPPINGS:
        return isinstance(value, dict)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return any(member.value == value for member in kind)
    if not isinstance(value, dict):
        return False
    members = _members(kind)
    whole = all(key in value for key, (_, needed) in members.items() if needed)
    return whole and all(_holds(hint, value[key]) for key, (hint, _) in members.items() if key in value)
