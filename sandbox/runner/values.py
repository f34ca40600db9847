"""Typed JSON: Python values as data that crosses the edge of the sandbox, bounded on both sides.

Plain JSON stands for itself: null, booleans, integers of up to 53 bits, finite floats, strings,
lists, and objects without the key `$`. Everything else is `{"$": kind, "v": ...}`:

=============  ===================================================================
int            a large one, in hexadecimal: `"-0x1f"`
float          `"nan"`, `"inf"`, `"-inf"`, `"-0.0"`
str            one with lone surrogates: base64 of UTF-8 with surrogates passed
tuple, set     a list of values; also `frozenset`
dict           one with other keys, or with the key `$`: a list of `[key, value]`
bytes          base64; also `bytearray`
complex        `[real, imaginary]`
range          `[start, stop, step]`
opaque         a value of any other type: the name of its type, and nothing else
handle         an object that the caller of `encode` keeps: its number, with `"type"`
=============  ===================================================================

What is covered: values are read by their true base type, through the slots of that type alone, so
no method that untrusted code has written is called, whatever a subclass overrides. Subclasses count
as their base (`Counter` as dict, a named tuple as tuple, `IntEnum` as int), as they do for Python's
own `==`; numpy's scalars count as the Python scalar they hold. What is not: other objects, whose
contents never cross (an opaque value equals nothing), and references shared within a value.

The standard library only, Python 3.9 and newer: this file runs inside the sandbox as well.
"""

from __future__ import annotations

import binascii
import math
import re
import sys
from collections import Counter
from itertools import repeat

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would be a tenth of a small program's time
    from collections.abc import Callable, Iterable
    from typing import Any, Final, NoReturn, TypeAlias

    Value: TypeAlias = Any
    """Any Python value."""
    Typed: TypeAlias = Any
    """Typed JSON, as `json.loads` gives it."""
    Keep: TypeAlias = Callable[[Value], int | None]
    """Takes an object of an unknown type, answers with its number, or None to leave it opaque."""
    Resolve: TypeAlias = Callable[[int], Value]
    """Takes the number of a handle, answers with the object, or raises `ValueRefused`."""

MAX_DEPTH: Final = 200
MAX_BYTES: Final = 1024 * 1024
MAX_NAME: Final = 200
MAX_SAME_HASH: Final = 64
"""Members of a set with one hash: numbers can be chosen so that all have the same."""
_PLAIN_INT: Final = 2**53 - 1
_HEX: Final = re.compile(r"-?0x[0-9a-f]+", re.ASCII)


class ValueRefused(ValueError):  # noqa: N818  (the name of an answer, not of a fault)
    """The value is too large, too deep, cyclic or malformed; the message says which."""


class Opaque:
    """A value of a type that does not cross; it equals nothing, itself included."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)


class Handle(Opaque):
    """An object that stays where it was made; `number` is how it is spoken of."""

    __slots__ = ("number",)

    def __init__(self, number: int, type_name: str) -> None:
        super().__init__(type_name)
        self.number = number


def encode(value: object, keep: Keep | None = None) -> Typed:
    """Turn a value into typed JSON; raises `ValueRefused` and nothing else."""
    try:
        return _Encoder(keep).encode(value, 0)
    except ValueRefused:
        raise
    except Exception as error:  # noqa: BLE001  (another thread may change it under our hands)
        msg = f"the value could not be read: {type(error).__name__}"
        raise ValueRefused(msg) from None


def decode(data: object, resolve: Resolve | None = None) -> Value:
    """Turn typed JSON back into a value; raises `ValueRefused` and nothing else.

    Without `resolve`, a handle becomes a `Handle`.
    """
    try:
        return _Decoder(resolve).decode(data, 0)
    except ValueRefused:
        raise
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        msg = f"the typed JSON is malformed: {type(error).__name__}"
        raise ValueRefused(msg) from None


def true_name(kind: type) -> str:
    """Return a class's name, past anything that its metaclass says."""
    name = type.__dict__["__name__"].__get__(kind)
    return str.__str__(name).encode("utf-8", "replace").decode("utf-8")[:MAX_NAME]


