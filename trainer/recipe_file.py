"""Recipes as YAML files: reading one, writing one, and saying in a sentence what is wrong."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, get_args

import yaml
from pydantic import BaseModel, ValidationError

from rewarden.errors import ConfigurationError
from trainer.recipe import Recipe

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_core import ErrorDetails


def read_recipe(path: Path, *, seed: int | None = None) -> Recipe:
    """Read and validate a recipe; `seed`, where given, replaces the file's own."""
    loaded = _load(path)
    if seed is not None:
        loaded["seed"] = seed
    try:
        return Recipe.model_validate(loaded)
    except ValidationError as error:
        raise ConfigurationError(
            f"{path}: {_sentence(error.errors(include_url=False)[0])}"
        ) from None


def dump_recipe(recipe: Recipe) -> str:
    """Write the resolved recipe as YAML that `read_recipe` takes back."""
    return yaml.safe_dump(recipe.resolved(), sort_keys=False, allow_unicode=True)


def _load(path: Path) -> dict[str, Any]:
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"cannot read the recipe {path}: {error.strerror}; give the path of a YAML file"
        raise ConfigurationError(msg) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark else ""
        raise ConfigurationError(f"{path} is not valid YAML{place}; correct its syntax") from None
    if not isinstance(loaded, dict):
        raise ConfigurationError(f"{path} is not a recipe; it must be a mapping with a 'name'")
    return loaded


def _sentence(error: ErrorDetails) -> str:
    """Turn pydantic's first complaint into a sentence with the place and the fix."""
    # Of a union, pydantic puts the tag of the chosen member into the place; users never wrote it.
    where = ".".join(str(part) for part in error["loc"] if part not in _TAGS)
    if error["type"] == "extra_forbidden":
        near = get_close_matches(str(error["loc"][-1]), _keys_beside(error["loc"]), n=1)
        hint = f"did you mean '{near[0]}'?" if near else "remove it"
        return f"unknown key '{where}'; {hint}"
    if error["type"] == "missing":
        return f"the key '{where}' is missing; add it"
    if error["type"] == "value_error":
        message = str(error.get("ctx", {}).get("error", error["msg"]))
        return f"{where}: {message}" if where else message
    return f"'{where}' is not valid: {_lower(error['msg'])} (found {error['input']!r:.80})"


_TAGS: Final = {"tiny", "pretrained", "addition", "selection", "one_liners", "file", "hub"}


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def _keys_beside(place: tuple[int | str, ...]) -> list[str]:
    """List the keys that the section around the last part of `place` does know."""
    models: list[type[BaseModel]] = [Recipe]
    for part in place[:-1]:
        if part in _TAGS:
            models = [m for m in models if part in get_args(m.model_fields["kind"].annotation)]
        elif isinstance(part, str):
            fields = [m.model_fields[part] for m in models if part in m.model_fields]
            models = [found for field in fields for found in _models_in(field.annotation)]
    return [name for model in models for name in model.model_fields]


def _models_in(annotation: Any) -> list[type[BaseModel]]:  # noqa: ANN401 - any type expression
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for inner in get_args(annotation) for found in _models_in(inner)]
