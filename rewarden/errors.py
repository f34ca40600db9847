"""Every error that rewarden raises, named after the boundary that was crossed.

::

    RewardenError
    ├── ConfigurationError       a recipe, a setting or an address is wrong (also a ValueError)
    ├── TransportError           no answer came from a service or a queue
    │   └── ServiceBusyError     it answered, and asks to be called again later
    └── ProtocolError            an answer came that is not in the contract
        └── RequestRefusedError  the service refused the whole request: too large, malformed, no key

A sample that could not be scored is never an exception: it is a `Verdict` whose score is null.
All of these pickle, because rewards are computed in child processes by some trainers.
"""

from __future__ import annotations


class RewardenError(Exception):
    """Base of everything that rewarden raises on purpose."""


class ConfigurationError(RewardenError, ValueError):
    """What the user wrote cannot be run; the message names the fix."""


class TransportError(RewardenError):
    """No answer came across the wire: refused, reset or timed out."""


class ServiceBusyError(TransportError):
    """The service is full; `retry_after_seconds` is its own estimate."""

    def __init__(self, message: str, retry_after_seconds: float = 1.0) -> None:
        super().__init__(message, retry_after_seconds)
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        return str(self.args[0])


class ProtocolError(RewardenError):
    """An answer came that breaks the contract: wrong length, wrong shape, wrong version."""


class RequestRefusedError(ProtocolError):
    """The service refused the request as a whole; sending it again cannot help."""