def _refuse(reason: str) -> NoReturn:
    raise ValueRefused(reason)


class _Encoder:
    """One value's way out: what is left of its size, and the containers it is within."""

    def __init__(self, keep: Keep | None) -> None:
        self._left = MAX_BYTES
        self._within: set[int] = set()
        self._keep = keep

    def encode(self, value: Value, depth: int) -> Typed:
        if value is None or value is True or value is False:
            return self._spend(4, value)
        if depth > MAX_DEPTH:
            _refuse(f"the value is nested more than {MAX_DEPTH} deep")
        kind = type(value)
        # By identity: a class may have a metaclass, which says what it is equal to.
        read = _READER_BY_ID.get(id(kind))
        if read is None:
            read = next((read for base, read in _READERS.items() if _is_kind(kind, base)), None)
        if read is not None:
            return read(self, value, depth)
        scalar = _numpy_scalar(kind, value)
        if scalar is not None:
            return self.encode(scalar[0], depth + 1)
        return self._unknown(kind, value)

    def _spend(self, size: int, answer: Typed) -> Typed:
        self._left -= size
        if self._left < 0:
            _refuse(f"the value is larger than {MAX_BYTES} bytes")
        return answer

    def _unknown(self, kind: type, value: object) -> Typed:
        name = self._spend(40, true_name(kind))
        number = self._keep(value) if self._keep else None
        if number is None:
            return {"$": "opaque", "v": name}
        return {"$": "handle", "v": number, "type": name}

    def _int(self, value: int, _depth: int) -> Typed:
        value = int.__pos__(value)
        self._spend(value.bit_length() // 4 + 2, None)
        if -_PLAIN_INT <= value <= _PLAIN_INT:
            return value
        return self._spend(20, {"$": "int", "v": hex(value)})

    def _float(self, value: float, _depth: int) -> Typed:
        value = float.__pos__(value)
        self._spend(20, None)
        if math.isfinite(value) and not (value == 0 and math.copysign(1, value) < 0):
            return value
        return {"$": "float", "v": repr(value)}

    def _str(self, value: str, _depth: int) -> Typed:
        self._spend(str.__len__(value) + 3, None)
        value = str.__str__(value)
        try:
            value.encode()
        except UnicodeEncodeError:
            return {"$": "str", "v": self._base64(value.encode("utf-8", "surrogatepass"))}
        return value

    def _base64(self, data: bytes | bytearray) -> str:
        self._spend(len(data) * 4 // 3 + 20, None)
        return binascii.b2a_base64(data, newline=False).decode("ascii")

    def _bytes(self, value: bytes, _depth: int) -> Typed:
        self._spend(bytes.__len__(value), None)
        return {"$": "bytes", "v": self._base64(bytes.__getitem__(value, slice(None)))}

    def _bytearray(self, value: bytearray, _depth: int) -> Typed:
        self._spend(bytearray.__len__(value), None)
        return {"$": "bytearray", "v": self._base64(bytearray.__getitem__(value, slice(None)))}

    def _complex(self, value: complex, depth: int) -> Typed:
        value = complex.__pos__(value)
        parts = (value.real, value.imag)
        return {"$": "complex", "v": [self._float(part, depth) for part in parts]}

    def _range(self, value: range, depth: int) -> Typed:
        parts = (value.start, value.stop, value.step)
        return {"$": "range", "v": [self.encode(part, depth + 1) for part in parts]}

    def _list(self, value: list[Any], depth: int) -> Typed:
        return self._items(value, list.__iter__(value), list.__len__(value), depth)

    def _tuple(self, value: tuple[Any, ...], depth: int) -> Typed:
        size = tuple.__len__(value)
        return {"$": "tuple", "v": self._items(value, tuple.__iter__(value), size, depth)}

    def _set(self, value: set[Any], depth: int) -> Typed:
        return {"$": "set", "v": self._items(value, set.__iter__(value), set.__len__(value), depth)}

    def _frozenset(self, value: frozenset[Any], depth: int) -> Typed:
        items = self._items(value, frozenset.__iter__(value), frozenset.__len__(value), depth)
        return {"$": "frozenset", "v": items}

    def _items(self, owner: object, items: Iterable[Value], size: int, depth: int) -> list[Any]:
        self._enter(owner, size)
        encoded = [self.encode(item, depth + 1) for item in items]
        self._within.discard(id(owner))
        return encoded

    def _dict(self, value: dict[Any, Any], depth: int) -> Typed:
        self._enter(value, dict.__len__(value) * 2)
        pairs = [
            (self.encode(key, depth + 1), self.encode(item, depth + 1))
            for key, item in dict.items(value)
        ]
        self._within.discard(id(value))
        # A `str` here is a plain one: those with surrogates have become objects. Keys that were
        # subclasses of `str` may have become equal, and then every pair is kept.
        if all(type(key) is str and key != "$" for key, _ in pairs):
            plain = dict(pairs)
            if len(plain) == len(pairs):
                return plain
        return {"$": "dict", "v": [[key, item] for key, item in pairs]}

    def _enter(self, owner: object, size: int) -> None:
        if id(owner) in self._within:
            _refuse("the value contains itself")
        self._spend(size * 2 + 20, None)
        self._within.add(id(owner))


_READERS: Final[dict[type, Callable[[_Encoder, Any, int], Any]]] = {
    int: _Encoder._int,
    float: _Encoder._float,
    str: _Encoder._str,
    list: _Encoder._list,
    tuple: _Encoder._tuple,
    dict: _Encoder._dict,
    set: _Encoder._set,
    frozenset: _Encoder._frozenset,
    bytes: _Encoder._bytes,
    bytearray: _Encoder._bytearray,
    complex: _Encoder._complex,
    range: _Encoder._range,
}
_READER_BY_ID: Final = {id(base): read for base, read in _READERS.items()}


def _is_kind(kind: type, base: type) -> bool:
    return any(one is base for one in type.__dict__["__mro__"].__get__(kind))


def _numpy_scalar(kind: type, value: Value) -> tuple[Any] | None:
    """Read a numpy scalar, if numpy is there; whoever forges one only chooses the value."""
    numpy = sys.modules.get("numpy")
    for name in ("bool_", "number"):
        base = getattr(numpy, name, None)
        if type(base) is type and _is_kind(kind, base):
            item = base.item(value)  # type: ignore[attr-defined]
            return (item,) if type(item) is bool or id(type(item)) in _READER_BY_ID else None
    return None


class _Decoder:
    """One value's way in."""

    def __init__(self, resolve: Resolve | None) -> None:
        self._resolve = resolve

    def decode(self, data: Typed, depth: int) -> Value:
        if depth > MAX_DEPTH:
            _refuse(f"the typed JSON is nested more than {MAX_DEPTH} deep")
        if type(data) is float and not math.isfinite(data):
            _refuse("a special float is not tagged")
        if data is None or type(data) in (bool, int, float):
            return data
        if type(data) is str:
            data.encode()
            return data
        if type(data) is list:
            return self._list(data, depth)
        if type(data) is not dict:
            _refuse("not JSON")
        if "$" in data:
            return self._tagged(data, depth)
        return {self.decode(key, depth): self.decode(item, depth + 1) for key, item in data.items()}

    def _tagged(self, data: dict[str, Any], depth: int) -> Value:
        kind = data["$"]
        if kind == "handle":
            return self._handle(data)
        if type(kind) is str and data.keys() == {"$", "v"}:
            if kind in _CONTAINERS:
                return _CONTAINERS[kind](self._list(data["v"], depth))
            if kind in _MAKERS:
                return _MAKERS[kind](self, data["v"], depth)
        _refuse("an object has an unknown tag")

    def _handle(self, data: dict[str, Any]) -> Value:
        number, name = data.get("v"), _name(data.get("type", "object"))
        if type(number) is not int or not data.keys() <= {"$", "v", "type"}:
            _refuse("a handle is malformed")
        return self._resolve(number) if self._resolve else Handle(number, name)

    def _list(self, data: Typed, depth: int) -> list[Any]:
        if type(data) is not list:
            _refuse("a tag holds no list where it must")
        # `map` and no loop of ours: the deepest value has to fit what Python allows of frames.
        return list(map(self.decode, data, repeat(depth + 1)))

    def _int(self, data: Typed, _depth: int) -> int:
        if not (type(data) is str and _HEX.fullmatch(data)):
            _refuse("a large integer is malformed")
        return int(data, 16)

    def _float(self, data: Typed, _depth: int) -> float:
        if type(data) is not str or data not in ("nan", "inf", "-inf", "-0.0"):
            _refuse("a special float is malformed")
        return float(data)

    def _str(self, data: Typed, depth: int) -> str:
        return self._bytes(data, depth).decode("utf-8", "surrogatepass")

    def _bytes(self, data: Typed, _depth: int) -> bytes:
        if type(data) is not str:
            _refuse("base64 is malformed")
        encoded = data.encode("ascii")
        decoded = binascii.a2b_base64(encoded)
        if binascii.b2a_base64(decoded, newline=False) != encoded:
            _refuse("base64 is malformed")
        return decoded

    def _dict(self, data: Typed, depth: int) -> dict[Any, Any]:
        if type(data) is not list or any(type(p) is not list or len(p) != 2 for p in data):
            _refuse("a dict holds no list of pairs")
        # A pair is no level of its own: as deep as `encode` goes, this has to go.
        keys = list(map(self.decode, [key for key, _ in data], repeat(depth + 1)))
        items = map(self.decode, [item for _, item in data], repeat(depth + 1))
        return dict(zip(_check_hashes(keys), items))  # noqa: B905  (Python 3.9 knows no `strict`)

    def _complex(self, data: Typed, depth: int) -> complex:
        real, imaginary = self._list(data, depth - 1)  # its parts are no level below it
        if type(real) is type(imaginary) is float:
            return complex(real, imaginary)
        _refuse("a complex number is malformed")

    def _range(self, data: Typed, depth: int) -> range:
        start, stop, step = self._list(data, depth)
        if not (type(start) is type(stop) is type(step) is int):
            _refuse("a range is malformed")
        return range(start, stop, step)


def _name(data: Typed) -> str:
    if type(data) is not str:
        _refuse("the name of a type is malformed")
    data.encode()
    return data[:MAX_NAME]


def _check_hashes(items: list[Any]) -> list[Any]:
    """Refuse what would take quadratic time to put into a set."""
    hashes = Counter(map(hash, items))
    if hashes and max(hashes.values()) > MAX_SAME_HASH:
        _refuse("too many members of a set or dict have the same hash")
    return items


_CONTAINERS: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "tuple": tuple,
    "set": lambda items: set(_check_hashes(items)),
    "frozenset": lambda items: frozenset(_check_hashes(items)),
}
_MAKERS: Final[dict[str, Callable[[_Decoder, Any, int], Any]]] = {
    "int": _Decoder._int,
    "float": _Decoder._float,
    "str": _Decoder._str,
    "bytes": _Decoder._bytes,
    "bytearray": lambda decoder, data, depth: bytearray(decoder._bytes(data, depth)),
    "dict": _Decoder._dict,
    "complex": _Decoder._complex,
    "range": _Decoder._range,
    "opaque": lambda _decoder, data, _depth: Opaque(_name(data)),
}
