r"""Read the letter of a multiple-choice answer.

What is covered: a letter from A to J alone, in brackets, with a mark after it (`C.`, `C)`, `C:`), after
"option", "choice", "answer" or `选`, and with the text of the option after such a mark: `(C) 12`. A
small letter counts only in brackets, before a closing one, or after "option" and "choice".

What is not: a letter with text and no mark, for `A dog` is no choice and `I am` none; two letters
(`read_choices` has them); text that takes the letter back or names another (`A) is wrong`,
`C or (D)`); what the options of the question say. Whether `A` is a choice or a variable, and `(e)` a
choice or a number, the caller must know.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MAX_CHARS: Final = 200
_LEAD = (
    r"(?P<lead>(?i:(?:the )?(?:correct |right |final |best )?(?:option|choice|answer)s?"
    r"(?: ?[:\uff1a] ?| is:? ?| | ?(?=[(\[])))|(?:本题|故|应)?(?:选项?|选择|答案(?:是|为|选)?) ?[:\uff1a]? ?)?"
)
_CHOICE = re.compile(
    _LEAD + r"(?:(?P<bracket>[(\[]) ?(?P<inside>[A-Ja-j]) ?[)\]][.:\uff1a]?"
    r"|(?P<bare>[A-Ja-j])(?P<mark>[.):\uff1a。,]?))(?P<rest>.*)",
    re.DOTALL,
)
_ITEM = r"(?:\([A-Ja-j]\)|\[[A-Ja-j]\]|[A-J])"
_LIST = re.compile(rf"{_LEAD}{_ITEM}(?: ?(?:[,;、&]|and|,and|, and|和|与) ?{_ITEM}){{1,9}}\.?")
_LISTED = re.compile(rf"{_ITEM}(?![A-Za-z])")
_SAYS_SO = re.compile(
    r" ?is (?:the )?(?:correct|right|(?:correct |right |best )?(?:answer|option|choice))\.?"
)
_BOTH = re.compile(r"(?:both )?[A-J] and [A-J]|neither [A-J] nor [A-J]", re.IGNORECASE)
_NO_TEXT = re.compile(
    r"\W*[A-Ja-j][A-J\W]*\Z|[+*/^=<>_!'&|]|\W*(?:[或和还不错]"
    r"|(?i:or|and|nor|but|maybe|perhaps|possibly|probably|if|vs|versus|is|isn't|was|are|aren't|cannot"
    r"|can't|does|doesn't|would|could|may|might|must|seems|looks)(?![A-Za-z]))"
)
_ANOTHER = re.compile(
    r"[(\[][A-Ja-j][)\]]|(?<![\w(])[A-J][).:]|(?<![A-Za-z])[B-HJ](?![A-Za-z])|\?\Z|[,;/&] ?[A-J](?!\w)"
    r"|(?<![A-Za-z])(?:or|and|not|nor|but|vs|either|option|choice|answer|is|was|be|to|with|for|pick|choose"
    r"|select|say)\.? ?\(?[A-J](?!\w)"
    r"|(?i:wrong|incorrect|not correct|not right|not the|not sure|unsure|guess|eliminated|ruled out"
    r"|actually|instead|sorry|correction)"
)


class Choice(NamedTuple):
    """A letter, and the text of its option if the answer repeats it."""

    letter: str
    """A capital from A to J."""
    text: str
    """With single blanks; empty if there is only the letter."""


def read_choice(text: str) -> Choice | None:
    """Return the one choice that `text` makes; None if it makes none, or more, or takes it back."""
    if len(text) == 1:
        return Choice(text, "") if "A" <= text <= "J" else None
    match = _CHOICE.match(_bare(text)) if len(text) <= MAX_CHARS else None
    if match is None:
        return None
    letter = match["inside"] or match["bare"]
    if not match["inside"] and letter.islower() and not _may_be_small(match):
        return None
    rest = match["rest"]
    if _SAYS_SO.fullmatch(rest):
        return Choice(letter.upper(), "")
    stated = " ".join(rest.split()).rstrip(".")
    return Choice(letter.upper(), stated) if not rest or _is_text(match, stated) else None


def read_choices(text: str) -> tuple[str, ...] | None:
    """Return the letters of `A, C` or `(A) and (C)`, sorted; at least two, and none twice."""
    if not 3 <= len(text) <= MAX_CHARS:
        return None
    match = _LIST.fullmatch(_bare(text))
    if match is None:
        return None
    listed = match.group()[len(match["lead"] or "") :]
    letters = sorted(item.strip("()[]").upper() for item in _LISTED.findall(listed))
    return tuple(letters) if len(set(letters)) == len(letters) else None


def same_choice(gold: str, answer: str) -> bool | None:
    """Whether both make the same choice; None if that cannot be told from letters.

    The text of an option may be missing. The same letter with another text, or another letter with
    the same text, is a contradiction: None.
    """
    wanted, given = read_choice(gold), read_choice(answer)
    if wanted is None or given is None:
        return _same_letters(gold, answer)
    one, other = _squeezed(wanted.text), _squeezed(given.text)
    if wanted.letter == given.letter:
        return True if one == other or not (one and other) else None
    return None if one and one == other else False


def _same_letters(gold: str, answer: str) -> bool | None:
    wanted, given = _letters(gold), _letters(answer)
    return wanted == given if wanted and given else None


def _letters(text: str) -> tuple[str, ...] | None:
    choice = read_choice(text)
    return (choice.letter,) if choice else read_choices(text)


def _bare(text: str) -> str:
    return text.replace("**", "").strip() if "**" in text else text.strip()


def _may_be_small(match: re.Match[str]) -> bool:
    lead = (match["lead"] or "").lower()
    return match["mark"] == ")" or "option" in lead or "choice" in lead


def _is_text(match: re.Match[str], stated: str) -> bool:
    """Whether what follows the letter is the text of its option, and nothing against it."""
    rest, mark = match["rest"], match["mark"]
    if mark == "," and not re.match(" ?[a-z]{2}", rest):
        return False
    joined = mark and mark != ")" and rest[0].isalpha() and not rest[1:2].isalpha()
    if joined or (mark == "" and match["bare"]):
        return False
    if _BOTH.fullmatch(stated):
        return True
    return bool(stated) and not _NO_TEXT.match(stated) and not _ANOTHER.search(stated)


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()
