from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from services.code.stdout import Mode, Tolerance, is_yes_or_no, matches

MODES: list[Mode] = [
    *("auto", "tokens", "lines", "exact"),
    *("float", "yesno", "unordered_lines", "json"),
]
NINES = b"9" * 5_000


def _is(mode: Mode, expected: bytes, printed: bytes) -> bool:
    return matches(mode, expected, printed, Tolerance())


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        (b"3\n", b"debug\n3\n"),
        (b"3\n", b"Enter a number: 3\n"),
        (b"12\n", "١٢\n".encode()),
        (b"3\n", "\uff13\n".encode()),
        (b"1000000001\n", b"1e+09\n"),
        (b"16\n", b"0x10\n"),
        (b"1 2\n3 4\n", b"4 3\n2 1\n"),
        (b"1\n1\n2\n", b"1\n2\n"),
        (b"1.5\n", b"inf\n"),
        (b"1.5\n", b"nan\n"),
        (b"1.5\n", b"1e999\n"),
        (b"1.5\n", b"1e99999999999\n"),
        (b"YES\n", b"Yes\n"),
        (b"3\n", b"\xef\xbb\xbf3\n"),
        (b"3\n", b"3\x00\n"),
        (b"3\n", b"\xc2\xa03\n"),
        (b"1000\n", b"1_000\n"),
        (b"50000000000000001\n", b"50000000000000000\n"),
        (NINES, NINES[:-1] + b"8"),
        (b"1\n", b""),
        (b"", b"1\n"),
    ],
)
def test_a_different_output_matches_neither_in_auto_nor_in_tokens(
    expected: bytes, printed: bytes
) -> None:
    assert not _is("auto", expected, printed)
    assert not _is("tokens", expected, printed)


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        (b"2.50\n", b"2.5\n"),
        (b"0.0000001\n", b"0\n"),
        (b"1e-7\n", b"0\n"),
        (b"1.0 2.0 3.0\n", b"1 2 3.0000001\n"),
        (b"3\n", b"003\n"),
        (b"3\n", b"3.0\n"),
        (b"1000000000\n", b"1e9\n"),
    ],
)
def test_the_same_number_matches_in_auto_but_not_in_tokens(expected: bytes, printed: bytes) -> None:
    assert _is("auto", expected, printed)
    assert not _is("tokens", expected, printed)


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        (b"1 2 3\n", b"1 2 3 \n"),
        (b"3\n4\n", b"3\r\n4\r\n"),
        (b"3\n4\n", b"3\x0b4\n"),
        (b"1 2 3\n", b"1\n2\n3\n"),
        (b"nan\n", b"nan"),
        (NINES, NINES + b"\n"),
    ],
)
def test_blanks_do_not_count_in_auto_and_in_tokens(expected: bytes, printed: bytes) -> None:
    assert _is("auto", expected, printed)
    assert _is("tokens", expected, printed)


def test_lines_keep_their_breaks_but_not_their_ends() -> None:
    assert not _is("lines", b"1 2 3\n", b"1\n2\n3\n")
    assert not _is("lines", b"1  2\n", b"1 2\n")
    assert _is("lines", b"1 2\n3", b"1 2 \r\n3\n\n \n")


def test_exact_is_the_same_bytes() -> None:
    assert _is("exact", b"1\n", b"1\n")
    assert not _is("exact", b"1\n", b"1")


def test_float_has_a_tolerance_for_whole_numbers_too() -> None:
    assert _is("float", b"1000000001", b"1000000000.5")
    assert not _is("float", b"1000", b"1001")
    assert not _is("float", b"1", b"one")


def test_yesno_knows_no_case_of_yes_and_no_alone() -> None:
    assert _is("yesno", b"YES\nno", b"yes No")
    assert not _is("yesno", b"YES", b"NO")
    assert not _is("yesno", b"Maybe", b"maybe")


def test_unordered_lines_count_repeats() -> None:
    assert _is("unordered_lines", b"1\n2\n1\n", b"2\n1\n1")
    assert not _is("unordered_lines", b"1\n2\n1\n", b"2\n1\n2")


@pytest.mark.parametrize(
    ("expected", "printed", "is_same"),
    [
        (b'{"a": [1, 2.5]}', b'{ "a":[1.0,2.5000000001] }', True),
        (b'{"a": 1, "b": 2}', b'{"b": 2, "a": 1}', True),
        (b"[1]", b'["1"]', False),
        (b"[1]", b"[true]", False),
        (b"[1, 2]", b"[2, 1]", False),
        (b"1", b"NaN", False),
        (b"[1.5]", b"[Infinity]", False),
        (b'{"a": 1}', b'{"a": 2, "a": 1}', False),
        (NINES, NINES[:-1] + b"8", False),
        (b"[1]", b"[" * 100_000, False),
    ],
)
def test_json_is_compared_by_value_and_type(expected: bytes, printed: bytes, is_same: bool) -> None:
    assert _is("json", expected, printed) is is_same


def test_without_tolerance_only_the_same_number_will_do() -> None:
    assert matches("auto", b"2.50", b"2.5", Tolerance(0, 0))
    assert not matches("auto", b"2.5", b"2.5000001", Tolerance(0, 0))


def test_yes_and_no_are_told_from_other_outputs() -> None:
    assert is_yes_or_no(b"YES\nNo\n")
    assert not is_yes_or_no(b"YES 1")
    assert not is_yes_or_no(b"")


@pytest.mark.parametrize("mode", MODES)
@given(expected=st.binary(max_size=40), printed=st.binary(max_size=40))
@settings(max_examples=200)
def test_no_bytes_make_it_raise_and_each_output_matches_itself(
    mode: Mode, expected: bytes, printed: bytes
) -> None:
    assert _is(mode, expected, expected)
    assert _is(mode, expected, printed) in (True, False)


@given(st.text("0123456789+-.eE nai_", max_size=30), st.text("0123456789+-.eE nai_", max_size=30))
def test_what_looks_like_numbers_does_not_make_it_raise(expected: str, printed: str) -> None:
    for mode in MODES:
        assert _is(mode, expected.encode(), printed.encode()) in (True, False)
