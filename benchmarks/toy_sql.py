"""A tiny model learns to write queries from the SQL verifier's rewards, and not from random ones.

Aims: held-out greedy accuracy from at most 60 % to at least 85 %, every sample scored, on two cores
in under five minutes of training; with random rewards no gain.
"""

from __future__ import annotations

from benchmarks._toy import train

if __name__ == "__main__":
    train("trainer/recipes/toy_sql.yaml")
