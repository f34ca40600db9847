from __future__ import annotations

import pytest
from pydantic import ValidationError

from services.__main__ import main
from services.settings import Settings


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback_needs_no_keys(host: str) -> None:
    assert Settings(host=host).api_keys == frozenset()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org"])
def test_beyond_loopback_keys_are_needed_or_waived(host: str) -> None:
    with pytest.raises(ValidationError, match="REWARDEN_API_KEYS"):
        Settings(host=host)
    assert Settings(host=host, allow_unauthenticated=True).host == host
    assert Settings(host=host, api_keys=frozenset({"k"})).host == host


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDEN_API_KEYS", " a, b,,")
    monkeypatch.setenv("REWARDEN_QUEUE", "")
    monkeypatch.setenv("REWARDEN_PORT", "9000")
    settings = Settings()
    assert settings.api_keys == frozenset({"a", "b"})
    assert (settings.queue, settings.port) == (None, 9_000)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["math", "--host", "0.0.0.0"], "no API key is set"),
        (["gateway"], "the gateway needs --queue"),
        (["math", "--port", "99999"], "port:"),
        (["math", "--queue", "localhost"], "not a queue address"),
    ],
)
def test_what_cannot_be_served_is_refused_in_a_sentence(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
