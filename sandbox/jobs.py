"""The contract of the sandbox: a `Job` goes in, an `Observation` of every run comes out.

A sandbox returns values, never verdicts: nothing here says whether a program is right. Bytes travel
as base64 in JSON. What a program writes, returns or exits with is data that an untrusted program
chose.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_RUNS: Final = 1_000
MAX_SOURCE_BYTES: Final = 1024 * 1024
MAX_STREAM_BYTES: Final = 8 * 1024 * 1024
MAX_VALUE_BYTES: Final = 1024 * 1024

Language = Literal["python", "javascript", "typescript", "c", "cpp", "java", "go", "rust", "bash"]


class _Closed(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
        ser_json_inf_nan="constants",  # the alternative is null, which is another value
    )


class Status(StrEnum):
    """How a run ended."""

    EXITED = "exited"
    """By itself, with `exit_code`."""
    SIGNALLED = "signalled"
    """By a signal that no limit sent."""
    TIMEOUT = "timeout"
    """Its CPU time was used up, or it slept past the wall time that guards against sleepers."""
    MEMORY_LIMIT = "memory_limit"
    """Its memory was used up."""
    OUTPUT_LIMIT = "output_limit"
    """It wrote more than it may."""
    PROTOCOL_ERROR = "protocol_error"
    """A call whose answer was missing, malformed, too large, or not in time."""
    NOT_RUN = "not_run"
    """It was never begun: the program did not compile, or an earlier run ended the job."""
    SANDBOX_ERROR = "sandbox_error"
    """The fault is ours; nothing is known about the program."""


class Limits(_Closed):
    """What one run may use; each job has a fresh disk, and compiling has limits of its own."""

    cpu_seconds: float = Field(default=10.0, gt=0, le=60)
    """CPU time of the whole process tree. Wall time is limited to twice this and a second."""
    memory_mb: int = Field(default=512, ge=16, le=4_096)
    """Peak memory of the whole process tree, with what it keeps in tmpfs."""
    processes: int = Field(default=64, ge=1, le=512)
    """Processes and threads at a time."""
    output_kb: int = Field(default=8_192, ge=1, le=8_192)
    """Standard output and standard error, each."""
    disk_mb: int = Field(default=64, ge=1, le=512)
    files: int = Field(default=4_096, ge=16, le=65_536)
    """Inodes on that disk."""
    compile_cpu_seconds: float = Field(default=30.0, gt=0, le=120)
    compile_memory_mb: int = Field(default=2_048, ge=16, le=8_192)


class Call(_Closed):
    """A call of a function in the program's main file, for `python` and `javascript`."""

    entry_point: str = Field(min_length=1, max_length=200)
    """`f`, or `Solution.f` for a method: the class is made without arguments first."""
    args: tuple[Any, ...] = ()
    """Typed JSON, see `sandbox.runner.values`."""
    kwargs: dict[str, Any] = {}


class Run(_Closed):
    """One execution in a fresh process: a program with standard input, or calls into it."""

    stdin: bytes = Field(default=b"", max_length=MAX_STREAM_BYTES)
    argv: tuple[str, ...] = ()
    calls: tuple[Call, ...] | None = None
    """Made one after the other in the same process; it is over after the first that raises."""


FileName = Annotated[str, Field(min_length=1, max_length=200)]
"""A relative path of plain names, without `..`; checked where files are written."""


class Job(_Closed):
    """A program and what to run it on. Compiled once; every run is a fresh process."""

    language: Language
    source: bytes = Field(max_length=MAX_SOURCE_BYTES)
    """The main file."""
    files: dict[FileName, bytes] = {}
    """Other files beside it."""
    runs: tuple[Run, ...] = Field(min_length=1, max_length=MAX_RUNS)
    limits: Limits = Limits()
    stop_on_failure: bool = False
    """Whether the first run that ends in another way than `exited` with 0 is the last one."""


class Returned(_Closed):
    """What one call gave: a value, or the exception that it raised."""

    value: Any = None
    """Typed JSON."""
    exception: str | None = None
    """The name of the exception's class."""
    message: str = ""


class Telemetry(_Closed):
    """What a run tried; how much of it is seen depends on the driver."""

    network_attempts: int = 0
    process_limit_hits: int = 0


class Observation(_Closed):
    """What became of one run, or of compiling."""

    status: Status
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    returned: tuple[Returned, ...] = ()
    """One for each call that was answered, in order."""
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_memory_bytes: int = 0
    telemetry: Telemetry = Telemetry()
    detail: str = ""
    """A sentence for people, where the status alone does not say enough."""


class JobResult(_Closed):
    """The observations of one job, one a run, in order."""

    compiled: Observation | None = None
    """None where the language has no compile step."""
    runs: tuple[Observation, ...]
    driver: str
