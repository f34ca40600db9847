"""A Python program in an interpreter that is warm already: what `python3 main.py` would do.

Covered: `__main__`, `sys.argv`, `sys.path`, the environment, tracebacks, exit codes, threads that
are waited for, `atexit`, flushed output. Different from a fresh interpreter: some modules of the
standard library are imported already, and there is no finalisation after the output is flushed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from types import ModuleType
from typing import Any, Final, NoReturn

from sandbox.runner import call, values

CALLS: Final = 3
"""The descriptor on which a program that is called finds its socket."""
_FLUSH_FAILED: Final = 120
"""What Python exits with when its output cannot be flushed."""


def run(
    main_file: str, argv: list[str], environment: dict[str, str] | None, *, is_called: bool
) -> NoReturn:
    """Be the program: run it as `argv` says, or serve calls of it on the descriptor `CALLS`.

    The environment is None where it is that of this process already.
    """
    if environment is not None:
        os.environ.clear()
        os.environ.update(environment)
    folder = main_file.rpartition("/")[0]
    sys.path[:] = [folder, *(place for place in sys.path if place != folder)]
    sys.argv[:] = argv
    if is_called:
        call.Caller(main_file, CALLS, values).serve()
    _finish(_exit_code(_outcome(main_file)))


def _outcome(main_file: str) -> BaseException | None:
    """Run the main file to its end, and return what it raised."""
    module = ModuleType("__main__")
    scope = vars(module)
    scope.update(__file__=main_file, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = module
    # As deep as a fresh interpreter lets the program recurse, in spite of the frames below it.
    sys.setrecursionlimit(sys.getrecursionlimit() + _depth())
    try:
        code = compile(_read(main_file), main_file, "exec", dont_inherit=True)
        exec(code, scope)  # noqa: S102  # what a sandbox is for
    except BaseException as error:  # noqa: BLE001  # whatever the program raises
        return error
    return None


def _read(file: str) -> bytes:
    with open(file, "rb", buffering=0) as stream:  # noqa: PTH123  # this is on every job's way
        return stream.readall()


def _depth() -> int:
    frame, depth = sys._getframe(1), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def _exit_code(error: BaseException | None) -> int:
    if error is None:
        return 0
    if not isinstance(error, SystemExit):
        _report(error)
        return 1
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    with contextlib.suppress(Exception):
        sys.stderr.write(f"{error.code}\n")
    return 1


def _report(error: BaseException) -> None:
    """Print the traceback, beginning with the program's own code."""
    trace = error.__traceback__.tb_next if error.__traceback__ else None
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    except BaseException:  # noqa: BLE001  # a hook of the program
        with contextlib.suppress(BaseException):
            sys.__excepthook__(type(error), error, trace)


def _finish(code: int) -> NoReturn:
    threads: Any = sys.modules.get("threading")
    try:
        if threads is not None:
            threads._shutdown()  # as the interpreter itself does
        atexit._run_exitfuncs()
    except SystemExit as error:
        code = _exit_code(error)
    except BaseException as error:  # noqa: BLE001  # of the program
        _report(error)
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:  # noqa: BLE001  # closed, or replaced by anything
            code = code or _FLUSH_FAILED
    os._exit(code)
