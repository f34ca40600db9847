"""The languages: how each is compiled and run, and which packages bring its toolchain.

Every command is run in the job's folder, where the main file lies, with `PATH` and nothing else of
the host's environment. TypeScript is made JavaScript by esbuild, which removes the types and does
not check them: a reward is for what a program does. (Debian's `tsc` takes 2 s a file, and refuses
`require` and `process` without further packages; its node has no type stripping.)

What is not covered: packages of a language's ecosystem. There is the standard library, and for
Python whatever the interpreter in use brings.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sandbox.jobs import Language, Limits

PATH: Final = "/usr/local/bin:/usr/bin:/bin"
ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": PATH,
    "HOME": "/tmp",  # noqa: S108  (the job's own)
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    # The same for every run: a program must not be right by the luck of its hash seed.
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    # One thread: BLAS would start one a core, each with its own buffers.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "GOCACHE": "/tmp/go-build",  # noqa: S108
    "GOPATH": "/tmp/go",  # noqa: S108
    "GO111MODULE": "off",
    "GOTOOLCHAIN": "local",
    "CGO_ENABLED": "0",
}
MIN_HEAP_MB: Final = 16
VERSION_SECONDS: Final = 20.0


class ToolchainMissingError(LookupError):
    """The language cannot be had here; the message names the package that brings it."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """One language. `{heap_mb}` in a command is replaced by what the run's memory leaves."""

    name: Language
    main_file: str
    run: tuple[str, ...]
    version: tuple[str, ...]
    compile: tuple[str, ...] | None = None
    packages: tuple[str, ...] = ()
    """Debian's, on top of `python:3.11-slim-bookworm`."""
    memory_mb: int = 0
    """What the runtime needs before the program begins, beyond which `memory_mb` cannot go."""
    reserves_address_space: bool = False
    """Whether address space is far beyond memory in use, so that `RLIMIT_AS` cannot be a limit."""
    has_calls: bool = False
    """Whether functions of the main file can be called."""

    def program(self) -> str:
        """Return the program that must be there: the compiler if there is one."""
        return (self.compile or self.run)[0]

    def run_command(self, limits: Limits) -> tuple[str, ...]:
        """Return the command of a run, without the run's own arguments."""
        heap = max(MIN_HEAP_MB, (limits.memory_mb - self.memory_mb) * 3 // 4)
        return tuple(word.replace("{heap_mb}", str(heap)) for word in self.run)


_ALL: Final = (
    Toolchain(
        name="python",
        main_file="main.py",
        run=("python3", "-s", "main.py"),
        version=("python3", "-VV"),
        memory_mb=10,
        has_calls=True,
    ),
    Toolchain(
        name="javascript",
        main_file="main.js",
        run=("node", "main.js"),
        version=("node", "--version"),
        packages=("nodejs",),
        memory_mb=48,
        reserves_address_space=True,
        has_calls=True,
    ),
    Toolchain(
        name="typescript",
        main_file="main.ts",
        # Node takes `main.js` for a script with `require`, and would not have `import` in it.
        compile=("esbuild", "main.ts", "--outfile=main.js", "--format=cjs", "--log-level=warning"),
        run=("node", "main.js"),
        version=("esbuild", "--version"),
        packages=("nodejs", "esbuild"),
        memory_mb=48,
        reserves_address_space=True,
    ),
    Toolchain(
        name="c",
        main_file="main.c",
        compile=("gcc", "-O2", "-std=gnu17", "-w", "-o", "main", "main.c", "-lm"),
        run=("./main",),
        version=("gcc", "--version"),
        packages=("gcc", "libc6-dev"),
    ),
    Toolchain(
        name="cpp",
        main_file="main.cpp",
        compile=("g++", "-O2", "-std=gnu++20", "-w", "-o", "main", "main.cpp"),
        run=("./main",),
        version=("g++", "--version"),
        packages=("g++",),
    ),
    Toolchain(
        name="java",
        main_file="Main.java",
        # The flags of the second line are for the compiler's own machine.
        compile=(
            *("javac", "-encoding", "UTF-8", "-nowarn", "-d", ".", "-J-XX:+UseSerialGC"),
            *("-J-XX:TieredStopAtLevel=1", "-J-XX:-UsePerfData", "-J-Xmx1g", "Main.java"),
        ),
        run=(
            *("java", "-Xmx{heap_mb}m", "-Xss64m", "-XX:+UseSerialGC", "-XX:-UsePerfData"),
            *("-XX:TieredStopAtLevel=1", "-Xshare:auto", "Main"),
        ),
        version=("javac", "-version"),
        packages=("default-jdk-headless",),
        memory_mb=96,
        reserves_address_space=True,
    ),
    Toolchain(
        name="go",
        main_file="main.go",
        compile=("go", "build", "-o", "main", "main.go"),
        run=("./main",),
        version=("go", "version"),
        packages=("golang-go",),
        memory_mb=8,
        reserves_address_space=True,
    ),
    Toolchain(
        name="rust",
        main_file="main.rs",
        compile=("rustc", "-O", "--edition", "2021", "-A", "warnings", "-o", "main", "main.rs"),
        run=("./main",),
        version=("rustc", "--version"),
        packages=("rustc",),
    ),
    Toolchain(
        name="bash",
        main_file="main.sh",
        run=("bash", "--norc", "--noprofile", "main.sh"),
        version=("bash", "--version"),
    ),
)
TOOLCHAINS: Final[Mapping[str, Toolchain]] = {toolchain.name: toolchain for toolchain in _ALL}


def find_toolchain(language: str, there: Iterable[str]) -> Toolchain:
    """Return the toolchain of a language that is there; `ToolchainMissingError` if it is not."""
    toolchain = TOOLCHAINS.get(language)
    if toolchain is None:
        msg = f"There is no language '{language}'; there are {', '.join(TOOLCHAINS)}."
        raise ToolchainMissingError(msg)
    if language not in there:
        needs = f"install {' and '.join(toolchain.packages) or toolchain.program()}"
        msg = f"There is no {toolchain.program()} here, which {language} needs: {needs}."
        raise ToolchainMissingError(msg)
    return toolchain


def languages_on_host(path: str = PATH) -> dict[str, str]:
    """Ask the toolchains on this machine for their versions; the missing are left out.

    Blocking: a compiler that is slow to answer is waited for.
    """
    versions = {}
    for toolchain in TOOLCHAINS.values():
        needed = {toolchain.program(), toolchain.run[0]}
        if all(word.startswith("./") or shutil.which(word, path=path) for word in needed):
            version = _ask_version(toolchain, path)
            if version:
                versions[str(toolchain.name)] = version
    return versions


def _ask_version(toolchain: Toolchain, path: str) -> str:
    program = shutil.which(toolchain.version[0], path=path)
    if program is None:
        return ""
    environment = {**ENVIRONMENT, "PATH": path}
    try:
        seen = subprocess.run(  # noqa: S603  (a constant of the table above)
            [program, *toolchain.version[1:]],
            capture_output=True,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=VERSION_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    said = (seen.stdout or seen.stderr).strip()
    return said.splitlines()[0] if seen.returncode == 0 and said else ""
