"""What trusted tests hold in place of the program: every use of it is asked for, and answered later.

Tests run here, in a sandbox of their own; the program runs in another. A use that has no answer yet
gives a `Pending`, and the tests go on for as long as nothing depends on it; then they are run again,
with the answers. Values cross as plain data, in copies; objects are spoken of by number.

What is expected of the program must not reach it. So no operator takes a value of the tests to an
object that the tests did not make themselves: such an object equals nothing.

The standard library only, Python 3.9 and newer.
"""

from __future__ import annotations

import builtins

from services.code.inside.operators import COMPARES, NEEDED, OPERATORS, TAKES_VALUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Final, TypeAlias

    Value: TypeAlias = Any
    """Anything that tests hold."""

MAX_STEPS: Final = 1_000
MAX_DEPTH: Final = 100
_SCALARS: Final = (str, bytes, int, float, complex, bool, type(None), range)
_KNOWN: Final = frozenset(
    (
        *("Decimal", "Fraction", "date", "datetime", "time", "timedelta", "deque", "UUID", "Path"),
        *("PosixPath", "ndarray", "array", "mappingproxy", "odict_keys", "dict_keys", "memoryview"),
        *("dict_values", "dict_items", "SimpleNamespace"),
    )
)
"""Objects of the standard library that may well equal a value, which cannot be found out here."""


class UnansweredError(BaseException):
    """What happens next depends on an answer that is not there yet."""


class UnsupportedError(BaseException):
    """The tests do what cannot be done across two sandboxes; the message says what."""


class EndedError(BaseException):
    """The program ended, or went out of bounds; the message is how."""


class Log:
    """The uses of the program that one test makes, and the answers to the first of them."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        self._answers = answers
        self._objects: dict[str, Handle] = {}
        self._errors: dict[str, type[BaseException]] = {}
        self._classes: set[str] = set()
        self._used: set[str] = set()
        self.asked: list[dict[str, Any]] = []
        self.is_open = False
        """Whether a use has no answer: then nothing that follows counts."""

    def ask(
        self, kind: str, target: Value, path: str, args: Value = (), kwargs: Value = None
    ) -> Value:
        """Give the answer to a use, raise what it raised, or give a `Pending`."""
        number = len(self.asked)
        if number >= MAX_STEPS:
            raise UnsupportedError(f"it uses the program more than {MAX_STEPS:,} times")
        given, named = copied([*args]), copied(kwargs or {})
        number = len(self.asked)  # an argument may have been asked for
        key = written([kind, target, path, given, named])
        self.asked.append(
            {
                "key": key,
                "kind": kind,
                "target": target,
                "path": path,
                "args": given,
                "kwargs": named,
            }
        )
        is_there = number < len(self._answers) and self._answers[number]["key"] == key
        if self.is_open or not is_there:
            self.is_open = True
            return named_proxy(Pending, f"#{number}", self)
        return self._answered(number, self._answers[number]["done"], list(args))

    def _answered(self, number: int, done: dict[str, Any], args: list[Any]) -> Value:
        for place, changed in done["changed"].items():
            replace(args[int(place)], self.revived(changed))
        if done["fault"]:
            raise EndedError(done["fault"])
        if done["exception"] is not None:
            raise self._error(done)
        name = getattr(done["value"], "type_name", "")
        if name.startswith("@"):
            # By the number of the step, as it was called when there was no answer yet.
            return self._object(f"#{number} {name.partition(' ')[2]}")
        return self.revived(done["value"])

    def _error(self, done: dict[str, Any]) -> BaseException:
        kind = self.error_class(done["names"] or [done["exception"]])
        made = kind.__new__(kind)
        made.args = tuple(done["args"]) if done["args"] else (done["message"],)
        return made

    def error_class(self, names: list[str]) -> type[BaseException]:
        """Return the class of an exception of the program's; the nearest one built in is its base."""
        name, *rest = names
        found = getattr(builtins, name, None)
        if isinstance(found, type) and issubclass(found, BaseException):
            return found
        if name not in self._errors:
            base = self.error_class(rest) if rest else Exception
            self._errors[name] = type(name, (base,), {"__getattr__": _no_attribute})
        return self._errors[name]

    def revived(self, value: Value) -> Value:
        """Put proxies where objects were."""
        if type(value) in (list, tuple, set, frozenset):
            return type(value)(self.revived(item) for item in value)
        if type(value) is dict:
            if value.keys() == {"exception class"}:
                return self.error_class(value["exception class"])
            return {self.revived(key): self.revived(item) for key, item in value.items()}
        name = getattr(value, "type_name", None)
        return value if name is None else self._object(name)

    def _object(self, name: str) -> Handle:
        number, _, kind = name.partition(" ")
        if number[:1] not in ("@", "#"):
            raise UnsupportedError("the program has made too many objects")
        if number not in self._objects:
            made = named_proxy(Handle, number, self)
            object.__setattr__(made, "_rewarden_kind", kind)
            self._objects[number] = made
        return self._objects[number]

    def made(self, path: str, value: Value) -> Value:
        """Note what a call of a name of the program gave; of a class, it is the tests' own object."""
        name = path.rpartition(".")[2]
        if name[:1].isupper():
            self._classes.add(name)
            own(value, name)
        return value

    def use(self, name: str) -> None:
        """Note that an object which a name gave has an attribute: so it is a class indeed."""
        self._used.add(name)

    def may_meet(self, kind: str, made_by: str) -> bool:
        """Say whether a value of the tests may go to an object of this kind.

        It may if the tests made it, and use it as an object. A function with the name of a class is
        none, and what it gives must not be asked whether it is equal to what is expected of it.
        """
        if made_by and made_by in self._used:
            return True
        if made_by or kind in self._classes or kind in _KNOWN:
            said = f"what '{made_by}' gave" if made_by else f"a {kind}"
            raise UnsupportedError(f"only the program can say how {said} compares with a value")
        return False


