"""A limit on the CPU time of a piece of Python code, enforced from inside by a signal.

CPU time and never wall time: what a busy machine takes away must not change a verdict. What is
covered: code that comes back to the interpreter now and then. What is not: one call into C that
does not return, such as a power of big integers; `services.math.workers.pool` kills such a worker.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import FrameType, TracebackType

REPEAT_SECONDS: Final = 0.02
"""CPU time after which the error is raised again, should anything have swallowed it."""


class BudgetSpentError(BaseException):
    """The CPU time is used up. No `Exception`, so that code which catches those lets it pass."""


class Budget:
    """The CPU time of one process. For its main thread only; limits do not nest."""

    def __init__(self) -> None:
        self.spent = False
        """Whether the last limit was reached, even if the code under it caught the error."""
        self._armed = False

    def install(self) -> None:
        """Take over SIGPROF."""
        signal.signal(signal.SIGPROF, self._ring)

    def limit(self, seconds: float) -> _Limit:
        """Raise `BudgetSpentError` in the body of `with` once it used `seconds` of CPU time.

        It is raised again and again until the body is left, and never after that.
        """
        return _Limit(self, seconds)

    def arm(self, seconds: float) -> None:
        """Begin to count."""
        self.spent = False
        self._armed = True
        signal.setitimer(signal.ITIMER_PROF, seconds, REPEAT_SECONDS)

    def disarm(self) -> None:
        """Stop counting; a signal that is under way is ignored."""
        self._armed = False
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _ring(self, _: int, frame: FrameType | None) -> None:
        # An error raised inside of `__exit__` would leave the clock running.
        if self._armed and (frame is None or frame.f_code not in _UNTOUCHABLE):
            self.spent = True
            raise BudgetSpentError


class _Limit:
    """The context of `Budget.limit`."""

    __slots__ = ("_budget", "_seconds")

    def __init__(self, budget: Budget, seconds: float) -> None:
        self._budget = budget
        self._seconds = seconds

    def __enter__(self) -> None:
        self._budget.arm(self._seconds)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._budget.disarm()


_UNTOUCHABLE: Final = frozenset(
    function.__code__ for function in (_Limit.__enter__, _Limit.__exit__, Budget.arm, Budget.disarm)
)
