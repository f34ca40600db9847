"""What a service can be told, by flag or by environment. Read at the edge, passed in from there."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


class Settings(BaseSettings):
    """Each field is also an environment variable: `REWARDEN_` and its name in capitals."""

    model_config = SettingsConfigDict(
        env_prefix="REWARDEN_", frozen=True, extra="forbid", use_attribute_docstrings=True
    )

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    queue: str | None = None
    """Address of the queue, such as redis://host:6379/0; without one only HTTP is served."""
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

    @field_validator("queue")
    @classmethod
    def _blank_is_none(cls, value: str | None) -> str | None:
        return value or None

    @model_validator(mode="after")
    def _keys_beyond_loopback(self) -> Self:
        if not (_is_loopback(self.host) or self.api_keys or self.allow_unauthenticated):
            msg = (
                f"Serving on {self.host} lets other machines in, and no API key is set: set "
                "REWARDEN_API_KEYS, or pass --allow-unauthenticated if strangers cannot reach it."
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
