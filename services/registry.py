"""Every verifier by name: a line each, imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pydantic import BaseModel

    from services.verifier import Verifier

VERIFIERS: Final[dict[str, tuple[str, str]]] = {
    # name: (class of the verifier, model of its spec), each "module:attribute"
    "code": ("services.code.verifier:CodeVerifier", "services.code.spec:CodeSpec"),
    "format": ("services.format.verifier:FormatVerifier", "services.format.spec:FormatSpec"),
    "math": ("services.math.verifier:MathVerifier", "services.math.spec:MathSpec"),
    "sql": ("services.sql.verifier:SqlVerifier", "services.sql.spec:SqlSpec"),
}


def make_verifier(name: str) -> Verifier:
    """Build the verifier called `name`; a KeyError if there is none."""
    verifier: Verifier = _load(VERIFIERS[name][0])()
    return verifier


def spec_model(name: str) -> type[BaseModel]:
    """Return the model of its spec without importing what the verifier itself needs."""
    model: type[BaseModel] = _load(VERIFIERS[name][1])
    return model


def _load(path: str) -> type:
    module, _, attribute = path.partition(":")
    loaded: type = getattr(import_module(module), attribute)
    return loaded
