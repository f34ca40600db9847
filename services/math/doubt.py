"""Tell from the words around an answer that it is not given: denied, supposed, hidden, taken back.

English, some Chinese, and only what stands in the same sentence or close by. What is found makes an
answer `undecided`, so these rules may be wide; what they miss is what other tests of an answer are
for.
"""

from __future__ import annotations

import re
from typing import Final

NEAR_CHARS: Final = 200
_BREAKS: Final = (". ", "! ", "? ", "\n", "\u3002")
_DENIAL = re.compile(
    r"(?:\b(?:not|never|cannot|nobody|no one|refuse)\b|n't\b)"
    r"(?:(?!\b(?:but|rather|instead|only|so|hence|thus|therefore)\b)[^.:;,]){0,40}\Z",
    re.IGNORECASE,
)
_SET_ASIDE = re.compile(
    r"(?:\b(?:instead of|rather than|other than|except|unlike|contrary to)(?:\s+[^\s,]+){0,2}"
    r"|\b(?:incorrect|wrong|false|invalid|rejected|example|e\.g\.|for instance)|错误的?(?:答案)?|例如|比如)"
    r"[\W_]{0,8}\Z|\b(?:example|for instance)\W{1,4}the (?:final )?answer is[\W_]{0,8}\Z",
    re.IGNORECASE,
)
"""What makes the answer that comes right behind it somebody's mistake, or an example."""
_SAID_BY_OTHERS = re.compile(
    r"\b(?:(?:many|some|most|people|students?|one|you|someone|somebody|friend|model|solvers?|others?"
    r"|teacher|book)\b[^.:;]{0,30}\b(?:says?|said|thinks?|thought|claims?|claimed|answers|answered"
    r"|believes?|guess(?:es|ed)?|(?:would|might|may|could)\s+(?:say|think|answer|guess|claim|get))"
    r"|(?:student|friend|model|teacher)\s+(?:got|gets|wrote|writes))\b[^.,:;]{0,30}\Z"
    r"|\b(?:official|reference|published|textbook|book|ground[- ]truth)(?:'s)?\s+(?:final\s+)?"
    r"(?:answer|solution)\b[^.,:;]{0,30}\Z",
    re.IGNORECASE,
)
_ABOUT_AN_ANSWER = re.compile(
    r"\b(?:suppose|assume|assuming|imagine|unless|whether|maybe|perhaps|probably|guess|no way|unsure"
    r"|not true|isn't true|not sure|(?:is|it's) false|(?:wrong|incorrect|false)\s+(?:final\s+)?answer"
    r"|if\s+(?:the|my|this|that)\s+(?:final\s+)?answer)\b|假设|假如|如果|不是",
    re.IGNORECASE,
)
"""A sentence about an answer that it does not give."""
_TASK = re.compile(
    r"\b(?:put|write|give|place|enclose|box|format)\s+(?:the|your|my|his|her|its)?\s*(?:final\s+)?"
    r"answer\s+(?:in|inside|within|as|like|with)\s*[^.!?\n]{0,20}\Z",
    re.IGNORECASE,
)
_CUES: Final = frozenset(
    [
        *("not", "t", "never", "cannot", "nobody", "no", "refuse"),  # t is that of "don't"
        *("instead", "rather", "other", "except", "unlike", "contrary", "e", "example", "instance"),
        *("incorrect", "wrong", "false", "invalid", "rejected"),
        *("say", "says", "said", "thinks", "thought", "claims", "claimed", "answers", "answered"),
        *("believe", "believes", "guess", "guesses", "guessed", "would", "might", "may", "could"),
        *("official", "reference", "published", "textbook", "book", "truth"),
        *("got", "gets", "wrote", "writes", "suppose", "assume", "assuming", "imagine", "unless"),
        *("whether", "maybe", "perhaps", "probably", "unsure", "if"),
        *("put", "write", "give", "place", "enclose", "box", "format"),
    ]
)
"""One of these words is in every English sentence that a pattern here finds."""
_WORD = re.compile("[a-z]+")
_BEFORE: Final = (_DENIAL, _SET_ASIDE, _SAID_BY_OTHERS, _ABOUT_AN_ANSWER, _TASK)
_HIDERS: Final = (
    *("phantom", "iffalse", "command", "\\def", "\\verb", "comment", "display", "%"),
    *("~~", "<del", "<s>", "white", "\\hidden", "\\sout", "\\cancel"),
)
_HIDING = re.compile(
    r"(?:\\(?:[vh]?phantom|hidden|iffalse|newcommand|renewcommand|def|verb|sout|[bx]?cancel)(?![A-Za-z])"
    r"|\\begin\{comment\}|\\(?:text)?color\{white\}|color\s*:\s*white|<(?:del|s|strike)>|~~(?=[^~]*\Z)"
    r"|display\s*:\s*none|(?:\A|\n)[ \t]*%)"
    r"(?:(?!\\fi\b|\\end\{comment\}|</(?:del|s|strike)>|\n\n).){0,80}\Z",
    re.DOTALL,
)
_TAKING_BACK = re.compile(
    r"[\s$`*).\]\\}]{0,12}(?:\?|,?\s?(?:which\s|that\s|this\s)?(?:is|was|would be|seems|looks)\s+"
    r"(?:wrong|incorrect|not\b|false|a mistake)|,?\s?(?:but|however|though)[^.!?\n]{0,60}"
    r"\b(?:do not know|don't know|not sure|wrong|incorrect|unsure|it is|it's|the answer))",
    re.IGNORECASE,
)
_SECOND_THOUGHT = re.compile(
    r"\b(?:actually|wait|oops|correction|(?:made|is|was) a mistake|(?:i|that|this) (?:is|was) wrong"
    r"|should (?:be|have been)\W{1,4}\d|no,? it'?s|also (?:right|correct|works?|possible|valid)"
    r"|would be (?:the|my) answer|which (?:over|under)counts)\b|错了|不对|应该是",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"(?:[$*)\]]{0,4}(?:[.;,]?\s+(?:or|and|else|otherwise|alternatively|possibly|maybe)\b[\s,:]*){1,2}"
    r"|,\s?(?=-?\d[^$\n]{0,20}\$))"
    r"(?:\S{1,3}\s?=\s?)?(?:\$|\\\()?([^\s,;?!$]{1,40}?)(?=\\?[)\s,;?!$]|\Z)",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"(?<!\S)\$?([^\s,;$]{1,40}?)\$?\s+or\s+(?:\S{1,3}\s?=\s?)?[\s$(\\]{0,4}\Z", re.IGNORECASE
)
_NAMED_LATER = re.compile(
    r"([^\s,;$]{1,40})[\s$),]{1,4}(?:which |that |this )?is (?:the|my|our) (?:final |correct )?answer\b",
    re.IGNORECASE,
)
_VALUE = re.compile(r"\d|\\[A-Za-z]")


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether what comes at `end` is denied, supposed, another's, or part of what was asked for."""
    sentence = _sentence_before(text, start, end)
    if sentence.isascii() and _CUES.isdisjoint(_WORD.findall(sentence.lower())):
        return False  # most sentences, at a fraction of the time
    return any(pattern.search(sentence) for pattern in _BEFORE)


