"""Embedded services: ready before they are used, gone afterwards, and a clear word if they fail."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from rewarden.errors import ConfigurationError
from trainer.embedded import embedded_services

if TYPE_CHECKING:
    from pathlib import Path

STAND_IN = """
import os, socket, sys, threading
from http.server import BaseHTTPRequestHandler, HTTPServer

class Ready(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
server = HTTPServer(("127.0.0.1", 0), Ready, bind_and_activate=False)
server.socket = socket.socket(fileno=int(sys.argv[sys.argv.index("--fd") + 1]))
server.serve_forever()
"""


def test_the_child_serves_and_ends_with_the_block(tmp_path: Path) -> None:
    with embedded_services(tmp_path / "log", [sys.executable, "-c", STAND_IN]) as url:
        assert httpx.get(url, trust_env=False).is_success
    with pytest.raises(httpx.ConnectError):
        httpx.get(url, trust_env=False)


def test_a_child_that_fails_is_quoted(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such module: sympy')"]
    with (
        pytest.raises(ConfigurationError, match=r"exit code 1 \(no such module: sympy\)"),
        embedded_services(tmp_path / "log", command),
    ):
        pass


def test_a_child_that_is_killed_is_named_with_its_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    dying = STAND_IN.replace(
        "self.end_headers()", "self.end_headers(); self.wfile.flush(); os._exit(7)"
    )
    with embedded_services(tmp_path / "log", [sys.executable, "-c", dying]):
        time.sleep(1)
    assert f"exit code 7): see {tmp_path / 'log'}" in caplog.text
