"""The runner that sits in the sandbox, with solutions that mean no harm, on this machine."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox.runner import call

RUNNER = Path(call.__file__).parent
Asked = tuple[str, Sequence[Any]]


def ask(command: list[str], main_file: Path, calls: Sequence[Asked]) -> tuple[list[Any], str, int]:
    ours, theirs = socket.socketpair()
    ours.settimeout(20)
    process = subprocess.Popen(
        [*command, str(main_file), str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    theirs.close()
    answers = []
    with process, ours, ours.makefile("rw") as line:
        for number, (entry_point, args) in enumerate(calls):
            asked = {"nonce": str(number), "entry_point": entry_point, "args": args, "kwargs": {}}
            try:
                line.write(json.dumps(asked) + "\n")
                line.flush()
                answers.append(json.loads(line.readline() or "null"))
            except BrokenPipeError:
                answers.append(None)
        ours.shutdown(socket.SHUT_WR)
        said = process.stdout.read() if process.stdout else ""
    return answers, said, process.returncode


def python(folder: Path, source: str, *calls: Asked) -> tuple[list[Any], str, int]:
    (folder / "main.py").write_text(source)
    return ask([sys.executable, "-I", str(RUNNER / "call.py")], folder / "main.py", calls)


def test_functions_methods_and_objects_are_called(tmp_path: Path) -> None:
    source = """
class Solution:
    def double(self, x): return 2 * x
class Counter:
    def __init__(self, n): self.n = n
    def more(self, by): self.n += by; return self.n
def same(x, other): return x is other
"""
    handle = {"$": "handle", "v": 0}
    calls = [("Solution.double", [4]), ("Counter", [5]), ("$0.more", [2]), ("$0.more", [3])]
    answers, _, code = python(tmp_path, source, *calls, ("same", [handle, handle]))
    assert [answer["value"] for answer in answers] == [8, handle | {"type": "Counter"}, 7, 10, True]
    assert [answer["nonce"] for answer in answers] == ["0", "1", "2", "3", "4"]
    assert code == 0


def test_what_is_printed_stays_apart_and_is_not_lost(tmp_path: Path) -> None:
    source = "import threading\ndef f():\n    print('{}')\n    threading.Thread(target=threading.Event().wait).start()"
    answers, said, code = python(tmp_path, source, ("f", []))
    assert (answers[0]["value"], said, code) == (None, "{}\n", 0)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("raise SystemExit(0)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import sys; sys.exit()", "SystemExit"),
        ("f()", "RecursionError"),
        ("import sys; sys.setrecursionlimit(30); f()", "RecursionError"),
        ("class E(Exception):\n        __str__ = __name__ = None\n    raise E", "E"),
    ],
)
def test_whatever_is_raised_is_an_answer(tmp_path: Path, body: str, name: str) -> None:
    answers, _, _ = python(tmp_path, f"def f():\n    {body}", ("f", []))
    assert answers[0]["exception"] == name


def test_a_solution_that_does_not_load_says_so(tmp_path: Path) -> None:
    answers, _, _ = python(tmp_path, "def f(:", ("f", []))
    assert answers[0]["exception"] == "SyntaxError"
    answers, _, _ = python(tmp_path, "", ("f", []))
    assert answers[0]["exception"] == "AttributeError"


@pytest.mark.parametrize(
    "patch",
    [
        "import json; json.dumps = json.JSONEncoder.encode = None",
        "import os; os.write = os.read = None",
        "import builtins; builtins.len = builtins.type = builtins.isinstance = None",
        "import sys; sys.stdout.close(); sys.stdout = None",
        "import sys; sys.modules.clear()",
        "import sys; sys.setrecursionlimit(60)",
    ],
)
def test_a_solution_that_upsets_the_interpreter_is_answered_or_silent(
    tmp_path: Path, patch: str
) -> None:
    answers, _, _ = python(tmp_path, f"def f(x):\n    {patch}\n    return [x]", ("f", [1]))
    assert answers[0] is None or answers[0].get("value", [1]) == [1]


def test_a_value_that_cannot_cross_is_refused(tmp_path: Path) -> None:
    source = "def big(): return 'x' * 2**21\ndef loop():\n    a = []\n    a.append(a)\n    return a"
    answers, _, _ = python(tmp_path, source, ("big", []), ("loop", []), ("$9.x", []))
    assert "larger than" in answers[0]["refused"]
    assert "itself" in answers[1]["refused"]
    assert "$9" in answers[2]["refused"]


def test_a_hard_exit_is_no_answer(tmp_path: Path) -> None:
    answers, _, code = python(tmp_path, "import os\ndef f(): os._exit(3)", ("f", []))
    assert (answers, code) == ([None], 3)


def test_children_do_not_hold_the_socket(tmp_path: Path) -> None:
    source = """
