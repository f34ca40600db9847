"""What the sandbox can be told, by flag or by environment. Read at the edge, passed in from there."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from sandbox.pool import JOBS_PER_SLOT, MAX_WAITING


class Settings(BaseSettings):
    """Each field is also an environment variable: `REWARDEN_SANDBOX_` and its name in capitals."""

    model_config = SettingsConfigDict(
        env_prefix="REWARDEN_SANDBOX_", frozen=True, extra="forbid", use_attribute_docstrings=True
    )

    host: str = "127.0.0.1"
    port: int = Field(default=8100, ge=0, le=65_535)
    uds: Path | None = None
    """Serve on this unix socket instead, which only the same user may use."""
    driver: Literal["auto", "slots", "oneshot", "bwrap"] = "auto"
    """How programs are kept apart; `auto` takes the first of them that works here."""
    slots: int | None = Field(default=None, ge=1, le=1_024)
    """Jobs at a time; one a core unless given."""
    max_waiting: int = Field(default=MAX_WAITING, ge=0)
    """Jobs that may wait for a slot; more are told to come back later."""
    jobs_per_slot: int = Field(default=JOBS_PER_SLOT, ge=1)
    """A slot is replaced after so many jobs."""
    grace_seconds: float = Field(default=10.0, ge=0)
    """How long jobs may go on when the service is told to stop."""
    api_keys: Annotated[frozenset[str], NoDecode] = frozenset()
    """Keys of which a request must carry one as `X-API-Key`; comma-separated in the environment."""
    allow_unauthenticated: bool = False
    """Serve beyond loopback without keys, because something else keeps strangers out."""
    log_level: str = "info"

    @field_validator("api_keys", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return frozenset(key.strip() for key in value.split(",") if key.strip())
        return value

    @model_validator(mode="after")
    def _keys_beyond_loopback(self) -> Self:
        is_local = self.uds is not None or _is_loopback(self.host)
        if not (is_local or self.api_keys or self.allow_unauthenticated):
            msg = (
                f"Serving on {self.host} lets other machines in, and no API key is set: set "
                "REWARDEN_SANDBOX_API_KEYS, or pass --allow-unauthenticated if strangers cannot "
                "reach it."
            )
            raise ValueError(msg)
        return self


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
