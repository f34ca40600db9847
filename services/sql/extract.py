"""Find the SQL of a completion. Reads text once, runs nothing and understands no SQL.

What is looked for, in this order: the last fenced block that is marked as SQL, closed or not; the
last `<answer>` or `<sql>` element; the last fenced block of no language that begins like a query;
the completion itself where it begins like one. What a model thinks (`<think>`) is left out. Two
answers that are both marked as final and differ are a conflict, and no answer.

What is not found: SQL in the middle of a sentence.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MAX_COMPLETION_CHARS: Final = 1_000_000

_ANY_CASE: Final = re.IGNORECASE | re.ASCII
"""With re.ASCII, since other letters may have a small form of another length, or be one of ASCII."""
_THOUGHT: Final = re.compile(r"<(think|thinking|reasoning)>", _ANY_CASE)
_THOUGHT_END: Final = re.compile(r"</(think|thinking|reasoning)>", _ANY_CASE)
_FENCE: Final = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*$", re.MULTILINE)
_INLINE_FENCE: Final = re.compile(r"```[ \t]*(\w*)[ \t]+([^`\n]+)```")
_TAG: Final = re.compile(r"<(answer|sql)>", _ANY_CASE)
_TAG_END: Final = re.compile(r"</(answer|sql)>", _ANY_CASE)
_SQL_LANGUAGES: Final = frozenset(
    [
        "sql",
        "sqlite",
        "sqlite3",
        "duckdb",
        "postgres",
        "postgresql",
        "pgsql",
        "psql",
        "mysql",
        "tsql",
        "plsql",
    ]
)
_STARTS: Final = re.compile(
    r"[\s(;]*(?:--[^\n]*\n\s*|/\*.{0,2000}?\*/\s*)*"
    r"(select|with|values|from|table|insert|update|delete|replace|create|drop|alter|attach|detach|"
    r"pragma|vacuum|analyze|explain|copy|set|begin|commit|rollback|truncate|grant|revoke|do|call|"
    r"install|load|export|import|merge|describe|show|summarize|pivot|reindex|savepoint|release|"
    r"lock|listen|notify|prepare|execute|declare|reset|use|checkpoint|end)\b",
    re.IGNORECASE | re.DOTALL,
)


class Found(NamedTuple):
    """The SQL, and how it was found."""

    sql: str
    strategy: str
    """`fence`, `tag`, `plain_fence` or `bare`."""
    is_closed: bool = True
    """Whether its fence or tag was closed; it is not where a generation was cut off."""
    rival: str | None = None
    """Another final answer that says something else."""


class _Block(NamedTuple):
    language: str
    body: str
    is_closed: bool


def extract(completion: str) -> Found | None:
    """Return the SQL that the completion ends on, or None if there is none."""
    said = _without_thoughts(completion)
    blocks = _blocks(said)
    tagged = _tagged(said)
    fenced = [block for block in blocks if block.language in _SQL_LANGUAGES and _says(block.body)]
    if fenced:
        last = fenced[-1]
        return Found(_clean(last.body), "fence", last.is_closed, _rival(last.body, tagged))
    if tagged is not None and _says(tagged.body):
        return Found(_clean(_unfenced(tagged.body)), "tag", tagged.is_closed)
    plain = [block for block in blocks if not block.language and _STARTS.match(block.body)]
    if plain:
        return Found(_clean(plain[-1].body), "plain_fence", plain[-1].is_closed)
    bare = _unquoted(said.strip())
    return Found(_clean(bare), "bare") if _STARTS.match(bare) else None


def _without_thoughts(text: str) -> str:
    """Leave out thoughts. One that is not closed swallows the rest: no answer was given."""
    kept: list[str] = []
    at = 0
    while opened := _THOUGHT.search(text, at):
        closed = _closing(_THOUGHT_END, opened, text)
        kept.append(text[at : opened.start()])
        if closed is None:
            return "".join(kept)
        at = closed.end()
    rest = text[at:]
    # A chat template may hold the opening tag, so that the completion has only the closing one.
    closings = list(_THOUGHT_END.finditer(rest))
    return rest[closings[-1].end() :] if closings else "".join([*kept, rest])


def _closing(end: re.Pattern[str], opened: re.Match[str], text: str) -> re.Match[str] | None:
    """Return the tag that closes another one."""
    tags = end.finditer(text, opened.end())
    return next((tag for tag in tags if tag[1].lower() == opened[1].lower()), None)


def _blocks(text: str) -> list[_Block]:
    """Return the fenced blocks, in order; the last one may lack its end."""
    blocks = [_Block(m[1].lower(), m[2], is_closed=True) for m in _INLINE_FENCE.finditer(text)]
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            if "```" not in text[fence.end(1) : fence.end()]:
                opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2]:
            blocks.append(_Block(opened[2].lower(), text[opened.end() : fence.start()], True))
            opened = None
        elif fence[2]:  # a new block begins although the last one was never closed
            blocks.append(_Block(opened[2].lower(), text[opened.end() : fence.start()], False))
            opened = fence
    if opened is not None:
        body = text[opened.end() :]
        cut = body.find("```")  # a fence at the end of a line of code
        is_closed = cut >= 0
        blocks.append(_Block(opened[2].lower(), body[:cut] if is_closed else body, is_closed))
    return blocks


def _tagged(text: str) -> _Block | None:
    last = next(reversed(list(_TAG.finditer(text))), None)
    if last is None:
        return None
    closed = _closing(_TAG_END, last, text)
    body = text[last.end() :] if closed is None else text[last.end() : closed.start()]
    return _Block("", body, closed is not None)


def _rival(sql: str, tagged: _Block | None) -> str | None:
    """Return what an answer tag says, where that is a query and another one."""
    if tagged is None:
        return None
    other = _clean(_unfenced(tagged.body))
    if not _STARTS.match(other) or " ".join(other.split()) == " ".join(_clean(sql).split()):
        return None
    return other


def _unfenced(text: str) -> str:
    blocks = _blocks(text)
    return blocks[-1].body if blocks else text


def _unquoted(text: str) -> str:
    """Take off the backticks around the whole."""
    is_quoted = len(text) > 1 and text[0] == text[-1] == "`" and "`" not in text[1:-1]
    return text[1:-1].strip() if is_quoted else text


def _says(body: str) -> bool:
    return bool(_clean(body))


def _clean(sql: str) -> str:
    """Strip what surrounds a statement; comments and what is between statements stay."""
    return sql.replace("\r\n", "\n").strip().lstrip("\ufeff").strip()