import os, time
def f():
    if os.fork() == 0:
        os.close(1); time.sleep(1); os._exit(0)
    return len([n for n in os.listdir("/proc/self/fd")])
"""
    answers, _, code = python(tmp_path, source, ("f", []))
    assert (isinstance(answers[0]["value"], int), code) == (True, 0)


def test_the_solution_is_called_solution_and_finds_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "values.py").write_text("mine = True")
    source = "import sys, values\ndef f(): return __name__, values.mine, sys.argv, sys.path[0]"
    answers, _, _ = python(tmp_path, source, ("f", []))
    path = str(tmp_path / "main.py")
    assert answers[0]["value"]["v"] == ["solution", True, [path], str(tmp_path)]


node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node: not on PATH")


def javascript(folder: Path, source: str, *calls: Asked) -> tuple[list[Any], str, int]:
    (folder / "main.js").write_text(source)
    return ask(["node", str(RUNNER / "call.js")], folder / "main.js", calls)


@node
def test_javascript_is_called_likewise(tmp_path: Path) -> None:
    source = r"""
const add = (a, b) => a + b;
class Counter { constructor(n) { this.n = n } more(by) { return this.n += by } }
async function later(x) { return x }
function values() {
  return [undefined, -0, NaN, 1.5, 10n ** 20n, "\ud800", new Map([[1, 2]]), new Set([1]), {a: 1}];
}
function loop() { const a = []; a.push(a); return a }
function fails() { console.log("said"); throw new RangeError("no") }
"""
    calls: list[Asked] = [("add", [1, 2]), ("Counter", [5]), ("$0.more", [2]), ("later", [[3]])]
    answers, said, code = javascript(
        tmp_path, source, *calls, ("values", []), ("loop", []), ("fails", []), ("nothing", [])
    )
    assert [answer["value"] for answer in answers[:4]] == [
        *(3, {"$": "handle", "v": 0, "type": "Counter"}, 7, [3])
    ]
    assert answers[4]["value"] == [
        *(None, {"$": "float", "v": "-0.0"}, {"$": "float", "v": "nan"}, 1.5),
        *({"$": "int", "v": hex(10**20)}, {"$": "str", "v": "7aCA"}),
        *({"$": "dict", "v": [[1, 2]]}, {"$": "set", "v": [1]}, {"a": 1}),
    ]
    assert "itself" in answers[5]["refused"]
    assert (answers[6]["exception"], answers[6]["message"]) == ("RangeError", "no")
    assert answers[7]["exception"] == "ReferenceError"
    assert (said, code) == ("said\n", 0)


@node
def test_javascript_modules_of_both_kinds_are_loaded(tmp_path: Path) -> None:
    common = "const path = require('path');\nmodule.exports = {f: (x) => path.basename(x)};"
    assert javascript(tmp_path, common, ("f", ["/a/b"]))[0][0]["value"] == "b"
    modern = "import path from 'path';\nexport function f(x) { return path.basename(x) }"
    assert javascript(tmp_path, modern, ("f", ["/a/c"]))[0][0]["value"] == "c"
