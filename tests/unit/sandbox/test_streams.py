"""The supervisor's ends of a run's streams."""

from __future__ import annotations

import os
import socket

import pytest

from sandbox.runner.streams import BabbleError, Calls, Feed, Output


def test_input_is_fed_as_it_is_read() -> None:
    reader, writer = os.pipe()
    content = os.urandom(300_000)
    feed, read = Feed(writer, content), bytearray()
    while feed.react():
        read += os.read(reader, 65_536)
    feed.close()
    while data := os.read(reader, 65_536):
        read += data
    os.close(reader)
    assert bytes(read) == content


def test_a_program_that_does_not_read_on_is_no_fault() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    feed = Feed(writer, b"x" * 100)
    assert not feed.react()
    feed.close()


def test_no_more_output_is_kept_than_there_may_be() -> None:
    reader, writer = os.pipe()
    output = Output(reader, limit_bytes=5)
    os.write(writer, b"12345")
    assert output.react()
    assert not output.is_truncated
    os.write(writer, b"6")
    output.react()
    assert (bytes(output.content), output.is_truncated) == (b"12345", True)
    os.close(writer)
    output.close()


def test_output_ends_when_its_writers_do() -> None:
    reader, writer = os.pipe()
    output = Output(reader, limit_bytes=100)
    assert output.react()  # nothing there yet
    os.write(writer, b"end")
    os.close(writer)
    output.read_to_the_end()
    assert bytes(output.content) == b"end"
    output.close()


def calls() -> tuple[Calls, socket.socket]:
    ours, theirs = socket.socketpair()
    theirs.settimeout(5)
    return Calls(ours), theirs


def test_a_call_is_answered_by_a_line() -> None:
    ours, theirs = calls()
    ours.put(b"call\n")
    assert theirs.recv(100) == b"call\n"
    theirs.send(b"ans")
    assert ours.react()
    assert ours.answers == []
    theirs.send(b"wer\n")
    assert ours.react()
    assert ours.answers == [b"answer"]
    ours.end()
    assert theirs.recv(1) == b""
    theirs.close()
    assert not ours.react()
    ours.close()


def test_a_large_call_goes_out_when_there_is_room() -> None:
    ours, theirs = calls()
    line = b"x" * 2_000_000 + b"\n"
    ours.put(line)
    read = 0
    while read < len(line):
        read += len(theirs.recv(1 << 20))
        ours.react()
    theirs.close()
    ours.close()


@pytest.mark.parametrize("said", [b"unasked\n", b"1\n2\n", b"x" * 3_000_000])
def test_answering_what_was_not_asked_is_babble(said: bytes) -> None:
    ours, theirs = calls()
    theirs.setblocking(False)
    if said != b"unasked\n":
        ours.put(b"call\n")
    with pytest.raises(BabbleError):  # noqa: PT012  # more than one read may be needed
        while said:
            said = said[theirs.send(said) :]
            ours.react()
        ours.react()
    theirs.close()
    ours.close()
