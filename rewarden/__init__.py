"""Verifiers and rewards for RLVR: the contract, the clients and the rewards."""

from rewarden.client import AsyncClient, Client
from rewarden.contracts import Outcome, Sample, Verdict

__all__ = ["AsyncClient", "Client", "Outcome", "Sample", "Verdict"]
