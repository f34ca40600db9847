r"""The templates, a function each: what does this text lack? An empty answer means nothing.

Each reads the text a fixed number of times from end to end, so time is linear in its length.

`thinking_boxed` accepts exactly what `<thinking>.*?</thinking>\s*.*\\boxed\{.*?\}` finds with a dot
that matches everything, and so inherits what that leaves open: the text may stand anywhere, blocks
may repeat, the box may be empty, and its braces need not balance. `think_answer` is strict: both
blocks once, in order, with only blanks around them, and an answer that is not blank.
"""

from __future__ import annotations

import json
import re
from typing import Final, NoReturn

MAX_JSON_CHARS: Final = 1_000_000
_FENCE = "```"
_JSON_FENCE = re.compile(r"```[ \t]*json\b", re.IGNORECASE)


def missing_in_thinking_boxed(text: str) -> str:
    """Look for a thinking block and then, anywhere after it, a box that is closed."""
    place = 0
    for mark, what in (
        ("<thinking>", "no opening <thinking>"),
        ("</thinking>", "no closing </thinking>"),
        (r"\boxed{", r"no \boxed{} after its thinking"),
        ("}", r"a \boxed{ that is never closed"),
    ):
        found = text.find(mark, place)
        if found < 0:
            return f"The completion has {what}."
        place = found + len(mark)
    return ""


def missing_in_think_answer(text: str) -> str:
    """Look for one think block and one answer block, and for nothing else."""
    text = text.strip()
    for tag in ("<think>", "</think>", "<answer>", "</answer>"):
        count = text.count(tag)
        if count != 1:
            return f"The completion has {f'{count} times' if count else 'no'} {tag}."
    before, _, rest = text.partition("<think>")
    _, _, rest = rest.partition("</think>")
    between, _, rest = rest.partition("<answer>")
    answer, closing, after = rest.partition("</answer>")
    if not closing or before or between.strip() or after:
        return "The completion is not a think block followed by an answer block alone."
    return "" if answer.strip() else "The answer block is empty."


def missing_in_json(text: str) -> str:
    """Look for one JSON value: the whole text, its last block tagged json, or its last block."""
    if len(text) > MAX_JSON_CHARS:
        return f"The completion is longer than {MAX_JSON_CHARS:,} characters."
    problem = _json_problem(text)
    block = _fenced_block(text) if problem else None
    return problem if block is None else _json_problem(block)


def _json_problem(text: str) -> str:
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse)
    except RecursionError:
        return "The JSON is nested too deeply."
    except ValueError as error:
        return f"The completion is not JSON: {error}."
    return ""


def _refuse(constant: str) -> NoReturn:
    msg = f"{constant} is not JSON"
    raise ValueError(msg)


def _fenced_block(text: str) -> str | None:
    """Return what stands in the last fences tagged json, or else in the last ones of any kind.

    A fence within a JSON string ends the block.
    """
    tagged = list(_JSON_FENCE.finditer(text))
    if tagged:
        begin = tagged[-1].end()
        close = text.find(_FENCE, begin)
        return text[begin:close] if close >= 0 else None
    close = text.rfind(_FENCE)
    opening = text.rfind(_FENCE, 0, close) if close > 0 else -1
    if opening < 0:
        return None
    first_line, line_break, content = text[opening + len(_FENCE) : close].partition("\n")
    return content if line_break else first_line
