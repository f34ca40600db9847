from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from sandbox import jobs, languages
from sandbox.jobs import Limits
from sandbox.languages import TOOLCHAINS, ToolchainMissingError, find_toolchain, languages_on_host


def test_every_language_of_the_contract_has_a_toolchain() -> None:
    assert set(TOOLCHAINS) == set(get_args(jobs.Language))


def test_only_python_and_javascript_are_called() -> None:
    assert {name for name, one in TOOLCHAINS.items() if one.has_calls} == {"python", "javascript"}


@pytest.mark.parametrize("name", TOOLCHAINS)
def test_a_compiled_program_is_what_is_run(name: str) -> None:
    toolchain = TOOLCHAINS[name]
    assert toolchain.main_file in (toolchain.compile or toolchain.run)
    assert toolchain.compile is None or toolchain.main_file not in toolchain.run


def test_java_gets_the_memory_that_its_runtime_leaves() -> None:
    command = TOOLCHAINS["java"].run_command(Limits(memory_mb=496))
    assert "-Xmx300m" in command
    assert "-Xmx16m" in TOOLCHAINS["java"].run_command(Limits(memory_mb=16))
    assert not any("{" in word for word in command)


def test_a_missing_toolchain_is_named_with_the_package_that_brings_it() -> None:
    with pytest.raises(ToolchainMissingError, match=r"no go here.*install golang-go"):
        find_toolchain("go", {"python"})
    with pytest.raises(ToolchainMissingError, match="no language 'cobol'"):
        find_toolchain("cobol", {"python"})
    assert find_toolchain("python", {"python"}).name == "python"


def test_the_host_is_asked_and_the_missing_are_left_out(tmp_path: Path) -> None:
    for name, body in {
        "python3": "echo Python 3.11",
        "node": "exit 1",
        "esbuild": "echo 0.17.0",
        "gcc": "echo 'gcc 12'; echo more",
        "javac": "echo javac 17 >&2",
    }.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    assert languages_on_host(str(tmp_path)) == {
        "python": "Python 3.11",
        "typescript": "0.17.0",
        "c": "gcc 12",
    }


def test_a_compiler_that_hangs_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bash"
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    program.chmod(0o755)
    monkeypatch.setattr(languages, "VERSION_SECONDS", 0.2)
    assert languages_on_host(f"{tmp_path}:/bin:/usr/bin").get("bash") is None