def _no_attribute(_: BaseException, name: str) -> None:
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnsupportedError(f"it reads '.{name}' of an exception of the program")


class Proxy:
    """Anything that stands for the program or a part of it."""

    # None of these may have a name that a program might use.
    _rewarden_log: Log
    _rewarden_kind = ""
    _rewarden_made_by = ""
    """The class by which the tests made it; empty if they did not."""

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self._rewarden_log.use(self._rewarden_made_by)
        return Lazy(self._rewarden_log, self, name)

    def __setattr__(self, name: str, value: Value) -> None:
        self._rewarden_log.ask("set", self, name, [value])

    def __delattr__(self, name: str) -> None:
        self._rewarden_log.ask("delete", self, name)

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        """Call it, whatever it is."""
        return self._rewarden_log.ask("call", self, "", args, kwargs)

    def __instancecheck__(self, value: Value) -> bool:
        raise UnansweredError

    def _rewarden_operate(self, name: str, *args: Value) -> Value:
        """Use an operator."""
        raise UnansweredError


class Pending(Proxy):
    """What an answer will give; anything but a call, or an attribute, has to wait for that.

    What the tests made themselves is an object for certain, so its operators can be asked for.
    """

    def _rewarden_operate(self, name: str, *args: Value) -> Value:
        """Use an operator of what will be an object; of anything else, nobody knows whose it is."""
        made_by = self._rewarden_made_by
        if not made_by or takes_value(name, args):
            raise UnansweredError
        found = self._rewarden_log.ask("operate", self, name, args)
        return own(found, made_by) if name in TAKES_VALUE and name not in COMPARES else found


class Handle(Proxy):
    """An object of the program."""

    def _rewarden_operate(self, name: str, *args: Value) -> Value:
        """Use an operator, unless it would take a value of the tests to where it must not go."""
        made_by, log = self._rewarden_made_by, self._rewarden_log
        if takes_value(name, args) and not log.may_meet(self._rewarden_kind, made_by):
            if name in ("eq", "ne"):
                return name == "ne"
            raise TypeError(f"'{name}' of an object of the program and a value")
        found = log.ask("operate", self, name, args)
        if made_by and name in TAKES_VALUE and name not in COMPARES:
            own(found, made_by)
        return found

    def __instancecheck__(self, value: Value) -> bool:
        return bool(settled(self._rewarden_log.ask("instance", value, "", [self])))


