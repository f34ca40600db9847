"""The images that programs may run in, and which of them a service takes.

Images are built apart from the service, so one that is there may be of another version of it. Where
none is named, such an image is passed over for the next; one that is named is taken, or nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sandbox.driver import CellBrokenError, DriverUnavailableError
from sandbox.runner import frames

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.drivers.link import Frame

REPOSITORY: Final = "rewarden-sandbox"
IMAGES: Final = (f"{REPOSITORY}:full", f"{REPOSITORY}:small")
"""The only images that are ever started; unless one is named, the first that will do is taken."""
VARIABLE: Final = "REWARDEN_SANDBOX_IMAGE"


def wanted(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the image that is named in the environment, or else all; `DriverUnavailableError` if unknown."""
    name = environment.get(VARIABLE)
    if not name:
        return IMAGES
    image = name if ":" in name else f"{REPOSITORY}:{name}"
    if image not in IMAGES:
        known = ", ".join(image.partition(":")[2] for image in IMAGES)
        raise DriverUnavailableError(f"{VARIABLE} must be among {known}, and is {name!r}")
    return (image,)


def check_listed(images: tuple[str, ...]) -> None:
    """Raise `ValueError` if an image is not on the list."""
    if not set(images) <= set(IMAGES):
        raise ValueError(f"images must be among {', '.join(IMAGES)}")


def check_version(opened: Frame) -> None:
    """Raise `CellBrokenError` if what opened is of another version: it would be misunderstood."""
    if opened[0].get("protocol") != frames.PROTOCOL:
        raise CellBrokenError("the image is of another version of this service: build it again")
