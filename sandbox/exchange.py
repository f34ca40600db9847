"""Calls into a program, seen from outside: a line out, a line back, and nothing taken on trust.

What comes back was written by an untrusted process. A line counts only if it carries the nonce of
the call that is open, and typed JSON within its bounds; anything else is a fault of the program's,
told as `protocol_error`, and no further call is made.
"""

from __future__ import annotations

import json
import math
import secrets
from typing import TYPE_CHECKING, Any, Final

from sandbox.jobs import MAX_STREAM_BYTES, MAX_VALUE_BYTES, Returned
from sandbox.runner import values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.jobs import Call

MAX_LINE_BYTES: Final = MAX_VALUE_BYTES + 4_096
MAX_RETURNED_BYTES: Final = 2 * MAX_STREAM_BYTES
"""Of all answers in one run: as much as standard output and error may be together."""
MAX_MESSAGE: Final = 1_000


class Exchange:
    """The calls of one run: which is open, and what was answered so far."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._calls = calls
        self._nonce = ""
        self._size = 0
        self.returned: list[Returned] = []
        self.fault = ""
        """Why the program's answers cannot be used, in words; empty if they can."""

    @property
    def is_over(self) -> bool:
        """Whether no further call is to be made."""
        raised = bool(self.returned) and self.returned[-1].exception is not None
        return bool(self.fault) or raised or len(self.returned) == len(self._calls)

    def next_line(self) -> bytes:
        """Return the line of the next call, with a nonce that nobody could know before."""
        call = self._calls[len(self.returned)]
        self._nonce = secrets.token_hex(16)
        said = {"nonce": self._nonce, **call.model_dump(mode="json")}
        try:
            return json.dumps(said, allow_nan=False).encode() + b"\n"
        except ValueError:
            return json.dumps(_tag_floats(said), allow_nan=False).encode() + b"\n"

    def take(self, line: bytes) -> None:
        """Take what was answered to the open call."""
        if self.is_over:
            self.fault = self.fault or "it answered more than it was asked"
            return
        self._size += len(line)
        if self._size > MAX_RETURNED_BYTES:
            self.fault = f"it answered with more than {MAX_RETURNED_BYTES} bytes in all"
            return
        try:
            self.returned.append(read_answer(line, self._nonce))
        except values.ValueRefused as error:
            self.fault = str(error)
        self._nonce = ""

    def ended(self) -> None:
        """Take note that the program has ended: an open call is not answered any more."""
        if not self.is_over:
            self.fault = "it ended without an answer"


def read_answer(line: bytes, nonce: str) -> Returned:
    """Read one line; `ValueRefused` if it is not an answer to the call with this nonce."""
    answer = _parse(line)
    if not nonce or answer.get("nonce") != nonce:
        raise values.ValueRefused("it answered without the nonce of the call")
    if "refused" in answer:
        raise values.ValueRefused(_text(answer["refused"]))
    if "exception" in answer:
        name = _text(answer["exception"])[: values.MAX_NAME]
        return Returned(exception=name, message=_text(answer.get("message", "")))
    if "value" not in answer:
        raise values.ValueRefused("it answered with neither a value nor an exception")
    values.decode(answer["value"])
    return Returned(value=answer["value"])


def _tag_floats(data: object) -> object:
    """Write floats that JSON has no word for as typed JSON; whoever made the call may not have."""
    if isinstance(data, float) and not math.isfinite(data):
        return values.encode(data)
    if isinstance(data, dict):
        return {key: _tag_floats(item) for key, item in data.items()}
    return [_tag_floats(item) for item in data] if isinstance(data, list) else data


def _parse(line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE_BYTES:
        raise values.ValueRefused(f"it answered with more than {MAX_LINE_BYTES} bytes")
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise values.ValueRefused("it answered with something that is not JSON") from error
    if not isinstance(answer, dict):
        raise values.ValueRefused("it answered with something that is not an object")
    return answer


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise values.ValueRefused("it answered with a name that is not text")
    return value[:MAX_MESSAGE].encode("utf-8", "replace").decode()
