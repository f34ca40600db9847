"""Every Redis key of the queue, and the fields of its messages.

Keys of one verifier share a hash tag, so that a transaction over them stays in one slot of a
Redis Cluster.
"""

from __future__ import annotations

from typing import Final

GROUP: Final = "workers"
"""The consumer group on every stream: all replicas of a verifier's service are its members."""

CAPABILITIES: Final = "rewarden:verifiers"
"""Hash: verifier -> JSON `{"chunk_size", "version"}`, written by its service when it starts."""

REPLY_TTL_SECONDS: Final = 15 * 60
HEARTBEAT_TTL_SECONDS: Final = 15

# Fields of a message.
VERSION: Final = "v"
BATCH: Final = "batch"
CHUNK: Final = "chunk"
COUNT: Final = "count"
REPLY: Final = "reply"
DEADLINE_MS: Final = "deadline"
TRAINER: Final = "trainer"
PAYLOAD: Final = "payload"


def stream(verifier: str, priority: str = "train") -> str:
    """Name the stream of chunks that wait for `verifier`."""
    return f"rewarden:{{{verifier}}}:chunks:{priority}"


def reply(verifier: str, batch_id: str) -> str:
    """Name the list on which one batch's verdicts of one verifier arrive."""
    return f"rewarden:{{{verifier}}}:reply:{batch_id}"


def dead(verifier: str) -> str:
    """Name the stream of chunks that were given up."""
    return f"rewarden:{{{verifier}}}:dead"


def heartbeat(trainer_id: str) -> str:
    """Name the key that lives as long as the trainer which sent a batch."""
    return f"rewarden:trainer:{trainer_id}"
