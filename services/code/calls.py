"""Calls of functions of one program: many in a process, and none of them paying for another.

Calls share a process as long as all goes well. When one raises, or ends the process, or the limits
of the process are used up before the last call is answered, those that were not answered get a
process each. So each has the whole limits to itself before it is a `timeout`. A call that was
answered is never made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sandbox.jobs import Call, Observation, Run, Status
from services.code.session import Session, TimeUpError

if TYPE_CHECKING:
    from sandbox.jobs import Returned

CALLS_A_RUN: Final = 50
_USED_UP: Final = frozenset({Status.TIMEOUT, Status.MEMORY_LIMIT, Status.OUTPUT_LIMIT})


class Seen(NamedTuple):
    """What became of one call."""

    returned: Returned | None
    """None if it was not answered, and then `status` says why."""
    status: Status
    observation: Observation | None = None

    @property
    def value(self) -> Any:  # noqa: ANN401 - typed JSON
        """The typed JSON that came back."""
        return self.returned.value if self.returned else None


NOT_MADE: Final = Seen(None, Status.NOT_RUN)
IsWrong = Callable[[int, Seen], bool]
"""Whether what became of a call decides that no more calls are needed."""


class Calls:
    """The calls to be made of one program, and what became of those that were."""

    def __init__(self, session: Session, calls: Sequence[Call], is_wrong: IsWrong) -> None:
        self._session = session
        self._calls = calls
        self._is_wrong = is_wrong
        self._is_over = False
        self._left: list[int] = []
        self.seen: list[Seen] = [NOT_MADE] * len(calls)

    async def make(self, ends_process: Callable[[int], bool]) -> list[Seen]:
        """Make the calls; after those that are expected to end the process, another one begins."""
        try:
            await self._run(_groups(len(self._calls), ends_process), is_last=False)
            while self._left and not self._is_over:
                await self._run([[number] for number in self._left], is_last=True)
        except TimeUpError:
            late = Seen(None, Status.TIMEOUT)
            self.seen = [late if one is NOT_MADE else one for one in self.seen]
        return self.seen

    async def _run(self, groups: list[list[int]], *, is_last: bool) -> None:
        self._left = []
        runs = [Run(calls=tuple(self._calls[n] for n in group)) for group in groups]
        async with aclosing(self._session.observe(runs)) as observations:
            at = iter(groups)
            async for observation in observations:
                self._take(next(at), observation, is_last=is_last)
                if self._is_over:
                    return

    def _take(self, group: list[int], observation: Observation, *, is_last: bool) -> None:
        status, answers = observation.status, observation.returned[: len(group)]
        raised = bool(answers) and answers[-1].exception is not None
        if answers and len(answers) == len(group) and not raised and status is not Status.EXITED:
            answers = answers[:-1]  # it went out of bounds, or ended the process, after all
        for number, answer in zip(group, answers, strict=False):
            self._note(number, Seen(answer, status, observation))
        rest = group[len(answers) :]
        if not rest or self._is_over:
            return
        has_a_share = bool(answers) and not is_last and status in _USED_UP
        if not raised and not has_a_share:
            fault = Status.PROTOCOL_ERROR if status is Status.EXITED else status
            self._note(rest[0], Seen(None, fault, observation))
            rest = rest[1:]
        self._left.extend(rest)

    def _note(self, number: int, seen: Seen) -> None:
        if not self._is_over:
            self.seen[number] = seen
            self._is_over = self._is_wrong(number, seen)


def _groups(count: int, ends_process: Callable[[int], bool]) -> list[list[int]]:
    groups: list[list[int]] = [[]]
    for number in range(count):
        if len(groups[-1]) >= CALLS_A_RUN or (groups[-1] and ends_process(groups[-1][-1])):
            groups.append([])
        groups[-1].append(number)
    return groups
