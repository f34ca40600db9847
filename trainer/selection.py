"""The toy task for SQL: questions about one table, each answered by one query."""

from __future__ import annotations

import random
from itertools import product
from typing import Final, NamedTuple

_COLUMNS: Final = ("name", "age", "pay")
_CITIES: Final = ("Oslo", "Rome", "Bonn", "Lima")
_SIGNS: Final = {"over": ">", "under": "<", "from": ">=", "up to": "<="}
_NUMBERS: Final = range(20, 100, 10)


class Question(NamedTuple):
    """Which column is asked for, and of which rows."""

    column: str
    city: str
    bound: str
    number: int

    @property
    def prompt(self) -> str:
        """What the model is asked."""
        return f"{self.column} in {self.city}, pay {self.bound} {self.number}?"

    @property
    def query(self) -> str:
        """The gold query."""
        sign = _SIGNS[self.bound]
        rows = f"city='{self.city}' AND pay{sign}{self.number}"
        return f"SELECT {self.column} FROM emp WHERE {rows}"  # noqa: S608 - of constants


def draw_questions(seed: int) -> list[Question]:
    """Return every question there is, in an order of the seed."""
    questions = [Question(*parts) for parts in product(_COLUMNS, _CITIES, _SIGNS, _NUMBERS)]
    random.Random(seed).shuffle(questions)  # noqa: S311 - a data set, not a secret
    return questions