def is_hidden(text: str, start: int, end: int) -> bool:
    """Whether what comes at `end` is not shown: a comment, a phantom, a definition, struck out."""
    before = text[max(start, end - NEAR_CHARS) : end]
    return any(word in before for word in _HIDERS) and _HIDING.search(before) is not None


def is_taken_back(text: str, start: int, end: int) -> bool:
    """Whether what stands right after an answer says that it is none, or thinks again."""
    if start >= end:
        return False
    near = min(end, start + NEAR_CHARS)
    if _TAKING_BACK.match(text, start, end) is not None:
        return True
    return _SECOND_THOUGHT.search(text, start, near) is not None


def alternatives(text: str, start: int, answer: tuple[int, int], end: int) -> tuple[str, ...]:
    """Return the values that may be meant as well: the 6 of `6 or 5`, `5 … so 6 is the answer`."""
    near = max(start, answer[0] - 60)
    before = _EITHER.search(text, near, answer[0]) if " or" in text[near : answer[0]] else None
    after = _OTHERWISE.match(text, answer[1], end)
    near = min(end, answer[1] + NEAR_CHARS)
    named = (
        _NAMED_LATER.search(text, answer[1], near) if "answer" in text[answer[1] : near] else None
    )
    found = [match[1].rstrip(".") for match in (before, after, named) if match]
    return tuple(value for value in found if _VALUE.search(value) and "boxed" not in value)


def _sentence_before(text: str, start: int, end: int) -> str:
    near = max(start, end - NEAR_CHARS)
    begin = max(near, *(text.rfind(mark, near, end) + 1 for mark in _BREAKS))
    if text.endswith("e.g.", near, begin):  # no end of a sentence
        begin -= 4
    return text[begin:end].rstrip("$\\([ *`")
