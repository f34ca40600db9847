from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from services.math.language.choices import Choice, read_choice, read_choices, same_choice

_LETTER_ALONE = """C|(C)|[C]|( C )|C.|C)|C:|(C).|**C**|**(C)**|Option C|option c|choice C|Choice (C)|Answer: C
|Answer C|the answer is C|The correct answer is (C).|Correct option: C|c)|(c)|C is correct|C is the answer.
|(C) is the correct option|选C|故选C|答案是C|答案:C|选项C|C。| C """


@pytest.mark.parametrize("text", [each.strip("\n") for each in _LETTER_ALONE.split("|")])
def test_a_letter_alone_is_a_choice(text: str) -> None:
    assert read_choice(text) == Choice("C", "")


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("(C) 12", ("C", "12")),
        ("(C)12", ("C", "12")),
        ("(C) -3", ("C", "-3")),
        ("C. 12", ("C", "12")),
        ("C.12", ("C", "12")),
        ("C) x^2", ("C", "x^2")),
        ("c) 12", ("C", "12")),
        ("**C.** 12", ("C", "12")),
        ("Option C: 12", ("C", "12")),
        ("E: the enzyme is inhibited", ("E", "the enzyme is inhibited")),
        ("E:the enzyme is inhibited", ("E", "the enzyme is inhibited")),
        ("D, the largest one", ("D", "the largest one")),
        ("(B) A cat", ("B", "A cat")),
        ("(D) Both A and B", ("D", "Both A and B")),
        ("(E) none of the above", ("E", "none of the above")),
        ("(E) Not enough information.", ("E", "Not enough information")),
        ("I. Because", ("I", "Because")),
        ("(A)  two   words", ("A", "two words")),
    ],
)
def test_the_text_of_the_option_is_kept(text: str, choice: tuple[str, str]) -> None:
    assert read_choice(text) == choice


_NO_CHOICE = """|K|c|a|AB|ABC|A B|A dog|a dog|a.|c: 12|I am|I think C|C 12|C (12)|C = 12|C-12|C+1|C!|C?|(A) ?|(C|C]
|{C}|C'|C_1|A.B|A:B|A: B|U.S.A|I.e. 5|i.e. 5|e.g. x|E = mc^2|(A)^2|(A)(B)|(A)/(B)|(A)B|A or B|A and C|A, C|A/B
|A, 5|(A) or (B)|(A) or b|A. or B.|A) or maybe B|D, or E|D, perhaps|A maybe|C, not D|not C|Answer: not C|C or D
|(A) wrong|A is wrong|(A) is not the answer|A isn't right|(A) (not sure)|B: incorrect|(C) 5; actually (D)
|(A) 5 (B) 7|A) 5 B) 7|A. 5 or D. 7|A. 12 but it is C|(A) 12, D|A: B, C|D. C|Dogs|Answer|Option|Answer: A dog
|option a dog|Choose C"""


@pytest.mark.parametrize("text", _NO_CHOICE.replace("\n", "").split("|"))
def test_what_is_no_one_choice(text: str) -> None:
    assert read_choice(text) is None


_A_AND_C = """A, C|A,C|C, A|A and C|(A),(C)|(A) and (C)|(A)and(C)|[A], [C]|A;C|A & C|A、C|**A, C**|Options A and C
|Answer: A, C|(a), (c)|A, and C|答案是A和C"""


@pytest.mark.parametrize("text", _A_AND_C.replace("\n", "").split("|"))
def test_several_letters_are_read_in_any_order(text: str) -> None:
    assert read_choices(text) == ("A", "C")


def test_more_than_two_letters_are_read() -> None:
    assert read_choices("D, B, and A") == ("A", "B", "D")


_NO_CHOICES = "|A|(A)|AB|AC|A C|A or C|A, or C|(A, C)|[A, C]|{A, C}|A, A|a, c|A, 5|A, K|A, C?|A, not C|A-C|A, C, x"


@pytest.mark.parametrize("text", _NO_CHOICES.split("|"))
def test_what_are_no_several_choices(text: str) -> None:
    assert read_choices(text) is None


@pytest.mark.parametrize(
    ("gold", "answer", "same"),
    [
        ("C", "(C)", True),
        ("C", "D", False),
        ("C", "(C) 12", True),
        ("(C) 12", "C", True),
        ("(C) 12", "C. 12", True),
        ("(C) Some words", "C: some  words.", True),
        ("(C) 12", "(C) 13", None),
        ("(C) 12", "(B) 12", None),
        ("(C) 12", "(B) 13", False),
        ("(C) 12", "12", None),
        ("C", "C or D", None),
        ("C", "not C", None),
        ("A, C", "C and A", True),
        ("A, C", "A, B", False),
        ("A, C", "A", False),
        ("A", "A, C", False),
        ("x", "C", None),
        ("C", "x", None),
    ],
)
def test_choices_are_the_same_or_not_or_nobody_knows(
    gold: str, answer: str, same: bool | None
) -> None:
    assert same_choice(gold, answer) is same


_PIECES = [
    "A",
    "C",
    "c",
    "(",
    ")",
    ".",
    ":",
    ",",
    " ",
    "or ",
    "and ",
    "Option ",
    "answer is ",
    "12",
    "**",
    "x",
]


@given(
    st.one_of(st.text(max_size=220), st.lists(st.sampled_from(_PIECES), max_size=9).map("".join))
)
def test_any_text_can_be_asked(text: str) -> None:
    choice, choices = read_choice(text), read_choices(text)
    assert choice is None or "A" <= choice.letter <= "J"
    assert choice is None or choices is None
    assert same_choice(text, text) is not False


@given(
    st.sampled_from("ABCDEFGHIJ"),
    st.sampled_from("ABCDEFGHIJ"),
    st.sampled_from(["{} or {}", "{}/{}", "{}{}"]),
)
def test_two_letters_are_never_one_choice(one: str, other: str, both: str) -> None:
    assert read_choice(both.format(f"({one})", f"({other})")) is None
    assert read_choice(both.format(one, other)) is None


def test_long_text_is_no_choice() -> None:
    assert read_choice("(C) " + "x" * 200) is None
    assert read_choices("A, " * 100 + "B") is None
