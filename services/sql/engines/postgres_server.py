"""The server behind the Postgres engine: its roles, and the databases it makes and drops."""

from __future__ import annotations

import time
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final, Literal

import psycopg
from psycopg import errors, sql as compose

TEMPLATE: Final = "rewarden_template_1"
"""Its number goes up with what is taken away in it."""
CONNECT_SECONDS: Final = 5
PAUSES_SECONDS: Final = (0.05, 0.2, 0.5)
"""Between the tries to connect."""
TICKS_A_SECOND: Final = 100
"""Of the clock in /proc, on every Linux that Postgres is built for."""
_LOCK: Final = 0x72657761
"""Of the advisory lock under which the roles and the template are made."""
_ROLES: Final = ("reader", "builder")
_READER_SETTINGS: Final = {
    "default_transaction_read_only": "on",
    "statement_timeout": "60s",
    "lock_timeout": "2s",
    "idle_in_transaction_session_timeout": "120s",
    "temp_file_limit": "256MB",
    "work_mem": "16MB",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "client_connection_check_interval": "500ms",
    "timezone": "UTC",
}
_VOLATILE: Final = (
    "SELECT oid::regprocedure::text FROM pg_proc WHERE provolatile = 'v' AND prokind = 'f'"
)
_TELLING: Final = ("pg_stat_activity", "pg_stat_replication", "pg_settings", "pg_file_settings")


class Server:
    """One server, as its superuser."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._version = ""
        self._is_ready = False

    def version(self) -> str:
        """Return the version of the server."""
        if not self._version:
            try:
                with self.connect() as raw:
                    self._version = str(raw.info.server_version)
            except psycopg.Error:
                return "unknown"
        return self._version

    def connect(
        self, database: str | None = None, role: Literal["reader", "builder"] | None = None
    ) -> psycopg.Connection[Any]:
        """Connect, as the superuser unless a role is given."""
        more: dict[str, Any] = {} if database is None else {"dbname": database}
        if role is not None:
            more |= {"user": f"rewarden_{role}", "password": self._password(role)}
        for pause in (*PAUSES_SECONDS, None):
            try:
                return psycopg.connect(
                    self._address,
                    connect_timeout=CONNECT_SECONDS,
                    application_name="rewarden",
                    client_encoding="utf-8",
                    prepare_threshold=None,
                    **more,
                )
            except psycopg.OperationalError:  # others may have all the connections there are
                if pause is None:
                    raise
                time.sleep(pause)
        raise AssertionError

    def used_seconds(self, pid: int) -> float | None:
        """Return the CPU time of a process of the server; None if that cannot be told."""
        try:
            with self.connect() as raw:
                read = raw.execute("SELECT pg_read_file(%s)", [f"/proc/{pid}/stat"]).fetchone()
        except psycopg.Error:
            return None
        fields = str(read[0]).rpartition(")")[2].split() if read else []
        if len(fields) < 13:
            return None
        return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND

    def create(self, name: str, template: str = TEMPLATE) -> None:
        """Make a database."""
        self._get_ready()
        with self._alone() as raw:
            raw.execute(
                compose.SQL("CREATE DATABASE {} TEMPLATE {} OWNER rewarden_builder").format(
                    compose.Identifier(name), compose.Identifier(template)
                )
            )
            raw.execute(
                compose.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(
                    compose.Identifier(name)
                )
            )
            raw.execute(
                compose.SQL("GRANT CONNECT ON DATABASE {} TO rewarden_reader").format(
                    compose.Identifier(name)
                )
            )

    def has(self, name: str) -> bool:
        """Whether there is such a database."""
        with self.connect() as raw:
            found = raw.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
        return found is not None

    def drop(self, name: str) -> None:
        """Drop a database, whoever is in it."""
        with suppress(psycopg.Error), self._alone() as raw:
            raw.execute(
                compose.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(
                    compose.Identifier(name)
                )
            )

    def allow_reading(self, name: str) -> None:
        """Let the reader read every table of the database."""
        with self.connect(name) as raw:
            schemas = raw.execute(
                "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'"
            ).fetchall()
            for (schema,) in schemas:
                for text in (
                    "GRANT USAGE ON SCHEMA {} TO rewarden_reader",
                    "GRANT SELECT ON ALL TABLES IN SCHEMA {} TO rewarden_reader",
                ):
                    raw.execute(compose.SQL(text).format(compose.Identifier(schema)))

    def _get_ready(self) -> None:
        """Make roles and template, once for a server."""
        if self._is_ready:
            return
        with self._alone() as raw:
            raw.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
            for role in _ROLES:
                self._make_role(raw, role)
            has_template = raw.execute(
                "SELECT datistemplate FROM pg_database WHERE datname = %s", [TEMPLATE]
            ).fetchone()
            if has_template is None or not has_template[0]:
                raw.execute(f"DROP DATABASE IF EXISTS {TEMPLATE}")
                raw.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0 ENCODING 'UTF8'")
                self._harden()
                raw.execute(f"ALTER DATABASE {TEMPLATE} IS_TEMPLATE true")
        self._is_ready = True

    def _make_role(self, raw: psycopg.Connection[Any], role: str) -> None:
        name = compose.Identifier(f"rewarden_{role}")
        with suppress(errors.DuplicateObject):
            raw.execute(compose.SQL("CREATE ROLE {}").format(name))
        raw.execute(
            compose.SQL(
                "ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD {}"
            ).format(name, compose.Literal(self._password(role)))
        )
        for setting, value in _READER_SETTINGS.items() if role == "reader" else ():
            raw.execute(
                compose.SQL("ALTER ROLE {} SET {} = {}").format(
                    name, compose.Identifier(setting), compose.Literal(value)
                )
            )

    def _harden(self) -> None:
        """Take from everybody what changes, waits, or differs from run to run."""
        with self.connect(TEMPLATE) as raw:
            for (function,) in raw.execute(_VOLATILE).fetchall():
                was_open = raw.execute(
                    "SELECT has_function_privilege('public', %s::regprocedure, 'execute')",
                    [function],
                ).fetchone()
                raw.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")
                if was_open and was_open[0]:
                    raw.execute(f"GRANT EXECUTE ON FUNCTION {function} TO rewarden_builder")
            # Which tables a query has locked is how it is known what it reads.
            raw.execute("GRANT EXECUTE ON FUNCTION pg_lock_status() TO rewarden_reader")
            for view in _TELLING:
                raw.execute(f"REVOKE ALL ON pg_catalog.{view} FROM PUBLIC")
            raw.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
            raw.execute("ALTER SCHEMA public OWNER TO rewarden_builder")

    def _alone(self) -> psycopg.Connection[Any]:
        """Return a connection outside of transactions: databases are not made within one."""
        raw = self.connect()
        raw.autocommit = True
        return raw

    def _password(self, role: str) -> str:
        return sha256(f"{role} {self._address}".encode()).hexdigest()
