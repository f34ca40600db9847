"""A judge that does as the text tells it: it hangs, it eats memory, it ends its process."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any, NamedTuple, NoReturn

from rewarden.contracts import Outcome
from services.math.workers.budget import BudgetSpentError

MADE_IN = os.getpid()


class Judgement(NamedTuple):
    outcome: Outcome
    reason: str
    details: dict[str, Any]
    cached: bool


class Puppet:
    """`judge` carries out the first word of the text; a word it does not know, it echoes."""

    def judge(self, spec: object, text: str) -> Sequence[Any]:
        word, _, rest = text.partition(" ")
        order = getattr(self, f"_{word}", None) if word.isidentifier() else None
        return order(rest) if order else self._echo(text, spec)

    def _echo(self, text: str, spec: object = None) -> Judgement:
        details = {"text": text, "spec": spec, "pid": os.getpid(), "nursery": os.getppid()}
        return Judgement(Outcome.CORRECT, "As told.", details, cached=False)

    def _spend(self, rest: str) -> Judgement:
        """Use CPU time in Python."""
        ends = time.process_time() + float(rest)
        while time.process_time() < ends:
            pass
        return self._echo(rest)

    def _hang(self, _: str) -> NoReturn:
        while True:
            pass

    def _swallow(self, rest: str) -> Judgement:
        """Hang, and let no `Exception` through; with a number, so many of any kind."""
        errors = BaseException if rest else Exception
        for _turn in range(int(rest or 1)):
            with suppress(errors):
                self._hang("")
        self._hang("")

    def _details(self, _: str) -> Judgement:
        """Catch the end of the budget, and tell of it."""
        try:
            self._hang("")
        except BudgetSpentError:
            return Judgement(Outcome.UNDECIDED, "By myself.", {"tier": "x"}, cached=False)

    def _gloss(self, _: str) -> Judgement:
        """Catch the end of the budget, and decide all the same."""
        with suppress(BaseException):
            self._hang("")
        return self._echo("decided")

    def _break(self, _: str) -> NoReturn:
        """Catch the end of the budget, and raise something else."""
        try:
            self._hang("")
        except BudgetSpentError:
            raise ValueError from None

    def _c(self, _: str) -> Judgement:
        """Hang in C, where no signal is looked at."""
        return self._echo(str(sum(repeat(0))))

    def _eat(self, _: str) -> NoReturn:
        eaten = []
        while True:
            eaten.append(bytes(16 << 20))

    def _keep(self, rest: str) -> Judgement:
        """Eat so many MB for good."""
        self.kept = bytes(int(rest) << 20)
        return self._echo(rest)

    def _exit(self, rest: str) -> NoReturn:
        os._exit(int(rest or 0))

    def _sysexit(self, _: str) -> NoReturn:
        sys.exit("told to")

    def _abort(self, _: str) -> NoReturn:
        os.abort()

    def _stop(self, _: str) -> Judgement:
        os.kill(os.getpid(), signal.SIGSTOP)
        return self._echo("went on")

    def _fall(self, rest: str) -> Judgement:
        """End the process at the first try, which leaves a file behind."""
        try:
            os.close(os.open(rest, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return self._echo("stood")
        os._exit(1)

    def _deaf(self, _: str) -> NoReturn:
        """Close every file, and hang in C."""
        os.closerange(0, 100)
        self._c("")
        os._exit(0)

    def _raise(self, rest: str) -> NoReturn:
        raise ValueError(rest)

    def _deep(self, _: str) -> Judgement:
        return self._deep("")

    def _wrong(self, _: str) -> tuple[str, ...]:
        """Return what is no judgement."""
        return ("maybe", "", "", "")

    def _odd(self, _: str) -> Judgement:
        """Return what JSON cannot write."""
        return Judgement(Outcome.CORRECT, "", {"odd": object()}, cached=False)


class Broken:
    def __init__(self) -> None:
        raise RuntimeError("told to")
