"""A bounded memory of earlier results, for the repeats that every group of samples brings."""

from __future__ import annotations

from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Memo(Generic[KeyT, ValueT]):
    """Keeps up to `capacity` entries and forgets all of them when it is full.

    Several threads may share one: each method is a single step on the dictionary, and the worst
    that a race costs is a result computed twice.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: dict[KeyT, ValueT] = {}

    def get(self, key: KeyT) -> ValueT | None:
        """Return what was put under `key`, or None."""
        return self._entries.get(key)

    def put(self, key: KeyT, value: ValueT) -> None:
        """Keep `value` under `key`."""
        if len(self._entries) >= self._capacity:
            self._entries = {}
        self._entries[key] = value

    def __len__(self) -> int:
        return len(self._entries)