class Lazy(Proxy):
    """A name of the program, or an attribute of an object, that nobody has asked for yet."""

    def __init__(self, log: Log, target: Value, path: str) -> None:
        object.__setattr__(self, "_rewarden_log", log)
        object.__setattr__(self, "_rewarden_target", target)
        object.__setattr__(self, "_rewarden_path", path)

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Lazy(self._rewarden_log, self._rewarden_target, f"{self._rewarden_path}.{name}")

    def __setattr__(self, name: str, value: Value) -> None:
        self._rewarden_log.ask(
            "set", self._rewarden_target, f"{self._rewarden_path}.{name}", [value]
        )

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        """Call it by its name; that it is a function need not be asked for."""
        found = self._rewarden_log.ask(
            "call", self._rewarden_target, self._rewarden_path, args, kwargs
        )
        return (
            self._rewarden_log.made(self._rewarden_path, found)
            if self._rewarden_target is None
            else found
        )

    def __instancecheck__(self, value: Value) -> bool:
        if not isinstance(value, Proxy):
            raise UnsupportedError("it asks whether a value is of a class of the program")
        if self._rewarden_target is not None:
            raise UnsupportedError("it asks for a class that is an attribute of an object")
        return bool(settled(self._rewarden_log.ask("instance", value, self._rewarden_path)))

    def _rewarden_fetch(self) -> Value:
        """Ask for it."""
        return self._rewarden_log.ask("get", self._rewarden_target, self._rewarden_path)

    def _rewarden_exists(self) -> bool:
        """Ask whether it is there."""
        return bool(
            settled(self._rewarden_log.ask("has", self._rewarden_target, self._rewarden_path))
        )

    def _rewarden_operate(self, name: str, *args: Value) -> Value:
        """Use an operator of what it is."""
        value = settled(self._rewarden_fetch())
        if isinstance(value, Handle):
            return value._rewarden_operate(name, *args)
        return OPERATORS[name](value, *args)


def named_proxy(kind: type[Any], name: str, log: Log) -> Value:
    """Make a proxy whose type is called by its number, which is how it crosses as an argument."""
    made = type(name, (kind,), {})()
    object.__setattr__(made, "_rewarden_log", log)
    return made


def own(value: Value, made_by: str) -> Value:
    """Mark an object as one that the tests made."""
    if isinstance(value, (Handle, Pending)):
        object.__setattr__(value, "_rewarden_made_by", made_by)
    return value


def takes_value(name: str, args: tuple[Any, ...]) -> bool:
    """Say whether an operator would take a value of the tests to an object of the program."""
    return name in TAKES_VALUE and not all(isinstance(one, Proxy) for one in args)


def fetched(value: Value) -> Value:
    """Return what a name or an attribute stands for; anything else is returned as it is."""
    return value._rewarden_fetch() if isinstance(value, Lazy) else value


def settled(value: Value) -> Value:
    """Return a value that is there, or raise `UnansweredError`."""
    found = fetched(value)
    if isinstance(found, Pending):
        raise UnansweredError
    return found


def copied(value: Value, depth: int = 0) -> Value:
    """Copy what a call is given, as it is now; `UnsupportedError` if it cannot cross."""
    if isinstance(value, Proxy):
        return fetched(value)
    if type(value) in _SCALARS or type(value) is bytearray:
        return value
    if depth < MAX_DEPTH and type(value) in (list, tuple, set, frozenset):
        return type(value)(copied(item, depth + 1) for item in value)
    if depth < MAX_DEPTH and type(value) is dict:
        return {copied(k, depth + 1): copied(v, depth + 1) for k, v in value.items()}
    raise UnsupportedError(f"it hands the program a {type(value).__name__}")


def written(value: Value) -> str:
    """Write down what was copied, so that two can be told apart."""
    if isinstance(value, Proxy):
        return type(value).__name__
    if type(value) in (list, tuple):
        return f"{type(value).__name__}({','.join(map(written, value))})"
    if type(value) in (set, frozenset):
        return f"set({','.join(sorted(map(written, value)))})"
    if type(value) is dict:
        return f"dict({','.join(written(k) + ':' + written(v) for k, v in value.items())})"
    return repr(value)


def replace(old: Value, new: Value) -> None:
    """Change an argument in place, as the program did."""
    if type(old) is not type(new):
        raise TypeError("an argument has become another kind of value")
    if isinstance(old, (list, bytearray)):
        old[:] = new
    elif isinstance(old, (dict, set)):
        old.clear()
        old.update(new)


def _method(name: str) -> Callable[..., Any]:
    def use(self: Proxy, *args: Value) -> Value:
        found = self._rewarden_operate(name, *map(fetched, args))
        return settled(found) if name in NEEDED else found

    return use


def _iterate(self: Proxy) -> Iterator[Any]:
    if isinstance(self, Lazy):
        yield from settled(self._rewarden_fetch())
        return
    items, rest = settled(self._rewarden_operate("items"))
    yield from items
    while rest is not None:
        items, rest = settled(rest._rewarden_operate("items"))
        yield from items


def _leave(self: Proxy, *_: Value) -> None:
    self._rewarden_operate("exit")


for _name in OPERATORS:
    setattr(Proxy, f"__{_name.rstrip('_')}__", _method(_name))
Proxy.__iter__ = _iterate  # type: ignore[attr-defined]
Proxy.__enter__ = _method("enter")  # type: ignore[attr-defined]
Proxy.__exit__ = _leave  # type: ignore[attr-defined]
