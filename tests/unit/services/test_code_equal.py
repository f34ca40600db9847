from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sandbox.runner import values
from sandbox.runner.values import Opaque
from services.code.equal import Rules, equal

RULES = Rules()
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.integers() | st.text(max_size=3), inner, max_size=4)
        | st.sets(st.integers(), max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("expected", "returned"),
    [
        (3, 3.0),
        (0.3, 0.1 + 0.2),
        ([1, [2.0]], [1, [2 + 1e-9]]),
        ({(1, 2): "a"}, {(1, 2): "a"}),
        ({1.5, 2.0}, {1.5, 2.0000000001}),
        (math.nan, math.nan),
        (math.inf, math.inf),
        (b"a", b"a"),
        (None, None),
        (10**400, 10**400),
        (1 + 2j, 1 + 2.0000000001j),
        (frozenset({1}), frozenset({1})),
    ],
)
def test_the_same_value_is_equal(expected: Any, returned: Any) -> None:
    assert equal(expected, returned, RULES)


@pytest.mark.parametrize(
    ("expected", "returned"),
    [
        (1, True),
        (False, 0),
        (1000000001, 1e9),
        (0.5, math.nan),
        (math.nan, 0.5),
        (math.inf, 1e308),
        (1.5, math.inf),
        (1.5, 10**400),
        (math.nan, 10**400),
        (1 + 2j, 10**400),
        ([1], (1,)),
        ({1}, frozenset({1})),
        ({1}, {True}),
        ({1: "a"}, {True: "a"}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ("1", 1),
        (b"a", "a"),
        (b"a", bytearray(b"a")),
        (None, False),
        ([], None),
        ([1, 2], [1, 2, 3]),
        ({1.5}, {1.6}),
        (3, "3"),
    ],
)
def test_another_value_or_another_type_is_not_equal(expected: Any, returned: Any) -> None:
    assert not equal(expected, returned, RULES)


def test_a_tuple_is_a_list_where_the_rules_say_so_at_any_depth() -> None:
    rules = Rules(tuple_is_list=True)
    assert equal([[1, 2], [3]], ((1, 2), [3]), rules)
    assert not equal([1], {1}, rules)


def test_tolerances_are_those_of_the_rules() -> None:
    assert not equal(1.0, 1.0 + 1e-9, Rules(0.0, 0.0))
    assert equal(100.0, 101.0, Rules(0.02, 0.0))
    assert equal(0.0, 0.1, Rules(0.0, 0.2))


def test_an_opaque_value_equals_nothing() -> None:
    thing = Opaque("X")
    assert not equal(thing, thing, RULES)
    assert not equal([1], [thing], RULES)


def test_what_is_too_deep_is_not_equal() -> None:
    one: list[Any] = []
    other: list[Any] = []
    for _ in range(300):
        one, other = [one], [other]
    assert not equal(one, other, RULES)


@given(VALUES)
def test_a_value_is_equal_to_itself_once_it_has_crossed(value: Any) -> None:
    assert equal(value, values.decode(values.encode(value)), RULES)


@given(VALUES, VALUES)
def test_comparing_never_raises(one: Any, other: Any) -> None:
    assert equal(one, other, RULES) in (True, False)
