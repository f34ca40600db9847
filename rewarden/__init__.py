"""Verifiers and rewards for RLVR: the contract, the clients and the rewards."""
