from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from sandbox.__main__ import main
from sandbox.choice import DRIVERS
from sandbox.settings import Settings


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback_needs_no_keys(host: str) -> None:
    assert Settings(host=host).api_keys == frozenset()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org"])
def test_beyond_loopback_keys_are_needed_or_waived(host: str) -> None:
    with pytest.raises(ValidationError, match="REWARDEN_SANDBOX_API_KEYS"):
        Settings(host=host)
    assert Settings(host=host, allow_unauthenticated=True).host == host
    assert Settings(host=host, api_keys=frozenset({"k"})).host == host
    assert Settings(host=host, uds=Path("socket")).uds is not None  # the host is not served then


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDEN_SANDBOX_API_KEYS", " a, b,,")
    monkeypatch.setenv("REWARDEN_SANDBOX_SLOTS", "7")
    monkeypatch.setenv("REWARDEN_SANDBOX_DRIVER", "oneshot")
    settings = Settings()
    assert settings.api_keys == frozenset({"a", "b"})
    assert (settings.slots, settings.driver) == (7, "oneshot")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "no API key is set"),
        (["--port", "99999"], "port:"),
        (["--slots", "0"], "slots:"),
        (["--driver", "bwrap"], "'no_such_package', which is not installed"),
        (["--driver", "auto"], "slots: it needs"),
    ],
)
def test_what_cannot_be_served_is_refused_in_a_sentence(
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in DRIVERS:
        monkeypatch.setitem(DRIVERS, name, "no_such_package:Driver")
    assert main(arguments) == 2
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("sandbox: ")]
    assert len(told) == 1
    assert said in told[0]
