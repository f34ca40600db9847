"""What kinds of tests have in common: cases judged in turn, values compared, outputs taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sandbox.jobs import Status
from sandbox.runner import values
from services.code.equal import Rules, equal
from services.code.session import TimeUpError
from services.code.tally import RESULT_OF, Result, Test

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from sandbox.jobs import Observation

Finding = tuple[Result, str]
"""How a test ended, and why it did not pass."""
SeenT = TypeVar("SeenT")


class Case(Protocol):
    """What every case has."""

    @property
    def weight(self) -> float:
        """How much it counts."""
        ...

    @property
    def visible(self) -> bool:
        """Whether the model was shown it."""
        ...


CaseT = TypeVar("CaseT", bound=Case)


async def judge_in_turn(
    observed: AsyncGenerator[SeenT, None],
    cases: Sequence[CaseT],
    judge: Callable[[CaseT, SeenT], Awaitable[Test]],
    *,
    stops: bool,
) -> list[Test]:
    """Judge what comes, case by case; `stops` ends it with the first that does not pass."""
    found: list[Test] = []
    try:
        async for seen in observed:
            found.append(await judge(cases[len(found)], seen))
            if stops and found[-1].result != "passed":
                break
    except TimeUpError:
        case = cases[len(found)]
        why = "the time of all tests together is used up"
        found.append(Test("timeout", why, case.weight, case.visible))
    rest = cases[len(found) :]
    return [*found, *(Test("not_run", "", case.weight, case.visible) for case in rest)]


def judge_value(expected: object, returned: Any, rules: Rules) -> Finding:  # noqa: ANN401
    """Compare typed JSON with what is expected."""
    try:
        value = values.decode(returned)
    except values.ValueRefused as error:
        return "protocol_error", str(error)
    if equal(expected, value, rules):
        return "passed", ""
    return "wrong", "another value was returned"


def judge_ending(seen: Observation) -> Finding:
    """Tell whether a run has ended well, with a whole output that may be looked at."""
    if seen.status is not Status.EXITED:
        return RESULT_OF[seen.status], seen.detail.removesuffix(".")
    if seen.exit_code == 0 and not seen.stdout_truncated:
        return "passed", ""
    return RESULT_OF[seen.status], f"it ended with exit code {seen.exit_code}"
