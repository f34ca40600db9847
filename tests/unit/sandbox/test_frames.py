"""What crosses the socket to a supervisor."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from sandbox.runner import frames
from sandbox.runner.frames import FrameError, Reader

FRAMES = st.lists(st.tuples(st.text(min_size=1), st.integers(), st.binary()), max_size=5)


@given(FRAMES, st.integers(min_value=1, max_value=9))
def test_frames_come_out_as_they_went_in_whatever_the_pieces(
    sent: list[tuple[str, int, bytes]], size: int
) -> None:
    stream = b"".join(frames.pack(kind, body, number=number) for kind, number, body in sent)
    reader, got = Reader(), []
    for at in range(0, len(stream), size):
        reader.feed(stream[at : at + size])
        while frame := reader.next():
            got.append((frame[0]["kind"], frame[0]["number"], frame[1]))
    assert got == sent


def test_a_frame_beyond_all_bounds_is_refused_before_it_is_read() -> None:
    reader = Reader()
    reader.feed(frames.LENGTHS.pack(10, frames.MAX_BODY_BYTES + 1))
    with pytest.raises(FrameError):
        reader.next()


@pytest.mark.parametrize("header", [b"{", b"[]", b"{}", b'{"kind": 1}', b"\xff"])
def test_a_header_that_is_none_is_refused(header: bytes) -> None:
    with pytest.raises(FrameError):
        frames.parse(header, b"")
