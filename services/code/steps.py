"""Steps in the life of a program's objects: each list of them in a process of its own.

A step is a call, an attribute or an operator, and may speak of what earlier steps gave. What comes
back is data of an untrusted process, and is read as such. An exception is an answer like others and
ends nothing; a process that ends, or goes out of bounds, fails at the step that was not answered.
"""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sandbox.jobs import Call, Run, Status
from services.code.session import Executor, Session

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from sandbox.jobs import Observation, Returned
    from services.code.spec import CodeSpec

INSIDE: Final = Path(__file__).with_name("inside")
PROGRAM: Final = "solution.py"


class Step(NamedTuple):
    """One step; values are typed JSON, in which `reference(n)` is the result of step `n`."""

    kind: str
    target: Any
    """None for the program itself."""
    path: str
    args: list[Any] = []  # noqa: RUF012 - a default of a tuple; nobody changes it
    kwargs: dict[str, Any] = {}  # noqa: RUF012 - likewise


class Done(NamedTuple):
    """What became of one step: a value, an exception, or why there is neither."""

    value: Any = None
    """Typed JSON."""
    exception: str | None = None
    message: str = ""
    names: tuple[str, ...] = ()
    """The exception's class, and those that it is derived from."""
    args: tuple[Any, ...] = ()
    """Of the exception."""
    changed: dict[str, Any] = {}  # noqa: RUF012 - likewise
    """Arguments that were changed in place, by their place; typed JSON."""
    fault: Status | None = None


class Life(NamedTuple):
    """What became of a list of steps; ends with the first that was not answered."""

    done: list[Done]
    observation: Observation


def reference(number: int) -> dict[str, Any]:
    """Stand for the result of an earlier step."""
    return {"$": "opaque", "v": f"#{number}"}


@cache
def text_of(name: str) -> bytes:
    """Return a file that runs inside."""
    return (INSIDE / name).read_bytes()


def open_plain(executor: Executor, spec: CodeSpec, source: bytes) -> Session:
    """Begin with a program that is its own main file."""
    files = {name: content.encode("utf-8", "replace") for name, content in spec.files.items()}
    limits = spec.limits
    return Session(executor, spec.language, source, files, limits.of_a_run(), limits.total_seconds)


def open_session(executor: Executor, spec: CodeSpec, source: bytes) -> Session:
    """Begin with a program whose objects are used step by step."""
    files = {name: content.encode("utf-8", "replace") for name, content in spec.files.items()}
    return Session(
        executor,
        "python",
        text_of("driver.py"),
        files | {PROGRAM: source},
        spec.limits.of_a_run(),
        spec.limits.total_seconds,
        program=source,
    )


async def observe(session: Session, lives: Sequence[Sequence[Step]]) -> AsyncGenerator[Life, None]:
    """Have lists of steps done, and tell of each in order; leaving this ends them."""
    runs = [Run(calls=tuple(map(_call, steps))) for steps in lives]
    at = iter(lives)
    async with aclosing(session.observe(runs)) as observations:
        async for seen in observations:
            yield Life(_done(seen, len(next(at))), seen)


def _call(step: Step) -> Call:
    return Call(
        entry_point="step", args=(step.kind, step.target, step.path, step.args, step.kwargs)
    )


def _done(seen: Observation, count: int) -> list[Done]:
    returned = seen.returned[:count]
    if len(returned) == count and seen.status is not Status.EXITED:
        returned = returned[:-1]  # it went out of bounds after all
    found: list[Done] = []
    for answer in returned:
        found.append(_read(answer))
        if found[-1].fault:
            return found
    if len(found) < count:
        ended = seen.status is Status.EXITED
        found.append(Done(fault=Status.PROTOCOL_ERROR if ended else seen.status))
    return found


def _read(returned: Returned) -> Done:
    said, refused = returned.value, Done(fault=Status.PROTOCOL_ERROR)
    if returned.exception is not None or not isinstance(said, dict):
        return refused
    changed = said.get("changed", {})
    if not isinstance(changed, dict):
        return refused
    if "exception" not in said:
        return Done(said["value"], changed=changed) if "value" in said else refused
    names, args = said.get("names"), said.get("args")
    if not _are_texts(said["exception"], said.get("message"), *_listed(names)):
        return refused
    return Done(
        None,
        said["exception"],
        said["message"],
        tuple(_listed(names)),
        tuple(_listed(args)),
        changed,
    )


def _listed(data: Any) -> list[Any]:  # noqa: ANN401 - typed JSON
    return data if isinstance(data, list) else []


def _are_texts(*items: Any) -> bool:  # noqa: ANN401 - typed JSON
    return all(isinstance(item, str) for item in items)
