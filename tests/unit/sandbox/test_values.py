from __future__ import annotations

import collections
import enum
import itertools
import json
import math
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from sandbox.runner import values
from sandbox.runner.values import MAX_DEPTH, Handle, Opaque, ValueRefused, decode, encode

hashable = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.binary(),
    lambda inner: st.lists(inner).map(tuple) | st.frozensets(inner),
    max_leaves=10,
)
anything = st.recursive(
    hashable
    | st.binary().map(bytearray)
    | st.complex_numbers(allow_nan=False)
    | st.builds(range, st.integers(), st.integers(), st.integers(min_value=1)),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(hashable, inner)
        | st.dictionaries(st.text() | st.just("$"), inner)
        | st.sets(hashable)
    ),
    max_leaves=30,
)


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return len(one) == len(other) and all(map(same, one.items(), other.items()))
    if isinstance(one, float):
        return repr(one) == repr(other)
    return bool(one == other)


@given(anything)
@settings(max_examples=60, deadline=None)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    data = json.loads(json.dumps(encode(value)).encode())
    assert same(decode(data), value)


@given(anything)
@settings(max_examples=60, deadline=None)
def test_what_crosses_is_utf_8(value: Any) -> None:
    json.dumps(encode(value), ensure_ascii=False).encode()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.text(), inner)
            | st.fixed_dictionaries(
                {"$": st.sampled_from([*values._MAKERS, "handle", "x"]), "v": inner}
            )
        ),
    )
)
@settings(max_examples=100, deadline=None)
def test_decoding_gives_a_value_or_refuses(data: Any) -> None:
    try:
        decode(data)
    except ValueRefused as refused:
        assert str(refused)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0])
def test_floats_that_json_has_not_come_back(value: float) -> None:
    assert same(decode(json.loads(json.dumps(encode(value), allow_nan=False))), value)


def test_the_size_of_an_int_decides_how_it_is_written() -> None:
    assert encode(2**53 - 1) == 2**53 - 1
    assert encode(-(2**53)) == {"$": "int", "v": "-0x20000000000000"}
    assert decode(encode(10**5000)) == 10**5000


