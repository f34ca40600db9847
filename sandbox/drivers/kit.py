"""What programs on the host see of it, and of us: files of ours are written to a folder once.

Nothing in it is secret. What is the supervisor's is root's alone to read, as it is in an image.
"""

from __future__ import annotations

import compileall
import py_compile
import shutil
import site
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import sandbox
from sandbox.runner import layout

_SOURCE: Final = Path(sandbox.__file__).parent / "runner"
_ROOT_FOLDERS: Final = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_SHARED: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs/java")
_NOTHING: Final = "nothing"
"""An empty file, seen in place of others."""
_HOSTS: Final = "127.0.0.1 localhost sandbox\n"
_ACCOUNTS: Final = {
    "passwd": "root:x:0:0::/:/bin/false\nnobody:x:65534:65534::/tmp:/bin/false\n",
    "group": "root:x:0:\nnogroup:x:65534:\n",
    "hosts": _HOSTS,
}


def write(folder: Path, groups: list[Path]) -> None:
    """Write the files of ours that programs see, and, where there are groups, the supervisor's."""
    folder.chmod(0o755)
    kit = folder / "kit"
    (kit / "runner").mkdir(parents=True)
    (kit / "etc").mkdir()
    for name in ("call.py", "call.js", "values.py"):
        shutil.copy2(_SOURCE / name, kit / "runner" / name)
    values = kit / "runner" / "values.py"
    py_compile.compile(str(values), dfile=f"{layout.RUNNER}/values.py")
    (kit / "runner" / "hosts").write_text(_HOSTS)
    # One folder to be mounted, in place of a mount for each: that is a third of a run's set-up.
    for path in (*map(Path, _SHARED), *Path("/etc").glob("java-*")):
        _copy(path, kit / path.relative_to("/"))
    (kit / _NOTHING).touch()
    for name, content in _ACCOUNTS.items():
        (kit / "etc" / name).write_text(content)
    if groups:
        _write_supervisor(kit / "rewarden", len(groups))


def _write_supervisor(home: Path, groups: int) -> None:
    shutil.copytree(_SOURCE, home / "sandbox" / "runner")
    (home / "sandbox" / "__init__.py").touch()
    compileall.compile_dir(home, quiet=1, stripdir=str(home), prependdir=layout.HOME)
    for place in layout.given_groups(groups):
        (home / Path(place).relative_to(layout.HOME)).mkdir(parents=True)
    home.chmod(0o700)


def _copy(source: Path, target: Path) -> None:
    """Copy a file or folder, if it is there; what cannot be read is not for programs either."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError, shutil.Error):
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        elif source.is_file():
            shutil.copy2(source, target)


def links() -> list[tuple[str, str]]:
    """Return what are links in the root folder of this host, and where they lead."""
    paths = (Path("/", name) for name in _ROOT_FOLDERS)
    return [(str(path), str(path.readlink())) for path in paths if path.is_symlink()]


def binds(folder: Path) -> list[tuple[str, str]]:
    """Return what every program sees of the host, each with where it sees it."""
    roots = (Path("/", name) for name in _ROOT_FOLDERS)
    there = [Path("/usr"), *(path for path in roots if path.is_dir() and not path.is_symlink())]
    if not Path(sys.base_prefix).is_relative_to("/usr"):
        there.append(Path(sys.base_prefix))
    kit = folder / "kit"
    seen = [(path, path) for path in there]
    seen += [(kit / "etc", Path("/etc")), (kit / "runner", Path(layout.RUNNER))]
    if (kit / "rewarden").exists():
        seen.append((kit / "rewarden", Path(layout.HOME)))
    seen += [(kit / _NOTHING, hook) for hook in _start_up_hooks()]
    return [(str(source), str(place)) for source, place in seen]


def _start_up_hooks() -> list[Path]:
    """Find the files by which installed packages make every start of Python run code of theirs.

    They are the host's business, not a program's, and can cost more than all else in a run.
    """
    places = map(Path, site.getsitepackages([sys.base_prefix]))
    return sorted(hook for place in places for hook in place.glob("*.pth"))
