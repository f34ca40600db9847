"""What the SQL verifier can be told by environment; read when it is made without being told more."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class SqlSettings(BaseSettings):
    """Each field is also an environment variable: `REWARDEN_SQL_` and its name in capitals.

    `REWARDEN_SQL_POSTGRES`, the address of a Postgres server, is read by the workers themselves.
    """

    model_config = SettingsConfigDict(
        env_prefix="REWARDEN_SQL_", frozen=True, extra="ignore", use_attribute_docstrings=True
    )

    folder: Path | None = None
    """Where databases are kept, also over restarts; several services may share it. Without one it
    is a temporary folder, which goes when the service ends."""
    workers: int | None = Field(default=None, ge=1, le=256)
    """Processes that run queries; a few more than there are cores unless given."""
    disk_mb: int = Field(default=8_192, ge=16)
    """Databases that have no name are deleted beyond this, those unused for longest first. One of
    Postgres counts as 8 MB."""
    memory_mb: int = Field(default=2_048, ge=512)
    """Address space of a worker."""