class AlwaysEqual(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __index__(self) -> int:
        return 3

    def __int__(self) -> int:
        return 3

    def __repr__(self) -> str:
        return "3"


class Endless(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return itertools.repeat(1)

    def __len__(self) -> int:
        return 0


class Cunning(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        return [("right", 1)]

    def __getitem__(self, key: object) -> Any:
        return 1


class Meta(type):
    __name__ = "int"

    def __instancecheck__(cls, _: object) -> bool:
        return True

    def __eq__(cls, _: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(int)


class Liar(metaclass=Meta):
    __class__ = int  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 3

    def __repr__(self) -> str:
        raise AssertionError


def test_a_subclass_is_what_its_base_holds() -> None:
    assert encode(AlwaysEqual(5)) == 5
    assert type(encode(AlwaysEqual(5))) is int
    assert encode(Endless([1, 2])) == [1, 2]
    assert encode(Cunning(wrong=2)) == {"wrong": 2}
    assert encode(collections.Counter("aab")) == {"a": 2, "b": 1}
    assert encode(enum.IntEnum("E", "A B").B) == 2  # type: ignore[attr-defined]
    point = collections.namedtuple("point", "x y")
    assert encode(point(1, 2)) == {"$": "tuple", "v": [1, 2]}


def test_another_type_is_opaque_and_only_named() -> None:
    assert encode(Liar()) == {"$": "opaque", "v": "Liar"}
    assert encode([object()]) == [{"$": "opaque", "v": "object"}]
    assert encode(len) == {"$": "opaque", "v": "builtin_function_or_method"}


def test_an_opaque_value_equals_nothing() -> None:
    opaque = decode({"$": "opaque", "v": "Node"})
    assert isinstance(opaque, Opaque)
    assert opaque != opaque
    assert [opaque] != [decode({"$": "opaque", "v": "Node"})]
    assert opaque != Liar()


def test_strings_of_a_subclass_that_become_equal_are_both_kept() -> None:
    class Key(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return self is other

        def __hash__(self) -> int:
            return 1

    assert encode({Key("a"): 1, Key("a"): 2}) == {"$": "dict", "v": [["a", 1], ["a", 2]]}


def nest(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def cycle() -> list[Any]:
    value: list[Any] = []
    value.append({"a": (value,)})
    return value


def lattice() -> list[Any]:
    value: list[Any] = [1]
    for _ in range(100):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (cycle(), "contains itself"),
        (nest(1_000_000), "nested more than 200"),
        (lattice(), "larger than"),
        (10 ** (10**7), "larger than"),
        ("x" * 2**20, "larger than"),
        (b"x" * 2**20, "larger than"),
        ([0] * 600_000, "larger than"),
        (dict.fromkeys(range(300_000)), "larger than"),
    ],
    ids=["cycle", "deep", "shared", "int", "str", "bytes", "list", "dict"],
)
def test_what_is_out_of_bounds_is_refused_with_a_reason(value: Any, reason: str) -> None:
    with pytest.raises(ValueRefused, match=reason):
        encode(value)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda value: [value],
        lambda value: (value,),
        lambda value: {"key": value},
        lambda value: {1: value},
        lambda value: frozenset([value]),
    ],
    ids=["list", "tuple", "plain dict", "dict", "frozenset"],
)
def test_the_deepest_value_crosses_both_ways(wrap: Callable[[Any], Any]) -> None:
    deepest: Any = 1j
    for _ in range(MAX_DEPTH):
        deepest = wrap(deepest)
    assert decode(json.loads(json.dumps(encode(deepest)))) == deepest
    with pytest.raises(ValueRefused):
        encode(wrap(deepest))


def test_a_dict_that_changes_meanwhile_is_a_value_or_refused() -> None:
    changing: dict[int, int] = {}
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            changing[len(changing) % 1000] = 1
            changing.pop(500, None)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(50):
            try:
                encode(changing)
            except ValueRefused as refused:
                assert "could not be read" in str(refused)
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize(
    "data",
    [
        {"$": "unknown", "v": 1},
        {"$": "int", "v": "12"},
        {"$": "int", "v": 5},
        {"$": "float", "v": "1e999"},
        {"$": "bytes", "v": "????"},
        {"$": "bytes", "v": "YQ"},
        {"$": "tuple", "v": "ab"},
        {"$": "tuple"},
        {"$": "tuple", "v": [], "more": 1},
        {"$": "set", "v": [[1]]},
        {"$": "dict", "v": [[1]]},
        {"$": "range", "v": [0, 1, 0]},
        {"$": "range", "v": [0, 1.5, 1]},
        {"$": "complex", "v": ["1", 2.0]},
        {"$": ["tuple"], "v": []},
        {"$": None},
        {"$": "handle", "v": "0"},
        {"a": "\ud800"},
        {"\ud800": 1},
        {"$": "opaque", "v": "\ud800"},
        {"$": "opaque", "v": 1},
        {"$": "handle", "v": 0, "type": "\ud800"},
        {"$": "dict", "v": [[1, 2, 3]]},
        {"$": "dict", "v": ["ab"]},
        math.nan,
        [math.inf],
        {"$": "complex", "v": [math.nan, 0.0]},
        b"bytes",
    ],
)
def test_malformed_typed_json_is_refused(data: Any) -> None:
    with pytest.raises(ValueRefused):
        decode(data)


def test_numbers_chosen_to_have_one_hash_are_refused() -> None:
    same_hash = [
        {"$": "int", "v": hex(number * sys.hash_info.modulus)} for number in range(1, 2_000)
    ]
    with pytest.raises(ValueRefused, match="same hash"):
        decode({"$": "set", "v": same_hash})
    with pytest.raises(ValueRefused, match="same hash"):
        decode({"$": "dict", "v": [[key, 0] for key in same_hash]})
    assert len(decode({"$": "set", "v": list(range(10_000))})) == 10_000


def test_objects_can_be_kept_and_spoken_of() -> None:
    kept: list[object] = []

    def keep(value: object) -> int:
        kept.append(value)
        return len(kept) - 1

    data = encode([Liar(), {"a": object()}], keep)
    assert data == [
        {"$": "handle", "v": 0, "type": "Liar"},
        {"a": {"$": "handle", "v": 1, "type": "object"}},
    ]
    assert decode(data, kept.__getitem__)[0] is kept[0]
    handle = decode(data)[0]
    assert isinstance(handle, Handle)
    assert (handle.number, handle.type_name) == (0, "Liar")


def test_a_numpy_scalar_is_the_scalar_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    class number:  # noqa: N801
        def item(self) -> int:
            return 7

    class int64(number):  # noqa: N801
        def item(self) -> int:
            return 8

    monkeypatch.setitem(sys.modules, "numpy", SimpleNamespace(number=number))
    assert encode([int64()]) == [7]
    assert encode(object()) == {"$": "opaque", "v": "object"}
