r"""Tell which part of a completion is said to the reader: not thoughts, not hidden comments.

Tags are read as people and models write them: in any case, with blanks, with attributes. Every
offset stays what it was in the completion. What else can hide text (`\phantom`, CSS, a TeX comment)
is not known here.
"""

from __future__ import annotations

import re
from typing import Final

COMMENT_OPENING: Final = "<!--"
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_THINK_TAG = re.compile(
    r"[<\u25c1\[]\s{0,9}(/?)\s{0,9}(?:seed:)?"
    r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|scratchpad)(?:\s[^<>]{0,80})?[>\u25b7\]]"
    r"|<\|(?:begin|(end))_of_thought\|>|<\|channel\|>(?:analysis|(final))<\|message\|>",
    re.IGNORECASE,
)
_TOKENS_CHARS: Final = 200
THOUGHT_OPENINGS: Final = ("<", "\u25c1", "[THINK", "[think", "[Think")
"""What any tag that is looked for here begins with."""
_ANSWER_TAG = re.compile(r"<\s{0,9}(/?)\s{0,9}answer(?:\s[^<>]{0,80})?>", re.IGNORECASE)

_SPECIAL_TOKENS = re.compile(
    r"(?:\s*(?:<\|[\w ]{1,30}\|>|<\uff5c[\w \u2581]{1,30}\uff5c>|</?s>|<(?:eos|end_of_turn|pad)>))+\s*\Z"
)


def before_special_tokens(text: str, start: int, end: int) -> int:
    """Return where the text ends that is followed by nothing but a tokenizer's own marks."""
    match = _SPECIAL_TOKENS.search(text, max(start, end - _TOKENS_CHARS), end)
    return match.start() if match else end


def without_comments(text: str) -> str:
    """Put blanks in the place of each closed HTML comment; an unclosed one stays."""
    if COMMENT_OPENING not in text:
        return text
    last = text.rfind("-->")
    if last < 0:
        return text
    shown = _COMMENT.sub(lambda match: " " * len(match.group()), text[: last + 3])
    return shown + text[last + 3 :]


def said(text: str) -> tuple[int, int]:
    """Return the part of `text` after its last closed think block and before an unclosed one."""
    start, end = 0, len(text)
    for tag in _THINK_TAG.finditer(text):
        if tag[1] or tag[2] or tag[3]:
            start, end = tag.end(), len(text)
        elif end == len(text):
            end = tag.start()
    return start, end


def last_answer_block(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return what stands in the last closed `<answer>` block."""
    opened = block = None
    for tag in _ANSWER_TAG.finditer(text, start, end):
        if not tag[1]:
            opened = tag.end()
        elif opened is not None:
            block, opened = (opened, tag.start()), None
    return block
