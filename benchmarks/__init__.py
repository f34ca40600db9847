"""Measured claims, one a file: `python -m benchmarks.<name>`.

Each prints ratios against a peer or a limit taken in the same run, because machines differ and
are shared; absolute figures are printed beside them.
"""
