"""Batches take turns, and nobody who gives up takes a place along."""

from __future__ import annotations

import asyncio

from hypothesis import given, strategies as st

from services.code.turns import Turns


async def test_a_small_batch_does_not_wait_for_the_whole_of_a_large_one() -> None:
    turns, done = Turns(2), []

    async def work(batch: str) -> None:
        async with turns.place(batch):
            await asyncio.sleep(0)
            done.append(batch)

    await asyncio.gather(*(work("large") for _ in range(20)), *(work("small") for _ in range(3)))
    assert len(done) == 23
    assert [place for place, batch in enumerate(done) if batch == "small"][-1] < 10


@given(
    places=st.integers(1, 3),
    plan=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.booleans()), max_size=12),
)
def test_every_place_comes_back_whoever_gives_up(
    places: int, plan: list[tuple[str, int, bool]]
) -> None:
    async def everyone() -> int:
        turns, inside, most = Turns(places), 0, 0

        async def work(batch: str, rounds: int) -> None:
            nonlocal inside, most
            async with turns.place(batch):
                inside += 1
                most = max(most, inside)
                try:
                    for _ in range(rounds):
                        await asyncio.sleep(0)
                finally:
                    inside -= 1

        tasks = [asyncio.ensure_future(work(batch, rounds)) for batch, rounds, _ in plan]
        await asyncio.sleep(0)
        for task, (_, rounds, gives_up) in zip(tasks, plan, strict=True):
            if gives_up:
                for _ in range(rounds % 3):
                    await asyncio.sleep(0)
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert most <= places
        # Every place is free again.
        await asyncio.wait_for(asyncio.gather(*(work("last", 1) for _ in range(places))), 5)
        return most

    asyncio.run(everyone())
