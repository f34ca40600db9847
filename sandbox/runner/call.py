"""Calls functions of a solution, from within the sandbox: `python3 call.py MAINFILE FD`.

A line of JSON is read from the descriptor for each call, `{"nonce", "entry_point", "args",
"kwargs"}`, and a line is answered: `{"nonce", "value"}`, `{"nonce", "exception", "message"}`, or
`{"nonce", "refused"}` where the value cannot cross. Values are typed JSON, see `values.py`, which
lies beside this file.

This process is shared with the solution: whatever it answers is data that the solution may have
chosen, and nothing outside may rest on it. What is covered is that a solution which does not mean
harm cannot upset the answers by chance: by printing, exiting, patching modules, closing standard
output, or starting children. A process that ends at once, as by `os._exit`, does not answer.

The standard library only, Python 3.9 and newer.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any, Final, TypeAlias

    Value: TypeAlias = Any
    """Whatever the solution makes."""

MAX_MESSAGE: Final = 1_000
MAX_HANDLES: Final = 1_000
MAX_LINE: Final = 1024 * 1024 + 1_000
MIN_RECURSION: Final = 3_000


def load_module(name: str, path: str) -> ModuleType:
    """Run a file as a module of this name."""
    # The loader is named, because a main file may be called as it likes.
    spec = spec_from_file_location(name, path, loader=SourceFileLoader(name, path))
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Caller:
    """Answers calls; everything it uses is taken hold of before the solution is loaded."""

    def __init__(self, main_file: str, descriptor: int, values: ModuleType) -> None:
        self._main_file = main_file
        self._descriptor = descriptor
        self._encode: Callable[..., Any] = values.encode
        self._decode: Callable[..., Any] = values.decode
        self._refused: type[Exception] = values.ValueRefused
        self._true_name: Callable[[type], str] = values.true_name
        self._dumps = json.JSONEncoder().encode
        self._loads = json.JSONDecoder().decode
        self._read, self._write, self._exit = os.read, os.write, os._exit
        self._limit = sys.setrecursionlimit
        self._stdout, self._stderr = sys.stdout, sys.stderr
        self._objects: list[Any] = []
        self._solution: Any = None

    def serve(self) -> None:
        """Load the solution, answer every call, and end the process, whatever threads it has."""
        os.set_inheritable(self._descriptor, False)
        os.register_at_fork(after_in_child=lambda: os.close(self._descriptor))
        for line in self._lines():
            self._answer(self._loads(line))
        self._exit(0)

    def _lines(self) -> Iterator[str]:
        # Not a buffered file: that could be reached, and read on, by whoever looks for it.
        rest = b""
        while data := self._read(self._descriptor, 65_536):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield line.decode()

    def _answer(self, call: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"nonce": call["nonce"]}
        try:
            value = self._call(call)
            self._limit(MIN_RECURSION)
            answer["value"] = self._encode(value, self._keep)
        except self._refused as error:
            answer["refused"] = Exception.__str__(error)
        except BaseException as error:  # noqa: BLE001  (SystemExit is an answer as well)
            self._limit(MIN_RECURSION)
            answer["exception"] = self._true_name(type(error))
            answer["message"] = self._message(error)
        self._flush()
        self._send(answer)

    def _message(self, error: BaseException) -> str:
        try:
            return str(str(error)[:MAX_MESSAGE].encode("utf-8", "replace"), "utf-8")
        except BaseException:  # noqa: BLE001  (it is code of the solution that runs here)
            return ""

    def _send(self, answer: dict[str, Any]) -> None:
        line = self._dumps(answer).encode()
        if len(line) > MAX_LINE:
            refusal = {"nonce": answer["nonce"], "refused": "the value is larger than 1 MiB"}
            line = self._dumps(refusal).encode()
        line += b"\n"
        while line:
            line = line[self._write(self._descriptor, line) :]

    def _flush(self) -> None:
        for stream in (self._stdout, self._stderr, sys.stdout, sys.stderr):
            with suppress(BaseException):  # it is closed, or replaced by anything
                stream.flush()

    def _call(self, call: dict[str, Any]) -> Value:
        args = [self._decode(item, self._resolve) for item in call["args"]]
        kwargs = {key: self._decode(item, self._resolve) for key, item in call["kwargs"].items()}
        return self._find(call["entry_point"])(*args, **kwargs)

    def _find(self, entry_point: str) -> Value:
        first, *names = entry_point.split(".")
        if first.startswith("$"):
            found = self._resolve(int(first[1:]))
        else:
            if self._solution is None:
                self._solution = load_module("solution", self._main_file)
            found = getattr(self._solution, first)
        for name in names:
            found = getattr(found() if isinstance(found, type) else found, name)
        return found

    def _keep(self, value: Value) -> int | None:
        if len(self._objects) >= MAX_HANDLES:
            return None
        self._objects.append(value)
        return len(self._objects) - 1

    def _resolve(self, number: int) -> Value:
        if not 0 <= number < len(self._objects):
            msg = f"there is no object ${number}"
            raise self._refused(msg)
        return self._objects[number]


def main(main_file: str, descriptor: int) -> None:
    """Serve calls of one solution; does not return."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  (pathlib takes 4 ms)
    values = load_module("_rewarden_values", os.path.join(here, "values.py"))  # noqa: PTH118
    del sys.modules["_rewarden_values"]
    # A solution may have other files beside it, and ours are none of them.
    if sys.path and sys.path[0] == here:
        del sys.path[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(main_file)))  # noqa: PTH100, PTH120
    sys.argv[:] = [main_file]
    Caller(main_file, descriptor, values).serve()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
