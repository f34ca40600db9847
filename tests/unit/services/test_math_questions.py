from __future__ import annotations

from services.math.workers.questions import MAX_JOB_BYTES, Line


async def test_the_line_is_shared_out_evenly() -> None:
    line = Line()
    batch = line.join([({}, "")] * 100)
    shares = []
    while share := line.take(sharers=4):
        shares.append(len(share))
    assert shares[:3] == [25, 19, 14]
    assert sum(shares) == 100
    batch.done.cancel()


async def test_the_line_puts_back_in_order_and_takes_suspects_alone() -> None:
    line = Line()
    batch = line.join([({}, str(i)) for i in range(6)])
    taken = line.take(sharers=1)
    taken[2].losses = 1
    line.put_back(taken[3:])
    line.put_back(taken[:3])
    shares = [[q.place for q in line.take(sharers=1)] for _ in range(4)]
    assert shares == [[0, 1], [2], [3, 4, 5], []]
    line.put_back(taken)
    batch.done.cancel()
    assert line.take(sharers=1) == []


async def test_a_job_is_bounded_in_bytes() -> None:
    line = Line()
    batch = line.join([({}, "x" * (MAX_JOB_BYTES // 2))] * 10)
    assert len(line.take(sharers=1)) == 2
    batch.done.cancel()
